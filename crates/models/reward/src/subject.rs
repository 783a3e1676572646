//! A database of the questions, with what is kept for it.

use std::sync::{Arc, Mutex, PoisonError};

use sqlgauge_engine::Engine;
use sqlgauge_etm::{Matcher, Profile};
use sqlgauge_metrics::Target;
use sqlgauge_search::{
    Contract, DeclaredColumns, Need, Observed, Refutation, Search, SearchError, SearchOptions,
};
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::ColumnValues;
use std::time::Duration;

use crate::error::RewardError;
use crate::options::Likeness;

/// Virtual-machine steps of one query on one small database; real queries take some hundred there.
const STEPS: u64 = 100_000;
/// Its processor time, in case a step takes long.
const TIME: Duration = Duration::from_secs(1);

/// A database that is open.
pub(crate) struct Subject {
    pub(crate) target: Target,
    /// As like the benchmark's as the options ask.
    plain: World,
    /// With repeats where the benchmark has none, if the plain one has not.
    with_repeats: Option<World>,
}

impl Subject {
    pub(crate) fn open(
        engine: &dyn Engine,
        databases: &sqlgauge_dataset::Databases,
        db_id: &str,
        options: &crate::options::RewardOptions,
    ) -> Result<Self, RewardError> {
        let database = engine.open(&databases.locate(db_id)?.main)?;
        let world = |schema| World::new(schema, options, true, None);
        let (plain, with_repeats) = if options.witnesses {
            let schema = Arc::clone(&database.kept_schema(engine).schema);
            let observed = || Observed::new(Arc::clone(&schema), engine, &database);
            match options.likeness {
                Likeness::Schema => (world(Arc::clone(&schema)), None),
                Likeness::Nulls => {
                    let observed = observed();
                    let (spellings, declared) = (observed.has_other_spellings(), observed.declared());
                    (World::new(observed.without_nulls(), options, spellings, Some(declared)), None)
                }
                Likeness::Repeats => {
                    let observed = observed();
                    let (spellings, declared) = (observed.has_other_spellings(), observed.declared());
                    let world = |schema| World::new(schema, options, spellings, Some(declared.clone()));
                    (world(observed.without_repeats()), Some(world(observed.without_nulls())))
                }
            }
        } else {
            (world(Arc::clone(database.schema())), None)
        };
        Ok(Self { target: Target::new(db_id, database), plain, with_repeats })
    }

    /// The databases beside the benchmark's on which answers are judged; with what may repeat there, if that is asked for.
    pub(crate) fn world(&self, has_repeats: bool) -> &World {
        self.with_repeats.as_ref().filter(|_| has_repeats).unwrap_or(&self.plain)
    }

    /// Whether there is a world with repeats beside the plain one.
    pub(crate) fn has_both_worlds(&self) -> bool {
        self.with_repeats.is_some()
    }
}

/// All databases of a schema.
pub(crate) struct World {
    /// What witnesses satisfy: the catalog without the foreign keys that the rows break, and with what the rows show
    /// ([`Likeness`]). Without witnesses the catalog as it is.
    pub(crate) schema: Arc<Schema>,
    options: SearchOptions,
    /// The columns that hold what they declare in a witness.
    declared: DeclaredColumns,
    idle: Mutex<Vec<Search>>,
}

impl World {
    fn new(
        schema: Arc<Schema>,
        options: &crate::options::RewardOptions,
        other_spellings: bool,
        of_rows: Option<DeclaredColumns>,
    ) -> Self {
        let declared = options.values.columns(of_rows);
        let options = SearchOptions {
            seed: options.seed,
            vm_steps_per_query: STEPS,
            time_limit_per_query: TIME,
            // People do not write NULL into a key, and no answer is to be refused for what only that would tell, unless that is asked
            // for.
            null_in_primary_key: options.values == ColumnValues::Any,
            other_spellings,
            // Where a query finds nothing, no question says whether that is NULL or no row.
            contract: Contract { null_is_nothing: true, ..options.contract() },
            ..SearchOptions::default()
        };
        Self { schema, options, declared, idle: Mutex::default() }
    }

    /// Whether the rules of `etm@1` prove that a query is right for the gold on every database that satisfies the schema, so
    /// that no search need look for one on which it is not.
    pub(crate) fn proves_equal(&self, gold: &str, other: &str) -> bool {
        Matcher::new(&self.schema, Profile::Sound).is_right(gold, other)
    }

    /// Whether a database that tells an answer from its gold counts: not if it takes NULL in a key, a value off its type or an empty
    /// result, unless any value was asked for.
    pub(crate) fn takes(&self, refutation: &Refutation) -> bool {
        let any = self.options.null_in_primary_key;
        refutation.needs().iter().all(|need| any && *need != Need::EmptyResult)
    }

    /// Does something with a search over the schema, of which there are as many as threads that ever needed one at once.
    ///
    /// # Errors
    /// When SQLite cannot open a database in memory.
    pub(crate) fn searching<T>(&self, act: impl FnOnce(&Search) -> T) -> Result<T, SearchError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let search = if let Some(search) = idle {
            search
        } else {
            let search = Search::new(Arc::clone(&self.schema), self.options)?;
            search.hold(self.declared.clone());
            search
        };
        // What a panic leaves behind is not put back.
        let done = act(&search);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(search);
        Ok(done)
    }
}
