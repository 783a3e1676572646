//! The table that the official script prints at its end.

use std::fmt::{self, Write};

use serde_json::{Value, json};
use sqlgauge_sql::spider::Hardness;

use super::EsmScore;
use super::partial::{Component, PartialScores};

/// What the official script is asked to evaluate (`--etype`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Etype {
    /// Execution and exact match.
    All,
    /// Execution only.
    Exec,
    /// Exact match only.
    Match,
}

impl Etype {
    /// Whether execution accuracy is part of it.
    pub fn executes(self) -> bool {
        self != Self::Match
    }

    /// Whether exact match is part of it.
    pub fn matches(self) -> bool {
        self != Self::Exec
    }
}

/// The outcome of one question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnOutcome {
    /// Hardness of the gold query.
    pub hardness: Hardness,
    /// Execution match; not looked at for [`Etype::Match`].
    pub executed: bool,
    /// Exact set match; not looked at for [`Etype::Exec`].
    pub exact: bool,
    /// Partial scores; not looked at for [`Etype::Exec`].
    pub partial: PartialScores,
}

impl TurnOutcome {
    pub fn new(score: &EsmScore, executed: bool) -> Self {
        Self { hardness: score.hardness, executed, exact: score.exact, partial: score.partial }
    }
}

/// Sums of one component at one level.
#[derive(Debug, Clone, Copy, Default)]
struct PartialSums {
    matched_of_pred: usize,
    pred: usize,
    matched_of_label: usize,
    label: usize,
}

/// Accuracy, recall and F1 of one component at one level.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Rates {
    accuracy: f64,
    recall: f64,
    f1: f64,
}

impl PartialSums {
    fn add(&mut self, score: super::PartialScore) {
        if score.pred_total > 0 {
            self.pred += 1;
            self.matched_of_pred += usize::from(score.matched);
        }
        if score.label_total > 0 {
            self.label += 1;
            self.matched_of_label += usize::from(score.matched);
        }
    }

