//! Profiles the values of a table.

use std::collections::HashSet;

use sqlgauge_engine::{Database, Engine, Failure, Value};
use sqlgauge_names::{Meaning, adds_up, spoken_words};
use sqlgauge_sql::schema::{Schema, Table, TableId};
use sqlgauge_sql::tree::{Literal, Real};

/// Rows of a sample; a table of up to so many is kept whole.
const SAMPLE_ROWS: u64 = 512;
/// From how many places of a larger table the sample is taken.
const PLACES: u64 = 8;
/// The longest text that a query names.
const LONGEST_TEXT: usize = 48;
/// The most values of a column that falls into categories.
const CATEGORIES: usize = 40;

/// What a column holds, as far as a query cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ContentKind {
    /// Names a row of this table or another, or something by a number, as a telephone: no arithmetic has a meaning.
    Key,
    /// A quantity.
    Number,
    /// A date, or a date with a time, as text from the year on; or a number of the calendar, such as a year. It has an order
    /// and no sum.
    Date,
    /// Text that many rows share.
    Category,
    /// Any other text.
    Text,
    /// Anything else: bytes, a mixture, nothing at all.
    Other,
}

#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property of the values")]
pub struct ColumnProfile {
    /// What it holds.
    pub kind: ContentKind,
    /// Whether the sample has a NULL.
    pub has_null: bool,
    /// Whether all of its numbers are integers.
    pub is_integer: bool,
    /// Whether no two rows of the sample agree, and none is NULL.
    pub is_distinct: bool,
    /// How many different values the sample has.
    pub distinct: usize,
    /// Whether all values are texts.
    pub is_text: bool,
    /// Whether a sum of its values means something.
    pub adds_up: bool,
    /// Whether its name says that it is a quantity.
    pub is_quantity: bool,
    /// Whether its values are single letters of which a person would not know what they stand for.
    pub is_cryptic: bool,
}

#[derive(Debug)]
pub struct TableProfile {
    /// Which table of the schema.
    pub id: TableId,
    /// Its columns, at their positions in the schema.
    pub columns: Vec<ColumnProfile>,
    /// How many rows it has.
    pub rows: u64,
    /// Rows of it: all, or some from several places.
    pub sample: Vec<Vec<Literal>>,
    /// The columns that hold the name or title of a row.
    pub labels: Vec<u32>,
}

impl TableProfile {
    /// A value of a sampled row that a query can name.
    pub fn value(&self, row: usize, column: u32) -> Option<&Literal> {
        let value = self.sample.get(row)?.get(column as usize)?;
        match value {
            Literal::Null | Literal::Blob(_) | Literal::Boolean(_) => None,
            Literal::Text(text) => (text.len() <= LONGEST_TEXT && is_plain(text)).then_some(value),
            Literal::Integer(_) | Literal::Real(_) => Some(value),
        }
    }
}

/// Whether a person could have written the text into a question.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.trim().len() == text.len() && !text.chars().any(char::is_control)
}

/// The columns that foreign keys refer to.
pub(super) fn referenced(schema: &Schema) -> HashSet<(TableId, u32)> {
    let keys = schema.tables().iter().flat_map(|table| &table.foreign_keys);
    let targets = keys.filter_map(|key| schema.resolve_foreign_key(key));
    targets.flat_map(|(id, columns)| columns.into_iter().map(move |at| (id, at))).collect()
}

