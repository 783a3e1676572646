//! A text of PostgreSQL, MySQL, DuckDB or a dialect near them in the words of SQLite's grammar, to see which tables, columns and clauses it has.
//!
//! # Contract
//! - The reading names the tables and columns that the text names, each in its own query, and has its joins, subqueries, set
//!   operations, groups, orders, conditions and aggregates. Names without a meaning of their own (an alias, a type, a unit of
//!   time) are no columns in it.
//! - It is **not** a translation: what it returns is of no use. A cast is left out, an operator becomes one of the same kind,
//!   a function that SQLite lacks becomes one that it has (an aggregate an aggregate), an OFFSET is left out.
//! - What the dialect has and SQLite's grammar cannot say (PIVOT, QUALIFY) stays, so that the grammar refuses the text.
//! - Time and length are linear in the text.

mod calls;
mod dump;
mod tokens;
mod words;

pub use dump::{UnreadStatement, schema_of_dump};
use tokens::{Quotes, Token, text_of};

/// What reads `sql` by the grammar of SQLite; `dialect` is one of those named here. A text of another dialect is taken
/// as it is.
pub fn reading(sql: &str, dialect: &str) -> String {
    let quotes = match dialect {
        "postgres" | "duckdb" | "redshift" | "snowflake" | "oracle" | "trino" | "clickhouse" => {
            Quotes { is_mysql: false }
        }
        "mysql" | "bigquery" | "spark" => Quotes { is_mysql: true },
        _ => return sql.to_owned(),
    };
    read(tokens::tokens(sql, quotes), quotes)
}

/// What reads those tokens by the grammar of SQLite.
fn read(mut tokens: Vec<Token>, quotes: Quotes) -> String {
    for pass in [
        words::casts,
        words::brackets,
        calls::special,
        words::qualifiers,
        words::operators,
        words::clauses,
        words::operands,
        calls::calls,
    ] {
        tokens = pass(&tokens, quotes);
    }
    text_of(&tokens)
}

/// Whether a word begins a query.
fn begins_query(token: Option<&Token>) -> bool {
    token.is_some_and(|token| token.is(&["SELECT", "WITH", "VALUES"]))
}

/// Where each opening parenthesis closes.
fn closings(tokens: &[Token]) -> Vec<Option<usize>> {
    let (mut open, mut closing) = (Vec::new(), vec![None; tokens.len()]);
    for (at, token) in tokens.iter().enumerate() {
        if token.is_sign("(") {
            open.push(at);
        } else if token.is_sign(")")
            && let Some(from) = open.pop()
        {
            closing[from] = Some(at);
        }
    }
    closing
}

/// The places from one to before another that stand in no parentheses of their own; a pair is its first.
fn level(closing: &[Option<usize>], from: usize, to: usize) -> impl Iterator<Item = usize> + '_ {
    let after = move |at: usize| closing.get(at).copied().flatten().unwrap_or(at) + 1;
    std::iter::successors(Some(from), move |&at| Some(after(at))).take_while(move |&at| at < to)
}

#[cfg(test)]
mod tests {
    use sqlgauge_sql::schema::Schema;
    use sqlgauge_sql::{Features, NamedThings, resolve};

    use super::*;

    const DDL: &str = "CREATE TABLE club (id INT, name TEXT, founded TEXT, tags TEXT);
                       CREATE TABLE player (id INT, club_id INT, born TEXT, goals INT)";

    /// Tables and columns of a text, and whether its reading resolves.
    fn named(sql: &str, dialect: &str) -> Option<(String, bool)> {
        let schema = Schema::from_ddl(DDL).expect("DDL");
        let reading = reading(sql, dialect);
        let NamedThings { tables, columns } = NamedThings::of(&reading, &schema).expect("a short text")?;
        let columns = columns.into_iter().map(|(table, column)| format!("{table}.{column}"));
        let all: Vec<String> = tables.into_iter().chain(columns).collect();
        Some((all.join(" "), resolve(&reading, &schema).is_ok()))
    }

