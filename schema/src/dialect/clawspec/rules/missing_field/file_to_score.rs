//! The file that a judge scores, if the assertion does not name it.

use crate::{
    dialect::clawspec::assertion_lists::{artifact_paths, comment},
    document::Pointer,
    finding::{Explanation, Finding, Location, MessageParts},
    problem::Fix,
    shape::scalar,
    validate::Context,
    words::listed,
};

/// Maximum number of files to suggest to a judge.
const MAX_OFFERED: usize = 8;

/// File that a judge scores.
#[derive(Debug)]
struct FileToScore;

/// Explains a missing key of an assertion.
pub(super) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    let form = |at: &Pointer| context.variant(at).and_then(|variant| variant.tag).map(|(_, kind)| kind);
    let at = finding.at();
    let is_path = at.last().is_some_and(|key| key == "path");
    match at.parent().filter(|parent| is_path && form(parent) == Some("llm_judge")) {
        Some(_) => finding.explained(FileToScore),
        None => finding,
    }
}

impl Explanation for FileToScore {
    fn message(&self, said: MessageParts, location: &Location<'_>) -> MessageParts {
        let paths = artifact_paths(location);
        let help = match paths.as_slice() {
            [] => "have the target write a file, and set `path` to it".to_owned(),
            [only] => format!("add `path: {}`", scalar(only)),
            paths => format!("set `path` to a file of this scenario: {}", listed(paths.iter().map(String::as_str))),
        };
        let assertion = location.holder();
        let fixes = paths.iter().take(MAX_OFFERED).enumerate().filter_map(|(index, path)| {
            let edits = assertion.as_ref()?.with_behind("type", &[("path", scalar(path))])?;
            let fix = if index == 0 { Fix::guess } else { Fix::suggestion };
            Some(fix(format!("add `path: {}`", scalar(path)), edits))
        });
        let fixes = fixes.chain(location.at.parent().and_then(|assertion| comment(location, &assertion))).collect();
        let message = "`llm_judge` is missing `path`".to_owned();
        MessageParts { message, fixes, ..said }.help(help)
    }
}
