//! `omni-run schedule`: what it prints runs where cron and systemd run it, and installs nothing.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::script_engine::ScriptEngine;
use crate::support::home::write;
use crate::support::process::say;
use crate::support::run;

struct Bed {
    fake: ScriptEngine,
}

impl Bed {
    /// An engine that says where it is and what it got; it needs a helper that only the test's PATH
    /// has.
    fn new() -> Bed {
        let fake = ScriptEngine::new("helper; pwd; cat");
        fake.home.install_script("helper", "#!/bin/sh\necho helped\n");
        Bed { fake }
    }

    fn recipe(&self, text: &str) {
        write(self.fake.project.join(".claude/recipes/r.md"), text);
    }

    fn schedule(&self, args: &[&str]) -> Command {
        let mut command = self.fake.command(&["schedule", "r"]);
        command.args(args);
        command
    }

    fn line(&self, args: &[&str]) -> String {
        let mut command = self.schedule(args);
        let printed = run(command.args(["--format", "crontab"]), "").expect_success().stdout;
        let lines: Vec<&str> = printed.lines().collect();
        assert_eq!(lines.len(), 2, "a comment and the line: {printed}");
        assert!(lines[0].starts_with("# "), "{printed}");
        lines[1].to_owned()
    }
}

/// Runs a line of a crontab as cron does: the command alone, through `/bin/sh -c`, with `%` taken as
/// cron takes it, next to no environment, no terminal, nothing on stdin.
fn by_cron(line: &str, fields: usize, env: &[(&str, &str)]) -> std::process::Output {
    let mut rest = line;
    for _ in 0..fields {
        rest = rest.split_once(' ').expect("five fields").1;
    }
    let mut shell = String::new();
    let mut chars = rest.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&'%') => shell.push(chars.next().expect("peeked")),
            '%' => break,
            c => shell.push(c),
        }
    }
    // `<&-`: not even a closed pipe on stdin.
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("exec <&-\n{shell}")]);
    command.env_clear().envs(env.iter().copied()).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command.output().expect("sh")
}

#[test]
fn the_crontab_line_runs_as_cron_runs_it() {
    let bed = Bed::new();
    bed.recipe("+++\nengine = 'fake'\n[parameters]\nlang = 'en'\n+++\nSay {{what}} in {{lang}}.\n");
    let value = r#"it's 50% of $HOME `id` \ "x" ;&| ü"#;
    let line = bed.line(&["--cron", "0 7 * * Mon-Fri", "--set", &format!("what={value}")]);
    assert!(line.starts_with("0 7 * * 1-5 HOME="), "{line}");
    assert!(!line.contains("Mon"), "{line}");
    let home = bed.fake.home.home();
    let home = home.to_str().expect("path");
    // As Debian's cron gives it, and with less than any.
    for env in [
        &[("HOME", home), ("LOGNAME", "x"), ("SHELL", "/bin/sh"), ("PATH", "/usr/bin:/bin")][..],
        &[("LANG", "C"), ("PATH", "/usr/bin:/bin")],
        &[],
    ] {
        let output = by_cron(&line, 5, env);
        let (out, err) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{line}\n{err}");
        let place = bed.fake.project.display();
        assert!(out.starts_with(&format!("helped\n{place}\n")), "tools and folder: {out}");
        assert!(out.contains("Short words."), "the docs: {out}");
        assert!(out.ends_with(&format!("\n\nSay {value} in en.")), "{out}");
        assert_eq!(err, "", "nothing for cron to mail");
    }
}

#[test]
fn the_job_gets_the_log_file() {
    let bed = Bed::new();
    bed.recipe("+++\nengine = 'fake'\n+++\nhi\n");
    let line = bed.line(&["--cron", "@daily", "--log-file", "job.log"]);
    let log = bed.fake.project.join("job.log");
    assert!(line.contains(&format!(" --log-file {} ", log.display())), "{line}");
}

