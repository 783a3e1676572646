//! One visitor and one rewriter over the resolved query, for every crate.
//!
//! [`Visitor`] hooks run before a node's children. [`Rewriter`] hooks run after them, so that a hook sees
//! children that are already rewritten. Children are visited in the order in which SQL text has them, except
//! that FROM comes before the outputs.
//!
//! Every node that is visited is a step of the analysis at hand ([`budget`]).

use sqlgauge_base::budget;

use crate::tree::{
    Args, Body, Expr, FrameBound, From, OrderTerm, Query, Relation, RelationSource, Select, Window,
};

/// Read-only hooks; each has an empty default.
pub trait Visitor {
    /// A query, before its parts; called for the outermost one too.
    fn query(&mut self, _query: &Query) {}
    /// A query, after its parts.
    fn leave_query(&mut self, _query: &Query) {}
    /// A body: SELECT, compound or VALUES.
    fn body(&mut self, _body: &Body) {}
    /// A FROM clause or a part of one.
    fn from(&mut self, _from: &From) {}
    /// A relation in a FROM clause.
    fn relation(&mut self, _relation: &Relation) {}
    /// An expression.
    fn expr(&mut self, _expr: &Expr) {}
}

/// Visits a query and everything in it.
pub fn walk_query<V: Visitor + ?Sized>(visitor: &mut V, query: &Query) {
    budget::spend(1);
    visitor.query(query);
    for cte in &query.ctes {
        walk_query(visitor, &cte.query);
    }
    walk_body(visitor, &query.body);
    walk_order(visitor, &query.order_by);
    for expr in query.limit.iter().chain(&query.offset) {
        walk_expr(visitor, expr);
    }
    visitor.leave_query(query);
}

fn walk_body<V: Visitor + ?Sized>(visitor: &mut V, body: &Body) {
    budget::spend(1);
    visitor.body(body);
    match body {
        Body::Select(select) => walk_select(visitor, select),
        Body::SetOperation { left, right, .. } => {
            walk_body(visitor, left);
            walk_body(visitor, right);
        }
        Body::Values(rows) => rows.iter().flatten().for_each(|expr| walk_expr(visitor, expr)),
    }
}

fn walk_select<V: Visitor + ?Sized>(visitor: &mut V, select: &Select) {
    if let Some(from) = &select.from {
        walk_from(visitor, from);
    }
    let outputs = select.outputs.iter().map(|output| &output.expr);
    for expr in outputs.chain(&select.filter).chain(&select.group_by).chain(&select.having) {
        walk_expr(visitor, expr);
    }
}

/// Visits a FROM clause and everything in it.
pub fn walk_from<V: Visitor + ?Sized>(visitor: &mut V, from: &From) {
    budget::spend(1);
    visitor.from(from);
    match from {
        From::Relation(relation) => {
            visitor.relation(relation);
            match &relation.source {
                RelationSource::Derived(query) => walk_query(visitor, query),
                RelationSource::Function { args, .. } => args.iter().for_each(|arg| walk_expr(visitor, arg)),
                RelationSource::Table(_) | RelationSource::Cte(_) | RelationSource::Catalog => {}
            }
        }
        From::Join(join) => {
            walk_from(visitor, &join.left);
            walk_from(visitor, &join.right);
            if let Some(on) = &join.on {
                walk_expr(visitor, on);
            }
        }
    }
}

fn walk_order<V: Visitor + ?Sized>(visitor: &mut V, terms: &[OrderTerm]) {
    terms.iter().for_each(|term| walk_expr(visitor, &term.expr));
}

