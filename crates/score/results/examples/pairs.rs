//! Verdicts over files: `pairs GOLDS CONFIG FOLDER` prints id and verdicts of each result of a folder.
use sqlgauge_results::{
    FairRules, GoldFolder, METRICS, ResultFolder, judge, most_rows, read_config, read_table,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let golds = GoldFolder::open(arguments[0].as_ref(), Some(read_config(arguments[1].as_ref())?))?;
    let results = ResultFolder::open(arguments[2].as_ref())?;
    for item in &golds.items {
        let Some(file) = results.file(&item.id) else { continue };
        let golds = golds.read(&item.id);
        let judgement = judge(Some(read_table(file, most_rows(&golds))), &golds, item, FairRules::default());
        let verdicts: Vec<String> = judgement
            .verdicts
            .iter()
            .map(|v| format!("{:?} {}", v.value, v.reason.clone().unwrap_or_default()))
            .collect();
        println!("{}\t{}\t{}", item.id, judgement.status, verdicts.join("\t"));
        debug_assert_eq!(METRICS.len(), verdicts.len());
    }
    Ok(())
}
