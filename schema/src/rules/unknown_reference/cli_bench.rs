//! Thresholds of a cli-bench suite for models that do not run.

use std::collections::HashSet;

use crate::{
    dialect::cli_bench::limits::Limits,
    finding::Report,
    lint_node::LintNode,
    words::{Search, all_of},
};

use super::Unknown;

/// Checks the models in `thresholds`.
pub(crate) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    let Some(limits) = Limits::of(root) else { return };
    let providers = root.get("providers").map(|providers| providers.texts()).unwrap_or_default();
    let known: Vec<&str> = providers.iter().map(|(name, _)| *name).collect();
    let run: HashSet<&str> = known.iter().copied().collect();
    let mut search = Search::default();
    for (name, lint_node) in limits.models.iter().filter(|(name, _)| !run.is_empty() && !run.contains(name.as_str())) {
        let near = search.nearest(name, known.iter().copied());
        let rule = Unknown::new(format!("the model `{name}` is not in `providers`"), near)
            .key()
            .note("its threshold is never checked")
            .or_note(format!("`providers` has {}", all_of(known.iter().copied())));
        report.push(lint_node.head_finding(rule));
    }
}
