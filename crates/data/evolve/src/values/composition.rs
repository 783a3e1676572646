//! How one value is composed of several and taken apart again, in Rust and as SQL that says the same.
//!
//! # Contract
//! A composition is a row of fields with texts between them. Taken apart from the left, a field ends after a fixed number of
//! characters, where its letters end and digits begin, or at the first place where the text after it stands. For every
//! value that [`Composition::round_trips`] accepts, SQLite makes of the SQL expressions what this module makes of the
//! value, byte for byte and type for type, in both directions. The parts of NULL are NULL, and NULL is what they compose.

use sqlgauge_engine::Value;

/// Longest run of digits that is taken for a number: below 2^53, in which every program counts alike.
const MAX_DIGITS: usize = 15;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Text,
    /// An integer, written as SQLite writes it.
    Integer,
    /// An integer from 0, written with zeros before it up to this many digits.
    Padded(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// After so many characters; a text may follow that belongs to neither field.
    Width(usize, String),
    /// Where this text first stands.
    At(String),
    /// The same; where the text does not stand, this field is all and the next one, the last, is NULL.
    AtIfAny(String),
    /// Before the digits with which the value ends.
    Digits,
    Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) content: Content,
    pub(super) end: End,
}

/// The fields of a value, from left to right; the last one ends with the value or has a width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Composition {
    pub(super) fields: Vec<Field>,
}

impl Content {
    /// The type that a column of such values is declared with.
    pub(super) fn declared_type(self) -> &'static str {
        match self {
            Self::Text => "TEXT",
            Self::Integer | Self::Padded(_) => "INTEGER",
        }
    }

    /// The value that a piece of text stands for.
    fn value(self, text: &str) -> Option<Value> {
        match self {
            Self::Text => Some(Value::text(text)),
            Self::Integer => {
                let value: i64 = text.parse().ok()?;
                (text.len() <= MAX_DIGITS && value.to_string() == text).then_some(Value::Integer(value))
            }
            Self::Padded(width) => {
                let digits = text.len() == width && text.bytes().all(|byte| byte.is_ascii_digit());
                (digits && width <= MAX_DIGITS).then(|| text.parse().ok().map(Value::Integer))?
            }
        }
    }

    /// The text that stands for a value.
    fn text(self, value: &Value) -> Option<String> {
        match (self, value) {
            (Self::Text, Value::Text(_)) => value.as_str().map(str::to_owned),
            (Self::Integer, Value::Integer(integer)) => Some(integer.to_string()),
            (Self::Padded(width), Value::Integer(integer)) if *integer >= 0 => {
                Some(format!("{integer:0width$}"))
            }
            _ => None,
        }
    }

    fn sql_value(self, text: String) -> String {
        match self {
            Self::Text => text,
            Self::Integer | Self::Padded(_) => format!("CAST({text} AS INTEGER)"),
        }
    }

    fn sql_text(self, column: &str) -> String {
        match self {
            Self::Text | Self::Integer => column.to_owned(),
            Self::Padded(width) => format!("printf('%0{width}d', {column})"),
        }
    }
}

impl Composition {
    /// The parts of a text; `None` where it is not of this form.
    pub(super) fn take_apart(&self, text: &str) -> Option<Vec<Value>> {
        // SQLite's functions of text end at a NUL.
        if text.contains('\0') {
            return None;
        }
        let (mut rest, mut parts) = (text, Vec::with_capacity(self.fields.len()));
        let mut absent = false;
        for field in &self.fields {
            if absent {
                parts.push(Value::Null);
                continue;
            }
            let (piece, after) = match &field.end {
                End::Width(width, between) => {
                    let end = rest.char_indices().nth(*width).map_or(rest.len(), |(offset, _)| offset);
                    let (piece, after) = rest.split_at(end);
                    (piece.chars().count() == *width).then_some(())?;
                    (piece, after.strip_prefix(between.as_str())?)
                }
                End::At(between) => rest.split_once(between.as_str())?,
                End::AtIfAny(between) => rest.split_once(between.as_str()).unwrap_or_else(|| {
                    absent = true;
                    (rest, "")
                }),
                End::Digits => rest.split_at(rest.trim_end_matches(|c: char| c.is_ascii_digit()).len()),
                End::Value => (rest, ""),
            };
            parts.push(field.content.value(piece)?);
            rest = after;
        }
        rest.is_empty().then_some(parts)
    }

