//! The paper's tables on real runs: estimators against truths that they did not see.

mod families;
mod protocol;
mod run;
mod summary;
mod text;

pub use families::{Belief, JudgedTransfer, Transfer, families_markdown, judge, transfers};
pub use protocol::{BenchRun, DatabaseGroup, PeerAvailability, Protocol, Selection, Trial, trials};
pub use run::{BenchOptions, BenchRow, Results, SkippedMethod, pool_of, run};
pub use summary::{SummaryLine, by_method, by_system};
pub use text::markdown;
