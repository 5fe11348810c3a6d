//! Assertions without a known type: under another name, misspelled, not under `type`, or sentences.

use super::{
    assertions::{LISTS, artifact_paths, comment},
    yaml::REJECTED,
};
use crate::{
    dialect::clawspec::{
        assertion::{Assertion, Category, assertion_shape, fields_of},
        assertions::{
            artifacts::ArtifactAbsentWords, behavioral::LogEntry, preconditions::FilePresent, semantic::LlmJudge,
        },
        claim::AssertionType,
    },
    document::{Document, Fault, FaultKind, NodeRef, Pointer, Shape},
    edit,
    finding::{Finding, MessageParts, Report, Scope},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Edit, Fix},
    quoting::scalar,
    shape::{Need, Type, Word, all_keys},
    validate::describe,
    words::{nearest, opposite_of, same_negation},
};

/// Checks an item of a list of assertions that has no known type.
pub(super) fn check(root: NodeRef<'_>, item: &LintNode<'_>, report: &mut Report) {
    const WRITE: &str = "write a mapping with `type`, or comment it out";
    if item.is_mapping() {
        check_type(root, item, report);
        let mut entries = item.node.entries();
        let only = entries.next().filter(|_| entries.next().is_none()).filter(|entry| entry.value.text().is_some());
        if let Some(entry) = only.filter(|entry| entry.key.key_text().split_whitespace().nth(1).is_some()) {
            let words = MessageParts::new("expected an assertion, found a mapping without `type`")
                .note("`: ` turns it into a mapping")
                .help(WRITE)
                .fix(comment(root, &item.at));
            let finding = Finding::stated(Code::WrongType, words, item.at.clone(), entry.key.range());
            report.push(finding.instead_of(Scope::In(item.at.clone())));
        }
    } else if item.node.shape() == Shape::Scalar && !item.node.is_null() {
        let words = match item.text().filter(|name| is_type(name)) {
            Some(name) => MessageParts::new(format!("expected an assertion, found the string `{name}`"))
                .help(format!("write `type: {name}`, and the keys that it needs")),
            None => MessageParts::new(format!("expected an assertion, found {}", describe(item.node)))
                .note(REJECTED)
                .help(WRITE)
                .fix(judged(root, item)),
        };
        let finding = item.problem(Code::WrongType, words.fix(comment(root, &item.at)));
        report.push(finding.instead_of(Scope::At(item.at.clone())));
    }
}

fn is_type(name: &str) -> bool {
    Assertion::type_info(name).is_some()
}

/// Returns the fix that lets a model judge a sentence about an artifact.
fn judged(root: NodeRef<'_>, sentence: &LintNode<'_>) -> Option<Fix> {
    let path = artifact_paths(root).into_iter().next()?;
    let (kind, rubric) = (LlmJudge::NAME, quoted(&format!("Score 1-5: {}", sentence.node.text()?)));
    let words = format!("{{ type: {kind}, path: {}, rubric: {rubric} }}", scalar(&path));
    Some(Fix::suggestion(format!("check it with `{kind}`"), sentence.replaced(words)?))
}

pub(super) fn check_type(root: NodeRef<'_>, assertion: &LintNode<'_>, report: &mut Report) {
    if !assertion.is_mapping() {
        return;
    }
    let Some(kind) = assertion.get("type") else { return check_elsewhere(assertion, report) };
    let Some(name) = kind.text().filter(|name| !is_type(name)) else { return };
    let finding = if let Some((real, key, value)) = joined(&kind) {
        let help = format!("write `type: {real}` and `{key}: {value}`");
        kind.part_problem(":", Code::Syntax, MessageParts::new("two keys on one line").help(help))
    } else {
        let words = meant(name, assertion, &kind)
            .fix(about_files(root, assertion, &kind, name))
            .fix(awaited(root, assertion, &kind).filter(|_| name == "invoke"))
            .fix(comment(root, &assertion.at));
        let finding = kind.problem(Code::UnknownType, words);
        finding.instead_of(Scope::CodeAt(Code::MissingVariable, kind.at.clone()))
    };
    report.push(finding.instead_of(Scope::At(kind.at.clone())));
}

