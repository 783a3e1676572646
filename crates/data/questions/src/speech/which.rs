//! Conditions of one of several tables, said of that table: "dogs whose age is above 3 with their owners whose city is Bonn".

use std::rc::Rc;

use sqlgauge_names::{Domain, domains_of_words, singular, spoken_words};
use sqlgauge_sql::tree::{Expr, RelationId};

use super::condition::subject;
use super::idiom::compared_with_all;
use super::query::is_of_rows;
use super::{Hear, Reads, Said, Say, Scope};
use crate::engine::tree::{Slot, Tree};
use crate::grammar::Rule;
use sqlgauge_sql::canonical::{conjunction, conjuncts_of, only_relation};

impl Say<'_> {
    /// The source with the conditions that are each of one of its tables, and the other conditions.
    pub(super) fn restricted(&mut self, source: Tree, filter: Option<Expr>) -> Said<(Tree, Option<Expr>)> {
        let Some(order) = self.scopes.last().map(|scope| scope.order.clone()) else {
            return Ok((source, filter));
        };
        let Tree::Node(Rule::Linked, slots) = &source else { return Ok((source, filter)) };
        let (Some(all), true) = (filter.as_ref(), self.care.is_terse() && !self.has_turns) else {
            return Ok((source, filter));
        };
        let [first, links] = slots.as_slice() else { return Ok((source, filter)) };
        let mut members: Vec<Tree> =
            first.one().into_iter().chain(links.all()).map(|member| (**member).clone()).collect();
        let mut rest = Vec::new();
        let mut of_members: Vec<Vec<Tree>> = vec![Vec::new(); members.len()];
        // "Papers whose pages are below the overall average of venues" would be that of venues.
        let is_followed_by_of = links.all().first().is_some_and(|link| has_one(link));
        for condition in conjuncts_of(all.clone()) {
            let place = subject_of(&condition).and_then(|id| order.iter().position(|other| *other == id));
            let is_unclear = compared_with_all(&condition).is_some() && is_followed_by_of && place == Some(0);
            let place = place.filter(|_| !is_unclear);
            match place.filter(|&place| members.get(place).is_some_and(|member| takes(member, place))) {
                Some(place) => of_members[place].push(self.said_of(order[place], &condition)?),
                None => rest.push(condition),
            }
        }
        for (member, conditions) in members.iter_mut().zip(of_members) {
            if !conditions.is_empty() {
                *member = with(member, conditions);
            }
        }
        let links = members.split_off(1);
        let parts = members.into_iter().map(Slot::from).chain([links.into()]);
        Ok((Tree::Node(Rule::Linked, parts.collect()), conjunction(rest)))
    }

    /// The source, where a table of which nothing is read but conditions of its own is said by these: "songs by singers
    /// whose age is 30", "singers with concerts whose year is 2014".
    pub(super) fn by_conditions(&self, source: Tree, read: &[RelationId]) -> Tree {
        let Tree::Node(Rule::Linked, slots) = &source else { return source };
        let order = self.scopes.last().map(|scope| scope.order.as_slice()).unwrap_or_default();
        let [first, links] = slots.as_slice() else { return source };
        if order.len() != links.all().len() + 1 {
            return source;
        }
        // "Visits in museums and of visitors whose age is 30" would be two things.
        let is_only = links.all().len() == 1;
        let tables = order.iter().map(|&id| self.words_of(id)).collect::<Vec<_>>();
        let links = links.all().iter().zip(&order[1..]).zip(&tables[1..]);
        let links = links.map(|((link, id), table)| {
            let is_bare = !is_only && !has_conditions(link);
            if read.contains(id) || is_bare { (**link).clone() } else { plainly(link, &tables[0], table) }
        });
        Tree::Node(Rule::Linked, vec![first.clone(), links.collect::<Vec<_>>().into()])
    }

    /// The words in the name of a relation's table.
    fn words_of(&self, relation: RelationId) -> Vec<String> {
        let reads = self.scopes.len().checked_sub(1).and_then(|depth| self.reads(depth, relation));
        let table = reads.and_then(|reads| self.schema.tables().get(reads.table()? as usize));
        table.map(|table| spoken_words(&table.name)).unwrap_or_default()
    }

    /// A condition, said where one table alone is spoken of.
    fn said_of(&mut self, relation: RelationId, condition: &Expr) -> Said {
        let reads = self.reads(self.scopes.len() - 1, relation);
        self.scopes.push(Scope {
            relations: reads.map(|reads| (relation, reads)).into_iter().collect(),
            ..Scope::default()
        });
        let phrase = self.condition(condition);
        self.scopes.pop();
        phrase
    }
}

