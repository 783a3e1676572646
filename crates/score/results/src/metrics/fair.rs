//! `fair@1`: the same question as `spider2@1`, with rows that stay rows.
//!
//! # Contract
//! - A result is right if, for one of the golds, each gold column (of `condition_cols`, where there are any) has a column of the
//!   result of its own, such that the rows over these columns are the gold's: in its order, or each row as often, with
//!   `ignore_order`. Names of columns do not matter. Further columns are allowed, unless the rules say otherwise.
//! - NULL, which CSV writes as an empty field, equals only NULL. Numbers are equal within the tolerance or a billionth of the
//!   larger. `true` and `false` are equal whatever their case, and are no numbers. Other texts must be the same.
//! - A result that is not UTF-8, or has a row of another length than its header, is wrong, and the reason names the line.
//! - A gold that is missing, cannot be read, or lacks a column of `condition_cols` is the benchmark's failure and named. Without a
//!   gold that can be used there is no score. A search for columns that takes too long has none either.

use serde_json::Value as Json;

use super::rows::{Agreement, Cell, Search, cells};
use super::{ResultComparison, ResultMetric, ResultVerdict};
use crate::golds::Gold;
use crate::table::ResultFile;
use sqlgauge_base::counted;

/// The fair comparison.
pub(super) struct Fair;

impl ResultMetric for Fair {
    fn id(&self) -> &'static str {
        "fair@1"
    }

    fn score(&self, comparison: &ResultComparison<'_>) -> ResultVerdict {
        let golds = comparison.golds;
        let read = |(at, gold)| (at, gold_cells(gold, comparison.config.columns_for(at, golds.len())));
        let usable: Vec<_> = golds.iter().enumerate().map(read).collect();
        if usable.iter().all(|(_, gold)| gold.is_err()) {
            let reasons: Vec<&str> =
                usable.iter().filter_map(|(_, gold)| gold.as_ref().err()).map(String::as_str).collect();
            return ResultVerdict::unknown(if reasons.is_empty() {
                "no gold result".to_owned()
            } else {
                reasons.join("; ")
            });
        }
        let prediction = match comparison.prediction {
            Ok(prediction) => prediction,
            Err(error) => return ResultVerdict::of_unreadable(error),
        };
        if let Some(row) = prediction.ragged {
            let (line, fields, header) = (row.line, row.fields, row.header);
            return ResultVerdict::wrong(format!("line {line} has {fields} fields, the header has {header}"));
        }
        let columns = cells(prediction);
        let mut reason = String::new();
        for (at, gold) in usable {
            let Ok(gold) = gold else { continue };
            match decide(&gold, &columns, prediction, comparison) {
                Ok(()) => return ResultVerdict::right(at),
                Err(Some(why)) => reason = why,
                Err(None) => {
                    return ResultVerdict::unknown(
                        "too many ways to match the columns; set `condition_cols`",
                    );
                }
            }
        }
        ResultVerdict::wrong(reason)
    }
}

/// The columns of a gold that count.
fn gold_cells<'g>(gold: &'g Gold, columns: Option<&Json>) -> Result<Vec<Vec<Cell<'g>>>, String> {
    let name = &gold.name;
    let table = gold.table.as_ref().map_err(|error| format!("gold {name} {error}"))?;
    if let Some(row) = table.ragged {
        return Err(format!(
            "gold {name}: line {} has {} fields, the header has {}",
            row.line, row.fields, row.header
        ));
    }
    let mut all: Vec<Option<Vec<Cell<'g>>>> = cells(table).into_iter().map(Some).collect();
    let chosen: Vec<Json> = columns.and_then(Json::as_array).cloned().unwrap_or_default();
    if chosen.is_empty() {
        return Ok(all.into_iter().flatten().collect());
    }
    let missing = |column: &Json| {
        format!("gold {name} has no column {column} of `condition_cols`; it has {}", table.names.len())
    };
    let mut take = |column: &Json| {
        let at = column.as_u64().and_then(|at| usize::try_from(at).ok());
        let cells = at.and_then(|at| all.get_mut(at)).ok_or_else(|| missing(column))?;
        // A column that is named twice counts once.
        Ok::<_, String>(cells.take())
    };
    let lists: Vec<_> = chosen.iter().map(&mut take).collect::<Result<_, _>>()?;
    Ok(lists.into_iter().flatten().collect())
}

/// `Err` with why it does not agree, or without where nobody knows.
fn decide(
    gold: &[Vec<Cell<'_>>],
    columns: &[Vec<Cell<'_>>],
    prediction: &ResultFile,
    comparison: &ResultComparison<'_>,
) -> Result<(), Option<String>> {
    let rows = gold.first().map_or(0, Vec::len);
    if prediction.is_beginning || prediction.rows != rows {
        let at_least = if prediction.is_beginning { "at least " } else { "" };
        return Err(Some(format!("{at_least}{}, the gold has {rows}", counted(prediction.rows, "row"))));
    }
    if columns.len() < gold.len() || (columns.len() > gold.len() && !comparison.rules.extra_columns) {
        return Err(Some(format!("{}, the gold has {}", counted(columns.len(), "column"), gold.len())));
    }
    let mut search = Search::new(gold, columns, !comparison.config.ignore_order, comparison.rules.tolerance);
    match search.run() {
        Agreement::Yes => Ok(()),
        Agreement::TooMany => Err(None),
        Agreement::NoColumn(at) => {
            Err(Some(format!("no column of the result has the values of gold column {at}")))
        }
        Agreement::NoRows => {
            Err(Some("each column agrees alone, but the values stand in other rows".to_owned()))
        }
    }
}
