//! The first witnesses of a question.

use std::sync::Arc;

use sqlgauge_engine::ResultSet;
use sqlgauge_search::mutation::Mutations;
use sqlgauge_search::{Search, literal};
use sqlgauge_sql::tree::{Expr, Literal, Query};
use sqlgauge_sql::{Dialect, print, resolve};

use super::StoredWitness;
use crate::golds::Gold;
use crate::subject::Subject;

/// Most mutations of one gold; of more, so many at equal distances.
const MUTATIONS: usize = 48;

/// Databases on which one mutation is tried.
const DATABASES: usize = 96;

/// Most witnesses that are made at first.
const MOST: usize = 24;

/// Most values of a gold's rows that are written out as literals.
const ECHO: usize = 400;

/// What the search made of a gold.
#[derive(Debug, Default)]
pub(super) struct Base {
    pub(super) kept: Vec<Arc<StoredWitness>>,
    /// Other queries that were tried, and how many of them some witness tells from the gold.
    pub(super) tried: usize,
    pub(super) told: usize,
    /// How many of them the rules prove to be the gold in other words.
    pub(super) equal: usize,
    /// Why there can be none, as a code.
    pub(super) none: Option<String>,
}

impl Base {
    pub(super) fn make(gold: &Gold, subject: &Subject, search: &Search) -> Self {
        let mut base = Self::default();
        for other in others(gold, subject) {
            base.tried += 1;
            let databases = base.kept.iter().map(|kept| &kept.witness);
            match search.told(databases, &gold.text, &other) {
                Ok(Some(_)) => base.told += 1,
                Ok(None) if base.kept.len() >= MOST => {}
                Ok(None) if subject.proves_equal(&gold.text, &other) => base.equal += 1,
                Ok(None) => {
                    let found = search.refute_within(&gold.text, &other, DATABASES);
                    if let Some(found) = found.refutation().filter(|found| found.needs().is_empty()) {
                        base.told += 1;
                        base.kept.push(Arc::new(StoredWitness::new(found.database().clone())));
                    }
                }
                Err(reason) => return Self { none: Some(reason.code()), ..Self::default() },
            }
        }
        base
    }
}

/// Queries that an answer must not be taken for: the gold without rows, the gold's rows by heart, and its mutations.
fn others(gold: &Gold, subject: &Subject) -> Vec<String> {
    let schema = &subject.schema;
    let mut others: Vec<String> = Vec::new();
    others.extend(gold.rows().and_then(|rows| echo(rows)));
    let Ok(query) = resolve(&gold.text, schema) else { return others };
    let printed = |query: &Query| print(query, schema, Dialect::Sqlite).ok();
    let none = Query { limit: Some(Expr::Literal(Literal::Integer(0))), offset: None, ..query.clone() };
    others.extend(printed(&none));
    let mutations = Mutations::new(&query, schema);
    let count = mutations.count();
    let numbers = (0..count.min(MUTATIONS)).map(|number| number * count / count.min(MUTATIONS));
    others.extend(numbers.filter_map(|number| printed(&mutations.get(number)?)));
    others
}

/// The rows as a query that reads nothing; `None` where there are none, or too many.
pub(crate) fn echo(rows: &ResultSet) -> Option<String> {
    if rows.is_empty() || rows.values().len() > ECHO {
        return None;
    }
    let row = |row: &[sqlgauge_engine::Value]| {
        format!("({})", row.iter().map(literal).collect::<Vec<_>>().join(", "))
    };
    Some(format!("VALUES {}", rows.rows().map(row).collect::<Vec<_>>().join(", ")))
}
