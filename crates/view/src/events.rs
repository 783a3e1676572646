//! Tells pages that runs have changed: server-sent events, so that a page need not ask again and again.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{Stream, unfold};

use crate::Dashboard;
use crate::runs::{LogState, find_runs};

/// How often the folders are looked at while a page is open.
const EVERY: Duration = Duration::from_millis(700);

/// What is compared: the runs and the states of their logs.
type Seen = Vec<(String, LogState)>;

/// Sends `runs` at once and whenever a run has come, gone or changed, with data, as a browser drops an event that has none. Ends
/// with the server.
pub(crate) async fn events(
    State(dashboard): State<Arc<Dashboard>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let stream = unfold((dashboard, None::<Seen>), |(dashboard, before)| async move {
        let mut ending = dashboard.ending.subscribe();
        loop {
            let seen = seen_by(&dashboard).await;
            if seen.is_some() && seen != before {
                return Some((Ok(Event::default().event("runs").data("changed")), (dashboard, seen)));
            }
            tokio::select! {
                () = tokio::time::sleep(EVERY) => {}
                _ = ending.wait_for(|ends| *ends) => return None,
            }
        }
    });
    Sse::new(stream).keep_alive(KeepAlive::default())
}

async fn seen_by(dashboard: &Arc<Dashboard>) -> Option<Seen> {
    let dashboard = Arc::clone(dashboard);
    let look = move || {
        let runs = find_runs(&dashboard.options.folders).ok()?;
        Some(runs.into_iter().map(|run| (run.id.clone(), run.state())).collect())
    };
    tokio::task::spawn_blocking(look).await.ok()?
}
