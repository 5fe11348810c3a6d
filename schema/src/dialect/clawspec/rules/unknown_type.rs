use crate::{
    dialect::clawspec::{
        assertion::{Assertion, Category},
        assertion_lists::{artifact_paths, comment},
        joined_type::JoinedType,
        type_fields::{assertion_shape, fields_of},
    },
    document::NodeRef,
    edit,
    finding::{Location, MessageParts, Report, Rule, Scope},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Edit, Fix},
    shape::{Need, Type, all_keys, scalar},
    words::{is_surely, nearest, opposite_of, parts, same_negation},
};

/// An unknown type.
#[derive(Debug)]
struct Unknown {
    name: String,
    meant: IntendedType,
}

/// Intended meaning of the type.
#[derive(Debug)]
enum IntendedType {
    /// A type under another name, and whether that is certain.
    Called { real: &'static str, is_same: bool },
    /// No single type: what to write instead.
    Advice { note: Option<&'static str>, help: Option<&'static str> },
    /// A misspelled type.
    Misspelled(&'static str),
    /// The type that checks the opposite of the negated one.
    Negated(&'static str),
    /// The opposite of a type, and the type for it.
    OppositeOf { other: &'static str, negation: Option<&'static str> },
    /// Unknown.
    Nothing,
}

/// The type of an assertion that is not under `type`: as a key, as in other formats, or under another key.
#[derive(Debug)]
struct NotUnderType {
    name: String,
    /// Whether it is the value of another key.
    is_value: bool,
}

/// Maximum number of files to suggest instead of the reply.
const MAX_FILES: usize = 3;

impl IntendedType {
    fn of(name: &str) -> IntendedType {
        let kinds = assertion_shape().and_then(|shape| shape.step("type", None));
        if let Some((real, is_same)) = kinds.as_ref().and_then(|kinds| kinds.value_called(name)) {
            return IntendedType::Called { real, is_same };
        }
        if let Some(advice) = kinds.as_ref().and_then(|kinds| kinds.advice(name)) {
            return IntendedType::Advice { note: advice.note, help: advice.help };
        }
        let names = Assertion::TYPES.iter().filter(|info| info.category != Category::Unsupported);
        let names: Vec<&'static str> = names.map(|info| info.name).collect();
        let bare = name.strip_prefix('!').or_else(|| name.strip_prefix("not "));
        if let Some(opposite) = bare.and_then(|bare| Assertion::type_info(bare.trim())?.opposite) {
            return IntendedType::Negated(opposite);
        }
        if let Some(near) = nearest(name, names.iter().copied().filter(|other| are_alike_by_word(name, other))) {
            return IntendedType::Misspelled(near);
        }
        match opposite_of(name, &names) {
            Some(other) => IntendedType::OppositeOf { other, negation: same_negation(name, &names) },
            None => IntendedType::Nothing,
        }
    }
}

/// Whether each word of a type resembles one of the other: types share words such as `present`.
fn are_alike_by_word(one: &str, other: &str) -> bool {
    let (ours, theirs) = (parts(one), parts(other));
    let is_alike = |one: &String, other: &String| nearest(one, [other.as_str()]).is_some();
    match ours.len() == theirs.len() {
        true => ours.iter().zip(&theirs).all(|(one, other)| is_alike(one, other)),
        false => is_surely(one, other, [other]),
    }
}

/// Checks the type of an assertion, and reports one that is not under `type`.
pub(crate) fn check_assertion(assertion: &LintNode<'_>, report: &mut Report) {
    if !assertion.is_mapping() {
        return;
    }
    let Some(kind) = assertion.get("type") else { return check_elsewhere(assertion, report) };
    let unknown = kind.text().filter(|name| Assertion::type_info(name).is_none());
    // A type with a value after it is a syntax fault.
    if let Some(name) = unknown.filter(|_| JoinedType::of(&kind).is_none()) {
        let finding = kind.finding(Unknown { name: name.to_owned(), meant: IntendedType::of(name) });
        let variable = Scope::CodeAt(Code::MissingVariable, kind.at.clone());
        report.push(finding.instead_of(Scope::At(kind.at.clone())).instead_of(variable));
    }
}

fn check_elsewhere(assertion: &LintNode<'_>, report: &mut Report) {
    let entries = assertion.entries();
    let is_type = |name: &str| Assertion::type_info(name).is_some();
    let shape = assertion_shape();
    let is_called = |key: &str| shape.as_ref().is_some_and(|shape| shape.field_called(key, None).is_some());
    let is_tag = |key: &str| is_called(key) || nearest(key, ["type"]).is_some();
    let tagged = entries.iter().find(|(key, value)| is_tag(key) && value.text().is_some_and(is_type));
    let named = entries.iter().find(|(key, _)| is_type(key));
    let (member, name, is_value) = match (tagged, named) {
        (Some((_, member)), _) => (member, member.text().unwrap_or_default(), true),
        (None, Some((key, member))) => (member, key.as_str(), false),
        (None, None) => return,
    };
    let places = [assertion.at.key("type"), member.at.clone(), assertion.at.clone()];
    let finding = member.head_finding(NotUnderType { name: name.to_owned(), is_value });
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

/// Returns one or several strings as the value of a type: a pattern without special characters, or a list of
/// words.
fn literal(member: &LintNode<'_>, real: &str) -> Option<Vec<Edit>> {
    if real == "artifact_absent_words" {
        // It would be compared as written, and never be found.
        if member.text().into_iter().chain(member.texts().into_iter().map(|(text, _)| text)).any(looks_like_pattern) {
            return None;
        }
        let rename = member.renamed("words")?;
        if member.is_list() {
            return Some(rename);
        }
        return Some([rename, member.replaced(format!("[{}]", quoted(member.text()?)))?].concat());
    }
    let text = member.text()?;
    let mut edits = member.renamed("pattern")?;
    let escaped = regex::escape(text);
    if member.at.last().as_deref() != Some("pattern") && escaped != text {
        edits.extend(member.replaced(quoted(&escaped))?);
    }
    Some(edits)
}

/// Whether a text has characters that only patterns have.
fn looks_like_pattern(text: &str) -> bool {
    text.contains(['\\', '^', '$', '*', '+', '?', '(', ')', '[', ']', '{', '}', '|'])
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the fixes that search in the artifacts of the scenario for what was expected of the reply.
fn about_files(location: &Location<'_>, assertion: &LintNode<'_>, kind: &LintNode<'_>, name: &str) -> Vec<Fix> {
    let real = match name {
        "response_contains" | "output_contains" | "reply_contains" => "log_entry",
        "not_contains" | "response_not_contains" | "output_not_contains" => "artifact_absent_words",
        _ => return Vec::new(),
    };
    let is_given = assertion.at.parent().and_then(|list| list.last()).as_deref() == Some("given");
    let keys = ["text", "contains", "content", "value", "expected", "pattern", "values", "texts"];
    let Some(member) = keys.iter().find_map(|key| assertion.get(key)).filter(|_| !is_given) else { return Vec::new() };
    let fix = |path: &String| {
        let mut edits = kind.replaced(real)?;
        if assertion.get("path").is_none() {
            edits.extend(assertion.with_behind("type", &[("path", scalar(path))])?);
        }
        edits.extend(literal(&member, real)?);
        Some(Fix::suggestion(format!("check `{path}`"), edits))
    };
    artifact_paths(location).iter().take(MAX_FILES).filter_map(fix).collect()
}

/// Returns the fix that replaces `wait_for_artifact` with an assertion that the file exists.
fn awaited(location: &Location<'_>, assertion: &LintNode<'_>, kind: &LintNode<'_>) -> Option<Fix> {
    let file = assertion.get("wait_for_artifact").filter(|_| assertion.get("path").is_none())?;
    let mut edits = [kind.replaced("file_present")?, file.renamed("path")?].concat();
    for (key, member) in assertion.entries() {
        if !matches!(key.as_str(), "type" | "wait_for_artifact" | "timeout") {
            edits.extend(edit::comment_out(location.root, &member.at)?);
        }
    }
    Some(Fix::suggestion("require that the file exists", edits))
}

/// Whether the path has wildcards, which the existing type does not support.
fn is_wild(assertion: &LintNode<'_>, real: &str) -> bool {
    let is_expanded_elsewhere = |path: &str| {
        // The braces of a template are not alternatives.
        let bare = path.replace("{{", "").replace("}}", "");
        bare.starts_with('~') || bare.contains(['*', '?', '[', '{', '$'])
    };
    let path = assertion.text_at("path");
    matches!(real, "file_absent" | "file_present") && path.is_some_and(is_expanded_elsewhere)
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

/// Returns the fix that converts the assertion to the existing type.
fn convert(assertion: &LintNode<'_>, kind: &LintNode<'_>, real: &str, is_same: bool) -> Option<Fix> {
    let mut edits = kind.replaced(real)?;
    for field in fields_of(real).iter().filter(|field| assertion.get(field.name).is_none()) {
        let Some(member) = field.shape.other_names().iter().find_map(|other| assertion.get(other.name)) else {
            continue;
        };
        edits.extend(match (real, field.name) {
            ("log_entry", "pattern") => literal(&member, real)?,
            (_, name) => member.renamed(name)?,
        });
    }
    if real == "artifact_absent_words" && assertion.get("words").is_none() {
        let keys = ["text", "contains", "content", "value", "texts", "values", "patterns", "strings"];
        let member = keys.iter().find_map(|key| assertion.get(key))?;
        edits.extend(literal(&member, real)?);
    }
    let fix = if is_same && has_nothing_else(assertion, real) { Fix::safe } else { Fix::guess };
    Some(fix(changed_to(real), edits))
}

fn changed_to(real: &str) -> String {
    format!("change the type to `{real}`")
}

impl Rule for Unknown {
    const CODE: Code = Code::UnknownType;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let name = self.name.as_str();
        let words = MessageParts::new(format!("unknown assertion type `{name}`"));
        let (Some(assertion), Some(kind)) = (location.holder(), location.lint_node()) else { return words };
        let words = match &self.meant {
            IntendedType::Called { real, .. } if is_wild(&assertion, real) => words
                .note(format!("`{real}` does not expand wildcards"))
                .help(format!("use one `{real}` for each file")),
            IntendedType::Called { real, is_same } => {
                words.help(changed_to(real)).fix(convert(&assertion, &kind, real, *is_same))
            }
            IntendedType::Advice { note, help } => {
                let words = note.iter().fold(words, MessageParts::note);
                help.iter().fold(words, |words, help| words.help(*help))
            }
            IntendedType::Misspelled(near) => words.remedy(changed_to(near), Fix::guess, kind.replaced(scalar(near))),
            IntendedType::Negated(opposite) => words.help(format!("use `{opposite}`")),
            IntendedType::OppositeOf { other, negation: Some(negation) } => {
                words.help(format!("use `{negation}`, the opposite of `{other}`"))
            }
            IntendedType::OppositeOf { other, negation: None } => {
                words.note(format!("no type checks the opposite of `{other}`"))
            }
            IntendedType::Nothing => words.help("use a type that `speclens explain clawspec` lists"),
        };
        words
            .fix(about_files(location, &assertion, &kind, name))
            .fix(awaited(location, &assertion, &kind).filter(|_| name == "invoke"))
            .fix(comment(location, &assertion.at))
    }
}

impl Rule for NotUnderType {
    const CODE: Code = Code::UnknownType;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let name = &self.name;
        let assertion = location.holder();
        let edits = location.lint_node().zip(assertion).and_then(|(member, assertion)| match self.is_value {
            true => member.renamed("type"),
            false => spelled_out(&assertion, name, &member),
        });
        let help = format!("write `type: {name}`");
        MessageParts::new("missing `type`").note("nothing is checked").remedy(help, Fix::safe, edits)
    }
}
