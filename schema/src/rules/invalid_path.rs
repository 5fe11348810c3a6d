use crate::{
    files,
    finding::{Location, MessageParts, Report, Rule},
    problem::{Code, Severity},
    walk::Value,
};

/// A path that is absolute or leads upwards, although it must not.
#[derive(Debug)]
struct Outside(String);

/// A path that is valid only on this machine.
#[derive(Debug)]
pub(crate) struct NotPortable {
    path: String,
    /// Reason, as the end of a sentence: `is an absolute path on another operating system`.
    reason: &'static str,
    /// Where it may be.
    home: &'static str,
}

/// Checks a path that must not lead out of the workspace.
pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    let is_inside = value.shape().is_some_and(|shape| shape.is_inside());
    let path = value.text.filter(|path| is_inside && !path.is_empty() && files::inside(path).is_none());
    if let Some(path) = path {
        report.push(value.lint_node().finding(Outside(path.to_owned())));
    }
}

impl NotPortable {
    pub(crate) fn unusable(path: &str, reason: &'static str) -> NotPortable {
        NotPortable { path: path.to_owned(), reason, home: "the directory of this file" }
    }

    pub(crate) fn outside(path: &str) -> NotPortable {
        NotPortable { path: path.to_owned(), reason: "is outside the workspace", home: "the workspace" }
    }
}

impl Rule for Outside {
    const CODE: Code = Code::InvalidPath;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new(format!("`{}` is outside the workspace", self.0)).help("write a relative path without `..`")
    }
}

impl Rule for NotPortable {
    const CODE: Code = Code::InvalidPath;
    const SEVERITY: Severity = Severity::Warning;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new(format!("`{}` {}", self.path, self.reason))
            .note("it may not exist on other machines")
            .help(format!("move it into {}, and write a relative path", self.home))
    }
}
