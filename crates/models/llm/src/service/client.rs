//! The client.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::Semaphore;

use super::batch::{Batch, BatchProgress, Halt, Outcomes, drive};
use super::cache::{Cache, Key};
use super::chat::{CHAT, ChatAnswer, ChatRequest, TokenUsage};
use super::embeddings::{EMBEDDINGS, EmbeddingRequest, vector, vectors};
use super::error::LlmError;
use super::lean::Shape;
use super::ledger::{Bill, Ledger, Tokens, Usage};
use super::options::{ClientOptions, Retry};
use super::rate::RateLimiter;
use super::transport::{Failure, Transport};
use crate::digest::digest;

/// How long a wish to stop may go unnoticed while a request waits to be sent again.
const POLL: Duration = Duration::from_millis(50);

/// Bytes of English text or SQL in a token, for the estimate of the rate limit only.
const BYTES_PER_TOKEN: u64 = 4;

/// Is told how far a batch is, on the thread that started it.
type OnProgress<'a> = &'a mut (dyn FnMut(&BatchProgress) + Send);

/// A client of one server. Its methods block; several threads may use one client, and share its limits.
pub struct Client {
    inner: Arc<Inner>,
    /// Only taken when dropped.
    runtime: Option<Runtime>,
}

/// What the requests share.
pub(crate) struct Inner {
    transport: Transport,
    cache: Option<Cache>,
    ledger: Ledger,
    rate: RateLimiter,
    slots: Semaphore,
    retry: Retry,
    concurrency: usize,
    stop_after_failures: u32,
    seed: u64,
    cancel: OnceLock<Arc<AtomicBool>>,
    /// Who wants to know that the server cannot be reached; told once.
    unreachable: Mutex<Option<OnUnreachable>>,
}

/// Shows a person a sentence.
type OnUnreachable = Box<dyn FnOnce(&str) + Send>;

/// An HTTP request before it is sent.
struct Call {
    path: &'static str,
    body: String,
    /// Most tokens of the answer, where that is known.
    completion: Option<u64>,
    shape: Shape,
}

impl Client {
    /// Checks the options, opens the cache, and sends nothing yet.
    ///
    /// # Errors
    /// When an address, the key or a limit makes no sense, or the cache folder cannot be written.
    pub fn new(options: &ClientOptions) -> Result<Self, LlmError> {
        check(options)?;
        let cache =
            options.cache.as_ref().map(|cache| Cache::open(cache, options.key.clone())).transpose()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime
            .map_err(|error| LlmError::Options(format!("cannot start the client's threads: {error}")))?;
        let inner = Inner {
            transport: Transport::new(options)?,
            cache,
            ledger: Ledger::new(options.budget, options.prices),
            rate: RateLimiter::new(options.rate),
            slots: Semaphore::new(options.concurrency),
            retry: options.retry.clone(),
            concurrency: options.concurrency,
            stop_after_failures: options.stop_after_failures,
            seed: options.seed,
            cancel: OnceLock::new(),
            unreachable: Mutex::default(),
        };
        Ok(Self { inner: Arc::new(inner), runtime: Some(runtime) })
    }

    /// Sends nothing more as soon as the flag is set: requests that are under way are answered and kept, the others end as
    /// [`LlmError::Cancelled`]. The first flag counts.
    pub fn stop_on(&self, flag: Arc<AtomicBool>) {
        self.inner.cancel.get_or_init(|| flag);
    }

