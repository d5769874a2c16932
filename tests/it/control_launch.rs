//! An approved launch: the launch of the command line in a process of its own, started at most once
//! whatever dies (S85, H07).

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use omni_run::control::actions::{Action, ActionId, OutcomeCode, Status};
use omni_run::session::{Outcome, Role, SessionFilter, SessionRow, Store};
use serde_json::Value;

use crate::support::approvals::{Desk, launch};
use crate::support::home::write;
use crate::support::run;

/// Far over what a start takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(60);

/// A desk with the engine `fake`, which counts its starts.
struct Bench {
    desk: Desk,
    starts: PathBuf,
}

impl Bench {
    fn new(body: &str) -> Bench {
        let desk = Desk::with_docs(&[("a.md", b"the doc")]);
        let starts = desk.home.root().join("starts");
        let script = format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && echo 'fake 1.0' && exit\n\
             echo start >> '{}'\n{body}\n",
            starts.display()
        );
        desk.home.install_script("fake", &script);
        write(
            desk.home.config().join("omni-run/engines.toml"),
            "[fake]\nname = \"Fake\"\nprograms = [\"fake\"]\ninstall = \"get fake\"\n\
             version-args = [\"--version\"]\ndefault-window = 200000\n",
        );
        Bench { desk, starts }
    }

    fn asked(&self, prompt: &str) -> ActionId {
        self.desk.ask_at(launch("fake", prompt), clock()).expect("taken in").action.id
    }

    /// Approves in a process of its own, in this home, dying at this step.
    fn approve(&self, id: ActionId, die_at: Option<&str>) -> Option<Action> {
        let mut probe = self.desk.probe(&["approve", &id.to_string()]);
        if let Some(step) = die_at {
            probe.env("OMNI_TEST_DIE_AT", step);
        }
        let end = run(&mut probe, "");
        match end.status.signal() {
            Some(signal) => assert_eq!(signal, 9, "{end:?}"),
            None => {
                let told: Value = serde_json::from_str(&end.expect_success().stdout).expect("JSON");
                assert_eq!(told["id"], id.to_string());
                return Some(self.desk.get(id));
            }
        }
        None
    }

    fn starts(&self) -> usize {
        std::fs::read_to_string(&self.starts).unwrap_or_default().lines().count()
    }

    fn sessions(&self) -> Vec<SessionRow> {
        let store = Store::open_reading(&self.desk.paths()).expect("store");
        store.sessions(&SessionFilter::default()).expect("sessions")
    }

    fn messages(&self, session: &SessionRow) -> Vec<(Role, String)> {
        let store = Store::open_reading(&self.desk.paths()).expect("store");
        let messages = store.messages(session.id).expect("messages");
        messages.into_iter().map(|message| (message.role, message.text)).collect()
    }

    /// Waits for what another process writes into the store: there is no event for that.
    #[track_caller]
    fn wait<T>(&self, what: &str, found: impl Fn() -> Option<T>) -> T {
        let until = Instant::now() + LIMIT;
        loop {
            if let Some(found) = found() {
                return found;
            }
            assert!(Instant::now() < until, "no {what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[track_caller]
    fn ended(&self) -> SessionRow {
        self.wait("end of the session", || {
            self.sessions().into_iter().find(|session| session.ended_at.is_some())
        })
    }
}

fn clock() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.expect("clock").as_millis()).expect("clock")
}

#[test]
fn s85_an_approved_launch_is_a_session_with_docs_and_answer() {
    let bench = Bench::new("echo 'the answer'; cat > \"$HOME/got\"; echo \"$PWD\" > \"$HOME/cwd\"");
    let prompt = "- do it\n--version $(touch PWNED)";
    let id = bench.asked(prompt);
    let action = bench.approve(id, None).expect("approved");
    assert_eq!(action.status, Status::Applied);
    let outcome = action.outcome.expect("outcome");
    assert_eq!(outcome.code, OutcomeCode::Started);
    let session = bench.ended();
    assert_eq!(Some(session.id), outcome.session);
    assert_eq!((session.outcome, session.project.as_deref()), (Outcome::Ok, Some("p1")));
    let messages = bench.messages(&session);
    assert_eq!(messages[0], (Role::Operator, prompt.to_owned()));
    assert!(messages[1].1.contains("the answer"), "{messages:?}");
    let got = std::fs::read_to_string(bench.desk.home.home().join("got")).expect("got");
    assert!(got.contains("the doc") && got.ends_with(prompt), "{got}");
    let cwd = std::fs::read_to_string(bench.desk.home.home().join("cwd")).expect("cwd");
    assert_eq!(cwd.trim(), bench.desk.project.to_str().expect("UTF-8"));
    assert_eq!(bench.starts(), 1);
    assert_eq!(bench.desk.tree(), [".claude/docs/a.md"]);
}

