//! A SQLite file's catalog as a [`Schema`].
//!
//! SQLite itself tells the columns, keys and indexes; what no pragma tells (CHECK, STRICT, WITHOUT ROWID, the queries
//! of views, the expressions of columns and indexes) is read from the statements that it keeps, by the reader of DDL
//! that every schema comes through.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Result, Row};
use sqlgauge_sql::ddl::{Declared, declared, words};
use sqlgauge_sql::schema::{
    Action, Collation, Column, ForeignKey, Index, IndexPart, Indexed, Schema, Table, TableKind,
};

use crate::outcome::Execution;
use crate::value::{ResultSet, Value};

use super::connection::GuardedConnection;
use super::growth::{expands_quickly, growth};
use super::guard::TimeLimit;
use super::shadow::Owners;

/// How long SQLite may take for the columns of one view; views of views can ask for exponential work.
const VIEW_TIME: Duration = Duration::from_millis(500);

/// How long SQLite may take for the columns of all views that it may take long for.
const SLOW_VIEWS_TIME: Duration = Duration::from_secs(1);

/// What SQLite says of the columns of a table or view.
pub(super) const COLUMNS: &str =
    "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1)";

/// How many tables and views the queries of all views together may come to, once views are put in for their names.
/// Each view is counted for itself, as SQLite looks at each for itself; two joined with themselves are four.
const EXPANSIONS: u64 = 20_000;

/// How many columns all views may have together; the first that has more than is left has none, nor have those after it.
const VIEW_COLUMNS: usize = 100_000;

/// How long the whole catalog may take.
const CATALOG_TIME: Duration = Duration::from_secs(30);

/// Asks for the columns of a view, by its name, where it can be stopped.
pub(super) type Apart<'a> = dyn Fn(&str, Duration) -> Execution + 'a;

/// Reads all tables and views in the order of their creation. SQLite's own tables (`sqlite_…`) are left out.
///
/// A view or virtual table that SQLite itself cannot make sense of has no columns, and so has a view that takes more
/// than is left of what all views may take; that depends on the catalog alone. A view that SQLite may take long for is asked
/// for `apart`, where it can be stopped; without that, here.
///
/// # Errors
/// Whatever keeps SQLite from reading the catalog; a name or statement in it that is not UTF-8 is one.
pub(super) fn read_schema(guarded: &GuardedConnection, apart: Option<&Apart<'_>>) -> Result<Schema> {
    let deadline = Instant::now() + CATALOG_TIME;
    let connection = guarded.for_catalog(TimeLimit::at(deadline));
    let entries = read_entries(connection)?;
    let mut reader = Reader::new(connection)?;
    let mut owners = Owners::default();
    for entry in entries.iter().filter(|entry| !entry.is_stored && !entry.is_view) {
        if let Ok(Declared::Virtual { module, .. }) = declared(&entry.sql) {
            owners.add(&entry.name, &module);
        }
    }
    let mut views = Views::of(&entries);
    let mut left = SLOW_VIEWS_TIME;
    let mut tables = Vec::new();
    for entry in entries {
        let is_shadow = entry.is_stored && owners.contains(&entry.name);
        let mut table = if entry.is_stored {
            reader.stored_table(entry)?
        } else {
            let columns = match (views.may_ask(&entry), apart) {
                (false, _) => Vec::new(),
                (true, Some(apart)) if views.are_slow(&entry) => {
                    let started = Instant::now();
                    let execution = (!left.is_zero()).then(|| apart(&entry.name, left.min(VIEW_TIME)));
                    left = left.saturating_sub(started.elapsed());
                    execution.and_then(|execution| columns_of(execution.rows()?)).unwrap_or_default()
                }
                (true, _) => {
                    guarded.for_catalog(TimeLimit::at(deadline.min(Instant::now() + VIEW_TIME)));
                    let rows = reader.column_rows(&entry.name).unwrap_or_default();
                    guarded.for_catalog(TimeLimit::at(deadline));
                    rows.into_iter().map(|row| row.column).collect()
                }
            };
            let mut table = computed_table(entry, columns);
            views.keep_within(&mut table);
            table
        };
        if is_shadow {
            table.kind = TableKind::Shadow;
        }
        tables.push(table);
    }
    Ok(Schema::new(tables))
}

