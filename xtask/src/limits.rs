//! Tables of numbers with a limit each, and the rows of `docs/explanation/decisions.md` that raise one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, Result, bail, ensure};

use crate::root;

const DECISIONS: &str = "docs/explanation/decisions.md";

/// A file of the repository.
pub(crate) fn read(path: &str) -> Result<String> {
    std::fs::read_to_string(root().join(path)).with_context(|| format!("{path} cannot be read"))
}

/// The rows of a table: a number, a tab, a name.
pub(crate) fn table(path: &str) -> Result<BTreeMap<String, usize>> {
    let rows = read(path)?;
    let row = |line: &str| {
        let (number, name) = line.split_once('\t').with_context(|| format!("{path}: no tab in {line:?}"))?;
        let number = number.parse().with_context(|| format!("{path}: not a number in {line:?}"))?;
        Ok((name.to_owned(), number))
    };
    rows.lines().map(row).collect()
}

/// Writes such a table.
pub(crate) fn write(path: &str, rows: &[(String, usize)]) -> Result<()> {
    let mut text = String::new();
    for (name, number) in rows {
        let _infallible = writeln!(text, "{number}\t{name}");
    }
    std::fs::write(root().join(path), text).with_context(|| format!("{path} cannot be written"))
}

/// What each number may be: that of the table and a margin, or what a section of the decisions says.
pub(crate) fn limits(
    table: &BTreeMap<String, usize>,
    section: &str,
    margin: impl Fn(usize) -> usize,
) -> Result<BTreeMap<String, usize>> {
    let with_margin = |(name, &number): (&String, &usize)| (name.clone(), number + margin(number));
    let mut limits: BTreeMap<String, usize> = table.iter().map(with_margin).collect();
    limits.extend(raised(&read(DECISIONS)?, section)?);
    Ok(limits)
}

/// The rows of a section of the decisions: a name, its limit, and the reason.
fn raised(decisions: &str, section: &str) -> Result<Vec<(String, usize)>> {
    let (_, rows) =
        decisions.split_once(section).with_context(|| format!("{DECISIONS} has no {section:?}"))?;
    let rows = rows.split("\n## ").next().unwrap_or_default();
    let row = |row: &str| {
        let [name, number, reason] = row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>()[..]
        else {
            bail!("{DECISIONS}: write `| name | number | reason |`: {row}");
        };
        ensure!(!reason.is_empty(), "{DECISIONS}: give the reason: {row}");
        let number = number.parse().with_context(|| format!("{DECISIONS}: not a number: {row}"))?;
        Ok((name.trim_matches('`').to_owned(), number))
    };
    // The first two are the head of the table.
    rows.lines().filter(|line| line.starts_with('|')).skip(2).map(row).collect()
}

/// Prints numbers beside their limits.
///
/// # Errors
/// If one is above its limit, or has none.
pub(crate) fn compare(
    numbers: &[(String, usize)],
    limits: &BTreeMap<String, usize>,
    path: &str,
    section: &str,
) -> Result<()> {
    let mut faults = Vec::new();
    println!("{:>8} {:>8}", "now", "limit");
    for (name, number) in numbers {
        match limits.get(name) {
            Some(limit) => {
                println!("{number:>8} {limit:>8}  {name}");
                if number > limit {
                    faults.push(format!("{name}: {number}, at most {limit}"));
                }
            }
            None => faults.push(format!("{name} is not in {path}")),
        }
    }
    let section = section.trim_start_matches("## ");
    ensure!(
        faults.is_empty(),
        "too much:\n{}\nMake it less, or give the reason in {DECISIONS} under \"{section}\": a row `| name | number | reason |`.",
        faults.join("\n")
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_its_section_raises_a_limit() {
        let page = "## What grew\n| name | number | reason |\n|---|---|---|\n| `b` | 90 | the old one went |\n| c | 8 | it reads more |\n\n## Other\n| `a` | 9 | - |\n";
        assert_eq!(raised(page, "## What grew").unwrap(), [("b".to_owned(), 90), ("c".to_owned(), 8)]);
    }

    #[test]
    fn a_row_without_a_reason_is_refused() {
        for row in ["| `a` | 2000 | |", "| `a` | many | x |", "| `a` | 2000 |"] {
            let page = format!("## What grew\n| name | number | reason |\n|---|---|---|\n{row}\n");
            assert!(raised(&page, "## What grew").is_err(), "{row}");
        }
    }

    #[test]
    fn what_is_above_its_limit_or_has_none_is_named() {
        let limits = BTreeMap::from([("a".to_owned(), 10)]);
        let numbers = |a| [("a".to_owned(), a)];
        assert!(compare(&numbers(10), &limits, "t", "s").is_ok());
        assert!(
            compare(&numbers(11), &limits, "t", "s").unwrap_err().to_string().contains("a: 11, at most 10")
        );
        assert!(compare(&[("b".to_owned(), 1)], &limits, "t", "s").is_err());
    }
}
