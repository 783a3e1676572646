//! Puts rows into the tables of a sandbox, and reads them back.

use rusqlite::Statement;
use sqlgauge_engine::{Failure, Sandbox, Value};
use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::{Schema, Table, TableId};

use super::ddl::{create_definitions, create_table, names};
use super::witness::{Witness, WitnessTable};

/// The statements that empty and fill some tables.
pub(super) struct Loader<'s> {
    sandbox: &'s Sandbox,
    tables: Vec<TableLoader<'s>>,
}

struct TableLoader<'s> {
    insert: Statement<'s>,
    delete: Statement<'s>,
    is_dirty: bool,
}

impl<'s> Loader<'s> {
    /// Prepares for those columns of those tables, which the sandbox must have.
    pub(super) fn new(
        sandbox: &'s Sandbox,
        schema: &Schema,
        tables: &[(TableId, Vec<u32>)],
    ) -> rusqlite::Result<Self> {
        let tables = tables.iter().filter_map(|(id, columns)| Some((schema.table(*id)?, columns)));
        let tables = tables.map(|(table, columns)| {
            Ok(TableLoader {
                insert: sandbox.prepare_own(&insert_text(table, columns))?,
                delete: sandbox.prepare_own(&format!("DELETE FROM {}", quoted(&table.name)))?,
                // Rows of another pair may be left.
                is_dirty: true,
            })
        });
        Ok(Self { sandbox, tables: tables.collect::<rusqlite::Result<_>>()? })
    }

    /// Replaces the rows of the table at that place; false if SQLite refuses one of them.
    pub(super) fn load<'v, R>(&mut self, at: usize, rows: impl IntoIterator<Item = R>) -> bool
    where
        R: IntoIterator<Item = &'v Value>,
    {
        self.empty(at) && rows.into_iter().all(|row| self.add(at, row))
    }

    /// Takes all rows out of the table at that place; false if SQLite does not.
    pub(super) fn empty(&mut self, at: usize) -> bool {
        let table = &mut self.tables[at];
        if table.is_dirty {
            table.is_dirty = self.sandbox.execute_plain(&mut table.delete).is_err();
        }
        !table.is_dirty
    }

    /// Puts a row into the table at that place; false if SQLite refuses it.
    pub(super) fn add<'v>(&mut self, at: usize, row: impl IntoIterator<Item = &'v Value>) -> bool {
        let table = &mut self.tables[at];
        table.is_dirty = true;
        let is_bound = (1..).zip(row).all(|(at, value)| table.insert.raw_bind_parameter(at, value).is_ok());
        is_bound && self.sandbox.execute_own(&mut table.insert).is_ok()
    }
}

/// Empties all tables, so that the next user of the sandbox finds none of these rows.
impl Drop for Loader<'_> {
    fn drop(&mut self) {
        for at in 0..self.tables.len() {
            self.empty(at);
        }
    }
}

fn insert_text(table: &Table, columns: &[u32]) -> String {
    if columns.is_empty() {
        return format!("INSERT INTO {} DEFAULT VALUES", quoted(&table.name));
    }
    let marks = vec!["?"; columns.len()].join(", ");
    format!("INSERT INTO {} ({}) VALUES ({marks})", quoted(&table.name), names(table, columns))
}

/// What the tables hold now.
pub(super) fn read(
    sandbox: &Sandbox,
    schema: &Schema,
    (tables, views): (&[TableId], &[TableId]),
) -> Result<Witness, Failure> {
    let definitions = create_definitions(schema, tables, views);
    let tables = tables.iter().filter_map(|&id| schema.table(id)).map(|table| {
        let stored = table.stored_columns();
        let columns = names(table, &stored);
        // An index that has all columns would give the rows in its order.
        let rows = sandbox.rows_own(&format!("SELECT {columns} FROM {} NOT INDEXED", quoted(&table.name)))?;
        let names = stored.iter().filter_map(|&at| table.column(at)).map(|column| column.name.clone());
        let names = names.collect();
        let rows = rows.rows().map(<[Value]>::to_vec).collect();
        Ok(WitnessTable::new(&table.name, names, create_table(schema, table), rows))
    });
    Ok(Witness { tables: tables.collect::<Result<_, Failure>>()?, definitions })
}
