//! A small benchmark with answers, for the cases whose data are not what is hostile.

use std::fs;
use std::path::Path;

use anyhow::Result;
use rusqlite::Connection;
use serde_json::json;

/// Writes `database/shop/shop.sqlite`, `known/store/store.sqlite`, `dev.json`, `train.json`, `several.jsonl`, `good.jsonl`, `fair.jsonl` and the folder `sources` with four tables.
pub(crate) fn write(folder: &Path, items: usize) -> Result<()> {
    let database = folder.join("database/shop");
    fs::create_dir_all(&database)?;
    Connection::open(database.join("shop.sqlite"))?.execute_batch(
        "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL);
         CREATE TABLE sale (item INTEGER REFERENCES item(id), day TEXT, count INTEGER);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
         INSERT INTO item SELECT i, 'item ' || i, i * 0.5 FROM n;
         INSERT INTO sale SELECT id, '2024-01-' || (id % 28), id % 7 FROM item;",
    )?;
    let gold = |at: usize| format!("SELECT name FROM item WHERE price > {at} ORDER BY name");
    let questions: Vec<_> = (0..items)
        .map(|at| json!({"question_id": at, "db_id": "shop", "question": format!("Which items cost {at}?"), "query": gold(at)}))
        .collect();
    fs::write(folder.join("dev.json"), serde_json::to_string(&questions)?)?;
    // Demonstrations come from other databases.
    let store = folder.join("known/store");
    fs::create_dir_all(&store)?;
    Connection::open(store.join("store.sqlite"))?
        .execute_batch("CREATE TABLE ware (id INTEGER, name TEXT);")?;
    let row = |at: usize| {
        let query = format!("SELECT name FROM ware WHERE id = {at}");
        json!({"question_id": at, "db_id": "store", "question": format!("Which is ware {at}?"), "query": query})
    };
    fs::write(folder.join("train.json"), json!([row(1), row(2), row(3)]).to_string())?;
    for (system, right) in [("good", 4), ("fair", 2)] {
        let sql = |at: usize| if at % 5 < right { gold(at) } else { gold(at).replace('>', "<") };
        let lines = (0..items).map(|at| json!({"id": at.to_string(), "sql": sql(at)}).to_string() + "\n");
        fs::write(folder.join(format!("{system}.jsonl")), lines.collect::<String>())?;
    }
    let answers =
        |at: usize| json!([gold(at), gold(at).replace('>', "<"), gold(at).replace("ORDER", " ORDER")]);
    let lists =
        (0..items).map(|at| json!({"id": at.to_string(), "predictions": answers(at)}).to_string() + "\n");
    fs::write(folder.join("several.jsonl"), lists.collect::<String>())?;
    let sources = folder.join("sources");
    fs::create_dir_all(&sources)?;
    for file in 0..4 {
        let rows = (0..30).map(|row| format!("{row},name {row},{}\n", row * file % 7));
        let text = format!("id,name,a\n{}", rows.collect::<String>());
        fs::write(sources.join(format!("part{file}.csv")), text)?;
    }
    Ok(())
}

/// What `score` needs besides its output.
pub(crate) const SCORE: [&str; 13] = [
    "score",
    "--gold",
    "dev.json",
    "--db",
    "database",
    "--pred",
    "good=good.jsonl",
    "--pred",
    "fair=fair.jsonl",
    "--metrics",
    "ex-spider,ex,esm",
    "--now",
    "2026-01-31",
];
