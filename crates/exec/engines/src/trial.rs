//! Tries to break each lock of a server.

use std::path::Path;
use std::time::Duration;

use sqlgauge_engine::{Engine, Limits};

use crate::kind::{Access, Trial};
use crate::locks::{Attempt, LockResult};
use crate::server::{Server, ServerEngine};

/// The server's version, and what became of the attempt to break each lock.
pub(crate) fn try_locks<S: Server>(path: &Path, access: &Access, attempts: &[Attempt]) -> Trial {
    let limits = Limits { timeout: Duration::from_secs(2), ..Limits::default() };
    let engine = ServerEngine::<S>::new(limits, access.clone());
    let database = engine.open(path)?;
    let mut results = Vec::new();
    for attempt in attempts {
        // Past our own reading of the text, where the lock must hold without it.
        let served = engine.served().get(path).cloned().filter(|_| !attempt.is_read);
        let execution = served.map_or_else(
            || engine.run(&database, attempt.sql),
            |served| engine.run_sent(&served, attempt.sql, None),
        );
        let holds = attempt.holds(&execution.outcome);
        let message = match execution.outcome.failure() {
            Some(failure) => failure.to_string(),
            None if holds == Some(true) => "nothing".to_owned(),
            None => "it ran".to_owned(),
        };
        results.push(LockResult { name: attempt.name, holds, message });
        engine.check()?;
    }
    let after = engine.run(&database, "SELECT 1");
    results.push(LockResult {
        name: "is as it was for the next query",
        holds: Some(after.rows().is_some()),
        message: after.outcome.status().to_owned(),
    });
    let untyped = database.untyped_columns();
    results.extend(untyped.map(|columns| LockResult::none("knows the type of each column", &columns)));
    let served = engine.served().get(path).cloned();
    results.extend(served.map(|served| served.server.untried()).unwrap_or_default());
    Ok((engine.name_and_version(), results))
}
