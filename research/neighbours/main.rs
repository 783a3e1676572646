//! The law of the engines: a query has the same outcome alone and among any neighbours, and a text changes nothing.
//!
//! ```sh
//! cargo xtask research neighbours                                  # 10,000 items on each engine, then the attack
//! cargo xtask research neighbours --items 100000 --seed 7
//! cargo xtask research neighbours --engine PostgreSQL --part law
//! ```
//! [`law`] runs each item alone on a new engine, then the shuffled items on one engine with 1 and with 8 connections (threads, on SQLite),
//! and compares. [`attack`] runs hostile texts as the role of `sqlgauge engines setup`; after each the owner of the server looks for
//! what it changed or left. The program starts PostgreSQL and MariaDB itself and leaves out an engine that is not installed. It fails
//! if an outcome differs or a text changes something.

mod attack;
mod families;
mod hostile;
mod law;
#[path = "../../crates/exec/engines/tests/servers/mod.rs"]
mod servers;
mod worlds;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, ValueEnum};

/// The outcome of a query is the same alone and among any neighbours
#[derive(Debug, Parser)]
struct Arguments {
    /// Items on each engine, and the most hostile texts of the attack
    #[arg(long, default_value_t = 10_000)]
    items: usize,
    /// Seed of the items and of their order
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Seconds that a query may take
    #[arg(long, default_value_t = 3)]
    limit: u64,
    /// Only this engine: SQLite, PostgreSQL, MariaDB, DuckDB
    #[arg(long)]
    engine: Option<String>,
    /// Only this part
    #[arg(long)]
    part: Option<Part>,
    /// Attack only with texts that contain this
    #[arg(long, default_value = "")]
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Law,
    Attack,
}

fn main() -> Result<ExitCode> {
    if std::env::args().any(|argument| argument == worlds::WORKER) {
        sqlgauge_engine::serve_queries();
        return Ok(ExitCode::SUCCESS);
    }
    let arguments = Arguments::parse();
    let is_part = |part| arguments.part.is_none_or(|only| only == part);
    let limit = Duration::from_secs(arguments.limit);
    let mut faults = 0;
    for (name, start) in worlds::ALL {
        let is_engine = arguments.engine.as_ref().is_none_or(|only| only.eq_ignore_ascii_case(name));
        if !is_engine {
            continue;
        }
        let Some(world) = start()? else { continue };
        if is_part(Part::Law) {
            faults += law::run(&world, (arguments.items, arguments.seed), limit)?;
        }
        if is_part(Part::Attack) {
            faults += attack::run(&world, (arguments.items, arguments.seed), &arguments.text)?;
        }
    }
    Ok(if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
