//! What verifying pairs needs besides the pair: options, and verifiers and solvers that are kept for the next one.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use sqlgauge_engine::compare::Semantics;
use sqlgauge_engine::{Database, Engine};
use sqlgauge_prove::{Solver, SolverLimits};
use sqlgauge_search::{Mined, SearchError};
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::{Data, PairContext, RefusedText, Verifier, VerifyOptions, VerifyReport};

/// How the metric `verify` verifies, shared by all threads of a run. A thread takes a verifier and a solver for one pair and puts
/// them back; there are as many of them as threads that have ever worked at once.
#[derive(Debug, Default)]
pub struct Verification {
    options: VerifyOptions,
    solver: Option<PathBuf>,
    /// What the rows of databases keep, by the address of the schema.
    mined: Mutex<HashMap<usize, Arc<Mined>>>,
    /// By the address of the schema, which the verifiers keep alive, and by when results are equal.
    verifiers: Mutex<HashMap<(usize, Semantics), Vec<Verifier>>>,
    solvers: Mutex<Vec<Solver>>,
}

impl Verification {
    /// With those options, and with the solver of that program if there is one.
    pub fn new(options: VerifyOptions, solver: Option<PathBuf>) -> Self {
        Self { options, solver, ..Self::default() }
    }

    pub fn options(&self) -> &VerifyOptions {
        &self.options
    }

    /// The verdict on a pair over a schema, or over a database, whose rows then are looked at too.
    ///
    /// # Errors
    /// When SQLite cannot open a database in memory; within, when it refuses one of the texts.
    pub fn verdict(
        &self,
        schema: &Arc<Schema>,
        database: Option<(&dyn Engine, &Database)>,
        left: &str,
        right: &str,
    ) -> Result<Result<VerifyReport, RefusedText>, SearchError> {
        let rows =
            |sql: &str| database.and_then(|(engine, database)| engine.run(database, sql).rows().cloned());
        let (left_rows, right_rows) = (rows(left), rows(right));
        let data = database.map(|(engine, database)| Data {
            engine,
            database,
            results: left_rows.as_deref().zip(right_rows.as_deref()),
        });
        self.with(schema, database, self.options, |verifier, solver| {
            verifier.verify_beside(left, right, PairContext { data, solver })
        })
    }

    /// Does something with a verifier over that schema, and the database that it is of if it is of one, and with a solver.
    /// The options differ from those given to [`Verification::new`] at most in the semantics.
    ///
    /// # Errors
    /// When SQLite cannot open a database in memory.
    pub(crate) fn with<T>(
        &self,
        schema: &Arc<Schema>,
        database: Option<(&dyn Engine, &Database)>,
        options: VerifyOptions,
        act: impl FnOnce(&Verifier, Option<&mut Solver>) -> T,
    ) -> Result<T, SearchError> {
        let key = (Arc::as_ptr(schema).addr(), options.semantics);
        let idle =
            self.verifiers.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&key).and_then(Vec::pop);
        let verifier = match idle {
            Some(verifier) => verifier,
            None => self.new_verifier(schema, database, options)?,
        };
        let mut solver = self.idle_solver();
        // What a panic leaves behind is not put back.
        let done = act(&verifier, solver.as_mut());
        self.verifiers.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().push(verifier);
        self.solvers.lock().unwrap_or_else(PoisonError::into_inner).extend(solver);
        Ok(done)
    }

    fn new_verifier(
        &self,
        schema: &Arc<Schema>,
        database: Option<(&dyn Engine, &Database)>,
        options: VerifyOptions,
    ) -> Result<Verifier, SearchError> {
        let verifier = Verifier::new(Arc::clone(schema), options)?;
        let Some((_, database)) = database else { return Ok(verifier) };
        let mut mined = self.mined.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Mined::new(Arc::clone(database.schema())));
        let entry = mined.entry(Arc::as_ptr(schema).addr()).or_insert_with(new);
        Ok(verifier.realistic(Arc::clone(entry)))
    }

    fn idle_solver(&self) -> Option<Solver> {
        let program = self.solver.as_ref()?;
        let idle = self.solvers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let limits = SolverLimits { time: self.options.solver_time, ..SolverLimits::default() };
        Some(idle.unwrap_or_else(|| Solver::new(program, limits)))
    }
}
