//! Texts as models write them, with the query in them.

use Removed::{CodeFence, Explanation, FurtherStatements, Json, Label, Preamble, Quotes, Thinking};

use super::*;

/// Text, the SQL in it, what was removed.
const CASES: &[(&str, &str, &[Removed])] = &[
    // Clean SQL stays.
    ("SELECT 1", "SELECT 1", &[]),
    (" select a from t ;\n", "select a from t", &[]),
    ("SELECT ';' FROM t -- a; b", "SELECT ';' FROM t -- a; b", &[]),
    ("SELECT a FROM t WHERE b = 'it''s; SELECT'", "SELECT a FROM t WHERE b = 'it''s; SELECT'", &[]),
    ("SELECT `a;b`, [c;d], \"e;f\" /* ; */ FROM t", "SELECT `a;b`, [c;d], \"e;f\" /* ; */ FROM t", &[]),
    ("WITH x AS (SELECT 1) SELECT * FROM x", "WITH x AS (SELECT 1) SELECT * FROM x", &[]),
    (
        "with recursive c(n) as (select 1)\n\nselect n from c",
        "with recursive c(n) as (select 1)\n\nselect n from c",
        &[],
    ),
    ("SELECT a\n\nFROM t\n\nUNION\n\nSELECT b FROM u", "SELECT a\n\nFROM t\n\nUNION\n\nSELECT b FROM u", &[]),
    ("SELECT a,\n\nb FROM t", "SELECT a,\n\nb FROM t", &[]),
    ("(SELECT 1)", "(SELECT 1)", &[]),
    ("SELECT keyword FROM query", "SELECT keyword FROM query", &[]),
    ("SELECT answer, note FROM result", "SELECT answer, note FROM result", &[]),
    // No SQL at all stays.
    ("", "", &[]),
    ("I am sorry, I cannot help with that.", "I am sorry, I cannot help with that.", &[]),
    ("sql placeholder", "sql placeholder", &[]),
    // Fences.
    ("```sql\nSELECT 1;\n```", "SELECT 1", &[CodeFence]),
    ("```SELECT 1```", "SELECT 1", &[CodeFence]),
    ("```\nSELECT 1\n```", "SELECT 1", &[CodeFence]),
    ("```sql SELECT a FROM t ``` This counts.", "SELECT a FROM t", &[CodeFence]),
    ("Sure!\n```sqlite\nSELECT 1\n", "SELECT 1", &[CodeFence]),
    ("```python\nprint(1)\n```\n```sql\nSELECT 1\n```\n```sql\nSELECT 2\n```", "SELECT 2", &[CodeFence]),
    ("```text\nSELECT 0 as a guess\n```\nbetter:\n```SQL\nSELECT 1\n```", "SELECT 1", &[CodeFence]),
    ("SELECT 1\n```\nand so on", "SELECT 1", &[Explanation]),
    ("SELECT 1;\n```", "SELECT 1", &[CodeFence]),
    ("SELECT ```sql MAX(a) FROM t; ```", "SELECT MAX(a) FROM t", &[CodeFence]),
    ("SELECT I will write it: ```sql SELECT a FROM t ```", "SELECT a FROM t", &[CodeFence]),
    // Labels and preambles.
    ("SQL: SELECT 1", "SELECT 1", &[Label]),
    ("SQLQuery: \"SELECT 1\"", "SELECT 1", &[Label, Quotes]),
    ("Here is the query you want:\n\nSELECT a FROM t;", "SELECT a FROM t", &[Preamble]),
    ("To select the rows with a name: select a from t", "select a from t", &[Preamble]),
    ("The SELECT statement is SELECT a FROM t", "SELECT a FROM t", &[Preamble]),
    ("Sure, with pleasure.SELECT a FROM t", "SELECT a FROM t", &[Preamble]),
    ("Use with x as (select 1) select * from x", "with x as (select 1) select * from x", &[Preamble]),
    ("The query is `SELECT a FROM t`, which uses `t`.", "SELECT a FROM t", &[Preamble, Quotes, Explanation]),
    // What follows.
    ("SELECT a FROM t; This query selects a.", "SELECT a FROM t", &[Explanation]),
    ("SELECT a FROM t\n\nThis query returns a from t.", "SELECT a FROM t", &[Explanation]),
    ("SELECT a FROM t\nExplanation: a is asked for", "SELECT a FROM t", &[Explanation]),
    ("SELECT a FROM t Note: none", "SELECT a FROM t", &[Explanation]),
    ("SELECT a FROM t</s>", "SELECT a FROM t", &[Explanation]),
    ("SELECT a FROM t<|im_end|>", "SELECT a FROM t", &[Explanation]),
    ("[SQL] SELECT a FROM t [/SQL]", "SELECT a FROM t", &[Preamble, Explanation]),
    ("SELECT a FROM t\n### Question", "SELECT a FROM t", &[Explanation]),
    ("SELECT 1; SELECT 2", "SELECT 1", &[FurtherStatements]),
    ("SELECT 1\n\nSELECT 2", "SELECT 1", &[FurtherStatements]),
    ("SELECT a FROM t WHERE b = 'x; done", "SELECT a FROM t WHERE b = 'x", &[Explanation]),
    ("SELECT MAX(a) FROM t SELECT MIN(a) FROM t", "SELECT MAX(a) FROM t", &[FurtherStatements]),
    ("SELECT a FROM t Write Sql for the next question: b", "SELECT a FROM t", &[Explanation]),
    ("SELECT a FROM t WHERE b = 'c' Write Sql for: d", "SELECT a FROM t WHERE b = 'c'", &[Explanation]),
    ("SELECT a FROM t x\nThis finds a.", "SELECT a FROM t x", &[Explanation]),
    ("SELECT a FROM t\nThis finds a.", "SELECT a FROM t", &[Explanation]),
    ("SELECT a FROM t \\end{code} Comment: I'm sure", "SELECT a FROM t", &[Explanation]),
    ("SELECT `SELECT a FROM t;` Next Question : b", "SELECT a FROM t", &[Preamble, Quotes, Explanation]),
    ("SELECT CAST(a AS UNSIGNED BIG INT) b FROM t c", "SELECT CAST(a AS UNSIGNED BIG INT) b FROM t c", &[]),
    // Quotes around.
    ("\"SELECT 'x' FROM t\"", "SELECT 'x' FROM t", &[Quotes]),
    ("'SELECT a FROM t WHERE b = 'x''", "SELECT a FROM t WHERE b = 'x'", &[Quotes]),
    ("`SELECT a FROM t;`", "SELECT a FROM t", &[Quotes]),
    // Thinking.
    ("<think>SELECT 1? No.</think>\nSELECT 2", "SELECT 2", &[Thinking]),
    ("no open tag</think>SELECT 2", "SELECT 2", &[Thinking]),
    ("<THINK>never ends: SELECT 1", "", &[Thinking]),
    // JSON.
    ("{\"sql\": \"SELECT 1;\"}", "SELECT 1", &[Json]),
    ("```json\n{\"thoughts\": \"SELECT\", \"query\": \"SELECT 1\"}\n```", "SELECT 1", &[CodeFence, Json]),
    ("{\"answer\": \"```sql\\nSELECT 1\\n```\"}", "SELECT 1", &[CodeFence, Json]),
];

