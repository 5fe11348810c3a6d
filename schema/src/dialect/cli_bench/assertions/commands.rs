//! Patterns for the commands that the model ran.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize, Serializer};

use super::observed::brief;
use crate::{
    check::{
        pattern::{EcmaPattern, PatternErrorKind},
        text::closest_line,
    },
    evidence::Ran,
    pattern::is_literal,
    seen::{Found, Seen, Why},
    text::Text,
};

/// Maximum number of commands to list.
const MAX_LISTED: usize = 50;

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

impl Serialize for CommandPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.source)
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
                Err(error) => Engine::Unusable(format!("unsupported regular expression: {}", error.message)),
            }
        })
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Returns whether a command matches, whatever is masked in it.
    pub(super) fn matches(&self, command: &Ran) -> Seen<Found<()>> {
        self.search(&Text::of(&command.command))
    }

    fn search(&self, text: &Text<'_>) -> Seen<Found<()>> {
        match self.engine() {
            Engine::Pattern(pattern) => {
                let found = text.matches(pattern, 1).search(|found| found.first().map(|_| ()))?;
                Ok(found)
            }
            Engine::Text => Ok(text.contains(&self.source)?.map(|_| ())),
            Engine::Unusable(reason) => Err(Why::unknown(reason.as_str())),
        }
    }

    /// Returns whether a command matches when it is written with one blank between its words, and without continued
    /// lines.
    pub(super) fn matches_with_single_blanks(&self, command: &Ran) -> bool {
        let text = command.command.hidden_text();
        let joined = text.replace("\\\n", " ");
        let lines = joined.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        let single = lines.collect::<Vec<_>>().join("\n");
        *single != *text && self.search(&Text::whole(&single)).is_ok_and(|found| found.is_yes())
    }

    /// Returns the note if no command matches: one that matches when case is ignored, or the most similar one.
    pub(super) fn nearest(&self, ran: &[Ran]) -> Option<String> {
        let commands: Vec<String> = ran.iter().map(|command| brief(&command.command.text).replace('\n', " ")).collect();
        if let Ok(pattern) = EcmaPattern::compile(&self.source, true)
            && let Some(index) =
                ran.iter().position(|it| pattern.find_iter(&it.command.text).next().is_some_and(|it| it.is_ok()))
        {
            return Some(format!("command {} matches if case is ignored: `{}`", index + 1, commands[index]));
        }
        let close = closest_line(&commands.join("\n"), &skeleton(&self.source))?;
        Some(format!("command {} is the closest match: `{}`", close.number, close.text))
    }
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
pub(super) fn listing(ran: &[Ran]) -> String {
    if ran.is_empty() {
        return "no command".to_owned();
    }
    let mut lines: Vec<String> =
        ran.iter().take(MAX_LISTED).map(|command| super::observed::shown(&command.command.text)).collect();
    if ran.len() > MAX_LISTED {
        lines.push(format!("and {} more", ran.len() - MAX_LISTED));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Capture;

    fn found(pattern: &str, command: &str, masked: bool) -> Option<bool> {
        let mut command = Capture::whole(command);
        if masked {
            let stars = command.text.char_indices().filter(|(_, sign)| *sign == '*').map(|(at, _)| (at, at + 1));
            command.masked = stars.collect();
        }
        let command = Ran { command, ..Ran::default() };
        CommandPattern::from(pattern.to_owned()).matches(&command).ok().map(|found| found.is_yes())
    }

    #[test]
    fn patterns_are_searched_anywhere_and_fall_back_to_text() {
        assert_eq!(found("git commit.*-m", "cd a && git commit -a -m x", false), Some(true));
        assert_eq!(found("^git", "cd a && git commit", false), Some(false));
        assert_eq!(found("Git", "git", false), Some(false));
        assert_eq!(found("ls [a", "ls [a]", false), Some(true));
        assert_eq!(found("ls [a", "ls a", false), Some(false));
        assert_eq!(found("(?i:git)", "git", false), None);
    }

    #[test]
    fn masked_command_matches_only_if_any_secret_would() {
        assert_eq!(found("login.*--token", "mycli login --token ********", true), Some(true));
        assert_eq!(found("token .+", "mycli login --token ********", true), Some(true));
        for pattern in ["token [a-z]+", "sk-[a-z]+", "abc"] {
            assert_eq!(found(pattern, "mycli login --token ********", true), None, "{pattern}");
        }
        assert_eq!(found("rm-rf", "mycli login --token *", true), Some(false));
    }

    #[test]
    fn a_pattern_without_signs() {
        assert_eq!(skeleton(r"git\s+commit.*-m\.txt$"), "git commit -m.txt");
    }
}
