//! Valid YAML that PyYAML, which ClawSpec uses, rejects.

use std::ops::Range;

use crate::{
    dialect::clawspec::{joined_type::JoinedType, parts::Member},
    document::{Document, Fault, FaultKind, NodeRef, Style},
    finding::{Finding, Location, MessageParts, Report, Rule, Scope},
    lint_node::LintNode,
    problem::{Code, Edit, Fix},
};

/// Text that PyYAML rejects.
#[derive(Debug)]
enum Rejected {
    /// A tab where PyYAML allows only spaces, and whether the rest of its line is blank.
    Tab { is_trailing: bool },
    /// An anchor name with a character that PyYAML does not allow.
    Anchor(String),
    /// The type of an assertion, followed by the value of another key.
    TwoValues(JoinedType),
}

/// Checks the type of an assertion.
pub(crate) fn check_assertion(assertion: &LintNode<'_>, report: &mut Report) {
    if let Some(kind) = assertion.get("type")
        && let Some(joined) = JoinedType::of(&kind)
    {
        let finding = kind.part_finding(":", Rejected::TwoValues(joined));
        report.push(finding.instead_of(Scope::At(kind.at.clone())));
    }
}

/// Returns whether a rule reports a fault with the meaning that it has in a contract.
pub(crate) fn knows(fault: &Fault, document: &Document) -> bool {
    let kind = || LintNode::root(document.root()?).at(&document.pointer_at(fault.range.start));
    fault.kind == FaultKind::ColonWithoutQuotes && kind().is_some_and(|kind| JoinedType::of(&kind).is_some())
}

/// Checks the whole text for blanks and line endings that PyYAML does not read as such.
pub(crate) fn check_text(root: &LintNode<'_>, report: &mut Report) {
    let document = root.node.document();
    let text = document.text();
    // Most files have no tabs.
    if !document.is_intact() || !document.has_tab() {
        return;
    }
    for (number, line) in text.lines().enumerate() {
        let line = String::from(line);
        let start = text.line_to_byte(number);
        let mut from = 0;
        while let Some(at) = line[from..].find('\t').map(|at| from + at) {
            let end = line.len() - line[at..].trim_start_matches('\t').len();
            from = end;
            if !is_content(document, start + at) && !is_comment(document, &line[..at], start) {
                let rule = Rejected::Tab { is_trailing: line[end..].trim().is_empty() };
                report.push(Finding::new(rule, document.pointer_at(start + at), start + at..start + end));
            }
        }
    }
}

/// Checks that the name of an anchor consists of letters, digits, `-` and `_`.
pub(crate) fn check_anchor(member: &Member<'_, '_>, report: &mut Report) {
    let Some(name) = member.node.resolved().anchor() else { return };
    if !name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter)) {
        report.push(member.lint_node().head_finding(Rejected::Anchor(name.to_owned())));
    }
}

/// Whether an offset is inside a quoted string or a block scalar.
fn is_content(document: &Document, offset: usize) -> bool {
    let pointer = document.pointer_at(offset);
    let holds = |node: NodeRef<'_>| {
        let quoted = matches!(node.style(), Some(Style::SingleQuoted | Style::DoubleQuoted));
        let block = matches!(node.style(), Some(Style::Literal | Style::Folded));
        let range = node.own_range();
        let text = document.text();
        // The first line of a block scalar is its header, and blanks may follow its last word.
        let head = block && text.byte_to_line(range.start) == text.byte_to_line(offset);
        let behind = block && offset >= range.end && blank(document, range.end..offset);
        (quoted || block && !head) && (range.contains(&offset) || behind)
    };
    let Some(node) = document.find(&pointer).map(NodeRef::resolved) else { return false };
    let key = pointer.parent().and_then(|parent| document.find(&parent)?.entry(&pointer.last()?));
    holds(node) || key.is_some_and(|entry| holds(entry.key)) || ends_block(document, offset, holds)
}

/// Whether a blank line belongs to the block scalar above it.
fn ends_block(document: &Document, offset: usize, holds: impl Fn(NodeRef<'_>) -> bool) -> bool {
    let text = document.text();
    let line_start = text.line_to_byte(text.byte_to_line(offset));
    let before = String::from(text.byte_slice(..line_start));
    let last = before.trim_end().len();
    if line_start == offset || last == 0 || !blank(document, line_start..offset) {
        return false;
    }
    document.find(&document.pointer_at(last - 1)).map(NodeRef::resolved).is_some_and(holds)
}

fn blank(document: &Document, range: Range<usize>) -> bool {
    document.text().get_byte_slice(range).is_some_and(|slice| slice.chars().all(char::is_whitespace))
}

fn is_comment(document: &Document, before: &str, start: usize) -> bool {
    before
        .match_indices('#')
        .any(|(at, _)| (at == 0 || before[..at].ends_with([' ', '\t'])) && !is_content(document, start + at))
}

impl Rule for Rejected {
    const CODE: Code = Code::Syntax;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        match self {
            Rejected::Tab { is_trailing } => {
                let (help, words) = if *is_trailing { ("remove the tab", "") } else { ("write a space instead", " ") };
                MessageParts::new("a tab where only spaces are allowed")
                    .note("ClawSpec rejects the file")
                    .fix_with_help(Some(Fix::safe(help, vec![Edit::new(location.range.clone(), words)])))
            }
            Rejected::Anchor(name) => MessageParts::new(format!("`&{name}` is not a valid anchor name"))
                .note("ClawSpec rejects the file")
                .help("use only ASCII letters, digits, `-` and `_`"),
            Rejected::TwoValues(JoinedType { name, key, value }) => {
                MessageParts::new("two keys on one line").help(format!("write `type: {name}` and `{key}: {value}`"))
            }
        }
    }
}
