//! Whether two queries mean the same: `sqlgauge match`.
//!
//! # Contract
//! A proof uses no foreign key that the rows of the given database break; the published rules trust them all, and where
//! only a schema is at hand they are trusted too, which the result says.

use std::sync::Arc;

use serde_json::{Value, json};
use sqlgauge_engine::{BrokenForeignKey, Database, Engine};
use sqlgauge_etm::{MatchReport, Matcher, NormalForm, Profile};
use sqlgauge_sql::schema::Schema;

use crate::error::Error;

/// What is known of the tables that the queries are over.
#[derive(Debug, Clone)]
pub struct SchemaFacts {
    /// The schema, without the foreign keys that are not to be relied on.
    pub schema: Arc<Schema>,
    /// The foreign keys that the rows break; `None` where no rows were looked at.
    pub broken: Option<Vec<BrokenForeignKey>>,
}

impl SchemaFacts {
    /// A schema alone: its foreign keys are trusted.
    pub fn of_schema(schema: Arc<Schema>) -> Self {
        Self { schema, broken: None }
    }

    /// What a database shows to rules of that profile about the tables that those queries reach.
    ///
    /// # Errors
    /// When not every query that looks at its rows could be run.
    pub fn of_database(
        engine: &dyn Engine,
        database: &Database,
        profile: Profile,
        queries: &[&str],
    ) -> Result<Self, Error> {
        if profile != Profile::Sound {
            return Ok(Self::of_schema(Arc::clone(database.schema())));
        }
        let entry = database.kept_schema_for(engine, queries);
        engine.check()?;
        Ok(Self { schema: Arc::clone(&entry.schema), broken: Some(entry.broken.clone()) })
    }
}

/// The comparison of two queries by the rules of a profile.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{SchemaFacts, match_pair};
/// use sqlgauge_etm::Profile;
/// use sqlgauge_sql::schema::Schema;
///
/// let schema = Schema::from_ddl("CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT)")?;
/// let facts = SchemaFacts::of_schema(schema.into());
/// let [left, right] = ["SELECT name FROM city WHERE id > 3", "SELECT name FROM city WHERE 3 < id"];
/// assert!(match_pair(&facts, Profile::Sound, left, right).verdict.is_equal());
/// # Ok(())
/// # }
/// ```
pub fn match_pair(facts: &SchemaFacts, profile: Profile, left: &str, right: &str) -> MatchReport {
    Matcher::new(&facts.schema, profile).compare(left, right)
}

/// A comparison as JSON: `profile`, `equal`, `verdict`, `difference`, `assumes`, `foreign_keys_checked`,
/// `broken_foreign_keys`, and of `left` and `right` the normal form with the rules that led to it.
pub fn comparison_to_json(comparison: &MatchReport, profile: Profile, facts: &SchemaFacts) -> Value {
    json!({
        "profile": profile.id(),
        "equal": comparison.verdict.is_equal(),
        "verdict": comparison.verdict.to_string(),
        "difference": comparison.difference,
        "assumes": comparison.assumes.iter().map(|assumption| {
            json!({"kind": assumption.kind.name(), "constraint": assumption.constraint})
        }).collect::<Vec<_>>(),
        "foreign_keys_checked": facts.broken.is_some(),
        "broken_foreign_keys": facts.broken.iter().flatten().map(|foreign_key| {
            json!({"key": foreign_key.key, "reason": foreign_key.reason})
        }).collect::<Vec<_>>(),
        "left": comparison.left.as_ref().map(form_to_json),
        "right": comparison.right.as_ref().map(form_to_json),
    })
}

fn form_to_json(form: &NormalForm) -> Value {
    let rules = form.applications.iter().map(|application| {
        json!({
            "rule": application.rule.id,
            "name": application.rule.name,
            "scope": application.scope,
            "before": application.before,
            "after": application.after,
        })
    });
    json!({"sql": form.sql, "rules": rules.collect::<Vec<_>>()})
}
