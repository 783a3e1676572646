//! GROUP BY, HAVING and aggregates.
//!
//! # Contract
//! Each row may be the first of its group; a group is there where its first row is. A column that is neither grouped
//! nor aggregated is that of the row with the single minimum or maximum, else of any row of the group.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use sqlgauge_sql::aggregates::has_displaced;
use sqlgauge_sql::derive::{Dependencies, has_aggregate};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::reads;
use sqlgauge_sql::tree::{Aggregate, Args, ColumnRef, Expr, OrderTerm, Owner, Query, RelationId, Select};
use sqlgauge_sql::visit::{Visitor, children, walk_query};

use super::{Env, Run, place_in};
use crate::ProofAssumption;
use crate::defect::EncoderDefect;
use crate::ir::{Sort, Term, Terms};
use crate::text::ValueShape;
use crate::value::{SymbolicValue, Truth};
use crate::world::Stop;

/// The rows of one group.
#[derive(Debug)]
pub(crate) struct Group {
    rows: Rc<Rows>,
    /// Which rows belong to it.
    members: Vec<Term>,
}

impl Group {
    /// What the expressions of an aggregate are evaluated in, row by row.
    pub(super) fn envs(&self) -> &[Env] {
        &self.rows.envs
    }

    /// The expressions that are equal within the group.
    pub(super) fn keys(&self) -> &[Expr] {
        &self.rows.keys
    }
}

/// The rows that are grouped, with what aggregates take from them.
#[derive(Debug)]
struct Rows {
    envs: Vec<Env>,
    keys: Vec<Expr>,
    values: RefCell<HashMap<Expr, Rc<Vec<SymbolicValue>>>>,
    filters: RefCell<HashMap<Expr, Rc<Vec<Truth>>>>,
}

/// A group by its first row: whether it is there, and which rows belong to it.
type Found = (Option<usize>, Term, Vec<Term>);

/// Whether the SELECT has groups.
pub(super) fn is_grouped(select: &Select, order_by: &[OrderTerm]) -> bool {
    !select.group_by.is_empty()
        || select.having.as_ref().is_some_and(has_aggregate)
        || level_exprs(select, order_by).any(has_aggregate)
}

/// The expressions that are evaluated for each group.
fn level_exprs<'e>(select: &'e Select, order_by: &'e [OrderTerm]) -> impl Iterator<Item = &'e Expr> {
    let outputs = select.outputs.iter().map(|output| &output.expr);
    outputs.chain(&select.having).chain(order_by.iter().map(|term| &term.expr))
}

/// What the expressions of a level take from single rows of a group.
struct Bare<'s> {
    select: &'s Select,
    relations: Vec<RelationId>,
    grouped: Vec<&'s Expr>,
    columns: Vec<ColumnRef>,
    extremes: Vec<Aggregate>,
    /// Whether an aggregate of the level may stand in a subquery, where `extremes` has it not.
    has_displaced: bool,
}

impl Bare<'_> {
    fn add(&mut self, column: ColumnRef) {
        if self.relations.contains(&column.relation) && !self.columns.contains(&column) {
            self.columns.push(column);
        }
    }

    fn visit(&mut self, expr: &Expr) {
        if self.grouped.contains(&expr) {
            return;
        }
        match expr {
            Expr::Column(column) => self.add(*column),
            Expr::Aggregate(call) => {
                if matches!(call.function, Function::Min | Function::Max) {
                    self.extremes.push((**call).clone());
                }
                return;
            }
            Expr::Scalar(query) | Expr::Exists { query, .. } | Expr::InQuery { query, .. } => {
                columns_of_rows(query).into_iter().for_each(|column| self.add(column));
            }
            _ => {}
        }
        children(expr, &mut |child| self.visit(child));
    }
}

/// The columns that a subquery reads, without those of aggregates of the query around.
fn columns_of_rows(query: &Query) -> Vec<ColumnRef> {
    #[derive(Default)]
    struct Outer {
        level: u32,
        columns: Vec<ColumnRef>,
    }
    impl Visitor for Outer {
        fn query(&mut self, _query: &Query) {
            self.level += 1;
        }
        fn leave_query(&mut self, _query: &Query) {
            self.level -= 1;
        }
        fn expr(&mut self, expr: &Expr) {
            if let Expr::Aggregate(aggregate) = expr
                && aggregate.owner.0 == self.level
            {
                children(expr, &mut |child| self.columns.extend(reads::columns(child)));
            }
        }
    }
    let mut outer = Outer::default();
    walk_query(&mut outer, query);
    let mut columns = reads::columns(query);
    for column in outer.columns {
        if let Some(at) = columns.iter().position(|other| *other == column) {
            columns.swap_remove(at);
        }
    }
    columns
}

