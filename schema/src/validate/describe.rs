//! Descriptions of nodes, types and docs for messages.

use crate::document::{NodeRef, Scalar, Shape as NodeShape};

/// Returns a description of a node: "the string `x`", "a list".
pub(crate) fn describe(node: NodeRef<'_>) -> String {
    const SHOWN: usize = 32;
    let text = node.text().unwrap_or_default();
    let mut shown: String =
        text.chars().take(SHOWN).map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    match (node.shape(), node.scalar()) {
        (NodeShape::Sequence, _) => "a list".to_owned(),
        (NodeShape::Mapping, _) => "a mapping".to_owned(),
        (NodeShape::Dangling, _) => "an unknown alias".to_owned(),
        (NodeShape::Scalar, Some(Scalar::Null)) => "null".to_owned(),
        (NodeShape::Scalar, Some(Scalar::Bool(_))) => format!("the boolean `{shown}`"),
        // "Not a number" is not called one.
        (NodeShape::Scalar, Some(Scalar::Float(number))) if number.is_nan() => format!("`{shown}`"),
        (NodeShape::Scalar, Some(Scalar::Int(_) | Scalar::Float(_))) => format!("the number `{shown}`"),
        (NodeShape::Scalar, Some(Scalar::Text | Scalar::Timestamp) | None) if text.is_empty() => {
            "an empty string".to_owned()
        }
        (NodeShape::Scalar, Some(Scalar::Text | Scalar::Timestamp) | None) => format!("the string `{shown}`"),
    }
}

pub(crate) fn with_article(label: &str) -> String {
    match label.chars().next() {
        Some('`') => label.to_owned(),
        _ if label.starts_with("any ") || label == "null" => label.to_owned(),
        Some('a' | 'e' | 'i' | 'o') => format!("an {label}"),
        _ => format!("a {label}"),
    }
}

/// Returns the first sentence of a doc comment as the end of a sentence.
pub(crate) fn as_fragment(summary: &str) -> String {
    let sentence = summary.split(". ").next().unwrap_or(summary).trim_end_matches('.');
    let word = sentence.split(' ').next().unwrap_or(sentence);
    let mut letters = sentence.chars();
    match letters.next() {
        // Names such as JSON and OpenAI keep their capitals.
        Some(first) if !word.chars().skip(1).any(char::is_uppercase) => first.to_lowercase().chain(letters).collect(),
        Some(_) => sentence.to_owned(),
        None => String::new(),
    }
}
