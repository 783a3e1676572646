//! Rewrites a query over the old schema into one over the new.
//!
//! Every instance of a table is replaced by the table's image ([`crate::step::Image`]), and its columns by what they are
//! there. What is not needed is not put in: of the fragments of a table only those whose columns the query reads; of two
//! tables that became one, one, where the query joins them as they were joined.

mod count;
mod joined;
mod multiplicity;
mod place;
mod presence;

use std::collections::{BTreeSet, HashMap, HashSet};

use sqlgauge_base::budget;
use sqlgauge_sql::Aliases;
use sqlgauge_sql::canonical::{conjunction, conjuncts_of};
use sqlgauge_sql::tree::{
    Body, ColumnRef, CteId, Expr, IndexHint, Place, Query, Relation, RelationId, RelationSource, Select,
};
use sqlgauge_sql::visit::{Rewriter, Visitor, change_exprs, rewrite_query, walk_query};

use self::presence::Presences;
use crate::layout::EvolveReason;
use crate::step::{Image, Projection, ROW, Way};

/// Why a query has no form over the new schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: EvolveReason,
    /// In words, with names.
    pub(crate) detail: String,
}

/// The query over the new schema; `aliases` follow.
///
/// # Errors
/// [`Refusal`], where it needs what is gone or cannot be said.
pub(crate) fn rewrite(query: &Query, aliases: &mut Aliases, step: Way<'_>) -> Result<Query, Refusal> {
    let outcome = budget::within(budget::ANALYSIS, || {
        let mut new = query.clone();
        let mut rewriting = Rewriting::new(query, aliases, step);
        rewrite_query(&mut rewriting, &mut new);
        let refused = rewriting.refused.take();
        let substitutions = std::mem::take(&mut rewriting.substitutions);
        let mut presences = std::mem::take(&mut rewriting.presences);
        // What the columns of the old relations are.
        change_exprs(&mut new, |expr| {
            if let Expr::Column(column) = expr
                && let Some(column) = substitutions.get(column)
            {
                *expr = column.clone();
            }
        });
        rewrite_query(&mut presences, &mut new);
        match refused {
            Some(refusal) => Err(refusal),
            None => Ok(new),
        }
    });
    outcome
        .unwrap_or_else(|error| Err(Refusal { reason: EvolveReason::TooComplex, detail: error.to_string() }))
}

struct Rewriting<'a> {
    step: Way<'a>,
    aliases: &'a mut Aliases,
    /// Columns of each relation that the query reads.
    used: HashMap<RelationId, BTreeSet<u32>>,
    /// Relations whose rowid the query reads.
    rowids: HashSet<RelationId>,
    /// Relations whose rows may come any number of times.
    repeatable: HashSet<RelationId>,
    /// Aggregates that count the rows of a relation, by the relation.
    counted: HashMap<RelationId, u32>,
    /// Whether what is placed is joined by a FULL JOIN.
    under_full_join: bool,
    /// Relations that are of the new schema already.
    done: HashSet<RelationId>,
    /// What the columns of the old relations are.
    substitutions: HashMap<ColumnRef, Expr>,
    /// Conditions that rows of new tables are rows of old ones.
    presences: Presences,
    next_relation: u32,
    next_cte: u32,
    /// The next of `T1`, `T2`, … if relations of the query have such aliases.
    next_alias: Option<u32>,
    refused: Option<Refusal>,
}

impl<'a> Rewriting<'a> {
    fn new(query: &Query, aliases: &'a mut Aliases, step: Way<'a>) -> Self {
        let mut survey = Survey::default();
        walk_query(&mut survey, query);
        let numbered =
            aliases.values().filter_map(|alias| alias.strip_prefix(['T', 't'])?.parse::<u32>().ok());
        let next_alias = numbered.max().map(|number| number.saturating_add(1));
        Self {
            step,
            aliases,
            used: survey.used,
            rowids: survey.rowids,
            repeatable: multiplicity::repeatable(query),
            counted: HashMap::new(),
            under_full_join: false,
            done: HashSet::new(),
            substitutions: HashMap::new(),
            presences: Presences::default(),
            next_relation: survey.relations,
            next_cte: survey.ctes,
            next_alias,
            refused: None,
        }
    }

    fn refuse(&mut self, reason: EvolveReason, detail: String) {
        self.refused.get_or_insert(Refusal { reason, detail });
    }

    fn new_relation(&mut self) -> RelationId {
        self.next_relation += 1;
        RelationId(self.next_relation - 1)
    }

    /// A further relation beside others: it has a number as alias where they have.
    fn further_relation(&mut self) -> RelationId {
        let id = self.new_relation();
        if let Some(number) = self.next_alias {
            self.aliases.insert(id, format!("T{number}"));
            self.next_alias = Some(number.saturating_add(1));
        }
        id
    }

    /// The image of a relation of the old schema, with the table's position.
    fn image(&self, relation: &Relation) -> Option<(usize, &'a Image)> {
        let RelationSource::Table(id) = relation.source else { return None };
        if self.done.contains(&relation.id) {
            return None;
        }
        Some((id.index(), &self.step.forth.images[id.index()]))
    }

    fn used(&self, relation: RelationId) -> BTreeSet<u32> {
        self.used.get(&relation).cloned().unwrap_or_default()
    }

