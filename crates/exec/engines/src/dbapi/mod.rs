//! Any DB-API 2.0 driver of Python (PEP 249).
//!
//! Each connection is a process of its own, which [`python`](crate::python) limits and ends. A text of more than
//! one query is refused. Where the driver can, the query runs in a read-only transaction, which is rolled back. Drivers have no other
//! lock: the account decides what else a query may do.

mod attempts;
mod catalog;
mod dialect;
mod errors;
mod place;
mod text;

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use sqlgauge_engine::{Enough, Failure, Limits};

use crate::catalog::Catalog;
use crate::kind::{Access, Kind};
use crate::locks::{LockResult, Setup};
use crate::python::child::Child;
use crate::server::{Blame, Broken, End, GRACE, Server, ServerEngine};

use place::Place;

const DRIVER: &str = include_str!("driver.py");

pub(crate) const KIND: Kind = Kind {
    name: "dbapi",
    schemes: &["dbapi"],
    engine: |limits, access| Arc::new(ServerEngine::<DbApi>::new(limits, access)),
    setup,
    check: attempts::check,
    warning: Some(
        "a DB-API driver limits a query's time, rows and this machine's memory; what it may read and write there is what its account may: \
         `sqlgauge engines check` tries it",
    ),
};

/// A database behind a driver.
#[derive(Debug)]
pub(crate) struct DbApi {
    place: Place,
    /// What the driver cannot do.
    lacks: Vec<String>,
}

impl Server for DbApi {
    const NAME: &'static str = "DB-API";
    const DIALECT: &'static str = dialect::UNKNOWN;
    const CAN_CHANGE: bool = true;
    const SEES_ROWS: bool = false;
    const FORM: &'static str = "write --db as dbapi:MODULE?connect=FILE, with the arguments of MODULE.connect() in FILE (JSON or TOML) or, \
         if they are no secrets, behind `&` as NAME=VALUE";
    const AGAIN: &'static str = "see that the database answers the driver, then run the same command again: it goes on where it stopped";
    const FAILURE: fn(&str, &str) -> Failure = errors::failure;
    const BLAME: fn(&str) -> Blame = errors::blame;
    type Address = Place;
    type Connection = Child;

    fn dialect(place: &Place) -> &'static str {
        place.dialect.name
    }

    fn address(path: &Path, _: &Access) -> Result<Place, String> {
        Place::parse(path)
    }

    fn connect(place: &Place, access: &Access) -> Result<Child, Broken> {
        let settings = json!({
            "module": place.module,
            "file": place.file,
            "options": place.options,
            "dialect": place.dialect.name,
            "begin": place.dialect.begin,
        });
        Child::start(access.python(), DRIVER, settings)
    }

    fn version(child: &Child) -> String {
        child.version.clone()
    }

    fn open(place: &Place, mut child: Child) -> Result<(Self, Catalog), Broken> {
        let catalog = catalog::read(&mut child, place)?;
        Ok((Self { place: place.clone(), lacks: std::mem::take(&mut child.lacks) }, catalog))
    }

    fn untried(&self) -> Vec<LockResult> {
        attempts::untried(&self.lacks)
    }

    /// No text is known to all databases that hashes rows.
    fn content(table: &str) -> Vec<String> {
        vec![format!("SELECT COUNT(*) FROM {table}")]
    }

    fn refuse(&self, sql: &str) -> Option<Failure> {
        text::refuse(sql, self.place.dialect)
    }

    fn attempt(
        &self,
        child: &mut Child,
        sql: &str,
        limits: &Limits,
        enough: Option<&Enough>,
    ) -> Result<End, Broken> {
        child.run::<Self>(sql, limits, enough, GRACE)
    }

    fn remedy(code: &str) -> &'static str {
        match code {
            "package" => "install the driver with pip, and name that Python in SQLGAUGE_PYTHON",
            _ => "check that MODULE.connect() takes the arguments of the connect= file and of the address",
        }
    }
}

fn setup(setup: &Setup) -> String {
    format!(
        "-- A DB-API driver has no lock of its own over what a query reads and writes: the account has them all.\n\
         -- In your database's own SQL, give the account {role} nothing but SELECT on {database}: no other database or schema,\n\
         -- no right to write, to make tables, to read or write files, to call procedures or outside services; limit what it may cost.\n\
         -- Then put the arguments of the driver's connect() into a file that only you may read (chmod 600), for example\n\
         --   {{\"user\": \"{role}\", \"password\": \"…\", \"database\": \"{database}\"}}\n\
         -- and try it: sqlgauge engines check 'dbapi:MODULE?connect=FILE'\n",
        role = setup.role,
        database = setup.database
    )
}
