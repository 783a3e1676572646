//! The content of the report, for every format.

use sqlgauge_base::{capital, counted_of, verb_for};
use sqlgauge_engine::compare::explain::shorten;
use sqlgauge_report::charts::{DriftMark, drift_chart};
use sqlgauge_report::document::{
    Block, Cell, Column, Document, Drawing, Entry, Extent, Role, Section, Table, Text,
};
use sqlgauge_report::words::status;

use super::drift::{Alarm, Gravity, Series};
use super::words::{
    against_known, by_metric, level, many, optional, outside, percent, points, signal_meaning, sorted,
    with_interval,
};
use super::{Answer, EstimatePart, LISTED_PREDICTIONS, Reliability, Signal, SystemEstimate};
use crate::estimate::LABELS;

/// Characters of a prediction that are shown; some are megabytes of repetition.
const MAX_SQL: usize = 3_000;
/// Characters of a question that are shown.
const MAX_QUESTION: usize = 1_500;
/// Alarms and warnings that are listed per system.
const MAX_ALARMS: usize = 40;
/// Signals that the head of an estimate names.
const DRIVERS: usize = 2;
/// Why an effect is no multiple of what its signal moved by.
const EFFECTS: &str = "Points are points of the estimate. A small change of a signal may move it far: from 99 to 99.5 % the failing answers halve.";
/// Why a part of the estimate has no interval of its own.
const WHOLE_INTERVAL: &str =
    "Only the whole estimate has an interval: one of a part would be wider, and is not computed.";
/// A smaller effect, a twentieth of a point, is written as 0.0.
const SMALLEST_EFFECT: f64 = 0.000_5;
/// Databases and kinds of question that a terminal lists.
const PARTS_IN_TERMINAL: usize = 8;
/// Predictions that a terminal lists.
const ANSWERS_IN_TERMINAL: usize = 5;
/// Batches that a terminal lists.
const BATCHES_IN_TERMINAL: usize = 30;
/// With more systems, a terminal shows the ranking alone, and a page has no links to them at its head.
const MANY_SYSTEMS: usize = 4;

impl Reliability {
    pub fn document(&self) -> Document {
        // Batches are those of a watch.
        let what = if self.drift.is_empty() { "Estimated accuracy" } else { "Watch" };
        let mut document = Document::new(match self.estimates.as_slice() {
            [] => "No estimate".to_owned(),
            [one] => format!("{what} of {}", one.system),
            several => format!("{what} of {}", many(several.len(), "system")),
        });
        let databases = self.estimates.first().map_or(0, |estimate| estimate.by_database.len());
        let by_labels = self.estimates.iter().all(|estimate| estimate.metric == LABELS);
        document.lead.push(Block::note(format!(
            "Estimated {}: {} on {} of {}.",
            if by_labels { "from your labels" } else { "without labels" },
            many(self.manifest.examples, "question"),
            many(databases, "database"),
            self.target
        )));
        document.lead.extend(self.alarms_of_this_batch().map(Block::warning));
        for series in &self.drift {
            document.add(self.drift(series));
        }
        if self.estimates.len() > 1 {
            document.add(self.ranking());
        }
        let first_moved = self.estimates.iter().position(|estimate| !drivers(estimate).is_empty());
        for (at, estimate) in self.estimates.iter().enumerate() {
            let mut sections = of_system(estimate, at);
            if let Some(first) = sections.first_mut().filter(|_| first_moved == Some(at)) {
                first.blocks.push(Block::note(EFFECTS));
            }
            for mut section in sections {
                match self.estimates.len() {
                    1 => {}
                    2..MANY_SYSTEMS => prefix(&mut section, &estimate.system),
                    _ => {
                        prefix(&mut section, &estimate.system);
                        section.link = None;
                        section.terminal = Extent::Nothing;
                    }
                }
                document.add(section);
            }
        }
        document.add_provenance(&self.manifest);
        document
    }

