//! What in a query follows SQLite's plan although the query's own rows need not show it.
//!
//! A relation of FROM whose rows depend on a plan ([`crate::sensitive`]) stays what it is only while the query around
//! reads the same columns of it, since SQLite computes no others, and while SQLite puts it into that query or does
//! not. A comparison with a column that a compound gives different affinities depends on whether SQLite moves the
//! comparison into the compound. A CTE that is read more than once is computed once; its copies are planned.

use std::collections::{HashMap, HashSet};

use sqlgauge_sql::derive::{Fact, Facts};
use sqlgauge_sql::schema::{Collation, Schema, TableId, TableKind};
use sqlgauge_sql::tree::{
    Body, CteId, Expr, From, Join, JoinKind, OrderTerm, Place, Query, Relation, RelationId, RelationSource,
    Select,
};
use sqlgauge_sql::visit::{Visitor, children, walk_query};

use crate::beside::{each_comparison, leaves, texts};
use crate::context::Position;
use crate::sensitive::{Sensitivity, sensitivity};
use crate::tools;

/// The views and common table expressions whose rows depend on a plan.
#[derive(Debug, Clone, Default)]
pub(crate) struct PlannedNames {
    views: Vec<TableId>,
    ctes: Vec<CteId>,
    /// Common table expressions with a mixed column: whether SQLite moves comparisons into one depends on how often it
    /// is read.
    mixed: Vec<CteId>,
}

impl PlannedNames {
    /// The views that a query reads.
    pub(crate) fn of(query: &Query, schema: &Schema) -> Self {
        let mut read = TablesRead::default();
        walk_query(&mut read, query);
        let mut names = Self::default();
        for id in read.tables {
            let is_view = schema.table(id).is_some_and(|table| table.kind == TableKind::View);
            let view = schema.definition(id).and_then(|definition| definition.view.as_ref());
            if let (true, Some(view)) = (is_view, view)
                && names.shows(view, &Facts::of(view, schema))
            {
                names.views.push(id);
            }
        }
        names
    }

    /// Notes what the common table expressions of a query depend on.
    pub(crate) fn add_ctes(&mut self, query: &Query, facts: &Facts<'_>) {
        for cte in &query.ctes {
            // What it reads may stand in a WITH of its own.
            self.add_ctes(&cte.query, facts);
            if !self.mixed.contains(&cte.id) && facts.cte_mixes(cte.id) {
                self.mixed.push(cte.id);
            }
            if !self.ctes.contains(&cte.id) && self.shows(&cte.query, facts) {
                self.ctes.push(cte.id);
            }
        }
    }

    /// Whether the rows of a query that is read by another depend on a plan, its own or that of what it reads.
    fn shows(&self, query: &Query, facts: &Facts<'_>) -> bool {
        sensitivity(query, Position::Derived, facts) != Sensitivity::None
            || selects(&query.body).into_iter().any(|select| {
                let from = select.from.iter().flat_map(From::relations);
                from.into_iter().any(|relation| self.depends(relation, facts))
            })
    }

    /// Whether rows depend on where in a chain of joins a join in brackets stands. SQLite reads one that does not come
    /// first as a subquery, which reads all columns of what is in it.
    pub(crate) fn follow_brackets(&self, join: &Join, facts: &Facts<'_>) -> bool {
        let in_brackets = |from: &From| {
            let is_join = matches!(from, From::Join(_));
            is_join && from.relations().into_iter().any(|relation| self.depends(relation, facts))
        };
        in_brackets(&join.right)
            || match &join.left {
                From::Join(left) if matches!(left.kind, JoinKind::Inner | JoinKind::Cross) => {
                    self.follow_brackets(left, facts)
                }
                left => in_brackets(left),
            }
    }

    fn depends(&self, relation: &Relation, facts: &Facts<'_>) -> bool {
        match &relation.source {
            RelationSource::Derived(query) => self.shows(query, facts),
            RelationSource::Cte(id) => self.ctes.contains(id),
            RelationSource::Table(id) => self.views.contains(id),
            RelationSource::Function { .. } | RelationSource::Catalog => false,
        }
    }
}

#[derive(Default)]
struct TablesRead {
    tables: HashSet<TableId>,
}

impl Visitor for TablesRead {
    fn relation(&mut self, relation: &Relation) {
        if let RelationSource::Table(id) = relation.source {
            self.tables.insert(id);
        }
    }
}

