//! `{{name}}` in a cli-bench suite: only `{{workdir}}` is replaced, and only in some places.

use crate::{
    finding::{MessageParts, Report},
    problem::{Code, Fix, Severity},
    rules::missing_variable::WRITE_VALUE,
    shape::Shape,
    template::placeholders,
    walk::Value,
    words::nearest,
};

const WORKDIR: &str = "workdir";

/// Placeholder names of other formats, and names of fields.
const BROUGHT: [&str; 14] = [
    "workdir", "today", "now", "run_id", "id", "cli", "intent", "model", "provider", "env", "tmpdir", "cwd", "home",
    "date",
];

/// The placeholder as written in other formats.
const SPACED: &str = "{{ workdir }}";

/// Checks a string: the placeholders where they are replaced, and `{{workdir}}` elsewhere.
pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    let Some(text) = value.text.filter(|text| text.contains("{{")) else { return };
    let node = value.lint_node();
    let mut push = |part: &str, words: MessageParts| {
        report.push(node.part_problem(part, Code::MissingVariable, words).with_severity(Severity::Warning));
    };
    let correction = |part: &str| node.with_part(&node.part(part, 0), part, "{{workdir}}");
    let is_command = value.shape().is_some_and(Shape::is_shell);
    if value.template().is_none() && !is_command {
        if let Some(found) = placeholders(text).iter().find(|found| found.name == WORKDIR) {
            let note =
                "it has a value only in `env`, in the paths of `file_exists` and `file_contains`, and in `verify`";
            let words = MessageParts::new(format!("`{}` is not expanded here", found.text)).note(note);
            push(found.text, words.help("write a path relative to the working directory"));
        }
        return;
    }
    for found in placeholders(text).iter().filter(|found| found.name != WORKDIR) {
        let is_misspelled = nearest(found.name, [WORKDIR]).is_some();
        // Many programs use braces, such as `docker ps --format '{{.Names}}'`.
        let is_ours = match is_command {
            true => is_misspelled || BROUGHT.contains(&found.name),
            false => !found.name.starts_with('.'),
        };
        if is_ours {
            let words = MessageParts::new(format!("`{}` is not expanded", found.text))
                .note("`{{workdir}}` is the only template variable of cli-bench");
            push(
                found.text,
                match is_misspelled {
                    true => words.remedy("change it to `{{workdir}}`", Fix::guess, correction(found.text)),
                    false => words.help(WRITE_VALUE),
                },
            );
        }
    }
    if !is_command && text.contains(SPACED) {
        let words = MessageParts::new(format!("`{SPACED}` is not expanded"));
        push(SPACED, words.remedy("write it without spaces, `{{workdir}}`", Fix::safe, correction(SPACED)));
    }
}
