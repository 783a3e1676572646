//! From the content of a file to one system's predictions.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::benchmark::kind;
use crate::columns::{ColumnRole, Columns, FileKind, paths_of_texts, present_columns, scalar_text};
use crate::error::DatasetError;
use crate::extract::{Removed, extract_sql};
use crate::formats::{FileFormat, Part, Place, Row};
use crate::input::Input;
use crate::matching::{Answer, match_answers};
use crate::model::{Benchmark, Prediction, PredictionSet};
use crate::pairing::{IdColumns, PairedBy, Pairing, text_mark};
use crate::prompts::QuestionFinder;
use crate::text::{listed, strip};
use crate::text_columns::{Doubts, TextColumns};
use crate::transcript::{TRANSCRIPT, TranscriptAnswer};
use sqlgauge_base::counted;

/// How predictions are read.
#[derive(Debug, Clone, Default)]
pub struct PredictionOptions {
    /// Format of the file; detected when `None`.
    pub format: Option<FileFormat>,
    /// Columns that the user named.
    pub columns: Columns,
    /// Take the SQL out of the chatter around it (see [`extract_sql`]). Off for scores that must equal those of
    /// the official scripts.
    pub extract: bool,
    /// Leave out what else the file says ([`PredictionSet::extra`]).
    pub only_sql: bool,
}

/// What BIRD's scripts put between the SQL and the database.
const BIRD_SEPARATOR: &str = "\t----- bird -----\t";

/// Roles of a benchmark: a column that has one is no extra information of a prediction.
const KNOWN_ROLES: [ColumnRole; 8] = [
    ColumnRole::Id,
    ColumnRole::Database,
    ColumnRole::Question,
    ColumnRole::Gold,
    ColumnRole::Evidence,
    ColumnRole::Difficulty,
    ColumnRole::Prediction,
    ColumnRole::Confidence,
];

/// Matches predictions that are in memory to the examples of a benchmark.
///
/// **Lines.** Each line is stripped and its first tab-separated field is the SQL, as the official scripts read
/// it. If the file has as many lines as there are examples (blank ones included), a blank line is an empty
/// prediction. Otherwise, in a benchmark of conversations, blank lines separate interactions, and the file must
/// have as many turns as the gold in each of them. Blank lines at the end count only if they are needed to reach
/// the number of examples. Everything else is an error that names the counts.
///
/// **Items** (an object from id to SQL, or rows) are paired by id, by question or by position, as the head of `pairing.rs` says.
/// If the keys are exactly the positions 0 to n-1, and the benchmark has other ids, they are positions.
///
/// A null or absent SQL is a missing prediction; another value that is no text (BIRD's scripts write 0 where a
/// system failed) is an empty prediction and noted. In a file without any text, a list or an object is an error that names the
/// texts in it, and so is a file without any prediction. Half a character (a lone surrogate) in JSON is NUL, with which no engine takes a text as SQL. A database that the file names for an item, in a column or
/// after `----- bird -----`, must be the example's.
///
/// # Errors
/// As [`crate::load_predictions`], without the reading.
pub fn parse_predictions(
    system: &str,
    input: Input,
    benchmark: &Benchmark,
    options: &PredictionOptions,
) -> Result<PredictionSet, DatasetError> {
    let mut notes = Vec::new();
    let options =
        &PredictionOptions { columns: options.columns.of(FileKind::Predictions), ..options.clone() };
    let (answers, positions, paired_by) = answers_of(&input, benchmark, options, &mut notes)?;
    // The answers of a million examples are matched without the bytes of their file in memory.
    let input = &input.without_bytes();
    let is_transcript = |answer: &&Answer| answer.other_kind == Some(TRANSCRIPT);
    let transcripts = answers.iter().filter(is_transcript).count();
    if transcripts > 0 {
        let those = if transcripts == 1 { "is a transcript" } else { "are transcripts" };
        let count = counted(transcripts, "answer");
        notes.push(format!("{count} {those}: the final query of each is scored"));
    }
    let is_odd = |answer: &&Answer| answer.other_kind.is_some() && !is_transcript(answer);
    let odd = answers.iter().filter(is_odd).map(|a| a.place.to_string());
    let odd = listed(odd);
    if !odd.is_empty() {
        notes.push(format!("{odd}: SQL that is no text read as an empty prediction"));
    }
    let odd = listed(answers.iter().filter(|a| a.has_odd_confidence).map(|a| a.place.to_string()));
    if !odd.is_empty() {
        notes.push(format!("{odd}: a confidence outside of 0 to 1 is not used"));
    }
    let (matched, extra) = match_answers(input, answers, &positions, benchmark, &mut notes)?;
    let mut set = PredictionSet {
        system: system.to_owned(),
        predictions: matched,
        source: input.path().to_owned(),
        paired_by,
        notes,
        extra,
    };
    if options.extract {
        extract_all(&mut set, benchmark);
    }
    Ok(set)
}

