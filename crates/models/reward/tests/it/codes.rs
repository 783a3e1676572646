//! What answers get, each kind of reward by a table.

use std::time::Duration;

use crate::common::{ask, code, request, reward, shop};
use sqlgauge_engine::{EngineError, WorkerCommand};
use sqlgauge_reward::{Code, Request, Reward, RewardError, RewardKind, RewardOptions};

const GOLD: &str = "SELECT name FROM shop WHERE city = 'Oslo'";
const ENDLESS: &str = "SELECT count(*) FROM sale, (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n)";

/// A worker that cannot be started is an error of its batch. With the program in its place again the same batch has its values,
/// so what the machine failed at is not remembered of an answer, a gold or a database.
#[cfg(unix)]
#[test]
fn a_reward_recovers_when_the_machine_does() {
    use std::os::unix::fs::symlink;
    let folder = shop();
    let program = folder.path().join("worker");
    let put = || symlink(env!("CARGO_BIN_EXE_sqlgauge-reward-worker"), &program).unwrap();
    put();
    let options =
        RewardOptions { time_limit: Duration::from_millis(300), ..RewardOptions::new(folder.path()) };
    let reward = Reward::new(options, WorkerCommand::new(&program)).unwrap();
    let slow = |at: usize| {
        let sum = "SELECT sum(i) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 150000) SELECT i FROM n)";
        format!("SELECT name FROM shop WHERE city = 'Oslo' AND ({sum}) > {at}")
    };
    let batch = |at: usize| vec![request(&slow(at), &slow(at + 100), "shop")];
    std::fs::remove_file(&program).unwrap();
    // A worker that was killed is not there for the next query; whether one is killed depends on where it was when its time was over.
    let failed = |at: &usize| {
        let kills = format!(
            "SELECT printf('%.8000000c', 'a') LIKE '%' || printf('%.200c', 'a') || 'b{at}' FROM shop"
        );
        code(&reward, &kills, GOLD) == Code::Timeout && reward.score(&batch(*at)).is_err()
    };
    let at = (0..20).find(failed).expect("a worker that is killed");
    let error = reward.score(&batch(at)).unwrap_err();
    assert!(matches!(&error, RewardError::Engine(EngineError::NoWorker { .. })), "{error}");
    // Answers that need no worker are scored meanwhile.
    assert_eq!(code(&reward, GOLD, GOLD), Code::Right);
    put();
    assert_eq!(reward.score(&batch(at)).unwrap()[0].code, Code::Right);
}

#[test]
fn each_code_has_its_answers() {
    let folder = shop();
    let options =
        RewardOptions { time_limit: Duration::from_millis(300), ..RewardOptions::new(folder.path()) };
    let reward = reward(options);
    for (prediction, gold, expected) in [
        (GOLD, GOLD, Code::Right),
        ("select NAME from shop where city='Oslo' ;", GOLD, Code::Right),
        ("```sql\nSELECT name FROM shop WHERE id < 3\n```", GOLD, Code::Right),
        ("<think>SELECT 1?</think> SELECT name FROM shop WHERE city = 'Oslo' -- done", GOLD, Code::Right),
        ("SELECT name FROM shop", GOLD, Code::Wrong),
        ("SELECT city, name FROM shop WHERE city = 'Oslo'", GOLD, Code::Wrong),
        ("SELECT nothing FROM shop", GOLD, Code::DoesNotRun),
        ("SELECT name FROM shops", GOLD, Code::DoesNotRun),
        ("SELECT name FROM shop WHERE", GOLD, Code::DoesNotRun),
        ("SELECT json('?') FROM shop", GOLD, Code::DoesNotRun),
        (ENDLESS, GOLD, Code::Timeout),
        ("SELECT zeroblob(100000000) FROM shop", GOLD, Code::TooLarge),
        ("", GOLD, Code::NoSql),
        ("<think>SELECT 1", GOLD, Code::NoSql),
        ("-- nothing", GOLD, Code::NoSql),
        ("I do not know.", GOLD, Code::NoSql),
        ("DELETE FROM shop", GOLD, Code::NoSql),
        ("PRAGMA table_info(shop)", GOLD, Code::NoSql),
        ("ATTACH DATABASE 'x' AS x", GOLD, Code::Denied),
        ("VALUES ('Ada'), ('Bo')", GOLD, Code::ReadsNoTable),
        ("SELECT 'Ada' UNION ALL SELECT 'Bo'", GOLD, Code::ReadsNoTable),
        ("WITH unused AS (SELECT * FROM shop) SELECT 'Ada' UNION ALL SELECT 'Bo'", GOLD, Code::ReadsNoTable),
        ("SELECT 5 FROM sqlite_master LIMIT 1", "SELECT count(*) FROM sale", Code::ReadsNoTable),
        ("SELECT 1", "SELECT 1", Code::Right),
        ("SELECT 2 - 1", "SELECT 1", Code::Right),
        (GOLD, "SELECT name FROM nowhere", Code::GoldFailed),
        (GOLD, "", Code::GoldFailed),
    ] {
        let result = ask(&reward, prediction, gold);
        assert_eq!(result.code, expected, "{prediction}: {}", result.reason);
        let value = match expected {
            Code::Right => Some(1.0),
            Code::GoldFailed => None,
            _ => Some(0.0),
        };
        assert_eq!(result.value, value, "{prediction}");
        assert!(!result.reason.is_empty());
    }
}

