//! `omni-run recover`: omni-run is killed at several moments, and the message is sent again exactly
//! where it had not arrived. Never twice.

use std::io::Read;
use std::process::Stdio;

use serde_json::Value;

use crate::control_api::Events;
use crate::dying::{
    Dying, WITH_RECORD, WITHOUT_RECORD, id, json, kill_and_reap, spawn, wait_until,
};
use crate::support::home::write;
use crate::support::run;
use crate::support::serve::Serve;

const BLOCK: &str = "## Injected Project Docs\n\n### style.md\n```\nShort words.\n```";

/// The first start dies before it has read anything; the next one works.
const DIES_UNREAD: &str = "first && hold\ncat > \"$HOME/got\"; echo the answer";

#[test]
fn killed_before_the_engine_read_the_message_it_is_sent_again_once() {
    let bed = Dying::new(WITH_RECORD, DIES_UNREAD);
    let row = bed.killed(&["-p", "the question, 世界"]);
    assert_eq!(row["outcome"], "crashed", "{row}");
    let listed = json(bed.command(&["recover", "--json"]));
    assert_eq!(listed[0]["arrived"], "no", "{listed}");
    let table = bed.command(&["recover"]).expect_success().stdout;
    assert!(table.contains("crashed") && table.contains("the question, 世界"), "{table}");

    // The docs as they are now go along.
    write(bed.fake.project.join(".claude/docs/second.md"), "More words.\n");
    let again = bed.command(&["recover", id(&row)]).expect_success();
    assert_eq!(again.stdout, "the answer\n");
    let block = format!("{BLOCK}\n")
        .replace("### style.md", "### second.md\n```\nMore words.\n```\n\n### style.md");
    assert_eq!(bed.got(), format!("{}\n\nthe question, 世界", block.trim_end()));
    assert_eq!(bed.typed(id(&row)), ["the question, 世界"], "one operator row");
    assert_eq!(bed.sessions().as_array().expect("rows").len(), 1, "the same session");
    assert_eq!(bed.sessions()[0]["outcome"], "ok");

    let twice = bed.command(&["recover", id(&row)]);
    assert_eq!((twice.code(), bed.starts()), (77, 2), "{twice:?}");
    assert!(twice.stderr.contains("omni-run resume"), "{}", twice.stderr);
    assert_eq!(bed.command(&["recover"]).expect_success().stdout, "");
}

#[test]
fn killed_before_the_engine_was_started_it_surely_has_not_arrived() {
    let bed = Dying::new(WITHOUT_RECORD, "cat > \"$HOME/got\"; echo ok");
    let mut command = bed.fake.omni(&["-p", "q"]);
    let killed = run(command.env("OMNI_TEST_DIE_AT", "recorded"), "");
    assert_eq!(killed.status.code(), None, "{killed:?}");
    let row = bed.settled();
    assert_eq!((row["outcome"].as_str(), bed.starts()), (Some("not_started"), 0));
    bed.command(&["recover", id(&row)]).expect_success();
    assert_eq!((bed.starts(), bed.typed(id(&row))), (1, vec!["q".to_owned()]));
    assert!(bed.got().ends_with("\n\nq"), "{}", bed.got());
}

#[test]
fn killed_after_the_answer_began_it_is_not_sent_again() {
    for spec in [WITH_RECORD, WITHOUT_RECORD] {
        let bed = Dying::new(spec, "cat > \"$HOME/got\"; printf 'half an'; hold");
        // What omni-run has not seen of the answer when it dies, it can't know of.
        let mut child = bed.fake.omni(&["-p", "q"]).stdout(Stdio::piped()).spawn().expect("start");
        let mut begun = [0; 7];
        child.stdout.as_mut().expect("stdout").read_exact(&mut begun).expect("the answer");
        assert_eq!(&begun, b"half an");
        kill_and_reap(&mut child);
        let row = bed.settled();
        assert_eq!(row["outcome"], "crashed");
        let refused = bed.command(&["recover", id(&row), "--again"]);
        assert_eq!((refused.code(), bed.starts()), (77, 1), "{refused:?}");
        assert!(refused.stderr.contains("began to answer"), "{}", refused.stderr);
    }
}

#[test]
fn a_message_in_the_engines_own_record_has_arrived() {
    let bed = Dying::new(WITH_RECORD, "cat > \"$HOME/got\"; record 'docs in front\\n\\nq r'; hold");
    let row = bed.killed(&["-p", "q r"]);
    let refused = bed.command(&["recover", id(&row)]);
    assert_eq!((refused.code(), bed.starts()), (77, 1), "{refused:?}");
    assert!(refused.stderr.contains("own record"), "{}", refused.stderr);
    // It can be gone on with: the id was chosen for the engine.
    let listed = bed.command(&["resume", "--dry-run", "and now?"]).expect_success().stdout;
    assert!(listed.contains("--resume") && listed.contains(id(&row)), "{listed}");
}