impl Run<'_, '_> {
    /// The groups of the rows that HAVING lets pass.
    pub(super) fn grouped(
        &mut self,
        select: &Select,
        order_by: &[OrderTerm],
        rows: Vec<(Term, Env)>,
        env: &Env,
    ) -> Result<Vec<(Term, Env)>, Stop> {
        self.world.check_size(rows.len())?;
        let bare = self.bare(select, order_by);
        let (presents, envs): (Vec<Term>, Vec<Env>) = rows.into_iter().unzip();
        let (values, filters) = Default::default();
        let rows = Rc::new(Rows { envs, keys: select.group_by.clone(), values, filters });
        let groups = self.members(select, &presents, &rows)?;
        let mut results = Vec::new();
        for (first, present, members) in groups {
            let group = Rc::new(Group { rows: Rc::clone(&rows), members });
            let mut group_env = match first {
                Some(first) if bare.columns.is_empty() => rows.envs[first].clone(),
                None if bare.columns.is_empty() => env.clone(),
                _ => self.with_bare_columns(select, &bare, &group, first, env)?,
            };
            group_env.group = Some(group);
            let present = match &select.having {
                Some(having) => {
                    let holds = self.truth(having, &group_env)?.is_true;
                    self.world.terms.and(present, holds)
                }
                None => present,
            };
            if present != Terms::FALSE {
                results.push((present, group_env));
            }
        }
        Ok(results)
    }

    fn bare<'q>(&self, select: &'q Select, order_by: &'q [OrderTerm]) -> Bare<'q> {
        let relations: Vec<RelationId> =
            select.from.iter().flat_map(|from| from.relations()).map(|relation| relation.id).collect();
        // Where different texts are equal, the group does not fix the text.
        let is_fixed = |expr: &&Expr| self.is_bytes(expr);
        let grouped = select.group_by.iter().filter(is_fixed).collect();
        let has_displaced = level_exprs(select, order_by).any(has_displaced);
        let (columns, extremes) = Default::default();
        let mut bare = Bare { select, relations, grouped, columns, extremes, has_displaced };
        level_exprs(select, order_by).for_each(|expr| bare.visit(expr));
        let dependencies = Dependencies::of(select, &self.facts);
        let closure = dependencies.closure(&select.group_by);
        let is_bytes = |column: &ColumnRef| self.is_bytes(&Expr::Column(*column));
        let all_bytes = select.group_by.iter().all(|expr| is_fixed(&expr));
        if !select.group_by.is_empty() && all_bytes {
            bare.columns.retain(|column| !closure.contains(*column) || !is_bytes(column));
        }
        bare
    }

    /// For each group its first row, whether it is there, and which rows belong to it.
    fn members(&mut self, select: &Select, presents: &[Term], rows: &Rc<Rows>) -> Result<Vec<Found>, Stop> {
        if select.group_by.is_empty() {
            return Ok(vec![(None, Terms::TRUE, presents.to_vec())]);
        }
        let mut keys = Vec::new();
        for env in &rows.envs {
            let mut key = Vec::new();
            for expr in &select.group_by {
                let value = self.value(expr, env)?;
                key.push(self.key(expr, value)?);
            }
            keys.push(key);
        }
        let mut groups = Vec::new();
        for at in 0..keys.len() {
            let mut earlier = Vec::new();
            let mut members = vec![Terms::FALSE; keys.len()];
            for other in 0..keys.len() {
                let same = self.world.terms.same_rows(&keys[at], &keys[other]);
                let is_member = self.world.terms.and(presents[other], same);
                let both = self.world.terms.and(is_member, presents[at]);
                self.settle_classes(both, &keys[at], &keys[other]);
                if other < at {
                    earlier.push(is_member);
                } else {
                    members[other] = is_member;
                }
            }
            let terms = &mut self.world.terms;
            let is_later = terms.any(earlier);
            let is_first = terms.not(is_later);
            groups.push((Some(at), terms.and(presents[at], is_first), members));
            self.world.check_size(0)?;
        }
        Ok(groups)
    }

