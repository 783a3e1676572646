//! The engines of servers: `sqlgauge engines`.

use std::path::Path;
use std::sync::Arc;

#[cfg(not(feature = "engines"))]
use sqlgauge_base::NotBuiltIn;
use sqlgauge_engine::{Engine, Limits};

use crate::context::Context;
use crate::error::Error;

#[cfg(not(feature = "engines"))]
const MISSING: NotBuiltIn = NotBuiltIn { what: "--db with the address of a server", feature: "engines" };

/// One engine, and whether this build has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineRow {
    /// Its name.
    pub name: String,
    /// What an address of it looks like.
    pub address: String,
    /// Its version, or what is missing.
    pub state: String,
}

/// For whom `engines setup` makes a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleSetup {
    /// The role.
    pub role: String,
    /// The database.
    pub database: String,
    /// What it may read: schemas on PostgreSQL (`public` where none is named), further databases on MySQL.
    pub schemas: Vec<String>,
}

/// What became of the attempt to break one lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    /// What the lock is for.
    pub name: &'static str,
    /// Whether it holds; `None` where the server has no such lock.
    pub holds: Option<bool>,
    /// What the server said, or what its owner can do instead.
    pub message: String,
}

/// All engines.
///
/// ```
/// let engines = sqlgauge_core::engines::all();
/// assert!(engines.iter().any(|engine| engine.name == "sqlite" && engine.state.starts_with("SQLite 3")));
/// for name in ["postgresql", "duckdb", "mysql"] {
///     assert!(engines.iter().any(|engine| engine.name == name), "{name}");
/// }
/// ```
pub fn all() -> Vec<EngineRow> {
    let row = |name: &str, address: &str, state: String| EngineRow {
        name: name.to_owned(),
        address: address.to_owned(),
        state,
    };
    let state = if cfg!(feature = "engines") {
        "built in; `sqlgauge engines check ADDRESS` tries its locks".to_owned()
    } else {
        "left out of this build; build it with --features engines".to_owned()
    };
    vec![
        row("sqlite", "FOLDER or FILE", format!("SQLite {}", rusqlite::version())),
        row("postgresql", "postgresql://USER@HOST:PORT/{db_id}", state.clone()),
        row("mysql", "mysql://USER@HOST:PORT/{db_id}", state.clone()),
        row("duckdb", "duckdb:FOLDER/{db_id}.duckdb", state),
    ]
}

/// The SQL that makes a role which can only read.
///
/// # Errors
/// When there is no such engine, or it was left out.
#[cfg(feature = "engines")]
pub fn setup(engine: &str, setup: &RoleSetup) -> Result<String, Error> {
    let RoleSetup { role, database, schemas } = setup.clone();
    Ok(kind(engine)?.setup(&sqlgauge_engines::Setup { role, database, schemas }))
}

/// The SQL that makes a role which can only read.
///
/// # Errors
/// It was left out.
#[cfg(not(feature = "engines"))]
pub fn setup(_: &str, _: &RoleSetup) -> Result<String, Error> {
    Err(NotBuiltIn { what: "sqlgauge engines setup", feature: "engines" }.into())
}

/// The server's version, and what became of the attempt to break each lock.
///
/// # Errors
/// When the server cannot be used, or its engine was left out.
#[cfg(feature = "engines")]
pub fn check(address: &Path, context: &Context<'_>) -> Result<(String, Vec<Lock>), Error> {
    let scheme = sqlgauge_base::server::scheme(address).unwrap_or_default();
    let (version, results) = kind(scheme)?.check(address, &access(context, 0))?;
    let lock = |result: sqlgauge_engines::LockResult| Lock {
        name: result.name,
        holds: result.holds,
        message: result.message,
    };
    Ok((version, results.into_iter().map(lock).collect()))
}

/// The server's version, and what became of the attempt to break each lock.
///
/// # Errors
/// It was left out.
#[cfg(not(feature = "engines"))]
pub fn check(_: &Path, _: &Context<'_>) -> Result<(String, Vec<Lock>), Error> {
    Err(NotBuiltIn { what: "sqlgauge engines check", feature: "engines" }.into())
}

#[cfg(feature = "engines")]
fn kind(name: &str) -> Result<&'static sqlgauge_engines::Kind, Error> {
    sqlgauge_engines::Kind::find(name).ok_or_else(|| {
        let kinds: Vec<&str> = sqlgauge_engines::KINDS.iter().map(|kind| kind.name).collect();
        Error::Invalid(format!("unknown engine `{name}` with a server: choose from {}", kinds.join(", ")))
    })
}

#[cfg(feature = "engines")]
fn access(context: &Context<'_>, connections: usize) -> sqlgauge_engines::Access {
    let password = context.server_password().map(|password| sqlgauge_engines::Secret(password.to_owned()));
    let allows_md5 = std::env::var_os("SQLGAUGE_DB_ALLOW_MD5").is_some_and(|value| value == "1");
    sqlgauge_engines::Access { password, connections, allows_md5 }
}

#[cfg(feature = "engines")]
pub(crate) fn open(
    address: &Path,
    limits: Limits,
    connections: usize,
    context: &Context<'_>,
) -> Result<Arc<dyn Engine>, Error> {
    let engine = sqlgauge_engines::open(address, limits, access(context, connections));
    engine.ok_or_else(|| {
        let scheme = sqlgauge_base::server::scheme(address).unwrap_or_default();
        Error::Invalid(format!("{scheme} is not an engine of this version; `sqlgauge engines` lists them"))
    })
}

#[cfg(not(feature = "engines"))]
pub(crate) fn open(_: &Path, _: Limits, _: usize, context: &Context<'_>) -> Result<Arc<dyn Engine>, Error> {
    let _unused = context.server_password();
    Err(MISSING.into())
}
