//! `omni-run sessions`: what was typed, what came back, what was delivered. The block is nowhere in
//! the store, so nothing here can show a byte of it.

use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::when::window;
use super::{here, now_ms, own_paths, print, print_json, recover, resume, sessions_rm, table};
use crate::cli::{SessionsAction, SessionsArgs, SessionsLsArgs};
use crate::context::figures;
use crate::error::Failure;
use crate::paths::Paths;
use crate::session::{
    Look, Message, Outcome, Role, SessionFilter, SessionId, SessionRow, Store, StoreError, UnixMs,
    settle_if_can,
};
use crate::ui::{Ui, one_line, printable_lines};

/// Columns of the first words in a list.
const FIRST_WORDS: usize = 60;
/// Characters of an id.
const WHOLE_ID: usize = 36;
/// How many sessions are listed unless told.
const LISTED: u32 = 20;

/// Carries the command out.
pub(super) fn sessions(args: SessionsArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let paths = own_paths();
    // What can't be written now is found again the next time.
    settle_if_can(&paths, Look::Everything);
    let ls_newest = || SessionsAction::Ls(SessionsLsArgs { limit: LISTED, ..Default::default() });
    match args.action.unwrap_or_else(ls_newest) {
        SessionsAction::Ls(args) => ls(&paths, &args, ui),
        SessionsAction::Resume(args) => resume::resume(*args, ui),
        SessionsAction::Recover(args) => recover::recover(args, ui),
        SessionsAction::Show { session, json } => {
            let Some(store) = Store::open_if_there(&paths)? else {
                return Err(StoreError::UnknownSession { prefix: session }.into());
            };
            show(&store, &session, json, ui)
        }
        SessionsAction::Rm(args) => sessions_rm::rm(&paths, &args, ui),
        SessionsAction::Prune(args) => sessions_rm::prune(&args, ui),
    }
}

