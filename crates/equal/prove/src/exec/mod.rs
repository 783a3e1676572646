//! Queries executed on symbolic rows.
//!
//! # Contract
//! The rows that come out are those that SQLite permits, in no order but that of their keys. Where SQL leaves a choice,
//! it is made by priorities that depend on the rows alone, so that whatever SQLite may choose is some priorities'
//! result, and equal queries under equal priorities have equal results.

mod compound;
mod concat;
mod group;
mod join;
mod order;
mod recursion;
mod window;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use sqlgauge_sql::derive::{Fact, Facts};
use sqlgauge_sql::reads;
use sqlgauge_sql::schema::{Affinity, Collation, TableKind};
use sqlgauge_sql::tree::{
    Body, ColumnRef, CteId, Expr, OrderTerm, Owner, Place, Query, Relation, RelationId, RelationSource,
    Select, WindowCall,
};
use sqlgauge_sql::visit::{Visitor, walk_query};

pub(crate) use self::group::Group;
use self::order::Choice;
pub(crate) use self::order::{LimitClause, SortDirection};
use super::defect::EncoderDefect;
use super::ir::{Term, Terms};
use super::value::SymbolicValue;
use super::world::{Stop, SymbolicRow, SymbolicWorld};

/// What the columns of some relations are in one row.
#[derive(Debug)]
struct Scope {
    bindings: Vec<(RelationId, Rc<[SymbolicValue]>)>,
    outer: Option<Rc<Scope>>,
}

/// The groups of the queries around, innermost first.
#[derive(Debug)]
struct Around {
    group: Option<Rc<Group>>,
    outer: Option<Rc<Around>>,
}

/// What an expression is evaluated in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Env {
    scope: Option<Rc<Scope>>,
    group: Option<Rc<Group>>,
    around: Option<Rc<Around>>,
    windows: Option<Rc<HashMap<WindowCall, SymbolicValue>>>,
}

impl Env {
    /// The value of a column, if it is known here.
    pub(crate) fn column(&self, column: ColumnRef) -> Option<SymbolicValue> {
        let mut scope = self.scope.as_ref();
        while let Some(here) = scope {
            if let Some((_, values)) = here.bindings.iter().find(|(id, _)| *id == column.relation) {
                return values.get(place_in(values, column)).copied();
            }
            scope = here.outer.as_ref();
        }
        None
    }

    /// The group of the query that an aggregate belongs to.
    pub(crate) fn group_of(&self, owner: Owner) -> Option<Rc<Group>> {
        let Some(further) = owner.0.checked_sub(1) else { return self.group.clone() };
        let mut around = self.around.as_ref()?;
        for _ in 0..further {
            around = around.outer.as_ref()?;
        }
        around.group.clone()
    }

    /// The value of a window function in this row.
    pub(crate) fn window(&self, call: &WindowCall) -> Option<SymbolicValue> {
        self.windows.as_ref()?.get(call).copied()
    }

    /// This, with rows of further relations.
    #[must_use]
    pub(crate) fn with(&self, bindings: Vec<(RelationId, Rc<[SymbolicValue]>)>) -> Self {
        let scope = Scope { bindings, outer: self.scope.clone() };
        Self { scope: Some(Rc::new(scope)), group: None, around: self.around.clone(), windows: None }
    }

    /// What a query inside sees.
    fn inside(&self) -> Self {
        let around = Around { group: self.group.clone(), outer: self.around.clone() };
        Self { scope: self.scope.clone(), group: None, around: Some(Rc::new(around)), windows: None }
    }
}

/// Where a row of its relation has the column: a rowid comes behind the columns of a table.
pub(crate) fn place_in(row: &[SymbolicValue], column: ColumnRef) -> usize {
    column.column.position().map_or(row.len().saturating_sub(1), |at| at as usize)
}

