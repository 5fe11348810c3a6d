pub(crate) mod clawspec;
pub(crate) mod cli_bench;
pub(crate) mod kindlm;

use std::collections::HashSet;

use crate::{
    finding::{Finding, Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    template::{self, TemplateSyntax, Variable, trimmed_placeholders},
    walk::Value,
    words::{listed, nearest},
};

/// Help for a variable that is not expanded.
const WRITE_VALUE: &str = "write the value itself";

page! {
    /// A template variable has no value: the run ends with an error, the text is used unchanged, or an empty string replaces the
    /// variable.
    "missing-variable", Error
}

/// A placeholder with an unknown name.
#[derive(Debug)]
struct Unknown {
    /// Placeholder as written.
    written: String,
    /// Most similar name.
    near: Option<String>,
    /// Available names.
    names: Vec<String>,
    /// Consequence of the problem.
    note: &'static str,
}

/// A variable that has a value elsewhere in the file.
#[derive(Debug)]
struct NotHere {
    written: String,
    /// Location of the string: `log.path`.
    place: String,
    /// Available names.
    names: Vec<String>,
    /// Consequence of the problem.
    note: &'static str,
}

/// `{today}` where `{{today}}` is meant.
#[derive(Debug)]
struct HalfWritten {
    written: String,
    name: String,
}

/// A variable that has a value only in other kinds of files.
#[derive(Debug)]
struct OtherFileVariable {
    written: String,
    /// Kinds of files in which it has a value.
    files: &'static str,
    /// Consequence of the problem.
    note: &'static str,
}

/// Checks a string with placeholders.
pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    let Some(text) = value.text.filter(|text| text.contains('{')) else { return };
    let Some(syntax) = value.template().and_then(template::syntax) else { return };
    let Some(missing_value) = syntax.missing_value else { return };
    let (file, limited) = (value.file(), value.template_names());
    let has_value = |variable: &Variable| {
        variable.files.contains(&file) && limited.as_ref().is_none_or(|names| names.contains(&variable.name))
    };
    let names: Vec<&str> = syntax.variables.iter().filter(|it| has_value(it)).map(|it| it.name).collect();
    let lint_node = value.lint_node();
    let mut seen: HashSet<&str> = HashSet::new();
    for found in trimmed_placeholders(text).into_iter().filter(|found| seen.insert(found.name)) {
        let elsewhere = missing_value.elsewhere.filter(|_| syntax.variables.iter().any(|it| it.name == found.name));
        let written = found.text.to_owned();
        if names.contains(&found.name) {
            continue;
        } else if let Some((files, note)) = elsewhere {
            let rule = OtherFileVariable { written, files, note };
            report.push(Finding::new(rule, lint_node.at.clone(), lint_node.part(found.text, 0)));
        } else if let Some(rule) = not_here(value, syntax, found.text, found.name, &names, missing_value.note) {
            report.push(Finding::new(rule, lint_node.at.clone(), lint_node.part(found.text, 0)));
        } else {
            let near = nearest(found.name, names.iter().copied()).map(str::to_owned);
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            let rule = Unknown { written, near, names, note: missing_value.note };
            report.push(Finding::new(rule, lint_node.at.clone(), lint_node.part(found.text, 0)));
        }
    }
    check_half_written(&lint_node, text, &names, report);
}

/// Returns the rule for a variable that has a value in the kind of file, but not at this place.
fn not_here(
    value: &Value<'_, '_>,
    syntax: &TemplateSyntax,
    written: &str,
    name: &str,
    names: &[&str],
    note: &'static str,
) -> Option<NotHere> {
    let is_known = |variable: &Variable| variable.name == name && variable.files.contains(&value.file());
    if !syntax.variables.iter().any(is_known) {
        return None;
    }
    let steps: Vec<String> = value.lint_node().at.steps().map(|step| step.to_string()).collect();
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Some(NotHere { written: written.to_owned(), place: steps.join("."), names, note })
}

/// Reports `{today}` instead of `{{today}}`.
fn check_half_written(lint_node: &LintNode<'_>, text: &str, names: &[&str], report: &mut Report) {
    let mut rest = text.to_owned();
    for found in trimmed_placeholders(text) {
        rest.replace_range(found.at..found.at + found.text.len(), &" ".repeat(found.text.len()));
    }
    if !rest.contains('{') {
        return;
    }
    for name in names {
        for (at, _) in rest.match_indices(name) {
            let before = rest[..at].len() - rest[..at].trim_end_matches(['{', '$']).len();
            let behind = rest[at + name.len()..].len() - rest[at + name.len()..].trim_start_matches('}').len();
            if before == 0 || behind == 0 || !rest[at - before..at].contains('{') {
                continue;
            }
            let written = &text[at - before..at + name.len() + behind];
            let rule = HalfWritten { written: written.to_owned(), name: (*name).to_owned() };
            report.push(Finding::new(rule, lint_node.at.clone(), lint_node.part(written, 0)));
        }
    }
}

/// Returns the fix that replaces part of a string with a placeholder.
fn placeholder(location: &Location<'_>, written: &str, name: &str, title: &str) -> Option<Fix> {
    let edits = location.lint_node()?.with_part(location.range, written, format!("{{{{{name}}}}}"))?;
    Some(Fix::guess(title, edits))
}

impl Rule for Unknown {
    const CODE: Code = Code::MissingVariable;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let words = MessageParts::new(format!("unknown variable `{}`", self.written)).note(self.note);
        if let Some(near) = &self.near {
            let help = format!("change it to `{{{{{near}}}}}`");
            return words.fix(placeholder(location, &self.written, near, &help)).help(help);
        }
        words.help(use_one_of(&self.names))
    }
}

impl Rule for NotHere {
    const CODE: Code = Code::MissingVariable;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let NotHere { written, place, names, note } = self;
        MessageParts::new(format!("`{written}` has no value in `{place}`")).note(note).help(use_one_of(names))
    }
}

/// Returns the help that lists the available variables.
fn use_one_of(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{{{{{name}}}}}")).collect();
    format!("use {}", listed(names.iter().map(String::as_str)))
}

impl Rule for OtherFileVariable {
    const CODE: Code = Code::MissingVariable;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new(format!("`{}` has a value only in {}", self.written, self.files))
            .note(self.note)
            .help(WRITE_VALUE)
    }
}

impl Rule for HalfWritten {
    const CODE: Code = Code::MissingVariable;
    const SEVERITY: Severity = Severity::Warning;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let HalfWritten { written, name } = self;
        let help = format!("write `{{{{{name}}}}}`");
        MessageParts::new(format!("`{written}` is not expanded"))
            .note("the text is used unchanged")
            .fix(placeholder(location, written, name, &help))
            .help(help)
    }
}
