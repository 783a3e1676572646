//! Takes connections: those of somebody without the token are few and short.
//!
//! A connection is a guest until one of its requests shows the token. A guest has so many seconds in all and one answer. Where there
//! are too many, the oldest goes, so that whoever has the token still comes in. The head of every request has a time limit.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};

/// Guests at a time.
pub(crate) const MOST_GUESTS: usize = 32;
/// How long a guest stays, and how long the head of a request may take.
pub(crate) const GUEST_TIME: Duration = Duration::from_secs(10);
/// Before the next try where the system has no connection left.
const PAUSE: Duration = Duration::from_millis(50);

/// The guests, the oldest first.
pub(crate) struct Guests {
    most: usize,
    time: Duration,
    here: Mutex<Here>,
}

#[derive(Default)]
struct Here {
    last: u64,
    guests: VecDeque<(u64, oneshot::Sender<()>)>,
}

/// A connection that has not shown the token.
#[derive(Clone)]
pub(crate) struct Guest {
    number: u64,
    guests: Arc<Guests>,
}

impl Guests {
    pub(crate) fn new(most: usize, time: Duration) -> Arc<Self> {
        Arc::new(Self { most, time, here: Mutex::default() })
    }

    /// The next guest, and what tells it to go.
    fn welcome(self: &Arc<Self>) -> (Guest, oneshot::Receiver<()>) {
        let (dismiss, dismissal) = oneshot::channel();
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        here.last += 1;
        let number = here.last;
        here.guests.push_back((number, dismiss));
        while here.guests.len() > self.most {
            here.dismiss_oldest();
        }
        (Guest { number, guests: Arc::clone(self) }, dismissal)
    }

    fn dismiss_all(&self) {
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        while !here.guests.is_empty() {
            here.dismiss_oldest();
        }
    }
}

impl Here {
    fn dismiss_oldest(&mut self) {
        // One that is gone already hears nothing.
        let _ = self.guests.pop_front().map(|(_, dismiss)| dismiss.send(()));
    }
}

impl Guest {
    /// Takes it off the list of guests, because it has shown the token or has gone.
    pub(crate) fn admit(&self) {
        let mut here = self.guests.here.lock().unwrap_or_else(PoisonError::into_inner);
        here.guests.retain(|(number, _)| *number != self.number);
    }

    /// Ends when the guest is told to go or its time is over; never once it is admitted.
    async fn end(&self, dismissal: oneshot::Receiver<()>) {
        let admitted = matches!(tokio::time::timeout(self.guests.time, dismissal).await, Ok(Err(_)));
        if admitted {
            std::future::pending::<()>().await;
        }
    }
}

/// Answers connections until `stopped` ends; then tells `ending`, and waits for those of admitted ones.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    guests: Arc<Guests>,
    ending: &watch::Sender<bool>,
    stopped: impl Future<Output = ()>,
) {
    let mut stopped = pin!(stopped);
    loop {
        let connection = tokio::select! {
            connection = listener.accept() => connection,
            () = &mut stopped => break,
        };
        if let Ok((stream, _)) = connection {
            tokio::spawn(answer(stream, router.clone(), guests.welcome(), ending.subscribe()));
        } else {
            tokio::time::sleep(PAUSE).await;
        }
    }
    ending.send_replace(true);
    guests.dismiss_all();
    ending.closed().await;
}

async fn answer(
    stream: TcpStream,
    router: Router,
    (guest, dismissal): (Guest, oneshot::Receiver<()>),
    mut ending: watch::Receiver<bool>,
) {
    let service = TowerToHyperService::new(router.layer(Extension(guest.clone())));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(guest.guests.time);
    {
        let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
        let mut end = pin!(guest.end(dismissal));
        let mut is_ending = false;
        loop {
            tokio::select! {
                _ = connection.as_mut() => break,
                () = &mut end => break,
                _ = ending.wait_for(|ends| *ends), if !is_ending => {
                    is_ending = true;
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    }
    guest.admit();
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpStream};
    use std::time::Instant;

    use axum::routing::get;

    use super::*;

    const TIME: Duration = Duration::from_millis(300);

    /// A server for two guests of 300 ms; `/in` shows the token.
    fn server() -> (tokio::runtime::Runtime, SocketAddr) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let address = listener.local_addr().expect("an address");
        let enter = |Extension(guest): Extension<Guest>| async move {
            guest.admit();
            // Longer than a guest may stay.
            tokio::time::sleep(3 * TIME).await;
            "in"
        };
        let router = Router::new().route("/in", get(enter)).route(
            "/slow",
            get(|| async {
                tokio::time::sleep(20 * TIME).await;
            }),
        );
        runtime.spawn(async move {
            let ending = watch::Sender::new(false);
            serve(listener, router, Guests::new(2, TIME), &ending, std::future::pending()).await;
        });
        (runtime, address)
    }

    /// How long the server keeps a connection that begins with those bytes and sends another each tenth of the time.
    fn stays(address: SocketAddr, head: &str) -> Duration {
        let begin = Instant::now();
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.write_all(head.as_bytes()).expect("sent");
        stream.set_read_timeout(Some(TIME / 10)).expect("a limit");
        loop {
            match stream.read(&mut [0; 512]) {
                Ok(1..) => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Ok(0) | Err(_) => return begin.elapsed(),
            }
            if stream.write_all(b"a").is_err() || begin.elapsed() > 20 * TIME {
                return begin.elapsed();
            }
        }
    }

    #[test]
    fn a_guest_has_so_much_time_whatever_it_sends() {
        let (_runtime, address) = server();
        for head in ["", "GET /in HTTP/1.1\r\n", "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"] {
            let stays = stays(address, head);
            assert!(stays < 6 * TIME, "{head:?} stayed {stays:?}");
        }
    }

    #[test]
    fn the_oldest_guest_goes_and_whoever_is_admitted_stays() {
        let (_runtime, address) = server();
        let mut admitted = TcpStream::connect(address).expect("a connection");
        admitted.write_all(b"GET /in HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("sent");
        std::thread::sleep(TIME / 3);
        let mut guests: Vec<TcpStream> =
            (0..5).map(|_| TcpStream::connect(address).expect("a connection")).collect();
        let begin = Instant::now();
        for guest in &mut guests[..3] {
            assert_eq!(guest.read(&mut [0; 9]).unwrap_or(0), 0);
        }
        assert!(begin.elapsed() < TIME, "the first three go at once");
        let mut answer = String::new();
        admitted.read_to_string(&mut answer).expect("an answer");
        assert!(answer.ends_with("in"), "{answer}");
    }
}
