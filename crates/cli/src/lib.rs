//! The `sqlgauge` command line: reads arguments, calls the libraries, prints what they say.
//!
//! [`main`] is the whole of it. The program calls it, and so does the Python package, which has no program of its own.

mod commands;
mod config;
mod engine;
mod interrupt;
mod invocation;
mod llm_options;
mod options;
mod output;
mod progress;
mod scoring;
mod solver;
mod values;

use std::ffi::OsString;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser};
use sqlgauge_engine::WorkerCommand;

use crate::commands::Command;

/// Scores Text-to-SQL systems: the official Spider and BIRD numbers, a confidence interval on each, and why answers are wrong
#[derive(Parser)]
#[command(name = "sqlgauge", version, about, long_about = None, arg_required_else_help = true,
    help_template = commands::help_template())]
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
#[cfg_attr(
    not(feature = "services"),
    allow(dead_code, reason = "only what asks a service can be left unfinished")
)]
enum Verdict {
    /// The command did what it was asked to.
    Done,
    /// A bar was not reached: exit code 1.
    GateFailed,
    /// A service stopped answering before everything was asked: exit code 1.
    Unfinished,
    /// Two queries were compared and not found equal: exit code 1.
    NotEqual,
    /// Nobody knows whether two queries are equivalent: exit code 3.
    Unknown,
}

/// Where the first panic was, and what it said.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Runs the command line and returns the exit code of the process.
///
/// `arguments` begin with the program's name, and `worker` starts one more process that calls this function with
/// [`WORKER_ARGUMENT`](sqlgauge_core::WORKER_ARGUMENT). To be called once in a process: it listens to signals from then on.
pub fn main(arguments: Vec<OsString>, worker: WorkerCommand) -> u8 {
    if invocation::is_worker(&arguments) {
        interrupt::leave_to_starter();
        return u8::from(sqlgauge_engine::serve_queries() != ExitCode::SUCCESS);
    }
    std::panic::set_hook(Box::new(remember_panic));
    interrupt::listen();
    let start = invocation::Invocation { arguments, worker };
    let code = catch_unwind(AssertUnwindSafe(|| run(invocation::begin(start)))).unwrap_or_else(|_| defect());
    interrupt::done();
    sqlgauge_core::cli::stdin::forget();
    // A host that is not a Rust program does not do it at its end.
    let _ = std::io::stdout().flush();
    code
}

/// A panic is told once, when it ends the command: one in the scoring of an item becomes a result of that item.
fn remember_panic(info: &PanicHookInfo<'_>) {
    let place = info.location().map(|place| format!("{}:{}", place.file(), place.line())).unwrap_or_default();
    let text = format!("{} ({place})", info.payload_as_str().unwrap_or("no message"));
    PANIC.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text);
}

fn defect() -> u8 {
    let text = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
    output::say(&format!(
        "error: sqlgauge met a defect of its own: {text}; please report it with the command and its files"
    ));
    2
}

fn run(invocation: &invocation::Invocation) -> u8 {
    let arguments = config::arguments(Arguments::command(), invocation.arguments.clone());
    let parsed = match arguments.map(Arguments::try_parse_from) {
        Ok(Ok(parsed)) => parsed,
        Ok(Err(mut usage)) => {
            add_hint(&mut usage, &invocation.arguments);
            output::usage(&usage);
            return u8::try_from(usage.exit_code()).unwrap_or(2);
        }
        Err(error) => return failed(&error),
    };
    match parsed.command.run() {
        Ok(Verdict::Done) => 0,
        Ok(Verdict::GateFailed | Verdict::Unfinished | Verdict::NotEqual) => 1,
        Ok(Verdict::Unknown) => 3,
        Err(error) => match error.downcast_ref::<interrupt::Stopped>() {
            Some(stopped) => {
                output::say(&format!("interrupted: {stopped}"));
                interrupt::exit_code()
            }
            None => failed(&error),
        },
    }
}

/// Commands that read the schema from the database, where others take `--tables`.
const WITHOUT_TABLES: [&str; 3] = ["audit", "estimate", "monitor"];

/// Says what to do with an option of other commands, in place of an option that is only spelled like it.
fn add_hint(usage: &mut clap::Error, arguments: &[OsString]) {
    let is_tables =
        matches!(usage.get(ContextKind::InvalidArg), Some(ContextValue::String(name)) if name == "--tables");
    let command = arguments.get(1).and_then(|word| word.to_str());
    if is_tables && command.is_some_and(|command| WITHOUT_TABLES.contains(&command)) {
        usage.remove(ContextKind::SuggestedArg);
        let hint = "schema and foreign keys are read from the database; leave out --tables";
        usage.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    }
}

/// All commands with their options.
#[cfg(test)]
fn built() -> clap::Command {
    let mut command = Arguments::command();
    command.build();
    command
}

fn failed(error: &anyhow::Error) -> u8 {
    output::say(&format!("error: {}", sqlgauge_core::sentence(error.as_ref())));
    2
}