    /// Hands a sentence to `say` when the first connection fails: what is tried, and when it stops. Later ones are not told.
    pub fn on_unreachable(&self, say: impl FnOnce(&str) + Send + 'static) {
        *self.inner.unreachable.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(say));
    }

    /// The server's address without path and query, for reports.
    pub fn server(&self) -> String {
        self.inner.transport.server()
    }

    /// What was used since the client was made.
    pub fn usage(&self) -> Usage {
        self.inner.ledger.usage()
    }

    /// Asks one question.
    ///
    /// # Errors
    /// When there is no answer; see [`LlmError`].
    pub fn chat(&self, request: &ChatRequest) -> Result<ChatAnswer, LlmError> {
        let batch = self.chat_batch(std::slice::from_ref(request), None);
        batch.results.into_iter().next().unwrap_or(Err(LlmError::Abandoned))
    }

    /// Asks many questions, equal ones once. Every question has its own result; what was answered is kept whatever
    /// happens to the others.
    ///
    /// Several samples of one question need requests that differ, such as by a `seed` in their further parameters.
    pub fn chat_batch(
        &self,
        requests: &[ChatRequest],
        progress: Option<OnProgress<'_>>,
    ) -> Batch<ChatAnswer> {
        let bodies: Vec<String> = requests.iter().map(|request| request.body().to_string()).collect();
        let groups = equal(&bodies);
        let jobs: Vec<(usize, ChatRequest)> =
            groups.firsts.iter().map(|first| (*first, requests[*first].clone())).collect();
        let work = |inner: Arc<Inner>, halt: Arc<Halt>, (position, request): (usize, ChatRequest)| async move {
            vec![(position, inner.chat(&halt, &request).await)]
        };
        let repeat = |answer: &ChatAnswer| ChatAnswer { cached: true, ..answer.clone() };
        self.batch(&groups, jobs, work, repeat, progress)
    }

    /// Embeds texts, equal ones once. Texts that are in the cache are not sent; the vector of a text is kept apart
    /// from what else was in its request. A request that the server finds too large or wrong is cut in half, so that
    /// one bad text does not spoil the others.
    pub fn embed(
        &self,
        request: &EmbeddingRequest,
        texts: &[String],
        progress: Option<OnProgress<'_>>,
    ) -> Batch<Vec<f32>> {
        let groups = equal(texts);
        let request = Arc::new(request.clone());
        let jobs: Vec<Vec<(usize, String)>> = groups
            .firsts
            .chunks(request.batch.max(1))
            .map(|chunk| chunk.iter().map(|first| (*first, texts[*first].clone())).collect())
            .collect();
        let work = move |inner: Arc<Inner>, halt: Arc<Halt>, texts: Vec<(usize, String)>| {
            let request = Arc::clone(&request);
            async move { inner.embed(&halt, &request, texts).await }
        };
        self.batch(&groups, jobs, work, Vec::clone, progress)
    }

    fn batch<J, T, F, W>(
        &self,
        groups: &Groups,
        jobs: Vec<J>,
        work: W,
        repeat: impl Fn(&T) -> T,
        mut progress: Option<OnProgress<'_>>,
    ) -> Batch<T>
    where
        J: Send + 'static,
        T: Send + 'static,
        F: Future<Output = Outcomes<T>> + Send,
        W: Fn(Arc<Inner>, Arc<Halt>, J) -> F + Send + Sync + 'static,
    {
        let before = self.usage();
        let total = groups.first_of.len();
        let mut results: Vec<Option<Result<T, LlmError>>> =
            std::iter::repeat_with(|| None).take(total).collect();
        let (mut done, mut failed) = (0, 0);
        self.block_on(drive(&self.inner, jobs, work, |outcomes| {
            for (position, outcome) in outcomes {
                done += groups.sizes[&position];
                failed += if outcome.is_err() { groups.sizes[&position] } else { 0 };
                results[position] = Some(outcome);
            }
            if let Some(progress) = &mut progress {
                progress(&BatchProgress { total, done, failed, usage: self.usage().since(&before) });
            }
        }));
        for position in 0..total {
            let first = groups.first_of[position];
            if first != position {
                results[position] = results[first].as_ref().map(|result| match result {
                    Ok(answer) => Ok(repeat(answer)),
                    Err(error) => Err(error.clone()),
                });
            }
        }
        let results = results.into_iter().map(|result| result.unwrap_or(Err(LlmError::Abandoned))).collect();
        Batch { results, usage: self.usage().since(&before) }
    }

    /// Waits for the future. A thread that runs an asynchronous program must not wait itself: another does it.
    fn block_on<F: Future<Output = ()> + Send>(&self, future: F) {
        let Some(runtime) = &self.runtime else { return };
        if Handle::try_current().is_err() {
            return runtime.block_on(future);
        }
        let joined = std::thread::scope(|scope| scope.spawn(|| runtime.block_on(future)).join());
        if let Err(panic) = joined {
            std::panic::resume_unwind(panic);
        }
    }
}

impl Drop for Client {
    /// Does not wait, so that a client may also be dropped inside an asynchronous program.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("server", &self.server()).field("usage", &self.usage()).finish()
    }
}

impl Inner {
    pub(crate) fn concurrency(&self) -> usize {
        self.concurrency
    }

    pub(crate) fn stop_after_failures(&self) -> u32 {
        self.stop_after_failures
    }

