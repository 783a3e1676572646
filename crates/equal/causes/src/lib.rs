//! What makes a wrong answer wrong, in one sentence: ``The prediction tests `age > 20`, the gold `age >= 20`.``
//!
//! # Contract
//! - Both queries are resolved and brought into the canonical form; what is left of the difference is taken apart
//!   into [`Slip`]s. Each belongs to one [`Cause`] of a closed list ([`causes()`]), one file each.
//! - Every difference of the trees belongs to a slip, or there is no sentence ([`Unclear`] says why). So a sentence never
//!   leaves out in silence what may be the real reason.
//! - Texts in another letter case are said alone if the answer is right with the gold's texts, whatever the shape of the queries.
//! - Of several slips one is said alone if the answer without it is right. Else those are left out that are known to change
//!   neither the gold nor the answer: by proof, or because no database that was tried shows it. [`Judge`] tells.
//! - A part of a query stands as SQL, with the names of its tables. A sentence names at most two differences and counts the others.
//! - The same queries and the same schema give the same sentence.

mod align;
mod cause;
mod causes;
mod clauses;
mod compare;
mod difference;
mod empty;
mod pair;
mod same;
mod sentence;
mod unfold;
mod words;

pub use cause::{Cause, Slip, Unclear};
pub use causes::{causes, find};
pub use difference::{Difference, DifferenceRecord, Explainer, Judge, Proofs};
