//! A message of a conversation, with its courtesies.

use crate::style::{Style, StyleMeta};

pub(super) const META: StyleMeta = StyleMeta {
    style: Style::Conversational,
    name: "conversational",
    description: "A message of a conversation, with its courtesies.",
    leaves_tables_out: false,
    groups_first: 0,
};
