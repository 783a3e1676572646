//! How pairs are verified, with the solver of bounded proofs.

use std::path::PathBuf;

use anyhow::{Result, bail};
use sqlgauge_core::{VerifySettings, verifies};
use sqlgauge_metrics::Metric;
use sqlgauge_prove::locate;

/// The environment variable that names the solver.
const VARIABLE: &str = "SQLGAUGE_SOLVER";

/// The settings with the solver's program: the one that is named, by the option or the variable, else where one is found. A
/// missing one is an error only where it was named. An empty variable counts as one that is not set.
pub(crate) fn with_solver(mut settings: VerifySettings) -> Result<VerifySettings> {
    let variable = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let named = settings.solver.as_deref().or(variable.as_deref());
    settings.solver = match locate(named, std::env::var_os("PATH").as_deref()) {
        Ok(program) => Some(program.into()),
        Err(error) if named.is_some() => return Err(error.into()),
        // A pair that is left for it says so.
        Err(_) => None,
    };
    Ok(settings)
}

/// The settings of a run with those metrics. An option without the metric `verify` is an error.
pub(crate) fn of_run(settings: VerifySettings, metrics: &[&'static dyn Metric]) -> Result<VerifySettings> {
    if verifies(metrics) {
        return with_solver(settings);
    }
    let options = [
        ("--semantics", settings.semantics.is_some()),
        ("--bound", settings.bound.is_some()),
        ("--pair-timeout", settings.pair_timeout.is_some()),
        ("--values", settings.values.is_some()),
        ("--only", settings.only.is_some()),
        ("--fewest", settings.fewest),
        ("--solver", settings.solver.is_some()),
    ];
    match options.into_iter().find(|(_, is_there)| *is_there) {
        Some((option, _)) => bail!("{option} is for the metric verify; add it, as in --metrics ex,verify"),
        None => Ok(settings),
    }
}
