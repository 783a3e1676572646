//! Defines many tables, indexes, views and triggers in a new database, in time linear in their number.
//!
//! After every `CREATE` SQLite looks for the new row in the whole schema table, so defining n tables reads n²/2 rows. Here the rows
//! are taken out of the schema table from time to time, and put back at the end, in their order. What SQLite knows of the
//! tables stays in the connection meanwhile: it reads the schema table again only if another connection changed it.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

/// After so many definitions the rows are taken out. Both the search and the taking out are cheap at this number.
const AT_ONCE: usize = 64;

const READ: &str = "SELECT type, name, tbl_name, rootpage, sql FROM main.sqlite_schema ORDER BY rowid";
const WRITE: &str =
    "INSERT INTO main.sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES (?1, ?2, ?3, ?4, ?5)";

/// Defines things in the main database of a connection, which is in one transaction from here to [`Definitions::finish`]. Without
/// that last call the database is not whole.
pub(crate) struct Definitions<'c> {
    connection: &'c Connection,
    /// The rows that are not in the schema table at the moment.
    out: Vec<[Value; 5]>,
    /// The definitions since rows were taken out.
    since: usize,
}

impl<'c> Definitions<'c> {
    pub(crate) fn of(connection: &'c Connection) -> Self {
        Self { connection, out: Vec::new(), since: 0 }
    }

    /// Runs a statement that defines something.
    ///
    /// # Errors
    /// What SQLite says.
    pub(crate) fn define(&mut self, statement: &str) -> rusqlite::Result<()> {
        self.connection.execute_batch(statement)?;
        self.since += 1;
        if self.since < AT_ONCE {
            return Ok(());
        }
        self.since = 0;
        self.editing(Self::take_out)
    }

    /// Puts all rows back.
    ///
    /// # Errors
    /// What SQLite says.
    pub(crate) fn finish(mut self) -> rusqlite::Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        self.editing(|definitions| {
            definitions.take_out()?;
            let mut insert = definitions.connection.prepare(WRITE)?;
            definitions.out.iter().try_for_each(|row| insert.execute(params_from_iter(row)).map(drop))
        })
    }

    /// Only between definitions can the schema table be written to: a definition must not be able to name what SQLite reserves.
    fn editing(&mut self, edit: impl FnOnce(&mut Self) -> rusqlite::Result<()>) -> rusqlite::Result<()> {
        self.connection.execute_batch("PRAGMA writable_schema = ON")?;
        let edited = edit(self);
        self.connection.execute_batch("PRAGMA writable_schema = OFF")?;
        edited
    }

    fn take_out(&mut self) -> rusqlite::Result<()> {
        let mut read = self.connection.prepare(READ)?;
        let rows =
            read.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?]))?;
        for row in rows {
            self.out.push(row?);
        }
        self.connection.execute_batch("DELETE FROM main.sqlite_schema")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More of each than are defined at once, of every kind of row that a schema table has.
    fn statements() -> Vec<String> {
        let tables = (0..2 * AT_ONCE).flat_map(|at| {
            [
                format!(
                    "CREATE TABLE t{at} (id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT UNIQUE, b AS (id + 1))"
                ),
                format!("CREATE TABLE \"w {at}\" (k TEXT PRIMARY KEY, t REFERENCES t{at}) WITHOUT ROWID"),
                format!("CREATE INDEX i{at} ON t{at} (a, id) WHERE id > {at}"),
                format!("CREATE VIEW v{at} AS SELECT a FROM t{at} JOIN \"w {at}\" ON k = a"),
                format!("CREATE TRIGGER g{at} AFTER INSERT ON t{at} BEGIN DELETE FROM \"w {at}\"; END"),
            ]
        });
        tables.collect()
    }

    fn schema(connection: &Connection) -> Vec<(i64, String, String, Option<String>)> {
        let mut read =
            connection.prepare("SELECT rowid, type, name, sql FROM sqlite_schema ORDER BY rowid").unwrap();
        let rows = read.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
        rows.unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn the_database_is_the_one_that_the_statements_alone_make() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, quick) = (folder.path().join("plain"), folder.path().join("quick"));
        let statements = statements();
        Connection::open(&plain)
            .unwrap()
            .execute_batch(&format!("BEGIN; {}; COMMIT", statements.join("; ")))
            .unwrap();
        {
            let connection = Connection::open(&quick).unwrap();
            connection.execute_batch("BEGIN").unwrap();
            let mut definitions = Definitions::of(&connection);
            for (at, statement) in statements.iter().enumerate() {
                definitions.define(statement).unwrap();
                if at == 3 * AT_ONCE {
                    // A table whose row is out can be written to.
                    connection.execute("INSERT INTO t0 (a) VALUES ('x')", []).unwrap();
                }
            }
            definitions.finish().unwrap();
            connection.execute_batch("COMMIT").unwrap();
        }
        let (plain, quick) = (Connection::open(&plain).unwrap(), Connection::open(&quick).unwrap());
        assert_eq!(schema(&quick), schema(&plain));
        let whole: String = quick.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(whole, "ok");
        let rows: i64 = quick.query_row("SELECT count(*) FROM t0", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 1);
    }

    #[test]
    fn a_definition_cannot_name_what_sqlite_reserves() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("BEGIN").unwrap();
        let mut definitions = Definitions::of(&connection);
        for at in 0..=AT_ONCE {
            definitions.define(&format!("CREATE TABLE t{at} (a)")).unwrap();
        }
        assert!(definitions.define("CREATE TABLE sqlite_own (a)").is_err());
        assert!(definitions.define("CREATE TABLE t0 (a)").is_err(), "t0 is known though its row is out");
        assert!(connection.execute("DELETE FROM sqlite_schema", []).is_err());
    }
}
