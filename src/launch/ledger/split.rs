//! Splits a terminal's byte stream into its control sequences, whatever the pieces it comes in.
//! It knows where a sequence ends, not what it means, and keeps a bounded part of each.

/// Parameters of a CSI longer than this belong to no sequence that the ledger knows; in bytes.
const CSI_MOST: usize = 256;
/// The head of a control string decides what it is: clipboards and images need not be kept; bytes.
const OSC_MOST: usize = 256;

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
/// Shift out: G1 becomes the character set.
pub(super) const SO: u8 = 0x0e;
/// Shift in: G0 again.
pub(super) const SI: u8 = 0x0f;

/// One whole sequence.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sequence<'a> {
    /// SO or SI.
    Shift(u8),
    /// `ESC`, intermediates, final byte.
    Escape { intermediate: &'a [u8], last: u8 },
    /// `CSI`, private mark (`?`, `>`, `<`, `=` or 0), parameters, last intermediate (or 0), final.
    Csi { mark: u8, params: &'a [u8], intermediate: u8, last: u8 },
    /// The head of an OSC's text.
    Osc(&'a [u8]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Ground,
    Escape,
    Csi,
    Osc,
    OscEscape,
    /// DCS, SOS, PM, APC: of no interest but for their end.
    Text,
    TextEscape,
}

/// The splitter's memory between two pieces.
#[derive(Debug, Clone, Default)]
pub(super) struct Splitter {
    state: State,
    kept: Vec<u8>,
    overflow: bool,
}

impl Splitter {
    /// Whether the last piece ended inside a sequence.
    pub(super) fn mid_sequence(&self) -> bool {
        self.state != State::Ground
    }

    /// Whether the last piece ended inside an OSC, which its end makes valid.
    pub(super) fn mid_string(&self) -> bool {
        matches!(self.state, State::Osc | State::OscEscape)
    }

    /// Whether the last piece ended inside a string of any kind: the terminal shows nothing until it
    /// ends.
    pub(super) fn mid_text(&self) -> bool {
        self.mid_string() || matches!(self.state, State::Text | State::TextEscape)
    }

    /// Takes a piece; `each` gets the sequences that end in it.
    pub(super) fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(Sequence<'_>)) {
        let mut rest = bytes;
        while let Some(&byte) = rest.first() {
            if self.state == State::Ground {
                // Nearly all bytes are text: found at memory speed, not through the machine.
                let Some(at) = next_control(rest) else { return };
                rest = &rest[at..];
                // And nearly all sequences are a CSI in one piece.
                if let Some((sequence, len)) = whole_csi(rest) {
                    each(sequence);
                    rest = &rest[len..];
                } else {
                    self.ground(rest[0], &mut each);
                    rest = &rest[1..];
                }
                continue;
            }
            self.step(byte, &mut each);
            rest = &rest[1..];
        }
    }

    fn ground(&mut self, byte: u8, each: &mut impl FnMut(Sequence<'_>)) {
        match byte {
            ESC => self.enter(State::Escape),
            shift => each(Sequence::Shift(shift)),
        }
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.kept.clear();
        self.overflow = false;
    }

    fn keep(&mut self, byte: u8, most: usize) {
        if self.kept.len() < most {
            self.kept.push(byte);
        } else {
            self.overflow = true;
        }
    }

    fn step(&mut self, byte: u8, each: &mut impl FnMut(Sequence<'_>)) {
        match (self.state, byte) {
            (_, CAN | SUB) => self.enter(State::Ground),
            (State::Osc, BEL) => self.end_osc(each),
            (State::Osc, ESC) => self.state = State::OscEscape,
            (State::Osc, _) => self.keep(byte, OSC_MOST),
            (State::OscEscape, b'\\') => self.end_osc(each),
            (State::Text, ESC) => self.state = State::TextEscape,
            (State::Text, _) => {}
            (State::TextEscape, b'\\') => self.enter(State::Ground),
            // An ESC that is no ST ends the string as well and begins a sequence of its own.
            (State::OscEscape | State::TextEscape, _) => {
                if self.state == State::OscEscape {
                    self.end_osc(each);
                }
                self.enter(State::Escape);
                self.step(byte, each);
            }
            (State::Escape | State::Csi, ESC) => self.enter(State::Escape),
            (State::Escape | State::Csi, SO | SI) => each(Sequence::Shift(byte)),
            (State::Escape | State::Csi, 0..0x20 | 0x7f) => {}
            (State::Escape, b'[') if self.kept.is_empty() => self.enter(State::Csi),
            (State::Escape, b']') if self.kept.is_empty() => self.enter(State::Osc),
            (State::Escape, b'P' | b'X' | b'^' | b'_') if self.kept.is_empty() => {
                self.enter(State::Text);
            }
            (State::Escape, 0x20..0x30) => self.keep(byte, CSI_MOST),
            (State::Escape, _) => {
                each(Sequence::Escape { intermediate: &self.kept, last: byte });
                self.enter(State::Ground);
            }
            (State::Csi, 0x20..0x40) => self.keep(byte, CSI_MOST),
            (State::Csi, _) => self.end_csi(byte, each),
            (State::Ground, _) => self.ground(byte, each),
        }
    }

    fn end_osc(&mut self, each: &mut impl FnMut(Sequence<'_>)) {
        each(Sequence::Osc(&self.kept));
        self.enter(State::Ground);
    }

    fn end_csi(&mut self, last: u8, each: &mut impl FnMut(Sequence<'_>)) {
        if !self.overflow {
            each(csi(&self.kept, last));
        }
        self.enter(State::Ground);
    }
}

/// The place of the next ESC, SO or SI. In blocks, without a way out inside one: the compiler makes
/// wide instructions of that.
fn next_control(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 32;
    let is_control = |b: &u8| matches!(*b, ESC | SO | SI);
    for (n, block) in bytes.chunks(BLOCK).enumerate() {
        if block.iter().fold(false, |any, b| any | is_control(b)) {
            return block.iter().position(is_control).map(|at| n * BLOCK + at);
        }
    }
    None
}

/// The CSI at the start, if all of it is there and nothing odd is in it.
fn whole_csi(bytes: &[u8]) -> Option<(Sequence<'_>, usize)> {
    let body = bytes.strip_prefix(b"\x1b[")?;
    let len = body.iter().take(CSI_MOST).position(|b| !(0x20..0x40).contains(b))?;
    let last = body[len];
    (0x40..0x7f).contains(&last).then(|| (csi(&body[..len], last), len + 3))
}

fn csi(kept: &[u8], last: u8) -> Sequence<'_> {
    let (mark, rest) = match kept.split_first() {
        Some((&mark @ b'<'..=b'?', rest)) => (mark, rest),
        _ => (0, kept),
    };
    let end = rest.iter().position(|b| *b < 0x30).unwrap_or(rest.len());
    let intermediate = rest[end..].last().copied().unwrap_or(0);
    Sequence::Csi { mark, params: &rest[..end], intermediate, last }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(bytes: &[u8]) -> Vec<String> {
        let mut seen = Vec::new();
        Splitter::default().feed(bytes, |s| seen.push(format!("{s:?}")));
        seen
    }

    #[test]
    fn a_sequence_inside_another_one_is_found_as_terminals_find_it() {
        assert_eq!(seen(b"\x1b[12\x1b[?25l").len(), 1, "ESC aborts a CSI");
        assert_eq!(seen(b"\x1b[12\x18\x1b[m").len(), 1, "CAN aborts a CSI");
        assert_eq!(seen(b"\x1b]0;title\x1b[?25l").len(), 2, "ESC ends an OSC");
        assert_eq!(seen(b"\x1b_Ga=T;AAAA\x1b\\\x1b[?25l").len(), 1, "an image is skipped");
        assert_eq!(seen(b"\x1b[\x0e1m").len(), 2, "a control inside a CSI acts");
    }

    #[test]
    fn what_is_kept_of_a_string_is_bounded() {
        let mut splitter = Splitter::default();
        splitter.feed(b"\x1b]52;c;", |_| {});
        splitter.feed(&vec![b'A'; 1 << 20], |_| {});
        assert!(splitter.kept.capacity() <= 1024 && splitter.mid_sequence());
    }
}
