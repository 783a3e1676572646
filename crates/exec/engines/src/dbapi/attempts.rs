//! Attempts on the locks around a driver, and the locks that drivers lack.

use std::path::Path;

use sqlgauge_engine::FailureKind;

use super::{DbApi, Place, text};
use crate::kind::{Access, Trial};
use crate::locks::{Attempt, LockResult};
use crate::server::Server;
use crate::trial::try_locks;

const TABLE: &str = "makes no table";

/// What is tried behind every driver.
const LOCKS: &[Attempt] = {
    use FailureKind::{Denied, MultipleStatements, Timeout, TooLarge};
    &[
        Attempt::new("runs one statement", "SELECT 1; SELECT 2", &[MultipleStatements]).read(),
        Attempt::new("runs no command", "DROP TABLE sqlgauge_lock", &[Denied]).read(),
        Attempt::new(TABLE, "CREATE TABLE sqlgauge_lock (a INT)", &[Denied]).foreign(),
        Attempt::new(
            "ends at its time limit",
            "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < 900) \
             SELECT COUNT(*) FROM a, a b, a c, a d WHERE a.n + b.n * c.n <> d.n",
            &[Timeout, TooLarge],
        )
        .foreign(),
    ]
};

/// The version, and what became of the attempt to break each lock: those of every driver, then those that the server of this dialect has.
pub(super) fn check(path: &Path, access: &Access) -> Trial {
    let place = Place::parse(path).ok();
    let is_new = |attempt: &&Attempt| LOCKS.iter().all(|lock| lock.name != attempt.name);
    let of_server = place.iter().flat_map(|place| {
        // A driver may send commands that the server's own engine does not: there our reading is the lock.
        let by_text = |attempt: &Attempt| match text::refuse(attempt.sql, place.dialect) {
            Some(_) => attempt.read(),
            None => *attempt,
        };
        place.dialect.attempts().iter().filter(is_new).map(by_text)
    });
    let attempts: Vec<Attempt> = LOCKS.iter().copied().chain(of_server).collect();
    let result = try_locks::<DbApi>(path, access, &attempts)?;
    let is_open = |lock: &LockResult| lock.name == TABLE && lock.holds == Some(false);
    if result.1.iter().any(is_open)
        && let Some(mut child) = place.and_then(|place| DbApi::connect(&place, access).ok())
    {
        // It is gone already where the driver can roll back.
        let _gone = child.texts("DROP TABLE sqlgauge_lock");
    }
    Ok(result)
}

/// What no driver locks, and what this one cannot do.
pub(super) fn untried(lacks: &[String]) -> Vec<LockResult> {
    let mut all = vec![
        LockResult::none(
            "reads what it is meant to",
            "the driver has no such lock: give the account read rights on this database only",
        ),
        LockResult::none(
            "reads no file, asks no other server",
            "the driver has no such lock: give the account no right to such functions",
        ),
        LockResult::none(
            "bounds memory and cost of a query there",
            "the driver has no such lock: set a limit for the account on the server",
        ),
        LockResult::none(
            "sees one state of the data",
            "not held: the catalog and the number of rows must agree at the begin and the end of a run",
        ),
    ];
    for (lack, name, message) in [
        (
            "read_only",
            "runs in a transaction that only reads",
            "the driver knows none: give the account read rights only",
        ),
        (
            "rollback",
            "undoes what a query changes",
            "the driver cannot roll back: give the account read rights only",
        ),
    ] {
        if lacks.iter().any(|absent| absent == lack) {
            all.push(LockResult::none(name, message));
        }
    }
    all
}
