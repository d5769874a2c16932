//! One-time keys: `omni-run inbox open` makes one and shows it to the person, the page trades it for
//! a session. On disk there is only the SHA-256 of a key, as the name of a file; to use a key is to
//! remove that file, which works once, also for two at the same moment.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::paths::{Paths, create_private_dir};
use crate::session::{UnixMs, hex, sha256};

/// How long a key waits for its use, in ms: a person has the link in front of them.
pub const LIFETIME_MS: i64 = 5 * 60 * 1000;

fn folder(paths: &Paths) -> PathBuf {
    paths.data.join("inbox-keys")
}

/// A new key, good for one session. Removes those that nobody used in time.
///
/// # Errors
/// When the data folder can't be written.
pub fn make(paths: &Paths, now: UnixMs) -> io::Result<String> {
    let folder = folder(paths);
    create_private_dir(&folder)?;
    for entry in fs::read_dir(&folder)?.flatten() {
        let expired = fs::read_to_string(entry.path()).map_or(true, |text| !is_alive(&text, now));
        if expired {
            // Used at this moment, or never usable.
            let _ = fs::remove_file(entry.path());
        }
    }
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let key = hex(&random);
    // 0600 from the start: so are all temporary files of this library.
    let mut file = tempfile::Builder::new().prefix(".draft-").tempfile_in(&folder)?;
    write!(file, "{}", now + LIFETIME_MS)?;
    file.persist(folder.join(sha256(key.as_bytes())))?;
    Ok(key)
}

/// Uses a key up. `false`: it is none, was used, or is too old.
pub(super) fn redeem(paths: &Paths, key: &str, now: UnixMs) -> bool {
    // The name is a hash: no key leads to another folder, and how long the search for it takes tells
    // nothing about a key.
    let file = folder(paths).join(sha256(key.as_bytes()));
    let Ok(text) = fs::read_to_string(&file) else { return false };
    fs::remove_file(&file).is_ok() && is_alive(&text, now)
}

fn is_alive(text: &str, now: UnixMs) -> bool {
    // A clock that was set back must not make a key live for days.
    text.parse().is_ok_and(|end: UnixMs| (now..=now + LIFETIME_MS).contains(&end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_opens_once_and_only_in_its_time() {
        let dir = tempfile::tempdir().expect("dir");
        let data = dir.path().to_owned();
        let paths = Paths { config: data.clone(), runs: data.clone(), data, home: None };
        assert!(!redeem(&paths, "", 0), "no folder yet");
        let key = make(&paths, 1000).expect("key");
        for entry in fs::read_dir(folder(&paths)).expect("folder").flatten() {
            assert!(!entry.file_name().to_string_lossy().contains(&key));
            assert_eq!(entry.metadata().expect("file").permissions().mode() & 0o777, 0o600);
        }
        for wrong in ["", "../api-token", &key[1..], &key.to_uppercase()] {
            assert!(!redeem(&paths, wrong, 1000), "{wrong}");
        }
        assert!(redeem(&paths, &key, 2000));
        assert!(!redeem(&paths, &key, 2000), "used");

        let late = make(&paths, 1000).expect("key");
        assert!(!redeem(&paths, &late, 1001 + LIFETIME_MS));
        let back = make(&paths, 10 * LIFETIME_MS).expect("key");
        assert!(!redeem(&paths, &back, 0), "the clock was set back");
        let unused = make(&paths, 0).expect("key");
        make(&paths, LIFETIME_MS + 1).expect("key");
        assert_eq!(fs::read_dir(folder(&paths)).expect("folder").count(), 1, "swept");
        assert!(!redeem(&paths, &unused, 0));
    }

    #[test]
    fn of_many_at_once_one_gets_in() {
        let dir = tempfile::tempdir().expect("dir");
        let data = dir.path().to_owned();
        let paths = Paths { config: data.clone(), runs: data.clone(), data, home: None };
        let key = make(&paths, 0).expect("key");
        let opened = std::thread::scope(|scope| {
            let tries: Vec<_> = (0..16).map(|_| scope.spawn(|| redeem(&paths, &key, 1))).collect();
            tries.into_iter().map(|t| t.join().expect("thread")).filter(|o| *o).count()
        });
        assert_eq!(opened, 1);
    }
}
