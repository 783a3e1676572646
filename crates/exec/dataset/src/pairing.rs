//! Which example each row of a file answers, and what says so.
//!
//! # Contract
//! - A column that the user named is the id. Otherwise a column is the id if each of its values is the id of another example: under
//!   any name if all examples are in it, under a usual name ([`ColumnRole::aliases`]) also if some are missing. A column that only
//!   counts the rows yields to one that is called as an id is; two columns that pair differently are an error, and so is a column that
//!   is not called so and has the numbers from 0 on in another order.
//! - Where an example may have several rows, ids that have several are the ids.
//! - Without ids, or with ids that only count the rows, the text of the question pairs, if each row has the question of an example, alone
//!   or in a prompt. Rows with the same question are its answers, where an example may have several.
//! - Only then the position pairs, and a note says so. There must be as many rows as examples. Ids that are no numbers say nothing
//!   where the examples have none.
//! - However rows are paired: a row with the question of another example than its own is an error, and so are rows with the golds
//!   of others, unless golds in that column mostly are none of the benchmark.
//!
//! An example that the benchmark has twice (`137`, `137#2`) takes the answers to its id in their order, or both the one there is.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sqlgauge_base::{closest, counted};

use crate::columns::{ColumnRole, scalar_text};
use crate::error::DatasetError;
use crate::formats::Place;
use crate::input::Input;
use crate::matching::{Answer, answered_twice};
use crate::model::{Benchmark, Example};
use crate::text::listed;

/// By what the answers of a file are paired with examples.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum PairedBy {
    /// The column of that name.
    Column(String),
    /// The keys of a JSON object, or the names of files.
    Key,
    /// The text of the question.
    Question,
    /// The order of the rows or lines.
    #[default]
    Position,
}

const COLUMN: &str = "column ";
/// As data frames write their index.
const NAMELESS: &str = "the column without a name";

impl fmt::Display for PairedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(name) if name.is_empty() => f.write_str(NAMELESS),
            Self::Column(name) => write!(f, "{COLUMN}{name}"),
            Self::Key => f.write_str("key"),
            Self::Question => f.write_str("question"),
            Self::Position => f.write_str("position"),
        }
    }
}

impl From<PairedBy> for String {
    fn from(by: PairedBy) -> Self {
        by.to_string()
    }
}

impl From<String> for PairedBy {
    fn from(text: String) -> Self {
        match text.strip_prefix(COLUMN) {
            Some(name) => Self::Column(name.to_owned()),
            None if text == "key" => Self::Key,
            None if text == "question" => Self::Question,
            None if text == NAMELESS => Self::Column(String::new()),
            None => Self::Position,
        }
    }
}

/// The place of an example by its id. A table of hashes takes several times as much of a million examples.
pub(crate) struct ExampleIds<'a> {
    examples: &'a [Example],
    by_id: Vec<usize>,
}

impl<'a> ExampleIds<'a> {
    pub(crate) fn new(examples: &'a [Example]) -> Self {
        let mut by_id: Vec<usize> = (0..examples.len()).collect();
        by_id.sort_unstable_by_key(|&at| examples[at].id.as_str());
        Self { examples, by_id }
    }

    fn find(&self, id: &str) -> Option<usize> {
        let place = self.by_id.binary_search_by(|&at| self.examples[at].id.as_str().cmp(id));
        place.ok().map(|at| self.by_id[at])
    }

    /// The next example that repeats that one.
    fn repetition(&self, at: usize) -> Option<usize> {
        let example = &self.examples[at];
        let (first, number) = repeated_id(&example.id).unwrap_or((&example.id, 1));
        let next = self.find(&repetition_id(first, number + 1))?;
        self.examples[next].repeats(example).then_some(next)
    }

    /// The first example that is repeated by that one.
    pub(crate) fn repeated(&self, at: usize) -> Option<usize> {
        let example = &self.examples[at];
        let first = self.find(repeated_id(&example.id)?.0)?;
        self.examples[first].repeats(example).then_some(first)
    }
}

/// The id of an example whose id, question, golds and database an earlier one has.
pub(crate) fn repetition_id(id: &str, number: usize) -> String {
    format!("{id}#{number}")
}

fn repeated_id(id: &str) -> Option<(&str, usize)> {
    let (first, number) = id.rsplit_once('#')?;
    Some((first, number.parse().ok()?))
}

