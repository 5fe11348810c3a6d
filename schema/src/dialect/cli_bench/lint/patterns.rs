//! Patterns: they compile, and find what is meant.

use std::sync::OnceLock;

use regex::Regex;

use crate::{
    check::pattern::{EcmaPattern, PatternErrorKind},
    document::Style,
    problem::{Code, Edit, Fix, Problem, Severity},
    spot::Spot,
};

/// The patterns of `ran`, `not_ran` and `run_count`.
pub(super) fn lint(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    if let Some(pattern) = assertion.get("ran") {
        lint_pattern(&pattern, (Code::SuspiciousPattern, "every command matches: name the command"), problems);
    }
    if let Some(pattern) = assertion.get("not_ran") {
        let message = "every command matches, so that this fails as soon as the model runs anything";
        lint_pattern(&pattern, (Code::Contradiction, message), problems);
    }
    if let Some(pattern) = assertion.find(&["run_count", "pattern"]) {
        lint_pattern(&pattern, (Code::SuspiciousPattern, "every command is counted: name the command"), problems);
    }
}

/// Whether a pattern finds nothing but its own text: there is nothing to compile.
pub(super) fn is_literal(pattern: &str) -> bool {
    !pattern.contains(['\\', '^', '$', '.', '|', '?', '*', '+', '(', ')', '[', ']', '{', '}'])
}

fn lint_pattern(spot: &Spot<'_>, everything: (Code, &str), problems: &mut Vec<Problem>) {
    let Some(pattern) = spot.text() else { return };
    let (code, message) = everything;
    if is_literal(pattern) {
        if pattern.is_empty() {
            problems.push(spot.problem(code, message));
        }
        fixed_options(spot, pattern, problems);
        return;
    }
    match EcmaPattern::compile(pattern, false) {
        Err(error) if error.kind == PatternErrorKind::Invalid => {
            let message = format!("no regular expression, so that it is searched for as plain text: {}", error.message);
            // Whoever writes flags means a pattern, and the text itself is in no command.
            let flags = pattern.starts_with("(?");
            let severity = if flags { Severity::Warning } else { Severity::Information };
            let mut problem = spot.text_problem(Code::InvalidPattern, message).with_severity(severity);
            let bare = pattern.trim_start_matches("(?").trim_start_matches(['i', 'm', 's', '-']).strip_prefix(')');
            if let Some(bare) = bare.filter(|bare| flags && spot.is_own() && !bare.is_empty() && !bare.contains('\n')) {
                let edit = Edit::new(spot.node.own_range(), serde_json::Value::from(bare).to_string());
                problem = problem.with_fix(Fix::guess("Remove the flags", vec![edit]));
            } else if !flags && spot.is_own() && !pattern.contains('\n') {
                let escaped = serde_json::Value::from(escaped(pattern)).to_string();
                let edit = Edit::new(spot.node.own_range(), escaped);
                problem = problem.with_fix(Fix::guess("Escape it, which means the same", vec![edit]));
            }
            problems.push(problem);
        }
        Err(error) => {
            let message = format!("cannot be searched for here, so that the claim stays unknown: {}", error.message);
            problems.push(spot.text_problem(Code::InvalidPattern, message).with_severity(Severity::Warning));
        }
        Ok(compiled) => {
            let finds = |text: &&str| compiled.find_iter(text).next().is_some();
            if compiled.matches_empty() && ["", "x", "a b"].iter().all(finds) {
                problems.push(spot.problem(code, message));
            }
            unescaped_dot(spot, pattern, problems);
            fixed_options(spot, pattern, problems);
        }
    }
}

/// A pattern that finds a text as it stands.
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

/// `config.json`, where `.` stands for any character.
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
    let message = format!("the `.` in `{name}` stands for any character: write `\\.`");
    let mut problem =
        Problem::new(Code::SuspiciousPattern, spot.at.clone(), range.clone(), message).with_severity(Severity::Hint);
    if spot.is_own() && range.len() == name.len() {
        let at = range.start + (dot.start() - whole.start());
        let sign = if spot.node.style() == Some(Style::DoubleQuoted) { "\\\\" } else { "\\" };
        problem = problem.with_fix(Fix::guess("Escape the `.`", vec![Edit::new(at..at, sign)]));
    }
    problems.push(problem);
}

/// `git commit -m`, which `git commit -a -m` does not match.
fn fixed_options(spot: &Spot<'_>, pattern: &str, problems: &mut Vec<Problem>) {
    static OPTION: OnceLock<Regex> = OnceLock::new();
    let option = OPTION
        .get_or_init(|| Regex::new(r"[A-Za-z0-9_](?<space> )-{1,2}[A-Za-z]").expect("the pattern is fixed and tested"));
    let Some(space) = option.captures(pattern).and_then(|found| found.name("space")) else { return };
    let message = "options in another order, or between others, are not found: write `.*` in place of the space";
    let word: String = pattern[space.start()..]
        .chars()
        .take_while(|letter| *letter == ' ' || *letter == '-' || letter.is_ascii_alphanumeric())
        .collect();
    let first: String = format!(" {}", word.split_whitespace().next().unwrap_or_default());
    let nth = pattern[..space.start()].matches(&first).count();
    let range = spot.part(&first, nth);
    let mut problem =
        Problem::new(Code::SuspiciousPattern, spot.at.clone(), range.clone(), message).with_severity(Severity::Hint);
    if spot.is_own() && range.len() == first.len() {
        let edit = Edit::new(range.start..range.start + 1, ".*");
        problem = problem.with_fix(Fix::guess("Write `.*` in place of the space", vec![edit]));
    }
    problems.push(problem);
}

/// The `redact_patterns` of a suite. There is no falling back: it would let through what should be masked.
pub(super) fn lint_redaction(spot: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(pattern) = spot.text() else { return };
    match EcmaPattern::compile(pattern, false) {
        Err(error) => {
            let message = format!("no regular expression, so that nothing is masked: {}", error.message);
            problems.push(spot.text_problem(Code::InvalidPattern, message));
        }
        Ok(compiled) if pattern.is_empty() || compiled.matches_empty() => {
            problems.push(spot.problem(Code::SuspiciousPattern, "matches the empty text, of which nothing is masked"));
        }
        Ok(_) => {}
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
