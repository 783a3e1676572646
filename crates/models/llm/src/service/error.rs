//! What can go wrong.

/// Why a request has no answer. No message shows the API key or the query of a URL.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LlmError {
    /// The options or the request make no sense; nothing was sent.
    #[error("{0}")]
    Options(String),
    /// No connection, or no TLS session.
    #[error("cannot connect to {url}: {reason}")]
    Connect {
        /// The address without its query.
        url: String,
        /// What the system said.
        reason: String,
    },
    /// The whole answer did not come in time.
    #[error("{url} did not answer within {timeout_ms} ms; give it more time or ask for less at once")]
    Timeout {
        /// The address without its query.
        url: String,
        /// The limit in milliseconds.
        timeout_ms: u64,
    },
    /// The connection ended in the middle of an answer.
    #[error("the connection to {url} broke: {reason}")]
    Interrupted {
        /// The address without its query.
        url: String,
        /// What was noticed.
        reason: String,
    },
    /// The server refused or failed.
    #[error("{url} answered {status}{}: {message}", remedy(*status))]
    Status {
        /// The address without its query.
        url: String,
        /// HTTP status.
        status: u16,
        /// The server's words, shortened.
        message: String,
    },
    /// The server sends clients elsewhere; the key is not sent after.
    #[error("{url} redirects to {to}; give that address as the base URL if you trust it")]
    Redirect {
        /// The address without its query.
        url: String,
        /// Where to.
        to: String,
    },
    /// The answer is not what the protocol says.
    #[error("{url} gave an answer that cannot be used: {reason}")]
    Malformed {
        /// The address without its query.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The answer is larger than the limit.
    #[error("{url} answered with more than {limit_bytes} bytes; the rest was not read")]
    TooLarge {
        /// The address without its query.
        url: String,
        /// The limit in bytes.
        limit_bytes: usize,
    },
    /// The account has no credit left (HTTP 429 with code `insufficient_quota`); waiting does not help.
    #[error("{url} says that the account's quota is used up: {message}")]
    Quota {
        /// The address without its query.
        url: String,
        /// The server's words, shortened.
        message: String,
    },
    /// The server asks for a longer pause than allowed.
    #[error("{url} asks to wait {wait_s} s, longer than the {limit_s} s allowed; try again later")]
    Wait {
        /// The address without its query.
        url: String,
        /// Seconds that the server asks for.
        wait_s: u64,
        /// Seconds allowed.
        limit_s: u64,
    },
    /// Every attempt failed.
    #[error("gave up after {attempts} attempts: {last}")]
    GaveUp {
        /// Requests sent.
        attempts: u32,
        /// What the last one met.
        last: Box<LlmError>,
    },
    /// Sending the request could have exceeded the budget, so it was not sent.
    #[error(
        "stopped before the budget of {limit} {unit} would be exceeded ({used} used); what was answered is kept"
    )]
    Budget {
        /// `tokens`, `requests` or `units of cost`.
        unit: &'static str,
        limit: f64,
        /// Used up to here.
        used: f64,
    },
    /// Not sent, because an earlier failure of the batch would hit every request.
    #[error("not asked, because an earlier request failed: {because}")]
    Stopped {
        /// The failure that stopped the batch.
        because: Box<LlmError>,
    },
    /// Not sent, because the caller asked to stop.
    #[error("not asked, because the batch was stopped; what was answered is kept")]
    Cancelled,
    /// The cache folder cannot be used.
    #[error("cannot use the cache folder {folder}: {reason}")]
    Cache {
        folder: String,
        /// What the system said.
        reason: String,
    },
    /// The request was abandoned inside the client; a defect.
    #[error("the request was abandoned inside the client; please report this")]
    Abandoned,
}

impl LlmError {
    /// Whether every other request to the same server would meet the same.
    pub(crate) fn concerns_all_requests(&self) -> bool {
        match self {
            Self::Status { status, .. } => matches!(status, 401 | 403 | 404 | 405),
            Self::Redirect { .. } | Self::Quota { .. } | Self::Wait { .. } | Self::Stopped { .. } => true,
            _ => false,
        }
    }

    /// Whether the request was not sent because the batch had been stopped (by the budget, by an earlier
    /// failure or by the caller):
    /// asking again, with more budget or when the cause is mended, makes sense.
    pub fn is_unasked(&self) -> bool {
        matches!(self, Self::Budget { .. } | Self::Stopped { .. } | Self::Cancelled)
    }
}

fn remedy(status: u16) -> &'static str {
    match status {
        400 => " (the request was not understood; check model and parameters)",
        401 => " (the API key is missing or wrong)",
        403 => " (the API key may not use this model or address)",
        404 => " (no such model or address; check base URL and model)",
        429 => " (too many requests)",
        _ => "",
    }
}