/// Visits an expression and everything in it, subqueries included.
pub fn walk_expr<V: Visitor + ?Sized>(visitor: &mut V, expr: &Expr) {
    budget::spend(1);
    visitor.expr(expr);
    match expr {
        Expr::Column(_) | Expr::Output(_) | Expr::Literal(_) => {}
        Expr::Unary(_, operand) => walk_expr(visitor, operand),
        Expr::Binary(_, left, right) => {
            walk_expr(visitor, left);
            walk_expr(visitor, right);
        }
        Expr::And(list) | Expr::Or(list) | Expr::Row(list) => {
            list.iter().for_each(|operand| walk_expr(visitor, operand));
        }
        Expr::Between { expr, low, high, .. } => {
            [expr, low, high].into_iter().for_each(|operand| walk_expr(visitor, operand));
        }
        Expr::Like { expr, pattern, escape, .. } => {
            [expr, pattern].into_iter().chain(escape).for_each(|operand| walk_expr(visitor, operand));
        }
        Expr::InList { expr, list, .. } => {
            walk_expr(visitor, expr);
            list.iter().for_each(|operand| walk_expr(visitor, operand));
        }
        Expr::InQuery { expr, query, .. } => {
            walk_expr(visitor, expr);
            walk_query(visitor, query);
        }
        Expr::Exists { query, .. } | Expr::Scalar(query) => walk_query(visitor, query),
        Expr::Case { operand, branches, otherwise } => {
            operand.iter().for_each(|operand| walk_expr(visitor, operand));
            for (when, then) in branches {
                walk_expr(visitor, when);
                walk_expr(visitor, then);
            }
            otherwise.iter().for_each(|operand| walk_expr(visitor, operand));
        }
        Expr::Cast { expr, .. } | Expr::Collate { expr, .. } | Expr::IsNull { expr, .. } => {
            walk_expr(visitor, expr);
        }
        Expr::Function { args, .. } => walk_args(visitor, args),
        Expr::Aggregate(aggregate) => {
            walk_args(visitor, &aggregate.args);
            walk_order(visitor, &aggregate.order_by);
            aggregate.filter.iter().for_each(|filter| walk_expr(visitor, filter));
        }
        Expr::Window(call) => {
            walk_args(visitor, &call.args);
            call.filter.iter().for_each(|filter| walk_expr(visitor, filter));
            walk_window(visitor, &call.window);
        }
    }
}

fn walk_args<V: Visitor + ?Sized>(visitor: &mut V, args: &Args) {
    args.as_slice().iter().for_each(|arg| walk_expr(visitor, arg));
}

fn walk_window<V: Visitor + ?Sized>(visitor: &mut V, window: &Window) {
    window.partition_by.iter().for_each(|expr| walk_expr(visitor, expr));
    walk_order(visitor, &window.order_by);
    bounds(window).for_each(|expr| walk_expr(visitor, expr));
}

/// Hooks that change nodes in place; each has an empty default and runs after the node's children.
pub trait Rewriter {
    /// A query whose parts are still to come.
    fn enter_query(&mut self, _query: &Query) {}
    /// A query.
    fn query(&mut self, _query: &mut Query) {}
    /// A body: SELECT, compound or VALUES.
    fn body(&mut self, _body: &mut Body) {}
    /// A FROM clause or a part of one.
    fn from(&mut self, _from: &mut From) {}
    /// A relation in a FROM clause.
    fn relation(&mut self, _relation: &mut Relation) {}
    /// An expression.
    fn expr(&mut self, _expr: &mut Expr) {}
}

/// Rewrites a query and everything in it, innermost first.
pub fn rewrite_query<R: Rewriter + ?Sized>(rewriter: &mut R, query: &mut Query) {
    budget::spend(1);
    rewriter.enter_query(query);
    for cte in &mut query.ctes {
        rewrite_query(rewriter, &mut cte.query);
    }
    rewrite_body(rewriter, &mut query.body);
    rewrite_order(rewriter, &mut query.order_by);
    for expr in query.limit.iter_mut().chain(&mut query.offset) {
        rewrite_expr(rewriter, expr);
    }
    rewriter.query(query);
}

fn rewrite_body<R: Rewriter + ?Sized>(rewriter: &mut R, body: &mut Body) {
    budget::spend(1);
    match body {
        Body::Select(select) => rewrite_select(rewriter, select),
        Body::SetOperation { left, right, .. } => {
            rewrite_body(rewriter, left);
            rewrite_body(rewriter, right);
        }
        Body::Values(rows) => rows.iter_mut().flatten().for_each(|expr| rewrite_expr(rewriter, expr)),
    }
    rewriter.body(body);
}

fn rewrite_select<R: Rewriter + ?Sized>(rewriter: &mut R, select: &mut Select) {
    if let Some(from) = &mut select.from {
        rewrite_from(rewriter, from);
    }
    let outputs = select.outputs.iter_mut().map(|output| &mut output.expr);
    for expr in outputs.chain(&mut select.filter).chain(&mut select.group_by).chain(&mut select.having) {
        rewrite_expr(rewriter, expr);
    }
}

/// Rewrites a FROM clause and everything in it, innermost first.
pub fn rewrite_from<R: Rewriter + ?Sized>(rewriter: &mut R, from: &mut From) {
    budget::spend(1);
    match from {
        From::Relation(relation) => {
            match &mut relation.source {
                RelationSource::Derived(query) => rewrite_query(rewriter, query),
                RelationSource::Function { args, .. } => {
                    args.iter_mut().for_each(|arg| rewrite_expr(rewriter, arg));
                }
                RelationSource::Table(_) | RelationSource::Cte(_) | RelationSource::Catalog => {}
            }
            rewriter.relation(relation);
        }
        From::Join(join) => {
            rewrite_from(rewriter, &mut join.left);
            rewrite_from(rewriter, &mut join.right);
            if let Some(on) = &mut join.on {
                rewrite_expr(rewriter, on);
            }
        }
    }
    rewriter.from(from);
}

