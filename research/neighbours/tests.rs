//! A small round of the program `neighbours` on the engines that are installed. DuckDB, whose processes start slowly, is left to the
//! program.

use std::process::Command;

/// The outcome of an item is the same alone and among neighbours, and no hostile text changes a server.
#[test]
fn neighbours_and_hostile_texts_change_no_outcome() {
    for engine in ["SQLite", "PostgreSQL", "MariaDB"] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_neighbours"));
        let output = program.args(["--items", "100", "--limit", "1", "--engine", engine]).output().unwrap();
        let lines = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{lines}{}", String::from_utf8_lossy(&output.stderr));
    }
}
