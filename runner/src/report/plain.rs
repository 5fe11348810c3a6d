//! Makes text from outside safe to print: names, paths, messages and output of programs keep no character that controls
//! a terminal.

/// Replaces every control character except line ends, for text with several lines.
pub fn block(text: &str) -> String {
    text.chars()
        .map(|it| match it {
            '\n' => '\n',
            '\t' => ' ',
            it if it.is_control() || turns_text(it) => char::REPLACEMENT_CHARACTER,
            it => it,
        })
        .collect()
}

/// Returns the text on one line, for names and paths within a line.
pub fn line(text: &str) -> String {
    block(text).replace('\n', "⏎")
}

/// Returns whether a terminal reorders the characters after this one, or starts a new line.
fn turns_text(it: char) -> bool {
    matches!(it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::{block, line};

    #[test]
    fn characters_that_a_terminal_obeys_are_replaced() {
        assert_eq!(block("a\u{1b}[31mb\tc\nd\u{9b}2J"), "a\u{fffd}[31mb c\nd\u{fffd}2J");
        assert_eq!(line("a\n  ✓ b \u{202e}c\r"), "a⏎  ✓ b \u{fffd}c\u{fffd}");
    }
}
