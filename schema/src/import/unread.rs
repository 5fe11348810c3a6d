//! What a reader does not read: it is counted and named, and what did not happen is unknown because of it, unless its
//! type is known to say nothing of a reply or a call.

use std::collections::BTreeMap;

use crate::{evidence::is_thought, words::plural};

/// The types of parts that can be left out, by the kind of the part. An empty list is every type.
const HARMLESS: [(&str, &[&str]); 15] = [
    // What the program tells the model in the name of the user, and lines that are there twice.
    ("added line", &[]),
    ("added text", &[]),
    ("repeated line", &[]),
    // Another agent did this, so its calls are known to be missing.
    ("sidechain line", &[]),
    // What the user or a tool showed the model.
    ("input part", &["image", "input_image", "document", "audio", "input_audio", "video", "file", "input_file"]),
    ("result part", &["image", "input_image", "document", "audio", "video", "tool_reference"]),
    // Claude Code: names of the session and copies of its files.
    ("line", &["summary", "ai-title", "custom-title", "agent-name", "tag", "last-prompt", "pr-link"]),
    ("line", &["file-history-snapshot", "file-history-delta", "worktree-state"]),
    // Claude Code: its settings and limits, texts that wait to be sent, what it showed the model, and pieces of messages
    // that follow whole.
    ("line", &["permission-mode", "mode", "rate_limit_event", "queue-operation", "attachment", "stream_event"]),
    // Claude Code: what happened around the replies. A request that is repeated got no reply.
    (
        "line",
        &[
            "system/init",
            "system/status",
            "system/compact_boundary",
            "system/microcompact_boundary",
            "system/turn_duration",
            "system/stop_hook_summary",
            "system/away_summary",
            "system/informational",
            "system/local_command",
            "system/local_command_output",
            "system/api_error",
            "system/api_retry",
            "system/hook_started",
            "system/hook_progress",
            "system/hook_response",
            "progress/hook_progress",
            "progress/bash_progress",
            "progress/mcp_progress",
            "progress/query_update",
            "progress/search_results_received",
            "progress/waiting_for_task",
        ],
    ),
    // Codex: a summary in place of earlier items, which remain in the file, and the state of the oldest versions.
    ("line", &["compacted", "state"]),
    // Codex: thoughts, copies of files and summaries.
    ("item", &["reasoning", "ghost_snapshot", "compaction", "compaction_summary", "context_compaction"]),
    // Codex: its state, news for the user, and pieces of messages that follow whole.
    (
        "event",
        &[
            "session_configured",
            "thread_name_updated",
            "context_compacted",
            "plan_update",
            "turn_diff",
            "background_event",
            "stream_error",
            "warning",
            "deprecation_notice",
            "mcp_startup_update",
            "mcp_startup_complete",
            "shutdown_complete",
            "agent_message_delta",
            "agent_message_content_delta",
            "agent_reasoning_delta",
            "agent_reasoning_section_break",
            "reasoning_content_delta",
        ],
    ),
    // Inspect: the state of the sample, its scores and messages of the program. What the tools do in a sandbox belongs to
    // their calls; those of graders, and requests without an answer, are none of the agent's.
    (
        "event",
        &[
            "sample_init", "sample_limit", "state", "store", "step", "subtask", "span_begin", "span_end", "info",
            "logger", "score", "score_edit", "input", "approval", "sandbox", "error", "compaction", "grader",
            "failed request",
        ],
    ),
    ("sample part", &["scores", "store"]),
];

#[derive(Clone, Debug, Default)]
pub struct Unread {
    parts: BTreeMap<(&'static str, String), usize>,
    may_change_result: bool,
}

impl Unread {
    /// Counts a part of a kind, such as a `line`, with a type.
    pub(super) fn count(&mut self, kind: &'static str, name: &str) {
        *self.parts.entry((kind, name.to_owned())).or_default() += 1;
        self.may_change_result |= !is_harmless(kind, name);
    }

    /// Notes that something else in the file was not read.
    pub(super) fn taint(&mut self) {
        self.may_change_result = true;
    }

    pub(super) fn add(&mut self, other: &Unread) {
        for (part, count) in &other.parts {
            *self.parts.entry(part.clone()).or_default() += count;
        }
        self.may_change_result |= other.may_change_result;
    }

    /// Whether a reply or a call may be among the parts.
    pub fn may_change_result(&self) -> bool {
        self.may_change_result
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let note = |((kind, name), count): (&(&'static str, String), &usize)| {
            let verb = if *count == 1 { "is" } else { "are" };
            let of_type = if name.is_empty() { String::new() } else { format!(" of type `{name}`") };
            let so = if is_harmless(kind, name) { "" } else { ", so it is unknown what did not happen" };
            format!("{}{of_type} {verb} not read{so}", plural(*count, kind))
        };
        self.parts.iter().map(note).collect()
    }
}

fn is_harmless(kind: &str, name: &str) -> bool {
    let is_of = |(known, types): &(&str, &[&str])| *known == kind && (types.is_empty() || types.contains(&name));
    HARMLESS.iter().any(is_of) || kind == "part" && is_thought(name)
}
