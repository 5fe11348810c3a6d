//! Idioms of another regular-expression language, or of file names with wildcards, that only match their own letters.

use std::ops::Range;

use crate::{
    finding::{Finding, MessageParts, Report},
    pattern::{Compiled, Limit, Pattern},
    problem::{Code, Severity},
};

/// An idiom of another language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Idiom {
    /// An escaped letter without a meaning, such as `\A` or `\p{L}`.
    Letter(char),
    WordEdge,
    /// `[:alpha:]`, in brackets or alone.
    PosixClass {
        is_in_brackets: bool,
    },
    /// `[a-z&&[^b]]`.
    Intersection,
    /// `\(a\|b\)`.
    Alternatives,
    Quantifier,
    /// `\1` without a group.
    NoGroup,
    /// `%d+`.
    LuaClass,
    /// `%word%`.
    Like,
    /// `*.txt`.
    Glob,
}

pub(super) fn check(pattern: &Pattern<'_>, report: &mut Report) -> bool {
    let Pattern { lint_node, text, usage, compiled, searches, .. } = pattern;
    let is_ecmascript = match compiled {
        Compiled::Ecmascript(_) => true,
        Compiled::Python(_) => false,
        // Patterns without special characters may contain `%`.
        Compiled::Literal => true,
        Compiled::Broken(_) => return false,
    };
    // What masks is not limited to ECMAScript.
    let has_letters = is_ecmascript && usage.limit != Limit::Linear;
    let Some((idiom, at)) = Idiom::of(text, has_letters) else { return false };
    let may_be_meant = idiom == Idiom::WordEdge && !searches.ends_with("commands");
    let part = &text[at.clone()];
    let range = lint_node.part(part, text[..at.start].matches(part).count());
    let language = if is_ecmascript { "ECMAScript" } else { "Python" };
    let finding = Finding::stated(Code::SuspiciousPattern, idiom.words(part, language), lint_node.at.clone(), range);
    report.push(if may_be_meant { finding.with_severity(Severity::Hint) } else { finding });
    true
}

impl Idiom {
    /// Says what a part of a pattern means instead.
    fn words(self, part: &str, language: &str) -> MessageParts {
        match self {
            Idiom::Letter(letter) => {
                let words = MessageParts::new(format!("`\\{letter}` matches the letter `{letter}`"))
                    .note(format!("{language} patterns have no `{part}`"));
                words.help(match letter {
                    'A' => "write `^` for the start of the text".to_owned(),
                    'Z' | 'z' => "write `$` for the end of the text".to_owned(),
                    'h' => r"write `[ \t]` for a space or a tab".to_owned(),
                    'R' => r"write `\r?\n` for the end of a line".to_owned(),
                    'p' | 'P' => "list the characters in brackets, such as `[A-Za-z]`".to_owned(),
                    'x' => r"write two hexadecimal digits, such as `\x41`".to_owned(),
                    'u' => r"write four hexadecimal digits, such as `\u0041`".to_owned(),
                    'Q' | 'E' => r"remove it, and escape each special character with `\`".to_owned(),
                    'G' | 'K' | 'X' | 'N' | 'H' | 'V' | 'C' => "remove it".to_owned(),
                    'm' | 'M' | 'y' | 'Y' => r"write `\b` for the edge of a word".to_owned(),
                    other => format!("write `\\\\{other}` for a backslash before the letter"),
                })
            }
            Idiom::WordEdge => {
                MessageParts::new(r"`\<` matches the character `<`").help(r"write `\b` for the edge of a word")
            }
            Idiom::PosixClass { is_in_brackets } => {
                let name = part.trim_matches(['[', ']', ':']);
                let inverted = if name.starts_with('^') { "^" } else { "" };
                let meaning = posix_meaning(name).unwrap_or_default();
                MessageParts::new(format!("`{part}` matches one of its own letters"))
                    .note(format!("{language} patterns have no named classes"))
                    .help(match (is_in_brackets, inverted) {
                        (true, "") => format!("write `{meaning}` in the brackets"),
                        (true, _) => "list the other characters in the brackets".to_owned(),
                        (false, _) => format!("write `[{inverted}{meaning}]`"),
                    })
            }
            Idiom::Intersection => MessageParts::new("`&&` in brackets matches the character `&`")
                .help("list the characters that may match"),
            Idiom::Alternatives => MessageParts::new(format!("`{part}` matches parentheses and `|`"))
                .help(format!("write `{}` for alternatives", part.replace('\\', ""))),
            Idiom::Quantifier => MessageParts::new(format!("`{part}` matches braces"))
                .help(format!("write `{}` to repeat what is before it", part.replace('\\', ""))),
            Idiom::NoGroup => MessageParts::new(format!("`{part}` refers to a group, but the pattern has none"))
                .note("it matches a control character")
                .help("repeat what it must match"),
            Idiom::LuaClass => MessageParts::new(format!("`{}` matches `%` before a letter", &part[..2]))
                .help(format!("write `\\{}` for the class of characters", &part[1..])),
            Idiom::Like => MessageParts::new("`%` matches the character `%`")
                .note("the pattern is found anywhere in the text")
                .help("remove the `%` at both ends"),
            Idiom::Glob => MessageParts::new("`*` repeats the character before it")
                .note("the pattern is a regular expression without wildcards")
                .help(r"write `.*` for any text, or `\*` for the character itself"),
        }
    }

