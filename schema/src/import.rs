//! Recordings of other programs: their conversations with models, as evidence of tests and as new suites.
//!
//! ```text
//! text ── lines ── claude_code, codex, inspect, spans ──▶ Conversation ── evidence ──▶ Evidence
//!                                                                      ── Format::new_suite ──▶ a suite
//! ```
//!
//! A part that no reader knows is counted and named, and the rest is read. What did not happen is unknown then.

mod claude_code;
mod codex;
mod commands;
pub mod conversation;
pub mod evidence;
mod inspect;
mod lines;
mod spans;
pub mod unread;

use crate::words::plural;
use conversation::Imported;

/// Reads a text of any known source, which is recognized by its content. The error is a sentence.
pub fn read(text: &str) -> Result<Imported, String> {
    let lines = lines::read(text)?;
    let values = || lines.values.iter().map(|(_, value)| value);
    let mut imported = if values().any(spans::is_one) {
        spans::read(&lines)?
    } else if values().any(inspect::is_one) {
        inspect::read(&lines)
    } else if values().any(codex::is_one) {
        codex::read(&lines)
    } else if values().any(claude_code::is_one) {
        claude_code::read(&lines)
    } else {
        return Err(format!("it is not a known recording; expected {KNOWN}"));
    };
    if lines.has_damaged() {
        imported.unread.taint();
    }
    let mut all = imported.unread.clone();
    for conversation in &mut imported.conversations {
        all.add(&conversation.unread);
        conversation.is_complete &= lines.cut.is_none();
        if imported.unread.may_change_result() {
            conversation.unread.taint();
        }
    }
    imported.notes.extend(all.notes());
    imported.notes.extend(lines.notes());
    let count = imported.conversations.len();
    imported.conversations.retain(|conversation| !conversation.replies.is_empty());
    let silent = count - imported.conversations.len();
    if silent > 0 {
        let verb = if silent == 1 { "has" } else { "have" };
        imported.notes.push(format!("{} {verb} no reply of a model", plural(silent, "conversation")));
    }
    if imported.conversations.is_empty() {
        return Err(format!("it has no reply of a model ({})", imported.source.name()));
    }
    Ok(imported)
}

const KNOWN: &str = "spans (OTLP/JSON or Opik), a Claude Code transcript, a Codex rollout, or an Inspect log (JSON)";

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLES: [&str; 5] = [
        include_str!("../../tests/specs/import/claude-code.jsonl"),
        include_str!("../../tests/specs/import/codex.jsonl"),
        include_str!("../../tests/specs/import/inspect.json"),
        include_str!("../../tests/specs/import/openinference.jsonl"),
        include_str!("../../tests/specs/import/opik.json"),
    ];

    #[test]
    fn recording_that_is_cut_anywhere_is_read_or_refused() {
        for sample in SAMPLES {
            let whole = read(sample).unwrap();
            assert!(whole.conversations.iter().all(|conversation| conversation.is_complete));
            for end in (0..sample.len()).step_by(13).filter(|end| sample.is_char_boundary(*end)) {
                let Ok(part) = read(&sample[..end]) else { continue };
                assert!(part.conversations.iter().all(|conversation| !conversation.replies.is_empty()));
            }
        }
    }

    #[test]
    fn parts_of_unexpected_types_are_read_or_refused() {
        for sample in SAMPLES {
            for (part, other) in
                [("[", "[null,"), ("\":\"", "\":[1],\"x\":\""), ("\":{", "\":7,\"x\":{"), ("\"role\"", "\"rule\"")]
            {
                let damaged = sample.replace(part, other).replace(",]", "]");
                assert!(read(&damaged).is_ok_and(|it| !it.conversations.is_empty()) || read(&damaged).is_err());
            }
        }
    }
}
