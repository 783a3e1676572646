//! `sqlgauge synth`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use sqlgauge_base::counted;
use sqlgauge_core::{OutputPath, SynthJob};
use sqlgauge_dialects::DIALECTS;
use sqlgauge_evolve::versions::Steps;
use sqlgauge_questions::QuestionStyle;
use sqlgauge_synth::sampler::{SAMPLERS, Sampler, sampler};
use sqlgauge_synth::{Asking, Caps, CorpusSummary, DataFormat, Shares, SynthOptions, Tier, TierShares};

use super::evolve::{chosen, kinds};
use super::translate::dialects;
use crate::Verdict;
use crate::llm_options::LlmOptions;
use crate::output::{note, print_table, say};

/// Make a labelled corpus from your databases
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("from").required(true).args(["db", "for_database", "tables"]))]
pub(crate) struct Synth {
    /// Folder with `DB_ID/DB_ID.sqlite`, one database, or the address of one on a server; several may be given
    #[arg(long, value_name = "DIR")]
    db: Vec<PathBuf>,
    /// One database or its address: use every column and foreign key of it
    #[arg(long = "for", value_name = "FILE", conflicts_with = "db")]
    for_database: Option<PathBuf>,
    /// Folder of CSV and Parquet files, to make databases from first
    #[arg(long, value_name = "DIR", conflicts_with_all = ["db", "for_database"])]
    tables: Option<PathBuf>,
    /// Later schemas of each database, over which pairs are made too, each one step of `evolve` after the one before
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "for_database")]
    schema_versions: u32,
    /// Kinds of change that these steps are drawn from, separated by commas, or `all`
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', default_value = "all", value_parser = kinds())]
    schema_kinds: Vec<String>,
    /// Pairs to make
    #[arg(long, alias = "pairs", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// Seed of everything: the same seed gives the same corpus
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Folder to write
    #[arg(long, value_name = "DIR")]
    out: OutputPath,
    /// Percentages of simple, moderate, complex and highly complex queries
    #[arg(long, value_name = "S,M,C,H", default_value = "30,35,25,10")]
    tiers: TierShares,
    /// How often every column and every foreign key is used [default: 3 with --for, else as it comes]
    #[arg(long, value_name = "N")]
    each: Option<u64>,
    /// Styles of the questions, separated by commas, or `all`, or `none` for queries alone
    #[arg(long, value_name = "STYLE,…", value_delimiter = ',', default_value = "all", value_parser = styles())]
    styles: Vec<String>,
    /// Other dialects that the queries are written in too, separated by commas, or `all`
    #[arg(long, value_name = "DIALECT,…", value_delimiter = ',', value_parser = dialects())]
    dialects: Vec<String>,
    /// Share of questions with a sentence about a column that the query does not use, or an adjective that says nothing ("the
    /// wonderful singers"), from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    distractors: f64,
    /// Share of queries that are asked a second time, in another style, as pairs of their own, from 0 to 1; 0.08 in the paper
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    ask_again: f64,
    /// Share of pairs with a variant beside them, which rules prove equal, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    variants: f64,
    /// Share of pairs with a near miss beside them, with a database that tells the two apart, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    near_misses: f64,
    /// Share of questions that a language model puts into other words beside their own, from 0 to 1; its own SQL for these is
    /// run, and that it returns the pair's rows is marked
    #[arg(long, value_name = "SHARE", requires = "llm_url")]
    pub polish: Option<f64>,
    /// How the next column is chosen
    #[arg(long, value_name = "NAME", default_value = SAMPLERS[0].name, value_parser = samplers())]
    sampler: &'static Sampler,
    /// The part of the databases that this process works on, as in 1/4
    #[arg(long, value_name = "I/N", default_value = "1/1", value_parser = shard)]
    shard: (u64, u64),
    /// The most that may be spent by the costs of FusionSQL's equation 16
    #[arg(long, value_name = "DOLLARS")]
    budget: Option<f64>,
    /// Queries that may be made of one database; 160 in the paper
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    most_made: Option<u64>,
    /// Queries that may be run on one database; 40 in the paper
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    most_executed: Option<u64>,
    /// Format of the pairs
    #[arg(long, alias = "format", value_name = "FORMAT", value_enum, default_value_t = PairFormat::Jsonl)]
    output_format: PairFormat,
    /// Pairs of one file
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u64).range(1..))]
    pairs_per_file: u64,
    /// Virtual-machine steps that one query may take; a server limits its time instead
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    max_steps: u64,
    /// Rows that one result may have
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    max_rows: usize,
    /// Worker threads; 0 means one per core. The result does not depend on them
    #[arg(long, short, alias = "threads", value_name = "N", default_value_t = 0)]
    jobs: usize,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    llm: LlmOptions,
}

