//! Conditions.

use std::rc::Rc;

use sqlgauge_sql::tree::{
    BinaryOperator, Expr, From, LikeOperator, Literal, Output, Query, Select, UnaryOperator,
};

use super::{Hear, Said, Say, parts};
use crate::engine::tree::{Slot, Tree};
use crate::grammar::Rule;
use crate::unsayable::Unsayable;

const COMPARISONS: &super::Pairs<BinaryOperator> = &[
    (BinaryOperator::Equal, Rule::Equal),
    (BinaryOperator::NotEqual, Rule::NotEqual),
    (BinaryOperator::Less, Rule::Less),
    (BinaryOperator::LessEqual, Rule::LessEqual),
    (BinaryOperator::Greater, Rule::Greater),
    (BinaryOperator::GreaterEqual, Rule::GreaterEqual),
    (BinaryOperator::Is, Rule::Is),
    (BinaryOperator::IsNot, Rule::IsNot),
];

/// Comparisons with a text, such as a date, or with a year.
const IN_TIME: &super::Pairs<BinaryOperator> = &[
    (BinaryOperator::Less, Rule::Before),
    (BinaryOperator::LessEqual, Rule::NotAfter),
    (BinaryOperator::Greater, Rule::After),
    (BinaryOperator::GreaterEqual, Rule::NotBefore),
];

/// Patterns of any form, by operator and negation.
const PATTERNS: &super::Pairs<(LikeOperator, bool)> = &[
    ((LikeOperator::Like, false), Rule::Like),
    ((LikeOperator::Like, true), Rule::NotLike),
    ((LikeOperator::Glob, false), Rule::Glob),
    ((LikeOperator::Glob, true), Rule::NotGlob),
    ((LikeOperator::Regexp, false), Rule::Regexp),
    ((LikeOperator::Regexp, true), Rule::NotRegexp),
    ((LikeOperator::Match, false), Rule::Matches),
    ((LikeOperator::Match, true), Rule::NotMatches),
];

/// Of 100 lists of several values, how many are said by "a or b".
const TWO_OF: u8 = 75;

/// Where a text stands in a LIKE pattern of the simple forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Inside,
    First,
    Last,
}

impl Stands {
    fn pattern(self, text: &str) -> String {
        match self {
            Self::Inside => format!("%{text}%"),
            Self::First => format!("{text}%"),
            Self::Last => format!("%{text}"),
        }
    }

    /// The text of a pattern of a simple form.
    fn of(pattern: &str) -> Option<(Self, &str)> {
        let (head, text) = pattern.strip_prefix('%').map_or((false, pattern), |text| (true, text));
        let (tail, text) = text.strip_suffix('%').map_or((false, text), |text| (true, text));
        let stands = match (head, tail) {
            (true, true) => Self::Inside,
            (false, true) => Self::First,
            (true, false) => Self::Last,
            (false, false) => return None,
        };
        (!text.is_empty() && !text.contains(['%', '_'])).then_some((stands, text))
    }
}

const STANDS: &super::Pairs<(Stands, bool)> = &[
    ((Stands::Inside, false), Rule::Contains),
    ((Stands::Inside, true), Rule::NotContains),
    ((Stands::First, false), Rule::StartsWith),
    ((Stands::First, true), Rule::NotStartsWith),
    ((Stands::Last, false), Rule::EndsWith),
    ((Stands::Last, true), Rule::NotEndsWith),
];

fn either(negated: bool, plain: Rule, negative: Rule) -> Rule {
    if negated { negative } else { plain }
}

/// What a condition says something of, if it is one thing.
pub(super) fn subject(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Binary(operator, left, _) if operator.is_comparison() => Some(left),
        Expr::Between { expr, .. }
        | Expr::Like { expr, .. }
        | Expr::InList { expr, .. }
        | Expr::InQuery { expr, .. }
        | Expr::IsNull { expr, .. } => Some(expr),
        _ => None,
    }
}

