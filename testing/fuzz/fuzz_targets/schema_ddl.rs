//! Any text: reading DDL never panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sqlgauge_sql::schema::Schema;

fuzz_target!(|text: &str| {
    let _ = Schema::from_ddl(text);
});
