//! Assertions about the trace of a run that has none, or whose spans have no costs.

use crate::{
    dialect::clawspec::{
        assertion::Category,
        config::{Backend, Config},
        typed_assertion::TypedAssertion,
    },
    finding::{Location, MessageParts, Report, Rule},
    problem::{Code, SettingsCondition, Severity},
};

/// An assertion about a trace that is not checked.
#[derive(Debug)]
enum Untraced {
    /// There is no source of traces.
    NoSource(&'static str),
    /// The run has not begun.
    BeforeRun(&'static str),
    /// There are no prices of models.
    NoPrices,
}

/// Checks the assertions of a list. `config`: the settings of the workspace, which are read only if necessary.
pub(crate) fn check_assertions(
    assertions: &[TypedAssertion<'_>],
    is_before: bool,
    config: impl Fn() -> Config,
    report: &mut Report,
) {
    let mut about_trace = assertions.iter().filter_map(|assertion| {
        let info = assertion.info.filter(|info| info.category == Category::Trace)?;
        Some((info.name, assertion.get("type")?))
    });
    if is_before {
        report.extend(about_trace.map(|(name, kind)| kind.finding(Untraced::BeforeRun(name))));
        return;
    }
    let Some(first) = about_trace.next() else { return };
    let config = config();
    let has_no_backend = config.traces().backend == Backend::None;
    let has_no_prices = config.prices().is_empty();
    for (name, kind) in std::iter::once(first).chain(about_trace) {
        if has_no_backend {
            report.push(kind.finding(Untraced::NoSource(name)).only_with(SettingsCondition::NoTraces));
            if name == "trace_cost" && has_no_prices {
                report.push(kind.finding(Untraced::NoPrices).only_with(SettingsCondition::Traces));
            }
        }
    }
}

impl Rule for Untraced {
    const CODE: Code = Code::Unchecked;

    fn severity(&self) -> Severity {
        match self {
            Untraced::BeforeRun(_) => Self::SEVERITY,
            // The environment may have a source, and spans may have costs of their own.
            Untraced::NoSource(_) | Untraced::NoPrices => Severity::Information,
        }
    }

    fn message(&self, _: &Location<'_>) -> MessageParts {
        match self {
            Untraced::NoSource(name) => MessageParts::naming("no source of traces is configured for", *name)
                .note("assertions about the trace are skipped")
                .help("set `clawspec.traces` in `speclens.yaml`, or `observability.backend` in `clawspec.yaml`"),
            Untraced::BeforeRun(name) => MessageParts::new(format!("`{name}` cannot be checked in `given`"))
                .note("before the run starts, it has no trace")
                .help("move it to `then`"),
            Untraced::NoPrices => MessageParts::new("no price is configured for `trace_cost`")
                .note("the cost of a span without a cost of its own is unknown")
                .help("set `observability.model_pricing` in `clawspec.yaml`"),
        }
    }
}
