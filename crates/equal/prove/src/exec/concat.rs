//! `group_concat` and `string_agg`.
//!
//! # Contract
//! The texts of a group are joined in the order that the call asks for, else in any: that order is a choice as under LIMIT,
//! by priorities of a text and its group.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Aggregate, Expr, Literal};

use super::group::Group;
use super::{Env, Ranked, Run, SortDirection};
use crate::ir::{Term, Terms};
use crate::text::ValueShape;
use crate::value::SymbolicValue;
use crate::world::Stop;

/// Most rows of a group.
const MAX_ROWS: usize = 12;

impl Run<'_, '_> {
    /// The texts of the included rows, joined.
    pub(super) fn concatenated(
        &mut self,
        aggregate: &Aggregate,
        group: &Group,
        included: &[Term],
    ) -> Result<SymbolicValue, Stop> {
        let (arg, separator) = match aggregate.args.as_slice() {
            [arg] if aggregate.function == Function::GroupConcat => (arg, ","),
            [arg, Expr::Literal(Literal::Text(separator))] => (arg, separator.as_str()),
            _ => return Err(Stop::unsupported("group_concat with a separator that is no constant")),
        };
        let mut rows = Vec::new();
        for ((&member, &value), env) in
            included.iter().zip(self.arguments(arg, group)?.iter()).zip(group.envs())
        {
            let terms = &mut self.world.terms;
            let not_null = terms.not(value.is_null);
            let present = terms.and(member, not_null);
            if present != Terms::FALSE {
                rows.push((present, value, env));
            }
        }
        if rows.len() > MAX_ROWS {
            return Err(Stop::Size);
        }
        if aggregate.distinct {
            if !self.is_bytes(arg) {
                return Err(Stop::unsupported("group_concat of DISTINCT under a collation"));
            }
            let mut members: Vec<(Term, SymbolicValue)> =
                rows.iter().map(|&(present, value, _)| (present, value)).collect();
            self.leave_distinct(arg, &mut members)?;
            rows.iter_mut().zip(members).for_each(|(row, (present, _))| row.0 = present);
        }
        let mut ranked = Vec::new();
        for &(present, value, env) in &rows {
            ranked.push(self.joined_text(aggregate, group, (present, value), env)?);
        }
        self.joined(&ranked, aggregate, separator)
    }

    /// A text with what decides its place.
    fn joined_text(
        &mut self,
        aggregate: &Aggregate,
        group: &Group,
        (present, value): (Term, SymbolicValue),
        env: &Env,
    ) -> Result<Ranked, Stop> {
        let text = self.with_text_affinity(value)?;
        let mut keys = Vec::new();
        for term in &aggregate.order_by {
            let key = self.value(&term.expr, env)?;
            keys.push(self.key(&term.expr, key)?);
        }
        let mut values = vec![text];
        values.extend(self.values(group.keys(), env)?);
        Ok(Ranked { present, values: values.into(), keys })
    }

    fn joined(
        &mut self,
        rows: &[Ranked],
        aggregate: &Aggregate,
        separator: &str,
    ) -> Result<SymbolicValue, Stop> {
        let directions: Vec<SortDirection> = aggregate.order_by.iter().map(SortDirection::of).collect();
        let precedes = self.precedence("concat".to_owned(), rows, &directions)?;
        let positions: Vec<Term> =
            (0..rows.len()).map(|at| self.world.terms.count(precedes.iter().map(|row| row[at]))).collect();
        let between = self.world.terms.text(separator);
        let between = self.world.terms.text_value(between, Terms::FALSE);
        let mut whole = self.world.terms.null();
        for place in (0..).take(rows.len()) {
            let terms = &mut self.world.terms;
            let mut next = terms.null();
            let place = terms.integer(place);
            for (row, &position) in rows.iter().zip(&positions) {
                let is_here = terms.equal(position, place);
                let takes = terms.and(row.present, is_here);
                next = terms.choose_value(takes, row.values[0], next);
            }
            let joined = self.call(
                &|args| format!("{} || {} || {}", args[0], args[1], args[2]),
                ValueShape::TEXT,
                &[whole, between, next],
            )?;
            let terms = &mut self.world.terms;
            let longer = terms.choose_value(whole.is_null, next, joined);
            whole = terms.choose_value(next.is_null, whole, longer);
        }
        Ok(whole)
    }
}
