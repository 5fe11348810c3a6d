//! Assertions of a cli-bench task that contradict each other.

use std::collections::HashMap;

use crate::{
    check::{
        pattern::EcmaPattern,
        text::{trim, trim_end, trim_start},
    },
    dialect::cli_bench::asserted::Asserted,
    dialect::cli_bench::rules::suspicious_pattern::matches_everything,
    finding::{Finding, MessageParts, Report},
    lint_node::LintNode,
    pattern::{Pattern, is_literal},
    problem::Code,
};

/// Help for two assertions that exclude each other.
const ONE_OF_TWO: &str = "remove one of the two";

/// Maximum number of items to compare with each other in a long list.
const CLOSELY: usize = 256;

/// Checks all assertions of a task.
pub(crate) fn check_assertions(asserted: &Asserted<'_>, report: &mut Report) {
    check_codes(asserted, report);
    let equals = asserted.texts("output_equals");
    if let Some((first, rest)) = equals.split_first() {
        for (_, lint_node) in rest.iter().filter(|(text, _)| trim(text) != trim(first.0)) {
            let words = MessageParts::new("the output cannot be equal to two different strings").help(ONE_OF_TWO);
            report.push(lint_node.problem(Code::Contradiction, words).with("the other string", &first.1));
        }
        for (text, lint_node) in
            asserted.texts("output_contains").iter().filter(|(text, _)| !can_contain(first.0, text))
        {
            report.push(missing_part(text, lint_node, &first.1));
        }
    }
    check_commands(asserted, report);
    check_counts(asserted, report);
    asserted.items.iter().for_each(|item| check_assertion(item, report));
}

fn check_codes(asserted: &Asserted<'_>, report: &mut Report) {
    let code = |lint_node: &LintNode<'_>| lint_node.number().or_else(|| lint_node.text()?.trim().parse().ok());
    let codes = asserted.all("exit_code").into_iter();
    let mut codes = codes.filter_map(|lint_node| Some((code(&lint_node)?, lint_node)));
    let Some((first, first_spot)) = codes.next() else { return };
    // Impossible exit codes are reported separately.
    let is_code = |code: f64| (0.0..=255.0).contains(&code);
    for (code, lint_node) in codes.filter(|(code, _)| *code != first && is_code(*code) && is_code(first)) {
        let words = MessageParts::new(format!("`exit_code` cannot be both {first} and {code}")).help(ONE_OF_TWO);
        report.push(lint_node.problem(Code::Contradiction, words).with("the other exit code", &first_spot));
    }
}

/// Returns the finding about a string that an expected output does not contain.
fn missing_part(text: &str, part: &LintNode<'_>, whole: &LintNode<'_>) -> Finding {
    let words = MessageParts::new(format!(
        "the output must contain `{}`, but `output_equals` does not contain it",
        text.escape_debug()
    ));
    part.problem(Code::Contradiction, words.help(ONE_OF_TWO)).with("the whole output", whole)
}

/// Whether an output that is equal to one string can contain another one. `output_equals` ignores the blanks around the
/// output, which `output_contains` does not.
fn can_contain(equals: &str, part: &str) -> bool {
    let (whole, words) = (trim(equals), trim(part));
    words.is_empty()
        || words == whole
        || whole.contains(part)
        || whole.starts_with(trim_start(part))
        || whole.ends_with(trim_end(part))
}

/// Checks an assertion for contradictions in itself.
fn check_assertion(item: &LintNode<'_>, report: &mut Report) {
    if let Some(verify) = item.get("verify")
        && let (Some(whole), Some(part)) = (verify.get("output_equals"), verify.get("output_contains"))
        && let (Some(text), Some(wanted)) = (whole.text(), part.text())
        && !can_contain(text, wanted)
    {
        report.push(missing_part(wanted, &part, &whole));
    }
}

/// Two counts of one pattern that exclude each other.
fn check_counts<'d>(asserted: &Asserted<'d>, report: &mut Report) {
    let counts: Vec<_> = asserted.all("run_count").into_iter().filter(LintNode::is_mapping).collect();
    let bound =
        |count: &LintNode<'d>, name: &str| count.get(name).and_then(|lint_node| Some((lint_node.number()?, lint_node)));
    let mut before: HashMap<&str, Vec<&LintNode<'d>>> = HashMap::new();
    for count in &counts {
        let Some(pattern) = count.text_at("pattern") else { continue };
        let same = before.entry(pattern).or_default();
        // One pair is sufficient.
        let pairs = same.iter().flat_map(|other| [(count, *other), (*other, count)]);
        let contradiction = pairs.into_iter().find_map(|(low, high)| {
            let ((least, min), (most, max)) = (bound(low, "min")?, bound(high, "max")?);
            let (place, related) = if std::ptr::eq(low, count) { (min, max) } else { (max, min) };
            (least > most).then_some((least, most, place, related))
        });
        if let Some((least, most, place, related)) = contradiction {
            let words = MessageParts::new(format!(
                "the minimum for `{pattern}` ({least}) is greater than the maximum ({most})"
            ));
            let finding = place.problem(Code::Contradiction, words.help(ONE_OF_TWO));
            report.push(finding.with("the other bound", &related));
        }
        if same.len() < CLOSELY {
            same.push(count);
        }
    }
}

/// Reports patterns that must and must not match. Only the first patterns are compared by what they match.
fn check_commands(asserted: &Asserted<'_>, report: &mut Report) {
    let mut wanted = asserted.texts("ran");
    let mut forbidden = asserted.texts("not_ran");
    for count in asserted.all("run_count") {
        let Some(pattern) = count.get("pattern") else { continue };
        let Some(text) = pattern.text() else { continue };
        let bound = |name: &str| count.get(name).and_then(|lint_node| lint_node.number());
        if bound("min").is_some_and(|min| min >= 1.0) {
            wanted.push((text, pattern.clone()));
        } else if bound("max") == Some(0.0) {
            forbidden.push((text, pattern));
        }
    }
    if wanted.is_empty() {
        return;
    }
    // First occurrence of each string.
    let places: HashMap<&str, usize> =
        wanted.iter().enumerate().rev().map(|(place, (text, _))| (*text, place)).collect();
    for (text, lint_node) in &forbidden {
        let compiled = EcmaPattern::compile(text, false).ok();
        // A pattern that every command matches is reported already.
        if compiled.as_ref().is_some_and(EcmaPattern::can_match_empty) {
            continue;
        }
        let found = |wanted: &str| match &compiled {
            Some(pattern) => is_literal(wanted) && pattern.find_iter(wanted).next().is_some_and(|it| it.is_ok()),
            None => is_literal(wanted) && wanted.contains(text),
        };
        let same = places.get(text).copied();
        let before = &wanted[..same.unwrap_or(wanted.len()).min(CLOSELY)];
        let Some(place) = before.iter().position(|(wanted, _)| found(wanted)).or(same) else { continue };
        let (must, first) = &wanted[place];
        let words = MessageParts::new(format!("`{must}` both must and must not be run")).help(ONE_OF_TWO);
        let words = match must == text {
            true => words,
            false => words.note(format!("every command that matches `{must}` matches `{text}`")),
        };
        report.push(lint_node.problem(Code::Contradiction, words).with("this must be run", first));
    }
}

/// Reports a forbidden pattern that every command matches.
pub(crate) fn check_pattern(pattern: &Pattern<'_>, report: &mut Report) {
    if pattern.searches == "forbidden commands" && matches_everything(pattern) {
        let words =
            MessageParts::new("this pattern matches every command").help("name the command that must not be run");
        report.push(pattern.lint_node.problem(Code::Contradiction, words));
    }
}
