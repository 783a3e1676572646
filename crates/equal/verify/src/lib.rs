//! Tells two queries apart, or shows that it cannot.
//!
//! - [`Verifier`] takes a pair through the stages in [`Stage`]: proof by rules, search for a counterexample, bounded
//!   proof. What it says is a [`VerifyReport`] with a [`Verdict`].
//!
//! - [`pack`] keeps the databases of a benchmark's questions on which wrong answers show.
//!
//! The search for a counterexample is the crate `sqlgauge_search`, the bounded proof `sqlgauge_prove`.

mod conditions;
mod explain;
mod json;
mod options;
pub mod pack;
mod said;
mod spelling;
mod stages;
mod values;
mod verdict;
mod verifier;

pub use conditions::conditions;
pub use json::{DefectRecord, NamedTable, Respelled, ResultTable, SpellingRecord, VerdictRecord};
pub use options::{OnlyStage, UnknownStage, VerifyOptions};
pub use spelling::Spelled;
pub use sqlgauge_prove::SOLVER_REMEDY;
pub use values::{ColumnValues, UndeclaredDifference, UnknownColumnValues};
pub use verdict::{
    BoundedProof, Counterexample, Defect, NO_SOLVER, Proof, RefusedText, SolverRecord, Stage, TIE, Unknown,
    Verdict, VerifyReport,
};
pub use verifier::{Data, PairContext, Verifier};
