//! FROM and WHERE.
//!
//! # Contract
//! Inner joins are done in the order that makes the fewest rows. A table that is joined by its unique key has at most
//! one partner for each row, so such a join makes no more rows than there were: the partner's columns become a choice
//! between its rows. Conditions are applied as soon as all that they read is there.

use std::collections::BTreeSet;
use std::rc::Rc;

use sqlgauge_sql::derive::{Conversion, Fact};
use sqlgauge_sql::reads;
use sqlgauge_sql::schema::Collation;
use sqlgauge_sql::tree::{
    BinaryOperator, ColumnRef, Expr, From, Join, JoinKind, Relation, RelationId, RelationSource, Select,
};

use super::{Env, Run};
use crate::ir::{Term, Terms};
use crate::value::SymbolicValue;
use crate::world::Stop;

/// The values of relations in one row of a join.
type Bindings = Vec<(RelationId, Rc<[SymbolicValue]>)>;

/// One row of a join.
#[derive(Debug, Clone)]
struct Joined {
    present: Term,
    bindings: Bindings,
}

/// A condition with the relations of this FROM that it reads.
struct Condition<'q> {
    expr: &'q Expr,
    reads: BTreeSet<RelationId>,
}

/// One operand of a chain of inner joins.
struct Leaf<'q> {
    from: &'q From,
    relations: BTreeSet<RelationId>,
}

impl Run<'_, '_> {
    /// The rows that FROM and WHERE give, each with the environment that its expressions are evaluated in.
    pub(super) fn joined_rows(&mut self, select: &Select, env: &Env) -> Result<Vec<(Term, Env)>, Stop> {
        let mut filters = Vec::new();
        if let Some(filter) = &select.filter {
            split(filter, &mut filters);
        }
        let rows = match &select.from {
            None => vec![Joined { present: Terms::TRUE, bindings: Vec::new() }],
            Some(from) => self.from(from, &filters, env)?,
        };
        let mut matches = Vec::new();
        for row in rows {
            let inner = env.with(row.bindings);
            let mut holds = vec![row.present];
            for filter in &filters {
                holds.push(self.truth(filter, &inner)?.is_true);
            }
            let present = self.world.terms.all(holds);
            if present != Terms::FALSE {
                matches.push((present, inner));
            }
        }
        Ok(matches)
    }

    /// The rows of a FROM. `hints` are conditions that are checked later anyway: those that can be checked here are.
    fn from(&mut self, from: &From, hints: &[&Expr], env: &Env) -> Result<Vec<Joined>, Stop> {
        match from {
            From::Relation(relation) => {
                let rows = self.relation_rows(relation, env)?;
                self.filtered(rows, from, hints, env)
            }
            From::Join(join) => match join.kind {
                JoinKind::Inner | JoinKind::Cross => self.inner(from, hints, env),
                JoinKind::Left => self.outer(join, hints, env, (true, false)),
                JoinKind::Right => self.outer(join, hints, env, (false, true)),
                JoinKind::Full => self.outer(join, hints, env, (true, true)),
            },
        }
    }

    fn relation_rows(&mut self, relation: &Relation, env: &Env) -> Result<Vec<Joined>, Stop> {
        let rows = self.relation(relation, env)?;
        let joined = rows.iter().map(|row| Joined {
            present: row.present,
            bindings: vec![(relation.id, Rc::clone(&row.values))],
        });
        Ok(joined.collect())
    }

    fn filtered(
        &mut self,
        mut rows: Vec<Joined>,
        from: &From,
        hints: &[&Expr],
        env: &Env,
    ) -> Result<Vec<Joined>, Stop> {
        let relations = relations_of(from);
        for hint in hints.iter().filter(|hint| {
            let reads = reads_of(hint);
            !reads.is_empty() && reads.is_subset(&relations)
        }) {
            for row in &mut rows {
                let holds = self.truth(hint, &env.with(row.bindings.clone()))?.is_true;
                row.present = self.world.terms.and(row.present, holds);
            }
        }
        rows.retain(|row| row.present != Terms::FALSE);
        Ok(rows)
    }

