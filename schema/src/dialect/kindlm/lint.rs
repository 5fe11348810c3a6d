//! What a schema cannot say: relations between nodes, files, patterns, claims that cannot fail.
//!
//! Lints follow the blocks of a document, so that a keystroke costs one test:
//!
//! ```text
//! root  ── root_facts ──▶ RootFacts ─┐
//!       └─ lint_root ───▶ problems   ├─ lint_relations ──▶ problems (absolute)
//! test  ── test_facts ──▶ TestFacts ─┘
//!       └─ lint_test ───▶ problems (pointers relative to the test, ranges as the nodes give them)
//! ```
//!
//! What [`lint_test`] and [`test_facts`] answer depends on the test's own node and on the files that it
//! names, and on nothing else: as long as both stay the same the answers can be kept. [`lint_relations`] is
//! cheap and is asked anew after every edit.
//!
//! A lint says nothing about a node whose type is wrong: validation does.

mod claims;
mod effect;
mod facts;
mod files;
mod patterns;
mod references;
pub(crate) mod scalars;
mod script;
mod sections;
mod shell;
mod tools;
mod unread;
mod variables;

use crate::{
    document::NodeRef,
    files::Files,
    json_schema::SpecFile,
    problem::{Code, Problem},
    shape::scalar,
    spot::Spot,
    validate::{Definition, insert_known, is_damaged},
};

pub use facts::{Named, PromptFacts, RootFacts, Section, TestFacts, root_facts, test_facts};

/// What is wrong in the sections other than `tests`, each looked at alone. Pointers and ranges are absolute.
pub fn lint_root(root: NodeRef<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let root = Spot::root(root);
    sections::lint(&root, &mut problems);
    unread::lint(&root, &mut problems);
    scalars::lint_root(&root, &mut problems);
    problems
}

/// What the schema finds wrong in a part of a file, said in the words of the format.
pub fn refine(node: NodeRef<'_>, definition: Definition, problems: &mut [Problem]) {
    if definition == Definition::Root(SpecFile::KindLm) {
        references::refine_providers(&Spot::root(node), problems);
    }
}

/// What is wrong in one test, looked at alone. Pointers are relative to it, ranges as the nodes give them.
pub fn lint_test(test: NodeRef<'_>, files: &dyn Files) -> Vec<Problem> {
    let mut problems = Vec::new();
    let test = Spot::root(test);
    effect::lint(&test, &mut problems);
    variables::lint_command(&test, &mut problems);
    references::lint_turns(&test, &mut problems);
    tools::lint(&test, &mut problems);
    for expect in expects(&test) {
        claims::lint(&test, &expect, &mut problems);
        unread::lint_claims(&test, &expect, &mut problems);
        patterns::lint(&expect, &mut problems);
    }
    claims::lint_presence(&test, &mut problems);
    files::lint(&test, files, &mut problems);
    script::lint(&test, files, &mut problems);
    scalars::lint(&test, &mut problems);
    if is_damaged(test.node) {
        // What seems to be absent may stand in the part that cannot be read.
        problems.retain(|problem| !matches!(problem.code, Code::NoClaims | Code::VacuousClaim | Code::Unused));
    }
    problems
}

/// What is wrong between the sections, and between them and the tests. Each test comes with the byte where
/// its node begins; all problems are absolute.
pub fn lint_relations(root: &RootFacts, tests: &[(usize, &TestFacts)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    references::lint(root, tests, &mut problems);
    variables::lint_prompts(root, tests, &mut problems);
    sections::lint_presence(root, tests, &mut problems);
    unread::lint_relations(root, tests, &mut problems);
    problems
}

/// Maximum number of missing keys that get the names of the file.
const MAX_KNOWN: usize = 64;

/// Fixes that need to know the whole file: values that are missing, and names that it defines.
pub fn cure(root: NodeRef<'_>, problems: &mut [Problem]) {
    variables::cure_prompts(root, problems);
    let known = |section: &str| root.get(section).and_then(|section| Some(section.entries().next()?.key.key_text()));
    let names = [("providers", "provider"), ("prompts", "prompt")];
    let names = names.into_iter().filter_map(|(section, key)| Some((key, scalar(&known(section)?))));
    let names: Vec<(&str, String)> = names.collect();
    let missing = problems.iter_mut().filter(|problem| problem.code == Code::MissingField);
    missing.take(MAX_KNOWN).for_each(|problem| insert_known(root, SpecFile::KindLm, problem, &names));
}

/// The `expect` of a test, and those of its turns.
fn expects<'d>(test: &Spot<'d>) -> Vec<Spot<'d>> {
    let turns = test.get("conversation").map(|turns| turns.items()).unwrap_or_default();
    test.get("expect").into_iter().chain(turns.iter().filter_map(|turn| turn.get("expect"))).collect()
}
