//! The catalog of a database, the role that may read it, and whether its locks hold.

use std::collections::HashMap;

use sqlgauge_engine::FailureKind;
use sqlgauge_sql::schema::{Action, Column, ForeignKey, Schema, Table, TableKind};

use super::connection::Connection;
use crate::catalog::{Catalog, Row};
use crate::locks::{Attempt, Setup};
use crate::server::Broken;

const COLUMNS: &str = "SELECT c.oid::text, c.relname::text, c.relkind::text, a.attnum::text, a.attname::text, \
    format_type(a.atttypid, a.atttypmod), a.attnotnull::text, format('%I.%I', n.nspname, c.relname) \
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' \
    AND pg_table_is_visible(c.oid) AND has_table_privilege(c.oid, 'SELECT') AND a.attnum > 0 AND NOT a.attisdropped \
    ORDER BY n.nspname, c.relname, a.attnum";

const KEYS: &str = "SELECT k.conrelid::text, k.contype::text, k.conkey::text, k.confrelid::text, k.confkey::text \
    FROM pg_constraint k WHERE k.contype IN ('p', 'u', 'f') ORDER BY k.conrelid, k.conname";

/// Number 0 is the table's.
const COMMENTS: &str = "SELECT d.objoid::text, d.objsubid::text, d.description FROM pg_description d \
    WHERE d.classoid = 'pg_class'::regclass";

/// Of columns, keys and comments.
pub(crate) const QUESTIONS: [&str; 3] = [COLUMNS, KEYS, COMMENTS];

/// Functions of the server and of extensions that change something, wait, reach outside, run a text or show what other sessions do. The
/// server says of each function whether it is volatile; those that are and do no harm are named. Functions of operators, casts and types
/// are called by queries that do not name them.
const REVOKED: &str = "p.prokind = 'f' AND NOT 'internal'::regtype = ANY (p.proargtypes) \
    AND (p.pronamespace = 'pg_catalog'::regnamespace OR EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass \
    AND d.objid = p.oid AND d.deptype = 'e')) \
    AND (p.provolatile = 'v' AND p.proname !~ '^(random|random_normal|clock_timestamp|timeofday|gen_random_uuid|uuidv[47]|\
    pg_export_snapshot|pg_.*_size)$' OR p.proname ~ '^(pg_stat_get_.*|pg_get_replication_slots|(table|schema|database|query|cursor)_to_xml.*|\
    dblink.*|crosstab.*|connectby|xpath_table)$') \
    AND NOT EXISTS (SELECT FROM pg_operator o WHERE o.oprcode = p.oid) AND NOT EXISTS (SELECT FROM pg_cast c WHERE c.castfunc = p.oid) \
    AND NOT EXISTS (SELECT FROM pg_type t WHERE p.oid IN (t.typinput, t.typoutput, t.typreceive, t.typsend, t.typmodin, t.typmodout))";

/// Whether a query of the role can leave nothing behind that going back to a savepoint does not undo: it can run none of those functions
/// that the setup withdraws, and none that somebody wrote, which can prepare, listen and take locks too.
pub(super) fn leaves_nothing() -> String {
    format!(
        "SELECT NOT EXISTS (SELECT FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang \
         WHERE ((p.oid >= 16384 AND l.lanname NOT IN ('internal', 'c')) OR ({REVOKED})) \
         AND has_function_privilege(p.oid, 'EXECUTE'))"
    )
}

