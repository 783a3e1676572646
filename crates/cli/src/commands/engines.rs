//! `sqlgauge engines`.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use sqlgauge_core::engines::{self, RoleSetup};

use crate::Verdict;
use crate::output::print;

/// List the engines that run queries, make a role for one, or try its locks
#[derive(Debug, Args)]
pub(crate) struct Engines {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the SQL that makes a role which can only read
    Setup(Setup),
    /// Try to break each lock as the role; exit code 1 if one does not hold
    Check(Check),
}

#[derive(Debug, Args)]
struct Setup {
    /// The engine: postgresql, mysql or duckdb
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
struct Check {
    /// Address of one database: postgresql://USER@HOST:PORT/DATABASE, mysql://USER@HOST:PORT/DATABASE, duckdb:FILE
    address: PathBuf,
}

impl Engines {
    pub(crate) fn run(self) -> Result<Verdict> {
        match self.action {
            None => list(),
            Some(Action::Setup(setup)) => setup.run(),
            Some(Action::Check(check)) => check.run(),
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

impl Setup {
    fn run(self) -> Result<Verdict> {
        let role = RoleSetup { role: self.role, database: self.database, schemas: self.schemas };
        print(&engines::setup(&self.engine, &role)?)?;
        Ok(Verdict::Done)
    }
}

impl Check {
    fn run(self) -> Result<Verdict> {
        let (version, locks) = crate::engine::run(true, |context| engines::check(&self.address, context))?;
        let mut text = format!("{version}\n");
        for lock in &locks {
            let state = match lock.holds {
                Some(true) => "holds",
                Some(false) => "OPEN ",
                None => "none ",
            };
            writeln!(text, "{state}  {:<36} {}", lock.name, lock.message.lines().next().unwrap_or_default())?;
        }
        print(&text)?;
        let all_hold = locks.iter().all(|lock| lock.holds != Some(false));
        Ok(if all_hold { Verdict::Done } else { Verdict::GateFailed })
    }
}
