//! Many pairs over one schema, on several threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sqlgauge_base::panic_text;
use sqlgauge_sql::schema::Schema;

use super::verdict::{Inapplicable, SearchVerdict};
use super::{Search, SearchError, SearchOptions};

/// A gold and a prediction.
type Texts<'a> = (&'a str, &'a str);

/// Searches many pairs over one schema on that many threads; there is one verdict for each pair, in their order, and
/// none depends on the number of threads.
///
/// A pair on which the search itself fails ([`super::SearchReason::Fault`]) costs no other its verdict.
///
/// # Errors
/// When SQLite cannot open a database in memory.
pub fn refute_all(
    schema: &Arc<Schema>,
    options: SearchOptions,
    pairs: &[(&str, &str)],
    threads: usize,
) -> Result<Vec<SearchVerdict>, SearchError> {
    let search = || Search::new(Arc::clone(schema), options);
    in_order(pairs, threads, search, |search, (left, right)| search.refute(left, right))
}

/// A verdict for each pair. A worker whose search panicked goes on with a new one: what the panic left behind in the
/// old one is not to be trusted.
fn in_order<S, E: Send>(
    pairs: &[Texts<'_>],
    threads: usize,
    new: impl Fn() -> Result<S, E> + Sync,
    judge: impl Fn(&S, Texts<'_>) -> SearchVerdict + Sync,
) -> Result<Vec<SearchVerdict>, E> {
    let next = AtomicUsize::new(0);
    let verdicts: Mutex<Vec<Option<SearchVerdict>>> = Mutex::new(vec![None; pairs.len()]);
    let worker = || -> Result<(), E> {
        let mut search = new()?;
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(&pair) = pairs.get(at) else { return Ok(()) };
            let judged = catch_unwind(AssertUnwindSafe(|| judge(&search, pair)));
            let (verdict, is_sound) = match judged {
                Ok(verdict) => (verdict, true),
                Err(panic) => (fault(panic_text(panic.as_ref())), false),
            };
            verdicts.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(verdict);
            if !is_sound {
                search = new()?;
            }
        }
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> =
            (0..threads.clamp(1, pairs.len().max(1))).map(|_| scope.spawn(worker)).collect();
        // A worker that could not even be kept alive leaves its pairs without a verdict, which is seen below.
        handles.into_iter().try_for_each(|handle| handle.join().unwrap_or(Ok(())))
    })?;
    let verdicts = verdicts.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(verdicts.into_iter().map(|verdict| verdict.unwrap_or_else(|| fault("its thread ended"))).collect())
}

fn fault(reason: &str) -> SearchVerdict {
    SearchVerdict::Inapplicable(Inapplicable::fault(reason))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{SearchReason, Survived};

    fn numbered(count: usize) -> Vec<String> {
        (0..count).map(|number| number.to_string()).collect()
    }

    /// A search that answers a pair with its number, and panics on some.
    fn judge(panics: &BTreeSet<usize>, left: &str) -> SearchVerdict {
        let databases: usize = left.parse().unwrap_or(usize::MAX);
        assert!(!panics.contains(&databases), "planted on pair {databases}");
        SearchVerdict::Survived(Survived { databases, ..Survived::default() })
    }

    #[test]
    fn a_panic_costs_its_own_pair_alone() {
        let names = numbered(40);
        let pairs: Vec<Texts<'_>> = names.iter().map(|name| (name.as_str(), "")).collect();
        for panics in [vec![0], vec![39], vec![3, 4, 5, 17], (0..40).collect()] {
            let panics: BTreeSet<usize> = panics.into_iter().collect();
            for threads in [1, 2, 7, 100] {
                let verdicts = in_order(
                    &pairs,
                    threads,
                    || Ok::<_, SearchError>(()),
                    |(), (left, _)| judge(&panics, left),
                );
                let verdicts = verdicts.unwrap_or_default();
                assert_eq!(verdicts.len(), pairs.len());
                for (at, verdict) in verdicts.iter().enumerate() {
                    match verdict {
                        SearchVerdict::Survived(survived) => assert_eq!(survived.databases, at),
                        SearchVerdict::Inapplicable(why) => {
                            assert_eq!((&why.reason, why.code().as_str()), (&SearchReason::Fault, "fault"));
                            assert!(why.message.contains(&format!("planted on pair {at}")), "{why}");
                        }
                        SearchVerdict::Refuted(_) => panic!("nothing refutes here"),
                    }
                    assert_eq!(matches!(verdict, SearchVerdict::Inapplicable(_)), panics.contains(&at));
                }
            }
        }
    }

    #[test]
    fn a_search_that_panicked_is_not_used_again() {
        let count = AtomicUsize::new(0);
        let names = numbered(6);
        let pairs: Vec<Texts<'_>> = names.iter().map(|name| (name.as_str(), "")).collect();
        let new = || Ok::<_, SearchError>(count.fetch_add(1, Ordering::Relaxed));
        let panics = BTreeSet::from([1, 3]);
        let used = Mutex::new(Vec::new());
        let verdicts = in_order(&pairs, 1, new, |search, (left, _)| {
            used.lock().unwrap_or_else(PoisonError::into_inner).push(*search);
            judge(&panics, left)
        });
        assert_eq!(verdicts.map(|verdicts| verdicts.len()).unwrap_or_default(), 6);
        assert_eq!(used.into_inner().unwrap_or_else(PoisonError::into_inner), [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn where_no_search_can_be_made_there_is_an_error() {
        let refused = || Err::<(), _>(SearchError::from(rusqlite::Error::InvalidQuery));
        assert!(in_order(&[("1", "")], 2, refused, |(), _| unreachable!()).is_err());
    }
}
