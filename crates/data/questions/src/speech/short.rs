//! Short forms of a whole SELECT: the way people ask for the top of a table, for groups and for counts. Each stands for
//! the SELECT whose clauses it has.

use std::rc::Rc;

use sqlgauge_sql::derive::has_subquery;
use sqlgauge_sql::tree::{BinaryOperator, Body, Expr, Literal, OrderTerm, Query, Select};

use super::call::count_of_rows;
use super::query::in_plural;
use super::sentence::{FILTER, GROUP, HAVING, TAIL};
use super::{Hear, Said, Say};
use crate::engine::tree::{Slot, Tree};
use crate::grammar::Rule;

/// How a number of rows is compared.
const AMOUNTS: &super::Pairs<BinaryOperator> = &[
    (BinaryOperator::Greater, Rule::MoreThan),
    (BinaryOperator::GreaterEqual, Rule::AtLeast),
    (BinaryOperator::Less, Rule::FewerThan),
    (BinaryOperator::LessEqual, Rule::AtMost),
    (BinaryOperator::Equal, Rule::Exactly),
];

pub(super) const DEGREES: &super::Pairs<bool> = &[(true, Rule::TheMost), (false, Rule::TheFewest)];

impl Say<'_> {
    /// A SELECT in a short form, where one fits and the style has it; else as it is.
    pub(super) fn shortened(&mut self, select: &Select, query: Option<&Query>, phrase: Tree) -> Said {
        let Some(query) = query.filter(|_| self.care.is_terse() && !self.has_turns) else {
            return Ok(phrase);
        };
        let Tree::Node(Rule::Select | Rule::SelectFor, slots) = &phrase else { return Ok(phrase) };
        if select.distinct {
            return Ok(phrase);
        }
        let short = if select.group_by.is_empty() {
            top_of(slots).or_else(|| self.each_with(select, slots))
        } else {
            self.of_groups(select, query, slots)?
        };
        Ok(short.unwrap_or(phrase))
    }

    /// Groups whose keys are shown first.
    fn of_groups(&mut self, select: &Select, query: &Query, slots: &[Slot]) -> Said<Option<Tree>> {
        if let Some(phrase) =
            self.each_row(select, query, slots).or_else(|| self.each_of_their(select, query, slots))
        {
            return Ok(Some(phrase));
        }
        if let Some(phrase) = self.rows_by_others(select, query, slots)? {
            return Ok(Some(phrase));
        }
        let keys = &select.group_by;
        let exprs = select.outputs.iter().map(|output| &output.expr);
        if !exprs.take(keys.len()).eq(keys) {
            return Ok(None);
        }
        let Some((Rule::Outputs, [outputs])) = slots[1].one().and_then(|outputs| outputs.node()) else {
            return Ok(None);
        };
        let (keys, rest) = outputs.all().split_at(keys.len());
        if rest.is_empty() {
            return self.keys_alone(select, query, keys, slots);
        }
        let is_each = matches!(slots[GROUP].one().and_then(|group| group.node()), Some((Rule::ForEach, _)));
        if !is_each {
            return Ok(None);
        }
        let of_first = select.outputs[keys.len()..]
            .iter()
            .zip(rest)
            .all(|(output, phrase)| self.counts_first(phrase) || self.is_of_first(&output.expr));
        let is_own = is_table(&slots[2]) || of_first;
        let mut rest = rest.to_vec();
        if is_own {
            count_next(&mut rest);
        } else if let Some(last) =
            rest.last_mut().filter(|last| matches!(last.node(), Some((Rule::Number, _))))
        {
            // The rows have no noun.
            *last = Rc::new(Tree::word(Rule::CountRows));
        }
        let rule = if is_own { Rule::EachOfIts } else { Rule::EachFor };
        let lists = [Slot::Many(keys.to_vec()), Slot::Many(rest)];
        let clauses = [2, FILTER, HAVING, TAIL].map(|place| slots[place].clone());
        Ok(Some(Tree::Node(rule, lists.into_iter().chain(clauses).collect())))
    }

    /// Groups of one table of which the keys are shown and nothing else.
    fn keys_alone(
        &mut self,
        select: &Select,
        query: &Query,
        keys: &[Rc<Tree>],
        slots: &[Slot],
    ) -> Said<Option<Tree>> {
        if select.group_by.iter().any(has_subquery) {
            return Ok(None);
        }
        // "The opening year of the museum with the most visits" would be that of one museum.
        let Some(keys) = keys.iter().map(|key| self.without_table(key)).collect::<Option<Vec<Tree>>>() else {
            return Ok(None);
        };
        let keys: Vec<Rc<Tree>> = keys.into_iter().map(Rc::new).collect();
        let many = || Slot::Many(keys.iter().map(|key| Rc::new(in_plural((**key).clone()))).collect());
        let (source, filter) = (slots[2].clone(), slots[FILTER].clone());
        let is_whole = query.limit.is_none() && query.offset.is_none() && query.order_by.is_empty();
        if let Some(having) = &select.having {
            let Some(amount) = self.amount(having)?.filter(|_| is_whole) else { return Ok(None) };
            if !is_table(&slots[2]) && !self.rows_are_of_first() {
                let noun = self.counted(&count_of_rows())?;
                return Ok(noun.map(|noun| {
                    Tree::Node(Rule::KeysAmountFor, vec![many(), amount.into(), noun.into(), source, filter])
                }));
            }
            return Ok(Some(Tree::Node(Rule::KeysAmount, vec![many(), amount.into(), source, filter])));
        }
        let ([term], Some(limit), None) = (query.order_by.as_slice(), &query.limit, &query.offset) else {
            return Ok(None);
        };
        if term.nulls_first.is_some() || !matches!(limit, Expr::Literal(Literal::Integer(1..))) {
            return Ok(None);
        }
        let is_one = matches!(limit, Expr::Literal(Literal::Integer(1)));
        let many = many();
        let keys = Slot::Many(keys.clone());
        let counts = term.expr == count_of_rows();
        if !(is_table(&source) || counts && self.rows_are_of_first()) {
            let most = self.most(term)?;
            let keys_top = || Tree::Node(Rule::KeysTopFor, vec![keys, most.into(), source, filter]);
            return Ok(is_one.then(keys_top));
        }
        if !counts {
            let most = self.most(term)?;
            return Ok(is_one.then(|| Tree::Node(Rule::KeysTop, vec![keys, most.into(), source, filter])));
        }
        let degree = super::rule_of(DEGREES, &term.descending).map(Tree::word);
        if is_one {
            return Ok(Some(Tree::Node(Rule::KeysDegree, vec![keys, degree.into(), source, filter])));
        }
        let limit = self.atom(limit)?;
        Ok(Some(Tree::Node(Rule::KeysDegreeFew, vec![limit.into(), many, degree.into(), source, filter])))
    }

    /// A number of rows, compared with a constant.
    pub(super) fn amount(&mut self, having: &Expr) -> Said<Option<Tree>> {
        let Expr::Binary(operator, left, right) = having else { return Ok(None) };
        let is_number = matches!(**right, Expr::Literal(Literal::Integer(_)));
        match super::rule_of(AMOUNTS, operator).filter(|_| is_number && **left == count_of_rows()) {
            Some(rule) => Ok(Some(Tree::of(rule, [self.atom(right)?]))),
            None => Ok(None),
        }
    }
}

