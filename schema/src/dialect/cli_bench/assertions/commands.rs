//! The commands that the model ran: `ran`, `not_ran` and `run_count`.

use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::claim::{After, AssertionType, brief, shown};
use crate::{
    acceptable::{Amount, Limit},
    act::Act,
    check::{
        pattern::{EcmaPattern, PatternErrorKind},
        text::{Near, closest_line},
    },
    evidence,
    pattern::is_literal,
    seen::{Found, Seen, Why},
    text::Text,
    verdict::{At, Judged, Mismatch, Row},
    words::Pattern,
};

/// Regular expression that at least one command of the model must match.
///
/// ECMAScript syntax without flags, searched anywhere in each command of all turns. A command is the whole
/// text that the shell received in one call: `cd app && mycli init` is one command. An invalid regular expression is
/// searched for as plain text.
///
/// ```yaml
/// assert:
///   - ran: "docker build"
///   - ran: "git commit.*-m"
/// ```
///
/// Write `.*` where any options may appear: `npm install.*react`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("x-searches" = "commands", "x-seen" = "commands", "examples" = ["git commit.*-m"]))]
#[schemars(extend("x-other-names" = ["executed", "command_ran", "did_run"]))]
pub struct Ran(#[schemars(with = "Pattern")] CommandPattern);

impl AssertionType for Ran {
    const NAME: &'static str = "ran";

    fn label(&self) -> String {
        format!("ran `{}`", self.0.source())
    }

    fn judge(&self, act: Act<'_>, _: &After) -> Judged {
        let source = self.0.source();
        let commands = act.commands()?;
        let found = commands.any(|_, command| self.0.matches(command))?;
        Ok(Row::present("", found, || {
            Mismatch::new(
                match commands.so_far().len() {
                    0 => "the model ran no command".to_owned(),
                    1 => format!("the only command does not match `{source}`"),
                    count => format!("none of the {count} commands matches `{source}`"),
                },
                format!("a command that matches `{source}`"),
                listing(commands.so_far()),
            )
            .near(self.0.nearest(commands.so_far()))
        }))
    }
}

/// Regular expression that no command of the model may match.
///
/// Use it for dangerous or unwanted commands. The pattern is read like that of `ran`: ECMAScript syntax, searched
/// anywhere in each command, or plain text if it is not a valid regular expression. A model that runs nothing passes:
/// add an assertion that something happened.
///
/// ```yaml
/// assert:
///   - not_ran: "sudo"
///   - not_ran: "DROP TABLE"
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("x-searches" = "forbidden commands", "examples" = ["sudo"]))]
#[schemars(extend("x-other-names" = ["did_not_run", "never_ran", "not_run", "not_executed"]))]
pub struct NotRan(#[schemars(with = "Pattern")] CommandPattern);

impl AssertionType for NotRan {
    const NAME: &'static str = "not_ran";

    fn label(&self) -> String {
        format!("did not run `{}`", self.0.source())
    }

    fn judge(&self, act: Act<'_>, _: &After) -> Judged {
        let source = self.0.source();
        let commands = act.commands()?;
        let found = commands.any(|index, command| {
            let found = self.0.matches(command)?;
            if !found.is_yes() && self.0.matches_with_single_blanks(command) {
                let reason = format!("command {} matches `{source}` if its blanks are not counted", index + 1);
                return Err(Why::unknown(reason));
            }
            Ok(found.map(|_| (index, command)))
        })?;
        Ok(Row::absent("", found, |(index, command)| {
            Mismatch::new(
                format!("command {} matches `{source}`: `{}`", index + 1, brief(&command.command.text)),
                format!("no command that matches `{source}`"),
                listing(commands.so_far()),
            )
        }))
    }
}

/// Number of commands of the model that must match a pattern.
///
/// The assertion counts commands, not matches within a command. Set `min`, `max` or both; the bounds are inclusive.
/// Without a bound, the assertion cannot fail.
///
/// ```yaml
/// assert:
///   - run_count:
///       pattern: "curl"
///       min: 2
///       max: 5
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-other-names" = ["command_count"]))]
#[schemars(extend("x-problems" = [
    {
        "if": { "maxProperties": 1, "required": ["pattern"] }, "code": "vacuous-claim",
        "message": "`run_count` without `min` or `max` always passes", "help": "add `min` or `max`",
    },
    {
        "if": { "required": ["min"], "properties": { "min": { "const": 0 }, "max": false } },
        "at": "min", "code": "vacuous-claim", "help": "write at least 1, or add `max`",
        "message": "a count is never below 0, so this assertion always passes",
    },
]))]
pub struct RunCount {
    /// Regular expression of the commands to count, read like that of `ran`.
    #[schemars(with = "Pattern", extend("x-searches" = "counted commands", "x-seen" = "commands", "examples" = ["docker pull"]))]
    #[schemars(extend("x-other-names" = ["command", "cmd", "regex", "ran"]))]
    pattern: CommandPattern,
    /// Minimum number of commands that match.
    #[schemars(with = "Option<u32>", range(min = 0), extend("x-at-most" = "max", "examples" = [1]))]
    #[schemars(extend("x-other-names" = ["at_least", "minimum"]))]
    pub min: Option<f64>,
    /// Maximum number of commands that match. `0` has the same effect as `not_ran`.
    #[schemars(with = "Option<u32>", range(min = 0), extend("examples" = [3]))]
    #[schemars(extend("x-other-names" = ["at_most", "maximum"]))]
    pub max: Option<f64>,
}

