//! The help of a program: what it prints about itself and its subcommands, and the parts of it that fit a task.
//!
//! Reading and selecting are pure; only [`capture`] runs the program.

use std::{
    collections::{BTreeSet, VecDeque},
    time::Duration,
};

use speclens_schema::evidence::{Capture, Exit, RunError, RunErrorKind};

use super::shell::{Deadline, Shell};

const TIMEOUT: Duration = Duration::from_secs(5);

const MAX_CALLS: usize = 20;

/// Maximum number of subcommand names in a row: `mycli remote add`.
const MAX_DEPTH: usize = 2;

const MAX_HELP_BYTES: usize = 256 * 1024;

pub(super) const MAX_CHARACTERS: usize = 4_000;

/// Minimum number of characters of a truncated part; less is omitted.
const MIN_CHARACTERS: usize = 120;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Help {
    /// The command: `mycli remote`.
    pub(super) command: String,
    pub(super) text: String,
}

/// Asks a program and its subcommands for help, those that fit the intent first. The program itself comes first in the
/// list.
pub(super) async fn capture(
    program: &str,
    intent: &str,
    shell: &Shell,
    deadline: Deadline,
) -> Result<Vec<Help>, RunError> {
    let wanted = words(intent);
    let mut found: Vec<Help> = Vec::new();
    let mut open = VecDeque::from([(program.to_owned(), 0)]);
    for _ in 0..MAX_CALLS {
        let Some((command, depth)) = open.pop_front() else { break };
        let asked = format!("{command} --help");
        let finished = shell.run(&asked, deadline.left(TIMEOUT), MAX_HELP_BYTES).await;
        if deadline.is_over() {
            return Err(deadline.error());
        }
        if let Some(RunError { kind: RunErrorKind::Cancelled, message }) = finished.error {
            return Err(RunError { kind: RunErrorKind::Cancelled, message });
        }
        let text = |capture: &Option<Capture>| capture.as_ref().map(|it| it.text.trim().to_owned()).unwrap_or_default();
        let (stdout, stderr) = (text(&finished.ran.stdout), text(&finished.ran.stderr));
        // Some programs print their help on standard error, and some exit with a failure.
        let printed = if stdout.is_empty() { stderr } else { stdout };
        let begun = !matches!(finished.ran.exit, None | Some(Exit { code: Some(126 | 127), .. }));
        if !begun || finished.error.is_some() || printed.is_empty() {
            if depth > 0 {
                continue;
            }
            let how = match (&finished.error, finished.ran.exit) {
                (Some(error), _) => error.message.clone(),
                (None, Some(Exit { code: Some(127), .. })) => {
                    format!("the shell did not find `{program}`; install it, or correct `cli`")
                }
                (None, Some(exit)) if begun => format!("it printed nothing and {}", exit.sentence()),
                (None, Some(exit)) => format!("it {}", exit.sentence()),
                (None, None) => "it could not be started".to_owned(),
            };
            let message = format!("cannot read the help of `{program}` with `{asked}`: {how}");
            return Err(RunError { kind: RunErrorKind::Help, message });
        }
        // A program that prints the same for every subcommand has no separate help for them.
        if found.iter().any(|known| known.text == printed) {
            continue;
        }
        if depth < MAX_DEPTH {
            let mut names = subcommands(&printed);
            names.sort_by_key(|name| !words(name).iter().any(|word| wanted.contains(word)));
            open.extend(names.into_iter().map(|name| (format!("{command} {name}"), depth + 1)));
        }
        found.push(Help { command, text: printed });
    }
    Ok(found)
}

