//! Fixes that depend on more than the node: on a duplicate, or on the whole file.

use std::ops::Range;

use crate::{
    document::{NodeRef, Pointer},
    edit,
    problem::{Code, Fix, Problem, Severity, Subject},
};

pub(crate) fn repeated_key(mapping: NodeRef<'_>, range: &Range<usize>, first: &Range<usize>) -> Vec<Fix> {
    let at = |place: &Range<usize>| mapping.entries().find(|entry| entry.key.range() == *place);
    let (Some(second), Some(first)) = (at(range), at(first)) else { return Vec::new() };
    let value = |node: NodeRef<'_>| node.to_value().ok();
    if edit::nodes::has_anchor(second.value) || edit::nodes::has_anchor(first.value) {
        return Vec::new();
    }
    if value(second.value).is_some() && value(second.value) == value(first.value) {
        let Some(edits) = edit::remove_entry(mapping, second) else { return Vec::new() };
        return vec![Fix::guess("remove the duplicate", edits)];
    }
    // The one with a value is kept.
    let is_empty = |node: NodeRef<'_>| node.text() == Some("");
    [(second, "comment out this key", first), (first, "comment out the first key", second)]
        .into_iter()
        .filter(|(entry, _, other)| is_empty(entry.value) || !is_empty(other.value))
        .filter_map(|(entry, title, _)| Some(Fix::suggestion(title, edit::comment_entry(mapping, entry)?)))
        .collect()
}

/// Maximum number of problems of a kind with fixes that change other items.
const MAX_ACROSS: usize = 64;

/// Whether a problem may have fixes that need the whole file, here or in its format. They are created on request.
pub(crate) fn may_gain(problem: &Problem) -> bool {
    let by_code = matches!(problem.code, Code::DuplicateName | Code::MissingField | Code::UnsupportedExpression);
    by_code || matches!(problem.subject, Some(Subject::Home(_) | Subject::OldFile))
}

/// Adds fixes to problems of items that change text outside of the item.
pub(crate) fn fix_across(root: NodeRef<'_>, problems: &mut [Problem]) {
    let twice = problems.iter_mut().filter(|problem| problem.code == Code::DuplicateName);
    twice.take(MAX_ACROSS).for_each(|problem| fix_repeated_name(root, problem));
    let unknown = problems.iter_mut().filter(|problem| problem.code == Code::UnknownKey);
    unknown.take(MAX_ACROSS).for_each(|problem| fix_misplaced(root, problem));
}

/// Adds a fix to a problem about two items with the same name if both are equal.
fn fix_repeated_name(root: NodeRef<'_>, problem: &mut Problem) {
    let place = |at: &Pointer| {
        let item = at.parent()?;
        Some((item.parent()?, item.last_step()?.index()?))
    };
    let fix = problem.related.first().filter(|first| first.file.is_none()).and_then(|first| {
        let ((list, second), (other, first)) = (place(&problem.at)?, place(&first.at)?);
        repeated_item(root.find(&list).filter(|_| list == other)?, second, first)
    });
    problem.fixes.extend(fix);
    if problem.severity == Severity::Error {
        problem.fixes.extend(free_name(root, problem));
    }
}

/// Returns the fix that changes a duplicate name to one that no other item of its list has.
fn free_name(root: NodeRef<'_>, problem: &Problem) -> Option<Fix> {
    let node = root.find(&problem.at)?;
    let Some(Subject::Name(taken)) = &problem.subject else { return None };
    // If the problem is at a reference to the name, the name is in another file; a path is the name of something that
    // exists.
    let name = node.text().filter(|name| !name.contains('/') && name == taken)?;
    let key = problem.at.last()?;
    let list = root.find(&problem.at.parent()?.parent()?)?;
    let names = || list.items().filter_map(|item| item.get(&key)?.text());
    let free = (2..).map(|number| format!("{name}-{number}")).find(|new| !names().any(|taken| taken == new))?;
    Some(Fix::suggestion(format!("rename it to `{free}`"), edit::replace_text(node, &free)?))
}

fn repeated_item(list: NodeRef<'_>, index: usize, first: usize) -> Option<Fix> {
    let (second, first) = (list.item_at(index)?, list.item_at(first)?);
    let value = |node: NodeRef<'_>| node.to_value().ok();
    if edit::nodes::has_anchor(second) || value(second)? != value(first)? {
        return None;
    }
    Some(Fix::guess("remove the duplicate", edit::remove_item(list, index)?))
}

/// Adds a fix to a key of an item that belongs at the top level: it moves there and then applies to every item.
fn fix_misplaced(root: NodeRef<'_>, problem: &mut Problem) {
    let is_top = matches!(&problem.subject, Some(Subject::Home(place)) if place.0.is_empty());
    let edits = || {
        let (parent, key) = (problem.at.parent()?, problem.at.last()?);
        let holder = parent.steps().next().filter(|_| parent.steps().count() > 1)?.to_string();
        edit::to_top(root.find(&parent)?, &key, root, &holder)
    };
    if is_top
        && problem.fixes.iter().all(|fix| fix.is_comment)
        && let Some(edits) = edits()
    {
        problem.fixes.insert(0, Fix::guess("move it to the top level", edits));
    }
}
