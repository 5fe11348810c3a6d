//! What single assertions lack: logs, limits, paths; and claims that cannot fail or cannot hold.

use crate::{
    check::time,
    dialect::clawspec::{
        assertion::{Assertion, Category},
        lower,
    },
    document::Scalar,
    edit,
    files::Files,
    problem::{Code, Fix, Problem, Severity},
    shape::scalar,
    spot::Spot,
    template::trimmed_placeholders,
    validate::in_seconds,
    words::listed,
};

use super::around::Around;

/// The log and the run that are looked at when nothing is written, as members to insert.
pub(super) fn log_members() -> Vec<(&'static str, String)> {
    let log_path = crate::dialect::clawspec::config::Config::default().log_path();
    vec![("log_path", scalar(&log_path)), ("run_id", scalar("{{run_id}}"))]
}

/// As many assertions of a list are looked at for paths.
const LOOKED_AT: usize = 100;

/// The paths of the artifacts that a scenario looks at, each once, but for those that something is wrong with.
pub(super) fn artifact_paths(around: &Around<'_>, problems: &[Problem]) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    let lists = ["given", "then", "deterministic", "semantic", "pre_delegation", "post_delegation"];
    let blocks = [Some(Spot::clone(around)), around.get("assertions"), around.get("final_assertions")];
    for list in blocks.iter().flatten().flat_map(|block| lists.iter().filter_map(|key| block.get(key))) {
        for (index, node) in list.node.items().take(LOOKED_AT).enumerate() {
            let assertion = Spot { node, key: None, at: list.at.index(index) };
            let Some(kind) = assertion.get("type").and_then(|kind| kind.text().map(str::to_owned)) else { continue };
            if kind.starts_with("artifact_")
                && let Some(path) = assertion.get("path")
                && let Some(text) = path.text()
                && !text.is_empty()
                && !paths.iter().any(|known| known == text)
                && !around.is_wrong(&path.at)
                && problems.iter().all(|problem| problem.at != path.at || problem.severity > Severity::Warning)
            {
                paths.push(text.to_owned());
            }
        }
    }
    paths
}

pub(super) fn lint(around: &Around<'_>, assertion: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let Some(kind) = assertion.get("type") else { return };
    let Some(name) = kind.text() else { return };
    let Some(info) = Assertion::type_info(name) else { return };
    match name {
        "tool_was_called" | "tool_not_called" | "delegation_occurred" | "token_budget" => {
            lint_log(assertion, name, files, problems);
        }
        "tool_not_permitted" if assertion.get("tool").is_none() => lint_log(assertion, name, files, problems),
        "llm_judge" => lint_judge(around, assertion, problems),
        "file_present" | "file_absent" => lint_literal(assertion, name, problems),
        "model_used" => lint_model(assertion, problems),
        "delegation_path" => lint_routing(assertion, problems),
        "llm_call_count" => lint_counts(assertion, problems),
        _ => {}
    }
    lint_limits(assertion, name, problems);
    lint_lists(assertion, name, problems);
    lint_bounds(assertion, name, problems);
    lint_wait(assertion, name, info.waits, problems);
    if info.category == Category::Artifact {
        lint_words(assertion, name, problems);
    }
}

/// `log_path` and `run_id`: ClawSpec cannot do without them, and nearly everyone writes the same.
fn lint_log(assertion: &Spot<'_>, name: &str, files: &dyn Files, problems: &mut Vec<Problem>) {
    let missing: Vec<&str> = ["log_path", "run_id"].into_iter().filter(|key| assertion.get(key).is_none()).collect();
    if missing.is_empty() {
        return;
    }
    let log_path = lower::settings(files).log_path();
    let members: Vec<(&str, String)> = [("log_path", scalar(&log_path)), ("run_id", scalar("{{run_id}}"))]
        .into_iter()
        .filter(|(key, _)| missing.contains(key))
        .collect();
    let names = missing.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" and ");
    let help = format!("add {names}");
    let message = format!("`{name}` is missing {names}");
    let mut problem = Problem::new(Code::MissingField, assertion.at.key(missing[0]), assertion.head(), message)
        .with_severity(Severity::Warning)
        .with_note("ClawSpec aborts the scenario with an error")
        .with_help(&help);
    if let Some(edits) = assertion.with_behind("type", &members) {
        // Where the log is, only the author knows.
        problem = problem.with_fix(Fix::guess(help, edits));
    }
    problems.push(problem);
}