const RIGHT: &str = "SELECT name FROM emp WHERE dept = 'y'";

/// Answers whose query is [`RIGHT`], as agents and chat models write them.
const ANSWERS: &[&str] = &[
    // The final marker wins over drafts.
    "<think>a</think><sql>SELECT * FROM emp</sql><observation>3 rows</observation><think>b</think><solution>SELECT name FROM emp WHERE dept = 'y'</solution>",
    "```sql\nSELECT * FROM emp\n```\n<answer>SELECT name FROM emp WHERE dept = 'y'</answer>",
    "SQL: SELECT * FROM emp;\nFinal SQL: SELECT name FROM emp WHERE dept = 'y';",
    "<ANSWER>\n```sql\nSELECT name FROM emp WHERE dept = 'y';\n```\n</ANSWER>\n```sql\nSELECT 1 FROM emp\n```",
    "<answer>SELECT 0 FROM emp</answer> No. <answer>SELECT name FROM emp WHERE dept = 'y'</answer> <answer>done</answer>",
    "<answer type=\"sql\">{\"sql\": \"SELECT name FROM emp WHERE dept = 'y'\"}</answer>",
    "<solution>SELECT name FROM emp WHERE dept = 'y'",
    "Draft: `SELECT 1 FROM emp`. So \\boxed{\\text{SELECT name FROM emp WHERE dept = 'y'}}.",
    "```sql\nSELECT 1 FROM emp\n```\n\\boxed{SELECT name FROM emp WHERE dept = 'y'}",
    "SELECT * FROM emp\n\n**Final answer:**\n\n```sql\nSELECT name FROM emp WHERE dept = 'y'\n```\nIt lists names.",
    "First try: SELECT * FROM emp; that is wrong.\n### Revised SQL query:\nSELECT name FROM emp WHERE dept = 'y'",
    "### Draft\nSELECT * FROM emp;\n### Final SQL\nSELECT name FROM emp WHERE dept = 'y'",
    "SELECT * FROM emp; The corrected query is: SELECT name FROM emp WHERE dept = 'y'",
    "<|begin_of_thought|>SELECT?<|end_of_thought|><|begin_of_solution|>SELECT name FROM emp WHERE dept = 'y'<|end_of_solution|>",
    "<|channel|>analysis<|message|>SELECT * FROM emp<|end|><|channel|>final<|message|>SELECT name FROM emp WHERE dept = 'y'<|return|>",
    "Final SQL: SELECT name FROM emp WHERE dept = 'y'\nFinal answer: Bob",
    "Final SQL: SELECT name FROM emp WHERE dept = 'y'\n\nQuestion: How many?\nFinal SQL: SELECT count(*) FROM emp",
    // Without one, what stands before a result is a draft, unless nothing follows.
    "<sql>SELECT * FROM emp</sql><observation>error</observation><sql>SELECT name FROM emp WHERE dept = 'y'</sql>",
    "<sql>SELECT * FROM emp</sql><observation>error</observation><sql>SELECT name FROM emp WHERE dept = 'y'</sql><observation>[('Bob',)]</observation><think>cut",
    "<sql>SELECT * FROM emp<observation>error</observation><sql>SELECT name FROM emp WHERE dept = 'y'<observation>ok</observation>",
    "<tool_call>{\"name\": \"sql\", \"arguments\": {\"query\": \"SELECT * FROM emp\"}}</tool_call><tool_response>3 rows</tool_response><tool_call>{\"name\": \"sql\", \"arguments\": \"{\\\"query\\\": \\\"SELECT name FROM emp WHERE dept = 'y'\\\"}\"}</tool_call><tool_response>Bob</tool_response>It is Bob.",
    "<tool_call><function=run><parameter=query>SELECT name FROM emp WHERE dept = 'y'</parameter></function></tool_call>",
    "Thought: I SELECT FROM the table.\nAction: sql_db_query\nAction Input: SELECT * FROM emp\nObservation: [(1,), (2,)]\nThought: filter\nAction: sql_db_query\nAction Input: SELECT name FROM emp WHERE dept = 'y'\nObservation: [('Bob',)]\nThought: I now know the final answer\nFinal Answer: Bob, whom I selected from emp.",
    "Thought: look\n\nAction: LOCAL_DB_SQL(file_path=\"a.sqlite\", command=\"SELECT name FROM emp WHERE dept = 'y'\", output=\"direct\")\nObservation: Bob\nAction: Terminate(output=\"Bob\")",
    "Action: SNOWFLAKE_EXEC_SQL(sql_query=\"\"\"SELECT name FROM emp WHERE dept = 'y'\"\"\", is_save=True)",
    "SQLQuery: SELECT nme FROM emp\nSQLResult: no such column\nSQLQuery: SELECT name FROM emp WHERE dept = 'y'\nSQLResult: [('Bob',)]\nAnswer: Bob",
    "assistant: SELECT * FROM emp\nuser: Error\nassistant: SELECT name FROM emp WHERE dept = 'y'",
    // Tails go.
    "Final Answer: SELECT name FROM emp WHERE dept = 'y'. It returns Bob.",
    "SELECT name FROM emp WHERE dept = 'y'\n\n| name |\n|------|\n| Bob |",
    "SQLQuery: SELECT name FROM emp WHERE dept = 'y'\nSQLResult: [('Bob',)]\nAnswer: Bob",
    "SQLQuery: SELECT name FROM emp WHERE dept = 'y' SQLResult: [('Bob',)] Answer: Bob",
    "SELECT name FROM emp WHERE dept = 'y'\nSQL Result: [('Bob',)]",
    "SELECT name FROM emp WHERE dept = 'y'\nObservation: 1 row",
    "SELECT name FROM emp WHERE dept = 'y'\nExplanation: names of y",
    "SELECT name FROM emp WHERE dept = 'y'\n\n**Explanation:** It lists names.",
    "SELECT name FROM emp WHERE dept = 'y'\nTables used: emp",
    "SELECT name FROM emp WHERE dept = 'y'\nFinal Answer: Bob",
    "SQLQuery: SELECT name FROM emp WHERE dept = 'y'\n\nQuestion: next?\nSQLQuery: SELECT 2 FROM emp",
    "**SELECT name FROM emp WHERE dept = 'y'**",
    // Fences of other signs.
    "'''sql\nSELECT name FROM emp WHERE dept = 'y'\n'''",
    "'''SELECT name FROM emp WHERE dept = 'y''''",
    "~~~sql\nSELECT name FROM emp WHERE dept = 'y';\n~~~\nDone.",
    "\"\"\"\nSELECT name FROM emp WHERE dept = 'y'\n\"\"\"",
    "**\n```sql\nSELECT name FROM emp WHERE dept = 'y';\n```\n\n**",
    // Full-width punctuation and characters without width.
    "SELECT name FROM emp WHERE dept = 'y'\u{ff1b}",
    "SELECT name FROM emp WHERE dept = 'y'\u{3002}",
    "SQL\u{ff1a}SELECT name FROM emp WHERE dept = 'y'\u{ff1b}\n解释\u{ff1a}列出姓名",
    "\u{201c}SELECT name FROM emp WHERE dept = 'y'\u{201d}",
    "\u{ff02}SELECT name FROM emp WHERE dept = 'y'\u{ff1b}\u{ff02}",
    "\u{feff}SELECT name FROM emp WHERE dept = 'y'\u{200b}\n\u{feff}",
    "\u{feff}```sql\n\u{feff}SELECT name FROM emp WHERE dept = 'y'\n```",
];

