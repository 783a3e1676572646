//! ORDER BY and GROUP BY terms: aliases and ordinals.

use sqlgauge_base::budget;

use super::expr::text_of;
use super::scope::Scope;
use super::{ErrorKind, ResolveError, Resolver, limits};
use crate::folded::folded_integer;
use crate::quote::Quote;
use crate::syntax::{self, ExprKind, SortTerm};
use crate::tree::{Expr, Literal, OrderTerm, Output, UnaryOperator, number};

impl<'a> Resolver<'a> {
    /// Terms inside an aggregate or a window: plain expressions.
    pub(super) fn plain_order(&mut self, ast: &'a [SortTerm<'a>]) -> Result<Vec<OrderTerm>, ResolveError> {
        ast.iter().map(|term| Ok(order_term(term, self.key(&term.expr)?))).collect()
    }

    /// ORDER BY of a single SELECT: an alias first, then an ordinal, then an expression.
    pub(super) fn simple_order(
        &mut self,
        ast: &'a [SortTerm<'a>],
        outputs: &[Output],
    ) -> Result<Vec<OrderTerm>, ResolveError> {
        limits::terms("ORDER BY", ast.len())?;
        ast.iter()
            .enumerate()
            .map(|(place, term)| {
                let expr = match alias_reference(without_collation(&term.expr), outputs) {
                    Some(index) => collated(&term.expr, Expr::Output(index)),
                    None => match self.key(&term.expr)? {
                        key if let Some(number) = self.number(&term.expr, &key) => {
                            let index = check_ordinal(number.into(), outputs.len(), place, "ORDER BY")?;
                            collated(&term.expr, Expr::Output(index))
                        }
                        key => key,
                    },
                };
                self.check_keys(std::iter::once(&expr))?;
                Ok(order_term(term, expr))
            })
            .collect()
    }

    /// ORDER BY of a compound: every term must be an ordinal, an alias of one of the SELECTs, or equal to one of
    /// their result columns.
    pub(super) fn compound_order(
        &mut self,
        ast: &'a [SortTerm<'a>],
        arms: &[(Vec<Output>, Scope)],
        width: usize,
    ) -> Result<Vec<OrderTerm>, ResolveError> {
        limits::terms("ORDER BY", ast.len())?;
        ast.iter()
            .enumerate()
            .map(|(place, term)| {
                let index = match ordinal(&term.expr) {
                    Some(ordinal) => check_ordinal(ordinal, width, place, "ORDER BY")?,
                    None => self.compound_term(&term.expr, arms).ok_or_else(|| no_match(place))?,
                };
                Ok(order_term(term, collated(&term.expr, Expr::Output(index))))
            })
            .collect()
    }

    /// A key by which rows are sorted or grouped.
    fn key(&mut self, ast: &'a syntax::Expr<'a>) -> Result<Expr, ResolveError> {
        let expr = self.expr(ast)?;
        let fits = self.check_keys(std::iter::once(&expr));
        fits.map_err(|error| error.within(self.text, || text_of(ast)))?;
        Ok(expr)
    }

    /// The number of a result column that a term is. SQLite's parser makes it before it looks at names, so what an
    /// alias stands for is none.
    fn number(&mut self, ast: &'a syntax::Expr<'a>, key: &Expr) -> Option<i32> {
        let number = folded_integer(key.uncollated())?;
        let aliases = self.scopes.last_mut().map(|scope| std::mem::take(&mut scope.aliases));
        let by_itself = self.expr(ast);
        if let (Some(scope), Some(aliases)) = (self.scopes.last_mut(), aliases) {
            scope.aliases = aliases;
        }
        by_itself.is_ok_and(|expr| folded_integer(expr.uncollated()).is_some()).then_some(number)
    }

    fn compound_term(&mut self, ast: &'a syntax::Expr<'a>, arms: &[(Vec<Output>, Scope)]) -> Option<u32> {
        let bare = without_collation(ast);
        for (outputs, scope) in arms {
            budget::spend(outputs.len());
            if let Some(index) = alias_reference(bare, outputs) {
                return Some(index);
            }
            self.scopes.push(scope.clone());
            // Nobody asks where it does not fit.
            let text = std::mem::take(&mut self.text);
            let expr = self.expr(bare);
            self.text = text;
            self.scopes.pop();
            let Ok(expr) = expr else { continue };
            if let Some(index) = outputs.iter().position(|output| output.expr == expr) {
                return u32::try_from(index).ok();
            }
        }
        None
    }

    /// GROUP BY: ordinals stand for result columns, everything else is an expression.
    pub(super) fn group_by(
        &mut self,
        ast: &'a [syntax::Expr<'a>],
        outputs: &[Output],
    ) -> Result<Vec<Expr>, ResolveError> {
        limits::terms("GROUP BY", ast.len())?;
        ast.iter()
            .enumerate()
            .map(|(place, term)| {
                let key = self.key(term)?;
                let Some(number) = self.number(term, &key) else { return Ok(key) };
                let index = check_ordinal(number.into(), outputs.len(), place, "GROUP BY")?;
                let mut expr = outputs[index as usize].expr.clone();
                self.check_alias(&(index + 1).to_string(), &expr, self.level)?;
                self.refresh(&mut expr);
                Ok(collated(term, expr))
            })
            .collect()
    }
}

