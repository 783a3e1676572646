//! # COUNT of a reference that repeats
//!
//! ## What it finds
//! COUNT(column) without DISTINCT over a join, where the column refers to something else: a foreign key or a name
//! that ends in `id`, and no key of its table.
//!
//! ## Why it matters
//! Two awards of one player count as two players.
//!
//! ## Example
//! ```sql
//! SELECT COUNT(a.player_id) FROM award AS a JOIN player AS p ON a.player_id = p.id   -- "How many players …"
//! ```
//!
//! ## When it is no defect
//! The question asks for the rows: how many awards; the rule is silent where it says so. It is silent too where the column names what
//! the rows are grouped by, and, with rows at hand, where nothing repeats.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::Table;
use sqlgauge_sql::tree::{ColumnRef, Expr, Query, RelationId};

use crate::finding::Evidence;
use crate::item::AuditSubject;
use crate::walk::{Scope, equalities, joined_scopes, make_distinct, relations_read};
use crate::words::{Words, names, split, stem};

pub(super) static RULE: AuditRule = AuditRule {
    name: "count-of-reference",
    summary: "COUNT counts repeated references, not the things that they refer to",
    needs: Needs::Schema,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("count_of_reference.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    for scope in joined_scopes(subject.query) {
        for expr in scope.exprs() {
            let Expr::Aggregate(call) = expr else { continue };
            let [arg] = call.args.as_slice() else { continue };
            let Some((counted_column, table, _)) = subject.as_column(arg) else { continue };
            let Some(place) = counted_column.column.position() else { continue };
            if call.function != Function::Count
                || call.distinct
                || scope.select.group_by.contains(arg)
                || !refers(table, place)
                || counts_rows(subject, table)
                || names_group(&scope, counted_column)
            {
                continue;
            }
            let why = format!(
                "{} counts {} as often as it occurs",
                subject.text(expr),
                subject.name(counted_column)
            );
            let mut query: Query = subject.query.clone();
            make_distinct(&mut query, call);
            if !subject.item.data.has_rows() {
                findings.propose(why, None, subject.print(&query));
            } else if subject.same_rows(&query, findings) == Some(false) {
                let rows = subject.run(&query, findings);
                let evidence = rows.map(|rows| Evidence::of("with DISTINCT", &rows));
                findings.propose(why, evidence, subject.print(&query));
            }
        }
    }
}

/// Whether a column refers to rows of another table, and is no key of its own. Where the schema has no keys, `id` and a column that
/// is named after its table are taken for one.
fn refers(table: &Table, column: u32) -> bool {
    let is_foreign = table.foreign_keys.iter().any(|key| key.columns == [column]);
    let name = table.column(column).map(|column| column.name.as_str()).unwrap_or_default();
    let words = split(name).concat();
    let of_what = words.strip_suffix("id").filter(|rest| !matches!(*rest, "" | "uu" | "gu"));
    let table_words = split(&table.name);
    let is_own =
        |rest: &str| table_words.iter().chain([&table_words.concat()]).any(|word| stem(word) == stem(rest));
    let is_other = of_what.is_some_and(|rest| !is_own(rest));
    (is_foreign || is_other) && !table.is_unique(&[column])
}

/// Whether a join makes the column equal to one of what the rows are grouped by: counted once, it is 1 in every group.
fn names_group(scope: &Scope<'_>, column: ColumnRef) -> bool {
    let grouped: Vec<RelationId> = scope.select.group_by.iter().flat_map(relations_read).collect();
    let is_so = |(one, other): (&Expr, &Expr)| match (one, other) {
        (Expr::Column(one), Expr::Column(other)) => *one == column && grouped.contains(&other.relation),
        _ => false,
    };
    scope.conditions().into_iter().flat_map(equalities).any(is_so)
}

/// Whether the question counts the rows of the column's table: "how many awards" for `COUNT(award.player_id)`.
fn counts_rows(subject: &AuditSubject<'_>, table: &Table) -> bool {
    let counted = subject.item.question.and_then(|question| Words::of(question).counted());
    counted.is_some_and(|word| names(&table.name, &word))
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(
        CLUBS,
        "SELECT COUNT(a.player_id) FROM award AS a JOIN player AS p ON a.player_id = p.id",
    )
    .of_benchmark(),
    AuditCase::silent(
        CLUBS,
        "SELECT COUNT(DISTINCT a.player_id) FROM award AS a JOIN player AS p ON a.player_id = p.id",
    ),
    AuditCase::silent(
        CLUBS,
        "SELECT COUNT(a.player_id) FROM award AS a JOIN player AS p ON a.player_id = p.id",
    )
    .asked("How many awards have the players won?"),
    AuditCase::silent(
        CLUBS,
        "SELECT c.name FROM club AS c JOIN player AS p ON c.id = p.club_id GROUP BY c.name ORDER BY COUNT(p.club_id) DESC LIMIT 1",
    ),
    AuditCase::silent(CLUBS, "SELECT COUNT(a.id) FROM award AS a JOIN player AS p ON a.player_id = p.id"),
    AuditCase::silent(
        CLUBS,
        "SELECT COUNT(a.player_id) FROM award AS a JOIN player AS p ON a.player_id = p.id WHERE a.year = 2010",
    ),
];
