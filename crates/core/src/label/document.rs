//! Questions, standings and trials as documents.

use sqlgauge_base::{counted, counted_of, listed};
use sqlgauge_estimate::labelling::{LabelFolder, QuantityStanding, Standings, Wanted};
use sqlgauge_report::document::{Block, Cell, Document, Section, Table};
use sqlgauge_report::words::{optional, percent};

use super::ask::{JudgedResult, LabelQuestion, TextRows};
use super::trial::LabelTrial;

impl TextRows {
    fn table(&self) -> Table {
        let row = |row: &Vec<String>| row.iter().map(|cell| Cell::new(cell.as_str())).collect();
        let rows: Vec<Vec<Cell>> = self.rows.iter().map(row).collect();
        Table::of(self.columns.iter().map(String::as_str), rows)
    }

    /// `12 rows, the first 10:`
    fn caption(&self) -> String {
        let rows = counted(self.total, "row");
        if self.total > self.rows.len() {
            format!("{rows}, the first {}:", self.rows.len())
        } else {
            format!("{rows}:")
        }
    }
}

impl JudgedResult {
    fn blocks(&self) -> Vec<Block> {
        let mut blocks = vec![
            Block::prose(format!("Answer of {}:", self.systems.join(" and "))),
            Block::Sql(self.sql.clone()),
        ];
        if let Some(rows) = &self.rows {
            blocks.push(Block::prose(rows.caption()));
            blocks.push(rows.table().into());
        }
        blocks
    }
}

impl LabelQuestion {
    /// The question, what is wanted of the person, and the command that takes the verdict.
    pub fn document(&self, folder: &str) -> Document {
        let mut section =
            Section { title: format!("Question {} on {}", self.id, self.db_id), ..Section::default() };
        let question = self.question.as_deref().unwrap_or("(the file has no text of the question)");
        section.blocks.push(Block::lead(question));
        section.blocks.extend(self.evidence.as_deref().map(|text| Block::note(format!("evidence: {text}"))));
        let (ask, verdict, others) = match self.results.as_slice() {
            [] | [_] => ("Does this result answer the question?", "right", "wrong, or unsure".to_owned()),
            [one, two] => {
                let [one, two] = [one, two].map(|result| result.systems[0].as_str());
                (
                    "Which of these two results answers the question?",
                    one,
                    format!("{two}, right (both), wrong (neither), or unsure"),
                )
            }
            [first, ..] => (
                "Which of these results answer the question?",
                first.systems[0].as_str(),
                "the names of several, with commas or --verdict between them, right (all), wrong (none), or unsure"
                    .to_owned(),
            ),
        };
        section.blocks.push(Block::prose(ask));
        section.blocks.extend(self.results.iter().flat_map(JudgedResult::blocks));
        if let Some(witness) = &self.witness {
            section
                .blocks
                .push(Block::prose("Both return the same rows here, and differ on this small database:"));
            for (name, rows) in &witness.tables {
                section.blocks.push(Block::note(name));
                section.blocks.push(rows.table().into());
            }
            for (result, rows) in self.results.iter().zip(&witness.results) {
                section.blocks.push(Block::prose(format!(
                    "{} there: {}",
                    result.systems.join(" and "),
                    rows.caption()
                )));
                section.blocks.push(rows.table().into());
            }
        }
        section.blocks.push(Block::prose(format!(
            "sqlgauge label add --in {folder} --id {} --verdict {verdict}",
            self.id
        )));
        section.blocks.push(Block::note(format!("Or in place of {verdict}: {others}")));
        Document::of(section)
    }
}

/// What the labels of a plan say, and how many more are likely.
pub fn label_document(folder: &LabelFolder, standings: &Standings) -> Document {
    let plan = folder.plan();
    let points = plan.wanted == Wanted::Difference;
    let mut table =
        Table::new([if points { "difference" } else { "system" }, "estimate", "from", "to", "sure"]);
    for quantity in &standings.quantities {
        let of = [quantity.estimate, quantity.low, quantity.high].map(optional);
        let sure = if quantity.enough { "yes" } else { "not yet" };
        table.push([quantity.name.as_str(), &of[0], &of[1], &of[2], sure]);
    }
    let mut document = Document::new("Labels");
    document.lead.push(Block::lead(label_sentence(folder, standings)));
    if !standings.enough && (standings.likely > 0 || !standings.open.is_empty()) {
        let next = format!("sqlgauge label next --in {}", folder.path().display());
        document.lead.push(Block::note(format!("`{next}` shows the next.")));
    }
    let unit = if points { "in points" } else { "in percent" };
    let level = level(plan.goal.level);
    let note = format!("{unit}, with {level} % intervals; you may stop at any time");
    document.add(Section::new("Labels", note, table));
    let mut notes = Vec::new();
    if !standings.open.is_empty() {
        let open = counted(standings.open.len(), "drawn question");
        notes.push(format!("before the next interval, {open} must be labelled: {}", listed(&standings.open)));
    } else if standings.quantities.iter().any(|quantity| quantity.low.is_none()) {
        notes.push("no interval yet: it takes some more labels".to_owned());
    }
    if !standings.unsure.is_empty() {
        let ids = listed(&standings.unsure);
        notes.push(format!(
            "unsure, or people differ; the interval holds both verdicts until they are settled: {ids}"
        ));
    }
    if standings.early > 0 {
        let early = counted(standings.early, "label");
        notes.push(format!("{early} of questions that are not drawn; they count once they are"));
    }
    document.lead.extend(notes.into_iter().map(Block::note));
    document
}

