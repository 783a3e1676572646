//! An error as one sentence.

use std::error::Error;

/// The error with its causes on one line. A cause that its effect already quotes is not said twice.
pub fn sentence(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let reason = cause.to_string();
        if !text.contains(&reason) {
            text = format!("{text}: {reason}");
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct ChainedError(&'static str, #[source] Option<Box<ChainedError>>);

    #[test]
    fn causes_follow_their_effect_and_are_said_once() {
        let quoted = ChainedError("cannot read x: denied", Some(Box::new(ChainedError("denied", None))));
        assert_eq!(sentence(&quoted), "cannot read x: denied");
        let chain =
            ChainedError("a", Some(Box::new(ChainedError("b", Some(Box::new(ChainedError("c", None)))))));
        assert_eq!(sentence(&chain), "a: b: c");
    }
}
