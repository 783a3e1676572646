//! Findings as text.

use std::fmt::Write as _;

use crate::check::Kind;
use crate::hunt::Findings;
use crate::shrink::Shrunk;

/// Whether violations of that kind break the law: an index beyond the schema's may change what SQLite chooses, and
/// what resolves is another law's matter.
pub fn breaks_law(kind: Kind) -> bool {
    !matches!(kind, Kind::OnlyIndexed | Kind::Unresolved | Kind::Unrefused)
}

pub fn markdown(findings: &Findings) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{} queries, {} ran, {} applications, {} equal pairs\n\n| rule | applications | violations |\n|---|---|---|",
        findings.queries,
        findings.ran,
        findings.total(),
        findings.equal_pairs
    );
    let mut rules: Vec<&String> = findings.applications.keys().collect();
    rules.extend(findings.counts.keys().map(|(rule, _)| rule));
    rules.sort_unstable();
    rules.dedup();
    for rule in &rules {
        let counts = findings.counts.iter().filter(|((name, _), _)| name == *rule);
        let counts: Vec<String> = counts.map(|((_, kind), count)| format!("{kind:?} {count}")).collect();
        let applied = findings.applications.get(*rule).copied().unwrap_or(0);
        let _ = writeln!(out, "| {rule} | {applied} | {} |", counts.join(", "));
    }
    for rule in rules {
        let examples: Vec<&Shrunk> = findings.examples.iter().filter(|e| e.violation.rule == *rule).collect();
        if !examples.is_empty() {
            let _ = writeln!(out, "\n## {rule}");
            examples.into_iter().for_each(|example| out.push_str(&one(example)));
        }
    }
    out
}

fn one(example: &Shrunk) -> String {
    let Shrunk { violation, world, script, left, right } = example;
    let mut out = format!("\n### {:?} ({world}) {}\n```sql\n", violation.kind, violation.note);
    if violation.database.is_none() && !left.is_empty() {
        script.iter().for_each(|statement| {
            let _ = writeln!(out, "{statement};");
        });
    }
    let _ = writeln!(out, "{};", violation.before);
    if !left.is_empty() {
        let _ = writeln!(out, "-- {left}");
    }
    if !violation.after.is_empty() {
        let _ = writeln!(out, "{};", violation.after);
    }
    if !right.is_empty() {
        let _ = writeln!(out, "-- {right}");
    }
    out.push_str("```\n");
    out
}
