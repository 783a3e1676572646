//! Values that follow each other, one line per group.

use super::svg::{Anchor, Scale, Svg, clip, percent_tick, text_width};

/// The values of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct StepLine<'a> {
    /// Its name in the legend.
    pub name: &'a str,
    /// A share for each step, in [0, 1]; `None` where it has none.
    pub values: Vec<Option<f64>>,
}

const WIDTH: f64 = 1080.0;
const LEFT: f64 = 46.0;
const TOP: f64 = 14.0;
const WIDE: f64 = 1010.0;
const TALL: f64 = 280.0;
/// Most characters of a step's label.
const LABEL: usize = 8;

/// The chart: steps from left to right by their labels, shares in percent upwards. `what` says in words what is drawn.
pub fn lines_by_step(what: &str, labels: &[&str], lines: &[StepLine<'_>]) -> String {
    let values = lines.iter().flat_map(|line| line.values.iter().flatten().copied());
    let y = Scale::around(values.chain([0.0]), (0.0, 1.0), (TOP + TALL, TOP));
    let step = WIDE / labels.len().max(1) as f64;
    let x = |at: usize| LEFT + step * (at as f64 + 0.5);
    let mut svg = Svg::new(WIDTH, TOP + TALL + 44.0, what);
    for tick in &y.ticks {
        svg.line("grid", (LEFT, y.place(*tick)), (LEFT + WIDE, y.place(*tick)));
        svg.text("", Anchor::End, (LEFT - 8.0, y.place(*tick) + 4.0), &percent_tick(*tick));
    }
    for (group, line) in lines.iter().enumerate() {
        let points: Vec<(usize, f64)> = finite(line).collect();
        let places: Vec<(f64, f64)> = points.iter().map(|(at, value)| (x(*at), y.place(*value))).collect();
        svg.path(&format!("o{}", group % 6), &places, false);
        for ((at, value), place) in points.iter().zip(&places) {
            let label = labels.get(*at).copied().unwrap_or_default();
            svg.mark(group, *place, &format!("{}, {label}: {:.1} %", line.name, 100.0 * value));
        }
    }
    let most = labels.iter().map(|label| text_width(&clip(label, LABEL))).fold(1.0, f64::max) + 6.0;
    let every = (1..=labels.len()).find(|every| *every as f64 * step >= most).unwrap_or(1);
    for (at, label) in labels.iter().enumerate().filter(|(at, _)| at % every == 0) {
        svg.text("", Anchor::Middle, (x(at), TOP + TALL + 18.0), &clip(label, LABEL));
    }
    svg.line("rule", (LEFT, TOP + TALL), (LEFT + WIDE, TOP + TALL));
    let names: Vec<&str> = lines.iter().map(|line| line.name).collect();
    let height = svg.legend(&names, (LEFT, TOP + TALL + 44.0), WIDE);
    svg.grow(height);
    svg.finish()
}

fn finite<'a>(line: &'a StepLine<'_>) -> impl Iterator<Item = (usize, f64)> + 'a {
    let values = line.values.iter().enumerate();
    values.filter_map(|(at, value)| Some((at, (*value)?))).filter(|(_, value)| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_that_there_is_has_a_mark() {
        let line = StepLine { name: "DAIL", values: vec![Some(0.4), None, Some(0.1), Some(f64::NAN)] };
        let svg = lines_by_step("errors", &["names", "P4", "1", "2"], &[line]);
        assert!(svg.contains("DAIL, names: 40.0 %") && svg.contains("DAIL, 1: 10.0 %"));
        assert_eq!(svg.matches("<title>").count(), 3, "two values and the legend");
    }

    #[test]
    fn nothing_to_draw_is_an_empty_chart() {
        assert!(lines_by_step("errors", &[], &[]).starts_with("<svg"));
    }
}
