//! What both metrics say of results, as files.

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use sqlgauge_results::{
    Bundle, BundleHead, BundleWriter, BundledResult, FairRules, GoldFolder, ItemConfig, ResultFolder,
    ResultJudgement, ResultsError, judge, most_rows, read_config, read_table,
};

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(name), content).unwrap();
}

/// The judgement on a result file of item `q`, whose golds are `q.csv` or `q_a.csv`, `q_b.csv`, ….
fn judged(
    golds: &[(&str, &str)],
    columns: &Json,
    ignore_order: bool,
    file: (&str, &[u8]),
) -> ResultJudgement {
    let folder = tempfile::tempdir().unwrap();
    let [gold, mine] = ["gold", "mine"].map(|name| folder.path().join(name));
    golds.iter().for_each(|(name, text)| write(&gold, name, text));
    write(&mine, file.0, file.1);
    let config = ItemConfig::new("q", columns.clone(), ignore_order);
    let golds = GoldFolder::open(&gold, Some(vec![config.clone()])).unwrap().read("q");
    judge(Some(read_table(&mine.join(file.0), most_rows(&golds))), &golds, &config, FairRules::default())
}

fn values(judgement: &ResultJudgement) -> [Option<f64>; 2] {
    [judgement.verdicts[0].value, judgement.verdicts[1].value]
}

const RIGHT: Option<f64> = Some(1.0);
const WRONG: Option<f64> = Some(0.0);

#[test]
fn the_metrics_differ_where_the_official_script_is_loose() {
    let one = |gold: &str, mine: &str| {
        values(&judged(&[("q.csv", gold)], &Json::Null, true, ("q.csv", mine.as_bytes())))
    };
    // The same rows, in another order, with other names and one column more.
    assert_eq!(one("n,x\n1,a\n2,b\n", "y,z,k\nb,0,2.001\na,0,1\n"), [RIGHT, RIGHT]);
    // NULL is 0 for the script.
    assert_eq!(one("n\n0\n2\n", "n\n\"\"\n2\n"), [RIGHT, WRONG]);
    // Columns are sorted apart: the values stand in other rows.
    assert_eq!(one("n,x\n1,a\n2,b\n", "n,x\n2,a\n1,b\n"), [RIGHT, WRONG]);
    // One column stands for two.
    assert_eq!(one("n,m\n1,1\n2,2\n", "n,m\n1,x\n2,x\n"), [RIGHT, WRONG]);
    // Sorted as texts, a rounding moves a number to another place.
    assert_eq!(one("n\n9.999\n11.0\n", "n\n10.001\n11.0\n"), [WRONG, RIGHT]);
    // A truth value is a number for Python.
    assert_eq!(one("n\n1\n0\n", "n\nTrue\nFalse\n"), [RIGHT, WRONG]);
    assert_eq!(one("n\nTrue\nFalse\n", "n\ntrue\nfalse\n"), [RIGHT, RIGHT]);
}

#[test]
fn order_counts_unless_the_configuration_says_otherwise() {
    let one =
        |ignore| values(&judged(&[("q.csv", "n\n1\n2\n")], &json!([]), ignore, ("q.csv", b"n\n2\n1\n")));
    assert_eq!((one(true), one(false)), ([RIGHT, RIGHT], [WRONG, WRONG]));
}

#[test]
fn condition_columns_are_one_list_for_all_golds_or_one_for_each() {
    let golds = [("q_a.csv", "n,x\n1,a\n"), ("q_b.csv", "x,n\na,7\n")];
    let one = |columns: Json| values(&judged(&golds, &columns, true, ("q.csv", b"n\n7\n")));
    assert_eq!(one(json!([])), [WRONG, WRONG]);
    assert_eq!(one(json!([1])), [RIGHT, RIGHT]);
    assert_eq!(one(json!([[0], [1]])), [RIGHT, RIGHT]);
    assert_eq!(one(json!([[0], [0]])), [WRONG, WRONG]);
    // The script fails at the first gold; `fair` looks at the other one.
    assert_eq!(one(json!([[5], [1]])), [WRONG, RIGHT]);
    assert_eq!(
        values(&judged(&[("q.csv", "n\n1\n")], &json!([[0]]), true, ("q.csv", b"n\n1\n"))),
        [WRONG, RIGHT]
    );
}

