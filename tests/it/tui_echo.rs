//! `omni-run ENGINE` in a terminal, through the program itself, with the built-in engine: the docs go
//! with the first message that is typed, what is stored is what was typed, the terminal is left as it
//! was. The real engines are in `tests/real/tui.rs`.

use nix::sys::signal::Signal;

use crate::pty_driver::{PtyDriver, Run};
use crate::support::home::write;
use crate::support::{TestHome, run};

struct Bed {
    home: TestHome,
    project: std::path::PathBuf,
}

impl Bed {
    fn new() -> Bed {
        let home = TestHome::new();
        let project = home.project_with_docs("p1", &[("style.md", b"Short words.\n")]);
        Bed { home, project }
    }

    fn start(&self, args: &[&str]) -> PtyDriver {
        Run::new(env!("CARGO_BIN_EXE_omni-run"))
            .args(args)
            .only_env(self.home.env())
            .cwd(&self.project)
            .size(30, 100)
            .answering()
            .start()
    }

    fn stored(&self) -> serde_json::Value {
        let rows = run(self.home.omni().args(["sessions", "ls", "--json"]), "").expect_success();
        serde_json::from_str(&rows.stdout).expect("JSON")
    }
}

fn leave(term: &mut PtyDriver) {
    term.send("\x04");
    assert_eq!(term.wait_for_end().code, Some(0));
    term.wait_until_as_before();
}

#[test]
fn the_first_typed_message_carries_the_docs_and_the_second_does_not() {
    let bed = Bed::new();
    let mut term = bed.start(&["echo"]);
    term.wait_for("\u{276f}");
    term.send("/help\r");
    term.wait_for("/quit leaves");
    term.send("hello 世界");
    term.wait_for("hello");
    term.send("\r");
    term.wait_for("## Injected Project Docs");
    term.wait_for("your message: hello 世界");
    term.send("second\r");
    term.wait_for("echo received 6 bytes.");
    term.wait_for("your message: second");
    leave(&mut term);
    let rows = bed.stored();
    assert_eq!(rows.as_array().expect("rows").len(), 1, "{rows}");
    assert!(rows[0].to_string().contains("hello 世界"), "{rows}");
}

#[test]
fn a_given_message_is_sent_and_the_interface_stays() {
    let bed = Bed::new();
    let mut term = bed.start(&["echo", "- a given one"]);
    term.wait_for("your message: - a given one");
    term.send("more\r");
    term.wait_for("your message: more");
    leave(&mut term);
    assert!(bed.stored()[0].to_string().contains("- a given one"));
}

#[test]
fn without_a_message_there_is_no_session_and_print_stays_on_pipes() {
    let bed = Bed::new();
    let mut term = bed.start(&["echo"]);
    term.wait_for("\u{276f}");
    leave(&mut term);
    assert_eq!(bed.stored().as_array().expect("rows").len(), 0);
    let mut term = bed.start(&["echo", "-p", "on pipes"]);
    term.wait_for("your message: on pipes");
    assert_eq!(term.wait_for_end().code, Some(0));
}

#[test]
fn a_signal_ends_engine_and_session_with_its_code() {
    let bed = Bed::new();
    let mut term = bed.start(&["echo"]);
    term.wait_for("\u{276f}");
    term.signal(Signal::SIGTERM);
    assert_eq!(term.wait_for_end().code, Some(143));
    term.wait_until_as_before();
}

#[test]
fn an_engine_without_a_recipe_says_so_and_runs() {
    let bed = Bed::new();
    bed.home.install_script(
        "fake",
        "#!/bin/sh\n[ \"$1\" = --version ] && { echo 1.0; exit; }\nread x; echo \"got $x\"\n",
    );
    let entry = "[fake]\nname='Fake'\nprograms=['fake']\ninstall='-'\nversion-args=['--version']\ndefault-window=200000\n";
    write(bed.home.config().join("omni-run/engines.toml"), entry);
    let mut term = bed.start(&["fake"]);
    term.wait_for("the docs do not go along");
    term.send("typed\r");
    term.wait_for("got typed");
    assert_eq!(term.wait_for_end().code, Some(0));
}

#[test]
fn a14_show_sent_obeys_no_control_character_on_a_terminal() {
    let bed = Bed::new();
    write(bed.project.join(".claude/docs/style.md"), "a\u{1b}]0;forged\u{7}b\u{1b}[2Jc\u{9b}31m\n");
    let mut term = bed.start(&["echo", "--show-sent", "hi\u{1b}[5m"]);
    // The program can be gone before its last output is here.
    term.wait_until("the prompt, last", |_, raw| {
        String::from_utf8_lossy(raw).contains("hi\\u{1b}[5m")
    });
    assert_eq!(term.wait_for_end().code, Some(0));
    let raw = String::from_utf8_lossy(&term.raw()).into_owned();
    assert!(
        !raw.contains('\u{1b}') && !raw.contains('\u{7}') && !raw.contains('\u{9b}'),
        "{raw:?}"
    );
    assert!(raw.contains("b\\u{1b}[2Jc\\u{9b}31m") && raw.contains("hi\\u{1b}[5m"), "{raw:?}");
}