/// Reads a type that is joined with a key that it requires: `type: file_present: a`. Returns the type, the key and its
/// value.
fn joined(kind: &LintNode<'_>) -> Option<(&'static str, &'static str, String)> {
    let (name, value) = kind.text()?.split_once(':')?;
    let is_list = |list: Pointer| list.last().is_some_and(|key| LISTS.contains(&key.as_str()));
    let item = kind.at.parent().filter(|_| kind.at.last().as_deref() == Some("type"))?;
    let is_item = item.last_step().is_some_and(|step| step.index().is_some()) && item.parent().is_some_and(is_list);
    // In quotes, or as a block scalar, it is a string.
    let first = kind.node.document().text().get_byte(kind.node.own_range().start);
    let is_spaced = value.is_empty() || value.starts_with(char::is_whitespace);
    if !is_item || !is_spaced || first != name.bytes().next() {
        return None;
    }
    let name = Assertion::type_info(name.trim_end())?.name;
    let mut fields = fields_of(name).into_iter();
    let key = fields.find(|field| field.name != "type" && field.need == Need::Required)?.name;
    Some((name, key, value.trim().to_owned()))
}

/// Returns whether the rules report a fault with the meaning that it has in a contract.
pub(crate) fn knows(fault: &Fault, document: &Document) -> bool {
    let kind = || LintNode::root(document.root()?).at(&document.pointer_at(fault.range.start));
    fault.kind == FaultKind::ColonWithoutQuotes && kind().is_some_and(|kind| joined(&kind).is_some())
}

/// Reports a type as a key, as in other formats, or under another key.
fn check_elsewhere(assertion: &LintNode<'_>, report: &mut Report) {
    let entries = assertion.entries();
    let shape = assertion_shape();
    let is_called = |key: &str| shape.as_ref().is_some_and(|shape| shape.field_called(key, None).is_some());
    let is_tag = |key: &str| is_called(key) || nearest(key, ["type"]).is_some();
    let tagged = entries.iter().find(|(key, value)| is_tag(key) && value.text().is_some_and(is_type));
    let (member, name, edits) = match (tagged, entries.iter().find(|(key, _)| is_type(key))) {
        (Some((_, member)), _) => (member, member.text().unwrap_or_default(), member.renamed("type")),
        (None, Some((key, member))) => (member, key.as_str(), spelled_out(assertion, key, member)),
        (None, None) => return,
    };
    let words = MessageParts::new("missing `type`").note("nothing is checked").remedy(
        format!("write `type: {name}`"),
        Fix::safe,
        edits,
    );
    let places = [assertion.at.key("type"), member.at.clone(), assertion.at.clone()];
    let finding = member.head_problem(Code::UnknownType, words);
    report.push(places.into_iter().fold(finding, |finding, at| finding.instead_of(Scope::At(at))));
}

/// Returns the edits that convert `name: …` to `type: name`, with the content of `name` next to it.
fn spelled_out(assertion: &LintNode<'_>, name: &str, member: &LintNode<'_>) -> Option<Vec<Edit>> {
    let field = only_field(name, member.node).and_then(|(field, is_list)| {
        let words = edit::words(member.node)?;
        Some(if is_list { format!("{field}: [{words}]") } else { format!("{field}: {words}") })
    });
    edit::split_key(assertion.node, member.entry()?, &format!("type: {name}"), field.as_deref())
}

/// Returns the only required field of a type, and whether it is a list; `None` if the value does not fit.
fn only_field(name: &str, value: NodeRef<'_>) -> Option<(&'static str, bool)> {
    let fields = fields_of(name);
    let mut needed = fields.iter().filter(|field| field.need == Need::Required && field.name != "type");
    let field = needed.next().filter(|_| needed.next().is_none())?;
    let is_text = value.as_str().is_some_and(|text| !text.is_empty());
    match field.shape.kind() {
        Type::Text if is_text => Some((field.name, false)),
        Type::List if is_text => Some((field.name, true)),
        Type::Number | Type::Integer if value.as_str().is_none() && !value.is_null() => Some((field.name, false)),
        Type::Text | Type::List | Type::Number | Type::Integer | Type::Boolean | Type::Mapping | Type::Any => None,
    }
}

