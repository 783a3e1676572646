//! Accuracies that follow each other.

use super::svg::{Anchor, Scale, Svg, clip, percent_tick, text_width};

/// An estimate of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct DriftMark {
    /// Name of the batch: a date, a range of questions.
    pub label: String,
    /// Accuracy, in [0, 1].
    pub accuracy: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Whether an alarm rang.
    pub alarmed: bool,
}

const WIDTH: f64 = 1080.0;
const LEFT: f64 = 46.0;
const TOP: f64 = 14.0;
const WIDE: f64 = 1010.0;
const TALL: f64 = 250.0;

/// The chart: batches in their order, each with its interval; alarmed ones are ringed; `bar` is drawn as a line. `what` says
/// in words what is drawn.
pub fn drift_chart(what: &str, marks: &[DriftMark], bar: Option<f64>) -> String {
    let is_drawable =
        |mark: &&DriftMark| [mark.accuracy, mark.low, mark.high].iter().all(|value| value.is_finite());
    let drawn: Vec<&DriftMark> = marks.iter().filter(is_drawable).collect();
    let values = drawn.iter().flat_map(|mark| [mark.low, mark.high]).chain(bar);
    let y = Scale::around(values, (0.0, 1.0), (TOP + TALL, TOP));
    let step = WIDE / drawn.len().max(1) as f64;
    let x = |at: usize| LEFT + step * (at as f64 + 0.5);
    let label = format!("{what}: {} points in their order", drawn.len());
    let mut svg = Svg::new(WIDTH, TOP + TALL + 34.0, &label);
    for tick in &y.ticks {
        svg.line("grid", (LEFT, y.place(*tick)), (LEFT + WIDE, y.place(*tick)));
        svg.text("", Anchor::End, (LEFT - 8.0, y.place(*tick) + 4.0), &percent_tick(*tick));
    }
    let upper = drawn.iter().enumerate().map(|(at, mark)| (x(at), y.place(mark.high)));
    let lower = drawn.iter().enumerate().rev().map(|(at, mark)| (x(at), y.place(mark.low)));
    if drawn.len() > 1 {
        svg.path("band", &upper.chain(lower).collect::<Vec<_>>(), true);
    }
    if let Some(bar) = bar.filter(|bar| bar.is_finite()) {
        svg.line("bad", (LEFT, y.place(bar)), (LEFT + WIDE, y.place(bar)));
        let text = format!("alarm below {} %", percent_tick(bar));
        svg.text("tx", Anchor::End, (LEFT + WIDE, y.place(bar) - 6.0), &text);
    }
    let line: Vec<(f64, f64)> =
        drawn.iter().enumerate().map(|(at, mark)| (x(at), y.place(mark.accuracy))).collect();
    svg.path("series", &line, false);
    let most = drawn.iter().map(|mark| text_width(&clip(&mark.label, 18))).fold(1.0, f64::max) + 12.0;
    // Only as many labels as there is room for.
    let every = (1..=drawn.len()).find(|every| *every as f64 * step >= most).unwrap_or(1);
    for (at, mark) in drawn.iter().enumerate() {
        svg.line("k0 thin", (x(at), y.place(mark.low)), (x(at), y.place(mark.high)));
        svg.mark(0, line[at], &tip(mark));
        if mark.alarmed {
            svg.ring(line[at]);
        }
        if at % every == 0 {
            svg.text("", Anchor::Middle, (x(at), TOP + TALL + 20.0), &clip(&mark.label, 18));
        }
    }
    svg.line("rule", (LEFT, TOP + TALL), (LEFT + WIDE, TOP + TALL));
    let missing = marks.len() - drawn.len();
    if missing > 0 {
        svg.left_out(missing, (LEFT, TOP + TALL + 42.0));
        svg.grow(20.0);
    }
    svg.finish()
}

fn tip(mark: &DriftMark) -> String {
    format!(
        "{}: {:.1} % [{:.1}, {:.1}]",
        mark.label,
        100.0 * mark.accuracy,
        100.0 * mark.low,
        100.0 * mark.high
    )
}
