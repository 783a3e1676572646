//! A moment as SQLite's date functions reckon with it, and the times of day and dates that they read.
//!
//! Follows `date.c` of SQLite 3.54, step for step and with the same arithmetic: which of its fields are valid at a time
//! decides what a modifier does. Unlike there, the local time zone is UTC.

use super::number::number;

/// The Julian day of 1970-01-01, in milliseconds.
pub(super) const UNIX_EPOCH: i64 = 210_866_760_000_000;
/// Milliseconds of a day.
pub(super) const DAY: i64 = 86_400_000;
/// 9999-12-31 23:59:59.999, in milliseconds.
const LAST: i64 = 464_269_060_799_999;

/// A moment. The Julian day, the date and the time of day say the same where they are valid.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are SQLite's, and independent of each other")]
pub(super) struct Date {
    /// Julian day, in milliseconds.
    pub(super) julian: i64,
    pub(super) year: i32,
    pub(super) month: i32,
    pub(super) day: i32,
    pub(super) hour: i32,
    pub(super) minute: i32,
    /// Minutes that the zone of the text is ahead of UTC.
    pub(super) zone: i32,
    /// Seconds of the minute, or the number that [`Date::is_raw`] tells of.
    pub(super) second: f64,
    pub(super) knows_julian: bool,
    pub(super) knows_day: bool,
    pub(super) knows_time: bool,
    /// How many days beyond the end of the month the day is.
    pub(super) floor: i64,
    /// A number that is not known to be a Julian day or seconds since 1970.
    pub(super) is_raw: bool,
    pub(super) is_error: bool,
    pub(super) shows_milliseconds: bool,
    pub(super) is_utc: bool,
    pub(super) is_local: bool,
}

impl Date {
    /// That many milliseconds after the beginning of the Julian days, known to be UTC.
    pub(super) fn at(julian: i64) -> Self {
        Self { julian, knows_julian: true, is_utc: true, ..Self::default() }
    }

    /// What a number stands for.
    #[expect(clippy::cast_possible_truncation, reason = "in the range of Julian days it fits")]
    pub(super) fn of_number(number: f64) -> Self {
        let is_julian = (0.0..5_373_484.5).contains(&number);
        let julian = if is_julian { (number * 86_400_000.0 + 0.5) as i64 } else { 0 };
        Self { second: number, is_raw: true, julian, knows_julian: is_julian, ..Self::default() }
    }

