//! The whole way: files, staged files, analysed tables, databases, report.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use sqlgauge_base::file::AtomicFolder;

use crate::REPORT_FILE;
use crate::analyse::{Analysed, analyse};
use crate::cluster::cluster;
use crate::databases::{self, Planned, plan};
use crate::error::TablesError;
use crate::foreign::{At, Inclusion, foreign_keys, is_declared};
use crate::input::{ENDINGS, NotRead, Refused, Source, find};
use crate::options::TablesOptions;
use crate::report::{
    ColumnRecord, DatabaseRecord, FileOutcome, FileRecord, FileRefusal, ForeignKeyRecord, KeyRecord,
    SplitRecord, TableRecord, TablesReport,
};
use crate::stage::stage;

/// Makes databases of the tables below a folder, and writes them with the report into a new folder.
///
/// Threads are those of the rayon pool that it is called in.
///
/// # Errors
/// When the folder has no table that could be used, or cannot be read, and when `out` is not empty or cannot be written. A
/// file that cannot be used or read is not an error but a [`FileOutcome::Refused`], unless the options are strict.
pub fn build(inputs: &Path, out: &Path, options: &TablesOptions) -> Result<TablesReport, TablesError> {
    let sources = find(inputs)?;
    if !sources.iter().any(Source::is_table) {
        return Err(TablesError::NoTables {
            path: inputs.to_owned(),
            endings: format!(".{}", ENDINGS.join(", .")),
        });
    }
    let written = |path: &Path| {
        let path = path.to_owned();
        move |source| TablesError::Write { path, source }
    };
    let folder = AtomicFolder::create(out).map_err(written(out))?;
    let staging = tempfile::tempdir_in(folder.path()).map_err(written(out))?;
    let (mut refused, tables) = analysed(&sources, staging.path(), options)?;
    let (tables, doubles) = without_doubles(tables);
    refused.extend(doubles);
    if tables.is_empty() {
        return Err(none_left(inputs, &sources, &refused));
    }
    let mut keys = foreign_keys(&tables, options)?;
    let clusters = cluster(&tables, &mut keys, options);
    let mut planned = plan(&tables, clusters, &keys);
    planned.sort_by(|one, other| one.db_id.cmp(&other.db_id));
    planned.par_iter().try_for_each(|database| {
        let subfolder = folder.path().join(&database.db_id);
        std::fs::create_dir(&subfolder).map_err(written(&subfolder))?;
        let path = subfolder.join(format!("{}.sqlite", database.db_id));
        databases::write(&path, database, &tables, &keys)
            .map_err(|source| TablesError::Database { path, source })
    })?;
    let report = report(&sources, refused, &tables, &keys, &planned);
    save(&folder.path().join(REPORT_FILE), &report).map_err(written(out))?;
    staging.close().map_err(written(out))?;
    folder.commit().map_err(written(out))?;
    Ok(report)
}

/// Most sets of columns that a record lists.
const MOST_SETS: usize = 20;

/// What was refused, by the place of its file.
type RefusedFiles = HashMap<usize, Refused>;

/// Stages and analyses every file that is a table by its name.
fn analysed(
    sources: &[Source],
    staging: &Path,
    options: &TablesOptions,
) -> Result<(RefusedFiles, Vec<(usize, Analysed)>), TablesError> {
    let one = |(at, source): (usize, &Source)| {
        if !source.is_table() && !source.is_folder() {
            return Ok(Err(not_a_table(source)));
        }
        let path: PathBuf = staging.join(format!("{at}.sqlite"));
        let outcome = match &source.closed {
            Some(refused) => Err(refused.clone().into()),
            None => stage(source, &path, options),
        };
        match outcome {
            Ok(staged) => Ok(Ok(analyse(source.clone(), staged, options))),
            Err(NotRead::Refused(refused)) if options.strict && refused.reason.is_unreadable() => {
                Err(TablesError::UnreadableFile { path: source.path.clone(), detail: refused.detail })
            }
            Err(NotRead::Refused(refused)) => {
                let _ = std::fs::remove_file(&path);
                Ok(Err(refused))
            }
            Err(NotRead::Ended(error)) => Err(error),
        }
    };
    let outcomes: Vec<Result<Analysed, Refused>> =
        sources.par_iter().enumerate().map(one).collect::<Result<_, TablesError>>()?;
    let (mut refused, mut tables) = (HashMap::new(), Vec::new());
    for (at, outcome) in outcomes.into_iter().enumerate() {
        match outcome {
            Ok(table) => tables.push((at, table)),
            Err(reason) => drop(refused.insert(at, reason)),
        }
    }
    Ok((refused, tables))
}

fn not_a_table(source: &Source) -> Refused {
    let ending = if source.ending.is_empty() { "nothing".to_owned() } else { format!(".{}", source.ending) };
    Refused::new(
        FileRefusal::NotATable,
        format!("its name ends in {ending}; tables end in .{}", ENDINGS.join(", .")),
    )
}

/// Leaves out tables that repeat an earlier one.
fn without_doubles(tables: Vec<(usize, Analysed)>) -> (Vec<Analysed>, RefusedFiles) {
    let mut seen: HashMap<u128, String> = HashMap::new();
    let (mut unique, mut doubles) = (Vec::new(), HashMap::new());
    for (at, table) in tables {
        if let Some(first) = seen.get(&table.digest) {
            doubles.insert(
                at,
                Refused::new(
                    FileRefusal::DuplicateTable,
                    format!("its names and rows are the same as in {first}"),
                ),
            );
        } else {
            seen.insert(table.digest, table.source.name.clone());
            unique.push(table);
        }
    }
    (unique, doubles)
}

