//! BigQuery.
//!
//! Texts compare by their Unicode code points, as bytes of UTF-8 do. UNION, INTERSECT and EXCEPT must say DISTINCT. A subquery
//! that reads the query around it must be one that BigQuery can make a join of: EXISTS, IN, and aggregates.

use crate::dialect::{
    Conditions, Correlation, Dialect, FullJoins, LIKE_BY_LOWER, Likes, LimitSyntax, Nulls, ROUND_BY_TRUNC,
    STANDARD, Templates, TypeNames,
};

const TYPES: TypeNames = TypeNames { integer: "INT64", real: "FLOAT64", text: "STRING", blob: "BYTES" };

pub(crate) static BIGQUERY: Dialect = Dialect {
    name: "bigquery",
    title: "BigQuery",
    quotes: ('`', '`'),
    longest_name: 300,
    not_in_names: "`!\"$()*,./;?@[\\]^{}~",
    backslash_in_texts: true,
    types: TYPES,
    column_types: TYPES,
    conditions: Conditions::Apart("CAST({0} AS INT64)"),
    nulls: Nulls::Smallest,
    limits: LimitSyntax::Limit { before_offset: " LIMIT 9223372036854775807" },
    union: "UNION DISTINCT",
    intersect: Some("INTERSECT DISTINCT"),
    except: Some("EXCEPT DISTINCT"),
    full_joins: FullJoins::OnEquality,
    any_join_condition: false,
    correlation: Correlation::Aggregates,
    has_narrow_integers: false,
    has_decimal_constants: false,
    likes: Likes {
        insensitive: Some(LIKE_BY_LOWER),
        insensitive_of_ascii: Some("LOWER({0}) LIKE {1}"),
        only_ascii_patterns: true,
        has_escape: false,
        ..STANDARD.likes
    },
    templates: Templates {
        divide_integers: Some("DIV({0}, {1})"),
        modulo: Some("MOD({0}, {1})"),
        position: Some("STRPOS({0}, {1})"),
        trim: Some("TRIM({0}, ' ')"),
        trim_left: Some("LTRIM({0}, ' ')"),
        trim_right: Some("RTRIM({0}, ' ')"),
        integer_as_text: Some("CAST({0} AS STRING)"),
        text_as_integer: Some("CAST({0} AS INT64)"),
        real_as_integer: Some("CAST(TRUNC({0}) AS INT64)"),
        integer_as_real: Some("CAST({0} AS FLOAT64)"),
        round: Some(ROUND_BY_TRUNC),
        average_of_integers: Some("AVG({0})"),
        concatenation: Some("STRING_AGG({0}, {1} ORDER BY {2})"),
        ..STANDARD.templates
    },
    ..STANDARD
};
