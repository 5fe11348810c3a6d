//! Assertions that always pass.

use crate::{
    dialect::clawspec::{paths, scale::Scale, type_fields::number_of, typed_assertion::TypedAssertion},
    document::{Document, Pointer},
    files::Files,
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::Code,
    rules::contradiction::clawspec::impossible::is_of_run,
    words::all_of,
};

/// Help for a `key` that does not name a list of words.
const PATH_OF_LIST: &str = "set `key` to the path of a list of words";

/// An assertion that always passes.
#[derive(Debug)]
enum AlwaysPasses {
    /// A tool name with a wildcard.
    Tool(String),
    /// A file path with a wildcard.
    File(String),
    /// An empty list at this key.
    Empty(&'static str),
    /// A count of at least 0.
    AnyCount,
    /// A score of at least 0.
    AnyScore,
    /// The absence of an entry about the run in the log, before the run.
    BeforeRun(String),
    /// A status without a value.
    NoStatus,
    /// A path in a file that is not a list of words.
    NoList { key: String, file: String },
    /// A missing path in a file, with the existing keys.
    NoPlace { key: String, file: String, known: Vec<String> },
    /// A file that is compared with itself.
    SameFile,
    /// A threshold of 0 or less.
    NoThreshold,
    /// A threshold that even the lowest score of the scale reaches.
    BelowScale(Scale),
}

/// Checks an assertion. `is_before`: whether it is a precondition.
pub(crate) fn check_assertion(assertion: &TypedAssertion<'_>, is_before: bool, files: &dyn Files, report: &mut Report) {
    let Some(name) = assertion.name else { return };
    if is_before && matches!(name, "tool_not_called" | "tool_not_permitted" | "token_budget") && is_of_run(assertion) {
        report.extend(assertion.get("type").map(|kind| kind.finding(AlwaysPasses::BeforeRun(name.to_owned()))));
    }
    check_lists(assertion, name, report);
    match name {
        "tool_not_called" | "tool_not_invoked" => check_tools(assertion, report),
        "file_absent" => {
            if let Some(path) = assertion.get("path")
                && let Some(text) = path.text().filter(|text| text.contains(['*', '?', '[']))
            {
                report.push(path.finding(AlwaysPasses::File(text.to_owned())));
            }
        }
        "llm_call_count" => {
            if let Some(min) = assertion.get("min")
                && number_of(assertion, "min") == Some(0.0)
                && number_of(assertion, "max").is_none()
            {
                report.push(min.finding(AlwaysPasses::AnyCount));
            }
        }
        "state_file" => {
            if let Some(status) = assertion.get("expected_status").filter(|status| status.node.is_null()) {
                report.push(status.head_finding(AlwaysPasses::NoStatus).unless_wrong(status.at.clone()));
            }
        }
        "artifact_absent_words" => check_source(assertion, files, report),
        "artifact_matches_golden" => {
            if let (Some(path), Some(golden)) = (assertion.get("path"), assertion.get("golden"))
                && path.text().is_some()
                && path.text() == golden.text()
            {
                report.push(golden.finding(AlwaysPasses::SameFile));
            }
            if let Some(least) = assertion.get("rouge_threshold")
                && number_of(assertion, "rouge_threshold") == Some(0.0)
            {
                report.push(least.finding(AlwaysPasses::AnyScore));
            }
        }
        "llm_judge" | "agent_identity_consistent" => check_threshold(assertion, name, report),
        _ => {}
    }
}

/// Reports empty lists.
fn check_lists(assertion: &LintNode<'_>, name: &str, report: &mut Report) {
    let keys: &[&'static str] = match name {
        "env_present" => &["vars"],
        "artifact_contains" => &["sections", "fields"],
        "artifact_absent_words" => &["words"],
        // In this mode, an empty list means that no tool may be called.
        "tool_sequence" if assertion.get("mode").is_some_and(|mode| mode.text() == Some("strict")) => &[],
        "tool_sequence" | "delegation_path" => &["expected"],
        "state_file" => &["expected_fields"],
        _ => &[],
    };
    for (key, list) in keys.iter().filter_map(|key| Some((*key, assertion.get(key)?))) {
        if list.is_empty() {
            report.push(list.finding(AlwaysPasses::Empty(key)).unless_wrong(list.at.clone()));
        }
    }
}

/// Checks names of tools, which are compared literally.
fn check_tools(assertion: &LintNode<'_>, report: &mut Report) {
    let Some(member) = assertion.get("tool") else { return };
    let items = if member.is_list() { member.items() } else { vec![member] };
    for item in &items {
        if let Some(text) = item.text().filter(|text| text.contains('*')) {
            report.push(item.finding(AlwaysPasses::Tool(text.to_owned())));
        }
    }
}

/// Checks the file with the list of words.
fn check_source(assertion: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let (Some(source), Some(place)) = (assertion.get("source"), assertion.get("key")) else { return };
    let Some(file) = source.text().and_then(paths::below_root).filter(|_| paths::is_placed(files)) else { return };
    let Some(dotted) = place.text().filter(|text| !text.is_empty()) else { return };
    let Some(document) = paths::document_at(&file, files).filter(Document::is_intact) else { return };
    let at = dotted.split('.').fold(Pointer::root(), |at, step| at.key(step));
    let key = dotted.to_owned();
    report.push(place.finding(match document.find(&at) {
        Some(list) if list.items().next().is_some() => return,
        Some(_) => AlwaysPasses::NoList { key, file },
        None => {
            let entries = document.root().into_iter().flat_map(|root| root.entries());
            let known = entries.map(|entry| entry.key.key_text()).collect();
            AlwaysPasses::NoPlace { key, file, known }
        }
    }));
}

/// Reports a threshold that every score reaches.
fn check_threshold(assertion: &LintNode<'_>, name: &str, report: &mut Report) {
    let Some(threshold) = assertion.get("pass_threshold") else { return };
    if threshold.number().is_some_and(|least| least <= 0.0) {
        report.push(threshold.finding(AlwaysPasses::NoThreshold));
    }
    if let Some((threshold, least, scale)) = Scale::of_threshold(assertion, name)
        && least <= scale.low
    {
        report.push(threshold.finding(AlwaysPasses::BelowScale(scale)));
    }
}

impl Rule for AlwaysPasses {
    const CODE: Code = Code::VacuousClaim;

