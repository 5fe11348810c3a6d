//! The commands before and after the agent: `setup` and `teardown`.

use std::time::Duration;

use speclens_schema::evidence::{Exit, RunError, RunErrorKind};
use tokio_util::sync::CancellationToken;

use super::shell::{Deadline, Shell};
use crate::exec::process::{Finished, end_of};

/// Maximum duration of one command of `setup`.
const SETUP_TIMEOUT: Duration = Duration::from_secs(600);

/// Maximum duration of one command of `teardown`.
const TEARDOWN_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum duration of `teardown` as a whole after the run was cancelled, also while it is running.
const CANCELLED_TEARDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Maximum number of bytes kept of each stream of such a command: only its end is reported.
const MAX_OUTPUT_BYTES: usize = 1024 * 1024;

/// Runs the commands of `setup` one after the other. The first one that fails is the error.
pub(super) async fn setup<'c>(
    commands: impl Iterator<Item = &'c String>,
    shell: &Shell,
    deadline: Deadline,
) -> Result<(), RunError> {
    for command in commands {
        let finished = shell.run(command, deadline.left(SETUP_TIMEOUT), MAX_OUTPUT_BYTES).await;
        if deadline.is_over() {
            return Err(deadline.error());
        }
        if let Some(RunError { kind: RunErrorKind::Cancelled, message }) = finished.error {
            return Err(RunError { kind: RunErrorKind::Cancelled, message });
        }
        if let Some(what) = failure(&finished) {
            let message = format!("the `setup` command `{command}` {what}{}", end_of(&finished.ran));
            return Err(RunError { kind: RunErrorKind::Setup, message });
        }
    }
    Ok(())
}

/// Runs all commands of `teardown`, also after a cancelled run. Returns error messages.
pub(super) async fn teardown(commands: &[String], shell: &Shell) -> Vec<String> {
    // The cancellation of the run ends these commands a moment later.
    let end = CancellationToken::new();
    let ending = async {
        shell.cancel.cancelled().await;
        tokio::time::sleep(CANCELLED_TEARDOWN_TIMEOUT).await;
        end.cancel();
        std::future::pending().await
    };
    let running = async {
        let mut notes = Vec::new();
        for command in commands {
            let finished = shell.run_until(command, TEARDOWN_TIMEOUT, MAX_OUTPUT_BYTES, &end).await;
            if let Some(what) = failure(&finished) {
                notes.push(format!("the `teardown` command `{command}` {what}{}", end_of(&finished.ran)));
            }
        }
        notes
    };
    tokio::select! {
        notes = running => notes,
        notes = ending => notes,
    }
}

/// Returns the reason why a command failed, if it did.
fn failure(finished: &Finished) -> Option<String> {
    match (&finished.error, finished.ran.exit) {
        (Some(error), _) => Some(format!("failed: {}", error.message)),
        (None, Some(Exit { code: Some(0), .. })) => None,
        (None, Some(exit)) => Some(exit.sentence()),
        (None, None) => Some("ended with an unknown status".to_owned()),
    }
}