impl Say<'_> {
    pub(crate) fn condition(&mut self, expr: &Expr) -> Said {
        match expr {
            Expr::And(list) => self.joined(list, Rule::And, Rule::Either),
            Expr::Or(list) => self.joined(list, Rule::Or, Rule::Both),
            _ => self.unit(expr),
        }
    }

    /// Conditions joined by one word; those joined by the other inside are marked off by a word of their own.
    fn joined(&mut self, list: &[Expr], rule: Rule, other: Rule) -> Said {
        let is_group =
            |expr: &Expr| matches!((expr, other), (Expr::Or(_), Rule::Either) | (Expr::And(_), Rule::Both));
        let mut parts = Vec::new();
        for expr in list {
            parts.push(match expr {
                Expr::And(inner) | Expr::Or(inner) if is_group(expr) && !self.care.has_brackets() => {
                    let units: Said<Vec<Tree>> = inner.iter().map(|expr| self.unit(expr)).collect();
                    Tree::Node(other, vec![units?.into()])
                }
                _ => self.unit(expr)?,
            });
        }
        Ok(Tree::Node(rule, vec![parts.into()]))
    }

    fn unit(&mut self, expr: &Expr) -> Said {
        match expr {
            Expr::And(_) | Expr::Or(_) => Ok(Tree::of(Rule::InBrackets, [self.condition(expr)?])),
            Expr::Unary(UnaryOperator::Not, inner) => Ok(Tree::of(Rule::Not, [self.condition(inner)?])),
            // What follows might be taken for a condition of the subquery.
            Expr::Exists { .. } if self.care.has_brackets() => {
                Ok(Tree::of(Rule::InBrackets, [self.simple(expr)?]))
            }
            _ => self.simple(expr),
        }
    }

    fn simple(&mut self, expr: &Expr) -> Said {
        match expr {
            Expr::Binary(operator, left, right) if operator.is_comparison() => {
                if let Some(rule) = self.overall(expr) {
                    return Ok(Tree::of(rule, [self.operand(left)?]));
                }
                // Of years people say "before" too.
                let has_time = match **right {
                    Expr::Literal(Literal::Text(_)) => true,
                    Expr::Literal(Literal::Integer(1000..)) => self.scale(left) == super::tail::Scale::Time,
                    _ => false,
                };
                let in_time = super::rule_of(IN_TIME, operator).filter(|_| has_time);
                let rule = in_time
                    .or_else(|| super::rule_of(COMPARISONS, operator))
                    .ok_or(Unsayable::construct("a comparison"))?;
                self.of_operands(rule, [left, right])
            }
            Expr::Between { expr, low, high, negated } => {
                self.of_operands(either(*negated, Rule::Between, Rule::NotBetween), [expr, low, high])
            }
            Expr::Like { operator, expr, pattern, escape, negated } => {
                self.like(*operator, [expr, pattern], escape.as_deref(), *negated)
            }
            Expr::IsNull { expr, negated } => {
                self.of_operands(either(*negated, Rule::Missing, Rule::NotMissing), [expr])
            }
            Expr::InList { expr, list, negated } => {
                if list.is_empty() {
                    return Err(Unsayable::construct("IN of an empty list"));
                }
                let subject = self.operand(expr)?;
                let list: Said<Vec<Tree>> = list.iter().map(|item| self.atom(item)).collect();
                let rule = match list.as_ref().map(Vec::len) {
                    Ok(count @ 2..) if self.care.is_terse() && (count == 2 || self.random.chance(TWO_OF)) => {
                        either(*negated, Rule::EitherOf, Rule::NeitherOf)
                    }
                    _ => either(*negated, Rule::OneOf, Rule::NoneOf),
                };
                Ok(Tree::Node(rule, vec![subject.into(), list?.into()]))
            }
            Expr::InQuery { expr, query, negated } => {
                if let Some(link) = self.linked(expr, query, *negated)? {
                    return Ok(link);
                }
                let subject = self.operand(expr)?;
                let nested = self.nested(query)?;
                Ok(Tree::of(either(*negated, Rule::Among, Rule::NotAmong), [subject, nested]))
            }
            Expr::Exists { query, negated } => self.exists(query, *negated),
            _ => Ok(Tree::of(Rule::Holds, [self.operand(expr)?])),
        }
    }

    fn of_operands<const N: usize>(&mut self, rule: Rule, operands: [&Expr; N]) -> Said {
        let operands: Said<Vec<Tree>> = operands.into_iter().map(|operand| self.operand(operand)).collect();
        Ok(Tree::Node(rule, operands?.into_iter().map(Slot::from).collect()))
    }

    fn like(&mut self, operator: LikeOperator, of: [&Expr; 2], escape: Option<&Expr>, negated: bool) -> Said {
        let [expr, pattern] = of;
        if let Some(escape) = escape {
            if operator != LikeOperator::Like {
                return Err(Unsayable::construct("ESCAPE of GLOB"));
            }
            return self.of_operands(
                either(negated, Rule::LikeEscape, Rule::NotLikeEscape),
                [expr, pattern, escape],
            );
        }
        if let Expr::Literal(Literal::Text(text)) = pattern
            && operator == LikeOperator::Like
            && let Some((stands, text)) = Stands::of(text)
        {
            let rule = super::rule_of(STANDS, &(stands, negated)).ok_or(Unsayable::construct("LIKE"))?;
            let text = Tree::of(Rule::Literal, [Tree::Value(Literal::Text(text.to_owned()))]);
            return Ok(Tree::of(rule, [self.operand(expr)?, text]));
        }
        let rule = super::rule_of(PATTERNS, &(operator, negated)).ok_or(Unsayable::construct("a pattern"))?;
        self.of_operands(rule, [expr, pattern])
    }

    /// A subquery that is one side of a comparison: in brackets if it has several clauses.
    fn nested(&mut self, query: &Query) -> Said {
        let is_short = query.order_by.is_empty()
            && query.limit.is_none()
            && query.as_select().is_some_and(|select| select.group_by.is_empty() && !has_nested(select));
        let inner = self.query(query)?;
        let brackets = !is_short || self.care.has_brackets();
        Ok(if brackets { Tree::of(Rule::Bracketed, [inner]) } else { inner })
    }

    fn exists(&mut self, query: &Query, negated: bool) -> Said {
        let one = [Output::of(Expr::Literal(Literal::Integer(1)))];
        let plain = |select: &&Select| {
            !select.distinct && select.group_by.is_empty() && select.having.is_none() && select.outputs == one
        };
        let bounded = query.limit.is_some() || query.offset.is_some() || !query.order_by.is_empty();
        let from = query.as_select().filter(plain).and_then(|select| Some((select, select.from.as_ref()?)));
        let (Some((select, from)), false) = (from, bounded) else {
            let inner = self.query(query)?;
            return Ok(Tree::of(either(negated, Rule::ThereRow, Rule::ThereNoRow), [inner]));
        };
        let depth = self.scopes.len();
        let clauses = self.there(from, select.filter.as_ref());
        self.scopes.truncate(depth);
        let slots = clauses?;
        Ok(Tree::Node(either(negated, Rule::There, Rule::ThereNone), slots))
    }
}

