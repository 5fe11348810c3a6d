use crate::{
    check::schema_file::SchemaError,
    dialect::kindlm::schema_files::{SchemaFile, State},
    finding::{Location, MessageParts, Report, Rule},
    problem::Code,
};

/// A file that is not a JSON Schema.
#[derive(Debug)]
struct InvalidSchema {
    path: String,
    error: SchemaError,
}

/// Checks the schema files of a KindLM test.
pub(crate) fn check_schemas(schemas: &[SchemaFile<'_>], report: &mut Report) {
    for file in schemas {
        if let State::Invalid(error) = &file.state {
            let rule = InvalidSchema { path: file.path.to_owned(), error: error.clone() };
            report.push(file.lint_node.finding(rule));
        }
    }
}

impl Rule for InvalidSchema {
    const CODE: Code = Code::InvalidSchemaFile;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let words =
            MessageParts::new(format!("`{}` cannot be used as a JSON Schema", self.path)).note(&self.error.message);
        self.error.help.iter().copied().fold(words, MessageParts::help)
    }
}