/// Leaves the noun out of a count that is said last: "the number of its singers" says it next.
pub(super) fn count_next(rest: &mut [Rc<Tree>]) {
    let counts = |last: &&mut Rc<Tree>| matches!(last.node(), Some((Rule::NumberOf | Rule::Number, _)));
    if let Some(last) = rest.last_mut().filter(counts) {
        *last = Rc::new(Tree::word(Rule::Number));
    }
}

pub(super) fn is_table(source: &Slot) -> bool {
    relation_of(source).is_some()
}

/// The one table of a source.
fn relation_of(source: &Slot) -> Option<&Rc<Tree>> {
    let (Rule::Alone, [relation]) = source.one()?.node()? else { return None };
    let relation = relation.one()?;
    matches!(relation.node()?, (Rule::Table | Rule::ModifiedTable, _)).then_some(relation)
}

/// The noun of a table, with its conditions or without.
pub(super) fn relation_noun(member: &Tree) -> Option<&Tree> {
    let (Rule::Table | Rule::Which, [noun, ..]) = member.node()? else { return None };
    noun.one().map(|noun| &**noun)
}

/// Rows of one table that have most or least of something.
fn top_of(slots: &[Slot]) -> Option<Tree> {
    let relation = relation_of(&slots[2])?;
    let (outputs, filter) = (slots[1].clone(), slots[FILTER].clone());
    let counts = |output: &Rc<Tree>| matches!(output.node(), Some((Rule::Number | Rule::NumberOf, _)));
    if let Some((Rule::Outputs, [list])) = outputs.one().and_then(|outputs| outputs.node())
        && list.all().iter().any(counts)
    {
        return None;
    }
    match slots[TAIL].one()?.node()? {
        (Rule::TopOne, [most]) => {
            let one = Tree::clone(relation).in_number(false);
            let rule = if filter == Slot::None { Rule::SelectTop } else { Rule::SelectTopAmong };
            Some(Tree::Node(rule, vec![outputs, one.into(), filter, most.clone()]))
        }
        (Rule::TopFew, [count, most]) => {
            let few = Slot::One(Rc::clone(relation));
            let rule = if filter == Slot::None { Rule::SelectTopFew } else { Rule::SelectTopFewAmong };
            Some(Tree::Node(rule, vec![outputs, count.clone(), few, filter, most.clone()]))
        }
        _ => None,
    }
}

