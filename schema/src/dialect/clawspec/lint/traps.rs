//! Values that are allowed, and hardly mean what their author thinks: names that are compared letter by letter, paths that
//! nothing expands, scores beyond their scale.

use crate::{
    dialect::ScalarRules,
    document::{Document, Pointer},
    files::Files,
    problem::Problem,
    problem::{Code, Edit, Fix, Severity},
    spot::Spot,
    template::trimmed_placeholders,
    words::listed,
};

use super::{edits, files as paths};

/// `before`: whether it stands among the preconditions.
pub(super) fn lint(assertion: &Spot<'_>, before: bool, files: &dyn Files, problems: &mut Vec<Problem>) {
    let Some(kind) = assertion.get("type") else { return };
    let Some(name) = kind.text() else { return };
    if let Some(endpoint) = assertion.get("endpoint") {
        lint_address(&endpoint, problems);
    }
    lint_tools(assertion, name, problems);
    lint_paths(assertion, problems);
    if before {
        lint_before(assertion, &kind, name, problems);
    }
    match name {
        "state_file" => lint_state(assertion, problems),
        "artifact_contains" => lint_contains(assertion, problems),
        "artifact_absent_words" => lint_source(assertion, files, problems),
        "artifact_matches_golden" => lint_golden(assertion, problems),
        "env_present" => lint_names(assertion, problems),
        "llm_judge" | "agent_identity_consistent" => lint_scale(assertion, name, problems),
        _ => {}
    }
}

/// An address begins with `http://` or `https://`.
pub(super) fn lint_address(address: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(text) = address.text().filter(|text| !text.is_empty() && !text.starts_with("{{")) else { return };
    if text.starts_with("http://") || text.starts_with("https://") {
        return;
    }
    let message = format!("`{text}` is no full address: begin it with `http://` or `https://`");
    let mut problem = address.problem(Code::InvalidValue, message).with_severity(Severity::Warning);
    let known = problems.iter().any(|it| it.at == address.at && it.code == Code::InvalidValue);
    if let Some(edit) = edits::replace(address, format!("http://{text}")).filter(|_| !text.contains("://")) {
        problem = problem.with_fix(Fix::guess(format!("Write `http://{text}`"), vec![edit]));
    }
    if !known {
        problems.push(problem);
    }
}

/// Names of tools are compared letter by letter.
fn lint_tools(assertion: &Spot<'_>, name: &str, problems: &mut Vec<Problem>) {
    let (key, negative) = match name {
        "tool_not_called" | "tool_not_invoked" => ("tool", true),
        "tool_was_called" => ("tool", false),
        "tool_not_permitted" => ("allowed_tools", false),
        "tool_sequence" => ("expected", false),
        _ => return,
    };
    let Some(member) = assertion.get(key) else { return };
    let items = if member.is_list() { member.items() } else { vec![member] };
    for item in items {
        let Some(text) = item.text().filter(|text| text.contains('*')) else { continue };
        let (code, end) = if negative {
            (Code::VacuousClaim, "so that the claim always holds")
        } else {
            (Code::Contradiction, "so that no tool has it")
        };
        problems
            .push(item.problem(code, format!("`{text}` is compared letter by letter, {end}: name the tool in full")));
    }
}

fn lint_paths(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    for key in ["path", "state_path", "output_path", "soul_path", "golden", "source", "log_path"] {
        let Some(path) = assertion.get(key) else { continue };
        let Some(text) = path.text() else { continue };
        let bare = trimmed_placeholders(text).iter().fold(text.to_owned(), |bare, found| bare.replace(found.text, "x"));
        let message = if bare.starts_with("~/") || bare.starts_with('$') {
            "nothing expands `~` and variables here: write the path from the root of the workspace".to_owned()
        } else if bare.contains("://") {
            "this is an address, and a file is looked for".to_owned()
        } else if bare.contains('\\') {
            "directories are separated by `/`".to_owned()
        } else if bare.contains("**") {
            "`**` is the same as `*` here: it does not reach into directories below".to_owned()
        } else if bare.split('{').skip(1).any(|rest| rest.split('}').next().is_some_and(|inner| inner.contains(','))) {
            "braces are taken literally here: write an assertion for each name".to_owned()
        } else if let Some(class) = words_in_brackets(&bare) {
            format!("`[{class}]` is any one of these letters: write `[[]{class}]` for the brackets")
        } else if bare.ends_with('/') && reads(assertion) {
            "this is a directory, and a file is read".to_owned()
        } else {
            continue;
        };
        problems.push(path.problem(Code::Contradiction, format!("{message}, so that `{text}` hardly matches")));
    }
}

