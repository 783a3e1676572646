//! What was used, and whether more may be.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::error::LlmError;
use super::options::{Prices, SpendingBudget};

/// What a client has used.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// HTTP requests sent, repeated ones included.
    pub requests: u64,
    /// Requests among them that repeated a failed one.
    pub retries: u64,
    pub cached: u64,
    /// Tokens sent, as servers counted them.
    pub prompt_tokens: u64,
    /// Tokens generated, as servers counted them.
    pub completion_tokens: u64,
    /// The worst case, in tokens, of attempts whose bill is unknown: timeouts, broken connections, answers without a
    /// count.
    pub unconfirmed_tokens: u64,
    /// Cost of all tokens, the unconfirmed ones included, in the currency of the prices; `None` without prices.
    pub cost: Option<f64>,
    /// Answers that could not be written to the cache, and are asked again next time.
    pub cache_write_failures: u64,
}

impl Usage {
    /// What was used since then.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            requests: self.requests - earlier.requests,
            retries: self.retries - earlier.retries,
            cached: self.cached - earlier.cached,
            prompt_tokens: self.prompt_tokens - earlier.prompt_tokens,
            completion_tokens: self.completion_tokens - earlier.completion_tokens,
            unconfirmed_tokens: self.unconfirmed_tokens - earlier.unconfirmed_tokens,
            cost: self.cost.zip(earlier.cost).map(|(now, then)| now - then),
            cache_write_failures: self.cache_write_failures - earlier.cache_write_failures,
        }
    }
}

/// Tokens of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tokens {
    pub prompt: u64,
    pub completion: u64,
}

impl Tokens {
    pub(crate) fn sum(self) -> u64 {
        self.prompt.saturating_add(self.completion)
    }

    fn plus(self, other: Self) -> Self {
        Self {
            prompt: self.prompt.saturating_add(other.prompt),
            completion: self.completion.saturating_add(other.completion),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            prompt: self.prompt.saturating_sub(other.prompt),
            completion: self.completion.saturating_sub(other.completion),
        }
    }
}

/// What an attempt turned out to use.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bill {
    /// Nothing: it was refused.
    Nothing,
    /// What the server counted.
    Counted(Tokens),
    /// Unknown, at most what was reserved.
    Unknown,
}

/// Counts what is used. A request reserves its worst case before it is sent and settles after.
pub(crate) struct Ledger {
    budget: SpendingBudget,
    prices: Option<Prices>,
    state: Mutex<State>,
    settled: Notify,
}

#[derive(Default)]
struct State {
    usage: Usage,
    counted: Tokens,
    unknown: Tokens,
    reserved: Tokens,
    in_flight: u64,
    stopped: Option<LlmError>,
}

/// The right to send one request.
pub(crate) struct Reservation<'a> {
    ledger: &'a Ledger,
    worst: Tokens,
    open: bool,
}

impl Ledger {
    pub(crate) fn new(budget: SpendingBudget, prices: Option<Prices>) -> Self {
        Self { budget, prices, state: Mutex::new(State::default()), settled: Notify::new() }
    }

    /// Whether a request needs a known worst case.
    pub(crate) fn limits_tokens(&self) -> bool {
        self.budget.tokens.is_some() || self.budget.cost.is_some()
    }

