//! The layout of lines, readable or not: indentation, dashes, keys.

use std::ops::Range;

/// The beginning of an entry's line.
pub(super) enum Head {
    /// `key:`, or `key: &name`; the end of the key, and the position of its colon.
    Key { key: usize, colon: usize },
    /// `key: value`; the same.
    KeyWithValue { key: usize, colon: usize },
    /// Anything else.
    Other,
}

/// Returns how a line without its indentation begins.
pub(super) fn head_shape(line: &str) -> Head {
    let (from, quoted) = match line.chars().next() {
        Some(quote @ ('"' | '\'')) => match line[1..].find(quote) {
            Some(end) => (end + 2, true),
            None => return Head::Other,
        },
        _ => (0, false),
    };
    let colon = line[from..].match_indices(':').map(|(at, _)| from + at).find(|at| ends_or_blank(&line[at + 1..]));
    let Some(colon) = colon else { return Head::Other };
    let key = line[..colon].trim_end_matches([' ', '\t']);
    if key.is_empty() || (!quoted && key.starts_with(['[', '{', '&', '*', '!', '?', '|', '>', '#'])) {
        return Head::Other;
    }
    let value = line[colon + 1..].trim();
    let key = key.len();
    if value.is_empty() || value.starts_with('#') || is_property(value) {
        Head::Key { key, colon }
    } else {
        Head::KeyWithValue { key, colon }
    }
}

/// Returns whether words are only an anchor or a tag, whose node is on the lines below.
pub(super) fn is_property(words: &str) -> bool {
    words.len() > 1 && words.starts_with(['&', '!']) && !words.contains(|letter: char| " \t,[]{}".contains(letter))
}

/// Returns the starts of the lines that begin a piece. A dash in the column of keys is an item of the list of the key
/// above it: many authors and tools, PyYAML and Prettier among them, do not indent lists.
pub(super) fn piece_starts(text: &str, range: Range<usize>) -> Vec<usize> {
    let mut starts: Vec<usize> = Vec::new();
    let mut column = None;
    let mut is_list = false;
    // The column of the current piece.
    let mut open = 0;
    for line in lines(text, range) {
        let content = text[line.clone()].trim_start_matches(' ');
        if content.trim().is_empty() || content.starts_with('#') {
            continue;
        }
        let indent = line.len() - content.len();
        if column.is_none() {
            is_list = is_dash(content);
        }
        let first = *column.get_or_insert(indent);
        let is_item_of_key = !is_list && indent == open && is_dash(content);
        if starts.is_empty() || (indent <= first && !is_item_of_key && !content.starts_with([']', '}'])) {
            starts.push(line.start);
            open = indent;
        }
    }
    starts
}

/// Returns the lines that begin in a range, without their line breaks.
pub(super) fn lines(text: &str, range: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = range.start;
    std::iter::from_fn(move || {
        if at >= range.end {
            return None;
        }
        let end = text[at..range.end].find('\n').map_or(range.end, |end| at + end);
        let line = at..end;
        at = end + 1;
        Some(line)
    })
}

/// Returns the line around an offset, without its line break.
pub(super) fn line_at(text: &str, offset: usize) -> Range<usize> {
    let offset = floor_boundary(text, offset.min(text.len()));
    let start = text[..offset].rfind('\n').map_or(0, |end| end + 1);
    let end = text[offset..].find('\n').map_or(text.len(), |end| offset + end);
    start..end
}

/// Returns the start of the line after the one that ends at `line_end`, at most `limit`.
pub(super) fn after_line(text: &str, line_end: usize, limit: usize) -> usize {
    if text[line_end..].starts_with('\n') { (line_end + 1).min(limit) } else { line_end.min(limit) }
}

/// Returns the start of the first line that is not blank.
pub(super) fn first_content(text: &str, range: Range<usize>) -> Option<usize> {
    lines(text, range).find(|line| !text[line.clone()].trim().is_empty()).map(|line| line.start)
}

/// Returns the number of blanks at the beginning of a text.
pub(super) fn indent(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

/// Returns whether a text begins with the dash of a list item.
pub(super) fn is_dash(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(ends_or_blank)
}

/// Returns whether a text is empty or begins with YAML white space: a no-break space, for example, is a letter.
fn ends_or_blank(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n'])
}

/// Returns a range without the blanks at its ends.
pub(super) fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    let end = range.start + part.trim_end().len();
    if start < end { start..end } else { range }
}

/// Replaces everything but line breaks with blanks.
pub(super) fn blank(text: &mut String, range: Range<usize>) {
    let blanks: String = text[range.clone()]
        .bytes()
        .map(|byte| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' })
        .collect();
    text.replace_range(range, &blanks);
}

pub(crate) fn floor_boundary(text: &str, mut offset: usize) -> usize {
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// Returns whether a character looks like a space, but is not one in YAML.
pub fn is_foreign_blank(letter: char) -> bool {
    matches!(letter, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200b}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

/// Returns whether a word can be a key, rather than a drive or a time.
pub(super) fn is_key(word: &str) -> bool {
    word.len() > 1
        && word.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && word.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter))
}

/// Returns whether words are a single word, which may be a key or an item.
pub(super) fn is_word(words: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
    words.chars().all(is_part) && words.contains(char::is_alphanumeric)
}
