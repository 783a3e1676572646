//! What an expression or subquery is compared with, and so whether its affinity and collation show.
//!
//! SQLite derives from how an operand is written (a column, a CAST, a call) what a comparison does to the values. A
//! rewriting that keeps the value of an operand and loses its affinity changes what the comparison around it does.

use std::rc::Rc;

use sqlgauge_sql::derive::{Fact, Facts, Operand, ValueDomain};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::Collation;
use sqlgauge_sql::tree::{Body, ColumnRef, Expr, Output, Query, RelationId, SetOperator};
use sqlgauge_sql::visit::{Visitor, walk_query};

use crate::context::Position;
use crate::tools;

/// What an expression is compared with.
#[derive(Debug, Clone)]
pub(crate) enum Comparand {
    /// Nothing: only its value counts.
    Nothing,
    /// Its own values in other rows: GROUP BY, DISTINCT, ORDER BY.
    Itself,
    /// Texts of others, by whichever collation is brought first: the arguments of `MAX(a, b)`.
    Others,
    /// These operands.
    Operands(Rc<[Operand]>),
    /// What reads it is not looked at.
    Anything,
    /// What reads it is not looked at, and it is a result of one of several SELECTs.
    Compound(Compound),
}

/// What a result of one of several SELECTs is put beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compound {
    /// The whole is read by another query: SQLite chooses the affinity of its columns by the form of the results of
    /// all SELECTs.
    is_read: bool,
    /// One of the SELECTs may return a text, which SQLite compares by the first collation that a SELECT brings, be it
    /// that of a number.
    has_texts: bool,
}

impl Comparand {
    /// These expressions.
    pub(crate) fn these<'e>(facts: &Facts<'_>, exprs: impl IntoIterator<Item = &'e Expr>) -> Self {
        let mut operands = Vec::new();
        for expr in exprs {
            if matches!(expr, Expr::Row(_)) {
                return Self::Anything;
            }
            operands.push(facts.operand(expr));
        }
        Self::Operands(operands.into())
    }

    /// What the arguments of a call are compared with.
    pub(crate) fn arguments(facts: &Facts<'_>, function: &Function, args: &[Expr]) -> Self {
        if !function.properties().uses_collation {
            return Self::Nothing;
        }
        match args {
            [_] => Self::Itself,
            _ if texts(facts, args) => Self::Others,
            _ => Self::Nothing,
        }
    }

    /// The results of a subquery.
    pub(crate) fn results(facts: &Facts<'_>, query: &Query) -> Self {
        let mut operands = Vec::new();
        for select in leaves(&query.body) {
            let Some([only]) = select.as_deref() else { return Self::Anything };
            operands.push(facts.operand(only));
        }
        Self::Operands(operands.into())
    }

    /// What the result columns of a query in that position are compared with; `self` is what the query is.
    pub(crate) fn of_results(&self, query: &Query, position: Position) -> Self {
        let distinct = query.as_select().is_none_or(|select| select.distinct);
        match position {
            Position::Top if distinct => Self::Itself,
            Position::Top | Position::Exists => Self::Nothing,
            Position::Operand | Position::DistinctOperand => self.clone(),
            Position::Scalar | Position::In if query.as_select().is_some() && !distinct => self.clone(),
            _ => Self::Anything,
        }
    }

    /// What the results of an operand of a set operation are compared with; `self` is what those of the whole are.
    /// `has_texts` is whether one of its SELECTs may return a text.
    pub(crate) fn of_operands(&self, has_texts: impl FnOnce() -> bool) -> Self {
        let is_read = match self {
            Self::Compound(_) => return self.clone(),
            Self::Nothing | Self::Itself | Self::Others => false,
            Self::Operands(_) | Self::Anything => true,
        };
        Self::Compound(Compound { is_read, has_texts: has_texts() })
    }

    /// Whether an operand may stand in the place of another that has the same value.
    pub(crate) fn takes(&self, before: &Operand, after: &Operand) -> bool {
        match self {
            Self::Nothing => true,
            Self::Itself => before.collation() == after.collation() && before.collation() != Fact::Unknown,
            Self::Others => bring_same_collation(before, after),
            Self::Operands(all) => all.iter().all(|other| {
                let (there, back) = (before.compared_with(other), other.compared_with(before));
                there.is_known()
                    && back.is_known()
                    && there == after.compared_with(other)
                    && back == other.compared_with(after)
                    && before.rounds_in(other) == after.rounds_in(other)
            }),
            Self::Compound(Compound { is_read, has_texts }) => {
                let same_form = before.form == after.form || !is_read;
                let same_collation = if *has_texts {
                    bring_same_collation(before, after)
                } else {
                    !is_read || collate_alike_outside(before, after)
                };
                same_form && have_same_affinity(before, after) && same_collation
            }
            Self::Anything => is_alike(before, after),
        }
    }
}