impl Say<'_> {
    /// Rows that exist, and the conditions on them; their scope stays.
    pub(super) fn there(&mut self, from: &From, filter: Option<&Expr>) -> Said<Vec<Slot>> {
        let source = self.source(from)?;
        let (source, filter) = self.of_outer(source, filter)?;
        let (source, filter) = self.restricted(source, filter)?;
        let filter = filter.as_ref().map(|filter| self.filter(filter)).transpose()?;
        Ok(vec![source.into(), filter.into()])
    }
}

/// Whether a condition of the SELECT joins conditions, so that what follows might be taken for one of them.
fn has_nested(select: &Select) -> bool {
    matches!(select.filter, Some(Expr::And(_) | Expr::Or(_)))
}

impl Hear<'_> {
    /// The condition that a phrase means.
    pub(super) fn condition(&mut self, tree: &Tree) -> Option<Expr> {
        let (rule, slots) = tree.node()?;
        if let Some(operator) = super::value_of(COMPARISONS, rule).or_else(|| super::value_of(IN_TIME, rule))
        {
            let [left, right] = self.operands(slots)?;
            return Some(Expr::Binary(operator, left, right));
        }
        if let Some((operator, negated)) = super::value_of(PATTERNS, rule) {
            let [expr, pattern] = self.operands(slots)?;
            return Some(Expr::Like { operator, expr, pattern, escape: None, negated });
        }
        if let Some((stands, negated)) = super::value_of(STANDS, rule) {
            return self.stands(slots, stands, negated);
        }
        match (rule, slots) {
            (Rule::AboveAverage | Rule::BelowAverage | Rule::HighestOfAll | Rule::LowestOfAll, _) => {
                self.overall(rule, slots)
            }
            (Rule::And | Rule::Both, [list]) => Some(Expr::And(self.conditions(list)?)),
            (Rule::Or | Rule::Either, [list]) => Some(Expr::Or(self.conditions(list)?)),
            (Rule::InBrackets, [inner]) => self.condition(inner.one()?),
            (Rule::Not, [inner]) => {
                Some(Expr::Unary(UnaryOperator::Not, Box::new(self.condition(inner.one()?)?)))
            }
            (Rule::Between | Rule::NotBetween, _) => {
                let [expr, low, high] = self.operands(slots)?;
                Some(Expr::Between { expr, low, high, negated: rule == Rule::NotBetween })
            }
            (Rule::LikeEscape | Rule::NotLikeEscape, _) => {
                let [expr, pattern, escape] = self.operands(slots)?;
                let negated = rule == Rule::NotLikeEscape;
                Some(Expr::Like {
                    operator: LikeOperator::Like,
                    expr,
                    pattern,
                    escape: Some(escape),
                    negated,
                })
            }
            (Rule::Missing | Rule::NotMissing, _) => {
                let [expr] = self.operands(slots)?;
                Some(Expr::IsNull { expr, negated: rule == Rule::NotMissing })
            }
            (Rule::OneOf | Rule::NoneOf | Rule::EitherOf | Rule::NeitherOf, [expr, list]) => {
                let expr = Box::new(self.operand(expr.one()?)?);
                let list: Option<Vec<Expr>> = list.all().iter().map(|item| self.operand(item)).collect();
                Some(Expr::InList {
                    expr,
                    list: list?,
                    negated: matches!(rule, Rule::NoneOf | Rule::NeitherOf),
                })
            }
            (Rule::Among | Rule::NotAmong, [expr, query]) => {
                let expr = Box::new(self.operand(expr.one()?)?);
                let query = self.query(query.one()?)?;
                let width = if let Expr::Row(parts) = &*expr { parts.len() } else { 1 };
                let negated = rule == Rule::NotAmong;
                (query.width() == width).then(|| Expr::InQuery { expr, query: Box::new(query), negated })
            }
            (Rule::Belongs | Rule::NotBelongs | Rule::Appears | Rule::NotAppears, _) => {
                self.linked_row(rule, slots)
            }
            (Rule::There | Rule::ThereNone, [source, filter]) => {
                let query = self.there(source.one()?, filter.one())?;
                Some(Expr::Exists { query: Box::new(query), negated: rule == Rule::ThereNone })
            }
            (Rule::ThereRow | Rule::ThereNoRow, [query]) => {
                let query = self.query(query.one()?)?;
                Some(Expr::Exists { query: Box::new(query), negated: rule == Rule::ThereNoRow })
            }
            (Rule::Holds, [value]) => self.operand(value.one()?),
            _ => None,
        }
    }

    fn conditions(&mut self, list: &Slot) -> Option<Vec<Expr>> {
        list.all().iter().map(|part| self.condition(part)).collect()
    }

    /// The operands of a phrase, which are all its parts.
    pub(super) fn operands<const N: usize>(&mut self, slots: &[Slot]) -> Option<[Box<Expr>; N]> {
        let operands: [&Rc<Tree>; N] = parts(slots)?;
        let operands: Option<Vec<Box<Expr>>> =
            operands.into_iter().map(|operand| self.operand(operand).map(Box::new)).collect();
        operands?.try_into().ok()
    }

    fn stands(&mut self, slots: &[Slot], stands: Stands, negated: bool) -> Option<Expr> {
        let [expr, text] = self.operands(slots)?;
        let Expr::Literal(Literal::Text(text)) = *text else { return None };
        let pattern = stands.pattern(&text);
        (Stands::of(&pattern)? == (stands, text.as_str())).then(|| Expr::Like {
            operator: LikeOperator::Like,
            expr,
            pattern: Box::new(Expr::Literal(Literal::Text(pattern))),
            escape: None,
            negated,
        })
    }

    fn there(&mut self, source: &Tree, filter: Option<&Rc<Tree>>) -> Option<Query> {
        let depth = self.scopes.len();
        let heard = self.source_and_filter(source, filter);
        self.scopes.truncate(depth);
        let (from, filter) = heard?;
        let outputs = vec![Output::of(Expr::Literal(Literal::Integer(1)))];
        let select = Select { from: Some(from), filter, ..Select::of(outputs) };
        Some(Query::of_select(select))
    }
}
