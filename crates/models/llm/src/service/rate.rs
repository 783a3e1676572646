//! How much is sent in a minute.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::options::RateLimits;

const WINDOW: Duration = Duration::from_mins(1);

/// Admits requests so that no window of 60 seconds holds more than the limits. Whoever asks first goes first.
pub(crate) struct RateLimiter {
    limits: RateLimits,
    /// Held by the one that waits for room, so that nobody overtakes it.
    turn: tokio::sync::Mutex<()>,
    sent: Mutex<Sent>,
}

#[derive(Default)]
struct Sent {
    next: u64,
    /// Number, time and tokens of each request of the last minute.
    entries: VecDeque<(u64, Instant, u64)>,
}

/// An admitted request, by number.
#[derive(Clone, Copy)]
pub(crate) struct Ticket(u64);

impl RateLimiter {
    pub(crate) fn new(limits: RateLimits) -> Self {
        Self { limits, turn: tokio::sync::Mutex::new(()), sent: Mutex::new(Sent::default()) }
    }

    /// Waits until a request of that many tokens may be sent. One that is larger than the limit of a minute is sent
    /// when nothing else was for a minute.
    pub(crate) async fn admit(&self, tokens: u64) -> Ticket {
        if self.limits == RateLimits::default() {
            return Ticket(0);
        }
        let _turn = self.turn.lock().await;
        loop {
            match self.try_admit(tokens, Instant::now()) {
                Ok(ticket) => return ticket,
                Err(at) => sleep_until(at).await,
            }
        }
    }

    /// Replaces the estimate of an admitted request by what the server counted.
    pub(crate) fn correct(&self, ticket: Ticket, tokens: u64) {
        let mut sent = self.lock();
        if let Some(entry) = sent.entries.iter_mut().find(|entry| entry.0 == ticket.0) {
            entry.2 = tokens;
        }
    }

    /// Admits the request, or says when the oldest of the last minute is out of the way.
    fn try_admit(&self, tokens: u64, now: Instant) -> Result<Ticket, Instant> {
        let mut sent = self.lock();
        while sent.entries.front().is_some_and(|(_, at, _)| now.duration_since(*at) >= WINDOW) {
            sent.entries.pop_front();
        }
        let Some((_, oldest, _)) = sent.entries.front().copied() else { return Ok(sent.push(now, tokens)) };
        let requests = sent.entries.len() as u64 + 1;
        let sum = sent.entries.iter().fold(tokens, |sum, entry| sum.saturating_add(entry.2));
        let room = self.limits.requests_per_minute.is_none_or(|limit| requests <= u64::from(limit))
            && self.limits.tokens_per_minute.is_none_or(|limit| sum <= limit);
        if room { Ok(sent.push(now, tokens)) } else { Err(oldest + WINDOW) }
    }

    fn lock(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sent {
    fn push(&mut self, now: Instant, tokens: u64) -> Ticket {
        self.next += 1;
        self.entries.push_back((self.next, now, tokens));
        Ticket(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds after the start at which requests of those sizes are admitted, on a clock that the test moves.
    async fn admitted(limits: RateLimits, sizes: &[u64]) -> Vec<u64> {
        let limiter = RateLimiter::new(limits);
        let start = Instant::now();
        let mut seconds = Vec::new();
        for size in sizes {
            limiter.admit(*size).await;
            seconds.push(start.elapsed().as_secs());
        }
        seconds
    }

    #[tokio::test(start_paused = true)]
    async fn no_minute_holds_more_than_its_limit() {
        let none = RateLimits::default();
        let two = RateLimits { requests_per_minute: Some(2), ..none };
        let hundred = RateLimits { tokens_per_minute: Some(100), ..none };
        let both = RateLimits { requests_per_minute: Some(3), tokens_per_minute: Some(100) };
        for (limits, sizes, expected) in [
            (none, vec![1; 4], vec![0, 0, 0, 0]),
            (two, vec![1; 5], vec![0, 0, 60, 60, 120]),
            (hundred, vec![60, 40, 1, 99, 500, 1], vec![0, 0, 60, 60, 120, 180]),
            (both, vec![10, 10, 10, 10, 80], vec![0, 0, 0, 60, 60]),
        ] {
            assert_eq!(admitted(limits, &sizes).await, expected, "{limits:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_server_counted_replaces_the_estimate() {
        let limiter =
            RateLimiter::new(RateLimits { tokens_per_minute: Some(100), requests_per_minute: None });
        let start = Instant::now();
        let ticket = limiter.admit(90).await;
        limiter.correct(ticket, 20);
        limiter.admit(70).await;
        assert_eq!(start.elapsed().as_secs(), 0);
    }
}
