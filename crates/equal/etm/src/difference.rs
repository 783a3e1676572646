//! The first difference between two normal forms, in words. The left query is called the gold, the right one the prediction.

use std::collections::HashMap;

use sqlgauge_base::counted;
use sqlgauge_sql::derive::Facts;
use sqlgauge_sql::reads::tables;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{
    Body, Expr, From, JoinKind, Literal, Output, Query, Relation, RelationSource, Select, SetOperator,
};

use crate::tools;

/// The first difference that a reader of the clauses in the order FROM, WHERE, GROUP BY, HAVING, SELECT, ORDER BY, LIMIT meets.
pub(crate) fn first(left: &Query, right: &Query, schema: &Schema) -> String {
    let sentence = match (&left.body, &right.body) {
        (Body::Select(a), Body::Select(b)) => selects((left, a), (right, b), schema),
        (a, b) => bodies(a, b, schema),
    };
    sentence
        .or_else(|| order(left, right, schema))
        .unwrap_or_else(|| "the queries differ in how their parts are put together".to_owned())
}

fn bodies(left: &Body, right: &Body, schema: &Schema) -> Option<String> {
    let (a, b) = (describe(left), describe(right));
    if a != b {
        return Some(format!("the gold is {a}, the prediction {b}"));
    }
    let (Body::SetOperation { left: l1, right: r1, .. }, Body::SetOperation { left: l2, right: r2, .. }) =
        (left, right)
    else {
        return Some("the rows of VALUES differ".to_owned());
    };
    for (which, x, y) in [("first", l1, l2), ("second", r1, r2)] {
        if x != y {
            let inner = first(&Query::of(x.as_ref().clone()), &Query::of(y.as_ref().clone()), schema);
            return Some(format!("in the {which} operand of {a}: {inner}"));
        }
    }
    None
}

fn describe(body: &Body) -> &'static str {
    match body {
        Body::Select(_) => "a SELECT",
        Body::Values(_) => "VALUES",
        Body::SetOperation { operator, all, .. } => match (operator, all) {
            (SetOperator::Union, true) => "UNION ALL",
            (SetOperator::Union, false) => "UNION",
            (SetOperator::Intersect, _) => "INTERSECT",
            (SetOperator::Except, _) => "EXCEPT",
        },
    }
}

fn selects(left: (&Query, &Select), right: (&Query, &Select), schema: &Schema) -> Option<String> {
    let texts = |(query, _): (&Query, &Select), exprs: &[&Expr]| -> Vec<String> {
        exprs.iter().map(|expr| tools::expr_text(expr, query, schema)).collect()
    };
    let filters = |side: (&Query, &Select)| {
        let mut all = tools::conjuncts_of(side.1.filter.as_ref());
        if let Some(from) = &side.1.from {
            conditions(from, &mut all);
        }
        texts(side, &all)
    };
    let groups = |side: (&Query, &Select)| texts(side, &side.1.group_by.iter().collect::<Vec<_>>());
    let havings = |side: (&Query, &Select)| texts(side, &tools::conjuncts_of(side.1.having.as_ref()));
    let outputs = |side: (&Query, &Select)| {
        texts(side, &side.1.outputs.iter().map(|output: &Output| &output.expr).collect::<Vec<_>>())
    };
    joins(left, right, schema)
        .or_else(|| one_sided("filters on", &filters(left), &filters(right)))
        .or_else(|| one_sided("groups by", &groups(left), &groups(right)))
        .or_else(|| one_sided("keeps groups with", &havings(left), &havings(right)))
        .or_else(|| distinct(left.1, right.1))
        .or_else(|| positional(&outputs(left), &outputs(right)))
}

/// What only one side joins; a table that the other reads all the same is said where.
fn joins(left: (&Query, &Select), right: (&Query, &Select), schema: &Schema) -> Option<String> {
    let [a, b] = [left, right]
        .map(|(_, select)| select.from.as_ref().map_or_else(Vec::new, |from| sources(from, schema)));
    let elsewhere = |query: &Query, joined: &[String], source: &str| {
        // Without the kind of its join.
        let is_it = |name: &str| name.split(" by ").next() == source.split(" by ").next();
        let mut read = tables(query).into_iter().filter_map(|(_, id)| schema.table(id));
        let is_joined = joined.iter().any(|name| is_it(name));
        let place = if is_joined { "less often" } else { "only in a subquery" };
        read.any(|table| is_it(&table.name)).then_some(place)
    };
    let (one, [side, other], place) = match (only(&a, &b), only(&b, &a)) {
        (Some(one), None) => (one, ["gold", "prediction"], elsewhere(right.0, &b, one)),
        (None, Some(one)) => (one, ["prediction", "gold"], elsewhere(left.0, &a, one)),
        _ => return one_sided("reads", &a, &b),
    };
    let words = place.map(|place| format!("the {side} joins {one}, the {other} has it {place}"));
    words.or_else(|| one_sided("reads", &a, &b))
}

/// The first item that only one side has, counting repetition.
fn only<'t>(side: &'t [String], other: &'t [String]) -> Option<&'t str> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    other.iter().for_each(|text| *counts.entry(text).or_default() += 1);
    side.iter().map(String::as_str).find(|&text| {
        let count = counts.entry(text).or_default();
        let is_new = *count == 0;
        *count = count.saturating_sub(1);
        is_new
    })
}

