//! What a panic said.

use std::any::Any;

/// The message of a caught panic; `no message` where it has none that is a text.
pub fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let literal = panic.downcast_ref::<&str>().copied();
    literal.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::panic_text;

    #[test]
    fn texts_of_both_types_are_read() {
        assert_eq!(panic_text(&"a literal"), "a literal");
        assert_eq!(panic_text(&"a text".to_owned()), "a text");
        assert_eq!(panic_text(&7), "no message");
    }
}