    /// The text that parts compose; `None` where they are not of the fields' types or some are NULL and others not.
    pub(super) fn compose(&self, parts: &[Value]) -> Option<String> {
        let mut text = String::new();
        let mut between = "";
        for (place, (field, part)) in self.fields.iter().zip(parts).enumerate() {
            if *part == Value::Null && self.is_optional(place) {
                break;
            }
            text.push_str(between);
            text.push_str(&field.content.text(part)?);
            between = field.end.between();
        }
        Some(text)
    }

    /// Whether a field may be NULL while the ones before it are not: the last one after [`End::AtIfAny`].
    pub(super) fn is_optional(&self, place: usize) -> bool {
        place.checked_sub(1).is_some_and(|before| matches!(self.fields[before].end, End::AtIfAny(_)))
    }

    /// Whether the parts of a value compose that value: NULL, or a text of this form.
    pub(super) fn round_trips(&self, value: &Value) -> bool {
        let text = match value {
            Value::Null => return true,
            value => value.as_str(),
        };
        text.is_some_and(|text| {
            self.take_apart(text).and_then(|parts| self.compose(&parts)).as_deref() == Some(text)
        })
    }

    /// Whether what parts compose is taken apart into the same parts: all are NULL, or texts and numbers of this form.
    pub(super) fn round_trips_from(&self, parts: &[Value]) -> bool {
        parts.iter().all(|part| *part == Value::Null)
            || self.compose(parts).and_then(|text| self.take_apart(&text)).as_deref() == Some(parts)
    }

    /// The parts as SQL over a column.
    pub(super) fn sql_parts(&self, column: &str) -> Vec<String> {
        let (mut base, mut offset) = (column.to_owned(), 0);
        let mut parts = Vec::with_capacity(self.fields.len());
        let mut tail = None;
        for field in &self.fields {
            let rest = if offset == 0 { base.clone() } else { format!("substr({base}, {})", offset + 1) };
            let piece = match &field.end {
                _ if tail.is_some() => tail.take().unwrap_or_default(),
                End::Width(width, between) => {
                    let piece = format!("substr({base}, {}, {width})", offset + 1);
                    offset += width + between.chars().count();
                    piece
                }
                End::At(between) => {
                    let literal = literal(between);
                    let piece = format!("substr({rest}, 1, instr({rest}, {literal}) - 1)");
                    base = format!("substr({rest}, instr({rest}, {literal}) + {})", between.chars().count());
                    offset = 0;
                    piece
                }
                End::AtIfAny(between) => {
                    let (literal, length) = (literal(between), between.chars().count());
                    tail = Some(format!(
                        "CASE WHEN instr({rest}, {literal}) > 0 THEN substr({rest}, instr({rest}, {literal}) + {length}) END"
                    ));
                    format!("substr({rest}, 1, instr({rest} || {literal}, {literal}) - 1)")
                }
                End::Digits => {
                    let letters = format!("rtrim({rest}, '0123456789')");
                    base = format!("substr({rest}, length({letters}) + 1)");
                    offset = 0;
                    letters
                }
                End::Value => rest,
            };
            parts.push(field.content.sql_value(piece));
        }
        parts
    }

