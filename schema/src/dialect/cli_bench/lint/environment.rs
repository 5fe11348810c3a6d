//! Environment variables: texts, with `{{workdir}}` as the only placeholder.

use crate::{
    document::Scalar,
    problem::{Code, Fix, Problem, Severity},
    spot::Spot,
    template::{Placeholder, placeholders},
};

/// The `env` of a suite or a task.
pub(super) fn lint(owner: &Spot<'_>, problems: &mut Vec<Problem>) {
    for (name, value) in owner.get("env").map(|env| env.entries()).unwrap_or_default() {
        match value.node.scalar() {
            // The schema says that it is no number.
            Some(Scalar::Float(number)) if number.is_nan() => {}
            Some(Scalar::Bool(_) | Scalar::Int(_) | Scalar::Float(_)) => {
                let written = value.node.text().unwrap_or_default();
                let quoted = serde_json::Value::from(written).to_string();
                let message =
                    format!("expected a string for `{name}`, found {}", crate::validate::describe(value.node));
                let help = format!("write `{quoted}`");
                let mut problem = value.problem(Code::WrongType, message).with_severity(Severity::Warning);
                problem = problem.with_note("the value of an environment variable is a string").with_help(&help);
                problem.fixes.extend(value.replaced(quoted).map(|edits| Fix::safe(help, edits)));
                problems.push(problem);
            }
            Some(Scalar::Text | Scalar::Timestamp) => lint_template(&value, problems),
            Some(Scalar::Null) | None => {}
        }
        if name.is_empty() || name.contains(['=', '\0']) {
            let message = format!("`{name}` is not a valid name of an environment variable");
            problems.push(value.head_problem(Code::InvalidValue, message));
        }
    }
}

/// The name of a variable whose value is masked.
pub(super) fn lint_name(spot: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(name) = spot.text().filter(|name| !name.is_empty()) else { return };
    let bare = name.trim().trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
    let bare = bare.split('=').next().unwrap_or_default();
    let is_plain = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    if is_plain(name) {
        return;
    }
    let message = format!("`{name}` is not a valid name of an environment variable");
    let help = match is_plain(bare) {
        true => format!("write the name alone, `{bare}`"),
        false => "name a variable, such as `MYCLI_TOKEN`".to_owned(),
    };
    let mut problem = spot.problem(Code::InvalidValue, message).with_severity(Severity::Warning);
    problem = problem.with_note("no value is masked").with_help(&help);
    if is_plain(bare) {
        problem.fixes.extend(spot.replaced(crate::shape::scalar(bare)).map(|edits| Fix::safe(help, edits)));
    }
    problems.push(problem);
}

/// A placeholder other than `{{workdir}}`.
pub(super) fn unknown_placeholder(spot: &Spot<'_>, found: &Placeholder<'_>) -> Problem {
    let mut problem = Problem::new(
        Code::MissingVariable,
        spot.at.clone(),
        spot.part(found.text, 0),
        format!("`{}` is not filled in", found.text),
    )
    .with_severity(Severity::Warning)
    .with_note("`{{workdir}}` is the only placeholder of cli-bench");
    if crate::words::nearest(found.name, ["workdir"]).is_some() {
        let help = "change it to `{{workdir}}`";
        let edits = spot.with_part(&problem.range, found.text, "{{workdir}}");
        problem.fixes.extend(edits.map(|edits| Fix::guess(help, edits)));
        problem = problem.with_help(help);
    }
    problem
}

/// `{{workdir}}` is the only placeholder.
pub(super) fn lint_template(spot: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(text) = spot.text() else { return };
    // What begins with a dot belongs to other programs, such as `{{.Names}}`.
    let is_ours = |name: &str| name != "workdir" && !name.starts_with('.');
    for found in placeholders(text).iter().filter(|found| is_ours(found.name)) {
        problems.push(unknown_placeholder(spot, found));
    }
    if let Some(at) = text.find("{{ workdir }}") {
        let written = &text[at..at + "{{ workdir }}".len()];
        let range = spot.part(written, 0);
        let message = "`{{ workdir }}` is not filled in";
        let help = "write it without spaces, `{{workdir}}`";
        let mut problem = Problem::new(Code::MissingVariable, spot.at.clone(), range.clone(), message)
            .with_severity(Severity::Warning)
            .with_help(help);
        let edits = spot.with_part(&range, written, "{{workdir}}");
        problem.fixes.extend(edits.map(|edits| Fix::safe(help, edits)));
        problems.push(problem);
    }
}
