//! Shadow tables: ordinary tables in which a virtual table keeps its content (`docs_idx` of the FTS5 table `docs`).
//!
//! SQLite's rule (`xShadowName` of its modules): the name is that of a virtual table, `_`, and a word that its
//! module reserves; case does not matter. `PRAGMA table_list` knows it too, but first compiles every view.

use std::collections::HashMap;

/// The words that a module reserves.
fn suffixes(module: &str) -> &'static [&'static str] {
    match module {
        "fts5" => &["config", "content", "data", "docsize", "idx"],
        "fts3" | "fts4" => &["content", "docsize", "segdir", "segments", "stat"],
        "rtree" | "rtree_i32" | "geopoly" => &["node", "parent", "rowid"],
        _ => &[],
    }
}

/// The virtual tables of a catalog, by lower-case name: the words of their modules.
#[derive(Debug, Default)]
pub(super) struct Owners(HashMap<String, &'static [&'static str]>);

impl Owners {
    /// Notes a virtual table of the catalog.
    pub(super) fn add(&mut self, name: &str, module: &str) {
        self.0.insert(name.to_ascii_lowercase(), suffixes(&module.to_ascii_lowercase()));
    }

    /// Whether the table of that name belongs to a virtual table.
    pub(super) fn contains(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let parts = name.rsplit_once('_');
        let words = parts.and_then(|(owner, word)| Some((self.0.get(owner)?, word)));
        words.is_some_and(|(reserved, word)| reserved.contains(&word))
    }
}
