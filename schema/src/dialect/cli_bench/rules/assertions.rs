//! The assertions of a task, each alone and together: contradictions, duplicates, lists that check too little, and patterns
//! of commands.

use std::{borrow::Cow, sync::OnceLock};

use regex::Regex;
use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use crate::{
    check::{
        pattern::EcmaPattern,
        text::{trim, trim_end, trim_start},
    },
    dialect::cli_bench::assertions::Assertion,
    document::{NodeRef, Pointer},
    edit,
    finding::{Finding, MessageParts, Relation, Report, Scope},
    json_schema::SpecFile,
    lint_node::LintNode,
    pattern::{Compiled, Pattern, is_literal},
    problem::{Code, Fix, Severity},
    quoting::show,
    shape::Shape,
    words::{all_of, is_negative, nearest},
};

struct Asserted<'d> {
    list: LintNode<'d>,
    items: Vec<LintNode<'d>>,
    /// The type of each assertion. `None` if there are no assertions, or if one has an unknown type, so its meaning is
    /// unknown.
    types: Option<Vec<Cow<'d, str>>>,
}

impl<'d> Asserted<'d> {
    /// Returns the assertions of a task. `None` if they are not a list.
    fn of(task: &LintNode<'d>) -> Option<Asserted<'d>> {
        let list = task.get("assert").filter(LintNode::is_list)?;
        let names: Vec<Cow<'d, str>> =
            list.node.items().flat_map(NodeRef::entries).map(|entry| entry.key.key_name()).collect();
        let is_known = |name: &Cow<'_, str>| Assertion::NAMES.contains(&&**name);
        let types = (!names.is_empty() && names.iter().all(is_known)).then_some(names);
        Some(Asserted { items: list.items(), list, types })
    }

    /// Returns the values of all assertions of a type.
    fn all(&self, name: &str) -> Vec<LintNode<'d>> {
        self.items.iter().filter_map(|item| item.get(name)).collect()
    }

    fn texts(&self, name: &str) -> Vec<(&'d str, LintNode<'d>)> {
        self.all(name).into_iter().filter_map(|lint_node| Some((lint_node.text()?, lint_node))).collect()
    }
}

/// Help for two assertions that exclude each other.
const ONE_OF_TWO: &str = "remove one of the two";

/// Maximum number of items to compare with each other in a long list.
const CLOSELY: usize = 256;

pub(crate) fn check(task: &LintNode<'_>, report: &mut Report) {
    let Some(asserted) = &Asserted::of(task) else { return };
    for item in &asserted.items {
        check_indentation(item, report);
        check_tag(item, report);
        if let Some(verify) = item.get("verify")
            && let (Some(whole), Some(part)) = (verify.get("output_equals"), verify.get("output_contains"))
        {
            report.extend(missing_part(&whole, &part));
        }
    }
    check_codes(asserted, report);
    check_outputs(asserted, report);
    check_commands(asserted, report);
    check_counts(asserted, report);
    check_duplicates(asserted, report);
    check_coverage(task, asserted, report);
}

/// Reports `- file_contains:` with its fields next to it instead of below it.
fn check_indentation(item: &LintNode<'_>, report: &mut Report) {
    let entries = item.entries();
    // Keys above the name cannot belong to it.
    let Some((name, owner)) = entries.first().filter(|(_, value)| value.node.is_null()) else { return };
    let known = fields_of(name);
    let fields: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).filter(|key| key != name).collect();
    if !fields.is_empty() && fields.iter().all(|key| known.contains(key)) {
        let (verb, object) = if fields.len() == 1 { ("belongs", "it") } else { ("belong", "them") };
        let words = MessageParts::new(format!("{} {verb} to `{name}`", all_of(fields)));
        let help = format!("indent {object} more than `{name}`");
        let finding =
            owner.head_problem(Code::WrongType, words.remedy(help, Fix::safe, edit::indent_entries(item.node)));
        report.push(finding.instead_of(Scope::In(item.at.clone())));
    }
}

