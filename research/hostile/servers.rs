//! Servers that misbehave, for the commands that ask a language model.
//!
//! | case | what the server does |
//! |---|---|
//! | refuses | nothing listens there |
//! | silent | takes the request and says nothing |
//! | closes | ends the connection at once |
//! | slow | sends a byte every 50 ms |
//! | endless head, endless body | sends headers, or a body, without end |
//! | length too long | promises more than it sends |
//! | no HTTP | sends random bytes |
//! | no JSON | sends a page |
//! | deep JSON | arrays 100,000 deep |
//! | wrong JSON | JSON of another shape |
//! | no choices | an answer without one |
//! | logprobs | 300,000 entries of logprobs |
//! | circle | leads to itself again and again |
//! | busy | says 429 for ever, with an absurd pause |
//! | broken | says 500 for ever |
//! | hostile answer | an answer that a terminal would obey |

use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;
use sqlgauge_base::Random;
use sqlgauge_research::measure_within;

use crate::report::{END, LIMIT, Limit, Report};
use crate::{Round, shop};

/// The time-out of a request and its attempts: a server may make a command wait for so long, with the pauses between them.
const TIMEOUT_SECONDS: &str = "2";
const ATTEMPTS: &str = "2";
const WAIT: Limit = Limit { wall_seconds: 60.0, ..LIMIT };

