//! Placeholders of KindLM without a value: in commands, prompts, request bodies, and expectations, where nothing is
//! replaced.

use std::ops::Range;

use crate::{
    dialect::kindlm::{
        facts::Placed,
        parts::TestParts,
        template::BODY,
        variables::{self, Command, Reason, Sent},
    },
    finding::{Finding, Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    shell::{Quotes, quotes_at},
    template::{is_variable_name, placeholders},
    words::{listed, nearest},
};

use crate::rules::missing_variable::WRITE_VALUE;

/// Maximum number of prompts with fixes that add a variable to the test.
const MAX_ADDITIONS: usize = 64;

/// A placeholder that is not replaced, or breaks the run.
#[derive(Debug)]
enum Unfilled {
    /// A placeholder of a command that is not in `vars`.
    InCommand { name: String, near: Option<String> },
    /// A placeholder of a prompt that is not in `vars` of a test.
    OfPrompt { name: String, prompt: String, near: Option<String>, may_add: bool },
    /// An environment variable in a command.
    Environment { placeholder: String, variable: String },
    /// An environment variable in a prompt.
    Reserved { placeholder: String },
    /// `{{ name }}`.
    Spaced { written: String, name: String },
    /// `${{ name }}`, which only GitHub replaces.
    Workflow { expression: String },
    /// A variable of the test in an expectation.
    InExpect { placeholder: String },
    /// A name that is not available in a request body.
    InBody { placeholder: String, near: Option<&'static str> },
}

/// Checks the command of a test.
pub(crate) fn check_command(command: &Command<'_>, report: &mut Report) {
    let lint_node = &command.lint_node;
    let found = |rule: Unfilled, range: Range<usize>| Finding::new(rule, lint_node.at.clone(), range);
    check_workflow_expressions(command, report);
    for (number, placeholder) in command.placeholders.iter().enumerate().filter(|(_, it)| it.is_reserved()) {
        let rule = Unfilled::Environment {
            placeholder: placeholder.text.to_owned(),
            variable: placeholder.name.trim_start_matches("env.").to_owned(),
        };
        report.push(found(rule, command.range_of(number)));
    }
    for missing in &command.missing {
        let name = command.placeholders[missing.number].name.to_owned();
        let rule = Unfilled::InCommand { name, near: missing.near.clone() };
        report.push(found(rule, command.range_of(missing.number)));
    }
    for (name, _) in command.idle_as(Reason::Spaced) {
        let written = format!("{{{{ {name} }}}}");
        report.push(
            lint_node.part_finding(&written, Unfilled::Spaced { written: written.clone(), name: name.to_owned() }),
        );
    }
}

/// Reports expressions such as `${{ github.sha }}`: only a GitHub workflow replaces them, not KindLM or the shell.
fn check_workflow_expressions(command: &Command<'_>, report: &mut Report) {
    let (lint_node, template) = (&command.lint_node, command.template);
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
        let rule = Unfilled::Workflow { expression: text.to_owned() };
        report.push(Finding::new(rule, lint_node.at.clone(), lint_node.part(text, nth)));
    }
}

/// Reports strings of expectations that contain a variable of the test.
pub(crate) fn check_expects(parts: &TestParts<'_>, report: &mut Report) {
    let vars: Vec<String> =
        parts.test.get("vars").map(|vars| vars.entries()).unwrap_or_default().into_iter().map(|it| it.0).collect();
    if vars.is_empty() {
        return;
    }
    for text in parts.expects.iter().flat_map(|expect| texts(&expect.node)) {
        for found in placeholders(text.text().unwrap_or_default()) {
            if vars.iter().any(|name| name == found.name) {
                let rule = Unfilled::InExpect { placeholder: found.text.to_owned() };
                report.push(text.part_finding(found.text, rule));
            }
        }
    }
}

/// Returns the strings of an `expect`.
fn texts<'d>(expect: &LintNode<'d>) -> Vec<LintNode<'d>> {
    let mut texts: Vec<LintNode<'_>> = Vec::new();
    for path in [
        &["output", "contains"][..],
        &["output", "notContains"],
        &["guardrails", "keywords", "deny"],
        &["guardrails", "keywords", "allow"],
    ] {
        texts.extend(expect.find(path).map(|list| list.items()).unwrap_or_default());
    }
    for criterion in expect.get("judge").map(|judge| judge.items()).unwrap_or_default() {
        texts.extend(["criteria", "rubric"].iter().filter_map(|key| criterion.get(key)));
    }
    for call in expect.get("toolCalls").map(|calls| calls.items()).unwrap_or_default() {
        texts.extend(call.get("argsMatch").map(|args| args.entries()).unwrap_or_default().into_iter().map(|it| it.1));
    }
    texts
}

/// Checks the strings of providers and prompts.
pub(crate) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    if let Some(body) = root.find(&["providers", "http", "body"]) {
        check_body(&body, report);
    }
    for (_, prompt) in root.get("prompts").map(|prompts| prompts.entries()).unwrap_or_default() {
        for field in ["system", "user", "assistant"].iter().filter_map(|field| prompt.get(field)) {
            check_prompt(&field, report);
        }
    }
}