fn rewrite_order<R: Rewriter + ?Sized>(rewriter: &mut R, terms: &mut [OrderTerm]) {
    terms.iter_mut().for_each(|term| rewrite_expr(rewriter, &mut term.expr));
}

/// Rewrites an expression and everything in it, innermost first.
pub fn rewrite_expr<R: Rewriter + ?Sized>(rewriter: &mut R, expr: &mut Expr) {
    budget::spend(1);
    match expr {
        Expr::Column(_) | Expr::Output(_) | Expr::Literal(_) => {}
        Expr::Unary(_, operand) => rewrite_expr(rewriter, operand),
        Expr::Binary(_, left, right) => {
            rewrite_expr(rewriter, left);
            rewrite_expr(rewriter, right);
        }
        Expr::And(list) | Expr::Or(list) | Expr::Row(list) => {
            list.iter_mut().for_each(|operand| rewrite_expr(rewriter, operand));
        }
        Expr::Between { expr, low, high, .. } => {
            [expr, low, high].into_iter().for_each(|operand| rewrite_expr(rewriter, operand));
        }
        Expr::Like { expr, pattern, escape, .. } => {
            [expr, pattern].into_iter().chain(escape).for_each(|operand| rewrite_expr(rewriter, operand));
        }
        Expr::InList { expr, list, .. } => {
            rewrite_expr(rewriter, expr);
            list.iter_mut().for_each(|operand| rewrite_expr(rewriter, operand));
        }
        Expr::InQuery { expr, query, .. } => {
            rewrite_expr(rewriter, expr);
            rewrite_query(rewriter, query);
        }
        Expr::Exists { query, .. } | Expr::Scalar(query) => rewrite_query(rewriter, query),
        Expr::Case { operand, branches, otherwise } => {
            operand.iter_mut().for_each(|operand| rewrite_expr(rewriter, operand));
            for (when, then) in branches {
                rewrite_expr(rewriter, when);
                rewrite_expr(rewriter, then);
            }
            otherwise.iter_mut().for_each(|operand| rewrite_expr(rewriter, operand));
        }
        Expr::Cast { expr, .. } | Expr::Collate { expr, .. } | Expr::IsNull { expr, .. } => {
            rewrite_expr(rewriter, expr);
        }
        Expr::Function { args, .. } => rewrite_args(rewriter, args),
        Expr::Aggregate(aggregate) => {
            rewrite_args(rewriter, &mut aggregate.args);
            rewrite_order(rewriter, &mut aggregate.order_by);
            aggregate.filter.iter_mut().for_each(|filter| rewrite_expr(rewriter, filter));
        }
        Expr::Window(call) => {
            rewrite_args(rewriter, &mut call.args);
            call.filter.iter_mut().for_each(|filter| rewrite_expr(rewriter, filter));
            rewrite_window(rewriter, &mut call.window);
        }
    }
    rewriter.expr(expr);
}

fn rewrite_args<R: Rewriter + ?Sized>(rewriter: &mut R, args: &mut Args) {
    args.as_mut_slice().iter_mut().for_each(|arg| rewrite_expr(rewriter, arg));
}

fn rewrite_window<R: Rewriter + ?Sized>(rewriter: &mut R, window: &mut Window) {
    window.partition_by.iter_mut().for_each(|expr| rewrite_expr(rewriter, expr));
    rewrite_order(rewriter, &mut window.order_by);
    bounds_mut(window).for_each(|expr| rewrite_expr(rewriter, expr));
}

/// The expressions in the bounds of a window's frame.
fn bounds(window: &Window) -> impl Iterator<Item = &Expr> {
    let ends = window.frame.iter().flat_map(|frame| [Some(&frame.start), frame.end.as_ref()]);
    ends.flatten().filter_map(|bound| match bound {
        FrameBound::Preceding(expr) | FrameBound::Following(expr) => Some(&**expr),
        FrameBound::CurrentRow | FrameBound::UnboundedPreceding | FrameBound::UnboundedFollowing => None,
    })
}

