//! Damage to what a rule wrote.

use std::collections::HashSet;

use sqlgauge_sql::reads;
use sqlgauge_sql::schema::TableId;
use sqlgauge_sql::tree::{BinaryOperator, Body, ColumnRef, Expr, From, JoinKind, Literal, Query, RelationId};
use sqlgauge_sql::visit::{Rewriter, children, each_expr, rewrite_query};

/// What is done to the query that a rule wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// A comparison or a negation is turned round.
    Turned,
    /// An operand of AND or OR is missing.
    Dropped,
    /// The operands of an operator change places.
    Swapped,
    /// A constant is another.
    Constant,
    /// DISTINCT is there or not there.
    Distinct,
    /// An inner join is an outer one, or the other way round.
    Joined,
    /// WHERE is missing.
    Filter,
    /// A call reads another function.
    Unwrapped,
    /// Name resolution (P0): constants lose their letter case.
    LetterCase,
    /// Name resolution (P1): a column of the same place in another relation.
    Prefix,
    /// Name resolution (P3): instances of one table are taken for one another.
    Alias,
    /// Name resolution (P6): a sort key is another result column.
    OutputAlias,
    /// Name resolution (P7): parentheses are passed over.
    Parentheses,
    /// Name resolution (P8): a quoted name is text.
    Quotes,
    /// Name resolution (11): the star leaves a column out.
    Star,
    /// The canonical order (P4): the sides of an outer join change places.
    SidesOfJoin,
    /// The canonical order (P5): the operands of an operator change places that does not commute.
    SidesOfOperator,
}

impl Damage {
    /// Damage that suits any rule.
    pub(crate) const OF_RULES: [Self; 8] = [
        Self::Turned,
        Self::Dropped,
        Self::Swapped,
        Self::Constant,
        Self::Distinct,
        Self::Joined,
        Self::Filter,
        Self::Unwrapped,
    ];

    /// Whether it is damage to what name resolution did.
    pub(crate) fn is_of_resolution(self) -> bool {
        matches!(
            self,
            Self::LetterCase
                | Self::Prefix
                | Self::Alias
                | Self::OutputAlias
                | Self::Parentheses
                | Self::Quotes
                | Self::Star
        )
    }

    /// Whether it is damage to the canonical order.
    pub(crate) fn is_of_order(self) -> bool {
        matches!(self, Self::SidesOfJoin | Self::SidesOfOperator)
    }

    /// The query with the first place damaged that was not there before; `None` where nothing can be damaged.
    pub fn of(self, before: Option<&Query>, after: &Query) -> Option<Query> {
        let mut exprs = HashSet::new();
        before.iter().for_each(|query| {
            each_expr(*query, |expr| {
                exprs.insert(expr.clone());
            });
        });
        let mut damaged = after.clone();
        let ordered = self.is_of_order();
        let mut work =
            Work { damage: self, exprs: &exprs, tables: &reads::tables(after), any: ordered, done: false };
        rewrite_query(&mut work, &mut damaged);
        work.done.then_some(damaged)
    }
}

struct Work<'a> {
    damage: Damage,
    exprs: &'a HashSet<Expr>,
    tables: &'a [(RelationId, TableId)],
    any: bool,
    done: bool,
}

