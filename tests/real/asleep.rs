//! The machine is so busy that omni-run does not get to run between the engine's start and its end: here
//! it is stopped meanwhile. Engines exit without waiting for what they write, and the answer is whole all
//! the same.

use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::fake_model::REPLY;
use crate::tui_bed::wait_until;
use crate::tui_life::kill::processes;
use crate::wire::bed_with_400_kb;

fn asleep(id: &str) {
    let Some(bed) = bed_with_400_kb(id) else { return };
    let _turn = bed.engine.turn();
    let send = |prompt| {
        let mut command = bed.omni();
        command.args(["-p", prompt]).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start")
    };
    // From here on omni-run knows the engine's version: the next process is the engine at work.
    let first = send("the first").wait_with_output().expect("output");
    assert!(first.status.success(), "{first:?}");
    wait_until("the end of the first run", || processes(&bed.home).is_empty());
    let before = bed.model.main_requests().len();

    // A quick engine does not get its answer before the stop.
    bed.model.hold();
    let child = send("How long is it?");
    let omni = Pid::from_raw(child.id().cast_signed());
    wait_until("the engine's start", || !processes(&bed.home).is_empty());
    kill(omni, Signal::SIGSTOP).expect("stop");
    bed.model.wait_for(before + 1);
    bed.model.release();
    wait_until("the engine's end", || processes(&bed.home).is_empty());
    kill(omni, Signal::SIGCONT).expect("continue");
    let ended = child.wait_with_output().expect("output");
    let (stdout, stderr) =
        (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success(), "{}: {stderr}", ended.status);
    assert_eq!(stdout, format!("{REPLY}\n"), "{stderr}");
}

macro_rules! engines {
    ($($name:ident $id:literal),*) => { $(
        #[test]
        fn $name() {
            asleep($id);
        }
    )* };
}

engines! {
    claude "claude", codex "codex", gemini "gemini", pi "pi", openclaw "openclaw",
    opencode "opencode", hermes "hermes"
}
