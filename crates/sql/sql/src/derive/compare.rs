//! How SQLite compares: affinities, collations, and what follows from two values being equal.
//!
//! The rules are those of SQLite's `sqlite3ExprAffinity`, `sqlite3CompareAffinity`, `sqlite3ExprCollSeq` and
//! `sqlite3BinaryCompareCollSeq`. A conversion or a collation that can have no effect on the values at hand counts as
//! none: a number never compares by a collation.

use sqlgauge_base::budget;

use super::Facts;
use crate::functions::Function;
use crate::schema::{Affinity, Collation, ColumnCollation, Fact, ValueDomain};
use crate::tree::{BinaryOperator, Body, ColumnRef, Expr, Literal, Query, UnaryOperator};
use crate::visit::any_part;

/// What a comparison does to its operands first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Conversion {
    /// Nothing.
    None,
    /// Numbers become texts.
    ToText,
    /// Texts that look like a number become numbers.
    ToNumber,
}

/// How two operands are compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OperandComparison {
    /// What happens to the operands first.
    pub conversion: Fact<Conversion>,
    /// How texts compare.
    pub collation: Fact<Collation>,
}

/// The collation that an operand brings.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Collating {
    /// The collation.
    pub collation: Collation,
    /// A COLLATE in the operand names it; else it is that of a column, which gives way.
    pub explicit: bool,
}

/// What an operand brings into a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Operand {
    /// Its affinity, or none.
    pub affinity: Fact<Option<Affinity>>,
    /// Its collation, or none.
    pub collating: Fact<Option<Collating>>,
    /// Whether its collation is that of a rowid ([`ColumnCollation::Rowid`]), in a statement where that differs from
    /// BINARY.
    pub collates_as_rowid: bool,
    /// Which values it can have.
    pub values: ValueDomain,
    /// What SQLite reads off how it is written.
    pub form: CompoundForm,
}

/// What SQLite reads off how a result of a compound is written, to choose the affinity of the compound's column
/// (`sqlite3ExprDataType` and `sqlite3SubqueryColumnTypes`): a call may be anything, a CASE only what its results may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CompoundForm {
    /// The kinds of values that it takes it to have.
    pub kinds: ValueDomain,
    /// Whether it is a CAST, whose numeric affinity leaves numbers as they are.
    pub is_cast: bool,
}

impl Operand {
    /// How it compares with `right`, itself on the left.
    pub fn compared_with(&self, right: &Self) -> OperandComparison {
        let (left_values, right_values) = (self.values, right.values);
        let conversion = effective(compared_as(self.affinity, right.affinity), left_values, right_values);
        let becomes_text = |values: ValueDomain, opposite: ValueDomain| {
            values.may_be(ValueDomain::TEXT)
                || (!matches!(conversion, Fact::Known(Conversion::None | Conversion::ToNumber))
                    && values.may_be(ValueDomain::NUMBER)
                    && opposite.may_be(ValueDomain::TEXT))
        };
        let collation = if becomes_text(left_values, right_values) && becomes_text(right_values, left_values)
        {
            winner(&self.collating, &right.collating)
        } else {
            Fact::Known(Collation::Binary)
        };
        OperandComparison { conversion, collation }
    }

    /// Whether IN with a subquery, one operand its value and the other its result, may take an integer for an equal
    /// real number that `=` tells from it: where one side has REAL affinity and the other none, IN converts the values
    /// of both, and integers beyond 53 bits are rounded.
    pub fn rounds_in(&self, other: &Self) -> bool {
        let may_round = |real: &Self, plain: &Self| {
            matches!(real.affinity, Fact::Known(Some(Affinity::Real)) | Fact::Unknown)
                && matches!(plain.affinity, Fact::Known(None) | Fact::Unknown)
                && plain.values.may_be(ValueDomain::INTEGER.or(ValueDomain::NUMBER_TEXT))
        };
        may_round(self, other) || may_round(other, self)
    }

    /// The collation by which GROUP BY, DISTINCT, ORDER BY and set operations compare its values.
    pub fn collation(&self) -> Fact<Collation> {
        if !self.values.may_be(ValueDomain::TEXT) {
            return Fact::Known(Collation::Binary);
        }
        match &self.collating {
            Fact::Known(source) => {
                Fact::Known(source.as_ref().map_or(Collation::Binary, |source| source.collation.clone()))
            }
            Fact::Unknown => Fact::Unknown,
        }
    }
}

impl OperandComparison {
    /// Whether nothing about it is unknown.
    pub fn is_known(&self) -> bool {
        self.conversion != Fact::Unknown && self.collation != Fact::Unknown
    }
}

