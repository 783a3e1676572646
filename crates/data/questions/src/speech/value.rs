//! Values.

use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal, Query, UnaryOperator};

use super::reference::{ordinal, place_of};
use super::{Hear, Said, Say, parts};
use crate::engine::tree::{Slot, Tree};
use crate::grammar::Rule;
use crate::unsayable::Unsayable;

const ARITHMETIC: &super::Pairs<BinaryOperator> = &[
    (BinaryOperator::Add, Rule::Plus),
    (BinaryOperator::Subtract, Rule::Minus),
    (BinaryOperator::Multiply, Rule::Times),
    (BinaryOperator::Divide, Rule::Over),
    (BinaryOperator::Modulo, Rule::Remainder),
    (BinaryOperator::Concat, Rule::Followed),
    (BinaryOperator::BitAnd, Rule::BitAnd),
    (BinaryOperator::BitOr, Rule::BitOr),
    (BinaryOperator::ShiftLeft, Rule::ShiftLeft),
    (BinaryOperator::ShiftRight, Rule::ShiftRight),
    (BinaryOperator::Arrow, Rule::Arrow),
    (BinaryOperator::LongArrow, Rule::LongArrow),
];

/// Conversions that have words of their own.
const CASTS: &super::Pairs<&str> = &[("REAL", Rule::AsDecimal), ("INTEGER", Rule::AsWhole)];

/// A value with a constant text after it: both.
fn separated(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match expr {
        Expr::Binary(BinaryOperator::Concat, first, between) => {
            matches!(**between, Expr::Literal(Literal::Text(_))).then_some((&**first, &**between))
        }
        _ => None,
    }
}

const UNARY: &super::Pairs<UnaryOperator> = &[
    (UnaryOperator::Minus, Rule::Negative),
    (UnaryOperator::Plus, Rule::Positive),
    (UnaryOperator::BitNot, Rule::BitNot),
];

/// Whether a phrase must stand in brackets beside others.
fn is_arithmetic(tree: &Tree) -> bool {
    matches!(tree, Tree::Node(rule, _) if super::value_of(ARITHMETIC, *rule).is_some())
}

