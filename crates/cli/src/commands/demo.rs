//! `sqlgauge demo`: a tour of the product on the bundled sample benchmark.

use std::fmt::Write as _;

use anyhow::Result;
use clap::Args;
use sqlgauge_base::{printable, printable_lines};
use sqlgauge_core::{DemoJob, EstimateAndTruth, MatchedAnswer, OutputPath, RefutedAnswer, ShownPair, Tour};
use sqlgauge_report::words::{percent, points};
use sqlgauge_report::{Painter, Report, ShowOptions};

use crate::Verdict;
use crate::output::{colour, command_line, print, print_painted, text_tables, width};

/// Metrics of the terminal's table; the report has all.
const SHOWN: usize = 4;

/// Tour the product on a bundled sample benchmark
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Folder to write: the sample goes to its `benchmark`, the scores to its `run`; `index.html` links to everything
    #[arg(long, value_name = "DIR", default_value = "sqlgauge-demo")]
    out: OutputPath,
}

impl Demo {
    pub(crate) fn run(self) -> Result<Verdict> {
        let job = DemoJob { out: self.out.into(), command: command_line() };
        let tour = crate::engine::run(true, |context| job.run(context))?;
        print(&format!("The sample benchmark is in {}\n", job.out.join("benchmark").display()))?;
        title("1  How good are they?", "percent with 95 % intervals; n: questions")?;
        leaderboard(&tour.report)?;
        tour.refuted.as_ref().map_or(Ok(()), refuted)?;
        tour.matched.as_ref().map_or(Ok(()), matched)?;
        estimates(&tour.estimates)?;
        evolved(&tour)?;
        print(&format!(
            "\nReport: {}\nEverything: {}\n",
            job.out.join("run/report.html").display(),
            tour.page.display()
        ))?;
        Ok(Verdict::Done)
    }
}

fn title(text: &str, note: &str) -> Result<()> {
    let painter = Painter { colour: colour() };
    print_painted(&format!("\n{}  {}\n", painter.bold(text), painter.dim(note)))
}

fn leaderboard(report: &Report) -> Result<()> {
    let mut table = report.clone();
    table.summary.metrics.truncate(SHOWN);
    print_painted(&sqlgauge_report::scores(&table).text(text_tables()))
}

fn queries(pair: &ShownPair) -> String {
    let ShownPair { system, id, question, .. } = pair;
    format!("{} ({}, {})\n", printable(question), printable(system), printable(id))
}

fn refuted(answer: &RefutedAnswer) -> Result<()> {
    let RefutedAnswer { pair, verdict } = answer;
    title("2  Why is this answer wrong?", "the smallest database on which the results differ")?;
    let options = ShowOptions { width: width(), colour: colour(), ..ShowOptions::default() };
    print_painted(&format!(
        "{}{}",
        queries(pair),
        sqlgauge_report::verdict(&pair.gold, &pair.prediction, verdict, options)
    ))
}

fn matched(answer: &MatchedAnswer) -> Result<()> {
    let MatchedAnswer { pair, comparison } = answer;
    title(
        "3  Why is this answer right?",
        "exact set match calls it wrong; rules turn both queries into one",
    )?;
    let mut text = queries(pair);
    for (side, sql, form) in
        [("gold", &pair.gold, &comparison.left), ("prediction", &pair.prediction, &comparison.right)]
    {
        let _infallible = writeln!(text, "{side:<10}  {}", printable(sql));
        for step in form.iter().flat_map(|form| &form.applications) {
            let _infallible = writeln!(text, "rule {}", printable_lines(&step.to_string()));
        }
    }
    if let Some(form) = &comparison.left {
        let _infallible = writeln!(text, "both        {}", printable(&form.sql));
    }
    for assumption in &comparison.assumes {
        let _infallible = writeln!(text, "assumes: {assumption}");
    }
    print(&text)
}

fn estimates(estimates: &[EstimateAndTruth]) -> Result<()> {
    title(
        "4  How good without labels?",
        "learned on bike_rental; truth: scored with the golds of town_library afterwards",
    )?;
    let mut text = String::new();
    for EstimateAndTruth { estimate, truth } in estimates {
        let _infallible = writeln!(
            text,
            "{:<10}  estimate {} [{}, {}] n={}   truth {}",
            printable(&estimate.system),
            percent(estimate.accuracy),
            percent(estimate.interval.low),
            percent(estimate.interval.high),
            estimate.questions(),
            percent(*truth)
        );
    }
    print(&text)
}

fn evolved(tour: &Tour) -> Result<()> {
    title(
        "5  What does a schema change cost?",
        "the old answers after columns were renamed; the systems were not asked again",
    )?;
    let mut text = String::new();
    for row in &tour.evolved {
        let _infallible = writeln!(
            text,
            "{:<10}  {} before   {} after   {} points",
            printable(&row.system),
            percent(row.before),
            percent(row.after),
            points(Some(row.after - row.before))
        );
    }
    print(&text)
}
