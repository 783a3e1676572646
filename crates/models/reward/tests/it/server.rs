//! The reward on a real server. Needs Debian's `postgresql`.

use sqlgauge_engines::{Access, Secret, open};
use sqlgauge_reward::{Code, Request, Reward, RewardError, RewardKind, RewardOptions};

use crate::servers::PASSWORD;
use crate::servers::postgresql::Server;

const SHOP: &str = "CREATE TABLE shop (id int PRIMARY KEY, name text NOT NULL, rating numeric(3, 1)); \
    INSERT INTO shop VALUES (1, 'Ada', 4.5), (2, 'Bo', 3.0), (3, 'Cy', 4.5)";

fn reward(options: RewardOptions) -> Result<Reward, RewardError> {
    let access = Access { password: Some(Secret(PASSWORD.into())), connections: 4, ..Access::default() };
    let engine = open(&options.databases, options.limits(), access).unwrap();
    Reward::on_server(options, engine)
}

#[test]
#[ignore = "long: cargo xtask long"]
fn answers_are_scored_on_postgresql() {
    let Some(mut server) = Server::start() else { return };
    server.database("shop", SHOP);
    let address = format!("postgresql://sqlgauge@127.0.0.1:{}/{{db_id}}", server.port);
    let exact = reward(RewardOptions::new(&address)).unwrap();
    let request = |prediction: &str, gold: &str| Request {
        prediction: prediction.to_owned(),
        golds: vec![gold.to_owned()],
        db_id: "shop".to_owned(),
    };
    let gold = "SELECT name, rating::numeric FROM shop WHERE rating > 4 ORDER BY id";
    let cases = [
        ("```sql\nSELECT name, rating FROM shop WHERE rating >= 4.5 ORDER BY id\n```", Code::Right),
        ("SELECT rating, name FROM shop WHERE rating ILIKE '4%'", Code::DoesNotRun),
        ("SELECT rating, name FROM shop WHERE rating::text ILIKE '4%' ORDER BY id", Code::Right),
        ("SELECT name, rating FROM shop WHERE rating > 4 ORDER BY id DESC", Code::Wrong),
        ("SELECT name, rating FROM shop", Code::Wrong),
        ("SELECT * FROM (VALUES ('Ada', 4.5), ('Cy', 4.5)) AS t (a, b)", Code::ReadsNoTable),
        ("SELECT name FROM nothing", Code::DoesNotRun),
        ("DELETE FROM shop", Code::NoSql),
        ("SELECT pg_read_file('/etc/passwd') FROM shop", Code::Denied),
        ("I do not know", Code::NoSql),
        (
            "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n, shop",
            Code::Timeout,
        ),
    ];
    let requests: Vec<Request> = cases.iter().map(|(prediction, _)| request(prediction, gold)).collect();
    let results = exact.score(&requests).unwrap();
    let wrong: Vec<String> = results
        .iter()
        .zip(&cases)
        .filter(|(result, (_, code))| result.code != *code)
        .map(|(result, (sql, code))| format!("{sql}: {:?} ({}), not {code:?}", result.code, result.reason))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    let dense = reward(RewardOptions { kind: RewardKind::Dense, ..RewardOptions::new(&address) }).unwrap();
    let values: Vec<Option<f64>> =
        dense.score(&requests[3..6]).unwrap().iter().map(|result| result.value).collect();
    assert!(values[1] > Some(0.3) && values[1] < Some(0.9) && values[2] == Some(0.0), "{values:?}");

    // The answer is not blamed when the server has stopped: the batch ends with an error.
    server.kill();
    assert!(matches!(exact.score(&[request("SELECT 1 FROM shop", gold)]), Err(RewardError::Engine(_))));
}

#[test]
#[ignore = "long: cargo xtask long"]
fn what_has_no_meaning_on_a_server_is_refused_with_the_remedy() {
    let options = RewardOptions::new("postgresql://u@127.0.0.1:1/{db_id}");
    for options in [
        RewardOptions { witnesses: true, ..options.clone() },
        RewardOptions { kind: RewardKind::Structure, ..options },
    ] {
        let error = reward(options).err().unwrap().to_string();
        assert!(error.contains("SQLite") && error.contains(": "), "{error}");
    }
}
