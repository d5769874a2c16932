//! Expressions, their translation, and the quoting of both forms.

use std::process::Command;

use jiff::civil::DateTime;
use proptest::prelude::*;

use super::cron::Cron;
use super::{Job, calendar::on_calendar, crontab, systemd};

fn cron(text: &str) -> Cron {
    Cron::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"))
}

fn job(words: &[&str]) -> Job {
    Job {
        unit: "omni-run-x".into(),
        description: "100% of it".into(),
        folder: Some("/a b/50%".into()),
        env: vec![("HOME", "/home/ü $x".into())],
        words: words.iter().map(|word| (*word).to_owned()).collect(),
    }
}

#[test]
fn expressions_are_written_in_numbers() {
    for (text, written) in [
        ("0 7 * * mon-FRI", "0 7 * * 1-5"),
        ("*/15 0-6/2,12 1,15 Jan,jul *", "*/15 0-6/2,12 1,15 1,7 *"),
        ("0 0 * * fri-sun", "0 0 * * 5-7"),
        ("0 0 * * sun", "0 0 * * 0"),
        ("0 0 * * 7", "0 0 * * 7"),
        ("  5   4  * *  * ", "5 4 * * *"),
        ("@daily", "0 0 * * *"),
        ("@Weekly", "0 0 * * 0"),
        ("0 0 29 2 mon", "0 0 29 2 1"),
    ] {
        assert_eq!(cron(text).to_string(), written, "{text}");
    }
}

#[test]
fn mistakes_say_which_field_and_what_is_right() {
    for (text, says) in [
        ("", "5 fields"),
        ("0 7 * *", "has 4"),
        ("0 0 7 * * *", "no seconds"),
        ("60 * * * *", "`60` is no minute (0 to 59)"),
        ("* 24 * * *", "`24` is no hour"),
        ("* * 0 * *", "`0` is no day (1 to 31)"),
        ("* * * 13 *", "`13` is no month"),
        ("* * * * 8", "`8` is no weekday"),
        ("* * * * monday", "`monday` is no weekday (0 to 7, or sun … sat)"),
        ("*/0 * * * *", "`0` is no step"),
        ("*/90 * * * *", "`90` is no step"),
        ("5/10 * * * *", "a step needs a range, such as 5-59/10"),
        ("30-10 * * * *", "runs backwards"),
        ("* * * * sat-tue", "runs backwards"),
        ("1,,2 * * * *", "`` is no minute"),
        ("+1 * * * *", "`+1` is no minute"),
        ("* * L * *", "`L` is no day"),
        ("* * * * 5#2", "`5#2` is no weekday"),
        ("0 0 31 4,6 *", "no such day"),
        ("0 0 30 2 *", "no such day"),
        ("@reboot", "no time"),
        ("@fortnightly", "@weekly"),
    ] {
        let why = Cron::parse(text).expect_err(text);
        assert!(why.contains(says), "{text}: {why}");
    }
}

#[test]
fn the_next_run_is_found() {
    let at = |text: &str| text.parse::<DateTime>().expect("time");
    for (text, now, next) in [
        ("0 7 * * 1-5", "2026-11-28T08:00", "2026-11-30T07:00"),
        ("0 7 * * 1-5", "2026-11-30T07:00", "2026-12-01T07:00"),
        ("*/20 * * * *", "2026-12-31T23:41", "2027-01-01T00:00"),
        // Either the 13th or a Friday.
        ("0 0 13 * 5", "2026-11-09T00:00", "2026-11-13T00:00"),
        ("0 0 13 * 5", "2026-11-13T00:00", "2026-11-20T00:00"),
        // A `*` in front: both have to fit, here a Monday with an odd date.
        ("0 0 */2 * 1", "2026-11-02T12:00", "2026-11-09T00:00"),
        ("0 0 29 2 *", "2097-01-01T00:00", "2104-02-29T00:00"),
    ] {
        assert_eq!(cron(text).next_after(at(now)), Some(at(next)), "{text}");
    }
}

#[test]
fn on_calendar_says_the_same() {
    for (text, lines) in [
        ("0 7 * * 1-5", &["Mon..Fri *-*-* 07:00:00"][..]),
        ("*/15 * * * *", &["*-*-* *:00/15:00"]),
        ("5,10 8-18 * * *", &["*-*-* 08..18:05,10:00"]),
        ("0 0 1,15 * *", &["*-*-01,15 00:00:00"]),
        ("0 0 * * 0,6", &["Sat,Sun *-*-* 00:00:00"]),
        ("0 0 * * 5-7", &["Fri..Sun *-*-* 00:00:00"]),
        ("0 12 13 * 5", &["Fri *-*-* 12:00:00", "*-*-13 12:00:00"]),
        ("0 12 */2 * 1", &["Mon *-*-01/2 12:00:00"]),
        ("0 0 1 1,4,7,10 *", &["*-01/3-01 00:00:00"]),
        ("10-40/10 * * * *", &["*-*-* *:10,20,30,40:00"]),
    ] {
        assert_eq!(on_calendar(&cron(text)), lines, "{text}");
    }
}

