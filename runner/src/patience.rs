//! Waiting that stands still while the program is suspended.

use std::{future::Future, time::Duration};

use tokio::time::Instant;

/// The time since something began, without that of suspensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    began: Instant,
    suspended: fn() -> Duration,
    suspended_before: Duration,
}

impl Patience {
    /// Begins now. `suspended` returns for how long the program has been suspended in all.
    pub(crate) fn begin(suspended: fn() -> Duration) -> Patience {
        Patience { began: Instant::now(), suspended, suspended_before: suspended() }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed().saturating_sub((self.suspended)().saturating_sub(self.suspended_before))
    }

    /// Waits for something, at most until so much time is over.
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
