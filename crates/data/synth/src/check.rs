//! The checks that a query must pass before it becomes a pair.
//!
//! # Contract
//! In this order, and each with a reason of its own if it does not pass: the tree can be printed; the text resolves to the
//! same tree again; it runs within the limits; it returns a row; what it returns is not NULL, 0 or nothing throughout; and a
//! LIMIT does not cut through rows that its ORDER BY leaves equal, so that the result is the same on every engine. The tree
//! decides what is the same: two texts of one tree are one query. On a server the text is the tree's translation.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sqlgauge_base::{Random, seed_of};
use sqlgauge_dialects::{Dialect, SQLITE, TypedSchema, translate};
use sqlgauge_engine::{Database, Engine, Failure, FailureKind, Outcome, ResultSet, Value};
use sqlgauge_etm::law::Stepper;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{Expr, Literal, Query, RelationSource};
use sqlgauge_sql::visit::each_relation;
use sqlgauge_sql::{Aliases, PrintDialect, ordered, print, print_as_written, resolve};

use crate::dialects::DialectText;

/// Why a query is no pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "DroppedReason"))]
#[serde(rename_all = "snake_case")]
pub enum RejectionReason {
    /// SQL has no words for the tree.
    Unprintable,
    /// The text could not be resolved.
    Unresolved,
    /// The text resolves to another tree.
    OtherTree,
    /// It takes too long, or returns too much.
    TooLarge,
    /// The engine refuses it, or it fails while it runs.
    Fails,
    /// It returns no row.
    Empty,
    /// It returns nothing but NULL and 0.
    Vacuous,
    /// Rows on both sides of its LIMIT are equal under its ORDER BY.
    TiedLimit,
    /// Another query of the corpus on that database has the same tree.
    Duplicate,
    /// There is no question for it.
    Unsayable,
}

/// A query that passed.
#[derive(Debug, Clone)]
pub struct CheckedQuery {
    /// The query, without names that do not matter.
    pub query: Query,
    pub sql: String,
    /// What stands for the tree: two queries of one database are the same if these are.
    pub digest: u64,
    pub rows: Arc<ResultSet>,
    /// Virtual-machine steps that it took.
    pub vm_steps: u64,
}

/// Runs the checks over one database.
#[derive(Clone, Copy)]
pub struct Checker<'a> {
    schema: &'a Schema,
    database: &'a Database,
    engine: &'a dyn Engine,
    /// The dialect of a server, and the types of its columns.
    server: Option<(&'a TypedSchema<'a>, &'static Dialect)>,
}

impl<'a> Checker<'a> {
    /// The checks over that database. The schema is the database's own.
    pub fn new(schema: &'a Schema, database: &'a Database, engine: &'a dyn Engine) -> Self {
        Self { schema, database, engine, server: None }
    }

    /// The same on a server of that dialect.
    #[must_use]
    pub fn on_server(self, typed: &'a TypedSchema<'a>, dialect: &'static Dialect) -> Self {
        Self { server: Some((typed, dialect)), ..self }
    }

    /// Whether the texts are SQLite's.
    pub(crate) fn is_sqlite(&self) -> bool {
        self.server.is_none()
    }

    /// On a server, the query in SQLite's words too, by the name of the dialect.
    pub(crate) fn in_sqlite(&self, query: &Query) -> BTreeMap<String, DialectText> {
        let text = print(query, self.schema, PrintDialect::Sqlite).ok().filter(|_| !self.is_sqlite());
        text.into_iter().map(|sql| (SQLITE.to_owned(), DialectText::Sql(sql))).collect()
    }

    /// The query as text of the engine, with every name made unique.
    pub(crate) fn text(&self, query: &Query) -> Option<String> {
        match self.server {
            None => print(query, self.schema, PrintDialect::Sqlite).ok(),
            Some((typed, dialect)) => translate(query, typed, dialect).ok(),
        }
    }

    /// Checks a query; how its relations are called is drawn.
    ///
    /// # Errors
    /// The first check that it does not pass.
    pub fn check(&self, query: &Query, random: &mut Random) -> Result<CheckedQuery, RejectionReason> {
        let canonical = Stepper::start(query);
        let printed =
            print(&canonical, self.schema, PrintDialect::Sqlite).map_err(|_| RejectionReason::Unprintable)?;
        let sql = match self.server {
            None => self.written(query, &canonical, &printed, random)?,
            Some(_) => self.text(&canonical).ok_or(RejectionReason::Unprintable)?,
        };
        let execution = self.engine.run(self.database, &sql);
        let rows = match execution.outcome {
            Outcome::Rows(rows) => rows,
            Outcome::Failed(failure) => return Err(reason_of(&failure)),
        };
        if rows.is_empty() {
            return Err(RejectionReason::Empty);
        }
        if is_vacuous(&rows) {
            return Err(RejectionReason::Vacuous);
        }
        if self.is_tied(&canonical)? {
            return Err(RejectionReason::TiedLimit);
        }
        Ok(CheckedQuery {
            query: canonical,
            sql,
            digest: seed_of(&printed),
            rows,
            vm_steps: execution.vm_steps,
        })
    }

