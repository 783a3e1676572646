//! The data of a database under its new schema: a new SQLite file.
//!
//! # Contract
//! The original is attached read-only and immutable, and never written. The new file is filled in one transaction, in a folder
//! that is put in place when all of it is whole ([`crate::output`]); if it cannot be filled it is taken away. Rows keep their
//! order, and their rowids where a table has the rows of one old table.

use std::path::Path;

use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use sqlgauge_base::regular;
use sqlgauge_engine::machine_error;
use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::{Schema, Table, TableKind};
use sqlgauge_sql::tree::{Expr, From, JoinKind, Query, RelationId, RelationSource};

use crate::chain::{Chain, Migrated};

use crate::ddl::{create, indexes};
use crate::define::Definitions;

#[derive(Debug, thiserror::Error)]
pub enum MigrationError {
    /// What SQLite said, and to which table.
    #[error("{what}: {source}")]
    Sqlite { what: String, source: rusqlite::Error },
    #[error("{} cannot be written ({source}): {}", path.display(), sqlgauge_base::file::remedy(source))]
    Io { path: std::path::PathBuf, source: std::io::Error },
    /// A table has no form over the old schema.
    #[error("{0}")]
    NotExpressible(String),
    /// A virtual table, whose content is its module's.
    #[error("{0} is a virtual table, which is not migrated; leave the database out")]
    Virtual(String),
}

/// Writes the database `from`, which has the first schema of the chain, under the last one, with those triggers, and returns
/// what each new table is filled with.
///
/// # Errors
/// [`MigrationError`]; there is then no file. Only [`MigrationError::Io`] is an error of the machine, the others are the
/// database's or the change's.
pub(crate) fn migrate(
    chain: &Chain,
    triggers: &[String],
    from: &Path,
    to: &Path,
) -> Result<Vec<Migrated>, MigrationError> {
    let first = chain.first().tables().iter();
    if let Some(table) =
        first.into_iter().find(|table| matches!(table.kind, TableKind::Virtual | TableKind::Shadow))
    {
        return Err(MigrationError::Virtual(table.name.clone()));
    }
    let tables = chain.new_over_old().map_err(|refusal| MigrationError::NotExpressible(refusal.detail))?;
    let io = |source| MigrationError::Io { path: to.to_owned(), source };
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).map_err(io)?;
    }
    // What an earlier attempt left.
    remove(to).map_err(io)?;
    match fill(chain, (&tables, triggers), from, to) {
        Ok(()) => {
            regular::open(to).and_then(|file| file.sync_all()).map_err(io)?;
            Ok(tables)
        }
        Err(error) => {
            remove(to).map_err(io)?;
            let of_machine = match &error {
                MigrationError::Sqlite { source, .. } => machine_error(source),
                _ => None,
            };
            Err(of_machine.map_or(error, io))
        }
    }
}

fn remove(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn fill(
    chain: &Chain,
    (tables, triggers): (&[Migrated], &[String]),
    from: &Path,
    to: &Path,
) -> Result<(), MigrationError> {
    let named = |what: &str| {
        let what = what.to_owned();
        move |source| MigrationError::Sqlite { what, source }
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(to, flags).map_err(named("the new database"))?;
    prepare(&connection, from).map_err(named("the original"))?;
    connection.execute_batch("BEGIN").map_err(named("the new database"))?;
    let new = chain.last();
    let mut definitions = Definitions::of(&connection);
    for table in new.tables().iter().filter(|table| table.kind == TableKind::Table) {
        let statement = create(table).unwrap_or_default();
        definitions.define(&statement).map_err(named(&table.name))?;
    }
    for migrated in tables {
        let table = &new.tables()[migrated.table];
        let statement = insert(table, migrated, chain.first());
        connection.execute_batch(&statement).map_err(named(&table.name))?;
        if let Some(old) = numbered_as(table, migrated, chain.first()) {
            continue_numbers(&connection, table, old).map_err(named(&table.name))?;
        }
    }
    for table in new.tables() {
        for statement in indexes(table) {
            definitions.define(&statement).map_err(named(&statement))?;
        }
        if let Some(statement) = create(table).filter(|_| table.kind == TableKind::View) {
            definitions.define(&statement).map_err(named(&table.name))?;
        }
    }
    // When all rows are there, so that none of them fires.
    for trigger in triggers {
        definitions.define(trigger).map_err(named(trigger))?;
    }
    definitions.finish().map_err(named("the new database"))?;
    connection.execute_batch("COMMIT; DETACH original").map_err(named("the new database"))
}

/// The table whose AUTOINCREMENT key a table has.
fn numbered_as<'s>(table: &Table, migrated: &Migrated, old: &'s Schema) -> Option<&'s Table> {
    let key = table.rowid_alias().filter(|_| table.autoincrement)?;
    let place = migrated.columns.iter().position(|&at| at == key)?;
    let select = migrated.query.as_select()?;
    let Expr::Column(column) = &select.outputs.get(place)?.expr else { return None };
    let relations = select.from.as_ref()?.relations();
    let relation = relations.into_iter().find(|relation| relation.id == column.relation)?;
    let RelationSource::Table(id) = relation.source else { return None };
    old.table(id).filter(|origin| origin.autoincrement)
}