impl Facts<'_> {
    /// What the expression brings into a comparison.
    pub fn operand(&self, expr: &Expr) -> Operand {
        Operand {
            affinity: self.affinity(expr),
            collating: self.collating(expr),
            collates_as_rowid: self.collates_as_rowid(expr),
            values: self.values(expr),
            form: CompoundForm { kinds: self.kinds(expr), is_cast: matches!(expr, Expr::Cast { .. }) },
        }
    }

    fn kinds(&self, expr: &Expr) -> ValueDomain {
        match expr {
            Expr::Collate { expr, .. } | Expr::Unary(UnaryOperator::Plus, expr) => self.kinds(expr),
            Expr::Literal(Literal::Null) => ValueDomain::NONE,
            Expr::Literal(Literal::Text(_)) => ValueDomain::TEXT,
            Expr::Literal(Literal::Blob(_)) => ValueDomain::BLOB,
            Expr::Binary(BinaryOperator::Concat, ..) => ValueDomain::TEXT.or(ValueDomain::BLOB),
            Expr::Binary(BinaryOperator::Arrow | BinaryOperator::LongArrow, ..)
            | Expr::Like { negated: false, .. }
            | Expr::Function { .. }
            | Expr::Aggregate(_)
            | Expr::Window(_)
            | Expr::Output(_) => ValueDomain::ANY,
            Expr::Column(_) | Expr::Scalar(_) | Expr::Cast { .. } | Expr::Row(_) => {
                match self.affinity(expr) {
                    Fact::Known(Some(affinity)) if affinity.is_numeric() => {
                        ValueDomain::NUMBER.or(ValueDomain::BLOB)
                    }
                    Fact::Known(Some(Affinity::Text)) => ValueDomain::TEXT.or(ValueDomain::BLOB),
                    Fact::Known(_) | Fact::Unknown => ValueDomain::ANY,
                }
            }
            Expr::Case { branches, otherwise, .. } => {
                let results = branches.iter().map(|(_, then)| then).chain(otherwise.as_deref());
                results.fold(ValueDomain::NONE, |all, result| all.or(self.kinds(result)))
            }
            Expr::Literal(_)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Between { .. }
            | Expr::Like { .. }
            | Expr::InList { .. }
            | Expr::InQuery { .. }
            | Expr::Exists { .. }
            | Expr::IsNull { .. } => ValueDomain::NUMBER,
        }
    }

    /// The affinity of an expression in a comparison; `None` if it has none.
    pub fn affinity(&self, expr: &Expr) -> Fact<Option<Affinity>> {
        budget::spend(1);
        match expr {
            Expr::Column(column) => self.own_column(*column).affinity,
            Expr::Cast { type_name, .. } => Fact::Known(Some(Affinity::of_declared_type(Some(type_name)))),
            Expr::Collate { expr, .. } => self.affinity(expr),
            // Of a compound, the last SELECT counts.
            Expr::Scalar(query) => match last_output(query) {
                Some(output) => self.affinity(output),
                None => Fact::Unknown,
            },
            Expr::Row(parts) => parts.first().map_or(Fact::Unknown, |first| self.affinity(first)),
            Expr::Function { function: Function::Merged, args } => {
                args.as_slice().first().map_or(Fact::Unknown, |first| self.affinity(first))
            }
            _ => Fact::Known(None),
        }
    }

    /// The collation that an operand brings into a comparison; `None` if it brings none.
    pub fn collating(&self, expr: &Expr) -> Fact<Option<Collating>> {
        budget::spend(1);
        if has_collate(expr) {
            return match explicit(expr) {
                Some(name) => {
                    Fact::Known(Some(Collating { collation: Collation::from_name(name), explicit: true }))
                }
                None => Fact::Unknown,
            };
        }
        match expr {
            Expr::Column(column) => self.column_collating(*column),
            Expr::Cast { expr, .. } | Expr::Unary(UnaryOperator::Plus, expr) => self.collating(expr),
            Expr::Row(parts) => parts.first().map_or(Fact::Unknown, |first| self.collating(first)),
            Expr::Function { function: Function::Merged, args } => {
                args.as_slice().first().map_or(Fact::Unknown, |first| self.collating(first))
            }
            Expr::Output(_) => Fact::Unknown,
            _ => Fact::Known(None),
        }
    }

    fn column_collating(&self, column: ColumnRef) -> Fact<Option<Collating>> {
        let implicit = |collation| Fact::Known(Some(Collating { collation, explicit: false }));
        match self.own_column(column).collation {
            Fact::Known(ColumnCollation::Own(collation)) => implicit(collation),
            Fact::Known(_) if self.compares_bytes_only() => implicit(Collation::Binary),
            Fact::Known(ColumnCollation::Rowid) => Fact::Known(None),
            Fact::Known(ColumnCollation::RowidInside) | Fact::Unknown => Fact::Unknown,
        }
    }

    fn collates_as_rowid(&self, expr: &Expr) -> bool {
        let Expr::Column(column) = expr else { return false };
        let collation = self.own_column(*column).collation;
        let is_rowid =
            matches!(collation, Fact::Known(ColumnCollation::Rowid | ColumnCollation::RowidInside));
        is_rowid && !self.compares_bytes_only()
    }

    /// The collation by which GROUP BY, DISTINCT, ORDER BY and set operations compare values of the expression.
    pub fn collation(&self, expr: &Expr) -> Fact<Collation> {
        self.operand(expr).collation()
    }

    /// How the operands of a comparison compare: `=`, `<`, …, IS, an element of IN, a bound of BETWEEN, the result
    /// column of IN with a subquery.
    pub fn comparison(&self, left: &Expr, right: &Expr) -> OperandComparison {
        if matches!(left, Expr::Row(_)) || matches!(right, Expr::Row(_)) {
            return OperandComparison { conversion: Fact::Unknown, collation: Fact::Unknown };
        }
        self.operand(left).compared_with(&self.operand(right))
    }

    /// Whether the operands of a comparison may change sides (and `<` become `>`).
    pub fn commutes(&self, left: &Expr, right: &Expr) -> bool {
        if let Some(mut pairs) = row_pairs(left, right) {
            return pairs.all(|(left, right)| self.commutes(left, right));
        }
        let (there, back) = (self.comparison(left, right), self.comparison(right, left));
        let same = there.collation == back.collation && there.collation != Fact::Unknown;
        // Where only one operand brings a collation, its side makes no difference.
        same || self.collating(left) == Fact::Known(None) || self.collating(right) == Fact::Known(None)
    }

    /// Whether two values of the expression that GROUP BY or DISTINCT takes for equal are one value: no collation
    /// makes different texts equal, and there are not both integers and equal real numbers.
    pub fn is_identity(&self, expr: &Expr) -> bool {
        if let Expr::Row(parts) = expr {
            return parts.iter().all(|part| self.is_identity(part));
        }
        self.collation(expr).is(&Collation::Binary) && !self.values(expr).mixes_numbers()
    }

    /// Whether texts compare byte by byte whichever operand is written first.
    fn compares_bytes(&self, left: &Expr, right: &Expr) -> bool {
        [(left, right), (right, left)]
            .into_iter()
            .all(|(left, right)| self.comparison(left, right).collation.is(&Collation::Binary))
    }

    /// Whether `left = right` and `right = left` mean that both are one and the same value, so that one may stand for
    /// the other.
    pub fn equals_are_identical(&self, left: &Expr, right: &Expr) -> bool {
        if let Some(mut pairs) = row_pairs(left, right) {
            return pairs.all(|(left, right)| self.equals_are_identical(left, right));
        }
        let comparison = self.comparison(left, right);
        let (left_values, right_values) = (self.values(left), self.values(right));
        self.compares_bytes(left, right)
            && match comparison.conversion {
                Fact::Known(Conversion::None) => true,
                Fact::Known(Conversion::ToNumber) => {
                    let numeric = ValueDomain::NUMBER.or(ValueDomain::NUMBER_TEXT);
                    let converts = |a: ValueDomain, b: ValueDomain| {
                        a.may_be(ValueDomain::NUMBER_TEXT) && b.may_be(numeric)
                    };
                    !converts(left_values, right_values) && !converts(right_values, left_values)
                }
                Fact::Known(Conversion::ToText) | Fact::Unknown => false,
            }
            && !mixed(left_values, right_values)
            && !mixed(right_values, left_values)
    }

    /// Whether `left = right`, and `right = left`, fixes the value of `right` once that of `left` is fixed: all values
    /// of `right` that equal one value are one value.
    pub fn equality_fixes(&self, left: &Expr, right: &Expr) -> bool {
        let comparison = self.comparison(left, right);
        let values = self.values(right);
        self.compares_bytes(left, right)
            && !values.mixes_numbers()
            && match comparison.conversion {
                Fact::Known(Conversion::None) => true,
                Fact::Known(Conversion::ToNumber) => !values.may_be(ValueDomain::NUMBER_TEXT),
                // Two real numbers may share their text.
                Fact::Known(Conversion::ToText) => {
                    let shares =
                        values.may_be(ValueDomain::INTEGER) && values.may_be(ValueDomain::NUMBER_TEXT);
                    !shares && !values.may_be(ValueDomain::REAL)
                }
                Fact::Unknown => false,
            }
    }

    /// Whether a comparison with `before` does the same as one with `after` in its place, whatever it is compared
    /// with, the values being the same: both bring the same affinity and the same collation.
    pub fn compares_alike(&self, before: &Expr, after: &Expr) -> bool {
        if let Some(mut pairs) = row_pairs(before, after) {
            return pairs.all(|(before, after)| self.compares_alike(before, after));
        }
        let (before, after) = (self.operand(before), self.operand(after));
        let is_known = before.affinity != Fact::Unknown && before.collating != Fact::Unknown;
        is_known && before.affinity == after.affinity && before.collating == after.collating
    }
}

