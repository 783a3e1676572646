//! Which column of a file means what.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::{FromStr, SplitWhitespace};

use serde_json::{Map, Value};
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::{ErrorKind, resolve};

use crate::error::DatasetError;
use crate::formats::Row;
use crate::input::Input;
use crate::text::text_list;

/// What a named column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColumnRole {
    /// The id of an example.
    Id,
    Database,
    Question,
    /// The accepted SQL: one text, or a list of texts.
    Gold,
    /// BIRD's external knowledge.
    Evidence,
    /// The benchmark's difficulty label.
    Difficulty,
    /// The predicted SQL.
    Prediction,
    /// How sure a system is of its prediction, from 0 to 1.
    Confidence,
    /// The natural logarithm of the probability of all tokens of a prediction.
    LogProbability,
    /// The schema of an item's database as DDL.
    Ddl,
}

/// Every role with its name in `NAME=COLUMN` and, between spaces, the column names that are understood without being told.
///
/// The first name that an item has wins; one with dots leads into objects. `SpiderSynQuestion` comes before `question`, since Spider-Syn files
/// hold the original question too; `query` before `sql`, since Spider's `sql` is a parse tree. A prediction is
/// never taken from `query`, which is the gold in every Spider file.
const ROLES: [(ColumnRole, &str, &str); 10] = [
    (
        ColumnRole::Id,
        "id",
        "id question_id qid example_id instance_id query_id idx index custom_id task_id doc_id sample_id",
    ),
    (ColumnRole::Database, "db_id", "db_id database_id database db db_name selected_database"),
    (
        ColumnRole::Question,
        "question",
        "SpiderSynQuestion question utterance nl nl_question natural_language_question instruction question.en vars.question",
    ),
    (
        ColumnRole::Gold,
        "gold",
        "gold golds gold_sql gold_sqls gold_query query SQL sql ground_truth reference sql_query query.en expected_sql sol_sql",
    ),
    (ColumnRole::Evidence, "evidence", "evidence external_knowledge knowledge hint"),
    (ColumnRole::Difficulty, "difficulty", "difficulty hardness"),
    (
        ColumnRole::Prediction,
        "prediction",
        "prediction predicted_sql pred_sql predSQL predict_sql pred predicted generated_sql generated model_output output response \
         completion answer sql predict generated_query output_response sql_query response.output",
    ),
    (ColumnRole::Confidence, "confidence", "confidence"),
    (ColumnRole::LogProbability, "sum_logprob", "sum_logprob"),
    (ColumnRole::Ddl, "ddl", "ddl"),
];

impl ColumnRole {
    pub fn all() -> impl Iterator<Item = Self> {
        ROLES.iter().map(|(role, ..)| *role)
    }

    fn row(self) -> (&'static str, &'static str) {
        let row = ROLES.iter().find(|(role, ..)| *role == self);
        row.map_or(("", ""), |(_, name, aliases)| (*name, *aliases))
    }

    /// The name of the role in `NAME=COLUMN`.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// Whether a column of that name is understood as this role: case, spaces, `_` and `-` are ignored.
    pub fn is_called(self, name: &str) -> bool {
        self.aliases().any(|alias| are_alike(alias, name))
    }

    /// The column names that are understood as this role, in order of preference; case, spaces, `_` and `-` are ignored when no
    /// name fits exactly.
    pub fn aliases(self) -> SplitWhitespace<'static> {
        self.row().1.split_whitespace()
    }

    /// Whether a value of that kind can have this role. Spider's parse tree in `sql` is no gold query.
    fn accepts(self, value: &Value) -> bool {
        match self {
            Self::Gold | Self::Prediction => !value.is_object(),
            _ => !value.is_object() && !value.is_array(),
        }
    }
}

impl fmt::Display for ColumnRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Id => "id",
            Self::Database => "database",
            Self::Question => "question",
            Self::Gold => "gold query",
            Self::Evidence => "evidence",
            Self::Difficulty => "difficulty",
            Self::Prediction => "predicted SQL",
            Self::Confidence => "confidence",
            Self::LogProbability => "log-probability",
            Self::Ddl => "schema",
        })
    }
}

