//! Backslashes in the paths of shell commands.

use crate::{
    finding::{MessageParts, Report},
    problem::{Code, Fix},
    shell::{Quotes, quotes_at},
    walk::Value,
};

pub(crate) fn check_paths(value: &Value<'_, '_>, report: &mut Report) {
    let Some(command) = value.text.filter(|text| text.contains('\\')) else { return };
    for word in command.split_whitespace().filter(|word| is_path_of_windows(word)) {
        let at = word.as_ptr().addr() - command.as_ptr().addr();
        if quotes_at(command, at) == Quotes::None {
            let path = word.replace('\\', "/");
            let lint_node = value.lint_node();
            let edits = lint_node.with_part(&lint_node.part(word, 0), word, &path);
            let words = MessageParts::new(format!("the shell removes the backslashes in `{word}`"));
            let words = words.remedy(format!("write `{path}`"), Fix::guess, edits);
            report.push(lint_node.part_problem(word, Code::ShellQuoting, words));
        }
    }
}

/// Whether a word can only be a path with backslashes: `scripts\agent.py`.
fn is_path_of_windows(word: &str) -> bool {
    let is_name = |step: &str| {
        let is_plain = step.chars().all(|letter| letter.is_alphanumeric() || "._-".contains(letter));
        is_plain && step.chars().count() > 1 && step.starts_with(char::is_alphanumeric)
    };
    let Some((before, last)) = word.rsplit_once('\\') else { return false };
    let ending = last.rsplit_once('.').map_or("", |(_, ending)| ending);
    let has_ending = ending.starts_with(char::is_alphabetic) && ending.chars().count() <= 5;
    is_name(last) && has_ending && before.split('\\').all(|step| matches!(step, "." | "..") || is_name(step))
}

#[cfg(test)]
mod tests {
    use super::is_path_of_windows;

    #[test]
    fn only_paths_have_backslashes_between_names() {
        for word in ["scripts\\agent.py", ".\\agent.py", "..\\a-b\\run_it.sh", "tools\\x86\\cli.exe"] {
            assert!(is_path_of_windows(word), "{word}");
        }
        for word in ["a\\nb.c", "foo\\.bar", "\\d+\\.txt", "it\\'s.txt", "one\\two", "\\server.txt", "a\\", "x.py"] {
            assert!(!is_path_of_windows(word), "{word}");
        }
    }
}
