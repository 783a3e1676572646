//! What follows from the schema about the parts of a query: nullability, affinity, collation, the values that can
//! occur, uniqueness and functional dependency.
//!
//! Every answer holds for all databases that satisfy the schema as SQLite enforces it; where nothing follows,
//! the answer says so ([`Fact::Unknown`]) or is the weaker one ("may be NULL", "any value", "no key", "not
//! determined"). Unknown is never BINARY, never "no affinity", never "not NULL".

mod compare;
mod conditions;
mod dependencies;
mod nullable;
mod values;

use std::sync::Arc;

use sqlgauge_base::budget;

pub use compare::{Collating, Conversion, Operand, OperandComparison};
pub use conditions::{
    collect_columns, conjuncts, conjuncts_of, has_subquery, has_window, is_aggregate_select, is_null_with,
    on_conjuncts, rejects_null,
};
pub use dependencies::{Closure, Dependencies};

pub use crate::aggregates::has_own as has_aggregate;
pub use crate::schema::{ColumnCollation, ColumnFacts, Fact, ValueDomain};

use crate::reads;
use crate::schema::{Affinity, Collation, Schema, Table, TableId, TableKind, ViewFacts};
use crate::tree::{
    Body, ColumnRef, Cte, CteId, Expr, From, Join, JoinKind, Place, Query, Relation, RelationId,
    RelationSource, Select, SetOperator,
};
use crate::visit::children;

/// What is known of one relation; what is known of a subquery is shared by all who read it.
#[derive(Debug, Clone)]
enum RelationFacts {
    Unknown,
    Table(TableId),
    Columns(Arc<ViewFacts>),
}

impl RelationFacts {
    /// Whether columns have the same affinities and collations, all of them known.
    fn converts_like(&self, other: &Self) -> bool {
        let (Self::Columns(facts), Self::Columns(assumed)) = (self, other) else { return false };
        let is_alike = |(one, other): (&ColumnFacts, &ColumnFacts)| {
            let is_known = one.affinity != Fact::Unknown && one.collation != Fact::Unknown && !one.is_mixed;
            is_known && one.affinity == other.affinity && one.collation == other.collation
        };
        facts.columns.len() == assumed.columns.len()
            && facts.columns.iter().zip(&assumed.columns).all(is_alike)
    }

    fn of(columns: Vec<ColumnFacts>, keys: Vec<Vec<u32>>) -> Self {
        Self::Columns(Arc::new(ViewFacts { columns, keys }))
    }
}

/// What the schema says about every relation of a statement.
#[derive(Debug)]
pub struct Facts<'s> {
    schema: &'s Schema,
    relations: Vec<(RelationFacts, bool)>,
    ctes: Vec<(CteId, RelationFacts)>,
    /// Whether a COLLATE stands in the statement.
    collates: bool,
    /// How many recursive CTEs are still looked into: each is walked up to three times.
    recursions: u8,
}

/// Most recursive CTEs of a statement that are looked into.
const MAX_RECURSIONS: u8 = 8;

impl Clone for Facts<'_> {
    fn clone(&self) -> Self {
        budget::spend(self.relations.len() + self.ctes.len());
        Self { relations: self.relations.clone(), ctes: self.ctes.clone(), ..*self }
    }
}

impl<'s> Facts<'s> {
    /// Collects the facts of a statement and of every query inside it.
    pub fn of(query: &Query, schema: &'s Schema) -> Self {
        let mut facts = Self::of_nothing(schema);
        facts.query(query);
        facts
    }

    fn of_nothing(schema: &'s Schema) -> Self {
        let recursions = MAX_RECURSIONS;
        Self { schema, relations: Vec::new(), ctes: Vec::new(), collates: false, recursions }
    }

