//! The canonical form of a query: what of it matters to whoever says it in words.
//!
//! # Contract
//! [`canonical`] keeps the meaning of a query. Of what returns the same rows it keeps one spelling, where a sentence
//! has but one way to say it:
//! - names that the text gave to outputs, subqueries and their columns are gone, and so is MATERIALIZED;
//! - ORDER BY an output of a SELECT repeats the output, unless that has a subquery;
//! - of a chain of inner joins, a join keeps the equality of a foreign key, or else the equalities of its columns with
//!   those before it, or else its own ON; the other conditions stand in WHERE: those of one relation first, in the order of
//!   the relations, and else in the order of the text. CROSS JOIN and comma are joins;
//! - of two columns of one name that an inner join compares, the earlier is meant, where equal values are one value;
//! - the equality of a foreign key has the earlier relation on its left;
//! - AND in AND is one AND, OR in OR one OR, and IN a list of one constant is a comparison with it;
//! - EXISTS shows 1, and sorts nothing, where that does not matter.

use std::collections::HashMap;

use crate::derive::{has_aggregate, has_subquery, has_window};
use crate::identity::renumber;
use crate::reads;
use crate::schema::Schema;
use crate::tree::{
    BinaryOperator, Body, ColumnRef, CteId, Expr, From, Join, JoinKind, Literal, Output, Place, Query,
    Relation, RelationId, RelationSource, Select,
};
use crate::visit::{Rewriter, Visitor, change_exprs, rewrite_query, walk_query};
use crate::{Aliases, ResolveError, resolve_with_aliases};

pub use self::same::same_columns;
use self::same::{replace, replace_in};

mod same;

/// The canonical form of a query.
pub fn canonical(query: &Query, schema: &Schema) -> Query {
    let mut query = query.clone();
    rewrite_query(&mut Canonical { schema }, &mut query);
    renumber(&mut query);
    query
}

/// A query in canonical form beside what a reader of its text calls its parts.
#[derive(Debug, Clone)]
pub struct CanonicalText {
    /// The canonical form.
    pub query: Query,
    /// The same with the names that the text gave to common table expressions and their columns.
    pub named: Query,
    /// The aliases of the text, by the numbers of the canonical form.
    pub aliases: Aliases,
}

impl CanonicalText {
    /// That of a text.
    ///
    /// # Errors
    /// Those of [`resolve_with_aliases`].
    pub fn of(text: &str, schema: &Schema) -> Result<Self, ResolveError> {
        let (written, aliases) = resolve_with_aliases(text, schema)?;
        let mut query = written.clone();
        rewrite_query(&mut Canonical { schema }, &mut query);
        let before = Numbers::of(&query);
        renumber(&mut query);
        let after = Numbers::of(&query);
        let new: HashMap<RelationId, RelationId> =
            before.relations.into_iter().zip(after.relations).collect();
        let aliases = aliases.into_iter().filter_map(|(id, alias)| Some((*new.get(&id)?, alias))).collect();
        let mut named = query.clone();
        if !after.ctes.is_empty() {
            let mut ctes =
                CteNames { old: after.ctes.into_iter().zip(before.ctes).collect(), names: HashMap::new() };
            walk_query(&mut ctes, &written);
            rewrite_query(&mut ctes, &mut named);
        }
        Ok(Self { query, named, aliases })
    }
}

/// The relations and common table expressions of a query, in the order of a walk.
#[derive(Default)]
struct Numbers {
    relations: Vec<RelationId>,
    ctes: Vec<CteId>,
}

impl Numbers {
    fn of(query: &Query) -> Self {
        let mut numbers = Self::default();
        walk_query(&mut numbers, query);
        numbers
    }
}

impl Visitor for Numbers {
    fn query(&mut self, query: &Query) {
        self.ctes.extend(query.ctes.iter().map(|cte| cte.id));
    }

    fn relation(&mut self, relation: &Relation) {
        self.relations.push(relation.id);
    }
}

/// Gives common table expressions the names that they have in another query.
struct CteNames {
    /// By the number here, the number there.
    old: HashMap<CteId, CteId>,
    names: HashMap<CteId, (String, Vec<String>)>,
}

impl Visitor for CteNames {
    fn query(&mut self, query: &Query) {
        self.names.extend(query.ctes.iter().map(|cte| (cte.id, (cte.name.clone(), cte.columns.clone()))));
    }
}

impl Rewriter for CteNames {
    fn query(&mut self, query: &mut Query) {
        for cte in &mut query.ctes {
            if let Some((name, columns)) = self.old.get(&cte.id).and_then(|id| self.names.get(id)) {
                (cte.name, cte.columns) = (name.clone(), columns.clone());
            }
        }
    }
}

