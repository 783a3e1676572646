//! `sqlgauge completions` and `sqlgauge man`: made from the commands' own help.

#[cfg(feature = "pages")]
mod run;

use clap::Args;
use sqlgauge_core::OutputPath;

/// Print the completion script of a shell
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    shell: String,
}

/// Print the manual page, or write the pages of all commands into a folder
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Folder to write one page per command to, as for /usr/share/man/man1
    #[arg(long, value_name = "DIR")]
    out: Option<OutputPath>,
}