/// A row of `sqlite_schema`.
struct Entry {
    name: String,
    is_view: bool,
    /// Neither a view nor a virtual table.
    is_stored: bool,
    sql: String,
}

fn read_entries(connection: &Connection) -> Result<Vec<Entry>> {
    let mut statement = connection.prepare(
        "SELECT name, type = 'view', sql, type = 'table' AND rootpage > 0 FROM sqlite_schema \
         WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid",
    )?;
    let entries = statement.query_map([], |row| {
        let sql = row.get::<_, Option<String>>(2)?.unwrap_or_default();
        Ok(Entry { name: row.get(0)?, is_view: row.get(1)?, is_stored: row.get(3)?, sql })
    })?;
    entries.collect()
}

/// By name, the statements that created indexes.
fn read_index_statements(connection: &Connection) -> Result<HashMap<String, String>> {
    let mut statement =
        connection.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// What the views of a catalog may still take.
struct Views {
    /// By name, in lower case: how many tables and views a view comes to, and what it can grow to.
    sizes: HashMap<String, (u64, f64)>,
    expansions_left: u64,
    columns_left: usize,
}

impl Views {
    /// Counts every name of a view in the statement of another; a view is created after those that it reads, or SQLite
    /// would not have found their columns, and a name that is met before its view counts as one table.
    fn of(entries: &[Entry]) -> Self {
        let mut sizes: HashMap<String, (u64, f64)> = HashMap::new();
        let mut waiting: Vec<&Entry> = entries.iter().filter(|entry| entry.is_view).collect();
        // A view may also be created before what it reads: two rounds the other way around find most of those.
        for _ in 0..2 {
            for entry in &waiting {
                let name = entry.name.to_ascii_lowercase();
                let size = words(&entry.sql)
                    .map(|word| word.to_ascii_lowercase())
                    .filter(|word| *word != name)
                    .filter_map(|word| sizes.get(&word))
                    .fold((1_u64, growth(&entry.sql)), |(sum, growth), (size, more)| {
                        (sum.saturating_add(*size), growth + more)
                    });
                sizes.insert(name, size);
            }
            waiting.reverse();
        }
        Self { sizes, expansions_left: EXPANSIONS, columns_left: VIEW_COLUMNS }
    }

    /// Whether SQLite is asked for the columns of a view.
    fn may_ask(&mut self, entry: &Entry) -> bool {
        if !entry.is_view {
            return true;
        }
        let (size, _) = self.size(entry);
        let left = self.expansions_left.checked_sub(size);
        self.expansions_left = left.unwrap_or(self.expansions_left);
        left.is_some() && self.columns_left > 0
    }

    fn size(&self, entry: &Entry) -> (u64, f64) {
        self.sizes.get(&entry.name.to_ascii_lowercase()).copied().unwrap_or((1, 0.0))
    }

    /// Whether SQLite may take long for the columns of a view.
    fn are_slow(&self, entry: &Entry) -> bool {
        entry.is_view && !expands_quickly(&entry.sql, self.size(entry).1)
    }

    fn keep_within(&mut self, table: &mut Table) {
        if table.kind == TableKind::View {
            let left = self.columns_left.checked_sub(table.columns.len());
            if left.is_none() {
                table.columns.clear();
            }
            // To be asked is what costs: after the first that does not fit, nobody is asked for another.
            self.columns_left = left.unwrap_or(0);
        }
    }
}

/// The statements that describe one table, compiled once for all tables.
struct Reader<'c> {
    connection: &'c Connection,
    /// By name, the statements that created indexes.
    index_statements: HashMap<String, String>,
    columns: rusqlite::Statement<'c>,
    indexes: rusqlite::Statement<'c>,
    foreign_keys: rusqlite::Statement<'c>,
}

/// A column as `PRAGMA table_xinfo` shows it.
struct ColumnRow {
    column: Column,
    /// Place in the primary key from 1; 0 for other columns.
    key_place: u32,
}

