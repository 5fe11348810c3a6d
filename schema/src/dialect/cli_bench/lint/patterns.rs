//! Patterns: they compile, and match what is meant.

use std::sync::OnceLock;

use regex::Regex;

use crate::{
    check::pattern::{EcmaPattern, PatternErrorKind},
    document::Style,
    mask,
    problem::{Code, Fix, Problem, Severity},
    spot::Spot,
};

/// The patterns of `ran`, `not_ran` and `run_count`.
pub(super) fn lint(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    if let Some(pattern) = assertion.get("ran") {
        lint_pattern(&pattern, (Code::SuspiciousPattern, "name the command"), problems);
    }
    if let Some(pattern) = assertion.get("not_ran") {
        lint_pattern(&pattern, (Code::Contradiction, "name the command that must not be run"), problems);
    }
    if let Some(pattern) = assertion.find(&["run_count", "pattern"]) {
        lint_pattern(&pattern, (Code::SuspiciousPattern, "name the command to count"), problems);
    }
}

/// Whether a pattern finds nothing but its own text: there is nothing to compile.
pub(super) fn is_literal(pattern: &str) -> bool {
    !pattern.contains(['\\', '^', '$', '.', '|', '?', '*', '+', '(', ')', '[', ']', '{', '}'])
}

fn lint_pattern(spot: &Spot<'_>, everything: (Code, &str), problems: &mut Vec<Problem>) {
    let Some(pattern) = spot.text() else { return };
    let (code, help) = everything;
    let everything = || spot.problem(code, "this pattern matches every command").with_help(help);
    if is_literal(pattern) {
        if pattern.is_empty() {
            problems.push(everything());
        }
        fixed_options(spot, pattern, problems);
        return;
    }
    match EcmaPattern::compile(pattern, false) {
        Err(error) if error.kind == PatternErrorKind::Invalid => {
            let message = format!("not a valid regular expression: {}", error.message);
            // A text with flags is meant as a pattern, and the text itself is in no command.
            let flags = pattern.starts_with("(?");
            let severity = if flags { Severity::Warning } else { Severity::Information };
            let mut problem = spot.text_problem(Code::InvalidPattern, message).with_severity(severity);
            problem = problem.with_note("cli-bench falls back to a plain-text search");
            let bare = pattern.trim_start_matches("(?").trim_start_matches(['i', 'm', 's', '-']).strip_prefix(')');
            let quoted = |text: &str| serde_json::Value::from(text).to_string();
            let change = match bare.filter(|bare| flags && !bare.is_empty() && !bare.contains('\n')) {
                Some(bare) => Some(("remove the flags".to_owned(), quoted(bare))),
                None if flags || pattern.contains('\n') => None,
                None => Some((format!("escape it, `{}`", escaped(pattern)), quoted(&escaped(pattern)))),
            };
            if let Some((help, edits)) = change.and_then(|(help, words)| Some((help, spot.replaced(words)?))) {
                problem = problem.with_help(&help).with_fix(Fix::guess(help, edits));
            }
            problems.push(problem);
        }
        Err(error) => {
            let message = format!("speclens cannot search for this: {}", error.message);
            let problem = spot.text_problem(Code::InvalidPattern, message).with_severity(Severity::Warning);
            problems.push(problem.with_note("the result of the assertion is unknown"));
        }
        Ok(compiled) => {
            let finds = |text: &&str| compiled.find_iter(text).next().is_some();
            if compiled.matches_empty() && ["", "x", "a b"].iter().all(finds) {
                problems.push(everything());
            }
            unescaped_dot(spot, pattern, problems);
            fixed_options(spot, pattern, problems);
        }
    }
}

