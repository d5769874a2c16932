//! Screens of the real engines, captured into `tests/engines/<id>/<case>/*.txt`, and what must be
//! read from them. A new version of an engine is a new file.
//!
//! A capture is the screen's rows as text. `⟪…⟫`: faint; `⟦…⟧`: the painted cursor; `↩` at the end:
//! the row goes on in the next one. A first line `#state WORD` is the engine's state mark.

use std::path::{Path, PathBuf};

use super::catalogue::Catalogue;
use super::screen_state::{Mode, Reading, Row, Snapshot, read};

fn parse(text: &str) -> Snapshot {
    let mut snapshot = Snapshot::default();
    for line in text.lines() {
        if let Some(word) = line.strip_prefix("#state ") {
            snapshot.state = Some(word.to_owned());
            continue;
        }
        let mut row = Row::default();
        let (mut faint, mut inverse) = (false, false);
        for c in line.chars() {
            match c {
                '⟪' => faint = true,
                '⟫' => faint = false,
                '⟦' => inverse = true,
                '⟧' => inverse = false,
                '↩' => row.wraps = true,
                c => row.push(c.encode_utf8(&mut [0; 4]), faint, inverse),
            }
        }
        row.trim_end();
        snapshot.rows.push(row);
    }
    snapshot
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .collect();
    files.sort();
    files
}

/// `case`: the folder's name, which is what the screen shows.
fn holds(case: &str, name: &str, reading: &Reading) -> bool {
    let composer = reading.composer.as_ref();
    let text = composer.map_or("", |composer| composer.text.as_str());
    match case {
        "ready" => {
            let expected = match name.trim_start_matches("old-") {
                "typed" => "hello wörld 世界",
                "hello" => "hello",
                "three-lines" => "first\nsecond line\nthird",
                _ => "",
            };
            reading.takes_message() && !reading.popup && text == expected
        }
        "dialog" => reading.dialog && !reading.takes_message(),
        "busy" => !reading.takes_message(),
        // Shown as the prompt, as the text, or below the composer.
        "shell" => {
            composer.is_some_and(|c| c.mode == Mode::Shell)
                || text.starts_with('!')
                || reading.dialog
        }
        "scrolled" => composer.is_some_and(|c| c.mode == Mode::Hidden),
        // Such a list lets Enter through.
        "popup" => {
            reading.popup_lets_through == name.ends_with("-unpicked")
                && (reading.popup || text.starts_with('/'))
        }
        _ => false,
    }
}

#[test]
fn the_marks_hold_on_the_captured_screens() {
    let catalogue = Catalogue::from_layers(None).expect("engines.toml");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engines");
    let (mut seen, mut wrong) = (0, Vec::new());
    for (id, spec) in catalogue.iter() {
        for case in ["ready", "dialog", "busy", "shell", "popup", "scrolled"] {
            for file in files(&root.join(id).join(case)) {
                let snapshot = parse(&std::fs::read_to_string(&file).expect("a capture"));
                let reading = read(&spec.gate.screen, &snapshot);
                let name = file.file_stem().unwrap_or_default().to_string_lossy();
                seen += 1;
                if !holds(case, &name, &reading) {
                    wrong.push(format!("{id}/{case}/{name}: {reading:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen >= 40, "only {seen} captures");
}
