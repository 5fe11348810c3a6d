//! Missing files of KindLM suites: scripts that commands run, and JSON Schemas.

use crate::{
    dialect::kindlm::schema_files::{SchemaFile, State},
    files::{FileKind, Files, Resolved},
    finding::{MessageParts, Report},
    lint_node::LintNode,
    new_file::Template,
    problem::{Code, Fix, Severity},
    words::nearest_file,
};

use crate::rules::missing_file::{Missing, OtherKind, correct_or_create};

/// Checks the script at the start of a command.
/// Only a path that begins with `./` is checked: any other word may be on the `PATH`, and the command may create
/// later ones.
pub(crate) fn check_command(test: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let Some(command) = test.get("command") else { return };
    let Some(word) = command.text().and_then(|text| text.split_whitespace().next()) else { return };
    let Some(path) = word.strip_prefix("./").filter(|path| !path.is_empty() && is_plain(path)) else { return };
    if path.split('/').any(|step| step == "..") || files.named(path) != Resolved::Nothing {
        return;
    }
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let names: Vec<String> =
        files.list(directory).into_iter().filter(|(_, kind)| *kind == FileKind::File).map(|(name, _)| name).collect();
    let near = nearest_file(name, names.iter().map(String::as_str));
    let near = near.map(|near| format!("{}{near}", word.strip_suffix(name).unwrap_or_default()));
    let words = MessageParts::new(format!("`{word}` does not exist"))
        .note("the command fails with exit code 127 unless an earlier test creates the file");
    let words = match near {
        Some(near) => {
            let edits = command.with_part(&command.part(word, 0), word, near.as_str()).filter(|_| is_plain(&near));
            words.remedy(format!("change it to `{near}`"), Fix::guess, edits)
        }
        None => words.help(correct_or_create(FileKind::File)),
    };
    report.push(command.part_problem(word, Code::MissingFile, words).with_severity(Severity::Warning));
}

/// Whether a path needs no quotes in a command.
fn is_plain(path: &str) -> bool {
    path.chars().all(|letter| letter.is_alphanumeric() || "._/-".contains(letter))
}

/// Checks the schema files of a test.
pub(crate) fn check_schemas(schemas: &[SchemaFile<'_>], files: &dyn Files, report: &mut Report) {
    for SchemaFile { lint_node, path, state, .. } in schemas {
        report.push(match state {
            State::NotAFile => lint_node.finding(OtherKind::new(path, "JSON Schema file")),
            State::Unreadable(reason) => {
                let words = MessageParts::new(format!("`{path}` cannot be read: {reason}"));
                lint_node.problem(Code::MissingFile, words)
            }
            State::Missing(normal) => {
                lint_node.finding(Missing::of(path, normal, FileKind::File, Some(Template::JsonSchema), files))
            }
            State::Unnamed | State::Escape(_) | State::Unread | State::Invalid(_) | State::Valid { .. } => continue,
        });
    }
}
