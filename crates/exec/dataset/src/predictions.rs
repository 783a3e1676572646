//! From the content of a file to one system's predictions.

use serde_json::{Map, Value};

use crate::benchmark::kind;
use crate::columns::{ColumnRole, Columns, present_columns, scalar_text};
use crate::error::DatasetError;
use crate::extract::{Removed, extract_sql};
use crate::formats::{FileFormat, Part, Place, Row};
use crate::input::Input;
use crate::matching::{Answer, match_answers};
use crate::model::{Benchmark, Prediction, PredictionSet};
use crate::text::{listed, strip};
use crate::transcript::{TRANSCRIPT, final_query};
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
/// **Items with ids** (an object from id to SQL, or rows with an id column) are matched by id. If the keys are
/// exactly the positions 0 to n-1, and the benchmark has other ids, they are positions.
///
/// **Items without ids** must be as many as there are examples.
///
/// A null or absent SQL is a missing prediction; another value that is no text (BIRD's scripts write 0 where a
/// system failed) is an empty prediction and noted. In a file without any text, a list or an object is an error: its columns or its
/// format are others. Half a character (a lone surrogate) in JSON is NUL, with which no engine takes a text as SQL. A database that the file names for an item, in a column or
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
    let answers = answers_of(&input, benchmark, options, &mut notes)?;
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
    let (matched, extra) = match_answers(input, answers, benchmark, &mut notes)?;
    let mut set = PredictionSet {
        system: system.to_owned(),
        predictions: matched,
        source: input.path().to_owned(),
        notes,
        extra,
    };
    if options.extract {
        extract_all(&mut set, benchmark);
    }
    Ok(set)
}

/// The answers that a file has, in its order.
fn answers_of(
    input: &Input,
    benchmark: &Benchmark,
    options: &PredictionOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<Answer>, DatasetError> {
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
        return answers_of_lines(input, reader.lines, reader.beyond, benchmark);
    }
    refuse_without_texts(input, &reader.answers)?;
    Ok(reader.answers)
}

/// One answer that is a list is that answer's outcome; where all are, the file is another than it was given as.
fn refuse_without_texts(input: &Input, answers: &[Answer]) -> Result<(), DatasetError> {
    let is_nested = |answer: &&Answer| matches!(answer.other_kind, Some("a list" | "an object"));
    let Some(nested) = answers.iter().find(is_nested) else { return Ok(()) };
    let is_read = |answer: &Answer| matches!(answer.other_kind, None | Some(TRANSCRIPT));
    if answers.iter().any(|answer| answer.sql.is_some() && is_read(answer)) {
        return Ok(());
    }
    let problem = format!("the SQL is {}", nested.other_kind.unwrap_or_default());
    Err(input.malformed(&nested.place, problem, "give exactly one SQL text per example"))
}

/// What a file of predictions says, while it is read. A benchmark of few examples does not take millions of answers:
/// what is far beyond them is counted at most.
struct PredictionLines<'a> {
    input: &'a Input,
    options: &'a PredictionOptions,
    /// Answers or lines that are kept.
    limit: usize,
    answers: Vec<Answer>,
    /// The SQL of each line; a blank line's is empty, and no other's.
    lines: Vec<String>,
    /// Lines that are not kept.
    beyond: Beyond,
    rows: usize,
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
    fn new(input: &'a Input, benchmark: &Benchmark, options: &'a PredictionOptions) -> Self {
        let limit = benchmark.examples.len().saturating_mul(4).saturating_add(SPARE_ANSWERS);
        Self {
            input,
            options,
            limit,
            answers: Vec::new(),
            lines: Vec::new(),
            beyond: Beyond::default(),
            rows: 0,
        }
    }

    fn take_line(&mut self, line: &str) {
        let line = strip(line);
        if self.lines.len() < self.limit {
            // Extraction sees the whole line: to a language model a tab is white space.
            let end = if self.options.extract { line.find(BIRD_SEPARATOR) } else { line.find('\t') };
            self.lines.push(line[..end.unwrap_or(line.len())].to_owned());
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
                        self.take_value(Place::Turn(entry, index + 1), turn)?;
                    }
                    return Ok(());
                }
                let answer = answer_of_fields(self.input, row.place, &fields, self.options)?;
                self.keep(answer)
            }
            value => self.take_value(row.place, value),
        }
    }

    fn take_value(&mut self, place: Place, value: Value) -> Result<(), DatasetError> {
        let answer = match value {
            Value::Object(fields) => answer_of_fields(self.input, place, &fields, self.options)?,
            value => answer_of_sql(place, &value),
        };
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
    let answer = |(index, sql)| Answer::positional(Place::Line(index + 1), Some(sql));
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
            let query = final_query(value);
            answer.other_kind = Some(if query.is_some() { TRANSCRIPT } else { kind(value) });
            answer.sql = Some(query.unwrap_or_default());
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
    if field.is_none() && !columns.has(ColumnRole::Prediction, fields) {
        return Err(DatasetError::MissingField {
            path: input.path().to_owned(),
            place: place.to_string(),
            role: ColumnRole::Prediction,
            accepted: columns.accepted(ColumnRole::Prediction),
            present: present_columns(Some(fields)),
        });
    }
    let mut answer = answer_of_sql(place, field.map_or(&Value::Null, |(_, value)| value));
    let text = |role| columns.find(role, fields).and_then(|(_, value)| scalar_text(value));
    answer.key = text(ColumnRole::Id).filter(|id| !id.is_empty()).or(answer.key);
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
