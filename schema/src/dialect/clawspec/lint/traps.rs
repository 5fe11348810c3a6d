//! Values that are allowed, and hardly mean what their author thinks: names that are compared letter by letter, paths that
//! nothing expands, scores beyond their scale.

use crate::{
    dialect::{ScalarRules, clawspec::config::Config},
    document::{Document, Pointer},
    files::Files,
    problem::Problem,
    problem::{Code, Fix, Severity},
    spot::Spot,
    template::trimmed_placeholders,
    words::listed,
};

use super::files as paths;

/// `before`: whether it stands among the preconditions.
pub(super) fn lint(assertion: &Spot<'_>, before: bool, files: &dyn Files, problems: &mut Vec<Problem>) {
    let Some(kind) = assertion.get("type") else { return };
    let Some(name) = kind.text() else { return };
    if let Some(endpoint) = assertion.get("endpoint") {
        lint_address(&endpoint, problems);
    }
    lint_tools(assertion, name, problems);
    lint_paths(assertion, problems);
    if before {
        lint_before(assertion, &kind, name, problems);
    }
    match name {
        "state_file" => lint_state(assertion, problems),
        "artifact_contains" => lint_contains(assertion, problems),
        "artifact_absent_words" => lint_source(assertion, files, problems),
        "artifact_matches_golden" => lint_golden(assertion, problems),
        "env_present" => lint_names(assertion, problems),
        "llm_judge" | "agent_identity_consistent" => lint_scale(assertion, name, problems),
        _ => {}
    }
}

/// An address begins with `http://` or `https://`.
pub(super) fn lint_address(address: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(text) = address.text().filter(|text| !text.is_empty() && !text.starts_with("{{")) else { return };
    if text.starts_with("http://") || text.starts_with("https://") {
        return;
    }
    // A path belongs to the gateway, whose address is the usual one.
    let whole = match text.strip_prefix('/') {
        Some(path) => format!("{}/{path}", Config::GATEWAY),
        None => format!("http://{text}"),
    };
    let message = format!("`{text}` is not a full address");
    let help = format!("write `{whole}`");
    let problem = address.problem(Code::InvalidValue, message).with_severity(Severity::Warning);
    let known = problems.iter().any(|it| it.at == address.at && it.code == Code::InvalidValue);
    let problem = match address.replaced(&whole).filter(|_| !text.contains("://")) {
        Some(edits) => problem.with_help(&help).with_fix(Fix::guess(help, edits)),
        None => problem.with_help("begin it with `http://` or `https://`"),
    };
    if !known {
        problems.push(problem);
    }
}

/// Names of tools are compared letter by letter.
fn lint_tools(assertion: &Spot<'_>, name: &str, problems: &mut Vec<Problem>) {
    let (key, negative) = match name {
        "tool_not_called" | "tool_not_invoked" => ("tool", true),
        "tool_was_called" => ("tool", false),
        "tool_not_permitted" => ("allowed_tools", false),
        "tool_sequence" => ("expected", false),
        _ => return,
    };
    let Some(member) = assertion.get(key) else { return };
    let items = if member.is_list() { member.items() } else { vec![member] };
    for item in &items {
        let Some(text) = item.text().filter(|text| text.contains('*')) else { continue };
        let (code, end) = if negative { (Code::VacuousClaim, "passes") } else { (Code::Contradiction, "fails") };
        let message = format!("no tool is named `{text}`, so this assertion always {end}");
        problems.push(
            item.problem(code, message).with_note("wildcards are not expanded").with_help("name each tool in full"),
        );
    }
    if name == "tool_sequence" {
        for item in &items {
            let Some(text) = item.text().filter(|text| is_file_name(text)) else { continue };
            let problem = item
                .problem(Code::Contradiction, format!("`{text}` looks like a file, and `tool_sequence` lists tools"));
            problems.push(
                problem.with_help("name the tool that reads or writes it, or check the file with `artifact_exists`"),
            );
        }
    }
}

/// Whether a text is the name of a file, or the path of one, and not of a tool such as `resend.send`.
fn is_file_name(text: &str) -> bool {
    const ENDINGS: [&str; 13] =
        ["md", "yaml", "yml", "json", "jsonl", "txt", "html", "htm", "csv", "pdf", "log", "xml", "toml"];
    let ending = text.rsplit_once('.').filter(|(name, _)| !name.is_empty()).map(|(_, ending)| ending.to_lowercase());
    !text.contains(char::is_whitespace) && ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
}

