//! What the comparison says.

use sqlgauge_report::document::{Block, Chart, Column, Document, Section, Table};
use sqlgauge_report::words::{NONE, grouped};
use sqlgauge_synth::Tier;
use sqlgauge_synth::operators::OPERATORS;

use crate::coverage::{CorpusCoverage, Coverage};
use crate::dimensions::{DIMENSIONS, Measure};
use crate::projection::Projection;

impl Coverage {
    /// The comparison for readers.
    pub(crate) fn document(&self) -> Document {
        let names: Vec<&str> = self.corpora.iter().map(|corpus| corpus.name.as_str()).collect();
        let mut document = Document::new(format!("Coverage of {}", names.join(", ")));
        document.version.clone_from(&self.tool_version);
        let widest = self.corpora.iter().map(|corpus| format!("{} in {}", corpus.name, corpus.widest_in()));
        document.lead.push(Block::lead(format!(
            "Reaches furthest, of {} dimensions: {}. Ties count for each.",
            self.dimensions.len(),
            widest.collect::<Vec<_>>().join(", ")
        )));
        document.add(self.size());
        let note = "percent of the queries by the tiers of `synth`, which rate their size; not the benchmarks' labels";
        document.add(Section::new("Difficulty", note, self.tiers()));
        document.add(self.views());
        document.add(self.reach());
        let note = "share of the queries that have one, in %";
        document.add(Section::new("Operators", note, self.operators()));
        document
    }

    /// A table with a column for each corpus, as there are fewer of them than of what is measured.
    fn by_corpus(&self, what: &str) -> Table {
        Table::new(std::iter::once(what).chain(self.corpora.iter().map(|corpus| corpus.name.as_str())))
    }

    fn size(&self) -> Section {
        let mut table = self.by_corpus("");
        let mut row = |name: &str, cell: &dyn Fn(&CorpusCoverage) -> String| {
            table.push(std::iter::once(name.to_owned()).chain(self.corpora.iter().map(cell)));
        };
        row("examples", &|corpus| grouped(corpus.sizes.examples));
        row("resolved", &|corpus| grouped(corpus.sizes.resolved));
        row("unique SQL", &|corpus| grouped(corpus.sizes.unique_sql));
        row("unique questions", &|corpus| corpus.sizes.unique_questions.map_or(NONE.to_owned(), grouped));
        row("databases", &|corpus| grouped(corpus.sizes.databases));
        row("tables", &|corpus| grouped(corpus.sizes.tables));
        row("columns", &|corpus| grouped(corpus.sizes.columns));
        row("foreign keys", &|corpus| grouped(corpus.sizes.foreign_keys));
        row("operators of 42", &|corpus| grouped(corpus.sizes.operators.len()));
        row("deepest nesting", &|corpus| corpus.sizes.deepest().map_or(NONE.to_owned(), grouped));
        row("words per question", &|corpus| decimal(corpus.sizes.question_words));
        row("characters per query", &|corpus| decimal(corpus.sizes.sql_characters));
        let mut section = Section::new("Size", "what each corpus holds", table);
        let left_out = self.corpora.iter().filter(|corpus| !corpus.sizes.not_resolved.is_empty());
        section.blocks.extend(left_out.map(|corpus| {
            let reasons = corpus.sizes.not_resolved.iter();
            let reasons: Vec<String> =
                reasons.map(|(reason, count)| format!("{} {reason}", grouped(*count))).collect();
            Block::note(format!("Not resolved in {}: {}.", corpus.name, reasons.join(", ")))
        }));
        section
    }

    fn tiers(&self) -> Table {
        let mut table = self.by_corpus("");
        for tier in Tier::ALL {
            let share = |corpus: &CorpusCoverage| {
                decimal(corpus.sizes.tier_share(tier.name()).map(|share| 100.0 * share))
            };
            table.push(std::iter::once(tier.name().replace('_', " ")).chain(self.corpora.iter().map(share)));
        }
        table
    }

    fn views(&self) -> Section {
        let chart = |projection: &Projection| Chart {
            caption: projection.panel.title().to_owned(),
            svg: self.dots(projection),
        };
        let charts = Block::Charts(self.projections.iter().map(chart).collect());
        Section::new("Where the items lie", "items that are alike lie near each other", charts)
    }

    fn reach(&self) -> Section {
        let head = [Column::from("dimension"), Column::explanation("what it counts"), Column::from("of a")];
        let corpora = self.corpora.iter().map(|corpus| Column::from(&corpus.name));
        let mut table = Table::new(head.into_iter().chain(corpora));
        for (at, dimension) in DIMENSIONS.iter().enumerate() {
            let of = if matches!(dimension.of, Measure::Schema(_)) { "database" } else { "query" };
            let names = [dimension.name, dimension.about, of].map(str::to_owned);
            let ranges = self.corpora.iter().map(|corpus| {
                corpus.reach[at].map_or(NONE.to_owned(), |reach| {
                    format!("{} to {} (mean {:.1})", plain(reach.low), plain(reach.high), reach.mean)
                })
            });
            table.push(names.into_iter().chain(ranges));
        }
        let note = "From the 1st to the 99th percentile; the picture has the distances between them.";
        let mut section = Section::new(
            "How far they reach",
            "the farther out, the wider the range",
            Block::chart(self.radar()),
        );
        section.blocks.extend([table.into(), Block::note(note)]);
        section
    }

    fn operators(&self) -> Table {
        let mut table = self.by_corpus("operator");
        for operator in OPERATORS {
            let share = |corpus: &CorpusCoverage| {
                let count = corpus.sizes.operators.get(operator.name).copied().unwrap_or(0);
                let resolved = corpus.sizes.resolved;
                decimal((resolved > 0).then(|| 100.0 * count as f64 / resolved as f64))
            };
            table
                .push(std::iter::once(operator.name.replace('_', " ")).chain(self.corpora.iter().map(share)));
        }
        table
    }
}

fn decimal(value: Option<f64>) -> String {
    value.map_or(NONE.to_owned(), |value| format!("{value:.1}"))
}

fn plain(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}
