//! `sqlgauge match`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use sqlgauge_core::cli::stdin::{input_file, query};
use sqlgauge_core::{SchemaFacts, comparison_to_json, match_pair};
use sqlgauge_engine::{Engine, Limits};
use sqlgauge_etm::{AssumptionKind, MatchReport, MatchSide, MatchVerdict, Profile};

use crate::Verdict;
use crate::engine::engine;
use crate::options::{database_file, schema_of};
use crate::output::{print, print_json};

/// Decide by rules whether two queries mean the same, and say why
///
/// Exit code 0 if they are equal, 1 if they are not found equal, 2 if one of them or the schema cannot be read.
#[derive(Debug, Args)]
pub(crate) struct Match {
    /// The first query; `-` is standard input
    #[arg(long, value_name = "SQL", value_parser = query, requires = "right", required_unless_present = "queries")]
    left: Option<String>,
    /// The second query
    #[arg(long, value_name = "SQL", value_parser = query, requires = "left")]
    right: Option<String>,
    /// The two queries, without --left and --right before them
    #[arg(value_name = "SQL", num_args = 2, value_parser = query, conflicts_with_all = ["left", "right"])]
    queries: Vec<String>,
    /// SQLite file whose schema the queries are over, or a folder with one
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
    pub(crate) fn run(self) -> Result<Verdict> {
        let profile = Profile::from(self.profile);
        let facts = self.facts(profile)?;
        let [left, right] = self.pair();
        let comparison = match_pair(&facts, profile, left, right);
        let is_unresolved = matches!(comparison.verdict, MatchVerdict::Unresolved(..));
        if self.json {
            print_json(&comparison_to_json(&comparison, profile, &facts))?;
        } else if !is_unresolved {
            print(&describe(&comparison, &facts))?;
        }
        if is_unresolved {
            bail!("{}", comparison.verdict);
        }
        Ok(if comparison.verdict.is_equal() { Verdict::Done } else { Verdict::NotEqual })
    }
}

impl Match {
    /// Both queries; the arguments require them.
    fn pair(&self) -> [&str; 2] {
        let named = self.left.iter().chain(&self.right);
        let mut texts = named.chain(&self.queries).map(String::as_str);
        [texts.next().unwrap_or_default(), texts.next().unwrap_or_default()]
    }

    /// A proof uses no foreign key that the database breaks.
    fn facts(&self, profile: Profile) -> Result<SchemaFacts> {
        if let Some(path) = &self.db {
            let engine = engine(Limits::default())?;
            let database = engine.open(&database_file(path)?)?;
            return Ok(SchemaFacts::of_database(&engine, &database, profile, &self.pair())?);
        }
        // One of the two is there: the arguments require it.
        let ddl = self.schema.as_deref().unwrap_or_else(|| "".as_ref());
        Ok(SchemaFacts::of_schema(Arc::new(schema_of(ddl)?)))
    }
}

fn describe(comparison: &MatchReport, facts: &SchemaFacts) -> String {
    let mut text = match &comparison.verdict {
        MatchVerdict::Different => "not found equal\n".to_owned(),
        verdict => format!("{verdict}\n"),
    };
    for assumption in &comparison.assumes {
        let _ = writeln!(text, "assumes: {assumption}");
    }
    if trusts_foreign_keys(comparison, facts) {
        let _ =
            writeln!(text, "The foreign keys are trusted: no database is at hand to check them (--db FILE)");
    }
    for broken in facts.broken.iter().flatten() {
        let _ = writeln!(text, "not used: FOREIGN KEY {broken}");
    }
    if let Some(difference) = &comparison.difference {
        let _ = writeln!(text, "first difference after the rules: {difference}");
    }
    for (name, form) in [(MatchSide::Left, &comparison.left), (MatchSide::Right, &comparison.right)] {
        let Some(form) = form else { continue };
        let _ = writeln!(text, "\n{name}, in normal form\n  {}", form.sql);
        for application in &form.applications {
            let _ = writeln!(text, "  rule {application}");
        }
    }
    text
}

fn trusts_foreign_keys(comparison: &MatchReport, facts: &SchemaFacts) -> bool {
    facts.broken.is_none()
        && comparison.assumes.iter().any(|assumption| assumption.kind == AssumptionKind::ForeignKey)
}
