//! Valid assertions that cannot hold: tool names that are compared literally, paths without expansion, scores
//! outside of their scale.

use std::borrow::Cow;

use crate::{
    dialect::clawspec::{routing::Routing, scale::Scale, typed_assertion::TypedAssertion},
    finding::{Location, MessageParts, Report, Rule, Scope},
    lint_node::LintNode,
    problem::{Code, Fix},
    shape::scalar,
    template::trimmed_placeholders,
};

/// An assertion that always fails.
#[derive(Debug)]
enum Impossible {
    /// A tool name with a wildcard.
    Tool(String),
    /// A file among tools.
    FileAmongTools(String),
    Path(NoPath),
    /// A file that must be newer than the run, before the run.
    NewerThanRun,
    /// An entry about the run in the log, before the run.
    BeforeRun(String),
    /// A state in a file whose extension indicates that it has no keys.
    StateOf(String),
    /// A key inside a list.
    KeyOfList(String),
    /// Different values for `status`, in `expected_fields` and in `expected_status`.
    TwoStatuses {
        field: String,
        status: String,
    },
    /// A heading with its `#` marks.
    Heading(String),
    /// Headings of a file that has no headings.
    SectionsOf(String),
    /// Keys of a file that has no keys.
    FieldsOf(String),
    /// An item of `fields` inside a list.
    FieldOfList,
    /// A dotted name among headings, and whether all of them are dotted.
    Dotted {
        name: String,
        ending: String,
        are_all: bool,
    },
    /// An environment variable name with invalid characters.
    Variable(String),
    /// A threshold above the scale.
    AboveScale(Scale),
    /// More required passes than runs.
    MorePasses,
    /// A path with a wildcard for a file that must exist.
    File(String),
    /// A path with a wildcard for a routing state file.
    StatePath(String),
    /// An empty string among words that must not occur.
    NoWord,
}

/// A path that cannot exist.
#[derive(Debug)]
enum NoPath {
    Unexpanded,
    Address,
    Backslash,
    DoubleStar,
    Braces,
    Class(String),
    Directory(String),
}

/// Checks an assertion. `is_before`: whether it is a precondition.
pub(crate) fn check_assertion(assertion: &TypedAssertion<'_>, is_before: bool, report: &mut Report) {
    let Some(name) = assertion.name else { return };
    check_tools(assertion, name, report);
    check_paths(assertion, name, report);
    if is_before {
        check_before(assertion, name, report);
    }
    match name {
        "state_file" => check_state(assertion, report),
        "artifact_contains" => check_contains(assertion, report),
        "env_present" => check_names(assertion, report),
        "file_present" => {
            if let Some(path) = assertion.get("path")
                && let Some(text) = path.text().filter(|text| text.contains(WILDCARDS))
            {
                report.push(path.finding(Impossible::File(text.to_owned())));
            }
        }
        "artifact_absent_words" => {
            let words = assertion.get("words").map(|list| list.items()).unwrap_or_default();
            let empty = words.iter().filter(|word| word.text() == Some(""));
            report.extend(empty.map(|word| word.finding(Impossible::NoWord)));
        }
        "delegation_path" => {
            for path in Routing::of(assertion).map(|routing| routing.state_paths()).unwrap_or_default() {
                if let Some(text) = path.text().filter(|text| text.contains(WILDCARDS)) {
                    report.push(path.finding(Impossible::StatePath(text.to_owned())));
                }
            }
        }
        "llm_judge" | "agent_identity_consistent" => {
            check_consistency(assertion, report);
            if let Some((threshold, least, scale)) = Scale::of_threshold(assertion, name)
                && least > scale.high
            {
                report.push(threshold.finding(Impossible::AboveScale(scale)));
            }
        }
        _ => {}
    }
}

/// Wildcard characters of path patterns.
const WILDCARDS: [char; 3] = ['*', '?', '['];

/// Checks that the number of required passes is not greater than the number of runs.
fn check_consistency(assertion: &LintNode<'_>, report: &mut Report) {
    let Some(consistency) = assertion.get("consistency").filter(LintNode::is_mapping) else { return };
    let count = |key: &str| consistency.get(key).and_then(|it| it.number()).unwrap_or(1.0);
    if count("min_passes") > count("runs") {
        let place = consistency.get("min_passes").unwrap_or_else(|| consistency.clone());
        report.push(place.finding(Impossible::MorePasses).unless_wrong(consistency.at.key("runs")));
    }
}

