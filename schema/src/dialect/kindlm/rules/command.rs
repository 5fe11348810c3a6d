//! The command of a test: its placeholders and the values in their place, its script, and variables that it does not
//! use.

use std::collections::{HashMap, HashSet};

use crate::{
    dialect::kindlm::facts::is_skipped,
    files::{FileKind, Files, Resolved},
    finding::{Finding, MessageParts, Report},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    rules::missing_file::correct_or_create,
    shell::{Quotes, quotes_at},
    template::{Placeholder, is_variable_name, placeholders},
    words::{Search, nearest_file},
};

use super::prompts::{UNUSED, addition, correction, placeholder, unexpanded, without_spaces};

/// Maximum number of placeholders of a text to check individually: each check reads the whole text.
const MAX_PLACEHOLDERS: usize = 512;

struct Command<'d> {
    node: LintNode<'d>,
    template: &'d str,
    placeholders: Vec<Placeholder<'d>>,
    vars: Vec<(String, LintNode<'d>)>,
}

pub(crate) fn check(test: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let vars = test.get("vars").filter(LintNode::is_mapping).map(|vars| vars.entries()).unwrap_or_default();
    for (name, var) in vars.iter().filter(|(name, _)| name.starts_with("env.")) {
        let words = MessageParts::new(format!("`{name}` is never used"))
            .note("KindLM does not expand names that begin with `env.`")
            .help("remove it");
        report.push(var.head_problem(Code::NoEffect, words));
    }
    let Some((template, node)) = test.get("command").and_then(|command| Some((command.text()?, command))) else {
        return;
    };
    let command = &Command { node, template, placeholders: placeholders(template), vars };
    check_placeholders(command, test, report);
    check_workflow_expressions(command, report);
    check_values(command, report);
    check_script(command, files, report);
}

/// Reports placeholders without a value, the first one of each name, and variables that no placeholder names.
fn check_placeholders(command: &Command<'_>, test: &LintNode<'_>, report: &mut Report) {
    let Command { node, template, placeholders, vars } = command;
    let names = || vars.iter().map(|(name, _)| name.as_str());
    let given: HashSet<&str> = names().collect();
    let places = node.placeholder_places();
    let mut search = Search::default();
    let mut used: HashSet<&str> = HashSet::new();
    let mut meant: HashSet<&str> = HashSet::new();
    for found in placeholders {
        if !used.insert(found.name) || given.contains(found.name) && !found.is_reserved() {
            continue;
        }
        let (name, range) = (found.name, places.get(found.text).cloned().unwrap_or_else(|| node.head_or_line()));
        let (words, severity) = if let Some(variable) = name.strip_prefix("env.") {
            let help = format!("write `${variable}`, which the shell expands");
            (unexpanded(found.text).help(help), Severity::Warning)
        } else {
            let near = search.nearest(name, names());
            meant.extend(near);
            let words = MessageParts::new(format!("`{}` has no value", found.text));
            let words = match near {
                Some(near) => correction(words, node, &range, found.text, near),
                None => words.help(format!("add `{name}` to `vars`")),
            };
            let severity = if is_skipped(test) { Severity::Warning } else { Code::MissingVariable.severity() };
            (words.fix(addition(test, name)), severity)
        };
        let finding = Finding::stated(Code::MissingVariable, words, node.at.clone(), range);
        report.push(finding.with_severity(severity));
    }
    let spaced = names_in_spaces(template);
    let is_idle = |name: &str| !name.starts_with("env.") && !meant.contains(name) && !used.contains(name);
    for (name, var) in vars.iter().filter(|(name, _)| is_idle(name)) {
        if spaced.contains(name.as_str()) {
            report.push(without_spaces(node, &format!("{{{{ {name} }}}}"), name));
        } else if is_variable_name(name) {
            let words = MessageParts::new(format!("the command does not use `{}`", placeholder(name))).help(UNUSED);
            report.push(var.head_absence(Code::Unused, words));
        } else {
            let words = MessageParts::new(format!("`{name}` cannot be used as a template variable"))
                .help("use only ASCII letters, digits, `_` and `.`");
            report.push(var.head_problem(Code::NoEffect, words));
        }
    }
}

