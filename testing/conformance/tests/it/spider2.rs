//! `spider2@1` equals the official function on real results: every verdict of `official_scores.json`.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use sqlgauge_conformance::{data, read};
use sqlgauge_results::{FairRules, GoldFolder, METRICS, judge, most_rows, read_config, read_table};

/// Items whose golds are not whole in the data.
const INCOMPLETE: [&str; 4] = ["sf_bq441", "sf_bq069", "sf_bq276", "sf_bq458"];

/// The golds, unpacked.
fn golds(folder: &Path, root: &Path) -> GoldFolder {
    let archive = root.join("spider2/snow-gold.tar.xz");
    let status = Command::new("tar").arg("xJf").arg(&archive).arg("-C").arg(folder).status().unwrap();
    assert!(status.success(), "{}", archive.display());
    let config = read_config(&root.join("spider2/spider2snow_eval.jsonl")).unwrap();
    let results = folder.join("spider2-snow/evaluation_suite/gold/exec_result");
    GoldFolder::open(&results, Some(config)).unwrap()
}

#[test]
#[ignore = "long: cargo xtask long"]
fn every_official_verdict_is_ours() {
    let Some(root) = data() else { return };
    let folder = tempfile::tempdir().unwrap();
    let golds = golds(folder.path(), &root);
    let verdicts: Vec<Value> =
        serde_json::from_str(&read(&root.join("spider2/official_scores.json"))).unwrap();
    let place = METRICS.iter().position(|metric| metric.id() == "spider2@1").unwrap();
    let mut different = Vec::new();
    let mut compared = 0;
    for verdict in &verdicts {
        let [system, id] = ["system", "instance_id"].map(|name| verdict[name].as_str().unwrap());
        let Some(config) = golds.items.iter().find(|item| item.id == id && !INCOMPLETE.contains(&id)) else {
            continue;
        };
        let read = golds.read(id);
        let file = root.join("spider2/predictions").join(system).join(format!("{id}.csv"));
        let judgement = judge(Some(read_table(&file, most_rows(&read))), &read, config, FairRules::default());
        compared += 1;
        if judgement.verdicts[place].value != verdict["score"].as_f64() {
            different.push(format!(
                "{system} {id}: {:?}, the official function says {}",
                judgement.verdicts[place], verdict["score"]
            ));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert_eq!(compared, 42);
}
