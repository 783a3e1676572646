//! What is the outcome of no query: a server that hangs, a session that ends queries or locks tables.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlgauge_engine::{Engine, FailureKind, Limits, Outcome, Value};
use sqlgauge_engines::{Access, Kind, Secret};

use crate::club::{cells, opened};
use crate::servers::PASSWORD;
use crate::servers::mariadb::MariaDb;
use crate::servers::postgresql::Server;

const DDL: &str = "CREATE TABLE team (id INT PRIMARY KEY); INSERT INTO team VALUES (1), (2)";

fn access(connections: usize) -> Access {
    Access { password: Some(Secret(PASSWORD.into())), connections, ..Access::default() }
}

fn engine_of(kind: &str, seconds: u64) -> Arc<dyn Engine> {
    let limits = Limits { timeout: Duration::from_secs(seconds), ..Limits::default() };
    Kind::find(kind).unwrap().engine(limits, access(2))
}

fn kind_of(outcome: &Outcome) -> Option<FailureKind> {
    outcome.failure().map(|failure| failure.kind)
}

/// Two queries at once on a server that answers nothing are the machine's fault, and end in time.
fn assert_hang(engine: &Arc<dyn Engine>, path: &Path, freeze: impl FnOnce() -> crate::servers::Frozen) {
    let database = opened(engine, path);
    assert_eq!(cells(engine, &database, "SELECT count(*) FROM team"), [Value::Integer(2)]);
    let frozen = freeze();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let outcome = engine.run(&database, "SELECT count(*) FROM team").outcome;
                assert_eq!(kind_of(&outcome), Some(FailureKind::Machine), "{outcome:?}");
            });
        }
    });
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
    let error = engine.check().unwrap_err().to_string();
    assert!(error.contains("same command again") && error.contains(path.to_str().unwrap()), "{error}");
    drop(frozen);
}

/// Runs a query that takes a while, and something else once the server runs it.
fn while_it_runs(engine: &Arc<dyn Engine>, path: &Path, sql: &str, disturb: impl FnOnce()) -> Outcome {
    let database = opened(engine, path);
    std::thread::scope(|scope| {
        let query = scope.spawn(|| engine.run(&database, sql).outcome);
        disturb();
        query.join().unwrap()
    })
}

/// The process of the query with that mark in its text, other than that one.
fn backend(server: &Server, mark: &str, other: u32) -> u32 {
    let sql = format!(
        "SELECT max(pid) FROM pg_stat_activity WHERE usename = 'sqlgauge' AND state = 'active' AND query LIKE '%{mark}%' \
         AND pid <> {other}"
    );
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Ok(process) = server.sql("postgres", &sql).parse() {
            return process;
        }
        assert!(Instant::now() < deadline, "no query has {mark}");
    }
}

const COUNT: &str = "SELECT count(*) FROM team";

/// A session of the owner that holds the table, so that queries of it wait.
fn hold(server: &Server) -> crate::servers::Session {
    let session = server.session("club", "BEGIN; LOCK TABLE team; SELECT pg_sleep(600)");
    let granted = "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted";
    while server.sql("club", granted) == "0" {}
    session
}

