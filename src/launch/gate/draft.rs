//! What the user has typed, as far as the keys alone tell. Certain only while he types, pastes and
//! deletes at the end; anything else (history, completion, arrows, undo) makes it unknown, and the
//! recipe asks the engine's editor key or the screen instead.

use unicode_segmentation::UnicodeSegmentation;

use crate::launch::keys::{Input, InputEvent, Key, KeyAction, KeyPress, Mods};

/// A draft over this is not kept, in bytes; no engine takes a longer message.
const LIMIT: usize = 8 << 20;

/// The draft. `None`: unknown.
#[derive(Debug)]
pub(super) struct Draft {
    text: Option<String>,
    paste: Vec<u8>,
    /// The pastes in it.
    pastes: Vec<Pasted>,
    /// The last key was a backslash.
    backslash: bool,
    tabs_lost: bool,
    /// Blank lines may stand in a composer that shows nothing.
    blank: bool,
}

/// One paste in the draft.
#[derive(Debug)]
struct Pasted {
    /// Where it ends, in bytes.
    end: usize,
    chars: usize,
    line_ends: usize,
}

impl Draft {
    /// An empty composer.
    pub(super) fn new(tabs_lost: bool) -> Draft {
        Draft {
            text: Some(String::new()),
            paste: Vec::new(),
            pastes: Vec::new(),
            backslash: false,
            tabs_lost,
            blank: false,
        }
    }

    /// The text, if it is known.
    pub(super) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// How many lines of it the composer has, which shows `shown`: a paste that is folded into a chip
    /// of one of these beginnings is no more than a word of its line.
    pub(super) fn lines_in(&self, shown: &str, chips: &[String]) -> usize {
        let sizes = chip_sizes(shown, chips);
        let folded = self.pastes.iter().filter(|paste| sizes.contains(&paste.chars));
        let lines = self.text.as_ref().map_or(0, |text| text.lines().count());
        lines.saturating_sub(folded.map(|paste| paste.line_ends).sum())
    }

    /// Whether Enter now would make a new line in an engine that knows `\` + Enter.
    pub(super) fn ends_with_backslash(&self) -> bool {
        self.backslash
    }

    /// The composer was seen empty.
    pub(super) fn reset(&mut self) {
        self.text = (!self.blank).then(String::new);
        self.backslash = false;
    }

    /// An Enter went to a composer that shows nothing. Blank lines that were typed before it may still
    /// be there: until something was sent, looking tells no more.
    pub(super) fn enter_on_nothing(&mut self) {
        self.blank |= self.text.as_ref().is_some_and(|text| !text.is_empty());
        self.reset();
    }

    /// The composer was empty and got this text from us.
    pub(super) fn set(&mut self, text: &str) {
        self.text = Some(text.to_owned());
        self.backslash = false;
    }

    /// Something happened to it that keys do not tell.
    pub(super) fn forget(&mut self) {
        self.text = None;
        self.backslash = false;
        self.blank = false;
    }

    /// A key went to a dialog over the composer, or by a hair into it.
    pub(super) fn doubt(&mut self) {
        self.blank |= self.text.take().is_some_and(|text| text.contains('\n'));
        self.backslash = false;
    }

    /// Takes what went to the engine. An Enter that gets here has submitted or made a new line.
    pub(super) fn take(&mut self, event: &InputEvent) {
        let backslash = std::mem::take(&mut self.backslash);
        if self.text.as_ref().is_none_or(String::is_empty) {
            self.pastes.clear();
        }
        let lines = self.text.as_ref().is_some_and(|text| text.contains('\n'));
        self.take_input(event, backslash);
        self.blank |= lines && self.text.is_none();
    }

    fn take_input(&mut self, event: &InputEvent, backslash: bool) {
        match &event.input {
            Input::Key(press) if press.action == KeyAction::Release => self.backslash = backslash,
            Input::Key(press) => self.key(*press, backslash),
            Input::PasteStart => self.paste.clear(),
            Input::PasteText => {
                if self.paste.len() + event.bytes.len() <= LIMIT {
                    self.paste.extend(&event.bytes);
                } else {
                    self.text = None;
                }
            }
            Input::PasteEnd => self.pasted(),
            Input::Mouse => {
                self.backslash = backslash;
                if is_click(&event.bytes) {
                    self.text = None;
                }
            }
            Input::Reply | Input::Focus => self.backslash = backslash,
            Input::Unknown => self.text = None,
        }
    }

    fn key(&mut self, press: KeyPress, backslash: bool) {
        let plain = press.mods.is_none();
        match press.key {
            Key::Char(c) if plain || press.mods == Mods::SHIFT => {
                self.backslash = c == '\\';
                self.push(c);
            }
            // Ctrl-J, Shift-Enter and Alt-Enter are newline keys wherever they are anything.
            Key::Char('j') if press.mods == Mods::CTRL => self.push('\n'),
            Key::Enter if press.mods == Mods::SHIFT || press.mods == Mods::ALT => self.push('\n'),
            Key::Enter if plain && backslash => {
                if let Some(text) = &mut self.text {
                    text.pop();
                }
                self.push('\n');
            }
            Key::Backspace if plain => self.delete_last(),
            Key::Modifier => self.backslash = backslash,
            Key::Char(_) | Key::Enter | Key::Backspace | Key::Tab | Key::Escape => self.text = None,
            Key::Move(_) | Key::Other => self.text = None,
        }
    }

