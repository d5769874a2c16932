//! The ways to write a first message in the real engines' composers: the engine's list of files, a
//! paste of several lines, the user's own editor, an image. Asserted on the recorded request and the
//! stored display text.

use crate::pty_driver::{Key, Kind, PtyDriver};
use crate::support::home::write;
use crate::support::sample_files::png;
use crate::tui_bed::{Bed, end, shown};

/// How a draft is put together, and what it is then.
struct Draft {
    /// Typed first; an open list takes one Enter.
    typed: &'static str,
    /// What a list shows, and the keys that take its first entry.
    list: Option<(&'static str, &'static [Key])>,
    /// The keys that open the user's own editor.
    editor: &'static [Key],
    /// The whole.
    message: &'static str,
}

const CTRL_G: &[Key] = &[Key::Ctrl('g')];
const ENTER: &[Key] = &[Key::Enter];

/// The list, the paste, the editor; after the message the editor once more.
fn draft(id: &str, draft: &Draft) {
    let Some(bed) = Bed::new(id, "Short words.\n") else { return };
    let _turn = bed.engine.turn();
    write(bed.project.join("notes.md"), "# Notes\n");
    bed.home.install_script("my-editor", "#!/bin/sh\nprintf ' and more' >> \"$1\"\n");
    bed.home.set_env("VISUAL", "my-editor");
    let block = bed.block();
    let mut term = bed.open();
    bed.type_line(&mut term, draft.typed);
    if let Some((list, keys)) = draft.list {
        shown(&term, list);
        term.press(keys.iter().copied());
        term.wait_until("end of the list", |screen, _| !screen.contains(list));
        shown(&term, "notes.md");
    }
    term.paste("one line\nline two\nline three");
    shown(&term, if id == "opencode" { "[Pasted ~3 lines]" } else { "line three" });
    edited(&mut term, draft.editor, "and more");
    // This engine sends what its editor leaves, as it does without omni-run.
    let editor_sends = id == "hermes";
    if !editor_sends {
        assert_eq!(bed.model.main_requests().len(), 0, "nothing is sent yet");
        term.press([Key::Enter]);
    }
    bed.request(&term, 1).assert_block_once(&block, draft.message);
    bed.answered(&term);
    if !draft.editor.is_empty() {
        bed.type_line(&mut term, "later");
        edited(&mut term, draft.editor, "later and more");
        if editor_sends {
            bed.request(&term, 2).assert_display_once("later and more");
            bed.answered(&term);
        }
    }
    end(&mut term);
    assert_eq!(bed.stored(), [draft.message]);
}

fn edited(term: &mut PtyDriver, keys: &[Key], result: &str) {
    if !keys.is_empty() {
        term.press(keys.iter().copied());
        shown(term, result);
    }
}

/// In this engine Enter sends past an open list that nothing was taken from: of files, of agents.
#[test]
fn past_an_open_list_claude() {
    for (message, list) in [("look at @not", "+ notes.md"), ("ask @Exp", "* Explore (agent)")] {
        let Some(bed) = Bed::new("claude", "Short words.\n") else { return };
        write(bed.project.join("notes.md"), "# Notes\n");
        let block = bed.block();
        let mut term = bed.open();
        bed.type_line(&mut term, message);
        shown(&term, list);
        term.press([Key::Enter]);
        bed.request(&term, 1).assert_block_once(&block, message);
        bed.answered(&term);
        end(&mut term);
        assert_eq!(bed.stored(), [message]);
    }
}

/// In the list of agents and files Enter takes what is picked: nothing is sent, nothing is put in front
/// of what stands there, nothing is stored. `keys` pick the agent.
fn agent_from_the_list(id: &str, list: &str, keys: &[Key]) {
    let Some(bed) = Bed::new(id, "Short words.\n") else { return };
    write(
        bed.project.join(".claude/agents/reviewer.md"),
        "---\nname: reviewer\ndescription: Reads what is written\n---\nYou review.\n",
    );
    let block = bed.block();
    let mut term = bed.open();
    bed.type_line(&mut term, "ask @rev");
    shown(&term, list);
    term.press(keys.iter().copied());
    term.wait_for_quiet();
    term.press([Key::Enter]);
    term.wait_until("end of the list", |screen, _| !screen.contains(list));
    shown(&term, "ask @\"reviewer (agent)\"");
    assert!(!term.screen().contains("Injected Project Docs"), "{}", term.screen());
    assert_eq!((bed.model.main_requests().len(), bed.stored().len()), (0, 0));
    let message = "ask @\"reviewer (agent)\" to look at it";
    term.type_text("to look at it");
    shown(&term, message);
    term.press([Key::Enter]);
    bed.request(&term, 1).assert_block_once(&block, message);
    bed.answered(&term);
    end(&mut term);
    assert_eq!(bed.stored(), [message]);
}