    /// The schema that the facts follow from.
    pub fn schema(&self) -> &'s Schema {
        self.schema
    }

    /// Makes a further relation known that reads a table.
    pub fn add_table(&mut self, relation: RelationId, table: TableId) {
        self.set(relation, RelationFacts::Table(table));
    }

    /// Makes a further relation known that reads a subquery, and everything in that subquery.
    pub fn add_derived(&mut self, relation: RelationId, query: &Query) {
        let facts = self.query(query);
        self.set(relation, facts);
    }

    /// A number that no relation of the statement has.
    pub fn next_relation(&self) -> RelationId {
        RelationId(u32::try_from(self.relations.len()).unwrap_or(u32::MAX))
    }

    /// The table that a relation reads, if it reads one.
    pub fn table_of(&self, relation: RelationId) -> Option<TableId> {
        match self.relations.get(relation.0 as usize) {
            Some((RelationFacts::Table(id), _)) => Some(*id),
            _ => None,
        }
    }

    /// Whether an outer join may fill the relation's columns with NULL.
    pub fn is_null_extended(&self, relation: RelationId) -> bool {
        self.relations.get(relation.0 as usize).is_none_or(|(_, extended)| *extended)
    }

    /// Says whether the relation's columns may be NULL because there is no row of it: an outer join found none, or
    /// an aggregate without GROUP BY is asked for them over no rows.
    pub fn set_null_extended(&mut self, relation: RelationId, is_extended: bool) {
        if let Some((_, extended)) = self.relations.get_mut(relation.0 as usize) {
            *extended = is_extended;
        }
    }

    /// What is known of a column before outer joins are looked at.
    fn own_column(&self, column: ColumnRef) -> ColumnFacts {
        budget::spend(1);
        match self.relations.get(column.relation.0 as usize).map(|(facts, _)| facts) {
            Some(RelationFacts::Table(id)) => {
                let Some(table) = self.schema.table(*id) else { return ColumnFacts::UNKNOWN };
                match self.view(*id) {
                    Some(view) => {
                        column.column.position().and_then(|at| view.columns.get(at as usize)).cloned()
                    }
                    None => Some(of_table(table, column.column)),
                }
                .unwrap_or(ColumnFacts::UNKNOWN)
            }
            Some(RelationFacts::Columns(facts)) => {
                let entry = column.column.position().and_then(|at| facts.columns.get(at as usize));
                entry.cloned().unwrap_or(ColumnFacts::UNKNOWN)
            }
            Some(RelationFacts::Unknown) | None => ColumnFacts::UNKNOWN,
        }
    }

    /// What follows from the query of a view.
    fn view(&self, id: TableId) -> Option<&ViewFacts> {
        self.schema.definition(id)?.view_facts(self.schema)
    }

    /// What those who read from the query of a view see.
    pub(crate) fn of_view(query: &Query, schema: &'s Schema) -> ViewFacts {
        let mut facts = Self::of_nothing(schema);
        match facts.query(query) {
            RelationFacts::Columns(columns) => columns.as_ref().clone(),
            RelationFacts::Table(_) | RelationFacts::Unknown => {
                ViewFacts { columns: Vec::new(), keys: Vec::new() }
            }
        }
    }

    /// The affinity of a result column of the query that these are the facts of, where it is known and there is one.
    pub(crate) fn result_affinity(&self, query: &Query, place: usize) -> Option<Affinity> {
        let mut body = &query.body;
        let mut affinity = None;
        loop {
            let (left, right) = match body {
                Body::Values(_) => return None,
                Body::Select(select) => (None, select),
                Body::SetOperation { left, right, .. } => match right.as_ref() {
                    Body::Select(select) => (Some(left), select),
                    Body::SetOperation { .. } | Body::Values(_) => return None,
                },
            };
            let right_affinity = self.affinity(&right.outputs.get(place)?.expr).known()?;
            if affinity.is_some_and(|last| last != right_affinity) {
                return None;
            }
            affinity = Some(right_affinity);
            match left {
                Some(left) => body = left,
                None => return right_affinity,
            }
        }
    }

    /// What is known of a column where the query around the joins sees it.
    pub fn column(&self, column: ColumnRef) -> ColumnFacts {
        let mut facts = self.own_column(column);
        facts.nullable |= self.is_null_extended(column.relation);
        facts
    }

    /// Column sets of a relation on which no two of its rows agree without a NULL in them.
    pub fn unique_sets(&self, relation: RelationId) -> Vec<Vec<Place>> {
        match self.relations.get(relation.0 as usize).map(|(facts, _)| facts) {
            Some(RelationFacts::Table(id)) => {
                let Some(table) = self.schema.table(*id) else { return Vec::new() };
                if let Some(view) = self.view(*id) {
                    return view.keys.iter().map(|key| places(key)).collect();
                }
                if table.kind != TableKind::Table {
                    return Vec::new();
                }
                let mut sets = Vec::with_capacity(1 + table.unique.len());
                if !table.primary_key.is_empty() && !table.key_is_finer {
                    sets.push(places(&table.primary_key));
                }
                sets.extend(table.unique.iter().map(|key| places(key)));
                if !table.without_rowid {
                    sets.push(vec![Place::Rowid]);
                }
                sets
            }
            Some(RelationFacts::Columns(facts)) => facts.keys.iter().map(|key| places(key)).collect(),
            Some(RelationFacts::Unknown) | None => Vec::new(),
        }
    }

    fn set(&mut self, relation: RelationId, facts: RelationFacts) {
        let index = relation.0 as usize;
        if self.relations.len() <= index {
            self.relations.resize(index + 1, (RelationFacts::Unknown, false));
        }
        self.relations[index] = (facts, false);
    }

    fn query(&mut self, query: &Query) -> RelationFacts {
        for cte in &query.ctes {
            let facts = self.cte(cte);
            self.ctes.push((cte.id, facts));
        }
        let facts = self.body(&query.body);
        let order = query.order_by.iter().map(|term| &term.expr);
        for expr in order.chain(&query.limit).chain(&query.offset) {
            self.inside(expr);
        }
        facts
    }

    fn cte(&mut self, cte: &Cte) -> RelationFacts {
        let is_recursive = reads::is_recursive(cte);
        if is_recursive && self.recursions > 0 {
            self.recursions -= 1;
            let places = self.ctes.len();
            let start = self.body(start_of(cte));
            let assumed = with_any_values(&start);
            self.ctes.truncate(places);
            let facts = self.cte_that_reads(cte, assumed.clone());
            // What comes out of a recursive CTE goes into it again.
            if with_any_values(&facts).converts_like(&assumed) {
                return assumed;
            }
            self.ctes.truncate(places);
        }
        let facts = self.cte_that_reads(cte, RelationFacts::Unknown);
        if is_recursive { RelationFacts::Unknown } else { facts }
    }

    /// The facts of a CTE if those are what it reads of itself.
    fn cte_that_reads(&mut self, cte: &Cte, facts: RelationFacts) -> RelationFacts {
        let place = self.ctes.len();
        self.ctes.push((cte.id, facts));
        let facts = self.query(&cte.query);
        // What is known of those inside it stays.
        self.ctes.remove(place);
        facts
    }

    fn body(&mut self, body: &Body) -> RelationFacts {
        match body {
            Body::Select(select) => self.select(select),
            Body::SetOperation { operator, all, left, right } => {
                let left = self.body(left);
                let right = self.body(right);
                combine(*operator, *all, left, right)
            }
            Body::Values(rows) => {
                rows.iter().flatten().for_each(|expr| self.inside(expr));
                self.rows(rows)
            }
        }
    }

    fn rows(&self, rows: &[Vec<Expr>]) -> RelationFacts {
        let width = rows.first().map_or(0, Vec::len);
        let column = |place: usize| {
            let cells = || rows.iter().filter_map(|row| row.get(place));
            let constant = cells().all(|cell| matches!(cell, Expr::Literal(_)));
            ColumnFacts {
                nullable: cells().any(|cell| self.is_nullable(cell)),
                affinity: if constant { Fact::Known(None) } else { Fact::Unknown },
                collation: if constant { own_collation(Collation::Binary) } else { Fact::Unknown },
                values: cells().fold(ValueDomain::NONE, |all, cell| all.or(self.values(cell))),
                is_mixed: false,
            }
        };
        RelationFacts::of((0..width).map(column).collect(), Vec::new())
    }

    fn select(&mut self, select: &Select) -> RelationFacts {
        if let Some(from) = &select.from {
            self.from(from, false);
        }
        let outputs = select.outputs.iter().map(|output| &output.expr);
        for expr in outputs.chain(&select.filter).chain(&select.group_by).chain(&select.having) {
            self.inside(expr);
        }
        let of_no_row = nullable::has_group_of_no_row(select);
        let outputs = select.outputs.iter().map(|output| &output.expr);
        let columns = outputs.map(|expr| self.output_facts(select, of_no_row, expr)).collect();
        let keys = self.output_keys(select);
        RelationFacts::of(columns, keys)
    }

    /// What those who read from the SELECT see of a result column.
    fn output_facts(&self, select: &Select, of_no_row: bool, expr: &Expr) -> ColumnFacts {
        let affinity = self.affinity(expr);
        ColumnFacts {
            nullable: self.may_be_null(select, of_no_row, expr),
            affinity,
            collation: self.collation_outside(expr),
            values: values::read_back(self.values(expr), affinity),
            is_mixed: self.is_mixed(expr),
        }
    }

    /// The collation that a result column brings to those who read from its query: that of a column, BINARY where an
    /// expression brings none, and that of the rowid as it comes.
    fn collation_outside(&self, expr: &Expr) -> Fact<ColumnCollation> {
        if let Expr::Column(column) = expr {
            return match self.own_column(*column).collation {
                Fact::Known(ColumnCollation::Rowid) => Fact::Known(ColumnCollation::RowidInside),
                collation => collation,
            };
        }
        match self.collating(expr) {
            Fact::Known(brought) => {
                own_collation(brought.map_or(Collation::Binary, |brought| brought.collation))
            }
            Fact::Unknown => Fact::Unknown,
        }
    }

    /// Whether all that is compared in the statement is compared byte by byte, be it that an operand brings BINARY or
    /// that it brings no collation.
    fn compares_bytes_only(&self) -> bool {
        !self.collates && self.schema.compares_bytes_only()
    }

    /// Whether the expression has its affinity from a column of a compound whose SELECTs give it different ones.
    pub fn is_mixed(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Column(column) => self.own_column(*column).is_mixed,
            Expr::Collate { expr, .. } => self.is_mixed(expr),
            _ => false,
        }
    }

    /// Whether a relation has a column that is mixed ([`ColumnFacts::is_mixed`]).
    pub fn mixes(&self, relation: RelationId) -> bool {
        let is_mixed = |columns: &[ColumnFacts]| columns.iter().any(|column| column.is_mixed);
        match self.relations.get(relation.0 as usize) {
            Some((RelationFacts::Columns(facts), _)) => is_mixed(&facts.columns),
            Some((RelationFacts::Table(id), _)) => self.view(*id).is_some_and(|view| is_mixed(&view.columns)),
            Some((RelationFacts::Unknown, _)) | None => false,
        }
    }

    /// Whether a CTE has a column that is mixed ([`ColumnFacts::is_mixed`]).
    pub fn cte_mixes(&self, cte: CteId) -> bool {
        let facts = self.ctes.iter().rev().find(|(id, _)| *id == cte).map(|(_, facts)| facts);
        matches!(facts, Some(RelationFacts::Columns(facts)) if facts.columns.iter().any(|c| c.is_mixed))
    }

    /// Sets of result columns on which no two rows of the SELECT agree.
    fn output_keys(&self, select: &Select) -> Vec<Vec<u32>> {
        let positions = |exprs: &[Expr]| -> Option<Vec<u32>> {
            budget::spend(exprs.len() * select.outputs.len());
            exprs
                .iter()
                .map(|expr| {
                    let place = select.outputs.iter().position(|output| output.expr == *expr)?;
                    u32::try_from(place).ok()
                })
                .collect()
        };
        if !select.group_by.is_empty() {
            return positions(&select.group_by).into_iter().collect();
        }
        if is_aggregate_select(select) {
            return (0..).take(select.outputs.len().min(1)).map(|n| vec![n]).collect();
        }
        if select.distinct {
            return vec![(0..).take(select.outputs.len()).collect()];
        }
        let Some(From::Relation(relation)) = &select.from else { return Vec::new() };
        let sets = self.unique_sets(relation.id);
        let as_column = |column: Place| Expr::Column(ColumnRef { relation: relation.id, column });
        sets.iter()
            .filter_map(|set| positions(&set.iter().map(|&c| as_column(c)).collect::<Vec<_>>()))
            .collect()
    }

    fn from(&mut self, from: &From, extended: bool) {
        match from {
            From::Relation(relation) => self.relation(relation, extended),
            From::Join(join) => {
                let Join { kind, left, right, on } = join.as_ref();
                self.from(left, extended || matches!(kind, JoinKind::Right | JoinKind::Full));
                self.from(right, extended || matches!(kind, JoinKind::Left | JoinKind::Full));
                if let Some(on) = on {
                    self.inside(on);
                }
            }
        }
    }

    fn relation(&mut self, relation: &Relation, extended: bool) {
        let facts = match &relation.source {
            RelationSource::Table(id) => RelationFacts::Table(*id),
            RelationSource::Derived(query) => self.query(query),
            RelationSource::Cte(id) => self
                .ctes
                .iter()
                .rev()
                .find(|(cte, _)| cte == id)
                .map_or(RelationFacts::Unknown, |(_, facts)| facts.clone()),
            RelationSource::Function { args, .. } => {
                args.iter().for_each(|arg| self.inside(arg));
                RelationFacts::Unknown
            }
            RelationSource::Catalog => RelationFacts::Unknown,
        };
        self.set(relation.id, facts);
        if let Some((_, is_extended)) = self.relations.get_mut(relation.id.0 as usize) {
            *is_extended = extended;
        }
    }

    /// Looks for subqueries inside an expression.
    fn inside(&mut self, expr: &Expr) {
        budget::spend(1);
        self.collates |= matches!(expr, Expr::Collate { .. });
        match expr {
            Expr::Column(_) | Expr::Literal(_) | Expr::Output(_) => {}
            Expr::InQuery { expr, query, .. } => {
                self.inside(expr);
                self.query(query);
            }
            Expr::Exists { query, .. } | Expr::Scalar(query) => {
                self.query(query);
            }
            other => children(other, &mut |child| self.inside(child)),
        }
    }
}

