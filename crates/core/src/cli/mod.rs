//! How a command line reads the settings of a job.
//!
//! A job is the one record of its settings: each field has its name, its default, its unit and the words of its help. With the
//! feature `cli` it is a group of arguments too (`clap::Args`); this module reads the values that are more than a word.

pub mod stdin;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser, ValueParserFactory};
use sqlgauge_base::regular;
use sqlgauge_dataset::FileFormat;
use sqlgauge_encode::InputForm;
use sqlgauge_engine::compare::Semantics;
use sqlgauge_names::Naturalness;
use sqlgauge_verify::{ColumnValues, OnlyStage};

use self::stdin::{as_given, input_file, source};
use crate::results::SystemResults;
use crate::robustness::SystemFolder;
use crate::same::VoteBy;
use crate::score::System;
use crate::source::Source;
use crate::subset::IdList;

/// A file; `-` is standard input.
impl ValueParserFactory for Source {
    type Parser = ValueParser;

    fn value_parser() -> ValueParser {
        ValueParser::new(|text: &str| input_file(text).map(source))
    }
}

/// A file with an id a line.
impl ValueParserFactory for IdList {
    type Parser = ValueParser;

    fn value_parser() -> ValueParser {
        ValueParser::new(ids)
    }
}

fn ids(text: &str) -> Result<IdList, String> {
    let path = input_file(text)?;
    let read = regular::read_to_string(&path);
    let text = read.map_err(|error| format!("the file cannot be read: {error}; check the path"))?;
    let ids = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned);
    Ok(IdList { ids: ids.collect(), are: Some(format!("of {}", as_given(&path).display())) })
}

/// `NAME=FILE`; a file alone is named by its stem. `NAME=-` is standard input.
impl ValueParserFactory for System {
    type Parser = ValueParser;

    fn value_parser() -> ValueParser {
        ValueParser::new(|text: &str| {
            let (name, path) = named_file(text)?;
            Ok::<_, String>(Self::new(name, source(path)))
        })
    }
}

impl ValueParserFactory for SystemFolder {
    type Parser = ValueParser;

    fn value_parser() -> ValueParser {
        ValueParser::new(|text: &str| named_file(text).map(|(name, folder)| Self { name, folder }))
    }
}

impl ValueParserFactory for SystemResults {
    type Parser = ValueParser;

    fn value_parser() -> ValueParser {
        ValueParser::new(|text: &str| named_file(text).map(|(name, path)| Self { name, path }))
    }
}

fn named_file(text: &str) -> Result<(String, PathBuf), String> {
    if text == "-" {
        return Err("predictions on standard input need a name: write NAME=-".to_owned());
    }
    let (name, path) = if let Some((name, path)) = text.split_once('=') {
        (name.trim().to_owned(), input_file(path)?)
    } else {
        let path = PathBuf::from(text);
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        (stem, path)
    };
    if name.is_empty() || path.as_os_str().is_empty() {
        return Err("write NAME=FILE, as in DAIL=preds/DAIL.sql".to_owned());
    }
    Ok((name, path))
}

/// Reads the name of a file format; the help lists all of them.
pub fn file_format() -> impl TypedValueParser<Value = FileFormat> {
    let names = FileFormat::all().map(|format| PossibleValue::new(format.name()).help(format.summary()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<FileFormat>())
}

/// Reads when two answers mean the same.
pub fn vote_by() -> impl TypedValueParser<Value = VoteBy> {
    PossibleValuesParser::new(VoteBy::ALL.map(VoteBy::name))
        .map(|name| VoteBy::ALL.into_iter().find(|by| by.name() == name).unwrap_or_default())
}

/// Reads the name of a contract; the help lists all of them.
pub(crate) fn semantics() -> impl TypedValueParser<Value = Semantics> {
    PossibleValuesParser::new(Semantics::ALL.map(Semantics::name)).try_map(|name| name.parse::<Semantics>())
}

/// Reads the name of the values of counterexamples; the help lists all of them.
pub(crate) fn column_values() -> impl TypedValueParser<Value = ColumnValues> {
    PossibleValuesParser::new(ColumnValues::ALL.map(ColumnValues::name))
        .try_map(|name| name.parse::<ColumnValues>())
}

/// Reads the name of a stage that decides alone.
pub(crate) fn only_stage() -> impl TypedValueParser<Value = OnlyStage> {
    PossibleValuesParser::new(OnlyStage::ALL.map(OnlyStage::name)).try_map(|name| name.parse::<OnlyStage>())
}

/// Reads how readable names are; the help lists the levels.
pub(crate) fn naturalness() -> impl TypedValueParser<Value = Naturalness> {
    PossibleValuesParser::new(Naturalness::ALL.map(Naturalness::name))
        .try_map(|name| name.parse::<Naturalness>())
}

/// Reads the name of what is encoded.
pub(crate) fn input_form(name: &str) -> Result<InputForm, String> {
    InputForm::from_name(name).ok_or_else(|| {
        let names = InputForm::ALL.map(InputForm::name).join(", ");
        format!("unknown form {name:?}; the forms are {names}")
    })
}

/// Reads two prices separated by a comma.
pub(crate) fn prices(text: &str) -> Result<(f64, f64), String> {
    text.split_once(',')
        .and_then(|(prompt, completion)| Some((prompt.trim().parse().ok()?, completion.trim().parse().ok()?)))
        .ok_or_else(|| "write two numbers, as in 1.25,10".to_owned())
}