#[test]
fn agent_claude() {
    agent_from_the_list("claude", "* reviewer (agent)", &[Key::Down, Key::Down]);
}

#[test]
fn agent_claude_2_1_197() {
    // Its first row is picked from the start.
    agent_from_the_list("claude-2.1.197", "* reviewer (agent)", &[Key::Down]);
}

/// The path of an image is pasted, as a terminal does it when a file is dropped on it. `stored`: what the
/// composer held; `sent`: what the engine made of that.
fn image(id: &str, chip: &str, as_bytes: bool, sent: &str, stored: &str) {
    let Some(bed) = Bed::new(id, "Short words.\n") else { return };
    let bed = bed.at(Kind::Kitty);
    let _turn = bed.engine.turn();
    let picture = png(8, 8, [1, 2, 3]);
    let path = bed.project.join("pic.png");
    write(&path, &picture);
    let path = path.to_str().expect("UTF-8").to_owned();
    let block = bed.block();
    let mut term = bed.open();
    term.paste(&path);
    term.wait_for_quiet();
    while id == "codex" && !term.screen().contains(chip) {
        // It takes images some seconds after its composer takes keys only.
        term.press([Key::Ctrl('c')]);
        term.wait_until("an empty composer", |screen, _| !screen.contains("pic.png"));
        term.paste(&path);
        term.wait_for_quiet();
    }
    shown(&term, chip);
    term.type_text(" what is it?");
    shown(&term, "what is it?");
    term.press([Key::Enter]);
    let wire = bed.request(&term, 1);
    wire.assert_block_once(&block, &sent.replace("{path}", &path));
    if as_bytes {
        wire.assert_image_bytes(&picture);
    }
    bed.answered(&term);
    end(&mut term);
    assert_eq!(bed.stored(), [stored.replace("{path}", &path)]);
}

macro_rules! drafts {
    ($($name:ident: $id:literal, $typed:literal, $list:expr, $editor:expr, $message:literal;)+) => {
        $(#[test]
        fn $name() {
            let all = Draft { typed: $typed, list: $list, editor: $editor, message: $message };
            draft($id, &all);
        })+
    };
}

drafts! {
    draft_claude: "claude", "look at @not", Some(("+ notes.md", &[Key::Down, Key::Enter])), CTRL_G,
        "look at @notes.md one line\nline two\nline three and more";
    draft_claude_2_1_197: "claude-2.1.197", "look at @not", Some(("+ notes.md", ENTER)), CTRL_G,
        "look at @notes.md one line\nline two\nline three and more";
    draft_codex: "codex", "look at @not", Some(("enter/tab insert", ENTER)), CTRL_G,
        "look at notes.md one line\nline two\nline three and more";
    draft_gemini: "gemini", "look at @not", Some((" notes.md", ENTER)), CTRL_G,
        "look at @notes.md one line\nline two\nline three and more";
    draft_pi: "pi", "look at it ", None, CTRL_G,
        "look at it one line\nline two\nline three and more";
    draft_openclaw: "openclaw", "look at it ", None, &[],
        "look at it one line\nline two\nline three";
    // It puts a blank of its own behind a folded paste.
    draft_opencode: "opencode", "look at it ", None, &[Key::Ctrl('x'), Key::Char('e')],
        "look at it one line\nline two\nline three  and more";
    draft_hermes: "hermes", "look at it ", None, CTRL_G,
        "look at it one line\nline two\nline three and more";
}

macro_rules! images {
    ($($name:ident: $($args:expr),+;)+) => {
        $(#[test]
        fn $name() {
            image($($args),+);
        })+
    };
}

images! {
    image_claude: "claude", "[Image #1]", true, "[Image #1] what is it?", "[Image #1] what is it?";
    image_claude_2_1_197:
        "claude-2.1.197", "[Image #1]", true, "[Image #1] what is it?", "[Image #1] what is it?";
    image_codex: "codex", "[Image #1]", true, "[Image #1]  what is it?", "[Image #1]  what is it?";
    // It rewrites each `@` when one names a file.
    image_gemini: "gemini", "[Image pic.png]", true, " @pic.png  what is it?", "@{path}  what is it?";
    // These two take no image by a path that is pasted.
    image_pi: "pi", "pic.png", false, "{path} what is it?", "{path} what is it?";
    image_openclaw: "openclaw", "pic.png", false, "{path} what is it?", "{path} what is it?";
    image_opencode:
        "opencode", "[Image 1]", true, "[Image 1]  what is it?", "[Image 1]  what is it?";
    // What it writes behind the text for the image is not stored.
    image_hermes: "hermes", "pic.png", true,
        "what is it?\n\n[Image attached at: {path}]", "what is it?";
}
