//! The functions against SQLite's own, on arguments of every kind.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use sqlgauge_base::Random;

use super::*;

/// A connection with the functions of a clock that stands still, and one with SQLite's own.
fn both(now: Moment) -> (Connection, Connection, Clock) {
    let (ours, theirs) = (Connection::open_in_memory().unwrap(), Connection::open_in_memory().unwrap());
    let clock = stop_time(&ours, now, 1 << 20).unwrap();
    (ours, theirs, clock)
}

fn called(connection: &Connection, function: &str, arguments: &[Value]) -> Result<Value, String> {
    let places = vec!["?"; arguments.len()].join(", ");
    let mut statement = connection.prepare_cached(&format!("SELECT {function}({places})")).unwrap();
    statement.query_row(params_from_iter(arguments), |row| row.get(0)).map_err(|error| error.to_string())
}

fn number(random: &mut Random, below: usize) -> i64 {
    i64::try_from(random.below(below)).unwrap()
}

fn chosen<'a>(random: &mut Random, of: &[&'a str]) -> &'a str {
    random.pick(of).unwrap()
}

/// A date, most of the time.
fn date(random: &mut Random) -> Value {
    const WORDS: [&str; 30] = [
        "",
        " ",
        "now ",
        "2020",
        "2020-1-1",
        "2020-02-30",
        "2019-02-29",
        "2020-02-29 24:00",
        "2020-12-31 24:00:00",
        "24:00",
        "24:01",
        "12:00",
        "-4713-11-24 12:00:00",
        "-4714-01-01",
        "0000-01-01",
        "9999-12-31 23:59:59.9999",
        "2020-01-01T12:00:00Z",
        "2020-01-01 12:00+00:00",
        "2020-01-01 00:00-14:59",
        "2020-01-01 12:00 +1:00",
        "2020-01-01 12:00:00.",
        "2020-01-01 12:00:00.3125",
        "2020-01-01 12:00:00.0004999",
        "2020-01-01 x",
        "14712-01-01",
        "1e3",
        " 2451545.5 ",
        "+.5e1",
        "1e",
        "2020-01-01 12:00:00.99949999999999",
    ];
    match random.below(10) {
        0 => Value::Text(chosen(random, &WORDS).to_owned()),
        1 => Value::Integer(number(random, 5_400_000)),
        2 => Value::Integer(number(random, 1 << 40) - (1 << 39)),
        3 => Value::Real(number(random, 1 << 40) as f64 / 1e5 - 1e6),
        4 => Value::Text((number(random, 1 << 36) as f64 / 1e4).to_string()),
        5 => Value::Blob(b"2020-05-06 07:08:09".to_vec()),
        kind => {
            let year = if kind == 6 { number(random, 10000) } else { 1900 + number(random, 200) };
            let day = format!("{year:04}-{:02}-{:02}", number(random, 14), number(random, 33));
            let time =
                format!("{:02}:{:02}:{:02}", number(random, 26), number(random, 61), number(random, 61));
            let zone = chosen(random, &["", "", "Z", "+02:00", " -11:30", "+00:00", "+15:00"]);
            let text = match random.below(5) {
                0 => day,
                1 => format!("{day} {time}"),
                2 => format!("{day}T{time}.{}{zone}", number(random, 100_000)),
                3 => format!("-{day} {time}{zone}"),
                _ => time,
            };
            Value::Text(text)
        }
    }
}

fn modifier(random: &mut Random) -> Value {
    const WORDS: [&str; 42] = [
        "auto",
        "AUTO",
        "julianday",
        "unixepoch",
        "utc",
        "localtime",
        "UTC",
        "subsec",
        "subsecond",
        "ceiling",
        "floor",
        "start of day",
        "start of month",
        "start of year",
        "start of week",
        "end of day",
        "end of month",
        "end of year",
        "weekday 0",
        "weekday 3",
        "weekday -6",
        "weekday 7",
        "weekday 1.5",
        "weekday -0",
        "+1 day",
        "-1.5 months",
        "+1 dayss",
        "+1day",
        "1 Month",
        "-13 month",
        "+29 days",
        "+5:30",
        "-05:30:10.25",
        "+23:59:59.999",
        "+24:00",
        "+0001-11-30",
        "-0010-12-01",
        "+00001-02-03 04:05",
        "-0001-02-03 04:05:06",
        "0001-02-03",
        "+ 1 day",
        "+1e3 hours",
    ];
    const UNITS: [&str; 8] = ["days", "hour", "minutes", "seconds", "month", "months", "year", "years"];
    match random.below(8) {
        0 => Value::Integer(number(random, 3000)),
        1 | 2 => {
            let amount =
                (number(random, 1 << 20) - (1 << 19)) as f64 / random.pick(&[1.0, 8.0, 100.0, 1e4]).unwrap();
            Value::Text(format!("{amount:+} {}", chosen(random, &UNITS)))
        }
        _ => Value::Text(chosen(random, &WORDS).to_owned()),
    }
}

fn format(random: &mut Random) -> Value {
    const PARTS: [&str; 34] = [
        "%d", "%e", "%f", "%F", "%G", "%g", "%H", "%k", "%I", "%l", "%j", "%J", "%m", "%M", "%p", "%P", "%R",
        "%s", "%S", "%T", "%u", "%w", "%U", "%V", "%W", "%Y", "%%", "%q", "%", "ä", "%Y-%m", " at ", "\0",
        "-",
    ];
    match random.below(12) {
        0 => Value::Integer(number(random, 3000)),
        1 => Value::Real(number(random, 3000) as f64 / 7.0),
        2 => Value::Null,
        count => Value::Text((0..count).map(|_| chosen(random, &PARTS)).collect()),
    }
}

