//! Where the solver of bounded proofs is.

use std::path::{Path, PathBuf};

use anyhow::Result;
use sqlgauge::verifies;
use sqlgauge_metrics::Metric;
use sqlgauge_prove::locate;

use crate::output::note;

/// The environment variable that names the solver.
const VARIABLE: &str = "SQLGAUGE_SOLVER";

/// The solver's program: the one that is named, by the option or the variable, else where one is found. A missing one is
/// an error only where it was named. An empty variable counts as one that is not set.
pub fn solver(named: Option<&Path>) -> Result<Option<PathBuf>> {
    let variable = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let named = named.or(variable.as_deref());
    match locate(named, std::env::var_os("PATH").as_deref()) {
        Ok(program) => Ok(Some(program)),
        Err(error) if named.is_some() => Err(error.into()),
        Err(error) => {
            note(format!("no bounded proofs: {error}"));
            Ok(None)
        }
    }
}

/// The solver of a run, which has a use for it if `verify` is among its metrics.
pub fn solver_of_run(metrics: &[&'static dyn Metric], named: Option<&Path>) -> Result<Option<PathBuf>> {
    if verifies(metrics) { solver(named) } else { Ok(None) }
}
