//! Prompts in files.

use sqlgauge_base::regular;

use std::path::Path;

use crate::digest::digest;

/// The placeholders of a prompt of one purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placeholders {
    /// What the prompt is for, as messages call it.
    pub prompt: &'static str,
    /// Those that a prompt must have.
    pub required: &'static [&'static str],
    /// Those that it may have.
    pub optional: &'static [&'static str],
}

/// Why a prompt cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The file cannot be read.
    #[error("cannot read the prompt template {file}: {reason}")]
    File {
        file: String,
        /// What the system said.
        reason: String,
    },
    /// One of the two parts is not there.
    #[error(
        "a prompt template needs a line `# System` and after it a line `# User`, each with text below it"
    )]
    Parts,
    /// A placeholder that must be there is not.
    #[error("the prompt template of {prompt} lacks the placeholder {{{{{placeholder}}}}}")]
    Missing { prompt: &'static str, placeholder: &'static str },
    /// A placeholder that nothing stands for.
    #[error("the prompt template of {prompt} has the unknown placeholder {{{{{placeholder}}}}}")]
    Unknown { prompt: &'static str, placeholder: String },
}

/// A prompt with `{{placeholders}}`: a file of a paragraph that is not sent, the instructions below a line `# System`,
/// and the question below a line `# User`. Values are put in once: a placeholder inside a value stays what it is. A line
/// of the file that has placeholders, none of which has a value, is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    system: Vec<Line>,
    user: Vec<Line>,
    digest: String,
}

type Line = Vec<Piece>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Placeholder(String),
}

impl Prompt {
    /// A prompt of the user's own.
    ///
    /// # Errors
    /// When the file cannot be read, a part or a placeholder is missing, or a placeholder is unknown.
    pub fn load(file: &Path, placeholders: Placeholders) -> Result<Self, PromptError> {
        let text = regular::read_to_string(file).map_err(|error| PromptError::File {
            file: file.display().to_string(),
            reason: error.to_string(),
        })?;
        Self::parse(&text, placeholders)
    }

    /// A prompt as text.
    ///
    /// # Errors
    /// When a part or a placeholder is missing, or a placeholder is unknown.
    pub fn parse(text: &str, placeholders: Placeholders) -> Result<Self, PromptError> {
        let text = text.replace("\r\n", "\n");
        let (_, rest) = split_at_line(&text, "# System").ok_or(PromptError::Parts)?;
        let (system, user) = split_at_line(rest, "# User").ok_or(PromptError::Parts)?;
        if system.trim().is_empty() || user.trim().is_empty() {
            return Err(PromptError::Parts);
        }
        let lines = |part: &str| part.trim().lines().map(pieces).collect::<Vec<Line>>();
        let (system, user) = (lines(system), lines(user));
        let names: Vec<&str> = system.iter().chain(&user).flatten().filter_map(Piece::placeholder).collect();
        let Placeholders { prompt, required, optional } = placeholders;
        let is_known = |name: &str| required.iter().chain(optional).any(|placeholder| *placeholder == name);
        if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
            return Err(PromptError::Unknown { prompt, placeholder: (*unknown).to_owned() });
        }
        if let Some(&placeholder) = required.iter().find(|required| !names.contains(required)) {
            return Err(PromptError::Missing { prompt, placeholder });
        }
        Ok(Self { system, user, digest: digest(text.as_bytes()) })
    }

    /// The sha256 of the file (with line ends as `\n`), for provenance.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Instructions and question, with what `value` says in the place of each placeholder.
    pub fn fill(&self, value: impl Fn(&str) -> String) -> (String, String) {
        let part = |lines: &[Line]| {
            lines.iter().filter_map(|line| fill(line, &value)).collect::<Vec<_>>().join("\n")
        };
        (part(&self.system), part(&self.user))
    }
}

impl Piece {
    fn placeholder(&self) -> Option<&str> {
        match self {
            Self::Text(_) => None,
            Self::Placeholder(name) => Some(name),
        }
    }
}

/// The line with its values; `None` where none of its placeholders has one.
fn fill(line: &[Piece], value: impl Fn(&str) -> String) -> Option<String> {
    let (mut text, mut placeholders, mut values) = (String::new(), 0, 0);
    for piece in line {
        match piece {
            Piece::Text(plain) => text.push_str(plain),
            Piece::Placeholder(name) => {
                let value = value(name);
                placeholders += 1;
                values += usize::from(!value.is_empty());
                text.push_str(&value);
            }
        }
    }
    (placeholders == 0 || values > 0).then_some(text)
}

/// What stands before and after the first line that is `line`.
fn split_at_line<'a>(text: &'a str, line: &str) -> Option<(&'a str, &'a str)> {
    let mut start = 0;
    for part in text.split_inclusive('\n') {
        if part.trim_end() == line {
            return Some((&text[..start], &text[start + part.len()..]));
        }
        start += part.len();
    }
    None
}

/// Text and `{{placeholders}}`; braces around anything that is no name are text.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        plain.push_str(before);
        let is_name =
            |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        match after.split_once("}}") {
            Some((name, after)) if is_name(name) => {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
                pieces.push(Piece::Placeholder(name.to_owned()));
                rest = after;
            }
            _ => {
                plain.push_str("{{");
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    pieces.push(Piece::Text(plain));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: Placeholders =
        Placeholders { prompt: "a test", required: &["question"], optional: &["evidence"] };
    const SMALL: &str = "About.\n# System\nAnswer.\n# User\n{{question}}\n{{evidence}}\n";

    #[test]
    fn values_are_put_in_once() {
        let prompt = Prompt::parse(SMALL, KNOWN).unwrap();
        let (system, user) = prompt.fill(|name| format!("<{name} {{{{question}}}}>"));
        assert_eq!(system, "Answer.");
        assert_eq!(user, "<question {{question}}>\n<evidence {{question}}>");
    }

    #[test]
    fn a_line_without_its_values_is_left_out() {
        let prompt =
            Prompt::parse(&SMALL.replace("{{evidence}}", "Hint: {{evidence}}\n\nGo."), KNOWN).unwrap();
        let filled = |evidence: &str| {
            prompt.fill(|name| if name == "evidence" { evidence.to_owned() } else { "Q".to_owned() }).1
        };
        assert_eq!(filled("e"), "Q\nHint: e\n\nGo.");
        assert_eq!(filled(""), "Q\n\nGo.");
    }

    #[test]
    fn prompts_that_lack_something_say_what() {
        let parse = |text: &str| Prompt::parse(text, KNOWN).unwrap_err().to_string();
        for (text, message) in [
            ("# User\nx\n# System\ny", "# System"),
            ("# System\n\n# User\nx", "# System"),
            (
                &SMALL.replace("{{question}}", ""),
                "the prompt template of a test lacks the placeholder {{question}}",
            ),
            (&SMALL.replace("{{evidence}}", "{{gold}}"), "unknown placeholder {{gold}}"),
        ] {
            assert!(parse(text).contains(message), "{} is not about {message}", parse(text));
        }
        let crlf = Prompt::parse(&SMALL.replace('\n', "\r\n"), KNOWN).unwrap();
        assert_eq!(crlf, Prompt::parse(SMALL, KNOWN).unwrap());
        assert!(Prompt::parse(&SMALL.replace("Answer", "{\"a\": {{1}} }} {{ {{}}"), KNOWN).is_ok());
        assert!(matches!(Prompt::load(Path::new("/no/such/file.md"), KNOWN), Err(PromptError::File { .. })));
    }
}