/// One statement each, with words in it that are markers elsewhere.
const STATEMENTS: &[&str] = &[
    "SELECT '<answer>SELECT 1 FROM t</answer>' FROM t",
    "SELECT '<think>a</think>', \"</think>\" FROM t",
    "SELECT a FROM t WHERE b = 'Final SQL: SELECT 1 FROM t;'",
    "SELECT a FROM t WHERE b = '```sql\nSELECT 1 FROM t\n```'",
    "SELECT a FROM t WHERE b = 'x\nObservation: SELECT 1 FROM t\nAnswer: y'",
    "SELECT a -- Final answer: (SELECT 1 FROM t)\nFROM t",
    "SELECT a /* <solution>SELECT 1 FROM t</solution> */ FROM t",
    "-- Final SQL:\nSELECT a FROM t",
    "SELECT [answer], `solution`, \"Final SQL: \" FROM sql WHERE answer<solution AND sql>query",
    "SELECT a FROM t WHERE b = '\u{ff08}a\u{ff0c}b\u{ff09}\u{ff1b}' AND c = '\u{201c}d\u{201d}'",
    "SELECT '''a''' || '''' FROM t",
    "WITH answer AS (SELECT a FROM t) SELECT * FROM answer",
    "SELECT a FROM t\nORDER BY b DESC\nLIMIT 3",
    "SELECT CASE WHEN a THEN b END\nFROM t",
    "SELECT a::text, b FROM t WHERE c = :answer",
];

