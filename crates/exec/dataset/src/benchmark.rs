//! From the content of a gold file, and of a file with the questions, to a benchmark.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::alternatives::{SQL_EVAL, choices, statements};
use crate::columns::{ColumnRole, Columns, FileKind, GoldColumns, present_columns, scalar_text};
use crate::error::DatasetError;
use crate::formats::{FileFormat, Part, Place, Row};
use crate::input::Input;
use crate::model::{Benchmark, Example, Turn};
use crate::pairing::repetition_id;
use crate::text::{listed, strip, text_list};
use sqlgauge_base::{counted, counted_of, verb_for};

/// Which files a benchmark is read from, and how.
#[derive(Debug, Clone, Default)]
pub struct BenchmarkSource {
    pub gold: PathBuf,
    /// The file with the questions, where the gold file has none (Spider and BIRD: `dev.json`).
    pub questions: Option<PathBuf>,
    /// Format of the gold file; detected when `None`. The file with the questions is always detected.
    pub format: Option<FileFormat>,
    /// Columns that the user named.
    pub columns: Columns,
    /// Read the schema that stands beside a gold, too; not read otherwise, as it is longer than all the rest.
    pub ddl: bool,
}

/// Which file a workload is read from, and how.
#[derive(Debug, Clone, Default)]
pub struct WorkloadSource {
    /// The file with the questions.
    pub path: PathBuf,
    /// Its format; detected when `None`.
    pub format: Option<FileFormat>,
    /// Columns that the user named.
    pub columns: Columns,
}

/// What is read of a benchmark. The schema comes last: it is longer than all the rest, and only demonstrations need it.
static BENCHMARK: [ColumnRole; 7] = [
    ColumnRole::Id,
    ColumnRole::Database,
    ColumnRole::Question,
    ColumnRole::Gold,
    ColumnRole::Evidence,
    ColumnRole::Difficulty,
    ColumnRole::Ddl,
];

/// What is read of a file, and the column that every example must have.
struct Reading<'a> {
    columns: &'a Columns,
    roles: &'a [ColumnRole],
    required: ColumnRole,
}

impl<'a> Reading<'a> {
    fn benchmark(columns: &'a Columns) -> Self {
        Self { columns, roles: &BENCHMARK[..BENCHMARK.len() - 1], required: ColumnRole::Gold }
    }

    fn demonstrations(columns: &'a Columns) -> Self {
        Self { roles: &BENCHMARK, ..Self::benchmark(columns) }
    }

    fn workload(columns: &'a Columns) -> Self {
        let roles = &[
            ColumnRole::Id,
            ColumnRole::Database,
            ColumnRole::Question,
            ColumnRole::Evidence,
            ColumnRole::Ddl,
        ];
        Self { columns, roles, required: ColumnRole::Question }
    }

    fn lacks_required(&self, golds: &[String], question: Option<&String>) -> bool {
        match self.required {
            ColumnRole::Gold => golds.is_empty(),
            _ => question.is_none(),
        }
    }
}

/// Examples as their file has them; an id or a database that it lacks is empty. What only reading needs stands beside them, so
/// that a million of them are not held twice.
#[derive(Default)]
struct Drafts {
    examples: Vec<Example>,
    origins: Vec<Origin>,
}

/// Where an example comes from.
struct Origin {
    place: Place,
    has_id: bool,
    /// The gold says that the question has no answer.
    has_no_answer: bool,
    /// The columns that the item has, where it lacks one that every example needs.
    present: Option<Box<str>>,
}

impl Drafts {
    fn push(&mut self, example: Example, origin: Origin) {
        self.examples.push(example);
        self.origins.push(origin);
    }
}

