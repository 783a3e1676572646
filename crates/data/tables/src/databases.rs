//! SQLite files from staged tables.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;
use sqlgauge_names::NamesInUse;

use crate::analyse::Analysed;
use crate::cluster::Cluster;
use crate::foreign::{At, Inclusion, is_declared};
use crate::names::{Of, free, safe};
use crate::stage::ROWS;

/// A database to be written.
pub(crate) struct Planned {
    pub(crate) db_id: String,
    pub(crate) cluster: Cluster,
    pub(crate) names: BTreeMap<At, String>,
}

/// Names the databases and their tables. A database is called after its folder if it has all of the folder's tables, else
/// after the folder and the table that most others refer to, of several the first.
pub(crate) fn plan(tables: &[Analysed], clusters: Vec<Cluster>, keys: &[Inclusion]) -> Vec<Planned> {
    let mut of_folder: BTreeMap<&str, usize> = BTreeMap::new();
    for table in tables {
        *of_folder.entry(table.source.folder()).or_default() += 1;
    }
    let mut in_use = NamesInUse::default();
    let planned = clusters.into_iter().map(|cluster| {
        let folder = tables[cluster.files[0]].source.folder();
        let folder_name = folder.rsplit('/').next().filter(|name| !name.is_empty());
        let is_all = of_folder.get(folder) == Some(&cluster.files.len());
        let referred = |file: usize| {
            keys.iter().filter(|key| is_declared(key) && key.to.0 == file && key.from.0 != file).count()
        };
        let mut head = cluster.files[0];
        for &file in &cluster.files {
            if referred(file) > referred(head) {
                head = file;
            }
        }
        let table = &tables[head].parts[0].name;
        let name = match folder_name {
            Some(folder_name) if is_all && cluster.files.len() > 1 => folder_name.to_owned(),
            Some(folder_name) => format!("{folder_name}_{table}"),
            None => table.clone(),
        };
        let safe = safe(&name, Of::Table).unwrap_or_else(|| "tables".to_owned());
        let db_id = free(&safe.to_lowercase(), &mut in_use);
        let names = table_names(tables, &cluster);
        Planned { db_id, cluster, names }
    });
    planned.collect()
}

/// The tables of files first, then those that were split off, each with a name of its own.
fn table_names(tables: &[Analysed], cluster: &Cluster) -> BTreeMap<At, String> {
    let mut in_use = NamesInUse::default();
    let mut parts: Vec<At> = cluster
        .files
        .iter()
        .flat_map(|&file| (0..tables[file].parts.len()).map(move |part| (file, part)))
        .collect();
    parts.sort_by_key(|&(file, part)| (part > 0, file, part));
    parts.into_iter().map(|at| (at, free(&tables[at.0].parts[at.1].name, &mut in_use))).collect()
}

pub(crate) fn write(
    path: &Path,
    planned: &Planned,
    tables: &[Analysed],
    keys: &[Inclusion],
) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    // Nobody reads it before it is whole.
    connection
        .execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;")?;
    for file in &planned.cluster.files {
        connection.execute("ATTACH ?1 AS staged", [tables[*file].path.to_string_lossy()])?;
        connection.execute_batch("BEGIN")?;
        for at in planned.names.keys().filter(|at| at.0 == *file) {
            connection.execute_batch(&create(*at, planned, tables, keys))?;
            connection.execute_batch(&copy(*at, planned, tables))?;
        }
        connection.execute_batch("COMMIT")?;
        connection.execute_batch("DETACH staged")?;
    }
    connection.execute_batch("PRAGMA foreign_key_check")?;
    connection.close().map_err(|(_, error)| error)
}

/// Names are safe: none needs quotes.
fn create(at: At, planned: &Planned, tables: &[Analysed], keys: &[Inclusion]) -> String {
    let (table, part) = (&tables[at.0], &tables[at.0].parts[at.1]);
    let mut lines: Vec<String> = Vec::new();
    let key = part.key.as_deref().unwrap_or_default();
    for &column in &part.columns {
        let kind = table.typing[column].kind.name();
        let is_referred_to =
            || keys.iter().any(|foreign| foreign.to == at && foreign.key == [column] && is_declared(foreign));
        let constraint = if key == [column] {
            " PRIMARY KEY"
        } else if part.is_key(column) && is_referred_to() {
            " NOT NULL UNIQUE"
        } else if table.traits[column].nulls == 0 {
            " NOT NULL"
        } else {
            ""
        };
        lines.push(format!("    {} {kind}{constraint}", table.column(column)));
    }
    if key.len() > 1 {
        lines.push(format!("    PRIMARY KEY ({})", table.columns(key).join(", ")));
    }
    for foreign in keys.iter().filter(|foreign| foreign.from == at && is_declared(foreign)) {
        let Some(to) = planned.names.get(&foreign.to) else { continue };
        let columns = table.columns(&foreign.columns).join(", ");
        let others = tables[foreign.to.0].columns(&foreign.key).join(", ");
        lines.push(format!("    FOREIGN KEY ({columns}) REFERENCES {to} ({others})"));
    }
    format!("CREATE TABLE {} (\n{}\n)", planned.names[&at], lines.join(",\n"))
}

fn copy(at: At, planned: &Planned, tables: &[Analysed]) -> String {
    let part = &tables[at.0].parts[at.1];
    let columns: Vec<String> = part.columns.iter().map(|column| format!("c{column}")).collect();
    let columns = columns.join(", ");
    let rows = match part.split {
        // The key has a row for each value: a value with two would not get past the primary key.
        Some(split) => {
            let key = format!("c{}", split.determinant);
            format!("SELECT DISTINCT {columns} FROM staged.{ROWS} WHERE {key} IS NOT NULL ORDER BY {key}")
        }
        None => format!("SELECT {columns} FROM staged.{ROWS} ORDER BY rowid"),
    };
    format!("INSERT INTO main.{} {rows}", planned.names[&at])
}
