//! The client against a server that misbehaves on purpose.

use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::server::{Reply, Server};
use serde_json::json;
use sqlgauge_llm::{
    BatchProgress, CacheOptions, ChatRequest, Client, ClientOptions, LlmError, Message, Prices, Retry,
    Secret, SpendingBudget,
};

const KEY: &str = "sk-test-0123456789-abcdefghij";

fn options(server: &Server) -> ClientOptions {
    ClientOptions {
        key: Some(Secret::new(KEY)),
        retry: Retry { attempts: 3, first_pause_ms: 1, longest_pause_ms: 4, longest_retry_after_s: 5 },
        ..ClientOptions::new(server.url())
    }
}

fn question(text: &str) -> ChatRequest {
    ChatRequest { max_tokens: Some(10), ..ChatRequest::new("judge", vec![Message::user(text)]) }
}

fn questions(count: usize) -> Vec<ChatRequest> {
    (0..count).map(|number| question(&format!("question {number:03}"))).collect()
}

fn cached(options: ClientOptions, folder: &Path) -> ClientOptions {
    ClientOptions {
        cache: Some(CacheOptions { folder: folder.to_owned(), namespace: String::new() }),
        ..options
    }
}

fn echo() -> Server {
    Server::start(|seen| Reply::chat(&format!("re: {}", seen.prompt()), 20, 5))
}

