//! Failed requests and their messages.

use std::time::Duration;

use genai::webc;
use serde_json::Value;
use speclens_schema::evidence::{RunError, RunErrorKind};

use super::{key::Key, retry::Advice};
use crate::cause::{in_line, innermost, words};

/// The cause of a failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The provider answered with an error status.
    Status {
        status: u16,
        /// The provider's advice about retries.
        advice: Advice,
        /// The error text of the provider.
        words: String,
        /// Whether the account has no credit left: waiting does not help.
        is_unpaid: bool,
    },
    /// The provider answered with an error, with this text, despite a status of success.
    InBody(String),
    /// No connection to the provider.
    Unreachable(String),
    /// The connection was closed before the answer was complete.
    Cut(String),
    /// The answer did not come in time.
    TimedOut,
    /// The answer is not one of the protocol.
    Unreadable(String),
}

/// The request, for messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestFacts<'a> {
    pub(super) host: &'a str,
    /// The variable whose key was sent.
    pub(super) variable: Option<&'a str>,
    /// Maximum duration of an answer.
    pub(super) deadline: Duration,
    pub(super) retries: u32,
}

impl Failure {
    /// Converts an error of the library. `now` is the time in seconds since 1970.
    pub(super) fn of(error: genai::Error, key: Option<&Key>, now: i64) -> Failure {
        let mask = |text: &str| key.map_or_else(|| text.to_owned(), |key| key.mask(text));
        match error {
            genai::Error::WebModelCall { webc_error, .. } | genai::Error::WebAdapterCall { webc_error, .. } => {
                Failure::of_exchange(webc_error, mask, now)
            }
            genai::Error::ChatResponseGeneration { cause, .. } => Failure::Unreadable(in_line(&mask(&cause))),
            other => Failure::Unreadable(in_line(&mask(&other.to_string()))),
        }
    }

    /// Reads the error in a body with a status of success.
    pub(super) fn in_body(body: &Value, key: Option<&Key>) -> Option<Failure> {
        let error = body.get("error").filter(|error| !error.is_null())?;
        let body = body.to_string();
        let said = reason(&body);
        let words = in_line(&key.map_or_else(|| said.clone(), |key| key.mask(&said)));
        // Gateways pass on the status of the provider.
        let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        Some(match status.filter(|status| (400..600).contains(status)) {
            Some(status) => {
                let is_unpaid = body.contains("insufficient_quota");
                Failure::Status { status, advice: Advice::default(), words, is_unpaid }
            }
            None => Failure::InBody(words),
        })
    }

    fn of_exchange(error: webc::Error, mask: impl Fn(&str) -> String, now: i64) -> Failure {
        match error {
            webc::Error::ResponseFailedStatus { status, body, headers } => Failure::Status {
                status: status.as_u16(),
                advice: Advice::read(|name| headers.get(name)?.to_str().ok(), now),
                words: in_line(&mask(&reason(&body))),
                is_unpaid: body.contains("insufficient_quota"),
            },
            webc::Error::ResponseFailedNotJson { content_type, body } => {
                let kind = if content_type.is_empty() { "a body without a content type" } else { &content_type };
                Failure::Unreadable(in_line(&format!("expected JSON, found {kind}: {}", mask(&body))))
            }
            webc::Error::ResponseFailedInvalidJson { cause, .. } => {
                Failure::Unreadable(in_line(&format!("not valid JSON: {}", mask(&cause))))
            }
            webc::Error::JsonValueExt(error) => Failure::Unreadable(in_line(&mask(&error.to_string()))),
            webc::Error::Reqwest(error) => Failure::of_connection(error),
        }
    }

    fn of_connection(error: reqwest::Error) -> Failure {
        if error.is_connect() {
            return Failure::Unreachable(in_line(&innermost(&error)));
        }
        if error.is_timeout() {
            return Failure::TimedOut;
        }
        Failure::Cut(in_line(&innermost(&error.without_url())))
    }

