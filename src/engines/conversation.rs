//! An engine's own record of its conversations, read and never written: is this one there, is this
//! message in it, which id has the one that began with this message? For the resume of a session
//! whose id nobody told, and for the question whether a message that was on its way when something
//! died has arrived.
//!
//! The adapters know where and how an engine keeps them; what they share is here. A record in an
//! unknown form is [`Answer::Unknown`], never a "no".

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use super::dialogue::{json_line, text_at};

/// Clocks of files and of engines are not read at the same moment as ours, in ms.
const SLACK_MS: i64 = 2_000;
/// Files looked at in one search, the newest first.
const MOST_FILES: usize = 4_000;
/// A line longer than this is passed over, in bytes: no first message comes near it.
const LONGEST_LINE: u64 = 64 << 20;
/// How long a database that its engine is writing is waited for.
const BUSY: Duration = Duration::from_millis(500);

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// The engine's id, where it is known.
    pub id: Option<&'a str>,
    /// Where the engine ran.
    pub cwd: &'a Path,
    /// The message was sent then or later, in Unix milliseconds.
    pub since: i64,
    /// What the user typed.
    pub text: &'a str,
}

/// What the record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It can't be read, or this engine has none that omni-run knows.
    Unknown,
    /// There is a record, and this conversation is not in it.
    Absent,
    /// It is there.
    There {
        /// The engine's id.
        id: String,
        /// Whether the message is in it; `None`: that can't be read.
        has_message: Option<bool>,
    },
    /// Several began with this message at that time.
    Several(Vec<String>),
}

impl Query<'_> {
    /// Whether a user's message of the record is the one. Engines put things in front of it and trim
    /// its end.
    pub(super) fn is_message(&self, text: &str, at: Option<i64>) -> bool {
        let in_time = at.is_none_or(|at| at >= self.since - SLACK_MS);
        in_time && ends_in_words(text, self.text)
    }

    /// Whether a folder of the record is the one.
    pub(super) fn is_cwd(&self, folder: &str) -> bool {
        let folder = Path::new(folder);
        folder == self.cwd || self.cwd.canonicalize().is_ok_and(|real| folder == real)
    }
}

/// Whether `text` ends in the words of `end`. White space is not compared: some composers make blanks
/// of tabs and trim lines.
fn ends_in_words(text: &str, end: &str) -> bool {
    let mut words = text.split_whitespace().rev();
    let mut wanted = end.split_whitespace().rev().peekable();
    wanted.peek().is_some() && wanted.all(|word| words.next() == Some(word))
}

/// One line of a record that is a file of JSON lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    /// Says whose the file is.
    Head {
        /// The engine's id.
        id: Option<String>,
        /// Where it ran.
        cwd: Option<String>,
    },
    /// A user's message, by its texts.
    User {
        /// Each part that is text.
        texts: Vec<String>,
        /// When, in Unix milliseconds.
        at: Option<i64>,
    },
    /// Anything else.
    Other,
}

/// Searches records that are one file of JSON lines each. `files`: all that may be it. `by_name`:
/// the id that a file's name tells.
pub(super) fn search_files(
    query: &Query<'_>,
    files: Vec<PathBuf>,
    by_name: impl Fn(&Path) -> Option<String>,
    line: impl Fn(&Value) -> Vec<Line>,
) -> Answer {
    let mut found = Vec::new();
    for file in newest_first(files, query) {
        let Some(record) = read_file(query, &file, &by_name, &line) else { continue };
        match query.id {
            Some(id) if record.id == id => {
                return Answer::There { id: record.id, has_message: Some(record.has_message) };
            }
            Some(_) => {}
            None if record.has_message && record.fits => found.push(record.id),
            None => {}
        }
    }
    one_of(found)
}

