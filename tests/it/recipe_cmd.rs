//! Recipes as a person uses them: found, listed, shown, filled in, run; and all that is wrong with one.

use std::path::PathBuf;

use serde_json::Value;

use crate::script_engine::ScriptEngine;
use crate::support::home::write;
use crate::support::run;

const BLOCK: &str = "## Injected Project Docs\n\n### style.md\n```\nShort words.\n```";

const CHANGES: &str = "\
+++
description = \"What changed\"
engine = \"fake\"
[parameters]
lang = { default = \"English\", description = \"of the answer\" }
+++

Say in {{lang}} what changed since {{since}}.
";

/// An engine that gives back what it got, with recipes in the project and in the config folder.
struct Kitchen {
    fake: ScriptEngine,
}

impl Kitchen {
    fn new() -> Kitchen {
        Kitchen { fake: ScriptEngine::new("cat") }
    }

    fn project(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let file = self.fake.project.join(format!(".claude/recipes/{name}.md"));
        write(&file, text);
        file
    }

    fn own(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let file = self.fake.home.config().join(format!("omni-run/recipes/{name}.md"));
        write(&file, text);
        file
    }

    fn recipe(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.fake.command(&["recipe"]);
        command.args(args);
        command
    }
}

#[test]
fn a_recipe_is_sent_with_its_values_and_stored_as_what_was_typed() {
    let kitchen = Kitchen::new();
    kitchen.project("changes", CHANGES);
    let args = ["run", "changes", "--set", "since=v1.2"];
    let sent = run(&mut kitchen.recipe(&args), "").expect_success();
    assert_eq!(sent.stdout, format!("{BLOCK}\n\nSay in English what changed since v1.2."));

    let with_input = run(&mut kitchen.recipe(&args), "piped text\n").expect_success();
    let typed = "Say in English what changed since v1.2.\n\npiped text\n";
    assert_eq!(with_input.stdout, format!("{BLOCK}\n\n{typed}"));
    let list = run(&mut kitchen.fake.command(&["sessions", "ls", "--json"]), "").expect_success();
    let list: Value = serde_json::from_str(&list.stdout).expect("JSON");
    let id = list[0]["id"].as_str().expect("id");
    let shown = run(&mut kitchen.fake.command(&["sessions", "show", id, "--json"]), "");
    let shown: Value = serde_json::from_str(&shown.expect_success().stdout).expect("JSON");
    assert_eq!(shown["messages"][0]["text"], typed, "the operator row is the filled-in text");
}

#[test]
fn values_are_text_never_code_and_never_looked_at_again() {
    let kitchen = Kitchen::new();
    kitchen.project("r", "+++\nengine = 'fake'\n+++\n{{a}}|{{b}}|\\{{a}}");
    let value = "$(touch PWNED) `touch PWNED`; {{b}} %s 'q' \"\n";
    let args = ["run", "r", "--set", &format!("a={value}"), "--set", "b=--yolo=1"];
    let sent = run(&mut kitchen.recipe(&args), "").expect_success();
    assert_eq!(sent.stdout, format!("{BLOCK}\n\n{value}|--yolo=1|{{{{a}}}}"));
    assert!(!kitchen.fake.project.join("PWNED").exists());
}

#[test]
fn e02_a_prompt_that_begins_with_a_sign_reaches_the_model_as_it_is() {
    let kitchen = Kitchen::new();
    for prompt in ["- [ ] do it", "--help", "/clear now", "@file", "!ls", "-", "-p"] {
        kitchen.project("r", format!("+++\nengine = 'fake'\n+++\n{prompt}\n"));
        let sent = run(&mut kitchen.recipe(&["run", "r"]), "").expect_success();
        assert_eq!(sent.stdout, format!("{BLOCK}\n\n{prompt}"));
    }
}

#[test]
fn unknown_and_missing_parameters_start_nothing() {
    let kitchen = Kitchen { fake: ScriptEngine::new("touch \"$HOME/started\"; cat") };
    kitchen.project("changes", CHANGES);
    for (args, says) in [
        (&["run", "changes"][..], "--set since=VALUE"),
        (&["run", "changes", "--set", "since=x", "--set", "lnag=de"], "did you mean `lang`?"),
        (&["run", "changes", "--set", "since"], "--set NAME=VALUE"),
        (&["run", "changes", "--set", "since=x", "--set", "since=y"], "twice"),
    ] {
        let finished = run(&mut kitchen.recipe(args), "");
        assert_eq!(finished.code(), 2, "{args:?}");
        assert!(finished.stderr.contains(says), "{args:?}: {}", finished.stderr);
    }
    assert!(!kitchen.fake.home.home().join("started").exists());
}

#[test]
fn bad_front_matter_names_file_line_and_key_and_changes_nothing() {
    let kitchen = Kitchen { fake: ScriptEngine::new("touch \"$HOME/started\"; cat") };
    let file = kitchen.project("bad", "+++\ndescription = 'x'\ntimeotu = '5m'\n+++\nhi\n");
    for command in [&["run", "bad"][..], &["show", "bad"]] {
        let finished = run(&mut kitchen.recipe(command), "");
        assert_eq!(finished.code(), 78);
        assert!(finished.stderr.contains(&format!("{}:3:", file.display())), "{}", finished.stderr);
        assert!(finished.stderr.contains("`timeotu`"), "{}", finished.stderr);
        assert!(finished.stderr.contains("did you mean `timeout`?"), "{}", finished.stderr);
    }
    let json = run(&mut kitchen.recipe(&["run", "bad", "--output", "json"]), "");
    let object: Value = serde_json::from_str(&json.stdout).expect("one object");
    assert_eq!((&object["exit_code"], &object["error"]["kind"]), (&78.into(), &"config".into()));
    assert!(!kitchen.fake.home.home().join("started").exists());
    assert!(!kitchen.fake.home.data().join("omni-run/omni-run.db").exists());

    kitchen.project("good", CHANGES);
    let list = run(&mut kitchen.recipe(&["ls"]), "").expect_success().stdout;
    assert!(list.contains("What changed") && list.contains("bad.md:3"), "{list}");
}

#[test]
fn h04_a_name_is_one_component_of_a_path() {
    let kitchen = Kitchen::new();
    write(kitchen.fake.project.join("secret.md"), "CANARY");
    for name in ["../../secret", "/etc/passwd", "..", ".hidden", "a/b", "a\\b", "", "a\nb"] {
        let finished = run(&mut kitchen.recipe(&["show", name]), "");
        assert_eq!(finished.code(), 2, "{name:?}: {}", finished.stderr);
        assert!(!finished.stdout.contains("CANARY"));
    }
    kitchen.project("changes", CHANGES);
    let near = run(&mut kitchen.recipe(&["run", "chnages"]), "");
    assert_eq!(near.code(), 66);
    assert!(near.stderr.contains("did you mean `changes`?"), "{}", near.stderr);
    assert!(near.stderr.contains(".claude/recipes and "), "where it looked: {}", near.stderr);
}

#[test]
fn c02_a_link_in_a_projects_recipes_is_not_followed() {
    let kitchen = Kitchen::new();
    let secret = kitchen.fake.home.root().join("secret.md");
    write(&secret, "CANARY-OUTSIDE");
    let folder = kitchen.fake.project.join(".claude/recipes");
    std::fs::create_dir_all(&folder).expect("folder");
    std::os::unix::fs::symlink(&secret, folder.join("link.md")).expect("link");
    nix::unistd::mkfifo(&folder.join("pipe.md"), nix::sys::stat::Mode::S_IRWXU).expect("fifo");
    for name in ["link", "pipe"] {
        let finished = run(&mut kitchen.recipe(&["run", name, "--engine", "fake"]), "");
        assert_eq!(finished.code(), 78, "{}", finished.stderr);
        assert!(!finished.stdout.contains("CANARY-OUTSIDE"));
    }
    // The user's own folder may well be made of links.
    let own = kitchen.fake.home.config().join("omni-run/recipes");
    std::fs::create_dir_all(&own).expect("folder");
    std::os::unix::fs::symlink(&secret, own.join("mine.md")).expect("link");
    let sent = run(&mut kitchen.recipe(&["run", "mine", "--engine", "fake"]), "").expect_success();
    assert!(sent.stdout.ends_with("CANARY-OUTSIDE"));
}

#[test]
fn the_projects_recipe_wins_and_the_list_shows_both() {
    let kitchen = Kitchen::new();
    kitchen.own("same", "mine\n");
    kitchen.own("only", "+++\nengine = 'fake'\n+++\nonly mine\n");
    kitchen.project("same", "+++\nengine = 'fake'\n+++\nthe project's\n");
    let list = run(&mut kitchen.recipe(&["ls", "--json"]), "").expect_success().stdout;
    let list: Value = serde_json::from_str(&list).expect("JSON");
    let row =
        |at: usize| (list[at]["name"].as_str(), list[at]["origin"].as_str(), &list[at]["hidden"]);
    assert_eq!(row(0), (Some("only"), Some("own"), &false.into()));
    assert_eq!(row(1), (Some("same"), Some("project"), &false.into()));
    assert_eq!(row(2), (Some("same"), Some("own"), &true.into()));
    let sent = run(&mut kitchen.recipe(&["run", "same"]), "").expect_success().stdout;
    assert!(sent.ends_with("\n\nthe project's"), "{sent}");
    // From below the project too, and from elsewhere by name.
    let below = kitchen.fake.project.join("src/deep");
    std::fs::create_dir_all(&below).expect("folder");
    let sent = run(kitchen.recipe(&["run", "same"]).current_dir(&below), "").expect_success();
    assert!(sent.stdout.ends_with("the project's"));
    let elsewhere = kitchen.fake.home.home();
    let project = kitchen.fake.project.to_str().expect("path");
    let sent =
        run(kitchen.recipe(&["run", "same", "--project", project]).current_dir(&elsewhere), "");
    assert!(sent.expect_success().stdout.ends_with("the project's"));
    let sent = run(kitchen.recipe(&["run", "only"]).current_dir(&elsewhere), "").expect_success();
    assert_eq!(sent.stdout, "only mine");
}

#[test]
fn a_project_with_nothing_but_recipes_is_found_and_run_in() {
    let kitchen = Kitchen { fake: ScriptEngine::new("pwd; cat") };
    let bare = kitchen.fake.home.project("bare");
    write(bare.join(".claude/recipes/r.md"), "+++\nengine = 'fake'\n+++\nhi\n");
    std::fs::create_dir(bare.join("sub")).expect("folder");
    let sent =
        run(kitchen.recipe(&["run", "r"]).current_dir(bare.join("sub")), "").expect_success();
    assert_eq!(sent.stdout, format!("{}/sub\nhi", bare.display()));
}

#[test]
fn settings_of_a_recipe_count_and_options_win_over_them() {
    let spec = "[fake.one-shot]\nmodel-args = [\"--model\", \"{model}\"]\n[fake.attachments]\n\
                channel = \"option\"\nargs = [\"--image={path}\"]\nimages = [\"png\"]\n";
    let kitchen = Kitchen { fake: ScriptEngine::with_spec("echo \"$@\"; cat", spec) };
    let png = crate::support::sample_files::png(4, 4, [1, 2, 3]);
    write(kitchen.fake.project.join("img/a.png"), &png);
    write(kitchen.fake.home.root().join("b.png"), &png);
    let head = "+++\nengine = 'fake'\nmodel = 'm1'\noutput = 'json'\nattachments = ['img/a.png']\n+++\nhi\n";
    kitchen.project("r", head);
    let answer = run(&mut kitchen.recipe(&["run", "r"]), "").expect_success().stdout;
    let object: Value = serde_json::from_str(&answer).expect("the recipe's output is JSON");
    let image = kitchen.fake.project.join("img/a.png");
    let expected = format!("--model m1 --image={}\n", image.display());
    assert!(object["text"].as_str().expect("text").starts_with(&expected), "{answer}");

    let more = kitchen.fake.home.root().join("b.png");
    let args =
        ["run", "r", "--output", "text", "--model", "m2", "--attach", more.to_str().expect("path")];
    let answer = run(&mut kitchen.recipe(&args), "").expect_success().stdout;
    let both = format!("--model m2 --image={} --image={}\n", image.display(), more.display());
    assert!(answer.starts_with(&both), "{answer}");
    let args = ["run", "r", "--output=text", "--", "--own", "x y"];
    let answer = run(&mut kitchen.recipe(&args), "").expect_success().stdout;
    assert!(answer.contains("--own x y"), "{answer}");
    let plan = run(&mut kitchen.recipe(&["run", "r", "--dry-run"]), "").expect_success().stdout;
    assert!(plan.contains("channel of message: stdin"), "{plan}");
    let sent = run(&mut kitchen.recipe(&["run", "r", "--show-sent"]), "").expect_success().stdout;
    assert!(sent.ends_with(&format!("{BLOCK}\n\nhi")), "{sent}");
}

#[test]
fn attachments_have_to_be_there_and_a_projects_stay_inside_it() {
    let kitchen = Kitchen::new();
    let secret = kitchen.fake.home.root().join("id.png");
    write(&secret, crate::support::sample_files::png(4, 4, [1, 2, 3]));
    let with = |path: &str| format!("+++\nengine = 'fake'\nattachments = ['{path}']\n+++\nhi\n");
    kitchen.project("missing", with("no/such.png"));
    let missing = run(&mut kitchen.recipe(&["run", "missing"]), "");
    assert_eq!(missing.code(), 66);
    assert!(missing.stderr.contains("no/such.png") && missing.stderr.contains("missing.md"));
    let absolute = secret.to_str().expect("path");
    std::os::unix::fs::symlink(&secret, kitchen.fake.project.join("link.png")).expect("link");
    for path in ["../../id.png", absolute, "link.png"] {
        kitchen.project("out", with(path));
        let out = run(&mut kitchen.recipe(&["run", "out"]), "");
        assert_eq!(out.code(), 77, "{path}: {}", out.stderr);
        assert!(out.stderr.contains("--attach FILE"), "{}", out.stderr);
    }
    kitchen.own("mine", with(absolute));
    run(&mut kitchen.recipe(&["run", "mine"]), "").expect_success();
}

#[test]
fn a_projects_recipe_names_an_engine_of_the_catalogue_and_gives_it_no_arguments() {
    let kitchen = Kitchen { fake: ScriptEngine::new("echo \"args: $*\"; cat >/dev/null") };
    kitchen.project("r", "+++\nengine = './evil'\n+++\nhi\n");
    let program = run(&mut kitchen.recipe(&["run", "r"]), "");
    assert_eq!(program.code(), 2, "{}", program.stderr);
    kitchen.project("r", "+++\nengine = 'fake'\nengine-args = ['--yolo']\n+++\nhi\n");
    let refused = run(&mut kitchen.recipe(&["run", "r"]), "");
    assert_eq!(refused.code(), 78);
    assert!(refused.stderr.contains("r.md:3: `engine-args`"), "{}", refused.stderr);
    kitchen.own("mine", "+++\nengine = 'fake'\nengine-args = ['--careful', 'x y']\n+++\nhi\n");
    let own = run(&mut kitchen.recipe(&["run", "mine", "--", "--more"]), "").expect_success();
    assert_eq!(own.stdout, "args: --careful x y --more\n");
}

#[test]
fn show_prints_settings_parameters_and_the_prompt_as_written() {
    let kitchen = Kitchen::new();
    kitchen.project("changes", CHANGES);
    let shown = run(&mut kitchen.recipe(&["show", "changes"]), "").expect_success().stdout;
    for part in [
        "What changed",
        "engine:",
        "lang",
        "default: English",
        "of the answer",
        "since",
        "required",
        "--- prompt\nSay in {{lang}} what changed since {{since}}.\n",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let json = run(&mut kitchen.recipe(&["show", "changes", "--json"]), "").expect_success().stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["parameters"][0]["name"], "lang");
    assert_eq!(json["parameters"][0]["required"], false);
    assert_eq!(json["parameters"][1]["required"], true);
    assert_eq!(json["prompt"], "Say in {{lang}} what changed since {{since}}.");
}

#[test]
fn f05_no_overlap_of_a_recipe_is_its_own() {
    let kitchen =
        Kitchen { fake: ScriptEngine::new("cat >/dev/null; echo up; read x < \"$HOME/go\"") };
    let go = kitchen.fake.home.home().join("go");
    nix::unistd::mkfifo(&go, nix::sys::stat::Mode::S_IRWXU).expect("fifo");
    kitchen.project("a", "+++\nengine = 'fake'\nno-overlap = true\n+++\nhi\n");
    kitchen.project("b", "+++\nengine = 'echo'\nno-overlap = true\n+++\nhi\n");
    let mut first = kitchen
        .recipe(&["run", "a"])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("start");
    let mut out = std::io::BufReader::new(first.stdout.take().expect("stdout"));
    let mut line = String::new();
    std::io::BufRead::read_line(&mut out, &mut line).expect("line");
    let second = run(&mut kitchen.recipe(&["run", "a"]), "");
    assert_eq!(second.code(), 75, "{}", second.stderr);
    assert!(second.stderr.contains("recipe a "), "{}", second.stderr);
    run(&mut kitchen.recipe(&["run", "b"]), "").expect_success();
    write(&go, "go\n");
    assert!(first.wait().expect("wait").success());
}
