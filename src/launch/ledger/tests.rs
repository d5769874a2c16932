//! What each mode's undo is, and that no split of the bytes changes it.

use proptest::prelude::*;

use super::Ledger;

fn undo(bytes: &str) -> String {
    let mut ledger = Ledger::new(24);
    ledger.feed(bytes.as_bytes());
    String::from_utf8(ledger.undo()).expect("ASCII").replace('\x1b', "^")
}

#[test]
fn every_mode_has_its_undo() {
    for (set, want) in [
        ("\x1b[?25l", "^[?25h"),
        ("\x1b[?1h\x1b=", "^[?1l^>"),
        ("\x1b[?7l", "^[?7h"),
        ("\x1b[?1000;1002;1003;1006h", "^[?1000l^[?1002l^[?1003l^[?1006l"),
        ("\x1b[?1004h\x1b[?1005h\x1b[?1015h\x1b[?1007h", "^[?1004l^[?1005l^[?1007l^[?1015l"),
        ("\x1b[?1049h", "^[?1049l"),
        ("\x1b[?47h", "^[?47l"),
        ("\x1b[?2004h\x1b[?2027h\x1b[?2031h\x1b[?66h", "^[?66l^[?2004l^[?2027l^[?2031l"),
        ("\x1b[?2026h", "^[?2026l"),
        ("\x1b[>1u\x1b[>31u", "^[<2u"),
        ("\x1b[=5;1u", "^[=0;1u"),
        ("\x1b[?1049h\x1b[>1u", "^[<1u^[?1049l"),
        ("\x1b[>1u\x1b[?1049h", "^[?1049l^[<1u"),
        ("\x1b[>4;2m", "^[>4m"),
        ("\x1b[4 q", "^[0 q"),
        ("\x1b[22;0t\x1b[22;2t", "^[23;2t^[23;0t"),
        ("\x1b[3;10r", "^7^[r^8"),
        ("\x1b[?1049h\x1b[3;10r", "^[r^[?1049l"),
        ("\x0e", "\x0f"),
        ("\x1b(0\x1b)0", "^(B^)B"),
        ("\x1b[1;31m", "^[m"),
        ("\x1b]11;#112233\x07\x1b]12;red\x1b\\", "^]111^\\^]112^\\"),
        ("\x1b]10;red;blue\x07", "^]110^\\^]111^\\"),
        ("\x1b]8;;http://x\x1b\\", "^]8;;^\\"),
        ("\x1b]9;4;1;50\x07", "^]9;4;0^\\"),
        ("\x1b[4h", "^[4l"),
        ("\x1b[2h", "^[2l"),
        ("\x1b]22;wait\x1b\\", "^]22;^\\"),
        ("\x1b]0;half a tit", "^\\"),
        ("\x1b[?1049h\x1b[?25l\x1b[12;", "^\\^[?1049l^[?25h"),
    ] {
        assert_eq!(undo(set), want, "{set:?}");
    }
}

#[test]
fn a_string_that_a_kill_cuts_off_is_ended() {
    for (cut, whole) in [("\x1b]0;half", "\x07"), ("\x1bPq#0", "\x1b\\"), ("\x1b_G", "\x1b\\")] {
        let mut ledger = Ledger::new(24);
        let before = ledger.changes();
        ledger.feed(cut.as_bytes());
        assert!(ledger.changes() > before, "the keeper is told: {cut:?}");
        assert_eq!(ledger.standing_undo(), b"\x1b\\", "{cut:?}");
        ledger.feed(whole.as_bytes());
        assert_eq!(ledger.standing_undo(), b"", "{cut:?}");
    }
}

#[test]
fn an_engine_that_cleans_up_leaves_nothing_to_do() {
    for clean in [
        "\x1b]22;wait\x07\x1b]22;\x07",
        "\x1b[?25l\x1b[?25h",
        "\x1b[?1049h\x1b[?1000h\x1b[?2004h\x1b[>1u\x1b[<u\x1b[?2004l\x1b[?1000l\x1b[?1049l",
        "\x1b[>1u\x1b[>1u\x1b[<5u",
        "\x1b[>4;2m\x1b[>4;0m",
        "\x1b[2;5r\x1b[r",
        "\x1b[1;24r",
        "\x1b[31m\x1b[39m",
        "\x1b]11;red\x07\x1b]111\x07",
        "\x1b]11;?\x07\x1b[?u\x1b[c\x1b[?2026$p\x1b[?4m\x1b[6n",
        "\x1b[?1000h\x1b[?1049h\x1b[?25l\x1bc",
        "\x1b[?1h\x1b[?25l\x1b[1;5r\x1b[m\x1b(0\x1b[!p",
        "\x1b[?2004s\x1b[?2004h\x1b[?2004r",
        "\x1b[?1000l\x1b[?2004l\x1b[?1049l",
        "\x0e\x0f",
        "plain text with \u{1F469}\u{200D}\u{1F4BB} and \u{9b} in it",
    ] {
        assert_eq!(undo(clean), "", "{clean:?}");
    }
}

