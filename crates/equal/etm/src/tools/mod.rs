//! Small pieces that many rules need.

mod columns;
mod conditions;
mod exprs;
mod from;
mod properties;
mod query;
mod relations;
mod same;

pub(crate) use sqlgauge_sql::canonical::conjunction;

pub(crate) use columns::{columns_read, move_columns, replace_column, swap_columns};
pub(crate) use conditions::{add_conjunct, retain_on, take_conjuncts};
pub(crate) use exprs::{
    as_column, as_integer, is_count_star, is_truth, one, own_aggregate, plain_aggregate, truth,
};
pub(crate) use from::{
    join_all, join_inner, may_go, may_stand_in, on_exprs, single_relation, take_inner, take_part, without,
};
pub(crate) use properties::{calls_aggregate, is_deterministic, may_fail, obstacle, size};
pub(crate) use query::{
    expr_text, for_own_exprs, forget_names, is_flat, link, may_become_exists, order_expr, own_exprs,
    plain_select, take_select, text,
};
pub(crate) use relations::refresh;
pub(crate) use same::{renamed, same_expr, same_from, same_query};
pub(crate) use sqlgauge_sql::derive::{conjuncts_of, on_conjuncts};
pub(crate) use sqlgauge_sql::reads::columns as columns_of;
pub(crate) use sqlgauge_sql::visit::any_part;
