//! The API token: 256 random bits in a file that only its owner can read. It is never in an
//! argument, a variable or a log; [`Token`] does not print itself.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{ExitKind, Failure};
use crate::paths::{Paths, create_private_dir};
use crate::session::hex;

/// What a token begins with, so that scanners and people know it when they see it.
const PREFIX: &str = "omr_";

/// Longer than any token of ours.
const LONGEST: u64 = 256;

/// The SHA-256 of a token: all that the server keeps of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; 32]);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    fn of(text: &[u8]) -> Token {
        Token(Sha256::digest(text).into())
    }

    /// Whether `given` is the token. Takes the same time for every answer: hashes are compared, and
    /// each byte of them.
    pub fn is(&self, given: &[u8]) -> bool {
        let other = Token::of(given);
        let difference = self.0.iter().zip(other.0).fold(0, |all, (a, b)| all | (a ^ b));
        std::hint::black_box(difference) == 0
    }
}

/// Where the token lies.
pub fn file(paths: &Paths) -> PathBuf {
    paths.data.join("api-token")
}

/// The token file as it was last read. A new one takes its place by a rename, so that a look at the
/// file's number tells whether it changed.
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    seen: Seen,
    token: Token,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    inode: u64,
    changed: (i64, i64),
}

impl Seen {
    fn of(about: &std::fs::Metadata) -> Seen {
        Seen { inode: about.ino(), changed: (about.ctime(), about.ctime_nsec()) }
    }
}

impl TokenFile {
    /// Reads the token, and makes one where there is none.
    ///
    /// # Errors
    /// [`ExitKind::Refused`] for a file that others can read or own, [`ExitKind::CannotCreate`] where
    /// it can't be made or read.
    pub fn open(paths: &Paths) -> Result<TokenFile, Failure> {
        let path = file(paths);
        match read(&path)? {
            Some((token, seen)) => Ok(TokenFile { path, seen, token }),
            None => {
                make(paths)?;
                match read(&path)? {
                    Some((token, seen)) => Ok(TokenFile { path, seen, token }),
                    None => Err(cannot(&path, "was removed just now")),
                }
            }
        }
    }

    /// The token as it is now: `serve --rotate-token` counts at once. `None` while there is no file
    /// that may be used; nothing is let in then.
    pub fn current(&mut self) -> Option<&Token> {
        let about = std::fs::symlink_metadata(&self.path).ok()?;
        if Seen::of(&about) != self.seen {
            let (token, seen) = read(&self.path).ok().flatten()?;
            (self.token, self.seen) = (token, seen);
        }
        Some(&self.token)
    }
}

/// Puts a new token in the place of the old one, if there is one. Gives the file.
///
/// # Errors
/// [`ExitKind::CannotCreate`].
pub fn make(paths: &Paths) -> Result<PathBuf, Failure> {
    let path = file(paths);
    let fail = |error: &dyn fmt::Display| cannot(&path, &format!("cannot be made: {error}"));
    create_private_dir(&paths.data).map_err(|e| fail(&e))?;
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(|e| fail(&e))?;
    let write = || -> io::Result<()> {
        // 0600 from the start: so are all temporary files of this library.
        let mut draft = tempfile::Builder::new().prefix(".api-token-").tempfile_in(&paths.data)?;
        writeln!(draft, "{PREFIX}{}", hex(&random))?;
        draft.as_file().sync_all()?;
        draft.persist(&path)?;
        Ok(())
    };
    write().map_err(|e| fail(&e))?;
    Ok(path)
}

fn cannot(path: &Path, what: &str) -> Failure {
    Failure::new(ExitKind::CannotCreate, format!("the token file {} {what}", path.display()))
        .hint("OMNI_RUN_DATA_DIR names another data folder")
}

fn refused(path: &Path, why: &str) -> Failure {
    Failure::new(ExitKind::Refused, format!("the token file {} {why}", path.display()))
        .hint("`omni-run serve --rotate-token` makes a new token that only you can read")
}

