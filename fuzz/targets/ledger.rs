//! The mode ledger under any output: however it is cut the undo is the same, and after the undo nothing
//! is left to undo.

#![no_main]

use libfuzzer_sys::fuzz_target;
use omni_run::launch::ledger::Ledger;

fn after<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Ledger {
    let mut ledger = Ledger::new(24);
    pieces.for_each(|piece| ledger.feed(piece));
    ledger
}

fuzz_target!(|input: (Vec<u8>, u8)| {
    let (bytes, size) = input;
    let mut whole = after([bytes.as_slice()].into_iter());
    for other in [after(bytes.chunks(1)), after(bytes.chunks(usize::from(size).max(1)))] {
        assert_eq!(other.undo(), whole.undo());
        assert_eq!(other.redo(), whole.redo());
        assert_eq!(other.standing_undo(), whole.standing_undo());
    }
    let undo = whole.undo();
    whole.feed(&undo);
    assert!(whole.undo().is_empty(), "{:?}", String::from_utf8_lossy(&whole.undo()));
});
