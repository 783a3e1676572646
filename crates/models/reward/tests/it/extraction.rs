//! The reward and `score --extract-sql` read the same query out of the same answer, and it is the final one.

use sqlgauge_base::Random;
use sqlgauge_dataset::{Columns, Input, PredictionOptions, parse_benchmark, parse_predictions};
use sqlgauge_reward::{Code, Reward, RewardOptions};

use crate::common::{request, reward, shop};

/// A query that no other number gives the rows of.
fn query(number: usize) -> String {
    format!("SELECT name, {number} FROM shop WHERE city = 'Oslo'")
}

/// How a query stands in a transcript: `@` is the query.
const DRAFTS: [&str; 9] = [
    "<sql>@</sql>",
    "<sql>@",
    "```sql\n@;\n```\n",
    "~~~\n@\n~~~\n",
    "'''sql\n@\n'''\n",
    "SQLQuery: @\n",
    "Action: sql_db_query\nAction Input: @\n",
    "<tool_call>{\"name\": \"run_sql\", \"arguments\": {\"query\": \"@\"}}</tool_call>",
    "Let me try:\n@;\n",
];

/// What a query returned.
const RESULTS: [&str; 6] = [
    "<observation>('Ada', 1)</observation>",
    "<tool_response>no such column: SELECT x FROM shop</tool_response>\n",
    "<observation>\n| name |\n|------|\n| Ada |\n</observation>\n",
    "\nObservation: [('Ada', 1)]\n",
    "\nSQLResult: [('Ada', 1)]\n",
    "\nTool output: 2 rows\n",
];

const THOUGHTS: [&str; 5] = [
    "<think>SELECT it? FROM where?</think>",
    "Thought: I select the names from the shop.\n",
    "It's wrong; the customers' city counts.\n",
    "<thinking>Final SQL: SELECT 0 FROM sale</thinking>\n",
    "",
];

/// How the final answer stands.
const FINALS: [&str; 9] = [
    "<solution>@</solution>",
    "<answer>```sql\n@\n```</answer>",
    "<ANSWER>@",
    "\\boxed{@}",
    "Final SQL: @;\n",
    "**Final answer:**\n```sql\n@\n```\n",
    "The corrected SQL query is:\n@\n",
    "Revised query: @\n",
    "<|begin_of_solution|>@<|end_of_solution|>",
];

const TAILS: [&str; 5] = [
    "",
    "\nExplanation: it lists names.",
    "\nAnswer: Ada",
    "\n\n**Note:** names alone.",
    "\n\nIt lists the names.",
];

/// A transcript of random parts, and the number of the query that counts in it.
fn transcript(random: &mut Random) -> (String, usize) {
    let mut text = String::new();
    let mut number = 0;
    let steps = random.below(4);
    let has_final = steps == 0 || random.below(2) == 0;
    for _ in 0..steps {
        number += 1;
        text.push_str(random.pick(&THOUGHTS).unwrap());
        text.push_str(&random.pick(&DRAFTS).unwrap().replace('@', &query(number)));
        text.push_str(random.pick(&RESULTS).unwrap());
    }
    if has_final {
        number += 1;
        text.push_str(random.pick(&THOUGHTS).unwrap());
        text.push_str(&random.pick(&FINALS).unwrap().replace('@', &query(number)));
    }
    text.push_str(random.pick(&TAILS).unwrap());
    (text, number)
}

/// What the reader of `score --extract-sql` makes of the answers.
fn scored(answers: &[(String, usize)]) -> Vec<String> {
    let golds: Vec<_> = answers
        .iter()
        .enumerate()
        .map(|(at, (_, number))| serde_json::json!({"id": at, "db_id": "shop", "question": "q", "query": query(*number)}))
        .collect();
    let predictions: serde_json::Map<_, _> =
        answers.iter().enumerate().map(|(at, (text, _))| (at.to_string(), text.as_str().into())).collect();
    let file = |name: &str, value: serde_json::Value| Input::from_bytes(name, value.to_string().into_bytes());
    let benchmark =
        parse_benchmark(&file("gold.json", golds.into()), None, None, &Columns::default()).unwrap();
    let options = PredictionOptions { extract: true, ..PredictionOptions::default() };
    let set = parse_predictions("S", file("pred.json", predictions.into()), &benchmark, &options).unwrap();
    set.predictions.into_iter().map(|answer| answer.unwrap().sql).collect()
}

/// Both readers give the query that was planted last, up to white space and the semicolon.
fn check(count: usize) {
    let folder = shop();
    let of_answers = reward(RewardOptions::new(folder.path()));
    let of_queries = reward(RewardOptions { extract: false, ..RewardOptions::new(folder.path()) });
    let mut random = Random::new([52]);
    let answers: Vec<_> = (0..count).map(|_| transcript(&mut random)).collect();
    let queries = scored(&answers);
    let differs = |at: &usize| queries[*at] != query(answers[*at].1);
    let wrong: Vec<_> = (0..count).filter(differs).map(|at| (&answers[at].0, &queries[at])).collect();
    assert!(wrong.is_empty(), "{} of {count}, the first {:#?}", wrong.len(), &wrong[..wrong.len().min(5)]);
    let values = |reward: &Reward, texts: Vec<&str>| {
        let batch: Vec<_> = texts
            .into_iter()
            .zip(&answers)
            .map(|(text, (_, number))| request(text, &query(*number), "shop"))
            .collect();
        reward.score(&batch).unwrap()
    };
    let extracted = values(&of_answers, answers.iter().map(|(text, _)| text.as_str()).collect());
    let whole = values(&of_queries, queries.iter().map(String::as_str).collect());
    assert_eq!(extracted, whole);
    assert!(extracted.iter().all(|result| result.code == Code::Right));
}

#[test]
fn reward_and_score_read_the_same_query() {
    check(400);
}

#[test]
#[ignore = "long: cargo xtask long"]
fn reward_and_score_read_the_same_query_of_10000() {
    check(10_000);
}
