//! Refuses what SQLite refuses besides names: misplaced calls and row values, widths that do not fit, unknown
//! collations, invalid recursion.

use sqlgauge_base::budget;

use super::scope::{Clause, Scope};
use super::{ErrorKind, ResolveError, Resolver};
use crate::aggregates::{self, owner_by_columns};
use crate::functions::{Function, FunctionKind};
use crate::reads::{self, readings_of_cte};
use crate::tree::{
    Aggregate, Args, BinaryOperator, Body, Cte, Expr, Literal, OrderTerm, Owner, RelationId, SetOperator,
    UnaryOperator, Window, WindowCall,
};
use crate::visit::children;

/// A call as it is written, before it is known what it is.
pub(super) struct WrittenCall {
    pub function: Function,
    pub args: Args,
    pub distinct: bool,
    pub order_by: Vec<OrderTerm>,
    pub filter: Option<Expr>,
    pub over: Option<Window>,
}

impl Resolver<'_> {
    /// What a call is: an aggregate with its owner, a window function or a scalar function.
    pub(super) fn classify(&mut self, name: &str, call: WrittenCall) -> Result<Expr, ResolveError> {
        if !self.lenient {
            check_signature(name, &call)?;
        }
        let WrittenCall { function, args, distinct, order_by, filter, over } = call;
        if let Some(window) = over {
            let call = WindowCall { function, args, filter, window };
            self.check_window(name, &call)?;
            return Ok(Expr::Window(Box::new(call)));
        }
        if function.aggregates(args.as_slice().len()) {
            let mut aggregate = Aggregate { function, args, distinct, order_by, filter, owner: Owner::HERE };
            aggregate.owner = self.owner(&aggregate);
            self.check_aggregate(name, &aggregate)?;
            return Ok(Expr::Aggregate(Box::new(aggregate)));
        }
        // DISTINCT of a scalar function means nothing, and SQLite lets it pass.
        Ok(Expr::Function { function, args })
    }

    /// The query that an aggregate belongs to.
    fn owner(&self, aggregate: &Aggregate) -> Owner {
        budget::spend(self.scopes.iter().map(|scope| 1 + scope.relations.len()).sum());
        let around: Vec<(u32, Vec<RelationId>)> = self
            .scopes
            .iter()
            .rev()
            .map(|scope| {
                (self.level - scope.level, scope.relations.iter().map(|relation| relation.id).collect())
            })
            .collect();
        owner_by_columns(
            aggregate,
            around.iter().map(|(distance, relations)| (*distance, relations.as_slice())),
        )
    }

    /// An aggregate may stand where its owner's groups are known, and not inside another one of them.
    fn check_aggregate(&mut self, name: &str, aggregate: &Aggregate) -> Result<(), ResolveError> {
        if self.lenient {
            return Ok(());
        }
        let misused = || Err(ErrorKind::MisusedAggregate(name.to_owned()).into());
        let order = aggregate.order_by.iter().map(|term| &term.expr);
        let mut parts = aggregate.args.as_slice().iter().chain(order).chain(&aggregate.filter);
        if let Some(Expr::Window(window)) = parts.clone().find_map(|part| find(part, &is_window)) {
            return Err(ErrorKind::MisusedWindow(window.function.name().to_owned()).into());
        }
        let nested = |part: &Expr| {
            find(part, &|e| matches!(e, Expr::Aggregate(_))).is_some()
                || aggregates::has_owned_by(part, aggregate.owner)
        };
        if parts.any(nested) {
            return misused();
        }
        let stands = self.scopes.last().filter(|scope| scope.level == self.level);
        let allowed = stands.is_some_and(|scope| match scope.clause {
            Clause::Outputs | Clause::OrderBy | Clause::GroupBy | Clause::Values => true,
            Clause::Having | Clause::Condition => scope.is_grouped,
        });
        if allowed && self.is_uncomputed && self.owner_clause(aggregate.owner) == Some(Clause::Condition) {
            self.misuses_aggregate = true;
            return Ok(());
        }
        if !allowed || !self.may_own(aggregate.owner) {
            return misused();
        }
        Ok(())
    }

    /// The clause at hand of the query that owns an aggregate.
    fn owner_clause(&self, owner: Owner) -> Option<Clause> {
        let level = self.level.checked_sub(owner.0)?;
        self.scopes.iter().rev().find(|scope| scope.level == level).map(|scope| scope.clause)
    }

    /// Whether the clause of the owner that is at hand may have aggregates of it.
    fn may_own(&mut self, owner: Owner) -> bool {
        let Some(level) = self.level.checked_sub(owner.0) else { return false };
        let Some(scope) = self.scopes.iter_mut().rev().find(|scope| scope.level == level) else {
            return false;
        };
        match scope.clause {
            Clause::Outputs => {
                scope.has_aggregate = true;
                true
            }
            Clause::Having | Clause::OrderBy => scope.is_grouped,
            Clause::Condition | Clause::GroupBy | Clause::Values => false,
        }
    }

    fn check_window(&self, name: &str, call: &WindowCall) -> Result<(), ResolveError> {
        if self.lenient {
            return Ok(());
        }
        let window = &call.window;
        let keys = window.partition_by.iter().chain(window.order_by.iter().map(|term| &term.expr));
        let mut parts = call.args.as_slice().iter().chain(keys.clone()).chain(&call.filter);
        let nested = parts.find_map(|part| find(part, &is_window)).is_some();
        let stands = self.scopes.last().filter(|scope| scope.level == self.level);
        let allowed = stands.is_some_and(Scope::may_have_windows);
        if nested || !allowed {
            return Err(ErrorKind::MisusedWindow(name.to_owned()).into());
        }
        keys.clone().try_for_each(check_collation)
    }

    /// The expression that an alias stands for may not stand everywhere that the alias may.
    pub(super) fn check_alias(&mut self, name: &str, expr: &Expr, level: u32) -> Result<(), ResolveError> {
        if self.lenient {
            return Ok(());
        }
        let windows = level == self.level && self.scopes.last().is_some_and(Scope::may_have_windows);
        if !windows && find(expr, &is_window).is_some() {
            return Err(ErrorKind::MisusedWindow(name.to_owned()).into());
        }
        if width(expr) != 1 {
            return Err(ErrorKind::RowValue.into());
        }
        let owners = aggregates::owners(expr);
        if owners.into_iter().all(|owner| self.may_own(Owner(owner.0 + (self.level - level)))) {
            Ok(())
        } else {
            Err(ErrorKind::MisusedAggregate(name.to_owned()).into())
        }
    }

    /// The clause that is resolved next.
    pub(super) fn enter(&mut self, clause: Clause) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.clause = clause;
        }
    }

    /// Whether a condition, key or result is one value.
    pub(super) fn single(&self, expr: Expr) -> Result<Expr, ResolveError> {
        if self.lenient {
            return Ok(expr);
        }
        single(&expr)?;
        Ok(expr)
    }

    /// Whether the parts of an expression fit it.
    pub(super) fn check_parts(&self, expr: &Expr) -> Result<(), ResolveError> {
        if self.lenient { Ok(()) } else { check_parts(expr) }
    }

    /// Whether the keys of a sort or a group can be compared.
    pub(super) fn check_keys<'e>(
        &self,
        mut keys: impl Iterator<Item = &'e Expr>,
    ) -> Result<(), ResolveError> {
        if self.lenient {
            return Ok(());
        }
        keys.try_for_each(|key| single(key).and_then(|()| check_collation(key)))
    }
}

