//! ORDER BY, LIMIT and OFFSET.

use sqlgauge_sql::tree::{Expr, Literal, OrderTerm, Query};

use super::{Hear, Said, Say, parts};
use crate::engine::tree::{Slot, Tree};
use crate::grammar::Rule;
use crate::unsayable::Unsayable;

/// Descending, and where missing values stand if not where SQLite puts them.
const DIRECTIONS: &super::Pairs<(bool, Option<bool>)> = &[
    ((false, None), Rule::Ascending),
    ((true, None), Rule::Descending),
    ((false, Some(false)), Rule::AscendingMissingLast),
    ((true, Some(true)), Rule::DescendingMissingFirst),
    ((false, Some(true)), Rule::AscendingMissingFirst),
    ((true, Some(false)), Rule::DescendingMissingLast),
];

/// Of 100 orders by one value with a limit above one, how many are said by a superlative.
const SUPERLATIVE: u8 = 75;

impl Say<'_> {
    /// The order and limit of a query.
    pub(super) fn tail(&mut self, query: &Query) -> Said<Option<Tree>> {
        if let ([term], Some(limit), None) = (query.order_by.as_slice(), &query.limit, &query.offset)
            && term.nulls_first.is_none()
            && matches!(limit, Expr::Literal(Literal::Integer(1..)))
            && (matches!(limit, Expr::Literal(Literal::Integer(1))) || self.random.chance(SUPERLATIVE))
        {
            return self.superlative(term, limit).map(Some);
        }
        let terms: Said<Vec<Tree>> = query.order_by.iter().map(|term| self.term(term)).collect();
        let terms = terms?;
        let limit = query.limit.as_ref().map(|limit| self.atom(limit)).transpose()?;
        let offset = query.offset.as_ref().map(|offset| self.atom(offset)).transpose()?;
        let rule = match (terms.is_empty(), &limit, &offset) {
            (true, None, None) => return Ok(None),
            (false, None, None) => Rule::Sorted,
            (false, Some(_), None) => Rule::SortedFirst,
            (false, Some(_), Some(_)) => Rule::SortedFrom,
            (true, Some(_), None) => Rule::FirstRows,
            (true, Some(_), Some(_)) => Rule::RowsFrom,
            (_, None, Some(_)) => return Err(Unsayable::construct("OFFSET without LIMIT")),
        };
        let terms = if terms.is_empty() { None } else { Some(Slot::from(terms)) };
        let slots = terms.into_iter().chain(limit.map(Slot::from)).chain(offset.map(Slot::from));
        Ok(Some(Tree::Node(rule, slots.collect())))
    }

    fn superlative(&mut self, term: &OrderTerm, limit: &Expr) -> Said {
        let by = self.operand(&term.expr)?;
        if matches!(limit, Expr::Literal(Literal::Integer(1))) {
            return Ok(Tree::of(if term.descending { Rule::Highest } else { Rule::Lowest }, [by]));
        }
        let rule = if term.descending { Rule::HighestFew } else { Rule::LowestFew };
        Ok(Tree::of(rule, [self.atom(limit)?, by]))
    }

    /// A term of ORDER BY.
    pub(super) fn term(&mut self, term: &OrderTerm) -> Said {
        let rule = super::rule_of(DIRECTIONS, &(term.descending, term.nulls_first));
        Ok(Tree::of(rule.ok_or(Unsayable::construct("NULLS FIRST"))?, [self.operand(&term.expr)?]))
    }
}

impl Hear<'_> {
    /// Adds the order and limit that a phrase means.
    pub(super) fn tail(&mut self, tree: &Tree, query: &mut Query) -> Option<()> {
        let (rule, slots) = tree.node()?;
        match (rule, slots) {
            (Rule::Highest | Rule::Lowest, _) => {
                let [by] = parts(slots)?;
                query.order_by = vec![self.plain_term(by, rule == Rule::Highest)?];
                query.limit = Some(Expr::Literal(Literal::Integer(1)));
            }
            (Rule::HighestFew | Rule::LowestFew, _) => {
                let [count, by] = parts(slots)?;
                query.order_by = vec![self.plain_term(by, rule == Rule::HighestFew)?];
                query.limit = Some(self.operand(count)?);
            }
            (Rule::Sorted | Rule::SortedFirst | Rule::SortedFrom, [terms, rest @ ..]) => {
                query.order_by = self.terms(terms)?;
                self.bounds(rest, query)?;
            }
            (Rule::FirstRows | Rule::RowsFrom, rest) => self.bounds(rest, query)?,
            _ => return None,
        }
        Some(())
    }

    fn bounds(&mut self, slots: &[Slot], query: &mut Query) -> Option<()> {
        if let Some(limit) = slots.first() {
            query.limit = Some(self.operand(limit.one()?)?);
        }
        if let Some(offset) = slots.get(1) {
            query.offset = Some(self.operand(offset.one()?)?);
        }
        Some(())
    }

    fn plain_term(&mut self, by: &Tree, descending: bool) -> Option<OrderTerm> {
        Some(OrderTerm { expr: self.operand(by)?, descending, nulls_first: None })
    }

    /// The terms of an ORDER BY.
    pub(super) fn terms(&mut self, slot: &Slot) -> Option<Vec<OrderTerm>> {
        let term = |tree: &std::rc::Rc<Tree>| {
            let (rule, slots) = tree.node()?;
            let (descending, nulls_first) = super::value_of(DIRECTIONS, rule)?;
            let [by] = parts(slots)?;
            Some(OrderTerm { expr: self.operand(by)?, descending, nulls_first })
        };
        slot.all().iter().map(term).collect()
    }
}