/// A path that is taken literally.
fn lint_literal(assertion: &Spot<'_>, name: &str, problems: &mut Vec<Problem>) {
    let Some(path) = assertion.get("path") else { return };
    let Some(text) = path.text().filter(|text| text.contains(['*', '?', '['])) else { return };
    problems.push(if name == "file_absent" {
        let message = format!("no file is named `{text}`, so this assertion always passes");
        let note = "`file_absent` takes its path literally, wildcards too";
        path.problem(Code::VacuousClaim, message).with_note(note).with_help("name one file, without wildcards")
    } else {
        let message = format!("no file is named `{text}`, so this assertion always fails");
        let note = "`file_present` takes its path literally, wildcards too";
        let help = "change the type to `artifact_exists`, which expands wildcards";
        let problem = path.problem(Code::Contradiction, message).with_note(note).with_help(help);
        let kind = assertion.get("type").and_then(|kind| kind.replaced("artifact_exists"));
        match kind {
            Some(edits) => problem.with_fix(Fix::guess(help, edits)),
            None => problem,
        }
    });
}

/// A judge without a file to judge.
fn lint_judge(around: &Around<'_>, assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    let at = assertion.at.key("path");
    let paths = artifact_paths(around, problems);
    if let Some(problem) = problems.iter_mut().find(|problem| problem.code == Code::MissingField && problem.at == at) {
        "`llm_judge` is missing `path`, the file to score".clone_into(&mut problem.message);
        problem.help = Some(match paths.as_slice() {
            [] => "have the target write a file, and name it as `path`".to_owned(),
            [only] => format!("score `{only}`"),
            paths => format!("score one of the files of this scenario, {}", listed(paths.iter().map(String::as_str))),
        });
        problem.fixes.clear();
        for (index, path) in paths.iter().take(8).enumerate() {
            let Some(edits) = assertion.with_behind("type", &[("path", scalar(path))]) else { break };
            let title = format!("score `{path}`");
            let fix = if index == 0 { Fix::guess(title, edits) } else { Fix::suggestion(title, edits) };
            problem.fixes.push(fix);
        }
        problem.fixes.extend(super::shapes::comment(around, assertion));
    }
    if let Some(consistency) = assertion.get("consistency").filter(|it| it.node.is_null()) {
        problems.retain(|problem| problem.at != consistency.at);
        let problem = consistency.head_problem(Code::NoEffect, "`consistency` has no value: the judge is asked once");
        problems.push(problem.with_help("remove the key"));
    }
    if let Some(consistency) = assertion.get("consistency") {
        if consistency.bool() == Some(true) {
            let message = "ClawSpec 0.1.0 does not support `consistency: true`";
            let problem = Problem::new(Code::UpstreamDiffers, consistency.at.clone(), consistency.range(), message);
            let mut problem =
                problem.with_note("it aborts the scenario, although its documentation describes the value");
            let meant = "{ runs: 3, min_passes: 3 }";
            let help = format!("write `{meant}`");
            problem.fixes.extend(consistency.replaced(meant).map(|edits| Fix::suggestion(&help, edits)));
            problem = problem.with_help(help);
            problems.push(problem);
        }
        let count = |key: &str| consistency.get(key).and_then(|it| it.number()).unwrap_or(1.0);
        let runs = consistency.at.key("runs");
        let told = problems.iter().any(|problem| problem.at == runs);
        if consistency.is_mapping() && !told && count("min_passes") > count("runs") {
            let place = consistency.get("min_passes").unwrap_or_else(|| consistency.clone());
            let message = "`min_passes` is greater than `runs`, so this assertion always fails";
            problems.push(place.problem(Code::Contradiction, message).with_help("lower `min_passes`, or raise `runs`"));
        }
    }
    if let Some(threshold) = assertion.get("pass_threshold")
        && threshold.number().is_some_and(|least| least <= 0.0)
    {
        let problem = threshold.problem(Code::VacuousClaim, "every score passes this threshold");
        problems.push(problem.with_help("raise it: scores usually range from 1 to 5"));
    }
}