/// Makes a benchmark of files that are in memory.
///
/// In a gold file of lines, blank lines separate interactions; several in a row, at the start or at the end are
/// one or none. [`Example::turn`] is set only when there is more than one interaction, as the official test-suite
/// script decides between Spider and `SParC`. With a file of questions the two are paired by their ids if each gold's is among them, else in
/// order, and must agree, example by example, in `db_id` and turn; golds come from the gold file, ids from the questions if they
/// have any, the rest from whichever file has it.
///
/// Where no item names a database, [`Example::db_id`] is empty: all are about the one that the user gives. A gold that is null,
/// `"null"` or blank in JSON says that the question has no answer (EHRSQL): the example has no gold. An id that occurs again with the
/// same question, golds and database is another example, `137#2`.
///
/// # Errors
/// As [`crate::load_benchmark`], without the reading.
pub fn parse_benchmark(
    gold: &Input,
    questions: Option<&Input>,
    format: Option<FileFormat>,
    columns: &Columns,
) -> Result<Benchmark, DatasetError> {
    benchmark_of(gold, questions, format, &Reading::benchmark(&columns.of(FileKind::Golds)))
}

/// Reads a benchmark: a gold file, and with it the file that has the questions if there is one.
///
/// # Errors
/// When a file cannot be read, is malformed, or the two disagree in length, databases or turns.
pub fn load_benchmark(source: &BenchmarkSource) -> Result<Benchmark, DatasetError> {
    let gold = Input::read(&source.gold)?;
    let questions = source.questions.as_deref().map(Input::read).transpose()?;
    let read = if source.ddl { Reading::demonstrations } else { Reading::benchmark };
    benchmark_of(&gold, questions.as_ref(), source.format, &read(&source.columns.of(FileKind::Golds)))
}

fn benchmark_of(
    gold: &Input,
    questions: Option<&Input>,
    format: Option<FileFormat>,
    reading: &Reading<'_>,
) -> Result<Benchmark, DatasetError> {
    let mut notes = Vec::new();
    // A column that the user named may be in either of the two files.
    let strict = questions.is_none();
    let mut drafts = drafts_of(gold, format, reading, strict, &mut notes)?;
    let mut sources = vec![gold.path().to_owned()];
    if let Some(questions) = questions {
        let question_drafts = drafts_of(questions, None, reading, false, &mut notes)?;
        let question_drafts = in_order_of(&drafts, question_drafts);
        merge(gold, &mut drafts, questions, question_drafts, &mut notes)?;
        sources.push(questions.path().to_owned());
    }
    if drafts.examples.is_empty() {
        return Err(gold.not_readable("has no example", "give a file with at least one gold query"));
    }
    let has_ids = drafts.origins.iter().any(|origin| origin.has_id);
    let examples = finish(gold, drafts, reading, &mut notes)?;
    Ok(Benchmark { examples, sources, has_ids, notes })
}

/// Makes a workload of a file that is in memory: questions without golds and difficulties, even where the file has
/// them. No character of a gold has an influence on the result.
///
/// # Errors
/// As [`crate::load_workload`], without the reading.
pub fn parse_workload(
    input: &Input,
    format: Option<FileFormat>,
    columns: &Columns,
) -> Result<Benchmark, DatasetError> {
    let mut notes = Vec::new();
    let columns = columns.of(FileKind::Golds);
    let reading = Reading::workload(&columns);
    let drafts = drafts_of(input, format, &reading, true, &mut notes)?;
    if drafts.examples.is_empty() {
        return Err(input.not_readable("has no item", "give a file with at least one question"));
    }
    let has_ids = drafts.origins.iter().any(|origin| origin.has_id);
    let examples = finish(input, drafts, &reading, &mut notes)?;
    Ok(Benchmark { examples, sources: vec![input.path().to_owned()], has_ids, notes })
}

