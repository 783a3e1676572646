//! One address of an application: it gets JSON and gives a text.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::runtime::Runtime;

use super::error::LlmError;
use super::options::ClientOptions;
use super::secret::Secret;
use super::transport::Transport;

/// How long a wish to stop may go unnoticed.
const POLL: Duration = Duration::from_millis(50);

/// An address that answers a POST of JSON. Several threads may ask at the same time; a request is sent once.
pub struct Endpoint {
    transport: Transport,
    runtime: Runtime,
}

impl Endpoint {
    /// Checks the address and sends nothing yet. The key goes with each request, as `Authorization: Bearer`.
    ///
    /// # Errors
    /// When the address makes no sense.
    pub fn new(
        url: &str,
        key: Option<Secret>,
        timeout: Duration,
        max_answer_bytes: usize,
    ) -> Result<Self, LlmError> {
        let options = ClientOptions {
            key,
            timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            max_answer_bytes,
            ..ClientOptions::new(url)
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime
            .map_err(|error| LlmError::Options(format!("cannot start the client's thread: {error}")))?;
        Ok(Self { transport: Transport::new(&options)?, runtime })
    }

    /// The text that comes back with status 200, without the key if it holds it.
    ///
    /// # Errors
    /// When there is none; [`LlmError::Cancelled`] once `stop` is set.
    pub fn ask(&self, body: &Value, stop: &AtomicBool) -> Result<String, LlmError> {
        self.runtime.block_on(async {
            let mut request = pin!(self.transport.post_text(body.to_string().into_bytes()));
            loop {
                match tokio::time::timeout(POLL, request.as_mut()).await {
                    Ok(answer) => return answer.map_err(|failure| failure.error),
                    Err(_) if stop.load(Ordering::Relaxed) => return Err(LlmError::Cancelled),
                    Err(_) => {}
                }
            }
        })
    }
}
