//! Real golds and predictions.

mod common;

use common::{predictions, request, reward, spider};
use sqlgauge_engine::{Engine, SqliteEngine};
use sqlgauge_metrics::{Pair, Target, find};
use sqlgauge_reward::{AnswerColumns, Code, Request, RewardOptions};

/// The value is that of the metric, and every gold is right beside itself.
#[test]
fn exact_is_ex() {
    let Some((databases, golds)) = spider() else { return };
    let options =
        RewardOptions { extract: false, columns: AnswerColumns::Ordered, ..RewardOptions::new(&databases) };
    let reward = reward(options.clone());
    let gold_requests: Vec<Request> = golds.iter().map(|(gold, db_id)| request(gold, gold, db_id)).collect();
    let results = reward.score(&gold_requests).unwrap();
    for ((gold, _), result) in golds.iter().zip(&results) {
        assert_eq!(result.code, Code::Right, "{gold}: {}", result.reason);
    }
    let (engine, ex) = (SqliteEngine::new(sqlgauge_engine::Limits::default()), find("ex@1").unwrap());
    let system = predictions("etm_DAIL");
    let batch: Vec<Request> =
        golds.iter().zip(&system).map(|((gold, db_id), text)| request(text, gold, db_id)).collect();
    let results = reward.score(&batch).unwrap();
    for (((gold, db_id), text), result) in golds.iter().zip(&system).zip(&results).step_by(7) {
        let target =
            Target::new(db_id, engine.open(&databases.join(format!("{db_id}/{db_id}.sqlite"))).unwrap());
        let value = ex.score(&Pair::new(&engine, &target, gold, text, None)).value;
        assert_eq!(result.value, value, "{gold}\n{text}: {}", result.reason);
    }
}
