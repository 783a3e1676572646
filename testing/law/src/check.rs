//! The law for one query: its text and its resolved form, every application of a rule, and the canonical order.

use sqlgauge_etm::law::{Lies, RewriteChange, Step, Stepper};
use sqlgauge_etm::{Matcher, Profile, rules};
use sqlgauge_sql::reads;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::schema::TableId;
use sqlgauge_sql::tree::Query;
use sqlgauge_sql::{ordered, resolve};

use crate::compare::{same_bag, same_order, same_sequence};
use crate::database::{Database, Layout, Outcome};
use crate::generate::text;

/// Errors that the contract passes over: our own bounds, and the sum of integers beyond 64 bits.
const BOUNDS: [&str; 4] = ["interrupted", "too many rows", "integer overflow", "too big"];

/// What violations of name resolution and printing are filed under.
pub(crate) const RESOLUTION: &str = "resolution";

/// What violations of the comparison of two texts are filed under.
pub const MATCH: &str = "match";

/// How a violation shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The rows differ.
    Rows,
    /// The rows are the same in another order than the query asks for.
    Order,
    /// SQLite refuses what was written.
    Refused,
    /// One of them fails while it runs.
    Fails,
    /// The rows differ only on a database with indexes or statistics that the schema does not have.
    OnlyIndexed,
    /// The rules find no end.
    NoFixedPoint,
    /// SQLite takes the text and it does not resolve.
    Unresolved,
    /// The text resolves and SQLite refuses it.
    Unrefused,
}

/// Two queries that ought to return the same and do not.
#[derive(Debug, Clone)]
pub struct Violation {
    /// The rule or step that is to blame.
    pub rule: String,
    /// How it shows.
    pub kind: Kind,
    pub before: String,
    pub after: String,
    /// The place of the database that shows it.
    pub database: Option<usize>,
    /// What was found out about it, in words.
    pub note: String,
}

/// What was found out about one query.
#[derive(Debug, Default)]
pub struct Report {
    /// The rules that changed it, in order; with names for the other steps.
    pub applications: Vec<String>,
    /// What was wrong.
    pub violations: Vec<Violation>,
    /// Whether it ran at all.
    pub ran: bool,
}

/// A query together with what it returns.
struct Stage {
    query: Query,
    sql: String,
}

pub fn check(sql: &str, schema: &Schema, databases: &[Database], stepper: &Stepper<'_>) -> Report {
    let mut report = Report::default();
    let Some(first) = databases.first() else { return report };
    let resolved = resolve(sql, schema);
    let outcome = first.run(sql);
    let query = match (resolved, &*outcome) {
        (Ok(query), Outcome::Rows(_) | Outcome::Failed(_)) => query,
        (Ok(_), Outcome::Refused(error)) => {
            report.violations.push(side_finding(Kind::Unrefused, sql, error));
            return report;
        }
        (Err(error), Outcome::Rows(_)) => {
            report.violations.push(side_finding(Kind::Unresolved, sql, &error.to_string()));
            return report;
        }
        (Err(_), _) => return report,
    };
    if !Stepper::has_normal_form(&query) {
        return report;
    }
    report.ran = true;
    let start = Stepper::start(&query);
    let Some(printed) = text(&start, schema) else { return report };
    let mut last = Stage { query: start.clone(), sql: printed };
    compare_texts(RESOLUTION, sql, &query, &last.sql, databases, &mut report);
    report.applications.pop();
    report.applications.extend(resolution_rules(sql));
    let trace = stepper.steps(&start);
    if let Some(reason) = trace.stopped {
        report.violations.push(Violation {
            rule: trace.steps.last().map_or_else(String::new, |step| named(step.change)),
            kind: Kind::NoFixedPoint,
            before: sql.to_owned(),
            after: trace.steps.last().and_then(|step| text(&step.query, schema)).unwrap_or_default(),
            database: None,
            note: reason.to_owned(),
        });
    }
    for Step { change, query } in trace.steps {
        let Some(sql) = text(&query, schema) else {
            break;
        };
        let next = Stage { query, sql };
        let name = match change {
            RewriteChange::Rule(rule) => rule.id.to_owned(),
            RewriteChange::Unreported => unreported(&last.query, schema),
            RewriteChange::CanonicalOrder => canonical_name(&last, &next),
        };
        if next.sql != last.sql {
            compare_texts(&name, &last.sql, &last.query, &next.sql, databases, &mut report);
        }
        last = next;
    }
    report
}

/// The rules that name resolution carries out for a text like this one.
fn resolution_rules(sql: &str) -> Vec<String> {
    let has = |parts: &[&str]| parts.iter().any(|part| sql.contains(part));
    let is_mixed = sql.bytes().any(|b| b.is_ascii_uppercase()) && sql.bytes().any(|b| b.is_ascii_lowercase());
    let rules = [
        ("P0", is_mixed),
        ("P1", has(&["."])),
        ("P3", has(&[" AS q", " AS T", " AS o", " as "])),
        ("P6", has(&[" AS o", " AS c", " AS k"])),
        ("P7", has(&["(("])),
        ("P8", has(&["\"", "`", "["])),
        ("11", has(&["SELECT *", "select *", ".*"])),
    ];
    rules.iter().filter(|(_, holds)| *holds).map(|(id, _)| (*id).to_owned()).collect()
}