#[test]
fn the_exit_code_is_the_jobs_and_options_are_kept() {
    let bed = Bed { fake: ScriptEngine::new("echo \"$@\"; cat >/dev/null; exit 7") };
    write(
        bed.fake.home.config().join("omni-run/recipes/r.md"),
        "+++\nengine = 'fake'\nengine-args = ['--mine']\n+++\nhi\n",
    );
    let args = ["--cron", "@hourly", "--output", "json", "--no-overlap=k", "--", "--own", "50% \\"];
    // `--format` has to stand before `--`.
    let mut command = bed.fake.command(&["schedule", "r", "--format", "crontab"]);
    let printed = run(command.args(args), "").expect_success().stdout;
    let line = printed.lines().nth(1).expect("line");
    assert!(line.starts_with("0 * * * * "), "{line}");
    let output = by_cron(line, 5, &[]);
    assert_eq!(output.status.code(), Some(7));
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(object["text"], "--mine --own 50% \\\n");
}

#[test]
fn without_a_project_the_job_runs_where_it_was_made() {
    let bed = Bed { fake: ScriptEngine::new("pwd; cat") };
    write(bed.fake.home.config().join("omni-run/recipes/r.md"), "+++\nengine = 'fake'\n+++\nhi\n");
    let folder = bed.fake.home.root().join("a b's 5%");
    std::fs::create_dir(&folder).expect("folder");
    let mut command = bed.schedule(&["--cron", "@daily", "--format", "crontab"]);
    let printed = run(command.current_dir(&folder), "").expect_success().stdout;
    let output = by_cron(printed.lines().nth(1).expect("line"), 5, &[]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{}\nhi", folder.display()));
}

#[test]
fn a_recipe_with_a_project_of_its_own_runs_there() {
    let bed = Bed { fake: ScriptEngine::new("pwd; cat") };
    let other = bed.fake.home.project_with_docs("p2", &[("b.md", b"Other docs.\n")]);
    bed.recipe("+++\nengine = 'fake'\nproject = '../p2'\n+++\nhi\n");
    let output = by_cron(&bed.line(&["--cron", "@daily"]), 5, &[]);
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.starts_with(&format!("{}\n", other.display())), "{out}");
    assert!(out.contains("Other docs.") && out.ends_with("\n\nhi"), "{out}");
}

#[test]
fn what_the_job_would_lack_is_said_now() {
    let bed = Bed::new();
    bed.recipe("+++\nengine = 'fake'\n+++\n{{x}}\n");
    for (args, code, says) in [
        (&["--cron", "0 7 * *", "--set", "x=1"][..], 2, "5 fields"),
        (&["--cron", "0 0 31 2 *", "--set", "x=1"], 2, "no such day"),
        (&["--cron", "@daily"], 2, "--set x=VALUE"),
        (&["--cron", "@daily", "--set", "x=a\nb"], 2, "line break"),
        (&["--cron", "@daily", "--set", "x=1", "--engine", "nope"], 2, "`nope`"),
        (&["--cron", "@daily", "--set", "x=1", "--dry-run"], 2, "not for a job"),
        (&["--cron", "@daily", "--set", "x=1", "--engine", "gemini"], 69, "install it"),
    ] {
        let finished = run(&mut bed.schedule(args), "");
        assert_eq!(finished.code(), code, "{args:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(says), "{args:?}: {}", finished.stderr);
        assert_eq!(finished.stdout, "");
    }
    let long = format!("x={}", "y".repeat(1200));
    let refused = run(&mut bed.schedule(&["--cron", "@daily", "--set", &long]), "");
    assert_eq!(refused.code(), 2);
    assert!(refused.stderr.contains("--format systemd"), "{}", refused.stderr);
    run(&mut bed.schedule(&["--cron", "@daily", "--set", &long, "--format", "systemd"]), "")
        .expect_success();
}

#[test]
fn a_path_that_is_too_long_for_cron_is_shortened_to_what_is_needed() {
    let bed = Bed { fake: ScriptEngine::new("cat") };
    bed.recipe("+++\nengine = 'fake'\n+++\nhi\n");
    let mut folders = vec![bed.fake.home.bin()];
    for n in 0..40 {
        let folder = bed.fake.home.root().join(format!("some-folder-with-tools-{n}"));
        std::fs::create_dir(&folder).expect("folder");
        folders.push(folder);
    }
    let path = std::env::join_paths(folders).expect("path");
    let mut command = bed.schedule(&["--cron", "@daily", "--format", "crontab"]);
    let printed = run(command.env("PATH", &path), "").expect_success();
    assert!(printed.stderr.contains("too long for cron"), "{}", printed.stderr);
    let line = printed.stdout.lines().nth(1).expect("line");
    assert!(line.len() < 999 && !line.contains("some-folder"), "{line}");
    let output = by_cron(line, 5, &[]);
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("\n\nhi"));
}

