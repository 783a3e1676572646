//! # A left join that adds nothing
//!
//! ## What it does
//! Drops a LEFT JOIN of a table that is read only in its own ON and has at most one partner for each row.
//!
//! ## Why it holds
//! A left join keeps every row of its left side; with at most one partner it also repeats none.
//!
//! ## Needs
//! The equalities of ON fix a UNIQUE column set of the right table, and no column of it is read elsewhere. Where
//! repetition of rows does not show, uniqueness is not needed.
//!
//! ## Example
//! ```sql
//! SELECT v FROM u LEFT JOIN t ON t.id = u.t_id
//! SELECT v FROM u
//! ```
//!
//! ## Does not hold when
//! A row may have several partners: the join repeats it.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::derive::Dependencies;
use sqlgauge_sql::tree::{ColumnRef, Expr, From, JoinKind, Query, RelationSource};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S5",
    name: "unused-outer-join",
    summary: "LEFT JOIN of a table of which nothing is used",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::JOIN, query),
    cases: CASES,
    source: include_str!("unused_outer_join.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let Some(select) = query.as_select() else { return 0 };
    let Some(From::Join(join)) = &select.from else { return 0 };
    let (JoinKind::Left, From::Relation(right)) = (join.kind, &join.right) else { return 0 };
    if !matches!(right.source, RelationSource::Table(_)) {
        return 0;
    }
    let in_on =
        join.on.iter().flat_map(tools::columns_of).filter(|column| column.relation == right.id).count();
    if tools::columns_read(query, right.id).len() != in_on {
        return 0;
    }
    let hidden =
        (select.distinct || context.position.is_set()) && tools::is_flat(select) && query.limit.is_none();
    let left: Vec<Expr> = join
        .left
        .relations()
        .into_iter()
        .flat_map(|relation| {
            join.on.iter().flat_map(tools::columns_of).filter(move |c| c.relation == relation.id)
        })
        .map(Expr::Column)
        .collect();
    let right = Expr::Column(ColumnRef::rowid(right.id));
    if !hidden && !Dependencies::of(select, &context.facts).closure(&left).determines(&right) {
        return 0;
    }
    let Some(select) = query.as_select_mut() else { return 0 };
    if let Some(From::Join(join)) = select.from.take() {
        select.from = Some(join.left);
    }
    1
}

/// `vn` reads what `n` has: its rows come in another order where SQLite makes an index of them for the join.
const COLLATED: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE TABLE n (a TEXT, b TEXT, c TEXT COLLATE RTRIM UNIQUE); CREATE UNIQUE INDEX n_b ON n (b COLLATE NOCASE); CREATE VIEW vn AS SELECT a AS name, b, c FROM n;";

const CASES: &[RuleCase] = &[
    RuleCase::differs(
        COLLATED,
        "SELECT t.id COLLATE RTRIM FROM t UNION SELECT vn.b FROM vn LEFT JOIN n ON vn.c",
        "SELECT t.id COLLATE RTRIM FROM t UNION SELECT vn.b FROM vn",
    )
    .sound()
    .witness("INSERT INTO n VALUES (NULL, 'a ', '-1'), ('1.0', 'a', 'A')"),
    RuleCase::equal(
        COLLATED,
        "SELECT t.id FROM t UNION SELECT m.b FROM n AS m LEFT JOIN n ON m.c",
        "SELECT t.id FROM t UNION SELECT m.b FROM n AS m",
    )
    .sound(),
    RuleCase::equal(SCHEMA, "SELECT v FROM u LEFT JOIN t ON t.id = u.t_id", "SELECT v FROM u").sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT DISTINCT name FROM t LEFT JOIN u ON t.id = u.t_id",
        "SELECT DISTINCT name FROM t",
    )
    .sound(),
    RuleCase::differs(SCHEMA, "SELECT name FROM t LEFT JOIN u ON t.id = u.t_id", "SELECT name FROM t")
        .witness(
            "INSERT INTO t VALUES (1, 'a', 'n', 1, 'x'); INSERT INTO u VALUES (1, 1, 1, 1), (2, 1, 1, 2)",
        ),
];
