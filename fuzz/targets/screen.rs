//! The gate's screen under any output: it never falls over, a cut changes nothing, and it shows what the
//! `vt100` crate shows.
//!
//! Left out of the comparison: what `vt100` falls over, emoji that grow (U+FE0F), which it loses when they
//! grow over the edge of the last line, and all after a piece that ends inside a character: of the next
//! piece, should it hold another that is bad or cut, it loses the text between.

#![no_main]

use std::cell::Cell;
use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};

use libfuzzer_sys::fuzz_target;
use omni_run::engines::screen_state::Row;
use omni_run::launch::screen::EngineScreen;

thread_local! {
    /// `vt100` is at work: its panics are its own.
    static FOREIGN: Cell<bool> = const { Cell::new(false) };
}

fn measure(screen: &vt100::Screen) -> Vec<Row> {
    let (rows, cols) = screen.size();
    let row = |row| {
        let mut out = Row::default();
        out.wraps = screen.row_wrapped(row);
        for col in 0..cols.get() {
            let cell = screen.cell(row, col).expect("inside");
            if !cell.is_wide_continuation() {
                let text = if cell.has_contents() { cell.contents() } else { " " };
                out.push(text, cell.dim(), cell.inverse());
            }
        }
        out.trim_end();
        out
    };
    (0..rows.get()).map(row).collect()
}

fn is_met(foreign: impl FnOnce()) -> bool {
    FOREIGN.set(true);
    let met = catch_unwind(AssertUnwindSafe(foreign)).is_ok();
    FOREIGN.set(false);
    met
}

fuzz_target!(
    init: {
        let abort = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !FOREIGN.get() {
                abort(info);
            }
        }));
    },
    |input: (Vec<(Vec<u8>, u8, u8)>, u8)| {
        let (pieces, size) = input;
        let (mut screen, mut single) = (EngineScreen::new(6, 12), EngineScreen::new(6, 12));
        let at_least_one = |n: u8| NonZeroU16::new(u16::from(n)).unwrap_or(NonZeroU16::MIN);
        let mut vt = vt100::Parser::new(at_least_one(6), at_least_one(12), 0);
        let mut compared = true;
        for (bytes, rows, cols) in pieces {
            screen.feed(&bytes);
            bytes.chunks(usize::from(size).max(1)).for_each(|piece| single.feed(piece));
            assert_eq!(screen.snapshot(), single.snapshot());
            let tail = bytes.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
            let cut = str::from_utf8(tail).is_err_and(|error| error.error_len().is_none());
            compared &= !cut
                && !String::from_utf8_lossy(&bytes).contains('\u{fe0f}')
                && is_met(|| vt.process(&bytes));
            if compared {
                assert_eq!(screen.snapshot().rows, measure(vt.screen()));
                assert_eq!(screen.takes_paste(), vt.screen().bracketed_paste());
            }
            let (rows, cols) = (at_least_one(rows % 20), at_least_one(cols % 40));
            screen.resize(rows.get(), cols.get());
            single.resize(rows.get(), cols.get());
            compared = compared && is_met(|| vt.set_size(rows, cols));
            if compared {
                assert_eq!(screen.snapshot().rows, measure(vt.screen()));
            }
        }
    }
);
