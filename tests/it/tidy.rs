//! The invariants that can be read off the sources: who may know an engine's name, who prints, how
//! large a file gets, that each says what it is for.

use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(below: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(below)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("sources").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).expect("source");
                found.push((path.strip_prefix(root()).expect("below").to_owned(), text));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty());
    found
}

/// The lines that are code: no comments, and nothing from the first test module on.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .take_while(|(_, line)| line.trim() != "#[cfg(test)]")
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .map(|(n, line)| (n + 1, line))
}

#[test]
fn only_the_engines_room_knows_an_engines_name() {
    let names = ["claude", "codex", "gemini", "cursor_agent", "openclaw", "opencode", "hermes"];
    // `.claude/docs` is where docs lie, for every engine, and `__claude__` a project's name; help
    // texts give examples; a secret's kind names who issued it.
    let strip = |line: &str| {
        line.replace(".claude", "").replace("__claude__", "").replace("\"Claude\"", "")
    };
    for (path, text) in sources("src") {
        let file = path.to_string_lossy();
        if file.starts_with("src/engines")
            || file.starts_with("src/cli/")
            || file.contains("/tests/")
        {
            continue;
        }
        for (n, line) in code(&text) {
            let line = strip(line).to_lowercase();
            for name in names {
                assert!(!line.contains(name), "{file}:{n} names {name}: {line}");
            }
        }
    }
}

#[test]
fn only_ui_prints() {
    for (path, text) in sources("src") {
        let file = path.to_string_lossy();
        if file == "src/ui.rs" || file.contains("/tests/") {
            continue;
        }
        for (n, line) in code(&text) {
            for macro_name in ["println!", "eprintln!", "print!(", "eprint!("] {
                assert!(!line.contains(macro_name), "{file}:{n} prints: {line}");
            }
        }
    }
}

#[test]
fn the_store_cannot_name_the_sent_text() {
    for (path, text) in sources("src/session") {
        for (n, line) in code(&text) {
            assert!(!line.contains("SentText"), "{}:{n}", path.display());
            assert!(!line.contains("FirstMessage"), "{}:{n}", path.display());
        }
    }
}

#[test]
fn only_adapters_call_the_builder() {
    for (path, text) in sources("src") {
        let file = path.to_string_lossy();
        if file.starts_with("src/engines") || file.starts_with("src/context") {
            continue;
        }
        for (n, line) in code(&text) {
            assert!(!line.contains("AutoContext::build"), "{file}:{n}");
        }
    }
}

#[test]
fn pure_rooms_do_no_io_and_read_no_clock() {
    let pure = [
        "src/launch/plan.rs",
        "src/launch/request.rs",
        "src/launch/receipt.rs",
        "src/launch/describe.rs",
        "src/context/delivery.rs",
        "src/context/first_message.rs",
        "src/context/always.rs",
        "src/context/reference.rs",
        "src/context/instructions.rs",
        "src/context/attachments.rs",
        "src/context/auto.rs",
        "src/context/front.rs",
        "src/engines/gate_spec.rs",
        "src/engines/screen_state.rs",
    ];
    let read = |file: &str| std::fs::read_to_string(root().join(file)).expect("source");
    let files = pure.into_iter().map(|file| (PathBuf::from(file), read(file)));
    let rooms = ["src/launch/gate", "src/launch/keys", "src/launch/ledger", "src/launch/screen"];
    let rooms = rooms.into_iter().flat_map(sources);
    let of_tests = |path: &Path| path.components().any(|part| part.as_os_str() == "tests");
    for (file, text) in files.chain(rooms.filter(|(path, _)| !of_tests(path))) {
        let file = file.display();
        for (n, line) in code(&text) {
            for call in [
                "std::fs",
                "std::env",
                "File::open",
                "SystemTime",
                "Instant::now",
                "Timestamp::now",
            ] {
                assert!(!line.contains(call), "{file}:{n}: {line}");
            }
        }
    }
}

#[test]
fn files_are_small_and_say_what_they_are_for() {
    let mut sizes = Vec::new();
    for below in ["src", "tests"] {
        for (path, text) in sources(below) {
            let lines = text.lines().count();
            assert!(lines <= 600, "{} has {lines} lines", path.display());
            let header =
                text.starts_with("//!") || path.to_string_lossy().contains("compile_fail/");
            assert!(header, "{} has no header", path.display());
            if below == "src" {
                sizes.push(lines);
            }
        }
    }
    sizes.sort_unstable();
    let median = sizes[sizes.len() / 2];
    assert!(median <= 200, "the median file has {median} lines");
}

#[test]
fn nothing_of_this_machine_or_of_a_registry_is_committed() {
    let out = std::process::Command::new("git")
        .args(["-C", env!("CARGO_MANIFEST_DIR"), "ls-files", "-z"])
        .output()
        .expect("git");
    assert!(out.status.success());
    // Taken apart, or this file would be found.
    let hosts = [
        "registry.npmjs".to_owned() + ".org",
        "pypi".to_owned() + ".org",
        "crates".to_owned() + ".io/api",
    ];
    for name in String::from_utf8_lossy(&out.stdout).split('\0').filter(|n| !n.is_empty()) {
        let text = std::fs::read(root().join(name)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        for host in &hosts {
            assert!(!text.contains(host.as_str()), "{name} names {host}");
        }
        // Cargo.lock has to say where a crate comes from; that line is cargo's own.
        assert!(!text.contains(concat!("/ro", "ot/.cache")), "{name} has a path of a machine");
    }
}