/// A row with what it is sorted by.
#[derive(Debug, Clone)]
pub(crate) struct Ranked {
    pub present: Term,
    pub values: Rc<[SymbolicValue]>,
    /// Its sort keys.
    pub keys: Vec<SymbolicValue>,
}

impl Ranked {
    fn without_keys(row: SymbolicRow) -> Self {
        Self { present: row.present, values: row.values, keys: Vec::new() }
    }
}

/// The rows without their sort keys.
fn unranked(rows: Vec<Ranked>) -> Vec<SymbolicRow> {
    rows.into_iter().map(|row| SymbolicRow { present: row.present, values: row.values }).collect()
}

/// The rows of a query before its limit.
#[derive(Debug, Clone)]
pub(crate) struct Executed {
    pub rows: Vec<Ranked>,
    /// How their keys sort them.
    pub directions: Vec<SortDirection>,
    /// Which of them are taken.
    pub cut: Option<LimitClause>,
}

/// The execution of one statement.
pub(crate) struct Run<'w, 's> {
    /// What is shared with the other statement.
    pub world: &'w mut SymbolicWorld<'s>,
    /// What is known of the statement.
    pub facts: Rc<Facts<'s>>,
    ctes: HashMap<CteId, Rc<Vec<SymbolicRow>>>,
    correlated_ctes: HashSet<CteId>,
    cached: HashMap<Query, Rc<Vec<SymbolicRow>>>,
    sites: HashMap<Query, usize>,
}

impl<'w, 's> Run<'w, 's> {
    /// Executes a statement. A cut of the sorted rows is left to the caller where `keeps_cut` and nothing is left out
    /// before it; else the rows are those that are taken.
    ///
    /// # Errors
    /// [`Stop`].
    pub(crate) fn statement(
        world: &'w mut SymbolicWorld<'s>,
        query: &Query,
        keeps_cut: bool,
    ) -> Result<Executed, Stop> {
        let mut run = Run::of(world, query);
        let executed = run.query(query, &Env::default())?;
        if executed.cut.as_ref().is_none_or(|cut| keeps_cut && cut.keeps_the_first()) {
            return Ok(executed);
        }
        let directions = executed.directions.clone();
        let rows = run.limited(query, executed)?;
        Ok(Executed { rows, directions, cut: None })
    }

    fn of(world: &'w mut SymbolicWorld<'s>, query: &Query) -> Self {
        let facts = Rc::new(Facts::of(query, world.schema));
        Run::with_facts(world, facts)
    }

    /// The execution of expressions of which those facts are known.
    pub(crate) fn with_facts(world: &'w mut SymbolicWorld<'s>, facts: Rc<Facts<'s>>) -> Self {
        Run {
            world,
            facts,
            ctes: HashMap::new(),
            correlated_ctes: HashSet::new(),
            cached: HashMap::new(),
            sites: HashMap::new(),
        }
    }

    /// The number of the place in the statement at which a choice is open.
    fn site(&mut self, query: &Query) -> usize {
        let next = self.sites.len();
        *self.sites.entry(query.clone()).or_insert(next)
    }

    fn query(&mut self, query: &Query, env: &Env) -> Result<Executed, Stop> {
        let env = env.inside();
        for cte in &query.ctes {
            let free = Free::of(&cte.query);
            if self.is_correlated(&free) {
                self.correlated_ctes.insert(cte.id);
            }
            let rows = if free.ctes.contains(&cte.id) {
                self.recursive(cte, &env)?
            } else {
                self.subquery(&cte.query, &env)?
            };
            self.ctes.insert(cte.id, rows);
        }
        let mut directions: Vec<SortDirection> = query.order_by.iter().map(SortDirection::of).collect();
        if self.world.has(EncoderDefect::NullsSortOtherwise) {
            directions.iter_mut().for_each(|direction| direction.nulls_first = !direction.nulls_first);
        }
        let rows = match &query.body {
            Body::Select(select) => self.select(select, &query.order_by, &env)?,
            body => {
                let rows = self.body(body, &env)?;
                self.ranked(rows, body, &query.order_by)?
            }
        };
        let cut = self.cut(query, &env)?;
        Ok(Executed { rows, directions, cut })
    }

