//! Extraction never panics and removes nothing more when it is asked again after a clean first time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sqlgauge_dataset::extract_sql;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let once = extract_sql(&text);
    if once.removed.is_empty() {
        assert!(text.contains(&once.sql));
        assert_eq!(extract_sql(&once.sql).sql, once.sql);
    }
});
