//! The verdict on a pair for a terminal: the counterexample's tables, both results beside each other, the proof.

use std::fmt::Write as _;

use sqlgauge_base::{counted, printable};
use sqlgauge_search::Side;
use sqlgauge_verify::{BoundedProof, Counterexample, Proof, TIE, Verdict, VerdictRecord, VerifyReport};

use crate::diff::side_by_side;
use crate::style::Painter;
use crate::{ShowOptions, counterexample};

/// The verdict on a pair as text that ends with a line feed. The gold is left.
pub fn verdict(gold: &str, prediction: &str, report: &VerifyReport, options: ShowOptions) -> String {
    let mut text = String::new();
    heading(report, options, &mut text);
    for (side, spelled) in [Side::Left, Side::Right].into_iter().zip(&report.spelled) {
        if let Some(spelled) = spelled {
            let (side, by, sql) = (side.name(), spelled.by.join(", "), printable(&spelled.sql));
            let _infallible = writeln!(text, "The {side} is read as ({by}): {sql}");
        }
    }
    match &report.verdict {
        Verdict::Equivalent(proof) => proved(proof, &mut text),
        Verdict::EquivalentUpTo(proof) => bounded(proof, &mut text),
        Verdict::Different(example) => {
            let difference = printable(example.refutation.difference());
            let queries = side_by_side(gold, prediction, usize::from(options.width), options.colour);
            let _infallible = writeln!(text, "{difference}\n\n{queries}");
            counterexample(example, &report.record(), options, &mut text);
        }
        Verdict::Unknown(unknown) => {
            let _infallible = writeln!(text, "{}: {}", unknown.reason, printable(&unknown.message));
            for place in &unknown.places {
                let _infallible = writeln!(text, "SQLite may choose: {}", printable(&place.to_string()));
            }
            for missed in &unknown.unexercised {
                let _infallible =
                    writeln!(text, "Not tried by any database: {}", printable(&missed.to_string()));
            }
        }
    }
    if !matches!(report.verdict, Verdict::Different(_)) {
        for sentence in counterexample::values_sentences(&report.record()) {
            let _infallible = writeln!(text, "{}", printable(&sentence));
        }
    }
    if report.is_tie {
        let _infallible = writeln!(text, "The results differ on the given database: {TIE}.");
    }
    text
}

fn heading(report: &VerifyReport, options: ShowOptions, text: &mut String) {
    let painter = Painter { colour: options.colour };
    let name = match &report.verdict {
        Verdict::Equivalent(_) => painter.good("equivalent"),
        Verdict::EquivalentUpTo(proof) => {
            painter.good(&format!("equivalent up to {} per table", counted(proof.bound(), "row")))
        }
        Verdict::Different(_) => painter.bad("different"),
        Verdict::Unknown(_) => painter.bold("unknown"),
    };
    let times: Vec<String> = report
        .times
        .iter()
        .map(|(stage, time)| format!("{} {:.1} ms", stage.name(), time.as_secs_f64() * 1e3))
        .collect();
    let times = if times.is_empty() { String::new() } else { format!("  ({})", times.join(", ")) };
    let _infallible = writeln!(text, "{name}{}", painter.dim(&times));
}

fn proved(proof: &Proof, text: &mut String) {
    assumed(proof.assumes(), text);
    if !proof.rules().is_empty() {
        text.push_str("Both become the same query by rules:\n");
    }
    for rule in proof.rules() {
        let _infallible = writeln!(text, "  {}", printable(rule));
    }
    if proof.rules().is_empty() {
        text.push_str("the same query in other words: names resolved, they are one\n");
    }
}

fn bounded(proof: &BoundedProof, text: &mut String) {
    if let Some(rows) = proof.wanted_bound() {
        let rows = counted(rows, "row");
        let _infallible =
            writeln!(text, "A proof for {rows} per table was asked for, and is too large for the solver.");
    }
    if proof.permits_less() {
        text.push_str("The prediction permits no result that the gold does not; the gold permits others besides (a tie).\n");
    }
    let codes: Vec<String> =
        proof.assumes().iter().map(|assumption| assumption.code().into_owned()).collect();
    assumed(&codes, text);
}

