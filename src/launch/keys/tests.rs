//! The decoder: exactness and independence of cuts as properties, meanings as a table.

use proptest::prelude::*;

use super::*;

/// All events, with the pieces of one paste put together.
fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<InputEvent> {
    let mut decoder = Decoder::new();
    let mut events: Vec<InputEvent> = Vec::new();
    let mut add = |new: Vec<InputEvent>| {
        for event in new {
            match events.last_mut() {
                Some(last) if last.input == Input::PasteText && event.input == Input::PasteText => {
                    last.bytes.extend(event.bytes);
                }
                _ => events.push(event),
            }
        }
    };
    for chunk in chunks {
        add(decoder.feed(chunk));
    }
    add(decoder.give_up());
    let rest = decoder.take_rest();
    if !rest.is_empty() {
        add(vec![InputEvent { input: Input::PasteText, bytes: rest }]);
    }
    events
}

fn one(bytes: &[u8]) -> Input {
    let events = decode([bytes]);
    assert_eq!(events.len(), 1, "{bytes:?}: {events:?}");
    events[0].input.clone()
}

fn pressed(key: Key, mods: Mods) -> Input {
    Input::Key(KeyPress { key, mods, action: KeyAction::Press })
}

#[test]
fn enter_in_all_its_forms() {
    for bytes in [
        "\r",
        "\x1b[13u",
        "\x1b[13;1u",
        "\x1b[13;1:1u",
        "\x1b[57414u",
        "\x1bOM",
        "\x1b[27;1;13~",
        "\x1b[13;65u",
        "\x1b[13;129:2u",
    ] {
        assert!(decode([bytes.as_bytes()])[0].is_enter(), "{bytes:?}");
    }
    for bytes in [
        "\n",
        "\x1b\r",
        "\x1b[13;2u",
        "\x1b[13;3u",
        "\x1b[13;5u",
        "\x1b[13;1:3u",
        "\x1b[27;2;13~",
        "\x1b[57414;2u",
        "\x1b[200~\r\x1b[201~",
    ] {
        assert!(!decode([bytes.as_bytes()]).iter().any(InputEvent::is_enter), "{bytes:?}");
    }
}

#[test]
fn keys_and_what_is_no_typing() {
    let table: [(&[u8], Input); 27] = [
        (b"a", pressed(Key::Char('a'), Mods::NONE)),
        ("世".as_bytes(), pressed(Key::Char('世'), Mods::NONE)),
        (b"\x1ba", pressed(Key::Char('a'), Mods::ALT)),
        ("\x1bé".as_bytes(), pressed(Key::Char('é'), Mods::ALT)),
        (b"\x07", pressed(Key::Char('g'), Mods::CTRL)),
        (b"\x1b[103;5u", pressed(Key::Char('g'), Mods::CTRL)),
        (b"\n", pressed(Key::Char('j'), Mods::CTRL)),
        (b"\x1b\r", pressed(Key::Enter, Mods::ALT)),
        (b"\x1b[13;2u", pressed(Key::Enter, Mods::SHIFT)),
        (b"\t", pressed(Key::Tab, Mods::NONE)),
        (b"\x1b[Z", pressed(Key::Tab, Mods::SHIFT)),
        (b"\x7f", pressed(Key::Backspace, Mods::NONE)),
        (b"\x1b", pressed(Key::Escape, Mods::NONE)),
        (b"\x1b[27u", pressed(Key::Escape, Mods::NONE)),
        (b"\x1b[A", pressed(Key::Move(Motion::Up), Mods::NONE)),
        (b"\x1bOA", pressed(Key::Move(Motion::Up), Mods::NONE)),
        (b"\x1b[1;5H", pressed(Key::Move(Motion::Home), Mods::CTRL)),
        (b"\x1b[57441;2u", pressed(Key::Modifier, Mods::SHIFT)),
        (b"\x1b[97:65;2;65u", pressed(Key::Char('A'), Mods::SHIFT)),
        (b"\x1b[?62;22c", Input::Reply),
        (b"\x1b[12;40R", Input::Reply),
        (b"\x1b[?0u", Input::Reply),
        (b"\x1b[?2026;2$y", Input::Reply),
        (b"\x1b]11;rgb:0000/0000/0000\x1b\\", Input::Reply),
        (b"\x1bP>|xterm(390)\x1b\\", Input::Reply),
        (b"\x1b[I", Input::Focus),
        (b"\x1b[<0;3;4M", Input::Mouse),
    ];
    for (bytes, input) in table {
        assert_eq!(one(bytes), input, "{bytes:?}");
    }
    assert_eq!(one(b"\x1b[M !!"), Input::Mouse);
    assert_eq!(one(b"\xff"), Input::Unknown);
}

