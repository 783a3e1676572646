//! Where subqueries may stand, and which of them may read the query around.

use sqlgauge_sql::derive::is_aggregate_select;
use sqlgauge_sql::reads;
use sqlgauge_sql::tree::Query;

use super::Printer;
use crate::dialect::Correlation;
use crate::refused::{Construct, Refused};

/// The clause that is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// WHERE and HAVING.
    #[default]
    Filter,
    /// A result, or ORDER BY.
    Result,
    /// ON.
    On,
    /// GROUP BY, and the arguments of aggregates.
    Group,
}

impl Printer<'_> {
    /// That IN or EXISTS may stand here with that subquery.
    pub(super) fn check_quantified(&self, query: &Query) -> Result<(), Refused> {
        if !self.dialect.quantified_anywhere && self.place != Place::Filter {
            return Err(self.refuse(Construct::QuantifiedSubquery, "outside of WHERE and HAVING"));
        }
        self.check_group()?;
        let is_taken = match self.dialect.correlation {
            Correlation::Any | Correlation::Aggregates | Correlation::Quantified => true,
            Correlation::WithoutLimit => query.limit.is_none() && query.offset.is_none(),
            Correlation::No => false,
        };
        self.check_correlation(query, is_taken)
    }

    /// That a subquery may be a value here.
    pub(super) fn check_scalar(&self, query: &Query, is_cut: bool) -> Result<(), Refused> {
        if !self.dialect.scalar_anywhere && self.place != Place::Filter {
            return Err(self
                .refuse(Construct::CorrelatedSubquery, "a subquery as a value outside of WHERE and HAVING"));
        }
        self.check_group()?;
        let aggregates =
            query.as_select().is_some_and(|select| select.group_by.is_empty() && is_aggregate_select(select));
        let is_taken = match self.dialect.correlation {
            Correlation::Any => true,
            Correlation::WithoutLimit => !is_cut,
            Correlation::Aggregates => aggregates,
            Correlation::Quantified | Correlation::No => false,
        };
        self.check_correlation(query, is_taken)
    }

    fn check_group(&self) -> Result<(), Refused> {
        if !self.dialect.subquery_in_group && self.place == Place::Group {
            return Err(
                self.refuse(Construct::CorrelatedSubquery, "a subquery in an aggregate or in GROUP BY")
            );
        }
        Ok(())
    }

    fn check_correlation(&self, query: &Query, is_taken: bool) -> Result<(), Refused> {
        if is_taken || !reads_outside(query) {
            return Ok(());
        }
        Err(self.refuse(Construct::CorrelatedSubquery, "a subquery that reads the query around it"))
    }
}

/// Whether a query reads a column of a query around it.
pub(super) fn reads_outside(query: &Query) -> bool {
    !reads::outer_columns(query).is_empty()
}
