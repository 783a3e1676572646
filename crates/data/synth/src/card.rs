//! The data card: what is in a corpus, in the figures of the paper's Tables I and II.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::corpus::{CorpusHeader, CorpusSummary};
use crate::dialects::TEXTS;
use crate::folder::Folder;
use crate::operators::OPERATORS;
use crate::related::{Contradiction, QueryRelation};
use crate::tally::CorpusTally;
use crate::tier::Tier;
use crate::wish::DEEPEST;

/// The card as Markdown.
pub(crate) fn write(folder: &Folder, summary: &CorpusSummary) -> String {
    let mut out = String::new();
    head(&mut out, folder.header(), summary);
    shares(&mut out, &summary.tally);
    questions(&mut out, &summary.tally);
    checks(&mut out, summary);
    if !summary.left_out.is_empty() {
        let _ = writeln!(out, "\nTables and columns that no query reads:\n");
        for table in &summary.left_out {
            let _ = writeln!(out, "- {}", sqlgauge_base::markdown_text(table));
        }
    }
    out
}

// Writing to a String cannot fail.
fn head(out: &mut String, header: &CorpusHeader, summary: &CorpusSummary) {
    // Hugging Face reads one format; where there are two, they have the same rows.
    let format = header.data.last().map_or("jsonl", |format| format.name());
    let pairs = summary.tally.pairs;
    let queries = pairs - summary.tally.again;
    let _ = writeln!(
        out,
        "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: data/train-*.{format}\n---\n\
         # A synthetic Text-to-SQL corpus\n\n\
         Made by sqlgauge {} with seed {}; every query was run by {} on its database.\n\n\
         | examples | unique SQL | databases |\n|---|---|---|\n| {pairs} | {queries} | {} |\n",
        header.tool_version, header.seed, header.engine, summary.databases
    );
}

/// A table of counts, with their shares of all pairs.
fn counts<'a>(
    out: &mut String,
    title: &str,
    pairs: u64,
    rows: impl IntoIterator<Item = (Cow<'a, str>, u64)>,
) {
    let _ = writeln!(out, "\n| {title} | pairs | share |\n|---|---|---|");
    for (name, count) in rows {
        let _ = writeln!(out, "| {name} | {count} | {:.1} % |", 100.0 * count as f64 / pairs.max(1) as f64);
    }
}

fn shares(out: &mut String, tally: &CorpusTally) {
    let tiers = Tier::ALL.map(|tier| (tier.to_string().into(), tally.tiers.get(&tier).copied().unwrap_or(0)));
    counts(out, "tier", tally.pairs, tiers);
    let depths =
        (1..=DEEPEST).map(|depth| (depth.to_string().into(), tally.depths.get(&depth).copied().unwrap_or(0)));
    counts(out, "nesting depth", tally.pairs, depths);
    let operators = OPERATORS
        .iter()
        .map(|operator| (operator.name.into(), tally.operators.get(operator.name).copied().unwrap_or(0)));
    counts(out, "operator", tally.pairs, operators);
}

fn questions(out: &mut String, tally: &CorpusTally) {
    if !tally.styles.is_empty() {
        let styles = tally.styles.iter().map(|(style, &count)| (style.as_str().into(), count));
        counts(out, "style of the question", tally.pairs, styles);
    }
    if !tally.without_question.is_empty() {
        let _ = writeln!(out, "\n| no question because | pairs |\n|---|---|");
        for (reason, count) in &tally.without_question {
            let _ = writeln!(out, "| {} | {count} |", sqlgauge_base::markdown_text(reason));
        }
    }
    let _ = writeln!(
        out,
        "\nQuestions with several readings, all of them given: {}. For {} of these, every further reading has a database that \
         separates it from the query. Questions with an irrelevant sentence or adjective, marked: {}.",
        tally.ambiguous, tally.separated, tally.distracted
    );
    if !tally.polished.is_empty() {
        let _ = writeln!(
            out,
            "\nQuestions that a language model reworded (`polished`); it agrees if its SQL for its words returns the \
             pair's rows:\n\n| outcome | questions |\n|---|---|"
        );
        for (outcome, count) in &tally.polished {
            let _ = writeln!(out, "| {outcome} | {count} |");
        }
    }
}

fn checks(out: &mut String, summary: &CorpusSummary) {
    let tally = &summary.tally;
    let _ = writeln!(out, "\n| dropped because | queries |\n|---|---|");
    for (reason, count) in &tally.dropped {
        let name = serde_json::to_value(reason).ok().and_then(|name| Some(name.as_str()?.to_owned()));
        let _ = writeln!(out, "| {} | {count} |", name.unwrap_or_default());
    }
    if !tally.dialects.is_empty() {
        let _ = writeln!(out, "\n| dialect | texts | refused | what it cannot say |\n|---|---|---|---|");
    }
    for (dialect, counts) in &tally.dialects {
        let texts = counts.get(TEXTS).copied().unwrap_or(0);
        let refused: u64 = counts.values().sum::<u64>() - texts;
        let constructs = counts.iter().filter(|(name, _)| *name != TEXTS);
        let constructs: Vec<String> = constructs.map(|(name, count)| format!("{name} {count}")).collect();
        let _ = writeln!(out, "| {dialect} | {texts} | {refused} | {} |", constructs.join(", "));
    }
    let related = |relation| tally.related.get(&relation).copied().unwrap_or(0);
    let _ = writeln!(
        out,
        "\nIn addition to the pairs: {} variants, each equal by proved rules, and {} near misses, each with a database \
         that separates it. Dropped: {} variants that did not run within the limits, {} changes without such a database.",
        related(QueryRelation::Variant),
        related(QueryRelation::NearMiss),
        tally.unfinished_variants,
        tally.without_witness
    );
    if !tally.contradictions.is_empty() {
        let _ =
            writeln!(out, "\nProved equal by rules, but with different rows (a rule or SQLite is wrong):\n");
        for Contradiction { pair, sql, variant, rules } in &tally.contradictions {
            let text = format!("{pair}, {}: {sql} became {variant}", rules.join(", "));
            let _ = writeln!(out, "- {}", sqlgauge_base::markdown_text(&text));
        }
    }
    let unmet: u64 = summary.unmet.iter().sum();
    let _ = writeln!(
        out,
        "\nQueries made: {}; printed and resolved again: {}; executed: {}; by the costs of FusionSQL's equation 16: {:.2}.\n\
         Pairs asked for that no database could give: {unmet}.",
        tally.spending.queries,
        tally.spending.checked,
        tally.spending.executed,
        tally.spending.cost()
    );
}
