//! Missing keys of ClawSpec assertions.

use crate::{
    dialect::clawspec::{
        assertion_lists::{artifact_paths, comment},
        lower::settings,
        type_fields::log_members,
        typed_assertion::TypedAssertion,
    },
    document::Pointer,
    files::Files,
    finding::{Explanation, Finding, Location, MessageParts, Report, Rule},
    problem::{Code, Fix, Severity},
    shape::scalar,
    validate::Context,
    words::{all_of, listed, nearest},
};

/// Maximum number of files to suggest to a judge.
const MAX_OFFERED: usize = 8;

/// Missing keys of an assertion.
#[derive(Debug)]
enum MissingKeys {
    /// The log, or the run in it. `path` is the log in the settings.
    Log { kind: &'static str, keys: Vec<&'static str>, path: String },
    /// Path of a list in its file.
    PlaceInSource,
}

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

/// Checks an assertion.
pub(crate) fn check_assertion(assertion: &TypedAssertion<'_>, files: &dyn Files, report: &mut Report) {
    let Some(info) = assertion.info else { return };
    let kind = info.name;
    // A misspelled key is reported there.
    let is_misspelled = |key: &str| assertion.entries().iter().any(|(other, _)| nearest(other, [key]).is_some());
    let lacks = |key: &&'static str| assertion.node.get(key).is_none() && !is_misspelled(key);
    match kind {
        // With `tool`, it was meant as another type.
        "tool_not_permitted" if assertion.get("tool").is_some() => {}
        "tool_was_called" | "tool_not_called" | "delegation_occurred" | "token_budget" | "tool_not_permitted" => {
            let keys: Vec<&'static str> = ["log_path", "run_id"].into_iter().filter(lacks).collect();
            if let Some(first) = keys.first() {
                let at = assertion.at.key(first);
                let path = settings(files).log_path();
                report.push(Finding::new(MissingKeys::Log { kind, keys, path }, at, assertion.head()));
            }
        }
        "artifact_absent_words" if assertion.get("words").is_none() && assertion.get("key").is_none() => {
            if let Some(source) = assertion.get("source") {
                report.push(Finding::new(MissingKeys::PlaceInSource, assertion.at.key("key"), source.head()));
            }
        }
        _ => {}
    }
}

impl Rule for MissingKeys {
    const CODE: Code = Code::MissingField;

    fn severity(&self) -> Severity {
        if matches!(self, MissingKeys::Log { .. }) { Severity::Warning } else { Self::SEVERITY }
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        match self {
            MissingKeys::Log { kind, keys, path } => {
                let names = all_of(keys.iter().copied());
                let members = log_members(path, "{{run_id}}").into_iter().filter(|(key, _)| keys.contains(key));
                let members: Vec<(&str, String)> = members.collect();
                let edits = location.holder().and_then(|assertion| assertion.with_behind("type", &members));
                MessageParts::new(format!("`{kind}` is missing {names}"))
                    .note("ClawSpec aborts with an error")
                    // Only the author knows the path of the log.
                    .remedy(format!("add {names}"), Fix::guess, edits)
            }
            MissingKeys::PlaceInSource => {
                MessageParts::new("missing `key`").note("`key`: path of the list in `source`").help("add `key`")
            }
        }
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
