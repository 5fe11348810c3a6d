//! `{{workdir}}` in cli-bench: the only placeholder.

use crate::template::{TemplateSyntax, Variable};

pub const SYNTAX: TemplateSyntax = TemplateSyntax {
    word: "workdir",
    texts: "cli-bench: values of `env`, paths of `file_exists` and `file_contains`, and `run` of `verify`",
    docs: "Write the variable without spaces between the braces. Other names, and other text in braces, are left unchanged.",
    allows_blanks: false,
    variables: &[Variable {
        name: "workdir",
        docs: "The absolute path of the working directory.",
        files: &["cli-bench", "cli-bench-tasks"],
    }],
    known_values: &[],
    missing_value: None,
};
