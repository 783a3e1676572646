//! The images of tables in FROM.

use std::collections::BTreeSet;

use sqlgauge_sql::canonical::conjunction;
use sqlgauge_sql::reads;
use sqlgauge_sql::tree::{
    BinaryOperator, ColumnRef, Expr, From, Join, JoinKind, Output, Query, Relation, RelationId,
    RelationSource, Select,
};

use super::{Rewriting, add_conditions};
use crate::layout::EvolveReason;
use crate::step::{Image, Projection};

impl Rewriting<'_> {
    /// The FROM clause over the new schema. `conditions` must hold of its rows besides: they go to WHERE, or to the ON of
    /// the join that may leave the rows out.
    pub(super) fn place(&mut self, from: From, conditions: &mut Vec<Expr>) -> From {
        match from {
            From::Relation(relation) => {
                let chain = self.relation(relation, None, conditions);
                chain.into_from(None)
            }
            From::Join(join) => self.join(*join, conditions),
        }
    }

    fn join(&mut self, join: Join, conditions: &mut Vec<Expr>) -> From {
        let Join { kind, left, right, mut on } = join;
        let (mut of_left, mut of_right) = (Vec::new(), Vec::new());
        let around = self.under_full_join;
        self.under_full_join |= kind == JoinKind::Full;
        let left = self.place(left, &mut of_left);
        let right = match right {
            From::Relation(relation) => self.relation(relation, on.as_ref(), &mut of_right),
            right @ From::Join(_) => {
                Chain { first: self.place(right, &mut of_right), ids: Vec::new(), rest: Vec::new() }
            }
        };
        self.under_full_join = around;
        match kind {
            JoinKind::Inner | JoinKind::Cross => {
                conditions.append(&mut of_left);
                conditions.append(&mut of_right);
            }
            JoinKind::Left => {
                conditions.append(&mut of_left);
                add_conditions(&mut on, of_right);
            }
            JoinKind::Right => {
                add_conditions(&mut on, of_left);
                conditions.append(&mut of_right);
            }
            JoinKind::Full if of_left.is_empty() && of_right.is_empty() => {}
            JoinKind::Full => {
                self.refuse(EvolveReason::NotExpressible, "FULL JOIN of a part of a table".to_owned());
            }
        }
        right.joined(kind, left, on)
    }

    /// What takes the place of a relation; `on` is the condition by which it is joined to what stands left of it.
    fn relation(&mut self, relation: Relation, on: Option<&Expr>, conditions: &mut Vec<Expr>) -> Chain {
        let Some((table, image)) = self.image(&relation) else { return Chain::of(relation) };
        let id = relation.id;
        if self.rowids.contains(&id) && !self.keeps_rowid(table, image) {
            let detail = format!("it reads the rowid of {}", self.table_name(table));
            self.refuse(EvolveReason::NotExpressible, detail);
        }
        // No clause of the query is about the rows of one side of a FULL JOIN alone.
        let under_full_join = self.under_full_join;
        let needs_subquery = |part: &Projection| under_full_join && part.present.is_some();
        match image {
            Image::Table(projection) if needs_subquery(projection) => {
                self.subquery(id, table, projection, None)
            }
            Image::Distinct { projection, .. }
                if self.repeatable.contains(&id) && needs_subquery(projection) =>
            {
                self.subquery(id, table, projection, None)
            }
            Image::Table(projection) => self.part(&relation, table, projection, conditions),
            Image::Distinct { projection, .. } if self.repeatable.contains(&id) => {
                self.part(&relation, table, projection, conditions)
            }
            Image::Distinct { key, projection } => self.subquery(id, table, projection, Some(key)),
            Image::Fragments { key, fragments } => self.fragments(id, table, (key, fragments), on),
            Image::Query(query) => {
                let query = Box::new(self.fresh(query));
                self.name_after(id, table);
                Chain::of(Relation::new(id, RelationSource::Derived(query)))
            }
            Image::Gone => {
                self.refuse(
                    EvolveReason::NeedsRemoved,
                    format!("the table {} is gone", self.table_name(table)),
                );
                Chain::of(relation)
            }
        }
    }

    /// Whether the rows have the rowids that they had.
    fn keeps_rowid(&self, table: usize, image: &Image) -> bool {
        match image {
            Image::Table(Projection { to, present: None, .. }) => {
                let new = self.step.new.tables().get(*to);
                let is_alone = self.step.forth.merged.as_ref().is_none_or(|merged| merged.child.0 != table);
                is_alone && new.is_some_and(|new| !new.without_rowid && new.rowid_alias().is_none())
            }
            _ => false,
        }
    }

    fn part(
        &mut self,
        relation: &Relation,
        table: usize,
        projection: &Projection,
        conditions: &mut Vec<Expr>,
    ) -> Chain {
        let (id, to) = (relation.id, projection.to);
        self.substitute(id, table, projection, id);
        conditions.extend(self.present(projection, id));
        let hint = self.hint(relation.hint.as_ref(), to);
        Chain::of(Relation { id, source: self.source(to), hint })
    }

    /// The rows of a part of a table, of the columns that are read; the different ones by a key.
    fn subquery(
        &mut self,
        id: RelationId,
        table: usize,
        projection: &Projection,
        key: Option<&[u32]>,
    ) -> Chain {
        let inner = self.new_relation();
        let mut read = self.used(id);
        read.extend(key.unwrap_or_default());
        let mut outputs = Vec::new();
        for (place, at) in (0..).zip(&read) {
            if let Some(mut expr) = projection.columns.get(*at as usize).cloned().flatten() {
                sqlgauge_sql::visit::rewrite_expr(&mut super::Row(inner), &mut expr);
                outputs.push(Output::of(expr));
                self.substitutions.insert(ColumnRef::at(id, *at), Expr::Column(ColumnRef::at(id, place)));
            } else {
                let detail = format!("a column of {} is gone", self.table_name(table));
                self.refuse(EvolveReason::NeedsRemoved, detail);
            }
        }
        if let (true, Some(present)) = (outputs.is_empty(), projection.present) {
            outputs.push(Output::of(Expr::Column(ColumnRef::at(inner, present))));
        }
        let from = Some(From::Relation(Relation::new(inner, self.source(projection.to))));
        let filter = self.present(projection, inner);
        let select = Select { distinct: key.is_some(), from, filter, ..Select::of(outputs) };
        self.name_after(id, table);
        let query = Query::of_select(select);
        Chain::of(Relation::new(id, RelationSource::Derived(Box::new(query))))
    }

    /// A subquery that stands for a table has its name, unless it had an alias.
    fn name_after(&mut self, id: RelationId, table: usize) {
        let name = self.table_name(table).to_owned();
        self.aliases.entry(id).or_insert(name);
    }

    /// The fragments whose columns are read; that one first by whose columns the relation is joined.
    fn fragments(
        &mut self,
        id: RelationId,
        table: usize,
        (key, fragments): (&[u32], &[Projection]),
        on: Option<&Expr>,
    ) -> Chain {
        let has = |fragment: &Projection, at: &u32| !key.contains(at) && fragment.plain(*at).is_some();
        let used = self.used(id);
        let joined = on.map(|on| columns_of(on, id)).unwrap_or_default();
        let mut needed: Vec<&Projection> =
            fragments.iter().filter(|fragment| used.iter().any(|at| has(fragment, at))).collect();
        if needed.is_empty() {
            needed.extend(fragments.first());
        }
        // Stable: the order of the fragments stays otherwise.
        needed.sort_by_key(|fragment| !joined.iter().any(|at| has(fragment, at)));
        let mut chain: Option<Chain> = None;
        let head = needed.first().copied();
        for fragment in needed {
            let fragment_id = if chain.is_none() { id } else { self.further_relation() };
            for at in used.iter().filter(|at| has(fragment, at) || (chain.is_none() && key.contains(at))) {
                if let Some(place) = fragment.plain(*at) {
                    self.substitutions
                        .insert(ColumnRef::at(id, *at), Expr::Column(ColumnRef::at(fragment_id, place)));
                }
            }
            let relation = Relation::new(fragment_id, self.source(fragment.to));
            match &mut chain {
                None => chain = Some(Chain::of(relation)),
                Some(chain) => {
                    let on = head.and_then(|head| self.same_key(key, (id, head), (fragment_id, fragment)));
                    chain.rest.push((relation, on));
                }
            }
        }
        let missing = used.iter().find(|at| !key.contains(at) && !fragments.iter().any(|part| has(part, at)));
        if missing.is_some() {
            self.refuse(
                EvolveReason::NeedsRemoved,
                format!("a column of {} is gone", self.table_name(table)),
            );
        }
        if let Some(chain) = &mut chain {
            // The whole condition can stand at the first fragment if it reads no other.
            let is_of_head = |at: &u32| key.contains(at) || head.is_none_or(|part| has(part, at));
            if !joined.iter().all(is_of_head) {
                chain.ids.clear();
            }
        }
        chain.unwrap_or_else(|| Chain::of(Relation::new(id, RelationSource::Catalog)))
    }

    /// The key of one fragment is that of another.
    fn same_key(
        &mut self,
        key: &[u32],
        (first, head): (RelationId, &Projection),
        (second, fragment): (RelationId, &Projection),
    ) -> Option<Expr> {
        let pairs = key.iter().filter_map(|&at| Some((head.plain(at)?, fragment.plain(at)?)));
        let equal = |(here, there): (u32, u32)| {
            let mut column = |id, at| Box::new(self.new_column(ColumnRef::at(id, at)));
            Expr::Binary(BinaryOperator::Equal, column(first, here), column(second, there))
        };
        conjunction(pairs.map(equal).collect())
    }
}

