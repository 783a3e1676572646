//! `sqlgauge evolve`.

mod training;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;
use clap::builder::PossibleValuesParser;
use sqlgauge_core::EvolveJob;
use sqlgauge_core::cli::file_format;
use sqlgauge_core::cli::stdin::input_file;
use sqlgauge_dataset::{BenchmarkSource, FileFormat};
use sqlgauge_evolve::layout::{SizeSpread, Statistics};
use sqlgauge_evolve::{ChangeKind, EvolvePlan, read_script};
use sqlgauge_report::document::{Cell, Document, Section, Table};
use sqlgauge_report::words::NONE;

use crate::Verdict;
use crate::llm_options::LlmOptions;
use crate::options::{BenchmarkOptions, column_help, columns};
use crate::output::print_document;

/// Change the schemas of a benchmark, with its databases and golds, or make training data of them
#[derive(Args)]
pub(crate) struct Evolve {
    #[command(flatten)]
    benchmark: BenchmarkOptions,
    #[command(flatten)]
    job: EvolveJob,
    /// Kinds of change, separated by commas, or `all`; each makes a benchmark of its own
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', default_value = "all", value_parser = kinds())]
    kinds: Vec<String>,
    /// A schema for each item instead of one for each database
    #[arg(long, conflicts_with_all = ["steps", "script"])]
    per_item: bool,
    /// One schema for each database, to which all its golds are rewritten (the default)
    #[arg(long, conflicts_with = "per_item")]
    per_database: bool,
    /// A history: this many kinds one after the other, drawn from --kinds; every version is kept and checked
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    steps: Option<u32>,
    /// Changes to replay: written by hand, or the changes.jsonl of an earlier run
    #[arg(
        long, value_name = "FILE", value_parser = input_file,
        conflicts_with_all = ["steps", "kinds", "intensity", "naturalness", "names"],
    )]
    script: Option<PathBuf>,
    /// Source of new names: the built-in lexicon, or a language model
    #[arg(long, value_enum, value_name = "SOURCE", default_value_t = NameSource::Lexicon)]
    pub names: NameSource,
    /// Format of the gold file, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = file_format())]
    format: Option<FileFormat>,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(sqlgauge_dataset::ColumnRole::all()))]
    columns: Vec<String>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    training: training::TrainingOptions,
    #[command(flatten)]
    llm: LlmOptions,
}

/// Where new names come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum NameSource {
    /// The built-in lexicon; no model takes part
    Lexicon,
    /// A language model (--llm-url, --llm-model); its names are checked as the lexicon's are
    Llm,
}

/// The kinds' names, and `all`.
pub(super) fn kinds() -> PossibleValuesParser {
    PossibleValuesParser::new(ChangeKind::ALL.map(ChangeKind::name).into_iter().chain(["all"]))
}

impl Evolve {
    pub(crate) fn run(self) -> Result<Verdict> {
        if self.training.training {
            self.training.make(&self)?;
            return Ok(Verdict::Done);
        }
        let job = self.job()?;
        let evolved = crate::engine::run(self.quiet, |context| job.run(context))?;
        if !self.quiet {
            print_evolved(&evolved)?;
        }
        Ok(Verdict::Done)
    }

    fn job(&self) -> Result<EvolveJob> {
        let asks = self.names == NameSource::Llm;
        ensure!(asks || self.llm.llm_url.is_none(), "--llm-url is for --names llm; give that too");
        let mut job = self.job.clone();
        job.subset.seed = job.seed;
        Ok(EvolveJob {
            benchmark: self.source()?,
            db: self.benchmark.db.clone(),
            plan: self.plan()?,
            #[cfg(feature = "services")]
            namer: if asks { Some(self.llm.settings("--names llm", &job.out)?) } else { None },
            ..job
        })
    }

    fn source(&self) -> Result<BenchmarkSource> {
        Ok(BenchmarkSource {
            gold: self.benchmark.gold.clone(),
            questions: self.benchmark.questions.clone(),
            format: self.format,
            columns: columns(&self.columns)?,
            ddl: false,
        })
    }

    fn plan(&self) -> Result<EvolvePlan> {
        let kinds = chosen(&self.kinds);
        Ok(match (&self.script, self.steps) {
            (Some(path), _) => EvolvePlan::Script(read_script(path)?),
            (None, Some(steps)) => EvolvePlan::Steps { kinds, steps },
            (None, None) => EvolvePlan::Kinds { kinds, per_item: self.per_item },
        })
    }
}

/// The kinds of those names in their own order, each once.
pub(super) fn chosen(names: &[String]) -> Vec<ChangeKind> {
    let is_wanted = |kind: &ChangeKind| names.iter().any(|name| name == "all" || name == kind.name());
    ChangeKind::ALL.into_iter().filter(is_wanted).collect()
}

fn print_evolved(evolved: &[(String, Statistics)]) -> Result<()> {
    let row = |(name, statistics): &(String, Statistics)| {
        let ratio = statistics.length_ratio.map_or(NONE.to_owned(), |spread| format!("{:.2}", spread.median));
        let reasons =
            statistics.not_written.iter().map(|(reason, count)| format!("{count} {}", reason.name()));
        let reasons: Vec<String> = reasons.collect();
        let cells = [
            name.clone(),
            statistics.written.to_string(),
            statistics.golds_changed.to_string(),
            ratio,
            spread(statistics.manipulated_per_table),
            spread(statistics.manipulated_per_query),
            if reasons.is_empty() { "none".to_owned() } else { reasons.join(", ") },
        ];
        cells.map(Cell::new).into()
    };
    let header = [
        "benchmark",
        "questions",
        "golds changed",
        "length of gold",
        "changes in a table",
        "changes in a gold",
        "not written",
    ];
    let note = "length: changed gold / original, the median; changes, as least / median / most: columns \
                that changed in a changed table, or 1 for the table itself; columns and tables that changed in a changed gold";
    let table = Table::of(header, evolved.iter().map(row));
    print_document(&Document::of(Section::new("Evolved benchmarks", note, table)))
}

/// Least, median and greatest.
fn spread(spread: Option<SizeSpread>) -> String {
    spread.map_or(NONE.to_owned(), |SizeSpread { min, median, max, .. }| format!("{min} / {median} / {max}"))
}
