//! The screen against its measure, the `vt100` crate, and wherever the output is cut.

use proptest::prelude::*;

use super::*;

/// The same picture as `vt100` has it.
fn measure(parser: &vt100::Parser) -> Vec<Row> {
    let screen = parser.screen();
    let (rows, cols) = screen.size();
    let row = |row| {
        let mut out = Row::default();
        out.wraps = screen.row_wrapped(row);
        for col in 0..cols.get() {
            let cell = screen.cell(row, col).expect("inside");
            if !cell.is_wide_continuation() {
                let text = if cell.has_contents() { cell.contents() } else { " " };
                out.push(text, cell.dim(), cell.inverse());
            }
        }
        out.trim_end();
        out
    };
    (0..rows.get()).map(row).collect()
}

fn vt(rows: u16, cols: u16) -> vt100::Parser {
    let size = |n| std::num::NonZeroU16::new(n).expect("not 0");
    vt100::Parser::new(size(rows), size(cols), 0)
}

#[test]
fn modes_and_marks_are_seen_wherever_the_output_is_cut() {
    let output = b"\x1b[?2004h\x1b[>7u\x1b]7501;state=idle:app=x\x1b\\ \xe4\xb8\x96 ok";
    for cut in 0..output.len() {
        let mut screen = EngineScreen::new(5, 20);
        screen.feed(&output[..cut]);
        screen.feed(&output[cut..]);
        assert!(screen.takes_paste());
        assert_eq!(screen.kitty_flags(), 7);
        assert_eq!(screen.state_word(), Some("idle"));
        assert_eq!(screen.snapshot().rows[0].text(), " 世 ok");
    }
}

#[test]
fn modes_that_are_taken_back_are_gone() {
    let mut screen = EngineScreen::new(0, 0);
    screen.feed(b"\x1b[?2004h\x1b[>1u\x1b[>5u\x1b[<u\x1b[?2004l\x1b]7501;state=blocked:kind=x\x07");
    assert!(!screen.takes_paste());
    assert_eq!(screen.kitty_flags(), 1);
    screen.feed(b"\x1b[=8;2u");
    assert_eq!(screen.kitty_flags(), 9);
    screen.feed(b"\x1b[<9u");
    assert_eq!(screen.kitty_flags(), 0);
    assert_eq!(screen.state_word(), Some("blocked"));
}

#[test]
fn an_emoji_that_grows_at_the_edge_moves_to_the_next_line() {
    let mut screen = EngineScreen::new(2, 4);
    screen.feed("a\r\n123\u{2764}\u{fe0f}x".as_bytes());
    let rows: Vec<String> =
        screen.snapshot().rows.iter().map(|row| row.text().to_owned()).collect();
    assert_eq!(rows, ["123", "\u{2764}\u{fe0f}x"]);
}

#[test]
fn clusters_are_forgotten_with_their_cells() {
    let mut screen = EngineScreen::new(3, 10);
    for _ in 0..20_000 {
        screen.feed("e\u{301}\r".as_bytes());
    }
    screen.feed("\na\u{308}".as_bytes());
    assert_eq!(screen.snapshot().rows[0].text(), "e\u{301}");
    assert_eq!(screen.snapshot().rows[1].text(), "a\u{308}");
    assert!(screen.term.clusters() < 5_000);
}

