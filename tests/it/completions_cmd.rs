//! Completions in the shells themselves: bash by its own variables, fish by its `complete -C`, zsh by
//! the Tab key in a terminal. What omni-run answers is in `src/completions`.

use std::process::Command;

use crate::pty_driver::Run;
use crate::support::TestHome;
use crate::support::home::write;
use crate::support::process::say;
use crate::support::run;

/// A home with a project `shop`, docs, a recipe, an engine and a session; omni-run is on PATH.
struct Bed {
    home: TestHome,
    project: std::path::PathBuf,
}

impl Bed {
    fn new() -> Bed {
        let home = TestHome::new();
        home.install("omni-run", std::path::Path::new(env!("CARGO_BIN_EXE_omni-run")));
        let docs: [(&str, &[u8]); 4] = [
            ("style.md", b"a"),
            ("my notes.md", b"b"),
            ("rag/schema.sql", b"c"),
            (".hidden", b"d"),
        ];
        let project = home.project_with_docs("p1", &docs);
        write(project.join(".claude/recipes/weekly.md"), "+++\ndescription = 'Report'\n+++\nhi\n");
        write(project.join("read me.txt"), "x");
        std::fs::create_dir(project.join("src")).expect("folder");
        let bed = Bed { home, project };
        run(&mut bed.omni(&["project", "add", "--id", "shop"]), "").expect_success();
        run(&mut bed.omni(&["echo", "-p", "Where do we stand?"]), "").expect_success();
        bed
    }

    fn omni(&self, args: &[&str]) -> Command {
        let mut command = self.home.omni();
        command.args(args).current_dir(&self.project);
        command
    }

    fn session(&self) -> String {
        let list = run(&mut self.omni(&["sessions", "ls", "--json"]), "").expect_success().stdout;
        let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
        list[0]["id"].as_str().expect("id")[..13].to_owned()
    }

    /// What bash would offer. `words` as bash has them in COMP_WORDS: taken apart at `=`.
    fn bash(&self, words: &[&str]) -> Vec<String> {
        let script = "source <(omni-run completions bash)\n\
            COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)) cur=${COMP_WORDS[COMP_CWORD]}\n\
            [[ $cur == '=' ]] && cur=\n\
            _omni_run omni-run \"$cur\" \"${COMP_WORDS[COMP_CWORD-1]}\"\n\
            printf '%s\\n' \"${COMPREPLY[@]}\"";
        let mut command = self.home.command("bash");
        command.args(["--norc", "-c", script, "bash", "omni-run"]).args(words);
        let finished = run(command.current_dir(&self.project), "").expect_success();
        assert!(!finished.stderr.contains("syntax"), "{}", finished.stderr);
        finished.stdout.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }
}

/// Whether the shell is there; without it the test is left out by name, in CI it fails.
fn has(shell: &str) -> bool {
    let found = Command::new(shell).arg("--version").output().is_ok();
    if !found {
        assert!(std::env::var_os("CI").is_none(), "{shell} is missing");
        say(&format!("SKIPPED: completions in {shell}, which is not installed"));
    }
    found
}

#[test]
fn bash_completes_commands_engines_and_all_that_omni_run_knows() {
    let bed = Bed::new();
    let session = bed.session();
    let first = bed.bash(&["c"]);
    for word in ["config", "completions", "claude", "codex", "cursor"] {
        assert!(first.contains(&word.to_owned()), "{word}: {first:?}");
    }
    assert!(!first.contains(&"docs".to_owned()));
    for (words, expected) in [
        (&["docs", "ins"][..], &["instruct"][..]),
        (&["docs", "instruct", "st"], &["style.md"]),
        (&["docs", "rm", "sch"], &["schema.sql"]),
        (&["docs", "rm", "my"], &["my notes.md"]),
        (&["echo", "--project", "s"], &["shop"]),
        (&["echo", "--output", "j"], &["json"]),
        (&["echo", "--output", "=", "s"], &["stream-json"]),
        (&["echo", "--output", "="], &["text", "json", "stream-json"]),
        (&["echo", "--resume", &session[..8]], &[session.as_str()]),
        (&["sessions", "show", ""], &[session.as_str()]),
        (&["recipe", "run", "w"], &["weekly"]),
        (&["schedule", ""], &["weekly"]),
        (&["-q", "recipe", "show", ""], &["weekly"]),
        (&["echo", "--no-pro"], &["--no-profile"]),
        (&["echo", "a prompt", "--no-pro"], &["--no-profile"]),
        (&["echo", "--attach", "re"], &[]),
        (&["nonsense", "--project", "zzz"], &[]),
    ] {
        assert_eq!(bed.bash(words), expected, "{words:?}");
    }
}

