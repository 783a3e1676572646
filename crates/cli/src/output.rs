//! The one door for what is printed.
//!
//! Names, queries and messages come from files that others wrote. Whatever goes to standard output or standard error
//! goes through here, where what a terminal obeys becomes visible text; the only sequences that get through are colours,
//! and those only for texts that were painted by us ([`Style::Painted`]), whose parts are cleaned before they are painted.
//! In JSON such characters become escapes, which mean the same. A URL in an error keeps no query: it may hold a key.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use sqlgauge_base::file::{remedy, write_atomically};
use sqlgauge_base::{printable_json, printable_lines, without_secrets};
use sqlgauge_report::document::{Cell, Document, Table};
use sqlgauge_report::formats::TextTables;

use crate::invocation::arguments;

/// Columns of the terminal; 120 where there is none.
pub(crate) fn width() -> u16 {
    let of_variable = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let of_terminal = || terminal_size::terminal_size().map(|(terminal_size::Width(width), _)| width);
    of_variable.filter(|width| *width > 0).or_else(of_terminal).map_or(120, |width| width.max(40))
}

/// Whether standard output is a terminal that wants colours.
pub(crate) fn colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Text without colours.
    Plain,
    /// Text that was painted by us, where colours are wanted.
    Painted,
    /// Bytes that a program asked for as they are; a terminal gets them as [`Style::Plain`].
    Raw,
}

/// Writes a file whole or not at all, or to standard output for `-`.
pub(crate) fn write_to(path: &Path, text: &str) -> Result<()> {
    if path.as_os_str() == "-" {
        return print(text);
    }
    write_atomically(path, |out| out.write_all(text.as_bytes()))
        .map_err(|error: io::Error| {
            let remedy = remedy(&error);
            anyhow::Error::from(error).context(remedy)
        })
        .with_context(|| format!("{} cannot be written", path.display()))
}

/// Writes to standard output piece by piece. A reader that went away (`sqlgauge … | head`) is no fault: nothing more is
/// written then.
pub(crate) fn print_with<E>(style: Style, write: impl FnOnce(&mut dyn Write) -> Result<(), E>) -> Result<()>
where
    anyhow::Error: From<E>,
{
    let out = io::BufWriter::new(io::stdout().lock());
    let written = if style == Style::Raw && !io::stdout().is_terminal() {
        let mut out = out;
        write(&mut out).map_err(anyhow::Error::from).and_then(|()| Ok(out.flush()?))
    } else {
        let mut door = Door { out, painted: style == Style::Painted && colour(), buffer: Vec::new() };
        write(&mut door).map_err(anyhow::Error::from).and_then(|()| Ok(door.finish()?))
    };
    match written {
        Err(error) if is_closed_pipe(&error) => Ok(()),
        written => written,
    }
}

/// Writes text to standard output.
pub(crate) fn print(text: &str) -> Result<()> {
    print_with(Style::Plain, |out| out.write_all(text.as_bytes()))
}

/// How tables are drawn on this terminal.
pub(crate) fn text_tables() -> TextTables {
    TextTables { width: width(), colour: colour() }
}

/// Writes a report to standard output.
pub(crate) fn print_document(document: &Document) -> Result<()> {
    print_painted(&document.text(text_tables()))
}

/// Writes a table and an empty line to standard output.
pub(crate) fn print_table(header: &[&str], rows: Vec<Vec<String>>) -> Result<()> {
    let rows = rows.into_iter().map(|row| row.into_iter().map(Cell::new).collect());
    print_painted(&Table::of(header.iter().copied(), rows).text(text_tables()))
}

/// Writes text that was painted by us to standard output.
pub(crate) fn print_painted(text: &str) -> Result<()> {
    print_with(Style::Painted, |out| out.write_all(text.as_bytes()))
}

/// Writes a value to standard output as indented JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    print(&format!("{}\n", printable_json(&text)))
}

/// Writes a line to standard error. Nothing can be done if that fails.
pub(crate) fn say(text: &str) {
    let text = without_secrets(text);
    let _ = writeln!(io::stderr().lock(), "{}", printable_lines(&text));
}

/// Writes a note to standard error.
pub(crate) fn note(text: impl std::fmt::Display) {
    say(&format!("note: {text}"));
}

