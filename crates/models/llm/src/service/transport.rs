//! One request over HTTP, and what its failure means.

use std::error::Error as _;
use std::time::{Duration, SystemTime};

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Response, StatusCode, Url};
use serde_json::Value;
use sqlgauge_base::without_secrets;

use super::error::LlmError;
use super::lean::{self, Shape};
use super::ledger::Bill;
use super::options::ClientOptions;
use super::retry::retry_after;
use super::secret::Secret;

/// Until a connection must stand.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Characters of a server's message that an error shows.
const SHOWN_CHARACTERS: usize = 300;
/// Bytes of a refusal that are read.
const REFUSAL_BYTES: usize = 64 << 10;
/// A shorter value in a query is a version or a switch.
const SHORTEST_QUERY_KEY: usize = 12;

/// Sends requests to one server.
pub(crate) struct Transport {
    client: reqwest::Client,
    base: Url,
    /// What no message shows: the key, and what stands in the address behind `?`.
    secrets: Vec<Secret>,
    timeout_ms: u64,
    max_answer_bytes: usize,
}

/// A failed attempt.
pub(crate) struct Failure {
    pub error: LlmError,
    /// Whether the same request may go better next time.
    pub again: bool,
    /// The pause that the server asks for.
    pub wait: Option<Duration>,
    pub bill: Bill,
}

impl Failure {
    fn last(error: LlmError) -> Self {
        Self { error, again: false, wait: None, bill: Bill::Nothing }
    }

    fn passing(error: LlmError, bill: Bill) -> Self {
        Self { error, again: true, wait: None, bill }
    }
}

