//! What the tests of this crate share.

use std::path::PathBuf;

use rusqlite::Connection;
use sqlgauge_conformance::{data, gold_lines, read};
use sqlgauge_engine::WorkerCommand;
use sqlgauge_reward::{Code, Request, Reward, RewardOptions, RewardResult};

const SHOP: &str = "
    CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, rating REAL);
    CREATE TABLE sale (id INTEGER PRIMARY KEY, shop_id INT NOT NULL REFERENCES shop(id), amount INT NOT NULL);
    CREATE TABLE empty (id INTEGER PRIMARY KEY);
    INSERT INTO shop VALUES (1, 'Ada', 'Oslo', 4.5), (2, 'Bo', 'Oslo', 3.0), (3, 'Cy', 'Rome', 4.5);
    INSERT INTO sale VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5), (4, 3, 7), (5, 3, 8);";

/// A folder with one small database, `shop`.
pub(crate) fn shop() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("shop")).unwrap();
    Connection::open(folder.path().join("shop/shop.sqlite")).unwrap().execute_batch(SHOP).unwrap();
    folder
}

pub(crate) fn worker() -> WorkerCommand {
    WorkerCommand::new(env!("CARGO_BIN_EXE_sqlgauge-reward-worker"))
}

pub(crate) fn reward(options: RewardOptions) -> Reward {
    Reward::new(options, worker()).unwrap()
}

pub(crate) fn request(prediction: &str, gold: &str, db_id: &str) -> Request {
    Request { prediction: prediction.to_owned(), golds: vec![gold.to_owned()], db_id: db_id.to_owned() }
}

/// One answer on the shop.
pub(crate) fn ask(reward: &Reward, prediction: &str, gold: &str) -> RewardResult {
    reward.score(&[request(prediction, gold, "shop")]).unwrap().remove(0)
}

pub(crate) fn code(reward: &Reward, prediction: &str, gold: &str) -> Code {
    ask(reward, prediction, gold).code
}

/// Spider dev: its databases, and golds with their databases.
pub(crate) fn spider() -> Option<(PathBuf, Vec<(String, String)>)> {
    let spider = data()?.join("spider");
    Some((spider.join("database"), gold_lines(&spider.join("dev_gold.sql"))))
}

/// The predictions of a system, aligned with the golds.
pub(crate) fn predictions(system: &str) -> Vec<String> {
    let path = data().unwrap().join(format!("spider/predictions/dev/{system}.sql"));
    read(&path).lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
}
