//! How probable it is that a gold with certain findings is wrong.
//!
//! Each rule that reports something adds its weight to the log odds once. The weights are fitted together on the golds that people
//! judged, on the databases for designing: a logistic model with one intercept for each of the three sets of research/audit/README.md,
//! without negative weights, and with a penalty on the distance from the weight of the rule's standing, which a rule that never spoke
//! there has. `cargo xtask research audit --fit` prints them; the base is the mean of the intercepts.

use crate::finding::Finding;

/// Log odds that a gold without a finding is wrong.
const BASE: f64 = -0.73;

/// No list of findings makes it certain.
const MOST: f64 = 0.99;

/// What a finding adds to the log odds, by rule.
const WEIGHTS: &[(&str, f64)] = &[
    ("does-not-run", 2.18),
    ("tie-possible-at-limit", 0.88),
    ("bare-column", 0.79),
    ("date-as-year", 2.63),
    ("integer-division", 2.21),
    ("constant-condition", 2.16),
    ("reversed-between", 2.04),
    ("or-beside-and", 1.44),
    ("join-without-key", 2.87),
    ("column-of-other-table", 1.20),
    ("joined-table-unused", 0.73),
    ("join-multiplies", 0.71),
    ("count-of-reference", 0.50),
    ("count-per-group", 1.45),
    ("group-by-name", 0.33),
    ("limit-on-one-row", 2.34),
    ("limit-without-order", 1.89),
    ("constant-aggregated", 2.15),
    ("extremum-for-all", 0.54),
    ("direction-of-question", 0.03),
    ("extremum-missing", 1.43),
    ("output-columns", 0.84),
    ("aggregate-of-question", 1.19),
    ("literal-not-asked", 1.82),
    ("literal-spelled-otherwise", 1.76),
    ("value-not-used", 1.87),
    ("evidence-column-unused", 1.15),
    ("evidence-value-unused", 1.45),
    ("evidence-not-computed", 1.57),
];

/// How many judged golds have a probability from that one up to the step above. People judged them; the weights were not fitted on them
/// (the rows `figures` of research/audit/calibration.tsv).
const JUDGED: [(f64, usize); 7] =
    [(0.9, 77), (0.8, 123), (0.7, 107), (0.6, 228), (0.5, 315), (0.4, 115), (0.0, 1538)];

/// On how many judged golds a probability was checked.
pub(crate) fn judged(confidence: f64) -> usize {
    JUDGED.iter().find(|(from, _)| confidence >= *from).map_or(0, |(_, golds)| *golds)
}

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
        let all: Vec<Finding> = rules().iter().map(|rule| finding(rule.name, rule.standing)).collect();
        let none = confidence(&[]);
        for finding in &all {
            let one = confidence(std::slice::from_ref(finding));
            assert!(one >= none && one <= confidence(&all), "{}", finding.rule);
        }
        assert!(none > 0.0 && confidence(&all) < 1.0);
    }

    #[test]
    fn judged_golds_are_those_of_the_calibration() {
        let table = include_str!("../../../../research/audit/calibration.tsv");
        for line in table.lines().filter(|line| line.starts_with("figures")) {
            let cells: Vec<&str> = line.split('\t').collect();
            let (low, high) = cells[1].split_once('-').unwrap();
            let middle = f64::midpoint(low.parse().unwrap(), high.parse().unwrap());
            assert_eq!(judged(middle).to_string(), cells[2], "{line}");
        }
    }

    #[test]
    fn two_findings_of_one_rule_count_once() {
        let one = finding("near-literal", RuleStanding::Certain);
        assert!(confidence(&[one.clone(), one.clone()]).total_cmp(&confidence(&[one])).is_eq());
    }
}
