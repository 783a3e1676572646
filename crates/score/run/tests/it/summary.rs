//! Scores, intervals, breakdowns and comparisons from hand-made items.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use sqlgauge_run::{Gate, GateError, Item, Manifest, Reasons, Summary, SummaryBuilder, check_gates};
use sqlgauge_sql::schema::Schema;

const EX: &str = "ex@1";
const STEPS: &str = "vm-steps@1";

fn manifest(systems: &[&str], examples: usize) -> Manifest {
    Manifest {
        metrics: vec![EX.into(), STEPS.into()],
        systems: systems.iter().map(|s| (*s).to_owned()).collect(),
        examples,
        ..Manifest::default()
    }
}

fn item(system: &str, index: usize, status: &str, ex: Option<f64>, details: &Value) -> Item {
    Item {
        system: system.into(),
        id: format!("q{index}"),
        index,
        db_id: if index < 2 { "bank" } else { "zoo" }.into(),
        status: status.into(),
        metrics: BTreeMap::from([(EX.into(), ex), (STEPS.into(), ex.filter(|s| *s > 0.0).map(|_| 2.0))]),
        details: serde_json::from_value(details.clone()).unwrap(),
    }
}

fn summarise(manifest: &Manifest, items: &[Item]) -> Summary {
    let mut builder = SummaryBuilder::new(manifest);
    for item in items {
        builder.add(item);
    }
    builder.finish()
}

#[test]
fn what_to_fix_first_is_what_costs_most() {
    let gold = "SELECT DISTINCT name FROM t ORDER BY name LIMIT 3";
    let answers = |prediction: &str| json!({"gold": gold, "prediction": prediction, "result": {"rows": 1, "set": "00"}});
    let mut manifest = manifest(&["a"], 8);
    manifest.engine = "SQLite 3".to_owned();
    let of = |index, prediction| item("a", index, "ok", Some(0.0), &answers(prediction));
    let mut items = vec![
        item("a", 0, "ok", Some(1.0), &json!({})),
        of(1, "SELECT DISTINCT name FROM t ORDER BY name LIMIT 4"),
        of(2, "SELECT name FROM t ORDER BY name LIMIT 4"),
        of(3, "SELECT name FROM t ORDER BY name LIMIT 3"),
        item("a", 4, "missing", Some(0.0), &json!({})),
        item("a", 5, "no_such_table", Some(0.0), &json!({"error": "no such table: t"})),
        of(6, "SELECT name FROM t UNION SELECT id FROM t"),
        of(7, "SELECT name FROM t"),
    ];
    items[7].db_id = "gone".to_owned();
    let schema = Arc::new(Schema::from_ddl("CREATE TABLE t (id INT, name TEXT)").unwrap());
    let schemas = ["bank", "zoo"].map(|db_id| (db_id.to_owned(), Arc::clone(&schema)));
    let reasons = Reasons::of_run(Path::new("run"), &manifest).with_schemas(schemas.into());
    let summary = SummaryBuilder::explained(&manifest, &items.clone().into(), &reasons).unwrap();
    let fixes = summary.systems[0].fixes.as_ref().unwrap();
    let lines: Vec<(&str, f64, usize, usize)> =
        fixes.causes.iter().map(|fix| (fix.cause.as_str(), fix.points, fix.items, fix.alone)).collect();
    let expected = [
        ("distinct", 25.0, 2, 1),
        ("does-not-run", 12.5, 1, 1),
        ("limit", 12.5, 1, 1),
        ("missing", 12.5, 1, 1),
        ("unclear", 12.5, 1, 1),
    ];
    assert_eq!((lines.as_slice(), fixes.without, fixes.metric.as_str()), (expected.as_slice(), 1, EX));
    let right = SummaryBuilder::explained(&manifest, &items[..1].to_vec().into(), &reasons).unwrap();
    assert_eq!(right.systems[0].fixes, None);
}

#[test]
fn an_answer_with_several_statements_has_a_cause_of_its_own() {
    let error = json!({"error": "it cannot run"});
    let items = vec![
        item("a", 0, "multiple_statements", Some(0.0), &error),
        item("a", 1, "multiple_statements", Some(0.0), &error),
        item("a", 2, "syntax_error", Some(0.0), &error),
    ];
    let manifest = manifest(&["a"], 3);
    let reasons = Reasons::of_run(Path::new("run"), &manifest);
    let summary = SummaryBuilder::explained(&manifest, &items.into(), &reasons).unwrap();
    let causes = &summary.systems[0].fixes.as_ref().unwrap().causes;
    let lines: Vec<(&str, usize)> = causes.iter().map(|fix| (fix.cause.as_str(), fix.items)).collect();
    assert_eq!(lines, [("several-statements", 2), ("does-not-run", 1)]);
}

