//! ORDER BY, LIMIT and OFFSET.

use sqlgauge_names::{Meaning, spoken_words};
use sqlgauge_sql::schema::Affinity;
use sqlgauge_sql::tree::{Expr, Literal, OrderTerm, Query};

use super::{Hear, Said, Say, parts};
use crate::engine::tree::{Slot, Tree};
use crate::grammar::Rule;
use crate::unsayable::Unsayable;

/// Descending, and where missing values stand if not where SQLite puts them.
const DIRECTIONS: &super::Pairs<(bool, Option<bool>)> = &[
    ((false, None), Rule::Ascending),
    ((true, None), Rule::Descending),
    ((false, None), Rule::AscendingText),
    ((true, None), Rule::DescendingText),
    ((false, None), Rule::AscendingTime),
    ((true, None), Rule::DescendingTime),
    ((false, Some(false)), Rule::AscendingMissingLast),
    ((true, Some(true)), Rule::DescendingMissingFirst),
    ((false, Some(true)), Rule::AscendingMissingFirst),
    ((true, Some(false)), Rule::DescendingMissingLast),
];

/// What the ends of an order have most and least of, and whether it is descending.
const MOST: &super::Pairs<bool> = &[
    (true, Rule::Highest),
    (false, Rule::Lowest),
    (true, Rule::Latest),
    (false, Rule::Earliest),
    (true, Rule::AlphabeticallyLast),
    (false, Rule::AlphabeticallyFirst),
    (true, Rule::MostRows),
    (false, Rule::FewestRows),
    (true, Rule::MostSuch),
    (false, Rule::FewestSuch),
];

/// In what words values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// High and low.
    Amount,
    /// Early and late.
    Time,
    /// By the alphabet.
    Text,
}

/// Of 100 orders by one value with a limit above one, how many are said by a superlative.
const SUPERLATIVE: u8 = 75;

