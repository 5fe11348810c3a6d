//! Suites of cli-bench without models.

use crate::{
    finding::{MessageParts, Report},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Severity},
    shape::Shape,
    words::nearest,
};

/// Key of the models.
const PROVIDERS: &str = "providers";

/// Checks `providers`.
pub(crate) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    let providers = root.get(PROVIDERS);
    // They exist under another name, which is reported.
    let is_called = |key: &str| {
        Shape::of(SpecFile::CLI_BENCH).field_called(key, None).is_some_and(|(field, _)| field.name == PROVIDERS)
    };
    let is_misspelled = |(key, _): &(String, LintNode<'_>)| nearest(key, [PROVIDERS]).is_some() || is_called(key);
    if providers.is_none() && root.entries().iter().any(is_misspelled) {
        return;
    }
    if providers.as_ref().is_none_or(|providers| providers.is_list() && providers.is_empty()) {
        let words = MessageParts::new("the suite does not name a model")
            .help("name models under `providers`, or with `--model`");
        let node = providers.as_ref().unwrap_or(root);
        report.push(node.head_problem(Code::MissingField, words).with_severity(Severity::Hint));
    }
}
