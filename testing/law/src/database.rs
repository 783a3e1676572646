//! A small SQLite database in memory, and what queries return on it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::types::Value;
use rusqlite::{Connection, Result};
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::Query;

use crate::data::literal;
use crate::shape::quoted;

/// Instructions between two looks at the budget, and how many looks a query may take.
const TICK: i32 = 1_000;
const MAX_TICKS: u32 = 300;
/// The longest result that is looked at.
const MAX_ROWS: usize = 4_000;

/// What a query returned.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Rows in the order in which they came.
    Rows(Vec<Vec<Value>>),
    /// SQLite does not take the text.
    Refused(String),
    /// An error while it ran, or too much work: nothing is known.
    Failed(String),
}

/// Which order and indexes a database has beside its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layout {
    /// Rows as they came.
    Plain,
    /// The same rows in another physical order.
    Shuffled,
    /// The same rows with indexes that the schema does not have, and perhaps statistics.
    Indexed,
}

/// A database, its rows as statements, and the results of this round's queries.
pub struct Database {
    connection: Connection,
    schema: Rc<Schema>,
    ticks: Arc<AtomicU32>,
    /// How its rows lie.
    pub layout: Layout,
    /// Statements that fill the tables, one row each.
    pub inserts: Vec<String>,
    /// Statements that create further indexes.
    pub indexes: Vec<String>,
    results: RefCell<HashMap<String, Rc<Outcome>>>,
}

impl Database {
    /// The database of those statements.
    ///
    /// # Errors
    /// When SQLite refuses the schema.
    pub fn of(
        ddl: &[String],
        schema: &Rc<Schema>,
        inserts: Vec<String>,
        indexes: Vec<String>,
        layout: Layout,
    ) -> Result<Self> {
        let mut connection = open(ddl)?;
        connection.execute_batch("BEGIN")?;
        for insert in &inserts {
            // A row that no longer satisfies a constraint is not there.
            let _ = connection.execute(insert, []);
        }
        for index in &indexes {
            let _ = connection.execute_batch(index);
        }
        connection.execute_batch("COMMIT")?;
        let ticks = guard(&mut connection)?;
        Ok(Self {
            connection,
            schema: Rc::clone(schema),
            ticks,
            layout,
            inserts,
            indexes,
            results: RefCell::default(),
        })
    }

    /// Forgets the results of earlier queries.
    pub fn forget(&self) {
        self.results.borrow_mut().clear();
    }

    /// What the query returns.
    pub fn run(&self, sql: &str) -> Rc<Outcome> {
        if let Some(outcome) = self.results.borrow().get(sql) {
            return Rc::clone(outcome);
        }
        let outcome = Rc::new(self.execute(sql));
        self.results.borrow_mut().insert(sql.to_owned(), Rc::clone(&outcome));
        outcome
    }

    fn execute(&self, sql: &str) -> Outcome {
        self.ticks.store(0, Ordering::Relaxed);
        let mut statement = match self.connection.prepare(sql) {
            Ok(statement) => statement,
            Err(error) => return Outcome::Refused(error.to_string()),
        };
        let width = statement.column_count();
        let mut rows = match statement.query([]) {
            Ok(rows) => rows,
            Err(error) => return Outcome::Failed(error.to_string()),
        };
        let mut result = Vec::new();
        loop {
            match rows.next() {
                Ok(Some(row)) => match (0..width).map(|place| row.get(place)).collect() {
                    Ok(row) => result.push(row),
                    Err(error) => return Outcome::Failed(error.to_string()),
                },
                Ok(None) => return Outcome::Rows(result),
                Err(error) => return Outcome::Failed(error.to_string()),
            }
            if result.len() > MAX_ROWS {
                return Outcome::Failed("too many rows".to_owned());
            }
        }
    }

    /// The query as SQL over this database's schema.
    pub fn spelled(&self, query: &Query) -> Option<String> {
        crate::generate::text(query, &self.schema)
    }
}

/// An empty database with that schema.
///
/// # Errors
/// When SQLite refuses a statement.
pub fn open(ddl: &[String]) -> Result<Connection> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch("PRAGMA foreign_keys = OFF")?;
    for statement in ddl {
        connection.execute_batch(statement)?;
    }
    Ok(connection)
}

/// Stops statements that take more than their share of instructions.
fn guard(connection: &mut Connection) -> Result<Arc<AtomicU32>> {
    let ticks = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&ticks);
    connection.progress_handler(TICK, Some(move || counted.fetch_add(1, Ordering::Relaxed) > MAX_TICKS))?;
    Ok(ticks)
}

/// The rows of all stored tables as INSERT statements, in the order in which SQLite keeps them.
///
/// # Errors
/// When SQLite cannot read its own catalog.
pub fn dump(connection: &Connection) -> Result<Vec<String>> {
    let mut tables = connection.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )?;
    let names: Vec<String> = tables.query_map([], |row| row.get(0))?.collect::<Result<_>>()?;
    let mut inserts = Vec::new();
    for name in names {
        let mut info = connection.prepare("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0")?;
        let columns: Vec<String> = info.query_map([&name], |row| row.get(0))?.collect::<Result<_>>()?;
        let columns = columns.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(", ");
        let mut rows = connection.prepare(&format!("SELECT {columns} FROM {}", quoted(&name)))?;
        let width = rows.column_count();
        let mut rows = rows.query([])?;
        while let Some(row) = rows.next()? {
            let values: Vec<Value> = (0..width).map(|place| row.get(place)).collect::<Result<_>>()?;
            let values = values.iter().map(literal).collect::<Vec<_>>().join(", ");
            inserts.push(format!("INSERT INTO {} ({columns}) VALUES ({values})", quoted(&name)));
        }
    }
    Ok(inserts)
}
