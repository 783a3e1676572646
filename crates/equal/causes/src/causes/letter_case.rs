//! Texts in another letter case, wherever they stand.

use std::collections::{BTreeMap, BTreeSet};

use sqlgauge_base::listed;
use sqlgauge_sql::tree::{Expr, Literal, Query};
use sqlgauge_sql::visit::{change_exprs, each_expr};

use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest};

pub(super) static CAUSE: Cause = Cause {
    id: "letter-case",
    title: "letter case of a text",
    about: "The answer writes a text of the gold in a different letter case, which `=` and IN tell apart.",
    example: [
        "SELECT name FROM singer WHERE country = 'France'",
        "SELECT name FROM singer WHERE country = 'france'",
        "The prediction writes `'france'`, the gold `'France'`, and letter case matters.",
    ],
    find,
};

/// A condition that is the gold's but for letter case, beside other slips.
fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    let unlikes = rest.take_single(|gold, prediction| pair.same(&folded(gold), &folded(prediction)));
    unlikes.iter().map(|unlike| pair.tests_otherwise(&CAUSE, unlike)).collect()
}

/// The slip of all texts of the answer that the gold has in another letter case and in one only: whether it is what makes
/// the answer wrong is for a judge to say. Unlike the other causes it does not compare clauses, so that the queries may be of
/// any shape.
pub(crate) fn of_texts(gold: &Query, prediction: &Query) -> Option<Slip> {
    let (gold_texts, other) = (texts(gold), texts(prediction));
    let changed: BTreeMap<String, String> = other
        .difference(&gold_texts)
        .filter_map(|text| {
            let mut alike =
                gold_texts.iter().filter(|other_case| other_case.to_lowercase() == text.to_lowercase());
            let first = alike.next()?;
            alike.next().is_none().then(|| (text.clone(), first.clone()))
        })
        .collect();
    if changed.is_empty() {
        return None;
    }
    let back = changed.iter().map(|(from, to)| (to.clone(), from.clone())).collect();
    let quoted = |text: &String| format!("`'{}'`", text.replace('\'', "''"));
    let prediction_has: Vec<String> = changed.keys().map(quoted).collect();
    let gold_has: Vec<String> = changed.values().map(quoted).collect();
    let words = [
        format!("writes {}", listed(&prediction_has)),
        format!("{}, and letter case matters", listed(&gold_has)),
    ];
    Some(Slip::new(&CAUSE, words, [rewritten(gold, &back), rewritten(prediction, &changed)]))
}

/// Whether something in quotes may be, but for letter case, something in quotes of the other text: a look at the characters alone, for
/// all the pairs where it is not so.
pub(crate) fn may_differ(gold: &str, prediction: &str) -> bool {
    let (gold, prediction) = (quoted(gold), quoted(prediction));
    let is_alike = |text: &&str| {
        let lower = text.to_lowercase();
        gold.iter().any(|other| other != text && other.to_lowercase() == lower)
    };
    prediction.iter().any(is_alike)
}

/// What stands in quotes, as far as the next one of the kind.
fn quoted(text: &str) -> BTreeSet<&str> {
    let mut all = BTreeSet::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\'', '"']) {
        let quote = &rest[at..=at];
        let Some((inside, behind)) = rest[at + 1..].split_once(quote) else { break };
        all.insert(inside);
        rest = behind;
    }
    all
}

fn texts(query: &Query) -> BTreeSet<String> {
    let mut texts = BTreeSet::new();
    each_expr(query, |expr| {
        if let Expr::Literal(Literal::Text(text)) = expr {
            texts.insert(text.clone());
        }
    });
    texts
}

fn rewritten(query: &Query, texts: &BTreeMap<String, String>) -> Query {
    let mut query = query.clone();
    change_exprs(&mut query, |expr| {
        if let Expr::Literal(Literal::Text(text)) = expr
            && let Some(other) = texts.get(text.as_str())
        {
            text.clone_from(other);
        }
    });
    query
}

