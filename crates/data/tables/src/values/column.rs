//! What a column is, by all of its values, and its values as that.

use rusqlite::types::Value;

use super::date::{self, Days, Moment};
use super::{ColumnType, Doubt, MARKS, MARKS_OF_TEXTS, number};

/// What is known of the values of a column that have passed by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Column {
    /// Values that are not empty, spellings of a missing one among them.
    pub(crate) given: u64,
    marks: u64,
    texts: u64,
    /// Texts that are a code of two capital letters.
    two_capitals: u64,
    integers: u64,
    integers_with_point: u64,
    reals: u64,
    dates: u64,
    datetimes: u64,
    times: u64,
    utc: u64,
    /// Values that only make sense with the day first, only with the month first, or with both and differently.
    orders: [u64; 3],
}

/// How the values of a column become typed ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Typing {
    pub(crate) kind: ColumnType,
    pub(crate) doubt: Option<Doubt>,
    month_first: bool,
    /// In a column of texts: whether `NA` is no value.
    na_is_null: bool,
}

impl Column {
    /// Takes a value, without blanks around it.
    pub(crate) fn take(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.given += 1;
        if is_among(text, &MARKS) {
            self.marks += 1;
        } else if number::is_integer(text) {
            self.integers += 1;
        } else if number::is_integer_with_point(text) {
            self.integers_with_point += 1;
        } else if number::is_real(text) {
            self.reals += 1;
        } else if let Some(moment) = date::read(text) {
            self.moment(&moment);
        } else {
            self.texts += 1;
            self.two_capitals +=
                u64::from(text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase()));
        }
    }

    fn moment(&mut self, moment: &Moment<'_>) {
        self.utc += u64::from(moment.utc);
        match moment.days {
            None => self.times += 1,
            Some(days) => {
                *if moment.time.is_some() { &mut self.datetimes } else { &mut self.dates } += 1;
                if let Days::Either { day_first, month_first } = days {
                    let order = if month_first.is_none() { 0 } else { 1 + usize::from(day_first.is_some()) };
                    self.orders[order] += 1;
                }
            }
        }
    }

    /// What the column is.
    pub(crate) fn typing(&self) -> Typing {
        let (kind, doubt) = self.kind();
        Typing {
            kind,
            doubt,
            month_first: self.orders[1] > 0,
            na_is_null: self.texts == 0 || self.two_capitals < self.texts,
        }
    }

    /// Whether no value is left once those are NULL that a spelling says are.
    pub(crate) fn is_empty(&self) -> bool {
        self.given == self.marks
    }

    fn kind(&self) -> (ColumnType, Option<Doubt>) {
        let numbers = self.integers + self.integers_with_point + self.reals;
        let days = self.dates + self.datetimes;
        let others = self.given - self.marks;
        if numbers == others && others > 0 {
            let kind = if self.reals > 0 { ColumnType::Real } else { ColumnType::Integer };
            (kind, None)
        } else if self.times == others && others > 0 {
            (ColumnType::Time, None)
        } else if days == others && others > 0 {
            self.day_kind()
        } else {
            (ColumnType::Text, None)
        }
    }

    fn day_kind(&self) -> (ColumnType, Option<Doubt>) {
        let [day_first, month_first, either] = self.orders;
        let mixed = self.dates > 0 && self.datetimes > 0 || self.utc > 0 && self.utc < self.datetimes;
        let doubt = if mixed {
            Some(Doubt::DatePrecisionMixed)
        } else if day_first > 0 && month_first > 0 {
            Some(Doubt::DateOrderMixed)
        } else if either > 0 && day_first + month_first == 0 {
            Some(Doubt::DateOrderUnknown)
        } else {
            None
        };
        let kind = if self.dates > 0 { ColumnType::Date } else { ColumnType::Datetime };
        if doubt.is_some() { (ColumnType::Text, doubt) } else { (kind, None) }
    }
}

