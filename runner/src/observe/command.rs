//! The end of a shell command of a claim.

use std::time::Duration;

use speclens_schema::{
    dialect::cli_bench::template,
    evidence::{Answer, RunErrorKind},
};

use super::{Cancelled, View};
use crate::exec::process;

pub(super) async fn observe(run: &str, timeout_ms: u64, view: &View) -> Result<Answer, Cancelled> {
    let script = template::expand(run, &view.directory.to_string_lossy());
    let command = process::Command {
        program: process::Program::shell(&script),
        directory: &view.directory,
        environment: &view.environment,
        input: &[],
        timeout: Duration::from_millis(timeout_ms),
        output: process::Output::Kept(view.limit),
    };
    let finished = process::run(command, &view.background, &view.cancel).await;
    match finished.error {
        None => Ok(Answer::Command(finished.ran)),
        Some(error) if error.kind == RunErrorKind::Cancelled => Err(Cancelled),
        // The deadline is part of the format, and a shell reports an end by a signal as an exit code: both are answers.
        Some(error) if finished.ran.timed_out || error.kind == RunErrorKind::Killed => {
            Ok(Answer::Command(finished.ran))
        }
        Some(error) => Ok(Answer::Nothing(error.message)),
    }
}
