//! An accuracy with its interval on the scale from 0 to 100 %.

#![expect(clippy::format_push_string, reason = "a page is written once; what reads best wins")]

use super::svg::{Svg, escape, n};

/// Nearer than this to 0 or 1 there is no room for a number beside the bar, on a narrow screen.
const EDGE: f64 = 0.12;

/// The bar of an estimate: a track from 0 to 100 %, the interval, the estimate, and the known accuracy where there is
/// one. As wide as its place, with text of constant size.
pub fn interval_bar(accuracy: f64, interval: (f64, f64), truth: Option<f64>) -> String {
    let at =
        |value: f64| format!("{}%", n(100.0 * if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 }));
    let percent = |value: f64| format!("{:.1}", 100.0 * value);
    let (low, high) = interval;
    if ![accuracy, low, high].iter().all(|value| value.is_finite()) {
        return String::new();
    }
    let mut body = String::new();
    let mut text = |class: &str, anchor: &str, x: &str, y: u32, text: &str| {
        body.push_str(&format!(
            "<text class=\"{class}\" text-anchor=\"{anchor}\" x=\"{x}\" y=\"{y}\">{}</text>",
            escape(text)
        ));
    };
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        text("", "middle", &at(tick), 84, &format!("{:.0}", 100.0 * tick));
    }
    text("tb big", "middle", &at(accuracy), 20, &format!("{} %", percent(accuracy)));
    let (is_at_left, is_at_right) = (low < EDGE, high > 1.0 - EDGE);
    if (is_at_left || is_at_right) && high - low < 2.0 * EDGE {
        let (anchor, place) = if is_at_left { ("start", low) } else { ("end", high) };
        text("ti", anchor, &at(place), 60, &format!("{} – {}", percent(low), percent(high)));
    } else {
        // The ends of a narrow interval would run into the estimate, so they stand outside of it where there is room.
        let (left, right) =
            (if is_at_left { "start" } else { "end" }, if is_at_right { "end" } else { "start" });
        text("ti", left, &at(low), 60, &format!("\u{2002}{}\u{2002}", percent(low)));
        text("ti", right, &at(high), 60, &format!("\u{2002}{}\u{2002}", percent(high)));
    }
    if let Some(truth) = truth.filter(|truth| truth.is_finite()) {
        let (anchor, label) = if truth > 0.5 { ("end", "known runs") } else { ("start", "known runs") };
        text("", anchor, &at(truth), 104, &format!("{label} {} ▴", percent(truth)));
        body.push_str(&format!(
            "<line class=\"dash\" x1=\"{x}\" x2=\"{x}\" y1=\"34\" y2=\"92\"/>",
            x = at(truth)
        ));
    }
    let mut shapes = String::from("<rect class=\"wash\" x=\"0\" y=\"36\" width=\"100%\" height=\"6\"/>");
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        shapes.push_str(&format!(
            "<line class=\"grid\" x1=\"{x}\" x2=\"{x}\" y1=\"34\" y2=\"70\"/>",
            x = at(tick)
        ));
    }
    shapes.push_str(&format!(
        "<rect class=\"fill\" x=\"{}\" y=\"33\" width=\"{}\" height=\"12\" rx=\"2\"/>\
         <circle class=\"k0\" cx=\"{}\" cy=\"39\" r=\"9\"/>",
        at(low),
        at(high - low),
        at(accuracy)
    ));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sgc wide\" role=\"img\" aria-label=\"estimate {} percent, interval {} to {}\" \
         width=\"100%\" height=\"110\"><style>{}.sgc.wide{{height:110px}}.sgc .big{{font-size:17px}}</style>{shapes}{body}</svg>",
        percent(accuracy),
        percent(low),
        percent(high),
        Svg::style(),
    )
}