/// A call of one of the functions, with arguments that need no clock.
fn call(random: &mut Random) -> (&'static str, Vec<Value>) {
    let mut arguments = vec![date(random)];
    let modifiers = random.below(4);
    arguments.extend((0..modifiers).map(|_| modifier(random)));
    match random.below(7) {
        0 => ("julianday", arguments),
        1 => ("unixepoch", arguments),
        2 => ("date", arguments),
        3 => ("time", arguments),
        4 => ("datetime", arguments),
        5 => ("timediff", vec![date(random), date(random)]),
        _ => {
            arguments.insert(0, format(random));
            ("strftime", arguments)
        }
    }
}

/// The zone of this process is that of the machine, so calls that ask for it are compared where it is UTC.
fn is_utc_here(connection: &Connection) -> bool {
    let offset = |of: &str| -> f64 {
        let sql = format!("SELECT julianday('{of}', 'localtime') - julianday('{of}')");
        connection.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    [offset("2020-01-01"), offset("2020-07-01"), offset("1975-07-01")].iter().all(|offset| *offset == 0.0)
}

#[test]
fn every_call_returns_what_it_returns_in_sqlite() {
    let (ours, theirs, _) = both(Moment::now());
    let is_utc = is_utc_here(&theirs);
    let asks_for_zone = |value: &Value| matches!(value, Value::Text(text) if ["utc", "localtime"].contains(&text.to_lowercase().as_str()));
    let mut random = Random::new([8]);
    let calls = 300_000;
    for _ in 0..calls {
        let (function, arguments) = call(&mut random);
        if is_utc || !arguments.iter().any(asks_for_zone) {
            let expected = called(&theirs, function, &arguments);
            assert_eq!(called(&ours, function, &arguments), expected, "{function}({arguments:?})");
        }
    }
}

/// SQLite's own clock passes, so its functions get the moment as a text, which is the same but for what shows that it is no
/// number.
#[test]
fn now_is_the_moment_of_the_clock() {
    let mut random = Random::new([9]);
    for seconds in [0, -62_167_219_200, 951_825_600, 1_700_000_000, 253_402_300_799] {
        let now = Moment::from_unix_seconds(seconds).unwrap();
        let (ours, theirs, clock) = both(now);
        for _ in 0..4000 {
            let (function, mut arguments) = call(&mut random);
            let place = usize::from(function == "strftime");
            let is_timediff = function == "timediff";
            arguments[place] = Value::Text("now".to_owned());
            clock.begin();
            let answer = called(&ours, function, &arguments);
            let formats = place == 0 || arguments[0] != Value::Null;
            assert_eq!(clock.was_read(), formats, "{function}({arguments:?})");
            arguments[place] = Value::Text(now.to_string());
            let is_zone = |value: &Value| matches!(value, Value::Text(text) if text.contains("local"));
            if is_timediff || !arguments[place + 1..].iter().any(is_zone) {
                assert_eq!(answer, called(&theirs, function, &arguments), "{now}: {function}({arguments:?})");
            }
        }
        for (sql, expected) in [
            (
                "SELECT CURRENT_TIMESTAMP = datetime('now') AND CURRENT_DATE = date() AND CURRENT_TIME = time('NOW')",
                true,
            ),
            ("SELECT datetime('subsec') = datetime() || '.000'", true),
            ("SELECT unixepoch(X'6E6F77') = unixepoch('now' || char(0) || 'x')", true),
            ("SELECT datetime('now', 'localtime') = datetime('now', 'utc')", true),
            ("SELECT date('2020-01-01', 'localtime') = '2020-01-01'", true),
        ] {
            clock.begin();
            assert_eq!(ours.query_row(sql, [], |row| row.get::<_, bool>(0)), Ok(expected), "{now}: {sql}");
            assert!(clock.was_read(), "{sql}");
        }
        clock.begin();
        ours.query_row("SELECT strftime('%Y', '2020-01-01', '+1 day')", [], |_| Ok(())).unwrap();
        assert!(!clock.was_read());
    }
}

#[test]
fn views_and_indexes_may_use_the_functions() {
    let (ours, ..) = both(Moment::from_unix_seconds(0).unwrap());
    ours.execute_batch(
        "PRAGMA trusted_schema = OFF; CREATE TABLE t(a); CREATE INDEX i ON t(strftime('%Y', a)); \
         CREATE VIEW v AS SELECT date('now') AS today; INSERT INTO t VALUES ('2020-01-01')",
    )
    .unwrap();
    let read = |sql: &str| ours.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(read("SELECT today FROM v"), "1970-01-01");
    assert_eq!(read("SELECT a FROM t WHERE strftime('%Y', a) = '2020'"), "2020-01-01");
}

#[test]
fn a_value_that_is_too_long_is_refused() {
    let connection = Connection::open_in_memory().unwrap();
    stop_time(&connection, Moment::now(), 100).unwrap();
    let result = connection.query_row("SELECT strftime(printf('%.*c', 99, 'x') || '%Y')", [], |_| Ok(()));
    assert!(result.is_err_and(|error| error.to_string().contains("too big")));
}
