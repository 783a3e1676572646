//! Options that several commands share.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use sqlgauge_base::{counted_of, regular, verb_for};
use sqlgauge_core::cli::file_format;
use sqlgauge_core::cli::stdin::{input_file, is_kept};
use sqlgauge_core::{Source, System, SystemResults};
use sqlgauge_dataset::{ColumnRole, Columns, FileFormat};
use sqlgauge_engine::{Engine, Limits, Moment};
use sqlgauge_report::executes;
use sqlgauge_run::Summary;
use sqlgauge_sql::schema::Schema;

use crate::engine::engine;
use crate::output::say;

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
    #[arg(long, value_name = "NAME=DIR", help_heading = "Results")]
    pub results: Vec<SystemResults>,
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
    #[arg(long, value_name = "FILE", help_heading = "Several answers")]
    pub unanswerable: Option<Source>,
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

/// How the files are read, where that is not clear from them.
#[derive(Debug, Clone, Args)]
pub(crate) struct FormatOptions {
    /// Format of the file with the questions or golds, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = file_format())]
    pub format: Option<FileFormat>,
    /// Format of the prediction files, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = file_format())]
    pub pred_format: Option<FileFormat>,
    /// Take the SQL out of the chatter of an LLM (code fences, explanations)
    #[arg(long)]
    pub extract_sql: bool,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(ColumnRole::all()))]
    pub columns: Vec<String>,
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
    /// With a bar: how many golds may fail to run before it counts as not reached
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

/// The systems, in whose predictions the same columns are named.
pub(crate) fn with_columns(systems: Vec<System>, columns: &Columns) -> Vec<System> {
    systems.into_iter().map(|system| System { columns: columns.clone(), ..system }).collect()
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
