//! Every kind of problem that a golden file shows can be made less, more or nothing, by the settings and by a comment, and
//! nothing else changes by that.

use crate::golden;

use std::collections::BTreeSet;

use speclens_schema::{
    analysis::Analyzer,
    directive::allowances,
    document::Document,
    problem::{Code, Problem, Severity},
    settings::{Level, Settings},
};

use golden::Golden;

/// Returns what is wrong with a text instead of the golden one.
fn problems(golden: &Golden, text: &str, settings: &Settings) -> Vec<Problem> {
    let document = Document::read(text, golden.file.scalar_rules());
    Analyzer::new(golden.file).problems(&document, &golden.files, settings)
}

/// Returns what is compared: how many problems of how many kinds; the places move with the comment.
fn seen(problems: &[Problem]) -> Vec<(Code, Severity)> {
    let mut seen: Vec<_> = problems.iter().map(|problem| (problem.code, problem.severity)).collect();
    seen.sort();
    seen
}

#[test]
fn settings_decide_how_bad_each_kind_of_problem_is() {
    let levels = [
        (Level::Off, None),
        (Level::Hint, Some(Severity::Hint)),
        (Level::Information, Some(Severity::Information)),
        (Level::Warning, Some(Severity::Warning)),
        (Level::Error, Some(Severity::Error)),
    ];
    let mut tried = BTreeSet::new();
    for golden in Golden::all() {
        let plain = golden.problems(&golden.document());
        for code in plain.iter().map(|problem| problem.code).collect::<BTreeSet<_>>() {
            // Each level is tried where a kind of problem is met first, and elsewhere one of them in turn.
            let some = if tried.insert(code) {
                0..levels.len()
            } else {
                tried.len() % levels.len()..tried.len() % levels.len() + 1
            };
            for (level, severity) in levels[some].iter().copied() {
                let settings = Settings { severity: [(code.as_str().to_owned(), level)].into(), ..Settings::default() };
                let mut expected = plain.clone();
                if !code.is_always_an_error() {
                    expected.retain_mut(|problem| {
                        if problem.code == code {
                            problem.severity = severity.unwrap_or(problem.severity);
                        }
                        problem.code != code || severity.is_some()
                    });
                }
                let found = problems(&golden, &golden.text, &settings);
                assert_eq!(seen(&found), seen(&expected), "{}: {} is {level:?}", golden.path.display(), code.as_str());
            }
        }
    }
    let untried: Vec<_> = Code::ALL.iter().filter(|code| !tried.contains(code)).map(|code| code.as_str()).collect();
    assert_eq!(untried, ["encoding", "unreadable-file"], "found in bytes, not in a text");
}

#[test]
fn a_comment_silences_a_problem_of_the_file_and_no_other() {
    for golden in Golden::all() {
        let plain = golden.problems(&golden.document());
        for code in plain.iter().map(|problem| problem.code).collect::<BTreeSet<_>>() {
            let text = format!("# speclens: allow({})\n{}", code.as_str(), golden.text);
            let found = problems(&golden, &text, &Settings::default());
            let mut expected = seen(&plain);
            if code.is_always_an_error() {
                // That it cannot be allowed is said once.
                expected.push((Code::InvalidSetting, Severity::Warning));
                expected.sort();
            } else {
                expected.retain(|(other, _)| *other != code);
            }
            assert_eq!(seen(&found), expected, "{}: allow({})", golden.path.display(), code.as_str());
        }
    }
}

#[test]
fn a_comment_above_a_line_silences_that_line_alone() {
    let mut tried = 0;
    for golden in Golden::all() {
        let plain = golden.problems(&golden.document());
        // The head of the file speaks for all of it, and between the lines of a text there are no comments.
        let document = golden.document();
        let Some(root) = document.root() else { continue };
        let Some(first) = root.entries().next().map(|entry| entry.key).or_else(|| root.items().next()) else {
            continue;
        };
        let line_of = |at: usize| golden.text[..at].matches('\n').count();
        for problem in plain.iter().filter(|problem| !problem.code.is_always_an_error()) {
            let line = line_of(problem.range.start);
            if line <= line_of(first.range().start) {
                continue;
            }
            let start = golden.text[..problem.range.start].rfind('\n').map_or(0, |at| at + 1);
            let written = &golden.text[start..];
            let indent = &written[..written.len() - written.trim_start_matches(' ').len()];
            let mut text = golden.text.clone();
            text.insert_str(start, &format!("{indent}# speclens: allow({})\n", problem.code.as_str()));
            if allowances(&Document::read(&text, golden.file.scalar_rules())).len() == allowances(&document).len() {
                continue;
            }
            let found = problems(&golden, &text, &Settings::default());
            let mut expected = plain.clone();
            expected.retain(|other| other.code != problem.code || line_of(other.range.start) != line);
            assert_eq!(seen(&found), seen(&expected), "{}: line {line}, {problem:?}", golden.path.display());
            tried += 1;
        }
    }
    assert!(tried > 500, "only {tried} problems were tried");
}
