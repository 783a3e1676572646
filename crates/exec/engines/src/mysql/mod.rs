//! MySQL and MariaDB.
//!
//! Each query runs alone. Its settings, a READ ONLY transaction and the statement to prepare are sent at once. It is executed if it
//! returns rows and has no parameters. A reset of the connection then ends the transaction and forgets settings, variables, locks
//! and temporary tables. The server ends a query at its time limit; half a second later a second connection kills the query, and
//! two seconds later the connection.

mod bytes;
pub(crate) mod catalog;
mod connection;
pub(crate) mod errors;
pub(crate) mod place;
mod plugin;
mod query;
pub(crate) mod text;
mod values;

use std::path::Path;
use std::sync::Arc;

use sqlgauge_engine::{Enough, Failure, Limits};

use crate::address::{Address, NOT_PRIVATE};
use crate::catalog::Catalog;
use crate::kind::{Access, Kind};
use crate::locks::LockResult;
use crate::server::{Blame, Broken, Cancelled, End, Server, ServerEngine};
use crate::text::Lexing;
use crate::tls;
use crate::trial::try_locks;

use connection::Connection;
use place::WORDS;

const DEFAULT_PORT: u16 = 3306;

pub(crate) const KIND: Kind = Kind {
    name: "mysql",
    schemes: &["mysql", "mariadb"],
    engine: |limits, access| Arc::new(ServerEngine::<MySql>::new(limits, access)),
    setup: catalog::setup,
    check: |path, access| try_locks::<MySql>(path, access, catalog::LOCKS),
    warning: None,
};

/// A database of a MySQL or MariaDB server.
#[derive(Debug)]
pub(crate) struct MySql {
    is_mariadb: bool,
    sql_mode: String,
    lexing: Lexing,
    /// How its first connection was protected.
    protection: LockResult,
}

impl MySql {
    /// What stands before each query. A limit that an earlier query has lifted is gone: the connection was reset.
    fn settings(&self, limits: &Limits) -> String {
        let seconds = limits.timeout.as_secs_f64().max(0.001);
        // A query that waits for the lock of somebody else is not slow.
        let patience = (limits.timeout.as_secs() / 2).max(1);
        // MySQL keeps 1024 errors by itself, and only administrators may set that.
        let server_settings = if self.is_mariadb {
            format!(
                "max_statement_time = {seconds:.3}, max_recursive_iterations = 4294967295, tmp_disk_table_size = 1073741824, \
                 max_error_count = 1024, tx_read_only = 1"
            )
        } else {
            let millis = limits.timeout.as_millis().max(1);
            format!(
                "max_execution_time = {millis}, cte_max_recursion_depth = 4294967295, transaction_read_only = 1"
            )
        };
        format!(
            "SET NAMES utf8mb4, time_zone = '+00:00', sql_mode = '{}', lock_wait_timeout = {patience}, \
             innodb_lock_wait_timeout = {patience}, group_concat_max_len = {}, {server_settings}",
            self.sql_mode,
            limits.max_value_bytes.max(1024)
        )
    }
}

impl Server for MySql {
    const NAME: &'static str = "MySQL";
    const DIALECT: &'static str = "mysql";
    const CAN_CHANGE: bool = true;
    const FORM: &'static str = "write --db as mysql://USER@HOST:PORT/{db_id}";
    const FAILURE: fn(&str, &str) -> Failure = errors::failure;
    const BLAME: fn(&str) -> Blame = errors::blame;
    type Address = Address;
    type Connection = Connection;

    fn address(path: &Path, access: &Access) -> Result<Address, String> {
        place::parse(path, access)
    }

    fn connect(address: &Address, _: &Access) -> Result<Connection, Broken> {
        match Connection::open(address) {
            Err(broken) if address.tls.goes_on_after(&broken) => Connection::open(&address.in_plain_text()),
            result => result,
        }
    }

    fn version(connection: &Connection) -> String {
        connection.version.clone()
    }

    fn open(_: &Address, mut first: Connection) -> Result<(Self, Catalog), Broken> {
        let is_mariadb = first.version.contains("MariaDB");
        let answer = first.ask("SELECT @@GLOBAL.sql_mode")?;
        let sql_mode = answer.into_iter().flatten().flatten().next().unwrap_or_default();
        let mut catalog = catalog::read(&mut first)?;
        // Another mode reads texts otherwise.
        catalog.digest.push_str(&sql_mode);
        let (lexing, protection) = (text::lexing(&sql_mode), first.protection());
        Ok((Self { is_mariadb, sql_mode, lexing, protection }, catalog))
    }

    fn untried(&self) -> Vec<LockResult> {
        let memory = "the server has no such lock: start it in a control group with a limit of memory, or under ulimit -v";
        vec![self.protection.clone(), LockResult::none("bounds the memory of a query", memory)]
    }

    fn content(table: &str) -> Vec<String> {
        vec![format!("CHECKSUM TABLE {table} EXTENDED"), format!("SELECT COUNT(*) FROM {table}")]
    }

    fn refuse(&self, sql: &str) -> Option<Failure> {
        text::refuse(sql, self.lexing)
    }

    fn attempt(
        &self,
        connection: &mut Connection,
        sql: &str,
        limits: &Limits,
        enough: Option<&Enough>,
    ) -> Result<End, Broken> {
        query::attempt(connection, self, sql, limits, enough)
    }

    fn cancel(connection: &mut Connection) -> Cancelled {
        connection.cancel()
    }

    fn begin_cleaning(connection: &mut Connection) -> bool {
        connection.begin_cleaning().is_ok()
    }

    fn remedy(code: &str) -> &'static str {
        match code {
            "1045" | "1698" => {
                "give the password of the account in SQLGAUGE_DB_PASSWORD, ~/.my.cnf or MYSQL_PWD"
            }
            NOT_PRIVATE => "or give the password in SQLGAUGE_DB_PASSWORD",
            connection::PLAIN => {
                "let the connection use TLS: leave out ssl-mode=DISABLED, and give the server a certificate (ssl_cert, ssl_key)"
            }
            "4151" | "3118" => "the account is locked: give it a password, then ALTER USER … ACCOUNT UNLOCK",
            "1251" => "have the account log in by caching_sha2_password or mysql_native_password",
            "1049" | "1044" => {
                "check the name of the database, that {db_id} stands for it in --db (and not in `engines check`), and that the account may read it"
            }
            "1040" | "1203" => "allow more connections on the server, or use fewer with --connections",
            "" => "check that the server runs and that --db names its host and port",
            code => tls::remedy(code, &WORDS)
                .unwrap_or("see `sqlgauge engines setup mysql --print` for the account that it needs"),
        }
    }
}