/// Reads the profile of a table; `referenced` are the columns that foreign keys refer to.
///
/// # Errors
/// What the engine says of a query over it: that of a view may not run.
pub(super) fn read(
    id: TableId,
    table: &Table,
    referenced: &HashSet<(TableId, u32)>,
    database: &Database,
    engine: &dyn Engine,
) -> Result<TableProfile, Failure> {
    let name = engine.quoted(&table.name);
    let ask = |sql: &str| match engine.run(database, sql).outcome {
        sqlgauge_engine::Outcome::Rows(rows) => Ok(rows),
        sqlgauge_engine::Outcome::Failed(failure) => Err(failure),
    };
    let counted = ask(&format!("SELECT count(*) FROM {name}"))?;
    let rows = match counted.values() {
        [Value::Integer(rows)] => rows.cast_unsigned(),
        _ => 0,
    };
    let names: Vec<String> = table.columns.iter().map(|column| engine.quoted(&column.name)).collect();
    let list = names.join(", ");
    // A server keeps rows in no order of their own.
    let key = table.primary_key.iter().filter_map(|&at| names.get(at as usize)).cloned().collect::<Vec<_>>();
    let order = if engine.is_sqlite() || key.is_empty() {
        String::new()
    } else {
        format!(" ORDER BY {}", key.join(", "))
    };
    let places = if rows <= SAMPLE_ROWS { 1 } else { PLACES };
    let mut sample = Vec::new();
    for place in 0..places {
        let (limit, offset) = (SAMPLE_ROWS / places, rows / places * place);
        let part = ask(&format!("SELECT {list} FROM {name}{order} LIMIT {limit} OFFSET {offset}"))?;
        sample.extend(part.rows().map(|row| row.iter().map(literal).collect::<Vec<_>>()));
    }
    let is_whole = rows <= SAMPLE_ROWS;
    let is_key = |at| is_key(at, table) || referenced.contains(&(id, at));
    let columns: Vec<ColumnProfile> =
        (0..).take(names.len()).map(|at| column(at, table, is_key(at), &sample, is_whole)).collect();
    let labels = labels(table, &columns);
    Ok(TableProfile { id, columns, rows, sample, labels })
}

/// Words that a column ends in which names a row.
const LABELS: &[&str] = &["name", "title", "nickname"];

/// The texts that are called a name or a title; without any the first text that no two rows share.
fn labels(table: &Table, columns: &[ColumnProfile]) -> Vec<u32> {
    let all = || (0..).zip(columns).filter(|(_, column)| column.is_text && column.kind != ContentKind::Key);
    let is_named = |at: u32| {
        let words = table.column(at).map(|column| spoken_words(&column.name)).unwrap_or_default();
        words.last().is_some_and(|last| LABELS.contains(&last.as_str()))
    };
    let named: Vec<u32> = all().map(|(at, _)| at).filter(|&at| is_named(at)).collect();
    if !named.is_empty() {
        return named;
    }
    let is_own = |column: &ColumnProfile| column.kind == ContentKind::Text && column.is_distinct;
    all().find(|(_, column)| is_own(column)).map(|(at, _)| at).into_iter().collect()
}

/// The value as a constant; text that is not UTF-8 is bytes, which no query names.
fn literal(value: &Value) -> Literal {
    match value {
        Value::Null => Literal::Null,
        Value::Integer(integer) => Literal::Integer(*integer),
        Value::Real(real) if real.is_finite() => Literal::Real(Real::new(*real)),
        Value::Real(_) => Literal::Blob(Vec::new()),
        Value::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Literal::Text(text.to_owned()),
            Err(_) => Literal::Blob(bytes.to_vec()),
        },
        Value::Decimal(decimal) => Literal::Real(Real::new(decimal.to_float())),
        Value::Blob(bytes) => Literal::Blob(bytes.to_vec()),
    }
}

