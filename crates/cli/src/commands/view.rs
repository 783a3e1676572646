//! `sqlgauge view`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use sqlgauge_core::OutputPath;

use crate::Verdict;

/// Open a dashboard over runs on this machine, or write it as a static site
#[derive(Debug, Args)]
pub struct View {
    /// Folders below which runs lie
    #[arg(value_name = "DIR", default_value = ".")]
    folders: Vec<PathBuf>,
    /// Port on this machine; any free one without it
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Folder of the labels and decisions that you give, for `sqlgauge import --correct` and `sqlgauge audit --allow`
    #[arg(long, value_name = "DIR", default_value = "sqlgauge-labels")]
    labels: OutputPath,
    /// Folder that keeps the pages of large runs for the next start [default: sqlgauge in your cache folder]
    #[arg(long, value_name = "DIR")]
    cache: Option<OutputPath>,
    /// Your name in the labels; that of your account without it
    #[arg(long, value_name = "NAME")]
    labeller: Option<String>,
    /// Write the list of runs and their reports as files that need no server, and end
    #[arg(long, value_name = "DIR", conflicts_with = "port")]
    export: Option<OutputPath>,
}

impl View {
    #[cfg(not(feature = "view"))]
    #[expect(clippy::unused_self, reason = "the options stand in the help")]
    pub fn run(self) -> Result<Verdict> {
        Err(sqlgauge_base::NotBuiltIn { what: "sqlgauge view", feature: "view" }.into())
    }

    #[cfg(feature = "view")]
    pub fn run(self) -> Result<Verdict> {
        use crate::interrupt::{Gently, asked_to_stop};
        use crate::output::print;

        if let Some(out) = self.export {
            let runs = sqlgauge_view::export(&self.folders, &out)?;
            print(&format!(
                "{} with {}\n",
                out.join("index.html").display(),
                sqlgauge_report::words::many(runs.len(), "run")
            ))?;
            return Ok(Verdict::Done);
        }
        let account = || ["USER", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
        let options = sqlgauge_view::ViewOptions {
            labeller: self.labeller.or_else(account).unwrap_or_default(),
            folders: self.folders,
            labels: self.labels.into(),
            cache: self.cache.map(Into::into).or_else(cache_folder),
            port: self.port,
        };
        sqlgauge_view::find_runs(&options.folders)?;
        // Ctrl-C is how it ends; what is being written is finished.
        let gently = Gently::new();
        let stopped = async {
            while !asked_to_stop().load(std::sync::atomic::Ordering::SeqCst) {
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        };
        sqlgauge_view::serve(
            options,
            |address| drop(print(&format!("Open {address}\nCtrl-C ends it.\n"))),
            stopped,
        )?;
        drop(gently);
        Ok(Verdict::Done)
    }
}

/// `sqlgauge` in the user's folder of caches.
#[cfg(feature = "view")]
fn cache_folder() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || folder("HOME").map(|home| home.join(".cache"));
    Some(folder("XDG_CACHE_HOME").or_else(home).or_else(|| folder("LOCALAPPDATA"))?.join("sqlgauge"))
}
