//! Serving, in builds with the dashboard.

use std::path::PathBuf;

use anyhow::Result;

use super::View;
use crate::Verdict;
use crate::interrupt::{Gently, asked_to_stop};
use crate::invocation::worker;
use crate::output::{account, print};

impl View {
    pub(crate) fn run(self) -> Result<Verdict> {
        if let Some(out) = self.export {
            let runs = sqlgauge_view::export(&self.folders, &out)?;
            print(&format!(
                "{} with {}\n",
                out.join("index.html").display(),
                sqlgauge_report::words::many(runs.len(), "run")
            ))?;
            return Ok(Verdict::Done);
        }
        let options = sqlgauge_view::ViewOptions {
            labeller: self.labeller.unwrap_or_else(account),
            folders: self.folders,
            labels: self.labels.into(),
            cache: self.cache.map(Into::into).or_else(cache_folder),
            port: self.port,
            worker: Some(worker()?),
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
fn cache_folder() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || folder("HOME").map(|home| home.join(".cache"));
    Some(folder("XDG_CACHE_HOME").or_else(home).or_else(|| folder("LOCALAPPDATA"))?.join("sqlgauge"))
}
