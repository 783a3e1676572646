//! Queries inside of queries.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Aggregate, Args, BinaryOperator, Body, ColumnRef, Expr, Query, Select};

use super::condition::forget;
use super::draft::{Draft, Form, Nest, any_nest};
use super::from::{ends, link_condition};
use super::output::has_aggregate;
use super::{Facet, FromRelation, Grammar, TypedSelect, conjunction, equal, output, select_of};
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
        let conditions = usize::from(if nest.is_some() { self.chance(25) } else { self.chance(85) });
        Draft {
            form: Form::List,
            joins: usize::from(self.chance(15)),
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
            Nest::Scalar => self.compared(scope, levels).or_else(|| self.contained(scope, levels)),
            Nest::Exists => self.exists(scope, levels).or_else(|| self.contained(scope, levels)),
            _ => self.contained(scope, levels),
        }
    }

    /// `a IN (SELECT b …)`: along a link, or the values of the same column that another condition leaves.
    fn contained(&mut self, scope: &[FromRelation], levels: usize) -> Option<Expr> {
        let mut ways: Vec<(Facet, usize, u32)> = Vec::new();
        for facet in scope.iter().flat_map(|bound| &bound.facets) {
            let Some((table, column)) = facet.source else { continue };
            for link in &self.world.links {
                if link.child == table && link.child_columns == [column] {
                    ways.extend(
                        link.parent_columns.first().map(|&target| (facet.clone(), link.parent, target)),
                    );
                } else if link.parent == table && link.parent_columns == [column] {
                    ways.extend(
                        link.child_columns.first().map(|&target| (facet.clone(), link.child, target)),
                    );
                }
            }
            if facet.kind != ContentKind::Other && ways.len() < 40 {
                ways.push((facet.clone(), table, column));
            }
        }
        let weight = |(facet, table, _): &(Facet, usize, u32)| {
            let is_link = facet.source.is_some_and(|(own, _)| own != *table);
            match (is_link, facet.kind) {
                (true, _) => 6.0,
                (false, ContentKind::Number | ContentKind::Date) => 0.3,
                (false, _) => 1.0,
            }
        };
        let (facet, table, column) = self.choose(&ways, weight)?.clone();
        let query = self.column_query(table, column, levels)?;
        let negated = levels == 1 && self.chance(15);
        Some(Expr::InQuery { expr: Box::new(facet.expr()), query: Box::new(query), negated })
    }

    /// The values of a column, by conditions.
    fn column_query(&mut self, table: usize, column: u32, levels: usize) -> Option<Query> {
        let mut draft = self.inner_draft(levels);
        draft.joins = 0;
        if matches!(draft.nest, Some(Nest::Derived | Nest::Having)) {
            draft.nest = Some(Nest::In);
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
        let mut select = Select { from: Some(from), ..select_of(vec![output(facet.expr())]) };
        if levels == 1 && is_shared && (conditions.is_empty() || self.chance(15)) {
            select.group_by = vec![facet.expr()];
            select.having = Some(self.more_than(&[1, 1, 2, 3])?);
        }
        select.filter = conjunction(conditions);
        Some(Query::of(Body::Select(Box::new(select))))
    }

    /// `count(*) > n`.
    pub(super) fn more_than(&mut self, bounds: &[i64]) -> Option<Expr> {
        use sqlgauge_sql::tree::Literal;
        let bound = *self.random.pick(bounds)?;
        let (operator, bound) = if self.chance(50) {
            (BinaryOperator::Greater, bound)
        } else {
            (BinaryOperator::GreaterEqual, bound + 1)
        };
        let count = Expr::Aggregate(Box::new(Aggregate::plain(Function::Count, Args::Star)));
        Some(Expr::Binary(operator, Box::new(count), Box::new(Expr::Literal(Literal::Integer(bound)))))
    }

    /// `a > (SELECT avg(a) …)`, also over the rows that share a category with the row around.
    fn compared(&mut self, scope: &[FromRelation], levels: usize) -> Option<Expr> {
        let numbers: Vec<(&FromRelation, &Facet)> = scope
            .iter()
            .filter(|bound| bound.table.is_some())
            .flat_map(|bound| bound.facets.iter().map(move |facet| (bound, facet)))
            .filter(|(_, facet)| facet.kind == ContentKind::Number)
            .collect();
        let (around, facet) = {
            let &(around, facet) = self.random.pick(&numbers)?;
            (around.clone(), facet.clone())
        };
        let (table, column) = facet.source?;
        let (function, operators): (_, &[BinaryOperator]) = match self.random.below(5) {
            0 => (Function::Max, &[BinaryOperator::Equal]),
            1 => (Function::Min, &[BinaryOperator::Equal]),
            _ => (Function::Avg, &[BinaryOperator::Greater, BinaryOperator::Greater, BinaryOperator::Less]),
        };
        let operator = *self.random.pick(operators)?;
        let is_correlated =
            self.wish.operator.get().name == "correlated_subquery" || (levels == 1 && self.chance(15));
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
            let like = |own: &Facet| scope[0].facets.iter().find(|facet| facet.source == own.source);
            let own = around.facets.iter().filter(|facet| facet.kind == ContentKind::Category);
            let shared: Vec<(&Facet, &Facet)> = own.filter_map(|own| Some((own, like(own)?))).collect();
            let &(outer, inner) = self.random.pick(&shared)?;
            conditions.push(equal(inner.expr(), outer.expr()));
        } else if self.chance(35) {
            conditions = self.conditions(&scope, &mut draft);
        }
        if let Some(nest) = draft.nest {
            let nest = if matches!(nest, Nest::Derived | Nest::Having) { Nest::In } else { nest };
            conditions.push(self.nested_condition(nest, &scope, levels - 1)?);
        }
        let aggregate = Aggregate::plain(function, Args::List(vec![facet.expr()]));
        let mut select = select_of(vec![output(Expr::Aggregate(Box::new(aggregate)))]);
        select.from = Some(from);
        select.filter = conjunction(conditions);
        Some(Query::of(Body::Select(Box::new(select))))
    }

    /// The links of the tables of a scope; each with the bound and whether it leads to the parent.
    fn links_of(&self, scope: &[FromRelation]) -> Vec<(FromRelation, Link, bool)> {
        let mut found = Vec::new();
        for bound in scope {
            for link in &self.world.links {
                if bound.table == Some(link.parent) {
                    found.push((bound.clone(), link.clone(), false));
                } else if bound.table == Some(link.child) {
                    found.push((bound.clone(), link.clone(), true));
                }
            }
        }
        found
    }

    /// `EXISTS (SELECT … WHERE u.b = t.a AND …)`.
    fn exists(&mut self, scope: &[FromRelation], levels: usize) -> Option<Expr> {
        let links = self.links_of(scope);
        let (around, link, to_parent) =
            self.choose(&links, |(_, _, to_parent)| if *to_parent { 0.3 } else { 1.0 })?.clone();
        let mut draft = self.inner_draft(levels);
        let (from, bound) = self.table(if to_parent { link.parent } else { link.child });
        let mut conditions = vec![link_condition(&around, &bound, &link, to_parent)?];
        let key = *ends(&link, to_parent).1.first()?;
        let column = ColumnRef::at(bound.id, key);
        let scope = [bound];
        conditions.extend(self.conditions(&scope, &mut draft));
        if let Some(nest) = draft.nest {
            let nest = if matches!(nest, Nest::Derived | Nest::Having) { Nest::In } else { nest };
            conditions.push(self.nested_condition(nest, &scope, levels - 1)?);
        }
        let mut select = select_of(vec![output(Expr::Column(column))]);
        select.from = Some(from);
        select.filter = conjunction(conditions);
        let query = Box::new(Query::of(Body::Select(Box::new(select))));
        let negated = levels == 1 && self.chance(25);
        Some(Expr::Exists { query, negated })
    }

    /// Adds a result column that counts or sums up what is linked with the row.
    pub(super) fn nested_output(
        &mut self,
        made: &mut TypedSelect,
        scope: &[FromRelation],
        levels: usize,
    ) -> Option<()> {
        if !made.select.group_by.is_empty() || made.select.distinct || has_aggregate(&made.select) {
            return None;
        }
        let links: Vec<_> = self.links_of(scope).into_iter().filter(|(_, _, to_parent)| !to_parent).collect();
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
        let mut select = select_of(vec![output(Expr::Aggregate(Box::new(aggregate)))]);
        select.from = Some(from);
        select.filter = conjunction(conditions);
        made.select.outputs.push(output(Expr::Scalar(Box::new(Query::of(Body::Select(Box::new(select)))))));
        Some(())
    }
}