#[test]
fn a_gold_of_the_bare_name_is_the_only_one_for_the_script() {
    let golds = [("q.csv", "n\n1\n"), ("q_a.csv", "n\n2\n")];
    assert_eq!(values(&judged(&golds, &Json::Null, true, ("q.csv", b"n\n2\n"))), [WRONG, RIGHT]);
}

#[test]
fn every_accident_of_a_file_has_an_outcome() {
    let one = |name: &str, bytes: &[u8]| {
        let judgement = judged(&[("q.csv", "n,x\n1,a\n2,b\n")], &Json::Null, true, (name, bytes));
        (judgement.status, values(&judgement))
    };
    assert_eq!(one("q.csv", b"n,x\n1,\xe9\n"), ("not_utf8", [WRONG, WRONG]));
    assert_eq!(one("q.csv", b"n,x\n1,a\n2,b,c\n"), ("ragged", [WRONG, WRONG]));
    // A row that is too short is filled up by pandas.
    assert_eq!(one("q.csv", b"x,n,k\na,1,7\nb,2\n"), ("ragged", [RIGHT, WRONG]));
    assert_eq!(one("q.csv", b""), ("no_columns", [WRONG, WRONG]));
    assert_eq!(one("q.csv", b"n\n\"1"), ("malformed", [WRONG, WRONG]));
    assert_eq!(one("q.json", b"{"), ("malformed", [WRONG, WRONG]));
    assert_eq!(one("q.json", br#"[{"n": 1, "x": "a"}, {"n": 2, "x": "b"}]"#), ("ok", [RIGHT, RIGHT]));
    for text in [
        r"[1]",
        r"5",
        r#"{"columns": ["n", "x"]}"#,
        r#"{"columns": ["n", "x"], "rows": [{"n": 1, "x": "a"}]}"#,
        r#"{"columns": ["n"], "rows": [[1, "a"]]}"#,
        r#"{"columns": ["n", "x"], "rows": [[1, "a"], [2]]}"#,
        r#"[{"n": 1}, {"n": 1, "x": "a"}]"#,
    ] {
        assert_eq!(one("q.json", text.as_bytes()), ("malformed", [WRONG, WRONG]), "{text}");
    }
    assert_eq!(
        one("q.json", br#"{"rows": [["b", 2], ["a", 1]], "columns": ["x", "n"], "index": [0, 1]}"#),
        ("ok", [RIGHT, RIGHT])
    );
    assert_eq!(one("q.json", b"[]"), ("no_columns", [WRONG, WRONG]));
    // Few bytes of JSON are many values; they are counted while they are read.
    let many = "{\"n\":1}\n".repeat(1_200_000);
    assert_eq!(one("q.jsonl", many.as_bytes()), ("ok", [WRONG, WRONG]), "more rows than the gold");
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "q.jsonl", &many);
    let whole = read_table(&folder.path().join("q.jsonl"), usize::MAX);
    assert_eq!(whole.unwrap_err().status(), "too_large");
    assert_eq!(
        one("q.json", br#"{"columns": ["x", "n"], "data": [["b", 2], ["a", 1.0]]}"#),
        ("ok", [RIGHT, RIGHT])
    );
    assert_eq!(
        one("q.jsonl", b"{\"n\": 2, \"x\": \"b\"}\n{\"n\": 1, \"x\": \"a\"}\n"),
        ("ok", [RIGHT, RIGHT])
    );
}

#[test]
fn a_gold_that_is_missing_is_the_benchmarks_failure() {
    let config = ItemConfig::new("q", Json::Null, true);
    let judgement = judge(None, &[], &config, FairRules::default());
    assert_eq!((judgement.status, values(&judgement)), ("missing", [None, None]));
    let judgement = judged(&[("other.csv", "n\n1\n")], &Json::Null, true, ("q.csv", b"n\n1\n"));
    // The official function has no gold to agree with.
    assert_eq!((judgement.status, values(&judgement)), ("gold_failed", [WRONG, None]));
}

#[test]
fn fair_takes_its_rules_from_the_caller() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "q.csv", "n\n1\n");
    write(&folder.path().join("mine"), "q.csv", "n,m\n1.1,2\n");
    let config = ItemConfig::new("q", Json::Null, true);
    let golds = GoldFolder::open(folder.path(), None).unwrap().read("q");
    let fair = |rules| {
        let mine = read_table(&folder.path().join("mine/q.csv"), 10);
        judge(Some(mine), &golds, &config, rules).verdicts[1].value
    };
    assert_eq!(fair(FairRules::default()), WRONG);
    assert_eq!(fair(FairRules { tolerance: 0.2, extra_columns: true }), RIGHT);
    assert_eq!(fair(FairRules { tolerance: 0.2, extra_columns: false }), WRONG);
}

#[test]
fn folders_and_configurations_say_what_is_wrong_with_them() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(ResultFolder::open(folder.path()), Err(ResultsError::Nothing { .. })));
    assert!(matches!(ResultFolder::open(&folder.path().join("none")), Err(ResultsError::Read { .. })));
    for (text, problem) in [
        ("{\"condition_cols\": []}", "instance_id"),
        ("not json", "expected"),
        ("{\"id\": \"a\"}\n{\"id\": \"a\"}", "occurs again"),
        ("{\"id\": \"a\", \"ignore_order\": 1}", "ignore_order"),
        ("\n", "has no item"),
    ] {
        write(folder.path(), "config.jsonl", text);
        let error = read_config(&folder.path().join("config.jsonl")).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    write(folder.path(), "a_a.csv", "n\n1\n");
    write(folder.path(), "b.csv", "n\n1\n");
    fs::remove_file(folder.path().join("config.jsonl")).unwrap();
    let golds = GoldFolder::open(folder.path(), None).unwrap();
    let ids: Vec<&str> = golds.items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(ids, ["a", "b"]);
}

