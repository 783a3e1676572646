//! # A column of the same name from another table
//!
//! ## What it finds
//! A result column that another table of FROM has too, where the question puts the name of that other table
//! beside the name of the column, and the two columns are not made equal.
//!
//! ## Why it matters
//! The name of the player is returned where the name of the club is asked for.
//!
//! ## Example
//! ```sql
//! SELECT p.name FROM player AS p JOIN club AS c ON p.club_id = c.id   -- "What is the club name of …"
//! ```
//!
//! ## When it is no defect
//! The question names the other table for another reason.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::derive::conjuncts;
use sqlgauge_sql::tree::{Body, ColumnRef, Expr, Query};

use crate::item::AuditSubject;
use crate::walk::{Scope, scopes};
use crate::words::{Words, split, stem};

pub(super) static RULE: AuditRule = AuditRule {
    name: "column-of-other-table",
    summary: "the question names a table whose column of that name is not the one returned",
    needs: Needs::Question,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("column_of_other_table.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    let Some(scope) = scopes(subject.query).into_iter().find(|scope| scope.is_outermost) else { return };
    for (at, output) in scope.select.outputs.iter().enumerate() {
        let Some((output_column, table, column)) = subject.as_column(&output.expr) else { continue };
        for relation in scope.relations().into_iter().filter(|relation| relation.id != output_column.relation)
        {
            let Some(other) = subject.facts.table_of(relation.id).and_then(|id| subject.schema.table(id))
            else {
                continue;
            };
            let Some(place) = other.column_index(&column.name) else { continue };
            let Some(words) = subject.item.words(findings) else { return };
            let twin = ColumnRef::at(relation.id, place);
            if other.name != table.name
                && names(&words, &other.name, &column.name)
                && !names(&words, &table.name, &column.name)
                && !are_equal(&scope, output_column, twin)
            {
                let mut query: Query = subject.query.clone();
                if let Body::Select(select) = &mut query.body
                    && let Some(output) = select.outputs.get_mut(at)
                {
                    output.expr = Expr::Column(twin);
                }
                let why = format!(
                    "{} is returned, and the question names {}",
                    subject.name(output_column),
                    subject.name(twin)
                );
                findings.propose(why, None, subject.print(&query));
            }
        }
    }
}

/// Whether the question says "club name", "club's name" or "name of the club".
fn names(words: &Words, table: &str, column: &str) -> bool {
    let (Some(table), column) = (split(table).pop().map(|word| stem(&word)), split(column)) else {
        return false;
    };
    let all: Vec<String> = words.iter().map(stem).filter(|word| word != "s").collect();
    let column: Vec<String> = column.iter().map(|word| stem(word)).collect();
    let before = std::iter::once(table.clone()).chain(column.iter().cloned()).collect::<Vec<_>>();
    let after = |article: &str| {
        let mut list = column.clone();
        list.push("of".to_owned());
        if !article.is_empty() {
            list.push(article.to_owned());
        }
        list.push(table.clone());
        list
    };
    let has = |part: &[String]| all.windows(part.len()).any(|window| window == part);
    has(&before) || ["", "the", "each", "all", "every", "a"].into_iter().any(|article| has(&after(article)))
}

fn are_equal(scope: &Scope<'_>, one: ColumnRef, other: ColumnRef) -> bool {
    conjuncts(scope.select).into_iter().any(|condition| match condition {
        Expr::Binary(sqlgauge_sql::tree::BinaryOperator::Equal, left, right) => {
            let pair = (&**left, &**right);
            pair == (&Expr::Column(one), &Expr::Column(other))
                || pair == (&Expr::Column(other), &Expr::Column(one))
        }
        _ => false,
    })
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(
        CLUBS,
        "SELECT p.name FROM player AS p JOIN club AS c ON p.club_id = c.id WHERE p.goals = 7",
    )
    .asked("What is the name of the club whose player has 7 goals?")
    .of_benchmark(),
    AuditCase::silent(
        CLUBS,
        "SELECT c.name FROM player AS p JOIN club AS c ON p.club_id = c.id WHERE p.goals = 7",
    )
    .asked("What is the name of the club whose player has 7 goals?"),
    AuditCase::silent(CLUBS, "SELECT p.name FROM player AS p JOIN club AS c ON p.club_id = c.id")
        .asked("What is the player name in each club?"),
];