fn one_sided(verb: &str, left: &[String], right: &[String]) -> Option<String> {
    match (only(left, right), only(right, left)) {
        (Some(a), Some(b)) => Some(format!("the gold {verb} {a}, the prediction {verb} {b}")),
        (Some(a), None) => Some(format!("only the gold {verb} {a}")),
        (None, Some(b)) => Some(format!("only the prediction {verb} {b}")),
        (None, None) => None,
    }
}

fn distinct(left: &Select, right: &Select) -> Option<String> {
    match (left.distinct, right.distinct) {
        (true, false) => Some("only the gold removes duplicate rows (DISTINCT)".to_owned()),
        (false, true) => Some("only the prediction removes duplicate rows (DISTINCT)".to_owned()),
        _ => None,
    }
}

fn positional(left: &[String], right: &[String]) -> Option<String> {
    if left.len() != right.len() {
        return Some(format!(
            "the gold returns {}, the prediction {}",
            counted(left.len(), "column"),
            right.len()
        ));
    }
    let (mut a, mut b) = (left.to_vec(), right.to_vec());
    a.sort();
    b.sort();
    if a == b && left != right {
        return Some("the queries return the same columns in a different order".to_owned());
    }
    let place = left.iter().zip(right).position(|(a, b)| a != b)?;
    Some(format!("column {} is {} in the gold, {} in the prediction", place + 1, left[place], right[place]))
}

fn order(left: &Query, right: &Query, schema: &Schema) -> Option<String> {
    let keys = |query: &Query| -> Vec<String> {
        let text = |term: &sqlgauge_sql::tree::OrderTerm| {
            let key = tools::expr_text(&term.expr, query, schema);
            format!("{key}{}", if term.descending { " DESC" } else { "" })
        };
        query.order_by.iter().map(text).collect()
    };
    let (a, b) = (keys(left), keys(right));
    if a != b {
        let or_nothing =
            |keys: &[String]| if keys.is_empty() { "nothing".to_owned() } else { keys.join(", ") };
        return Some(format!(
            "the gold is ordered by {}, the prediction by {}",
            or_nothing(&a),
            or_nothing(&b)
        ));
    }
    let limit = |query: &Query, expr: &Option<Expr>| {
        expr.as_ref().map_or_else(|| "none".to_owned(), |e| tools::expr_text(e, query, schema))
    };
    let limits = [("limit", &left.limit, &right.limit), ("offset", &left.offset, &right.offset)];
    limits.into_iter().find(|(_, a, b)| a != b).map(|(name, a, b)| {
        format!("the {name} is {} in the gold, {} in the prediction", limit(left, a), limit(right, b))
    })
}

fn conditions<'f>(from: &'f From, exprs: &mut Vec<&'f Expr>) {
    if let From::Join(join) = from {
        conditions(&join.left, exprs);
        conditions(&join.right, exprs);
        exprs.extend(tools::conjuncts_of(join.on.as_ref()));
    }
}

fn sources(from: &From, schema: &Schema) -> Vec<String> {
    match from {
        From::Relation(relation) => vec![source(relation, schema)],
        From::Join(join) => {
            let mut all = sources(&join.left, schema);
            let right = sources(&join.right, schema);
            let outer = match join.kind {
                JoinKind::Inner | JoinKind::Cross => "",
                JoinKind::Left => " by LEFT JOIN",
                JoinKind::Right => " by RIGHT JOIN",
                JoinKind::Full => " by FULL JOIN",
            };
            all.extend(right.into_iter().map(|text| format!("{text}{outer}")));
            all
        }
    }
}

fn source(relation: &Relation, schema: &Schema) -> String {
    match &relation.source {
        RelationSource::Table(id) => {
            schema.table(*id).map_or_else(|| "?".to_owned(), |table| table.name.clone())
        }
        RelationSource::Derived(query) => format!("({})", tools::text(query, schema)),
        RelationSource::Cte(_) => "a common table expression".to_owned(),
        RelationSource::Function { name, .. } => format!("{name}()"),
        RelationSource::Catalog => "sqlite_schema".to_owned(),
    }
}

/// An expression as SQL, its columns named by their tables.
pub(crate) fn expression(expr: &Expr, facts: &Facts<'_>, schema: &Schema) -> String {
    let columns = tools::columns_of(expr);
    let inside = sqlgauge_sql::reads::relations(expr);
    let outside = columns.iter().map(|column| column.relation).filter(|id| !inside.contains(id));
    let mut ids: Vec<_> = outside.collect();
    ids.sort_unstable();
    ids.dedup();
    // What is no table is named by its place.
    let width = |id| {
        let reads = columns.iter().filter(|column| column.relation == id);
        reads.filter_map(|column| Some(column.column.position()?.saturating_add(1))).max().unwrap_or(1)
    };
    let values = |id| {
        let row = (0..width(id)).map(|_| Expr::Literal(Literal::Null)).collect();
        RelationSource::Derived(Box::new(Query::of(Body::Values(vec![row]))))
    };
    let source = |id| facts.table_of(id).map_or_else(|| values(id), RelationSource::Table);
    let relations = ids.into_iter().map(|id| From::Relation(Relation::new(id, source(id))));
    let from = tools::join_all(relations);
    let select = Select { from, ..Select::of(vec![Output::of(expr.clone())]) };
    let query = Query::of_select(select);
    tools::expr_text(expr, &query, schema)
}
