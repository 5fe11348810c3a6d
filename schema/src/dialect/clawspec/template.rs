//! `{{name}}` in contracts: which names there are, and where they have a value.

use std::fmt;

use crate::json_schema::SpecFile;

/// A variable of templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it stands for, as a sentence.
    pub docs: &'static str,
    /// In which kinds of file it has a value.
    pub files: &'static [SpecFile],
}

const ALL: &[SpecFile] = &[SpecFile::ClawSpecScenarios, SpecFile::ClawSpecHandoff, SpecFile::ClawSpecPipeline];
const HANDOFF: &[SpecFile] = &[SpecFile::ClawSpecHandoff];

/// Every variable.
pub const VARIABLES: &[Variable] = &[
    Variable { name: "today", docs: "The day in UTC, as `2026-05-14`.", files: ALL },
    Variable { name: "now", docs: "The moment in UTC, as `2026-05-14T12:00:00Z`.", files: ALL },
    Variable { name: "repo_root", docs: "The root of the workspace, as an absolute path.", files: ALL },
    Variable { name: "qa_inbox", docs: "The address of the test inbox.", files: ALL },
    Variable {
        name: "run_id",
        docs: "The id of the run. Under `then` it is the one that starting the target returned.",
        files: ALL,
    },
    Variable { name: "run_started_at", docs: "When the run began, in UTC, as `2026-05-14T12:00:00Z`.", files: ALL },
    Variable { name: "handoff.from", docs: "The agent that hands over.", files: HANDOFF },
    Variable { name: "handoff.to", docs: "The agent that takes over.", files: HANDOFF },
    Variable { name: "callee_run_id", docs: "The id of the run of the agent that takes over.", files: HANDOFF },
];

/// What `{{qa_inbox}}` stands for.
pub const QA_INBOX: &str = "lumina.qa@agentmail.to";

/// The variable with this name.
pub fn variable(name: &str) -> Option<&'static Variable> {
    VARIABLES.iter().find(|variable| variable.name == name)
}

/// A `{{name}}` in a text. Blanks around the name do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placeholder<'t> {
    /// The whole, braces included.
    pub text: &'t str,
    /// The name, trimmed; it may be empty.
    pub name: &'t str,
    /// The byte at which it begins.
    pub at: usize,
}

/// The placeholders of a text from left to right: two braces, anything without braces, two braces.
pub fn placeholders(text: &str) -> Vec<Placeholder<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("{{").map(|at| from + at) {
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

/// Fills the placeholders of a text in one pass. The error names the first one that has no value.
pub fn expand<'v>(text: &str, value_of: impl Fn(&str) -> Option<&'v str>) -> Result<String, NoValue> {
    let mut expanded = String::with_capacity(text.len());
    let mut from = 0;
    for placeholder in placeholders(text) {
        expanded.push_str(&text[from..placeholder.at]);
        from = placeholder.at + placeholder.text.len();
        match value_of(placeholder.name) {
            Some(value) => expanded.push_str(value),
            None => return Err(NoValue(placeholder.name.to_owned())),
        }
    }
    expanded.push_str(&text[from..]);
    Ok(expanded)
}

/// A variable that has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoValue(pub String);

impl fmt::Display for NoValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{{{{{}}}}}` has no value", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_around_a_name_do_not_count() {
        let names = |text| placeholders(text).iter().map(|found| found.name.to_owned()).collect::<Vec<_>>();
        assert_eq!(
            names("{{today}}/{{ now }} {{handoff.to}} {{ }} {x} {{}} {{{run_id}}}"),
            ["today", "now", "handoff.to", "", "run_id"]
        );
    }

    #[test]
    fn templates_are_filled_once() {
        let value = |name: &str| (name == "a").then_some("{{b}}");
        assert_eq!(expand("x{{a}}y", value), Ok("x{{b}}y".to_owned()));
        assert_eq!(expand("{{b}}", value), Err(NoValue("b".to_owned())));
    }
}
