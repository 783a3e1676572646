//! What becomes of one answer beside one gold, by the results of both.

use std::sync::Arc;

use sqlgauge_base::counted;
use sqlgauge_dataset::is_other_statement;
use sqlgauge_engine::compare::GoldOrder;
use sqlgauge_engine::{Engine, FailureKind, ResultSet};
use sqlgauge_metrics::{Metric, Pair, find};
use sqlgauge_search::{Equality, SearchVerdict, Witness};

use crate::answering::Answering;
use crate::code::Code;
use crate::error::RewardError;
use crate::golds::Gold;
use crate::options::RewardOptions;
use crate::reads::reads_table;
use crate::subject::Subject;
use crate::witnesses::{Question, QuestionWitnesses};

/// The contract by which results are compared.
const EXACT: &str = "ex@1";

/// Databases on which a right answer that no witness tells from its gold is tried once.
const DATABASES: usize = 64;

/// An answer, with what it is judged by.
pub(crate) struct Case<'a> {
    pub(crate) options: &'a RewardOptions,
    pub(crate) subject: &'a Subject,
    pub(crate) engine: &'a Answering<'a>,
    pub(crate) sql: &'a str,
    /// What all texts share that SQLite cannot tell from it.
    pub(crate) key: &'a str,
}

/// A gold with what is known of its question.
#[derive(Clone)]
pub(crate) struct GoldQuestion {
    pub(crate) gold: Arc<Gold>,
    pub(crate) question: Option<Arc<Question>>,
}

/// How far an answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Progress {
    /// It is no SQL, or nothing that may be run.
    Nothing,
    Parses,
    /// Its names are those of the database.
    Resolves,
    Runs,
}

#[derive(Debug)]
pub(crate) struct JudgedAnswer {
    pub(crate) code: Code,
    pub(crate) reason: String,
    pub(crate) progress: Progress,
    /// The script of the database that tells the answer from its gold.
    pub(crate) witness: Option<String>,
    /// What was known of the question, where that decided.
    pub(crate) witnesses: Option<Arc<QuestionWitnesses>>,
    /// A database that tells the answer from its gold, and was not known.
    pub(crate) new: Option<Witness>,
}

impl JudgedAnswer {
    pub(crate) fn new(code: Code, progress: Progress, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into(), progress, witness: None, witnesses: None, new: None }
    }
}

