//! The date and time functions of SQLite at a moment that does not pass.
//!
//! # Contract
//! `date`, `time`, `datetime`, `julianday`, `unixepoch`, `strftime`, `timediff`, `current_date`, `current_time` and
//! `current_timestamp` return what SQLite's own return, where `now` is the moment that the engine was given and the local
//! time zone is UTC. So what a query returns follows from its text, its database and that moment. Whether a query has asked
//! for any of it is known from [`Clock::was_read`].
//!
//! SQLite asks the operating system for the time, and nothing safe can be put between the two, so the functions
//! themselves are replaced, all calls of them; the tests compare them with SQLite's own. Known difference: SQLite refuses
//! `now` in generated columns, and here it has a value.
//!
//! Calling SQLite's own functions on a second connection was measured and is slower: a scan of a million rows takes 1.5
//! times as long with `date`, 2.5 times with `strftime`.

mod date;
mod modifier;
mod number;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, Result, ffi};

use crate::moment::Moment;

use self::date::{DAY, Date, UNIX_EPOCH};
use self::number::{fixed, general};

/// The moment of a connection, and whether its query has asked for it.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    now: Moment,
    was_read: Arc<AtomicBool>,
}

impl Clock {
    /// Begins anew.
    pub(super) fn begin(&self) {
        self.was_read.store(false, Ordering::Relaxed);
    }

    /// Whether the query that runs, or ran last, has asked for the time or the time zone.
    pub(super) fn was_read(&self) -> bool {
        self.was_read.load(Ordering::Relaxed)
    }

    fn read(&self) -> Date {
        self.was_read.store(true, Ordering::Relaxed);
        Date::at(self.now.unix_seconds() * 1000 + UNIX_EPOCH)
    }

    /// The moment that a date and its modifiers say, `None` if they say none.
    fn date(&self, arguments: &[ValueRef<'_>]) -> Option<Date> {
        let Some((first, modifiers)) = arguments.split_first() else { return Some(self.read()) };
        let mut date = match *first {
            ValueRef::Null => return None,
            ValueRef::Integer(number) => Date::of_number(number as f64),
            ValueRef::Real(number) => Date::of_number(number),
            ValueRef::Text(text) | ValueRef::Blob(text) => self.of_text(until_nul(text))?,
        };
        for (place, modifier) in (1..).zip(modifiers) {
            // A number alone modifies nothing.
            let (ValueRef::Text(text) | ValueRef::Blob(text)) = *modifier else { return None };
            let text = until_nul(text);
            if [b"localtime".as_slice(), b"utc"].iter().any(|zone| text.eq_ignore_ascii_case(zone)) {
                self.was_read.store(true, Ordering::Relaxed);
            }
            date.modify(text, place)?;
        }
        date.find_julian();
        if date.is_error || !date.is_in_range() {
            return None;
        }
        if modifiers.is_empty() && date.knows_day && date.day > 28 {
            date.knows_day = false;
        }
        Some(date)
    }

    fn of_text(&self, text: &[u8]) -> Option<Date> {
        let is = |word: &str| text.eq_ignore_ascii_case(word.as_bytes());
        if is("now") {
            return Some(self.read());
        }
        if is("subsec") || is("subsecond") {
            return Some(Date { shows_milliseconds: true, ..self.read() });
        }
        Date::parse(text)
    }
}

/// What SQLite reads of a text that goes over to C.
fn until_nul(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// A function of a clock and arguments; nothing is NULL.
type Function = fn(&Clock, &[ValueRef<'_>]) -> Option<Value>;

/// Name, number of arguments (-1 for any), function.
const FUNCTIONS: [(&str, i32, Function); 10] = [
    ("julianday", -1, |clock, arguments| clock.date(arguments).map(|date| Value::Real(julian_day(&date)))),
    ("unixepoch", -1, |clock, arguments| clock.date(arguments).map(|date| unix_seconds(&date))),
    ("date", -1, |clock, arguments| clock.date(arguments).map(|date| Value::Text(date_text(date)))),
    ("time", -1, |clock, arguments| clock.date(arguments).map(|date| Value::Text(time_text(date)))),
    ("datetime", -1, |clock, arguments| clock.date(arguments).map(|date| Value::Text(date_and_time(date)))),
    ("strftime", -1, strftime),
    ("timediff", 2, timediff),
    ("current_date", 0, |clock, _| Some(Value::Text(date_text(clock.read())))),
    ("current_time", 0, |clock, _| Some(Value::Text(time_text(clock.read())))),
    ("current_timestamp", 0, |clock, _| Some(Value::Text(date_and_time(clock.read())))),
];

/// Puts the functions in the place of SQLite's on this connection, on which no value is longer than that.
pub(super) fn stop_time(connection: &Connection, now: Moment, max_value_bytes: usize) -> Result<Clock> {
    // As SQLite's own: one value for the whole of a query, and without effects, so that a view may use them.
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS | FunctionFlags::SQLITE_DETERMINISTIC;
    let clock = Clock { now, was_read: Arc::default() };
    for (name, count, function) in FUNCTIONS {
        let handle = clock.clone();
        connection.create_scalar_function(name, count, flags, move |context| {
            let value = with_arguments(context, |arguments| function(&handle, arguments));
            let is_too_long = matches!(&value, Some(Value::Text(text)) if text.len() > max_value_bytes);
            if is_too_long {
                return Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_TOOBIG), None));
            }
            Ok(value)
        })?;
    }
    Ok(clock)
}

/// Calls with the arguments of a call, without a list on the heap for the usual few.
fn with_arguments<T>(context: &Context<'_>, call: impl FnOnce(&[ValueRef<'_>]) -> T) -> T {
    const FEW: usize = 4;
    let count = context.len();
    if count <= FEW {
        let mut few = [ValueRef::Null; FEW];
        (0..count).for_each(|at| few[at] = context.get_raw(at));
        return call(&few[..count]);
    }
    call(&(0..count).map(|at| context.get_raw(at)).collect::<Vec<_>>())
}

