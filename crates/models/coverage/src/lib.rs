//! What corpora of questions and queries cover: Tables I and II and Figures 3 and 4 of FusionSQL, for any corpora.
//!
//! # Contract
//! A [`Measurement`] takes the examples of a corpus, file by file; [`Coverage::of`] compares several. Everything follows from the
//! files alone, whatever the number of threads.
//! - **Table I** ([`Sizes`]): examples, unique SQL, databases, and what a reader wants to know besides.
//! - **Table II** ([`Sizes::tiers`]): the shares of the four tiers. The accuracies of the paper's table are those of models; a run
//!   has them (`sqlgauge score`).
//! - **Figure 3** ([`Projection`]): two-dimensional views of schemas, questions and queries, by principal components.
//! - **Figure 4** ([`dimensions`]): how far each corpus reaches in 16 dimensions of schemas and queries.
//!
//! A query that cannot be resolved against its database's schema is counted with its reason, and is in no other figure but
//! the number of examples.
//!
//! Source: T. Pham et al., "An Efficient and Effective Evaluator for `Text2SQL` Models on Unseen and Unlabeled Data"
//! (FusionSQL), section V-A.

mod coverage;
pub mod dimensions;
mod document;
mod folder;
mod measurement;
mod projection;
mod reach;
mod sizes;

pub use coverage::{CorpusCoverage, Coverage};
pub use folder::FILES;
pub use measurement::Measurement;
pub use projection::{Panel, Projection};
pub use reach::Reach;
pub use sizes::Sizes;