    /// Returns the first idiom, with its range in the pattern. With `has_letters`, escaped letters without a meaning
    /// match themselves.
    fn of(pattern: &str, has_letters: bool) -> Option<(Idiom, Range<usize>)> {
        if let Some(inner) = pattern.strip_prefix('%').and_then(|rest| rest.strip_suffix('%'))
            && inner.contains(|letter: char| letter.is_ascii_lowercase())
            && !inner.contains('%')
        {
            return Some((Idiom::Like, 0..pattern.len()));
        }
        let mut in_class = false;
        let mut at = 0;
        while let Some(letter) = pattern[at..].chars().next() {
            let rest = &pattern[at..];
            let found = match letter {
                '\\' => escaped(pattern, at, in_class, has_letters),
                '[' => posix_class(rest).map(|length| (Idiom::PosixClass { is_in_brackets: in_class }, length)),
                '&' if in_class && rest.starts_with("&&[") => Some((Idiom::Intersection, 3)),
                '%' if !in_class => lua_class(rest).map(|length| (Idiom::LuaClass, length)),
                '*' if !in_class => glob(pattern, at).map(|length| (Idiom::Glob, length)),
                _ => None,
            };
            if let Some((idiom, length)) = found {
                // What a wildcard repeats is before it.
                let start = if idiom == Idiom::Glob { at - 1 } else { at };
                return Some((idiom, start..at + length));
            }
            match letter {
                '[' => in_class = true,
                ']' => in_class = false,
                _ => {}
            }
            at += letter.len_utf8();
            if letter == '\\' {
                at += pattern[at..].chars().next().map_or(0, char::len_utf8);
            }
        }
        None
    }
}

fn escaped(pattern: &str, at: usize, in_class: bool, has_letters: bool) -> Option<(Idiom, usize)> {
    let rest = &pattern[at + 1..];
    let letter = rest.chars().next()?;
    let behind = &rest[letter.len_utf8()..];
    let is_hexadecimal =
        |count: usize| behind.len() >= count && behind.bytes().take(count).all(|digit| digit.is_ascii_hexdigit());
    match letter {
        'b' | 'B' | 'd' | 'D' | 'f' | 'n' | 'r' | 's' | 'S' | 't' | 'v' | 'w' | 'W' => None,
        'c' if behind.starts_with(|next: char| next.is_ascii_alphabetic()) => None,
        'k' if pattern.contains("(?<") => None,
        'x' if is_hexadecimal(2) => None,
        'u' if is_hexadecimal(4) => None,
        letter if letter.is_ascii_alphabetic() && has_letters => {
            let braces = behind.starts_with('{').then(|| behind.find('}')).flatten().map_or(0, |end| end + 1);
            let braces = if "pPxuNo".contains(letter) { braces } else { 0 };
            Some((Idiom::Letter(letter), 2 + braces))
        }
        '1'..='9' if !in_class && has_letters && !pattern.contains('(') => Some((Idiom::NoGroup, 2)),
        '<' if !in_class => word_edge(pattern, at).map(|length| (Idiom::WordEdge, length)),
        '(' if !in_class => alternatives(&pattern[at..]).map(|length| (Idiom::Alternatives, length)),
        '{' if !in_class => {
            let before = &pattern[..at];
            let repeats = before.ends_with(']') || ["\\d", "\\w", "\\s"].iter().any(|it| before.ends_with(it));
            let end = behind.find("\\}").filter(|end| *end > 0 && repeats)?;
            let is_count = behind[..end].chars().all(|letter| letter.is_ascii_digit() || letter == ',');
            is_count.then_some((Idiom::Quantifier, end + 4))
        }
        _ => None,
    }
}

fn word_edge(pattern: &str, at: usize) -> Option<usize> {
    let inner = &pattern[at + 2..];
    let word =
        inner.find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '-'))).unwrap_or(inner.len());
    if word == 0 {
        return None;
    }
    if inner[word..].starts_with("\\>") { Some(word + 4) } else { (at == 0).then_some(2) }
}