impl Say<'_> {
    /// The order and limit of a query.
    pub(super) fn tail(&mut self, query: &Query) -> Said<Option<Tree>> {
        if let ([term], Some(limit), None) = (query.order_by.as_slice(), &query.limit, &query.offset)
            && term.nulls_first.is_none()
            && matches!(limit, Expr::Literal(Literal::Integer(1..)))
            && (matches!(limit, Expr::Literal(Literal::Integer(1)))
                || self.names_rows(query) && self.random.chance(SUPERLATIVE))
        {
            let phrase = self.superlative(term, limit)?;
            let is_filtered = query.as_select().is_some_and(|select| select.filter.is_some());
            return Ok(Some(if is_filtered { of_such(phrase) } else { phrase }));
        }
        if self.is_by_what_is_shown(query) {
            return Ok(Some(Tree::word(Rule::InOrder)));
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

    /// Whether "the five with" says how many rows there are: of one table, of groups, or where the table named first has a
    /// row for each row. "Dogs with treatments …, only for the five with" asks for five dogs.
    fn names_rows(&self, query: &Query) -> bool {
        let is_of_one = self.scopes.last().is_some_and(|scope| scope.relations.len() < 2);
        let has_groups = query.as_select().is_some_and(|select| !select.group_by.is_empty());
        is_of_one || has_groups || self.rows_are_of_first()
    }

    /// Whether the one thing that is shown is sorted by the alphabet.
    fn is_by_what_is_shown(&self, query: &Query) -> bool {
        let outputs = query.as_select().map_or(&[][..], |select| &select.outputs[..]);
        let ([output], [term]) = (outputs, query.order_by.as_slice()) else { return false };
        let is_plain = !term.descending && term.nulls_first.is_none() && query.limit.is_none();
        let is_text = self.scale(&term.expr) == Scale::Text;
        self.care.is_terse() && output.expr == term.expr && is_plain && query.offset.is_none() && is_text
    }

    fn superlative(&mut self, term: &OrderTerm, limit: &Expr) -> Said {
        let most = self.most(term)?;
        if matches!(limit, Expr::Literal(Literal::Integer(1))) {
            return Ok(Tree::of(Rule::TopOne, [most]));
        }
        Ok(Tree::of(Rule::TopFew, [self.atom(limit)?, most]))
    }

    /// What the first ones of an order have most or least of.
    pub(super) fn most(&mut self, term: &OrderTerm) -> Said {
        if let Some(noun) = self.counted(&term.expr)? {
            let rule = if term.descending { Rule::MostRows } else { Rule::FewestRows };
            return Ok(Tree::of(rule, [noun]));
        }
        let (last, first) = match self.scale(&term.expr) {
            Scale::Amount => (Rule::Highest, Rule::Lowest),
            Scale::Time => (Rule::Latest, Rule::Earliest),
            Scale::Text => (Rule::AlphabeticallyLast, Rule::AlphabeticallyFirst),
        };
        let by = self.operand(&term.expr)?;
        Ok(Tree::of(if term.descending { last } else { first }, [by]))
    }

    /// In what words the values of an expression are compared.
    pub(super) fn scale(&self, expr: &Expr) -> Scale {
        let Expr::Column(column) = expr else { return Scale::Amount };
        let Some((table, at)) = self.spot(*column) else { return Scale::Amount };
        let Some(column) = self.schema.tables().get(table as usize).and_then(|table| table.column(at)) else {
            return Scale::Amount;
        };
        match Meaning::of(&spoken_words(&column.name)) {
            Meaning::Time => Scale::Time,
            Meaning::Other if column.affinity == Affinity::Text => Scale::Text,
            Meaning::Quantity | Meaning::Code | Meaning::Other => Scale::Amount,
        }
    }

    /// A term of ORDER BY.
    pub(super) fn term(&mut self, term: &OrderTerm) -> Said {
        let rule = match (self.scale(&term.expr), term.nulls_first) {
            (Scale::Text, None) if term.descending => Some(Rule::DescendingText),
            (Scale::Text, None) => Some(Rule::AscendingText),
            (Scale::Time, None) if term.descending => Some(Rule::DescendingTime),
            (Scale::Time, None) => Some(Rule::AscendingTime),
            _ => super::rule_of(DIRECTIONS, &(term.descending, term.nulls_first)),
        };
        Ok(Tree::of(rule.ok_or(Unsayable::construct("NULLS FIRST"))?, [self.operand(&term.expr)?]))
    }
}

/// A superlative of the rows that conditions leave: "the one with the most such visits".
fn of_such(phrase: Tree) -> Tree {
    let Tree::Node(rule, mut slots) = phrase else { return phrase };
    if let Some(last) = slots.last_mut()
        && let Some((most @ (Rule::MostRows | Rule::FewestRows), noun)) =
            last.one().and_then(|most| most.node())
    {
        let such = if most == Rule::MostRows { Rule::MostSuch } else { Rule::FewestSuch };
        *last = Tree::Node(such, noun.to_vec()).into();
    }
    Tree::Node(rule, slots)
}

impl Hear<'_> {
    /// Adds the order and limit that a phrase means.
    pub(super) fn tail(&mut self, tree: &Tree, query: &mut Query) -> Option<()> {
        let (rule, slots) = tree.node()?;
        match (rule, slots) {
            (Rule::TopOne, [most]) => {
                query.order_by = vec![self.end_of_order(most.one()?)?];
                query.limit = Some(Expr::Literal(Literal::Integer(1)));
            }
            (Rule::TopFew, [count, most]) => {
                query.order_by = vec![self.end_of_order(most.one()?)?];
                query.limit = Some(self.operand(count.one()?)?);
            }
            (Rule::Sorted | Rule::SortedFirst | Rule::SortedFrom, [terms, rest @ ..]) => {
                query.order_by = self.terms(terms)?;
                self.bounds(rest, query)?;
            }
            (Rule::InOrder, []) => {
                let expr = match query.as_select()?.outputs.as_slice() {
                    [output] => output.expr.clone(),
                    _ => return None,
                };
                query.order_by = vec![OrderTerm { expr, descending: false, nulls_first: None }];
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

    /// The order at whose beginning stands what has most or least of something.
    pub(super) fn end_of_order(&mut self, tree: &Tree) -> Option<OrderTerm> {
        let (rule, slots) = tree.node()?;
        let descending = super::value_of(MOST, rule)?;
        let by = slots.first()?.one()?;
        let expr = match rule {
            Rule::MostRows | Rule::FewestRows | Rule::MostSuch | Rule::FewestSuch => self.number_of(by)?,
            _ => self.operand(by)?,
        };
        Some(OrderTerm { expr, descending, nulls_first: None })
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