/// The SELECTs of a recursive CTE before those that read it.
fn start_of(cte: &Cte) -> &Body {
    let mut start = &cte.query.body;
    while let Body::SetOperation { left, right, .. } = start
        && let Body::Select(select) = right.as_ref()
        && reads::ctes_of(select).any(|id| id == cte.id)
    {
        start = left;
    }
    start
}

/// The facts of a relation whose columns may hold anything.
fn with_any_values(facts: &RelationFacts) -> RelationFacts {
    let RelationFacts::Columns(facts) = facts else { return RelationFacts::Unknown };
    let columns = facts.columns.iter().map(|column| ColumnFacts {
        nullable: true,
        values: ValueDomain::ANY,
        ..column.clone()
    });
    RelationFacts::of(columns.collect(), Vec::new())
}

fn combine(operator: SetOperator, all: bool, left: RelationFacts, right: RelationFacts) -> RelationFacts {
    let (RelationFacts::Columns(left), RelationFacts::Columns(right)) = (left, right) else {
        return RelationFacts::Unknown;
    };
    let width = left.columns.len();
    budget::spend(width);
    let merged = left.columns.iter().cloned().zip(&right.columns).map(|(left, right)| ColumnFacts {
        is_mixed: left.is_mixed
            || right.is_mixed
            || common_affinity(left.affinity, right.affinity) == Fact::Unknown,
        nullable: match operator {
            SetOperator::Union => left.nullable || right.nullable,
            SetOperator::Intersect => left.nullable && right.nullable,
            SetOperator::Except => left.nullable,
        },
        affinity: common_affinity(left.affinity, right.affinity),
        // Only the first SELECT counts here.
        collation: left.collation,
        values: match operator {
            SetOperator::Except => left.values,
            SetOperator::Union | SetOperator::Intersect => {
                values::read_back(left.values.or(right.values), left.affinity)
            }
        },
    });
    let keys = if all { Vec::new() } else { vec![(0..).take(width).collect()] };
    RelationFacts::of(merged.collect(), keys)
}