fn lint_paths(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    for key in ["path", "state_path", "output_path", "soul_path", "golden", "source", "log_path"] {
        let Some(path) = assertion.get(key) else { continue };
        let Some(text) = path.text() else { continue };
        let bare = trimmed_placeholders(text).iter().fold(text.to_owned(), |bare, found| bare.replace(found.text, "x"));
        let (message, help) = if bare.starts_with("~/") || bare.starts_with('$') {
            (
                "`~` and shell variables are not expanded in paths".to_owned(),
                "write the path from the root of the workspace",
            )
        } else if bare.contains("://") {
            ("expected a path, found an address".to_owned(), "use `gateway_response` to ask an address")
        } else if bare.contains('\\') {
            ("`\\` does not separate directories".to_owned(), "write `/`")
        } else if bare.contains("**") {
            ("`**` does not reach into directories below".to_owned(), "write a `*` for each directory")
        } else if bare.split('{').skip(1).any(|rest| rest.split('}').next().is_some_and(|inner| inner.contains(','))) {
            ("braces are not expanded in paths".to_owned(), "write an assertion for each name")
        } else if let Some(class) = words_in_brackets(&bare) {
            (format!("`[{class}]` matches one of these characters"), "write `[[]` for an opening bracket")
        } else if bare.ends_with('/') && reads(assertion) {
            (format!("`{text}` is a directory, and a file is read"), "name the file")
        } else {
            continue;
        };
        problems.push(path.problem(Code::Contradiction, message).with_help(help));
    }
}

/// A word in brackets that stands for one letter in a pattern of names.
fn words_in_brackets(path: &str) -> Option<&str> {
    let (_, rest) = path.split_once('[')?;
    let (class, _) = rest.split_once(']')?;
    // Letters in their order are meant as a class: `[abc]`, but not `[date]`.
    let is_class = class.chars().is_sorted_by(|one, other| one < other);
    let is_word = class.len() > 2 && class.chars().all(|letter| letter.is_alphabetic() || letter == ' ');
    (is_word && !is_class).then_some(class)
}

/// Whether a claim reads the content of its file.
fn reads(assertion: &Spot<'_>) -> bool {
    let kind = assertion.get("type");
    let name = kind.as_ref().and_then(Spot::text).unwrap_or_default();
    !matches!(name, "file_present" | "file_absent" | "artifact_exists")
}

/// What the run does is not there before it.
fn lint_before(assertion: &Spot<'_>, kind: &Spot<'_>, name: &str, problems: &mut Vec<Problem>) {
    if let Some(moment) = assertion.get("updated_after")
        && moment.text().is_some_and(|text| text.contains("{{run_started_at}}"))
        && assertion.get("timeout").is_none()
    {
        let message = "no file is newer than the run before it begins, so this assertion always fails";
        problems.push(moment.problem(Code::Contradiction, message).with_help("move it to `then`"));
    }
    let of_run = assertion.get("run_id").is_none_or(|run| run.text().is_some_and(|text| text.contains("{{run_id}}")));
    let (code, end) = match name {
        "tool_was_called" | "delegation_occurred" if of_run => (Code::Contradiction, "fails"),
        "tool_not_called" | "tool_not_permitted" | "token_budget" if of_run => (Code::VacuousClaim, "passes"),
        _ => return,
    };
    let problem = kind.problem(code, format!("`{name}` always {end} in `given`"));
    problems.push(problem.with_note("before the run its log is empty").with_help("move it to `then`"));
}

fn lint_state(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    let status = assertion.get("expected_status");
    if let Some(status) = status.as_ref().filter(|status| status.node.is_null())
        && !problems.iter().any(|problem| problem.at == status.at)
    {
        let problem = status.head_problem(Code::VacuousClaim, "`expected_status` has no value, so nothing is checked");
        problems.push(problem.with_help("write the status that is expected"));
    }
    let path = assertion.get("state_path").or_else(|| assertion.get("path"));
    if let Some(path) = path
        && let Some((_, ending)) = path.text().and_then(|text| text.rsplit_once('.'))
        && ["md", "html", "htm", "log"].contains(&ending)
    {
        let problem =
            path.problem(Code::Contradiction, format!("`state_file` reads YAML or JSON, not a `.{ending}` file"));
        problems.push(problem.with_help("name the file that has the keys"));
    }
    for (_, field) in
        assertion.get("expected_fields").filter(Spot::is_mapping).map(|it| it.entries()).unwrap_or_default()
    {
        let written = field.key.map(|key| key.key_text()).unwrap_or_default();
        if written.split('.').skip(1).any(|step| step.parse::<usize>().is_ok()) || written.contains('[') {
            let problem =
                field.head_problem(Code::Contradiction, format!("`{written}` is never found: lists have no keys"));
            problems.push(problem.with_help("name keys of mappings, as `a.b`"));
        }
    }
    let field = assertion.find(&["expected_fields", "status"]);
    if let (Some(one), Some(other)) = (status.as_ref().and_then(Spot::text), field.as_ref().and_then(Spot::text))
        && one != other
        && let Some(field) = &field
    {
        let message = format!("`status` cannot be `{other}` here and `{one}` in `expected_status`");
        problems.push(field.problem(Code::Contradiction, message));
    }
    if let (Some(path), Some(_)) = (assertion.get("path"), assertion.get("state_path")) {
        problems.retain(|problem| {
            problem.code != Code::ConflictingFields || problem.at.parent().as_ref() != Some(&assertion.at)
        });
        let mut problem = path.head_problem(Code::Unchecked, "the file in `path` is not checked beside `state_path`");
        problem.help = Some("keep one of the two".to_owned());
        let edits = assertion.without(&path);
        problem.fixes.extend(edits.map(|edits| Fix::suggestion("remove `path`", edits)));
        problems.push(problem);
    }
}