    fn table_name(&self, table: usize) -> &'a str {
        &self.step.old.tables()[table].name
    }

    /// The relation of a new table that takes the place of an old one.
    fn source(&mut self, to: usize) -> RelationSource {
        if let Some(id) = self.step.new.id_at(to) {
            RelationSource::Table(id)
        } else {
            self.refuse(EvolveReason::NotExpressible, format!("table number {to} does not exist"));
            RelationSource::Catalog
        }
    }

    /// A column of a new relation. A new relation may have the number of the old one that it takes the place of: as long as old
    /// columns are to be put in, the column has a number of its own.
    fn new_column(&mut self, column: ColumnRef) -> Expr {
        let apart = ColumnRef { relation: self.new_relation(), ..column };
        self.substitutions.insert(apart, Expr::Column(column));
        Expr::Column(apart)
    }

    /// The columns of `relation` are those of the projection, whose row is `row`.
    fn substitute(&mut self, relation: RelationId, table: usize, projection: &Projection, row: RelationId) {
        for at in self.used(relation) {
            if let Some(mut expr) = projection.columns.get(at as usize).cloned().flatten() {
                sqlgauge_sql::visit::rewrite_expr(&mut Row(row), &mut expr);
                self.substitutions.insert(ColumnRef::at(relation, at), expr);
            } else {
                let table = &self.step.old.tables()[table];
                let name = table.column(at).map_or("", |column| column.name.as_str());
                self.refuse(EvolveReason::NeedsRemoved, format!("{}.{name} is gone", table.name));
            }
        }
    }

    fn hint(&self, hint: Option<&IndexHint>, to: usize) -> Option<IndexHint> {
        match hint? {
            IndexHint::None => Some(IndexHint::None),
            IndexHint::By(name) => {
                let indexes = &self.step.new.tables().get(to)?.indexes;
                let is_there = |other: &String| other.eq_ignore_ascii_case(name);
                let exists = indexes.iter().any(|index| index.name.as_ref().is_some_and(is_there));
                exists.then(|| IndexHint::By(name.clone()))
            }
        }
    }

    fn select(&mut self, select: &mut Select) {
        let Some(from) = select.from.take() else { return };
        count::prepare(self, select, &from);
        let mut conditions = Vec::new();
        let from = self.join_merged(from, &mut select.filter, &mut conditions);
        let from = self.place(from, &mut conditions);
        select.from = Some(from);
        add_conditions(&mut select.filter, conditions);
    }
}

impl Rewriter for Rewriting<'_> {
    fn enter_query(&mut self, query: &Query) {
        count::look(self, query);
    }

    fn body(&mut self, body: &mut Body) {
        if let Body::Select(select) = body {
            self.select(select);
        }
    }

    fn query(&mut self, query: &mut Query) {
        count::finish(self, query);
    }
}

/// Adds conditions to a WHERE or ON clause.
fn add_conditions(clause: &mut Option<Expr>, conditions: Vec<Expr>) {
    let mut all = clause.take().map_or_else(Vec::new, conjuncts_of);
    all.extend(conditions);
    *clause = conjunction(all);
}

/// What is known of a query before it is rewritten.
#[derive(Default)]
struct Survey {
    used: HashMap<RelationId, BTreeSet<u32>>,
    rowids: HashSet<RelationId>,
    relations: u32,
    ctes: u32,
}

impl Visitor for Survey {
    fn query(&mut self, query: &Query) {
        for cte in &query.ctes {
            self.ctes = self.ctes.max(cte.id.0.saturating_add(1));
        }
    }

    fn relation(&mut self, relation: &Relation) {
        self.relations = self.relations.max(relation.id.0.saturating_add(1));
    }

    fn expr(&mut self, expr: &Expr) {
        if let Expr::Column(column) = expr {
            match column.column {
                Place::At(at) => {
                    self.used.entry(column.relation).or_default().insert(at);
                }
                Place::Rowid => {
                    self.rowids.insert(column.relation);
                }
            }
        }
    }
}

/// Puts a relation in the place of [`ROW`].
struct Row(RelationId);

impl Rewriter for Row {
    fn expr(&mut self, expr: &mut Expr) {
        if let Expr::Column(column) = expr
            && column.relation == ROW
        {
            column.relation = self.0;
        }
    }
}

/// Gives the relations and CTEs of a query other numbers.
struct Shifted {
    relations: u32,
    ctes: u32,
}

impl Rewriter for Shifted {
    fn query(&mut self, query: &mut Query) {
        query.ctes.iter_mut().for_each(|cte| cte.id = CteId(cte.id.0 + self.ctes));
    }

    fn relation(&mut self, relation: &mut Relation) {
        relation.id = RelationId(relation.id.0 + self.relations);
        if let RelationSource::Cte(id) = &mut relation.source {
            *id = CteId(id.0 + self.ctes);
        }
    }

    fn expr(&mut self, expr: &mut Expr) {
        if let Expr::Column(column) = expr {
            column.relation = RelationId(column.relation.0 + self.relations);
        }
    }
}

impl Rewriting<'_> {
    /// A closed query with numbers of its own.
    fn fresh(&mut self, query: &Query) -> Query {
        let mut survey = Survey::default();
        walk_query(&mut survey, query);
        let mut new = query.clone();
        rewrite_query(&mut Shifted { relations: self.next_relation, ctes: self.next_cte }, &mut new);
        self.next_relation += survey.relations;
        self.next_cte += survey.ctes;
        new
    }
}