impl FromStr for ColumnRole {
    type Err = DatasetError;

    fn from_str(name: &str) -> Result<Self, DatasetError> {
        // `db` is what `--db` has taught people to write.
        let name = if name == "db" { "db_id" } else { name };
        ROLES.iter().find(|(_, spelling, _)| *spelling == name).map(|(role, ..)| *role).ok_or_else(|| {
            DatasetError::UnknownRole {
                name: name.to_owned(),
                roles: ROLES.map(|(_, spelling, _)| spelling).join(", "),
            }
        })
    }
}

/// The files in which a role has a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FileKind {
    Golds,
    Predictions,
}

/// Columns that the user named for a role, instead of [`ColumnRole::aliases`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    named: BTreeMap<ColumnRole, String>,
    /// Columns that are named for one kind of file, and win there.
    of_one_kind: BTreeMap<(FileKind, ColumnRole), String>,
    /// Columns that are called as golds are and hold something else.
    no_gold: BTreeSet<String>,
    /// The column whose values hold the question among other words.
    prompt: Option<String>,
}

impl Columns {
    /// Takes the role from that column and from no other. `target.sql` is the field `sql` of the object in the
    /// column `target`, unless a column has the whole name; `choices.0` and `choices.-1` are the first and the last entry of a list.
    pub fn set(&mut self, role: ColumnRole, column: impl Into<String>) {
        self.named.insert(role, column.into());
    }

    /// The same by the name of the role; `gold.id` and `pred.id` are the id in files of golds and of predictions alone, `gold.sql` and
    /// `pred.sql` the query of each.
    ///
    /// # Errors
    /// When no role has the name.
    pub fn name(&mut self, role: &str, column: impl Into<String>) -> Result<(), DatasetError> {
        let (kind, of_kind) = match role.split_once('.') {
            Some(("gold" | "golds", of_kind)) => (FileKind::Golds, of_kind),
            Some(("pred" | "prediction" | "predictions", of_kind)) => (FileKind::Predictions, of_kind),
            _ => {
                self.set(role.parse()?, column);
                return Ok(());
            }
        };
        let role = match (kind, of_kind) {
            (FileKind::Golds, "sql") => ColumnRole::Gold,
            (FileKind::Predictions, "sql") => ColumnRole::Prediction,
            _ => of_kind.parse()?,
        };
        self.of_one_kind.insert((kind, role), column.into());
        Ok(())
    }

    /// The columns in files of that kind.
    pub(crate) fn of(&self, kind: FileKind) -> Self {
        let mut columns = Self { of_one_kind: BTreeMap::new(), ..self.clone() };
        let of_kind = self.of_one_kind.iter().filter(|((other, _), _)| *other == kind);
        columns.named.extend(of_kind.map(|((_, role), column)| (*role, column.clone())));
        columns
    }

    /// The column that the user named for the role in all files.
    pub(crate) fn named(&self, role: ColumnRole) -> Option<&str> {
        self.named.get(&role).map(String::as_str)
    }

