//! FROM: tables along links, and subqueries.

use sqlgauge_names::spoken_words;
use sqlgauge_sql::tree::{
    BinaryOperator, ColumnRef, Cte, Expr, From, JoinKind, Literal, Query, Relation, RelationSource,
};

use super::draft::{Draft, Form, Special};
use super::{Facet, FromRelation, Grammar, joined};
use crate::tier::Tier;
use crate::wish::Demand;
use crate::world::{ContentKind, GrammarDatabase, Link};

/// The most rows of a product of two tables.
const LARGEST_PRODUCT: u64 = 20_000;

impl Grammar<'_> {
    /// Tables, joined along links.
    pub(super) fn from(&mut self, draft: &Draft) -> Option<(From, Vec<FromRelation>)> {
        if draft.joins > 1
            && draft.special.is_none()
            && self.demand.is_none()
            && let Some(star) = self.star(draft.joins)
        {
            return Some(star);
        }
        let start = self.start(draft)?;
        let (mut from, bound) = self.table(start);
        let mut scope = vec![bound];
        let mut left = draft.joins;
        if let Some(Demand::Link(link)) = self.demand.take_if(|demand| matches!(demand, Demand::Link(_))) {
            let link = self.world.links.get(link)?;
            from = self.follow(from, &mut scope, link, link.child == start, JoinKind::Inner);
            left = left.saturating_sub(1);
        }
        if let Some(special) = draft.special.filter(|_| left > 0) {
            from = self.special(from, &mut scope, special)?;
            left -= 1;
        }
        while left > 0 {
            let Some(path) = self.path(&scope, left) else { break };
            for (link, to_parent) in path {
                let link = self.world.links.get(link)?;
                from = self.follow(from, &mut scope, link, to_parent, JoinKind::Inner);
                left = left.saturating_sub(1);
            }
        }
        Some((from, scope))
    }

    /// A table whose rows are those of the join, with so many that it and these refer to: "visits of visitors and in museums".
    fn star(&mut self, joins: usize) -> Option<(From, Vec<FromRelation>)> {
        let world = self.world;
        let is_clear = |link: &&Link| link.child != link.parent && world.likely(link) > 0.5;
        let starts: Vec<usize> = (0..world.tables.len())
            .filter(|&table| referred(world, table, |link| is_clear(&link)).len() > joins)
            .collect();
        let start = *self.random.pick(&starts)?;
        let (mut from, bound) = self.table(start);
        let mut scope = vec![bound];
        for _ in 0..joins {
            let has = |table: usize| scope.iter().any(|bound| bound.table == Some(table));
            let links: Vec<&Link> = world
                .links
                .iter()
                .filter(is_clear)
                .filter(|link| has(link.child) && !has(link.parent))
                .collect();
            // "The number of visits in museums and of visitors" would be two numbers: people come first.
            let of_people: Vec<&Link> =
                links.iter().copied().filter(|link| is_person(world, link.parent)).collect();
            let link = *self.random.pick(if of_people.is_empty() { &links } else { &of_people })?;
            from = self.follow(from, &mut scope, link, true, JoinKind::Inner);
        }
        Some((from, scope))
    }

    /// The first table: that of the demand, or any; one with links where joins are wanted.
    fn start(&mut self, draft: &Draft) -> Option<usize> {
        match self.demand {
            Some(Demand::Column(table, _)) => return Some(table),
            Some(Demand::Link(link)) => return self.world.links.get(link).map(|link| link.child),
            None => {}
        }
        let world = self.world;
        let all: Vec<usize> = (0..world.tables.len()).collect();
        let mut is_linked = vec![false; all.len()];
        world
            .links
            .iter()
            .flat_map(|link| [link.child, link.parent])
            .for_each(|table| is_linked[table] = true);
        let wants_links = draft.joins > 0 || draft.nest.is_some();
        let weight = |&table: &usize| {
            let columns = world.tables[table].columns.len() as f64;
            // What has a name is what people ask about.
            let named = if world.tables[table].labels.is_empty() { 0.1 } else { 1.0 };
            let named = if world.is_between(table) { 0.3 * named } else { named };
            let linked = if wants_links && !is_linked[table] { 0.1 } else { 1.0 };
            columns.sqrt() * linked * named
        };
        let weights: Vec<f64> = all.iter().map(weight).collect();
        Some(all[super::weighted(&weights, &mut self.random)?])
    }

    /// A new instance of a table.
    pub(super) fn table(&mut self, table: usize) -> (From, FromRelation) {
        let id = self.relation_id();
        let world = self.world;
        let profile = &world.tables[table];
        let names = world.schema.table(profile.id).map(|table| table.columns.as_slice()).unwrap_or_default();
        let facets = (0_u32..).zip(&profile.columns).zip(names).map(|((at, column), declared)| Facet {
            column: ColumnRef::at(id, at),
            kind: column.kind,
            is_integer: column.is_integer,
            source: Some((table, at)),
            name: declared.name.clone(),
        });
        let facets = facets.collect();
        let row = self.random.below(profile.sample.len());
        let bound = FromRelation { id, table: Some(table), facets, row, refers: false, is_read: false };
        (From::Relation(Relation::new(id, RelationSource::Table(profile.id))), bound)
    }

    /// A way of links to the table of a column that the sampler chooses; each link with whether it leads to the parent.
    fn path(&mut self, scope: &[FromRelation], longest: usize) -> Option<Vec<(usize, bool)>> {
        let world = self.world;
        let here: Vec<usize> = scope.iter().filter_map(|bound| bound.table).collect();
        let steps = |to: usize| here.iter().filter_map(|&from| world.distance(from, to)).min();
        let weight = |&table: &usize| match steps(table) {
            // A table that is there already is joined again only by a special join.
            Some(distance) if distance > 0 && distance as usize <= longest => {
                (self.sampler.weight)(Some(distance)) * world.tables[table].columns.len() as f64
            }
            _ => 0.0,
        };
        let all: Vec<usize> = (0..world.tables.len()).collect();
        let weights: Vec<f64> = all.iter().map(weight).collect();
        let target = super::weighted(&weights, &mut self.random)?;
        let mut at = here.iter().copied().find(|&from| world.distance(from, target) == steps(target))?;
        let mut path = Vec::new();
        while let Some(left) = world.distance(at, target).filter(|&left| left > 0) {
            let next: Vec<(usize, bool)> = (0..)
                .zip(&world.links)
                .flat_map(|(place, link)| {
                    let to_parent = (link.child == at
                        && world.distance(link.parent, target) == Some(left - 1))
                    .then_some((place, true));
                    let to_child = (link.parent == at
                        && world.distance(link.child, target) == Some(left - 1))
                    .then_some((place, false));
                    [to_parent, to_child]
                })
                .flatten()
                .collect();
            let weights: Vec<f64> =
                next.iter().map(|(place, _)| world.likely(&world.links[*place])).collect();
            let (place, to_parent) = next[super::weighted(&weights, &mut self.random)?];
            at = if to_parent { world.links[place].parent } else { world.links[place].child };
            path.push((place, to_parent));
        }
        // Joins that no foreign key says are seldom asked for.
        let likely: f64 = path.iter().map(|(place, _)| world.likely(&world.links[*place])).product();
        let is_brief = self.wish.tier < Tier::HighlyComplex && self.demand.is_none();
        let is_clear = !is_brief || likely > 0.5;
        (is_clear && self.random.unit() < likely).then_some(path)
    }

    /// Joins the other end of a link.
    pub(super) fn follow(
        &mut self,
        from: From,
        scope: &mut Vec<FromRelation>,
        link: &Link,
        to_parent: bool,
        kind: JoinKind,
    ) -> From {
        let (table, other) = if to_parent { (link.child, link.parent) } else { (link.parent, link.child) };
        let (right, mut bound) = self.table(other);
        bound.refers = !to_parent;
        let demand = self.demand;
        let here = scope.iter_mut().rev().find(|bound| bound.table == Some(table));
        let on = here.and_then(|here| {
            here.refers |= to_parent;
            bound.row = self.partner(here, link, to_parent).unwrap_or(bound.row);
            let on = link_condition(here, &bound, link, to_parent);
            // What a row refers to by is the same at both ends; it is read at the end that is referred to.
            let refers = if to_parent { here } else { &mut bound };
            let is_end = |facet: &Facet| facet.source.is_some_and(|(_, at)| link.child_columns.contains(&at));
            if demand.is_none() {
                refers.facets.retain(|facet| !is_end(facet));
            }
            on
        });
        scope.push(bound);
        joined(kind, from, right, on)
    }

    /// The sampled row of the other table that the row of this one is linked with.
    fn partner(&self, here: &FromRelation, link: &Link, to_parent: bool) -> Option<usize> {
        let (table, other) = if to_parent { (link.child, link.parent) } else { (link.parent, link.child) };
        let (own_columns, other_columns) = ends(link, to_parent);
        let row = self.world.tables[table].sample.get(here.row)?;
        let (&own_column, &other_column) = (own_columns.first()?, other_columns.first()?);
        let value = row.get(own_column as usize).filter(|value| **value != Literal::Null)?;
        let sample = &self.world.tables[other].sample;
        sample.iter().position(|row| row.get(other_column as usize) == Some(value))
    }

    fn special(&mut self, from: From, scope: &mut Vec<FromRelation>, special: Special) -> Option<From> {
        match special {
            Special::Kind(JoinKind::Cross) => self.product(from, scope),
            Special::Kind(kind) => {
                let table = scope.last()?.table?;
                let links: Vec<&Link> = self
                    .world
                    .links
                    .iter()
                    .filter(|link| link.child == table || link.parent == table)
                    .collect();
                let link = *self.random.pick(&links)?;
                // An outer join from the parent keeps the rows to which none refers.
                let to_parent = link.parent != table;
                Some(self.follow(from, scope, link, to_parent, kind))
            }
            Special::SelfJoin => self.with_itself(from, scope),
        }
    }

    fn product(&mut self, from: From, scope: &mut Vec<FromRelation>) -> Option<From> {
        let world = self.world;
        let last = scope.last()?.table?;
        let is_small = |&table: &usize| {
            table != last
                && world.tables[last].rows.saturating_mul(world.tables[table].rows) <= LARGEST_PRODUCT
        };
        let small: Vec<usize> = (0..world.tables.len()).filter(is_small).collect();
        let &other = self.random.pick(&small)?;
        let (right, bound) = self.table(other);
        scope.push(bound);
        Some(joined(JoinKind::Cross, from, right, None))
    }

    /// Pairs of rows of one table that agree in a category, each pair once.
    fn with_itself(&mut self, from: From, scope: &mut Vec<FromRelation>) -> Option<From> {
        let table = scope.last()?.table?;
        let profile = &self.world.tables[table];
        let shared: Vec<u32> = (0..)
            .zip(&profile.columns)
            .filter(|(_, column)| {
                matches!(column.kind, ContentKind::Category | ContentKind::Key)
                    && !column.is_distinct
                    && column.distinct > 1
            })
            .map(|(at, _)| at)
            .collect();
        let &shared = self.random.pick(&shared)?;
        let distinct: Vec<u32> =
            (0..).zip(&profile.columns).filter(|(_, column)| column.is_distinct).map(|(at, _)| at).collect();
        let &key = distinct.first()?;
        let (right, mut bound) = self.table(table);
        let left = scope.last()?.id;
        bound.row = scope.last()?.row;
        let column = |relation, at| Expr::Column(ColumnRef::at(relation, at));
        let agree = Expr::equal(column(left, shared), column(bound.id, shared));
        let once =
            Expr::Binary(BinaryOperator::Less, Box::new(column(left, key)), Box::new(column(bound.id, key)));
        scope.push(bound);
        Some(joined(JoinKind::Inner, from, right, Some(Expr::And(vec![agree, once]))))
    }

    /// A subquery in FROM or in WITH, with that many levels; joined with the table that its key names, by chance.
    pub(super) fn derived_from(&mut self, levels: usize, with: bool) -> Option<(From, Vec<FromRelation>)> {
        let mut inner = self.inner_draft(levels);
        inner.form = if self.chance(75) { Form::Grouped } else { Form::List };
        inner.outputs = 2;
        let (mut selection, _) = self.select(&mut inner, levels)?;
        name_outputs(&mut selection.select.outputs, &selection.facets);
        let names: Vec<String> =
            selection.select.outputs.iter().map(|output| output.alias.clone().unwrap_or_default()).collect();
        let query = Query::of_select(selection.select);
        let id = self.relation_id();
        let source = if with {
            let cte = self.cte_id();
            let name = format!("grouped_{}", cte.0 + 1);
            self.ctes.push(Cte { id: cte, name, columns: names.clone(), materialized: None, query });
            RelationSource::Cte(cte)
        } else {
            RelationSource::Derived(Box::new(query))
        };
        let facets: Vec<Facet> = (0_u32..)
            .zip(selection.facets)
            .zip(names)
            .map(|((at, facet), name)| Facet { column: ColumnRef::at(id, at), name, ..facet })
            .collect();
        let from = From::Relation(Relation::new(id, source));
        let mut scope = vec![FromRelation { id, table: None, facets, row: 0, refers: false, is_read: false }];
        if self.chance(55)
            && let Some((from, bound)) = self.named_by_key(&from, &scope[0])
        {
            scope.push(bound);
            return Some((from, scope));
        }
        Some((from, scope))
    }

    /// The join of a subquery with the table whose rows its first key names.
    fn named_by_key(&mut self, from: &From, derived: &FromRelation) -> Option<(From, FromRelation)> {
        let world = self.world;
        let (key, link) = derived.facets.iter().find_map(|facet| {
            let (table, column) = facet.source.filter(|_| facet.kind == ContentKind::Key)?;
            let link =
                world.links.iter().find(|link| link.child == table && link.child_columns == [column])?;
            Some((facet, link))
        })?;
        let (right, bound) = self.table(link.parent);
        let &target = link.parent_columns.first()?;
        let on = Expr::equal(key.expr(), Expr::Column(ColumnRef::at(bound.id, target)));
        Some((joined(JoinKind::Inner, from.clone(), right, Some(on)), bound))
    }
}

