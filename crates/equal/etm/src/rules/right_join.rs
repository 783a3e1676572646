//! # RIGHT JOIN
//!
//! ## What it does
//! Turns `a RIGHT JOIN b` into `b LEFT JOIN a`.
//!
//! ## Why it holds
//! A right join is the mirror image of a left join. Result columns are named one by one at this point, so their
//! order stays.
//!
//! ## Needs
//! Nothing.
//!
//! ## Example
//! ```sql
//! SELECT name, v FROM u RIGHT JOIN t ON t.id = u.t_id
//! SELECT name, v FROM t LEFT JOIN u ON t.id = u.t_id
//! ```
//!
//! ## Does not hold when
//! The sides are not exchanged.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::tree::{From, JoinKind, Query};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};

pub(super) static RULE: Rule = Rule {
    id: "S3",
    name: "right-join",
    summary: "RIGHT JOIN as LEFT JOIN",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::JOIN, query),
    cases: CASES,
    source: include_str!("right_join.rs"),
};

fn query(query: &mut Query, _context: &mut RuleContext<'_>) -> usize {
    let Some(select) = query.as_select_mut() else { return 0 };
    select.from.as_mut().map_or(0, mirror)
}

fn mirror(from: &mut From) -> usize {
    let From::Join(join) = from else { return 0 };
    let mut places = mirror(&mut join.left) + mirror(&mut join.right);
    if join.kind == JoinKind::Right {
        let join = join.as_mut();
        std::mem::swap(&mut join.left, &mut join.right);
        join.kind = JoinKind::Left;
        places += 1;
    }
    places
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name, v FROM u RIGHT JOIN t ON t.id = u.t_id",
        "SELECT name, v FROM t LEFT JOIN u ON t.id = u.t_id",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name, v FROM u RIGHT JOIN t ON t.id = u.t_id",
        "SELECT name, v FROM u LEFT JOIN t ON t.id = u.t_id",
    ),
];
