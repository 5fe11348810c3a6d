//! What a target answers: the response of a gateway, and the output of the program that runs an agent.

use std::path::Path;

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

/// Returns the id of the agent that works in a directory, from the list that `openclaw agents list --json` prints.
/// `None` if there is no such agent, or several.
pub fn agent_of_workspace(list: &Value, directory: &Path) -> Option<String> {
    let agents = list.as_array().or_else(|| list.get("agents")?.as_array())?;
    let works_there = |agent: &&Value| agent["workspace"].as_str().is_some_and(|it| Path::new(it) == directory);
    let mut found = agents.iter().filter(works_there).filter_map(|agent| agent["id"].as_str());
    let only = found.next()?;
    found.next().is_none().then(|| only.to_owned())
}

/// Returns the id of an agent from its trigger: the part after `agentId:`, or else the whole text.
pub fn agent_id(trigger: &str) -> &str {
    let Some((_, behind)) = trigger.split_once("agentId:") else { return trigger.trim() };
    let behind = behind.trim_start().trim_start_matches(['"', '\'']);
    let id = behind.split([',', '"', '\'', ')', '}']).next().unwrap_or_default().trim();
    if id.is_empty() { trigger.trim() } else { id }
}

/// Returns the id of an agent's run from the output of `openclaw agent --json`: JSON, possibly within other text. If
/// only the session is named, as in older versions, returns its id. The error says why the output is not valid.
pub fn run_of(output: &str) -> Result<Option<String>, String> {
    let answer = answer_in(output).ok_or("it printed no JSON object")?;
    // The log identifies the run by this id. A session may have other runs too.
    let places = [
        "/meta/agentMeta/terminalReceipt/runId",
        "/result/meta/agentMeta/terminalReceipt/runId",
        "/runId",
        "/meta/agentMeta/sessionId",
        "/result/meta/agentMeta/sessionId",
    ];
    let run = places.iter().find_map(|at| answer.pointer(at)?.as_str()).filter(|id| !id.is_empty());
    Ok(run.map(str::to_owned))
}

/// Returns the text that a target answered with, from the output of `openclaw agent --json` or the response of a
/// gateway. `None` if it answered without text.
pub fn last_reply(output: &str) -> Option<String> {
    let answer = answer_in(output)?;
    let payloads = ["/payloads", "/result/payloads"].iter().find_map(|at| answer.pointer(at)?.as_array());
    let texts = payloads.into_iter().flatten().filter_map(|payload| payload["text"].as_str());
    let parts: Vec<&str> = texts.chain(answer.pointer("/result/text").and_then(Value::as_str)).collect();
    Some(parts.join("\n").trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns the JSON object in an output, possibly within other text.
fn answer_in(output: &str) -> Option<Value> {
    let within = || output.get(output.find('{')?..=output.rfind('}')?);
    let parsed: Option<Value> = serde_json::from_str(output).ok().or_else(|| serde_json::from_str(within()?).ok());
    parsed.filter(Value::is_object)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use crate::gateway::trigger::*;

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

    #[test]
    fn agent_is_the_only_one_that_works_in_the_directory() {
        let list = json!([{ "id": "a", "workspace": "/ws/agents/a" }, { "id": "b", "workspace": "/ws/agents/b" }]);
        assert_eq!(agent_of_workspace(&list, Path::new("/ws/agents/b")), Some("b".to_owned()));
        assert_eq!(agent_of_workspace(&list, Path::new("/ws/agents/c")), None);
        let twins = json!([{ "id": "a", "workspace": "/ws/a" }, { "id": "b", "workspace": "/ws/a" }]);
        assert_eq!(agent_of_workspace(&twins, Path::new("/ws/a")), None);
        assert_eq!(agent_of_workspace(&json!({ "error": "no" }), Path::new("/ws/a")), None);
    }

    #[test]
    fn id_of_an_agent_is_taken_from_its_trigger() {
        for (trigger, id) in [
            ("agents-copy", "agents-copy"),
            ("sessions_spawn(agentId: \"agents-copy\", task: x)", "agents-copy"),
            ("sessions_spawn agentId: agents-copy)", "agents-copy"),
            ("agentId:'a b'", "a b"),
            ("agentId: ", "agentId:"),
        ] {
            assert_eq!(agent_id(trigger), id, "{trigger}");
        }
    }

    #[test]
    fn last_reply_is_the_text_of_all_payloads() {
        for (output, expected) in [
            (r#"{"payloads": [{"text": "one"}, {"mediaUrl": "x"}, {"text": "two "}]}"#, Some("one\ntwo")),
            ("plugins: 3\n{\"runId\": \"r\", \"result\": {\"payloads\": [{\"text\": \"done\"}]}}", Some("done")),
            (r#"{"runId": "r", "status": "ok", "result": {"text": "done"}}"#, Some("done")),
            (r#"{"runId": "r", "status": "accepted"}"#, None),
            ("no JSON", None),
        ] {
            assert_eq!(last_reply(output).as_deref(), expected, "{output}");
        }
    }

    #[test]
    fn run_is_found_in_json_with_text_around_it() {
        let printed = r#"{"payloads": [], "meta": {"agentMeta": {"sessionId": "s1"}}}"#;
        assert_eq!(run_of(printed), Ok(Some("s1".to_owned())));
        assert_eq!(run_of(&format!("loading plugins\n{printed}\nbye")), Ok(Some("s1".to_owned())));
        let receipt = r#"{"meta": {"agentMeta": {"sessionId": "s1", "terminalReceipt": {"runId": "r1"}}}}"#;
        assert_eq!(run_of(receipt), Ok(Some("r1".to_owned())));
        assert_eq!(
            run_of(r#"{"runId": "r2", "result": {"meta": {"agentMeta": {"sessionId": "s1"}}}}"#),
            Ok(Some("r2".to_owned()))
        );
        assert_eq!(run_of("{}"), Ok(None));
        assert!(run_of("no JSON } {").is_err());
        assert!(run_of("").is_err());
    }
}
