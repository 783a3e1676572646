//! `sqlgauge rules`.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::{Args, Subcommand};
use sqlgauge_core::cli::stdin::input_file;
use sqlgauge_core::{AblateJob, Ablation, OutputPath};
use sqlgauge_etm::{Profile, Profiles, find, rules};
use sqlgauge_report::document::{Document, Section, Table};

use super::report::errors::both_rates;
use crate::Verdict;
use crate::output::{print, print_document, print_json};

/// List the equivalence rules or those of `audit`, explain one, or measure what each one adds
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Rules {
    #[command(subcommand)]
    command: Option<RulesCommand>,
    /// Number in the paper (P4, 14), number of ours (S3), or name: the same as `explain`
    rule: Option<String>,
}

#[derive(Debug, Subcommand)]
enum RulesCommand {
    /// List all rules with the profiles that use them
    List {
        /// List the rules of `audit` instead: what they find, what they need, whether they are on
        #[arg(long)]
        audit: bool,
    },
    /// Print the page of a rule
    Explain {
        /// Number in the paper (P4, 14), number of ours (S3), or name
        rule: String,
    },
    /// Add the rules one by one, and count the errors of tree matching after each
    Ablate(Ablate),
}

/// Add the rules one by one, and count the errors of tree matching after each
///
/// The run has answers whose truth is known: by `verify` among its metrics, or by labels. The rules of resolution (names, aliases,
/// letter case, parentheses, `*`) cannot be left out; they are the first step.
#[derive(Debug, Args)]
struct Ablate {
    /// Run directory of `score`
    run: PathBuf,
    /// The rules to add: the paper's, or the sound ones
    #[arg(long, value_name = "METRIC", default_value = "etm-paper", value_parser = ["etm-paper", "etm"])]
    metric: String,
    /// Labels of people instead of the verdicts: TSV, CSV or JSONL with id and correct, or with a column per system
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    correct: Option<PathBuf>,
    /// Folder to write: ablation.json, ablation.csv, and a chart of each kind of error as SVG
    #[arg(long, value_name = "DIR")]
    out: Option<OutputPath>,
    /// Print JSON
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl Ablate {
    fn run(self) -> Result<Verdict> {
        let profile = if self.metric == "etm" { Profile::Sound } else { Profile::Paper };
        let job = AblateJob {
            labels: self.correct,
            out: self.out.map(Into::into),
            ..AblateJob::new(self.run, profile)
        };
        let ablation = crate::engine::run(self.quiet, |context| job.run(context))?;
        if self.json {
            print_json(&ablation)?;
        } else if !self.quiet {
            print_document(&steps(&ablation))?;
        }
        Ok(Verdict::Done)
    }
}

/// A row per step: false positives and false negatives of each system, in percent of its judged answers.
fn steps(ablation: &Ablation) -> Document {
    let systems = ablation.steps.last().map(|step| step.systems.as_slice()).unwrap_or_default();
    let names = systems.iter().map(|system| format!("{} n={}", system.system, system.counts.judged));
    let mut table = Table::new(std::iter::once("step".to_owned()).chain(names).chain(["adds".to_owned()]));
    for step in &ablation.steps {
        let cells = step.systems.iter().map(|system| both_rates(&system.counts));
        table.push(std::iter::once(step.step.clone()).chain(cells).chain([step.summary.clone()]));
    }
    let note = format!("held against {}: false positives / false negatives, percent", ablation.truth);
    Document::of(Section::new(ablation.metric, note, table))
}

impl Rules {
    pub(crate) fn run(self) -> Result<Verdict> {
        let (explained, of_audit) = match self.command {
            Some(RulesCommand::Explain { rule }) => (Some(rule), false),
            Some(RulesCommand::Ablate(ablate)) => return ablate.run(),
            Some(RulesCommand::List { audit }) => (None, audit),
            None => (self.rule, false),
        };
        let text = match explained {
            None if of_audit => list_of_audit(),
            None => list(),
            Some(rule) => {
                let of_audit = || Some(sqlgauge_audit::find(&rule)?.page());
                let page = find(&rule).map(sqlgauge_etm::Rule::page).or_else(of_audit).ok_or_else(|| {
                    anyhow!(
                        "unknown rule {rule:?}; `sqlgauge rules list` and `list --audit` show all of them"
                    )
                })?;
                format!("{page}\n")
            }
        };
        print(&text)?;
        Ok(Verdict::Done)
    }
}

fn list() -> String {
    let mut text = format!("{:<4} {:<34} {:<14} {}\n", "id", "name", "used by", "what it does");
    for rule in rules() {
        let profiles = match rule.profiles {
            Profiles::BOTH => "etm, etm-paper",
            Profiles::SOUND => "etm",
            Profiles::PAPER => "etm-paper",
            _ => "",
        };
        let _ = writeln!(text, "{:<4} {:<34} {profiles:<14} {}", rule.id, rule.name, rule.summary);
    }
    text
}

fn list_of_audit() -> String {
    let mut text = format!("{:<26} {:<8} {:<26} {}\n", "name", "findings", "needs", "what it finds");
    for rule in sqlgauge_audit::rules() {
        let (standing, needs) = (rule.standing.name(), rule.needs.name());
        let _ = writeln!(text, "{:<26} {standing:<8} {needs:<26} {}", rule.name, rule.summary);
    }
    text
}