/// A SELECT of these clauses.
pub(super) fn select(
    outputs: Slot,
    source: Slot,
    filter: Slot,
    group: Slot,
    having: Slot,
    tail: Slot,
) -> Tree {
    Tree::Node(Rule::SelectFor, vec![Slot::None, outputs, source, filter, group, having, tail])
}

pub(super) fn outputs(list: Vec<Rc<Tree>>) -> Slot {
    Tree::Node(Rule::Outputs, vec![Slot::Many(list)]).into()
}

/// Groups said by their keys at the end: "the number of students by sex", "the number of cities by the region of their country".
pub(super) fn by_keys(inner: &Tree) -> Option<Tree> {
    match inner.node()? {
        // Behind conditions "by sex" would seem to belong to these.
        (Rule::EachOfIts, [keys, rest, source, filter @ Slot::None, having, tail]) if is_table(source) => {
            let keys = names_of(keys)?;
            let parts = [rest.clone(), source.clone(), filter.clone(), keys, having.clone(), tail.clone()];
            Some(Tree::Node(Rule::ByKeys, parts.into()))
        }
        _ => by_their_keys(inner),
    }
}

/// The same where the keys are those of what rows refer to.
pub(super) fn by_their_keys(inner: &Tree) -> Option<Tree> {
    let (Rule::EachOfTheir, [keys, rest, child, partner, having, tail]) = inner.node()? else { return None };
    let ((Rule::Table, [noun]), (Rule::Table, _)) = (partner.one()?.node()?, child.one()?.node()?) else {
        return None;
    };
    let noun = Tree::clone(noun.one()?).in_number(false).into();
    let parts = [rest.clone(), child.clone(), names_of(keys)?, noun, having.clone(), tail.clone()];
    Some(Tree::Node(Rule::ByTheirKeys, parts.into()))
}

fn names_of(columns: &Slot) -> Option<Slot> {
    let name = |column: &Rc<Tree>| match column.node()? {
        (Rule::Column, [name]) => match &**name.one()? {
            Tree::Name(name, _) => Some(Tree::Name(*name, false)),
            _ => None,
        },
        _ => None,
    };
    columns.all().iter().map(name).collect::<Option<Vec<Tree>>>().map(Slot::from)
}

fn columns_of(names: &Slot) -> Slot {
    let column = |name: &Rc<Tree>| Tree::Node(Rule::Column, vec![Slot::One(Rc::clone(name))]);
    names.all().iter().map(column).collect::<Vec<_>>().into()
}

