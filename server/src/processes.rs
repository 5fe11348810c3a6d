//! Signals by which the user or the system ends or suspends the program.

use std::time::Duration;

/// Listens for them from now on, and waits for the first one. Never completes if no signal can be received. Needs a
/// runtime around it.
pub(crate) fn ending() -> impl Future<Output = ()> + Send {
    #[cfg(unix)]
    let listening = {
        use tokio::signal::unix::{SignalKind, signal};
        // A file that grows beyond the allowed size is an error to report, not a reason to end.
        const FILE_SIZE: i32 = 25;
        let _ = signal(SignalKind::from_raw(FILE_SIZE));
        [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()].map(signal)
    };
    async move {
        #[cfg(unix)]
        {
            let mut waits = tokio::task::JoinSet::new();
            for stream in listening {
                match stream {
                    Ok(mut stream) => drop(waits.spawn(async move { stream.recv().await })),
                    Err(error) => tracing::warn!(%error, "cannot listen for a signal"),
                }
            }
            // The end of the runtime also ends the wait, without a signal.
            if !matches!(waits.join_next().await, Some(Ok(Some(())))) {
                std::future::pending::<()>().await;
            }
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Suspends the program and all its commands each time the terminal requests it (Ctrl-Z). Never returns.
pub(crate) async fn suspending() {
    #[cfg(unix)]
    {
        use rustix::process::{Signal, getpid, kill_process};
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |to: Signal| signal(SignalKind::from_raw(to.as_raw()));
        if let Ok(mut asked) = listen(Signal::TSTP) {
            while asked.recv().await.is_some() {
                let Ok(mut continued) = listen(Signal::CONT) else { continue };
                let suspension = speclens_runner::exec::process::suspend();
                // This signal cannot be ignored. It may take effect a moment later.
                let _ = kill_process(getpid(), Signal::STOP);
                continued.recv().await;
                drop(suspension);
            }
        }
    }
    std::future::pending::<()>().await;
}

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
