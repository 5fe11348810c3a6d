//! The cursor in flow style: `{a: [1, |`. Reads only from the opening bracket to the cursor,
//! so that brackets may still be open.

use std::ops::Range;

use speclens_schema::document::Step;

/// The place of the cursor.
#[derive(Debug, PartialEq)]
pub(crate) struct FlowPlace {
    /// The steps from the opening node to the mapping or list around the cursor, and to the value if the
    /// cursor is at one.
    pub steps: Vec<Step<'static>>,
    /// The kind of text that is being typed.
    pub slot: FlowSlot,
    /// The existing text at the cursor, up to its end; relative to the opening bracket.
    pub token: Range<usize>,
    /// The quote around the cursor. The token begins after it.
    pub quote: Option<char>,
}

/// The kind of text that is being typed.
#[derive(Debug, PartialEq)]
pub(crate) enum FlowSlot {
    /// A key, with the keys before it.
    Key(Vec<String>),
    /// A value, or an item.
    Value,
}

struct Frame {
    is_map: bool,
    key: Option<String>,
    keys: Vec<String>,
    index: usize,
}

/// Finds the cursor in `text`, which begins with a bracket. `None` if the bracket is closed before it, or if the cursor
/// is in a comment or after a complete value.
pub(crate) fn place(text: &str, cursor: usize) -> Option<FlowPlace> {
    let mut frames: Vec<Frame> = Vec::new();
    // The last token: its text and its bytes.
    let mut token: Option<(String, Range<usize>)> = None;
    let mut at = 0;
    while at < cursor {
        let rest = &text[at..];
        let letter = rest.chars().next()?;
        match letter {
            ' ' | '\t' | '\n' | '\r' => at += 1,
            '#' if at == 0 || text[..at].ends_with([' ', '\t', '\n', '\r']) => {
                at += rest.find('\n').unwrap_or(rest.len());
                if at >= cursor {
                    return None;
                }
            }
            '{' | '[' => {
                frames.push(Frame { is_map: letter == '{', key: None, keys: Vec::new(), index: 0 });
                token = None;
                at += 1;
            }
            '}' | ']' => {
                frames.pop();
                if frames.is_empty() {
                    return None;
                }
                token = Some((String::new(), at..at + 1));
                at += 1;
            }
            ',' => {
                let frame = frames.last_mut()?;
                frame.keys.extend(frame.key.take());
                frame.index += 1;
                token = None;
                at += 1;
            }
            ':' if ends_key(
                &rest[1..],
                token.as_ref().is_some_and(|(_, range)| text[range.clone()].starts_with(['"', '\''])),
            ) =>
            {
                let frame = frames.last_mut()?;
                frame.key = Some(token.take().map_or_else(String::new, |(name, _)| name));
                at += 1;
            }
            '"' | '\'' => match super::line::quote_end(rest).filter(|end| at + end <= cursor) {
                Some(end) => {
                    token = Some((rest[1..end - 1].to_owned(), at..at + end));
                    at += end;
                }
                None => {
                    let end = super::line::quote_end(rest).map_or_else(|| line_end(text, cursor), |end| at + end - 1);
                    return finish(text, cursor, frames, at + 1..end.max(cursor), Some(letter));
                }
            },
            _ => {
                let end = at + plain_end(rest);
                if end >= cursor {
                    return finish(text, cursor, frames, at..end, None);
                }
                token = Some((text[at..end].trim_end().to_owned(), at..end));
                at = end.max(at + 1);
            }
        }
    }
    if token.is_some() {
        return None;
    }
    // A value here would be a second one directly before another one.
    if text[cursor..].trim_start().starts_with(['{', '[', '"', '\'']) {
        return None;
    }
    let end = cursor + plain_end(&text[cursor..]);
    finish(text, cursor, frames, cursor..end, None)
}

fn finish(
    text: &str,
    cursor: usize,
    frames: Vec<Frame>,
    token: Range<usize>,
    quote: Option<char>,
) -> Option<FlowPlace> {
    let (last, outer) = frames.split_last()?;
    let mut steps: Vec<Step<'static>> = outer.iter().map(step).collect();
    let slot = if last.is_map && last.key.is_none() {
        FlowSlot::Key(last.keys.clone())
    } else {
        steps.push(step(last));
        FlowSlot::Value
    };
    let end = if quote.is_some() { token.end } else { token.start + text[token.clone()].trim_end().len() };
    (cursor <= end).then_some(FlowPlace { steps, slot, token: token.start..end, quote })
}

fn step(frame: &Frame) -> Step<'static> {
    if frame.is_map { Step::Key(frame.key.clone().unwrap_or_default().into()) } else { Step::Index(frame.index) }
}

/// Whether a colon followed by this text ends a key.
fn ends_key(behind: &str, quoted: bool) -> bool {
    quoted || behind.is_empty() || behind.starts_with([' ', '\t', '\n', '\r', ',', '[', ']', '{', '}'])
}

/// Returns the end of a plain scalar: at a line break, a bracket, a comma, a colon that ends a key, a comment.
fn plain_end(text: &str) -> usize {
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        let ends = match letter {
            ',' | '[' | ']' | '{' | '}' | '\n' | '\r' => true,
            ':' => ends_key(&text[at + 1..], false),
            '#' => matches!(before, ' ' | '\t') && at > 0,
            _ => false,
        };
        if ends {
            return at;
        }
        before = letter;
    }
    text.len()
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find(['\n', '\r']).map_or(text.len(), |end| at + end)
}

#[cfg(test)]
mod tests {
    use speclens_schema::document::Pointer;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let cursor = text.find('|').unwrap();
        let text = text.replacen('|', "", 1);
        let found = match place(&text, cursor) {
            None => "nothing".to_owned(),
            Some(place) => {
                let kind = match &place.slot {
                    FlowSlot::Key(keys) => format!("key after {keys:?}"),
                    FlowSlot::Value => "value".to_owned(),
                };
                let quote = place.quote.map(String::from).unwrap_or_default();
                let at = place.steps.iter().fold(Pointer::root(), |at, step| at.step(step));
                let at = if at.is_root() { "/".to_owned() } else { at.to_string() };
                format!("{at} {kind} `{}`{quote}", &text[place.token])
            }
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn the_cursor_is_found_in_open_brackets() {
        check("{|", "/ key after [] ``");
        check("{ na|", "/ key after [] `na`");
        check("{ name: x, ex|: 1 }", "/ key after [\"name\"] `ex`");
        check("{a: {b: c}, d: [x, {e: |}]}", "/d/1/e value ``");
        check("[a, b|", "/1 value `b`");
        check("[a, |]", "/1 value ``");
        check("[\"a, |b\", c]", "/0 value `a, b`\"");
        check("[\"open |", "/0 value `open `\"");
        check("{\"a\":\"x|\"}", "/a value `x`\"");
        check("[a]|", "nothing");
        check("[a] |", "nothing");
        check("[\"a\"|]", "nothing");
        check("[a, # |", "nothing");
        check("{\n  a: 1,\n  |\n}", "/ key after [\"a\"] ``");
        check("{a: http://x|}", "/a value `http://x`");
        check("{a: 1, |b: 2}", "/ key after [\"a\"] `b`");
        check("{a |", "nothing");
        check("{\"a |\": 1}", "/ key after [] `a `\"");
        check("[|{a: 1}]", "nothing");
        check("{a: | \"b\"}", "nothing");
    }
}
