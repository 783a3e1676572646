//! Prints the pages of the commands' own help.

use anyhow::{Context, Error, Result};
use clap::CommandFactory;
use clap_complete::Shell;
use tempfile::TempDir;

use super::{Completions, Man};
use crate::output::{print, write_to};
use crate::{Arguments, Verdict};

impl Completions {
    pub(crate) fn run(self) -> Result<Verdict> {
        let mut script = Vec::new();
        let shell: Shell = self.shell.parse().map_err(Error::msg)?;
        clap_complete::generate(shell, &mut Arguments::command(), "sqlgauge", &mut script);
        print(&String::from_utf8_lossy(&script))?;
        Ok(Verdict::Done)
    }
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