#[test]
fn an_answer_counts_by_the_best_of_its_golds() {
    let folder = shop();
    let reward = reward(RewardOptions::new(folder.path()));
    let golds = |golds: &[&str]| {
        let golds = golds.iter().map(|gold| (*gold).to_owned()).collect();
        let one = Request { prediction: GOLD.to_owned(), golds, db_id: "shop".to_owned() };
        reward.score(&[one]).unwrap()[0].code
    };
    assert_eq!(golds(&["SELECT id FROM shop", GOLD]), Code::Right);
    assert_eq!(golds(&["SELECT oops", "SELECT id FROM shop"]), Code::Wrong);
    assert_eq!(golds(&["SELECT oops", GOLD]), Code::Right);
    assert_eq!(golds(&["SELECT oops"]), Code::GoldFailed);
}

#[test]
fn sql_is_taken_as_it_is_where_nothing_is_to_be_extracted() {
    let folder = shop();
    let reward = reward(RewardOptions { extract: false, ..RewardOptions::new(folder.path()) });
    assert_eq!(code(&reward, GOLD, GOLD), Code::Right);
    assert_eq!(code(&reward, "```sql\nSELECT name FROM shop\n```", GOLD), Code::DoesNotRun);
    assert_eq!(code(&reward, &format!("{GOLD}; SELECT 1"), GOLD), Code::DoesNotRun);
}

#[test]
fn partial_credit_grows_with_what_is_right() {
    let folder = shop();
    let options = RewardOptions {
        kind: RewardKind::Dense,
        time_limit: Duration::from_millis(300),
        ..RewardOptions::new(folder.path())
    };
    let reward = reward(options);
    let values: Vec<f64> = [
        "SELEC",
        "SELECT nope FROM shop",
        "SELECT json('?') FROM shop",
        "SELECT city FROM sale, shop WHERE sale.shop_id = shop.id AND amount > 1000",
        "SELECT name FROM shop WHERE city = 'Rome' OR id = 1",
        "SELECT name FROM shop",
        GOLD,
    ]
    .iter()
    .map(|prediction| ask(&reward, prediction, GOLD).value.unwrap())
    .collect();
    assert!(values.is_sorted() && values[0] < values[1] && values[1] < values[2], "{values:?}");
    assert!(values[2] < values[3] && values[3] < values[4] && values[5] < values[6], "{values:?}");
    assert!((values[6] - 1.0).abs() < 1e-12);
    assert_eq!(ask(&reward, GOLD, "SELECT oops").value, None);
    assert_eq!(ask(&reward, "VALUES ('Ada'), ('Bo')", GOLD).value, Some(0.0));
}

#[test]
fn structure_is_judged_without_a_run() {
    let folder = shop();
    let reward = reward(RewardOptions { kind: RewardKind::Structure, ..RewardOptions::new(folder.path()) });
    for (prediction, gold, expected) in [
        ("SELECT shop.name FROM shop WHERE 'Oslo' = city", GOLD, Code::Right),
        // The same rows by chance.
        ("SELECT name FROM shop WHERE id < 3", GOLD, Code::Wrong),
        ("SELECT nope FROM shop", GOLD, Code::DoesNotRun),
        ("", GOLD, Code::NoSql),
        ("VALUES (1)", GOLD, Code::ReadsNoTable),
        (GOLD, "SELECT nope", Code::GoldFailed),
        (ENDLESS, ENDLESS, Code::Right),
    ] {
        let result = ask(&reward, prediction, gold);
        assert_eq!(result.code, expected, "{prediction}: {}", result.reason);
    }
}