/// Checks names of tools, which are compared literally.
fn check_tools(assertion: &LintNode<'_>, name: &str, report: &mut Report) {
    let key = match name {
        "tool_was_called" => "tool",
        "tool_not_permitted" => "allowed_tools",
        "tool_sequence" => "expected",
        _ => return,
    };
    let Some(member) = assertion.get(key) else { return };
    let items = if member.is_list() { member.items() } else { vec![member] };
    for (item, text) in items.iter().filter_map(|item| Some((item, item.text()?))) {
        if text.contains('*') {
            report.push(item.finding(Impossible::Tool(text.to_owned())));
        }
        if name == "tool_sequence" && is_file_name(text) {
            report.push(item.finding(Impossible::FileAmongTools(text.to_owned())));
        }
    }
}

/// Whether a string is the name or path of a file, not the name of a tool such as `resend.send`.
fn is_file_name(text: &str) -> bool {
    const ENDINGS: [&str; 13] =
        ["md", "yaml", "yml", "json", "jsonl", "txt", "html", "htm", "csv", "pdf", "log", "xml", "toml"];
    let ending = text.rsplit_once('.').filter(|(name, _)| !name.is_empty()).map(|(_, ending)| ending.to_lowercase());
    !text.contains(char::is_whitespace) && ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
}

fn check_paths(assertion: &LintNode<'_>, name: &str, report: &mut Report) {
    for key in ["path", "state_path", "output_path", "soul_path", "golden", "source", "log_path"] {
        if let Some(mistake) = assertion.text_at(key).and_then(|text| NoPath::of(text, name)) {
            report.extend(assertion.get(key).map(|path| path.finding(Impossible::Path(mistake))));
        }
    }
}

impl NoPath {
    /// Returns the problem of the path of an assertion, given its type.
    fn of(text: &str, name: &str) -> Option<NoPath> {
        // Most paths have none of the characters that can be wrong.
        if !text.contains(['$', ':', '\\', '*', '{', '[']) && !text.starts_with('~') && !text.ends_with('/') {
            return None;
        }
        let placeholders = trimmed_placeholders(text);
        let mut bare = Cow::Borrowed(text);
        for found in &placeholders {
            bare = bare.replace(found.text, "x").into();
        }
        let reads_content = !matches!(name, "file_present" | "file_absent" | "artifact_exists");
        if bare.starts_with("~/") || bare.starts_with('$') {
            Some(NoPath::Unexpanded)
        } else if bare.contains("://") {
            Some(NoPath::Address)
        } else if bare.contains('\\') {
            Some(NoPath::Backslash)
        } else if bare.contains("**") {
            Some(NoPath::DoubleStar)
        } else if bare.split('{').skip(1).any(|rest| rest.split('}').next().is_some_and(|inner| inner.contains(','))) {
            Some(NoPath::Braces)
        } else if let Some(class) = words_in_brackets(&bare) {
            Some(NoPath::Class(class.to_owned()))
        } else {
            (bare.ends_with('/') && reads_content).then(|| NoPath::Directory(text.to_owned()))
        }
    }
}

/// Returns a word in brackets, which matches a single character in a pattern.
fn words_in_brackets(path: &str) -> Option<&str> {
    let (_, rest) = path.split_once('[')?;
    let (class, _) = rest.split_once(']')?;
    // Characters in order are meant as a class: `[abc]`, but not `[date]`.
    let is_class = class.chars().is_sorted_by(|one, other| one < other);
    let is_word = class.len() > 2 && class.chars().all(|letter| letter.is_alphabetic() || letter == ' ');
    (is_word && !is_class).then_some(class)
}

/// Reports preconditions about results of the run, which do not exist yet.
fn check_before(assertion: &LintNode<'_>, name: &str, report: &mut Report) {
    if let Some(moment) = assertion.get("updated_after")
        && moment.text().is_some_and(|text| text.contains("{{run_started_at}}"))
        && assertion.get("timeout").is_none()
    {
        report.push(moment.finding(Impossible::NewerThanRun));
    }
    if matches!(name, "tool_was_called" | "delegation_occurred") && is_of_run(assertion) {
        report.extend(assertion.get("type").map(|kind| kind.finding(Impossible::BeforeRun(name.to_owned()))));
    }
}

/// Whether an assertion reads the log of the run itself.
pub(crate) fn is_of_run(assertion: &LintNode<'_>) -> bool {
    assertion.get("run_id").is_none_or(|run| run.text().is_some_and(|text| text.contains("{{run_id}}")))
}

