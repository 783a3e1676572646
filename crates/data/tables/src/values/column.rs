//! Decides the type of a column from all of its values, and converts them.

use rusqlite::types::Value;

use super::amount::DecimalMark;
use super::class::Class;
use super::date::{self, Days};
use super::flags::{self, Flags};
use super::moments::{DateOrder, Moments};
use super::numbers::{self, Numbers};
use super::{ColumnType, Doubt, MARKS, MARKS_OF_TEXTS, Reason};
use crate::options::TablesOptions;

/// What is known of the values of a column that have passed by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Column {
    /// Values that are not empty, spellings of a missing one among them.
    pub(crate) entries: u64,
    marks: u64,
    texts: Class,
    /// Texts that are a code of two capital letters.
    two_capitals: u64,
    /// Whether a text is digits that begin with zero: then the numbers among the values are codes too.
    has_codes: bool,
    numbers: Numbers,
    moments: Moments,
    flags: Flags,
}

/// How the values of a column become typed ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Typing {
    pub(crate) kind: ColumnType,
    /// Why it is a text although its values look like something else.
    pub(crate) reason: Option<Reason>,
    /// The currency or `%` that is taken off its numbers.
    pub(crate) unit: Option<String>,
    decimal_mark: DecimalMark,
    date_order: DateOrder,
    /// In a column of texts: whether `NA` is no value.
    na_is_null: bool,
}

impl Column {
    /// Takes a value, without blanks around it.
    pub(crate) fn take(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.entries += 1;
        if is_among(text, &MARKS) {
            self.marks += 1;
        } else if !self.numbers.take(text) {
            self.take_other(text);
        }
    }

    fn take_other(&mut self, text: &str) {
        if let Some(moment) = date::read(text) {
            self.moments.take(text, &moment);
            return;
        }
        self.texts.take(text);
        self.flags.take(text);
        self.has_codes |= text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
        self.two_capitals += u64::from(text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase()));
    }

    pub(crate) fn typing(&self, options: &TablesOptions) -> Typing {
        let text = Typing {
            kind: ColumnType::Text,
            reason: None,
            unit: None,
            decimal_mark: DecimalMark::Point,
            date_order: DateOrder::DayFirst,
            na_is_null: self.texts.is_empty() || self.two_capitals < self.texts.count,
        };
        self.typed(&text, options).unwrap_or_else(|reason| Typing { reason, ..text })
    }

    /// The typing, or why it is a text.
    fn typed(&self, text: &Typing, options: &TablesOptions) -> Result<Typing, Option<Reason>> {
        let others = self.entries - self.marks;
        if others == 0 {
            return Err(None);
        }
        if self.numbers.all.count == others {
            let decimal_mark = self.numbers.decimal_mark(options.decimal_mark)?;
            let is_whole = self.numbers.are_whole(decimal_mark);
            let kind = if is_whole { ColumnType::Integer } else { ColumnType::Real };
            let unit = self.numbers.common_unit().map(str::to_owned);
            return Ok(Typing { kind, unit, decimal_mark, ..text.clone() });
        }
        if self.moments.times.count == others {
            return Ok(Typing { kind: ColumnType::Time, ..text.clone() });
        }
        if self.moments.all.count == others && self.moments.times.is_empty() {
            let (kind, date_order) = self.moments.days(options.date_order)?;
            return Ok(Typing { kind, date_order, ..text.clone() });
        }
        match self.flags.words(others) {
            Some(_) if options.booleans => Ok(Typing { kind: ColumnType::Boolean, ..text.clone() }),
            Some(words) => Err(Some(Reason::new(Doubt::YesNo, words))),
            None => Err(self.nearly(others)),
        }
    }

    /// Why it is not a column of numbers or dates, where most of its values are.
    fn nearly(&self, others: u64) -> Option<Reason> {
        let (numbers, moments) = (&self.numbers.all, &self.moments.all);
        let is_most = |class: &Class| class.count * 4 >= others * 3;
        let reason = |doubt, most: &Class, rest: &Class| {
            let odd = if self.texts.is_empty() { rest } else { &self.texts };
            (is_most(most) && !self.has_codes).then(|| Reason::new(doubt, [odd]))
        };
        reason(Doubt::NearlyNumbers, numbers, moments).or_else(|| {
            reason(
                Doubt::NearlyDates,
                moments,
                if numbers.is_empty() { &self.moments.times } else { numbers },
            )
        })
    }

    /// Whether no value is left once those are NULL that a spelling says are.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries == self.marks
    }
}

