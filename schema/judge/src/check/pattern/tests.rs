//! Matches of ECMAScript patterns, compared with those of ECMAScript engines.

use proptest::prelude::*;

mod python;

use super::{EcmaPattern, PatternErrorKind, StepLimit, refused_by_original};

#[track_caller]
fn check(pattern: &str, text: &str, expected: &[&str]) {
    let found = EcmaPattern::compile(pattern, false).unwrap();
    let found: Vec<String> = found.find_iter(text).map(|it| it.unwrap().text).collect();
    assert_eq!(found, expected, "/{pattern}/g on {text:?}");
}

#[track_caller]
fn check_ignoring_case(pattern: &str, text: &str, expected: &[&str]) {
    let found = EcmaPattern::compile(pattern, true).unwrap();
    let found: Vec<String> = found.find_iter(text).map(|it| it.unwrap().text).collect();
    assert_eq!(found, expected, "/{pattern}/gi on {text:?}");
}

#[track_caller]
fn check_refused(pattern: &str, kind: PatternErrorKind, at: usize, message: &str) {
    let error = EcmaPattern::compile(pattern, false).unwrap_err();
    assert_eq!((error.kind, error.at, error.message.as_str()), (kind, at, message), "/{pattern}/");
}

#[test]
fn classes_and_boundaries_are_those_of_ascii() {
    check(r"\d+", "12٣3", &["12", "3"]);
    check(r"\w+", "né_1", &["n", "_1"]);
    check(r"\b1", "é1 a1 1", &["1", "1"]);
    check(r"\B1", "é1 a1", &["1"]);
    check(r"\s", "a\u{a0}\u{feff}\u{85}b", &["\u{a0}", "\u{feff}"]);
    check(r"[\s\d]+", "x 1\u{2028}2y", &[" 1\u{2028}2"]);
    check(r"[^\W_]+", "a_b", &["a", "b"]);
}

#[test]
fn the_dot_stops_at_four_line_ends() {
    check("a.b", "a\nb a\rb a\u{2028}b a\u{85}b", &["a\u{85}b"]);
    check("a[^]b", "a\nb", &["a\nb"]);
    check("a[]b", "ab", &[]);
    check("^a$", "b\na\nb", &[]);
    check("^a$", "a\n", &[]);
}

#[test]
fn old_forms_are_accepted() {
    check("a{,2}", "aa a{,2}", &["a{,2}"]);
    check("x{", "x{", &["x{"]);
    check("}]", "}]", &["}]"]);
    check(r"\a\-\/", "a-/", &["a-/"]);
    check(r"\u{3}", "uuu", &["uuu"]);
    check(r"\x4", "x4", &["x4"]);
    check(r"\x41\u0042\0", "AB\0", &["AB\0"]);
    check(r"[\b]", "a\u{8}", &["\u{8}"]);
    check(r"[\w-z]+", "a-", &["a-"]);
    check(r"[a-]", "-", &["-"]);
}

