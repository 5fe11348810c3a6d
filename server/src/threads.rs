//! Threads: their number, and the error if the system refuses one.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, LazyLock, Mutex, PoisonError, RwLock,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::Context;
use speclens_schema::document::parallel;
use tokio::runtime::Runtime;

const MAX_ASYNC_THREADS: usize = 4;

/// Maximum number of threads of an asynchronous runtime for blocking work: reading, writing and judging.
const MAX_BLOCKING_THREADS: usize = 8;

/// Returns the number of available processors. The system is asked once because it reads files to answer.
pub(crate) fn cores() -> usize {
    static CORES: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));
    *CORES
}

pub(crate) fn start<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<JoinHandle<T>> {
    parallel::thread().and_then(|thread| thread.name(name.to_owned()).spawn(work)).context(Refused)
}

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
pub(crate) struct Pool {
    jobs: Sender<Job>,
}

type Job = Box<dyn FnOnce() + Send>;

impl Pool {
    pub(crate) fn start(name: &str, count: usize) -> anyhow::Result<Pool> {
        let (jobs, waiting) = channel();
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..count {
            let waiting = Arc::clone(&waiting);
            start(name, move || work_off(&waiting))?;
        }
        Ok(Pool { jobs })
    }

    /// Runs a function when a thread is free, without waiting for it.
    pub(crate) fn begin(&self, work: impl FnOnce() + Send + 'static) {
        // Its threads wait as long as the pool exists.
        let _ = self.jobs.send(Box::new(work));
    }
}

fn work_off(waiting: &Mutex<Receiver<Job>>) {
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok(job) = next() {
        if catch_unwind(AssertUnwindSafe(job)).is_err() {
            tracing::error!("a background task panicked; its thread continues");
        }
    }
}

/// Limits the address space that the allocator reserves. To be called before the first thread starts.
///
/// glibc reserves 64 MiB for each thread that allocates, up to eight times per processor. Under a limit on address space
/// (`ulimit -v`) little would be left for the threads' stacks, and an allocation fails although most of what is reserved
/// is free. More arenas than threads that work at the same time gain nothing.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "the standard library offers no way to set up the allocator")]
pub(crate) fn limit_address_space() {
    const MIN_ARENAS: usize = 4;
    const MAX_ARENAS: usize = 8;
    let arenas = cores().clamp(MIN_ARENAS, MAX_ARENAS);
    // SAFETY: The function takes two numbers, and no other thread exists that could allocate meanwhile. If it fails, the
    // default remains.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, libc::c_int::try_from(arenas).unwrap_or(libc::c_int::MAX)) };
}

#[cfg(not(target_env = "gnu"))]
pub(crate) fn limit_address_space() {}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn requested_number_of_threads_runs_at_once() {
        try_threads(3).unwrap();
    }
}
