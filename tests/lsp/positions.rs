//! Positions in texts, as the protocol counts them: in UTF-16 units, unless a test chooses another encoding.

use serde_json::{Value, json};

/// Returns the number of units of a text.
pub fn units(text: &str, encoding: &str) -> usize {
    match encoding {
        "utf-8" => text.len(),
        "utf-16" => text.encode_utf16().count(),
        _ => text.chars().count(),
    }
}

/// Returns the position of a byte.
pub fn position(text: &str, offset: usize) -> Value {
    position_in(text, offset, "utf-16")
}

/// Returns the position of a byte, in an encoding.
pub fn position_in(text: &str, offset: usize, encoding: &str) -> Value {
    let before = text[..offset].replace("\r\n", "\n").replace('\r', "\n");
    let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
    json!({ "line": before.matches('\n').count(), "character": units(line, encoding) })
}

/// Returns the position where a part of a text begins.
pub fn position_of(text: &str, part: &str) -> Value {
    position(text, text.find(part).unwrap_or_else(|| panic!("{part} in {text}")))
}

/// Returns the position where a part of a text ends.
pub fn position_after(text: &str, part: &str) -> Value {
    position(text, text.find(part).unwrap_or_else(|| panic!("{part} in {text}")) + part.len())
}

/// Returns the byte at a position.
pub fn offset_in(text: &str, position: &Value, encoding: &str) -> usize {
    let line = usize::try_from(position["line"].as_u64().unwrap()).unwrap();
    let start = text.split_inclusive('\n').take(line).map(str::len).sum::<usize>();
    let ends = (start..=text.len()).filter(|end| text.is_char_boundary(*end));
    let wanted = position["character"].as_u64().unwrap() as usize;
    let mut found = ends.skip_while(|end| units(&text[start..*end], encoding) < wanted);
    found
        .next()
        .filter(|end| position_in(text, *end, encoding) == *position)
        .unwrap_or_else(|| panic!("{position} in {text}"))
}

/// Returns the text after edits.
pub fn edited(text: &str, edits: &Value, encoding: &str) -> String {
    let offset = |position: &Value| offset_in(text, position, encoding);
    let edits = edits.as_array().unwrap_or_else(|| panic!("{edits:#}")).iter();
    let range = |edit: &Value| offset(&edit["range"]["start"])..offset(&edit["range"]["end"]);
    let mut edits: Vec<_> = edits.map(|edit| (range(edit), edit["newText"].as_str().unwrap())).collect();
    edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut text = text.to_owned();
    edits.into_iter().for_each(|(range, new)| text.replace_range(range, new));
    text
}
