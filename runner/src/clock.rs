//! The current time, which `SPECLENS_NOW` fixes so that a run is reproducible, and timeouts that do not count time in
//! which the program is suspended.

use std::{env, future::Future, str::FromStr, time::Duration};

use anyhow::Context;
use jiff::{Timestamp, tz::TimeZone};
use tokio::time::Instant;

pub const VARIABLE: &str = "SPECLENS_NOW";

/// The only source of the time of day.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    fixed: Option<Timestamp>,
}

impl Clock {
    /// Returns the clock of the system, or one fixed at `SPECLENS_NOW` (RFC 3339).
    pub fn from_environment() -> anyhow::Result<Clock> {
        match env::var_os(VARIABLE) {
            None => Ok(Clock::default()),
            Some(text) if text.is_empty() => Ok(Clock::default()),
            Some(text) => Clock::fixed(&text.to_string_lossy()),
        }
    }

    pub fn fixed(text: &str) -> anyhow::Result<Clock> {
        let fixed = Timestamp::from_str(text)
            .with_context(|| format!("{VARIABLE} is `{text}`; write a time such as `2026-05-14T12:00:00Z`"))?;
        Ok(Clock { fixed: Some(fixed) })
    }

    /// Returns the time, RFC 3339 in UTC.
    pub fn now(self) -> String {
        self.timestamp().to_string()
    }

    /// Returns the time in whole seconds, as `2026-05-14T12:00:00Z`.
    pub fn seconds(self) -> String {
        self.timestamp().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// Returns the date in UTC, as `2026-05-14`.
    pub fn day(self) -> String {
        self.timestamp().strftime("%Y-%m-%d").to_string()
    }

    /// Returns the offset of this machine's local time from UTC, in seconds: positive east of Greenwich.
    pub fn utc_offset_s(self) -> i32 {
        TimeZone::system().to_offset(self.timestamp()).seconds()
    }

    fn timestamp(self) -> Timestamp {
        self.fixed.unwrap_or_else(Timestamp::now)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SuspendAwareTimer {
    began: Instant,
    suspended: fn() -> Duration,
    suspended_before: Duration,
}

impl SuspendAwareTimer {
    /// Starts the timer. `suspended` returns the total time for which the program has been suspended.
    pub(crate) fn begin(suspended: fn() -> Duration) -> SuspendAwareTimer {
        SuspendAwareTimer { began: Instant::now(), suspended, suspended_before: suspended() }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed().saturating_sub((self.suspended)().saturating_sub(self.suspended_before))
    }

    /// Waits for a future, at most for this time.
    pub(crate) async fn within<A>(self, limit: Duration, awaited: impl Future<Output = A>) -> Option<A> {
        tokio::pin!(awaited);
        loop {
            let left = limit.saturating_sub(self.elapsed());
            if left.is_zero() {
                return None;
            }
            tokio::select! {
                biased;
                found = &mut awaited => return Some(found),
                () = tokio::time::sleep(left) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;

    #[test]
    fn a_fixed_clock_does_not_move_and_a_wrong_one_is_explained() {
        let clock = Clock::fixed("2026-05-14T14:00:00+02:00").expect("a valid time");
        assert_eq!(clock.now(), "2026-05-14T12:00:00Z");
        let error = Clock::fixed("yesterday").expect_err("not a time");
        assert!(error.to_string().contains("SPECLENS_NOW is `yesterday`"), "{error}");
    }
}
