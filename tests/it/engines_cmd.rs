//! `omni-run engines` and `doctor`: what is on the machine, what is not, and what to do.

use serde_json::Value;

use crate::support::home::write;
use crate::support::{Finished, TestHome, run};

fn omni(home: &TestHome, args: &[&str]) -> Finished {
    run(home.omni().args(args), "")
}

fn install(home: &TestHome, name: &str, version: &str) {
    home.install_script(name, &format!("#!/bin/sh\necho '{version}'\n"));
}

#[test]
fn s90_found_where_version_tried() {
    let home = TestHome::new();
    install(&home, "codex", "codex-cli 0.171.0");
    install(&home, "pi", "99.0.0");
    let list: Value =
        serde_json::from_str(&omni(&home, &["engines", "ls", "--json"]).expect_success().stdout)
            .expect("JSON");
    let list = list.as_array().expect("list");
    let engine = |id: &str| list.iter().find(|e| e["id"] == id).expect("engine").clone();
    let codex = engine("codex");
    assert_eq!(codex["program"], home.bin().join("codex").to_str().expect("UTF-8"));
    assert_eq!((&codex["version"], &codex["tried"]), (&"codex-cli 0.171.0".into(), &true.into()));
    assert_eq!(engine("pi")["tried"], false);
    assert_eq!(engine("gemini")["found"], false);
    assert_eq!(engine("echo")["found"], true);
    let keys: Vec<String> = codex.as_object().expect("object").keys().cloned().collect();
    let help = omni(&home, &["engines", "ls", "--help"]).stdout;
    for key in keys {
        assert!(help.contains(&key), "{key} is not in the help");
    }
    let text = omni(&home, &["engines"]).expect_success().stdout;
    assert!(text.lines().any(|l| l.starts_with("pi ") && l.contains("99.0.0 (untried)")), "{text}");
    assert!(text.lines().any(|l| l.starts_with("gemini ") && l.contains("not found")), "{text}");
}

