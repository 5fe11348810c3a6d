//! Placeholders in texts: `{{name}}`, and the syntaxes of formats that have them. [`crate::template_syntax`] lists the
//! syntaxes.

use std::{borrow::Cow, fmt, ops::Range};

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
    pub fn range(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }

    pub fn token(&self) -> Range<usize> {
        let inner = &self.text[2..self.text.len() - 2];
        let start = self.at + 2 + inner.len() - inner.trim_start().len();
        start..start + self.name.len()
    }

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

/// Replaces every placeholder by its value in one pass.
pub fn filled(text: &str, value_of: impl Fn(&str) -> String) -> String {
    expanded(text, &placeholders(text), |name| Some(Cow::Owned(value_of(name))))
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

pub fn is_name_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.')
}

/// Whether a name is reserved: `{{env.HOME}}` is never replaced.
pub fn is_reserved(name: &str) -> bool {
    name.starts_with("env.")
}

/// Returns the names that an author gives values to, in order of appearance, including repetitions.
pub fn variable_names(template: &str) -> impl Iterator<Item = &str> {
    placeholders(template).into_iter().filter(|found| !found.is_reserved()).map(|found| found.name)
}

/// Expands the placeholders of a text, ignoring blanks around names. The error names the first one without a value.
pub fn expand_trimmed<'v>(text: &str, value_of: impl Fn(&str) -> Option<&'v str>) -> Result<String, NoValue> {
    let placeholders = trimmed_placeholders(text);
    match placeholders.iter().find(|found| value_of(found.name).is_none()) {
        Some(missing) => Err(NoValue(missing.name.to_owned())),
        None => Ok(expanded(text, &placeholders, |name| value_of(name).map(Cow::Borrowed))),
    }
}

/// Replaces `{{workdir}}` by the absolute path of the working directory.
pub fn in_workdir(text: &str, directory: &str) -> String {
    text.replace("{{workdir}}", directory)
}

/// A variable that has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoValue(pub String);

impl fmt::Display for NoValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{{{{{}}}}}` has no value", self.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: &'static str,
    /// Meaning of the name, as a sentence.
    pub docs: &'static str,
    /// Names of the kinds of files in which it has a value.
    pub files: &'static [&'static str],
}

impl Variable {
    pub(crate) fn is_in(&self, kind: &str) -> bool {
        self.files.contains(&kind)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct TemplateSyntax {
    /// Name in the schema. If the author defines the variables, this is the sibling key that contains them.
    pub word: &'static str,
    pub texts: &'static str,
    /// Syntax of placeholders, and treatment of unknown ones.
    pub docs: &'static str,
    pub allows_blanks: bool,
    /// Names with a value; empty if the author defines them.
    pub variables: &'static [Variable],
    /// Names whose value is known before a run, with the value.
    pub known_values: &'static [(&'static str, KnownValue)],
    /// Consequence of a name without a value. `None` if the format itself reports it.
    pub missing_value: Option<MissingValue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownValue {
    /// The date, in UTC.
    Date,
    /// The time, in UTC.
    Time,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_once() {
        let value = |name: &str| (name == "a").then_some("{{b}}");
        assert_eq!(expand_trimmed("x{{a}}y", value), Ok("x{{b}}y".to_owned()));
        assert_eq!(expand_trimmed("{{b}}", value), Err(NoValue("b".to_owned())));
    }
}
