//! Patterns for the commands that the model ran.

use std::sync::OnceLock;

use serde::Deserialize;

use super::observed::{MASKED, brief, contains};
use crate::{
    check::{
        pattern::{EcmaPattern, PatternErrorKind},
        text::closest_line,
    },
    evidence::{CommandLog, Evidence, Ran},
    pattern::is_literal,
    verdict::Presence,
};

/// Maximum number of commands to list.
const MAX_LISTED: usize = 50;

const TOO_LONG: &str = "the pattern took too many steps";

/// A pattern: a regular expression, or plain text if it is not a valid one. Compiled on first use.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "String")]
pub(super) struct CommandPattern {
    source: String,
    engine: OnceLock<Engine>,
}

#[derive(Clone, Debug)]
enum Engine {
    Pattern(EcmaPattern),
    /// Plain text, or a regular expression without special characters.
    Text,
    /// A regular expression that speclens cannot search for.
    Unusable(String),
}

impl From<String> for CommandPattern {
    fn from(source: String) -> CommandPattern {
        CommandPattern { source, engine: OnceLock::new() }
    }
}

impl PartialEq for CommandPattern {
    fn eq(&self, other: &CommandPattern) -> bool {
        self.source == other.source
    }
}

impl CommandPattern {
    fn engine(&self) -> &Engine {
        self.engine.get_or_init(|| {
            if is_literal(&self.source) {
                return Engine::Text;
            }
            match EcmaPattern::compile(&self.source, false) {
                Ok(pattern) => Engine::Pattern(pattern),
                Err(error) if error.kind == PatternErrorKind::Invalid => Engine::Text,
                Err(error) => Engine::Unusable(error.message),
            }
        })
    }

    /// Returns the recorded commands to search, or the reason why the pattern cannot be judged.
    pub(super) fn log<'e>(&self, evidence: &'e Evidence) -> Result<&'e CommandLog, String> {
        match self.engine() {
            Engine::Unusable(reason) => Err(format!("unsupported regular expression: {reason}")),
            Engine::Pattern(_) | Engine::Text => {
                evidence.commands.as_ref().ok_or_else(|| "the commands were not recorded".to_owned())
            }
        }
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Returns whether a command matches.
    pub(super) fn matches(&self, command: &Ran) -> Presence {
        match self.engine() {
            Engine::Pattern(pattern) if !command.command.masked.is_empty() => masked(pattern, &command.command.text),
            Engine::Pattern(pattern) => search(pattern, &command.command.text),
            Engine::Text => contains(&command.command, &self.source),
            Engine::Unusable(_) => Presence::Unclear("unsupported regular expression"),
        }
    }

    /// Returns the note if no command matches: one that matches when case is ignored, or the most similar one.
    pub(super) fn nearest(&self, log: &CommandLog) -> Option<String> {
        let commands: Vec<String> =
            log.commands.iter().map(|command| brief(&command.command.text).replace('\n', " ")).collect();
        if let Ok(pattern) = EcmaPattern::compile(&self.source, true)
            && let Some(index) = log.commands.iter().position(|it| search(&pattern, &it.command.text) == Presence::Yes)
        {
            return Some(format!("command {} matches if case is ignored: `{}`", index + 1, commands[index]));
        }
        let close = closest_line(&commands.join("\n"), &skeleton(&self.source))?;
        Some(format!("command {} is the closest match: `{}`", close.number, close.text))
    }
}

fn search(pattern: &EcmaPattern, text: &str) -> Presence {
    match pattern.find_iter(text).next() {
        Some(Ok(_)) => Presence::Yes,
        Some(Err(_)) => Presence::Unclear(TOO_LONG),
        None => Presence::No,
    }
}

/// Returns whether a masked command matches whatever the asterisks stand for, as far as that can be tested.
fn masked(pattern: &EcmaPattern, command: &str) -> Presence {
    let tried = ["*", "a", "Z", "0", "-"].map(|sign| search(pattern, &command.replace('*', sign)));
    if tried.iter().all(|found| *found == Presence::Yes) {
        return Presence::Yes;
    }
    Presence::Unclear(MASKED)
}

/// Returns the literal characters of a pattern.
fn skeleton(pattern: &str) -> String {
    let mut letters = String::with_capacity(pattern.len());
    let mut signs = pattern.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => match signs.next() {
                Some(letter) if letter.is_ascii_alphanumeric() => letters.push(' '),
                Some(sign) => letters.push(sign),
                None => {}
            },
            '.' if signs.peek().is_some_and(|next| "*+?{".contains(*next)) => letters.push(' '),
            '^' | '$' | '|' | '?' | '*' | '+' | '(' | ')' | '[' | ']' | '{' | '}' => {}
            other => letters.push(other),
        }
    }
    letters.trim().to_owned()
}

/// Returns the commands, one per line.
pub(super) fn listing(log: &CommandLog) -> String {
    if log.commands.is_empty() {
        return "no command".to_owned();
    }
    let mut lines: Vec<String> =
        log.commands.iter().take(MAX_LISTED).map(|command| super::observed::shown(&command.command.text)).collect();
    if log.commands.len() > MAX_LISTED {
        lines.push(format!("and {} more", log.commands.len() - MAX_LISTED));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Capture;

    fn found(pattern: &str, command: &str, masked: bool) -> Presence {
        let mut command = Capture::whole(command);
        if masked {
            let stars = command.text.char_indices().filter(|(_, sign)| *sign == '*').map(|(at, _)| (at, at + 1));
            command.masked = stars.collect();
        }
        let command = Ran { command, ..Ran::default() };
        CommandPattern::from(pattern.to_owned()).matches(&command)
    }

    #[test]
    fn patterns_are_searched_anywhere_and_fall_back_to_text() {
        assert_eq!(found("git commit.*-m", "cd a && git commit -a -m x", false), Presence::Yes);
        assert_eq!(found("^git", "cd a && git commit", false), Presence::No);
        assert_eq!(found("Git", "git", false), Presence::No);
        assert_eq!(found("ls [a", "ls [a]", false), Presence::Yes);
        assert_eq!(found("ls [a", "ls a", false), Presence::No);
        assert_eq!(found("(?i:git)", "git", false), Presence::Unclear("unsupported regular expression"));
    }

    #[test]
    fn stars_may_stand_for_anything() {
        assert_eq!(found("login.*--token", "mycli login --token ********", true), Presence::Yes);
        assert_eq!(found("token .+", "mycli login --token ********", true), Presence::Yes);
        assert_eq!(found("token [a-z]+", "mycli login --token ********", true), Presence::Unclear(MASKED));
        assert_eq!(found("sk-[a-z]+", "mycli login --token ********", true), Presence::Unclear(MASKED));
        assert_eq!(found("rm -rf", "mycli login --token *", true), Presence::No);
        assert_eq!(found("abc", "mycli login --token ********", true), Presence::Unclear(MASKED));
    }

    #[test]
    fn a_pattern_without_signs() {
        assert_eq!(skeleton(r"git\s+commit.*-m\.txt$"), "git commit -m.txt");
    }
}
