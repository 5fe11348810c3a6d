//! Lists of assertions: what is wrong with one of them, or contradictory, whatever its type.

use std::sync::LazyLock;

use serde_json::Value;

use super::unknown_type;
use crate::{
    check::time,
    dialect::clawspec::{
        assertion::{Category, TypeInfo, type_called},
        assertions::{state::StateFile, trace_limits::TraceCost},
        claim::AssertionType,
        statements,
        template::{CALLEE_RUN_ID, variable},
        words::of_file,
    },
    document::{NodeRef, Pointer, Scalar},
    edit,
    files::Files,
    finding::{MessageParts, Report},
    gateway::{config::Backend, workspace::settings},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Fix, SettingsCondition, Severity},
    shape::holds,
    template::{Variable, trimmed_placeholders},
};

pub(super) const LISTS: [&str; 6] = ["given", "then", "deterministic", "semantic", "pre_delegation", "post_delegation"];

pub(super) fn check(root: NodeRef<'_>, list: Option<LintNode<'_>>, files: &dyn Files, report: &mut Report) {
    let Some(list) = list.filter(LintNode::is_list) else { return };
    let is_before = list.at.last().is_some_and(|key| key == "given");
    let assertions = list.items();
    let said = assertions.iter().filter_map(|assertion| Some((TypeInfo::of(assertion)?.says)(assertion)));
    statements::check(said.flatten(), report);
    if !is_before {
        check_traces(&assertions, files, report);
    }
    for assertion in &assertions {
        let Some(info) = TypeInfo::of(assertion) else {
            unknown_type::check(root, assertion, report);
            continue;
        };
        (info.lint)(assertion, files, report);
        if is_before {
            check_before_run(assertion, info, report);
        }
        if info.waits {
            check_time(assertion, is_before, report);
        }
        if let Some(kind) = assertion.get("type").filter(|_| info.category == Category::Unsupported) {
            let words = MessageParts::new(format!("`{}` cannot be evaluated", info.name))
                .note("ClawSpec accepts the type but aborts with an error, because nothing defines what it checks")
                .help("remove it")
                .fix(comment(root, &assertion.at));
            report.push(kind.problem(Code::NeverEvaluated, words));
        }
    }
}

fn check_before_run(assertion: &LintNode<'_>, info: &TypeInfo, report: &mut Report) {
    let (name, is_about_trace) = (info.name, info.category == Category::Trace);
    let is_own = |run: LintNode<'_>| run.text().is_some_and(|text| text.contains("{{run_id}}"));
    let code = if is_about_trace { Some(Code::Unchecked) } else { info.before_run };
    let Some((code, kind)) = code.zip(assertion.get("type")) else { return };
    if !is_about_trace && !assertion.get("run_id").is_none_or(is_own) {
        return;
    }
    let cannot = if code == Code::VacuousClaim {
        "fail"
    } else if code == Code::Contradiction {
        "pass"
    } else {
        "be checked"
    };
    let note = match is_about_trace {
        true => "before the run starts, it has no trace",
        false => "before the run starts, the log does not mention it",
    };
    let words = MessageParts::new(format!("`{name}` cannot {cannot} in `given`"));
    report.push(kind.problem(code, words.note(note).help("move it to `then`")));
}

/// Reports a time that no file can be newer than, or that depends on the machine.
fn check_time(assertion: &LintNode<'_>, is_before: bool, report: &mut Report) {
    let Some(after) = assertion.get("updated_after") else { return };
    let Some(text) = after.node.text() else { return };
    if is_before && text.contains("{{run_started_at}}") && assertion.get("timeout").is_none() {
        let words =
            MessageParts::new("no file can be newer than a run that has not begun, so this assertion always fails")
                .help("move it to `then`");
        report.push(after.problem(Code::Contradiction, words));
    }
    let is_text = after.node.scalar() == Some(Scalar::Text);
    if is_text && time::parse(text).is_some_and(|instant| !instant.has_offset) {
        let words = MessageParts::new("a time without a UTC offset depends on the time zone of the machine")
            .help("add `Z` or an offset, such as `+02:00`");
        report.push(after.problem(Code::AmbiguousScalar, words));
    }
}

