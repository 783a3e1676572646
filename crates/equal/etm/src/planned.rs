//! Whether SQLite's plan may decide what a statement returns: of such a statement nothing is rewritten.
//!
//! It is so where the rows of any query in it depend on a plan ([`crate::sensitive`]). A subquery in FROM, a common table
//! expression and a view are more delicate than a whole statement: SQLite chooses their index by the columns that are read of
//! them. A comparison also depends on the plan if a compound gives its column different affinities: SQLite may move the
//! comparison into the compound.

use sqlgauge_sql::derive::{Fact, Facts};
use sqlgauge_sql::schema::{Collation, TableId, TableKind};
use sqlgauge_sql::tree::{Body, Expr, Query, Relation, RelationSource, Select};
use sqlgauge_sql::visit::{Visitor, children, walk_query};

use crate::beside::{each_comparison, leaves, texts};
use crate::context::Position;
use crate::sensitive::{Sensitivity, sensitivity};
use crate::tools;

/// Whether SQLite's plan may decide what a query in that position returns, or a query inside it.
pub(crate) fn plan_shows(query: &Query, position: Position, facts: &Facts<'_>) -> bool {
    let mut plans = Plans { facts, next: position, views: Vec::new(), show: false };
    walk_query(&mut plans, query);
    plans.show
}

struct Plans<'f, 'a> {
    facts: &'f Facts<'a>,
    /// Where the query that is visited next stands.
    next: Position,
    /// The views that are known or being looked at.
    views: Vec<TableId>,
    show: bool,
}

impl Plans<'_, '_> {
    fn look(&mut self, query: &Query, position: Position) {
        let is_read = matches!(position, Position::Derived | Position::Cte);
        self.show |= match sensitivity(query, position, self.facts) {
            Sensitivity::None => false,
            Sensitivity::Groups | Sensitivity::Scan => is_read,
            Sensitivity::Rows => true,
        };
    }

    fn view(&mut self, id: TableId) {
        let schema = self.facts.schema();
        let is_view = schema.table(id).is_some_and(|table| table.kind == TableKind::View);
        let view = schema.definition(id).and_then(|definition| definition.view.as_ref());
        if let (true, false, Some(view)) = (is_view, self.views.contains(&id), view) {
            self.views.push(id);
            let facts = Facts::of(view, schema);
            let views = std::mem::take(&mut self.views);
            let mut plans = Plans { facts: &facts, next: Position::Derived, views, show: false };
            walk_query(&mut plans, view);
            self.views = plans.views;
            self.show |= plans.show;
        }
    }
}

impl Visitor for Plans<'_, '_> {
    fn query(&mut self, query: &Query) {
        let position = std::mem::replace(&mut self.next, Position::In);
        self.look(query, position);
        for cte in &query.ctes {
            self.look(&cte.query, Position::Cte);
            // Whether SQLite moves comparisons into it depends on how often it is read.
            self.show |= self.facts.cte_mixes(cte.id);
        }
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

    fn relation(&mut self, relation: &Relation) {
        match &relation.source {
            RelationSource::Derived(_) => self.next = Position::Derived,
            RelationSource::Table(id) => self.view(*id),
            RelationSource::Cte(_) | RelationSource::Function { .. } | RelationSource::Catalog => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Scalar(_) => self.next = Position::Scalar,
            Expr::Exists { .. } => self.next = Position::Exists,
            _ => {}
        }
    }
}

/// Whether a comparison in WHERE or ON has an effect that depends on where SQLite evaluates it.
pub(crate) fn has_mixed_comparison(select: &Select, facts: &Facts<'_>) -> bool {
    let Some(from) = &select.from else { return false };
    let mixes = from.relations().iter().any(|relation| facts.mixes(relation.id));
    let mut conditions = tools::on_exprs(from).into_iter().chain(&select.filter);
    conditions.any(|condition| mixes_within(condition, mixes, facts))
}

fn mixes_within(expr: &Expr, mixes: bool, facts: &Facts<'_>) -> bool {
    let mut any = is_sought_otherwise(expr, facts);
    if mixes {
        each_comparison(expr, &mut |left, right| any |= is_mixed(left, right, facts));
    }
    children(expr, &mut |child| any = any || mixes_within(child, mixes, facts));
    any
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
        let collation = match facts.operand(value).collating {
            Fact::Known(source) => Fact::Known(source.map_or(Collation::Binary, |source| source.collation)),
            Fact::Unknown => Fact::Unknown,
        };
        let used = facts.comparison(value, result).collation;
        (used != collation || collation == Fact::Unknown) && texts(facts, [value]) && texts(facts, [result])
    };
    let results = leaves(&query.body).into_iter().flatten();
    results.into_iter().any(|results| values.iter().zip(results).any(is_other))
}

/// Whether what a comparison does depends on where SQLite evaluates it.
pub(crate) fn is_mixed(left: &Expr, right: &Expr, facts: &Facts<'_>) -> bool {
    (facts.is_mixed(left) || facts.is_mixed(right)) && !facts.comparison(left, right).is_known()
}