    fn inner(&mut self, from: &From, hints: &[&Expr], env: &Env) -> Result<Vec<Joined>, Stop> {
        let mut leaves = Vec::new();
        let mut exprs: Vec<&Expr> = hints.to_vec();
        flatten(from, &mut leaves, &mut exprs);
        let all = relations_of(from);
        let conditions: Vec<Condition<'_>> = exprs
            .iter()
            .map(|expr| Condition { expr, reads: reads_of(expr).intersection(&all).copied().collect() })
            .collect();
        // A hint that reads what an outer join above may still make NULL reads what is not here, and waits.
        let conditions: Vec<Condition<'_>> = conditions
            .into_iter()
            .filter(|condition| {
                let is_own = !hints.iter().any(|hint| std::ptr::eq(*hint, condition.expr));
                is_own
                    || reads_of(condition.expr).iter().all(|read| all.contains(read) || env_has(env, *read))
            })
            .collect();
        let mut tables = Vec::new();
        for leaf in &leaves {
            tables.push(self.from(leaf.from, &exprs, env)?);
        }
        let order = self.join_order(&leaves, &tables, &conditions);
        let mut bound = BTreeSet::new();
        let mut rows = vec![Joined { present: Terms::TRUE, bindings: Vec::new() }];
        for at in order {
            let merges = self.joins_by_key(&leaves[at], &bound, &conditions);
            let before = bound.clone();
            bound.extend(&leaves[at].relations);
            let ready: Vec<&Expr> = conditions
                .iter()
                .filter(|condition| {
                    condition.reads.is_subset(&bound)
                        && (before.is_empty() || !condition.reads.is_subset(&before))
                })
                .map(|condition| condition.expr)
                .collect();
            rows = self.step(&rows, &tables[at], &ready, merges, env)?;
        }
        Ok(rows)
    }

    /// The rows joined with one more operand, under the conditions that can be checked now.
    fn step(
        &mut self,
        rows: &[Joined],
        others: &[Joined],
        conditions: &[&Expr],
        merges: bool,
        env: &Env,
    ) -> Result<Vec<Joined>, Stop> {
        let mut joined = Vec::new();
        for row in rows {
            let mut matched = self.partners(row, others, conditions, env)?;
            if merges && matched.len() > 1 {
                let one = self.one_of(row, &matched);
                joined.push(one);
            } else {
                for one in &mut matched {
                    one.present = self.world.terms.and(one.present, row.present);
                }
                joined.extend(matched.into_iter().filter(|one| one.present != Terms::FALSE));
            }
            self.world.check_size(joined.len())?;
        }
        Ok(joined)
    }

    /// The row with each partner; present where the two match, whether or not the row itself is there.
    fn partners(
        &mut self,
        row: &Joined,
        others: &[Joined],
        conditions: &[&Expr],
        env: &Env,
    ) -> Result<Vec<Joined>, Stop> {
        let mut partners = Vec::new();
        for other in others {
            let bindings = [row.bindings.as_slice(), &other.bindings].concat();
            let inner = env.with(bindings.clone());
            let mut holds = vec![other.present];
            for condition in conditions {
                let truth = self.truth(condition, &inner)?.is_true;
                if truth == Terms::FALSE {
                    holds.clear();
                    holds.push(truth);
                    break;
                }
                holds.push(truth);
            }
            let present = self.world.terms.all(holds);
            if present != Terms::FALSE {
                partners.push(Joined { present, bindings });
            }
        }
        Ok(partners)
    }

    /// One row for several of which at most one is there.
    fn one_of(&mut self, row: &Joined, matched: &[Joined]) -> Joined {
        let terms = &mut self.world.terms;
        let any = terms.any(matched.iter().map(|one| one.present));
        let bindings = merge(terms, matched);
        Joined { present: terms.and(row.present, any), bindings }
    }

    fn outer(
        &mut self,
        join: &Join,
        hints: &[&Expr],
        env: &Env,
        (keeps_left, keeps_right): (bool, bool),
    ) -> Result<Vec<Joined>, Stop> {
        let mut on = Vec::new();
        if let Some(expr) = &join.on {
            split(expr, &mut on);
        }
        // What fails on the side that is kept takes its row away; on the other side it only finds no partner.
        let of_left: Vec<&Expr> = if keeps_right { Vec::new() } else { hints.to_vec() };
        let of_right: Vec<&Expr> = if keeps_left { Vec::new() } else { hints.to_vec() };
        let for_left = if keeps_left { Vec::new() } else { on.clone() };
        let for_right = if keeps_right { Vec::new() } else { on.clone() };
        let lefts = self.from(&join.left, &[of_left, for_left].concat(), env)?;
        let rights = self.from(&join.right, &[of_right, for_right].concat(), env)?;
        if !keeps_left {
            return self.left_join((&rights, &join.right), (&lefts, &join.left), &on, env, false);
        }
        self.left_join((&lefts, &join.left), (&rights, &join.right), &on, env, keeps_right)
    }

