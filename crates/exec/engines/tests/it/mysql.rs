//! MySQL's protocol on a real MariaDB server.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlgauge_engine::{Engine, FailureKind, Limits, Value};
use sqlgauge_engines::{Access, Kind, Secret, Setup};

use crate::club::{assert_catalog, assert_comments, assert_cut, assert_outcomes, cells, opened};
use crate::servers::PASSWORD;
use crate::servers::mariadb::MariaDb;

const DDL: &str = "CREATE TABLE team (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, \
    budget DECIMAL(20, 4) COMMENT 'in EUR') COMMENT 'all teams'; \
    CREATE TABLE player (id BIGINT PRIMARY KEY, team_id INT, born DATE, height FLOAT, facts JSON, \
    FOREIGN KEY (team_id) REFERENCES team (id)); \
    INSERT INTO team VALUES (1, 'a', 0.1), (2, 'b', 12345678901234.5678); \
    INSERT INTO player SELECT seq, seq % 2 + 1, '2000-01-01' + INTERVAL seq DAY, 1.5, '{\"b\": 1, \"a\": [2.0]}' \
    FROM seq_1_to_1000; \
    CREATE VIEW tall AS SELECT * FROM player WHERE height > 1";

fn access() -> Access {
    Access { password: Some(Secret(PASSWORD.into())), connections: 3, ..Access::default() }
}

fn engine_of(limits: Limits, access: Access) -> Arc<dyn Engine> {
    Kind::find("mysql").unwrap().engine(limits, access)
}

fn engine(seconds: u64) -> Arc<dyn Engine> {
    engine_of(Limits { timeout: Duration::from_secs(seconds), ..Limits::default() }, access())
}

