//! Assertions about the trace of a run that has none, or whose spans have no costs.

use crate::{
    dialect::clawspec::{
        assertion::Category,
        config::{Backend, Config},
        typed_assertion::TypedAssertion,
    },
    finding::{Finding, MessageParts, Report},
    lint_node::LintNode,
    problem::{Code, SettingsCondition, Severity},
};

/// Checks the assertions of a list. `config`: the settings of the workspace, which are read only if necessary.
pub(crate) fn check_assertions(assertions: &[TypedAssertion<'_>], config: impl Fn() -> Config, report: &mut Report) {
    let mut about_trace = assertions.iter().filter_map(|assertion| {
        let info = assertion.info.filter(|info| info.category == Category::Trace)?;
        Some((info.name, assertion.get("type")?))
    });
    let Some(first) = about_trace.next() else { return };
    let config = config();
    let has_no_backend = config.traces().backend == Backend::None;
    let has_no_prices = config.prices().is_empty();
    for (name, kind) in std::iter::once(first).chain(about_trace) {
        if has_no_backend {
            let words = MessageParts::naming("no source of traces is configured for", name)
                .note("assertions about the trace are skipped")
                .help("set `clawspec.traces` in `speclens.yaml`, or `observability.backend` in `clawspec.yaml`");
            report.push(untraced(&kind, words).only_with(SettingsCondition::NoTraces));
            if name == "trace_cost" && has_no_prices {
                let words = MessageParts::new("no price is configured for `trace_cost`")
                    .note("the cost of a span without a cost of its own is unknown")
                    .help("set `observability.model_pricing` in `clawspec.yaml`");
                report.push(untraced(&kind, words).only_with(SettingsCondition::Traces));
            }
        }
    }
}

/// Returns the finding about a type. The environment may have a source, and spans may have costs of their own.
fn untraced(kind: &LintNode<'_>, words: MessageParts) -> Finding {
    kind.problem(Code::Unchecked, words).with_severity(Severity::Information)
}
