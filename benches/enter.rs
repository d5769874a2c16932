//! Enter → request on the wire, per real engine: how much later the first message is asked of the
//! model when omni-run puts 48 KB of docs in front of it.
//!
//! `benches/run` runs it when the real engines are installed (`tests/real/install`); by hand:
//! `OMNI_RUN=target/release/omni-run cargo bench --profile dev --bench enter -- codex pi`.
//!
//! Both ways are driven by the same code through an outer pseudo-terminal, in turn, against a model on
//! loopback. Measured is from before the write of the Enter key to the moment at which the head of the
//! first request of the conversation is read. It prints a Markdown table.

// A program that prints a table.
#![allow(clippy::print_stdout, clippy::print_stderr)]

#[path = "../tests/support/pty_driver.rs"]
mod pty_driver;
#[path = "../tests/support/mod.rs"]
mod support;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use pty_driver::{Key, PtyDriver, Run};
use support::home::write;
use support::{FakeModel, RealEngine, TestHome};

/// What shows that the composer takes keys.
const ENGINES: [(&str, &str); 7] = [
    ("claude", "\u{276f}"),
    ("codex", "Ask Codex"),
    ("gemini", "Type your message"),
    ("pi", "mock-model"),
    ("openclaw", "local ready | idle"),
    ("opencode", "Ask anything"),
    ("hermes", "\u{2695}"),
];
const DOCS: usize = 12;
const DOC_BYTES: usize = 4_000;
const MESSAGE: &str = "hello there";
/// How long an engine may take to its request.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() {
    // `cargo test --benches` runs it as well, to see that it builds.
    let args: Vec<String> = std::env::args().skip(1).collect();
    if !args.iter().any(|arg| arg == "--bench") {
        return;
    }
    let wanted: Vec<&String> = args.iter().filter(|arg| !arg.starts_with("--")).collect();
    let omni = PathBuf::from(
        std::env::var_os("OMNI_RUN").unwrap_or_else(|| env!("CARGO_BIN_EXE_omni-run").into()),
    );
    let rounds = std::env::var("OMNI_BENCH_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(7);
    println!("Enter → request on the wire, medians of {rounds}, {DOCS} docs of 4 KB each:\n");
    println!("| engine | alone | through omni-run | added |\n|---|---|---|---|");
    for (id, ready) in ENGINES {
        if !wanted.is_empty() && !wanted.iter().any(|name| *name == id) {
            continue;
        }
        let Some(engine) = RealEngine::get(id) else {
            println!("| {id} | not installed | | |");
            continue;
        };
        let (mut alone, mut wrapped) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            alone.extend(measure(&engine, ready, None));
            wrapped.extend(measure(&engine, ready, Some(&omni)));
        }
        println!("| {id} | {} | {} | {} |", show(&alone), show(&wrapped), added(&alone, &wrapped));
    }
}

/// One session up to its first request, alone or through omni-run.
fn measure(engine: &RealEngine, ready: &str, omni: Option<&PathBuf>) -> Option<Duration> {
    let (home, model) = (TestHome::new(), FakeModel::start());
    let doc = "Some words of a document, as people write them, with a `name` or two.\n";
    let doc = doc.repeat(DOC_BYTES / doc.len());
    let names: Vec<String> = (0..DOCS).map(|n| format!("doc-{n:02}.md")).collect();
    let docs: Vec<(&str, &[u8])> = names.iter().map(|n| (n.as_str(), doc.as_bytes())).collect();
    let project = home.project_with_docs("p1", &docs);
    engine.isolate(&home, &model);
    // A known model makes Codex ask whether to take a newer one.
    let codex = home.home().join(".codex/config.toml");
    if let Ok(config) = std::fs::read_to_string(&codex) {
        write(&codex, config.replace("gpt-5.5", "mock-model"));
    }
    let run = match omni {
        Some(omni) => Run::new(omni).args([engine.omni_id()]),
        None => Run::new(home.bin().join(engine.omni_id())).args(interface(engine.omni_id())),
    };
    let mut term = run.only_env(home.env()).cwd(&project).size(40, 120).answering().start();
    term.wait_for(ready);
    term.wait_for_quiet();
    term.type_text(MESSAGE);
    term.wait_for(MESSAGE);
    term.wait_for_quiet();
    let begin = Instant::now();
    term.press([Key::Enter]);
    let arrived = wait_for_request(&model);
    let screen = term.screen();
    end(&mut term);
    let way = if omni.is_some() { "through omni-run" } else { "alone" };
    let Some((arrived, text)) = arrived else {
        eprintln!("enter: {} {way}: no request; the screen:\n{screen}", engine.id);
        return None;
    };
    let has_docs = text.contains("## Injected Project Docs") && text.contains("doc-11.md");
    if !text.contains(MESSAGE) || has_docs != omni.is_some() {
        eprintln!("enter: {} {way}: the request is not the one that was meant", engine.id);
        return None;
    }
    Some(arrived.duration_since(begin))
}

/// The arguments that open an engine's own interface; most need none.
fn interface(id: &str) -> &'static [&'static str] {
    match id {
        "openclaw" => &["chat"],
        // As omni-run starts it: with its daemon the first request waits for that.
        "codex" => &["--no-daemon"],
        _ => &[],
    }
}

fn wait_for_request(model: &FakeModel) -> Option<(Instant, String)> {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if let Some(request) = model.main_requests().first() {
            return Some((request.arrived, request.wire().user_text()));
        }
        // The time of arrival is taken by the model itself.
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

fn end(term: &mut PtyDriver) {
    term.wait_for_quiet();
    term.signal(Signal::SIGTERM);
    let until = Instant::now() + Duration::from_secs(8);
    while pty_driver::is_alive(i64::from(term.pid())) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn median(values: &[Duration]) -> Option<Duration> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

fn show(values: &[Duration]) -> String {
    median(values).map_or("failed".to_owned(), |median| format!("{} ms", median.as_millis()))
}

fn added(alone: &[Duration], wrapped: &[Duration]) -> String {
    match (median(alone), median(wrapped)) {
        (Some(alone), Some(wrapped)) => {
            format!("{:+.0} ms", (wrapped.as_secs_f64() - alone.as_secs_f64()) * 1000.0)
        }
        _ => String::new(),
    }
}