/// The rows of a file of predictions, whatever stands in them, paired as [`parse_predictions`] pairs them.
#[derive(Debug)]
pub struct PairedRows {
    /// By position in the benchmark, each an object with the fields, or the SQL that stands alone; several where rows have one id, or
    /// one question and no ids.
    pub rows: Vec<Vec<Value>>,
    /// By what they were paired.
    pub paired_by: PairedBy,
    /// What reading noted.
    pub notes: Vec<String>,
}

/// Pairs the rows of a file whose answers are lists, say.
///
/// # Errors
/// As [`parse_predictions`], but for what is about the SQL of a row.
pub fn pair_rows(
    input: &Input,
    benchmark: &Benchmark,
    format: Option<FileFormat>,
    columns: &Columns,
) -> Result<PairedRows, DatasetError> {
    let format = format.unwrap_or_else(|| FileFormat::detect(input));
    let columns = columns.of(FileKind::Predictions);
    let paired = pair_rows_by(input, benchmark, format, &columns);
    let is_in_doubt = match &paired {
        Ok(paired) => paired.paired_by == PairedBy::Position,
        Err(error) => is_mismatch(error),
    };
    if is_in_doubt {
        let doubts = Doubts { is_position: true, ..Doubts::default() };
        let texts = TextColumns::of(input, format, benchmark, doubts)?;
        if let Some((columns, notes)) = texts.settle(doubts, input, &columns, "")? {
            let mut paired = pair_rows_by(input, benchmark, format, &columns)?;
            paired.notes.splice(0..0, notes);
            return Ok(paired);
        }
    }
    paired
}

/// Whether there are more or fewer rows than examples, and nothing but their order to pair them by.
fn is_mismatch(error: &DatasetError) -> bool {
    matches!(error, DatasetError::CountMismatch { .. })
}

fn pair_rows_by(
    input: &Input,
    benchmark: &Benchmark,
    format: FileFormat,
    columns: &Columns,
) -> Result<PairedRows, DatasetError> {
    let options = PredictionOptions { columns: columns.clone(), ..PredictionOptions::default() };
    let mut notes = Vec::new();
    let mut reader =
        PredictionLines { values: Some(Vec::new()), ..PredictionLines::new(input, benchmark, &options) };
    reader.may_repeat = true;
    reader.limit = reader.limit.saturating_mul(ROWS_PER_ANSWER);
    format.read(input, &mut notes, &mut |part| match part {
        Part::Row(row) => reader.take_row(row),
        Part::Line(_) => Ok(()),
    })?;
    if format.has_lines() {
        let remedy =
            r#"give a line of JSON per question, as {"id": 7, "predictions": ["SELECT …", "SELECT …"]}"#;
        return Err(input.not_readable("is a file of lines, which has one answer per question", remedy));
    }
    let (places, paired_by) = reader.paired(&mut notes)?;
    let values = reader.values.unwrap_or_default();
    let mut rows = vec![Vec::new(); benchmark.examples.len()];
    for (place, value) in places.into_iter().zip(values) {
        rows[place].push(value);
    }
    Ok(PairedRows { rows, paired_by, notes })
}

/// How many more rows are kept where each may be one of many answers to its question.
const ROWS_PER_ANSWER: usize = 64;

/// Whether several rows of a file without ids are answers to one question. The benchmark is made only where that may be.
pub fn repeats_questions(
    input: &Input,
    format: Option<FileFormat>,
    columns: &Columns,
    benchmark: impl FnOnce() -> Option<Benchmark>,
) -> bool {
    let of_file = columns.of(FileKind::Predictions);
    let mut rows = 0;
    let has_id = has_row(input, |row, is_keyed| {
        rows += 1;
        is_keyed || row.as_object().is_none_or(|fields| of_file.find(ColumnRole::Id, fields).is_some())
    });
    if has_id || rows < 2 {
        return false;
    }
    let Some(benchmark) = benchmark().filter(|benchmark| rows > benchmark.examples.len()) else {
        return false;
    };
    pair_rows(input, &benchmark, format, columns).is_ok_and(|paired| paired.paired_by == PairedBy::Question)
}

