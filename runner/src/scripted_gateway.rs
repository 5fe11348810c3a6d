//! Plays scripted gateways: a server on this machine that follows a script, in place of an OpenClaw gateway, its agents
//! and the program `openclaw`.
//!
//! [`ScriptedGateway::start`] listens on a free port; dropping it ends the server and all its runs.

mod log;
mod program;
mod run;
mod server;
mod spans;
mod workspace;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::Read as _,
    path::{MAIN_SEPARATOR, Path, PathBuf},
    str::FromStr as _,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use jiff::{Timestamp, tz::TimeZone};
use sha2::{Digest as _, Sha256};
use speclens_schema::{
    check::text::hexadecimal,
    files,
    gateway_script::{self, Lines, Log, LogForm},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{clock::Clock, files::open_regular, gateway::Gateway, http};
use spans::Receiver;

pub(crate) use program::Printed;

/// Maximum size of a script in bytes.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Maximum number of errors that are kept.
const MAX_FAULTS: usize = 16;

/// The content of a scripted gateway.
#[derive(Clone, Debug)]
pub struct GatewayScript {
    /// The path as users know it.
    pub name: String,
    lines: Arc<Lines>,
}

impl GatewayScript {
    /// Reads a scripted gateway. `name` is the path as users know it. The error is a sentence.
    pub fn open(path: &Path, name: &str) -> Result<GatewayScript, String> {
        let wrong = |reason: String| format!("cannot play the scripted gateway {name}: {reason}");
        let help = "create it, or correct `clawspec.gateway` in `speclens.yaml`";
        let unread = |error: std::io::Error| wrong(format!("{error}; {help}"));
        let mut text = String::new();
        let file = open_regular(path).map_err(unread)?;
        file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(unread)?;
        if text.len() as u64 > MAX_BYTES {
            return Err(wrong(format!("it is larger than {} MiB", MAX_BYTES / 1024 / 1024)));
        }
        let lines = Arc::new(gateway_script::read(&text).map_err(wrong)?);
        Ok(GatewayScript { name: name.to_owned(), lines })
    }
}

/// A scripted gateway that is being played. It ends when it is dropped.
#[derive(Debug)]
pub struct ScriptedGateway {
    base_url: String,
    state: Arc<GatewayState>,
    _ends: DropGuard,
}

impl ScriptedGateway {
    /// Starts to play in place of a gateway. `root` is the root of the workspace. The error is a sentence.
    pub async fn start(
        script: &GatewayScript,
        root: &Path,
        of: &Gateway,
        clock: Clock,
    ) -> Result<ScriptedGateway, String> {
        let wrong = |reason: String| format!("cannot play the scripted gateway {}: {reason}", script.name);
        let root = tokio::fs::canonicalize(root).await.map_err(|error| wrong(error.to_string()))?;
        let encryption = http::encryption("http").map_err(wrong)?;
        let client = reqwest::Client::builder().tls_backend_preconfigured(encryption).no_proxy().build();
        let client = client.map_err(|error| wrong(error.to_string()))?;
        let cancel = CancellationToken::new();
        let state = Arc::new(GatewayState {
            name: script.name.clone(),
            lines: Arc::clone(&script.lines),
            root,
            webhook: of.webhook.clone(),
            log: log_of(&script.lines, &of.log_pattern),
            time: Time::begin(clock),
            client,
            receiver: Mutex::default(),
            logging: tokio::sync::Mutex::default(),
            faults: Mutex::default(),
            started: AtomicU64::default(),
            cancel: cancel.clone(),
        });
        let base_url = server::listen(Arc::clone(&state)).await.map_err(|error| wrong(error.to_string()))?;
        Ok(ScriptedGateway { base_url, state, _ends: cancel.drop_guard() })
    }

    /// Returns the address, without `/` at the end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Returns the path of the log, where `{date}` is the day in UTC; `None` if no log is written.
    pub fn log_pattern(&self) -> Option<String> {
        match self.state.lines.form {
            LogForm::None => None,
            LogForm::Words | LogForm::Json => {
                let date = |name: &str| (name == "today").then_some(Cow::Borrowed("{date}"));
                let path = gateway_script::expand(&self.state.log, date);
                Some(self.state.root.join(path).to_string_lossy().into_owned())
            }
        }
    }

    /// Sends the spans of the following runs to the receiver in these OpenTelemetry variables. Without them, spans are
    /// not sent.
    pub fn export_to(&self, environment: &[(String, String)]) {
        *self.state.receiver.lock().unwrap_or_else(PoisonError::into_inner) = Receiver::of(environment);
    }

    /// Plays the program `openclaw` with these arguments.
    pub async fn program(&self, arguments: &[&str]) -> Printed {
        program::play(&self.state, arguments).await
    }

    /// Returns errors of the script since the last call, each as a sentence.
    pub fn faults(&self) -> Vec<String> {
        std::mem::take(&mut *self.state.faults.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The state that all runs of a script share.
#[derive(Debug)]
struct GatewayState {
    name: String,
    lines: Arc<Lines>,
    /// The root of the workspace, with symbolic links resolved.
    root: PathBuf,
    webhook: String,
    time: Time,
    client: reqwest::Client,
    /// The path of the log from the root, with its templates.
    log: String,
    receiver: Mutex<Option<Receiver>>,
    /// Held while a line is written.
    logging: tokio::sync::Mutex<()>,
    faults: Mutex<Vec<String>>,
    /// Number of runs that were started.
    started: AtomicU64,
    cancel: CancellationToken,
}

impl GatewayState {
    /// Records an error.
    fn fault(&self, message: String) {
        tracing::debug!("{message}");
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        if faults.len() < MAX_FAULTS {
            faults.push(message);
        }
    }

    /// Returns a new id for a run: the same for the same session key, and a different one for each run without a key.
    fn run_id(&self, session_key: Option<&str>) -> String {
        let seed = match session_key.filter(|key| !key.is_empty()) {
            Some(key) => key.to_owned(),
            None => {
                let number = self.started.fetch_add(1, Ordering::Relaxed);
                format!("{} {number} {}", self.time.nanoseconds(), std::process::id())
            }
        };
        uuid(&format!("run {seed}"))
    }

    /// Returns the receiver of spans.
    fn receiver(&self) -> Option<Receiver> {
        self.receiver.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns the path of the script's log: by default that of the gateway, if it is in the workspace.
fn log_of(lines: &Lines, pattern: &str) -> String {
    let is_inside = !pattern.starts_with(MAIN_SEPARATOR) && files::inside(pattern).is_some();
    let usual = || if is_inside { pattern.replace("{date}", "{{today}}") } else { Log::PATH.to_owned() };
    lines.log.clone().unwrap_or_else(usual)
}

/// The time in a script: it advances even if the clock is fixed.
#[derive(Clone, Copy, Debug)]
struct Time {
    began: Timestamp,
    since: Instant,
}

impl Time {
    fn begin(clock: Clock) -> Time {
        let began = Timestamp::from_str(&clock.now()).unwrap_or_else(|_| Timestamp::now());
        Time { began, since: Instant::now() }
    }

    fn now(self) -> Timestamp {
        self.began.checked_add(self.since.elapsed()).unwrap_or(self.began)
    }

    fn nanoseconds(self) -> i128 {
        self.now().as_nanosecond()
    }

    /// Returns the day in UTC.
    fn today(self) -> String {
        self.now().to_zoned(TimeZone::UTC).date().to_string()
    }

    /// Returns the time in UTC, to the second.
    fn moment(self) -> String {
        self.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }
}

/// Returns a UUID derived from a text.
fn uuid(seed: &str) -> String {
    let digits = hexadecimal(&Sha256::digest(seed.as_bytes())[..16]);
    format!("{}-{}-4{}-8{}-{}", &digits[..8], &digits[8..12], &digits[13..16], &digits[17..20], &digits[20..])
}

/// Values for the placeholders of a run.
type Values = BTreeMap<&'static str, String>;

#[cfg(test)]
mod tests;
