//! Servers that answer without end: what is read of them is bounded, and the error names the address and the remedy.
//!
//! A program of its own: it asserts the most memory that the process ever had.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use sqlgauge_engine::{FailureKind, Limits};
use sqlgauge_engines::{Access, Kind, Secret};

/// A server that speaks so to each connection; its port.
fn serve(speak: fn(TcpStream) -> std::io::Result<()>) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || speak(stream));
        }
    });
    port
}

/// A message of PostgreSQL's protocol.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    [&[kind], &length[..], body].concat()
}

/// A packet of MySQL's protocol.
fn packet(sequence: u8, body: &[u8]) -> Vec<u8> {
    let length = body.len().to_le_bytes();
    [&length[..3], &[sequence], body].concat()
}

/// Sends the same for ever.
fn flood(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    let many = bytes.repeat(1 + (1 << 20) / bytes.len());
    loop {
        stream.write_all(&many)?;
    }
}

/// Reads what the client sends at login.
fn hear(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut heard = vec![0; 1 << 14];
    let count = stream.read(&mut heard)?;
    heard.truncate(count);
    Ok(heard)
}

const READY: [u8; 6] = [b'Z', 0, 0, 0, 5, b'I'];
const WELCOME: [u8; 9] = [b'R', 0, 0, 0, 8, 0, 0, 0, 0];

/// Logs a client in, and hears its first query.
fn welcome(stream: &mut TcpStream) -> std::io::Result<()> {
    hear(stream)?;
    stream.write_all(&[&WELCOME[..], &READY].concat())?;
    hear(stream).map(drop)
}

/// Lets a client of MySQL log in, and hears its first query.
fn greet(stream: &mut TcpStream) -> std::io::Result<()> {
    let greeting = [
        b"\x0a8.0.0\0\x01\0\0\0".as_slice(),
        b"saltsalt\0\xff\xff\x2d\x02\0\xff\xff\x15",
        &[0; 10],
        b"saltsaltsalt\0mysql_native_password\0",
    ]
    .concat();
    stream.write_all(&packet(0, &greeting))?;
    hear(stream)?;
    stream.write_all(&packet(2, &[0, 0, 0, 2, 0, 0, 0]))?;
    hear(stream).map(drop)
}

fn row_of_postgresql() -> Vec<u8> {
    message(b'D', &[&[0, 1, 0, 0, 4, 0][..], &[b'x'; 1024]].concat())
}

fn columns_of_mysql(stream: &mut TcpStream, count: &[u8]) -> std::io::Result<()> {
    stream.write_all(&packet(1, count))
}

const LONG: &str = "more than a catalog holds";