/// Whether some row of a file is of that kind; a file that cannot be read has none. A row under a key is said to be so.
pub fn has_row(input: &Input, mut is_one: impl FnMut(&Value, bool) -> bool) -> bool {
    let mut has_one = false;
    let read = FileFormat::detect(input).read(input, &mut Vec::new(), &mut |part| {
        if let Part::Row(Row { place, value }) = part {
            has_one = has_one || is_one(&value, matches!(place, Place::Key(_)));
        }
        Ok(())
    });
    read.is_ok() && has_one
}

/// The answers that a file has, in its order, with the place of the example of each. Where names of columns leave a doubt, their
/// values settle it.
fn answers_of(
    input: &Input,
    benchmark: &Benchmark,
    options: &PredictionOptions,
    notes: &mut Vec<String>,
) -> Result<Paired, DatasetError> {
    let mut findings = Vec::new();
    let first = read_answers(input, benchmark, options, &mut findings);
    let is_named = options.columns.named(ColumnRole::Prediction).is_some();
    let (mut doubts, column) = match &first {
        Ok(((answers, places, by), Some(column))) => {
            (Doubts::about(answers, (places, by), column, benchmark), column.clone())
        }
        Err(error) if is_mismatch(error) => {
            (Doubts { is_position: true, ..Doubts::default() }, String::new())
        }
        _ => (Doubts::default(), String::new()),
    };
    doubts.are_golds &= !is_named;
    doubts.are_no_queries &= !is_named && !options.extract;
    let format = options.format.unwrap_or_else(|| FileFormat::detect(input));
    if doubts.is_any() && !format.has_lines() {
        let texts = TextColumns::of(input, format, benchmark, doubts)?;
        if let Some((columns, mut reasons)) = texts.settle(doubts, input, &options.columns, &column)? {
            let options = PredictionOptions { columns, ..options.clone() };
            let (paired, _) = read_answers(input, benchmark, &options, &mut reasons)?;
            notes.append(&mut reasons);
            return Ok(paired);
        }
    }
    notes.append(&mut findings);
    first.map(|(paired, _)| paired)
}

/// Answers, the example of each, and what paired them.
type Paired = (Vec<Answer>, Vec<usize>, PairedBy);

/// Reads and pairs; says from which column the answers are.
fn read_answers(
    input: &Input,
    benchmark: &Benchmark,
    options: &PredictionOptions,
    notes: &mut Vec<String>,
) -> Result<(Paired, Option<String>), DatasetError> {
    let format = options.format.unwrap_or_else(|| FileFormat::detect(input));
    let mut reader = PredictionLines::new(input, benchmark, options);
    let roles = [
        ColumnRole::Id,
        ColumnRole::Database,
        ColumnRole::Prediction,
        ColumnRole::Confidence,
        ColumnRole::LogProbability,
    ];
    let mut survey = options.columns.survey(&roles);
    // A column that the user named and no item has is the reason for whatever the first item lacks.
    let mut first_error = None;
    format.read(input, notes, &mut |part| {
        match part {
            Part::Row(row) => {
                // What stands under a key needs no column.
                if !matches!(row.place, Place::Key(_)) {
                    survey.look(&row);
                }
                if first_error.is_none() {
                    first_error = reader.take_row(row).err();
                }
                Ok(())
            }
            Part::Line(line) => {
                reader.take_line(line);
                Ok(())
            }
        }
    })?;
    survey.check(input)?;
    if let Some(error) = first_error {
        return Err(error);
    }
    if format.has_lines() {
        let lines = std::mem::take(&mut reader.lines);
        reader.answers = answers_of_lines(input, lines, reader.beyond, benchmark)?;
        for answer in &mut reader.answers {
            if let Place::Line(line) = answer.place {
                answer.db_id = reader.databases.remove(&line);
            }
        }
    }
    refuse_without_texts(input, &reader.answers, &reader.paths)?;
    let (positions, by) = reader.paired(notes)?;
    Ok(((reader.answers, positions, by), reader.column))
}