    /// The rows of a text; `None` if it does not run within the limits.
    pub fn rows(&self, sql: &str) -> Option<Arc<ResultSet>> {
        self.engine.run(self.database, sql).rows().cloned()
    }

    /// The text as a person would write it, if that means the same; else with every name made unique.
    fn written(
        &self,
        query: &Query,
        canonical: &Query,
        printed: &str,
        random: &mut Random,
    ) -> Result<String, RejectionReason> {
        let aliases = if random.chance(50) { numbered(query) } else { Aliases::new() };
        if let Ok(text) = print_as_written(query, self.schema, PrintDialect::Sqlite, &aliases, None)
            && self.is_same(&text, canonical).unwrap_or(false)
        {
            return Ok(text);
        }
        if self.is_same(printed, canonical)? {
            Ok(printed.to_owned())
        } else {
            Err(RejectionReason::OtherTree)
        }
    }

    fn is_same(&self, text: &str, canonical: &Query) -> Result<bool, RejectionReason> {
        let again = resolve(text, self.schema).map_err(|_| RejectionReason::Unresolved)?;
        Ok(Stepper::start(&again) == *canonical)
    }

    /// Whether LIMIT cuts through rows that ORDER BY leaves equal.
    fn is_tied(&self, query: &Query) -> Result<bool, RejectionReason> {
        let (Some(limit), Some(mut with_keys)) = (number(query.limit.as_ref()), ordered(query)) else {
            // LIMIT without ORDER BY takes any rows.
            return Ok(query.limit.is_some());
        };
        let offset = number(query.offset.as_ref()).unwrap_or(0);
        let last = limit.saturating_add(offset);
        with_keys.query.offset = None;
        let one_more = i64::try_from(last).ok().and_then(|last| last.checked_add(1)).unwrap_or(i64::MAX);
        with_keys.query.limit = Some(Expr::Literal(Literal::Integer(one_more)));
        let text = self.text(&with_keys.query).ok_or(RejectionReason::Unprintable)?;
        let rows = match self.engine.run(self.database, &text).outcome {
            Outcome::Rows(rows) => rows,
            Outcome::Failed(failure) => return Err(reason_of(&failure)),
        };
        let keys = |at: usize| {
            let row = rows.row(at)?;
            with_keys.keys.iter().map(|&key| row.get(key)).collect::<Option<Vec<_>>>()
        };
        let cuts = |at: usize| at > 0 && keys(at).is_some() && keys(at - 1) == keys(at);
        Ok(cuts(offset) || cuts(last))
    }
}

/// The class of a failure.
fn reason_of(failure: &Failure) -> RejectionReason {
    match failure.kind {
        FailureKind::Timeout | FailureKind::TooLarge => RejectionReason::TooLarge,
        _ => RejectionReason::Fails,
    }
}

fn number(expr: Option<&Expr>) -> Option<usize> {
    match expr {
        Some(Expr::Literal(Literal::Integer(integer))) => usize::try_from(*integer).ok(),
        _ => None,
    }
}

/// Whether all values are NULL, or a single row has nothing but NULL and 0.
fn is_vacuous(rows: &ResultSet) -> bool {
    let is_zero = |value: &Value| match value {
        Value::Null | Value::Integer(0) => true,
        Value::Real(real) => *real == 0.0,
        _ => false,
    };
    let is_null = |value: &Value| matches!(value, Value::Null);
    rows.values().iter().all(is_null) || (rows.len() == 1 && rows.values().iter().all(is_zero))
}

/// `T1`, `T2`, … for the tables of a statement that has several.
fn numbered(query: &Query) -> Aliases {
    let mut tables = Vec::new();
    each_relation(query, |relation| {
        if !matches!(relation.source, RelationSource::Function { .. } | RelationSource::Catalog) {
            tables.push(relation.id);
        }
    });
    if tables.len() < 2 {
        return Aliases::new();
    }
    (1..).zip(tables).map(|(number, id)| (id, format!("T{number}"))).collect()
}