fn julian_day(date: &Date) -> f64 {
    date.julian as f64 / DAY as f64
}

fn unix_seconds(date: &Date) -> Value {
    if date.shows_milliseconds {
        Value::Real((date.julian - UNIX_EPOCH) as f64 / 1000.0)
    } else {
        Value::Integer(date.julian / 1000 - UNIX_EPOCH / 1000)
    }
}

fn date_text(mut date: Date) -> String {
    date.find_date();
    let sign = if date.year < 0 { "-" } else { "" };
    format!("{sign}{:04}-{:02}-{:02}", date.year.unsigned_abs(), date.month, date.day)
}

#[expect(clippy::cast_possible_truncation, reason = "SQLite cuts off too")]
fn time_text(mut date: Date) -> String {
    date.find_time();
    let Date { hour, minute, second, .. } = date;
    if date.shows_milliseconds {
        let milliseconds = (second * 1000.0 + 0.5) as i32;
        let (seconds, rest) = (milliseconds / 1000 % 100, milliseconds % 1000);
        return format!("{hour:02}:{minute:02}:{seconds:02}.{rest:03}");
    }
    format!("{hour:02}:{minute:02}:{:02}", second as i32)
}

fn date_and_time(mut date: Date) -> String {
    date.find_date_and_time();
    format!("{} {}", date_text(date), time_text(date))
}

/// Days since the first of January.
fn day_of_year(date: &Date) -> i64 {
    let mut first = Date { knows_julian: false, month: 1, day: 1, ..*date };
    first.find_julian();
    (date.julian - first.julian + DAY / 2) / DAY
}

/// Days since Monday.
fn after_monday(date: &Date) -> i64 {
    (date.julian + DAY / 2) / DAY % 7
}

/// Days since Sunday.
fn after_sunday(date: &Date) -> i64 {
    (date.julian + DAY + DAY / 2) / DAY % 7
}

/// The Thursday of the same week, with its year.
fn thursday(date: &Date) -> Date {
    let mut thursday =
        Date { julian: date.julian + (3 - after_monday(date)) * DAY, knows_day: false, ..*date };
    thursday.find_date();
    thursday
}