/// Whether a table holds people, by its name.
fn is_person(world: &GrammarDatabase, table: usize) -> bool {
    let table = world.schema.table(world.tables[table].id);
    let words = table.map(|table| spoken_words(&table.name)).unwrap_or_default();
    sqlgauge_names::is_person(&words.iter().map(|word| word.to_lowercase()).collect::<Vec<_>>())
}

/// A table with those that its rows and theirs refer to, by the links that are followed.
pub(super) fn referred(world: &GrammarDatabase, start: usize, follows: impl Fn(&Link) -> bool) -> Vec<usize> {
    let mut tables = vec![start];
    let mut at = 0;
    while let Some(&child) = tables.get(at) {
        for link in world.links.iter().filter(|link| link.child == child && follows(link)) {
            if !tables.contains(&link.parent) {
                tables.push(link.parent);
            }
        }
        at += 1;
    }
    tables
}

/// The columns of a link at the own and at the other end.
pub(super) fn ends(link: &Link, to_parent: bool) -> (&[u32], &[u32]) {
    if to_parent {
        (&link.child_columns, &link.parent_columns)
    } else {
        (&link.parent_columns, &link.child_columns)
    }
}

/// The equalities of a link.
pub(super) fn link_condition(
    here: &FromRelation,
    there: &FromRelation,
    link: &Link,
    to_parent: bool,
) -> Option<Expr> {
    let (columns, other) = ends(link, to_parent);
    let column = |bound: &FromRelation, at: u32| Expr::Column(ColumnRef::at(bound.id, at));
    super::conjunction(
        columns
            .iter()
            .zip(other)
            .map(|(&at, &other)| Expr::equal(column(here, at), column(there, other)))
            .collect(),
    )
}

/// Gives every output a name of its own.
fn name_outputs(outputs: &mut [sqlgauge_sql::tree::Output], facets: &[Facet]) {
    let mut names: Vec<String> = Vec::new();
    for (output, facet) in outputs.iter_mut().zip(facets) {
        let is_used = |name: &str| names.iter().any(|other: &String| other.eq_ignore_ascii_case(name));
        let mut name = facet.name.clone();
        for number in 2.. {
            if !is_used(&name) {
                break;
            }
            name = format!("{}_{number}", facet.name);
        }
        names.push(name.clone());
        output.alias = Some(name);
    }
}
