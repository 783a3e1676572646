//! The grammar: makes resolved queries over a database, from the outermost query inwards.
//!
//! # Contract
//! What is made is typed: a predicate, an aggregate or an arithmetic term stands only over columns of a kind for which it
//! means something, joins follow links, and both sides of a set operation have columns of the same source. Constants are
//! values of rows, and the conditions on one table are chosen to hold on one of its rows, so that results are seldom
//! empty. Whether a query has the tier, depth and operator that were wished for is not decided here but on the finished
//! tree; the grammar only leans that way. `None` means that the database has nothing to build the part from.

mod compound;
mod condition;
mod draft;
mod from;
mod idiom;
mod nest;
mod output;

use std::collections::HashMap;

use sqlgauge_base::Random;
use sqlgauge_sql::derive::collect_columns;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{
    Body, ColumnRef, Cte, CteId, Expr, From, JoinKind, Literal, OrderTerm, Output, Query, RelationId, Select,
};
use sqlgauge_sql::visit::each_expr;

pub(crate) use self::draft::weighted;

use self::draft::{Draft, Form, Nest, Special};
use crate::sampler::Sampler;
use crate::tier::Tier;
use crate::wish::{Demand, Wish};
use crate::world::{ColumnProfile, ContentKind, GrammarDatabase};

/// A column that a query can name.
#[derive(Debug, Clone)]
struct Facet {
    column: ColumnRef,
    kind: ContentKind,
    is_integer: bool,
    /// The column of the database that its values come from: the table's position, and its own.
    source: Option<(usize, u32)>,
    /// What it is called, for names of derived columns.
    name: String,
}

impl Facet {
    fn expr(&self) -> Expr {
        Expr::Column(self.column)
    }
}

/// A relation of a FROM clause with its columns.
#[derive(Debug, Clone)]
struct FromRelation {
    id: RelationId,
    /// The table, by its position among those that queries read.
    table: Option<usize>,
    facets: Vec<Facet>,
    /// The sampled row that the conditions are to hold on.
    row: usize,
    /// Whether it is the one that refers to another, in a join.
    refers: bool,
    /// Whether a condition reads it.
    is_read: bool,
}

/// A SELECT with what is known of its result.
struct TypedSelect {
    select: Select,
    /// What its columns hold.
    facets: Vec<Facet>,
}

/// Makes one query.
pub struct Grammar<'a> {
    world: &'a GrammarDatabase,
    sampler: &'static Sampler,
    random: Random,
    wish: Wish,
    relations: u32,
    ctes: Vec<Cte>,
    /// A demand that is not met yet.
    demand: Option<Demand>,
    /// The tables of the queries around the one at hand.
    around: Vec<usize>,
    /// The columns that conditions of the query at hand read.
    compared: Vec<ColumnRef>,
    /// Whether the query at hand computes something over many rows.
    is_of_many: bool,
    /// Whether its join keeps rows that have no partner.
    keeps_all: bool,
    /// Whether a condition may ask for the highest of all.
    has_extremes: bool,
}

impl<'a> Grammar<'a> {
    /// A maker of a query that is wished for. All choices follow from the random numbers.
    pub fn new(world: &'a GrammarDatabase, sampler: &'static Sampler, wish: Wish, random: Random) -> Self {
        Self {
            world,
            sampler,
            random,
            wish,
            relations: 0,
            ctes: Vec::new(),
            demand: wish.demand,
            around: Vec::new(),
            is_of_many: false,
            keeps_all: false,
            has_extremes: false,
            compared: Vec::new(),
        }
    }

    /// The query; `None` where the database has not what it needs.
    pub fn query(mut self) -> Option<Query> {
        let mut draft = Draft::draw(&self.wish, &mut self.random);
        let depth = self.wish.depth;
        if let Some(idiom) = self.drawn_idiom() {
            let query = self.idiom(idiom, &mut draft.clone());
            // A database that has nothing for it is asked otherwise, now and then.
            if query.is_some() || self.chance(93) {
                return query;
            }
            (self.is_of_many, self.compared) = (false, Vec::new());
        }
        if let Some((operator, all)) = draft.compound {
            let body = self.compound(operator, all, depth, &mut draft)?;
            return Some(Query { ctes: std::mem::take(&mut self.ctes), ..Query::of(body) });
        }
        let (mut selection, scope) = self.select(&mut draft, depth)?;
        let order_by = if draft.ordered { self.order(&selection, &scope, &draft) } else { Vec::new() };
        let limited = draft.limited && !order_by.is_empty();
        // Five rows of visitors and visits are not five visitors, and five rows have fewer different values.
        let is_joined = scope.len() > 1 && self.wish.tier < Tier::HighlyComplex && draft.form == Form::List;
        let repeats = repeats_rows(&scope) || selection.select.distinct || is_joined;
        if limited && draft.form != Form::Grouped && repeats {
            return None;
        }
        let number = |number: i64| Expr::Literal(Literal::Integer(number));
        let drawn = *self.random.pick(&[1, 1, 1, 3, 3, 5, 5, 10]).unwrap_or(&1);
        // Of three groups nobody asks for the first five.
        let groups = selection.facets.first().filter(|_| draft.form == Form::Grouped);
        let few = groups.and_then(|key| self.profile(key)).is_some_and(|profile| {
            i64::try_from(profile.distinct).is_ok_and(|distinct| distinct < 2 * drawn)
        });
        let limit = limited.then(|| number(if few { 1 } else { drawn }));
        let offset =
            (limited && draft.offset).then(|| number(*self.random.pick(&[1, 1, 2, 3]).unwrap_or(&1)));
        if limited && draft.form == Form::Grouped {
            shows_keys_alone(&mut selection.select);
        }
        let body = Body::Select(Box::new(selection.select));
        Some(Query { ctes: std::mem::take(&mut self.ctes), body, order_by, limit, offset })
    }

