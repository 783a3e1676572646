//! The schemas that are hostile to every rule: all that SQLite allows and a rule may forget.

/// Schemas by name. The tables of the rules' cases (`t`, `u`, `n`…) stand in them with other types, keys and
/// collations, so that every case can be tried on every one.
pub(crate) const SCHEMAS: &[(&str, &str)] = &[
    (
        "plain",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, name TEXT, age INT, born TEXT NOT NULL);
CREATE TABLE u (uid INTEGER PRIMARY KEY, t_id INT REFERENCES t(id), must INT NOT NULL REFERENCES t(id), v INT);
CREATE TABLE w (x INT, y INT NOT NULL);",
    ),
    (
        "choices",
        "CREATE TABLE e (id INTEGER PRIMARY KEY, k INT UNIQUE, c TEXT NOT NULL UNIQUE);
CREATE TABLE r (k, z INT NOT NULL DEFAULT 0, UNIQUE (k DESC, z));
CREATE TABLE kz (id INTEGER PRIMARY KEY, k INT NOT NULL, z INT NOT NULL, UNIQUE (k, z));
CREATE TABLE ship (sid INTEGER PRIMARY KEY, title TEXT, crew INT, home TEXT REFERENCES port(name));
CREATE TABLE port (name TEXT PRIMARY KEY, size INT);",
    ),
    (
        "collations",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT COLLATE NOCASE NOT NULL UNIQUE, name TEXT COLLATE RTRIM, age NUMERIC, born TEXT COLLATE NOCASE);
CREATE TABLE u (uid INTEGER PRIMARY KEY, t_id TEXT REFERENCES t(code), must TEXT COLLATE RTRIM NOT NULL, v TEXT);
CREATE TABLE n (a TEXT COLLATE NOCASE, b TEXT, c TEXT COLLATE RTRIM UNIQUE);
CREATE UNIQUE INDEX n_b ON n (b COLLATE NOCASE);
CREATE VIEW vn AS SELECT a AS name, b, c FROM n;
CREATE VIEW vt AS SELECT name, code || '' AS code, age FROM t;",
    ),
    (
        "affinities",
        "CREATE TABLE r (k, i INT, n NUMERIC, x REAL, s TEXT, b BLOB);
CREATE TABLE q (k, i INTEGER, n DECIMAL(5,2), x DOUBLE, s VARCHAR(10), b);
CREATE TABLE t (id, code UNIQUE, name BLOB, age REAL, born NUMERIC);
CREATE TABLE u (uid TEXT PRIMARY KEY, t_id REFERENCES t(code), must NOT NULL, v DATE);",
    ),
    (
        "rowids",
        "CREATE TABLE t (id INTEGER PRIMARY KEY DESC, code TEXT UNIQUE, name TEXT, age INT, born TEXT);
CREATE TABLE u (uid INT PRIMARY KEY, t_id INT REFERENCES t(id), must INT NOT NULL REFERENCES t(id), v INT) WITHOUT ROWID;
CREATE TABLE n (k TEXT PRIMARY KEY, a INT, b INT);
CREATE TABLE p (x INT, y INT, PRIMARY KEY (x, y));
CREATE TABLE c (b INT REFERENCES p(x), y INT, FOREIGN KEY (b, y) REFERENCES p (x, y));
CREATE TABLE s (x INT NOT NULL, y TEXT COLLATE NOCASE, PRIMARY KEY (y, x)) WITHOUT ROWID;
CREATE TABLE st (i INT PRIMARY KEY, a ANY, t TEXT NOT NULL, r REAL) STRICT;",
    ),
    (
        "people",
        "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, boss INT REFERENCES person(id), age INT CHECK (age > 0), born DATE);
CREATE TABLE friend (a INT NOT NULL REFERENCES person(id), b INT NOT NULL REFERENCES person(id), since TEXT, PRIMARY KEY (a, b));
CREATE TABLE \"order\" (\"group\" INT, \"my col\" TEXT COLLATE NOCASE, größe REAL, \"a\"\"b\" INT UNIQUE, twice INT GENERATED ALWAYS AS (\"group\" * 2) VIRTUAL, low TEXT GENERATED ALWAYS AS (lower(\"my col\")) STORED);
CREATE INDEX order_group ON \"order\" (\"group\" DESC);
CREATE INDEX order_low ON \"order\" (lower(\"my col\"));
CREATE UNIQUE INDEX order_part ON \"order\" (größe) WHERE \"group\" > 1;
CREATE VIEW grown AS SELECT id, name, age + 0 AS age, boss FROM person WHERE age > 1;
CREATE VIEW pairs AS SELECT p.name, f.b AS other FROM person p LEFT JOIN friend f ON f.a = p.id;",
    ),
    (
        "references",
        "CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, code REAL NOT NULL UNIQUE, name TEXT COLLATE NOCASE UNIQUE, age INT, born NOT NULL UNIQUE);
CREATE TABLE u (uid INTEGER PRIMARY KEY, t_id REFERENCES t(id), must NOT NULL REFERENCES t(id), v INT REFERENCES t(code));
CREATE TABLE w (x TEXT REFERENCES t(name), y INT NOT NULL REFERENCES t(born));
CREATE TABLE p (x TEXT NOT NULL, y INT NOT NULL, PRIMARY KEY (x COLLATE NOCASE, y));
CREATE TABLE c (b NOT NULL, y TEXT NOT NULL, FOREIGN KEY (b, y) REFERENCES p);
CREATE TABLE n (a REAL REFERENCES s (x), b NUMERIC REFERENCES t(id), c BLOB REFERENCES t(code));
CREATE TABLE s (x INT PRIMARY KEY NOT NULL, y TEXT) WITHOUT ROWID;",
    ),
];
