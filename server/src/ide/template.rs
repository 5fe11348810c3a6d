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

/// Whether a name can have a value: those that begin with `env.` are left alone.
pub(crate) fn is_variable(name: &str) -> bool {
    !name.starts_with("env.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_without_blanks_are_placeholders() {
        let names = |text| placeholders(text).map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(names("a {{b}} {{ c }} {{d.e}} {{f-g}} {{{h}} {{"), ["b", "d.e", "h"]);
        assert!(names("{{").is_empty());
    }
}
