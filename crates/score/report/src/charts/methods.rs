//! Mean absolute error by method.

use super::svg::{Anchor, Scale, Svg, clip, text_width};

/// A method's error over many estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodRow {
    pub method: String,
    /// Mean absolute error, as a share (0.02 is two points).
    pub mae: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Estimates that it is a mean of.
    pub count: usize,
    /// Whether its bar is drawn in full colour.
    pub emphasised: bool,
}

const WIDTH: f64 = 680.0;
const ROW: f64 = 28.0;
const TOP: f64 = 8.0;

/// The chart: one bar per method in the order given, in points, with the interval as a whisker.
pub fn mae_by_method(rows: &[MethodRow]) -> String {
    let drawn: Vec<&MethodRow> = rows
        .iter()
        .filter(|row| [row.mae, row.low, row.high].iter().all(|value| value.is_finite()))
        .collect();
    let names: Vec<String> = drawn.iter().map(|row| clip(&row.method, 34)).collect();
    let left = names.iter().map(|name| text_width(name)).fold(40.0, f64::max) + 14.0;
    let right = WIDTH - 150.0;
    let most = drawn.iter().flat_map(|row| [row.mae, row.high]).fold(0.0, f64::max);
    let x = Scale::around([0.0, most].into_iter(), (0.0, f64::INFINITY), (left, right));
    let bottom = TOP + ROW * drawn.len().max(1) as f64;
    let label = format!("mean absolute error of {} methods, in points", drawn.len());
    let mut svg = Svg::new(WIDTH, bottom + 48.0, &label);
    for tick in &x.ticks {
        svg.line("grid", (x.place(*tick), TOP), (x.place(*tick), bottom));
        svg.text("", Anchor::Middle, (x.place(*tick), bottom + 18.0), &super::svg::percent_tick(*tick));
    }
    for (at, (row, name)) in drawn.iter().zip(&names).enumerate() {
        let y = TOP + ROW * (at as f64 + 0.5);
        let class = if row.emphasised { "k0" } else { "fill" };
        svg.text(if row.emphasised { "tb" } else { "ti" }, Anchor::End, (left - 10.0, y + 4.0), name);
        svg.rect(class, (left, y - 7.0), (x.place(row.mae) - left, 14.0));
        let (low, high) = (x.place(row.low), x.place(row.high));
        svg.line("range", (low, y), (high, y));
        svg.line("range", (low, y - 4.0), (low, y + 4.0));
        svg.line("range", (high, y - 4.0), (high, y + 4.0));
        let value = format!(
            "{:.1} [{:.1}, {:.1}]  n {}",
            100.0 * row.mae,
            100.0 * row.low,
            100.0 * row.high,
            row.count
        );
        svg.text("", Anchor::Start, (high.max(x.place(row.mae)) + 8.0, y + 4.0), &value);
    }
    svg.line("rule", (left, TOP), (left, bottom));
    svg.text(
        "ti",
        Anchor::Middle,
        (f64::midpoint(left, right), bottom + 38.0),
        "mean absolute error, points",
    );
    let missing = rows.len() - drawn.len();
    if missing > 0 {
        svg.left_out(missing, (left, bottom + 60.0));
        svg.grow(22.0);
    }
    svg.finish()
}
