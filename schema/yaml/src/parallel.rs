//! Processes the parts of a long list on several threads.

use std::{
    panic::resume_unwind,
    sync::{
        LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Below this, threads cost more than they save.
pub const FEW: usize = 256;

/// More threads than this would wait for memory.
const MAX_THREADS: usize = 4;

/// Stack size of a thread: the parts may be nested as deeply as YAML may be here.
const STACK_BYTES: usize = 16 * 1024 * 1024;

/// Returns the results for all parts, in order.
pub fn map<T: Sync, R: Send>(parts: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    /// Number of parts that a thread takes at once.
    const PIECE: usize = 32;
    /// The system is asked once: it reads files to answer.
    static CORES: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));
    let threads = if parts.len() < FEW { 1 } else { MAX_THREADS.min(*CORES) };
    if threads < 2 {
        return parts.iter().map(work).collect();
    }
    let pieces: Vec<&[T]> = parts.chunks(PIECE).collect();
    let next = AtomicUsize::new(0);
    let run_worker = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(number) else { return done };
            done.push((number, piece.iter().map(&work).collect::<Vec<R>>()));
        }
    };
    let mut done = thread::scope(|scope| {
        // If no thread is available, this one does all the work.
        let start = |_| thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, run_worker).ok();
        let others: Vec<_> = (1..threads).filter_map(start).collect();
        let mut done = run_worker();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().flat_map(|(_, made)| made).collect()
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
