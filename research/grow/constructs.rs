//! Texts that grow: every construct of SQL nested, chained, doubled or made long, and answers of models besides.

use std::fmt::Write as _;

/// The tables that the texts are about.
pub const SCHEMA: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, score REAL);
     CREATE TABLE big (a INTEGER NOT NULL, b TEXT, c INTEGER REFERENCES t(id), UNIQUE (a));";

/// One way in which a text grows.
pub struct Construct {
    /// What grows.
    pub name: &'static str,
    /// The text with that many of it.
    pub text: fn(usize) -> String,
}

impl Construct {
    /// The longest text of at most that many bytes, at least one with two of the construct.
    pub fn of_bytes(&self, bytes: usize) -> String {
        let text = self.text;
        let (mut low, mut high) = (2, 3);
        while high < (1 << 21) && text(high).len() <= bytes {
            (low, high) = (high, high * 2);
        }
        while high - low > 1 + low / 64 {
            let middle = usize::midpoint(low, high);
            if text(middle).len() <= bytes { low = middle } else { high = middle }
        }
        text(low)
    }
}

/// `before`, `n` times `open`, `core`, `n` times `close`, `after`.
fn nested(n: usize, before: &str, open: &str, core: &str, close: &str, after: &str) -> String {
    [before, &open.repeat(n), core, &close.repeat(n), after].concat()
}

/// `first` and `n` parts behind it, each made from its number.
fn chained(n: usize, first: &str, part: impl Fn(usize) -> String) -> String {
    (0..n).fold(first.to_owned(), |text, place| text + &part(place))
}

/// `WITH c0 AS (first), c1 AS (…), … last`, the text of each made from its number.
fn ctes(n: usize, first: &str, part: impl Fn(usize) -> String, last: &str) -> String {
    let mut text = format!("WITH c0 AS ({first})");
    for place in 1..=n {
        let _ = write!(text, ", c{place} AS ({})", part(place));
    }
    text + " " + &last.replace("LAST", &format!("c{n}"))
}

macro_rules! constructs {
    ($($name:literal: |$n:ident| $text:expr;)*) => {
        /// All constructs.
        pub static CONSTRUCTS: &[Construct] = &[$(Construct { name: $name, text: |$n| $text }),*];
    };
}

