//! Questions on one database, or with one gold, stand together in intervals and tests.

use std::collections::BTreeMap;

use serde_json::json;
use sqlgauge_run::{
    ClusterBy, Clusters, Comparison, Item, LEAST_DATABASES, Manifest, ScoreSummary, Summary, SummaryBuilder,
};

const EX: &str = "ex@1";
const F1: &str = "soft-f1@1";

fn item(system: &str, index: usize, database: usize, gold: &str, score: f64) -> Item {
    let golds = if gold.is_empty() { json!({}) } else { json!({"gold": gold}) };
    Item {
        system: system.into(),
        id: index.to_string(),
        index,
        db_id: format!("db{database}"),
        status: "ok".into(),
        metrics: BTreeMap::from([(EX.into(), Some(score)), (F1.into(), Some(score))]),
        details: serde_json::from_value(golds).unwrap(),
    }
}

fn summarise(systems: &[&str], items: &[Item]) -> Summary {
    let manifest = Manifest {
        metrics: vec![EX.into(), F1.into()],
        systems: systems.iter().map(|name| (*name).to_owned()).collect(),
        examples: items.len() / systems.len(),
        ..Manifest::default()
    };
    let mut builder = SummaryBuilder::new(&manifest);
    items.iter().for_each(|item| builder.add(item));
    builder.finish()
}

/// Ten questions on each of so many databases; a database is right or wrong as a whole.
fn whole_databases(databases: usize, gold: impl Fn(usize) -> String) -> ScoreSummary {
    let of = |index: usize| {
        let database = index / 10;
        item("a", index, database, &gold(index), f64::from(u8::from(database.is_multiple_of(2))))
    };
    let items: Vec<Item> = (0..10 * databases).map(of).collect();
    summarise(&["a"], &items).systems[0].scores[EX]
}

#[test]
fn clusters_are_databases_if_there_are_enough_else_golds() {
    let own_gold = |index: usize| format!("SELECT {index}");
    let clusters = |databases| whole_databases(databases, own_gold).clusters;
    let by = |by, count| Some(Clusters { by, count });
    assert_eq!(clusters(LEAST_DATABASES), by(ClusterBy::Database, LEAST_DATABASES));
    assert_eq!(clusters(LEAST_DATABASES - 1), by(ClusterBy::Gold, 10 * (LEAST_DATABASES - 1)));
    // Letter case and white space make no gold of its own, another database does.
    let spelled =
        |index: usize| if index.is_multiple_of(2) { "SELECT a  FROM t" } else { "select A\nfrom T" };
    let alike = whole_databases(2, |index| spelled(index).to_owned());
    assert_eq!(alike.clusters, by(ClusterBy::Gold, 2));
    // Where each question has its gold, the interval is the plain one.
    let alone = whole_databases(2, own_gold);
    assert_eq!((alone.low, alone.high), (alone.plain.map(|ends| ends[0]), alone.plain.map(|ends| ends[1])));
    // Without golds on record nothing is known of them.
    let unknown = whole_databases(2, |_| String::new());
    assert_eq!((unknown.clusters, unknown.plain), (None, None));
}

/// Reference: `statsmodels.stats.proportion.proportion_confint(30, 60, method="wilson")` for the plain interval. With three of six
/// databases right, the error is that of six independent ones but for the correction: √(6 · 5² / (1 − 1/6)²) / 60 = 0.245.
#[test]
fn an_interval_by_clusters_is_wider_and_has_the_plain_one_beside_it() {
    let score = whole_databases(6, |index| format!("SELECT {index}"));
    let [plain_low, plain_high] = score.plain.unwrap();
    assert!((plain_low - 0.377_3).abs() < 1e-4 && (plain_high - 0.622_7).abs() < 1e-4, "{score:?}");
    // Wilson's form with t(5) = 2.5706 and 0.25 / 0.245² = 4.1667 items: 0.5 ± 2.5706 √(0.25/4.1667 + 6.6079/69.44) / 2.5859.
    let half = 2.5706 * (0.25_f64 / 4.1667 + 6.6079 / (4.0 * 17.3611)).sqrt() / (1.0 + 6.6079 / 4.1667);
    assert!((score.low.unwrap() - (0.5 - half)).abs() < 1e-3, "{score:?} {half}");
    assert!((score.high.unwrap() - (0.5 + half)).abs() < 1e-3, "{score:?} {half}");
}

#[test]
fn an_interval_never_excludes_what_the_plain_one_holds() {
    // Every database is right half of the time: the clusters say that nothing varies.
    let items: Vec<Item> = (0..60)
        .map(|index| item("a", index, index / 10, "SELECT 1", f64::from(u8::from(index % 2 == 0))))
        .collect();
    let summary = summarise(&["a"], &items);
    for metric in [EX, F1] {
        let score = summary.systems[0].scores[metric];
        let [low, high] = score.plain.unwrap();
        assert!(score.clusters.is_some(), "{metric}");
        assert_eq!((score.low, score.high), (Some(low), Some(high)), "{metric}");
    }
}

/// One database of eight turns from right to wrong: beyond chance for these questions, not for new databases.
#[test]
fn a_difference_on_one_database_is_no_difference_on_new_ones() {
    let of = |system: &str, index: usize| {
        let lost = system == "b" && index / 10 == 3;
        item(system, index, index / 10, &format!("SELECT {index}"), f64::from(u8::from(!lost)))
    };
    let items: Vec<Item> =
        ["a", "b"].iter().flat_map(|system| (0..80).map(|index| of(system, index))).collect();
    let summary = summarise(&["a", "b"], &items);
    for metric in [EX, F1] {
        let comparison = summary.comparisons.iter().find(|comparison| comparison.metric == metric).unwrap();
        let plain = comparison.plain.unwrap();
        assert!(plain.p_value < 0.01 && plain.low > 0.0, "{comparison:?}");
        assert!(comparison.p_value > 0.05 && comparison.low < 0.0 && !comparison.is_torn(), "{comparison:?}");
        assert_eq!(comparison.clusters, Some(Clusters { by: ClusterBy::Database, count: 8 }));
    }
}

#[test]
fn a_summary_of_an_earlier_version_has_no_clusters() {
    let score: ScoreSummary =
        serde_json::from_value(json!({"mean": 0.5, "low": 0.4, "high": 0.6, "count": 60})).unwrap();
    assert_eq!((score.clusters, score.plain), (None, None));
    let comparison: Comparison = serde_json::from_value(json!({
        "metric": EX, "first": "a", "second": "b", "count": 3, "difference": 0.1, "low": -0.1, "high": 0.3,
        "p_value": 0.2, "only_first": 1, "only_second": 0,
    }))
    .unwrap();
    assert_eq!((comparison.clusters, comparison.plain), (None, None));
    let written = serde_json::to_value(score).unwrap();
    assert!(written.get("clusters").is_none() && written.get("plain").is_none(), "{written}");
}