    /// All rows of the first with their partners among the second, or NULL; and the other way round if asked for.
    fn left_join(
        &mut self,
        (lefts, left): (&[Joined], &From),
        (rights, right): (&[Joined], &From),
        on: &[&Expr],
        env: &Env,
        keeps_right: bool,
    ) -> Result<Vec<Joined>, Stop> {
        let nulls = self.null_bindings(right);
        let merges = !keeps_right && self.is_joined_by_key(left, right, on);
        let mut joined = Vec::new();
        let mut partners_of_right: Vec<Vec<Term>> = vec![Vec::new(); rights.len()];
        for row in lefts {
            let mut matches = Vec::new();
            for (at, other) in rights.iter().enumerate() {
                let partners = self.partners(row, std::slice::from_ref(other), on, env)?;
                if let Some(partner) = partners.into_iter().next() {
                    partners_of_right[at].push(self.world.terms.and(partner.present, row.present));
                    matches.push(partner);
                }
            }
            let terms = &mut self.world.terms;
            let any = terms.any(matches.iter().map(|one| one.present));
            let alone = [row.bindings.as_slice(), &nulls].concat();
            if merges {
                let none = terms.not(any);
                matches.push(Joined { present: none, bindings: alone });
                let bindings = merge(terms, &matches);
                joined.push(Joined { present: row.present, bindings });
            } else {
                let none = terms.not(any);
                matches.push(Joined { present: none, bindings: alone });
                for mut one in matches {
                    one.present = terms.and(one.present, row.present);
                    joined.extend(Some(one).filter(|one| one.present != Terms::FALSE));
                }
            }
            self.world.check_size(joined.len())?;
        }
        if keeps_right {
            let nulls = self.null_bindings(left);
            for (row, partners) in rights.iter().zip(partners_of_right) {
                let terms = &mut self.world.terms;
                let any = terms.any(partners);
                let none = terms.not(any);
                let present = terms.and(row.present, none);
                joined.push(Joined { present, bindings: [nulls.as_slice(), &row.bindings].concat() });
            }
        }
        Ok(joined)
    }

    fn null_bindings(&mut self, from: &From) -> Bindings {
        let null = self.world.terms.null();
        let relations = from.relations();
        relations.into_iter().map(|relation| (relation.id, vec![null; self.width(relation)].into())).collect()
    }

    fn width(&self, relation: &Relation) -> usize {
        match &relation.source {
            RelationSource::Table(id) => match self.world.tables.get(id).and_then(|rows| rows.first()) {
                Some(row) => row.values.len(),
                None => self.world.schema.table(*id).map_or(0, |table| table.columns.len()),
            },
            RelationSource::Derived(query) => query.width(),
            RelationSource::Cte(id) => {
                self.ctes.get(id).and_then(|rows| rows.first()).map_or(64, |row| row.values.len())
            }
            RelationSource::Function { .. } | RelationSource::Catalog => 0,
        }
    }

