//! Likely values of a new contract, from the workspace around it.

use crate::{
    document::{Document, Pointer},
    files::{FileKind, Files},
    gateway::log::GatewayLog,
};

/// Maximum number of targets found.
const TARGETS: usize = 200;

/// Returns the usual trigger of a target: the name of its directory.
pub(crate) fn trigger_of(path: &str, is_agent: bool) -> String {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    if is_agent { name.to_owned() } else { format!("/{name}") }
}

pub(crate) fn kind_of(path: &str, files: &dyn Files) -> &'static str {
    let holds = |name: &str| files.kind(&format!("{path}/{name}")) == Some(FileKind::File);
    let is_agent = holds("SOUL.md") || !holds("SKILL.md") && path.split('/').any(|step| step == "agents");
    if is_agent { "agent" } else { "skill" }
}

/// Returns the most likely values at a place of a scenario contract, best first.
pub(crate) fn of_scenarios(document: &Document, at: &Pointer, files: &dyn Files) -> Vec<String> {
    let written = |path: &str| Some(document.find(&Pointer::parse(path))?.text()?.to_owned());
    let filled = |path: &str| written(path).filter(|text| !text.is_empty());
    let own = files.place().strip_suffix("/tests/scenarios.yaml").map(str::to_owned);
    let path = || filled("/target/path").or(own.clone());
    match at.as_str() {
        "/target/path" => {
            let others = targets(files).filter(|path| Some(path) != own.as_ref()).collect::<Vec<_>>();
            own.iter().cloned().chain(others).collect()
        }
        "/target/type" => path().map(|path| kind_of(&path, files).to_owned()).into_iter().collect(),
        "/target/trigger" => {
            let is_agent =
                |path: &str| filled("/target/type").map_or(kind_of(path, files) == "agent", |it| it == "agent");
            path().map(|path| trigger_of(&path, is_agent(&path))).into_iter().collect()
        }
        place if place.ends_with("/when/invoke") => {
            let trigger = || own.as_ref().map(|own| trigger_of(own, false));
            filled("/target/trigger").or_else(trigger).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the skills and agents of the workspace.
fn targets(files: &dyn Files) -> impl Iterator<Item = String> {
    let patterns = ["skills/**/SKILL.md", "agents/**/SOUL.md"];
    let found = patterns.into_iter().flat_map(|pattern| files.glob(pattern).paths);
    found.filter_map(|path| Some(path.rsplit_once('/')?.0.to_owned())).take(TARGETS)
}

/// Returns the tools or agents in the log of a gateway.
pub(crate) fn names_in_log(kind: &str, log: &str) -> Vec<String> {
    let log = GatewayLog::read(log, "", None);
    match kind {
        "tools" => log.calls.into_iter().map(|call| call.tool).collect(),
        "agents" => {
            let callees = log.calls.into_iter().filter_map(|call| call.to_agent);
            log.sessions.into_iter().map(|session| session.agent).chain(callees).collect()
        }
        _ => Vec::new(),
    }
}
