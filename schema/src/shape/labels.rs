//! The type of a node in words.

use serde_json::Value;

use crate::{
    quoting::{choice_label, plain},
    shape::{Shape, Type, Word},
};

impl Shape {
    /// Returns the bounds of a number or length in words; `None` if there are none.
    pub fn bounds(&self) -> Option<String> {
        /// Bounds beyond the exact range of a double are omitted, because they mean nothing to a reader.
        const EXACT: f64 = 9_007_199_254_740_991.0;
        let number = |name: &str| self.keyword(name).filter(|value| value.as_f64().is_some_and(|at| at.abs() < EXACT));
        match (number("minimum"), number("maximum"), number("exclusiveMinimum")) {
            (_, Some(most), Some(least)) => Some(format!("above {least}, at most {most}")),
            (Some(least), Some(most), None) => Some(format!("{} to {}", plain(least), plain(most))),
            (None, Some(most), None) => Some(format!("at most {}", plain(most))),
            (_, None, Some(least)) => Some(format!("above {}", plain(least))),
            (Some(least), None, None) => Some(format!("at least {}", plain(least))),
            (None, None, None) => None,
        }
    }

    /// Returns the type in words, with its bounds: "integer, 1 to 100", "list of strings".
    pub fn type_label(&self) -> String {
        let name = self.type_name();
        match self.bounds().filter(|_| self.values().is_empty()) {
            Some(bounds) if matches!(self.kind(), Type::Integer | Type::Number) => format!("{name}, {bounds}"),
            Some(_) | None => name,
        }
    }

    /// Returns the type in words: "integer", "list of strings".
    pub fn type_name(&self) -> String {
        let values = self.values();
        if !values.is_empty() && self.kind() != Type::Boolean {
            let names: Vec<String> = values.iter().map(|choice| choice_label(choice.value)).collect();
            return crate::words::listed(names.iter().map(String::as_str));
        }
        match self.kind() {
            Type::Text if self.is_shell() => "shell command".to_owned(),
            Type::Text => match self.word() {
                Some(Word::File("json-schema")) => "path of a JSON Schema file".to_owned(),
                Some(Word::File("directory")) => "directory path".to_owned(),
                Some(Word::File(_)) if self.is_glob() => "path or pattern of files".to_owned(),
                Some(Word::File(_)) => "file path".to_owned(),
                Some(Word::Shell) => "shell command".to_owned(),
                Some(Word::Pattern(_)) => "regular expression".to_owned(),
                Some(Word::Refers(kind)) => format!("name from `{kind}`"),
                Some(Word::Defines(_)) => "name".to_owned(),
                // Template support is not a condition.
                Some(Word::Template(_)) | None => "string".to_owned(),
            },
            Type::Integer => "integer".to_owned(),
            Type::Number => "number".to_owned(),
            Type::Boolean => "`true` or `false`".to_owned(),
            Type::List => match self.item() {
                Some(item) => format!("list of {}", plural(&item)),
                None => "list".to_owned(),
            },
            Type::Mapping => match self.map_value() {
                Some(value) => format!("mapping of names to {}", plural(&value)),
                None => "mapping".to_owned(),
            },
            Type::Any => match self.type_names().as_slice() {
                [] => "any value".to_owned(),
                names => one_of(names),
            },
        }
    }

    /// Whether a string is meant, although other scalars are accepted.
    pub(crate) fn is_loose_text(&self) -> bool {
        matches!(self.type_names().as_slice(), ["string", _, ..])
    }

    /// Returns the allowed types, if there are several.
    fn type_names(&self) -> Vec<&'static str> {
        let names = self.keyword("type").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let words = names.map(|name| match name {
            "array" => "list",
            "object" => "mapping",
            other => other,
        });
        words.collect()
    }
}

/// Returns names such as `a`, `b` or `c`, which may contain "or" themselves.
fn one_of(names: &[&str]) -> String {
    match names {
        [first @ .., last] if first.len() > 1 => format!("{} or {last}", first.join(", ")),
        names => names.join(" or "),
    }
}

fn plural(shape: &Shape) -> String {
    if let Some(text) = shape.text_form() {
        return format!("mappings or {}", plural(&text));
    }
    match shape.kind() {
        Type::Mapping => "mappings".to_owned(),
        Type::List => "lists".to_owned(),
        Type::Any => {
            let names = shape.type_names().into_iter().map(|name| match name {
                "null" => name.to_owned(),
                name => format!("{name}s"),
            });
            match names.collect::<Vec<String>>().as_slice() {
                [] => "values of any type".to_owned(),
                names => one_of(&names.iter().map(String::as_str).collect::<Vec<_>>()),
            }
        }
        Type::Text if !shape.values().is_empty() => shape.type_label(),
        Type::Text => match shape.word() {
            Some(Word::Pattern(_)) => "regular expressions".to_owned(),
            Some(Word::Refers(kind)) => format!("names from `{kind}`"),
            Some(Word::File(_)) => "paths".to_owned(),
            Some(Word::Shell) => "shell commands".to_owned(),
            Some(Word::Template(_) | Word::Defines(_)) | None => "strings".to_owned(),
        },
        Type::Integer => "integers".to_owned(),
        Type::Number => "numbers".to_owned(),
        Type::Boolean => "`true` or `false`".to_owned(),
    }
}