/// `model_used` with both or neither of its keys.
fn lint_model(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    for problem in
        problems.iter_mut().filter(|problem| problem.at == assertion.at && problem.code == Code::MissingField)
    {
        problem.message = "`model_used` is missing `expected` or `not_expected`".to_owned();
    }
    let text = |key: &str| assertion.get(key).and_then(|it| it.text().map(str::to_owned));
    if let (Some(wanted), Some(unwanted)) = (text("expected"), text("not_expected")) {
        let place = assertion.get("not_expected").map(|spot| spot.at);
        for problem in problems.iter_mut().filter(|problem| {
            problem.code == Code::ConflictingFields && problem.at.parent().as_ref() == Some(&assertion.at)
        }) {
            problem.message = "`model_used` takes exactly one of `expected` and `not_expected`".to_owned();
            problem.note = Some(format!("ClawSpec ignores `{unwanted}`"));
            problem.help = Some("write two assertions".to_owned());
        }
        let told = problems.iter().any(|problem| {
            problem.code == Code::ConflictingFields && problem.at.parent().as_ref() == Some(&assertion.at)
        });
        if wanted.contains(&unwanted)
            && !told
            && let Some(at) = place
        {
            let message = format!("no model can match `{wanted}` and not `{unwanted}`");
            problems.push(Problem::new(Code::Contradiction, at, assertion.head(), message));
        }
    }
}

/// Routing data that decides when the trace tells nothing, from what comes first to what comes last.
const ROUTING: [&str; 13] = [
    "routing_path",
    "decision_path",
    "delegation_fallback_path",
    "routing_decisions",
    "state_payloads",
    "decision_payloads",
    "routing_decision",
    "state_payload",
    "decision_payload",
    "state_paths",
    "routing_state_paths",
    "state_path",
    "routing_state_path",
];

fn lint_routing(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    let mut given = ROUTING.iter().filter_map(|key| Some((*key, assertion.get(key)?)));
    let Some((key, first)) = given.next() else { return };
    for (other, member) in given {
        let problem = member.head_problem(Code::NoEffect, format!("`{other}` is ignored beside `{key}`"));
        problems.push(problem.with_help("keep one of the two"));
    }
    let is_told = |spot: &Spot<'_>, problems: &[Problem]| problems.iter().any(|problem| problem.at == spot.at);
    let parts = if first.is_list() { first.items() } else { vec![first.clone()] };
    if key.contains("decision") && !key.ends_with("path") || key.contains("payload") {
        let is_list = key.ends_with('s');
        for decision in if is_list { parts } else { vec![first] } {
            let filled = |spot: Spot<'_>| spot.text().is_some_and(|text| !text.is_empty());
            let names_one = filled(decision.clone())
                || ["selected_agent", "agent"].iter().any(|name| decision.get(name).is_some_and(filled));
            if !names_one && !is_told(&decision, problems) {
                let problem = decision.problem(Code::Unchecked, "this decision names no agent, and is skipped");
                problems.push(problem.with_help("write the name of an agent, or `agent: NAME`"));
            }
        }
    } else if key.contains("state") {
        for path in parts {
            let Some(text) = path.text().filter(|text| text.contains(['*', '?', '['])) else { continue };
            let problem = path
                .problem(Code::Contradiction, format!("no file is named `{text}`: wildcards are not expanded here"));
            problems.push(problem.with_help("name one file"));
        }
    }
}

/// Counts that may stand in quotes.
fn lint_counts(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    for member in ["min", "max"].into_iter().filter_map(|key| assertion.get(key)) {
        if let Some(text) = member.text().filter(|text| text.trim().parse::<u64>().is_err()) {
            let key = member.at.last().unwrap_or_default();
            let message = format!("expected an integer for `{key}`, found the string `{text}`");
            problems.push(member.problem(Code::WrongType, message));
        }
    }
}

/// Types that need one of several keys.
const ONE_OF: &[(&str, &[&str])] = &[
    ("token_budget", &["max_total_tokens", "max_input_tokens", "max_output_tokens"]),
    ("llm_call_count", &["min", "max"]),
    ("trace_token_budget", &["max_input_tokens", "max_output_tokens"]),
    ("artifact_contains", &["sections", "fields"]),
    ("artifact_absent_words", &["words", "source"]),
];

fn lint_limits(assertion: &Spot<'_>, name: &str, problems: &mut Vec<Problem>) {
    let Some((_, keys)) = ONE_OF.iter().find(|(kind, _)| *kind == name) else { return };
    if keys.iter().any(|key| assertion.get(key).is_some()) {
        return;
    }
    // A misspelt key is told where it stands.
    let mut told = false;
    for problem in problems.iter_mut() {
        if problem.code == Code::UnknownKey && problem.at.parent().as_ref() == Some(&assertion.at) {
            told = true;
            // Without the key the claim would lack one.
            problem.fixes.retain(|fix| !fix.is_comment);
        }
    }
    if told {
        return;
    }
    let names = listed(keys.iter().copied());
    let message = format!("`{name}` is missing {names}");
    let problem = Problem::new(Code::MissingField, assertion.at.clone(), assertion.head(), message);
    problems.push(problem.with_note("without one of them it checks nothing"));
}

