//! One visitor and one rewriter over the resolved query, for every crate.
//!
//! [`Visitor`] hooks run before a node's children. [`Rewriter`] hooks run after them, so that a hook sees
//! children that are already rewritten. Children are visited in the order in which SQL text has them, except
//! that FROM comes before the outputs.
//!
//! Where one hook is all that is needed, [`each_expr`], [`each_relation`], [`each_select`] and [`change_exprs`] take a closure instead.
//!
//! Every node that is visited is a step of the analysis at hand ([`budget`]).

use sqlgauge_base::budget;

use crate::tree::{
    Aggregate, Body, Expr, Frame, FrameBound, From, Join, Query, Relation, RelationSource, Select, Window,
    WindowCall,
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
    Part::of_query(query, &mut |part| walk(visitor, part));
    visitor.leave_query(query);
}

fn walk_body<V: Visitor + ?Sized>(visitor: &mut V, body: &Body) {
    budget::spend(1);
    visitor.body(body);
    Part::of_body(body, &mut |part| walk(visitor, part));
}

/// Visits a FROM clause and everything in it.
pub fn walk_from<V: Visitor + ?Sized>(visitor: &mut V, from: &From) {
    budget::spend(1);
    visitor.from(from);
    Part::of_from(from, &mut |part| walk(visitor, part));
}

/// Visits an expression and everything in it, subqueries included.
pub fn walk_expr<V: Visitor + ?Sized>(visitor: &mut V, expr: &Expr) {
    budget::spend(1);
    visitor.expr(expr);
    Part::of_expr(expr, &mut |part| walk(visitor, part));
}

#[expect(clippy::needless_pass_by_value, reason = "as for exclusive references")]
fn walk<V: Visitor + ?Sized>(visitor: &mut V, part: Part<'_>) {
    match part {
        Part::Query(query) => walk_query(visitor, query),
        Part::Body(body) => walk_body(visitor, body),
        Part::From(from) => walk_from(visitor, from),
        Part::Relation(relation) => {
            visitor.relation(relation);
            Part::of_relation(relation, &mut |part| walk(visitor, part));
        }
        Part::Expr(expr) => walk_expr(visitor, expr),
    }
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
    PartMut::of_query(query, &mut |part| rewrite(rewriter, part));
    rewriter.query(query);
}

fn rewrite_body<R: Rewriter + ?Sized>(rewriter: &mut R, body: &mut Body) {
    budget::spend(1);
    PartMut::of_body(body, &mut |part| rewrite(rewriter, part));
    rewriter.body(body);
}

/// Rewrites a FROM clause and everything in it, innermost first.
pub fn rewrite_from<R: Rewriter + ?Sized>(rewriter: &mut R, from: &mut From) {
    budget::spend(1);
    PartMut::of_from(from, &mut |part| rewrite(rewriter, part));
    rewriter.from(from);
}

/// Rewrites an expression and everything in it, innermost first.
pub fn rewrite_expr<R: Rewriter + ?Sized>(rewriter: &mut R, expr: &mut Expr) {
    budget::spend(1);
    PartMut::of_expr(expr, &mut |part| rewrite(rewriter, part));
    rewriter.expr(expr);
}

fn rewrite<R: Rewriter + ?Sized>(rewriter: &mut R, part: PartMut<'_>) {
    match part {
        PartMut::Query(query) => rewrite_query(rewriter, query),
        PartMut::Body(body) => rewrite_body(rewriter, body),
        PartMut::From(from) => rewrite_from(rewriter, from),
        PartMut::Relation(relation) => {
            PartMut::of_relation(relation, &mut |part| rewrite(rewriter, part));
            rewriter.relation(relation);
        }
        PartMut::Expr(expr) => rewrite_expr(rewriter, expr),
    }
}

/// A piece of a query that can be walked: a query, a body, a FROM clause or an expression.
pub trait Walk {
    /// Visits it and everything in it.
    fn walk(&self, visitor: &mut impl Visitor);
    /// Rewrites it and everything in it, innermost first.
    fn rewrite(&mut self, rewriter: &mut impl Rewriter);
}

macro_rules! walkable {
    ($Node:ty, $walk:ident, $rewrite:ident) => {
        impl Walk for $Node {
            fn walk(&self, visitor: &mut impl Visitor) {
                $walk(visitor, self);
            }

            fn rewrite(&mut self, rewriter: &mut impl Rewriter) {
                $rewrite(rewriter, self);
            }
        }
    };
}

walkable!(Query, walk_query, rewrite_query);
walkable!(Body, walk_body, rewrite_body);
walkable!(From, walk_from, rewrite_from);
walkable!(Expr, walk_expr, rewrite_expr);

impl<W: Walk> Walk for Box<W> {
    fn walk(&self, visitor: &mut impl Visitor) {
        (**self).walk(visitor);
    }

