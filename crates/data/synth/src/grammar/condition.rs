//! WHERE: predicates that hold on a sampled row.

use sqlgauge_sql::derive::collect_columns;
use sqlgauge_sql::tree::{BinaryOperator, Expr, LikeOperator, Literal, UnaryOperator};

use super::draft::Draft;
use super::{Facet, FromRelation, Grammar};
use crate::wish::Demand;
use crate::world::ContentKind;

/// Operators that a predicate can be asked for.
const PREDICATES: &[&str] =
    &["equal", "not_equal", "less", "greater", "between", "in_list", "like", "is_null", "not"];

impl Grammar<'_> {
    /// The conditions of a draft, wanted ones first.
    pub(super) fn conditions(&mut self, scope: &[FromRelation], draft: &mut Draft) -> Vec<Expr> {
        let mut found = Vec::new();
        // Two conditions on one column mostly say one thing twice.
        let mut scope = scope.to_vec();
        for _ in 0..draft.conditions {
            let is_alternative = draft.take(&["or"]).is_some() || self.chance(5);
            let want = draft.take(PREDICATES);
            let Some(one) = self.predicate(&scope, want) else { continue };
            forget(&mut scope, &one);
            let condition = match is_alternative.then(|| self.predicate(&scope, None)).flatten() {
                Some(other) if other != one => Expr::Or(vec![one, other]),
                _ => one,
            };
            forget(&mut scope, &condition);
            found.push(condition);
        }
        found
    }

    /// A predicate over a column of the scope.
    pub(super) fn predicate(&mut self, scope: &[FromRelation], want: Option<&str>) -> Option<Expr> {
        let demanded = self.demanded(scope);
        let all: Vec<(&FromRelation, &Facet)> =
            scope.iter().flat_map(|bound| bound.facets.iter().map(move |facet| (bound, facet))).collect();
        for _ in 0..6 {
            let weight = |(bound, facet): &(&FromRelation, &Facet)| {
                let is_demanded = demanded == Some((bound.id, facet.column));
                if is_demanded { 200.0 } else { self.fitness(facet, want) }
            };
            let weights: Vec<f64> = all.iter().map(weight).collect();
            let (bound, facet) = all[super::weighted(&weights, &mut self.random)?];
            let (bound, facet) = (bound.clone(), facet.clone());
            if let Some(predicate) = self.over(&bound, &facet, want) {
                if demanded == Some((bound.id, facet.column)) {
                    self.demand = None;
                }
                return Some(predicate);
            }
        }
        None
    }

    /// The column that is demanded, where it is in the scope.
    pub(super) fn demanded(
        &self,
        scope: &[FromRelation],
    ) -> Option<(sqlgauge_sql::tree::RelationId, sqlgauge_sql::tree::ColumnRef)> {
        let Some(Demand::Column(table, column)) = self.demand else { return None };
        let bound = scope.iter().find(|bound| bound.table == Some(table))?;
        let facet = bound.facets.iter().find(|facet| facet.source == Some((table, column)))?;
        Some((bound.id, facet.column))
    }

    /// How well a column serves for a predicate.
    fn fitness(&self, facet: &Facet, want: Option<&str>) -> f64 {
        let has_null = facet
            .source
            .is_some_and(|(table, column)| self.world.tables[table].columns[column as usize].has_null);
        let base = match facet.kind {
            ContentKind::Category => 3.0,
            ContentKind::Number => 2.5,
            ContentKind::Date => 2.0,
            ContentKind::Text => 1.5,
            ContentKind::Key => 0.25,
            ContentKind::Other => 0.0,
        };
        match want {
            Some("is_null") => f64::from(u8::from(has_null)),
            Some("like")
                if !matches!(facet.kind, ContentKind::Text | ContentKind::Category | ContentKind::Date) =>
            {
                0.0
            }
            Some("between" | "less" | "greater")
                if !matches!(facet.kind, ContentKind::Number | ContentKind::Date) =>
            {
                0.0
            }
            Some("in_list")
                if !matches!(facet.kind, ContentKind::Category | ContentKind::Text | ContentKind::Number) =>
            {
                0.0
            }
            _ => base,
        }
    }

    /// A predicate over that column, true on the row of its relation where it has one.
    fn over(&mut self, bound: &FromRelation, facet: &Facet, want: Option<&str>) -> Option<Expr> {
        if want == Some("is_null") {
            let negated = self.chance(50);
            return Some(Expr::IsNull { expr: Box::new(facet.expr()), negated });
        }
        let Some((table, column)) = facet.source else { return self.over_count(facet, want) };
        let row = if bound.table.is_some() {
            bound.row
        } else {
            self.random.below(self.world.tables[table].sample.len())
        };
        let own = self.world.tables[table].value(row, column)?.clone();
        let other = self.another(table, column, &own);
        match want {
            Some(want) => self.wanted(want, facet, own, other),
            None => self.natural(facet, own, other),
        }
    }

    /// A value of the column other than that one.
    fn another(&mut self, table: usize, column: u32, own: &Literal) -> Option<Literal> {
        let profile = &self.world.tables[table];
        (0..6).find_map(|_| {
            let row = self.random.below(profile.sample.len());
            profile.value(row, column).filter(|value| *value != own).cloned()
        })
    }

    /// A predicate over a count of a subquery.
    fn over_count(&mut self, facet: &Facet, want: Option<&str>) -> Option<Expr> {
        let bound = i64::try_from(1 + self.random.below(4)).ok()?;
        let operator = match want {
            None | Some("greater") => {
                *self.random.pick(&[BinaryOperator::Greater, BinaryOperator::GreaterEqual])?
            }
            Some("equal") => BinaryOperator::Equal,
            Some("not_equal") => BinaryOperator::NotEqual,
            Some("less") => BinaryOperator::LessEqual,
            Some(_) => return None,
        };
        let is_count = facet.kind == ContentKind::Number && facet.is_integer;
        is_count.then(|| comparison(operator, facet, Literal::Integer(bound)))
    }

    /// The predicate by which a person would ask for such a value.
    fn natural(&mut self, facet: &Facet, own: Literal, other: Option<Literal>) -> Option<Expr> {
        let wants: &[(&str, f64)] = match facet.kind {
            ContentKind::Number => {
                &[("greater", 4.0), ("less", 3.5), ("between", 1.5), ("equal", 1.0), ("not_equal", 0.4)]
            }
            ContentKind::Date => {
                &[("greater", 3.0), ("less", 3.0), ("between", 1.5), ("equal", 0.7), ("like", 1.0)]
            }
            ContentKind::Category => {
                &[("equal", 6.0), ("not_equal", 1.0), ("in_list", 1.2), ("like", 0.4), ("not", 0.4)]
            }
            ContentKind::Text => {
                &[("equal", 4.0), ("like", 3.0), ("not_equal", 0.4), ("in_list", 0.6), ("not", 0.4)]
            }
            ContentKind::Key => &[("equal", 3.0), ("in_list", 1.0), ("not_equal", 0.3)],
            ContentKind::Other => &[],
        };
        let want = self.choose(wants, |(_, weight)| *weight)?.0;
        self.wanted(want, facet, own, other)
    }

    fn wanted(&mut self, want: &str, facet: &Facet, own: Literal, other: Option<Literal>) -> Option<Expr> {
        match want {
            "equal" => Some(comparison(BinaryOperator::Equal, facet, own)),
            "not_equal" => Some(comparison(BinaryOperator::NotEqual, facet, other?)),
            "less" | "greater" => on_side(want == "less", facet, own, other),
            "between" => {
                let other = other?;
                let (low, high) = if less(&own, &other)? { (own, other) } else { (other, own) };
                Some(between(facet, low, high, false))
            }
            "in_list" => {
                let mut list = vec![own, other?];
                list.sort();
                Some(in_list(facet, list, false))
            }
            "like" => self.like(facet, &own, false),
            "not" => self.negation(facet, &own, other?),
            _ => None,
        }
    }

    /// LIKE with a word, the beginning or the end of a value.
    fn like(&mut self, facet: &Facet, value: &Literal, negated: bool) -> Option<Expr> {
        let Literal::Text(text) = value else { return None };
        let words: Vec<&str> =
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= 2).collect();
        let &word = self.random.pick(&words)?;
        let pattern = if facet.kind == ContentKind::Date {
            format!("{}%", text.get(..[4, 7][self.random.below(2)])?)
        } else if text.starts_with(word) && self.chance(60) {
            let length = word.char_indices().nth(3).map_or(word.len(), |(at, _)| at);
            let head = if self.chance(40) { &word[..length] } else { word };
            format!("{head}%")
        } else if text.ends_with(word) && self.chance(50) {
            format!("%{word}")
        } else {
            format!("%{word}%")
        };
        let operator = LikeOperator::Like;
        let pattern = Box::new(Expr::Literal(Literal::Text(pattern)));
        Some(Expr::Like { operator, expr: Box::new(facet.expr()), pattern, escape: None, negated })
    }

    /// Something with NOT that leaves the row's own value.
    fn negation(&mut self, facet: &Facet, own: &Literal, other: Literal) -> Option<Expr> {
        match self.random.below(4) {
            0 => self.like(facet, &other, true),
            1 if matches!(facet.kind, ContentKind::Number | ContentKind::Date) => {
                let above = less(own, &other)?;
                let operator = if above { BinaryOperator::GreaterEqual } else { BinaryOperator::LessEqual };
                let condition = comparison(operator, facet, other);
                Some(Expr::Unary(UnaryOperator::Not, Box::new(condition)))
            }
            2 => Some(Expr::Unary(
                UnaryOperator::Not,
                Box::new(comparison(BinaryOperator::Equal, facet, other)),
            )),
            _ => Some(in_list(facet, vec![other], true)),
        }
    }
}

