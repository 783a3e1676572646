//! Precision, recall and F1 of one set against another.

use std::collections::BTreeSet;

use sqlgauge_sql::{ErrorKind, Features, NamedThings, ResolveError};

use crate::metric::Score;
use crate::pair::Pair;

/// How well a predicted set meets a gold set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetF1 {
    /// Share of the predicted elements that are in the gold.
    pub precision: f64,
    /// Share of the gold's elements that are predicted.
    pub recall: f64,
    /// Harmonic mean of both.
    pub f1: f64,
}

/// Compares two sets. Two empty sets agree (1); an empty set against another has nothing right (0).
pub(crate) fn set_f1<T: Ord>(gold: &BTreeSet<T>, prediction: &BTreeSet<T>) -> SetF1 {
    if gold.is_empty() && prediction.is_empty() {
        return SetF1 { precision: 1.0, recall: 1.0, f1: 1.0 };
    }
    let common = gold.intersection(prediction).count() as f64;
    let share = |of: usize| if of == 0 { 0.0 } else { common / of as f64 };
    let f1 = 2.0 * common / (gold.len() + prediction.len()) as f64;
    SetF1 { precision: share(prediction.len()), recall: share(gold.len()), f1 }
}

/// What counts of a prediction that cannot be resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unresolved {
    Nothing,
    Text,
}

/// The F1 of the sets of names that gold and prediction use, as a score that says what is missing and what is
/// too much.
pub(crate) fn score_sets(
    pair: &Pair<'_>,
    unresolved: Unresolved,
    things: &str,
    names: impl Fn(&NamedThings) -> BTreeSet<String>,
) -> Score {
    if !pair.engine().is_sqlite() {
        return score_readings(pair, unresolved, things, names);
    }
    if let Err(error) = pair.gold_query() {
        return Score::inapplicable(format!("the gold cannot be resolved: {error}"));
    }
    let gold = names(&named(pair.gold_features()));
    match (pair.prediction_query(), unresolved) {
        (Ok(_), _) => compare(&gold, &names(&named(pair.prediction_features())), things),
        (Err(error), Unresolved::Nothing) => Score::unresolved_prediction(error),
        (Err(error), Unresolved::Text) => of_text(pair, error, &gold, things, names),
    }
}

/// The same for texts of other dialects. What the text names counts, whether or not its functions are known; null where the
/// text cannot be read, as it may still be right.
fn score_readings(
    pair: &Pair<'_>,
    unresolved: Unresolved,
    things: &str,
    names: impl Fn(&NamedThings) -> BTreeSet<String>,
) -> Score {
    let dialect = pair.engine().dialect();
    let read = |of: &str, sql| match NamedThings::of(&pair.read(sql), pair.target().database.schema()) {
        Ok(Some(query)) => Ok(names(&query)),
        Ok(None) => Err(format!("the {of} has what this metric cannot read in {dialect}")),
        Err(too_complex) => Err(format!("the {of}: {too_complex}")),
    };
    let unknown = |error: &ResolveError| {
        matches!(error.kind(), ErrorKind::UnknownTable(_) | ErrorKind::UnknownColumn(_))
    };
    match (read("gold", pair.gold()), read("prediction", pair.prediction()), pair.prediction_query()) {
        (Err(reason), ..) | (_, Err(reason), _) => Score::inapplicable(reason),
        (_, _, Err(error)) if unresolved == Unresolved::Nothing && unknown(error) => {
            Score::unresolved_prediction(error)
        }
        (Ok(gold), Ok(prediction), _) => compare(&gold, &prediction, things),
    }
}

fn named(features: Option<&Features>) -> NamedThings {
    let of = |features: &Features| NamedThings {
        tables: features.tables.clone(),
        columns: features.columns.clone(),
    };
    features.map(of).unwrap_or_default()
}

/// The score of a prediction that cannot be resolved, by what its text names.
fn of_text(
    pair: &Pair<'_>,
    error: &ResolveError,
    gold: &BTreeSet<String>,
    things: &str,
    names: impl Fn(&NamedThings) -> BTreeSet<String>,
) -> Score {
    if matches!(error.kind(), ErrorKind::TooComplex(_)) {
        return Score::unresolved_prediction(error);
    }
    match NamedThings::of(pair.prediction(), pair.target().database.schema()) {
        Ok(Some(query)) => {
            let score = compare(gold, &names(&query), things);
            let compared = score.detail.reason().map(|reason| format!("; {reason}")).unwrap_or_default();
            score.because(format!("read off the text, which does not resolve ({error}){compared}"))
        }
        Ok(None) => Score::unresolved_prediction(error),
        Err(cause) => Score::too_complex(cause),
    }
}

fn compare(gold: &BTreeSet<String>, prediction: &BTreeSet<String>, things: &str) -> Score {
    let SetF1 { precision, recall, f1 } = set_f1(gold, prediction);
    if f1 >= 1.0 {
        return Score::new(f1);
    }
    let score = Score::new(f1).with("precision", precision).with("recall", recall);
    let list = |a: &BTreeSet<String>, b| a.difference(b).take(8).cloned().collect::<Vec<_>>().join(", ");
    let (missing, extra) = (list(gold, prediction), list(prediction, gold));
    match (missing.is_empty(), extra.is_empty()) {
        (true, true) => score,
        (false, true) => score.because(format!("missing {things}: {missing}")),
        (true, false) => score.because(format!("{things} too many: {extra}")),
        (false, false) => score.because(format!("missing {things}: {missing}; too many: {extra}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f1_is_the_harmonic_mean() {
        for (gold, prediction, precision, recall, f1) in [
            ("ab", "ab", 1.0, 1.0, 1.0),
            ("ab", "a", 1.0, 0.5, 2.0 / 3.0),
            ("a", "abc", 1.0 / 3.0, 1.0, 0.5),
            ("a", "b", 0.0, 0.0, 0.0),
            ("a", "", 0.0, 0.0, 0.0),
            ("", "a", 0.0, 0.0, 0.0),
            ("", "", 1.0, 1.0, 1.0),
        ] {
            let set = |text: &str| text.chars().collect::<BTreeSet<char>>();
            let expected = SetF1 { precision, recall, f1 };
            assert_eq!(set_f1(&set(gold), &set(prediction)), expected, "{gold:?} {prediction:?}");
        }
    }
}
