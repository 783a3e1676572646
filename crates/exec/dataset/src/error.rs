//! Everything that can be wrong with an input: each error is one sentence that names the thing and the remedy.

use std::path::PathBuf;

use crate::columns::ColumnRole;

/// Why a file could not be read as what it was given as.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The format is left out of this build.
    #[error("{path}: {missing}")]
    NotBuiltIn {
        path: PathBuf,
        /// What builds it in.
        missing: sqlgauge_base::NotBuiltIn,
    },
    /// The operating system refused.
    #[error("cannot read {path}: {source}; check that the path is right and that you may read it")]
    Read {
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The file, or what it decompresses to, is larger than the guard.
    #[error("{path} holds more than {limit} bytes, the most that is read; split it into several files")]
    TooLarge {
        path: PathBuf,
        /// The guard in bytes.
        limit: u64,
    },
    /// The content is not what its format demands.
    #[error("{path}, {place}: {problem}; {remedy}")]
    Malformed {
        path: PathBuf,
        /// `line 3`, `line 3 column 7`, `entry 17 (counted from 0)`, `key "17"`.
        place: String,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
    /// The whole file is not what it was given as.
    #[error("{path} {problem}; {remedy}")]
    NotReadable {
        path: PathBuf,
        /// What is wrong, as the rest of a sentence: `has no example`.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
    #[error("unknown format {name:?}; use one of {formats}")]
    UnknownFormat { name: String, formats: String },
    /// No column has that role.
    #[error("unknown column role {name:?}; use one of {roles}, as in gold=new_sql")]
    UnknownRole { name: String, roles: String },
    /// An item lacks a value that it needs.
    #[error(
        "{path}, {place}: no {role}; it is looked for in {accepted}, and there is {present}; name the column that \
         has it with --column {}=NAME", role.name()
    )]
    MissingField {
        path: PathBuf,
        /// The item.
        place: String,
        role: ColumnRole,
        /// The names that are understood.
        accepted: String,
        /// The columns that the item has.
        present: String,
    },
    /// A column was asked for by name and no item has it.
    #[error("{path} has no column {column:?} for the {role}; it has {present}: name one of them with --column {0}=NAME, or for golds or predictions alone with --column gold.{0}=NAME and pred.{0}=NAME", role.name())]
    NoSuchColumn {
        path: PathBuf,
        /// As asked for.
        column: String,
        role: ColumnRole,
        /// Columns of the first item.
        present: String,
    },
    /// Two items have one id.
    #[error("{path}: the id {id:?} occurs twice, in {first} and in {second}; remove one of them")]
    DuplicateId {
        path: PathBuf,
        id: String,
        /// Where it occurs first.
        first: String,
        /// Where it occurs again.
        second: String,
    },
    /// Two answers of a file have one id.
    #[error(
        "{path}: the id {id:?} occurs twice, in {first} and in {second}; remove one of them, or, if they are several answers to one question, give them to `score --k` or `vote`"
    )]
    AnsweredTwice { path: PathBuf, id: String, first: String, second: String },
    /// Predictions for examples that the benchmark does not have.
    #[error(
        "{path}: {count} of its ids are not in the benchmark: {listed}; check that the predictions belong to this benchmark (its ids look like {sample}); if they answer more questions, take out the others, or give the larger benchmark and a part of it by --db-id or --ids"
    )]
    UnknownIds {
        /// The predictions.
        path: PathBuf,
        /// How many ids.
        count: usize,
        /// The first of them, with the ids that they may be meant as.
        listed: String,
        /// Some of the benchmark's ids.
        sample: String,
    },
    /// Rows that say that they are of another example than the one that they are paired with.
    #[error(
        "{path}: {rows}: {examples}; name the column that has the ids with --column pred.id=NAME, or take out the column with the {what}"
    )]
    TextsOfOthers {
        path: PathBuf,
        /// `17 rows with the question of another example than theirs, paired by position`.
        rows: String,
        /// `question` or `gold`.
        what: &'static str,
        /// The first two of them.
        examples: String,
    },
    /// Items are matched by position, and their number is not the number of examples.
    #[error("{path} has {count}, but {other} has {expected}; {remedy}")]
    CountMismatch {
        path: PathBuf,
        /// What it has: `1030 lines (3 of them blank)`.
        count: String,
        /// What it is held against.
        other: String,
        /// What that has: `1034 examples`.
        expected: String,
        /// What to do about it.
        remedy: String,
    },
    /// Two files that should say the same do not.
    #[error("{path}, {place}: {claim}, but {expected}; the two do not belong together or are shifted")]
    Disagreement {
        path: PathBuf,
        /// Where they first differ.
        place: String,
        /// What the file says.
        claim: String,
        /// What the other file says, with its name.
        expected: String,
    },
    #[error("no database for db_id {db_id:?}: looked for {looked_for} in {folder}{closest}")]
    UnknownDatabase {
        db_id: String,
        looked_for: String,
        /// The folder searched.
        folder: PathBuf,
        /// `; the closest names there are …`, or a remedy.
        closest: String,
    },
    /// No database is named, and a folder is given.
    #[error(
        "no db_id is given, and {folder} holds {databases}; name the database of each question, or give one file"
    )]
    NoDatabaseNamed {
        folder: PathBuf,
        /// How many databases are in it.
        databases: String,
    },
}