#[test]
fn bash_itself_completes_at_the_tab_key_and_quotes_names() {
    let bed = Bed::new();
    let mut env = bed.home.env();
    env.insert("PS1".into(), "> ".into());
    let mut term = Run::new("bash")
        .args(["--norc", "--noprofile", "-i"])
        .only_env(env)
        .cwd(&bed.project)
        .size(24, 100)
        .start();
    term.send("source <(omni-run completions bash); echo rea''dy\r");
    term.wait_for("ready");
    term.send("omni-run docs instruct my\t");
    term.wait_for("instruct my\\ notes.md");
    term.send("\x15omni-run echo --attach rea\t");
    term.wait_for("--attach read\\ me.txt");
    term.send("\x15omni-run echo --output=j\t");
    term.wait_for("--output=json");
    term.send("\x15exit\r");
    term.wait_for_end();
}

#[test]
fn zsh_completes_at_the_tab_key() {
    if !has("zsh") {
        return;
    }
    let bed = Bed::new();
    let session = bed.session();
    let mut term = Run::new("zsh")
        .args(["-f", "-i"])
        .only_env(bed.home.env())
        .cwd(&bed.project)
        .size(40, 120)
        .answering()
        .start();
    term.send("autoload -U compinit && compinit -D -u; source <(omni-run completions zsh); echo rea''dy\r");
    term.wait_for("ready");
    term.send("omni-run recipe sh\t");
    term.wait_for("recipe show");
    term.send("weekl\t");
    term.wait_for("recipe show weekly");
    term.send("\x15omni-run docs instruct my\t");
    term.wait_for("instruct my\\ notes.md");
    term.send("\x15omni-run echo --output=js\t");
    term.wait_for("--output=json");
    term.send("\x15omni-run echo --attach rea\t");
    term.wait_for("--attach read\\ me.txt");
    // With several matches the descriptions are shown.
    term.send("\x15omni-run sessions \t\t");
    term.wait_for("List them, newest first");
    term.send(format!("\x15\x0comni-run sessions show {}\t", &session[..8]));
    term.wait_for(&session);
    term.send("\x15exit\r");
    term.wait_for_end();
}

#[test]
fn fish_completes_with_descriptions() {
    if !has("fish") {
        return;
    }
    let bed = Bed::new();
    let session = bed.session();
    let fish = |line: &str| {
        let script = "omni-run completions fish | source; complete -C $argv[1]";
        let mut command = bed.home.command("fish");
        command.args(["--no-config", "-c", script, line]).current_dir(&bed.project);
        run(&mut command, "").expect_success().stdout
    };
    for (line, expected) in [
        ("omni-run docs instr", "instruct\tMake a doc an instruction"),
        ("omni-run docs instruct sty", "style.md\tdoc, 1 B"),
        ("omni-run recipe run ", "weekly\tReport"),
        ("omni-run --output=j", "--output=json\tOne object"),
        ("omni-run echo --project ", "shop\t"),
        ("omni-run cla", "claude\tClaude Code"),
        ("omni-run echo --attach rea", "read me.txt"),
        ("omni-run echo --attach=rea", "--attach=read me.txt"),
        ("omni-run echo --cwd s", "src/"),
    ] {
        let said = fish(line);
        assert!(said.contains(expected), "{line}: {said}");
    }
    let sessions = fish("omni-run sessions show ");
    assert!(sessions.starts_with(&session), "{sessions}");
    assert!(sessions.contains("echo: Where do we stand?"), "{sessions}");
}

#[test]
fn what_cannot_be_looked_up_is_left_out_in_silence() {
    let bed = Bed::new();
    write(bed.home.config().join("omni-run/engines.toml"), "[broken\n");
    write(bed.home.data().join("omni-run/omni-run.db"), "not a database");
    for words in [&["echo", "--project", ""][..], &["sessions", "show", ""], &["docs", "rm", ""]] {
        let finished = run(bed.omni(&["__complete", "--"]).args(words), "").expect_success();
        assert!(finished.stdout.starts_with("words\n"), "{}", finished.stdout);
        assert_eq!(finished.stderr, "");
    }
    let engines = run(bed.omni(&["__complete", "--", "docs", "ls", "--engine", "g"]).arg("--"), "");
    assert_eq!(engines.stderr, "");
    let engines = run(&mut bed.omni(&["__complete", "--", "docs", "ls", "--engine", "g"]), "");
    assert!(engines.expect_success().stdout.contains("gemini"), "the built-in ones");
    assert!(!bed.home.data().join("omni-run/spool").exists());
}

#[test]
fn a_first_message_forges_no_candidate() {
    let bed = Bed::new();
    run(&mut bed.omni(&["echo", "-p", "a\nforged\tx\u{1b}[2J"]), "").expect_success();
    let said = run(&mut bed.omni(&["__complete", "--", "sessions", "show", ""]), "");
    let said = said.expect_success().stdout;
    assert_eq!(said.lines().count(), 3, "{said}");
    assert!(!said.contains('\u{1b}') && said.contains("a forged x"), "{said}");
}
