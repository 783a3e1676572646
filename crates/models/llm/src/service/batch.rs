//! Many requests at once.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::client::Inner;
use super::error::LlmError;
use super::ledger::Usage;

/// The results of a batch, one for each request in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch<T> {
    /// What came of each request.
    pub results: Vec<Result<T, LlmError>>,
    /// What the client used while the batch ran.
    pub usage: Usage,
}

impl<T> Batch<T> {
    pub fn answered(&self) -> usize {
        self.results.iter().filter(|result| result.is_ok()).count()
    }

    /// Requests that were not asked, because the batch was stopped.
    pub fn unasked(&self) -> usize {
        self.results.iter().filter(|result| result.as_ref().is_err_and(LlmError::is_unasked)).count()
    }

    /// What stopped the batch before its end, if anything did.
    pub fn stopped_by(&self) -> Option<&LlmError> {
        self.results.iter().find_map(|result| match result {
            Err(LlmError::Stopped { because }) => Some(because.as_ref()),
            Err(error @ (LlmError::Budget { .. } | LlmError::Cancelled)) => Some(error),
            _ => None,
        })
    }
}

/// How far a batch is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BatchProgress {
    /// Requests of the batch (texts, for embeddings).
    pub total: usize,
    /// Requests with a result, good or bad.
    pub done: usize,
    /// Requests among them without an answer.
    pub failed: usize,
    /// What the client used since the batch began.
    pub usage: Usage,
}

/// Says to the workers of a batch that going on makes no sense.
pub(crate) struct Halt {
    because: Mutex<Option<LlmError>>,
    failures_in_a_row: AtomicU32,
    limit: u32,
}

impl Halt {
    pub(crate) fn new(limit: u32) -> Self {
        Self { because: Mutex::new(None), failures_in_a_row: AtomicU32::new(0), limit }
    }

    /// The error of a request that must not be sent any more.
    pub(crate) fn check(&self) -> Result<(), LlmError> {
        let because = self.because.lock().unwrap_or_else(PoisonError::into_inner).clone();
        because.map_or(Ok(()), |because| Err(LlmError::Stopped { because: Box::new(because) }))
    }

    /// Takes note of what came of a request that was sent.
    pub(crate) fn note<T>(&self, result: &Result<T, LlmError>) {
        let Err(error) = result else {
            self.failures_in_a_row.store(0, Ordering::Relaxed);
            return;
        };
        let gave_up = matches!(error, LlmError::GaveUp { .. });
        let failures = if gave_up { self.failures_in_a_row.fetch_add(1, Ordering::Relaxed) + 1 } else { 0 };
        if error.concerns_all_requests() && !error.is_unasked() || self.limit > 0 && failures >= self.limit {
            let mut because = self.because.lock().unwrap_or_else(PoisonError::into_inner);
            because.get_or_insert_with(|| error.clone());
        }
    }
}

/// Positions of requests, and what came of each.
pub(crate) type Outcomes<T> = Vec<(usize, Result<T, LlmError>)>;

/// Does the jobs on as many workers as requests may run at once, in their order; `take` gets the outcomes as they come.
pub(crate) async fn drive<J, T, F, W>(
    inner: &Arc<Inner>,
    jobs: Vec<J>,
    work: W,
    mut take: impl FnMut(Outcomes<T>) + Send,
) where
    J: Send + 'static,
    T: Send + 'static,
    F: Future<Output = Outcomes<T>> + Send,
    W: Fn(Arc<Inner>, Arc<Halt>, J) -> F + Send + Sync + 'static,
{
    let workers = inner.concurrency().min(jobs.len());
    let halt = Arc::new(Halt::new(inner.stop_after_failures()));
    let queue = Arc::new(Mutex::new(VecDeque::from(jobs)));
    let work = Arc::new(work);
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    for _ in 0..workers {
        let (inner, halt, queue) = (Arc::clone(inner), Arc::clone(&halt), Arc::clone(&queue));
        let (work, sender) = (Arc::clone(&work), sender.clone());
        tasks.spawn(async move {
            loop {
                let job = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                let Some(job) = job else { break };
                let outcomes = work(Arc::clone(&inner), Arc::clone(&halt), job).await;
                if sender.send(outcomes).is_err() {
                    break;
                }
            }
        });
    }
    drop(sender);
    while let Some(outcomes) = receiver.recv().await {
        take(outcomes);
    }
}
