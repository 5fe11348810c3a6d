//! Strings that are compared as they are, and look like regular expressions: `notContains: ["err.*"]`.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use crate::{
    document::Style,
    finding::{Finding, MessageParts, Report},
    problem::{Code, Severity},
    shape::{Shape, Word, keywords::Compared},
    template::trimmed_placeholders,
    walk::Value,
};

pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    const SPECIAL: [char; 9] = ['\\', '*', '+', '|', '^', '$', '[', '(', '/'];
    let Some(text) = value.text.filter(|text| text.contains(SPECIAL)) else { return };
    // A block of text is an excerpt.
    if matches!(value.node.style(), Some(Style::Literal | Style::Folded)) {
        return;
    }
    let Some(compared) = value.declared(Shape::compared) else { return };
    let forbids = value.declared(Shape::forbids);
    let found = match compared {
        Compared::Name if forbids.is_some() || value.declared(Shape::shares) == Some("tools") => of_name(text),
        Compared::Name if value.declared(Shape::word) == Some(Word::Refers("tools")) => of_name(text),
        Compared::Name => None,
        Compared::Text | Compared::Output if matches!(value.declared(Shape::word), Some(Word::File(_))) => None,
        Compared::Text | Compared::Output => of_text(text, forbids.is_some()),
    };
    let Some((at, severity)) = found else { return };
    let lint_node = value.lint_node();
    let part = text[at.clone()].to_owned();
    let is_as_written = lint_node.node.style() != Some(Style::DoubleQuoted) || !part.contains('\\');
    let range = match is_as_written {
        true => lint_node.part(&part, text[..at.start].matches(&part).count()),
        false => lint_node.range(),
    };
    let words = MessageParts::new(format!("`{part}` is compared as it is, not as part of a pattern"));
    // The key under which a pattern that must not match can be written instead.
    let words = match (compared, forbids.filter(|place| !place.is_empty())) {
        (Compared::Name, _) => words.help("write each name in full"),
        (_, Some(place)) => words.help(format!("write the text itself, or use {place}")),
        (_, None) => words.help("write the text itself"),
    };
    let finding = Finding::stated(Code::SuspiciousPattern, words, lint_node.at.clone(), range);
    report.push(finding.with_severity(severity).unless_wrong(lint_node.at));
}

/// Returns the first special character in a name.
fn of_name(text: &str) -> Option<(Range<usize>, Severity)> {
    let first = text.find(['*', '|', '^', '$', '\\', '(', '[', '+'])?;
    let at = if text[first..].starts_with('*') && text[..first].ends_with('.') { first - 1 } else { first };
    (trimmed_placeholders(text).is_empty()).then_some((at..first + 1, Severity::Warning))
}

/// Returns the part of a text that makes it look like a regular expression, and how certain that is.
fn of_text(text: &str, is_forbidden: bool) -> Option<(Range<usize>, Severity)> {
    static CERTAIN: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r#"(?x)
            (?: ^ | [^*.] ) (?<repeated> \. [*+] \?? )
            | (?: ^ | [^:\\] ) (?<class> \\ [dwsDWSbB] ) (?: $ | [^A-Za-z\\] )
            | (?<list> \[ \^? [^\[\]\s]* [A-Za-z0-9] - [A-Za-z0-9] [^\[\]]* \] (?: [+*] | \{ \d ) )
            | (?<group> \( \? (?: [:=!] | i\) | <[=!A-Za-z] ) )
            "#,
        )
    });
    static LIKELY: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?x)
            ^ (?<start> \^ ) [A-Za-z(\[\\] .
            | [A-Za-z)\]] (?<end> \$ ) $
            | ^ (?<words> \(? \w [\w-]* (?: \| \w [\w-]* )+ \)? ) $
            | ^ (?<phrases> \w [\w\ -]* (?: \| \w [\w\ -]* ){2,} ) $
            | \w (?<escaped> \\ [.()\[\]?+*|] ) [\w.]
            | ^ (?<slashes> / [^/]+ / [gim]{1,3} ) $
            ",
        )
    });
    let first = |pattern: &Regex| {
        let captures = pattern.captures(text)?;
        captures.iter().skip(1).flatten().map(|part| part.range()).next()
    };
    // In a path of Windows, `\` separates names.
    let is_path = text.as_bytes().windows(3).any(|it| it[0].is_ascii_alphabetic() && &it[1..] == b":\\");
    if is_path {
        return None;
    }
    let severity = if is_forbidden { Severity::Warning } else { Severity::Hint };
    match first(&CERTAIN) {
        // A pattern of file names, such as `.env.*`.
        Some(at) if &text[at.start..] == ".*" => Some((at, severity)),
        Some(at) => Some((at, Severity::Warning)),
        None => first(&LIKELY).map(|at| (at, severity)),
    }
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is fixed and tested")
}

#[cfg(test)]
mod tests {
    use super::{Severity, of_text};

    #[test]
    fn text_that_looks_like_a_pattern_is_found() {
        for (text, part) in [
            ("err.* in", ".*"),
            (r"v\d+.*", r"\d"),
            (r"\bsecret\b", r"\b"),
            (r"order \d", r"\d"),
            ("[0-9]+ files", "[0-9]+"),
            ("[^a-z]{3}", "[^a-z]{3"),
            ("(?i)error", "(?i)"),
            ("a.+b", ".+"),
        ] {
            let found = of_text(text, false).map(|(at, severity)| (&text[at], severity));
            assert_eq!(found, Some((part, Severity::Warning)), "{text}");
        }
        for (text, part) in [
            ("err.*", ".*"),
            (".env.*", ".*"),
            ("^error", "^"),
            ("done$", "$"),
            ("error|fatal", "error|fatal"),
            ("(error|fatal)", "(error|fatal)"),
            (r"report\.md", r"\."),
            ("/error/i", "/error/i"),
        ] {
            let found = of_text(text, true).map(|(at, severity)| (&text[at], severity));
            assert_eq!(found, Some((part, Severity::Warning)), "{text}");
            assert_eq!(of_text(text, false).map(|(_, severity)| severity), Some(Severity::Hint), "{text}");
        }
    }

    #[test]
    fn ordinary_text_is_not_a_pattern() {
        for text in [
            "*.txt", "*.*", "...", "a | b", "| a | b |", "cat x | sh", "curl x|sh now", r"C:\data\work", "costs 5$",
            "$HOME", "^C", "^1.2.3", "[a] b", "[x-y]", "f(x)", "a/b/c", "/usr/bin", "2 * 3 + 4", "**bold**", r"\n",
            "a+b", "C++", "what?", "list[0]", "foo()", "--a|--b", r"\section{x}", "+1 (555) 010", "- [ ] todo",
        ] {
            assert_eq!(of_text(text, true), None, "{text}");
        }
    }
}
