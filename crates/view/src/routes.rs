//! What can be asked, and what answers.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use sqlgauge::CompareJob;
use sqlgauge_base::regular;
use sqlgauge_report::formats::ServedHtml;

use crate::guard::guard;
use crate::labels::Verdict;
use crate::pages::PAGE;
use crate::runs::{FoundRun, RunRow, find_runs};
use crate::{Dashboard, ViewError};

const HOME: &str = include_str!("../web/home.html");
const HOME_SCRIPT: &str = include_str!("../web/home.js");
const LABEL_SCRIPT: &str = include_str!("../web/label.js");
const STYLE: &str = include_str!("../web/view.css");

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

/// Bytes of a body: a label is short.
const MAX_BODY: usize = 64 << 10;

pub(crate) fn router(dashboard: Arc<Dashboard>) -> Router {
    Router::new()
        .route("/", get(home))
        .route("/compare", get(home))
        .route("/assets/{name}", get(asset))
        .route("/api/runs", get(runs))
        .route("/api/compare", get(compare))
        .route("/api/labels", get(labels))
        .route("/api/label", post(label))
        .route("/run/{run}", get(to_page))
        .route("/run/{run}/", get(page))
        .route("/run/{run}/{folder}/{file}", get(piece))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn_with_state(Arc::clone(&dashboard), guard))
        .with_state(dashboard)
}

/// An error as the page shows it.
#[derive(Serialize)]
struct Problem {
    problem: String,
}

