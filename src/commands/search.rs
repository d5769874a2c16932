//! `omni-run search`: messages by their words, one line each (S61). What is shown is what was typed
//! and answered; the block is nowhere in the store.

use std::io::IsTerminal;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::when::{local_minute, window};
use super::{here, now_ms, own_paths, print, print_json, table};
use crate::cli::SearchArgs;
use crate::context::figures::counted;
use crate::error::Failure;
use crate::launch::terminal;
use crate::paths::Paths;
use crate::session::search::{Found, Hit, Part, Query, RANKED, SearchFilter, SearchOrder};
use crate::session::{Role, Store};
use crate::ui::{Marks, Ui, one_line};

/// As with grep: the search went well and found nothing.
const NOTHING_FOUND: u8 = 1;
/// Characters of a message that a line shows where there is no terminal whose width counts.
const SNIPPET: usize = 100;
/// A snippet on a narrow and on a wide terminal.
const SNIPPET_WITHIN: (usize, usize) = (40, 160);
/// So many messages take a second or more.
const WORTH_A_WORD: i64 = 5000;
/// About what the other columns take.
const OTHER_COLUMNS: usize = 66;

/// Carries the command out.
pub(super) fn search(args: &SearchArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let query = Query::parse(&args.query.join(" "))?;
    let (since, before) = window(&args.which, now_ms())?;
    let paths = own_paths();
    let named = here::Named::of(&paths, args.which.project.as_deref(), ui);
    let role = args.role.as_deref().map(|role| match role {
        "typed" => Role::Operator,
        _ => Role::Engine,
    });
    let order = if args.newest { SearchOrder::Newest } else { SearchOrder::Relevance };
    let filter = SearchFilter {
        project: named.id.clone(),
        folder: named.folder.clone(),
        engine: args.which.engine.clone(),
        role,
        since,
        before,
    };
    let store = Store::open_if_there(&paths)?;
    if let Some(store) = &store {
        complete_index(store, &paths, ui)?;
    }
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    let found = match &store {
        None => Found::default(),
        Some(store) => store.search(&query, &filter, order, limit, width())?,
    };
    if found.matches == 0 {
        named.require()?;
        here::warn_of_engine(&paths, args.which.engine.as_deref(), ui);
        if args.json {
            print_json(ui, &json!([]))?;
        }
        ui.status("no message matches");
        return Ok(ExitCode::from(NOTHING_FOUND));
    }
    if args.json {
        return print_json(ui, &found.hits.iter().map(as_value).collect());
    }
    let digits = match &store {
        Some(store) => here::digits(store, found.hits.iter().map(|hit| hit.session.id))?,
        None => 0,
    };
    print(ui, &lines(&found.hits, digits, ui.marks()))?;
    say_what_is_left(&found, order, ui);
    Ok(ExitCode::SUCCESS)
}

/// Messages that an older omni-run stored get their places in the index. Where they can't, on a disk
/// that is full or read-only, the search reads them one by one, and finds the same.
fn complete_index(store: &Store, paths: &Paths, ui: Ui) -> Result<(), Failure> {
    let waiting = store.waiting_for_index()?;
    if waiting == 0 {
        return Ok(());
    }
    if waiting > WORTH_A_WORD {
        ui.status("older messages are put into the index; later searches are quick");
    }
    match Store::open(paths).and_then(|store| store.fill_index()) {
        Ok(()) => {}
        Err(error) => tracing::warn!(%error, "the index was not completed"),
    }
    Ok(())
}

fn width() -> usize {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return SNIPPET;
    }
    let columns = terminal::columns(&stdout).unwrap_or(SNIPPET + OTHER_COLUMNS);
    columns.saturating_sub(OTHER_COLUMNS).clamp(SNIPPET_WITHIN.0, SNIPPET_WITHIN.1)
}

fn lines(hits: &[Hit], digits: usize, marks: Marks) -> String {
    let headings = ["SESSION", "WHEN", "ENGINE", "PROJECT", "ROLE"];
    let mut rows = vec![headings.map(str::to_owned).to_vec()];
    let mut ends = vec!["TEXT".to_owned()];
    for hit in hits {
        rows.push(vec![
            hit.session.id.to_string()[..digits].to_owned(),
            local_minute(hit.created_at),
            hit.session.engine.clone(),
            hit.session.project.clone().unwrap_or_else(|| "-".to_owned()),
            match hit.role {
                Role::Operator => "typed".to_owned(),
                Role::Engine => "reply".to_owned(),
            },
        ]);
        ends.push(hit.snippet.iter().map(|part| shown(part, marks)).collect());
    }
    table::table_with(&rows, &[], &ends)
}

fn shown(part: &Part, marks: Marks) -> String {
    let text = one_line(&part.text);
    if part.hit { marks.on(&text) } else { text }
}

fn as_value(hit: &Hit) -> Value {
    let mut snippet = String::new();
    let mut highlights = Vec::new();
    let mut length = 0;
    for part in &hit.snippet {
        let start = length;
        length += part.text.chars().count();
        snippet.push_str(&part.text);
        if part.hit {
            highlights.push([start, length]);
        }
    }
    json!({
        "session": hit.session.id.to_string(),
        "seq": hit.seq,
        "role": hit.role.as_str(),
        "engine": hit.session.engine,
        "project": hit.session.project,
        "project_folder": hit.session.project_root.as_ref().map(|path| path.to_string_lossy()),
        "created_at": hit.created_at,
        "score": hit.score,
        "snippet": snippet,
        "highlights": highlights,
    })
}

fn say_what_is_left(found: &Found, order: SearchOrder, ui: Ui) {
    let shown = found.hits.len();
    match order {
        SearchOrder::Newest if found.more => {
            ui.status(&format!("the newest {shown} are shown; --limit shows more"));
        }
        SearchOrder::Relevance if found.more => ui.status(&format!(
            "more than {RANKED} messages match; {shown} of the newest {RANKED} are shown; more \
             words, --project, --since or --until narrow it down"
        )),
        _ if found.matches > shown => {
            let matches = counted(found.matches, "match", "matches");
            ui.status(&format!("{shown} of {matches} are shown; --limit shows more"));
        }
        _ => {}
    }
}