#[test]
fn references_are_found() {
    check(r#"(?:(["'])\w\1,)+"#, r#""a",'b',"c',"#, &[r#""a",'b',"#]);
    check(r"(?<q>['x])b\k<q>", "'b' xbx 'bx", &["'b'", "xbx"]);
    check(r#"(["'])(?:(?!\1).)*\1"#, r#"'a"b'"#, &[r#"'a"b'"#]);
}

#[test]
fn rare_forms_are_not_supported() {
    for pattern in [
        r"\103", r"\cJ", r"\1a", r"\8", r"\k<a>", "(?=a)*b", "a{0}c", r"(a)?\1b", r"\1(a)", r"(a\1)b", r"(?!(a))b\1",
        r"(a)|\1b", r"(?<=(a)\1)b", r"(?:a*?|b)*c", r"(?:(a)|b)*\1", r"\k<n>(?<n>a)",
    ] {
        let error = EcmaPattern::compile(pattern, false).unwrap_err();
        assert_eq!(error.kind, PatternErrorKind::Untranslatable, "{pattern}");
        assert!(error.message.contains("not supported"), "{pattern}: {}", error.message);
    }
}

#[test]
fn look_around_works() {
    check(r"\d+(?= USD)", "5 USD 6 EUR", &["5"]);
    check(r"(?<!\d)\d{3}(?!\d)", "1234 567", &["567"]);
    check(r"(?<=a+)b", "aab b", &["b"]);
    check(r"(?<=\$)\b\d+", "$12 13", &["12"]);
}

#[test]
fn astral_characters_are_two_units() {
    check("^..$", "😀", &["😀"]);
    check("^.$", "😀", &[]);
    check("[^a]", "😀", &["\u{fffd}", "\u{fffd}"]);
    check(r"\ud83d\ude00", "a😀", &["😀"]);
    check("a😀", "a😀b", &["a😀"]);
}

#[test]
fn case_is_ignored_by_the_rules_of_ecmascript() {
    check_ignoring_case("[A-Z]+", "abK\u{212a}\u{17f}", &["abK"]);
    check_ignoring_case("é", "É", &["É"]);
    check_ignoring_case("σ", "ςΣσ", &["ς", "Σ", "σ"]);
    check_ignoring_case("ß", "ẞSS", &[]);
    check_ignoring_case("[^a]", "A", &[]);
    check_ignoring_case(r"(a)\1", "aA", &["aA"]);
    check_ignoring_case(
        r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Z|a-z]{2,}\b",
        "x a@b.co, b@c.de",
        &["a@b.co", "b@c.de"],
    );
}

#[test]
fn mistakes_are_placed() {
    use PatternErrorKind::{Invalid, TooNew};
    check_refused("a(b", Invalid, 1, "unclosed `(`");
    check_refused("ab)", Invalid, 2, "unopened `)`");
    check_refused("é[b", Invalid, 2, "unclosed `[`");
    check_refused("a**", Invalid, 2, "a repetition cannot be repeated: put it in `(?:…)`");
    check_refused("+a", Invalid, 0, "nothing to repeat");
    check_refused("{1}", Invalid, 0, "nothing to repeat");
    check_refused("^*", Invalid, 1, "nothing to repeat");
    check_refused("a{2,1}", Invalid, 1, "the numbers in the braces are out of order");
    check_refused("[z-a]", Invalid, 1, "the range is out of order");
    check_refused(r"a\", Invalid, 1, r"`\` at the end");
    check_refused(r"(?<a>b)\k<c>", Invalid, 7, "no group is named `c`");
    check_refused("(?a)", Invalid, 0, "unknown kind of group after `(?`");
    for (flags, kind) in [("(?i)foo", Invalid), ("(?i:a)", TooNew), ("(?-i:a)", TooNew), ("(?ms)a", Invalid)] {
        let message = match kind {
            TooNew => "only newer versions of ECMAScript support flags for a group, such as `(?i:a)`",
            _ => "ECMAScript does not support flags inside a pattern, such as `(?i)`",
        };
        check_refused(flags, kind, 0, message);
    }
    check_refused("(?<n>a)(?<n>b)", TooNew, 7, "duplicate group name `n`");
    check_refused("a(?<n", Invalid, 1, "missing `>` after the name of a group");
    check_refused("(?<n😀", Invalid, 0, "missing `>` after the name of a group");
    check_refused("(?<1>a)", Invalid, 0, "the name of a group must be letters, digits, `_` and `$`");
}

#[test]
fn a_search_has_an_end() {
    let pattern = EcmaPattern::compile(r"(x+x+)+\1y", false).unwrap();
    let text = "x".repeat(60);
    assert_eq!(pattern.find_iter(&text).next(), Some(Err(StepLimit)));
    let linear = EcmaPattern::compile("(x+x+)+y", false).unwrap();
    assert_eq!(linear.find_iter(&text).next(), None);
}

#[test]
fn matches_know_their_line() {
    let pattern = EcmaPattern::compile("x", false).unwrap();
    let lines: Vec<usize> = pattern.find_iter("x\n\nx x\nx").map(|it| it.unwrap().line).collect();
    assert_eq!(lines, [1, 3, 3, 4]);
}

#[test]
fn empty_matches_are_announced_and_move_on() {
    for (pattern, can_be, is_anywhere) in [
        ("x?", true, true),
        ("^(x|y*)", true, true),
        (r"\b", true, false),
        ("^(?!ok)", true, false),
        ("(?=b)", true, false),
        ("^$", true, false),
        ("x|y+", false, false),
    ] {
        let compiled = EcmaPattern::compile(pattern, false).unwrap();
        assert_eq!((compiled.can_match_empty(), compiled.matches_empty()), (can_be, is_anywhere), "{pattern}");
    }
    check("x?", "ax", &["", "x", ""]);
}

#[test]
fn the_original_refuses_what_looks_nested() {
    for pattern in ["(a+)+", "(b*)*", "[+*]", "a{2}{3}", "a{2}*"] {
        assert!(refused_by_original(pattern), "{pattern}");
    }
    for pattern in ["(a|a)*", "a+b+", r"\d{3}-\d{2}"] {
        assert!(!refused_by_original(pattern), "{pattern}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_compilation_panic(pattern in r"[ab()\[\]{}?*+|^$.\\dwbBku<>=!:,0-9é😀-]{0,24}", case: bool) {
        if let Ok(compiled) = EcmaPattern::compile(&pattern, case) {
            for found in compiled.find_iter("ab-AB 12 é😀\n(a)").take(50) {
                prop_assert!(found.is_ok() || found == Err(StepLimit));
            }
        }
    }

    #[test]
    fn a_literal_finds_itself(text in "[a-z0-9 éß😀]{1,12}") {
        let pattern = EcmaPattern::compile(&text, false).unwrap();
        let found = pattern.find_iter(&text).next().unwrap().unwrap();
        prop_assert_eq!(found.text, text);
    }

    #[test]
    fn simple_patterns_agree_with_the_linear_engine(pattern in r"([ab]|\(a\|b\)|\[ab\]|a\?|b\+|\.|c\{1,2\}){1,5}", text in "[abc]{0,12}") {
        let ours = EcmaPattern::compile(&pattern, false).unwrap();
        let ours: Vec<String> = ours.find_iter(&text).map(|it| it.unwrap().text).collect();
        let theirs = regex::Regex::new(&pattern).unwrap();
        // An empty match directly after another match is reported here, as ECMAScript does.
        let theirs: Vec<&str> = theirs.find_iter(&text).map(|it| it.as_str()).filter(|it| !it.is_empty()).collect();
        let ours: Vec<&str> = ours.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
        prop_assert_eq!(ours, theirs);
    }
}
