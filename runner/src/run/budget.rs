//! Bounds the memory of many attempts with large outputs that end at once.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        OnceLock,
        mpsc::{Sender, channel},
    },
};

use speclens_schema::document::parallel;

/// Size from which outputs are masked and judged one at a time: that takes several times their memory.
const LARGE_OUTPUT_BYTES: usize = 4 * 1024 * 1024;

type Work = Box<dyn FnOnce() + Send>;

/// Does the work on outputs of this many bytes. Large ones wait for each other on one thread: allocators keep what a
/// thread frees for that thread, so many threads would keep the same memory many times.
pub(super) fn within<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> impl FnOnce() -> T + Send + 'static {
    move || at_its_turn(bytes, work)
}

fn at_its_turn<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    static LARGE_ONES: OnceLock<Option<Sender<Work>>> = OnceLock::new();

    let thread = if bytes > LARGE_OUTPUT_BYTES { LARGE_ONES.get_or_init(start).as_ref() } else { None };
    // Without a thread, which the system may refuse, this one does it.
    let Some(thread) = thread else { return work() };
    let (answer, answered) = channel();
    let begun = thread.send(Box::new(move || {
        // The caller waits for it.
        let _ = answer.send(catch_unwind(AssertUnwindSafe(work)));
    }));
    match begun.ok().and_then(|()| answered.recv().ok()) {
        Some(Ok(done)) => done,
        Some(Err(panic)) => resume_unwind(panic),
        None => unreachable!("the thread ends only with the program"),
    }
}

fn start() -> Option<Sender<Work>> {
    let (sender, waiting) = channel::<Work>();
    let work_off = move || waiting.into_iter().for_each(|work| work());
    let started = parallel::thread().and_then(|thread| thread.name("large".to_owned()).spawn(work_off));
    started.is_ok().then_some(sender)
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        thread,
    };

    use super::*;

    #[test]
    fn large_outputs_are_worked_on_one_at_a_time() {
        static NOW: AtomicUsize = AtomicUsize::new(0);
        static MOST: AtomicUsize = AtomicUsize::new(0);
        let (now, most) = (&NOW, &MOST);
        thread::scope(|scope| {
            for number in 0..8 {
                scope.spawn(move || {
                    let done = at_its_turn(LARGE_OUTPUT_BYTES + 1, move || {
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        thread::yield_now();
                        now.fetch_sub(1, Ordering::SeqCst);
                        number
                    });
                    assert_eq!(done, number);
                });
            }
        });
        assert_eq!(MOST.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn work_that_panics_stops_no_other() {
        let failed = catch_unwind(|| at_its_turn(LARGE_OUTPUT_BYTES + 1, || -> usize { panic!("as the test wants") }));
        assert!(failed.is_err());
        assert_eq!(at_its_turn(LARGE_OUTPUT_BYTES + 1, || 1) + at_its_turn(0, || 1), 2);
    }
}
