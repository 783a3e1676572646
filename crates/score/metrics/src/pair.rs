//! What a metric scores, with everything that several metrics need computed once.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use sqlgauge_dialects::reading;
use sqlgauge_engine::compare::pyeq::GridPair;
use sqlgauge_engine::compare::{GoldOrder, Semantics, explain};
use sqlgauge_engine::{
    Database, Dependence, Engine, Enough, Execution, Failure, FailureKind, GoldCache, Outcome, ResultSet,
    has_further_semicolon,
};
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::spider::{self, Catalog, ParseFailure};
use sqlgauge_sql::tree::Query;
use sqlgauge_sql::{Features, ResolveError, resolve};

use crate::esm::{BoundKeys, ForeignKeyMap};
use crate::esm_fair::linked::LinkedColumns;
use crate::ex::order_of;
use crate::lexical;
use crate::metric::{Metric, Reads, Score};
use crate::official;
use crate::pack::PackedTarget;
use crate::verification::Verification;

/// The database that a question is about.
#[derive(Debug, Clone)]
pub struct Target {
    /// The benchmark's name of the database.
    pub db_id: String,
    /// The database itself.
    pub database: Arc<Database>,
    /// The catalog: from the benchmark's schema file where there is one, else from the database.
    pub schema: Arc<Schema>,
    /// All databases of the folder, sorted by path, `database` among them: the test suite.
    pub suite: Vec<Arc<Database>>,
    /// The databases of a witness pack for its questions.
    pub packed: Option<Arc<PackedTarget>>,
    catalog: Catalog,
    keys: BoundKeys,
    linked: OnceLock<LinkedColumns>,
}

impl Target {
    /// A target with the database's own catalog and foreign keys and no other database beside it.
    pub fn new(db_id: impl Into<String>, database: Arc<Database>) -> Self {
        let schema = Arc::clone(database.schema());
        let catalog = Catalog::from_schema(&schema);
        let keys = BoundKeys::new(&ForeignKeyMap::from_schema(&schema), &catalog);
        Self {
            db_id: db_id.into(),
            suite: vec![Arc::clone(&database)],
            packed: None,
            database,
            schema,
            catalog,
            keys,
            linked: OnceLock::new(),
        }
    }

    /// With the catalog of a schema file.
    #[must_use]
    pub fn with_schema(mut self, schema: Arc<Schema>) -> Self {
        self.schema = schema;
        self.linked = OnceLock::new();
        self
    }

    /// With the databases of a witness pack.
    #[must_use]
    pub fn with_pack(mut self, packed: Arc<PackedTarget>) -> Self {
        self.packed = Some(packed);
        self
    }

    /// With the foreign keys of a `tables.json`, as the official exact set match reads them.
    #[must_use]
    pub fn with_foreign_keys(mut self, keys: &ForeignKeyMap) -> Self {
        self.keys = BoundKeys::new(keys, &self.catalog);
        self
    }

    /// The names of the database as Spider's scripts see them.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The columns that foreign keys of the catalog link, for exact set match over resolved queries.
    pub(crate) fn linked_columns(&self) -> &LinkedColumns {
        self.linked.get_or_init(|| LinkedColumns::new(&self.schema))
    }

    /// The foreign keys as Spider's scripts see them.
    pub fn foreign_keys(&self) -> &BoundKeys {
        &self.keys
    }
}

/// What follows from a gold and its database alone, computed when first asked for. One such memo can serve the
/// pairs of all systems with that gold.
#[derive(Debug, Default)]
pub struct GoldFacts {
    query: OnceLock<Result<Query, ResolveError>>,
    features: OnceLock<Option<Features>>,
    order: OnceLock<GoldOrder>,
    legacy: OnceLock<Result<spider::SpiderQuery, ParseFailure>>,
    to_run: [OnceLock<Option<(String, bool)>>; 2],
}

/// A database and the lexical key of a text.
type Key = (*const Database, Rc<str>);

/// The text that ran, and what became of it.
type Executions = HashMap<Key, (Box<str>, Execution)>;

