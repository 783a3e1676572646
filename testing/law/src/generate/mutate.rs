//! Resolved queries with one thing changed, and queries moved to the tables of another schema.
//!
//! What is drawn here is what a rule may stumble over: wrapped expressions, odd constants, hints, further joins, clauses of
//! its own invention. `sqlgauge_search::mutation` lists what a slip makes of a query, which is another thing: every one
//! once, in a fixed order, and nothing that nobody would write.

use std::collections::HashMap;

use sqlgauge_sql::schema::{Schema, TableId, TableKind};
use sqlgauge_sql::tree::{
    BinaryOperator, Body, ColumnRef, Expr, From, IndexHint, Join, JoinKind, Literal, OrderTerm, Query, Real,
    Relation, RelationId, RelationSource, Select, SetOperator, UnaryOperator,
};
use sqlgauge_sql::visit::{Rewriter, Visitor, rewrite_query, walk_query};

use crate::dice::Dice;

/// What the relations of a query read, and how many of everything there is.
#[derive(Default)]
struct Survey {
    relations: Vec<(RelationId, Option<TableId>, usize)>,
    ctes: Vec<(sqlgauge_sql::tree::CteId, usize)>,
    exprs: usize,
    bodies: usize,
    queries: usize,
    froms: usize,
}

impl Visitor for Survey {
    fn query(&mut self, query: &Query) {
        self.queries += 1;
        self.ctes.extend(query.ctes.iter().map(|cte| (cte.id, cte.query.width())));
    }

    fn body(&mut self, _body: &Body) {
        self.bodies += 1;
    }

    fn from(&mut self, _from: &From) {
        self.froms += 1;
    }

    fn relation(&mut self, relation: &Relation) {
        let (table, width) = match &relation.source {
            RelationSource::Table(id) => (Some(*id), 0),
            RelationSource::Derived(query) => (None, query.width()),
            RelationSource::Cte(id) => {
                (None, self.ctes.iter().find(|(cte, _)| cte == id).map_or(1, |(_, width)| *width))
            }
            _ => (None, 1),
        };
        self.relations.push((relation.id, table, width));
    }

    fn expr(&mut self, _expr: &Expr) {
        self.exprs += 1;
    }
}

fn survey(query: &Query) -> Survey {
    let mut survey = Survey::default();
    walk_query(&mut survey, query);
    survey
}

fn ids(schema: &Schema) -> Vec<TableId> {
    schema.tables().iter().filter_map(|table| schema.table_id(&table.name)).collect()
}

/// The query over tables of another schema, chosen at random, with columns chosen at random.
pub(crate) fn retarget(query: &Query, from: &Schema, to: &Schema, dice: &mut Dice) -> Option<Query> {
    let survey = survey(query);
    let ids = ids(to);
    let mut tables: HashMap<TableId, TableId> = HashMap::new();
    let mut relations = HashMap::new();
    for (relation, table, _) in &survey.relations {
        let Some(table) = table else { continue };
        from.table(*table)?;
        let usual = *tables.entry(*table).or_insert(*dice.pick_any(&ids)?);
        let chosen = if dice.chance(85) { usual } else { *dice.pick_any(&ids)? };
        relations.insert(*relation, chosen);
    }
    let mut moved = Move { to, relations, columns: HashMap::new(), dice };
    let mut query = query.clone();
    rewrite_query(&mut moved, &mut query);
    Some(query)
}

struct Move<'a> {
    to: &'a Schema,
    relations: HashMap<RelationId, TableId>,
    columns: HashMap<(TableId, u32), u32>,
    dice: &'a mut Dice,
}

impl Rewriter for Move<'_> {
    fn relation(&mut self, relation: &mut Relation) {
        if let (RelationSource::Table(id), Some(new)) =
            (&mut relation.source, self.relations.get(&relation.id))
        {
            *id = *new;
            // It names an index of the other schema.
            relation.hint = relation.hint.take().filter(|hint| *hint == IndexHint::None);
        }
    }

    fn expr(&mut self, expr: &mut Expr) {
        let Expr::Column(column) = expr else { return };
        let Some(table) = self.relations.get(&column.relation) else { return };
        let width = self.to.table(*table).map_or(1, |table| table.columns.len());
        let Some(old) = column.column.position() else { return };
        let dice = &mut *self.dice;
        let place = self.columns.entry((*table, old)).or_insert_with(|| index(dice.below(width)));
        *column = ColumnRef::at(column.relation, *place);
    }
}

fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(0)
}

/// The query with one thing changed: a column, a constant, an operator, a clause, a join.
pub fn mutant(query: &Query, schema: &Schema, dice: &mut Dice) -> Query {
    let survey = survey(query);
    let kind = dice.below(10);
    let count = match kind {
        0..=5 => survey.exprs,
        6 => survey.queries,
        7 => survey.bodies,
        _ => survey.froms,
    };
    let mut changed = query.clone();
    let target = dice.below(count);
    let mut mutation = Mutation { schema, survey, kind, target, seen: 0, dice };
    rewrite_query(&mut mutation, &mut changed);
    changed
}

struct Mutation<'a> {
    schema: &'a Schema,
    survey: Survey,
    kind: usize,
    target: usize,
    seen: usize,
    dice: &'a mut Dice,
}

impl Mutation<'_> {
    fn is_meant(&mut self, kinds: std::ops::RangeInclusive<usize>) -> bool {
        if !kinds.contains(&self.kind) {
            return false;
        }
        self.seen += 1;
        self.seen == self.target + 1
    }

    fn column_of(&mut self, relation: RelationId) -> Option<Expr> {
        let (_, table, width) = *self.survey.relations.iter().find(|(id, ..)| *id == relation)?;
        let width = table.and_then(|id| self.schema.table(id)).map_or(width, |table| table.columns.len());
        Some(Expr::Column(ColumnRef::at(relation, index(self.dice.below(width)))))
    }

    fn next_relation(&self) -> RelationId {
        let highest = self.survey.relations.iter().map(|(id, ..)| id.0).max().unwrap_or(0);
        RelationId(highest + 1)
    }

    fn other_column(&mut self, column: ColumnRef) -> Expr {
        let relation = if self.dice.chance(75) {
            column.relation
        } else {
            self.dice.pick_any(&self.survey.relations).map_or(column.relation, |(id, ..)| *id)
        };
        self.column_of(relation).unwrap_or(Expr::Column(column))
    }

    fn wrapped(&mut self, expr: Expr) -> Expr {
        let boxed = Box::new(expr.clone());
        match self.dice.below(14) {
            0 => Expr::Unary(UnaryOperator::Not, boxed),
            1 => Expr::Unary(UnaryOperator::Plus, boxed),
            2 => Expr::Unary(UnaryOperator::Minus, boxed),
            3 => Expr::Binary(BinaryOperator::Is, boxed, Box::new(Expr::Literal(Literal::Boolean(true)))),
            4 => Expr::Collate {
                expr: boxed,
                collation: (*self.dice.pick(&["NOCASE", "RTRIM", "BINARY"])).to_owned(),
            },
            5 => Expr::Cast {
                expr: boxed,
                type_name: (*self.dice.pick(&["TEXT", "INTEGER", "REAL", "BLOB", "NUMERIC"])).to_owned(),
            },
            6 => Expr::IsNull { expr: boxed, negated: self.dice.chance(50) },
            7 => Expr::Binary(BinaryOperator::Add, boxed, Box::new(constant(self.dice))),
            8 => Expr::Binary(BinaryOperator::Concat, boxed, Box::new(constant(self.dice))),
            9 => Expr::And(vec![expr, self.simple_condition()]),
            10 => Expr::Or(vec![expr, self.simple_condition()]),
            11 => Expr::Scalar(Box::new(Query::of_select(Select::of(vec![sqlgauge_sql::tree::Output::of(
                expr,
            )])))),
            12 => Expr::Case {
                operand: None,
                branches: vec![(self.simple_condition(), expr)],
                otherwise: self.dice.chance(50).then(|| Box::new(constant(self.dice))),
            },
            _ => Expr::Binary(comparison(self.dice), boxed, Box::new(constant(self.dice))),
        }
    }

    /// A hint for a table, by an index of its own where it has one.
    fn hint(&mut self, source: &RelationSource) -> Option<IndexHint> {
        let RelationSource::Table(id) = source else { return None };
        let table = self.schema.table(*id).filter(|table| table.kind == TableKind::Table)?;
        let names: Vec<&String> = table.indexes.iter().filter_map(|index| index.name.as_ref()).collect();
        match self.dice.pick_any(&names) {
            Some(name) if self.dice.chance(60) => Some(IndexHint::By(name.to_ascii_lowercase())),
            _ => self.dice.chance(80).then_some(IndexHint::None),
        }
    }

    fn simple_condition(&mut self) -> Expr {
        let relation = self.dice.pick_any(&self.survey.relations).map(|(id, ..)| *id);
        let column = relation.and_then(|id| self.column_of(id)).unwrap_or_else(|| constant(self.dice));
        match self.dice.below(4) {
            0 => Expr::IsNull { expr: Box::new(column), negated: self.dice.chance(60) },
            1 => {
                let list = vec![constant(self.dice), constant(self.dice)];
                Expr::InList { expr: Box::new(column), list, negated: self.dice.chance(30) }
            }
            _ => Expr::Binary(comparison(self.dice), Box::new(column), Box::new(constant(self.dice))),
        }
    }

    fn change_expr(&mut self, expr: &mut Expr) {
        let old = std::mem::replace(expr, Expr::Literal(Literal::Null));
        *expr = match old {
            Expr::Column(column) if self.dice.chance(70) => self.other_column(column),
            Expr::Literal(_) if self.dice.chance(85) => constant(self.dice),
            Expr::Binary(operator, left, right) if self.dice.chance(70) => {
                if self.dice.chance(30) {
                    Expr::Binary(operator, right, left)
                } else if operator.is_comparison() {
                    Expr::Binary(comparison(self.dice), left, right)
                } else {
                    Expr::Binary(operator, left, Box::new(constant(self.dice)))
                }
            }
            Expr::And(list) if self.dice.chance(50) => Expr::Or(list),
            Expr::Or(list) if self.dice.chance(50) => Expr::And(list),
            Expr::IsNull { expr, negated } if self.dice.chance(50) => {
                Expr::IsNull { expr, negated: !negated }
            }
            Expr::InList { expr, list, negated } if self.dice.chance(40) => {
                Expr::InList { expr, list, negated: !negated }
            }
            Expr::InQuery { expr, query, negated } if self.dice.chance(40) => {
                Expr::InQuery { expr, query, negated: !negated }
            }
            Expr::Exists { query, negated } if self.dice.chance(50) => {
                Expr::Exists { query, negated: !negated }
            }
            other => self.wrapped(other),
        };
    }
}

