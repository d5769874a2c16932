//! What reaches an engine by stdin, argument, file, option and environment, and what the user gets
//! back. Cases E01, E02, E04.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use crate::script_engine::ScriptEngine;
use crate::support::home::write;
use crate::support::{run, sample_files};

const BLOCK: &str = "## Injected Project Docs\n\n### style.md\n```\nShort words.\n```";

#[test]
fn sent_text_is_block_blank_line_display_text_byte_for_byte() {
    let fake = ScriptEngine::new("cat");
    for prompt in ["hello", " spaced \n\n", "# h\n```\n", "\u{feff}bom 😀 \r\n x\t"] {
        let finished = run(&mut fake.omni(&["-p"]), prompt).expect_success();
        assert_eq!(finished.stdout, format!("{BLOCK}\n\n{prompt}"));
    }
}

#[test]
fn an_engine_known_from_toml_alone_gets_all_that_an_engine_gets() {
    let spec = r#"
[fake.one-shot]
args = ["go"]
model-args = ["--model", "{model}"]
session-args = ["--id", "{session_id}"]
message = "message-file"
message-args = ["--message", "{message_file}"]
instructions = "file"
instruction-args = ["--system", "{instructions_file}"]
[fake.attachments]
channel = "option"
args = ["--image={path}"]
images = ["png"]
"#;
    let body = r#"for a in "$@"; do echo "arg $a"; case $prev in --message|--system) cat "$a"; echo;; esac; prev=$a; done"#;
    let fake = ScriptEngine::with_spec(body, spec);
    let png = sample_files::png(4, 4, [1, 2, 3]);
    write(fake.project.join(".claude/docs/a.png"), png);
    write(fake.home.config().join("omni-run/instructions.md"), "Say tea.");
    let finished = run(&mut fake.omni(&["-p", "hi", "--model", "m1", "--", "--own", "x y"]), "")
        .expect_success();
    let out = finished.stdout;
    assert!(out.contains("arg --model\narg m1\n"), "{out}");
    assert!(out.contains("## Custom Instructions\n\nSay tea."), "{out}");
    assert!(out.contains(".claude/docs/a.png\n"), "{out}");
    assert!(out.contains("arg --own\narg x y\n"), "{out}");
    assert!(out.contains(&format!("{BLOCK}\n\nhi")), "{out}");
}

#[test]
fn e01_large_blocks_and_prompts_never_go_through_an_argument() {
    let fake = ScriptEngine::new("wc -c | tr -d ' '; echo $#");
    write(fake.project.join(".claude/docs/big.md"), "x".repeat(190_000));
    let prompt = "y".repeat(131_072);
    let finished = run(&mut fake.omni(&["-p"]), &prompt).expect_success();
    let (size, args) = finished.stdout.split_once('\n').expect("two lines");
    assert!(size.parse::<usize>().expect("number") > 190_000 + 131_072, "{size}");
    assert_eq!(args, "0\n");

    let spec = "[fake.one-shot]\nmessage = \"argument\"\nmessage-args = [\"--\", \"{message}\"]\n";
    let by_argument = ScriptEngine::with_spec("printf %s \"$2\"", spec);
    let small = run(&mut by_argument.omni(&["-p", "- hi there"]), "").expect_success();
    assert_eq!(small.stdout, format!("{BLOCK}\n\n- hi there"));
    let refused = run(&mut by_argument.omni(&["-p"]), &prompt);
    assert_eq!(refused.code(), 64);
    assert!(refused.stderr.contains("120000"), "names the limit: {}", refused.stderr);
    assert!(refused.stderr.contains("what you typed is kept in"), "{}", refused.stderr);
}

#[test]
fn e02_prompts_that_look_like_options_stay_prompts() {
    let fake = ScriptEngine::new("cat");
    let odd = [
        "- [ ] fix it",
        "-v",
        "--help",
        "--",
        "-1 + 2 = ?",
        "--dangerously-skip-permissions",
        "@list",
        "-p",
    ];
    for prompt in odd {
        let by_stdin = run(&mut fake.omni(&["-p"]), prompt).expect_success();
        assert_eq!(by_stdin.stdout, format!("{BLOCK}\n\n{prompt}"));
        let file = fake.home.root().join("prompt.txt");
        write(&file, prompt);
        let by_file = run(&mut fake.omni(&["--prompt-file", file.to_str().expect("path")]), "");
        assert_eq!(by_file.expect_success().stdout, format!("{BLOCK}\n\n{prompt}"));
        let option = format!("--prompt={prompt}");
        let by_option = run(&mut fake.omni(&["-p", &option]), "").expect_success();
        assert_eq!(by_option.stdout, format!("{BLOCK}\n\n{prompt}"));
    }
    let by_argument = run(&mut fake.omni(&["-p", "- [ ] fix it"]), "").expect_success();
    assert!(by_argument.stdout.ends_with("\n\n- [ ] fix it"));
    let refused = run(&mut fake.omni(&["--dangerously-skip-permissions"]), "");
    assert_eq!(refused.code(), 2, "{}", refused.stderr);
}

