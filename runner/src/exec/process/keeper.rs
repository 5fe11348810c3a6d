//! Ends what is left of a run when the program itself is killed and can do nothing any more.
//!
//! A shell waits in a group of its own and reads the numbers of the groups under way from a pipe. The pipe
//! ends with the program, however that ends, and the shell then kills what was not reported as over. (The
//! kernel could send a signal at the death of a parent, but of the parent's *thread*, to one process only
//! instead of its group, and on Linux alone.)

use std::{
    io::Write,
    os::unix::process::CommandExt,
    process::{ChildStdin, Command, Stdio},
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

/// One for the whole program, from its first command on.
static KEEPER: Mutex<Option<ChildStdin>> = Mutex::new(None);

/// Makes sure that somebody watches before a command begins: from its beginning on there is little time to lose.
pub(super) fn prepare() {
    let mut keeper = KEEPER.lock().unwrap_or_else(PoisonError::into_inner);
    if keeper.is_none() {
        *keeper = spawn();
    }
}

/// A group begins.
pub(super) fn begun(group: Pid) {
    let mut keeper = KEEPER.lock().unwrap_or_else(PoisonError::into_inner);
    // One that was killed has a successor.
    for _ in 0..2 {
        if keeper.is_none() {
            *keeper = spawn();
        }
        if tell(&mut keeper, '+', group) {
            return;
        }
    }
}

/// A group is over, and its number may be given to strangers.
pub(super) fn over(group: Pid) {
    tell(&mut KEEPER.lock().unwrap_or_else(PoisonError::into_inner), '-', group);
}

fn tell(keeper: &mut Option<ChildStdin>, change: char, group: Pid) -> bool {
    let Some(input) = keeper else { return false };
    let told = input.write_all(format!("{change} {}\n", group.as_raw_nonzero()).as_bytes()).is_ok();
    if !told {
        *keeper = None;
    }
    told
}

/// Without it everything works, but for the death of the program.
fn spawn() -> Option<ChildStdin> {
    let child = Command::new("sh")
        .args(["-c", SCRIPT])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
    match child {
        // It is not waited for: it ends after this program.
        Ok(child) => child.stdin,
        Err(error) => {
            tracing::warn!(%error, "nothing watches over the commands, should this program be killed");
            None
        }
    }
}
