//! Enhanced Tree Matching: whether two queries mean the same, by rewrite rules that each carry their proof.
//!
//! Both queries are resolved against the schema, rewritten by the rules of a [`Profile`] to a fixed point in
//! every scope, brought into an order that does not depend on how they were written, and compared up to the
//! renaming of table instances. No database is needed.
//!
//! - [`Matcher::compare`] gives the [`MatchVerdict`] with its reasons; [`Matcher::is_equal`] only the answer.
//! - [`rules()`] is the registry: one [`Rule`] per file of the folder `rules`, each with its page and its cases.

mod assumption;
mod beside;
mod canonical;
mod context;
mod difference;
mod driver;
#[cfg(feature = "law")]
pub mod law;
mod matcher;
mod planned;
mod profile;
mod rule;
pub mod rules;
mod sensitive;
mod tools;

pub use assumption::{Assumption, AssumptionKind};
pub use context::{Position, RuleContext};
pub use matcher::{Application, MatchReport, MatchSide, MatchVerdict, Matcher, NormalForm, Reference};
pub use profile::{Profile, Profiles};
pub use rule::{ExprRewrite, HEADINGS, QueryRewrite, Rule, RuleCase, RuleStage, Shape};
pub use rules::{find, rules};
pub use sensitive::Sensitivity;
