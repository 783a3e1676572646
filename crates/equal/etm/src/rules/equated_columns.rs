//! # Columns that are equal in every row
//!
//! ## What it does
//! Where a condition equates columns, reads one of them in place of all: in the results, in the other conditions,
//! in GROUP BY, HAVING and ORDER BY. In `etm@1` the equalities themselves are rewritten to compare that one column
//! with each of the others.
//!
//! ## Why it holds
//! In every row that passes, the columns have the same value, so it does not matter which is read. Equality of
//! stored values is transitive, so any set of equalities that connects the same columns says the same.
//!
//! ## Needs
//! The equality is a condition of an inner join or of WHERE. In `etm@1` also: values of the columns that compare equal
//! are identical (no text meets a number, no 1 meets 1.0, texts compare byte by byte), and no outer join fills one of
//! them with NULL.
//!
//! ## Example
//! ```sql
//! SELECT t.id FROM t JOIN u ON t.id = u.t_id
//! SELECT u.t_id FROM t JOIN u ON t.id = u.t_id
//! ```
//!
//! ## Does not hold when
//! The join is an outer one: a row without a partner has NULL in one of the columns. Or the columns differ in
//! affinity: `1` and `'1'` may be equal and are not the same answer.
//!
//! ## Source
//! Paper, Table 3, rule 19. Corrected: affinity, collation.

use sqlgauge_sql::tree::{BinaryOperator, ColumnRef, Expr, Query, Select};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "19",
    name: "equated-columns",
    summary: "One of two columns that are equal in every row",
    profiles: Profiles::BOTH,
    stage: RuleStage::Query(Shape::JOIN, query),
    cases: CASES,
    source: include_str!("equated_columns.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let Some(select) = query.as_select() else { return 0 };
    let pairs = pairs(select, context);
    if pairs.is_empty() {
        return 0;
    }
    let classes = classes(&pairs, context);
    let places = replace(query, &classes, context);
    places + if context.is_sound() { span(query, &classes) } else { 0 }
}

fn pair(condition: &Expr) -> Option<(ColumnRef, ColumnRef)> {
    let Expr::Binary(BinaryOperator::Equal, left, right) = condition else { return None };
    Some((tools::as_column(left)?, tools::as_column(right)?)).filter(|(a, b)| a != b)
}

fn pairs(select: &Select, context: &RuleContext<'_>) -> Vec<(ColumnRef, ColumnRef)> {
    let Some(from) = &select.from else { return Vec::new() };
    if !context.is_sound() {
        return tools::on_conjuncts(from).into_iter().filter_map(pair).collect();
    }
    let relations: Vec<_> = from.relations().iter().map(|relation| relation.id).collect();
    let facts = &context.facts;
    let fits =
        |column: ColumnRef| relations.contains(&column.relation) && !facts.is_null_extended(column.relation);
    let conditions = sqlgauge_sql::derive::conjuncts(select).into_iter().filter_map(pair);
    conditions
        .filter(|&(a, b)| {
            let (of_a, of_b) = (Expr::Column(a), Expr::Column(b));
            fits(a)
                && fits(b)
                && facts.equals_are_identical(&of_a, &of_b)
                && facts.compares_alike(&of_a, &of_b)
        })
        .collect()
}

/// Columns that are equal, each class with its representative first.
fn classes(pairs: &[(ColumnRef, ColumnRef)], context: &RuleContext<'_>) -> Vec<Vec<ColumnRef>> {
    let mut classes: Vec<Vec<ColumnRef>> = Vec::new();
    for &(a, b) in pairs {
        let (of_a, of_b) = (
            classes.iter().position(|class| class.contains(&a)),
            classes.iter().position(|class| class.contains(&b)),
        );
        match (of_a, of_b) {
            (Some(x), Some(y)) if x == y => {}
            (Some(x), Some(y)) => {
                let other = classes.remove(x.max(y));
                classes[x.min(y)].extend(other);
            }
            (Some(x), None) => classes[x].push(b),
            (None, Some(y)) => classes[y].push(a),
            (None, None) => classes.push(vec![a, b]),
        }
    }
    for class in &mut classes {
        class.sort_by_key(|column| (context.facts.table_of(column.relation), column.column, column.relation));
    }
    classes
}

fn replace(query: &mut Query, classes: &[Vec<ColumnRef>], context: &RuleContext<'_>) -> usize {
    let sound = context.is_sound();
    let mut places = 0;
    let representative =
        |column: ColumnRef| classes.iter().find(|class| class.contains(&column)).map(|class| class[0]);
    let mut swap = |expr: &mut Expr| {
        // The equalities themselves are looked at afterwards.
        tools::swap_columns(expr, sound, &mut |column| match representative(*column) {
            Some(new) if new != *column => {
                *column = new;
                places += 1;
            }
            _ => {}
        });
    };
    let Some(select) = query.as_select_mut() else { return 0 };
    let outputs = select.outputs.iter_mut().map(|output| &mut output.expr);
    outputs.chain(&mut select.group_by).chain(&mut select.having).for_each(&mut swap);
    let mut conjuncts = tools::take_conjuncts(&mut select.filter);
    let is_own = |e: &Expr| {
        sound
            && pair(e)
                .is_some_and(|(a, b)| classes.iter().any(|class| class.contains(&a) && class.contains(&b)))
    };
    conjuncts.iter_mut().filter(|conjunct| !is_own(conjunct)).for_each(&mut swap);
    select.filter = tools::conjunction(conjuncts);
    query.order_by.iter_mut().for_each(|term| swap(&mut term.expr));
    places
}