    /// The environment of a group whose expressions read columns of one of its rows.
    fn with_bare_columns(
        &mut self,
        select: &Select,
        bare: &Bare<'_>,
        group: &Rc<Group>,
        first: Option<usize>,
        env: &Env,
    ) -> Result<Env, Stop> {
        debug_assert!(std::ptr::eq(bare.select, select));
        if bare.has_displaced {
            return Err(Stop::unsupported("outer aggregate beside a column of a row"));
        }
        let candidates = match bare.extremes.as_slice() {
            [only] if only.filter.is_none() => self.at_extreme(only, group)?,
            // Beside several extremes, or one of a part, it is a row of the group.
            _ => group.members.clone(),
        };
        let content = |row: &Env| -> Option<Vec<SymbolicValue>> {
            bare.columns.iter().map(|column| row.column(*column)).collect()
        };
        let contents: Option<Vec<Vec<SymbolicValue>>> = group.rows.envs.iter().map(content).collect();
        let contents = contents.ok_or_else(|| Stop::unsupported("column"))?;
        let name = format!("bare {}", bare.columns.len());
        let chosen = self.any_of(name, &candidates, contents.clone())?;
        let null = self.world.terms.null();
        let mut widths: HashMap<RelationId, Vec<SymbolicValue>> = HashMap::new();
        for (at, column) in bare.columns.iter().enumerate() {
            let mut value = null;
            for (&is_chosen, content) in chosen.iter().zip(&contents) {
                value = self.world.terms.choose_value(is_chosen, content[at], value);
            }
            let values = widths
                .entry(column.relation)
                .or_insert_with(|| row_of(group.rows.envs.get(first.unwrap_or(0)), column.relation));
            let place = place_in(values, *column);
            if values.len() <= place {
                values.resize(place + 1, null);
            }
            values[place] = value;
        }
        let bindings = widths.into_iter().map(|(relation, values)| (relation, values.into())).collect();
        let around = first.map_or_else(|| env.clone(), |first| group.rows.envs[first].clone());
        Ok(around.with(bindings))
    }

    /// Which rows of the group have its minimum or maximum; all where it has none.
    fn at_extreme(&mut self, aggregate: &Aggregate, group: &Rc<Group>) -> Result<Vec<Term>, Stop> {
        let [arg] = aggregate.args.as_slice() else { return Err(Stop::unsupported("min of several")) };
        let group_env = Env { group: Some(Rc::clone(group)), ..Env::default() };
        let extreme = self.aggregate(aggregate, &group_env)?;
        let values = self.arguments(arg, group)?;
        let mut members = Vec::new();
        for (&member, &value) in group.members.iter().zip(values.iter()) {
            let (value, extreme) = (self.key(arg, value)?, self.key(arg, extreme)?);
            let terms = &mut self.world.terms;
            let same = terms.same_values(value, extreme);
            members.push(terms.and(member, same));
        }
        Ok(members)
    }

    pub(super) fn arguments(&mut self, arg: &Expr, group: &Group) -> Result<Rc<Vec<SymbolicValue>>, Stop> {
        if let Some(values) = group.rows.values.borrow().get(arg) {
            return Ok(Rc::clone(values));
        }
        let values: Vec<SymbolicValue> =
            group.rows.envs.iter().map(|env| self.value(arg, env)).collect::<Result<_, _>>()?;
        let values = Rc::new(values);
        group.rows.values.borrow_mut().insert(arg.clone(), Rc::clone(&values));
        Ok(values)
    }

    /// Which rows an aggregate takes.
    fn included(&mut self, aggregate: &Aggregate, group: &Group) -> Result<Vec<Term>, Stop> {
        let Some(filter) = &aggregate.filter else { return Ok(group.members.clone()) };
        let cached = group.rows.filters.borrow().get(filter).cloned();
        let holds = if let Some(cached) = cached {
            cached
        } else {
            let envs = group.rows.envs.iter();
            let holds: Vec<Truth> = envs.map(|env| self.truth(filter, env)).collect::<Result<_, _>>()?;
            let holds = Rc::new(holds);
            group.rows.filters.borrow_mut().insert(filter.clone(), Rc::clone(&holds));
            holds
        };
        let terms = &mut self.world.terms;
        Ok(group
            .members
            .iter()
            .zip(holds.iter())
            .map(|(&member, truth)| terms.and(member, truth.is_true))
            .collect())
    }

