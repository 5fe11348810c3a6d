//! Placeholders without a value.

use std::collections::HashSet;

use crate::{
    finding::{MessageParts, Report},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Edit, Fix, Severity},
    template::{Variable, trimmed_placeholders},
    template_syntax,
    walk::Value,
    words::{listed, nearest},
};

/// Help for a variable that is not expanded.
pub(crate) const WRITE_VALUE: &str = "write the value itself";

pub(crate) fn check(value: &Value<'_, '_>, file: SpecFile, report: &mut Report) {
    let Some(text) = value.text.filter(|text| text.contains('{')) else { return };
    let Some(syntax) = value.template().and_then(template_syntax::syntax) else { return };
    let Some(missing_value) = syntax.missing_value else { return };
    let (file, limited) = (file.as_str(), value.template_names());
    let has_value = |variable: &Variable| {
        variable.is_in(file) && limited.as_ref().is_none_or(|names| names.contains(&variable.name))
    };
    let names: Vec<&str> = syntax.variables.iter().filter(|it| has_value(it)).map(|it| it.name).collect();
    let lint_node = value.lint_node();
    let mut seen: HashSet<&str> = HashSet::new();
    for found in trimmed_placeholders(text).into_iter().filter(|found| seen.insert(found.name)) {
        let elsewhere = missing_value.elsewhere.filter(|_| syntax.variables.iter().any(|it| it.name == found.name));
        if names.contains(&found.name) {
            continue;
        }
        let (written, note) = (found.text, missing_value.note);
        let words = if let Some((files, note)) = elsewhere {
            MessageParts::new(format!("`{written}` has a value only in {files}")).note(note).help(WRITE_VALUE)
        } else if syntax.variables.iter().any(|it| it.name == found.name && it.is_in(file)) {
            let steps: Vec<String> = lint_node.at.steps().map(|step| step.to_string()).collect();
            let words = MessageParts::new(format!("`{written}` has no value in `{}`", steps.join(".")));
            words.note(note).help(use_one_of(&names))
        } else {
            let words = MessageParts::new(format!("unknown variable `{written}`")).note(note);
            match nearest(found.name, names.iter().copied()) {
                Some(near) => {
                    let edits = placeholder(&lint_node, written, near);
                    words.remedy(format!("change it to `{{{{{near}}}}}`"), Fix::guess, edits)
                }
                None => words.help(use_one_of(&names)),
            }
        };
        report.push(lint_node.part_problem(written, Code::MissingVariable, words));
    }
    check_half_written(&lint_node, text, &names, report);
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
            let words = MessageParts::new(format!("`{written}` is not expanded"))
                .note("the text is used unchanged")
                .remedy(format!("write `{{{{{name}}}}}`"), Fix::guess, placeholder(lint_node, written, name));
            let finding = lint_node.part_problem(written, Code::MissingVariable, words);
            report.push(finding.with_severity(Severity::Warning));
        }
    }
}

fn placeholder(lint_node: &LintNode<'_>, written: &str, name: &str) -> Option<Vec<Edit>> {
    lint_node.with_part(&lint_node.part(written, 0), written, format!("{{{{{name}}}}}"))
}

/// Returns the help that lists the available variables.
fn use_one_of(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{{{{{name}}}}}")).collect();
    format!("use {}", listed(names.iter().map(String::as_str)))
}
