//! The card of an action: what, where, how large, who asked, its text or the difference it makes.
//! All of it is foreign; control characters are shown, not obeyed.

use super::sessions::local_time;
use super::{for_terminal, here, table};
use crate::context::figures::{self, counted};
use crate::control::actions::payload::{AddDoc, DeleteDoc, Launch};
use crate::control::actions::{Action, Content, Payload, Preview, Status};
use crate::project::Bucket;
use crate::session::UnixMs;
use crate::ui::{one_line, visible};

/// How many lines of a text a card shows.
const LINES: usize = 40;
/// And how many bytes: one line may be long.
const BYTES: usize = 16_000;

/// The card; `full`: with the whole text.
pub(super) fn card(action: &Action, preview: &Preview, full: bool, now: UnixMs) -> String {
    let mut lines = vec![("action", action.id.to_string()), ("what", what(action))];
    lines.extend(details(action));
    if let Some(old) = &preview.replaces {
        let hash = old.hash.as_deref().map_or(String::new(), |hash| format!(", SHA-256 {hash}"));
        lines.push(("there now", format!("{}{hash}", figures::bytes(old.size))));
    }
    if let Some(size) = action.size_bytes {
        lines.push(("size", figures::bytes(size)));
    }
    if let Some(hash) = &action.content_hash {
        lines.push(("SHA-256", hash.clone()));
    }
    lines.push(("asked by", action.asked_by.clone()));
    lines.push(("asked", at(action.asked_at, now)));
    lines.push(("status", status(action, now)));
    if action.status == Status::Pending {
        lines.push(("expires", at(action.expires_at, now)));
    }
    if let Some(outcome) = &action.outcome {
        lines.push(("outcome", outcome.message.clone()));
    }
    let rows: Vec<Vec<String>> =
        lines.into_iter().map(|(key, value)| vec![format!("{key}:"), value]).collect();
    let mut text = table::table(&rows, &[]);
    for warning in &preview.warnings {
        text.push_str(&format!("warning: {}\n", one_line(warning)));
    }
    if let Some(obstacle) = preview.obstacle.as_ref().filter(|_| action.status == Status::Pending) {
        text.push_str(&format!("as it is now, an approval fails: {}\n", one_line(obstacle)));
    }
    let (title, body) = body(action, preview);
    if !body.is_empty() {
        text.push_str(&cut(&title, &body, full));
    }
    if let Some(said) = action.outcome.as_ref().and_then(|outcome| outcome.stderr.as_ref()) {
        text.push_str(&cut("the last on standard error", said, full));
    }
    text
}

/// What is asked for, in a few words.
pub(super) fn what(action: &Action) -> String {
    match &action.payload {
        Payload::AddDoc(add) if add.replace => {
            format!("add or replace {}", visible(&add.file_name))
        }
        Payload::AddDoc(add) => format!("add {}", visible(&add.file_name)),
        Payload::DeleteDoc(doc) => format!("delete {}", visible(&doc.file_name)),
        Payload::Launch(launch) => format!("start {}", launch.engine),
        Payload::Settings(change) => {
            let keys: Vec<&str> = change.entries().into_iter().map(|(key, _)| key).collect();
            format!("set {}", keys.join(", "))
        }
    }
}

/// The bucket, where there is one.
pub(super) fn bucket(action: &Action) -> Option<Bucket> {
    match &action.payload {
        Payload::AddDoc(AddDoc { bucket, .. }) | Payload::DeleteDoc(DeleteDoc { bucket, .. }) => {
            Some(*bucket)
        }
        Payload::Launch(_) | Payload::Settings(_) => None,
    }
}

/// How long ago, or in how long.
pub(super) fn distance(from: UnixMs, to: UnixMs) -> String {
    let seconds = usize::try_from((to - from).max(0) / 1000).unwrap_or_default();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => counted(seconds / 86_400, "day", "days"),
    }
}

