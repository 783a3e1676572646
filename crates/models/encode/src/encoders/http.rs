//! `http:URL`: an OpenAI-compatible `/embeddings` service.
//!
//! The text of an item is [`render`]'s. What a service does with texts that are too long differs: some cut them, some
//! refuse them; [`HttpOptions::longest_text_bytes`] cuts them here. The client keeps the vector of each text in its
//! cache, so that a run that was broken off goes on where it was.

use sqlgauge_llm::{Client, EmbeddingRequest, LlmError, digest};

use crate::encoder::{EncodeError, Encoder};
use crate::input::{EncoderInput, InputForm};
use crate::render::{RENDER_VERSION, render};
use crate::vectors::Matrix;

/// Raised when the vector of some item changes for another reason than the options.
const VERSION: u32 = 1;
/// Sent once to learn how long vectors are.
const PROBE: &str = "How many components has a vector?";

#[derive(Debug, Clone, PartialEq)]
pub struct HttpOptions {
    /// Model, dimensions, texts per request and further parameters.
    pub request: EmbeddingRequest,
    /// Which parts of an item are encoded.
    pub form: InputForm,
    /// Longer texts are cut to so many bytes, at the end of a character; `None` sends them whole.
    pub longest_text_bytes: Option<usize>,
    /// Tells apart models that their servers call by the same name; part of the fingerprint, where the server's
    /// address is not.
    pub revision: String,
}

impl HttpOptions {
    /// Question, schema and prediction, whole.
    pub fn new(model: impl Into<String>) -> Self {
        let request = EmbeddingRequest::new(model);
        let form = InputForm::QuestionSchemaPrediction;
        Self { request, form, longest_text_bytes: None, revision: String::new() }
    }
}

/// Encodes by asking a service.
#[derive(Debug)]
pub struct HttpEncoder {
    client: Client,
    options: HttpOptions,
    dimensions: usize,
}

impl HttpEncoder {
    /// Asks the service for one vector, to learn their length.
    ///
    /// # Errors
    /// When the service does not answer as it should.
    pub fn open(client: Client, options: HttpOptions) -> Result<Self, EncodeError> {
        let mut probe = client.embed(&options.request, &[PROBE.to_owned()], None).results;
        let vector = probe
            .pop()
            .unwrap_or(Err(LlmError::Abandoned))
            .map_err(|error| EncodeError(error.to_string()))?;
        Ok(Self { client, options, dimensions: vector.len() })
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    fn text(&self, input: &EncoderInput) -> String {
        let mut text = render(input, self.options.form);
        if let Some(limit) = self.options.longest_text_bytes.filter(|limit| *limit < text.len()) {
            text.truncate(text.floor_char_boundary(limit));
        }
        text
    }
}

impl Encoder for HttpEncoder {
    fn id(&self) -> String {
        format!("http:{}", self.options.request.model)
    }

    fn fingerprint(&self) -> String {
        let HttpOptions { request, form, longest_text_bytes, revision } = &self.options;
        let EmbeddingRequest { model, dimensions, extra, batch: _ } = request;
        let text = serde_json::json!({
            "version": [VERSION, RENDER_VERSION],
            "model": [model, revision],
            "dimensions": { "asked": dimensions, "found": self.dimensions },
            "extra": extra,
            "form": form,
            "longest_text_bytes": longest_text_bytes,
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
        let texts: Vec<String> = inputs.iter().map(|input| self.text(input)).collect();
        let batch = self.client.embed(&self.options.request, &texts, None);
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
