//! `sqlgauge audit`.

use anyhow::{Result, anyhow, bail};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use sqlgauge_audit::formats::{AuditFormat as _, Terminal};
use sqlgauge_audit::{BenchmarkAudit, RuleSelection, find, formats};
use sqlgauge_core::{AuditJob, OutputPath};
use sqlgauge_dataset::{ColumnRole, FileFormat};

use crate::Verdict;
use crate::options::{column_help, columns, with_columns};
use crate::output::{Style, note, print_with, text_tables, write_to};

/// Find golds that may be wrong: rules over query, schema, rows and question
#[derive(Args)]
pub(crate) struct Audit {
    #[command(flatten)]
    job: AuditJob,
    /// Rules that run, separated by commas: names, `default`, `all`; `-NAME` takes one away
    #[arg(
        long,
        value_name = "RULE,…",
        value_delimiter = ',',
        default_value = "default",
        allow_hyphen_values = true
    )]
    rules: Vec<String>,
    /// Do not verify proposed rewrites
    #[arg(long)]
    no_verify: bool,
    /// Exit with code 1 if one of these rules has a finding that is not allowed; `any` is each rule
    #[arg(long, value_name = "RULE,…", value_delimiter = ',')]
    fail_on: Vec<String>,
    /// How to print what was found [default: text]
    #[arg(long, value_name = "FORMAT", value_parser = output_formats())]
    output_format: Option<String>,
    /// File to write instead of printing
    #[arg(long, value_name = "FILE")]
    out: Option<OutputPath>,
    /// Seed of the draw of --limit
    #[arg(long, value_name = "N", default_value_t = 0, requires = "limit", help_heading = "Subset")]
    seed: u64,
    /// Format of the file with the golds, where detection is wrong
    #[arg(long, alias = "gold-format", value_name = "FORMAT", value_parser = gold_formats())]
    format: Option<String>,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(ColumnRole::all()))]
    columns: Vec<String>,
    /// Do not show how far it is
    #[arg(long, short)]
    quiet: bool,
}

fn output_formats() -> PossibleValuesParser {
    PossibleValuesParser::new(formats::all().iter().map(|format| format.name()))
}

/// The formats of files, and hidden behind them those of output, which `--format` meant once.
fn gold_formats() -> PossibleValuesParser {
    let golds = FileFormat::all().map(|format| PossibleValue::new(format.name()).help(format.summary()));
    let output = formats::all().iter().map(|format| format.name());
    let output = output.filter(|name| name.parse::<FileFormat>().is_err());
    PossibleValuesParser::new(golds.chain(output.map(|name| PossibleValue::new(name).hide(true))))
}

impl Audit {
    /// The format of the golds, where it is given, and that of the output.
    fn formats(&self) -> (Option<FileFormat>, &str) {
        let Some(name) = self.format.as_deref() else {
            return (None, self.output_format.as_deref().unwrap_or("text"));
        };
        let Ok(format) = name.parse() else {
            note(format!("--format {name} is the old name of --output-format {name}"));
            return (None, self.output_format.as_deref().unwrap_or(name));
        };
        if self.output_format.is_none() && formats::find(name).is_some() {
            note(format!("--format {name} is the format of the golds; --output-format {name} prints it"));
        }
        (Some(format), self.output_format.as_deref().unwrap_or("text"))
    }

    pub(crate) fn run(self) -> Result<Verdict> {
        let columns = columns(&self.columns)?;
        if let Some(name) = self.fail_on.iter().find(|name| *name != "any" && find(name).is_none()) {
            bail!("--fail-on: unknown audit rule {name:?}; `sqlgauge rules list --audit` lists them");
        }
        let (gold_format, output) = self.formats();
        let shape = formats::find(output).ok_or_else(|| {
            let names: Vec<&str> = formats::all().iter().map(|format| format.name()).collect();
            anyhow!("--output-format {output} is unknown; give one of {}", names.join(", "))
        })?;
        let mut job = self.job;
        job.subset.seed = self.seed;
        let job = AuditJob {
            systems: with_columns(job.systems, &columns),
            columns,
            format: gold_format,
            rules: RuleSelection::of(self.rules.iter().map(String::as_str))?,
            verify: job.verify.filter(|_| !self.no_verify),
            ..job
        };
        let audit = crate::engine::run(self.quiet, |context| job.run(context))?;
        match &self.out {
            Some(path) => {
                let mut bytes = Vec::new();
                shape.render(&audit, &mut bytes)?;
                write_to(path, &String::from_utf8(bytes)?)?;
            }
            None if shape.name() == "text" => {
                print_with(Style::Painted, |out| Terminal(text_tables()).render(&audit, out))?;
            }
            None => print_with(Style::Plain, |out| shape.render(&audit, out))?,
        }
        Ok(if fails(&audit, &self.fail_on) { Verdict::GateFailed } else { Verdict::Done })
    }
}

fn fails(audit: &BenchmarkAudit, rules: &[String]) -> bool {
    let is_named = |rule: &str| rules.iter().any(|name| name == "any" || name == rule);
    audit.items.iter().flat_map(|item| &item.audit.findings).any(|finding| is_named(finding.rule))
}
