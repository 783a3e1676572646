//! PostgreSQL on a real server.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlgauge_engine::{Engine, FailureKind, Limits, Value};
use sqlgauge_engines::{Access, Kind, Secret};

use crate::club::{assert_catalog, assert_comments, assert_cut, assert_outcomes, cells, opened};
use crate::servers::PASSWORD;
use crate::servers::postgresql::Server;

const DDL: &str = "CREATE TABLE team (id int PRIMARY KEY, name text NOT NULL UNIQUE, budget numeric(20, 4)); \
    CREATE TABLE player (id bigint PRIMARY KEY, team_id int REFERENCES team (id), born date, height real); \
    INSERT INTO team VALUES (1, 'a', 0.1), (2, 'b', 12345678901234.5678); \
    INSERT INTO player SELECT n, n % 2 + 1, date '2000-01-01' + n::int, 1.5 FROM generate_series(1, 1000) n; \
    CREATE VIEW tall AS SELECT * FROM player WHERE height > 1; \
    COMMENT ON TABLE team IS 'all teams'; COMMENT ON COLUMN team.budget IS 'in EUR'";

fn access() -> Access {
    Access { password: Some(Secret(PASSWORD.into())), connections: 3, ..Access::default() }
}

fn engine_of(limits: Limits, access: Access) -> Arc<dyn Engine> {
    Kind::find("postgresql").unwrap().engine(limits, access)
}

fn engine(seconds: u64) -> Arc<dyn Engine> {
    engine_of(Limits { timeout: Duration::from_secs(seconds), ..Limits::default() }, access())
}

#[test]
#[ignore = "long: cargo xtask long"]
fn the_catalog_and_the_values_are_the_servers() {
    let Some(server) = Server::start() else { return };
    let path = server.database("club", DDL);
    let engine = engine(10);
    let database = opened(&engine, &path);
    assert!(engine.name_and_version().starts_with("PostgreSQL 1"), "{}", engine.name_and_version());
    assert_catalog(&database, 4);
    assert_comments(&database);
    let decimal = |text: &str| Value::decimal(text).unwrap();
    for (sql, expected) in [
        ("SELECT sum(id) FROM player", vec![Value::Integer(500_500)]),
        ("SELECT budget FROM team ORDER BY id", vec![decimal("0.1"), decimal("12345678901234.5678")]),
        ("SELECT 0.1 + 0.2, 0.1::float8 + 0.2", vec![decimal("0.3"), Value::Real(0.1 + 0.2)]),
        (
            "SELECT true, NULL, '\\x00'::bytea, 2.00",
            vec![Value::Integer(1), Value::Null, Value::Blob([0].into()), Value::Integer(2)],
        ),
        ("SELECT date '2020-01-01' , timestamptz '2020-01-01 02:00+02'", vec![Value::text("2020-01-01"); 2]),
        ("SELECT count(*) FROM tall; -- one statement", vec![Value::Integer(1000)]),
        ("(VALUES (1)) UNION ALL (SELECT id FROM team) LIMIT 0", vec![]),
    ] {
        assert_eq!(cells(&engine, &database, sql), expected, "{sql}");
    }
    assert_cut(&engine, &database, "SELECT * FROM player a, player b");
    engine.check().unwrap();
}

