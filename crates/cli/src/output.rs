//! What a person sees: width, colours, errors.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result};

/// Columns of the terminal; 120 where there is none.
pub fn width() -> u16 {
    terminal_size::terminal_size().map_or(120, |(terminal_size::Width(width), _)| width.max(40))
}

/// Whether standard output is a terminal that wants colours.
pub fn colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Writes to a file, or to standard output for `-`.
pub fn write_to(path: &Path, bytes: &[u8]) -> Result<()> {
    if path.as_os_str() == "-" {
        return print(bytes);
    }
    std::fs::write(path, bytes)
        .with_context(|| format!("{} cannot be written; choose another path with --out", path.display()))
}

/// Writes to standard output piece by piece.
pub fn print_with<E>(write: impl FnOnce(&mut dyn Write) -> Result<(), E>) -> Result<()>
where
    anyhow::Error: From<E>,
{
    let mut out = io::BufWriter::new(io::stdout().lock());
    write(&mut out)?;
    out.flush()?;
    Ok(())
}

/// Writes to standard output.
pub fn print(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(())
}

/// The error with its causes on one line.
pub fn one_line(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        // A cause that its effect already quotes is not said twice.
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Whether the reader of standard output went away (`sqlgauge … | head`), which is no fault.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
