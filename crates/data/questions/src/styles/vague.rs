//! Imprecise words, and columns without their tables: often more than one reading.

use crate::style::{QuestionStyle, StyleMeta};

pub(super) const META: StyleMeta = StyleMeta {
    style: QuestionStyle::Vague,
    name: "vague",
    description: "Imprecise words, and columns without their tables: often more than one reading.",
    leaves_tables_out: true,
    groups_first: 0,
    share: 1,
};
