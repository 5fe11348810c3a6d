//! The request that starts a target, and the meaning of its response. Pure: the runner sends it.

mod reply;

use std::collections::BTreeMap;

use serde_json::{Value, json};

pub use reply::{Reply, agent_id, agent_of_workspace, last_reply, reply, run_of};

use crate::{
    check::python::PythonValue,
    files::{Files, Inputs},
    gateway::{params::Params, python_json, workspace::below_root},
    suite::{TriggerAction, TriggerKind},
    template::{NoValue, expand_trimmed},
    words::slug,
};

/// Request of a contract, with its templates expanded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filled {
    /// Value of `when.invoke`, or the command of a pipeline.
    pub invoke: String,
    /// Additional data.
    pub params: Params,
}

impl Filled {
    /// Expands the templates of an action. The error names the first one without a value.
    pub fn of(action: &TriggerAction, values: &BTreeMap<String, String>) -> Result<Filled, NoValue> {
        let fill = |text: &str| expand_trimmed(text, |name| values.get(name).map(String::as_str));
        let invoke = fill(action.invoke.as_deref().unwrap_or_default())?;
        let params = action.params.as_ref().map(|params| params.filled(&fill)).transpose()?;
        Ok(Filled { invoke, params: params.unwrap_or_default() })
    }

    /// Returns the body of the request that starts a skill or a pipeline. `session` is the key of its session;
    /// pipelines have none.
    pub fn body(&self, action: &TriggerAction, session: Option<&str>) -> Value {
        let invoke = self.invoke.trim();
        let is_command = invoke.starts_with('/') || action.kind == TriggerKind::Pipeline;
        let (command, payload) = match is_command {
            true if self.params.is_empty() => (invoke, String::new()),
            true => (invoke, python_json::text(&self.params.to_value())),
            false => {
                let text = |text: &str| PythonValue::Text(text.to_owned());
                let wrapped = vec![(text("invoke"), text(invoke)), (text("params"), self.params.to_value())];
                (action.trigger.as_str(), python_json::text(&PythonValue::Map(wrapped)))
            }
        };
        let mut body = json!({ "skill_command": command, "payload": payload, "test_mode": self.is_test() });
        if let (Some(session), Some(members)) = (session, body.as_object_mut()) {
            members.insert("session_key".to_owned(), Value::from(session));
        }
        body
    }

    /// Whether the target must avoid side effects: true unless the data says otherwise.
    pub fn is_test(&self) -> bool {
        self.params.get("test_mode").is_none_or(is_true)
    }

    /// Returns the message for an agent, or an error that says what is missing.
    pub fn message(&self) -> Result<String, String> {
        let invoke = self.invoke.trim();
        if invoke != "sessions_spawn" {
            return Ok(invoke.to_owned());
        }
        match self.params.get("task") {
            Some(PythonValue::Text(task)) if !task.trim().is_empty() => Ok(task.clone()),
            Some(_) | None => Err("`sessions_spawn` needs `params.task`, the task of the agent".to_owned()),
        }
    }
}

pub fn definition_of(target: &str, files: &dyn Files) -> Inputs {
    let Some(directory) = below_root(target).filter(|directory| !directory.is_empty()) else { return Inputs::new() };
    let paths = ["SKILL.md", "SOUL.md"].map(|name| format!("{directory}/{name}"));
    paths.into_iter().filter_map(|path| Some((path.clone(), files.digest(&path)?))).collect()
}

/// Returns the key of the session to request for a scenario; it is unique to the run.
pub fn session_key(target: &str, scenario: &str, run_id: &str) -> String {
    format!("hook:qa:{}:{}:{run_id}", slug(target), slug(scenario))
}

