//! Embeddings against the local server.

use crate::server::{Reply, SeenRequest, Server};
use serde_json::json;
use sqlgauge_llm::{CacheOptions, Client, ClientOptions, EmbeddingRequest, LlmError, Retry, SpendingBudget};

fn options(server: &Server) -> ClientOptions {
    let retry = Retry { attempts: 3, first_pause_ms: 1, longest_pause_ms: 4, longest_retry_after_s: 5 };
    ClientOptions { retry, ..ClientOptions::new(server.url()) }
}

fn vector(text: &str) -> Vec<f32> {
    vec![text.len() as f32, text.bytes().map(f32::from).sum::<f32>() / 7.0, 0.1]
}

fn embed(seen: &SeenRequest) -> Reply {
    Reply::vectors(&seen.inputs().iter().map(|text| vector(text)).collect::<Vec<_>>())
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("text {number}")).collect()
}

fn request(batch: usize) -> EmbeddingRequest {
    EmbeddingRequest { batch, ..EmbeddingRequest::new("m") }
}

#[test]
fn vectors_belong_to_their_texts_whatever_the_batches() {
    for (batch, requests) in [(1, 10), (4, 3), (64, 1), (0, 10)] {
        let server = Server::start(embed);
        let client = Client::new(&options(&server)).unwrap();
        let result = client.embed(&request(batch), &texts(10), None);
        for (text, result) in texts(10).iter().zip(&result.results) {
            assert_eq!(result, &Ok(vector(text)), "batches of {batch}");
        }
        assert_eq!(server.count(), requests, "batches of {batch}");
        assert_eq!(server.seen()[0].line, "POST /v1/embeddings HTTP/1.1");
    }
}

#[test]
fn a_kept_vector_is_the_same_to_the_last_bit_and_only_new_texts_are_sent() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(embed);
    let cache = Some(CacheOptions { folder: folder.path().to_owned(), namespace: String::new() });
    let client = Client::new(&ClientOptions { cache, ..options(&server) }).unwrap();
    let first = client.embed(&request(4), &texts(6), None);
    let second = client.embed(&request(3), &texts(9), None);
    assert_eq!(first.results[..], second.results[..6]);
    let sent: Vec<String> = server.seen().iter().flat_map(SeenRequest::inputs).collect();
    assert_eq!((sent.len(), second.usage.cached, second.usage.requests), (9, 6, 1));
    let other = EmbeddingRequest::new("n");
    assert_eq!(client.embed(&other, &texts(1), None).usage.cached, 0, "another request is another key");
    assert_eq!(server.seen().last().unwrap().body, json!({"model": "n", "input": ["text 0"]}));
}

#[test]
fn one_text_that_the_server_refuses_does_not_spoil_the_others() {
    let server = Server::start(|seen| {
        if seen.inputs().iter().any(|text| text == "text 5") {
            Reply::error(400, "too long")
        } else {
            embed(seen)
        }
    });
    let client = Client::new(&options(&server)).unwrap();
    let result = client.embed(&request(8), &texts(8), None);
    for (number, result) in result.results.iter().enumerate() {
        match number {
            5 => assert!(matches!(result, Err(LlmError::Status { status: 400, .. }))),
            _ => assert_eq!(result, &Ok(vector(&format!("text {number}")))),
        }
    }
}

#[test]
fn vectors_that_cannot_be_right_are_asked_again() {
    let server = Server::start(|seen| match seen.number {
        0 => Reply::vectors(&[vec![1.0]]),
        1 => Reply::json(200, &json!({"data": [{"embedding": ["x"]}, {"embedding": [1]}]})),
        _ => embed(seen),
    });
    let client = Client::new(&options(&server)).unwrap();
    let result = client.embed(&request(2), &texts(2), None);
    assert_eq!((result.answered(), server.count()), (2, 3));
}

#[test]
fn a_budget_stops_embeddings_too() {
    let server = Server::start(embed);
    let budget = SpendingBudget { tokens: Some(60), ..SpendingBudget::default() };
    let client = Client::new(&ClientOptions { budget, concurrency: 1, ..options(&server) }).unwrap();
    // A request of two texts has 41 bytes and is billed 3 tokens: seven fit, then 21 + 41 exceed 60.
    let result = client.embed(&request(2), &texts(10), None);
    assert_eq!((result.answered(), result.unasked()), (10, 0));
    let result = client.embed(&request(2), &texts(20), None);
    assert_eq!((result.answered(), result.unasked()), (4, 16));
}
