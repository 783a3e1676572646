//! Charts as SVG, one file per chart: no script, no network, readable in light and dark and on paper.
//!
//! A chart takes the colours of the page that it stands in (the custom properties of `web/style.css`) and has its own,
//! light and dark, where it stands alone. Points that are not finite are left out and counted below the chart; text is
//! escaped by the rules of XML.

mod dots;
mod drift;
mod interval;
mod methods;
mod predicted;
mod radar;
mod steps;
mod svg;

pub use dots::{DotGroup, dots};
pub use drift::{DriftMark, drift_chart};
pub use interval::interval_bar;
pub use methods::{MethodRow, mae_by_method};
pub use predicted::{AccuracyPoint, predicted_against_true};
pub use radar::{RadarSeries, radar};
pub use steps::{StepLine, lines_by_step};
pub use svg::escape;