    /// One question, from the cache or from the server.
    async fn chat(&self, halt: &Halt, request: &ChatRequest) -> Result<ChatAnswer, LlmError> {
        let body = request.body();
        let key = self.cache.as_ref().map(|cache| cache.key(CHAT, &body));
        if let Some(answer) =
            self.cached(key.as_ref()).and_then(|answer| ChatAnswer::parse(&answer, true).ok())
        {
            self.ledger.count_cached();
            return Ok(answer);
        }
        let call = Call {
            path: CHAT,
            body: body.to_string(),
            completion: request.max_tokens.map(u64::from),
            shape: Shape::Chat,
        };
        let (value, answer) = self.exchange(halt, &call, |value| ChatAnswer::parse(value, false)).await?;
        self.keep(key.as_ref(), &value);
        Ok(answer)
    }

    /// Texts of one request, as far as they are not in the cache.
    async fn embed(
        &self,
        halt: &Halt,
        request: &EmbeddingRequest,
        texts: Vec<(usize, String)>,
    ) -> Outcomes<Vec<f32>> {
        let mut outcomes = Vec::with_capacity(texts.len());
        let mut missing = Vec::new();
        for (position, text) in texts {
            let key = self.cache.as_ref().map(|cache| cache.key(EMBEDDINGS, &request.body(&[text.as_str()])));
            match self.cached(key.as_ref()).and_then(|answer| vector(&answer).ok()) {
                Some(vector) => {
                    self.ledger.count_cached();
                    outcomes.push((position, Ok(vector)));
                }
                None => missing.push((position, key, text)),
            }
        }
        let mut parts = vec![missing];
        while let Some(mut part) = parts.pop().filter(|part| !part.is_empty()) {
            let texts: Vec<&str> = part.iter().map(|(_, _, text)| text.as_str()).collect();
            let body = request.body(&texts).to_string();
            let call = Call { path: EMBEDDINGS, body, completion: Some(0), shape: Shape::Embeddings };
            let result = self.exchange(halt, &call, |value| vectors(value, texts.len())).await;
            match result {
                Ok((_, vectors)) => {
                    for ((position, key, _), vector) in part.into_iter().zip(vectors) {
                        self.keep(key.as_ref(), &Value::from(vector.clone()));
                        outcomes.push((position, Ok(vector)));
                    }
                }
                Err(LlmError::Status { status: 400 | 413 | 422, .. }) if part.len() > 1 => {
                    let second = part.split_off(part.len() / 2);
                    parts.extend([second, part]);
                }
                Err(error) => outcomes.extend(part.into_iter().map(|(at, _, _)| (at, Err(error.clone())))),
            }
        }
        outcomes
    }

    /// Sends the request until there is an answer that `read` understands, or trying again makes no sense.
    async fn exchange<T>(
        &self,
        halt: &Halt,
        call: &Call,
        read: impl Fn(&Value) -> Result<T, String>,
    ) -> Result<(Value, T), LlmError> {
        let result = self.attempts(halt, call, read).await;
        halt.note(&result);
        result
    }