fn row_pairs<'e>(left: &'e Expr, right: &'e Expr) -> Option<impl Iterator<Item = (&'e Expr, &'e Expr)>> {
    match (left, right) {
        (Expr::Row(left), Expr::Row(right)) if left.len() == right.len() => Some(left.iter().zip(right)),
        _ => None,
    }
}

fn mixed(left: ValueDomain, right: ValueDomain) -> bool {
    left.may_be(ValueDomain::INTEGER) && right.may_be(ValueDomain::WHOLE_REAL)
}

fn compared_as(left: Fact<Option<Affinity>>, right: Fact<Option<Affinity>>) -> Fact<Conversion> {
    let (Fact::Known(left), Fact::Known(right)) = (left, right) else { return Fact::Unknown };
    let numeric = |affinity: Option<Affinity>| affinity.is_some_and(Affinity::is_numeric);
    Fact::Known(match (left, right) {
        _ if numeric(left) || numeric(right) => Conversion::ToNumber,
        (Some(Affinity::Text), None) | (None, Some(Affinity::Text)) => Conversion::ToText,
        _ => Conversion::None,
    })
}

/// The conversion, or none where it has no effect on such values.
fn effective(conversion: Fact<Conversion>, left: ValueDomain, right: ValueDomain) -> Fact<Conversion> {
    let to_number = left.may_be(ValueDomain::NUMBER_TEXT) || right.may_be(ValueDomain::NUMBER_TEXT);
    let number_and_text =
        |a: ValueDomain, b: ValueDomain| a.may_be(ValueDomain::NUMBER) && b.may_be(ValueDomain::TEXT);
    let to_text = number_and_text(left, right) || number_and_text(right, left);
    let shows = match conversion {
        Fact::Known(Conversion::None) => false,
        Fact::Known(Conversion::ToNumber) => to_number,
        Fact::Known(Conversion::ToText) => to_text,
        Fact::Unknown => to_number || to_text,
    };
    if shows { conversion } else { Fact::Known(Conversion::None) }
}