/// Whether two of the same value bring the same into a comparison with anything.
fn is_alike(before: &Operand, after: &Operand) -> bool {
    let texts = before.values.or(after.values).may_be(ValueDomain::TEXT);
    have_same_affinity(before, after)
        && (bring_same_collation(before, after) || (!texts && collate_alike_outside(before, after)))
}

fn have_same_affinity(before: &Operand, after: &Operand) -> bool {
    before.affinity != Fact::Unknown && before.affinity == after.affinity
}

fn bring_same_collation(before: &Operand, after: &Operand) -> bool {
    before.collating != Fact::Unknown && before.collating == after.collating
}

/// Whether two bring the same collation to those who read from their query. Those may compare texts by it, as the call
/// `MAX(number, text)` does: a number has its effect too.
fn collate_alike_outside(before: &Operand, after: &Operand) -> bool {
    let seen = |operand: &Operand| match &operand.collating {
        _ if operand.collates_as_rowid => Fact::Known(None),
        Fact::Known(None) => Fact::Known(Some(Collation::Binary)),
        Fact::Known(Some(source)) => Fact::Known(Some(source.collation.clone())),
        Fact::Unknown => Fact::Unknown,
    };
    seen(before) != Fact::Unknown && seen(before) == seen(after)
}

/// Whether a SELECT or a row of VALUES of the body may return a text.
pub(crate) fn returns_texts(body: &Body, facts: &Facts<'_>) -> bool {
    match body {
        Body::Select(select) => texts(facts, select.outputs.iter().map(|output| &output.expr)),
        Body::SetOperation { left, right, .. } => returns_texts(left, facts) || returns_texts(right, facts),
        Body::Values(rows) => texts(facts, rows.iter().flatten()),
    }
}

/// What those who read the query see of the type of its results, SELECT by SELECT.
pub(crate) fn result_operands(query: &Query, facts: &Facts<'_>) -> Vec<Vec<Operand>> {
    let mut all: Vec<Vec<Operand>> = Vec::new();
    for exprs in leaves(&query.body) {
        let operands = exprs.into_iter().flatten().map(|expr| facts.operand(expr)).collect();
        if all.last() != Some(&operands) {
            all.push(operands);
        }
    }
    all
}

/// Whether the results of a query may be read as before.
pub(crate) fn keeps_type(before: &[Vec<Operand>], after: &[Vec<Operand>], comparand: &Comparand) -> bool {
    let is_compound = before.len() > 1 || after.len() > 1;
    // Of VALUES nothing is told.
    let may_be_text = |operands: &Vec<Operand>| {
        operands.is_empty() || operands.iter().any(|operand| operand.values.may_be(ValueDomain::TEXT))
    };
    let has_texts = || before.iter().chain(after).any(may_be_text);
    let comparand = if is_compound { comparand.of_operands(has_texts) } else { comparand.clone() };
    let fits = |a: &Vec<Operand>, b: &Vec<Operand>| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || comparand.takes(a, b))
    };
    before.len() == after.len() && before.iter().zip(after).all(|(a, b)| fits(a, b))
}

/// The result columns of every SELECT of a body; `None` for VALUES.
pub(crate) fn leaves(body: &Body) -> Vec<Option<Vec<&Expr>>> {
    match body {
        Body::Select(select) => vec![Some(select.outputs.iter().map(|output| &output.expr).collect())],
        Body::SetOperation { left, right, .. } => {
            let mut all = leaves(left);
            all.extend(leaves(right));
            all
        }
        Body::Values(_) => vec![None],
    }
}