    /// The values of a row of predictions that are its answers, where they are a list.
    pub fn answers_of<'a>(&self, row: &'a Map<String, Value>) -> Option<&'a Value> {
        let column = self.of_one_kind.get(&(FileKind::Predictions, ColumnRole::Prediction));
        field_at(row, column.or_else(|| self.named.get(&ColumnRole::Prediction))?)
    }

    /// The field of an item that has the role: its column and its value. A null value is as good as none.
    pub(crate) fn find<'a>(
        &'a self,
        role: ColumnRole,
        fields: &'a Map<String, Value>,
    ) -> Option<(&'a str, &'a Value)> {
        let usable = |(name, value): (&'a String, &'a Value)| {
            let is_other = role == ColumnRole::Gold && self.no_gold.contains(name);
            (!value.is_null() && !is_other && role.accepts(value)).then_some((name.as_str(), value))
        };
        if let Some(column) = self.named.get(&role) {
            return field_at(fields, column).and_then(|value| usable((column, value)));
        }
        let aliases = role.aliases();
        let exact = |alias: &'static str| {
            if !alias.contains('.') {
                return fields.get_key_value(alias).and_then(usable);
            }
            let value = field_at(fields, alias).filter(|value| !value.is_null() && role.accepts(value));
            value.map(|value| (alias, value))
        };
        aliases.clone().find_map(exact).or_else(|| {
            let insensitive = |alias| fields.iter().find(|(name, _)| are_alike(alias, name)).and_then(usable);
            aliases.clone().find_map(insensitive)
        })
    }

    /// Takes the question out of what that column holds.
    pub(crate) fn set_prompt(&mut self, column: &str) {
        self.prompt = Some(column.to_owned());
    }

    pub(crate) fn has_prompt(&self) -> bool {
        self.prompt.is_some()
    }

    /// What holds the question among other words.
    pub(crate) fn prompt_of<'a>(&self, fields: &'a Map<String, Value>) -> Option<&'a Value> {
        fields.get(self.prompt.as_ref()?)
    }

    /// The one answer of a row of predictions, in the column that the user named or under a usual name.
    pub fn answer_of<'a>(&'a self, row: &'a Map<String, Value>) -> Option<&'a Value> {
        self.find(ColumnRole::Prediction, row).map(|(_, value)| value)
    }

    /// The column of the role that holds an object, where none holds a value that the role can have.
    pub(crate) fn object<'a>(
        &'a self,
        role: ColumnRole,
        fields: &'a Map<String, Value>,
    ) -> Option<(&'a str, &'a Value)> {
        let column = if let Some(column) = self.named(role) {
            field_at(fields, column).map(|value| (column, value))
        } else {
            let mut columns = fields.iter().filter(|(name, value)| role.is_called(name) && value.is_object());
            columns.next().map(|(name, value)| (name.as_str(), value))
        };
        column.filter(|(_, value)| value.is_object())
    }

    /// Looks at items for what only all of them can tell: whether some column that the user named for one of the
    /// roles is there, and which columns are called as golds are.
    pub(crate) fn survey<'a>(&'a self, roles: &[ColumnRole]) -> Survey<'a> {
        let named = self.named.iter().filter(|(role, _)| roles.contains(role));
        Survey {
            missing: named.map(|(role, column)| (*role, column.as_str())).collect(),
            present: None,
            seeks_golds: roles.contains(&ColumnRole::Gold) && !self.named.contains_key(&ColumnRole::Gold),
            golds: BTreeSet::new(),
        }
    }

    /// Takes what was found in the columns that are called as golds are. Where one of them holds queries in most
    /// items, one that does not (a question under `query`, say) is no gold; it is the question if nothing else is.
    ///
    /// Returns what was decided, in words. Columns that the user named are taken as they are.
    pub(crate) fn settle_gold(&mut self, gold_columns: &GoldColumns) -> Vec<String> {
        let holds_queries = |&(all, queries): &(usize, usize)| 2 * queries > all;
        if !gold_columns.counts.values().any(holds_queries) {
            return Vec::new();
        }
        let others =
            gold_columns.counts.iter().filter(|(_, count)| !holds_queries(count)).map(|(name, _)| name);
        self.no_gold = others.cloned().collect();
        let mut notes = Vec::new();
        for name in self.no_gold.clone() {
            if gold_columns.has_question {
                notes.push(format!("the column {name:?} holds no SQL and is not taken as gold"));
            } else {
                notes.push(format!("the column {name:?} holds no SQL: it is taken as question, not as gold"));
                self.set(ColumnRole::Question, name);
            }
        }
        notes
    }

    /// Whether the item has a column for the role at all, be its value null.
    pub(crate) fn has(&self, role: ColumnRole, fields: &Map<String, Value>) -> bool {
        match self.named.get(&role) {
            Some(column) => field_at(fields, column).is_some(),
            None => fields.keys().any(|name| role.is_called(name)),
        }
    }

    /// Whether the item has a column for the role and it is null.
    pub(crate) fn is_null(&self, role: ColumnRole, fields: &Map<String, Value>) -> bool {
        match self.named.get(&role) {
            Some(column) => field_at(fields, column).is_some_and(Value::is_null),
            None => fields.iter().any(|(name, value)| value.is_null() && role.is_called(name)),
        }
    }

    /// The names under which the role is looked for.
    pub(crate) fn accepted(&self, role: ColumnRole) -> String {
        self.named.get(&role).cloned().unwrap_or_else(|| role.row().1.replace(' ', ", "))
    }
}