/// A pattern that matches a text literally.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if r"\^$.|?*+()[]{}".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// `config.json`, where `.` matches any character.
fn unescaped_dot(spot: &Spot<'_>, pattern: &str, problems: &mut Vec<Problem>) {
    static FILE: OnceLock<Regex> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        const ENDINGS: &str = "json|ya?ml|txt|md|py|jsx?|tsx?|mjs|sh|toml|csv|tsv|xml|html|css|rs|go|cpp|hpp|java|rb|php|lock|log|conf|cfg|ini|env|sql|tar|gz|tgz|zip|png|jpe?g|svg|pdf";
        Regex::new(&format!(r"[A-Za-z0-9_-]+(?<dot>\.)(?:{ENDINGS})(?:$|[^A-Za-z0-9_*+?{{.-])"))
            .expect("the pattern is fixed and tested")
    });
    let Some(found) = file.captures(pattern) else { return };
    let (Some(whole), Some(dot)) = (found.get(0), found.name("dot")) else { return };
    let ending = &pattern[dot.end()..];
    let ending: String = ending.chars().take_while(char::is_ascii_alphanumeric).collect();
    let name = &pattern[whole.start()..dot.end() + ending.len()];
    let nth = pattern[..whole.start()].matches(name).count();
    let range = spot.part(name, nth);
    let message = format!("the `.` in `{name}` matches any character");
    let mut problem =
        Problem::new(Code::SuspiciousPattern, spot.at.clone(), range.clone(), message).with_severity(Severity::Hint);
    problem = problem.with_help("escape it, `\\.`");
    let at = range.start + (dot.start() - whole.start());
    let sign = if spot.node.style() == Some(Style::DoubleQuoted) { "\\\\." } else { "\\." };
    let edits = spot.with_part(&(at..at + 1), ".", sign).filter(|_| range.len() == name.len());
    problem.fixes.extend(edits.map(|edits| Fix::guess("escape it, `\\.`", edits)));
    problems.push(problem);
}

/// `git commit -m`, which `git commit -a -m` does not match.
fn fixed_options(spot: &Spot<'_>, pattern: &str, problems: &mut Vec<Problem>) {
    static OPTION: OnceLock<Regex> = OnceLock::new();
    let option = OPTION
        .get_or_init(|| Regex::new(r"[A-Za-z0-9_](?<space> )-{1,2}[A-Za-z]").expect("the pattern is fixed and tested"));
    let Some(space) = option.captures(pattern).and_then(|found| found.name("space")) else { return };
    let message = "this pattern does not match options in another order";
    let help = "write `.*` instead of the space";
    let word: String = pattern[space.start()..]
        .chars()
        .take_while(|letter| *letter == ' ' || *letter == '-' || letter.is_ascii_alphanumeric())
        .collect();
    let first: String = format!(" {}", word.split_whitespace().next().unwrap_or_default());
    let nth = pattern[..space.start()].matches(&first).count();
    let range = spot.part(&first, nth);
    let mut problem =
        Problem::new(Code::SuspiciousPattern, spot.at.clone(), range.clone(), message).with_severity(Severity::Hint);
    problem = problem.with_help(help);
    let edits =
        spot.with_part(&(range.start..range.start + 1), &first[..1], ".*").filter(|_| range.len() == first.len());
    problem.fixes.extend(edits.map(|edits| Fix::guess(help, edits)));
    problems.push(problem);
}

/// The `redact_patterns` of a suite. There is no falling back: it would let through what should be masked.
pub(super) fn lint_redaction(spot: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(pattern) = spot.text() else { return };
    match EcmaPattern::compile(pattern, false) {
        Err(error) => {
            let message = format!("not a valid regular expression: {}", error.message);
            problems.push(spot.text_problem(Code::InvalidPattern, message).with_note("nothing is masked"));
        }
        Ok(compiled) if pattern.is_empty() || compiled.matches_empty() => {
            let problem = spot.problem(Code::SuspiciousPattern, "this pattern matches the empty string");
            problems.push(problem.with_note("an empty match masks nothing"));
        }
        Ok(_) => {
            // Masking takes linear time, so it knows less than assertions do.
            if let Err(reason) = mask::pattern(pattern) {
                let message = format!("this pattern cannot be used for masking: {reason}");
                let problem = spot.text_problem(Code::InvalidPattern, message).with_note("nothing is masked");
                problems.push(problem.with_help("write it without look-around and back-references"));
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