#[test]
fn the_standing_undo_does_not_change_with_a_frame() {
    let mut ledger = Ledger::new(24);
    ledger.feed(b"\x1b[?2004h\x1b[?2026h\x1b[?25l\x1b[31mred\x1b[m\x1b[?25h\x1b[?2026l");
    let before = ledger.standing_undo();
    ledger.feed(b"\x1b[?2026h\x1b[?25l\x1b[1mhalf a frame");
    assert_eq!(ledger.standing_undo(), before);
    assert!(Ledger::new(24).standing_undo().is_empty(), "nothing for a terminal nobody touched");
}

#[test]
fn redo_after_undo_is_the_state_before() {
    let mut ledger = Ledger::new(24);
    ledger.feed(
        b"\x1b[22;0t\x1b[>1u\x1b[?1049h\x1b[>7u\x1b[?25l\x1b[?1000;1006;2004h\x1b[>4;2m\x1b[2;9r\x1b=\x1b[5 q\x1b]11;red\x07",
    );
    let before = ledger.modes.clone();
    ledger.feed(&ledger.undo());
    assert_eq!(ledger.modes, super::Modes::default());
    let mut again = Ledger::new(24);
    again.modes = before.clone();
    ledger.feed(&again.redo());
    assert_eq!(ledger.modes, before);
}

/// Bytes that are mostly sequences the ledger knows, whole, cut or mixed up.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "\x1b[?1049h",
        "\x1b[?1049l",
        "\x1b[?25l",
        "\x1b[?2004h",
        "\x1b[>1u",
        "\x1b[<u",
        "\x1b[=3;2u",
        "\x1b[>4;2m",
        "\x1b]11;red\x07",
        "\x1b]8;;u\x1b\\",
        "\x1b[1;38;5;0m",
        "\x1b[m",
        "\x0e",
        "\x0f",
        "\x1b(0",
        "\x1b[2;5r",
        "\x1b[22;0t",
        "\x1bc",
        "\x1b[!p",
        "\x1b_x",
        "\x1b]4;1;red",
        "\x1b]11;red",
        "\x1b]8;;u",
        "\x1b\\",
        "\x1b",
        "\x18",
        "é\u{1F600}",
        "\x1b[?1000;1006s",
        "\x1b[?1000;1006r",
        "\x1b[?66h",
        "\x1b=",
        "text",
    ]);
    let piece = prop_oneof![
        4 => known.prop_map(|s| s.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Found by the fuzz target: what ends a string that was cut off also makes it valid.
#[test]
fn a_string_that_is_cut_off_is_undone_as_well() {
    for (cut, undone) in [
        ("\x1b]4;1;red", "\x1b]104"),
        ("\x1b]11;#fff", "\x1b]111"),
        ("\x1b]8;;https://example.org\x1b", "\x1b]8;;\x1b\\"),
        ("\x1b]9;4;1;50", "\x1b]9;4;0"),
    ] {
        let mut ledger = Ledger::new(24);
        let before = ledger.changes();
        ledger.feed(cut.as_bytes());
        assert_ne!(ledger.changes(), before, "the keeper has to know: {cut:?}");
        for undo in [ledger.undo(), ledger.standing_undo()] {
            let undo = String::from_utf8(undo).expect("UTF-8");
            assert!(undo.starts_with("\x1b\\") && undo.contains(undone), "{cut:?}: {undo:?}");
            let mut after = ledger.clone();
            after.feed(undo.as_bytes());
            assert_eq!(after.undo(), b"", "{cut:?}");
        }
    }
}

proptest! {
    #[test]
    fn any_split_gives_the_same_undo(bytes in output(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let mut whole = Ledger::new(24);
        whole.feed(&bytes);
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.sort_unstable();
        let mut split = Ledger::new(24);
        let mut from = 0;
        for cut in at.into_iter().chain([bytes.len()]) {
            split.feed(&bytes[from..cut]);
            from = cut;
        }
        prop_assert_eq!(split.undo(), whole.undo());
        prop_assert_eq!(split.redo(), whole.redo());
        prop_assert_eq!(split.standing_undo(), whole.standing_undo());
    }

    #[test]
    fn after_the_undo_nothing_is_left(bytes in output()) {
        let mut ledger = Ledger::new(24);
        ledger.feed(&bytes);
        let undo = ledger.undo();
        ledger.feed(&undo);
        prop_assert_eq!(ledger.undo(), Vec::<u8>::new());
    }
}
