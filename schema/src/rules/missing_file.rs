//! Paths that must exist before a run, and do not.

use crate::{
    files::{FileKind, Files, Resolved},
    finding::{Finding, MessageParts, Report},
    format::Format,
    lint_node::LintNode,
    new_file::{self, Template},
    problem::{Code, Fix, Severity},
    quoting::scalar,
    rules::invalid_path,
    walk::Value,
    words::nearest_file,
};

/// A path that does not exist.
pub(crate) struct Missing {
    pub(crate) path: String,
    pub(crate) severity: Severity,
    pub(crate) scheme: &'static str,
    /// Whether a file or a directory is missing.
    pub(crate) kind: FileKind,
    /// Path of the most similar file or directory, as the author would write it.
    pub(crate) near: Option<String>,
    /// Directory that was searched, unless the path leads out of it.
    pub(crate) root: Option<String>,
    /// Note if no name is similar.
    pub(crate) note: Option<&'static str>,
    pub(crate) creation: Option<Fix>,
}

/// Checks a path that must exist before a run.
pub(crate) fn check(value: &Value<'_, '_>, kind: &str, format: &dyn Format, files: &dyn Files, report: &mut Report) {
    let Some(first) = value.shape().and_then(|shape| shape.exists_before()) else { return };
    let Some(path) = value.text.filter(|path| !path.is_empty()) else { return };
    let normal = match format.path(path, files) {
        Some(Ok(normal)) => normal,
        Some(Err(reason)) => {
            return report.push(invalid_path::unusable(&value.lint_node(), path, reason));
        }
        None => return,
    };
    let (wanted, noun) = match kind {
        "directory" => (FileKind::Directory, "directory"),
        _ => (FileKind::File, "file"),
    };
    match files.named(&normal) {
        Resolved::Found { kind, .. } if kind != wanted => report.push(other_kind(&value.lint_node(), path, noun)),
        Resolved::Found { is_far: true, .. } | Resolved::Unread => {
            report.push(invalid_path::outside(&value.lint_node(), path));
        }
        Resolved::Found { is_far: false, .. } => {}
        Resolved::Nothing => {
            let first = if first == "directory" { Some(Template::Directory) } else { format.new_file(first) };
            let missing = Missing::of(path, &normal, wanted, first, files);
            // For an expanded path, the result says more.
            let path = if path.contains("{{") { normal } else { path.to_owned() };
            report.push(Missing { path, severity: format.missing_file(), ..missing }.at(&value.lint_node()));
        }
    }
}

impl Missing {
    /// Creates the problem of a path that does not exist, as written and relative to the directory of the suite.
    pub(crate) fn of(path: &str, normal: &str, kind: FileKind, first: Option<Template>, files: &dyn Files) -> Missing {
        let (directory, name) = normal.rsplit_once('/').unwrap_or(("", normal));
        let entries = files.list_named(directory);
        let names = entries.iter().filter(|(_, found)| *found == kind).map(|(name, _)| name.as_str());
        let before = path.trim_end_matches('/').strip_suffix(name);
        Missing {
            path: path.to_owned(),
            severity: Severity::Error,
            scheme: "",
            kind,
            near: match path.contains('\\') {
                true => Some(path.replace('\\', "/").trim_start_matches("./").to_owned()),
                false => before.and_then(|before| Some(format!("{before}{}", nearest_file(name, names)?))),
            },
            root: files
                .root()
                .file_name()
                .filter(|_| !normal.starts_with("../"))
                .map(|name| format!("{}/", name.display())),
            note: None,
            creation: first.and_then(|first| new_file::creation(normal, first, files)),
        }
    }

    pub(crate) fn at(&self, lint_node: &LintNode<'_>) -> Finding {
        let Missing { path, scheme, kind, near, root, note, creation, .. } = self;
        let words = match (near, root) {
            (Some(near), _) => {
                let edits = lint_node.replaced(scalar(&format!("{scheme}{near}")));
                let words = MessageParts::new(format!("`{path}` does not exist"));
                let words = if path.contains('\\') { words.note(ONLY_SLASHES) } else { words };
                words.remedy(format!("change it to `{near}`"), Fix::guess, edits)
            }
            (None, Some(root)) => MessageParts::new(format!("`{path}` does not exist in `{root}`")),
            (None, None) => note.iter().fold(MessageParts::new(format!("`{path}` does not exist")), MessageParts::note),
        };
        let words = match (near, creation) {
            (None, None) => words.help(correct_or_create(*kind)),
            (Some(_), _) | (None, Some(_)) => words.fix(creation.clone()),
        };
        lint_node.problem(Code::MissingFile, words).with_severity(self.severity)
    }
}

/// Consequence of a path as on Windows.
pub(crate) const ONLY_SLASHES: &str = "only `/` separates directories";

/// Returns the help for a path without a similar one.
pub(crate) fn correct_or_create(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File | FileKind::Other => "correct the path, or create the file",
        FileKind::Directory => "correct the path, or create the directory",
    }
}

/// Reports a file instead of a directory, or vice versa. `noun`: the expected kind, such as `JSON Schema file`.
pub(crate) fn other_kind(lint_node: &LintNode<'_>, path: &str, noun: &str) -> Finding {
    let thing = if noun == "directory" { "directory" } else { "file" };
    let words = MessageParts::new(format!("`{path}` is not a {thing}")).help(format!("name a {noun}"));
    lint_node.problem(Code::MissingFile, words)
}
