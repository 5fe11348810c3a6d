//! Lists of assertions of a contract: their locations, the artifacts that they refer to, and the fix that comments out
//! an assertion.

use std::sync::LazyLock;

use crate::{
    document::Pointer, edit, finding::Location, json_schema::SpecFile, lint_node::LintNode, problem::Fix, shape::Field,
    validate::Definition,
};

/// Keys of the lists.
const LISTS: [&str; 6] = ["given", "then", "deterministic", "semantic", "pre_delegation", "post_delegation"];

/// Maximum number of assertions per list whose paths are read.
const MAX_ASKED: usize = 100;

/// Returns whether a location is an item of such a list.
pub(crate) fn is_item(at: &Pointer) -> bool {
    let is_list = |list: Pointer| list.last().is_some_and(|key| LISTS.contains(&key.as_str()));
    at.last_step().is_some_and(|step| step.index().is_some()) && at.parent().is_some_and(is_list)
}

/// Returns the keys of a scenario.
pub(crate) fn scenario_fields() -> &'static [Field] {
    static FIELDS: LazyLock<Vec<Field>> =
        LazyLock::new(|| Definition::Item(SpecFile::CLAWSPEC_SCENARIOS, "scenarios").shape().fields(None));
    &FIELDS
}

/// Returns the lists of assertions of a scenario under other names of `given` and `then`.
pub(crate) fn below_other_names<'d>(scenario: &LintNode<'d>) -> Vec<LintNode<'d>> {
    static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let of_lists = scenario_fields().iter().filter(|field| ["given", "then"].contains(&field.name));
        of_lists.flat_map(|field| field.shape.other_names()).map(|other| other.name).collect()
    });
    NAMES.iter().filter_map(|name| scenario.get(name).filter(LintNode::is_list)).collect()
}

/// Returns the paths of the artifacts that the assertions near a location refer to, each once, without invalid
/// ones.
pub(crate) fn artifact_paths(location: &Location<'_>) -> Vec<String> {
    let root = LintNode::root(location.root);
    let mut paths: Vec<String> = Vec::new();
    let blocks = [Some(root.clone()), root.get("assertions"), root.get("final_assertions")];
    for list in blocks.iter().flatten().flat_map(|block| LISTS.iter().filter_map(|key| block.get(key))) {
        for (index, node) in list.node.items().take(MAX_ASKED).enumerate() {
            let assertion = LintNode { node, key: None, at: list.at.index(index) };
            let looks_at_artifact = assertion.text_at("type").is_some_and(|kind| kind.starts_with("artifact_"));
            if looks_at_artifact
                && let Some(path) = assertion.get("path")
                && let Some(text) = path.text()
                && !text.is_empty()
                && !paths.iter().any(|known| known == text)
                && !location.is_wrong(&path.at)
            {
                paths.push(text.to_owned());
            }
        }
    }
    paths
}

/// Returns the fix that comments out an assertion, or the list of preconditions if it has no other.
pub(crate) fn comment(location: &Location<'_>, assertion: &Pointer) -> Option<Fix> {
    let edits = edit::comment_out(location.root, assertion).or_else(|| {
        let list = assertion.parent().filter(|list| list.last().as_deref() == Some("given"))?;
        let is_only = location.root.find(&list)?.items().count() == 1;
        edit::comment_out(location.root, &list).filter(|_| is_only)
    })?;
    Some(Fix::comment(edits))
}
