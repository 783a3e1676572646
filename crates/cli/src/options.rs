//! Options that several commands share.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use sqlgauge_base::{counted_of, regular, verb_for};
use sqlgauge_core::{System, VerifySettings, verifies};
use sqlgauge_dataset::{ColumnRole, Columns, FileFormat, LabelCondition, Subset};
use sqlgauge_engine::compare::Semantics;
use sqlgauge_engine::{Engine, Limits, Moment};
use sqlgauge_metrics::Metric;
use sqlgauge_report::executes;
use sqlgauge_run::Summary;
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::{ColumnValues, VerifyOptions};

use crate::engine::engine;
use crate::output::say;
use crate::solver::solver;
use crate::stdin::{input_file, is_kept, source};
use crate::values::Program;

/// `--pred NAME=FILE`.
#[derive(Debug, Clone)]
pub(crate) struct SystemFile {
    /// Name of the system.
    pub system: String,
    /// File with its predictions.
    pub path: PathBuf,
}

/// Reads `NAME=FILE`; a file alone is named by its stem. `NAME=-` is standard input.
pub(crate) fn system_file(text: &str) -> Result<SystemFile, String> {
    if text == "-" {
        return Err("predictions on standard input need a name: write NAME=-".to_owned());
    }
    let (system, path) = if let Some((name, path)) = text.split_once('=') {
        (name.trim().to_owned(), input_file(path)?)
    } else {
        let path = PathBuf::from(text);
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        (stem, path)
    };
    if system.is_empty() || path.as_os_str().is_empty() {
        return Err("write NAME=FILE, as in DAIL=preds/DAIL.sql".to_owned());
    }
    Ok(SystemFile { system, path })
}

/// `--gold FILE`, or one of several as `--gold NAME=FILE`.
#[derive(Debug, Clone)]
pub(crate) struct GoldFile {
    text: String,
    /// The file that the whole text names, or that keeps standard input.
    whole: PathBuf,
}

/// Reads `FILE` or `NAME=FILE`.
pub(crate) fn gold_file(text: &str) -> Result<GoldFile, String> {
    Ok(GoldFile { text: text.to_owned(), whole: input_file(text)? })
}

impl GoldFile {
    /// The file where there is one version only, which needs no name. A name before it is left.
    pub(crate) fn whole(self) -> PathBuf {
        if self.text == "-" || self.whole.exists() || !self.text.contains('=') {
            self.whole
        } else {
            self.named().1
        }
    }

    /// Name and file of one of several versions; a file alone is named by its stem.
    pub(crate) fn named(self) -> (String, PathBuf) {
        match self.text.split_once('=') {
            Some((name, path)) if self.text != "-" => (name.trim().to_owned(), PathBuf::from(path)),
            _ => {
                let stem = self.whole.file_stem().map(|stem| stem.to_string_lossy().into_owned());
                (stem.unwrap_or_default(), self.whole)
            }
        }
    }
}

/// Results that were computed elsewhere.
#[derive(Debug, Clone, Args)]
pub(crate) struct ResultOptions {
    /// Results of one system, scored without running a query: a folder with ID.csv, ID.json, ID.jsonl or ID.parquet, or a file that
    /// `sqlgauge bundle` wrote; may be given several times
    #[arg(long, value_name = "NAME=DIR", value_parser = system_file, help_heading = "Results")]
    pub results: Vec<SystemFile>,
    /// Folder with the gold results: `ID.csv`, or `ID_a.csv`, `ID_b.csv` … for several of an item; a bundle has its own
    #[arg(long, value_name = "DIR", requires = "results", help_heading = "Results")]
    pub gold_results: Option<PathBuf>,
    /// How items are compared, JSON lines with `instance_id`, `condition_cols` and `ignore_order`; `--config FILE.jsonl` is the same
    #[arg(long, value_name = "FILE", requires = "results", help_heading = "Results")]
    pub result_config: Option<PathBuf>,
    /// Numbers that differ by no more are equal for `fair`
    #[arg(long, value_name = "X", default_value_t = 0.01, help_heading = "Results")]
    pub tolerance: f64,
    /// Results may not have columns that the gold has not, for `fair`
    #[arg(long, requires = "results", help_heading = "Results")]
    pub exact_columns: bool,
}

/// Several answers to a question; a file of predictions that has lists is scored so without any of these.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SampleOptions {
    /// The k of pass@k and pass^k, where predictions are lists of answers; 1,2,4,8 without it
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "Several answers")]
    pub k: Vec<usize>,
    /// File with questions that have no answer, which a system should abstain from
    #[arg(long, value_name = "FILE", value_parser = input_file, help_heading = "Several answers")]
    pub unanswerable: Option<PathBuf>,
    /// What a wrong answer costs, where a right one counts 1 and an abstention 0; 0,1,10 without it
    #[arg(long, value_name = "X", value_delimiter = ',', help_heading = "Several answers")]
    pub penalty: Vec<f64>,
}

