//! The moment that queries read as the present.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A second of UTC between the years 0 and 9999, written `2026-01-31T12:00:00Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "i64")]
pub struct Moment(i64);

/// A text that is not a moment.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "invalid time {0:?}: write a date, or a date and a time in UTC, for example 2026-01-31 or 2026-01-31T12:00:00Z"
)]
pub struct NotAMoment(String);

const DAY: i64 = 86_400;
/// 9999-12-31T23:59:59Z.
const LAST: i64 = 253_402_300_799;

impl Moment {
    /// The second that is now.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_secs()).unwrap_or(LAST).min(LAST))
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    pub(crate) fn unix_seconds(self) -> i64 {
        self.0
    }

    /// The moment of that many seconds since 1970-01-01T00:00:00Z, if its year has four digits.
    pub(crate) fn from_unix_seconds(seconds: i64) -> Option<Self> {
        (days_before(0, 1, 1) * DAY..=LAST).contains(&seconds).then_some(Self(seconds))
    }
}

impl TryFrom<i64> for Moment {
    type Error = NotAMoment;

    fn try_from(seconds: i64) -> Result<Self, NotAMoment> {
        Self::from_unix_seconds(seconds).ok_or_else(|| NotAMoment(seconds.to_string()))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, seconds) = (self.0.div_euclid(DAY), self.0.rem_euclid(DAY));
        let (year, month, day) = date_of(days);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

impl FromStr for Moment {
    type Err = NotAMoment;

    fn from_str(text: &str) -> Result<Self, NotAMoment> {
        parse(text.trim()).ok_or_else(|| NotAMoment(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Moment> {
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, time.trim_end_matches(['Z', 'z'])),
        None => (text, "00:00:00"),
    };
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let days = days_before(year, month, day);
    // A day that the month does not have is one of the next.
    let exists = (1..=12).contains(&month) && date_of(days) == (year, month, day);
    let in_day = hour < 24 && minute < 60 && second < 60;
    (exists && in_day).then_some(Moment(days * DAY + hour * 3600 + minute * 60 + second))
}

/// Three numbers of so many digits.
fn numbers(text: &str, between: char, digits: [usize; 3]) -> Option<[i64; 3]> {
    let mut parts = text.split(between);
    let mut next = |count: usize| {
        let part = parts.next()?;
        let is_number = part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse().ok().filter(|_| is_number)
    };
    let numbers = [next(digits[0])?, next(digits[1])?, next(digits[2])?];
    parts.next().is_none().then_some(numbers)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    // Years from March on, so that the day that comes and goes is the last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// The date of so many days after 1970-01-01.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let year = year + era * 400;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_as_it_is_read() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59Z", -1),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2026-01-01T00:00:00Z", 1_767_225_600),
            ("9999-12-31T23:59:59Z", LAST),
            ("0000-01-01T00:00:00Z", -62_167_219_200),
        ] {
            let moment: Moment = text.parse().unwrap();
            assert_eq!((moment.unix_seconds(), moment.to_string().as_str()), (seconds, text));
            assert_eq!(Moment::from_unix_seconds(seconds), Some(moment));
        }
        assert_eq!("2026-01-31".parse::<Moment>().unwrap().to_string(), "2026-01-31T00:00:00Z");
        assert_eq!("2026-01-31 01:02:03".parse::<Moment>().unwrap().to_string(), "2026-01-31T01:02:03Z");
        for text in [
            "",
            "now",
            "2026-02-29",
            "2026-13-01",
            "2026-01-31T24:00:00Z",
            "26-01-31",
            "2026-01-31T12:00+01:00",
        ] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
        assert_eq!(Moment::from_unix_seconds(LAST + 1), None);
    }
}
