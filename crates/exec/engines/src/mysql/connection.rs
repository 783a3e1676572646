//! One connection, by the protocol's own packets: a packet is measured before it is read.

use std::io;
use std::time::{Duration, Instant};

use super::bytes::{Packet, push_text};
use super::plugin::Plugin;
use super::values::Column;
use crate::address::Address;
use crate::locks::LockResult;
use crate::rows::Answer;
use crate::server::{Broken, Cancelled};
use crate::socket::{PATIENCE, Socket};
use crate::tls::Mode;
use bytes::{Buf, BytesMut};

/// Bytes of a packet that is no row.
const LONGEST_PACKET: usize = 1 << 20;
/// Columns of a result, and bytes of the definition of one. Servers have fewer and shorter ones.
const MOST_COLUMNS: u64 = 4096;
const LONGEST_COLUMN: usize = 1 << 14;
/// A packet of that length is continued by the next.
const CONTINUED: usize = 0xff_ffff;

/// Commands.
pub(super) const QUERY: u8 = 0x03;
pub(super) const PREPARE: u8 = 0x16;
pub(super) const EXECUTE: u8 = 0x17;
const RESET: u8 = 0x1f;

/// What the client can: a database at login, the protocol of 4.1, transactions, 20 bytes of salt, plugins. Not: several statements,
/// several results, files of the client.
const ABILITIES: u64 = 1 << 3 | 1 << 9 | 1 << 13 | 1 << 15 | 1 << 19;
/// Columns say their format; MariaDB only, whose servers leave the first bit out.
const EXTENDED: u64 = 1 << 3;
/// The rest goes over TLS.
const TLS: u64 = 1 << 11;
const UTF8: u8 = 45;

/// A connection that has logged in.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: Socket,
    address: Address,
    /// What the server calls it.
    id: u64,
    /// The number of the next packet of the login.
    sequence: u8,
    /// Whether columns say their format.
    pub(super) is_extended: bool,
    /// What the server sends next.
    stage: Stage,
    /// Whether the answer to [`Connection::begin_cleaning`] is still to come.
    is_cleaning: bool,
    /// `10.11.6-MariaDB`.
    pub(super) version: String,
}

/// What a server sends next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing, before the next command.
    Idle,
    /// The beginning of a result.
    Head,
    /// So many columns and a mark.
    Columns(u64),
    Rows,
    /// Something else, in the middle of which it cannot be asked to stop.
    Other,
}

#[derive(Debug)]
pub(super) enum Piece {
    Column(BytesMut),
    Row(BytesMut),
    /// The end, with the number of warnings, and whether there was a result at all.
    End {
        warnings: u64,
        has_rows: bool,
    },
}

/// What the server says first.
struct Greeting {
    salt: Vec<u8>,
    plugin: Plugin,
    has_tls: bool,
}

impl Connection {
    /// Connects and logs in.
    pub(super) fn open(address: &Address) -> Result<Self, Broken> {
        let mut connection = Self {
            socket: Socket::dial(address, address.socket())?,
            address: address.clone(),
            id: 0,
            sequence: 0,
            is_extended: false,
            stage: Stage::Other,
            is_cleaning: false,
            version: String::new(),
        };
        let deadline = Instant::now() + PATIENCE;
        let greeting = connection.packet(deadline, LONGEST_PACKET)?;
        let Greeting { salt, plugin, has_tls } = connection.greeted(&greeting)?;
        let mut abilities = 0;
        if !has_tls {
            address.tls.allow_plain()?;
        } else if address.tls.mode != Mode::Disable {
            abilities = TLS;
            let head = connection.head(abilities);
            connection.reply(&head);
            connection.send()?;
            connection.socket = connection.socket.over_tls(&address.tls, deadline)?;
        }
        let hello = connection.hello(abilities, plugin, &salt)?;
        connection.reply(&hello);
        connection.log_in(plugin, salt, deadline)?;
        connection.stage = Stage::Idle;
        Ok(connection)
    }