impl Say<'_> {
    pub(crate) fn operand(&mut self, expr: &Expr) -> Said {
        match expr {
            Expr::Column(column) => self.column(*column),
            Expr::Output(at) => {
                let number =
                    ordinal(*at as usize).ok_or(Unsayable::construct("ORDER BY after the tenth column"))?;
                Ok(Tree::of(Rule::OutputAt, [number]))
            }
            Expr::Literal(value) => Ok(Tree::of(Rule::Literal, [Tree::Value(value.clone())])),
            Expr::Binary(BinaryOperator::Concat, left, right)
                if separated(left).is_some() && self.care.is_terse() =>
            {
                let (first, between) = separated(left).unwrap_or((left, left));
                Ok(Tree::of(Rule::SeparatedBy, [self.atom(first)?, self.atom(right)?, self.atom(between)?]))
            }
            Expr::Binary(operator, left, right) => match super::rule_of(ARITHMETIC, operator) {
                Some(rule) => Ok(Tree::of(rule, [self.atom(left)?, self.atom(right)?])),
                None => self.whether(expr),
            },
            Expr::Scalar(query) => self.subquery(query),
            Expr::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref())
            }
            Expr::Cast { expr, type_name } => {
                if let Some(rule) = super::rule_of(CASTS, &type_name.as_str()) {
                    return Ok(Tree::of(rule, [self.argument(expr)?]));
                }
                Ok(Tree::of(Rule::CastTo, [self.argument(expr)?, Tree::Quoted(type_name.clone())]))
            }
            Expr::Collate { expr, collation } => {
                Ok(Tree::of(Rule::CollatedBy, [self.argument(expr)?, Tree::Quoted(collation.clone())]))
            }
            Expr::Row(list) => {
                let list: Said<Vec<Tree>> = list.iter().map(|part| self.operand(part)).collect();
                Ok(Tree::Node(Rule::Tuple, vec![list?.into()]))
            }
            Expr::Function { function, args } => self.function(function, args),
            Expr::Aggregate(aggregate) => self.aggregate(aggregate),
            Expr::Window(call) => self.window(call),
            Expr::Unary(UnaryOperator::Not, _)
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Between { .. }
            | Expr::Like { .. }
            | Expr::InList { .. }
            | Expr::InQuery { .. }
            | Expr::Exists { .. }
            | Expr::IsNull { .. } => self.whether(expr),
            Expr::Unary(operator, inner) => {
                let rule = super::rule_of(UNARY, operator).ok_or(Unsayable::construct("a unary operator"))?;
                Ok(Tree::of(rule, [self.argument(inner)?]))
            }
        }
    }

    fn whether(&mut self, expr: &Expr) -> Said {
        Ok(Tree::of(Rule::Whether, [self.condition(expr)?]))
    }

    /// A value beside others.
    pub(super) fn atom(&mut self, expr: &Expr) -> Said {
        let phrase = self.operand(expr)?;
        Ok(if is_arithmetic(&phrase) { Tree::of(Rule::InParentheses, [phrase]) } else { phrase })
    }

    /// A value of which something is computed.
    pub(super) fn argument(&mut self, expr: &Expr) -> Said {
        let phrase = self.atom(expr)?;
        Ok(match phrase {
            Tree::Node(Rule::SubqueryOfAll, _) => Tree::of(Rule::InParentheses, [phrase]),
            other => other,
        })
    }

    fn subquery(&mut self, query: &Query) -> Said {
        let is_plain = query.order_by.is_empty() && query.limit.is_none() && query.offset.is_none();
        let inner = self.query(query)?;
        let Tree::Node(Rule::Select | Rule::SelectFor, slots) = &inner else {
            return Ok(Tree::of(Rule::Subquery, [inner]));
        };
        if let [Slot::None, outputs, source, filter, Slot::None, Slot::None, Slot::None] = slots.as_slice()
            && let Some((_, [Slot::Many(outputs)])) = outputs.one().and_then(|outputs| outputs.node())
            && let [output] = outputs.as_slice()
            && is_plain
            && !self.care.has_brackets()
            && !is_arithmetic(output)
            && !matches!(**output, Tree::Node(Rule::SubqueryOfAll, _))
        {
            let output = Slot::One(std::rc::Rc::clone(output));
            return Ok(Tree::Node(Rule::SubqueryOfAll, vec![output, source.clone(), filter.clone()]));
        }
        Ok(Tree::of(Rule::Subquery, [inner]))
    }

    fn case(&mut self, operand: Option<&Expr>, branches: &[(Expr, Expr)], otherwise: Option<&Expr>) -> Said {
        let operand = operand.map(|operand| self.operand(operand)).transpose()?;
        let mut choices = Vec::new();
        for (when, then) in branches {
            choices.push(match &operand {
                None => Tree::of(Rule::Branch, [self.operand(then)?, self.condition(when)?]),
                Some(_) => Tree::of(Rule::ChoiceOf, [self.operand(then)?, self.operand(when)?]),
            });
        }
        let otherwise = otherwise.map(|otherwise| self.operand(otherwise)).transpose()?;
        let rule = match (&operand, &otherwise) {
            (None, None) => Rule::Case,
            (None, Some(_)) => Rule::CaseElse,
            (Some(_), None) => Rule::CaseOf,
            (Some(_), Some(_)) => Rule::CaseOfElse,
        };
        let slots =
            operand.map(Slot::from).into_iter().chain([choices.into()]).chain(otherwise.map(Slot::from));
        Ok(Tree::Node(rule, slots.collect()))
    }
}