#[test]
fn a_request_says_what_it_was_told_to() {
    let server = echo();
    let client = Client::new(&options(&server)).unwrap();
    let answer = client.chat(&question("hello")).unwrap();
    assert_eq!(
        (answer.text.as_str(), answer.model.as_deref(), answer.cached),
        ("re: hello", Some("served"), false)
    );
    let seen = &server.seen()[0];
    assert_eq!(seen.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    let message = json!({"role": "user", "content": "hello"});
    assert_eq!(
        seen.body,
        json!({"model": "judge", "messages": [message], "temperature": 0.0, "max_tokens": 10})
    );
}

#[test]
fn queries_stay_and_without_a_key_there_is_no_header() {
    let server = echo();
    let base_url = format!("{}/deployments/d?api-version=7", server.url());
    Client::new(&ClientOptions { base_url, ..options(&server) }).unwrap().chat(&question("a")).unwrap();
    Client::new(&ClientOptions { key: None, ..options(&server) }).unwrap().chat(&question("b")).unwrap();
    let seen = server.seen();
    assert_eq!(seen[0].line, "POST /v1/deployments/d/chat/completions?api-version=7 HTTP/1.1");
    assert_eq!(seen[1].header("authorization"), None);
}

/// A way to fail, and a part of the message when it never gets better.
type Misbehaviour = (&'static str, fn() -> Reply, &'static str);

const PASSING: &[Misbehaviour] = &[
    ("429", || Reply::error(429, "slow down"), "429 (too many requests): slow down"),
    ("429 with a pause", || Reply::error(429, "slow down").with_header("Retry-After", "0"), "slow down"),
    ("500", || Reply::error(500, "oops"), "500: oops"),
    (
        "502 with HTML",
        || Reply::Full(502, vec![], b"<html>Bad\n gateway</html>".to_vec()),
        "502: <html>Bad gateway</html>",
    ),
    ("503 without words", || Reply::Full(503, vec![], vec![]), "503: Service Unavailable"),
    ("504", || Reply::json(504, &json!({"error": "late"})), "504: late"),
    ("hang-up", || Reply::HangUp, "broke"),
    (
        "cut off",
        || Reply::CutOff(json!({"choices": [{"message": {"content": "x"}}]}).to_string().into_bytes()),
        "broke",
    ),
    ("malformed", || Reply::Full(200, vec![], b"{\"choices\": [".to_vec()), "not JSON (EOF"),
    ("not UTF-8", || Reply::Full(200, vec![], b"{\"choices\": \"\xff\"}".to_vec()), "not JSON"),
    ("empty", || Reply::Full(200, vec![], vec![]), "not JSON"),
    (
        "HTML",
        || Reply::Full(200, vec![("Content-Type".to_owned(), "text/html".to_owned())], b"<html>".to_vec()),
        "text/html, not JSON; is the base URL right?",
    ),
    ("no choices", || Reply::json(200, &json!({"choices": []})), "no choices"),
    ("error with 200", || Reply::json(200, &json!({"error": {"message": "overloaded"}})), "overloaded"),
    ("too deep", || Reply::Full(200, vec![], "[".repeat(100_000).into_bytes()), "not JSON"),
    (
        "slow",
        || Reply::Late(Duration::from_secs(5), Box::new(Reply::chat("late", 1, 1))),
        "did not answer within 300 ms",
    ),
];

fn impatient(server: &Server) -> ClientOptions {
    ClientOptions { timeout_ms: 300, ..options(server) }
}

#[test]
fn passing_failures_are_tried_again() {
    for (name, misbehave, _) in PASSING {
        let server =
            Server::start(move |seen| if seen.number == 0 { misbehave() } else { Reply::chat("good", 1, 1) });
        let client = Client::new(&impatient(&server)).unwrap();
        let answer = client.chat(&question("q"));
        assert_eq!(answer.map(|answer| answer.text), Ok("good".to_owned()), "{name}");
        assert_eq!((server.count(), client.usage().retries), (2, 1), "{name}");
    }
}

#[test]
fn attempts_are_bounded_and_the_last_failure_is_told() {
    for (name, misbehave, message) in PASSING {
        let server = Server::start(move |_| misbehave());
        let error = Client::new(&impatient(&server)).unwrap().chat(&question("q")).unwrap_err();
        assert!(matches!(error, LlmError::GaveUp { attempts: 3, .. }), "{name}: {error}");
        assert!(error.to_string().contains(message), "{name}: {error}");
        assert_eq!(server.count(), 3, "{name}");
    }
}

#[test]
fn lasting_failures_are_told_at_once() {
    type Script = Box<dyn Fn() -> Reply + Send + Sync>;
    let elsewhere = echo();
    let target = elsewhere.url();
    let redirect =
        move || Reply::Full(307, vec![("Location".to_owned(), format!("{target}/x?token=hidden"))], vec![]);
    let quota = json!({"error": {"code": "insufficient_quota", "message": "no credit"}});
    let cases: Vec<(Script, &str)> = vec![
        (Box::new(|| Reply::error(400, "context too long")), "400 (the request was not understood"),
        (Box::new(|| Reply::error(401, "no")), "401 (the API key is missing or wrong)"),
        (Box::new(|| Reply::error(403, "no")), "403 (the API key may not use this model"),
        (Box::new(|| Reply::error(404, "no such model")), "404 (no such model or address"),
        (Box::new(|| Reply::error(418, "teapot")), "418: teapot"),
        (Box::new(|| Reply::error(501, "never")), "501: never"),
        (Box::new(redirect), "redirects to http://127.0.0.1"),
        (Box::new(move || Reply::json(429, &quota)), "quota is used up: no credit"),
        (Box::new(|| Reply::Full(200, vec![], vec![b' '; 300_000])), "more than 200000 bytes"),
        (Box::new(|| Reply::error(429, "later").with_header("Retry-After", "3600")), "asks to wait 3600 s"),
    ];
    for (misbehave, message) in cases {
        let server = Server::start(move |_| misbehave());
        let client = Client::new(&ClientOptions { max_answer_bytes: 200_000, ..options(&server) }).unwrap();
        let error = client.chat(&question("q")).unwrap_err();
        assert!(error.to_string().contains(message), "{error} is not {message}");
        assert!(!error.to_string().contains("token="), "{error}");
        assert_eq!(server.count(), 1, "{message}");
    }
    assert_eq!(elsewhere.count(), 0, "a redirect is not followed");
}

#[test]
fn the_pause_that_a_server_asks_for_is_kept() {
    let server = Server::start(|seen| match seen.number {
        0 => Reply::error(429, "wait").with_header("Retry-After", "1"),
        _ => Reply::chat("good", 1, 1),
    });
    Client::new(&options(&server)).unwrap().chat(&question("q")).unwrap();
    let seen = server.seen();
    assert!(seen[1].at.duration_since(seen[0].at) >= Duration::from_secs(1));
}

#[test]
fn nobody_listens() {
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let retry = Retry { attempts: 2, first_pause_ms: 1, ..Retry::default() };
    let options = ClientOptions { retry, ..ClientOptions::new(format!("http://{address}/v1")) };
    let client = Client::new(&options).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    client.on_unreachable(move |sentence| sender.send(sentence.to_owned()).unwrap());
    let error = client.chat(&question("q")).unwrap_err();
    assert!(error.to_string().contains("cannot connect to http://127.0.0.1"), "{error}");
    // Once, however many requests and attempts there are.
    client.chat(&question("r")).unwrap_err();
    let sentences: Vec<String> = receiver.iter().collect();
    assert_eq!(sentences.len(), 1, "{sentences:?}");
    assert!(sentences[0].contains("cannot connect to http://127.0.0.1"), "{sentences:?}");
    assert!(sentences[0].ends_with("trying 1 more times, for 1 s at most"), "{sentences:?}");
    assert_eq!(client.usage().unconfirmed_tokens, 0);
}

#[test]
fn a_failure_of_one_request_leaves_the_others() {
    let server = Server::start(|seen| match seen.prompt() {
        "question 003" => Reply::error(400, "this one is bad"),
        "question 005" => Reply::error(500, "this one is unlucky"),
        prompt => Reply::chat(prompt, 1, 1),
    });
    let client = Client::new(&options(&server)).unwrap();
    let batch = client.chat_batch(&questions(12), None);
    assert_eq!((batch.answered(), batch.unasked()), (10, 0));
    for (number, result) in batch.results.iter().enumerate() {
        match number {
            3 => assert!(matches!(result, Err(LlmError::Status { status: 400, .. }))),
            5 => assert!(matches!(result, Err(LlmError::GaveUp { .. }))),
            _ => assert_eq!(result.as_ref().unwrap().text, format!("question {number:03}")),
        }
    }
    assert_eq!(batch.usage.requests, 11 + 3);
}

#[test]
fn a_failure_that_hits_all_stops_the_batch() {
    let server = Server::start(|_| Reply::error(401, "who are you"));
    let client = Client::new(&ClientOptions { concurrency: 1, ..options(&server) }).unwrap();
    let batch = client.chat_batch(&questions(20), None);
    assert_eq!((server.count(), batch.answered(), batch.unasked()), (1, 0, 19));
    assert!(batch.stopped_by().unwrap().to_string().contains("401"));
}

#[test]
fn failures_in_a_row_stop_the_batch_and_a_success_between_them_does_not() {
    let dead = Server::start(|_| Reply::error(500, "dead"));
    let stop = |server: &Server| ClientOptions { concurrency: 1, stop_after_failures: 2, ..options(server) };
    let batch = Client::new(&stop(&dead)).unwrap().chat_batch(&questions(20), None);
    assert_eq!((dead.count(), batch.unasked()), (6, 18));
    let shaky = Server::start(|seen| {
        if seen.prompt().ends_with(['0', '2', '4', '6', '8']) {
            Reply::error(500, "x")
        } else {
            Reply::chat("y", 1, 1)
        }
    });
    let batch = Client::new(&stop(&shaky)).unwrap().chat_batch(&questions(20), None);
    assert_eq!((batch.answered(), batch.unasked()), (10, 0));
}

#[test]
fn exactly_as_many_requests_run_at_once_as_allowed() {
    let together = Barrier::new(3);
    let server = Server::start(move |_| {
        // Nobody is answered before three are there.
        together.wait();
        Reply::chat("good", 1, 1)
    });
    let client = Client::new(&ClientOptions { concurrency: 3, ..options(&server) }).unwrap();
    assert_eq!(client.chat_batch(&questions(9), None).answered(), 9);
    assert_eq!(server.most_in_flight(), 3);
}

#[test]
fn two_threads_share_the_limit_of_a_client() {
    let server =
        Server::start(|_| Reply::Late(Duration::from_millis(5), Box::new(Reply::chat("good", 1, 1))));
    let client = Client::new(&ClientOptions { concurrency: 2, ..options(&server) }).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert_eq!(client.chat_batch(&questions(6), None).answered(), 6));
        }
    });
    assert!(server.most_in_flight() <= 2);
}