fn meant(name: &str, assertion: &LintNode<'_>, kind: &LintNode<'_>) -> MessageParts {
    let words = MessageParts::new(format!("unknown assertion type `{name}`"));
    let change_to = |real: &str| format!("change the type to `{real}`");
    let kinds = assertion_shape().and_then(|shape| shape.step("type", None));
    if let Some((real, is_same)) = kinds.as_ref().and_then(|kinds| kinds.value_called(name)) {
        if is_wild(assertion, real) {
            let words = words.note(format!("`{real}` does not expand wildcards"));
            return words.help(format!("use one `{real}` for each file"));
        }
        let fix = if is_same && has_nothing_else(assertion, real) { Fix::safe } else { Fix::guess };
        return words.remedy(change_to(real), fix, converted(assertion, kind, real));
    }
    if let Some(advice) = kinds.as_ref().and_then(|kinds| kinds.advice(name)) {
        let words = advice.note.iter().fold(words, MessageParts::note);
        return advice.help.iter().fold(words, |words, help| words.help(*help));
    }
    let known = Assertion::TYPES.iter().filter(|info| info.category != Category::Unsupported);
    let names: Vec<&'static str> = known.map(|info| info.name).collect();
    let bare = name.strip_prefix('!').or_else(|| name.strip_prefix("not "));
    if let Some(opposite) = bare.and_then(|bare| Assertion::type_info(bare.trim())?.opposite) {
        return words.help(format!("use `{opposite}`"));
    }
    if let Some(near) = nearest(name, names.iter().copied()) {
        return words.remedy(change_to(near), Fix::guess, kind.replaced(scalar(near)));
    }
    match (same_negation(name, &names), opposite_of(name, &names)) {
        (Some(negation), _) => words.help(format!("use `{negation}`")),
        (None, Some(other)) => words.note(format!("no type checks the opposite of `{other}`")),
        (None, None) => words.help("use a type that `speclens explain clawspec` lists"),
    }
}

/// Whether the path has wildcards, which the existing type does not support.
fn is_wild(assertion: &LintNode<'_>, real: &str) -> bool {
    let is_expanded_elsewhere = |path: &str| {
        // The braces of a template are not alternatives.
        let bare = path.replace("{{", "").replace("}}", "");
        bare.starts_with('~') || bare.contains(['*', '?', '[', '{', '$'])
    };
    let is_literal = || fields_of(real).iter().any(|field| field.name == "path" && !field.shape.is_glob());
    assertion.text_at("path").is_some_and(is_expanded_elsewhere) && is_literal()
}

/// Whether every key of an assertion has a meaning for the existing type, under its own or another name. Other keys
/// may mean the opposite (`expected: false`), or more than that type checks (`updated_after`).
fn has_nothing_else(assertion: &LintNode<'_>, real: &str) -> bool {
    let waits = Assertion::type_info(real).is_some_and(|info| info.waits);
    let has_effect = |key: &str| waits || !["timeout", "updated_after"].contains(&key);
    let known = fields_of(real);
    let fields: Vec<&str> = known.iter().map(|field| field.name).filter(|key| has_effect(key)).collect();
    // A key of some assertion type may have the same meaning here.
    let is_free = |key: &str| !all_keys(SpecFile::CLAWSPEC_SCENARIOS).any(|known| known == key);
    let is_called = |key: &str| known.iter().any(|it| it.shape.other_names().iter().any(|other| other.name == key));
    let is_known = |key: &str| fields.contains(&key) && key != "pattern" || is_called(key) && is_free(key);
    // A pattern that was searched for as text has another meaning as a regular expression.
    let is_plain = |value: NodeRef<'_>| value.as_str().is_some_and(|text| regex::escape(text) == text);
    let is_pattern = |key: &str, value| key == "pattern" && fields.contains(&key) && is_plain(value);
    assertion.node.entries().all(|entry| {
        let key = entry.key.key_text();
        key == "type" || is_known(&key) || is_pattern(&key, entry.value)
    })
}

