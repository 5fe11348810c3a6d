//! Keys that an assertion does not have, where it is known what their authors mean.

use crate::{
    dialect::clawspec::assertion::{Assertion, Category},
    document::Pointer,
    problem::{Code, Fix, Problem, Severity},
    spot::Spot,
};

use super::{assertions::log_members, edits};

/// Type, key as written, real key, whether it is the same beyond doubt.
const RENAMED: &[(&str, &str, &str, bool)] = &[
    ("token_budget", "max_tokens", "max_total_tokens", true),
    ("token_budget", "max_total", "max_total_tokens", true),
    ("token_budget", "budget", "max_total_tokens", false),
    ("delegation_occurred", "to", "to_agent", true),
    ("delegation_occurred", "agent", "to_agent", false),
    ("delegation_occurred", "target", "to_agent", false),
    ("gateway_response", "url", "endpoint", true),
    ("gateway_response", "status", "expected_status", true),
    ("gateway_response", "status_code", "expected_status", true),
    ("gateway_response", "body", "expected_body", false),
    ("state_file", "fields", "expected_fields", false),
    ("state_file", "status", "expected_status", true),
    ("agent_identity_consistent", "path", "output_path", false),
    ("agent_identity_consistent", "soul", "soul_path", true),
    ("decision_routed_to", "agent", "expected_agent", true),
    ("decision_routed_to", "path", "state_path", true),
    ("tool_not_permitted", "allowed", "allowed_tools", true),
    ("tool_not_permitted", "permitted_tools", "allowed_tools", true),
    ("tool_not_permitted", "tools", "allowed_tools", false),
    ("tool_was_called", "name", "tool", true),
    ("tool_not_called", "name", "tool", true),
    ("tool_not_invoked", "name", "tool", true),
    ("delegation_path", "path", "expected", true),
    ("trace_cost", "max_cost", "max_usd", true),
    ("gateway_healthy", "url", "endpoint", true),
    ("log_entry", "contains", "pattern", false),
    ("log_entry", "text", "pattern", false),
    ("log_entry", "log_path", "path", true),
    ("artifact_matches_golden", "threshold", "rouge_threshold", true),
    ("artifact_matches_golden", "golden_path", "golden", true),
    ("llm_judge", "threshold", "pass_threshold", true),
    ("llm_judge", "prompt", "rubric", false),
    ("llm_judge", "criteria", "rubric", false),
    ("llm_judge", "artifact", "path", true),
    ("tool_sequence", "sequence", "expected", true),
    ("tool_sequence", "tools", "expected", true),
    ("model_used", "model", "expected", true),
    ("trace_duration", "max_duration_ms", "max_ms", true),
    ("trace_cost", "max_cost_usd", "max_usd", true),
    ("llm_call_count", "max_calls", "max", true),
    ("llm_call_count", "min_calls", "min", true),
];

