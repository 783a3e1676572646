//! The 42 operators that a corpus should have: the name of each, and how it is recognised in a query.
//!
//! FusionSQL counts 42 operators and names none of them; these are the constructs of a query that returns rows, split as
//! far as a reader of SQL takes them for different things. An operator is recognised in the finished tree, whatever made it.

use crate::shape::QueryMeasures;
use crate::tier::Tier;

#[derive(Debug)]
pub struct Operator {
    /// Its name in records.
    pub name: &'static str,
    /// The easiest tier in which it is asked for.
    pub least: Tier,
    /// Whether it needs a query inside of the query.
    pub nests: bool,
    /// How often it is asked for, beside the others: as people ask, and each often enough to be there.
    pub weight: u8,
    /// Whether a query of that shape has it.
    pub is_in: fn(&QueryMeasures) -> bool,
}

/// The place of an operator in [`OPERATORS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperatorId(pub u8);

impl OperatorId {
    pub fn get(self) -> &'static Operator {
        &OPERATORS[usize::from(self.0) % OPERATORS.len()]
    }

    /// All of them, in the order of the registry.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..).take(OPERATORS.len()).map(Self)
    }

    /// Whether it is seldom asked for.
    pub fn is_rare(self) -> bool {
        self.get().weight < 10
    }

    /// The names of the operators that a query of that shape has.
    pub fn names_in(shape: &QueryMeasures) -> Vec<&'static str> {
        OPERATORS.iter().filter(|operator| (operator.is_in)(shape)).map(|operator| operator.name).collect()
    }
}

macro_rules! operators {
    ($($name:literal $least:ident $nests:literal $weight:literal $shape:ident $is_in:expr;)*) => {
        /// The registry: clauses, joins, set operations, subqueries, comparisons, predicates, logic, values, aggregates.
        pub const OPERATORS: &[Operator] =
            &[$(Operator { name: $name, least: Tier::$least, nests: $nests, weight: $weight, is_in: |$shape: &QueryMeasures| $is_in }),*];
    };
}