/// The collation of a comparison: an explicit one before that of a column, the left operand's before the right's.
fn winner(left: &Fact<Option<Collating>>, right: &Fact<Option<Collating>>) -> Fact<Collation> {
    let (left, right) = match (left, right) {
        (Fact::Known(Some(left)), _) if left.explicit => return Fact::Known(left.collation.clone()),
        (Fact::Known(left), Fact::Known(right)) => (left.as_ref(), right.as_ref()),
        _ => return Fact::Unknown,
    };
    let explicit = right.filter(|right| right.explicit);
    let chosen = explicit.or(left).or(right);
    Fact::Known(chosen.map_or(Collation::Binary, |chosen| chosen.collation.clone()))
}

/// The output by which SQLite takes the type of a scalar subquery: the first of the last SELECT.
fn last_output(query: &Query) -> Option<&Expr> {
    let mut body = &query.body;
    loop {
        match body {
            Body::Select(select) => return select.outputs.first().map(|output| &output.expr),
            Body::SetOperation { right, .. } => body = right,
            Body::Values(_) => return None,
        }
    }
}

/// Whether a COLLATE stands in the expression, those inside subqueries excepted.
fn has_collate(expr: &Expr) -> bool {
    any_part(expr, &|part| matches!(part, Expr::Collate { .. }))
}

/// The COLLATE that counts for an expression with several: the first, the operand on the left before the others.
/// `None` where SQLite's choice depends on how it keeps the expression.
fn explicit(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Collate { collation, .. } => Some(collation),
        Expr::Cast { expr, .. } | Expr::Unary(_, expr) => explicit(expr),
        Expr::Binary(operator, left, right) if !is_json(*operator) => {
            explicit(if has_collate(left) { left } else { right })
        }
        Expr::Function { args, .. } => args.as_slice().iter().find(|arg| has_collate(arg)).and_then(explicit),
        Expr::Aggregate(call) if call.order_by.is_empty() && call.filter.is_none() => {
            call.args.as_slice().iter().find(|arg| has_collate(arg)).and_then(explicit)
        }
        Expr::Case { operand: None, branches, otherwise } => {
            let parts: Vec<&Expr> =
                branches.iter().flat_map(|(when, then)| [when, then]).chain(otherwise.as_deref()).collect();
            parts.into_iter().find(|part| has_collate(part)).and_then(explicit)
        }
        _ => None,
    }
}

fn is_json(operator: BinaryOperator) -> bool {
    matches!(operator, BinaryOperator::Arrow | BinaryOperator::LongArrow)
}
