//! The `sqlgauge` command line: reads arguments, calls the libraries, prints what they say.

mod commands;
mod config;
mod engine;
mod judge_options;
mod options;
mod output;
mod progress;
mod reliability;
mod scoring;
mod stdin;
mod workload;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::commands::Command;

/// Tells how good a Text-to-SQL system is.
#[derive(Debug, Parser)]
#[command(name = "sqlgauge", version, about, long_about = None, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// File with flags of the project, instead of sqlgauge.toml in the working directory
    // `config::arguments` takes it out before the others are read; here it stands for the help.
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<std::path::PathBuf>,
}

/// How a command ended when nothing was wrong with its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// The command did what it was asked to.
    Done,
    /// A bar was not reached: exit code 1.
    GateFailed,
    /// Two queries were compared and not found equal: exit code 1.
    NotEqual,
}

fn main() -> ExitCode {
    if engine::is_worker() {
        return sqlgauge_engine::serve_queries();
    }
    let code = run();
    stdin::forget();
    code
}

fn run() -> ExitCode {
    let arguments = config::arguments(&Arguments::command(), std::env::args_os().collect());
    let parsed = match arguments.map(Arguments::try_parse_from) {
        Ok(Ok(parsed)) => parsed,
        Ok(Err(usage)) => {
            // Help and version are asked for, and end well; nothing can be done if they cannot be printed.
            let _ = usage.print();
            return ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2));
        }
        Err(error) => return failed(&error),
    };
    match parsed.command.run() {
        Ok(Verdict::Done) => ExitCode::SUCCESS,
        Ok(Verdict::GateFailed | Verdict::NotEqual) => ExitCode::from(1),
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

fn failed(error: &anyhow::Error) -> ExitCode {
    eprintln!("error: {}", output::one_line(error));
    ExitCode::from(2)
}