/// One answer that is a list is that answer's outcome; where all are, the file is another than it was given as.
fn refuse_without_texts(input: &Input, answers: &[Answer], paths: &[String]) -> Result<(), DatasetError> {
    let is_nested = |answer: &&Answer| matches!(answer.other_kind, Some("a list" | "an object"));
    let Some(nested) = answers.iter().find(is_nested) else { return Ok(()) };
    let is_read = |answer: &Answer| matches!(answer.other_kind, None | Some(TRANSCRIPT));
    if answers.iter().any(|answer| answer.sql.is_some() && is_read(answer)) {
        return Ok(());
    }
    let problem = format!("the SQL is {}", nested.other_kind.unwrap_or_default());
    let remedy = match paths {
        [] => "give exactly one SQL text per example".to_owned(),
        [path, others @ ..] => {
            let others =
                if others.is_empty() { String::new() } else { format!(" (or {})", others.join(", ")) };
            format!("name the text in it that is the SQL: --column prediction={path}{others}")
        }
    };
    Err(input.malformed(&nested.place, problem, remedy))
}

/// What a file of predictions says, while it is read. A benchmark of few examples does not take millions of answers:
/// what is far beyond them is counted at most.
struct PredictionLines<'a> {
    input: &'a Input,
    benchmark: &'a Benchmark,
    options: &'a PredictionOptions,
    /// Answers or lines that are kept.
    limit: usize,
    answers: Vec<Answer>,
    /// The SQL of each line; a blank line's is empty, and no other's.
    lines: Vec<String>,
    /// By the number of a line, from 1, the database that it names behind its SQL.
    databases: HashMap<usize, String>,
    /// The databases of the benchmark, once somebody asks.
    db_ids: OnceCell<HashSet<&'a str>>,
    /// Lines that are not kept.
    beyond: Beyond,
    rows: usize,
    id_columns: IdColumns<'a>,
    /// The column of the first id.
    key: Option<String>,
    /// The column of the first answer.
    column: Option<String>,
    /// The paths of the texts in the first object or list that stands for an SQL.
    paths: Vec<String>,
    /// What the rows hold, where somebody wants it whatever it is.
    values: Option<Vec<Value>>,
    /// An example may have several rows.
    may_repeat: bool,
    /// Finds questions in prompts, where there is a column of those.
    finder: Option<QuestionFinder>,
    /// What the questions of the benchmark are known by, once somebody asks.
    questions: OnceCell<HashSet<u64>>,
}

/// What is not kept of a file.
#[derive(Debug, Default, Clone, Copy)]
struct Beyond {
    lines: usize,
    /// Blank ones among them behind the last line that is not blank.
    blank_at_end: usize,
    blank: usize,
}

/// How many answers beyond four per example are kept, so that a message can tell what is wrong with them.
const SPARE_ANSWERS: usize = 100_000;

impl<'a> PredictionLines<'a> {
    fn new(input: &'a Input, benchmark: &'a Benchmark, options: &'a PredictionOptions) -> Self {
        let limit = benchmark.examples.len().saturating_mul(4).saturating_add(SPARE_ANSWERS);
        Self {
            input,
            benchmark,
            options,
            limit,
            answers: Vec::new(),
            lines: Vec::new(),
            databases: HashMap::new(),
            db_ids: OnceCell::new(),
            beyond: Beyond::default(),
            rows: 0,
            id_columns: IdColumns::new(&benchmark.examples),
            key: None,
            column: None,
            paths: Vec::new(),
            values: None,
            may_repeat: false,
            finder: if options.columns.has_prompt() { QuestionFinder::of(benchmark) } else { None },
            questions: OnceCell::new(),
        }
    }

    /// The place of the example of each answer, and what says so.
    fn paired(&self, notes: &mut Vec<String>) -> Result<(Vec<usize>, PairedBy), DatasetError> {
        let Self { input, benchmark, answers, id_columns, .. } = self;
        let named_key = self.options.columns.named(ColumnRole::Id);
        let has_keys = || answers.iter().any(|answer| matches!(answer.place, Place::Key(_)));
        let key = match named_key.map(str::to_owned).or_else(|| self.key.clone()) {
            Some(column) => PairedBy::Column(column),
            None if has_keys() => PairedBy::Key,
            None => PairedBy::Position,
        };
        let is_question_named = self.options.columns.named(ColumnRole::Question).is_some();
        let is_named = named_key.is_some();
        let may_repeat = self.may_repeat;
        Pairing { input, answers, benchmark, id_columns, key, is_named, is_question_named, may_repeat }
            .places(notes)
    }