#[test]
fn one_format_of_a_name_is_read_and_the_rest_of_a_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["q.json", "q.csv", "q.parquet", "q.tsv", "NOTES", ".hidden", "r.CSV"] {
        write(folder.path(), name, "n\n1\n");
    }
    let opened = ResultFolder::open(folder.path()).unwrap();
    assert_eq!(opened.names().collect::<Vec<_>>(), ["q", "r"]);
    assert!(opened.file("q").unwrap().ends_with("q.csv"));
    assert_eq!(opened.left, ["NOTES", "q.json", "q.parquet", "q.tsv"]);
    assert_eq!(read_table(opened.file("r").unwrap(), 10).unwrap().rows, 1);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_wrong_and_a_gold_that_is_none_is_unknown() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("folder.csv")).unwrap();
    symlink(at("circle.csv"), at("circle.csv")).unwrap();
    symlink(at("nothing"), at("nowhere.csv")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(at("pipe.csv")).status().unwrap().success());
    write(folder.path(), "q.csv", "n\n1\n");
    let config = ItemConfig::new("q", Json::Null, true);
    let golds = GoldFolder::open(folder.path(), None).unwrap();
    for name in ["folder", "circle", "nowhere", "pipe"] {
        let mine = read_table(&at(&format!("{name}.csv")), 10);
        let judgement = judge(Some(mine), &golds.read("q"), &config, FairRules::default());
        assert_eq!((judgement.status, values(&judgement)), ("not_a_file", [WRONG, WRONG]), "{name}");
        assert!(golds.files(name).is_empty(), "{name} is no input of the run");
        let mine = read_table(&at("q.csv"), 10);
        let judgement = judge(Some(mine), &golds.read(name), &config, FairRules::default());
        assert_eq!((judgement.status, values(&judgement)), ("gold_failed", [WRONG, None]), "{name}");
    }
}

#[test]
fn a_bundle_keeps_every_value_and_notices_a_changed_byte() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "typed.json",
        br#"{"columns": ["a", "b", "c"], "rows": [[1, 1.0, "x"], [9007199254740993, null, true]]}"#,
    );
    write(folder.path(), "written.csv", "a,b\n007,\n1,NA\n");
    let path = folder.path().join("x.bundle");
    let table =
        |name: &str| BundledResult::ResultFile(read_table(&folder.path().join(name), usize::MAX).unwrap());
    let mut bytes = Vec::new();
    let head = BundleHead::new(
        "an engine".to_owned(),
        vec!["s".to_owned()],
        &[ItemConfig::new("q", json!([0]), false), ItemConfig::new("r", json!(null), true)],
        json!({}),
    );
    let mut writer = BundleWriter::new(&mut bytes, &head).unwrap();
    writer.gold("q", "q", &table("typed.json")).unwrap();
    writer.prediction("s", "q", &table("written.csv")).unwrap();
    writer
        .prediction(
            "s",
            "r",
            &BundledResult::Failed { status: "timeout".to_owned(), error: "too slow".to_owned() },
        )
        .unwrap();
    writer.finish().unwrap();
    fs::write(&path, &bytes).unwrap();

    let bundle = Bundle::open(&path).unwrap();
    assert_eq!((bundle.items[0].condition_cols(), bundle.items[0].ignore_order), (&json!([0]), false));
    let cells = |table: &sqlgauge_results::ResultFile| format!("{:?}", table.cells);
    let original = |name: &str| cells(&read_table(&folder.path().join(name), usize::MAX).unwrap());
    assert_eq!(cells(bundle.golds("q")[0].table.as_ref().unwrap()), original("typed.json"));
    assert_eq!(cells(&bundle.result("s", "q").unwrap().0.unwrap()), original("written.csv"));
    let (failed, status) = bundle.result("s", "r").unwrap();
    assert!(failed.unwrap_err().to_string().contains("too slow") && status.as_deref() == Some("timeout"));

    let text = String::from_utf8(bytes.clone()).unwrap();
    fs::write(&path, text.replace("007", "008")).unwrap();
    assert!(matches!(Bundle::open(&path), Err(ResultsError::Damaged { .. })));
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(matches!(Bundle::open(&path), Err(ResultsError::Damaged { .. })));
}

