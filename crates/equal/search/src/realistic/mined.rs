//! What is known so far of the rows of one database.
//!
//! A database may have thousands of tables, and a table millions of rows. So a table is looked at when the first pair of
//! queries comes that leads to it, and never where it has more cells than can be read in a few seconds: what its rows keep is
//! then unknown. That depends on the database alone, never on a clock.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sqlgauge_engine::{Database, Engine, ResultSet};
use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::{Schema, Table, TableId, TableKind};

use super::{Constraints, Looked, TableConstraints, inclusions};
use crate::observed::{count, counts};

/// Values of a table up to which its rows are looked at, about three seconds' worth.
const CELLS: usize = 10_000_000;

/// What is known so far of the rows of one database, for all threads.
#[derive(Debug)]
pub struct Mined {
    schema: Arc<Schema>,
    /// What each table keeps by itself, by its place in the schema.
    tables: Vec<OnceLock<Looked>>,
    /// Whether queries about several columns returned no row.
    answers: Mutex<HashMap<String, bool>>,
}

#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    engine: &'a dyn Engine,
    database: &'a Database,
    answers: &'a Mutex<HashMap<String, bool>>,
}

impl Source<'_> {
    pub(super) fn rows(self, sql: &str) -> Option<Arc<ResultSet>> {
        self.engine.run(self.database, sql).rows().cloned()
    }

    /// Whether a query returns no row; false where the engine gives up on it.
    pub(super) fn is_empty(self, sql: &str) -> bool {
        let answers = || self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&answer) = answers().get(sql) {
            return answer;
        }
        // Not under the lock: the query may take seconds.
        let is_empty = self.rows(sql).is_some_and(|rows| rows.is_empty());
        answers().insert(sql.to_owned(), is_empty);
        is_empty
    }
}

impl Mined {
    /// Nothing so far, of a database over that schema.
    pub fn new(schema: Arc<Schema>) -> Self {
        let tables = schema.tables().iter().map(|_| OnceLock::new()).collect();
        Self { schema, tables, answers: Mutex::default() }
    }

    /// What the rows of the database keep in those tables. Dependencies are looked for in tables of less than 10,000 rows.
    pub fn among(
        &self,
        tables: impl IntoIterator<Item = TableId>,
        engine: &dyn Engine,
        database: &Database,
    ) -> Constraints {
        let source = Source { engine, database, answers: &self.answers };
        let looked = |id: TableId| {
            let at = id.index();
            let (table, cell) = (self.schema.tables().get(at)?, self.tables.get(at)?);
            Some((at, cell.get_or_init(|| Looked::at(table, source)).clone()))
        };
        let looked: BTreeMap<usize, Looked> = tables.into_iter().filter_map(looked).collect();
        let mut constraints = Constraints { tables: looked };
        let inclusions = constraints.inclusions(&self.schema, source);
        for (&at, looked) in &mut constraints.tables {
            let (Looked::Rows(of_table), Some(declared)) = (looked, self.schema.tables().get(at)) else {
                continue;
            };
            let mined = inclusions.iter().filter(|(from, _)| *from == at);
            of_table.inclusions = mined.map(|(_, inclusion)| *inclusion).collect();
            of_table.mark_keys(declared);
            of_table.unique.extend(inclusions::unique_pairs(declared, of_table, source));
        }
        constraints
    }
}

impl Looked {
    fn at(table: &Table, source: Source<'_>) -> Self {
        let most = CELLS / table.columns.len().max(1);
        let counted =
            format!("SELECT count(*) FROM (SELECT 1 FROM {} LIMIT {})", quoted(&table.name), most + 1);
        let rows = source.rows(&counted).and_then(|answer| Some(count(answer.row(0)?.first()?)));
        let counts = || counts(table, source.engine, source.database);
        match rows {
            _ if table.kind != TableKind::Table => Self::NoRows,
            Some(0) => Self::NoRows,
            Some(rows) if usize::try_from(rows).is_ok_and(|rows| rows > most) => {
                Self::Unknown(format!("more than {most} rows, too many to see what all of them keep"))
            }
            _ => counts().and_then(|counts| TableConstraints::mine(table, &counts, source)).map_or_else(
                || Self::Unknown("its rows could not be read within the limits of a query".to_owned()),
                Self::Rows,
            ),
        }
    }
}
