//! What the schema cannot say of handoffs and of settings.

use crate::{
    problem::{Code, Fix, Problem, Severity},
    spot::Spot,
};

use super::shapes::refused;

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