    fn alarms_of_this_batch(&self) -> impl Iterator<Item = String> + '_ {
        self.drift.iter().flat_map(|series| {
            let last = series.points.last().map(|point| &point.label);
            let rings = move |alarm: &&Alarm| alarm.gravity == Gravity::Alarm && Some(&alarm.label) == last;
            let alarms = series.alarms.iter().filter(rings);
            alarms.map(|alarm| format!("Alarm for {} in {}: {}", series.system, alarm.label, alarm.message))
        })
    }

    /// The systems by their estimates.
    fn ranking(&self) -> Section {
        let level = self.estimates.first().map(level).unwrap_or_default();
        let by = self.estimates.first().map(by_metric).unwrap_or_default();
        let mut table = Table::new(["system", "estimate", "0 to 100 %", "known", "labels", "method"]);
        for estimate in self.ranked() {
            let count =
                if estimate.labelled > 0 { format!(" n={}", estimate.labelled) } else { String::new() };
            let at = self.estimates.iter().position(|other| std::ptr::eq(other, estimate));
            table.push([
                Cell { link: at.map(|at| format!("#{}", anchor(at))), ..Cell::new(&estimate.system) },
                Cell::new(with_interval(estimate)).strong(),
                Cell::drawn(Drawing::Interval {
                    value: estimate.accuracy,
                    low: estimate.interval.low,
                    high: estimate.interval.high,
                }),
                Cell::new(optional(estimate.known_accuracy()) + &count),
                standing(estimate.outside),
                Cell::new(&estimate.method),
            ]);
        }
        let note = format!("percent{by}, with {level} intervals; the highest estimate first");
        let mut section = Section::new("Ranking", note, table);
        section.blocks.push(Block::note(
            "Overlapping intervals do not mean that the order is unsure: the estimates share most of their error. Known: the score on \
             the n labelled questions.",
        ));
        section
    }

    /// The batches of a system in their order.
    fn drift(&self, series: &Series) -> Section {
        let mut table = Table::new(["batch", "questions", "estimate", "like the known runs", "alarm"]);
        let mut marks = Vec::new();
        for point in &series.points {
            let alarmed = series.rings_at(&point.label);
            table.push([
                Cell::new(&point.label),
                Cell::new(point.count.to_string()),
                Cell::new(format!(
                    "{} [{}, {}]",
                    percent(point.accuracy),
                    percent(point.low),
                    percent(point.high)
                )),
                if point.outside { Cell::new("no").toned(Some(-1.0)) } else { Cell::new("yes") },
                Cell::new(if alarmed { "alarm" } else { "" }).strong(),
            ]);
            let (label, accuracy, low, high) = (point.label.clone(), point.accuracy, point.low, point.high);
            marks.push(DriftMark { label, accuracy, low, high, alarmed });
        }
        let chart = drift_chart("estimated accuracy by batch", &marks, self.alarm_below);
        let title = format!("Drift of {}", series.system);
        let mut section = Section::new(title, "percent, by batch", Block::chart(chart));
        section.terminal = Extent::Last(BATCHES_IN_TERMINAL);
        section.blocks.extend([table.into(), alarms(series)]);
        section
    }
}

fn anchor(at: usize) -> String {
    format!("system-{at}")
}

/// Says whose section it is, where there are several systems.
fn prefix(section: &mut Section, system: &str) {
    if section.id.is_empty() {
        section.title = format!("{system}: {}", section.title);
        section.link = None;
    }
}

/// Whether the target lies within what the labels cover.
fn standing(outside: bool) -> Cell {
    if outside { Cell::new("outside").toned(Some(-1.0)) } else { Cell::new("inside") }
}

fn alarms(series: &Series) -> Block {
    if series.alarms.is_empty() {
        let outside = series.points.iter().filter(|point| point.outside).count();
        let but = match outside {
            0 => String::new(),
            _ => format!(
                " But {} {} unlike the known runs: the estimate may be far off there, and an alarm may be missing.",
                counted_of(outside, series.points.len(), "batch"),
                verb_for(&outside, ["is", "are"])
            ),
        };
        return Block::note(format!("No alarm and no warning.{but}"));
    }
    let mut list: Vec<Text> = Vec::new();
    for alarm in series.alarms.iter().take(MAX_ALARMS) {
        let word = match alarm.gravity {
            Gravity::Alarm => Text::default().strong("alarm"),
            Gravity::Warning => Text::from("warning"),
        };
        list.push(word.plain(format!(": {}, {}: {}", series.system, alarm.label, alarm.message)));
    }
    let left = series.alarms.len().saturating_sub(MAX_ALARMS);
    if left > 0 {
        list.push(format!("and {left} more").into());
    }
    Block::List(list)
}

