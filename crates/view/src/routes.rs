//! What can be asked, and what answers.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sqlgauge_base::regular;
use sqlgauge_report::ReportError;
use sqlgauge_report::formats::{FramedHtml, ServedHtml};

use crate::audits::Decided;
use crate::history::HistoryRow;
use crate::labels::Given;
use crate::pages::PAGE;
use crate::pairs::Pair;
use crate::plans::Judged;
use crate::records::{RecordKind, Records, listed};
use crate::runs::{FoundRun, RunRow, find_runs};
use crate::{Dashboard, ViewError};

/// In the order in which they depend on each other; together they are one script, behind what all pages share.
const HOME_SCRIPTS: [&str; 7] = [
    include_str!("../web/home.js"),
    include_str!("../web/runs.js"),
    include_str!("../web/compare.js"),
    include_str!("../web/labels.js"),
    include_str!("../web/plans.js"),
    include_str!("../web/records.js"),
    include_str!("../web/routes.js"),
];
const RUN_SCRIPT: &str = include_str!("../web/run.js");
const STYLE: &str = include_str!("../web/view.css");

/// Bytes of a body: a label is short.
pub(crate) const MAX_BODY: usize = 64 << 10;

/// An error as the page shows it.
#[derive(Serialize)]
struct Problem {
    problem: String,
}

impl IntoResponse for ViewError {
    fn into_response(self) -> Response {
        let status = match self {
            Self::UnknownRun | Self::UnknownItem { .. } | Self::UnknownFinding { .. } => {
                StatusCode::NOT_FOUND
            }
            Self::Changed { .. } => StatusCode::CONFLICT,
            Self::Job(_)
            | Self::NoReason { .. }
            | Self::Record { .. }
            | Self::Rows(_)
            | Self::Cut { .. }
            | Self::Report(ReportError::MalformedEstimate { .. } | ReportError::Run(_))
            | Self::TooLarge { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        (status, Json(Problem { problem: sqlgauge_core::sentence(&self) })).into_response()
    }
}

/// Runs what reads files on a thread that may wait.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ViewError> + Send + 'static,
) -> Result<T, ViewError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(ViewError::Start(std::io::Error::other(error))))
}

impl Dashboard {
    pub(crate) fn run(&self, id: &str) -> Result<FoundRun, ViewError> {
        let runs = find_runs(&self.options.folders)?;
        runs.into_iter().find(|run| run.id == id).ok_or(ViewError::UnknownRun)
    }
}

pub(crate) async fn home() -> String {
    FramedHtml::served(&format!("/assets/{}", ServedHtml::STYLE), "/assets/home.js")
}

pub(crate) async fn style() -> String {
    [ServedHtml::style(), STYLE].concat()
}

pub(crate) async fn run_script() -> String {
    [&ServedHtml::script(), RUN_SCRIPT].concat()
}

pub(crate) async fn home_script() -> String {
    [FramedHtml::elements(), HOME_SCRIPTS.concat()].concat()
}

pub(crate) async fn runs(State(dashboard): State<Arc<Dashboard>>) -> Result<Json<Vec<RunRow>>, ViewError> {
    let rows = move || {
        Ok(find_runs(&dashboard.options.folders)?.iter().map(|run| dashboard.pages.row(run)).collect())
    };
    blocking(rows).await.map(Json)
}

pub(crate) async fn to_page(Path(run): Path<String>) -> Redirect {
    Redirect::permanent(&format!("/run/{}/", run.replace(|c: char| !c.is_ascii_alphanumeric(), "")))
}

pub(crate) async fn page(
    State(dashboard): State<Arc<Dashboard>>,
    Path(run): Path<String>,
) -> Result<Vec<u8>, ViewError> {
    let text = blocking(move || {
        let page = dashboard.pages.of(&dashboard.run(&run)?)?;
        read(&page.folder.join(PAGE))
    });
    text.await
}

pub(crate) async fn piece(
    State(dashboard): State<Arc<Dashboard>>,
    Path((run, folder, file)): Path<(String, String, String)>,
) -> Result<Vec<u8>, ViewError> {
    let text = blocking(move || {
        let run = dashboard.run(&run)?;
        if folder == ALONE {
            return alone(&dashboard, &run, &file);
        }
        let page = dashboard.pages.of(&run)?;
        read(&below(&page.folder, &[&folder, &file]).ok_or(ViewError::UnknownRun)?)
    });
    text.await
}

/// Where a run's page asks for single items, as `SYSTEM-EXAMPLE` with dots between them, by their places in the run.
const ALONE: &str = "alone";
/// Items that one request may ask for.
const MOST_ALONE: usize = 100;

fn alone(dashboard: &Dashboard, run: &FoundRun, file: &str) -> Result<Vec<u8>, ViewError> {
    let name = file.strip_suffix(".json").ok_or(ViewError::UnknownRun)?;
    let examples = sqlgauge_run::read_manifest(&run.path)?.examples;
    let number = |item: &str| -> Option<usize> {
        let (system, example) = item.split_once('-')?;
        system.parse::<usize>().ok()?.checked_mul(examples)?.checked_add(example.parse().ok()?)
    };
    let numbers: Option<Vec<usize>> = name.split('.').take(MOST_ALONE).map(number).collect();
    dashboard.pages.of(run)?.piece(&numbers.ok_or(ViewError::UnknownRun)?)
}

