//! Who may ask: the person who was given the first address, by the server's own name, from its own pages.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    CONNECTION, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderName, LOCATION, ORIGIN, SET_COOKIE,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::Dashboard;
use crate::accept::Guest;

/// On an answer whose policy lets styles stand inside the page, and forbids every script.
#[derive(Clone, Copy)]
pub(crate) struct StyleInside;

const STYLE_INSIDE: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

/// On every answer. The policy lets a page use the server's own scripts, styles and data, and nothing else.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (HeaderName::from_static("x-content-type-options"), "nosniff"),
    (HeaderName::from_static("referrer-policy"), "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cache-control"), "no-store"),
];

/// Lets a request through, or says why not.
pub(crate) async fn guard(State(dashboard): State<Arc<Dashboard>>, request: Request, next: Next) -> Response {
    let mut answer = match admit(&dashboard, &request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => *refusal,
    };
    if answer.status() == StatusCode::FORBIDDEN {
        answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    for (name, value) in HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    if answer.extensions().get::<StyleInside>().is_some() {
        answer.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(STYLE_INSIDE));
    }
    answer
}

fn admit(dashboard: &Dashboard, request: &Request) -> Result<(), Box<Response>> {
    let headers = request.headers();
    let refuse = |why: &'static str| Box::new((StatusCode::FORBIDDEN, why).into_response());
    let port = dashboard.address.port();
    let names = [dashboard.address.to_string(), format!("localhost:{port}")];
    let host = text(headers, &HOST).unwrap_or_default();
    if !names.iter().any(|name| name == host) {
        return Err(refuse("This server answers only to the address that it printed.\n"));
    }
    let is_own = |origin: &str| origin.strip_prefix("http://") == Some(host);
    let origin = text(headers, &ORIGIN);
    if origin.is_some_and(|origin| !is_own(origin)) || (request.method() == Method::POST && origin.is_none())
    {
        return Err(refuse("Only the server's own pages may ask this.\n"));
    }
    let cookie = format!("sqlgauge-{port}");
    let admit_guest = || request.extensions().get::<Guest>().into_iter().for_each(Guest::admit);
    if has_cookie(headers, &cookie, &dashboard.token) {
        admit_guest();
        return Ok(());
    }
    let token = request.uri().query().and_then(|query| query.strip_prefix("token="));
    if request.method() == Method::GET && token == Some(dashboard.token.as_str()) {
        admit_guest();
        // The token leaves the address, so that it is in no bookmark and no picture of the screen.
        let cookie = format!("{cookie}={}; Path=/; HttpOnly; SameSite=Strict", dashboard.token);
        let to = request.uri().path().to_owned();
        return Err(Box::new(
            (StatusCode::SEE_OTHER, [(SET_COOKIE, cookie), (LOCATION, to)]).into_response(),
        ));
    }
    Err(refuse("Open the address that `sqlgauge view` printed; it has the token in it.\n"))
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn has_cookie(headers: &HeaderMap, name: &str, value: &str) -> bool {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok());
    cookies.flat_map(|header| header.split("; ")).any(|one| one.split_once('=') == Some((name, value)))
}