fn assumed(assumes: &[String], text: &mut String) {
    if let Some(conditions) = sqlgauge_verify::conditions(assumes) {
        let _infallible = writeln!(text, "The proof holds if {}.", printable(&conditions));
    }
}

fn counterexample(example: &Counterexample, record: &VerdictRecord, options: ShowOptions, text: &mut String) {
    counterexample::write(record, options, text);
    if let Some(defect) = &example.defect {
        let _infallible = writeln!(
            text,
            "defect: the rules called the two equal, so one of these is wrong; please report it with the last line"
        );
        for rule in defect.proof.rules() {
            let _infallible = writeln!(text, "  rule {}", printable(rule));
        }
        let _infallible = writeln!(text, "{}", printable(&defect.reproduce));
    }
}

#[cfg(test)]
mod tests {
    use sqlgauge_sql::schema::Schema;
    use sqlgauge_verify::{Verifier, VerifyOptions};

    use super::*;

    const DDL: &str = "CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT NOT NULL CHECK (name = 'Tern'), length_m REAL NOT NULL, note TEXT)";

    fn shown(left: &str, right: &str, width: u16) -> String {
        let verifier = Verifier::new(
            Schema::from_ddl(DDL).unwrap(),
            VerifyOptions { words: true, ..VerifyOptions::default() },
        )
        .unwrap();
        let mut report = verifier.verify(left, right, None).unwrap();
        report.times.clear();
        verdict(left, right, &report, ShowOptions { width, colour: false, rows: 10 })
    }

    #[test]
    fn a_counterexample_is_shown_with_both_results_beside_each_other() {
        let (left, right) =
            ("SELECT name FROM boat WHERE length_m > 12", "SELECT name FROM boat WHERE length_m >= 12");
        insta::assert_snapshot!(shown(left, right, 72), @r"
        different
        gold has 0 rows, prediction 1

        gold                               │ prediction
        ────────────────────────────────── │ ──────────────────────────────────
        SELECT name                        │ SELECT name
        FROM boat                          │ FROM boat
        WHERE length_m [->-] 12            │ WHERE length_m {+>=+} 12

        table boat
        ─────────────────
         name   length_m
        ═════════════════
         Tern   12.0
        ─────────────────
        1 row

        result of gold   result of prediction
        no rows          ──────
                          name
                         ══════
                          Tern
                         ──────
                         1 row

        The prediction tests `length_m >= 12`, the gold `length_m > 12`. On a
        database with 1 row in `boat`, the prediction returns 1 row, the gold
        none.
        Without their WHERE clauses, both queries return the same rows here.
        This is the smallest such database.
        Values have the types that columns declare, and no primary key is NULL.
        ");
    }

    #[test]
    fn on_a_narrow_terminal_one_result_stands_under_the_other() {
        let left = "SELECT name, length_m, note FROM boat WHERE note = 'it has no mast'";
        let right = "SELECT name, length_m, note FROM boat WHERE note >= 'it has no mast'";
        let text = shown(left, right, 40);
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert!(text.contains("\nresult of gold\n") && text.contains("\nresult of prediction\n"), "{text}");
    }

    #[test]
    fn a_proof_is_shown_with_its_rules() {
        let (left, right) = ("SELECT COUNT(id) FROM boat", "SELECT COUNT(*) FROM boat");
        insta::assert_snapshot!(shown(left, right, 72), @r"
        equivalent
        Both become the same query by rules:
          gold: 6 count-of-not-null in query
        Columns may hold any value, whatever their declared types.
        ");
        insta::assert_snapshot!(shown(left, "select count( b.id ) from boat b", 72), @r"
        equivalent
        Both become the same query by rules:
          gold: 6 count-of-not-null in query
          prediction: 6 count-of-not-null in query
        Columns may hold any value, whatever their declared types.
        ");
    }
}
