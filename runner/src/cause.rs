//! Causes of errors, for messages.

use std::error::Error;

use serde_json::Value;

/// Maximum number of characters of the text of another program in a message.
const MAX_CHARACTERS: usize = 200;

/// Returns the innermost cause of an error: the outer ones only say where it happened.
pub(crate) fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Returns the error text in the body of a response: each server has another place for it. `None` if it is empty.
pub(crate) fn words(body: &str) -> Option<String> {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    // Gemini's compatible address answers with a list of one item.
    let parsed = parsed.map(|value| value.get(0).cloned().unwrap_or(value));
    let place = ["/error/message", "/error", "/message", "/detail"];
    let found = parsed.as_ref().and_then(|value| place.iter().find_map(|place| value.pointer(place)?.as_str()));
    let text = found.unwrap_or(body).trim().trim_end_matches('.');
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns the first words of a text, in one line. No word is cut: a part of a secret would not be found to mask it.
pub(crate) fn in_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(MAX_CHARACTERS) else { return line };
    let whole = line[..end].rfind(' ').unwrap_or_default();
    format!("{} …", &line[..whole]).trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn error_text_is_found_in_each_place() {
        for body in [
            r#"{"error": {"message": "no such model.", "type": "x"}}"#,
            r#"{"type": "error", "error": {"type": "not_found_error", "message": "no such model"}}"#,
            r#"[{"error": {"code": 404, "message": "no such model"}}]"#,
            r#"{"error": "no such model"}"#,
            r#"{"message": "no such model"}"#,
            r#"{"detail": "no such model"}"#,
            " no such model\n",
        ] {
            assert_eq!(words(body).as_deref(), Some("no such model"), "{body}");
        }
        assert_eq!(words(" "), None);
    }
}