    /// The rows of a query inside a statement, after its limit.
    pub(crate) fn subquery(&mut self, query: &Query, env: &Env) -> Result<Rc<Vec<SymbolicRow>>, Stop> {
        let is_correlated = self.is_correlated(&Free::of(query));
        if let Some(rows) = self.cached.get(query).filter(|_| !is_correlated) {
            return Ok(Rc::clone(rows));
        }
        let executed = self.query(query, env)?;
        let rows = Rc::new(unranked(self.limited(query, executed)?));
        if !is_correlated {
            self.cached.insert(query.clone(), Rc::clone(&rows));
        }
        Ok(rows)
    }

    fn is_correlated(&self, free: &Free) -> bool {
        !free.relations.is_empty() || free.ctes.iter().any(|cte| self.correlated_ctes.contains(cte))
    }

    /// A subquery as a value: of its first row, NULL without one.
    pub(crate) fn scalar(&mut self, query: &Query, env: &Env) -> Result<SymbolicValue, Stop> {
        let mut executed = self.query(query, env)?;
        if executed.cut.as_ref().is_some_and(|cut| !cut.keeps_the_first()) {
            let directions = executed.directions.clone();
            let rows = self.limited(query, executed)?;
            executed = Executed { rows, directions, cut: None };
        }
        let chosen = self.first_of(query, &executed)?;
        let mut value = self.world.terms.null();
        for (is_chosen, row) in chosen.into_iter().zip(&executed.rows) {
            value = self.world.terms.choose_value(is_chosen, row.values[0], value);
        }
        Ok(value)
    }

    fn select(&mut self, select: &Select, order_by: &[OrderTerm], env: &Env) -> Result<Vec<Ranked>, Stop> {
        let mut rows = self.joined_rows(select, env)?;
        if group::is_grouped(select, order_by) {
            rows = self.grouped(select, order_by, rows, env)?;
        }
        self.add_windows(select, order_by, &mut rows)?;
        self.world.check_size(rows.len())?;
        let mut ranked = Vec::new();
        for (present, env) in rows {
            let outputs = select.outputs.iter().map(|output| self.value(&output.expr, &env));
            let values: Vec<SymbolicValue> = outputs.collect::<Result<_, _>>()?;
            let keys = order_by.iter().map(|term| self.sort_key(&term.expr, select, &values, &env));
            let keys = keys.collect::<Result<_, _>>()?;
            ranked.push(Ranked { present, values: values.into(), keys });
        }
        if select.distinct {
            let is_output = |term: &OrderTerm| {
                matches!(term.expr, Expr::Output(_))
                    || select.outputs.iter().any(|output| output.expr == term.expr)
            };
            let collations: Vec<_> =
                select.outputs.iter().map(|output| self.facts.collation(&output.expr)).collect();
            self.keep_distinct(&mut ranked, &collations, order_by.iter().all(is_output))?;
        }
        Ok(ranked)
    }

    /// Leaves one of the rows that are equal by the collations of their columns: any, where texts differ or sort keys do.
    ///
    /// DISTINCT keeps the first of two such texts and UNION the last, as SQLite's plan has them. So a choice of a text stands
    /// for itself, and no other place in either query makes the same.
    fn keep_distinct(
        &mut self,
        rows: &mut Vec<Ranked>,
        collations: &[Fact<Collation>],
        fixes_keys: bool,
    ) -> Result<(), Stop> {
        let is_bytes = collations.iter().all(|collation| collation.is(&Collation::Binary));
        if is_bytes && fixes_keys {
            return self.make_distinct(rows, 0);
        }
        rows.retain(|row| row.present != Terms::FALSE);
        let mut classes = Vec::new();
        for row in rows.iter() {
            classes.push(self.class(&row.values, collations)?);
        }
        let name = if is_bytes { "key of DISTINCT".to_owned() } else { self.world.new_choice() };
        let presents: Vec<Term> = rows.iter().map(|row| row.present).collect();
        let contents = rows.iter().map(|row| [&row.values, row.keys.as_slice()].concat()).collect();
        let chosen = self.any_of_each(&Choice { name, contents, shared: classes }, &presents)?;
        rows.iter_mut().zip(chosen).for_each(|(row, is_chosen)| row.present = is_chosen);
        Ok(())
    }

