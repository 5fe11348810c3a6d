//! The end of a model's reply, in the words of each protocol: whether something would have followed.

use serde_json::Value;

use super::Capture;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfinished {
    CutOff,
    Refused(String),
    /// It has an end that its provider does not usually give.
    Other(String),
    /// It has a part that is neither text nor a call.
    Unread,
}

impl Unfinished {
    pub fn sentence(&self) -> String {
        match self {
            Unfinished::CutOff => "the model's reply was cut off at the token limit".to_owned(),
            Unfinished::Other(reason) => format!("the provider ended the model's reply with `{reason}`"),
            Unfinished::Unread => "the model's reply has a part that is neither text nor a call".to_owned(),
            Unfinished::Refused(reason) => format!("the model or its provider refused to answer (`{reason}`)"),
        }
    }
}

/// The words of a protocol for the ends of its answers, in lower case.
pub struct Ends {
    pub complete: &'static [&'static str],
    pub cut_off: &'static [&'static str],
    pub refused: &'static [&'static str],
}

impl Ends {
    pub const ANTHROPIC: Ends = Ends {
        complete: &["end_turn", "stop_sequence", "tool_use"],
        cut_off: &["max_tokens", "model_context_window_exceeded"],
        refused: &["refusal"],
    };

    pub const COHERE: Ends = Ends {
        complete: &["complete", "stop_sequence", "tool_call"],
        cut_off: &["max_tokens"],
        refused: &["error_toxic"],
    };

    pub const GEMINI: Ends = Ends {
        complete: &["stop"],
        cut_off: &["max_tokens"],
        refused: &[
            "safety", "recitation", "blocklist", "prohibited_content", "spii", "language", "malformed_function_call",
        ],
    };

    /// Model Context Protocol's sampling.
    pub const MCP: Ends =
        Ends { complete: &["endturn", "stopsequence", "tooluse"], cut_off: &["maxtokens"], refused: &[] };

    pub const OLLAMA: Ends = Ends { complete: &["stop"], cut_off: &["length"], refused: &[] };

    /// Chat completions, which most providers and logs speak.
    pub const OPEN_AI: Ends = Ends {
        complete: &[
            "stop", "tool_calls", "function_call", "tool_use", "end_turn", "stop_sequence", "eos", "eos_token",
            "complete",
        ],
        cut_off: &["length", "max_tokens", "model_length"],
        refused: &["content_filter", "safety"],
    };

    /// Vercel's AI SDK, whose words are those of no provider.
    const AI_SDK: Ends = Ends { complete: &["tool-calls"], cut_off: &[], refused: &["content-filter"] };

    /// Returns the reason why an answer with this end is incomplete. One without an end is complete.
    pub fn unfinished(&self, end: Option<&Value>) -> Option<Unfinished> {
        let end = match end? {
            Value::Null => return None,
            Value::String(end) if end.is_empty() => return None,
            Value::String(end) => end.clone(),
            other => other.to_string(),
        };
        let word = end.to_lowercase();
        let is_one = |of: &[&str]| of.contains(&word.as_str());
        if is_one(self.complete) {
            None
        } else if is_one(self.cut_off) {
            Some(Unfinished::CutOff)
        } else if is_one(self.refused) {
            Some(Unfinished::Refused(end))
        } else {
            Some(Unfinished::Other(end))
        }
    }

    /// Whether an answer with this end has calls.
    pub fn asks_for_tools(end: &Value) -> bool {
        let word = end.as_str().unwrap_or_default().to_lowercase();
        matches!(word.as_str(), "tool_calls" | "tool_call" | "tool_use" | "tool-calls" | "tooluse" | "function_call")
    }

    /// Returns the same in a record that does not say which protocol its words are of: what one of them calls complete
    /// is.
    pub fn unfinished_in_any(end: Option<&Value>) -> Option<Unfinished> {
        let all = [Ends::OPEN_AI, Ends::ANTHROPIC, Ends::COHERE, Ends::GEMINI, Ends::MCP, Ends::OLLAMA, Ends::AI_SDK];
        let reasons: Option<Vec<Unfinished>> = all.iter().map(|ends| ends.unfinished(end)).collect();
        let known = |reason: &Unfinished| matches!(reason, Unfinished::CutOff | Unfinished::Refused(_));
        let mut reasons = reasons?;
        let at = reasons.iter().position(known).unwrap_or(0);
        Some(reasons.swap_remove(at))
    }
}

/// Whether a part of an answer is a thought, and no answer.
pub fn is_thought(kind: &str) -> bool {
    matches!(kind, "thinking" | "redacted_thinking" | "reasoning")
}

/// Returns the text of a reply. One that ended early lacks what would have followed.
pub fn reply_text(text: String, unfinished: Option<&Unfinished>) -> Capture {
    Capture { cut: unfinished.is_some(), ..Capture::whole(text) }
}