struct Canonical<'s> {
    schema: &'s Schema,
}

impl Rewriter for Canonical<'_> {
    fn query(&mut self, query: &mut Query) {
        for cte in &mut query.ctes {
            cte.name = named(cte.id);
            cte.columns = (0..cte.columns.len()).map(|place| format!("c{place}")).collect();
            cte.materialized = None;
        }
        if let Body::Select(select) = &query.body {
            // References to outputs become the outputs.
            let repeat = |expr: &mut Expr| {
                if let Expr::Output(place) = expr
                    && let Some(output) = select.outputs.get(*place as usize)
                    && !has_subquery(&output.expr)
                {
                    *expr = output.expr.clone();
                }
            };
            query.order_by.iter_mut().for_each(|term| change_exprs(&mut term.expr, repeat));
            let same = select.from.as_ref().map(|from| same_columns(self.schema, from)).unwrap_or_default();
            query.order_by.iter_mut().for_each(|term| replace(&same, &mut term.expr));
        }
    }

    fn body(&mut self, body: &mut Body) {
        let Body::Select(select) = body else { return };
        select.outputs.iter_mut().for_each(|output| output.alias = None);
        self.join(select);
    }

    fn expr(&mut self, expr: &mut Expr) {
        match expr {
            Expr::And(list) => {
                *list = flat(std::mem::take(list), |expr| match expr {
                    Expr::And(inner) => Ok(inner),
                    other => Err(other),
                });
            }
            Expr::Or(list) => {
                *list = flat(std::mem::take(list), |expr| match expr {
                    Expr::Or(inner) => Ok(inner),
                    other => Err(other),
                });
            }
            Expr::Exists { query, .. } => bare(query),
            Expr::InList { expr: value, list, negated } if is_one_constant(list) => {
                let operator = if *negated { BinaryOperator::NotEqual } else { BinaryOperator::Equal };
                if let Some(constant) = list.pop() {
                    let value = std::mem::replace(&mut **value, Expr::Literal(Literal::Null));
                    *expr = Expr::Binary(operator, Box::new(value), Box::new(constant));
                }
            }
            _ => {}
        }
    }
}

/// Whether a list has one item, which is a constant: without affinity and collation, IN compares as `=` does.
fn is_one_constant(list: &[Expr]) -> bool {
    matches!(list, [Expr::Literal(_)])
}

/// The one relation whose columns an expression without subqueries reads.
pub fn only_relation(expr: &Expr) -> Option<RelationId> {
    let columns = reads::columns(expr);
    let first = columns.first()?.relation;
    (!has_subquery(expr) && columns.iter().all(|column| column.relation == first)).then_some(first)
}

/// The canonical name of a CTE.
pub fn named(id: CteId) -> String {
    format!("list{}", id.0)
}

fn flat(list: Vec<Expr>, open: impl Fn(Expr) -> Result<Vec<Expr>, Expr>) -> Vec<Expr> {
    let mut parts = Vec::with_capacity(list.len());
    for expr in list {
        match open(expr) {
            Ok(inner) => parts.extend(inner),
            Err(other) => parts.push(other),
        }
    }
    parts
}

/// Of an EXISTS whose outputs do not matter, leaves 1.
fn bare(query: &mut Query) {
    if query.limit.is_some() || query.offset.is_some() {
        return;
    }
    let Body::Select(select) = &mut query.body else { return };
    let computes = |output: &Output| has_aggregate(&output.expr) || has_window(&output.expr);
    if !select.group_by.is_empty() || select.having.is_some() || select.outputs.iter().any(computes) {
        return;
    }
    select.distinct = false;
    select.outputs = vec![Output::of(Expr::Literal(Literal::Integer(1)))];
    query.order_by.clear();
}

/// A foreign key between two tables: which, and whether the later relation is the one that declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The table that declares it, and its place there.
    pub table: u32,
    /// Its place among the foreign keys of that table.
    pub place: usize,
    /// The earlier relation's table declares it.
    pub earlier_declares: bool,
}

/// The foreign keys by which two tables may be joined, the earlier first.
pub fn keys_between(schema: &Schema, earlier: u32, later: u32) -> Vec<Key> {
    let of = |table: u32, to: u32, earlier_declares: bool| {
        let keys = schema.tables().get(table as usize).map_or(&[][..], |table| &table.foreign_keys);
        keys.iter().enumerate().filter_map(move |(place, key)| {
            let (target, _) = schema.resolve_foreign_key(key)?;
            (target.index() == to as usize).then_some(Key { table, place, earlier_declares })
        })
    };
    let mut keys: Vec<Key> = of(earlier, later, true).collect();
    keys.extend(of(later, earlier, false));
    let mut seen = Vec::new();
    // A key that is declared twice is one.
    keys.retain(|key| {
        let pairs = (key.earlier_declares, columns_of(schema, *key));
        let is_new = !seen.contains(&pairs);
        seen.push(pairs);
        is_new
    });
    keys
}