impl Case<'_> {
    /// The pair of the answer and a gold, which stops as soon as those metrics know that it is wrong.
    pub(crate) fn pair<'p>(&'p self, gold: &'p Gold, metrics: &[&dyn Metric]) -> Pair<'p> {
        if let Some(execution) = &gold.execution {
            self.engine.know(&gold.text, execution);
        }
        Pair::new(self.engine, &self.subject.target, &gold.text, self.sql, None)
            .sharing(&gold.facts)
            .for_metrics(metrics)
    }

    /// What the failure of the gold or of the extraction settles.
    pub(crate) fn settled(&self, gold: &Gold) -> Option<JudgedAnswer> {
        if let Some(failure) = gold.failure() {
            let reason = format!("the gold does not run: {}", failure.message);
            return Some(JudgedAnswer::new(Code::GoldFailed, Progress::Nothing, reason));
        }
        self.without_query()
    }

    /// What becomes of an answer that has no query.
    pub(crate) fn without_query(&self) -> Option<JudgedAnswer> {
        let reason = if self.sql.trim().is_empty() {
            "the answer holds no SQL"
        } else if is_other_statement(self.sql) {
            "the answer is a statement that is not a query"
        } else {
            return None;
        };
        Some(JudgedAnswer::new(Code::NoSql, Progress::Nothing, reason))
    }

    /// What becomes of the answer by its rows.
    pub(crate) fn by_results(&self, item: &GoldQuestion) -> Result<JudgedAnswer, RewardError> {
        let gold = &*item.gold;
        if let Some(answer) = self.settled(gold) {
            return Ok(answer);
        }
        if self.key == gold.key {
            return Ok(JudgedAnswer::new(Code::Right, Progress::Runs, "the answer is the gold"));
        }
        let exact = metric(EXACT)?;
        let pair = self.pair(gold, &[exact]);
        let reads_none = || pair.prediction_query().is_ok_and(|query| !reads_table(query));
        if self.options.refuse_no_table && gold.reads_table && reads_none() {
            let reason = "the answer reads no table, and the gold does";
            return Ok(JudgedAnswer::new(Code::ReadsNoTable, Progress::Nothing, reason));
        }
        let execution = pair.prediction_execution();
        if let Some(failure) = execution.outcome.failure() {
            let Some(code) = Code::of_failure(failure.kind) else {
                let db_id = self.subject.target.db_id.clone();
                return Err(RewardError::Database { db_id, message: failure.message.clone() });
            };
            return Ok(self.failed(code, failure.kind, &failure.message));
        }
        let score = exact.score(&pair);
        if score.value != Some(1.0)
            && let Some(reason) = self.differs(&pair, gold)
        {
            return Ok(JudgedAnswer::new(Code::Wrong, Progress::Runs, reason));
        }
        match &item.question {
            Some(question) => self.by_witnesses(gold, question),
            None => Ok(JudgedAnswer::new(Code::Right, Progress::Runs, "the same rows as the gold")),
        }
    }

    /// How the rows of an answer that is wrong by `ex@1` differ; `None` if they are right but for the order of columns,
    /// and that is free.
    fn differs(&self, pair: &Pair<'_>, gold: &Gold) -> Option<String> {
        let contract = self.options.contract();
        let execution = pair.prediction_execution();
        let rows = gold.rows().zip(execution.rows());
        let compared = rows.map(|(gold, answer)| {
            contract.compare((gold, pair.gold_order(gold)), (answer, &GoldOrder::Unordered))
        });
        match compared {
            Some(Equality::Equal) => None,
            Some(Equality::Different(reason)) => Some(reason),
            Some(Equality::Undecided) => {
                Some("the columns could not be matched within the budget".to_owned())
            }
            None => Some("the rows differ".to_owned()),
        }
    }

    fn failed(&self, code: Code, kind: FailureKind, message: &str) -> JudgedAnswer {
        let progress = match kind {
            FailureKind::NoSuchTable
            | FailureKind::NoSuchColumn
            | FailureKind::AmbiguousColumn
            | FailureKind::NoSuchFunction
            | FailureKind::InvalidQuery
            | FailureKind::Parameters => Progress::Parses,
            FailureKind::Timeout | FailureKind::RuntimeError => Progress::Resolves,
            // A text that is too long has not been read.
            FailureKind::TooLarge if self.sql.len() <= self.options.limits().max_sql_bytes => {
                Progress::Resolves
            }
            _ => Progress::Nothing,
        };
        // A server is not even asked about what begins with another word than a query's.
        let is_no_query = kind == FailureKind::Denied && !self.engine.is_sqlite();
        if (kind == FailureKind::SyntaxError || is_no_query) && !has_query_word(self.sql) {
            return JudgedAnswer::new(Code::NoSql, progress, "the answer holds no SQL");
        }
        JudgedAnswer::new(code, progress, message)
    }

    /// An answer that is right on the database must agree with its gold on every witness, and is tried once on further
    /// databases.
    fn by_witnesses(&self, gold: &Gold, question: &Question) -> Result<JudgedAnswer, RewardError> {
        let question_witnesses = question.witnesses(gold, self.subject)?;
        let world = self.subject.world(question_witnesses.has_repeats);
        let (difference, searched) = world.searching(|search| {
            let difference = search.told(question_witnesses.databases(), &gold.text, self.sql);
            let is_open = matches!(difference, Ok(None)) && !world.proves_equal(&gold.text, self.sql);
            let searched = is_open.then(|| search.refute_within(&gold.text, self.sql, DATABASES));
            // Nor does a new database count on which the gold has several results.
            let counts =
                |database: &Witness| matches!(search.told([database], &gold.text, self.sql), Ok(Some(_)));
            (
                difference,
                searched.filter(|verdict| {
                    verdict.refutation().is_none_or(|refutation| counts(refutation.database()))
                }),
            )
        })?;
        let other = |reason: &str, witness: &str| {
            let reason = format!("right on the database, but not on another: {reason}");
            let answer = JudgedAnswer::new(Code::WrongOnWitness, Progress::Runs, reason);
            JudgedAnswer { witness: Some(witness.to_owned()), ..answer }
        };
        let answer = match (difference, searched) {
            (Ok(Some(difference)), _) => {
                let script = question_witnesses
                    .list
                    .get(difference.place)
                    .map_or("", |witness| witness.script.as_str());
                other(&difference.reason, script)
            }
            (_, Some(SearchVerdict::Refuted(refutation))) if world.takes(&refutation) => {
                let new = refutation.database().clone();
                JudgedAnswer {
                    new: Some(new),
                    ..other(refutation.difference(), &refutation.database().script())
                }
            }
            (Err(reason), _) => {
                let reason = format!("the same rows as the gold; there are no witnesses ({})", reason.code());
                JudgedAnswer::new(Code::Right, Progress::Runs, reason)
            }
            (Ok(None), _) => {
                let witnesses = counted(question_witnesses.list.len(), "witness");
                let reason = format!("the same rows as the gold, on the database and on {witnesses}");
                JudgedAnswer::new(Code::Right, Progress::Runs, reason)
            }
        };
        Ok(JudgedAnswer { witnesses: Some(question_witnesses), ..answer })
    }
}

pub(crate) fn metric(id: &str) -> Result<&'static dyn Metric, RewardError> {
    find(id).map_err(|error| RewardError::Option(error.to_string()))
}

/// Whether some word of the text begins a query.
fn has_query_word(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| ["select", "values"].iter().any(|keyword| word.eq_ignore_ascii_case(keyword)))
}

/// The rows of an answer on the databases that are known of a question, each beside those of the gold.
pub(crate) fn on_witnesses(
    case: &Case<'_>,
    gold: &Gold,
    witnesses: &QuestionWitnesses,
) -> Result<Vec<Option<[ResultSet; 2]>>, RewardError> {
    let count = witnesses.list.len();
    let results = case
        .subject
        .world(witnesses.has_repeats)
        .searching(|search| search.results_on(witnesses.databases(), &gold.text, case.sql))?;
    // An answer that cannot be judged there has nothing in common with the gold.
    Ok(results.unwrap_or_else(|_| vec![None; count]))
}