/// Reports `- type: output_contains` with its value under another key, as in other formats.
fn check_tag(item: &LintNode<'_>, report: &mut Report) {
    let mut entries = item.entries();
    // Usually there are no unknown keys.
    entries.retain(|(key, _)| !Assertion::NAMES.contains(&key.as_str()));
    let Some(shape) = (if entries.is_empty() { None } else { shape() }) else { return };
    let tag = entries.iter().find(|(key, _)| shape.tags().any(|tag| tag == key));
    let Some((key, tag, written)) = tag.and_then(|(key, value)| Some((key, value, value.text()?))) else { return };
    let names = || Assertion::NAMES.iter().copied();
    let name = names()
        .find(|name| *name == written)
        .or_else(|| shape.field_called(written, None).map(|(field, _)| field.name))
        .or_else(|| nearest(written, names()).filter(|_| !is_negative(written)));
    let Some(name) = name else { return };
    let value = value_beside(item, key, name);
    let shown = value.as_deref().filter(|value| value.len() < 60).unwrap_or("…");
    let edits = value.as_ref().and_then(|value| edit::replace_entries(item.node, &format!("{name}: {value}")));
    let words = MessageParts::new(format!("unknown key `{key}`")).note("the type of an assertion is its key").remedy(
        format!("write `{name}: {shown}`"),
        Fix::guess,
        edits,
    );
    let finding = tag.head_problem(Code::UnknownKey, words).with_severity(Severity::Error);
    report.push(finding.instead_of(Scope::In(item.at.clone())));
}

