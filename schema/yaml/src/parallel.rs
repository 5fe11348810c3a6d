//! Processes the parts of a long list on several threads.

use std::{panic::resume_unwind, sync::LazyLock, thread};

use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};

/// Below this, threads cost more than they save.
pub const FEW: usize = 256;

/// More threads than this would wait for memory.
const MAX_THREADS: usize = 4;

/// Stack size of a thread: the parts may be nested as deeply as YAML may be here.
const STACK_BYTES: usize = 16 * 1024 * 1024;

/// The threads. `None` if there would be only one, or none is available.
static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES);
    (threads > 1).then(|| pool.thread_name(|number| format!("parts-{number}")).build().ok()).flatten()
});

/// Returns the results for all parts, in order.
pub fn map<T: Sync, R: Send>(parts: &[T], work: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    /// Minimum number of parts that a thread takes at once.
    const PIECE: usize = 32;
    // A thread of the pool that waits is given other parts, which may wait for what it is doing.
    let is_in_pool = rayon::current_thread_index().is_some();
    match POOL.as_ref().filter(|_| parts.len() >= FEW && !is_in_pool) {
        Some(pool) => pool.install(|| parts.par_iter().with_min_len(PIECE).map(&work).collect()),
        None => parts.iter().map(work).collect(),
    }
}

/// Runs a function on another thread while another one runs here.
pub fn beside<T: Send>(other: impl Fn() -> T + Sync, here: impl FnOnce()) -> T {
    thread::scope(|scope| {
        let begun = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, &other);
        here();
        match begun {
            Ok(begun) => begun.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // If no thread is available, this one runs it.
            Err(_) => other(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn every_part_is_worked_on_once_and_in_order() {
        for count in [0, 1, 255, 256, 257, 10_000] {
            let parts: Vec<usize> = (0..count).collect();
            assert_eq!(map(&parts, |part| part * 2), parts.iter().map(|part| part * 2).collect::<Vec<_>>());
        }
    }
}