/// Returns the names in braces with a space on either side: `{{ name }}`.
fn names_in_spaces(template: &str) -> HashSet<&str> {
    let rests = template.match_indices("{{ ").map(|(at, open)| &template[at + open.len()..]);
    rests.map_while(|rest| rest.find(" }}").map(|end| &rest[..end])).collect()
}

/// Reports expressions such as `${{ github.sha }}`: only a GitHub workflow replaces them, not KindLM or the shell.
fn check_workflow_expressions(command: &Command<'_>, report: &mut Report) {
    let Command { node, template, .. } = command;
    let mut seen: Vec<&str> = Vec::new();
    for (at, _) in template.match_indices("${{") {
        let Some(length) = template[at..].find("}}") else { return };
        let text = &template[at..at + length + 2];
        // A variable in double braces is replaced, whatever precedes it.
        let is_filled = command.placeholders.iter().any(|placeholder| placeholder.at == at + 1);
        let is_literal = matches!(quotes_at(template, at), Quotes::Single | Quotes::Verbatim);
        if is_filled || is_literal || text.contains('\n') {
            continue;
        }
        let nth = seen.iter().filter(|known| **known == text).count();
        seen.push(text);
        let words = MessageParts::new(format!("`{text}` is expanded only in GitHub workflows"))
            .note("the shell rejects it as a bad substitution")
            .help("set an environment variable in the workflow, and write `$NAME` here");
        let finding = Finding::stated(Code::MissingVariable, words, node.at.clone(), node.part(text, nth));
        report.push(finding.with_severity(Severity::Warning));
    }
}

/// Reports values that the shell does not take literally, and those that no command can contain.
fn check_values(command: &Command<'_>, report: &mut Report) {
    let Command { node, template, placeholders, vars } = command;
    // For duplicate names, the first one counts.
    let values: HashMap<&str, &LintNode<'_>> = vars.iter().rev().map(|(name, var)| (name.as_str(), var)).collect();
    let used: HashSet<&str> = placeholders.iter().map(|placeholder| placeholder.name).collect();
    let inserted = vars.iter().filter(|(name, _)| used.contains(name.as_str())).map(|(_, var)| var);
    for part in [node].into_iter().chain(inserted).filter(|part| part.text().is_some_and(|it| it.contains('\0'))) {
        let words = MessageParts::new("a command cannot contain a NUL character").help("remove it");
        report.push(part.part_problem("\\0", Code::InvalidValue, words));
    }
    for placeholder in placeholders.iter().take(MAX_PLACEHOLDERS).filter(|it| !it.is_reserved()) {
        let Some(var) = values.get(placeholder.name) else { continue };
        // A value that is the whole command is meant to be interpreted.
        if template.trim() == placeholder.text {
            continue;
        }
        let quotes = quotes_at(template, placeholder.at);
        if let Some((words, severity)) = var.text().and_then(|value| broken_by(placeholder.text, value, quotes)) {
            let nth = template[..placeholder.at].matches(placeholder.text).count();
            let range = node.part(placeholder.text, nth);
            let finding = Finding::stated(Code::ShellQuoting, words, node.at.clone(), range);
            report.push(finding.with_severity(severity).with("the value", var));
        }
    }
}

