//! Times as SQLite reads them from a text, digit by digit, and what its functions show of them.
//!
//! # Contract
//! A text `YYYY-MM-DD`, `HH:MM` or both, with seconds and up to three digits of a fraction, is a time exactly: the year from 0 to
//! 9999, the month from 1 to 12, the day up to the days of the month. SQLite reads further texts as times: days that a month does
//! not have, 24 hours, time zones, numbers of days, years before the first. Of these only what they show is known: a day of a
//! calendar, which may be of a year before the first, and up to 24 hours.

use num_rational::BigRational;
use num_traits::ToPrimitive;
use sqlgauge_search::date_of;

use super::defect::EncoderDefect;

/// What a reading shows of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Field {
    Year,
    Month,
    Day,
    DayOfYear,
    DayOfWeek,
    Hour,
    Minute,
    Second,
    Thousandths,
}

impl Field {
    /// Its place among the digits of a text.
    fn rank(self) -> usize {
        match self {
            Self::Year => 0,
            Self::Month => 1,
            Self::Day | Self::DayOfYear | Self::DayOfWeek => 2,
            Self::Hour => 3,
            Self::Minute => 4,
            Self::Second => 5,
            Self::Thousandths => 6,
        }
    }

    /// What it is where the text does not say it.
    fn missing(self) -> &'static str {
        match self {
            Self::Year => "2000",
            Self::Month | Self::Day => "01",
            Self::DayOfYear => "001",
            // 2000-01-01 is a Saturday.
            Self::DayOfWeek => "6",
            Self::Hour | Self::Minute | Self::Second => "00",
            Self::Thousandths => "000",
        }
    }
}

/// Fields of a time in the order of its digits, with constants between them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Rendering {
    /// Each with the characters before it.
    fields: Vec<(String, Field)>,
    /// The characters after the last.
    rest: String,
    /// A year before the first has four digits behind its minus, and not three.
    has_long_years: bool,
    /// It shows the start of a month, a year or a day, whose day SQLite does not correct where the month has fewer days.
    is_start: bool,
    /// Only the law of the encoding plants one.
    defect: Option<EncoderDefect>,
}

/// The characters that times are written in.
pub(crate) const LETTERS: &str = "0123456789-: T.";
/// How many numbers a reading of a time has.
pub(crate) const SIZE: usize = 6;

/// Where a reading stands; after these a text may end.
const DATE: u32 = 10;
const MINUTES: u32 = 16;
const SECONDS: u32 = 19;
/// The text is not a time.
const OVER: u32 = 99;
/// What is beyond the texts that are times exactly: years before the first, and 24 hours.
const ODD: u32 = 1;

impl Rendering {
    /// What `strftime` shows in that format; `None` if a part of it is not known here, or comes before what is written before it.
    pub(crate) fn of_format(format: &str) -> Option<Self> {
        let mut rendering = Self {
            fields: Vec::new(),
            rest: String::new(),
            has_long_years: false,
            is_start: false,
            defect: None,
        };
        let mut chars = format.chars();
        while let Some(char) = chars.next() {
            let fields: &[(&str, Field)] = match (char, if char == '%' { chars.next() } else { None }) {
                ('%', Some('Y')) => &[("", Field::Year)],
                ('%', Some('m')) => &[("", Field::Month)],
                ('%', Some('d')) => &[("", Field::Day)],
                ('%', Some('j')) => &[("", Field::DayOfYear)],
                ('%', Some('w')) => &[("", Field::DayOfWeek)],
                ('%', Some('H')) => &[("", Field::Hour)],
                ('%', Some('M')) => &[("", Field::Minute)],
                ('%', Some('S')) => &[("", Field::Second)],
                ('%', Some('F')) => &[("", Field::Year), ("-", Field::Month), ("-", Field::Day)],
                ('%', Some('R')) => &[("", Field::Hour), (":", Field::Minute)],
                ('%', Some('T')) => &[("", Field::Hour), (":", Field::Minute), (":", Field::Second)],
                ('%', Some('%')) => {
                    rendering.rest.push('%');
                    continue;
                }
                ('%', _) => return None,
                (char, _) => {
                    rendering.rest.push(char);
                    continue;
                }
            };
            fields.iter().try_for_each(|&(before, field)| rendering.add(before, field))?;
        }
        Some(rendering)
    }

