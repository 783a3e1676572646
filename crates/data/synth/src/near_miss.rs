//! Makes near misses: queries that differ in one thing of the tree.
//!
//! # Contract
//! A mutation changes one node and keeps the query typed. Whether it changes the meaning is not said here: that takes a
//! database on which the results differ ([`crate::related`]).

use sqlgauge_base::Random;
use sqlgauge_search::mutation::{MutationKind, Mutations};
use sqlgauge_sql::tree::Query;

sqlgauge_base::named! {
    /// What was changed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Mutation by name {
        /// A comparison is another.
        Comparison = "comparison",
        /// A number or the bound of a LIMIT is another.
        Number = "number",
        /// An aggregate function is another.
        Aggregate = "aggregate",
        /// DISTINCT of a SELECT or an aggregate comes or goes.
        Distinct = "distinct",
        /// A sort order is turned round.
        Direction = "direction",
        /// An inner join is a left join, or the other way round.
        Join = "join",
        /// AND is OR, or the other way round.
        Logic = "logic",
        /// NOT comes or goes.
        Negation = "negation",
        SetOperation = "set_operation",
        /// A condition is missing.
        Condition = "condition",
    }
}

impl Mutation {
    /// What a slip is as a near miss; `None` for one that makes another query of it, not a similar one: another condition of
    /// a join, a text that nobody looks for, groups that do not fit what is selected.
    fn of(kind: MutationKind) -> Option<Self> {
        Some(match kind {
            MutationKind::Comparison => Self::Comparison,
            MutationKind::Number => Self::Number,
            MutationKind::Aggregate => Self::Aggregate,
            MutationKind::Distinct => Self::Distinct,
            MutationKind::Direction => Self::Direction,
            MutationKind::Join => Self::Join,
            MutationKind::Connective => Self::Logic,
            MutationKind::Negation => Self::Negation,
            MutationKind::SetOperation => Self::SetOperation,
            MutationKind::Condition => Self::Condition,
            MutationKind::Column
            | MutationKind::Text
            | MutationKind::Key
            | MutationKind::Arithmetic
            | MutationKind::NoLimit
            | MutationKind::Grouping => {
                return None;
            }
        })
    }
}

/// The query with one thing changed, and what; `None` if it has nothing that could be.
pub fn mutated(query: &Query, random: &mut Random) -> Option<(Query, Mutation)> {
    let mutations = Mutations::without_schema(query);
    let kinds = mutations.kinds().iter().enumerate();
    let mut left: Vec<(usize, Mutation)> =
        kinds.filter_map(|(number, kind)| Some((number, Mutation::of(*kind)?))).collect();
    while !left.is_empty() {
        let (number, mutation) = left.swap_remove(random.below(left.len()));
        // What changes nothing, as one more than the greatest number, is passed over.
        if let Some(changed) = mutations.get(number) {
            return Some((changed, mutation));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sqlgauge_sql::resolve;
    use sqlgauge_sql::schema::Schema;

    use super::*;

    #[test]
    fn one_thing_is_changed_and_every_kind_comes() {
        let schema = Schema::from_ddl("CREATE TABLE t (a, b); CREATE TABLE u (a, b);").unwrap();
        let text = "SELECT t.a, sum(u.b) FROM t JOIN u ON t.a = u.a WHERE t.b > 3 AND t.b NOT LIKE 'x%' GROUP BY t.a \
                    UNION SELECT a, b FROM t WHERE a < 2 OR b = 'q' ORDER BY 1";
        let query = resolve(text, &schema).unwrap();
        let mut kinds = BTreeSet::new();
        for seed in 0..300 {
            let (changed, kind) = mutated(&query, &mut Random::new([seed])).unwrap();
            assert_ne!(changed, query, "{kind:?}");
            kinds.insert(kind);
        }
        assert_eq!(kinds.len(), 10, "{kinds:?}");
        assert_eq!(mutated(&resolve("VALUES ('a')", &schema).unwrap(), &mut Random::new([1])), None);
    }
}