/// A gold and a prediction for one question.
///
/// Executions are remembered by database and SQL text, so that metrics share them. A pair belongs to one
/// thread; the engine, the gold cache and the gold facts behind it are shared by all.
pub struct Pair<'a> {
    engine: &'a dyn Engine,
    target: &'a Target,
    gold: &'a str,
    prediction: &'a str,
    gold_cache: Option<&'a GoldCache>,
    verification: Option<&'a Verification>,
    shared: Option<&'a GoldFacts>,
    facts: GoldFacts,
    needs: Needs,
    executions: RefCell<Executions>,
    /// The lexical keys of gold and prediction.
    keys: [OnceCell<Rc<str>>; 2],
    query: OnceCell<Result<Query, ResolveError>>,
    features: OnceCell<Option<Features>>,
    legacy: OnceCell<Result<spider::SpiderQuery, ParseFailure>>,
    /// Holds the results too, so that no other result can take their place in memory.
    grids: RefCell<Vec<(Results, Rc<GridPair>)>>,
}

impl<'a> Pair<'a> {
    /// A pair of texts exactly as their files have them.
    pub fn new(
        engine: &'a dyn Engine,
        target: &'a Target,
        gold: &'a str,
        prediction: &'a str,
        gold_cache: Option<&'a GoldCache>,
    ) -> Self {
        Self {
            engine,
            target,
            gold,
            prediction,
            gold_cache,
            verification: None,
            shared: None,
            facts: GoldFacts::default(),
            needs: Needs::default(),
            executions: RefCell::default(),
            keys: Default::default(),
            query: OnceCell::new(),
            features: OnceCell::new(),
            legacy: OnceCell::new(),
            grids: RefCell::default(),
        }
    }

    /// Takes what follows from the gold from a memo, which must be of the same gold and database.
    #[must_use]
    pub fn sharing(mut self, facts: &'a GoldFacts) -> Self {
        self.shared = Some(facts);
        self
    }

    /// Says how metrics that verify do it.
    #[must_use]
    pub fn verifying(mut self, verification: &'a Verification) -> Self {
        self.verification = Some(verification);
        self
    }

    /// Lets a prediction stop as soon as those metrics, and no others, know that it is wrong.
    ///
    /// Their scores are the same as without it: a bag of more rows than the gold's is not the gold's, nor is a set with
    /// a row that the gold lacks. What the metrics say about a wrong answer then speaks of its first rows, and a
    /// prediction that would have failed behind them (by the time limit, say) has the status `ok`. Nothing
    /// stops early if one of the metrics reads every row ([`Reads::Everything`]).
    #[must_use]
    pub fn for_metrics(mut self, metrics: &[&dyn Metric]) -> Self {
        let reads = |what| metrics.iter().any(|metric| metric.reads() == what);
        if !reads(Reads::Everything) {
            self.needs = Needs { bag: reads(Reads::Bag), set: reads(Reads::Set) };
        }
        self
    }

    fn facts(&self) -> &GoldFacts {
        self.shared.unwrap_or(&self.facts)
    }

