//! The `type` of an assertion: it exists, and it can be evaluated.

use crate::{
    dialect::clawspec::assertion::{Assertion, Category},
    document::Pointer,
    edit,
    json_schema::SpecFile,
    problem::{Code, Fix, Problem},
    shape::{Field, Need, Shape, all_keys, scalar},
    spot::Spot,
    words::{nearest, opposite_of, same_negation},
};

use crate::dialect::clawspec::type_fields::fields_of;

use super::{around::Around, assertions::artifact_paths, shapes::comment};

/// A type that exists under another name.
struct Foreign {
    real: &'static str,
    /// Whether it is the same beyond doubt.
    is_same: bool,
}

/// What the schema says of `type`.
fn type_shape() -> Option<Shape> {
    Shape::find(SpecFile::CLAWSPEC_SCENARIOS, &Pointer::parse("/scenarios/0/then/0/type"), None)
}

/// Types with the type that claims the opposite.
const OPPOSITES: &[(&str, &str)] = &[
    ("file_present", "file_absent"),
    ("artifact_exists", "file_absent"),
    ("tool_was_called", "tool_not_called"),
    ("artifact_contains", "artifact_absent_words"),
];

/// The type that claims the opposite of another one.
pub(super) fn opposite_type(name: &str) -> Option<&'static str> {
    let pairs = OPPOSITES.iter().copied().chain(OPPOSITES.iter().map(|(one, other)| (*other, *one)));
    pairs.into_iter().find(|(one, _)| *one == name).map(|(_, other)| other)
}

/// The type that claims the opposite of what follows a negation: `!file_present`, `not file_present`.
fn negated(name: &str) -> Option<&'static str> {
    let bare = name.strip_prefix('!').or_else(|| name.strip_prefix("not "))?;
    opposite_type(bare.trim())
}

/// A type that does not exist.
pub(super) fn lint(around: &Around<'_>, assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(kind) = assertion.get("type") else { return };
    if let Some(name) = kind.text().filter(|name| Assertion::type_info(name).is_none()) {
        unknown(around, assertion, &kind, name, problems);
    }
}

/// A type with the value of another key on its line: `type: file_present: a`. In quotes it would be an unknown type.
pub(super) fn lint_joined(file: SpecFile, root: &Spot<'_>, problems: &mut Vec<Problem>) {
    let joined: Vec<_> = problems
        .iter()
        .filter(|problem| problem.code == Code::UnknownType)
        .filter_map(|problem| {
            let node = root.node.find(&problem.at)?;
            let (kind, value) = node.as_str()?.split_once(':')?;
            let name = Assertion::type_info(kind.trim_end())?.name;
            let assertion = Shape::find(file, &problem.at.parent()?, Some(root.node))?;
            let form = assertion.variants().into_iter().find(|form| form.tag == Some(("type", name)))?;
            let is_wanted = |field: &Field| field.name != "type" && field.need == Need::Required;
            let key = form.shape.fields(None).into_iter().find(is_wanted)?.name;
            Some((problem.at.clone(), node.own_range(), format!("write `type: {name}` and `{key}: {}`", value.trim())))
        })
        .collect();
    for (at, range, help) in joined {
        let is_inside =
            |it: &Problem| it.code == Code::Syntax && range.start <= it.range.start && it.range.end <= range.end;
        let Some(syntax) = problems.iter_mut().find(|problem| is_inside(problem)) else { continue };
        syntax.message = "two values on the line of `type`".to_owned();
        syntax.fixes.clear();
        syntax.help = Some(help);
        problems.retain(|problem| problem.code != Code::UnknownType || problem.at != at);
    }
}

