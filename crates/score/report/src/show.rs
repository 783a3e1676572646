//! One item for a terminal: the question, both queries with their differences, both results, every metric
//! with its reason.

use std::fmt::Write as _;

use sqlgauge_base::printable;
use sqlgauge_engine::ResultSet;
use sqlgauge_run::{EarlierRecord, Item, Reason};
use sqlgauge_verify::ResultTable;

use crate::diff::side_by_side;
use crate::formats::table::push_wrapped;
use crate::grid::{Shown, append, book_table};
use crate::style::Painter;
use crate::words::status;
use crate::{ItemView, counterexample, number};

/// How to show an item.
#[derive(Debug, Clone, Copy)]
pub struct ShowOptions {
    /// Columns of the terminal; at least 40 are used.
    pub width: u16,
    /// Whether to use ANSI colours.
    pub colour: bool,
    pub rows: usize,
}

impl Default for ShowOptions {
    fn default() -> Self {
        Self { width: 100, colour: false, rows: 10 }
    }
}

/// The item as text that ends with a line feed. Where a result is not given, the beginning that the item's
/// details carry is shown, if they do. The metrics stand in that order, those that it does not name behind.
pub fn show(
    item: &Item,
    why: Option<&Reason>,
    gold_result: Option<&ResultSet>,
    prediction_result: Option<&ResultSet>,
    order: &[String],
    options: ShowOptions,
) -> String {
    let view = ItemView::new(item);
    let painter = Painter { colour: options.colour };
    let mut text = String::new();
    heading(view, painter, &mut text);
    earlier_queries(view, painter, &mut text);
    queries(view, options, &mut text);
    if let Some(why) = why.and_then(Reason::words) {
        let why = format!("why  {}", printable(&why));
        push_wrapped(&mut text, &why, options.width.into());
        text.push('\n');
    }
    let of_rows = |result: Option<&ResultSet>| result.map(|result| Shown::of(result, options.rows));
    let of_log = |result: Option<&ResultTable>| result.map(|result| Shown::kept(result, options.rows));
    let gold = of_rows(gold_result).or_else(|| of_log(view.gold_result()));
    let prediction = of_rows(prediction_result).or_else(|| of_log(view.prediction_result()));
    match (gold, prediction) {
        (Some(gold), Some(prediction)) => counterexample::results(gold, prediction, options, &mut text),
        (gold, prediction) => {
            for (name, result) in [("gold", gold), ("prediction", prediction)] {
                if let Some(result) = result {
                    let _infallible = writeln!(text, "{}", painter.bold(&format!("result of {name}")));
                    result.write(options, &mut text);
                }
            }
        }
    }
    counterexample(view, options, &mut text);
    metrics(view, order, options, &mut text);
    text
}

fn heading(view: ItemView<'_>, painter: Painter, text: &mut String) {
    let item = view.item;
    let mut labels = vec![printable(&item.db_id), status(&item.status)];
    for (name, level) in [("hardness", view.hardness()), ("difficulty", view.difficulty())] {
        labels.extend(level.map(|level| format!("{name} {}", printable(level))));
    }
    labels.extend(view.depends_on().iter().map(|what| format!("depends on {}", printable(what))));
    let title = format!("{} · item {}", printable(&item.system), printable(&item.id));
    let _infallible = writeln!(text, "{}  {}\n", painter.bold(&title), painter.dim(&labels.join(" · ")));
    for (label, body) in [
        ("question", view.question()),
        ("evidence", view.evidence()),
        ("error", view.error()),
        ("gold error", view.gold_error()),
    ] {
        if let Some(body) = body {
            let _infallible = writeln!(text, "{}  {}", painter.dim(label), printable(body));
        }
    }
    text.push('\n');
}

/// The queries of a transcript before the prediction, and what became of each.
fn earlier_queries(view: ItemView<'_>, painter: Painter, text: &mut String) {
    let Some(EarlierRecord { last, omitted }) = view.earlier_queries() else { return };
    for (number, query) in (omitted + 1..).zip(last) {
        let outcome = match query.right {
            Some(true) => "right".to_owned(),
            Some(false) if query.status == "ok" => "wrong".to_owned(),
            _ => status(&query.status),
        };
        let label = format!("query {number} of {}: {outcome}", omitted + last.len() + 1);
        let _infallible = writeln!(text, "{}\n{}\n", painter.dim(&label), printable(&query.sql));
    }
}

fn queries(view: ItemView<'_>, options: ShowOptions, text: &mut String) {
    let prediction = view.prediction().unwrap_or_default();
    let golds = view.golds();
    for gold in &golds {
        text.push_str(&side_by_side(gold, prediction, usize::from(options.width), options.colour));
        text.push('\n');
    }
    if golds.is_empty() && !prediction.is_empty() {
        let _infallible = writeln!(text, "{}\n", printable(prediction));
    }
}

/// The database that tells the prediction from the gold, where the item has one, and what both return on it.
fn counterexample(view: ItemView<'_>, options: ShowOptions, text: &mut String) {
    let Some(record) = view.item.details.verdict.as_ref().filter(|record| record.witness.is_some()) else {
        return;
    };
    let painter = Painter { colour: options.colour };
    let difference = record.difference.as_deref().map(printable).unwrap_or_default();
    let _infallible = writeln!(text, "{}  {difference}", painter.bold("counterexample"));
    counterexample::write(record, options, text);
    text.push('\n');
}

