//! From a name on the command line to an encoder.

use std::path::PathBuf;

use sqlgauge_base::NotBuiltIn;

use crate::encoder::{EncodeError, Encoder};
use crate::input::{EncoderInput, InputForm};
use crate::metadata::Metadata;

/// Every encoder: its name, what follows the colon, and the cargo feature that builds it in, where this build is
/// without it.
const KNOWN: [(&str, &str, Option<NotBuiltIn>); 6] = [
    ("features", "", None),
    ("tfidf", "OPTIONS", None),
    ("bert", "DIR", unless(cfg!(feature = "neural"), "encoder bert", "neural")),
    ("llm", "DIR", unless(cfg!(feature = "neural"), "encoder llm", "neural")),
    ("http", "URL", unless(cfg!(feature = "services"), "encoder http", "services")),
    ("file", "PATH", None),
];

const fn unless(built_in: bool, what: &'static str, feature: &'static str) -> Option<NotBuiltIn> {
    if built_in { None } else { Some(NotBuiltIn { what, feature }) }
}

/// Why a text names no encoder.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SpecError {
    #[error("unknown encoder {name:?}; use one of features, tfidf, bert:DIR, llm:DIR, http:URL, file:PATH")]
    Unknown { name: String },
    /// The encoder is left out of this program.
    #[error(transparent)]
    NotBuiltIn(#[from] NotBuiltIn),
    /// What follows the colon is missing.
    #[error("encoder {name:?} needs {needed}; write {name}:{needed}")]
    NoArgument {
        name: &'static str,
        /// What is missing.
        needed: &'static str,
    },
    /// Something follows the colon that the encoder does not take.
    #[error("encoder {name:?} takes nothing after its name; write {name}")]
    Argument { name: &'static str },
}

/// An encoder as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EncoderSpec {
    /// Named features.
    Features,
    /// Term frequencies, with the options as written.
    Tfidf(String),
    /// A sentence encoder of the BERT family in that folder.
    Bert(PathBuf),
    /// A decoder-only language model in that folder.
    Llm(PathBuf),
    /// An OpenAI-compatible service, with or without `/embeddings` at its end.
    Http(String),
    /// Vectors made elsewhere.
    File(PathBuf),
}

/// Reads `features`, `tfidf`, `tfidf:max=4096,ngrams=2`, `bert:DIR`, `llm:DIR`, `http:URL` or `file:PATH`. A URL may
/// stand for itself: `https://…` is `http:https://…`.
///
/// # Errors
/// When there is no such encoder, it is not built in, or what follows the colon is missing or too much.
pub fn parse(text: &str) -> Result<EncoderSpec, SpecError> {
    let (name, argument) = match text.split_once(':') {
        Some(("http" | "https", rest)) if rest.starts_with("//") => ("http", text),
        Some((name, argument)) => (name, argument),
        None => (text, ""),
    };
    let &(name, needed, missing) = KNOWN
        .iter()
        .find(|(encoder, ..)| *encoder == name)
        .ok_or_else(|| SpecError::Unknown { name: name.to_owned() })?;
    if let Some(missing) = missing {
        return Err(missing.into());
    }
    match (name, argument.is_empty()) {
        ("features", false) => Err(SpecError::Argument { name }),
        ("features", true) => Ok(EncoderSpec::Features),
        ("tfidf", _) => Ok(EncoderSpec::Tfidf(argument.to_owned())),
        (_, true) => Err(SpecError::NoArgument { name, needed }),
        ("bert", _) => Ok(EncoderSpec::Bert(argument.into())),
        ("llm", _) => Ok(EncoderSpec::Llm(argument.into())),
        ("http", _) => Ok(EncoderSpec::Http(argument.to_owned())),
        _ => Ok(EncoderSpec::File(argument.into())),
    }
}

/// The settings of an encoder besides its name. Not `Debug`: it has the key.
#[derive(Clone, Default)]
pub struct BuildOptions<'a> {
    /// What an existing file says about itself, whose space the vectors must be in.
    pub like: Option<&'a Metadata>,
    /// `cpu`, `cuda` or `cuda:N`; for models in folders.
    pub device: Option<String>,
    /// `f32`, `f16` or `bf16`; for models in folders.
    pub precision: Option<String>,
    /// Tokens of a text that are read; for models in folders.
    pub max_tokens: Option<usize>,
    /// Scale vectors to length 1; for models in folders.
    pub normalise: bool,
    /// Name of the service's model.
    pub model: Option<String>,
    /// Key of the service.
    pub api_key: Option<String>,
    /// Folder where a service's answers are kept.
    pub service_cache: Option<PathBuf>,
}

impl EncoderSpec {
    /// The encoder; `inputs` are what an encoder learns from that is neither fixed nor [`BuildOptions::like`] another.
    ///
    /// # Errors
    /// When a model, a service or an option is not usable, or the encoder differs from the one to be like.
    pub fn build(
        &self,
        form: InputForm,
        options: &BuildOptions<'_>,
        inputs: &[EncoderInput],
    ) -> Result<Box<dyn Encoder>, EncodeError> {
        let encoder = self.open(form, options, inputs)?;
        match options.like {
            Some(like) if like.fingerprint != encoder.fingerprint() => Err(EncodeError(format!(
                "the file given with --like is of encoder {:?} in form {}, not of this one ({}, {}) with the same weights, options and version; its vectors cannot be compared",
                like.encoder,
                like.form.map_or("unknown", InputForm::name),
                encoder.id(),
                form.name(),
            ))),
            _ => Ok(encoder),
        }
    }

