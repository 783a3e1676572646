//! A counterexample for a terminal: its tables with the columns that the queries read, what both return on it, and why.

use std::fmt::Write as _;

use sqlgauge_base::printable;
use sqlgauge_search::Minimality;
use sqlgauge_verify::{ResultTable, VerdictRecord};

use crate::ShowOptions;
use crate::formats::table::push_wrapped;
use crate::grid::{Shown, beside};
use crate::style::Painter;

/// What of it a sentence names; the record has all.
const NAMED: usize = 4;

/// Adds the counterexample of a record to the text.
pub(crate) fn write(record: &VerdictRecord, options: ShowOptions, text: &mut String) {
    let painter = Painter { colour: options.colour };
    for table in record.shown_tables() {
        let title = painter.bold(&format!("table {}", printable(&table.name)));
        if table.rows.rows.is_empty() {
            let _infallible = writeln!(text, "{title}  {}\n", painter.dim("no rows"));
            continue;
        }
        let _infallible = writeln!(text, "{title}");
        Shown::kept(&table.rows, options.rows).write(options, text);
    }
    if let (Some(gold), Some(prediction)) = (&record.left_result, &record.right_result) {
        let [gold, prediction] = [gold, prediction].map(|result| Shown::kept(result, options.rows));
        results(gold, prediction, options, text);
    }
    for sentence in counterexample_sentences(record) {
        push_wrapped(text, &printable(&sentence), options.width.into());
    }
}

/// Both results: single values in one line, else as tables beside each other.
pub(crate) fn results(gold: Shown, prediction: Shown, options: ShowOptions, text: &mut String) {
    if let (Some(gold), Some(prediction)) = (gold.single(), prediction.single()) {
        let title = Painter { colour: options.colour }.bold("results");
        let _infallible = writeln!(text, "{title}  gold {gold}, prediction {prediction}\n");
        return;
    }
    beside(("result of gold", gold), ("result of prediction", prediction), options, text);
}

/// Which values the verdict is about, and by which others the queries differ.
pub(crate) fn values_sentences(record: &VerdictRecord) -> Vec<String> {
    let mut sentences = Vec::new();
    match record.values.as_deref() {
        Some("any") => {
            sentences.push("Columns may hold any value, whatever their declared types.".to_owned());
        }
        Some(_) => {
            let free = record.free_columns.as_ref();
            let free = free.map_or_else(String::new, |free| {
                format!("; in {} any value, as in the given rows", free.join(", "))
            });
            sentences.push(format!(
                "Values have the types that columns declare, and no primary key is NULL{free}."
            ));
        }
        None => {}
    }
    if let Some(beyond) = &record.undeclared {
        sentences.push(format!("With values of other types the queries differ: {}.", beyond.join("; ")));
    }
    sentences
}

/// Why the results differ, and how far the database is to be believed.
pub fn counterexample_sentences(record: &VerdictRecord) -> Vec<String> {
    let words = record.words.as_ref().and_then(|words| words.sentence.clone());
    let mut sentences: Vec<String> = words.into_iter().chain(record.explanation.clone()).collect();
    sentences.extend(record.differs_on_database.map(|differs| {
        let outcome = if differs { "the results differ too" } else { "both return the same" };
        format!("On the given database {outcome}.")
    }));
    sentences.extend(choice_sentence(record));
    if let Some(needs) = &record.needs {
        sentences.push(format!("No plainer database was found: it needs {}.", needs.join(", ")));
    }
    let of = |all: &Option<Vec<String>>| listed(all.as_deref().unwrap_or_default());
    if let Some(is_realistic) = record.realistic {
        sentences.push(match (is_realistic, &record.kept) {
            (true, None) => "It is like the given rows.".to_owned(),
            (true, properties) => format!("Like the given rows: {}.", of(properties)),
            (false, _) => format!("Unlike the given rows: {}.", of(&record.not_kept)),
        });
    }
    if record.kept_unknown.is_some() {
        let of = of(&record.kept_unknown);
        sentences.push(format!("Whether it is like the given rows is not known: {of}."));
    }
    let of_that_name = |minimality: &Minimality| Some(minimality.name()) == record.minimal.as_deref();
    sentences.extend(Minimality::ALL.into_iter().find(of_that_name).map(|minimality| minimality.to_string()));
    if record.depends_on_clock {
        let sentence = "A query asks for the present time: on a different day the results may differ.";
        sentences.push(sentence.to_owned());
    }
    sentences.extend(values_sentences(record));
    sentences
}

/// That the prediction permits what the gold does not, where it may permit the gold's result too.
fn choice_sentence(record: &VerdictRecord) -> Option<String> {
    let alone = "On these rows the gold permits one result only.";
    match record.kind.as_deref()? {
        "permits-more" => {
            let other = record.other_right_result.as_ref().map(in_words).unwrap_or_default();
            Some(format!(
                "{alone} The prediction permits several: with the same rows in a different order SQLite returned {other}."
            ))
        }
        "permits-another" => Some(format!(
            "{alone} The prediction leaves SQLite a choice, and SQLite returned a different result."
        )),
        _ => None,
    }
}

/// A result in words: its value, its only row, or how many rows it has.
fn in_words(result: &ResultTable) -> String {
    match result.rows.as_slice() {
        [] => "no rows".to_owned(),
        [row] => row.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        rows => {
            let first = rows[0].iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            format!("{} rows, the first {first}", rows.len())
        }
    }
}

/// The beginning of a list, and how much there is more.
fn listed(all: &[String]) -> String {
    match all.len().checked_sub(NAMED) {
        Some(more @ 1..) => format!("{}; and {more} more", all[..NAMED].join("; ")),
        _ => all.join("; "),
    }
}