fn metrics(view: ItemView<'_>, order: &[String], options: ShowOptions, text: &mut String) {
    let mut table = book_table(options);
    table.set_header(["metric", "score", "why"]);
    let mut scores: Vec<(&String, &Option<f64>)> = view.item.metrics.iter().collect();
    scores.sort_by_key(|(metric, _)| order.iter().position(|named| named == *metric).unwrap_or(order.len()));
    for (metric, score) in scores {
        let reason = view.reason(metric).unwrap_or_default();
        table.add_row([printable(metric), number::item(*score), printable(&reason)]);
    }
    append(&table, text);
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sqlgauge_engine::Value;

    use super::*;

    fn item() -> Item {
        let details = json!({
            "question": "Which boats are longer than twelve metres?",
            "gold": "SELECT name FROM boat WHERE length_m > 12",
            "prediction": "SELECT name FROM boat WHERE length_m >= 12",
            "hardness": "easy",
            "metrics": {"ex@1": {"reason": "the prediction returns 3 rows, the gold 2"}},
        });
        serde_json::from_value(json!({
            "system": "North", "id": "17", "index": 17, "db_id": "harbour", "status": "ok",
            "metrics": {"ex@1": 0.0, "soft-f1@1": 0.8, "ves@1": null}, "details": details,
        }))
        .unwrap()
    }

    #[test]
    fn an_item_is_shown_with_both_results() {
        let columns = || vec!["name".to_owned()];
        let gold = ResultSet::new(columns(), vec![Value::text("Tern"), Value::Null]);
        let prediction = ResultSet::new(
            columns(),
            vec![Value::text("Tern"), Value::Blob([1, 255].into()), Value::Real(12.0)],
        );
        let options = ShowOptions { width: 72, colour: false, rows: 2 };
        insta::assert_snapshot!(show(&item(), None, Some(&gold), Some(&prediction), &[], options), @r"
        North · item 17  harbour · runs · hardness easy

        question  Which boats are longer than twelve metres?

        gold                               │ prediction
        ────────────────────────────────── │ ──────────────────────────────────
        SELECT name                        │ SELECT name
        FROM boat                          │ FROM boat
        WHERE length_m [->-] 12            │ WHERE length_m {+>=+} 12

        result of gold   result of prediction
        ──────           ─────────
         name             name
        ══════           ═════════
         Tern             Tern
         NULL             x'01FF'
        ──────           ─────────
        2 rows           3 rows, 1 not shown

        ───────────────────────────────────────────────────────────────
         metric      score   why
        ═══════════════════════════════════════════════════════════════
         ex@1        0       the prediction returns 3 rows, the gold 2
         soft-f1@1   0.8
         ves@1       –
        ───────────────────────────────────────────────────────────────
        ");
    }

    #[test]
    fn a_result_without_rows_is_a_line_and_not_an_empty_box() {
        let columns = || vec!["name".to_owned()];
        let gold = ResultSet::new(columns(), vec![Value::text("Tern"), Value::text("Gull")]);
        let prediction = ResultSet::new(columns(), Vec::new());
        for width in [40, 100] {
            let options = ShowOptions { width, colour: false, rows: 2 };
            let text = show(&item(), None, Some(&gold), Some(&prediction), &[], options);
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            assert_eq!(lines.iter().filter(|line| line.ends_with("no rows")).count(), 1, "{text}");
            assert_eq!(lines.iter().filter(|line| **line == "name").count(), 1, "{text}");
        }
    }

    #[test]
    fn what_makes_the_answer_wrong_stands_behind_the_queries() {
        let sentence = Some("The prediction tests `a`, the gold `b`.".to_owned());
        let missing = Some("the database a.sqlite has changed since the run".to_owned());
        for (why, line) in [
            (Reason { sentence, ..Reason::default() }, "why  The prediction tests `a`, the gold `b`."),
            (
                Reason { missing, ..Reason::default() },
                "why  Not known: the database a.sqlite has changed since the run.",
            ),
        ] {
            let text = show(&item(), Some(&why), None, None, &[], ShowOptions::default());
            assert!(text.contains(&format!("\n{line}\n")), "{text}");
        }
        let unclear = Reason { unclear: Some("other-shape".to_owned()), ..Reason::default() };
        assert!(!show(&item(), Some(&unclear), None, None, &[], ShowOptions::default()).contains("why  "));
    }

    #[test]
    fn an_item_without_texts_still_shows_its_scores() {
        let bare = Item { details: sqlgauge_run::Details::default(), status: "missing".to_owned(), ..item() };
        let order = ["ves@1", "soft-f1@1"].map(str::to_owned);
        let text = show(&bare, None, None, None, &order, ShowOptions::default());
        let places = ["ves@1", "soft-f1@1", "ex@1"].map(|metric| text.find(metric).unwrap());
        assert!(places.is_sorted(), "{text}");
        assert!(text.contains("the system gave no prediction"), "{text}");
    }
}