operators! {
    "where" Simple false 60 s s.count("WHERE") > 0;
    "distinct" Simple false 16 s s.count("DISTINCT") > 0;
    "group_by" Simple false 60 s s.count("GROUP BY") > 0;
    "having" Moderate false 35 s s.count("HAVING") > 0;
    "order_by" Simple false 50 s s.count("ORDER BY") > 0;
    "limit" Simple false 50 s s.count("LIMIT") > 0;
    "offset" Moderate false 5 s s.count("OFFSET") > 0;
    "inner_join" Moderate false 60 s s.inner_joins > 0;
    "left_join" Moderate false 5 s s.count("LEFT JOIN") > 0;
    "full_join" Moderate false 6 s s.count("FULL JOIN") > 0;
    "cross_join" Moderate false 5 s s.count("CROSS JOIN") > 0;
    "self_join" Moderate false 5 s s.features.self_joins > 0;
    "union" Moderate false 4 s s.count("UNION") > 0;
    "union_all" Moderate false 5 s s.count("UNION ALL") > 0;
    "intersect" Moderate false 5 s s.count("INTERSECT") > 0;
    "except" Moderate false 4 s s.count("EXCEPT") > 0;
    "derived_table" Moderate true 4 s s.derived_tables > 0;
    "with" Moderate true 4 s s.count("WITH") > 0;
    "scalar_subquery" Moderate true 25 s s.scalar_subqueries > 0;
    "in_subquery" Moderate true 8 s s.in_subqueries > 0;
    "exists" Moderate true 10 s s.count("EXISTS") > 0;
    "correlated_subquery" Moderate true 5 s s.correlated_subqueries > 0;
    "equal" Simple false 60 s s.count("=") > 0;
    "not_equal" Simple false 12 s s.count("<>") > 0;
    "less" Simple false 30 s s.count("<") + s.count("<=") > 0;
    "greater" Simple false 45 s s.count(">") + s.count(">=") > 0;
    "between" Simple false 15 s s.count("BETWEEN") > 0;
    "in_list" Simple false 10 s s.in_lists > 0;
    "like" Simple false 18 s s.count("LIKE") > 0;
    "is_null" Simple false 30 s s.count("IS NULL") > 0;
    "and" Simple false 25 s s.count("AND") > 0;
    "or" Simple false 7 s s.count("OR") > 0;
    "not" Simple false 8 s s.negations > 0;
    "arithmetic" Simple false 4 s ["+", "-", "*", "/", "%"].iter().any(|operator| s.count(operator) > 0);
    "concat" Simple false 5 s s.count("||") > 0;
    "case" Moderate false 4 s s.count("CASE") > 0;
    "cast" Simple false 4 s s.count("CAST") > 0;
    "count" Simple false 60 s s.count("count()") > 0;
    "sum" Simple false 20 s s.count("sum()") > 0;
    "average" Simple false 40 s s.count("avg()") > 0;
    "extremum" Simple false 40 s s.count("min()") + s.count("max()") > 0;
    "window" Moderate false 5 s s.count("OVER") > 0;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sqlgauge_sql::resolve;
    use sqlgauge_sql::schema::Schema;

    use super::*;

    /// A query that has the operator, for each.
    const CASES: &[(&str, &str)] = &[
        ("where", "SELECT a FROM t WHERE a > 1"),
        ("distinct", "SELECT DISTINCT a FROM t"),
        ("group_by", "SELECT a FROM t GROUP BY a"),
        ("having", "SELECT a FROM t GROUP BY a HAVING count(*) > 1"),
        ("order_by", "SELECT a FROM t ORDER BY a"),
        ("limit", "SELECT a FROM t LIMIT 1"),
        ("offset", "SELECT a FROM t LIMIT 1 OFFSET 1"),
        ("inner_join", "SELECT t.a FROM t JOIN u ON t.a = u.a"),
        ("left_join", "SELECT t.a FROM t LEFT JOIN u ON t.a = u.a"),
        ("full_join", "SELECT t.a FROM t FULL JOIN u ON t.a = u.a"),
        ("cross_join", "SELECT t.a FROM t CROSS JOIN u"),
        ("self_join", "SELECT x.a FROM t x JOIN t y ON x.a = y.b"),
        ("union", "SELECT a FROM t UNION SELECT a FROM u"),
        ("union_all", "SELECT a FROM t UNION ALL SELECT a FROM u"),
        ("intersect", "SELECT a FROM t INTERSECT SELECT a FROM u"),
        ("except", "SELECT a FROM t EXCEPT SELECT a FROM u"),
        ("derived_table", "SELECT x.a FROM (SELECT a FROM t) x"),
        ("with", "WITH x AS (SELECT a FROM t) SELECT a FROM x"),
        ("scalar_subquery", "SELECT a FROM t WHERE a = (SELECT max(a) FROM u)"),
        ("in_subquery", "SELECT a FROM t WHERE a IN (SELECT a FROM u)"),
        ("exists", "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u)"),
        ("correlated_subquery", "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)"),
        ("equal", "SELECT a FROM t WHERE a = 1"),
        ("not_equal", "SELECT a FROM t WHERE a <> 1"),
        ("less", "SELECT a FROM t WHERE a <= 1"),
        ("greater", "SELECT a FROM t WHERE a > 1"),
        ("between", "SELECT a FROM t WHERE a BETWEEN 1 AND 2"),
        ("in_list", "SELECT a FROM t WHERE a IN (1, 2)"),
        ("like", "SELECT a FROM t WHERE b LIKE 'x%'"),
        ("is_null", "SELECT a FROM t WHERE b IS NULL"),
        ("and", "SELECT a FROM t WHERE a > 1 AND b > 1"),
        ("or", "SELECT a FROM t WHERE a > 1 OR b > 1"),
        ("not", "SELECT a FROM t WHERE b NOT LIKE 'x%'"),
        ("arithmetic", "SELECT a - b FROM t"),
        ("concat", "SELECT a || b FROM t"),
        ("case", "SELECT CASE WHEN a > 1 THEN 'x' ELSE 'y' END FROM t"),
        ("cast", "SELECT CAST(a AS REAL) FROM t"),
        ("count", "SELECT count(*) FROM t"),
        ("sum", "SELECT sum(a) FROM t"),
        ("average", "SELECT avg(a) FROM t"),
        ("extremum", "SELECT max(a) FROM t"),
        ("window", "SELECT rank() OVER (ORDER BY a) FROM t"),
    ];

    #[test]
    fn there_are_42_and_each_is_recognised_where_it_is_and_not_elsewhere() {
        let schema = Schema::from_ddl("CREATE TABLE t (a, b); CREATE TABLE u (a, b);").unwrap();
        let shape = |sql: &str| QueryMeasures::of(&resolve(sql, &schema).unwrap(), &schema);
        let names: BTreeSet<&str> = OPERATORS.iter().map(|operator| operator.name).collect();
        assert_eq!((OPERATORS.len(), names.len()), (42, 42));
        assert_eq!(CASES.iter().map(|(name, _)| *name).collect::<BTreeSet<_>>(), names);
        for (name, sql) in CASES {
            assert!(OperatorId::names_in(&shape(sql)).contains(name), "{name} in {sql}");
        }
        assert!(OperatorId::names_in(&shape("SELECT a FROM t")).is_empty());
    }
}
