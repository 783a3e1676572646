//! The items of a large run on their way from the log into the files beside the page.
//!
//! They are copied as text: a file holds an item's details as in the log, without those of the example.
//! `web/pieces.js` is their only reader.

use serde_json::value::{RawValue, to_raw_value};
use sqlgauge_run::{DetailOf, Entry, Prepared, RawItem};

use super::columns::{Cells, Columns, scores_of};
use super::data::Content;
use super::pieces::{Carrier, Pieces, Quoted, WHY};
use super::said::Example;
use crate::{Report, ReportError};

impl Content {
    /// What the page must know at once; the rest goes into pieces.
    pub(super) fn in_pieces(report: &Report, pieces: Pieces) -> Result<Self, ReportError> {
        let mut collector = Collector { columns: Columns::new(report), rows: Vec::new(), pieces };
        let metrics = collector.columns.metrics.clone();
        let carrier = collector.pieces.carrier;
        report.items.for_each_raw(
            |item| WrittenItem::of(item, &metrics, carrier, report),
            |entry| collector.take(entry),
        )?;
        collector.finish()
    }
}

/// What an item says, as it will be written.
struct WrittenItem {
    status: String,
    scores: Vec<Option<f64>>,
    quoted: Quoted,
    row: Row,
}

/// An example as an item has it.
struct Row {
    /// The number of details of that item.
    details: usize,
    labels: Box<RawValue>,
    texts: Box<RawValue>,
}

impl WrittenItem {
    fn of(
        item: &RawItem<'_>,
        metrics: &[&str],
        carrier: Carrier,
        report: &Report,
    ) -> Result<Self, serde_json::Error> {
        let why = report.reason(item).map(|reason| to_raw_value(&reason)).transpose()?;
        let (labels, texts) = Example::of(item).in_two()?;
        Ok(Self {
            status: item.status.as_ref().to_owned(),
            scores: scores_of(item, metrics),
            quoted: Quoted::of_object(
                carrier,
                item.details
                    .entries()
                    .filter(|(_, _, of)| *of != DetailOf::Example)
                    .map(|(name, value, _)| (name, value))
                    .chain(why.iter().map(|why| (WHY, &**why))),
            )?,
            row: Row { details: item.details.entries().count(), labels, texts },
        })
    }
}

struct Collector<'a> {
    columns: Columns<'a>,
    rows: Vec<Row>,
    pieces: Pieces,
}

impl Collector<'_> {
    fn take(
        &mut self,
        entry: Entry<'_, Prepared<Result<WrittenItem, serde_json::Error>>>,
    ) -> Result<(), ReportError> {
        match entry {
            Entry::New(Prepared { system, id, content }) => self.add(&system, &id, content?),
            Entry::Same { system, like, id } => match self.columns.repeat(system, like, id) {
                Some((system, like, row)) => {
                    self.pieces.put(system, row, Quoted::of(self.pieces.carrier, &like)?)
                }
                None => Ok(()),
            },
        }
    }

    fn add(&mut self, system: &str, id: &str, item: WrittenItem) -> Result<(), ReportError> {
        let Some(system) = self.columns.system(system) else { return Ok(()) };
        let place = self.columns.row(id);
        let row = place.unwrap_or_else(|| self.columns.new_row(id));
        match place {
            None => self.rows.push(item.row),
            // A system that failed may carry fewer details than another on the same example.
            Some(place) if item.row.details > self.rows[place].details => self.rows[place] = item.row,
            Some(_) => {}
        }
        self.columns.put(system, row, &item.status, item.scores.into_iter());
        self.pieces.put(system, row, item.quoted)
    }

    /// Writes the last pieces; the page itself keeps the statuses. Examples stand in the order in which they were
    /// met, which is the gold file's.
    fn finish(self) -> Result<Content, ReportError> {
        let (statuses, mut cells) = self.columns.finish();
        cells.iter_mut().for_each(Cells::without_texts);
        let (labels, texts): (Vec<_>, Vec<_>) =
            self.rows.into_iter().map(|row| (row.labels, row.texts)).unzip();
        let pieces = self.pieces.finish(&labels, &texts, &cells, &statuses)?;
        Ok(Content::beside(statuses, pieces))
    }
}