    /// A SELECT with that many levels of queries.
    fn select(&mut self, draft: &mut Draft, levels: usize) -> Option<(TypedSelect, Vec<FromRelation>)> {
        let nest = draft.nest.filter(|_| levels > 1);
        let (from, mut scope) = match nest {
            Some(Nest::Derived) => self.derived_from(levels - 1, false)?,
            Some(Nest::With) => self.derived_from(levels - 1, true)?,
            _ => {
                let source = self.from(draft)?;
                // What is computed is of rows that refer to others: the concerts of singers.
                let turns = match draft.form {
                    Form::Aggregate => true,
                    Form::Grouped => self.chance(40),
                    Form::List => self.chance(50),
                    Form::Windowed => false,
                };
                if turns { turned(source) } else { source }
            }
        };
        let is_of_many = matches!(draft.form, Form::Aggregate | Form::Grouped)
            || draft.shared
            || draft.ordered
            || draft.compound.is_some();
        // A row without a partner counts for one, which nobody means.
        self.has_extremes = draft.form == Form::List;
        self.keeps_all = matches!(draft.special, Some(Special::Kind(JoinKind::Left | JoinKind::Full)));
        let before = std::mem::replace(&mut self.is_of_many, is_of_many);
        let mut conditions = self.conditions(self.said_last(&scope, draft), draft);
        self.is_of_many = before;
        self.compared = columns_of(&conditions);
        let in_where = nest.filter(|nest| matches!(nest, Nest::In | Nest::Scalar | Nest::Exists));
        if let Some(nest) = in_where {
            conditions.push(if nest == Nest::Scalar && scope.len() > 1 {
                self.compared(self.said_last(&scope, draft), levels - 1)?
            } else {
                self.nested_condition(nest, &scope, levels - 1)?
            });
        }
        read_by(&mut scope, &conditions);
        if nest == Some(Nest::Having) {
            (draft.form, draft.having) = (Form::Grouped, true);
        }
        let inner = (nest == Some(Nest::Having)).then_some(levels - 1);
        self.compared = columns_of(&conditions);
        let mut selection = self.outputs(&scope, draft, inner)?;
        if nest == Some(Nest::Output) {
            self.nested_output(&mut selection, &scope, levels - 1)?;
        }
        // Each of the visitors with visits is asked for once.
        let is_list = draft.form == Form::List && levels == self.wish.depth;
        if is_list && repeats_rows(&scope) && draft.special.is_none() && self.wish.tier < Tier::HighlyComplex
        {
            selection.select.distinct = true;
        }
        selection.select.from = Some(from);
        selection.select.filter = conjunction(conditions);
        let says = says_all(&selection.select, &scope) && !groups_by_one(&selection.select);
        says.then_some((selection, scope))
    }

