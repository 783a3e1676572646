//! Analyses a staged file: its splits into tables, and their keys.

use crate::input::{Reading, Source};
use crate::keys::{self, KeyChoice, Steps, Subject};
use crate::names::{Of, entity, safe};
use crate::normalise::{Columns, Fragment, Split, normalise};
use crate::options::TablesOptions;
use crate::profile::Traits;
use crate::report::{KeySearch, Lines};
use crate::stage::Staged;
use crate::values::Typing;

/// A file with its tables. Its rows are in the staged file.
pub(crate) struct Analysed {
    pub(crate) source: Source,
    pub(crate) path: std::path::PathBuf,
    pub(crate) reading: Reading,
    pub(crate) rows: u64,
    pub(crate) duplicate_rows: Lines,
    pub(crate) empty_columns: Vec<String>,
    pub(crate) names: Vec<(String, Option<String>)>,
    pub(crate) typing: Vec<Typing>,
    pub(crate) traits: Vec<Traits>,
    pub(crate) digest: u128,
    /// The first is what is left of the file's table.
    pub(crate) parts: Vec<TablePart>,
    pub(crate) key_choice: KeyChoice,
    pub(crate) dependencies: KeySearch,
}

/// A table that a file becomes, or one that was split off.
pub(crate) struct TablePart {
    /// Its name, as long as no other table of its database has it.
    pub(crate) name: String,
    /// Its columns, by their place among those of the file.
    pub(crate) columns: Vec<usize>,
    pub(crate) split: Option<Split>,
    pub(crate) key: Option<Vec<usize>>,
    /// Other columns that tell its rows apart and could be the key.
    pub(crate) alternatives: Vec<usize>,
    pub(crate) rows: u64,
}

impl TablePart {
    /// What may be referred to.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &[usize]> {
        self.key.as_deref().into_iter().chain(self.alternatives.chunks(1))
    }

    /// Whether a column tells its rows apart.
    pub(crate) fn is_key(&self, column: usize) -> bool {
        self.targets().any(|key| key == [column])
    }
}

impl Analysed {
    pub(crate) fn column(&self, at: usize) -> &str {
        &self.names[at].0
    }

    pub(crate) fn columns(&self, at: &[usize]) -> Vec<String> {
        at.iter().map(|&at| self.column(at).to_owned()).collect()
    }
}

/// Splits a staged table and looks for keys. The numbers of its values are given free.
pub(crate) fn analyse(source: Source, staged: Staged, options: &TablesOptions) -> Analysed {
    let mut steps = Steps(options.search_steps);
    let names: Vec<String> = staged.names.iter().map(|(name, _)| name.clone()).collect();
    let columns = Columns { names: &names, codes: &staged.codes, traits: &staged.traits };
    let (fragments, dependencies) = if options.normalise {
        normalise(&columns, &mut steps)
    } else {
        (vec![Fragment { columns: (0..names.len()).collect(), split: None }], KeySearch::Complete)
    };
    let table = safe(&source.stem(), Of::Table).unwrap_or_else(|| "data".to_owned());
    let subject = Subject {
        table: &table,
        columns: fragments[0]
            .columns
            .iter()
            .map(|&at| (at, names[at].as_str(), &staged.codes[at], &staged.traits[at]))
            .collect(),
        rows: staged.rows,
    };
    let key_choice = keys::search(&subject, options, &mut steps);
    let parts =
        fragments.iter().map(|fragment| part(fragment, &table, &names, &staged, &key_choice)).collect();
    Analysed {
        source,
        path: staged.path,
        reading: staged.reading,
        rows: staged.rows as u64,
        duplicate_rows: staged.duplicate_rows,
        empty_columns: staged.empty_columns,
        names: staged.names,
        typing: staged.typing,
        traits: staged.traits,
        digest: staged.digest,
        parts,
        key_choice,
        dependencies,
    }
}

fn part(
    fragment: &Fragment,
    table: &str,
    names: &[String],
    staged: &Staged,
    key_choice: &KeyChoice,
) -> TablePart {
    let (name, key, rows) = match fragment.split {
        None => (table.to_owned(), key_choice.key.as_ref().map(|(key, _)| key.clone()), staged.rows as u64),
        Some(split) => {
            let key = split.determinant;
            (entity(&names[key]), Some(vec![key]), staged.traits[key].distinct)
        }
    };
    let alternatives = if fragment.split.is_none() { key_choice.alternatives.clone() } else { Vec::new() };
    TablePart { name, columns: fragment.columns.clone(), split: fragment.split, key, alternatives, rows }
}
