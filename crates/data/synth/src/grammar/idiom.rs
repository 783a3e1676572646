//! What people ask for in few words though it takes much SQL: shares, differences of counts, rows by how many others they have,
//! groups by what rows refer to, and values beside the average. General queries of the same size are asked in long sentences.

use sqlgauge_names::{link_verb, singular, spoken_words};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{
    Args, BinaryOperator, ColumnRef, Expr, From, JoinKind, Literal, OrderTerm, Output, Query, Select,
};

use super::draft::Draft;
use super::{Facet, FromRelation, Grammar, conjunction, read_by};
use crate::tier::Tier;
use crate::world::{ContentKind, GrammarDatabase, Link};

/// One way to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Idiom {
    /// What percentage of rows have something.
    Share,
    /// The same for each group.
    ShareOfGroups,
    /// How many more rows have one value than another.
    Difference,
    /// Rows to which more than so many others refer.
    RowsByNumber,
    /// The row to which most others refer, or those with the highest total.
    RowsWithMost,
    /// Rows that refer to others, in groups by a column of these.
    GroupsOfPartners,
    /// Rows by those with which a table between links them.
    Linked,
    Rows,
}

/// Each with its weight, the least levels of queries that it is asked with, and the operators that it has for certain.
const IDIOMS: &[(Idiom, f64, usize, &[&str])] = &[
    (Idiom::Share, 1.5, 1, &["case", "cast", "arithmetic", "count", "sum"]),
    (Idiom::ShareOfGroups, 0.8, 1, &["case", "cast", "arithmetic", "count", "sum", "group_by"]),
    (Idiom::Difference, 2.0, 1, &["case", "arithmetic", "sum"]),
    (Idiom::RowsByNumber, 3.5, 1, &["inner_join", "group_by", "having", "count"]),
    (
        Idiom::RowsWithMost,
        3.5,
        1,
        &["inner_join", "group_by", "order_by", "limit", "count", "average", "sum"],
    ),
    (
        Idiom::GroupsOfPartners,
        2.5,
        1,
        &["inner_join", "group_by", "count", "average", "sum", "extremum", "order_by", "having"],
    ),
    (Idiom::Linked, 3.0, 1, &["inner_join"]),
    (Idiom::Rows, 3.0, 2, &["inner_join", "count"]),
];

/// Operators of conditions, which every idiom can have.
const CONDITIONS: &[&str] =
    &["where", "equal", "not_equal", "less", "greater", "between", "like", "in_list", "and"];

/// Operators of a comparison with all rows, which each has that has two levels.
const BESIDE: &[&str] = &["scalar_subquery", "average", "extremum"];

/// What is computed of amounts.
const MEASURES: [Function; 3] = [Function::Avg, Function::Sum, Function::Max];

/// Of 100 tries for a query of that tier, how many are idioms.
fn share_of(tier: Tier) -> u8 {
    match tier {
        Tier::Simple => 0,
        Tier::Moderate => 80,
        Tier::Complex => 95,
        Tier::HighlyComplex => 60,
    }
}