    /// A date, a time or both, or a number; `None` for any other text.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let mut date = Self::default();
        if date.parse_date(text).is_some() || date.parse_time(text).is_some() {
            return Some(date);
        }
        number(text).map(Self::of_number)
    }

    fn fail(&mut self) {
        *self = Self { is_error: true, ..Self::default() };
    }

    /// `YYYY-MM-DD`, with a time behind it.
    fn parse_date(&mut self, text: &[u8]) -> Option<()> {
        let (negative, text) = match text.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let [mut year, mut month, mut day] =
            digits(text, [(4, 0, 14712, b'-'), (2, 1, 12, b'-'), (2, 1, 31, 0)])?;
        let rest = text.get(10..)?;
        let blanks = rest.iter().take_while(|&&byte| is_space(byte) || byte == b'T').count();
        let rest = &rest[blanks..];
        if self.parse_time(rest).is_some() {
            if self.hour == 24 {
                self.hour = 0;
                day += 1;
                let days = days_of_month(year, month);
                if day > days {
                    day -= days;
                    month += 1;
                    if month > 12 {
                        month = 1;
                        year += 1;
                    }
                }
            }
        } else if rest.is_empty() {
            self.knows_time = false;
        } else {
            return None;
        }
        self.knows_julian = false;
        self.knows_day = true;
        (self.year, self.month, self.day) = (if negative { -year } else { year }, month, day);
        self.find_floor();
        if self.zone != 0 {
            self.find_julian();
        }
        Some(())
    }

    /// `HH:MM`, `HH:MM:SS`, `HH:MM:SS.FFF`, with a zone behind it.
    pub(super) fn parse_time(&mut self, text: &[u8]) -> Option<()> {
        let [hour, minute] = digits(text, [(2, 0, 24, b':'), (2, 0, 59, 0)])?;
        let mut rest = text.get(5..)?;
        let (mut second, mut fraction) = (0, 0.0);
        if let Some(after) = rest.strip_prefix(b":") {
            [second] = digits(after, [(2, 0, 59, 0)])?;
            rest = after.get(2..)?;
            if let [b'.', after @ ..] = rest
                && after.first().is_some_and(u8::is_ascii_digit)
            {
                let count = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let add = |(value, scale): (f64, f64), &byte: &u8| {
                    (value * 10.0 + f64::from(byte) - f64::from(b'0'), scale * 10.0)
                };
                let (value, scale) = after[..count].iter().fold((0.0, 1.0), add);
                fraction = value / scale;
                if fraction > 0.999 {
                    fraction = 0.999;
                }
                rest = &after[count..];
            }
        }
        if hour == 24 && (minute != 0 || second != 0 || fraction != 0.0) {
            return None;
        }
        self.knows_julian = false;
        self.is_raw = false;
        self.knows_time = true;
        (self.hour, self.minute, self.second) = (hour, minute, f64::from(second) + fraction);
        self.parse_zone(rest)
    }

    /// `+HH:MM`, `-HH:MM`, `Z` or nothing.
    fn parse_zone(&mut self, text: &[u8]) -> Option<()> {
        let text = trimmed(text);
        self.zone = 0;
        let sign = match text.first() {
            None => return Some(()),
            Some(b'-') => -1,
            Some(b'+') => 1,
            Some(b'Z' | b'z') => {
                (self.is_local, self.is_utc) = (false, true);
                return trimmed(&text[1..]).is_empty().then_some(());
            }
            Some(_) => return None,
        };
        let [hours, minutes] = digits(&text[1..], [(2, 0, 14, b':'), (2, 0, 59, 0)])?;
        self.zone = sign * (minutes + hours * 60);
        if self.zone == 0 {
            (self.is_local, self.is_utc) = (false, true);
        }
        trimmed(&text[6..]).is_empty().then_some(())
    }

    pub(super) fn find_floor(&mut self) {
        self.floor = i64::from((self.day - days_of_month(self.year, self.month)).max(0));
    }

    #[expect(clippy::cast_possible_truncation, reason = "SQLite cuts off too")]
    pub(super) fn find_julian(&mut self) {
        if self.knows_julian {
            return;
        }
        let (mut year, mut month, mut day) = (2000, 1, 1);
        if self.knows_day {
            (year, month, day) = (self.year, self.month, self.day);
        } else if self.knows_time && self.hour == 24 {
            self.hour = 0;
            day = 2;
        }
        if !(-4713..=9999).contains(&year) || self.is_raw {
            return self.fail();
        }
        if month <= 2 {
            year -= 1;
            month += 12;
        }
        let century = (year + 4800) / 100;
        let leap = 38 - century + century / 4;
        let of_years = 36525 * (year + 4716) / 100;
        let of_months = 306_001 * (month + 1) / 10000;
        self.julian = ((f64::from(of_years + of_months + day + leap) - 1524.5) * 86_400_000.0) as i64;
        self.knows_julian = true;
        if self.knows_time {
            self.julian +=
                i64::from(self.hour * 3_600_000 + self.minute * 60_000) + (self.second * 1000.0 + 0.5) as i64;
            if self.zone != 0 {
                self.julian -= i64::from(self.zone) * 60_000;
                self.forget_date_and_time();
                (self.is_utc, self.is_local) = (true, false);
            }
        }
    }

    pub(super) fn forget_date_and_time(&mut self) {
        (self.knows_day, self.knows_time, self.zone) = (false, false, 0);
    }

    pub(super) fn is_in_range(&self) -> bool {
        (0..=LAST).contains(&self.julian)
    }

    #[expect(clippy::cast_possible_truncation, reason = "SQLite cuts off too")]
    pub(super) fn find_date(&mut self) {
        if self.knows_day {
            return;
        }
        if !self.knows_julian {
            (self.year, self.month, self.day) = (2000, 1, 1);
        } else if !self.is_in_range() {
            return self.fail();
        } else {
            let days = ((self.julian + DAY / 2) / DAY) as i32;
            let alpha = ((f64::from(days) + 32044.75) / 36524.25) as i32 - 52;
            let gregorian = days + 1 + alpha - (alpha + 100) / 4 + 25 + 1524;
            let years = ((f64::from(gregorian) - 122.1) / 365.25) as i32;
            let of_years = 36525 * (years & 32767) / 100;
            let months = (f64::from(gregorian - of_years) / 30.6001) as i32;
            self.day = gregorian - of_years - (30.6001 * f64::from(months)) as i32;
            self.month = if months < 14 { months - 1 } else { months - 13 };
            self.year = if self.month > 2 { years - 4716 } else { years - 4715 };
        }
        self.knows_day = true;
    }

    pub(super) fn find_time(&mut self) {
        if self.knows_time {
            return;
        }
        self.find_julian();
        let of_day = ((self.julian + DAY / 2) % DAY) as i32;
        self.second = f64::from(of_day % 60_000) / 1000.0;
        self.minute = of_day / 60_000 % 60;
        self.hour = of_day / 60_000 / 60;
        self.is_raw = false;
        self.knows_time = true;
    }

    pub(super) fn find_date_and_time(&mut self) {
        self.find_date();
        self.find_time();
    }

    /// The same moment in the local time zone, which is UTC: SQLite goes through the clock of the system, which leaves
    /// traces.
    pub(super) fn make_local(&mut self) {
        /// 1970-01-01 and 2038-01-18: between them every system knows its time zone.
        const KNOWN: std::ops::RangeInclusive<i64> = UNIX_EPOCH..=213_014_145_600_000;
        self.find_julian();
        let (mut there, mut years) = (*self, 0);
        if !KNOWN.contains(&self.julian) {
            there.find_date_and_time();
            years = 2000 + there.year % 4 - there.year;
            there.year += years;
            there.knows_julian = false;
            there.find_julian();
        }
        let mut local = Self::at(there.julian / 1000 * 1000);
        local.find_date_and_time();
        (self.year, self.month, self.day) = (local.year - years, local.month, local.day);
        (self.hour, self.minute) = (local.hour, local.minute);
        self.second = local.second + (self.julian % 1000) as f64 * 0.001;
        (self.knows_day, self.knows_time, self.knows_julian) = (true, true, false);
        (self.is_raw, self.zone, self.is_error) = (false, 0, false);
    }
}

fn days_of_month(year: i32, month: i32) -> i32 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 30,
    }
}

/// Numbers of a fixed count of digits, each from a least to a most and with a byte behind it; 0 for any.
pub(super) fn digits<const N: usize>(text: &[u8], parts: [(usize, i32, i32, u8); N]) -> Option<[i32; N]> {
    let mut numbers = [0; N];
    let mut at = 0;
    for (number, (count, least, most, behind)) in numbers.iter_mut().zip(parts) {
        let part = text.get(at..at + count)?;
        if !part.iter().all(u8::is_ascii_digit) {
            return None;
        }
        *number = part.iter().fold(0, |sum, &byte| sum * 10 + i32::from(byte - b'0'));
        at += count + 1;
        let is_followed = behind == 0 || text.get(at - 1) == Some(&behind);
        if !(least..=most).contains(number) || !is_followed {
            return None;
        }
    }
    Some(numbers)
}

/// What SQLite takes for white space.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | 9..=13)
}

pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    &text[text.iter().take_while(|&&byte| is_space(byte)).count()..]
}