#[test]
fn queries_without_end_cost_no_other_its_outcome() {
    let folder = shop();
    let limit = Duration::from_millis(600);
    let reward = reward(RewardOptions { time_limit: limit, threads: 2, ..RewardOptions::new(folder.path()) });
    let endless = (0..16).map(|number| request(&format!("{ENDLESS} WHERE amount <> {number}"), GOLD, "shop"));
    let others =
        (0..16).map(|number| request(&format!("SELECT name FROM shop WHERE id > {number}"), GOLD, "shop"));
    let batch: Vec<Request> = endless.chain(others).collect();
    let results = reward.score(&batch).unwrap();
    assert!(results[..16].iter().all(|result| result.code == Code::Timeout));
    assert!(results[16..].iter().all(|result| result.code != Code::Timeout));
}

/// Many times as many processes as cores, so that each has a small part of one.
#[test]
fn a_right_answer_has_its_time_whatever_runs_beside_it() {
    let folder = shop();
    let options = RewardOptions {
        time_limit: Duration::from_secs(1),
        slow_queries: 16,
        ..RewardOptions::new(folder.path())
    };
    let reward = reward(options);
    // It computes for about a tenth of the limit, most of it in a process of its own.
    let counted = "(SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \
                   WHERE i < 400000) SELECT i FROM n))";
    let right = (0..8).map(|number| {
        let filter = format!("id > -{number} AND {counted} > 0 ORDER BY id");
        request(&format!("SELECT name FROM shop WHERE {filter}"), "SELECT name FROM shop ORDER BY id", "shop")
    });
    let endless = (0..12).map(|number| request(&format!("{ENDLESS} WHERE amount <> {number}"), GOLD, "shop"));
    let batch: Vec<Request> = endless.chain(right).collect();
    let results = reward.score(&batch).unwrap();
    let codes: Vec<Code> = results.iter().map(|result| result.code).collect();
    assert!(codes[..12].iter().all(|code| *code == Code::Timeout), "{codes:?}");
    assert!(codes[12..].iter().all(|code| *code == Code::Right), "{codes:?}");
}

#[test]
fn the_machinery_fails_by_name() {
    let folder = shop();
    let reward = reward(RewardOptions::new(folder.path()));
    let unknown = reward.score(&[request(GOLD, GOLD, "shp")]).unwrap_err();
    assert!(unknown.to_string().contains("the closest names there are shop"), "{unknown}");
    let none = Request { prediction: GOLD.into(), golds: Vec::new(), db_id: "shop".into() };
    assert!(matches!(reward.score(&[none]), Err(RewardError::NoGold(0))));
    let missing = Reward::new(RewardOptions::new(folder.path().join("x")), crate::common::worker());
    assert!(matches!(missing, Err(RewardError::Databases(_))));
    let no_program = Reward::new(RewardOptions::new(folder.path()), WorkerCommand::new("/no/such/program"));
    assert!(no_program.err().unwrap().to_string().contains("/no/such/program"));
    // A file that is replaced is no longer what it was.
    code(&reward, GOLD, GOLD);
    std::fs::write(folder.path().join("shop/shop.sqlite"), b"").unwrap();
    assert!(matches!(reward.score(&[request(GOLD, GOLD, "shop")]), Err(RewardError::Engine(_))));
}

#[test]
fn results_do_not_depend_on_threads_nor_on_the_rest_of_the_batch() {
    let folder = shop();
    let texts = [
        "SELECT name FROM shop",
        GOLD,
        "SELECT 1",
        "SELECT id FROM shop",
        "x",
        "SELECT name FROM shop LIMIT 2",
    ];
    let batch: Vec<Request> = texts.iter().cycle().take(60).map(|text| request(text, GOLD, "shop")).collect();
    let of = |threads| {
        let reward = reward(RewardOptions { threads, witnesses: true, ..RewardOptions::new(folder.path()) });
        reward.score(&batch).unwrap()
    };
    let all = of(1);
    assert_eq!(all, of(4));
    for (text, result) in texts.iter().zip(&all) {
        let alone = reward(RewardOptions { witnesses: true, ..RewardOptions::new(folder.path()) });
        assert_eq!(ask(&alone, text, GOLD), *result, "{text}");
    }
}