    /// F1 is 1 when accuracy and recall are both 0, as in the official script.
    fn rates(self) -> Rates {
        let accuracy = ratio(self.matched_of_pred, self.pred);
        let recall = ratio(self.matched_of_label, self.label);
        let both_zero = self.matched_of_pred == 0 && self.matched_of_label == 0;
        let f1 = if both_zero { 1.0 } else { 2.0 * accuracy * recall / (recall + accuracy) };
        Rates { accuracy, recall, f1 }
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Sums of one column of the table.
#[derive(Debug, Clone, Copy, Default)]
struct Column {
    count: usize,
    executed: usize,
    exact: usize,
    partial: [PartialSums; 10],
}

impl Column {
    fn add(&mut self, outcome: &TurnOutcome) {
        self.count += 1;
        self.executed += usize::from(outcome.executed);
        self.exact += usize::from(outcome.exact);
        for (sums, (_, score)) in self.partial.iter_mut().zip(outcome.partial.iter()) {
            sums.add(score);
        }
    }

    fn rates(&self, component: Component) -> Rates {
        // A level without items keeps its zeros; the others get the F1 rule above.
        if self.count == 0 { Rates::default() } else { self.partial[component as usize].rates() }
    }
}

const TURNS: [&str; 5] = ["turn 1", "turn 2", "turn 3", "turn 4", "turn > 4"];
const LEVELS: [&str; 6] = ["easy", "medium", "hard", "extra", "all", "joint_all"];
const ALL: usize = 4;
const JOINT: usize = 5;

/// Collects outcomes and prints the official table (`print_scores`), to the byte.
#[derive(Debug, Clone)]
pub struct OfficialTable {
    etype: Etype,
    levels: [Column; 6],
    turns: [Column; 5],
}

impl OfficialTable {
    /// An empty table.
    pub fn new(etype: Etype) -> Self {
        Self { etype, levels: [Column::default(); 6], turns: [Column::default(); 5] }
    }

    /// Adds the turns of one interaction in their order. Spider has one interaction, the whole file.
    pub fn add_interaction(&mut self, turns: &[TurnOutcome]) {
        for (turn, outcome) in turns.iter().enumerate() {
            self.turns[turn.min(4)].add(outcome);
            self.levels[outcome.hardness as usize].add(outcome);
            self.levels[ALL].add(outcome);
        }
        let joint = &mut self.levels[JOINT];
        joint.count += 1;
        joint.executed += usize::from(!self.etype.executes() || turns.iter().all(|turn| turn.executed));
        joint.exact += usize::from(!self.etype.matches() || turns.iter().all(|turn| turn.exact));
    }

    /// The table as the official script prints it, with a line end at its end. As there, the columns for
    /// interactions and turns are left out when there is only one interaction.
    pub fn print(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    /// The same as JSON: `{"levels": [{"name", "count", "execution", "exact_match", "partial": [{"component",
    /// "accuracy", "recall", "f1"}]}], "turns": […]}`, rates in [0, 1] and unrounded; what was not asked for is left
    /// out, and so are the levels and turns that the table leaves out. A level without items has null rates, where
    /// the table has zeros.
    pub fn json(&self) -> Value {
        let with_turns = self.levels[JOINT].count > 1;
        let count = if with_turns { 6 } else { 5 };
        let levels = LEVELS.iter().zip(&self.levels[..count]);
        let mut value =
            json!({"levels": levels.map(|(name, level)| self.column(name, level, true)).collect::<Vec<_>>()});
        if with_turns {
            let turns = TURNS.iter().zip(&self.turns);
            value["turns"] = turns.map(|(name, turn)| self.column(name, turn, false)).collect();
        }
        value
    }

    fn column(&self, name: &str, column: &Column, with_partial: bool) -> Value {
        let rate = |part: usize| (column.count > 0).then(|| ratio(part, column.count));
        let mut value = json!({"name": name, "count": column.count});
        if self.etype.executes() {
            value["execution"] = rate(column.executed).into();
        }
        if self.etype.matches() {
            value["exact_match"] = rate(column.exact).into();
            if with_partial && name != LEVELS[JOINT] {
                value["partial"] =
                    Component::ALL.into_iter().map(|component| partial(column, component)).collect();
            }
        }
        value
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let with_turns = self.levels[JOINT].count > 1;
        let count = if with_turns { 6 } else { 5 };
        let levels = &self.levels[..count];
        write_head(out, &LEVELS[..count], levels)?;
        if self.etype.executes() {
            writeln!(out, "=====================   EXECUTION ACCURACY     =====================")?;
            write_rates(out, "execution", levels, |level| ratio(level.executed, level.count))?;
        }
        if self.etype.matches() {
            writeln!(out, "\n====================== EXACT MATCHING ACCURACY =====================")?;
            write_rates(out, "exact match", levels, |level| ratio(level.exact, level.count))?;
            write_partial(out, levels)?;
        }
        if with_turns { self.write_turns(out) } else { Ok(()) }
    }

    fn write_turns(&self, out: &mut String) -> fmt::Result {
        out.push_str("\n\n");
        write_head(out, &TURNS, &self.turns)?;
        if self.etype.executes() {
            writeln!(out, "=====================   TURN EXECUTION ACCURACY     =====================")?;
            write_rates(out, "execution", &self.turns, |turn| ratio(turn.executed, turn.count))?;
        }
        if self.etype.matches() {
            writeln!(out, "\n====================== TURN EXACT MATCHING ACCURACY =====================")?;
            write_rates(out, "exact match", &self.turns, |turn| ratio(turn.exact, turn.count))?;
        }
        Ok(())
    }
}

fn partial(column: &Column, component: Component) -> Value {
    let rates = (column.count > 0).then(|| column.rates(component));
    json!({
        "component": component.as_str(),
        "accuracy": rates.map(|rates| rates.accuracy),
        "recall": rates.map(|rates| rates.recall),
        "f1": rates.map(|rates| rates.f1),
    })
}

fn write_partial(out: &mut String, levels: &[Column]) -> fmt::Result {
    let mut part = |title: &str, pick: fn(Rates) -> f64| {
        writeln!(out, "{title}")?;
        Component::ALL.into_iter().try_for_each(|component| {
            write_rates(out, component.as_str(), levels, |level| pick(level.rates(component)))
        })
    };
    part("\n---------------------PARTIAL MATCHING ACCURACY----------------------", |rates| rates.accuracy)?;
    part("---------------------- PARTIAL MATCHING RECALL ----------------------", |rates| rates.recall)?;
    part("---------------------- PARTIAL MATCHING F1 --------------------------", |rates| rates.f1)
}

fn write_head(out: &mut String, names: &[&str], columns: &[Column]) -> fmt::Result {
    write_row(out, "", names.iter().map(|name| format!("{name:20}")))?;
    write_row(out, "count", columns.iter().map(|column| format!("{:<20}", column.count)))
}

fn write_rates(
    out: &mut String,
    name: &str,
    columns: &[Column],
    rate: impl Fn(&Column) -> f64,
) -> fmt::Result {
    write_row(out, name, columns.iter().map(|column| format!("{:<20.3}", rate(column))))
}

fn write_row(out: &mut String, name: &str, cells: impl Iterator<Item = String>) -> fmt::Result {
    let cells: Vec<String> = cells.collect();
    writeln!(out, "{name:20} {}", cells.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::esm::PartialScore;

    fn outcome(hardness: Hardness, right: bool) -> TurnOutcome {
        let mut partial = [PartialScore::default(); 10];
        partial[Component::Select as usize] = PartialScore { matched: right, label_total: 1, pred_total: 1 };
        TurnOutcome { hardness, executed: right, exact: right, partial: PartialScores(partial) }
    }

    #[test]
    fn one_interaction_prints_levels_only() {
        let mut table = OfficialTable::new(Etype::Match);
        table.add_interaction(&[outcome(Hardness::Easy, true), outcome(Hardness::Extra, false)]);
        let text = table.print();
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
        assert!(!text.contains("joint_all") && !text.contains("EXECUTION"));
        assert_eq!(
            line("exact match"),
            "exact match          1.000                0.000                0.000                0.000                0.500               "
        );
        // No accuracy and no recall make an F1 of 1, but not where there is no item.
        let f1 = text.split("MATCHING F1").nth(1).unwrap();
        let select = f1.lines().find(|line| line.starts_with("select ")).unwrap();
        assert_eq!(
            select.split_whitespace().collect::<Vec<_>>(),
            ["select", "1.000", "0.000", "0.000", "1.000", "0.500"]
        );
    }

    #[test]
    fn interactions_add_joint_and_turn_columns() {
        let mut table = OfficialTable::new(Etype::All);
        table.add_interaction(&vec![outcome(Hardness::Easy, true); 6]);
        table.add_interaction(&[outcome(Hardness::Hard, false)]);
        let text = table.print();
        let rows: Vec<Vec<&str>> = text
            .lines()
            .filter(|line| line.starts_with("count") || line.starts_with("execution"))
            .map(|line| line.split_whitespace().skip(1).collect())
            .collect();
        assert_eq!(rows[0], ["6", "0", "1", "0", "7", "2"]);
        assert_eq!(rows[1], ["1.000", "0.000", "0.000", "0.000", "0.857", "0.500"]);
        assert_eq!(rows[2], ["2", "1", "1", "1", "2"]);
        assert_eq!(rows[3], ["0.500", "1.000", "1.000", "1.000", "1.000"]);
    }

    #[test]
    fn json_has_null_where_the_table_has_the_zeros_of_no_item() {
        let mut table = OfficialTable::new(Etype::Match);
        table.add_interaction(&[outcome(Hardness::Easy, true), outcome(Hardness::Easy, false)]);
        let json = table.json();
        assert_eq!(json["levels"].as_array().unwrap().len(), 5);
        assert_eq!(json["levels"][0]["exact_match"], 0.5);
        assert_eq!(json["levels"][1]["exact_match"], Value::Null);
        assert_eq!(json["levels"][0]["partial"][0]["accuracy"], 0.5);
        assert!(json["levels"][0].get("execution").is_none() && json.get("turns").is_none());
    }

    #[test]
    fn ties_round_to_even_as_in_python() {
        assert_eq!(format!("{:<20.3}", 0.0625), format!("{:<20}", "0.062"));
        assert_eq!(format!("{:<20.3}", 0.1875), format!("{:<20}", "0.188"));
    }
}
