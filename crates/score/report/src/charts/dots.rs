//! Where many items of several groups lie in a plane.

use super::svg::{Scale, Svg, clip};

/// The items of a group.
#[derive(Debug, Clone, Copy)]
pub struct DotGroup<'a> {
    /// Its name in the legend.
    pub name: &'a str,
    /// Places without a unit.
    pub points: &'a [[f32; 2]],
}

const SIDE: f64 = 400.0;
const MARGIN: f64 = 10.0;
/// Most dots of a group: more cannot be told apart, and make the file large.
const MOST: usize = 500;

/// The chart. Both axes have one scale, so that distances are what they look like; beyond 500 of a group, the first are
/// drawn. Groups are drawn in turn, so that none hides another.
pub fn dots(title: &str, groups: &[DotGroup<'_>]) -> String {
    let drawn: Vec<Vec<(f64, f64)>> = groups.iter().map(|group| finite(group.points)).collect();
    let all = || drawn.iter().flatten();
    let unbounded = (f64::NEG_INFINITY, f64::INFINITY);
    let spans = [
        Scale::around(all().map(|point| point.0), unbounded, (0.0, 1.0)),
        Scale::around(all().map(|point| point.1), unbounded, (0.0, 1.0)),
    ];
    let span = spans.iter().map(|scale| scale.high - scale.low).fold(0.0, f64::max);
    let middle = spans.map(|scale| f64::midpoint(scale.low, scale.high));
    let place = |(x, y): (f64, f64)| {
        let along = |value: f64, middle: f64| (value - middle) / span * SIDE;
        (MARGIN + SIDE / 2.0 + along(x, middle[0]), MARGIN + SIDE / 2.0 - along(y, middle[1]))
    };
    let mut svg = Svg::new(SIDE + 2.0 * MARGIN, SIDE + 2.0 * MARGIN, title);
    svg.rect("frame", (MARGIN, MARGIN), (SIDE, SIDE));
    let most = drawn.iter().map(Vec::len).max().unwrap_or(0);
    for at in 0..most {
        for (group, points) in drawn.iter().enumerate() {
            if let Some(&point) = points.get(at) {
                svg.dot(group, place(point));
            }
        }
    }
    let names: Vec<String> = groups.iter().map(|group| clip(group.name, 40)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let height = svg.legend(&names, (MARGIN, SIDE + 2.0 * MARGIN + 14.0), SIDE);
    svg.grow(height);
    svg.finish()
}

fn finite(points: &[[f32; 2]]) -> Vec<(f64, f64)> {
    let finite = points.iter().filter(|[x, y]| x.is_finite() && y.is_finite());
    finite.take(MOST).map(|[x, y]| (f64::from(*x), f64::from(*y))).collect()
}
