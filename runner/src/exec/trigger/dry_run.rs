//! The description of a trigger for dry runs.

use std::path::Path;

use speclens_schema::{
    dialect::clawspec::trigger::{Filled, agent_id, session_key},
    evidence::Address,
    suite::{TriggerAction, TriggerKind},
};

use super::values::{KnownRun, begun};
use crate::{clock::Clock, gateway::Gateway};

/// Placeholder for the id that the run gets when it begins.
const RUN_ID: &str = "{{run_id}}";

/// Returns the requests that would be sent, one sentence or value per line.
pub fn described(action: &TriggerAction, test: &str, gateway: &Gateway, clock: Clock, directory: &Path) -> Vec<String> {
    let known = KnownRun { run_id: Some(RUN_ID.to_owned()), started: Some(clock.seconds()) };
    let templates = begun(clock, directory, gateway, Some(&known)).templates.unwrap_or_default();
    let filled = match Filled::of(action, &templates.before) {
        Ok(filled) => filled,
        Err(no_value) => return vec![no_value.to_string()],
    };
    let post = |session: Option<String>| {
        let token = gateway.token_from().map(|source| format!(" with the token from `{source}`")).unwrap_or_default();
        let body = filled.body(action, session.as_deref());
        let address = format!("POST {}{token}", gateway.shown_url(&gateway.webhook));
        let script = gateway.script_for(&Address::Gateway(gateway.webhook.clone()));
        let instead = script
            .map(|script| format!("the scripted gateway `{script}` answers instead of `{}`", gateway.shown_url("")));
        [Some(address), Some(body.to_string()), instead].into_iter().flatten().collect()
    };
    match action.kind {
        TriggerKind::Skill => post(Some(session_key(&action.target, test, RUN_ID))),
        TriggerKind::Pipeline => post(None),
        TriggerKind::Agent => match filled.message() {
            Ok(message) => {
                let command = format!("openclaw agent --local --agent {} --json", agent_id(&action.trigger));
                let script = gateway.script_for(&Address::Gateway(String::new()));
                let instead =
                    script.map(|script| format!("the scripted gateway `{script}` answers instead of `openclaw`"));
                let beside = script.is_none().then(|| "without `--local` if the gateway is running".to_owned());
                [Some(command), Some(format!("message: {message}")), beside, instead].into_iter().flatten().collect()
            }
            Err(missing) => vec![missing],
        },
        TriggerKind::Nothing => {
            vec!["nothing is started: the contract is evaluated against the results of another run".to_owned()]
        }
    }
}
