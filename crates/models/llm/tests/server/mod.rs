//! A local HTTP server that answers as a test scripts it, badly if wanted. Other crates' tests use it by path.
#![allow(dead_code, clippy::unwrap_used, reason = "each test program uses its part, and a test may fail")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub(crate) struct SeenRequest {
    /// Position among the requests, from 0.
    pub number: usize,
    pub at: Instant,
    /// Method, path and query.
    pub line: String,
    /// Headers with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The JSON body.
    pub body: Value,
}

impl SeenRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Content of the last message.
    pub(crate) fn prompt(&self) -> &str {
        self.body["messages"]
            .as_array()
            .and_then(|all| all.last())
            .and_then(|last| last["content"].as_str())
            .unwrap()
    }

    /// What stands between the marks of a part of the prompt.
    pub(crate) fn part(&self, name: &str) -> &str {
        let (_, rest) = self.prompt().split_once(&format!("<<<BEGIN {name} ")).unwrap();
        let (mark, rest) = rest.split_once(">>>\n").unwrap();
        rest.split_once(&format!("\n<<<END {name} {mark}>>>")).unwrap().0
    }

    /// Texts to embed.
    pub(crate) fn inputs(&self) -> Vec<String> {
        self.body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    }
}

pub(crate) enum Reply {
    /// Status, further headers, body.
    Full(u16, Vec<(String, String)>, Vec<u8>),
    /// The same after a pause.
    Late(Duration, Box<Reply>),
    /// Announces the whole body and hangs up after half of it.
    CutOff(Vec<u8>),
    /// Hangs up without a word.
    HangUp,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::Full(
            status,
            vec![("content-type".to_owned(), "application/json".to_owned())],
            body.to_string().into_bytes(),
        )
    }

    pub(crate) fn with_header(self, name: &str, value: &str) -> Self {
        match self {
            Self::Full(status, mut headers, body) => {
                headers.push((name.to_owned(), value.to_owned()));
                Self::Full(status, headers, body)
            }
            other => other,
        }
    }

    pub(crate) fn error(status: u16, message: &str) -> Self {
        Self::json(status, &json!({"error": {"message": message, "type": "test", "code": null}}))
    }

    /// A good answer of a chat model, with that usage.
    pub(crate) fn chat(text: &str, prompt_tokens: u64, completion_tokens: u64) -> Self {
        let usage = json!({"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens});
        let choice =
            json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"});
        Self::json(200, &json!({"id": "c", "model": "served", "choices": [choice], "usage": usage}))
    }

    pub(crate) fn vectors(vectors: &[Vec<f32>]) -> Self {
        let entry = |(index, vector): (usize, &Vec<f32>)| json!({"index": index, "embedding": vector});
        let data: Vec<Value> = vectors.iter().enumerate().map(entry).collect();
        Self::json(200, &json!({"data": data, "usage": {"prompt_tokens": 3, "total_tokens": 3}}))
    }
}

/// The server; it stops when dropped.
pub(crate) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    script: Box<dyn Fn(&SeenRequest) -> Reply + Send + Sync>,
    seen: Mutex<Vec<SeenRequest>>,
    in_flight: AtomicUsize,
    most_in_flight: AtomicUsize,
    stopped: AtomicBool,
}

impl Server {
    /// Answers each request as the script says.
    pub(crate) fn start(script: impl Fn(&SeenRequest) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            script: Box::new(script),
            seen: Mutex::new(Vec::new()),
            in_flight: AtomicUsize::new(0),
            most_in_flight: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if accepting.stopped.load(Ordering::SeqCst) {
                    break;
                }
                let shared = Arc::clone(&accepting);
                std::thread::spawn(move || shared.serve(stream));
            }
        });
        Self { address, shared }
    }

    /// Base URL for clients.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Requests up to now.
    pub(crate) fn seen(&self) -> Vec<SeenRequest> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// Number of requests up to now.
    pub(crate) fn count(&self) -> usize {
        self.seen().len()
    }

    /// Most requests that were there at the same time.
    pub(crate) fn most_in_flight(&self) -> usize {
        self.shared.most_in_flight.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        let Some((line, headers, body)) = read_request(&stream) else { return };
        let seen = {
            let mut all = self.seen.lock().unwrap();
            let seen = SeenRequest { number: all.len(), at: Instant::now(), line, headers, body };
            all.push(seen.clone());
            seen
        };
        let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_in_flight.fetch_max(now, Ordering::SeqCst);
        let reply = (self.script)(&seen);
        // Before the answer goes out, so that the client's next request does not count beside this one.
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
        let _ = send(&mut stream, reply);
    }
}

type Parsed = (String, Vec<(String, String)>, Value);

fn read_request(stream: &TcpStream) -> Option<Parsed> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.split_once(':') else { break };
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((line.trim().to_owned(), headers, serde_json::from_slice(&body).ok()?))
}

fn send(stream: &mut TcpStream, reply: Reply) -> std::io::Result<()> {
    match reply {
        Reply::Late(pause, reply) => {
            std::thread::sleep(pause);
            send(stream, *reply)
        }
        Reply::HangUp => Ok(()),
        Reply::CutOff(body) => {
            write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            )?;
            stream.write_all(&body[..body.len() / 2])
        }
        Reply::Full(status, headers, body) => {
            write!(
                stream,
                "HTTP/1.1 {status} Status\r\ncontent-length: {}\r\nconnection: close\r\n",
                body.len()
            )?;
            for (name, value) in headers {
                write!(stream, "{name}: {value}\r\n")?;
            }
            stream.write_all(b"\r\n")?;
            stream.write_all(&body)
        }
    }
}
