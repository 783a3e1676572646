//! `sqlgauge completions` and `sqlgauge man`: made from the commands' own help.

use anyhow::{Context, Result};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use sqlgauge_core::OutputPath;
use tempfile::TempDir;

use crate::output::{print, write_to};
use crate::{Arguments, Verdict};

/// Print the completion script of a shell
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Result<Verdict> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "sqlgauge", &mut script);
        print(&String::from_utf8_lossy(&script))?;
        Ok(Verdict::Done)
    }
}

/// Print the manual page, or write the pages of all commands into a folder
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Folder to write one page per command to, as for /usr/share/man/man1
    #[arg(long, value_name = "DIR")]
    out: Option<OutputPath>,
}

impl Man {
    pub(crate) fn run(self) -> Result<Verdict> {
        let command = Arguments::command();
        if let Some(folder) = self.out {
            let failed =
                || format!("{} cannot be written; choose another folder with --out", folder.display());
            std::fs::create_dir_all(&folder).with_context(failed)?;
            let temporary = TempDir::with_prefix("sqlgauge-")?;
            clap_mangen::generate_to(command, temporary.path()).with_context(failed)?;
            for page in std::fs::read_dir(temporary.path())? {
                let page = page?;
                write_to(&folder.join(page.file_name()), &std::fs::read_to_string(page.path())?)?;
            }
            return Ok(Verdict::Done);
        }
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        print(&String::from_utf8_lossy(&page))?;
        Ok(Verdict::Done)
    }
}
