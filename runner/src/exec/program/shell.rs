//! The recording shell: runs the real one, passes everything through, and writes a log of the command.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, IsTerminal, Read, Write},
    path::PathBuf,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use speclens_schema::evidence::{Capture, Exit, Ran};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{super::process::ungated, LIMIT, LOG, WITHIN, WITHOUT, log::Entry};

/// The subcommand of the program that starts this shell.
pub const SUBCOMMAND: &str = "__shell";

/// Exit status of a shell that cannot be started.
const NOT_STARTED: i32 = 126;

/// Maximum number of bytes that are copied at once.
const CHUNK: usize = 64 * 1024;

/// Maximum time to wait for an open pipe after the shell itself has ended. Later output of a background process is
/// lost.
const OPEN_PIPE_TIMEOUT: Duration = Duration::from_secs(2);

/// Pause before checking again whether a pipe is closed.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Runs the shell whose path comes first, with the arguments after it. Returns the exit status.
pub fn run(arguments: &[OsString]) -> i32 {
    let Some((shell, arguments)) = arguments.split_first() else { return NOT_STARTED };
    let limit = env::var(LIMIT).ok().and_then(|limit| limit.parse().ok()).unwrap_or_default();
    let directory = env::var_os(LOG).map(PathBuf::from).unwrap_or_default();
    let mut ran = Ran { command: Capture::whole(text_of(shell, arguments)), ..Ran::default() };
    let entry = Entry::begin(&directory, &ran);
    let began = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = runtime.and_then(|runtime| runtime.block_on(attend(shell, arguments, limit)));
    let (exit, [stdout, stderr]) = match done {
        Ok(done) => done,
        Err(error) => {
            let message = format!("{}: {error}\n", shell.display());
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

/// Runs the shell to its end.
async fn attend(shell: &OsStr, arguments: &[OsString], limit: usize) -> io::Result<(Exit, [Option<Capture>; 2])> {
    let mut process = tokio::process::Command::new(shell);
    // Output to a terminal may look different elsewhere, so it is passed on without recording.
    let (sees_out, sees_err) = (!io::stdout().is_terminal(), !io::stderr().is_terminal());
    let piped = |is_seen: bool| if is_seen { Stdio::piped() } else { Stdio::inherit() };
    process.args(arguments).env(WITHIN, "1").stdout(piped(sees_out)).stderr(piped(sees_err));
    for name in env::var(WITHOUT).unwrap_or_default().lines() {
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

/// The signals that are passed on.
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

    /// Waits for a process and passes signals on to it.
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

/// A stream that is passed on while its beginning is recorded.
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

/// Returns the command of a shell: the text after `-c`, or else the command line.
fn text_of(shell: &OsStr, arguments: &[OsString]) -> String {
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut options = words.iter();
    let mut is_command = false;
    while let Some(word) = options.next() {
        let mut letters = word.chars();
        match (letters.next(), letters.clone().next()) {
            (Some('-'), Some('-')) if word == "--" => continue,
            // `--login`, `--norc`.
            (Some('-'), Some('-')) => continue,
            (Some('-' | '+'), Some(_)) => {
                is_command |= word.starts_with('-') && word.contains('c');
                // The name of the option is a separate word.
                if word.ends_with(['o', 'O']) {
                    options.next();
                }
            }
            _ if is_command => return ungated(word).to_owned(),
            _ => break,
        }
    }
    let name = std::path::Path::new(shell).file_name().unwrap_or(shell).to_string_lossy().into_owned();
    std::iter::once(name).chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_the_text_after_its_option() {
        let text = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            text_of(OsStr::new("/usr/bin/bash"), &words)
        };
        assert_eq!(text(&["-c", "ls -l | wc"]), "ls -l | wc");
        assert_eq!(text(&["-lc", "ls", "name", "-c"]), "ls");
        assert_eq!(text(&["-l", "-c", "ls"]), "ls");
        assert_eq!(text(&["--login", "-euo", "pipefail", "-c", "ls"]), "ls");
        assert_eq!(text(&["-c", "--", "ls"]), "ls");
        assert_eq!(text(&["-o", "errexit", "+x", "-c", "ls"]), "ls");
        assert_eq!(text(&["script.sh", "-c", "a"]), "bash script.sh -c a");
        assert_eq!(text(&["-x"]), "bash -x");
        assert_eq!(text(&[]), "bash");
    }

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
