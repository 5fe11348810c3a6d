//! Checks of a KindLM file that a schema cannot express: relations between nodes, files, patterns, expectations that
//! cannot fail.
//!
//! The checks are divided by blocks, so that a keystroke costs only one test.
//!
//! The results of [`report_test`] and [`test_facts`](super::facts::test_facts) depend only on the test's node and on the
//! files that it names, so they are cached as long as these stay the same. [`report_relations`], which reads the facts of
//! all tests, is fast and runs again after every edit.
//!
//! No rule reports a node with an invalid type: validation does.

mod command;
mod expectations;
mod prompts;
pub(crate) mod schema_files;
mod sections;
mod tool_calls;

use super::facts::expects;
use crate::{
    document::NodeRef,
    files::Files,
    finding::Report,
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Problem},
    quoting::scalar,
    relations::Items,
    validate::insert_known,
};

/// Reports problems in the sections other than `tests`, for each section alone.
pub(crate) fn report_root(root: NodeRef<'_>, report: &mut Report) {
    let root = &LintNode::root(root);
    prompts::check(root, report);
    sections::check(root, report);
}

/// Reports problems in one test alone. Pointers are relative to it, ranges as the nodes return them.
pub(crate) fn report_test(test: NodeRef<'_>, files: &dyn Files, report: &mut Report) {
    let test = &LintNode::root(test);
    let turns = test.get("conversation").map(|turns| turns.items()).unwrap_or_default();
    let expects: Vec<LintNode<'_>> = expects(test, &turns).collect();
    expectations::check(test, &turns, &expects, report);
    command::check(test, files, report);
    schema_files::check(&expects, files, report);
}

/// Reports problems between the sections, and between them and the tests. All locations are absolute.
pub(crate) fn report_relations(root: NodeRef<'_>, tests: Items<'_>, report: &mut Report) {
    sections::check_suite(root, tests, report);
    prompts::check_sent(root, tests, report);
}

/// Maximum number of missing keys whose fixes use names of the file.
const MAX_KNOWN: usize = 64;

/// Adds the names that the file defines to fixes that need the whole file.
pub(crate) fn fix_across(root: NodeRef<'_>, problems: &mut [Problem]) {
    let known = |section: &str| root.get(section).and_then(|section| Some(section.entries().next()?.key.key_text()));
    let names = [("providers", "provider"), ("prompts", "prompt")];
    let names = names.into_iter().filter_map(|(section, key)| Some((key, scalar(&known(section)?))));
    let names: Vec<(&str, String)> = names.collect();
    let missing = problems.iter_mut().filter(|problem| problem.code == Code::MissingField);
    missing.take(MAX_KNOWN).for_each(|problem| insert_known(root, SpecFile::KINDLM, problem, &names));
}