#[test]
fn e04_an_open_pipe_beside_a_prompt_holds_nothing_up_and_the_engine_never_inherits_it() {
    let fake = ScriptEngine::new("cat; echo; echo end");
    // The writing end stays open for the whole run.
    let (reader, writer) = nix::unistd::pipe().expect("pipe");
    let mut command = fake.omni(&["-p", "hi"]);
    command.stdin(Stdio::from(reader)).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = command.process_group(0).output().expect("run");
    drop(writer);
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{BLOCK}\n\nhi\nend\n"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--stdin"), "says so");

    for (stdin, expected) in
        [(Stdio::null(), "hi"), (Stdio::from(File::open("/dev/null").expect("null")), "hi")]
    {
        let mut command = fake.omni(&["-p", "hi"]);
        let output = command.stdin(stdin).output().expect("run");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(text, format!("{BLOCK}\n\n{expected}\nend\n"));
    }
}

#[test]
fn e04_argument_and_piped_text_are_joined_with_a_blank_line() {
    let fake = ScriptEngine::new("cat");
    let big = "z".repeat(3_000_000);
    let finished = run(&mut fake.omni(&["-p", "Summarise:"]), &big).expect_success();
    assert_eq!(finished.stdout, format!("{BLOCK}\n\nSummarise:\n\n{big}"));
    let empty = run(&mut fake.omni(&["-p", "Summarise:"]), "").expect_success();
    assert_eq!(empty.stdout, format!("{BLOCK}\n\nSummarise:"));
    let dash = run(&mut fake.omni(&["-p", "-"]), "from stdin").expect_success();
    assert_eq!(dash.stdout, format!("{BLOCK}\n\nfrom stdin"));
}

#[test]
fn switches_leave_out_what_they_name() {
    let fake = ScriptEngine::new("cat");
    write(fake.home.config().join("omni-run/profile.md"), "Likes tea.");
    let with_all = run(&mut fake.omni(&["-p", "hi"]), "").expect_success().stdout;
    assert!(with_all.contains("## About the person you work with") && with_all.contains(BLOCK));
    let sent = |args: &[&str]| run(&mut fake.omni(args), "").expect_success().stdout;
    assert!(!sent(&["-p", "hi", "--no-docs"]).contains(BLOCK));
    assert!(!sent(&["-p", "hi", "--no-profile"]).contains("Likes tea."));
    assert_eq!(sent(&["-p", "hi", "--no-profile", "--no-docs"]), "hi");
    fake.home.set_env("AMC_DISABLE_DOCS_INJECTION", "true");
    assert!(sent(&["-p", "hi"]).contains(BLOCK), "only exactly 1 counts");
    fake.home.set_env("AMC_DISABLE_DOCS_INJECTION", "1");
    assert!(!sent(&["-p", "hi"]).contains(BLOCK));
}

#[test]
fn show_sent_and_dry_run_start_nothing() {
    let fake = ScriptEngine::new("touch \"$HOME/started\"; cat");
    let shown = run(&mut fake.omni(&["--show-sent", "hi"]), "").expect_success();
    assert_eq!(shown.stdout, format!("{BLOCK}\n\nhi"));
    let plan = run(&mut fake.omni(&["--dry-run", "hi"]), "").expect_success().stdout;
    assert!(plan.contains("channel of message: stdin") && plan.contains("sent text:"), "{plan}");
    assert!(!plan.contains("Short words."), "the plan shows no text: {plan}");
    assert!(!fake.home.home().join("started").exists());
    assert!(!fake.home.data().join("omni-run/omni-run.db").exists());
}

#[test]
fn same_folder_same_bytes() {
    let fake = ScriptEngine::new("cat");
    let first = run(&mut fake.omni(&["-p", "hi"]), "").expect_success().stdout;
    let second = run(&mut fake.omni(&["-p", "hi"]), "").expect_success().stdout;
    assert_eq!(first, second);
}