/// Lists without items.
fn lint_lists(assertion: &Spot<'_>, name: &str, problems: &mut Vec<Problem>) {
    let keys: &[&str] = match name {
        "env_present" => &["vars"],
        "artifact_contains" => &["sections", "fields"],
        "artifact_absent_words" => &["words"],
        "tool_sequence" | "delegation_path" => &["expected"],
        "state_file" => &["expected_fields"],
        _ => &[],
    };
    for list in keys.iter().filter_map(|key| assertion.get(key)) {
        let strict = name == "tool_sequence" && assertion.get("mode").is_some_and(|mode| mode.text() == Some("strict"));
        let told = problems.iter().any(|problem| problem.at == list.at);
        if (list.is_list() || list.is_mapping()) && list.is_empty() && !strict && !told {
            let key = list.at.last().unwrap_or_default();
            let help = match key.as_str() {
                "vars" => "list the environment variables that must be set",
                "sections" => "list the headings that the file must have",
                "fields" => "list the keys that the file must have",
                "words" => "list the words that the file must not have",
                "expected_fields" => "list the keys and the values that the file must have",
                _ => "list the names that are expected, in their order",
            };
            problems.push(
                list.problem(Code::VacuousClaim, format!("`{key}` is empty, so nothing is checked")).with_help(help),
            );
        }
        for item in list.items() {
            if item.text() == Some("") && name == "artifact_absent_words" {
                let message = "every file contains the empty string, so this assertion always fails";
                problems.push(item.problem(Code::Contradiction, message).with_help("remove it"));
            }
        }
    }
}

fn lint_bounds(assertion: &Spot<'_>, name: &str, problems: &mut Vec<Problem>) {
    let number = |key: &str| {
        let member = assertion.get(key)?;
        member.number().or_else(|| member.text()?.trim().parse().ok())
    };
    if name == "llm_call_count" {
        if let (Some(min), Some(max)) = (number("min"), number("max"))
            && min > max
            && let Some(place) = assertion.get("min")
        {
            let (low, high) = (edit::words(place.node), assertion.get("max").and_then(|max| edit::words(max.node)));
            let message = match (low, high) {
                (Some(min), Some(max)) => format!("`min` ({min}) is greater than `max` ({max})"),
                (_, _) => "`min` is greater than `max`".to_owned(),
            };
            let mut problem = place.problem(Code::Contradiction, message);
            if let Some(edits) = assertion.get("max").and_then(|max| edit::swap(place.node, max.node)) {
                problem = problem.with_fix(Fix::guess("swap the two", edits));
            }
            problems.push(problem);
        }
        if number("max").is_none()
            && number("min") == Some(0.0)
            && let Some(place) = assertion.get("min")
        {
            problems
                .push(place.problem(Code::VacuousClaim, "a count is never below 0, so this assertion always passes"));
        }
    }
    if name == "token_budget"
        && let Some(total) = number("max_total_tokens")
    {
        for part in ["max_input_tokens", "max_output_tokens"].into_iter().filter_map(|key| assertion.get(key)) {
            if part.number().is_some_and(|part| part > total) {
                let key = part.at.last().unwrap_or_default();
                let message = format!("`{key}` is never reached: `max_total_tokens` is smaller");
                problems.push(part.problem(Code::NoEffect, message));
            }
        }
    }
    if name == "artifact_matches_golden"
        && number("rouge_threshold") == Some(0.0)
        && let Some(place) = assertion.get("rouge_threshold")
    {
        problems.push(place.problem(Code::VacuousClaim, "a score is never below 0, so this assertion always passes"));
    }
}