impl SampleOptions {
    /// Whether any of them was given.
    pub(crate) fn is_given(&self) -> bool {
        !self.k.is_empty() || self.unanswerable.is_some() || !self.penalty.is_empty()
    }
}

/// The systems of those files, in which the same columns are named.
pub(crate) fn systems(files: Vec<SystemFile>, columns: &Columns) -> Vec<System> {
    let system = |file: SystemFile| System {
        name: file.system,
        predictions: source(file.path),
        columns: columns.clone(),
    };
    files.into_iter().map(system).collect()
}

/// The golds of a benchmark and their databases.
#[derive(Debug, Clone, Args)]
pub(crate) struct BenchmarkOptions {
    /// File with the gold queries (Spider .sql or dev.json, BIRD dev.json, JSONL, CSV, Parquet); `-` is standard
    /// input, here and in the other files
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    pub gold: PathBuf,
    /// File with the questions, where the gold file has none
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    pub questions: Option<PathBuf>,
    /// Folder with `DB_ID/DB_ID.sqlite`, or one database file
    #[arg(long, value_name = "DIR")]
    pub db: PathBuf,
}

/// Which questions of a benchmark are taken; together they narrow it.
#[derive(Debug, Clone, Args)]
pub(crate) struct SubsetOptions {
    /// Take only the questions about a database; several are separated by commas
    #[arg(long = "db-id", value_name = "ID", value_delimiter = ',', help_heading = "Subset")]
    db_ids: Vec<String>,
    /// Take only the questions whose ids are in a file, one a line
    #[arg(long, value_name = "FILE", value_parser = input_file, help_heading = "Subset")]
    ids: Option<PathBuf>,
    /// Take only the questions with a label, as in hardness=extra or difficulty=simple; given several times, values of one label are
    /// alternatives
    #[arg(long = "where", value_name = "LABEL=VALUE", help_heading = "Subset")]
    conditions: Vec<LabelCondition>,
    /// Take at most N questions, drawn at random
    #[arg(long, value_name = "N", help_heading = "Subset")]
    limit: Option<usize>,
}

impl SubsetOptions {
    /// Whether any of them was given.
    pub(crate) fn is_given(&self) -> bool {
        let Self { db_ids, ids, conditions, limit } = self;
        !db_ids.is_empty() || ids.is_some() || !conditions.is_empty() || limit.is_some()
    }

    /// The subset; `seed` decides what `--limit` draws.
    pub(crate) fn subset(&self, seed: u64) -> Result<Subset> {
        let ids = self.ids.as_ref().map(|path| {
            let text = regular::read_to_string(path)
                .with_context(|| format!("{} cannot be read; check the path", path.display()))?;
            let ids = text.lines().map(str::trim).filter(|line| !line.is_empty());
            Ok::<_, anyhow::Error>(ids.map(str::to_owned).collect())
        });
        let Self { db_ids, conditions, limit, .. } = self.clone();
        let ids_are = self.ids.as_ref().map(|path| format!("of {}", path.display()));
        Ok(Subset { db_ids, ids: ids.transpose()?, ids_are, conditions, limit, seed })
    }
}

/// [`SubsetOptions`] of a command that draws nothing else.
#[derive(Debug, Clone, Args)]
pub(crate) struct DrawnSubsetOptions {
    #[command(flatten)]
    subset: SubsetOptions,
    /// Seed of the draw of --limit
    #[arg(long, value_name = "N", default_value_t = 0, requires = "limit", help_heading = "Subset")]
    seed: u64,
}

impl DrawnSubsetOptions {
    /// The subset.
    pub(crate) fn subset(&self) -> Result<Subset> {
        self.subset.subset(self.seed)
    }
}

/// Formats of the files, where detection is wrong.
#[derive(Debug, Clone, Args)]
pub(crate) struct FormatOptions {
    /// Format of the file with the questions or golds, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub format: Option<FileFormat>,
    /// Format of the prediction files, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub pred_format: Option<FileFormat>,
}

/// Caps on the execution of untrusted SQL.
#[derive(Debug, Clone, Args)]
pub(crate) struct LimitOptions {
    /// Seconds that one query may take
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, help_heading = "Limits")]
    timeout: f64,
    /// Rows that one result may have
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_rows, help_heading = "Limits")]
    max_rows: usize,
    /// Bytes that one result may have
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_bytes, help_heading = "Limits")]
    max_bytes: usize,
    /// Bytes of memory that SQLite may use for one query
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_heap_bytes, help_heading = "Limits")]
    max_heap: u64,
}

