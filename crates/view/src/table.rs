//! What the server sends: every route, the type of its answers, and who writes their bytes.
//!
//! The type of an answer is that of its route, whatever a handler says. A file of a run folder, an estimate or an audit is parsed, and
//! what is sent is written from the values: [`Writer`] has no other case.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};

use crate::Dashboard;
use crate::events::events;
use crate::guard::{StyleInside, guard};
use crate::routes::{self, MAX_BODY};

/// The type of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// HTML whose scripts and styles are files of the server.
    Page,
    /// HTML with styles inside it; its policy forbids every script.
    StyledPage,
    /// A style sheet.
    Style,
    Script,
    /// JSON.
    Data,
    /// Server-sent events.
    Events,
}

impl Content {
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Page | Self::StyledPage => "text/html; charset=utf-8",
            Self::Style => "text/css; charset=utf-8",
            Self::Script => "text/javascript; charset=utf-8",
            Self::Data => "application/json",
            Self::Events => "text/event-stream",
        }
    }
}

/// Who writes the bytes of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// They are compiled in.
    Build,
    /// The server, from values that it has parsed.
    Server,
}

/// What is sent from an address.
#[derive(Debug)]
pub struct Route {
    /// The address; names in braces stand for any.
    pub path: &'static str,
    /// The type of an answer that is not an error. Errors are JSON or plain text.
    pub content: Content,
    /// Who writes it.
    pub writer: Writer,
    handler: fn() -> MethodRouter<Arc<Dashboard>>,
}

impl Route {
    const fn new(
        path: &'static str,
        content: Content,
        writer: Writer,
        handler: fn() -> MethodRouter<Arc<Dashboard>>,
    ) -> Self {
        Self { path, content, writer, handler }
    }
}

/// All that the server sends.
pub const ROUTES: [Route; 21] = [
    Route::new("/", Content::Page, Writer::Build, || get(routes::home)),
    Route::new("/assets/report.css", Content::Style, Writer::Build, || get(routes::style)),
    Route::new("/assets/report.js", Content::Script, Writer::Build, || get(routes::run_script)),
    Route::new("/assets/home.js", Content::Script, Writer::Build, || get(routes::home_script)),
    Route::new("/api/events", Content::Events, Writer::Build, || get(events)),
    Route::new("/api/runs", Content::Data, Writer::Server, || get(routes::runs)),
    Route::new("/api/compare", Content::Data, Writer::Server, || get(routes::compare)),
    Route::new("/api/pair", Content::Data, Writer::Server, || get(routes::pair)),
    Route::new("/api/history", Content::Data, Writer::Server, || get(routes::history)),
    Route::new("/api/labels", Content::Data, Writer::Server, || get(routes::labels)),
    Route::new("/api/label", Content::Data, Writer::Server, || post(routes::label)),
    Route::new("/api/labelled", Content::Data, Writer::Server, || get(routes::labelled)),
    Route::new("/api/records", Content::Data, Writer::Server, || get(routes::records)),
    Route::new("/api/audit", Content::Data, Writer::Server, || get(routes::audit)),
    Route::new("/api/decide", Content::Data, Writer::Server, || post(routes::decide)),
    Route::new("/api/plan", Content::Data, Writer::Server, || get(routes::plan)),
    Route::new("/api/judge", Content::Data, Writer::Server, || post(routes::judge)),
    Route::new("/estimate/{id}", Content::StyledPage, Writer::Server, || get(routes::estimate)),
    Route::new("/run/{run}", Content::Page, Writer::Build, || get(routes::to_page)),
    Route::new("/run/{run}/", Content::Page, Writer::Server, || get(routes::page)),
    Route::new("/run/{run}/{folder}/{file}", Content::Data, Writer::Server, || get(routes::piece)),
];

pub(crate) fn router(dashboard: Arc<Dashboard>) -> Router {
    let add = |router: Router<Arc<Dashboard>>, Route { path, content, handler, .. }: &Route| {
        let content = *content;
        let typed = map_response(move |answer| async move { with_type(content, answer) });
        router.route(path, handler().layer(typed))
    };
    ROUTES
        .iter()
        .fold(Router::new(), add)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn_with_state(Arc::clone(&dashboard), guard))
        .with_state(dashboard)
}

fn with_type(content: Content, mut answer: Response) -> Response {
    if answer.status() == StatusCode::OK {
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content.media_type()));
        if content == Content::StyledPage {
            answer.extensions_mut().insert(StyleInside);
        }
    }
    answer
}
