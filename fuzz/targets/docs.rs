//! Docs of any bytes: what is text is told the same from the head as from the whole, bad places lie in the
//! file, and a description is one short, harmless line.

#![no_main]

use libfuzzer_sys::fuzz_target;
use omni_run::context::describe::{MAX_CHARS, describe};
use omni_run::context::sniff::{Decoded, decode, decode_head};

fuzz_target!(|input: (Vec<u8>, u16)| {
    let (bytes, cut) = input;
    let cut = usize::from(cut).min(bytes.len());
    let head = decode_head(bytes[..cut].to_vec(), false);
    match decode(bytes.clone()) {
        Decoded::Text { text, bad: None } => {
            let head = head.expect("the head of a text");
            assert!(text.starts_with(&head));
            for extension in [None, Some("md"), Some("toml")] {
                let line = describe(&text, extension);
                assert!(line.chars().count() <= MAX_CHARS, "{line:?}");
                assert!(!line.chars().any(char::is_control), "{line:?}");
            }
        }
        Decoded::Text { text, bad: Some(bad) } => {
            assert!(bad.first < bytes.len() && bad.count > 0);
            assert!(text.contains(char::REPLACEMENT_CHARACTER));
        }
        Decoded::NotText(why) => assert!(!why.is_empty()),
    }
});