#[test]
fn denominators_and_means_leave_null_out() {
    let bare = json!({});
    let items = vec![
        item("a", 0, "ok", Some(1.0), &bare),
        item("a", 1, "missing", Some(0.0), &bare),
        item("a", 2, "gold_failed", None, &bare),
        item("a", 3, "syntax_error", Some(0.0), &bare),
        item("a", 4, "missing", None, &json!({"gold_error": "no such table: t"})),
        item("a", 5, "internal_error", None, &bare),
    ];
    let summary = summarise(&manifest(&["a"], 6), &items);
    let system = &summary.systems[0];
    let counts = system.counts;
    assert_eq!((counts.requested, counts.scored, counts.missing, counts.gold_failed), (6, 3, 2, 2));
    assert_eq!(system.statuses["missing"], 2);
    let score = system.scores[EX];
    assert_eq!((score.mean, score.count), (Some(1.0 / 3.0), 3));
    // scipy.stats.binomtest(1, 3).proportion_ci(method="wilson")
    assert!(
        (score.low.unwrap() - 0.061_491_94).abs() < 1e-7 && (score.high.unwrap() - 0.792_340_40).abs() < 1e-7
    );
    let steps = system.scores[STEPS];
    assert_eq!((steps.mean, steps.low, steps.high, steps.count), (Some(2.0), Some(2.0), Some(2.0), 1));
}

#[test]
fn a_score_of_nothing_is_unknown() {
    let summary = summarise(&manifest(&["a"], 1), &[item("a", 0, "gold_failed", None, &json!({}))]);
    let score = summary.systems[0].scores[EX];
    assert_eq!((score.mean, score.low, score.high, score.count), (None, None, None, 0));
}

#[test]
fn an_item_counts_under_each_of_its_labels() {
    let label = |hardness: &str, features: Value| json!({"hardness": hardness, "features": features});
    let items = [
        item("a", 0, "ok", Some(1.0), &label("easy", json!(["join"]))),
        item("a", 1, "ok", Some(0.0), &label("hard", json!(["join", "group_by"]))),
        item("a", 2, "ok", Some(1.0), &label("hard", json!([]))),
    ];
    let breakdown = &summarise(&manifest(&["a"], 3), &items).systems[0].breakdown;
    let of = |dimension: &str, group: &str| {
        let score = breakdown[dimension][group][EX];
        (score.mean.unwrap(), score.count)
    };
    assert_eq!(of("hardness", "easy"), (1.0, 1));
    assert_eq!(of("hardness", "hard"), (0.5, 2));
    assert_eq!(of("feature", "join"), (0.5, 2));
    assert_eq!(of("feature", "group_by"), (0.0, 1));
    assert_eq!(of("db_id", "zoo"), (1.0, 1));
    assert!(!breakdown.contains_key("turn") && !breakdown.contains_key("difficulty"));
}

#[test]
fn labels_of_an_item_with_an_internal_error_come_from_another_system() {
    let labels = json!({"hardness": "easy"});
    let items = [
        item("a", 0, "internal_error", None, &json!({"error": "x"})),
        item("b", 0, "ok", Some(1.0), &labels),
    ];
    let summary = summarise(&manifest(&["a", "b"], 1), &items);
    assert_eq!(summary.systems[0].breakdown["hardness"]["easy"][EX].count, 0);
    assert_eq!(summary.systems[1].breakdown["hardness"]["easy"][EX].count, 1);
}

