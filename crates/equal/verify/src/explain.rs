//! Which clause makes the difference: found by taking it out of both queries on the counterexample.
//!
//! # Contract
//! The sentence names the first of these that there is:
//! - the one clause in which queries over the same tables differ;
//! - a clause of the outermost SELECT without which both queries return the same on the counterexample's database. Clauses are
//!   taken out one by one, those first that change least;
//! - the tables that one query reads and the other does not.

use std::collections::BTreeSet;

use sqlgauge_sql::aggregates::has_own;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{Expr, Literal, Output, Query};
use sqlgauge_sql::{PrintDialect, print, renumber};

use sqlgauge_search::{Refutation, Search, tables_of};

/// A clause, and how to take it out: false where the query has nothing to take out, or cannot be without.
type Clause = (&'static str, fn(&mut Query) -> bool);

const OUTPUTS: &str = "selected columns";

const CLAUSES: [Clause; 6] = [
    ("DISTINCT", without_distinct),
    ("ORDER BY", without_order),
    ("LIMIT", without_limit),
    ("HAVING", without_having),
    ("WHERE", without_filter),
    (OUTPUTS, without_outputs),
];

/// One sentence on the clause that makes the difference; `None` where that is not known.
pub(crate) fn explain(
    search: &Search,
    schema: &Schema,
    refutation: &Refutation,
    queries: [&Query; 2],
) -> Option<String> {
    let of_tables = of_tables(schema, queries);
    if let (None, Some(clause)) = (&of_tables, differ_in_one_clause(queries)) {
        return Some(format!("The queries differ only in their {clause}."));
    }
    let of_clause = CLAUSES.iter().find_map(|(name, take_out)| {
        let toggled = queries.map(|query| {
            let mut query = query.clone();
            (take_out(&mut query), query)
        });
        let has = toggled.each_ref().map(|(changed, _)| *changed);
        let [left, right] = toggled.map(|(_, query)| print(&query, schema, PrintDialect::Sqlite).ok());
        let is_same =
            has != [false, false] && search.agree(refutation.database(), &left?, &right?) == Some(true);
        is_same.then(|| sentence(name, has))
    });
    of_clause.or(of_tables)
}

/// What is said where no clause makes the difference alone.
fn of_tables(schema: &Schema, queries: [&Query; 2]) -> Option<String> {
    let [left, right] = queries.map(|query| {
        let names = tables_of(query).into_iter().filter_map(|id| Some(schema.table(id)?.name.clone()));
        names.collect::<BTreeSet<String>>()
    });
    let only = |names: &BTreeSet<String>, other: &BTreeSet<String>| {
        names.difference(other).cloned().collect::<Vec<_>>().join(" and ")
    };
    let (in_left, in_right) = (only(&left, &right), only(&right, &left));
    match (in_left.as_str(), in_right.as_str()) {
        ("", "") => None,
        (left, "") => Some(format!("Only the gold reads {left}.")),
        ("", right) => Some(format!("Only the prediction reads {right}.")),
        (left, right) => Some(format!("Only the gold reads {left}, and only the prediction {right}.")),
    }
}

fn sentence(clause: &str, [in_left, in_right]: [bool; 2]) -> String {
    let whose = match (in_left, in_right) {
        (true, false) => format!("Without the gold's {clause}"),
        (false, true) => format!("Without the prediction's {clause}"),
        _ if clause == OUTPUTS => "Apart from the columns that they select".to_owned(),
        _ => format!("Without their {clause} clauses"),
    };
    format!("{whose}, both queries return the same rows here.")
}

fn without_distinct(query: &mut Query) -> bool {
    query.as_select_mut().is_some_and(|select| std::mem::take(&mut select.distinct))
}

/// What a LIMIT keeps depends on the order, which is then no clause of its own.
fn without_order(query: &mut Query) -> bool {
    query.limit.is_none() && !std::mem::take(&mut query.order_by).is_empty()
}

fn without_limit(query: &mut Query) -> bool {
    query.offset = None;
    query.limit.take().is_some()
}

fn without_having(query: &mut Query) -> bool {
    query.as_select_mut().is_some_and(|select| select.having.take().is_some())
}

fn without_filter(query: &mut Query) -> bool {
    query.as_select_mut().is_some_and(|select| select.filter.take().is_some())
}

/// The clause without which they are one query, though it cannot be taken out on its own: an ORDER BY decides what a LIMIT keeps, a
/// join what the others read, and `count(DISTINCT x)` how many rows there are.
fn differ_in_one_clause(queries: [&Query; 2]) -> Option<&'static str> {
    type Emptying = (&'static str, fn(&mut Query));
    let emptied: [Emptying; 4] = [
        ("ORDER BY", |query| query.order_by.clear()),
        ("joins", |query| query.as_select_mut().into_iter().for_each(|select| select.from = None)),
        ("GROUP BY", |query| query.as_select_mut().into_iter().for_each(|select| select.group_by.clear())),
        (OUTPUTS, |query| query.as_select_mut().into_iter().for_each(|select| select.outputs.clear())),
    ];
    let is_one = |empty: &fn(&mut Query)| {
        let [left, right] = queries.map(|query| {
            let mut query = query.clone();
            empty(&mut query);
            renumber(&mut query);
            query
        });
        left == right
    };
    emptied.iter().find(|(_, empty)| is_one(empty)).map(|(clause, _)| *clause)
}

/// One constant in the place of the columns, where they decide nothing else: not how many rows there are, nor their order.
fn without_outputs(query: &mut Query) -> bool {
    let is_ordered = !query.order_by.is_empty();
    let Some(select) = query.as_select_mut() else { return false };
    let decides = is_ordered
        || select.distinct
        || !select.group_by.is_empty()
        || select.outputs.iter().any(|output| has_own(&output.expr));
    if !decides {
        select.outputs = vec![Output::of(Expr::Literal(Literal::Integer(1)))];
    }
    !decides
}