    fn rewrite(&mut self, rewriter: &mut impl Rewriter) {
        (**self).rewrite(rewriter);
    }
}

/// Calls `visit` for every expression in a piece of a query, subqueries included.
pub fn each_expr(piece: &impl Walk, visit: impl FnMut(&Expr)) {
    struct Exprs<F>(F);
    impl<F: FnMut(&Expr)> Visitor for Exprs<F> {
        fn expr(&mut self, expr: &Expr) {
            (self.0)(expr);
        }
    }
    piece.walk(&mut Exprs(visit));
}

/// Whether an expression in a piece of a query satisfies the test, subqueries included.
pub fn any_expr(piece: &impl Walk, test: impl Fn(&Expr) -> bool) -> bool {
    let mut any = false;
    each_expr(piece, |expr| any = any || test(expr));
    any
}

/// Calls `visit` for every relation in a piece of a query, subqueries included.
pub fn each_relation(piece: &impl Walk, visit: impl FnMut(&Relation)) {
    struct Relations<F>(F);
    impl<F: FnMut(&Relation)> Visitor for Relations<F> {
        fn relation(&mut self, relation: &Relation) {
            (self.0)(relation);
        }
    }
    piece.walk(&mut Relations(visit));
}

/// Calls `visit` for every SELECT in a piece of a query, subqueries and operands of compounds included.
pub fn each_select(piece: &impl Walk, visit: impl FnMut(&Select)) {
    struct Selects<F>(F);
    impl<F: FnMut(&Select)> Visitor for Selects<F> {
        fn body(&mut self, body: &Body) {
            if let Body::Select(select) = body {
                (self.0)(select);
            }
        }
    }
    piece.walk(&mut Selects(visit));
}

/// Calls `change` for every expression in a piece of a query, innermost first, subqueries included.
pub fn change_exprs(piece: &mut impl Walk, change: impl FnMut(&mut Expr)) {
    struct Exprs<F>(F);
    impl<F: FnMut(&mut Expr)> Rewriter for Exprs<F> {
        fn expr(&mut self, expr: &mut Expr) {
            (self.0)(expr);
        }
    }
    piece.rewrite(&mut Exprs(change));
}

/// Calls `visit` for every expression directly inside `expr`; subqueries are not entered.
pub fn children<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    budget::spend(1);
    Part::of_expr(expr, &mut |part| {
        if let Part::Expr(child) = part {
            visit(child);
        }
    });
}

/// Whether the expression or a part of it satisfies the test; subqueries are not entered.
pub fn any_part(expr: &Expr, test: &dyn Fn(&Expr) -> bool) -> bool {
    if test(expr) {
        return true;
    }
    let mut any = false;
    children(expr, &mut |child| any = any || any_part(child, test));
    any
}

/// Calls `visit` for every expression directly inside `expr`; subqueries are not entered.
pub fn children_mut(expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    budget::spend(1);
    PartMut::of_expr(expr, &mut |part| {
        if let PartMut::Expr(child) = part {
            visit(child);
        }
    });
}

