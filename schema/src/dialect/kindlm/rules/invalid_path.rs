//! Paths of JSON Schema files that lead out of the directory of a KindLM suite.

use crate::{
    dialect::kindlm::schema_files::{Escape, SchemaFile, State},
    finding::{Location, MessageParts, Report, Rule},
    problem::{Code, Severity},
};

/// A path out of the directory.
#[derive(Debug)]
struct InvalidPath {
    path: String,
    way: Way,
}

#[derive(Debug)]
enum Way {
    Out(Escape),
    /// Through a link to a file that the editor does not read.
    Link,
}

/// Checks the schema files of a test.
pub(crate) fn check_schemas(schemas: &[SchemaFile<'_>], report: &mut Report) {
    for file in schemas {
        let way = match file.state {
            State::Escape(escape) => Way::Out(escape),
            State::Unread => Way::Link,
            State::Unnamed
            | State::NotAFile
            | State::Missing { .. }
            | State::Unreadable(_)
            | State::Invalid(_)
            | State::Valid { .. } => continue,
        };
        report.push(file.lint_node.finding(InvalidPath { path: file.path.to_owned(), way }));
    }
}

impl Rule for InvalidPath {
    const CODE: Code = Code::InvalidPath;

    fn severity(&self) -> Severity {
        match self.way {
            Way::Out(_) => Code::InvalidPath.severity(),
            Way::Link => Severity::Warning,
        }
    }

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let path = &self.path;
        match self.way {
            Way::Out(Escape::Absolute) => {
                MessageParts::new(format!("`{path}` is an absolute path")).help("write it relative to this file")
            }
            Way::Out(Escape::Above) => MessageParts::new(format!("`{path}` is outside the directory of this file"))
                .help("move the file into that directory"),
            Way::Link => MessageParts::new(format!("`{path}` is a link to a file outside the workspace"))
                .note("editors do not read it; `speclens check` and `speclens run` do"),
        }
    }
}
