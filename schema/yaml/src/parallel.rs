//! Threads, and the processing of the parts of a long list on several of them.
//!
//! Every recursion has a limit on its depth (nesting of YAML and JSON, of patterns, of schemas), so one
//! moderate stack size is enough for all. Stacks are address space: many large ones fail under a limit on it.

use std::{hint::black_box, io, panic::resume_unwind, sync::LazyLock, thread};

use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};

/// Below this, threads cost more than they save.
pub const FEW: usize = 256;

/// More threads than this would wait for memory.
const MAX_THREADS: usize = 4;

/// Bytes of stack of every thread that reads, checks or judges.
pub const STACK_BYTES: usize = 16 * 1024 * 1024;

/// The threads. `None` if there would be only one, or none is available.
static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES);
    let is_useful = threads > 1 && ensure_room(threads).is_ok();
    is_useful.then(|| pool.thread_name(|number| format!("parts-{number}")).build().ok()).flatten()
});

/// Returns a builder of a thread with that stack, or an error if there is no room for one more.
pub fn thread() -> io::Result<thread::Builder> {
    ensure_room(1)?;
    Ok(thread::Builder::new().stack_size(STACK_BYTES))
}

/// Returns an error unless there is address space for so many more threads: their stacks, what the allocator reserves
/// for them, and a margin. The standard library panics on the new thread, or hangs, if there is enough for the stack
/// only.
pub fn ensure_room(threads: usize) -> io::Result<()> {
    /// A stack, the 64 MiB that glibc reserves for a thread when it first allocates, and a margin for what the thread works
    /// on. It would keep pieces of up to 32 MiB for later.
    const PIECE_BYTES: usize = 128 * 1024 * 1024;
    /// Threads that start at the same time get so many of glibc's reserves at least, later ones share them.
    const ARENAS: usize = 4;
    let stacks = (threads.saturating_sub(ARENAS) * STACK_BYTES).div_ceil(PIECE_BYTES);
    // A system refuses one piece that is larger than its memory. None is touched.
    let mut room: Vec<Vec<u8>> = vec![Vec::new(); threads.min(ARENAS) + stacks];
    for piece in &mut room {
        piece.try_reserve_exact(PIECE_BYTES)?;
    }
    // Otherwise the compiler may leave the allocations out.
    black_box(&mut room);
    Ok(())
}

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
        let begun = thread().and_then(|thread| thread.spawn_scoped(scope, &other));
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
