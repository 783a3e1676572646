//! Scores a file of answers as one cold batch: `batch WORKER DATABASES QUESTIONS PREDICTIONS`. `cargo xtask work` counts its
//! instructions.

use std::collections::HashMap;
use std::error::Error;
use std::fs::read_to_string;

use serde_json::Value;
use sqlgauge_engine::WorkerCommand;
use sqlgauge_reward::{Request, Reward, RewardOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [worker, databases, questions, predictions] = arguments.as_slice() else {
        return Err("usage: batch WORKER DATABASES QUESTIONS PREDICTIONS".into());
    };
    let questions: Vec<Value> = serde_json::from_str(&read_to_string(questions)?)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let golds: HashMap<String, &Value> = questions.iter().map(|item| (text(&item["id"]), item)).collect();
    let mut requests = Vec::new();
    for line in read_to_string(predictions)?.lines() {
        let answer: Value = serde_json::from_str(line)?;
        let item = golds.get(&text(&answer["id"])).ok_or("an answer to no question")?;
        let golds = vec![text(&item["gold"])];
        requests.push(Request { prediction: text(&answer["sql"]), golds, db_id: text(&item["db_id"]) });
    }
    let options = RewardOptions { threads: 1, ..RewardOptions::new(databases) };
    let results = Reward::new(options, WorkerCommand::new(worker))?.score(&requests)?;
    let right = results.iter().filter(|result| result.value == Some(1.0)).count();
    println!("{right} of {} answers are right", results.len());
    Ok(())
}
