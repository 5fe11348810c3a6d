//! Templates (`{{name}}`) in KindLM: variables of tests, and those in the request of an HTTP provider.

use std::{borrow::Cow, collections::BTreeMap};

use crate::template::{self, TemplateSyntax, Variable};

pub(crate) const VARS: TemplateSyntax = TemplateSyntax {
    word: "vars",
    texts: "KindLM: `command` of a test, and the strings of a prompt",
    docs: "You choose the names: ASCII letters, digits, `_` and `.`, without spaces between the braces. Put \
        their values in `vars` of the test. If a name has no value, the test ends with an error. Names that begin with `env.` are left unchanged.",
    allows_blanks: false,
    variables: &[],
    known_values: &[],
    missing_value: None,
};

const SUITE: &[&str] = &["kindlm"];

pub(crate) const BODY: TemplateSyntax = TemplateSyntax {
    word: "http-body",
    texts: "KindLM: `providers.http.body`",
    docs: "Other names become empty strings. Values are inserted without JSON escaping.",
    allows_blanks: false,
    variables: &[
        Variable { name: "model", docs: "The value of `model` in `models`.", files: SUITE },
        Variable { name: "system", docs: "The system text of the prompt.", files: SUITE },
        Variable { name: "user", docs: "The user text of the prompt.", files: SUITE },
        Variable { name: "temperature", docs: "`temperature` of the model's `params`.", files: SUITE },
        Variable { name: "maxTokens", docs: "`maxTokens` of the model's `params`.", files: SUITE },
        Variable { name: "messages_json", docs: "All messages of the conversation, as JSON.", files: SUITE },
        Variable { name: "tools_json", docs: "The simulated tools, as JSON.", files: SUITE },
    ],
    known_values: &[],
    missing_value: None,
};

/// Returns the names in a template, in order of appearance, including repetitions. Environment variables
/// (`{{env.X}}`) are excluded, because they are never replaced.
pub fn names(template: &str) -> impl Iterator<Item = &str> {
    template::placeholders(template).into_iter().filter(|found| !found.is_reserved()).map(|found| found.name)
}

/// Expands the placeholders without quoting. The error lists the distinct names without a value.
pub fn expand(template: &str, variables: &BTreeMap<String, String>) -> Result<String, Vec<String>> {
    let mut missing: Vec<String> = Vec::new();
    for name in names(template).filter(|name| !variables.contains_key(*name)) {
        if !missing.iter().any(|known| known == name) {
            missing.push(name.to_owned());
        }
    }
    if !missing.is_empty() {
        return Err(missing);
    }
    let value_of = |name: &str| variables.get(name).filter(|_| !template::is_reserved(name)).map(Cow::from);
    Ok(template::expanded(template, &template::placeholders(template), value_of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_names_of_ascii() {
        let values = [("a", "x"), ("user.name", "$& {{a}}"), ("1", "one"), ("env.HOME", "no")];
        let values = values.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        for (template, expected) in [
            ("{{a}}-{{a}}", "x-x"),
            ("{{{a}}}", "{x}"),
            ("{{ a }} {{user-id}} {{é}} {{}} {a}", "{{ a }} {{user-id}} {{é}} {{}} {a}"),
            ("{{user.name}} {{1}}", "$& {{a}} one"),
            ("{{env.HOME}}", "{{env.HOME}}"),
        ] {
            assert_eq!(expand(template, &values).unwrap(), expected);
        }
        assert_eq!(expand("{{toString}} {{b}} {{b}}", &values).unwrap_err(), ["toString", "b"]);
        assert_eq!(names("{{a}}{{env.X}}{{b}}{{a}}").collect::<Vec<_>>(), ["a", "b", "a"]);
    }
}
