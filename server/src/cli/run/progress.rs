//! The progress bar, on standard error and on terminals only.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use speclens_runner::{event::Event, report::plain};
use speclens_schema::{mask::Secrets, suite::Suite, verdict::Status};
use tokio::sync::mpsc;

use crate::cli::output;

/// Follows a run until it ends.
pub(super) async fn show(
    mut events: mpsc::UnboundedReceiver<Event>,
    suite: Arc<Suite>,
    secrets: Arc<Secrets>,
    quiet: bool,
) {
    let bar = ProgressBar::with_draw_target(Some(0), target(quiet));
    if let Ok(style) = ProgressStyle::with_template("{bar:24.cyan} {pos}/{len} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    let mut failed = 0;
    let mut running: BTreeMap<usize, usize> = BTreeMap::new();
    let mut turns: BTreeMap<usize, (u32, u32)> = BTreeMap::new();
    while let Some(event) = events.recv().await {
        match event {
            Event::Started { attempts } => bar.set_length(attempts as u64),
            Event::AttemptStarted { case, .. } => *running.entry(case).or_default() += 1,
            Event::TurnStarted { case, turn, turns: most, .. } => drop(turns.insert(case, (turn, most))),
            Event::AttemptFinished { case, run } => {
                turns.remove(&case);
                if let Some(count) = running.get_mut(&case) {
                    *count -= 1;
                }
                running.retain(|_, count| *count > 0);
                failed += usize::from(matches!(run.status, Status::Fail | Status::Error));
                bar.inc(1);
            }
            Event::Note { message } => bar.suspend(|| output::remark(&secrets.mask(&message))),
            Event::Finished(_) => break,
        }
        let names: Vec<String> = running
            .keys()
            .map(|case| match turns.get(case) {
                Some((turn, most)) => format!("{} (turn {turn} of {most})", suite.cases[*case].name),
                None => suite.cases[*case].name.clone(),
            })
            .collect();
        bar.set_message(message(failed, &names, &secrets));
    }
    bar.finish_and_clear();
}

/// How many attempts failed, and the tests that run now.
fn message(failed: usize, running: &[String], secrets: &Secrets) -> String {
    let failures = if failed > 0 { format!("{failed} failed  ") } else { String::new() };
    format!("{failures}{}", plain::line(&secrets.mask(&running.join(", "))))
}

fn target(quiet: bool) -> ProgressDrawTarget {
    if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(10) }
}

#[cfg(test)]
mod tests {
    use speclens_schema::mask::Secrets;

    use super::message;

    #[test]
    fn secret_in_the_name_of_a_running_test_is_masked() {
        let secrets = Secrets::new([("API_KEY", "abcd1234")], &[], &[]);
        assert_eq!(message(0, &["first".to_owned(), "case abcd1234".to_owned()], &secrets), "first, case ********");
        assert_eq!(message(2, &["a\nb".to_owned()], &Secrets::none()), "2 failed  a⏎b");
    }
}
