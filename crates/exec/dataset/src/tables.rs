//! Schemas from Spider's `tables.json` and BIRD's `dev_tables.json`.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value};
use sqlgauge_sql::schema::{Column, ForeignKey, Schema, Table};

use crate::benchmark::kind;
use crate::error::DatasetError;
use crate::formats::{Place, for_each_item_of};
use crate::input::Input;
use crate::json::Shape;

/// One database of a `tables.json`, as the official scripts see it.
///
/// Every position in it was checked: a table position is below `table_names_original.len()`, a column position
/// below `column_names_original.len()` and not that of `*`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TablesEntry {
    /// Name of the database.
    pub db_id: String,
    /// Table names as in the database.
    pub table_names_original: Vec<String>,
    /// Table names in words; the original names where the file has none.
    pub table_names: Vec<String>,
    /// All columns of all tables, `*` included: the table's position (`None` for `*`) and the name as in the
    /// database.
    pub column_names_original: Vec<(Option<usize>, String)>,
    /// Column names in words, parallel to the original ones, which stand in where the file has none.
    pub column_names: Vec<String>,
    /// The file's types, parallel to the columns; empty if the file has none.
    pub column_types: Vec<String>,
    /// Primary keys as lists of column positions: a list of several is one composite key.
    pub primary_keys: Vec<Vec<usize>>,
    /// Foreign keys as (referring, referred) column positions.
    pub foreign_keys: Vec<(usize, usize)>,
}

impl TablesEntry {
    /// The catalog that the entry describes.
    ///
    /// Declared types follow from the file's types: `text` TEXT, `number` NUMERIC, `time` DATETIME, `boolean`
    /// BOOLEAN, `others` none (the file does not say); any other type (BIRD: `integer`, `real`, `date`) is itself
    /// in upper case. Primary key columns of one table, listed singly or together, form one key. Each foreign
    /// key pair is a key of one column. No column is NOT NULL and nothing is UNIQUE, since the file cannot say
    /// so.
    pub fn schema(&self) -> Schema {
        // Position of each column within its table.
        let mut within = vec![0_u32; self.column_names_original.len()];
        let mut tables: Vec<Table> =
            self.table_names_original.iter().map(|name| Table::new(name.as_str(), Vec::new())).collect();
        for (index, (table, name)) in self.column_names_original.iter().enumerate() {
            let Some(table) = table.and_then(|t| tables.get_mut(t)) else { continue };
            within[index] = u32::try_from(table.columns.len()).unwrap_or(u32::MAX);
            let declared = self.column_types.get(index).and_then(|t| declared_type(t));
            table.columns.push(Column::new(name.as_str(), declared.as_deref()));
        }
        for &column in self.primary_keys.iter().flatten() {
            if let Some(table) = self.table_of(column).and_then(|t| tables.get_mut(t))
                && !table.primary_key.contains(&within[column])
            {
                table.primary_key.push(within[column]);
            }
        }
        for &(from, to) in &self.foreign_keys {
            let (Some(owner), Some(referred)) = (self.table_of(from), self.table_of(to)) else { continue };
            let key = ForeignKey {
                columns: vec![within[from]],
                referenced_table: self.table_names_original[referred].clone(),
                referenced_columns: vec![self.column_names_original[to].1.clone()],
                ..ForeignKey::default()
            };
            tables[owner].foreign_keys.push(key);
        }
        Schema::new(tables)
    }

    /// The table of a column, `None` for `*`.
    pub fn table_of(&self, column: usize) -> Option<usize> {
        self.column_names_original.get(column)?.0
    }
}

/// The declared type that stands for a type of the file.
fn declared_type(file_type: &str) -> Option<String> {
    match file_type.to_ascii_lowercase().as_str() {
        "number" => Some("NUMERIC".to_owned()),
        "time" => Some("DATETIME".to_owned()),
        "others" | "" => None,
        other => Some(other.to_ascii_uppercase()),
    }
}

