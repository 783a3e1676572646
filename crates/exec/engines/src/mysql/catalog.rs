//! The catalog of a database, the account that may read it, and the locks that are tried.

use sqlgauge_engine::FailureKind;

use super::connection::Connection;
use crate::catalog::{Catalog, catalog_of};
use crate::locks::{Attempt, Setup};
use crate::server::Broken;

const COLUMNS: &str = "SELECT c.TABLE_NAME, t.TABLE_TYPE, c.COLUMN_NAME, c.COLUMN_TYPE, c.IS_NULLABLE \
    FROM information_schema.COLUMNS c JOIN information_schema.TABLES t \
    ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME \
    WHERE c.TABLE_SCHEMA = DATABASE() ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION";

/// Columns of a key stand in their order.
const KEYS: &str = "SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME \
    FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = DATABASE() \
    ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION";

/// The comment of a view is `VIEW`.
const COMMENTS: &str = "SELECT TABLE_NAME, NULL, TABLE_COMMENT FROM information_schema.TABLES \
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_COMMENT NOT IN ('', 'VIEW') \
    UNION ALL SELECT TABLE_NAME, COLUMN_NAME, COLUMN_COMMENT FROM information_schema.COLUMNS \
    WHERE TABLE_SCHEMA = DATABASE() AND COLUMN_COMMENT <> ''";

/// Of columns, keys and comments.
pub(crate) const QUESTIONS: [&str; 3] = [COLUMNS, KEYS, COMMENTS];

/// Reads the catalog.
pub(super) fn read(connection: &mut Connection) -> Result<Catalog, Broken> {
    let [columns, keys, comments] = QUESTIONS;
    let (columns, keys) = (connection.ask(columns)?, connection.ask(keys)?);
    let comments = connection.ask(comments)?;
    Ok(catalog_of(&columns, &keys, &comments, quoted))
}

/// The SQL that makes the account.
pub(super) fn setup(setup: &Setup) -> String {
    let account = format!("{}@'%'", text(&setup.role));
    let databases = std::iter::once(&setup.database).chain(&setup.schemas);
    let grant = |name: &String| format!("GRANT SELECT ON {}.* TO {account};", pattern(name));
    let grants = databases.map(grant).collect::<Vec<_>>().join("\n");
    format!(
        "-- Run as an administrator of the server, once per database: mariadb < setup.sql\n\
         -- The account can do nothing before it has a password:\n\
         --   ALTER USER {account} IDENTIFIED BY '…' ACCOUNT UNLOCK;\n\
         -- It has no other right: no FILE, no PROCESS, no SUPER, no EXECUTE, no LOCK TABLES.\n\
         CREATE USER IF NOT EXISTS {account} ACCOUNT LOCK;\n\
         {grants}\n"
    )
}

pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A database in a grant, where `_` and `%` would stand for others.
fn pattern(name: &str) -> String {
    quoted(&name.replace('\\', "\\\\").replace('_', "\\_").replace('%', "\\%"))
}

fn text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// What is tried, as the account; each must fail, in that way. Where none is named, it must run and return no row.
pub(crate) const LOCKS: &[Attempt] = {
    use FailureKind::{Denied, MultipleStatements, NoSuchTable, SyntaxError, Timeout, TooLarge};
    &[
        Attempt::new(
            "has no right but SELECT",
            "SELECT PRIVILEGE_TYPE FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE NOT IN ('USAGE', 'SELECT') \
             UNION ALL SELECT PRIVILEGE_TYPE FROM information_schema.SCHEMA_PRIVILEGES WHERE PRIVILEGE_TYPE <> 'SELECT' \
             UNION ALL SELECT PRIVILEGE_TYPE FROM information_schema.TABLE_PRIVILEGES WHERE PRIVILEGE_TYPE <> 'SELECT'",
            &[],
        ),
        Attempt::new("reads no passwords", "SELECT * FROM mysql.user", &[Denied]),
        Attempt::new("reads no rights of others", "SELECT * FROM mysql.db", &[Denied]),
        Attempt::new("writes no file", "SELECT 1 INTO OUTFILE '/tmp/sqlgauge-lock'", &[Denied]),
        Attempt::new("writes no dump", "SELECT 1 INTO DUMPFILE '/tmp/sqlgauge-lock'", &[Denied]),
        Attempt::new("reads no file", "SELECT LOAD_FILE('/etc/passwd')", &[Denied]).read(),
        Attempt::new("deletes no row", "DELETE FROM mysql.user WHERE FALSE", &[Denied]),
        Attempt::new("changes no row", "UPDATE mysql.db SET Db = Db WHERE FALSE", &[Denied, NoSuchTable]),
        Attempt::new("makes no table", "CREATE TABLE sqlgauge_lock (a INT)", &[Denied]),
        Attempt::new("sleeps not", "SELECT SLEEP(1)", &[Denied]).read(),
        Attempt::new("takes no named lock", "SELECT GET_LOCK('a', 1)", &[Denied]).read(),
        Attempt::new("locks no row", "SELECT 1 FROM information_schema.TABLES LOCK IN SHARE MODE", &[Denied])
            .read(),
        Attempt::new("sees no other session", "SELECT * FROM information_schema.PROCESSLIST", &[Denied])
            .read(),
        Attempt::new(
            "sees no other session by another letter",
            "SELECT * FROM information_schema.PROCESSL\u{130}ST",
            &[Denied],
        )
        .read(),
        Attempt::new("sees no thread", "SELECT * FROM performance_schema.threads", &[Denied]),
        Attempt::new("sees no transaction", "SELECT * FROM information_schema.INNODB_TRX", &[Denied]),
        Attempt::new("sees no log of texts", "SELECT * FROM mysql.general_log", &[Denied]),
        Attempt::new("opens no handler", "HANDLER team OPEN", &[Denied, NoSuchTable]).read(),
        Attempt::new("runs no text", "EXECUTE IMMEDIATE 'SELECT 1'", &[Denied]).read(),
        Attempt::new("calls no procedure", "CALL sqlgauge_lock()", &[Denied]).read(),
        Attempt::new("computes no benchmark", "SELECT BENCHMARK(1, 1)", &[Denied]).read(),
        Attempt::new("runs no comment", "SELECT 1 /*!, SLEEP(1) */", &[Denied]).read(),
        Attempt::new("runs one statement", "SELECT 1; SELECT 2", &[MultipleStatements, SyntaxError]).read(),
        Attempt::new(
            "ends at its time limit",
            "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT COUNT(*) FROM a",
            &[Timeout, TooLarge],
        ),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_reaches_one_database_only() {
        let sql =
            setup(&Setup { database: "a_b`c".into(), role: "o'x".into(), schemas: vec!["more".into()] });
        assert!(sql.contains("GRANT SELECT ON `a\\_b``c`.* TO 'o''x'@'%';"), "{sql}");
        assert!(sql.contains("GRANT SELECT ON `more`.* TO 'o''x'@'%';"), "{sql}");
    }
}
