//! `sqlgauge monitor`.

use anyhow::Result;
use clap::Args;
use sqlgauge_core::Watch;

use super::estimate::EstimateCommand;
use crate::Verdict;

/// Watch batches of answers without gold queries: exit code 1 if they change
#[derive(Args)]
pub(crate) struct Monitor {
    #[command(flatten)]
    pub estimate: EstimateCommand,
    #[command(flatten)]
    watch: Watch,
}

impl Monitor {
    pub(crate) fn run(self) -> Result<Verdict> {
        self.estimate.watched(Some(self.watch))
    }
}
