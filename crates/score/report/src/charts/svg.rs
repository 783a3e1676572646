//! A small writer of SVG.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use sqlgauge_base::visible;

use crate::words::minus;

/// Colours for groups; beyond that they repeat with another shape.
const COLOURS: usize = 6;
/// Shapes of marks, so that groups differ on paper too.
const SHAPES: usize = 4;
/// Mean width of a digit or letter, in parts of the font size.
const LETTER: f64 = 0.56;
/// Between the names of a legend.
const GAP: f64 = 20.0;
/// Size of text in user units.
pub(super) const TEXT: f64 = 12.5;

/// The style of every chart. Properties of the page come first, own ones follow where there is no page.
const STYLE: &str = "\
.sgc{--i:var(--ink,#1c2126);--s:var(--soft,#565e67);--h:var(--hair,#e3dfd6);--r:var(--rule,#2a3036);--p:var(--paper,#fbfaf7);\
--c0:var(--accent,#1d4f87);--c1:#b4540a;--c2:#0f6a55;--c3:#7b3f98;--c4:#7d6200;--c5:#9b2743;--f:var(--accent-fill,#4d7fb5);\
--w:var(--wash,#f3f0e9);--x:var(--fail,#ab3c16);--b:var(--accent-soft,#e4ecf5);\
font:12.5px var(--sans,system-ui,sans-serif);font-variant-numeric:tabular-nums;max-width:100%;height:auto;overflow:visible}\
@media screen and (prefers-color-scheme:dark){.sgc{--i:var(--ink,#e8e5de);--s:var(--soft,#a5abb2);--h:var(--hair,#2e343a);\
--r:var(--rule,#8a9097);--p:var(--paper,#14171a);--c0:var(--accent,#92bdec);--c1:#f0a060;--c2:#68c8aa;--c3:#c79be6;--c4:#d8bd4a;\
--c5:#f08ba0;--f:var(--accent-fill,#5688bd);--w:var(--wash,#1f2429);--x:var(--fail,#f29a76);--b:var(--accent-soft,#213244)}}\
.sgc text{fill:var(--s)}.sgc .ti{fill:var(--i)}.sgc .tb{fill:var(--i);font-weight:600}.sgc .tx{fill:var(--x)}\
.sgc .grid{stroke:var(--h)}.sgc .rule{stroke:var(--r)}.sgc .dash{stroke:var(--s);stroke-dasharray:4 4}\
.sgc .bad{stroke:var(--x);stroke-dasharray:5 4;stroke-width:1.5}.sgc .wash{fill:var(--w)}.sgc .fill{fill:var(--f)}\
.sgc .band{fill:var(--b)}.sgc .series{fill:none;stroke:var(--c0);stroke-width:1.5}.sgc .thin{stroke-width:1.5;opacity:.55}\
.sgc .ring{fill:none;stroke:var(--x);stroke-width:2}.sgc .open{fill:var(--p);stroke-width:2}\
.sgc .range{stroke:var(--i);stroke-width:1.25}\
.sgc .k0{fill:var(--c0);stroke:var(--c0)}.sgc .k1{fill:var(--c1);stroke:var(--c1)}.sgc .k2{fill:var(--c2);stroke:var(--c2)}\
.sgc .k3{fill:var(--c3);stroke:var(--c3)}.sgc .k4{fill:var(--c4);stroke:var(--c4)}.sgc .k5{fill:var(--c5);stroke:var(--c5)}\
.sgc .dot{stroke:none;opacity:.6}.sgc .frame,.sgc .ringline{fill:none;stroke:var(--h)}\
.sgc .o0,.sgc .o1,.sgc .o2,.sgc .o3,.sgc .o4,.sgc .o5{fill:none;stroke-width:1.75}.sgc .o0{stroke:var(--c0)}.sgc .o1{stroke:var(--c1)}\
.sgc .o2{stroke:var(--c2)}.sgc .o3{stroke:var(--c3)}.sgc .o4{stroke:var(--c4)}.sgc .o5{stroke:var(--c5)}";

/// An SVG being written.
pub(super) struct Svg {
    width: f64,
    height: f64,
    label: String,
    body: String,
}

