//! `sqlgauge rules`.

use std::fmt::Write as _;

use anyhow::{Result, anyhow};
use clap::{Args, Subcommand};
use sqlgauge_etm::{Profiles, find, rules};

use crate::Verdict;
use crate::output::print;

/// List the equivalence rules, or explain one
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
    List,
    /// Print the page of a rule
    Explain {
        /// Number in the paper (P4, 14), number of ours (S3), or name
        rule: String,
    },
}

impl Rules {
    pub fn run(self) -> Result<Verdict> {
        let explained = match self.command {
            Some(RulesCommand::Explain { rule }) => Some(rule),
            Some(RulesCommand::List) | None => self.rule,
        };
        let text = match explained {
            None => list(),
            Some(rule) => {
                let found = find(&rule).ok_or_else(|| {
                    anyhow!("there is no rule {rule:?}; `sqlgauge rules list` shows all of them")
                })?;
                format!("{}\n", found.meta().page())
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