    /// What `date`, `time` and `datetime` show.
    pub(crate) fn of_function(has_date: bool, has_time: bool) -> Option<Self> {
        let format = match (has_date, has_time) {
            (true, true) => "%F %T",
            (true, false) => "%F",
            _ => "%T",
        };
        Some(Self { has_long_years: true, ..Self::of_format(format)? })
    }

    /// What `date` and `datetime` show with a modifier `start of …`.
    pub(crate) fn of_start(modifier: &str, has_time: bool) -> Option<Self> {
        let date = match modifier.to_ascii_lowercase().as_str() {
            "start of year" => "%Y-01-01",
            "start of month" => "%Y-%m-01",
            "start of day" => "%F",
            _ => return None,
        };
        let time = if has_time { " 00:00:00" } else { "" };
        let rendering = Self::of_format(date)?.followed_by_text(time);
        Some(Self { has_long_years: true, is_start: true, ..rendering })
    }

    pub(crate) fn is_start(&self) -> bool {
        self.is_start
    }

    /// All of a time, to a thousandth of a second, so that texts compare as times do.
    pub(crate) fn whole() -> Option<Self> {
        let mut rendering = Self::of_format("%Y%m%d%H%M%S")?;
        rendering.add("", Field::Thousandths)?;
        Some(rendering)
    }

    /// The same with a defect.
    pub(crate) fn broken(self, defect: EncoderDefect) -> Self {
        Self { defect: Some(defect), ..self }
    }

    /// One behind the other.
    pub(crate) fn followed_by(&self, other: &Self) -> Option<Self> {
        let mut joined = self.clone();
        for (before, field) in &other.fields {
            joined.add(before, *field)?;
        }
        joined.rest.push_str(&other.rest);
        Some(joined)
    }

    /// Constant characters behind it.
    pub(crate) fn followed_by_text(&self, text: &str) -> Self {
        Self { rest: format!("{}{text}", self.rest), ..self.clone() }
    }

    fn add(&mut self, before: &str, field: Field) -> Option<()> {
        if self.fields.last().is_some_and(|(_, last)| last.rank() >= field.rank()) {
            return None;
        }
        let before = std::mem::take(&mut self.rest) + before;
        self.fields.push((before, field));
        Some(())
    }

    /// Whether it shows no more than the fields that a day and a time of day are written in. What else there is SQLite
    /// computes from the number of days, which another day has for 24 hours.
    pub(crate) fn is_of_fields(&self) -> bool {
        use Field as F;
        let is_computed =
            |(_, field): &(String, Field)| matches!(field, F::DayOfYear | F::DayOfWeek | F::Thousandths);
        !self.is_start && !self.fields.iter().any(is_computed)
    }

    fn show(&self, output: &mut Vec<char>, field: Field, digits: &str, is_first: bool) {
        let Some((before, _)) = self.fields.iter().find(|(_, other)| *other == field) else { return };
        if is_first {
            output.extend(before.chars());
        }
        output.extend(digits.chars());
    }

    /// The first three digits of a year; SQLite writes at least four characters, a minus among them.
    fn show_year(&self, output: &mut Vec<char>, digits: &str, is_negative: bool) {
        let is_short = !self.has_long_years && digits.starts_with('0');
        let digits = match (is_negative, is_short) {
            (false, _) => digits.to_owned(),
            (true, true) => format!("-{}", &digits[1..]),
            (true, false) => format!("-{digits}"),
        };
        self.show(output, Field::Year, &digits, true);
    }

