//! A database of the questions, with what is kept for it.

use std::sync::{Arc, Mutex, PoisonError};

use sqlgauge_engine::{Engine, SqliteEngine};
use sqlgauge_etm::{Matcher, Profile};
use sqlgauge_metrics::Target;
use sqlgauge_search::{Options, Search, SearchError};
use sqlgauge_sql::schema::Schema;
use std::time::Duration;

use crate::error::RewardError;
use crate::observed::with_observed_not_null;

/// Virtual-machine steps of one query on one small database; real queries take some hundred there.
const STEPS: u64 = 100_000;
/// Its processor time, in case a step takes long.
const TIME: Duration = Duration::from_secs(1);

/// A database that is open.
pub(crate) struct Subject {
    pub(crate) target: Target,
    /// What witnesses satisfy: the catalog without the foreign keys that the rows break, and with NOT NULL where the rows hold
    /// none. Without witnesses the catalog as it is.
    pub(crate) schema: Arc<Schema>,
    options: Options,
    idle: Mutex<Vec<Search>>,
}

impl Subject {
    pub(crate) fn open(
        engine: &SqliteEngine,
        databases: &sqlgauge_dataset::Databases,
        db_id: &str,
        options: &crate::options::Options,
    ) -> Result<Self, RewardError> {
        let database = engine.open(&databases.locate(db_id)?.main)?;
        let schema = if options.witnesses {
            with_observed_not_null(&database.kept_schema(engine).schema, engine, &database)
        } else {
            Arc::clone(database.schema())
        };
        let options = Options {
            seed: options.seed,
            vm_steps_per_query: STEPS,
            time_limit_per_query: TIME,
            // People do not write NULL into a key, and no answer is to be refused for what only that would tell.
            null_in_primary_key: false,
            ..Options::default()
        };
        Ok(Self { target: Target::new(db_id, database), schema, options, idle: Mutex::default() })
    }

    /// Whether the rules of `etm@1` prove that a query is right for the gold on every database that satisfies the schema, so
    /// that no search need look for one on which it is not.
    pub(crate) fn proves_equal(&self, gold: &str, other: &str) -> bool {
        Matcher::new(&self.schema, Profile::Sound).is_right(gold, other)
    }

    /// Does something with a search over the schema, of which there are as many as threads that ever needed one at once.
    ///
    /// # Errors
    /// When SQLite cannot open a database in memory.
    pub(crate) fn searching<T>(&self, act: impl FnOnce(&Search) -> T) -> Result<T, SearchError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let search = match idle {
            Some(search) => search,
            None => Search::new(Arc::clone(&self.schema), self.options)?,
        };
        // What a panic leaves behind is not put back.
        let done = act(&search);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(search);
        Ok(done)
    }
}
