//! Encoding a workload: order, batches, reuse, and going on after a failure.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqlgauge_encode::cache::Cache;
use sqlgauge_encode::{
    EncodeError, EncodeProgress, Encoder, EncoderInput, InputForm, Matrix, WorkloadError, encode_workload,
};
use sqlgauge_sql::schema::Schema;

/// Encodes a question as its length and its first byte; fails at the batch of that number.
struct Lengths {
    batches: AtomicUsize,
    fails_at: usize,
}

impl Lengths {
    fn new(fails_at: usize) -> Self {
        Self { batches: AtomicUsize::new(0), fails_at }
    }
}

fn vector(question: &str) -> [f32; 2] {
    [question.len() as f32, question.as_bytes().first().copied().unwrap_or(0).into()]
}

impl Encoder for Lengths {
    fn id(&self) -> String {
        "lengths".to_owned()
    }

    fn fingerprint(&self) -> String {
        "lengths@1".to_owned()
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn encode(&self, inputs: &[EncoderInput]) -> Result<Matrix, EncodeError> {
        if self.batches.fetch_add(1, Ordering::Relaxed) == self.fails_at {
            return Err(EncodeError("out of memory".to_owned()));
        }
        let lengths: Vec<usize> = inputs.iter().map(|input| input.question.len()).collect();
        assert!(lengths.is_sorted_by(|a, b| a >= b), "longest first: {lengths:?}");
        let values = inputs.iter().flat_map(|input| vector(&input.question)).collect();
        Ok(Matrix::new(2, values).unwrap())
    }
}

fn inputs(count: usize) -> Vec<EncoderInput> {
    let schema = Arc::new(Schema::default());
    let input = |i: usize| EncoderInput {
        id: i.to_string(),
        db_id: "d".into(),
        // Every tenth question was asked before.
        question: "x".repeat(1 + if i % 10 == 9 { 0 } else { i * 7 % 101 + i }),
        evidence: None,
        schema: Arc::clone(&schema),
        prediction: Some(i.to_string()),
    };
    (0..count).map(input).collect()
}

type Run = (Result<(), WorkloadError<Infallible>>, Vec<(usize, Vec<f32>)>, Vec<EncodeProgress>);

fn run(encoder: &Lengths, inputs: &[EncoderInput], batch: usize, cache: Option<&mut Cache>) -> Run {
    let (mut vectors, mut seen) = (Vec::new(), Vec::new());
    let result = encode_workload(
        encoder,
        InputForm::QuestionSchema,
        inputs,
        batch,
        cache,
        &mut |progress| seen.push(progress),
        &mut |place, vector| {
            vectors.push((place, vector.to_vec()));
            Ok(())
        },
    );
    (result, vectors, seen)
}

fn check(vectors: &[(usize, Vec<f32>)], inputs: &[EncoderInput]) {
    assert_eq!(vectors.len(), inputs.len());
    for (place, (input, (at, components))) in inputs.iter().zip(vectors).enumerate() {
        assert_eq!((*at, components.as_slice()), (place, vector(&input.question).as_slice()));
    }
}

#[test]
fn vectors_come_in_the_order_of_the_items_whatever_the_batch() {
    let inputs = inputs(100);
    for batch in [1, 7, 1000] {
        let (result, vectors, seen) = run(&Lengths::new(usize::MAX), &inputs, batch, None);
        result.unwrap();
        check(&vectors, &inputs);
        // Ten items are the question "x" of item 9, and item 0 is that too.
        let last = seen.last().unwrap();
        assert_eq!((last.done, last.total, last.reused), (100, 100, 10));
        assert!(seen.is_sorted_by_key(|progress| progress.done));
    }
    assert!(run(&Lengths::new(0), &[], 5, None).0.is_ok());
}

#[test]
fn more_items_than_a_window_holds_are_all_encoded() {
    let inputs = inputs(20_000);
    let (result, vectors, _) = run(&Lengths::new(usize::MAX), &inputs, 512, None);
    result.unwrap();
    check(&vectors, &inputs);
}

#[test]
fn a_run_that_failed_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = inputs(100);
    let mut cache = Cache::open(folder.path(), "lengths@1", 2).unwrap();
    let broken = Lengths::new(4);
    let (result, vectors, _) = run(&broken, &inputs, 10, Some(&mut cache));
    assert!(matches!(result, Err(WorkloadError::Encode(_))) && vectors.is_empty());
    drop(cache);
    let mut cache = Cache::open(folder.path(), "lengths@1", 2).unwrap();
    assert_eq!(cache.len(), 40);
    let whole = Lengths::new(usize::MAX);
    let (result, vectors, seen) = run(&whole, &inputs, 10, Some(&mut cache));
    result.unwrap();
    check(&vectors, &inputs);
    assert_eq!(whole.batches.load(Ordering::Relaxed), 5);
    assert!(seen[0].reused >= 40);
    let (_, vectors, seen) = run(&Lengths::new(0), &inputs, 10, Some(&mut cache));
    check(&vectors, &inputs);
    assert_eq!(seen.last().unwrap().reused, 100);
}