/// One sentence: are there enough labels?
pub fn label_sentence(folder: &LabelFolder, standings: &Standings) -> String {
    let (plan, labels) = (folder.plan(), standings.labels);
    let labels_of = counted_of(labels, standings.questions, "question");
    let sign = standings.quantities[0].estimate.filter(|difference| difference.abs() > 0.0);
    if let Some(difference) = sign.filter(|_| standings.enough && plan.goal.winner) {
        let (better, worse) = if difference > 0.0 { (0, 1) } else { (1, 0) };
        let (better, worse) = (&plan.systems[better], &plan.systems[worse]);
        let level = level(plan.goal.level);
        return format!(
            "{better} is better than {worse}, at level {level} %. Enough to stop: {labels_of} labelled."
        );
    }
    if standings.enough {
        return match standings.quantities.as_slice() {
            [one] => {
                format!("{} Enough to stop: {labels_of} labelled.", number(one, plan.wanted, plan.goal.level))
            }
            _ => format!("All {} numbers are sure: {labels_of} labelled.", standings.quantities.len()),
        };
    }
    if standings.likely == 0 && standings.open.is_empty() {
        return format!("Settle the answers that are unsure: {}.", listed(&standings.unsure));
    }
    let likely = counted(standings.likely, "more label");
    format!("Not sure yet after {}: about {likely} will do.", counted(labels, "label"))
}

/// What the labels are for: `±3 points at level 95 %`, or which of two systems is better.
pub fn label_goal(folder: &LabelFolder) -> String {
    let goal = folder.plan().goal;
    let what =
        if goal.winner { "the better one".to_owned() } else { format!("±{} points", level(goal.width)) };
    format!("{what} at level {} %", level(goal.level))
}

/// `95`, `99.5`.
fn level(share: f64) -> String {
    format!("{}", (1000.0 * share).round() / 10.0)
}

/// `The accuracy of mine is 76.1 % (73.1 to 79.1) at level 95 %.`
fn number(quantity: &QuantityStanding, wanted: Wanted, level: f64) -> String {
    let [estimate, low, high] = [quantity.estimate, quantity.low, quantity.high].map(optional);
    let level = self::level(level);
    match wanted {
        Wanted::Accuracy => {
            format!("The accuracy of {} is {estimate} % ({low} to {high}) at level {level} %.", quantity.name)
        }
        Wanted::Difference => {
            format!(
                "The difference {} is {estimate} points ({low} to {high}) at level {level} %.",
                quantity.name
            )
        }
    }
}

impl LabelTrial {
    /// A table of trials.
    pub fn document(trials: &[Self]) -> Document {
        let mut table = Table::new([
            "number",
            "all labels",
            "labels (median)",
            "random sampling (median)",
            "covers",
            "mean error",
            "runs",
        ]);
        for trial in trials {
            let middle =
                |counts: &[usize]| median(counts).map_or_else(String::new, |count| count.to_string());
            let error = trial.estimates.iter().map(|estimate| estimate - trial.truth).sum::<f64>()
                / trial.estimates.len().max(1) as f64;
            table.push([
                trial.name.clone(),
                percent(trial.truth),
                middle(&trial.labels),
                middle(&trial.random),
                percent(trial.coverage()),
                format!("{:+.2}", 100.0 * error),
                trial.labels.len().to_string(),
            ]);
        }
        let note = "in percent; covers: runs whose last interval holds the number that all labels give";
        let mut section = Section::new("Trial", note, table);
        let is_vain =
            |trial: &&Self| median(&trial.random).is_some_and(|random| median(&trial.labels) >= Some(random));
        section.blocks.extend(trials.iter().filter(is_vain).map(|trial| {
            Block::note(format!("{}: the plan saves no labels over random sampling.", trial.name))
        }));
        Document::of(section)
    }
}

fn median(counts: &[usize]) -> Option<usize> {
    let mut counts = counts.to_vec();
    counts.sort_unstable();
    counts.get(counts.len() / 2).copied()
}