/// How a query reads a relation whose rows depend on a plan.
#[derive(Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property of its own")]
struct Reading {
    columns: Vec<Place>,
    /// The outer joins that it stands in, innermost first, and whether it does so on their right.
    outer_joins: Vec<(JoinKind, bool)>,
    /// How many brackets it stands in.
    brackets: usize,
    /// SQLite puts a subquery with a LIMIT into a query that only passes its columns on or sorts them; what else the
    /// query does decides whether.
    is_lone: bool,
    is_filtered: bool,
    is_distinct: bool,
    is_flat: bool,
    is_limited: bool,
    order_by: Vec<OrderTerm>,
}

/// What must stay as it is in a query and in the subqueries of its expressions.
#[derive(Debug, Default)]
pub(crate) struct Planned {
    relations: Vec<(RelationId, Reading)>,
    /// The common table expressions that are read and follow the plan, as often as they are read.
    ctes: Vec<CteId>,
    /// How many comparisons with a mixed column stand in the query's own conditions, and in those of the subqueries in
    /// its clauses.
    mixed: [usize; 2],
}

impl Planned {
    /// What there is in a query.
    pub(crate) fn of(query: &Query, names: &PlannedNames, facts: &Facts<'_>) -> Self {
        let mut planned = Self::default();
        if !names.ctes.is_empty() || !names.mixed.is_empty() {
            planned.ctes = ctes_read(query);
            planned.ctes.retain(|id| names.ctes.contains(id) || names.mixed.contains(id));
            planned.ctes.sort_unstable();
        }
        let mut scope = |select: &Select, around: &Query, depth: usize| {
            planned.mixed[depth] += mixed_comparisons(select, facts);
            for relation in select.from.iter().flat_map(From::relations) {
                if let RelationSource::Derived(inner) = &relation.source {
                    let inner = selects(&inner.body).into_iter();
                    planned.mixed[1] += inner.map(|inner| mixed_comparisons(inner, facts)).sum::<usize>();
                }
                if !names.depends(relation, facts) {
                    continue;
                }
                let reading = Reading {
                    columns: columns_read(query, relation.id),
                    outer_joins: select.from.iter().flat_map(|from| outer_joins(from, relation.id)).collect(),
                    brackets: select.from.as_ref().map_or(0, |from| brackets(from, relation.id)),
                    is_lone: tools::single_relation(select).is_some(),
                    is_filtered: select.filter.is_some(),
                    is_distinct: select.distinct,
                    is_flat: tools::is_flat(select),
                    is_limited: around.limit.is_some() || around.offset.is_some(),
                    order_by: around.order_by.clone(),
                };
                planned.relations.push((relation.id, reading));
            }
        };
        for select in selects(&query.body) {
            scope(select, query, 0);
            for expr in exprs(select) {
                each_subquery(expr, &mut |inner| {
                    for select in selects(&inner.body) {
                        scope(select, inner, 1);
                    }
                });
            }
        }
        planned
    }

    /// Whether there is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.relations.is_empty() && self.ctes.is_empty() && self.mixed == [0, 0]
    }

    /// Whether all that is still there in the changed query is as it was in the query before.
    pub(crate) fn stays(
        &self,
        before: &Query,
        query: &Query,
        names: &PlannedNames,
        facts: &Facts<'_>,
    ) -> bool {
        let now = Self::of(query, names, facts);
        let declared = tools::declared(query);
        let is_as_before =
            |(id, reading): &(RelationId, Reading)| match now.relations.iter().find(|(own, _)| own == id) {
                Some((_, own)) if own.is_lone || reading.is_lone => own == reading,
                Some((_, own)) => {
                    own.columns == reading.columns
                        && own.outer_joins == reading.outer_joins
                        && own.brackets == reading.brackets
                }
                None => !declared.contains(id),
            };
        // What stood further inside was read by what stood around it there, and sorted by that.
        let known = tools::declared(before);
        let reads_as_before = |(id, own): &(RelationId, Reading)| {
            let stood_inside = known.contains(id) && self.relations.iter().all(|(other, _)| other != id);
            let sorted_as_before = || {
                let order = order_around(before, *id);
                !own.is_lone || order.is_empty() || order == own.order_by
            };
            !stood_inside || (own.columns == columns_read(before, *id) && sorted_as_before())
        };
        // A common table expression that is read no more was put where it was read, by a rule that looks at how often.
        let is_still_read = |id: &&CteId| now.ctes.contains(id);
        let same_reads = self.ctes.iter().filter(is_still_read).eq(&now.ctes);
        self.mixed == now.mixed
            && same_reads
            && self.relations.iter().all(is_as_before)
            && now.relations.iter().all(reads_as_before)
    }
}