impl LimitOptions {
    /// The limits of the engine.
    pub(crate) fn limits(&self) -> Result<Limits> {
        Ok(Limits {
            timeout: seconds("--timeout", self.timeout)?,
            max_rows: self.max_rows,
            max_bytes: self.max_bytes,
            max_heap_bytes: self.max_heap,
            ..Limits::default()
        })
    }
}

/// How pairs are verified, by the command and by the metric `verify`.
#[derive(Debug, Clone, Args)]
pub(crate) struct VerifyFlags {
    /// What of a result counts: what `ex@1` compares, or rows as a set, a bag, a list [default: ex; set where ex-bird stands beside]
    #[arg(long, value_name = "NAME", value_parser = semantics(), help_heading = "Verification")]
    pub semantics: Option<Semantics>,
    #[arg(long, value_name = "N", help_heading = "Verification",
        help = format!("Rows of each table up to which a bounded proof goes [default: {}]", VerifySettings::BOUND))]
    bound: Option<usize>,
    #[arg(long, value_name = "SECONDS", help_heading = "Verification",
        help = format!("Seconds for verifying one pair, all stages together [default: {}]", VerifySettings::SECONDS))]
    pair_timeout: Option<f64>,
    /// Values of a counterexample: those that columns declare, or any that SQLite stores there [default: rows, what the rows of the
    /// given database keep; without rows declared]
    #[arg(long, value_name = "NAME", value_parser = values(), help_heading = "Verification")]
    values: Option<ColumnValues>,
    /// Ask the solver for the counterexample with the fewest rows
    #[arg(long, help_heading = "Verification")]
    fewest: bool,
    /// The solver Z3; without it the variable `SQLGAUGE_SOLVER`, then PATH, then Python's package z3-solver
    #[arg(long, value_name = "PATH", help_heading = "Verification")]
    solver: Option<Program>,
}

/// Reads the name of a contract; the help lists all of them.
fn semantics() -> impl TypedValueParser<Value = Semantics> {
    PossibleValuesParser::new(Semantics::ALL.map(Semantics::name)).try_map(|name| name.parse::<Semantics>())
}

/// Reads the name of the values of counterexamples; the help lists all of them.
fn values() -> impl TypedValueParser<Value = ColumnValues> {
    PossibleValuesParser::new(ColumnValues::ALL.map(ColumnValues::name))
        .try_map(|name| name.parse::<ColumnValues>())
}

impl VerifyFlags {
    /// The settings, with those seconds for a pair where the options say nothing of it.
    pub(crate) fn settings(&self, seconds_for_pair: Option<f64>) -> Result<VerifySettings> {
        let default = VerifySettings::default();
        let solver_time = match self.pair_timeout.or(seconds_for_pair) {
            Some(time) => seconds("--pair-timeout", time)?,
            None => default.options.solver_time,
        };
        let options = VerifyOptions {
            semantics: self.semantics.unwrap_or(default.options.semantics),
            bound: self.bound.unwrap_or(default.options.bound),
            solver_time,
            values: self.values.unwrap_or_default(),
            proves_fewest: self.fewest,
            ..default.options
        };
        Ok(VerifySettings { options, solver: solver(self.solver.as_deref())? })
    }

    /// The settings of a run with those metrics. An option without the metric `verify` is an error.
    pub(crate) fn of_run(&self, metrics: &[&'static dyn Metric]) -> Result<VerifySettings> {
        if verifies(metrics) {
            let settings = self.settings(None)?;
            return Ok(if self.semantics.is_some() { settings } else { settings.beside(metrics) });
        }
        let flags = [
            ("--semantics", self.semantics.is_some()),
            ("--bound", self.bound.is_some()),
            ("--pair-timeout", self.pair_timeout.is_some()),
            ("--values", self.values.is_some()),
            ("--fewest", self.fewest),
            ("--solver", self.solver.is_some()),
        ];
        match flags.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => {
                bail!("{option} is for the metric verify; add it, as in --metrics ex,verify")
            }
            None => Ok(VerifySettings::default()),
        }
    }
}

/// The clock of untrusted SQL, which stands still.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ClockOptions {
    /// Date, or date and time of UTC, that queries take for now [default: when the run began]
    #[arg(long, value_name = "TIME", value_parser = |text: &str| text.parse::<Moment>())]
    pub now: Option<Moment>,
}

impl ClockOptions {
    /// What the queries of a command take for now that begins with this call.
    pub(crate) fn moment(self) -> Moment {
        self.now.unwrap_or_else(Moment::now)
    }
}