fn alias_reference(ast: &syntax::Expr<'_>, outputs: &[Output]) -> Option<u32> {
    let ExprKind::Column(name) = ast.kind else { return None };
    budget::spend(outputs.len());
    if name.quote == Quote::Single {
        return None;
    }
    let is_named =
        |output: &Output| output.alias.as_deref().is_some_and(|alias| alias.eq_ignore_ascii_case(name.text));
    outputs.iter().position(is_named).and_then(|index| u32::try_from(index).ok())
}

fn check_ordinal(
    ordinal: i64,
    width: usize,
    place: usize,
    clause: &'static str,
) -> Result<u32, ResolveError> {
    let index = u32::try_from(ordinal - 1).ok().filter(|&index| (index as usize) < width);
    index.ok_or_else(|| ErrorKind::OrdinalOutOfRange { clause, term: place + 1, width }.into())
}

fn no_match(place: usize) -> ResolveError {
    ErrorKind::UnmatchedOrderTerm(place + 1).into()
}

fn order_term(ast: &SortTerm<'_>, expr: Expr) -> OrderTerm {
    let descending = ast.descending;
    // SQLite's default puts NULL first when ascending and last when descending.
    OrderTerm { expr, descending, nulls_first: ast.nulls_first.filter(|&first| first == descending) }
}

/// The integer constant that a term is, signs and COLLATE allowed.
fn ordinal(ast: &syntax::Expr<'_>) -> Option<i64> {
    match without_collation(ast).kind {
        ExprKind::Literal(syntax::Literal::Number(token)) => match number(token) {
            Literal::Integer(value) => i32::try_from(value).ok().map(i64::from),
            _ => None,
        },
        ExprKind::Unary(UnaryOperator::Minus, inner) => ordinal(inner).map(|value| -value),
        ExprKind::Unary(UnaryOperator::Plus, inner) => ordinal(inner),
        _ => None,
    }
}

fn without_collation<'e, 'a>(mut ast: &'e syntax::Expr<'a>) -> &'e syntax::Expr<'a> {
    loop {
        ast = match ast.kind {
            ExprKind::Collate(inner, _) | ExprKind::Parenthesised([inner]) => inner,
            _ => return ast,
        };
    }
}

/// Puts the collations around `ast` around `expr`.
fn collated(ast: &syntax::Expr<'_>, expr: Expr) -> Expr {
    match ast.kind {
        ExprKind::Collate(inner, collation) => Expr::Collate {
            expr: Box::new(collated(inner, expr)),
            collation: collation.text.to_ascii_uppercase(),
        },
        ExprKind::Parenthesised([only]) => collated(only, expr),
        _ => expr,
    }
}