fn ls(paths: &Paths, args: &SessionsLsArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let (since, until) = window(&args.which, now_ms())?;
    let named = here::Named::of(paths, args.which.project.as_deref(), ui);
    let filter = SessionFilter {
        project: named.id.clone(),
        folder: named.folder.clone(),
        engine: args.which.engine.clone(),
        outcome: args.outcome.as_deref().and_then(Outcome::parse),
        failed: args.failed,
        since,
        until,
        limit: Some(args.limit).filter(|limit| *limit > 0),
        before: None,
    };
    let store = Store::open_if_there(paths)?;
    let rows = store.as_ref().map_or_else(|| Ok(Vec::new()), |store| store.sessions(&filter))?;
    match store {
        Some(store) if !rows.is_empty() => ls_rows(&store, &rows, args.json, ui),
        _ => {
            named.require()?;
            here::warn_of_engine(paths, args.which.engine.as_deref(), ui);
            if args.json {
                return print_json(ui, &json!([]));
            }
            ui.status("no sessions");
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Prints a list that is not empty.
pub(super) fn ls_rows(
    store: &Store,
    sessions: &[SessionRow],
    as_json: bool,
    ui: Ui,
) -> Result<ExitCode, Failure> {
    if as_json {
        let values = sessions.iter().map(|row| {
            let mut value = row_value(row);
            value.insert("first_words".into(), row.first_words.as_str().into());
            Value::from(value)
        });
        return print_json(ui, &values.collect());
    }
    let digits = here::digits(store, sessions.iter().map(|row| row.id))?;
    print(ui, &list(sessions, digits))
}

/// A list for people, with so many characters of the ids.
pub(super) fn list(sessions: &[SessionRow], digits: usize) -> String {
    let headings = ["ID", "WHEN", "ENGINE", "PROJECT", "OUTCOME", "TYPED"];
    let mut rows = vec![headings.map(str::to_owned).to_vec()];
    rows.extend(sessions.iter().map(|row| {
        vec![
            row.id.to_string()[..digits].to_owned(),
            local_time(row.started_at),
            row.engine.clone(),
            row.project.clone().unwrap_or_else(|| "-".to_owned()),
            outcome(row),
            first_words(&row.first_words),
        ]
    }));
    table::table(&rows, &[])
}

pub(super) fn first_words(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = one_line(&words.join(" "));
    if line.chars().count() <= FIRST_WORDS {
        return line;
    }
    line.chars().take(FIRST_WORDS - 1).chain(['…']).collect()
}

pub(super) fn outcome(row: &SessionRow) -> String {
    match (row.signal, row.exit_code) {
        (Some(signal), _) => format!("{}, signal {signal}", row.outcome.as_str()),
        (None, Some(code)) if code != 0 => format!("{}, code {code}", row.outcome.as_str()),
        (None, _) => row.outcome.as_str().to_owned(),
    }
}

/// A moment as the person's clock showed it.
pub(super) fn local_time(ms: UnixMs) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(moment) => {
            let local = moment.to_zoned_datetime(jiff::tz::TimeZone::system());
            local.strftime("%Y-%m-%d %H:%M:%S").to_string()
        }
        Err(_) => ms.to_string(),
    }
}

fn row_value(row: &SessionRow) -> Map<String, Value> {
    let value = json!({
        "id": row.id.to_string(),
        "engine": row.engine,
        "model": row.model,
        "project": row.project,
        "project_folder": row.project_root.as_ref().map(|folder| folder.to_string_lossy()),
        "cwd": row.cwd.to_string_lossy(),
        "mode": row.mode.as_str(),
        "outcome": row.outcome.as_str(),
        "exit_code": row.exit_code,
        "signal": row.signal,
        "started_at": row.started_at,
        "ended_at": row.ended_at,
    });
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// The session that an id, or the start of one, stands for. Of several it says which they are.
pub(super) fn by_prefix(store: &Store, prefix: &str) -> Result<SessionRow, Failure> {
    let error = match store.session_by_prefix(prefix) {
        Ok(row) => return Ok(row),
        Err(error) => error,
    };
    let StoreError::AmbiguousSession { matches, .. } = &error else { return Err(error.into()) };
    let rows: Vec<SessionRow> = matches
        .iter()
        .map(|id| store.session_by_prefix(&id.to_string()))
        .collect::<Result<_, _>>()?;
    let list = list(&rows, WHOLE_ID);
    let mut failure = Failure::from(error);
    failure.hints = vec!["give more of the id:".to_owned()];
    failure.hints.extend(list.lines().skip(1).map(str::to_owned));
    Err(failure)
}

fn show(store: &Store, prefix: &str, as_json: bool, ui: Ui) -> Result<ExitCode, Failure> {
    let row = by_prefix(store, prefix)?;
    let messages = store.messages(row.id)?;
    let receipt = store.receipt(row.id)?;
    if as_json {
        let mut value = row_value(&row);
        value.insert("engine_session".into(), json!(row.engine_session_id));
        value.insert("argv".into(), json!(row.argv));
        value.insert("resumes".into(), json!(row.resumes));
        value.insert("attempts".into(), json!(row.attempts));
        let messages = messages.iter().map(|message| {
            json!({
                "role": message.role.as_str(),
                "text": message.text,
                "created_at": message.created_at,
            })
        });
        value.insert("messages".into(), messages.collect());
        value.insert("receipt".into(), receipt.unwrap_or_default());
        return print_json(ui, &Value::from(value));
    }
    let mut text = head(&row, row.id);
    for message in &messages {
        text.push_str(&message_text(message));
    }
    if let Some(receipt) = receipt {
        text.push_str(&format!("\n--- delivered\n{}", receipt_text(&receipt)));
    }
    print(ui, &text)
}

fn head(row: &SessionRow, id: SessionId) -> String {
    let none = || "-".to_owned();
    let place = row.project_root.as_deref().map(here::shown);
    let lines = [
        ("session", id.to_string()),
        ("engine", row.engine.clone()),
        ("model", row.model.clone().unwrap_or_else(|| "the engine's own choice".to_owned())),
        ("project", row.project.clone().or(place).unwrap_or_else(none)),
        ("cwd", here::shown(&row.cwd)),
        ("started", local_time(row.started_at)),
        ("ended", row.ended_at.map_or_else(none, local_time)),
        ("outcome", outcome(row)),
        ("goes on with", row.resumes.map_or_else(none, |id| id.to_string())),
        ("engine's id", row.engine_session_id.clone().unwrap_or_else(none)),
        ("command", row.argv.join(" ")),
    ];
    let rows: Vec<Vec<String>> =
        lines.into_iter().map(|(key, value)| vec![format!("{key}:"), value]).collect();
    table::table(&rows, &[])
}

fn message_text(message: &Message) -> String {
    let who = match message.role {
        Role::Operator => "you typed",
        Role::Engine => "the engine answered",
    };
    let text = printable_lines(&message.text);
    format!("\n--- {who}\n{}\n", text.trim_end_matches('\n'))
}

/// The receipt in a few lines. Fields that an older or newer omni-run did not write are left out.
fn receipt_text(receipt: &Value) -> String {
    let mut text = String::new();
    let mut line = |line: String| {
        text.push_str(&one_line(&line));
        text.push('\n');
    };
    let word = |value: &Value| value.as_str().map(str::to_owned);
    let context = &receipt["context"];
    if let (Some(used), Some(budget)) = (context["used"].as_u64(), context["budget"].as_u64()) {
        let (used, budget) = (figures::bytes(used), figures::bytes(budget));
        line(format!("docs and instructions: {used} of {budget}"));
    }
    if let Some(hash) = word(&context["block_hash"]).filter(|hash| !hash.is_empty()) {
        let bytes = context["block_bytes"].as_u64().unwrap_or(0);
        line(format!("block: {}, SHA-256 {hash}", figures::bytes(bytes)));
    }
    for doc in [&context["docs"], &context["attach"]].into_iter().filter_map(Value::as_array) {
        for doc in doc {
            let (Some(name), Some(state)) = (word(&doc["name"]), word(&doc["state"])) else {
                continue;
            };
            let reason = word(&doc["reason"]).map_or(String::new(), |why| format!(": {why}"));
            line(format!("  {name}: {}{reason}", state.replace('_', " ")));
        }
    }
    let channels = &receipt["channels"];
    for (what, key) in
        [("message", "message"), ("instructions", "instructions"), ("attachments", "attachments")]
    {
        if let Some(channel) = word(&channels[key]) {
            line(format!("channel of {what}: {channel}"));
        }
    }
    if let Some(version) = word(&receipt["engine_version"]) {
        line(format!("engine version: {version}"));
    }
    line(format!(
        "verified: {}",
        word(&receipt["verified"]).unwrap_or_else(|| "not known".to_owned())
    ));
    for complaint in receipt["complaints"].as_array().into_iter().flatten().filter_map(word) {
        line(format!("complaint: {complaint}"));
    }
    text
}