    fn db_ids(&self) -> &HashSet<&'a str> {
        let names = || self.benchmark.examples.iter().map(|example| example.db_id.as_str()).collect();
        self.db_ids.get_or_init(names)
    }

    fn take_line(&mut self, line: &str) {
        let line = strip(line);
        if self.lines.len() < self.limit {
            // Extraction sees the whole line: to a language model a tab is white space.
            let end = if self.options.extract { line.find(BIRD_SEPARATOR) } else { line.find('\t') };
            self.lines.push(line[..end.unwrap_or(line.len())].to_owned());
            if let Some((_, name)) = line.split_once('\t')
                && self.db_ids().contains(name)
            {
                self.databases.insert(self.lines.len(), name.to_owned());
            }
            return;
        }
        self.beyond.lines += 1;
        self.beyond.blank += usize::from(line.is_empty());
        self.beyond.blank_at_end = if line.is_empty() { self.beyond.blank_at_end + 1 } else { 0 };
    }

    fn take_row(&mut self, row: Row) -> Result<(), DatasetError> {
        let entry = self.rows;
        self.rows += 1;
        match row.value {
            Value::Object(mut fields) => {
                if let Some(Value::Array(turns)) = fields.remove("interaction") {
                    for (index, turn) in turns.into_iter().enumerate() {
                        self.take_value(Place::Turn(entry, index + 1), &turn)?;
                    }
                    return Ok(());
                }
                self.take_fields(row.place, &fields)
            }
            value => self.take_value(row.place, &value),
        }
    }

    fn take_value(&mut self, place: Place, value: &Value) -> Result<(), DatasetError> {
        if let Value::Object(fields) = value {
            return self.take_fields(place, fields);
        }
        self.id_columns.look(&place, None);
        let (question, value) =
            self.question_and_sql(value).map_or((None, value), |(mark, sql)| (Some(mark), sql));
        let answer = Answer { question, ..answer_of_sql(place, value) };
        self.values.iter_mut().for_each(|values| values.push(value.clone()));
        self.keep(answer)
    }

    /// What the question is known by, and the SQL, where a row is a list of the two, as in a file of MAC-SQL.
    fn question_and_sql<'v>(&self, value: &'v Value) -> Option<(u64, &'v Value)> {
        let [Value::String(question), sql] = value.as_array()?.as_slice() else { return None };
        let questions = self.questions.get_or_init(|| {
            let texts = self.benchmark.examples.iter().filter_map(|example| example.question.as_deref());
            texts.filter_map(text_mark).collect()
        });
        let mark = text_mark(question).filter(|mark| questions.contains(mark))?;
        Some((mark, sql))
    }

    fn take_fields(&mut self, place: Place, fields: &Map<String, Value>) -> Result<(), DatasetError> {
        let columns = &self.options.columns;
        self.id_columns.look(&place, Some(fields));
        let mut answer = match &self.values {
            Some(_) => Answer::positional(place, None),
            None => answer_of_fields(self.input, place, fields, self.options)?,
        };
        if answer.other_kind.is_some() && self.paths.is_empty() {
            let nested = columns.find(ColumnRole::Prediction, fields);
            let nested = nested.or_else(|| columns.object(ColumnRole::Prediction, fields));
            self.paths = nested.map_or_else(Vec::new, |(column, value)| paths_of_texts(column, value));
        }
        if let Some((name, id)) = columns.find(ColumnRole::Id, fields)
            && let Some(id) = scalar_text(id).filter(|id| !id.is_empty())
        {
            answer.key = Some(id);
            self.key.get_or_insert_with(|| name.to_owned());
        }
        let mark = |field: Option<(&str, &Value)>| field.and_then(|(_, value)| text_mark(value.as_str()?));
        answer.question = match &self.finder {
            Some(finder) => columns.prompt_of(fields).and_then(|prompt| finder.only_question(prompt)),
            None => mark(columns.find(ColumnRole::Question, fields)),
        };
        let prediction = columns.find(ColumnRole::Prediction, fields).map(|(name, _)| name);
        self.column = self.column.take().or(prediction.map(str::to_owned));
        answer.gold =
            mark(columns.find(ColumnRole::Gold, fields).filter(|(name, _)| Some(*name) != prediction));
        self.values.iter_mut().for_each(|values| values.push(Value::Object(fields.clone())));
        self.keep(answer)
    }

    fn keep(&mut self, answer: Answer) -> Result<(), DatasetError> {
        if self.answers.len() >= self.limit {
            return Err(DatasetError::CountMismatch {
                path: self.input.path().to_owned(),
                count: format!("more than {}", counted(self.limit, "item")),
                other: "the benchmark".to_owned(),
                expected: "far fewer examples".to_owned(),
                remedy: "give the predictions that belong to this benchmark".to_owned(),
            });
        }
        self.answers.push(answer);
        Ok(())
    }
}

