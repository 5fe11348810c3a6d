//! Ends the processes of a run when the program itself is killed.
//!
//! A shell in its own group reads the ids of the running groups from a pipe. The pipe ends with the program, however
//! that ends, and the shell then kills every group that was not reported as over. (The kernel could send a signal at
//! the death of a parent, but of the parent's *thread*, to one process only instead of its group, and on Linux alone.)
//!
//! The watcher can die or be stopped like any process. It never blocks the run: the pipe does not block, and a watcher
//! that does not read is replaced.

use std::{
    collections::BTreeSet,
    io::Write,
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
};

use rustix::process::Pid;

const SCRIPT: &str = "trap '' HUP INT QUIT TERM
live=
while read -r change group; do
  rest=
  for known in $live; do [ \"$known\" = \"$group\" ] || rest=\"$rest $known\"; done
  live=$rest
  [ \"$change\" = - ] || live=\"$live $group\"
done
for group in $live; do kill -s KILL -- \"-$group\"; done";

/// One for the whole program, started with its first command.
static KEEPER: Mutex<Keeper> = Mutex::new(Keeper::new());

/// Makes sure that a watcher runs before a command begins.
pub(super) fn prepare() {
    with(|keeper| keeper.tell(""));
}

/// Reports that a group begins.
pub(super) fn begun(group: Pid) {
    with(|keeper| keeper.begun(group));
}

/// Reports that a group is over, so its id may be reused.
pub(super) fn over(group: Pid) {
    with(|keeper| keeper.over(group));
}

/// Returns the running groups.
pub(super) fn live() -> Vec<Pid> {
    with(|keeper| keeper.live.iter().filter_map(|group| Pid::from_raw(*group)).collect())
}

fn with<A>(act: impl FnOnce(&mut Keeper) -> A) -> A {
    act(&mut KEEPER.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The running groups, and the process that watches over them.
#[derive(Debug)]
struct Keeper {
    live: BTreeSet<i32>,
    watcher: Option<Child>,
}

impl Keeper {
    const fn new() -> Keeper {
        Keeper { live: BTreeSet::new(), watcher: None }
    }

    fn begun(&mut self, group: Pid) {
        self.live.insert(group.as_raw_nonzero().get());
        self.tell(&line('+', group.as_raw_nonzero().get()));
    }

    fn over(&mut self, group: Pid) {
        self.live.remove(&group.as_raw_nonzero().get());
        self.tell(&line('-', group.as_raw_nonzero().get()));
    }

    /// Sends a change to the watcher. If it is gone, or does not read, a successor is started and receives everything.
    fn tell(&mut self, change: &str) {
        if self.watcher.as_mut().is_some_and(|watcher| send(watcher, change)) {
            return;
        }
        let all: String = self.live.iter().map(|group| line('+', *group)).collect();
        let successor = spawn().and_then(|mut watcher| send(&mut watcher, &all).then_some(watcher));
        // Not before the successor is watching.
        if let Some(watcher) = std::mem::replace(&mut self.watcher, successor) {
            dismiss(watcher);
        }
    }
}

fn line(change: char, group: i32) -> String {
    format!("{change} {group}\n")
}

/// Returns whether the watcher's pipe accepted all of a text.
fn send(watcher: &mut Child, text: &str) -> bool {
    watcher.stdin.as_mut().is_some_and(|input| input.write_all(text.as_bytes()).is_ok())
}

/// Ends a watcher before its pipe ends, so it does not kill the groups it knows.
fn dismiss(mut watcher: Child) {
    let _ = watcher.kill();
    // It is reaped on another thread: a process that is stuck in the kernel must not block the run.
    let _ = std::thread::Builder::new().stack_size(64 * 1024).spawn(move || watcher.wait());
}

/// Starts a watcher. Without one everything works, except for cleaning up after the death of the program.
fn spawn() -> Option<Child> {
    let watcher = Command::new("sh")
        .args(["-c", SCRIPT])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .and_then(|watcher| {
            watcher.stdin.as_ref().map_or(Ok(()), |input| rustix::io::ioctl_fionbio(input, true))?;
            Ok(watcher)
        });
    watcher.inspect_err(|error| tracing::warn!(%error, "commands are not stopped if this program is killed")).ok()
}

#[cfg(test)]
mod tests {
    use std::{
        os::unix::process::{CommandExt, ExitStatusExt},
        process::{Child, Command},
    };

    use rustix::process::{Pid, Signal, kill_process};

    use super::Keeper;

    fn sleeper() -> (Child, Pid) {
        let child = Command::new("sleep").arg("1000").process_group(0).spawn().unwrap();
        let group = Pid::from_raw(child.id().cast_signed()).unwrap();
        (child, group)
    }

    /// Ends the pipe as the death of the program does, and waits until the watcher has done its work.
    fn abandon(mut keeper: Keeper) {
        let mut watcher = keeper.watcher.take().unwrap();
        drop(watcher.stdin.take());
        watcher.wait().unwrap();
    }

    #[test]
    fn watcher_kills_live_groups_and_spares_those_that_are_over() {
        let mut keeper = Keeper::new();
        let ((mut live, group), (mut over, other)) = (sleeper(), sleeper());
        keeper.begun(group);
        keeper.begun(other);
        keeper.over(other);
        abandon(keeper);
        assert_eq!(live.wait().unwrap().signal(), Some(9));
        assert_eq!(over.try_wait().unwrap(), None);
        over.kill().unwrap();
        over.wait().unwrap();
    }

    #[test]
    fn stopped_watcher_is_replaced_and_delays_nothing() {
        let mut keeper = Keeper::new();
        let (mut child, group) = sleeper();
        keeper.begun(group);
        let first = keeper.watcher.as_ref().unwrap().id();
        kill_process(Pid::from_raw(first.cast_signed()).unwrap(), Signal::STOP).unwrap();
        // More than a pipe can hold.
        let stranger = Pid::from_raw(i32::MAX).unwrap();
        for _ in 0..20_000 {
            keeper.begun(stranger);
            keeper.over(stranger);
            if keeper.watcher.as_ref().unwrap().id() != first {
                break;
            }
        }
        assert_ne!(keeper.watcher.as_ref().unwrap().id(), first);
        assert_eq!(child.try_wait().unwrap(), None, "the first watcher killed what it knew");
        // The successor knows the groups that began before it.
        abandon(keeper);
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn killed_watcher_is_replaced() {
        let mut keeper = Keeper::new();
        let (mut child, group) = sleeper();
        keeper.begun(group);
        let watcher = keeper.watcher.as_mut().unwrap();
        watcher.kill().unwrap();
        watcher.wait().unwrap();
        let (mut other, second) = sleeper();
        keeper.begun(second);
        abandon(keeper);
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        assert_eq!(other.wait().unwrap().signal(), Some(9));
    }
}