    /// A text as SQLite's grammar reads it: that of another dialect in other words, of which nothing but its structure counts.
    pub(crate) fn read(&self, sql: &'a str) -> Cow<'a, str> {
        if self.engine.is_sqlite() { sql.into() } else { reading(sql, self.engine.dialect()).into() }
    }

    /// The gold as a resolved query over the database. Of another dialect than SQLite's it is a reading, of which only names,
    /// clauses and nesting count ([`sqlgauge_dialects::reading`]).
    ///
    /// # Errors
    /// When it cannot be resolved.
    pub fn gold_query(&self) -> Result<&Query, &ResolveError> {
        let schema = self.target.database.schema();
        self.facts().query.get_or_init(|| resolve(&self.read(self.gold), schema)).as_ref()
    }

    /// The prediction as a resolved query over the database, as [`Pair::gold_query`].
    ///
    /// # Errors
    /// When it cannot be resolved.
    pub fn prediction_query(&self) -> Result<&Query, &ResolveError> {
        let schema = self.target.database.schema();
        self.query.get_or_init(|| resolve(&self.read(self.prediction), schema)).as_ref()
    }

    /// The features of the gold, `None` if it cannot be resolved.
    pub fn gold_features(&self) -> Option<&Features> {
        let schema = self.target.database.schema();
        let features = || self.gold_query().ok().map(|query| Features::of(query, schema));
        self.facts().features.get_or_init(features).as_ref()
    }

    /// The features of the prediction, `None` if it cannot be resolved.
    pub(crate) fn prediction_features(&self) -> Option<&Features> {
        let schema = self.target.database.schema();
        let features = || self.prediction_query().ok().map(|query| Features::of(query, schema));
        self.features.get_or_init(features).as_ref()
    }

    /// The gold as Spider's own parser reads it.
    ///
    /// # Errors
    /// When that parser cannot read it.
    pub fn gold_legacy(&self) -> Result<&spider::SpiderQuery, &ParseFailure> {
        let parse = || spider::parse(&self.target.catalog, &self.read(self.gold));
        self.facts().legacy.get_or_init(parse).as_ref()
    }

    /// The prediction as Spider's own parser reads it.
    ///
    /// # Errors
    /// When that parser cannot read it.
    pub(crate) fn prediction_legacy(&self) -> Result<&spider::SpiderQuery, &ParseFailure> {
        let parse = || spider::parse(&self.target.catalog, &official::prediction_line(self.prediction));
        self.legacy.get_or_init(parse).as_ref()
    }

    /// The order that the gold asks for, given its result.
    pub fn gold_order(&self, gold: &ResultSet) -> &GoldOrder {
        self.facts().order.get_or_init(|| order_of(self, gold))
    }

    /// The gold as the official Spider script runs it, and whether the order of rows counts there.
    pub(crate) fn gold_to_run(&self, keep_distinct: bool) -> Option<&(String, bool)> {
        let to_run = || official::gold_to_run(self.gold, keep_distinct);
        self.facts().to_run[usize::from(keep_distinct)].get_or_init(to_run).as_ref()
    }

    pub fn gold(&self) -> &'a str {
        self.gold
    }

