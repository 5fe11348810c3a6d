//! Templates (`{{name}}`): syntax of placeholders, and names with a value.
//!
//! The schema keyword `x-template` selects the syntax for a string.

use std::{borrow::Cow, ops::Range};

use crate::{
    dialect::{clawspec, cli_bench, kindlm},
    gateway_script,
    json_schema::SpecFile,
};

/// A name with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name.
    pub name: &'static str,
    /// Meaning of the name, as a sentence.
    pub docs: &'static str,
    /// Kinds of files in which it has a value.
    pub files: &'static [SpecFile],
}

/// A template syntax, and the source of values for its placeholders.
#[derive(Clone, Copy, Debug)]
pub struct TemplateSyntax {
    /// Name in the schema. If the author defines the variables, this is the sibling key that contains them.
    pub word: &'static str,
    /// Strings to which it applies.
    pub texts: &'static str,
    /// Syntax of placeholders, and treatment of unknown ones.
    pub docs: &'static str,
    /// Whether blanks are allowed around a name.
    pub allows_blanks: bool,
    /// Names with a value; empty if the author defines them.
    pub variables: &'static [Variable],
    /// Names whose value is known before a run, with the value.
    pub known_values: &'static [(&'static str, KnownValue)],
    /// Consequence of a name without a value. `None` if the format itself reports it.
    pub missing_value: Option<MissingValue>,
}

/// A value that is known before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownValue {
    /// The date, in UTC.
    Date,
    /// The time, in UTC.
    Time,
    /// The root of the workspace.
    Root,
    /// Always the same.
    Text(&'static str),
}

/// Consequence of a placeholder without a value.
#[derive(Clone, Copy, Debug)]
pub struct MissingValue {
    /// Consequence of an unknown name.
    pub note: &'static str,
    /// Other files in which some variables have a value, and the consequence here.
    pub elsewhere: Option<(&'static str, &'static str)>,
}

/// All template syntaxes.
pub static SYNTAXES: [TemplateSyntax; 5] = [
    kindlm::template::VARS,
    kindlm::template::BODY,
    cli_bench::template::SYNTAX,
    clawspec::template::SYNTAX,
    gateway_script::SYNTAX,
];

/// Returns the names with a value in a kind of file, for the syntax `word`; empty if the author defines them.
pub fn variables(word: &str, file: SpecFile) -> Vec<&'static Variable> {
    let known = syntax(word).into_iter().flat_map(|syntax| syntax.variables);
    known.filter(|variable| variable.files.contains(&file)).collect()
}

/// Returns the names whose value is known before a run, in all syntaxes.
pub fn known_values() -> impl Iterator<Item = (&'static str, KnownValue)> {
    SYNTAXES.iter().flat_map(|syntax| syntax.known_values).copied()
}

/// Whether blanks are allowed around a name in the syntax `word`.
pub fn allows_blanks(word: &str) -> bool {
    syntax(word).is_some_and(|syntax| syntax.allows_blanks)
}

pub(crate) fn syntax(word: &str) -> Option<&'static TemplateSyntax> {
    SYNTAXES.iter().find(|syntax| syntax.word == word)
}

/// A `{{name}}` in a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placeholder<'t> {
    /// Text, including the braces.
    pub text: &'t str,
    /// Name, without blanks around it.
    pub name: &'t str,
    /// Offset of its start.
    pub at: usize,
}

impl Placeholder<'_> {
    /// Returns its range, including the braces.
    pub fn range(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }

    /// Returns the range of the name.
    pub fn token(&self) -> Range<usize> {
        let inner = &self.text[2..self.text.len() - 2];
        let start = self.at + 2 + inner.len() - inner.trim_start().len();
        start..start + self.name.len()
    }

    /// Whether the name is reserved, so that the text is kept.
    pub fn is_reserved(&self) -> bool {
        is_reserved(self.name)
    }
}

/// Replaces placeholders by their values in one pass. Those without a value are kept.
pub(crate) fn expanded<'v>(
    text: &str,
    placeholders: &[Placeholder<'_>],
    value_of: impl Fn(&str) -> Option<Cow<'v, str>>,
) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut from = 0;
    for found in placeholders {
        let Some(value) = value_of(found.name) else { continue };
        expanded.push_str(&text[from..found.at]);
        expanded.push_str(&value);
        from = found.range().end;
    }
    expanded.push_str(&text[from..]);
    expanded
}

