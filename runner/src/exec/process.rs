//! A command, from its start to the end of its last process.
//!
//! The command gets its own process group, so everything that it started can be ended with it. The deadline does not
//! depend on how the command handles signals: TERM to the group, a second to comply, then KILL. Output written until
//! then is kept. A background process that has closed the output may serve the tests that follow, so it continues until
//! its [`Background`] ends. No end of a run (natural, late, cancelled or dropped) leaves a process of the group behind,
//! and the [`watchdog`] ends those of a program that was killed. (A process that moves itself into another session has
//! left the group: it can no longer block the run, but it cannot be ended.)

mod command;

use std::{
    io,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use speclens_schema::{
    check::text::uncolored,
    evidence::{Capture, Ran, RunError, RunErrorKind},
};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::sync::CancellationToken;

use command::POLL_INTERVAL;
pub use command::{Command, Environment, Output};

const GRACE: Duration = Duration::from_secs(1);

/// Maximum silence of an open pipe after the command itself has ended. A process that still holds it then is not waited
/// for.
const SILENCE: Duration = Duration::from_secs(2);

/// Maximum time to drain pipes after KILL. Only a process that left the group can hold one longer.
const DRAIN: Duration = Duration::from_millis(250);

const INITIAL_BYTES: usize = 4 * 1024;

/// Number of bytes per read beyond the limit: the capacity of a pipe.
const CHUNK: usize = 64 * 1024;

#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// The observation. Its duration ends when the streams were closed or given up.
    pub ran: Ran,
    pub error: Option<RunError>,
    pub notes: Vec<String>,
}

/// Processes that commands left running in the background. Dropping it kills them.
#[derive(Debug, Default)]
pub struct Background {
    until: Until,
    groups: Mutex<Vec<group::Group>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Until {
    #[default]
    Attempt,
    /// Until the run of the suite ends: for example, a server that later tests use.
    Suite,
}

impl Until {
    fn words(self) -> &'static str {
        match self {
            Until::Suite => "when the run of the suite ends",
            Until::Attempt => "when the test ends",
        }
    }
}

impl Background {
    pub fn new(until: Until) -> Background {
        Background { until, groups: Mutex::default() }
    }