    pub fn prediction(&self) -> &'a str {
        self.prediction
    }

    /// How metrics that verify do it.
    pub(crate) fn verification(&self) -> Option<&Verification> {
        self.verification
    }

    /// What runs the queries.
    pub(crate) fn engine(&self) -> &dyn Engine {
        self.engine
    }

    /// The database and what belongs to it.
    pub fn target(&self) -> &'a Target {
        self.target
    }

    /// Runs a text that comes from the prediction; a text that has run on that database is not run again.
    pub fn run(&self, database: &Database, sql: &str) -> Execution {
        self.remember(database, sql, || self.engine.run(database, sql))
    }

    /// Runs a text that comes from the gold; the gold cache, if there is one, shares it between systems.
    pub fn run_gold(&self, database: &Database, sql: &str) -> Execution {
        self.remember(database, sql, || {
            let cached = self.gold_cache.and_then(|cache| cache.run(self.engine, database, sql).ok());
            cached.unwrap_or_else(|| self.engine.run(database, sql))
        })
    }

    /// Runs a text without remembering or being reminded: for measuring time, and for texts that come but once.
    pub(crate) fn run_again(&self, database: &Database, sql: &str) -> Execution {
        self.engine.run(database, sql)
    }

    /// What the results of all texts that have run depend on besides the texts and their databases.
    pub fn depends_on(&self) -> Dependence {
        let executions = self.executions.borrow();
        executions
            .values()
            .map(|(_, execution)| execution.depends_on)
            .fold(Dependence::default(), Dependence::and)
    }

    /// Runs a text that comes but once, until it has returned enough.
    pub(crate) fn run_again_until(&self, database: &Database, sql: &str, enough: &Enough) -> Execution {
        self.engine.run_until(database, sql, enough)
    }

    /// The outcome of the prediction as it was written: the status of its item record.
    pub fn prediction_execution(&self) -> Execution {
        // The gold goes first, so that an equal text takes its execution from the gold cache.
        let gold = self.run_gold(&self.target.database, self.gold);
        self.run_beside(&self.target.database, gold.rows(), self.prediction)
    }

    /// Runs a text that comes from the prediction until it cannot equal those rows of the gold any more.
    fn run_beside(&self, database: &Database, gold: Option<&Arc<ResultSet>>, sql: &str) -> Execution {
        let Some(enough) = gold.and_then(|gold| self.needs.enough(gold)) else {
            return self.run(database, sql);
        };
        let key = self.key(database, sql);
        let cached = self.remembered(&key, sql);
        let is_of_use = |rows: &Arc<ResultSet>| !rows.is_beginning() || enough.is_reached_by(rows);
        if let Some(cached) = cached.filter(|cached| cached.rows().is_none_or(is_of_use)) {
            return cached;
        }
        let execution = self.engine.run_until(database, sql, &enough);
        self.executions.borrow_mut().insert(key, (sql.into(), execution.clone()));
        execution
    }

    /// The grids of two results, made once.
    pub(crate) fn grids(&self, results: &Results) -> Rc<GridPair> {
        let is_known = |(cached, _): &&(Results, Rc<GridPair>)| {
            Arc::ptr_eq(&cached.gold, &results.gold) && Arc::ptr_eq(&cached.prediction, &results.prediction)
        };
        if let Some((_, grids)) = self.grids.borrow().iter().find(is_known) {
            return Rc::clone(grids);
        }
        let grids = Rc::new(GridPair::of(&results.gold, &results.prediction));
        self.grids.borrow_mut().push((results.clone(), Rc::clone(&grids)));
        grids
    }

    /// Two texts that SQLite cannot tell apart share their rows. A failure is shared by equal texts only, because
    /// its message quotes the text.
    fn remember(&self, database: &Database, sql: &str, run: impl FnOnce() -> Execution) -> Execution {
        let is_whole = |execution: &Execution| execution.rows().is_none_or(|rows| !rows.is_beginning());
        let key = self.key(database, sql);
        if let Some(execution) = self.remembered(&key, sql).filter(is_whole) {
            return execution;
        }
        let execution = run();
        self.executions.borrow_mut().insert(key, (sql.into(), execution.clone()));
        execution
    }

    /// The key under which an execution is remembered. Which texts SQLite takes for one, another engine may tell apart.
    fn key(&self, database: &Database, sql: &str) -> Key {
        let lexical = || if self.engine.is_sqlite() { lexical::key(sql) } else { sql.into() };
        let place = [self.gold, self.prediction].iter().position(|text| std::ptr::eq(*text, sql));
        let text = match place {
            Some(place) => Rc::clone(self.keys[place].get_or_init(|| lexical().into())),
            None => lexical().into(),
        };
        (std::ptr::from_ref(database), text)
    }

    fn remembered(&self, key: &Key, sql: &str) -> Option<Execution> {
        let executions = self.executions.borrow();
        let (text, execution) = executions.get(key)?;
        (execution.rows().is_some() || **text == *sql).then(|| execution.clone())
    }

    /// The results of gold and prediction, run as those texts on that database, or the score that their
    /// failure settles: null for a gold that fails, 0 for a prediction that does.
    ///
    /// Both are what Python's `sqlite3` makes of the texts, on which the official scripts run: a text without a
    /// statement has an empty result, and a second semicolon is a second statement. Other engines' own count is taken.
    pub(crate) fn results_in_python(
        &self,
        database: &Database,
        gold: &str,
        prediction: &str,
    ) -> Result<Results, Score> {
        let is_sqlite = self.engine.is_sqlite();
        let read = |sql: &str, run: &Execution| {
            if is_sqlite { rows_in_python(sql, run) } else { rows_or_nothing(run) }
        };
        let gold = read(gold, &self.run_gold(database, gold)).map_err(|failure| gold_failed(&failure))?;
        let run = self.run_beside(database, Some(&gold), prediction);
        let prediction = read(prediction, &run).map_err(|failure| prediction_failed(&failure))?;
        Ok(Results { gold, prediction })
    }

    /// The results of gold and prediction as they are written, for a metric whose equality is that. The prediction runs as far as this
    /// metric must see it, whatever others must see: where they read on, and it then fails, it runs once more.
    pub(crate) fn results_by(&self, semantics: Semantics) -> Option<Results> {
        let database = &self.target.database;
        let gold = rows_or_nothing(&self.run_gold(database, self.gold)).ok()?;
        let is_set = semantics == Semantics::Set;
        let needs = Needs { bag: !is_set, set: is_set };
        let enough = needs.enough(&gold)?;
        let is_of_use = |rows: &Arc<ResultSet>| !rows.is_beginning() || enough.is_reached_by(rows);
        let run = self.run_beside(database, Some(&gold), self.prediction);
        let has_seen = run.rows().map_or(needs == self.needs, is_of_use);
        let run = if has_seen { run } else { self.run_again_until(database, self.prediction, &enough) };
        Some(Results { gold, prediction: rows_or_nothing(&run).ok()? })
    }

    /// The results of gold and prediction as they are written, or the score that their failure settles. A text
    /// without a statement has an empty result.
    pub(crate) fn results(&self) -> Result<Results, Score> {
        let database = &self.target.database;
        let gold = rows_or_nothing(&self.run_gold(database, self.gold)).map_err(|f| gold_failed(&f))?;
        let run = self.run_beside(database, Some(&gold), self.prediction);
        let prediction = rows_or_nothing(&run).map_err(|f| prediction_failed(&f))?;
        Ok(Results { gold, prediction })
    }
}

