//! One item as a reader sees it: the texts, labels, reasons and results that its details hold.
//!
//! [`Item::details`] is an open map. The keys that reports know are read here and nowhere else; every other
//! key is shown as it is.

use serde_json::{Map, Value};
use sqlgauge_run::{DEPENDS_ON, Item, VERDICT};

/// The keys of [`Item::details`] that reports know by name.
pub(crate) const KNOWN: [&str; 14] = [
    "question",
    "evidence",
    "gold",
    "golds",
    "prediction",
    "hardness",
    "difficulty",
    "features",
    "turn",
    "error",
    "gold_error",
    "gold_result",
    "prediction_result",
    "metrics",
];

/// A reader's view of one item.
#[derive(Debug, Clone, Copy)]
pub struct ItemView<'a> {
    /// The item itself.
    pub item: &'a Item,
}

/// A result table that an item's details carry.
#[derive(Debug, Clone, Copy)]
pub struct ResultView<'a> {
    /// Column names.
    pub columns: &'a [Value],
    /// Rows, each an array of values.
    pub rows: &'a [Value],
    /// Number of rows of the whole result, of which `rows` may be the beginning.
    pub total_rows: usize,
    /// Whether the query was stopped, so that it has at least that many rows.
    pub is_beginning: bool,
}

/// A counterexample that an item's details carry.
#[derive(Debug, Clone, Copy)]
pub struct CounterexampleView<'a> {
    /// The SQL script that makes the database.
    pub script: &'a str,
    /// What the gold returns on it.
    pub gold: Option<ResultView<'a>>,
    /// What the prediction returns on it.
    pub prediction: Option<ResultView<'a>>,
    /// Which clause makes the difference.
    pub explanation: Option<&'a str>,
}

impl<'a> ItemView<'a> {
    /// The view of that item.
    pub fn new(item: &'a Item) -> Self {
        Self { item }
    }

    /// The question in words.
    pub fn question(self) -> Option<&'a str> {
        self.text("question")
    }

    /// External knowledge given with the question (BIRD).
    pub fn evidence(self) -> Option<&'a str> {
        self.text("evidence").filter(|text| !text.is_empty())
    }

    /// The accepted gold queries.
    pub fn golds(self) -> Vec<&'a str> {
        let found = self.item.details.get("golds").or_else(|| self.item.details.get("gold"));
        match found {
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// The prediction as the system gave it.
    pub fn prediction(self) -> Option<&'a str> {
        self.text("prediction")
    }

    /// Spider hardness: easy, medium, hard, extra.
    pub fn hardness(self) -> Option<&'a str> {
        self.text("hardness")
    }

    /// The benchmark's own difficulty label.
    pub fn difficulty(self) -> Option<&'a str> {
        self.text("difficulty")
    }

    /// The SQL features of the gold query.
    pub fn features(self) -> Vec<&'a str> {
        let found = self.item.details.get("features");
        let names = found.and_then(Value::as_array).into_iter().flatten();
        names.filter_map(Value::as_str).collect()
    }

    /// What the result of gold or prediction depends on besides texts and database: `time`, `chance`.
    pub fn depends_on(self) -> Vec<&'a str> {
        let found = self.item.details.get(DEPENDS_ON).and_then(Value::as_array);
        found.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// What the engine said about a prediction that failed.
    pub fn error(self) -> Option<&'a str> {
        self.text("error")
    }

    /// What the engine said about a gold query that failed.
    pub fn gold_error(self) -> Option<&'a str> {
        self.text("gold_error")
    }

    /// What a metric says about its score.
    pub fn metric_detail(self, metric: &str) -> Option<&'a Value> {
        self.item.details.get("metrics")?.get(metric)
    }

    /// Why a metric gave its score, as one sentence; `None` where nobody said why.
    pub fn reason(self, metric: &str) -> Option<String> {
        let said = match self.metric_detail(metric) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Object(map)) => map.get("reason").and_then(Value::as_str).map(str::to_owned),
            _ => None,
        };
        said.or_else(|| {
            let score = self.score(metric);
            // A metric may run what does not run as it is written, or run nothing.
            let is_own = score.is_some_and(|score| score > 0.0)
                || (self.item.status == "gold_failed" && score.is_some());
            if is_own { None } else { self.reason_of_status() }
        })
    }

    fn reason_of_status(self) -> Option<String> {
        let because = |message: Option<&str>| message.map(|text| format!(": {text}")).unwrap_or_default();
        match self.item.status.as_str() {
            "ok" => None,
            "missing" => Some("the system gave no prediction".to_owned()),
            "gold_failed" => {
                Some(format!("the gold query itself does not run{}", because(self.gold_error())))
            }
            status => {
                let status = status.replace('_', " ");
                Some(format!("the prediction does not run ({status}){}", because(self.error())))
            }
        }
    }

    /// The gold query's result, if the details carry it.
    pub fn gold_result(self) -> Option<ResultView<'a>> {
        self.item.details.get("gold_result").and_then(ResultView::read)
    }

    /// The prediction's result, if the details carry it.
    pub fn prediction_result(self) -> Option<ResultView<'a>> {
        self.item.details.get("prediction_result").and_then(ResultView::read)
    }

    /// The score of that metric.
    pub fn score(self, metric: &str) -> Option<f64> {
        self.item.metrics.get(metric).copied().flatten()
    }

    /// The database that tells the prediction from the gold, if the pair was verified and one was found.
    pub fn counterexample(self) -> Option<CounterexampleView<'a>> {
        let verdict = self.item.details.get(VERDICT)?;
        Some(CounterexampleView {
            script: verdict.get("witness")?.as_str()?,
            gold: verdict.get("left_result").and_then(ResultView::read),
            prediction: verdict.get("right_result").and_then(ResultView::read),
            explanation: verdict.get("explanation").and_then(Value::as_str),
        })
    }

    /// Details that no other method of the view gives.
    pub fn other_details(self) -> Map<String, Value> {
        let is_known = |key: &str| KNOWN.contains(&key);
        let rest = self.item.details.iter().filter(|(key, value)| !is_known(key) && !value.is_null());
        rest.map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    fn text(self, key: &str) -> Option<&'a str> {
        self.item.details.get(key).and_then(Value::as_str)
    }
}

impl<'a> ResultView<'a> {
    fn read(value: &'a Value) -> Option<Self> {
        let rows = value.get("rows")?.as_array()?;
        let columns = value.get("columns")?.as_array()?;
        let total = value.get("total_rows").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let is_beginning = value.get("beginning").and_then(Value::as_bool) == Some(true);
        Some(Self { columns, rows, total_rows: total.unwrap_or(rows.len()), is_beginning })
    }
}
