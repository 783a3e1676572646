//! One connection, by the protocol's own messages: columns come as text, and a frame is measured before it is read.

use std::io;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::{md5_hash, sasl};
use postgres_protocol::message::backend::{AuthenticationSaslBody, ErrorResponseBody, Header, Message};
use postgres_protocol::message::frontend;

use super::binding::end_point;
use super::place::{Binding, Place};
use crate::locks::LockResult;
use crate::rows::Answer;
use crate::server::{Broken, Cancelled};
use crate::socket::{PATIENCE, Socket};
use crate::tls::Mode;

/// Bytes of a frame that is no row.
const LONGEST_FRAME: usize = 16 << 20;

/// A connection that has logged in.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: Socket,
    place: Place,
    /// What a request to cancel names.
    key: (i32, i32),
    /// Answers to [`Connection::begin_cleaning`] that are still to come.
    cleaning: usize,
    /// What the server said of the transaction when it was ready last.
    transaction: u8,
    /// Whether the transaction of the queries is open, with a savepoint before the next.
    pub(super) has_savepoint: bool,
    /// `15.13`.
    pub(super) version: String,
}

/// Settings with which a session begins, and to which `DISCARD ALL` returns.
const SETTINGS: [(&str, &str); 10] = [
    ("client_encoding", "UTF8"),
    ("application_name", "sqlgauge"),
    ("DateStyle", "ISO, YMD"),
    ("IntervalStyle", "postgres"),
    ("TimeZone", "UTC"),
    ("bytea_output", "hex"),
    ("extra_float_digits", "1"),
    ("default_transaction_read_only", "on"),
    ("idle_in_transaction_session_timeout", "0"),
    WATCH,
];
/// A query whose connection is closed ends within that time, also one that no request to cancel ends. PostgreSQL 14 has it, where the
/// system can tell.
const WATCH: (&str, &str) = ("client_connection_check_interval", "1000");

impl Connection {
    /// Connects and logs in.
    pub(super) fn open(place: &Place, allows_md5: bool) -> Result<Self, Broken> {
        match Self::open_with(place, allows_md5, &SETTINGS) {
            // An older server does not know the last setting, and another system does not support it.
            Err(Broken::Refused { code, .. }) if matches!(code.as_str(), "42704" | "22023" | "0A000") => {
                Self::open_with(place, allows_md5, &SETTINGS[..SETTINGS.len() - 1])
            }
            opened => opened,
        }
    }

    fn open_with(place: &Place, allows_md5: bool, settings: &[(&str, &str)]) -> Result<Self, Broken> {
        let mut connection = Self {
            socket: dial(place)?,
            place: place.clone(),
            key: (0, 0),
            cleaning: 0,
            transaction: b'I',
            has_savepoint: false,
            version: String::new(),
        };
        let login = [("user", place.address.user.as_str()), ("database", place.address.database.as_str())];
        frontend::startup_message(
            login.into_iter().chain(settings.iter().copied()),
            &mut connection.socket.output,
        )?;
        connection.log_in(allows_md5)?;
        Ok(connection)
    }

    fn log_in(&mut self, allows_md5: bool) -> Result<(), Broken> {
        let deadline = Instant::now() + PATIENCE;
        let (mut scram, mut may_enter) = (None, self.place.binding != Binding::Require);
        loop {
            self.send()?;
            match self.read(deadline, LONGEST_FRAME)? {
                Message::AuthenticationMd5Password(_)
                | Message::AuthenticationOk
                | Message::ReadyForQuery(_)
                    if !may_enter =>
                {
                    return Err(unbound());
                }
                Message::AuthenticationMd5Password(_) if !allows_md5 => {
                    return Err(Broken::refused(MD5, "the server wants the password as an MD5 hash"));
                }
                Message::AuthenticationMd5Password(body) => {
                    let hash = md5_hash(self.place.address.user.as_bytes(), self.password()?, body.salt());
                    frontend::password_message(hash.as_bytes(), &mut self.socket.output)?;
                }
                Message::AuthenticationSasl(body) => {
                    let (mechanism, binding) = self.mechanism(&body)?;
                    let exchange = sasl::ScramSha256::new(self.password()?, binding);
                    frontend::sasl_initial_response(mechanism, exchange.message(), &mut self.socket.output)?;
                    scram = Some(exchange);
                }
                Message::AuthenticationSaslContinue(body) => {
                    let exchange = scram.as_mut().ok_or_else(out_of_turn)?;
                    exchange.update(body.data())?;
                    frontend::sasl_response(exchange.message(), &mut self.socket.output)?;
                }
                Message::AuthenticationSaslFinal(body) => {
                    scram.as_mut().ok_or_else(out_of_turn)?.finish(body.data())?;
                    // What requires it has refused every mechanism without it.
                    may_enter = true;
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
                    let text = "the server wants a way to log in that is not SCRAM-SHA-256";
                    return Err(Broken::refused("28000", text));
                }
            }
        }
    }

