//! The paper's tables on real runs: estimators against truths that they did not see.

mod beside;
mod components;
mod families;
mod families_text;
mod protocol;
mod rows;
mod run;
mod summary;
mod text;

pub use beside::{JudgedPeerTransfer, PeerTransfer, judge_peers, peer_transfers};
pub use families::{Belief, JudgedTransfer, Transfer, Width, judge, transfers};
pub use families_text::FamiliesReport;
pub use protocol::{BenchRun, DatabaseGroup, PeerAvailability, Protocol, Selection, Trial, trials};
pub use rows::RowsFile;
pub use run::{BenchOptions, BenchRow, Results, SeededTrial, SkippedMethod, pool_of, run};
pub use summary::{SummaryLine, by_method, by_system};
pub use text::markdown;
