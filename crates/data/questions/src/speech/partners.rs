//! Short forms of two tables that a foreign key links: rows with those that refer to them, and rows with what they refer to.

use std::rc::Rc;

use sqlgauge_sql::derive::{has_aggregate, has_subquery};
use sqlgauge_sql::tree::{Expr, Literal, Query, RelationId, Select};

use super::call::count_of_rows;
use super::query::in_plural;
use super::reference::{in_aggregates, stripped, told_apart};
use super::sentence::{FILTER, GROUP, HAVING, TAIL};
use super::short::{DEGREES, by_number, count_next, outputs, relation_noun, select};
use super::which::is_of_one;
use super::{Hear, Said, Say};
use crate::engine::tree::{Slot, Tree};
use crate::grammar::Rule;
use sqlgauge_sql::canonical::only_relation;

impl Say<'_> {
    /// Columns of each row of a table, and what is computed over the rows that refer to it.
    pub(super) fn each_row(&self, select: &Select, query: &Query, slots: &[Slot]) -> Option<Tree> {
        let Rows { row, member, columns, rest } = self.rows(select, slots)?;
        let other = self.scopes.last()?.relations.get(1)?.0;
        if rest.is_empty() || !computes_of(select, query, other) {
            return None;
        }
        let theirs = relation_noun(member.one()?)?.clone().in_number(false);
        let bare = |part: &Tree| stripped(part, &theirs);
        let mut rest: Vec<Rc<Tree>> = rest.iter().map(|part| Rc::new(in_aggregates(part, &bare))).collect();
        count_next(&mut rest);
        let row = row.in_number(false);
        let lists = [Slot::Many(columns), row.into(), Slot::Many(rest), member];
        let clauses = [slots[FILTER].clone(), turned(&slots[HAVING], &bare), turned(&slots[TAIL], &bare)];
        Some(Tree::Node(Rule::EachRow, lists.into_iter().chain(clauses).collect()))
    }

    /// Groups that are the rows of a table, each with those that refer to it.
    fn rows(&self, select: &Select, slots: &[Slot]) -> Option<Rows> {
        let (Rule::ForEachOf, [noun]) = slots[GROUP].one()?.node()? else { return None };
        let (Rule::Linked, [first, links]) = slots[2].one()?.node()? else { return None };
        let (Rule::Table | Rule::Which, [first_noun, ..]) = first.one()?.node()? else { return None };
        let [link] = links.all() else { return None };
        let (Rule::Their | Rule::WithSome, [member]) = link.node()? else { return None };
        let is_noun = |tree: &Rc<Tree>| **noun.one().unwrap_or(tree) == Tree::clone(tree).in_number(false);
        let is_child = matches!(relation_noun(member.one()?)?, Tree::Noun(_, true));
        if !is_noun(first_noun.one()?) || !is_child {
            return None;
        }
        let (Rule::Outputs, [list]) = slots[1].one()?.node()? else { return None };
        let relations = &self.scopes.last()?.relations;
        let [(one, _), (other, _)] = *relations.as_slice() else { return None };
        let exprs: Vec<&Expr> = select.outputs.iter().map(|output| &output.expr).collect();
        let columns = exprs.iter().take_while(|expr| matches!(expr, Expr::Column(_))).count();
        let (plain, computed) = exprs.split_at(columns);
        let counts = |expr: &Expr| *expr == count_of_rows();
        let fits = !plain.is_empty()
            && plain.iter().all(|expr| only_relation(expr) == Some(one))
            && computed.iter().all(|expr| counts(expr) || only_relation(expr) == Some(other));
        let (columns, rest) = list.all().split_at(columns);
        let bare = |tree: &Rc<Tree>| matches!(tree.node(), Some((Rule::Column, _)));
        let (row, member) = (Tree::clone(first.one()?), member.clone());
        let rows = Rows { row, member, columns: columns.to_vec(), rest: rest.to_vec() };
        (fits && columns.iter().all(bare)).then_some(rows)
    }

    /// Columns of the rows of a table that have a number of others, or the most of them: "singers that have at least two
    /// concerts", "the singer with the highest total price of its tickets".
    pub(super) fn rows_by_others(
        &mut self,
        select: &Select,
        query: &Query,
        slots: &[Slot],
    ) -> Said<Option<Tree>> {
        let Some(Rows { row, member, columns, rest }) = self.rows(select, slots) else { return Ok(None) };
        if !rest.is_empty() || slots[FILTER] != Slot::None {
            return Ok(None);
        }
        let many = outputs(columns.iter().map(|column| Rc::new(in_plural((**column).clone()))).collect());
        if let Some(having) = &select.having {
            let amount = self.amount(having)?.filter(|_| slots[TAIL] == Slot::None);
            let phrase =
                |amount: Tree| Tree::Node(Rule::RowsAmount, vec![many, row.into(), amount.into(), member]);
            return Ok(amount.map(phrase));
        }
        let ([term], Some((rule, tail))) =
            (query.order_by.as_slice(), slots[TAIL].one().and_then(|tail| tail.node()))
        else {
            return Ok(None);
        };
        let degree = super::rule_of(DEGREES, &term.descending).filter(|_| term.expr == count_of_rows());
        let one = || (outputs(columns.clone()), Slot::from(row.clone().in_number(false)));
        Ok(match (degree, rule, tail) {
            (Some(degree), Rule::TopOne, _) => {
                let (columns, row) = one();
                Some(Tree::Node(Rule::RowsDegree, vec![columns, row, Tree::word(degree).into(), member]))
            }
            (Some(degree), Rule::TopFew, [count, _]) | (Some(degree), Rule::SortedFirst, [_, count]) => {
                let slots = vec![many, count.clone(), row.into(), Tree::word(degree).into(), member];
                Some(Tree::Node(Rule::RowsDegreeFew, slots))
            }
            (None, Rule::TopOne, [most]) if matches!(term.expr, Expr::Aggregate(_)) => {
                let of_others =
                    self.scopes.last().and_then(|scope| scope.relations.get(1)).map(|(id, _)| *id);
                let (columns, row) = one();
                let is_of_others = only_relation(&term.expr).is_some_and(|id| Some(id) == of_others);
                let bare = |noun: &Tree| turned(most, &|part| stripped(part, &noun.clone().in_number(false)));
                let most = member.one().and_then(|member| relation_noun(member)).map(bare);
                most.filter(|_| is_of_others)
                    .map(|most| Tree::Node(Rule::RowsTop, vec![columns, row, most, member]))
            }
            _ => None,
        })
    }

    /// Groups of rows by what they refer to: "each country of stadiums along with the number of their concerts".
    pub(super) fn each_of_their(&self, select: &Select, query: &Query, slots: &[Slot]) -> Option<Tree> {
        let (Rule::ForEach, _) = slots[GROUP].one()?.node()? else { return None };
        // What is said of the partners would seem to pick groups, and to count all that is theirs.
        let Partners { child, partner, .. } = partners(slots).filter(|partners| partners.is_bare)?;
        let (mine, theirs) = (relation_noun(&child)?, relation_noun(&partner)?);
        let (mine, theirs) = (mine.clone().in_number(false), theirs.clone().in_number(false));
        let relations = &self.scopes.last()?.relations;
        let [(one, _), (other, _)] = *relations.as_slice() else { return None };
        let (keys, rest) = select.outputs.split_at_checked(select.group_by.len())?;
        let fits = keys.iter().map(|key| &key.expr).eq(&select.group_by)
            && select.group_by.iter().all(|key| only_relation(key) == Some(other))
            && rest
                .iter()
                .all(|output| output.expr == count_of_rows() || only_relation(&output.expr) == Some(one));
        let (Rule::Outputs, [list]) = slots[1].one()?.node()? else { return None };
        if !fits || rest.is_empty() || slots[FILTER] != Slot::None || !computes_of(select, query, one) {
            return None;
        }
        let of_mine = |part: &Tree| stripped(part, &mine);
        let bare = |part: &Rc<Tree>| Rc::new(stripped(&stripped(part, &mine), &theirs));
        let list: Vec<Rc<Tree>> = list.all().iter().map(bare).collect();
        let (keys, rest) = list.split_at(keys.len());
        let mut rest = rest.to_vec();
        count_next(&mut rest);
        let (child, partner) = (child.in_number(true), partner.in_number(true));
        let lists = [Slot::Many(keys.to_vec()), Slot::Many(rest), child.into(), partner.into()];
        let clauses = [HAVING, TAIL].map(|place| turned(&slots[place], &of_mine));
        Some(Tree::Node(Rule::EachOfTheir, lists.into_iter().chain(clauses).collect()))
    }

    /// Rows with columns of what each refers to: "the names of cities, each with the name of its country".
    pub(super) fn each_with(&self, select: &Select, slots: &[Slot]) -> Option<Tree> {
        let Partners { child, partner, is_bare } = partners(slots)?;
        let relations = &self.scopes.last()?.relations;
        let [(one, _), (other, _)] = *relations.as_slice() else { return None };
        let exprs: Vec<&Expr> = select.outputs.iter().map(|output| &output.expr).collect();
        let columns = exprs.iter().take_while(|expr| only_relation(expr) == Some(one)).count();
        let is_column = |expr: &&Expr| matches!(expr, Expr::Column(_));
        let fits = columns > 0
            && columns < exprs.len()
            && exprs.iter().all(is_column)
            && exprs[columns..].iter().all(|expr| only_relation(expr) == Some(other));
        let tail = slots[TAIL].one().and_then(|tail| tail.node()).map(|(rule, _)| rule);
        if !fits || slots[FILTER] != Slot::None || !matches!(tail, None | Some(Rule::Sorted)) {
            return None;
        }
        let (Rule::Outputs, [list]) = slots[1].one()?.node()? else { return None };
        let mine = relation_noun(&child)?.clone().in_number(false);
        let theirs = relation_noun(&partner)?.clone().in_number(false);
        let (mine_columns, others) = list.all().split_at(columns);
        let mine_columns =
            mine_columns.iter().map(|part| Rc::new(in_plural(stripped(part, &mine)))).collect();
        let name = |part: &Rc<Tree>| match stripped(part, &theirs) {
            Tree::Node(Rule::Column, slots) => match &**slots.first()?.one()? {
                Tree::Name(name, _) => Some(Tree::Name(*name, false)),
                _ => None,
            },
            _ => None,
        };
        let names = others.iter().map(name).collect::<Option<Vec<Tree>>>()?;
        let child = child.in_number(true).into();
        let mut parts = vec![outputs(mine_columns), child, names.into(), theirs.into(), slots[TAIL].clone()];
        if is_bare {
            return Some(Tree::Node(Rule::EachWith, parts));
        }
        parts.push(partner.in_number(true).into());
        Some(Tree::Node(Rule::EachWithOf, parts))
    }
}