fn drafts_of(
    input: &Input,
    format: Option<FileFormat>,
    reading: &Reading<'_>,
    strict: bool,
    notes: &mut Vec<String>,
) -> Result<Drafts, DatasetError> {
    let format = format.unwrap_or_else(|| FileFormat::detect(input));
    let mut own_notes = Vec::new();
    let mut survey = reading.columns.survey(reading.roles);
    let mut drafter = Drafter::new(input, reading, format);
    // An error of one item may be one of a column that the others show to be no gold.
    let mut first_error = None;
    format.read(input, &mut own_notes, &mut |part| {
        if let Part::Row(row) = &part {
            survey.look(row);
        }
        if first_error.is_none() {
            first_error = drafter.take(part).err();
        }
        Ok(())
    })?;
    if format.has_lines() && reading.required == ColumnRole::Question {
        let remedy = "give them as JSON, JSONL, CSV, TSV or Parquet with the columns question and db_id";
        return Err(input.not_readable("is a file of lines and has no questions", remedy));
    }
    if strict {
        survey.check(input)?;
    }
    if survey.is_in_doubt() {
        let mut gold_columns = GoldColumns::default();
        let mut columns = reading.columns.clone();
        for_each_row(format, input, |row| {
            gold_columns.look(&columns, &row);
            Ok(())
        })?;
        let settled = columns.settle_gold(&gold_columns);
        if !settled.is_empty() {
            own_notes.extend(settled);
            let reading = Reading { columns: &columns, ..*reading };
            let mut drafter = Drafter::new(input, &reading, format);
            for_each_row(format, input, |row| drafter.take(Part::Row(row)))?;
            return Ok(drafter.finish(own_notes, notes));
        }
    }
    first_error.map_or_else(|| Ok(drafter.finish(own_notes, notes)), Err)
}

/// The items of a file that was read before: its repairs are known.
fn for_each_row(
    format: FileFormat,
    input: &Input,
    mut take: impl FnMut(Row) -> Result<(), DatasetError>,
) -> Result<(), DatasetError> {
    format.read(input, &mut Vec::new(), &mut |part| match part {
        Part::Row(row) => take(row),
        Part::Line(_) => Ok(()),
    })
}

/// Makes drafts of the pieces of a file.
struct Drafter<'a> {
    input: &'a Input,
    reading: &'a Reading<'a>,
    drafts: Drafts,
    /// Lines or items so far.
    count: usize,
    /// The place in a conversation of the latest line.
    turn: Turn,
    /// Null and a blank text are values there, and not cells that nobody filled.
    is_json: bool,
}

impl<'a> Drafter<'a> {
    fn new(input: &'a Input, reading: &'a Reading<'a>, format: FileFormat) -> Self {
        let turn = Turn { interaction: 0, turn: 0 };
        Self { input, reading, drafts: Drafts::default(), count: 0, turn, is_json: format.is_json() }
    }

    fn take(&mut self, part: Part<'_>) -> Result<(), DatasetError> {
        self.count += 1;
        match part {
            Part::Line(_) if self.reading.required == ColumnRole::Question => Ok(()),
            Part::Line(line) => self.take_line(line),
            Part::Row(row) => self.take_row(row),
        }
    }

    fn take_line(&mut self, line: &str) -> Result<(), DatasetError> {
        let line = strip(line);
        if line.is_empty() {
            if self.turn.turn > 0 {
                self.turn = Turn { interaction: self.turn.interaction + 1, turn: 0 };
            }
            return Ok(());
        }
        self.turn.turn += 1;
        let place = Place::Line(self.count);
        let fields: Vec<&str> = line.split('\t').take(MAX_FIELDS).collect();
        let (sql, db_id) = match fields.as_slice() {
            [sql] => (*sql, ""),
            [sql, db_id] => (*sql, *db_id),
            _ => {
                return Err(wrong_fields(self.input, &place, line.split('\t').count()));
            }
        };
        let golds = accepted(self.input, &place, golds_of_text(self.input, &place, sql)?)?;
        let example = Example {
            golds,
            turn: Some(self.turn),
            ..Example::bare(String::new(), 0, strip(db_id).to_owned())
        };
        self.drafts.push(example, Origin { place, has_id: false, has_no_answer: false, present: None });
        Ok(())
    }

