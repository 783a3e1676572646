//! A SQLite file's catalog as a [`Schema`].

use std::time::{Duration, Instant};

use rusqlite::{Connection, Result, Row};
use sqlgauge_sql::schema::{Affinity, Collation, Column, ForeignKey, Schema, Table, TableKind};

use super::connection::GuardedConnection;
use super::ddl::TableText;
use super::shadow::Owners;

/// How long SQLite may take for the columns of one view; views of views can ask for exponential work.
const VIEW_TIME: Duration = Duration::from_millis(500);

/// How long the whole catalog may take.
const CATALOG_TIME: Duration = Duration::from_secs(30);

/// Reads all tables and views in the order of their creation. SQLite's own tables (`sqlite_…`) are left out.
///
/// A view or virtual table that SQLite itself cannot make sense of has no columns.
///
/// # Errors
/// Whatever keeps SQLite from reading the catalog; a name or statement in it that is not UTF-8 is one.
pub(super) fn read_schema(guarded: &GuardedConnection) -> Result<Schema> {
    let deadline = Instant::now() + CATALOG_TIME;
    let connection = guarded.for_catalog(deadline);
    let entries = read_entries(connection)?;
    let mut reader = Reader::new(connection)?;
    let texts: Vec<TableText> = entries.iter().map(|entry| TableText::read(&entry.sql)).collect();
    let mut owners = Owners::default();
    entries.iter().zip(&texts).for_each(|(entry, text)| owners.add(&entry.name, text));
    let mut tables = Vec::new();
    for (entry, text) in entries.into_iter().zip(texts) {
        let is_shadow = !entry.is_view && owners.own(&entry.name);
        let mut table = if entry.is_view || text.is_virtual {
            guarded.for_catalog(deadline.min(Instant::now() + VIEW_TIME));
            let table = reader.computed_table(entry);
            guarded.for_catalog(deadline);
            table
        } else {
            reader.stored_table(entry, text)?
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
    sql: String,
}

fn read_entries(connection: &Connection) -> Result<Vec<Entry>> {
    let mut statement = connection.prepare(
        "SELECT name, type = 'view', sql FROM sqlite_schema \
         WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid",
    )?;
    let entries = statement.query_map([], |row| {
        let sql = row.get::<_, Option<String>>(2)?.unwrap_or_default();
        Ok(Entry { name: row.get(0)?, is_view: row.get(1)?, sql })
    })?;
    entries.collect()
}

/// The statements that describe one table, compiled once for all tables.
struct Reader<'c> {
    connection: &'c Connection,
    columns: rusqlite::Statement<'c>,
    unique_indexes: rusqlite::Statement<'c>,
    foreign_keys: rusqlite::Statement<'c>,
}

/// A column as `PRAGMA table_xinfo` shows it.
struct ColumnRow {
    column: Column,
    /// Place in the primary key from 1; 0 for other columns.
    key_place: u32,
}

/// A column of a unique index as `PRAGMA index_xinfo` shows it.
struct IndexRow {
    index: String,
    is_primary_key: bool,
    /// Negative for the rowid and for expressions.
    column: i64,
    collation: Option<String>,
}

impl<'c> Reader<'c> {
    fn new(connection: &'c Connection) -> Result<Self> {
        Ok(Self {
            connection,
            columns: connection.prepare(
                "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1)",
            )?,
            unique_indexes: connection.prepare(
                "SELECT list.name, list.origin = 'pk', part.cid, part.coll \
                 FROM pragma_index_list(?1) list, pragma_index_xinfo(list.name) part \
                 WHERE list.\"unique\" AND NOT list.partial AND part.\"key\" ORDER BY list.seq DESC, part.seqno",
            )?,
            // SQLite numbers the keys of a table from the last to the first.
            foreign_keys: connection.prepare(
                "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1) ORDER BY id DESC, seq",
            )?,
        })
    }

    /// A view or virtual table, of which only the columns are known, if they are.
    fn computed_table(&mut self, entry: Entry) -> Table {
        let rows = self.column_rows(&entry.name).unwrap_or_default();
        let columns = rows.into_iter().map(|row| row.column).collect();
        let mut table = Table::new(entry.name, columns);
        table.kind = if entry.is_view { TableKind::View } else { TableKind::Virtual };
        table
    }

    fn stored_table(&mut self, entry: Entry, text: TableText) -> Result<Table> {
        let rows = self.column_rows(&entry.name)?;
        let primary_key = primary_key(&rows);
        let mut table = Table::new(entry.name, rows.into_iter().map(|row| row.column).collect());
        table.primary_key = primary_key;
        table.without_rowid = text.without_rowid;
        table.strict = text.strict;
        table.checks = text.checks;
        if table.strict {
            for column in table.columns.iter_mut().filter(|column| is_any(column)) {
                column.affinity = Affinity::Blob;
            }
        }
        self.read_collations(&mut table)?;
        self.read_keys(&mut table)?;
        table.foreign_keys = self.read_foreign_keys(&table)?;
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

    /// UNIQUE sets, and NOT NULL where it follows from the primary key.
    fn read_keys(&mut self, table: &mut Table) -> Result<()> {
        let rows: Vec<IndexRow> =
            self.unique_indexes.query_map([table.name.as_str()], index_row)?.collect::<Result<_>>()?;
        let has_key_index = rows.iter().any(|row| row.is_primary_key);
        for index in rows.chunk_by(|a, b| a.index == b.index) {
            let columns: Option<Vec<u32>> = index.iter().map(|row| unique_column(table, row)).collect();
            if let Some(columns) = columns
                && !index[0].is_primary_key
                && !table.unique.contains(&columns)
            {
                table.unique.push(columns);
            }
        }
        // An alias of the rowid needs no index; `INTEGER PRIMARY KEY DESC` looks like one, is none, and has one.
        let is_rowid_alias = table.rowid_alias().is_some() && !has_key_index;
        if is_rowid_alias || table.without_rowid || table.strict {
            for &place in &table.primary_key {
                if let Some(column) = table.columns.get_mut(place as usize) {
                    column.not_null = true;
                }
            }
        }
        Ok(())
    }

    fn read_foreign_keys(&mut self, table: &Table) -> Result<Vec<ForeignKey>> {
        let mut rows = self.foreign_keys.query([table.name.as_str()])?;
        let mut keys: Vec<(i64, ForeignKey)> = Vec::new();
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            if keys.last().is_none_or(|&(last, _)| last != id) {
                let key =
                    ForeignKey { columns: vec![], referenced_table: row.get(1)?, referenced_columns: vec![] };
                keys.push((id, key));
            }
            let Some((_, key)) = keys.last_mut() else { continue };
            key.columns.extend(table.column_index(&row.get::<_, String>(2)?));
            key.referenced_columns.extend(row.get::<_, Option<String>>(3)?);
        }
        Ok(keys.into_iter().map(|(_, key)| key).collect())
    }
}

/// Whether the column takes every value as it is; the type name means that in STRICT tables only.
fn is_any(column: &Column) -> bool {
    column.declared_type.as_deref().is_some_and(|declared| declared.eq_ignore_ascii_case("ANY"))
}

fn column_row(row: &Row<'_>) -> Result<ColumnRow> {
    let declared_type = row.get::<_, Option<String>>(1)?.filter(|declared| !declared.is_empty());
    let hidden: i64 = row.get(5)?;
    let column = Column {
        name: row.get(0)?,
        affinity: Affinity::of_declared_type(declared_type.as_deref()),
        declared_type,
        not_null: row.get(2)?,
        default: row.get(3)?,
        collation: Collation::Binary,
        hidden: hidden == 1,
        generated: hidden >= 2,
    };
    Ok(ColumnRow { column, key_place: row.get(4)? })
}

fn index_row(row: &Row<'_>) -> Result<IndexRow> {
    Ok(IndexRow {
        index: row.get(0)?,
        is_primary_key: row.get(1)?,
        column: row.get(2)?,
        collation: row.get(3)?,
    })
}

/// Positions of the primary-key columns in the order of the key.
fn primary_key(rows: &[ColumnRow]) -> Vec<u32> {
    let mut places: Vec<(u32, u32)> =
        (0..).zip(rows).filter(|(_, row)| row.key_place > 0).map(|(at, row)| (row.key_place, at)).collect();
    places.sort_unstable();
    places.into_iter().map(|(_, at)| at).collect()
}

/// The column that a part of a unique index makes unique for comparisons on that column; `None` for an
/// expression, and for an index that tells apart what the column's own collation takes for equal.
fn unique_column(table: &Table, part: &IndexRow) -> Option<u32> {
    let at = u32::try_from(part.column).ok()?;
    let of_column = &table.column(at)?.collation;
    let of_index = Collation::from_name(part.collation.as_deref().unwrap_or("BINARY"));
    (*of_column == of_index || *of_column == Collation::Binary).then_some(at)
}