/// A heading is named without its marks.
pub(super) fn lint_heading(section: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(text) = section.text().filter(|text| text.starts_with('#')) else { return };
    let bare = text.trim_start_matches('#').trim();
    let message = format!("headings are named without their `#`, found `{text}`");
    let note = format!("ClawSpec searches for `# {text}` or `{text}:`");
    let mut problem = section.problem(Code::Contradiction, message).with_note(note);
    if let Some(edits) = section.replaced(crate::shape::scalar(bare)).filter(|_| !bare.is_empty()) {
        let help = format!("write `{bare}`");
        problem = problem.with_help(&help).with_fix(Fix::guess(help, edits));
    }
    problems.push(problem);
}

fn lint_contains(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    for section in assertion.get("sections").map(|list| list.items()).unwrap_or_default() {
        lint_heading(&section, problems);
    }
    let path = assertion.get("path");
    let ending = path.as_ref().and_then(Spot::text).and_then(|path| path.rsplit_once('.')).map(|(_, ending)| ending);
    if let Some(sections) = assertion.get("sections")
        && let Some(ending) = ending.filter(|ending| ["json", "html", "htm"].contains(ending))
    {
        let message = format!("`sections` looks for Markdown headings, which a `.{ending}` file does not have");
        let help = if ending == "json" { "name its keys in `fields`" } else { "use `log_entry` to search its text" };
        problems.push(sections.head_problem(Code::Contradiction, message).with_help(help));
    }
    if let Some(sections) = assertion.get("sections")
        && let Some(ending) = ending.filter(|ending| ["yaml", "yml"].contains(ending))
    {
        lint_dotted(&sections, ending, problems);
    }
    let Some(fields) = assertion.get("fields") else { return };
    if let Some(ending) = ending.filter(|ending| ["md", "txt", "html"].contains(ending)) {
        // That there is no list either is the same mistake.
        problems.retain(|problem| problem.at != fields.at);
        let message = format!("`fields` looks for keys, which a `.{ending}` file does not have");
        problems.push(fields.head_problem(Code::Contradiction, message).with_help("use `sections` for its headings"));
    }
    for field in fields.items() {
        if field.text().is_some_and(|text| text.contains(['[', '*']) || text.starts_with('$')) {
            let problem = field.problem(Code::Contradiction, "this key is never found: lists have no keys");
            problems.push(problem.with_help("name keys of mappings, as `a.b`"));
        }
    }
}

/// Keys of a YAML file, named as if they were headings: of these, `a.b` is never at the beginning of a line.
fn lint_dotted(sections: &Spot<'_>, ending: &str, problems: &mut Vec<Problem>) {
    let is_dotted = |text: &str| {
        text.contains('.') && text.split('.').all(|step| !step.is_empty() && !step.contains(char::is_whitespace))
    };
    let listed = sections.texts();
    let Some((text, first)) = listed.iter().find(|(text, _)| is_dotted(text)) else { return };
    let message = format!("`{text}` is never found: a dotted name is not a line of a `.{ending}` file");
    let mut problem = first.problem(Code::Contradiction, message);
    let edits = sections.renamed("fields").filter(|_| listed.iter().all(|(text, _)| is_dotted(text)));
    let help = "rename `sections` to `fields`, which looks for keys";
    problem.fixes.extend(edits.map(|edits| Fix::guess(help, edits)));
    problems.push(problem.with_help(help));
}

