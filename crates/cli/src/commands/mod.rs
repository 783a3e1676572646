//! The sub-commands, one file each.

mod adapt;
mod augment;
mod bench_estimators;
mod compare;
mod compat;
mod completions;
mod coverage;
mod demo;
mod encode;
mod estimate;
mod evaluated;
mod evolve;
mod fit;
mod import;
mod match_queries;
mod merge;
mod metrics;
mod parse;
mod predict;
mod report;
mod robustness;
mod rules;
mod schema;
mod schema_versions;
mod score;
mod shift;
mod show;
mod synth;
mod tables;
mod translate;
mod verify;
mod witnesses;

use anyhow::Result;
use clap::Subcommand;

use crate::Verdict;

/// What sqlgauge can be asked to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Score the bundled sample benchmark and write a report
    Demo(demo::Demo),
    /// Score predictions against gold queries
    Score(score::Score),
    /// Put the shards of a run together to the run that they are parts of
    Merge(merge::Merge),
    /// Compare two systems of a run: paired test, interval of the difference, items that differ
    Compare(compare::Compare),
    /// Write the report of a run in a format
    Report(report::ReportCommand),
    /// Show one item: question, both queries, both results, every metric and why
    Show(show::Show),
    /// Stand in for an official evaluation script: its flags, its table
    #[command(subcommand)]
    Compat(compat::Compat),
    /// Ask a language model for the SQL of a workload's questions
    Predict(Box<predict::Predict>),
    /// Estimate the accuracy of predictions without labels, with an interval and reasons
    Estimate(Box<estimate::EstimateCommand>),
    /// Compare systems on a benchmark and on its evolved schemas
    Robustness(Box<robustness::RobustnessCommand>),
    /// Make training data of a benchmark and its evolved schemas
    Augment(Box<augment::Augment>),
    /// Make a known run of labels that were judged elsewhere; nothing is executed
    Import(import::Import),
    /// Print the catalog of a database, a folder of databases or a tables.json as sqlgauge sees it
    Schema(schema::SchemaCommand),
    /// Tell whether two queries mean the same, without running them, and why
    ///
    /// Exit code 0 if they are equal, 1 if they are not found equal, 2 if one of them or the schema cannot be read.
    Match(match_queries::Match),
    /// Find a database that tells two queries apart, or prove that there is none
    ///
    /// A pair: --left and --right. A file of pairs: --pairs and --out. Whole prediction files: --gold, --pred and --out, a run as
    /// of `score`.
    ///
    /// Exit code of a pair: 0 if they are equivalent, 1 if they are different, 3 if nobody knows, 2 if one of them or the schema
    /// cannot be read. Exit code of a run: 0 if every pair has been looked at, whatever the verdicts, 2 if an input cannot be read.
    Verify(Box<verify::Verify>),
    /// Write the counterexamples of a run as a test suite: SQLite files beside the benchmark's databases
    Witnesses(witnesses::Witnesses),
    /// List the equivalence rules, or explain one
    #[command(subcommand)]
    Rules(rules::Rules),
    /// List the metrics: id, what it means, its range, what it needs
    Metrics(metrics::Metrics),
    /// Change the schema of a benchmark, and its databases and golds with it; every item is run before it is written
    Evolve(Box<evolve::Evolve>),
    /// Make a labelled corpus from databases: queries by a grammar, each checked by execution
    Synth(synth::Synth),
    /// Make relational databases of loose tables: CSV and Parquet files become typed SQLite databases with keys
    Tables(tables::Tables),
    /// Compare what corpora cover: sizes, difficulty, where their items lie, how far they reach in 16 dimensions
    Coverage(coverage::CoverageCommand),
    /// Turn a workload (questions, schemas, predictions) into vectors for `shift`, `fit` and `estimate`
    Encode(encode::Encode),
    /// Measure how far a workload lies from another, and which databases and dimensions make the difference
    Shift(shift::Shift),
    /// Learn how accuracy falls with shift: an evaluator from a source and labelled corpora
    Fit(fit::Fit),
    /// Adapt an evaluator to another system in a few steps, from a labelled corpus of it
    Adapt(adapt::Adapt),
    /// Measure estimators on labelled runs: what they say of a part whose labels they do not see
    BenchEstimators(bench_estimators::BenchEstimators),
    /// Resolve a query and print it with its features, or the error with its place
    Parse(parse::Parse),
    /// Print a query in other SQL dialects, with SQLite's meaning or not at all
    Translate(translate::Translate),
    /// Print the completion script of a shell
    Completions(completions::Completions),
    /// Print the manual page, or write the pages of all commands into a folder
    Man(completions::Man),
}

impl Command {
    /// Runs the command.
    pub fn run(self) -> Result<Verdict> {
        match self {
            Self::Demo(command) => command.run(),
            Self::Score(command) => command.run(),
            Self::Merge(command) => command.run(),
            Self::Compare(command) => command.run(),
            Self::Report(command) => command.run(),
            Self::Show(command) => command.run(),
            Self::Compat(command) => command.run(),
            Self::Predict(command) => command.run(),
            Self::Estimate(command) => command.run(),
            Self::Robustness(command) => command.run(),
            Self::Augment(command) => command.run(),
            Self::Import(command) => command.run(),
            Self::Schema(command) => command.run(),
            Self::Match(command) => command.run(),
            Self::Verify(command) => command.run(),
            Self::Witnesses(command) => command.run(),
            Self::Rules(command) => command.run(),
            Self::Metrics(command) => command.run(),
            Self::Evolve(command) => command.run(),
            Self::Synth(command) => command.run(),
            Self::Tables(command) => command.run(),
            Self::Coverage(command) => command.run(),
            Self::Encode(command) => command.run(),
            Self::Shift(command) => command.run(),
            Self::Fit(command) => command.run(),
            Self::Adapt(command) => command.run(),
            Self::BenchEstimators(command) => command.run(),
            Self::Parse(command) => command.run(),
            Self::Translate(command) => command.run(),
            Self::Completions(command) => command.run(),
            Self::Man(command) => command.run(),
        }
    }
}
