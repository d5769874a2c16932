//! `--retries`: which failures are worth another try, and how long to wait before it. Pure.
//!
//! Only an engine that failed before a byte of its answer came is started again. An engine that was
//! killed on a person's word, that ran into the time-out, or whose exit code stands for a lasting
//! failure, is not: another try would end in the same way.

use std::io;
use std::time::Duration;

use crate::engines::EngineSpec;
use crate::launch::one_shot::Outcome;

/// The wait before the second try. What another try can mend (a login that is being renewed, a
/// network that has just come up, an update that replaces the program) takes a second or two;
/// engines themselves repeat their API calls.
const FIRST_PAUSE: Duration = Duration::from_secs(2);

/// The longest wait. It doubles from try to try up to here: beyond a minute a later run of the job
/// is the better try.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The wait after the try with this number; the first is 1.
pub(super) fn pause_after(number: u32) -> Duration {
    let doublings = number.saturating_sub(1).min(16);
    (FIRST_PAUSE * 2u32.pow(doublings)).min(LONGEST_PAUSE)
}

/// Whether a run that ended with `code` is worth another try.
pub(super) fn is_worth_another(spec: &EngineSpec, outcome: &Outcome, code: u8) -> bool {
    code != 0
        && outcome.answered == 0
        && !outcome.timed_out
        && outcome.forwarded.is_none()
        && !spec.no_retry_codes.0.contains(&code)
}

/// Whether a start that failed may succeed a moment later.
pub(super) fn may_start_later(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory | io::ErrorKind::ExecutableFileBusy
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::{EngineEnd, Verdict};

    fn outcome(answered: u64) -> Outcome {
        Outcome {
            end: EngineEnd { code: Some(1), signal: None },
            verdict: Verdict::default(),
            engine_session: None,
            timed_out: false,
            forwarded: None,
            complaints: Vec::new(),
            answered,
            reply_cut: false,
            stderr_end: Vec::new(),
        }
    }

    #[test]
    fn pauses_double_up_to_a_minute() {
        let seconds: Vec<u64> = (1..=8).map(|n| pause_after(n).as_secs()).collect();
        assert_eq!(seconds, [2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(pause_after(u32::MAX), LONGEST_PAUSE);
    }

    #[test]
    fn only_a_failure_before_the_answer_that_may_pass_is_repeated() {
        let spec = EngineSpec::default();
        assert!(is_worth_another(&spec, &outcome(0), 1));
        assert!(is_worth_another(&spec, &outcome(0), 139), "a crash");
        assert!(!is_worth_another(&spec, &outcome(0), 0));
        assert!(!is_worth_another(&spec, &outcome(1), 1), "it had begun to answer");
        for code in [2, 64, 77, 78, 126, 127] {
            assert!(!is_worth_another(&spec, &outcome(0), code), "{code}");
        }
        assert!(!is_worth_another(&spec, &Outcome { timed_out: true, ..outcome(0) }, 124));
        assert!(!is_worth_another(&spec, &Outcome { forwarded: Some(15), ..outcome(0) }, 143));
    }

    #[test]
    fn a_program_that_is_being_replaced_is_tried_again() {
        assert!(may_start_later(&io::ErrorKind::ExecutableFileBusy.into()));
        assert!(!may_start_later(&io::ErrorKind::NotFound.into()));
    }
}
