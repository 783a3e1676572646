//! `sqlgauge engines`.

#[cfg(feature = "engines")]
mod run;

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use sqlgauge_core::engines;

use crate::Verdict;
use crate::output::print;

/// List the engines that run queries, make a role for one, or try its locks
#[derive(Debug, Args)]
pub(crate) struct Engines {
    #[command(subcommand)]
    pub action: Option<Action>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Print the SQL that makes a role which can only read
    Setup(Setup),
    /// Try to break each lock as the role; exit code 1 if one does not hold
    Check(Check),
}

#[derive(Debug, Args)]
pub(crate) struct Setup {
    /// The engine: postgresql, mysql, duckdb or dbapi
    engine: String,
    /// Print the SQL; it is run by the owner of the server
    #[arg(long, required = true)]
    print: bool,
    /// Name of the role
    #[arg(long, value_name = "NAME", default_value = "sqlgauge")]
    role: String,
    /// Name of the database
    #[arg(long, value_name = "NAME")]
    database: String,
    /// A schema that the role may read (PostgreSQL: `public` unless one is given), or a further database (MySQL); may be given
    /// several times
    #[arg(long = "schema", value_name = "NAME")]
    schemas: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Address of one database: postgresql://USER@HOST:PORT/DATABASE, mysql://USER@HOST:PORT/DATABASE, duckdb:FILE,
    /// dbapi:MODULE?connect=FILE
    address: PathBuf,
}

impl Engines {
    pub(crate) fn run(self) -> Result<Verdict> {
        match self.action {
            #[cfg(feature = "engines")]
            Some(action) => action.run(),
            _ => list(),
        }
    }
}

fn list() -> Result<Verdict> {
    let mut text = String::new();
    for engine in engines::all() {
        writeln!(text, "{:<11} {:<37} {}", engine.name, engine.address, engine.state)?;
    }
    print(&text)?;
    Ok(Verdict::Done)
}