    /// The whole as SQL over the columns of the parts; `nullable` says that some rows hold NULL.
    pub(super) fn sql_whole(&self, columns: &[String], nullable: bool) -> String {
        let mut terms: Vec<String> = Vec::new();
        let mut between = "";
        for (place, (field, column)) in self.fields.iter().zip(columns).enumerate() {
            let text = field.content.sql_text(column);
            if self.is_optional(place) {
                terms.push(format!("coalesce({} || {text}, '')", literal(between)));
            } else {
                terms.extend((!between.is_empty()).then(|| literal(between)));
                terms.push(text);
            }
            between = field.end.between();
        }
        let whole = terms.join(" || ");
        // A NULL makes all of `||` NULL, but `printf` makes 0 of it.
        let passes_null = self.fields.iter().any(|field| !matches!(field.content, Content::Padded(_)));
        match columns.first() {
            Some(column) if nullable && !passes_null => {
                format!("CASE WHEN {column} IS NOT NULL THEN {whole} END")
            }
            _ => whole,
        }
    }
}

impl End {
    fn between(&self) -> &str {
        match self {
            Self::Width(_, between) | Self::At(between) | Self::AtIfAny(between) => between,
            Self::Digits | Self::Value => "",
        }
    }
}

/// A text as SQL.
fn literal(text: &str) -> String {
    match text {
        "\n" => "char(10)".to_owned(),
        text => sqlgauge_sql::quote::text(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rusqlite::Connection;
    use rusqlite::types::{Value as Stored, ValueRef};

    fn field(content: Content, end: End) -> Field {
        Field { content, end }
    }

    fn at(text: &str) -> End {
        End::At(text.into())
    }

    /// A composition of every way to end a field.
    fn compositions() -> Vec<Composition> {
        let date = |between: &str| {
            vec![
                field(Content::Integer, End::Width(4, between.into())),
                field(Content::Padded(2), End::Width(2, between.into())),
                field(Content::Padded(2), End::Width(2, String::new())),
            ]
        };
        [
            vec![field(Content::Text, at(" ")), field(Content::Text, End::Value)],
            vec![field(Content::Text, End::AtIfAny(" ".into())), field(Content::Text, End::Value)],
            vec![
                field(Content::Text, at("\n")),
                field(Content::Text, at(", ")),
                field(Content::Text, End::AtIfAny("'".into())),
                field(Content::Text, End::Value),
            ],
            date("-"),
            date(""),
            vec![
                field(Content::Padded(2), End::Width(2, ":".into())),
                field(Content::Padded(2), End::Width(2, String::new())),
            ],
            vec![field(Content::Text, End::Digits), field(Content::Integer, End::Value)],
            vec![field(Content::Text, End::Digits), field(Content::Padded(3), End::Value)],
            vec![field(Content::Text, End::Width(2, "-".into())), field(Content::Integer, End::Value)],
            vec![
                field(Content::Integer, at("/")),
                field(Content::Integer, at("/")),
                field(Content::Text, End::Value),
            ],
        ]
        .map(|fields| Composition { fields })
        .into()
    }

    fn stored(value: &Value) -> Stored {
        match value {
            Value::Null => Stored::Null,
            Value::Integer(integer) => Stored::Integer(*integer),
            Value::Real(real) => Stored::Real(*real),
            Value::Text(bytes) => Stored::Text(String::from_utf8_lossy(bytes).into_owned()),
            Value::Decimal(decimal) => Stored::Text(decimal.to_string()),
            Value::Blob(bytes) => Stored::Blob(bytes.to_vec()),
        }
    }

    fn read(value: ValueRef<'_>) -> Value {
        match value {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(integer) => Value::Integer(integer),
            ValueRef::Real(real) => Value::Real(real),
            ValueRef::Text(bytes) => Value::Text(bytes.into()),
            ValueRef::Blob(bytes) => Value::Blob(bytes.into()),
        }
    }

    /// What SQLite makes of expressions over columns `c0`, `c1`, … with these values.
    fn run(expressions: &[String], columns: &[Value]) -> Vec<Value> {
        let connection = Connection::open_in_memory().unwrap();
        let names: Vec<String> = (0..columns.len()).map(|place| format!("c{place}")).collect();
        let marks = vec!["?"; columns.len()].join(", ");
        let sql = format!(
            "WITH t({}) AS (VALUES ({marks})) SELECT {} FROM t",
            names.join(", "),
            expressions.join(", ")
        );
        let parameters = rusqlite::params_from_iter(columns.iter().map(stored));
        let row = |row: &rusqlite::Row<'_>| {
            (0..expressions.len())
                .map(|place| row.get_ref(place).map(read))
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        connection.query_row(&sql, parameters, row).unwrap()
    }

    fn agrees_with_sqlite(composition: &Composition, value: &Value) {
        let columns: Vec<String> = (0..composition.fields.len()).map(|place| format!("c{place}")).collect();
        let parts = run(&composition.sql_parts("c0"), std::slice::from_ref(value));
        let expected = value.as_str().and_then(|text| composition.take_apart(text));
        assert_eq!(
            parts,
            expected.unwrap_or(vec![Value::Null; columns.len()]),
            "{composition:?} of {value:?}"
        );
        let whole = run(&[composition.sql_whole(&columns, true)], &parts);
        assert_eq!(whole, std::slice::from_ref(value), "{composition:?} of {value:?}");
    }

    #[test]
    fn null_stays_null() {
        for composition in compositions() {
            agrees_with_sqlite(&composition, &Value::Null);
        }
    }

    #[test]
    fn what_is_not_of_the_form_does_not_round_trip() {
        let [name, _, _, date, ..] = &compositions()[..] else { panic!("four compositions") };
        for text in ["Timbaland", "a\0 b"] {
            assert!(!name.round_trips(&Value::text(text)), "{text}");
        }
        for text in ["0999-01-01", "2020-1-01", "2020-01-011", "2020/01/01", "2020-01-0x", "20é0-01-01", ""]
        {
            assert!(!date.round_trips(&Value::text(text)), "{text}");
        }
        for value in [Value::Integer(5), Value::Real(1.0), Value::Blob([65].into())] {
            assert!(!name.round_trips(&value) && !date.round_trips(&value));
        }
        let parts = |first: Value, last: Value| name.round_trips_from(&[first, last]);
        assert!(parts(Value::text("Joe"), Value::text("Van Dyke")) && parts(Value::Null, Value::Null));
        assert!(
            !parts(Value::text("Mary Ann"), Value::text("Smith")) && !parts(Value::text("Joe"), Value::Null)
        );
        assert!(!parts(Value::Integer(1), Value::text("x")));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

        #[test]
        fn sqlite_takes_apart_and_composes_as_we_do(
            text in "[a-zé' ,\n/-]{0,6}[ ,\n/:-]?[0-9]{0,5}[ ,'/:-]{0,2}[0-9a-z]{0,3}[-/]?[0-9]{0,2}",
            date in "[0-9]{4}-[0-9]{2}-[0-9]{2}", packed in "[1-9][0-9]{7}", time in "[0-9]{2}:[0-9]{2}",
        ) {
            for composition in compositions() {
                for value in [&text, &date, &packed, &time].map(|text| Value::text(text)) {
                    if composition.round_trips(&value) {
                        agrees_with_sqlite(&composition, &value);
                    }
                }
            }
        }

        #[test]
        fn parts_that_round_trip_do_so_in_sqlite(
            texts in prop::collection::vec("[a-zé' ,\n0-9]{0,5}", 4), numbers in prop::collection::vec(-5_i64..3000, 4),
        ) {
            for composition in compositions() {
                let parts: Vec<Value> = composition.fields.iter().enumerate().map(|(place, field)| match field.content {
                    Content::Text => Value::text(&texts[place]),
                    Content::Integer | Content::Padded(_) => Value::Integer(numbers[place]),
                }).collect();
                if composition.round_trips_from(&parts) {
                    let columns: Vec<String> = (0..parts.len()).map(|place| format!("c{place}")).collect();
                    let whole = run(&[composition.sql_whole(&columns, false)], &parts).remove(0);
                    prop_assert_eq!(run(&composition.sql_parts("c0"), &[whole]), parts);
                }
            }
        }
    }
}
