//! Plausible values as SQL over the number of a row.

use std::fmt::Write as _;

use sqlgauge_base::Random;
use sqlgauge_sql::schema::Table;
use sqlgauge_sql::{PrintDialect, quote};

/// Numbers are taken modulo this prime: what they are scrambled to is below it.
const PRIME: u64 = 99_991;
/// Most digits that one scrambled number gives.
const DIGITS: usize = 4;

/// What a column may hold.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    /// Integers between two, both included.
    Integer(i64, i64),
    /// Numbers between two, with so many decimals.
    Real(f64, f64, u8),
    /// Days of the years between two, both included.
    Date(i64, i64),
    /// The same, with a time of day.
    DateTime(i64, i64),
    /// Times of day, on the quarter of an hour.
    Time,
    /// 0 or 1.
    Flag,
    /// One of some texts.
    OneOf(Vec<&'static str>),
    /// One text and another, with a blank between them.
    TwoOf(Vec<&'static str>, Vec<&'static str>),
    /// So many letters and so many digits.
    Code(usize, usize),
    /// An address for electronic mail, in a domain that is kept for examples.
    Email,
    /// A telephone number of the kind that is kept for fiction.
    Phone,
    /// An address of the web, in a domain that is kept for examples.
    Url,
}

impl Values {
    pub(super) fn among(bound: i64) -> Self {
        Self::Integer(0, bound - 1)
    }

    /// What a data file says; none where it says nothing that is known.
    pub(super) fn read(text: &'static str) -> Option<Self> {
        let choices =
            |text: &'static str| -> Vec<&'static str> { text.split(" / ").map(str::trim).collect() };
        if let Some(list) = text.strip_prefix("one of ") {
            return Some(Self::OneOf(choices(list)));
        }
        if let Some((first, second)) =
            text.strip_prefix("two of ").and_then(|lists| lists.split_once(" and "))
        {
            return Some(Self::TwoOf(choices(first), choices(second)));
        }
        let fields: Vec<&str> = text.split_whitespace().collect();
        Some(match *fields.as_slice() {
            ["integer", from, to] => Self::Integer(from.parse().ok()?, to.parse().ok()?),
            ["real", from, to, decimals] => {
                Self::Real(from.parse().ok()?, to.parse().ok()?, decimals.parse().ok()?)
            }
            ["date", from, to] => Self::Date(from.parse().ok()?, to.parse().ok()?),
            ["datetime", from, to] => Self::DateTime(from.parse().ok()?, to.parse().ok()?),
            ["code", letters, digits] => Self::Code(letters.parse().ok()?, digits.parse().ok()?),
            ["time"] => Self::Time,
            ["flag"] => Self::Flag,
            ["email"] => Self::Email,
            ["phone"] => Self::Phone,
            ["url"] => Self::Url,
            _ => return None,
        })
    }

    /// The value in the row that the number tells, never NULL; which values rows get is drawn.
    pub(super) fn sql(&self, row: &str, random: &mut Random) -> String {
        let mut below = |bound: u64| scrambled(row, bound, random);
        match self {
            Self::Integer(from, to) => format!("{from} + {}", below(to.abs_diff(*from) + 1)),
            Self::Real(from, to, decimals) => {
                let step = (to - from) / (PRIME - 1) as f64;
                format!("round({from:?} + {} * {step:?}, {decimals})", below(PRIME))
            }
            Self::Date(from, to) => {
                format!("date('{from}-01-01', '+' || {} || ' days')", below((to.abs_diff(*from) + 1) * 365))
            }
            Self::DateTime(from, to) => {
                let days = below((to.abs_diff(*from) + 1) * 365);
                format!(
                    "datetime('{from}-01-01', '+' || {days} || ' days', '+' || {} || ' minutes')",
                    below(1440)
                )
            }
            Self::Time => format!("printf('%02d:%02d', 6 + {}, 15 * {})", below(16), below(4)),
            Self::Flag => below(2),
            Self::OneOf(texts) => one_of(texts, &mut below),
            Self::TwoOf(first, second) => {
                format!("{} || ' ' || {}", one_of(first, &mut below), one_of(second, &mut below))
            }
            Self::Code(letters, digits) => code(*letters, *digits, &mut below),
            Self::Email => format!("printf('user%04d@example.com', {})", below(10_000)),
            Self::Phone => format!("printf('555-01%02d-%03d', {}, {})", below(100), below(1000)),
            Self::Url => format!("printf('https://example.com/%05d', {})", below(PRIME)),
        }
    }
}

fn one_of(texts: &[&str], below: &mut impl FnMut(u64) -> String) -> String {
    let Some((last, others)) = texts.split_last() else { return "''".to_owned() };
    if others.is_empty() {
        return quote::text(last);
    }
    let cases: Vec<String> =
        others.iter().enumerate().map(|(at, text)| format!("WHEN {at} THEN {}", quote::text(text))).collect();
    format!("CASE {} {} ELSE {} END", below(texts.len() as u64), cases.join(" "), quote::text(last))
}

fn code(letters: usize, digits: usize, below: &mut impl FnMut(u64) -> String) -> String {
    let mut format = String::new();
    let mut values = Vec::new();
    for _ in 0..letters {
        format.push_str("%s");
        values.push(format!("char(65 + {})", below(26)));
    }
    let mut left = digits;
    while left > 0 {
        let some = left.min(DIGITS);
        let _ = write!(format, "%0{some}d");
        values.push(below(10_u64.pow(u32::try_from(some).unwrap_or_default())));
        left -= some;
    }
    format!("printf('{format}', {})", values.join(", "))
}

/// A number below a bound that follows from the row's and from what is drawn: an affine map modulo a prime.
fn scrambled(row: &str, bound: u64, random: &mut Random) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "a prime below 2^17")]
    let mut draw = |from: usize| from + random.below(PRIME as usize - from);
    let (factor, offset) = (draw(1000), draw(0));
    let number = format!("({row} * {factor} + {offset}) % {PRIME}");
    if bound < PRIME { format!("({number} % {bound})") } else { format!("({number})") }
}

/// A number from 0 that tells a row of a table, as SQL over its key, or over its first two columns where it has none;
/// rows of the same key or of similar texts may have the same.
pub(crate) fn row_number(table: &Table, alias: Option<&str>) -> String {
    let key = table.primary_key.iter().filter_map(|&place| table.column(place));
    let mut columns: Vec<_> = key.filter(|column| !column.generated).take(2).collect();
    if columns.is_empty() {
        columns = table.columns.iter().filter(|column| !column.generated && !column.hidden).take(2).collect();
    }
    let terms: Vec<String> = columns
        .iter()
        .map(|column| {
            let name = PrintDialect::Sqlite.identifier(&column.name);
            let name = alias.map_or(name.clone(), |alias| format!("{alias}.{name}"));
            // Texts in a column of numbers count as their number, real numbers as their whole part.
            if column.affinity.is_numeric() {
                format!("coalesce(CAST({name} AS INTEGER) % {PRIME} + {PRIME}, 0)")
            } else {
                format!(
                    "coalesce(length({name}) * 1009 + unicode({name}) * 31 + unicode(substr({name}, -1)), 0)"
                )
            }
        })
        .collect();
    match terms.as_slice() {
        [] => "0".to_owned(),
        [only] => only.clone(),
        terms => format!("({})", terms.join(" + 7 * ")),
    }
}