/// Columns of a file whose values are ids of examples so far, none twice.
pub(crate) struct IdColumns<'a> {
    examples: &'a [Example],
    /// Made when there is a row: a file of lines needs none.
    ids: OnceCell<ExampleIds<'a>>,
    /// Those of the first row that are left; `None` before it.
    columns: Option<Vec<IdColumn>>,
    rows: usize,
}

struct IdColumn {
    /// `None` for the keys of the rows.
    name: Option<String>,
    /// The example of each row.
    places: Vec<usize>,
    /// Whether an example has a row.
    has_row: Vec<bool>,
    /// The values are the numbers of the rows in their order, from here on.
    counts_from: Option<usize>,
}

/// Columns of one row that are looked at.
const MAX_COLUMNS: usize = 64;

/// The rank of a column that is not called as ids are.
const NO_ID: usize = usize::MAX;

impl<'a> IdColumns<'a> {
    pub(crate) fn new(examples: &'a [Example]) -> Self {
        Self { examples, ids: OnceCell::new(), columns: None, rows: 0 }
    }

    fn ids(&self) -> &ExampleIds<'a> {
        self.ids.get_or_init(|| ExampleIds::new(self.examples))
    }

    /// Looks at the next row; a row that is only SQL has no fields.
    pub(crate) fn look(&mut self, place: &Place, fields: Option<&Map<String, Value>>) {
        let key = match place {
            Place::Key(key) => Some(key.as_str()),
            _ => None,
        };
        let row = self.rows;
        self.rows += 1;
        let ids = self.ids.get_or_init(|| ExampleIds::new(self.examples));
        self.columns.get_or_insert_with(|| candidates(key, fields, ids.examples.len())).retain_mut(
            |column| {
                let value = match &column.name {
                    None => key.map(str::to_owned),
                    Some(name) => fields.and_then(|fields| scalar_text(fields.get(name)?)),
                };
                value.is_some_and(|value| column.take(&value, row, ids))
            },
        );
    }

    /// The columns that pair all rows, the best first.
    fn whole(&self) -> Vec<&IdColumn> {
        let pairs_all = |column: &&IdColumn| {
            let may_miss_some = column.rank() < NO_ID;
            column.places.len() == self.rows && (may_miss_some || self.rows == self.examples.len())
        };
        let mut whole: Vec<&IdColumn> = self.columns.iter().flatten().filter(pairs_all).collect();
        whole.sort_by_key(|column| (column.only_counts(), column.rank()));
        whole
    }
}

/// The columns of the first row that may be ids.
fn candidates(key: Option<&str>, fields: Option<&Map<String, Value>>, examples: usize) -> Vec<IdColumn> {
    let others = [ColumnRole::Database, ColumnRole::Question, ColumnRole::Gold, ColumnRole::Prediction];
    let is_other = |name: &str| others.iter().any(|role| role.is_called(name));
    let names = fields.into_iter().flat_map(Map::keys).filter(|name| !is_other(name)).take(MAX_COLUMNS);
    let names = key.map(|_| None).into_iter().chain(names.map(|name| Some(name.clone())));
    let column =
        |name| IdColumn { name, places: Vec::new(), has_row: vec![false; examples], counts_from: None };
    names.map(column).collect()
}

impl IdColumn {
    /// Takes the value of the next row; whether the column may still be the id.
    fn take(&mut self, value: &str, row: usize, ids: &ExampleIds<'_>) -> bool {
        let Some(mut at) = ids.find(value) else { return false };
        while self.has_row[at] {
            match ids.repetition(at) {
                Some(next) => at = next,
                None => return false,
            }
        }
        self.has_row[at] = true;
        self.places.push(at);
        let start = value.parse::<usize>().ok().and_then(|number| number.checked_sub(row));
        self.counts_from =
            if row == 0 { start } else { self.counts_from.filter(|_| start == self.counts_from) };
        true
    }

    /// How well it is called for an id: keys first, then the usual names, then others with `id` at their end.
    fn rank(&self) -> usize {
        let Some(name) = &self.name else { return 0 };
        let aliases = ColumnRole::Id.aliases();
        let usual = aliases.clone().position(|alias| alias.eq_ignore_ascii_case(name));
        let is_like_id = name.to_ascii_lowercase().ends_with("id");
        usual.map_or(if is_like_id { aliases.count() + 1 } else { NO_ID }, |at| at + 1)
    }

