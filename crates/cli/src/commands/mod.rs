//! The sub-commands, one file each.

mod compare;
mod compat;
mod demo;
mod match_queries;
mod parse;
mod report;
mod rules;
mod schema;
mod score;
mod show;

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
    /// Compare two systems of a run: paired test, interval of the difference, items that differ
    Compare(compare::Compare),
    /// Write the report of a run in a format
    Report(report::ReportCommand),
    /// Show one item: question, both queries, both results, every metric and why
    Show(show::Show),
    /// Stand in for an official evaluation script: its flags, its table
    #[command(subcommand)]
    Compat(compat::Compat),
    /// Print the catalog of a database, a folder of databases or a tables.json as sqlgauge sees it
    Schema(schema::SchemaCommand),
    /// Tell whether two queries mean the same, without running them, and why
    Match(match_queries::Match),
    /// List the equivalence rules, or explain one
    #[command(subcommand)]
    Rules(rules::Rules),
    /// Resolve a query and print it with its features, or the error with its place
    Parse(parse::Parse),
}

impl Command {
    /// Runs the command.
    pub fn run(self) -> Result<Verdict> {
        match self {
            Self::Demo(command) => command.run(),
            Self::Score(command) => command.run(),
            Self::Compare(command) => command.run(),
            Self::Report(command) => command.run(),
            Self::Show(command) => command.run(),
            Self::Compat(command) => command.run(),
            Self::Schema(command) => command.run(),
            Self::Match(command) => command.run(),
            Self::Rules(command) => command.run(),
            Self::Parse(command) => command.run(),
        }
    }
}
