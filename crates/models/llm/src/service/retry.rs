//! How long to wait before the next attempt.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{HeaderMap, RETRY_AFTER};
use sqlgauge_base::calendar::MONTHS;

use super::options::Retry;
use crate::digest::digest;

impl Retry {
    /// The pause after that attempt (counted from 1): doubled each time, between half and one and a half of it. The
    /// jitter follows from seed, request and attempt, so that it does not depend on what runs beside it.
    pub(crate) fn pause(&self, seed: u64, request: &str, attempt: u32) -> Duration {
        let pause_ms = self.doubled_ms(attempt);
        let hash = digest(format!("{seed}:{attempt}:{request}").as_bytes());
        let draw = u32::from_str_radix(&hash[..8], 16).unwrap_or(0);
        let factor = 0.5 + f64::from(draw) / f64::from(u32::MAX);
        Duration::from_secs_f64(pause_ms as f64 / 1000.0 * factor)
    }

    /// The most that all pauses of our own choice take together.
    pub(crate) fn longest(&self) -> Duration {
        // Once a pause is the longest, so are all that follow.
        let growing = 33.min(self.attempts.saturating_sub(1));
        let following = u64::from(self.attempts.saturating_sub(1) - growing);
        let sum = (1..=growing).map(|attempt| self.doubled_ms(attempt)).fold(0_u64, u64::saturating_add);
        let all = sum.saturating_add(following.saturating_mul(self.doubled_ms(33)));
        Duration::from_millis(all.saturating_add(all / 2))
    }

    fn doubled_ms(&self, attempt: u32) -> u64 {
        let doubled = self.first_pause_ms.saturating_mul(1_u64 << attempt.saturating_sub(1).min(32));
        doubled.min(self.longest_pause_ms)
    }
}

/// The pause that a server asks for: `retry-after-ms`, or `Retry-After` in seconds or as a date (RFC 9110, 10.2.3).
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|text| text.parse().ok()) {
        return Some(Duration::from_millis(ms));
    }
    let text = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds.max(0.0)).ok();
    }
    let now = now.duration_since(UNIX_EPOCH).ok()?;
    Some(Duration::from_secs(http_date(text)?).saturating_sub(now))
}

/// Seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<u64> {
    let parts: Vec<&str> = text.split_ascii_whitespace().collect();
    let &[_, day, month, year, time, "GMT"] = parts.as_slice() else { return None };
    let month = MONTHS.iter().position(|name| &name[..3] == month)? as u64;
    let (day, year): (u64, u64) = (day.parse().ok()?, year.parse().ok()?);
    let clock = time.split(':').map(|part| part.parse().ok()).collect::<Option<Vec<u64>>>()?;
    let &[hour, minute, second] = clock.as_slice() else { return None };
    if !(1..=31).contains(&day) || !(1970..10_000).contains(&year) || hour > 23 || minute > 59 || second > 60
    {
        return None;
    }
    // Days of the civil calendar with the year taken from March, so that the leap day comes last.
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some((days.checked_sub(719_468)?) * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_within_their_jitter_up_to_the_longest() {
        let retry =
            Retry { attempts: 9, first_pause_ms: 100, longest_pause_ms: 1000, longest_retry_after_s: 1 };
        for (attempt, middle_ms) in
            [(1, 100.0), (2, 200.0), (3, 400.0), (4, 800.0), (5, 1000.0), (60, 1000.0)]
        {
            let mut seen = Vec::new();
            for request in 0..50 {
                let pause_ms = retry.pause(7, &request.to_string(), attempt).as_secs_f64() * 1000.0;
                assert!((middle_ms * 0.5 - 1e-6..=middle_ms * 1.5 + 1e-6).contains(&pause_ms), "{pause_ms}");
                seen.push(pause_ms);
            }
            seen.sort_by(f64::total_cmp);
            assert!(seen[45] > seen[5] * 1.5, "the jitter spreads");
        }
        assert_eq!(retry.pause(7, "a", 2), retry.pause(7, "a", 2));
        assert_ne!(retry.pause(7, "a", 2), retry.pause(8, "a", 2));
    }

    #[test]
    fn servers_ask_for_a_pause_in_three_ways() {
        // RFC 9110 gives this date; date(1) says 784111777.
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777 - 30);
        for (name, value, expected) in [
            ("retry-after", "7", Some(Duration::from_secs(7))),
            ("retry-after", "0.25", Some(Duration::from_millis(250))),
            ("retry-after-ms", "1500", Some(Duration::from_millis(1500))),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(Duration::from_secs(30))),
            ("retry-after", "Sun, 06 Nov 1990 08:49:37 GMT", Some(Duration::ZERO)),
            ("retry-after", "Sun, 06 Foo 1994 08:49:37 GMT", None),
            ("retry-after", "-3", Some(Duration::ZERO)),
            ("retry-after", "soon", None),
            ("retry-after", "NaN", Some(Duration::ZERO)),
            ("retry-after", "1e300", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            assert_eq!(retry_after(&headers, now), expected, "{name}: {value}");
        }
    }

    #[test]
    fn dates_agree_with_the_calendar() {
        // Figures of `date -u -d … +%s`.
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799),
            ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800),
            ("Fri, 20 Nov 2026 20:09:08 GMT", 1_795_205_348),
        ] {
            assert_eq!(http_date(text), Some(seconds), "{text}");
        }
    }
}
