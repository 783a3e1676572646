//! Dates and times as people write them.
//!
//! # Contract
//! [`read`] takes a text as a whole. It knows the year before month and day (`2013-01-31`, `2013/1/31`, `2013.01.31`), day and
//! month in numbers before the year in either order (`31/01/2013`, `1-31-2013`, `31.1.2013`), and the month by its English name
//! (`31 January 2013`, `31-Jan-2013`, `Jan 31, 2013`); each may be followed by a blank or `T`, a time of day, and `Z`. A year has four
//! digits, and the day is one that the month has. A time of day is `9:05`, `09:05:59` or `09:05:59.123`.
//!
//! Whether the day or the month comes first is for the whole column to tell: a value of which both readings are dates says
//! nothing, unless they are the same.

use sqlgauge_base::calendar::{day_or_month, days_of_month, month_named, year};

/// A day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Date {
    year: u32,
    month: u32,
    day: u32,
}

impl Date {
    fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        let days = days_of_month(year, month);
        ((1..=12).contains(&month) && (1..=days).contains(&day)).then_some(Self { year, month, day })
    }

    pub(super) fn iso(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// Which days a text may mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Days {
    One(Date),
    /// One with the day first, another with the month first; one of them at least.
    Either {
        day_first: Option<Date>,
        month_first: Option<Date>,
    },
}

/// What a text says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Moment<'a> {
    pub(super) days: Option<Days>,
    /// A time of day as it is written.
    pub(super) time: Option<&'a str>,
    /// Whether it ends with `Z`.
    pub(super) utc: bool,
}

/// Reads a date, a date with a time, or a time.
pub(super) fn read(text: &str) -> Option<Moment<'_>> {
    if !(4..=40).contains(&text.len()) || !text.is_ascii() {
        return None;
    }
    if is_time(text) {
        return Some(Moment { days: None, time: Some(text), utc: false });
    }
    if let Some(days) = days(text) {
        return Some(Moment { days: Some(days), time: None, utc: false });
    }
    let colon = text.find(':')?;
    let cut = text[..colon].rfind([' ', 'T'])?;
    let (date, time) = (&text[..cut], &text[cut + 1..]);
    let (time, utc) = time.strip_suffix('Z').map_or((time, false), |time| (time, true));
    let days = days(date)?;
    is_time(time).then_some(Moment { days: Some(days), time: Some(time), utc })
}

/// A time of day as ISO 8601 has it, with seconds.
pub(super) fn iso_time(time: &str) -> String {
    let padded = if time.find(':') == Some(1) { format!("0{time}") } else { time.to_owned() };
    if padded.len() == 5 { format!("{padded}:00") } else { padded }
}

fn is_time(text: &str) -> bool {
    let (clock, fraction) =
        text.split_once('.').map_or((text, None), |(clock, fraction)| (clock, Some(fraction)));
    let parts: Vec<&str> = clock.split(':').collect();
    let below = |part: &str, least: usize, most: u32| {
        (least..=2).contains(&part.len()) && number(part).is_some_and(|value| value < most)
    };
    let fraction_fits = fraction.is_none_or(|fraction| {
        parts.len() == 3
            && (1..=9).contains(&fraction.len())
            && fraction.bytes().all(|byte| byte.is_ascii_digit())
    });
    match parts.as_slice() {
        [hour, rest @ ..] if (1..=2).contains(&rest.len()) => {
            below(hour, 1, 24) && rest.iter().all(|part| below(part, 2, 60)) && fraction_fits
        }
        _ => false,
    }
}

fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn days(text: &str) -> Option<Days> {
    let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    if let [one, two, three] = *words.as_slice() {
        return named(one, two, three);
    }
    let separator = text.chars().find(|c| matches!(c, '-' | '/' | '.'))?;
    let parts: Vec<&str> = text.split(separator).collect();
    let [one, two, three] = *parts.as_slice() else { return None };
    if let Some(year) = year(one) {
        return Date::new(year, day_or_month(two)?, day_or_month(three)?).map(Days::One);
    }
    if month_named(two).is_some() {
        return named(one, two, three);
    }
    let (one, two, year) = (day_or_month(one)?, day_or_month(two)?, year(three)?);
    match (Date::new(year, two, one), Date::new(year, one, two)) {
        (None, None) => None,
        (Some(day), Some(month)) if day == month => Some(Days::One(day)),
        (day_first, month_first) => Some(Days::Either { day_first, month_first }),
    }
}

/// With the month's name: after the day or before it.
fn named(one: &str, two: &str, three: &str) -> Option<Days> {
    let year = year(three)?;
    let day = match (month_named(one), month_named(two)) {
        (Some(month), None) => Date::new(year, month, day_or_month(two)?),
        (None, Some(month)) => Date::new(year, month, day_or_month(one)?),
        _ => None,
    };
    day.map(Days::One)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iso(text: &str) -> Option<String> {
        let moment = read(text)?;
        let day = match moment.days {
            Some(Days::One(day)) => Some(day.iso()),
            Some(Days::Either { day_first, month_first }) => {
                let print = |day: Option<Date>| day.map_or("-".to_owned(), Date::iso);
                Some(format!("{}|{}", print(day_first), print(month_first)))
            }
            None => None,
        };
        let parts = [day, moment.time.map(iso_time), moment.utc.then(|| "Z".to_owned())];
        Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn dates_are_read_in_every_form() {
        for (text, expected) in [
            ("2013-01-31", "2013-01-31"),
            ("2013/1/5", "2013-01-05"),
            ("31.01.2013", "2013-01-31|-"),
            ("1/31/2013", "-|2013-01-31"),
            ("3/4/2013", "2013-04-03|2013-03-04"),
            ("4-4-2013", "2013-04-04"),
            ("31 January 2013", "2013-01-31"),
            ("31-Jan-2013", "2013-01-31"),
            ("Jan 31, 2013", "2013-01-31"),
            ("2012-02-29T09:05:59Z", "2012-02-29 09:05:59 Z"),
            ("2012-02-29 9:05", "2012-02-29 09:05:00"),
            ("09:05:59.123", "09:05:59.123"),
        ] {
            assert_eq!(iso(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_not_read_as_one() {
        for text in [
            "2013-02-29",
            "2013-13-01",
            "31/31/2013",
            "1/2/13",
            "10.0.0.1",
            "2013",
            "20130131",
            "Jan 2013",
            "May",
            "1-2",
            "2013-01-31 25:00",
            "24:00",
            "9:5",
            "12:30 PM",
            "2013-01-31+01:00",
            "2013-01/31",
            "é013-01-31",
            "1:2:3:4",
            "::",
        ] {
            assert_eq!(iso(text), None, "{text}");
        }
    }
}