fn check_state(assertion: &LintNode<'_>, report: &mut Report) {
    let path = assertion.get("state_path").or_else(|| assertion.get("path"));
    if let Some(path) = path
        && let Some((_, ending)) = path.text().and_then(|text| text.rsplit_once('.'))
        && ["md", "html", "htm", "log"].contains(&ending)
    {
        report.push(path.finding(Impossible::StateOf(ending.to_owned())));
    }
    let fields = assertion.get("expected_fields").filter(LintNode::is_mapping);
    for (written, field) in fields.map(|it| it.entries()).unwrap_or_default() {
        if written.split('.').skip(1).any(|step| step.parse::<usize>().is_ok()) || written.contains('[') {
            report.push(field.head_finding(Impossible::KeyOfList(written)));
        }
    }
    let status = assertion.text_at("expected_status");
    if let Some(field) = assertion.find(&["expected_fields", "status"])
        && let (Some(status), Some(other)) = (status, field.text())
        && status != other
    {
        let (field_text, status) = (other.to_owned(), status.to_owned());
        report.push(field.finding(Impossible::TwoStatuses { field: field_text, status }));
    }
}

/// Checks the name of a heading, which has no marks.
pub(crate) fn check_heading(section: &LintNode<'_>, report: &mut Report) {
    if let Some(text) = section.text().filter(|text| text.starts_with('#')) {
        report.push(section.finding(Impossible::Heading(text.to_owned())));
    }
}

fn check_contains(assertion: &LintNode<'_>, report: &mut Report) {
    let path = assertion.text_at("path");
    let ending = path.and_then(|path| path.rsplit_once('.')).map_or("", |(_, ending)| ending);
    if let Some(sections) = assertion.get("sections") {
        for section in sections.items() {
            check_heading(&section, report);
        }
        match ending {
            "json" | "html" | "htm" => report.push(sections.head_finding(Impossible::SectionsOf(ending.to_owned()))),
            "yaml" | "yml" => check_dotted(&sections, ending, report),
            _ => {}
        }
    }
    let Some(fields) = assertion.get("fields") else { return };
    if ["txt", "html"].contains(&ending) {
        // A list that is missing too has the same cause.
        let finding = fields.head_finding(Impossible::FieldsOf(ending.to_owned()));
        report.push(finding.instead_of(Scope::At(fields.at.clone())));
    }
    for field in fields.items() {
        if field.text().is_some_and(|text| text.contains(['[', '*']) || text.starts_with('$')) {
            report.push(field.finding(Impossible::FieldOfList));
        }
    }
}

/// Checks keys of a YAML file that are listed as headings: `a.b` is never at the start of a line.
fn check_dotted(sections: &LintNode<'_>, ending: &str, report: &mut Report) {
    let is_dotted = |text: &str| {
        text.contains('.') && text.split('.').all(|step| !step.is_empty() && !step.contains(char::is_whitespace))
    };
    let listed = sections.texts();
    let Some((text, first)) = listed.iter().find(|(text, _)| is_dotted(text)) else { return };
    let are_all = listed.iter().all(|(text, _)| is_dotted(text));
    let (name, ending) = ((*text).to_owned(), ending.to_owned());
    report.push(first.finding(Impossible::Dotted { name, ending, are_all }));
}

fn check_names(assertion: &LintNode<'_>, report: &mut Report) {
    for name in assertion.get("vars").map(|list| list.items()).unwrap_or_default() {
        let odd = |letter: char| letter.is_whitespace() || matches!(letter, '$' | '=' | '{' | '}');
        if let Some(text) = name.text().filter(|text| text.contains(odd)) {
            report.push(name.finding(Impossible::Variable(text.to_owned())));
        }
    }
}

impl NoPath {
    fn message(&self) -> MessageParts {
        let (message, help) = match self {
            NoPath::Unexpanded => (
                "`~` and shell variables are not expanded in paths".to_owned(),
                "write the path relative to the root of the workspace",
            ),
            NoPath::Address => ("expected a path, found a URL".to_owned(), "use `gateway_response` to check a URL"),
            NoPath::Backslash => ("`\\` does not separate directories".to_owned(), "write `/`"),
            NoPath::DoubleStar => {
                ("`**` does not match nested directories here".to_owned(), "write one `*` per directory level")
            }
            NoPath::Braces => ("braces are not expanded in paths".to_owned(), "write one assertion per file"),
            NoPath::Class(class) => {
                (format!("`[{class}]` matches only one character"), "write `[[]` for an opening bracket")
            }
            NoPath::Directory(path) => (format!("`{path}` is a directory, but a file is expected"), "name the file"),
        };
        MessageParts::new(message).help(help)
    }
}

