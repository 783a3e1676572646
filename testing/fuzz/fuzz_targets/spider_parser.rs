//! Any text: Spider's own parser, as rebuilt here, never panics, and hardness follows from what it reads.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sqlgauge_sql::spider::{Catalog, hardness, parse};

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    Catalog::new([("singer", vec!["id", "name", "age"]), ("concert", vec!["id", "singer_id", "year"])])
});

fuzz_target!(|text: &str| {
    if let Ok(query) = parse(&CATALOG, text) {
        let _ = hardness(&query);
    }
});
