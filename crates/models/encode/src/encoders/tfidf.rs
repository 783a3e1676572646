//! `tfidf`: how often an item's text has each term, against how common the term is.
//!
//! The text of an item is [`render`]'s. A term is a run of two or more letters, digits and underscores in lower case, or
//! a few of them in a row. With a term's count t in a text, n texts and d texts that have the term, its component is
//! t · (ln((1 + n) / (1 + d)) + 1) (with `sublinear` 1 + ln t for t), and the vector is scaled to length 1: the weights
//! of scikit-learn's `TfidfVectorizer(smooth_idf=True, norm="l2")` for the same options, which the tests compare with.
//!
//! The terms and their weights are learned from one workload (the source), and must be the same for every workload
//! that is compared with it: they are kept in the metadata of the embedding file, from where [`Tfidf::of_metadata`]
//! takes them. Nothing is random and nothing is hashed: a component is a term, and its name says which.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::encoder::{EncodeError, Encoder};
use crate::input::{EncoderInput, InputForm};
use crate::metadata::Metadata;
use crate::render::{RENDER_VERSION, render};
use crate::vectors::Matrix;
use sqlgauge_base::hex;

/// Name and version: a new version when the vector of some item changes.
const ID: &str = "tfidf@1";
/// Where the terms are kept in [`Metadata::extra`].
const KEY: &str = "tfidf";

/// Which terms become components, and how they are weighed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TfidfOptions {
    /// The most terms: those that occur most often, in alphabetical order where they occur equally often.
    pub max_terms: usize,
    /// Words in a row that make a term, at most.
    pub ngrams: usize,
    /// Texts that must have a term.
    pub min_texts: usize,
    /// 1 + ln t in place of the count t.
    pub sublinear: bool,
}

impl Default for TfidfOptions {
    fn default() -> Self {
        Self { max_terms: 1024, ngrams: 1, min_texts: 1, sublinear: false }
    }
}

impl TfidfOptions {
    /// Reads `max=4096,ngrams=2,min=3,sublinear`; what is not named has its default.
    ///
    /// # Errors
    /// When an option is unknown or is no positive number.
    pub fn parse(text: &str) -> Result<Self, EncodeError> {
        let mut options = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let number = || {
                value
                    .parse()
                    .ok()
                    .filter(|&number: &usize| number > 0)
                    .ok_or_else(|| EncodeError(format!("tfidf: {name}={value} is not a positive number")))
            };
            match (name, value) {
                ("max", _) => options.max_terms = number()?,
                ("ngrams", _) => options.ngrams = number()?,
                ("min", _) => options.min_texts = number()?,
                ("sublinear", "") => options.sublinear = true,
                _ => {
                    return Err(EncodeError(format!(
                        "tfidf has no option {part:?}; write tfidf or tfidf:max=1024,ngrams=1,min=1,sublinear"
                    )));
                }
            }
        }
        Ok(options)
    }
}

/// The encoder of term frequencies.
#[derive(Debug, Clone)]
pub struct Tfidf {
    model: Model,
    index: HashMap<String, usize>,
    form: InputForm,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Model {
    options: TfidfOptions,
    terms: Vec<String>,
    /// ln((1 + n) / (1 + d)) + 1 of each term.
    weights: Vec<f64>,
}

impl Tfidf {
    /// Learns terms and weights from items.
    ///
    /// # Errors
    /// When there is no term.
    pub fn fit(inputs: &[EncoderInput], form: InputForm, options: TfidfOptions) -> Result<Self, EncodeError> {
        let texts: Vec<String> = inputs.par_iter().map(|input| render(input, form)).collect();
        Self::fit_texts(&texts, form, options)
    }

