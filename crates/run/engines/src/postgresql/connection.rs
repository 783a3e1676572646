//! One connection, by the protocol's own messages: columns come as text, and a frame is measured before it is read.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::{md5_hash, sasl};
use postgres_protocol::message::backend::{ErrorResponseBody, Header, Message};
use postgres_protocol::message::frontend;

use crate::address::Address;
use crate::kind::Secret;

/// How long a server may take to answer what is not a query.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of a frame that is no row.
const LONGEST_FRAME: usize = 16 << 20;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    /// The server refused.
    #[error("{message} ({code})")]
    Refused {
        /// SQLSTATE.
        code: String,
        /// In words.
        message: String,
    },
    /// The deadline has passed; the connection may still be of use, see [`Connection::cancel`].
    #[error("no answer in time")]
    Late,
    /// A frame is longer than it may be; the connection is of no use.
    #[error("a frame of {0} bytes")]
    TooLarge(usize),
    /// The connection is gone.
    #[error("{0}")]
    Lost(#[from] io::Error),
}

/// A connection that has logged in.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    input: BytesMut,
    output: BytesMut,
    /// What a request to cancel names.
    key: (i32, i32),
    /// Whether the answers to [`Connection::begin_cleaning`] are still to come.
    is_cleaning: bool,
    /// `15.13`.
    pub(super) version: String,
}

/// Settings with which a session begins, and to which `DISCARD ALL` returns.
const SETTINGS: [(&str, &str); 9] = [
    ("client_encoding", "UTF8"),
    ("application_name", "sqlgauge"),
    ("DateStyle", "ISO, YMD"),
    ("IntervalStyle", "postgres"),
    ("TimeZone", "UTC"),
    ("bytea_output", "hex"),
    ("extra_float_digits", "1"),
    ("default_transaction_read_only", "on"),
    ("idle_in_transaction_session_timeout", "0"),
];

impl Connection {
    /// Connects and logs in.
    pub(super) fn open(address: &Address, password: Option<&Secret>) -> Result<Self, Broken> {
        let stream = dial(address)?;
        stream.set_nodelay(true)?;
        let mut connection = Self {
            stream,
            input: BytesMut::new(),
            output: BytesMut::new(),
            key: (0, 0),
            is_cleaning: false,
            version: String::new(),
        };
        let own = [("user", address.user.as_str()), ("database", address.database.as_str())];
        frontend::startup_message(own.into_iter().chain(SETTINGS), &mut connection.output)?;
        connection.log_in(address, password)?;
        Ok(connection)
    }

    fn log_in(&mut self, address: &Address, password: Option<&Secret>) -> Result<(), Broken> {
        let deadline = Instant::now() + PATIENCE;
        let password = || {
            let missing = || refusal("28P01", "the server wants a password and none is given");
            password.map(|secret| secret.0.as_bytes()).ok_or_else(missing)
        };
        let mut scram = None;
        loop {
            self.send()?;
            match self.read(deadline, LONGEST_FRAME)? {
                Message::AuthenticationMd5Password(body) => {
                    let hash = md5_hash(address.user.as_bytes(), password()?, body.salt());
                    frontend::password_message(hash.as_bytes(), &mut self.output)?;
                }
                Message::AuthenticationSasl(body) => {
                    let has = body.mechanisms().any(|name| Ok(name == sasl::SCRAM_SHA_256))?;
                    if !has {
                        return Err(refusal("28000", "the server offers no SCRAM-SHA-256"));
                    }
                    let own = sasl::ScramSha256::new(password()?, sasl::ChannelBinding::unsupported());
                    frontend::sasl_initial_response(sasl::SCRAM_SHA_256, own.message(), &mut self.output)?;
                    scram = Some(own);
                }
                Message::AuthenticationSaslContinue(body) => {
                    let own = scram.as_mut().ok_or_else(out_of_turn)?;
                    own.update(body.data())?;
                    frontend::sasl_response(own.message(), &mut self.output)?;
                }
                Message::AuthenticationSaslFinal(body) => {
                    scram.as_mut().ok_or_else(out_of_turn)?.finish(body.data())?;
                }
                Message::BackendKeyData(body) => self.key = (body.process_id(), body.secret_key()),
                Message::ParameterStatus(body) if body.name()? == "server_version" => {
                    let version = body.value()?.split_whitespace().next().unwrap_or_default();
                    version.clone_into(&mut self.version);
                }
                Message::AuthenticationOk | Message::ParameterStatus(_) | Message::NoticeResponse(_) => {}
                Message::ReadyForQuery(_) => return Ok(()),
                Message::ErrorResponse(body) => return Err(refused(&body)),
                _ => {
                    let text = "the server wants a way to log in that is not md5 or SCRAM-SHA-256";
                    return Err(refusal("28000", text));
                }
            }
        }
    }

