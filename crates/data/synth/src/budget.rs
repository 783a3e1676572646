//! Spending, as FusionSQL counts it (equation 16).
//!
//! # Contract
//! Every query that is made costs `made`, every query that is checked without being run costs `checked`, every execution
//! costs `executed`; the defaults are the paper's, in dollars of its language models and machines. Here nothing is paid to
//! anybody: the sum says what the same numbers would have cost there. A budget is shared out evenly over the databases, so
//! that what is made of one does not depend on how much another took. Budget and caps ([`Caps`]) are never passed: queries are
//! drawn in batches, and each query of a batch gets an equal part of what is left, whatever the number of threads.

use serde::{Deserialize, Serialize};

/// What was spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spending {
    /// Queries made.
    #[serde(rename = "made")]
    pub queries: u64,
    /// Queries printed and resolved again.
    pub checked: u64,
    /// Executions.
    pub executed: u64,
}

/// The costs of one query each: `c_gen`, `c_val` and `c_exec` of section V-B.
const MADE: f64 = 0.00012;
const CHECKED: f64 = 0.00003;
const EXECUTED: f64 = 0.0004;

impl Spending {
    /// The cost in the paper's dollars.
    pub fn cost(&self) -> f64 {
        self.queries as f64 * MADE + self.checked as f64 * CHECKED + self.executed as f64 * EXECUTED
    }

    /// Whether no more may be made or run.
    pub(crate) fn has_reached(&self, allowance: &Allowance) -> bool {
        self.queries >= allowance.queries || self.executed >= allowance.executed
    }

    /// Adds what another part spent.
    pub fn add(&mut self, other: Self) {
        self.queries += other.queries;
        self.checked += other.checked;
        self.executed += other.executed;
    }
}

/// The most that may be spent on one database.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Caps {
    /// The cost, as [`Spending::cost`] counts it.
    pub cost: Option<f64>,
    /// Queries made.
    pub made: Option<u64>,
    pub executed: Option<u64>,
}

/// What one query of a batch may spend on its attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    queries: u64,
    executed: u64,
}

impl Allowance {
    /// No bound.
    pub const ANY: Self = Self { queries: u64::MAX, executed: u64::MAX };
}

/// Queries that are drawn together where spending is bounded (section V-B).
const CAPPED_BATCH: u64 = 24;

impl Caps {
    /// How many of so many queries are drawn next, and what each of them may spend; `None` if nothing is left.
    pub fn batch(&self, spent: &Spending, queries: u64) -> Option<(u64, Allowance)> {
        let Self { cost, made: most_queries, executed } = *self;
        if cost.is_none() && most_queries.is_none() && executed.is_none() {
            return Some((queries, Allowance::ANY));
        }
        let attempts = cost.map_or(u64::MAX, |cost| attempts_for(cost - spent.cost()));
        let left = |cap: Option<u64>, spent: u64| cap.map_or(u64::MAX, |cap| cap.saturating_sub(spent));
        let (most_queries, executed) = (left(most_queries, spent.queries), left(executed, spent.executed));
        let room = attempts.min(most_queries).min(executed);
        let size = queries.min(CAPPED_BATCH).min(room);
        let each = |room: u64| room.min(attempts).checked_div(size);
        Some((size, Allowance { queries: each(most_queries)?, executed: each(executed)? }))
    }
}

/// How many attempts are paid for, if every one of them is made, checked and run.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a conversion of floats saturates; what is negative pays for nothing"
)]
fn attempts_for(cost: f64) -> u64 {
    (cost / (MADE + CHECKED + EXECUTED)).floor() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_never_passes_a_cap() {
        let spent = |queries, executed| Spending { queries, checked: queries, executed };
        let some = |queries, executed| Caps { cost: None, made: Some(queries), executed: Some(executed) };
        assert_eq!(Caps::default().batch(&spent(9, 9), 500), Some((500, Allowance::ANY)));
        // The paper's caps of 160 and 40.
        assert_eq!(some(160, 40).batch(&spent(0, 0), 500), Some((24, Allowance { queries: 6, executed: 1 })));
        assert_eq!(some(160, 40).batch(&spent(0, 0), 2), Some((2, Allowance { queries: 80, executed: 20 })));
        assert_eq!(
            some(160, 40).batch(&spent(150, 30), 500),
            Some((10, Allowance { queries: 1, executed: 1 }))
        );
        assert_eq!(some(160, 40).batch(&spent(160, 30), 500), None);
        let cost = Caps { cost: Some(0.0111), ..Caps::default() };
        assert_eq!(cost.batch(&spent(0, 0), 500), Some((20, Allowance { queries: 1, executed: 1 })));
        assert_eq!(cost.batch(&spent(20, 20), 500), None);
        assert_eq!(cost.batch(&spent(900, 900), 500), None);
    }

    #[test]
    fn the_cost_is_that_of_the_paper() {
        let pairs = 3_373_204.0_f64;
        let times = |share: f64| {
            let count = (pairs * share).round();
            format!("{count}").parse().unwrap()
        };
        let spent = Spending { queries: times(1.05), checked: times(1.05), executed: times(0.10) };
        assert!((spent.cost() - 666.21).abs() < 0.01, "{}", spent.cost());
    }
}