#[test]
fn equal_requests_are_asked_once() {
    let server = echo();
    let client = Client::new(&options(&server)).unwrap();
    let requests = [question("a"), question("b"), question("a"), question("a")];
    let mut last = None;
    let batch = client.chat_batch(&requests, Some(&mut |progress: &BatchProgress| last = Some(*progress)));
    let texts: Vec<_> = batch.results.iter().map(|result| result.as_ref().unwrap().text.as_str()).collect();
    assert_eq!(texts, ["re: a", "re: b", "re: a", "re: a"]);
    assert_eq!(server.count(), 2);
    assert_eq!(last.map(|progress| (progress.total, progress.done, progress.failed)), Some((4, 4, 0)));
}

#[test]
fn an_answer_in_the_cache_needs_no_server() {
    let folder = tempfile::tempdir().unwrap();
    let first = {
        let server = echo();
        let client = Client::new(&cached(options(&server), folder.path())).unwrap();
        client.chat_batch(&questions(5), None)
    };
    let silent = Server::start(|_| Reply::HangUp);
    let client =
        Client::new(&cached(ClientOptions { key: None, ..options(&silent) }, folder.path())).unwrap();
    let second = client.chat_batch(&questions(5), None);
    for (first, second) in first.results.iter().zip(&second.results) {
        let (first, second) = (first.as_ref().unwrap(), second.as_ref().unwrap());
        assert_eq!(
            (&first.text, first.usage, false, true),
            (&second.text, second.usage, first.cached, second.cached)
        );
    }
    assert_eq!((silent.count(), second.usage.cached, second.usage.requests), (0, 5, 0));
}