    /// Reads a character, and says what is shown after it.
    pub(crate) fn read(&self, state: &mut [u32], char: char) -> Vec<char> {
        let mut output = Vec::new();
        let &mut [place, _, pending, before, _, weekday] = &mut state[..] else { return output };
        step(state, char, self.fields.iter().map(|(_, field)| *field).find(|field| field.rank() == 2));
        if self.defect == Some(EncoderDefect::MonthsOf31Days) && state[0] == 7 {
            state[4] = 31;
        }
        if state[0] == OVER {
            return output;
        }
        let digit = char.to_string();
        match place {
            2 if char == ':' => {
                for field in [Field::Year, Field::Month, Field::Day, Field::DayOfYear, Field::DayOfWeek] {
                    self.show(&mut output, field, field.missing(), true);
                }
                self.show(&mut output, Field::Hour, &format!("{pending:02}"), true);
            }
            2 => {
                self.show_year(&mut output, &format!("{pending:02}{char}"), state[1] & ODD != 0);
            }
            3 => self.show(&mut output, Field::Year, &digit, false),
            5 | 6 => self.show(&mut output, Field::Month, &digit, place == 5),
            8 => self.show(&mut output, Field::Day, &digit, true),
            9 => {
                self.show(&mut output, Field::Day, &digit, false);
                let days = before + pending * 10 + number(char);
                self.show(&mut output, Field::DayOfYear, &format!("{days:03}"), true);
                let begin = if self.defect == Some(EncoderDefect::WeeksBeginOnMonday) { 2 } else { 1 };
                self.show(
                    &mut output,
                    Field::DayOfWeek,
                    &((weekday + days + 7 - begin) % 7).to_string(),
                    true,
                );
            }
            11 | 12 => self.show(&mut output, Field::Hour, &digit, place == 11),
            14 | 15 => self.show(&mut output, Field::Minute, &digit, place == 14),
            17 | 18 => self.show(&mut output, Field::Second, &digit, place == 17),
            20..=22 => self.show(&mut output, Field::Thousandths, &digit, place == 20),
            _ => {}
        }
        output
    }

    /// What is shown after the last character; `None` where the text is not a time exactly, which `all_times` takes for one
    /// too.
    pub(crate) fn end(&self, state: &[u32], all_times: bool) -> Option<Vec<char>> {
        if !is_whole(state) || (state[1] & ODD != 0 && !all_times) {
            return None;
        }
        let mut output = Vec::new();
        let read = match state[0] {
            DATE => Field::Day,
            MINUTES => Field::Minute,
            _ => Field::Second,
        };
        for (before, field) in self.fields.iter().filter(|(_, field)| field.rank() > read.rank()) {
            let digits = if state[0] > 20 { state[0] as usize - 20 } else { 0 };
            if digits == 0 {
                output.extend(before.chars());
            }
            output.extend(field.missing().chars().skip(digits));
        }
        output.extend(self.rest.chars());
        Some(output)
    }
}

/// The time at which `julianday` is that number, as [`Rendering::whole`] shows it, or a text between the times around it. `None`
/// before the year 0 and after 9999.
pub(crate) fn text_of_days(days: &BigRational) -> Option<String> {
    const DAY: i64 = 86_400_000;
    /// 1970-01-01.
    const EPOCH: i64 = 210_866_760_000_000;
    let wanted = days.to_f64()?;
    // As SQLite divides.
    let at = |time: i64| time as f64 / DAY as f64;
    let guess = (wanted * DAY as f64).to_i64()?;
    let first = (guess.saturating_sub(3)..=guess.saturating_add(3)).find(|&time| at(time) >= wanted)?;
    let is_exact = at(first).total_cmp(&wanted).is_eq();
    let output = if is_exact { first } else { first - 1 };
    let (date, time) = ((output - EPOCH).div_euclid(DAY), (output - EPOCH).rem_euclid(DAY));
    let (year, month, day) = date_of(date);
    let (seconds, thousandths) = (time / 1000, time % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let behind = if is_exact { "" } else { "5" };
    let is_known = (0..=9999).contains(&year);
    is_known.then(|| {
        format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}{thousandths:03}{behind}")
    })
}

pub(crate) fn begin(state: &mut [u32]) {
    state[..SIZE].fill(0);
}

/// Reads a character of what may be a value of a column of dates.
pub(crate) fn read_declared(state: &mut [u32], char: char) {
    step(state, char, None);
}