fn of_system(estimate: &SystemEstimate, at: usize) -> Vec<Section> {
    vec![
        summary(estimate, at),
        assumptions(estimate),
        signals(estimate),
        parts(
            "database",
            &estimate.by_database,
            "Effect: points that this database adds to the estimate. The effects add up to the difference from the labelled questions.",
        ),
        parts(
            "kind of query",
            &estimate.by_kind,
            "By the structure of the prediction. A query may be of several kinds, so these effects do not add up.",
        ),
        doubtful(estimate),
    ]
}

/// What the estimate says, and how far to trust it.
fn summary(estimate: &SystemEstimate, at: usize) -> Section {
    let sentence = against_known(estimate).map(|sentence| format!(" {sentence}")).unwrap_or_default();
    let lead = Block::lead(format!("{}{sentence}", estimate.sentence()));
    let explanation = outside(estimate);
    let (word, rest) = explanation.split_once(':').unwrap_or(("", &explanation));
    let callout = Text::default().strong(format!("{word}.")).plain(format!(" {}", capital(rest.trim())));
    let role = if estimate.is_extrapolation() { Role::Warning } else { Role::Callout };
    let interval = &estimate.interval;
    let [low, high] = [interval.low, interval.high].map(percent);
    let beyond = if estimate.is_extrapolation() { ", an extrapolation" } else { "" };
    let title = format!("{}: {low} to {high} %{beyond}", estimate.system);
    let note = format!(
        "{} interval around {} %, {}, method {}",
        level(estimate),
        percent(estimate.accuracy),
        many(estimate.questions(), "question"),
        estimate.method
    );
    let mut section = Section::new(title, note, lead);
    section.id = anchor(at);
    section.link = Some(estimate.system.clone());
    section.blocks.extend([
        Block::Interval {
            value: estimate.accuracy,
            low: interval.low,
            high: interval.high,
            mark: estimate.known_accuracy(),
        },
        Block::Prose(role, callout),
        Block::List(drivers(estimate).into_iter().map(Text::from).collect()),
    ]);
    section
}

/// The signals that moved the estimate most, a sentence each.
fn drivers(estimate: &SystemEstimate) -> Vec<String> {
    let moved = |signal: &&Signal| signal.effect.is_some_and(|effect| effect.abs() >= SMALLEST_EFFECT);
    let mut signals: Vec<&Signal> = estimate.signals.iter().filter(moved).collect();
    let size = |signal: &Signal| signal.effect.map_or(0.0, f64::abs);
    signals.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let sentence = |signal: &&Signal| {
        let values = signal.known.zip(signal.target).map(|(labelled, target)| {
            format!(
                " ({} % of the labelled answers, {} % of the new ones)",
                percent(labelled),
                percent(target)
            )
        });
        let meaning = match signal_meaning(&signal.name) {
            "" => &signal.name,
            // What stands behind a semicolon explains it, in the table.
            meaning => meaning.split(';').next().unwrap_or(meaning).trim_start_matches("the "),
        };
        let values = values.unwrap_or_default();
        format!("{} points: {meaning}{values}", points(signal.effect))
    };
    signals.iter().take(DRIVERS).map(sentence).collect()
}

/// What was left out or assumed.
fn assumptions(estimate: &SystemEstimate) -> Section {
    let list = Block::List(estimate.notes.iter().map(|note| Text::from(capital(note))).collect());
    Section::new("What it rests on", "", list).folded()
}

/// What the estimate follows from.
fn signals(estimate: &SystemEstimate) -> Section {
    let columns = [
        Column::from("signal"),
        Column::explanation("what it is"),
        Column::from("labelled %"),
        Column::from("new %"),
        Column::from("effect, points"),
    ];
    let mut table = Table::new(columns);
    for signal in estimate.signals.iter().filter(|signal| signal.effect.is_some()) {
        table.push([
            Cell::new(&signal.name),
            Cell::new(signal_meaning(&signal.name)),
            Cell::new(optional(signal.known)),
            Cell::new(optional(signal.target)),
            Cell::new(points(signal.effect)).strong(),
        ]);
    }
    Section::new("What moved the estimate", "from the labelled questions to the new ones", table).folded()
}

