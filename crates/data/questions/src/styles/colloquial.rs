//! As one speaks to a colleague.

use crate::style::{QuestionStyle, StyleMeta};

pub(super) const META: StyleMeta = StyleMeta {
    style: QuestionStyle::Colloquial,
    name: "colloquial",
    description: "As one speaks to a colleague.",
    leaves_tables_out: false,
    groups_first: 20,
    share: 2,
};