/// Whether all that is computed beside what is shown is of one relation: in HAVING and ORDER BY.
fn computes_of(select: &Select, query: &Query, relation: RelationId) -> bool {
    let sorted = query.order_by.iter().map(|term| &term.expr);
    let is_inside =
        |expr: &Expr| !has_aggregate(expr) || only_relation(expr).is_none_or(|other| other == relation);
    select.having.iter().chain(sorted).all(|expr| is_inside(expr) && !has_subquery(expr))
}

/// A clause of which what is computed over rows is turned.
fn turned(clause: &Slot, turn: &impl Fn(&Tree) -> Tree) -> Slot {
    match clause {
        Slot::One(clause) => in_aggregates(clause, turn).into(),
        other => other.clone(),
    }
}

/// The parts of a SELECT whose groups are the rows of a table.
struct Rows {
    /// The table, and those that refer to it.
    row: Tree,
    member: Slot,
    /// Its columns that are shown, and what is computed.
    columns: Vec<Rc<Tree>>,
    rest: Vec<Rc<Tree>>,
}

/// A table, and the one to which each of its rows refers.
struct Partners {
    child: Tree,
    partner: Tree,
    /// Whether nothing is said of the partner.
    is_bare: bool,
}

/// The two tables of a source of which the first refers to the second.
fn partners(slots: &[Slot]) -> Option<Partners> {
    let (Rule::Linked, [first, links]) = slots[2].one()?.node()? else { return None };
    let [link] = links.all() else { return None };
    let (rule, [partner]) = link.node()? else { return None };
    let is_one = matches!(relation_noun(partner.one()?)?, Tree::Noun(_, false));
    let refers = is_of_one(rule) || rule == Rule::Their && is_one;
    let is_bare = matches!(partner.one()?.node()?, (Rule::Table, _));
    let (child, partner) = (Tree::clone(first.one()?), Tree::clone(partner.one()?));
    relation_noun(&child)?;
    refers.then_some(Partners { child, partner, is_bare })
}

