use std::collections::HashSet;

use crate::{
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Edit, Fix, Severity},
    template::{self, TemplateSyntax, Variable, trimmed_placeholders},
    walk::Value,
    words::{listed, nearest},
};

/// Help for a variable that is not expanded.
pub(crate) const WRITE_VALUE: &str = "write the value itself";

/// A placeholder that is not expanded.
#[derive(Debug)]
enum Unexpanded {
    /// A placeholder with an unknown name: as written, with the most similar name and the available ones.
    Unknown { written: String, near: Option<String>, names: Vec<String>, note: &'static str },
    /// A variable that has a value elsewhere in the file, but not in the string at `place`, such as `log.path`.
    NotHere { written: String, place: String, names: Vec<String>, note: &'static str },
    /// A variable that has a value only in other kinds of files.
    InOtherFiles { written: String, files: &'static str, note: &'static str },
    /// `{today}` where `{{today}}` is meant.
    HalfWritten { written: String, name: String },
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
        }
        let names_here = || names.iter().map(|name| (*name).to_owned()).collect();
        let rule = if let Some((files, note)) = elsewhere {
            Unexpanded::InOtherFiles { written, files, note }
        } else if has_value_elsewhere(value, syntax, found.name) {
            let steps: Vec<String> = lint_node.at.steps().map(|step| step.to_string()).collect();
            Unexpanded::NotHere { written, place: steps.join("."), names: names_here(), note: missing_value.note }
        } else {
            let near = nearest(found.name, names.iter().copied()).map(str::to_owned);
            Unexpanded::Unknown { written, near, names: names_here(), note: missing_value.note }
        };
        report.push(lint_node.part_finding(found.text, rule));
    }
    check_half_written(&lint_node, text, &names, report);
}

/// Whether a variable has a value at another place in this kind of file.
fn has_value_elsewhere(value: &Value<'_, '_>, syntax: &TemplateSyntax, name: &str) -> bool {
    syntax.variables.iter().any(|variable| variable.name == name && variable.files.contains(&value.file()))
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
            let rule = Unexpanded::HalfWritten { written: written.to_owned(), name: (*name).to_owned() };
            report.push(lint_node.part_finding(written, rule));
        }
    }
}

/// Returns the edits that replace the underlined part of a string with a placeholder.
fn placeholder(location: &Location<'_>, written: &str, name: &str) -> Option<Vec<Edit>> {
    location.with_part(written, format!("{{{{{name}}}}}"))
}

/// Returns the help that lists the available variables.
fn use_one_of(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{{{{{name}}}}}")).collect();
    format!("use {}", listed(names.iter().map(String::as_str)))
}

impl Rule for Unexpanded {
    const CODE: Code = Code::MissingVariable;

    fn severity(&self) -> Severity {
        if matches!(self, Unexpanded::HalfWritten { .. }) { Severity::Warning } else { Self::SEVERITY }
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        match self {
            Unexpanded::Unknown { written, near, names, note } => {
                let words = MessageParts::new(format!("unknown variable `{written}`")).note(note);
                match near {
                    Some(near) => {
                        let edits = placeholder(location, written, near);
                        words.remedy(format!("change it to `{{{{{near}}}}}`"), Fix::guess, edits)
                    }
                    None => words.help(use_one_of(names)),
                }
            }
            Unexpanded::NotHere { written, place, names, note } => {
                MessageParts::new(format!("`{written}` has no value in `{place}`")).note(note).help(use_one_of(names))
            }
            Unexpanded::InOtherFiles { written, files, note } => {
                MessageParts::new(format!("`{written}` has a value only in {files}")).note(note).help(WRITE_VALUE)
            }
            Unexpanded::HalfWritten { written, name } => MessageParts::new(format!("`{written}` is not expanded"))
                .note("the text is used unchanged")
                .remedy(format!("write `{{{{{name}}}}}`"), Fix::guess, placeholder(location, written, name)),
        }
    }
}
