//! Predicted against true accuracy.

use super::svg::{Anchor, Scale, Svg, distinct, percent_tick};

/// An estimate whose truth is known.
#[derive(Debug, Clone, PartialEq)]
pub struct AccuracyPoint {
    /// What it is an estimate of: shown on hovering.
    pub label: String,
    /// Points of one group have one colour and shape; the empty name needs no legend.
    pub group: String,
    /// True accuracy, in [0, 1].
    pub truth: f64,
    /// Estimated accuracy, in [0, 1].
    pub accuracy: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl AccuracyPoint {
    fn is_drawable(&self) -> bool {
        [self.truth, self.accuracy, self.low, self.high].iter().all(|value| value.is_finite())
    }

    fn holds(&self) -> bool {
        self.low <= self.truth && self.truth <= self.high
    }
}

const WIDTH: f64 = 560.0;
const LEFT: f64 = 56.0;
const TOP: f64 = 14.0;
const SIDE: f64 = 480.0;

/// The chart: true accuracy to the right, estimate upwards with its interval, the diagonal where both are equal. An
/// interval that misses the truth is ringed.
pub fn predicted_against_true(points: &[AccuracyPoint]) -> String {
    let drawn: Vec<&AccuracyPoint> = points.iter().filter(|point| point.is_drawable()).collect();
    let groups = distinct(drawn.iter().map(|point| point.group.as_str()));
    let values = || drawn.iter().flat_map(|point| [point.truth, point.accuracy, point.low, point.high]);
    let x = Scale::around(values(), (0.0, 1.0), (LEFT, LEFT + SIDE));
    let y = Scale::around(values(), (0.0, 1.0), (TOP + SIDE, TOP));
    let holding = drawn.iter().filter(|point| point.holds()).count();
    let label = format!(
        "estimated against true accuracy, {} points, {holding} intervals hold the truth",
        drawn.len()
    );
    let mut svg = Svg::new(WIDTH, TOP + SIDE + 50.0, &label);
    for tick in &x.ticks {
        svg.line("grid", (x.place(*tick), TOP), (x.place(*tick), TOP + SIDE));
        svg.line("grid", (LEFT, y.place(*tick)), (LEFT + SIDE, y.place(*tick)));
        svg.text("", Anchor::Middle, (x.place(*tick), TOP + SIDE + 18.0), &percent_tick(*tick));
        svg.text("", Anchor::End, (LEFT - 8.0, y.place(*tick) + 4.0), &percent_tick(*tick));
    }
    svg.line("dash", (x.place(x.low), y.place(x.low)), (x.place(x.high), y.place(x.high)));
    svg.line("rule", (LEFT, TOP + SIDE), (LEFT + SIDE, TOP + SIDE));
    svg.line("rule", (LEFT, TOP), (LEFT, TOP + SIDE));
    svg.text("ti", Anchor::Middle, (LEFT + SIDE / 2.0, TOP + SIDE + 38.0), "true accuracy, %");
    svg.upright((14.0, TOP + SIDE / 2.0), "estimated accuracy, %");
    for point in &drawn {
        let group = groups.iter().position(|group| *group == point.group).unwrap_or(0);
        let at = x.place(point.truth);
        svg.line(&format!("k{} thin", group % 6), (at, y.place(point.low)), (at, y.place(point.high)));
    }
    for point in &drawn {
        let group = groups.iter().position(|group| *group == point.group).unwrap_or(0);
        let at = (x.place(point.truth), y.place(point.accuracy));
        svg.mark(group, at, &tip(point));
        if !point.holds() {
            svg.ring(at);
        }
    }
    footer(&mut svg, &groups, points.len() - drawn.len(), TOP + SIDE + 64.0);
    svg.finish()
}

/// The legend of groups that have names, and the number of points without a value.
fn footer(svg: &mut Svg, groups: &[&str], left_out: usize, y: f64) {
    let named = groups.iter().any(|group| !group.is_empty());
    let mut height = if named { svg.legend(groups, (LEFT, y), SIDE) } else { 0.0 };
    if left_out > 0 {
        svg.left_out(left_out, (LEFT, y + height));
        height += 20.0;
    }
    svg.grow(height);
}

fn tip(point: &AccuracyPoint) -> String {
    format!(
        "{}: estimated {:.1} % [{:.1}, {:.1}], true {:.1} %",
        point.label,
        100.0 * point.accuracy,
        100.0 * point.low,
        100.0 * point.high,
        100.0 * point.truth
    )
}
