//! The tables of families left out.

use std::fmt::Write as _;

use serde::Serialize;
use sqlgauge_base::markdown_text;
use sqlgauge_estimate::Spread;

use super::beside::{JudgedPeerTransfer, PeerTransfer, judge_peers};
use super::components::{Residual, spread_of};
use super::families::{Belief, JudgedTransfer, Transfer, Width, judge};

/// What is left of the first run's systems on the others, with constants that their own family has no part in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FamiliesReport {
    /// What all families show of one system alone.
    pub belief: Option<Belief>,
    /// One system alone, with the spread that the other families show.
    pub alone: Vec<JudgedTransfer>,
    /// The same, with intervals that are not narrower than by the program's spread.
    pub alone_at_least: Vec<JudgedTransfer>,
    /// Beside the answers of other families.
    pub beside: Vec<JudgedPeerTransfer>,
}

/// A line of the table.
struct Judged {
    is_whole: bool,
    truth: f64,
    accuracy: f64,
    interval: [f64; 2],
}

impl FamiliesReport {
    /// Judges all transfers.
    pub fn new(alone: &[Transfer], peers: &[PeerTransfer], level: f64) -> Self {
        Self {
            belief: Belief::learn(&alone.iter().collect::<Vec<_>>()),
            alone: judge(alone, level, Width::OfOthers),
            alone_at_least: judge(alone, level, Width::AtLeastTheProgram),
            beside: judge_peers(peers, level),
        }
    }

    /// The tables.
    pub fn markdown(&self) -> String {
        let mut text = String::from("# Families left out\n\n");
        self.add_errors(&mut text);
        self.add_spread(&mut text);
        self.add_items(&mut text);
        text
    }

    fn add_errors(&self, text: &mut String) {
        text.push_str(
            "| estimate | interval | target | n | MAE | bias | coverage | half-width |\n|---|---|---|---|---|---|---|---|\n",
        );
        let alone = |judged: &[JudgedTransfer]| judged.iter().map(Judged::alone).collect::<Vec<_>>();
        let program = self.beside.iter().map(|one| Judged::of_peers(one, one.transfer.interval)).collect();
        let others = self.beside.iter().map(|one| Judged::of_peers(one, one.interval)).collect();
        let rows: [(&str, &str, Vec<Judged>); 4] = [
            ("one system alone", "by the other families", alone(&self.alone)),
            ("one system alone", "not below the program's", alone(&self.alone_at_least)),
            ("beside other families", "by the other families", others),
            ("beside other families", "the program's", program),
        ];
        for (estimate, interval, judged) in &rows {
            for (target, is_whole) in [("whole runs", true), ("single databases", false)] {
                let chosen: Vec<&Judged> = judged.iter().filter(|one| one.is_whole == is_whole).collect();
                add_error(text, [estimate, interval, target], &chosen);
            }
        }
    }

    fn add_spread(&self, text: &mut String) {
        text.push_str("\n| spread | kind | database |\n|---|---|---|\n");
        let residuals: Vec<Residual> = self.beside.iter().map(|one| one.transfer.residual()).collect();
        let of_peers = (!residuals.is_empty()).then(|| spread_of(&residuals));
        let alone = self.belief.map(|all| Spread { kind: all.kind, database: all.database, slope: 0.0 });
        for (name, spread) in [
            ("one system alone, all families", alone),
            ("the program's (`ALONE`)", Some(Spread::ALONE)),
            ("beside other families, all", of_peers),
            ("the program's (`WITH_PEERS`)", Some(Spread::WITH_PEERS)),
        ] {
            if let Some(spread) = spread {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "| {name} | {:.2} | {:.2} |", spread.kind, spread.database);
            }
        }
        if let Some(all) = self.belief {
            let [runs, structure] = all.slopes;
            let families = all.families;
            let _ = writeln!(
                text,
                "\nSlopes of one system alone, all {families} families: {runs:.2} (share that runs) and {structure:.2} (structure)."
            );
        }
    }

    fn add_items(&self, text: &mut String) {
        text.push_str(
            "\n| estimate | system | family | target | truth | estimated | interval |\n|---|---|---|---|---|---|---|\n",
        );
        for one in &self.alone {
            let transfer = &one.transfer;
            let names =
                [&transfer.system, &transfer.family, transfer.database.as_ref().unwrap_or(&transfer.target)];
            add_item(text, "alone", names, &Judged::alone(one));
        }
        for one in &self.beside {
            let transfer = &one.transfer;
            let names =
                [&transfer.system, &transfer.family, transfer.database.as_ref().unwrap_or(&transfer.target)];
            add_item(text, "beside others", names, &Judged::of_peers(one, one.interval));
        }
    }
}

