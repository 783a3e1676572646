//! No bytes make the reader of `tables.json` panic, and every entry that it accepts becomes a sound schema.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sqlgauge_dataset::{Input, parse_tables};

fuzz_target!(|data: &[u8]| {
    let Ok(tables) = parse_tables(&Input::from_bytes("tables.json", data.to_vec())) else { return };
    for entry in tables.entries() {
        assert_eq!(tables.get(&entry.db_id), Some(entry));
        let schema = entry.schema();
        assert_eq!(schema.tables().len(), entry.table_names_original.len());
        for table in schema.tables() {
            assert!(table.primary_key.iter().all(|&column| table.column(column).is_some()));
            let columns = table.foreign_keys.iter().flat_map(|key| &key.columns);
            assert!(columns.into_iter().all(|&column| table.column(column).is_some()));
        }
    }
});
