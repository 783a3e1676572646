//! `sqlgauge match`.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use sqlgauge_etm::{Comparison, Matcher, NormalForm, Profile};

use crate::Verdict;
use crate::options::schema_of;
use crate::output::print;

/// Tell whether two queries mean the same, without running them, and why
#[derive(Debug, Args)]
pub struct Match {
    /// The first query
    left: String,
    /// The second query
    right: String,
    /// SQLite file whose schema the queries are over
    #[arg(long, value_name = "FILE", required_unless_present = "schema", conflicts_with = "schema")]
    db: Option<PathBuf>,
    /// `.sql` file with the CREATE TABLE statements instead
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Only rules that hold on every database, or the rules as published
    #[arg(long, value_enum, default_value = "sound")]
    profile: ProfileName,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ProfileName {
    /// `etm@1`
    Sound,
    /// `etm-paper@1`
    Paper,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Sound => Self::Sound,
            ProfileName::Paper => Self::Paper,
        }
    }
}

impl Match {
    pub fn run(self) -> Result<Verdict> {
        // One of the two is there: the arguments require it.
        let source = self.db.as_deref().or(self.schema.as_deref()).unwrap_or_else(|| "".as_ref());
        let schema = schema_of(source)?;
        let profile = Profile::from(self.profile);
        let comparison = Matcher::new(&schema, profile).compare(&self.left, &self.right);
        let text =
            if self.json { format!("{:#}\n", json(&comparison, profile)) } else { describe(&comparison) };
        print(text.as_bytes())?;
        Ok(Verdict::Done)
    }
}

fn describe(comparison: &Comparison) -> String {
    let mut text = format!("{}\n", comparison.verdict);
    if let Some(difference) = &comparison.difference {
        let _ = writeln!(text, "first difference: {difference}");
    }
    for (name, form) in [("left", &comparison.left), ("right", &comparison.right)] {
        let Some(form) = form else { continue };
        let _ = writeln!(text, "\n{name}, in normal form\n  {}", form.sql);
        for application in &form.applications {
            let _ = writeln!(text, "  rule {application}");
        }
    }
    text
}

fn json(comparison: &Comparison, profile: Profile) -> serde_json::Value {
    let form = |form: &Option<NormalForm>| {
        form.as_ref().map(|form| {
            let rules = form.applications.iter().map(|application| {
                serde_json::json!({
                    "rule": application.rule.id,
                    "name": application.rule.name,
                    "scope": application.scope,
                    "before": application.before,
                    "after": application.after,
                })
            });
            serde_json::json!({"sql": form.sql, "rules": rules.collect::<Vec<_>>()})
        })
    };
    serde_json::json!({
        "profile": profile.id(),
        "equal": comparison.verdict.is_equal(),
        "verdict": comparison.verdict.to_string(),
        "difference": comparison.difference,
        "left": form(&comparison.left),
        "right": form(&comparison.right),
    })
}
