//! One connection, by the protocol's own messages: columns come as text, and a frame is measured before it is read.

use std::io;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::{md5_hash, sasl};
use postgres_protocol::message::backend::{ErrorResponseBody, Header, Message};
use postgres_protocol::message::frontend;

use crate::address::Address;
use crate::kind::Secret;
use crate::server::Broken;
use crate::socket::{PATIENCE, Socket};

/// Bytes of a frame that is no row.
const LONGEST_FRAME: usize = 16 << 20;

/// A connection that has logged in.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: Socket,
    address: Address,
    /// What a request to cancel names.
    key: (i32, i32),
    /// Answers to [`Connection::begin_cleaning`] that are still to come.
    cleaning: usize,
    /// Whether the transaction of the queries is open, with a savepoint before the next.
    pub(super) has_savepoint: bool,
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
        let mut connection = Self {
            socket: Socket::dial(address)?,
            address: address.clone(),
            key: (0, 0),
            cleaning: 0,
            has_savepoint: false,
            version: String::new(),
        };
        let own = [("user", address.user.as_str()), ("database", address.database.as_str())];
        frontend::startup_message(own.into_iter().chain(SETTINGS), &mut connection.socket.output)?;
        connection.log_in(address, password)?;
        Ok(connection)
    }

    fn log_in(&mut self, address: &Address, password: Option<&Secret>) -> Result<(), Broken> {
        let deadline = Instant::now() + PATIENCE;
        let password = || {
            let missing = || Broken::refused("28P01", "the server wants a password and none is given");
            password.map(|secret| secret.0.as_bytes()).ok_or_else(missing)
        };
        let mut scram = None;
        loop {
            self.send()?;
            match self.read(deadline, LONGEST_FRAME)? {
                Message::AuthenticationMd5Password(body) => {
                    let hash = md5_hash(address.user.as_bytes(), password()?, body.salt());
                    frontend::password_message(hash.as_bytes(), &mut self.socket.output)?;
                }
                Message::AuthenticationSasl(body) => {
                    let has = body.mechanisms().any(|name| Ok(name == sasl::SCRAM_SHA_256))?;
                    if !has {
                        return Err(Broken::refused("28000", "the server offers no SCRAM-SHA-256"));
                    }
                    let own = sasl::ScramSha256::new(password()?, sasl::ChannelBinding::unsupported());
                    frontend::sasl_initial_response(
                        sasl::SCRAM_SHA_256,
                        own.message(),
                        &mut self.socket.output,
                    )?;
                    scram = Some(own);
                }
                Message::AuthenticationSaslContinue(body) => {
                    let own = scram.as_mut().ok_or_else(out_of_turn)?;
                    own.update(body.data())?;
                    frontend::sasl_response(own.message(), &mut self.socket.output)?;
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
                    return Err(Broken::refused("28000", text));
                }
            }
        }
    }

    /// The messages that are sent next.
    pub(super) fn output(&mut self) -> &mut BytesMut {
        &mut self.socket.output
    }

    /// Sends what has been written to [`Connection::output`].
    pub(super) fn send(&mut self) -> io::Result<()> {
        self.socket.send()
    }

    /// The next message.
    pub(super) fn read(&mut self, deadline: Instant, longest: usize) -> Result<Message, Broken> {
        loop {
            if let Some(header) = Header::parse(&self.socket.input)? {
                let length = usize::try_from(header.len()).unwrap_or_default();
                if length > longest {
                    return Err(Broken::TooLarge(length));
                }
                if let Some(message) = Message::parse(&mut self.socket.input)? {
                    return Ok(message);
                }
            }
            self.socket.fill(deadline)?;
        }
    }

    /// Runs statements of ours, and returns the rows of the last, as text.
    pub(super) fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Broken> {
        frontend::query(sql, &mut self.socket.output)?;
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

    /// Writes, behind a query that is to be sent, that the server then goes back to the savepoint before it: settings, cursors and
    /// locks of its subtransaction are gone, and the transaction with its limits and its snapshot goes on. That is all a role can
    /// leave that may neither take a lock of the session nor run code of its own, see [`super::catalog::LEAVES_NOTHING`].
    pub(super) fn write_cleaning(&mut self) -> Result<(), Broken> {
        frontend::query("ROLLBACK TO before_query", &mut self.socket.output)?;
        self.cleaning += 1;
        Ok(())
    }

    /// Has the server forget what the query has left, while the rows are compared, unless that was sent with it. For a role that may
    /// leave more the transaction ends, and DISCARD ALL forgets prepared statements, advisory locks and listeners too.
    pub(super) fn begin_cleaning(&mut self) -> Result<(), Broken> {
        if self.cleaning > 0 {
            return Ok(());
        }
        for command in ["ROLLBACK", "DISCARD ALL"] {
            frontend::query(command, &mut self.socket.output)?;
            self.cleaning += 1;
        }
        self.send()?;
        Ok(())
    }

    /// Waits until that is done. A connection on which it fails is lost: no query begins on it.
    pub(super) fn finish_cleaning(&mut self) -> Result<(), Broken> {
        for _ in 0..std::mem::take(&mut self.cleaning) {
            self.answer().map_err(Broken::lost)?;
        }
        Ok(())
    }

    /// Asks the server to end what this connection runs, over another connection, and waits until it has. `false` if the
    /// connection is of no use any more.
    pub(super) fn cancel(&mut self) -> bool {
        let asked = Socket::dial(&self.address).and_then(|mut socket| {
            frontend::cancel_request(self.key.0, self.key.1, &mut socket.output);
            socket.send()
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

fn out_of_turn() -> Broken {
    io::Error::from(io::ErrorKind::InvalidData).into()
}
