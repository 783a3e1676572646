//! Any text: resolving never panics, and what resolves prints to a text that resolves to the same print.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::{Dialect, Features, ordered, print, resolve};

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    Schema::from_ddl(
        "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INT, country TEXT);
         CREATE TABLE concert (id INT, singer_id INT REFERENCES singer(id), year INT, \"order\" TEXT, PRIMARY KEY (id, year));
         CREATE TABLE t (a, b, c);",
    )
    .unwrap_or_default()
});

fuzz_target!(|text: &str| {
    let Ok(query) = resolve(text, &SCHEMA) else { return };
    let _ = Features::of(&query, &SCHEMA).labels();
    let _ = ordered(&query);
    let Ok(printed) = print(&query, &SCHEMA, Dialect::Sqlite) else { return };
    match resolve(&printed, &SCHEMA) {
        Ok(again) => assert_eq!(print(&again, &SCHEMA, Dialect::Sqlite).as_ref(), Ok(&printed), "from {text:?}"),
        Err(error) => panic!("{text:?} printed as {printed:?}: {error}"),
    }
});
