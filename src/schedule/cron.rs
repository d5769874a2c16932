//! Cron expressions, as the common cron programs (Debian's, cronie, macOS, the BSDs) read them: five
//! fields of numbers, names, ranges, steps and lists, or `@daily` and its kin. What one of them would
//! refuse is refused here, with the reason. Pure; the time comes in as a value.
//!
//! Day and weekday: where both are restricted a day counts when either fits; where one begins with
//! `*` both have to fit (crontab(5)).

use std::fmt;

use jiff::civil::{Date, DateTime};

/// Which minutes of the calendar a job runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    pub(super) minutes: Field,
    pub(super) hours: Field,
    pub(super) days: Field,
    pub(super) months: Field,
    /// 0 is Sunday.
    pub(super) weekdays: Field,
}

/// One field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    /// Bit N: the value N counts.
    bits: u64,
    /// It begins with `*`.
    pub(super) starred: bool,
    /// As it is written into a crontab: numbers, no names.
    text: String,
}

/// What a field may hold.
struct Kind {
    name: &'static str,
    lowest: u8,
    highest: u8,
    /// Names for the values from `lowest` on.
    names: &'static [&'static str],
}

const MINUTE: Kind = Kind { name: "minute", lowest: 0, highest: 59, names: &[] };
const HOUR: Kind = Kind { name: "hour", lowest: 0, highest: 23, names: &[] };
const DAY: Kind = Kind { name: "day", lowest: 1, highest: 31, names: &[] };
const MONTH: Kind = Kind {
    name: "month",
    lowest: 1,
    highest: 12,
    names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
};
/// 0 and 7 are Sunday.
const WEEKDAY: Kind = Kind {
    name: "weekday",
    lowest: 0,
    highest: 7,
    names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
};

/// The words that stand for five fields.
const WORDS: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// Days that are looked at for the next run: the 29th of February on one weekday comes after 40
/// years at the latest.
const HORIZON: u32 = 41 * 366;

impl Cron {
    /// Reads an expression.
    ///
    /// # Errors
    /// What is wrong with which field.
    pub fn parse(text: &str) -> Result<Cron, String> {
        let text = text.trim();
        if text.starts_with('@') {
            let known = WORDS.into_iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
            return match known {
                Some((_, fields)) => Cron::parse(fields),
                None if text.eq_ignore_ascii_case("@reboot") => {
                    Err("`@reboot` is no time; give one, such as `@daily`".to_owned())
                }
                None => {
                    let words: Vec<&str> = WORDS.into_iter().map(|(word, _)| word).collect();
                    Err(format!("`{text}` is not known; there are {}", words.join(", ")))
                }
            };
        }
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields.as_slice() else {
            let more = if fields.len() == 6 { "; cron knows no seconds and no years" } else { "" };
            return Err(format!(
                "an expression has 5 fields (minute hour day month weekday), this one has {}{more}",
                fields.len()
            ));
        };
        let mut weekdays = Field::parse(weekdays, &WEEKDAY)?;
        if weekdays.has(7) {
            weekdays.bits = (weekdays.bits | 1) & !(1 << 7);
        }
        let cron = Cron {
            minutes: Field::parse(minutes, &MINUTE)?,
            hours: Field::parse(hours, &HOUR)?,
            days: Field::parse(days, &DAY)?,
            months: Field::parse(months, &MONTH)?,
            weekdays,
        };
        // A leap year that begins any month with any day.
        match cron.next_after(DateTime::constant(2000, 1, 1, 0, 0, 0, 0)) {
            Some(_) => Ok(cron),
            None => Err("there is no such day in any year".to_owned()),
        }
    }

