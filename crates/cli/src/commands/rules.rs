//! `sqlgauge rules`.

use std::fmt::Write as _;

use anyhow::{Result, anyhow};
use clap::{Args, Subcommand};
use sqlgauge_etm::{Profiles, find, rules};

use crate::Verdict;
use crate::output::print;

/// List the equivalence rules or those of `audit`, or explain one
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Rules {
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
}

impl Rules {
    pub fn run(self) -> Result<Verdict> {
        let (explained, of_audit) = match self.command {
            Some(RulesCommand::Explain { rule }) => (Some(rule), false),
            Some(RulesCommand::List { audit }) => (None, audit),
            None => (self.rule, false),
        };
        let text = match explained {
            None if of_audit => list_of_audit(),
            None => list(),
            Some(rule) => {
                let of_audit = || Some(sqlgauge_audit::find(&rule)?.meta().page());
                let page = find(&rule).map(|found| found.meta().page()).or_else(of_audit).ok_or_else(|| {
                    anyhow!("there is no rule {rule:?}; `sqlgauge rules list` and `list --audit` show all of them")
                })?;
                format!("{page}\n")
            }
        };
        print(&text)?;
        Ok(Verdict::Done)
    }
}

fn list() -> String {
    let mut text = format!("{:<4} {:<34} {:<12} {}\n", "id", "name", "profiles", "what it does");
    for rule in rules() {
        let meta = rule.meta();
        let profiles = match meta.profiles {
            Profiles::BOTH => "sound, paper",
            Profiles::SOUND => "sound",
            Profiles::PAPER => "paper",
            _ => "",
        };
        let _ = writeln!(text, "{:<4} {:<34} {profiles:<12} {}", meta.id, meta.name, meta.summary);
    }
    text
}

fn list_of_audit() -> String {
    let mut text = format!("{:<26} {:<8} {:<26} {}\n", "name", "findings", "needs", "what it finds");
    for meta in sqlgauge_audit::rules().iter().map(|rule| rule.meta()) {
        let (standing, needs) = (meta.standing.name(), meta.needs.name());
        let _ = writeln!(text, "{:<26} {standing:<8} {needs:<26} {}", meta.name, meta.summary);
    }
    text
}