/// The affinity of a column of a compound: of the first SELECT if the others have one of its kind.
fn common_affinity(left: Fact<Option<Affinity>>, right: Fact<Option<Affinity>>) -> Fact<Option<Affinity>> {
    match (left, right) {
        (Fact::Known(one), Fact::Known(other)) if one == other => left,
        (Fact::Known(Some(one)), Fact::Known(Some(other))) if one.is_numeric() && other.is_numeric() => left,
        _ => Fact::Unknown,
    }
}

fn places(positions: &[u32]) -> Vec<Place> {
    positions.iter().copied().map(Place::At).collect()
}

fn own_collation(collation: Collation) -> Fact<ColumnCollation> {
    Fact::Known(ColumnCollation::Own(collation))
}

/// What is known of a column of a table.
fn of_table(table: &Table, place: Place) -> ColumnFacts {
    if table.is_rowid(place) {
        return ColumnFacts {
            nullable: false,
            affinity: Fact::Known(Some(Affinity::Integer)),
            collation: Fact::Known(ColumnCollation::Rowid),
            values: ValueDomain::INTEGER,
            is_mixed: false,
        };
    }
    let Some(column) = table.at(place) else { return ColumnFacts::UNKNOWN };
    match table.kind {
        TableKind::Table | TableKind::Shadow => ColumnFacts {
            nullable: !column.not_null,
            affinity: Fact::Known(Some(column.affinity)),
            collation: own_collation(column.collation.clone()),
            values: place.position().map_or(ValueDomain::ANY, |at| table.values(at)),
            is_mixed: false,
        },
        // The module gives what it likes, whatever type and constraint it declares.
        TableKind::Virtual => {
            ColumnFacts { affinity: Fact::Known(Some(column.affinity)), ..ColumnFacts::UNKNOWN }
        }
        TableKind::View => ColumnFacts::UNKNOWN,
    }
}

#[cfg(test)]
mod tests;