fn bounds_mut(window: &mut Window) -> impl Iterator<Item = &mut Expr> {
    let ends = window.frame.iter_mut().flat_map(|frame| [Some(&mut frame.start), frame.end.as_mut()]);
    ends.flatten().filter_map(|bound| match bound {
        FrameBound::Preceding(expr) | FrameBound::Following(expr) => Some(&mut **expr),
        FrameBound::CurrentRow | FrameBound::UnboundedPreceding | FrameBound::UnboundedFollowing => None,
    })
}

/// Calls `found` for every expression directly inside `expr`; subqueries are not entered.
pub fn children<'e>(expr: &'e Expr, found: &mut dyn FnMut(&'e Expr)) {
    budget::spend(1);
    match expr {
        Expr::Column(_) | Expr::Output(_) | Expr::Literal(_) | Expr::Exists { .. } | Expr::Scalar(_) => {}
        Expr::Unary(_, operand) => found(operand),
        Expr::Binary(_, left, right) => {
            found(left);
            found(right);
        }
        Expr::And(list) | Expr::Or(list) | Expr::Row(list) => list.iter().for_each(found),
        Expr::Between { expr, low, high, .. } => [expr, low, high].into_iter().for_each(|e| found(e)),
        Expr::Like { expr, pattern, escape, .. } => {
            [expr, pattern].into_iter().chain(escape).for_each(|e| found(e));
        }
        Expr::InList { expr, list, .. } => {
            found(expr);
            list.iter().for_each(found);
        }
        Expr::InQuery { expr, .. }
        | Expr::Cast { expr, .. }
        | Expr::Collate { expr, .. }
        | Expr::IsNull { expr, .. } => {
            found(expr);
        }
        Expr::Case { operand, branches, otherwise } => {
            operand.iter().for_each(|e| found(e));
            for (when, then) in branches {
                found(when);
                found(then);
            }
            otherwise.iter().for_each(|e| found(e));
        }
        Expr::Function { args, .. } => args.as_slice().iter().for_each(found),
        Expr::Aggregate(aggregate) => {
            aggregate.args.as_slice().iter().for_each(&mut *found);
            aggregate.order_by.iter().for_each(|term| found(&term.expr));
            aggregate.filter.iter().for_each(found);
        }
        Expr::Window(call) => {
            call.args.as_slice().iter().for_each(&mut *found);
            call.filter.iter().for_each(&mut *found);
            call.window.partition_by.iter().for_each(&mut *found);
            call.window.order_by.iter().for_each(|term| found(&term.expr));
            bounds(&call.window).for_each(found);
        }
    }
}

/// Calls `found` for every expression directly inside `expr`; subqueries are not entered.
pub fn children_mut(expr: &mut Expr, found: &mut dyn FnMut(&mut Expr)) {
    budget::spend(1);
    match expr {
        Expr::Column(_) | Expr::Output(_) | Expr::Literal(_) | Expr::Exists { .. } | Expr::Scalar(_) => {}
        Expr::Unary(_, operand) => found(operand),
        Expr::Binary(_, left, right) => {
            found(left);
            found(right);
        }
        Expr::And(list) | Expr::Or(list) | Expr::Row(list) => list.iter_mut().for_each(found),
        Expr::Between { expr, low, high, .. } => [expr, low, high].into_iter().for_each(|e| found(e)),
        Expr::Like { expr, pattern, escape, .. } => {
            [expr, pattern].into_iter().chain(escape).for_each(|e| found(e));
        }
        Expr::InList { expr, list, .. } => {
            found(expr);
            list.iter_mut().for_each(found);
        }
        Expr::InQuery { expr, .. }
        | Expr::Cast { expr, .. }
        | Expr::Collate { expr, .. }
        | Expr::IsNull { expr, .. } => found(expr),
        Expr::Case { operand, branches, otherwise } => {
            operand.iter_mut().for_each(|e| found(e));
            for (when, then) in branches {
                found(when);
                found(then);
            }
            otherwise.iter_mut().for_each(|e| found(e));
        }
        Expr::Function { args, .. } => args.as_mut_slice().iter_mut().for_each(found),
        Expr::Aggregate(aggregate) => {
            aggregate.args.as_mut_slice().iter_mut().for_each(&mut *found);
            aggregate.order_by.iter_mut().for_each(|term| found(&mut term.expr));
            aggregate.filter.iter_mut().for_each(found);
        }
        Expr::Window(call) => {
            call.args.as_mut_slice().iter_mut().for_each(&mut *found);
            call.filter.iter_mut().for_each(&mut *found);
            call.window.partition_by.iter_mut().for_each(&mut *found);
            call.window.order_by.iter_mut().for_each(|term| found(&mut term.expr));
            bounds_mut(&mut call.window).for_each(found);
        }
    }
}
