//! Regular expressions that cannot be used as intended.

use crate::{
    check::pattern::refused_by_original,
    finding::{Finding, MessageParts, Report},
    format::Format,
    mask,
    pattern::{Compiled, Invalid, LetterCase, Limit, Pattern},
    problem::{Code, Fix, Severity},
};

/// Help for flags in a pattern.
const REMOVE_FLAGS: &str = "remove the flags";

pub(crate) fn check(pattern: &Pattern<'_>, format: &dyn Format, report: &mut Report) {
    let Pattern { lint_node, text, usage, compiled, .. } = pattern;
    let program = format.program();
    let Compiled::Broken(error) = compiled else {
        let words = match usage.limit {
            Limit::None => return,
            // An empty match is reported separately.
            Limit::Linear if compiled.matches_empty() => return,
            Limit::Linear => match mask::pattern(text) {
                Ok(_) => return,
                Err(error) => MessageParts::new(format!("this pattern cannot be used for masking: {}", error.reason))
                    .note("this pattern masks nothing")
                    .help(error.help),
            },
            Limit::NotNested(_) if !refused_by_original(text) => return,
            Limit::NotNested(note) => MessageParts::new(format!("{program} rejects patterns with nested quantifiers"))
                .note(note)
                .help("remove the inner or the outer quantifier"),
        };
        let severity = if usage.limit == Limit::Linear { Severity::Error } else { Severity::Warning };
        return report.push(lint_node.text_problem(Code::InvalidPattern, words).with_severity(severity));
    };
    let reason = &error.message;
    let rest = text.get(error.at..).unwrap_or_default();
    let invalid = MessageParts::new(format!("not a valid regular expression: {reason}"));
    let (severity, words) = match (usage.invalid, pattern.unsupported(error)) {
        (_, Some(note)) => {
            let words = MessageParts::new(format!("unsupported regular expression: {reason}")).note(note);
            (Severity::Warning, if begins_with_group_flags(rest) { words.help(REMOVE_FLAGS) } else { words })
        }
        (Invalid::PlainText, None) => {
            let words = invalid.note(format!("{program} falls back to a plain-text search"));
            let fix = instead_of(text).and_then(|(help, meant)| {
                Some(Fix::guess(help, lint_node.replaced(serde_json::Value::from(meant).to_string())?))
            });
            let severity = if has_flags(text) { Severity::Warning } else { Severity::Information };
            (severity, words.fix_with_help(fix))
        }
        (Invalid::Unusable(..), None) if usage.case == LetterCase::Ignored && rest.starts_with("(?i)") => {
            let words = MessageParts::new(
                "not a valid regular expression: ECMAScript does not support flags inside a pattern, such as `(?i)`",
            );
            (Severity::Error, words.note("the pattern ignores case anyway").help(REMOVE_FLAGS))
        }
        (Invalid::Unusable(severity, note), None) => {
            let special = rest.chars().next().filter(|letter| is_special(*letter));
            let special = special.filter(|letter| reason.contains(&format!("`{letter}`")));
            let help = special.map(|letter| format!("escape it, `\\{letter}`, if you mean the character itself"));
            let words = note.iter().fold(invalid, MessageParts::note);
            (severity, help.into_iter().fold(words, MessageParts::help))
        }
    };
    // As plain text, the whole pattern is searched for.
    let range = match usage.invalid {
        Invalid::PlainText => lint_node.text_range(),
        Invalid::Unusable(..) => pattern.place(error),
    };
    let finding = Finding::stated(Code::InvalidPattern, words, lint_node.at.clone(), range);
    report.push(finding.with_severity(severity));
}

/// Returns a pattern that matches a string literally.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if is_special(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

fn is_special(letter: char) -> bool {
    r"\^$.|?*+()[]{}".contains(letter)
}

/// Whether a pattern begins with a group that has flags: `(?i:a)`.
fn begins_with_group_flags(pattern: &str) -> bool {
    let flags = pattern.strip_prefix("(?").and_then(|rest| rest.split_once(':')).map(|(flags, _)| flags);
    flags.is_some_and(|flags| !flags.is_empty() && flags.chars().all(|letter| "ims-".contains(letter)))
}

/// Whether a pattern begins with flags: it is meant as a regular expression, and its text does not occur literally.
fn has_flags(pattern: &str) -> bool {
    pattern.starts_with("(?")
}

/// Returns the replacement of a pattern that is searched for as plain text: the help and the pattern.
fn instead_of(pattern: &str) -> Option<(String, String)> {
    if has_flags(pattern) {
        let bare = pattern.trim_start_matches("(?").trim_start_matches(['i', 'm', 's', '-']).strip_prefix(')')?;
        return (!bare.is_empty() && !bare.contains('\n')).then(|| (REMOVE_FLAGS.to_owned(), bare.to_owned()));
    }
    let escaped = escaped(pattern);
    (!pattern.contains('\n')).then(|| (format!("escape it, `{escaped}`"), escaped))
}

#[cfg(test)]
mod tests {
    use super::escaped;
    use crate::check::pattern::EcmaPattern;

    #[test]
    fn an_escaped_text_finds_itself() {
        for text in ["ls [a", "a(b", "x*+", "c:\\d", "{1", "$(x)"] {
            let pattern = EcmaPattern::compile(&escaped(text), false).unwrap();
            assert_eq!(pattern.find_iter(text).next().unwrap().unwrap().text, text);
        }
    }
}
