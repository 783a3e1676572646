//! Proves without data that a gold and its evolved form mean the same.
//!
//! # Contract
//! The evolved text is read anew, taken back through the inverse of the mapping, and compared with the original gold by the
//! rules of `etm@1` over the original schema. That is asked where a mapping adds, removes and renames: there a query
//! comes back as it went. `false` says that there is no proof, not that the two differ.

use sqlgauge_etm::{Matcher, Profile};

use crate::chain::Chain;
use crate::change::Change;

/// A mapping whose equality is in question.
pub(crate) struct Equivalence<'a> {
    chain: &'a Chain,
    matcher: Matcher<'a>,
}

impl<'a> Equivalence<'a> {
    /// `None` where the mapping splits or merges.
    pub(crate) fn of(chain: &'a Chain) -> Option<Self> {
        let keeps_structure = |change: &Change| match change {
            Change::RenameColumn { .. }
            | Change::RenameTable { .. }
            | Change::AddColumn { .. }
            | Change::AddTable { .. }
            | Change::DropColumn { .. }
            | Change::DropTable { .. } => true,
            Change::SplitColumn { .. }
            | Change::MergeColumns { .. }
            | Change::SplitTable { .. }
            | Change::MergeTables { .. } => false,
        };
        let matcher = Matcher::new(chain.first(), Profile::Sound);
        chain.changes().iter().all(keeps_structure).then_some(Self { chain, matcher })
    }

    /// Whether the evolved text is proved to mean what the gold means.
    pub(crate) fn proves(&self, gold: &str, evolved: &str) -> bool {
        self.chain.taken_back(evolved).is_ok_and(|back| self.matcher.is_equal(gold, &back))
    }
}