    fn take_row(&mut self, row: Row) -> Result<(), DatasetError> {
        if let (Place::Key(_), Value::String(_) | Value::Null, ColumnRole::Gold) =
            (&row.place, &row.value, self.reading.required)
        {
            let fields = Map::from_iter([(ColumnRole::Gold.name().to_owned(), row.value)]);
            let (example, origin) = self.draft(row.place, &fields)?;
            self.drafts.push(example, origin);
            return Ok(());
        }
        let interaction = self.count - 1;
        let fields =
            self.object(row.place.clone(), &row.value, "an example is an object with named fields")?;
        let Some(Value::Array(turns)) = fields.get("interaction") else {
            let (example, origin) = self.draft(row.place, fields)?;
            self.drafts.push(example, origin);
            return Ok(());
        };
        for (index, item) in turns.iter().enumerate() {
            let turn = Turn { interaction, turn: index + 1 };
            let place = Place::Turn(interaction, turn.turn);
            let turn_fields =
                self.object(place.clone(), item, "a turn is an object with query and utterance")?;
            let (mut example, origin) = self.draft(place, turn_fields)?;
            if example.db_id.is_empty() {
                let shared = self.reading.columns.find(ColumnRole::Database, fields);
                example.db_id = shared.and_then(|(_, value)| scalar_text(value)).unwrap_or_default();
            }
            example.turn = Some(turn);
            self.drafts.push(example, origin);
        }
        Ok(())
    }

    fn draft(&self, place: Place, fields: &Map<String, Value>) -> Result<(Example, Origin), DatasetError> {
        draft_of_fields(self.input, place, fields, self.reading, self.is_json)
    }

    fn object<'v>(
        &self,
        place: Place,
        value: &'v Value,
        remedy: &str,
    ) -> Result<&'v Map<String, Value>, DatasetError> {
        let problem = || format!("{} where an object should be", kind(value));
        value.as_object().ok_or_else(|| self.input.malformed(place, problem(), remedy))
    }

    /// The drafts; what reading noted is added to the notes under the name of the file.
    fn finish(mut self, own_notes: Vec<String>, notes: &mut Vec<String>) -> Drafts {
        notes.extend(own_notes.into_iter().map(|note| format!("{}: {note}", self.input.path().display())));
        let examples = &mut self.drafts.examples;
        if !examples.iter().any(|example| example.turn.is_some_and(|turn| turn.interaction > 0)) {
            examples.iter_mut().for_each(|example| example.turn = None);
        }
        self.drafts
    }
}

/// Fields of a gold line that are told apart before they are only counted.
const MAX_FIELDS: usize = 3;

fn wrong_fields(input: &Input, place: &Place, count: usize) -> DatasetError {
    let problem = format!("{} separated by tabs where there should be two", counted(count, "field"));
    input.malformed(
        place,
        problem,
        "a gold line is the SQL, one tab, the db_id; write tabs inside the SQL as spaces",
    )
}

fn draft_of_fields(
    input: &Input,
    place: Place,
    fields: &Map<String, Value>,
    reading: &Reading<'_>,
    is_json: bool,
) -> Result<(Example, Origin), DatasetError> {
    let text = |role| {
        let (_, value) = reading.columns.find(role, fields).filter(|_| reading.roles.contains(&role))?;
        scalar_text(value).filter(|text| !strip(text).is_empty())
    };
    let key = match &place {
        Place::Key(key) => Some(key.clone()),
        _ => None,
    };
    let reads_golds = reading.roles.contains(&ColumnRole::Gold);
    let has_no_answer = reads_golds && says_no_answer(fields, reading.columns, is_json);
    let golds = if reads_golds && !has_no_answer {
        golds_of(input, &place, fields, reading.columns)?
    } else {
        Vec::new()
    };
    let db_id = text(ColumnRole::Database).map(|db_id| strip(&db_id).to_owned());
    let question = text(ColumnRole::Question);
    let lacks = db_id.is_none() || reading.lacks_required(&golds, question.as_ref());
    let id = text(ColumnRole::Id).or(key);
    let present = lacks.then(|| present_columns(Some(fields)).into());
    let origin = Origin { place, has_id: id.is_some(), has_no_answer, present };
    let example = Example {
        question,
        evidence: text(ColumnRole::Evidence),
        golds,
        difficulty: text(ColumnRole::Difficulty),
        ddl: text(ColumnRole::Ddl),
        source_index: fields
            .get("source_index")
            .and_then(Value::as_u64)
            .and_then(|at| usize::try_from(at).ok()),
        source_db_id: fields.get("source_db_id").and_then(Value::as_str).map(str::to_owned),
        ..Example::bare(id.unwrap_or_default(), 0, db_id.unwrap_or_default())
    };
    Ok((example, origin))
}

