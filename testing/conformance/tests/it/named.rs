//! What a text names, read off its syntax, is what the resolved query reads: over every real text that resolves.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use sqlgauge_conformance::{data, statements};
use sqlgauge_engine::{Database, Engine, Limits, SqliteEngine};
use sqlgauge_sql::{Features, NamedThings, resolve};

#[test]
#[ignore = "long: cargo xtask long"]
fn names_of_the_text_are_those_of_the_resolved_query() {
    let Some(root) = data() else { return };
    let engine = SqliteEngine::new(Limits::default());
    let mut databases: HashMap<PathBuf, Arc<Database>> = HashMap::new();
    let (mut resolved, mut different) = (0, Vec::new());
    for statement in statements(&root) {
        let open = || engine.open(&statement.database).unwrap();
        let database = databases.entry(statement.database.clone()).or_insert_with(open);
        let schema = database.schema();
        let Ok(query) = resolve(&statement.sql, schema) else { continue };
        resolved += 1;
        let Features { tables, columns, .. } = Features::of(&query, schema);
        let named = NamedThings::of(&statement.sql, schema).unwrap().unwrap();
        if (NamedThings { tables, columns }) != named {
            different.push(statement.sql);
        }
    }
    println!("{resolved} texts resolve, {} of them name something else", different.len());
    different.iter().take(20).for_each(|sql| println!("  {sql}"));
    assert!(resolved > 20_000, "{resolved}");
    assert!(different.is_empty());
}