/// What else a stranger may write here, and what becomes of it.
const HOSTILE: &[(&str, FailureKind)] = {
    use FailureKind::{
        Denied, InvalidQuery, NoSuchFunction, Parameters, RuntimeError, SyntaxError, Timeout, TooLarge,
    };
    &[
        ("SELECT 9223372036854775807 + 1", RuntimeError),
        ("SELEC 1", SyntaxError),
        ("SELECT name + 1 FROM team", InvalidQuery),
        ("SELECT name, count(*) FROM team", InvalidQuery),
        ("SELECT $1", Parameters),
        ("SELECT 1 / 0", RuntimeError),
        ("SELECT 'x'::int", RuntimeError),
        // Commands.
        ("CREATE TABLE x (a int)", Denied),
        ("CREATE TEMP TABLE x (a int)", Denied),
        ("CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'", Denied),
        ("COPY team TO STDOUT", Denied),
        ("COPY team TO '/tmp/sqlgauge-copied'", Denied),
        ("COPY team TO PROGRAM 'touch /tmp/sqlgauge-copied'", Denied),
        ("COPY team FROM '/etc/passwd'", Denied),
        ("SET statement_timeout = 0", Denied),
        ("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE", Denied),
        ("SET TRANSACTION READ WRITE", Denied),
        ("RESET ALL", Denied),
        ("SHOW ALL", Denied),
        ("SAVEPOINT a", Denied),
        ("PREPARE a AS SELECT 1", Denied),
        ("EXECUTE a", Denied),
        ("DEALLOCATE ALL", Denied),
        ("DECLARE a CURSOR WITH HOLD FOR SELECT 1", Denied),
        ("LISTEN a", Denied),
        ("NOTIFY a", Denied),
        ("LOCK TABLE team", Denied),
        ("DO $$ BEGIN PERFORM 1; END $$", Denied),
        ("CALL f()", InvalidQuery),
        ("EXPLAIN ANALYZE SELECT 1", Denied),
        ("VACUUM", Denied),
        ("ANALYZE", Denied),
        ("DISCARD ALL", Denied),
        ("CREATE EXTENSION dblink", Denied),
        ("ALTER ROLE sqlgauge SUPERUSER", Denied),
        ("GRANT ALL ON team TO sqlgauge", Denied),
        ("LOAD 'plpgsql'", Denied),
        ("CHECKPOINT", Denied),
        // Queries that would be more than that.
        ("SELECT 1 AS a INTO x", Denied),
        ("SELECT * FROM team FOR UPDATE", Denied),
        ("WITH a AS (INSERT INTO team VALUES (3, 'c', 1) RETURNING *) SELECT * FROM a", Denied),
        ("WITH a AS (DELETE FROM team RETURNING *) SELECT * FROM a", Denied),
        ("WITH a AS (UPDATE team SET id = 9 RETURNING *) SELECT * FROM a", Denied),
        ("SELECT lo_create(0)", Denied),
        ("SELECT lo_from_bytea(0, 'x')", Denied),
        ("SELECT lo_import('/etc/passwd')", Denied),
        ("SELECT pg_read_file('/etc/passwd')", Denied),
        ("SELECT pg_ls_dir('/')", Denied),
        ("SELECT pg_stat_file('/etc/passwd')", Denied),
        ("SELECT rolpassword FROM pg_authid", Denied),
        ("SELECT * FROM pg_shadow", Denied),
        ("SELECT pg_sleep(100)", Denied),
        ("SELECT pg_notify('a', 'b')", Denied),
        ("SELECT pg_advisory_lock(1)", Denied),
        ("SELECT pg_terminate_backend(pid) FROM pg_stat_activity", Denied),
        ("SELECT pg_cancel_backend(pid) FROM pg_stat_activity", Denied),
        ("SELECT pg_reload_conf()", Denied),
        ("SELECT set_config('statement_timeout', '0', false)", Denied),
        ("SELECT set_config('transaction_read_only', 'off', false)", Denied),
        ("SELECT query_to_xml('DELETE FROM team', true, true, '')", Denied),
        ("SELECT * FROM dblink('dbname=club', 'SELECT 1') AS t(a int)", NoSuchFunction),
        // Without end, and too much.
        ("WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT * FROM a", TooLarge),
        ("WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT count(*) FROM a", Timeout),
        ("SELECT count(*) FROM player a, player b, player c, player d", Timeout),
        ("SELECT * FROM player a, player b, player c", TooLarge),
        ("SELECT repeat('x', 100000000)", TooLarge),
        ("SELECT repeat('x', 1000000) FROM generate_series(1, 10000)", TooLarge),
        ("SELECT repeat('x', 2000000000)", TooLarge),
    ]
};

#[test]
#[ignore = "long: cargo xtask long"]
fn whatever_a_text_says_it_has_a_typed_outcome_and_nothing_changes() {
    let Some(server) = Server::start() else { return };
    let path = server.database("club", DDL);
    let limits = Limits { timeout: Duration::from_secs(2), max_rows: 200_000, ..Limits::default() };
    let engine = engine_of(limits, access());
    let database = opened(&engine, &path);
    let state = "SELECT md5(string_agg(t::text, ',' ORDER BY id)), (SELECT count(*) FROM pg_class), \
                 (SELECT count(*) FROM pg_largeobject_metadata), (SELECT count(*) FROM pg_proc) FROM team t";
    let before = server.sql("club", state);
    let deep = format!("SELECT {}1{}", "(".repeat(50_000), ")".repeat(50_000));
    assert_outcomes(&engine, &database, HOSTILE);
    assert_outcomes(&engine, &database, &[(deep.as_str(), FailureKind::TooLarge)]);
    engine.check().unwrap();
    assert_eq!(server.sql("club", state), before);
    assert!(!Path::new("/tmp/sqlgauge-copied").exists());
    // Nothing is left running.
    let left = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'sqlgauge' AND state = 'active'";
    assert_eq!(server.sql("postgres", left), "0");
}

