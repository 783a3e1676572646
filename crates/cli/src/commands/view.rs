//! `sqlgauge view`.

#[cfg(feature = "view")]
mod run;

use std::path::PathBuf;

use clap::Args;
use sqlgauge_core::OutputPath;

/// Open a dashboard over runs on this machine, or write it as a static site
#[derive(Debug, Args)]
pub(crate) struct View {
    /// Folders below which runs lie
    #[arg(value_name = "DIR", default_value = ".")]
    folders: Vec<PathBuf>,
    /// Port on this machine; any free one without it
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Folder of the labels and decisions that you give, for `sqlgauge import --correct` and `sqlgauge audit --allow`
    #[arg(long, value_name = "DIR", default_value = "sqlgauge-labels")]
    labels: OutputPath,
    /// Folder that keeps the pages of large runs for the next start [default: sqlgauge in your cache folder]
    #[arg(long, value_name = "DIR")]
    cache: Option<OutputPath>,
    /// Your name in the labels; that of your account without it
    #[arg(long, value_name = "NAME")]
    labeller: Option<String>,
    /// Write the list of runs and their reports as a static site, and exit
    #[arg(long, value_name = "DIR", conflicts_with = "port")]
    export: Option<OutputPath>,
}
