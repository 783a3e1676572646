//! The sub-commands, one file each.

mod adapt;
mod audit;
mod bundle;
mod compare;
mod compat;
mod completions;
mod coverage;
mod demo;
mod encode;
mod engines;
mod estimate;
#[cfg(feature = "evaluator")]
mod evaluated;
mod evolve;
mod fit;
mod import;
mod init;
mod inspect;
mod label;
mod left_out;
mod match_queries;
mod merge;
mod metrics;
mod monitor;
mod pack;
mod predict;
mod report;
mod robustness;
mod rules;
mod run;
mod score;
mod shift;
mod show;
mod synth;
mod tables;
mod translate;
mod trust;
mod verify;
mod view;
mod vote;

use std::fmt::Write as _;

use anyhow::Result;
use clap::Subcommand;

use crate::Verdict;

/// What sqlgauge can be asked to do. A command has its options once it is built.
#[derive(Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Tour the product on a bundled sample benchmark
    Demo(demo::Demo),
    /// Score predictions against gold queries
    Score(Box<score::Score>),
    /// Write what `run` reads: sqlgauge.toml, questions to begin with, a workflow for GitHub
    Init(init::Init),
    /// Ask an application golden questions, score its answers, and compare them with the last run
    Run(Box<run::Run>),
    /// Write the results of a run as one file that anyone can score again
    ///
    /// Executes golds and predictions of the run once more and keeps every result with its types, the engine, and the hashes of all
    /// inputs. `sqlgauge score --results FILE.bundle --out DIR` scores it, without databases.
    Bundle(bundle::Bundle),
    /// Merge the shards of a run
    Merge(merge::Merge),
    /// Compare two systems: paired test, interval of the difference, items that differ
    Compare(compare::Compare),
    /// Choose one of several answers to each question
    Vote(Box<vote::Vote>),
    /// Open a dashboard over runs on this machine, or write it as a static site
    View(view::View),
    /// Write a run's report as HTML, Markdown, CSV, JUnit or JSON, or count the errors of its metrics
    #[command(alias = "errors")]
    Report(report::ReportCommand),
    /// Show items: both queries, both results, and why each score
    Show(show::Show),
    /// Find golds that may be wrong: rules over query, schema, rows and question
    Audit(Box<audit::Audit>),
    /// Run with the flags and the table of an official script
    #[command(subcommand)]
    Compat(compat::Compat),
    /// Ask a language model for the SQL of questions
    Predict(Box<predict::Predict>),
    /// Estimate accuracy without gold queries, from runs you have already scored
    Estimate(Box<estimate::EstimateCommand>),
    /// Label as few answers as make an accuracy, a difference or a leaderboard sure
    Label(label::Label),
    /// Watch batches of answers without gold queries: exit code 1 if they change
    Monitor(Box<monitor::Monitor>),
    /// Measure what systems lose when schemas change
    Robustness(Box<robustness::RobustnessCommand>),
    /// Import labels judged elsewhere as a scored run (runs no SQL)
    Import(import::Import),
    /// List the engines that run queries, make a role for one, or try its locks
    Engines(engines::Engines),
    /// Print the schema of a database, or a query resolved over one with its features
    #[command(aliases = ["schema", "parse"])]
    Inspect(inspect::Inspect),
    /// Decide by rules whether two queries mean the same, and say why
    ///
    /// Exit code 0 if they are equal, 1 if they are not found equal, 2 if one of them or the schema cannot be read.
    Match(match_queries::Match),
    /// Find a database on which two queries differ, or prove that there is none
    ///
    /// A pair: --left and --right. An item of a run: RUN --id ID. A file of pairs: --pairs and --out. Whole prediction files: --gold,
    /// --pred and --out, which write a run like that of `score`.
    ///
    /// Exit code of a pair: 0 if they are equivalent, 1 if they are different, 3 if it is unknown, 2 if one of them or the schema
    /// cannot be read. Exit code of a run: 0 if every pair has been looked at, whatever the verdicts, 2 if an input cannot be read.
    Verify(Box<verify::Verify>),
    /// Make a test suite of a benchmark, or of a run's counterexamples: databases on which wrong answers show
    #[command(alias = "witnesses")]
    Pack(Box<pack::MakePack>),
    /// List the equivalence rules or those of `audit`, explain one, or measure what each one adds
    Rules(rules::Rules),
    /// List the metrics: what they measure and what they need
    Metrics(metrics::Metrics),
    /// Change the schemas of a benchmark, with its databases and golds, or make training data of them
    #[command(alias = "augment")]
    Evolve(Box<evolve::Evolve>),
    /// Make a labelled corpus from your databases
    Synth(Box<synth::Synth>),
    /// Make relational databases from CSV and Parquet files
    Tables(tables::Tables),
    /// Compare what corpora cover
    Coverage(coverage::CoverageCommand),
    /// Encode questions, schemas and predictions as vectors
    Encode(Box<encode::Encode>),
    /// Measure how far one workload is from another
    Shift(shift::Shift),
    /// Train an evaluator: how accuracy falls with shift
    Fit(fit::Fit),
    /// Adapt an evaluator to another system
    Adapt(adapt::Adapt),
    /// Translate a query to other SQL dialects; refuses rather than change its meaning
    Translate(translate::Translate),
    /// Let a project's sqlgauge.toml name programs, servers and environment variables
    Trust(trust::Trust),
    /// Print the completion script of a shell
    Completions(completions::Completions),
    /// Print the manual page, or write the pages of all commands into a folder
    Man(completions::Man),
}