impl Hear<'_> {
    /// The value that a phrase means.
    pub(super) fn operand(&mut self, tree: &Tree) -> Option<Expr> {
        let (rule, slots) = tree.node()?;
        if let Some(field) = self.field_called(tree) {
            return Some(Expr::Column(field));
        }
        if let Some(operator) = super::value_of(ARITHMETIC, rule) {
            let [left, right] = self.operands(slots)?;
            return Some(Expr::Binary(operator, left, right));
        }
        if let Some(operator) = super::value_of(UNARY, rule) {
            let [inner] = self.operands(slots)?;
            return Some(Expr::Unary(operator, inner));
        }
        match (rule, slots) {
            (Rule::OutputAt, [number]) => Some(Expr::Output(u32::try_from(place_of(number.one()?)?).ok()?)),
            (Rule::Literal, [value]) => match &**value.one()? {
                Tree::Value(value) => Some(Expr::Literal(value.clone())),
                _ => None,
            },
            (Rule::InParentheses, [inner]) => self.operand(inner.one()?),
            (Rule::Whether, [condition]) => self.condition(condition.one()?),
            (Rule::Subquery, [query]) => self.scalar(query.one()?),
            (Rule::SubqueryOfAll, [output, source, filter]) => {
                let outputs =
                    Tree::Node(Rule::Outputs, vec![Slot::Many(vec![std::rc::Rc::clone(output.one()?)])]);
                let (none, source, filter) = (|| Slot::None, source.clone(), filter.clone());
                let slots = vec![none(), outputs.into(), source, filter, none(), none(), none()];
                self.scalar(&Tree::Node(Rule::Select, slots))
            }
            (Rule::Tuple, [list]) => {
                let list: Option<Vec<Expr>> = list.all().iter().map(|part| self.operand(part)).collect();
                list.filter(|list| list.len() > 1).map(Expr::Row)
            }
            (Rule::Case | Rule::CaseElse | Rule::CaseOf | Rule::CaseOfElse, _) => self.case(rule, slots),
            (Rule::AsDecimal | Rule::AsWhole, _) => {
                let [expr] = self.operands(slots)?;
                let type_name = super::value_of(CASTS, rule)?.to_owned();
                Some(Expr::Cast { expr, type_name })
            }
            (Rule::SeparatedBy, _) => {
                let [first, last, between] = self.operands(slots)?;
                let head = Box::new(Expr::Binary(BinaryOperator::Concat, first, between));
                Some(Expr::Binary(BinaryOperator::Concat, head, last))
            }
            (Rule::CastTo, [inner, name]) => {
                let (expr, type_name) = (Box::new(self.operand(inner.one()?)?), quoted(name)?);
                Some(Expr::Cast { expr, type_name })
            }
            (Rule::CollatedBy, [inner, name]) => {
                let (expr, collation) = (Box::new(self.operand(inner.one()?)?), quoted(name)?);
                Some(Expr::Collate { expr, collation })
            }
            _ => self.column(tree).or_else(|| self.call(tree)),
        }
    }

    fn scalar(&mut self, tree: &Tree) -> Option<Expr> {
        let query = self.query(tree)?;
        (query.width() == 1).then(|| Expr::Scalar(Box::new(query)))
    }

    fn case(&mut self, rule: Rule, slots: &[Slot]) -> Option<Expr> {
        let has_operand = matches!(rule, Rule::CaseOf | Rule::CaseOfElse);
        let has_else = matches!(rule, Rule::CaseElse | Rule::CaseOfElse);
        let (first, rest) = slots.split_first()?;
        let (operand, list, rest) = if has_operand {
            let (list, rest) = rest.split_first()?;
            (Some(Box::new(self.operand(first.one()?)?)), list, rest)
        } else {
            (None, first, rest)
        };
        let mut branches = Vec::new();
        for branch in list.all() {
            let (_, slots) = branch.node()?;
            let [then, when] = parts(slots)?;
            let when = if has_operand { self.operand(when)? } else { self.condition(when)? };
            branches.push((when, self.operand(then)?));
        }
        let otherwise = if has_else { Some(Box::new(self.operand(rest.first()?.one()?)?)) } else { None };
        Some(Expr::Case { operand, branches, otherwise })
    }
}

/// What stands in double quotes.
pub(super) fn quoted(slot: &Slot) -> Option<String> {
    match &**slot.one()? {
        Tree::Quoted(text) => Some(text.clone()),
        _ => None,
    }
}
