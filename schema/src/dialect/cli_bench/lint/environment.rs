//! Environment variables: texts, with `{{workdir}}` as the only placeholder.

use crate::{
    document::Scalar,
    problem::{Code, Edit, Fix, Problem, Severity},
    spot::Spot,
    template::placeholders,
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
                    format!("an environment variable is a text: `{name}` is taken as {quoted}, put it in quotes");
                let mut problem = value.problem(Code::WrongType, message).with_severity(Severity::Warning);
                if value.is_own() {
                    let edit = Edit::new(value.node.own_range(), quoted.clone());
                    problem = problem.with_fix(Fix::safe(format!("Write {quoted}"), vec![edit]));
                }
                problems.push(problem);
            }
            Some(Scalar::Text | Scalar::Timestamp) => lint_template(&value, problems),
            Some(Scalar::Null) | None => {}
        }
        if name.is_empty() || name.contains(['=', '\0']) {
            let message = format!("no environment variable can be called `{name}`");
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
    let message = match is_plain(bare) {
        true => format!("no variable is called `{name}`, so that nothing is masked: write the name alone, `{bare}`"),
        false => format!("no variable is called `{name}`, so that nothing is masked: name one, such as `MYCLI_TOKEN`"),
    };
    let mut problem = spot.problem(Code::InvalidValue, message).with_severity(Severity::Warning);
    if is_plain(bare) && spot.is_own() {
        let edit = Edit::new(spot.node.own_range(), crate::shape::scalar(bare));
        problem = problem.with_fix(Fix::safe(format!("Write `{bare}`"), vec![edit]));
    }
    problems.push(problem);
}

/// `{{workdir}}` is the only placeholder.
pub(super) fn lint_template(spot: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(text) = spot.text() else { return };
    // What begins with a dot belongs to other programs, such as `{{.Names}}`.
    let is_ours = |name: &str| name != "workdir" && !name.starts_with('.');
    for found in placeholders(text).iter().filter(|found| is_ours(found.name)) {
        let message = format!("`{}` is left as it stands: `{{{{workdir}}}}` is the only placeholder", found.text);
        let mut problem = Problem::new(Code::MissingVariable, spot.at.clone(), spot.part(found.text, 0), message)
            .with_severity(Severity::Warning);
        let near = crate::words::nearest(found.name, ["workdir"]).is_some();
        if near && spot.is_own() && problem.range.len() == found.text.len() {
            let edit = Edit::new(problem.range.clone(), "{{workdir}}");
            problem = problem.with_fix(Fix::guess("Change to `{{workdir}}`", vec![edit]));
        }
        problems.push(problem);
    }
    if let Some(at) = text.find("{{ workdir }}") {
        let written = &text[at..at + "{{ workdir }}".len()];
        let range = spot.part(written, 0);
        let message = "`{{ workdir }}` is left as it stands: write `{{workdir}}`";
        let mut problem = Problem::new(Code::MissingVariable, spot.at.clone(), range.clone(), message)
            .with_severity(Severity::Warning);
        if spot.is_own() && range.len() == written.len() {
            problem = problem.with_fix(Fix::safe("Remove the spaces", vec![Edit::new(range, "{{workdir}}")]));
        }
        problems.push(problem);
    }
}
