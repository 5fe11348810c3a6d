//! Threads: how much stack they have, how many there are, and what is said where the system gives none.
//!
//! Everything that recurses has a limit on its depth (nesting of YAML and JSON, of patterns, of schemas), so one
//! moderate stack is enough for all. Stacks are address space: many large ones fail under a limit on it.

use std::{
    collections::VecDeque,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError,
        mpsc::{Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::Context;
use tokio::{runtime::Runtime, sync::oneshot};

/// Bytes of stack of every thread that reads, checks or judges.
pub(crate) const STACK_BYTES: usize = 16 * 1024 * 1024;

/// Maximum number of threads on which an asynchronous runtime waits for messages, processes and timers.
const MAX_ASYNC_THREADS: usize = 4;

/// Maximum number of threads on which it reads, writes and judges beside that.
const MAX_BLOCKING_THREADS: usize = 8;

/// Returns the number of processors that may be used. The system is asked once: it reads files to answer.
pub(crate) fn cores() -> usize {
    static CORES: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));
    *CORES
}

/// Starts a thread, or says why there is none.
pub(crate) fn start<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<JoinHandle<T>> {
    thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(work).context(REFUSED)
}

const REFUSED: &str = "cannot start a thread: raise the limit on memory (`ulimit -v`) or on processes (`ulimit -u`)";

/// Builds an asynchronous runtime.
///
/// Tokio panics or waits forever where the system refuses a thread, so it is asked for as many threads before, and
/// threads that tokio has are kept.
pub(crate) fn runtime() -> anyhow::Result<Runtime> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let workers = cores().clamp(2, MAX_ASYNC_THREADS);
    try_threads(workers + MAX_BLOCKING_THREADS)?;
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .thread_stack_size(STACK_BYTES)
        .thread_keep_alive(DAY)
        .enable_all()
        .build()
        .context("cannot start the asynchronous runtime")
}

/// Has that many threads at once, and lets them go.
fn try_threads(count: usize) -> anyhow::Result<()> {
    let mut held = Vec::new();
    for _ in 0..count {
        let (release, wait) = channel::<()>();
        held.push((release, start("probe", move || wait.recv().is_err())?));
    }
    for (release, thread) in held {
        drop(release);
        // It cannot panic, and would be gone anyway.
        let _ = thread.join();
    }
    Ok(())
}

/// A fixed number of threads for work that takes long, begun in the order in which it comes.
///
/// The thread that became idle last takes what comes next: memory that it freed is used again, where other threads would
/// need new one.
pub(crate) struct Pool {
    queue: Arc<Mutex<Queue>>,
}

/// What a pool has to do, or who waits for it.
#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// The ways to the idle threads, the one that became so last at the end.
    idle: Vec<Sender<Job>>,
    is_closed: bool,
}

type Job = Box<dyn FnOnce() + Send>;

/// The work panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

impl fmt::Display for Panicked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("it panicked")
    }
}

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

    /// Does something when a thread is free, without waiting for it.
    pub(crate) fn begin(&self, work: impl FnOnce() + Send + 'static) {
        let mut queue = locked(&self.queue);
        match queue.idle.pop() {
            // An idle thread waits for as long as the way to it is there.
            Some(thread) => drop(thread.send(Box::new(work))),
            None => queue.jobs.push_back(Box::new(work)),
        }
    }

    /// Does something when a thread is free. It is never begun where the caller has stopped waiting by then.
    pub(crate) async fn perform<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Panicked> {
        let (answer, answered) = oneshot::channel();
        self.begin(move || {
            if !answer.is_closed() {
                let _ = answer.send(work());
            }
        });
        answered.await.map_err(|_| Panicked)
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

/// Does what there is to do until the pool is gone and all is done.
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

    #[tokio::test]
    async fn work_that_panics_does_not_end_its_thread() {
        let pool = Pool::start("test", 1).unwrap();
        let failed = pool.perform::<()>(|| panic!("as the test wants")).await;
        assert_eq!(failed, Err(Panicked));
        assert_eq!(pool.perform(|| 1 + 1).await, Ok(2));
    }

    #[tokio::test]
    async fn thread_that_became_idle_last_works_next() {
        let pool = Pool::start("test", 4).unwrap();
        let mut last = None;
        for _ in 0..20 {
            // A thread says what it found before it is idle again.
            while locked(&pool.queue).idle.len() < 4 {
                thread::yield_now();
            }
            let worked = pool.perform(|| thread::current().id()).await.unwrap();
            assert_eq!(last.replace(worked).unwrap_or(worked), worked);
        }
    }

    #[tokio::test]
    async fn work_that_was_given_up_is_not_begun() {
        let pool = Pool::start("test", 1).unwrap();
        let (release, held) = channel::<()>();
        pool.begin(move || assert!(held.recv().is_err()));
        let (begun, seen) = channel::<()>();
        let given_up = pool.perform(move || begun.send(()));
        assert!(tokio::time::timeout(Duration::ZERO, given_up).await.is_err());
        drop(release);
        pool.perform(|| ()).await.unwrap();
        assert!(seen.recv().is_err());
    }

    #[test]
    fn as_many_threads_as_asked_for_are_alive_at_once() {
        try_threads(3).unwrap();
    }
}
