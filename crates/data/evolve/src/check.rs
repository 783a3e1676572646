//! Checks a gold against its evolved form: both run, and must return the same rows.

use std::sync::{Arc, OnceLock};

use sqlgauge_engine::compare::{GoldOrder, difference};
use sqlgauge_engine::{Database, Engine, FailureKind, ResultSet};
use sqlgauge_sql::tree::{Expr, Literal};
use sqlgauge_sql::{PrintDialect, print, resolve};

use crate::layout::EvolveReason;
use crate::rewrite::Refusal;
use crate::turned;

/// Reads rows that no ORDER BY sorts the other way round.
const REVERSED: &str = "PRAGMA reverse_unordered_selects = ON";

#[derive(Debug)]
pub(crate) struct Gold {
    pub(crate) sql: String,
    rows: Result<Arc<ResultSet>, String>,
    order: OnceLock<GoldOrder>,
    is_determined: OnceLock<bool>,
}

impl Gold {
    /// Runs the gold.
    pub(crate) fn run(engine: &dyn Engine, database: &Database, sql: &str) -> Self {
        let execution = engine.run(database, sql);
        let rows = match execution.outcome.failure() {
            Some(failure) => Err(failure.to_string()),
            None => execution.rows().cloned().ok_or_else(|| "it has no rows".to_owned()),
        };
        Self { sql: sql.to_owned(), rows, order: OnceLock::new(), is_determined: OnceLock::new() }
    }

    /// Whether it ran.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn ran(&self) -> Result<(), Refusal> {
        match &self.rows {
            Ok(_) => Ok(()),
            Err(detail) => Err(Refusal { reason: EvolveReason::GoldFails, detail: detail.clone() }),
        }
    }

    /// Whether another text returns the gold's rows on another database, as `ex@1` compares them.
    ///
    /// # Errors
    /// [`EvolveReason::OverLimits`] where the text does not end within them, [`EvolveReason::Undetermined`] where the gold itself returns
    /// other rows if they are read in another order, else `reason` with the difference.
    pub(crate) fn returns(
        &self,
        (engine, original): (&dyn Engine, &Database),
        (database, sql): (&Database, &str),
        reason: EvolveReason,
    ) -> Result<(), Refusal> {
        let rows = self
            .rows
            .as_ref()
            .map_err(|detail| Refusal { reason: EvolveReason::GoldFails, detail: detail.clone() })?;
        let execution = engine.run(database, sql);
        let detail = match execution.rows() {
            Some(actual) if actual.width() == rows.width() && actual.values() == rows.values() => {
                return Ok(());
            }
            Some(actual) => match difference(rows, self.order((engine, original), rows), actual) {
                None => return Ok(()),
                Some(words) => words,
            },
            None => {
                let failure = execution.outcome.failure();
                let detail = failure.map(ToString::to_string).unwrap_or_default();
                let is_limit = |kind| matches!(kind, FailureKind::Timeout | FailureKind::TooLarge);
                if failure.is_some_and(|failure| is_limit(failure.kind)) {
                    return Err(Refusal { reason: EvolveReason::OverLimits, detail });
                }
                detail
            }
        };
        let is_determined = *self.is_determined.get_or_init(|| self.is_determined((engine, original), rows));
        let reason = if is_determined { reason } else { EvolveReason::Undetermined };
        Err(Refusal { reason, detail })
    }

    fn order(&self, (engine, original): (&dyn Engine, &Database), rows: &ResultSet) -> &GoldOrder {
        self.order.get_or_init(|| {
            if rows.len() < 2 {
                return GoldOrder::Unordered;
            }
            match resolve(&self.sql, original.schema()) {
                Ok(query) => GoldOrder::of(rows, &query, original.schema(), |sql| {
                    engine.run(original, sql).rows().cloned()
                }),
                Err(error) => GoldOrder::Unknown(format!("the gold could not be resolved: {error}")),
            }
        })
    }

    /// Whether the gold returns the same rows when SQLite reads tables the other way round, also where it groups them, and
    /// its LIMIT leaves out no row that is sorted as one that it keeps.
    fn is_determined(&self, (engine, original): (&dyn Engine, &Database), rows: &Arc<ResultSet>) -> bool {
        if self.cuts_ties((engine, original)).unwrap_or(false) {
            return false;
        }
        let resolved = resolve(&self.sql, original.schema()).ok();
        let mut others = vec![original.with_prelude(REVERSED)];
        if resolved.as_ref().is_some_and(turned::groups) {
            others.push(original.with_prelude(&turned::views(original.schema())));
        }
        // The other way round is only for what no ORDER BY sorts.
        let unsorted = resolved.and_then(|mut query| {
            query.order_by.clear();
            (query.limit, query.offset) = (None, None);
            print(&query, original.schema(), PrintDialect::Sqlite).ok()
        });
        let run = |database: &Database| {
            engine.run(database, unsorted.as_deref().unwrap_or(&self.sql)).rows().cloned()
        };
        let (expected, order) = match &unsorted {
            Some(_) => (run(original), &GoldOrder::Unordered),
            None => (Some(Arc::clone(rows)), self.order((engine, original), rows)),
        };
        let Some(expected) = expected else { return false };
        others
            .iter()
            .all(|other| run(other).is_some_and(|actual| difference(&expected, order, &actual).is_none()))
    }

    /// Whether the data determine the rows that the gold returns.
    ///
    /// # Errors
    /// [`EvolveReason::Undetermined`] where they do not.
    pub(crate) fn determined(&self, (engine, original): (&dyn Engine, &Database)) -> Result<(), Refusal> {
        let Ok(rows) = &self.rows else { return Ok(()) };
        if *self.is_determined.get_or_init(|| self.is_determined((engine, original), rows)) {
            return Ok(());
        }
        let detail = "it returns different rows when tables are read in another order".to_owned();
        Err(Refusal { reason: EvolveReason::Undetermined, detail })
    }

    /// Whether the LIMIT falls between rows with equal sort keys that differ; `None` if that is not known.
    fn cuts_ties(&self, (engine, original): (&dyn Engine, &Database)) -> Option<bool> {
        let mut query = resolve(&self.sql, original.schema()).ok()?;
        let number = |expr: &Expr| match expr {
            Expr::Literal(Literal::Integer(number)) => usize::try_from(*number).ok(),
            _ => None,
        };
        let limit = number(query.limit.take().as_ref()?)?;
        let offset = query.offset.take().as_ref().map_or(Some(0), number)?;
        let run = |sql: &str| engine.run(original, sql).rows().cloned();
        let all = run(&print(&query, original.schema(), PrintDialect::Sqlite).ok()?)?;
        let (GoldOrder::Runs(runs) | GoldOrder::Partly(runs, _)) =
            GoldOrder::of(&all, &query, original.schema(), run)
        else {
            return None;
        };
        let mut start = 0;
        for length in runs {
            let end = start + length;
            let is_cut = [offset, offset.saturating_add(limit)].iter().any(|cut| start < *cut && *cut < end);
            let first = all.row(start);
            if is_cut && (start..end).any(|at| all.row(at) != first) {
                return Some(true);
            }
            start = end;
        }
        Some(false)
    }
}