/// The engine sees its parent's arguments, its own session, and no stream of anybody else.
#[cfg(target_os = "linux")]
#[test]
fn h07_the_prompt_is_in_no_argument_and_the_streams_are_nobodys() {
    let bench = Bench::new(
        "tr '\\0' ' ' < /proc/$PPID/cmdline > \"$HOME/parent\"\n\
         readlink /proc/$PPID/fd/0 /proc/$PPID/fd/1 > \"$HOME/streams\"\n\
         ls -l /proc/self/fd > \"$HOME/fds\"\n\
         echo \"$OMNI_RUN_SESSION\" > \"$HOME/marker\"\n\
         ps -o sid= -p $PPID > \"$HOME/sid\"; ps -o pid= -p $PPID > \"$HOME/pid\"\n\
         echo done",
    );
    let id = bench.asked("CANARY-PROMPT");
    bench.approve(id, None).expect("approved");
    let session = bench.ended();
    let read = |name: &str| {
        std::fs::read_to_string(bench.desk.home.home().join(name)).expect(name).trim().to_owned()
    };
    let parent = read("parent");
    assert!(parent.contains("__approved") && !parent.contains("CANARY"), "{parent}");
    assert_eq!(read("streams"), "/dev/null\n/dev/null");
    assert!(!read("fds").contains("action-"), "{}", read("fds"));
    assert_eq!(read("marker"), session.id.to_string());
    assert_eq!(read("sid"), read("pid"), "it leads a session of its own");
}

#[test]
fn s85_an_engine_that_is_not_there_is_told_on_the_action() {
    let bench = Bench::new("");
    let id = bench.asked("hi");
    std::fs::remove_file(bench.desk.home.bin().join("fake")).expect("remove");
    let action = bench.approve(id, None).expect("approved");
    let outcome = action.outcome.expect("outcome");
    assert_eq!((action.status, outcome.code), (Status::Failed, OutcomeCode::NotStarted));
    assert!(outcome.message.contains("get fake"), "{}", outcome.message);
    assert!(bench.sessions().is_empty());
}

#[test]
fn s85_what_a_failing_engine_says_is_kept() {
    let bench = Bench::new("echo 'not logged in' >&2; exit 3");
    let id = bench.asked("hi");
    bench.approve(id, None).expect("approved");
    let session = bench.ended();
    assert_eq!((session.outcome, session.exit_code), (Outcome::Failed, Some(3)));
    let said = bench.wait("last words", || bench.desk.get(id).outcome.and_then(|o| o.stderr));
    assert!(said.contains("not logged in"), "{said}");
    assert_eq!(bench.desk.get(id).status, Status::Applied, "it was started; how it ended is told");
}

#[test]
fn s85_two_who_approve_at_the_same_moment_start_one_engine() {
    let bench = Bench::new("echo hi");
    let id = bench.asked("hi");
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| bench.approve(id, None).expect("approved"))).collect();
        for thread in threads {
            assert_eq!(thread.join().expect("thread").status, Status::Applied);
        }
    });
    bench.ended();
    assert_eq!((bench.starts(), bench.sessions().len()), (1, 1));
}

#[test]
fn s85_killed_before_the_process_was_started_nothing_is_started_ever() {
    let bench = Bench::new("echo hi");
    let id = bench.asked("hi");
    assert!(bench.approve(id, Some("claimed")).is_none());
    assert_eq!(bench.desk.get(id).status, Status::Applying);
    bench.desk.queue().look(clock()).expect("look");
    let action = bench.approve(id, None).expect("approved");
    let outcome = action.outcome.expect("outcome");
    assert_eq!((action.status, outcome.code), (Status::Failed, OutcomeCode::Interrupted));
    assert_eq!((bench.starts(), bench.sessions().len()), (0, 0));
}

#[test]
fn s85_killed_after_the_process_was_started_it_goes_on_alone() {
    let bench = Bench::new("echo hi");
    let id = bench.asked("hi");
    assert!(bench.approve(id, Some("spawned")).is_none());
    // A look while it is on its way leaves it alone.
    bench.desk.queue().look(clock()).expect("look");
    let session = bench.ended();
    let action = bench.desk.get(id);
    assert_eq!(action.status, Status::Applied);
    assert_eq!(action.outcome.expect("outcome").session, Some(session.id));
    bench.approve(id, None).expect("approved");
    assert_eq!((bench.starts(), bench.sessions().len()), (1, 1));
}

#[test]
fn s85_the_process_is_killed_at_each_of_its_steps() {
    for (step, status, code) in [
        ("handed", Status::Failed, OutcomeCode::NotStarted),
        ("begun", Status::Applied, OutcomeCode::Started),
    ] {
        let bench = Bench::new("echo hi");
        let id = bench.asked("hi");
        let action = bench.approve(id, Some(step)).expect("approved");
        assert_eq!((action.status, action.outcome.expect("outcome").code), (status, code));
        bench.desk.queue().look(clock()).expect("look");
        bench.approve(id, None).expect("approved");
        assert_eq!((bench.starts(), bench.desk.get(id).status), (0, status), "{step}");
    }
}

#[test]
fn nobody_starts_an_engine_with_a_made_up_token() {
    let bench = Bench::new("echo hi");
    let id = bench.asked("hi");
    for token in ["", "x", "null"] {
        let end = run(bench.desk.home.omni().args(["__approved", &id.to_string(), token]), "");
        assert_eq!(end.code(), 77, "{end:?}");
    }
    assert_eq!((bench.starts(), bench.desk.get(id).status), (0, Status::Pending));
}
