//! Several things measured along many axes from one middle.

use std::f64::consts::TAU;

use super::svg::{Anchor, Svg, clip};

/// A thing that is measured.
#[derive(Debug, Clone)]
pub struct RadarSeries<'a> {
    /// Its name in the legend.
    pub name: &'a str,
    /// Its values in [0, 1], one for each axis; none is drawn in the middle, as 0, and said below.
    pub values: Vec<Option<f64>>,
}

const RADIUS: f64 = 190.0;
const SIDE: f64 = 760.0;
const TOP: f64 = 24.0;

/// The chart: an axis for each name, clockwise from the top, from 0 in the middle to 1 at the rim.
pub fn radar(title: &str, axes: &[&str], series: &[RadarSeries<'_>]) -> String {
    let centre = (SIDE / 2.0, TOP + RADIUS + 20.0);
    let place = |axis: usize, share: f64| {
        let angle = TAU * axis as f64 / axes.len().max(1) as f64;
        (centre.0 + RADIUS * share * angle.sin(), centre.1 - RADIUS * share * angle.cos())
    };
    let mut svg = Svg::new(SIDE, centre.1 + RADIUS + 40.0, title);
    for ring in [0.25, 0.5, 0.75, 1.0] {
        let points: Vec<(f64, f64)> = (0..axes.len()).map(|axis| place(axis, ring)).collect();
        svg.path("ringline", &points, true);
    }
    for (axis, name) in axes.iter().enumerate() {
        let (rim, beyond) = (place(axis, 1.0), place(axis, 1.06));
        svg.line("grid", centre, rim);
        let across = (rim.0 - centre.0) / RADIUS;
        let anchor = if across > 0.1 {
            Anchor::Start
        } else if across < -0.1 {
            Anchor::End
        } else {
            Anchor::Middle
        };
        let lift = 4.0 + 4.0 * (rim.1 - centre.1) / RADIUS;
        svg.text("ti", anchor, (beyond.0, beyond.1 + lift), name);
    }
    let mut missing = 0;
    for (at, one) in series.iter().enumerate() {
        missing += one.values.iter().filter(|value| value.is_none()).count();
        let share =
            |value: &Option<f64>| value.filter(|value| value.is_finite()).unwrap_or(0.0).clamp(0.0, 1.0);
        let points: Vec<(f64, f64)> =
            one.values.iter().enumerate().map(|(axis, value)| place(axis, share(value))).collect();
        svg.path(&format!("o{}", at % 6), &points, true);
        points.iter().for_each(|point| svg.dot(at, *point));
    }
    let names: Vec<String> = series.iter().map(|one| clip(one.name, 40)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let bottom = centre.1 + RADIUS + 54.0;
    let height = svg.legend(&names, (40.0, bottom), SIDE - 80.0);
    svg.left_out(missing, (40.0, bottom + height));
    svg.grow(height + if missing > 0 { 22.0 } else { 0.0 });
    svg.finish()
}