/// The list of words that stands in a file.
fn lint_source(assertion: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let (Some(source), Some(key)) = (assertion.get("source"), assertion.get("key")) else { return };
    let Some(wanted) = source.text().and_then(paths::below_root).filter(|_| paths::is_placed(files)) else { return };
    let Some(dotted) = key.text().filter(|text| !text.is_empty()) else { return };
    let Ok(bytes) = files.read(&wanted) else { return };
    let Ok(text) = std::str::from_utf8(&bytes) else { return };
    let document = Document::read(text, ScalarRules::Yaml11);
    if !document.is_intact() {
        return;
    }
    let at = dotted.split('.').fold(Pointer::root(), |at, step| at.key(step));
    let message = match document.find(&at) {
        Some(list) if list.items().next().is_some() => return,
        Some(_) => format!("`{dotted}` in `{wanted}` is not a list of words, so nothing is checked"),
        None => {
            let keys: Vec<String> = document
                .root()
                .into_iter()
                .flat_map(|root| root.entries().map(|entry| entry.key.key_text()).collect::<Vec<_>>())
                .collect();
            let known = listed(keys.iter().map(String::as_str));
            format!("`{wanted}` has no `{dotted}`, so nothing is checked: it has {known}")
        }
    };
    problems.push(key.problem(Code::VacuousClaim, message));
}

fn lint_golden(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    if let (Some(path), Some(golden)) = (assertion.get("path"), assertion.get("golden"))
        && path.text().is_some()
        && path.text() == golden.text()
    {
        problems.push(
            golden
                .problem(Code::VacuousClaim, "`path` and `golden` are the same file, so this assertion always passes"),
        );
    }
}

fn lint_names(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    for name in assertion.get("vars").map(|list| list.items()).unwrap_or_default() {
        let Some(text) = name.text() else { continue };
        let odd = |letter: char| letter.is_whitespace() || matches!(letter, '$' | '=' | '{' | '}');
        if text.contains(odd) {
            let problem = name.problem(Code::Contradiction, format!("`{text}` is not a valid name of a variable"));
            problems.push(problem.with_help("write the name alone"));
        }
    }
}

/// A threshold beyond the scale that the instruction names.
fn lint_scale(assertion: &Spot<'_>, name: &str, problems: &mut Vec<Problem>) {
    let Some(threshold) = assertion.get("pass_threshold") else { return };
    let Some(least) = threshold.number() else { return };
    if least <= 0.0 {
        if name == "agent_identity_consistent" {
            let problem = threshold.problem(Code::VacuousClaim, "every score passes this threshold");
            problems.push(problem.with_help("raise it: scores usually range from 1 to 5"));
        }
        return;
    }
    let rubric = assertion.get("rubric");
    let Some((low, high)) = (match rubric.as_ref().map(Spot::text) {
        Some(rubric) => rubric.and_then(scale),
        None if name == "agent_identity_consistent" => Some((1.0, 5.0)),
        None => None,
    }) else {
        return;
    };
    if least > high {
        let message = format!("no score reaches this threshold: the instruction names a scale from {low} to {high}");
        problems.push(threshold.problem(Code::Contradiction, message));
    } else if least <= low {
        let message = format!("every score passes this threshold: the instruction names a scale from {low} to {high}");
        problems.push(threshold.problem(Code::VacuousClaim, message));
    }
}

/// The scale that an instruction names: `1-5`. Of several ranges it is the one behind a word of scoring, and a number of
/// sentences is none.
fn scale(text: &str) -> Option<(f64, f64)> {
    const SCORING: [&str; 6] = ["score", "scale", "rate", "rating", "grade", "from"];
    let ranges = text.match_indices('-').filter_map(|(at, _)| {
        let before = text[..at].trim_end();
        let digits = before.len() - before.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
        let behind = text[at + 1..].trim_start();
        let length = behind.len() - behind.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let (before, low) = before.split_at(before.len() - digits);
        let (high, behind) = behind.split_at(length);
        let (low, high): (f64, f64) = (low.parse().ok()?, high.parse().ok()?);
        let is_scored = before.split_whitespace().rev().take(3).any(|word| {
            let word = word.to_lowercase();
            SCORING.iter().any(|scoring| word.starts_with(scoring))
        });
        let next = behind.trim_start().split(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default();
        let counts = behind.starts_with(' ') && next.len() > 3 && next.ends_with('s') && next != "points";
        (low < high && high <= 100.0).then_some((is_scored, counts, (low, high)))
    });
    let all: Vec<_> = ranges.collect();
    let scored = all.iter().find(|(is_scored, ..)| *is_scored);
    match (scored, all.as_slice()) {
        (Some((.., range)), _) | (None, [(_, false, range)]) => Some(*range),
        (None, _) => None,
    }
}
