//! `features`: named components that need no weights.
//!
//! Counts and lengths are ln(1 + n), shares are in \[0, 1\], yes and no are 1 and 0: no component is far larger than
//! another, and none depends on other items. The components of the form without a prediction are the first ones of
//! the form with one. [`FeatureEncoder::table`] lists them; `docs/reference/features.md` shows that list.

mod linking;
mod prediction;
mod question;
mod row;
mod schema;
mod words;

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use sqlgauge_sql::schema::Schema;

use self::linking::Links;
use self::prediction::ItemParts;
use self::question::{Cues, Text};
pub use self::row::FeatureDimension;
use self::row::Row;
use self::schema::Prepared;
use crate::encoder::{EncodeError, Encoder};
use crate::input::{EncoderInput, InputForm};
use crate::vectors::Matrix;
use sqlgauge_base::hex;

/// Name and version: a new version when the value of some component of some item changes.
const ID: &str = "features@1";

/// Prepared schemas that are kept.
const MOST_SCHEMAS: usize = 4096;

type Known = (Arc<Schema>, Arc<Prepared>);

pub struct FeatureEncoder {
    form: InputForm,
    dimensions: Vec<FeatureDimension>,
    /// By address; the schema is kept with it, so that no other one comes to lie there.
    schemas: Mutex<HashMap<usize, Known>>,
}

impl FeatureEncoder {
    pub fn new(form: InputForm) -> Self {
        let mut row = Row::named();
        let schema = Schema::default();
        let prepared = Prepared::new(&schema, &mut row);
        let input = EncoderInput {
            id: String::new(),
            db_id: String::new(),
            question: String::new(),
            evidence: None,
            schema: Arc::new(schema),
            prediction: None,
        };
        put(&mut row, form, &input, &prepared);
        Self { form, dimensions: row.dimensions, schemas: Mutex::default() }
    }

    /// Every component with its name and what it is, in their order.
    pub fn table(&self) -> &[FeatureDimension] {
        &self.dimensions
    }

    /// The table as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for (number, FeatureDimension { name, description }) in self.dimensions.iter().enumerate() {
            let _ = writeln!(text, "{number}. `{name}`: {description}");
        }
        text
    }

    fn prepared(&self, schema: &Arc<Schema>) -> Arc<Prepared> {
        let address = Arc::as_ptr(schema) as usize;
        let mut schemas = self.schemas.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if schemas.len() >= MOST_SCHEMAS && !schemas.contains_key(&address) {
            schemas.clear();
        }
        let prepare = || {
            let prepared = Prepared::new(schema, &mut Row::new(self.dimensions.len()));
            (Arc::clone(schema), Arc::new(prepared))
        };
        Arc::clone(&schemas.entry(address).or_insert_with(prepare).1)
    }

    fn vector(&self, input: &EncoderInput, prepared: &Prepared) -> Vec<f32> {
        let mut row = Row::new(self.dimensions.len());
        row.values.extend_from_slice(&prepared.values);
        put(&mut row, self.form, input, prepared);
        row.values
    }
}

/// Puts everything behind the components of the schema.
fn put(row: &mut Row, form: InputForm, input: &EncoderInput, prepared: &Prepared) {
    let question = Text::new(&input.question);
    let cues = Cues::of(&question);
    let evidence = input.evidence.as_deref().map(Text::new);
    question::put(row, &input.question, &question, &cues, evidence.as_ref());
    let links = Links::new(row, prepared, &question, evidence.as_ref());
    if form.has_prediction() {
        let parts = ItemParts {
            schema: &input.schema,
            prepared,
            question: &question,
            evidence: evidence.as_ref(),
            cues: &cues,
            links: &links,
        };
        prediction::put(row, input.prediction.as_deref(), &parts);
    }
}

impl Encoder for FeatureEncoder {
    fn id(&self) -> String {
        ID.to_owned()
    }

    fn fingerprint(&self) -> String {
        let mut digest = Sha256::new();
        for part in [ID, env!("CARGO_PKG_VERSION"), self.form.name()] {
            digest.update(part);
            digest.update([0]);
        }
        for dimension in &self.dimensions {
            digest.update(dimension.name);
            digest.update([0]);
        }
        format!("{ID}:{}", &hex(&digest.finalize())[..32])
    }

    fn dimensions(&self) -> usize {
        self.dimensions.len()
    }

    fn dimension_names(&self) -> Option<Vec<String>> {
        Some(self.dimensions.iter().map(|dimension| dimension.name.to_owned()).collect())
    }

    fn encode(&self, inputs: &[EncoderInput]) -> Result<Matrix, EncodeError> {
        let prepared: Vec<Arc<Prepared>> = inputs.iter().map(|input| self.prepared(&input.schema)).collect();
        let rows: Vec<Vec<f32>> =
            inputs.par_iter().zip(&prepared).map(|(input, prepared)| self.vector(input, prepared)).collect();
        Matrix::new(self.dimensions(), rows.concat()).map_err(|error| EncodeError(error.to_string()))
    }
}

#[cfg(test)]
mod tests;
