//! What engines tell beside the picture: the keyboard protocol they want, and their state.

use super::term::Param;

/// The number of the operating system command by which an engine tells its state.
const STATE_COMMAND: &[u8] = b"7501";
/// No state word is longer; in bytes.
const STATE_LIMIT: usize = 200;
/// The most keyboard modes that are remembered: kitty's own limit is of this order.
const KEYBOARD_STACK: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Marks {
    pub(super) state: Option<String>,
    pushed: Vec<u16>,
}

impl Marks {
    /// The kitty flags in force.
    pub(super) fn kitty_flags(&self) -> u16 {
        self.pushed.last().copied().unwrap_or(0)
    }

    /// `CSI > … u` pushes, `CSI < … u` pops, `CSI = … u` changes.
    pub(super) fn keyboard(&mut self, mark: u8, params: &[Param]) {
        let parameter = params.first().map_or(0, |param| param.value);
        match mark {
            b'>' => {
                self.pushed.push(parameter);
                if self.pushed.len() > KEYBOARD_STACK {
                    self.pushed.remove(0);
                }
            }
            b'<' => {
                let left = self.pushed.len().saturating_sub(usize::from(parameter.max(1)));
                self.pushed.truncate(left);
            }
            b'=' => {
                let mode = params.get(1).map_or(1, |param| param.value);
                let old = self.pushed.pop().unwrap_or(0);
                self.pushed.push(match mode {
                    2 => old | parameter,
                    3 => old & !parameter,
                    _ => parameter,
                });
            }
            _ => {}
        }
    }

    /// `OSC 7501 ; state=idle:app=… ST`: the first field is the word.
    pub(super) fn command(&mut self, params: &[&[u8]]) {
        let Some((&STATE_COMMAND, rest)) = params.split_first() else { return };
        if let Some(word) = rest.iter().find_map(|field| field.strip_prefix(b"state=")) {
            let word = word.split(|b| *b == b':').next().unwrap_or_default();
            let word = &word[..word.len().min(STATE_LIMIT)];
            self.state = Some(String::from_utf8_lossy(word).into_owned());
        }
    }
}