    fn is_about_absence(&self) -> bool {
        true
    }

    fn message(&self, _: &Location<'_>) -> MessageParts {
        match self {
            AlwaysPasses::Tool(name) => {
                MessageParts::new(format!("`{name}` is not the exact name of a tool, so this assertion always passes"))
                    .note("wildcards are not expanded")
                    .help("name each tool in full")
            }
            AlwaysPasses::File(path) => {
                MessageParts::new(format!("wildcards in `{path}` are not expanded, so this assertion always passes"))
                    .help("name one file, without wildcards")
            }
            AlwaysPasses::Empty(key) => {
                MessageParts::new(format!("`{key}` is empty, so nothing is checked")).help(match *key {
                    "vars" => "list the environment variables that must be set",
                    "sections" => "list the headings that the file must have",
                    "fields" => "list the keys that the file must have",
                    "words" => "list the words that the file must not have",
                    "expected_fields" => "list the keys and the values that the file must have",
                    _ => "list the expected names, in order",
                })
            }
            AlwaysPasses::AnyCount => MessageParts::new("a count is never below 0, so this assertion always passes")
                .help("write at least 1, or add `max`"),
            AlwaysPasses::AnyScore => {
                MessageParts::new("a score is never below 0, so this assertion always passes").help("raise it")
            }
            AlwaysPasses::BeforeRun(name) => MessageParts::new(format!("`{name}` cannot fail in `given`"))
                .note("before the run starts, the log does not mention it")
                .help("move it to `then`"),
            AlwaysPasses::NoStatus => MessageParts::new("`expected_status` has no value, so nothing is checked")
                .help("write the expected status"),
            AlwaysPasses::NoList { key, file } => {
                MessageParts::new(format!("`{key}` in `{file}` is not a list of words, so nothing is checked"))
                    .help(PATH_OF_LIST)
            }
            AlwaysPasses::NoPlace { key, file, known } => {
                let known = all_of(known.iter().map(String::as_str));
                MessageParts::new(format!("`{file}` has no key `{key}`, so nothing is checked"))
                    .note(format!("its keys are {known}"))
                    .help(PATH_OF_LIST)
            }
            AlwaysPasses::SameFile => {
                MessageParts::new("`path` and `golden` are the same file, so this assertion always passes")
                    .help("name two different files in `path` and `golden`")
            }
            AlwaysPasses::NoThreshold => MessageParts::new("every score meets this threshold")
                .note("scores usually range from 1 to 5")
                .help("raise it"),
            AlwaysPasses::BelowScale(Scale { low, high }) => MessageParts::new(format!(
                "every score meets this threshold: the scale of the rubric is {low} to {high}"
            ))
            .help("raise it"),
        }
    }
}