/// All databases of a `tables.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tables {
    entries: Vec<TablesEntry>,
    by_name: HashMap<String, usize>,
    /// Repairs that reading made, for people.
    pub notes: Vec<String>,
}

impl Tables {
    /// The databases in the order of the file.
    pub fn entries(&self) -> &[TablesEntry] {
        &self.entries
    }

    /// The database of that name.
    pub fn get(&self, db_id: &str) -> Option<&TablesEntry> {
        self.by_name.get(db_id).map(|&index| &self.entries[index])
    }
}

/// Reads a `tables.json` that is in memory.
///
/// # Errors
/// As [`crate::load_tables`], without the reading.
pub fn parse_tables(input: &Input) -> Result<Tables, DatasetError> {
    let mut notes = Vec::new();
    let mut entries: Vec<TablesEntry> = Vec::new();
    let mut by_name = HashMap::new();
    let no_list =
        || input.not_readable("is no JSON list", "give a tables.json: a list with one object per database");
    let shape = for_each_item_of(input, &mut notes, &mut |place, item| {
        let Place::Entry(index) = place else { return Err(no_list()) };
        let entry = parse_entry(input, index, &item)?;
        if let Some(first) = by_name.insert(entry.db_id.clone(), index) {
            return Err(input.twice(entry.db_id, format!("entry {first}"), format!("entry {index}")));
        }
        entries.push(entry);
        Ok(())
    })?;
    if shape != Shape::List {
        return Err(no_list());
    }
    Ok(Tables { entries, by_name, notes })
}

fn parse_entry(input: &Input, index: usize, item: &Value) -> Result<TablesEntry, DatasetError> {
    let remedy =
        "a tables.json is a list of objects with db_id, table_names_original and column_names_original";
    let place = format!("entry {index} (counted from 0)");
    let Value::Object(fields) = item else {
        return Err(input.malformed(place, format!("{} where an object should be", kind(item)), remedy));
    };
    let Some(db_id) = fields.get("db_id").and_then(Value::as_str) else {
        return Err(input.malformed(place, "no db_id", remedy));
    };
    let reader = EntryReader { input, db_id, fields };
    let table_names_original = reader.names("table_names_original", None)?;
    let column_names_original = reader.columns("column_names_original", table_names_original.len())?;
    let width = column_names_original.len();
    let words = match reader.optional("column_names") {
        Some(_) => reader.columns("column_names", table_names_original.len())?,
        None => column_names_original.clone(),
    };
    reader.same_length("column_names", words.len(), width)?;
    let entry = TablesEntry {
        db_id: db_id.to_owned(),
        table_names: match reader.optional("table_names") {
            Some(_) => reader.names("table_names", Some(table_names_original.len()))?,
            None => table_names_original.clone(),
        },
        column_names: words.into_iter().map(|(_, name)| name).collect(),
        column_types: match reader.optional("column_types") {
            Some(_) => reader.names("column_types", Some(width))?,
            None => Vec::new(),
        },
        primary_keys: reader.primary_keys(&column_names_original)?,
        foreign_keys: reader.foreign_keys(&column_names_original)?,
        table_names_original,
        column_names_original,
    };
    Ok(entry)
}

/// Reads the fields of one database, naming it in every error.
struct EntryReader<'a> {
    input: &'a Input,
    db_id: &'a str,
    fields: &'a Map<String, Value>,
}

type RawColumns = Vec<(Option<usize>, String)>;

impl<'a> EntryReader<'a> {
    fn error(&self, place: impl std::fmt::Display, problem: impl Into<String>, remedy: &str) -> DatasetError {
        self.input.malformed(format_args!("database {:?}, {place}", self.db_id), problem, remedy)
    }