/// What a server sends once it has read a request.
type Reply = fn(&Round<'_>, &mut Random) -> Sends;

/// Pieces of an answer.
enum Sends {
    /// The whole of it.
    Bytes(Vec<u8>),
    /// It, byte by byte.
    Slowly(Vec<u8>),
    /// A beginning, and then a piece again and again.
    Endlessly(Vec<u8>, Vec<u8>),
    /// Nothing, and the connection stays open.
    Nothing,
}

static CASES: &[(&str, Reply)] = &[
    ("refuses", |_, _| Sends::Nothing),
    ("silent", |_, _| Sends::Nothing),
    ("closes", |_, _| Sends::Bytes(Vec::new())),
    ("slow", |_, _| Sends::Slowly(answer("SELECT 1"))),
    ("endless head", |_, _| Sends::Endlessly(b"HTTP/1.1 200 OK\r\n".to_vec(), b"X-A: b\r\n".repeat(1000))),
    ("endless body", |_, _| {
        Sends::Endlessly(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n\"".to_vec(),
            b"x".repeat(1 << 16),
        )
    }),
    ("length too long", |_, _| {
        Sends::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{".to_vec())
    }),
    ("no HTTP", |round, random| {
        Sends::Bytes(
            (0..round.scaled(100_000)).map(|_| u8::try_from(random.below(256)).unwrap_or(0)).collect(),
        )
    }),
    ("no JSON", |_, _| Sends::Bytes(http("<html><script>alert(1)</script></html>"))),
    ("deep JSON", |round, _| Sends::Bytes(http(&"[".repeat(round.scaled(100_000))))),
    ("wrong JSON", |_, _| Sends::Bytes(http(r#"{"choices": {"message": [null]}}"#))),
    ("no choices", |_, _| Sends::Bytes(http(r#"{"choices": []}"#))),
    ("logprobs", |round, _| {
        let entry = json!({"token": "a", "logprob": -0.1, "bytes": [97], "top_logprobs": [{"token": "b", "logprob": -2.5}]});
        let entries = vec![entry; round.scaled(300_000)];
        let choice = json!({"message": {"content": "SELECT 1"}, "logprobs": {"content": entries}});
        Sends::Bytes(http(&json!({"choices": [choice]}).to_string()))
    }),
    ("circle", |_, _| {
        Sends::Bytes(
            b"HTTP/1.1 307 T\r\nLocation: /v1/chat/completions\r\nContent-Length: 0\r\n\r\n".to_vec(),
        )
    }),
    ("busy", |_, _| {
        Sends::Bytes(b"HTTP/1.1 429 Busy\r\nRetry-After: 99999999999\r\nContent-Length: 0\r\n\r\n".to_vec())
    }),
    ("broken", |_, _| Sends::Bytes(b"HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n".to_vec())),
    ("hostile answer", |_, _| {
        Sends::Bytes(answer("\u{1b}]0;x\u{7}\u{1b}[2J\0```sql\nDROP TABLE item;\n```"))
    }),
];

fn http(body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into()
}

fn answer(text: &str) -> Vec<u8> {
    http(&json!({"choices": [{"message": {"role": "assistant", "content": text}}]}).to_string())
}

/// A server of one case, which ends when it is dropped.
struct Server {
    address: SocketAddr,
    stopped: Arc<AtomicBool>,
}

impl Server {
    fn start(sends: Sends) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (address, stopped) = (listener.local_addr()?, Arc::new(AtomicBool::new(false)));
        let (sends, ends) = (Arc::new(sends), Arc::clone(&stopped));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if ends.load(Ordering::Relaxed) {
                    return;
                }
                let (sends, ends) = (Arc::clone(&sends), Arc::clone(&ends));
                thread::spawn(move || serve(stream, &sends, &ends));
            }
        });
        Ok(Self { address, stopped })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        // So that it looks.
        let _ = TcpStream::connect(self.address);
    }
}

/// Answers one request. That the client goes away is what it is there for.
fn serve(mut stream: TcpStream, sends: &Sends, ends: &AtomicBool) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    read_request(&stream);
    let goes_on = || !ends.load(Ordering::Relaxed);
    match sends {
        Sends::Bytes(bytes) => drop(stream.write_all(bytes)),
        Sends::Slowly(bytes) => {
            for byte in bytes {
                if !goes_on() || stream.write_all(&[*byte]).is_err() {
                    return;
                }
                thread::sleep(Duration::from_millis(50));
            }
        }
        Sends::Endlessly(first, again) => {
            let mut sent = stream.write_all(first);
            while goes_on() && sent.is_ok() {
                sent = stream.write_all(again);
            }
        }
        Sends::Nothing => {
            while goes_on() {
                thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

fn read_request(stream: &TcpStream) {
    let mut reader = BufReader::new(stream);
    let (mut length, mut line) = (0_u64, String::new());
    while reader.read_line(&mut line).is_ok_and(|bytes| bytes > 2) {
        let lower = line.to_ascii_lowercase();
        length =
            lower.strip_prefix("content-length:").and_then(|text| text.trim().parse().ok()).unwrap_or(length);
        line.clear();
    }
    let _ = std::io::copy(&mut reader.take(length), &mut std::io::sink());
}

pub(crate) fn run(round: &Round<'_>, report: &mut Report) -> Result<()> {
    for (case, reply) in CASES.iter().filter(|(case, _)| round.asks("servers", case)) {
        let folder = round.folder.join("servers").join(case.replace(' ', "_"));
        std::fs::create_dir_all(&folder)?;
        shop::write(&folder, 2)?;
        let server = Server::start(reply(round, &mut round.random(case)))?;
        let url = format!("http://{}/v1", server.address);
        // Nothing listens where a server has been.
        let server = (*case != "refuses").then_some(server);
        for (name, words) in [
            (
                "predict",
                &["predict", "--questions", "dev.json", "--db", "database", "--out", "predicted.jsonl"][..],
            ),
            (
                "predict --shots 2",
                &[
                    "predict",
                    "--questions",
                    "dev.json",
                    "--db",
                    "database",
                    "--shots",
                    "2",
                    "--shots-gold",
                    "train.json",
                    "--shots-db",
                    "known",
                    "--out",
                    "shot.jsonl",
                ],
            ),
            (
                "evolve --names llm",
                &[
                    "evolve",
                    "--kinds",
                    "rename-columns",
                    "--names",
                    "llm",
                    "--gold",
                    "dev.json",
                    "--db",
                    "database",
                    "--out",
                    "evolved",
                ],
            ),
        ] {
            let mut command = round.program(words);
            command.args(["--llm-url", &url, "--llm-model", "m", "--llm-timeout", TIMEOUT_SECONDS]);
            command.args(["--llm-attempts", ATTEMPTS]).current_dir(&folder);
            report.add(("servers", case, name), &measure_within(&mut command, END)?, WAIT, None);
        }
        drop(server);
    }
    Ok(())
}