/// What only all items of a file can tell, see [`Columns::survey`].
#[derive(Debug)]
pub(crate) struct Survey<'a> {
    /// Columns that the user named and no item has had.
    missing: Vec<(ColumnRole, &'a str)>,
    /// The columns of the first item.
    present: Option<String>,
    seeks_golds: bool,
    /// Columns that are called as golds are and hold a text.
    golds: BTreeSet<String>,
}

impl Survey<'_> {
    /// Looks at one item.
    pub(crate) fn look(&mut self, row: &Row) {
        if !self.missing.is_empty() {
            self.present.get_or_insert_with(|| present_columns(row.value.as_object()));
            let turns = row.value.get("interaction").and_then(Value::as_array);
            let has = |column: &str| {
                let is_in = |value: &Value| {
                    value.as_object().is_some_and(|fields| field_at(fields, column).is_some())
                };
                is_in(&row.value) || turns.is_some_and(|turns| turns.iter().any(is_in))
            };
            self.missing.retain(|(_, column)| !has(column));
        }
        if self.seeks_golds {
            for (name, _) in texts_called_gold(row) {
                if !self.golds.contains(name) {
                    self.golds.insert(name.clone());
                }
            }
        }
    }

    /// An error when a column that the user named is in no item (a typing error, most likely).
    pub(crate) fn check(&self, input: &Input) -> Result<(), DatasetError> {
        match (self.missing.first(), &self.present) {
            (Some((role, column)), Some(present)) => Err(DatasetError::NoSuchColumn {
                path: input.path().to_owned(),
                column: (*column).to_owned(),
                role: *role,
                present: present.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Whether there are several columns that may be meant as the gold.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.golds.len() > 1
    }
}

/// What the columns hold that are called as golds are.
#[derive(Debug, Default)]
pub(crate) struct GoldColumns {
    /// By name how many texts were looked at, and how many of them are queries.
    counts: BTreeMap<String, (usize, usize)>,
    has_question: bool,
}

impl GoldColumns {
    /// Looks at one item.
    pub(crate) fn look(&mut self, columns: &Columns, row: &Row) {
        for (name, text) in texts_called_gold(row) {
            if !self.counts.contains_key(name) {
                self.counts.insert(name.clone(), (0, 0));
            }
            if let Some((all, queries)) = self.counts.get_mut(name).filter(|(all, _)| *all < JUDGED_TEXTS) {
                *all += 1;
                *queries += usize::from(is_query(&text));
            }
        }
        self.has_question |= field_maps(row).iter().any(|fields| columns.has(ColumnRole::Question, fields));
    }
}

/// Texts of a column that are tried as queries before it is judged.
const JUDGED_TEXTS: usize = 2000;

/// The texts of an item in columns that are called as golds are, blank ones left out.
fn texts_called_gold(row: &Row) -> impl Iterator<Item = (&String, Cow<'_, str>)> {
    field_maps(row).into_iter().flatten().filter_map(|(name, value)| {
        let text = if ColumnRole::Gold.is_called(name) { first_text(value) } else { None };
        text.filter(|text| !text.trim().is_empty()).map(|text| (name, text))
    })
}

/// The field maps of an item: its own, or those of its turns.
fn field_maps(row: &Row) -> Vec<&Map<String, Value>> {
    match row.value.get("interaction").and_then(Value::as_array) {
        Some(turns) => turns.iter().filter_map(Value::as_object).collect(),
        None => row.value.as_object().into_iter().collect(),
    }
}

/// The text of a value, or of the first entry of a list, be the list written as a text.
fn first_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(match text_list(text.trim()) {
            Some(entries) => entries.into_iter().next().unwrap_or_default().into(),
            None => text.into(),
        }),
        Value::Array(items) => items.first().and_then(Value::as_str).map(Cow::from),
        _ => None,
    }
}

