//! The bytes that put the terminal back, and those that set the modes again after a stop.

use std::borrow::Cow;

use super::{KeyFlags, Ledger, Modes};

/// Ends a string, and its ESC cuts off any other sequence. CAN would not do: some terminals carry out
/// what it cuts off.
const ST: &[u8] = b"\x1b\\";

/// What is part of an undo besides the modes as they are.
struct Extra {
    cursor: bool,
    held_output: bool,
    rendition: bool,
}

impl Ledger {
    /// Exactly what is still to be undone; empty when the engine has cleaned up after itself.
    pub fn undo(&self) -> Vec<u8> {
        let modes = &self.ended().modes;
        let extra = Extra {
            cursor: modes.private.contains_key(&25),
            held_output: modes.private.contains_key(&2026),
            rendition: !modes.rendition.is_plain(),
        };
        let mut out = Vec::new();
        if self.splitter.mid_sequence() {
            out.extend_from_slice(ST);
        }
        put_back(modes, &extra, &mut out);
        out
    }

    /// What the keeper writes should omni-run be killed. As [`Ledger::undo`], but it does not change
    /// with every frame: what flickers is put back in any case, which does no harm.
    pub fn standing_undo(&self) -> Vec<u8> {
        let extra = Extra {
            cursor: self.flicker.cursor,
            held_output: self.flicker.held_output,
            rendition: self.flicker.rendition,
        };
        let mut out = Vec::new();
        put_back(&self.ended().modes, &extra, &mut out);
        if !out.is_empty() || self.splitter.mid_text() {
            // The kill may have cut a sequence in two.
            out.splice(0..0, ST.iter().copied());
        }
        out
    }

    /// As the terminal is once [`ST`] was written: what it ends may set a colour or begin a link.
    fn ended(&self) -> Cow<'_, Ledger> {
        if !self.splitter.mid_string() {
            return Cow::Borrowed(self);
        }
        let mut ended = self.clone();
        ended.feed(ST);
        Cow::Owned(ended)
    }

    /// Sets the modes again that [`Ledger::undo`] has put back. Attributes and contents are the
    /// engine's: it paints anew.
    pub fn redo(&self) -> Vec<u8> {
        let modes = &self.modes;
        let mut out = Vec::new();
        modes.titles.iter().for_each(|what| out.extend(csi(format_args!("22;{what}t"))));
        push_keys(&modes.keys[0], &mut out);
        if let Some(mode) = modes.alternate {
            out.extend(csi(format_args!("?{mode}h")));
            push_keys(&modes.keys[1], &mut out);
        }
        for (resource, value) in &modes.key_resources {
            out.extend(csi(format_args!(">{resource};{value}m")));
        }
        modes.ansi.iter().for_each(|mode| out.extend(csi(format_args!("{mode}h"))));
        for (mode, on) in modes.private.iter().filter(|(mode, _)| **mode != 2026) {
            out.extend(csi(format_args!("?{mode}{}", if *on { 'h' } else { 'l' })));
        }
        if modes.keypad {
            out.extend_from_slice(b"\x1b=");
        }
        if let Some((top, bottom)) = modes.region {
            let region = match bottom {
                0 => csi(format_args!("{top}r")),
                _ => csi(format_args!("{top};{bottom}r")),
            };
            out.extend([b"\x1b7", region.as_slice(), b"\x1b8"].concat());
        }
        if modes.cursor_style != 0 {
            out.extend(csi(format_args!("{} q", modes.cursor_style)));
        }
        for (set, charset) in (b'('..).zip(modes.charsets) {
            out.extend(charset.iter().flat_map(|charset| [0x1b, set, *charset]));
        }
        for (colour, value) in &modes.colours {
            out.extend([format!("\x1b]{colour};").as_bytes(), value, b"\x1b\\"].concat());
        }
        out
    }
}

/// The order matters: keys and region while still on the alternate screen, then leave it, then what
/// a restored cursor would bring back with it, the cursor itself last.
fn put_back(modes: &Modes, extra: &Extra, out: &mut Vec<u8>) {
    if extra.held_output {
        out.extend_from_slice(b"\x1b[?2026l");
    }
    if modes.hyperlink {
        out.extend_from_slice(b"\x1b]8;;\x1b\\");
    }
    for (mode, on) in modes.private.iter().filter(|(mode, _)| !matches!(**mode, 25 | 2026)) {
        out.extend(csi(format_args!("?{mode}{}", if *on { 'l' } else { 'h' })));
    }
    modes.ansi.iter().for_each(|mode| out.extend(csi(format_args!("{mode}l"))));
    if modes.keypad {
        out.extend_from_slice(b"\x1b>");
    }
    modes.key_resources.keys().for_each(|r| out.extend(csi(format_args!(">{r}m"))));
    if modes.region.is_some() {
        // Setting a region moves the cursor home. On the alternate screen that is no matter, and
        // the place to save it may be the one that the way back needs.
        match modes.alternate {
            Some(_) => out.extend_from_slice(b"\x1b[r"),
            None => out.extend_from_slice(b"\x1b7\x1b[r\x1b8"),
        }
    }
    if let Some(mode) = modes.alternate {
        pop_keys(&modes.keys[1], out);
        out.extend(csi(format_args!("?{mode}l")));
    }
    pop_keys(&modes.keys[0], out);
    if modes.shifted {
        out.push(super::SI);
    }
    for (set, charset) in (b'('..).zip(modes.charsets) {
        if charset.is_some() {
            out.extend_from_slice(&[0x1b, set, b'B']);
        }
    }
    if modes.left_utf8 {
        out.extend_from_slice(b"\x1b%G");
    }
    if extra.rendition {
        out.extend_from_slice(b"\x1b[m");
    }
    for colour in modes.colours.keys() {
        out.extend(format!("\x1b]{}\x1b\\", colour + 100).into_bytes());
    }
    if modes.palette {
        out.extend_from_slice(b"\x1b]104\x1b\\");
    }
    if modes.progress {
        out.extend_from_slice(b"\x1b]9;4;0\x1b\\");
    }
    if modes.pointer {
        out.extend_from_slice(b"\x1b]22;\x1b\\");
    }
    if modes.cursor_style != 0 {
        out.extend_from_slice(b"\x1b[0 q");
    }
    modes.titles.iter().rev().for_each(|what| out.extend(csi(format_args!("23;{what}t"))));
    if extra.cursor {
        out.extend_from_slice(b"\x1b[?25h");
    }
}

fn push_keys(keys: &KeyFlags, out: &mut Vec<u8>) {
    if keys.base != 0 {
        out.extend(csi(format_args!("={};1u", keys.base)));
    }
    keys.pushed.iter().for_each(|flags| out.extend(csi(format_args!(">{flags}u"))));
}

fn pop_keys(keys: &KeyFlags, out: &mut Vec<u8>) {
    if !keys.pushed.is_empty() {
        out.extend(csi(format_args!("<{}u", keys.pushed.len())));
    }
    if keys.base != 0 {
        out.extend_from_slice(b"\x1b[=0;1u");
    }
}

fn csi(rest: std::fmt::Arguments<'_>) -> Vec<u8> {
    format!("\x1b[{rest}").into_bytes()
}