/// A word in brackets that stands for one letter in a pattern of names.
fn words_in_brackets(path: &str) -> Option<&str> {
    let (_, rest) = path.split_once('[')?;
    let (class, _) = rest.split_once(']')?;
    // Letters in their order are meant as a class: `[abc]`, but not `[date]`.
    let is_class = class.chars().is_sorted_by(|one, other| one < other);
    let is_word = class.len() > 2 && class.chars().all(|letter| letter.is_alphabetic() || letter == ' ');
    (is_word && !is_class).then_some(class)
}

/// Whether a claim reads the content of its file.
fn reads(assertion: &Spot<'_>) -> bool {
    let kind = assertion.get("type");
    let name = kind.as_ref().and_then(Spot::text).unwrap_or_default();
    !matches!(name, "file_present" | "file_absent" | "artifact_exists")
}

/// What the run does is not there before it.
fn lint_before(assertion: &Spot<'_>, kind: &Spot<'_>, name: &str, problems: &mut Vec<Problem>) {
    if let Some(moment) = assertion.get("updated_after")
        && moment.text().is_some_and(|text| text.contains("{{run_started_at}}"))
        && assertion.get("timeout").is_none()
    {
        let message = "the run starts just before this is looked at, so that no file is new enough: move it to `then`";
        problems.push(moment.problem(Code::Contradiction, message));
    }
    let of_run = assertion.get("run_id").is_none_or(|run| run.text().is_some_and(|text| text.contains("{{run_id}}")));
    let (code, end) = match name {
        "tool_was_called" | "delegation_occurred" if of_run => (Code::Contradiction, "never holds"),
        "tool_not_called" | "tool_not_permitted" | "token_budget" if of_run => (Code::VacuousClaim, "shows nothing"),
        _ => return,
    };
    let message = format!("before the run nothing is known of it, so that `{name}` {end} here: move it to `then`");
    problems.push(kind.problem(code, message));
}

fn lint_state(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    let status = assertion.get("expected_status");
    if let Some(status) = status.as_ref().filter(|status| status.node.is_null())
        && !problems.iter().any(|problem| problem.at == status.at)
    {
        let message = "`expected_status` has no value, so that nothing is compared: give it one";
        problems.push(status.head_problem(Code::VacuousClaim, message));
    }
    let path = assertion.get("state_path").or_else(|| assertion.get("path"));
    if let Some(path) = path
        && let Some((_, ending)) = path.text().and_then(|text| text.rsplit_once('.'))
        && ["md", "html", "htm", "log"].contains(&ending)
    {
        let message = format!(
            "a state file is read as YAML or JSON, and a `.{ending}` file hardly is either: name the file with the keys"
        );
        problems.push(path.problem(Code::Contradiction, message));
    }
    for (_, field) in
        assertion.get("expected_fields").filter(Spot::is_mapping).map(|it| it.entries()).unwrap_or_default()
    {
        let written = field.key.map(|key| key.key_text()).unwrap_or_default();
        if written.split('.').skip(1).any(|step| step.parse::<usize>().is_ok()) || written.contains('[') {
            let message = format!(
                "lists are not looked into, so that `{written}` is never there: only keys of mappings can be named, as `a.b`"
            );
            problems.push(field.head_problem(Code::Contradiction, message));
        }
    }
    let field = assertion.find(&["expected_fields", "status"]);
    if let (Some(one), Some(other)) = (status.as_ref().and_then(Spot::text), field.as_ref().and_then(Spot::text))
        && one != other
        && let Some(field) = &field
    {
        let message = format!("`expected_status` wants `{one}` of the same key: both cannot be");
        problems.push(field.problem(Code::Contradiction, message));
    }
    if let (Some(path), Some(_)) = (assertion.get("path"), assertion.get("state_path")) {
        problems.retain(|problem| {
            problem.code != Code::ConflictingFields || problem.at.parent().as_ref() != Some(&assertion.at)
        });
        let mut problem = path.head_problem(Code::Unchecked, "the file in `path` is not checked beside `state_path`");
        problem.help = Some("keep one of the two".to_owned());
        let edit = crate::rewrite::moving::take(assertion.node, "path");
        problem.fixes.extend(edit.map(|edit| Fix::suggestion("Remove `path`", vec![edit])));
        problems.push(problem);
    }
}

