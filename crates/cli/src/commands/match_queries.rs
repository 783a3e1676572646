//! `sqlgauge match`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use sqlgauge_engine::{BrokenForeignKey, Engine, Limits};
use sqlgauge_etm::{AssumptionKind, Comparison, Matcher, NormalForm, Profile};
use sqlgauge_sql::schema::Schema;

use crate::Verdict;
use crate::engine::engine;
use crate::options::schema_of;
use crate::output::{print, print_json};
use crate::stdin::{input_file, query};

/// Tell whether two queries mean the same.
#[derive(Debug, Args)]
pub struct Match {
    /// The first query; `-` is standard input
    #[arg(value_parser = query)]
    left: String,
    /// The second query
    #[arg(value_parser = query)]
    right: String,
    /// SQLite file whose schema the queries are over
    #[arg(long, value_name = "FILE", required_unless_present = "schema", conflicts_with = "schema")]
    db: Option<PathBuf>,
    /// `.sql` file with the DDL instead; `-` is standard input
    #[arg(long, value_name = "FILE", value_parser = input_file)]
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
        let profile = Profile::from(self.profile);
        let known = self.known(profile)?;
        let comparison = Matcher::new(&known.schema, profile).compare(&self.left, &self.right);
        if self.json {
            print_json(&json(&comparison, profile, &known))?;
        } else {
            print(&describe(&comparison, &known))?;
        }
        if let sqlgauge_etm::Verdict::Unresolved(..) = comparison.verdict {
            bail!("{}", comparison.verdict);
        }
        Ok(if comparison.verdict.is_equal() { Verdict::Done } else { Verdict::NotEqual })
    }
}

/// What is known of the tables that the queries are over.
struct Known {
    schema: Arc<Schema>,
    /// The foreign keys that the rows break; `None` where no database is at hand to look at.
    broken: Option<Vec<BrokenForeignKey>>,
}

impl Match {
    /// A proof uses no foreign key that the database breaks; the published rules trust them all.
    fn known(&self, profile: Profile) -> Result<Known> {
        if let (Some(path), Profile::Sound) = (&self.db, profile) {
            let engine = engine(Limits::default())?;
            let database = engine.open(path)?;
            let kept = database.kept_schema(&engine);
            return Ok(Known { schema: Arc::clone(&kept.schema), broken: Some(kept.broken.clone()) });
        }
        // One of the two is there: the arguments require it.
        let source = self.db.as_deref().or(self.schema.as_deref()).unwrap_or_else(|| "".as_ref());
        Ok(Known { schema: Arc::new(schema_of(source)?), broken: None })
    }
}

fn describe(comparison: &Comparison, known: &Known) -> String {
    let mut text = format!("{}\n", comparison.verdict);
    for assumption in &comparison.assumes {
        let _ = writeln!(text, "assumes: {assumption}");
    }
    if trusts_foreign_keys(comparison, known) {
        let _ =
            writeln!(text, "The foreign keys are trusted: no database is at hand to check them (--db FILE)");
    }
    for broken in known.broken.iter().flatten() {
        let _ = writeln!(text, "not used: FOREIGN KEY {broken}");
    }
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

fn trusts_foreign_keys(comparison: &Comparison, known: &Known) -> bool {
    known.broken.is_none() && comparison.assumes.iter().any(|own| own.kind == AssumptionKind::ForeignKey)
}

fn json(comparison: &Comparison, profile: Profile, known: &Known) -> serde_json::Value {
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
        "assumes": comparison.assumes.iter().map(|own| {
            serde_json::json!({"kind": own.kind.name(), "constraint": own.constraint})
        }).collect::<Vec<_>>(),
        "foreign_keys_checked": known.broken.is_some(),
        "broken_foreign_keys": known.broken.iter().flatten().map(|own| {
            serde_json::json!({"key": own.key, "reason": own.reason})
        }).collect::<Vec<_>>(),
        "left": form(&comparison.left),
        "right": form(&comparison.right),
    })
}
