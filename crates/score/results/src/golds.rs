//! The gold results of a benchmark: a folder and the configuration of its items.
//!
//! # Contract
//! - The golds of an item are `ID.csv` and `ID_a.csv` … `ID_z.csv`, or with the ending of another format; an item may have several.
//! - Every entry of a folder has an outcome. Of several formats of one name the first of [`endings`] is read; that one, what has another
//!   ending and what is no file by its name are in [`ResultFolder::left`]. What cannot be opened is an outcome of its item.
//! - The configuration has a JSON object per line: `instance_id` (or `id`), `condition_cols`, `ignore_order`; without it, the items
//!   are those of the folder, all columns count, and the order of rows does not.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use sqlgauge_base::regular;

use crate::error::{ResultsError, Unreadable};
use crate::read::{ending_of, endings, is_readable, read_table};
use crate::table::{MAX_COST, ResultFile};

/// How the result of an item is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemConfig {
    pub id: String,
    /// Positions of the gold columns that count, or a list of them per gold; as the file has it.
    columns: Json,
    /// Whether rows may stand in any order.
    pub ignore_order: bool,
}

impl ItemConfig {
    pub fn new(id: impl Into<String>, columns: Json, ignore_order: bool) -> Self {
        Self { id: id.into(), columns, ignore_order }
    }

    /// The columns that count, as the file has them; null for all.
    pub fn condition_cols(&self) -> &Json {
        &self.columns
    }

    /// The columns that count of one of several golds: its list of a list of lists, or the one list of all.
    pub(crate) fn columns_for(&self, at: usize, golds: usize) -> Option<&Json> {
        let lists = self.columns.as_array()?;
        if lists.is_empty() || !lists.iter().all(Json::is_array) {
            return Some(&self.columns);
        }
        if golds == 1 { lists.first() } else { lists.get(at) }
    }
}

/// Reads the configuration of items.
///
/// # Errors
/// When the file cannot be read, a line is no object with an id, or an id occurs twice.
pub fn read_config(path: &Path) -> Result<Vec<ItemConfig>, ResultsError> {
    let text = regular::read_to_string(path)
        .map_err(|source| ResultsError::Read { path: path.to_owned(), source })?;
    let mut seen = HashSet::new();
    let mut items = Vec::new();
    for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
        let wrong = |problem: String, remedy| ResultsError::Line {
            path: path.to_owned(),
            line: number,
            problem,
            remedy,
        };
        let mut json: Json = serde_json::from_str(line)
            .map_err(|error| wrong(error.to_string(), "write one JSON object a line"))?;
        let id = ["instance_id", "id"].iter().find_map(|name| json.get(*name)?.as_str()).map(str::to_owned);
        let id = id.ok_or_else(|| wrong("no `instance_id`".to_owned(), "give every item its id"))?;
        if !seen.insert(id.clone()) {
            return Err(wrong(format!("the id {id:?} occurs again"), "remove one of the two"));
        }
        let ignore_order = match json.get("ignore_order") {
            None => false,
            Some(Json::Bool(ignores)) => *ignores,
            Some(other) => return Err(wrong(format!("`ignore_order` is {other}"), "write true or false")),
        };
        let columns = json.get_mut("condition_cols").map(Json::take).unwrap_or_default();
        items.push(ItemConfig::new(id, columns, ignore_order));
    }
    if items.is_empty() {
        let (problem, remedy) = ("has no item", "give a file with one JSON object a line");
        return Err(ResultsError::Nothing { path: path.to_owned(), problem, remedy });
    }
    Ok(items)
}

pub struct Gold {
    pub name: String,
    /// Whether it is the one of the bare id.
    pub is_single: bool,
    /// The result, or why it cannot be read.
    pub table: Result<ResultFile, Unreadable>,
}

#[derive(Debug, Clone)]
pub struct ResultFolder {
    pub path: PathBuf,
    files: BTreeMap<String, PathBuf>,
    /// Names of the entries that are not read, sorted; those that begin with a point are not named.
    pub left: Vec<String>,
}

