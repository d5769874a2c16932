//! Moments as people write them: a date, a date with a time, or how long ago.

use jiff::civil;
use jiff::tz::TimeZone;

use crate::error::{ExitKind, Failure};
use crate::session::UnixMs;

/// `2026-11-30`, `2026-11-30T09:00` (on this machine's clock), `2026-11-30T09:00:00Z`, `30m`, `12h`,
/// `7d`, `2w`; seen from `now`.
pub(super) fn since(text: &str, now: UnixMs) -> Result<UnixMs, Failure> {
    ago(text, now).or_else(|| moment(text.trim())).ok_or_else(|| {
        Failure::new(ExitKind::Usage, format!("`{}` is no moment", crate::ui::one_line(text)))
            .hint("write it as 2026-11-30, 2026-11-30T09:00, 12h, 7d or 2w")
    })
}

fn ago(text: &str, now: UnixMs) -> Option<UnixMs> {
    let text = text.trim();
    let number = text.strip_suffix(['m', 'h', 'd', 'w'])?;
    let minutes = match &text[number.len()..] {
        "m" => 1,
        "h" => 60,
        "d" => 24 * 60,
        _ => 7 * 24 * 60,
    };
    let number: u32 = number.parse().ok()?;
    Some(now.saturating_sub(i64::from(number) * minutes * 60_000))
}

fn moment(text: &str) -> Option<UnixMs> {
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Some(moment.as_millisecond());
    }
    // The date alone is its first moment.
    let local: civil::DateTime = text.parse().ok()?;
    Some(local.to_zoned_datetime(TimeZone::system()).ok()?.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_ages() {
        let now = 1_796_000_000_000;
        let day = 24 * 3_600_000;
        for (text, expected) in [
            ("90m", now - 5_400_000),
            ("12h", now - day / 2),
            ("7d", now - 7 * day),
            ("2w", now - 14 * day),
            ("2026-11-30T00:53:20Z", now),
            ("2026-11-30T02:53:20+02:00", now),
        ] {
            assert_eq!(since(text, now).expect(text), expected, "{text}");
        }
        let local = since("2026-11-30", now).expect("date");
        assert!((local - now).abs() < 2 * day);
        assert_eq!(since("2026-11-30T00:00", now).expect("date and time"), local);
        for wrong in ["", "d", "yesterday", "-3d", "2026-13-01", "99999999999d", "3x"] {
            assert!(since(wrong, now).is_err(), "{wrong:?}");
        }
    }
}
