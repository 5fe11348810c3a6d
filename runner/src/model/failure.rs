//! Failed requests: their messages, and whether and when they are retried.

use std::{
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    time::Duration,
};

use reqwest::{
    StatusCode,
    header::{CONTENT_TYPE, HeaderMap},
};
use serde_json::Value;
use speclens_schema::evidence::{RunError, RunErrorKind};

use crate::http::{in_line, innermost, words};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    Status {
        status: u16,
        advice: Advice,
        words: String,
        /// Whether the account has no credit left: waiting does not help.
        is_unpaid: bool,
    },
    /// The provider answered with an error, with this text, despite a status of success.
    InBody(String),
    Unreachable(String),
    Cut(String),
    TimedOut,
    Unreadable(String),
    TooLarge,
}

/// The time limit of a request, and where the user can raise it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestDeadline {
    pub(super) limit: Duration,
    pub(super) raise: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RequestFacts<'a> {
    pub(super) host: &'a str,
    pub(super) variable: Option<&'a str>,
    pub(super) deadline: RequestDeadline,
    pub(super) retries: u32,
}

impl Failure {
    pub(super) fn of_status(status: StatusCode, headers: &HeaderMap, body: &str) -> Failure {
        let now = jiff::Timestamp::now().as_second();
        Failure::Status {
            status: status.as_u16(),
            advice: Advice::read(|name| headers.get(name)?.to_str().ok(), now),
            words: in_line(&reason(body)),
            is_unpaid: body.contains("insufficient_quota"),
        }
    }

    pub(super) fn in_body(body: &Value) -> Option<Failure> {
        let error = body.get("error").filter(|error| !error.is_null())?;
        let body = body.to_string();
        let words = in_line(&reason(&body));
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

    pub(super) fn of_connection(error: reqwest::Error) -> Failure {
        if error.is_connect() {
            return Failure::Unreachable(in_line(&innermost(&error)));
        }
        if error.is_timeout() {
            return Failure::TimedOut;
        }
        Failure::Cut(in_line(&innermost(&error.without_url())))
    }

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
                let RequestDeadline { limit, raise } = deadline;
                let help = format!("raise {raise}, or choose a faster model");
                (RunErrorKind::TimedOut, format!("{host} did not answer within {} s; {help}", limit.as_secs_f64()))
            }
            Failure::Unreadable(why) => {
                let help = "check `base_url` and `api` of the provider";
                (RunErrorKind::Provider, format!("the response of {host} is invalid: {why}; {help}"))
            }
            Failure::TooLarge => {
                let most = MAX_BYTES / 1024 / 1024;
                (RunErrorKind::Provider, format!("the response of {host} is larger than {most} MiB"))
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

/// Reads the body of an answer, in which keys are masked.
pub(super) fn parsed(text: &str, headers: &HeaderMap) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| {
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        Failure::Unreadable(match kind {
            "" => format!("expected JSON, found a body without a content type: {}", in_line(text)),
            kind if kind.contains("json") => format!("not valid JSON: {}", in_line(&error.to_string())),
            kind => format!("expected JSON, found {kind}: {}", in_line(text)),
        })
    })
}

fn reason(body: &str) -> String {
    words(body).unwrap_or_else(|| "no reason given".to_owned())
}

/// Maximum size of an answer: far more than models say.
pub(super) const MAX_BYTES: usize = 16 * 1024 * 1024;

pub(super) const MAX_RETRIES: u32 = 3;
const MAX_WAIT: Duration = Duration::from_secs(60);
/// The pause before the first retry; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Advice {
    /// Whether it asks for a retry; `None` if not reported.
    pub(super) again: Option<bool>,
    /// The pause before it; `None` if not reported.
    pub(super) pause: Option<Duration>,
}

impl Advice {
    /// Reads the headers of an answer. `now` is the time in seconds since 1970.
    pub(super) fn read<'h>(header: impl Fn(&str) -> Option<&'h str>, now: i64) -> Advice {
        let again = header("x-should-retry").and_then(|text| text.trim().parse().ok());
        let millis = || header("retry-after-ms")?.trim().parse().ok().map(Duration::from_millis);
        let pause = millis().or_else(|| retry_after(header("retry-after")?.trim(), now));
        Advice { again, pause }
    }
}

/// Returns a number of seconds, or the time until a date, as HTTP or RFC 3339 writes it.
fn retry_after(text: &str, now: i64) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<f64>() {
        // One that is too long for a duration is too long to wait.
        return Duration::try_from_secs_f64(seconds).ok().or((seconds > 0.0).then_some(Duration::MAX));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).or_else(|_| text.parse()).ok();
    let date: jiff::Timestamp = date?;
    Some(Duration::from_secs(u64::try_from(date.as_second() - now).unwrap_or(0)))
}