/// Whether the text is a query by SQLite's grammar, whatever it names. What the official scripts close up counts.
fn is_query(text: &str) -> bool {
    let closed = text.replace("> =", ">=").replace("< =", "<=").replace("! =", "!=");
    let nothing = Schema::new(Vec::new());
    !resolve(&closed, &nothing).is_err_and(|error| {
        matches!(error.kind(), ErrorKind::Syntax(_) | ErrorKind::Empty | ErrorKind::NotAQuery(_))
    })
}

/// Whether two names are the same but for case, spaces, `_` and `-`.
fn are_alike(a: &str, b: &str) -> bool {
    let letters = |name: &str| {
        let letters = name.bytes().filter(|byte| !matches!(byte, b' ' | b'_' | b'-'));
        letters.map(|byte| byte.to_ascii_lowercase()).collect::<Vec<u8>>()
    };
    a.eq_ignore_ascii_case(b) || letters(a) == letters(b)
}

/// The value of a column; a name with dots that no column has leads into objects and lists.
fn field_at<'a>(fields: &'a Map<String, Value>, column: &str) -> Option<&'a Value> {
    fields.get(column).or_else(|| {
        let (outer, inner) = column.split_once('.')?;
        value_at(fields.get(outer)?, inner)
    })
}

fn value_at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let Value::Array(items) = value else { return field_at(value.as_object()?, path) };
    let (index, rest) = path.split_once('.').map_or((path, None), |(index, rest)| (index, Some(rest)));
    let at = match index.strip_prefix('-') {
        Some(from_end) => items.len().checked_sub(from_end.parse().ok().filter(|from_end| *from_end > 0)?)?,
        None => index.parse().ok()?,
    };
    let item = items.get(at)?;
    rest.map_or(Some(item), |rest| value_at(item, rest))
}

/// The paths of the texts in a value, as `--column` takes them, the first few; those that may hold a query first.
pub(crate) fn paths_of_texts(column: &str, value: &Value) -> Vec<String> {
    let (mut paths, mut queries) = (Vec::new(), 0);
    let mut open = vec![(column.to_owned(), value)];
    for _ in 0..MAX_LOOKED_AT {
        let Some((path, value)) = open.pop() else { break };
        match value {
            Value::String(text) if text.to_ascii_lowercase().contains("select") => {
                paths.insert(queries, path);
                queries += 1;
            }
            Value::String(_) => paths.push(path),
            Value::Object(fields) => {
                open.extend(fields.iter().rev().map(|(name, value)| (format!("{path}.{name}"), value)));
            }
            Value::Array(items) => {
                let items = items.iter().take(MAX_PATHS).enumerate();
                open.extend(items.rev().map(|(at, value)| (format!("{path}.{at}"), value)));
            }
            _ => {}
        }
    }
    paths.truncate(MAX_PATHS);
    paths
}

/// How many paths a message names, and of how many values they are looked for.
const MAX_PATHS: usize = 6;
const MAX_LOOKED_AT: usize = 1000;

/// The names of an item's columns, for messages; those inside objects with dots.
pub(crate) fn present_columns(fields: Option<&Map<String, Value>>) -> String {
    let names = fields.into_iter().flatten().map(|(name, value)| match value.as_object() {
        Some(inner) if !inner.is_empty() => {
            let keys: Vec<String> = inner.keys().take(MAX_NAMED).map(|key| format!("{name}.{key}")).collect();
            keys.join(", ")
        }
        _ => name.clone(),
    });
    let names: Vec<String> = names.take(MAX_NAMED).collect();
    if names.is_empty() { "no named column".to_owned() } else { names.join(", ") }
}

