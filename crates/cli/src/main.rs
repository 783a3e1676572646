//! The `sqlgauge` command line: reads arguments, calls the libraries, prints what they say.

mod commands;
mod judge_options;
mod options;
mod output;
mod progress;
mod reliability;
mod scoring;
mod workload;

use std::process::ExitCode;

use clap::Parser;

use crate::commands::Command;

/// Tells how good a Text-to-SQL system is.
#[derive(Debug, Parser)]
#[command(name = "sqlgauge", version, about, long_about = None, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// How a command ended when nothing was wrong with its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// The command did what it was asked to.
    Done,
    /// A bar was not reached: exit code 1.
    GateFailed,
}

fn main() -> ExitCode {
    match Arguments::parse().command.run() {
        Ok(Verdict::Done) => ExitCode::SUCCESS,
        Ok(Verdict::GateFailed) => ExitCode::from(1),
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", output::one_line(&error));
            ExitCode::from(2)
        }
    }
}
