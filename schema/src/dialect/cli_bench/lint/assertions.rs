//! The assertions of a task: each can fail, all can hold together, none is there twice.

use std::collections::HashMap;

use crate::{
    check::{pattern::EcmaPattern, text::trim},
    document::{NodeRef, Shape},
    edit,
    problem::{Code, Fix, Problem, Severity},
    spot::Spot,
    validate::is_damaged,
};

use super::{super::assertions::Assertion, patterns::is_literal};

/// Everything about the list of one task.
pub(super) fn lint(list: &Spot<'_>, problems: &mut Vec<Problem>) {
    let items = list.items();
    let all = Assertions { items: &items };
    for item in &items {
        vacuous(item, problems);
        exit_code(item, problems);
    }
    all.contradictions(problems);
    all.repeated(list, problems);
    all.presence(list, problems);
}

/// An assertion that cannot fail.
fn vacuous(item: &Spot<'_>, problems: &mut Vec<Problem>) {
    let mut push = |spot: &Spot<'_>, message: &str, help: &str| {
        problems.push(spot.problem(Code::VacuousClaim, message).with_help(help));
    };
    let is_empty = |spot: &Spot<'_>| spot.text() == Some("");
    for name in ["output_contains", "error_contains"] {
        if let Some(spot) = item.get(name).filter(is_empty) {
            push(&spot, "every output contains the empty string", "write what the output must contain");
        }
    }
    if let Some(spot) = item.find(&["file_contains", "text"]).filter(is_empty) {
        push(&spot, "every file contains the empty string", "use `file_exists` to check only that there is a file");
    }
    if let Some(count) = item.get("run_count").filter(Spot::is_mapping) {
        let (min, max) = (count.get("min"), count.get("max"));
        // A bound under another name is reported there.
        let is_known = |(name, _): &(String, Spot<'_>)| ["pattern", "min", "max"].contains(&name.as_str());
        match (min, max) {
            (None, None) if !count.entries().iter().all(is_known) => {}
            (None, None) => push(&count, "`run_count` without `min` and `max` always passes", "add `min` or `max`"),
            (Some(min), None) if min.number() == Some(0.0) => {
                push(
                    &min,
                    "a count is never below 0, so this assertion always passes",
                    "write 1 or more, or add `max`",
                );
            }
            (Some(_), _) | (None, Some(_)) => {}
        }
    }
    let Some(verify) = item.get("verify") else { return };
    if let Some(spot) = verify.get("output_contains").filter(is_empty) {
        push(&spot, "every output contains the empty string", "remove it");
    }
    let Some(run) = verify.get("run") else { return };
    let command = run.text().unwrap_or_default().trim();
    if ["output_contains", "output_equals"].iter().any(|key| verify.get(key).is_some()) {
        return;
    }
    let ends = |end: &str| command.strip_suffix(end).is_some_and(|rest| rest.trim_end().ends_with("||"));
    if ["true", ":"].contains(&command) {
        push(&run, "this command always succeeds", "run a command that can fail");
    } else if ["true", ":", "exit 0"].iter().any(|end| ends(end)) {
        push(&run, "the command after `||` always succeeds", "remove the `||` and what follows");
    }
}

/// An exit code that a process can have, written as a number.
fn exit_code(item: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(spot) = item.get("exit_code") else { return };
    let number = match spot.text() {
        Some(text) => {
            let Ok(number) = text.trim().parse::<i64>() else { return };
            let title = format!("write `{number}`");
            let message = format!("expected an integer for `exit_code`, found the string `{text}`");
            let mut problem = spot.problem(Code::WrongType, message).with_severity(Severity::Warning);
            problem = problem.with_note(format!("it counts as {number}")).with_help(&title);
            let is_same = number.to_string() == text.trim();
            let fix = if is_same { Fix::safe } else { Fix::guess };
            problem.fixes.extend(spot.replaced(number.to_string()).map(|edits| fix(title, edits)));
            problems.push(problem);
            number as f64
        }
        None => match spot.number() {
            Some(number) => number,
            None => return,
        },
    };
    if !(0.0..=255.0).contains(&number) {
        let written = spot.node.text().unwrap_or_default();
        let message = format!("`exit_code` must be from 0 to 255, found `{written}`");
        problems.push(spot.problem(Code::OutOfRange, message).with_severity(Severity::Warning));
    }
}

/// A list of thousands is compared with so many of them: each with each would never end.
const CLOSELY: usize = 256;

/// The list of one task.
struct Assertions<'d, 'l> {
    items: &'l [Spot<'d>],
}