#[test]
fn show_says_what_goes_how_and_what_to_do_first() {
    let home = TestHome::new();
    let shown = omni(&home, &["engines", "show", "cursor"]).expect_success().stdout;
    for part in [
        "program: not found",
        "install: ",
        "first: run `cursor-agent login` once",
        "head of the block",
        "by path only",
        "window of an unknown model: 200000 tokens",
        "loads by itself: AGENTS.md",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let unknown = omni(&home, &["engines", "show", "curser"]);
    assert_eq!(unknown.code(), 2);
    assert!(unknown.stderr.contains("did you mean `cursor`?"), "{}", unknown.stderr);
}

#[test]
fn s92_check_asks_anew_and_names_what_is_untried_or_broken() {
    let home = TestHome::new();
    install(&home, "codex", "codex-cli 0.171.0");
    let first = omni(&home, &["engines", "check"]).expect_success().stdout;
    assert!(first.contains("ok       codex: "), "{first}");
    // Same path and size within the same second: only a fresh question sees the change.
    install(&home, "codex", "codex-cli 0.999.0");
    let second = omni(&home, &["engines", "check", "codex"]).expect_success().stdout;
    assert!(second.starts_with("warning  codex: ") && second.contains("0.999.0"), "{second}");
    home.install_script("gemini", "#!/no/such/node\n");
    let broken = omni(&home, &["engines", "check"]);
    assert_eq!(broken.code(), 69, "{}", broken.stderr);
    assert!(broken.stdout.contains("/no/such/node"), "{}", broken.stdout);
    let missing = omni(&home, &["engines", "check", "hermes"]);
    assert_eq!(missing.code(), 69);
    assert!(missing.stderr.contains("install it: "), "{}", missing.stderr);
}

#[test]
fn a_ninth_engine_comes_from_toml_alone() {
    let home = TestHome::new();
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once("```toml\n[mytool]").expect("the example in the README");
    let (example, _) = rest.split_once("```").expect("its end");
    write(home.config().join("omni-run/engines.toml"), format!("[mytool]{example}"));
    home.install_script(
        "mytool",
        "#!/bin/sh\n[ \"$1\" = --version ] && { echo mytool 1.0; exit; }\necho \"$@\"; cat\n",
    );
    let project = home.project_with_docs("p1", &[("a.md", b"The doc.\n")]);
    write(home.config().join("omni-run/instructions.md"), "Be brief.");
    let mut launch = home.omni();
    launch.args(["mytool", "-p", "hi", "--model", "m1"]).current_dir(&project);
    let answer = run(&mut launch, "").expect_success().stdout;
    let (args, sent) = answer.split_once('\n').expect("two parts");
    assert!(args.contains("--model m1") && args.contains("instructions.md"), "{args}");
    assert_eq!(sent, "## Injected Project Docs\n\n### a.md\n```\nThe doc.\n```\n\nhi");
    let doctor = omni(&home, &["doctor"]).expect_success().stdout;
    assert!(doctor.contains("mytool 1.0, from your engines.toml"), "{doctor}");
    let list = run(home.omni().args(["docs", "ls"]).current_dir(&project), "").expect_success();
    assert!(list.stdout.contains("\n  mytool    ["), "{}", list.stdout);
}

#[test]
fn doctor_ends_with_the_code_of_the_first_problem() {
    let home = TestHome::new();
    let none = omni(&home, &["doctor"]);
    assert_eq!(none.code(), 69, "{}", none.stdout);
    assert!(none.stdout.contains("no engine is installed but the built-in one"));
    assert!(!home.data().join("omni-run/omni-run.db").exists(), "it changes nothing");

    install(&home, "cursor-agent", "2026.09.18");
    let usable = omni(&home, &["doctor"]).expect_success().stdout;
    assert!(usable.contains("instructions go at the head of the block"), "{usable}");
    assert!(usable.contains("if not done yet: run `cursor-agent login` once"), "{usable}");
    assert!(usable.contains("not found: claude, codex, gemini"), "{usable}");

    omni(&home, &["echo", "-p", "hi"]).expect_success();
    run(home.omni().args(["echo", "-p"]), b"caf\xe9");
    let kept = omni(&home, &["doctor"]).expect_success().stdout;
    assert!(kept.contains("store: 1 session"), "{kept}");
    assert!(kept.contains("1 prompt was kept that could not be sent"), "{kept}");

    let mut odd = home.omni();
    odd.arg("doctor").env("PATH", ".::/usr/bin").env("HOME", "/no/such/home");
    let odd = run(&mut odd, "");
    assert!(odd.stdout.contains("not searched for engines: `.`, ``"), "{}", odd.stdout);
    assert!(odd.stdout.contains("note     HOME"), "{}", odd.stdout);
}

#[test]
fn doctor_looks_at_everything_although_the_config_is_wrong() {
    let home = TestHome::new();
    install(&home, "codex", "codex-cli 0.171.0");
    let config = home.config().join("omni-run");
    write(config.join("config.toml"), "chip = true\nprofil = true\n");
    write(config.join("engines.toml"), "[codex]\ninstal = 'x'\n");
    write(config.join("profile.md"), "x".repeat(20_000));
    let finished = omni(&home, &["doctor"]);
    assert_eq!(finished.code(), 78);
    for part in [
        "config.toml:2: unknown field `profil`",
        "did you mean `profile`?",
        "engines.toml:2: unknown field `instal`",
        "store: none yet",
        "over 16 KB it stays out",
    ] {
        assert!(finished.stdout.contains(part), "{part}\n{}", finished.stdout);
    }
    assert_eq!(finished.stderr, "");

    let home = TestHome::new();
    install(&home, "codex", "codex-cli 0.171.0");
    home.set_env("OMNI_RUN_DATA_DIR", home.root().join("file/data"));
    write(home.root().join("file"), "in the way");
    let blocked = omni(&home, &["doctor"]);
    assert_eq!(blocked.code(), 73, "{}", blocked.stdout);
    assert!(blocked.stdout.contains("OMNI_RUN_DATA_DIR"), "{}", blocked.stdout);
}
