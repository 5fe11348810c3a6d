use crate::{
    check::pattern::refused_by_original,
    dialect::Format,
    finding::{Finding, Location, MessageParts, Report, Rule},
    mask,
    pattern::{Compiled, Invalid, LetterCase, Limit, Pattern},
    problem::{Code, Fix, Severity},
};

/// Help for flags in a pattern.
const REMOVE_FLAGS: &str = "remove the flags";

/// A pattern that cannot be used as intended.
#[derive(Debug)]
enum InvalidPattern {
    /// The pattern cannot be used. The note describes the consequence.
    Unusable {
        reason: String,
        severity: Severity,
        note: Option<&'static str>,
        /// The character that the reason is about, if it has a special meaning.
        special: Option<char>,
    },
    /// The pattern is valid, but speclens does not support it.
    Unsupported { reason: String, note: &'static str, has_flags: bool },
    /// `(?i)` in a format whose patterns always ignore case.
    IgnoreCase,
    /// The pattern is searched for as plain text.
    PlainText { program: &'static str, pattern: String, reason: String },
    /// Matching takes more than linear time, so the pattern is not used for masking.
    NotLinear(mask::Unusable),
    /// The tool rejects the pattern, because it may take too long.
    Nested { program: &'static str, note: &'static str },
}

/// Checks a pattern.
pub(crate) fn check(pattern: &Pattern<'_>, format: &dyn Format, report: &mut Report) {
    let Pattern { lint_node, text, usage, compiled, .. } = pattern;
    let program = format.program();
    let Compiled::Broken(error) = compiled else {
        let beyond = match usage.limit {
            Limit::None => None,
            // An empty match is reported separately.
            Limit::Linear if compiled.matches_empty() => None,
            Limit::Linear => mask::pattern(text).err().map(InvalidPattern::NotLinear),
            Limit::NotNested(note) => refused_by_original(text).then_some(InvalidPattern::Nested { program, note }),
        };
        report.extend(beyond.map(|rule| lint_node.text_finding(rule)));
        return;
    };
    let reason = error.message.clone();
    let is_flag = || text.get(error.at..).is_some_and(|rest| rest.starts_with("(?i)"));
    let rule = match (usage.invalid, pattern.unsupported(error)) {
        (_, Some(note)) => {
            let has_flags = text.get(error.at..).is_some_and(begins_with_group_flags);
            InvalidPattern::Unsupported { reason, note, has_flags }
        }
        (Invalid::PlainText, None) => InvalidPattern::PlainText { program, pattern: (*text).to_owned(), reason },
        (Invalid::Unusable(..), None) if usage.case == LetterCase::Ignored && is_flag() => InvalidPattern::IgnoreCase,
        (Invalid::Unusable(severity, note), None) => {
            let letter = text.get(error.at..).and_then(|rest| rest.chars().next());
            let special = letter.filter(|letter| is_special(*letter) && reason.contains(&format!("`{letter}`")));
            InvalidPattern::Unusable { reason, severity, note, special }
        }
    };
    // As plain text, the whole pattern is searched for.
    let range = match usage.invalid {
        Invalid::PlainText => lint_node.text_range(),
        Invalid::Unusable(..) => pattern.place(error),
    };
    report.push(Finding::new(rule, lint_node.at.clone(), range));
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

/// Whether a character has a special meaning in patterns.
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

impl Rule for InvalidPattern {
    const CODE: Code = Code::InvalidPattern;

    fn severity(&self) -> Severity {
        match self {
            InvalidPattern::Unusable { severity, .. } => *severity,
            InvalidPattern::PlainText { pattern, .. } if !has_flags(pattern) => Severity::Information,
            InvalidPattern::PlainText { .. } | InvalidPattern::Unsupported { .. } | InvalidPattern::Nested { .. } => {
                Severity::Warning
            }
            InvalidPattern::IgnoreCase | InvalidPattern::NotLinear(_) => Severity::Error,
        }
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let invalid = |reason: &str| MessageParts::new(format!("not a valid regular expression: {reason}"));
        match self {
            InvalidPattern::Unusable { reason, note, special, .. } => {
                let help = special.map(|letter| format!("escape it, `\\{letter}`, if you mean the character itself"));
                help.into_iter().fold(note.iter().fold(invalid(reason), MessageParts::note), MessageParts::help)
            }
            InvalidPattern::Unsupported { reason, note, has_flags } => {
                let words = MessageParts::new(format!("unsupported regular expression: {reason}")).note(note);
                if *has_flags { words.help(REMOVE_FLAGS) } else { words }
            }
            InvalidPattern::IgnoreCase => MessageParts::new(
                "not a valid regular expression: ECMAScript does not support flags inside a pattern, such as `(?i)`",
            )
            .note("the pattern ignores case anyway")
            .help(REMOVE_FLAGS),
            InvalidPattern::PlainText { program, pattern, reason } => {
                let words = invalid(reason).note(format!("{program} falls back to a plain-text search"));
                let fix = instead_of(pattern).and_then(|(help, meant)| {
                    Some(Fix::guess(help, location.replaced(serde_json::Value::from(meant).to_string())?))
                });
                words.fix_with_help(fix)
            }
            InvalidPattern::NotLinear(error) => {
                MessageParts::new(format!("this pattern cannot be used for masking: {}", error.reason))
                    .note("this pattern masks nothing")
                    .help(error.help)
            }
            InvalidPattern::Nested { program, note } => {
                MessageParts::new(format!("{program} rejects patterns with nested quantifiers"))
                    .note(note)
                    .help("remove the inner or the outer quantifier")
            }
        }
    }
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
