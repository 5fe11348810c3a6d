//! Ends the processes of a run when the program itself is killed.
//!
//! The ids of the running groups are in an unnamed file, and a shell in its own group waits at a pipe. The pipe ends
//! with the program, however that ends; the shell then reads the file and kills the groups in it. (The kernel could
//! send a signal at the death of a parent, but of the parent's *thread*, to one process only instead of its group, and
//! on Linux alone.)
//!
//! Nothing is sent to the shell while commands run: it costs them nothing, and one that is stopped delays none. A shell
//! that has died is replaced before the next command.

use std::{
    env,
    fs::File,
    io::{self, PipeWriter},
    os::unix::{fs::FileExt, process::CommandExt},
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};

/// Standard input is the file. The pipe is the standard error, because a shell inherits nothing else.
const SCRIPT: &str = "trap '' HUP INT QUIT TERM
read -r end <&2
while read -r group; do [ -z \"$group\" ] || kill -s KILL -- \"-$group\" 2>/dev/null; done";

/// Number of bytes of a line of the file: an id or blanks, and the line end.
const LINE: usize = 12;

/// Number of lines that are written at first, so a disk that fills up later does no harm.
const LINES: usize = 256;

static WATCHDOG: Mutex<Watchdog> = Mutex::new(Watchdog::new());

/// Makes sure that a watcher runs before a command begins.
pub(super) fn prepare() {
    with(Watchdog::prepare);
}

pub(super) fn begun(group: Pid) {
    with(|watchdog| watchdog.begun(group));
}

/// Reports that a group is over, so its id may be reused.
pub(super) fn over(group: Pid) {
    with(|watchdog| watchdog.over(group));
}

pub(super) fn live() -> Vec<Pid> {
    with(|watchdog| watchdog.lines.iter().copied().flatten().collect())
}

fn with<A>(act: impl FnOnce(&mut Watchdog) -> A) -> A {
    act(&mut WATCHDOG.lock().unwrap_or_else(PoisonError::into_inner))
}

#[derive(Debug)]
struct Watchdog {
    /// The lines of the file. A group keeps its line while it is running.
    lines: Vec<Option<Pid>>,
    watcher: Option<Watcher>,
    is_failure_reported: bool,
}

#[derive(Debug)]
struct Watcher {
    shell: Child,
    file: File,
    _pipe: PipeWriter,
}

impl Watchdog {
    const fn new() -> Watchdog {
        Watchdog { lines: Vec::new(), watcher: None, is_failure_reported: false }
    }

    fn prepare(&mut self) {
        if self.watcher.as_mut().is_some_and(Watcher::is_waiting) {
            return;
        }
        let watcher = Watcher::begin(&self.lines);
        // Without it everything works, except for cleaning up after the death of the program.
        if let Err(error) = &watcher
            && !std::mem::replace(&mut self.is_failure_reported, true)
        {
            tracing::warn!(%error, "commands are not stopped if this program is killed");
        }
        self.watcher = watcher.ok();
    }

    fn begun(&mut self, group: Pid) {
        let at = self.lines.iter().position(Option::is_none).unwrap_or(self.lines.len());
        self.lines.resize(self.lines.len().max(at + 1), None);
        self.set(at, Some(group));
    }

    fn over(&mut self, group: Pid) {
        if let Some(at) = self.lines.iter().position(|line| *line == Some(group)) {
            self.set(at, None);
        }
    }

    fn set(&mut self, at: usize, group: Option<Pid>) {
        self.lines[at] = group;
        let written = self.watcher.as_ref().map_or(Ok(()), |watcher| watcher.write(at, group));
        if let Err(error) = written {
            tracing::warn!(%error, "a command is not stopped if this program is killed");
        }
    }
}

impl Watcher {
    fn begin(lines: &[Option<Pid>]) -> io::Result<Watcher> {
        let file = nameless()?;
        let blank = std::iter::repeat_n(None, LINES.saturating_sub(lines.len()));
        let text: String = lines.iter().copied().chain(blank).map(line).collect();
        // The shell reads from the beginning: nothing here moves the file position, which it shares.
        file.write_all_at(text.as_bytes(), 0)?;
        let (end, pipe) = io::pipe()?;
        let shell = Command::new("sh")
            .args(["-c", SCRIPT])
            // Commands may read the environment of this process, which needs no keys.
            .env_clear()
            .envs(env::var_os("PATH").map(|path| ("PATH", path)))
            .current_dir("/")
            .stdin(file.try_clone()?)
            .stdout(Stdio::null())
            .stderr(end)
            .process_group(0)
            .spawn()?;
        Ok(Watcher { shell, file, _pipe: pipe })
    }

    fn is_waiting(&mut self) -> bool {
        matches!(self.shell.try_wait(), Ok(None))
    }

    fn write(&self, at: usize, group: Option<Pid>) -> io::Result<()> {
        self.file.write_all_at(line(group).as_bytes(), (at * LINE) as u64)
    }
}

fn line(group: Option<Pid>) -> String {
    let number = group.map(|group| group.as_raw_nonzero().to_string()).unwrap_or_default();
    format!("{number:>width$}\n", width = LINE - 1)
}

fn nameless() -> io::Result<File> {
    #[cfg(target_os = "linux")]
    if let Ok(file) = rustix::fs::memfd_create("speclens", rustix::fs::MemfdFlags::CLOEXEC) {
        return Ok(file.into());
    }
    tempfile::tempfile()
}

/// The suspensions of the program so far.
static CLOCK: Mutex<Clock> = Mutex::new(Clock { past: Duration::ZERO, since: None });

struct Clock {
    past: Duration,
    since: Option<Instant>,
}

/// The commands are stopped until this is dropped.
#[derive(Debug)]
pub struct Suspension {
    groups: Vec<Pid>,
}

impl Suspension {
    pub(super) fn begin() -> Suspension {
        let groups = live();
        signal(&groups, Signal::STOP);
        with_clock(|clock| clock.since = Some(Instant::now()));
        Suspension { groups }
    }
}

impl Drop for Suspension {
    fn drop(&mut self) {
        with_clock(|clock| clock.past += clock.since.take().map_or(Duration::ZERO, |since| since.elapsed()));
        signal(&self.groups, Signal::CONT);
    }
}

pub(super) fn total_suspension() -> Duration {
    with_clock(|clock| clock.past + clock.since.map_or(Duration::ZERO, |since| since.elapsed()))
}

fn with_clock<A>(act: impl FnOnce(&mut Clock) -> A) -> A {
    act(&mut CLOCK.lock().unwrap_or_else(PoisonError::into_inner))
}

fn signal(groups: &[Pid], signal: Signal) {
    for group in groups {
        // A group that has just ended cannot be stopped, and need not be.
        let _ = kill_process_group(*group, signal);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        os::unix::process::{CommandExt, ExitStatusExt},
        process::{Child, Command, Stdio},
    };

    use rustix::process::{Pid, Signal, kill_process};

    use super::{LINES, Watchdog};

    fn sleeper() -> (Child, Pid) {
        let child = Command::new("sleep").arg("1000").process_group(0).spawn().unwrap();
        let group = Pid::from_raw(child.id().cast_signed()).unwrap();
        (child, group)
    }

    fn prepared() -> Watchdog {
        let mut watchdog = Watchdog::new();
        watchdog.prepare();
        watchdog
    }

    /// Ends the pipe as the death of the program does, and waits until the watcher has done its work.
    fn abandon(watchdog: Watchdog) {
        let mut watcher = watchdog.watcher.unwrap();
        drop(watcher._pipe);
        watcher.shell.wait().unwrap();
    }

    fn shell_of(watchdog: &Watchdog) -> Pid {
        Pid::from_raw(watchdog.watcher.as_ref().unwrap().shell.id().cast_signed()).unwrap()
    }

    #[test]
    fn watcher_kills_live_groups_and_spares_those_that_are_over() {
        let mut watchdog = prepared();
        let (mut live, group) = sleeper();
        let echo = Command::new("cat").process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut over = echo.unwrap();
        let other = Pid::from_raw(over.id().cast_signed()).unwrap();
        watchdog.begun(other);
        watchdog.begun(group);
        watchdog.over(other);
        abandon(watchdog);
        assert_eq!(live.wait().unwrap().signal(), Some(9));
        // A process that was killed may still be about to end, but it does not answer.
        over.stdin.take().unwrap().write_all(b"alive").unwrap();
        let mut answer = String::new();
        over.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "alive");
        over.wait().unwrap();
    }

    #[test]
    fn lines_of_groups_that_are_over_are_used_again() {
        let mut watchdog = prepared();
        let strangers: Vec<Pid> = (0..5).map(|number| Pid::from_raw(i32::MAX - number).unwrap()).collect();
        strangers.iter().for_each(|group| watchdog.begun(*group));
        strangers.iter().for_each(|group| watchdog.over(*group));
        let (mut child, group) = sleeper();
        watchdog.begun(group);
        assert_eq!(watchdog.lines.len(), strangers.len());
        abandon(watchdog);
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn more_groups_than_the_file_has_lines_at_first_are_killed() {
        let mut watchdog = prepared();
        let unrelated = Pid::from_raw(i32::MAX).unwrap();
        (0..=LINES).for_each(|_| watchdog.begun(unrelated));
        let (mut child, group) = sleeper();
        watchdog.begun(group);
        abandon(watchdog);
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn stopped_watcher_does_its_work_when_it_continues() {
        let mut watchdog = prepared();
        kill_process(shell_of(&watchdog), Signal::STOP).unwrap();
        let (mut child, group) = sleeper();
        watchdog.begun(group);
        watchdog.prepare();
        // The kernel continues it, too: the death of the program leaves its group without a parent.
        kill_process(shell_of(&watchdog), Signal::CONT).unwrap();
        abandon(watchdog);
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn killed_watcher_is_replaced_by_one_that_knows_what_began_before() {
        let mut watchdog = prepared();
        let (mut child, group) = sleeper();
        watchdog.begun(group);
        let watcher = watchdog.watcher.as_mut().unwrap();
        watcher.shell.kill().unwrap();
        watcher.shell.wait().unwrap();
        watchdog.prepare();
        let (mut other, second) = sleeper();
        watchdog.begun(second);
        abandon(watchdog);
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        assert_eq!(other.wait().unwrap().signal(), Some(9));
    }
}
