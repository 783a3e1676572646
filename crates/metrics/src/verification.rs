//! What verifying pairs needs besides the pair: options, and verifiers and solvers that are kept for the next one.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::search::SearchError;
use sqlgauge_verify::smt::{Limits, Solver};
use sqlgauge_verify::{Options, Verifier};

/// How `verify@1` verifies, shared by all threads of a run. A thread takes a verifier and a solver for one pair and puts
/// them back; there are as many of them as threads that have ever worked at once.
#[derive(Debug, Default)]
pub struct Verification {
    options: Options,
    solver: Option<PathBuf>,
    /// By the address of the schema, which the verifiers keep alive.
    verifiers: Mutex<HashMap<usize, Vec<Verifier>>>,
    solvers: Mutex<Vec<Solver>>,
}

impl Verification {
    /// With those options, and with the solver of that program if there is one.
    pub fn new(options: Options, solver: Option<PathBuf>) -> Self {
        Self { options, solver, ..Self::default() }
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Does something with a verifier over that schema, and with a solver.
    ///
    /// # Errors
    /// When SQLite cannot open a database in memory.
    pub(crate) fn with<T>(
        &self,
        schema: &Arc<Schema>,
        act: impl FnOnce(&Verifier, Option<&mut Solver>) -> T,
    ) -> Result<T, SearchError> {
        let key = Arc::as_ptr(schema).addr();
        let idle =
            self.verifiers.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&key).and_then(Vec::pop);
        let verifier = match idle {
            Some(verifier) => verifier,
            None => Verifier::new(Arc::clone(schema), self.options)?,
        };
        let mut solver = self.idle_solver();
        // What a panic leaves behind is not put back.
        let done = act(&verifier, solver.as_mut());
        self.verifiers.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().push(verifier);
        self.solvers.lock().unwrap_or_else(PoisonError::into_inner).extend(solver);
        Ok(done)
    }

    fn idle_solver(&self) -> Option<Solver> {
        let program = self.solver.as_ref()?;
        let idle = self.solvers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let limits = Limits { time: self.options.solver_time, ..Limits::default() };
        Some(idle.unwrap_or_else(|| Solver::new(program, limits)))
    }
}