impl ResultFolder {
    /// Looks into a folder.
    ///
    /// # Errors
    /// When the folder cannot be read, or has not a single result.
    pub fn open(path: &Path) -> Result<Self, ResultsError> {
        let refused = |source| ResultsError::Read { path: path.to_owned(), source };
        let rank = |file: &Path| endings().position(|ending| ending == ending_of(file));
        let (mut files, mut left) = (BTreeMap::<String, PathBuf>::new(), Vec::new());
        for entry in std::fs::read_dir(path).map_err(refused)? {
            let file = entry.map_err(refused)?.path();
            let stem = file.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
            let Some(stem) = stem.filter(|_| rank(&file).is_some()) else {
                left.push(file);
                continue;
            };
            let before = files.get(&stem);
            // Two of one ending differ in its letter case; the order of the folder must not decide.
            if before.is_some_and(|before| (rank(before), before) < (rank(&file), &file)) {
                left.push(file);
            } else {
                left.extend(files.insert(stem, file));
            }
        }
        let name = |file: PathBuf| Some(file.file_name()?.to_string_lossy().into_owned());
        let mut left: Vec<String> =
            left.into_iter().filter_map(name).filter(|name| !name.starts_with('.')).collect();
        left.sort_unstable();
        if files.is_empty() {
            let (problem, remedy) = ("has no result", "give a folder with files such as ID.csv");
            return Err(ResultsError::Nothing { path: path.to_owned(), problem, remedy });
        }
        Ok(Self { path: path.to_owned(), files, left })
    }

    pub fn file(&self, id: &str) -> Option<&Path> {
        self.files.get(id).map(PathBuf::as_path)
    }

    /// Names of all results without their endings, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }
}

/// A folder with gold results and the items that they belong to.
pub struct GoldFolder {
    folder: ResultFolder,
    /// The items, in their order.
    pub items: Vec<ItemConfig>,
}

impl GoldFolder {
    /// Looks into a folder.
    ///
    /// # Errors
    /// As [`ResultFolder::open`].
    pub fn open(path: &Path, config: Option<Vec<ItemConfig>>) -> Result<Self, ResultsError> {
        let folder = ResultFolder::open(path)?;
        let items = config.unwrap_or_else(|| items_of(&folder));
        Ok(Self { folder, items })
    }

    /// Names of the golds of an item, the bare one first.
    pub fn names(&self, id: &str) -> Vec<String> {
        let variants = ('a'..='z').map(|letter| format!("{id}_{letter}"));
        let names = std::iter::once(id.to_owned()).chain(variants);
        names.filter(|name| self.folder.file(name).is_some()).collect()
    }

    /// The files of the golds of an item that can be opened.
    pub fn files(&self, id: &str) -> Vec<PathBuf> {
        let files = self.names(id).into_iter().filter_map(|name| self.folder.file(&name).map(Path::to_owned));
        files.filter(|file| is_readable(file)).collect()
    }

    /// Names of the entries that are not read.
    pub fn left(&self) -> &[String] {
        &self.folder.left
    }

    /// Reads the golds of an item. Together they take no more memory than one table may.
    pub fn read(&self, id: &str) -> Vec<Gold> {
        let mut cost = 0;
        let read = |name: String| {
            let file = self.folder.file(&name).unwrap_or(&self.folder.path);
            let table = read_table(file, usize::MAX).and_then(|table| {
                cost += table.cost;
                if cost > MAX_COST { Err(Unreadable::TooLarge { limit: MAX_COST }) } else { Ok(table) }
            });
            Gold { is_single: name == id, name, table }
        };
        self.names(id).into_iter().map(read).collect()
    }
}

/// The items of a folder that has no configuration.
fn items_of(folder: &ResultFolder) -> Vec<ItemConfig> {
    let mut items: Vec<ItemConfig> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for name in folder.names() {
        let id = base(name);
        places.entry(id.to_owned()).or_insert_with(|| {
            items.push(ItemConfig::new(id, Json::Null, true));
            items.len() - 1
        });
    }
    items
}

/// The id that a gold's name belongs to: without `_a` … `_z`.
fn base(name: &str) -> &str {
    let bare =
        name.strip_suffix(|last: char| last.is_ascii_lowercase()).and_then(|name| name.strip_suffix('_'));
    bare.filter(|bare| !bare.is_empty()).unwrap_or(name)
}
