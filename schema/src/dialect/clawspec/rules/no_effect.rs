//! Keys that ClawSpec reads but does not use: parameters for an agent, `defaults`.

use crate::{
    dialect::clawspec::{
        facts::About,
        ignored_defaults::{IgnoredDefaults, UnrepeatedDefaults},
    },
    edit,
    files::Files,
    finding::{Finding, Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    relations::Items,
};

/// A key without effect.
#[derive(Debug)]
enum Idle {
    /// Settings in a file under another name than the one that is read.
    Unread,
    /// Parameters of an agent.
    AgentParams,
    /// Unused defaults.
    Defaults(UnrepeatedDefaults),
}

/// Reports settings in a file that nothing reads.
pub(crate) fn check_settings(root: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    if files.place().ends_with("clawspec.yml") {
        report.push(root.head_finding(Idle::Unread));
    }
}

/// Checks the parameters of scenarios for agents, to which only a message is sent.
pub(crate) fn check_params(root: &LintNode<'_>, scenarios: Items<'_>, report: &mut Report) {
    if root.find(&["target", "type"]).is_some_and(|kind| kind.text() == Some("agent")) {
        let params = scenarios.about(About::Params).filter_map(|(index, facts)| Some((index, facts.params.as_ref()?)));
        for (index, params) in params {
            if !params.is_task {
                let (at, range) = scenarios.place(index, &params.place);
                report.push(Finding::new(Idle::AgentParams, at, range));
            }
        }
    }
}

/// Checks `defaults`.
pub(crate) fn check_defaults(root: &LintNode<'_>, scenarios: Items<'_>, report: &mut Report) {
    if let Some(defaults) = IgnoredDefaults::of(root, scenarios).filter(|defaults| !defaults.counts_here) {
        report.push(defaults.lint_node.head_finding(Idle::Defaults(defaults.left_to_do)));
    }
}

/// Returns the fix that comments out the key.
fn comment(location: &Location<'_>) -> Option<Fix> {
    edit::comment_out(location.root, location.at).map(Fix::comment)
}

impl Rule for Idle {
    const CODE: Code = Code::NoEffect;

    fn severity(&self) -> Severity {
        if matches!(self, Idle::Unread) { Severity::Warning } else { Self::SEVERITY }
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        match self {
            Idle::Unread => MessageParts::new("`clawspec.yml` has no effect")
                .note("ClawSpec and speclens read only `clawspec.yaml`")
                .help("rename the file to `clawspec.yaml`"),
            Idle::AgentParams => MessageParts::new("`params` has no effect on agents")
                .note("only `invoke` is sent")
                .help("put what the agent must know into `invoke`"),
            Idle::Defaults(left_to_do) => {
                let words = MessageParts::new("ClawSpec ignores `defaults`").fix(comment(location));
                left_to_do.help().into_iter().fold(words, MessageParts::help)
            }
        }
    }
}