/// All at once, so that one change shows all that it does.
fn check<'a>(cases: impl Iterator<Item = (&'a str, &'a str)>) {
    let differs = |&(text, right): &(&str, &str)| extract_sql(text).sql != right;
    let wrong: Vec<String> = cases
        .filter(differs)
        .map(|(text, _)| format!("{text:?}\n  gives {:?}", extract_sql(text).sql))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn final_queries_win_over_drafts_and_tails_go() {
    check(ANSWERS.iter().map(|answer| (*answer, RIGHT)));
}

#[test]
fn one_statement_stays_whatever_its_literals_hold() {
    check(STATEMENTS.iter().map(|statement| (*statement, *statement)));
    assert!(STATEMENTS.iter().all(|statement| extract_sql(statement).removed.is_empty()));
}

#[test]
fn other_answers_give_what_they_say() {
    check(
        [
            // No query.
            (
                "<sql>SELECT 1 FROM t</sql><answer>The question cannot be answered.</answer>",
                "The question cannot be answered.",
            ),
            ("<answer>NULL</answer>", "NULL"),
            ("<answer>DELETE FROM t</answer>", "DELETE FROM t"),
            ("```sql\nSELECT 1 FROM t\n```\n<answer>Bob</answer>", "SELECT 1 FROM t"),
            // Prose is no query, whatever it selects.
            ("```sql\nSELECT 1 FROM t\n```\nFinal answer: we select the names from t", "SELECT 1 FROM t"),
            (
                "<sql>SELECT 1 FROM t</sql><observation>1</observation>So I select it from t.",
                "SELECT 1 FROM t",
            ),
            // An error that quotes a query is no query.
            (
                "<sql>SELECT 1 FROM t</sql><observation>near SELECT: SELECT 2 FROM t</observation>",
                "SELECT 1 FROM t",
            ),
            // Full-width signs within a name and a literal stay.
            (
                "SELECT COUNT\u{ff08}*\u{ff09}\u{ff0c}'a\u{ff0c}b' FROM t",
                "SELECT COUNT(*),'a\u{ff0c}b' FROM t",
            ),
            ("SELECT 人口\u{ff08}万\u{ff09} FROM 城市\u{ff1b}", "SELECT 人口\u{ff08}万\u{ff09} FROM 城市"),
            (
                "SELECT a FROM t WHERE b IN \u{ff08}SELECT c FROM u\u{ff09}",
                "SELECT a FROM t WHERE b IN (SELECT c FROM u)",
            ),
            ("\\boxed{\\text{SELECT a\\_b FROM t}}", "SELECT a_b FROM t"),
            // A transcript in JSON.
            (
                r#"[{"role": "user", "content": "SELECT"}, {"role": "assistant", "content": "<sql>SELECT 1 FROM t</sql>"}, {"role": "tool", "content": "1"}]"#,
                "SELECT 1 FROM t",
            ),
            // A label in a fence is part of its code.
            (
                "Here:\n```sql\nSELECT a -- Final query: (SELECT 1 FROM t)\nFROM t\n```",
                "SELECT a -- Final query: (SELECT 1 FROM t)\nFROM t",
            ),
            ("SELECT a FROM t ORDER BY b DESC\nFinal Answer: x", "SELECT a FROM t ORDER BY b DESC"),
        ]
        .into_iter(),
    );
}

#[test]
fn the_sql_is_found_and_what_was_removed_is_said() {
    for (text, sql, removed) in CASES {
        let extraction = extract_sql(text);
        assert_eq!(extraction.sql, *sql, "{text:?}");
        assert_eq!(extraction.removed, *removed, "{text:?}");
    }
}

#[test]
fn extracting_again_changes_nothing() {
    let answers = ANSWERS.iter().chain(STATEMENTS);
    for text in CASES.iter().map(|(text, ..)| text).chain(answers) {
        let once = extract_sql(text).sql;
        assert_eq!(extract_sql(&once).sql, once, "{text:?}");
    }
}