fn answers_of_lines(
    input: &Input,
    mut lines: Vec<String>,
    beyond: Beyond,
    benchmark: &Benchmark,
) -> Result<Vec<Answer>, DatasetError> {
    let wanted = benchmark.examples.len();
    let all = lines.len() + beyond.lines;
    let blank_at_end = if beyond.blank_at_end == beyond.lines {
        beyond.lines + lines.iter().rev().take_while(|line| line.is_empty()).count()
    } else {
        beyond.blank_at_end
    };
    let answer =
        |(index, sql)| Answer { is_line: true, ..Answer::positional(Place::Line(index + 1), Some(sql)) };
    if (all - blank_at_end..=all).contains(&wanted) {
        lines.truncate(wanted);
        return Ok(lines.into_iter().enumerate().map(answer).collect());
    }
    if benchmark.interactions() > 1 && beyond.blank_at_end == beyond.lines {
        check_interactions(input, &lines, benchmark)?;
        let lines = lines.into_iter().enumerate();
        return Ok(lines.filter(|(_, sql)| !sql.is_empty()).map(answer).collect());
    }
    let blank = lines.iter().filter(|line| line.is_empty()).count() + beyond.blank;
    Err(count_mismatch(input, all, blank, wanted))
}

fn count_mismatch(input: &Input, lines: usize, blank: usize, wanted: usize) -> DatasetError {
    let count = match blank {
        0 => counted(lines, "line"),
        _ => format!("{} ({blank} of them blank)", counted(lines, "line")),
    };
    DatasetError::CountMismatch {
        path: input.path().to_owned(),
        count,
        other: "the benchmark".to_owned(),
        expected: counted(wanted, "example"),
        remedy: "give one line per example, a blank one where there is no answer; or use a format with ids"
            .to_owned(),
    }
}

/// The turns of each interaction of the file must be as many as the gold's.
fn check_interactions(input: &Input, lines: &[String], benchmark: &Benchmark) -> Result<(), DatasetError> {
    let lengths: Vec<usize> =
        lines.split(String::is_empty).map(<[String]>::len).filter(|&turns| turns > 0).collect();
    let mut expected = vec![0; benchmark.interactions()];
    for turn in benchmark.examples.iter().filter_map(|example| example.turn) {
        expected[turn.interaction] += 1;
    }
    // An interaction without turns leaves no trace in a file of lines.
    expected.retain(|&turns| turns > 0);
    let mismatch = |count: String, expected: String| DatasetError::CountMismatch {
        path: input.path().to_owned(),
        count,
        other: "the benchmark".to_owned(),
        expected,
        remedy: "give one line per turn and a blank line between interactions".to_owned(),
    };
    if lengths.len() != expected.len() {
        let describe = |turns: &[usize]| {
            format!(
                "{} with {}",
                counted(turns.len(), "interaction"),
                counted(turns.iter().sum::<usize>(), "turn")
            )
        };
        return Err(mismatch(describe(&lengths), describe(&expected)));
    }
    match (0..lengths.len()).find(|&i| lengths[i] != expected[i]) {
        None => Ok(()),
        Some(i) => Err(mismatch(
            format!("{} in interaction {i} (counted from 0)", counted(lengths[i], "turn")),
            expected[i].to_string(),
        )),
    }
}