fn comparison(dice: &mut Dice) -> BinaryOperator {
    use BinaryOperator::{Equal, Greater, GreaterEqual, Is, IsNot, Less, LessEqual, NotEqual};
    *dice.pick(&[Equal, Equal, Equal, Less, LessEqual, Greater, GreaterEqual, NotEqual, Is, IsNot])
}

fn constant(dice: &mut Dice) -> Expr {
    Expr::Literal(match dice.below(12) {
        0 => Literal::Null,
        1 => Literal::Boolean(dice.chance(50)),
        2 => Literal::Real(Real::new(*dice.pick(&[1.0, 2.0, 0.5, -0.0, 5.0]))),
        3..=6 => Literal::Text(
            (*dice.pick(&["a", "A", "a ", "x", "1", "5", "1.0", "01", "", "b", "Ab"])).to_owned(),
        ),
        7 => Literal::Integer(i64::MAX),
        _ => Literal::Integer(*dice.pick(&[0, 1, 1, 2, 3, 5, -1])),
    })
}

impl Rewriter for Mutation<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        if self.is_meant(0..=5) {
            self.change_expr(expr);
        }
    }

    fn query(&mut self, query: &mut Query) {
        if !self.is_meant(6..=6) {
            return;
        }
        let width = query.width().max(1);
        match self.dice.below(6) {
            0 => query.limit = Some(Expr::Literal(Literal::Integer(*self.dice.pick(&[0, 1, 1, 2])))),
            1 => query.limit = None,
            2 => query.order_by.clear(),
            3 | 4 => {
                let place = index(self.dice.below(width));
                query.order_by = vec![OrderTerm {
                    expr: Expr::Output(place),
                    descending: self.dice.chance(40),
                    nulls_first: None,
                }];
                if self.dice.chance(50) {
                    query.limit = Some(Expr::Literal(Literal::Integer(1)));
                }
            }
            _ => {
                if let Body::Select(select) = &mut query.body {
                    select.distinct = !select.distinct;
                }
            }
        }
    }

    fn body(&mut self, body: &mut Body) {
        if !self.is_meant(7..=7) {
            return;
        }
        match body {
            Body::Select(select) => match self.dice.below(8) {
                0 | 1 => select.distinct = !select.distinct,
                2 => select.filter = None,
                3 => select.group_by.clear(),
                4 => select.having = None,
                5 => {
                    let condition = self.simple_condition();
                    select.filter = Some(match select.filter.take() {
                        Some(filter) => Expr::And(vec![filter, condition]),
                        None => condition,
                    });
                }
                6 => select.group_by = select.outputs.iter().map(|output| output.expr.clone()).collect(),
                _ => {
                    if let Some(place) = select.outputs.len().checked_sub(1) {
                        let (a, b) = (self.dice.below(place + 1), place);
                        select.outputs.swap(a, b);
                    }
                }
            },
            Body::SetOperation { operator, all, left, right } => match self.dice.below(3) {
                0 => std::mem::swap(left, right),
                1 => *all = *operator == SetOperator::Union && !*all,
                _ => {
                    *operator =
                        *self.dice.pick(&[SetOperator::Union, SetOperator::Intersect, SetOperator::Except]);
                    *all = *all && *operator == SetOperator::Union;
                }
            },
            Body::Values(_) => {}
        }
    }

    fn from(&mut self, from: &mut From) {
        if !self.is_meant(8..=9) {
            return;
        }
        let tables = ids(self.schema);
        match from {
            From::Join(join) if self.dice.chance(12) => {
                let join = join.as_mut();
                std::mem::swap(&mut join.left, &mut join.right);
            }
            From::Join(join) if self.dice.chance(65) => {
                use JoinKind::{Cross, Full, Inner, Left, Right};
                join.kind = *self.dice.pick(&[Inner, Inner, Left, Left, Right, Full, Cross]);
            }
            From::Relation(relation) if self.dice.chance(25) => {
                relation.hint = self.hint(&relation.source);
            }
            From::Relation(relation) if self.dice.chance(20) => {
                relation.hint = None;
                if let (RelationSource::Table(id), Some(other)) =
                    (&mut relation.source, self.dice.pick_any(&tables))
                {
                    *id = *other;
                }
            }
            other => {
                let (Some(table), id) = (self.dice.pick_any(&tables).copied(), self.next_relation()) else {
                    return;
                };
                let first = other.relations().first().map(|relation| relation.id);
                let repeated = self
                    .survey
                    .relations
                    .iter()
                    .find(|(id, ..)| Some(*id) == first)
                    .and_then(|relation| relation.1);
                let table = repeated.filter(|_| self.dice.chance(50)).unwrap_or(table);
                self.survey.relations.push((id, Some(table), 1));
                let (left, right) = (first.and_then(|first| self.column_of(first)), self.column_of(id));
                let on = left.zip(right).map(|(left, right)| {
                    Expr::Binary(BinaryOperator::Equal, Box::new(left), Box::new(right))
                });
                let old =
                    std::mem::replace(other, From::Relation(Relation::new(id, RelationSource::Table(table))));
                let new = From::Relation(Relation::new(id, RelationSource::Table(table)));
                let kind = *self.dice.pick(&[
                    JoinKind::Inner,
                    JoinKind::Left,
                    JoinKind::Left,
                    JoinKind::Right,
                    JoinKind::Full,
                ]);
                let (left, right) = if self.dice.chance(75) { (old, new) } else { (new, old) };
                *other = From::Join(Box::new(Join { kind, left, right, on }));
            }
        }
    }
}
