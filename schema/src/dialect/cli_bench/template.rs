//! `{{workdir}}` in cli-bench: the only placeholder.

use crate::{
    json_schema::SpecFile,
    template::{Filling, Variable},
};

/// What is filled in.
pub const FILLING: Filling = Filling {
    word: "workdir",
    texts: "values of `env`, paths of `file_exists` and `file_contains`, and `run` of `verify`, of cli-bench",
    docs: "Written without blanks between the braces. Any other name, and any other text, stays as it is.",
    allows_blanks: false,
    variables: &[Variable {
        name: "workdir",
        docs: "The absolute path of the working directory.",
        files: &[SpecFile::CLI_BENCH, SpecFile::CLI_BENCH_TASKS],
    }],
};

/// Fills in the absolute path of the working directory.
pub fn expand(text: &str, directory: &str) -> String {
    text.replace("{{workdir}}", directory)
}