#[test]
fn failures_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mended = std::sync::Arc::new(AtomicBool::new(false));
    let state = std::sync::Arc::clone(&mended);
    let server = Server::start(move |_| {
        if state.load(Ordering::SeqCst) { Reply::chat("good", 1, 1) } else { Reply::error(400, "bad") }
    });
    let client = Client::new(&cached(options(&server), folder.path())).unwrap();
    assert!(client.chat(&question("q")).is_err());
    mended.store(true, Ordering::SeqCst);
    assert_eq!(client.chat(&question("q")).unwrap().text, "good");
}

#[test]
fn a_budget_is_never_exceeded_and_the_rest_is_asked_later() {
    let folder = tempfile::tempdir().unwrap();
    let server = echo();
    let limited = |budget| {
        let prices = Some(Prices { prompt_per_million: 1e6, completion_per_million: 2e6 });
        Client::new(&cached(ClientOptions { budget, prices, ..options(&server) }, folder.path())).unwrap()
    };
    // Each answer costs 20 + 5 tokens, 30 units; the worst case is about 130 tokens.
    let client = limited(SpendingBudget { tokens: Some(400), ..SpendingBudget::default() });
    let batch = client.chat_batch(&questions(40), None);
    let usage = client.usage();
    assert!(usage.prompt_tokens + usage.completion_tokens <= 400);
    assert!((10..=15).contains(&batch.answered()), "{}", batch.answered());
    assert_eq!(batch.answered() + batch.unasked(), 40);
    assert_eq!(usage.cost, Some(30.0 * batch.answered() as f64));
    assert!(batch.stopped_by().unwrap().to_string().contains("budget of 400 tokens"));
    let requests = server.count();
    assert_eq!(requests, batch.answered());

    let client =
        limited(SpendingBudget { cost: Some(400.0), requests: Some(3), ..SpendingBudget::default() });
    let more = client.chat_batch(&questions(40), None);
    assert_eq!((more.usage.cached, more.usage.requests), (requests as u64, 3));
    let rest = limited(SpendingBudget::default()).chat_batch(&questions(40), None);
    assert_eq!((rest.answered(), rest.usage.requests), (40, 40 - requests as u64 - 3));
    let mut prompts: Vec<_> = server.seen().iter().map(|seen| seen.prompt().to_owned()).collect();
    prompts.sort();
    prompts.dedup();
    assert_eq!((prompts.len(), server.count()), (40, 40), "no question was asked twice");
}

#[test]
fn an_answer_without_a_count_uses_up_its_worst_case() {
    let server = Server::start(|_| Reply::json(200, &json!({"choices": [{"message": {"content": "good"}}]})));
    let budget = SpendingBudget { tokens: Some(200), ..SpendingBudget::default() };
    let client = Client::new(&ClientOptions { budget, ..options(&server) }).unwrap();
    let batch = client.chat_batch(&questions(5), None);
    assert_eq!((batch.answered(), batch.unasked()), (1, 4));
    let answer = batch.results.iter().find_map(|result| result.as_ref().ok()).unwrap();
    assert_eq!(answer.usage, None);
    assert!((100..=200).contains(&batch.usage.unconfirmed_tokens));
}