impl Grammar<'_> {
    /// The idiom that the query at hand is to be, if it is to be one.
    pub(super) fn drawn_idiom(&mut self) -> Option<Idiom> {
        if self.demand.is_some() || !self.chance(share_of(self.wish.tier)) {
            return None;
        }
        let (operator, depth) = (self.wish.operator.get().name, self.wish.depth);
        let weight = |(idiom, weight, levels, has): &(Idiom, f64, usize, &[&str])| {
            let is_beside = depth == 2 && BESIDE.contains(&operator);
            let has_conditions = *idiom != Idiom::Difference && (CONDITIONS.contains(&operator) || is_beside);
            let is_there = has.contains(&operator) || has_conditions;
            let fits = (*levels..=2).contains(&depth) && is_there;
            if fits { *weight } else { 0.0 }
        };
        // Groups with conditions on both sides take a long sentence.
        let is_complex = self.wish.tier == Tier::Complex;
        let odds = |entry: &(Idiom, f64, usize, &[&str])| {
            let is_long = is_complex && entry.0 == Idiom::GroupsOfPartners;
            if is_long { 0.0 } else { weight(entry) }
        };
        self.choose(IDIOMS, odds).map(|(idiom, ..)| *idiom)
    }

    /// A query that is asked for in few words.
    pub(super) fn idiom(&mut self, idiom: Idiom, draft: &mut Draft) -> Option<Query> {
        self.is_of_many = true;
        match idiom {
            Idiom::Share => self.share(draft, false),
            Idiom::ShareOfGroups => self.share(draft, true),
            Idiom::Difference => self.difference(),
            Idiom::RowsByNumber | Idiom::RowsWithMost => {
                self.rows_by_others(draft, idiom == Idiom::RowsByNumber)
            }
            Idiom::GroupsOfPartners => self.groups_of_partners(draft),
            Idiom::Linked => self.linked_rows(draft),
            Idiom::Rows => self.rows_alone(draft),
        }
    }

    /// `CAST(sum(CASE WHEN c THEN 1 ELSE 0 END) AS REAL) * 100 / count(*)`.
    fn share(&mut self, draft: &mut Draft, grouped: bool) -> Option<Query> {
        let (from, mut scope) = self.rows_with_partners()?;
        let key = if grouped { Some(self.category(&scope[0], 12)?) } else { None };
        key.iter().for_each(|key| super::condition::forget(&mut scope, &key.expr()));
        let least = usize::from(!grouped);
        let least = least.max(usize::from(scope.len() > 1));
        let conditions = self.conditions_of_each(&mut scope, draft, least)?;
        // "What percentage of students whose age is above 20 have the sex F" is not asked so.
        let case = self.held_by(&scope[0], grouped || !conditions.is_empty())?;
        let counted = Expr::aggregate(Function::Sum, Args::List(vec![Expr::one_if(case)]));
        let decimal = Expr::Cast { expr: Box::new(counted), type_name: "REAL".to_owned() };
        let hundred = Expr::Literal(Literal::Integer(100));
        let times = Expr::Binary(BinaryOperator::Multiply, Box::new(decimal), Box::new(hundred));
        let count = Box::new(Expr::aggregate(Function::Count, Args::Star));
        let percent = Expr::Binary(BinaryOperator::Divide, Box::new(times), count);
        let keys: Vec<Expr> = key.iter().map(Facet::expr).collect();
        let outputs = keys.iter().cloned().chain([percent]).map(Output::of).collect();
        let select = Select { group_by: keys, ..Select::of(outputs) };
        Some(whole(select, from, conditions))
    }

    /// `sum(CASE WHEN a = x …) - sum(CASE WHEN a = y …)`.
    fn difference(&mut self) -> Option<Query> {
        let (from, bound) = self.known_table()?;
        let facet = self.category(&bound, 12)?;
        let (table, column) = facet.source?;
        let one = self.world.tables[table].value(bound.row, column)?.clone();
        let other = self.another(table, column, &one)?;
        let count = |value: Literal| {
            Box::new(Expr::aggregate(
                Function::Sum,
                Args::List(vec![Expr::one_if(Expr::equal(facet.expr(), Expr::Literal(value)))]),
            ))
        };
        let more = Expr::Binary(BinaryOperator::Subtract, count(one), count(other));
        Some(whole(Select::of(vec![Output::of(more)]), from, Vec::new()))
    }

    /// Columns of a table whose rows have more than so many of another, or the most.
    fn rows_by_others(&mut self, draft: &mut Draft, by_number: bool) -> Option<Query> {
        let link = self.own_link()?;
        let [key] = *link.parent_columns.as_slice() else { return None };
        let (from, mut scope) = self.joined(&link, false)?;
        // Of whom more is said besides, "that have the most" is read twice.
        let least = usize::from(self.wish.tier >= Tier::Complex && self.wish.depth == 1);
        let conditions = self.conditions_of_each(&mut scope[1..], draft, least)?;
        let several = 1 + usize::from(self.chance(25));
        let facets = self.columns(&scope[..1], several, false);
        let key = Expr::Column(ColumnRef::at(scope[0].id, key));
        if facets.is_empty() || facets.iter().any(|facet| facet.expr() == key) {
            return None;
        }
        let outputs = facets.iter().map(|facet| Output::of(facet.expr())).collect();
        let mut select = Select { group_by: vec![key], ..Select::of(outputs) };
        let count = Expr::aggregate(Function::Count, Args::Star);
        if by_number {
            select.having = self.more_than(&[1, 1, 1, 2, 2, 3]);
            return Some(whole(select, from, conditions));
        }
        let total = self.measured(&scope[1], false).filter(|_| self.random.chance(45));
        let few = i64::from(if total.is_none() && self.chance(25) { 3 } else { 1 });
        // A row without any has the fewest, and the join drops it.
        let descending = total.is_none() || self.chance(80);
        let expr = total.unwrap_or(count);
        let order_by = vec![OrderTerm { expr, descending, nulls_first: None }];
        let limit = Some(Expr::Literal(Literal::Integer(few)));
        Some(Query { order_by, limit, ..whole(select, from, conditions) })
    }

    /// Rows in groups by a column of what they refer to.
    fn groups_of_partners(&mut self, draft: &mut Draft) -> Option<Query> {
        let link = self.own_link()?;
        let (from, mut scope) = self.joined(&link, true)?;
        let key = self.category(&scope[1], 40)?;
        super::condition::forget(&mut scope, &key.expr());
        // "The number of cities by the region of the country": said of all of them.
        let wanted = CONDITIONS.contains(&self.wish.operator.get().name);
        let has_conditions =
            wanted || self.wish.depth == 2 || self.wish.tier >= Tier::Complex || self.chance(15);
        let conditions =
            if has_conditions { self.conditions_of_each(&mut scope, draft, 0)? } else { Vec::new() };
        let count = Expr::aggregate(Function::Count, Args::Star);
        let computed = self.measured(&scope[0], true).filter(|_| self.random.chance(50)).unwrap_or(count);
        let outputs = vec![Output::of(key.expr()), Output::of(computed.clone())];
        let mut select = Select { group_by: vec![key.expr()], ..Select::of(outputs) };
        if self.wish.operator.get().name == "having" || self.chance(4) {
            select.having = Some(self.more_than(&[1, 1, 2, 3])?);
        }
        let is_sorted = self.wish.operator.get().name == "order_by" || self.chance(35);
        let term = OrderTerm { expr: computed, descending: true, nulls_first: None };
        Some(Query {
            order_by: is_sorted.then_some(term).into_iter().collect(),
            ..whole(select, from, conditions)
        })
    }

    /// Columns of rows that a table between links with others of which something is said.
    fn linked_rows(&mut self, draft: &mut Draft) -> Option<Query> {
        let world = self.world;
        let links = &world.links;
        let likely = |link: &Link| world.likely(link) * named(world, link.parent);
        let from_between = |link: &Link| if world.is_between(link.child) { likely(link) } else { 0.0 };
        let weights: Vec<f64> = links.iter().map(from_between).collect();
        let one = links[super::weighted(&weights, &mut self.random)?].clone();
        let to_other = |link: &Link| {
            let is_other = link.child == one.child && link.parent != one.parent;
            // What rows of the one do to those of the other has a verb: visitors visited museums.
            if is_other && has_verb(world, &one, link) { likely(link) } else { 0.0 }
        };
        let weights: Vec<f64> = links.iter().map(to_other).collect();
        let other = links[super::weighted(&weights, &mut self.random)?].clone();
        let (from, mut scope) = self.joined(&one, false)?;
        let from = self.follow(from, &mut scope, &other, true, JoinKind::Inner);
        let mut ends = [scope.remove(0), scope.pop()?];
        self.is_of_many = false;
        let last = self.conditions_of(&mut ends[1..], draft, 1);
        if last.is_empty() {
            return None;
        }
        let several = 1 + usize::from(self.chance(35));
        let facets = self.columns(&ends[..1], several, false);
        let outputs: Vec<Output> = facets.iter().map(|facet| Output::of(facet.expr())).collect();
        let conditions = last;
        // Each of the visitors that visited museums is asked for once.
        let select = Select { distinct: true, ..Select::of(outputs) };
        (!select.outputs.is_empty()).then(|| whole(select, from, conditions))
    }

    /// Columns of rows, or the number of rows.
    fn rows_alone(&mut self, draft: &mut Draft) -> Option<Query> {
        let (from, mut scope) = self.rows_with_partners()?;
        self.is_of_many = false;
        let least = usize::from(scope.len() > 1);
        let counts = self.wish.operator.get().name == "count" || self.chance(25);
        // The number of those that have the highest of all is not asked for.
        self.has_extremes = !counts;
        let conditions = self.conditions_of_each(&mut scope, draft, least)?;
        self.compared = super::columns_of(&conditions);
        let outputs = if counts {
            vec![Output::of(Expr::aggregate(Function::Count, Args::Star))]
        } else {
            let several = 1 + usize::from(self.chance(35));
            let facets = self.columns(&scope[..1], several, false);
            facets.iter().map(|facet| Output::of(facet.expr())).collect()
        };
        (!outputs.is_empty()).then(|| whole(Select::of(outputs), from, conditions))
    }

    /// A table that people ask about, by chance with what its rows refer to.
    fn rows_with_partners(&mut self) -> Option<(From, Vec<FromRelation>)> {
        let joins = self.wish.operator.get().name == "inner_join"
            || self.chance(if self.wish.tier >= Tier::Complex { 95 } else { 30 });
        if joins && let Some(link) = self.own_link() {
            return self.joined(&link, true);
        }
        let (from, bound) = self.known_table()?;
        Some((from, vec![bound]))
    }

    /// A table that people ask about.
    fn known_table(&mut self) -> Option<(From, FromRelation)> {
        let all: Vec<usize> =
            (0..self.world.tables.len()).filter(|&table| !self.world.is_between(table)).collect();
        let weight = |&table: &usize| {
            named(self.world, table) * (self.world.tables[table].columns.len() as f64).sqrt()
        };
        let weights: Vec<f64> = all.iter().map(weight).collect();
        let start = all[super::weighted(&weights, &mut self.random)?];
        Some(self.table(start))
    }

    /// A link between two tables that people ask about: its child is not a table that only links others.
    fn own_link(&mut self) -> Option<Link> {
        let links = &self.world.links;
        let weight = |link: &Link| {
            let fits = link.child != link.parent && !self.world.is_between(link.child);
            let name_weight = named(self.world, link.parent) * named(self.world, link.child).sqrt();
            if fits { self.world.likely(link) * name_weight } else { 0.0 }
        };
        let weights: Vec<f64> = links.iter().map(weight).collect();
        let link = links[super::weighted(&weights, &mut self.random)?].clone();
        // Which of two keys is meant takes words of its own.
        let is_likely = self.random.unit() < self.world.likely(&link);
        is_likely.then_some(link)
    }

    /// The two tables of a link, the one first that refers to the other, or the other one.
    fn joined(&mut self, link: &Link, child_first: bool) -> Option<(From, Vec<FromRelation>)> {
        let (from, bound) = self.table(if child_first { link.child } else { link.parent });
        let mut scope = vec![bound];
        let from = self.follow(from, &mut scope, link, child_first, JoinKind::Inner);
        // That a row is linked is said by the join.
        let (child, parent) = if child_first { (0, 1) } else { (1, 0) };
        let columns = [(child, &link.child_columns), (parent, &link.parent_columns)];
        for (place, columns) in columns {
            let bound = scope.get_mut(place)?;
            let ends: Vec<ColumnRef> = columns.iter().map(|&at| ColumnRef::at(bound.id, at)).collect();
            bound.facets.retain(|facet| !ends.contains(&facet.column));
        }
        Some((from, scope))
    }

    /// Conditions of tables: of the second one at least one, where nothing else is read of it.
    fn conditions_of_each(
        &mut self,
        scope: &mut [FromRelation],
        draft: &mut Draft,
        least: usize,
    ) -> Option<Vec<Expr>> {
        // Beside the average of all, no single row is asked for by its name.
        self.is_of_many |= self.wish.depth == 2;
        let comparison = if self.wish.depth == 2 { Some(self.beside_all(scope)?) } else { None };
        // What is asked of rows by their partners needs no condition of their own.
        let of_first = match comparison {
            Some(_) => 15,
            None if scope.len() > 1 && least > 0 => 0,
            None => 35,
        };
        let of_first = usize::from(self.chance(of_first));
        let (first, rest) = scope.split_at_mut_checked(1)?;
        let mut rest_conditions = Vec::new();
        if !rest.is_empty() {
            let is_complex = self.wish.tier >= Tier::Complex;
            let of_second = match comparison {
                Some(_) => 25,
                None if is_complex => 80,
                None => 50,
            };
            let of_second = least.max(usize::from(self.chance(of_second)));
            rest_conditions = self.conditions_of(rest, draft, of_second);
            if rest_conditions.len() < least && !rest[0].is_read {
                return None;
            }
        }
        let of_first = if rest.is_empty() { least.max(of_first) } else { of_first };
        let conditions = self.conditions_of(first, draft, of_first);
        Some(conditions.into_iter().chain(rest_conditions).chain(comparison).collect())
    }

    /// A number above the average of all, below it, or the highest.
    fn beside_all(&mut self, scope: &mut [FromRelation]) -> Option<Expr> {
        // Of what is named last it is said best.
        let refers = scope.len() > 1 && scope[0].refers;
        let place = if refers || self.chance(70) { scope.len() - 1 } else { 0 };
        let facet = self.number(scope.get(place)?)?;
        super::condition::forget(scope, &facet.expr());
        scope[place].is_read = true;
        let (table, column) = facet.source?;
        let (inner, bound) = self.table(table);
        let (operator, function) = self.side_of(table, column, scope[place].row)?;
        let of_all = Expr::Column(ColumnRef::at(bound.id, column));
        let mut select = Select::of(vec![Output::of(Expr::aggregate(function, Args::List(vec![of_all])))]);
        select.from = Some(inner);
        let query = Box::new(Query::of_select(select));
        Some(Expr::Binary(operator, Box::new(facet.expr()), Box::new(Expr::Scalar(query))))
    }

    /// How the value of a sampled row lies beside those of all.
    fn side_of(&mut self, table: usize, column: u32, row: usize) -> Option<(BinaryOperator, Function)> {
        let number = |value: &Literal| match value {
            Literal::Integer(value) => Some(*value as f64),
            Literal::Real(value) => Some(value.get()),
            _ => None,
        };
        let sample = &self.world.tables[table].sample;
        let values: Vec<f64> = sample.iter().filter_map(|row| number(row.get(column as usize)?)).collect();
        let of_row = number(sample.get(row)?.get(column as usize)?)?;
        let average = values.iter().sum::<f64>() / values.len() as f64;
        let wants_extremum = self.has_extremes && self.wish.operator.get().name == "extremum";
        let is_highest = values.iter().all(|value| *value <= of_row);
        match of_row.partial_cmp(&average)? {
            std::cmp::Ordering::Greater
                if is_highest && self.has_extremes && (wants_extremum || self.chance(60)) =>
            {
                Some((BinaryOperator::Equal, Function::Max))
            }
            _ if wants_extremum => None,
            std::cmp::Ordering::Greater => Some((BinaryOperator::Greater, Function::Avg)),
            std::cmp::Ordering::Less => Some((BinaryOperator::Less, Function::Avg)),
            std::cmp::Ordering::Equal => None,
        }
    }

    /// So many conditions of tables, at most.
    fn conditions_of(&mut self, scope: &mut [FromRelation], draft: &mut Draft, count: usize) -> Vec<Expr> {
        let mut inner = Draft { conditions: count, ..draft.clone() };
        let conditions = self.conditions(scope, &mut inner);
        draft.wanted = inner.wanted;
        conditions.iter().for_each(|condition| super::condition::forget(scope, condition));
        read_by(scope, &conditions);
        conditions
    }

    /// A condition that a part of the rows keeps: a column compared with a constant.
    fn held_by(&mut self, bound: &FromRelation, is_measured: bool) -> Option<Expr> {
        let mut bound = bound.clone();
        let is_known = |facet: &Facet| match facet.kind {
            // "For each city, what percentage of singers have the country France" is not asked so.
            ContentKind::Category => !is_measured,
            ContentKind::Date => true,
            ContentKind::Number => self.profile(facet).is_some_and(|profile| profile.is_quantity),
            _ => false,
        };
        bound.facets.retain(is_known);
        let predicate = self.predicate(std::slice::from_ref(&bound), None)?;
        let is_other = matches!(predicate, Expr::Binary(BinaryOperator::NotEqual, ..));
        let fits = matches!(predicate, Expr::Binary(..) | Expr::Between { negated: false, .. });
        (fits && !is_other).then_some(predicate)
    }

    /// A column of a few values that people know.
    fn category(&mut self, bound: &FromRelation, most: usize) -> Option<Facet> {
        let fits = |facet: &&Facet| {
            let profile = self.profile(facet);
            facet.kind == ContentKind::Category
                && profile
                    .is_some_and(|profile| (2..=most).contains(&profile.distinct) && !profile.is_cryptic)
        };
        let all: Vec<&Facet> = bound.facets.iter().filter(fits).collect();
        self.random.pick(&all).map(|facet| (*facet).clone())
    }

    /// A column of amounts.
    fn number(&mut self, bound: &FromRelation) -> Option<Facet> {
        let weight = |facet: &Facet| match (
            facet.kind,
            self.profile(facet).is_some_and(|profile| profile.is_quantity),
        ) {
            (ContentKind::Number, true) => 1.0,
            _ => 0.0,
        };
        let weights: Vec<f64> = bound.facets.iter().map(weight).collect();
        Some(bound.facets[super::weighted(&weights, &mut self.random)?].clone())
    }

    /// The average or total of a column of amounts, or, if that may be, its highest value; what is wished for, if it is one.
    fn measured(&mut self, bound: &FromRelation, may_be_highest: bool) -> Option<Expr> {
        let facet = self.number(bound)?;
        let adds_up = self.profile(&facet).is_some_and(|profile| profile.adds_up);
        let function = match self.wish.operator.get().name {
            "average" => Function::Avg,
            "sum" => Function::Sum,
            "extremum" if may_be_highest => Function::Max,
            _ => self.random.pick(if may_be_highest { &MEASURES } else { &MEASURES[..2] })?.clone(),
        };
        let function = if function == Function::Sum && !adds_up { Function::Avg } else { function };
        Some(Expr::aggregate(function, Args::List(vec![facet.expr()])))
    }
}

/// How likely people ask about a table: what has a name is what they know.
fn named(world: &GrammarDatabase, table: usize) -> f64 {
    if world.tables[table].labels.is_empty() { 0.15 } else { 1.0 }
}

/// Whether a verb says what the rows at the ends of two links of a table do.
fn has_verb(world: &GrammarDatabase, one: &Link, other: &Link) -> bool {
    let words = |table: usize| {
        let table = world.schema.table(world.tables[table].id);
        table.map(|table| spoken_words(&table.name)).unwrap_or_default()
    };
    let each_one =
        |words: Vec<String>| words.iter().map(|word| singular(word).into_owned()).collect::<Vec<_>>();
    let (start, end) = (each_one(words(one.parent)), each_one(words(other.parent)));
    link_verb(&start, &words(one.child), &end).is_some()
}

/// A query of one SELECT.
fn whole(select: Select, from: From, conditions: Vec<Expr>) -> Query {
    let filter = conjunction(conditions);
    Query::of_select(Select { from: Some(from), filter, ..select })
}
