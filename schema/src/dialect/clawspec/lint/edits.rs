//! Changes of the text that several lints make.

use std::ops::Range;

use crate::{problem::Edit, rewrite, shape::scalar, spot::Spot};

/// Adds `key: value` members behind the one with this key. Nothing where the layout is unusual.
pub(super) fn insert_behind(mapping: &Spot<'_>, key: &str, members: &[(&str, String)]) -> Option<Edit> {
    if members.is_empty() || !mapping.is_own() || mapping.node.alias().is_some() {
        return None;
    }
    let entry = mapping.node.entries().find(|entry| entry.key.text() == Some(key))?;
    let text = mapping.node.document().text();
    let start = entry.key.own_range().start;
    let end = entry.value.own_range().end;
    if text.byte_to_line(start) != text.byte_to_line(end) || entry.value.is_through_alias() {
        return None;
    }
    let own = mapping.node.own_range();
    if text.get_byte_slice(own.start..own.start + 1)? == "{" {
        let words: String = members.iter().map(|(name, value)| format!(", {name}: {value}")).collect();
        return Some(Edit::new(end..end, words));
    }
    let line = text.byte_to_line(start);
    let line_start = text.line_to_byte(line);
    let before = String::from(text.get_byte_slice(line_start..start)?);
    if !before.chars().all(|letter| letter == ' ' || letter == '-') {
        return None;
    }
    let whole = String::from(text.get_byte_slice(line_start..text.line_to_byte(line + 1))?);
    let at = line_start + whole.trim_end_matches(['\n', '\r']).len();
    let indent = " ".repeat(before.chars().count());
    let words: String = members.iter().map(|(name, value)| format!("\n{indent}{name}: {value}")).collect();
    Some(Edit::new(at..at, words))
}

/// Adds an item behind the last one of a list in block style.
pub(super) fn append(list: &Spot<'_>, members: &[(&str, String)]) -> Option<Edit> {
    let lines = rewrite::item(list.node, list.node.items().last()?)?;
    let text = list.node.document().text();
    let newline =
        if String::from(text.line(text.byte_to_line(lines.range.end))).ends_with("\r\n") { "\r\n" } else { "\n" };
    let before = lines.before.trim_start_matches('\u{feff}');
    let member = |(index, (name, value)): (usize, &(&str, String))| {
        let dash = if index == 0 { "- " } else { "  " };
        format!("{newline}{before}{dash}{name}: {value}")
    };
    Some(Edit::new(lines.range.end..lines.range.end, members.iter().enumerate().map(member).collect::<String>()))
}

/// Gives a key another name.
pub(super) fn rename(member: &Spot<'_>, name: &str) -> Option<Edit> {
    let key = member.key.filter(|key| !key.is_through_alias())?;
    Some(Edit::new(key.own_range(), scalar(name)))
}

/// Puts other words in place of a scalar.
pub(super) fn replace(value: &Spot<'_>, text: impl Into<String>) -> Option<Edit> {
    let range = one_line(value)?;
    Some(Edit::new(range, text))
}

/// The bytes of a value that stands on one line and may be changed there.
pub(super) fn one_line(value: &Spot<'_>) -> Option<Range<usize>> {
    let range = value.node.own_range();
    let text = value.node.document().text();
    let single = !range.is_empty() && text.byte_to_line(range.start) == text.byte_to_line(range.end);
    (single && value.is_own() && value.node.alias().is_none()).then_some(range)
}

/// The words of a value as they were written.
pub(super) fn words(value: &Spot<'_>) -> Option<String> {
    let range = one_line(value)?;
    value.node.document().text().get_byte_slice(range).map(String::from)
}

/// Takes an entry of a mapping out, with its line. Nothing where it does not have lines of its own.
pub(super) fn remove(member: &Spot<'_>) -> Option<Edit> {
    let key = member.key.filter(|key| !key.is_through_alias())?;
    let text = member.node.document().text();
    let start = key.own_range().start;
    let line = text.byte_to_line(start);
    let line_start = text.line_to_byte(line);
    let end = one_line(member)?.end;
    let before = String::from(text.get_byte_slice(line_start..start)?);
    let next = text.line_to_byte(line + 1);
    let behind = String::from(text.get_byte_slice(end..next)?);
    let blank = behind.trim();
    (before.chars().all(|letter| letter == ' ') && (blank.is_empty() || blank.starts_with('#')))
        .then(|| Edit::new(line_start..next, ""))
}
