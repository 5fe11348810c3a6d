//! The intent of a task: the goal, and not the way.

use std::ops::Range;

use crate::{
    document::{NodeRef, Pointer},
    problem::{Code, Problem},
    spot::Spot,
};

use super::super::config::HelpMode;
use super::facts::{ItemFacts, Named, SuiteFacts};

/// Intents that hold the command, and turns that `discoverable` uses up.
pub(super) fn lint(
    root: NodeRef<'_>,
    list: &Pointer,
    items: &[(usize, &ItemFacts)],
    suite: &SuiteFacts,
    problems: &mut Vec<Problem>,
) {
    let discoverable = suite.help_modes.contains(&HelpMode::Discoverable);
    for (index, (start, facts)) in items.iter().enumerate() {
        let ItemFacts::Task(task) = facts else { continue };
        let revealed = task.intent.as_ref().and_then(|intent| {
            let cli = suite.cli.as_ref().filter(|_| task.hints.may_name_program);
            let by_name = cli.and_then(|cli| command_in(&intent.text, cli));
            by_name.or_else(|| task.hints.command.clone())
        });
        if let Some(intent) = task.intent.as_ref().filter(|_| task.hints.wish.is_vague(suite.cli.as_deref())) {
            let (at, range) = intent.place(&list.index(index), *start);
            let problem = Problem::new(Code::VagueIntent, at, range, "the intent names no outcome");
            problems.push(problem.with_help("say what the model must achieve, or find out"));
        }
        if let (Some(intent), Some(found)) = (&task.intent, revealed) {
            let command = &intent.text[found.clone()];
            let message = format!("the intent contains the command `{command}`");
            let (at, range) = part(root, intent, found, &list.index(index), *start);
            let problem = Problem::new(Code::RevealingIntent, at, range, message);
            let note = "the task measures only whether the model copies it";
            problems.push(problem.with_note(note).with_help("say what the model must achieve, not how"));
        }
        if let Some((named, turns @ 0..=2)) = task.max_turns.as_ref().filter(|_| discoverable) {
            let (at, range) = named.place(&list.index(index), *start);
            let turns = if *turns == 1 { "one turn is".to_owned() } else { format!("{turns} turns are") };
            let message = format!("{turns} few with `help_modes: [discoverable]`");
            let problem = Problem::new(Code::TooFewTurns, at, range, message);
            problems.push(problem.with_note("looking for help takes one to three"));
        }
    }
}

/// What an intent says, as far as the item alone shows: none of it is asked again with every edit elsewhere.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hints {
    wish: Wish,
    /// Whether something stands in it that can make a command of the name of a program.
    may_name_program: bool,
    /// Where it holds a command that the task expects.
    command: Option<Range<usize>>,
}

/// What an intent asks for.
#[derive(Clone, Debug, Default, PartialEq)]
enum Wish {
    /// There is no intent, or it is blank.
    #[default]
    Absent,
    /// Nothing in particular.
    Idle,
    /// Nothing in particular, if this is the name of the program.
    About(String),
    /// Something.
    Clear,
}

impl Hints {
    /// What an intent says, and which of these commands it holds.
    pub(super) fn of(intent: &str, commands: &[String]) -> Hints {
        Hints {
            wish: Wish::of(intent),
            may_name_program: ["`", " -", "\t-"].iter().any(|sign| intent.contains(sign)),
            command: commands.iter().find_map(|command| part_of(intent, command)),
        }
    }
}

/// The place of a part of a text, where it was written as it reads.
fn part(
    root: NodeRef<'_>,
    named: &Named,
    found: Range<usize>,
    base: &Pointer,
    start: usize,
) -> (Pointer, Range<usize>) {
    let (at, range) = named.place(base, start);
    if named.verbatim {
        return (at, range.start + found.start..range.start + found.end);
    }
    let command = &named.text[found.clone()];
    let nth = named.text[..found.start].matches(command).count();
    let exact = root.find(&at).map(|node| Spot { node, key: None, at: Pointer::root() }.part(command, nth));
    (at, exact.filter(|exact| exact.len() == command.len()).unwrap_or(range))
}

impl Wish {
    fn of(intent: &str) -> Wish {
        const IDLE: [&str; 60] = [
            "a",
            "an",
            "and",
            "any",
            "anything",
            "app",
            "application",
            "as",
            "basic",
            "binary",
            "check",
            "cli",
            "command",
            "commands",
            "do",
            "execute",
            "explore",
            "feature",
            "features",
            "for",
            "how",
            "in",
            "invoke",
            "is",
            "it",
            "its",
            "just",
            "line",
            "make",
            "of",
            "out",
            "perform",
            "play",
            "please",
            "program",
            "run",
            "see",
            "some",
            "something",
            "stuff",
            "task",
            "test",
            "that",
            "the",
            "this",
            "thing",
            "things",
            "to",
            "tool",
            "try",
            "use",
            "using",
            "utility",
            "with",
            "work",
            "works",
            "you",
            "your",
            "around",
            "correctly",
        ];
        let lower = intent.to_lowercase();
        if lower.trim().is_empty() {
            return Wish::Absent;
        }
        let words = lower.split(|letter: char| !(letter.is_alphanumeric() || letter == '-'));
        let mut wanted = words.filter(|word| !word.is_empty() && !IDLE.contains(word));
        let Some(first) = wanted.next() else { return Wish::Idle };
        if wanted.all(|word| word.eq_ignore_ascii_case(first)) { Wish::About(first.to_owned()) } else { Wish::Clear }
    }

    /// Whether an intent asks for nothing in particular: but for the program it holds no word that says what is
    /// wanted.
    fn is_vague(&self, cli: Option<&str>) -> bool {
        match self {
            Wish::Idle => true,
            Wish::About(word) => cli.is_some_and(|cli| cli.eq_ignore_ascii_case(word)),
            Wish::Absent | Wish::Clear => false,
        }
    }
}

/// Where an intent holds a command as whole words.
fn part_of(intent: &str, command: &str) -> Option<Range<usize>> {
    let is_word = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
    let command = command.trim_end_matches('\n').trim();
    intent.match_indices(command).map(|(at, found)| at..at + found.len()).find(|range| {
        let before = intent[..range.start].chars().next_back();
        let behind = intent[range.end..].chars().next();
        !before.is_some_and(is_word) && !behind.is_some_and(is_word)
    })
}

/// A command in an intent: the program followed by an option, or a command of the program in backquotes.
fn command_in(intent: &str, cli: &str) -> Option<Range<usize>> {
    let is_word = |letter: char| letter.is_alphanumeric() || "_-./".contains(letter);
    for (at, _) in intent.match_indices(cli) {
        if intent[..at].chars().next_back().is_some_and(is_word) {
            continue;
        }
        let rest = &intent[at + cli.len()..];
        // A command ends where its line does.
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
        // Options may stand behind a subcommand or two.
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

#[cfg(test)]
mod tests {
    use super::{Hints, Wish, command_in, part_of};

    #[test]
    fn an_intent_without_an_outcome_is_vague() {
        for vague in ["use the tool", "Use git", "Run the git command", "Try it out, please.", "Do something with git"]
        {
            assert!(Wish::of(vague).is_vague(Some("git")), "{vague}");
        }
        for clear in
            ["Show the history", "Use git to find who wrote line 3", "", "Liste alle Zweige auf", "Run the tests"]
        {
            assert!(!Wish::of(clear).is_vague(Some("git")), "{clear}");
        }
    }

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
            assert!(found.is_none() || Hints::of(intent, &[]).may_name_program, "{intent}");
        }
    }
}
