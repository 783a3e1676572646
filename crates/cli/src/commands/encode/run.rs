//! Encoding, in builds that have embedding files.

use anyhow::{Result, bail};
use sqlgauge_base::counted;
use sqlgauge_core::{EncodeJob, EncodedWorkload, SchemaSource};
use sqlgauge_dataset::WorkloadSource;

use super::Encode;
use crate::Verdict;
use crate::interrupt::how_to_go_on;
use crate::options::{columns, with_columns};
use crate::output::print;

impl Encode {
    pub(crate) fn run(self) -> Result<Verdict> {
        how_to_go_on(match &self.job.cache {
            Some(_) => "no output was changed; the same command goes on with what is in --cache",
            None => "no output was changed; with --cache DIR the same command goes on where it was",
        });
        let job = self.job()?;
        let encoded = crate::engine::run(self.quiet, |context| job.run(context))?;
        if !self.quiet {
            let EncodedWorkload { items, reused, dimensions, encoder, form } = encoded;
            let (form, out) = (form.name(), job.out.display());
            print(&format!(
                "{} ({reused} reused) × {} by {encoder} ({form}): {out}\n",
                counted(items, "item"),
                counted(dimensions, "component")
            ))?;
        }
        Ok(Verdict::Done)
    }

    fn job(&self) -> Result<EncodeJob> {
        let columns = columns(&self.columns)?;
        let schemas = match (&self.db, &self.tables) {
            (Some(folder), _) => SchemaSource::Databases(folder.clone()),
            (None, Some(file)) => SchemaSource::Tables(file.clone()),
            (None, None) => bail!("the schemas are missing; give --db DIR or --tables FILE"),
        };
        let mut job = self.job.clone();
        job.subset.seed = self.seed;
        job.model.key = std::env::var(&self.api_key_env).ok();
        let path = self.questions.clone();
        Ok(EncodeJob {
            system: with_columns(job.system.into_iter().collect(), &columns).pop(),
            workload: WorkloadSource { path, format: self.format, columns },
            schemas,
            labels: self.correct.clone().map(|path| (path, self.correct_column.clone())),
            ..job
        })
    }
}