/// Returns the pause before a retry; `None` if there is none.
///
/// `retries` is the number of retries so far, `waited` the sum of their pauses, `seed` a random number.
pub(super) fn pause(failure: &Failure, retries: u32, waited: Duration, seed: u64) -> Option<Duration> {
    if retries >= MAX_RETRIES {
        return None;
    }
    let advice = match failure {
        Failure::Status { is_unpaid: true, .. } => return None,
        Failure::Status { status, advice, .. } => {
            let may_pass = matches!(status, 408 | 429 | 500 | 502 | 503 | 504 | 529);
            advice.again.unwrap_or(may_pass).then_some(*advice)?
        }
        Failure::InBody(_) | Failure::Cut(_) => Advice::default(),
        Failure::Unreachable(_) | Failure::TimedOut | Failure::Unreadable(_) | Failure::TooLarge => return None,
    };
    let pause = advice.pause.unwrap_or_else(|| back_off(retries, seed));
    (waited.saturating_add(pause) <= MAX_WAIT).then_some(pause)
}

/// Returns twice the previous pause, less up to half of it, so requests that failed together do not come back together.
fn back_off(retries: u32, seed: u64) -> Duration {
    let longest = FIRST_PAUSE * 2u32.saturating_pow(retries);
    // The upper 53 bits fill a double.
    let random = BuildHasherDefault::<DefaultHasher>::default().hash_one((seed, retries));
    let share = (random >> 11) as f64 / (1u64 << 53) as f64;
    longest.mul_f64(1.0 - share / 2.0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Advice, Failure, MAX_RETRIES, MAX_WAIT, pause};

    fn advised(status: u16, advice: Advice) -> Failure {
        Failure::Status { status, advice, words: String::new(), is_unpaid: false }
    }

    fn status(status: u16) -> Failure {
        advised(status, Advice::default())
    }

    #[test]
    fn passing_trouble_is_retried_and_lasting_trouble_is_not() {
        for code in [408, 429, 500, 502, 503, 504, 529] {
            assert!(pause(&status(code), 0, Duration::ZERO, 1).is_some(), "{code}");
        }
        for code in [301, 400, 401, 403, 404, 413, 422, 501] {
            assert_eq!(pause(&status(code), 0, Duration::ZERO, 1), None, "{code}");
        }
        assert!(pause(&Failure::Cut(String::new()), 0, Duration::ZERO, 1).is_some());
        assert_eq!(pause(&Failure::TimedOut, 0, Duration::ZERO, 1), None);
    }

    #[test]
    fn pauses_double_and_end() {
        for seed in 0..200 {
            for retries in 0..MAX_RETRIES {
                let longest = Duration::from_millis(500 << retries);
                let found = pause(&status(500), retries, Duration::ZERO, seed).unwrap();
                assert!(longest / 2 <= found && found <= longest, "{seed} {retries}: {found:?}");
            }
            assert_eq!(pause(&status(500), MAX_RETRIES, Duration::ZERO, seed), None);
        }
        let draws = (0..20).map(|seed| pause(&status(500), 0, Duration::ZERO, seed));
        assert!(draws.collect::<std::collections::BTreeSet<_>>().len() > 15);
    }

    #[test]
    fn pause_that_a_provider_asks_for_is_kept_within_a_bound() {
        let after = |seconds| advised(429, Advice { again: None, pause: Some(Duration::from_secs(seconds)) });
        assert_eq!(pause(&after(7), 0, Duration::ZERO, 1), Some(Duration::from_secs(7)));
        assert_eq!(pause(&after(3600), 0, Duration::ZERO, 1), None);
        assert_eq!(pause(&after(7), 1, MAX_WAIT - Duration::from_secs(6), 1), None);
    }

    #[test]
    fn advice_of_a_provider_wins() {
        let advice = |again| Advice { again: Some(again), pause: None };
        assert_eq!(pause(&advised(500, advice(false)), 0, Duration::ZERO, 1), None);
        assert!(pause(&advised(409, advice(true)), 0, Duration::ZERO, 1).is_some());
    }

    #[track_caller]
    fn check_pause(name: &str, value: &str, expected: Option<Duration>) {
        // Sun, 06 Nov 1994 08:49:37 GMT
        let now = 784_111_777;
        let found = Advice::read(|header| (header == name).then_some(value), now).pause;
        assert_eq!(found, expected, "{name}: {value}");
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        check_pause("retry-after", "2", Some(Duration::from_secs(2)));
        check_pause("retry-after", " 0.5 ", Some(Duration::from_millis(500)));
        check_pause("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT", Some(Duration::from_secs(3)));
        check_pause("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT", Some(Duration::ZERO));
        check_pause("retry-after", "1994-11-06T08:50:00Z", Some(Duration::from_secs(23)));
        check_pause("retry-after-ms", "250", Some(Duration::from_millis(250)));
        for value in ["soon", "-1", "NaN", ""] {
            check_pause("retry-after", value, None);
        }
    }
}
