//! For programs: a line a gold, in the order of the file, those without a finding too.

use std::io::{self, Write};

use super::AuditFormat;
use crate::report::BenchmarkAudit;

/// See the head of this file.
pub struct Jsonl;

impl AuditFormat for Jsonl {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn render(&self, audit: &BenchmarkAudit, out: &mut dyn Write) -> io::Result<()> {
        for item in &audit.items {
            serde_json::to_writer(&mut *out, &item.to_json())?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gold_has_a_line() {
        let text = super::super::tests::rendered(&Jsonl);
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["findings"][0]["rule"], "tie-at-limit");
        assert!(lines[0]["confidence"].as_f64().is_some_and(|share| share > 0.0 && share < 1.0));
        assert!(lines[1]["confidence"].is_null());
        assert_eq!(lines[1]["unchecked"][0]["reason"], "no rows");
    }
}