/// Reports assertions about the trace of a run that has none, or whose spans have no costs. The environment may have a
/// source, and spans may have costs of their own.
fn check_traces(assertions: &[LintNode<'_>], files: &dyn Files, report: &mut Report) {
    let mut about_trace = assertions.iter().filter_map(|assertion| {
        let info = TypeInfo::of(assertion).filter(|info| info.category == Category::Trace)?;
        Some((info.name, assertion.get("type")?))
    });
    let Some(first) = about_trace.next() else { return };
    let config = settings(files);
    if config.traces().backend != Backend::None {
        return;
    }
    let has_no_prices = config.prices().is_empty();
    let untraced =
        |kind: &LintNode<'_>, words| kind.problem(Code::Unchecked, words).with_severity(Severity::Information);
    for (name, kind) in std::iter::once(first).chain(about_trace) {
        let words = MessageParts::naming("no source of traces is configured for", name)
            .note("assertions about the trace are skipped")
            .help("set `clawspec.traces` in `speclens.yaml`, or `observability.backend` in `clawspec.yaml`");
        report.push(untraced(&kind, words).only_with(SettingsCondition::NoTraces));
        if name == TraceCost::NAME && has_no_prices {
            let words = MessageParts::new(format!("no price is configured for `{name}`"))
                .note("the cost of a span without a cost of its own is unknown")
                .help("set `observability.model_pricing` in `clawspec.yaml`");
            report.push(untraced(&kind, words).only_with(SettingsCondition::Traces));
        }
    }
}

/// Returns the fix that comments out an assertion, or the list of preconditions if it has no other.
pub(super) fn comment(root: NodeRef<'_>, assertion: &Pointer) -> Option<Fix> {
    let edits = edit::comment_out(root, assertion).or_else(|| {
        let list = assertion.parent().filter(|list| list.last().as_deref() == Some("given"))?;
        let is_only = root.find(&list)?.items().count() == 1;
        edit::comment_out(root, &list).filter(|_| is_only)
    })?;
    Some(Fix::comment(edits))
}

/// Maximum number of assertions per list whose paths are read.
const MAX_ASKED: usize = 100;

/// Returns the paths of the artifacts that the assertions of a part refer to, each once, without invalid ones.
pub(super) fn artifact_paths(root: NodeRef<'_>) -> Vec<String> {
    static PROBLEMS: LazyLock<Value> = LazyLock::new(of_file);
    let is_handoff = root.get("assertions").is_some();
    let has_value = |name: &str| {
        let is_here = |known: &Variable| is_handoff || known.is_in(SpecFile::CLAWSPEC_SCENARIOS.as_str());
        name != CALLEE_RUN_ID && variable(name).is_some_and(is_here)
    };
    let is_wrong = |path: NodeRef<'_>, text: &str| {
        PROBLEMS.as_array().into_iter().flatten().any(|problem| holds(&problem["if"], path))
            || !trimmed_placeholders(text).iter().all(|found| has_value(found.name))
    };
    let mut paths: Vec<String> = Vec::new();
    let blocks = [Some(root), root.get("assertions"), root.get("final_assertions")];
    for list in blocks.into_iter().flatten().flat_map(|block| LISTS.iter().filter_map(move |key| block.get(key))) {
        for assertion in list.items().take(MAX_ASKED) {
            let kind = assertion.get("type").and_then(NodeRef::as_str).and_then(type_called);
            if kind.is_some_and(|kind| kind.category == Category::Artifact && kind.name != StateFile::NAME)
                && let Some(path) = assertion.get("path")
                && let Some(text) = path.as_str()
                && !text.is_empty()
                && !paths.iter().any(|known| known == text)
                && !is_wrong(path, text)
            {
                paths.push(text.to_owned());
            }
        }
    }
    paths
}
