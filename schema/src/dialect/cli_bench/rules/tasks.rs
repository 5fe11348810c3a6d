//! Tasks without their assertions: ids, turns, environment variables, and intents that say too little or too much.

use std::ops::Range;

use crate::{
    dialect::cli_bench::facts::{About, ItemFacts, SuiteFacts, TaskFacts},
    document::{NodeRef, Pointer, Scalar},
    edit,
    finding::{Finding, MessageParts, Report},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    quoting::scalar,
    relations::Items,
    suite::HelpMode,
    validate::describe,
    words::slug,
};

pub(crate) fn check(task: &LintNode<'_>, report: &mut Report) {
    check_environment(task, report);
    check_id(task, report);
    for field in ["teardown", "timeout", "scaffold"].into_iter().filter_map(|key| task.get(key)) {
        let key = field.at.last().unwrap_or_default();
        let words = MessageParts::naming("in tasks, cli-bench does not document", key)
            .note("cli-bench may ignore undocumented keys");
        report.push(field.head_problem(Code::UpstreamDiffers, words));
    }
}

/// Reports an id that is not a valid file name and cannot be written on a command line.
fn check_id(task: &LintNode<'_>, report: &mut Report) {
    let Some((text, id)) = task.get("id").and_then(|id| Some((id.text()?, id))) else { return };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if text.is_empty() || text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.chars().all(is_plain) {
        return;
    }
    let slug = slug(text);
    let edits = id.replaced(scalar(&slug)).filter(|_| !slug.is_empty());
    let words = MessageParts::new(format!("`{text}` contains characters that are not safe in a file name"))
        .note("the id becomes a file name, and selects the task on the command line")
        .help("use letters, digits, `.`, `_` and `-`")
        .fix(edits.map(|edits| Fix::guess(format!("change it to `{slug}`"), edits)));
    report.push(id.problem(Code::InvalidValue, words).with_severity(Severity::Hint));
}

/// Checks the `env` of a suite or a task.
pub(crate) fn check_environment(owner: &LintNode<'_>, report: &mut Report) {
    for (name, value) in owner.get("env").map(|env| env.entries()).unwrap_or_default() {
        if name.is_empty() || name.contains(['=', '\0']) {
            let words = MessageParts::new(format!("`{name}` is not a valid environment variable name"));
            report.push(value.head_problem(Code::InvalidValue, words));
        }
        match value.node.scalar() {
            // The schema reports that it is not a number.
            Some(Scalar::Float(number)) if number.is_nan() => {}
            Some(Scalar::Bool(_) | Scalar::Int(_) | Scalar::Float(_)) => {
                let quoted = serde_json::Value::from(value.node.text().unwrap_or_default()).to_string();
                let words = MessageParts::new(format!("`{name}` is {}", describe(value.node)))
                    .note("the value of an environment variable is a string")
                    .remedy(format!("write `{quoted}`"), Fix::safe, edit::quote(value.node));
                report.push(value.problem(Code::WrongType, words).with_severity(Severity::Warning));
            }
            Some(Scalar::Text | Scalar::Timestamp | Scalar::Null) | None => {}
        }
    }
}

pub(crate) fn check_items(root: NodeRef<'_>, items: Items<'_>, suite: &SuiteFacts, report: &mut Report) {
    for (index, facts) in items.about(About::Task) {
        let ItemFacts::Task(task) = facts else { continue };
        if let Some(intent) = task.intent.as_ref().filter(|_| task.is_vague(suite.cli.as_deref())) {
            let words = MessageParts::new("the intent states no outcome");
            let words = words.help("describe what the model must achieve or find out");
            let (at, range) = items.place(index, intent);
            report.push(Finding::stated(Code::VagueIntent, words, at, range));
        }
        report.extend(revealed(root, index, task, items, suite));
        if let Some((turns, count)) = &task.few_turns
            && suite.help_modes.contains(&HelpMode::Discoverable)
        {
            let words =
                MessageParts::new(format!("`max_turns: {count}` may be too few with `help_modes: [discoverable]`"));
            let words = words.note("looking up help takes one to three turns").help("raise `max_turns`");
            let (at, range) = items.place(index, turns);
            report.push(Finding::stated(Code::TooFewTurns, words, at, range));
        }
    }
}

/// Reports an intent that contains a command.
fn revealed(
    root: NodeRef<'_>,
    index: usize,
    task: &TaskFacts,
    items: Items<'_>,
    suite: &SuiteFacts,
) -> Option<Finding> {
    let intent = task.intent.as_ref()?;
    let cli = suite.cli.as_ref().filter(|_| task.may_name_program);
    let by_name = cli.and_then(|cli| command_in(&intent.name, cli));
    let found = by_name.or_else(|| task.command.clone())?;
    let command = &intent.name[found.clone()];
    let (at, range) = items.place(index, intent);
    let nth = intent.name[..found.start].matches(command).count();
    let node = root.find(&at).map(|node| LintNode { node, key: None, at: Pointer::root() });
    let exact = node.map(|node| node.part(command, nth)).filter(|exact| exact.len() == command.len());
    let words = MessageParts::new(format!("the intent contains the command `{command}`"))
        .note("the task measures only whether the model copies it")
        .help("describe what the model must achieve, not how");
    Some(Finding::stated(Code::RevealingIntent, words, at, exact.unwrap_or(range)))
}

/// Returns the range of a command in an intent: the program with an option, or a command of the program in backquotes.
fn command_in(intent: &str, cli: &str) -> Option<Range<usize>> {
    let is_word = |letter: char| letter.is_alphanumeric() || "_-./".contains(letter);
    for (at, _) in intent.match_indices(cli) {
        if intent[..at].chars().next_back().is_some_and(is_word) {
            continue;
        }
        let rest = &intent[at + cli.len()..];
        // A command ends at the end of its line.
        let words = rest.trim_start_matches([' ', '\t']).split('\n').next().unwrap_or_default();
        let rest = &rest[..words.as_ptr() as usize + words.len() - rest.as_ptr() as usize];
        if words.len() == rest.len() {
            continue;
        }
        if intent[..at].ends_with('`')
            && let Some(end) = rest.find('`')
        {
            return Some(at..at + cli.len() + end);
        }
        // Options may follow a subcommand or two.
        let mut end = at + cli.len() + (rest.len() - words.len());
        for word in words.split(' ').take(4) {
            let option = word.trim_end_matches(['.', ',', ';', ':', ')', '\'', '"', '`']);
            let name = option.trim_start_matches('-');
            if name.len() < option.len() && name.starts_with(|it: char| it.is_ascii_alphanumeric()) {
                return Some(at..end + option.len());
            }
            if option.len() < word.len() || !word.chars().all(is_word) {
                break;
            }
            end += word.len() + 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{command_in, slug};

    #[test]
    fn an_id_is_words_with_dashes() {
        assert_eq!(slug("Show help (all)"), "show-help-all");
        assert_eq!(slug("größe"), "gr-e");
        assert_eq!(slug("…"), "");
    }

    #[test]
    fn options_and_backquotes_give_a_command_away() {
        for (intent, found) in [
            ("Run mycli --version to see it", Some("mycli --version")),
            ("Run mycli init -f.", Some("mycli init -f")),
            ("Use `mycli init` here", Some("mycli init")),
            ("Show the version of mycli", None),
            ("Show what mycli - the program - does", None),
            ("Explain mycli. Then -x", None),
            ("Use amycli -x", None),
            ("Run mycli-extra -x", None),
            ("Ask mycli about the well-known things", None),
        ] {
            assert_eq!(command_in(intent, "mycli").map(|range| &intent[range]), found, "{intent}");
        }
    }
}
