//! Differences of ClawSpec: whether it finds a contract, and what it does not use.

use crate::{
    dialect::clawspec::{
        assertion::Category,
        config::Config,
        ignored_defaults::{IgnoredDefaults, UnrepeatedDefaults},
        lower::settings,
        paths,
        typed_assertion::TypedAssertion,
    },
    files::{FileKind, Files, matches},
    finding::{Location, MessageParts, Report, Rule},
    kind::target_of,
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    relations::Items,
};

/// A difference of ClawSpec.
#[derive(Debug)]
enum Difference {
    /// A type, or a key of a scenario, that is not in ClawSpec's schema.
    NotInSchema(String),
    /// A contract that ClawSpec does not find.
    NotFound {
        /// Whether the patterns are set explicitly.
        is_written: bool,
        /// Whether the patterns come from the environment.
        is_of_environment: bool,
        /// Another name for the file, under which ClawSpec would find it.
        free: Option<String>,
    },
    /// A contract that ClawSpec finds twice, by these patterns.
    FoundTwice(String, String),
    /// Defaults that only speclens uses.
    Defaults(UnrepeatedDefaults),
    /// A short form in ClawSpec's documentation.
    ShortConsistency,
    /// Keys of the front matter of a Markdown file.
    FrontMatter,
}

/// Reports blocks of a scenario that are not in ClawSpec's schema.
pub(crate) fn check_scenario(scenario: &LintNode<'_>, report: &mut Report) {
    for (key, member) in ["regression", "consistency"].into_iter().filter_map(|key| Some((key, scenario.get(key)?))) {
        report.push(member.head_finding(Difference::NotInSchema(key.to_owned())));
    }
}

/// Checks an assertion. ClawSpec's schema lacks the types about the trace.
pub(crate) fn check_assertion(assertion: &TypedAssertion<'_>, report: &mut Report) {
    let Some(info) = assertion.info else { return };
    if info.category == Category::Trace {
        report.extend(assertion.get("type").map(|it| it.finding(Difference::NotInSchema(info.name.to_owned()))));
    }
    if info.name == "artifact_contains" && assertion.text_at("path").is_some_and(|path| path.ends_with(".md")) {
        report.extend(assertion.get("fields").map(|fields| fields.head_finding(Difference::FrontMatter)));
    }
    if info.name == "llm_judge" {
        let consistency = assertion.get("consistency").filter(|it| it.bool() == Some(true));
        report.extend(consistency.map(|it| it.finding(Difference::ShortConsistency)));
    }
}

/// Reports a contract that ClawSpec does not find, or finds twice.
pub(crate) fn check_discovery(root: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    if !paths::is_placed(files) || root.get("scenarios").is_none() {
        return;
    }
    let patterns = paths::scenario_patterns(files);
    let has_settings = files.kind(Config::FILE) == Some(FileKind::File);
    // Without settings, the directory in which ClawSpec is started is unknown.
    let is_found = |pattern: &String| {
        matches(pattern, files.place()) || !has_settings && matches(&format!("**/{pattern}"), files.place())
    };
    let found: Vec<&String> = patterns.iter().filter(|pattern| is_found(pattern)).collect();
    match found.as_slice() {
        [_] => {}
        // Outside of the tests of a target, without settings, it is a draft.
        [] if patterns.is_empty() || !has_settings && target_of(files.place()).is_none() => {}
        [] => {
            let renamed = files.place().rsplit_once('/').map(|(directory, _)| format!("{directory}/scenarios.yaml"));
            let free = renamed
                .filter(|path| files.kind(path).is_none() && patterns.iter().any(|pattern| matches(pattern, path)));
            let is_of_environment = files.scenario_patterns().is_some();
            let is_written = is_of_environment || settings(files).scenario_patterns.is_some();
            report.push(root.head_finding(Difference::NotFound { is_written, is_of_environment, free }));
        }
        [first, second, ..] => {
            report.push(root.head_finding(Difference::FoundTwice((*first).clone(), (*second).clone())));
        }
    }
}

/// Checks `defaults`.
pub(crate) fn check_defaults(root: &LintNode<'_>, scenarios: Items<'_>, report: &mut Report) {
    if let Some(defaults) = IgnoredDefaults::of(root, scenarios).filter(|defaults| defaults.counts_here) {
        report.push(defaults.lint_node.head_finding(Difference::Defaults(defaults.left_to_do)));
    }
}

impl Rule for Difference {
    const CODE: Code = Code::UpstreamDiffers;

    fn severity(&self) -> Severity {
        // speclens uses explicit patterns in the same way.
        if matches!(self, Difference::NotFound { is_written: true, .. }) { Severity::Warning } else { Self::SEVERITY }
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        match self {
            Difference::NotInSchema(name) => {
                MessageParts::naming("ClawSpec 0.1.0 rejects this file: its schema does not allow", name.clone())
                    .note("the schema is stricter than ClawSpec's documentation and code")
            }
            Difference::NotFound { is_written, is_of_environment, free } => {
                let pattern = match is_of_environment {
                    true => format!("add a pattern for it to the variable `{}`", Config::PATTERNS_VARIABLE),
                    false => format!("add a pattern for it to `scenario_patterns` in `{}`", Config::FILE),
                };
                MessageParts::new("no scenario pattern matches this file")
                    .note(match is_written {
                        true => "a run of the workspace skips it",
                        false => "`clawspec run` never finds it",
                    })
                    .help(match free {
                        Some(path) => format!("rename it to `{path}`, or {pattern}"),
                        None => pattern,
                    })
            }
            Difference::FoundTwice(first, second) => {
                MessageParts::new(format!("both scenario patterns `{first}` and `{second}` match this file"))
                    .note("ClawSpec runs it twice")
            }
            Difference::Defaults(left_to_do) => {
                let words = MessageParts::new("ClawSpec ignores `defaults`").note(
                    "speclens waits up to `timeout` seconds for the end of a run, and checks every `poll_interval` seconds",
                );
                left_to_do.help().into_iter().fold(words, MessageParts::help)
            }
            Difference::FrontMatter => MessageParts::new("ClawSpec cannot read `fields` of a Markdown file")
                .note("speclens looks for them in the front matter of the file; ClawSpec aborts with an error")
                .help("use `sections` for its headings"),
            Difference::ShortConsistency => {
                let meant = "{ runs: 3, min_passes: 3 }";
                MessageParts::new("ClawSpec 0.1.0 does not support `consistency: true`")
                    .note("ClawSpec aborts with an error, although its documentation describes the value")
                    .remedy(format!("write `{meant}`"), Fix::suggestion, location.replaced(meant))
            }
        }
    }
}