    fn push(&mut self, c: char) {
        self.blank |= c == '\n' && self.text.is_none();
        match &mut self.text {
            Some(text) if text.len() < LIMIT => text.push(c),
            _ => self.text = None,
        }
    }

    fn delete_last(&mut self) {
        let Some(text) = &mut self.text else { return };
        let Some(last) = text.graphemes(true).next_back() else { return };
        // Engines differ in what Backspace takes of a joined emoji.
        if last.chars().count() == 1 {
            text.pop();
            let len = text.len();
            self.pastes.retain(|paste| paste.end <= len);
        } else {
            self.text = None;
        }
    }

    fn pasted(&mut self) {
        let paste = String::from_utf8(std::mem::take(&mut self.paste)).ok();
        let lines = paste.map(|paste| paste.replace("\r\n", "\n").replace('\r', "\n"));
        match (&mut self.text, lines) {
            (Some(text), Some(lines))
                if text.len() + lines.len() <= LIMIT
                    && !lines.chars().any(|c| c.is_control() && c != '\n' && c != '\t') =>
            {
                let lines = if self.tabs_lost { lines.replace('\t', "    ") } else { lines };
                // What the engine counts: before its own changes.
                let (chars, line_ends) = (lines.chars().count(), lines.matches('\n').count());
                text.push_str(&lines);
                self.pastes.push(Pasted { end: text.len(), chars, line_ends });
            }
            _ => self.text = None,
        }
    }
}

/// A text without its blanks: screens wrap and indent, so only the rest can be compared.
pub(super) fn squeeze(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The first number in each chip: engines that tell the size of a folded paste tell its characters.
fn chip_sizes(shown: &str, chips: &[String]) -> Vec<usize> {
    // A chip at the edge is broken into two rows.
    let shown = squeeze(shown);
    let labels = chips.iter().map(|chip| squeeze(chip)).filter(|chip| !chip.is_empty());
    let mut sizes = Vec::new();
    for label in labels {
        for (at, _) in shown.match_indices(&label) {
            let chip = shown[at..].split(']').next().unwrap_or_default();
            let mut numbers = chip.split(|c: char| !c.is_ascii_digit());
            let size = numbers.find(|number| !number.is_empty());
            sizes.extend(size.and_then(|number| number.parse::<usize>().ok()));
        }
    }
    sizes
}

/// A button went down or up; the wheel and motion change no draft.
fn is_click(report: &[u8]) -> bool {
    let Some(rest) = report.strip_prefix(b"\x1b[<") else { return true };
    let button = rest.split(|b| *b == b';').next().and_then(|b| std::str::from_utf8(b).ok());
    button.and_then(|b| b.parse::<u32>().ok()).is_none_or(|b| b & 32 == 0 && b < 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::keys::Decoder;

    fn after(keys: &[u8]) -> Option<String> {
        let mut decoder = Decoder::new();
        let mut draft = Draft::new(false);
        let mut events = decoder.feed(keys);
        events.extend(decoder.give_up());
        events.iter().for_each(|event| draft.take(event));
        draft.text().map(str::to_owned)
    }

    #[test]
    fn a_folded_paste_is_one_word_of_its_line() {
        let mut draft = Draft::new(false);
        let keys = "look:\n\x1b[200~a\r\nb\r\nc\x1b[201~\x1b[200~1\r2\r3\r4\x1b[201~\n!";
        Decoder::new().feed(keys.as_bytes()).iter().for_each(|event| draft.take(event));
        let lines = |shown: &str| draft.lines_in(shown, &["[Pasted Content".to_owned()]);
        assert_eq!(lines("look:\na\nb\nc1\n2\n3\n4\n!"), 8);
        assert_eq!(lines("look:\n[Pasted Content 5 chars][Pasted Content 7 chars]\n!"), 3);
        assert_eq!(lines("look:\na\nb\nc[Pasted\nContent 7 chars]\n!"), 5);
        assert_eq!(lines("look:\n[Pasted Content 6 chars]!"), 8, "not of ours");
        draft.take(&Decoder::new().feed(b"\x7f")[0]);
        assert_eq!(draft.lines_in("[Pasted Content 7 chars]", &["[Pasted Content".to_owned()]), 4);
    }

    #[test]
    fn typing_is_certain_and_editing_is_not() {
        let known: [(&[u8], &str); 9] = [
            ("hé世".as_bytes(), "hé世"),
            (b"helo\x7flo", "hello"),
            (b"\x7f\x7fa", "a"),
            (b"a\nb\x1b\rc\x1b[13;2ud", "a\nb\nc\nd"),
            (b"a\\\rb", "a\nb"),
            (b"\x1b[200~x\r\ny\rz\x1b[201~!", "x\ny\nz!"),
            (b"a\x1b[I\x1b[?62c\x1b[<35;4;5Mb", "ab"),
            (b"\x1b[104;1:1u\x1b[104;1:3u\x1b[105:73;2u", "hI"),
            (b"a\x1b[<64;4;5Mb", "ab"),
        ];
        for (keys, text) in known {
            assert_eq!(after(keys).as_deref(), Some(text), "{keys:?}");
        }
        let unknown: [&[u8]; 8] = [
            b"a\x1b[D",
            b"\x1b[A",
            b"a\t",
            b"a\x15",
            b"a\x1bb",
            b"a\x1b",
            b"a\x1b[<0;4;5M",
            "👩\u{200d}👧\x7f".as_bytes(),
        ];
        for keys in unknown {
            assert_eq!(after(keys), None, "{keys:?}");
        }
    }
}
