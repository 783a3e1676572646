//! The four tiers of difficulty.
//!
//! # Contract
//! FusionSQL sorts queries into *Simple*, *Moderate*, *Complex* and *Highly Complex*, "based on SQL length, join count, and
//! operator composition", and gives no bounds. Here four measures of the tree are graded from 0 to 3 and the grades are
//! added: length in nodes, joins, different operators of the 42, and nesting together with set operations. A sum of 0 or 1
//! is Simple, 2 to 4 Moderate, 5 to 7 Complex, 8 and more Highly Complex. The tier of a query follows from its tree alone.

use serde::{Deserialize, Serialize};

use crate::operators::OperatorId;
use crate::shape::QueryMeasures;

sqlgauge_base::named! {
    /// How difficult a query is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Tier by name {
        /// One table or little more.
        Simple = "simple",
        /// A join or a group or a subquery.
        Moderate = "moderate",
        /// Several of them.
        Complex = "complex",
        /// Many of them.
        HighlyComplex = "highly_complex",
    }
}

/// Bounds of the grades 1, 2 and 3.
const NODES: [usize; 3] = [13, 26, 46];
const JOINS: [usize; 3] = [1, 2, 4];
const OPERATOR_KINDS: [usize; 3] = [4, 7, 10];
const LEVELS: [usize; 3] = [1, 2, 3];
/// The smallest sums of grades of the tiers after the first.
const SUMS: [usize; 3] = [2, 5, 8];

impl Tier {
    pub fn of(shape: &QueryMeasures) -> Self {
        let levels = shape.features.depth.saturating_sub(1) + shape.features.set_operations;
        let sum = reached(NODES, shape.nodes)
            + reached(JOINS, shape.features.joins)
            + reached(OPERATOR_KINDS, OperatorId::names_in(shape).len())
            + reached(LEVELS, levels);
        Self::ALL[reached(SUMS, sum)]
    }

    /// Its place among all.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// How many of the rising bounds a value reaches.
fn reached(bounds: [usize; 3], value: usize) -> usize {
    bounds.iter().filter(|&&bound| value >= bound).count()
}

#[cfg(test)]
mod tests {
    use sqlgauge_sql::resolve;
    use sqlgauge_sql::schema::Schema;

    use super::*;

    #[test]
    fn tiers_rise_with_what_a_query_has() {
        let schema = Schema::from_ddl("CREATE TABLE t (a, b, c); CREATE TABLE u (a, b);").unwrap();
        let tier = |sql: &str| Tier::of(&QueryMeasures::of(&resolve(sql, &schema).unwrap(), &schema));
        assert_eq!(tier("SELECT a FROM t WHERE b = 1"), Tier::Simple);
        assert_eq!(tier("SELECT count(*) FROM t"), Tier::Simple);
        let grouped =
            "SELECT u.b, count(*) FROM t JOIN u ON t.a = u.a GROUP BY u.b ORDER BY count(*) DESC LIMIT 1";
        assert_eq!(tier(grouped), Tier::Moderate);
        let nested = "SELECT u.b, avg(t.c) FROM t JOIN u ON t.a = u.a WHERE t.b > (SELECT avg(b) FROM t) AND u.b LIKE 'x%' \
                      GROUP BY u.b HAVING count(*) > 2 ORDER BY avg(t.c) DESC";
        assert_eq!(tier(nested), Tier::Complex);
        let set = format!(
            "SELECT u.b, avg(t.c) FROM t LEFT JOIN u ON t.a = u.a WHERE t.b IN (SELECT b FROM t WHERE a NOT IN \
             (SELECT a FROM u WHERE b IS NULL)) AND u.b BETWEEN 1 AND 2 GROUP BY u.b UNION {}",
            "SELECT b, max(c) FROM t WHERE c <> 4 OR c = 3 GROUP BY b HAVING count(*) > 2"
        );
        assert_eq!(tier(&set), Tier::HighlyComplex);
    }
}
