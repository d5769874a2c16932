//! What a person does in the interface of the stand-in for Cursor's CLI, **not the real Cursor**. Asserted
//! on what the stand-in says it was sent, on the stored display text and on the terminal.

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::cursor::{Bed, bed};
use crate::pty_driver::{Ended, Key, Kind, PtyDriver, Run};
use crate::support::home::write;
use crate::tui_bed::{block, end, long_doc, shown, stored};

const DOC: &str = "Short words.\n";
const SECOND: &str = "and a second one";

impl Bed {
    fn start(&self, args: &[&str]) -> PtyDriver {
        Run::new(env!("CARGO_BIN_EXE_omni-run"))
            .args([&["cursor"], args].concat())
            .only_env(self.home.env())
            .cwd(&self.project)
            .size(40, 120)
            .terminal(Kind::Plain)
            .start()
    }

    fn open(&self) -> PtyDriver {
        let term = self.start(&[]);
        term.wait_for("Plan, search, build anything");
        term.wait_for_quiet();
        term
    }

    fn block(&self) -> String {
        block(&self.home, &self.project, "cursor")
    }

    /// The messages that it was sent, of all its runs.
    fn sent(&self) -> Vec<String> {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let entries = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        entries.map(|entry| entry["prompt"].as_str().expect("prompt").to_owned()).collect()
    }
}

/// Types a text, Ctrl-J between its lines.
fn type_text(term: &mut PtyDriver, text: &str) {
    for (n, line) in text.split('\n').enumerate() {
        if n > 0 {
            term.press([Key::Ctrl('j')]);
        }
        term.type_text(line);
        shown(term, line);
    }
}

fn submit(term: &mut PtyDriver, text: &str) {
    type_text(term, text);
    term.press([Key::Enter]);
}

/// The composer is ready for one more message.
fn answered(term: &PtyDriver) {
    term.wait_for("Add a follow-up");
    term.wait_for_quiet();
}

/// The first message of a person gets the docs, the second does not.
fn messages(doc: &str, first: &str) {
    let bed = bed(&[("style.md", doc.as_bytes())]);
    bed.widen();
    let block = bed.block();
    assert!(block.contains(doc), "the doc is whole");
    let mut term = bed.open();
    for message in [first, SECOND] {
        submit(&mut term, message);
        answered(&term);
    }
    end(&mut term);
    let sent = bed.sent();
    assert!(sent == [format!("{block}\n\n{first}"), SECOND.to_owned()], "{}", tails(&sent));
    assert_eq!(stored(&bed.home), [first]);
}

/// The ends of long texts, for a person.
fn tails(texts: &[String]) -> String {
    let tail = |text: &String| {
        let from = text.char_indices().rev().nth(200).map_or(0, |(at, _)| at);
        format!("{} bytes, …{:?}\n", text.len(), &text[from..])
    };
    texts.iter().map(tail).collect()
}

#[test]
fn one_line() {
    messages(DOC, "hello there");
}

#[test]
fn three_lines() {
    messages(DOC, "one line\nline two\nline three");
}

#[test]
fn wide_and_joined_signs() {
    messages("wide 世界 and 👩\u{200d}👧\n", "全角の文字 é 👩\u{200d}👧 🇫🇷\nzweite Zeile 世界");
}

#[test]
fn a_hundred_kb() {
    messages(&long_doc(100_000), "how long is it?");
}

#[test]
fn four_hundred_kb() {
    messages(&long_doc(400_000), "how long\nis it? 世界");
}

#[test]
fn a_message_on_the_command_line() {
    let long = "many words of a person, ".repeat(40);
    for message in ["do it", "/help me\nwith 世界 👩\u{200d}👧", "!no shell line", &long] {
        let bed = bed(&[("style.md", DOC.as_bytes())]);
        let block = bed.block();
        let mut term = bed.start(&[message]);
        answered(&term);
        submit(&mut term, SECOND);
        term.wait_until("the second message", |_, _| bed.sent().len() == 2);
        end(&mut term);
        assert_eq!(bed.sent(), [format!("{block}\n\n{message}"), SECOND.to_owned()]);
        assert_eq!(stored(&bed.home), [message]);
    }
}

/// A message given while the person has the folder's trust to decide waits for it.
#[test]
fn the_trust_dialog_first() {
    for args in [&[][..], &["the message after it"]] {
        let bed = bed(&[("style.md", DOC.as_bytes())]);
        bed.home.set_env("FAKE_CURSOR_TRUSTED", "0");
        let block = bed.block();
        let mut term = bed.start(args);
        shown(&term, "[a] Trust this workspace");
        assert_eq!(bed.sent(), Vec::<String>::new());
        term.press([Key::Char('a')]);
        if args.is_empty() {
            term.wait_for("Plan, search, build anything");
            submit(&mut term, "the message after it");
        }
        answered(&term);
        end(&mut term);
        assert_eq!(bed.sent(), [format!("{block}\n\nthe message after it")]);
        assert_eq!(stored(&bed.home), ["the message after it"]);
    }
}

