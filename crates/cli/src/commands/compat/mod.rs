//! `sqlgauge compat`: the official scripts' flags and tables, without their hazards.

mod bird;
mod spider;

use anyhow::Result;
use clap::Subcommand;

use crate::Verdict;

/// Stand in for an official evaluation script: its flags, its table
#[derive(Debug, Subcommand)]
pub(crate) enum Compat {
    /// `evaluation.py` of the test-suite repository (Spider, `SParC`, `CoSQL`)
    Spider(spider::Spider),
    /// `evaluation.py` of BIRD
    Bird(bird::Bird),
}

impl Compat {
    pub(crate) fn run(self) -> Result<Verdict> {
        match self {
            Self::Spider(command) => command.run(),
            Self::Bird(command) => command.run(),
        }
    }
}