#[test]
fn nothing_is_installed_and_the_next_runs_are_told() {
    let bed = Bed::new();
    bed.recipe("+++\nengine = 'fake'\n+++\nhi\n");
    let printed = run(&mut bed.schedule(&["--cron", "0 7 1 1 *"]), "").expect_success();
    assert!(printed.stderr.contains("-01-01 07:00"), "{}", printed.stderr);
    for part in ["--no-overlap", "--timeout"] {
        assert!(printed.stderr.contains(part), "{part}: {}", printed.stderr);
    }
    assert!(!bed.fake.home.config().join("systemd").exists());
    assert!(!bed.fake.home.data().join("omni-run/omni-run.db").exists());
}

/// The two units of the output, as files in a folder.
fn units(printed: &str, folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut text = String::new();
    for line in printed.lines().chain(["# end/x"]) {
        let head = line.strip_prefix("# ").filter(|rest| rest.contains('/'));
        if let Some(path) = head.filter(|rest| !rest.contains(' ')) {
            if let Some(file) = files.last() {
                write(file, std::mem::take(&mut text));
            }
            files.push(folder.join(Path::new(path).file_name().expect("name")));
        } else if !line.starts_with("# systemctl") {
            text.push_str(line);
            text.push('\n');
        }
    }
    files.pop();
    files
}

#[test]
fn the_systemd_units_are_taken_by_systemd_and_their_command_is_the_same() {
    let bed = Bed::new();
    bed.recipe("+++\ndescription = '50% of it'\nengine = 'fake'\n+++\nSay {{x}}.\n");
    let value = r#"x=it's 50% of $HOME \ "q""#;
    let args = ["--cron", "*/15 8-18 * * mon-fri", "--set", value, "--format", "systemd"];
    let printed = run(&mut bed.schedule(&args), "").expect_success().stdout;
    let folder = bed.fake.home.root().join("units");
    let files = units(&printed, &folder);
    let names: Vec<_> = files.iter().map(|f| f.file_name().expect("name").to_owned()).collect();
    assert_eq!(names, ["omni-run-r.service", "omni-run-r.timer"]);
    assert!(printed.contains("OnCalendar=Mon..Fri *-*-* 08..18:00/15:00\n"), "{printed}");
    let service = std::fs::read_to_string(&files[0]).expect("service");
    assert!(service.contains(r#""x=it's 50%% of $$HOME \\ \"q\"""#), "{service}");
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        say("SKIPPED: units are not verified, systemd-analyze is not installed");
        return;
    }
    let verified = Command::new("systemd-analyze")
        .args(["verify", "--man=no"])
        .args(&files)
        .env("SYSTEMD_LOG_LEVEL", "warning")
        .output()
        .expect("systemd-analyze");
    let said = String::from_utf8_lossy(&verified.stderr);
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("omni-run-r.")).collect();
    assert!(ours.is_empty(), "{said}");
}
