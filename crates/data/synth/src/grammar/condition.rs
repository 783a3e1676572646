//! WHERE: predicates that hold on a sampled row.

use sqlgauge_sql::derive::collect_columns;
use sqlgauge_sql::tree::{BinaryOperator, Expr, LikeOperator, Literal, Real, RelationId};

use super::draft::Draft;
use super::{Facet, FromRelation, Grammar};
use crate::tier::Tier;
use crate::wish::Demand;
use crate::world::ContentKind;

/// Operators that a predicate can be asked for.
const PREDICATES: &[&str] =
    &["equal", "not_equal", "less", "greater", "between", "in_list", "like", "is_null", "not"];

impl Grammar<'_> {
    /// The conditions of a draft, wanted ones first.
    pub(super) fn conditions(&mut self, scope: &[FromRelation], draft: &mut Draft) -> Vec<Expr> {
        let mut conditions = Vec::new();
        // Two conditions on one column mostly say one thing twice.
        let mut scope = scope.to_vec();
        for _ in 0..draft.conditions {
            // Beside other conditions an alternative takes brackets.
            let is_alone = draft.conditions == 1 && draft.nest.is_none();
            let is_alternative =
                draft.take(&["or"]).is_some() || is_alone && self.wish.tier < Tier::Complex && self.chance(3);
            let want = draft.take(PREDICATES);
            let Some(one) = self.predicate(&scope, want) else { continue };
            forget(&mut scope, &one);
            // An alternative is one of the same rows.
            let relations: Vec<FromRelation> =
                scope.iter().filter(|bound| reads(&one, bound.id)).cloned().collect();
            let condition = match is_alternative.then(|| self.predicate(&relations, None)).flatten() {
                Some(other) if other != one => Expr::Or(vec![one, other]),
                _ => one,
            };
            forget(&mut scope, &condition);
            super::read_by(&mut scope, std::slice::from_ref(&condition));
            conditions.push(condition);
        }
        conditions
    }

    /// A predicate over a column of the scope.
    pub(super) fn predicate(&mut self, scope: &[FromRelation], want: Option<&str>) -> Option<Expr> {
        let demanded = self.demanded(scope);
        let all: Vec<(&FromRelation, &Facet)> =
            scope.iter().flat_map(|bound| bound.facets.iter().map(move |facet| (bound, facet))).collect();
        for _ in 0..6 {
            let weight = |(bound, facet): &(&FromRelation, &Facet)| {
                let is_demanded = demanded == Some((bound.id, facet.column));
                // A table that is joined is there for something.
                let unread = if bound.is_read || scope.len() == 1 { 1.0 } else { 8.0 };
                if is_demanded { 200.0 } else { unread * self.fitness(facet, want) }
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
    ) -> Option<(RelationId, sqlgauge_sql::tree::ColumnRef)> {
        let Some(Demand::Column(table, column)) = self.demand else { return None };
        let bound = scope.iter().find(|bound| bound.table == Some(table))?;
        let facet = bound.facets.iter().find(|facet| facet.source == Some((table, column)))?;
        Some((bound.id, facet.column))
    }

    /// How well a column serves for a predicate: a person asks by categories, quantities and names, and seldom by keys.
    fn fitness(&self, facet: &Facet, want: Option<&str>) -> f64 {
        let profile = self.profile(facet);
        let is_label = self.is_label(facet);
        let has_choice = profile.is_none_or(|profile| profile.distinct > 1 && !profile.is_cryptic);
        let base = match facet.kind {
            _ if !has_choice => 0.0,
            // A name is that of one row: what is computed over rows is not asked of one.
            _ if is_label && self.is_of_many => 0.0,
            ContentKind::Category => 3.0,
            ContentKind::Number if profile.is_none_or(|profile| profile.is_quantity) => 2.0,
            // The major above 500, where majors are codes.
            ContentKind::Number => 0.1,
            ContentKind::Date => 1.0,
            ContentKind::Text if self.is_of_many => 0.0,
            ContentKind::Text if is_label => 1.3,
            ContentKind::Text => 0.8,
            ContentKind::Key if profile.is_some_and(|profile| profile.is_text && !profile.is_distinct) => 0.1,
            ContentKind::Key | ContentKind::Other => 0.0,
        };
        let fits = match want {
            Some("is_null") => {
                return f64::from(u8::from(profile.is_some_and(|profile| profile.has_null && has_choice)));
            }
            Some("like") => facet.kind == ContentKind::Text,
            Some("between" | "less" | "greater") => {
                matches!(facet.kind, ContentKind::Number | ContentKind::Date)
            }
            // One of two or three values leaves nearly all.
            Some("in_list" | "not") => {
                facet.kind == ContentKind::Category && profile.is_some_and(|profile| profile.distinct > 3)
            }
            Some("not_equal") => facet.kind == ContentKind::Category,
            // Nobody asks for those whose population is 127,284.
            Some("equal")
                if facet.kind == ContentKind::Number
                    && profile.is_some_and(|profile| profile.distinct > 30) =>
            {
                false
            }
            // A moment to the second is not asked for.
            Some("equal") => facet.kind != ContentKind::Date || facet.is_integer,
            _ => true,
        };
        if fits { base } else { 0.0 }
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
        let value = self.world.tables[table].value(row, column)?.clone();
        let other = self.another(table, column, &value).map(|other| plain(facet, other));
        let value = plain(facet, value);
        match want {
            Some(want) => self.wanted(want, facet, value, other),
            None => self.natural(facet, value, other),
        }
    }

    /// A value of the column other than that one.
    pub(super) fn another(&mut self, table: usize, column: u32, except: &Literal) -> Option<Literal> {
        let profile = &self.world.tables[table];
        (0..6).find_map(|_| {
            let row = self.random.below(profile.sample.len());
            profile.value(row, column).filter(|value| *value != except).cloned()
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
    fn natural(&mut self, facet: &Facet, value: Literal, other: Option<Literal>) -> Option<Expr> {
        let wants: &[(&str, f64)] = match facet.kind {
            ContentKind::Number if facet.is_integer => {
                &[("greater", 4.0), ("less", 2.5), ("between", 1.0), ("equal", 0.4)]
            }
            ContentKind::Number => &[("greater", 4.0), ("less", 2.5), ("between", 1.0)],
            ContentKind::Date if facet.is_integer => {
                &[("equal", 3.0), ("greater", 2.0), ("less", 2.0), ("between", 1.0)]
            }
            ContentKind::Date => &[("greater", 2.0), ("less", 2.0), ("between", 0.8)],
            ContentKind::Category => &[("equal", 8.0), ("not_equal", 0.7), ("in_list", 1.0), ("not", 0.2)],
            ContentKind::Text => &[("equal", 4.0), ("like", 1.5)],
            ContentKind::Key => &[("equal", 1.0)],
            ContentKind::Other => &[],
        };
        let want = self.choose(wants, |(_, weight)| *weight)?.0;
        self.wanted(want, facet, value, other)
    }

    fn wanted(&mut self, want: &str, facet: &Facet, value: Literal, other: Option<Literal>) -> Option<Expr> {
        match want {
            // Nobody asks for a measure to the last digit.
            "equal" if facet.kind == ContentKind::Number && !(facet.is_integer && is_small(&value)) => None,
            "equal" => Some(comparison(BinaryOperator::Equal, facet, value)),
            "not_equal" => Some(comparison(BinaryOperator::NotEqual, facet, other?)),
            "less" | "greater" => self.on_side(want == "less", facet, &value),
            "between" => {
                let other = other?;
                let (low, high) = if less(&value, &other)? { (value, other) } else { (other, value) };
                let (low, high) = (round(facet, &low, true), round(facet, &high, false));
                (low != high).then(|| between(facet, low, high, false))
            }
            "in_list" if self.profile(facet).is_none_or(|profile| profile.distinct <= 3) => None,
            "in_list" => {
                let mut list = vec![value, other?];
                list.sort();
                Some(in_list(facet, list, false))
            }
            "like" => self.like(facet, &value, false),
            "not" => self.negation(facet, &value, other?),
            _ => None,
        }
    }

    /// `<`, `>`, `<=` or `>=` with a round value near the row's own, so that the row and not nearly every other one has it.
    fn on_side(&mut self, less_than: bool, facet: &Facet, value: &Literal) -> Option<Expr> {
        if !matches!(facet.kind, ContentKind::Number | ContentKind::Date) {
            return None;
        }
        let bound = round(facet, value, !less_than);
        // Nobody asks for values above or below zero.
        if matches!(&bound, Literal::Integer(0)) || matches!(&bound, Literal::Real(real) if real.get() == 0.0)
        {
            return None;
        }
        let operator = match (bound == *value, less_than) {
            (false, true) => BinaryOperator::Less,
            (false, false) => BinaryOperator::Greater,
            (true, true) => BinaryOperator::LessEqual,
            (true, false) => BinaryOperator::GreaterEqual,
        };
        let holds = |value: &Literal| {
            *value == bound || less(value, &bound).is_some_and(|is_less| is_less == less_than)
        };
        if let Some((table, column)) = facet.source {
            let rows = &self.world.tables[table].sample;
            let values = || rows.iter().filter_map(|row| row.get(column as usize));
            let (all, matches) = (values().count(), values().filter(|value| holds(value)).count());
            if matches * 10 > all * 9 {
                return None;
            }
        }
        Some(comparison(operator, facet, bound))
    }

    /// LIKE with a word or the beginning of a value.
    fn like(&mut self, facet: &Facet, value: &Literal, negated: bool) -> Option<Expr> {
        let Literal::Text(text) = value else { return None };
        let is_word = |word: &&str| word.chars().count() >= 3 && word.chars().all(char::is_alphabetic);
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(is_word).collect();
        let &word = self.random.pick(&words)?;
        let pattern = match self.random.below(10) {
            0..3 if text.starts_with(word) => format!("{}%", word.chars().next()?),
            3..5 if text.starts_with(word) => format!("{word}%"),
            5 if text.ends_with(word) => format!("%{word}"),
            _ => format!("%{word}%"),
        };
        let operator = LikeOperator::Like;
        let pattern = Box::new(Expr::Literal(Literal::Text(pattern)));
        Some(Expr::Like { operator, expr: Box::new(facet.expr()), pattern, escape: None, negated })
    }

    /// Something with NOT that leaves the row's own value.
    fn negation(&mut self, facet: &Facet, value: &Literal, other: Literal) -> Option<Expr> {
        if facet.kind == ContentKind::Text {
            return self.like(facet, &other, true);
        }
        let (table, column) = facet.source?;
        let third = self.another(table, column, value).filter(|third| *third != other)?;
        let mut list = vec![other, third];
        list.sort();
        Some(in_list(facet, list, true))
    }
}

/// Whether a number is one that people know by itself: an age, a grade.
fn is_small(value: &Literal) -> bool {
    matches!(value, Literal::Integer(number) if number.unsigned_abs() < 100)
}

/// Takes the columns of a condition out of a scope.
pub(super) fn forget(scope: &mut [FromRelation], condition: &Expr) {
    let mut columns = Vec::new();
    collect_columns(condition, &mut columns);
    for bound in scope {
        bound.facets.retain(|facet| !columns.contains(&facet.column));
    }
}

fn reads(condition: &Expr, relation: RelationId) -> bool {
    let mut columns = Vec::new();
    collect_columns(condition, &mut columns);
    columns.iter().any(|column| column.relation == relation)
}

/// A year that is stored as a real number, as a person writes it.
fn plain(facet: &Facet, value: Literal) -> Literal {
    match &value {
        Literal::Real(real) if facet.kind == ContentKind::Date && real.get().fract() == 0.0 => {
            format!("{:.0}", real.get()).parse().map_or(value, Literal::Integer)
        }
        _ => value,
    }
}

/// The round value at or below a value, or at or above it: what a person would say in its place.
pub(super) fn round(facet: &Facet, value: &Literal, down: bool) -> Literal {
    match (facet.kind, value) {
        (ContentKind::Date, Literal::Text(text)) => round_date(text, down).unwrap_or_else(|| value.clone()),
        (ContentKind::Number, Literal::Integer(integer)) if integer.unsigned_abs() >= 10 => {
            round_number(*integer as f64, down).unwrap_or_else(|| value.clone())
        }
        (ContentKind::Number, Literal::Real(real)) => {
            round_number(real.get(), down).unwrap_or_else(|| value.clone())
        }
        _ => value.clone(),
    }
}

/// Half a step of the first digit: 44 is above 40, 27 above 25 and 3,287,263 above 3,000,000.
fn round_number(value: f64, down: bool) -> Option<Literal> {
    let exponent = value.abs().log10().floor();
    let step = 10_f64.powf(exponent) / 2.0;
    let steps = if down { (value / step).floor() } else { (value / step).ceil() };
    let rounded: f64 = format!("{:.9}", steps * step).parse().ok().filter(|_| exponent.is_finite())?;
    if rounded.fract() == 0.0 {
        return format!("{rounded:.0}").parse().ok().map(Literal::Integer);
    }
    Some(Literal::Real(Real::new(rounded)))
}

/// The first day of the year, or of the next year.
fn round_date(text: &str, down: bool) -> Option<Literal> {
    let year: u16 = text.get(..4)?.parse().ok()?;
    let year = if down { year } else { year + 1 };
    Some(Literal::Text(format!("{year:04}-01-01")))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_round() {
        let bound = |value: f64, down| match round_number(value, down) {
            Some(Literal::Integer(integer)) => integer.to_string(),
            Some(Literal::Real(real)) => real.get().to_string(),
            other => format!("{other:?}"),
        };
        let both = |value| (bound(value, true), bound(value, false));
        let text = |low: &str, high: &str| (low.to_owned(), high.to_owned());
        assert_eq!(both(44.0), text("40", "45"));
        assert_eq!(both(3_287_263.0), text("3000000", "3500000"));
        assert_eq!(both(0.73), text("0.7", "0.75"));
        assert_eq!(both(-27.0), text("-30", "-25"));
        assert_eq!(both(0.0), text("None", "None"));
        assert_eq!(round_date("2014-02-03 10:00:00", true), Some(Literal::Text("2014-01-01".to_owned())));
    }
}
