//! Keys of `config.toml` set by omni-run, with the rest of the file left as it is: comments, order,
//! spacing. The result is parsed again before it is written; where the edit can't be made safely the
//! file stays and the person is told what to write.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

use serde_json::Value;
use toml::Spanned;

use crate::config::Config;
use crate::error::{ExitKind, Failure};
use crate::paths::create_private_dir;

/// Sets top-level keys to plain values (booleans, whole numbers, words) in the file, which may be
/// missing.
///
/// # Errors
/// [`ExitKind::Config`] where the file is wrong or would be; [`ExitKind::CannotCreate`] where it
/// can't be written. The hints say what to write by hand.
pub fn set(file: &Path, entries: &[(&str, Value)]) -> Result<(), Failure> {
    let by_hand: Vec<String> =
        entries.iter().map(|(key, value)| format!("`{key} = {value}`")).collect();
    let by_hand = by_hand.join(", ");
    let failed = |error: std::io::Error| {
        let message = format!("{}: {error}", file.display());
        Failure::new(ExitKind::CannotCreate, message)
            .hint(format!("write {by_hand} into it by hand"))
    };
    // A file that is wrong now is said with its line before anything is written.
    Config::load(file, |_| None)?;
    let text = match std::fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        text => text.map_err(failed)?,
    };
    let edited = entries.iter().try_fold(text, |text, (key, value)| edited(&text, key, value));
    let Some(edited) = edited else {
        let message = format!("{}: {by_hand} cannot be set without risk", file.display());
        return Err(Failure::new(ExitKind::Config, message)
            .hint("write it above the first `[table]` by hand"));
    };
    // A link stays a link: people keep their settings in a repository.
    let target = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let folder = target.parent().unwrap_or(Path::new("/"));
    let write = || -> std::io::Result<()> {
        create_private_dir(folder)?;
        // 0600; a file that is there keeps its own mode.
        let mut draft = tempfile::NamedTempFile::new_in(folder)?;
        draft.write_all(edited.as_bytes())?;
        if let Ok(about) = std::fs::metadata(&target) {
            draft.as_file().set_permissions(about.permissions())?;
        }
        draft.as_file().sync_all()?;
        crate::failpoint::reach("copied");
        draft.persist(&target).map(drop).map_err(|e| e.error)?;
        crate::failpoint::reach("landed");
        Ok(())
    };
    write().map_err(failed)
}

/// Whether the file has all these values.
pub fn has(file: &Path, entries: &[(&str, Value)]) -> bool {
    let Ok(text) = std::fs::read_to_string(file) else { return false };
    let Ok(table) = toml::from_str::<toml::Table>(&text) else { return false };
    entries.iter().all(|(key, value)| table.get(*key) == as_toml(value).as_ref())
}

/// The text with the key set; `None` where no edit gives a file that differs in this key alone.
fn edited(text: &str, key: &str, value: &Value) -> Option<String> {
    let mut wanted: toml::Table = toml::from_str(text).ok()?;
    wanted.insert(key.to_owned(), as_toml(value)?);
    let rendered = as_toml(value)?.to_string();
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let candidate = match span_of(text, key) {
        Some(span) => format!("{}{rendered}{}", text.get(..span.start)?, text.get(span.end..)?),
        None => {
            let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
            format!("{}{key} = {rendered}{ending}{}", &text[..mark], &text[mark..])
        }
    };
    toml::from_str::<toml::Table>(&candidate).is_ok_and(|t| t == wanted).then_some(candidate)
}

/// Where the value of a top-level key stands.
fn span_of(text: &str, key: &str) -> Option<Range<usize>> {
    let table: BTreeMap<String, Spanned<toml::Value>> = toml::from_str(text).ok()?;
    table.get(key).map(Spanned::span)
}

fn as_toml(value: &Value) -> Option<toml::Value> {
    match value {
        Value::Bool(on) => Some(toml::Value::Boolean(*on)),
        Value::Number(number) => number.as_i64().map(toml::Value::Integer),
        Value::String(word) => Some(toml::Value::String(word.clone())),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
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
            ("chip = true\r\nprofile = true\r\n", "chip = true\r\nprofile = false\r\n"),
            ("profile=true", "profile=false"),
            ("\"profile\" = true", "\"profile\" = false"),
            ("\u{feff}profile = true\n", "\u{feff}profile = false\n"),
            ("\u{feff}chip = true\n", "\u{feff}profile = false\nchip = true\n"),
            ("secrets = \"\u{fc}\"\nprofile = true\n", "secrets = \"\u{fc}\"\nprofile = false\n"),
        ] {
            let edit = edited(before, "profile", &false.into());
            assert_eq!(edit.as_deref(), Some(after), "{before:?}");
        }
        let same = edited("profile = false\n", "profile", &false.into());
        assert_eq!(same.as_deref(), Some("profile = false\n"));
        assert_eq!(edited("not toml", "profile", &false.into()), None);
    }

    #[test]
    fn words_and_numbers_are_set_too() {
        let text = "log-level = 'warn' # quiet\nretention-days = 7\n";
        let text = edited(text, "log-level", &"debug".into()).expect("edit");
        let text = edited(&text, "retention-days", &90.into()).expect("edit");
        assert_eq!(text, "log-level = \"debug\" # quiet\nretention-days = 90\n");
    }

    #[test]
    fn a_wrong_file_is_told_and_stays() {
        let dir = tempfile::tempdir().expect("dir");
        let file = dir.path().join("config.toml");
        std::fs::write(&file, "chpi = true\n").expect("write");
        let failure = set(&file, &[("chip", false.into())]).expect_err("a typo");
        assert!(failure.message.contains("chpi"), "{failure}");
        assert_eq!(std::fs::read_to_string(&file).expect("read"), "chpi = true\n");
        std::fs::remove_file(&file).expect("remove");
        set(&file, &[("chip", false.into()), ("retention-days", 3.into())]).expect("set");
        assert!(has(&file, &[("chip", false.into()), ("retention-days", 3.into())]));
        assert!(!has(&file, &[("chip", true.into())]));
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &std::fs::metadata(&file).expect("file").permissions(),
        );
        assert_eq!(mode & 0o777, 0o600);
    }
}