    /// Returns the error message with its remedy.
    pub(super) fn into_error(self, request: RequestFacts<'_>) -> RunError {
        let RequestFacts { host, variable, deadline, retries } = request;
        let after = match retries {
            0 => String::new(),
            1 => " after 1 retry".to_owned(),
            retries => format!(" after {retries} retries"),
        };
        let (kind, message) = match self {
            Failure::Status { status, words, is_unpaid, advice } => {
                of_status(request, &after, status, &words, is_unpaid, advice)
            }
            Failure::InBody(words) => {
                (RunErrorKind::Provider, format!("{host} failed{after}: {words}; run the test again later"))
            }
            Failure::Unreachable(why) => {
                (RunErrorKind::Provider, format!("cannot reach {host}: {why}; check the address and the network"))
            }
            Failure::Cut(why) => (
                RunErrorKind::Provider,
                format!("{host} closed the connection early{after}: {why}; run the test again"),
            ),
            Failure::TimedOut => {
                let seconds = deadline.as_secs_f64();
                let help = "raise `limits.request_seconds` in `speclens.yaml`, or choose a faster model";
                (RunErrorKind::TimedOut, format!("{host} did not answer within {seconds} s; {help}"))
            }
            Failure::Unreadable(why) => {
                let help = "check `base_url` and `api` of the provider";
                (RunErrorKind::Provider, format!("the response of {host} is invalid: {why}; {help}"))
            }
        };
        tracing::debug!(host, variable, ?kind, "a request to a model failed");
        RunError { kind, message }
    }
}

fn of_status(
    request: RequestFacts<'_>,
    after: &str,
    status: u16,
    words: &str,
    is_unpaid: bool,
    advice: Advice,
) -> (RunErrorKind, String) {
    let host = request.host;
    match status {
        401 | 403 => {
            let message = match request.variable {
                Some(variable) => {
                    format!("{host} rejected the key ({status}): {words}; check the value of `{variable}`")
                }
                None => format!(
                    "{host} requires a key ({status}): {words}; name its variable as `key_env` next to `base_url` in \
                     `speclens.yaml`"
                ),
            };
            (RunErrorKind::Key, message)
        }
        402 => (RunErrorKind::Key, format!("{host} requires payment ({status}): {words}; add credit to the account")),
        429 if is_unpaid => (
            RunErrorKind::RateLimit,
            format!("the account at {host} has no credit left ({status}): {words}; add credit to it"),
        ),
        429 => {
            let wait = match advice.pause.map(|pause| pause.as_secs_f64().ceil()) {
                Some(seconds @ 1.0..7200.0) => format!("wait {seconds} s, or lower `concurrency`"),
                Some(seconds @ 7200.0..) => format!("run the tests again in {} hours", (seconds / 3600.0).ceil()),
                Some(_) | None => "wait a while, or lower `concurrency`".to_owned(),
            };
            (RunErrorKind::RateLimit, format!("{host} reports a rate limit ({status}){after}: {words}; {wait}"))
        }
        300..=399 => {
            let help = "set the `base_url` of the provider to the final address";
            (
                RunErrorKind::Provider,
                format!("{host} redirects the request ({status}), but redirects are not followed; {help}"),
            )
        }
        500.. => {
            (RunErrorKind::Provider, format!("{host} failed ({status}){after}: {words}; run the test again later"))
        }
        400 | 413 | 422 => {
            let help = "change what the message names, or choose another model";
            (RunErrorKind::Provider, format!("{host} rejected the request ({status}): {words}; {help}"))
        }
        _ => {
            let help = "check the name of the model and the address of the provider";
            (RunErrorKind::Provider, format!("{host} rejected the request ({status}): {words}; {help}"))
        }
    }
}

fn reason(body: &str) -> String {
    words(body).unwrap_or_else(|| "no reason given".to_owned())
}