/// Whether a text can come into a comparison of these, without which neither affinity nor collation has an effect.
pub(crate) fn texts<'e>(facts: &Facts<'_>, exprs: impl IntoIterator<Item = &'e Expr>) -> bool {
    exprs.into_iter().any(|expr| facts.values(expr).may_be(ValueDomain::TEXT))
}

/// Whether the results of a subquery in FROM may be written in the place of its columns everywhere in a query: every
/// comparison, grouping and sorting stays what it is. What the query itself returns is not looked at.
pub(crate) fn may_stand_for(
    query: &Query,
    relation: RelationId,
    outputs: &[Output],
    facts: &Facts<'_>,
) -> bool {
    let outputs = (0..).zip(outputs);
    may_replace(query, outputs.map(|(column, output)| (ColumnRef::at(relation, column), &output.expr)), facts)
}

/// Whether expressions may be written in the place of columns of the same value everywhere in a query: every
/// comparison, grouping and sorting stays what it is.
pub(crate) fn may_replace<'a>(
    query: &Query,
    columns: impl Iterator<Item = (ColumnRef, &'a Expr)>,
    facts: &'a Facts<'a>,
) -> bool {
    let changed: Vec<_> =
        columns.filter(|(column, with)| !facts.compares_alike(&Expr::Column(*column), with)).collect();
    if changed.is_empty() {
        return true;
    }
    let mut uses = Uses { facts, changed, fits: true };
    walk_query(&mut uses, query);
    uses.fits
}

struct Uses<'a> {
    facts: &'a Facts<'a>,
    changed: Vec<(ColumnRef, &'a Expr)>,
    fits: bool,
}

impl Uses<'_> {
    fn mentions(&self, expr: &Expr) -> bool {
        tools::columns_of(expr)
            .iter()
            .any(|column| self.changed.iter().any(|(column_before, _)| column_before == column))
    }

    fn substituted(&self, expr: &Expr) -> Expr {
        let mut expr = expr.clone();
        for (column, with) in &self.changed {
            tools::replace_column(&mut expr, *column, with);
        }
        expr
    }

    fn pair(&mut self, left: &Expr, right: &Expr) {
        if self.mentions(left) || self.mentions(right) {
            let before = self.facts.comparison(left, right);
            let after = self.facts.comparison(&self.substituted(left), &self.substituted(right));
            self.fits &= before == after && before.is_known();
        }
    }

    fn fits(&mut self, expr: &Expr, comparand: &Comparand) {
        if self.mentions(expr) {
            let (before, after) = (self.facts.operand(expr), self.facts.operand(&self.substituted(expr)));
            self.fits &= comparand.takes(&before, &after);
        }
    }

    fn alone(&mut self, expr: &Expr) {
        self.fits(expr, &Comparand::Itself);
    }
}

