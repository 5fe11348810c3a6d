//! Keys that ClawSpec reads but does not use: settings that a block replaces, parameters for an agent, `defaults`.

use crate::{
    dialect::clawspec::{
        facts::About,
        ignored_defaults::{IgnoredDefaults, UnrepeatedDefaults},
        routing::Routing,
        type_fields::number_of,
        typed_assertion::TypedAssertion,
        waiting::WAITING,
    },
    edit,
    files::Files,
    finding::{Finding, Location, MessageParts, Report, Rule, Scope},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    relations::Items,
};

/// A key without effect.
#[derive(Debug)]
enum Idle {
    /// Settings in a file under another name than the one that is read.
    Unread,
    /// A setting that the block `observability` replaces.
    Setting(&'static str),
    /// Parameters of an agent.
    AgentParams,
    /// Unused defaults.
    Defaults(UnrepeatedDefaults),
    /// A limit above the total limit.
    Limit(&'static str),
    /// `consistency` without a value.
    Consistency,
    /// A timeout of a type that does not wait.
    Timeout(&'static str),
    /// Routing data next to data that takes precedence.
    Routing { key: &'static str, first: &'static str },
}

/// Checks an assertion.
pub(crate) fn check_assertion(assertion: &TypedAssertion<'_>, report: &mut Report) {
    let Some(info) = assertion.info else { return };
    match info.name {
        "token_budget" => {
            let total = number_of(assertion, "max_total_tokens").unwrap_or(f64::INFINITY);
            for key in ["max_input_tokens", "max_output_tokens"] {
                let part = assertion.get(key).filter(|part| part.number().is_some_and(|part| part > total));
                report.extend(part.map(|part| part.finding(Idle::Limit(key))));
            }
        }
        "llm_judge" => {
            if let Some(consistency) = assertion.get("consistency").filter(|it| it.node.is_null()) {
                let instead = Scope::At(consistency.at.clone());
                report.push(consistency.head_finding(Idle::Consistency).instead_of(instead));
            }
        }
        "delegation_path" => {
            if let Some(Routing { key: first, ignored, .. }) = Routing::of(assertion) {
                report
                    .extend(ignored.into_iter().map(|(key, member)| member.head_finding(Idle::Routing { key, first })));
            }
        }
        _ => {}
    }
    if let Some(timeout) = assertion.get("timeout").filter(|_| !info.waits) {
        report.push(timeout.head_finding(Idle::Timeout(info.name)));
    }
}

/// Reports settings that are set twice, and those in a file that nothing reads.
pub(crate) fn check_settings(root: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    if files.place().ends_with("clawspec.yml") {
        report.push(root.head_finding(Idle::Unread));
    }
    const FLAT: [&str; 6] = [
        "observability_backend", "trace_poll_delay_ms", "time_window_padding_ms", "model_pricing", "opik_project_name",
        "opik_workspace",
    ];
    if root.get("observability").is_some_and(|block| block.is_mapping() && !block.is_empty()) {
        for (key, old) in FLAT.into_iter().filter_map(|key| Some((key, root.get(key)?))) {
            report.push(old.head_finding(Idle::Setting(key)));
        }
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
        // If the file is late, the assertion fails.
        if matches!(self, Idle::Timeout(_) | Idle::Unread) { Severity::Warning } else { Self::SEVERITY }
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        match self {
            Idle::Unread => MessageParts::new("`clawspec.yml` has no effect")
                .note("ClawSpec and speclens read only `clawspec.yaml`")
                .help("rename the file to `clawspec.yaml`"),
            Idle::Setting(key) => MessageParts::new(format!("`{key}` has no effect"))
                .note("the block `observability` replaces it")
                .fix(comment(location)),
            Idle::AgentParams => MessageParts::new("`params` has no effect on agents")
                .note("only `invoke` is sent")
                .help("put what the agent must know into `invoke`"),
            Idle::Defaults(left_to_do) => {
                let words = MessageParts::new("ClawSpec ignores `defaults`").fix(comment(location));
                left_to_do.help().into_iter().fold(words, MessageParts::help)
            }
            Idle::Limit(key) => {
                MessageParts::new(format!("`{key}` is never reached, because `max_total_tokens` is smaller"))
            }
            Idle::Consistency => {
                MessageParts::new("`consistency` has no value, so the judge is asked once").help("remove the key")
            }
            Idle::Timeout(kind) => {
                let edits = location.holder().and_then(|assertion| assertion.without(&assertion.get("timeout")?));
                MessageParts::new(format!("`timeout` has no effect in `{kind}`")).note(WAITING).remedy(
                    "remove `timeout`",
                    Fix::suggestion,
                    edits,
                )
            }
            Idle::Routing { key, first } => {
                MessageParts::new(format!("`{key}` has no effect with `{first}`")).help("remove one of the two")
            }
        }
    }
}
