//! Threads: their number, and the error if the system refuses one.

use std::{
    collections::VecDeque,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError, RwLock,
        mpsc::{Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::Context;
use speclens_schema::document::parallel;
use tokio::runtime::Runtime;

/// Maximum number of threads of an asynchronous runtime for messages, processes and timers.
const MAX_ASYNC_THREADS: usize = 4;

/// Maximum number of threads of an asynchronous runtime for blocking work: reading, writing and judging.
const MAX_BLOCKING_THREADS: usize = 8;

/// Returns the number of available processors. The system is asked once because it reads files to answer.
pub(crate) fn cores() -> usize {
    static CORES: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));
    *CORES
}

/// Starts a thread, or returns the error.
pub(crate) fn start<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<JoinHandle<T>> {
    parallel::thread().and_then(|thread| thread.name(name.to_owned()).spawn(work)).context(Refused)
}

/// The system refuses a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("cannot start a thread; raise the limit on memory (`ulimit -v`) or on processes (`ulimit -u`)")
    }
}

/// Builds an asynchronous runtime for runs.
///
/// Tokio panics or waits forever if the system refuses a thread, so that number of threads is started first as a test,
/// and tokio's threads are kept alive.
pub(crate) fn runtime() -> anyhow::Result<Runtime> {
    try_threads(async_threads() + MAX_BLOCKING_THREADS)?;
    build()
}

/// Builds an asynchronous runtime for the language server, which an editor waits for: its threads for blocking work are
/// tested when a run begins, by [`try_blocking_threads`].
pub(crate) fn server_runtime() -> anyhow::Result<Runtime> {
    try_threads(async_threads())?;
    build()
}

fn async_threads() -> usize {
    cores().clamp(2, MAX_ASYNC_THREADS)
}

fn build() -> anyhow::Result<Runtime> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(async_threads())
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .thread_stack_size(parallel::STACK_BYTES)
        .thread_keep_alive(DAY)
        .enable_all()
        .build()
        .context("cannot start the asynchronous runtime")
}

/// Tests whether the system allows the threads for blocking work that a runtime starts on demand.
pub(crate) fn try_blocking_threads() -> anyhow::Result<()> {
    try_threads(MAX_BLOCKING_THREADS)
}

/// Starts that many threads at once, and ends them.
fn try_threads(count: usize) -> anyhow::Result<()> {
    parallel::ensure_room(count).context(Refused)?;
    // All are released at once: one after the other, each would have to be woken and waited for.
    let gate = Arc::new(RwLock::new(()));
    let closed = gate.write().unwrap_or_else(PoisonError::into_inner);
    let wait = || {
        let gate = Arc::clone(&gate);
        start("probe", move || drop(gate.read()))
    };
    let threads = (0..count).map(|_| wait()).collect::<anyhow::Result<Vec<_>>>();
    drop(closed);
    for thread in threads? {
        // It cannot panic.
        let _ = thread.join();
    }
    Ok(())
}

/// A fixed number of threads for long work, started in the order of submission.
///
/// The thread that became idle last takes the next work: memory that it freed is used again, whereas another thread
/// would need new memory.
pub(crate) struct Pool {
    queue: Arc<Mutex<Queue>>,
}

/// The pending work of a pool, or its idle threads.
#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// The channels to the idle threads, the most recently idle one last.
    idle: Vec<Sender<Job>>,
    is_closed: bool,
}

type Job = Box<dyn FnOnce() + Send>;

impl Pool {
    /// Starts the threads.
    pub(crate) fn start(name: &str, count: usize) -> anyhow::Result<Pool> {
        let pool = Pool { queue: Arc::default() };
        for _ in 0..count {
            let queue = Arc::clone(&pool.queue);
            start(name, move || work_off(&queue))?;
        }
        Ok(pool)
    }

    /// Runs a function when a thread is free, without waiting for it.
    pub(crate) fn begin(&self, work: impl FnOnce() + Send + 'static) {
        let mut queue = locked(&self.queue);
        match queue.idle.pop() {
            // An idle thread waits as long as its channel exists.
            Some(thread) => drop(thread.send(Box::new(work))),
            None => queue.jobs.push_back(Box::new(work)),
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut queue = locked(&self.queue);
        queue.is_closed = true;
        queue.idle.clear();
    }
}

fn locked(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does the pending work until the pool is dropped and the queue is empty.
fn work_off(queue: &Mutex<Queue>) {
    while let Some(job) = next(queue) {
        if catch_unwind(AssertUnwindSafe(job)).is_err() {
            tracing::error!("a background task panicked; its thread continues");
        }
    }
}

fn next(queue: &Mutex<Queue>) -> Option<Job> {
    let (way, job) = channel();
    {
        let mut queue = locked(queue);
        if let Some(job) = queue.jobs.pop_front() {
            return Some(job);
        }
        if queue.is_closed {
            return None;
        }
        queue.idle.push(way);
    }
    job.recv().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does work on a pool and waits for its result.
    fn perform<T: Send + 'static>(pool: &Pool, work: impl FnOnce() -> T + Send + 'static) -> T {
        let (answer, answered) = channel();
        pool.begin(move || answer.send(work()).unwrap());
        answered.recv().unwrap()
    }

    #[test]
    fn work_that_panics_does_not_end_its_thread() {
        let pool = Pool::start("test", 1).unwrap();
        pool.begin(|| panic!("as the test wants"));
        assert_eq!(perform(&pool, || 1 + 1), 2);
    }

    #[test]
    fn thread_that_became_idle_last_works_next() {
        let pool = Pool::start("test", 4).unwrap();
        let mut last = None;
        for _ in 0..20 {
            // A thread sends its result before it is idle again.
            while locked(&pool.queue).idle.len() < 4 {
                thread::yield_now();
            }
            let worked = perform(&pool, || thread::current().id());
            assert_eq!(last.replace(worked).unwrap_or(worked), worked);
        }
    }

    #[test]
    fn requested_number_of_threads_runs_at_once() {
        try_threads(3).unwrap();
    }
}
