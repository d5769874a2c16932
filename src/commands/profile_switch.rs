//! One key of `config.toml` set by a command, with the rest of the file left as it is: comments,
//! order, spacing. The result is parsed again before it is written; where the edit can't be made
//! safely the file stays and the person is told what to write.

use std::io::Write;
use std::path::Path;

use crate::error::{ExitKind, Failure};
use crate::paths::create_private_dir;

/// The key.
const KEY: &str = "profile";

/// Sets `profile = on` in the file, which may be missing.
pub(super) fn set(file: &Path, on: bool) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        let message = format!("{}: {error}", file.display());
        Failure::new(ExitKind::CannotCreate, message)
            .hint(format!("write `{KEY} = {on}` into it by hand"))
    };
    let text = match std::fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        text => text.map_err(failed)?,
    };
    let Some(edited) = edited(&text, on) else {
        let message = format!("{}: `{KEY}` cannot be set without risk", file.display());
        return Err(Failure::new(ExitKind::Config, message)
            .hint(format!("write `{KEY} = {on}` above the first `[table]` by hand")));
    };
    // A link stays a link: people keep their settings in a repository.
    let target = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let folder = target.parent().unwrap_or(Path::new("/"));
    let write = || -> std::io::Result<()> {
        create_private_dir(folder)?;
        let mut draft = tempfile::NamedTempFile::new_in(folder)?;
        draft.write_all(edited.as_bytes())?;
        if let Ok(about) = std::fs::metadata(&target) {
            draft.as_file().set_permissions(about.permissions())?;
        }
        draft.as_file().sync_all()?;
        draft.persist(&target).map(drop).map_err(|e| e.error)
    };
    write().map_err(failed)
}

/// The text with the key set; `None` where no edit gives a file that differs in this key alone.
fn edited(text: &str, on: bool) -> Option<String> {
    let mut wanted: toml::Table = toml::from_str(text).ok()?;
    wanted.insert(KEY.to_owned(), toml::Value::Boolean(on));
    let mut candidates = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        if let Some(value) = value_of(body) {
            let start = at + body.len() - value.len();
            // The value is one word: `true` or `false`. What follows it is the person's.
            let word = value.len() - value.trim_start_matches(char::is_alphanumeric).len();
            candidates.push(format!("{}{on}{}", &text[..start], &text[start + word..]));
        }
        at += line.len();
    }
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    candidates.push(format!("{}{KEY} = {on}{ending}{}", &text[..mark], &text[mark..]));
    candidates
        .into_iter()
        .find(|candidate| toml::from_str::<toml::Table>(candidate).is_ok_and(|t| t == wanted))
}

/// What stands behind `profile =` on a line.
fn value_of(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix(KEY)?.trim_start().strip_prefix('=')?;
    Some(rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_the_file_stays_as_it_is() {
        for (before, after) in [
            ("", "profile = false\n"),
            ("chip = true # so\n", "profile = false\nchip = true # so\n"),
            (
                "# a\nprofile   =  true  # mine\n[models]\nx = 'y'\n",
                "# a\nprofile   =  false  # mine\n[models]\nx = 'y'\n",
            ),
            ("[models]\nprofile = 'm'\n", "profile = false\n[models]\nprofile = 'm'\n"),
            ("chip = true\r\n", "profile = false\r\nchip = true\r\n"),
            ("profile=true", "profile=false"),
        ] {
            assert_eq!(edited(before, false).as_deref(), Some(after), "{before:?}");
        }
        assert_eq!(edited("profile = false\n", false).as_deref(), Some("profile = false\n"));
        assert_eq!(edited("not toml", false), None);
    }
}
