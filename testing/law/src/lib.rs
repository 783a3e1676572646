//! The law of tree matching, tested: for every query, its normal form returns what the query returns, and so does the
//! query after every single application of a rule.
//!
//! Random queries with every construct of the resolved tree, and mutants of the rules' own cases, are written over
//! schemas that are hostile to rules and run on a real SQLite before and after each application ([`mod@hunt`]). A
//! violation is made small ([`shrink`]) and printed with its database. [`contradict`] asks whether the rules, the
//! verifier and SQLite ever say of a pair what cannot both be so.

pub mod check;
pub mod compare;
pub mod contradict;
pub mod damage;
pub mod data;
pub mod database;
pub mod dice;
pub mod encoder;
pub mod explain;
pub mod generate;
mod hostile;
pub mod hunt;
pub mod plant;
pub mod report;
mod shape;
pub mod shrink;
mod workers;
pub mod world;
