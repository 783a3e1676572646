//! # Conditions of inner joins
//!
//! ## What it does
//! Moves the conditions of inner joins from ON to WHERE, and treats CROSS JOIN as an inner join.
//!
//! ## Why it holds
//! An inner join is a filtered product, so it does not matter when its condition filters. SQLite itself treats both
//! alike. On the side that a LEFT JOIN preserves the condition may move as well: it reads only columns of that
//! side.
//!
//! ## Needs
//! The join is an inner one and not on a side that an outer join fills with NULL.
//!
//! ## Example
//! ```sql
//! SELECT v FROM t JOIN u ON t.id = u.t_id AND v > 3
//! SELECT v FROM t, u WHERE t.id = u.t_id AND v > 3
//! ```
//!
//! ## Does not hold when
//! The join is a LEFT JOIN: its ON decides which partners count, WHERE which rows stay.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::tree::{Expr, From, JoinKind, Query};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S2",
    name: "join-conditions-in-where",
    summary: "Conditions of inner joins in ON or in WHERE",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::JOIN, query),
    cases: CASES,
    source: include_str!("join_conditions_in_where.rs"),
};

fn query(query: &mut Query, _context: &mut RuleContext<'_>) -> usize {
    let Some(select) = query.as_select_mut() else { return 0 };
    let mut moved = Vec::new();
    let mut places = 0;
    if let Some(from) = &mut select.from {
        collect(from, &mut moved, &mut places);
    }
    for conjunct in moved {
        places += 1;
        tools::add_conjunct(&mut select.filter, conjunct);
    }
    places
}

fn collect(from: &mut From, moved: &mut Vec<Expr>, places: &mut usize) {
    let From::Join(join) = from else { return };
    match join.kind {
        JoinKind::Inner | JoinKind::Cross => {
            if join.kind == JoinKind::Cross {
                join.kind = JoinKind::Inner;
                *places += 1;
            }
            collect(&mut join.left, moved, places);
            collect(&mut join.right, moved, places);
            moved.extend(join.on.take());
        }
        JoinKind::Left => collect(&mut join.left, moved, places),
        JoinKind::Right => collect(&mut join.right, moved, places),
        JoinKind::Full => {}
    }
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT v FROM t JOIN u ON t.id = u.t_id AND v > 3 WHERE name = 'x'",
        "SELECT v FROM t, u WHERE t.id = u.t_id AND v > 3 AND name = 'x'",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT v FROM t CROSS JOIN u WHERE t.id = u.t_id AND name = 'x'",
        "SELECT v FROM t JOIN u ON t.id = u.t_id WHERE name = 'x'",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT row_number() OVER (ORDER BY q.age), v.uid FROM (SELECT t.age FROM t FULL JOIN u ON u.uid = 2) AS q
         JOIN u AS s JOIN u AS v WHERE q.age = s.v AND s.v IN (7, 8)",
        "SELECT row_number() OVER (ORDER BY q.age), v.uid FROM (SELECT t.age FROM t FULL JOIN u ON u.uid = 2) AS q
         JOIN u AS s ON q.age = s.v AND s.v IN (7, 8) JOIN u AS v",
    )
    .witness("INSERT INTO t VALUES (1, 'a', 'a', 7, 'x'); INSERT INTO u VALUES (1, 1, 1, 7), (2, 1, 1, 7)")
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT v FROM t LEFT JOIN u ON t.id = u.t_id AND v > 3",
        "SELECT v FROM t LEFT JOIN u ON t.id = u.t_id WHERE v > 3",
    ),
];