/// A heading is named without its marks.
pub(super) fn lint_heading(section: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(text) = section.text().filter(|text| text.starts_with('#')) else { return };
    let bare = text.trim_start_matches('#').trim();
    let message = format!("a heading is named without its `#`, so that `{text}` is never found: write `{bare}`");
    let mut problem = section.problem(Code::Contradiction, message);
    if let Some(edit) = edits::replace(section, crate::shape::scalar(bare)).filter(|_| !bare.is_empty()) {
        problem = problem.with_fix(Fix::safe(format!("Write `{bare}`"), vec![edit]));
    }
    problems.push(problem);
}

fn lint_contains(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    for section in assertion.get("sections").map(|list| list.items()).unwrap_or_default() {
        lint_heading(&section, problems);
    }
    let path = assertion.get("path");
    let ending = path.as_ref().and_then(Spot::text).and_then(|path| path.rsplit_once('.')).map(|(_, ending)| ending);
    if let Some(sections) = assertion.get("sections")
        && let Some(ending) = ending.filter(|ending| ["json", "html", "htm"].contains(ending))
    {
        let message = if ending == "json" {
            "a `.json` file has no headings, so that the claim never holds: name its keys in `fields`".to_owned()
        } else {
            format!(
                "headings are lines that begin with `#`, and a `.{ending}` file hardly has any: look for its text with `log_entry`"
            )
        };
        problems.push(sections.head_problem(Code::Contradiction, message));
    }
    let Some(fields) = assertion.get("fields") else { return };
    if let Some(ending) = ending.filter(|ending| ["md", "txt", "html"].contains(ending)) {
        let message =
            format!("a `.{ending}` file has no keys: `fields` looks into YAML and JSON files; use `sections`");
        problems.push(fields.head_problem(Code::Contradiction, message));
    }
    for field in fields.items() {
        if field.text().is_some_and(|text| text.contains(['[', '*']) || text.starts_with('$')) {
            let message = "only keys of mappings can be named, as `a.b`: lists are not looked into";
            problems.push(field.problem(Code::Contradiction, message));
        }
    }
}

/// The list of words that stands in a file.
fn lint_source(assertion: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let (Some(source), Some(key)) = (assertion.get("source"), assertion.get("key")) else { return };
    let Some(wanted) = source.text().and_then(paths::below_root).filter(|_| paths::is_placed(files)) else { return };
    let Some(dotted) = key.text().filter(|text| !text.is_empty()) else { return };
    let Ok(bytes) = files.read(&wanted) else { return };
    let Ok(text) = std::str::from_utf8(&bytes) else { return };
    let document = Document::read(text, ScalarRules::Yaml11);
    if !document.is_intact() {
        return;
    }
    let at = dotted.split('.').fold(Pointer::root(), |at, step| at.key(step));
    let message = match document.find(&at) {
        Some(list) if list.items().next().is_some() => return,
        Some(_) => format!("`{dotted}` in `{wanted}` is no list of words, so that nothing is looked for"),
        None => {
            let keys: Vec<String> = document
                .root()
                .into_iter()
                .flat_map(|root| root.entries().map(|entry| entry.key.key_text()).collect::<Vec<_>>())
                .collect();
            let known = listed(keys.iter().map(String::as_str));
            format!("`{wanted}` has no `{dotted}`, so that nothing is looked for: it has {known}")
        }
    };
    problems.push(key.problem(Code::VacuousClaim, message));
}

fn lint_golden(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    if let (Some(path), Some(golden)) = (assertion.get("path"), assertion.get("golden"))
        && path.text().is_some()
        && path.text() == golden.text()
    {
        problems.push(golden.problem(Code::VacuousClaim, "a file always resembles itself: name another file"));
    }
}

