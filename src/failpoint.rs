//! Places where a test can kill omni-run: built only with the feature `test-fakes`, nothing at all
//! in a release. What is left behind at each of them is what the next look has to judge.

/// The variable that names the place to die at.
#[cfg(feature = "test-fakes")]
const DIE_AT: &str = "OMNI_TEST_DIE_AT";

/// Ends the process by SIGKILL where the test's variable names this place.
#[cfg(feature = "test-fakes")]
pub(crate) fn reach(place: &str) {
    use nix::sys::signal::{Signal, kill};
    if std::env::var(DIE_AT).is_ok_and(|wanted| wanted == place) {
        let _ = kill(nix::unistd::getpid(), Signal::SIGKILL);
    }
}

/// Nothing.
#[cfg(not(feature = "test-fakes"))]
#[inline(always)]
pub(crate) fn reach(_place: &str) {}