/// Returns the length of `\(a\|b\)` at the start of a text.
fn alternatives(rest: &str) -> Option<usize> {
    let end = rest.find("\\)")?;
    let words: Vec<&str> = rest[2..end].split("\\|").collect();
    let is_word = |word: &&str| !word.is_empty() && word.chars().all(|it| it.is_alphanumeric() || "_.-".contains(it));
    (words.len() > 1 && words.iter().all(is_word)).then_some(end + 2)
}

/// Returns the length of a class such as `[:alpha:]` at the start of a text.
fn posix_class(rest: &str) -> Option<usize> {
    let (name, _) = rest.strip_prefix("[:")?.split_once(":]")?;
    posix_meaning(name)?;
    Some(name.len() + 4)
}

/// Returns what to write in brackets for a class of POSIX.
fn posix_meaning(name: &str) -> Option<&'static str> {
    Some(match name.trim_start_matches('^') {
        "alpha" => "A-Za-z",
        "digit" => "0-9",
        "alnum" => "A-Za-z0-9",
        "upper" => "A-Z",
        "lower" => "a-z",
        "space" => r"\s",
        "blank" => r" \t",
        "punct" => r"!-/:-@\[-`{-~",
        "xdigit" => "0-9A-Fa-f",
        "word" => r"\w",
        "cntrl" => r"\x00-\x1f",
        "print" => " -~",
        "graph" => "!-~",
        _ => return None,
    })
}

/// Returns the length of a repeated class such as `%d+` at the start of a text.
fn lua_class(rest: &str) -> Option<usize> {
    let mut letters = rest.chars().skip(1);
    let is_class = letters.next().is_some_and(|letter| "adlpsuwxADLPSUWX".contains(letter));
    (is_class && letters.next().is_some_and(|next| "+*".contains(next))).then_some(3)
}

/// Returns the length of a wildcard at a position, with the file extension or the character after it.
fn glob(pattern: &str, at: usize) -> Option<usize> {
    let mut before = pattern[..at].chars().rev();
    let previous = before.next()?;
    let is_escaped = before.next() == Some('\\');
    let behind = &pattern[at + 1..];
    let ending = behind.strip_prefix('.').map_or(0, |rest| {
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let is_alone = rest[end..].chars().next().is_none_or(|next| !"*+?{(|[".contains(next));
        if is_alone && (1..=5).contains(&end) { end + 1 } else { 0 }
    });
    match previous {
        ' ' | '/' | '\'' | '"' | '=' if ending > 0 => Some(1 + ending),
        ' ' | '/' if !is_escaped && behind.starts_with([' ', '/']) => Some(1),
        letter if letter.is_ascii_alphanumeric() && !is_escaped && ending > 2 => Some(1 + ending),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Idiom;

    #[test]
    fn idiom_of_another_language_is_found_with_its_part() {
        for (pattern, part) in [
            (r"\Arm", r"\A"),
            (r"rm\Z", r"\Z"),
            (r"rm\h+-rf", r"\h"),
            (r"\p{Lu}x", r"\p{Lu}"),
            (r"[\p{L}]", r"\p{L}"),
            (r"\x{41}", r"\x{41}"),
            (r"\Qa.b\E", r"\Q"),
            (r"C:\apps", r"\a"),
            ("[[:alpha:]]+", "[:alpha:]"),
            ("[^[:space:]]", "[:space:]"),
            ("[:digit:]+", "[:digit:]"),
            ("[a-z&&[^b]]", "&&["),
            (r"\<rm\>", r"\<rm\>"),
            (r"\<rm", r"\<"),
            (r"git \(push\|pull\)", r"\(push\|pull\)"),
            (r"[0-9]\{3\}", r"\{3\}"),
            (r"rm \1", r"\1"),
            ("rm%s+-rf", "%s+"),
            ("%rm -rf%", "%rm -rf%"),
            ("ls *.txt", " *.txt"),
            ("src/*/main", "/*"),
            ("git * --force", " *"),
            ("report*.md", "t*.md"),
        ] {
            let found = Idiom::of(pattern, true).map(|(_, at)| &pattern[at]);
            assert_eq!(found, Some(part), "{pattern}");
        }
    }

    #[test]
    fn pattern_of_its_language_has_no_idiom() {
        for pattern in [
            r"\brm\b", r"\d{3}", r"\x41\u0041", r"\cA", r"(?<a>x)\k<a>", r"(a)\1", r"[\w.-]+", r"cat x \| grep y",
            r"\{1,3\}", r"sort \<in", "date +%d", "git log --format=%s", "%PATH%", ".*", r"rm +-rf", r"a *= *b",
            r"\.*", "[a-z]*.md", r"\d*.txt", "x.*.md", "/+", r"a\*b", "rm -rf *", r"\/\*.md", r"\(a\)", "[&]",
        ] {
            assert_eq!(Idiom::of(pattern, true), None, "{pattern}");
        }
    }
}