fn unknown(around: &Around<'_>, assertion: &Spot<'_>, kind: &Spot<'_>, name: &str, problems: &mut Vec<Problem>) {
    problems.retain(|problem| problem.at != kind.at && problem.at.parent().as_ref() != Some(&assertion.at));
    let kinds = type_shape();
    let foreign = kinds.as_ref().and_then(|kinds| kinds.value_called(name));
    let foreign = foreign.map(|(real, is_same)| Foreign { real, is_same });
    let advice = kinds.as_ref().and_then(|kinds| kinds.advice(name));
    let names = Assertion::TYPES.iter().filter(|info| info.category != Category::Unsupported).map(|info| info.name);
    let names: Vec<&str> = names.collect();
    let denied = negated(name);
    let near = nearest(name, names.iter().copied()).filter(|_| denied.is_none());
    let opposite = opposite_of(name, &names);
    let problem = kind.problem(Code::UnknownType, format!("unknown assertion type `{name}`"));
    let mut problem = match (foreign, advice, near) {
        (Some(foreign), ..) => {
            let help = match is_wild(assertion, foreign.real) {
                true => format!("use `{}` for each file: it does not expand wildcards", foreign.real),
                false => format!("change the type to `{}`", foreign.real),
            };
            let problem = problem.with_help(help);
            convert(assertion, kind, &foreign).map_or(problem.clone(), |fix| problem.with_fix(fix))
        }
        (None, Some(advice), _) => {
            let problem = advice.note.map_or(problem.clone(), |note| problem.with_note(note));
            advice.help.map_or(problem.clone(), |help| problem.with_help(help))
        }
        (None, None, Some(near)) => {
            let help = format!("change the type to `{near}`");
            let edits = kind.replaced(scalar(near));
            let fix = edits.map(|edits| Fix::guess(&help, edits));
            let problem = problem.with_help(help);
            fix.map_or(problem.clone(), |fix| problem.with_fix(fix))
        }
        (None, None, None) if let Some(denied) = denied => problem.with_help(format!("use `{denied}`")),
        (None, None, None) if let Some(other) = opposite => match same_negation(name, other, &names) {
            Some(negation) => problem.with_help(format!("use `{negation}`, the opposite of `{other}`")),
            None => problem.with_note(format!("it is the opposite of `{other}`, and ClawSpec has no type for that")),
        },
        (None, None, None) => problem.with_help("use one of the types that `speclens explain` lists"),
    };
    problem.fixes.extend(about_files(around, assertion, kind, name, problems));
    if name == "invoke" {
        problem.fixes.extend(awaited(around, assertion, kind));
    }
    problem.fixes.extend(comment(around, assertion));
    problems.push(problem);
}

/// What was wanted of the answer, claimed of the files that the scenario leaves.
fn about_files(
    around: &Around<'_>,
    assertion: &Spot<'_>,
    kind: &Spot<'_>,
    name: &str,
    problems: &[Problem],
) -> Vec<Fix> {
    const OFFERED: usize = 3;
    let real = match name {
        "response_contains" | "output_contains" | "reply_contains" => "log_entry",
        "not_contains" | "response_not_contains" | "output_not_contains" => "artifact_absent_words",
        _ => return Vec::new(),
    };
    let is_given = assertion.at.parent().and_then(|list| list.last()).as_deref() == Some("given");
    let keys = ["text", "contains", "content", "value", "expected", "pattern", "values", "texts"];
    let Some(member) = keys.iter().find_map(|key| assertion.get(key)).filter(|_| !is_given) else { return Vec::new() };
    let fix = |path: &String| {
        let mut changes = kind.replaced(real)?;
        if assertion.get("path").is_none() {
            changes.extend(assertion.with_behind("type", &[("path", scalar(path))])?);
        }
        changes.extend(literal(&member, real)?);
        Some(Fix::suggestion(format!("look into `{path}`"), changes))
    };
    artifact_paths(around, problems).iter().take(OFFERED).filter_map(fix).collect()
}

/// A text, or texts, as what the type takes: a pattern in which no sign means more than itself, or a list of words.
pub(super) fn literal(member: &Spot<'_>, real: &str) -> Option<Vec<crate::problem::Edit>> {
    if real == "artifact_absent_words" {
        let rename = member.renamed("words")?;
        if member.is_list() {
            return Some(rename);
        }
        return Some([rename, member.replaced(format!("[{}]", show(member.text()?)))?].concat());
    }
    let text = member.text()?;
    let mut changes = member.renamed("pattern")?;
    let escaped = regex::escape(text);
    if member.at.last().as_deref() != Some("pattern") && escaped != text {
        changes.extend(member.replaced(show(&escaped))?);
    }
    Some(changes)
}

