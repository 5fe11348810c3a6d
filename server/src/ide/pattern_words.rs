//! Explains a regular expression in words: its common parts, one per line.

use super::{
    markdown,
    tokens::parts::{TokenKind, of_pattern},
};

const MAX_PARTS: usize = 24;

struct Part {
    source: String,
    meaning: String,
    depth: usize,
}

/// Returns the parts of a pattern as a Markdown list; `None` for plain text.
pub(crate) fn words(source: &str) -> Option<String> {
    let found = of_pattern(source);
    if found.iter().all(|(_, kind)| *kind == TokenKind::Pattern) {
        return None;
    }
    let mut parts: Vec<Part> = Vec::new();
    let mut depth = 0_usize;
    // Literal characters, as written and as they match.
    let mut text = (String::new(), String::new());
    for (index, (range, kind)) in found.iter().enumerate() {
        let words = &source[range.clone()];
        let counted = found.get(index + 1).is_some_and(|(_, next)| *next == TokenKind::Quantifier);
        if *kind != TokenKind::Pattern || counted {
            flush(&mut text, depth, &mut parts);
        }
        let mut add = |meaning: String, depth| parts.push(Part { source: words.to_owned(), meaning, depth });
        match kind {
            TokenKind::Pattern => {
                text.0.push_str(words);
                text.1.push_str(meant(words));
                if counted {
                    flush(&mut text, depth, &mut parts);
                }
            }
            TokenKind::Class => add(class(words), depth),
            TokenKind::Anchor => add(anchor(words).to_owned(), depth),
            TokenKind::Quantifier => {
                if let Some(last) = parts.last_mut() {
                    last.source.push_str(words);
                    last.meaning.push_str(", ");
                    last.meaning.push_str(&quantity(words));
                }
            }
            TokenKind::Group => match words {
                ")" => {
                    depth = depth.saturating_sub(1);
                    add("end of the group".to_owned(), depth);
                }
                "|" => add("or".to_owned(), depth.saturating_sub(1)),
                _ => {
                    add(group(words), depth);
                    depth += usize::from(words.starts_with('(') && !words.ends_with(')'));
                }
            },
            TokenKind::Placeholder
            | TokenKind::Comment
            | TokenKind::String
            | TokenKind::Variable
            | TokenKind::Operator
            | TokenKind::Keyword
            | TokenKind::Command => {}
        }
    }
    flush(&mut text, depth, &mut parts);
    let lines = parts.iter().take(MAX_PARTS).map(|part| {
        let indent = "  ".repeat(part.depth.min(4));
        format!("{indent}- {} {}", markdown::inline(&part.source), part.meaning)
    });
    let mut lines: Vec<String> = lines.collect();
    if parts.len() > MAX_PARTS {
        lines.push("- …".to_owned());
    }
    Some(lines.join("\n"))
}

fn flush(text: &mut (String, String), depth: usize, parts: &mut Vec<Part>) {
    let (source, meant) = std::mem::take(text);
    if source.is_empty() {
        return;
    }
    let meaning =
        if source == meant { "this text".to_owned() } else { format!("the text {}", markdown::inline(&meant)) };
    parts.push(Part { source, meaning, depth });
}

fn meant(words: &str) -> &str {
    match words.strip_prefix('\\') {
        Some("n") => "\n",
        Some("t") => "\t",
        Some(letter) if letter.starts_with(|first: char| first.is_ascii_punctuation() || first == ' ') => letter,
        Some(_) | None => words,
    }
}

fn class(words: &str) -> String {
    let meaning = match words {
        "." => "any character except a line break",
        "\\d" => "a digit",
        "\\D" => "any character except a digit",
        "\\w" => "a letter, a digit or `_`",
        "\\W" => "any character except letters, digits and `_`",
        "\\s" => "white space",
        "\\S" => "any character except white space",
        "[\\s\\S]" | "[\\S\\s]" | "[^]" => "anything",
        _ => {
            return match words.strip_prefix("[^") {
                Some(rest) => format!("any character except {}", markdown::inline(rest.trim_end_matches(']'))),
                None if words.starts_with('[') => "one of these".to_owned(),
                None => "a character of this kind".to_owned(),
            };
        }
    };
    meaning.to_owned()
}