impl Resolver<'_> {
    /// Whether the rows of a compound can be compared, where it drops repeated ones or sorts them.
    pub(super) fn check_compound(&self, body: &Body, is_sorted: bool) -> Result<(), ResolveError> {
        if self.lenient {
            return Ok(());
        }
        let mut body = body;
        let mut compares = is_sorted;
        let mut selects = Vec::new();
        while let Body::SetOperation { all, left, right, .. } = body {
            compares |= !all;
            if let (Body::Select(select), true) = (right.as_ref(), compares) {
                selects.push(select);
            }
            body = left;
        }
        if let (Body::Select(select), true) = (body, compares) {
            selects.push(select);
        }
        let width = selects.first().map_or(0, |select| select.outputs.len());
        (0..width).try_for_each(|place| {
            // The first SELECT that brings a collation names it.
            let mut column = selects.iter().rev().filter_map(|select| select.outputs.get(place));
            let brings = column.find(|output| brings_collation(&output.expr));
            brings.map_or(Ok(()), |output| check_collation(&output.expr))
        })
    }
}

fn brings_collation(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) | Expr::Collate { .. } => true,
        Expr::Cast { expr, .. } | Expr::Unary(UnaryOperator::Plus, expr) => brings_collation(expr),
        _ => false,
    }
}