/// The columns of a key as pairs: of the earlier table and of the later one.
pub fn columns_of(schema: &Schema, key: Key) -> Vec<(u32, u32)> {
    let declared =
        schema.tables().get(key.table as usize).and_then(|table| table.foreign_keys.get(key.place));
    let Some((foreign_key, (_, target))) =
        declared.and_then(|foreign_key| Some((foreign_key, schema.resolve_foreign_key(foreign_key)?)))
    else {
        return Vec::new();
    };
    let pairs = foreign_key.columns.iter().copied().zip(target);
    pairs
        .map(|(child, parent)| if key.earlier_declares { (child, parent) } else { (parent, child) })
        .collect()
}

/// The condition of a join by a key, the earlier relation on the left.
pub fn condition_of(schema: &Schema, key: Key, earlier: RelationId, later: RelationId) -> Option<Expr> {
    let pairs = columns_of(schema, key).into_iter().map(|(left, right)| {
        let column = |relation, place| Box::new(Expr::Column(ColumnRef::at(relation, place)));
        Expr::Binary(BinaryOperator::Equal, column(earlier, left), column(later, right))
    });
    conjunction(pairs.collect())
}

/// All of the conditions as one.
pub fn conjunction(mut conditions: Vec<Expr>) -> Option<Expr> {
    if conditions.len() > 1 { Some(Expr::And(conditions)) } else { conditions.pop() }
}

/// The table that a relation reads.
pub fn table_of(relation: &Relation) -> Option<u32> {
    match &relation.source {
        RelationSource::Table(id) => u32::try_from(id.index()).ok(),
        _ => None,
    }
}

impl Canonical<'_> {
    fn join(&self, select: &mut Select) {
        let Some(from) = &mut select.from else { return };
        if from.is_inner() {
            let From::Join(_) = from else { return };
            let mut conditions = Vec::new();
            let mut relations = Vec::new();
            let source = std::mem::replace(
                from,
                From::Relation(Relation::new(RelationId(0), RelationSource::Catalog)),
            );
            take_apart(source, &mut relations, &mut conditions);
            conditions
                .extend(select.filter.take().into_iter().flat_map(conjuncts_of).map(|filter| (None, filter)));
            if let Some(chain) = self.chain(relations, &mut conditions) {
                *from = chain;
            }
            let same = same_columns(self.schema, from);
            let places = from.relations().iter().map(|relation| relation.id).collect::<Vec<_>>();
            let place = |condition: &Expr| {
                let relation = only_relation(condition);
                places.iter().position(|id| Some(*id) == relation).unwrap_or(places.len())
            };
            let mut rest: Vec<Expr> = conditions.into_iter().map(|(_, condition)| condition).collect();
            rest.iter_mut().for_each(|condition| replace(&same, condition));
            rest.sort_by_key(place);
            select.filter = conjunction(rest);
            replace_in(&same, select);
        } else {
            self.turn_keys(from);
        }
    }

    /// The relations joined one after the other, each with its share of the conditions.
    fn chain(&self, relations: Vec<Relation>, conditions: &mut Vec<Placed>) -> Option<From> {
        let mut before: Vec<(RelationId, Option<u32>)> = Vec::new();
        let mut from: Option<From> = None;
        for relation in relations {
            let here = (relation.id, table_of(&relation));
            let right = From::Relation(relation);
            from = Some(match from {
                None => right,
                Some(left) => {
                    let on = self
                        .by_key(&before, here, conditions)
                        .or_else(|| by_equality(&before, here.0, conditions))
                        .or_else(|| by_place(here.0, conditions));
                    From::Join(Box::new(Join { kind: JoinKind::Inner, left, right, on }))
                }
            });
            before.push(here);
        }
        from
    }

    /// Takes the equalities of the first foreign key by which a relation is joined to one before it.
    fn by_key(
        &self,
        before: &[(RelationId, Option<u32>)],
        here: (RelationId, Option<u32>),
        conditions: &mut Vec<Placed>,
    ) -> Option<Expr> {
        let table = here.1?;
        for at in 0..conditions.len() {
            let Some((left, right)) = equality(&conditions[at].1) else { continue };
            let other = if left.relation == here.0 { right } else { left };
            let Some(&(earlier, Some(earlier_table))) = before.iter().find(|(id, _)| *id == other.relation)
            else {
                continue;
            };
            for key in keys_between(self.schema, earlier_table, table) {
                let pairs = columns_of(self.schema, key);
                let has = |expr: &Expr| pairs.iter().any(|&pair| is_pair(expr, earlier, here.0, pair));
                if !has(&conditions[at].1) || !self.compares_alike(key, earlier_table, table) {
                    continue;
                }
                let all = pairs
                    .iter()
                    .all(|&pair| conditions.iter().any(|(_, c)| is_pair(c, earlier, here.0, pair)));
                if all {
                    for &pair in &pairs {
                        let place = conditions.iter().position(|(_, c)| is_pair(c, earlier, here.0, pair))?;
                        conditions.remove(place);
                    }
                    return condition_of(self.schema, key, earlier, here.0);
                }
            }
        }
        None
    }

    /// Whether the order of the operands does not matter: both columns compare text in the same way.
    fn compares_alike(&self, key: Key, earlier: u32, later: u32) -> bool {
        let collation = |table: u32, column: u32| {
            self.schema.tables().get(table as usize)?.column(column).map(|column| &column.collation)
        };
        columns_of(self.schema, key)
            .iter()
            .all(|&(left, right)| collation(earlier, left) == collation(later, right))
    }

    /// Puts the earlier relation on the left of the joins by foreign keys, where there are outer joins.
    fn turn_keys(&self, from: &mut From) {
        let From::Join(join) = from else { return };
        self.turn_keys(&mut join.left);
        self.turn_keys(&mut join.right);
        let (From::Relation(right), Some(on)) = (&join.right, &join.on) else { return };
        let before: Vec<_> =
            join.left.relations().iter().map(|relation| (relation.id, table_of(relation))).collect();
        let mut conditions: Vec<Placed> = conjuncts_of(on.clone()).into_iter().map(|on| (None, on)).collect();
        let on = self.by_key(&before, (right.id, table_of(right)), &mut conditions);
        if on.is_some() && conditions.is_empty() {
            join.on = on;
        }
    }
}

