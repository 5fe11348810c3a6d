//! Scenarios that are written in another form: steps, prose, lists where a mapping belongs.

use crate::{
    document::Shape,
    problem::{Code, Fix, Problem, Severity},
    spot::Spot,
};

use super::{assertions::artifact_paths, edits};

/// Keys of a scenario in the form that older guides show, and where their content belongs.
const OLD_KEYS: &[(&str, &str, &str)] = &[
    ("assertions", "then", "assertions stand under `then`"),
    ("steps", "when", "what is done stands under `when`, as `invoke` and `params`"),
    ("preconditions", "given", "preconditions stand under `given`, as assertions"),
    ("id", "name", "a scenario has a `name`"),
    ("invoke", "when", "`invoke` belongs under `when`"),
    ("inputs", "when", "inputs belong under `when`, as `params`"),
    ("params", "when", "`params` belongs under `when`"),
    ("expect", "then", "what is expected stands under `then`, as assertions"),
    ("expected", "then", "what is expected stands under `then`, as assertions"),
];

/// What validation found in the shape of a scenario, said better.
pub(super) fn lint_scenario(scenario: &Spot<'_>, problems: &mut Vec<Problem>) {
    for (old, real, advice) in OLD_KEYS {
        let Some(member) = scenario.get(old) else { continue };
        let Some(found) =
            problems.iter_mut().find(|problem| problem.code == Code::UnknownKey && problem.at == member.at)
        else {
            continue;
        };
        found.severity = Severity::Error;
        found.message = format!("a scenario has no key `{old}`: {advice}");
        found.fixes = Vec::new();
        let free = scenario.get(real).is_none();
        match *old {
            "assertions" | "preconditions" | "id" if free => {
                let title = format!("Rename to `{real}`");
                let fix = |edit| match *old {
                    "assertions" | "id" => Fix::safe(title, vec![edit]),
                    _ => Fix::guess(title, vec![edit]),
                };
                found.fixes.extend(edits::rename(&member, real).map(fix));
            }
            "invoke" | "params" if free => {
                let edit = edits::words(&member).zip(edits::rename(&member, "when"));
                found.fixes.extend(edit.and_then(|(words, rename)| {
                    let value = edits::replace(&member, format!("{{ {old}: {words} }}"))?;
                    Some(Fix::safe("Put it under `when`", vec![rename, value]))
                }));
            }
            "steps" if free => {
                let steps = member.items();
                let only = steps.first().filter(|_| steps.len() == 1).and_then(|step| step.get("invoke"));
                let edit = only.and_then(|invoke| {
                    let words = edits::words(&invoke)?;
                    let rename = edits::rename(&member, "when")?;
                    let value = edits::replace(&member, format!("{{ invoke: {words} }}"))?;
                    Some(Fix::guess("Change to `when`", vec![rename, value]))
                });
                found.fixes.extend(edit);
            }
            _ => {}
        }
        // That the real key is missing is the same mistake.
        let place = scenario.at.key(real);
        problems.retain(|problem| !(problem.code == Code::MissingField && problem.at == place));
    }
    if let Some(when) = scenario.get("when") {
        lint_when(&when, problems);
    }
    for problem in problems.iter_mut() {
        if problem.code == Code::UnknownKey && problem.severity == Severity::Warning {
            refused(problem);
        }
    }
}

/// An unknown key that makes the original refuse the whole file.
pub(super) fn refused(problem: &mut Problem) {
    problem.severity = Severity::Error;
    problem.message.push_str(if problem.message.ends_with('?') {
        " The original program refuses the file"
    } else {
        "; the original program refuses the file"
    });
}

fn lint_when(when: &Spot<'_>, problems: &mut Vec<Problem>) {
    if !when.is_list() {
        return;
    }
    problems.retain(|problem| problem.at != when.at);
    let message = "`when` is one mapping with `invoke`: a scenario does one thing, so write a scenario for each";
    let mut problem = when.head_problem(Code::WrongType, message);
    let items = when.items();
    if let [only] = items.as_slice()
        && let Some(invoke) = only.get("invoke").or_else(|| only.text().is_some().then(|| only.clone()))
        && let Some(words) = edits::words(&invoke)
    {
        let list = when.node.own_range();
        let text = when.node.document().text();
        let one_line = text.byte_to_line(list.start) == text.byte_to_line(list.end.saturating_sub(1).max(list.start));
        let flow = text.get_byte_slice(list.start..list.start + 1).is_some_and(|first| first == "[");
        // A mapping with other keys would lose them.
        let alone = only.text().is_some() || only.entries().len() == 1;
        if one_line && flow && when.is_own() && alone {
            let edit = crate::problem::Edit::new(list, format!("{{ invoke: {words} }}"));
            problem = problem.with_fix(Fix::safe("Make it a mapping", vec![edit]));
        }
    }
    problems.push(problem);
}

/// A sentence in place of an assertion.
pub(super) fn lint_prose(around: &Spot<'_>, item: &Spot<'_>, problems: &mut Vec<Problem>) {
    if item.node.shape() != Shape::Scalar || item.node.is_null() {
        return;
    }
    problems.retain(|problem| problem.at != item.at);
    let message = "a sentence is never checked: an assertion is a mapping with `type`";
    let mut problem = item.problem(Code::WrongType, message);
    let path = artifact_paths(around).into_iter().next();
    if let (Some(text), Some(path), Some(range)) = (item.node.text(), path, edits::one_line(item)) {
        let rubric = serde_json::Value::from(format!("Score 1-5: {text}")).to_string();
        let words = format!("{{ type: llm_judge, path: {}, rubric: {rubric} }}", crate::shape::scalar(&path));
        let edit = crate::problem::Edit::new(range, words);
        problem = problem.with_fix(Fix::suggestion("Let a model judge it", vec![edit]));
    }
    problems.push(problem);
}
