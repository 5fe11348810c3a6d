//! The limit on model requests in flight.

use std::sync::Arc;

use tokio::sync::{Semaphore, SemaphorePermit};

/// Maximum number of requests in flight of the whole program, whatever its suites allow together.
const MAX_IN_FLIGHT: usize = 32;

static OF_PROGRAM: Semaphore = Semaphore::const_new(MAX_IN_FLIGHT);

/// The share of one suite.
#[derive(Clone, Debug)]
pub(super) struct RequestLimit(Arc<Semaphore>);

/// A permit for one request, valid until it is dropped.
#[derive(Debug)]
pub(super) struct Permit<'c> {
    _of_suite: SemaphorePermit<'c>,
    _of_program: SemaphorePermit<'static>,
}

impl RequestLimit {
    /// Returns a share with this many requests in flight.
    pub(super) fn new(requests: usize) -> RequestLimit {
        RequestLimit(Arc::new(Semaphore::new(requests.clamp(1, MAX_IN_FLIGHT))))
    }

    /// Waits until another request may be made.
    pub(super) async fn permit(&self) -> Permit<'_> {
        const OPEN: &str = "nothing closes it";
        let of_suite = self.0.acquire().await.expect(OPEN);
        Permit { _of_suite: of_suite, _of_program: OF_PROGRAM.acquire().await.expect(OPEN) }
    }
}

#[cfg(test)]
mod tests {
    use std::{future::Future, pin::pin, task::Context};

    use super::RequestLimit;

    #[test]
    fn request_above_the_cap_waits_for_the_end_of_another() {
        let request_limit = RequestLimit::new(2);
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut permits: Vec<_> = (0..2).map(|_| Box::pin(request_limit.permit())).collect();
        let granted: Vec<_> = permits.iter_mut().map(|permit| permit.as_mut().poll(&mut context)).collect();
        assert!(granted.iter().all(std::task::Poll::is_ready));
        let mut third = pin!(request_limit.permit());
        assert!(third.as_mut().poll(&mut context).is_pending());
        drop(granted);
        assert!(third.as_mut().poll(&mut context).is_ready());
    }
}