/// Everything that stands in the files of a folder and their names.
fn everything(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        text.push_str(&entry.path().display().to_string());
        if entry.path().is_dir() {
            text.push_str(&everything(&entry.path()));
        } else {
            text.push_str(&String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()));
        }
    }
    text
}

#[test]
fn the_key_is_nowhere_but_in_the_header() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|seen| match seen.number {
        0 => Reply::error(401, &format!("Incorrect API key provided: {KEY}.")),
        1 => Reply::error(400, &format!("bad key {}…", &KEY[..12])),
        2 => Reply::Full(307, vec![("Location".to_owned(), format!("/echo/{KEY}"))], vec![]),
        3 => Reply::Full(200, vec![("Content-Type".to_owned(), format!("text/{KEY}"))], b"x".to_vec()),
        4 => Reply::json(200, &json!({"error": {"message": KEY}})),
        5 => Reply::json(429, &json!({"error": {"code": "insufficient_quota", "message": KEY}})),
        _ => Reply::chat(&format!("your key is {KEY}"), 1, 1).with_header("X-Key", KEY),
    });
    let options = cached(options(&server), folder.path());
    let client = Client::new(&options).unwrap();
    let mut output = format!("{options:?} {client:?}");
    for attempt in 0..6 {
        let result = client.chat(&question(&format!("{attempt} with the key {KEY}")));
        let debug = format!("{result:?}");
        output.push_str(&debug);
        if let Err(error) = result {
            output.push_str(&error.to_string());
        }
    }
    assert!(server.count() >= 7, "the good answer was reached");
    let files = everything(folder.path());
    assert!(files.contains("your key is [hidden]"), "{files}");
    for part in [KEY, &KEY[..12], &KEY[10..]] {
        assert!(!output.contains(part), "{part} in {output}");
        assert!(!files.contains(part), "{part} in {files}");
    }
}

#[test]
fn a_client_works_and_ends_inside_an_asynchronous_program() {
    let server = echo();
    let options = options(&server);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = Client::new(&options).unwrap();
        assert_eq!(client.chat_batch(&questions(3), None).answered(), 3);
    });
}

#[test]
fn progress_is_told_after_each_answer() {
    let server = echo();
    let mut counts = Vec::new();
    let client = Client::new(&options(&server)).unwrap();
    client.chat_batch(&questions(6), Some(&mut |progress: &BatchProgress| counts.push(progress.done)));
    assert_eq!(counts, [1, 2, 3, 4, 5, 6]);
    assert!(client.chat_batch(&[], None).results.is_empty());
}

#[test]
fn options_that_make_no_sense_are_refused_before_anything_is_sent() {
    let good = ClientOptions::new("https://api.example.com/v1");
    assert!(Client::new(&good).is_ok());
    let price = |price| Some(Prices { prompt_per_million: price, completion_per_million: 1.0 });
    let cost = |cost| SpendingBudget { cost: Some(cost), ..SpendingBudget::default() };
    let cases = [
        (ClientOptions::new("api.example.com/v1"), "base URL"),
        (ClientOptions::new("ftp://example.com"), "http://"),
        (ClientOptions::new("https://user:password@example.com"), "user or password"),
        (ClientOptions { concurrency: 0, ..good.clone() }, "concurrency"),
        (ClientOptions { retry: Retry { attempts: 0, ..Retry::default() }, ..good.clone() }, "attempt"),
        (ClientOptions { budget: cost(1.0), ..good.clone() }, "prices"),
        (ClientOptions { budget: cost(f64::NAN), prices: price(1.0), ..good.clone() }, "budget"),
        (ClientOptions { prices: price(-1.0), ..good.clone() }, "prices"),
        (ClientOptions { key: Some(Secret::new("a\nb")), ..good.clone() }, "API key"),
    ];
    for (options, message) in cases {
        let error = Client::new(&options).unwrap_err().to_string();
        assert!(error.contains(message), "{error} is not about {message}");
        assert!(!error.contains("password@"), "{error}");
    }
}

#[test]
fn a_budget_of_tokens_needs_a_limit_of_the_answer() {
    let server = echo();
    let budget = SpendingBudget { tokens: Some(10_000), ..SpendingBudget::default() };
    let client = Client::new(&ClientOptions { budget, ..options(&server) }).unwrap();
    let request = ChatRequest { max_tokens: None, ..question("q") };
    assert!(client.chat(&request).unwrap_err().to_string().contains("max_tokens"));
    assert_eq!(server.count(), 0);
}