/// Output that is dense in sequences, with broken ones.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![3 => 0u16..12, 1 => Just(1000u16)].prop_map(|n| n.to_string());
    let csi = (
        prop::collection::vec(number, 0..3),
        prop::sample::select(b"@ABCDEFGHJKLMPSTX`bdfmr".to_vec()),
    )
        .prop_map(|(numbers, last)| {
            format!("\x1b[{}{}", numbers.join(";"), char::from(last)).into_bytes()
        });
    let known = prop::sample::select(vec![
        "\x1b[?1049h",
        "\x1b[?1049l",
        "\x1b[?47h",
        "\x1b[?47l",
        "\x1b[?6h",
        "\x1b[?6l",
        "\x1b7",
        "\x1b8",
        "\x1bM",
        "\x1bc",
        "\x1b[2J",
        "\x1b[H",
        "\x1b[K",
        "\x1b[?2004h",
        "\x1b[?25;2004l",
        "\x1b[2m",
        "\x1b[7m",
        "\x1b[22;27m",
        "\x1b[38;5;2m",
        "\x1b[38;2;1;2;300;7m",
        "\x1b[38:2:1:2:3m",
        "\x1b[48:5:900;2m",
        "\x1b[4:3m",
        "\x1b[38;7m",
        "\x1b[?2J",
        "\x1b[?K",
        "\x1b[3J",
        "\x1b[ q",
        "\x1b]0;title\x07",
        "\x1b]7501;state=busy\x1b\\",
        "\x1b_Gi=1\x1b\\",
        "\x1bP1;2q~\x1b\\",
        "\x1b(0",
        "\x1b[?1;2\x18",
        "\x1b[3\n4m",
        "\x1b[1;2",
        "\x1b",
        "\x1b[",
        "\x1b]0;",
        "\r\n",
        "\n",
        "\r",
        "\x08",
        "\t",
        "\x0c",
        "\x18",
        "世",
        "界世",
        "e\u{301}",
        "\u{301}",
        "👩\u{200d}💻",
        "\u{ad}",
        "│",
        "\u{fffd}",
        "\u{85}",
        "é",
    ]);
    let piece = prop_oneof![
        6 => "[ -~]{1,14}".prop_map(String::into_bytes),
        5 => csi,
        6 => known.prop_map(|s| s.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..5),
        1 => any::<char>().prop_map(|c| c.to_string().into_bytes()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn it_shows_what_vt100_shows(
        pieces in prop::collection::vec((output(), 1u16..12, 1u16..30), 1..4),
    ) {
        let mut screen = EngineScreen::new(6, 12);
        let mut vt = vt(6, 12);
        for (bytes, rows, cols) in pieces {
            screen.feed(&bytes);
            // It falls over some of what it is given, in one-column windows above all.
            let met = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| vt.process(&bytes)));
            prop_assume!(met.is_ok());
            prop_assert_eq!(screen.snapshot().rows, measure(&vt));
            prop_assert_eq!(screen.takes_paste(), vt.screen().bracketed_paste());
            screen.resize(rows, cols);
            let size = |n| std::num::NonZeroU16::new(n).expect("not 0");
            let met = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| vt.set_size(size(rows), size(cols))));
            prop_assume!(met.is_ok());
            prop_assert_eq!(screen.snapshot().rows, measure(&vt));
        }
    }

    #[test]
    fn cuts_change_nothing(bytes in output(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let (mut whole, mut cut, mut single) =
            (EngineScreen::new(6, 12), EngineScreen::new(6, 12), EngineScreen::new(6, 12));
        whole.feed(&bytes);
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        at.windows(2).for_each(|pair| cut.feed(&bytes[pair[0]..pair[1]]));
        bytes.chunks(1).for_each(|byte| single.feed(byte));
        for other in [&cut, &single] {
            prop_assert_eq!(other.snapshot(), whole.snapshot());
            prop_assert_eq!(other.takes_paste(), whole.takes_paste());
            prop_assert_eq!(other.kitty_flags(), whole.kitty_flags());
        }
    }

    #[test]
    fn no_output_brings_it_down(
        chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..12),
        sizes in prop::collection::vec((0u16..40, 0u16..90), 0..4),
    ) {
        let mut screen = EngineScreen::new(10, 30);
        let mut sizes = sizes.into_iter();
        for chunk in chunks {
            screen.feed(&chunk);
            if let Some((rows, cols)) = sizes.next() {
                screen.resize(rows, cols);
            }
            screen.snapshot();
        }
    }
}

#[test]
fn a_window_of_any_size_costs_little() {
    let mut screen = EngineScreen::new(u16::MAX, u16::MAX);
    screen.feed(b"\x1b[1999;1Hhere");
    screen.resize(u16::MAX, u16::MAX);
    assert_eq!(screen.snapshot().rows.len(), usize::from(super::MOST));
}