impl RunCount {
    fn bounds(&self) -> String {
        match (self.min, self.max) {
            (Some(min), Some(max)) if min == max => min.to_string(),
            (Some(min), Some(max)) => format!("{min} to {max}"),
            (Some(min), None) => format!("at least {min}"),
            (None, Some(max)) => format!("at most {max}"),
            (None, None) => "any number of".to_owned(),
        }
    }

    fn sentence(&self) -> String {
        let source = self.pattern.source();
        match self.max.or(self.min) {
            Some(1.0) => format!("{} command matches `{source}`", self.bounds()),
            Some(_) | None => format!("{} commands match `{source}`", self.bounds()),
        }
    }
}

impl AssertionType for RunCount {
    const NAME: &'static str = "run_count";

    fn label(&self) -> String {
        self.sentence()
    }

    fn judge(&self, act: Act<'_>, _: &After) -> Judged {
        let source = self.pattern.source();
        let commands = act.commands().at("pattern")?;
        let count = commands.count(|command| self.pattern.matches(command));
        let mismatch = || {
            Mismatch::new(
                match count.least {
                    1 => format!("1 command matches `{source}`, expected {}", self.bounds()),
                    least => format!("{least} commands match `{source}`, expected {}", self.bounds()),
                },
                self.bounds(),
                format!("{}\n{}", count.least, listing(commands.so_far())),
            )
            .near(if count.least == 0 { self.pattern.nearest(commands.so_far()) } else { None })
        };
        let accepting = |side: Limit| mismatch().accepting_limit(side, count.least as f64, Amount::Counted);
        let max = self.max.map(|max| count.exceeds(max));
        if let Some(Ok(Found::Yes((), proof))) = max {
            return Ok(Row::fail("max", proof, accepting(Limit::Most)));
        }
        // Without a bound, the assertion cannot fail.
        let min = count.reaches(self.min.unwrap_or(0.0));
        if let Ok(Found::No(proof)) = min {
            return Ok(Row::fail("min", proof, accepting(Limit::Least)));
        }
        max.transpose().at("pattern")?;
        Ok(Row::pass("pattern", min.at("pattern")?.proof()))
    }
}

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

    pub(super) fn matches(&self, command: &evidence::Ran) -> Seen<Found<()>> {
        self.search(&Text::of(&command.command))
    }

    fn search(&self, text: &Text<'_>) -> Seen<Found<()>> {
        match self.engine() {
            Engine::Pattern(pattern) => {
                let found = text.matches(pattern, 1, |_| true).search(|found| found.first().map(|_| ()))?;
                Ok(found)
            }
            Engine::Text => Ok(text.contains(&self.source)?.map(|_| ())),
            Engine::Unusable(reason) => Err(Why::unknown(reason.as_str())),
        }
    }

    /// Returns whether a command matches when it is written with one blank between its words, and without continued
    /// lines.
    pub(super) fn matches_with_single_blanks(&self, command: &evidence::Ran) -> bool {
        let text = command.command.hidden_text();
        let joined = text.replace("\\\n", " ");
        let lines = joined.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        let single = lines.collect::<Vec<_>>().join("\n");
        *single != *text && self.search(&Text::whole(&single)).is_ok_and(|found| found.is_yes())
    }

    /// Returns a command that matches when case is ignored, or the most similar one.
    pub(super) fn nearest(&self, ran: &[evidence::Ran]) -> Option<Near> {
        let commands: Vec<String> = ran.iter().map(|command| brief(&command.command.text).replace('\n', " ")).collect();
        if let Ok(pattern) = EcmaPattern::compile(&self.source, true)
            && let Some(index) =
                ran.iter().position(|it| pattern.find_iter(&it.command.text).next().is_some_and(|it| it.is_ok()))
        {
            let note = format!("command {} matches if case is ignored: `{}`", index + 1, commands[index]);
            return Some(Near { text: commands[index].clone(), note });
        }
        let close = closest_line(&commands.join("\n"), &skeleton(&self.source))?;
        let note = format!("command {} is the closest match: `{}`", close.number, close.text);
        Some(Near { text: close.text, note })
    }
}

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
pub(super) fn listing(ran: &[evidence::Ran]) -> String {
    if ran.is_empty() {
        return "no command".to_owned();
    }
    let mut lines: Vec<String> = ran.iter().take(MAX_LISTED).map(|command| shown(&command.command.text)).collect();
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
        let command = evidence::Ran { command, ..evidence::Ran::default() };
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
