//! `sqlgauge trust`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::Verdict;
use crate::config::{NAME, trust};
use crate::output::print;

/// Let a project's sqlgauge.toml name programs, servers and environment variables
#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// The file, which you have read
    #[arg(default_value = NAME)]
    file: PathBuf,
    /// Trust the file no longer
    #[arg(long)]
    revoke: bool,
}

impl Trust {
    pub(crate) fn run(self) -> Result<Verdict> {
        trust::set(&self.file, !self.revoke)?;
        let not = if self.revoke { "not " } else { "" };
        print(&format!("{} is {not}trusted as it is now\n", self.file.display()))?;
        Ok(Verdict::Done)
    }
}
