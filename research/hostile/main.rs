//! Inputs and surroundings that are made to do harm, and what each command makes of them: time, memory, exit code, files.
//!
//! ```sh
//! cargo build --release --features full --bin sqlgauge
//! cargo xtask research hostile                        # all of it, at the sizes of the parts
//! cargo xtask research hostile --size 0.1          # a tenth of each size
//! cargo xtask research hostile --case wide         # the part or the cases with that word in their name
//! cargo xtask research hostile --rounds 10 --seed 7   # each case ten times, with other numbers each time
//! ```
//! | part | what is hostile |
//! |---|---|
//! | [`databases`] | databases that cost more than their share, for every command that reads one |
//! | [`folders`] | folders of CSV and Parquet files, for `tables` |
//! | [`servers`] | servers that misbehave, for `predict` and `evolve --names llm` |
//! | [`disturbed`] | kills at any moment and files that cannot grow, for commands that write |
//! | [`shards`] | edited shards of a run, for `merge` |
//!
//! A command may compute for 5 s (a server may make it wait for longer, as its time-out and attempts allow) and take 300 MiB, must end
//! as its help says (codes 0 to 3, with a sentence for 2) and not by a panic, and what it wrote must be right. The table has a line
//! for each case and command; the last line counts the runs that broke a rule, and the program fails if there are any.

mod databases;
mod disturbed;
mod folders;
mod report;
mod servers;
mod shards;
mod shop;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Result;
use clap::Parser;
use sqlgauge_base::Random;

use crate::report::Report;

/// Inputs and surroundings that are made to do harm
#[derive(Debug, Parser)]
struct Arguments {
    /// The binary
    #[arg(long, default_value = "target/release/sqlgauge")]
    binary: PathBuf,
    /// Of each size, so much
    #[arg(long, default_value_t = 1.0)]
    size: f64,
    /// Times that each case is run; from the second on with other numbers
    #[arg(long, default_value_t = 1)]
    rounds: u64,
    /// Seed of the numbers
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Only the part of that name, or cases with that word in their name
    #[arg(long, default_value = "")]
    case: String,
    /// Folder for what is made, kept; a temporary one without it
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// One round over all cases.
struct Round<'a> {
    binary: &'a Path,
    wanted: &'a str,
    /// Of each size, so much.
    size: f64,
    number: u64,
    seed: u64,
    /// Of this round alone.
    folder: PathBuf,
}

impl Round<'_> {
    /// Whether the case of a part was asked for.
    fn asks(&self, part: &str, case: &str) -> bool {
        part == self.wanted || case.contains(self.wanted)
    }

    /// That share of a size, at least two.
    fn scaled(&self, most: usize) -> usize {
        scaled(most, self.size)
    }

    /// The numbers of a case in this round.
    fn random(&self, case: &str) -> Random {
        Random::new([self.seed, self.number, sqlgauge_base::seed_of(case)])
    }

    fn program<S: AsRef<std::ffi::OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(self.binary);
        command.args(arguments);
        command
    }
}

fn scaled(most: usize, size: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes are small and not negative"
    )]
    let scaled = (most as f64 * size).ceil() as usize;
    scaled.max(2)
}

/// Runs all cases of a part.
type Part = fn(&Round<'_>, &mut Report) -> Result<()>;

static PARTS: &[Part] = &[databases::run, folders::run, servers::run, disturbed::run, shards::run];

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let temporary = tempfile::tempdir()?;
    let folder = arguments.folder.as_deref().unwrap_or(temporary.path());
    let binary = std::path::absolute(&arguments.binary)?;
    let mut report = Report::default();
    for number in 0..arguments.rounds {
        // The first round has the sizes that were asked for, the others between half of them and all.
        let share = if number == 0 { 1.0 } else { 0.5 + Random::new([arguments.seed, number]).unit() / 2.0 };
        let round = Round {
            binary: &binary,
            wanted: &arguments.case,
            size: arguments.size * share,
            number,
            seed: arguments.seed,
            folder: folder.join(format!("round{number}")),
        };
        for part in PARTS {
            part(&round, &mut report)?;
        }
        if arguments.folder.is_none() {
            std::fs::remove_dir_all(&round.folder)?;
        }
    }
    report.print();
    Ok(if report.broken() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
