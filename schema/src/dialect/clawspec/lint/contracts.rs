//! What the schema cannot say of handoffs and of settings.

use crate::{
    document::NodeRef,
    edit,
    files::{FileKind, Files},
    problem::{Code, Fix, Problem, Severity, Subject},
    spot::Spot,
    template::trimmed_placeholders,
};

use super::{files as paths, replaced, shapes::refused};

/// Keys that a contract does not have: with them, the original refuses the file.
pub(super) fn lint_unknown(root: &Spot<'_>, problems: &mut [Problem]) {
    for problem in problems.iter_mut() {
        let here = problem.at.steps().next().is_none_or(|first| root.node.entry(&first.text()).is_some());
        if here && problem.code == Code::UnknownKey && problem.severity == Severity::Warning {
            refused(problem);
        }
    }
}

/// A target under another name.
pub(super) fn lint_meta(root: &Spot<'_>, problems: &mut [Problem]) {
    let Some(meta) = root.get("meta").filter(|meta| meta.get("path").is_some() && root.get("target").is_none()) else {
        return;
    };
    let unknown = |problem: &&mut Problem| problem.code == Code::UnknownKey && problem.at == meta.at;
    let Some(problem) = problems.iter_mut().find(unknown) else { return };
    problem.message = "unknown key `meta`".to_owned();
    let known: Vec<&str> = ["path", "trigger"].into_iter().filter(|key| meta.get(key).is_some()).collect();
    let known = known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" and ");
    let help = "rename it to `target`";
    problem.help = Some(format!("{help}: it has {known}"));
    let edits = meta.renamed("target");
    problem.fixes = edits.map(|edits| Fix::guess(help, edits)).into_iter().collect();
}

/// Two kinds of contract in one file.
pub(super) fn lint_kind(root: &Spot<'_>, problems: &mut [Problem]) {
    for problem in problems.iter_mut().filter(|problem| problem.code == Code::UnknownKey) {
        let Some(key) = ["target", "handoff", "pipeline"].into_iter().find(|key| problem.at == root.at.key(key)) else {
            continue;
        };
        problem.message = "a contract has exactly one of `target`, `handoff` and `pipeline`".to_owned();
        problem.help = Some(format!("move `{key}` to a file of its own"));
        problem.severity = Severity::Error;
        problem.fixes.clear();
    }
}

