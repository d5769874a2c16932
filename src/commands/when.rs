//! Times as people give them in options: `7d`, a date, a moment. Pure but for `now`, which comes in.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::cli::WhichSessions;
use crate::error::{ExitKind, Failure};
use crate::session::UnixMs;
use crate::ui::one_line;

/// A given time: a moment, or a day with its two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct When {
    /// Its beginning.
    pub(super) from: UnixMs,
    /// The first moment after it.
    pub(super) to: UnixMs,
}

/// Milliseconds of the units; no unit is shorter than a second.
const UNITS: [(char, i64); 5] =
    [('s', 1_000), ('m', 60_000), ('h', 3_600_000), ('d', 86_400_000), ('w', 7 * 86_400_000)];

/// What `option` was given, as a time. A number with a unit counts back from `now`; a date and a time
/// without a zone are `zone`'s.
pub(super) fn parse(
    option: &str,
    text: &str,
    now: UnixMs,
    zone: &TimeZone,
) -> Result<When, Failure> {
    let text = text.trim();
    let moment = |ms: UnixMs| When { from: ms, to: ms.saturating_add(1) };
    let found = back(text)
        .map(|ms| moment(now.saturating_sub(ms)))
        .or_else(|| day(text, zone))
        .or_else(|| Some(moment(instant(text, zone)?.as_millisecond())));
    found.ok_or_else(|| {
        Failure::new(ExitKind::Usage, format!("{option}: `{}` is not a time", one_line(text)))
            .hint("give 30m, 12h, 7d, 2w, 2026-01-31, 2026-01-31T09:00 or 2026-01-31T09:00:00Z")
    })
}

/// The moment of a `--since`, on this machine's clock.
pub(super) fn since(text: &str, now: UnixMs) -> Result<UnixMs, Failure> {
    parse("--since", text, now, &TimeZone::system()).map(|when| when.from)
}

/// The window of `--since` and `--until`: from the first moment to the one behind the last.
pub(super) fn window(
    which: &WhichSessions,
    now: UnixMs,
) -> Result<(Option<UnixMs>, Option<UnixMs>), Failure> {
    let until = |text: &str| parse("--until", text, now, &TimeZone::system());
    let from = which.since.as_deref().map(|text| since(text, now)).transpose()?;
    let to = which.until.as_deref().map(until).transpose()?.map(|when| when.to);
    match (from, to) {
        (Some(from), Some(to)) if from >= to => {
            Err(Failure::new(ExitKind::Usage, "--since is behind --until")
                .hint("--since is the older of the two"))
        }
        window => Ok(window),
    }
}

/// A moment as the person's clock showed it, to the minute.
pub(super) fn local_minute(ms: UnixMs) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(moment) => {
            moment.to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
        }
        Err(_) => ms.to_string(),
    }
}

fn back(text: &str) -> Option<i64> {
    let unit = text.chars().last()?;
    let (_, length) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    let number = &text[..text.len() - 1];
    // `parse` takes a sign.
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    let number: i64 = number.parse().ok().filter(|_| digits)?;
    number.checked_mul(length)
}

fn day(text: &str, zone: &TimeZone) -> Option<When> {
    if text.len() != "2026-01-31".len() {
        return None;
    }
    let date: Date = text.parse().ok()?;
    let midnight =
        |date: Date| Some(date.to_zoned_datetime(zone.clone()).ok()?.timestamp().as_millisecond());
    Some(When { from: midnight(date)?, to: midnight(date.checked_add(1.day()).ok()?)? })
}

fn instant(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    let local: DateTime = text.parse().ok()?;
    Some(local.to_zoned_datetime(zone.clone()).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixMs = 1_796_000_000_000;

    fn zone() -> TimeZone {
        TimeZone::fixed(jiff::tz::offset(2))
    }

    fn from(text: &str) -> UnixMs {
        parse("--since", text, NOW, &zone()).unwrap_or_else(|e| panic!("{text}: {e}")).from
    }

    #[test]
    fn times_are_taken_as_people_write_them() {
        let day = 86_400_000;
        assert_eq!((from("7d"), from("1w")), (NOW - 7 * day, NOW - 7 * day));
        assert_eq!((from("90s"), from("30m"), from("0h")), (NOW - 90_000, NOW - 1_800_000, NOW));
        let midnight = 1_769_810_400_000; // 2026-01-30T22:00Z
        let whole = parse("--until", "2026-01-31", NOW, &zone()).expect("date");
        assert_eq!(whole, When { from: midnight, to: midnight + day });
        for same in ["2026-01-31T00:00", "2026-01-31 00:00:00", "2026-01-30T22:00:00Z"] {
            assert_eq!(from(same), midnight, "{same}");
        }
        assert_eq!(from("2026-01-31T00:00:00+02:00"), midnight);
    }

    #[test]
    fn what_is_no_time_is_named_with_its_option() {
        for text in
            ["", "d", "7", "-7d", "+7d", "7y", "2026-02-30", "soon", "99999999999999999d", "é"]
        {
            let failure = parse("--since", text, NOW, &zone()).expect_err(text);
            assert_eq!(failure.kind, ExitKind::Usage);
            assert!(failure.message.starts_with("--since: `"), "{failure}");
        }
        let which = |since: &str, until: &str| WhichSessions {
            since: Some(since.to_owned()),
            until: Some(until.to_owned()),
            ..WhichSessions::default()
        };
        assert!(window(&which("1d", "2d"), NOW).is_err());
        assert!(window(&which("2d", "1d"), NOW).is_ok());
        assert!(window(&which("2026-01-31", "2026-01-31"), NOW).is_ok(), "one day");
    }
}