/// The next number is what it would have been, also where the last rows were deleted.
fn continue_numbers(connection: &Connection, table: &Table, old: &Table) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM main.sqlite_sequence WHERE name = ?1", [&table.name])?;
    let copy = "INSERT INTO main.sqlite_sequence (name, seq) \
                SELECT ?1, seq FROM original.sqlite_sequence WHERE name = ?2";
    connection.execute(copy, [&table.name, &old.name]).map(drop)
}

/// Instructions of one compiled statement. A table with generated columns is read once while it is defined, and columns that name
/// each other twice are compiled to a power of their number, before a step is taken.
const MOST_INSTRUCTIONS: i32 = 4_000_000;

/// Both databases must have one encoding, which is set before anything is in the new one.
fn prepare(connection: &Connection, from: &Path) -> rusqlite::Result<()> {
    let encoding: String = {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Connection::open_with_flags(from, flags)?.query_row("PRAGMA encoding", [], |row| row.get(0))?
    };
    connection.set_limit(Limit::SQLITE_LIMIT_VDBE_OP, MOST_INSTRUCTIONS)?;
    connection.execute_batch(&format!(
        "PRAGMA encoding = '{}'; PRAGMA trusted_schema = OFF; PRAGMA foreign_keys = OFF; \
         PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF",
        encoding.replace('\'', "")
    ))?;
    let uri = sqlgauge_engine::immutable_uri(from);
    connection.execute("ATTACH ?1 AS original", [uri]).map(drop)
}

/// The statement that fills a table. The names of the query are those of the original: it is a query over `original`.
fn insert(table: &Table, migrated: &Migrated, old: &Schema) -> String {
    let mut columns: Vec<String> = migrated
        .columns
        .iter()
        .filter_map(|&at| table.column(at))
        .map(|column| quoted(&column.name))
        .collect();
    let mut query = migrated.query.clone();
    let order = order(&mut query, old);
    if let Some(Order { rowid: Some(_), .. }) = &order
        && !table.without_rowid
        && table.rowid_alias().is_none()
        && let Some(name) = ["rowid", "_rowid_", "oid"].iter().find(|name| table.column_index(name).is_none())
    {
        columns.push((*name).to_owned());
        add_rowid(&mut query, order.as_ref());
    }
    let sql = crate::chain::in_original(&query, old);
    format!("INSERT INTO main.{} ({}) {sql}", quoted(&table.name), columns.join(", "))
}

struct Order {
    /// The only table that the rows are of.
    rowid: Option<RelationId>,
}

/// Sorts the rows of a query by the rowids of the tables that it reads, first to last.
fn order(query: &mut Query, old: &Schema) -> Option<Order> {
    use sqlgauge_sql::tree::{ColumnRef, OrderTerm, Place};
    if !query.order_by.is_empty() || query.limit.is_some() {
        return None;
    }
    let select = query.as_select().filter(|select| !select.distinct && select.group_by.is_empty())?;
    let from = select.from.as_ref()?;
    let place = |id: RelationId, source: &RelationSource| {
        let RelationSource::Table(table) = source else { return None };
        let table = old.table(*table)?;
        let is_kept = table.kind == TableKind::Table && !table.without_rowid;
        let place = table.rowid_alias().map_or(Place::Rowid, Place::At);
        is_kept.then_some(Expr::Column(ColumnRef { relation: id, column: place }))
    };
    let relations = from.relations();
    let keys =
        relations.iter().map(|relation| place(relation.id, &relation.source)).collect::<Option<Vec<_>>>()?;
    let rowid = match (from, keys.as_slice()) {
        (From::Relation(relation), [_]) => Some(relation.id),
        _ => None,
    };
    let nulls_last = has_outer(from);
    let terms = keys.into_iter().map(|expr| OrderTerm {
        expr,
        descending: false,
        nulls_first: nulls_last.then_some(false),
    });
    query.order_by = terms.collect();
    Some(Order { rowid })
}

fn has_outer(from: &From) -> bool {
    match from {
        From::Relation(_) => false,
        From::Join(join) => {
            !matches!(join.kind, JoinKind::Inner | JoinKind::Cross)
                || has_outer(&join.left)
                || has_outer(&join.right)
        }
    }
}

/// Adds the rowid, by which the rows are sorted, to the results.
fn add_rowid(query: &mut Query, order: Option<&Order>) {
    use sqlgauge_sql::tree::{Body, Output};
    let is_single = order.is_some_and(|order| order.rowid.is_some());
    if let (true, Some(term), Body::Select(select)) = (is_single, query.order_by.first(), &mut query.body) {
        select.outputs.push(Output::of(term.expr.clone()));
    }
}