pub(super) fn lint_handoff(root: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let context = root.find(&["caller_provides", "required_context"]).map(|list| list.items()).unwrap_or_default();
    let mut names: Vec<(&str, Spot<'_>)> = Vec::new();
    for name in context.iter().filter_map(|item| item.get("name")) {
        let Some(text) = name.text() else { continue };
        match names.iter().find(|(known, _)| *known == text) {
            Some((_, first)) => {
                let problem = name
                    .problem(Code::DuplicateName, format!("duplicate name `{text}`"))
                    .with_help("give each fact a name of its own")
                    .with_subject(Subject::Name(text.to_owned()));
                problems.push(problem.with_related("first named here", first.at.clone(), first.range()));
            }
            None => names.push((text, name)),
        }
    }
    let produces = root.get("callee_produces");
    let artifacts =
        produces.as_ref().and_then(|it| it.get("required_artifacts")).map(|list| list.items()).unwrap_or_default();
    for pattern in artifacts.iter().filter_map(|artifact| artifact.get("path_pattern")) {
        if pattern.text().is_some_and(|text| !text.is_empty() && text.trim().is_empty()) {
            let problem = pattern.problem(Code::InvalidValue, "the path is blank");
            problems.push(problem.with_help("name the file that is handed over"));
        }
    }
    let actions =
        produces.as_ref().and_then(|it| it.get("prohibited_actions")).map(|list| list.items()).unwrap_or_default();
    for tool in actions.iter().filter_map(|action| action.get("tool")) {
        let Some(text) = tool.text().filter(|text| !text.is_empty()) else { continue };
        if text.trim().is_empty() || text.contains('*') || has_template(tool.node) || text.contains("{{") {
            let problem = tool.problem(Code::InvalidValue, format!("`{text}` is not the exact name of a tool"));
            problems.push(problem.with_note("wildcards and template variables are not expanded here"));
        }
    }
    let sections = artifacts.iter().filter_map(|artifact| artifact.get("required_sections"));
    for section in sections.flat_map(|list| list.items()) {
        super::traps::lint_heading(&section, problems);
    }
    replaced::lint(root, files, problems);
}

/// Settings that are given twice, or that are unknown.
pub(super) fn lint_settings(root: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    if paths::is_placed(files) {
        if let Some(ledger) = root.get("ledger_path")
            && let Some(wanted) = ledger.text().and_then(paths::below_root)
            && files.kind(&wanted).is_none()
        {
            let problem = paths::missing(&ledger, &wanted, FileKind::File, files);
            problems.push(problem.with_severity(Severity::Warning));
        }
        for pattern in root.get("scenario_patterns").map(|list| list.items()).unwrap_or_default() {
            let Some(text) = pattern.text().filter(|text| !text.is_empty()) else { continue };
            let found = files.glob(text);
            if found.paths.is_empty() && !found.cut {
                let problem = pattern.problem(Code::MissingFile, format!("no file matches `{text}`"));
                problems.push(problem.with_severity(Severity::Warning).with_help("correct it, or remove it"));
            }
        }
    }
    let nested = root.get("observability").filter(|block| block.is_mapping() && !block.is_empty());
    let flat = [
        "observability_backend",
        "trace_poll_delay_ms",
        "time_window_padding_ms",
        "model_pricing",
        "opik_project_name",
        "opik_workspace",
    ];
    for old in flat.into_iter().filter_map(|key| root.get(key)).filter(|_| nested.is_some()) {
        let key = old.at.last().unwrap_or_default();
        let mut problem = old.head_problem(Code::NoEffect, format!("`{key}` has no effect"));
        problem.note = Some("the block `observability` replaces it".to_owned());
        let edits = edit::comment_out(root.node, &old.at);
        problem.fixes.extend(edits.map(Fix::comment));
        problems.push(problem);
    }
    if let Some(address) = root.get("gateway_base_url") {
        super::traps::lint_address(&address, problems);
    }
    if let Some(place) = root.get("gateway_webhook_endpoint")
        && place.text().is_some_and(|text| !text.is_empty() && !text.starts_with('/'))
    {
        let problem = place.problem(Code::InvalidValue, "`gateway_webhook_endpoint` does not begin with `/`");
        problems.push(problem.with_note("ClawSpec appends it to `gateway_base_url`").with_help("begin it with `/`"));
    }
    if let Some(patterns) = root.get("scenario_patterns").filter(|list| list.is_list() && list.is_empty()) {
        let problem = patterns.problem(Code::VacuousClaim, "an empty list of `scenario_patterns`");
        let problem = problem.with_note("ClawSpec finds no scenario then");
        problems.push(problem.with_help("add a pattern, or remove the key to use the default"));
    }
    if let Some(pattern) = root.get("gateway_log_pattern")
        && let Some(text) = pattern.text()
        && !text.contains("{{")
        && text.replace("{date}", "").contains(['{', '}'])
    {
        problems.push(pattern.problem(Code::InvalidValue, "only `{date}` is filled in here"));
    }
    if let Some(pattern) = root.get("gateway_log_pattern")
        && let Some(text) = pattern.text()
        && text.contains("{{")
    {
        let problem = pattern.problem(Code::InvalidValue, "templates are not filled in here");
        problems.push(problem.with_help("write `{date}`, in single braces"));
    }
    if let Some(token) =
        root.get("gateway_auth_token").filter(|token| token.text().is_some_and(|it| it.starts_with('$')))
    {
        let problem = token.problem(Code::InvalidValue, "variables are not filled in here");
        let problem = problem.with_note("ClawSpec sends this text as the token");
        problems.push(problem.with_help("remove the key, and set `CLAWSPEC_GATEWAY_AUTH_TOKEN`"));
    }
}

/// Whether a text holds a template.
fn has_template(node: NodeRef<'_>) -> bool {
    node.text().is_some_and(|text| !trimmed_placeholders(text).is_empty())
}
