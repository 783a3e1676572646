//! Triggers: those that name no changed table are kept as they are, the others are left out by name.

use std::collections::{BTreeSet, HashSet};

use sqlgauge_sql::ddl::words;
use sqlgauge_sql::schema::Schema;

use crate::perturbations::Probe;

pub(crate) struct Triggers {
    /// The statements that create what is kept.
    pub(crate) statements: Vec<String>,
    /// What is not, by name.
    pub(crate) left_out: Vec<String>,
}

/// The triggers of a database, some of whose tables change.
pub(crate) fn of(probe: &Probe<'_>, schema: &Schema, changed: &BTreeSet<usize>) -> Triggers {
    let changed: HashSet<String> =
        changed.iter().filter_map(|&at| Some(schema.tables().get(at)?.name.to_ascii_lowercase())).collect();
    let mut triggers = Triggers { statements: Vec::new(), left_out: Vec::new() };
    let rows = probe.rows("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid");
    for row in rows.iter().flat_map(|rows| rows.rows()) {
        let [name, sql] = row else { continue };
        let (Some(name), Some(sql)) = (name.as_str(), sql.as_str()) else { continue };
        if words(sql).any(|word| changed.contains(&word.to_ascii_lowercase())) {
            triggers.left_out.push(format!("trigger {name}"));
        } else {
            triggers.statements.push(sql.to_owned());
        }
    }
    triggers
}
