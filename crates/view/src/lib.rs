//! A dashboard over run directories, for one person on one machine: `sqlgauge view`.
//!
//! # Contract
//! - **What is shown** is what lies in the run directories: no number is computed here. A run's own pages are those of its
//!   HTML report; a comparison is that of `sqlgauge compare`.
//! - **Nothing is changed** but labels and decisions on findings, which go into a folder of their own, in the forms that `sqlgauge import`
//!   and `sqlgauge audit` read.
//! - **Who may ask**: the server listens on the loopback address. Whoever asks needs the token of the first address, by the
//!   name under which the server listens (so no name of another machine may point to it), and from its own pages. Connections without
//!   the token are few and short.
//! - **What may be read**: files of run directories, audits and estimates that were found below the given folders, without following
//!   links, and what was made of them. No path of a request reaches the file system.
//! - **Texts are texts**: pages build elements of text nodes, and their policy forbids every script and style but the server's
//!   own files.
//! - **Who writes what is sent**: this program, as [`ROUTES`] lists. A file below the folders is data that is parsed; it is never
//!   sent as a script, a style or a page.
//! - A run, an estimate or an audit that cannot be read is listed with the reason; the others are there.

mod accept;
mod agreement;
mod audits;
mod error;
mod events;
mod export;
mod guard;
mod history;
mod labels;
mod pages;
mod pairs;
mod plans;
mod records;
mod routes;
mod runs;
mod table;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

pub use error::ViewError;
pub use export::export;
pub use runs::{FoundRun, find_runs};
pub use table::{Content, ROUTES, Route, Writer};

use sqlgauge_base::DEEP_STACK_BYTES;
use sqlgauge_engine::WorkerCommand;

use accept::{GUEST_TIME, Guests, MOST_GUESTS};
use pages::Pages;
use pairs::KnownPair;
use records::KnownKinds;

/// What is shown, and where.
#[derive(Debug, Clone, Default)]
pub struct ViewOptions {
    /// Folders below which runs are looked for.
    pub folders: Vec<PathBuf>,
    pub labels: PathBuf,
    /// Folder that keeps the pages of large runs from one start to the next; without it, or if it cannot be written to, they are made
    /// at every start.
    pub cache: Option<PathBuf>,
    /// Who gives labels, for the record.
    pub labeller: String,
    /// The program that runs the answers of a plan of labels; without it they run in this process.
    pub worker: Option<WorkerCommand>,
    /// Port on the loopback address; any free one if 0.
    pub port: u16,
}

/// What every request may use.
pub(crate) struct Dashboard {
    pub(crate) options: ViewOptions,
    pub(crate) pages: Pages,
    pub(crate) kinds: KnownKinds,
    pub(crate) token: String,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// One comparison is made at a time, and the last is kept.
    pub(crate) compared: std::sync::Mutex<Option<KnownPair>>,
    /// Labels are written by one request at a time.
    pub(crate) labelling: std::sync::Mutex<()>,
    /// Whether the server is about to end.
    pub(crate) ending: tokio::sync::watch::Sender<bool>,
}

/// Serves until `stopped` ends. `announce` hears the address to open, once requests are answered.
///
/// # Errors
/// When the port is taken, or no folder for pages can be made.
pub fn serve(
    options: ViewOptions,
    announce: impl FnOnce(&str),
    stopped: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ViewError> {
    // One person asks. Each further thread keeps memory of its own.
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all().worker_threads(2).max_blocking_threads(4).thread_stack_size(DEEP_STACK_BYTES);
    let runtime = runtime.build().map_err(ViewError::Start)?;
    runtime.block_on(async {
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let listener = tokio::net::TcpListener::bind(local)
            .await
            .map_err(|source| ViewError::Port { port: options.port, source })?;
        let address = listener.local_addr().map_err(ViewError::Start)?;
        let dashboard = Arc::new(Dashboard::new(options, address)?);
        announce(&format!("http://{address}/?token={}", dashboard.token));
        let router = table::router(Arc::clone(&dashboard));
        accept::serve(listener, router, Guests::new(MOST_GUESTS, GUEST_TIME), &dashboard.ending, stopped)
            .await;
        Ok(())
    })
}

impl Dashboard {
    fn new(options: ViewOptions, address: SocketAddr) -> Result<Self, ViewError> {
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random).map_err(|error| ViewError::Start(std::io::Error::other(error)))?;
        let token = sqlgauge_base::hex(&random);
        Ok(Self {
            pages: Pages::new(options.cache.as_deref())?,
            kinds: KnownKinds::default(),
            options,
            token,
            address,
            compared: std::sync::Mutex::default(),
            labelling: std::sync::Mutex::default(),
            ending: tokio::sync::watch::Sender::new(false),
        })
    }
}