fn details(action: &Action) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(project) = &action.project {
        let folder = action.project_folder.as_deref().map_or(String::new(), here::shown);
        lines.push(("project", format!("{project} ({folder})")));
    }
    match &action.payload {
        Payload::AddDoc(AddDoc { path, bucket, .. }) => {
            lines.push(("from", here::shown(path)));
            lines.push(("bucket", bucket_means(*bucket).to_owned()));
        }
        Payload::DeleteDoc(DeleteDoc { bucket, .. }) => {
            lines.push(("bucket", bucket_means(*bucket).to_owned()));
        }
        Payload::Launch(Launch { engine, model, .. }) => {
            let model = model.as_deref().map_or(String::new(), |model| format!(", model {model}"));
            lines
                .push(("engine", format!("{engine}{model}, one-shot, without options of its own")));
        }
        Payload::Settings(_) => {}
    }
    lines
}

fn bucket_means(bucket: Bucket) -> &'static str {
    match bucket {
        Bucket::Always => "always (in front of every session's first message)",
        Bucket::Rag => "rag (listed, read by the engine when it wants to)",
    }
}

fn status(action: &Action, now: UnixMs) -> String {
    let decided = match (&action.decided_by, action.decided_at) {
        (Some(by), Some(when)) => format!(", decided by {by} {}", at(when, now)),
        _ => String::new(),
    };
    format!("{}{decided}", action.status.as_str())
}

fn at(moment: UnixMs, now: UnixMs) -> String {
    if moment > now {
        format!("{} (in {})", local_time(moment), distance(now, moment))
    } else {
        format!("{} ({} ago)", local_time(moment), distance(moment, now))
    }
}

/// What is under the card: the difference where there is one, else the text.
fn body(action: &Action, preview: &Preview) -> (String, String) {
    if let Some(diff) = &preview.diff {
        let same = diff.is_empty().then(|| "no difference\n".to_owned());
        let title = "difference to the doc that is there now".to_owned();
        return (title, same.unwrap_or_else(|| diff.clone()));
    }
    match &preview.content {
        Content::Nothing => (String::new(), String::new()),
        Content::Text(text) => {
            let title = match action.payload {
                Payload::Launch(_) => "prompt",
                Payload::AddDoc(_) | Payload::DeleteDoc(_) | Payload::Settings(_) => "text",
            };
            (title.to_owned(), text.clone())
        }
        Content::Binary(why) => ("no preview".to_owned(), why.clone()),
        Content::Settings(entries) => {
            let lines = entries.iter().map(|entry| {
                let now = entry.now.as_ref().map_or("not set".to_owned(), ToString::to_string);
                format!("{}: {now} -> {}\n", entry.key, entry.then)
            });
            ("settings".to_owned(), lines.collect())
        }
    }
}

/// The beginning of a text under its title, and how much more there is.
fn cut(title: &str, body: &str, full: bool) -> String {
    let total = body.lines().count();
    let mut shown = String::new();
    for line in body.lines().take(if full { usize::MAX } else { LINES }) {
        if !full && shown.len() + line.len() > BYTES {
            let room = line.floor_char_boundary(BYTES.saturating_sub(shown.len()));
            shown.push_str(&line[..room]);
            shown.push('\n');
            break;
        }
        shown.push_str(line);
        shown.push('\n');
    }
    let whole = shown.trim_end_matches('\n').len() >= body.trim_end_matches('\n').len();
    let more = match whole {
        true => String::new(),
        false => {
            let kept = shown.lines().count();
            format!("… {kept} of {total} lines; `omni-run inbox show --full` shows all\n")
        }
    };
    format!("--- {title}\n{}{more}", for_terminal(&shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_says_how_much_is_left_out() {
        let body: String = (0..100).map(|n| format!("line {n}\n")).collect();
        let shown = cut("text", &body, false);
        assert!(shown.contains("line 39\n") && !shown.contains("line 40\n"), "{shown}");
        assert!(shown.ends_with("… 40 of 100 lines; `omni-run inbox show --full` shows all\n"));
        assert!(cut("text", &body, true).ends_with("line 99\n"));
        assert_eq!(cut("text", "one", false), "--- text\none\n");
        let long = "\u{e9}".repeat(BYTES);
        let shown = cut("text", &long, false);
        assert!(shown.len() < BYTES + 200 && shown.contains("… 1 of 1 lines"), "{}", shown.len());
    }

    #[test]
    fn a14_a_text_can_not_reach_the_terminal() {
        let shown = cut("text", "a\u{1b}[2J\u{9b}1m\u{202e}b\rc\n", true);
        assert_eq!(shown, "--- text\na\\u{1b}[2J\\u{9b}1m\\u{202e}b\\rc\n");
    }
}
