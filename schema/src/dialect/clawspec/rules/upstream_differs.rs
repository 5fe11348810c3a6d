//! Differences of ClawSpec: whether it finds a contract, and what it does not use.

use crate::{
    dialect::clawspec::{
        assertion::Category, config::Config, ignored_defaults::IgnoredDefaults, lower::settings, paths,
        typed_assertion::TypedAssertion,
    },
    files::{FileKind, Files, matches},
    finding::{MessageParts, Report},
    kind::target_of,
    lint_node::LintNode,
    problem::{Code, Severity},
    relations::Items,
};

/// Reports blocks of a scenario that are not in ClawSpec's schema.
pub(crate) fn check_scenario(scenario: &LintNode<'_>, report: &mut Report) {
    for (key, member) in ["regression", "consistency"].into_iter().filter_map(|key| Some((key, scenario.get(key)?))) {
        report.push(member.head_problem(Code::UpstreamDiffers, not_in_schema(key)));
    }
}

/// Checks an assertion. ClawSpec's schema lacks the types about the trace.
pub(crate) fn check_assertion(assertion: &TypedAssertion<'_>, report: &mut Report) {
    let Some(info) = assertion.info else { return };
    if info.category == Category::Trace {
        let kind = assertion.get("type");
        report.extend(kind.map(|it| it.problem(Code::UpstreamDiffers, not_in_schema(info.name))));
    }
}

/// Returns the text about a type, or a key of a scenario, that is not in ClawSpec's schema.
fn not_in_schema(name: &str) -> MessageParts {
    MessageParts::naming("ClawSpec 0.1.0 rejects this file: its schema does not allow", name)
        .note("the schema is stricter than ClawSpec's documentation and code")
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
            let pattern = match is_of_environment {
                true => format!("add a pattern for it to the variable `{}`", Config::PATTERNS_VARIABLE),
                false => format!("add a pattern for it to `scenario_patterns` in `{}`", Config::FILE),
            };
            let words = MessageParts::new("no scenario pattern matches this file")
                .note(match is_written {
                    true => "a run of the workspace skips it",
                    false => "`clawspec run` never finds it",
                })
                .help(match free {
                    Some(path) => format!("rename it to `{path}`, or {pattern}"),
                    None => pattern,
                });
            let finding = root.head_problem(Code::UpstreamDiffers, words);
            // speclens uses explicit patterns in the same way.
            report.push(if is_written { finding.with_severity(Severity::Warning) } else { finding });
        }
        [first, second, ..] => {
            let message = format!("both scenario patterns `{first}` and `{second}` match this file");
            let words = MessageParts::new(message).note("ClawSpec runs it twice");
            report.push(root.head_problem(Code::UpstreamDiffers, words));
        }
    }
}

/// Checks `defaults`.
pub(crate) fn check_defaults(root: &LintNode<'_>, scenarios: Items<'_>, report: &mut Report) {
    if let Some(defaults) = IgnoredDefaults::of(root, scenarios).filter(|defaults| defaults.counts_here) {
        let words = MessageParts::new("ClawSpec ignores `defaults`").note(
            "speclens waits up to `timeout` seconds for the end of a run, and checks every `poll_interval` seconds",
        );
        let words = defaults.left_to_do.help().into_iter().fold(words, MessageParts::help);
        report.push(defaults.lint_node.head_problem(Code::UpstreamDiffers, words));
    }
}