/// The columns of a relation that an expression reads.
fn columns_of(expr: &Expr, relation: RelationId) -> BTreeSet<u32> {
    let columns = reads::columns(expr).into_iter().filter(|column| column.relation == relation);
    columns.filter_map(|column| column.column.position()).collect()
}

/// Relations joined one after the other, each to the first.
struct Chain {
    first: From,
    /// The first, if the condition by which all are joined can stand there.
    ids: Vec<RelationId>,
    rest: Vec<(Relation, Option<Expr>)>,
}

impl Chain {
    fn of(relation: Relation) -> Self {
        Self { ids: vec![relation.id], first: From::Relation(relation), rest: Vec::new() }
    }

    /// The rest joined to what stands before it.
    fn into_from(self, before: Option<From>) -> From {
        let first = before.unwrap_or(self.first);
        self.rest.into_iter().fold(first, |left, (relation, on)| {
            let right = From::Relation(relation);
            From::Join(Box::new(Join { kind: JoinKind::Inner, left, right, on }))
        })
    }

    /// All of it joined to what stands left of it.
    fn joined(self, kind: JoinKind, left: From, on: Option<Expr>) -> From {
        let is_flat = self.rest.is_empty() || !self.ids.is_empty();
        match kind {
            JoinKind::Inner | JoinKind::Cross if is_flat => {
                let Self { first, ids, rest } = self;
                let head = From::Join(Box::new(Join { kind, left, right: first.clone(), on }));
                Self { first, ids, rest }.into_from(Some(head))
            }
            JoinKind::Left if is_flat => {
                let head = From::Join(Box::new(Join { kind, left, right: self.first, on }));
                self.rest.into_iter().fold(head, |left, (relation, on)| {
                    From::Join(Box::new(Join { kind, left, right: From::Relation(relation), on }))
                })
            }
            _ => {
                let right = self.into_from(None);
                From::Join(Box::new(Join { kind, left, right, on }))
            }
        }
    }
}