    /// The tables of which conditions say something. Where rows are asked for by what they refer to, those of the latter: after "flights
    /// longer than 700 of airlines whose", "of airlines" seems to belong to the 700. Rows without a partner, which an outer join keeps,
    /// are left by conditions of the first table alone.
    fn said_last<'s>(&self, scope: &'s [FromRelation], draft: &Draft) -> &'s [FromRelation] {
        let is_outer = matches!(draft.special, Some(Special::Kind(JoinKind::Left | JoinKind::Full)));
        let is_brief = self.wish.tier < Tier::HighlyComplex && self.demand.is_none();
        match scope {
            [first, ..] if is_outer => std::slice::from_ref(first),
            [_, partner] if is_brief && draft.special.is_none() => std::slice::from_ref(partner),
            _ => scope,
        }
    }

    /// Whether the column holds the name or title of a row.
    fn is_label(&self, facet: &Facet) -> bool {
        facet.source.is_some_and(|(table, column)| self.world.tables[table].labels.contains(&column))
    }

    /// What is known of the column that the values come from.
    fn profile(&self, facet: &Facet) -> Option<&ColumnProfile> {
        facet.source.and_then(|(table, column)| self.world.tables[table].columns.get(column as usize))
    }

    fn relation_id(&mut self) -> RelationId {
        self.relations += 1;
        RelationId(self.relations - 1)
    }

    fn cte_id(&self) -> CteId {
        CteId(u32::try_from(self.ctes.len()).unwrap_or(u32::MAX))
    }

    fn chance(&mut self, percent: u8) -> bool {
        self.random.chance(percent)
    }

    fn choose<'i, T>(&mut self, items: &'i [T], weight: impl Fn(&T) -> f64) -> Option<&'i T> {
        let weights: Vec<f64> = items.iter().map(weight).collect();
        items.get(weighted(&weights, &mut self.random)?)
    }

    /// The terms of ORDER BY: what rows are sorted by is most often a quantity or a time of what is shown.
    fn order(&mut self, selection: &TypedSelect, scope: &[FromRelation], draft: &Draft) -> Vec<OrderTerm> {
        let select = &selection.select;
        let aggregates: Vec<&Output> =
            select.outputs.iter().filter(|output| is_sorted_by(&output.expr)).collect();
        let expr = if draft.form == Form::Grouped {
            match aggregates.first() {
                Some(output) if draft.limited || self.random.chance(80) => Some(output.expr.clone()),
                // The last group by the alphabet is not what people ask for.
                None if draft.limited => None,
                _ => select.outputs.first().map(|output| output.expr.clone()),
            }
        } else {
            let is_sortable = |facet: &&Facet| {
                matches!(
                    facet.kind,
                    ContentKind::Number | ContentKind::Date | ContentKind::Text | ContentKind::Category
                )
            };
            // Who was born after 1990 is not sorted by the birth year.
            let is_sortable = |facet: &&Facet| is_sortable(facet) && !self.compared.contains(&facet.column);
            let all: Vec<&Facet> = if select.distinct {
                selection.facets.iter().filter(is_sortable).collect()
            } else {
                scope.iter().flat_map(|bound| &bound.facets).filter(is_sortable).collect()
            };
            // The highest rank is the first to one and the last to another.
            let is_sortable =
                |facet: &&Facet| is_sortable(facet) && !(draft.limited && output::is_rank(facet));
            let all: Vec<&Facet> = all.into_iter().filter(is_sortable).collect();
            let subject = selection.facets.first().map(|facet| facet.column.relation);
            let weight = |facet: &&Facet| {
                let is_scale = matches!(facet.kind, ContentKind::Number | ContentKind::Date);
                let is_shown = selection.facets.iter().any(|other| other.column == facet.column);
                let base = match (is_scale, draft.limited) {
                    // What is the highest is not shown besides.
                    (true, true) if is_shown => 0.5,
                    (true, _) => 6.0,
                    (false, false) if is_shown => 2.0,
                    _ => 0.0,
                };
                if subject == Some(facet.column.relation) { base } else { base * 0.02 }
            };
            // What belongs to another table is seldom what rows are sorted by, be there nothing else.
            if all.iter().map(weight).sum::<f64>() < 0.5 && self.random.chance(85) {
                return Vec::new();
            }
            let term = self.choose(&all, weight).map(|facet| facet.expr());
            term.filter(|expr| !select.distinct || select.outputs.iter().any(|output| output.expr == *expr))
        };
        let Some(expr) = expr else { return Vec::new() };
        // A row to which none refers has the fewest, and a join drops it.
        let counts = matches!(&expr, Expr::Aggregate(call) if call.function == Function::Count);
        let drops = draft.limited && counts && scope.len() > 1;
        let descending = drops || self.chance(if draft.limited { 65 } else { 45 });
        vec![OrderTerm { expr, descending, nulls_first: None }]
    }
}

/// Whether a join gives rows of the table named first more than once.
fn repeats_rows(scope: &[FromRelation]) -> bool {
    scope.len() > 1 && !scope[0].refers
}

/// Of the groups with the most, people ask which they are: "the country with the most singers".
fn shows_keys_alone(select: &mut Select) {
    let is_key = |output: &Output| !sqlgauge_sql::derive::has_aggregate(&output.expr);
    if select.outputs.iter().any(is_key) {
        select.outputs.retain(is_key);
    }
}

/// Whether groups are sorted by an aggregate: the highest of the largest values is asked for in one word.
fn is_sorted_by(expr: &Expr) -> bool {
    matches!(expr, Expr::Aggregate(call) if !matches!(call.function, Function::Max | Function::Min))
}