fn side_finding(kind: Kind, sql: &str, note: &str) -> Violation {
    Violation {
        rule: RESOLUTION.to_owned(),
        kind,
        before: sql.to_owned(),
        after: String::new(),
        database: None,
        note: reason(note),
    }
}

/// An error of SQLite's without the text that it quotes.
fn reason(error: &str) -> String {
    error.split(" in ").next().unwrap_or(error).to_owned()
}

pub fn named(change: RewriteChange) -> String {
    match change {
        RewriteChange::Rule(rule) => rule.id.to_owned(),
        RewriteChange::Unreported => "unreported".to_owned(),
        RewriteChange::CanonicalOrder => "canonical order".to_owned(),
    }
}

/// The rule that changes the query without saying so.
fn unreported(query: &Query, schema: &Schema) -> String {
    let is_silent = |rule| {
        let steps = Stepper::only(rule, Lies::default(), schema).steps(query).steps;
        matches!(steps.first(), Some(Step { change: RewriteChange::Unreported, .. }))
    };
    let mut sound = rules().iter().copied().filter(|rule| rule.profiles.contains(Profile::Sound));
    sound.find(|rule| is_silent(rule)).map_or_else(|| "unreported".to_owned(), |rule| rule.id.to_owned())
}

/// Whether the canonical order moved relations (P4) or only operands (P5).
fn canonical_name(before: &Stage, after: &Stage) -> String {
    if sources(&before.query) == sources(&after.query) { "P5" } else { "P4" }.to_owned()
}

fn sources(query: &Query) -> Vec<TableId> {
    reads::tables(query).into_iter().map(|(_, table)| table).collect()
}

/// Counts an application, and notes a violation if the second text does not return what the first does.
fn compare_texts(
    name: &str,
    before: &str,
    query: &Query,
    after: &str,
    databases: &[Database],
    report: &mut Report,
) {
    report.applications.push(name.to_owned());
    if let Some((kind, database, note)) = differ(before, query, after, databases) {
        report.violations.push(Violation {
            rule: name.to_owned(),
            kind,
            before: before.to_owned(),
            after: after.to_owned(),
            database: Some(database),
            note,
        });
    }
}

/// The first database on which two texts differ, and how; `query` is the first of them, resolved.
pub fn differ(
    before: &str,
    query: &Query,
    after: &str,
    databases: &[Database],
) -> Option<(Kind, usize, String)> {
    for (place, database) in databases.iter().enumerate() {
        let Outcome::Rows(left) = &*database.run(before) else { continue };
        let difference = match &*database.run(after) {
            Outcome::Refused(error) => Some((Kind::Refused, reason(error))),
            Outcome::Failed(error) if BOUNDS.iter().any(|bound| error.contains(bound)) => None,
            Outcome::Failed(error) => Some((Kind::Fails, reason(error))),
            Outcome::Rows(right) if !same_bag(left, right) => Some((Kind::Rows, String::new())),
            Outcome::Rows(right) if breaks_order(left, query, right, database) => {
                Some((Kind::Order, String::new()))
            }
            Outcome::Rows(_) => None,
        };
        if let Some((kind, note)) = difference {
            let kind = if database.layout == Layout::Indexed { Kind::OnlyIndexed } else { kind };
            return Some((kind, place, note));
        }
    }
    None
}

fn breaks_order(
    before: &[Vec<rusqlite::types::Value>],
    query: &Query,
    after: &[Vec<rusqlite::types::Value>],
    database: &Database,
) -> bool {
    if query.order_by.is_empty() || same_sequence(before, after) {
        return false;
    }
    let Some(ordered) = ordered(query) else { return false };
    let Some(sql) = database.spelled(&ordered.query) else { return false };
    let Outcome::Rows(rows) = &*database.run(&sql) else { return false };
    let prefixes: Vec<_> = rows.iter().map(|row| row[..ordered.width.min(row.len())].to_vec()).collect();
    if !same_sequence(&prefixes, before) {
        return false;
    }
    let keys: Vec<Vec<_>> = rows
        .iter()
        .map(|row| ordered.keys.iter().filter_map(|key| row.get(*key).cloned()).collect())
        .collect();
    !same_order(before, &keys, after)
}

/// Whether `match` calls two texts equal whose rows differ.
pub fn check_pair(
    left: &str,
    right: &str,
    schema: &Schema,
    databases: &[Database],
    matcher: &Matcher<'_>,
) -> Report {
    let mut report = Report::default();
    if left == right || !matcher.is_equal(left, right) {
        return report;
    }
    let Ok(query) = resolve(left, schema) else { return report };
    if databases.first().is_none_or(|first| matches!(&*first.run(right), Outcome::Refused(_))) {
        return report;
    }
    report.ran = true;
    compare_texts(MATCH, left, &query, right, databases, &mut report);
    report
}
