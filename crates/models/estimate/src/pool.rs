//! All evidence: questions, systems, answers, labels.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Index;
use std::path::PathBuf;
use std::sync::Arc;

use sqlgauge_dialects::reading;
use sqlgauge_engine::{Database, Fingerprint};
use sqlgauge_sql::schema::Schema;

#[derive(Debug, Clone)]
pub struct PoolDatabase {
    pub db_id: String,
    pub schema: Arc<Schema>,
    /// The file, where predictions may be executed on it.
    pub database: Arc<Database>,
    pub has_rows: bool,
    /// The dialect of its queries; `None` where it is SQLite's.
    pub dialect: Option<&'static str>,
}

impl PoolDatabase {
    /// A text as SQLite's grammar reads it: that of a different dialect in other words, of which nothing but its structure counts.
    pub(crate) fn reading<'t>(&self, sql: &'t str) -> Cow<'t, str> {
        self.dialect.map_or(Cow::Borrowed(sql), |dialect| reading(sql, dialect).into())
    }
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
    pub in_target: bool,
}

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

/// The place of a system in [`Pool::systems`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemIndex(pub usize);

impl PoolQuestion {
    /// Its database, and its text or, for want of one, its id.
    fn key(&self) -> (usize, String) {
        let text = if self.text.trim().is_empty() { &self.id } else { &self.text };
        (self.database, text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase())
    }
}

/// The place of a question in [`Pool::questions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionIndex(pub usize);

#[derive(Debug, Default)]
pub struct Pool {
    /// Databases, known ones and the target's.
    pub databases: Vec<PoolDatabase>,
    /// Questions; one that a known run and the target share is one question.
    pub questions: Vec<PoolQuestion>,
    pub systems: Vec<String>,
    pub answers: Vec<Vec<Option<PoolAnswer>>>,
    /// The systems whose accuracy on the target is asked for.
    pub targets: Vec<SystemIndex>,
    /// The target's questions, in the order of the target's file.
    pub asked: Vec<QuestionIndex>,
    /// The target's questions by their ids in the target's file.
    pub target_ids: HashMap<String, QuestionIndex>,
    /// Labels of target systems' own answers to the target's questions that a known run has: by system and question.
    /// They are taken away.
    pub withheld: HashSet<(SystemIndex, QuestionIndex)>,
    /// The metrics of the known runs that their labels are of.
    pub metrics: BTreeSet<String>,
    /// What was noticed while reading, for people.
    pub notes: Vec<String>,
    by_key: HashMap<(usize, String, usize), QuestionIndex>,
    by_schema: HashMap<(String, String, Option<&'static str>), usize>,
}

impl Pool {
    /// The place of a database; the same name with other tables is another database: two benchmarks
    /// may have a `formula_1` each. Answers in a different dialect are answers to different questions.
    pub fn database(
        &mut self,
        db_id: &str,
        database: &Arc<Database>,
        dialect: Option<&'static str>,
    ) -> usize {
        let schema = Arc::clone(database.schema());
        let key = (db_id.to_owned(), outline(&schema), dialect);
        if let Some(&place) = self.by_schema.get(&key) {
            return place;
        }
        let place = self.databases.len();
        self.databases.push(PoolDatabase {
            db_id: db_id.to_owned(),
            schema,
            database: Arc::clone(database),
            has_rows: false,
            dialect,
        });
        self.by_schema.insert(key, place);
        place
    }

    /// The place of a question: the `occurrence`-th with that text about that database.
    pub fn question(&mut self, question: PoolQuestion, occurrence: usize) -> QuestionIndex {
        let (database, text) = question.key();
        let key = (database, text, occurrence);
        if let Some(&place) = self.by_key.get(&key) {
            let earlier = &mut self.questions[place.0];
            if question.in_target && !earlier.in_target {
                earlier.in_target = true;
                earlier.id = question.id;
                self.asked.push(place);
            }
            return place;
        }
        let place = QuestionIndex(self.questions.len());
        if question.in_target {
            self.asked.push(place);
        }
        self.questions.push(question);
        self.by_key.insert(key, place);
        place
    }

