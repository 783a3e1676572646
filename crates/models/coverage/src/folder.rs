//! The folder of a comparison.

use std::path::Path;

use sqlgauge_report::charts::{DotGroup, RadarSeries, dots, radar};
use sqlgauge_report::{ReportError, write_together};

use crate::coverage::Coverage;
use crate::projection::Projection;

pub const FILES: [&str; 6] =
    ["coverage.json", "coverage.html", "schemas.svg", "questions.svg", "queries.svg", "dimensions.svg"];

impl Coverage {
    /// Writes the files of [`FILES`] together. A picture that would show nothing is written as an empty one.
    ///
    /// # Errors
    /// When the folder cannot be made or a file not be written.
    pub fn write_to(&self, folder: &Path) -> Result<(), ReportError> {
        let json = serde_json::to_string_pretty(self)?;
        let mut texts = vec![json, self.document().html()];
        texts.extend(crate::Panel::ALL.map(|panel| {
            let projection = self.projections.iter().find(|projection| projection.panel == panel);
            projection.map_or_else(|| dots("nothing to show", &[]), |projection| self.dots(projection))
        }));
        texts.push(self.radar());
        write_together(folder, FILES.into_iter().zip(texts))?;
        Ok(())
    }

    /// A panel of Figure 3.
    pub(crate) fn dots(&self, projection: &Projection) -> String {
        let groups: Vec<DotGroup<'_>> = self
            .corpora
            .iter()
            .zip(&projection.points)
            .map(|(corpus, points)| DotGroup { name: &corpus.name, points })
            .collect();
        let title = format!(
            "{}: first two principal components, {:.0} % of the variance",
            projection.panel.title(),
            100.0 * projection.explained
        );
        dots(&title, &groups)
    }

    /// Figure 4.
    pub(crate) fn radar(&self) -> String {
        let series: Vec<RadarSeries<'_>> = self
            .corpora
            .iter()
            .map(|corpus| RadarSeries {
                name: &corpus.name,
                values: corpus.reach.iter().map(|reach| reach.and_then(|reach| reach.normalised)).collect(),
            })
            .collect();
        radar("width of each corpus as a share of the widest", &self.dimensions, &series)
    }
}
