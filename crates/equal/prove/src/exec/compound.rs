//! UNION, INTERSECT, EXCEPT, and the order of a compound.
//!
//! # Contract
//! Rows compare by the collations of the compound's columns. Of rows that are equal, any may stay.

use sqlgauge_sql::derive::Fact;
use sqlgauge_sql::schema::Collation;
use sqlgauge_sql::tree::{Body, Expr, OrderTerm, SetOperator};

use super::{Ranked, Run, unranked};
use crate::world::{Stop, SymbolicRow};

impl Run<'_, '_> {
    pub(super) fn set_operation(
        &mut self,
        operator: SetOperator,
        body: &Body,
        lefts: Vec<SymbolicRow>,
        rights: Vec<SymbolicRow>,
    ) -> Result<Vec<SymbolicRow>, Stop> {
        let collations = self.collations(body)?;
        let mut rows = lefts;
        if operator == SetOperator::Union {
            rows.extend(rights);
        } else {
            let is_intersection = operator == SetOperator::Intersect;
            self.keep_by_presence(is_intersection, &mut rows, &rights, &collations)?;
        }
        let mut ranked: Vec<Ranked> = rows.into_iter().map(Ranked::without_keys).collect();
        self.keep_distinct(&mut ranked, &collations, true)?;
        Ok(unranked(ranked))
    }

    /// Leaves the rows that are among the others, or that are not.
    fn keep_by_presence(
        &mut self,
        is_intersection: bool,
        rows: &mut [SymbolicRow],
        others: &[SymbolicRow],
        collations: &[Fact<Collation>],
    ) -> Result<(), Stop> {
        let mut classes = Vec::new();
        for other in others {
            classes.push((other.present, self.class(&other.values, collations)?));
        }
        for row in rows {
            self.world.check_size(0)?;
            let class = self.class(&row.values, collations)?;
            let terms = &mut self.world.terms;
            let mut matches = Vec::new();
            for (present, other) in &classes {
                let same = terms.same_rows(&class, other);
                matches.push(terms.and(*present, same));
            }
            let is_there = terms.any(matches);
            let stays = if is_intersection { is_there } else { terms.not(is_there) };
            row.present = terms.and(row.present, stays);
        }
        Ok(())
    }

    /// The collation of each column: that of the first SELECT that brings one. Where the first of three or more brings none, it
    /// follows from SQLite's plan and is not encoded.
    pub(super) fn collations(&self, body: &Body) -> Result<Vec<Fact<Collation>>, Stop> {
        let mut parts = Vec::new();
        collect_parts(body, &mut parts);
        let brought = |expr: &Expr| match self.facts.collating(expr) {
            Fact::Known(collating) => Ok(collating.map(|collating| collating.collation)),
            Fact::Unknown => Err(Stop::unsupported("collation of a compound")),
        };
        let width = parts.first().map_or(0, Vec::len);
        let column = |at: usize| {
            let exprs: Vec<&Expr> = parts.iter().filter_map(|part| part.get(at).copied()).collect();
            if exprs.iter().all(|expr| self.is_bytes(expr)) {
                return Ok(Fact::Known(Collation::Binary));
            }
            match (exprs.as_slice(), brought(exprs[0])?) {
                (_, Some(collation)) => Ok(Fact::Known(collation)),
                ([_, second], None) => Ok(Fact::Known(brought(second)?.unwrap_or(Collation::Binary))),
                _ => Err(Stop::unsupported("collation of a compound")),
            }
        };
        (0..width).map(column).collect()
    }

    /// The rows of a compound with their sort keys.
    pub(super) fn ranked(
        &mut self,
        rows: Vec<SymbolicRow>,
        body: &Body,
        order_by: &[OrderTerm],
    ) -> Result<Vec<Ranked>, Stop> {
        let collations = if order_by.is_empty() { Vec::new() } else { self.collations(body)? };
        let mut ranked = Vec::new();
        for row in rows {
            let mut keys = Vec::new();
            for term in order_by {
                let Expr::Output(at) = term.expr.uncollated() else {
                    return Err(Stop::unsupported("ORDER BY of a compound"));
                };
                let (Some(&value), Some(collation)) =
                    (row.values.get(*at as usize), collations.get(*at as usize))
                else {
                    return Err(Stop::unsupported("output"));
                };
                let key = match &term.expr {
                    Expr::Collate { collation: name, .. } => {
                        self.collated(value, Fact::Known(&Collation::from_name(name)))?
                    }
                    _ => self.collated(value, collation.as_ref())?,
                };
                keys.push(key);
            }
            ranked.push(Ranked { present: row.present, values: row.values, keys });
        }
        Ok(ranked)
    }
}

/// The expressions of the columns of each SELECT and each row of VALUES.
fn collect_parts<'b>(body: &'b Body, parts: &mut Vec<Vec<&'b Expr>>) {
    match body {
        Body::Select(select) => parts.push(select.outputs.iter().map(|output| &output.expr).collect()),
        Body::Values(rows) => parts.extend(rows.iter().map(|row| row.iter().collect())),
        Body::SetOperation { left, right, .. } => {
            collect_parts(left, parts);
            collect_parts(right, parts);
        }
    }
}
