//! PostgreSQL.
//!
//! Each query runs alone, in a READ ONLY transaction on the snapshot that all workers share: limits, then one statement by the extended
//! protocol, then ROLLBACK TO the savepoint before it; for a role without the locks ROLLBACK and DISCARD ALL. Only a statement that can
//! be the query of a cursor is executed. The server ends it at its time limit; half a second later the client cancels it over a second
//! connection; two seconds later it closes the connection, which the server notices within a second.

mod binding;
pub(crate) mod catalog;
mod connection;
pub(crate) mod errors;
pub(crate) mod place;
mod query;
mod values;

use std::path::Path;

use sqlgauge_engine::{Enough, Failure, Limits};

use crate::address::NOT_PRIVATE;
use crate::catalog::Catalog;
use crate::kind::{Access, Kind};
use crate::locks::LockResult;
use crate::server::{Blame, Broken, Cancelled, End, Server, ServerEngine};
use crate::tls;
use crate::trial::try_locks;

use connection::Connection;
use place::{Place, WORDS};

const DEFAULT_PORT: u16 = 5432;

pub(crate) const KIND: Kind = Kind {
    name: "postgresql",
    schemes: &["postgresql", "postgres"],
    engine: |limits, access| std::sync::Arc::new(ServerEngine::<Postgres>::new(limits, access)),
    setup: catalog::setup,
    check: |path, access| try_locks::<Postgres>(path, access, catalog::LOCKS),
    warning: None,
};

/// A database of a PostgreSQL server.
#[derive(Debug)]
pub(crate) struct Postgres {
    snapshot: String,
    /// Whether a query of the role can leave nothing that going back to a savepoint does not undo.
    leaves_nothing: bool,
    /// Its transaction holds the snapshot.
    keeper: Connection,
}

impl Server for Postgres {
    const NAME: &'static str = "PostgreSQL";
    const DIALECT: &'static str = "postgres";
    const FORM: &'static str = "write --db as postgresql://USER@HOST:PORT/{db_id}";
    const FAILURE: fn(&str, &str) -> Failure = errors::failure;
    const BLAME: fn(&str) -> Blame = errors::blame;
    type Address = Place;
    type Connection = Connection;

    fn address(path: &Path, access: &Access) -> Result<Place, String> {
        Place::parse(path, access)
    }

    fn connect(place: &Place, access: &Access) -> Result<Connection, Broken> {
        match Connection::open(place, access.allows_md5) {
            Err(broken) if place.address.tls.goes_on_after(&broken) => {
                let place = Place { address: place.address.in_plain_text(), ..place.clone() };
                Connection::open(&place, access.allows_md5)
            }
            result => result,
        }
    }

    fn version(connection: &Connection) -> String {
        connection.version.clone()
    }

    fn open(_: &Place, mut keeper: Connection) -> Result<(Self, Catalog), Broken> {
        let (snapshot, catalog) = catalog::read(&mut keeper)?;
        let answer = keeper.ask(&catalog::leaves_nothing())?;
        let leaves_nothing = answer.into_iter().flatten().flatten().next().as_deref() == Some("t");
        Ok((Self { snapshot, leaves_nothing, keeper }, catalog))
    }

    fn untried(&self) -> Vec<LockResult> {
        let memory = "work_mem does not bound it: start the server in a control group with a limit of memory, or under ulimit -v";
        vec![self.keeper.protection(), LockResult::none("bounds the memory of a query", memory)]
    }

    fn content(table: &str) -> Vec<String> {
        vec![
            format!("SELECT count(*), sum(hashtextextended(t::text, 0)) FROM {table} t"),
            format!("SELECT count(*) FROM {table}"),
        ]
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
            "28P01" | "28000" => {
                "give the password of the role in SQLGAUGE_DB_PASSWORD, PGPASSWORD or ~/.pgpass"
            }
            NOT_PRIVATE => "or give the password in SQLGAUGE_DB_PASSWORD",
            connection::UNBOUND => {
                "have the server use TLS and scram-sha-256, or write ?channel_binding=prefer behind the address"
            }
            connection::MD5 => {
                "have the server use scram-sha-256 (password_encryption, then a new password), or set SQLGAUGE_DB_ALLOW_MD5=1"
            }
            "3D000" => "check the name of the database, and that {db_id} stands for it in --db",
            "53300" => "allow more connections on the server, or use fewer with --connections",
            "" => "check that the server runs and that --db names its host and port",
            code => tls::remedy(code, &WORDS)
                .unwrap_or("see `sqlgauge engines setup postgresql --print` for the role that it needs"),
        }
    }
}
