//! Accuracy against shift.

use super::predicted::footer;
use super::svg::{Anchor, Scale, Svg, distinct, percent_tick};
use crate::words::minus;

/// A set of answers with its distance from what is known.
#[derive(Debug, Clone, PartialEq)]
pub struct ShiftPoint {
    /// What the set is: shown on hovering.
    pub label: String,
    /// Points of one group have one colour and shape; the empty name needs no legend.
    pub group: String,
    /// How far it lies, in units of the descriptor.
    pub shift: f64,
    /// Its accuracy, in [0, 1].
    pub accuracy: f64,
}

const WIDTH: f64 = 560.0;
const LEFT: f64 = 56.0;
const TOP: f64 = 14.0;
const WIDE: f64 = 480.0;
const TALL: f64 = 320.0;

/// The chart: the descriptor named `shift_name` to the right, accuracy upwards. Where there are three points or more
/// its label says Pearson's correlation.
pub fn shift_against_accuracy(points: &[ShiftPoint], shift_name: &str) -> String {
    let drawn: Vec<&ShiftPoint> =
        points.iter().filter(|point| point.shift.is_finite() && point.accuracy.is_finite()).collect();
    let groups = distinct(drawn.iter().map(|point| point.group.as_str()));
    let x = Scale::around(
        drawn.iter().map(|point| point.shift),
        (f64::NEG_INFINITY, f64::INFINITY),
        (LEFT, LEFT + WIDE),
    );
    let y = Scale::around(drawn.iter().map(|point| point.accuracy), (0.0, 1.0), (TOP + TALL, TOP));
    let correlation = correlation(&drawn).map(|r| minus(format!(" (r = {r:.2})"))).unwrap_or_default();
    let label = format!("accuracy against {shift_name}, {} points{correlation}", drawn.len());
    let mut svg = Svg::new(WIDTH, TOP + TALL + 50.0, &label);
    for tick in &x.ticks {
        svg.line("grid", (x.place(*tick), TOP), (x.place(*tick), TOP + TALL));
        svg.text("", Anchor::Middle, (x.place(*tick), TOP + TALL + 18.0), &plain_tick(*tick, x.high - x.low));
    }
    for tick in &y.ticks {
        svg.line("grid", (LEFT, y.place(*tick)), (LEFT + WIDE, y.place(*tick)));
        svg.text("", Anchor::End, (LEFT - 8.0, y.place(*tick) + 4.0), &percent_tick(*tick));
    }
    svg.line("rule", (LEFT, TOP + TALL), (LEFT + WIDE, TOP + TALL));
    svg.line("rule", (LEFT, TOP), (LEFT, TOP + TALL));
    let axis = format!("{shift_name}{correlation}");
    svg.text("ti", Anchor::Middle, (LEFT + WIDE / 2.0, TOP + TALL + 38.0), &axis);
    svg.upright((14.0, TOP + TALL / 2.0), "accuracy, %");
    for point in &drawn {
        let group = groups.iter().position(|group| *group == point.group).unwrap_or(0);
        let tip = format!("{}: {:.1} % at {:.3}", point.label, 100.0 * point.accuracy, point.shift);
        svg.mark(group, (x.place(point.shift), y.place(point.accuracy)), &tip);
    }
    footer(&mut svg, &groups, points.len() - drawn.len(), TOP + TALL + 64.0);
    svg.finish()
}

/// Pearson's r; `None` below three points or where one side does not vary.
fn correlation(points: &[&ShiftPoint]) -> Option<f64> {
    let count = points.len() as f64;
    let mean = |of: &dyn Fn(&ShiftPoint) -> f64| points.iter().map(|point| of(point)).sum::<f64>() / count;
    let (x, y) = (mean(&|point| point.shift), mean(&|point| point.accuracy));
    let sum = |of: &dyn Fn(&ShiftPoint) -> f64| points.iter().map(|point| of(point)).sum::<f64>();
    let together = sum(&|point| (point.shift - x) * (point.accuracy - y));
    let spread =
        (sum(&|point| (point.shift - x).powi(2)) * sum(&|point| (point.accuracy - y).powi(2))).sqrt();
    let r = together / spread;
    (points.len() >= 3 && r.is_finite()).then_some(r)
}

fn plain_tick(value: f64, range: f64) -> String {
    let value = if value == 0.0 { 0.0 } else { value };
    if range >= 5.0 {
        format!("{value:.0}")
    } else if range >= 0.5 {
        format!("{value:.1}")
    } else if range >= 0.005 {
        format!("{value:.3}")
    } else {
        format!("{value:.1e}")
    }
}