    /// Learns terms and weights from texts.
    ///
    /// # Errors
    /// When there is no term.
    pub fn fit_texts(texts: &[String], form: InputForm, options: TfidfOptions) -> Result<Self, EncodeError> {
        // Of each term: how often it occurs, and in how many texts.
        let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
        for text in texts {
            for (term, count) in counts_of(text, options.ngrams) {
                let (all, texts) = counts.entry(term).or_default();
                *all += count;
                *texts += 1;
            }
        }
        let mut terms: Vec<(String, (usize, usize))> =
            counts.into_iter().filter(|(_, (_, texts))| *texts >= options.min_texts).collect();
        terms.sort_by(|(a, (a_count, _)), (b, (b_count, _))| b_count.cmp(a_count).then_with(|| a.cmp(b)));
        terms.truncate(options.max_terms);
        terms.sort();
        if terms.is_empty() {
            return Err(EncodeError(format!(
                "tfidf: no term occurs in {} of the {} texts; give more items or lower min",
                options.min_texts,
                texts.len()
            )));
        }
        let weight = |texts_with: usize| ((1.0 + texts.len() as f64) / (1.0 + texts_with as f64)).ln() + 1.0;
        let weights = terms.iter().map(|(_, (_, texts))| weight(*texts)).collect();
        Ok(Self::of(
            Model { options, terms: terms.into_iter().map(|(term, _)| term).collect(), weights },
            form,
        ))
    }

    /// The encoder that made the vectors of a file.
    ///
    /// # Errors
    /// When the file was made by another encoder, or its terms are damaged.
    pub(crate) fn of_metadata(metadata: &Metadata, form: InputForm) -> Result<Self, EncodeError> {
        let text = metadata.extra.get(KEY).ok_or_else(|| {
            EncodeError(format!(
                "the file to be like was made by encoder {:?} and has no terms of tfidf; give one made by tfidf",
                metadata.encoder
            ))
        })?;
        let damaged = |problem: &str| {
            EncodeError(format!(
                "the terms of tfidf in the file to be like (its metadata {KEY:?}) are damaged: {problem}; encode it again"
            ))
        };
        let model: Model = serde_json::from_str(text).map_err(|error| damaged(&error.to_string()))?;
        if model.terms.is_empty() || model.terms.len() != model.weights.len() {
            let (terms, weights) = (model.terms.len(), model.weights.len());
            return Err(damaged(&format!("there are {terms} terms and {weights} weights")));
        }
        if let Some(at) = model.weights.iter().position(|weight| !weight.is_finite()) {
            return Err(damaged(&format!("the weight of {:?} is no finite number", model.terms[at])));
        }
        Ok(Self::of(model, form))
    }

    fn of(model: Model, form: InputForm) -> Self {
        let index = model.terms.iter().cloned().enumerate().map(|(place, term)| (term, place)).collect();
        Self { model, index, form }
    }

    /// The terms, in the order of the components.
    pub fn terms(&self) -> &[String] {
        &self.model.terms
    }

    /// The vector of a text; all zeros where it has no known term.
    pub fn vector(&self, text: &str) -> Vec<f32> {
        let counts = counts_of(text, self.model.options.ngrams)
            .into_iter()
            .filter_map(|(term, count)| Some((*self.index.get(&term)?, count)));
        // In the order of the components: a sum of floats depends on its order.
        let counts: BTreeMap<usize, usize> = counts.collect();
        let weigh = |(place, count): (usize, usize)| {
            let count = count as f64;
            let count = if self.model.options.sublinear { 1.0 + count.ln() } else { count };
            (place, count * self.model.weights[place])
        };
        let weighed: Vec<(usize, f64)> = counts.into_iter().map(weigh).collect();
        let length = weighed.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
        let mut vector = vec![0.0; self.model.terms.len()];
        for (place, value) in weighed {
            #[expect(clippy::cast_possible_truncation, reason = "components are f32")]
            let value = (value / length) as f32;
            vector[place] = value;
        }
        vector
    }

    fn json(&self) -> String {
        // A struct of numbers and texts always has a JSON text.
        serde_json::to_string(&self.model).unwrap_or_default()
    }
}

/// How often a text has each term.
fn counts_of(text: &str, ngrams: usize) -> HashMap<String, usize> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| word.chars().nth(1).is_some())
        .collect();
    let mut counts = HashMap::new();
    for length in 1..=ngrams.max(1).min(words.len()) {
        for words in words.windows(length) {
            *counts.entry(words.join(" ")).or_default() += 1;
        }
    }
    counts
}