/// What stands directly inside each kind of node, in the order of a walk: the only place that lists the fields of all
/// nodes. It is written once, for shared references and for exclusive ones.
macro_rules! parts {
    ($Part:ident, $slice:ident $(, $mutable:tt)?) => {
        /// A node directly inside another.
        enum $Part<'t> {
            Query(&'t $($mutable)? Query),
            Body(&'t $($mutable)? Body),
            From(&'t $($mutable)? From),
            Relation(&'t $($mutable)? Relation),
            Expr(&'t $($mutable)? Expr),
        }

        impl<'t> $Part<'t> {
            fn of_query(query: &'t $($mutable)? Query, visit: &mut impl FnMut(Self)) {
                let Query { ctes, body, order_by, limit, offset } = query;
                for cte in ctes {
                    visit(Self::Query(&$($mutable)? cte.query));
                }
                visit(Self::Body(body));
                for term in order_by {
                    visit(Self::Expr(&$($mutable)? term.expr));
                }
                for expr in [limit, offset].into_iter().flatten() {
                    visit(Self::Expr(expr));
                }
            }

            fn of_body(body: &'t $($mutable)? Body, visit: &mut impl FnMut(Self)) {
                match body {
                    Body::Select(select) => Self::of_select(select, visit),
                    Body::SetOperation { left, right, .. } => {
                        visit(Self::Body(left));
                        visit(Self::Body(right));
                    }
                    Body::Values(rows) => {
                        for expr in rows.into_iter().flatten() {
                            visit(Self::Expr(expr));
                        }
                    }
                }
            }

            fn of_select(select: &'t $($mutable)? Select, visit: &mut impl FnMut(Self)) {
                let Select { from, outputs, filter, group_by, having, distinct: _ } = select;
                if let Some(from) = from {
                    visit(Self::From(from));
                }
                for output in outputs {
                    visit(Self::Expr(&$($mutable)? output.expr));
                }
                for expr in filter.into_iter().chain(group_by).chain(having) {
                    visit(Self::Expr(expr));
                }
            }

            fn of_from(from: &'t $($mutable)? From, visit: &mut impl FnMut(Self)) {
                match from {
                    From::Relation(relation) => visit(Self::Relation(relation)),
                    From::Join(join) => {
                        let Join { left, right, on, kind: _ } = &$($mutable)? **join;
                        visit(Self::From(left));
                        visit(Self::From(right));
                        if let Some(on) = on {
                            visit(Self::Expr(on));
                        }
                    }
                }
            }

            fn of_relation(relation: &'t $($mutable)? Relation, visit: &mut impl FnMut(Self)) {
                match &$($mutable)? relation.source {
                    RelationSource::Derived(query) => visit(Self::Query(query)),
                    RelationSource::Function { args, .. } => {
                        for arg in args {
                            visit(Self::Expr(arg));
                        }
                    }
                    RelationSource::Table(_) | RelationSource::Cte(_) | RelationSource::Catalog => {}
                }
            }

            fn of_expr(expr: &'t $($mutable)? Expr, visit: &mut impl FnMut(Self)) {
                match expr {
                    Expr::Column(_) | Expr::Output(_) | Expr::Literal(_) => {}
                    Expr::Unary(_, expr)
                    | Expr::Cast { expr, .. }
                    | Expr::Collate { expr, .. }
                    | Expr::IsNull { expr, .. } => visit(Self::Expr(expr)),
                    Expr::Binary(_, left, right) => {
                        visit(Self::Expr(left));
                        visit(Self::Expr(right));
                    }
                    Expr::And(list) | Expr::Or(list) | Expr::Row(list) => {
                        list.into_iter().for_each(|expr| visit(Self::Expr(expr)));
                    }
                    Expr::Between { expr, low, high, negated: _ } => {
                        [expr, low, high].into_iter().for_each(|expr| visit(Self::Expr(expr)));
                    }
                    Expr::Like { expr, pattern, escape, operator: _, negated: _ } => {
                        for expr in [expr, pattern].into_iter().chain(escape) {
                            visit(Self::Expr(expr));
                        }
                    }
                    Expr::InList { expr, list, negated: _ } => {
                        visit(Self::Expr(expr));
                        list.into_iter().for_each(|expr| visit(Self::Expr(expr)));
                    }
                    Expr::InQuery { expr, query, negated: _ } => {
                        visit(Self::Expr(expr));
                        visit(Self::Query(query));
                    }
                    Expr::Exists { query, .. } | Expr::Scalar(query) => visit(Self::Query(query)),
                    Expr::Case { operand, branches, otherwise } => {
                        operand.into_iter().for_each(|expr| visit(Self::Expr(expr)));
                        for (when, then) in branches {
                            visit(Self::Expr(when));
                            visit(Self::Expr(then));
                        }
                        otherwise.into_iter().for_each(|expr| visit(Self::Expr(expr)));
                    }
                    Expr::Function { args, .. } => {
                        args.$slice().into_iter().for_each(|expr| visit(Self::Expr(expr)));
                    }
                    Expr::Aggregate(aggregate) => {
                        let Aggregate { args, order_by, filter, .. } = &$($mutable)? **aggregate;
                        let terms = order_by.into_iter().map(|term| &$($mutable)? term.expr);
                        for expr in args.$slice().into_iter().chain(terms).chain(filter) {
                            visit(Self::Expr(expr));
                        }
                    }
                    Expr::Window(call) => {
                        let WindowCall { args, filter, window, function: _ } = &$($mutable)? **call;
                        for expr in args.$slice().into_iter().chain(filter) {
                            visit(Self::Expr(expr));
                        }
                        Self::of_window(window, visit);
                    }
                }
            }

            fn of_window(window: &'t $($mutable)? Window, visit: &mut impl FnMut(Self)) {
                let Window { partition_by, order_by, frame } = window;
                let terms = order_by.into_iter().map(|term| &$($mutable)? term.expr);
                for expr in partition_by.into_iter().chain(terms) {
                    visit(Self::Expr(expr));
                }
                let Some(Frame { start, end, .. }) = frame else { return };
                for bound in std::iter::once(start).chain(end) {
                    if let FrameBound::Preceding(expr) | FrameBound::Following(expr) = bound {
                        visit(Self::Expr(expr));
                    }
                }
            }
        }
    };
}

parts!(Part, as_slice);
parts!(PartMut, as_mut_slice, mut);