    /// Ends everything: TERM, a second to comply, then KILL. Returns whether anything was still running.
    pub async fn end(&self) -> bool {
        let groups = std::mem::take(&mut *self.groups.lock().unwrap_or_else(PoisonError::into_inner));
        let was_running = groups.iter().any(group::Group::is_running);
        groups.iter().for_each(group::Group::terminate);
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline && groups.iter().any(group::Group::is_running) {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        groups.iter().for_each(group::Group::kill);
        let deadline = Instant::now() + DRAIN;
        while Instant::now() < deadline && groups.iter().any(group::Group::is_running) {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        was_running
    }

    fn keep(&self, group: group::Group) {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        // The ids of groups that have ended may have been reused.
        groups.retain(group::Group::is_running);
        groups.push(group);
    }
}

/// Stops all running commands before the program itself is suspended (Ctrl-Z). They continue when the result is
/// dropped. The time in between counts toward no deadline and no duration.
pub fn suspend() -> watchdog::Suspension {
    watchdog::Suspension::begin()
}

/// Returns the total time for which the program has been suspended: it counts toward no deadline.
pub(crate) fn suspended() -> Duration {
    watchdog::total_suspension()
}

/// Runs a command to its end. Never fails: errors are part of the result.
pub async fn run(command: Command<'_>, background: &Background, cancel: &CancellationToken) -> Finished {
    if cancel.is_cancelled() {
        return Finished::failed(command.script, RunErrorKind::Cancelled, "cancelled before it began");
    }
    match group::spawn(command) {
        Ok(child) => attend(command, child, background, cancel).await,
        Err(error) => {
            let message = format!("cannot start `{}` in {}: {error}", command.shell, command.directory.display());
            Finished::failed(command.script, RunErrorKind::Spawn, message)
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    TimedOut,
    Cancelled,
}

impl Stop {
    fn error(self, timeout: Duration) -> RunError {
        let (kind, message) = match self {
            Stop::TimedOut => {
                let limit = timeout.as_millis();
                (RunErrorKind::TimedOut, format!("the command did not end within {limit} ms and was stopped"))
            }
            Stop::Cancelled => (RunErrorKind::Cancelled, "cancelled, so the command was stopped".to_owned()),
        };
        RunError { kind, message }
    }
}

/// The phase of a command, which decides the meaning of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The command is running; the clock is the deadline.
    Running,
    /// The command has ended, a pipe is still open; the clock is the limit of silence.
    Ended,
    /// TERM was sent to the group; the clock is the grace period.
    Stopping,
    /// KILL was sent to the group; the clock is the limit of draining.
    Killed,
}

async fn attend(
    command: Command<'_>,
    mut child: group::Child,
    background: &Background,
    cancel: &CancellationToken,
) -> Finished {
    let started = Instant::now();
    let mut deadline = started + command.timeout;
    let suspended_before = watchdog::total_suspension();
    let mut suspended = suspended_before;
    let mut stdout = Stream::new(child.stdout(), command.output.limit());
    let mut stderr = Stream::new(child.stderr(), command.output.limit());
    let mut exit = None;
    let mut stop = None;
    let mut phase = Phase::Running;
    let mut last = started;
    let clock = tokio::time::sleep_until(deadline.into());
    tokio::pin!(clock);
    let cancelled = cancel.cancelled();
    tokio::pin!(cancelled);

    while exit.is_none() || stdout.is_open() || stderr.is_open() {
        tokio::select! {
            status = child.wait(), if exit.is_none() => {
                exit = Some(status);
                last = Instant::now();
                if phase == Phase::Running {
                    phase = Phase::Ended;
                    clock.as_mut().reset((last + SILENCE).min(deadline.max(last + DRAIN)).into());
                }
            }
            () = stdout.read(), if stdout.is_open() => last = Instant::now(),
            () = stderr.read(), if stderr.is_open() => last = Instant::now(),
            () = &mut cancelled, if stop.is_none() => {
                stop = Some(Stop::Cancelled);
                phase = Phase::Stopping;
                child.terminate();
                clock.as_mut().reset((Instant::now() + GRACE).into());
            }
            () = &mut clock => match phase {
                // The program was suspended, so the clock ran without the command.
                _ if watchdog::total_suspension() > suspended => {
                    let more = watchdog::total_suspension() - suspended;
                    suspended += more;
                    deadline += more;
                    last += more;
                    let later = clock.deadline() + more;
                    clock.as_mut().reset(later);
                }
                // It ended before the deadline, and this program was late to notice.
                Phase::Running if child.has_ended() => clock.as_mut().reset((Instant::now() + SILENCE).into()),
                Phase::Running => {
                    stop = Some(Stop::TimedOut);
                    phase = Phase::Stopping;
                    child.terminate();
                    clock.as_mut().reset((Instant::now() + GRACE).into());
                }
                // A process is still writing: the limit of silence starts again, as far as the deadline allows.
                Phase::Ended if last.elapsed() < SILENCE && Instant::now() < deadline => {
                    clock.as_mut().reset((last + SILENCE).min(deadline).into());
                }
                // Output that was written before this program read it counts as well.
                Phase::Ended if stdout.has_news().await | stderr.has_news().await => {}
                Phase::Stopping => {
                    phase = Phase::Killed;
                    child.kill();
                    clock.as_mut().reset((Instant::now() + DRAIN).into());
                }
                Phase::Ended | Phase::Killed => break,
            },
        }
    }

    let ended = Instant::now();
    let held = stdout.is_open() || stderr.is_open();
    let killed = exit.flatten().filter(|exit| stop.is_none() && exit.was_killed());
    let mut notes = Vec::new();
    if stop.is_none() && !held && killed.is_none() && child.has_leftovers().await {
        let until = background.until.words();
        notes.push(format!("the command left a background process running, which is stopped {until}"));
        child.release().into_iter().for_each(|group| background.keep(group));
    }
    child.kill();
    if exit.is_none() {
        // Killed, so this takes only a moment; a process stuck in the kernel is not waited for.
        exit = tokio::time::timeout(GRACE, child.wait()).await.ok();
    }
    if stop.is_some() || held {
        // Observers of the result must not meet a process that is still at work.
        child.gone(DRAIN).await;
    }
    if held && stop.is_none() {
        notes.push("a background process that kept the output open after the command had ended was stopped".to_owned());
    }
    if let Some(exit) = exit.flatten().filter(|_| stop.is_none() && killed.is_none()) {
        notes.extend(exit.note().map(|note| format!("the command {note}")));
    }
    for (name, dropped) in [("standard output", stdout.dropped), ("standard error", stderr.dropped)] {
        if dropped > 0 {
            notes.push(format!(
                "{name} is longer than {}, so the last {dropped} bytes were not recorded",
                bytes(command.output.limit())
            ));
        }
    }
    let error = match (stop, killed) {
        (Some(stop), _) => Some(stop.error(command.timeout)),
        (None, Some(exit)) => Some(RunError {
            kind: RunErrorKind::Killed,
            message: format!(
                "the command {}, which speclens did not send, so the result is incomplete; find out what sent it (the \
                 system sends it when memory is low)",
                exit.sentence()
            ),
        }),
        (None, None) => None,
    };
    // Later output of the process that still holds the pipe is missing.
    let unfinished = [stdout.is_open(), stderr.is_open()];
    group::without_gate(&mut stderr.kept);
    let mut captured = [stdout.capture(), stderr.capture()];
    for (stream, unfinished) in captured.iter_mut().zip(unfinished) {
        stream.cut |= unfinished;
    }
    let [stdout, stderr] = captured;
    // A pipe that is open at the end was open at least until then.
    let duration = (ended - started).saturating_sub(watchdog::total_suspension() - suspended_before);
    let exit = exit.flatten();
    let began = exit.is_some();
    let ran = Ran {
        command: Capture::whole(command.script.to_owned()),
        exit,
        timed_out: matches!(stop, Some(Stop::TimedOut)),
        held: held && stop.is_none(),
        stdout: began.then_some(stdout),
        stderr: began.then_some(stderr),
        duration_ms: began.then_some(duration.as_secs_f64() * 1000.0),
    };
    Finished { ran, error, notes }
}

fn bytes(count: usize) -> String {
    const MIB: usize = 1024 * 1024;
    if count >= MIB && count.is_multiple_of(MIB) { format!("{} MiB", count / MIB) } else { format!("{count} bytes") }
}

impl Finished {
    fn failed(script: &str, kind: RunErrorKind, message: impl Into<String>) -> Finished {
        Finished {
            ran: Ran { command: Capture::whole(script), ..Ran::default() },
            error: Some(RunError { kind, message: message.into() }),
            notes: Vec::new(),
        }
    }
}

struct Stream<R> {
    reader: Option<R>,
    kept: Vec<u8>,
    rest: Vec<u8>,
    limit: usize,
    dropped: u64,
}

impl<R: AsyncRead + Unpin> Stream<R> {
    fn new(reader: Option<R>, limit: usize) -> Stream<R> {
        Stream { reader, kept: Vec::new(), rest: Vec::new(), limit, dropped: 0 }
    }

    fn is_open(&self) -> bool {
        self.reader.is_some()
    }

    /// Reads the data that has arrived. Cancel-safe.
    async fn read(&mut self) {
        let Some(reader) = &mut self.reader else { return };
        let room = self.limit - self.kept.len();
        let read = if room > 0 {
            // Most outputs are short, and each keeps its buffer.
            if self.kept.len() == self.kept.capacity() {
                self.kept.reserve(self.kept.len().max(INITIAL_BYTES));
            }
            reader.take(room as u64).read_buf(&mut self.kept).await
        } else {
            self.rest.clear();
            self.rest.reserve(CHUNK);
            reader.read_buf(&mut self.rest).await.inspect(|count| self.dropped += *count as u64)
        };
        match read {
            Ok(0) => self.reader = None,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.reader = None,
        }
    }

    /// Reads the available data without waiting. Returns whether there was any, including the end.
    async fn has_news(&mut self) -> bool {
        self.is_open() && tokio::time::timeout(Duration::ZERO, self.read()).await.is_ok()
    }

    fn capture(self) -> Capture {
        Capture::of_bytes(self.kept, self.dropped > 0)
    }
}

#[cfg(unix)]
mod group;

#[cfg(unix)]
pub(super) use group::{FIRST_INPUT_BYTES, ungated};

#[cfg(not(unix))]
#[path = "process/no_group.rs"]
mod group;

#[cfg(unix)]
mod watchdog;

#[cfg(not(unix))]
mod watchdog {
    //! On other systems nothing runs, so there is nothing to suspend.

    use std::time::Duration;

    #[derive(Debug)]
    pub struct Suspension;

    impl Suspension {
        pub(super) fn begin() -> Suspension {
            Suspension
        }
    }

    pub(super) fn total_suspension() -> Duration {
        Duration::ZERO
    }
}

#[cfg(all(test, unix))]
pub(crate) mod tests;
const MAX_TAIL_LINES: usize = 8;
const MAX_TAIL_CHARACTERS: usize = 1_000;

/// Returns the last lines of what a command wrote on standard error, or else on standard output.
pub(super) fn end_of(ran: &Ran) -> String {
    let text = |capture: &Option<Capture>| {
        capture.as_ref().map(|it| uncolored(it.text.trim()).into_owned()).unwrap_or_default()
    };
    let (stderr, stdout) = (text(&ran.stderr), text(&ran.stdout));
    let (name, text) = if stderr.is_empty() { ("output", stdout) } else { ("standard error", stderr) };
    if text.is_empty() {
        return String::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let end = lines[lines.len().saturating_sub(MAX_TAIL_LINES)..].join("\n");
    // A word that is cut could be the rest of a secret, which would not be masked.
    let from = end
        .char_indices()
        .rev()
        .nth(MAX_TAIL_CHARACTERS)
        .map_or(0, |(at, _)| end[at..].find(char::is_whitespace).map_or(end.len(), |blank| at + blank));
    format!("; the end of its {name}:\n{}", end[from..].trim_start())
}