type Liar = (&'static str, &'static str, fn(TcpStream) -> std::io::Result<()>, &'static str);

const LIARS: [Liar; 11] = [
    (
        "parameters",
        "postgresql",
        |mut stream| flood(&mut stream, &message(b'S', b"a\0b\0")),
        "no answer in time",
    ),
    (
        "notices at login",
        "postgresql",
        |mut stream| flood(&mut stream, &message(b'N', b"Ma\0\0")),
        "no answer in time",
    ),
    (
        "nothing",
        "postgresql",
        |mut stream| hear(&mut stream).and_then(|_| hear(&mut stream)).map(drop),
        "no answer in time",
    ),
    (
        "rounds of hashing",
        "postgresql",
        |mut stream| {
            hear(&mut stream)?;
            stream.write_all(&message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0"))?;
            let hello = hear(&mut stream)?;
            let nonce = hello.windows(2).position(|text| text == b"r=").map_or(0, |at| at + 2);
            let demand = [b"\0\0\0\x0br=", &hello[nonce..], b"a,s=YQ==,i=4000000000"].concat();
            stream.write_all(&message(b'R', &demand))?;
            hear(&mut stream).map(drop)
        },
        "iteration count exceeds",
    ),
    (
        "notices",
        "postgresql",
        |mut stream| welcome(&mut stream).and_then(|()| flood(&mut stream, &message(b'N', b"Ma\0\0"))),
        "no answer in time",
    ),
    (
        "rows",
        "postgresql",
        |mut stream| welcome(&mut stream).and_then(|()| flood(&mut stream, &row_of_postgresql())),
        LONG,
    ),
    (
        "a long row",
        "postgresql",
        |mut stream| welcome(&mut stream).and_then(|()| stream.write_all(b"D\x7f\xff\xff\xff")),
        "a frame of 2147483647 bytes",
    ),
    ("nothing", "mysql", |mut stream| hear(&mut stream).map(drop), "no answer in time"),
    (
        "columns",
        "mysql",
        |mut stream| {
            greet(&mut stream)?;
            columns_of_mysql(&mut stream, &[0xfe, 0, 0, 0, 0, 1, 0, 0, 0])?;
            flood(&mut stream, &packet(2, &[1; 1000]))
        },
        "invalid data",
    ),
    (
        "rows",
        "mysql",
        |mut stream| {
            greet(&mut stream)?;
            columns_of_mysql(&mut stream, &[1])?;
            stream.write_all(&packet(2, &[1; 20]))?;
            stream.write_all(&packet(3, &[0xfe, 0, 0, 0, 0]))?;
            flood(&mut stream, &packet(4, &[&[0xfc, 0, 4][..], &[b'x'; 1024]].concat()))
        },
        LONG,
    ),
    (
        "a long row",
        "mysql",
        |mut stream| greet(&mut stream).and_then(|()| stream.write_all(&[0xff, 0xff, 0x7f, 1])),
        "a frame of",
    ),
];

#[test]
fn a_server_that_answers_without_end_is_refused() {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for (what, kind, speak, expected) in LIARS {
            scope.spawn(move || {
                let port = serve(speak);
                let plain = if kind == "mysql" { "ssl-mode=DISABLED" } else { "sslmode=disable" };
                let address = PathBuf::from(format!("{kind}://u@127.0.0.1:{port}/d?{plain}"));
                let access = Access { password: Some(Secret("p".into())), ..Access::default() };
                let engine = Kind::find(kind).unwrap().engine(Limits::default(), access);
                let error = engine.open(&address).map(drop).unwrap_err().to_string();
                // A busy machine may reach the limit of time before that of size.
                let is_late = expected == LONG && error.contains("no answer in time");
                assert!(error.contains(expected) || is_late, "{kind}, {what}: {error}");
                assert!(error.contains(&format!(":{port}/d")) && error.contains("check that"), "{error}");
            });
        }
    });
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
    assert_memory();
}

/// What arrives in the middle of a query without end costs that query its time, and nothing more.
#[test]
fn notices_without_end_are_a_query_that_takes_too_long() {
    let port = serve(|mut stream| {
        hear(&mut stream)?;
        stream.write_all(&[&WELCOME[..], &READY].concat())?;
        loop {
            let heard = hear(&mut stream)?;
            let batch = [&message(b'C', b"OK\0")[..], &READY].concat();
            match heard.first() {
                None => return Ok(()),
                Some(b'Q') if !heard.windows(4).any(|text| text == b"bell") => stream.write_all(&batch)?,
                Some(_) => {
                    stream.write_all(&batch)?;
                    flood(&mut stream, &message(b'N', &[b'M'; 1000]))?;
                }
            }
        }
    });
    let limits = Limits { timeout: Duration::from_secs(1), ..Limits::default() };
    let engine = Kind::find("postgresql").unwrap().engine(limits, Access::default());
    let database =
        engine.open(&PathBuf::from(format!("postgresql://u@127.0.0.1:{port}/d?sslmode=disable"))).unwrap();
    let begun = Instant::now();
    let outcome = engine.run(&database, "SELECT 'bell'").outcome;
    assert_eq!(outcome.failure().map(|failure| failure.kind), Some(FailureKind::Timeout), "{outcome:?}");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_memory();
}

/// The most memory that this process has held is far below what was sent.
fn assert_memory() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let most = most.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    assert!(most.is_none_or(|kilobytes| kilobytes < 1 << 20), "{most:?} kB");
}
