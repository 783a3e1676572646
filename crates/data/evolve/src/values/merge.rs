//! Finds columns that people also store as one.

use sqlgauge_engine::Value;
use sqlgauge_sql::PrintDialect;

use super::composition::{Composition, Content, End, Field};
use super::{ColumnMerge, CompositeKind, ValuesRefusal, in_message};
use crate::change::SplitPart;
use sqlgauge_names::{Convention, NamesInUse, full_words, like};

/// Columns by their last words, what they make, and how.
struct Group {
    kind: CompositeKind,
    /// The last words of the columns, in the order in which they are composed; in brackets what may stand for each.
    columns: &'static [&'static [&'static str]],
    whole: &'static str,
    /// What may stand between the values, the most usual first.
    between: &'static [&'static str],
}

const FIRST: &[&str] = &["first name", "firstname", "given name", "forename"];
const LAST: &[&str] = &["last name", "lastname", "family name", "surname"];
const STREET: &[&str] = &["street", "street address", "address line 1", "line 1", "address"];
const CITY: &[&str] = &["city", "town", "town city"];
const STATE: &[&str] = &["state", "county", "province", "state province county", "state province"];
const ZIP: &[&str] = &["zip", "zip code", "postal code", "postcode", "zip postcode"];
const COUNTRY: &[&str] = &["country"];
const LISTED: &[&str] = &[", ", "; ", " | "];

/// The groups, larger ones first.
const GROUPS: &[Group] = &[
    Group {
        kind: CompositeKind::FullName,
        columns: &[FIRST, &["middle name"], LAST],
        whole: "full name",
        between: SPACED,
    },
    Group {
        kind: CompositeKind::Date,
        columns: &[&["year"], &["month"], &["day"]],
        whole: "date",
        between: &["-"],
    },
    Group {
        kind: CompositeKind::Address,
        columns: &[STREET, CITY, STATE, ZIP],
        whole: "full address",
        between: LISTED,
    },
    Group {
        kind: CompositeKind::Address,
        columns: &[STREET, CITY, STATE],
        whole: "full address",
        between: LISTED,
    },
    Group {
        kind: CompositeKind::Address,
        columns: &[STREET, CITY, ZIP],
        whole: "full address",
        between: LISTED,
    },
    Group {
        kind: CompositeKind::Address,
        columns: &[CITY, STATE, COUNTRY],
        whole: "location",
        between: LISTED,
    },
    Group { kind: CompositeKind::FullName, columns: &[FIRST, LAST], whole: "full name", between: SPACED },
    Group {
        kind: CompositeKind::Date,
        columns: &[&["year"], &["month"]],
        whole: "year month",
        between: &["-"],
    },
    Group {
        kind: CompositeKind::Date,
        columns: &[&["date"], &["time"]],
        whole: "date time",
        between: &[" "],
    },
    Group { kind: CompositeKind::Address, columns: &[STREET, CITY], whole: "full address", between: LISTED },
    Group { kind: CompositeKind::Address, columns: &[CITY, STATE], whole: "location", between: LISTED },
    Group { kind: CompositeKind::Address, columns: &[CITY, COUNTRY], whole: "location", between: LISTED },
    Group { kind: CompositeKind::Address, columns: &[STATE, COUNTRY], whole: "location", between: LISTED },
    Group { kind: CompositeKind::Address, columns: &[CITY, ZIP], whole: "city line", between: LISTED },
    Group {
        kind: CompositeKind::Code,
        columns: &[&["prefix"], &["serial", "number"]],
        whole: "code",
        between: &["-", "/"],
    },
];
const SPACED: &[&str] = &[" ", ", ", "; "];

/// Columns of a table that may be merged, before anybody looked at their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeCandidate {
    /// What they make.
    pub kind: CompositeKind,
    /// Their positions among the names that were given, in the order in which they are composed.
    pub columns: Vec<usize>,
    names: Vec<String>,
    whole: String,
    between: &'static [&'static str],
}

/// The columns of a table that make a name, a date, an address or a code, larger groups first; a column may be in
/// several candidates.
pub(crate) fn merge_candidates(
    columns: &[&str],
    convention: Convention,
    in_use: &NamesInUse,
) -> Vec<MergeCandidate> {
    let words: Vec<Vec<String>> = columns.iter().map(|column| full_words(column)).collect();
    let mut candidates = Vec::new();
    for group in GROUPS {
        for stem in stems(&words, group.columns[0]) {
            let places: Option<Vec<usize>> = group
                .columns
                .iter()
                .map(|ends| words.iter().position(|words| is_of(words, &stem, ends)))
                .collect();
            let Some(places) = places else { continue };
            let words_of_whole: Vec<String> =
                [stem, group.whole.split(' ').map(str::to_owned).collect()].concat();
            let whole = like(columns[places[0]], convention, &words_of_whole);
            if !in_use.contains(&whole) {
                let names = places.iter().map(|&place| columns[place].to_owned()).collect();
                candidates.push(MergeCandidate {
                    kind: group.kind,
                    columns: places,
                    names,
                    whole,
                    between: group.between,
                });
            }
        }
    }
    candidates
}

