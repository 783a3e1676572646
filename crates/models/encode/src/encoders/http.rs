//! `http:URL`: an OpenAI-compatible `/embeddings` service.
//!
//! The text of an item is [`render`]'s. What a service does with texts that are too long differs: some cut them, some
//! refuse them. The client keeps the vector of each text in its cache, so that a run that was broken off continues.

use sqlgauge_llm::{Client, EmbeddingRequest, LlmError, digest};

use crate::encoder::{EncodeError, Encoder};
use crate::input::{EncoderInput, InputForm};
use crate::render::{RENDER_VERSION, render};
use crate::vectors::Matrix;

/// Raised when the vector of some item changes for another reason than the options.
const VERSION: u32 = 1;
/// Sent once to learn how long vectors are.
const PROBE: &str = "How many components has a vector?";

/// Encodes by asking a service.
#[derive(Debug)]
pub struct HttpEncoder {
    client: Client,
    request: EmbeddingRequest,
    form: InputForm,
    dimensions: usize,
}

impl HttpEncoder {
    /// Asks the service for one vector, to learn their length.
    ///
    /// # Errors
    /// When the service does not answer as it should.
    pub fn open(client: Client, request: EmbeddingRequest, form: InputForm) -> Result<Self, EncodeError> {
        let mut probe = client.embed(&request, &[PROBE.to_owned()], None).results;
        let vector = probe
            .pop()
            .unwrap_or(Err(LlmError::Abandoned))
            .map_err(|error| EncodeError(error.to_string()))?;
        Ok(Self { client, request, form, dimensions: vector.len() })
    }
}

impl Encoder for HttpEncoder {
    fn id(&self) -> String {
        format!("http:{}", self.request.model)
    }

    /// What is empty in it were options once: files and caches keep their fingerprints.
    fn fingerprint(&self) -> String {
        let text = serde_json::json!({
            "version": [VERSION, RENDER_VERSION],
            "model": [self.request.model, ""],
            "dimensions": { "asked": null, "found": self.dimensions },
            "extra": {},
            "form": self.form,
            "longest_text_bytes": null,
        });
        digest(text.to_string().as_bytes())
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// # Errors
    /// When the service gives no vector for some item, or one of another length. What came before is in the client's
    /// cache.
    fn encode(&self, inputs: &[EncoderInput]) -> Result<Matrix, EncodeError> {
        let texts: Vec<String> = inputs.iter().map(|input| render(input, self.form)).collect();
        let batch = self.client.embed(&self.request, &texts, None);
        let answered = batch.answered();
        let mut values = Vec::with_capacity(inputs.len() * self.dimensions);
        for (input, result) in inputs.iter().zip(batch.results) {
            let vector = result.map_err(|error| {
                let id = &input.id;
                EncodeError(format!(
                    "item {id} has no vector ({answered} of {} have one): {error}",
                    inputs.len()
                ))
            })?;
            if vector.len() != self.dimensions {
                let (length, id) = (vector.len(), &input.id);
                return Err(EncodeError(format!(
                    "the vector of item {id} has {length} components, others have {}; did the service change its model?",
                    self.dimensions
                )));
            }
            values.extend(vector);
        }
        Matrix::new(self.dimensions, values).map_err(|error| EncodeError(error.to_string()))
    }
}