/// What systemd makes of the lines, where it is installed: the same times as ours.
#[test]
fn systemd_runs_at_the_same_times() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        return;
    }
    let base = "2026-11-28T08:03".parse::<DateTime>().expect("time");
    for text in [
        "0 7 * * 1-5",
        "*/15 * * * *",
        "*/7 1-23/5 * * *",
        "0 0 1,15 * *",
        "0 12 */2 * 1",
        "3 4 29 2 *",
        "0 0 * 2,3 0",
        "59 23 31 12 *",
        "10-40/10 22-23 * jan-mar tue,thu",
    ] {
        let cron = cron(text);
        let lines = on_calendar(&cron);
        assert_eq!(lines.len(), 1, "{text}");
        let out = Command::new("systemd-analyze")
            .args(["calendar", "--iterations=5", "--base-time=2026-11-28 08:03:00 UTC"])
            .arg(&lines[0])
            .env("TZ", "UTC")
            .env("LC_ALL", "C")
            .output()
            .expect("systemd-analyze");
        let said = String::from_utf8_lossy(&out.stdout);
        let theirs: Vec<&str> = said
            .lines()
            .filter(|line| line.contains("Next elapse:") || line.contains("Iter. #"))
            .filter_map(|line| line.split_once(": ").map(|(_, time)| time.trim()))
            .collect();
        let mut ours = Vec::new();
        let mut now = base;
        for _ in 0..5 {
            now = cron.next_after(now).expect("next");
            ours.push(now.strftime("%a %Y-%m-%d %H:%M:00 UTC").to_string());
        }
        assert_eq!(theirs, ours, "{text}: {}\n{said}", lines[0]);
    }
}

#[test]
fn a_crontab_line_is_quoted_for_cron_and_for_the_shell() {
    let words = ["/bin/omni-run", "it's 50% of $HOME `x` \\", "plain", "", "%"];
    assert_eq!(
        crontab::line(&job(&words), &cron("@daily")),
        "0 0 * * * cd '/a b/50'\\% && HOME='/home/ü $x' /bin/omni-run \
         'it'\\''s 50'\\%' of $HOME `x` \\' plain '' \\%"
    );
}

/// What cron does to a command before the shell gets it (`\%` is `%`, a bare `%` ends it).
fn by_cron(command: &str) -> String {
    let mut out = String::new();
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&'%') => out.push(chars.next().expect("peeked")),
            '%' => break,
            c => out.push(c),
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_shell_gets_every_word_as_it_is(words in prop::collection::vec("[ -~äß]{0,12}", 1..5)) {
        let mut all = vec!["/usr/bin/printf", "%s|"];
        all.extend(words.iter().map(String::as_str));
        let job = Job { folder: None, ..job(&all) };
        let expected: String = words.iter().map(|word| format!("{word}|")).collect();
        // By way of cron, and pasted into a shell.
        for command in [by_cron(&crontab::command(&job)), crontab::command(&job)] {
            let out = Command::new("/bin/sh").arg("-c").arg(&command).output().expect("sh");
            prop_assert_eq!(String::from_utf8_lossy(&out.stdout), expected.as_str(), "{}", command);
        }
    }

    #[test]
    fn any_field_gives_times_that_fit_it(
        minute in 0u8..60, step in 1u8..30, hour in 0u8..24, weekday in 0u8..8
    ) {
        let text = format!("{minute}-59/{step} {hour} * * {weekday}");
        let cron = cron(&text);
        let now = DateTime::constant(2026, 1, 1, 0, 0, 0, 0);
        let next = cron.next_after(now).expect("next");
        prop_assert_eq!(next.hour() as u8, hour);
        prop_assert_eq!((next.minute() as u8 - minute) % step, 0);
        prop_assert_eq!(next.weekday().to_sunday_zero_offset() as u8, weekday % 7);
    }
}

#[test]
fn units_are_quoted_for_systemd() {
    let service = systemd::service(&job(&["/bin/omni-run", "it's \"50%\" of $HOME \\", "plain"]));
    assert_eq!(
        service,
        "[Unit]\nDescription=100%% of it\n\n[Service]\nType=oneshot\nWorkingDirectory=/a b/50%%\n\
         Environment=\"HOME=/home/ü $x\"\n\
         ExecStart=/bin/omni-run \"it's \\\"50%%\\\" of $$HOME \\\\\" plain\n"
    );
    let timer = systemd::timer(&job(&[]), &cron("0 12 13 * 5"));
    assert!(
        timer.contains("OnCalendar=Fri *-*-* 12:00:00\nOnCalendar=*-*-13 12:00:00\n"),
        "{timer}"
    );
}

#[test]
fn a_line_break_has_no_place_in_either() {
    assert_eq!(job(&["a", "b\nc"]).unprintable(), Some("b\nc"));
    assert_eq!(job(&["a b"]).unprintable(), None);
}
