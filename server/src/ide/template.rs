//! Placeholders in texts: `{{name}}`.

use std::ops::Range;

/// Whether a character may stand in a name.
pub(crate) fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.')
}

/// Every placeholder of a text, with the bytes of its name. Names with blanks or other characters are no
/// placeholders: they stay as they are.
pub(crate) fn placeholders(text: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find("{{")? + 2;
            let name =
                text[start..].find(|letter| !is_name(letter)).map_or(&text[start..], |end| &text[start..start + end]);
            let end = start + name.len();
            if !name.is_empty() && text[end..].starts_with("}}") {
                at = end + 2;
                return Some((name, start..end));
            }
            at = start - 1;
        }
    })
}

/// A placeholder in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placeholder<'t> {
    /// The name without blanks.
    pub name: &'t str,
    /// The bytes of the name.
    pub token: Range<usize>,
    /// The bytes of the whole, braces included.
    pub range: Range<usize>,
}

/// The placeholders of a text that is filled by `kind`. Where the author does not choose the names, blanks
/// around them do not count.
pub(crate) fn placeholders_of<'t>(kind: &str, text: &'t str) -> Vec<Placeholder<'t>> {
    if kind == "clawspec" {
        let found = clawspec(text).into_iter();
        return found
            .map(|range| {
                let inner = &text[range.start + 2..range.end - 2];
                let from = range.start + 2 + inner.len() - inner.trim_start().len();
                let name = inner.trim();
                Placeholder { name, token: from..from + name.len(), range }
            })
            .collect();
    }
    placeholders(text).map(|(name, token)| Placeholder { name, range: token.start - 2..token.end + 2, token }).collect()
}

/// Two braces, anything without braces, two braces.
fn clawspec(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("{{").map(|at| from + at) {
        let inner = &text[start + 2..];
        let length = inner.find(['{', '}']).unwrap_or(inner.len());
        if length > 0 && inner[length..].starts_with("}}") {
            from = start + length + 4;
            found.push(start..from);
        } else {
            from = start + 1;
        }
    }
    found
}

/// Whether a name can have a value: those that begin with `env.` are left alone.
pub(crate) fn is_variable(name: &str) -> bool {
    !name.starts_with("env.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_count_where_the_author_chooses_the_names() {
        let names = |kind| {
            let found = placeholders_of(kind, "{{a}} {{ b }} {{{c}}} {{}}").into_iter();
            found.map(|found| (found.name.to_owned(), found.range.len())).collect::<Vec<_>>()
        };
        let owned =
            |names: &[(&str, usize)]| names.iter().map(|(name, at)| ((*name).to_owned(), *at)).collect::<Vec<_>>();
        assert_eq!(names("vars"), owned(&[("a", 5), ("c", 5)]));
        assert_eq!(names("clawspec"), owned(&[("a", 5), ("b", 7), ("c", 5)]));
    }

    #[test]
    fn only_names_without_blanks_are_placeholders() {
        let names = |text| placeholders(text).map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(names("a {{b}} {{ c }} {{d.e}} {{f-g}} {{{h}} {{"), ["b", "d.e", "h"]);
        assert!(names("{{").is_empty());
    }
}
