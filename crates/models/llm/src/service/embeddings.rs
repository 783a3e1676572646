//! Requests to and answers of `/embeddings`.

use serde_json::{Value, json};

/// Path below the base URL.
pub(crate) const EMBEDDINGS: &str = "embeddings";

/// How texts are embedded.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddingRequest {
    pub model: String,
    /// Texts in one request, at least 1.
    pub batch: usize,
}

impl EmbeddingRequest {
    /// 64 texts in a request.
    pub fn new(model: impl Into<String>) -> Self {
        Self { model: model.into(), batch: 64 }
    }

    /// The JSON body for those texts.
    pub(crate) fn body(&self, texts: &[&str]) -> Value {
        json!({ "input": texts, "model": self.model })
    }
}

/// The vectors of an answer in the order of the texts: one for each, all finite, of one length.
pub(crate) fn vectors(answer: &Value, texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let data = answer["data"].as_array().ok_or("it has no data")?;
    if data.len() != texts {
        return Err(format!("it has {} vectors for {texts} texts", data.len()));
    }
    let mut ordered: Vec<Option<Vec<f32>>> = vec![None; texts];
    for (position, entry) in data.iter().enumerate() {
        let index = match &entry["index"] {
            Value::Null => position,
            stated => stated
                .as_u64()
                .and_then(|index| usize::try_from(index).ok())
                .ok_or_else(|| format!("the index {stated} of a vector is not a number from 0"))?,
        };
        let place = ordered.get_mut(index).filter(|place| place.is_none());
        let place =
            place.ok_or_else(|| format!("the index {index} of a vector is repeated or out of range"))?;
        *place = Some(vector(&entry["embedding"])?);
    }
    let vectors: Vec<Vec<f32>> = ordered.into_iter().flatten().collect();
    if vectors.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
        return Err("its vectors differ in length".to_owned());
    }
    Ok(vectors)
}

/// One vector of finite 32-bit numbers.
pub(crate) fn vector(value: &Value) -> Result<Vec<f32>, String> {
    let components = value.as_array().filter(|components| !components.is_empty());
    let components = components.ok_or("an embedding is not a list of numbers")?;
    components
        .iter()
        .map(component)
        .collect::<Option<_>>()
        .ok_or_else(|| "a component is not a finite number".to_owned())
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "embeddings are 32-bit numbers; what overflows is refused"
)]
fn component(value: &Value) -> Option<f32> {
    value.as_f64().map(|number| number as f32).filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_in_the_order_of_their_index() {
        let answer =
            json!({"data": [{"index": 1, "embedding": [3, 4]}, {"index": 0, "embedding": [1.5, -2]}]});
        assert_eq!(vectors(&answer, 2).unwrap(), [[1.5, -2.0], [3.0, 4.0]]);
        let unnumbered = json!({"data": [{"embedding": [1]}, {"embedding": [2]}]});
        assert_eq!(vectors(&unnumbered, 2).unwrap(), [[1.0], [2.0]]);
    }

    #[test]
    fn vectors_that_cannot_be_right_are_refused() {
        let e = |index: i64, embedding: Value| json!({"index": index, "embedding": embedding});
        for (answer, reason) in [
            (json!({}), "no data"),
            (json!({"data": [e(0, json!([1]))]}), "1 vectors for 2 texts"),
            (json!({"data": [e(0, json!([1])), e(0, json!([1]))]}), "repeated"),
            (json!({"data": [e(0, json!([1])), e(9, json!([1]))]}), "out of range"),
            (json!({"data": [e(0, json!([1])), e(-1, json!([1]))]}), "the index -1"),
            (json!({"data": [e(0, json!([1])), {"index": "1", "embedding": [1]}]}), "not a number"),
            (json!({"data": [e(0, json!([1])), e(1, json!([1, 2]))]}), "differ in length"),
            (json!({"data": [e(0, json!([1])), e(1, json!([]))]}), "not a list"),
            (json!({"data": [e(0, json!([1])), e(1, json!("AAAA"))]}), "not a list"),
            (json!({"data": [e(0, json!([1])), e(1, json!([null]))]}), "finite"),
            (json!({"data": [e(0, json!([1])), e(1, json!([1e39]))]}), "finite"),
        ] {
            let error = vectors(&answer, 2).unwrap_err();
            assert!(error.contains(reason), "{answer}: {error}");
        }
    }
}