fn parts(what: &str, parts: &[EstimatePart], explanation: &str) -> Section {
    let pulls = parts.iter().filter_map(|part| part.pull).filter(|pull| pull.is_finite());
    let most = pulls.fold(0.0, |most: f64, pull| most.max(pull.abs()));
    // Of a system without labelled answers nothing says what an estimate is moved from.
    let has_effects = parts.iter().any(|part| part.pull.is_some());
    let columns = [what, "questions", "estimate", "runs"].into_iter();
    let mut table = Table::new(columns.chain(["", "effect, points"].into_iter().filter(|_| has_effects)));
    // A single part is the whole.
    for part in sorted(parts).into_iter().filter(|_| parts.len() > 1) {
        let mut cells = vec![
            Cell::new(&part.name),
            Cell::new(part.count.to_string()),
            Cell::new(percent(part.accuracy)).strong(),
            Cell::new(percent(part.runs)),
        ];
        if has_effects {
            let length = part.pull.filter(|_| most > 0.0).map_or(0.0, |pull| pull / most);
            cells.extend([Cell::drawn(Drawing::Pull(length)), Cell::new(points(part.pull))]);
        }
        table.push(cells);
    }
    let lowest = if has_effects { "effect" } else { "estimate" };
    let note = format!("percent; runs: percent that execute; the lowest {lowest} first");
    let mut section = Section::new(format!("By {what}"), note, table);
    let notes = has_effects.then_some(explanation).into_iter().chain([WHOLE_INTERVAL]);
    section.blocks.extend((parts.len() > 1).then(|| Block::note(notes.collect::<Vec<_>>().join(" "))));
    Section { is_folded: true, ..section.terminal(Extent::First(PARTS_IN_TERMINAL)) }
}

/// The predictions that are probably wrong.
fn doubtful(estimate: &SystemEstimate) -> Section {
    let count = estimate.items.len();
    let mut listed = estimate.most_doubtful(LISTED_PREDICTIONS);
    // More than the first are listed only where they are wrong rather than right.
    let wrong = listed.iter().filter(|item| item.probability < 0.5).count();
    listed.truncate(wrong.max(ANSWERS_IN_TERMINAL));
    let chance = if estimate.is_extrapolation() {
        "most like wrong answers of the labelled data; outside of those data this order is unchecked"
    } else if listed.len() == wrong {
        "over 50 % likely wrong"
    } else {
        "most likely wrong"
    };
    Section {
        title: "Read these first".to_owned(),
        note: format!(
            "{} of {}, {chance}; all are in predictions.jsonl",
            listed.len(),
            many(count, "prediction")
        ),
        link: Some("Read these first".to_owned()),
        entries: listed.into_iter().map(entry).collect(),
        is_folded: true,
        terminal: Extent::First(ANSWERS_IN_TERMINAL),
        ..Section::default()
    }
}

fn entry(answer: &Answer) -> Entry {
    let reasons = match answer.reasons.as_slice() {
        [] if answer.status == "ok" => vec!["resembles answers that were wrong".into()],
        reasons => reasons.iter().map(Text::from).collect(),
    };
    let question = match answer.question.trim() {
        "" => Block::note("(no question)"),
        _ => Block::prose(shorten(&answer.question, MAX_QUESTION)),
    };
    let prediction = match answer.prediction.trim() {
        "" => Block::note("(no prediction)"),
        _ => Block::Sql(shorten(&answer.prediction, MAX_SQL)),
    };
    Entry {
        title: answer.id.clone(),
        note: format!(
            "chance of being wrong: {} %, {}, {}",
            percent(1.0 - answer.probability),
            answer.db_id,
            status(&answer.status)
        ),
        blocks: vec![question, prediction, Block::List(reasons)],
        tags: Vec::new(),
    }
}
