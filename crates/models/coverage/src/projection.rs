//! Figure 3: where the items of several corpora lie to each other.
//!
//! # Contract
//! Each panel has the named components of the `features` encoder that are about its subject: schemas (domains), questions, queries. The
//! plane is that of the first two principal components of all corpora together, the same number drawn of each, so that a large
//! one does not decide alone what is seen. Items without a question are not in the panel of questions. The paper's figure is a t-SNE, which keeps neighbourhoods and no distances; this is a
//! linear map of the same kind of data: what lies apart in it lies apart.

use serde::Serialize;
use sqlgauge_encode::encoders::features::FeatureEncoder;
use sqlgauge_encode::{EncodeError, Encoder, EncoderInput, InputForm};
use sqlgauge_shift::principal_directions;

sqlgauge_base::named! {
    /// What a panel is about.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Panel by title {
        /// Schemas: the paper's domains.
        Schemas = "Schemas",
        Questions = "Questions",
        Queries = "Queries",
    }
}

impl Panel {
    /// How the names of its components begin.
    fn prefixes(self) -> &'static [&'static str] {
        match self {
            Self::Schemas => &["schema."],
            Self::Questions => &["question."],
            // Those that hold a query against its question would tell corpora without questions apart, and nothing else.
            Self::Queries => &[
                "sql.text.",
                "sql.op.",
                "sql.fn.",
                "sql.literals.",
                "sql.outputs",
                "sql.tables",
                "sql.columns",
                "sql.depth",
                "sql.subqueries",
                "sql.joins",
                "sql.self_joins",
                "sql.aggregates",
                "sql.set_operations",
                "sql.predicates",
            ],
        }
    }
}

/// A panel with its points.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Projection {
    /// What it is about.
    pub panel: Panel,
    /// The share of the variance that its two directions have, of the items that were drawn.
    pub explained: f64,
    /// The points of each corpus, in their order.
    pub points: Vec<Vec<[f32; 2]>>,
}

/// The panels of some corpora. A panel that does not vary is left out.
pub(crate) fn project(samples: &[Vec<EncoderInput>]) -> Result<Vec<Projection>, EncodeError> {
    let encoder = FeatureEncoder::new(InputForm::QuestionSchemaPrediction);
    let names: Vec<&str> = encoder.table().iter().map(|dimension| dimension.name).collect();
    let matrices: Vec<_> = samples.iter().map(|sample| encoder.encode(sample)).collect::<Result<_, _>>()?;
    let panels = Panel::ALL.into_iter().filter_map(|panel| {
        let wanted: Vec<usize> = (0..names.len())
            .filter(|&at| panel.prefixes().iter().any(|prefix| names[at].starts_with(prefix)))
            .collect();
        let part = |row: &[f32]| wanted.iter().map(|&at| row[at]).collect::<Vec<f32>>();
        let is_shown = |input: &EncoderInput| panel != Panel::Questions || !input.question.is_empty();
        let rows: Vec<Vec<Vec<f32>>> = samples
            .iter()
            .zip(&matrices)
            .map(|(sample, matrix)| {
                let items = sample.iter().zip(matrix.rows()).filter(|(input, _)| is_shown(input));
                items.map(|(_, row)| part(row)).collect()
            })
            .collect();
        plane(panel, &rows, wanted.len())
    });
    Ok(panels.collect())
}

fn plane(panel: Panel, corpora: &[Vec<Vec<f32>>], dimensions: usize) -> Option<Projection> {
    if dimensions == 0 {
        return None;
    }
    let each = corpora.iter().map(Vec::len).filter(|count| *count > 0).min()?;
    let drawn: Vec<f32> = corpora.iter().flat_map(|rows| rows.iter().take(each).flatten().copied()).collect();
    let mean = mean(&drawn, dimensions);
    let directions = principal_directions(drawn.clone(), dimensions, 2, 0);
    let [one, two] = *directions.chunks_exact(dimensions).collect::<Vec<_>>().as_slice() else { return None };
    let along = |row: &[f32], direction: &[f32]| -> f64 {
        row.iter()
            .zip(&mean)
            .zip(direction)
            .map(|((value, mean), share)| (f64::from(*value) - mean) * f64::from(*share))
            .sum()
    };
    let (mut in_plane, mut all) = (0.0, 0.0);
    for row in drawn.chunks_exact(dimensions) {
        in_plane += along(row, one).powi(2) + along(row, two).powi(2);
        all += row.iter().zip(&mean).map(|(value, mean)| (f64::from(*value) - mean).powi(2)).sum::<f64>();
    }
    #[expect(clippy::cast_possible_truncation, reason = "places in a drawing")]
    let place = |row: &Vec<f32>| [along(row, one) as f32, along(row, two) as f32];
    let points = corpora.iter().map(|rows| rows.iter().map(place).collect()).collect();
    Some(Projection { panel, explained: in_plane / all, points })
}

fn mean(rows: &[f32], dimensions: usize) -> Vec<f64> {
    let mut mean = vec![0.0; dimensions];
    let count = (rows.len() / dimensions.max(1)).max(1) as f64;
    for row in rows.chunks_exact(dimensions) {
        mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += f64::from(*value) / count);
    }
    mean
}