    fn by(&self) -> PairedBy {
        self.name.clone().map_or(PairedBy::Key, PairedBy::Column)
    }

    /// Whether it says nothing that the order of the rows does not.
    fn only_counts(&self) -> bool {
        self.counts_from.is_some_and(|start| start <= 1)
    }
}

/// What a text is known by, whatever its white space and case.
pub(crate) fn text_mark(text: &str) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    let words = text.trim_end_matches([';', ' ', '\n']).split_whitespace();
    let count = words.inspect(|word| hash_word(word, &mut hasher)).count();
    (count > 0).then(|| hasher.finish())
}

fn hash_word(word: &str, hasher: &mut DefaultHasher) {
    word.chars().flat_map(char::to_lowercase).for_each(|c| c.hash(hasher));
    ' '.hash(hasher);
}

/// The examples with each text, in their order.
type Marks = HashMap<u64, Vec<usize>>;

fn marks<'a>(texts: impl Iterator<Item = (usize, &'a str)>) -> Marks {
    let mut marks = Marks::new();
    for (at, text) in texts {
        if let Some(mark) = text_mark(text) {
            marks.entry(mark).or_default().push(at);
        }
    }
    marks
}

/// Pairs the answers of one file.
pub(crate) struct Pairing<'a, 'e> {
    pub(crate) input: &'a Input,
    pub(crate) answers: &'a [Answer],
    pub(crate) benchmark: &'a Benchmark,
    pub(crate) id_columns: &'a IdColumns<'e>,
    /// The id that the answers have for themselves: the user's column, or what is called as an id is.
    pub(crate) key: PairedBy,
    /// The user named the column.
    pub(crate) is_named: bool,
    /// The user named a column with questions.
    pub(crate) is_question_named: bool,
    /// An example may have several rows.
    pub(crate) may_repeat: bool,
}

type Places = (Vec<usize>, PairedBy);

impl Pairing<'_, '_> {
    /// For each answer the place of its example.
    pub(crate) fn places(&self, notes: &mut Vec<String>) -> Result<Places, DatasetError> {
        let (places, by) = self.paired(notes)?;
        if by != PairedBy::Question {
            let others = TextsOfOthers::find(
                self,
                &places,
                |example| example.question.as_slice(),
                |answer| answer.question,
            );
            others.rows.first().map_or(Ok(()), |_| Err(self.refusal(&others, &by, "question")))?;
        }
        let others = TextsOfOthers::find(self, &places, |example| &example.golds, |answer| answer.gold);
        // A column that is called as golds are may hold a system's drafts, of which a few are golds of others.
        if others.rows.len() > others.unknown {
            return Err(self.refusal(&others, &by, "gold"));
        }
        Ok((places, by))
    }

    fn paired(&self, notes: &mut Vec<String>) -> Result<Places, DatasetError> {
        if let Some(places) = self.may_repeat.then(|| self.repeated_keys()).flatten() {
            return Ok((places, self.key.clone()));
        }
        if !self.is_named
            && let Some(column) = self.id_column()?
        {
            return Ok((column.places.clone(), column.by()));
        }
        let Some(keys) = self.keys()? else { return self.without_ids(notes) };
        if let Some(places) = self.by_keys(&keys) {
            return Ok((places, self.key.clone()));
        }
        if let Some(places) = as_positions(&keys, self.benchmark.examples.len()) {
            if is_order(&places)
                && let Some(places) = self.by_questions()
            {
                return Ok((places, PairedBy::Question));
            }
            let note = "its ids are the positions 0, 1, 2, …, not the benchmark's ids; paired by position";
            notes.push(note.to_owned());
            return Ok((places, PairedBy::Position));
        }
        if !self.is_named
            && let Some(places) = self.by_questions()
        {
            notes.push("its ids are not the benchmark's; paired by the text of the question".to_owned());
            return Ok((places, PairedBy::Question));
        }
        if self.is_named {
            return Err(self.unknown_ids(&keys));
        }
        let are_names = keys.iter().all(|key| key.parse::<u64>().is_err());
        if !self.benchmark.has_ids && are_names && keys.len() == self.benchmark.examples.len() {
            notes.push("the golds have no ids to find its ids among; paired by position".to_owned());
            return Ok(((0..keys.len()).collect(), PairedBy::Position));
        }
        Err(self.unknown_ids(&keys))
    }

