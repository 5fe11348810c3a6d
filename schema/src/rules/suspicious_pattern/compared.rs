//! Compared values with a character that is hard to see: a final line break, a no-break space, a typographic
//! quote.

use crate::{
    document::{NodeRef, Style},
    edit,
    finding::{MessageParts, Report},
    lint_node::LintNode,
    problem::{Code, Edit, Fix},
    rules::ambiguous_scalar::tag,
    shape::keywords::Compared,
    walk::Value,
};

/// A character that looks like another one.
struct ForeignLetter {
    written: char,
    name: &'static str,
    /// The character that it looks like.
    meant: &'static str,
}

fn is_block(node: NodeRef<'_>) -> bool {
    matches!(node.style(), Some(Style::Literal | Style::Folded))
}

fn foreign_letter(text: &str) -> Option<ForeignLetter> {
    // Most texts are, and this looks at many bytes at once.
    if text.is_ascii() {
        return None;
    }
    text.chars().find_map(|written| {
        let (name, meant) = match written {
            '\u{a0}' => ("no-break space", "a space"),
            '“' | '”' | '„' => ("typographic quote", "`\"`"),
            '‘' | '‚' => ("typographic quote", "`'`"),
            _ => return None,
        };
        Some(ForeignLetter { written, name, meant })
    })
}

/// Whether the quotes around an unquoted text take the place of those of YAML.
fn is_in_typographic_quotes(node: NodeRef<'_>, text: &str, first: &ForeignLetter) -> bool {
    let closes = text.ends_with(['”', '“', '’', '‘']) && text.chars().count() > 1;
    node.style() == Some(Style::Plain) && text.starts_with(first.written) && closes
}

pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    let node = value.node;
    let Some(text) = node.text() else { return };
    let ends_with_break = is_block(node) && text.ends_with('\n') && !text.trim().is_empty();
    let letter = foreign_letter(text);
    if node.tag().is_some() {
        tag::check(&value.lint_node(), report);
    }
    if !ends_with_break && letter.is_none() {
        return;
    }
    let Some(compared) = value.compared().filter(|compared| *compared != Compared::Output) else { return };
    if ends_with_break {
        let name = value.own_key().map_or_else(|| "the item".to_owned(), |name| format!("`{name}`"));
        let help = format!("use `{}`", if node.style() == Some(Style::Folded) { ">-" } else { "|-" });
        let lint_node = value.lint_node();
        let words = MessageParts::new(format!("{name} ends with a line break"))
            .note("the final line break of a block scalar is part of the value")
            .remedy(help, Fix::guess, header(&lint_node));
        report.push(lint_node.text_problem(Code::SuspiciousPattern, words));
    }
    let is_meant = |letter: &ForeignLetter| compared == Compared::Name || is_in_typographic_quotes(node, text, letter);
    if let Some(letter) = letter.filter(|letter| letter.written == '\u{a0}' || is_meant(letter)) {
        let ForeignLetter { written, name, meant } = letter;
        let lint_node = value.lint_node();
        let edits = if written == '\u{a0}' { spaced(&lint_node) } else { None };
        let words = MessageParts::new(format!("{name} (U+{:04X}) in a compared value", u32::from(written)));
        let words = words.remedy(format!("replace it with {meant}"), Fix::guess, edits);
        report.push(lint_node.problem(Code::SuspiciousPattern, words));
    }
}

/// Returns the edits that change the header of a block scalar to strip the final line break.
fn header(lint_node: &LintNode<'_>) -> Option<Vec<Edit>> {
    let range = lint_node.node.own_range();
    let source = lint_node.node.document().text().get_byte_slice(range.clone()).map(String::from)?;
    let mark = source.chars().next().filter(|mark| matches!(mark, '|' | '>'))?;
    let length = source[1..].find(|letter: char| !matches!(letter, '0'..='9' | '+' | '-')).unwrap_or(0) + 1;
    let digits: String = source[1..length].chars().filter(char::is_ascii_digit).collect();
    edit::replace_part(lint_node.node, range.start..range.start + length, &source[..length], format!("{mark}-{digits}"))
}

/// Returns the edits that replace no-break spaces that are written without escapes.
fn spaced(lint_node: &LintNode<'_>) -> Option<Vec<Edit>> {
    let range = lint_node.node.own_range();
    let source = lint_node.node.document().text().get_byte_slice(range.clone()).map(String::from)?;
    let found = source.match_indices('\u{a0}').map(|(at, blank)| range.start + at..range.start + at + blank.len());
    let edits: Option<Vec<Vec<Edit>>> =
        found.map(|range| edit::replace_part(lint_node.node, range, "\u{a0}", " ")).collect();
    Some(edits?.concat()).filter(|edits| !edits.is_empty())
}