fn strftime(clock: &Clock, arguments: &[ValueRef<'_>]) -> Option<Value> {
    let (format, of) = arguments.split_first()?;
    let number;
    let format = match *format {
        ValueRef::Null => return None,
        ValueRef::Text(text) | ValueRef::Blob(text) => until_nul(text),
        ValueRef::Integer(integer) => {
            number = integer.to_string();
            number.as_bytes()
        }
        ValueRef::Real(real) => {
            number = text_of(real)?;
            number.as_bytes()
        }
    };
    let mut date = clock.date(of)?;
    date.find_julian();
    date.find_date_and_time();
    let mut parts = format.split(|&byte| byte == b'%');
    let mut text = parts.next().map(|part| String::from_utf8_lossy(part).into_owned())?;
    while let Some(part) = parts.next() {
        if let Some((&specifier, rest)) = part.split_first() {
            write_part(&mut text, specifier, &date)?;
            text.push_str(&String::from_utf8_lossy(rest));
        } else {
            // A doubled sign stands for itself, with what follows behind it.
            text.push('%');
            text.push_str(&String::from_utf8_lossy(parts.next()?));
        }
    }
    Some(Value::Text(text))
}

/// A number as SQLite makes a text of it. Nobody means a number as a format, so that it may take a while.
fn text_of(number: f64) -> Option<String> {
    let connection = Connection::open_in_memory().ok()?;
    connection.query_row("SELECT CAST(? AS TEXT)", [number], |row| row.get(0)).ok()
}

/// Writes what one letter of a format stands for; `None` if it stands for nothing.
#[expect(clippy::cast_possible_truncation, reason = "SQLite cuts off too")]
fn write_part(text: &mut String, specifier: u8, date: &Date) -> Option<()> {
    let Date { year, month, day, hour, minute, second, .. } = *date;
    let hour_of_twelve = match if hour > 12 { hour - 12 } else { hour } {
        0 => 12,
        hour => hour,
    };
    let half = if hour >= 12 { "PM" } else { "AM" };
    // Writing to a String cannot fail.
    let _ = match specifier {
        b'd' => write!(text, "{day:02}"),
        b'e' => write!(text, "{day:2}"),
        b'f' => write!(text, "{:0>6}", fixed(second.min(59.999), 3)),
        b'F' => write!(text, "{year:04}-{month:02}-{day:02}"),
        b'G' => write!(text, "{:04}", thursday(date).year),
        b'g' => write!(text, "{:02}", thursday(date).year % 100),
        b'H' => write!(text, "{hour:02}"),
        b'k' => write!(text, "{hour:2}"),
        b'I' => write!(text, "{hour_of_twelve:02}"),
        b'l' => write!(text, "{hour_of_twelve:2}"),
        b'j' => write!(text, "{:03}", day_of_year(date) + 1),
        b'J' => write!(text, "{}", general(julian_day(date))),
        b'm' => write!(text, "{month:02}"),
        b'M' => write!(text, "{minute:02}"),
        b'p' => write!(text, "{half}"),
        b'P' => write!(text, "{}", half.to_ascii_lowercase()),
        b'R' => write!(text, "{hour:02}:{minute:02}"),
        b's' if date.shows_milliseconds => {
            write!(text, "{}", fixed((date.julian - UNIX_EPOCH) as f64 / 1000.0, 3))
        }
        b's' => write!(text, "{}", date.julian / 1000 - UNIX_EPOCH / 1000),
        b'S' => write!(text, "{:02}", second as i32),
        b'T' => write!(text, "{hour:02}:{minute:02}:{:02}", second as i32),
        b'u' => write!(text, "{}", after_monday(date) + 1),
        b'w' => write!(text, "{}", after_sunday(date)),
        b'U' => write!(text, "{:02}", (day_of_year(date) - after_sunday(date) + 7) / 7),
        b'V' => write!(text, "{:02}", day_of_year(&thursday(date)) / 7 + 1),
        b'W' => write!(text, "{:02}", (day_of_year(date) - after_monday(date) + 7) / 7),
        b'Y' => write!(text, "{year:04}"),
        _ => return None,
    };
    Some(())
}

/// What must be added to the second moment to come to the first.
fn timediff(clock: &Clock, arguments: &[ValueRef<'_>]) -> Option<Value> {
    /// A day whose date is the first of a month, at midnight, with room for the months before it.
    const ORIGIN: i64 = 148_699_540_800_000;
    let [first, second] = arguments else { return None };
    let (mut to, mut from) = (clock.date(&[*first])?, clock.date(&[*second])?);
    to.find_date_and_time();
    from.find_date_and_time();
    let forward = to.julian >= from.julian;
    let direction = if forward { 1 } else { -1 };
    let mut years = direction * (to.year - from.year);
    if years != 0 {
        from.year = to.year;
        from.knows_julian = false;
        from.find_julian();
    }
    let mut months = direction * (to.month - from.month);
    if months < 0 {
        years -= 1;
        months += 12;
    }
    if months != 0 {
        from.month = to.month;
        from.knows_julian = false;
        from.find_julian();
    }
    while if forward { to.julian < from.julian } else { to.julian > from.julian } {
        months -= 1;
        if months < 0 {
            months = 11;
            years -= 1;
        }
        from.month -= direction;
        if from.month < 1 {
            from.month = 12;
            from.year -= 1;
        } else if from.month > 12 {
            from.month = 1;
            from.year += 1;
        }
        from.knows_julian = false;
        from.find_julian();
    }
    to.julian = (to.julian - from.julian).abs() + ORIGIN;
    to.forget_date_and_time();
    to.find_date_and_time();
    let sign = if forward { '+' } else { '-' };
    let Date { day, hour, minute, second, .. } = to;
    let second = fixed(second, 3);
    Some(Value::Text(format!(
        "{sign}{years:04}-{months:02}-{:02} {hour:02}:{minute:02}:{second:0>6}",
        day - 1
    )))
}
