//! Regular expressions: they compile, KindLM takes them, and they match something.

use crate::{
    check::pattern::{EcmaPattern, PatternErrorKind, refused_by_original},
    problem::{Code, Problem, Severity},
    spot::Spot,
};

/// The patterns of `guardrails.pii`.
pub(super) fn lint(expect: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(pii) = expect.find(&["guardrails", "pii"]) else { return };
    let deny = pii.get("denyPatterns").map(|list| list.items()).unwrap_or_default();
    let custom = pii.get("customPatterns").map(|list| list.items()).unwrap_or_default();
    for pattern in deny.into_iter().chain(custom.iter().filter_map(|custom| custom.get("pattern"))) {
        lint_pattern(&pattern, problems);
    }
}

fn lint_pattern(spot: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(pattern) = spot.text() else { return };
    match EcmaPattern::compile(pattern, true) {
        Err(error) => {
            let range = match pattern.get(error.at..) {
                // Where the pattern was written as it reads, the place in it can be underlined.
                Some(rest) if !rest.is_empty() && spot.part(pattern, 0).len() == pattern.len() => {
                    let start = spot.part(pattern, 0).start + error.at;
                    start..start + rest.chars().next().map_or(1, char::len_utf8)
                }
                _ => spot.range(),
            };
            let problem = |message: String| Problem::new(Code::InvalidPattern, spot.at.clone(), range, message);
            problems.push(match error.kind {
                PatternErrorKind::Invalid | PatternErrorKind::TooNew
                    if pattern.get(error.at..).is_some_and(|rest| rest.starts_with("(?i)")) =>
                {
                    problem("`(?i)` is not valid in ECMAScript".to_owned())
                        .with_note("the pattern ignores case anyway")
                        .with_help("remove it")
                }
                PatternErrorKind::Invalid | PatternErrorKind::TooNew => {
                    problem(format!("not a valid regular expression: {}", error.message))
                }
                PatternErrorKind::Untranslatable => {
                    problem(format!("speclens cannot search for this: {}", error.message))
                        .with_severity(Severity::Warning)
                        .with_note("the result of the expectation is unknown")
                }
            });
        }
        Ok(_) if refused_by_original(pattern) => {
            let message = "KindLM rejects this pattern for its nested quantifiers";
            let problem = spot.text_problem(Code::InvalidPattern, message).with_severity(Severity::Warning);
            problems.push(problem.with_note("the expectation fails").with_help("use one quantifier only"));
        }
        Ok(compiled) if compiled.matches_empty() => {
            let problem = spot.problem(Code::SuspiciousPattern, "this pattern matches the empty string");
            problems.push(
                problem.with_note("KindLM finds it in every output, speclens only where it matches more than that"),
            );
        }
        Ok(_) => {}
    }
}

/// A pattern that KindLM ignores when it cannot use it.
pub(super) fn lint_name_pattern(spot: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(pattern) = spot.text() else { return };
    if let Err(error) = EcmaPattern::compile(pattern, false) {
        let message = format!("not a valid regular expression: {}", error.message);
        let problem = spot.text_problem(Code::InvalidPattern, message).with_severity(Severity::Warning);
        problems.push(problem.with_note("KindLM ignores the filter, so every span counts"));
    }
}