    pub fn system(&mut self, name: &str) -> SystemIndex {
        if let Some(system) = self.system_named(name) {
            return system;
        }
        self.systems.push(name.to_owned());
        self.answers.push(Vec::new());
        SystemIndex(self.systems.len() - 1)
    }

    /// The system of that name, if there is one.
    pub fn system_named(&self, name: &str) -> Option<SystemIndex> {
        self.all_systems().find(|&system| self[system] == name)
    }

    pub fn all_systems(&self) -> impl Iterator<Item = SystemIndex> + use<> {
        (0..self.systems.len()).map(SystemIndex)
    }

    pub fn all_questions(&self) -> impl Iterator<Item = QuestionIndex> + use<> {
        (0..self.questions.len()).map(QuestionIndex)
    }

    /// Notes an answer; the first one of a system to a question stays.
    pub fn answer(&mut self, system: SystemIndex, question: QuestionIndex, answer: PoolAnswer) {
        let row = &mut self.answers[system.0];
        if row.len() <= question.0 {
            row.resize(question.0 + 1, None);
        }
        row[question.0].get_or_insert(answer);
    }

    /// Takes away what is known of a system's answer to a question, and notes that there was a label.
    pub fn forget(&mut self, system: SystemIndex, question: QuestionIndex) {
        if let Some(answer) = self.answers[system.0].get_mut(question.0).and_then(Option::take)
            && answer.correct.is_some()
        {
            self.withheld.insert((system, question));
        }
    }

    pub fn get(&self, system: SystemIndex, question: QuestionIndex) -> Option<&PoolAnswer> {
        self.answers[system.0].get(question.0)?.as_ref()
    }

    /// The label of a system's answer to a question.
    pub fn label(&self, system: SystemIndex, question: QuestionIndex) -> Option<f64> {
        self.get(system, question)?.correct
    }

    /// The files of the databases, with their roles.
    pub fn database_files(&self) -> Vec<(String, PathBuf)> {
        let targets: HashSet<usize> = self.asked.iter().map(|&question| self[question].database).collect();
        let file = |(place, database): (usize, &PoolDatabase)| {
            let role = if targets.contains(&place) { "database" } else { "known-database" };
            (format!("{role}:{}", database.db_id), database.database.path().to_owned())
        };
        self.databases.iter().enumerate().map(file).collect()
    }

    /// The questions to which the system's answer has a label.
    pub fn labelled(&self, system: SystemIndex) -> Vec<QuestionIndex> {
        self.all_questions().filter(|&question| self.label(system, question).is_some()).collect()
    }

    /// Mean label of a system, over all questions where it has one.
    pub fn known_accuracy(&self, system: SystemIndex) -> Option<f64> {
        let labels: Vec<f64> =
            self.all_questions().filter_map(|question| self.label(system, question)).collect();
        (!labels.is_empty()).then(|| labels.iter().sum::<f64>() / labels.len() as f64)
    }
}

impl Index<SystemIndex> for Pool {
    type Output = String;

    fn index(&self, system: SystemIndex) -> &String {
        &self.systems[system.0]
    }
}

impl Index<QuestionIndex> for Pool {
    type Output = PoolQuestion;

    fn index(&self, question: QuestionIndex) -> &PoolQuestion {
        &self.questions[question.0]
    }
}

/// Numbers the questions of one source that have the same text and database.
#[derive(Debug, Default)]
pub(crate) struct Occurrences(HashMap<(usize, String), usize>);

impl Occurrences {
    /// How many with that text about that database came before.
    pub(crate) fn next(&mut self, question: &PoolQuestion) -> usize {
        let count = self.0.entry(question.key()).or_default();
        *count += 1;
        *count - 1
    }
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