impl<'d> Assertions<'d, '_> {
    /// The values of all assertions of a kind.
    fn all(&self, name: &str) -> Vec<Spot<'d>> {
        self.items.iter().filter_map(|item| item.get(name)).collect()
    }

    fn texts(&self, name: &str) -> Vec<(&'d str, Spot<'d>)> {
        self.all(name).into_iter().filter_map(|spot| Some((spot.text()?, spot))).collect()
    }

    /// Assertions that cannot hold together.
    fn contradictions(&self, problems: &mut Vec<Problem>) {
        let clash = |spot: &Spot<'_>, other: &Spot<'_>, message: String, related: &str| {
            spot.problem(Code::Contradiction, message).with_related(related, other.at.clone(), other.range())
        };
        let code = |spot: &Spot<'_>| spot.number().or_else(|| spot.text()?.trim().parse().ok());
        let codes: Vec<(f64, Spot<'_>)> =
            self.all("exit_code").into_iter().filter_map(|spot| Some((code(&spot)?, spot))).collect();
        if let Some((first, rest)) = codes.split_first() {
            // What no process ends with is reported as such.
            let is_code = |code: f64| (0.0..=255.0).contains(&code);
            for (code, spot) in rest.iter().filter(|(code, _)| *code != first.0 && is_code(*code) && is_code(first.0)) {
                let message = format!("`exit_code` cannot be both {} and {code}", first.0);
                problems.push(clash(spot, &first.1, message, "the other exit code").with_help("keep one of the two"));
            }
        }
        let equals = self.texts("output_equals");
        if let Some((first, rest)) = equals.split_first() {
            for (_, spot) in rest.iter().filter(|(text, _)| trim(text) != trim(first.0)) {
                let message = "the output cannot be equal to two different strings".to_owned();
                problems.push(clash(spot, &first.1, message, "the other string").with_help("keep one of the two"));
            }
            for (text, spot) in self.texts("output_contains").iter().filter(|(text, _)| !first.0.contains(*text)) {
                let message = format!("`output_equals` does not contain `{text}`");
                problems.push(clash(spot, &first.1, message, "the whole output"));
            }
        }
        self.pattern_contradictions(problems);
        self.count_contradictions(problems);
        for item in self.items {
            if let Some(verify) = item.get("verify")
                && let (Some(whole), Some(part)) = (verify.get("output_equals"), verify.get("output_contains"))
                && let (Some(text), Some(wanted)) = (whole.text(), part.text())
                && !text.contains(wanted)
            {
                let message = format!("`output_equals` does not contain `{wanted}`");
                problems.push(clash(&part, &whole, message, "the whole output"));
            }
            let Some(count) = item.get("run_count") else { continue };
            if let (Some(min), Some(max)) = (count.get("min"), count.get("max"))
                && let (Some(least), Some(most)) = (min.number(), max.number())
                && least > most
            {
                let message = format!("`min` ({least}) is greater than `max` ({most})");
                let mut problem = clash(&min, &max, message, "the maximum").with_help("swap `min` and `max`");
                let edits = min.replaced(most.to_string()).zip(max.replaced(least.to_string()));
                let edits = edits.map(|(min, max)| [min, max].concat());
                problem.fixes.extend(edits.map(|edits| Fix::guess("swap `min` and `max`", edits)));
                problems.push(problem);
            }
        }
    }

    /// Two counts of one pattern that leave no number.
    fn count_contradictions(&self, problems: &mut Vec<Problem>) {
        let counts: Vec<_> = self.all("run_count").into_iter().filter(Spot::is_mapping).collect();
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
                let message = format!("`{pattern}` cannot be run at least {least} and at most {most} times");
                let problem = place.problem(Code::Contradiction, message).with_help("keep one of the two");
                problems.push(problem.with_related("the other bound", related.at.clone(), related.range()));
            }
            if same.len() < CLOSELY {
                same.push(count);
            }
        }
    }

    /// Patterns that must and must not match. That one is what another one matches is looked for among the first only.
    fn pattern_contradictions(&self, problems: &mut Vec<Problem>) {
        let mut wanted = self.texts("ran");
        let mut forbidden = self.texts("not_ran");
        for count in self.all("run_count") {
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
            let mut problem = spot.problem(Code::Contradiction, format!("`{must}` must be run, and must not be run"));
            if must != text {
                problem.note = Some(format!("every command that matches `{must}` matches `{text}`"));
            }
            problems.push(problem.with_related("this must be run", first.at.clone(), first.range()));
        }
    }

    /// Assertions that are there twice.
    fn repeated(&self, list: &Spot<'_>, problems: &mut Vec<Problem>) {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (index, item) in self.items.iter().enumerate() {
            // A command that is run again may find something else.
            if !item.is_mapping() || item.get("verify").is_some() || is_damaged(item.node) {
                continue;
            }
            let mut says = String::new();
            if as_written(item.node, &mut says).is_none() {
                continue;
            }
            let first = *seen.entry(says).or_insert(index);
            if first == index {
                continue;
            }
            let first = &self.items[first];
            // The mistake in a line may be what makes it different from the other.
            let is_sound = |item: &Spot<'_>| !problems.iter().any(|problem| problem.at.below(&item.at).is_some());
            let sound = is_sound(item) && is_sound(first);
            let problem = item.head_problem(Code::Collision, "duplicate assertion").with_help("remove it");
            let mut problem = problem.with_related("first here", first.at.clone(), first.head());
            problem.fixes.extend(remove_repetition(list.node, index, sound));
            problems.push(problem);
        }
    }

    /// What the list as a whole says, and does not say.
    fn presence(&self, list: &Spot<'_>, problems: &mut Vec<Problem>) {
        let names = |item: &Spot<'_>| -> Vec<String> { item.entries().into_iter().map(|(name, _)| name).collect() };
        let known: Vec<String> = self.items.iter().flat_map(names).collect();
        // What an assertion under a name that does not exist says is not known.
        if known.is_empty() || known.iter().any(|name| !Assertion::NAMES.contains(&name.as_str())) {
            return;
        }
        let count = |names: &[&str]| known.iter().filter(|name| names.contains(&name.as_str())).count();
        let idle = |item: &Spot<'_>| {
            item.get("not_ran").is_some()
                || item
                    .get("run_count")
                    .is_some_and(|count| count.get("min").is_none_or(|min| min.number().is_some_and(|min| min <= 0.0)))
        };
        if self.items.iter().all(idle) {
            let message = "a model that does nothing passes all these assertions";
            problems.push(list.head_problem(Code::VacuousClaim, message).with_help("add what must happen"));
        } else if count(&["exit_code", "verify"]) == 0 {
            let problem = list.head_problem(Code::NoExitCode, "no assertion checks whether the command succeeded");
            let mut problem = problem.with_help("add `exit_code: 0`");
            let edits = edit::item_at_front(list.node, "exit_code: 0");
            problem.fixes.extend(edits.map(|edits| Fix::guess("add `exit_code: 0`", edits)));
            problems.push(problem);
        }
        let ran = self.texts("ran");
        let different = ran.iter().skip(1).any(|(text, _)| *text != ran[0].0);
        let output = ["output_contains", "output_equals"].iter().find_map(|name| self.all(name).into_iter().next());
        if let Some(output) = output.filter(|_| different) {
            let problem = output.head_problem(Code::LastCommandOnly, "this checks the output of the last command only");
            let problem = problem.with_note("several commands are expected, and the model decides which one is last");
            problems.push(problem.with_related("another command", ran[1].1.at.clone(), ran[1].1.range()));
        }
    }
}