/// How many columns a message names.
const MAX_NAMED: usize = 40;

/// A text, number or truth value as text; other values are none. A whole number that was written as a float
/// (as spreadsheets and data frames do to ids) is its integer.
pub(crate) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Number(number) => Some(match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => {
                format!("{float:.0}")
            }
            _ => number.to_string(),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn column_of(role: ColumnRole, value: &Value) -> Option<String> {
        Columns::default().find(role, value.as_object().unwrap()).map(|(name, _)| name.to_owned())
    }

    #[test]
    fn a_role_is_found_under_the_names_that_people_use() {
        for (role, value, column) in [
            (ColumnRole::Gold, json!({"sql": {"select": []}, "query": "SELECT 1"}), Some("query")),
            (ColumnRole::Gold, json!({"sql": {"select": []}}), None),
            (ColumnRole::Gold, json!({"SQL": "SELECT 1"}), Some("SQL")),
            (ColumnRole::Gold, json!({"Gold_SQL": "SELECT 1"}), Some("Gold_SQL")),
            (ColumnRole::Gold, json!({"gold": null, "sql": ["SELECT 1", "SELECT 2"]}), Some("sql")),
            (
                ColumnRole::Question,
                json!({"question": "a", "SpiderSynQuestion": "b"}),
                Some("SpiderSynQuestion"),
            ),
            (ColumnRole::Prediction, json!({"query": "the gold"}), None),
            (ColumnRole::Prediction, json!({"sql": "the gold?", "pred": "SELECT 1"}), Some("pred")),
            (ColumnRole::Id, json!({"question_id": 0}), Some("question_id")),
            (ColumnRole::Database, json!({"database_id": "d"}), Some("database_id")),
        ] {
            assert_eq!(column_of(role, &value).as_deref(), column, "{role}: {value}");
        }
    }

    #[test]
    fn a_named_column_replaces_the_aliases() {
        let mut columns = Columns::default();
        columns.set("gold".parse().unwrap(), "new_gold_sql");
        let item = json!({"query": "old", "new_gold_sql": "new"});
        assert_eq!(columns.find(ColumnRole::Gold, item.as_object().unwrap()).unwrap().1, "new");
        assert!("golden".parse::<ColumnRole>().is_err());
    }

    #[test]
    fn a_name_with_dots_leads_into_objects_unless_a_column_has_it() {
        let mut columns = Columns::default();
        columns.set(ColumnRole::Gold, "target.sql.text");
        for (item, gold) in [
            (json!({"target": {"sql": {"text": "SELECT 1"}}}), Some("SELECT 1")),
            (
                json!({"target.sql.text": "SELECT 2", "target": {"sql": {"text": "SELECT 1"}}}),
                Some("SELECT 2"),
            ),
            (json!({"target": {"sql": "SELECT 1"}}), None),
            (json!({"target": "SELECT 1"}), None),
        ] {
            let field = columns.find(ColumnRole::Gold, item.as_object().unwrap());
            assert_eq!(field.map(|(_, value)| value.as_str().unwrap()), gold, "{item}");
        }
        assert_eq!(
            present_columns(json!({"id": 1, "target": {"sql": "SELECT 1", "db": "d"}}).as_object()),
            "id, target.sql, target.db"
        );
    }

    #[test]
    fn every_role_is_found_by_its_name_and_the_database_by_two() {
        for role in ColumnRole::all() {
            assert_eq!(role.name().parse::<ColumnRole>().unwrap(), role);
        }
        assert_eq!("db".parse::<ColumnRole>().unwrap(), ColumnRole::Database);
    }

    #[test]
    fn ids_are_text_whatever_they_were_written_as() {
        for (value, text) in [(json!(7), "7"), (json!(7.0), "7"), (json!("7"), "7"), (json!(7.5), "7.5")] {
            assert_eq!(scalar_text(&value).as_deref(), Some(text));
        }
        assert_eq!(scalar_text(&json!([7])), None);
    }
}
