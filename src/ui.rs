//! The only place that prints. stdout carries data; status, warnings, hints and errors go to
//! stderr. Foreign text (file names, headings, engine output that we quote) is made harmless first.

use std::fmt::Write as _;
use std::io::{self, BufRead, IsTerminal, Write};

use crate::error::Failure;

/// Says things to the person. Cheap to copy around by reference; holds no lock.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ui {
    /// `-q`: no status lines. Warnings and errors stay.
    pub quiet: bool,
}

impl Ui {
    /// Data for stdout, exactly as given. A closed pipe is a quiet end, not an error.
    pub fn data(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// How words stand out in what goes to stdout.
    pub fn marks(&self) -> Marks {
        let stdout = io::stdout();
        match anstream::AutoStream::choice(&stdout) {
            anstream::ColorChoice::Never if stdout.is_terminal() => Marks::Signs,
            anstream::ColorChoice::Never => Marks::None,
            _ => Marks::Styles,
        }
    }

    /// A status line on stderr.
    pub fn status(&self, line: &str) {
        if !self.quiet {
            self.stderr_line("", line);
        }
    }

    /// A warning on stderr.
    pub fn warning(&self, line: &str) {
        tracing::warn!("{line}");
        self.stderr_line("warning: ", line);
    }

    /// A warning with words that are not ours, such as an engine's. They may hold anything, so the
    /// log learns only that there were some.
    pub fn quoted_warning(&self, who: &str, words: &str) {
        tracing::warn!(who, bytes = words.len(), "a warning in the words of another");
        self.stderr_line("warning: ", &format!("{who}: {words}"));
    }

    /// A hint on stderr.
    pub fn hint(&self, line: &str) {
        self.stderr_line("hint: ", line);
    }

    /// An error with its hints.
    pub fn failure(&self, failure: &Failure) {
        let (code, kind) = (failure.kind.code(), failure.kind.word());
        tracing::error!(code, kind, "{}", failure.for_log());
        self.stderr_line("error: ", &failure.message);
        for hint in &failure.hints {
            self.stderr_line("hint: ", hint);
        }
    }

    /// A question that the person has to answer, with what they have to read before; also with `-q`.
    /// The question stays on its line.
    pub fn ask(&self, text: &str, question: &str) {
        let mut out = anstream::stderr().lock();
        let _ =
            write!(out, "{}\n{}", escape(text, &['\n', '\t'], is_unprintable), one_line(question));
        let _ = out.flush();
    }

    /// The same for a yes; all else, and no answer, is none.
    pub fn said_yes(&self, text: &str, question: &str) -> bool {
        self.ask(text, question);
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer);
        read.is_ok() && ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
    }

    fn stderr_line(&self, prefix: &str, line: &str) {
        let style = match prefix {
            "error: " => anstyle::AnsiColor::Red.on_default().bold(),
            "warning: " => anstyle::AnsiColor::Yellow.on_default().bold(),
            "hint: " => anstyle::AnsiColor::Cyan.on_default(),
            _ => anstyle::Style::new(),
        };
        let mut out = anstream::stderr().lock();
        // A closed stderr must not end a run: there is nobody left to tell.
        let _ = writeln!(out, "{style}{prefix}{style:#}{}", printable_lines(line));
    }
}

/// `text` on one line: control characters, line and paragraph separators and bidi controls are
/// shown as escapes, so that a file name or heading can't forge a line or move the cursor.
pub fn one_line(text: &str) -> String {
    escape(text, &[], is_unprintable)
}

/// `text` on one line, with escapes also for the characters that have no picture: for a name that a
/// person decides on.
pub fn visible(text: &str) -> String {
    escape(text, &[], |c| is_unprintable(c) || is_invisible(c))
}

/// `text` with its line breaks kept and every other control character escaped.
pub fn printable_lines(text: &str) -> String {
    escape(text, &['\n'], is_unprintable)
}

fn escape(text: &str, keep: &[char], is_hidden: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if !keep.contains(&c) && is_hidden(c) {
            match c {
                '\n' => shown.push_str("\\n"),
                '\r' => shown.push_str("\\r"),
                '\t' => shown.push_str("\\t"),
                _ => {
                    let _ = write!(shown, "\\u{{{:x}}}", c as u32);
                }
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

/// How words stand out in a line of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marks {
    /// Bold and coloured: a terminal that has styles, and a person who wants them.
    Styles,
    /// Between « and »: a terminal without colours.
    Signs,
    /// Not at all: data for a program.
    None,
}

impl Marks {
    /// `text` as it stands out.
    pub fn on(self, text: &str) -> String {
        match self {
            Marks::Styles => {
                let style = anstyle::AnsiColor::Yellow.on_default().bold();
                format!("{style}{text}{style:#}")
            }
            Marks::Signs => format!("«{text}»"),
            Marks::None => text.to_owned(),
        }
    }
}

/// Control characters, separators that some programs take for a line break, and bidi overrides.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Characters without a picture: two names that differ in them alone look the same. The joiners of
/// Indic scripts and emoji are left alone.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2060}'..='\u{2064}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_on_one_line() {
        assert_eq!(one_line("a\nb\u{2028}\x1b[2J"), "a\\nb\\u{2028}\\u{1b}[2J");
        assert_eq!(printable_lines("a\nb\tc"), "a\nb\\tc");
        assert_eq!(visible("a\u{200b}.md\u{feff}\n"), "a\\u{200b}.md\\u{feff}\\n");
        assert_eq!(visible("\u{1f469}\u{200d}\u{1f467}"), "\u{1f469}\u{200d}\u{1f467}");
    }
}