#[test]
fn without_a_record_it_cannot_be_told_and_the_person_decides() {
    let bed = Dying::new(WITHOUT_RECORD, DIES_UNREAD);
    let row = bed.killed(&["-p", "q"]);
    let doubt = bed.command(&["recover", id(&row)]);
    assert_eq!((doubt.code(), bed.starts()), (77, 1), "{doubt:?}");
    assert!(doubt.stderr.contains("--again"), "{}", doubt.stderr);
    assert!(!doubt.stderr.contains("omni-run resume"), "no id to go on by: {}", doubt.stderr);
    assert_eq!(json(bed.command(&["recover", "--json"]))[0]["arrived"], "unknown");
    // To look at what would be sent starts nothing and so needs no word.
    let shown = bed.command(&["recover", id(&row), "--show-sent"]).expect_success();
    assert!(shown.stdout.ends_with('q') && shown.stderr.contains("cannot be told"), "{shown:?}");
    assert_eq!(bed.starts(), 1);
    let again = bed.command(&["recover", id(&row), "--again"]).expect_success();
    assert_eq!(again.stdout, "the answer\n");
    assert!(again.stderr.contains("a second time"), "{}", again.stderr);
    assert_eq!(bed.typed(id(&row)), ["q"]);
}

#[test]
fn an_engine_that_died_by_itself_is_started_again_with_the_same_options() {
    let body = "first && exit 3\n{ cat; echo; echo \"$*\"; } > \"$HOME/got\"; echo ok";
    let bed = Dying::new(WITH_RECORD, body);
    let file = bed.fake.project.join("plan.pdf");
    write(&file, crate::support::sample_files::pdf("x"));
    let elsewhere = bed.fake.project.join("sub");
    std::fs::create_dir(&elsewhere).expect("folder");
    let mut command = bed.fake.omni(&["-p", "q", "--model", "m7", "--attach"]);
    command.arg(&file).args(["--no-docs", "--", "--own", "argument"]).current_dir(&elsewhere);
    let failed = run(&mut command, "");
    assert_eq!(failed.code(), 3);
    let row = bed.sessions()[0].clone();
    let dry = bed.command(&["recover", id(&row), "--dry-run"]).expect_success().stdout;
    assert!(dry.contains("m7") && bed.starts() == 1, "{dry}");
    bed.command(&["recover", id(&row)]).expect_success();
    let got = bed.got();
    assert!(got.starts_with("Please examine the following file(s):\n"), "{got}");
    assert!(got.contains("plan.pdf") && !got.contains("Injected Project Docs"), "{got}");
    assert!(got.contains("--model m7") && got.trim_end().ends_with("--own argument"), "{got}");
    let shown = bed.show(id(&row));
    assert_eq!(shown["cwd"], elsewhere.to_str().expect("path"));

    let other = Dying::new(WITH_RECORD, "exit 3");
    write(other.fake.project.join("gone.pdf"), crate::support::sample_files::pdf("x"));
    run(&mut other.fake.omni(&["-p", "q", "--attach", "gone.pdf"]), "");
    std::fs::remove_file(other.fake.project.join("gone.pdf")).expect("remove");
    let missing = other.command(&["recover", id(&other.sessions()[0])]);
    assert_eq!(missing.code(), 66);
    assert!(missing.stderr.contains("gone.pdf"), "{}", missing.stderr);
}

#[test]
fn two_that_recover_at_once_start_the_engine_once() {
    let bed = Dying::new(WITH_RECORD, "first && exit 3\ncat > \"$HOME/got\"; hold");
    run(&mut bed.fake.omni(&["-p", "q"]), "");
    let row = bed.sessions()[0].clone();
    let mut children: Vec<_> =
        (0..8).map(|_| spawn(&mut bed.fake.command(&["recover", id(&row)]))).collect();
    bed.wait_for("held");
    let mut codes = Vec::new();
    wait_until("all but one to give up", || {
        codes = children.iter_mut().filter_map(|c| c.try_wait().expect("wait")).collect();
        codes.len() == 7
    });
    assert!(codes.iter().all(|status| status.code() == Some(75)), "{codes:?}");
    assert_eq!(bed.starts(), 2, "the first time, and once again");
    for child in &mut children {
        if child.try_wait().expect("wait").is_none() {
            kill_and_reap(child);
        }
    }
}

