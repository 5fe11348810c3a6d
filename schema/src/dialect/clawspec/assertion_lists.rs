//! The lists of assertions of a contract: where they are, the artifacts that they look at, and what turns one of their items
//! into a comment.

use crate::{
    document::Pointer, edit, finding::Site, json_schema::SpecFile, problem::Fix, shape::Field, spot::Spot,
    validate::Definition,
};

/// The keys of the lists.
const LISTS: [&str; 6] = ["given", "then", "deterministic", "semantic", "pre_delegation", "post_delegation"];

/// Maximum number of assertions of a list that are asked for their paths.
const MAX_ASKED: usize = 100;

/// Returns whether a place is that of an item of such a list.
pub(crate) fn is_item(at: &Pointer) -> bool {
    let is_list = |list: Pointer| list.last().is_some_and(|key| LISTS.contains(&key.as_str()));
    at.last_step().is_some_and(|step| step.index().is_some()) && at.parent().is_some_and(is_list)
}

/// Returns the keys that a scenario has.
pub(crate) fn scenario_fields() -> Vec<Field> {
    Definition::Item(SpecFile::CLAWSPEC_SCENARIOS, "scenarios").shape().fields(None)
}

/// Returns the lists of assertions of a scenario that are below other names of `given` and `then`.
pub(crate) fn below_other_names<'d>(scenario: &Spot<'d>) -> Vec<Spot<'d>> {
    let of_lists = scenario_fields().into_iter().filter(|field| ["given", "then"].contains(&field.name));
    let names = of_lists.flat_map(|field| field.shape.other_names());
    names.filter_map(|other| scenario.get(other.name).filter(Spot::is_list)).collect()
}

/// Returns the paths of the artifacts that the assertions around a place look at, each once, except for those that are
/// wrong.
pub(crate) fn artifact_paths(site: &Site<'_>) -> Vec<String> {
    let root = Spot::root(site.root);
    let mut paths: Vec<String> = Vec::new();
    let blocks = [Some(root.clone()), root.get("assertions"), root.get("final_assertions")];
    for list in blocks.iter().flatten().flat_map(|block| LISTS.iter().filter_map(|key| block.get(key))) {
        for (index, node) in list.node.items().take(MAX_ASKED).enumerate() {
            let assertion = Spot { node, key: None, at: list.at.index(index) };
            let looks_at_artifact =
                assertion.get("type").and_then(|kind| kind.text()).is_some_and(|kind| kind.starts_with("artifact_"));
            if looks_at_artifact
                && let Some(path) = assertion.get("path")
                && let Some(text) = path.text()
                && !text.is_empty()
                && !paths.iter().any(|known| known == text)
                && !site.is_wrong(&path.at)
            {
                paths.push(text.to_owned());
            }
        }
    }
    paths
}

/// Returns the fix that turns an assertion into a comment. A list of preconditions goes with its only one.
pub(crate) fn comment(site: &Site<'_>, assertion: &Pointer) -> Option<Fix> {
    let edits = edit::comment_out(site.root, assertion).or_else(|| {
        let list = assertion.parent().filter(|list| list.last().as_deref() == Some("given"))?;
        let is_only = site.root.find(&list)?.items().count() == 1;
        edit::comment_out(site.root, &list).filter(|_| is_only)
    })?;
    Some(Fix::comment(edits))
}