pub(super) fn lint(around: &Spot<'_>, assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(kind) = assertion.get("type") else { return };
    let Some(name) = kind.text() else { return };
    let unknown = |key: &str, problems: &[Problem]| {
        let at = assertion.at.key(key);
        problems.iter().any(|problem| problem.code == Code::UnknownKey && problem.at == at)
    };
    for (_, written, real, sure) in RENAMED.iter().filter(|(kind, ..)| *kind == name) {
        let (Some(member), None) = (assertion.get(written), assertion.get(real)) else { continue };
        if !unknown(written, problems) {
            continue;
        }
        take(problems, &[assertion.at.key(written), assertion.at.key(real)]);
        if *real == "expected" {
            // That neither `expected` nor its opposite stands there is the same mistake.
            problems.retain(|problem| problem.code != Code::MissingField || problem.at != assertion.at);
        }
        let mut problem = error(&member, format!("unknown key `{written}` in `{name}`"));
        problem = problem.with_help(format!("rename it to `{real}`")).with_note(match (name, *real) {
            ("delegation_occurred", "to_agent") => "ClawSpec breaks the scenario without `to_agent`",
            ("tool_not_permitted", _) if *written == "tools" => {
                "`allowed_tools` lists what may be called; to forbid a tool, use `tool_not_called` or `tool_not_invoked`"
            }
            _ => "ClawSpec never checks it",
        });
        if let Some(edit) = edits::rename(&member, real) {
            let title = format!("Rename to `{real}`");
            let sure = *sure || *real == "expected_fields" && member.is_mapping();
            problem = problem.with_fix(if sure { Fix::safe(title, vec![edit]) } else { Fix::guess(title, vec![edit]) });
        }
        problems.push(problem);
    }
    match name {
        "tool_not_permitted" => {
            if let Some(tool) = assertion.get("tool").filter(|_| assertion.get("allowed_tools").is_none()) {
                forbidden_tool(around, assertion, &kind, &tool, problems);
            }
        }
        "delegation_occurred" => {
            if let Some(member) = assertion.get("from").filter(|_| unknown("from", problems)) {
                take(problems, std::slice::from_ref(&member.at));
                let problem = member.head_problem(Code::UnknownKey, "unknown key `from` in `delegation_occurred`");
                let note = "ClawSpec does not compare who delegated, not even as `from_agent`";
                let mut problem = problem.with_severity(Severity::Hint).with_note(note);
                problem.fixes.extend(edits::remove(&member).map(|edit| Fix::suggestion("Remove `from`", vec![edit])));
                problems.push(problem.with_help("remove `from`"));
            }
        }
        "trace_token_budget" => {
            let at = assertion.at.key("max_total_tokens");
            for problem in problems.iter_mut().filter(|it| it.code == Code::UnknownKey && it.at == at) {
                "there is no limit for both together here: give `max_input_tokens` and `max_output_tokens`; `token_budget` has one"
                    .clone_into(&mut problem.message);
                problem.fixes.clear();
            }
        }
        "env_present" => {
            let member = ["var", "name", "variable"].iter().find_map(|key| assertion.get(key));
            if let Some(member) = member.filter(|_| assertion.get("vars").is_none()) {
                one_variable(assertion, &member, problems);
            }
        }
        "gateway_response" => {
            if let Some(route) = assertion.get("route").filter(|_| assertion.get("endpoint").is_none()) {
                route_without_address(assertion, &route, problems);
            }
        }
        "artifact_contains" if ["sections", "fields"].iter().all(|key| assertion.get(key).is_none()) => {
            contains_otherwise(assertion, &kind, problems);
        }
        "agent_identity_consistent" => {
            if let Some(section) = assertion.get("section_id") {
                identity_section(assertion, &section, problems);
            }
        }
        _ => {}
    }
}

/// `artifact_contains` with what another type claims: that the file is not there, or a text in it.
fn contains_otherwise(assertion: &Spot<'_>, kind: &Spot<'_>, problems: &mut [Problem]) {
    let unknown = |key: &str| {
        let at = assertion.at.key(key);
        move |problem: &&mut Problem| problem.code == Code::UnknownKey && problem.at == at
    };
    if let Some(absent) = assertion.get("absent").filter(|absent| absent.bool() == Some(true))
        && let Some(problem) = problems.iter_mut().find(unknown("absent"))
    {
        problem.message = "`artifact_contains` has no key `absent`: `file_absent` claims that a file is not there. \
                           What it claims is never checked"
            .to_owned();
        let edits = edits::replace(kind, "file_absent").zip(edits::remove(&absent));
        problem.fixes =
            edits.map(|(kind, gone)| Fix::guess("Change to `file_absent`", vec![kind, gone])).into_iter().collect();
    }
    for key in ["text", "contains", "pattern"] {
        let Some(member) = assertion.get(key).filter(|member| member.text().is_some()) else { continue };
        let Some(problem) = problems.iter_mut().find(unknown(key)) else { continue };
        problem.message = format!(
            "`artifact_contains` has no key `{key}`: it looks for `sections` and `fields`; `log_entry` looks for a text. What it claims is never checked"
        );
        let edits = edits::replace(kind, "log_entry").zip(super::types::literal(&member, "log_entry"));
        problem.fixes = edits
            .map(|(kind, mut edits)| {
                edits.push(kind);
                Fix::guess("Change to `log_entry`", edits)
            })
            .into_iter()
            .collect();
        return;
    }
}

fn error(member: &Spot<'_>, message: impl Into<String>) -> Problem {
    member.head_problem(Code::UnknownKey, message).with_severity(Severity::Error)
}

/// Drops what validation found at these places: it is said better.
fn take(problems: &mut Vec<Problem>, places: &[Pointer]) {
    problems.retain(|problem| !places.contains(&problem.at));
}

