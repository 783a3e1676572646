//! Bytes to and from a server, up to a deadline.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use bytes::BytesMut;

use crate::address::Address;
use crate::server::Broken;
use crate::tls::{Session, Tls};

/// Bytes in both directions, with a limit of time on reading.
pub(crate) trait Stream: Read + Write + Send + Sync + std::fmt::Debug {
    /// How long the next read may wait.
    fn set_patience(&self, patience: Duration) -> io::Result<()>;
}

impl Stream for TcpStream {
    fn set_patience(&self, patience: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(patience))
    }
}

#[cfg(unix)]
impl Stream for UnixStream {
    fn set_patience(&self, patience: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(patience))
    }
}

/// How long a server may take to answer what is not a query.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// A socket with what has arrived, and what is sent next.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: Box<dyn Stream>,
    /// How long a read may wait, as the stream knows it.
    patience: Duration,
    /// What has arrived and was not read yet.
    pub(crate) input: BytesMut,
    /// What [`Socket::send`] sends.
    pub(crate) output: BytesMut,
    /// The session of TLS, if there is one.
    pub(crate) session: Option<Session>,
}

impl Socket {
    /// A socket over a stream that is connected already.
    pub(crate) fn over(stream: Box<dyn Stream>) -> Self {
        Self {
            stream,
            patience: Duration::ZERO,
            input: BytesMut::new(),
            output: BytesMut::new(),
            session: None,
        }
    }

    /// Connects to the socket of that path, or else to the first place of the address that answers.
    pub(crate) fn dial(address: &Address, path: Option<&Path>) -> io::Result<Self> {
        #[cfg(unix)]
        if let Some(path) = path {
            let stream = UnixStream::connect(path)?;
            stream.set_write_timeout(Some(PATIENCE))?;
            return Ok(Self::over(Box::new(stream)));
        }
        #[cfg(not(unix))]
        let _ = path;
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for place in (address.host.as_str(), address.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&place, PATIENCE) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_write_timeout(Some(PATIENCE))?;
                    return Ok(Self::over(Box::new(stream)));
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// The same under TLS. What the server has sent before it is not part of it, and refused.
    pub(crate) fn over_tls(self, tls: &Tls, deadline: Instant) -> Result<Self, Broken> {
        if !self.input.is_empty() {
            return Err(io::Error::from(io::ErrorKind::InvalidData).into());
        }
        let stream = tls.begin(self.stream, deadline)?;
        let session = Some(stream.session());
        Ok(Self { session, ..Self::over(Box::new(stream)) })
    }

    /// Sends what has been written to `output`.
    pub(crate) fn send(&mut self) -> io::Result<()> {
        self.stream.write_all(&self.output)?;
        self.output.clear();
        Ok(())
    }

    /// Waits until the other side has closed the connection; `false` if it does not in time.
    pub(crate) fn is_closed_by(&mut self, deadline: Instant) -> bool {
        loop {
            match self.fill(deadline) {
                Ok(()) => self.input.clear(),
                Err(Broken::Lost(_)) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Waits for more bytes.
    pub(crate) fn fill(&mut self, deadline: Instant) -> Result<(), Broken> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Broken::Late);
        }
        // Asking the system costs as much as reading a row: what is a tenth off is left as it is.
        if self.patience.abs_diff(left) > left / 10 {
            self.stream.set_patience(left)?;
            self.patience = left;
        }
        let mut piece = [0; 1 << 14];
        match self.stream.read(&mut piece) {
            Ok(0) => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Ok(count) => {
                self.input.extend_from_slice(&piece[..count]);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(Broken::of_read(error)),
        }
    }
}