fn none_left(inputs: &Path, sources: &[Source], refused: &RefusedFiles) -> TablesError {
    // The error of a table says more than that another file is not a table.
    let at = (0..sources.len()).find(|&at| sources[at].is_table()).unwrap_or(0);
    let first = refused.get(&at).map(|refused| format!("{}: {}", sources[at].name, refused.detail));
    TablesError::AllRefused {
        path: inputs.to_owned(),
        count: sources.len(),
        first: first.unwrap_or_default(),
    }
}

fn save(path: &Path, report: &TablesReport) -> std::io::Result<()> {
    let mut text = Vec::new();
    for record in report.records() {
        serde_json::to_writer(&mut text, &record)?;
        text.push(b'\n');
    }
    std::fs::File::create(path)?.write_all(&text)
}

fn report(
    sources: &[Source],
    mut refused: RefusedFiles,
    tables: &[Analysed],
    keys: &[Inclusion],
    planned: &[Planned],
) -> TablesReport {
    let place: HashMap<&str, usize> =
        tables.iter().enumerate().map(|(at, table)| (table.source.name.as_str(), at)).collect();
    let database: HashMap<usize, &Planned> = planned
        .iter()
        .flat_map(|planned| planned.cluster.files.iter().map(move |&file| (file, planned)))
        .collect();
    let name =
        |at: At| database.get(&at.0).and_then(|planned| planned.names.get(&at)).cloned().unwrap_or_default();
    let files = sources.iter().enumerate().map(|(at, source)| {
        let used = place.get(source.name.as_str()).and_then(|&file| Some((file, *database.get(&file)?)));
        let outcome = if let Some((file, planned)) = used {
            FileOutcome::Used(Box::new(table_record(file, &tables[file], planned, &name)))
        } else {
            let nothing = || Refused::new(FileRefusal::NotATable, "");
            let Refused { reason, detail } = refused.remove(&at).unwrap_or_else(nothing);
            FileOutcome::Refused { reason, detail }
        };
        FileRecord { file: source.name.clone(), outcome }
    });
    TablesReport {
        files: files.collect(),
        foreign_keys: keys.iter().map(|key| key_record(key, tables, &name)).collect(),
        databases: planned.iter().map(|planned| database_record(planned, tables, keys)).collect(),
    }
}

fn table_record(
    file: usize,
    table: &Analysed,
    planned: &Planned,
    name: &dyn Fn(At) -> String,
) -> TableRecord {
    let columns = table.names.iter().enumerate().map(|(at, (name, was))| ColumnRecord {
        name: name.clone(),
        was: was.clone(),
        kind: table.typing[at].kind,
        doubt: table.typing[at].reason.as_ref().map(|reason| reason.doubt),
        examples: table.typing[at].reason.iter().flat_map(|reason| reason.examples.clone()).collect(),
        unit: table.typing[at].unit.clone(),
        nulls: table.traits[at].nulls,
        distinct: table.traits[at].distinct,
    });
    let splits = table.parts.iter().enumerate().filter_map(|(at, part)| {
        let split = part.split?;
        let dependents: Vec<usize> =
            part.columns.iter().copied().filter(|column| *column != split.determinant).collect();
        Some(SplitRecord {
            table: name((file, at)),
            from: name((file, split.from)),
            determinant: table.column(split.determinant).to_owned(),
            dependents: table.columns(&dependents),
            rows: part.rows,
            log10_chance: split.log10_chance,
        })
    });
    TableRecord {
        db_id: planned.db_id.clone(),
        table: name((file, 0)),
        rows: table.rows,
        encoding: table.reading.encoding,
        delimiter: table.reading.delimiter,
        header: table.reading.header,
        ragged: table.reading.ragged.clone(),
        duplicate_rows: table.duplicate_rows.clone(),
        empty_columns: table.empty_columns.clone(),
        columns: columns.collect(),
        key: KeyRecord {
            columns: table.key_choice.key.as_ref().map(|(key, _)| table.columns(key)),
            score: table.key_choice.key.as_ref().map(|(_, score)| *score),
            alternatives: table.columns(&table.key_choice.alternatives),
            minimal: table.key_choice.minimal.iter().take(MOST_SETS).map(|set| table.columns(set)).collect(),
            minimal_sets: table.key_choice.minimal.len(),
            search: table.key_choice.search,
        },
        splits: splits.collect(),
        dependencies: table.dependencies,
    }
}

fn key_record(key: &Inclusion, tables: &[Analysed], name: &dyn Fn(At) -> String) -> ForeignKeyRecord {
    let (from, to) = (&tables[key.from.0], &tables[key.to.0]);
    ForeignKeyRecord {
        file: from.source.name.clone(),
        table: name(key.from),
        columns: from.columns(&key.columns),
        to_file: to.source.name.clone(),
        to_table: name(key.to),
        to_columns: to.columns(&key.key),
        outcome: key.outcome,
        values: key.values,
        missing: key.missing,
        scores: key.scores,
    }
}

fn database_record(planned: &Planned, tables: &[Analysed], keys: &[Inclusion]) -> DatabaseRecord {
    let of = |at: &At| planned.names.contains_key(at);
    DatabaseRecord {
        db_id: planned.db_id.clone(),
        tables: planned
            .names
            .iter()
            .map(|(at, name)| (name.clone(), tables[at.0].parts[at.1].rows))
            .collect(),
        foreign_keys: keys.iter().filter(|key| is_declared(key) && of(&key.from) && of(&key.to)).count(),
        together_by: planned.cluster.by.iter().map(|by| (*by).to_owned()).collect(),
    }
}
