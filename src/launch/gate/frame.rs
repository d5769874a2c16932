//! Text on its way into a terminal: made harmless, framed, and led to the composer's start.

use crate::engines::gate_spec::PasteSpec;

const START: &[u8] = b"\x1b[200~";
const END: &[u8] = b"\x1b[201~";

/// No byte of the text can be taken for a key or end a paste: control characters other than LF and
/// TAB become the pictures that Unicode has for them, CRLF and CR become LF.
pub(super) fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    out.push('\n');
                }
            }
            '\u{7f}' => out.push('\u{2421}'),
            '\u{0}'..='\u{1f}' => {
                out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'))
            }
            // The 8-bit forms of ESC [ and its kin; they have no pictures.
            '\u{80}'..='\u{9f}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

/// A bracketed paste of a text that is made harmless.
pub(super) fn paste(text: &str) -> Vec<u8> {
    let text = harmless(text);
    [START, text.as_bytes(), END].concat()
}

/// The same for an engine that takes no bracketed paste: each line end becomes its newline key, a
/// tab (a completion key) four blanks.
pub(super) fn typed(text: &str, newline: &str) -> Vec<u8> {
    harmless(text).replace('\t', "    ").replace('\n', newline).into_bytes()
}

/// How often the key is sent that goes towards the start of a draft of so many lines.
pub(super) fn start_times(spec: &PasteSpec, lines: usize) -> usize {
    // Twice the lines: a wrapped line may count as two.
    spec.start_times.max(lines.saturating_mul(2) + 10)
}

/// The keys that reach the very start, where it takes so many.
pub(super) fn to_start(spec: &PasteSpec, times: usize) -> Vec<u8> {
    format!("{}{}", spec.start_key.repeat(times), spec.start_last).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_of_a_doc_is_a_key() {
        let doc = "a\tb\r\nc\rd\x1b[201~\u{9b}201~\x03\x04\x1a\x7f\x00 é世\n";
        let safe = harmless(doc);
        assert_eq!(safe, "a\tb\nc\nd␛[201~\u{fffd}201~␃␄␚␡␀ é世\n");
        let framed = paste(doc);
        assert_eq!(framed.iter().filter(|b| **b == 0x1b).count(), 2, "only the frame's own");
        assert!(!typed(doc, "\n").iter().any(|b| *b == b'\t' || *b == b'\r' || *b == 0x1b));
    }

    #[test]
    fn more_lines_more_keys() {
        let spec = PasteSpec {
            start_key: "\x01".to_owned(),
            start_times: 70,
            start_last: "x".to_owned(),
            ..PasteSpec::default()
        };
        assert_eq!(to_start(&spec, start_times(&spec, 3)).len(), 71);
        assert_eq!(to_start(&spec, start_times(&spec, 100)).len(), 211);
    }
}
