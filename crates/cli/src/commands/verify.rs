//! `sqlgauge verify`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use sqlgauge_compare::Semantics;
use sqlgauge_engine::Engine;
use sqlgauge_report::{ShowOptions, verdict};
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::smt::{Limits, Solver, locate};
use sqlgauge_verify::{Options, Report, Verifier};

use crate::Verdict;
use crate::engine::engine;
use crate::options::{schema_of, seconds};
use crate::output::{colour, note, print_json, print_painted, width};
use crate::stdin::{input_file, query};

/// The environment variable that names the solver.
const SOLVER_VARIABLE: &str = "SQLGAUGE_SOLVER";

/// Find a database that tells two queries apart, or prove that there is none
///
/// Exit code 0 if they are equivalent, 1 if they are different, 3 if nobody knows, 2 if one of them or the schema cannot
/// be read.
#[derive(Debug, Args)]
pub struct Verify {
    /// The gold query; `-` is standard input
    #[arg(long, value_name = "SQL", value_parser = query)]
    left: String,
    /// The other query
    #[arg(long, value_name = "SQL", value_parser = query)]
    right: String,
    /// SQLite file whose schema the queries are over
    #[arg(long, value_name = "FILE", required_unless_present = "schema", conflicts_with = "schema")]
    db: Option<PathBuf>,
    /// `.sql` file with the DDL instead; `-` is standard input
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    schema: Option<PathBuf>,
    /// What of a result counts: what `ex@1` compares, or rows as a set, a bag, a list
    #[arg(long, value_name = "NAME", default_value = "ex", value_parser = semantics())]
    semantics: Semantics,
    /// Rows of each table up to which a bounded proof goes
    #[arg(long, value_name = "N", default_value_t = 5)]
    bound: usize,
    /// Seconds for the bounded proof
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    timeout: f64,
    /// The solver Z3; without it the variable SQLGAUGE_SOLVER, then PATH, then Python's package z3-solver
    #[arg(long, value_name = "PATH")]
    solver: Option<PathBuf>,
    /// Where the random numbers of the search begin
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads the name of a contract; the help lists all of them.
fn semantics() -> impl TypedValueParser<Value = Semantics> {
    PossibleValuesParser::new(Semantics::ALL.map(Semantics::name)).try_map(|name| name.parse::<Semantics>())
}

impl Verify {
    pub fn run(self) -> Result<Verdict> {
        let solver_time = seconds("--timeout", self.timeout)?;
        let options = Options { semantics: self.semantics, seed: self.seed, bound: self.bound, solver_time };
        let mut solver = solver(self.solver.as_deref(), solver_time)?;
        let verifier = Verifier::new(self.known_schema()?, options)?;
        let report = verifier.verify(&self.left, &self.right, solver.as_mut())?;
        if self.json {
            let mut object = report.to_json();
            object.insert("ms".to_owned(), report.times_to_json());
            print_json(&object)?;
        } else {
            let shown = ShowOptions { width: width(), colour: colour(), rows: usize::MAX };
            print_painted(&verdict(&self.left, &self.right, &report, shown))?;
        }
        Ok(ended(&report))
    }

    /// A verdict rests on no foreign key that the database breaks.
    fn known_schema(&self) -> Result<Arc<Schema>> {
        let Some(path) = &self.db else {
            // The arguments require the one or the other.
            return Ok(Arc::new(schema_of(self.schema.as_deref().unwrap_or_else(|| "".as_ref()))?));
        };
        let engine = engine(sqlgauge_engine::Limits::default())?;
        let database = engine.open(path)?;
        let kept = database.kept_schema(&engine);
        for broken in &kept.broken {
            note(format!("not relied on: FOREIGN KEY {broken}"));
        }
        Ok(Arc::clone(&kept.schema))
    }
}

/// The solver, if there is one; a missing one is only an error where it was named.
fn solver(named: Option<&Path>, time: Duration) -> Result<Option<Solver>> {
    let environment = std::env::var_os(SOLVER_VARIABLE).map(PathBuf::from);
    let named = named.or(environment.as_deref());
    match locate(named, std::env::var_os("PATH").as_deref()) {
        Ok(program) => Ok(Some(Solver::new(program, Limits { time, ..Limits::default() }))),
        Err(error) if named.is_some() => Err(error.into()),
        Err(error) => {
            note(format!("no bounded proofs: {error}"));
            Ok(None)
        }
    }
}

fn ended(report: &Report) -> Verdict {
    match report.verdict {
        sqlgauge_verify::Verdict::Equivalent(_) | sqlgauge_verify::Verdict::EquivalentUpTo(_) => {
            Verdict::Done
        }
        sqlgauge_verify::Verdict::Different(_) => Verdict::NotEqual,
        sqlgauge_verify::Verdict::Unknown(_) => Verdict::Unknown,
    }
}
