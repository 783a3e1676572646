//! `sqlgauge merge`.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use sqlgauge_core::OutputPath;
use sqlgauge_core::merge_runs;

use crate::Verdict;
use crate::options::GoldBar;
use crate::progress::Progress;

/// Merge the shards of a run
#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Folders that `score --shard` or `verify --shard` wrote: all shards of one run, in any order
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Run directory to write
    #[arg(long, value_name = "DIR")]
    out: OutputPath,
    /// Exit with code 1 if a system's mean is below the bar; may be given several times
    #[arg(long, value_name = "METRIC=X")]
    fail_under: Vec<String>,
    #[command(flatten)]
    gold_bar: GoldBar,
    /// Print the summary as JSON, as summary.json has it
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl Merge {
    pub(crate) fn run(self) -> Result<Verdict> {
        let command = |command: &[String]| unsharded(command, &self.out);
        let report =
            merge_runs(&self.runs, &self.out, &self.fail_under, command, &Progress::new(self.quiet))?;
        super::score::show(&report, &self.out, self.json, self.quiet, self.gold_bar)
    }
}

/// The command of a shard as the one that would have made the whole run in that folder.
fn unsharded(command: &[String], out: &Path) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = command.iter();
    while let Some(word) = rest.next() {
        match word.split_once('=').map_or(word.as_str(), |(flag, _)| flag) {
            "--shard" | "--out" => {
                let has_value = word.contains('=');
                let flag = word.split('=').next().unwrap_or_default();
                if !has_value {
                    rest.next();
                }
                if flag == "--out" && has_value {
                    words.push(format!("{flag}={}", out.display()));
                } else if flag == "--out" {
                    words.extend([flag.to_owned(), out.display().to_string()]);
                }
            }
            _ => words.push(word.clone()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_that_of_the_whole_run() {
        let of = |text: &str| {
            unsharded(&text.split(' ').map(str::to_owned).collect::<Vec<_>>(), Path::new("all")).join(" ")
        };
        assert_eq!(of("sqlgauge score --shard 1/4 --out a --jobs 2"), "sqlgauge score --out all --jobs 2");
        assert_eq!(
            of("sqlgauge score --out=a --pred x=--out --shard=1/4"),
            "sqlgauge score --out=all --pred x=--out"
        );
    }
}