/// Of the ids whose conversations hold the message.
pub(super) fn one_of(mut found: Vec<String>) -> Answer {
    found.sort();
    found.dedup();
    match (found.pop(), found.is_empty()) {
        (None, _) => Answer::Absent,
        (Some(id), true) => Answer::There { id, has_message: Some(true) },
        (Some(id), false) => {
            found.push(id);
            Answer::Several(found)
        }
    }
}

struct Record {
    id: String,
    /// It ran in the folder that is asked for.
    fits: bool,
    has_message: bool,
}

/// Without an id only files that were written since can be it.
fn newest_first(files: Vec<PathBuf>, query: &Query<'_>) -> Vec<PathBuf> {
    let since = u64::try_from(query.since - SLACK_MS).unwrap_or(0);
    let since = SystemTime::UNIX_EPOCH + Duration::from_millis(since);
    let mut dated: Vec<(SystemTime, PathBuf)> = files
        .into_iter()
        .filter_map(|file| {
            let about = std::fs::metadata(&file).ok()?;
            Some((about.is_file().then(|| about.modified().ok())??, file))
        })
        .filter(|(at, _)| query.id.is_some() || *at >= since)
        .collect();
    dated.sort();
    dated.into_iter().rev().take(MOST_FILES).map(|(_, file)| file).collect()
}

fn read_file(
    query: &Query<'_>,
    file: &Path,
    by_name: &impl Fn(&Path) -> Option<String>,
    line: &impl Fn(&Value) -> Vec<Line>,
) -> Option<Record> {
    let named = by_name(file);
    if query.id.is_some_and(|id| named.as_ref().is_some_and(|named| named != id)) {
        return None;
    }
    let mut record = Record { id: named.unwrap_or_default(), fits: true, has_message: false };
    let mut reader = BufReader::new(File::open(file).ok()?);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let n =
            std::io::Read::take(&mut reader, LONGEST_LINE).read_until(b'\n', &mut bytes).ok()?;
        if n == 0 {
            break;
        }
        let Some(value) = json_line(&bytes) else { continue };
        for part in line(&value) {
            match part {
                Line::Head { id, cwd } => {
                    if let Some(id) = id.filter(|_| record.id.is_empty()) {
                        record.id = id;
                    }
                    record.fits &= cwd.is_none_or(|cwd| query.is_cwd(&cwd));
                    if query.id.is_some_and(|id| id != record.id && !record.id.is_empty()) {
                        return None;
                    }
                }
                Line::User { texts, at } => {
                    record.has_message |= texts.iter().any(|text| query.is_message(text, at));
                }
                Line::Other => {}
            }
        }
        if record.has_message && !record.id.is_empty() {
            break;
        }
    }
    (!record.id.is_empty()).then_some(record)
}

/// The regular files below `folder`, `depth` levels down, whose names end so.
pub(super) fn files_below(folder: &Path, depth: usize, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    if depth == 0 {
        return paths.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    }
    paths
        .filter(|path| path.is_dir())
        .flat_map(|dir| files_below(&dir, depth - 1, ending))
        .collect()
}

/// The texts of a message's `content`: a string, or a list with parts that have a `text`.
pub(super) fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => {
            parts.iter().filter_map(|part| text_at(part, &["text"])).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// A time as engines write it: RFC 3339, or a number of milliseconds.
pub(super) fn time(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => {
            text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
        }
        value => value.as_i64(),
    }
}

/// Opens an engine's SQLite file for reading. `None`: there is none, or it is no such file.
pub(super) fn open_database(file: &Path) -> Option<Connection> {
    if !file.is_file() {
        return None;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags).ok()?;
    connection.busy_timeout(BUSY).ok()?;
    Some(connection)
}

