//! A gold, as the rules see it.

use std::cell::OnceCell;
use std::sync::Arc;

use sqlgauge_engine::{Execution, Outcome, ResultSet};
use sqlgauge_sql::derive::Facts;
use sqlgauge_sql::schema::{Column, Schema, Table};
use sqlgauge_sql::tree::{ColumnRef, Expr, Query};
use sqlgauge_sql::{PrintDialect, print_expr};

use crate::data::AuditData;
use crate::finding::Findings;
use crate::walk::whole;
use crate::words::Words;

/// Said where a rule needs rows and the database does not have any.
const NO_ROWS: &str = "no rows";

/// An answer of another system.
#[derive(Debug, Clone, Copy)]
pub struct Peer<'a> {
    pub system: &'a str,
    /// Its query.
    pub sql: &'a str,
}

/// One gold with its question.
#[derive(Clone, Copy)]
pub struct AuditItem<'a> {
    /// The gold.
    pub sql: &'a str,
    pub question: Option<&'a str>,
    /// What the benchmark says besides the question.
    pub evidence: Option<&'a str>,
    /// Answers of other systems.
    pub peers: &'a [Peer<'a>],
    /// What the gold returned.
    pub(crate) gold: &'a Execution,
    /// The database.
    pub(crate) data: &'a AuditData<'a>,
    /// Why queries of ours cannot be asked in the words of the engine, once it is known.
    pub(crate) retold: &'a OnceCell<Option<String>>,
}

impl AuditItem<'_> {
    /// What the gold returned on a database with rows; says "not checked" where there are none.
    pub fn rows(&self, findings: &mut Findings) -> Option<&Arc<ResultSet>> {
        if !self.data.has_rows() {
            findings.unchecked(NO_ROWS);
            return None;
        }
        self.gold.rows()
    }

    /// The database, if it has rows; says "not checked" where there are none.
    pub fn data(&self, findings: &mut Findings) -> Option<&AuditData<'_>> {
        if self.data.has_rows() {
            return Some(self.data);
        }
        findings.unchecked(NO_ROWS);
        None
    }

    /// The words of question and evidence; says "not checked" where there is no question.
    pub(crate) fn words(&self, findings: &mut Findings) -> Option<Words> {
        match self.question {
            Some(question) if !question.trim().is_empty() => Some(Words::of(question)),
            _ => {
                findings.unchecked("no question");
                None
            }
        }
    }

    /// What the benchmark says besides the question; says "not checked" where it says nothing.
    pub(crate) fn evidence(&self, findings: &mut Findings) -> Option<&str> {
        let text = self.evidence.filter(|text| !text.trim().is_empty());
        if text.is_none() {
            findings.unchecked("no evidence");
        }
        text
    }

    /// Question and evidence in one text.
    pub(crate) fn all_words(&self) -> Words {
        Words::of(&format!("{} {}", self.question.unwrap_or_default(), self.evidence.unwrap_or_default()))
    }
}

/// A gold that could be resolved.
pub struct AuditSubject<'a> {
    /// The gold as text.
    pub item: AuditItem<'a>,
    /// The gold as a tree.
    pub query: &'a Query,
    pub schema: &'a Schema,
    /// What follows from the schema.
    pub facts: Facts<'a>,
}

impl<'a> AuditSubject<'a> {
    /// The table that a column belongs to, and the column.
    pub fn column(&self, column: ColumnRef) -> Option<(&'a Table, &'a Column)> {
        let table = self.schema.table(self.facts.table_of(column.relation)?)?;
        Some((table, table.at(column.column)?))
    }

    /// `table.column`, for people.
    pub fn name(&self, column: ColumnRef) -> String {
        self.column(column).map_or_else(
            || self.text(&Expr::Column(column)),
            |(table, column)| format!("{}.{}", table.name, column.name),
        )
    }

    /// The table that a column belongs to and the column, if the expression is one of a table.
    pub fn as_column(&self, expr: &Expr) -> Option<(ColumnRef, &'a Table, &'a Column)> {
        let Expr::Column(column) = expr else { return None };
        let (table, definition) = self.column(*column)?;
        Some((*column, table, definition))
    }

    /// An expression as SQL, for people.
    pub fn text(&self, expr: &Expr) -> String {
        // Alone it would be printed so that it is not taken for the position of a column.
        if let Some(number) = whole(expr) {
            return number.to_string();
        }
        print_expr(expr, self.query, self.schema, PrintDialect::Sqlite).unwrap_or_else(|_| "…".to_owned())
    }

    /// Why queries of ours would not mean on the engine what they mean in SQLite. There the gold is told in other words first: if
    /// it then returns other rows, so may every query that is made of it.
    fn retold(&self) -> Option<&str> {
        let item = &self.item;
        let tell = || {
            if item.data.engine().is_sqlite() {
                return None;
            }
            let answer = match item.data.spoken(self.query, self.schema) {
                Ok(sql) => item.data.run(&sql),
                Err(reason) => return Some(reason),
            };
            let prints = [item.gold, &answer].map(|ran| ran.rows().map(|rows| rows.fingerprint()));
            let is_same = prints[0].is_some() && prints[0] == prints[1];
            (!is_same).then(|| {
                "the gold returns other rows when SQLite's meaning is put into words of this engine"
                    .to_owned()
            })
        };
        item.retold.get_or_init(tell).as_deref()
    }

    /// A query as SQL of the engine.
    pub fn print(&self, query: &Query) -> Option<String> {
        self.item.data.spoken(query, self.schema).ok().filter(|_| self.retold().is_none())
    }

    /// What a query of ours returns; says "not checked" with the reason where it does not.
    pub fn run(&self, query: &Query, findings: &mut Findings) -> Option<Arc<ResultSet>> {
        let data = self.item.data(findings)?;
        if let Some(reason) = self.retold() {
            findings.unchecked(reason);
            return None;
        }
        match data.spoken(query, self.schema) {
            Ok(sql) => match data.run(&sql).outcome {
                Outcome::Rows(rows) => Some(rows),
                Outcome::Failed(failure) => {
                    findings.unchecked(format!("its query did not run ({})", failure.kind));
                    None
                }
            },
            Err(reason) => {
                findings.unchecked(reason);
                None
            }
        }
    }

    /// Whether the gold returns the same rows as another query; `None` where that cannot be seen.
    pub fn same_rows(&self, other: &Query, findings: &mut Findings) -> Option<bool> {
        let rows = self.item.rows(findings)?;
        let other = self.run(other, findings)?;
        Some(rows.fingerprint() == other.fingerprint())
    }
}