impl Visitor for Uses<'_> {
    fn query(&mut self, query: &Query) {
        query.order_by.iter().for_each(|term| self.alone(tools::order_expr(query, &term.expr)));
        if let Some(select) = query.as_select() {
            select.group_by.iter().for_each(|key| self.alone(key));
            if select.distinct {
                select.outputs.iter().for_each(|output| self.alone(&output.expr));
            }
        } else {
            // Numbers compare by no collation.
            let comparand =
                if returns_texts(&query.body, self.facts) { Comparand::Others } else { Comparand::Nothing };
            for exprs in leaves(&query.body) {
                exprs.into_iter().flatten().for_each(|expr| self.fits(expr, &comparand));
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        each_comparison(expr, &mut |left, right| self.pair(left, right));
        match expr {
            Expr::Aggregate(aggregate) if aggregate.distinct => {
                aggregate.args.as_slice().iter().for_each(|arg| self.alone(arg));
            }
            other => {
                if let Some((function, args)) = other.called() {
                    let comparand = Comparand::arguments(self.facts, function, args.as_slice());
                    args.as_slice().iter().for_each(|arg| self.fits(arg, &comparand));
                }
            }
        }
    }
}

/// Calls `pair` for every two operands that the expression itself compares, those of its parts excepted.
pub(crate) fn each_comparison(expr: &Expr, pair: &mut dyn FnMut(&Expr, &Expr)) {
    match expr {
        Expr::Binary(operator, left, right) if operator.is_comparison() => pair(left, right),
        Expr::Between { expr, low, high, .. } => [low, high].into_iter().for_each(|bound| pair(expr, bound)),
        Expr::InList { expr, list, .. } => list.iter().for_each(|element| pair(expr, element)),
        Expr::InQuery { expr, query, .. } => {
            for exprs in leaves(&query.body) {
                exprs.into_iter().flatten().for_each(|result| pair(expr, result));
            }
        }
        Expr::Case { operand: Some(operand), branches, .. } => {
            branches.iter().for_each(|(when, _)| pair(operand, when));
        }
        _ => {}
    }
}

/// Whether the operands of UNION and INTERSECT may change places: the collation is the same whichever is first, and
/// of equal rows it makes no difference which one is kept.
pub(crate) fn operands_commute(query: &Query, position: Position, facts: &Facts<'_>) -> bool {
    let Some(columns) = result_columns(&query.body) else { return false };
    let kept_all = !removes_repetition(&query.body);
    let unseen = matches!(position, Position::Top | Position::Exists);
    if kept_all && unseen && query.order_by.is_empty() {
        return true;
    }
    columns.into_iter().all(|exprs| {
        let operands: Vec<Operand> = exprs.into_iter().map(|expr| facts.operand(expr)).collect();
        let values = operands.iter().fold(ValueDomain::NONE, |all, operand| all.or(operand.values));
        let first = &operands[0];
        let one_collation = !values.may_be(ValueDomain::TEXT) || bring_one_collation(&operands);
        let one_affinity = unseen
            || (first.affinity != Fact::Unknown
                && operands.iter().all(|operand| operand.affinity == first.affinity));
        one_collation && one_affinity && (kept_all || is_identity(&operands))
    })
}

/// Whether results of a compound compare by the same collation whichever is first: SQLite takes the first that one of
/// them brings.
fn bring_one_collation(results: &[Operand]) -> bool {
    let brought: Option<Vec<_>> = results.iter().map(|operand| operand.collating.as_ref().known()).collect();
    let Some(brought) = brought else { return false };
    let mut brought = brought.into_iter().flatten().map(|collating| &collating.collation);
    brought.next().is_none_or(|first| brought.all(|collation| collation == first))
}

/// Whether the rows that a set operation of the body keeps of equal ones are the same whichever is kept.
pub(crate) fn keeps_any_of_equals(body: &Body, facts: &Facts<'_>) -> bool {
    !removes_repetition(body) || equals_are_identical(body, facts)
}

/// Whether results of the body that a set operation or a sort takes for equal are one value, in every column.
pub(crate) fn equals_are_identical(body: &Body, facts: &Facts<'_>) -> bool {
    result_columns(body).is_some_and(|columns| {
        columns
            .into_iter()
            .all(|exprs| is_identity(&exprs.into_iter().map(|expr| facts.operand(expr)).collect::<Vec<_>>()))
    })
}

/// Whether values of a column of a compound that a set operation takes for equal are one value, given the results of all
/// its SELECTs: the texts of one compare by the collation of another.
fn is_identity(results: &[Operand]) -> bool {
    let values = results.iter().fold(ValueDomain::NONE, |all, operand| all.or(operand.values));
    let is_binary =
        |operand: &Operand| Operand { values, ..operand.clone() }.collation().is(&Collation::Binary);
    results.iter().all(is_binary) && !values.mixes_numbers()
}

fn removes_repetition(body: &Body) -> bool {
    match body {
        Body::Select(_) | Body::Values(_) => false,
        Body::SetOperation { operator: SetOperator::Union, all: true, left, right } => {
            removes_repetition(left) || removes_repetition(right)
        }
        Body::SetOperation { .. } => true,
    }
}

/// The expressions of every result column of a body, SELECT by SELECT; `None` if there are VALUES.
fn result_columns(body: &Body) -> Option<Vec<Vec<&Expr>>> {
    let selects: Vec<Vec<&Expr>> = leaves(body).into_iter().collect::<Option<_>>()?;
    let width = selects.first()?.len();
    Some(
        (0..width)
            .map(|place| selects.iter().filter_map(|exprs| exprs.get(place).copied()).collect())
            .collect(),
    )
}
