//! Answered questions that are shown before the one that is asked.

use std::sync::Arc;

use sqlgauge_base::{Random, seed_of};

/// A question with its schema and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demonstration {
    pub question: String,
    /// External knowledge that comes with it.
    pub evidence: Option<String>,
    /// The schema as DDL.
    pub schema: Arc<str>,
    /// The query that answers it.
    pub sql: String,
}

/// Draws so many positions of a pool for the questions about a database, none of them about that database. `pool` has the
/// database of each answered question. The seed and the database decide, so that all questions about a database are shown the
/// same, and a server computes them once. Fewer where the pool has fewer.
pub fn draw_demonstrations(pool: &[&str], db_id: &str, count: usize, seed: u64) -> Vec<usize> {
    let others: Vec<usize> = (0..pool.len()).filter(|&at| !pool[at].eq_ignore_ascii_case(db_id)).collect();
    let mut random = Random::new([seed, seed_of("demonstrations"), seed_of(db_id)]);
    let mut drawn: Vec<usize> =
        random.distinct(count, others.len()).into_iter().map(|at| others[at]).collect();
    random.shuffle(&mut drawn);
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_is_of_the_same_database_and_the_seed_decides() {
        let pool = ["a", "b", "A", "c", "b", "d"];
        for seed in 0..50 {
            let drawn = draw_demonstrations(&pool, "a", 3, seed);
            assert_eq!(drawn.len(), 3);
            assert!(drawn.iter().all(|&at| at != 0 && at != 2), "{drawn:?}");
            assert_eq!(drawn, draw_demonstrations(&pool, "a", 3, seed));
        }
        assert!((1..20).any(|seed| draw_demonstrations(&pool, "a", 3, seed) != draw_demonstrations(&pool, "a", 3, 0)));
        assert_eq!(draw_demonstrations(&pool, "a", 9, 0).len(), 4);
        assert!(draw_demonstrations(&["a"], "a", 3, 0).is_empty());
    }
}