/// Keys under which other formats write the text of an assertion.
const TEXTS: [&str; 10] =
    ["text", "contains", "content", "value", "expected", "pattern", "values", "texts", "patterns", "strings"];

fn converted(assertion: &LintNode<'_>, kind: &LintNode<'_>, real: &str) -> Option<Vec<Edit>> {
    let mut edits = kind.replaced(real)?;
    for field in fields_of(real).iter().filter(|field| assertion.get(field.name).is_none()) {
        let Some(member) = field.shape.other_names().iter().find_map(|other| assertion.get(other.name)) else {
            continue;
        };
        edits.extend(match field.shape.word() {
            Some(Word::Pattern(_)) => as_pattern(&member)?,
            Some(Word::File(_) | Word::Template(_) | Word::Shell | Word::Refers(_) | Word::Defines(_)) | None => {
                member.renamed(field.name)?
            }
        });
    }
    if real == ArtifactAbsentWords::NAME && assertion.get("words").is_none() {
        edits.extend(as_words(&TEXTS.iter().find_map(|key| assertion.get(key))?)?);
    }
    Some(edits)
}

/// Returns a string as a pattern without special characters.
fn as_pattern(member: &LintNode<'_>) -> Option<Vec<Edit>> {
    let text = member.text()?;
    let mut edits = member.renamed("pattern")?;
    let escaped = regex::escape(text);
    if member.at.last().as_deref() != Some("pattern") && escaped != text {
        edits.extend(member.replaced(quoted(&escaped))?);
    }
    Some(edits)
}

/// Returns one or several strings as a list of words. `None` for a pattern: it would be compared as written, and never
/// be found.
fn as_words(member: &LintNode<'_>) -> Option<Vec<Edit>> {
    let signs = ['\\', '^', '$', '*', '+', '?', '(', ')', '[', ']', '{', '}', '|'];
    if member.text().into_iter().chain(member.texts().into_iter().map(|(text, _)| text)).any(|it| it.contains(signs)) {
        return None;
    }
    let rename = member.renamed("words")?;
    if member.is_list() {
        return Some(rename);
    }
    Some([rename, member.replaced(format!("[{}]", quoted(member.text()?)))?].concat())
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Maximum number of files to suggest instead of the reply.
const MAX_FILES: usize = 3;

/// Returns the fixes that search in the artifacts of the scenario for what was expected of the reply.
fn about_files(root: NodeRef<'_>, assertion: &LintNode<'_>, kind: &LintNode<'_>, name: &str) -> Vec<Fix> {
    let (real, is_denied) = match name {
        "response_contains" | "output_contains" | "reply_contains" => (LogEntry::NAME, false),
        "not_contains" | "response_not_contains" | "output_not_contains" => (ArtifactAbsentWords::NAME, true),
        _ => return Vec::new(),
    };
    let is_given = assertion.at.parent().and_then(|list| list.last()).as_deref() == Some("given");
    let Some(member) = TEXTS.iter().find_map(|key| assertion.get(key)).filter(|_| !is_given) else {
        return Vec::new();
    };
    let fix = |path: &String| {
        let mut edits = kind.replaced(real)?;
        if assertion.get("path").is_none() {
            edits.extend(assertion.with_behind("type", &[("path", scalar(path))])?);
        }
        edits.extend(if is_denied { as_words(&member) } else { as_pattern(&member) }?);
        Some(Fix::suggestion(format!("check `{path}`"), edits))
    };
    artifact_paths(root).iter().take(MAX_FILES).filter_map(fix).collect()
}

/// Returns the fix that replaces `wait_for_artifact` with an assertion that the file exists.
fn awaited(root: NodeRef<'_>, assertion: &LintNode<'_>, kind: &LintNode<'_>) -> Option<Fix> {
    let file = assertion.get("wait_for_artifact").filter(|_| assertion.get("path").is_none())?;
    let mut edits = [kind.replaced(FilePresent::NAME)?, file.renamed("path")?].concat();
    for (key, member) in assertion.entries() {
        if !matches!(key.as_str(), "type" | "wait_for_artifact" | "timeout") {
            edits.extend(edit::comment_out(root, &member.at)?);
        }
    }
    Some(Fix::suggestion("require that the file exists", edits))
}