#[test]
#[ignore = "long: cargo xtask long"]
fn the_catalog_and_the_values_are_the_servers() {
    let Some(server) = MariaDb::start() else { return };
    let path = server.database("club", DDL);
    let engine = engine(20);
    let database = opened(&engine, &path);
    assert!(engine.name_and_version().contains("MariaDB"), "{}", engine.name_and_version());
    assert_catalog(&database, 5);
    assert_comments(&database);
    let decimal = |text: &str| Value::decimal(text).unwrap();
    for (sql, expected) in [
        ("SELECT SUM(id) FROM player", vec![Value::Integer(500_500)]),
        ("SELECT budget FROM team ORDER BY id", vec![decimal("0.1"), decimal("12345678901234.5678")]),
        ("SELECT 0.1 + 0.2, 0.1e0 + 0.2", vec![decimal("0.3"), Value::Real(0.1 + 0.2)]),
        ("SELECT AVG(id) / 3 FROM team", vec![decimal("0.5")]),
        (
            "SELECT 18446744073709551615, -1, 2.00",
            vec![decimal("18446744073709551615"), Value::Integer(-1), Value::Integer(2)],
        ),
        (
            "SELECT TRUE, NULL, x'00ff', b'101' + 0",
            vec![Value::Integer(1), Value::Null, Value::Blob([0, 255].into()), Value::Integer(5)],
        ),
        ("SELECT DATE '2020-01-01', TIMESTAMP '2020-01-01 00:00:00'", vec![Value::text("2020-01-01"); 2]),
        ("SELECT MIN(born), MAX(height) FROM player", vec![Value::text("2000-01-02"), Value::Real(1.5)]),
        ("SELECT TIMEDIFF('10:00:00', '11:30:00')", vec![Value::text("-01:30:00")]),
        ("SELECT facts FROM player WHERE id = 1", vec![Value::text(r#"{"a":[2],"b":1}"#)]),
        ("SELECT JSON_EXTRACT(facts, '$.a') FROM player WHERE id = 1", vec![Value::text("[2]")]),
        ("SELECT 'é ', \"it's\"", vec![Value::text("é "), Value::text("it's")]),
        ("SELECT COUNT(*) FROM tall; -- one statement", vec![Value::Integer(1000)]),
        ("(VALUES (1)) UNION ALL (SELECT id FROM team) LIMIT 0", vec![]),
        ("SELECT LENGTH(GROUP_CONCAT(REPEAT('x', 2000))) FROM player", vec![Value::Integer(2_000_999)]),
    ] {
        assert_eq!(cells(&engine, &database, sql), expected, "{sql}");
    }
    for _ in 0..3 {
        assert_cut(&engine, &database, "SELECT a.* FROM player a, player b, player c");
    }
    engine.check().unwrap();
}

/// What else a stranger may write here, and what becomes of it.
const HOSTILE: &[(&str, FailureKind)] = {
    use FailureKind::{Denied, Empty, InvalidQuery, Parameters, RuntimeError, Timeout, TooLarge};
    &[
        ("SELECT 9223372036854775807 + 1", RuntimeError),
        ("# nothing", Empty),
        ("SELEC 1", Denied),
        ("SELECT * FROM nowhere.nothing", Denied),
        ("SELECT SUM(SUM(id)) FROM team", InvalidQuery),
        ("SELECT 1 UNION SELECT 1, 2", InvalidQuery),
        ("SELECT (SELECT 1, 2)", InvalidQuery),
        ("SELECT ?", Parameters),
        ("SELECT (SELECT id FROM team)", RuntimeError),
        // Commands.
        ("REPLACE INTO team VALUES (3, 'c', 1)", Denied),
        ("CREATE TABLE x (a INT)", Denied),
        ("CREATE TEMPORARY TABLE x (a INT)", Denied),
        ("CREATE FUNCTION f() RETURNS INT RETURN 1", Denied),
        ("LOAD DATA INFILE '/etc/passwd' INTO TABLE team", Denied),
        ("LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE team", Denied),
        ("SET GLOBAL max_connections = 1", Denied),
        ("SET max_statement_time = 0", Denied),
        ("SET STATEMENT max_statement_time = 0 FOR SELECT 1", Denied),
        ("SET SESSION TRANSACTION READ WRITE", Denied),
        ("SHOW PROCESSLIST", Denied),
        ("SHOW GRANTS", Denied),
        ("SAVEPOINT a", Denied),
        ("PREPARE a FROM 'SELECT 1'", Denied),
        ("EXECUTE IMMEDIATE 'DELETE FROM team'", Denied),
        ("DEALLOCATE PREPARE a", Denied),
        ("HANDLER team OPEN", Denied),
        ("LOCK TABLES team WRITE", Denied),
        ("FLUSH TABLES WITH READ LOCK", Denied),
        ("CALL f()", Denied),
        ("DO SLEEP(100)", Denied),
        ("KILL 1", Denied),
        ("ANALYZE SELECT 1", Denied),
        ("EXPLAIN SELECT 1", Denied),
        ("OPTIMIZE TABLE team", Denied),
        ("USE mysql", Denied),
        ("GRANT ALL ON *.* TO sqlgauge", Denied),
        ("ALTER USER sqlgauge IDENTIFIED BY ''", Denied),
        ("INSTALL SONAME 'x'", Denied),
        ("SHUTDOWN", Denied),
        ("XA START 'a'", Denied),
        ("BEGIN NOT ATOMIC DELETE FROM team; END", Denied),
        // Queries that would be more than that.
        ("SELECT 1 /*! INTO OUTFILE '/tmp/sqlgauge-written' */", Denied),
        ("SELECT 1 /*M!100000 , SLEEP(100) */", Denied),
        ("/*! DELETE FROM team */", Denied),
        ("SELECT 1 INTO OUTFILE '/tmp/sqlgauge-written'", Denied),
        ("SELECT 1 INTO DUMPFILE '/tmp/sqlgauge-written'", Denied),
        ("SELECT 1 INTO @a", Denied),
        ("SELECT LOAD_FILE('/etc/passwd')", Denied),
        ("SELECT load_file /* x */ ('/etc/passwd')", Denied),
        ("SELECT * FROM mysql.user", Denied),
        ("SELECT * FROM mysql.global_priv", Denied),
        ("SELECT * FROM team FOR UPDATE", Denied),
        ("SELECT * FROM (SELECT * FROM team LOCK IN SHARE MODE) t", Denied),
        ("SELECT SLEEP(100)", Denied),
        ("SELECT `sleep`(100)", Denied),
        ("SELECT BENCHMARK(1000000000, MD5('x'))", Denied),
        ("SELECT GET_LOCK('a', 100)", Denied),
        ("SELECT RELEASE_ALL_LOCKS()", Denied),
        ("SELECT FOUND_ROWS()", Denied),
        ("SELECT MASTER_POS_WAIT('a', 1)", Denied),
        ("SELECT * FROM information_schema.processlist", Denied),
        ("SELECT * FROM INFORMATION_SCHEMA . `PROCESSLIST`", Denied),
        ("SELECT * FROM performance_schema.threads", Denied),
        ("SELECT * FROM information_schema.innodb_trx", Denied),
        ("SELECT NEXTVAL(team)", Denied),
        // Without end, and too much.
        ("WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT * FROM a", Timeout),
        ("WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT COUNT(*) FROM a", Timeout),
        ("SELECT COUNT(*) FROM player a, player b, player c, player d", Timeout),
        ("SELECT a.id, b.name FROM player a, team b, player c", TooLarge),
        ("SELECT MAX(MD5(CONCAT(a.id, b.id, c.id))) FROM player a, player b, player c", Timeout),
        ("SELECT a.id FROM player a, player b, player c ORDER BY RAND()", Timeout),
        ("SELECT REPEAT('x', 16777216)", TooLarge),
        ("SELECT REPEAT('x', 100000000)", TooLarge),
        ("SELECT REPEAT('x', 2000000000)", TooLarge),
        ("SELECT REPEAT('x', 1000000) FROM player", TooLarge),
        ("SELECT LENGTH(GROUP_CONCAT(REPEAT('x', 100000))) FROM player", TooLarge),
    ]
};

#[test]
#[ignore = "long: cargo xtask long"]
fn whatever_a_text_says_it_has_a_typed_outcome_and_nothing_changes() {
    let Some(server) = MariaDb::start() else { return };
    let path = server.database("club", DDL);
    let limits = Limits { timeout: Duration::from_secs(2), max_rows: 200_000, ..Limits::default() };
    let engine = engine_of(limits, access());
    let database = opened(&engine, &path);
    let state = "CHECKSUM TABLE team, player, mysql.global_priv, mysql.db, mysql.proc; SHOW TABLES";
    let before = server.sql("club", state);
    let deep = format!("SELECT {}1{}", "(".repeat(20_000), ")".repeat(20_000));
    assert_outcomes(&engine, &database, HOSTILE);
    let _any = engine.run(&database, &deep);
    assert_eq!(cells(&engine, &database, "SELECT COUNT(*) FROM team"), [Value::Integer(2)]);
    engine.check().unwrap();
    assert_eq!(server.sql("club", state), before);
    assert!(!Path::new("/tmp/sqlgauge-written").exists());
    // Nothing is left running.
    let left =
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'sqlgauge' AND COMMAND <> 'Sleep'";
    assert_eq!(server.sql("", left), "0");
}

/// As an account with all rights the settings that a query makes still end with it, and it still writes nothing.
#[test]
#[ignore = "long: cargo xtask long"]
fn nothing_outlives_its_query() {
    let Some(server) = MariaDb::start() else { return };
    server.database("club", DDL);
    server.sql("", "CREATE USER boss@'%'; GRANT ALL ON *.* TO boss@'%'");
    for (name, body) in
        [("grow", "INSERT INTO team VALUES (9, 'z', 1)"), ("relax", "SET max_statement_time = 0")]
    {
        let function = format!("CREATE FUNCTION {name}() RETURNS INT BEGIN {body}; RETURN 1; END//");
        server.sql("club", &format!("DELIMITER //\n{function}"));
    }
    let engine = engine_of(
        Limits { timeout: Duration::from_secs(5), ..Limits::default() },
        Access { password: None, connections: 1, ..Access::default() },
    );
    let database = opened(&engine, &server.address("boss", "club"));
    for (sql, probe, expected) in [
        ("SELECT @a := 7", "SELECT @a IS NULL", Value::Integer(1)),
        ("SELECT relax()", "SELECT @@max_statement_time = 5", Value::Integer(1)),
        ("SELECT grow()", "SELECT COUNT(*) FROM team", Value::Integer(2)),
        ("SELECT LAST_INSERT_ID(5)", "SELECT LAST_INSERT_ID()", Value::Integer(0)),
    ] {
        let _any = engine.run(&database, sql);
        for _ in 0..2 {
            assert_eq!(cells(&engine, &database, probe), std::slice::from_ref(&expected), "{sql}");
        }
    }
    assert_eq!(server.sql("club", "SELECT COUNT(*) FROM team"), "2");
}

#[test]
#[ignore = "long: cargo xtask long"]
fn setup_makes_the_locks_and_check_sees_an_account_without_them() {
    let Some(server) = MariaDb::start() else { return };
    let path = server.database("club", DDL);
    let kind = Kind::find("mysql").unwrap();
    let (version, locks) = kind.check(&path, &access()).unwrap();
    assert!(version.contains("MariaDB"), "{version}");
    let open: Vec<_> = locks.iter().filter(|lock| lock.holds == Some(false)).collect();
    assert!(open.is_empty() && locks.len() > 15, "{open:?}");
    server.sql("", "CREATE USER boss@'%'; GRANT ALL ON *.* TO boss@'%'");
    let none = Access { password: None, connections: 1, ..Access::default() };
    let (_, locks) = kind.check(&server.address("boss", "club"), &none).unwrap();
    let open: Vec<_> = locks.iter().filter(|lock| lock.holds == Some(false)).map(|lock| lock.name).collect();
    for name in ["has no right but SELECT", "reads no passwords", "writes no file"] {
        assert!(open.contains(&name), "{name}: {open:?}");
    }
    assert!(!Path::new("/tmp/sqlgauge-lock").exists());
    // An account is of no use before it has a password, and reaches one database only.
    server.sql("", &kind.setup(&Setup { role: "fresh".into(), ..Setup::default() }));
    let opening = engine_of(Limits::default(), none).open(&server.address("fresh", "club")).map(drop);
    assert!(opening.unwrap_err().to_string().contains("locked"));
    server.sql("", "CREATE DATABASE clubx; CREATE DATABASE c_ub");
    assert!(engine(5).open(&server.address("sqlgauge", "clubx")).is_err());
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_server_that_cannot_be_used_blames_no_query_and_is_named_without_the_password() {
    let Some(mut server) = MariaDb::start() else { return };
    let path = server.database("club", DDL);
    let wrong = Access { password: Some(Secret("wrong-secret".into())), ..access() };
    let none = Access { password: None, ..access() };
    let message = |path: &Path, access: Access| {
        engine_of(Limits::default(), access).open(path).map(drop).unwrap_err().to_string()
    };
    for (text, part) in [
        (message(&path, wrong), "SQLGAUGE_DB_PASSWORD"),
        (message(&path, none), "SQLGAUGE_DB_PASSWORD"),
        (message(&server.address("sqlgauge", "nowhere"), access()), "check the name of the database"),
        (message(Path::new("mysql://sqlgauge:hunter2@127.0.0.1/club"), access()), "would be recorded"),
    ] {
        assert!(text.contains(part) && !text.contains("wrong-secret") && !text.contains("hunter2"), "{text}");
    }
    let before = engine(20);
    let database = opened(&before, &path);
    assert_eq!(cells(&before, &database, "SELECT 1"), [Value::Integer(1)]);
    // A connection that was ended while it was idle is made anew.
    let ours = "SELECT GROUP_CONCAT(ID) FROM information_schema.PROCESSLIST WHERE USER = 'sqlgauge'";
    for id in server.sql("", ours).split(',') {
        server.sql("", &format!("KILL {id}"));
    }
    assert_eq!(cells(&before, &database, "SELECT 1"), [Value::Integer(1)]);
    server.kill();
    assert!(message(&path, access()).contains("check that the server runs"));
    let outcome = before.run(&database, "SELECT 1").outcome;
    assert_eq!(outcome.failure().map(|failure| failure.kind), Some(FailureKind::Machine));
    assert!(before.check().unwrap_err().to_string().contains("same command again"));
    server.run();
    let after = engine(20);
    let reopened = opened(&after, &path);
    assert_eq!(reopened.content_hash().unwrap(), database.content_hash().unwrap());
    assert_eq!(cells(&after, &reopened, "SELECT COUNT(*) FROM player"), [Value::Integer(1000)]);
    server.sql("club", "UPDATE team SET name = 'changed' WHERE id = 1");
    assert_ne!(opened(&engine(20), &path).content_hash().unwrap(), database.content_hash().unwrap());
}