/// Returns the value of an assertion whose type is a value. `None` if it is unknown.
fn value_beside(item: &LintNode<'_>, tag: &str, name: &str) -> Option<String> {
    let rest: Vec<(String, LintNode<'_>)> = item.entries().into_iter().filter(|(key, _)| key != tag).collect();
    let source = |node: NodeRef<'_>| edit::words(node).filter(|_| node.scalar().is_some());
    let fields = fields_of(name);
    if fields.is_empty() {
        let [(_, only)] = rest.as_slice() else { return None };
        return source(only.node);
    }
    let members = rest.iter().map(|(key, value)| {
        let field = fields.iter().find(|field| *field == key)?;
        // In flow style, a plain scalar ends at a comma.
        let text = match (value.text(), source(value.node)?) {
            (Some(text), written) if written == text => show(&text.into()),
            (_, written) => written,
        };
        Some(format!("{field}: {text}"))
    });
    let members = members.collect::<Option<Vec<String>>>().filter(|members| !members.is_empty())?;
    Some(format!("{{ {} }}", members.join(", ")))
}

fn check_codes(asserted: &Asserted<'_>, report: &mut Report) {
    let code = |node: &LintNode<'_>| node.number().or_else(|| node.text()?.trim().parse().ok());
    let mut codes = asserted.all("exit_code").into_iter().filter_map(|node| Some((code(&node)?, node)));
    let Some((first, first_node)) = codes.next() else { return };
    // Impossible exit codes are reported separately.
    let is_code = |code: f64| (0.0..=255.0).contains(&code);
    for (code, node) in codes.filter(|(code, _)| *code != first && is_code(*code) && is_code(first)) {
        let words = MessageParts::new(format!("`exit_code` cannot be both {first} and {code}")).help(ONE_OF_TWO);
        report.push(node.problem(Code::Contradiction, words).with("the other exit code", &first_node));
    }
}

fn check_outputs(asserted: &Asserted<'_>, report: &mut Report) {
    let equals = asserted.texts("output_equals");
    let Some(((text, first), rest)) = equals.split_first() else { return };
    for (_, node) in rest.iter().filter(|(other, _)| trim(other) != trim(text)) {
        let words = MessageParts::new("the output cannot be equal to two different strings").help(ONE_OF_TWO);
        report.push(node.problem(Code::Contradiction, words).with("the other string", first));
    }
    report.extend(asserted.all("output_contains").iter().filter_map(|part| missing_part(first, part)));
}

/// Reports a part of an output that the whole output does not contain. `output_equals` ignores the blanks around the
/// output, which `output_contains` does not.
fn missing_part(whole_node: &LintNode<'_>, part_node: &LintNode<'_>) -> Option<Finding> {
    let (equals, part) = (whole_node.text()?, part_node.text()?);
    let (whole, words) = (trim(equals), trim(part));
    let can_contain = words.is_empty()
        || words == whole
        || whole.contains(part)
        || whole.starts_with(trim_start(part))
        || whole.ends_with(trim_end(part));
    let message = format!("the output must contain `{}`, but `output_equals` does not contain it", part.escape_debug());
    let finding = part_node.problem(Code::Contradiction, MessageParts::new(message).help(ONE_OF_TWO));
    (!can_contain).then(|| finding.with("the whole output", whole_node))
}

/// Reports two counts of one pattern that exclude each other.
fn check_counts<'d>(asserted: &Asserted<'d>, report: &mut Report) {
    let counts: Vec<_> = asserted.all("run_count").into_iter().filter(LintNode::is_mapping).collect();
    let bound = |count: &LintNode<'d>, name: &str| count.get(name).and_then(|node| Some((node.number()?, node)));
    let mut before: FxHashMap<&str, Vec<&LintNode<'d>>> = FxHashMap::default();
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
            let message = format!("the minimum for `{pattern}` ({least}) is greater than the maximum ({most})");
            let finding = place.problem(Code::Contradiction, MessageParts::new(message).help(ONE_OF_TWO));
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
        let Some((text, pattern)) = count.get("pattern").and_then(|pattern| Some((pattern.text()?, pattern))) else {
            continue;
        };
        let bound = |name: &str| count.get(name).and_then(|node| node.number());
        if bound("min").is_some_and(|min| min >= 1.0) {
            wanted.push((text, pattern));
        } else if bound("max") == Some(0.0) {
            forbidden.push((text, pattern));
        }
    }
    if wanted.is_empty() {
        return;
    }
    // First occurrence of each string.
    let places: FxHashMap<&str, usize> =
        wanted.iter().enumerate().rev().map(|(place, (text, _))| (*text, place)).collect();
    for (text, node) in &forbidden {
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
        report.push(node.problem(Code::Contradiction, words).with("this must be run", first));
    }
}

fn check_duplicates(asserted: &Asserted<'_>, report: &mut Report) {
    let mut seen: FxHashMap<Json, &LintNode<'_>> = FxHashMap::default();
    for (index, item) in asserted.items.iter().enumerate() {
        // A command may have another result if it runs again.
        if !item.is_mapping() || !item.is_own() || item.get("verify").is_some() {
            continue;
        }
        let Some(says) = item.node.to_value().ok().filter(is_filled) else { continue };
        if let Some(first) = seen.get(&says) {
            let words = MessageParts::new("duplicate assertion");
            let words = words.remedy("remove it", Fix::guess, edit::remove_item(asserted.list.node, index));
            let finding = item.head_problem(Code::Collision, words);
            report.push(finding.related(Relation::Labelled("first asserted here"), first.at.clone(), first.head()));
        } else {
            seen.insert(says, item);
        }
    }
}

/// Whether no part of an assertion is empty or unfinished.
fn is_filled(value: &Json) -> bool {
    match value {
        Json::Object(members) => !members.is_empty() && members.values().all(is_filled),
        Json::String(text) => !text.trim().is_empty(),
        Json::Null | Json::Array(_) => false,
        Json::Bool(_) | Json::Number(_) => true,
    }
}