#[test]
fn a_conversation_is_right_when_every_turn_is() {
    let place = |interaction: usize, turn: usize| json!({"turn": {"interaction": interaction, "turn": turn}});
    let items = [
        item("a", 0, "ok", Some(1.0), &place(0, 1)),
        item("a", 1, "ok", Some(1.0), &place(0, 2)),
        item("a", 2, "ok", Some(1.0), &place(1, 1)),
        item("a", 3, "ok", Some(0.0), &place(1, 5)),
        item("a", 4, "ok", Some(1.0), &place(2, 6)),
    ];
    let breakdown = &summarise(&manifest(&["a"], 5), &items).systems[0].breakdown;
    let joint = &breakdown["interaction"]["joint_all"];
    assert_eq!((joint[EX].mean, joint[EX].count), (Some(2.0 / 3.0), 3));
    assert!(!joint.contains_key(STEPS));
    assert_eq!(breakdown["turn"].keys().collect::<Vec<_>>(), ["1", "2", ">4"]);
    assert_eq!(breakdown["turn"][">4"][EX].mean, Some(0.5));
}

#[test]
fn systems_are_compared_on_the_items_that_both_have() {
    let (first, second) = ([1., 1., 1., 0., 1.], [Some(0.), Some(0.), Some(0.), Some(0.), None]);
    let bare = json!({});
    let mut items = Vec::new();
    items.extend((0..5).map(|i| item("a", i, "ok", Some(first[i]), &bare)));
    items.extend((0..5).map(|i| item("b", i, "ok", second[i], &bare)));
    let summary = summarise(&manifest(&["a", "b"], 5), &items);
    let [comparison] = summary.comparisons.as_slice() else { panic!("{:?}", summary.comparisons) };
    assert_eq!(
        (comparison.metric.as_str(), comparison.first.as_str(), comparison.second.as_str()),
        (EX, "a", "b")
    );
    assert_eq!((comparison.count, comparison.only_first, comparison.only_second), (4, 3, 0));
    assert_eq!((comparison.difference, comparison.p_value), (0.75, 0.25));
    // With a p of 0.25 no difference is left out.
    assert!(comparison.low < 0.0 && comparison.high > 0.75, "{comparison:?}");
}

#[test]
fn of_many_systems_only_the_best_is_compared_with_the_others() {
    let names: Vec<String> = (0..14).map(|i| format!("s{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let bare = json!({});
    let score =
        |system: usize, index: usize| f64::from(u8::from(system == 5 || index.is_multiple_of(system + 2)));
    let items: Vec<Item> = (0..14)
        .flat_map(|s| (0..8).map(move |i| (s, i)))
        .map(|(s, i)| item(names[s], i, "ok", Some(score(s, i)), &bare))
        .collect();
    let summary = summarise(&manifest(&names, 8), &items);
    let on_ex: Vec<_> = summary.comparisons.iter().filter(|c| c.metric == EX).collect();
    assert_eq!(on_ex.len(), 13);
    assert!(on_ex.iter().all(|c| c.first == "s5" && c.difference > 0.0));
}

#[test]
fn a_bar_is_read_and_applied() {
    let manifest = manifest(&["a", "b"], 4);
    let scored = &manifest.metrics;
    let bare = json!({});
    let mut items: Vec<Item> =
        (0..4).map(|i| item("a", i, "ok", Some(f64::from(u8::from(i < 3))), &bare)).collect();
    items.extend((0..4).map(|i| item("b", i, "gold_failed", None, &bare)));
    let summary = summarise(&manifest, &items);
    let failed = |bar: &str| -> Vec<String> {
        check_gates(&summary, &[Gate::parse(bar, scored).unwrap()]).iter().map(ToString::to_string).collect()
    };
    let no_item = |x: &str| format!("b: ex@1 applies to no item, so it does not reach {x}");
    assert_eq!(failed("ex=0.75"), [no_item("75.0 %")]);
    assert_eq!(
        failed("ex@1 = 0.8"),
        ["a: ex@1 is 75.0 % (95 % interval 30.1 % to 95.4 %), under 80.0 %".to_owned(), no_item("80.0 %")]
    );
}

#[test]
fn a_bar_that_makes_no_sense_is_refused() {
    let scored = [EX.to_owned(), STEPS.to_owned()];
    let refused = |text: &str| Gate::parse(text, &scored).unwrap_err();
    for text in ["ex", "ex=", "ex=high", ""] {
        assert_eq!(refused(text), GateError::Malformed { text: text.into() });
    }
    assert!(matches!(refused("esm=0.5"), GateError::NotScored { .. }));
    assert!(matches!(refused("vm-steps=0.5"), GateError::Cost { .. }));
    for text in ["ex=80", "ex=-0.1", "ex=NaN"] {
        assert!(matches!(refused(text), GateError::OutOfRange { .. }), "{text}");
    }
}
