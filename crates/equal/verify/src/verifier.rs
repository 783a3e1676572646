//! The verifier of pairs over one schema.

use std::sync::Arc;
use std::time::Instant;

use sqlgauge_engine::{Database, Engine, ResultSet};
use sqlgauge_prove::Solver;
use sqlgauge_search::{Mined, Search, SearchError, Side, near_schema};
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::Schema;

use crate::options::VerifyOptions;
use crate::spelling::{Spelled, spelled as spell};
use crate::stages::{PairRun, is_refusal};
use crate::verdict::{RefusedText, VerifyReport};

/// What is known of a pair besides its texts.
#[derive(Default)]
pub struct PairContext<'a> {
    /// A database over the schema, and what the queries return on it.
    pub data: Option<Data<'a>>,
    /// For bounded proofs.
    pub solver: Option<&'a mut Solver>,
}

/// A database, and what both queries return on it.
#[derive(Clone, Copy)]
pub struct Data<'a> {
    /// What has run the queries.
    pub engine: &'a dyn Engine,
    pub database: &'a Database,
    /// The results of the left and of the right query; `None` where one has none.
    pub results: Option<(&'a ResultSet, &'a ResultSet)>,
}

/// Verifies pairs over one schema; it keeps its databases in memory for pair after pair.
#[derive(Debug)]
pub struct Verifier {
    pub(crate) schema: Arc<Schema>,
    pub(crate) options: VerifyOptions,
    pub(crate) search: Search,
    /// What is known of the rows of a database.
    pub(crate) mined: Option<Arc<Mined>>,
}

impl Verifier {
    /// A verifier over that schema. A foreign key that is not to be relied on must not be in it.
    ///
    /// # Errors
    /// When SQLite cannot open a database in memory.
    pub fn new(schema: impl Into<Arc<Schema>>, options: VerifyOptions) -> Result<Self, SearchError> {
        let schema = schema.into();
        let search = Search::new(Arc::clone(&schema), options.search())?;
        Ok(Self { schema, options, search, mined: None })
    }

    /// The verifier that looks first for counterexamples that keep what the rows of a database keep, for pairs that come
    /// with that database ([`Data`]); each then says what of it it keeps.
    #[must_use]
    pub fn realistic(self, mined: Arc<Mined>) -> Self {
        Self { mined: Some(mined), ..self }
    }

    /// A verifier for one pair whose foreign keys lead through hundreds of tables: see [`near_schema`].
    fn near(&self, left: &str, right: &str) -> Option<Self> {
        let schema = near_schema(&self.schema, left, right).filter(|schema| *schema != *self.schema)?;
        let near = Self::new(schema, self.options).ok()?;
        Some(Self { mined: self.mined.clone(), ..near })
    }

    /// Decides the pair. The left query is the gold. Without a solver there is no bounded proof.
    ///
    /// # Errors
    /// When SQLite refuses one of the texts.
    pub fn verify(
        &self,
        left: &str,
        right: &str,
        solver: Option<&mut Solver>,
    ) -> Result<VerifyReport, RefusedText> {
        self.verify_beside(left, right, PairContext { solver, ..PairContext::default() })
    }

    /// [`Verifier::verify`] with what else is known of the pair.
    ///
    /// A text that SQLite refuses is verified in other words, if it has them (see [`VerifyReport::spelled`]).
    ///
    /// # Errors
    /// When SQLite refuses one of the two texts, and has no other words for it.
    pub fn verify_beside(
        &self,
        left: &str,
        right: &str,
        context: PairContext<'_>,
    ) -> Result<VerifyReport, RefusedText> {
        let deadline = Instant::now().checked_add(self.options.solver_time);
        let near = self.near(left, right);
        let verifier = near.as_ref().unwrap_or(self);
        verifier.search.begin_pair(deadline);
        let report = verifier.verify_spelled(left, right, context);
        verifier.search.end_pair();
        report
    }

    fn verify_spelled(
        &self,
        left: &str,
        right: &str,
        context: PairContext<'_>,
    ) -> Result<VerifyReport, RefusedText> {
        let PairContext { data, mut solver } = context;
        let mut spelled: [Option<Spelled>; 2] = [None, None];
        loop {
            let text =
                |at: usize, sql| spelled[at].as_ref().map_or(sql, |spelling: &Spelled| spelling.sql.as_str());
            let run = PairRun::new(self, [text(0, left), text(1, right)], data);
            let refused = match run.and_then(|run| run.verify(solver.as_deref_mut())) {
                Ok(report) => return Ok(VerifyReport { spelled, ..report }),
                Err(refused) => refused,
            };
            let (at, sql) = match refused.side {
                Side::Left => (0, left),
                Side::Right => (1, right),
            };
            let other = spell(sql, |text| self.refuses(text)).filter(|_| spelled[at].is_none());
            spelled[at] = Some(other.ok_or(refused)?);
        }
    }

    /// Whether the schema does not resolve the text. A text that is only too large for the analysis does not count.
    fn refuses(&self, text: &str) -> bool {
        resolve(text, &self.schema).is_err_and(|error| is_refusal(&error))
    }
}
