//! Missing files of KindLM suites: scripts that commands run, and JSON Schemas.

use crate::{
    dialect::kindlm::schema_files::{SchemaFile, State},
    files::{FileKind, Files, Resolved},
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    new_file::Template,
    problem::{Code, Fix, Severity},
    words::nearest_file,
};

use super::{Missing, OtherKind, correct_or_create};

/// A missing script at the start of a command.
#[derive(Debug)]
struct MissingScript {
    word: String,
    /// Word with the name of the most similar script.
    near: Option<String>,
}

/// A JSON Schema file that cannot be read, and the reason.
#[derive(Debug)]
struct Unreadable {
    path: String,
    reason: String,
}

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
    let rule = MissingScript { word: word.to_owned(), near };
    report.push(command.part_finding(word, rule));
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
                lint_node.finding(Unreadable { path: (*path).to_owned(), reason: reason.clone() })
            }
            State::Missing(normal) => {
                lint_node.finding(Missing::of(path, normal, FileKind::File, Some(Template::JsonSchema), files))
            }
            State::Unnamed | State::Escape(_) | State::Unread | State::Invalid(_) | State::Valid { .. } => continue,
        });
    }
}

impl Rule for MissingScript {
    const CODE: Code = Code::MissingFile;
    const SEVERITY: Severity = Severity::Warning;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let words = MessageParts::new(format!("`{}` does not exist", self.word))
            .note("the command fails with exit code 127 unless an earlier test creates the file");
        let Some(near) = &self.near else { return words.help(correct_or_create(FileKind::File)) };
        let edits = location.with_part(&self.word, near.as_str()).filter(|_| is_plain(near));
        words.remedy(format!("change it to `{near}`"), Fix::guess, edits)
    }
}

impl Rule for Unreadable {
    const CODE: Code = Code::MissingFile;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new(format!("`{}` cannot be read: {}", self.path, self.reason))
    }
}
