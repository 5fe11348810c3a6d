//! The effective settings of a ClawSpec workspace: the file, overridden by environment variables, overridden by the
//! command line.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use reqwest::Url;
use speclens_schema::{
    evidence::Address,
    gateway::config::{Backend, Config, Observability},
};

use crate::{clock::Clock, scripted_gateway::ScriptedGateway};

/// Variables that hold the token, in order of precedence. The first belongs to ClawSpec, the others to OpenClaw.
pub const TOKEN_VARIABLES: [&str; 3] = ["CLAWSPEC_GATEWAY_AUTH_TOKEN", "HOOKS_TOKEN", "OPENCLAW_HOOKS_TOKEN"];

#[derive(Clone)]
pub struct Gateway {
    /// The address, without `/` at the end.
    pub base_url: String,
    pub webhook: String,
    /// The path of its log; `{date}` is the day.
    pub log_pattern: String,
    pub traces: Observability,
    token: Option<Token>,
    script: Option<Script>,
}

#[derive(Clone, Debug)]
struct Script {
    path: PathBuf,
    name: String,
    /// Set once it is being played.
    playing: Option<Playing>,
}

#[derive(Clone, Debug)]
struct Playing {
    scripted_gateway: Arc<ScriptedGateway>,
    of: String,
    /// The log of the replaced gateway; `{date}` is the day.
    log_of: String,
}

#[derive(Clone, PartialEq)]
struct Token {
    value: String,
    source: &'static str,
}

impl Gateway {
    /// Reads the effective settings. `variable` looks up the environment, `base_url` comes from the command line.
    pub fn of(config: &Config, variable: impl Fn(&str) -> Option<String>, base_url: Option<&str>) -> Gateway {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let setting = |name: &str, written: Option<&str>, default: &str| {
            variable(name).or_else(|| written.map(str::to_owned)).unwrap_or_else(|| default.to_owned())
        };
        let written = config.gateway_base_url.as_ref().map(|url| url.0.as_str());
        let base_url = match base_url {
            Some(base_url) => base_url.to_owned(),
            None => setting("CLAWSPEC_GATEWAY_BASE_URL", written, Config::GATEWAY),
        };
        let webhook = config.gateway_webhook_endpoint.as_deref();
        let mut traces = config.traces();
        if let Some(backend) = variable("CLAWSPEC_OBSERVABILITY_BACKEND").as_deref().and_then(Backend::of) {
            traces.backend = backend;
        }
        let log_pattern = config.gateway_log_pattern.as_deref();
        Gateway {
            base_url: base_url.trim_end_matches('/').to_owned(),
            webhook: setting("CLAWSPEC_GATEWAY_WEBHOOK_ENDPOINT", webhook, Config::WEBHOOK),
            log_pattern: setting("CLAWSPEC_GATEWAY_LOG_PATTERN", log_pattern, Config::LOG_PATTERN),
            traces,
            token: TOKEN_VARIABLES
                .iter()
                .find_map(|source| Some(Token { value: variable(source)?, source }))
                .or_else(|| Some(Token { value: config.gateway_auth_token.clone()?, source: "gateway_auth_token" }))
                .filter(|token| !token.value.is_empty()),
            script: None,
        }
    }

    /// Returns the same, with a scripted gateway in its place. `name` is the path as users know it.
    pub fn with_script(self, path: PathBuf, name: String) -> Gateway {
        Gateway { script: Some(Script { path, name, playing: None }), ..self }
    }

    pub fn is_scripted(&self) -> bool {
        self.script.is_some()
    }

    /// Starts the script that takes its place, for the lifetime of the result. `root` is the root of the workspace. The
    /// error is a sentence.
    pub async fn opened(self: &Arc<Gateway>, root: &Path, clock: Clock) -> Result<Arc<Gateway>, String> {
        let Some(Script { path, name, playing: None }) = &self.script else { return Ok(Arc::clone(self)) };
        let replaced = (self.webhook.as_str(), self.log_pattern.as_str());
        let scripted_gateway = ScriptedGateway::start(path, name, root, replaced, clock).await?;
        let playing = Playing {
            of: self.base_url.clone(),
            log_of: self.log_pattern.clone(),
            scripted_gateway: Arc::new(scripted_gateway),
        };
        Ok(Arc::new(Gateway {
            base_url: playing.scripted_gateway.base_url().to_owned(),
            log_pattern: playing.scripted_gateway.log_pattern().unwrap_or_else(|| self.log_pattern.clone()),
            script: Some(Script { path: path.clone(), name: name.clone(), playing: Some(playing) }),
            ..Gateway::clone(self)
        }))
    }

    pub(crate) fn scripted_gateway(&self) -> Option<&ScriptedGateway> {
        Some(&*self.script.as_ref()?.playing.as_ref()?.scripted_gateway)
    }