fn column(at: u32, table: &Table, is_key: bool, sample: &[Vec<Literal>], is_whole: bool) -> ColumnProfile {
    let values = || sample.iter().filter_map(|row| row.get(at as usize));
    let present = || values().filter(|value| **value != Literal::Null);
    let count = present().count();
    let distinct = present().collect::<HashSet<_>>().len();
    let all = |is: fn(&Literal) -> bool| count > 0 && present().all(is);
    let is_number = all(|value| matches!(value, Literal::Integer(_) | Literal::Real(_)));
    let is_text = all(|value| matches!(value, Literal::Text(_)));
    let words = table.column(at).map(|column| spoken_words(&column.name)).unwrap_or_default();
    let meaning = Meaning::of(&words);
    let is_shared = distinct <= CATEGORIES && distinct * 2 <= count;
    let is_flag = all(|value| matches!(value, Literal::Integer(0 | 1)));
    let is_own = count == distinct && count >= FEWEST_CODES;
    let is_whole_number = all(|value| matches!(value, Literal::Integer(_)));
    // Whole numbers of unknown meaning that no two rows share name something.
    let is_code = meaning == Meaning::Code && (is_number || is_text && !is_shared)
        || meaning == Meaning::Other && is_whole_number && is_own;
    // Measures that are written as text: '29.2%', '225'.
    let is_measure = meaning != Meaning::Time && all(is_figure);
    let kind = if is_key && (is_number || is_text) || is_code {
        ContentKind::Key
    } else if is_flag {
        ContentKind::Category
    } else if is_number && meaning == Meaning::Time {
        ContentKind::Date
    } else if is_number {
        ContentKind::Number
    } else if is_text && all(|value| matches!(value, Literal::Text(text) if is_date(text))) {
        ContentKind::Date
    } else if is_text && is_measure {
        ContentKind::Other
    } else if is_text && is_shared {
        ContentKind::Category
    } else if is_text {
        ContentKind::Text
    } else {
        ContentKind::Other
    };
    ColumnProfile {
        kind,
        has_null: count < sample.len(),
        is_integer: all(|value| matches!(value, Literal::Integer(_))),
        is_distinct: (is_whole || table.is_unique(&[at])) && count == sample.len() && distinct == count,
        distinct,
        is_text,
        adds_up: kind == ContentKind::Number && adds_up(&words),
        is_quantity: meaning == Meaning::Quantity,
        is_cryptic: distinct > 3 && all(|value| matches!(value, Literal::Text(text) if text.len() < 2)),
    }
}

/// How many whole numbers of unknown meaning must all differ to be taken for codes.
const FEWEST_CODES: usize = 20;

/// Whether a text has digits and no letters.
fn is_figure(value: &Literal) -> bool {
    let Literal::Text(text) = value else { return false };
    text.bytes().any(|byte| byte.is_ascii_digit()) && !text.chars().any(char::is_alphabetic) && !is_date(text)
}

/// Whether the column is part of the primary key or of a foreign key, or is named as one that is.
fn is_key(at: u32, table: &Table) -> bool {
    table.primary_key.contains(&at)
        || table.foreign_keys.iter().any(|key| key.columns.contains(&at))
        || table.column(at).is_some_and(|column| is_named_as_key(&column.name))
}

/// `id`, `singer_id`, `SingerID`, `singerId`, `Code`, `country code`: the words by which a key is known.
fn is_named_as_key(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let ends_in_word = |word: &str| {
        lower.strip_suffix(word).is_some_and(|rest| rest.is_empty() || rest.ends_with(['_', ' ', '-']))
    };
    ends_in_word("id")
        || ends_in_word("code")
        || name.ends_with("ID")
        || (name.ends_with("Id") && name.len() > 2)
}

/// `2014-02-01`, `2014-02-01 10:00:00`: what sorts by time as text.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits =
        |from: usize, to: usize| bytes.get(from..to).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    let month =
        || text.get(5..7).and_then(|month| month.parse::<u8>().ok()).is_some_and(|m| (1..=12).contains(&m));
    digits(0, 4) && bytes.get(4) == Some(&b'-') && month() && bytes.get(7) == Some(&b'-') && digits(8, 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_by_their_names() {
        for (name, expected) in [
            ("id", true),
            ("singer_id", true),
            ("SingerID", true),
            ("singerId", true),
            ("Country Code", true),
            ("paid", false),
            ("Grid", false),
            ("encode", false),
        ] {
            assert_eq!(is_named_as_key(name), expected, "{name}");
        }
    }

    #[test]
    fn dates_sort_as_text() {
        for (text, expected) in [
            ("2014-02-01", true),
            ("2014-02-01 10:00:00", true),
            ("2014-13-01", false),
            ("01/02/2014", false),
            ("2014", false),
            ("2014-0é-01", false),
        ] {
            assert_eq!(is_date(text), expected, "{text}");
        }
    }
}
