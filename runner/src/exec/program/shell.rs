//! The recording shell: runs the real one, passes everything through, and writes a log of the command. A shell that only
//! starts the agent, or that is within a recorded command, becomes the real one at once.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, IsTerminal, Read, Write},
    path::Path,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use rustix::fs::FileType;
use speclens_schema::evidence::{Capture, Exit, Ran};
use tokio::signal::unix::{Signal, SignalKind, signal};

pub use super::log::SUBCOMMAND;
use super::{
    launcher::{Invocation, Place, Role, Source, is_captured, is_task_unread, launcher_above, role},
    log::{self, Entry, INPUT, LOG, Settings, WITHIN},
};

/// Exit status of a shell that cannot be started.
const NOT_STARTED: i32 = 126;

/// Maximum number of bytes that are copied at once.
const CHUNK: usize = 64 * 1024;

/// Maximum time to wait for an open pipe after the shell itself has ended. Later output of a background process is
/// lost.
const OPEN_PIPE_TIMEOUT: Duration = Duration::from_secs(2);

/// Pause before checking again whether a pipe is closed.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Runs a shell. The arguments are the directory of the recording shells, the path of the shell, and its arguments.
/// Returns the exit status.
pub fn run(arguments: &[OsString]) -> i32 {
    let [directory, shell, arguments @ ..] = arguments else { return NOT_STARTED };
    let directory = Path::new(directory);
    let log = directory.join(LOG);
    let invocation = Invocation::of(shell, arguments);
    if let Ok(within) = env::var(WITHIN) {
        // It is a part of that command, unless it gets further commands from where that one came from.
        if invocation.source == Source::Input && env::var(INPUT).ok() == input() {
            log::is_open(&log, &within);
        }
        return become_shell(shell, arguments);
    }
    let settings = Settings::read(directory);
    let place = Place::of_this_process(&settings, &log);
    let is_unread = is_task_unread(&settings);
    let above = launcher_above(&log);
    match role(&invocation, place, is_unread) {
        Role::Launcher => {
            let id = std::process::id();
            log::begin_launcher(&log, id);
            if place == Place::BelowLauncher && is_unread && is_captured() {
                // It computes something for the start, like the parts of pyenv, and need not lead to a command.
                log::is_used(&log, id);
            } else if let Some(above) = above {
                log::is_used(&log, above);
            }
            // Another program may have run the script for the agent, and a profile may hide the recording shells.
            let may_be_command = invocation.source == Source::Script && place == Place::Elsewhere;
            if may_be_command || invocation.is_login {
                log::is_open(&log, &id.to_string());
            }
            become_shell(shell, arguments)
        }
        Role::Command => {
            if let Some(above) = above {
                log::is_used(&log, above);
            }
            let may_start_agent = is_unread || place != Place::Elsewhere;
            record(Recording { shell, arguments, invocation, may_start_agent, settings, log: &log })
        }
    }
}

/// Becomes the real shell. Returns the exit status if that fails.
fn become_shell(shell: &OsStr, arguments: &[OsString]) -> i32 {
    let error = std::os::unix::process::CommandExt::exec(std::process::Command::new(shell).args(arguments));
    // Without standard error, nothing can be reported.
    let _ = writeln!(io::stderr(), "{}: {error}", shell.display());
    NOT_STARTED
}

/// Returns the device and the file of standard input; `None` if nothing can be read from it.
fn input() -> Option<String> {
    let stat = rustix::fs::fstat(io::stdin()).ok()?;
    let is_null = rustix::fs::stat("/dev/null").is_ok_and(|null| null.st_rdev == stat.st_rdev)
        && FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice;
    (!is_null).then(|| format!("{}:{}", stat.st_dev, stat.st_ino))
}

struct Recording<'a> {
    shell: &'a OsStr,
    arguments: &'a [OsString],
    invocation: Invocation,
    may_start_agent: bool,
    settings: Settings,
    log: &'a Path,
}

fn record(recording: Recording<'_>) -> i32 {
    let mut ran = Ran { command: Capture::whole(recording.invocation.text.clone()), ..Ran::default() };
    let entry = Entry::begin(recording.log, &ran);
    // Commands that it starts are a part of it, even if it could not be recorded.
    let name = entry.as_ref().map_or("unrecorded", Entry::name);
    match recording.invocation.source {
        Source::Text if recording.may_start_agent => entry.iter().for_each(Entry::is_unsure),
        Source::Text => {}
        Source::Script | Source::Input => log::is_open(recording.log, name),
    }
    let began = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = runtime.and_then(|runtime| runtime.block_on(attend(&recording, name)));
    let (exit, [stdout, stderr]) = match done {
        Ok(done) => done,
        Err(error) => {
            let message = format!("{}: {error}\n", recording.shell.display());
            // Without standard error, nothing can be reported.
            let _ = io::stderr().write_all(message.as_bytes());
            let failed = Exit { code: Some(NOT_STARTED), signal: None };
            (failed, [Some(Capture::default()), Some(Capture::whole(message))])
        }
    };
    (ran.exit, ran.stdout, ran.stderr) = (Some(exit), stdout, stderr);
    ran.duration_ms = Some(began.elapsed().as_secs_f64() * 1000.0);
    if let Some(entry) = entry {
        entry.end(&ran);
    }
    // Shells report a command that was ended by a signal in this way.
    exit.code.unwrap_or_else(|| 128 + exit.signal.unwrap_or_default())
}