    /// The messages that are sent next.
    pub(super) fn output(&mut self) -> &mut BytesMut {
        &mut self.output
    }

    /// Sends what has been written to [`Connection::output`].
    pub(super) fn send(&mut self) -> io::Result<()> {
        self.stream.set_write_timeout(Some(PATIENCE))?;
        self.stream.write_all(&self.output)?;
        self.output.clear();
        Ok(())
    }

    /// The next message.
    pub(super) fn read(&mut self, deadline: Instant, longest: usize) -> Result<Message, Broken> {
        loop {
            if let Some(header) = Header::parse(&self.input)? {
                let length = usize::try_from(header.len()).unwrap_or_default();
                if length > longest {
                    return Err(Broken::TooLarge(length));
                }
                if let Some(message) = Message::parse(&mut self.input)? {
                    return Ok(message);
                }
            }
            self.fill(deadline)?;
        }
    }

    fn fill(&mut self, deadline: Instant) -> Result<(), Broken> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Broken::Late);
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut piece = [0; 1 << 14];
        match self.stream.read(&mut piece) {
            Ok(0) => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Ok(count) => {
                self.input.extend_from_slice(&piece[..count]);
                Ok(())
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                Err(Broken::Late)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Runs statements of ours, and returns the rows of the last, as text.
    pub(super) fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Broken> {
        frontend::query(sql, &mut self.output)?;
        self.send()?;
        self.answer()
    }

    /// The answer to one simple query that has been sent.
    pub(super) fn answer(&mut self) -> Result<Vec<Vec<Option<String>>>, Broken> {
        let deadline = Instant::now() + PATIENCE;
        let (mut rows, mut error) = (Vec::new(), None);
        loop {
            match self.read(deadline, LONGEST_FRAME)? {
                Message::RowDescription(_) => rows.clear(),
                Message::DataRow(row) => {
                    let cell = |range: Option<std::ops::Range<usize>>| {
                        Ok(range.map(|range| String::from_utf8_lossy(&row.buffer()[range]).into_owned()))
                    };
                    rows.push(row.ranges().map(cell).collect()?);
                }
                Message::ErrorResponse(body) => error = Some(refused(&body)),
                Message::ReadyForQuery(_) => return error.map_or(Ok(rows), Err),
                _ => {}
            }
        }
    }

    /// Ends the transaction, and forgets settings, prepared statements, cursors, advisory locks, temporary tables and listeners. The
    /// server does it while the rows are compared.
    pub(super) fn begin_cleaning(&mut self) -> Result<(), Broken> {
        frontend::query("ROLLBACK", &mut self.output)?;
        frontend::query("DISCARD ALL", &mut self.output)?;
        self.send()?;
        self.is_cleaning = true;
        Ok(())
    }

    /// Waits until that is done. A connection on which it fails is lost: no query begins on it.
    pub(super) fn finish_cleaning(&mut self) -> Result<(), Broken> {
        if !std::mem::take(&mut self.is_cleaning) {
            return Ok(());
        }
        let lost = |broken: Broken| Broken::Lost(io::Error::other(broken.to_string()));
        self.answer().map_err(lost)?;
        self.answer().map(drop).map_err(lost)
    }

    /// Asks the server to end what this connection runs, over another connection, and waits until it has. `false` if the
    /// connection is of no use any more.
    pub(super) fn cancel(&mut self, address: &Address) -> bool {
        let mut request = BytesMut::new();
        frontend::cancel_request(self.key.0, self.key.1, &mut request);
        let asked = dial(address).and_then(|mut stream| {
            stream.set_write_timeout(Some(PATIENCE))?;
            stream.write_all(&request)
        });
        asked.is_ok() && self.skip_to_end(Instant::now() + Duration::from_secs(2))
    }

    /// Reads until the server is ready again; `false` if that does not come.
    pub(super) fn skip_to_end(&mut self, deadline: Instant) -> bool {
        loop {
            match self.read(deadline, LONGEST_FRAME) {
                Ok(Message::ReadyForQuery(_)) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }
}

fn dial(address: &Address) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for place in (address.host.as_str(), address.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&place, PATIENCE) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// What the server said.
pub(super) fn refused(body: &ErrorResponseBody) -> Broken {
    let (mut code, mut message) = (String::new(), String::new());
    let mut fields = body.fields();
    while let Ok(Some(field)) = fields.next() {
        let text = || String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            b'C' => code = text(),
            b'M' => message = text(),
            _ => {}
        }
    }
    Broken::Refused { code, message }
}

fn refusal(code: &str, message: &str) -> Broken {
    Broken::Refused { code: code.to_owned(), message: message.to_owned() }
}

fn out_of_turn() -> Broken {
    io::Error::from(io::ErrorKind::InvalidData).into()
}