    /// Answers what the server asks of the plugin, or of a different one, until it is content.
    fn log_in(&mut self, mut plugin: Plugin, mut salt: Vec<u8>, deadline: Instant) -> Result<(), Broken> {
        loop {
            self.send()?;
            let packet = self.packet(deadline, LONGEST_PACKET)?;
            let mut rest = Packet(&packet);
            let answer = match (rest.number(1), plugin) {
                (Some(0), _) => return Ok(()),
                (Some(0xff), _) => return Err(refused(&packet)),
                (Some(0xfe), _) => {
                    plugin = Plugin::of(rest.until_nul())?;
                    rest.take(20).ok_or_else(out_of_turn)?.clone_into(&mut salt);
                    plugin.scrambled(self.password()?, &salt)
                }
                (Some(1), Plugin::CachingSha2) => match rest.number(1) {
                    // The server has a hash of the password, and the scramble fits.
                    Some(3) => continue,
                    Some(4) => self.whole_password()?,
                    _ => return Err(out_of_turn()),
                },
                _ => return Err(out_of_turn()),
            };
            self.reply(&answer);
        }
    }

    fn password(&self) -> Result<&str, Broken> {
        Ok(self.address.password()?.unwrap_or_default())
    }

    /// The password itself, for a server that has no hash of it yet: only where nobody else can listen.
    fn whole_password(&self) -> Result<Vec<u8>, Broken> {
        if self.socket.session.is_none() && self.address.socket().is_none() {
            return Err(Broken::refused(
                PLAIN,
                "the server wants the password itself, and the connection is not encrypted",
            ));
        }
        Ok([self.password()?.as_bytes(), &[0]].concat())
    }

    /// Reads the server's greeting.
    fn greeted(&mut self, greeting: &[u8]) -> Result<Greeting, Broken> {
        let mut packet = Packet(greeting);
        if packet.number(1) != Some(10) {
            return Err(if greeting.first() == Some(&0xff) { refused(greeting) } else { out_of_turn() });
        }
        let version = String::from_utf8_lossy(packet.until_nul()).into_owned();
        // MariaDB puts this before its own, for old replicas.
        version.strip_prefix("5.5.5-").unwrap_or(&version).clone_into(&mut self.version);
        let mut read = || {
            let id = packet.number(4)?;
            let mut salt = packet.take(8)?.to_vec();
            packet.take(1)?;
            let low = packet.number(2)?;
            packet.take(3)?;
            packet.take(2 + 1 + 6)?;
            let extended = packet.number(4)?;
            salt.extend(packet.take(12)?);
            let is_extended = low & 1 == 0 && extended & EXTENDED != 0;
            Some((id, salt, is_extended, low & TLS != 0))
        };
        let (id, salt, is_extended, has_tls) = read().ok_or_else(out_of_turn)?;
        self.id = id;
        self.is_extended = is_extended;
        packet.take(1);
        // It is a proposal: the account may want a different one.
        let plugin = Plugin::of(packet.until_nul()).unwrap_or(Plugin::Native);
        Ok(Greeting { salt, plugin, has_tls })
    }

    /// What both a request for TLS and a login begin with.
    fn head(&self, further: u64) -> Vec<u8> {
        // Servers other than MariaDB want the first bit.
        let abilities = further | if self.is_extended { ABILITIES } else { ABILITIES | 1 };
        let mut out = Vec::new();
        out.extend(&abilities.to_le_bytes()[..4]);
        out.extend([0, 0, 0, 1, UTF8]);
        out.extend([0; 19]);
        let extended = if self.is_extended { EXTENDED } else { 0 };
        out.extend(&extended.to_le_bytes()[..4]);
        out
    }

    fn hello(&self, further: u64, plugin: Plugin, salt: &[u8]) -> Result<Vec<u8>, Broken> {
        let mut out = self.head(further);
        out.extend(self.address.user.as_bytes());
        out.push(0);
        push_text(&mut out, &plugin.scrambled(self.password()?, salt));
        out.extend(self.address.database.as_bytes());
        out.push(0);
        out.extend(plugin.name());
        out.push(0);
        Ok(out)
    }

