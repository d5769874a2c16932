//! The same times as `OnCalendar=` of a systemd timer (systemd.time(7)). Pure.
//!
//! systemd wants day and weekday both to fit, cron mostly either: then there are two lines, of which
//! systemd takes each.

use super::cron::{Cron, Field};

/// systemd's weekdays, in its order.
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// The values of the `OnCalendar=` lines.
pub fn on_calendar(cron: &Cron) -> Vec<String> {
    let time = format!("{}:{}:00", part(&cron.hours, 0, 23), part(&cron.minutes, 0, 59));
    let month = part(&cron.months, 1, 12);
    let line = |weekdays: Option<String>, day: String| {
        let weekdays = weekdays.map_or(String::new(), |days| format!("{days} "));
        format!("{weekdays}*-{month}-{day} {time}")
    };
    let day = part(&cron.days, 1, 31);
    if cron.needs_both_days() {
        return vec![line(weekdays(&cron.weekdays), day)];
    }
    vec![line(weekdays(&cron.weekdays), "*".to_owned()), line(None, day)]
}

/// A field: `*`, a start with a step, or a list with ranges.
fn part(field: &Field, lowest: u8, highest: u8) -> String {
    let values = field.values();
    let two = |value: u8| format!("{value:02}");
    if values.len() == usize::from(highest - lowest) + 1 {
        return "*".to_owned();
    }
    if let [first, second, .., last] = values[..] {
        let step = second - first;
        let even = values.windows(2).all(|pair| pair[1] - pair[0] == step);
        if even && step > 1 && last + step > highest {
            return format!("{}/{step}", two(first));
        }
    }
    runs(&values, two)
}

/// `Mon..Fri`; `None` for every day.
fn weekdays(field: &Field) -> Option<String> {
    // cron begins the week with Sunday, systemd with Monday.
    let mut values: Vec<u8> = field.values().into_iter().map(|day| (day + 6) % 7).collect();
    values.sort_unstable();
    (values.len() < 7).then(|| runs(&values, |day| WEEKDAYS[usize::from(day)].to_owned()))
}

/// A list in which three or more values in a row are a range.
fn runs(values: &[u8], shown: impl Fn(u8) -> String) -> String {
    let mut parts = Vec::new();
    let mut rest = values;
    while let Some(first) = rest.first() {
        let length = rest.iter().zip(*first..).take_while(|(value, next)| **value == *next).count();
        let (run, after) = rest.split_at(length);
        match run {
            [first, .., last] if length > 2 => {
                parts.push(format!("{}..{}", shown(*first), shown(*last)));
            }
            few => parts.extend(few.iter().map(|value| shown(*value))),
        }
        rest = after;
    }
    parts.join(",")
}
