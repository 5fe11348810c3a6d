//! What ClawSpec reads and does not use: settings that a block replaces, parameters for an agent, `defaults`.

use crate::{
    dialect::clawspec::{
        facts::Items,
        ignored_defaults::{IgnoredDefaults, LeftToDo},
    },
    edit,
    finding::{Finding, Report, Rule, Site, Words},
    problem::{Code, Fix},
    spot::Spot,
};

/// A setting that the block `observability` replaces.
#[derive(Debug)]
struct Replaced(&'static str);

/// Parameters of an agent.
#[derive(Debug)]
struct AgentParams;

/// Defaults that nothing reads.
#[derive(Debug)]
struct Defaults(LeftToDo);

/// Looks for settings that are given twice.
pub(crate) fn check_settings(root: &Spot<'_>, report: &mut Report) {
    const FLAT: [&str; 6] = [
        "observability_backend",
        "trace_poll_delay_ms",
        "time_window_padding_ms",
        "model_pricing",
        "opik_project_name",
        "opik_workspace",
    ];
    if root.get("observability").is_some_and(|block| block.is_mapping() && !block.is_empty()) {
        for (key, old) in FLAT.into_iter().filter_map(|key| Some((key, root.get(key)?))) {
            report.push(old.head_finding(Replaced(key)));
        }
    }
}

/// Looks at the parameters of scenarios: an agent is sent a text and nothing else.
pub(crate) fn check_params(root: &Spot<'_>, scenarios: Items<'_>, report: &mut Report) {
    if root.find(&["target", "type"]).is_some_and(|kind| kind.text() == Some("agent")) {
        for (index, params) in scenarios.all().filter_map(|(index, facts)| Some((index, facts.params.as_ref()?))) {
            if !params.is_task {
                let (at, range) = scenarios.place(index, &params.place);
                report.push(Finding::new(AgentParams, at, range));
            }
        }
    }
}

/// Looks at `defaults`.
pub(crate) fn check_defaults(root: &Spot<'_>, scenarios: Items<'_>, report: &mut Report) {
    if let Some(defaults) = IgnoredDefaults::of(root, scenarios).filter(|defaults| !defaults.counts_here) {
        report.push(defaults.spot.head_finding(Defaults(defaults.left_to_do)));
    }
}

/// The fix that turns the key into a comment.
fn comment(site: &Site<'_>) -> Option<Fix> {
    edit::comment_out(site.root, site.at).map(Fix::comment)
}

impl Rule for Replaced {
    fn code(&self) -> Code {
        Code::NoEffect
    }

    fn words(&self, site: &Site<'_>) -> Words {
        Words::new(format!("`{}` has no effect", self.0))
            .note("the block `observability` replaces it")
            .fix(comment(site))
    }
}

impl Rule for AgentParams {
    fn code(&self) -> Code {
        Code::NoEffect
    }

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new("`params` is ignored for agents: only `invoke` is sent")
            .help("put what the agent must know into `invoke`")
    }
}

impl Rule for Defaults {
    fn code(&self) -> Code {
        Code::NoEffect
    }

    fn words(&self, site: &Site<'_>) -> Words {
        let words = Words::new("ClawSpec ignores `defaults`").fix(comment(site));
        match self.0.help() {
            Some(help) => words.help(help),
            None => words,
        }
    }
}
