use crate::{
    dialect::Format,
    files::{FileKind, Files, Resolved},
    finding::{Location, MessageParts, Report, Rule},
    new_file::{self, Template},
    problem::{Code, Fix, Severity},
    rules::invalid_path,
    shape::scalar,
    walk::Value,
    words::nearest_file,
};

/// A path that does not exist.
#[derive(Debug)]
pub(crate) struct Missing {
    /// Path in the message.
    pub(crate) path: String,
    pub(crate) severity: Severity,
    /// Text before the path in its string.
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

/// A file instead of a directory, or vice versa.
#[derive(Debug)]
pub(crate) struct OtherKind {
    path: String,
    /// Expected kind: `JSON Schema file`.
    noun: &'static str,
}

/// Checks a path that must exist before a run.
pub(crate) fn check(value: &Value<'_, '_>, kind: &str, format: &dyn Format, files: &dyn Files, report: &mut Report) {
    let Some(first) = value.shape().and_then(|shape| shape.exists_before()) else { return };
    let Some(path) = value.text.filter(|path| !path.is_empty()) else { return };
    let normal = match format.path(path, files) {
        Some(Ok(normal)) => normal,
        Some(Err(reason)) => {
            return report.push(value.lint_node().finding(invalid_path::NotPortable::unusable(path, reason)));
        }
        None => return,
    };
    let (wanted, noun) = match kind {
        "directory" => (FileKind::Directory, "directory"),
        _ => (FileKind::File, "file"),
    };
    match files.named(&normal) {
        Resolved::Found { kind, .. } if kind != wanted => {
            report.push(value.lint_node().finding(OtherKind::new(path, noun)))
        }
        Resolved::Found { is_far: true, .. } | Resolved::Unread => {
            report.push(value.lint_node().finding(invalid_path::NotPortable::outside(path)));
        }
        Resolved::Found { is_far: false, .. } => {}
        Resolved::Nothing => {
            let missing = Missing::of(path, &normal, wanted, Template::called(first), files);
            // For an expanded path, the result says more.
            let path = if path.contains("{{") { normal } else { path.to_owned() };
            report.push(value.lint_node().finding(Missing { path, severity: format.missing_file(), ..missing }));
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

impl OtherKind {
    pub(crate) fn new(path: &str, noun: &'static str) -> OtherKind {
        OtherKind { path: path.to_owned(), noun }
    }
}

impl Rule for Missing {
    const CODE: Code = Code::MissingFile;

    fn severity(&self) -> Severity {
        self.severity
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let Missing { path, scheme, kind, near, root, note, creation, .. } = self;
        let words = match (near, root) {
            (Some(near), _) => {
                let edits = location.replaced(scalar(&format!("{scheme}{near}")));
                let words = MessageParts::new(format!("`{path}` does not exist"));
                let words = if path.contains('\\') { words.note(ONLY_SLASHES) } else { words };
                words.remedy(format!("change it to `{near}`"), Fix::guess, edits)
            }
            (None, Some(root)) => MessageParts::new(format!("`{path}` does not exist in `{root}`")),
            (None, None) => note.iter().fold(MessageParts::new(format!("`{path}` does not exist")), MessageParts::note),
        };
        match (near, creation) {
            (None, None) => words.help(correct_or_create(*kind)),
            (Some(_), _) | (None, Some(_)) => words.fix(creation.clone()),
        }
    }
}

impl Rule for OtherKind {
    const CODE: Code = Code::MissingFile;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let OtherKind { path, noun } = self;
        let thing = if *noun == "directory" { "directory" } else { "file" };
        MessageParts::new(format!("`{path}` is not a {thing}")).help(format!("name a {noun}"))
    }
}
