//! The text of a completion: the value after a key, and the notation of values.

use serde_json::Value;
use speclens_schema::{
    document::Pointer,
    quoting::show,
    shape::{Field, Need, Shape, Type},
};

use crate::ide::{context::Layout, snippet::escape};

/// Maximum depth of inserted keys; deeper ones are left to the author.
const MAX_DEPTH: usize = 3;

/// Returns the known value at a place before it is written.
pub(super) type Guess<'g> = &'g dyn Fn(&Pointer) -> Option<String>;

/// Writes keys with their required values. A snippet has a tab stop at every value; plain text ends at the position of
/// the first one.
pub(super) struct Writer<'w> {
    layout: &'w Layout,
    guess: Guess<'w>,
    pub(super) is_snippet: bool,
    text: String,
    stops: usize,
    /// The start of the last stop, if it is empty.
    last_stop: Option<usize>,
    /// Whether plain text has reached a value.
    is_full: bool,
}

impl<'w> Writer<'w> {
    pub(super) fn new(layout: &'w Layout, guess: Guess<'w>, is_snippet: bool) -> Writer<'w> {
        Writer { layout, guess, is_snippet, text: String::new(), stops: 0, last_stop: None, is_full: false }
    }

    pub(super) fn push(&mut self, words: &str) {
        if !self.is_full {
            let words = if self.is_snippet { escape(words) } else { words.to_owned() };
            self.text.push_str(&words);
        }
    }

    pub(super) fn line(&mut self, column: usize) {
        if self.is_full {
            return;
        }
        // Clients put the indentation of the cursor's line in front of the snippet's lines after the first.
        let (line_break, column) = match self.is_snippet {
            true => ("\n", column.saturating_sub(self.layout.indent)),
            false => (self.layout.line_break, column),
        };
        self.text.push_str(line_break);
        self.text.push_str(&" ".repeat(column));
    }

    /// Writes the separator between two entries of the mapping whose keys are at a column.
    pub(super) fn next(&mut self, column: usize) {
        if self.layout.flow { self.push(", ") } else { self.line(column) }
    }

    /// Writes the colon after a key in `column`, and its value. `at` is the place of the value.
    pub(super) fn value(&mut self, shape: &Shape, at: &Pointer, column: usize) {
        self.value_below(shape, at, column, 0);
    }

    fn value_below(&mut self, shape: &Shape, at: &Pointer, column: usize, depth: usize) {
        self.push(":");
        let below = column + self.layout.step;
        match shape.kind() {
            Type::List | Type::Mapping if self.layout.flow => self.in_brackets(shape),
            Type::List => {
                self.line(below);
                self.push("- ");
                let item = shape.item().filter(|item| item.kind() == Type::Mapping);
                self.members(item.as_ref(), &at.index(0), below + 2, depth, true);
            }
            Type::Mapping => self.members(Some(shape), at, below, depth, false),
            Type::Text | Type::Integer | Type::Number | Type::Boolean | Type::Any => {
                self.push(" ");
                self.scalar(shape, at);
            }
        }
    }

    /// Writes the required keys of a mapping; a stop for the first key if none is required.
    pub(super) fn members(&mut self, shape: Option<&Shape>, at: &Pointer, column: usize, depth: usize, is_item: bool) {
        let fields = shape.filter(|_| depth < MAX_DEPTH).map(needed).unwrap_or_default();
        if fields.is_empty() {
            if !is_item {
                self.line(column);
            }
            self.stop(None);
        }
        for (index, field) in fields.iter().enumerate() {
            if index > 0 || !is_item {
                self.line(column);
            }
            self.push(field.name);
            self.value_below(&field.shape, &at.key(field.name), column, depth + 1);
        }
    }

    fn in_brackets(&mut self, shape: &Shape) {
        let is_list = shape.kind() == Type::List;
        if !self.is_snippet {
            self.push(if is_list { " []" } else { " {}" });
            self.is_full = true;
            return;
        }
        self.push(if is_list { " [" } else { " { " });
        self.stop(None);
        self.push(if is_list { "]" } else { " }" });
    }

    fn scalar(&mut self, shape: &Shape, at: &Pointer) {
        if let [only] = shape.values().as_slice() {
            self.push(&show(only.value));
            return;
        }
        let known = (self.guess)(at);
        self.stop(known.as_deref());
    }

    fn stop(&mut self, known: Option<&str>) {
        if self.is_full {
            return;
        }
        match (self.is_snippet, known) {
            (true, known) => {
                self.stops += 1;
                self.last_stop = known.is_none().then_some(self.text.len());
                match known {
                    Some(known) => {
                        let known = escape(known).replace('}', "\\}");
                        self.text.push_str(&format!("${{{}:{known}}}", self.stops));
                    }
                    None => self.text.push_str(&format!("${}", self.stops)),
                }
            }
            (false, Some(known)) => self.text.push_str(known),
            (false, None) => self.is_full = true,
        }
    }

    /// Returns the text. A single stop at the end is removed: the cursor ends up there anyway.
    pub(super) fn finish(mut self) -> String {
        let Some(at) = self.last_stop else { return self.text };
        let mark = format!("${}", self.stops);
        let is_end = self.text.len() == at + mark.len();
        match self.stops == 1 && is_end {
            true => self.text.truncate(at),
            // The last stop ends the snippet.
            false => self.text.replace_range(at..at + mark.len(), "$0"),
        }
        self.text
    }
}

/// Returns the required keys of a mapping. Of two alternatives, the first is the usual one.
pub(super) fn needed(shape: &Shape) -> Vec<Field> {
    let is_needed = |field: &Field| match &field.need {
        Need::Required => true,
        Need::OneOf(names) => names.len() == 2 && names.first() == Some(&field.name),
        Need::AnyOf(_) | Need::Optional => false,
    };
    shape.fields(None).into_iter().filter(is_needed).collect()
}

/// Returns a value as it is written at the cursor; `None` if it cannot be written in the quotes there.
pub(super) fn written(value: &Value, quote: Option<char>) -> Option<String> {
    match (value, quote) {
        (_, None) => Some(show(value)),
        (Value::String(text), Some(quote)) => Some(quoted(text, quote)),
        (_, Some(_)) => None,
    }
}

pub(super) fn quoted(text: &str, quote: char) -> String {
    if quote != '"' {
        return text.replace('\'', "''");
    }
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