    /// How the connection is protected.
    pub(super) fn protection(&self) -> LockResult {
        self.address.tls.lock(self.socket.session.as_ref())
    }

    /// Writes the next packet of the login.
    fn reply(&mut self, body: &[u8]) {
        self.push(self.sequence, body);
        self.sequence = self.sequence.wrapping_add(1);
    }

    fn push(&mut self, sequence: u8, body: &[u8]) {
        let length = body.len().to_le_bytes();
        self.socket.output.extend_from_slice(&length[..3]);
        self.socket.output.extend_from_slice(&[sequence]);
        self.socket.output.extend_from_slice(body);
    }

    /// Writes a command, to be sent by [`Connection::send`]. Several may be sent at once; the server answers them in turn.
    pub(super) fn command(&mut self, command: u8, body: &[u8]) {
        self.push(0, &[&[command], body].concat());
    }

    pub(super) fn send(&mut self) -> io::Result<()> {
        self.socket.send()
    }

    /// The next packet.
    fn packet(&mut self, deadline: Instant, longest: usize) -> Result<BytesMut, Broken> {
        loop {
            if let Some(&[a, b, c, sequence]) = self.socket.input.first_chunk() {
                let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
                if length > longest || length == CONTINUED {
                    return Err(Broken::TooLarge(length));
                }
                if self.socket.input.len() >= 4 + length {
                    self.sequence = sequence.wrapping_add(1);
                    self.socket.input.advance(4);
                    return Ok(self.socket.input.split_to(length));
                }
            }
            self.socket.fill(deadline)?;
        }
    }

    /// Reads that a command is done.
    pub(super) fn done(&mut self, deadline: Instant) -> Result<(), Broken> {
        self.stage = Stage::Other;
        let reply = self.packet(deadline, LONGEST_PACKET)?;
        self.stage = Stage::Idle;
        match reply.first() {
            Some(0) => Ok(()),
            Some(0xff) => Err(refused(&reply)),
            _ => Err(out_of_turn()),
        }
    }

    /// Reads the answer to a statement to prepare: its number, how many columns it returns, how many parameters it has.
    pub(super) fn prepared(&mut self, deadline: Instant) -> Result<(u64, u64, u64), Broken> {
        self.stage = Stage::Other;
        let reply = self.packet(deadline, LONGEST_PACKET)?;
        let mut packet = Packet(&reply);
        if packet.number(1) == Some(0xff) {
            self.stage = Stage::Idle;
            return Err(refused(&reply));
        }
        let mut read = || Some((packet.number(4)?, packet.number(2)?, packet.number(2)?));
        let (id, columns, parameters) = read().ok_or_else(out_of_turn)?;
        for count in [parameters, columns].into_iter().filter(|count| *count > 0) {
            for _ in 0..=count {
                self.packet(deadline, LONGEST_COLUMN)?;
            }
        }
        self.stage = Stage::Idle;
        Ok((id, columns, parameters))
    }

    /// Says that the answer to what was sent is a result.
    pub(super) fn expect_result(&mut self) {
        self.stage = Stage::Head;
    }

    pub(super) fn piece(&mut self, deadline: Instant, longest: usize) -> Result<Piece, Broken> {
        loop {
            let longest = match self.stage {
                Stage::Rows => longest,
                Stage::Columns(_) => LONGEST_COLUMN,
                _ => LONGEST_PACKET,
            };
            let packet = self.packet(deadline, longest)?;
            let first = packet.first().copied();
            if first == Some(0xff) {
                self.stage = Stage::Idle;
                return Err(refused(&packet));
            }
            match self.stage {
                Stage::Head if first == Some(0) => {
                    self.stage = Stage::Idle;
                    return Ok(Piece::End { warnings: 0, has_rows: false });
                }
                Stage::Head => {
                    let columns = Packet(&packet).counted().filter(|&columns| columns <= MOST_COLUMNS);
                    self.stage = Stage::Columns(columns.ok_or_else(out_of_turn)?);
                }
                Stage::Columns(0) => self.stage = Stage::Rows,
                Stage::Columns(left) => {
                    self.stage = Stage::Columns(left - 1);
                    return Ok(Piece::Column(packet));
                }
                Stage::Rows if first == Some(0xfe) && packet.len() < 9 => {
                    self.stage = Stage::Idle;
                    let mut rest = Packet(packet.get(1..).unwrap_or_default());
                    return Ok(Piece::End { warnings: rest.number(2).unwrap_or_default(), has_rows: true });
                }
                Stage::Rows => return Ok(Piece::Row(packet)),
                Stage::Idle | Stage::Other => return Err(out_of_turn()),
            }
        }
    }

