//! The HTTP encoder against a local server.

use std::sync::Arc;

use crate::server::{Reply, SeenRequest, Server};
use sqlgauge_encode::encoders::http::HttpEncoder;
use sqlgauge_encode::{Encoder, EncoderInput, InputForm, Vectors};
use sqlgauge_llm::{CacheOptions, Client, ClientOptions, EmbeddingRequest, Retry};
use sqlgauge_sql::schema::Schema;

fn options(server: &Server) -> ClientOptions {
    let retry = Retry { attempts: 2, first_pause_ms: 1, longest_pause_ms: 4, longest_retry_after_s: 5 };
    ClientOptions { retry, ..ClientOptions::new(server.url()) }
}

fn inputs(count: usize) -> Vec<EncoderInput> {
    let schema =
        Arc::new(Schema::from_ddl("CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT);").unwrap());
    let input = |number: usize| EncoderInput {
        id: format!("item-{number}"),
        db_id: "concert".to_owned(),
        question: format!("Who is number {number}, é?"),
        evidence: None,
        schema: Arc::clone(&schema),
        prediction: Some(format!("SELECT name FROM singer WHERE id = {number}")),
    };
    (0..count).map(input).collect()
}

fn vector(text: &str) -> Vec<f32> {
    vec![text.len() as f32, text.bytes().map(f32::from).sum::<f32>() / 3.0]
}

fn embed(seen: &SeenRequest) -> Reply {
    Reply::vectors(&seen.inputs().iter().map(|text| vector(text)).collect::<Vec<_>>())
}

/// An encoder that asks for four texts at a time.
fn open(options: &ClientOptions) -> HttpEncoder {
    let request = EmbeddingRequest { batch: 4, ..EmbeddingRequest::new("m") };
    HttpEncoder::open(Client::new(options).unwrap(), request, InputForm::QuestionSchemaPrediction).unwrap()
}

#[test]
fn each_item_gets_the_vector_of_its_text() {
    let server = Server::start(embed);
    let encoder = open(&options(&server));
    assert_eq!((encoder.id().as_str(), encoder.dimensions()), ("http:m", 2));
    let matrix = encoder.encode(&inputs(10)).unwrap();
    let texts: Vec<String> = inputs(10)
        .iter()
        .map(|input| sqlgauge_encode::render::render(input, InputForm::QuestionSchemaPrediction))
        .collect();
    for (row, text) in matrix.rows().zip(&texts) {
        assert_eq!(row, vector(text));
    }
    assert_eq!(
        encoder.encode(&inputs(3)).unwrap().values(),
        &matrix.values()[..6],
        "batches make no difference"
    );
    assert_eq!(encoder.encode(&[]).unwrap().len(), 0);
}

#[test]
fn a_missing_vector_is_an_error_and_the_others_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let bad = |seen: &SeenRequest| seen.inputs().iter().any(|text| text.contains("number 5,"));
    let server =
        Server::start(move |seen| if bad(seen) { Reply::error(400, "too long") } else { embed(seen) });
    let cache = Some(CacheOptions { folder: folder.path().to_owned(), namespace: String::new() });
    let encoder = open(&ClientOptions { cache, ..options(&server) });
    let error = encoder.encode(&inputs(8)).unwrap_err().to_string();
    assert!(
        error.contains("item item-5 has no vector (7 of 8 have one)") && error.contains("too long"),
        "{error}"
    );
    let before = server.count();
    assert!(encoder.encode(&inputs(5)).is_ok());
    assert_eq!(server.count(), before);
}

#[test]
fn a_service_that_changes_its_model_is_noticed() {
    let server = Server::start(|seen| {
        let length = if seen.number == 0 { 2 } else { 3 };
        Reply::vectors(&vec![vec![1.0; length]; seen.inputs().len()])
    });
    let encoder = open(&options(&server));
    let error = encoder.encode(&inputs(2)).unwrap_err().to_string();
    assert!(error.contains("has 3 components, others have 2"), "{error}");
    let dead = Server::start(|_| Reply::error(401, "no"));
    let (client, form) = (Client::new(&options(&dead)).unwrap(), InputForm::QuestionSchemaPrediction);
    assert!(HttpEncoder::open(client, EmbeddingRequest::new("m"), form).is_err());
}

#[test]
fn the_fingerprint_changes_with_what_changes_vectors() {
    let server = Server::start(embed);
    let fingerprint = |model: &str, form| {
        let client = Client::new(&options(&server)).unwrap();
        HttpEncoder::open(client, EmbeddingRequest::new(model), form).unwrap().fingerprint()
    };
    let base = open(&options(&server)).fingerprint();
    let same = fingerprint("m", InputForm::QuestionSchemaPrediction);
    assert_eq!(base, same, "the size of batches does not");
    assert_ne!(base, fingerprint("n", InputForm::QuestionSchemaPrediction));
    assert_ne!(base, fingerprint("m", InputForm::QuestionSchema));
}