/// Rows of an engine's database as (id, message, its time in ms); `None` where the query does not fit
/// the database, as in a version that keeps it in another form.
pub(super) fn rows(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
) -> Option<Vec<(String, String, Option<i64>)>> {
    let mut statement = connection.prepare(sql).ok()?;
    let rows = statement
        .query_map(parameters, |row| {
            let at: Option<f64> = row.get(2)?;
            // Milliseconds since 1970 are far below what a float holds exactly.
            Ok((
                row.get(0)?,
                row.get::<_, Option<String>>(1)?.unwrap_or_default(),
                at.map(|at| at as i64),
            ))
        })
        .ok()?;
    rows.collect::<rusqlite::Result<_>>().ok()
}

/// The answer from a database's messages: those of the known conversation, or of all since then.
pub(super) fn judge(
    query: &Query<'_>,
    known: bool,
    messages: Vec<(String, String, Option<i64>)>,
) -> Answer {
    let fitting = messages.into_iter().filter(|(_, text, at)| query.is_message(text, *at));
    match query.id {
        Some(_) if !known => Answer::Absent,
        Some(id) => {
            let has_message = Some(fitting.count() > 0);
            Answer::There { id: id.to_owned(), has_message }
        }
        None => one_of(fitting.map(|(id, _, _)| id).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn query<'a>(id: Option<&'a str>, text: &'a str) -> Query<'a> {
        Query { id, cwd: Path::new("/p"), since: 1_000_000_000_000, text }
    }

    fn line(value: &Value) -> Vec<Line> {
        match text_at(value, &["type"]) {
            Some("head") => vec![Line::Head {
                id: text_at(value, &["id"]).map(str::to_owned),
                cwd: text_at(value, &["cwd"]).map(str::to_owned),
            }],
            Some("user") => {
                vec![Line::User { texts: texts(&value["content"]), at: time(&value["at"]) }]
            }
            _ => vec![Line::Other],
        }
    }

    fn record(dir: &Path, name: &str, cwd: &str, text: &str, at: &str) -> PathBuf {
        let file = dir.join(name);
        let lines = [
            json!({"type": "head", "id": name, "cwd": cwd}),
            json!({"type": "user", "content": [{"text": "<context/>"}, {"text": text}], "at": at}),
        ];
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&file, format!("{text}torn")).expect("write");
        file
    }

    #[test]
    fn a_message_is_found_behind_its_block_in_its_folder_and_in_its_time() {
        let dir = tempfile::tempdir().expect("dir");
        let now = "2026-11-30T13:16:44.405Z";
        let files = vec![
            record(dir.path(), "a", "/p", "## Docs\n\nhello", now),
            record(dir.path(), "b", "/other", "## Docs\n\nhello", now),
            record(dir.path(), "c", "/p", "## Docs\n\nanother", now),
            record(dir.path(), "d", "/p", "hello", "1999-01-01T00:00:00Z"),
        ];
        let search = |q: &Query<'_>| search_files(q, files.clone(), |_| None, line);
        let there = |id: &str, has| Answer::There { id: id.into(), has_message: Some(has) };
        assert_eq!(search(&query(None, "hello\n")), there("a", true));
        assert_eq!(search(&query(None, "nobody typed this")), Answer::Absent);
        assert_eq!(search(&query(Some("c"), "hello")), there("c", false));
        assert_eq!(search(&query(Some("d"), "hello")), there("d", false), "an older one");
        assert_eq!(search(&query(Some("e"), "hello")), Answer::Absent);
    }

    #[test]
    fn words_count_and_blanks_do_not() {
        assert!(ends_in_words("block\n\na    b\n", "a\tb"));
        assert!(!ends_in_words("this", "is") && !ends_in_words("anything", " "));
    }

    #[test]
    fn two_that_began_alike_are_not_guessed_at() {
        let dir = tempfile::tempdir().expect("dir");
        let now = "2026-11-30T13:16:44Z";
        let files =
            vec![record(dir.path(), "a", "/p", "x", now), record(dir.path(), "b", "/p", "x", now)];
        let answer = search_files(&query(None, "x"), files, |_| None, line);
        assert_eq!(answer, Answer::Several(vec!["a".into(), "b".into()]));
    }
}