/// The expression with every text in lower case.
fn folded(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    change_exprs(&mut expr, |expr| {
        if let Expr::Literal(Literal::Text(text)) = expr {
            *text = text.to_lowercase();
        }
    });
    expr
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use sqlgauge_sql::schema::Schema;

    use crate::{Explainer, Judge, Proofs};

    const SCHEMA: &str = "
        CREATE TABLE colour (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE hero (id INTEGER PRIMARY KEY, name TEXT, eyes INT REFERENCES colour (id), skin TEXT);";

    const MATTERS: &str = "letter case matters";

    /// Runs the answer on rows where it returns the gold's as soon as it writes the gold's texts.
    struct OnRows(&'static [&'static str]);

    impl Judge for OnRows {
        fn same(&self, _: &str, _: &str) -> Option<bool> {
            None
        }

        fn is_right(&self, _: &str, answer: &str) -> Option<bool> {
            Some(self.0.iter().all(|text| answer.contains(text)))
        }
    }

    struct Nobody;

    impl Judge for Nobody {
        fn same(&self, _: &str, _: &str) -> Option<bool> {
            None
        }
    }

    #[test]
    fn it_is_said_of_queries_of_any_shape_if_the_answer_is_right_with_the_text_of_the_gold() {
        let schema = Schema::from_ddl(SCHEMA).unwrap();
        let explainer = Explainer::of(schema.clone());
        let gold = "SELECT count(*) FROM hero h JOIN colour c ON h.eyes = c.id WHERE c.name = 'Blue' AND h.skin <> 'Red'";
        let prediction = "SELECT count(*) FROM hero WHERE eyes IN (SELECT id FROM colour WHERE name = 'blue') AND skin <> 'RED'";
        let difference = explainer.explain(gold, prediction, &OnRows(&["'Blue'", "'Red'"])).unwrap();
        assert_eq!(
            difference.sentence(),
            "The prediction writes `'RED'` and `'blue'`, the gold `'Red'` and `'Blue'`, and letter case matters."
        );
        assert_eq!(difference.cause().unwrap().id, "letter-case");
        // A proof is as good as rows.
        let proved = explainer.explain(gold, prediction, &Proofs::over(&schema)).unwrap();
        assert!(proved.sentence().contains(MATTERS));
        // Where something else is wrong too, or nobody knows, the whole difference is said.
        let judges: [&dyn Judge; 2] = [&OnRows(&["'Blue'", "never"]), &Nobody];
        for judge in judges {
            let sentence = explainer.explain(gold, prediction, judge).map(|difference| difference.sentence());
            assert!(!sentence.is_ok_and(|sentence| sentence.contains(MATTERS)));
        }
    }

    #[test]
    fn texts_in_quotes_are_compared_before_anything_is_resolved() {
        let explainer = Explainer::of(Schema::from_ddl(SCHEMA).unwrap());
        let gold = "SELECT id FROM hero WHERE skin = 'It''s Red' AND name = \"Ä\"";
        for (answer, other) in [
            ("SELECT id FROM hero WHERE name = 'ä'", Some("SELECT hero.id FROM hero WHERE hero.name = 'Ä'")),
            ("SELECT id FROM hero WHERE name = 'Ä'", None),
            ("SELECT id FROM hero WHERE skin = 'red'", None),
            (
                "SELECT id FROM hero WHERE skin = 'it''s red'",
                Some("SELECT hero.id FROM hero WHERE hero.skin = 'It''s Red'"),
            ),
            ("SELECT id FROM nobody WHERE name = 'ä'", None),
            ("SELECT 'ä", None),
        ] {
            assert_eq!(explainer.in_letter_case_of(gold, answer).as_deref(), other, "{answer}");
        }
    }

    #[test]
    fn a_text_that_the_gold_has_in_two_letter_cases_is_not_guessed() {
        let schema = Schema::from_ddl(SCHEMA).unwrap();
        let gold = "SELECT id FROM hero WHERE skin = 'Red' OR skin = 'RED'";
        let prediction = "SELECT id FROM hero WHERE skin = 'red'";
        let sentence = Explainer::of(schema.clone())
            .explain(gold, prediction, &OnRows(&[]))
            .map(|difference| difference.sentence());
        assert!(!sentence.is_ok_and(|sentence| sentence.contains(MATTERS)));
    }
}
