//! The input decoder under any bytes: however they are cut the events are the same, and put together
//! they are the input; with pauses in between nothing is lost.

#![no_main]

use libfuzzer_sys::fuzz_target;
use omni_run::launch::keys::{Decoder, Input, InputEvent};

/// Adds events, the pieces of one paste as one.
fn add(events: &mut Vec<InputEvent>, new: Vec<InputEvent>) {
    for event in new {
        match events.last_mut() {
            Some(last) if last.input == Input::PasteText && event.input == Input::PasteText => {
                last.bytes.extend(event.bytes);
            }
            _ => events.push(event),
        }
    }
}

fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<InputEvent> {
    let (mut decoder, mut events) = (Decoder::new(), Vec::new());
    for piece in pieces {
        add(&mut events, decoder.feed(piece));
    }
    add(&mut events, decoder.give_up());
    let rest = decoder.take_rest();
    if !rest.is_empty() {
        add(&mut events, vec![InputEvent { input: Input::PasteText, bytes: rest }]);
    }
    events
}

fn bytes_of(events: &[InputEvent]) -> Vec<u8> {
    events.iter().flat_map(|event| event.bytes.clone()).collect()
}

fuzz_target!(|input: (Vec<u8>, u8)| {
    let (bytes, size) = input;
    let whole = decode([bytes.as_slice()].into_iter());
    assert_eq!(bytes_of(&whole), bytes);
    assert_eq!(decode(bytes.chunks(1)), whole);
    let size = usize::from(size).max(1);
    assert_eq!(decode(bytes.chunks(size)), whole);

    let (mut decoder, mut events) = (Decoder::new(), Vec::new());
    for piece in bytes.chunks(size) {
        events.extend(decoder.feed(piece));
        events.extend(decoder.give_up());
        assert!(!decoder.is_waiting());
    }
    let together = [bytes_of(&events), decoder.take_rest()].concat();
    assert_eq!(together, bytes);
});