    /// The column that is the id, if one is.
    fn id_column(&self) -> Result<Option<&IdColumn>, DatasetError> {
        let whole = self.id_columns.whole();
        let Some((best, others)) = whole.split_first() else { return Ok(None) };
        let is_called_id = best.rank() < NO_ID;
        let is_number = self.benchmark.examples.iter().all(|example| example.id == example.index.to_string());
        let is_beaten =
            |other: &IdColumn| is_called_id && (other.only_counts() || (is_number && other.rank() == NO_ID));
        let other = others.iter().find(|other| other.places != best.places && !is_beaten(other));
        let other = match other {
            Some(other) => other.by(),
            // The numbers from 0 on in another order may be a rank.
            None if !is_called_id && is_number && !is_order(&best.places) => PairedBy::Position,
            None => return Ok(Some(best)),
        };
        Err(self.input.not_readable(
            format!("can be paired by {} and, differently, by {other}", best.by()),
            "name the column that has the ids with --column pred.id=NAME",
        ))
    }

    /// The keys of all answers, `None` if none has one.
    fn keys(&self) -> Result<Option<Vec<&str>>, DatasetError> {
        if self.answers.iter().all(|answer| answer.key.is_none()) {
            return Ok(None);
        }
        let mut keys = Vec::with_capacity(self.answers.len());
        for answer in self.answers {
            keys.push(answer.key.as_deref().ok_or_else(|| {
                let remedy = "give every item its id";
                self.input.malformed(&answer.place, "no id, though other items have one", remedy)
            })?);
        }
        Ok(Some(keys))
    }

    fn by_keys(&self, keys: &[&str]) -> Option<Vec<usize>> {
        let ids = self.id_columns.ids();
        let mut has_answer = vec![false; self.benchmark.examples.len()];
        let place = |key: &&str| {
            let mut at = ids.find(key)?;
            while has_answer[at]
                && let Some(next) = ids.repetition(at)
            {
                at = next;
            }
            has_answer[at] = true;
            Some(at)
        };
        keys.iter().map(place).collect()
    }

    /// By ids of which one has several rows: another column of ids of examples only counts the rows then.
    fn repeated_keys(&self) -> Option<Vec<usize>> {
        let keys = self.answers.iter().map(|answer| answer.key.as_deref()).collect::<Option<Vec<_>>>()?;
        let examples = self.benchmark.examples.len();
        self.by_keys(&keys).filter(|places| answered_twice(places, examples).is_some())
    }

    fn without_ids(&self, notes: &mut Vec<String>) -> Result<Places, DatasetError> {
        let wanted = self.benchmark.examples.len();
        if let Some(places) = self.by_questions() {
            if !is_order(&places) {
                notes.push("it has no ids; paired by the text of the question".to_owned());
            }
            return Ok((places, PairedBy::Question));
        }
        if self.is_question_named {
            let problem =
                "names the questions in a column, and they are not each the question of one example";
            return Err(self.input.not_readable(problem, "name a column with ids: --column pred.id=NAME"));
        }
        if self.answers.len() != wanted {
            return Err(DatasetError::CountMismatch {
                path: self.input.path().to_owned(),
                count: counted(self.answers.len(), "item") + " without ids",
                other: "the benchmark".to_owned(),
                expected: counted(wanted, "example"),
                remedy: "give one item per example, or an id with each".to_owned(),
            });
        }
        if self.answers.iter().any(|answer| !answer.is_line) {
            notes.push("it has no ids; paired by position".to_owned());
        }
        Ok(((0..wanted).collect(), PairedBy::Position))
    }

    /// By the question alone, if each row has the question of an example, and as many rows have it as examples do, those in their
    /// order, or several rows may be of one example. Where all rows name their database, it is a part of the question.
    fn by_questions(&self) -> Option<Vec<usize>> {
        let has_databases = self.answers.iter().all(|answer| answer.db_id.is_some());
        let with_database = |mark: u64, db_id: &str| {
            let mut hasher = DefaultHasher::new();
            (mark, has_databases.then_some(db_id)).hash(&mut hasher);
            hasher.finish()
        };
        let mut rows: HashMap<u64, Vec<usize>> = HashMap::new();
        for (row, answer) in self.answers.iter().enumerate() {
            let mark = with_database(answer.question?, answer.db_id.as_deref().unwrap_or_default());
            rows.entry(mark).or_default().push(row);
        }
        let mut examples = Marks::new();
        for (at, example) in self.benchmark.examples.iter().enumerate() {
            if let Some(mark) = example.question.as_deref().and_then(text_mark) {
                examples.entry(with_database(mark, &example.db_id)).or_default().push(at);
            }
        }
        let mut places = vec![0; self.answers.len()];
        for (mark, rows) in rows {
            let examples = examples.get(&mark)?;
            let may_pair = examples.len() == rows.len() || (self.may_repeat && examples.len() == 1);
            for (row, at) in rows.into_iter().zip(may_pair.then_some(examples)?.iter().cycle()) {
                places[row] = *at;
            }
        }
        Some(places)
    }