/// The fix that removes an item that repeats another one. Unless `is_sound`, or where a comment goes along, a person decides.
pub(super) fn remove_repetition(list: NodeRef<'_>, index: usize, is_sound: bool) -> Option<Fix> {
    let edits = edit::remove_item(list, index)?;
    let text = list.document().text();
    let has_comment = edits.iter().any(|edit| text.byte_slice(edit.range.clone()).chars().any(|letter| letter == '#'));
    let fix = if is_sound && !has_comment { Fix::safe } else { Fix::guess };
    Some(fix("remove it", edits))
}

/// Writes down what an assertion says, for comparison. `None` where a part of it says nothing: it is empty, or an alias.
fn as_written(node: NodeRef<'_>, says: &mut String) -> Option<()> {
    if node.alias().is_some() || node.resolved().is_through_alias() {
        return None;
    }
    match node.shape() {
        Shape::Scalar => {
            let text = match node.as_str() {
                Some(text) => format!("{text:?}"),
                // `1` and `1.0` may be meant as texts.
                None => String::from(node.document().text().get_byte_slice(node.own_range())?),
            };
            let is_something = !node.is_null() && node.text().is_some_and(|text| !text.trim().is_empty());
            is_something.then(|| says.push_str(&text))
        }
        Shape::Mapping => {
            let entries = node.entries().map(|entry| {
                let mut value = String::new();
                as_written(entry.value, &mut value)?;
                (!entry.is_merge()).then(|| (entry.key.key_text(), value))
            });
            let mut entries: Vec<(String, String)> = entries.collect::<Option<_>>()?;
            entries.sort();
            entries.iter().for_each(|(key, value)| says.push_str(&format!("{key:?}:{value},")));
            (!entries.is_empty()).then_some(())
        }
        Shape::Sequence | Shape::Dangling => None,
    }
}
