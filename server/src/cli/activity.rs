//! A progress indicator for work that takes longer than a moment: on standard error, on terminals only.

use std::{
    io::{self, IsTerminal},
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::JoinHandle,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::threads;

/// Work that finishes within this time shows nothing.
const PROGRESS_DELAY: Duration = Duration::from_millis(400);

/// The indicator. It disappears when this is dropped.
pub(super) struct Activity {
    bar: ProgressBar,
    /// Closed when the work ends.
    over: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Activity {
    /// Starts the indicator for a number of files.
    pub(super) fn begin(files: usize) -> Activity {
        let bar = ProgressBar::with_draw_target(Some(files as u64), ProgressDrawTarget::hidden());
        let template = if files == 1 {
            "{spinner} reading ({elapsed})"
        } else {
            "{spinner} reading {pos} of {len} files ({elapsed})"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let (over, waiting) = mpsc::channel::<()>();
        let shown = bar.clone();
        let show = move || {
            if waiting.recv_timeout(PROGRESS_DELAY) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
                shown.enable_steady_tick(Duration::from_millis(100));
                // Returns an error at the end: nothing is ever sent.
                let _ = waiting.recv();
            }
        };
        // Without a thread, the work is done without an indicator.
        let thread = io::stderr().is_terminal().then(|| threads::start("activity", show).ok()).flatten();
        Activity { bar, over: Some(over), thread }
    }

    /// Counts one more file.
    pub(super) fn advance(&self) {
        self.bar.inc(1);
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}
