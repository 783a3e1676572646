//! The engines of servers, in builds that have them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlgauge_engine::{Engine, Limits};

use crate::context::Context;
use crate::error::Error;

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

/// The SQL that makes a role which can only read.
///
/// # Errors
/// If the name belongs to no engine.
pub fn setup(engine: &str, setup: &RoleSetup) -> Result<String, Error> {
    let RoleSetup { role, database, schemas } = setup.clone();
    Ok(kind(engine)?.setup(&sqlgauge_engines::Setup { role, database, schemas }))
}

/// The server's version, and what became of the attempt to break each lock.
///
/// # Errors
/// When the server cannot be used.
pub fn check(address: &Path) -> Result<(String, Vec<Lock>), Error> {
    let scheme = sqlgauge_base::server::scheme(address).unwrap_or_default();
    let (version, results) = kind(scheme)?.check(address, &access(0))?;
    let lock = |result: sqlgauge_engines::LockResult| Lock {
        name: result.name,
        holds: result.holds,
        message: result.message,
    };
    Ok((version, results.into_iter().map(lock).collect()))
}

fn kind(name: &str) -> Result<&'static sqlgauge_engines::Kind, Error> {
    sqlgauge_engines::Kind::find(name).ok_or_else(|| {
        let kinds: Vec<&str> = sqlgauge_engines::KINDS.iter().map(|kind| kind.name).collect();
        Error::Invalid(format!("unknown engine `{name}` with a server: choose from {}", kinds.join(", ")))
    })
}

/// What the environment gives: no command line has a password.
fn access(connections: usize) -> sqlgauge_engines::Access {
    let password = std::env::var("SQLGAUGE_DB_PASSWORD").ok().map(sqlgauge_engines::Secret);
    let allows_md5 = std::env::var_os("SQLGAUGE_DB_ALLOW_MD5").is_some_and(|value| value == "1");
    let python = std::env::var_os("SQLGAUGE_PYTHON").filter(|name| !name.is_empty()).map(PathBuf::from);
    let variables = sqlgauge_engines::Variables::of_process();
    sqlgauge_engines::Access { password, connections, allows_md5, python, variables }
}

pub(crate) fn open(
    address: &Path,
    limits: Limits,
    connections: usize,
    context: &Context<'_>,
) -> Result<Arc<dyn Engine>, Error> {
    let scheme = sqlgauge_base::server::scheme(address).unwrap_or_default();
    let kind = sqlgauge_engines::Kind::find(scheme).ok_or_else(|| {
        Error::Invalid(format!("{scheme} is not an engine of this version; `sqlgauge engines` lists them"))
    })?;
    if let Some(text) = kind.warning {
        context.watcher().note(text);
    }
    Ok(kind.engine(limits, access(connections)))
}