    fn refusal(&self, others: &TextsOfOthers, by: &PairedBy, what: &'static str) -> DatasetError {
        let id = |at: usize| &self.benchmark.examples[at].id;
        let row = |(row, at, other): &(usize, usize, usize)| {
            format!(
                "{} stands for {:?} and has the {what} of {:?}",
                self.answers[*row].place,
                id(*at),
                id(*other)
            )
        };
        DatasetError::TextsOfOthers {
            path: self.input.path().to_owned(),
            rows: format!(
                "{} with the {what} of another example than theirs, paired by {by}",
                counted(others.rows.len(), "row")
            ),
            what,
            examples: others.rows.iter().take(2).map(row).collect::<Vec<_>>().join("; "),
        }
    }

    fn unknown_ids(&self, keys: &[&str]) -> DatasetError {
        let is_known = |key: &&str| self.id_columns.ids().find(key).is_some();
        let unknown: Vec<&str> = keys.iter().copied().filter(|key| !is_known(key)).collect();
        let ids = || self.benchmark.examples.iter().map(|e| e.id.as_str());
        let mut list = listed(unknown.iter().map(|key| format!("{key:?}")));
        if let [key] = unknown.as_slice()
            && let Some(near) = closest(key, ids()).first()
        {
            list = format!("{list} (the closest that it has is {near:?})");
        }
        DatasetError::UnknownIds {
            path: self.input.path().to_owned(),
            count: unknown.len(),
            listed: list,
            sample: ids().take(3).map(|id| format!("{id:?}")).collect::<Vec<_>>().join(", "),
        }
    }
}

/// Rows with a text that is another example's and not their own's.
#[derive(Default)]
struct TextsOfOthers {
    /// Row, its example, and the example whose text it has.
    rows: Vec<(usize, usize, usize)>,
    /// Rows with a text of no example.
    unknown: usize,
}

impl TextsOfOthers {
    fn find(
        pairing: &Pairing<'_, '_>,
        places: &[usize],
        texts: impl Fn(&Example) -> &[String],
        mark: impl Fn(&Answer) -> Option<u64>,
    ) -> Self {
        let examples = &pairing.benchmark.examples;
        let has =
            |at: usize, mark: u64| texts(&examples[at]).iter().any(|text| text_mark(text) == Some(mark));
        let rows = pairing.answers.iter().enumerate().filter_map(|(row, answer)| Some((row, mark(answer)?)));
        let unlike: Vec<(usize, u64)> = rows.filter(|(row, mark)| !has(places[*row], *mark)).collect();
        let mut others = Self::default();
        if unlike.is_empty() {
            return others;
        }
        let all = examples.iter().enumerate();
        let of_examples =
            marks(all.flat_map(|(at, example)| texts(example).iter().map(move |text| (at, text.as_str()))));
        for (row, mark) in unlike {
            match of_examples.get(&mark).and_then(|examples| examples.first()) {
                None => others.unknown += 1,
                Some(other) => others.rows.push((row, places[row], *other)),
            }
        }
        others
    }
}

fn is_order(places: &[usize]) -> bool {
    places.iter().enumerate().all(|(row, place)| row == *place)
}

/// The keys as positions if they are exactly 0 to count-1, in any order.
fn as_positions(keys: &[&str], count: usize) -> Option<Vec<usize>> {
    let mut seen = vec![false; count];
    let position = |key: &&str| {
        let position: usize = key.parse().ok()?;
        let fresh = !std::mem::replace(seen.get_mut(position)?, true);
        (fresh && position.to_string() == *key).then_some(position)
    };
    (keys.len() == count).then(|| keys.iter().map(position).collect())?
}