    /// The value of an aggregate over the group at hand.
    pub(crate) fn aggregate(&mut self, aggregate: &Aggregate, env: &Env) -> Result<SymbolicValue, Stop> {
        let group =
            env.group_of(aggregate.owner).ok_or_else(|| Stop::unsupported("aggregate without a group"))?;
        // Whose groups an aggregate inside belongs to is counted from where it stands.
        let order = aggregate.order_by.iter().map(|term| &term.expr);
        let mut operands = aggregate.args.as_slice().iter().chain(order).chain(&aggregate.filter);
        if aggregate.owner != Owner::HERE && operands.any(has_displaced) {
            return Err(Stop::unsupported("aggregate in an outer aggregate"));
        }
        let included = self.included(aggregate, &group)?;
        if matches!(aggregate.function, Function::GroupConcat | Function::StringAgg) {
            return self.concatenated(aggregate, &group, &included);
        }
        let [arg] = aggregate.args.as_slice() else {
            return match (&aggregate.function, &aggregate.args) {
                (Function::Count, Args::Star | Args::List(_)) => Ok(self.count_value(included)),
                _ => Err(Stop::unsupported(aggregate.function.name())),
            };
        };
        let values = self.arguments(arg, &group)?;
        let mut rows = Vec::new();
        for (&member, &value) in included.iter().zip(values.iter()) {
            let terms = &mut self.world.terms;
            let not_null = terms.not(value.is_null);
            let member = terms.and(member, not_null);
            if member != Terms::FALSE {
                rows.push((member, value));
            }
        }
        if aggregate.distinct && !matches!(aggregate.function, Function::Min | Function::Max) {
            self.leave_distinct(arg, &mut rows)?;
        }
        self.folded(&aggregate.function, arg, &rows)
    }

    /// An aggregate over values that are there and not NULL.
    pub(super) fn folded(
        &mut self,
        function: &Function,
        arg: &Expr,
        rows: &[(Term, SymbolicValue)],
    ) -> Result<SymbolicValue, Stop> {
        match function {
            Function::Count => Ok(self.count_value(rows.iter().map(|row| row.0).collect())),
            Function::Sum | Function::Total | Function::Avg => self.sum(function, rows),
            Function::Min | Function::Max => self.extreme(arg, rows, *function == Function::Min),
            other => Err(Stop::unsupported(other.name())),
        }
    }

    fn count_value(&mut self, rows: Vec<Term>) -> SymbolicValue {
        let terms = &mut self.world.terms;
        let count = terms.count(rows);
        terms.integer_value(count, Terms::FALSE)
    }

    pub(super) fn leave_distinct(
        &mut self,
        arg: &Expr,
        rows: &mut [(Term, SymbolicValue)],
    ) -> Result<(), Stop> {
        let before = rows.to_vec();
        let mut keys = Vec::new();
        for &(_, value) in &before {
            keys.push(self.key(arg, value)?);
        }
        for at in 0..rows.len() {
            self.world.check_size(0)?;
            let mut earlier = Vec::new();
            for other in 0..at {
                let terms = &mut self.world.terms;
                let equal = terms.equal_values(keys[other], keys[at]);
                let is_earlier = terms.and(before[other].0, equal);
                let both = terms.and(is_earlier, before[at].0);
                self.settle_classes(both, &[before[at].1], &[before[other].1]);
                earlier.push(is_earlier);
            }
            let terms = &mut self.world.terms;
            let is_repeated = terms.any(earlier);
            let is_first = terms.not(is_repeated);
            rows[at].0 = terms.and(rows[at].0, is_first);
        }
        self.world.check_size(0)
    }

