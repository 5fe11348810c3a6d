//! What tests see of a conversation with a model, as KindLM puts it together.

use crate::evidence::{Ended, MaskingLoss, Output, Reply, Turn};

/// Returns the output of a whole conversation: the text of the last reply, and the calls of all.
pub(super) fn output(turns: &[Turn], ended: Option<Ended>) -> Output {
    let replies: Vec<Reply> = turns.iter().map(reply).collect();
    let last = replies.last().map(|reply| &reply.output);
    let mut text = last.map(|output| output.text.clone()).unwrap_or_default();
    if ended == Some(Ended::TurnLimit) {
        let separator = if text.is_empty() { "" } else { "\n" };
        text.push_str(&format!("{separator}[Note: Conversation truncated after {} turns]", turns.len()));
    }
    Output {
        text,
        json: None,
        tool_calls: turns.iter().flat_map(|turn| turn.calls.iter().cloned()).collect(),
        calls_gap: turns.iter().find_map(|turn| turn.calls_gap),
        cut: turns.iter().any(|turn| turn.text.cut),
        concealed: last.map_or(MaskingLoss::Nothing, |output| output.concealed),
        replies,
    }
}

fn reply(turn: &Turn) -> Reply {
    let output = Output {
        text: turn.text.hidden_text().into_owned(),
        tool_calls: turn.calls.clone(),
        calls_gap: turn.calls_gap,
        cut: turn.text.cut,
        concealed: turn.text.concealed,
        ..Output::default()
    };
    Reply { is_to_follow_up: turn.user.is_some(), output, usage: turn.usage, duration_ms: turn.duration_ms }
}