/// The file with a hash that is right, whoever wrote its lines.
fn sealed(lines: &[String]) -> String {
    let content = lines.join("\n") + "\n";
    let hash = sqlgauge_base::hex(&Sha256::digest(&content));
    content + &json!({"lines": lines.len(), "sha256": hash}).to_string() + "\n"
}

/// What a bundle says twice, says of others than its head has, or says too much of, is refused before it is built.
#[test]
fn a_bundle_repeats_nothing_and_states_no_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.bundle");
    let head = |systems: Json, items: &[&str]| {
        let items: Vec<Json> = items.iter().map(|id| json!({"id": id, "ignore_order": true})).collect();
        json!({"bundle": "sqlgauge-bundle@1", "tool_version": "0", "engine": "e", "systems": systems, "items": items, "run": {}})
            .to_string()
    };
    let line = |kind: &str, name: &str, id: &str| {
        json!({kind: name, "id": id, "types": "stated", "columns": ["a"], "rows": [[1]]}).to_string()
    };
    let open = |lines: &[String]| {
        fs::write(&path, sealed(lines)).unwrap();
        Bundle::open(&path)
    };
    let whole = [head(json!(["s"]), &["q"]), line("gold", "q", "q"), line("system", "s", "q")];
    assert!(open(&whole).unwrap().result("s", "q").unwrap().0.is_ok());
    let with = |further: String| [whole.as_slice(), &[further]].concat();
    let many: Vec<String> = (0..5000).map(|number| number.to_string()).collect();
    for (lines, problem) in [
        (vec![head(json!(["s", "s"]), &["q"])], "its head has the system \"s\" twice"),
        (vec![head(json!(["s"]), &["q", "p", "q"])], "its head has the item \"q\" twice"),
        (vec![head(json!(many), &["q"])], "a list of at most 4096"),
        (with(line("gold", "q", "q")), "line 4 repeats a gold"),
        (with(line("system", "s", "q")), "line 4 repeats a result"),
        (with(line("system", "t", "q")), "line 4 is of an item or a system that its head lacks"),
        (with(line("gold", "r", "r")), "line 4 is of an item or a system that its head lacks"),
        (with("{\"id\": \"q\"}".to_owned()), "line 4 is neither gold nor result"),
    ] {
        let error = open(&lines).err().unwrap();
        assert!(error.to_string().contains(problem), "{problem}: {error}");
    }
    fs::File::create(&path).unwrap().set_len(65 << 20).unwrap();
    let error = Bundle::open(&path).err().unwrap().to_string();
    assert!(error.contains("line 1 is longer than 64 MiB"), "{error}");
    // Each names the other's size: together they would take their product.
    let columns = vec!["\"\""; 100_000].join(",");
    let rows = vec!["[]"; 100_000].join(",");
    let wide = format!("{{\"gold\": \"q\", \"id\": \"q\", \"columns\": [{columns}], \"rows\": [{rows}]}}");
    let bundle = open(&[whole[0].clone(), wide]).unwrap();
    assert!(bundle.golds("q")[0].table.is_err());
    let values = format!("{{\"gold\": \"q\", \"id\": \"q\", \"rows\": [{}0]}}", "0,".repeat(1 << 24));
    let bundle = open(&[whole[0].clone(), values]).unwrap();
    let error = bundle.golds("q").remove(0).table.unwrap_err();
    assert_eq!(error.status(), "too_large");
}