fn take_apart(from: From, relations: &mut Vec<Relation>, conditions: &mut Vec<Placed>) {
    match from {
        From::Relation(relation) => relations.push(relation),
        From::Join(join) => {
            take_apart(join.left, relations, conditions);
            take_apart(join.right, relations, conditions);
            let place = relations.last().map(|relation| relation.id);
            conditions.extend(join.on.into_iter().flat_map(conjuncts_of).map(|on| (place, on)));
        }
    }
}

/// A condition, and the last relation of the join in whose ON it stands.
type Placed = (Option<RelationId>, Expr);

/// The parts of an AND.
pub fn conjuncts_of(expr: Expr) -> Vec<Expr> {
    match expr {
        Expr::And(list) => list,
        other => vec![other],
    }
}

/// The two columns of an equality.
fn equality(expr: &Expr) -> Option<(ColumnRef, ColumnRef)> {
    match expr {
        Expr::Binary(BinaryOperator::Equal, left, right) => match (&**left, &**right) {
            (Expr::Column(left), Expr::Column(right)) => Some((*left, *right)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether an equality is of that column of the one relation and that of the other.
fn is_pair(expr: &Expr, earlier: RelationId, later: RelationId, pair: (u32, u32)) -> bool {
    let wanted = (ColumnRef::at(earlier, pair.0), ColumnRef::at(later, pair.1));
    equality(expr).is_some_and(|(left, right)| (left, right) == wanted || (right, left) == wanted)
}

/// Takes the equalities of columns of a relation with columns before it.
fn by_equality(
    before: &[(RelationId, Option<u32>)],
    here: RelationId,
    conditions: &mut Vec<Placed>,
) -> Option<Expr> {
    let links = |expr: &Expr| {
        let is_before = |column: ColumnRef| before.iter().any(|(id, _)| *id == column.relation);
        equality(expr).is_some_and(|(left, right)| {
            is_before(left) && right.relation == here || is_before(right) && left.relation == here
        })
    };
    take(conditions, |(_, condition)| links(condition))
}

/// Takes what stands in the ON of a relation's join.
fn by_place(here: RelationId, conditions: &mut Vec<Placed>) -> Option<Expr> {
    take(conditions, |(place, _)| *place == Some(here))
}

fn take(conditions: &mut Vec<Placed>, wanted: impl Fn(&Placed) -> bool) -> Option<Expr> {
    let (matches, left): (Vec<Placed>, Vec<Placed>) =
        std::mem::take(conditions).into_iter().partition(wanted);
    *conditions = left;
    conjunction(matches.into_iter().map(|(_, condition)| condition).collect())
}

/// The column that an expression is, if it is one of a table and no rowid.
pub fn column_of(expr: &Expr) -> Option<(RelationId, u32)> {
    match expr {
        Expr::Column(ColumnRef { relation, column: Place::At(place) }) => Some((*relation, *place)),
        _ => None,
    }
}