/// An answer whose SQL is that value.
fn answer_of_sql(place: Place, value: &Value) -> Answer {
    let mut answer = Answer::positional(place, None);
    match value {
        Value::Null => {}
        Value::String(text) => match text.split_once(BIRD_SEPARATOR) {
            Some((sql, db_id)) => {
                answer.sql = Some(sql.to_owned());
                answer.db_id = Some(strip(db_id).to_owned());
            }
            None => answer.sql = Some(text.clone()),
        },
        _ => {
            let transcript = TranscriptAnswer::of(value);
            answer.other_kind = Some(if transcript.is_some() { TRANSCRIPT } else { kind(value) });
            let (sql, earlier) = transcript.map(|of| (of.final_query, of.earlier)).unwrap_or_default();
            (answer.sql, answer.earlier) = (Some(sql), earlier);
        }
    }
    answer
}

fn answer_of_fields(
    input: &Input,
    place: Place,
    fields: &Map<String, Value>,
    options: &PredictionOptions,
) -> Result<Answer, DatasetError> {
    let columns = &options.columns;
    let field = columns.find(ColumnRole::Prediction, fields);
    // Where other rows have the column that the user named, this one has no answer.
    let may_lack_it = columns.named(ColumnRole::Prediction).is_some();
    if field.is_none() && !may_lack_it && !columns.has(ColumnRole::Prediction, fields) {
        return Err(DatasetError::MissingField {
            path: input.path().to_owned(),
            place: place.to_string(),
            role: ColumnRole::Prediction,
            accepted: columns.accepted(ColumnRole::Prediction),
            present: present_columns(Some(fields)),
        });
    }
    let field = field.or_else(|| columns.object(ColumnRole::Prediction, fields));
    let mut answer = answer_of_sql(place, field.map_or(&Value::Null, |(_, value)| value));
    let text = |role| columns.find(role, fields).and_then(|(_, value)| scalar_text(value));
    answer.db_id = answer
        .db_id
        .or(text(ColumnRole::Database).map(|db_id| strip(&db_id).to_owned()))
        .filter(|d| !d.is_empty());
    answer.confidence = confidence(columns, fields);
    answer.has_odd_confidence =
        answer.confidence.is_none() && columns.find(ColumnRole::Confidence, fields).is_some();
    if options.only_sql {
        return Ok(answer);
    }
    let used: Vec<&str> =
        KNOWN_ROLES.iter().filter_map(|&role| columns.find(role, fields)).map(|(name, _)| name).collect();
    let is_extra = |(name, value): &(&String, &Value)| {
        !used.contains(&name.as_str()) && !value.is_array() && !value.is_object() && !value.is_null()
    };
    answer.extra =
        fields.iter().filter(is_extra).map(|(name, value)| (name.clone(), value.clone())).collect();
    Ok(answer)
}

/// The confidence that the fields give, in [0, 1].
fn confidence(columns: &Columns, fields: &Map<String, Value>) -> Option<f64> {
    let number = |role| {
        let (_, value) = columns.find(role, fields)?;
        value.as_f64().or_else(|| strip(value.as_str()?).parse().ok())
    };
    let level = match columns.find(ColumnRole::Confidence, fields) {
        Some(_) => number(ColumnRole::Confidence),
        None => number(ColumnRole::LogProbability).map(f64::exp),
    };
    level.filter(|level| (0.0..=1.0).contains(level))
}

/// Replaces every prediction by the SQL in it and notes what was removed how often.
fn extract_all(set: &mut PredictionSet, benchmark: &Benchmark) {
    let mut counts = Removed::ALL.map(|removed| (removed, 0_usize));
    let predictions = set.predictions.iter_mut().zip(&benchmark.examples);
    for (prediction, example) in predictions.filter_map(|(p, e)| Some((p.as_mut()?, e))) {
        let Prediction { sql, .. } = prediction;
        if let Some(rest) = sql.strip_suffix(&example.db_id).and_then(|rest| rest.strip_suffix('\t')) {
            *sql = rest.to_owned();
        }
        let extraction = extract_sql(sql);
        for (removed, count) in &mut counts {
            *count += usize::from(extraction.removed.contains(removed));
        }
        *sql = extraction.sql;
    }
    for (removed, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        set.notes.push(format!(
            "extraction removed {} from {}",
            removed.as_str(),
            counted(count, "prediction")
        ));
    }
}
