//! Shapes of lines in the first column.

/// The shape of a line in the first column.
pub(super) enum Shape {
    Key,
    /// `key: value`
    KeyWithValue(Value),
    /// Anything else.
    Other,
}

/// The effect of a value on the lines that follow.
pub(super) enum Value {
    /// Only continued text may belong to it.
    Complete,
    /// Indented lines follow: a block scalar, or an anchor or tag whose node comes below.
    Opens,
    /// A quote or bracket is open: anything may follow.
    Unclosed,
}

fn value_shape(value: &str) -> Value {
    let balanced = |open: char, close: char| value.matches(open).count() <= value.matches(close).count();
    match value.chars().next() {
        Some('|' | '>' | '&' | '!') => Value::Opens,
        Some(quote @ ('"' | '\'')) if value.matches(quote).count() < 2 => Value::Unclosed,
        Some('[') if !balanced('[', ']') => Value::Unclosed,
        Some('{') if !balanced('{', '}') => Value::Unclosed,
        Some(_) | None => Value::Complete,
    }
}

/// Returns the shape of a line that begins in the first column.
pub(super) fn entry_shape(line: &str) -> Shape {
    if line.starts_with("<<<<<<<") || line.starts_with(">>>>>>>") || line.starts_with("=======") {
        return Shape::Other;
    }
    let rest = match line.chars().next() {
        Some(quote @ ('"' | '\'')) => match line[1..].find(quote) {
            Some(end) => &line[end + 2..],
            None => return Shape::Other,
        },
        _ => line,
    };
    let Some(colon) = rest
        .match_indices(':')
        .map(|(at, _)| at)
        .find(|at| rest[at + 1..].chars().next().is_none_or(|next| next == ' ' || next == '\t'))
    else {
        return Shape::Other;
    };
    if rest[..colon].contains(" #") {
        return Shape::Other;
    }
    let value = rest[colon + 1..].trim_start();
    if value.is_empty() || value.starts_with('#') { Shape::Key } else { Shape::KeyWithValue(value_shape(value)) }
}