    fn sum(&mut self, function: &Function, rows: &[(Term, SymbolicValue)]) -> Result<SymbolicValue, Stop> {
        let (mut integers, mut reals, mut is_real, mut there) = (vec![], vec![], vec![], vec![]);
        for &(present, value) in rows {
            let value = self.summand(value)?;
            self.note_arithmetic(value);
            let terms = &mut self.world.terms;
            let (zero, real_zero) = (terms.zero(Sort::Integer), terms.zero(Sort::Real));
            let as_real = terms.number_as_real(value);
            reals.push(terms.choose(present, as_real, real_zero));
            integers.push(terms.choose(present, value.integer, zero));
            is_real.push(terms.and(present, value.is_real));
            there.push(present);
        }
        let is_zero = self.world.has(EncoderDefect::SumOfNothingIsZero);
        let terms = &mut self.world.terms;
        let real = terms.add(Sort::Real, reals);
        let any = terms.any(there.iter().copied());
        let is_empty = terms.not(any);
        Ok(match function {
            Function::Total => terms.real_value(real, Terms::FALSE),
            Function::Avg => {
                let count = terms.count(there);
                let count = terms.real_of(count);
                let quotient = terms.divide(real, count);
                self.world.assumes.insert(ProofAssumption::ExactReals);
                self.world.terms.real_value(quotient, is_empty)
            }
            _ => {
                let integer = terms.add(Sort::Integer, integers);
                let is_real = terms.any(is_real);
                let is_null = if is_zero { Terms::FALSE } else { is_empty };
                let integer = terms.integer_value(integer, is_null);
                let real = terms.real_value(real, is_null);
                terms.choose_value(is_real, real, integer)
            }
        })
    }

    /// The number that a sum sees in a value: a text that is no number as a whole counts as a real number.
    pub(super) fn summand(&mut self, value: SymbolicValue) -> Result<SymbolicValue, Stop> {
        self.with_texts_as(value, ValueShape::NUMBER, &|text| format!("sum({text})"))
    }

    fn extreme(
        &mut self,
        arg: &Expr,
        rows: &[(Term, SymbolicValue)],
        is_min: bool,
    ) -> Result<SymbolicValue, Stop> {
        let is_bytes = self.is_bytes(arg);
        let mut keyed = Vec::new();
        for &(present, value) in rows {
            keyed.push((present, self.key(arg, value)?));
        }
        let terms = &mut self.world.terms;
        let mut extreme = terms.null();
        for &(present, value) in &keyed {
            let (a, b) = if is_min { (value, extreme) } else { (extreme, value) };
            let less = terms.less_values(a, b);
            let is_better = terms.or(extreme.is_null, less);
            let takes = terms.and(present, is_better);
            extreme = terms.choose_value(takes, value, extreme);
        }
        if is_bytes {
            return Ok(self.of_either_class(extreme, rows));
        }
        // Of texts that are equal under the collation, any may be the extreme.
        let mut candidates = Vec::new();
        for (present, key) in keyed {
            let same = terms.equal_values(key, extreme);
            candidates.push(terms.and(present, same));
        }
        let contents = rows.iter().map(|&(_, value)| vec![value]).collect();
        let name = self.world.new_choice();
        let chosen = self.any_of(name, &candidates, contents)?;
        let mut any = self.world.terms.null();
        for (is_chosen, &(_, value)) in chosen.into_iter().zip(rows) {
            any = self.world.terms.choose_value(is_chosen, value, any);
        }
        Ok(self.of_either_class(any, rows))
    }

    /// Of 1 and 1.0, which are equal, either may be the extreme.
    fn of_either_class(&mut self, extreme: SymbolicValue, rows: &[(Term, SymbolicValue)]) -> SymbolicValue {
        if extreme.is_integer == Terms::FALSE || extreme.is_real == Terms::FALSE {
            return extreme;
        }
        let terms = &mut self.world.terms;
        let mut other = terms.null();
        for &(present, value) in rows {
            let equal = terms.equal_values(value, extreme);
            let same_class = terms.equal(value.is_integer, extreme.is_integer);
            let differs = terms.not(same_class);
            let takes = terms.all([present, equal, differs]);
            other = terms.choose_value(takes, value, other);
        }
        if other.is_null == Terms::TRUE {
            return extreme;
        }
        let is_there = terms.not(other.is_null);
        let is_taken = terms.unknown(Sort::Truth);
        let takes = terms.and(is_taken, is_there);
        let either = terms.choose_value(takes, other, extreme);
        self.world.settle(other.is_null);
        either
    }
}

fn row_of(env: Option<&Env>, relation: RelationId) -> Vec<SymbolicValue> {
    let Some(env) = env else { return Vec::new() };
    (0..).map_while(|column| env.column(ColumnRef::at(relation, column))).collect()
}
