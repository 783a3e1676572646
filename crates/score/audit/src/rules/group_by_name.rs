//! # Groups by a name that several may have
//!
//! ## What it finds
//! An aggregate or a sort over groups whose columns are all names or titles that the schema does not make unique. With rows at hand,
//! only where two rows of the table have the same name.
//!
//! ## Why it matters
//! Two players of one name count as one.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player JOIN award ON player_id = player.id GROUP BY name ORDER BY COUNT(*) DESC LIMIT 1
//! ```
//!
//! ## When it is no defect
//! No two rows have the same name, or the question is about the names.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, EMPTY, Needs, RuleStanding};
use sqlgauge_sql::schema::{Column, Table};
use sqlgauge_sql::tree::Expr;

use crate::item::AuditSubject;
use crate::walk::joined_scopes;
use crate::words::split;

pub(super) static RULE: AuditRule = AuditRule {
    name: "group-by-name",
    summary: "groups are told apart by a name, which is not unique",
    needs: Needs::Schema,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("group_by_name.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    for scope in joined_scopes(subject.query) {
        if !scope.exprs().iter().any(|expr| matches!(expr, Expr::Aggregate(_))) {
            continue;
        }
        let groups: Option<Vec<_>> =
            scope.select.group_by.iter().map(|group| subject.as_column(group)).collect();
        let Some(groups) = groups.filter(|groups| !groups.is_empty()) else { continue };
        let [(_, table, _), ..] = groups[..] else { continue };
        let is_of_one = groups.iter().all(|(_, other, _)| other.name == table.name);
        if !is_of_one || !groups.iter().all(|(_, _, column)| is_name(column)) {
            continue;
        }
        let columns: Vec<&Column> = groups.iter().map(|(_, _, column)| *column).collect();
        report(subject, table, &columns, findings);
    }
}

fn report(subject: &AuditSubject<'_>, table: &Table, columns: &[&Column], findings: &mut Findings) {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let places: Vec<u32> = names.iter().filter_map(|name| table.column_index(name)).collect();
    if table.is_unique(&places) {
        return;
    }
    let why = format!(
        "two rows of {} may have the same {}, and then they are one group",
        table.name,
        names.join(", ")
    );
    if !subject.item.data.has_rows() {
        findings.report(why);
        return;
    }
    if let Some(rows) = subject.item.data.repeated(table, columns) {
        if !rows.is_empty() {
            findings.report_with(why, crate::finding::Evidence::of("names of several rows", &rows));
        }
    } else {
        findings.unchecked("the names could not be read");
    }
}

/// Whether the last word of a column's name says that it is a name.
fn is_name(column: &Column) -> bool {
    split(&column.name).last().is_some_and(|word| ["name", "title"].iter().any(|end| word.ends_with(end)))
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(
        "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE award (id INTEGER PRIMARY KEY, player_id INTEGER REFERENCES player(id));
INSERT INTO player VALUES (1, 'Ana'), (2, 'Ana'); INSERT INTO award VALUES (1, 1), (2, 2);",
        "SELECT p.name FROM player AS p JOIN award AS a ON a.player_id = p.id GROUP BY p.name ORDER BY COUNT(*) DESC LIMIT 1",
    )
    .of_benchmark(),
    AuditCase::fires(EMPTY, "SELECT c.name, COUNT(*) FROM club AS c JOIN player AS p ON p.club_id = c.id GROUP BY c.name"),
    AuditCase::silent(CLUBS, "SELECT c.name, COUNT(*) FROM club AS c JOIN player AS p ON p.club_id = c.id GROUP BY c.name"),
    AuditCase::silent(EMPTY, "SELECT c.name, COUNT(*) FROM club AS c JOIN player AS p ON p.club_id = c.id GROUP BY c.id"),
    AuditCase::silent(EMPTY, "SELECT c.city, COUNT(*) FROM club AS c JOIN player AS p ON p.club_id = c.id GROUP BY c.city"),
];
