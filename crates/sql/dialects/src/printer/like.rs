//! LIKE.
//!
//! SQLite's LIKE takes ASCII letters of both cases for one another, and a backslash for a backslash.

use sqlgauge_sql::tree::{Expr, LikeOperator, Literal};

use super::{Level, Piece, Printed, Printer, fill};
use crate::dialect::LIKE_BY_LOWER;
use crate::refused::{Construct, Refused};

/// The escape character of patterns that need one.
const ESCAPE: char = '!';

/// A piece of a pattern.
enum Part {
    Any,
    One,
    Letter(char),
}

impl Printer<'_> {
    pub(super) fn like(
        &mut self,
        operator: LikeOperator,
        expr: &Expr,
        pattern: &Expr,
        escape: Option<&Expr>,
        negated: bool,
    ) -> Printed {
        if operator != LikeOperator::Like {
            return Err(self.refuse(
                Construct::Pattern,
                format!("the operator {}", format!("{operator:?}").to_uppercase()),
            ));
        }
        let is_ascii =
            self.types.profile(expr).is_ascii || self.types.of(expr) == crate::types::Type::Integer;
        let mut value = self.text_value(expr)?;
        let (pattern, behind) = match (pattern, escape) {
            (Expr::Literal(Literal::Text(text)), _) => {
                let parts = self.parts(text, escape)?;
                if !parts.iter().any(|part| matches!(part, Part::Letter(c) if c.is_ascii_alphabetic())) {
                    let (pattern, behind) = self.pattern(&parts, false)?;
                    let template = self.dialect.likes.sensitive;
                    return Ok(finished(template, [&value, &pattern], &behind, negated));
                }
                let is_foreign = |part: &Part| matches!(part, Part::Letter(c) if !c.is_ascii());
                if !is_ascii && self.dialect.likes.only_ascii_patterns && parts.iter().any(is_foreign) {
                    return Err(self.refuse(Construct::Like, format!("letters beyond ASCII in {text:?}")));
                }
                let template = self.insensitive(is_ascii)?;
                if template == LIKE_BY_LOWER && !is_ascii {
                    value = apart(value, &parts);
                }
                self.pattern(&parts, !template.contains("ILIKE"))?
            }
            (_, Some(_)) => {
                return Err(self.refuse(Construct::Like, "ESCAPE with a pattern that is not a constant"));
            }
            (pattern, None) => {
                let behind = self.dialect.likes.no_escape;
                let behind = self.template(behind, Construct::Like, "a pattern that is not a constant")?;
                let template = self.dialect.likes.insensitive;
                // A pattern that is not known cannot be folded by itself.
                let is_whole = template.is_some_and(|template| template.contains("ILIKE"));
                if !is_whole {
                    return Err(self.refuse(Construct::Like, "a pattern that is not a constant"));
                }
                (self.text_value(pattern)?, behind.to_owned())
            }
        };
        let template = self.insensitive(is_ascii)?;
        Ok(finished(template, [&value, &pattern], &behind, negated))
    }

    /// How a column with letters beyond ASCII are said.
    fn insensitive(&self, is_ascii: bool) -> Result<&'static str, Refused> {
        let likes = &self.dialect.likes;
        let template =
            if is_ascii { likes.insensitive_of_ascii.or(likes.insensitive) } else { likes.insensitive };
        self.template(template, Construct::Like, "a column with letters beyond ASCII")
    }

    /// What a pattern means.
    fn parts(&self, pattern: &str, escape: Option<&Expr>) -> Result<Vec<Part>, Refused> {
        let escape = match escape {
            None => None,
            Some(Expr::Literal(Literal::Text(text))) if text.chars().count() == 1 => text.chars().next(),
            Some(_) => return Err(self.refuse(Construct::Like, "ESCAPE that is not a constant")),
        };
        let mut parts = Vec::new();
        let mut letters = pattern.chars();
        while let Some(letter) = letters.next() {
            parts.push(match letter {
                letter if Some(letter) == escape => match letters.next() {
                    Some(escaped) => Part::Letter(escaped),
                    None => {
                        return Err(
                            self.refuse(Construct::Like, "a pattern that ends in its escape character")
                        );
                    }
                },
                '%' => Part::Any,
                '_' => Part::One,
                letter => Part::Letter(letter),
            });
        }
        Ok(parts)
    }

    /// The pattern as the dialect writes it, with what stands behind it. Folded letters are lower case.
    fn pattern(&self, parts: &[Part], folds: bool) -> Result<(Piece, String), Refused> {
        let likes = &self.dialect.likes;
        let is_special = |c: char| c == '%' || c == '_' || likes.also_special.contains(c);
        let needs_escape = parts.iter().any(|part| matches!(part, Part::Letter(c) if is_special(*c)));
        if needs_escape && !likes.has_escape && !likes.backslash_escapes {
            return Err(self.refuse(Construct::Like, "a pattern in which % or _ stand for themselves"));
        }
        let escape = if needs_escape && likes.has_escape { Some(ESCAPE) } else { None };
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Any => text.push('%'),
                Part::One => text.push('_'),
                Part::Letter(letter) => {
                    let needs = is_special(*letter) || Some(*letter) == escape;
                    let by_backslash =
                        escape.is_none() && likes.backslash_escapes && (needs || *letter == '\\');
                    if by_backslash {
                        text.push('\\');
                    } else if needs {
                        text.push(ESCAPE);
                    }
                    text.push(if folds { letter.to_ascii_lowercase() } else { *letter });
                }
            }
        }
        let behind = match escape {
            Some(escape) => format!(" ESCAPE {}", self.dialect.text(&escape.to_string())),
            None => String::new(),
        };
        Ok((self.text(&text)?, behind))
    }
}

/// The letters beyond ASCII whose lower case has an ASCII letter: that letter, whether `_` could take it for another
/// character too, and what replaces it. KELVIN SIGN becomes `k`; I WITH DOT ABOVE becomes `i`, in some engines `i` and a dot,
/// which are two characters.
const FOLDED_TO_ASCII: [(char, bool, &str); 2] =
    [('k', false, "REPLACE({0}, '\u{212a}', '¿')"), ('i', true, "REPLACE({0}, '\u{130}', '¿')")];

/// The value without the letters that LOWER would make one of the pattern's.
fn apart(value: Piece, parts: &[Part]) -> Piece {
    let is_taken = |folded: char, by_one: bool| {
        parts.iter().any(|part| match part {
            Part::Letter(letter) => letter.eq_ignore_ascii_case(&folded),
            Part::One => by_one,
            Part::Any => false,
        })
    };
    let needed = FOLDED_TO_ASCII.iter().filter(|(folded, by_one, _)| is_taken(*folded, *by_one));
    needed.fold(value, |value, (.., replaced)| fill(replaced, &[&value]))
}

/// The template filled in; NOT stands before its LIKE.
fn finished(template: &str, operands: [&Piece; 2], behind: &str, negated: bool) -> Piece {
    let template = if negated {
        template.replacen(" LIKE ", " NOT LIKE ", 1).replacen(" ILIKE ", " NOT ILIKE ", 1)
    } else {
        template.to_owned()
    };
    let likes = fill(&template, &operands);
    Piece::new(format!("{}{behind}", likes.text), Level::Comparison)
}
