//! Other processes of the machine.

use std::time::Duration;

/// Pause before looking again whether a process is running.
const INTERVAL: Duration = Duration::from_secs(1);

/// Waits until a process has ended. Never completes for one that is not running now: its id may belong to another
/// container or machine.
pub(crate) async fn ended(id: u32) {
    if !is_running(id) {
        return std::future::pending().await;
    }
    while is_running(id) {
        tokio::time::sleep(INTERVAL).await;
    }
}

#[cfg(unix)]
fn is_running(id: u32) -> bool {
    use rustix::{
        io::Errno,
        process::{Pid, test_kill_process},
    };

    let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) else { return false };
    // `pid (name) state ...`; the name may contain anything. One that has ended may wait for its parent.
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"));
    let is_waiting = stat.is_ok_and(|stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['Z', 'X'])));
    !is_waiting && test_kill_process(pid) != Err(Errno::SRCH)
}

#[cfg(not(unix))]
fn is_running(_: u32) -> bool {
    false
}
