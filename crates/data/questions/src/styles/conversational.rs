//! A message of a conversation, with its courtesies.

use crate::style::{QuestionStyle, StyleMeta};

pub(super) const META: StyleMeta = StyleMeta {
    style: QuestionStyle::Conversational,
    name: "conversational",
    description: "A message of a conversation, with its courtesies.",
    leaves_tables_out: false,
    groups_first: 0,
    share: 2,
};