    fn password(&self) -> Result<&[u8], Broken> {
        let missing = || Broken::refused("28P01", "the server wants a password and none is given");
        Ok(self.place.address.password()?.ok_or_else(missing)?.as_bytes())
    }

    /// The mechanism of SASL for a server that offers those, and how it is bound to the session of TLS.
    fn mechanism(
        &self,
        body: &AuthenticationSaslBody,
    ) -> Result<(&'static str, sasl::ChannelBinding), Broken> {
        let offers = |name| body.mechanisms().any(|offer| Ok(offer == name));
        let session = self.socket.session.as_ref().filter(|_| self.place.binding != Binding::Disable);
        let binding = match session.and_then(|session| end_point(&session.certificate)) {
            Some(hash) if offers(sasl::SCRAM_SHA_256_PLUS)? => {
                return Ok((sasl::SCRAM_SHA_256_PLUS, sasl::ChannelBinding::tls_server_end_point(hash)));
            }
            Some(_) => sasl::ChannelBinding::unrequested(),
            None => sasl::ChannelBinding::unsupported(),
        };
        if self.place.binding == Binding::Require {
            return Err(unbound());
        }
        if !offers(sasl::SCRAM_SHA_256)? {
            return Err(Broken::refused("28000", "the server offers no SCRAM-SHA-256"));
        }
        Ok((sasl::SCRAM_SHA_256, binding))
    }

    /// How the connection is protected.
    pub(super) fn protection(&self) -> LockResult {
        self.place.address.tls.lock(self.socket.session.as_ref())
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
                    if let Message::ReadyForQuery(body) = &message {
                        self.transaction = body.status();
                    }
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
        let (mut rows, mut error) = (Answer::new(), None);
        loop {
            match self.read(deadline, LONGEST_FRAME)? {
                Message::RowDescription(_) => rows.clear(),
                Message::DataRow(row) => {
                    let cell = |range: Option<std::ops::Range<usize>>| {
                        Ok(range.map(|range| String::from_utf8_lossy(&row.buffer()[range]).into_owned()))
                    };
                    rows.push(row.ranges().map(cell).collect()?, row.buffer().len())?;
                }
                Message::ErrorResponse(body) => error = Some(refused(&body)),
                Message::ReadyForQuery(_) => return error.map_or(Ok(rows.finish()), Err),
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
        if self.has_savepoint {
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
        // In a transaction that has failed, or that the query has ended, no other begins.
        let expected = if self.has_savepoint { b'T' } else { b'I' };
        if self.transaction != expected {
            return Err(out_of_turn());
        }
        Ok(())
    }

    /// Asks the server to end what this connection runs, over another connection, and waits until it has. The server closes that other
    /// connection when the signal is sent: a signal that came later would end the next query. It may also end the cleaning that was sent
    /// with the query.
    pub(super) fn cancel(&mut self) -> Cancelled {
        let deadline = Instant::now() + Duration::from_secs(2);
        let reply = dial(&self.place).and_then(|mut socket| {
            frontend::cancel_request(self.key.0, self.key.1, &mut socket.output);
            socket.send()?;
            Ok(socket.is_closed_by(deadline))
        });
        if !reply.is_ok_and(|is_closed| is_closed) || !self.skip_to_end(deadline) {
            return Cancelled::Unanswered;
        }
        let is_clean = self.cleaning == 0 || self.finish_cleaning().is_ok();
        if is_clean { Cancelled::Ready } else { Cancelled::Over }
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

/// Connects, and begins TLS as the mode of the address says.
fn dial(place: &Place) -> Result<Socket, Broken> {
    let address = &place.address;
    let path = address.socket().map(|folder| folder.join(format!(".s.PGSQL.{}", address.port)));
    let mut socket = Socket::dial(address, path.as_deref())?;
    if address.tls.mode == Mode::Disable {
        return Ok(socket);
    }
    let deadline = Instant::now() + PATIENCE;
    frontend::ssl_request(&mut socket.output);
    socket.send()?;
    while socket.input.is_empty() {
        socket.fill(deadline)?;
    }
    match &socket.input.split_to(1)[..] {
        b"S" => socket.over_tls(&address.tls, deadline),
        b"N" => address.tls.allow_plain().map(|()| socket),
        _ => Err(out_of_turn()),
    }
}

/// Our code for a login without the channel binding that the address requires.
pub(super) const UNBOUND: &str = "unbound";

fn unbound() -> Broken {
    Broken::refused(UNBOUND, "the server logs in without the channel binding that channel_binding requires")
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
    Broken::refused(&code, &message)
}

/// Our code for a login that only `SQLGAUGE_DB_ALLOW_MD5` allows.
pub(super) const MD5: &str = "md5";

fn out_of_turn() -> Broken {
    io::Error::from(io::ErrorKind::InvalidData).into()
}