/// Returns the subcommands that a help text lists: the first words of the indented lines below a heading such as
/// `Commands:`.
fn subcommands(help: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut is_list = false;
    let mut indent = None;
    for line in help.lines() {
        if line.trim().is_empty() {
            continue;
        }
        let depth = line.len() - line.trim_start().len();
        if depth == 0 {
            let heading = line.trim().to_lowercase();
            is_list = heading
                .trim_end_matches(':')
                .split_whitespace()
                .any(|word| matches!(word, "commands" | "subcommands" | "command" | "subcommand"))
                && !heading.starts_with("usage");
            indent = None;
            continue;
        }
        // Lines that are indented deeper go on with a description.
        if !is_list || *indent.get_or_insert(depth) != depth {
            continue;
        }
        let name = line.split_whitespace().next().unwrap_or_default().trim_end_matches([',', ':']);
        let is_name = name.starts_with(|it: char| it.is_ascii_alphanumeric())
            && name.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.'));
        if is_name && name != "help" && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn words(text: &str) -> BTreeSet<String> {
    const EMPTY: [&str; 16] = [
        "and", "the", "for", "with", "from", "that", "this", "into", "all", "use", "using", "are", "not", "you", "its",
        "show",
    ];
    text.split(|it: char| !it.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| word.chars().count() > 2 && !EMPTY.contains(&word.as_str()))
        .map(|word| word.strip_suffix('s').filter(|stem| stem.len() > 2).map_or(word.clone(), str::to_owned))
        .collect()
}

/// Returns the parts of a program's help that share most words with the intent of a task, in the order in which they
/// were captured. The usage line always comes first.
pub(super) fn select(helps: &[Help], intent: &str) -> String {
    let Some(root) = helps.first() else { return String::new() };
    let wanted = words(intent);
    let usage = root
        .text
        .lines()
        .find(|line| line.to_lowercase().contains("usage"))
        .or_else(|| root.text.lines().find(|line| !line.trim().is_empty()))
        .unwrap_or_default();
    let usage: String = usage.trim().chars().take(400).collect();
    let mut left = MAX_CHARACTERS.saturating_sub(usage.chars().count() + 1);
    let mut ranked: Vec<(usize, &Help)> = helps.iter().enumerate().collect();
    let score = |help: &Help| {
        let name = words(help.command.strip_prefix(root.command.as_str()).unwrap_or_default());
        words(&help.text).intersection(&wanted).count() + 3 * name.intersection(&wanted).count()
    };
    ranked.sort_by_key(|(_, help)| std::cmp::Reverse(score(help)));
    let mut chosen: Vec<(usize, String)> = Vec::new();
    for (index, help) in ranked {
        let heading = format!("\n$ {} --help\n", help.command);
        let room = left.saturating_sub(heading.chars().count() + 1);
        let Some(text) = within(&help.text, room) else { continue };
        left -= heading.chars().count() + text.chars().count() + 1;
        chosen.push((index, format!("{heading}{text}\n")));
    }
    chosen.sort();
    let parts: String = chosen.into_iter().map(|(_, text)| text).collect();
    format!("{usage}\n{parts}")
}

/// Returns the lines of a text that fit into this many characters; `None` if too little would be left.
fn within(text: &str, room: usize) -> Option<String> {
    const MORE: &str = "[...]";
    if text.chars().count() <= room {
        return Some(text.to_owned());
    }
    let mut left = room.checked_sub(MORE.len())?;
    let mut kept = String::new();
    for line in text.lines() {
        let length = line.chars().count() + 1;
        if length > left {
            break;
        }
        left -= length;
        kept.push_str(line);
        kept.push('\n');
    }
    (kept.chars().count() >= MIN_CHARACTERS).then(|| kept + MORE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "A tool for notes.\n\nUsage: notes [OPTIONS] <COMMAND>\n\nCommands:\n  add     Add a note\n          to the \
                        store\n  list, ls    List notes\n  help    Print this message\n\nOptions:\n  -h, --help  Print help\n";

    fn help(command: &str, text: &str) -> Help {
        Help { command: command.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn subcommands_are_the_first_words_below_a_heading_of_commands() {
        assert_eq!(subcommands(ROOT), ["add", "list"]);
        let grouped = "usage: git <command> [<args>]\n\nManagement Commands:\n  remote:  Manage\n\nAvailable commands\n   \
                       push\n   pull-all  x\nFlags:\n   --all\n";
        assert_eq!(subcommands(grouped), ["remote", "push", "pull-all"]);
        assert_eq!(subcommands("no lists here\n  indented"), [""; 0]);
    }

    #[test]
    fn selection_keeps_everything_that_fits_in_order() {
        let selected = select(&[help("notes", ROOT), help("notes add", "Add a note"), help("notes list", "List")], "x");
        let root = selected.find("$ notes --help").unwrap();
        let add = selected.find("$ notes add --help\nAdd a note").unwrap();
        assert!(selected.starts_with("Usage: notes [OPTIONS] <COMMAND>\n") && root < add, "{selected}");
        assert!(selected.ends_with("$ notes list --help\nList\n"), "{selected}");
    }

    #[test]
    fn selection_prefers_parts_that_share_words_with_the_intent_and_stays_within_its_limit() {
        let long = |word: &str| format!("{word}\n").repeat(2_000 / (word.len() + 1));
        let root = format!("Usage: notes <COMMAND>\n{}", long("filler"));
        let helps = [
            help("notes", &root),
            help("notes alpha", &long("alpha")),
            help("notes export", &long("writes notes to files")),
        ];
        let selected = select(&helps, "Export my note to a file");
        assert!(selected.starts_with("Usage: notes <COMMAND>\n"), "{selected}");
        assert!(selected.contains("$ notes export --help\nwrites notes to files"), "{selected}");
        assert!(!selected.contains("alpha"), "{selected}");
        assert!(selected.chars().count() <= MAX_CHARACTERS, "{}", selected.chars().count());
        assert!(selected.contains("[...]"), "the last part is cut at a line: {selected}");
    }

    #[test]
    fn words_are_compared_without_case_plural_and_fillers() {
        let found = words("Show ALL the Notes, and list-files!");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["file", "list", "note"]);
    }
}