/// The token in the file; `None` where there is no file.
fn read(path: &Path) -> Result<Option<(Token, Seen)>, Failure> {
    let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK | nix::libc::O_CLOEXEC;
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.raw_os_error() == Some(nix::libc::ELOOP) => {
            return Err(refused(path, "is a link"));
        }
        Err(error) => return Err(cannot(path, &format!("cannot be read: {error}"))),
    };
    let about = file.metadata().map_err(|e| cannot(path, &format!("cannot be read: {e}")))?;
    if !about.is_file() {
        return Err(refused(path, "is not a regular file"));
    }
    if about.uid() != nix::unistd::geteuid().as_raw() {
        return Err(refused(path, "belongs to another user"));
    }
    if about.mode() & 0o077 != 0 {
        let why = format!("can be used by others (mode {:04o})", about.mode() & 0o7777);
        return Err(refused(path, &why));
    }
    let text = text_of(&file).map_err(|e| cannot(path, &format!("cannot be read: {e}")))?;
    let token = text.trim_ascii();
    if token.len() < PREFIX.len() + 64 {
        return Err(refused(path, "holds no token"));
    }
    Ok(Some((Token::of(token), Seen::of(&about))))
}

fn text_of(file: &File) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn paths(dir: &Path) -> Paths {
        let data = dir.join("data");
        Paths { config: dir.join("config"), data, runs: dir.join("runs"), home: None }
    }

    fn text(paths: &Paths) -> String {
        std::fs::read_to_string(file(paths)).expect("token").trim().to_owned()
    }

    #[test]
    fn h07_made_once_for_its_owner_and_replaced_at_a_word() {
        let dir = tempfile::tempdir().expect("dir");
        let paths = paths(dir.path());
        let mut open = TokenFile::open(&paths).expect("made");
        let first = text(&paths);
        assert_eq!(std::fs::metadata(file(&paths)).expect("file").mode() & 0o7777, 0o600);
        assert!(open.current().expect("token").is(first.as_bytes()));
        assert!(TokenFile::open(&paths).expect("again").token.is(first.as_bytes()));
        make(&paths).expect("rotated");
        let second = text(&paths);
        assert_ne!(first, second);
        assert!(!format!("{open:?}").contains(&second));
        let now = open.current().expect("token");
        assert!(now.is(second.as_bytes()) && !now.is(first.as_bytes()));
        for wrong in ["", &second[1..], &format!("{second}x"), &second.to_uppercase()] {
            assert!(!now.is(wrong.as_bytes()));
        }
        std::fs::remove_file(file(&paths)).expect("remove");
        assert!(open.current().is_none(), "no file, nobody gets in");
    }

    #[test]
    fn h07_a_file_that_others_can_use_is_refused() {
        let dir = tempfile::tempdir().expect("dir");
        let paths = paths(dir.path());
        TokenFile::open(&paths).expect("made");
        for mode in [0o640, 0o604, 0o620, 0o644] {
            let wide = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(file(&paths), wide).expect("chmod");
            let failure = TokenFile::open(&paths).expect_err("refused");
            assert_eq!(failure.kind, ExitKind::Refused);
            assert!(failure.hints[0].contains("--rotate-token"), "{failure}");
        }
        std::fs::remove_file(file(&paths)).expect("remove");
        std::os::unix::fs::symlink("/etc/hostname", file(&paths)).expect("link");
        assert_eq!(TokenFile::open(&paths).expect_err("link").kind, ExitKind::Refused);
        std::fs::remove_file(file(&paths)).expect("remove");
        std::fs::write(file(&paths), "").expect("write");
        let narrow = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(file(&paths), narrow).expect("chmod");
        assert_eq!(TokenFile::open(&paths).expect_err("empty").kind, ExitKind::Refused);
        make(&paths).expect("a new one takes its place");
        TokenFile::open(&paths).expect("good");
    }
}
