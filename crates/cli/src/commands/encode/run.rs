//! Encoding, in builds that have embedding files.

use anyhow::{Result, bail};
use sqlgauge_base::counted;
use sqlgauge_core::{EncodeJob, EncodedWorkload, EncoderModel, SchemaSource};
use sqlgauge_dataset::WorkloadSource;

use super::Encode;
use crate::Verdict;
use crate::interrupt::how_to_go_on;
use crate::options::{columns, systems};
use crate::output::print;

impl Encode {
    pub(crate) fn run(self) -> Result<Verdict> {
        how_to_go_on(match &self.cache {
            Some(_) => "no output was changed; the same command goes on with what is in --cache",
            None => "no output was changed; with --cache DIR the same command goes on where it was",
        });
        let job = self.job()?;
        let encoded = crate::engine::run(self.quiet, |context| job.run(context))?;
        if !self.quiet {
            let EncodedWorkload { items, reused, dimensions, encoder, form } = encoded;
            let (form, out) = (form.name(), self.out.display());
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
        Ok(EncodeJob {
            workload: WorkloadSource {
                path: self.questions.clone(),
                format: self.formats.format,
                columns: columns.clone(),
            },
            system: systems(self.prediction.clone().into_iter().collect(), &columns).pop(),
            prediction_format: self.formats.pred_format,
            extract: self.extract_sql,
            subset: self.subset.subset()?,
            encoder: self.encoder.to_string(),
            form: self.form,
            labels: self.correct.clone().map(|path| (path, self.correct_column.clone())),
            like: self.like.clone(),
            batch: self.batch as usize,
            cache: self.cache.clone().map(Into::into),
            model: EncoderModel {
                device: self.model.device.clone(),
                precision: self.model.precision.clone(),
                max_tokens: self.model.max_tokens,
                normalise: self.model.normalise,
                name: self.model.model.clone(),
                key: std::env::var(&self.model.api_key_env).ok(),
            },
            ..EncodeJob::new(&self.questions, schemas, &self.out)
        })
    }
}