    /// What is the same in rows that are equal.
    fn class(
        &mut self,
        values: &[SymbolicValue],
        collations: &[Fact<Collation>],
    ) -> Result<Vec<SymbolicValue>, Stop> {
        let values = values.iter().zip(collations);
        values.map(|(&value, collation)| self.collated(value, collation.as_ref())).collect()
    }

    fn sort_key(
        &mut self,
        expr: &Expr,
        select: &Select,
        values: &[SymbolicValue],
        env: &Env,
    ) -> Result<SymbolicValue, Stop> {
        match expr {
            Expr::Output(at) => {
                let output = select.outputs.get(*at as usize).ok_or_else(|| Stop::unsupported("output"))?;
                self.key(&output.expr, values[*at as usize])
            }
            Expr::Collate { expr, collation } => {
                let value = match expr.uncollated() {
                    Expr::Output(at) => {
                        values.get(*at as usize).copied().ok_or_else(|| Stop::unsupported("output"))?
                    }
                    expr => self.value(expr, env)?,
                };
                self.collated(value, Fact::Known(&Collation::from_name(collation)))
            }
            expr => {
                let value = self.value(expr, env)?;
                self.key(expr, value)
            }
        }
    }

    fn body(&mut self, body: &Body, env: &Env) -> Result<Vec<SymbolicRow>, Stop> {
        match body {
            Body::Select(select) => {
                let rows = self.select(select, &[], env)?;
                Ok(unranked(rows))
            }
            Body::Values(rows) => rows
                .iter()
                .map(|row| {
                    let values = self.values(row, env)?;
                    Ok(SymbolicRow { present: Terms::TRUE, values: values.into() })
                })
                .collect(),
            Body::SetOperation { operator, all, left, right } => {
                let (lefts, rights) = (self.body(left, env)?, self.body(right, env)?);
                self.world.check_size(lefts.len() + rights.len())?;
                if *all {
                    return Ok(lefts.into_iter().chain(rights).collect());
                }
                self.set_operation(*operator, body, lefts, rights)
            }
        }
    }

    /// Keeps the first of equal rows. Rows before `from` are distinct already.
    fn make_distinct(&mut self, rows: &mut Vec<Ranked>, from: usize) -> Result<(), Stop> {
        rows.retain(|row| row.present != Terms::FALSE);
        self.world.check_size(rows.len())?;
        let before: Vec<Ranked> = rows.clone();
        for (at, row) in rows.iter_mut().enumerate().skip(from) {
            self.world.check_size(0)?;
            let mut earlier = Vec::new();
            for other in &before[..at] {
                let same = self.world.terms.same_rows(&row.values, &other.values);
                let is_there = self.world.terms.and(other.present, same);
                let both = self.world.terms.and(is_there, row.present);
                self.settle_classes(both, &row.values, &other.values);
                earlier.push(is_there);
            }
            let terms = &mut self.world.terms;
            let is_repeated = terms.any(earlier);
            let is_first = terms.not(is_repeated);
            row.present = terms.and(row.present, is_first);
        }
        Ok(())
    }

    /// Of 1 and 1.0, which are equal, either may stay: what holds where that does not show.
    fn settle_classes(&mut self, is_same: Term, left: &[SymbolicValue], right: &[SymbolicValue]) {
        for (left, right) in left.iter().zip(right) {
            let terms = &mut self.world.terms;
            let same_class = terms.equal(left.is_integer, right.is_integer);
            let settled = terms.implies(is_same, same_class);
            if settled != Terms::TRUE {
                self.world.settled.push(settled);
            }
        }
    }