impl Work<'_> {
    fn other_instance(&self, column: ColumnRef, same_table: bool) -> Option<RelationId> {
        let (instance, own_table) = self.tables.iter().find(|(id, _)| *id == column.relation)?;
        let is_other =
            |(id, table): &&(RelationId, TableId)| id != instance && (table == own_table) == same_table;
        self.tables.iter().find(is_other).map(|(id, _)| *id)
    }

    fn damaged(&self, expr: &Expr) -> Option<Expr> {
        match (self.damage, expr) {
            (Damage::Turned, Expr::Binary(operator, left, right)) => {
                let turned = turned(*operator)?;
                Some(Expr::Binary(turned, left.clone(), right.clone()))
            }
            (Damage::Turned, other) => {
                let mut other = other.clone();
                let negated = other.negated_mut()?;
                *negated = !*negated;
                Some(other)
            }
            (Damage::Dropped, Expr::And(list) | Expr::Or(list)) => list.first().cloned(),
            (Damage::Dropped, Expr::InList { expr, list, negated }) if list.len() > 1 => {
                Some(Expr::InList { expr: expr.clone(), list: list[1..].to_vec(), negated: *negated })
            }
            (Damage::Swapped, Expr::Binary(operator, left, right)) if left != right => {
                Some(Expr::Binary(*operator, right.clone(), left.clone()))
            }
            (Damage::SidesOfOperator, Expr::Binary(operator, left, right))
                if matches!(
                    operator,
                    BinaryOperator::Less | BinaryOperator::Subtract | BinaryOperator::LessEqual
                ) && left != right =>
            {
                Some(Expr::Binary(*operator, right.clone(), left.clone()))
            }
            (Damage::Constant, Expr::Literal(literal)) => Some(Expr::Literal(match literal {
                Literal::Integer(n) => Literal::Integer(n.wrapping_add(1)),
                Literal::Text(text) => Literal::Text(format!("{text}a")),
                Literal::Boolean(value) => Literal::Boolean(!value),
                _ => Literal::Integer(1),
            })),
            (Damage::Unwrapped, Expr::Case { branches, .. }) => {
                branches.first().map(|(_, then)| then.clone())
            }
            (Damage::Unwrapped, Expr::Cast { expr, .. } | Expr::Unary(_, expr)) => {
                Some(expr.as_ref().clone())
            }
            (Damage::Unwrapped, call) if call.called().is_some() => {
                let mut first = None;
                children(call, &mut |child| first = first.take().or_else(|| Some(child.clone())));
                first.or(Some(Expr::Literal(Literal::Integer(1))))
            }
            (Damage::LetterCase, Expr::Literal(Literal::Text(text))) if text.to_lowercase() != *text => {
                Some(Expr::Literal(Literal::Text(text.to_lowercase())))
            }
            (Damage::Prefix | Damage::Alias, Expr::Column(column)) => {
                let relation = self.other_instance(*column, self.damage == Damage::Alias)?;
                Some(Expr::Column(ColumnRef { relation, ..*column }))
            }
            (Damage::OutputAlias, Expr::Output(n)) => Some(Expr::Output(if *n == 0 { 1 } else { n - 1 })),
            (Damage::Parentheses, Expr::Binary(outer, left, right)) => {
                match (left.as_ref(), right.as_ref()) {
                    (Expr::Binary(inner, a, b), _) => Some(Expr::Binary(
                        *inner,
                        a.clone(),
                        Box::new(Expr::Binary(*outer, b.clone(), right.clone())),
                    )),
                    _ => None,
                }
            }
            (Damage::Quotes, Expr::Column(_)) => Some(Expr::Literal(Literal::Text("a".to_owned()))),
            _ => None,
        }
    }
}

fn turned(operator: BinaryOperator) -> Option<BinaryOperator> {
    use BinaryOperator as O;
    Some(match operator {
        O::Equal => O::NotEqual,
        O::NotEqual => O::Equal,
        O::Less => O::GreaterEqual,
        O::LessEqual => O::Less,
        O::Greater => O::LessEqual,
        O::GreaterEqual => O::Greater,
        O::Is => O::IsNot,
        O::IsNot => O::Is,
        O::Add => O::Subtract,
        O::Subtract => O::Add,
        O::Divide => O::Multiply,
        O::Multiply => O::Divide,
        _ => return None,
    })
}

impl Rewriter for Work<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        if self.done || (!self.any && self.exprs.contains(expr)) {
            return;
        }
        if let Some(damaged) = self.damaged(expr) {
            *expr = damaged;
            self.done = true;
        }
    }

    fn body(&mut self, body: &mut Body) {
        let Body::Select(select) = body else { return };
        if self.done {
            return;
        }
        match self.damage {
            Damage::Distinct => {
                select.distinct = !select.distinct;
                self.done = true;
            }
            Damage::Filter => self.done = select.filter.take().is_some(),
            Damage::Star if select.outputs.len() > 1 => {
                select.outputs.swap(0, 1);
                self.done = true;
            }
            _ => {}
        }
    }

    fn from(&mut self, from: &mut From) {
        let From::Join(join) = from else { return };
        if self.done {
            return;
        }
        match self.damage {
            Damage::Joined => {
                join.kind = if join.kind == JoinKind::Inner { JoinKind::Left } else { JoinKind::Inner };
                self.done = true;
            }
            Damage::SidesOfJoin if matches!(join.kind, JoinKind::Left | JoinKind::Right) => {
                let join = join.as_mut();
                std::mem::swap(&mut join.left, &mut join.right);
                self.done = true;
            }
            _ => {}
        }
    }
}