/// Reports lists that check too little.
fn check_coverage(task: &LintNode<'_>, asserted: &Asserted<'_>, report: &mut Report) {
    let Some(types) = &asserted.types else { return };
    let list = &asserted.list;
    if task.get("exit_code").is_none() && !types.iter().any(|name| matches!(&**name, "exit_code" | "verify")) {
        // Next to the list, an exit code is only misplaced, which is reported separately.
        let words = MessageParts::new("no assertion checks whether the command succeeded");
        let edits = edit::item_at_front(list.node, "exit_code: 0");
        report.push(list.head_problem(Code::NoExitCode, words.remedy("add `exit_code: 0`", Fix::guess, edits)));
    }
    let ran = asserted.texts("ran");
    let [(first, _), (_, second), ..] = ran.as_slice() else { return };
    let output = ["output_contains", "output_equals"].iter().find_map(|name| asserted.all(name).into_iter().next());
    if let Some(output) = output.filter(|_| ran.iter().any(|(text, _)| text != first)) {
        let words = MessageParts::new("this assertion checks only the output of the last command")
            .note("the task expects several commands, and the model decides which one runs last")
            .help("check the other commands with `ran` or `verify`");
        report.push(output.head_problem(Code::LastCommandOnly, words).with("another command", second));
    }
}

/// Returns the fields of an assertion type. Empty if it is not a mapping.
fn fields_of(name: &str) -> Vec<&'static str> {
    let shape = shape().and_then(|shape| shape.child(name, None));
    shape.map(|shape| shape.fields(None)).unwrap_or_default().iter().map(|field| field.name).collect()
}

fn shape() -> Option<Shape> {
    Shape::find(SpecFile::CLI_BENCH_TASKS, &Pointer::root().index(0).key("assert").index(0), None)
}

pub(crate) fn check_pattern(pattern: &Pattern<'_>, report: &mut Report) {
    let (code, help) = match pattern.searches {
        "commands" => (Code::SuspiciousPattern, "name the command"),
        "counted commands" => (Code::SuspiciousPattern, "name the command to count"),
        _ => (Code::Contradiction, "name the command that must not be run"),
    };
    if matches_everything(pattern) {
        report
            .push(pattern.lint_node.problem(code, MessageParts::new("this pattern matches every command").help(help)));
    }
    report.extend(fixed_options(pattern));
}

fn matches_everything(pattern: &Pattern<'_>) -> bool {
    match &pattern.compiled {
        Compiled::Literal => pattern.text.is_empty(),
        Compiled::Ecmascript(compiled) => {
            let finds = |text: &&str| compiled.find_iter(text).next().is_some();
            compiled.can_match_empty() && ["", "x", "a b"].iter().all(finds)
        }
        Compiled::Python(_) | Compiled::Broken(_) => false,
    }
}

/// Reports patterns such as `git commit -m`, which `git commit -a -m` does not match.
fn fixed_options(pattern: &Pattern<'_>) -> Option<Finding> {
    static OPTION: OnceLock<Regex> = OnceLock::new();
    let option = OPTION.get_or_init(|| {
        Regex::new(r"[A-Za-z0-9_](?<option> -{1,2}[A-Za-z][A-Za-z0-9-]*)").expect("the pattern is fixed and tested")
    });
    if matches!(pattern.compiled, Compiled::Broken(_)) {
        return None;
    }
    let (node, option) = (&pattern.lint_node, option.captures(pattern.text)?.name("option")?);
    let nth = pattern.text[..option.start()].matches(option.as_str()).count();
    let range = node.part(option.as_str(), nth);
    let space = range.start..range.start + 1;
    let edits = if range.len() == option.len() { node.with_part(&space, " ", ".*") } else { None };
    let words = MessageParts::new("this pattern does not match if another option comes first");
    let words = words.remedy("replace the space with `.*`", Fix::guess, edits);
    let finding = Finding::stated(Code::SuspiciousPattern, words, node.at.clone(), range);
    Some(finding.with_severity(Severity::Hint))
}
