//! The text of a completion: what comes behind a key, and how values are written.

use serde_json::Value;
use speclens_schema::shape::{Field, Need, Shape, Type, show};

use crate::ide::context::Layout;

/// What comes behind a key: the colon, and the beginning of its value. As a snippet with tab stops, or
/// plain; nothing when it is only `: `.
pub(super) fn template_of(shape: &Shape, layout: &Layout, is_snippet: bool) -> Option<String> {
    let kind = shape.kind();
    let is_list = kind == Type::List;
    if !is_list && kind != Type::Mapping {
        return None;
    }
    if layout.flow {
        return Some(match (is_list, is_snippet) {
            (true, true) => ": [$0]".to_owned(),
            (true, false) => ": []".to_owned(),
            (false, true) => ": { $0 }".to_owned(),
            (false, false) => ": {}".to_owned(),
        });
    }
    let column = layout.column + layout.step;
    let (column, line_break) = match is_snippet {
        true => (column.saturating_sub(layout.indent), "\n"),
        false => (column, layout.line_break),
    };
    let mut text = format!(":{line_break}{}", " ".repeat(column));
    let members = if is_list { shape.item().filter(|item| item.kind() == Type::Mapping) } else { Some(shape.clone()) };
    let fields = members.map(|members| members.fields(None)).unwrap_or_default();
    let required: Vec<&Field> = fields
        .iter()
        .filter(|field| field.need == Need::Required && !matches!(field.shape.kind(), Type::Mapping | Type::List))
        .collect();
    if is_list {
        text.push_str("- ");
    }
    match required.as_slice() {
        [only] => text.push_str(&format!("{}: ", only.name)),
        [] => {}
        [first, rest @ ..] => {
            if !is_snippet {
                text.push_str(&format!("{}: ", first.name));
            } else {
                let inner = column + if is_list { 2 } else { 0 };
                text.push_str(&format!("{}: $1", first.name));
                for (index, field) in rest.iter().enumerate() {
                    text.push_str(&format!("{line_break}{}{}: ${}", " ".repeat(inner), field.name, index + 2));
                }
            }
        }
    }
    Some(text)
}

/// The columns by which the further lines of a snippet move: one whose dash was left out stands two
/// columns further left already.
pub(super) fn dash_shift(text: &str, whole: &str, column: usize) -> usize {
    if text.len() < whole.len() { column.saturating_sub(2) } else { column }
}

/// A value as it is written at the cursor; nothing when it cannot be written in the quotes there.
pub(super) fn written(value: &Value, quote: Option<char>) -> Option<String> {
    match (value, quote) {
        (_, None) => Some(show(value)),
        (Value::String(text), Some('"')) => {
            let quoted = Value::from(text.as_str()).to_string();
            Some(quoted[1..quoted.len() - 1].to_owned())
        }
        (Value::String(text), Some(_)) => Some(text.replace('\'', "''")),
        (_, Some(_)) => None,
    }
}