/// `timeout` and `updated_after`.
fn lint_wait(assertion: &Spot<'_>, name: &str, waits: bool, problems: &mut Vec<Problem>) {
    if !waits {
        for member in ["timeout", "updated_after"].into_iter().filter_map(|key| assertion.get(key)) {
            let key = member.at.last().unwrap_or_default();
            // Without the wait the assertion fails, where the file is late; without the time an old file satisfies it.
            let (code, severity, message) = match key.as_str() {
                "timeout" => {
                    (Code::NoEffect, Severity::Warning, format!("`{name}` does not wait: `timeout` is ignored"))
                }
                _ => (Code::Unchecked, Severity::Warning, format!("`{name}` does not check `{key}`")),
            };
            let note = "only `state_file` and the types that begin with `artifact_` do";
            let help = format!("remove `{key}`");
            let mut problem = member.head_problem(code, message).with_severity(severity).with_note(note);
            problem.fixes.extend(assertion.without(&member).map(|edits| Fix::suggestion(&help, edits)));
            problems.push(problem.with_help(help));
        }
        return;
    }
    lint_numbers(assertion, problems);
    let Some(after) = assertion.get("updated_after") else { return };
    if after.node.is_null() {
        problems.retain(|problem| problem.at != after.at);
        let problem = after.head_problem(Code::Unchecked, "`updated_after` has no value: a file of any time counts");
        problems.push(problem.with_help("write a time, such as `\"{{run_started_at}}\"`, or remove the key"));
        return;
    }
    let Some(text) = after.node.text() else { return };
    let is_unquoted =
        after.node.scalar() == Some(Scalar::Timestamp) && after.node.style() == Some(crate::document::Style::Plain);
    if is_unquoted || text.is_empty() {
        return;
    }
    let found = trimmed_placeholders(text);
    if !found.is_empty() {
        // As it could be filled.
        let filled = found.iter().fold(text.to_owned(), |filled, it| {
            let sample = match it.name {
                "today" => "2026-05-14",
                "now" | "run_started_at" => "2026-05-14T12:00:00Z",
                _ => "x",
            };
            filled.replace(it.text, sample)
        });
        let known = found.iter().all(|it| crate::dialect::clawspec::template::variable(it.name).is_some());
        if known && time::parse(&filled).is_none() {
            let message = format!("`{text}` is not a valid time once it is filled in");
            let help = "write `{{run_started_at}}`";
            let mut problem = after.problem(Code::InvalidValue, message).with_help(help);
            if let Some(edits) = after.replaced("\"{{run_started_at}}\"") {
                problem = problem.with_fix(Fix::guess(help, edits));
            }
            problems.push(problem);
        }
        return;
    }
    match time::parse(text) {
        None if after.text().is_some() => {
            let problem = after.problem(Code::InvalidValue, format!("`{text}` is not a valid time"));
            problems.push(problem.with_help("write it as `2026-05-14T12:00:00Z`, or `{{run_started_at}}`"));
        }
        Some(instant) if !instant.has_offset => {
            let problem =
                after.problem(Code::AmbiguousScalar, "a time without an offset depends on the machine's time zone");
            problems.push(problem.with_help("add `Z`, or an offset"));
        }
        None | Some(_) => {}
    }
}

/// Numbers that may stand in quotes.
fn lint_numbers(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    for member in ["timeout", "rouge_threshold"].into_iter().filter_map(|key| assertion.get(key)) {
        let key = member.at.last().unwrap_or_default();
        if let Some(text) = member.text() {
            if text.trim().parse::<f64>().is_err() {
                // No variable would make it a number.
                problems.retain(|problem| problem.at != member.at || problem.code != Code::MissingVariable);
                let seconds = in_seconds(member.node).filter(|_| key == "timeout");
                let expected = if seconds.is_some() { "a number of seconds" } else { "a number" };
                let message = format!("expected {expected} for `{key}`, found the string `{text}`");
                let mut problem = member.problem(Code::WrongType, message);
                problem.fixes.extend(seconds);
                problems.push(problem);
            }
        } else if key == "timeout" && member.number().is_some_and(f64::is_infinite) {
            let problem = member.problem(Code::OutOfRange, "`timeout` is infinite");
            problems.push(problem.with_help("write a number of seconds"));
        }
    }
}

fn lint_words(assertion: &Spot<'_>, name: &str, problems: &mut Vec<Problem>) {
    if name != "artifact_absent_words" {
        return;
    }
    let (words, source, key) = (assertion.get("words"), assertion.get("source"), assertion.get("key"));
    if let (Some(_), Some(source)) = (&words, &source) {
        let mut problem = source.head_problem(Code::Unchecked, "the words in `source` are not checked beside `words`");
        problem.help = Some("keep one of the two".to_owned());
        if key.is_none() {
            let edits = assertion.without(source);
            problem.fixes.extend(edits.map(|edits| Fix::suggestion("remove `source`", edits)));
        }
        problems.push(problem);
    }
    if let (Some(source), None, None) = (&source, &key, &words) {
        let message = "`source` is missing `key`, the place of the list in the file";
        problems.push(Problem::new(Code::MissingField, assertion.at.key("key"), source.head(), message));
    }
}
