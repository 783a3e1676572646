//! `sqlgauge shift`.

#[cfg(feature = "parquet")]
mod run;

use std::path::PathBuf;

use clap::Args;
use sqlgauge_shift::Slices;

/// Measure how far one workload is from another
#[derive(Debug, Args)]
pub(crate) struct Shift {
    /// Embeddings to measure from (by `sqlgauge encode`)
    #[arg(long, value_name = "FILE")]
    source: PathBuf,
    /// Embeddings to compare with them
    #[arg(long, value_name = "FILE")]
    target: PathBuf,
    /// Directions of the sliced Wasserstein distance: L random ones, or k principal and R random ones
    #[arg(long, value_name = "L|k,R", default_value_t)]
    slices: Slices,
    /// Seed of the random directions
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Divide every dimension by the source's standard deviation first; for features of different units
    #[arg(long)]
    standardise: bool,
    /// Databases and dimensions to list, the largest shift first
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}
