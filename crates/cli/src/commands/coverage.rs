//! `sqlgauge coverage`.

use anyhow::Result;
use clap::Args;
use sqlgauge_core::{CorpusFiles, CoverageJob, OutputPath};
use sqlgauge_coverage::Coverage;
use sqlgauge_report::document::{Document, Section, Table};
use sqlgauge_report::words::NONE;

use crate::Verdict;
use crate::output::print_document;

/// Compare what corpora cover
#[derive(Debug, Args)]
pub(crate) struct CoverageCommand {
    /// Folders of corpora (of `synth`, or as Spider and BIRD are laid out), or files of examples with their databases, the address
    /// of a server, or tables.json: FILE@SCHEMAS
    #[arg(value_name = "[NAME=]FOLDER|FILE@SCHEMAS", required = true)]
    corpora: Vec<CorpusFiles>,
    /// Folder to write: coverage.json, coverage.html, and the pictures as SVG
    #[arg(long, value_name = "DIR")]
    out: OutputPath,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl CoverageCommand {
    pub(crate) fn run(self) -> Result<Verdict> {
        let job = CoverageJob { corpora: self.corpora, out: self.out.into() };
        let coverage = crate::engine::run(self.quiet, |context| job.run(context))?;
        if !self.quiet {
            print_coverage(&coverage)?;
        }
        Ok(Verdict::Done)
    }
}

fn print_coverage(coverage: &Coverage) -> Result<()> {
    let header = [
        "corpus",
        "examples",
        "resolved",
        "unique SQL",
        "databases",
        "operators of 42",
        "deepest nesting",
        "widest in",
    ];
    let mut table = Table::new(header);
    for corpus in &coverage.corpora {
        table.push(vec![
            corpus.name.clone(),
            corpus.sizes.examples.to_string(),
            corpus.sizes.resolved.to_string(),
            corpus.sizes.unique_sql.to_string(),
            corpus.sizes.databases.to_string(),
            corpus.sizes.operators.len().to_string(),
            corpus.sizes.deepest().map_or(NONE.to_owned(), |depth| depth.to_string()),
            format!("{} of {}", corpus.widest_in(), coverage.dimensions.len()),
        ]);
    }
    let note = "resolved: queries whose names all stand in the schema; widest in: measures in which it reaches furthest, ties count for each";
    print_document(&Document::of(Section::new("Coverage", note, table)))
}