impl Transport {
    pub(crate) fn new(options: &ClientOptions) -> Result<Self, LlmError> {
        let base = base_url(&options.base_url)?;
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Another thread may have been faster; then its provider serves as well.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let client = reqwest::Client::builder()
            .user_agent(concat!("sqlgauge/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers(options)?)
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(Duration::from_millis(options.timeout_ms))
            .no_proxy()
            .build()
            .map_err(|error| invalid(&format!("cannot make a client: {}", causes(error))))?;
        Ok(Self {
            client,
            base,
            secrets: options.key.iter().cloned().chain(query_values(&options.base_url)?).collect(),
            timeout_ms: options.timeout_ms,
            max_answer_bytes: options.max_answer_bytes,
        })
    }

    /// The server's address without path and query.
    pub(crate) fn server(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    /// Sends the body and gives the JSON that comes back with status 200.
    pub(crate) async fn post(&self, path: &str, body: Vec<u8>, shape: Shape) -> Result<Value, Failure> {
        let endpoint = self.endpoint(path);
        let url = public_url(&endpoint);
        let (kind, bytes) = self.send(endpoint, &url, body).await?;
        let mut value = lean::read(&bytes, shape).map_err(|error| {
            let reason = if error.is_data() {
                error.to_string()
            } else if kind.contains("json") || kind.is_empty() {
                format!("it is not JSON ({error})")
            } else {
                format!("it is {}, not JSON; is the base URL right?", self.words(&kind))
            };
            Failure::passing(LlmError::Malformed { url: url.clone(), reason }, Bill::Unknown)
        })?;
        self.secrets.iter().for_each(|secret| secret.hide_in(&mut value));
        Ok(value)
    }

    /// Sends the body to the address itself, and gives the text that comes back with status 200.
    pub(crate) async fn post_text(&self, body: Vec<u8>) -> Result<String, Failure> {
        let url = public_url(&self.base);
        let (_, bytes) = self.send(self.base.clone(), &url, body).await?;
        let text = String::from_utf8(bytes).map_err(|_| {
            let reason = "it is not UTF-8".to_owned();
            Failure::passing(LlmError::Malformed { url, reason }, Bill::Unknown)
        })?;
        let mut text = Value::String(text);
        self.secrets.iter().for_each(|secret| secret.hide_in(&mut text));
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// Sends the body and gives what comes back with status 200, with its type.
    async fn send(&self, endpoint: Url, url: &str, body: Vec<u8>) -> Result<(String, Vec<u8>), Failure> {
        let sent = self.client.post(endpoint).body(body).send().await;
        let response = sent.map_err(|error| self.broken(url, error))?;
        let status = response.status();
        if status.is_redirection() {
            return Err(Failure::last(self.redirect(url.to_owned(), &response)));
        }
        if !status.is_success() {
            return Err(self.refusal(url.to_owned(), response).await);
        }
        let kind = content_type(&response);
        Ok((kind, self.read(url, response, self.max_answer_bytes).await?))
    }

    /// The failure of an answer that is JSON but not what the protocol says.
    pub(crate) fn malformed(&self, path: &str, reason: &str, bill: Bill) -> Failure {
        let url = public_url(&self.endpoint(path));
        Failure::passing(LlmError::Malformed { url, reason: self.words(reason) }, bill)
    }

    /// What a server wrote, fit for an error message.
    pub(crate) fn words(&self, text: &str) -> String {
        let safe = without_secrets(text).into_owned();
        let hidden = self.secrets.iter().fold(safe, |text, secret| secret.hide_parts(&text));
        let line: String = hidden.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut short: String = line.chars().filter(|c| !c.is_control()).take(SHOWN_CHARACTERS).collect();
        if line.chars().count() > SHOWN_CHARACTERS {
            short.push('…');
        }
        short
    }

    fn endpoint(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        let joined = format!("{}/{path}", url.path().trim_end_matches('/'));
        url.set_path(&joined);
        url
    }

    async fn read(&self, url: &str, mut response: Response, limit: usize) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if bytes.len() + chunk.len() > limit => {
                    let error = LlmError::TooLarge { url: url.to_owned(), limit_bytes: limit };
                    return Err(Failure { bill: Bill::Unknown, ..Failure::last(error) });
                }
                Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
                Ok(None) => return Ok(bytes),
                Err(error) => return Err(self.broken(url, error)),
            }
        }
    }

    fn broken(&self, url: &str, error: reqwest::Error) -> Failure {
        let url = url.to_owned();
        if error.is_timeout() && error.is_connect() {
            let reason = "no connection in time".to_owned();
            return Failure::passing(LlmError::Connect { url, reason }, Bill::Nothing);
        }
        if error.is_timeout() {
            let timeout_ms = self.timeout_ms;
            return Failure::passing(LlmError::Timeout { url, timeout_ms }, Bill::Unknown);
        }
        let (connect, builder) = (error.is_connect(), error.is_builder());
        let reason = self.words(&causes(error));
        if builder {
            Failure::last(LlmError::Options(format!("cannot make the request to {url}: {reason}")))
        } else if connect {
            Failure::passing(LlmError::Connect { url, reason }, Bill::Nothing)
        } else {
            Failure::passing(LlmError::Interrupted { url, reason }, Bill::Unknown)
        }
    }

    fn redirect(&self, url: String, response: &Response) -> LlmError {
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let to = location.map_or_else(
            || "an address that it does not name".to_owned(),
            |location| {
                self.base
                    .join(location)
                    .map_or_else(|_| self.words(location), |to| self.words(&public_url(&to)))
            },
        );
        LlmError::Redirect { url, to }
    }

    async fn refusal(&self, url: String, response: Response) -> Failure {
        let status = response.status();
        let wait = retry_after(response.headers(), SystemTime::now());
        // The status says enough if the words that go with it cannot be read.
        let body = self.read(&url, response, REFUSAL_BYTES).await.unwrap_or_default();
        let (code, message) = refusal_words(&body, status);
        let message = self.words(&message);
        if code == "insufficient_quota" {
            return Failure::last(LlmError::Quota { url, message });
        }
        let again = matches!(status.as_u16(), 408 | 429 | 500 | 502 | 503 | 504 | 529);
        let error = LlmError::Status { url, status: status.as_u16(), message };
        Failure { again, wait, ..Failure::last(error) }
    }
}

/// Code and message of `{"error": {"code", "type", "message"}}`, of `{"error": "…"}`, or of plain text.
fn refusal_words(body: &[u8], status: StatusCode) -> (String, String) {
    let text = String::from_utf8_lossy(body);
    let value: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    let error = &value["error"];
    let code = error["code"].as_str().or(error["type"].as_str()).unwrap_or_default().to_owned();
    let message = error["message"].as_str().or(error.as_str()).or(value["message"].as_str()).unwrap_or(&text);
    let standard = status.canonical_reason().unwrap_or("no reason given");
    (code, if message.trim().is_empty() { standard.to_owned() } else { message.to_owned() })
}

fn base_url(text: &str) -> Result<Url, LlmError> {
    let url = Url::parse(text.trim()).map_err(|error| {
        invalid(&format!(
            "the base URL is not an address ({error}); it looks like https://api.example.com/v1"
        ))
    })?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(invalid("the base URL must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("the base URL must not hold a user or password; give the key as the key"));
    }
    Ok(url)
}

/// The values in the query of an address, any of which may be a key.
fn query_values(text: &str) -> Result<Vec<Secret>, LlmError> {
    let url = base_url(text)?;
    let values = url.query_pairs().filter(|(_, value)| value.len() >= SHORTEST_QUERY_KEY);
    Ok(values.map(|(_, value)| Secret::new(value)).collect())
}

fn headers(options: &ClientOptions) -> Result<HeaderMap, LlmError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let Some(secret) = &options.key else { return Ok(headers) };
    let mut value = HeaderValue::from_str(&format!("Bearer {}", secret.expose()))
        .map_err(|_| invalid("the API key holds characters that cannot be sent; is it the right one?"))?;
    value.set_sensitive(true);
    headers.insert(AUTHORIZATION, value);
    Ok(headers)
}

fn content_type(response: &Response) -> String {
    let value =
        response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.to_ascii_lowercase()
}

/// Scheme, host and path; a query may hold a key.
fn public_url(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

/// The error and what caused it, without the address.
fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

fn invalid(text: &str) -> LlmError {
    LlmError::Options(text.to_owned())
}
