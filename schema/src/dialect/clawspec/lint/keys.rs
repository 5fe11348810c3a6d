//! Keys that an assertion does not have, where it is known what their authors mean.

use crate::{
    document::Pointer,
    edit,
    problem::{Code, Fix, Problem, Severity},
    spot::Spot,
};

use super::{assertions::log_members, types::opposite_type};

/// The types that forbid a tool.
const FORBID_ONE: &str = "to forbid one tool, use `tool_not_called` (gateway log) or `tool_not_invoked` (trace)";

/// What happens because of such a key.
const IGNORED: &str = "ClawSpec ignores keys that an assertion does not have";

pub(super) fn lint(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(kind) = assertion.get("type") else { return };
    let Some(name) = kind.text() else { return };
    let unknown = |key: &str, problems: &[Problem]| {
        let at = assertion.at.key(key);
        problems.iter().any(|problem| problem.code == Code::UnknownKey && problem.at == at)
    };
    if name == "llm_judge"
        && let Some(member) = assertion.get("threshold").filter(|member| !is_score(member))
    {
        for problem in problems.iter_mut().filter(|it| it.code == Code::UnknownKey && it.at == member.at) {
            problem.help =
                problem.help.take().map(|help| format!("{help}, and write a score: they usually range from 1 to 5"));
            problem.fixes = problem.fixes.drain(..).map(|fix| Fix::guess(fix.title, fix.edits)).collect();
        }
    }
    for key in ["not", "negate", "negated", "invert", "inverted", "expected"] {
        let Some(member) = assertion.get(key).filter(|member| key != "expected" || member.bool() == Some(false)) else {
            continue;
        };
        for problem in problems.iter_mut().filter(|it| it.code == Code::UnknownKey && it.at == member.at) {
            problem.note = Some(IGNORED.to_owned());
            problem.fixes.clear();
            problem.help = Some(match (name, opposite_type(name)) {
                ("log_entry", _) => "write `absent: true`".to_owned(),
                (_, Some(opposite)) => format!("use `{opposite}`, which checks the opposite"),
                (_, None) => format!("remove the assertion: no type checks the opposite of `{name}`"),
            });
        }
    }
    match name {
        "tool_not_permitted" => match (assertion.get("tool"), assertion.get("allowed_tools")) {
            (Some(tool), None) => forbidden_tool(assertion, &kind, &tool, problems),
            (Some(tool), Some(_)) if unknown("tool", problems) => tool_beside_list(assertion, &tool, problems),
            (Some(_) | None, _) => {}
        },
        "delegation_occurred" => {
            if let Some(member) = assertion.get("from").filter(|_| unknown("from", problems)) {
                take(problems, std::slice::from_ref(&member.at));
                let problem = member.head_problem(Code::UnknownKey, "`delegation_occurred` has no key `from`");
                let note = "ClawSpec does not compare who delegated, not even as `from_agent`";
                let mut problem = problem.with_severity(Severity::Hint).with_note(note);
                let help = "remove `from`";
                problem.fixes.extend(assertion.without(&member).map(|edits| Fix::suggestion(help, edits)));
                problems.push(problem.with_help(help));
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

/// Whether a number is on the scale of a judge.
fn is_score(member: &Spot<'_>) -> bool {
    member.number().is_some_and(|number| (1.0..=5.0).contains(&number))
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
        problem.message = "`artifact_contains` has no key `absent`".to_owned();
        problem.note = Some(IGNORED.to_owned());
        let help = "change the type to `file_absent` to require that there is no file";
        problem.help = Some(help.to_owned());
        // A wildcard means nothing to `file_absent`.
        let is_literal =
            assertion.get("path").and_then(|path| path.text()).is_some_and(|path| !path.contains(['*', '?', '[']));
        let edits = kind.replaced("file_absent").zip(assertion.without(&absent)).filter(|_| is_literal);
        let edits = edits.map(|(kind, gone)| [kind, gone].concat());
        problem.fixes = edits.map(|edits| Fix::guess(help, edits)).into_iter().collect();
    }
    for key in ["text", "contains", "pattern"] {
        let Some(member) = assertion.get(key).filter(|member| member.text().is_some()) else { continue };
        let Some(problem) = problems.iter_mut().find(unknown(key)) else { continue };
        problem.message = format!("`artifact_contains` has no key `{key}`");
        problem.note = Some(format!("it looks for `sections` and `fields`; {IGNORED}"));
        let help = "change the type to `log_entry`, which looks for text in a file";
        problem.help = Some(help.to_owned());
        let edits = kind.replaced("log_entry").zip(super::types::literal(&member, "log_entry"));
        let edits = edits.map(|(kind, pattern)| [pattern, kind].concat());
        problem.fixes = edits.map(|edits| Fix::guess(help, edits)).into_iter().collect();
        return;
    }
}

fn error(member: &Spot<'_>, message: impl Into<String>) -> Problem {
    member.head_problem(Code::UnknownKey, message).with_severity(Severity::Error)
}

/// `tool` beside the list of the tools that are allowed.
fn tool_beside_list(assertion: &Spot<'_>, tool: &Spot<'_>, problems: &mut Vec<Problem>) {
    take(problems, std::slice::from_ref(&tool.at));
    let help = "remove it: what is not in `allowed_tools` fails already";
    let mut problem = error(tool, "`tool_not_permitted` has no key `tool`").with_note(IGNORED).with_help(help);
    problem.fixes.extend(assertion.without(tool).map(|edits| Fix::suggestion(help, edits)));
    problems.push(problem);
}

/// Drops what validation found at these places: it is said better.
fn take(problems: &mut Vec<Problem>, places: &[Pointer]) {
    problems.retain(|problem| !places.contains(&problem.at));
}

/// `tool_not_permitted` with `tool`, meant as "this tool must not be called".
fn forbidden_tool(assertion: &Spot<'_>, kind: &Spot<'_>, tool: &Spot<'_>, problems: &mut Vec<Problem>) {
    let places = ["tool", "allowed_tools", "log_path", "run_id"].map(|key| assertion.at.key(key));
    take(problems, &places);
    let mut problem = error(tool, "`tool_not_permitted` is an allow-list and has no key `tool`").with_help(FORBID_ONE);
    let has_log = assertion.get("log_path").is_some() || assertion.get("run_id").is_some();
    let is_name = tool.text().is_some();
    let by_log = kind.replaced("tool_not_called").filter(|_| is_name).map(|mut changes| {
        let missing: Vec<(&str, String)> =
            log_members().into_iter().filter(|(key, _)| assertion.get(key).is_none()).collect();
        changes.extend(assertion.with_behind("tool", &missing).into_iter().flatten());
        changes
    });
    // ClawSpec rejects a file with `tool_not_invoked`: no fix that is applied unseen writes it.
    let by_trace = kind.replaced("tool_not_invoked").filter(|_| is_name && !has_log);
    let name = |changes: &[crate::problem::Edit]| format!("change the type to `{}`", changes[0].text);
    // The keys of the log belong to one type only. Else the log or the trace may be meant: a person chooses.
    problem.fixes.extend(by_log.map(|changes| match has_log {
        true => Fix::safe(name(&changes), changes),
        false => Fix::guess(name(&changes), changes),
    }));
    problem.fixes.extend(by_trace.map(|changes| Fix::suggestion(name(&changes), changes)));
    problems.push(problem);
}

fn one_variable(assertion: &Spot<'_>, member: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(key) = member.at.last() else { return };
    take(problems, &[member.at.clone(), assertion.at.key("vars")]);
    let help = "write `vars` and a list";
    let mut problem = error(member, format!("`env_present` has no key `{key}`")).with_note(IGNORED).with_help(help);
    let value = match (member.is_list(), edit::words(member.node)) {
        (true, _) => None,
        (false, Some(words)) => member.replaced(format!("[{words}]")),
        (false, None) => None,
    };
    if let (Some(rename), true) = (member.renamed("vars"), member.is_list() || value.is_some()) {
        let changes = rename.into_iter().chain(value.into_iter().flatten()).collect();
        let is_name = |name: &str| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        let names = member.text().into_iter().chain(member.texts().into_iter().map(|(text, _)| text));
        let fix = if names.into_iter().all(is_name) { Fix::safe } else { Fix::guess };
        problem = problem.with_fix(fix(help.to_owned(), changes));
    }
    problems.push(problem);
}

fn route_without_address(assertion: &Spot<'_>, route: &Spot<'_>, problems: &mut Vec<Problem>) {
    let method = assertion.get("method");
    take(problems, &["route", "method", "endpoint"].map(|key| assertion.at.key(key)));
    let get = method.as_ref().and_then(|method| method.text()).is_none_or(|method| method.eq_ignore_ascii_case("get"));
    let message = if get {
        "`gateway_response` has no key `route`"
    } else {
        "`gateway_response` has no keys `route` and `method`: it sends GET only"
    };
    let mut problem = error(route, message).with_help("write the full address as `endpoint`");
    // What another method does cannot be asked here.
    let path = route.text().filter(|path| get && path.starts_with('/'));
    if let Some(path) = path {
        let address = format!("http://127.0.0.1:18789{path}");
        let changes: Option<Vec<_>> = (|| {
            let mut changes = [route.renamed("endpoint")?, route.replaced(address)?].concat();
            if let Some(method) = &method {
                changes.extend(assertion.without(method)?);
            }
            Some(changes)
        })();
        if let Some(changes) = changes {
            let title = "write `endpoint` with the gateway's default address";
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
    let message = "`agent_identity_consistent` has no key `section_id`: it compares whole files";
    let mut problem = error(section, message);
    if !missing.is_empty() {
        let names = missing.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" and ");
        problem = problem.with_help(format!("add {names}"));
    }
    problems.push(problem);
}