    /// The first minute after `now` in which the job runs, on the clock of the wall.
    pub fn next_after(&self, now: DateTime) -> Option<DateTime> {
        let mut date = now.date();
        for _ in 0..HORIZON {
            if self.is_day(date) {
                let today = date == now.date();
                let is_past = |hour, minute| today && (hour, minute) <= (now.hour(), now.minute());
                let mut times = (0..24).flat_map(|h| (0..60).map(move |m| (h, m)));
                let fits = |(hour, minute): &(i8, i8)| {
                    self.hours.has(*hour) && self.minutes.has(*minute) && !is_past(*hour, *minute)
                };
                if let Some((hour, minute)) = times.find(fits) {
                    return Some(date.at(hour, minute, 0, 0));
                }
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    fn is_day(&self, date: Date) -> bool {
        let day = self.days.has(date.day());
        let weekday = self.weekdays.has(date.weekday().to_sunday_zero_offset());
        let both = if self.needs_both_days() { day && weekday } else { day || weekday };
        self.months.has(date.month()) && both
    }

    /// Day and weekday both have to fit.
    pub(super) fn needs_both_days(&self) -> bool {
        self.days.starred || self.weekdays.starred
    }
}

impl fmt::Display for Cron {
    /// Five fields of numbers, as every cron takes them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cron { minutes, hours, days, months, weekdays } = self;
        write!(f, "{} {} {} {} {}", minutes.text, hours.text, days.text, months.text, weekdays.text)
    }
}

impl Field {
    fn parse(text: &str, kind: &Kind) -> Result<Field, String> {
        let mut field = Field { bits: 0, starred: text.starts_with('*'), text: String::new() };
        for item in text.split(',') {
            let (bits, written) = kind.item(item)?;
            field.bits |= bits;
            let comma = if field.text.is_empty() { "" } else { "," };
            field.text.push_str(&format!("{comma}{written}"));
        }
        Ok(field)
    }

    fn has(&self, value: i8) -> bool {
        self.bits & (1 << value) != 0
    }

    /// The values that count, ascending.
    pub(super) fn values(&self) -> Vec<u8> {
        (0..64).filter(|value| self.bits & (1 << value) != 0).collect()
    }
}

impl Kind {
    /// One item of a list: its values, and how it is written.
    fn item(&self, item: &str) -> Result<(u64, String), String> {
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, Some(self.step(step)?)),
            None => (item, None),
        };
        let (first, last, written) = if range == "*" {
            // Of weekdays 0 to 6 are all.
            (self.lowest, self.highest.min(if self.highest == 7 { 6 } else { u8::MAX }), "*".into())
        } else if let Some((first, last)) = range.split_once('-') {
            let (first, last) = (self.value(first, false)?, self.value(last, true)?);
            if last < first {
                return Err(format!(
                    "{} `{item}` runs backwards; write it as two ranges",
                    self.name
                ));
            }
            (first, last, format!("{first}-{last}"))
        } else {
            let value = self.value(range, false)?;
            if let Some(step) = step {
                return Err(format!(
                    "{} `{item}`: a step needs a range, such as {value}-{}/{step}",
                    self.name, self.highest
                ));
            }
            (value, value, value.to_string())
        };
        let bits = (first..=last)
            .step_by(usize::from(step.unwrap_or(1)))
            .fold(0, |bits: u64, value| bits | 1 << value);
        Ok((bits, step.map_or(written.clone(), |step| format!("{written}/{step}"))))
    }

    fn value(&self, text: &str, ends_range: bool) -> Result<u8, String> {
        let number = text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u8>().ok());
        let named = || self.names.iter().position(|name| name.eq_ignore_ascii_case(text));
        let value = match (number.flatten(), named()) {
            (Some(number), _) => Some(number),
            // As the end of a range Sunday is the day after Saturday.
            (None, Some(0)) if self.highest == 7 && ends_range => Some(7),
            (None, Some(at)) => u8::try_from(at).ok().map(|at| at + self.lowest),
            (None, None) => None,
        };
        value.filter(|value| (self.lowest..=self.highest).contains(value)).ok_or_else(|| {
            let names = match self.names {
                [] => String::new(),
                names => format!(", or {} … {}", names[0], names[names.len() - 1]),
            };
            format!(
                "`{}` is no {} ({} to {}{names})",
                crate::ui::one_line(text),
                self.name,
                self.lowest,
                self.highest
            )
        })
    }

    fn step(&self, text: &str) -> Result<u8, String> {
        let step = text.parse().ok().filter(|step| (1..=self.highest).contains(step));
        step.filter(|_| text.bytes().all(|b| b.is_ascii_digit())).ok_or_else(|| {
            format!(
                "`{}` is no step for a {} (1 to {})",
                crate::ui::one_line(text),
                self.name,
                self.highest
            )
        })
    }
}
