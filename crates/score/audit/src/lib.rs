//! What is wrong with the gold queries of a benchmark.
//!
//! - [`Auditor`] looks at the golds of one database; [`AuditItem`] is one gold with its question, [`ItemAudit`] what was found.
//! - [`rules()`] is the registry: one [`AuditRule`] per file of the folder `rules`, each with its page and its cases.
//! - [`Finding`] says what is wrong in one line, with the rows that show it and a proposed rewrite where a rule has one.
//! - [`Allowed`] holds the findings that a person has looked at and accepts, each with the reason.
//! - [`formats`] writes a [`BenchmarkAudit`] as text, JSON lines, SARIF, HTML or Markdown.
//!
//! A rule reads the resolved query, the schema, the question, and the rows of the database through the engine under its
//! limits. What a rule cannot check it lists with the reason, so that silence means that it was checked.

mod allowed;
mod auditor;
mod confidence;
mod data;
mod evidence;
mod finding;
pub mod formats;
mod item;
mod report;
mod rule;
pub mod rules;
mod walk;
mod words;

pub use allowed::{Allowed, AllowedError};
pub use auditor::{Auditor, RuleSelection, UnknownRule};
pub use data::{AuditData, AuditedColumn};
pub use finding::{Evidence, Finding, Findings, Proposal, Unchecked};
pub use item::{AuditItem, AuditSubject, Peer};
pub use report::{AuditedItem, BenchmarkAudit, ItemAudit, RuleCount};
pub use rule::{AuditCase, AuditRule, Check, HEADINGS, Needs, RuleStanding};
pub use rules::{find, rules};