/// Whether the gold says that the question has no answer: null or a blank text in JSON, the text `null` anywhere.
fn says_no_answer(fields: &Map<String, Value>, columns: &Columns, is_json: bool) -> bool {
    match columns.find(ColumnRole::Gold, fields) {
        Some((_, Value::String(text))) => {
            let text = strip(text);
            text.eq_ignore_ascii_case("null") || (is_json && text.is_empty())
        }
        Some(_) => false,
        None => is_json && columns.is_null(ColumnRole::Gold, fields),
    }
}

/// The accepted gold queries: none if the item has no column for them or a blank one.
fn golds_of(
    input: &Input,
    place: &Place,
    fields: &Map<String, Value>,
    columns: &Columns,
) -> Result<Vec<String>, DatasetError> {
    let Some((column, value)) = columns.find(ColumnRole::Gold, fields) else { return Ok(Vec::new()) };
    let texts = match value {
        Value::String(text) if fields.contains_key(SQL_EVAL) && !strip(text).starts_with('[') => {
            Some(statements(text).into_iter().map(str::to_owned).collect())
        }
        Value::String(text) => Some(golds_of_text(input, place, text)?),
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => None,
    };
    let Some(texts) = texts else {
        let problem = format!("{column:?} is {}", kind(value));
        return Err(input.malformed(place, problem, "a gold is a SQL text or a list of SQL texts"));
    };
    accepted(input, place, texts.into_iter().filter(|text| !strip(text).is_empty()))
}

/// The golds that texts stand for, each choice of columns one of its own.
fn accepted(
    input: &Input,
    place: &Place,
    texts: impl IntoIterator<Item = String>,
) -> Result<Vec<String>, DatasetError> {
    let mut golds = Vec::new();
    for text in texts {
        if !text.contains('{') {
            golds.push(text);
            continue;
        }
        golds.extend(choices(&text).ok_or_else(|| {
            let problem = "the gold leaves a choice among more than eight columns";
            input.malformed(place, problem, "give the golds as a list of SQL texts")
        })?);
    }
    Ok(golds)
}

/// The golds that one text holds: itself, or the entries of a list, which CSV, TSV and Parquet files have as text. No
/// query begins with a bracket, so a text that does is a list (JSON's, or Python's, as pandas writes it) or an error.
fn golds_of_text(input: &Input, place: &Place, text: &str) -> Result<Vec<String>, DatasetError> {
    if !strip(text).starts_with('[') {
        return Ok(vec![text.to_owned()]);
    }
    text_list(strip(text)).ok_or_else(|| {
        let problem = "the gold begins with [ and is no list of texts";
        input.malformed(
            place,
            problem,
            "a gold is a SQL text or a list of SQL texts: [\"SELECT 1\", \"SELECT 2\"]",
        )
    })
}

