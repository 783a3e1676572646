//! Commands that are no longer part of the program, each refused with the place where it is.

use anyhow::{Result, bail};
use clap::Args;

use crate::Verdict;

/// Moved to the programs of `research/`
#[derive(Debug, Args)]
pub(crate) struct BenchEstimators {
    /// What the command was given
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    arguments: Vec<String>,
}

impl BenchEstimators {
    pub(crate) fn run(self) -> Result<Verdict> {
        let Self { arguments: _ } = self;
        bail!(
            "bench-estimators is a program of the source tree now: run `cargo xtask research bench-estimators` there"
        )
    }
}
