//! Suspends the commands together with the program (Ctrl-Z), and measures the time that does not count.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};

use super::watchdog;

/// The suspensions of the program so far.
static CLOCK: Mutex<Clock> = Mutex::new(Clock { past: Duration::ZERO, since: None });

struct Clock {
    /// The total time of past suspensions.
    past: Duration,
    /// Start of the current suspension.
    since: Option<Instant>,
}

/// The commands are stopped until this is dropped.
#[derive(Debug)]
pub struct Suspension {
    groups: Vec<Pid>,
}

impl Suspension {
    pub(super) fn begin() -> Suspension {
        let groups = watchdog::live();
        signal(&groups, Signal::STOP);
        with(|clock| clock.since = Some(Instant::now()));
        Suspension { groups }
    }
}

impl Drop for Suspension {
    fn drop(&mut self) {
        with(|clock| clock.past += clock.since.take().map_or(Duration::ZERO, |since| since.elapsed()));
        signal(&self.groups, Signal::CONT);
    }
}

/// Returns the total time of all suspensions, including the current one.
pub(super) fn total() -> Duration {
    with(|clock| clock.past + clock.since.map_or(Duration::ZERO, |since| since.elapsed()))
}

fn with<A>(act: impl FnOnce(&mut Clock) -> A) -> A {
    act(&mut CLOCK.lock().unwrap_or_else(PoisonError::into_inner))
}

fn signal(groups: &[Pid], signal: Signal) {
    for group in groups {
        // A group that has just ended cannot be stopped, and need not be.
        let _ = kill_process_group(*group, signal);
    }
}