impl Typing {
    /// A value as its column has it; none if the column does not have such values.
    pub(crate) fn value(self, text: &str) -> Option<Value> {
        if text.is_empty() {
            return Some(Value::Null);
        }
        if self.kind == ColumnType::Text {
            let is_null =
                is_among(text, &MARKS_OF_TEXTS) && (self.na_is_null || !text.eq_ignore_ascii_case("na"));
            return Some(if is_null { Value::Null } else { Value::Text(text.to_owned()) });
        }
        if is_among(text, &MARKS) {
            return Some(Value::Null);
        }
        match self.kind {
            ColumnType::Integer => {
                let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
                whole.parse().ok().map(Value::Integer)
            }
            ColumnType::Real => text.parse().ok().map(Value::Real),
            _ => self.moment(text).map(Value::Text),
        }
    }

    fn moment(self, text: &str) -> Option<String> {
        let moment = date::read(text)?;
        let day = match moment.days {
            None => None,
            Some(Days::One(day)) => Some(day),
            Some(Days::Either { day_first, month_first }) => {
                Some(if self.month_first { month_first } else { day_first }?)
            }
        };
        let parts = [day.map(date::Date::iso), moment.time.map(date::iso_time)];
        Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
    }
}

fn is_among(text: &str, spellings: &[&str]) -> bool {
    text.len() <= 7 && spellings.iter().any(|spelling| text.eq_ignore_ascii_case(spelling))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(texts: &[&str]) -> (ColumnType, Option<Doubt>, Vec<String>) {
        let mut column = Column::default();
        texts.iter().for_each(|text| column.take(text));
        let typing = column.typing();
        let said = |value: Value| match value {
            Value::Null => "NULL".to_owned(),
            Value::Integer(value) => value.to_string(),
            Value::Real(value) => format!("{value:?}"),
            Value::Text(text) => text,
            Value::Blob(_) => "blob".to_owned(),
        };
        (typing.kind, typing.doubt, texts.iter().map(|text| said(typing.value(text).unwrap())).collect())
    }

    #[test]
    fn a_column_is_what_all_of_its_values_are() {
        use ColumnType::{Date, Datetime, Integer, Real, Text, Time};
        for (texts, kind, values) in [
            (vec!["1", "", "NA", "-3"], Integer, vec!["1", "NULL", "NULL", "-3"]),
            (vec!["1.0", "", "2.0"], Integer, vec!["1", "NULL", "2"]),
            (vec!["1", "2.5"], Real, vec!["1.0", "2.5"]),
            (vec!["007", "12"], Text, vec!["007", "12"]),
            (vec!["a", "NA", "NULL", "-"], Text, vec!["a", "NULL", "NULL", "-"]),
            (vec!["DE", "NA", "FR"], Text, vec!["DE", "NA", "FR"]),
            (vec!["31/1/2013", "1/2/2013"], Date, vec!["2013-01-31", "2013-02-01"]),
            (vec!["1/31/2013", "1/2/2013"], Date, vec!["2013-01-31", "2013-01-02"]),
            (
                vec!["2013-01-31", "31.01.2013", "5 Jan 2013", "Jan 5, 2013", "2013/2/1"],
                Date,
                vec!["2013-01-31", "2013-01-31", "2013-01-05", "2013-01-05", "2013-02-01"],
            ),
            (vec!["2013-01-31T10:00:00Z"], Datetime, vec!["2013-01-31 10:00:00"]),
            (vec!["9:05", "10:00:01"], Time, vec!["09:05:00", "10:00:01"]),
            (vec!["true", "1"], Text, vec!["true", "1"]),
        ] {
            let (found, doubt, typed) = typed(&texts);
            assert_eq!(
                (found, doubt, typed),
                (kind, None, values.into_iter().map(str::to_owned).collect()),
                "{texts:?}"
            );
        }
    }

    #[test]
    fn dates_that_could_be_others_stay_as_they_are_written() {
        for (texts, doubt) in [
            (vec!["1/2/2013", "3/4/2013"], Doubt::DateOrderUnknown),
            (vec!["31/1/2013", "1/31/2013"], Doubt::DateOrderMixed),
            (vec!["2013-01-31", "2013-01-31 10:00"], Doubt::DatePrecisionMixed),
            (vec!["2013-01-31 10:00Z", "2013-01-31 10:00"], Doubt::DatePrecisionMixed),
        ] {
            let expected: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(typed(&texts), (ColumnType::Text, Some(doubt), expected), "{texts:?}");
        }
    }
}