/// Returns what the shell does to a value in quotes, if it does not take it literally.
fn broken_by(text: &str, value: &str, quotes: Quotes) -> Option<(MessageParts, Severity)> {
    let holds = |sign: char| match sign {
        '\n' => MessageParts::new(format!("the value of `{text}` contains a line break")),
        sign => MessageParts::new(format!("the value of `{text}` contains `{sign}`")),
    };
    let in_quotes = || format!("put quotes around `{text}`");
    // An escaped value would be wrong where the variable has other quotes.
    let inserted =
        |sign: char, escaped: &str| format!("write the value itself in the command, with `{escaped}` for `{sign}`");
    let with_backslash = |sign: char| inserted(sign, &format!("\\{sign}"));
    let words = match quotes {
        Quotes::Single if value.contains('\'') => {
            holds('\'').note("it ends the single quotes around the variable").help(inserted('\'', r"'\''"))
        }
        Quotes::Single | Quotes::Verbatim => return None,
        Quotes::Double => match special_in_double(value)? {
            '"' => holds('"').note("it ends the double quotes around the variable").help(with_backslash('"')),
            '\n' => return Some((holds('\n').note("it becomes part of the quoted word"), Severity::Hint)),
            sign => holds(sign).note("the shell expands it inside double quotes").help(with_backslash(sign)),
        },
        Quotes::None => match value.chars().find(|letter| "'\"`$\\;&|<>()*?[#~\n".contains(*letter)) {
            Some('\n') => holds('\n').note("it ends the command").help(in_quotes()),
            Some(sign) => holds(sign).note("the shell interprets it").help(in_quotes()),
            None if value.contains(char::is_whitespace) => {
                let words = MessageParts::new(format!("the value of `{text}` contains spaces"));
                return Some((words.note("the shell splits it into several words").help(in_quotes()), Severity::Hint));
            }
            None => return None,
        },
        Quotes::Here => {
            let sign = special_in_double(&value.replace(['"', '\n'], " "))?;
            holds(sign).note("the shell expands it in this here-document").help(with_backslash(sign))
        }
    };
    Some((words, Code::ShellQuoting.severity()))
}

fn special_in_double(value: &str) -> Option<char> {
    let mut letters = value.chars().peekable();
    let mut line_break = None;
    while let Some(letter) = letters.next() {
        match letter {
            '"' | '`' => return Some(letter),
            '$' if letters.peek().is_some_and(|next| next.is_ascii_alphanumeric() || "_({?!@*#$-".contains(*next)) => {
                return Some('$');
            }
            '\\' if letters.peek().is_none_or(|next| "$`\"\\\n".contains(*next)) => return Some('\\'),
            '\n' => line_break = Some('\n'),
            _ => {}
        }
    }
    line_break
}

/// Reports a script at the start of a command that does not exist.
/// Only a path that begins with `./` is checked: any other word may be on the `PATH`, and the command may create
/// later ones.
fn check_script(command: &Command<'_>, files: &dyn Files, report: &mut Report) {
    let Some(word) = command.template.split_whitespace().next() else { return };
    let is_plain = |path: &str| path.chars().all(|letter| letter.is_alphanumeric() || "._/-".contains(letter));
    let Some(path) = word.strip_prefix("./").filter(|path| !path.is_empty() && is_plain(path)) else { return };
    if path.split('/').any(|step| step == "..") || files.named(path) != Resolved::Nothing {
        return;
    }
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let found = files.list(directory);
    let names = found.iter().filter(|(_, kind)| *kind == FileKind::File).map(|(name, _)| name.as_str());
    let near = nearest_file(name, names).map(|near| format!("{}{near}", word.strip_suffix(name).unwrap_or_default()));
    let words = MessageParts::new(format!("`{word}` does not exist"))
        .note("the command fails with exit code 127 unless an earlier test creates the file");
    let node = &command.node;
    let words = match near {
        Some(near) => {
            let edits = node.with_part(&node.part(word, 0), word, near.as_str()).filter(|_| is_plain(&near));
            words.remedy(format!("change it to `{near}`"), Fix::guess, edits)
        }
        None => words.help(correct_or_create(FileKind::File)),
    };
    report.push(node.part_problem(word, Code::MissingFile, words).with_severity(Severity::Warning));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_shell_replaces_breaks_double_quotes() {
        assert_eq!(special_in_double("it's 5 $ or \\n"), None);
        assert_eq!(special_in_double("$HOME"), Some('$'));
        assert_eq!(special_in_double("a\\"), Some('\\'));
        assert_eq!(special_in_double("a\nb"), Some('\n'));
        assert_eq!(special_in_double("a\n\"b"), Some('"'));
    }
}