#[test]
fn commands_and_shell_lines_first() {
    let bed = bed(&[("style.md", DOC.as_bytes())]);
    let block = bed.block();
    let mut term = bed.open();
    for line in ["/help", "!echo out"] {
        submit(&mut term, line);
        term.wait_for(&format!("[command] {line}"));
        term.wait_for("Plan, search, build anything");
        term.wait_for_quiet();
    }
    // An Enter on nothing.
    term.press([Key::Enter]);
    term.wait_for_quiet();
    submit(&mut term, "the message after them");
    answered(&term);
    end(&mut term);
    assert_eq!(bed.sent(), [format!("{block}\n\nthe message after them")]);
    assert_eq!(stored(&bed.home), ["the message after them"]);
}

/// One line is read from the screen. What the screen does not tell goes as it is, and the docs wait for
/// a message of which they can be put in front.
#[test]
fn a_message_from_the_history() {
    let bed = bed(&[("style.md", DOC.as_bytes())]);
    let old_block = bed.block();
    let mut term = bed.open();
    for message in ["the first of all", SECOND] {
        submit(&mut term, message);
        answered(&term);
    }
    end(&mut term);
    write(bed.project.join(".claude/docs/style.md"), "Other words.\n");
    let block = bed.block();
    let with_old = format!("{old_block}\n\nthe first of all");

    let mut term = bed.open();
    term.press([Key::Up]);
    shown(&term, SECOND);
    term.press([Key::Enter]);
    answered(&term);
    end(&mut term);

    let mut term = bed.open();
    for _ in 0..3 {
        term.press([Key::Up]);
        term.wait_for_quiet();
    }
    shown(&term, "[Pasted text #");
    term.press([Key::Enter]);
    answered(&term);
    submit(&mut term, "one more");
    answered(&term);
    end(&mut term);
    term.wait_until("the reason", |screen, _| {
        screen.contains("the docs did not go with a message")
    });

    let sent = bed.sent();
    let expected = [&format!("{block}\n\n{SECOND}"), &with_old, &format!("{block}\n\none more")];
    assert!(sent[2..].iter().eq(expected), "{}", tails(&sent));
    assert_eq!(stored(&bed.home), ["one more", SECOND, "the first of all"]);
}

/// However a person leaves, with a message or without.
#[test]
fn leaving() {
    let quits: [&[Key]; 2] = [&[Key::Ctrl('c'), Key::Ctrl('c')], &[Key::Ctrl('d')]];
    for with_message in [false, true] {
        for keys in quits.into_iter().map(Some).chain([None]) {
            let bed = bed(&[("style.md", DOC.as_bytes())]);
            let mut term = bed.open();
            if with_message {
                submit(&mut term, "hello there");
                answered(&term);
            }
            match keys {
                Some(keys) => term.press(keys.iter().copied()),
                None => submit(&mut term, "/exit"),
            }
            assert_eq!(term.wait_for_end(), Ended { code: Some(0), signal: None });
            term.wait_until_as_before();
            let expected: &[&str] = if with_message { &["hello there"] } else { &[] };
            assert_eq!(stored(&bed.home), expected);
        }
    }
}

/// The stand-in dies by the signal with its modes on.
#[test]
fn sigterm() {
    let bed = bed(&[("style.md", DOC.as_bytes())]);
    let mut term = bed.open();
    assert_ne!(term.modes_between_frames(), Vec::<String>::new(), "they were on");
    term.signal(Signal::SIGTERM);
    assert_eq!(term.wait_for_end(), Ended { code: Some(143), signal: None });
    term.wait_until_as_before();
}

#[cfg(target_os = "linux")]
#[test]
fn sigkill_of_the_engine() {
    let bed = bed(&[("style.md", DOC.as_bytes())]);
    let mut term = bed.open();
    type_text(&mut term, "half a mess");
    crate::tui_life::kill::the_engine(&bed.home, &mut term);
    assert_eq!((bed.sent().len(), stored(&bed.home).len()), (0, 0));
}

#[cfg(target_os = "linux")]
#[test]
fn sigkill_of_omni_run() {
    let bed = bed(&[("style.md", DOC.as_bytes())]);
    let mut term = bed.open();
    submit(&mut term, "hello there");
    answered(&term);
    term.signal(Signal::SIGKILL);
    assert_eq!(term.wait_for_end(), Ended { code: None, signal: Some(9) });
    term.wait_until_as_before();
    crate::tui_life::kill::none_is_left(&bed.home);
    assert_eq!(stored(&bed.home), ["hello there"]);
}