#[test]
fn a_recovery_that_dies_too_can_be_recovered() {
    let body = "[ \"$(wc -l < \"$HOME/starts\")\" -lt 3 ] && { rm -f \"$HOME/held\"; hold; }\ncat > \"$HOME/got\"; echo ok";
    let bed = Dying::new(WITH_RECORD, body);
    let row = bed.killed(&["-p", "q"]);
    std::fs::remove_file(bed.path("held")).expect("remove");
    let mut child = spawn(&mut bed.fake.command(&["recover", id(&row)]));
    bed.wait_for("held");
    // While it runs nobody else may.
    assert_eq!(bed.command(&["recover", id(&row)]).code(), 75);
    kill_and_reap(&mut child);
    assert_eq!(bed.settled()["outcome"], "crashed");
    bed.command(&["recover", id(&row)]).expect_success();
    assert_eq!((bed.starts(), bed.typed(id(&row))), (3, vec!["q".to_owned()]));
    let ids: std::collections::BTreeSet<String> = std::fs::read_to_string(bed.path("starts"))
        .expect("starts")
        .lines()
        .map(|line| line.split(' ').nth(1).expect("id").to_owned())
        .collect();
    assert_eq!(ids.len(), 3, "each start has an id of its own: {ids:?}");
}

#[test]
fn what_is_no_candidate_says_why() {
    let bed = Dying::new(WITH_RECORD, "cat >/dev/null; echo ok");
    assert_eq!(bed.command(&["recover"]).expect_success().stdout, "");
    assert_eq!(bed.command(&["recover", "abcd"]).code(), 66);
    run(&mut bed.fake.omni(&["-p", "q"]), "").expect_success();
    let row = bed.sessions()[0].clone();
    let ok = bed.command(&["recover", id(&row)]);
    assert!(ok.code() == 77 && ok.stderr.contains("ended well"), "{ok:?}");
    for wrong in [["recover", "--again"], ["recover", "--print"]] {
        assert_eq!(bed.command(&wrong).code(), 2);
    }
}

#[test]
fn a_dead_session_is_marked_and_a_living_one_never() {
    let bed =
        Dying::new(WITH_RECORD, "cat >/dev/null; echo $$ >> \"$HOME/running\"; exec sleep 600");
    // The version is asked once.
    run(&mut bed.fake.omni(&["--dry-run", "x"]), "").expect_success();
    let mut children: Vec<_> =
        (0..10).map(|n| spawn(&mut bed.fake.omni(&["-q", "-p", &format!("p{n}")]))).collect();
    let running = || std::fs::read_to_string(bed.path("running")).unwrap_or_default();
    wait_until("ten engines", || running().lines().count() == 10);
    for child in &mut children[..5] {
        kill_and_reap(child);
    }
    let count = |rows: &Value, outcome: &str| {
        rows.as_array().expect("rows").iter().filter(|row| row["outcome"] == outcome).count()
    };
    wait_until("five dead ones", || count(&bed.sessions(), "crashed") == 5);
    assert_eq!(count(&bed.sessions(), "running"), 5);
    // A launch looks as well.
    run(&mut bed.fake.omni(&["--show-sent", "x"]), "").expect_success();
    assert_eq!(count(&bed.sessions(), "running"), 5);
    for child in &mut children[5..] {
        nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(child.id().cast_signed()),
            nix::sys::signal::Signal::SIGTERM,
        )
        .expect("signal");
        child.wait().expect("wait");
    }
    let rows = bed.sessions();
    assert_eq!((count(&rows, "crashed"), count(&rows, "failed")), (5, 5), "{rows}");
    let left = std::fs::read_dir(bed.fake.home.data().join("omni-run/live")).expect("folder");
    assert_eq!(left.count(), 0, "every mark is gone");
}

#[test]
fn the_api_shows_a_dead_session_as_dead_and_tells_who_listens() {
    let bed = Dying::new(WITHOUT_RECORD, "cat >/dev/null; hold");
    let serve = Serve::start(&bed.fake.home);
    let mut events = Events::open(&serve);
    assert_eq!(events.next().0, "ready");
    let mut child = spawn(&mut bed.fake.omni(&["-p", "q"]));
    bed.wait_for("held");
    let session = serve.get("/sessions").json()["sessions"][0].clone();
    assert_eq!(session["status"], "running");
    kill_and_reap(&mut child);
    // Nobody but the server looks.
    while events.next().1["status"] != "crashed" {}
    let path = format!("/sessions/{}", id(&session));
    for shown in [serve.get("/sessions").json()["sessions"][0].clone(), serve.get(&path).json()] {
        assert_eq!((&shown["status"], &shown["endedAt"]), (&"crashed".into(), &Value::Null));
    }
}