/// Checks a request body, in which seven names are available.
fn check_body(body: &LintNode<'_>, report: &mut Report) {
    let names = || BODY.variables.iter().map(|variable| variable.name);
    let mut seen: Vec<&str> = Vec::new();
    for found in placeholders(body.text().unwrap_or_default()) {
        if names().any(|name| name == found.name) || seen.contains(&found.name) {
            continue;
        }
        seen.push(found.name);
        let rule = Unfilled::InBody { placeholder: found.text.to_owned(), near: nearest(found.name, names()) };
        report.push(body.part_finding(found.text, rule));
    }
}

/// Checks a string of a prompt for text that only resembles a placeholder.
fn check_prompt(text: &LintNode<'_>, report: &mut Report) {
    let content = text.text().unwrap_or_default();
    for reserved in placeholders(content).iter().filter(|found| found.is_reserved()) {
        report.push(text.part_finding(reserved.text, Unfilled::Reserved { placeholder: reserved.text.to_owned() }));
    }
    let mut rest = content;
    while let Some((_, behind)) = rest.split_once("{{") {
        let Some((inside, after)) = behind.split_once("}}") else { return };
        rest = after;
        let name = inside.trim();
        if name.len() == inside.len() || !is_variable_name(name) || name.starts_with("env.") {
            continue;
        }
        let written = format!("{{{{{inside}}}}}");
        report.push(text.part_finding(&written, Unfilled::Spaced { written: written.clone(), name: name.to_owned() }));
    }
}

/// Checks the prompts of tests.
pub(crate) fn check_prompts(sent: &[Sent<'_>], report: &mut Report) {
    let missing = sent.iter().flat_map(|sent| sent.missing.iter().map(move |missing| (sent, missing)));
    for (number, (sent, (placeholder, near))) in missing.enumerate() {
        let rule = Unfilled::OfPrompt {
            name: placeholder.name.clone(),
            prompt: sent.prompt.name.clone(),
            near: near.map(|var| var.name.clone()),
            may_add: number < MAX_ADDITIONS,
        };
        let finding = sent.place(sent.prompt).finding(rule);
        report.push(finding.with_name("used here", Placed::of_root(placeholder)));
    }
}

impl Rule for Unfilled {
    const CODE: Code = Code::MissingVariable;

    fn severity(&self) -> Severity {
        let breaks_run = matches!(self, Unfilled::InCommand { .. } | Unfilled::OfPrompt { .. });
        if breaks_run { Self::SEVERITY } else { Severity::Warning }
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let literal = |written: &str| MessageParts::new(format!("`{written}` is not expanded"));
        match self {
            Unfilled::InCommand { name, near } => {
                let text = placeholder(name);
                let words = MessageParts::new(format!("`{text}` has no value"));
                let words = match near {
                    Some(near) => {
                        let edits = location.with_part(&text, placeholder(near));
                        words.remedy(format!("change it to `{}`", placeholder(near)), Fix::guess, edits)
                    }
                    None => words.help(format!("add `{name}` to `vars`")),
                };
                words.fix(addition(location, name))
            }
            Unfilled::OfPrompt { name, prompt, near, may_add } => {
                let words = MessageParts::new(format!("`{}` in the prompt `{prompt}` has no value", placeholder(name)));
                let words = match near {
                    Some(near) => {
                        let edits = location.holder().and_then(|test| test.find(&["vars", near])?.renamed(name));
                        words.remedy(format!("rename `{near}` to `{name}`"), Fix::guess, edits)
                    }
                    None => words.help(format!("add `{name}` to `vars`")),
                };
                words.fix(may_add.then(|| addition(location, name)).flatten())
            }
            Unfilled::Environment { placeholder, variable } => {
                literal(placeholder).help(format!("write `${variable}`, which the shell expands"))
            }
            Unfilled::Reserved { placeholder } => {
                literal(placeholder).help("rename the variable, and add it to `vars`")
            }
            Unfilled::Spaced { written, name } => {
                let edits = location.with_part(written, placeholder(name));
                let help = format!("write it without spaces, `{}`", placeholder(name));
                literal(written).remedy(help, Fix::safe, edits)
            }
            Unfilled::Workflow { expression } => {
                MessageParts::new(format!("`{expression}` is expanded only in GitHub workflows"))
                    .note("the shell rejects it as a bad substitution")
                    .help("set an environment variable in the workflow, and write `$NAME` here")
            }
            Unfilled::InExpect { placeholder } => {
                literal(placeholder).note("variables are not expanded in `expect`").help(WRITE_VALUE)
            }
            Unfilled::InBody { placeholder: written, near } => {
                let words = MessageParts::new(format!("`{written}` has no value in a request body"))
                    .note("KindLM replaces it with an empty string");
                match near {
                    Some(near) => {
                        let edits = location.with_part(written, placeholder(near));
                        words.remedy(format!("change it to `{}`", placeholder(near)), Fix::guess, edits)
                    }
                    None => {
                        let names: Vec<String> = BODY.variables.iter().map(|it| placeholder(it.name)).collect();
                        words.help(format!("use {}", listed(names.iter().map(String::as_str))))
                    }
                }
            }
        }
    }
}

/// Returns a name as a placeholder.
fn placeholder(name: &str) -> String {
    format!("{{{{{name}}}}}")
}

/// Returns the fix that adds a variable to the test.
fn addition(location: &Location<'_>, name: &str) -> Option<Fix> {
    let test = location.holder()?;
    Some(Fix::suggestion(format!("add `{name}` to `vars`"), variables::addition(&test, name)?))
}