    /// The order of the operands in which a chain of inner joins makes the fewest rows.
    fn join_order(
        &self,
        leaves: &[Leaf<'_>],
        tables: &[Vec<Joined>],
        conditions: &[Condition<'_>],
    ) -> Vec<usize> {
        let orders = (0..leaves.len()).map(|first| {
            let mut order = vec![first];
            let mut bound = leaves[first].relations.clone();
            let mut cost = tables[first].len().max(1);
            while order.len() < leaves.len() {
                let rest = (0..leaves.len()).filter(|at| !order.contains(at));
                let next = rest.min_by_key(|&at| {
                    let by_key = self.joins_by_key(&leaves[at], &bound, conditions);
                    let is_linked = conditions.iter().any(|condition| {
                        !condition.reads.is_disjoint(&bound)
                            && !condition.reads.is_disjoint(&leaves[at].relations)
                    });
                    (!by_key, !is_linked, at)
                });
                let Some(next) = next else { break };
                if !self.joins_by_key(&leaves[next], &bound, conditions) {
                    cost = cost.saturating_mul(tables[next].len().max(1));
                }
                bound.extend(&leaves[next].relations);
                order.push(next);
            }
            (cost, order)
        });
        orders.min().map(|(_, order)| order).unwrap_or_default()
    }

    /// Whether each row so far has at most one partner in the operand: it is a table, and its unique key is equated
    /// with what is bound.
    fn joins_by_key(
        &self,
        leaf: &Leaf<'_>,
        bound: &BTreeSet<RelationId>,
        conditions: &[Condition<'_>],
    ) -> bool {
        let From::Relation(relation) = leaf.from else { return false };
        let equated: Vec<u32> = conditions
            .iter()
            .filter_map(|condition| {
                let others: BTreeSet<RelationId> =
                    condition.reads.iter().copied().filter(|read| *read != relation.id).collect();
                others.is_subset(bound).then(|| self.equated_column(condition.expr, relation)).flatten()
            })
            .collect();
        self.is_unique(relation, &equated)
    }

    fn is_joined_by_key(&self, left: &From, right: &From, on: &[&Expr]) -> bool {
        let From::Relation(relation) = right else { return false };
        let relations = relations_of(left);
        let equated = on.iter().filter(|expr| {
            let reads = reads_of(expr);
            reads.iter().any(|read| relations.contains(read)) || reads.len() == 1
        });
        let equated: Vec<u32> = equated.filter_map(|expr| self.equated_column(expr, relation)).collect();
        self.is_unique(relation, &equated)
    }

    fn is_unique(&self, relation: &Relation, columns: &[u32]) -> bool {
        let RelationSource::Table(id) = relation.source else { return false };
        self.world.schema.table(id).is_some_and(|table| table.is_unique(columns))
    }

    /// The column of the relation that the condition equates with something else, such that rows that differ in the
    /// column cannot both satisfy it.
    fn equated_column(&self, expr: &Expr, relation: &Relation) -> Option<u32> {
        let Expr::Binary(BinaryOperator::Equal, left, right) = expr else { return None };
        let sides = [(left, right), (right, left)];
        sides.into_iter().find_map(|(side, other)| {
            let Expr::Column(ColumnRef { relation: id, column }) = **side else { return None };
            let column = column.position()?;
            let is_own = id == relation.id && !reads_of(other).contains(&relation.id);
            let comparison = self.facts.comparison(left, right);
            let affinity = self.facts.affinity(side);
            let is_numeric = matches!(affinity, Fact::Known(Some(affinity)) if affinity.is_numeric());
            let keeps_apart = comparison.conversion == Fact::Known(Conversion::None)
                || (comparison.conversion == Fact::Known(Conversion::ToNumber) && is_numeric);
            let is_bytes = comparison.collation.is(&Collation::Binary) && self.is_bytes(side);
            (is_own && keeps_apart && is_bytes).then_some(column)
        })
    }
}

/// The values of one of several rows, of which at most one is there: the last where none of the others is.
fn merge(terms: &mut Terms, rows: &[Joined]) -> Bindings {
    let Some((last, others)) = rows.split_last() else { return Vec::new() };
    let mut bindings = last.bindings.clone();
    for (at, (_, values)) in bindings.iter_mut().enumerate() {
        let chosen: Vec<SymbolicValue> = (0..values.len())
            .map(|column| {
                others.iter().rev().fold(values[column], |rest, row| {
                    let value = row.bindings[at].1[column];
                    terms.choose_value(row.present, value, rest)
                })
            })
            .collect();
        *values = chosen.into();
    }
    bindings
}

/// The operands of AND, however nested.
pub(super) fn split<'e>(expr: &'e Expr, conjuncts: &mut Vec<&'e Expr>) {
    match expr {
        Expr::And(operands) => operands.iter().for_each(|operand| split(operand, conjuncts)),
        other => conjuncts.push(other),
    }
}

fn flatten<'q>(from: &'q From, leaves: &mut Vec<Leaf<'q>>, conditions: &mut Vec<&'q Expr>) {
    match from {
        From::Join(join) if matches!(join.kind, JoinKind::Inner | JoinKind::Cross) => {
            flatten(&join.left, leaves, conditions);
            flatten(&join.right, leaves, conditions);
            if let Some(on) = &join.on {
                split(on, conditions);
            }
        }
        other => leaves.push(Leaf { from: other, relations: relations_of(other) }),
    }
}

fn relations_of(from: &From) -> BTreeSet<RelationId> {
    from.relations().into_iter().map(|relation| relation.id).collect()
}

/// The relations that an expression reads, its subqueries included.
pub(super) fn reads_of(expr: &Expr) -> BTreeSet<RelationId> {
    let columns = match expr {
        Expr::Exists { query, .. } | Expr::Scalar(query) => reads::columns(query),
        other => reads::columns(other),
    };
    columns.into_iter().map(|column| column.relation).collect()
}

fn env_has(env: &Env, relation: RelationId) -> bool {
    env.column(ColumnRef::at(relation, 0)).is_some()
}