impl Rule for Impossible {
    const CODE: Code = Code::Contradiction;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        match self {
            Impossible::Tool(name) => {
                MessageParts::new(format!("`{name}` is not the exact name of a tool, so this assertion always fails"))
                    .note("wildcards are not expanded")
                    .help("name each tool in full")
            }
            Impossible::FileAmongTools(name) => {
                MessageParts::new(format!("`{name}` looks like a file, but `tool_sequence` expects tools"))
                    .help("name the tool that reads or writes it, or check the file with `artifact_exists`")
            }
            Impossible::Path(path) => path.message(),
            Impossible::NewerThanRun => {
                MessageParts::new("no file can be newer than a run that has not begun, so this assertion always fails")
                    .help("move it to `then`")
            }
            Impossible::BeforeRun(name) => MessageParts::new(format!("`{name}` cannot pass in `given`"))
                .note("before the run starts, the log does not mention it")
                .help("move it to `then`"),
            Impossible::StateOf(ending) => {
                MessageParts::new(format!("`state_file` reads YAML or JSON, not a `.{ending}` file"))
                    .help("name the file that has the keys")
            }
            Impossible::KeyOfList(key) => {
                MessageParts::new(format!("`{key}` is never found, because lists have no keys"))
                    .help("name the keys of mappings, as in `a.b`")
            }
            Impossible::TwoStatuses { field, status } => {
                MessageParts::new(format!("`status` cannot be both `{status}` and `{field}`"))
                    .help("remove one of the two")
            }
            Impossible::Heading(text) => {
                let words = MessageParts::new(format!("expected a heading without `#`, found `{text}`"))
                    .note(format!("ClawSpec searches for `# {text}` or `{text}:`"));
                let bare = text.trim_start_matches('#').trim();
                let edits = location.replaced(scalar(bare)).filter(|_| !bare.is_empty());
                words.fix_with_help(edits.map(|edits| Fix::guess(format!("write `{bare}`"), edits)))
            }
            Impossible::SectionsOf(ending) => MessageParts::new(format!(
                "`sections` lists Markdown headings, but a `.{ending}` file has none"
            ))
            .help(match ending.as_str() {
                "json" => "list its keys in `fields`",
                _ => "use `log_entry` to search its text",
            }),
            Impossible::FieldsOf(ending) => {
                MessageParts::new(format!("`fields` lists keys, but a `.{ending}` file has none"))
                    .help("use `sections` for its headings")
            }
            Impossible::FieldOfList => {
                let key = location.node().and_then(|node| node.text()).unwrap_or_default();
                MessageParts::new(format!("`{key}` is never found, because lists have no keys"))
                    .help("name the keys of mappings, as in `a.b`")
            }
            Impossible::Dotted { name, ending, are_all } => {
                let help = "rename `sections` to `fields`, which lists keys";
                let sections = location.holder().filter(|_| *are_all);
                let edits = sections.and_then(|sections| sections.renamed("fields"));
                MessageParts::new(format!(
                    "`{name}` is never found, because keys in a `.{ending}` file are nested, not dotted"
                ))
                .remedy(help, Fix::guess, edits)
            }
            Impossible::Variable(name) => {
                let bare = name.trim().trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
                let bare = bare.split('=').next().unwrap_or_default();
                let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                let words = MessageParts::new(format!("`{name}` is not a valid environment variable name"));
                match !bare.is_empty() && bare.chars().all(is_plain) {
                    true => words.help(format!("write the name alone, `{bare}`")),
                    false => words.help("write the name alone"),
                }
            }
            Impossible::MorePasses => {
                MessageParts::new("`min_passes` is greater than `runs`, so this assertion always fails")
                    .help("lower `min_passes`, or raise `runs`")
            }
            Impossible::File(path) => {
                let kind = location.holder().and_then(|assertion| assertion.get("type"));
                let edits = kind.and_then(|kind| kind.replaced("artifact_exists"));
                MessageParts::new(format!("wildcards in `{path}` are not expanded, so this assertion always fails"))
                    .note("`artifact_exists` expands wildcards")
                    .remedy("change the type to `artifact_exists`", Fix::guess, edits)
            }
            Impossible::StatePath(path) => {
                MessageParts::new(format!("wildcards in `{path}` are not expanded, so the file is never found"))
                    .help("name one file")
            }
            Impossible::NoWord => {
                MessageParts::new("every file contains the empty string, so this assertion always fails")
                    .help("remove it")
            }
            Impossible::AboveScale(Scale { low, high }) => {
                MessageParts::new(format!("no score meets this threshold: the scale of the rubric is {low} to {high}"))
                    .help("lower it")
            }
        }
    }
}
