//! `sqlgauge verify`.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use sqlgauge_compare::Semantics;
use sqlgauge_dataset::{BenchmarkSource, PredictionOptions};
use sqlgauge_engine::{Database, Engine, SqliteEngine};
use sqlgauge_report::{ShowOptions, verdict};
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::smt::{Limits, Solver};
use sqlgauge_verify::{Beside, Data, Options, Report, Verifier};

use crate::Verdict;
use crate::engine::engine;
use crate::options::{ClockOptions, SystemFile, schema_of, seconds, system_file};
use crate::output::{colour, note, print_json, print_painted, width};
use crate::scoring::{Job, VerifySettings, metrics};
use crate::solver::solver;
use crate::stdin::{input_file, query};

/// Find a database that tells two queries apart, or prove that there is none
///
/// A pair: --left and --right. Whole prediction files: --gold, --pred and --out, a run as of `score`.
///
/// Exit code of a pair: 0 if they are equivalent, 1 if they are different, 3 if nobody knows, 2 if one of them or the schema cannot
/// be read.
#[derive(Debug, Args)]
pub struct Verify {
    /// The gold query; `-` is standard input
    #[arg(long, value_name = "SQL", value_parser = query, requires = "right", required_unless_present = "gold",
        conflicts_with = "gold")]
    left: Option<String>,
    /// The other query
    #[arg(long, value_name = "SQL", value_parser = query, requires = "left")]
    right: Option<String>,
    /// SQLite file whose schema the queries are over; with --gold, the folder with `DB_ID/DB_ID.sqlite`
    #[arg(long, value_name = "FILE", required_unless_present = "schema", conflicts_with = "schema")]
    db: Option<PathBuf>,
    /// `.sql` file with the DDL instead; `-` is standard input
    #[arg(long, value_name = "FILE", value_parser = input_file, conflicts_with = "gold")]
    schema: Option<PathBuf>,
    /// File with the gold queries, to verify whole prediction files as a run; as for `score`
    #[arg(long, value_name = "FILE", value_parser = input_file, requires_all = ["predictions", "out"])]
    gold: Option<PathBuf>,
    /// Predictions of one system; may be given several times
    #[arg(long = "pred", id = "predictions", value_name = "NAME=FILE", requires = "gold", value_parser = system_file)]
    predictions: Vec<SystemFile>,
    /// Run directory to write; the same command again finishes an interrupted run
    #[arg(long, value_name = "DIR", requires = "gold")]
    out: Option<PathBuf>,
    /// Discard the run that is in the folder
    #[arg(long, requires = "gold")]
    restart: bool,
    /// Worker threads; 0 means one per core
    #[arg(long, short, value_name = "N", default_value_t = 0, requires = "gold")]
    jobs: usize,
    /// Print nothing but errors
    #[arg(long, short, requires = "gold", conflicts_with = "json")]
    quiet: bool,
    /// What of a result counts: what `ex@1` compares, or rows as a set, a bag, a list
    #[arg(long, value_name = "NAME", default_value = "ex", value_parser = semantics())]
    semantics: Semantics,
    /// Rows of each table up to which a bounded proof goes
    #[arg(long, value_name = "N", default_value_t = 5)]
    bound: usize,
    /// Seconds for the bounded proof
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    timeout: f64,
    /// The solver Z3; without it the variable `SQLGAUGE_SOLVER`, then PATH, then Python's package z3-solver
    #[arg(long, value_name = "PATH")]
    solver: Option<PathBuf>,
    /// Where the random numbers of the search begin
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    clock: ClockOptions,
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
        let settings = VerifySettings { options, solver: solver(self.solver.as_deref())? };
        match (&self.left, &self.right) {
            (Some(left), Some(right)) => self.pair(left, right, settings),
            _ => self.files(settings),
        }
    }

    fn pair(&self, left: &str, right: &str, settings: VerifySettings) -> Result<Verdict> {
        let limits = Limits { time: settings.options.solver_time, ..Limits::default() };
        let mut solver = settings.solver.map(|program| Solver::new(program, limits));
        let given = self.given()?;
        let verifier = Verifier::new(Arc::clone(&given.schema), settings.options)?;
        let rows = |sql: &str| {
            let (engine, database) = given.database.as_ref()?;
            engine.run(database, sql).rows().cloned()
        };
        let (left_rows, right_rows) = (rows(left), rows(right));
        let data = match (&given.database, &left_rows, &right_rows) {
            (Some((engine, database)), Some(left), Some(right)) => {
                Some(Data { engine, database, results: (left, right) })
            }
            _ => None,
        };
        let beside = Beside { data, solver: solver.as_mut(), ..Beside::default() };
        let report = verifier.verify_beside(left, right, beside)?;
        if self.json {
            let mut object = report.to_json();
            object.insert("ms".to_owned(), report.times_to_json());
            print_json(&object)?;
        } else {
            let shown = ShowOptions { width: width(), colour: colour(), rows: usize::MAX };
            print_painted(&verdict(left, right, &report, shown))?;
        }
        Ok(ended(&report))
    }

    /// A run of `verify` beside the execution metric whose equality it has.
    fn files(self, settings: VerifySettings) -> Result<Verdict> {
        let ex = if self.semantics == Semantics::Set { "ex-bird" } else { "ex" };
        let as_json = self.json;
        // The arguments require all three.
        let job = Job {
            source: BenchmarkSource { gold: self.gold.unwrap_or_default(), ..BenchmarkSource::default() },
            db: self.db.unwrap_or_default(),
            tables: None,
            systems: self.predictions,
            predictions: PredictionOptions::default(),
            metrics: metrics(&format!("{ex},verify"))?,
            verify: settings,
            out: self.out.unwrap_or_default(),
            limits: sqlgauge_engine::Limits::default(),
            now: self.clock.now,
            jobs: self.jobs,
            restart: self.restart,
            quiet: self.quiet,
            gates: Vec::new(),
        };
        super::score::finish(&job, as_json)
    }

    /// A verdict rests on no foreign key that the database breaks.
    fn given(&self) -> Result<Given> {
        let Some(path) = &self.db else {
            // The arguments require the one or the other.
            let schema = schema_of(self.schema.as_deref().unwrap_or_else(|| "".as_ref()))?;
            return Ok(Given { schema: Arc::new(schema), database: None });
        };
        let engine = engine(sqlgauge_engine::Limits::default())?.at(self.clock.moment());
        let database = engine.open(path)?;
        let kept = database.kept_schema(&engine);
        for broken in &kept.broken {
            note(format!("not relied on: FOREIGN KEY {broken}"));
        }
        Ok(Given { schema: Arc::clone(&kept.schema), database: Some((engine, database)) })
    }
}

/// What the queries are over.
struct Given {
    schema: Arc<Schema>,
    database: Option<(SqliteEngine, Arc<Database>)>,
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
