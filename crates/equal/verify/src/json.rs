//! The verdict as the JSON object that `verify --json` prints and that a run's items carry.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sqlgauge_causes::DifferenceRecord;
use sqlgauge_engine::{ResultSet, Value as Sql};

use crate::spelling::Spelled;
use crate::verdict::{Counterexample, SolverRecord, Verdict, VerifyReport};
use sqlgauge_search::{DifferenceKind, Resemblance, Witness, WitnessTable, literal};

/// A verdict on a pair as it is stored: the same for the same pair, schema and options.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct VerdictRecord {
    /// `equivalent`, `equivalent_up_to`, `different` or `unknown`.
    pub verdict: String,
    /// The stage that decided: `rules`, `data`, `search`, `solver`.
    pub stage: String,
    /// The rules of a proof, in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<String>>,
    /// Rows per table up to which a bounded proof holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<usize>,
    /// Rows per table that were asked for, where the proof for more than `bound` is too large for the solver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted_bound: Option<usize>,
    /// Whether the bounded proof goes one way: the prediction permits no result that the gold does not, and the gold others besides.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub permits_less: bool,
    /// What a proof rests on besides the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumes: Option<Vec<String>>,
    /// What the prediction permits on the counterexample beside the gold: `permits-none` of the gold's results, or, where the gold
    /// permits one alone, `permits-more` than that one, or `permits-another`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// How the results differ on the counterexample, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
    /// Which clause makes the difference, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// Whether the results differ on the given database too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differs_on_database: Option<bool>,
    /// What makes the right query another than the left, in words, and the causes. Absent in the log of a run, whose readers make
    /// them anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<DifferenceRecord>,
    /// The counterexample as an SQL script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<String>,
    /// How small it is: `locally` minimal, if the difference is lost without any of its rows, and with a plainer value (0, 1, `'a'`) in
    /// any place; `fewest`, if also no database with fewer rows tells the queries apart; or `unfinished:trials`, `unfinished:steps`, `unfinished:time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimal: Option<String>,
    /// Its tables, with the columns that the queries read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<Vec<NamedTable>>,
    /// What the left query, the gold, returns on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_result: Option<ResultTable>,
    /// What the right query, the prediction, returns on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right_result: Option<ResultTable>,
    /// Another result that SQLite returned for the prediction on the same rows in another layout, for `permits-more`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_right_result: Option<ResultTable>,
    /// Which values were allowed: `declared` by their columns, or `any`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<String>,
    /// The columns that may hold any value nevertheless, as the given rows do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_columns: Option<Vec<String>>,
    /// The columns that hold undeclared values in the only difference that was found; absent where declared values show one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undeclared: Option<Vec<String>>,
    /// The database on which they do, as an SQL script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undeclared_witness: Option<String>,
    /// What the counterexample needs that plainer databases have not: duplicates, NULLs, ….
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<Vec<String>>,
    /// Whether it keeps what the rows of the given database keep; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realistic: Option<bool>,
    /// What of that it keeps, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<Vec<String>>,
    /// What of that it does not keep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_kept: Option<Vec<String>>,
    /// The tables of which it is not known what their rows keep, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_unknown: Option<Vec<String>>,
    /// Whether a query asks for the time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub depends_on_clock: bool,
    /// A proof that the counterexample contradicts: a defect of sqlgauge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defect: Option<DefectRecord>,
    /// The queries are equivalent, and yet their results differ on the given database: the gold permits several results (a
    /// tie), and both are among them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tie: bool,
    /// Why it is not decided, as a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The same in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Where SQL leaves a choice open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<Vec<String>>,
    /// What of the queries no database exercised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unexercised: Option<Vec<String>>,
    /// What the solver did, where it decides alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solver: Option<SolverRecord>,
    /// The queries that were analysed in place of those given, where their spelling is another dialect's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spelled: Option<SpellingRecord>,
}

/// A result: `columns` and `rows`. What JSON has no words for stands as SQL would write it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResultTable {
    /// Column names.
    pub columns: Vec<String>,
    /// Rows, each an array of values.
    pub rows: Vec<Vec<Value>>,
    /// Number of rows of the whole result, of which `rows` may be the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_rows: Option<usize>,
    /// Whether the query was stopped, so that the result has at least that many rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beginning: bool,
}

/// A table of a counterexample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedTable {
    /// Its name.
    pub name: String,
    /// Its rows, with the columns that the queries read.
    #[serde(flatten)]
    pub rows: ResultTable,
}

/// A contradicted proof.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DefectRecord {
    /// The rules of the proof.
    pub rules: Vec<String>,
    /// The command that shows the contradiction.
    pub reproduce: String,
}

/// The spellings of two queries that were read in SQLite's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SpellingRecord {
    /// Of the left query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Respelled>,
    /// Of the right query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<Respelled>,
}

/// A query in SQLite's spelling.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Respelled {
    /// The text that was analysed.
    pub sql: String,
    /// What was respelled.
    pub by: Vec<String>,
}

impl From<&Spelled> for Respelled {
    fn from(spelled: &Spelled) -> Self {
        Self { sql: spelled.sql.clone(), by: spelled.by.iter().map(|&name| name.to_owned()).collect() }
    }
}