    async fn attempts<T>(
        &self,
        halt: &Halt,
        call: &Call,
        read: impl Fn(&Value) -> Result<T, String>,
    ) -> Result<(Value, T), LlmError> {
        let _slot = self.slots.acquire().await.map_err(|_| LlmError::Abandoned)?;
        let request = digest(call.body.as_bytes());
        let mut attempt = 1;
        loop {
            halt.check()?;
            self.check_cancel()?;
            let failure = match self.attempt(call, attempt > 1, &read).await? {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            if !failure.again {
                return Err(failure.error);
            }
            if attempt >= self.retry.attempts {
                return Err(LlmError::GaveUp { attempts: attempt, last: Box::new(failure.error) });
            }
            self.check_wait(failure.wait)?;
            self.say_unreachable(&failure.error);
            let pause = self.retry.pause(self.seed, &request, attempt);
            self.pause(pause.max(failure.wait.unwrap_or_default())).await;
            attempt += 1;
        }
    }

    /// A pause may be long, and whoever waits should know for what.
    fn say_unreachable(&self, error: &LlmError) {
        if !matches!(error, LlmError::Connect { .. }) {
            return;
        }
        let say = self.unreachable.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(say) = say {
            let (more, longest) = (self.retry.attempts - 1, self.retry.longest().as_secs_f64().ceil());
            say(&format!("{error}; trying {more} more times, for {longest} s at most"));
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    fn check_cancel(&self) -> Result<(), LlmError> {
        if self.is_cancelled() { Err(LlmError::Cancelled) } else { Ok(()) }
    }

    /// Waits so long, or until the caller asks to stop.
    async fn pause(&self, pause: Duration) {
        let end = tokio::time::Instant::now() + pause;
        while !self.is_cancelled() {
            let left = end.saturating_duration_since(tokio::time::Instant::now());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(POLL)).await;
        }
    }

    /// One attempt: budget, rate limit, request, answer. The outer error is the budget's.
    async fn attempt<T>(
        &self,
        call: &Call,
        retry: bool,
        read: impl Fn(&Value) -> Result<T, String>,
    ) -> Result<Result<(Value, T), Failure>, LlmError> {
        let bytes = call.body.len() as u64;
        let worst = Tokens { prompt: bytes, completion: self.completion(call)? };
        let reserved = self.ledger.reserve(worst, retry).await?;
        let ticket = self.rate.admit(bytes / BYTES_PER_TOKEN + worst.completion).await;
        let result =
            self.transport.post(call.path, call.body.clone().into_bytes(), call.shape).await.and_then(
                |value| {
                    let bill =
                        TokenUsage::of(&value).map_or(Bill::Unknown, |usage| Bill::Counted(usage.tokens()));
                    match read(&value) {
                        Ok(answer) => Ok((value, answer, bill)),
                        Err(reason) => Err(self.transport.malformed(call.path, &reason, bill)),
                    }
                },
            );
        let bill = match &result {
            Ok((_, _, bill)) => *bill,
            Err(failure) => failure.bill,
        };
        if let Bill::Counted(tokens) = bill {
            self.rate.correct(ticket, tokens.sum());
        }
        reserved.settle(bill);
        Ok(result.map(|(value, answer, _)| (value, answer)))
    }

    /// The most tokens of the answer, which a budget of tokens must know.
    fn completion(&self, call: &Call) -> Result<u64, LlmError> {
        match call.completion {
            Some(tokens) => Ok(tokens),
            None if !self.ledger.limits_tokens() => Ok(0),
            None => Err(LlmError::Options(
                "a budget of tokens or cost needs a limit of the answer's tokens (max_tokens)".to_owned(),
            )),
        }
    }

    fn check_wait(&self, wait: Option<Duration>) -> Result<(), LlmError> {
        let limit_s = self.retry.longest_retry_after_s;
        match wait {
            Some(wait) if wait > Duration::from_secs(limit_s) => {
                Err(LlmError::Wait { url: self.transport.server(), wait_s: wait.as_secs(), limit_s })
            }
            _ => Ok(()),
        }
    }

    fn cached(&self, key: Option<&Key>) -> Option<Value> {
        self.cache.as_ref()?.read(key?)
    }

    /// An answer that cannot be written is still an answer; the failure is counted.
    fn keep(&self, key: Option<&Key>, answer: &Value) {
        if let Some((cache, key)) = self.cache.as_ref().zip(key)
            && cache.write(key, answer).is_err()
        {
            self.ledger.count_cache_write_failure();
        }
    }
}

/// Which requests are equal.
struct Groups {
    /// For each request the first that is equal to it.
    first_of: Vec<usize>,
    /// The firsts, in order.
    firsts: Vec<usize>,
    /// How many are equal to each first.
    sizes: HashMap<usize, usize>,
}

fn equal(texts: &[String]) -> Groups {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let first_of: Vec<usize> =
        texts.iter().enumerate().map(|(position, text)| *seen.entry(text).or_insert(position)).collect();
    let mut sizes = HashMap::new();
    first_of.iter().for_each(|first| *sizes.entry(*first).or_insert(0) += 1);
    let firsts = (0..texts.len()).filter(|position| first_of[*position] == *position).collect();
    Groups { first_of, firsts, sizes }
}

fn check(options: &ClientOptions) -> Result<(), LlmError> {
    let prices = options.prices.map(|prices| [prices.prompt_per_million, prices.completion_per_million]);
    let problem = if options.concurrency == 0 {
        "the concurrency must be at least 1"
    } else if options.concurrency > Semaphore::MAX_PERMITS {
        "the concurrency is too large"
    } else if options.retry.attempts == 0 {
        "a request needs at least 1 attempt"
    } else if options.rate.requests_per_minute == Some(0) || options.rate.tokens_per_minute == Some(0) {
        "a rate limit of 0 would wait for ever; leave it out or give at least 1"
    } else if options.budget.cost.is_some() && prices.is_none() {
        "a budget of cost needs the prices of tokens"
    } else if options.budget.cost.is_some_and(|cost| !cost.is_finite() || cost < 0.0) {
        "the budget of cost must be a number from 0"
    } else if prices.is_some_and(|prices| prices.iter().any(|price| !price.is_finite() || *price < 0.0)) {
        "prices must be numbers from 0"
    } else {
        return Ok(());
    };
    Err(LlmError::Options(problem.to_owned()))
}