#[test]
fn a_lone_escape_waits_and_is_given_up() {
    let mut decoder = Decoder::new();
    assert!(decoder.feed(b"\x1b").is_empty());
    assert!(decoder.is_waiting());
    let events = decoder.give_up();
    assert_eq!(events[0].bytes, b"\x1b");
    assert!(!decoder.is_waiting());
    // Two in a row, and Alt-[ on its own.
    assert_eq!(decoder.feed(b"\x1b\x1b").len(), 1);
    assert_eq!(decoder.give_up().len(), 1);
    assert!(decoder.feed(b"\x1b[").is_empty());
    assert_eq!(decoder.give_up()[0].input, pressed(Key::Char('['), Mods::ALT));
}

#[test]
fn a_paste_is_known_though_its_escape_was_given_up() {
    let mut decoder = Decoder::new();
    let mut all = Vec::new();
    for byte in b"\x1b[200~a\rb\x1b[201~\r" {
        let events = [decoder.feed(&[*byte]), decoder.give_up()].concat();
        all.extend(events);
    }
    let enters = all.iter().filter(|event| event.is_enter()).count();
    assert_eq!(enters, 1, "the one in the paste does not count");
    assert!(all.iter().any(|event| event.input == Input::PasteEnd));
}

#[test]
fn memory_is_bounded() {
    let mut decoder = Decoder::new();
    let mut events = decoder.feed(b"\x1b]52;c;");
    for _ in 0..100 {
        events.extend(decoder.feed(&[b'A'; 1000]));
        assert!(decoder.take_len() <= 4096);
    }
    events.extend(decoder.feed(b"\x07x"));
    assert!(events.iter().all(|e| e.input == Input::Reply || e.bytes == b"x"));
    events = decoder.feed(&[b"\x1b[".as_slice(), &[b'1'; 4000]].concat());
    assert_eq!(events[0].input, Input::Unknown);
}

/// Input that is dense in sequences, and in broken ones.
fn input() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        4 => any::<char>().prop_map(|c| c.to_string().into_bytes()),
        2 => prop::sample::select(vec![
            "\x1b[200~", "\x1b[201~", "\x1b", "\x1b\x1b", "\r", "\n", "\x1b[13u", "\x1b[13;1:3u",
            "\x1b[<0;3;4M", "\x1b[M abc", "\x1b]11;rgb:1/2/3\x07", "\x1b]11;x\x1b\\", "\x1bP1$r\x1b\\",
            "\x1b_G\x1b\\", "\x1bOA", "\x1b[[A", "\x1b[", "\x1b]", "\x1b[1;2", "\x1b[20", "\x1b[I",
        ]).prop_map(|s| s.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop::collection::vec(token, 0..30).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn cuts_change_nothing_and_no_byte_is_lost(
        bytes in input(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let whole = decode([bytes.as_slice()]);
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let cut = decode(at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]));
        let single = decode(bytes.chunks(1));
        prop_assert_eq!(&whole, &cut);
        prop_assert_eq!(&whole, &single);
        let together: Vec<u8> = whole.iter().flat_map(|event| event.bytes.clone()).collect();
        prop_assert_eq!(together, bytes);
    }

    #[test]
    fn pauses_lose_nothing(chunks in prop::collection::vec((input(), any::<bool>()), 0..6)) {
        let mut decoder = Decoder::new();
        let (mut sent, mut got): (Vec<u8>, Vec<InputEvent>) = Default::default();
        for (chunk, pause) in chunks {
            sent.extend(&chunk);
            got.extend(decoder.feed(&chunk));
            if pause {
                got.extend(decoder.give_up());
                prop_assert!(!decoder.is_waiting());
            }
        }
        let mut together: Vec<u8> = got.into_iter().flat_map(|event| event.bytes).collect();
        together.extend(decoder.take_rest());
        prop_assert_eq!(together, sent);
    }
}