    /// Dialect, text, and the tables and columns that it names.
    const NAMED: &[(&str, &str, &str)] = &[
        ("postgres", "SELECT name::varchar(10), tags::text[] FROM public.club", "club club.name club.tags"),
        ("postgres", r#"SELECT "Club"."NAME" FROM "Club" LIMIT ALL"#, "club club.name"),
        (
            "postgres",
            "SELECT goals FROM player WHERE born > now() - INTERVAL '30 days'",
            "player player.born player.goals",
        ),
        (
            "postgres",
            "SELECT EXTRACT(YEAR FROM born), TO_CHAR(born, 'YYYY') FROM player",
            "player player.born",
        ),
        (
            "postgres",
            "SELECT DATE_TRUNC('month', born) AT TIME ZONE 'UTC' FROM player GROUP BY 1",
            "player player.born",
        ),
        (
            "postgres",
            "SELECT POSITION('a' IN name), TRIM(BOTH ' ' FROM tags) FROM club",
            "club club.name club.tags",
        ),
        (
            "postgres",
            "SELECT name FROM club WHERE name ILIKE '%a%' AND tags ~* E'\\'x' AND NOT founded !~ 'y'",
            "club club.founded club.name club.tags",
        ),
        (
            "postgres",
            "SELECT DISTINCT ON (club_id) goals FROM player ORDER BY club_id, goals DESC NULLS LAST",
            "player player.club_id player.goals",
        ),
        (
            "postgres",
            "SELECT STRING_AGG(name, ', ' ORDER BY id), ARRAY_AGG(tags) FROM club",
            "club club.id club.name club.tags",
        ),
        (
            "postgres",
            "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY goals) FROM player",
            "player player.goals",
        ),
        (
            "postgres",
            "SELECT id FROM club WHERE id = ANY (ARRAY[1, 2]) OR id <> ALL (SELECT club_id FROM player)",
            "club player club.id player.club_id",
        ),
        (
            "postgres",
            "SELECT count(*) FILTER (WHERE goals > 1), stddev(goals) FROM player",
            "player player.goals",
        ),
        (
            "postgres",
            "SELECT s.club.name FROM s.club WHERE id IS DISTINCT FROM club.name",
            "club club.id club.name",
        ),
        ("postgres", "SELECT goals FROM player OFFSET 3 ROWS FETCH FIRST 5 ROWS ONLY", "player player.goals"),
        (
            "postgres",
            "SELECT club_id, sum(goals) FROM player GROUP BY GROUPING SETS ((club_id), ())",
            "player player.club_id player.goals",
        ),
        (
            "postgres",
            "SELECT tags[1], (tags)[1:2], tags -> 'a' ->> 'b', tags #>> '{a}' FROM club",
            "club club.tags",
        ),
        (
            "postgres",
            "WITH a (x) AS MATERIALIZED (SELECT id FROM club) SELECT LEFT(x, 2) FROM a",
            "club club.id",
        ),
        (
            "mysql",
            "SELECT `name`, \"text\" FROM `club` WHERE tags = 'it\\'s' # id\n",
            "club club.name club.tags",
        ),
        (
            "mysql",
            "SELECT DATE_ADD(born, INTERVAL 1 DAY), DATE_SUB(born, INTERVAL (goals + 1) MONTH) FROM player",
            "player player.born player.goals",
        ),
        (
            "mysql",
            "SELECT TIMESTAMPDIFF(YEAR, born, CURDATE()), IF(goals > 1, 'a', 'b') FROM player",
            "player player.born player.goals",
        ),
        (
            "mysql",
            "SELECT GROUP_CONCAT(DISTINCT name ORDER BY id SEPARATOR ';') FROM club",
            "club club.id club.name",
        ),
        (
            "mysql",
            "SELECT CAST(goals AS SIGNED), CONVERT(born, CHAR), goals DIV 2, goals MOD 2 FROM player STRAIGHT_JOIN club",
            "club player player.born player.goals",
        ),
        (
            "mysql",
            "SELECT name FROM club WHERE name RLIKE '^a' && NOT tags <=> NULL || BINARY founded = 'x' LIMIT 2, 3",
            "club club.founded club.name club.tags",
        ),
        (
            "mysql",
            "SELECT club_id, COUNT(DISTINCT born, goals) FROM player GROUP BY club_id WITH ROLLUP",
            "player player.born player.club_id player.goals",
        ),
        ("mysql", "SELECT 1 FROM DUAL", ""),
        ("duckdb", "SELECT [id, 1], {'a': name, 'b': [tags]} FROM club", "club club.id club.name club.tags"),
        (
            "duckdb",
            "SELECT list(name), quantile_cont(id, 0.5), TRY_CAST(tags AS INT) FROM club GROUP BY ALL",
            "club club.id club.name club.tags",
        ),
    ];

    #[test]
    fn texts_name_their_tables_and_columns() {
        let mut wrong = Vec::new();
        for &(dialect, sql, expected) in NAMED {
            let names = named(sql, dialect);
            if names != Some((expected.to_owned(), true)) {
                wrong.push(format!("{sql}\n  {}\n  {names:?}", reading(sql, dialect)));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn names_count_where_sqlite_resolves_none() {
        for (sql, expected) in [
            ("SELECT x.n FROM (SELECT id, name FROM club) AS x (m, n)", "club club.id club.name"),
            (
                "SELECT c.id FROM club c CROSS JOIN LATERAL (SELECT goals FROM player p WHERE p.club_id = c.id) x",
                "club player club.id player.club_id player.goals",
            ),
            ("SELECT name FROM club, generate_series(1, 3) AS g(n) WHERE id = $1", "club club.id club.name"),
        ] {
            let names = named(sql, "postgres").map(|(names, _)| names);
            assert_eq!(names.as_deref(), Some(expected), "{}", reading(sql, "postgres"));
        }
    }

    #[test]
    fn clauses_are_those_of_the_text() {
        let schema = Schema::from_ddl(DDL).expect("DDL");
        let sql = "SELECT c.name, array_agg(p.goals), EXTRACT(YEAR FROM p.born) FROM club c LEFT JOIN player p ON p.club_id = c.id \
                   WHERE c.tags::int BETWEEN 1 AND 2 AND c.name ILIKE 'x' GROUP BY 1, 3 HAVING every(p.goals > 1) ORDER BY 2 LIMIT 3";
        let query = resolve(&reading(sql, "postgres"), &schema).expect("it resolves");
        let labels =
            ["join", "outer join", "aggregate", "group by", "having", "order by", "limit", "like", "between"];
        assert_eq!(Features::of(&query, &schema).labels(), labels);
    }

    #[test]
    fn what_the_grammar_cannot_say_stays_refused() {
        for sql in [
            "SELECT id FROM club QUALIFY row_number() OVER () = 1",
            "FROM club SELECT id",
            "SELECT FROM WHERE",
            "",
            "(",
        ] {
            assert_eq!(named(sql, "duckdb"), None, "{}", reading(sql, "duckdb"));
        }
    }

    #[test]
    fn any_text_is_read_without_a_panic() {
        let parts = [
            "'", "\"", "`", "$", "$$", "[", "]", "{", "}", "(", ")", "::", "interval", "é", ".", "1e",
            "cast", "/*", "--", "#", "as x", "as", "extract", "@",
        ];
        for a in parts {
            for b in parts {
                for c in parts {
                    for dialect in ["postgres", "mysql"] {
                        reading(&[a, b, c, a].join(" "), dialect);
                        reading(&[a, b, c].concat(), dialect);
                    }
                }
            }
        }
    }
}