/// Returns the placeholders of a text in the syntax `word`.
pub fn placeholders_of<'t>(word: &str, text: &'t str) -> Vec<Placeholder<'t>> {
    if allows_blanks(word) { trimmed_placeholders(text) } else { placeholders(text) }
}

/// Returns the placeholders of a text in order: two braces, a name without spaces, two braces. Any other text
/// in braces is literal.
pub fn placeholders(text: &str) -> Vec<Placeholder<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = two_braces(text, from) {
        let name = text[start + 2..].split(|letter: char| !is_name_letter(letter)).next().unwrap_or_default();
        let end = start + 2 + name.len();
        if !name.is_empty() && text[end..].starts_with("}}") {
            found.push(Placeholder { text: &text[start..end + 2], name, at: start });
            from = end + 2;
        } else {
            from = start + 1;
        }
    }
    found
}

/// Returns the placeholders of a text if blanks around a name are ignored: two braces, any text without braces,
/// two braces. A name may be empty.
pub(crate) fn trimmed_placeholders(text: &str) -> Vec<Placeholder<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = two_braces(text, from) {
        let inner = &text[start + 2..];
        let length = inner.find(['{', '}']).unwrap_or(inner.len());
        if inner[length..].starts_with("}}") && length > 0 {
            let end = start + 2 + length + 2;
            found.push(Placeholder { text: &text[start..end], name: inner[..length].trim(), at: start });
            from = end;
        } else {
            from = start + 1;
        }
    }
    found
}

/// Returns the first two braces from a byte on. Most texts have none.
fn two_braces(text: &str, from: usize) -> Option<usize> {
    let rest = &text.as_bytes()[from..];
    memchr::memchr_iter(b'{', rest).find(|at| rest.get(at + 1) == Some(&b'{')).map(|at| from + at)
}

/// Whether a name is valid for a variable that the author defines.
pub fn is_variable_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_name_letter)
}

/// Whether a character is valid in such a name.
pub fn is_name_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.')
}

/// Whether a name is reserved: `{{env.HOME}}` is never replaced.
pub fn is_reserved(name: &str) -> bool {
    name.starts_with("env.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, text: &str, expected: &[(&str, Range<usize>)]) {
        let found = placeholders_of(word, text);
        let seen: Vec<(&str, Range<usize>)> = found.iter().map(|found| (found.name, found.token())).collect();
        assert_eq!(seen, expected, "{word}: {text}");
        for found in found {
            assert_eq!(&text[found.range()], found.text);
            assert_eq!(&text[found.token()], found.name);
        }
    }

    #[test]
    fn where_the_author_chooses_names_blanks_count() {
        check(
            "vars",
            "a {{b}} {{c.d_1}}{{e}} {{ f }} {{g-h}} {{}} {{é}} {{",
            &[("b", 4..5), ("c.d_1", 10..15), ("e", 19..20)],
        );
        check("vars", "{{{a}}} {{b} }}", &[("a", 3..4)]);
        assert!(placeholders("{{env.HOME}}")[0].is_reserved());
    }

    #[test]
    fn elsewhere_blanks_around_a_name_do_not_count() {
        check(
            "clawspec",
            "{{today}}/{{ now }} {{ }} {x} {{}} {{{run_id}}}",
            &[("today", 2..7), ("now", 13..16), ("", 23..23), ("run_id", 38..44)],
        );
    }

    #[test]
    fn every_schema_names_a_filling_that_there_is() {
        fn words(schema: &serde_json::Value, found: &mut Vec<String>) {
            match schema {
                serde_json::Value::Object(keywords) => {
                    found.extend(keywords.get("x-template").and_then(|word| word.as_str()).map(str::to_owned));
                    keywords.values().for_each(|schema| words(schema, found));
                }
                serde_json::Value::Array(items) => items.iter().for_each(|schema| words(schema, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        SpecFile::ALL.iter().for_each(|file| words(file.schema(), &mut found));
        found.sort();
        found.dedup();
        let mut known: Vec<_> = SYNTAXES.iter().map(|syntax| syntax.word).collect();
        known.sort_unstable();
        assert_eq!(found, known);
    }
}
