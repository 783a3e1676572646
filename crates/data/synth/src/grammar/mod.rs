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
mod nest;
mod output;

use sqlgauge_base::Random;
use sqlgauge_sql::tree::{
    Body, ColumnRef, Cte, CteId, Expr, From, Literal, OrderTerm, Output, Query, RelationId, Select,
};

use self::draft::{Draft, Form, Nest, weighted};
use crate::sampler::Sampler;
use crate::wish::{Demand, Wish};
use crate::world::{ContentKind, GrammarDatabase};

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
}

impl<'a> Grammar<'a> {
    /// A maker of a query that is wished for. All choices follow from the random numbers.
    pub fn new(world: &'a GrammarDatabase, sampler: &'static Sampler, wish: Wish, random: Random) -> Self {
        Self { world, sampler, random, wish, relations: 0, ctes: Vec::new(), demand: wish.demand }
    }

    /// The query; `None` where the database has not what it needs.
    pub fn query(mut self) -> Option<Query> {
        let mut draft = Draft::draw(&self.wish, &mut self.random);
        let depth = self.wish.depth;
        if let Some((operator, all)) = draft.compound {
            let body = self.compound(operator, all, depth, &mut draft)?;
            return Some(Query { ctes: std::mem::take(&mut self.ctes), ..Query::of(body) });
        }
        let (made, scope) = self.select(&mut draft, depth)?;
        let order_by = if draft.ordered { self.order(&made, &scope, &draft) } else { Vec::new() };
        let limited = draft.limited && !order_by.is_empty();
        let number = |number: i64| Expr::Literal(Literal::Integer(number));
        let limit = limited.then(|| number(*self.random.pick(&[1, 1, 1, 3, 3, 5, 5, 10]).unwrap_or(&1)));
        let offset =
            (limited && draft.offset).then(|| number(*self.random.pick(&[1, 1, 2, 3]).unwrap_or(&1)));
        let body = Body::Select(Box::new(made.select));
        Some(Query { ctes: std::mem::take(&mut self.ctes), body, order_by, limit, offset })
    }

    /// A SELECT with that many levels of queries.
    fn select(&mut self, draft: &mut Draft, levels: usize) -> Option<(TypedSelect, Vec<FromRelation>)> {
        let nest = draft.nest.filter(|_| levels > 1);
        let (from, scope) = match nest {
            Some(Nest::Derived) => self.derived_from(levels - 1, false)?,
            Some(Nest::With) => self.derived_from(levels - 1, true)?,
            _ => self.from(draft)?,
        };
        let mut conditions = self.conditions(&scope, draft);
        let in_where = nest.filter(|nest| matches!(nest, Nest::In | Nest::Scalar | Nest::Exists));
        if let Some(nest) = in_where {
            conditions.push(self.nested_condition(nest, &scope, levels - 1)?);
        }
        if nest == Some(Nest::Having) {
            (draft.form, draft.having) = (Form::Grouped, true);
        }
        let inner = (nest == Some(Nest::Having)).then_some(levels - 1);
        let mut made = self.outputs(&scope, draft, inner)?;
        if nest == Some(Nest::Output) {
            self.nested_output(&mut made, &scope, levels - 1)?;
        }
        made.select.from = Some(from);
        made.select.filter = conjunction(conditions);
        Some((made, scope))
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

    /// One of the items by weight.
    fn choose<'i, T>(&mut self, items: &'i [T], weight: impl Fn(&T) -> f64) -> Option<&'i T> {
        let weights: Vec<f64> = items.iter().map(weight).collect();
        items.get(weighted(&weights, &mut self.random)?)
    }

    /// The terms of ORDER BY.
    fn order(&mut self, made: &TypedSelect, scope: &[FromRelation], draft: &Draft) -> Vec<OrderTerm> {
        let select = &made.select;
        let aggregates: Vec<&Output> =
            select.outputs.iter().filter(|output| matches!(output.expr, Expr::Aggregate(_))).collect();
        let expr = if draft.form == Form::Grouped {
            match aggregates.first() {
                Some(output) if self.random.chance(80) => Some(output.expr.clone()),
                _ => select.outputs.first().map(|output| output.expr.clone()),
            }
        } else {
            let is_sortable = |facet: &&Facet| {
                matches!(
                    facet.kind,
                    ContentKind::Number | ContentKind::Date | ContentKind::Text | ContentKind::Category
                )
            };
            let all: Vec<&Facet> = if select.distinct {
                made.facets.iter().filter(is_sortable).collect()
            } else {
                scope.iter().flat_map(|bound| &bound.facets).filter(is_sortable).collect()
            };
            let weight = |facet: &&Facet| {
                if matches!(facet.kind, ContentKind::Number | ContentKind::Date) { 4.0 } else { 1.0 }
            };
            let found = self.choose(&all, weight).map(|facet| facet.expr());
            found.filter(|expr| !select.distinct || select.outputs.iter().any(|output| output.expr == *expr))
        };
        let Some(expr) = expr else { return Vec::new() };
        let descending = self.chance(if draft.limited { 65 } else { 45 });
        vec![OrderTerm { expr, descending, nulls_first: None }]
    }
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

/// A SELECT of nothing but those outputs.
fn select_of(outputs: Vec<Output>) -> Select {
    Select { distinct: false, from: None, filter: None, group_by: Vec::new(), having: None, outputs }
}

fn output(expr: Expr) -> Output {
    Output { expr, alias: None }
}

fn equal(left: Expr, right: Expr) -> Expr {
    Expr::Binary(sqlgauge_sql::tree::BinaryOperator::Equal, Box::new(left), Box::new(right))
}

fn joined(kind: sqlgauge_sql::tree::JoinKind, left: From, right: From, on: Option<Expr>) -> From {
    From::Join(Box::new(sqlgauge_sql::tree::Join { kind, left, right, on }))
}
