//! ClickHouse, with `join_use_nulls = 1` and `aggregate_functions_null_for_empty = 1`.
//!
//! By itself ClickHouse fills an outer join with zeros and sums no rows to 0; the two settings make both NULL, and the texts
//! need them. Correlated subqueries are not taken.

use crate::dialect::{
    Conditions, Correlation, Dialect, FullJoins, Likes, LimitSyntax, Nulls, STANDARD, Templates, TypeNames,
};

pub(crate) static CLICKHOUSE: Dialect = Dialect {
    name: "clickhouse",
    title: "ClickHouse",
    quotes: ('"', '"'),
    longest_name: 200,
    not_in_names: "\\\"",
    backslash_in_texts: true,
    blob: Some("unhex('{0}')"),
    types: TypeNames {
        integer: "Nullable(Int64)",
        real: "Nullable(Float64)",
        text: "Nullable(String)",
        blob: "Nullable(String)",
    },
    column_types: TypeNames {
        integer: "Nullable(Int64)",
        real: "Nullable(Float64)",
        text: "Nullable(String)",
        blob: "Nullable(String)",
    },
    behind_columns: " ENGINE = MergeTree ORDER BY tuple()",
    conditions: Conditions::Numbers,
    nulls: Nulls::Last,
    limits: LimitSyntax::Limit { before_offset: "" },
    union: "UNION DISTINCT",
    intersect: Some("INTERSECT DISTINCT"),
    except: Some("EXCEPT DISTINCT"),
    full_joins: FullJoins::OnEquality,
    any_join_condition: false,
    has_rows: false,
    correlation: Correlation::No,
    has_narrow_integers: true,
    has_decimal_constants: false,
    likes: Likes {
        insensitive: None,
        insensitive_of_ascii: Some("{0} ILIKE {1}"),
        has_escape: false,
        ..STANDARD.likes
    },
    templates: Templates {
        divide_integers: Some("intDiv({0}, {1})"),
        same: Some("{0} <=> {1}"),
        upper: Some("upper({0})"),
        lower: Some("lower({0})"),
        length: Some("lengthUTF8({0})"),
        position: Some("positionUTF8({0}, {1})"),
        rest: Some("substringUTF8({0}, {1})"),
        part: Some("substringUTF8({0}, {1}, {2})"),
        trim: Some("trimBoth({0})"),
        trim_left: Some("trimLeft({0})"),
        trim_right: Some("trimRight({0})"),
        replace: Some("replaceAll({0}, {1}, {2})"),
        integer_as_text: Some("toString({0})"),
        text_as_integer: Some("toInt64({0})"),
        real_as_integer: Some("toInt64(trunc({0}))"),
        integer_as_real: Some("toFloat64({0})"),
        average_of_integers: Some("AVG({0})"),
        exact_sum: "sumKahan",
        concatenation: None,
        ..STANDARD.templates
    },
    ..STANDARD
};