/// A part of an index as `PRAGMA index_xinfo` shows it.
struct IndexRow {
    index: String,
    is_primary_key: bool,
    unique: bool,
    /// Negative for the rowid and for expressions.
    column: i64,
    collation: Option<String>,
    descending: bool,
}

impl<'c> Reader<'c> {
    fn new(connection: &'c Connection) -> Result<Self> {
        Ok(Self {
            connection,
            index_statements: read_index_statements(connection)?,
            columns: connection.prepare(COLUMNS)?,
            indexes: connection.prepare(
                "SELECT list.name, list.origin = 'pk', list.\"unique\", part.cid, part.coll, part.\"desc\" \
                 FROM pragma_index_list(?1) list, pragma_index_xinfo(list.name) part \
                 WHERE part.\"key\" ORDER BY list.seq DESC, part.seqno",
            )?,
            // SQLite numbers the keys of a table from the last to the first.
            foreign_keys: connection.prepare(
                "SELECT id, \"table\", \"from\", \"to\", on_delete, on_update FROM pragma_foreign_key_list(?1) \
                 ORDER BY id DESC, seq",
            )?,
        })
    }

    fn stored_table(&mut self, entry: Entry) -> Result<Table> {
        let rows = self.column_rows(&entry.name)?;
        let primary_key = primary_key(&rows);
        let text = declared(&entry.sql);
        let mut deferred = Vec::new();
        let mut table = Table::new(entry.name, rows.into_iter().map(|row| row.column).collect());
        table.primary_key = primary_key;
        if let Ok(Declared::Table(text)) = text {
            table.without_rowid = text.without_rowid;
            table.strict = text.strict;
            table.checks = text.checks;
            table.key_apart_from_rowid = text.key_apart_from_rowid;
            table.autoincrement = text.autoincrement;
            deferred = text.foreign_keys.iter().map(|key| key.deferred).collect();
            for (column, declared) in table.columns.iter_mut().zip(text.columns) {
                column.generated_as = declared.generated_as;
            }
            self.read_collations(&mut table)?;
            table.enforce();
        } else {
            // Nothing is claimed that only the statement tells; so there is no rowid to name either.
            table.without_rowid = true;
            self.read_collations(&mut table)?;
        }
        self.read_indexes(&mut table)?;
        table.foreign_keys = self.read_foreign_keys(&table)?;
        // Both are in the order of the declaration.
        table.foreign_keys.iter_mut().zip(deferred).for_each(|(key, deferred)| key.deferred = deferred);
        Ok(table)
    }

    fn column_rows(&mut self, table: &str) -> Result<Vec<ColumnRow>> {
        self.columns.query_map([table], column_row)?.collect()
    }

    fn read_collations(&self, table: &mut Table) -> Result<()> {
        for column in &mut table.columns {
            let (_, collation, ..) =
                self.connection.column_metadata(Some("main"), table.name.as_str(), column.name.as_str())?;
            if let Some(name) = collation.and_then(|name| name.to_str().ok()) {
                column.collation = Collation::from_name(name);
            }
        }
        Ok(())
    }

    /// Indexes and the UNIQUE sets that they make.
    fn read_indexes(&mut self, table: &mut Table) -> Result<()> {
        let rows: Vec<IndexRow> =
            self.indexes.query_map([table.name.as_str()], index_row)?.collect::<Result<_>>()?;
        let mut key = None;
        for rows in rows.chunk_by(|a, b| a.index == b.index) {
            let statement = self.index_statements.get(&rows[0].index).map(String::as_str);
            let index = index_of(table, rows, statement).unwrap_or_else(|| unread_index(&rows[0]));
            let columns = index.unique_columns(&table.columns);
            if rows[0].is_primary_key {
                table.key_is_finer = columns.is_none();
                key = Some(index);
                continue;
            }
            table.unique.extend(columns.filter(|columns| !table.unique.contains(columns)));
            table.indexes.push(index);
        }
        key.into_iter().for_each(|index| table.keep_key_index(index));
        Ok(())
    }