/// All conditions together.
fn conjunction(mut conditions: Vec<Expr>) -> Option<Expr> {
    match conditions.len() {
        0 => None,
        1 => conditions.pop(),
        _ => {
            let mut all = Vec::with_capacity(conditions.len());
            for condition in conditions {
                match condition {
                    Expr::And(list) => all.extend(list),
                    other => all.push(other),
                }
            }
            Some(Expr::And(all))
        }
    }
}

fn joined(kind: JoinKind, left: From, right: From, on: Option<Expr>) -> From {
    From::Join(Box::new(sqlgauge_sql::tree::Join { kind, left, right, on }))
}

fn columns_of(conditions: &[Expr]) -> Vec<ColumnRef> {
    let mut columns = Vec::new();
    conditions.iter().for_each(|condition| collect_columns(condition, &mut columns));
    columns
}

fn read_by(scope: &mut [FromRelation], conditions: &[Expr]) {
    let columns = columns_of(conditions);
    for bound in scope {
        bound.is_read |= columns.iter().any(|column| column.relation == bound.id);
    }
}

/// An inner join of two tables with the one first that refers to the other.
fn turned((from, mut scope): (From, Vec<FromRelation>)) -> (From, Vec<FromRelation>) {
    match (from, scope.as_slice()) {
        (From::Join(join), [_, last]) if last.refers && join.kind == JoinKind::Inner => {
            let sqlgauge_sql::tree::Join { kind, left, right, on } = *join;
            scope.swap(0, 1);
            (joined(kind, right, left, on), scope)
        }
        (from, _) => (from, scope),
    }
}

/// Whether every table at an end of the joins is there for something: a result or a condition reads it, or its rows, which
/// refer to others, are counted.
fn says_all(select: &Select, scope: &[FromRelation]) -> bool {
    if scope.len() < 2 {
        return true;
    }
    let mut joins: HashMap<RelationId, usize> = HashMap::new();
    select.from.iter().for_each(|from| count_joins(from, &mut joins));
    let exprs = || {
        let outputs = select.outputs.iter().map(|output| &output.expr);
        outputs.chain(&select.group_by).chain(&select.having)
    };
    let mut columns = Vec::new();
    exprs().for_each(|expr| collect_columns(expr, &mut columns));
    // What rows are linked by is in the other table too.
    let mut keys = Vec::new();
    select.from.iter().for_each(|from| collect_keys(from, &mut keys));
    columns.retain(|column| !keys.contains(column));
    let counts = exprs().any(counts_rows);
    let is_there_for_something = |bound: &FromRelation| {
        let is_end = joins.get(&bound.id).is_none_or(|&count| count < 2);
        let is_shown = columns.iter().any(|column| column.relation == bound.id);
        !is_end || bound.is_read || is_shown || bound.table.is_none() || counts && bound.refers
    };
    scope.iter().all(is_there_for_something)
}

/// Whether a condition leaves one value of a key of the groups.
fn groups_by_one(select: &Select) -> bool {
    let one = |expr: &Expr| match expr {
        Expr::Binary(sqlgauge_sql::tree::BinaryOperator::Equal, left, right) => {
            matches!(**right, Expr::Literal(_)) && select.group_by.contains(left)
        }
        _ => false,
    };
    match &select.filter {
        Some(Expr::And(list)) => list.iter().any(one),
        Some(filter) => one(filter),
        None => false,
    }
}

/// The columns that the conditions of joins read.
fn collect_keys(from: &From, keys: &mut Vec<ColumnRef>) {
    let From::Join(join) = from else { return };
    join.on.iter().for_each(|on| collect_columns(on, keys));
    collect_keys(&join.left, keys);
    collect_keys(&join.right, keys);
}

/// How many conditions of joins read each relation.
fn count_joins(from: &From, joins: &mut HashMap<RelationId, usize>) {
    let From::Join(join) = from else { return };
    let mut columns = Vec::new();
    join.on.iter().for_each(|on| collect_columns(on, &mut columns));
    let mut relations: Vec<RelationId> = columns.into_iter().map(|column| column.relation).collect();
    relations.sort_unstable();
    relations.dedup();
    relations.into_iter().for_each(|relation| *joins.entry(relation).or_default() += 1);
    count_joins(&join.left, joins);
    count_joins(&join.right, joins);
}

/// Whether an expression counts rows.
fn counts_rows(expr: &Expr) -> bool {
    let mut counts = false;
    each_expr(expr, |expr| {
        counts |= matches!(expr, Expr::Aggregate(call) if call.function == Function::Count && !call.distinct);
    });
    counts
}
