//! Where the solver of bounded proofs is.

use std::path::{Path, PathBuf};

use anyhow::Result;
use sqlgauge_prove::locate;

/// The environment variable that names the solver.
const VARIABLE: &str = "SQLGAUGE_SOLVER";

/// The solver's program: the one that is named, by the option or the variable, else where one is found. A missing one is
/// an error only where it was named. An empty variable counts as one that is not set.
pub(crate) fn solver(named: Option<&Path>) -> Result<Option<PathBuf>> {
    let variable = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let named = named.or(variable.as_deref());
    match locate(named, std::env::var_os("PATH").as_deref()) {
        Ok(program) => Ok(Some(program)),
        Err(error) if named.is_some() => Err(error.into()),
        // A pair that is left for it says so.
        Err(_) => Ok(None),
    }
}