    /// Whether only equal texts count as equal.
    pub(crate) fn is_bytes(&self, expr: &Expr) -> bool {
        self.facts.collation(expr).is(&Collation::Binary)
    }

    /// Where a compound has integers in a column of REAL affinity, SQLite makes real numbers of them when the column is read, or does
    /// not, as its plan has it.
    fn check_read_back(&self, relation: RelationId, rows: &[SymbolicRow]) -> Result<(), Stop> {
        let Some(first) = rows.first() else { return Ok(()) };
        for at in 0..first.values.len() {
            let has_integers = rows.iter().any(|row| row.values[at].is_integer != Terms::FALSE);
            let column = Place::At(u32::try_from(at).map_err(|_| Stop::unsupported("column"))?);
            let affinity = self.facts.affinity(&Expr::Column(ColumnRef { relation, column }));
            let may_be_real = matches!(affinity, Fact::Unknown | Fact::Known(Some(Affinity::Real)));
            if has_integers && may_be_real {
                return Err(Stop::unsupported("integers beside real numbers in a compound"));
            }
        }
        Ok(())
    }

    /// The rows of a relation.
    fn relation(&mut self, relation: &Relation, env: &Env) -> Result<Rc<Vec<SymbolicRow>>, Stop> {
        match &relation.source {
            RelationSource::Table(id) => {
                if let Some(rows) = self.world.tables.get(id) {
                    return Ok(Rc::clone(rows));
                }
                let schema = self.world.schema;
                let is_view = schema.table(*id).is_some_and(|table| table.kind == TableKind::View);
                let view = schema
                    .definition(*id)
                    .and_then(|definition| definition.view.as_ref())
                    .filter(|_| is_view);
                let view = view.ok_or_else(|| Stop::unsupported("virtual table"))?;
                let rows = Run::of(self.world, view).subquery(view, &Env::default())?;
                self.check_read_back(relation.id, &rows)?;
                self.world.tables.insert(*id, Rc::clone(&rows));
                Ok(rows)
            }
            RelationSource::Derived(query) => {
                let rows = self.subquery(query, env)?;
                self.check_read_back(relation.id, &rows)?;
                Ok(rows)
            }
            RelationSource::Cte(id) => {
                let rows = self.ctes.get(id).cloned().ok_or_else(|| Stop::unsupported("recursive CTE"))?;
                self.check_read_back(relation.id, &rows)?;
                Ok(rows)
            }
            RelationSource::Function { name, .. } => Err(Stop::unsupported(name.clone())),
            RelationSource::Catalog => Err(Stop::unsupported("sqlite_schema")),
        }
    }
}

/// What a query reads that is not its own.
#[derive(Debug, Default)]
pub(crate) struct Free {
    /// Relations of queries around.
    pub relations: BTreeSet<RelationId>,
    /// CTEs of queries around.
    pub ctes: BTreeSet<CteId>,
}

impl Free {
    /// What that query reads that is not its own.
    pub(crate) fn of(query: &Query) -> Self {
        #[derive(Default)]
        struct Ctes {
            read: BTreeSet<CteId>,
            local: BTreeSet<CteId>,
        }
        impl Visitor for Ctes {
            fn query(&mut self, query: &Query) {
                self.local.extend(query.ctes.iter().map(|cte| cte.id));
            }
            fn relation(&mut self, relation: &Relation) {
                if let RelationSource::Cte(id) = relation.source {
                    self.read.insert(id);
                }
            }
        }
        let mut ctes = Ctes::default();
        walk_query(&mut ctes, query);
        Self {
            relations: reads::outer_columns(query).into_iter().map(|column| column.relation).collect(),
            ctes: ctes.read.difference(&ctes.local).copied().collect(),
        }
    }
}
