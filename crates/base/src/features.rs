//! Names the parts that a build may leave out.

/// Something was asked for that this build left out.
///
/// Heavy parts are behind cargo features that are off by default and that `full` switches on together. The features
/// have the same names in every crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} needs the feature `{feature}`, which this sqlgauge was built without; \
     build it with `cargo install --path crates/cli --features {feature}`, or all of it with `--features full`"
)]
pub struct NotBuiltIn {
    /// What was asked for, as the user wrote it or would call it.
    pub what: &'static str,
    /// The cargo feature that builds it in.
    pub feature: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_the_feature_and_the_command() {
        let text = NotBuiltIn { what: "encoder bert", feature: "neural" }.to_string();
        assert!(text.starts_with("encoder bert needs the feature `neural`"), "{text}");
        assert!(text.contains("--features neural`") && text.contains("--features full`"), "{text}");
    }
}
