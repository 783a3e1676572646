//! # WITH as a subquery in FROM
//!
//! ## What it does
//! Puts the query of a common table expression in place of its name.
//!
//! ## Why it holds
//! A common table expression that does not refer to itself names a subquery. Each use gets a copy.
//!
//! ## Needs
//! It is not recursive, its functions give the same value each time, and the copies stay within a bound. SQLite computes
//! once what is read twice or is called MATERIALIZED, and plans the copies: this does not show, since no statement is
//! rewritten whose result the plan may decide.
//!
//! ## Example
//! ```sql
//! WITH q AS (SELECT name FROM t WHERE age = 3) SELECT name FROM q
//! SELECT name FROM (SELECT name FROM t WHERE age = 3)
//! ```
//!
//! ## Does not hold when
//! It is recursive. Then it stays.
//!
//! ## Source
//! Paper, Table 3, rule 26.

use std::collections::VecDeque;

use sqlgauge_sql::reads::{is_recursive, readings_of_cte};
use sqlgauge_sql::tree::{Cte, Query, Relation, RelationSource};
use sqlgauge_sql::visit::{Rewriter, rewrite_query};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "26",
    name: "common-table-expression",
    summary: "WITH as a subquery",
    profiles: Profiles::BOTH,
    stage: RuleStage::Query(Shape::CTE, query),
    cases: CASES,
    source: include_str!("common_table_expression.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let mut places = 0;
    let mut ctes = Vec::new();
    // Later ones may use earlier ones, so these go first.
    let mut pending: VecDeque<Cte> = std::mem::take(&mut query.ctes).into();
    while let Some(cte) = pending.pop_front() {
        let uses: usize = pending
            .iter()
            .map(|later| &later.query)
            .chain([&*query])
            .map(|q| readings_of_cte(q, cte.id))
            .sum();
        let growth = uses.saturating_sub(1).saturating_mul(tools::size(&cte.query));
        if is_recursive(&cte) || !tools::is_deterministic(&cte.query) || growth > context.copies_left {
            ctes.push(cte);
            continue;
        }
        context.copies_left -= growth;
        for later in &mut pending {
            inline(&mut later.query, &cte, context);
        }
        inline(query, &cte, context);
        places += 1;
    }
    query.ctes = ctes;
    places
}

fn inline(query: &mut Query, cte: &Cte, context: &mut RuleContext<'_>) {
    rewrite_query(&mut Inline { cte, context }, query);
}

struct Inline<'i, 'a> {
    cte: &'i Cte,
    context: &'i mut RuleContext<'a>,
}

impl Rewriter for Inline<'_, '_> {
    fn relation(&mut self, relation: &mut Relation) {
        if relation.source == RelationSource::Cte(self.cte.id) {
            let mut copy = self.cte.query.clone();
            tools::refresh(&mut copy, self.context);
            relation.source = RelationSource::Derived(Box::new(copy));
        }
    }
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "WITH q AS (SELECT name FROM t WHERE age = 3) SELECT name FROM q",
        "SELECT name FROM (SELECT name FROM t WHERE age = 3)",
    ),
    RuleCase::equal(
        SCHEMA,
        "WITH q AS (SELECT age, COUNT(*) AS n FROM t GROUP BY age), r AS (SELECT MAX(n) AS m FROM q) SELECT age FROM q JOIN r ON n = m",
        "SELECT age FROM (SELECT age, COUNT(*) AS n FROM t GROUP BY age) JOIN (SELECT MAX(n) AS m FROM (SELECT age, COUNT(*) AS n FROM t GROUP BY age)) ON n = m",
    ),
    // Of a subquery SQLite reads only b, and so by its index.
    RuleCase::differs(
        "CREATE TABLE n (a TEXT, b TEXT UNIQUE, c TEXT UNIQUE); CREATE VIEW v AS SELECT a, b, c FROM n",
        "WITH q(d, e) AS (SELECT b, c FROM v LIMIT 1) SELECT x.d FROM q AS x JOIN q AS y",
        "SELECT x.b FROM (SELECT b, c FROM v LIMIT 1) AS x JOIN (SELECT b, c FROM v LIMIT 1) AS y",
    )
    .sound()
    .witness("INSERT INTO n VALUES ('x', 'b', '1'), ('A', 'a', '2')"),
    RuleCase::differs(
        SCHEMA,
        "WITH q AS (SELECT name FROM t WHERE age = 3) SELECT name FROM q",
        "WITH q AS (SELECT name FROM t WHERE age = 4) SELECT name FROM q",
    ),
    RuleCase::differs(
        SCHEMA,
        "WITH RECURSIVE q(x) AS (SELECT id FROM t UNION ALL SELECT x - 1 FROM q WHERE x > 0) SELECT x FROM q",
        "SELECT id FROM t",
    ),
    RuleCase::equal(
        SCHEMA,
        "WITH RECURSIVE q(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM q WHERE x < 9) SELECT x FROM q WHERE x > 3",
        "WITH RECURSIVE r(y) AS (SELECT 1 UNION ALL SELECT y + 1 FROM r WHERE y < 9) SELECT r.y FROM r WHERE 3 < r.y",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "WITH q AS (SELECT id FROM t ORDER BY age) SELECT v, (SELECT id FROM q) FROM u",
        "SELECT v, (SELECT id FROM t) FROM u",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 2, 'x'), (2, 'b', 'm', 1, 'x'); INSERT INTO u VALUES (1, 1, 1, 1)"),
    // What is read twice SQLite computes once: `x > 3` then compares without affinity; a copy compares inside each SELECT.
    RuleCase::differs(
        SCHEMA,
        "WITH q(x) AS (SELECT id FROM t UNION SELECT name FROM t) SELECT x FROM q INTERSECT SELECT x FROM q WHERE x > 3",
        "SELECT x FROM (SELECT id AS x FROM t UNION SELECT name FROM t) INTERSECT SELECT x FROM (SELECT id AS x FROM t UNION SELECT name FROM t) WHERE x > 3",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'a', '10', 1, 'x')"),
    RuleCase::equal(
        SCHEMA,
        "WITH q(x) AS (SELECT code FROM t UNION SELECT name FROM t) SELECT x FROM q INTERSECT SELECT x FROM q WHERE x > '3'",
        "SELECT x FROM (SELECT code AS x FROM t UNION SELECT name FROM t) INTERSECT SELECT x FROM (SELECT code AS x FROM t UNION SELECT name FROM t) WHERE x > '3'",
    )
    .sound(),
    // For the join SQLite makes an index of the columns that are read of `q`, and of all columns of a subquery.
    RuleCase::differs(
        "CREATE TABLE t (a TEXT COLLATE NOCASE, b TEXT)",
        "WITH q(x, n, y) AS (SELECT c.b, row_number() OVER (PARTITION BY d.a ORDER BY c.a), d.a FROM t AS c JOIN t AS d) SELECT DISTINCT y FROM q JOIN t ON x = t.b",
        "SELECT DISTINCT y FROM (SELECT c.b AS x, row_number() OVER (PARTITION BY d.a ORDER BY c.a) AS n, d.a AS y FROM t AS c JOIN t AS d) JOIN t ON x = t.b",
    )
    .sound()
    .witness("INSERT INTO t VALUES ('x', 'a '), ('X', 'X')"),
];
