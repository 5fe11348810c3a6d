//! Words that begin with `!`: such a word is a tag, not part of the string after it.

use crate::{
    document::Style,
    edit,
    finding::{Finding, MessageParts, Report},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
};

/// Checks the tag of a string. A tag that another rule rejects, and a string with an invalid type, are reported once.
pub(crate) fn check(lint_node: &LintNode<'_>, report: &mut Report) {
    let node = lint_node.node;
    let is_own_tag = |tag: &&str| tag.len() > 1 && tag.starts_with('!') && !tag.starts_with("!!");
    let Some(tag) = node.tag().filter(is_own_tag) else { return };
    if node.style() != Some(Style::Plain) || !lint_node.is_own() {
        return;
    }
    let document = node.document().text();
    let own = node.own_range();
    let line = document.line_to_byte(document.byte_to_line(own.start));
    let before = document.get_byte_slice(line..own.start).map(String::from).unwrap_or_default();
    let Some(start) = before.trim_end().strip_suffix(tag).map(|before| line + before.len()) else { return };
    let words = MessageParts::new(format!("`{tag}` is a tag, not part of the string"));
    let words = match edit::quote_with(node, &(start..own.end)) {
        Some((quoted, edits)) => words.fix_with_help(Some(Fix::guess(format!("write `{quoted}`"), edits))),
        None => words.help("put the string in quotes"),
    };
    let finding = Finding::stated(Code::AmbiguousScalar, words, lint_node.at.clone(), start..start + tag.len());
    report.push(finding.with_severity(Severity::Warning).unless_wrong(lint_node.at.clone()));
}
