use std::ops::Range;

use crate::{
    dialect::cli_bench::facts::{About, SuiteFacts, tasks},
    document::{NodeRef, Pointer},
    finding::{Finding, Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::Code,
    relations::{Items, Named},
};

/// An intent that contains a command.
#[derive(Debug)]
struct RevealingIntent {
    command: String,
}

/// Commands that an intent reveals, as far as the task alone shows. Not computed again after edits elsewhere.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Revealed {
    /// Whether the text can make a command of the name of a program.
    may_name_program: bool,
    /// Range of an expected command in the intent.
    command: Option<Range<usize>>,
}

impl Revealed {
    /// Whether an intent may name a command, and which of these commands it contains.
    pub(crate) fn of(intent: &str, commands: &[String]) -> Revealed {
        Revealed {
            may_name_program: ["`", " -", "\t-"].iter().any(|sign| intent.contains(sign)),
            command: commands.iter().find_map(|command| part_of(intent, command)),
        }
    }

    /// Whether it contains a command, or may contain one depending on the name of the program.
    pub(crate) fn may_be_command(&self) -> bool {
        self.may_name_program || self.command.is_some()
    }
}

/// Checks the intents of all tasks.
pub(crate) fn check_relations(root: NodeRef<'_>, items: Items<'_>, suite: &SuiteFacts, report: &mut Report) {
    for (index, task) in tasks(items, About::Command) {
        let Some(intent) = &task.intent else { continue };
        let cli = suite.cli.as_ref().filter(|_| task.revealed.may_name_program);
        let by_name = cli.and_then(|cli| command_in(&intent.name, cli));
        let Some(found) = by_name.or_else(|| task.revealed.command.clone()) else { continue };
        let command = intent.name[found.clone()].to_owned();
        let (at, range) = part(root, intent, found, items.place(index, intent));
        report.push(Finding::new(RevealingIntent { command }, at, range));
    }
}

/// Returns the range of a part of a text that is written without escapes.
fn part(
    root: NodeRef<'_>,
    named: &Named,
    found: Range<usize>,
    (at, range): (Pointer, Range<usize>),
) -> (Pointer, Range<usize>) {
    let command = &named.name[found.clone()];
    let nth = named.name[..found.start].matches(command).count();
    let exact = root.find(&at).map(|node| LintNode { node, key: None, at: Pointer::root() }.part(command, nth));
    (at, exact.filter(|exact| exact.len() == command.len()).unwrap_or(range))
}

/// Returns the range of a command in an intent, as whole words.
fn part_of(intent: &str, command: &str) -> Option<Range<usize>> {
    let is_word = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
    let command = command.trim_end_matches('\n').trim();
    intent.match_indices(command).map(|(at, found)| at..at + found.len()).find(|range| {
        let before = intent[..range.start].chars().next_back();
        let behind = intent[range.end..].chars().next();
        !before.is_some_and(is_word) && !behind.is_some_and(is_word)
    })
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
            let is_option = option.len() > 1
                && option.starts_with('-')
                && option.trim_start_matches('-').len() < option.len()
                && option.trim_start_matches('-').starts_with(|it: char| it.is_ascii_alphanumeric());
            if is_option {
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

impl Rule for RevealingIntent {
    const CODE: Code = Code::RevealingIntent;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new(format!("the intent contains the command `{}`", self.command))
            .note("the task measures only whether the model copies it")
            .help("describe what the model must achieve, not how")
    }
}

#[cfg(test)]
mod tests {
    use super::{Revealed, command_in, part_of};

    #[test]
    fn a_command_that_must_be_run_gives_itself_away() {
        assert_eq!(part_of("Run git commit now", "git commit"), Some(4..14));
        assert_eq!(part_of("Run git commits now", "git commit"), None);
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
            assert!(found.is_none() || Revealed::of(intent, &[]).may_name_program, "{intent}");
        }
    }
}