/// Number of arguments, DISTINCT, FILTER, ORDER BY and OVER.
fn check_signature(name: &str, call: &WrittenCall) -> Result<(), ResolveError> {
    let refused = |kind: ErrorKind| Err(kind.into());
    let properties = call.function.properties();
    let count = call.args.as_slice().len();
    let aggregates = call.function.aggregates(count);
    if matches!(call.function, Function::Unknown(_)) {
        return refused(ErrorKind::UnknownFunction(name.to_owned()));
    }
    if call.args != Args::Bare && !properties.takes(count) {
        return refused(ErrorKind::WrongArgumentCount(name.to_owned()));
    }
    let Some(window) = &call.over else {
        return match (properties.kind, call.filter.is_some(), call.order_by.is_empty()) {
            (FunctionKind::Window, ..) => refused(ErrorKind::MisusedWindow(name.to_owned())),
            (_, true, _) if !aggregates => refused(ErrorKind::NoAggregate("FILTER", name.to_owned())),
            (_, _, false) if !aggregates => refused(ErrorKind::NoAggregate("ORDER BY", name.to_owned())),
            _ if aggregates && call.distinct && count != 1 => refused(ErrorKind::DistinctArguments),
            _ => check_special(name, call),
        };
    };
    match properties.kind {
        _ if !aggregates && properties.kind != FunctionKind::Window => {
            refused(ErrorKind::Window(format!("{name}() may not be used as a window function")))
        }
        FunctionKind::Window if call.filter.is_some() => refused(ErrorKind::Window(
            "FILTER clause may only be used with aggregate window functions".to_owned(),
        )),
        _ => super::window::check_frame(window),
    }
}

fn check_special(name: &str, call: &WrittenCall) -> Result<(), ResolveError> {
    match (&call.function, call.args.as_slice()) {
        (Function::Likelihood, [_, Expr::Literal(Literal::Real(chance))])
            if (0.0..=1.0).contains(&chance.get()) =>
        {
            Ok(())
        }
        (Function::Likelihood, _) => {
            let message = format!("second argument to {name}() must be a constant between 0.0 and 1.0");
            Err(ErrorKind::Invalid(message).into())
        }
        (Function::Min | Function::Max | Function::NullIf, args) => args.iter().try_for_each(check_collation),
        (_, [only]) if call.distinct => check_collation(only),
        _ => Ok(()),
    }
}

fn is_window(expr: &Expr) -> bool {
    matches!(expr, Expr::Window(_))
}

/// The first part of an expression that passes the test, subqueries excepted.
fn find<'e>(expr: &'e Expr, test: &dyn Fn(&Expr) -> bool) -> Option<&'e Expr> {
    if test(expr) {
        return Some(expr);
    }
    let mut part = None;
    children(expr, &mut |child| {
        if part.is_none() {
            part = find(child, test);
        }
    });
    part
}

/// How many values an expression has.
fn width(expr: &Expr) -> usize {
    match expr {
        Expr::Row(list) => list.len(),
        Expr::Scalar(query) => query.width(),
        _ => 1,
    }
}

fn single(expr: &Expr) -> Result<(), ResolveError> {
    match expr {
        Expr::Scalar(query) if query.width() != 1 => {
            Err(ErrorKind::SubqueryWidth { columns: query.width(), expected: 1 }.into())
        }
        other if width(other) != 1 => Err(ErrorKind::RowValue.into()),
        _ => Ok(()),
    }
}

fn same_width<'e>(expr: &Expr, mut others: impl Iterator<Item = &'e Expr>) -> Result<(), ResolveError> {
    if others.any(|other| width(other) != width(expr)) {
        return Err(ErrorKind::RowValue.into());
    }
    Ok(())
}