/// Where a text stands relative to its point.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// An empty drawing; `label` says in words what it shows.
    pub(super) fn new(width: f64, height: f64, label: &str) -> Self {
        Self { width, height, label: escape(label), body: String::new() }
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let _infallible = write!(
            self.body,
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            n(from.0),
            n(from.1),
            n(to.0),
            n(to.1)
        );
    }

    pub(super) fn rect(&mut self, class: &str, corner: (f64, f64), size: (f64, f64)) {
        let _infallible = write!(
            self.body,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            n(corner.0),
            n(corner.1),
            n(size.0.max(0.0)),
            n(size.1.max(0.0))
        );
    }

    /// Lines through points.
    pub(super) fn path(&mut self, class: &str, points: &[(f64, f64)], closed: bool) {
        if points.is_empty() {
            return;
        }
        let steps: Vec<String> = points.iter().map(|(x, y)| format!("{} {}", n(*x), n(*y))).collect();
        let end = if closed { "Z" } else { "" };
        let _infallible = write!(self.body, "<path class=\"{class}\" d=\"M{}{end}\"/>", steps.join("L"));
    }

    pub(super) fn text(&mut self, class: &str, anchor: Anchor, at: (f64, f64), text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _infallible = write!(
            self.body,
            "<text class=\"{class}\" text-anchor=\"{anchor}\" x=\"{}\" y=\"{}\">{}</text>",
            n(at.0),
            n(at.1),
            escape(text)
        );
    }

    /// A text that reads upwards.
    pub(super) fn upright(&mut self, at: (f64, f64), text: &str) {
        let (x, y) = (n(at.0), n(at.1));
        let _infallible = write!(
            self.body,
            "<text text-anchor=\"middle\" transform=\"translate({x} {y}) rotate(-90)\">{}</text>",
            escape(text)
        );
    }

    /// The mark of a group, with a text that shows on hovering.
    pub(super) fn mark(&mut self, group: usize, at: (f64, f64), tip: &str) {
        let class = format!("k{}", group % COLOURS);
        let (x, y) = at;
        let shape = match group % SHAPES {
            0 => format!("<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"4\">", n(x), n(y)),
            1 => format!(
                "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"7\" height=\"7\">",
                n(x - 3.5),
                n(y - 3.5)
            ),
            2 => format!("<path class=\"{class}\" d=\"M{} {}l4.5 8h-9Z\">", n(x), n(y - 5.0)),
            _ => format!("<path class=\"{class}\" d=\"M{} {}l5 5l-5 5l-5 -5Z\">", n(x), n(y - 5.0)),
        };
        let end = if shape.starts_with("<circle") {
            "circle"
        } else if shape.starts_with("<rect") {
            "rect"
        } else {
            "path"
        };
        let _infallible = write!(self.body, "{shape}<title>{}</title></{end}>", escape(tip));
    }

    /// A small mark of a group, for many of them.
    pub(super) fn dot(&mut self, group: usize, at: (f64, f64)) {
        let class = group % COLOURS;
        let _infallible = write!(
            self.body,
            "<circle class=\"k{class} dot\" cx=\"{}\" cy=\"{}\" r=\"2\"/>",
            n(at.0),
            n(at.1)
        );
    }

    pub(super) fn ring(&mut self, at: (f64, f64)) {
        let _infallible =
            write!(self.body, "<circle class=\"ring\" cx=\"{}\" cy=\"{}\" r=\"8\"/>", n(at.0), n(at.1));
    }

    /// A legend from that corner: one row if `width` holds it, else columns of one width. Returns the height that it takes.
    pub(super) fn legend(&mut self, names: &[&str], corner: (f64, f64), width: f64) -> f64 {
        let names: Vec<String> = names.iter().map(|name| clip(name, 40)).collect();
        let mut wide: Vec<f64> = names.iter().map(|name| 14.0 + text_width(name) + GAP).collect();
        let mut columns = names.len().max(1);
        if wide.iter().sum::<f64>() > width + GAP {
            let widest = wide.iter().copied().fold(0.0, f64::max);
            wide.fill(widest);
            columns = (1..columns).rev().find(|count| *count as f64 * widest <= width + GAP).unwrap_or(1);
        }
        for (group, name) in names.iter().enumerate() {
            let x = corner.0 + wide[..group % columns].iter().sum::<f64>();
            let y = corner.1 + 20.0 * (group / columns) as f64;
            self.mark(group, (x + 5.0, y - 4.0), name);
            self.text("", Anchor::Start, (x + 14.0, y), name);
        }
        20.0 * names.len().div_ceil(columns) as f64
    }

    /// Says how many points could not be drawn.
    pub(super) fn left_out(&mut self, count: usize, at: (f64, f64)) {
        if count > 0 {
            self.text("", Anchor::Start, at, &format!("{count} without a value are left out"));
        }
    }

    /// Makes the drawing taller.
    pub(super) fn grow(&mut self, by: f64) {
        self.height += by;
    }

    /// The whole, of its size where there is room.
    pub(super) fn finish(self) -> String {
        let Self { width, height, label, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sgc\" role=\"img\" aria-label=\"{label}\" width=\"{}\" \
             height=\"{}\" viewBox=\"0 0 {} {}\"><style>{STYLE}</style>{body}</svg>",
            n(width),
            n(height),
            n(width),
            n(height)
        )
    }

    /// The whole, as wide as its place: coordinates along x are shares of the width.
    pub(super) fn style() -> &'static str {
        STYLE
    }
}