/// How many golds may fail where a bar is set.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct GoldBar {
    /// Golds that may fail to run where a bar is set; with more of them the bar is not reached, whatever the score of the others
    #[arg(long, value_name = "N", default_value_t = 0)]
    allow_gold_failures: usize,
}

impl GoldBar {
    /// Whether so few golds fail; says so where not.
    pub(crate) fn holds(self, summary: &Summary) -> bool {
        let (failed, all) = (summary.golds.failed, summary.golds.examples);
        let holds = !executes(summary) || failed <= self.allow_gold_failures;
        if !holds {
            let (golds, does) = (counted_of(failed, all, "gold"), verb_for(&failed, ["does", "do"]));
            say(&format!(
                "{golds} {does} not run, so no bar is reached: mend them, or give --allow-gold-failures {failed}"
            ));
        }
        holds
    }
}

/// The time that an option of that name gives in seconds.
pub(crate) fn seconds(option: &str, seconds: f64) -> Result<Duration> {
    let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
    time.ok_or_else(|| anyhow!("{option} {seconds} is not a positive number of seconds"))
}

/// Reads `ROLE=COLUMN` pairs of `--column`.
pub(crate) fn columns(pairs: &[String]) -> Result<Columns> {
    let mut columns = Columns::default();
    for pair in pairs {
        let (role, column) = pair
            .split_once('=')
            .ok_or_else(|| anyhow!("--column {pair:?}: write ROLE=COLUMN, as in gold=query_sql"))?;
        columns.name(role, column).with_context(|| format!("--column {pair:?}"))?;
    }
    Ok(columns)
}

/// The roles in a workload, of which no label is read.
pub(crate) fn workload_roles() -> impl Iterator<Item = ColumnRole> {
    ColumnRole::all().filter(|role| !matches!(role, ColumnRole::Gold | ColumnRole::Difficulty))
}

/// The help of `--column`, with the roles that there are.
pub(crate) fn column_help(roles: impl Iterator<Item = ColumnRole>) -> String {
    let roles: Vec<&str> = roles.map(ColumnRole::name).collect();
    format!(
        "Column that has a role ({}), in golds or predictions alone as gold.ROLE or pred.ROLE; a name with dots leads into objects and \
         lists (choices.0.message.content)",
        roles.join(", ")
    )
}

/// Reads the name of a file format; the help lists all of them.
pub(crate) fn format() -> impl TypedValueParser<Value = FileFormat> {
    let names = FileFormat::all().map(|format| PossibleValue::new(format.name()).help(format.summary()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<FileFormat>())
}

/// The help of `--metrics`, with the ids that there are.
pub(crate) fn metrics_help() -> String {
    let ids: Vec<&str> = sqlgauge_metrics::all().iter().map(|metric| metric.id()).collect();
    format!(
        "Metric ids separated by commas, with or without version: {} (`sqlgauge metrics` says what they mean) [default: \
         ex,ex-spider,ex-bird,esm; ex-bird,ex where questions have evidence]",
        ids.join(", ")
    )
}

/// The SQLite files in a folder and in its folders.
pub(crate) fn databases_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let list = |folder: &Path| -> Result<Vec<PathBuf>> {
        let entries =
            std::fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
        Ok(entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect())
    };
    let mut files = Vec::new();
    for path in list(folder)? {
        if path.is_dir() {
            files.extend(list(&path)?);
        } else {
            files.push(path);
        }
    }
    let is_database = |path: &PathBuf| {
        path.extension()
            .is_some_and(|ending| ["sqlite", "sqlite3", "db"].iter().any(|extension| ending == *extension))
    };
    files.retain(is_database);
    files.sort();
    ensure!(
        !files.is_empty(),
        "{} has no .sqlite, .sqlite3 or .db file, nor have the folders in it",
        folder.display()
    );
    Ok(files)
}

/// The SQLite file that `--db` names: itself, or the only one in a folder.
pub(crate) fn database_file(path: &Path) -> Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let mut files = databases_in(path)?;
    ensure!(
        files.len() == 1,
        "{} has {} databases; name one of them, as in --db {}",
        path.display(),
        files.len(),
        files[0].display()
    );
    Ok(files.remove(0))
}

/// The schema of a SQLite file, or of DDL in a `.sql` file or on standard input.
pub(crate) fn schema_of(path: &Path) -> Result<Schema> {
    if path.extension().is_some_and(|extension| extension == "sql") || is_kept(path) {
        let text = regular::read_to_string(path)
            .with_context(|| format!("{} cannot be read; check the path", path.display()))?;
        return Schema::from_ddl(&text).with_context(|| format!("{} is not DDL of SQLite", path.display()));
    }
    let engine = engine(Limits::default())?;
    Ok(engine.open(&database_file(path)?)?.schema().as_ref().clone())
}