/// Begins the transaction whose snapshot all workers read, and reads the catalog in it. Returns the snapshot beside it.
pub(super) fn read(connection: &mut Connection) -> Result<(String, Catalog), Broken> {
    connection.ask("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
    let snapshot = connection.ask("SELECT pg_export_snapshot()")?;
    let snapshot = snapshot.into_iter().flatten().flatten().next().unwrap_or_default();
    let [columns, keys, comments] = QUESTIONS;
    let (columns, keys) = (connection.ask(columns)?, connection.ask(keys)?);
    let comments = connection.ask(comments)?;
    Ok((snapshot, catalog_of(&columns, &keys, &comments)))
}

/// The catalog of the rows that [`COLUMNS`], [`KEYS`] and [`COMMENTS`] return.
pub(crate) fn catalog_of(columns: &[Row], keys: &[Row], comments: &[Row]) -> Catalog {
    let digest = format!("{columns:?}{keys:?}");
    let mut reader = Reader::default();
    columns.iter().for_each(|row| reader.column(row));
    keys.iter().for_each(|row| reader.key(row));
    comments.iter().for_each(|row| reader.comment(row));
    Catalog { schema: Schema::new(reader.tables), tables: reader.stored, digest }
}

#[derive(Default)]
struct Reader {
    tables: Vec<Table>,
    stored: Vec<String>,
    /// Per table its position, and per attribute number its column.
    places: HashMap<String, (usize, HashMap<String, u32>)>,
}

impl Reader {
    fn column(&mut self, row: &[Option<String>]) {
        let [Some(oid), Some(name), Some(kind), Some(number), Some(column), Some(declared), not_null, quoted] =
            row
        else {
            return;
        };
        let next = self.tables.len();
        let (at, numbers) = self.places.entry(oid.clone()).or_insert_with(|| (next, HashMap::new()));
        if *at == next {
            let mut table = Table::new(name.clone(), Vec::new());
            if matches!(kind.as_str(), "v" | "m") {
                table.kind = TableKind::View;
            }
            if kind != "v" {
                self.stored.extend(quoted.clone());
            }
            self.tables.push(table);
        }
        if let Some(table) = self.tables.get_mut(*at) {
            numbers.insert(number.clone(), u32::try_from(table.columns.len()).unwrap_or(u32::MAX));
            let mut column = Column::new(column.clone(), Some(declared));
            column.not_null = not_null.as_deref() == Some("true");
            table.columns.push(column);
        }
    }

    fn comment(&mut self, row: &[Option<String>]) {
        let [Some(oid), Some(number), comment] = row else { return };
        let Some((at, numbers)) = self.places.get(oid) else { return };
        let Some(table) = self.tables.get_mut(*at) else { return };
        if number == "0" {
            table.comment.clone_from(comment);
        } else if let Some(column) = numbers.get(number).and_then(|&at| table.columns.get_mut(at as usize)) {
            column.comment.clone_from(comment);
        }
    }

    fn key(&mut self, row: &[Option<String>]) {
        let [Some(oid), Some(kind), Some(columns), target, target_columns] = row else { return };
        let Some((at, columns)) = self.place(oid, columns) else { return };
        let foreign = || {
            let (target, columns) = self.place(target.as_ref()?, target_columns.as_ref()?)?;
            let target = self.tables.get(target)?;
            let name = |&at: &u32| target.column(at).map(|column| column.name.clone());
            Some((target.name.clone(), columns.iter().filter_map(name).collect()))
        };
        let foreign = foreign();
        let Some(table) = self.tables.get_mut(at) else { return };
        match (kind.as_str(), foreign) {
            ("p", _) => table.primary_key = columns,
            ("u", _) => table.unique.push(columns),
            (_, Some((referenced_table, referenced_columns))) => table.foreign_keys.push(ForeignKey {
                columns,
                referenced_table,
                referenced_columns,
                on_delete: Action::default(),
                on_update: Action::default(),
                deferred: false,
            }),
            _ => {}
        }
    }

    fn place(&self, oid: &str, columns: &str) -> Option<(usize, Vec<u32>)> {
        let (at, numbers) = self.places.get(oid)?;
        let columns = columns.trim_matches(['{', '}']).split(',').map(|number| numbers.get(number).copied());
        Some((*at, columns.collect::<Option<_>>()?))
    }
}

/// The SQL that makes the role.
pub(crate) fn setup(setup: &Setup) -> String {
    let (role, database) = (name(&setup.role), name(&setup.database));
    let schemas: Vec<String> = setup.schemas.iter().map(|schema| name(schema)).collect();
    let schemas = if schemas.is_empty() { name("public") } else { schemas.join(", ") };
    format!(
        "-- Run as the owner of the server, in each database: psql -d {database} -f setup.sql\n\
         -- Then give the role a password: \\password {role}\n\
         DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {literal}) THEN\n\
         \x20 CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS NOINHERIT;\n\
         END IF; END $$;\n\
         ALTER ROLE {role} SET default_transaction_read_only = on;\n\
         ALTER ROLE {role} SET temp_file_limit = '1GB';\n\
         ALTER ROLE {role} SET lo_compat_privileges = off;\n\
         ALTER ROLE {role} IN DATABASE {database} SET search_path = {schemas};\n\
         REVOKE ALL ON DATABASE {database} FROM PUBLIC;\n\
         GRANT CONNECT ON DATABASE {database} TO {role};\n\
         REVOKE CREATE ON SCHEMA {schemas} FROM PUBLIC;\n\
         GRANT USAGE ON SCHEMA {schemas} TO {role};\n\
         GRANT SELECT ON ALL TABLES IN SCHEMA {schemas} TO {role};\n\
         -- What changes something, waits, reaches outside, runs a text or shows what other sessions do; and code of a query.\n\
         DO $$ DECLARE f regprocedure; l name; BEGIN\n\
         \x20 FOR f IN SELECT p.oid FROM pg_proc p WHERE {REVOKED} LOOP\n\
         \x20   EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f);\n\
         \x20 END LOOP;\n\
         \x20 FOR l IN SELECT lanname FROM pg_language WHERE lanpltrusted LOOP\n\
         \x20   EXECUTE format('REVOKE USAGE ON LANGUAGE %I FROM PUBLIC', l);\n\
         \x20 END LOOP;\n\
         END $$;\n",
        literal = text(&setup.role),
    )
}

fn name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// What is tried, as the role; each must fail, in that way.
pub(crate) const LOCKS: &[Attempt] = {
    use FailureKind::{
        Denied, InvalidQuery, MultipleStatements, NoSuchFunction, NoSuchTable, RuntimeError, Timeout,
        TooLarge,
    };
    &[
        Attempt::new("reads no passwords", "SELECT rolpassword FROM pg_authid", &[Denied]),
        Attempt::new("makes no large object", "SELECT lo_create(0)", &[Denied]),
        Attempt::new("imports no file as a large object", "SELECT lo_import('/etc/passwd')", &[Denied]),
        Attempt::new("exports no large object to a file", "SELECT lo_export(1, '/tmp/sqlgauge')", &[Denied]),
        Attempt::new("reads no file", "SELECT pg_read_file('/etc/passwd')", &[Denied]),
        Attempt::new("lists no folder", "SELECT pg_ls_dir('/')", &[Denied]),
        Attempt::new("notifies nobody", "SELECT pg_notify('a', 'b')", &[Denied]),
        Attempt::new("takes no advisory lock", "SELECT pg_advisory_lock(1)", &[Denied]),
        Attempt::new("does not sleep", "SELECT pg_sleep(1)", &[Denied]),
        Attempt::new("ends no session", "SELECT pg_terminate_backend(1)", &[Denied]),
        Attempt::new("cancels no query", "SELECT pg_cancel_backend(1)", &[Denied]),
        Attempt::new("sees no other session", "SELECT * FROM pg_stat_activity", &[Denied]),
        Attempt::new("sees no lock of another session", "SELECT * FROM pg_locks", &[Denied]),
        Attempt::new("counts no query of others", "SELECT * FROM pg_stat_user_tables", &[Denied]),
        Attempt::new("sees no replication", "SELECT * FROM pg_replication_slots", &[Denied]),
        Attempt::new(
            "sees no statistics of texts",
            "SELECT query FROM pg_stat_statements",
            &[Denied, NoSuchTable, RuntimeError],
        ),
        Attempt::new("runs no text by ts_stat", "SELECT * FROM ts_stat('SELECT ''a''::tsvector')", &[Denied]),
        Attempt::new(
            "runs no text by ts_rewrite",
            "SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, ''b''::tsquery')",
            &[Denied],
        ),
        Attempt::new("runs no text as XML", "SELECT query_to_xml('SELECT 1', true, true, '')", &[Denied]),
        Attempt::new("runs no table as XML", "SELECT table_to_xml('pg_class', true, true, '')", &[Denied]),
        Attempt::new("runs no schema as XML", "SELECT schema_to_xml('public', true, true, '')", &[Denied]),
        Attempt::new("fixes no random numbers", "SELECT setseed(0.5)", &[Denied]),
        Attempt::new("takes no number of a sequence", "SELECT nextval(oid) FROM pg_class", &[Denied]),
        Attempt::new("resets no statistics", "SELECT pg_stat_reset()", &[Denied]),
        Attempt::new(
            "runs no code of a language",
            "SELECT lanname FROM pg_language WHERE lanpltrusted AND has_language_privilege(oid, 'USAGE')",
            &[],
        ),
        Attempt::new("runs no command", "/* /* */ SELECT 1 -- */ DO $$ BEGIN END $$", &[Denied]).read(),
        Attempt::new(
            "may write no table",
            "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') \
             AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') AND n.nspname NOT LIKE 'pg\\_%'",
            &[],
        ),
        Attempt::new(
            "is in a transaction that writes nothing",
            "SELECT 1 WHERE current_setting('transaction_read_only') <> 'on'",
            &[],
        ),
        Attempt::new("shows no setting by SHOW", "SHOW ALL", &[Denied]),
        Attempt::new("explains no query", "EXPLAIN ANALYZE SELECT 1", &[Denied]),
        Attempt::new(
            "ends with its connection",
            "SELECT 1 WHERE current_setting('client_connection_check_interval', true) IS DISTINCT FROM '1s'",
            &[],
        ),
        Attempt::new("changes no setting", "SELECT set_config('statement_timeout', '0', false)", &[Denied]),
        Attempt::new(
            "reaches no other server",
            "SELECT * FROM dblink('x', 'SELECT 1') AS t(a int)",
            &[Denied, NoSuchFunction],
        ),
        Attempt::new(
            "writes no row",
            "WITH a AS (DELETE FROM pg_class RETURNING 1) SELECT * FROM a",
            &[Denied, InvalidQuery],
        ),
        Attempt::new("makes no table", "SELECT 1 AS a INTO TEMP sqlgauge_x", &[Denied]).read(),
        Attempt::new("runs one statement", "SELECT 1; SELECT 2", &[MultipleStatements]),
        Attempt::new(
            "ends at its time limit",
            "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT count(*) FROM a",
            &[Timeout, TooLarge],
        ),
    ]
};
