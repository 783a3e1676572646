//! Extraction never panics and removes nothing more when it is asked again after a clean first time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sqlgauge_dataset::extract_sql;

/// What models write around a query; each byte above 127 stands for one of them.
const MARKS: [&str; 16] = [
    "SELECT a FROM t",
    "<sql>",
    "</sql>",
    "<answer>",
    "</answer>",
    "<observation>",
    "</observation>",
    "<think>",
    "</think>",
    "```",
    "'''",
    "\\boxed{",
    "Final SQL: ",
    "\nSQLResult: ",
    "\nQuestion: ",
    "\u{ff1b}",
];

fuzz_target!(|data: &[u8]| {
    let part = |byte: &u8| match byte {
        0..128 => char::from(*byte).to_string(),
        mark => MARKS[usize::from(*mark) % MARKS.len()].to_owned(),
    };
    let text: String = data.iter().map(part).collect();
    let once = extract_sql(&text);
    if once.removed.is_empty() {
        assert!(text.contains(&once.sql));
        assert_eq!(extract_sql(&once.sql).sql, once.sql);
    }
});
