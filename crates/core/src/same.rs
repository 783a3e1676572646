//! When two answers with equal results mean the same.

use sqlgauge_engine::{Database, Engine, ResultSet};
use sqlgauge_etm::Profile;
use sqlgauge_verify::Verdict;

use crate::context::Watcher;
use crate::error::Error;
use crate::match_pair::{SchemaFacts, match_pair};
use crate::settings::VerifySettings;
use crate::verify_pair::over_database;

sqlgauge_base::named! {
    /// When two answers mean the same.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum VoteBy by name {
        /// Equal results on the database.
        #[default]
        Result = "result",
        /// Equal results, and a proof.
        Proof = "proof",
        /// Equal results, and no database that tells them apart.
        Both = "both",
    }
}

impl VoteBy {
    /// How answers can be told apart on that engine. Proofs, and databases that are made for two answers, speak SQLite's SQL.
    ///
    /// # Errors
    /// When a proof is asked for on a server.
    pub(crate) fn on(self, engine: &dyn Engine, watcher: &dyn Watcher) -> Result<Self, Error> {
        match self {
            by if engine.is_sqlite() => Ok(by),
            Self::Proof => Err(Error::Invalid(format!(
                "--by proof: equality is proved for SQLite's SQL, and these databases speak {}; give --by result",
                engine.dialect()
            ))),
            by => {
                if by == Self::Both {
                    watcher.note("on a server, answers are equal by their results there: no database is made to tell them apart");
                }
                Ok(Self::Result)
            }
        }
    }
}

/// What equal results have in common: width, number of rows, their set.
pub(crate) fn result_key(rows: &ResultSet) -> (usize, usize, u64) {
    let print = rows.fingerprint();
    (rows.width(), print.rows, print.set)
}

/// Tells answers apart that have equal results on a database.
pub(crate) struct Sameness<'a> {
    pub(crate) by: VoteBy,
    pub(crate) verify: &'a VerifySettings,
    pub(crate) engine: &'a dyn Engine,
    pub(crate) database: &'a Database,
}

impl Sameness<'_> {
    /// Whether two answers with equal results mean the same.
    pub(crate) fn holds(&self, left: &str, right: &str) -> Result<bool, Error> {
        if self.by == VoteBy::Result || left == right {
            return Ok(true);
        }
        let facts = SchemaFacts::of_database(self.engine, self.database, Profile::Sound, &[left, right])?;
        if match_pair(&facts, Profile::Sound, left, right).verdict.is_equal() {
            return Ok(true);
        }
        let verdict =
            match over_database(&self.verify.verification(), self.engine, self.database, left, right) {
                Ok(report) => report.verdict,
                // A text that is refused there has no proof, and nothing speaks against it.
                Err(Error::Refused(_)) => return Ok(self.by == VoteBy::Both),
                Err(error) => return Err(error),
            };
        Ok(match self.by {
            VoteBy::Result => true,
            VoteBy::Proof => matches!(verdict, Verdict::Equivalent(_)),
            VoteBy::Both => !matches!(verdict, Verdict::Different(_)),
        })
    }
}