/// Ends that session: the server would not notice at once that its client is gone.
fn release(server: &Server) {
    server.sql("club", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%LOCK TABLE%600%' AND pid <> pg_backend_pid()");
}

#[test]
#[ignore = "long: cargo xtask long"]
fn what_others_do_on_postgresql_blames_no_query() {
    let Some(server) = Server::start() else { return };
    let path = server.database("club", DDL);
    let cancel = |process| server.sql("postgres", &format!("SELECT pg_cancel_backend({process})"));
    let is_right = |outcome: &Outcome| {
        assert_eq!(
            outcome.rows().map(|rows| rows.values().to_vec()),
            Some(vec![Value::Integer(2)]),
            "{outcome:?}"
        );
    };
    // A request to cancel that is not ours.
    let engine = engine_of("postgresql", 60);
    opened(&engine, &path);
    let session = hold(&server);
    is_right(&while_it_runs(&engine, &path, COUNT, || {
        cancel(backend(&server, "team", 0));
        release(&server);
    }));
    drop(session);
    // Such requests without end.
    let session = hold(&server);
    let always = while_it_runs(&engine, &path, COUNT, || {
        let first = backend(&server, "team", 0);
        cancel(first);
        cancel(backend(&server, "team", first));
    });
    assert_eq!(kind_of(&always), Some(FailureKind::Machine), "{always:?}");
    assert!(engine.check().unwrap_err().to_string().contains("before its time limit"));
    release(&server);
    drop(session);
    // A process of the server that does not go on.
    let engine = engine_of("postgresql", 8);
    opened(&engine, &path);
    let (session, mut frozen) = (hold(&server), None);
    is_right(&while_it_runs(&engine, &path, COUNT, || {
        frozen = Some(crate::servers::Frozen::of(backend(&server, "team", 0)));
        release(&server);
    }));
    drop((session, frozen));
    // A lock on the table that stays.
    let engine = engine_of("postgresql", 4);
    let database = opened(&engine, &path);
    let session = hold(&server);
    let locked = engine.run(&database, COUNT).outcome;
    assert_eq!(kind_of(&locked), Some(FailureKind::Machine), "{locked:?}");
    drop(session);
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_query_that_ignores_a_cancel_is_ended_with_its_connection() {
    let Some(server) = Server::start() else { return };
    let path = server.database("club", DDL);
    server.sql(
        "club",
        "CREATE FUNCTION stubborn() RETURNS int LANGUAGE plpgsql AS $$ BEGIN LOOP BEGIN LOOP PERFORM 1; END LOOP; \
         EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$",
    );
    let engine = engine_of("postgresql", 1);
    let database = opened(&engine, &path);
    let outcome = engine.run(&database, "SELECT stubborn()").outcome;
    assert_eq!(kind_of(&outcome), Some(FailureKind::Timeout), "{outcome:?}");
    assert_eq!(cells(&engine, &database, "SELECT count(*) FROM team"), [Value::Integer(2)]);
    engine.check().unwrap();
    let active = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'sqlgauge' AND state = 'active'";
    let deadline = Instant::now() + Duration::from_secs(10);
    while server.sql("postgres", active) != "0" {
        assert!(Instant::now() < deadline, "a backend is left");
    }
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_postgresql_that_hangs_blames_no_query() {
    let Some(server) = Server::start() else { return };
    let path = server.database("club", DDL);
    assert_hang(&engine_of("postgresql", 1), &path, || server.freeze());
    let after = engine_of("postgresql", 20);
    assert_eq!(cells(&after, &opened(&after, &path), "SELECT count(*) FROM team"), [Value::Integer(2)]);
}

/// The password goes out as an MD5 hash only where that is allowed.
#[test]
#[ignore = "long: cargo xtask long"]
fn a_login_by_md5_is_refused_unless_it_is_allowed() {
    let Some(server) = Server::start() else { return };
    let path = server.database("club", DDL);
    let password = PASSWORD.replace('\'', "''");
    server
        .sql("club", &format!("SET password_encryption = 'md5'; ALTER ROLE sqlgauge PASSWORD '{password}'"));
    server.log_in_by("md5");
    let open = |access| Kind::find("postgresql").unwrap().engine(Limits::default(), access).open(&path);
    let refused = open(access(1)).map(drop).unwrap_err().to_string();
    assert!(refused.contains("SQLGAUGE_DB_ALLOW_MD5=1") && refused.contains("scram-sha-256"), "{refused}");
    assert!(open(Access { allows_md5: true, ..access(1) }).is_ok());
    server.log_in_by("password");
    let clear = open(Access { allows_md5: true, ..access(1) }).map(drop).unwrap_err().to_string();
    assert!(clear.contains("not SCRAM-SHA-256"), "{clear}");
}

#[test]
#[ignore = "long: cargo xtask long"]
fn what_others_do_on_mariadb_blames_no_query() {
    let Some(server) = MariaDb::start() else { return };
    let path = server.database("club", DDL);
    let slow = "SELECT COUNT(*) FROM information_schema.COLUMNS a, information_schema.COLUMNS b, team";
    let running = "SELECT MAX(ID) FROM information_schema.PROCESSLIST WHERE USER = 'sqlgauge' AND INFO LIKE '%COLUMNS b%' \
                   AND COMMAND = 'Execute'";
    let engine = engine_of("mysql", 60);
    let ended = while_it_runs(&engine, &path, slow, || {
        let mut last = "0".to_owned();
        for _ in 0..2 {
            let deadline = Instant::now() + Duration::from_secs(30);
            let other = format!("{running} AND ID <> {last}");
            last = server.sql("", &other);
            while last == "NULL" && Instant::now() < deadline {
                last = server.sql("", &other);
            }
            server.sql("", &format!("KILL QUERY {last}"));
        }
    });
    assert_eq!(kind_of(&ended), Some(FailureKind::Machine), "{ended:?}");
    assert!(engine.check().unwrap_err().to_string().contains("before its time limit"));
    let engine = engine_of("mysql", 4);
    let database = opened(&engine, &path);
    let session = server.session("club", "LOCK TABLES team WRITE; SELECT SLEEP(60)");
    let sleeps = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User sleep'";
    while server.sql("", sleeps) == "0" {}
    let locked = engine.run(&database, "SELECT COUNT(*) FROM team").outcome;
    assert_eq!(kind_of(&locked), Some(FailureKind::Machine), "{locked:?}");
    drop(session);
    assert_hang(&engine_of("mysql", 1), &path, || server.freeze());
    let after = engine_of("mysql", 20);
    assert_eq!(cells(&after, &opened(&after, &path), "SELECT count(*) FROM team"), [Value::Integer(2)]);
}
