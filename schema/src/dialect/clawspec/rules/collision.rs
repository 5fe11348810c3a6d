//! Reports of a pipeline that overwrite each other.

use crate::{
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    shape::scalar,
};

/// A name of reports that differs from the directory by which ClawSpec numbers them.
#[derive(Debug)]
struct ReportName {
    written: String,
    directory: String,
}

/// Checks the name of a pipeline.
pub(crate) fn check_pipeline(root: &LintNode<'_>, report: &mut Report) {
    let (Some(name), Some(path)) = (root.find(&["pipeline", "name"]), root.find(&["pipeline", "skill_path"])) else {
        return;
    };
    let directory = path.text().and_then(|path| path.trim_end_matches('/').rsplit('/').next());
    let (Some(written), Some(directory)) = (name.text(), directory) else { return };
    if written.trim().is_empty() || directory.is_empty() || directory == "." || slug(written) == slug(directory) {
        return;
    }
    report.push(name.finding(ReportName { written: written.to_owned(), directory: directory.to_owned() }));
}

/// Returns a name as it appears in the names of reports.
fn slug(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_lowercase()
}

impl Rule for ReportName {
    const CODE: Code = Code::Collision;
    const SEVERITY: Severity = Severity::Hint;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let ReportName { written, directory } = self;
        MessageParts::new(format!("`pipeline.name` is `{written}`, but its skill is in `{directory}`"))
            .note("ClawSpec numbers reports by directory but names them after `name`, so each run overwrites the previous report")
            .remedy(format!("change it to `{directory}`"), Fix::guess, location.replaced(scalar(directory)))
    }
}
