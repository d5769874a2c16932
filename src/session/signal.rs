//! The one signal that would kill us for a full quota.

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

/// Makes a write over the file size limit an error instead of death by SIGXFSZ (G05). Call once at
/// the start of the process.
///
/// A handler that does nothing, not "ignore": a handler is reset by exec, so the engine starts with
/// what it would have had without us. Where our parent ignores the signal, that stays.
pub fn ignore_file_size_signal() {
    extern "C" fn nothing(_: nix::libc::c_int) {}
    let action = SigAction::new(SigHandler::Handler(nothing), SaFlags::SA_RESTART, SigSet::empty());
    // SAFETY: the handler touches nothing, so it may run at any point.
    #[expect(unsafe_code, reason = "sigaction has no safe form")]
    let old = unsafe { sigaction(Signal::SIGXFSZ, &action) };
    if let Ok(old) = old
        && matches!(old.handler(), SigHandler::SigIgn)
    {
        // SAFETY: puts back what was there.
        #[expect(unsafe_code, reason = "sigaction has no safe form")]
        let _ = unsafe { sigaction(Signal::SIGXFSZ, &old) };
    }
}
