//! Gives every aggregate back to the FROM clause that it is computed over.
//!
//! In `SELECT (SELECT max(t.x) + u.y FROM u) FROM t GROUP BY t.g` the aggregate is one over `t`. A check is made of parts
//! of a query and would take it away from there. So such a SELECT becomes one over a subquery that has the groups, the
//! aggregates and the columns: `SELECT (SELECT d.a + u.y FROM u) FROM (SELECT max(t.x) AS a FROM t GROUP BY t.g) AS d`. Both
//! leave the same choices: columns that are outputs from any row of a group stand beside the same aggregates as before.

use std::collections::BTreeSet;

use sqlgauge_sql::aggregates::{has_displaced, has_own, is_entangled};
use sqlgauge_sql::tree::{Body, Expr, From, OrderTerm, Output, Owner, Query, RelationId, Select};
use sqlgauge_sql::visit::{Rewriter, rewrite_expr, rewrite_query};

use super::build::{column, derived};
use super::free_relations;

/// The query with every aggregate in the SELECT that owns it; `None` where a subquery in FROM cannot say it.
pub(super) fn lifted(query: &Query, next_relation: u32) -> Option<Query> {
    let mut lifting = Lifting { next_relation, fails: false };
    let mut lifted = query.clone();
    rewrite_query(&mut lifting, &mut lifted);
    (!lifting.fails && !is_entangled(&lifted)).then_some(lifted)
}

struct Lifting {
    next_relation: u32,
    /// The groups of some SELECT depend on rows of a query around it.
    fails: bool,
}

impl Rewriter for Lifting {
    fn query(&mut self, query: &mut Query) {
        let Query { body: Body::Select(select), order_by, .. } = query else { return };
        let id = RelationId(self.next_relation);
        if per_group(select, order_by).iter().any(|expr| has_own(expr) && has_displaced(expr)) {
            self.next_relation += 1;
            let groups = groups(select, order_by, id);
            self.fails |= !free_relations(&groups).is_empty();
            select.from = Some(derived(id, groups));
        }
    }
}

/// The expressions that are evaluated once for each group.
fn per_group<'e>(select: &'e mut Select, order_by: &'e mut [OrderTerm]) -> Vec<&'e mut Expr> {
    let outputs = select.outputs.iter_mut().map(|output| &mut output.expr);
    outputs.chain(&mut select.having).chain(order_by.iter_mut().map(|term| &mut term.expr)).collect()
}

/// Takes the groups out of a SELECT, which then reads them from that relation.
fn groups(select: &mut Select, order_by: &mut [OrderTerm], id: RelationId) -> Query {
    let relations = select.from.iter().flat_map(From::relations).map(|relation| relation.id).collect();
    let mut parts = Parts { id, level: 0, relations, takes_columns: false, outputs: Vec::new() };
    // Aggregates first: the columns that they read stay theirs.
    for takes_columns in [false, true] {
        parts.takes_columns = takes_columns;
        per_group(select, order_by).into_iter().for_each(|expr| rewrite_expr(&mut parts, expr));
    }
    let groups = Select {
        from: select.from.take(),
        filter: select.filter.take(),
        group_by: std::mem::take(&mut select.group_by),
        ..Select::of(parts.outputs.into_iter().map(Output::of).collect())
    };
    select.filter = select.having.take();
    Query::of(Body::Select(Box::new(groups)))
}

struct Parts {
    id: RelationId,
    /// How many queries inside the SELECT the walk is.
    level: u32,
    relations: BTreeSet<RelationId>,
    takes_columns: bool,
    /// What the subquery in FROM returns.
    outputs: Vec<Expr>,
}

impl Parts {
    fn place(&mut self, part: Expr) -> Expr {
        let at = self.outputs.iter().position(|other| *other == part);
        let at = at.unwrap_or_else(|| {
            self.outputs.push(part);
            self.outputs.len() - 1
        });
        column(self.id, at)
    }
}

impl Rewriter for Parts {
    fn enter_query(&mut self, _query: &Query) {
        self.level += 1;
    }

    fn query(&mut self, _query: &mut Query) {
        self.level -= 1;
    }

    fn expr(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Aggregate(call) if !self.takes_columns && call.owner.0 == self.level => {
                call.owner = Owner::HERE;
                *expr = self.place(expr.clone());
            }
            Expr::Column(column) if self.takes_columns && self.relations.contains(&column.relation) => {
                *expr = self.place(expr.clone());
            }
            _ => {}
        }
    }
}