fn anchor(words: &str) -> &'static str {
    match words {
        "^" | "\\A" => "at the beginning",
        "$" | "\\Z" | "\\z" => "at the end",
        "\\b" => "at the edge of a word",
        _ => "not at the edge of a word",
    }
}

fn quantity(words: &str) -> String {
    let few = words.len() > 1 && words.ends_with('?');
    let bare = words.trim_end_matches(|letter| words.len() > 1 && matches!(letter, '?' | '+'));
    let bare = if bare.is_empty() { &words[..1] } else { bare };
    let times = match bare {
        "*" => "any number of times".to_owned(),
        "+" => "once or more".to_owned(),
        "?" => "or nothing".to_owned(),
        counted => {
            let inner = counted.trim_matches(['{', '}']);
            match inner.split_once(',') {
                None => format!("{inner} times"),
                Some((least, "")) => format!("{least} times or more"),
                Some(("", most)) => format!("at most {most} times"),
                Some((least, most)) => format!("{least} to {most} times"),
            }
        }
    };
    if few { format!("{times}, as few as possible") } else { times }
}

fn group(words: &str) -> String {
    let name = |rest: &str| rest.trim_end_matches('>').to_owned();
    match words {
        "(" | "(?:" | "(?>" => "a group".to_owned(),
        "(?=" => "followed by".to_owned(),
        "(?!" => "not followed by".to_owned(),
        "(?<=" => "preceded by".to_owned(),
        "(?<!" => "not preceded by".to_owned(),
        _ => {
            let named = words.strip_prefix("(?P<").or_else(|| words.strip_prefix("(?<"));
            let again = words.strip_prefix("\\k<");
            match (named, again, words.strip_prefix('\\')) {
                (Some(rest), _, _) => format!("a group named {}", markdown::inline(&name(rest))),
                (_, Some(rest), _) => format!("the text that the group {} matched", markdown::inline(&name(rest))),
                (_, _, Some(number)) => format!("the text that group {number} matched"),
                (None, None, None) if words.contains('i') => "from here on, ignoring case".to_owned(),
                (None, None, None) => "from here on, with other flags".to_owned(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::words;

    #[test]
    fn common_parts_are_explained() {
        let show = |pattern: &str| format!("{pattern}\n{}\n\n", words(pattern).unwrap_or_default());
        let patterns =
            [r"^git (push|pull)+\s*$", r"(?<n>a{2,3}?)\.[^x]\k<n>b?", r"(?i)a.*\d{3}", "plain text", "(", "a**"];
        expect![[r#"
            ^git (push|pull)+\s*$
            - `^` at the beginning
            - `git ` this text
            - `(` a group
              - `push` this text
            - `|` or
              - `pull` this text
            - `)+` end of the group, once or more
            - `\s*` white space, any number of times
            - `$` at the end

            (?<n>a{2,3}?)\.[^x]\k<n>b?
            - `(?<n>` a group named `n`
              - `a{2,3}?` this text, 2 to 3 times, as few as possible
            - `)` end of the group
            - `\.` the text `.`
            - `[^x]` any character except `x`
            - `\k<n>` the text that the group `n` matched
            - `b?` this text, or nothing

            (?i)a.*\d{3}
            - `(?i)` from here on, ignoring case
            - `a` this text
            - `.*` any character except a line break, any number of times
            - `\d{3}` a digit, 3 times

            plain text


            (
            - `(` a group

            a**
            - `a**` this text, any number of times, any number of times

        "#]]
        .assert_eq(&patterns.map(show).concat());
        assert!(words(&"a.".repeat(1000)).unwrap().lines().count() < 30);
    }
}
