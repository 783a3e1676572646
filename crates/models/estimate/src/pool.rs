//! Everything that is known and asked: questions, systems, answers, labels.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use sqlgauge_engine::{Database, Fingerprint};
use sqlgauge_sql::schema::Schema;

/// A database that questions are about.
#[derive(Debug, Clone)]
pub struct PoolDatabase {
    pub db_id: String,
    pub schema: Arc<Schema>,
    /// The file, where predictions may be executed on it.
    pub database: Arc<Database>,
    /// Whether some table has a row.
    pub has_rows: bool,
}

#[derive(Debug, Clone)]
pub struct PoolQuestion {
    /// Place of its database in [`Pool::databases`].
    pub database: usize,
    /// Its id where it comes from.
    pub id: String,
    pub text: String,
    /// External knowledge.
    pub evidence: Option<String>,
    /// Whether it belongs to the target.
    pub in_target: bool,
}

/// What a system answered.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolAnswer {
    pub sql: String,
    /// Share of right (0 or 1 for one answer), where it is known. Never set for a target system's own answers to
    /// the target's questions.
    pub correct: Option<f64>,
    /// How sure the system was, in [0, 1], where it said so.
    pub confidence: Option<f64>,
    /// How its execution ended, where it was executed.
    pub status: Option<String>,
    /// The result on the real rows, where there are any and the answer ran.
    pub result: Option<Fingerprint>,
}

/// Questions × systems.
#[derive(Debug, Default)]
pub struct Pool {
    /// Databases, known ones and the target's.
    pub databases: Vec<PoolDatabase>,
    /// Questions; one that a known run and the target share is one question.
    pub questions: Vec<PoolQuestion>,
    pub systems: Vec<String>,
    /// By system and question.
    pub answers: Vec<Vec<Option<PoolAnswer>>>,
    /// Places of the systems whose accuracy on the target is asked for.
    pub targets: Vec<usize>,
    /// Places of the target's questions, in the order of the target's file.
    pub asked: Vec<usize>,
    /// Places of the target's questions by their ids in the target's file.
    pub target_ids: HashMap<String, usize>,
    /// Labels of target systems' own answers to the target's questions that a known run has: by system and question.
    /// They are taken away.
    pub withheld: HashSet<(usize, usize)>,
    /// The metrics of the known runs that their labels are of.
    pub metrics: BTreeSet<String>,
    /// What was noticed while reading, for people.
    pub notes: Vec<String>,
    by_key: HashMap<(usize, String, usize), usize>,
    by_schema: HashMap<(String, String), usize>,
}

impl Pool {
    /// The place of a database; the same name with other tables is another database: two benchmarks
    /// may have a `formula_1` each.
    pub fn database(&mut self, db_id: &str, database: &Arc<Database>) -> usize {
        let schema = Arc::clone(database.schema());
        let key = (db_id.to_owned(), outline(&schema));
        if let Some(&place) = self.by_schema.get(&key) {
            return place;
        }
        let place = self.databases.len();
        self.databases.push(PoolDatabase {
            db_id: db_id.to_owned(),
            schema,
            database: Arc::clone(database),
            has_rows: false,
        });
        self.by_schema.insert(key, place);
        place
    }

    /// The place of a question: the `occurrence`-th with that text about that database.
    pub fn question(&mut self, question: PoolQuestion, occurrence: usize) -> usize {
        let text = if question.text.trim().is_empty() { &question.id } else { &question.text };
        let key = (question.database, normal(text), occurrence);
        if let Some(&place) = self.by_key.get(&key) {
            if question.in_target && !self.questions[place].in_target {
                self.questions[place].in_target = true;
                self.questions[place].id = question.id;
                self.asked.push(place);
            }
            return place;
        }
        let place = self.questions.len();
        if question.in_target {
            self.asked.push(place);
        }
        self.questions.push(question);
        self.by_key.insert(key, place);
        place
    }

    /// The place of a system.
    pub fn system(&mut self, name: &str) -> usize {
        if let Some(place) = self.systems.iter().position(|system| system == name) {
            return place;
        }
        self.systems.push(name.to_owned());
        self.answers.push(Vec::new());
        self.systems.len() - 1
    }

    /// Notes an answer; the first one of a system to a question stays.
    pub fn answer(&mut self, system: usize, question: usize, answer: PoolAnswer) {
        let row = &mut self.answers[system];
        if row.len() <= question {
            row.resize(question + 1, None);
        }
        if row[question].is_none() {
            row[question] = Some(answer);
        }
    }

    /// Takes away what is known of a system's answer to a question, and notes that there was a label.
    pub fn forget(&mut self, system: usize, question: usize) {
        if let Some(answer) = self.answers[system].get_mut(question).and_then(Option::take)
            && answer.correct.is_some()
        {
            self.withheld.insert((system, question));
        }
    }

    pub fn get(&self, system: usize, question: usize) -> Option<&PoolAnswer> {
        self.answers[system].get(question)?.as_ref()
    }

    /// The label of a system's answer to a question.
    pub fn label(&self, system: usize, question: usize) -> Option<f64> {
        self.get(system, question)?.correct
    }

    /// The files of the databases, with their roles.
    pub fn database_files(&self) -> Vec<(String, PathBuf)> {
        let targets: HashSet<usize> =
            self.asked.iter().map(|&place| self.questions[place].database).collect();
        let file = |(place, database): (usize, &PoolDatabase)| {
            let role = if targets.contains(&place) { "database" } else { "known-database" };
            (format!("{role}:{}", database.db_id), database.database.path().to_owned())
        };
        self.databases.iter().enumerate().map(file).collect()
    }

    /// Places of the questions to which the system's answer has a label.
    pub fn labelled(&self, system: usize) -> Vec<usize> {
        (0..self.questions.len()).filter(|&question| self.label(system, question).is_some()).collect()
    }

    /// Mean label of a system, over all questions where it has one.
    pub(crate) fn known_accuracy(&self, system: usize) -> Option<f64> {
        let labels: Vec<f64> =
            (0..self.questions.len()).filter_map(|question| self.label(system, question)).collect();
        (!labels.is_empty()).then(|| labels.iter().sum::<f64>() / labels.len() as f64)
    }
}

/// Numbers the questions of one source that have the same text and database.
#[derive(Debug, Default)]
pub(crate) struct Occurrences(HashMap<(usize, String), usize>);

impl Occurrences {
    /// How many with that text about that database came before.
    pub(crate) fn next(&mut self, database: usize, text: &str) -> usize {
        let count = self.0.entry((database, normal(text))).or_default();
        *count += 1;
        *count - 1
    }
}

fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn outline(schema: &Schema) -> String {
    let mut outline = String::new();
    for table in schema.tables() {
        outline.push_str(&table.name.to_lowercase());
        outline.push('(');
        for column in &table.columns {
            outline.push_str(&column.name.to_lowercase());
            outline.push(',');
        }
        outline.push(')');
    }
    outline
}
