//! Assertions of a task of cli-bench that cannot hold together.

use std::collections::HashMap;

use crate::{
    check::{pattern::EcmaPattern, text::trim},
    dialect::cli_bench::asserted::Asserted,
    finding::{Report, Rule, Site, Words},
    pattern::{Pattern, is_literal},
    problem::Code,
    rules::suspicious_pattern::cli_bench::matches_everything,
    spot::Spot,
};

/// A list of thousands is compared with so many of them: each with each would never end.
const CLOSELY: usize = 256;

/// Two assertions that cannot both hold.
#[derive(Debug)]
enum Contradiction {
    /// Two exit codes.
    ExitCodes(f64, f64),
    /// Two whole outputs.
    Outputs,
    /// A whole output without a part that it must have.
    Part(String),
    /// Two counts of one pattern that leave no number.
    Counts { pattern: String, least: f64, most: f64 },
    /// A command that must and must not be run, and the forbidden pattern where it is another one.
    Commands { must: String, forbidden: Option<String> },
    /// A forbidden pattern that every command matches.
    Everything,
}

/// Looks at all assertions of a task.
pub(crate) fn check_assertions(asserted: &Asserted<'_>, report: &mut Report) {
    check_codes(asserted, report);
    let equals = asserted.texts("output_equals");
    if let Some((first, rest)) = equals.split_first() {
        for (_, spot) in rest.iter().filter(|(text, _)| trim(text) != trim(first.0)) {
            report.push(spot.finding(Contradiction::Outputs).with("the other string", &first.1));
        }
        for (text, spot) in asserted.texts("output_contains").iter().filter(|(text, _)| !first.0.contains(*text)) {
            report.push(spot.finding(Contradiction::Part((*text).to_owned())).with("the whole output", &first.1));
        }
    }
    check_commands(asserted, report);
    check_counts(asserted, report);
    asserted.items.iter().for_each(|item| check_assertion(item, report));
}

fn check_codes(asserted: &Asserted<'_>, report: &mut Report) {
    let code = |spot: &Spot<'_>| spot.number().or_else(|| spot.text()?.trim().parse().ok());
    let codes = asserted.all("exit_code").into_iter();
    let mut codes = codes.filter_map(|spot| Some((code(&spot)?, spot)));
    let Some((first, first_spot)) = codes.next() else { return };
    // What no process ends with is reported as such.
    let is_code = |code: f64| (0.0..=255.0).contains(&code);
    for (code, spot) in codes.filter(|(code, _)| *code != first && is_code(*code) && is_code(first)) {
        report.push(spot.finding(Contradiction::ExitCodes(first, code)).with("the other exit code", &first_spot));
    }
}

/// One assertion that contradicts itself.
fn check_assertion(item: &Spot<'_>, report: &mut Report) {
    if let Some(verify) = item.get("verify")
        && let (Some(whole), Some(part)) = (verify.get("output_equals"), verify.get("output_contains"))
        && let (Some(text), Some(wanted)) = (whole.text(), part.text())
        && !text.contains(wanted)
    {
        report.push(part.finding(Contradiction::Part(wanted.to_owned())).with("the whole output", &whole));
    }
}

/// Two counts of one pattern that leave no number.
fn check_counts<'d>(asserted: &Asserted<'d>, report: &mut Report) {
    let counts: Vec<_> = asserted.all("run_count").into_iter().filter(Spot::is_mapping).collect();
    let bound = |count: &Spot<'d>, name: &str| count.get(name).and_then(|spot| Some((spot.number()?, spot)));
    let mut before: HashMap<&str, Vec<&Spot<'d>>> = HashMap::new();
    for count in &counts {
        let Some(pattern) = count.get("pattern").and_then(|spot| spot.text()) else { continue };
        let same = before.entry(pattern).or_default();
        // One pair says what is wrong.
        let pairs = same.iter().flat_map(|other| [(count, *other), (*other, count)]);
        let contradiction = pairs.into_iter().find_map(|(low, high)| {
            let ((least, min), (most, max)) = (bound(low, "min")?, bound(high, "max")?);
            let (place, related) = if std::ptr::eq(low, count) { (min, max) } else { (max, min) };
            (least > most).then_some((least, most, place, related))
        });
        if let Some((least, most, place, related)) = contradiction {
            let rule = Contradiction::Counts { pattern: pattern.to_owned(), least, most };
            report.push(place.finding(rule).with("the other bound", &related));
        }
        if same.len() < CLOSELY {
            same.push(count);
        }
    }
}

/// Patterns that must and must not match. That one is what another one matches is looked for among the first only.
fn check_commands(asserted: &Asserted<'_>, report: &mut Report) {
    let mut wanted = asserted.texts("ran");
    let mut forbidden = asserted.texts("not_ran");
    for count in asserted.all("run_count") {
        let Some(pattern) = count.get("pattern") else { continue };
        let Some(text) = pattern.text() else { continue };
        let bound = |name: &str| count.get(name).and_then(|spot| spot.number());
        if bound("min").is_some_and(|min| min >= 1.0) {
            wanted.push((text, pattern.clone()));
        } else if bound("max") == Some(0.0) {
            forbidden.push((text, pattern));
        }
    }
    if wanted.is_empty() {
        return;
    }
    // The first of each text.
    let places: HashMap<&str, usize> =
        wanted.iter().enumerate().rev().map(|(place, (text, _))| (*text, place)).collect();
    for (text, spot) in &forbidden {
        let compiled = EcmaPattern::compile(text, false).ok();
        // A pattern that every command matches is reported already.
        if compiled.as_ref().is_some_and(EcmaPattern::matches_empty) {
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
        let forbidden = (must != text).then(|| (*text).to_owned());
        let rule = Contradiction::Commands { must: (*must).to_owned(), forbidden };
        report.push(spot.finding(rule).with("this must be run", first));
    }
}

/// Looks for a forbidden pattern that every command matches.
pub(crate) fn check_pattern(pattern: &Pattern<'_>, report: &mut Report) {
    if pattern.searches == "forbidden commands" && matches_everything(pattern) {
        report.push(pattern.spot.finding(Contradiction::Everything));
    }
}

impl Rule for Contradiction {
    const CODE: Code = Code::Contradiction;

    fn words(&self, _: &Site<'_>) -> Words {
        let keep = "keep one of the two";
        match self {
            Contradiction::ExitCodes(first, second) => {
                Words::new(format!("`exit_code` cannot be both {first} and {second}")).help(keep)
            }
            Contradiction::Outputs => Words::new("the output cannot be equal to two different strings").help(keep),
            Contradiction::Part(text) => Words::new(format!("`output_equals` does not contain `{text}`")),
            Contradiction::Counts { pattern, least, most } => {
                Words::new(format!("the minimum for `{pattern}` ({least}) is greater than the maximum ({most})")).help(keep)
            }
            Contradiction::Everything => {
                Words::new("this pattern matches every command").help("name the command that must not be run")
            }
            Contradiction::Commands { must, forbidden } => {
                let words = Words::new(format!("`{must}` both must and must not be run"));
                match forbidden {
                    Some(text) => words.note(format!("every command that matches `{must}` matches `{text}`")),
                    None => words,
                }
            }
        }
    }
}