/// What the argument parser has to say: help and version, or what is wrong with the arguments, which it quotes.
pub(crate) fn usage(message: &clap::Error) {
    let (is_error, rendered) = (message.use_stderr(), message.render());
    let plain = rendered.to_string();
    if is_error {
        return say(plain.trim_end());
    }
    // Help quotes nothing. It is asked for, and nothing can be done if it cannot be printed.
    let _ = if colour() { print_painted(&rendered.ansi().to_string()) } else { print(&plain) };
}

/// The command line, fit for being kept: without keys in URLs, and with U+FFFD for what is no text.
pub(crate) fn command_line() -> Vec<String> {
    arguments().iter().map(|word| without_secrets(&word.to_string_lossy()).into_owned()).collect()
}

/// The name of the user's account; `somebody` where the environment has none.
pub(crate) fn account() -> String {
    let mut names = ["USER", "USERNAME"].iter().filter_map(|name| std::env::var(name).ok());
    names.find(|name| !name.is_empty()).unwrap_or_else(|| "somebody".to_owned())
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let error = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        // Some writers keep the error's kind inside of one of their own.
        error == Some(io::ErrorKind::BrokenPipe)
            || cause
                .downcast_ref::<serde_json::Error>()
                .is_some_and(|error| error.io_error_kind() == Some(io::ErrorKind::BrokenPipe))
    })
}

/// Lets whole lines through, cleaned.
struct Door<W: Write> {
    out: W,
    painted: bool,
    /// The beginning of a line.
    buffer: Vec<u8>,
}

impl<W: Write> Door<W> {
    fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(bytes);
        if !self.painted {
            return self.out.write_all(printable_lines(&text).as_bytes());
        }
        let mut rest: &str = &text;
        while let Some(at) = rest.find('\u{1b}') {
            let (before, sequence) = rest.split_at(at);
            let length = colour_length(sequence).unwrap_or(0);
            self.out.write_all(printable_lines(before).as_bytes())?;
            self.out.write_all(&sequence.as_bytes()[..length])?;
            // An escape that begins no colour is shown.
            let piece = if length == 0 { &sequence[..1] } else { "" };
            self.out.write_all(printable_lines(piece).as_bytes())?;
            rest = &sequence[length.max(1)..];
        }
        self.out.write_all(printable_lines(rest).as_bytes())
    }

    fn finish(mut self) -> io::Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        self.pass(&buffer)?;
        self.out.flush()
    }
}

impl<W: Write> Write for Door<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            self.buffer.extend_from_slice(bytes);
            return Ok(bytes.len());
        };
        let (lines, rest) = bytes.split_at(end + 1);
        if self.buffer.is_empty() {
            self.pass(lines)?;
        } else {
            let mut joined = std::mem::take(&mut self.buffer);
            joined.extend_from_slice(lines);
            self.pass(&joined)?;
        }
        self.buffer.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The length of the colour (`ESC [ … m`) that the text begins with.
fn colour_length(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters[end..].starts_with('m').then_some(end + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(painted: bool, pieces: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut door = Door { out: &mut out, painted, buffer: Vec::new() };
        pieces.iter().for_each(|piece| door.write_all(piece).unwrap());
        door.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_colours_of_painted_texts_get_through() {
        let text = "\u{1b}[1mbold\u{1b}[0m \u{1b}]0;title\u{7} \u{1b}[2J\u{1b}\n\u{9b}1m \u{202e}x";
        let printable = "bold␛[0m ␛]0;title␇ ␛[2J␛\n�1m �x";
        assert_eq!(through(false, &[text.as_bytes()]), format!("␛[1m{printable}"));
        let printable = printable.replacen("␛[0m", "\u{1b}[0m", 1);
        assert_eq!(through(true, &[text.as_bytes()]), format!("\u{1b}[1m{printable}"));
    }

    #[test]
    fn characters_and_colours_may_come_in_pieces() {
        let text = "é\u{1b}[31mü\nß\u{1b}[0m".as_bytes();
        for at in 0..text.len() {
            let (first, second) = text.split_at(at);
            assert_eq!(through(true, &[first, second]).as_bytes(), text);
        }
    }
}
