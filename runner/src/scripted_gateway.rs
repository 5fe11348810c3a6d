//! Plays scripted gateways: a server on this machine that follows a script, in place of an OpenClaw gateway, its agents
//! and the program `openclaw`.
//!
//! [`ScriptedGateway::start`] listens on a free port; dropping it ends the server and all its runs.

mod run;
mod server;
mod spans;
mod state;
#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    io::Read as _,
    path::{MAIN_SEPARATOR, Path},
    sync::{Arc, Mutex, PoisonError, atomic::AtomicU64},
};

use speclens_schema::{
    files,
    gateway_script::{self, Lines, Log, LogForm},
    settings::GatewaySettings,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{clock::Clock, files::open_regular, http};
use state::{GatewayState, Receiver, Time};

pub(crate) use server::Printed;

const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Reads a script. `name` is the path as users know it. The error is a sentence.
fn read(path: &Path, name: &str) -> Result<Lines, String> {
    let wrong = |reason: String| format!("cannot play the scripted gateway {name}: {reason}");
    let unread = |error: std::io::Error| {
        wrong(format!("{error}; create it, or correct `{}.gateway` in `speclens.yaml`", GatewaySettings::KEY))
    };
    let mut text = String::new();
    let file = open_regular(path).map_err(unread)?;
    file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(unread)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(wrong(format!("it is larger than {} MiB", MAX_BYTES / 1024 / 1024)));
    }
    gateway_script::read(&text).map_err(wrong)
}

/// A scripted gateway that is being played. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct ScriptedGateway {
    base_url: String,
    state: Arc<GatewayState>,
    _ends: DropGuard,
}

impl ScriptedGateway {
    /// Starts to play a script in place of a gateway with this webhook and this pattern of its log. `name` is the path
    /// of the script as users know it, `root` the root of the workspace. The error is a sentence.
    pub(crate) async fn start(
        path: &Path,
        name: &str,
        root: &Path,
        (webhook, log_pattern): (&str, &str),
        clock: Clock,
    ) -> Result<ScriptedGateway, String> {
        let wrong = |reason: String| format!("cannot play the scripted gateway {name}: {reason}");
        let lines = read(path, name)?;
        let root = std::fs::canonicalize(root).map_err(|error| wrong(error.to_string()))?;
        let encryption = http::encryption("http").map_err(wrong)?;
        let client = reqwest::Client::builder().tls_backend_preconfigured(encryption).no_proxy().build();
        let client = client.map_err(|error| wrong(error.to_string()))?;
        let cancel = CancellationToken::new();
        let state = Arc::new(GatewayState {
            name: name.to_owned(),
            log: log_of(&lines, log_pattern),
            lines,
            root,
            webhook: webhook.to_owned(),
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
    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Returns the path of the log, where `{date}` is the day in UTC; `None` if no log is written.
    pub(crate) fn log_pattern(&self) -> Option<String> {
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
    pub(crate) fn export_to(&self, environment: &[(String, String)]) {
        *self.state.receiver.lock().unwrap_or_else(PoisonError::into_inner) = Receiver::of(environment);
    }

    pub(crate) async fn program(&self, arguments: &[&str]) -> Printed {
        server::play_program(&self.state, arguments).await
    }

    pub(crate) fn faults(&self) -> Vec<String> {
        std::mem::take(&mut *self.state.faults.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the path of the script's log: by default that of the gateway, if it is in the workspace.
fn log_of(lines: &Lines, pattern: &str) -> String {
    let is_inside = !pattern.starts_with(MAIN_SEPARATOR) && files::inside(pattern).is_some();
    let usual = || if is_inside { pattern.replace("{date}", "{{today}}") } else { Log::PATH.to_owned() };
    lines.log.clone().unwrap_or_else(usual)
}