    fn open(
        &self,
        form: InputForm,
        options: &BuildOptions<'_>,
        inputs: &[EncoderInput],
    ) -> Result<Box<dyn Encoder>, EncodeError> {
        match self {
            Self::Features if !form.has_schema() => Err(EncodeError(format!(
                "encoder features reads the schema, and form {} does not have it; use form {}",
                form.name(),
                InputForm::QuestionSchemaPrediction.name()
            ))),
            Self::Features => Ok(Box::new(super::features::FeatureEncoder::new(form))),
            Self::Tfidf(text) => {
                let tfidf_options = super::tfidf::TfidfOptions::parse(text)?;
                Ok(Box::new(match options.like {
                    Some(like) => super::tfidf::Tfidf::of_metadata(like, form)?,
                    None => super::tfidf::Tfidf::fit(inputs, form, tfidf_options)?,
                }))
            }
            #[cfg(feature = "neural")]
            Self::Bert(folder) => Ok(Box::new(super::bert::open(folder, &neural(form, options)?)?)),
            #[cfg(feature = "neural")]
            Self::Llm(folder) => Ok(Box::new(super::llm::open(folder, &neural(form, options)?)?)),
            #[cfg(feature = "services")]
            Self::Http(url) => http(url, form, options),
            Self::File(path) => {
                Err(EncodeError(format!("{} has vectors and encodes nothing; copy them", path.display())))
            }
            #[cfg(not(all(feature = "neural", feature = "services")))]
            other => Err(EncodeError(format!("encoder {other:?} is not built in"))),
        }
    }
}

#[cfg(feature = "neural")]
fn neural(form: InputForm, options: &BuildOptions<'_>) -> Result<super::neural::NeuralOptions, EncodeError> {
    let mut neural_options = super::neural::NeuralOptions::new(form);
    if let Some(device) = &options.device {
        neural_options.device = device.parse()?;
    }
    if let Some(precision) = &options.precision {
        neural_options.precision = precision.parse()?;
    }
    neural_options.max_tokens = options.max_tokens;
    neural_options.normalise = options.normalise;
    Ok(neural_options)
}

#[cfg(feature = "services")]
fn http(url: &str, form: InputForm, options: &BuildOptions<'_>) -> Result<Box<dyn Encoder>, EncodeError> {
    use sqlgauge_llm::{CacheOptions, Client, ClientOptions, EmbeddingRequest, Secret};
    let model = options.model.as_deref().ok_or_else(|| {
        EncodeError("the service needs the name of a model; give it with --model".to_owned())
    })?;
    let (path, query) = url.split_at(url.find('?').unwrap_or(url.len()));
    let base = path.trim_end_matches('/');
    let mut client = ClientOptions::new(base.strip_suffix("/embeddings").unwrap_or(base).to_owned() + query);
    client.key = options.api_key.as_ref().map(Secret::new);
    client.cache = options
        .service_cache
        .as_ref()
        .map(|folder| CacheOptions { folder: folder.clone(), namespace: base.to_owned() });
    let client = Client::new(&client).map_err(|error| EncodeError(error.to_string()))?;
    Ok(Box::new(super::http::HttpEncoder::open(client, EmbeddingRequest::new(model), form)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_need_the_schema() {
        let build = |form| EncoderSpec::Features.build(form, &BuildOptions::default(), &[]);
        assert!(build(InputForm::QuestionSchema).is_ok());
        let error =
            build(InputForm::QuestionPrediction).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("use form question-schema-prediction"), "{error}");
    }

    #[test]
    fn names_are_read_and_wrong_ones_explained() {
        assert_eq!(parse("file:a:b.npy"), Ok(EncoderSpec::File("a:b.npy".into())));
        assert_eq!(parse("bart:x"), Err(SpecError::Unknown { name: "bart".into() }));
        assert_eq!(parse("file"), Err(SpecError::NoArgument { name: "file", needed: "PATH" }));
        assert_eq!(parse("file:"), Err(SpecError::NoArgument { name: "file", needed: "PATH" }));
        assert_eq!(parse("features:x"), Err(SpecError::Argument { name: "features" }));
        assert_eq!(parse("tfidf:max=3"), Ok(EncoderSpec::Tfidf("max=3".into())));
        #[cfg(feature = "services")]
        for (text, url) in [("http:http://h/v1", "http://h/v1"), ("https://h/v1", "https://h/v1")] {
            assert_eq!(parse(text), Ok(EncoderSpec::Http(url.into())));
        }
        #[cfg(not(feature = "neural"))]
        for (text, what) in [("bert:x", "encoder bert"), ("llm:x", "encoder llm")] {
            assert_eq!(parse(text), Err(NotBuiltIn { what, feature: "neural" }.into()));
        }
        #[cfg(not(feature = "services"))]
        assert_eq!(
            parse("https://h/v1"),
            Err(NotBuiltIn { what: "encoder http", feature: "services" }.into())
        );
    }
}
