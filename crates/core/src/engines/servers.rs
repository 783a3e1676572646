//! The engines of servers, in builds that have them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlgauge_engine::{Engine, Limits};
use sqlgauge_engines::{Access, KINDS, Kind, LockResult, Secret, Setup, Variables};

use crate::context::Context;
use crate::error::Error;

/// The SQL that makes a role which can only read.
///
/// # Errors
/// If the name belongs to no engine.
pub fn setup(engine: &str, setup: &Setup) -> Result<String, Error> {
    Ok(kind(engine)?.setup(setup))
}

/// The server's version, and what became of the attempt to break each lock.
///
/// # Errors
/// When the server cannot be used.
pub fn check(address: &Path) -> Result<(String, Vec<LockResult>), Error> {
    let scheme = sqlgauge_base::server::scheme(address).unwrap_or_default();
    Ok(kind(scheme)?.check(address, &access(0))?)
}

fn kind(name: &str) -> Result<&'static Kind, Error> {
    Kind::find(name).ok_or_else(|| {
        let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        Error::Invalid(format!("unknown engine `{name}` with a server: choose from {}", kinds.join(", ")))
    })
}

/// What the environment gives: no command line has a password.
fn access(connections: usize) -> Access {
    let password = std::env::var("SQLGAUGE_DB_PASSWORD").ok().map(Secret);
    let allows_md5 = std::env::var_os("SQLGAUGE_DB_ALLOW_MD5").is_some_and(|value| value == "1");
    let python = std::env::var_os("SQLGAUGE_PYTHON").filter(|name| !name.is_empty()).map(PathBuf::from);
    let variables = Variables::of_process();
    Access { password, connections, allows_md5, python, variables }
}

pub(crate) fn open(
    address: &Path,
    limits: Limits,
    connections: usize,
    context: &Context<'_>,
) -> Result<Arc<dyn Engine>, Error> {
    let scheme = sqlgauge_base::server::scheme(address).unwrap_or_default();
    let kind = Kind::find(scheme).ok_or_else(|| {
        Error::Invalid(format!("{scheme} is not an engine of this version; `sqlgauge engines` lists them"))
    })?;
    if let Some(text) = kind.warning {
        context.watcher().note(text);
    }
    Ok(kind.engine(limits, access(connections)))
}
