//! A command as a person types it, in words; no shell takes part.

/// Signs that mean something to a shell, and nothing here.
const OF_SHELLS: &[char] = &['|', '&', ';', '<', '>', '$', '`'];

/// Splits a command into words as a shell does: at white space, with single and double quotes and the backslash.
///
/// # Errors
/// A sentence, where a quote is not closed, there is no word, or a sign outside of single quotes asks for a shell.
#[expect(clippy::match_same_arms, reason = "the order of the arms is a shell's")]
pub(super) fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        match (quote, sign) {
            (Some(open), _) if sign == open => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(sign),
            (Some(_), '\\') => {
                let next = signs.next().ok_or("a quote is not closed")?;
                let word = word.get_or_insert_default();
                if !matches!(next, '"' | '\\' | '$' | '`') {
                    word.push('\\');
                }
                word.push(next);
            }
            (Some(_), '$' | '`') => return Err(needs_shell(sign)),
            (Some(_), _) => word.get_or_insert_default().push(sign),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(sign);
            }
            (None, '\\') => word.get_or_insert_default().push(signs.next().ok_or("it ends in a backslash")?),
            (None, _) if sign.is_whitespace() => words.extend(word.take()),
            (None, _) if OF_SHELLS.contains(&sign) => return Err(needs_shell(sign)),
            (None, _) => word.get_or_insert_default().push(sign),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed".to_owned());
    }
    words.extend(word);
    if words.first().is_none_or(String::is_empty) { Err("it names no program".to_owned()) } else { Ok(words) }
}

fn needs_shell(sign: char) -> String {
    format!(
        "it runs without a shell, to which {sign:?} means something: write a script, or put the sign in single quotes"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        for (text, words) in [
            ("python3 ask.py", vec!["python3", "ask.py"]),
            ("  ./ask\t--model  x ", vec!["./ask", "--model", "x"]),
            ("'my app/ask' \"a b\" ''", vec!["my app/ask", "a b", ""]),
            (r#"a\ b "say \"x\" \n" 'it\n'"#, vec!["a b", r#"say "x" \n"#, r"it\n"]),
            ("--x='a b'c", vec!["--x=a bc"]),
            ("sh -c 'ask | tail -1'", vec!["sh", "-c", "ask | tail -1"]),
            ("größe ü", vec!["größe", "ü"]),
        ] {
            assert_eq!(split(text).unwrap_or_default(), words, "{text}");
        }
    }

    #[test]
    fn what_no_shell_would_run_is_refused() {
        for (text, part) in [
            ("", "no program"),
            ("  ", "no program"),
            ("'' x", "no program"),
            ("ask 'x", "not closed"),
            ("ask \"x\\", "not closed"),
            ("ask \\", "backslash"),
            ("ask | tail", "'|'"),
            ("ask > out", "'>'"),
            ("ask $MODEL", "'$'"),
            ("ask \"$MODEL\"", "'$'"),
            ("ask && x", "'&'"),
        ] {
            let error = split(text).err().unwrap_or_default();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
