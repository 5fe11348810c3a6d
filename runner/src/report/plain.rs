//! Makes text from outside safe to print: names, paths, messages and output of programs keep no character that controls
//! a terminal.

use anstyle::{AnsiColor, Style};
use speclens_schema::check::text::uncolored;

pub(super) const GREEN: Style = AnsiColor::Green.on_default().bold();
pub(super) const RED: Style = AnsiColor::Red.on_default().bold();
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const CYAN: Style = AnsiColor::Cyan.on_default();
pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();

/// Replaces every control character except line ends, for text with several lines. Colors are removed.
pub fn block(text: &str) -> String {
    uncolored(text)
        .chars()
        .map(|it| match it {
            '\n' => '\n',
            '\t' => ' ',
            it if it.is_control() || is_deceptive(it) => char::REPLACEMENT_CHARACTER,
            it => it,
        })
        .collect()
}

pub fn line(text: &str) -> String {
    block(text).replace('\n', "⏎")
}

/// Returns the text so that no line of it is a command to the runner of a build server: `::error::x` of GitHub, and
/// `##[error]`, `##vso[…]` and `##teamcity[…]`.
pub fn without_commands(text: &str) -> String {
    let mut inert = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let begin = line.len() - line.trim_start().len();
        let (blanks, rest) = line.split_at(begin);
        inert.push_str(blanks);
        inert.push_str(if rest.starts_with("::") { "| " } else { "" });
        inert.push_str(rest);
    }
    for command in ["[", "vso[", "teamcity["] {
        inert = inert.replace(&format!("##{command}"), &format!("## {command}"));
    }
    inert
}

/// Returns whether a reader is deceived by a character: one that reorders the characters after it, starts a new line, or
/// cannot be seen, or one that XML does not allow.
fn is_deceptive(it: char) -> bool {
    matches!(
        it,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{061c}'
            | '\u{2028}' | '\u{2029}'
            | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
            | '\u{fffe}' | '\u{ffff}'
    )
}

#[cfg(test)]
mod tests {
    use super::{block, line, without_commands};

    #[test]
    fn characters_that_a_terminal_obeys_are_replaced() {
        assert_eq!(block("a\u{1b}[2Jb\tc\nd\u{9b}2J"), "a\u{fffd}[2Jb c\nd\u{fffd}2J");
        assert_eq!(block("\u{1b}[1;33mwarning\u{1b}[0m: \u{1b}[Kx"), "warning: x");
        assert_eq!(line("a\n  ✓ b \u{202e}c\r"), "a⏎  ✓ b \u{fffd}c\u{fffd}");
    }

    #[test]
    fn characters_that_nobody_sees_and_xml_does_not_allow_are_replaced() {
        assert_eq!(
            block("a\u{200b}b\u{feff}c\u{fffe}d\u{ffff}e\u{e0041}"),
            "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}"
        );
        assert_eq!(block("é 👩\u{200d}💻 ل\u{200c}ا"), "é 👩\u{200d}💻 ل\u{200c}ا");
    }

    #[test]
    fn no_line_is_a_command_of_a_build_server() {
        let text =
            "a ::b\n::stop-commands::x\n \t ::error::y\n\u{a0}::z\n##[add-mask]x ##vso[task]\n# [a]\n##teamcity[x]";
        let inert = "a ::b\n| ::stop-commands::x\n \t | ::error::y\n\u{a0}| ::z\n## [add-mask]x ## vso[task]\n# [a]\n## teamcity[x]";
        assert_eq!(without_commands(text), inert);
        assert_eq!(without_commands(inert), inert);
    }
}