impl VerifyReport {
    /// The verdict as it is stored, without times.
    pub fn record(&self) -> VerdictRecord {
        let mut record = VerdictRecord {
            verdict: self.verdict.name().to_owned(),
            stage: self.stage.name().to_owned(),
            tie: self.is_tie,
            values: Some(self.values.name().to_owned()),
            free_columns: texts(&self.free_columns),
            undeclared: self.undeclared.as_ref().and_then(|beyond| texts(&beyond.columns)),
            solver: self.solver.clone(),
            undeclared_witness: self.undeclared.as_ref().map(|beyond| beyond.refutation.database().script()),
            ..VerdictRecord::default()
        };
        match &self.verdict {
            Verdict::Equivalent(proof) => {
                record.rules = Some(proof.rules().to_vec());
                record.assumes = Some(proof.assumes().to_vec());
            }
            Verdict::EquivalentUpTo(proof) => {
                record.bound = Some(proof.bound());
                record.wanted_bound = proof.wanted_bound();
                record.permits_less = proof.permits_less();
                record.assumes =
                    Some(proof.assumes().iter().map(|assumption| assumption.code().into_owned()).collect());
            }
            Verdict::Different(counterexample) => {
                record.differs_on_database = self.differs_on_database;
                record.refuted_by(counterexample);
            }
            Verdict::Unknown(unknown) => {
                record.reason = Some(unknown.reason.as_str().to_owned());
                record.message = Some(unknown.message.clone());
                record.places = texts(&unknown.places);
                record.unexercised = texts(&unknown.unexercised);
            }
        }
        let [left, right] = self.spelled.each_ref().map(|spelled| spelled.as_ref().map(Respelled::from));
        if left.is_some() || right.is_some() {
            record.spelled = Some(SpellingRecord { left, right });
        }
        record
    }

    /// The record as a JSON object.
    pub fn to_json(&self) -> Map<String, Value> {
        match serde_json::to_value(self.record()) {
            Ok(Value::Object(object)) => object,
            // A record is an object of texts, numbers and lists.
            _ => Map::new(),
        }
    }

    /// The milliseconds of each stage.
    pub fn times_to_json(&self) -> Value {
        let times = self.times.iter().map(|(stage, time)| {
            let rounded = (time.as_secs_f64() * 1e6).round() / 1e3;
            (stage.name().to_owned(), rounded.into())
        });
        Value::Object(times.collect())
    }
}

impl VerdictRecord {
    /// The tables of the counterexample for a reader: those that are recorded, else those of its script.
    pub fn shown_tables(&self) -> Vec<NamedTable> {
        if let Some(tables) = &self.tables {
            return tables.clone();
        }
        let database = self.witness.as_deref().and_then(|script| Witness::of_script(script).ok());
        let tables = database.iter().flat_map(|database| &database.tables).map(WitnessTable::with_values);
        tables.map(|(name, rows)| NamedTable { name, rows: ResultTable::of(&rows) }).collect()
    }

    fn refuted_by(&mut self, counterexample: &Counterexample) {
        let refutation = &counterexample.refutation;
        self.difference = Some(refutation.difference().to_owned());
        self.explanation.clone_from(&counterexample.explanation);
        self.words.clone_from(&counterexample.words);
        self.witness = Some(refutation.database().script());
        self.minimal = counterexample.minimality.map(|minimality| minimality.name().to_owned());
        self.tables = Some(counterexample.tables.iter().map(NamedTable::of).collect());
        self.left_result = Some(ResultTable::of(refutation.left()));
        self.right_result = Some(ResultTable::of(refutation.right()));
        self.kind = Some(refutation.kind().name().to_owned());
        if let DifferenceKind::PermitsMore(other) = refutation.kind() {
            self.other_right_result = Some(ResultTable::of(other));
        }
        if !refutation.needs().is_empty() {
            self.needs = Some(refutation.needs().iter().map(|need| need.name().to_owned()).collect());
        }
        if let Some(resemblance) = &counterexample.resemblance {
            let Resemblance { kept: same, not_kept, unknown } = resemblance;
            let non_empty = |all: &Vec<String>| (!all.is_empty()).then(|| all.clone());
            self.realistic = resemblance.is_complete();
            (self.kept, self.not_kept, self.kept_unknown) =
                (non_empty(same), non_empty(not_kept), non_empty(unknown));
        }
        self.depends_on_clock = refutation.depends_on_clock();
        self.defect = counterexample.defect.as_ref().map(|defect| DefectRecord {
            rules: defect.proof.rules().to_vec(),
            reproduce: defect.reproduce.clone(),
        });
    }
}

impl NamedTable {
    pub(crate) fn of((name, rows): &(String, ResultSet)) -> Self {
        Self { name: name.clone(), rows: ResultTable::of(rows) }
    }
}

impl ResultTable {
    pub fn of(rows: &ResultSet) -> Self {
        Self {
            columns: rows.columns.clone(),
            rows: rows.rows().map(|row| row.iter().map(cell).collect()).collect(),
            total_rows: None,
            beginning: false,
        }
    }
}

fn texts<T: ToString>(all: &[T]) -> Option<Vec<String>> {
    (!all.is_empty()).then(|| all.iter().map(ToString::to_string).collect())
}

fn cell(value: &Sql) -> Value {
    match value {
        Sql::Null => Value::Null,
        Sql::Integer(integer) => (*integer).into(),
        Sql::Real(real) if real.is_finite() => (*real).into(),
        Sql::Text(_) => value.as_str().map_or_else(|| literal(value).into(), Value::from),
        Sql::Decimal(decimal) => decimal.as_str().into(),
        Sql::Real(_) | Sql::Blob(_) => literal(value).into(),
    }
}