constructs! {
    "between chain": |n| nested(n, "SELECT 1", " BETWEEN 1 AND 1", "", "", "");
    "between chain over a column": |n| nested(n, "SELECT id FROM t WHERE id", " BETWEEN 1 AND 1", "", "", "");
    "between in its bound": |n| nested(n, "SELECT ", "1 BETWEEN (", "1", ") AND 1", "");
    "not chain": |n| nested(n, "SELECT id FROM t WHERE ", "NOT ", "id", "", "");
    "not over parentheses": |n| nested(n, "SELECT id FROM t WHERE ", "NOT (id = 1 AND ", "id", ")", "");
    "case in ELSE": |n| nested(n, "SELECT ", "CASE WHEN id = 1 THEN 2 ELSE ", "3", " END", " FROM t");
    "case in WHEN": |n| nested(n, "SELECT ", "CASE WHEN ", "id", " THEN 1 ELSE 0 END", " FROM t");
    "case with an operand": |n| nested(n, "SELECT ", "CASE ", "id", " WHEN 1 THEN 2 WHEN 3 THEN 4 END", " FROM t");
    "case with many branches": |n| nested(n, "SELECT CASE id", " WHEN 1 THEN 2", "", "", " END FROM t");
    "iif": |n| nested(n, "SELECT ", "iif(id, ", "3", ", 0)", " FROM t");
    "coalesce": |n| nested(n, "SELECT ", "coalesce(score, ", "3", ", name)", " FROM t");
    "parentheses": |n| nested(n, "SELECT ", "(", "1", ")", "");
    "parentheses that stay open": |n| nested(n, "SELECT ", "(", "1", "", "");
    "parentheses around a wrong name": |n| nested(n, "SELECT ", "(1 + ", "nothing", ")", "");
    "parentheses around what SQLite refuses": |n| nested(n, "SELECT ", "(1 + ", "(1, 2)", ")", "");
    "functions around what SQLite refuses": |n| nested(n, "SELECT ", "abs(", "x'00' = (1, 2)", ")", "");
    "list of IN": |n| nested(n, "SELECT id FROM t WHERE id IN (1", ", 2", "", "", ")");
    "list of IN, all different": |n| chained(n, "SELECT id FROM t WHERE id IN (0", |k| format!(", {k}")) + ")";
    "list of IN, columns": |n| nested(n, "SELECT id FROM t WHERE id IN (score", ", name || id", "", "", ")");
    "chain of IN": |n| nested(n, "SELECT id", " IN (1, 2)", "", "", " FROM t");
    "subqueries of IN": |n| nested(n, "SELECT id FROM t", " WHERE id IN (SELECT id FROM t", "", ")", "");
    "subqueries of NOT IN": |n| nested(n, "SELECT id FROM t", " WHERE id NOT IN (SELECT c FROM big", "", ")", "");
    "many subqueries of IN": |n| nested(n, "SELECT id FROM t WHERE 1", " AND id IN (SELECT c FROM big)", "", "", "");
    "EXISTS": |n| nested(n, "SELECT id FROM t", " WHERE EXISTS (SELECT 1 FROM t", "", ")", "");
    "correlated EXISTS": |n| nested(n, "SELECT id FROM t x", " WHERE EXISTS (SELECT 1 FROM t x WHERE id = 1 AND x.id = id", " AND id", ")", "").replace(" WHERE id = 1 AND x.id = id WHERE", " WHERE x.id = 2 AND ");
    "many EXISTS": |n| nested(n, "SELECT id FROM t WHERE 1", " AND EXISTS (SELECT 1 FROM big WHERE c = t.id)", "", "", "");
    "scalar subqueries": |n| nested(n, "SELECT ", "(SELECT ", "1", ")", "");
    "scalar subqueries over tables": |n| nested(n, "SELECT ", "(SELECT max(id) + ", "1", " FROM t)", " FROM t");
    "many scalar subqueries": |n| nested(n, "SELECT 1", ", (SELECT max(a) FROM big WHERE c = t.id)", "", "", " FROM t");
    "subqueries in FROM": |n| nested(n, "", "SELECT * FROM (", "SELECT 3", ")", "");
    "subqueries in FROM, a column": |n| nested(n, "", "SELECT id FROM (", "SELECT id FROM t", ")", "");
    "subqueries in FROM with conditions": |n| nested(n, "", "SELECT * FROM (", "SELECT * FROM t", ") WHERE id > 1", "");
    "subqueries in FROM with groups": |n| nested(n, "", "SELECT id, count(*) c FROM (", "SELECT id FROM t", ") GROUP BY id", "");
    "subqueries in FROM, DISTINCT": |n| nested(n, "", "SELECT DISTINCT * FROM (", "SELECT id FROM t", ")", "");
    "doubling columns": |n| nested(n, "", "SELECT a + a AS a FROM (", "SELECT id AS a FROM t", ")", "");
    "doubling conditions": |n| nested(n, "", "SELECT a FROM (SELECT a || a AS a FROM (", "SELECT name AS a FROM t", ")) WHERE a > 1", "");
    "doubling widths": |n| nested(n, "", "SELECT *, * FROM (", "SELECT id FROM t", ")", "");
    "doubling aliases": |n| chained(n, "SELECT 1 AS a0, ", |k| format!("(SELECT a{k} + a{k}) AS a{}, ", k + 1)) + "1 FROM t ORDER BY a1";
    "joins": |n| nested(n, "SELECT * FROM t", ", t", "", "", "");
    "joins with ON": |n| chained(n, "SELECT t.id FROM t", |k| format!(" JOIN t t{k} ON t{k}.id = t.id"));
    "joins with USING": |n| nested(n, "SELECT * FROM t", " JOIN t USING (id)", "", "", "");
    "joins with USING, full": |n| nested(n, "SELECT id FROM t", " FULL JOIN t USING (id)", "", "", "");
    "natural joins": |n| nested(n, "SELECT * FROM t", " NATURAL JOIN t", "", "", "");
    "left joins": |n| chained(n, "SELECT count(*) FROM t", |k| format!(" LEFT JOIN big b{k} ON b{k}.a = t.id"));
    "parenthesised joins": |n| nested(n, "SELECT 1 FROM ", "(t JOIN ", "t", " USING (id))", "");
    "joins to the right": |n| nested(n, "SELECT 1 FROM t", " JOIN (t", "", " JOIN big)", "");
    "joins of subqueries": |n| nested(n, "SELECT * FROM t", ", (SELECT * FROM big WHERE a > 1)", "", "", "");
    "compound": |n| nested(n, "SELECT 1", " UNION SELECT 1", "", "", "");
    "compound of tables": |n| nested(n, "SELECT id FROM t", " UNION ALL SELECT c FROM big WHERE a = 1", "", "", "");
    "compound of equal operands": |n| nested(n, "SELECT id FROM t WHERE id = 1", " INTERSECT SELECT id FROM t WHERE id = 1", "", "", "");
    "compound with ORDER BY": |n| nested(n, "SELECT id + 1 FROM t", " UNION SELECT id + 2 FROM t", "", "", " ORDER BY id + 2");
    "compounds in FROM": |n| nested(n, "", "SELECT * FROM (", "SELECT id FROM t", " UNION SELECT id FROM t)", "");
    "linear CTEs": |n| ctes(n, "SELECT id FROM t", |k| format!("SELECT id FROM c{}", k - 1), "SELECT * FROM LAST");
    "linear CTEs, unused": |n| ctes(n, "SELECT id FROM t", |k| format!("SELECT id FROM c{}", k - 1), "SELECT 1");
    "doubling CTEs": |n| ctes(n, "SELECT 1 a, 2 b", |k| format!("SELECT * FROM c{0} x, c{0} y", k - 1), "SELECT * FROM LAST");
    "doubling CTEs, one column": |n| ctes(n, "SELECT 1 a", |k| format!("SELECT x.a FROM c{0} x, c{0} y", k - 1), "SELECT a FROM LAST");
    "doubling CTEs, compound": |n| ctes(n, "SELECT id FROM t", |k| format!("SELECT * FROM c{0} UNION ALL SELECT * FROM c{0}", k - 1), "SELECT * FROM LAST");
    "doubling CTEs, IN": |n| ctes(n, "SELECT id FROM t", |k| format!("SELECT id FROM c{0} WHERE id IN (SELECT id FROM c{0})", k - 1), "SELECT * FROM LAST");
    "wide CTEs": |n| ctes(n, "SELECT * FROM t", |_| "SELECT * FROM big".to_owned(), "SELECT * FROM LAST");
    "CTEs of all before": |n| ctes(n, "SELECT 1 a", |k| format!("SELECT a FROM c0, c{}", k - 1), "SELECT a FROM LAST");
    "nested WITH": |n| nested(n, "", "WITH c AS (", "SELECT 1 a", ") SELECT * FROM c", "");
    "WITH inside subqueries": |n| nested(n, "SELECT ", "(WITH c AS (SELECT 1 a) SELECT a + ", "1", " FROM c)", "");
    "recursive CTEs": |n| chained(n, "WITH RECURSIVE r AS (SELECT 1 a UNION ALL SELECT a + 1 FROM r WHERE a < 9)", |k| format!(", r{k} AS (SELECT 1 a UNION SELECT a + 1 FROM r{k})")) + " SELECT * FROM r";
    "recursive CTE with many arms": |n| nested(n, "WITH RECURSIVE r AS (SELECT 1 a", " UNION ALL SELECT a + 1 FROM r", "", "", ") SELECT * FROM r");
    "windows": |n| nested(n, "SELECT 1", ", row_number() OVER (PARTITION BY id ORDER BY score)", "", "", " FROM t");
    "named windows": |n| chained(n, "SELECT rank() OVER w FROM t WINDOW w AS (ORDER BY id)", |k| format!(", w{k} AS (PARTITION BY id)"));
    "windows of windows": |n| chained(n, "SELECT 1 FROM t WINDOW w0 AS (ORDER BY id)", |k| format!(", w{} AS (w{k})", k + 1)) + &format!(" ORDER BY rank() OVER w{n}");
    "uses of a named window": |n| nested(n, "SELECT 1", ", rank() OVER w", "", "", " FROM t WINDOW w AS (ORDER BY id)");
    "long name": |n| nested(n, "SELECT ", "a", "", "", " FROM t");
    "long name in quotes": |n| nested(n, "SELECT \"", "a\"\"", "", "", "\" FROM t");
    "long table name": |n| nested(n, "SELECT 1 FROM ", "a", "", "", "");
    "long alias": |n| nested(n, "SELECT id AS ", "a", "", "", " FROM t ORDER BY 1");
    "long string": |n| nested(n, "SELECT name FROM t WHERE name = '", "a''", "", "", "'");
    "long number": |n| nested(n, "SELECT 1", "0", "", "", "");
    "long blob": |n| nested(n, "SELECT x'", "00", "", "", "'");
    "many strings": |n| chained(n, "SELECT name FROM t WHERE name IN ('x'", |k| format!(", 'it''s {k}'")) + ")";
    "comments": |n| nested(n, "SELECT ", "/* a */ ", "1", "", "");
    "line comments": |n| nested(n, "SELECT ", "-- a\n", "1", "", "");
    "open comments": |n| nested(n, "SELECT 1 ", "/* ", "", "", "");
    "open quotes": |n| nested(n, "SELECT '", "a ' b \" ", "", "", "");
    "quotes": |n| nested(n, "SELECT ", "''", "", "", "");
    "open quotes with many words": |n| nested(n, "SELECT id FROM t WHERE name = 'x", " select id from t", "", "", "");
    "brackets": |n| nested(n, "SELECT ", "[", "", "", "");
    "backquotes": |n| nested(n, "SELECT ", "` ", "", "", "");
    "semicolons": |n| nested(n, "SELECT 1", ";", "", "", "");
    "statements": |n| nested(n, "SELECT 1", "; SELECT 1", "", "", "");
    "blanks": |n| nested(n, "SELECT", " ", "1", "", "");
    "line ends": |n| nested(n, "SELECT", "\n", "nothing FROM t", "", "");
    "commas": |n| nested(n, "SELECT 1", ",", "", "", "");
    "limits with a comma": |n| nested(n, "SELECT 1 ", "FROM (SELECT 1 LIMIT 1, 2) ", "", "", "");
    "limits with a comma, nested": |n| nested(n, "", "SELECT 1 LIMIT (", "1", "), 2", "");
    "limits with a comma, in FROM": |n| nested(n, "", "SELECT * FROM (", "SELECT id FROM t", ") LIMIT 1, 2", "");
    "columns": |n| nested(n, "SELECT id", ", name", "", "", " FROM t");
    "columns with names": |n| chained(n, "SELECT id", |k| format!(", name AS n{k}")) + " FROM t";
    "columns with one name": |n| nested(n, "SELECT * FROM (SELECT 1 AS a", ", 2 AS a", "", "", ")");
    "columns with one name, created": |n| nested(n, "CREATE TABLE z (a", ", a", "", "", ")");
    "columns of a subquery, read": |n| chained(n, "SELECT * FROM (SELECT 1 AS a", |k| format!(", 2 AS a{k}")) + ") WHERE " + &chained(n, "a", |k| format!(" + a{k}"));
    "constant columns": |n| nested(n, "SELECT 1", ", 1", "", "", "");
    "columns that are no columns": |n| chained(n, "SELECT 1", |k| format!(", x{k}")) + " FROM t";
    "stars": |n| nested(n, "SELECT *", ", *", "", "", " FROM t");
    "stars over joins": |n| nested(n, "SELECT *", ", *", " FROM t", ", t", "");
    "stars of a table": |n| nested(n, "SELECT t.*", ", t.*", "", "", " FROM t");
    "stars in FROM": |n| nested(n, "SELECT * FROM (SELECT *", ", *", "", "", " FROM t)");
    "order": |n| nested(n, "SELECT id FROM t ORDER BY name", ", id", "", "", "");
    "order, mixed": |n| chained(n, "SELECT id FROM t ORDER BY name", |k| format!(", id + {k} DESC"));
    "order by number": |n| nested(n, "SELECT id, name FROM t ORDER BY 1", ", 2", "", "", "");
    "order by alias": |n| nested(n, "SELECT id + 1 AS a FROM t ORDER BY a", ", a COLLATE nocase", "", "", "");
    "groups": |n| nested(n, "SELECT id FROM t GROUP BY name", ", id", "", "", "");
    "groups, mixed": |n| chained(n, "SELECT id FROM t GROUP BY name", |k| format!(", id + {k}"));
    "groups by number": |n| nested(n, "SELECT id + name + score FROM t GROUP BY 1", ", 1", "", "", "");
    "groups by results": |n| chained(n, "SELECT 0", |k| format!(", id + {k}")) + &chained(n, " FROM t GROUP BY 1", |k| format!(", id + {k}"));
    "aliases": |n| chained(n, "SELECT id AS a0", |k| format!(", id AS a{}", k + 1)) + " FROM t WHERE a1 = 1";
    "aliases, read": |n| nested(n, "SELECT id + score AS a FROM t WHERE a", " AND a", "", "", "");
    "alias of a subquery, read": |n| nested(n, "SELECT (SELECT max(a) FROM big) AS x FROM t WHERE x", " + x", "", "", "");
    "aliases of aliases": |n| nested(n, "", "SELECT a AS a, a AS b FROM (", "SELECT 1 AS a", ")", "");
    "LIKE": |n| nested(n, "SELECT id", " LIKE 'a%'", "", "", " FROM t");
    "many LIKE": |n| nested(n, "SELECT id FROM t WHERE name LIKE 'a%'", " OR name LIKE '%b_'", "", "", "");
    "long pattern": |n| nested(n, "SELECT id FROM t WHERE name LIKE '", "%a_", "", "", "'");
    "GLOB": |n| nested(n, "SELECT id", " GLOB '*[a-z]'", "", "", " FROM t");
    "COLLATE": |n| nested(n, "SELECT name", " COLLATE nocase", "", "", " FROM t");
    "COLLATE in operands": |n| nested(n, "SELECT ", "name COLLATE nocase || (", "1", ")", " FROM t");
    "CAST": |n| nested(n, "SELECT ", "CAST(", "1", " AS INT)", "");
    "long type": |n| nested(n, "SELECT CAST(1 AS ", "a ", "", "", ")");
    "minus": |n| nested(n, "SELECT ", "- ", "id", "", " FROM t");
    "plus": |n| nested(n, "SELECT ", "+ ", "id", "", " FROM t");
    "complement": |n| nested(n, "SELECT ", "~", "id", "", " FROM t");
    "concatenation": |n| nested(n, "SELECT name", " || name", "", "", " FROM t");
    "sum": |n| nested(n, "SELECT id", " + 1", "", "", " FROM t");
    "sum to the right": |n| nested(n, "SELECT id", " + (id", "", ")", " FROM t");
    "many sums": |n| chained(n, "SELECT id FROM t WHERE id + 0 = 1", |k| format!(" OR id + {k} > {k}"));
    "comparisons": |n| nested(n, "SELECT id", " = 1", "", "", " FROM t");
    "comparisons with AND": |n| nested(n, "SELECT id FROM t WHERE id > 1", " AND id > 1", "", "", "");
    "AND, all different": |n| chained(n, "SELECT id FROM t WHERE id > 0", |k| format!(" AND id <> {k}"));
    "OR": |n| nested(n, "SELECT id FROM t WHERE id = 1", " OR id = 1", "", "", "");
    "OR, all different": |n| chained(n, "SELECT id FROM t WHERE id = 0", |k| format!(" OR id = {k}"));
    "OR, mixed": |n| chained(n, "SELECT id FROM t WHERE id = 0", |k| format!(" OR id = {} OR name = 'x{}'", k % 7, k % 5));
    "AND of ORs": |n| nested(n, "SELECT id FROM t WHERE (id = 1 OR name = 'a')", " AND (id = 2 OR score > 3)", "", "", "");
    "AND and OR in turns": |n| nested(n, "SELECT id FROM t WHERE id = 1", " AND (id = 2 OR (score > 3", "", "))", "");
    "AND as a result": |n| nested(n, "SELECT 1", " AND 1", "", "", " FROM t");
    "OR as a result in FROM": |n| nested(n, "SELECT * FROM (SELECT id", " OR id", "", "", " FROM t)");
    "equal columns": |n| chained(n, "SELECT 1 FROM t t0", |k| format!(", t t{}", k + 1)) + " WHERE 1" + &chained(n, "", |k| format!(" AND t{k}.id = t{}.id", k + 1));
    "equal values": |n| nested(n, "SELECT 1 FROM t WHERE id = 1", " AND id = score AND score = 1", "", "", "");
    "IS NULL": |n| nested(n, "SELECT id", " IS NULL", "", "", " FROM t");
    "JSON": |n| nested(n, "SELECT name", " -> '$.a'", "", "", " FROM t");
    "row values": |n| nested(n, "SELECT (1", ", 2", ") = (1", ", 2", ")");
    "rows of VALUES": |n| nested(n, "VALUES (1, 2)", ", (1, 2)", "", "", "");
    "rows of VALUES in FROM": |n| nested(n, "SELECT * FROM (VALUES (1, 2)", ", (1, 2)", "", "", ")");
    "columns of VALUES": |n| nested(n, "SELECT * FROM (VALUES (1", ", 2", "", "", "))");
    "aggregates": |n| nested(n, "SELECT count(*)", ", max(id)", "", "", " FROM t");
    "aggregates of CASE": |n| nested(n, "SELECT count(*)", ", sum(CASE WHEN id = 1 THEN 1 ELSE 0 END)", "", "", " FROM t");
    "aggregates over groups": |n| nested(n, "SELECT name, count(*) FROM t GROUP BY name HAVING count(*) > 1", " AND max(id) > 2", "", "", "");
    "aggregates of queries around": |n| nested(n, "SELECT ", "(SELECT max(t.id) + ", "1", ")", " FROM t");
    "arguments": |n| nested(n, "SELECT max(1", ", id", "", "", ") FROM t");
    "functions": |n| nested(n, "SELECT ", "abs(", "id", ")", " FROM t");
    "functions of two": |n| nested(n, "SELECT ", "max(id, ", "1", ")", " FROM t");
    "functions that do not exist": |n| nested(n, "SELECT ", "nothing(", "id", ")", " FROM t");
    "minimum by order": |n| nested(n, "SELECT id FROM t WHERE id = ", "(SELECT id FROM t WHERE id = ", "1", " ORDER BY id LIMIT 1)", "");
    "IN of a maximum": |n| nested(n, "SELECT id FROM t WHERE score = ", "(SELECT max(score) FROM t WHERE score > ", "1", ")", "");
    "window chain with frames": |n| chained(n, "SELECT id", |k| format!(", sum(id) OVER (PARTITION BY name ORDER BY score ROWS BETWEEN {k} PRECEDING AND {k} FOLLOWING)")) + " FROM t";
    "windows over windows": |n| nested(n, "SELECT * FROM (", "SELECT *, row_number() OVER (ORDER BY 1) FROM (", "SELECT id FROM t", ")", ")");
    "windows with a filter": |n| nested(n, "SELECT 1", ", count(*) FILTER (WHERE id > 1) OVER (ORDER BY id)", "", "", " FROM t");
    "case in WHEN of CASE": |n| nested(n, "SELECT ", "CASE WHEN CASE id WHEN 1 THEN ", "id", " END THEN 1 ELSE 0 END", " FROM t");
    "list of IN, row values": |n| chained(n, "SELECT id FROM t WHERE (id, name) IN (VALUES (0, 'a')", |k| format!(", ({k}, 'x{}')", k % 9)) + ")";
    "list of IN, row values without VALUES": |n| nested(n, "SELECT id FROM t WHERE (id, name) IN ((1, 'a')", ", (2, 'b')", "", "", ")");
    "list of IN, texts with letters of both cases": |n| chained(n, "SELECT id FROM t WHERE name COLLATE nocase IN ('A'", |k| format!(", '{}{k}'", if k % 2 == 0 { 'a' } else { 'A' })) + ")";
    "lists of IN": |n| nested(n, "SELECT id FROM t WHERE id IN (1, 2, 3)", " AND id IN (3, 2, 1)", "", "", "");
    "COLLATE of names in turns": |n| nested(n, "SELECT id FROM t WHERE name", " COLLATE nocase COLLATE rtrim COLLATE binary", "", "", " = 'a'");
    "comparisons with COLLATE": |n| nested(n, "SELECT id FROM t WHERE name = 'a'", " AND name = 'b' COLLATE nocase", "", "", "");
    "JSON arrows in turns": |n| nested(n, "SELECT name", " -> '$.a' ->> 0", "", "", " FROM t");
    "JSON functions": |n| nested(n, "SELECT ", "json_extract(json(", "name", "), '$.a')", " FROM t");
    "JSON tables": |n| chained(n, "SELECT 1 FROM t", |k| format!(", json_each(t.name) j{k}"));
    "concatenations of strings": |n| chained(n, "SELECT 'a'", |k| format!(" || '{k}'")) + " FROM t";
    "CAST of many types": |n| nested(n, "SELECT ", "CAST(CAST(", "id", " AS TEXT) AS REAL)", " FROM t");
    "CAST around comparisons": |n| nested(n, "SELECT id FROM t WHERE ", "CAST(1 = (", "id", ") AS INT)", "");
    "names in quotes": |n| nested(n, "SELECT \"id\"", ", \"name\"", "", "", " FROM \"t\"");
    "names in brackets": |n| nested(n, "SELECT [id]", ", `name`", "", "", " FROM [t]");
    "strings in double quotes": |n| chained(n, "SELECT id FROM t WHERE name = \"x\"", |k| format!(" OR name = \"x {k}\""));
    "long name in brackets": |n| nested(n, "SELECT 1 FROM [", "a b", "", "", "]");
    "long comment": |n| nested(n, "SELECT 1 /* ", "a * / ", "", "", "*/ FROM t");
    "long line comment": |n| nested(n, "SELECT 1 FROM t -- ", "it's ", "", "", "");
    "comments behind": |n| nested(n, "SELECT 1 FROM t", " -- a\n", "", "", "");
    "brackets that close": |n| nested(n, "SELECT 1", ")", "", "", "");
    "brackets in turns": |n| nested(n, "SELECT ", ")(", "", "", "");
    "brackets around columns": |n| nested(n, "SELECT ((((((((id))))))))", ", ((((((((name))))))))", "", "", " FROM t");
    "wide rows of VALUES": |n| format!("VALUES {}", chained(n / 500 + 1, "", |k| format!("{}({})", if k == 0 { "" } else { ", " }, chained(499, "1", |k| format!(", {k}")))));
    "wide rows of VALUES in FROM": |n| format!("SELECT column1 FROM (VALUES {}) WHERE column2 > 1", chained(n / 500 + 1, "", |k| format!("{}({})", if k == 0 { "" } else { ", " }, chained(499, "id", |_| ", score".to_owned())))).replace("id", "1").replace("score", "'s'");
    "wide compound": |n| format!("SELECT {0}{1}", chained(199, "id", |k| format!(", id + {k}")), format!(" FROM t UNION SELECT {} FROM t", chained(199, "id", |k| format!(", id - {k}"))).repeat((n / 200).min(498)));
    "compound of all operators": |n| nested(n, "SELECT id FROM t", " UNION SELECT a FROM big EXCEPT SELECT c FROM big INTERSECT SELECT id FROM t UNION ALL SELECT 1", "", "", "");
    "compounds of 500 in FROM": |n| nested(n / 499 + 1, "SELECT 1 FROM t", &format!(", (SELECT 1{})", " UNION ALL SELECT 2".repeat(499)), "", "", "");
    "compounds in IN": |n| nested(n, "SELECT id FROM t WHERE 1", " AND id IN (SELECT c FROM big UNION SELECT 1)", "", "", "");
    "EXCEPT to the right": |n| nested(n, "SELECT id FROM t", " EXCEPT SELECT * FROM (SELECT id FROM t", "", ")", "");
    "GLOB with brackets": |n| nested(n, "SELECT id FROM t WHERE name GLOB '", "[^a-z]*", "", "", "'");
    "many GLOB": |n| chained(n, "SELECT id FROM t WHERE name GLOB '*'", |k| format!(" OR name GLOB '*{k}?'"));
    "LIKE with ESCAPE": |n| nested(n, "SELECT id", " LIKE 'a!%' ESCAPE '!'", "", "", " FROM t");
    "NOT, minus, complement in turns": |n| nested(n, "SELECT ", "NOT - ~ ", "id", "", " FROM t");
    "NOT over comparisons": |n| nested(n, "SELECT id FROM t WHERE ", "NOT 1 = (", "id", ")", "");
    "NOT over AND and OR in turns": |n| nested(n, "SELECT id FROM t WHERE ", "NOT (id = 1 OR NOT (score > 2 AND ", "name", "))", "");
    "IS and IS NOT in turns": |n| nested(n, "SELECT id", " IS 1 IS NOT 0 IS NULL", "", "", " FROM t");
    "IS DISTINCT FROM": |n| nested(n, "SELECT id", " IS DISTINCT FROM 1", "", "", " FROM t");
    "IS TRUE": |n| nested(n, "SELECT id", " IS TRUE", "", "", " FROM t");
    "joins of all kinds": |n| chained(n, "SELECT count(*) FROM t", |k| format!(" {} JOIN big b{k} ON b{k}.c = t.id", ["INNER", "LEFT", "CROSS", "RIGHT", "FULL"][k % 5]));
    "joins in a chain": |n| chained(n, "SELECT count(*) FROM big b", |k| format!(" JOIN big b{k} ON b{k}.a = b{}.c", k.checked_sub(1).map_or_else(String::new, |k| k.to_string())));
    "left joins, unused": |n| chained(n, "SELECT DISTINCT t.id FROM t", |k| format!(" LEFT JOIN t u{k} ON u{k}.id = t.id AND u{k}.score > {k}"));
    "joins on keys and equalities": |n| chained(n, "SELECT count(*) FROM t", |k| format!(", big b{k}")) + " WHERE 1" + &chained(n, "", |k| format!(" AND b{k}.c = t.id"));
    "joins with USING of subqueries": |n| nested(n, "SELECT * FROM t", " JOIN (SELECT id, score s FROM t) USING (id)", "", "", "");
    "joins with USING of all columns": |n| nested(n, "SELECT * FROM t", " LEFT JOIN t USING (id, name, score)", "", "", " ORDER BY id");
    "joins of big subqueries": |n| nested(n, "SELECT * FROM (", "SELECT x.id FROM t x JOIN (", "SELECT id FROM t", ") y ON x.id = y.id", ")");
    "subqueries in ON": |n| chained(n, "SELECT 1 FROM t", |k| format!(" JOIN big b{k} ON b{k}.a = (SELECT max(id) FROM t WHERE id < b{k}.c)"));
    "nested WITH, one name": |n| nested(n, "", "WITH c AS (SELECT 1 a UNION ALL ", "SELECT 2", ") SELECT a + 1 FROM c", "");
    "nested WITH, names of tables": |n| nested(n, "", "WITH t AS (SELECT * FROM t), big AS (SELECT id FROM t) SELECT * FROM (", "SELECT id FROM big", ")", "");
    "CTEs with columns": |n| ctes(n, "SELECT 1 a, 2 b", |k| format!("SELECT x.b AS a, x.a AS b FROM c{} x JOIN t ON t.id = x.a", k - 1), "SELECT a, b FROM LAST");
    "CTEs, MATERIALIZED": |n| chained(n, "WITH c AS MATERIALIZED (SELECT id FROM t)", |k| format!(", d{k} AS NOT MATERIALIZED (SELECT id FROM c)")) + " SELECT id FROM c";
    "CTE, read often": |n| nested(n, "WITH c AS (SELECT id, count(*) n FROM t GROUP BY id) SELECT 1", " UNION ALL SELECT n FROM c", "", "", "");
    "CTE, read in conditions": |n| nested(n, "WITH c AS (SELECT id FROM t WHERE score > 1) SELECT 1 FROM t WHERE 1", " AND id IN (SELECT id FROM c)", "", "", "");
    "recursive CTEs, nested": |n| nested(n, "", "WITH RECURSIVE r(a) AS (SELECT 1 UNION SELECT a + 1 FROM r, (", "SELECT 1", ") WHERE a < 3) SELECT * FROM r", "");
    "recursive CTE with a long list": |n| chained(n, "WITH RECURSIVE r(a) AS (VALUES (1)", |k| format!(", ({k})")) + " UNION SELECT a + 1 FROM r WHERE a < 9) SELECT * FROM r";
    "aliases that shadow": |n| nested(n, "", "SELECT id AS score, score AS id FROM (", "SELECT id, score FROM t", ") AS t", "");
    "aliases that shadow columns": |n| nested(n, "SELECT id + 1 AS name, score AS id, name AS score FROM t WHERE id", " + name", "", "", " > score ORDER BY name, id");
    "aliases that shadow tables": |n| chained(n, "SELECT 1 FROM t", |k| format!(" WHERE EXISTS (SELECT 1 FROM big t WHERE t.a = {k} AND t.c IN (SELECT t.id FROM t")) + &"))".repeat(n);
    "correlated to all around": |n| chained(n, "SELECT 1 FROM t x", |k| format!(" WHERE EXISTS (SELECT 1 FROM t x{k} WHERE x{k}.id = x.id AND 1 IN (SELECT 1")) + &"))".repeat(n);
    "scalar subqueries with aggregates of around": |n| nested(n, "SELECT name, ", "(SELECT count(t.id) + count(*) + ", "1", " FROM big)", " FROM t GROUP BY name");
    "aggregates in aggregates": |n| nested(n, "SELECT ", "max(", "id", ")", " FROM t");
    "aggregates with DISTINCT and FILTER": |n| nested(n, "SELECT 1", ", count(DISTINCT id) FILTER (WHERE name LIKE 'a%')", "", "", " FROM t");
    "aggregates with ORDER BY": |n| nested(n, "SELECT 1", ", group_concat(name, ',' ORDER BY id DESC)", "", "", " FROM t");
    "HAVING of subqueries": |n| nested(n, "SELECT name FROM t GROUP BY name HAVING 1", " AND count(*) > (SELECT count(*) FROM big)", "", "", "");
    "groups of groups": |n| nested(n, "", "SELECT name, max(s) AS s FROM (", "SELECT name, score AS s FROM t", ") GROUP BY name", "");
    "orders of subqueries": |n| nested(n, "", "SELECT * FROM (", "SELECT id, name FROM t", ") ORDER BY name, id DESC LIMIT 5", "");
    "order by subqueries": |n| nested(n, "SELECT id FROM t ORDER BY 1", ", (SELECT max(a) FROM big WHERE c = id)", "", "", "");
    "order by columns in turns": |n| nested(n, "SELECT id FROM t ORDER BY name", ", name DESC NULLS LAST", "", "", "");
    "limits of subqueries": |n| nested(n, "SELECT id FROM t LIMIT ", "(SELECT max(a) FROM big LIMIT ", "1", ")", "");
    "sums of products": |n| nested(n, "SELECT id * score", " + id * score", "", "", " FROM t");
    "products to the right": |n| nested(n, "SELECT ", "id * (1 - ", "score", ")", " FROM t");
    "shifts and masks": |n| nested(n, "SELECT id", " << 1 & 255 | 3 >> 2", "", "", " FROM t");
    "comparisons of rows": |n| nested(n, "SELECT id FROM t WHERE (id, name) = (1, 'a')", " OR (id, name) < (2, 'b')", "", "", "");
    "comparisons of columns in a chain": |n| chained(n, "SELECT 1 FROM t a, t b WHERE a.id = b.id", |k| format!(" AND a.id + {k} = b.id + {k} AND b.score = a.score"));
    "many strings in quotes of two": |n| chained(n, "SELECT 'a''b'", |k| format!(", 'it''s {k}', \"no such {k}\"")) + " FROM t";
    "numbers of all kinds": |n| chained(n, "SELECT 0x1F", |k| format!(", 1e{}, .{k}, {k}., 1_000", k % 300)) + " FROM t";
    "parameters": |n| chained(n, "SELECT id FROM t WHERE id = ?", |k| format!(" OR id = :a{k} OR id = ?{}", k + 1));
    "dates": |n| nested(n, "SELECT date('now'", ", '+1 day'", "", "", ")");
    "dates in comparisons": |n| nested(n, "SELECT id FROM t WHERE name > date('now')", " OR name < datetime('2020-01-01', '+1 day')", "", "", "");
    "printf": |n| nested(n, "SELECT printf('", "%d %s ", "", "", "', 1) FROM t");
    "RAISE, MATCH and REGEXP": |n| nested(n, "SELECT id FROM t WHERE name MATCH 'a'", " OR name REGEXP 'b' OR name NOT LIKE 'c'", "", "", "");
    "table-valued functions": |n| chained(n, "SELECT 1 FROM pragma_table_info('t')", |k| format!(", pragma_table_info('t') p{k}"));
    "names with a schema": |n| nested(n, "SELECT main.t.id", ", main.t.name", "", "", " FROM main.t");
    "INDEXED BY": |n| nested(n, "SELECT 1 FROM t NOT INDEXED", ", t NOT INDEXED", "", "", "");
    "rowids": |n| nested(n, "SELECT rowid", ", oid, _rowid_", "", "", " FROM t ORDER BY rowid");
    "different EXISTS": |n| chained(n, "SELECT id FROM t WHERE 1", |k| format!(" AND NOT EXISTS (SELECT 1 FROM big b WHERE b.c = t.id AND b.a = {k})"));
    "different scalar subqueries": |n| chained(n, "SELECT 1", |k| format!(", (SELECT max(a) FROM big WHERE c = t.id AND a < {k})")) + " FROM t";
    "subqueries of IN, different": |n| chained(n, "SELECT id FROM t WHERE 1", |k| format!(" AND id IN (SELECT c FROM big WHERE a = {k})"));
    "extrema by order": |n| nested(n, "SELECT name FROM t WHERE 1", " AND id = (SELECT id FROM t ORDER BY score DESC LIMIT 1)", "", "", "");
    "counts of CASE": |n| chained(n, "SELECT 1", |k| format!(", count(CASE WHEN id = {k} THEN 1 END)")) + " FROM t";
    "joins, then conditions of all": |n| chained(n % 60 + 1, "SELECT t.id FROM t", |k| format!(" JOIN big b{k} ON b{k}.c = t.id")) + " WHERE 1" + &chained(n, "", |k| format!(" AND t.id <> {k}"));
    "left joins that lack": |n| chained(n % 60 + 1, "SELECT t.id FROM t", |k| format!(" LEFT JOIN big b{k} ON b{k}.c = t.id")) + " WHERE 1" + &chained(n, "", |k| format!(" AND b{}.a IS NULL", k % 50));
    "different aliases of one sum": |n| chained(n, "SELECT id + 1 AS a", |k| format!(", a + {k} AS a{k}")) + " FROM (SELECT id, id AS a FROM t) ORDER BY a";
    "zero bytes": |n| nested(n, "SELECT 1", "\0", "", "", "");
    "line ends of Windows": |n| nested(n, "SELECT\r\n", "id,\r\n", "1", "", " FROM t");
    "letters of no width": |n| nested(n, "SELECT ", "\u{200b}", "1", "", "");
    "explain": |n| nested(n, "", "EXPLAIN ", "SELECT 1", "", "");
    "words": |n| nested(n, "", "select ", "", "", "");
    "joins without FROM": |n| nested(n, "", "join ", "", "", "");
    "words of no SQL": |n| nested(n, "", "x ", "", "", "");
    "letters beyond ASCII": |n| nested(n, "SELECT '", "ä\u{301}漢", "", "", "' FROM t");
    "fences": |n| nested(n, "", "```sql\nSELECT 1\n```\n", "", "", "");
    "open fences": |n| nested(n, "", "```sql\n", "", "", "");
    "fences without words": |n| nested(n, "", "```", "", "", "");
    "fences with words between": |n| nested(n, "", "Alternatively:\n```sql\nSELECT id FROM t\n```\nCorrected:\n", "", "", "");
    "different fences": |n| chained(n, "", |k| format!("```sql\nSELECT {k} FROM t\n```\n"));
    "thoughts": |n| nested(n, "", "<think>", "SELECT 1", "</think>", "");
    "open thoughts": |n| nested(n, "", "<think>", "SELECT 1", "", "");
    "thoughts side by side": |n| nested(n, "", "<think>a</think>", "SELECT 1", "", "");
    "closed thoughts": |n| nested(n, "", "</think>", "SELECT 1", "", "");
    "JSON answers": |n| nested(n, "", "{\"sql\": ", "\"SELECT 1\"", "}", "");
    "JSON lists": |n| nested(n, "", "[", "", "]", "");
    "open JSON": |n| nested(n, "", "{\"sql\": \"", "SELECT 1", "", "");
    "prose with SELECT": |n| nested(n, "", "I would select the rows. ", "SELECT 1", "", "");
    "prose with WITH": |n| nested(n, "", "With this, ", "SELECT 1", "", "");
    "answers in a row": |n| nested(n, "", "SELECT id FROM t\n\nThis query reads t.\n\n", "", "", "");
    "created tables": |n| chained(n, "CREATE TABLE z (a);", |k| format!("CREATE TABLE z{k} (a REFERENCES z(a));"));
    "created columns": |n| chained(n, "CREATE TABLE z (a", |k| format!(", a{k} INT NOT NULL")) + ")";
    "created keys": |n| chained(n, "CREATE TABLE z (a", |k| format!(", a{k} INT")) + ", PRIMARY KEY (a" + &chained(n, "", |k| format!(", a{k}")) + "))";
    "created views": |n| chained(n, "CREATE TABLE z (a); CREATE VIEW v0 AS SELECT a FROM z;", |k| format!("CREATE VIEW v{} AS SELECT a FROM v{k};", k + 1));
    "doubling views": |n| chained(n, "CREATE TABLE z (a); CREATE VIEW v0 AS SELECT * FROM z;", |k| format!("CREATE VIEW v{} AS SELECT * FROM v{k} x, v{k} y;", k + 1));
    "doubling views, one column": |n| chained(n, "CREATE TABLE z (a); CREATE VIEW v0 AS SELECT * FROM z;", |k| format!("CREATE VIEW v{} AS SELECT x.a + y.a AS a FROM v{k} x, v{k} y;", k + 1));
    "created checks": |n| nested(n, "CREATE TABLE z (a", " CHECK (a > 1)", "", "", ")");
    "created checks, nested": |n| nested(n, "CREATE TABLE z (a CHECK (", "(", "a > 1", ")", "))");
    "created checks, chained": |n| nested(n, "CREATE TABLE z (a CHECK (a > 1", " AND a > 1", "", "", "))");
    "created defaults": |n| nested(n, "CREATE TABLE z (a DEFAULT (", "- ", "1", "", "))");
    "created views, nested": |n| nested(n, "CREATE TABLE z (a); CREATE VIEW v AS SELECT * FROM ", "(SELECT * FROM ", "z", ")", "");
    "created views, the other way around": |n| chained(n, "CREATE TABLE z (a);", |k| format!("CREATE VIEW v{k} AS SELECT a FROM v{};", k + 1)) + &format!("CREATE VIEW v{n} AS SELECT a FROM z;");
    "created views of a wide table": |n| format!("CREATE TABLE z ({});", chained(500, "a", |k| format!(", a{k}"))) + &chained(n, "", |k| format!("CREATE VIEW v{k} AS SELECT * FROM z;"));
    "doubling views and many over the last": |n| chained(n.min(40), "CREATE TABLE z (a); CREATE VIEW v0 AS SELECT * FROM z;", |k| format!("CREATE VIEW v{} AS SELECT * FROM v{k} x, v{k} y;", k + 1)) + &chained(n.saturating_sub(40), "", |k| format!("CREATE VIEW w{k} AS SELECT * FROM v40;"));
    "doubling views of one column, and many over the last": |n| chained(n.min(40), "CREATE TABLE z (a); CREATE VIEW v0 AS SELECT * FROM z;", |k| format!("CREATE VIEW v{} AS SELECT x.a + y.a AS a FROM v{k} x, v{k} y;", k + 1)) + &chained(n.saturating_sub(40), "", |k| format!("CREATE VIEW w{k} AS SELECT a FROM v40;"));
    "created columns of columns": |n| chained(n, "CREATE TABLE z (c0", |k| format!(", c{} AS (c{k} + c{k})", k + 1)) + ")";
    "created tables of many columns": |n| chained(n / 1000 + 1, "", |k| format!("CREATE TABLE z{k} (a{});", chained(999, "", |k| format!(", a{k} TEXT COLLATE nocase UNIQUE"))));
    "created keys to each other": |n| chained(n, "CREATE TABLE z (a UNIQUE", |k| format!(", b{k} REFERENCES z(a)")) + ")";
    "created partial indexes": |n| chained(n, "CREATE TABLE z (a);", |k| format!("CREATE INDEX i{k} ON z (a) WHERE a > {k};"));
    "created virtual tables": |n| chained(n, "CREATE TABLE z (a);", |k| format!("CREATE VIRTUAL TABLE f{k} USING fts5(a);"));
    "created indexes": |n| chained(n, "CREATE TABLE z (a);", |k| format!("CREATE INDEX i{k} ON z (a + {k});"));
}