const SETTINGS: [(&str, &str, &str); 4] = [
    (
        "SELECT set_config('statement_timeout', '0', false)",
        "SELECT current_setting('statement_timeout')",
        "5s",
    ),
    ("SELECT set_config('search_path', 'nowhere', false)", "SELECT count(*)::text FROM team", "2"),
    ("SELECT set_config('TimeZone', 'Asia/Tokyo', false)", "SELECT current_setting('TimeZone')", "UTC"),
    (
        "SELECT set_config('transaction_read_only', 'off', false)",
        "SELECT current_setting('transaction_read_only')",
        "on",
    ),
];

/// Whether the connection goes back to a savepoint or is cleaned whole, what a query sets ends with it.
#[test]
#[ignore = "long: cargo xtask long"]
fn no_setting_outlives_its_query() {
    let Some(server) = Server::start() else { return };
    let path = server.database("club", DDL);
    server.sql("club", "GRANT EXECUTE ON FUNCTION set_config TO sqlgauge");
    let ends = |engine: &Arc<dyn Engine>, path: &Path, (sql, probe, expected): (&str, &str, &str)| {
        let database = opened(engine, path);
        let _any = engine.run(&database, sql);
        for _ in 0..4 {
            assert_eq!(cells(engine, &database, probe), [Value::text(expected)], "{sql}");
        }
        let _failed = engine.run(&database, "SELECT 1 / 0");
        assert_eq!(cells(engine, &database, probe), [Value::text(expected)], "{sql}");
    };
    let (locked, free) = (engine(5), engine(5));
    let owner = server.address("owner", "club");
    for case in SETTINGS {
        ends(&locked, &path, case);
        ends(&free, &owner, case);
    }
    let advisory = "SELECT count(*)::text FROM pg_locks WHERE locktype = 'advisory'";
    ends(&free, &owner, ("SELECT pg_advisory_lock(7)::text", advisory, "0"));
    // A function that somebody wrote can leave more than settings.
    server.sql(
        "club",
        "CREATE FUNCTION leave() RETURNS text LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'PREPARE left_behind AS SELECT 1'; \
         RETURN 'x'; END $$",
    );
    let prepared = "SELECT count(*)::text FROM pg_prepared_statements";
    ends(&engine(5), &path, ("SELECT leave()", prepared, "0"));
}

#[test]
#[ignore = "long: cargo xtask long"]
fn setup_makes_the_locks_and_check_sees_a_role_without_them() {
    let Some(server) = Server::start() else { return };
    let path = server.database("club", DDL);
    let kind = Kind::find("postgresql").unwrap();
    let (version, locks) = kind.check(&path, &access()).unwrap();
    assert!(version.starts_with("PostgreSQL 1"), "{version}");
    let open: Vec<_> = locks.iter().filter(|lock| lock.holds == Some(false)).collect();
    assert!(open.is_empty() && locks.len() > 15, "{open:?}");
    assert!(
        locks.iter().any(|lock| lock.holds.is_none() && lock.message.contains("control group")),
        "{locks:?}"
    );
    let (_, locks) = kind.check(&server.address("owner", "club"), &access()).unwrap();
    let open: Vec<_> = locks.iter().filter(|lock| lock.holds == Some(false)).map(|lock| lock.name).collect();
    assert!(open.contains(&"reads no passwords") && open.contains(&"changes no setting"), "{open:?}");
}