    /// The field, unless it is absent or null.
    fn optional(&self, field: &str) -> Option<&'a Value> {
        self.fields.get(field).filter(|value| !value.is_null())
    }

    fn list(&self, field: &str) -> Result<&'a [Value], DatasetError> {
        match self.optional(field) {
            Some(Value::Array(items)) => Ok(items),
            Some(other) => {
                Err(self.error(field, format!("{} where a list should be", kind(other)), "give a list"))
            }
            None => Err(self.error(field, "it is missing", "give the list")),
        }
    }

    fn same_length(&self, field: &str, count: usize, expected: usize) -> Result<(), DatasetError> {
        if count == expected {
            return Ok(());
        }
        let problem = format!("{count} entries where {expected} should be");
        Err(self.error(field, problem, "give it one entry for each of the original names"))
    }

    fn names(&self, field: &str, expected: Option<usize>) -> Result<Vec<String>, DatasetError> {
        let items = self.list(field)?;
        self.same_length(field, items.len(), expected.unwrap_or(items.len()))?;
        let name = |(index, item): (usize, &Value)| {
            item.as_str().map(str::to_owned).ok_or_else(|| {
                let place = format!("{field} entry {index}");
                self.error(place, format!("{} where a text should be", kind(item)), "give a text")
            })
        };
        items.iter().enumerate().map(name).collect()
    }

    fn columns(&self, field: &str, tables: usize) -> Result<RawColumns, DatasetError> {
        let column = |(index, item): (usize, &Value)| {
            let error = |problem: String| {
                let remedy =
                    "a column is [position of its table, name], and [-1, \"*\"] stands for all columns";
                Err(self.error(format!("{field} entry {index}"), problem, remedy))
            };
            let Some([table, Value::String(name)]) = item.as_array().map(Vec::as_slice) else {
                return error("it is no pair of a number and a text".to_owned());
            };
            match table.as_i64() {
                Some(-1) => Ok((None, name.clone())),
                Some(table) => match usize::try_from(table) {
                    Ok(table) if table < tables => Ok((Some(table), name.clone())),
                    _ => {
                        error(format!("unknown table {table}, not one of 0 to {}", tables.saturating_sub(1)))
                    }
                },
                None => error(format!("its table is {}", kind(table))),
            }
        };
        self.list(field)?.iter().enumerate().map(column).collect()
    }

    /// The position of a column of some table.
    fn position(&self, place: &str, value: &Value, columns: &RawColumns) -> Result<usize, DatasetError> {
        let position = value.as_u64().and_then(|position| usize::try_from(position).ok());
        match position.and_then(|position| Some((position, columns.get(position)?))) {
            Some((position, (Some(_), _))) => Ok(position),
            Some((position, (None, _))) => Err(self.error(
                place,
                format!("{position} stands for all columns"),
                "name a column of a table",
            )),
            None => Err(self.error(
                place,
                format!("there is no column {value}, only 0 to {}", columns.len().saturating_sub(1)),
                "give positions in column_names_original",
            )),
        }
    }

    fn primary_keys(&self, columns: &RawColumns) -> Result<Vec<Vec<usize>>, DatasetError> {
        if self.optional("primary_keys").is_none() {
            return Ok(Vec::new());
        }
        let key = |(index, item): (usize, &Value)| {
            let place = format!("primary_keys entry {index}");
            let members = match item {
                Value::Array(members) => members.as_slice(),
                single => std::slice::from_ref(single),
            };
            members.iter().map(|member| self.position(&place, member, columns)).collect()
        };
        self.list("primary_keys")?.iter().enumerate().map(key).collect()
    }

    fn foreign_keys(&self, columns: &RawColumns) -> Result<Vec<(usize, usize)>, DatasetError> {
        if self.optional("foreign_keys").is_none() {
            return Ok(Vec::new());
        }
        let key = |(index, item): (usize, &Value)| {
            let place = format!("foreign_keys entry {index}");
            let Some([from, to]) = item.as_array().map(Vec::as_slice) else {
                let remedy = "a foreign key is [referring column, referred column]";
                return Err(self.error(place, "it is no pair", remedy));
            };
            Ok((self.position(&place, from, columns)?, self.position(&place, to, columns)?))
        };
        self.list("foreign_keys")?.iter().enumerate().map(key).collect()
    }
}