/// Takes the columns of a condition out of a scope.
pub(super) fn forget(scope: &mut [FromRelation], condition: &Expr) {
    let mut columns = Vec::new();
    collect_columns(condition, &mut columns);
    for bound in scope {
        bound.facets.retain(|facet| !columns.contains(&facet.column));
    }
}

/// `<` or `>` with a value on the right side of the row's own.
fn on_side(less_than: bool, facet: &Facet, own: Literal, other: Option<Literal>) -> Option<Expr> {
    let strict =
        other.as_ref().and_then(|other| less(&own, other)).is_some_and(|is_less| is_less == less_than);
    let (operator, value) = match (strict, less_than) {
        (true, true) => (BinaryOperator::Less, other?),
        (true, false) => (BinaryOperator::Greater, other?),
        (false, true) => (BinaryOperator::LessEqual, own),
        (false, false) => (BinaryOperator::GreaterEqual, own),
    };
    matches!(facet.kind, ContentKind::Number | ContentKind::Date).then(|| comparison(operator, facet, value))
}

/// A column compared with a constant.
pub(super) fn comparison(operator: BinaryOperator, facet: &Facet, value: Literal) -> Expr {
    Expr::Binary(operator, Box::new(facet.expr()), Box::new(Expr::Literal(value)))
}

fn between(facet: &Facet, low: Literal, high: Literal, negated: bool) -> Expr {
    let literal = |value| Box::new(Expr::Literal(value));
    Expr::Between { expr: Box::new(facet.expr()), low: literal(low), high: literal(high), negated }
}

fn in_list(facet: &Facet, list: Vec<Literal>, negated: bool) -> Expr {
    Expr::InList {
        expr: Box::new(facet.expr()),
        list: list.into_iter().map(Expr::Literal).collect(),
        negated,
    }
}

/// Whether a value comes before another of its kind, as SQLite sorts them.
fn less(left: &Literal, right: &Literal) -> Option<bool> {
    let number = |literal: &Literal| match literal {
        Literal::Integer(integer) => Some(*integer as f64),
        Literal::Real(real) => Some(real.get()),
        _ => None,
    };
    match (left, right) {
        (Literal::Text(left), Literal::Text(right)) => Some(left < right),
        _ => Some(number(left)? < number(right)?),
    }
}
