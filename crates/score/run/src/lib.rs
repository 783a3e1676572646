//! The run directory: provenance, append-only log, resume, parallel scheduling.

mod clusters;
mod databases;
mod details;
mod digest;
mod directory;
mod earlier;
mod error;
mod facts;
mod fixes;
mod gate;
mod golden;
mod index;
mod indexer;
mod items;
mod log;
mod merge;
mod observer;
mod options;
mod pair_scorer;
mod plan;
mod raw;
mod reasons;
mod record;
mod schedule;
mod scorer;
mod shard;
mod summary;

pub use clusters::{
    ClusterBy, ClusterPlace, ClusterPlaces, Clustered, Clusters, LEAST_DATABASES, gold_key, paired_test,
    score_of,
};
pub use databases::UsedDatabases;
pub use details::{
    DetailOf, Details, EarlierQuery, EarlierRecord, MetricDetail, RawDetails, ResultDigest, TurnRecord,
};
pub use digest::{digest_inputs, recorded_file, sha256_of_bytes, sha256_of_file, xxh3_of};
pub use directory::{
    ANSWERS, ITEMS, MANIFEST, REPORT, RUN_FILES, RunDirectory, RunFiles, Start, StoredRun, read_manifest,
    remove_if_there, write_atomically,
};
pub use earlier::EarlierCounts;
pub use error::RunError;
pub use fixes::{ANSWERED, FAILED, Fix, Fixes, REWRITTEN, SEVERAL, TIED, UNCLEAR};
pub use gate::{Gate, GateError, GateFailure, check_gates};
pub use golden::{GoldenAnswer, GoldenOutcome};
pub use items::{Entry, Items, Prepared};
pub use merge::Shards;
pub use observer::{Observer, Repair};
pub use options::{OPTIONS, Reach, unlike};
pub use pair_scorer::{PairGround, PairScorer};
pub use plan::{Plan, Task};
pub use raw::RawItem;
pub use reasons::{Reason, Reasons};
pub use record::{
    AsWritten, Comparison, Counts, GOLD_FAILED, GoldCounts, GoldOutcome, InputRecord, Item, MISSING,
    Manifest, PAIRED_BY, PAIRS, PlainDifference, ScoreSummary, Summary, SystemSummary, UNANSWERABLE,
    systems_named,
};
pub use schedule::{Completion, Judgement, Schedule, Scorer, execute};
pub use scorer::BenchmarkScorer;
pub use shard::{BadShard, Shard};
pub use summary::SummaryBuilder;
