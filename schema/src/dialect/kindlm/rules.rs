//! Checks of a KindLM file that a schema cannot express: relations between nodes, files, patterns, expectations that
//! cannot fail.
//!
//! The checks are divided by blocks, so that a keystroke costs only one test:
//!
//! ```text
//! root  ── root_facts ──▶ RootFacts ─┐
//!       └─ report_root ─▶ findings   ├─ report_relations ──▶ findings (absolute)
//! test  ── test_facts ──▶ TestFacts ─┘
//!       └─ report_test ─▶ findings (pointers relative to the test, ranges as the nodes give them)
//! ```
//!
//! The results of [`report_test`] and [`test_facts`] depend only on the test's node and on the files that it names, so
//! they are cached as long as these stay the same. [`report_relations`] is fast and runs
//! again after every edit.
//!
//! No rule reports a node with an invalid type: validation does.
//!
//! [`test_facts`]: super::facts::test_facts

pub(crate) mod ambiguous_scalar;
pub(crate) mod collision;
pub(crate) mod contradiction;
pub(crate) mod invalid_path;
pub(crate) mod invalid_schema_file;
pub(crate) mod invalid_value;
pub(crate) mod missing_field;
pub(crate) mod missing_file;
pub(crate) mod missing_variable;
pub(crate) mod never_evaluated;
pub(crate) mod no_claims;
pub(crate) mod no_effect;
pub(crate) mod out_of_range;
pub(crate) mod shell_quoting;
pub(crate) mod unchecked;
pub(crate) mod unknown_reference;
pub(crate) mod unused;
pub(crate) mod upstream_differs;
pub(crate) mod vacuous_claim;

use crate::{
    document::NodeRef,
    files::Files,
    finding::Report,
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Problem},
    shape::scalar,
    validate::insert_known,
};

use super::{
    facts::SuiteFacts,
    parts::TestParts,
    schema_files,
    variables::{self, Command},
};

/// Reports problems in the sections other than `tests`, for each section alone.
pub(crate) fn report_root(root: NodeRef<'_>, report: &mut Report) {
    let root = &LintNode::root(root);
    missing_variable::check_root(root, report);
    upstream_differs::check_root(root, report);
}

/// Reports problems in one test alone. Pointers are relative to it, ranges as the nodes return them.
pub(crate) fn report_test(test: NodeRef<'_>, files: &dyn Files, report: &mut Report) {
    let parts = &TestParts::of(LintNode::root(test));
    ambiguous_scalar::check_test(parts, report);
    collision::check_test(parts, report);
    contradiction::check_test(parts, report);
    invalid_value::check_tools(&parts.tools, report);
    missing_variable::check_expects(parts, report);
    no_claims::check_test(parts, report);
    no_effect::check_test(parts, report);
    unchecked::check_test(parts, report);
    unknown_reference::check_test(parts, report);
    vacuous_claim::check_test(parts, report);
    let test = &parts.test;
    if let Some(command) = Command::of(test) {
        invalid_value::check_command(&command, report);
        missing_variable::check_command(&command, report);
        no_effect::check_command(&command, report);
        shell_quoting::check_command(&command, report);
        unused::check_command(&command, report);
    }
    missing_file::check_command(test, files, report);
    let schemas = schema_files::of_test(test, files);
    invalid_path::check_schemas(&schemas, report);
    invalid_schema_file::check_schemas(&schemas, report);
    missing_file::check_schemas(&schemas, files, report);
    out_of_range::check_schemas(&schemas, report);
    unchecked::check_schemas(&schemas, report);
    upstream_differs::check_schemas(&schemas, report);
}

/// Reports problems between the sections, and between them and the tests. All locations are absolute.
pub(crate) fn report_relations(suite: &SuiteFacts<'_>, report: &mut Report) {
    missing_field::check_relations(suite, report);
    never_evaluated::check_relations(suite, report);
    out_of_range::check_relations(suite, report);
    unused::check_relations(suite, report);
    upstream_differs::check_relations(suite, report);
    vacuous_claim::check_relations(suite, report);
    let sent = variables::sent(suite);
    missing_variable::check_prompts(&sent, report);
    unused::check_prompts(&sent, report);
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