/// What stands before these last words in the names that have them.
fn stems(words: &[Vec<String>], ends: &[&str]) -> Vec<Vec<String>> {
    let stem = |words: &Vec<String>| {
        let joined = words.join(" ");
        let rest = ends.iter().filter_map(|end| joined.strip_suffix(end)).min_by_key(|rest| rest.len())?;
        (rest.is_empty() || rest.ends_with(' ')).then(|| rest.split_whitespace().map(str::to_owned).collect())
    };
    let mut stems: Vec<Vec<String>> = words.iter().filter_map(stem).collect();
    stems.dedup();
    stems
}

fn is_of(words: &[String], stem: &[String], ends: &[&str]) -> bool {
    words.strip_prefix(stem).is_some_and(|rest| ends.contains(&rest.join(" ").as_str()))
}

impl MergeCandidate {
    /// How the columns are merged, if all these rows allow it; a row has a value for each of [`MergeCandidate::columns`].
    ///
    /// # Errors
    /// Why not, as [`ValuesRefusal`] lists.
    pub fn check(&self, rows: &[Vec<Value>]) -> Result<ColumnMerge, ValuesRefusal> {
        let contents = self.contents(rows)?;
        let composition = |between: &str| self.composition(&contents, between);
        let holds = |composition: &Composition| rows.iter().all(|row| composition.round_trips_from(row));
        let Some(composition) = self.between.iter().map(|between| composition(between)).find(holds) else {
            let usual = composition(self.between[0]);
            let row =
                rows.iter().find(|row| !usual.round_trips_from(row)).map(Vec::as_slice).unwrap_or_default();
            return Err(ValuesRefusal::NoRoundTrip(
                row.iter().map(in_message).collect::<Vec<_>>().join(", "),
            ));
        };
        let nullable = rows.iter().any(|row| row.contains(&Value::Null));
        let quoted: Vec<String> =
            self.names.iter().map(|name| PrintDialect::Sqlite.identifier(name)).collect();
        let value = composition.sql_whole(&quoted, nullable);
        let parts = composition.sql_parts(&PrintDialect::Sqlite.identifier(&self.whole));
        let declared_type = Some("TEXT".to_owned());
        let whole = SplitPart { name: self.whole.clone(), declared_type, not_null: !nullable, value };
        Ok(ColumnMerge { kind: self.kind, whole, columns: self.names.iter().cloned().zip(parts).collect() })
    }

    /// What each column holds: text everywhere or an integer everywhere.
    fn contents(&self, rows: &[Vec<Value>]) -> Result<Vec<Content>, ValuesRefusal> {
        let whole = rows
            .iter()
            .find(|row| row.iter().any(|value| *value != Value::Null))
            .ok_or(ValuesRefusal::NoValues)?;
        whole.iter().enumerate().map(|(place, value)| self.content(place, value)).collect()
    }

    fn content(&self, place: usize, value: &Value) -> Result<Content, ValuesRefusal> {
        match value {
            Value::Text(_) => Ok(Content::Text),
            // As dates are written, a month and a day have two digits.
            Value::Integer(_) if self.kind == CompositeKind::Date && place > 0 => Ok(Content::Padded(2)),
            Value::Integer(_) => Ok(Content::Integer),
            Value::Null => Err(ValuesRefusal::NoRoundTrip(in_message(value))),
            Value::Real(_) | Value::Decimal(_) | Value::Blob(_) => Err(ValuesRefusal::NotText),
        }
    }

    fn composition(&self, contents: &[Content], between: &str) -> Composition {
        let last = contents.len() - 1;
        let fields = contents.iter().enumerate().map(|(place, &content)| {
            let end = match content {
                Content::Padded(width) if place == last => End::Width(width, String::new()),
                Content::Padded(width) => End::Width(width, between.to_owned()),
                _ if place == last => End::Value,
                // A year of four digits, which the others rest on.
                Content::Integer if self.kind == CompositeKind::Date => End::Width(4, between.to_owned()),
                _ => End::At(between.to_owned()),
            };
            Field { content, end }
        });
        Composition { fields: fields.collect() }
    }
}