#[test]
fn json_output_is_one_object_and_text_is_streamed_as_it_comes() {
    let fake = ScriptEngine::new("cat >/dev/null; echo answer");
    let finished = run(&mut fake.omni(&["--output", "json", "hi"]), "").expect_success();
    let object: serde_json::Value = serde_json::from_str(&finished.stdout).expect("one object");
    assert_eq!(object["text"], "answer\n");
    assert_eq!((&object["engine"], &object["exit_code"]), (&"fake".into(), &0.into()));
    assert_eq!(object["receipt"]["context"]["docs"][0]["name"], "style.md");
    assert!(!finished.stdout.contains("Short words."));

    // The second half waits until the first has been seen.
    let stream = ScriptEngine::new("cat >/dev/null; echo one; read x < \"$HOME/go\"; echo two");
    let go = stream.home.home().join("go");
    nix::unistd::mkfifo(&go, nix::sys::stat::Mode::S_IRWXU).expect("fifo");
    let mut child = stream
        .omni(&["-p", "hi"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("start");
    let mut out = std::io::BufReader::new(child.stdout.take().expect("stdout"));
    let mut line = String::new();
    std::io::BufRead::read_line(&mut out, &mut line).expect("line");
    assert_eq!(line, "one\n");
    write(&go, "go\n");
    std::io::Read::read_to_string(&mut out, &mut line).expect("rest");
    assert_eq!(line, "one\ntwo\n");
    assert!(child.wait().expect("wait").success());
}

#[test]
fn a_virtual_project_gets_no_block_and_its_folder_attachments() {
    let spec =
        "[fake.attachments]\nchannel = \"option\"\nargs = [\"--f={path}\"]\nimages = [\"png\"]\n";
    let fake = ScriptEngine::with_spec("echo \"$@\"; cat", spec);
    let claude = fake.home.home().join("Claude");
    write(claude.join(".claude/docs/a.md"), "not sent");
    write(claude.join(".claude/docs/a.png"), sample_files::png(4, 4, [1, 2, 3]));
    let finished =
        run(&mut fake.omni(&["-p", "hi", "--project", "__claude__"]), "").expect_success();
    assert!(finished.stdout.ends_with("\nhi") && finished.stdout.contains("a.png"));
    assert!(!finished.stdout.contains("not sent"));
    let none = run(&mut fake.omni(&["-p", "hi", "--project", "__none__"]), "").expect_success();
    assert_eq!(none.stdout, "\nhi");
}

#[test]
fn e04_stdin_flag_waits_for_a_slow_producer() {
    let fake = ScriptEngine::new("cat");
    let (reader, writer) = std::os::unix::net::UnixStream::pair().expect("pair");
    let mut command = fake.omni(&["-p", "hi", "--stdin"]);
    let child = command
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(reader)))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("start");
    let mut writer = writer;
    std::io::Write::write_all(&mut writer, b"late").expect("write");
    drop(writer);
    drop(command);
    let output = child.wait_with_output().expect("output");
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{BLOCK}\n\nhi\n\nlate"));
}

#[test]
fn stream_json_has_start_text_and_end_and_no_cut_character() {
    // A character of four bytes in two writes.
    let body =
        "cat >/dev/null; printf 'a\\360\\237'; read x < \"$HOME/go\"; printf '\\230\\200b\\n'";
    let fake = ScriptEngine::new(body);
    let go = fake.home.home().join("go");
    nix::unistd::mkfifo(&go, nix::sys::stat::Mode::S_IRWXU).expect("fifo");
    let mut child = fake
        .omni(&["--output", "stream-json", "hi"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("start");
    let out = std::io::BufReader::new(child.stdout.take().expect("stdout"));
    let mut events = std::io::BufRead::lines(out)
        .map(|line| serde_json::from_str::<serde_json::Value>(&line.expect("line")).expect("JSON"));
    assert_eq!(events.next().expect("start")["type"], "start");
    assert_eq!(events.next().expect("text")["text"], "a");
    write(&go, "go\n");
    assert_eq!(events.next().expect("text")["text"], "😀b\n");
    let end = events.next().expect("end");
    assert_eq!((&end["type"], &end["text"]), (&"end".into(), &"a😀b\n".into()));
    assert!(child.wait().expect("wait").success());
}

#[test]
fn without_version_arguments_an_engine_is_started_once_and_never_bare() {
    let fake = ScriptEngine::new("echo run >> \"$HOME/log\"; cat >/dev/null; echo ok");
    let entry = "[fake]\nname='Fake'\nprograms=['fake']\ninstall='-'\ndefault-window=200000\n";
    write(fake.home.config().join("omni-run/engines.toml"), entry);
    run(&mut fake.omni(&["-p", "hi"]), "").expect_success();
    assert_eq!(std::fs::read_to_string(fake.home.home().join("log")).expect("log"), "run\n");
}

#[test]
fn a_default_engine_takes_a_prompt_of_several_words() {
    let fake = ScriptEngine::new("cat");
    fake.home.set_env("OMNI_RUN_DEFAULT_ENGINE", "fake");
    let finished = run(&mut fake.command(&["-p", "two words"]), "").expect_success();
    assert_eq!(finished.stdout, format!("{BLOCK}\n\ntwo words"));
}
