//! The modifiers of SQLite's date functions: `+1 day`, `start of month`, `unixepoch`, …

use super::date::{DAY, Date, UNIX_EPOCH, digits, is_space, trimmed};
use super::number::number;

/// Units of `+NNN units`: name, largest number, seconds.
const UNITS: [(&str, f32, f64); 6] = [
    ("second", 4.6427e+14, 1.0),
    ("minute", 7.7379e+12, 60.0),
    ("hour", 1.2897e+11, 3600.0),
    ("day", 5_373_485.0, 86400.0),
    ("month", 176_546.0, 2_592_000.0),
    ("year", 14713.0, 31_536_000.0),
];

/// Beyond all dates, and with room to reckon on.
const FAR: i64 = 1 << 61;

impl Date {
    /// Applies the modifier that stands at that place, counted from 1; `None` if it is not a modifier.
    pub(super) fn modify(&mut self, modifier: &[u8], place: usize) -> Option<()> {
        let lower = modifier.to_ascii_lowercase();
        match lower.as_slice() {
            b"auto" => (place == 1).then(|| self.guess_number()),
            b"ceiling" => {
                self.find_julian();
                self.forget_date_and_time();
                self.floor = 0;
                Some(())
            }
            b"floor" => {
                self.find_julian();
                self.julian -= self.floor * DAY;
                self.forget_date_and_time();
                Some(())
            }
            b"julianday" => {
                let is_one = place == 1 && self.knows_julian && self.is_raw;
                is_one.then(|| self.is_raw = false)
            }
            b"localtime" => {
                if !self.is_local {
                    self.make_local();
                }
                (self.is_utc, self.is_local) = (false, true);
                Some(())
            }
            b"unixepoch" => self.of_unix_seconds(place),
            b"utc" => {
                if !self.is_utc {
                    self.make_utc();
                }
                Some(())
            }
            b"subsec" | b"subsecond" => {
                self.shows_milliseconds = true;
                Some(())
            }
            [b'w', ..] => self.go_to_weekday(lower.strip_prefix(b"weekday ")?),
            [b'e', ..] => self.go_to_end(lower.strip_prefix(b"end of ")?),
            [b's', ..] => self.go_to_start(lower.strip_prefix(b"start of ")?),
            [b'+' | b'-' | b'0'..=b'9', ..] => self.add(&lower),
            _ => None,
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the range is checked before")]
    fn guess_number(&mut self) {
        if !self.is_raw || self.knows_julian {
            self.is_raw = false;
        } else if (-210_866_760_000.0..=253_402_300_799.0).contains(&self.second) {
            let julian = self.second * 1000.0 + UNIX_EPOCH as f64;
            self.forget_date_and_time();
            (self.julian, self.knows_julian, self.is_raw) = ((julian + 0.5) as i64, true, false);
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the range is checked before")]
    fn of_unix_seconds(&mut self, place: usize) -> Option<()> {
        let julian = self.second * 1000.0 + UNIX_EPOCH as f64;
        if !self.is_raw || place > 1 || !(0.0..464_269_060_800_000.0).contains(&julian) {
            return None;
        }
        self.forget_date_and_time();
        (self.julian, self.knows_julian, self.is_raw) = ((julian + 0.5) as i64, true, false);
        Some(())
    }

    /// Looks for the moment whose local time is this one, as SQLite does.
    fn make_utc(&mut self) {
        self.find_julian();
        let (wanted, mut guess, mut error) = (self.julian, self.julian, 0);
        for _ in 0..=3 {
            guess -= error;
            let mut local = Self { julian: guess, knows_julian: true, ..Self::default() };
            local.make_local();
            local.find_julian();
            error = local.julian - wanted;
            if error == 0 {
                break;
            }
        }
        *self = Self::at(guess);
    }

    #[expect(clippy::cast_possible_truncation, reason = "the range is checked before")]
    fn go_to_weekday(&mut self, text: &[u8]) -> Option<()> {
        let wanted = number(text).filter(|wanted| (-6.0..=6.0).contains(wanted) && wanted.fract() == 0.0)?;
        self.find_date_and_time();
        self.zone = 0;
        self.knows_julian = false;
        self.find_julian();
        let (wanted, mut weekday) = ((wanted as i64).abs(), (self.julian + DAY + DAY / 2) / DAY % 7);
        if weekday != wanted {
            if weekday > wanted {
                weekday -= 7;
            }
            self.julian += (wanted - weekday) * DAY;
            if text.contains(&b'-') {
                self.julian -= 7 * DAY;
            }
        }
        self.forget_date_and_time();
        Some(())
    }

    fn knows_nothing(&self) -> bool {
        !self.knows_julian && !self.knows_day && !self.knows_time
    }

    fn set_time(&mut self, hour: i32, minute: i32, second: f64) {
        (self.hour, self.minute, self.second) = (hour, minute, second);
        (self.knows_time, self.is_raw, self.zone, self.knows_julian) = (true, false, 0, false);
    }

    fn go_to_end(&mut self, of: &[u8]) -> Option<()> {
        if self.knows_nothing() {
            return None;
        }
        self.find_date();
        self.set_time(23, 59, 59.999);
        match of {
            b"month" => {
                self.day = 1;
                self.month += 1;
                if self.month > 12 {
                    self.year += 1;
                    self.month = 1;
                }
                self.find_floor();
                self.find_julian();
                self.julian -= (self.floor + 1) * DAY;
                self.forget_date_and_time();
            }
            b"year" => (self.month, self.day) = (12, 31),
            b"day" => {}
            _ => return None,
        }
        Some(())
    }

    fn go_to_start(&mut self, of: &[u8]) -> Option<()> {
        if self.knows_nothing() {
            return None;
        }
        self.find_date();
        self.set_time(0, 0, 0.0);
        match of {
            b"month" => self.day = 1,
            b"year" => (self.month, self.day) = (1, 1),
            b"day" => {}
            _ => return None,
        }
        Some(())
    }

    /// `+NNN units`, `+HH:MM:SS`, `+YYYY-MM-DD`, `+YYYY-MM-DD HH:MM`.
    fn add(&mut self, text: &[u8]) -> Option<()> {
        let end = (1..text.len()).find(|&at| ends_number(text, at)).unwrap_or(text.len());
        let amount = number(&text[..end])?;
        let time = match text.get(end) {
            Some(b'-') => match self.add_date(text, end)? {
                Some(time) => time,
                None => return Some(()),
            },
            Some(b':') => text,
            _ => return self.add_units(amount, trimmed(&text[end..])),
        };
        let time = if time[0].is_ascii_digit() { time } else { &time[1..] };
        let mut span = Self::default();
        span.parse_time(time)?;
        span.find_julian();
        let span = (span.julian - DAY / 2) % DAY;
        self.find_julian();
        self.forget_date_and_time();
        self.julian += if text[0] == b'-' { -span } else { span };
        Some(())
    }

    /// Adds the date before the time of `+YYYY-MM-DD HH:MM`; that time comes back, where there is one.
    #[expect(clippy::option_option, reason = "no date is not a date without a time")]
    fn add_date<'a>(&mut self, text: &'a [u8], end: usize) -> Option<Option<&'a [u8]>> {
        let sign = match text[0] {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        // The year has four or five digits.
        let of_year = end - 1;
        let date = &text[1..];
        let [years, months, days] =
            digits(date, [(of_year, 0, 14712, b'-'), (2, 0, 12, b'-'), (2, 0, 31, 0)])?;
        if months >= 12 || days >= 31 {
            return None;
        }
        self.find_date_and_time();
        self.knows_julian = false;
        self.year += sign * years;
        self.add_months(sign * months);
        self.find_julian();
        (self.knows_time, self.knows_day) = (false, false);
        self.julian += i64::from(sign * days) * DAY;
        let rest = &date[of_year + 6..];
        match rest.first() {
            None => Some(None),
            Some(&byte) if is_space(byte) => {
                digits(&rest[1..], [(2, 0, 24, b':'), (2, 0, 59, 0)])?;
                Some(Some(&rest[1..]))
            }
            Some(_) => None,
        }
    }

    fn add_months(&mut self, months: i32) {
        self.month += months;
        let years = if self.month > 0 { (self.month - 1) / 12 } else { (self.month - 12) / 12 };
        self.year += years;
        self.month -= years * 12;
        self.find_floor();
    }

    #[expect(clippy::cast_possible_truncation, reason = "SQLite cuts off too, and the amount is bounded")]
    fn add_units(&mut self, amount: f64, unit: &[u8]) -> Option<()> {
        if !(3..=10).contains(&unit.len()) {
            return None;
        }
        let unit = unit.strip_suffix(b"s").unwrap_or(unit);
        let (name, most, seconds) = UNITS.into_iter().find(|(name, ..)| name.as_bytes() == unit)?;
        if amount.abs() >= f64::from(most) {
            return None;
        }
        self.find_julian();
        self.floor = 0;
        let mut rest = amount;
        if let "month" | "year" = name {
            self.find_date_and_time();
            if name == "month" {
                self.add_months(amount as i32);
            } else {
                self.year += amount as i32;
                self.find_floor();
            }
            self.knows_julian = false;
            rest -= f64::from(amount as i32);
        }
        self.find_julian();
        let rounder = if amount < 0.0 { -0.5 } else { 0.5 };
        let sum = self.julian.saturating_add((rest * 1000.0 * seconds + rounder) as i64);
        self.julian = sum.clamp(-FAR, FAR);
        self.forget_date_and_time();
        Some(())
    }
}

/// Whether the number that a modifier begins with ends at that place.
fn ends_number(text: &[u8], at: usize) -> bool {
    match text[at] {
        b':' => true,
        b'-' => (at == 5 || at == 6) && digits(&text[1..], [(at - 1, 0, 14712, 0)]).is_some(),
        byte => is_space(byte),
    }
}
