//! The echo engine's own interface: a composer on the last lines of the screen, which answers each
//! message with a summary. Small on purpose; it has what the gate needs of an engine: a prompt, a
//! bracketed paste, a key to the start, slash commands, an end that leaves the terminal as it was.

use std::io::{Read, Write};

use super::echo::{EchoArgs, echo_main};
use crate::launch::keys::{Decoder, Input, InputEvent, Key};
use crate::launch::terminal::Terminal;

/// What the composer's row begins with; the recipe in `engines.toml` knows it too.
const PROMPT: &str = "❯ ";
/// A paste of more lines is shown folded, in lines.
const FOLDED: usize = 5;

/// Runs the interface on the process's terminal until Ctrl-D or `/quit`.
///
/// # Errors
/// When the terminal is gone.
pub(super) fn run(args: &EchoArgs, first: Option<String>) -> std::io::Result<()> {
    let mut terminal = Terminal::open()?;
    terminal.raw()?;
    let mut out = std::io::stdout();
    write!(out, "\x1b[?2004hecho: /help for help, Ctrl-D to leave\r\n")?;
    if let Some(message) = first {
        answer(&mut out, args, &message)?;
    }
    let mut composer = Composer::default();
    composer.paint(&mut out)?;
    let mut decoder = Decoder::new();
    let mut buf = [0; 4096];
    let mut stdin = std::io::stdin();
    'keys: loop {
        let n = stdin.read(&mut buf)?;
        let events = if n == 0 { decoder.give_up() } else { decoder.feed(&buf[..n]) };
        for event in events {
            match composer.take(&event) {
                Step::Nothing => {}
                Step::Leave => break 'keys,
                Step::Submit(text) => {
                    composer.clear(&mut out)?;
                    match text.trim() {
                        "/quit" => break 'keys,
                        "/help" => {
                            write!(out, "Type a message and press Enter. /quit leaves.\r\n")?
                        }
                        _ => answer(&mut out, args, &text)?,
                    }
                }
            }
        }
        composer.paint(&mut out)?;
        if n == 0 {
            break;
        }
    }
    composer.clear(&mut out)?;
    write!(out, "\x1b[?2004l")?;
    out.flush()
}

fn answer(out: &mut impl Write, args: &EchoArgs, message: &str) -> std::io::Result<()> {
    let mut summary = Vec::new();
    echo_main(args, &mut message.as_bytes(), &mut summary)?;
    let text = crate::ui::printable_lines(&String::from_utf8_lossy(&summary));
    write!(out, "{}\r\n", text.trim_end().replace('\n', "\r\n"))
}

/// What a key leads to.
enum Step {
    Nothing,
    Submit(String),
    Leave,
}

/// The text, the cursor as a byte place in it, and the rows that are painted.
#[derive(Default)]
struct Composer {
    text: String,
    at: usize,
    painted: usize,
    paste: Vec<u8>,
}

impl Composer {
    fn take(&mut self, event: &InputEvent) -> Step {
        match event.input {
            Input::PasteStart => self.paste.clear(),
            Input::PasteText => self.paste.extend_from_slice(&event.bytes),
            Input::PasteEnd => {
                let pasted = String::from_utf8_lossy(&self.paste).replace('\r', "\n");
                self.insert(&pasted);
            }
            Input::Key(_) if event.is_enter() => {
                self.at = 0;
                let text = std::mem::take(&mut self.text);
                return if text.trim().is_empty() { Step::Nothing } else { Step::Submit(text) };
            }
            Input::Key(_) if event.is_ctrl('d') && self.text.is_empty() => return Step::Leave,
            Input::Key(_) if event.is_ctrl('c') => {
                if self.text.is_empty() {
                    return Step::Leave;
                }
                (self.text, self.at) = (String::new(), 0);
            }
            Input::Key(_) if event.is_ctrl('a') => self.at = 0,
            Input::Key(_) if event.is_ctrl('e') => self.at = self.text.len(),
            Input::Key(_) if event.is_ctrl('j') => self.insert("\n"),
            Input::Key(_) => match event.pressed().map(|press| (press.key, press.mods.is_none())) {
                Some((Key::Backspace, _)) => {
                    if let Some(last) = self.text[..self.at].chars().next_back() {
                        self.at -= last.len_utf8();
                        self.text.remove(self.at);
                    }
                }
                Some((Key::Enter, false)) => self.insert("\n"),
                Some((Key::Char(c), true)) => self.insert(c.encode_utf8(&mut [0; 4])),
                _ => {}
            },
            Input::Reply | Input::Focus | Input::Mouse | Input::Unknown => {}
        }
        Step::Nothing
    }

    fn insert(&mut self, text: &str) {
        self.text.insert_str(self.at, text);
        self.at += text.len();
    }

    /// Takes the painted rows off the screen.
    fn clear(&mut self, out: &mut impl Write) -> std::io::Result<()> {
        if self.painted > 1 {
            write!(out, "\x1b[{}A", self.painted - 1)?;
        }
        self.painted = 0;
        write!(out, "\r\x1b[J")
    }

    fn paint(&mut self, out: &mut impl Write) -> std::io::Result<()> {
        self.clear(out)?;
        let lines: Vec<&str> = self.text.split('\n').collect();
        let shown = if lines.len() > FOLDED {
            let last = lines.last().copied().unwrap_or_default();
            format!("[{} lines] {last}", lines.len())
        } else {
            lines.join("\r\n  ")
        };
        let shown = crate::ui::printable_lines(&shown.replace("\r\n", "\n")).replace('\n', "\r\n");
        write!(out, "{PROMPT}{shown}")?;
        self.painted = shown.matches("\r\n").count() + 1;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_make_the_text_and_enter_submits_it() {
        let (mut composer, mut decoder) = (Composer::default(), Decoder::new());
        let mut submitted = Vec::new();
        let typed = "wörld\x01hello \x1b[200~a\rb\x1b[201~\x05!\x7f\r";
        for event in decoder.feed(typed.as_bytes()) {
            if let Step::Submit(text) = composer.take(&event) {
                submitted.push(text);
            }
        }
        assert_eq!(submitted, ["hello a\nbwörld"]);
    }
}