    /// Runs a statement of ours, and returns its rows as text.
    pub(super) fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Broken> {
        let deadline = Instant::now() + PATIENCE;
        self.command(QUERY, sql.as_bytes());
        self.send()?;
        self.expect_result();
        let (mut width, mut rows) = (0, Answer::new());
        loop {
            match self.piece(deadline, LONGEST_PACKET)? {
                Piece::Column(_) => width += 1,
                Piece::Row(packet) => {
                    let (length, mut packet) = (packet.len(), Packet(&packet));
                    let mut cell = |_| packet.text().map(|text| String::from_utf8_lossy(text).into_owned());
                    rows.push((0..width).map(&mut cell).collect(), length)?;
                }
                Piece::End { .. } => return Ok(rows.finish()),
            }
        }
    }

    /// The definition of a column.
    pub(super) fn column(&self, packet: &[u8]) -> Result<Column, Broken> {
        Column::read(packet, self.is_extended).ok_or_else(out_of_turn)
    }

    /// Ends the transaction, and forgets settings, variables, prepared statements, named locks and temporary tables. The server
    /// does it while the rows are compared.
    pub(super) fn begin_cleaning(&mut self) -> io::Result<()> {
        self.command(RESET, &[]);
        self.is_cleaning = true;
        self.send()
    }

    /// Waits until that is done. A connection on which it fails is lost: no query begins on it.
    pub(super) fn finish_cleaning(&mut self) -> Result<(), Broken> {
        if !std::mem::take(&mut self.is_cleaning) {
            return Ok(());
        }
        self.done(Instant::now() + PATIENCE).map_err(Broken::lost)
    }

    /// Has a second connection end what this one runs, and waits until it has; if it does not, the server ends this connection.
    pub(super) fn cancel(&mut self) -> Cancelled {
        if self.stage == Stage::Idle {
            return Cancelled::Ready;
        }
        let Ok(mut other) = Self::open(&self.address) else { return Cancelled::Unanswered };
        let is_sent = other.ask(&format!("KILL QUERY {}", self.id)).is_ok();
        if is_sent && self.stage != Stage::Other && self.skip_to_end(Instant::now() + Duration::from_secs(2))
        {
            return Cancelled::Ready;
        }
        match other.ask(&format!("KILL CONNECTION {}", self.id)) {
            // It may have ended by itself.
            Ok(_) | Err(Broken::Refused { .. }) => Cancelled::Over,
            Err(_) => Cancelled::Unanswered,
        }
    }

    fn skip_to_end(&mut self, deadline: Instant) -> bool {
        loop {
            match self.piece(deadline, CONTINUED) {
                Ok(Piece::End { .. }) | Err(Broken::Refused { .. }) => return true,
                Ok(_) if Instant::now() < deadline => {}
                Ok(_) | Err(_) => return false,
            }
        }
    }
}

/// Our code for a password that would go out in plain text.
pub(super) const PLAIN: &str = "plain-password";

/// What the server said.
fn refused(packet: &[u8]) -> Broken {
    let mut packet = Packet(packet);
    packet.take(1);
    let code = packet.number(2).unwrap_or_default();
    // `#` and five characters of SQLSTATE; not before the login.
    let text = if packet.0.first() == Some(&b'#') { packet.0.get(6..).unwrap_or_default() } else { packet.0 };
    Broken::refused(&code.to_string(), &String::from_utf8_lossy(text))
}

pub(super) fn out_of_turn() -> Broken {
    io::Error::from(io::ErrorKind::InvalidData).into()
}
