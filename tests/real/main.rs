//! The tests that run the real engines; `tests/real/install` gets them. The stand-in for Cursor
//! and the test bed itself are tried here as well.

#[path = "../support/pty_driver.rs"]
mod pty_driver;
#[path = "../support/mod.rs"]
mod support;

mod asleep;
mod bed;
mod cursor;
mod cursor_stand_in;
mod cursor_tui;
mod own_output;
mod resume;
mod smoke;
mod tui;
mod tui_bed;
mod tui_cases;
mod tui_input;
mod tui_life;
mod wire;
