//! Decides whether and when a failed request is retried. Pure.

use std::{
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    time::Duration,
};

use super::failure::Failure;

/// Maximum number of retries after the first request.
pub(super) const MAX_RETRIES: u32 = 3;
/// Maximum total time of all pauses before one answer.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// The pause before the first retry; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The provider's advice about retries.
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
        return Duration::try_from_secs_f64(seconds).ok();
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
        Failure::Unreachable(_) | Failure::TimedOut | Failure::Unreadable(_) => return None,
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