fn show(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// What is run beforehand to make a file: the file is what the scenario needs.
fn awaited(around: &Spot<'_>, assertion: &Spot<'_>, kind: &Spot<'_>) -> Option<Fix> {
    let file = assertion.get("wait_for_artifact").filter(|_| assertion.get("path").is_none())?;
    let mut changes = [kind.replaced("file_present")?, file.renamed("path")?].concat();
    for (key, member) in assertion.entries() {
        if !matches!(key.as_str(), "type" | "wait_for_artifact" | "timeout") {
            changes.extend(edit::comment_out(around.node, &member.at)?);
        }
    }
    Some(Fix::suggestion("require that the file is there", changes))
}

/// Whether the path has wildcards, which mean nothing to the type that exists.
fn is_wild(assertion: &Spot<'_>, real: &str) -> bool {
    let path = assertion.get("path");
    let is_expanded_elsewhere = |path: &str| {
        // The braces of a template are no choice.
        let bare = path.replace("{{", "").replace("}}", "");
        bare.starts_with('~') || bare.contains(['*', '?', '[', '{', '$'])
    };
    let wild = path.as_ref().and_then(Spot::text).is_some_and(is_expanded_elsewhere);
    wild && matches!(real, "file_absent" | "file_present")
}

/// Whether every key of an assertion has a meaning for the type that exists, under its own or another name. What has none
/// may have said the opposite (`expected: false`), or more than that type checks (`updated_after`).
fn has_nothing_else(assertion: &Spot<'_>, foreign: &Foreign) -> bool {
    let waits = Assertion::type_info(foreign.real).is_some_and(|info| info.waits);
    let has_effect = |key: &str| waits || !["timeout", "updated_after"].contains(&key);
    let known = fields_of(foreign.real);
    let fields: Vec<&str> = known.iter().map(|field| field.name).filter(|key| has_effect(key)).collect();
    // A key that types of assertions have may mean there what it means in them.
    let is_free = |key: &str| !all_keys(SpecFile::CLAWSPEC_SCENARIOS).any(|known| known == key);
    let is_called = |key: &str| known.iter().any(|it| it.shape.other_names().iter().any(|other| other.name == key));
    let is_other_name = |key: &str| is_called(key) && is_free(key);
    let is_known = |key: &str| fields.contains(&key) && key != "pattern" || is_other_name(key);
    let is_pattern = |key: &str| fields.contains(&"pattern") && key == "pattern";
    // A pattern that was searched for as a text means something else as a regular expression.
    let is_plain = |value: Option<String>| value.is_some_and(|text| regex::escape(&text) == text);
    assertion.node.entries().all(|entry| {
        let key = entry.key.key_text();
        let key = key.as_ref();
        key == "type" || is_known(key) || is_pattern(key) && is_plain(entry.value.as_str().map(str::to_owned))
    })
}

/// The same claim with the type that exists.
fn convert(assertion: &Spot<'_>, kind: &Spot<'_>, foreign: &Foreign) -> Option<Fix> {
    let mut changes = kind.replaced(foreign.real)?;
    for field in fields_of(foreign.real).iter().filter(|field| assertion.get(field.name).is_none()) {
        let Some(member) = field.shape.other_names().iter().find_map(|other| assertion.get(other.name)) else {
            continue;
        };
        match (foreign.real, field.name) {
            ("log_entry", "pattern") => changes.extend(literal(&member, foreign.real)?),
            (_, name) => changes.extend(member.renamed(name)?),
        }
    }
    if foreign.real == "artifact_absent_words" && assertion.get("words").is_none() {
        let keys = ["text", "contains", "content", "value", "texts", "values", "patterns", "strings"];
        let member = keys.iter().find_map(|key| assertion.get(key))?;
        changes.extend(literal(&member, foreign.real)?);
    }
    let title = format!("change the type to `{}`", foreign.real);
    if is_wild(assertion, foreign.real) {
        return None;
    }
    let is_sure = foreign.is_same && has_nothing_else(assertion, foreign);
    Some(if is_sure { Fix::safe(title, changes) } else { Fix::guess(title, changes) })
}