fn lint_names(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    for name in assertion.get("vars").map(|list| list.items()).unwrap_or_default() {
        let Some(text) = name.text() else { continue };
        let odd = |letter: char| letter.is_whitespace() || matches!(letter, '$' | '=' | '{' | '}');
        if text.contains(odd) {
            let message = format!("`{text}` is no name of a variable: write the name alone");
            problems.push(name.problem(Code::Contradiction, message));
        }
    }
}

/// A threshold beyond the scale that the instruction names.
fn lint_scale(assertion: &Spot<'_>, name: &str, problems: &mut Vec<Problem>) {
    let Some(threshold) = assertion.get("pass_threshold") else { return };
    let Some(least) = threshold.number() else { return };
    if least <= 0.0 {
        if name == "agent_identity_consistent" {
            let message = "every score passes: scores usually go from 1 to 5";
            problems.push(threshold.problem(Code::VacuousClaim, message));
        }
        return;
    }
    let rubric = assertion.get("rubric");
    let Some((low, high)) = (match rubric.as_ref().map(Spot::text) {
        Some(rubric) => rubric.and_then(scale),
        None if name == "agent_identity_consistent" => Some((1.0, 5.0)),
        None => None,
    }) else {
        return;
    };
    if least > high {
        let message = format!("no score is that high: the instruction names a scale from {low} to {high}");
        problems.push(threshold.problem(Code::Contradiction, message));
    } else if least <= low {
        let message = format!("every score passes: the instruction names a scale from {low} to {high}");
        problems.push(threshold.problem(Code::VacuousClaim, message));
    }
}

/// The scale that an instruction names: `1-5`. Of several ranges it is the one behind a word of scoring, and a number of
/// sentences is none.
fn scale(text: &str) -> Option<(f64, f64)> {
    const SCORING: [&str; 6] = ["score", "scale", "rate", "rating", "grade", "from"];
    let ranges = text.match_indices('-').filter_map(|(at, _)| {
        let before = text[..at].trim_end();
        let digits = before.len() - before.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
        let behind = text[at + 1..].trim_start();
        let length = behind.len() - behind.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let (before, low) = before.split_at(before.len() - digits);
        let (high, behind) = behind.split_at(length);
        let (low, high): (f64, f64) = (low.parse().ok()?, high.parse().ok()?);
        let is_scored = before.split_whitespace().rev().take(3).any(|word| {
            let word = word.to_lowercase();
            SCORING.iter().any(|scoring| word.starts_with(scoring))
        });
        let next = behind.trim_start().split(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default();
        let counts = behind.starts_with(' ') && next.len() > 3 && next.ends_with('s') && next != "points";
        (low < high && high <= 100.0).then_some((is_scored, counts, (low, high)))
    });
    let all: Vec<_> = ranges.collect();
    let scored = all.iter().find(|(is_scored, ..)| *is_scored);
    match (scored, all.as_slice()) {
        (Some((.., range)), _) | (None, [(_, false, range)]) => Some(*range),
        (None, _) => None,
    }
}

/// `{today}` where `{{today}}` is meant.
pub(super) fn half_templates(spot: &Spot<'_>, text: &str, names: &[&str], problems: &mut Vec<Problem>) {
    let mut rest = text.to_owned();
    for found in trimmed_placeholders(text) {
        rest.replace_range(found.at..found.at + found.text.len(), &" ".repeat(found.text.len()));
    }
    for name in names {
        for (at, _) in rest.match_indices(name) {
            let before = rest[..at].len() - rest[..at].trim_end_matches(['{', '$']).len();
            let behind = rest[at + name.len()..].len() - rest[at + name.len()..].trim_start_matches('}').len();
            if before == 0 || behind == 0 || !rest[at - before..at].contains('{') {
                continue;
            }
            let written = &text[at - before..at + name.len() + behind];
            let range = spot.part(written, 0);
            let real = format!("{{{{{name}}}}}");
            let message = format!("`{written}` is taken literally: write `{real}`");
            let mut problem = Problem::new(Code::MissingVariable, spot.at.clone(), range.clone(), message)
                .with_severity(Severity::Warning);
            if spot.is_own() && range.len() == written.len() {
                problem = problem.with_fix(Fix::guess(format!("Change to `{real}`"), vec![Edit::new(range, real)]));
            }
            problems.push(problem);
        }
    }
}