/// The server says which of its functions may change something. What the role may still run of them is this list, on any version.
#[test]
#[ignore = "long: cargo xtask long"]
fn the_role_runs_no_function_that_changes_something() {
    let Some(server) = Server::start() else { return };
    let path =
        server.database("club", &format!("CREATE EXTENSION dblink; CREATE EXTENSION tablefunc; {DDL}"));
    let engine = engine(20);
    let database = opened(&engine, &path);
    let left = "SELECT DISTINCT proname::text FROM pg_proc WHERE provolatile = 'v' AND has_function_privilege(oid, 'EXECUTE') \
                AND prokind = 'f' AND NOT 'internal'::regtype = ANY (proargtypes) ORDER BY 1";
    let allowed = ["clock_timestamp", "gen_random_uuid", "pg_export_snapshot", "random", "timeofday"];
    for name in cells(&engine, &database, left) {
        let name = name.as_str().unwrap();
        let is_allowed = allowed.contains(&name) || name.starts_with("pg_") && name.ends_with("_size");
        assert!(is_allowed || ["random_normal", "uuidv4", "uuidv7"].contains(&name), "{name}");
    }
    for sql in [
        "SELECT * FROM dblink('dbname=club', 'SELECT 1') AS t(a int)",
        "SELECT * FROM crosstab('SELECT 1, 1, 1') AS t(a int, b int)",
        "SELECT * FROM ts_stat('SELECT ''a''::tsvector')",
        "SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, ''b''::tsquery')",
        "SELECT schema_to_xml('public', true, true, '')",
        "SELECT query FROM pg_stat_activity",
        "SELECT * FROM pg_stat_get_activity(NULL)",
        "SELECT * FROM pg_locks",
    ] {
        let outcome = engine.run(&database, sql).outcome;
        assert_eq!(
            outcome.failure().map(|failure| failure.kind),
            Some(FailureKind::Denied),
            "{sql}: {outcome:?}"
        );
    }
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_server_that_cannot_be_used_is_named_with_a_remedy_and_without_the_password() {
    let Some(mut server) = Server::start() else { return };
    let path = server.database("club", DDL);
    let wrong = Access { password: Some(Secret("wrong-secret".into())), ..access() };
    let none = Access { password: None, ..access() };
    let message = |path: &Path, access: Access| {
        engine_of(Limits::default(), access).open(path).map(drop).unwrap_err().to_string()
    };
    for (text, part) in [
        (message(&path, wrong), "PGPASSWORD"),
        (message(&path, none), "PGPASSWORD"),
        (message(&server.address("sqlgauge", "nowhere"), access()), "does not exist"),
        (message(Path::new("postgresql://sqlgauge:hunter2@127.0.0.1/club"), access()), "would be recorded"),
    ] {
        assert!(text.contains(part) && !text.contains("wrong-secret") && !text.contains("hunter2"), "{text}");
    }
    server.kill();
    assert!(message(&path, access()).contains("check that the server runs"));
}

#[test]
#[ignore = "long: cargo xtask long"]
fn all_connections_read_one_snapshot_and_a_change_has_another_hash() {
    let Some(server) = Server::start() else { return };
    let path = server.database("club", DDL);
    let first = engine(5);
    let before = opened(&first, &path);
    server.sql("club", "UPDATE team SET name = 'changed' WHERE id = 1");
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                assert_eq!(cells(&first, &before, "SELECT name FROM team WHERE id = 1"), [Value::text("a")]);
            });
        }
    });
    let second = engine(5);
    let after = opened(&second, &path);
    assert_ne!(before.content_hash().unwrap(), after.content_hash().unwrap());
    server.sql("club", "UPDATE team SET name = 'a' WHERE id = 1");
    let again = engine(5);
    assert_eq!(before.content_hash().unwrap(), opened(&again, &path).content_hash().unwrap());
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_killed_server_blames_no_query() {
    let Some(mut server) = Server::start() else { return };
    let path = server.database("club", DDL);
    let before = engine(5);
    let database = opened(&before, &path);
    assert_eq!(cells(&before, &database, "SELECT 1"), [Value::Integer(1)]);
    server.kill();
    let outcome = before.run(&database, "SELECT 1").outcome;
    assert_eq!(outcome.failure().map(|failure| failure.kind), Some(FailureKind::Machine));
    assert!(before.check().unwrap_err().to_string().contains("same command again"));
    server.run();
    let after = engine(5);
    let reopened = opened(&after, &path);
    assert_eq!(reopened.content_hash().unwrap(), database.content_hash().unwrap());
    assert_eq!(cells(&after, &reopened, "SELECT count(*) FROM player"), [Value::Integer(1000)]);
}
