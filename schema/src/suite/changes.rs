//! What differs between two actions, in words.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::check::text::hexadecimal;

/// Parts of an action by JSON Pointer, each with the first digits of the digest of its value. Values themselves are
/// not stored, because some of them are secret.
pub type Parts = BTreeMap<String, String>;

const DIGEST_BYTES: usize = 4;

pub(super) fn parts(content: &impl Serialize) -> Parts {
    let mut found = Parts::new();
    collect(&serde_json::to_value(content).unwrap_or_default(), String::new(), &mut found);
    found
}

fn collect(value: &Value, at: String, found: &mut Parts) {
    let below = |name: &str| format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| collect(value, below(name), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| collect(value, below(&index.to_string()), found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let digest = Sha256::digest(value.to_string());
            found.insert(at, hexadecimal(&digest[..DIGEST_BYTES]));
        }
    }
}

/// Returns the distinct differences of two actions in words: "the command", "variable `name`", "file `path`".
pub fn changes(before: &Parts, now: &Parts) -> Vec<String> {
    let mut names = Vec::new();
    let pointers = before.keys().chain(now.keys().filter(|pointer| !before.contains_key(*pointer)));
    for pointer in pointers.filter(|pointer| before.get(*pointer) != now.get(*pointer)) {
        let steps: Vec<String> =
            pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let name = match steps.as_slice() {
            ["inputs", path] if path.ends_with('/') => format!("the content of `{path}`"),
            ["inputs", path] => format!("file `{path}`"),
            ["action", "command", "template"] => "the command".to_owned(),
            ["action", "prompt", "texts", "system"] => "the system prompt".to_owned(),
            ["action", "prompt", "texts", "user"] => "the prompt".to_owned(),
            ["action", "prompt", "texts", "assistant"] => "the beginning of the answer".to_owned(),
            ["action", "prompt", "texts", ..] => "the conversation".to_owned(),
            ["action", "prompt", "max_turns"] => "`maxTurns`".to_owned(),
            ["model", "asked", ..] => "the model".to_owned(),
            ["model", "script"] => "the script of the model".to_owned(),
            ["model", "sampling", ..] => "a parameter of the model".to_owned(),
            ["action", "command", "variables", name] => format!("variable `{name}`"),
            ["action", _, "env", name] | ["action", _, "surroundings", "env", name] => {
                format!("environment variable `{name}`")
            }
            ["action", _, "surroundings", field, ..] | ["action", _, field, ..] => format!("`{field}`"),
            ["subject", ..] => "who acts".to_owned(),
            ["dialect"] => "the format".to_owned(),
            _ => "what is done".to_owned(),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{changes, parts};

    #[test]
    fn changed_parts_are_named_once_and_without_their_values() {
        let before = json!({
            "dialect": "kindlm",
            "subject": {"kind": "command"},
            "action": {"command": {"template": "run {{key}}", "variables": {"key": "hunter22"}}},
            "inputs": {"bin/run.sh": "1"},
        });
        let mut now = before.clone();
        assert!(changes(&parts(&before), &parts(&now)).is_empty());
        now["action"]["command"]["variables"]["key"] = json!("hunter23");
        now["action"]["command"]["variables"]["new"] = json!("x");
        now["inputs"] = json!({"bin/run.sh": "2", "a~b": "1"});
        let named = changes(&parts(&before), &parts(&now));
        assert_eq!(named, ["variable `key`", "file `bin/run.sh`", "variable `new`", "file `a~b`"]);
        assert!(!format!("{:?}", parts(&before)).contains("hunter22"));
    }

    #[test]
    fn parts_of_an_agent_task_are_named_by_their_fields() {
        let before =
            json!({"action": {"agent": {"intent": "a", "env": {"A": "1"}, "surroundings": {"setup": ["make"]}}}});
        let now = json!({"action": {"agent": {"intent": "b", "env": {}, "surroundings": {"setup": ["make", "ls"]}}}});
        let named = changes(&parts(&before), &parts(&now));
        assert_eq!(named, ["environment variable `A`", "`intent`", "`setup`"]);
    }
}