impl IntoResponse for ViewError {
    fn into_response(self) -> Response {
        let status = match self {
            Self::UnknownRun | Self::UnknownItem { .. } => StatusCode::NOT_FOUND,
            Self::Job(_) => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        (status, Json(Problem { problem: sqlgauge::sentence(&self) })).into_response()
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
    fn run(&self, id: &str) -> Result<FoundRun, ViewError> {
        let runs = find_runs(&self.options.folders)?;
        runs.into_iter().find(|run| run.id == id).ok_or(ViewError::UnknownRun)
    }
}

async fn home() -> Response {
    ([(CONTENT_TYPE, HTML)], HOME).into_response()
}

async fn asset(Path(name): Path<String>) -> Response {
    match name.as_str() {
        ServedHtml::STYLE => ([(CONTENT_TYPE, CSS)], [ServedHtml::style(), STYLE].concat()).into_response(),
        ServedHtml::SCRIPT => {
            ([(CONTENT_TYPE, SCRIPT)], [&ServedHtml::script(), LABEL_SCRIPT].concat()).into_response()
        }
        "home.js" => ([(CONTENT_TYPE, SCRIPT)], home_script()).into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The script of the pages that are not a run's.
pub(crate) fn home_script() -> String {
    [ServedHtml::elements(), HOME_SCRIPT].concat()
}

/// The style of all pages.
pub(crate) fn style() -> String {
    [ServedHtml::style(), STYLE].concat()
}

async fn runs(State(dashboard): State<Arc<Dashboard>>) -> Result<Json<Vec<RunRow>>, ViewError> {
    let rows = move || {
        Ok(find_runs(&dashboard.options.folders)?.iter().map(|run| dashboard.pages.row(run)).collect())
    };
    blocking(rows).await.map(Json)
}

async fn to_page(Path(run): Path<String>) -> Redirect {
    Redirect::permanent(&format!("/run/{}/", run.replace(|c: char| !c.is_ascii_alphanumeric(), "")))
}

async fn page(
    State(dashboard): State<Arc<Dashboard>>,
    Path(run): Path<String>,
) -> Result<Response, ViewError> {
    let text = blocking(move || {
        let folder = dashboard.pages.of(&dashboard.run(&run)?)?;
        read(&folder.join(PAGE))
    });
    Ok(([(CONTENT_TYPE, HTML)], text.await?).into_response())
}

async fn piece(
    State(dashboard): State<Arc<Dashboard>>,
    Path((run, folder, file)): Path<(String, String, String)>,
) -> Result<Response, ViewError> {
    let text = blocking(move || {
        let page = dashboard.pages.of(&dashboard.run(&run)?)?;
        read(&below(&page, &[&folder, &file]).ok_or(ViewError::UnknownRun)?)
    });
    Ok(([(CONTENT_TYPE, SCRIPT)], text.await?).into_response())
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

/// Two systems, each of a run.
#[derive(Deserialize)]
struct Pair {
    a: String,
    b: String,
    first: String,
    second: String,
    metric: Option<String>,
}

async fn compare(
    State(dashboard): State<Arc<Dashboard>>,
    Query(pair): Query<Pair>,
) -> Result<Json<serde_json::Value>, ViewError> {
    let compared = blocking(move || {
        let (a, b) = (dashboard.run(&pair.a)?, dashboard.run(&pair.b)?);
        let job = CompareJob {
            other: (a.id != b.id).then(|| b.path.clone()),
            systems: vec![pair.first, pair.second],
            metric: pair.metric,
            ..CompareJob::new(&a.path)
        };
        Ok(job.run()?)
    });
    let compared = compared.await?;
    Ok(Json(serde_json::json!({
        "metric": compared.metric,
        "comparisons": compared.summary.comparisons,
        "only_first": compared.only_first,
        "only_second": compared.only_second,
        "left_out": {
            "only_first": compared.left_out.only_first,
            "only_second": compared.left_out.only_second,
            "changed": compared.left_out.changed,
        },
    })))
}

/// One system of a run.
#[derive(Deserialize)]
struct OfSystem {
    run: String,
    system: String,
}

async fn labels(
    State(dashboard): State<Arc<Dashboard>>,
    Query(of): Query<OfSystem>,
) -> Result<Json<serde_json::Value>, ViewError> {
    let given = blocking(move || {
        let rows = dashboard.labels(&dashboard.run(&of.run)?, &of.system);
        Ok(rows.into_iter().map(|row| (row.id, serde_json::json!(row.verdict))).collect())
    });
    given.await.map(|given| Json(serde_json::Value::Object(given)))
}

/// A label that is given, or taken back.
#[derive(Deserialize)]
struct Given {
    run: String,
    system: String,
    id: String,
    verdict: Option<Verdict>,
}

async fn label(
    State(dashboard): State<Arc<Dashboard>>,
    Json(given): Json<Given>,
) -> Result<StatusCode, ViewError> {
    let kept = blocking(move || {
        dashboard.label(&dashboard.run(&given.run)?, &given.system, &given.id, given.verdict)
    });
    kept.await.map(|()| StatusCode::NO_CONTENT)
}

/// The page of all runs as one that needs no server: what it would ask for stands in it.
pub(crate) fn home_of(rows: &[RunRow]) -> serde_json::Result<String> {
    // `<` of a text can end no element.
    let data = serde_json::to_string(rows)?.replace('<', "\\u003c");
    let style = format!("<style>\n{}\n</style>", style());
    let script = format!(
        "<script type=\"application/json\" id=\"runs\">{data}</script>\n<script>\n{}\n</script>",
        home_script()
    );
    let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">";
    Ok(HOME
        .replace("<link rel=\"stylesheet\" href=\"/assets/report.css\">", &format!("{policy}\n{style}"))
        .replace("<script src=\"/assets/home.js\"></script>", &script)
        .replace("href=\"/\"", "href=\"index.html\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exported_page_has_everything_in_it() {
        let page = home_of(&[]).expect("no text");
        assert!(!page.contains("/assets/") && page.contains("id=\"runs\">[]</script>"));
    }

    #[test]
    fn only_plain_names_become_paths() {
        let root = FilePath::new("/r");
        assert_eq!(
            below(root, &["index-items", "items-0-1.js"]),
            Some(PathBuf::from("/r/index-items/items-0-1.js"))
        );
        for bad in ["..", ".made", "a/b", "a\\b", "%2e", "a\0"] {
            assert_eq!(below(root, &["index-items", bad]), None, "{bad}");
        }
    }
}