async fn attend(recording: &Recording<'_>, name: &str) -> io::Result<(Exit, [Option<Capture>; 2])> {
    let limit = recording.settings.limit;
    let mut process = tokio::process::Command::new(recording.shell);
    // Output to a terminal may look different elsewhere, so it is passed on without recording.
    let (sees_out, sees_err) = (!io::stdout().is_terminal(), !io::stderr().is_terminal());
    let piped = |is_seen: bool| if is_seen { Stdio::piped() } else { Stdio::inherit() };
    process.args(recording.arguments).stdout(piped(sees_out)).stderr(piped(sees_err));
    process.env(WITHIN, name).envs(input().map(|input| (INPUT, input)));
    for name in &recording.settings.without {
        process.env_remove(name);
    }
    // From its first moment on the command gets the signals of this process.
    let signals = Signals::listen()?;
    let mut child = process.spawn()?;
    let stdout = child.stdout.take().map(|pipe| pipe.into_owned_fd()).transpose()?;
    let stderr = child.stderr.take().map(|pipe| pipe.into_owned_fd()).transpose()?;
    let stdout = stdout.map(|pipe| Copying::start(pipe.into(), Box::new(io::stdout()), limit));
    let stderr = stderr.map(|pipe| Copying::start(pipe.into(), Box::new(io::stderr()), limit));
    let status = signals.pass_to(&mut child).await?;
    let deadline = Instant::now() + OPEN_PIPE_TIMEOUT;
    let kept = [stdout, stderr].map(|copying| copying.map(|copying| copying.finish(deadline)));
    Ok((exit_of(status), kept))
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    fn listen() -> io::Result<Signals> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn pass_to(mut self, child: &mut tokio::process::Child) -> io::Result<ExitStatus> {
        let id = child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
        loop {
            let received = tokio::select! {
                status = child.wait() => return status,
                _ = self.terminate.recv() => rustix::process::Signal::TERM,
                _ = self.interrupt.recv() => rustix::process::Signal::INT,
                _ = self.hangup.recv() => rustix::process::Signal::HUP,
            };
            if let Some(id) = id {
                // A process that has just ended needs no signal.
                let _ = rustix::process::kill_process(id, received);
            }
        }
    }
}

fn exit_of(status: ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt as _;
    Exit { code: status.code(), signal: status.signal() }
}

struct Copying {
    kept: Arc<Mutex<Kept>>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    cut: bool,
}

impl Copying {
    fn start(mut from: std::fs::File, mut to: Box<dyn Write + Send>, limit: usize) -> Copying {
        let kept: Arc<Mutex<Kept>> = Arc::default();
        let keeping = Arc::clone(&kept);
        let thread = std::thread::spawn(move || {
            let mut chunk = vec![0; CHUNK];
            loop {
                let count = match from.read(&mut chunk) {
                    Ok(0) => return,
                    Ok(count) => count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(_) => return,
                };
                keep(&keeping, &chunk[..count], limit);
                // If the reader is gone, the command notices as it would without this process in between.
                if to.write_all(&chunk[..count]).and_then(|()| to.flush()).is_err() {
                    return;
                }
            }
        });
        Copying { kept, thread }
    }

    /// Returns the recorded part, once the stream is closed or at the deadline.
    fn finish(self, deadline: Instant) -> Capture {
        while !self.thread.is_finished() && Instant::now() < deadline {
            std::thread::sleep(POLL_INTERVAL);
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        Capture { text: String::from_utf8_lossy(&kept.bytes).into_owned(), cut: kept.cut, ..Capture::default() }
    }
}

fn keep(kept: &Mutex<Kept>, bytes: &[u8], limit: usize) {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let room = limit.saturating_sub(kept.bytes.len());
    kept.bytes.extend(&bytes[..bytes.len().min(room)]);
    kept.cut |= bytes.len() > room;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_beginning_of_a_stream_is_kept() {
        let kept = Mutex::default();
        keep(&kept, b"abc", 4);
        assert!(!kept.lock().unwrap().cut);
        keep(&kept, b"def", 4);
        let kept = kept.lock().unwrap();
        assert_eq!((kept.bytes.as_slice(), kept.cut), (&b"abcd"[..], true));
    }
}