impl Typing {
    /// A value as its column has it; none if the column does not have such values.
    pub(crate) fn value(&self, text: &str) -> Option<Value> {
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
                let plain = numbers::plain(text, self.decimal_mark)?;
                let whole = plain.split_once('.').map_or(plain.as_str(), |(whole, _)| whole);
                whole.parse().ok().map(Value::Integer)
            }
            ColumnType::Real => numbers::plain(text, self.decimal_mark)?.parse().ok().map(Value::Real),
            ColumnType::Boolean => flags::is_yes(text).map(|yes| Value::Integer(i64::from(yes))),
            _ => self.moment(text).map(Value::Text),
        }
    }

    fn moment(&self, text: &str) -> Option<String> {
        let moment = date::read(text)?;
        let day = match moment.days {
            None => None,
            Some(Days::One(day)) => Some(day),
            Some(Days::Either { day_first, month_first }) => Some(match self.date_order {
                DateOrder::DayFirst => day_first,
                DateOrder::MonthFirst => month_first,
            }?),
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

    fn typed_by(options: &TablesOptions, texts: &[&str]) -> (Typing, Vec<String>) {
        let mut column = Column::default();
        texts.iter().for_each(|text| column.take(text));
        let typing = column.typing(options);
        let print = |value: Value| match value {
            Value::Null => "NULL".to_owned(),
            Value::Integer(value) => value.to_string(),
            Value::Real(value) => format!("{value:?}"),
            Value::Text(text) => text,
            Value::Blob(_) => "blob".to_owned(),
        };
        let values = texts.iter().map(|text| print(typing.value(text).unwrap())).collect();
        (typing, values)
    }

    fn typed(texts: &[&str]) -> (ColumnType, Option<Doubt>, Vec<String>) {
        let (typing, values) = typed_by(&TablesOptions::default(), texts);
        (typing.kind, typing.reason.map(|reason| reason.doubt), values)
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
            (vec!["Y", "T"], Text, vec!["Y", "T"]),
            (vec!["1,234.50", "12", "0.5"], Real, vec!["1234.5", "12.0", "0.5"]),
            (vec!["1.234,50", "3,5", "1.234"], Real, vec!["1234.5", "3.5", "1234.0"]),
            (vec!["1,234,567", "1,234", "-5"], Integer, vec!["1234567", "1234", "-5"]),
            (vec!["1.234", "5.678"], Real, vec!["1.234", "5.678"]),
            (vec!["$1,234.50", "", "($5)"], Real, vec!["1234.5", "NULL", "-5.0"]),
            (vec!["5 €", "- 7 €"], Integer, vec!["5", "-7"]),
            (vec!["$5.00", "$6.00"], Real, vec!["5.0", "6.0"]),
            (vec!["12.5 %", "n/a"], Real, vec!["12.5", "NULL"]),
            (vec!["NO", "DE"], Text, vec!["NO", "DE"]),
            (vec!["no", "no"], Text, vec!["no", "no"]),
            (vec!["192.168.1.10", "10.0.0.1"], Text, vec!["192.168.1.10", "10.0.0.1"]),
            (vec!["02134", "94040", "94041", "94042"], Text, vec!["02134", "94040", "94041", "94042"]),
            (vec!["call us", "1", "2"], Text, vec!["call us", "1", "2"]),
        ] {
            let (column_type, doubt, typed) = typed(&texts);
            assert_eq!(
                (column_type, doubt, typed),
                (kind, None, values.into_iter().map(str::to_owned).collect()),
                "{texts:?}"
            );
        }
    }

    #[test]
    fn what_could_be_read_otherwise_stays_as_it_is_written() {
        for (texts, doubt, examples) in [
            (vec!["1/2/2013", "3/4/2013"], Doubt::DateOrderUnknown, vec!["1/2/2013"]),
            (vec!["2024-01-05", "05/01/2024", "Jan 5, 2024"], Doubt::DateOrderUnknown, vec!["05/01/2024"]),
            (vec!["31/1/2013", "1/31/2013"], Doubt::DateOrderMixed, vec!["31/1/2013", "1/31/2013"]),
            (
                vec!["2013-01-31", "2013-01-31 10:00"],
                Doubt::DatePrecisionMixed,
                vec!["2013-01-31", "2013-01-31 10:00"],
            ),
            (
                vec!["2013-01-31 10:00Z", "2013-01-31 10:00"],
                Doubt::DatePrecisionMixed,
                vec!["2013-01-31 10:00Z", "2013-01-31 10:00"],
            ),
            (vec!["1,234", "980"], Doubt::DecimalMarkUnknown, vec!["1,234"]),
            (vec!["€ 1.234", "€ 980"], Doubt::DecimalMarkUnknown, vec!["€ 1.234"]),
            (vec!["192.168.100.101"], Doubt::DecimalMarkUnknown, vec!["192.168.100.101"]),
            (vec!["1,234.50", "3,5"], Doubt::DecimalMarkMixed, vec!["1,234.50", "3,5"]),
            (vec!["$5", "€ 5"], Doubt::UnitMixed, vec!["$5", "€ 5"]),
            (vec!["$5", "5"], Doubt::UnitMixed, vec!["$5", "5"]),
            (vec!["(300)", "250"], Doubt::Brackets, vec!["(300)"]),
            (vec!["yes", "No"], Doubt::YesNo, vec!["yes", "No"]),
            (vec!["true", "true"], Doubt::YesNo, vec!["true"]),
            (vec!["yes", "no", "Y", "n"], Doubt::YesNo, vec!["yes", "no", "Y", "n"]),
            (vec!["t", "false"], Doubt::YesNo, vec!["false", "t"]),
            (vec!["2024-01-05", "05/01/2024", "31.12.2023"], Doubt::DateOrderUnknown, vec!["05/01/2024"]),
            (vec!["1", "2", "3", "call us"], Doubt::NearlyNumbers, vec!["call us"]),
            (vec!["1", "2", "3", "2013-01-31"], Doubt::NearlyNumbers, vec!["2013-01-31"]),
            (vec!["2013-01-31", "2013-02-01", "2013-02-02", "soon"], Doubt::NearlyDates, vec!["soon"]),
        ] {
            let (typing, values) = typed_by(&TablesOptions::default(), &texts);
            let examples = examples.into_iter().map(str::to_owned).collect();
            assert_eq!(typing.reason, Some(Reason { doubt, examples }), "{texts:?}");
            assert_eq!(
                (typing.kind, values),
                (ColumnType::Text, texts.iter().map(|text| (*text).to_owned()).collect())
            );
        }
    }

    #[test]
    fn a_choice_decides_what_the_values_leave_open_and_nothing_else() {
        let options = |decimal_mark, date_order| TablesOptions {
            decimal_mark: Some(decimal_mark),
            date_order: Some(date_order),
            booleans: true,
            ..TablesOptions::default()
        };
        let day = options(DecimalMark::Point, DateOrder::DayFirst);
        let month = options(DecimalMark::Comma, DateOrder::MonthFirst);
        for (texts, by_day, by_month) in [
            (["1,234", "980"], ["1234", "980"], ["1.234", "980.0"]),
            (["1.234,5", "980"], ["1234.5", "980.0"], ["1234.5", "980.0"]),
            (["1.234.567", "980"], ["1.234.567", "980"], ["1234567", "980"]),
            (["05/01/2024", "06/02/2024"], ["2024-01-05", "2024-02-06"], ["2024-05-01", "2024-06-02"]),
            (["05/01/2024", "31/01/2024"], ["2024-01-05", "2024-01-31"], ["2024-01-05", "2024-01-31"]),
            (["Yes", "no"], ["1", "0"], ["1", "0"]),
            (["T", "f"], ["1", "0"], ["1", "0"]),
            (["Yes", "n"], ["1", "0"], ["1", "0"]),
            (["05/01/2024", "31.12.2023"], ["2024-01-05", "2023-12-31"], ["05/01/2024", "31.12.2023"]),
        ] {
            assert_eq!(typed_by(&day, &texts).1, by_day, "{texts:?}");
            assert_eq!(typed_by(&month, &texts).1, by_month, "{texts:?}");
        }
    }

    #[test]
    fn the_unit_of_numbers_is_kept_beside_them() {
        let (typing, _) = typed_by(&TablesOptions::default(), &["$5", "$6.50"]);
        assert_eq!(typing.unit.as_deref(), Some("$"));
    }
}
