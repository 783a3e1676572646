//! How probable it is that a gold with certain findings is wrong.
//!
//! Each rule that reports something adds its weight to the log odds once. A weight is the log odds ratio of the rule on the golds that
//! people judged, pooled over the three sets of docs/results/audit.md, on the databases for designing; it is drawn towards the weight of
//! the rule's standing as if ten golds more said that. A rule that never spoke there has the weight of its standing.

use crate::finding::Finding;

/// Log odds that a gold without a finding is wrong.
const BASE: f64 = -0.5;

/// No list of findings makes it certain.
const MOST: f64 = 0.99;

/// What a finding adds to the log odds, by rule.
const WEIGHTS: &[(&str, f64)] = &[
    ("does-not-run", 2.00),
    ("tie-possible-at-limit", 0.70),
    ("bare-column", 0.98),
    ("date-as-year", 2.55),
    ("integer-division", 2.00),
    ("constant-condition", 1.90),
    ("reversed-between", 1.90),
    ("or-beside-and", 0.90),
    ("join-without-key", 3.09),
    ("column-of-other-table", 0.81),
    ("joined-table-unused", 0.86),
    ("join-multiplies", 0.32),
    ("count-of-reference", 0.53),
    ("count-per-group", 0.85),
    ("limit-on-one-row", 1.98),
    ("constant-aggregated", 1.91),
    ("extremum-for-all", 0.85),
    ("direction-of-question", 0.47),
    ("extremum-missing", 1.27),
    ("output-columns", 0.52),
    ("aggregate-of-question", 0.60),
    ("literal-not-asked", 1.46),
    ("value-not-used", 2.40),
    ("evidence-column-unused", 0.86),
    ("evidence-value-unused", 1.23),
    ("evidence-not-computed", 1.54),
    ("group-by-name", 0.85),
];

/// The probability that a gold with these findings is wrong, from 0 to 1.
pub(crate) fn confidence(findings: &[Finding]) -> f64 {
    let is_first = |at: usize| findings[..at].iter().all(|other| other.rule != findings[at].rule);
    let weight = |finding: &Finding| {
        let measured = WEIGHTS.iter().find(|(rule, _)| *rule == finding.rule);
        measured.map_or_else(|| finding.standing.prior(), |(_, weight)| *weight)
    };
    let sum: f64 = (0..findings.len()).filter(|at| is_first(*at)).map(|at| weight(&findings[at])).sum();
    (1.0 / (1.0 + (-BASE - sum).exp())).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::RuleStanding;
    use crate::rules::{find, rules};

    fn finding(rule: &'static str, standing: RuleStanding) -> Finding {
        Finding { rule, standing, why: String::new(), evidence: None, rewrite: None }
    }

    #[test]
    fn weights_are_of_rules_and_a_finding_never_speaks_for_a_gold() {
        for (rule, weight) in WEIGHTS {
            assert!(find(rule).is_some() && *weight >= 0.0, "{rule}");
        }
        let all: Vec<Finding> =
            rules().iter().map(|rule| finding(rule.meta().name, rule.meta().standing)).collect();
        let none = confidence(&[]);
        for own in &all {
            let one = confidence(std::slice::from_ref(own));
            assert!(one >= none && one <= confidence(&all), "{}", own.rule);
        }
        assert!(none > 0.0 && confidence(&all) < 1.0);
    }

    #[test]
    fn two_findings_of_one_rule_count_once() {
        let one = finding("near-literal", RuleStanding::Certain);
        assert!(confidence(&[one.clone(), one.clone()]).total_cmp(&confidence(&[one])).is_eq());
    }
}