/// The columns of a relation that a query reads.
fn columns_read(query: &Query, relation: RelationId) -> Vec<Place> {
    let mut columns = tools::columns_read(query, relation);
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// By what the query in whose FROM clause a relation stands is sorted.
fn order_around(query: &Query, relation: RelationId) -> Vec<OrderTerm> {
    struct Around {
        relation: RelationId,
        order: Vec<OrderTerm>,
    }
    impl Visitor for Around {
        fn query(&mut self, query: &Query) {
            let from = selects(&query.body).into_iter().filter_map(|select| select.from.as_ref());
            if from.flat_map(From::relations).any(|own| own.id == self.relation) {
                self.order.clone_from(&query.order_by);
            }
        }
    }
    let mut around = Around { relation, order: Vec::new() };
    walk_query(&mut around, query);
    around.order
}

/// The outer joins that a relation of the clause stands in, innermost first, and whether it does so on their right.
fn outer_joins(from: &From, relation: RelationId) -> Vec<(JoinKind, bool)> {
    let mut found = Vec::new();
    let mut from = from;
    while let From::Join(join) = from {
        let is_right = join.right.relations().iter().any(|own| own.id == relation);
        if !matches!(join.kind, JoinKind::Inner | JoinKind::Cross) {
            found.push((join.kind, is_right));
        }
        from = if is_right { &join.right } else { &join.left };
    }
    found.reverse();
    found
}

/// How many joins in brackets a relation of the clause stands in.
fn brackets(from: &From, relation: RelationId) -> usize {
    let From::Join(join) = from else { return 0 };
    if !join.right.relations().iter().any(|own| own.id == relation) {
        return brackets(&join.left, relation);
    }
    usize::from(matches!(join.right, From::Join(_))) + brackets(&join.right, relation)
}

/// The SELECTs of a body.
fn selects(body: &Body) -> Vec<&Select> {
    match body {
        Body::Select(select) => vec![select],
        Body::SetOperation { left, right, .. } => {
            let mut all = selects(left);
            all.extend(selects(right));
            all
        }
        Body::Values(_) => Vec::new(),
    }
}

fn exprs(select: &Select) -> Vec<&Expr> {
    let mut all = select.from.as_ref().map(tools::on_exprs).unwrap_or_default();
    all.extend(select.outputs.iter().map(|output| &output.expr));
    all.extend(select.filter.iter().chain(&select.group_by).chain(&select.having));
    all
}

fn each_subquery(expr: &Expr, visit: &mut dyn FnMut(&Query)) {
    if let Expr::InQuery { query, .. } | Expr::Exists { query, .. } | Expr::Scalar(query) = expr {
        visit(query);
    }
    children(expr, &mut |child| each_subquery(child, visit));
}

/// How many comparisons in WHERE and ON have an effect that depends on where SQLite evaluates them.
pub(crate) fn mixed_comparisons(select: &Select, facts: &Facts<'_>) -> usize {
    let Some(from) = &select.from else { return 0 };
    let mixes = from.relations().iter().any(|relation| facts.mixes(relation.id));
    let mut count = 0;
    for condition in tools::on_exprs(from).into_iter().chain(&select.filter) {
        each_mixed(condition, mixes, facts, &mut count);
    }
    count
}

fn each_mixed(expr: &Expr, mixes: bool, facts: &Facts<'_>, count: &mut usize) {
    if mixes {
        each_comparison(expr, &mut |left, right| *count += usize::from(is_mixed(left, right, facts)));
    }
    *count += usize::from(is_sought_otherwise(expr, facts));
    children(expr, &mut |child| each_mixed(child, mixes, facts, count));
}

/// Whether it is IN with a subquery whose results bring a collation that is not the value's. SQLite compares by it, but
/// where it looks the results up in an index of the value, it does so by the value's.
fn is_sought_otherwise(expr: &Expr, facts: &Facts<'_>) -> bool {
    let Expr::InQuery { expr: value, query, .. } = expr else { return false };
    let values = match value.as_ref() {
        Expr::Row(list) => list.as_slice(),
        single => std::slice::from_ref(single),
    };
    let is_other = |(value, result): (&Expr, &Expr)| {
        let own = match facts.operand(value).collating {
            Fact::Known(own) => Fact::Known(own.map_or(Collation::Binary, |own| own.collation)),
            Fact::Unknown => Fact::Unknown,
        };
        let used = facts.comparison(value, result).collation;
        (used != own || own == Fact::Unknown) && texts(facts, [value]) && texts(facts, [result])
    };
    let results = leaves(&query.body).into_iter().flatten();
    results.into_iter().any(|results| values.iter().zip(results).any(is_other))
}

/// Whether what a comparison does depends on where SQLite evaluates it.
pub(crate) fn is_mixed(left: &Expr, right: &Expr, facts: &Facts<'_>) -> bool {
    (facts.is_mixed(left) || facts.is_mixed(right)) && !facts.comparison(left, right).is_known()
}

/// The common table expressions of a query that SQLite computes once, since they are read more than once: a reader
/// that is itself read twice counts twice.
pub(crate) fn shared_ctes(query: &Query) -> HashSet<CteId> {
    let mut reads: HashMap<CteId, usize> = HashMap::new();
    for id in ctes_read(query) {
        *reads.entry(id).or_default() += 1;
    }
    // Readers come after what they read.
    for cte in query.ctes.iter().rev() {
        let times = reads.get(&cte.id).copied().unwrap_or(0);
        for id in ctes_read(&cte.query) {
            let count = reads.entry(id).or_default();
            // It stands in the text once already.
            *count = count.saturating_add(times.saturating_sub(1));
        }
    }
    reads.into_iter().filter(|(_, count)| *count > 1).map(|(id, _)| id).collect()
}

/// The common table expressions that are read where the plan shows.
pub(crate) fn ctes_in_plans(query: &Query, facts: &Facts<'_>) -> HashSet<CteId> {
    let mut shown = Shown { facts, ctes: HashSet::new(), any: false };
    walk_query(&mut shown, query);
    for cte in query.ctes.iter().rev() {
        if shown.ctes.contains(&cte.id) {
            shown.ctes.extend(ctes_read(&cte.query));
        }
    }
    shown.ctes
}

/// Whether the plan shows in a query or in a query inside it.
pub(crate) fn plan_shows_anywhere(query: &Query, facts: &Facts<'_>) -> bool {
    let mut shown = Shown { facts, ctes: HashSet::new(), any: false };
    walk_query(&mut shown, query);
    shown.any
}

struct Shown<'f, 'a> {
    facts: &'f Facts<'a>,
    ctes: HashSet<CteId>,
    any: bool,
}

impl Shown<'_, '_> {
    fn look(&mut self, query: &Query, position: Position) {
        if sensitivity(query, position, self.facts) == Sensitivity::Rows {
            self.any = true;
            self.ctes.extend(ctes_read(query));
        }
    }
}

impl Visitor for Shown<'_, '_> {
    fn query(&mut self, query: &Query) {
        self.look(query, Position::Derived);
    }

    fn body(&mut self, body: &Body) {
        // The operands of a compound are queries of their own.
        if let Body::SetOperation { left, right, .. } = body {
            for operand in [left, right] {
                if let Body::Select(_) = operand.as_ref() {
                    self.look(&Query::of(operand.as_ref().clone()), Position::Operand);
                }
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        if let Expr::Scalar(query) = expr {
            self.look(query, Position::Scalar);
        }
    }
}

fn ctes_read(query: &Query) -> Vec<CteId> {
    let mut found = CtesRead(Vec::new());
    walk_query(&mut found, query);
    found.0
}

struct CtesRead(Vec<CteId>);

impl Visitor for CtesRead {
    fn relation(&mut self, relation: &Relation) {
        if let RelationSource::Cte(id) = relation.source {
            self.0.push(id);
        }
    }
}

/// Whether the statement has VALUES of several rows: SQLite makes a loop of them or a table, depending on whether a
/// WITH clause stands before.
pub(crate) fn has_value_rows(query: &Query) -> bool {
    let mut found = ValueRows(false);
    walk_query(&mut found, query);
    found.0
}

struct ValueRows(bool);

impl Visitor for ValueRows {
    fn body(&mut self, body: &Body) {
        self.0 |= matches!(body, Body::Values(rows) if rows.len() > 1);
    }
}