/// Whether the text is a time exactly.
pub(crate) fn is_declared(state: &[u32]) -> bool {
    is_whole(state) && state[1] & ODD == 0
}

fn is_whole(state: &[u32]) -> bool {
    matches!(state[0], DATE | MINUTES | SECONDS | 21..=23)
}

fn number(digit: char) -> u32 {
    digit.to_digit(10).unwrap_or_default()
}

/// Reads a character. The state is the place in the text, what is odd, digits that are not yet a number, what leap years depend on
/// and then how many days are before the month if `day` counts them, how many the month has, and for a day of the week what the first
/// day of the year depends on and then which day that is.
fn step(state: &mut [u32], char: char, day: Option<Field>) {
    let Some(next) = next(state, char, day) else {
        state.fill(0);
        state[0] = OVER;
        return;
    };
    state[0] = next;
}

/// Whether a machine need not read on.
pub(crate) fn is_over(state: &[u32]) -> bool {
    state[0] == OVER
}

fn next(state: &mut [u32], char: char, day: Option<Field>) -> Option<u32> {
    let place = state[0];
    let is_negative = state[1] & ODD != 0;
    let Some(digit) = char.to_digit(10) else {
        return match (place, char) {
            (0, '-') if !is_negative => {
                state[1] = ODD;
                Some(0)
            }
            (2, ':') if !is_negative => {
                hour(state)?;
                Some(14)
            }
            (4 | 7, '-') | (13 | MINUTES, ':') | (DATE, ' ' | 'T') | (SECONDS, '.') => Some(place + 1),
            _ => None,
        };
    };
    let pending = std::mem::take(&mut state[2]) * 10 + digit;
    match place {
        0 | 5 | 8 | 11 => state[2] = digit,
        1 => state[2] = pending,
        2 => {
            // Of the first three digits of a year, leap years depend on these.
            state[3] = pending / 10 % 4;
            state[2] = if digit == 0 { 0 } else { 2 - digit % 2 };
            state[5] = if day == Some(Field::DayOfWeek) { pending % 40 } else { 0 };
        }
        3 => {
            if day == Some(Field::DayOfWeek) {
                state[5] = first_weekday(state[5] * 10 + digit, is_negative);
            }
            state[3] = u32::from(if pending == 0 { state[3] == 0 } else { pending.is_multiple_of(4) });
        }
        6 => {
            let month = Some(pending).filter(|month| (1..=12).contains(month))?;
            let is_leap = state[3] == 1;
            let before = days_before(month, is_leap);
            state[3] = if day == Some(Field::DayOfYear) { before } else { 0 };
            state[5] = if day == Some(Field::DayOfWeek) { (state[5] + before) % 7 } else { 0 };
            state[4] = days_of(month, is_leap);
        }
        9 => {
            Some(pending).filter(|day| (1..=state[4]).contains(day))?;
            state[3..SIZE].fill(0);
        }
        12 => {
            state[2] = pending;
            hour(state)?;
        }
        14 | 17 => Some(digit).filter(|&tens| tens < 6).map(|_| ())?,
        15 | 18 | 20..=22 => {}
        _ => return None,
    }
    Some(place + 1)
}

/// Takes the digits for an hour: SQLite reads 24 too.
fn hour(state: &mut [u32]) -> Option<()> {
    match std::mem::take(&mut state[2]) {
        0..=23 => {}
        24 => state[1] |= ODD,
        _ => return None,
    }
    Some(())
}

fn days_of(month: u32, is_leap: bool) -> u32 {
    match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The day of the week, from Sunday, of the first day of a year of which the remainder by 400 is known.
fn first_weekday(year: u32, is_negative: bool) -> u32 {
    let year = if is_negative { (400 - year) % 400 } else { year };
    let leap_years = year.div_ceil(4) - year.div_ceil(100) + year.div_ceil(400);
    // The first day of the year 0 is a Saturday.
    (6 + 365 * year + leap_years) % 7
}

fn days_before(month: u32, is_leap: bool) -> u32 {
    (1..month).map(|month| days_of(month, is_leap)).sum()
}
