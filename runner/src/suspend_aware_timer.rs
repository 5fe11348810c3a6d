//! Timeouts that do not count time in which the program is suspended.

use std::{future::Future, time::Duration};

use tokio::time::Instant;

/// A timer without suspended time.
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