/// What a person wants, with the commands for it, in the order of the help.
const GROUPS: [(&str, &[&str]); 8] = [
    ("Score", &["demo", "score", "init", "run", "compat", "merge", "import", "bundle", "vote", "audit"]),
    ("Look at a run", &["view", "compare", "show", "report", "metrics"]),
    ("Are two queries equal?", &["match", "verify", "pack", "rules"]),
    ("Without labels", &["estimate", "monitor", "label"]),
    ("Under schema change", &["evolve", "robustness"]),
    ("Make data", &["synth", "tables", "predict"]),
    ("Tools", &["engines", "translate", "inspect", "trust", "completions", "man"]),
    ("Research", &["coverage", "encode", "shift", "fit", "adapt"]),
];

/// Old names of commands that are a switch of another today.
pub(crate) const OLD_NAMES: [(&str, &str); 3] =
    [("augment", "--training"), ("errors", "--errors"), ("witnesses", "--witnesses")];

/// The help of the program, with the commands by group.
pub(crate) fn help_template() -> String {
    let commands = Command::augment_subcommands(clap::Command::new("sqlgauge"));
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or_default();
    let mut text = String::from("{about}\n\n{usage-heading} {usage}\n");
    let mut missing = Vec::new();
    for (group, names) in GROUPS {
        let (there, absent): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| left_out::has(name));
        missing.extend(absent);
        let _infallible = writeln!(text, "\n{group}:");
        for command in there.iter().filter_map(|name| commands.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _infallible = writeln!(text, "  {:width$}  {about}", command.get_name());
        }
    }
    if !missing.is_empty() {
        let missing = missing.join(", ");
        let _infallible = writeln!(text, "\nNot in this build, but in one with `--features full`: {missing}");
    }
    text + "\n`sqlgauge help COMMAND` has the options of a command.\n\nOptions:\n{options}"
}

impl Command {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<Verdict> {
        if let Some(missing) = left_out::left_out(&self) {
            return Err(missing.into());
        }
        match self {
            Self::Demo(command) => command.run(),
            Self::Score(command) => command.run(),
            Self::Init(command) => command.run(),
            Self::Run(command) => command.run(),
            Self::Bundle(command) => command.run(),
            Self::Merge(command) => command.run(),
            Self::Compare(command) => command.run(),
            Self::Vote(command) => command.run(),
            #[cfg(feature = "view")]
            Self::View(command) => command.run(),
            Self::Report(command) => command.run(),
            Self::Show(command) => command.run(),
            Self::Audit(command) => command.run(),
            Self::Compat(command) => command.run(),
            #[cfg(feature = "services")]
            Self::Predict(command) => command.run(),
            Self::Estimate(command) => command.run(),
            Self::Label(command) => command.run(),
            Self::Monitor(command) => command.run(),
            Self::Robustness(command) => command.run(),
            Self::Import(command) => command.run(),
            Self::Engines(command) => command.run(),
            Self::Inspect(command) => command.run(),
            Self::Match(command) => command.run(),
            Self::Verify(command) => command.run(),
            Self::Pack(command) => command.run(),
            Self::Rules(command) => command.run(),
            Self::Metrics(command) => command.run(),
            Self::Evolve(command) => command.run(),
            Self::Synth(command) => command.run(),
            Self::Tables(command) => command.run(),
            Self::Coverage(command) => command.run(),
            #[cfg(feature = "parquet")]
            Self::Encode(command) => command.run(),
            #[cfg(feature = "parquet")]
            Self::Shift(command) => command.run(),
            #[cfg(feature = "evaluator")]
            Self::Fit(command) => command.run(),
            #[cfg(feature = "evaluator")]
            Self::Adapt(command) => command.run(),
            Self::Translate(command) => command.run(),
            Self::Trust(command) => command.run(),
            #[cfg(feature = "pages")]
            Self::Completions(command) => command.run(),
            #[cfg(feature = "pages")]
            Self::Man(command) => command.run(),
            #[cfg(not(all(
                feature = "evaluator",
                feature = "services",
                feature = "view",
                feature = "pages"
            )))]
            _ => unreachable!("`left_out` refuses the others"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let commands = Command::augment_subcommands(clap::Command::new("sqlgauge"));
        let listed = commands.get_subcommands().filter(|command| !command.is_hide_set());
        let mut named: Vec<&str> = listed.map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        named.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(named, grouped);
    }

    /// The list has the text of the variant, the help of a command that of its options.
    #[test]
    fn a_command_says_the_same_in_the_list_and_in_its_help() {
        let (listed, built) = (Command::augment_subcommands(clap::Command::new("sqlgauge")), crate::built());
        for command in listed.get_subcommands() {
            let help = built.find_subcommand(command.get_name()).unwrap();
            let texts = |of: &clap::Command| {
                [of.get_about(), of.get_long_about()].map(|text| text.map(ToString::to_string))
            };
            assert_eq!(texts(command), texts(help), "{}", command.get_name());
        }
    }
}
