//! Responses of a gateway to requests that start a target.

use serde_json::Value;

use crate::check::text::shortened;

/// Response of a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Id of the run, if the gateway reports it.
    pub run_id: Option<String>,
    /// Whether the run had ended when the gateway responded.
    pub is_final: bool,
    /// Reason that the gateway gives for a failed run.
    pub failure: Option<String>,
}

/// Status words of a run that has ended.
const OVER: [&str; 9] =
    ["ok", "completed", "complete", "succeeded", "success", "successful", "done", "finished", "ended"];

/// Status words of a run that failed.
const FAILED: [&str; 8] = ["error", "failed", "failure", "aborted", "cancelled", "canceled", "rejected", "denied"];

/// Maximum number of characters of the gateway's own text in a message.
const MAX_WORDS: usize = 200;

/// Parses a response: a JSON object, or an empty text. A response with only an id is an acknowledgement; one with a
/// final status, a result or an end time means that the run has ended. The error says why the response is not valid.
pub fn reply(text: &str) -> Result<Reply, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Reply { run_id: None, is_final: false, failure: None });
    }
    let value: Value = serde_json::from_str(text).map_err(|_| format!("it is not JSON: `{}`", start_of(text)))?;
    let Value::Object(members) = &value else {
        return Err(format!("it is not a JSON object: `{}`", start_of(text)));
    };
    let first = |names: &[&str]| names.iter().find_map(|name| members.get(*name).filter(|value| !value.is_null()));
    let run_id = ["runId", "run_id"].iter().find_map(|name| match members.get(*name)? {
        Value::String(id) if !id.is_empty() => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    });
    let status = first(&["status", "state"]).and_then(Value::as_str).map(str::to_lowercase);
    let is = |words: &[&str]| status.as_deref().is_some_and(|status| words.contains(&status));
    let ended = first(&["result", "endedAt", "ended_at", "completedAt", "completed_at", "finishedAt", "finished_at"]);
    let is_refused = members.get("ok") == Some(&Value::Bool(false));
    let failure = (is(&FAILED) || is_refused).then(|| {
        let word = status.clone().filter(|_| is(&FAILED)).unwrap_or_else(|| "not ok".to_owned());
        match first(&["error", "message", "reason", "summary"]) {
            Some(Value::String(why)) => format!("{word}: {}", start_of(why)),
            Some(why) => format!("{word}: {}", start_of(why["message"].as_str().unwrap_or(&why.to_string()))),
            None => word,
        }
    });
    Ok(Reply { run_id, is_final: failure.is_some() || is(&OVER) || ended.is_some(), failure })
}

fn start_of(text: &str) -> String {
    shortened(text.lines().next().unwrap_or_default().trim(), MAX_WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_that_names_the_run_acknowledges_and_one_with_a_final_status_or_a_result_ends_it() {
        for (text, run_id, is_final) in [
            ("", None, false),
            ("{}", None, false),
            (r#"{"status": "accepted", "runId": "a1"}"#, Some("a1"), false),
            (r#"{"ok": true, "run_id": 7}"#, Some("7"), false),
            (r#"{"runId": "", "run_id": "b", "status": "running", "result": null}"#, Some("b"), false),
            (r#"{"runId": "a", "status": "Completed"}"#, Some("a"), true),
            (r#"{"runId": "a", "result": {"text": "done"}}"#, Some("a"), true),
            (r#"{"runId": "a", "status": "ok", "endedAt": 1}"#, Some("a"), true),
        ] {
            let expected = Reply { run_id: run_id.map(str::to_owned), is_final, failure: None };
            assert_eq!(reply(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn failed_run_says_why() {
        for (text, why) in [
            (r#"{"runId": "a", "status": "failed", "error": "no model\nmore"}"#, "failed: no model"),
            (r#"{"status": "error", "error": {"message": "no key"}}"#, "error: no key"),
            (r#"{"ok": false, "error": "unknown skill"}"#, "not ok: unknown skill"),
            (r#"{"status": "aborted"}"#, "aborted"),
        ] {
            let reply = reply(text).expect("an answer");
            assert_eq!((reply.failure.as_deref(), reply.is_final), (Some(why), true), "{text}");
        }
    }

    #[test]
    fn answer_that_is_not_an_object_is_told_by_its_beginning() {
        assert_eq!(reply("<html>\nno"), Err("it is not JSON: `<html>`".to_owned()));
        assert_eq!(reply("[1]"), Err("it is not a JSON object: `[1]`".to_owned()));
    }
}