/// A source of a table, and of one that goes with it.
fn linked(first: &Slot, partner: Tree) -> Option<Slot> {
    let first = Tree::clone(first.one()?).in_number(true);
    let link = Tree::of(Rule::Their, [partner]);
    Some(Tree::Node(Rule::Linked, vec![first.into(), vec![link].into()]).into())
}

/// Columns that are shown, of the table of that noun.
fn of_table(outputs: &Slot, noun: &Tree) -> Option<Vec<Tree>> {
    let (Rule::Outputs, [list]) = outputs.one()?.node()? else { return None };
    Some(list.all().iter().map(|part| told_apart(part, noun)).collect())
}

impl Hear<'_> {
    /// The query of a short form of two tables.
    pub(super) fn of_partners(&mut self, rule: Rule, slots: &[Slot]) -> Option<Query> {
        let none = || Slot::None;
        match (rule, slots) {
            (Rule::EachRow, [columns, row, rest, member, filter, having, tail]) => {
                let list = columns.all().iter().chain(rest.all()).cloned().collect();
                let noun = Slot::One(Rc::new(relation_noun(row.one()?)?.clone().in_number(false)));
                let source = linked(row, Tree::clone(member.one()?))?;
                let group = Tree::Node(Rule::ForEachOf, vec![noun.clone()]);
                let theirs = relation_noun(member.one()?)?.clone().in_number(false);
                let apart = |part: &Tree| told_apart(part, &theirs);
                let list = outputs(list);
                let list = turned(&list, &apart);
                let (having, tail) = (turned(having, &apart), turned(tail, &apart));
                self.query(&select(list, source, filter.clone(), group.into(), having, tail))
            }
            (Rule::EachOfTheir, [keys, rest, child, partner, having, tail]) => {
                let noun = |member: &Slot| Some(relation_noun(member.one()?)?.clone().in_number(false));
                let (mine, theirs) = (noun(child)?, noun(partner)?);
                let keys: Vec<Tree> = keys.all().iter().map(|key| told_apart(key, &theirs)).collect();
                let rest = rest.all().iter().map(|part| told_apart(part, &mine));
                let list = keys.iter().cloned().chain(rest).map(Rc::new).collect();
                let source = linked(child, Tree::clone(partner.one()?).in_number(false))?;
                let group = Tree::Node(Rule::ForEach, vec![keys.into()]);
                let apart = |part: &Tree| told_apart(part, &mine);
                let (having, tail) = (turned(having, &apart), turned(tail, &apart));
                self.query(&select(outputs(list), source, none(), group.into(), having, tail))
            }
            (Rule::EachWith | Rule::EachWithOf, [list, child, names, partner, tail, of @ ..]) => {
                let mine = relation_noun(child.one()?)?.clone().in_number(false);
                let theirs = Tree::clone(partner.one()?).in_number(false);
                let column = |name: &Rc<Tree>| {
                    Rc::new(told_apart(&Tree::Node(Rule::Column, vec![Slot::One(Rc::clone(name))]), &theirs))
                };
                let of_own = of_table(list, &mine)?.into_iter().map(Rc::new);
                let list = outputs(of_own.chain(names.all().iter().map(column)).collect());
                let table = match of {
                    [of] => Tree::clone(of.one()?).in_number(false),
                    _ => Tree::of(Rule::Table, [theirs.clone()]),
                };
                if relation_noun(&table) != Some(&theirs) {
                    return None;
                }
                let source = linked(child, table)?;
                self.query(&select(list, source, none(), none(), none(), tail.clone()))
            }
            (Rule::RowsAmount, [list, row, amount, member]) => {
                let query = self.rows_of(list, row, member, none())?;
                self.having_rows(query, amount)
            }
            (Rule::RowsDegree, [list, row, degree, member]) => {
                let query = self.rows_of(list, row, member, none())?;
                by_number(query, degree, Expr::Literal(Literal::Integer(1)))
            }
            (Rule::RowsDegreeFew, [list, count, row, degree, member]) => {
                let count = self.operand(count.one()?)?;
                by_number(self.rows_of(list, row, member, none())?, degree, count)
            }
            (Rule::RowsTop, [list, row, most, member]) => {
                let others = relation_noun(member.one()?)?.clone().in_number(false);
                let most = told_apart(most.one()?, &others);
                let tail = Tree::of(Rule::TopOne, [most]);
                self.rows_of(list, row, member, tail.into())
            }
            _ => None,
        }
    }

    /// Columns of each row of a table that others refer to.
    fn rows_of(&mut self, list: &Slot, row: &Slot, member: &Slot, tail: Slot) -> Option<Query> {
        let noun = relation_noun(row.one()?)?.clone().in_number(false);
        let list = outputs(of_table(list, &noun)?.into_iter().map(Rc::new).collect());
        let source = linked(row, Tree::clone(member.one()?))?;
        let group = Tree::of(Rule::ForEachOf, [noun]);
        self.query(&select(list, source, Slot::None, group.into(), Slot::None, tail))
    }
}