/// Rewrites the equalities of each class to compare its representative with each of the others.
fn span(query: &mut Query, classes: &[Vec<ColumnRef>]) -> usize {
    let Some(select) = query.as_select_mut() else { return 0 };
    let same_class = |e: &Expr| {
        pair(e).and_then(|(a, b)| classes.iter().position(|class| class.contains(&a) && class.contains(&b)))
    };
    let mut equalities: Vec<Vec<(ColumnRef, ColumnRef)>> = vec![Vec::new(); classes.len()];
    for conjunct in tools::conjuncts_of(select.filter.as_ref()) {
        if let (Some(class), Some(equality)) = (same_class(conjunct), pair(conjunct)) {
            equalities[class].push(equality);
        }
    }
    let mut places = 0;
    let mut conjuncts = tools::take_conjuncts(&mut select.filter);
    for (class, equalities) in classes.iter().zip(&mut equalities) {
        // Only where all of the class's equalities stand in WHERE, as rule S2 puts them.
        let star: Vec<_> = class[1..].iter().map(|other| (class[0], *other)).collect();
        let normal =
            |pair: &(ColumnRef, ColumnRef)| if pair.0 == class[0] { *pair } else { (pair.1, pair.0) };
        let mut edges: Vec<_> = equalities.iter().map(normal).collect();
        edges.sort_by_key(|pair| class.iter().position(|column| *column == pair.1));
        if edges == star || equalities.len() + 1 < class.len() {
            continue;
        }
        places += 1;
        conjuncts.retain(|conjunct| {
            pair(conjunct).is_none_or(|(a, b)| !(class.contains(&a) && class.contains(&b)))
        });
        conjuncts.extend(star.into_iter().map(|(a, b)| Expr::equal(Expr::Column(a), Expr::Column(b))));
    }
    select.filter = tools::conjunction(conjuncts);
    places
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT t.id FROM t JOIN u ON t.id = u.t_id WHERE name = 'x' AND v = 1", "SELECT u.t_id FROM t JOIN u ON t.id = u.t_id WHERE name = 'x' AND v = 1"),
    RuleCase::equal("CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, name TEXT, age INT, born TEXT NOT NULL);
CREATE TABLE u (uid INTEGER PRIMARY KEY, t_id INT REFERENCES t(id), must INT NOT NULL REFERENCES t(id), v INT);
CREATE TABLE n (x INT);", "SELECT a.v FROM t JOIN u a ON t.id = a.t_id JOIN n b ON b.x = t.id WHERE name = 'x'", "SELECT a.v FROM t JOIN u a ON t.id = a.t_id JOIN n b ON b.x = a.t_id WHERE name = 'x'").sound(),
    RuleCase::equal(SCHEMA, "SELECT COUNT(*) FROM t JOIN u ON t.id = u.t_id WHERE name = 'x' GROUP BY t.id", "SELECT COUNT(*) FROM t JOIN u ON t.id = u.t_id WHERE name = 'x' GROUP BY u.t_id"),
    RuleCase::differs(SCHEMA, "SELECT t.id FROM t LEFT JOIN u ON t.id = u.t_id", "SELECT u.t_id FROM t LEFT JOIN u ON t.id = u.t_id").sound(),
    RuleCase::differs(SCHEMA, "SELECT t.id, v FROM t JOIN u ON t.id = u.t_id WHERE name = 'x'", "SELECT u.uid, v FROM t JOIN u ON t.id = u.t_id WHERE name = 'x'"),
    RuleCase::differs("CREATE TABLE a (x INT); CREATE TABLE b (y TEXT)", "SELECT a.x FROM a JOIN b ON a.x = b.y", "SELECT b.y FROM a JOIN b ON a.x = b.y").sound().witness("INSERT INTO a VALUES (1); INSERT INTO b VALUES ('1')"),
    // A rowid brings no collation, another column that holds the same number brings one.
    RuleCase::differs(
        COLLATED,
        "SELECT CAST(id AS TEXT) = c FROM p JOIN f ON id = n",
        "SELECT CAST(n AS TEXT) = c FROM p JOIN f ON id = n",
    )
    .sound()
    .witness("INSERT INTO p VALUES (1); INSERT INTO f VALUES (1, '1 ')"),
    RuleCase::differs(
        COLLATED,
        "SELECT MAX(id, c, 'b ') FROM p JOIN f ON id = n",
        "SELECT MAX(n, c, 'b ') FROM p JOIN f ON id = n",
    )
    .sound()
    .witness("INSERT INTO p VALUES (1); INSERT INTO f VALUES (1, 'b')"),
    RuleCase::differs(
        COLLATED,
        "SELECT MAX(x, c, 'b ') FROM (SELECT id AS x, c FROM p JOIN f ON id = n)",
        "SELECT MAX(x, c, 'b ') FROM (SELECT n AS x, c FROM p JOIN f ON id = n)",
    )
    .sound()
    .witness("INSERT INTO p VALUES (1); INSERT INTO f VALUES (1, 'b')"),
];

const COLLATED: &str =
    "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE f (n INT NOT NULL, c TEXT COLLATE RTRIM) STRICT";
