//! Constants.

use std::fmt::Write as _;

use sqlgauge_sql::tree::Literal;

use super::{Level, Piece, Printed, Printer, fill};
use crate::refused::Construct;

impl Printer<'_> {
    pub(super) fn literal(&self, literal: &Literal) -> Printed {
        match literal {
            Literal::Null => Ok(Piece::atom("NULL")),
            Literal::Boolean(value) => Ok(Piece::atom(if *value { "1" } else { "0" })),
            Literal::Integer(value) => Ok(signed(value.to_string())),
            Literal::Real(value) => self.real(value.get()),
            Literal::Text(text) => self.text(text),
            Literal::Blob(bytes) => {
                let mut digits = String::new();
                for byte in bytes {
                    // Writing to a String cannot fail.
                    let _ = write!(digits, "{byte:02x}");
                }
                let template = self.template(self.dialect.blob, Construct::Blob, "a blob")?;
                Ok(Piece::atom(template.replace("{0}", &digits)))
            }
        }
    }

    pub(super) fn text(&self, text: &str) -> Printed {
        if text.contains('\0') {
            return Err(self.refuse(Construct::Nul, "a constant"));
        }
        if text.is_empty() && self.dialect.empty_is_null {
            return Err(self.refuse(Construct::EmptyText, "a constant"));
        }
        if text.ends_with(' ') && self.dialect.pads_texts && text.chars().any(|c| c != ' ') {
            return Err(self.refuse(Construct::Padding, "a constant"));
        }
        Ok(Piece::atom(self.dialect.text(text)))
    }

    /// A real constant. Where a point alone makes a decimal number, which is computed with otherwise, a type is named.
    pub(super) fn real(&self, value: f64) -> Printed {
        if !value.is_finite() {
            return Err(self.refuse(Construct::InfiniteReal, "a constant"));
        }
        let plain = signed(format!("{value:?}"));
        if !self.dialect.has_decimal_constants {
            return Ok(plain);
        }
        Ok(fill(&format!("CAST({{0}} AS {})", self.dialect.types.real), &[&plain]))
    }
}

/// A number, which is no atom with a sign.
pub(super) fn signed(text: String) -> Piece {
    let level = if text.starts_with('-') { Level::Other } else { Level::Atom };
    Piece::new(text, level)
}

/// How SQLite writes a real number as a text, where that is short enough to be the same everywhere.
pub(super) fn text_of_real(value: f64) -> Option<String> {
    let text = format!("{value:?}");
    let digits = text.chars().filter(char::is_ascii_digit).count();
    (value.is_finite() && digits <= 15 && !text.contains('e')).then_some(text)
}

/// The number that a text is by itself, as numeric affinity reads it.
pub(super) fn number_of_text(text: &str) -> Option<Literal> {
    let inner = text.trim_matches(sqlgauge_sql::lex::is_space);
    let is_number = inner.chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E'))
        && inner.contains(|c: char| c.is_ascii_digit());
    if !is_number {
        return None;
    }
    if let Ok(value) = inner.parse::<i64>() {
        return Some(Literal::Integer(value));
    }
    let value: f64 = inner.parse().ok()?;
    Some(Literal::Real(sqlgauge_sql::tree::Real::new(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_number_if_all_of_it_is() {
        for (text, expected) in [
            ("12", Some(Literal::Integer(12))),
            (" -3 ", Some(Literal::Integer(-3))),
            ("2010-01-01", None),
            ("1e2", Some(Literal::Real(sqlgauge_sql::tree::Real::new(100.0)))),
            ("12a", None),
            ("", None),
            ("inf", None),
            (".", None),
        ] {
            assert_eq!(number_of_text(text), expected, "{text:?}");
        }
        assert_eq!(text_of_real(5.0).as_deref(), Some("5.0"));
        assert_eq!(text_of_real(0.1 + 0.2), None);
    }
}
