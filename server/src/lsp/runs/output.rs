//! What a client with a view of tests shows of a run in its terminal: what happens, when it happens, and at the end of
//! each attempt its transcript.

use std::time::Duration;

use speclens_runner::{event::Event, report::plain};

use super::plan::Plan;
use crate::ide::transcript;

/// Maximum number of bytes of one transcript: the page of the test has the rest.
const MAX_BYTES: usize = 16 * 1024;

/// Returns the lines about an event; `None` if there is nothing to show.
pub(in super::super) fn output(plan: &Plan, event: &Event, elapsed: Duration) -> Option<String> {
    let text = match event {
        Event::AttemptStarted { case, subject, repeat } => {
            let attempt = if *repeat > 0 { format!(", attempt {}", repeat + 1) } else { String::new() };
            let by = subject.model_id().map(|model| format!(" by {model}")).unwrap_or_default();
            format!("{} started{attempt}{by}", plan.shown_name(*case))
        }
        Event::TurnStarted { case, turn, turns, .. } => {
            format!("{}: turn {turn} of {turns}", plan.shown_name(*case))
        }
        Event::Waiting { case } => format!("{} is waiting for another run", plan.shown_name(*case)),
        Event::AttemptFinished { run, .. } if run.is_left_out() => return None,
        Event::AttemptFinished { case, run } => {
            let name = plan.shown_name(*case);
            format!("{name} ended\n{}", clipped(&transcript::of_attempt(&name, run)))
        }
        Event::Note { message } => plan.prepared.secrets().mask(message),
        Event::Started { .. } | Event::Finished(_) => return None,
    };
    let seconds = elapsed.as_secs();
    Some(format!("{}:{:02} {}\n", seconds / 60, seconds % 60, plain::block(&text)))
}

fn clipped(text: &str) -> String {
    let end = (0..=MAX_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    match text.len() - end {
        0 => text.to_owned(),
        _ => format!("{}\n… the transcript of the test has the rest", &text[..end]),
    }
}