/// A path of plain names: letters, digits, `-`, and dots between them.
fn below(folder: &FilePath, names: &[&str]) -> Option<PathBuf> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let is_plain = |name: &&str| !name.starts_with('.') && name.chars().all(plain);
    names.iter().all(is_plain).then(|| names.iter().fold(folder.to_owned(), |path, name| path.join(name)))
}

fn read(path: &FilePath) -> Result<Vec<u8>, ViewError> {
    regular::read(path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => ViewError::UnknownRun,
        _ => ViewError::Folder { path: path.to_owned(), source },
    })
}

pub(crate) async fn compare(
    State(dashboard): State<Arc<Dashboard>>,
    Query(pair): Query<Pair>,
) -> Result<Bytes, ViewError> {
    blocking(move || dashboard.compared(&pair)).await
}

pub(crate) async fn pair(
    State(dashboard): State<Arc<Dashboard>>,
    Query(pair): Query<Pair>,
) -> Result<Json<Value>, ViewError> {
    blocking(move || dashboard.pair_of(&pair)).await.map(Json)
}

/// An item of a system of a run.
#[derive(Deserialize)]
pub(crate) struct OfItem {
    run: String,
    system: String,
    id: String,
}

pub(crate) async fn history(
    State(dashboard): State<Arc<Dashboard>>,
    Query(of): Query<OfItem>,
) -> Result<Json<Vec<HistoryRow>>, ViewError> {
    blocking(move || dashboard.history(&of.run, &of.system, &of.id)).await.map(Json)
}

pub(crate) async fn labelled(State(dashboard): State<Arc<Dashboard>>) -> Result<Json<Value>, ViewError> {
    blocking(move || dashboard.labelled()).await.map(Json)
}

pub(crate) async fn records(State(dashboard): State<Arc<Dashboard>>) -> Result<Json<Value>, ViewError> {
    blocking(move || Ok(listed(&dashboard.records()?))).await.map(Json)
}

/// An audit, an estimate or a plan of labels.
#[derive(Deserialize)]
pub(crate) struct OfRecord {
    id: String,
}

pub(crate) async fn audit(
    State(dashboard): State<Arc<Dashboard>>,
    Query(of): Query<OfRecord>,
) -> Result<Json<Value>, ViewError> {
    blocking(move || dashboard.audit(&of.id)).await.map(Json)
}

pub(crate) async fn decide(
    State(dashboard): State<Arc<Dashboard>>,
    Json(decided): Json<Decided>,
) -> Result<StatusCode, ViewError> {
    blocking(move || dashboard.decide(decided)).await.map(|()| StatusCode::NO_CONTENT)
}

pub(crate) async fn plan(
    State(dashboard): State<Arc<Dashboard>>,
    Query(of): Query<OfRecord>,
) -> Result<Json<Value>, ViewError> {
    blocking(move || dashboard.plan(&of.id)).await.map(Json)
}

pub(crate) async fn judge(
    State(dashboard): State<Arc<Dashboard>>,
    Json(judged): Json<Judged>,
) -> Result<StatusCode, ViewError> {
    blocking(move || dashboard.judge(&judged)).await.map(|()| StatusCode::NO_CONTENT)
}

/// The page of an estimate, as `estimate` writes it, from the estimate's data: it has its style inside, and not a single script.
pub(crate) async fn estimate(
    State(dashboard): State<Arc<Dashboard>>,
    Path(id): Path<String>,
) -> Result<String, ViewError> {
    blocking(move || dashboard.record(RecordKind::Estimate, &id)?.page()).await
}

/// One system of a run.
#[derive(Deserialize)]
pub(crate) struct OfSystem {
    run: String,
    system: String,
}

pub(crate) async fn labels(
    State(dashboard): State<Arc<Dashboard>>,
    Query(of): Query<OfSystem>,
) -> Result<Json<Value>, ViewError> {
    blocking(move || dashboard.labels_of(&of.run, &of.system)).await.map(Json)
}

pub(crate) async fn label(
    State(dashboard): State<Arc<Dashboard>>,
    Json(judgement): Json<Given>,
) -> Result<StatusCode, ViewError> {
    blocking(move || dashboard.label(judgement)).await.map(|()| StatusCode::NO_CONTENT)
}

/// The page of all runs as one that needs no server: what it would ask for stands in it.
pub(crate) fn home_of(rows: &[RunRow], records: &Records) -> serde_json::Result<String> {
    let data = serde_json::to_string(&json!({"runs": rows, "records": listed(records)}))?;
    let page = FramedHtml { data: &data, style: STYLE, script: &HOME_SCRIPTS.concat() };
    Ok(page.whole())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exported_page_has_everything_in_it() {
        let page = home_of(&[], &Records::default()).expect("no text");
        assert!(!page.contains("/assets/") && page.contains("\"runs\":[]"));
    }

    #[test]
    fn only_plain_names_become_paths() {
        let root = FilePath::new("/r");
        assert_eq!(
            below(root, &["index-items", "items-0-1.json"]),
            Some(PathBuf::from("/r/index-items/items-0-1.json"))
        );
        for bad in ["..", ".made", "a/b", "a\\b", "%2e", "a\0"] {
            assert_eq!(below(root, &["index-items", bad]), None, "{bad}");
        }
    }
}