/// The questions of the golds in their order, if both files have ids and each gold's is among those of the questions; all as they are
/// otherwise.
fn in_order_of(golds: &Drafts, questions: Drafts) -> Drafts {
    let have_ids = |drafts: &Drafts| drafts.origins.iter().all(|origin| origin.has_id);
    if !have_ids(golds) || !have_ids(&questions) {
        return questions;
    }
    let mut by_id: Vec<usize> = (0..questions.examples.len()).collect();
    by_id.sort_by_key(|&at| &questions.examples[at].id);
    // Of several with one id, each gold takes the next: so many are counts of those that begin there.
    let mut counts = vec![0; by_id.len()];
    let place = |gold: &Example| {
        let first = by_id.partition_point(|&at| questions.examples[at].id < gold.id);
        let at = *by_id.get(first + *counts.get(first)?)?;
        counts[first] += 1;
        (questions.examples[at].id == gold.id).then_some(at)
    };
    let Some(order) = golds.examples.iter().map(place).collect::<Option<Vec<usize>>>() else {
        return questions;
    };
    let mut drafts: Vec<_> = questions.examples.into_iter().zip(questions.origins).map(Some).collect();
    let (examples, origins) = order.into_iter().filter_map(|at| drafts[at].take()).unzip();
    Drafts { examples, origins }
}

/// Puts what the file with the questions knows into the drafts of the gold file.
fn merge(
    gold: &Input,
    drafts: &mut Drafts,
    questions: &Input,
    others: Drafts,
    notes: &mut Vec<String>,
) -> Result<(), DatasetError> {
    if drafts.examples.len() != others.examples.len() {
        return Err(DatasetError::CountMismatch {
            path: questions.path().to_owned(),
            count: counted(others.examples.len(), "example"),
            other: gold.path().display().to_string(),
            expected: counted(drafts.examples.len(), "example"),
            remedy: "give the questions that belong to these golds".to_owned(),
        });
    }
    let mut differing = 0;
    let ours = drafts.examples.iter_mut().zip(&mut drafts.origins);
    for ((example, origin), (other, other_origin)) in
        ours.zip(others.examples.into_iter().zip(others.origins))
    {
        check_agreement((gold, example, origin), (questions, &other, &other_origin))?;
        let same = |a: &str| other.golds.iter().any(|b| a.split_whitespace().eq(b.split_whitespace()));
        differing += usize::from(!other.golds.is_empty() && !example.golds.iter().any(|a| same(a)));
        if other_origin.has_id {
            (example.id, origin.has_id) = (other.id, true);
        }
        if example.db_id.is_empty() {
            example.db_id = other.db_id;
        }
        example.question = other.question.or(example.question.take());
        example.evidence = other.evidence.or(example.evidence.take());
        example.difficulty = other.difficulty.or(example.difficulty.take());
        example.turn = example.turn.or(other.turn);
    }
    if differing > 0 {
        notes.push(format!(
            "{}: {} in text from {}; the former are used",
            gold.path().display(),
            counted(differing, "gold") + if differing == 1 { " differs" } else { " differ" },
            questions.path().display(),
        ));
    }
    Ok(())
}

fn check_agreement(
    (gold, draft, origin): (&Input, &Example, &Origin),
    (questions, other, other_origin): (&Input, &Example, &Origin),
) -> Result<(), DatasetError> {
    let disagreement = |claim: String, expected: String| {
        Err(DatasetError::Disagreement {
            path: gold.path().to_owned(),
            place: origin.place.to_string(),
            claim,
            expected: format!("{}, {}, says {expected}", questions.path().display(), other_origin.place),
        })
    };
    let (ours, theirs) = (&draft.db_id, &other.db_id);
    if !ours.is_empty() && !theirs.is_empty() && ours != theirs {
        return disagreement(format!("the db_id is {ours:?}"), format!("{theirs:?}"));
    }
    if let (Some(ours), Some(theirs)) = (draft.turn, other.turn)
        && ours != theirs
    {
        let name =
            |turn: Turn| format!("turn {} of interaction {} (counted from 0)", turn.turn, turn.interaction);
        return disagreement(format!("it is {}", name(ours)), name(theirs));
    }
    Ok(())
}