    /// Waits until the worst case fits, or until it is sure that it never will; from then on every request is refused,
    /// so that a cheaper one behind does not overtake.
    pub(crate) async fn reserve(&self, worst: Tokens, retry: bool) -> Result<Reservation<'_>, LlmError> {
        loop {
            let settled = self.settled.notified();
            tokio::pin!(settled);
            settled.as_mut().enable();
            if let Some(decision) = self.try_reserve(worst, retry) {
                return decision.map(|()| Reservation { ledger: self, worst, open: true });
            }
            settled.await;
        }
    }

    fn try_reserve(&self, worst: Tokens, retry: bool) -> Option<Result<(), LlmError>> {
        let mut state = self.lock();
        if let Some(error) = &state.stopped {
            return Some(Err(error.clone()));
        }
        // Requests count when they are sent, so those under way are in `usage` already.
        let certain = state.counted.plus(state.unknown);
        let Some(excess) = self.excess(state.usage.requests, certain.plus(state.reserved), worst) else {
            state.reserved = state.reserved.plus(worst);
            state.in_flight += 1;
            state.usage.requests += 1;
            state.usage.retries += u64::from(retry);
            return Some(Ok(()));
        };
        let never = state.in_flight == 0 || self.excess(state.usage.requests, certain, worst).is_some();
        never.then(|| {
            state.stopped = Some(excess.clone());
            Err(excess)
        })
    }

    /// The limit that a request would exceed.
    fn excess(&self, requests: u64, used: Tokens, worst: Tokens) -> Option<LlmError> {
        let after = used.plus(worst);
        if let Some(limit) = self.budget.requests.filter(|limit| requests >= *limit) {
            return Some(LlmError::Budget { unit: "requests", limit: limit as f64, used: requests as f64 });
        }
        if let Some(limit) = self.budget.tokens.filter(|limit| after.sum() > *limit) {
            return Some(LlmError::Budget { unit: "tokens", limit: limit as f64, used: used.sum() as f64 });
        }
        let limit = self.budget.cost.filter(|limit| self.cost(after).is_some_and(|cost| cost > *limit))?;
        Some(LlmError::Budget { unit: "units of cost", limit, used: self.cost(used).unwrap_or(0.0) })
    }

    fn cost(&self, tokens: Tokens) -> Option<f64> {
        let prices = self.prices?;
        let millionths = tokens.prompt as f64 * prices.prompt_per_million
            + tokens.completion as f64 * prices.completion_per_million;
        Some(millionths / 1e6)
    }

    fn settle(&self, worst: Tokens, bill: Bill) {
        let mut state = self.lock();
        state.reserved = state.reserved.minus(worst);
        state.in_flight = state.in_flight.saturating_sub(1);
        match bill {
            Bill::Nothing => {}
            Bill::Counted(tokens) => state.counted = state.counted.plus(tokens),
            Bill::Unknown => state.unknown = state.unknown.plus(worst),
        }
        drop(state);
        self.settled.notify_waiters();
    }

    pub(crate) fn count_cached(&self) {
        self.lock().usage.cached += 1;
    }

    pub(crate) fn count_cache_write_failure(&self) {
        self.lock().usage.cache_write_failures += 1;
    }

    pub(crate) fn usage(&self) -> Usage {
        let state = self.lock();
        Usage {
            prompt_tokens: state.counted.prompt,
            completion_tokens: state.counted.completion,
            unconfirmed_tokens: state.unknown.sum(),
            cost: self.cost(state.counted.plus(state.unknown)),
            ..state.usage
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation<'_> {
    pub(crate) fn settle(mut self, bill: Bill) {
        self.open = false;
        self.ledger.settle(self.worst, bill);
    }
}

impl Drop for Reservation<'_> {
    /// A request that was abandoned may have been billed.
    fn drop(&mut self) {
        if self.open {
            self.ledger.settle(self.worst, Bill::Unknown);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORST: Tokens = Tokens { prompt: 60, completion: 40 };

    #[tokio::test]
    async fn a_request_waits_for_others_to_settle_and_stops_when_it_cannot_fit() {
        let ledger = Ledger::new(SpendingBudget { tokens: Some(150), ..SpendingBudget::default() }, None);
        let first = ledger.reserve(WORST, false).await.unwrap();
        // 100 reserved, 100 more do not fit now, but may when the first turns out cheaper.
        let (second, ()) = tokio::join!(ledger.reserve(WORST, false), async {
            tokio::task::yield_now().await;
            first.settle(Bill::Counted(Tokens { prompt: 30, completion: 5 }));
        });
        second.unwrap().settle(Bill::Counted(Tokens { prompt: 30, completion: 6 }));
        let refused = ledger.reserve(WORST, false).await.err().unwrap();
        assert_eq!(refused, LlmError::Budget { unit: "tokens", limit: 150.0, used: 71.0 });
        // A smaller one does not slip through after the stop.
        assert!(ledger.reserve(Tokens { prompt: 1, completion: 0 }, false).await.is_err());
        assert_eq!(ledger.usage().requests, 2);
    }

    #[tokio::test]
    async fn an_unknown_bill_counts_with_its_worst_case() {
        let prices = Prices { prompt_per_million: 10.0, completion_per_million: 100.0 };
        let ledger =
            Ledger::new(SpendingBudget { cost: Some(0.01), ..SpendingBudget::default() }, Some(prices));
        ledger.reserve(WORST, false).await.unwrap().settle(Bill::Nothing);
        ledger.reserve(WORST, true).await.unwrap().settle(Bill::Unknown);
        drop(ledger.reserve(WORST, true).await.unwrap());
        // Worst case: (60 · 10 + 40 · 100) / 10^6 = 0.0046; two of them fit under 0.01, a third does not.
        let refused = ledger.reserve(WORST, false).await.err().unwrap();
        assert!(matches!(refused, LlmError::Budget { unit: "units of cost", .. }), "{refused}");
        let usage = ledger.usage();
        assert_eq!((usage.requests, usage.retries, usage.unconfirmed_tokens), (3, 2, 200));
        assert!((usage.cost.unwrap() - 0.0092).abs() < 1e-12);
    }
}