/// Nouns of places that other things are in.
const PLACES: &[&str] = &[
    "city",
    "town",
    "village",
    "county",
    "district",
    "region",
    "state",
    "province",
    "country",
    "continent",
    "nation",
    "stadium",
    "theater",
    "theatre",
    "hospital",
    "hotel",
    "museum",
    "library",
    "park",
    "building",
    "warehouse",
    "dormitory",
];

/// Whether a link names a table by its conditions alone.
pub(super) fn is_plain(rule: Rule) -> bool {
    rule == Rule::WithSome || is_of_one(rule)
}

/// Whether a link names by its conditions alone a table to which the rows refer.
pub(super) fn is_of_one(rule: Rule) -> bool {
    matches!(rule, Rule::OfThose | Rule::InThose | Rule::ByThose)
}

/// How rows refer to others: concerts in stadiums, songs by singers, flights of airlines.
fn preposition(subject: &[String], other: &[String]) -> Rule {
    let is = |words: &[String], domain| domains_of_words(words).contains(&Domain::named(domain));
    match other.last() {
        Some(noun) if PLACES.contains(&singular(noun).as_ref()) => Rule::InThose,
        _ if is(subject, "work") && is(other, "person") => Rule::ByThose,
        _ => Rule::OfThose,
    }
}

/// Whether a link names its table by conditions.
fn has_conditions(link: &Tree) -> bool {
    let member = link.node().and_then(|(_, slots)| slots.first()?.one());
    matches!(member.and_then(|member| member.node()), Some((Rule::Which, _)))
}

/// A link of which nothing is shown, said by the conditions of its table, if it has any.
fn plainly(link: &Tree, subject: &[String], other: &[String]) -> Tree {
    let Tree::Node(Rule::Their, slots) = link else { return link.clone() };
    let Some(member @ Tree::Node(Rule::Which | Rule::Table, parts)) =
        slots.first().and_then(Slot::one).map(|one| &**one)
    else {
        return link.clone();
    };
    let is_one = matches!(parts.first().and_then(Slot::one).map(|noun| &**noun), Some(Tree::Noun(_, false)));
    let rule = if is_one { preposition(subject, other) } else { Rule::WithSome };
    Tree::of(rule, [member.clone().in_number(true)])
}

/// The relation of whose column alone a condition says something.
fn subject_of(condition: &Expr) -> Option<RelationId> {
    let Some(Expr::Column(column)) = subject(condition) else { return None };
    (own_relation(condition) == Some(column.relation)).then_some(column.relation)
}

/// Whether each row before has one row of a link's table.
fn has_one(link: &Tree) -> bool {
    let member = link.node().and_then(|(_, slots)| slots.first()?.one());
    let noun = member.and_then(|member| member.node()).and_then(|(_, slots)| slots.first()?.one());
    matches!(noun.map(|noun| &**noun), Some(Tree::Noun(_, false)))
}

/// The one relation that a condition reads, apart from a comparison with what all rows of its table have.
fn own_relation(condition: &Expr) -> Option<RelationId> {
    compared_with_all(condition)
        .map_or_else(|| only_relation(condition), |comparison| Some(comparison.column.relation))
}

/// Whether conditions can be said of a member of a source: it is a table, and named last in its link.
fn takes(member: &Tree, place: usize) -> bool {
    let is_table = |tree: &Tree| matches!(tree, Tree::Node(Rule::Table, _));
    match member {
        _ if place == 0 => is_table(member),
        Tree::Node(Rule::Their | Rule::Did | Rule::DoneBy, slots) => {
            slots.first().and_then(Slot::one).is_some_and(|table| is_table(table))
        }
        _ => false,
    }
}

/// A member with the conditions of its table.
fn with(member: &Tree, conditions: Vec<Tree>) -> Tree {
    match member {
        Tree::Node(Rule::Table, slots) => {
            Tree::Node(Rule::Which, slots.iter().cloned().chain([conditions.into()]).collect())
        }
        Tree::Node(rule, slots) => {
            let mut slots = slots.clone();
            if let Some(Slot::One(table)) = slots.first_mut() {
                *table = Rc::new(with(&Rc::clone(table), conditions));
            }
            Tree::Node(*rule, slots)
        }
        other => other.clone(),
    }
}

impl Hear<'_> {
    /// The conditions that are said of one table of a source.
    pub(super) fn said_of(
        &mut self,
        relation: (RelationId, Reads),
        conditions: &[Rc<Tree>],
    ) -> Option<Vec<Expr>> {
        self.scopes.push(Scope { relations: vec![relation], ..Scope::default() });
        let heard: Option<Vec<Expr>> = conditions.iter().map(|condition| self.condition(condition)).collect();
        self.scopes.pop();
        let is_own = |expr: &Expr| is_of_rows(expr) && own_relation(expr) == Some(relation.0);
        heard.filter(|heard| heard.iter().all(is_own))
    }
}