impl Hear<'_> {
    pub(super) fn short(&mut self, rule: Rule, slots: &[Slot]) -> Option<Query> {
        let none = || Slot::None;
        match (rule, slots) {
            (Rule::SelectTop | Rule::SelectTopAmong, [list, relation, filter, most]) => {
                let tail = Tree::Node(Rule::TopOne, vec![most.clone()]);
                self.top(list, relation, filter, tail)
            }
            (Rule::SelectTopFew | Rule::SelectTopFewAmong, [list, count, relation, filter, most]) => {
                let tail = Tree::Node(Rule::TopFew, vec![count.clone(), most.clone()]);
                self.top(list, relation, filter, tail)
            }
            (Rule::EachOfIts | Rule::EachFor, [keys, rest, source, filter, having, tail]) => {
                let list = keys.all().iter().chain(rest.all()).cloned().collect();
                let group = Tree::Node(Rule::ForEach, vec![keys.clone()]);
                self.query(&select(
                    outputs(list),
                    source.clone(),
                    filter.clone(),
                    group.into(),
                    having.clone(),
                    tail.clone(),
                ))
            }
            (Rule::ByKeys, [rest, source, filter, keys, having, tail]) => {
                let clauses = [rest, source, filter, having, tail].map(Clone::clone);
                let slots: Vec<Slot> = std::iter::once(columns_of(keys)).chain(clauses).collect();
                self.short(Rule::EachFor, &slots)
            }
            (Rule::ByTheirKeys, [rest, child, keys, partner, having, tail]) => {
                let partner = Tree::Node(Rule::Table, vec![partner.clone()]).into();
                let (rest, child, having, tail) = (rest.clone(), child.clone(), having.clone(), tail.clone());
                self.short(Rule::EachOfTheir, &[columns_of(keys), rest, child, partner, having, tail])
            }
            (Rule::KeysTop | Rule::KeysTopFor, [keys, most, source, filter]) => {
                let group = Tree::Node(Rule::ForTop, vec![keys.clone(), most.clone()]);
                let list = outputs(keys.all().to_vec());
                self.query(&select(list, source.clone(), filter.clone(), group.into(), none(), none()))
            }
            (Rule::KeysAmount, [keys, amount, source, filter]) => {
                self.with_amount(keys, amount, source, filter)
            }
            (Rule::KeysAmountFor, [keys, amount, noun, source, filter]) => {
                // The noun is one of a table that the source reads.
                let depth = self.scopes.len();
                let counted = self.source(source.one()?).and_then(|_| self.number_of(noun.one()?));
                self.scopes.truncate(depth);
                self.of_source.clear();
                counted?;
                self.with_amount(keys, amount, source, filter)
            }
            (Rule::KeysDegree, [keys, degree, source, filter]) => {
                self.by_rows(keys, degree, source, filter, Expr::Literal(Literal::Integer(1)))
            }
            (Rule::KeysDegreeFew, [count, keys, degree, source, filter]) => {
                let count = self.operand(count.one()?)?;
                self.by_rows(keys, degree, source, filter, count)
            }
            _ => self.of_partners(rule, slots),
        }
    }

    fn top(&mut self, list: &Slot, relation: &Slot, filter: &Slot, tail: Tree) -> Option<Query> {
        let many = Tree::clone(relation.one()?).in_number(true);
        let source = Tree::of(Rule::Alone, [many]);
        self.query(&select(list.clone(), source.into(), filter.clone(), Slot::None, Slot::None, tail.into()))
    }

    /// The keys of the groups whose number of rows compares so.
    fn with_amount(&mut self, keys: &Slot, amount: &Slot, source: &Slot, filter: &Slot) -> Option<Query> {
        let query = self.keys(keys, source, filter)?;
        self.having_rows(query, amount)
    }

    /// A query of groups that have such a number of rows.
    pub(super) fn having_rows(&mut self, mut query: Query, amount: &Slot) -> Option<Query> {
        let Body::Select(select) = &mut query.body else { return None };
        select.having = Some(self.heard_amount(amount)?);
        Some(query)
    }

    /// The comparison of a number of rows.
    pub(super) fn heard_amount(&mut self, amount: &Slot) -> Option<Expr> {
        let (rule, slots) = amount.one()?.node()?;
        let operator = super::value_of(AMOUNTS, rule)?;
        let [number] = self.operands(slots)?;
        Some(Expr::Binary(operator, Box::new(count_of_rows()), number))
    }

    /// The keys of the groups of a table.
    fn keys(&mut self, keys: &Slot, source: &Slot, filter: &Slot) -> Option<Query> {
        // A list, as "the names of all singers", is nothing to group by.
        let is_list = |key: &Rc<Tree>| matches!(key.node(), Some((Rule::SubqueryOfAll | Rule::Subquery, _)));
        if keys.all().iter().any(is_list) {
            return None;
        }
        let group = Tree::Node(Rule::ForEach, vec![keys.clone()]);
        let list = outputs(keys.all().to_vec());
        self.query(&select(list, source.clone(), filter.clone(), group.into(), Slot::None, Slot::None))
    }

    /// The keys of the groups with the most or the fewest rows.
    fn by_rows(
        &mut self,
        keys: &Slot,
        degree: &Slot,
        source: &Slot,
        filter: &Slot,
        limit: Expr,
    ) -> Option<Query> {
        by_number(self.keys(keys, source, filter)?, degree, limit)
    }
}

/// Of groups, those with the most rows, or with the fewest.
pub(super) fn by_number(mut query: Query, degree: &Slot, limit: Expr) -> Option<Query> {
    let descending = super::value_of(DEGREES, degree.one()?.node()?.0)?;
    query.order_by = vec![OrderTerm { expr: count_of_rows(), descending, nulls_first: None }];
    query.limit = Some(limit);
    Some(query)
}