impl Encoder for Tfidf {
    fn id(&self) -> String {
        ID.to_owned()
    }

    fn fingerprint(&self) -> String {
        let text = format!("{ID} {RENDER_VERSION} {} {}", self.form.name(), self.json());
        format!("{ID}:{}", &hex(&Sha256::digest(text))[..32])
    }

    fn dimensions(&self) -> usize {
        self.model.terms.len()
    }

    fn dimension_names(&self) -> Option<Vec<String>> {
        Some(self.model.terms.clone())
    }

    fn extra(&self) -> BTreeMap<String, String> {
        [(KEY.to_owned(), self.json())].into()
    }

    fn encode(&self, inputs: &[EncoderInput]) -> Result<Matrix, EncodeError> {
        let rows: Vec<Vec<f32>> =
            inputs.par_iter().map(|input| self.vector(&render(input, self.form))).collect();
        Matrix::new(self.dimensions(), rows.concat()).map_err(|error| EncodeError(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Case {
        options: TfidfOptions,
        terms: Vec<String>,
        vectors: Vec<Vec<f64>>,
    }

    #[derive(Deserialize)]
    struct Fixture {
        fitted: Vec<String>,
        encoded: Vec<String>,
        cases: Vec<Case>,
    }

    /// `tests/fixtures/tfidf.py` made the file.
    #[test]
    fn vectors_are_those_of_scikit_learn() {
        let fixture: Fixture = serde_json::from_str(include_str!("../../tests/fixtures/tfidf.json")).unwrap();
        for case in fixture.cases {
            let encoder = Tfidf::fit_texts(&fixture.fitted, InputForm::QuestionSchema, case.options).unwrap();
            assert_eq!(encoder.terms(), case.terms, "{:?}", case.options);
            for (text, expected) in fixture.encoded.iter().zip(&case.vectors) {
                let vector = encoder.vector(text);
                let distance =
                    vector.iter().zip(expected).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max);
                assert!(distance < 1e-6, "{text:?} with {:?}: {distance}", case.options);
            }
        }
    }

    #[test]
    fn the_encoder_comes_back_from_a_file() {
        let texts = ["a cat sat".to_owned(), "the cat, the dog".to_owned()];
        let encoder = Tfidf::fit_texts(&texts, InputForm::QuestionSchema, TfidfOptions::default()).unwrap();
        let mut metadata = Metadata { extra: encoder.extra(), ..Metadata::default() };
        let again = Tfidf::of_metadata(&metadata, InputForm::QuestionSchema).unwrap();
        assert_eq!(again.fingerprint(), encoder.fingerprint());
        assert_eq!(again.vector(&texts[1]), encoder.vector(&texts[1]));
        assert_ne!(
            Tfidf::of(encoder.model.clone(), InputForm::QuestionSchemaPrediction).fingerprint(),
            encoder.fingerprint()
        );
        metadata.extra.insert(KEY.to_owned(), "{}".to_owned());
        assert!(Tfidf::of_metadata(&metadata, InputForm::QuestionSchema).is_err());
        metadata.extra.clear();
        assert!(Tfidf::of_metadata(&metadata, InputForm::QuestionSchema).is_err());
        assert!(
            Tfidf::fit_texts(&["! ?".to_owned()], InputForm::QuestionSchema, TfidfOptions::default())
                .is_err()
        );
    }

    #[test]
    fn options_are_read() {
        let expected = TfidfOptions { max_terms: 9, ngrams: 2, min_texts: 3, sublinear: true };
        assert_eq!(TfidfOptions::parse("max=9, ngrams=2,min=3,sublinear").unwrap(), expected);
        assert_eq!(TfidfOptions::parse("").unwrap(), TfidfOptions::default());
        for wrong in ["max=0", "max=x", "foo", "sublinear=1"] {
            assert!(TfidfOptions::parse(wrong).is_err(), "{wrong}");
        }
    }
}
