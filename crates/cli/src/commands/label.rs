//! `sqlgauge label`.

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;
use sqlgauge_base::{counted, listed};
use sqlgauge_core::{
    LabelAddJob, LabelNextJob, LabelPlanJob, LabelTrial, LabelTrialJob, label_document, label_goal,
};
use sqlgauge_estimate::labelling::LabelFolder;
use std::path::PathBuf;

use crate::Verdict;
use crate::output::{account, command_line, print, print_document, print_json};
use crate::solver::with_solver;

/// Label as few answers as make an accuracy, a difference or a leaderboard sure
#[derive(Debug, Args)]
pub(crate) struct Label {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Plan which answers to label, so that a number is known within a width
    Plan(Box<Plan>),
    /// Show the next answers to label
    Next(Next),
    /// Add a verdict, or a file of labels
    Add(Add),
    /// Tell what the labels say, and how many more are likely
    Status(Status),
    /// Try a plan with a simulated person, where labels of all answers are there
    Trial(Trial),
}

#[derive(Debug, Args)]
struct Plan {
    #[command(flatten)]
    job: LabelPlanJob,
    /// Print JSON
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Args)]
struct Next {
    #[command(flatten)]
    job: LabelNextJob,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Add {
    #[command(flatten)]
    job: LabelAddJob,
    /// Your name in the labels; that of your account without it
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Status {
    /// Folder that `label plan` wrote
    #[arg(long = "in", value_name = "DIR")]
    folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Trial {
    #[command(flatten)]
    job: LabelTrialJob,
    /// Print JSON: labels, estimates and radii of every run
    #[arg(long)]
    json: bool,
}

impl Label {
    pub(crate) fn run(self) -> Result<Verdict> {
        match self.action {
            Action::Plan(plan) => plan.run()?,
            Action::Next(next) => next.run()?,
            Action::Add(add) => add.run()?,
            Action::Status(status) => {
                show(&LabelFolder::open(&status.folder).map_err(sqlgauge_core::Error::from)?, status.json)?;
            }
            Action::Trial(trial) => trial.run()?,
        }
        Ok(Verdict::Done)
    }
}

impl Plan {
    fn run(self) -> Result<()> {
        let job = LabelPlanJob { verify: with_solver(self.job.verify)?, command: command_line(), ..self.job };
        let folder = crate::engine::run(self.quiet, |context| job.run(context))?;
        if self.quiet {
            return Ok(());
        }
        if self.json {
            return print_json(&folder.standings());
        }
        let standings = folder.standings();
        let questions = counted(standings.questions, "question");
        let share = if standings.likely < standings.questions {
            format!("about {} of {questions}", standings.likely)
        } else {
            format!("all {questions}")
        };
        print(&format!(
            "Plan: {}\nLabel {share}, for {}.\nNext: sqlgauge label next --in {}\n",
            folder.path().join("plan.json").display(),
            label_goal(&folder),
            folder.path().display()
        ))
    }
}

impl Next {
    fn run(self) -> Result<()> {
        let questions = crate::engine::run(false, |context| self.job.run(context))?;
        if self.json {
            return print_json(&questions);
        }
        let folder = self.job.folder.display().to_string();
        if questions.is_empty() {
            return show(&LabelFolder::open(&self.job.folder).map_err(sqlgauge_core::Error::from)?, false);
        }
        questions.iter().try_for_each(|question| print_document(&question.document(&folder)))
    }
}

impl Add {
    fn run(self) -> Result<()> {
        let job = LabelAddJob { by: self.by.unwrap_or_else(account), ..self.job };
        let added = job.run()?;
        let folder = LabelFolder::open(&job.folder).map_err(sqlgauge_core::Error::from)?;
        if self.json {
            return print_json(&json!({"added": added, "standings": folder.standings()}));
        }
        let mut text = format!("Added {}", counted(added.labels, "label"));
        if added.replaced > 0 {
            text = format!("{text}, {} in place of an earlier one", added.replaced);
        }
        for (ids, what) in [
            (&added.repeated, "already there"),
            (&added.waiting, "not drawn yet, counts once it is"),
            (&added.different, "left out, of a different answer"),
        ] {
            if !ids.is_empty() {
                text = format!("{text}; {what}: {}", listed(ids));
            }
        }
        print(&(text + ".\n"))?;
        show(&folder, false)
    }
}

impl Trial {
    fn run(self) -> Result<()> {
        let trials = self.job.run()?;
        if self.json { print_json(&trials) } else { print_document(&LabelTrial::document(&trials)) }
    }
}

fn show(folder: &LabelFolder, as_json: bool) -> Result<()> {
    let standings = folder.standings();
    if as_json { print_json(&standings) } else { print_document(&label_document(folder, &standings)) }
}