/// What the metrics of a pair must see of a prediction before they know that it is wrong; nothing if it must run to
/// its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Needs {
    /// More rows than the gold's.
    bag: bool,
    /// A row that the gold lacks.
    set: bool,
}

impl Needs {
    fn enough(self, gold: &Arc<ResultSet>) -> Option<Enough> {
        (self.bag || self.set).then(|| Enough {
            rows_over: self.bag.then_some(gold.len()),
            foreign_to: self.set.then(|| Arc::clone(gold)),
        })
    }
}

#[derive(Clone)]
pub(crate) struct Results {
    pub(crate) gold: Arc<ResultSet>,
    pub(crate) prediction: Arc<ResultSet>,
}

impl Results {
    /// Whether both have the same values in the same places, so that no comparison is needed.
    pub(crate) fn are_identical(&self) -> bool {
        let (gold, prediction) = (&self.gold, &self.prediction);
        Arc::ptr_eq(gold, prediction)
            || gold.width() == prediction.width() && gold.values() == prediction.values()
    }

    /// Whether gold and prediction returned here what they returned there.
    pub(crate) fn are_those_of(&self, other: &Self) -> bool {
        let same = |a: &Arc<ResultSet>, b: &Arc<ResultSet>| Arc::ptr_eq(a, b) || a == b;
        same(&self.gold, &other.gold) && same(&self.prediction, &other.prediction)
    }
}

pub(crate) fn rows_in_python(sql: &str, execution: &Execution) -> Result<Arc<ResultSet>, Failure> {
    let rows = rows_or_nothing(execution)?;
    if has_further_semicolon(sql) {
        let message = "Python's sqlite3 takes a second semicolon for a second statement";
        return Err(Failure::new(FailureKind::MultipleStatements, message));
    }
    Ok(rows)
}

fn rows_or_nothing(execution: &Execution) -> Result<Arc<ResultSet>, Failure> {
    match &execution.outcome {
        Outcome::Rows(rows) => Ok(Arc::clone(rows)),
        Outcome::Failed(failure) if failure.kind == FailureKind::Empty => Ok(Arc::default()),
        Outcome::Failed(failure) => Err(failure.clone()),
    }
}

/// The score of every execution metric when the gold does not run.
pub(crate) fn gold_failed(failure: &Failure) -> Score {
    Score::inapplicable(format!("gold_failed: {}", explain::shorten(&failure.message, 200)))
        .with("gold_failed", failure.kind.as_str())
}

/// The score of an execution metric when the prediction does not run.
pub(crate) fn prediction_failed(failure: &Failure) -> Score {
    Score::new(0.0)
        .because(format!("the prediction does not run: {}", explain::shorten(&failure.message, 200)))
        .with("status", failure.kind.as_str())
}
