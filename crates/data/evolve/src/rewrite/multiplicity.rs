//! Finds relations whose rows may repeat without a change of the result.

use std::collections::HashSet;

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Aggregate, Body, Expr, From, Query, RelationId, Select};
use sqlgauge_sql::visit::{Visitor, children, walk_query};

/// The relations whose rows may be repeated without a change of the query's rows: those of a SELECT under DISTINCT, EXISTS,
/// IN or a set operation, and those of aggregates that are minima, maxima or of DISTINCT values.
pub(super) fn repeatable(query: &Query) -> HashSet<RelationId> {
    let mut repeatable = Repeatable::default();
    walk_query(&mut repeatable, query);
    repeatable.0
}

#[derive(Default)]
struct Repeatable(HashSet<RelationId>);

impl Repeatable {
    fn arm(&mut self, body: &Body) {
        match body {
            Body::Select(select) if !aggregates(select, |_| true) && select.group_by.is_empty() => {
                self.add(select);
            }
            Body::Select(_) | Body::Values(_) => {}
            Body::SetOperation { all, left, right, .. } => {
                if !all {
                    self.arm(left);
                    self.arm(right);
                }
            }
        }
    }

    fn add(&mut self, select: &Select) {
        self.0.extend(select.from.iter().flat_map(From::relations).map(|relation| relation.id));
    }

    fn subquery(&mut self, query: &Query) {
        if query.limit.is_none() && query.offset.is_none() {
            self.arm(&query.body);
        }
    }
}

impl Visitor for Repeatable {
    fn query(&mut self, query: &Query) {
        let Some(select) = query.as_select() else { return };
        let ordered = query.order_by.iter().map(|term| &term.expr);
        let is_counted = aggregates(select, |aggregate| !ignores_repetition(aggregate))
            || ordered.clone().any(|expr| has(expr, &|aggregate| !ignores_repetition(aggregate)));
        let is_grouped = !select.group_by.is_empty()
            || aggregates(select, |_| true)
            || ordered.clone().any(|expr| has(expr, &|_| true));
        if (is_grouped || select.distinct) && !is_counted {
            self.add(select);
        }
    }

    fn body(&mut self, body: &Body) {
        if let Body::SetOperation { all: false, .. } = body {
            self.arm(body);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        if let Expr::InQuery { query, .. } | Expr::Exists { query, .. } = expr {
            self.subquery(query);
        }
    }
}

fn ignores_repetition(aggregate: &Aggregate) -> bool {
    aggregate.distinct || matches!(aggregate.function, Function::Min | Function::Max)
}

/// Whether the results or HAVING have such an aggregate, or a window function.
fn aggregates(select: &Select, test: impl Fn(&Aggregate) -> bool) -> bool {
    let outputs = select.outputs.iter().map(|output| &output.expr);
    outputs.chain(&select.having).any(|expr| has(expr, &test))
}

fn has(expr: &Expr, test: &dyn Fn(&Aggregate) -> bool) -> bool {
    let here = match expr {
        Expr::Aggregate(aggregate) => test(aggregate),
        Expr::Window(_) => true,
        // An aggregate in a subquery may be of this SELECT.
        Expr::Scalar(_) | Expr::Exists { .. } | Expr::InQuery { .. } => {
            sqlgauge_sql::aggregates::has_displaced(expr)
        }
        _ => false,
    };
    let mut anywhere = here;
    children(expr, &mut |child| anywhere = anywhere || has(child, test));
    anywhere
}