/// Checks that nothing needed is missing and no id occurs twice.
fn finish(
    gold: &Input,
    drafts: Drafts,
    reading: &Reading<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<Example>, DatasetError> {
    let Drafts { mut examples, origins } = drafts;
    let with_ids = origins.iter().any(|origin| origin.has_id);
    let with_databases = examples.iter().any(|example| !example.db_id.is_empty());
    let without_answer = origins.iter().filter(|origin| origin.has_no_answer).count();
    for (index, (example, origin)) in examples.iter_mut().zip(&origins).enumerate() {
        let missing = |role| DatasetError::MissingField {
            path: gold.path().to_owned(),
            place: origin.place.to_string(),
            role,
            accepted: reading.columns.accepted(role),
            present: origin.present.as_deref().unwrap_or("none of them").to_owned(),
        };
        if !origin.has_id {
            if with_ids {
                return Err(missing(ColumnRole::Id));
            }
            example.id = index.to_string();
        }
        if example.db_id.is_empty() && with_databases {
            let is_line = matches!(origin.place, Place::Line(_)) && origin.present.is_none();
            return Err(if is_line {
                wrong_fields(gold, &origin.place, 1)
            } else {
                missing(ColumnRole::Database)
            });
        }
        let has_answer = !origin.has_no_answer || without_answer == origins.len();
        if has_answer && reading.lacks_required(&example.golds, example.question.as_ref()) {
            return Err(missing(reading.required));
        }
        example.index = index;
    }
    if without_answer > 0 {
        let path = gold.path().display();
        let count = counted_of(without_answer, examples.len(), "question");
        let has = verb_for(&without_answer, ["has", "have"]);
        notes.push(format!("{path}: {count} {has} no answer (the gold is null): to abstain is right there"));
    }
    rename_repetitions(gold, &mut examples, notes);
    if let Some([first, second]) = first_repeated(&examples) {
        let id = examples[second].id.clone();
        return Err(gold.twice(id, &origins[first].place, &origins[second].place));
    }
    Ok(examples)
}

/// Gives an example that an earlier one is, word for word, an id of its own.
fn rename_repetitions(gold: &Input, examples: &mut [Example], notes: &mut Vec<String>) {
    let mut by_id: Vec<usize> = (0..examples.len()).collect();
    by_id.sort_by(|&a, &b| examples[a].id.cmp(&examples[b].id));
    let same_ids = by_id.chunk_by(|&a, &b| examples[a].id == examples[b].id).filter(|same| same.len() > 1);
    let repeats = |same: &&[usize]| {
        let first = &examples[same[0]];
        first.question.is_some() && same.iter().all(|&at| examples[at].repeats(first))
    };
    let groups: Vec<Vec<usize>> = same_ids.filter(repeats).map(<[usize]>::to_vec).collect();
    let mut renamed = Vec::new();
    for group in groups {
        let id = examples[group[0]].id.clone();
        for (number, &at) in (1..).zip(&group).skip(1) {
            examples[at].id = repetition_id(&id, number);
        }
        renamed.push(id);
    }
    if !renamed.is_empty() {
        let (path, ids) = (gold.path().display(), listed(&renamed));
        notes.push(format!(
            "{path}: {ids} more than once, word for word: each counts, the second as {}#2",
            renamed[0]
        ));
    }
}

/// The first example whose id an earlier one has, behind that one.
fn first_repeated(examples: &[Example]) -> Option<[usize; 2]> {
    // A table of hashes takes several times as much of a million examples.
    let mut by_id: Vec<usize> = (0..examples.len()).collect();
    by_id.sort_unstable_by_key(|&at| (examples[at].id.as_str(), at));
    let repeated = by_id.windows(2).filter(|pair| examples[pair[0]].id == examples[pair[1]].id);
    repeated.map(|pair| [pair[0], pair[1]]).min_by_key(|[_, second]| *second)
}

/// What kind of JSON value it is, for messages.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