fn styles() -> PossibleValuesParser {
    PossibleValuesParser::new(QuestionStyle::all().map(QuestionStyle::name).chain(["all", "none"]))
}

fn samplers() -> impl TypedValueParser<Value = &'static Sampler> {
    let names = SAMPLERS.iter().map(|sampler| PossibleValue::new(sampler.name).help(sampler.summary));
    PossibleValuesParser::new(names).try_map(|name| sampler(&name).ok_or("unknown sampler"))
}

/// Reads `I/N`.
fn shard(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parts
        .filter(|&(i, n)| 1 <= i && i <= n)
        .ok_or_else(|| "write I/N with I from 1 to N, as in 1/4".to_owned())
}

/// The formats of the pairs.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum PairFormat {
    /// A JSON object a line
    Jsonl,
    /// A Parquet table
    Parquet,
    /// The same rows in both
    Both,
}

impl PairFormat {
    fn formats(self) -> &'static [DataFormat] {
        match self {
            Self::Jsonl => &[DataFormat::Jsonl],
            Self::Parquet => &[DataFormat::Parquet],
            Self::Both => &DataFormat::ALL,
        }
    }
}

impl Synth {
    pub(crate) fn run(self) -> Result<Verdict> {
        let job = self.job()?;
        let started = Instant::now();
        let summary = crate::engine::run(self.quiet, |context| job.run(context))?;
        if !self.quiet {
            report(&summary, started.elapsed())?;
        }
        Ok(Verdict::Done)
    }

    fn job(&self) -> Result<SynthJob> {
        ensure!(
            self.schema_versions > 0 || self.schema_kinds == ["all"],
            "--schema-kinds is for --schema-versions; give that too"
        );
        ensure!(
            self.polish.is_some() || self.llm.llm_url.is_none(),
            "--llm-url is for --polish; give that too"
        );
        let databases = self.db.iter().chain(&self.for_database).cloned().collect();
        #[cfg(feature = "services")]
        let polish = |share| Ok::<_, anyhow::Error>((share, self.llm.settings("--polish", &self.out)?));
        Ok(SynthJob {
            tables: self.tables.clone(),
            versions: Steps {
                kinds: chosen(&self.schema_kinds),
                count: self.schema_versions,
                seed: self.seed,
            },
            #[cfg(feature = "services")]
            polish: self.polish.map(polish).transpose()?,
            options: self.options(),
            jobs: self.jobs,
            ..SynthJob::new(databases, self.count, &self.out)
        })
    }

    fn options(&self) -> SynthOptions {
        let is_asked = |name: &str| self.dialects.iter().any(|dialect| dialect == "all" || dialect == name);
        let is_chosen =
            |style: &QuestionStyle| self.styles.iter().any(|name| name == "all" || name == style.name());
        SynthOptions {
            dialects: DIALECTS.iter().copied().filter(|dialect| is_asked(dialect.name)).collect(),
            pairs: self.count,
            seed: self.seed,
            tiers: self.tiers,
            sampler: self.sampler,
            shard: self.shard,
            each: self.each.unwrap_or(if self.for_database.is_some() { 3 } else { 0 }),
            asking: Asking {
                styles: QuestionStyle::all().filter(is_chosen).collect(),
                distractors: self.distractors,
                again: self.ask_again,
            },
            polish: None,
            beside: Shares { variants: self.variants, near_misses: self.near_misses },
            caps: Caps { cost: self.budget, made: self.most_made, executed: self.most_executed },
            data: self.output_format.formats().to_vec(),
            pairs_per_file: self.pairs_per_file,
            max_vm_steps: self.max_steps,
            max_rows: self.max_rows as u64,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

fn report(summary: &CorpusSummary, elapsed: Duration) -> Result<()> {
    let pairs_of = |tier: Tier| summary.tally.tiers.get(&tier).copied().unwrap_or(0).to_string();
    let rows = Tier::ALL.into_iter().map(|tier| vec![tier.to_string(), pairs_of(tier)]);
    print_table(&["tier", "pairs"], rows.collect())?;
    let unmet: u64 = summary.unmet.iter().sum();
    if unmet > 0 {
        note(format!(
            "not made, of any database: {}; ask for fewer, or for other --tiers",
            counted(unmet, "pair")
        ));
    }
    let seconds = elapsed.as_secs_f64();
    let (pairs, databases) = (summary.tally.pairs, summary.databases);
    say(&format!(
        "{} of {} in {seconds:.1} s: {:.0} a second",
        counted(pairs, "pair"),
        counted(databases, "database"),
        pairs as f64 / seconds
    ));
    Ok(())
}