/// A linear scale from values to places.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) ticks: Vec<f64>,
    from: f64,
    to: f64,
}

impl Scale {
    /// A round scale around values, within `bounds`, drawn between two places.
    pub(super) fn around(values: impl Iterator<Item = f64>, bounds: (f64, f64), place: (f64, f64)) -> Self {
        let finite: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let (mut low, mut high) = finite
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
        if finite.is_empty() {
            (low, high) = (0.0, 1.0);
        }
        let pad = ((high - low) * 0.06).max(1e-3).max(high.abs() * 1e-6);
        (low, high) = ((low - pad).max(bounds.0), (high + pad).min(bounds.1));
        if low >= high {
            (low, high) = (low - 0.5, low + 0.5);
        }
        let step = round_step((high - low) / 5.0);
        let mut ticks = Vec::new();
        let mut at = (low / step - 1e-9).ceil();
        while at * step <= high + step * 1e-6 && ticks.len() < 40 {
            ticks.push(at * step);
            at += 1.0;
        }
        Self { low, high, ticks, from: place.0, to: place.1 }
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        self.from
            + (self.to - self.from) * ((value.clamp(self.low, self.high) - self.low) / (self.high - self.low))
    }
}

fn round_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|k| k * power).find(|step| *step >= rough * 0.999).unwrap_or(10.0 * power)
}

/// A tick of a share, in percent without needless digits.
pub(super) fn percent_tick(value: f64) -> String {
    let text = format!("{:.1}", value * 100.0);
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { minus(text.to_owned()) }
}

/// The distinct names in the order in which they come.
pub(super) fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

/// About how wide a text is.
pub(super) fn text_width(text: &str) -> f64 {
    text.width() as f64 * TEXT * LETTER
}

/// The beginning of a text, of at most so many characters.
pub(super) fn clip(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(std::iter::once('…')).collect()
}

/// A coordinate: two digits are finer than a screen, and nothing but a number gets into the drawing.
pub(super) fn n(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text for XML and HTML, in an element or a quoted attribute: what either obeys becomes an entity, control
/// characters become visible, line ends become spaces.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match visible(c) {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_xml_obeys_gets_through() {
        assert_eq!(
            escape("<a b='c'>&\"\u{0}\u{ffff}\n"),
            "&lt;a b=&#39;c&#39;&gt;&amp;&quot;\u{2400}\u{fffd} "
        );
    }

    #[test]
    fn scales_are_round_and_take_any_values() {
        let scale = Scale::around([0.31, 0.74].into_iter(), (0.0, 1.0), (0.0, 100.0));
        let ticks: Vec<String> = scale.ticks.iter().map(|tick| percent_tick(*tick)).collect();
        assert_eq!(ticks, ["30", "40", "50", "60", "70"]);
        for values in
            [vec![], vec![f64::NAN], vec![0.0], vec![1.0, 1.0], vec![f64::INFINITY, 0.2], vec![1e9, 1e9]]
        {
            let scale = Scale::around(values.iter().copied(), (0.0, f64::INFINITY), (10.0, 20.0));
            assert!(!scale.ticks.is_empty() && scale.ticks.len() < 40, "{values:?}: {scale:?}");
            assert!((10.0..=20.0).contains(&scale.place(0.5)), "{values:?}: {scale:?}");
        }
    }

    #[test]
    fn a_legend_is_one_row_or_columns_of_one_width() {
        let places = |width: f64| {
            let mut svg = Svg::new(0.0, 0.0, "");
            let height = svg.legend(&["four", "more", "to"], (0.0, 0.0), width);
            let after = svg.body.split("text-anchor=\"start\" x=\"").skip(1);
            (after.map(|text| text.split('"').next().unwrap().to_owned()).collect::<Vec<_>>(), n(height))
        };
        // The third name fits without the gap behind it.
        assert_eq!(places(152.0), (["14", "76", "138"].map(str::to_owned).into(), "20".to_owned()));
        assert_eq!(places(151.0), (["14", "76", "14"].map(str::to_owned).into(), "40".to_owned()));
        assert_eq!(places(1.0), (["14", "14", "14"].map(str::to_owned).into(), "60".to_owned()));
    }

    #[test]
    fn coordinates_are_numbers() {
        let cases = [
            (1.0, "1"),
            (0.126, "0.13"),
            (-0.001, "0"),
            (f64::NAN, "0"),
            (f64::INFINITY, "0"),
            (100.0, "100"),
        ];
        for (value, expected) in cases {
            assert_eq!(n(value), expected);
        }
    }
}