    fn read_foreign_keys(&mut self, table: &Table) -> Result<Vec<ForeignKey>> {
        let mut rows = self.foreign_keys.query([table.name.as_str()])?;
        let mut keys: Vec<(i64, ForeignKey)> = Vec::new();
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            if keys.last().is_none_or(|&(last, _)| last != id) {
                let action = |at: usize| -> Result<Action> {
                    Ok(Action::from_sql(&row.get::<_, String>(at)?).unwrap_or_default())
                };
                let key = ForeignKey {
                    referenced_table: row.get(1)?,
                    on_delete: action(4)?,
                    on_update: action(5)?,
                    ..ForeignKey::default()
                };
                keys.push((id, key));
            }
            let Some((_, key)) = keys.last_mut() else { continue };
            key.columns.extend(table.column_index(&row.get::<_, String>(2)?));
            key.referenced_columns.extend(row.get::<_, Option<String>>(3)?);
        }
        Ok(keys.into_iter().map(|(_, key)| key).collect())
    }
}

/// A view or virtual table: at most its columns are known.
fn computed_table(entry: Entry, columns: Vec<Column>) -> Table {
    let mut table = Table::new(entry.name, columns);
    table.kind = if entry.is_view { TableKind::View } else { TableKind::Virtual };
    if let Ok(Declared::View(view)) = declared(&entry.sql) {
        table.view = Some(view.query);
    }
    table
}

/// The columns of a view, as [`COLUMNS`] tells them; `None` if that is not what it tells.
fn columns_of(rows: &Arc<ResultSet>) -> Option<Vec<Column>> {
    let text = |value: &Value| match value {
        Value::Text(bytes) => String::from_utf8(bytes.to_vec()).ok(),
        _ => None,
    };
    rows.rows().map(|row| Some(column(text(row.first()?)?, row.get(1).and_then(text).as_deref()))).collect()
}

/// A column with its name and declared type alone.
fn column(name: String, declared_type: Option<&str>) -> Column {
    Column::new(name, declared_type.filter(|declared| !declared.is_empty()))
}

fn column_row(row: &Row<'_>) -> Result<ColumnRow> {
    let hidden: i64 = row.get(5)?;
    let column = Column {
        not_null: row.get(2)?,
        default: row.get(3)?,
        hidden: hidden == 1,
        generated: hidden >= 2,
        ..column(row.get(0)?, row.get::<_, Option<String>>(1)?.as_deref())
    };
    Ok(ColumnRow { column, key_place: row.get(4)? })
}

fn index_row(row: &Row<'_>) -> Result<IndexRow> {
    Ok(IndexRow {
        index: row.get(0)?,
        is_primary_key: row.get(1)?,
        unique: row.get(2)?,
        column: row.get(3)?,
        collation: row.get(4)?,
        descending: row.get(5)?,
    })
}

/// An index without known columns: it makes nothing unique, and may be of use to any query.
fn unread_index(row: &IndexRow) -> Index {
    Index { name: Some(row.index.clone()), unique: false, parts: Vec::new(), filter: None }
}

/// The index of those rows; `None` if only the statement that created it tells what it is and cannot be read. The index of
/// a constraint has no statement.
fn index_of(table: &Table, rows: &[IndexRow], statement: Option<&str>) -> Option<Index> {
    let first = rows.first()?;
    if let Some(sql) = statement {
        let Ok(Declared::Index(_, index)) = declared(sql) else { return None };
        return index.on(table).ok();
    }
    let part = |row: &IndexRow| {
        let of = Indexed::Column(u32::try_from(row.column).ok()?);
        let collation = Collation::from_name(row.collation.as_deref().unwrap_or("BINARY"));
        Some(IndexPart { of, collation, descending: row.descending })
    };
    let parts = rows.iter().map(part).collect::<Option<Vec<_>>>()?;
    Some(Index { name: None, unique: first.unique, parts, filter: None })
}

/// Positions of the primary-key columns in the order of the key.
fn primary_key(rows: &[ColumnRow]) -> Vec<u32> {
    let mut places: Vec<(u32, u32)> =
        (0..).zip(rows).filter(|(_, row)| row.key_place > 0).map(|(at, row)| (row.key_place, at)).collect();
    places.sort_unstable();
    places.into_iter().map(|(_, at)| at).collect()
}
