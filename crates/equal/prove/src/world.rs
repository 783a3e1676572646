//! What the executions of both queries share: terms, functions, symbolic tables, and what they rest on.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::time::Instant;

use sqlgauge_search::DeclaredColumns;
use sqlgauge_sql::schema::{Schema, TableId};

use super::ProofAssumption;
use super::defect::EncoderDefect;
use super::ir::{Term, Terms};
use super::oracle::Oracle;
use super::value::SymbolicValue;

/// Why an execution ends early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It has a construct that is not encoded.
    Unsupported(String),
    /// It would take too many rows or terms.
    Size,
    /// The time is over.
    Timeout,
}

impl Stop {
    /// A construct that is not encoded.
    pub(crate) fn unsupported(construct: impl Into<String>) -> Self {
        Self::Unsupported(construct.into())
    }
}

/// A row that may be there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct SymbolicRow {
    pub present: Term,
    pub values: Rc<[SymbolicValue]>,
}

/// Most terms, operands and conditions of one question: about 120 MiB.
const MAX_WEIGHT: usize = 1_500_000;
/// Most expressions that are evaluated for one question.
const MAX_STEPS: usize = 300_000;
/// Most rows of one relation.
pub(crate) const MAX_ROWS: usize = 1_200;

/// What both executions share.
#[derive(Debug)]
pub(crate) struct SymbolicWorld<'s> {
    pub schema: &'s Schema,
    pub terms: Terms,
    /// The functions.
    pub oracle: Oracle,
    /// The rows of each table that is read.
    pub tables: HashMap<TableId, Rc<Vec<SymbolicRow>>>,
    /// Whether a rowid is read: then each row of a table has it behind its columns, unless a column is the rowid.
    pub reads_rowid: bool,
    /// What holds besides the constraints of the schema.
    pub conditions: Vec<Term>,
    /// That recursions end, each of them a condition too.
    pub endings: Vec<Term>,
    /// What holds of the rowids of rows that have just been inserted.
    pub inserted: Vec<Term>,
    /// What holds where SQL leaves no choice open.
    pub settled: Vec<Term>,
    /// Whether choices that SQL leaves open are made the other way round.
    pub reverses_choices: bool,
    /// The columns that hold what they declare.
    pub columns: &'s DeclaredColumns,
    /// The texts of columns of dates that hold what they declare.
    pub dates: HashSet<Term>,
    /// Texts that satisfy conditions of the question in different ways.
    pub examples: BTreeSet<Box<str>>,
    /// What the result rests on.
    pub assumes: BTreeSet<ProofAssumption>,
    /// How the encoding is wrong; only the law of the encoding plants a defect.
    pub defect: Option<EncoderDefect>,
    /// When the time is over.
    pub deadline: Option<Instant>,
    /// Choices that stand for themselves, so far.
    choices: usize,
    /// The steps of executions so far.
    steps: Cell<usize>,
}

impl<'s> SymbolicWorld<'s> {
    /// A world without tables.
    pub(crate) fn new(schema: &'s Schema) -> Self {
        Self {
            schema,
            terms: Terms::new(),
            oracle: Oracle::new(),
            tables: HashMap::new(),
            reads_rowid: false,
            conditions: Vec::new(),
            endings: Vec::new(),
            inserted: Vec::new(),
            settled: Vec::new(),
            reverses_choices: false,
            columns: &DeclaredColumns::None,
            dates: HashSet::new(),
            examples: BTreeSet::new(),
            assumes: BTreeSet::from([ProofAssumption::ValuesOfDeclaredType]),
            defect: None,
            deadline: None,
            choices: 0,
            steps: Cell::new(0),
        }
    }

    /// The name of a choice that no other place in either query makes.
    pub(crate) fn new_choice(&mut self) -> String {
        self.choices += 1;
        format!("one of equal texts {}", self.choices)
    }

    /// Whether that defect has been planted.
    pub(crate) fn has(&self, defect: EncoderDefect) -> bool {
        self.defect == Some(defect)
    }

    /// Adds what holds where SQL leaves no choice open. What always holds is there once: it says that there was a choice.
    pub(crate) fn settle(&mut self, term: Term) {
        if term != Terms::TRUE || self.settled.is_empty() {
            self.settled.push(term);
        }
    }

    /// Stops where the question becomes too large or the time is over.
    ///
    /// # Errors
    /// [`Stop::Size`], [`Stop::Timeout`].
    pub(crate) fn check_size(&self, rows: usize) -> Result<(), Stop> {
        self.steps.set(self.steps.get() + 1);
        self.check_time()?;
        // Terms that are there already take no room, and what is said of them does.
        let weight = self.terms.weight() + self.settled.len() + self.conditions.len();
        let fits = rows <= MAX_ROWS && weight <= MAX_WEIGHT && self.steps.get() <= MAX_STEPS;
        if fits { Ok(()) } else { Err(Stop::Size) }
    }

    /// Stops where the time is over.
    ///
    /// # Errors
    /// [`Stop::Timeout`].
    pub(crate) fn check_time(&self) -> Result<(), Stop> {
        if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            Err(Stop::Timeout)
        } else {
            Ok(())
        }
    }
}
