//! Results of Python's `re`, recorded by running it.

use crate::check::pattern::{PatternErrorKind, PythonPattern};

type Search = (&'static str, &'static str, Option<(usize, usize)>);

/// Pattern, text, and the span that `re.search(pattern, text)` returns, if any.
const SEARCHES: &[Search] = &[
    ("(?aa)a", "a", Some((0, 1))),
    (r"\B", "", None),
    (r"\B", "-", Some((0, 0))),
    (r"(?a)x|\B", "", None),
    (r"\Bb", "ab", Some((1, 2))),
    ("last line$", "first\nlast line\n", Some((6, 15))),
    ("first$", "first\nlast line\n", None),
    (r"last line\Z", "first\nlast line\n", None),
    (r"(?P<c>s)tep (?P=c)", "step s", Some((0, 6))),
    (r"^\w+ \d+", "step 12", Some((0, 7))),
    (r"^\w+ \d+", "x\nstep 12", None),
    (r"(?m)^\w+ \d+", "- \nstep 12", Some((3, 10))),
    ("s{,2}tep", "step", Some((0, 4))),
    ("[[:alpha:]]", "alpha", None),
    ("[[:alpha:]]", "a]", Some((0, 2))),
    ("a{,}b", "aab", Some((0, 3))),
    ("a{b", "a{b", Some((0, 3))),
    ("(?i)STRASSE", "strasse", Some((0, 7))),
    (r"\w", "\u{901}", None),
    (r"\d", "\u{0661}", Some((0, 2))),
    (r"(?a)\d", "\u{0661}", None),
    (r"\s", "\u{1c}", Some((0, 1))),
    ("(?<=ab)c", "abc", Some((2, 3))),
    (r"(.)\1", "xyy", Some((1, 3))),
    ("[]a]", "]", Some((0, 1))),
    ("[^]a]", "]b", Some((1, 2))),
    (r"[\w-]+", "a-b", Some((0, 3))),
    ("a.c", "a\nc", None),
    ("(?s)a.c", "a\nc", Some((0, 3))),
    (r"tool=\S+", "run tool=x.y z", Some((4, 12))),
    ("$5.00", "$5.00", None),
    ("(?i)i", "\u{130}", Some((0, 2))),
    ("(?i)[a-k]", "\u{131}\u{212a}", Some((0, 2))),
    ("(?ai)k", "\u{212a}", None),
    (r"(?i)\w", "\u{345}", None),
    (r"\bdone", "\u{2714}\u{fe0f}done", Some((6, 10))),
    (r"x\b", "x\u{b2}", None),
    (r"(?a)\Bx\b", "ax", Some((1, 2))),
];

/// Patterns that Python refuses, and a word of the reason that is given here.
const REFUSED: &[(&str, &str)] = &[
    ("^*", "repeat"),
    ("(?m)^*", "repeat"),
    ("a$+", "repeat"),
    ("$?", "repeat"),
    ("(?m)a$*", "repeat"),
    ("[a", "unclosed `[`"),
    ("step(", "unclosed `(`"),
    ("a)", "unopened `)`"),
    (r"\hstep", "escape"),
    ("*a", "repeat"),
    ("a**", "repeated"),
    ("a{2,1}", "order"),
    (r"(a)\2", "group 2"),
    (r"(a\1)", "not closed"),
    ("(?P<a>x)(?P<a>y)", "duplicate group"),
    ("(?P=b)", "named"),
    ("(?<=a+)b", "fixed"),
    ("[z-a]", "order"),
    (r"[\w-a]", "both ends"),
    (r"\x1", "hexadecimal"),
    ("a\\", "end"),
];

#[test]
fn patterns_find_what_python_finds() {
    for (pattern, text, expected) in SEARCHES {
        let compiled = PythonPattern::compile(pattern, false).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        assert_eq!(compiled.find(text), Ok(*expected), "{pattern} in {text:?}");
    }
}

#[test]
fn python_refuses_what_is_refused() {
    for (pattern, reason) in REFUSED {
        let error = PythonPattern::compile(pattern, false).unwrap_err();
        assert_eq!(error.kind, PatternErrorKind::Invalid, "{pattern}");
        assert!(error.message.contains(reason), "{pattern}: {}", error.message);
    }
}

#[test]
fn rare_forms_are_not_supported() {
    for pattern in [
        r"\377", "(?:^)*a", r"(?a)\w(?u:\w)", "(?x)a b", "(a)|b(?(1)c|d)", "(?i:A)b", "a++b", "(?>a+)b", "(?#note)a",
        r"\w(?!a)*", "a{0}b", "step(?i)", "(?au)x", r"\N{DIGIT ONE}",
    ] {
        let error = PythonPattern::compile(pattern, false).unwrap_err();
        assert_eq!(error.kind, PatternErrorKind::Untranslatable, "{pattern}");
        assert!(error.message.contains("not supported"), "{pattern}: {}", error.message);
    }
}

#[test]
fn by_lines_the_anchors_are_those_of_lines() {
    let pattern = PythonPattern::compile("^b$", true).unwrap();
    assert_eq!(pattern.find("a\nb\nc"), Ok(Some((2, 3))));
    assert!(PythonPattern::compile("x*", true).unwrap().matches_empty());
    assert!(!PythonPattern::compile("x+", true).unwrap().matches_empty());
    assert!(!PythonPattern::compile("(?=x)", true).unwrap().matches_empty());
}

#[test]
fn a_search_that_runs_wild_is_given_up() {
    let pattern = PythonPattern::compile(r"(x+x+)+\1y", true).unwrap();
    assert!(pattern.find(&"x".repeat(60)).is_err());
}

/// The table above agrees with Python, if Python is installed.
#[test]
fn the_table_is_pythons_own() {
    let program = "import re, sys, json
out = []
for pattern, text in json.load(sys.stdin):
    try:
        found = re.search(pattern, text)
    except (re.error, ValueError):
        out.append('refused')
        continue
    if found is None:
        out.append(None)
    else:
        out.append([len(text[:at].encode()) for at in found.span()])
json.dump(out, sys.stdout)";
    let version =
        std::process::Command::new("python3").args(["-c", "import sys; print(sys.version_info >= (3, 11))"]).output();
    if !version.is_ok_and(|answer| answer.stdout.starts_with(b"True")) {
        return;
    }
    let questions: Vec<(&str, &str)> = SEARCHES
        .iter()
        .map(|(pattern, text, _)| (*pattern, *text))
        .chain(REFUSED.iter().map(|(pattern, _)| (*pattern, "")))
        .collect();
    let mut python = std::process::Command::new("python3")
        .args(["-W", "ignore", "-c", program])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    serde_json::to_writer(python.stdin.take().unwrap(), &questions).unwrap();
    let answers: Vec<serde_json::Value> = serde_json::from_slice(&python.wait_with_output().unwrap().stdout).unwrap();
    for ((pattern, text, expected), answer) in SEARCHES.iter().zip(&answers) {
        assert_eq!(serde_json::json!(expected.map(|(start, end)| [start, end])), *answer, "{pattern} in {text:?}");
    }
    for ((pattern, _), answer) in REFUSED.iter().zip(&answers[SEARCHES.len()..]) {
        assert_eq!(answer, "refused", "{pattern}");
    }
}
