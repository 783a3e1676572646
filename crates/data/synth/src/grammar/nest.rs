//! Queries inside of queries.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Aggregate, Args, BinaryOperator, ColumnRef, Expr, Output, Query, Select};

use super::condition::forget;
use super::draft::{Draft, Form, Nest, any_nest};
use super::from::{ends, link_condition};
use super::output::has_aggregate;
use super::{Facet, FromRelation, Grammar, TypedSelect, conjunction};
use crate::tier::Tier;
use crate::world::{ContentKind, Link};

impl Grammar<'_> {
    /// The wish for an inner SELECT.
    pub(super) fn inner_draft(&mut self, levels: usize) -> Draft {
        let nest = (levels > 1).then(|| match any_nest(levels, &mut self.random) {
            // Common table expressions stand before the whole statement.
            Nest::With => Nest::Derived,
            Nest::Output => Nest::Exists,
            other => other,
        });
        // "Sizes whose description is Medium and that have dogs": to what the latter belongs is not clear.
        let conditions = usize::from(nest.is_none() && self.chance(85));
        Draft {
            form: Form::List,
            joins: usize::from(self.chance(8)),
            special: None,
            conditions,
            outputs: 1,
            distinct: false,
            having: false,
            ordered: false,
            limited: false,
            offset: false,
            compound: None,
            nest,
            shared: false,
            wanted: Vec::new(),
        }
    }

    /// A condition with a subquery of that many levels.
    pub(super) fn nested_condition(
        &mut self,
        nest: Nest,
        scope: &[FromRelation],
        levels: usize,
    ) -> Option<Expr> {
        match nest {
            Nest::Scalar if scope.len() > 1 => self.compared(scope, levels),
            Nest::Scalar => self.compared(scope, levels).or_else(|| self.contained(scope, levels)),
            Nest::Exists if self.wish.depth < 3 => self.exists(scope, levels),
            Nest::Exists => self.exists(scope, levels).or_else(|| self.contained(scope, levels)),
            // "Singers that have concerts" is said more often than by a list of values.
            _ if self.wish.operator.get().name != "in_subquery" && self.chance(90) => {
                let condition = self.exists(scope, levels);
                if self.wish.depth < 3 {
                    condition
                } else {
                    condition.or_else(|| self.contained(scope, levels))
                }
            }
            _ => self.contained(scope, levels),
        }
    }

    /// `a IN (SELECT b …)`: along a link, seldom the values of the same column that another condition leaves.
    fn contained(&mut self, scope: &[FromRelation], levels: usize) -> Option<Expr> {
        let mut ways: Vec<(f64, Facet, usize, u32)> = Vec::new();
        for facet in scope.iter().flat_map(|bound| &bound.facets) {
            let Some((table, column)) = facet.source else { continue };
            for link in &self.world.links {
                let likelihood = self.followed(link);
                if link.child == table && link.child_columns == [column] {
                    let target = link.parent_columns.first();
                    ways.extend(target.map(|&target| (likelihood, facet.clone(), link.parent, target)));
                } else if link.parent == table && link.parent_columns == [column] {
                    let target = link.child_columns.first();
                    let named = if self.world.is_between(link.child) { 0.03 } else { 0.3 };
                    ways.extend(
                        target.map(|&target| (named * likelihood, facet.clone(), link.child, target)),
                    );
                }
            }
        }
        // Back to a table around says little: singers of songs of singers.
        let tables: Vec<usize> = scope.iter().filter_map(|bound| bound.table).collect();
        let is_known = |table: &usize, facet: &Facet| {
            let is_other = facet.source.is_none_or(|(of, _)| of != *table);
            self.around.contains(table) || is_other && tables.contains(table)
        };
        ways.iter_mut().filter(|way| is_known(&way.2, &way.1)).for_each(|way| way.0 *= 0.005);
        // That values are among those of other rows says little where no key does.
        if ways.iter().map(|way| way.0).sum::<f64>() < 0.3 && self.chance(85) {
            return None;
        }
        let (_, facet, table, column) = self.choose(&ways, |(weight, ..)| *weight)?;
        let (facet, table, column) = (facet.clone(), *table, *column);
        let names_rows = facet.source.is_some_and(|(owner, at)| {
            owner != table
                && self.world.links.iter().any(|link| link.parent == owner && link.parent_columns == [at])
        });
        let depth = self.around.len();
        self.around.extend(tables);
        let query = self.column_query(table, column, levels, !names_rows);
        self.around.truncate(depth);
        let negated = levels == 1 && self.chance(15);
        Some(Expr::InQuery { expr: Box::new(facet.expr()), query: Box::new(query?), negated })
    }

    /// The values of a column, by conditions. That a row belongs to any row at all says nothing: then there `must` be a
    /// condition.
    fn column_query(&mut self, table: usize, column: u32, levels: usize, must: bool) -> Option<Query> {
        let mut draft = self.inner_draft(levels);
        draft.joins = 0;
        if matches!(draft.nest, Some(Nest::Derived | Nest::Having)) {
            draft.nest = Some(Nest::In);
        }
        if must && draft.nest.is_none() {
            draft.conditions = 1;
        }
        let (from, bound) = self.table(table);
        let facet = bound.facets.get(column as usize)?.clone();
        // A condition on the column itself could as well stand outside.
        let mut scope = [bound];
        forget(&mut scope, &facet.expr());
        let mut conditions = self.conditions(&scope, &mut draft);
        if let Some(nest) = draft.nest {
            conditions.push(self.nested_condition(nest, &scope, levels - 1)?);
        }
        let is_shared = !self.world.tables[table].columns[column as usize].is_distinct;
        let mut select = Select { from: Some(from), ..Select::of(vec![Output::of(facet.expr())]) };
        if levels == 1 && is_shared && !must && self.chance(if conditions.is_empty() { 30 } else { 8 }) {
            select.group_by = vec![facet.expr()];
            select.having = Some(self.more_than(&[1, 1, 2, 3])?);
        }
        if must && conditions.is_empty() {
            return None;
        }
        select.filter = conjunction(conditions);
        Some(Query::of_select(select))
    }

    /// `count(*) > n`.
    pub(super) fn more_than(&mut self, bounds: &[i64]) -> Option<Expr> {
        use sqlgauge_sql::tree::Literal;
        let bound = *self.random.pick(bounds)?;
        // "At least two" is said of what is more than one.
        let (operator, bound) = if bound > 1 && self.chance(50) {
            (BinaryOperator::Greater, bound)
        } else {
            (BinaryOperator::GreaterEqual, bound + 1)
        };
        let count = Expr::Aggregate(Box::new(Aggregate::plain(Function::Count, Args::Star)));
        Some(Expr::Binary(operator, Box::new(count), Box::new(Expr::Literal(Literal::Integer(bound)))))
    }

    /// `a > (SELECT avg(a) …)`, also over the rows that share a category with the row around.
    pub(super) fn compared(&mut self, scope: &[FromRelation], levels: usize) -> Option<Expr> {
        let numbers: Vec<(&FromRelation, &Facet)> = scope
            .iter()
            .filter(|bound| bound.table.is_some())
            // Of what is named last it is said best.
            .filter(|bound| !(scope.len() == 2 && scope[0].refers && bound.id == scope[0].id))
            .flat_map(|bound| bound.facets.iter().map(move |facet| (bound, facet)))
            .filter(|(_, facet)| facet.kind == ContentKind::Number && self.is_quantity(facet))
            .filter(|(_, facet)| !self.compared.contains(&facet.column))
            .collect();
        let (around, facet) = {
            let &(around, facet) = self.random.pick(&numbers)?;
            (around.clone(), facet.clone())
        };
        let (table, column) = facet.source?;
        let (function, operators): (_, &[BinaryOperator]) = match self.random.below(5) {
            0 | 1 if !self.has_extremes => (Function::Avg, &[BinaryOperator::Greater, BinaryOperator::Less]),
            0 => (Function::Max, &[BinaryOperator::Equal]),
            1 => (Function::Min, &[BinaryOperator::Equal]),
            _ => (Function::Avg, &[BinaryOperator::Greater, BinaryOperator::Greater, BinaryOperator::Less]),
        };
        let operator = *self.random.pick(operators)?;
        let is_correlated =
            self.wish.operator.get().name == "correlated_subquery" || (levels == 1 && self.chance(4));
        let query = self.value_query((table, column), function, levels, is_correlated.then_some(&around))?;
        Some(Expr::Binary(operator, Box::new(facet.expr()), Box::new(Expr::Scalar(Box::new(query)))))
    }

    /// An aggregate of a column, over all rows or those like the row around.
    pub(super) fn value_query(
        &mut self,
        (table, column): (usize, u32),
        function: Function,
        levels: usize,
        around: Option<&FromRelation>,
    ) -> Option<Query> {
        let mut draft = self.inner_draft(levels);
        let (from, bound) = self.table(table);
        let facet = bound.facets.get(column as usize)?.clone();
        let scope = [bound];
        let mut conditions = Vec::new();
        if let Some(around) = around {
            let like = |outer: &Facet| scope[0].facets.iter().find(|facet| facet.source == outer.source);
            let categories = around.facets.iter().filter(|facet| facet.kind == ContentKind::Category);
            let shared: Vec<(&Facet, &Facet)> =
                categories.filter_map(|facet| Some((facet, like(facet)?))).collect();
            let &(outer, inner) = self.random.pick(&shared)?;
            conditions.push(Expr::equal(inner.expr(), outer.expr()));
        } else if self.wish.tier == Tier::HighlyComplex && self.has_extremes && self.chance(15) {
            conditions = self.conditions(&scope, &mut draft);
        }
        if let Some(nest) = draft.nest {
            let nest = if matches!(nest, Nest::Derived | Nest::Having) { Nest::In } else { nest };
            conditions.push(self.nested_condition(nest, &scope, levels - 1)?);
        }
        let aggregate = Aggregate::plain(function, Args::List(vec![facet.expr()]));
        let mut select = Select::of(vec![Output::of(Expr::Aggregate(Box::new(aggregate)))]);
        select.from = Some(from);
        select.filter = conjunction(conditions);
        Some(Query::of_select(select))
    }

    /// The links of the tables of a scope; each with the bound and whether it leads to the parent.
    fn links_of(&self, scope: &[FromRelation]) -> Vec<(FromRelation, Link, bool)> {
        let mut links = Vec::new();
        for bound in scope {
            for link in &self.world.links {
                if bound.table == Some(link.parent) {
                    links.push((bound.clone(), link.clone(), false));
                } else if bound.table == Some(link.child) {
                    links.push((bound.clone(), link.clone(), true));
                }
            }
        }
        links
    }

    /// How likely a link is followed by a subquery: one key of several takes a sentence of its own, which is written where nothing
    /// else has the depth that is wished for.
    fn followed(&self, link: &Link) -> f64 {
        let likely = self.world.likely(link);
        if likely > 0.5 || self.wish.depth > 2 { likely } else { 0.0 }
    }

    /// `EXISTS (SELECT … WHERE u.b = t.a AND …)`.
    fn exists(&mut self, scope: &[FromRelation], levels: usize) -> Option<Expr> {
        let links = self.links_of(scope);
        let weight = |(_, link, to_parent): &(FromRelation, Link, bool)| {
            let other = if *to_parent { link.parent } else { link.child };
            let is_known =
                self.around.contains(&other) || scope.iter().any(|bound| bound.table == Some(other));
            let back = if is_known { 0.005 } else { 1.0 };
            // Rows of a table that only links others have no noun: "students that have has pets".
            let named = if self.world.is_between(other) { 0.05 } else { 1.0 };
            back * named * self.followed(link) * if *to_parent { 0.03 } else { 1.0 }
        };
        let weights: Vec<f64> = links.iter().map(weight).collect();
        // Where all ways lead back to a table around, to rows without a noun, or by one key of several, another query says more;
        // the deepest have no other way.
        if self.wish.depth <= 4 && weights.iter().sum::<f64>() < 0.4 && self.chance(85) {
            return None;
        }
        let (around, link, to_parent) = links[super::weighted(&weights, &mut self.random)?].clone();
        // A row belongs to what it refers to, and has what refers to it.
        if to_parent && self.wish.operator.get().name != "exists" && self.chance(90) {
            return None;
        }
        let mut draft = self.inner_draft(levels);
        let negated = levels == 1 && self.chance(25);
        // That people have poker players says nothing of them.
        if draft.nest.is_none() && !negated {
            draft.conditions = 1;
        }
        let (from, bound) = self.table(if to_parent { link.parent } else { link.child });
        let mut conditions = vec![link_condition(&around, &bound, &link, to_parent)?];
        let key = *ends(&link, to_parent).1.first()?;
        let column = ColumnRef::at(bound.id, key);
        let scope = [bound];
        conditions.extend(self.conditions(&scope, &mut draft));
        if let Some(nest) = draft.nest {
            let nest = if matches!(nest, Nest::Derived | Nest::Having) { Nest::In } else { nest };
            let depth = self.around.len();
            self.around.extend(around.table);
            let inner = self.nested_condition(nest, &scope, levels - 1);
            self.around.truncate(depth);
            conditions.push(inner?);
        }
        if conditions.len() < 2 && !negated {
            return None;
        }
        let mut select = Select::of(vec![Output::of(Expr::Column(column))]);
        select.from = Some(from);
        select.filter = conjunction(conditions);
        let query = Box::new(Query::of_select(select));
        Some(Expr::Exists { query, negated })
    }

    /// Adds a result column that counts or sums up what is linked with the row.
    pub(super) fn nested_output(
        &mut self,
        selection: &mut TypedSelect,
        scope: &[FromRelation],
        levels: usize,
    ) -> Option<()> {
        if !selection.select.group_by.is_empty()
            || selection.select.distinct
            || has_aggregate(&selection.select)
        {
            return None;
        }
        let mut links = self.links_of(scope);
        links.retain(|(_, link, to_parent)| !to_parent && self.followed(link) > 0.0);
        let (around, link, to_parent) = self.random.pick(&links)?.clone();
        let (from, bound) = self.table(link.child);
        let condition = link_condition(&around, &bound, &link, to_parent)?;
        let numbers: Vec<&Facet> =
            bound.facets.iter().filter(|facet| facet.kind == ContentKind::Number).collect();
        let aggregate = match self.random.pick(&numbers) {
            Some(facet) if self.random.chance(40) => {
                let function = self.random.pick(&[Function::Sum, Function::Avg, Function::Max])?.clone();
                Aggregate::plain(function, Args::List(vec![facet.expr()]))
            }
            _ => Aggregate::plain(Function::Count, Args::Star),
        };
        let scope = [bound];
        let mut draft = self.inner_draft(levels);
        let mut conditions = vec![condition];
        if let Some(nest) = draft.nest.take() {
            let nest = if matches!(nest, Nest::Derived | Nest::Having) { Nest::In } else { nest };
            conditions.push(self.nested_condition(nest, &scope, levels - 1)?);
        }
        let mut select = Select::of(vec![Output::of(Expr::Aggregate(Box::new(aggregate)))]);
        select.from = Some(from);
        select.filter = conjunction(conditions);
        selection.select.outputs.push(Output::of(Expr::Scalar(Box::new(Query::of_select(select)))));
        Some(())
    }
}
