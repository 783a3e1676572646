//! One visitor and one rewriter over the resolved query, for every crate.
//!
//! [`Visitor`] hooks run before a node's children. [`Rewriter`] hooks run after them, so that a hook sees
//! children that are already rewritten. Children are visited in the order in which SQL text has them, except
//! that FROM comes before the outputs.

use crate::tree::{
    Args, Body, Call, Expr, FrameBound, From, OrderTerm, Query, Relation, Select, Source, Window,
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
    visitor.from(from);
    match from {
        From::Relation(relation) => {
            visitor.relation(relation);
            match &relation.source {
                Source::Derived(query) => walk_query(visitor, query),
                Source::Function { args, .. } => args.iter().for_each(|arg| walk_expr(visitor, arg)),
                Source::Table(_) | Source::Cte(_) | Source::Catalog => {}
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
        Expr::Call(call) => walk_call(visitor, call),
    }
}

fn walk_call<V: Visitor + ?Sized>(visitor: &mut V, call: &Call) {
    call.args.as_slice().iter().for_each(|arg| walk_expr(visitor, arg));
    walk_order(visitor, &call.order_by);
    call.filter.iter().for_each(|filter| walk_expr(visitor, filter));
    let Some(window) = &call.over else { return };
    window.partition_by.iter().for_each(|expr| walk_expr(visitor, expr));
    walk_order(visitor, &window.order_by);
    let Some(frame) = &window.frame else { return };
    for bound in [Some(&frame.start), frame.end.as_ref()].into_iter().flatten() {
        if let FrameBound::Preceding(expr) | FrameBound::Following(expr) = bound {
            walk_expr(visitor, expr);
        }
    }
}

/// Hooks that change nodes in place; each has an empty default and runs after the node's children.
pub trait Rewriter {
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
    match from {
        From::Relation(relation) => {
            match &mut relation.source {
                Source::Derived(query) => rewrite_query(rewriter, query),
                Source::Function { args, .. } => args.iter_mut().for_each(|arg| rewrite_expr(rewriter, arg)),
                Source::Table(_) | Source::Cte(_) | Source::Catalog => {}
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
        Expr::Call(call) => rewrite_call(rewriter, call),
    }
    rewriter.expr(expr);
}

fn rewrite_call<R: Rewriter + ?Sized>(rewriter: &mut R, call: &mut Call) {
    if let Args::List(list) = &mut call.args {
        list.iter_mut().for_each(|arg| rewrite_expr(rewriter, arg));
    }
    rewrite_order(rewriter, &mut call.order_by);
    call.filter.iter_mut().for_each(|filter| rewrite_expr(rewriter, filter));
    if let Some(window) = &mut call.over {
        rewrite_window(rewriter, window);
    }
}

fn rewrite_window<R: Rewriter + ?Sized>(rewriter: &mut R, window: &mut Window) {
    window.partition_by.iter_mut().for_each(|expr| rewrite_expr(rewriter, expr));
    rewrite_order(rewriter, &mut window.order_by);
    let Some(frame) = &mut window.frame else { return };
    for bound in [Some(&mut frame.start), frame.end.as_mut()].into_iter().flatten() {
        if let FrameBound::Preceding(expr) | FrameBound::Following(expr) = bound {
            rewrite_expr(rewriter, expr);
        }
    }
}

/// Calls `found` for every expression directly inside `expr`; subqueries are not entered.
pub fn children<'e>(expr: &'e Expr, found: &mut dyn FnMut(&'e Expr)) {
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
        Expr::Call(call) => {
            if let Args::List(list) = &call.args {
                list.iter().for_each(&mut *found);
            }
            call.order_by.iter().for_each(|term| found(&term.expr));
            call.filter.iter().for_each(&mut *found);
            if let Some(window) = &call.over {
                window.partition_by.iter().for_each(&mut *found);
                window.order_by.iter().for_each(|term| found(&term.expr));
            }
        }
    }
}

/// Calls `found` for every expression directly inside `expr`; subqueries are not entered.
pub fn children_mut(expr: &mut Expr, found: &mut dyn FnMut(&mut Expr)) {
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
        Expr::Call(call) => {
            if let Args::List(list) = &mut call.args {
                list.iter_mut().for_each(&mut *found);
            }
            call.order_by.iter_mut().for_each(|term| found(&mut term.expr));
            call.filter.iter_mut().for_each(&mut *found);
            if let Some(window) = &mut call.over {
                window.partition_by.iter_mut().for_each(&mut *found);
                window.order_by.iter_mut().for_each(|term| found(&mut term.expr));
            }
        }
    }
}