    /// Returns the effective address: requests to the gateway go to the script in its place.
    pub fn reached(&self, address: &str) -> String {
        let playing = self.script.as_ref().and_then(|script| script.playing.as_ref());
        match playing.filter(|playing| is_below(address, &playing.of)) {
            Some(playing) => format!("{}{}", self.base_url, &address[playing.of.len()..]),
            None => address.to_owned(),
        }
    }

    /// Returns the effective path of a log: that of the gateway is written by the script in its place.
    pub fn reached_log(&self, path: &str) -> String {
        let playing = self.script.as_ref().and_then(|script| script.playing.as_ref());
        let parts = playing.and_then(|playing| playing.log_of.split_once("{date}"));
        let date = parts.and_then(|(before, behind)| path.strip_prefix(before)?.strip_suffix(behind));
        match date.filter(|date| !date.is_empty() && date.chars().all(|it| it.is_ascii_digit() || it == '-')) {
            Some(date) => self.log_pattern.replace("{date}", date),
            None => path.to_owned(),
        }
    }

    pub fn url(&self, path: &str) -> String {
        let separator = if path.starts_with('/') { "" } else { "/" };
        format!("{}{separator}{path}", self.base_url)
    }

    pub fn shown_url(&self, path: &str) -> String {
        nameless(self.url(path))
    }

    pub fn shown_address(&self, address: &Address) -> String {
        match address {
            Address::Gateway(path) => self.shown_url(path),
            Address::Url(address) => nameless(address.clone()),
        }
    }

    /// Returns the path, as users know it, of the script that answers at an address instead of the gateway.
    pub fn script_for(&self, address: &Address) -> Option<&str> {
        let script = self.script.as_ref()?;
        let is_there = match address {
            Address::Gateway(_) => true,
            Address::Url(address) => is_below(address, &self.base_url),
        };
        is_there.then_some(script.name.as_str())
    }

    /// Returns the token. It is never shown, and never recorded.
    pub fn token(&self) -> Option<&str> {
        self.token.as_ref().map(|token| token.value.as_str())
    }

    pub fn token_from(&self) -> Option<&'static str> {
        self.token.as_ref().map(|token| token.source)
    }
}

fn is_below(address: &str, base_url: &str) -> bool {
    address.strip_prefix(base_url).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
}

fn nameless(address: String) -> String {
    match Url::parse(&address) {
        Ok(mut url) => {
            // An address without a host has no user name to remove.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.to_string()
        }
        Err(_) => address,
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Gateway { base_url, webhook, log_pattern, traces, token, script } = self;
        formatter
            .debug_struct("Gateway")
            .field("base_url", base_url)
            .field("webhook", webhook)
            .field("log_pattern", log_pattern)
            .field("traces", traces)
            .field("has_token", &token.is_some())
            .field("script", script)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        serde_json::from_str(text).expect("settings")
    }

    #[test]
    fn command_line_wins_over_environment_and_that_over_the_file() {
        let file = config(r#"{"gateway_base_url": "http://file/", "gateway_auth_token": "of the file"}"#);
        let none = |_: &str| None;
        let of_file = Gateway::of(&file, none, None);
        assert_eq!((of_file.base_url.as_str(), of_file.token()), ("http://file", Some("of the file")));
        assert_eq!(of_file.url("/health"), "http://file/health");
        assert_eq!(Gateway::of(&Config::default(), none, None).base_url, Config::GATEWAY);
        let environment = |name: &str| match name {
            "CLAWSPEC_GATEWAY_BASE_URL" => Some("http://environment".to_owned()),
            "OPENCLAW_HOOKS_TOKEN" => Some("of OpenClaw".to_owned()),
            "CLAWSPEC_OBSERVABILITY_BACKEND" => Some("opik".to_owned()),
            "CLAWSPEC_GATEWAY_LOG_PATTERN" => Some(String::new()),
            _ => None,
        };
        let gateway = Gateway::of(&file, environment, None);
        assert_eq!((gateway.base_url.as_str(), gateway.token()), ("http://environment", Some("of OpenClaw")));
        assert_eq!((gateway.traces.backend, gateway.log_pattern.as_str()), (Backend::Opik, Config::LOG_PATTERN));
        assert_eq!(Gateway::of(&file, environment, Some("http://option/")).base_url, "http://option");
        assert!(!format!("{gateway:?}").contains("of OpenClaw"), "{gateway:?}");
    }

    #[test]
    fn first_token_variable_that_has_a_value_counts() {
        let of = |set: &'static [&'static str]| {
            let variable = move |name: &str| set.contains(&name).then(|| name.to_owned());
            Gateway::of(&Config::default(), variable, None).token().map(str::to_owned)
        };
        assert_eq!(of(&TOKEN_VARIABLES).as_deref(), Some(TOKEN_VARIABLES[0]));
        assert_eq!(of(&["OPENCLAW_HOOKS_TOKEN", "HOOKS_TOKEN"]).as_deref(), Some("HOOKS_TOKEN"));
        assert_eq!(of(&[]), None);
    }
}