impl Judged {
    fn alone(one: &JudgedTransfer) -> Self {
        Self {
            is_whole: one.transfer.databases > 1,
            truth: one.transfer.truth,
            accuracy: one.accuracy,
            interval: [one.low, one.high],
        }
    }

    fn of_peers(one: &JudgedPeerTransfer, interval: [f64; 2]) -> Self {
        let PeerTransfer { databases, truth, accuracy, .. } = one.transfer;
        Self { is_whole: databases > 1, truth, accuracy, interval }
    }

    fn holds(&self) -> bool {
        (self.interval[0]..=self.interval[1]).contains(&self.truth)
    }
}

fn add_error(text: &mut String, names: [&str; 3], chosen: &[&Judged]) {
    if chosen.is_empty() {
        return;
    }
    let count = chosen.len();
    let mean =
        |value: &dyn Fn(&Judged) -> f64| chosen.iter().map(|one| value(one)).sum::<f64>() / count as f64;
    let _ = writeln!(
        text,
        "| {} | {count} | {:.2} | {:+.2} | {} of {count} | {:.1} |",
        names.join(" | "),
        100.0 * mean(&|one| (one.accuracy - one.truth).abs()),
        100.0 * mean(&|one| one.accuracy - one.truth),
        chosen.iter().filter(|one| one.holds()).count(),
        50.0 * mean(&|one| one.interval[1] - one.interval[0])
    );
}

fn add_item(text: &mut String, estimate: &str, names: [&String; 3], judged: &Judged) {
    let [low, high] = judged.interval;
    let _ = writeln!(
        text,
        "| {estimate} | {} | {:.1} | {:.1} | [{:.1}, {:.1}] |",
        names.map(|name| markdown_text(name)).join(" | "),
        100.0 * judged.truth,
        100.0 * judged.accuracy,
        100.0 * low,
        100.0 * high
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer_transfer(family: &str, database: Option<&str>, truth: f64) -> PeerTransfer {
        PeerTransfer {
            system: family.to_owned(),
            family: family.to_owned(),
            target: "t".to_owned(),
            database: database.map(str::to_owned),
            databases: if database.is_some() { 1 } else { 5 },
            questions: 1_000_000,
            truth,
            accuracy: 0.5,
            interval: [0.2, 0.8],
            slope: 0.4,
        }
    }

    #[test]
    fn the_table_has_the_program_s_intervals_and_those_of_the_other_families() {
        let all = [
            peer_transfer("a", None, 0.52),
            peer_transfer("a", Some("x"), 0.55),
            peer_transfer("b", None, 0.49),
            peer_transfer("b", Some("y"), 0.40),
            peer_transfer("c", Some("x"), 0.58),
        ];
        let report = FamiliesReport::new(&[], &all, 0.9);
        let text = report.markdown();
        for row in [
            "| beside other families | the program's | whole runs | 2 | 1.50 | -0.50 | 2 of 2 | 30.0 |",
            "| the program's (`WITH_PEERS`) | 0.07 | 0.20 |",
            "| beside others | c | c | x | 58.0 | 50.0 |",
        ] {
            assert!(text.contains(row), "{row}\n{text}");
        }
        // What a family shows has no part in its own interval.
        let mut garbled = all.clone();
        garbled.iter_mut().filter(|one| one.family == "a").for_each(|one| one.truth = 0.9);
        let of_a = |report: &FamiliesReport| report.beside[0].interval.map(f64::to_bits);
        let of_c = |report: &FamiliesReport| report.beside[4].interval.map(f64::to_bits);
        let other = FamiliesReport::new(&[], &garbled, 0.9);
        assert_eq!(of_a(&report), of_a(&other));
        assert_ne!(of_c(&report), of_c(&other));
    }
}