fn check_parts(expr: &Expr) -> Result<(), ResolveError> {
    let comparable = |exprs: &[&Expr]| {
        exprs.iter().try_for_each(|expr| match expr {
            Expr::Row(list) => list.iter().try_for_each(check_collation),
            other => check_collation(other),
        })
    };
    match expr {
        Expr::Binary(operator, left, right) if operator.is_comparison() => {
            same_width(left, std::iter::once(right.as_ref()))?;
            comparable(&[left, right])
        }
        Expr::Between { expr, low, high, .. } => {
            same_width(expr, [low.as_ref(), high].into_iter())?;
            comparable(&[expr, low, high])
        }
        Expr::InList { expr, list, .. } => {
            if width(expr) == 1 {
                list.iter().try_for_each(single)?;
            }
            same_width(expr, list.iter())?;
            comparable(&[expr])
        }
        Expr::InQuery { expr, query, .. } if width(expr) != query.width() => {
            Err(ErrorKind::SubqueryWidth { columns: query.width(), expected: width(expr) }.into())
        }
        Expr::InQuery { expr, .. } => comparable(&[expr]),
        Expr::Case { operand: Some(operand), branches, otherwise } => {
            same_width(operand, branches.iter().map(|(when, _)| when))?;
            branches.iter().map(|(_, then)| then).chain(otherwise.as_deref()).try_for_each(single)?;
            comparable(&[operand])
        }
        Expr::Like { operator, escape, .. } => {
            check_like(*operator, escape.is_some())?;
            all_single(expr)
        }
        Expr::Binary(BinaryOperator::Arrow | BinaryOperator::LongArrow, ..) => all_single(expr),
        other => all_single(other),
    }
}

fn all_single(expr: &Expr) -> Result<(), ResolveError> {
    let mut result = Ok(());
    children(expr, &mut |child| {
        if result.is_ok() {
            result = single(child);
        }
    });
    result
}

fn check_like(operator: crate::tree::LikeOperator, has_escape: bool) -> Result<(), ResolveError> {
    use crate::tree::LikeOperator;
    match operator {
        LikeOperator::Regexp => Err(ErrorKind::UnknownFunction("REGEXP".to_owned()).into()),
        LikeOperator::Glob if has_escape => Err(ErrorKind::WrongArgumentCount("GLOB".to_owned()).into()),
        LikeOperator::Match if has_escape => Err(ErrorKind::WrongArgumentCount("MATCH".to_owned()).into()),
        _ => Ok(()),
    }
}

/// A collation is only looked for where something is compared by it.
fn check_collation(expr: &Expr) -> Result<(), ResolveError> {
    let Expr::Collate { collation, .. } = expr else { return Ok(()) };
    if matches!(collation.as_str(), "BINARY" | "NOCASE" | "RTRIM") {
        return Ok(());
    }
    Err(ErrorKind::UnknownCollation(collation.to_ascii_lowercase()).into())
}

/// The rules for a CTE that reads itself: the last SELECTs do, all joined by UNION or all by UNION ALL, each once
/// and in its own FROM clause, without aggregates and windows.
pub(super) fn check_recursion(cte: &Cte) -> Result<(), ResolveError> {
    if readings_of_cte(&cte.query, cte.id) == 0 {
        return Ok(());
    }
    let refused = |what: &str| Err(ErrorKind::Recursion(format!("{what}: {}", cte.name)).into());
    let mut body = &cte.query.body;
    let mut last = None;
    let mut direct = 0;
    while let Body::SetOperation { operator: operator @ SetOperator::Union, all, left, right } = body {
        if last.is_some_and(|last| last != (operator, all)) {
            break;
        }
        let Body::Select(select) = right.as_ref() else { break };
        match reads::ctes_of(select).filter(|id| *id == cte.id).count() {
            0 => break,
            1 => direct += 1,
            _ => return refused("multiple references to recursive table"),
        }
        if crate::derive::is_aggregate_select(select) {
            return Err(ErrorKind::Recursion("recursive aggregate queries not supported".to_owned()).into());
        }
        if select.outputs.iter().any(|output| find(&output.expr, &is_window).is_some()) {
            let message = "cannot use window functions in recursive queries".to_owned();
            return Err(ErrorKind::Recursion(message).into());
        }
        last = Some((operator, all));
        body = left;
    }
    match readings_of_cte(&cte.query, cte.id) {
        all if all == direct => Ok(()),
        _ if direct == 0 || readings_of_cte(body, cte.id) > 0 => refused("circular reference"),
        _ => refused("multiple recursive references"),
    }
}