fn is_true(value: &PythonValue) -> bool {
    match value {
        PythonValue::None => false,
        PythonValue::Bool(value) => *value,
        PythonValue::Int(digits) => digits != "0",
        PythonValue::Float(number) => *number != 0.0,
        PythonValue::Text(text) => !text.is_empty(),
        PythonValue::Date(_) => true,
        PythonValue::List(items) => !items.is_empty(),
        PythonValue::Map(members) => !members.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::document::{Document, Pointer, ScalarRules};

    fn sent(params: Value) -> Option<Params> {
        let document = Document::read(&params.to_string(), ScalarRules::Yaml11);
        Params::of_node(document.root()?).unwrap()
    }

    fn action(kind: TriggerKind, invoke: &str, params: Value) -> TriggerAction {
        TriggerAction {
            at: Pointer::root(),
            contract: "skills/demo/tests/scenarios.yaml".to_owned(),
            kind,
            target: "skills/demo".to_owned(),
            trigger: "/demo".to_owned(),
            invoke: Some(invoke.to_owned()),
            params: sent(params),
            inputs: Default::default(),
            settings: Arc::default(),
            timeout_ms: TriggerAction::TIMEOUT_MS,
            poll_ms: TriggerAction::POLL_MS,
        }
    }

    fn body(action: &TriggerAction, session: Option<&str>) -> Value {
        let values = BTreeMap::from([("today".to_owned(), "2026-05-14".to_owned())]);
        Filled::of(action, &values).expect("values for all").body(action, session)
    }

    #[test]
    fn slash_command_carries_its_params_and_a_text_is_wrapped() {
        let params = json!({ "test_mode": true, "b": 1, "a": "x" });
        assert_eq!(
            body(&action(TriggerKind::Skill, " /demo go ", params.clone()), Some("hook:qa:x")),
            json!({
                "skill_command": "/demo go", "payload": r#"{"a": "x", "b": 1, "test_mode": true}"#, "test_mode": true,
                "session_key": "hook:qa:x",
            })
        );
        assert_eq!(
            body(&action(TriggerKind::Skill, "/demo no", Value::Null), None),
            json!({ "skill_command": "/demo no", "payload": "", "test_mode": true })
        );
        assert_eq!(
            body(&action(TriggerKind::Skill, "write for {{ today }}", json!({ "to": ["{{today}}"] })), None),
            json!({
                "skill_command": "/demo",
                "payload": r#"{"invoke": "write for 2026-05-14", "params": {"to": ["2026-05-14"]}}"#,
                "test_mode": true,
            })
        );
        assert_eq!(
            body(&action(TriggerKind::Pipeline, "run demo", json!({ "test_mode": true })), None),
            json!({ "skill_command": "run demo", "payload": r#"{"test_mode": true}"#, "test_mode": true })
        );
    }

    #[test]
    fn test_mode_is_on_unless_the_params_switch_it_off() {
        for (params, expected) in [
            (json!({}), true),
            (json!({ "test_mode": "yes" }), true),
            (json!({ "test_mode": false }), false),
            (json!({ "test_mode": null }), false),
            (json!({ "test_mode": 0 }), false),
            (json!({ "test_mode": "" }), false),
        ] {
            let action = action(TriggerKind::Skill, "/demo", params.clone());
            assert_eq!(body(&action, None)["test_mode"], json!(expected), "{params}");
        }
    }

    #[test]
    fn template_without_a_value_is_named() {
        let action = action(TriggerKind::Skill, "/demo", json!({ "deep": [{ "x": "{{handoff.to}}" }] }));
        assert_eq!(Filled::of(&action, &BTreeMap::new()), Err(NoValue("handoff.to".to_owned())));
    }

    #[test]
    fn session_is_named_by_target_scenario_and_run() {
        assert_eq!(
            session_key("skills/Demo_2/", "Größe: smoke!", "00000000-0000-4000-8000-000000000001"),
            "hook:qa:skills-demo-2:gr-e-smoke:00000000-0000-4000-8000-000000000001"
        );
    }

    #[test]
    fn sessions_spawn_sends_its_task_and_every_other_text_itself() {
        let message = |invoke: &str, params: Value| {
            Filled { invoke: invoke.to_owned(), params: sent(params).unwrap_or_default() }.message()
        };
        assert_eq!(message(" write it ", json!({ "task": "other" })), Ok("write it".to_owned()));
        assert_eq!(message("sessions_spawn", json!({ "task": "write it" })), Ok("write it".to_owned()));
        assert!(message("sessions_spawn", json!({ "task": 1 })).is_err());
    }
}