/// `tool_not_permitted` with `tool`, meant as "this tool must not be called".
fn forbidden_tool(
    around: &Spot<'_>,
    assertion: &Spot<'_>,
    kind: &Spot<'_>,
    tool: &Spot<'_>,
    problems: &mut Vec<Problem>,
) {
    let places = ["tool", "allowed_tools", "log_path", "run_id"].map(|key| assertion.at.key(key));
    take(problems, &places);
    let message = "`tool_not_permitted` takes a list of the tools that are allowed: to forbid one tool, use `tool_not_called` \
                   (the gateway's log tells) or `tool_not_invoked` (the trace tells)";
    let mut problem = error(tool, message);
    let has_log = assertion.get("log_path").is_some() || assertion.get("run_id").is_some();
    let traced = around.get("then").is_some_and(|then| {
        then.items()
            .iter()
            .filter_map(|item| item.get("type")?.text().map(str::to_owned))
            .any(|name| Assertion::type_info(&name).is_some_and(|info| info.category == Category::Trace))
    });
    let by_log = edits::replace(kind, "tool_not_called").map(|edit| {
        let mut changes = vec![edit];
        let missing: Vec<(&str, String)> =
            log_members().into_iter().filter(|(key, _)| assertion.get(key).is_none()).collect();
        changes.extend(edits::insert_behind(assertion, "tool", &missing));
        changes
    });
    let by_trace = edits::replace(kind, "tool_not_invoked").filter(|_| !has_log).map(|edit| vec![edit]);
    let (first, second) = if traced && !has_log { (by_trace, by_log) } else { (by_log, by_trace) };
    let name = |changes: &[crate::problem::Edit]| format!("Change to `{}`", changes[0].text);
    if let Some(changes) = first {
        // The keys of the log belong to one type only. Else the log or the trace may be meant: a person chooses.
        let title = name(&changes);
        problem = problem.with_fix(if has_log { Fix::safe(title, changes) } else { Fix::guess(title, changes) });
    }
    if let Some(changes) = second {
        problem = problem.with_fix(Fix::suggestion(name(&changes), changes));
    }
    problems.push(problem);
}

fn one_variable(assertion: &Spot<'_>, member: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(key) = member.at.last() else { return };
    take(problems, &[member.at.clone(), assertion.at.key("vars")]);
    let message = format!("`env_present` has no key `{key}`: write `vars` and a list. What it claims is never checked");
    let mut problem = error(member, message);
    let value = match (member.is_list(), edits::words(member)) {
        (true, _) => None,
        (false, Some(words)) => edits::replace(member, format!("[{words}]")),
        (false, None) => None,
    };
    if let (Some(rename), true) = (edits::rename(member, "vars"), member.is_list() || value.is_some()) {
        let changes = std::iter::once(rename).chain(value).collect();
        problem = problem.with_fix(Fix::safe("Write `vars` and a list", changes));
    }
    problems.push(problem);
}

fn route_without_address(assertion: &Spot<'_>, route: &Spot<'_>, problems: &mut Vec<Problem>) {
    let method = assertion.get("method");
    take(problems, &["route", "method", "endpoint"].map(|key| assertion.at.key(key)));
    let get = method.as_ref().and_then(|method| method.text()).is_none_or(|method| method.eq_ignore_ascii_case("get"));
    let message = if get {
        "`gateway_response` has no key `route`: write `endpoint` and the full address"
    } else {
        "`gateway_response` has no keys `route` and `method`: it asks `endpoint`, a full address, with GET only"
    };
    let mut problem = error(route, message);
    // What another method does cannot be asked here.
    let path = route.text().filter(|path| get && path.starts_with('/'));
    if let Some(path) = path {
        let address = format!("http://127.0.0.1:18789{path}");
        let changes: Option<Vec<_>> = (|| {
            let mut changes = vec![edits::rename(route, "endpoint")?, edits::replace(route, address)?];
            if let Some(method) = &method {
                changes.push(edits::remove(method)?);
            }
            Some(changes)
        })();
        if let Some(changes) = changes {
            let title = "Write `endpoint` with the gateway's default address";
            problem = problem.with_fix(Fix::guess(title, changes));
        }
    }
    problems.push(problem);
}

fn identity_section(assertion: &Spot<'_>, section: &Spot<'_>, problems: &mut Vec<Problem>) {
    let missing: Vec<&str> =
        ["output_path", "soul_path"].into_iter().filter(|key| assertion.get(key).is_none()).collect();
    let places: Vec<Pointer> = missing.iter().chain(&["section_id"]).map(|key| assertion.at.key(key)).collect();
    take(problems, &places);
    let mut message = "`agent_identity_consistent` has no key `section_id`: it compares a whole file".to_owned();
    if !missing.is_empty() {
        message.push_str(&format!(
            ", and needs {}",
            missing.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" and ")
        ));
    }
    problems.push(error(section, message));
}
