//! The `type` of an assertion: it exists, and it can be evaluated.

use std::ops::Range;

use crate::{
    dialect::clawspec::assertion::{Assertion, Category},
    document::Pointer,
    json_schema::SpecFile,
    problem::{Code, Fix, Problem},
    rewrite,
    shape::{Field, Need, Shape, all_keys, scalar},
    spot::Spot,
    words::{nearest, opposite_of, same_negation},
};

use super::{around::Around, assertions::artifact_paths, edits, shapes::comment, type_keys::fields_of};

/// A type that people write and that does not exist.
struct Foreign {
    /// As it is written.
    name: &'static str,
    /// The type that claims the same.
    real: &'static str,
    /// Keys that have another name there.
    keys: &'static [(&'static str, &'static str)],
    /// Whether it is the same beyond doubt.
    sure: bool,
}

const fn foreign(
    name: &'static str,
    real: &'static str,
    keys: &'static [(&'static str, &'static str)],
    sure: bool,
) -> Foreign {
    Foreign { name, real, keys, sure }
}

const TEXT_KEYS: &[(&str, &str)] = &[
    ("text", "pattern"),
    ("contains", "pattern"),
    ("content", "pattern"),
    ("value", "pattern"),
    ("expected", "pattern"),
];

const FOREIGN: &[Foreign] = &[
    foreign("tool_called", "tool_was_called", &[], true),
    foreign("tool_invoked", "tool_was_called", &[], false),
    foreign("tool_used", "tool_was_called", &[], false),
    foreign("tool_was_invoked", "tool_was_called", &[], false),
    foreign("tool_was_used", "tool_was_called", &[], false),
    foreign("tool_not_used", "tool_not_called", &[], false),
    foreign("tool_was_not_called", "tool_not_called", &[], true),
    foreign("tool_was_not_used", "tool_not_called", &[], false),
    foreign("tool_was_not_invoked", "tool_not_invoked", &[], false),
    foreign("file_exists", "file_present", &[], true),
    foreign("file_not_exists", "file_absent", &[], true),
    foreign("file_not_present", "file_absent", &[], true),
    foreign("file_missing", "file_absent", &[], true),
    foreign("artifact_absent", "file_absent", &[], true),
    foreign("artifact_not_exists", "file_absent", &[], true),
    foreign("artifact_missing", "file_absent", &[], true),
    foreign("state_file_absent", "file_absent", &[], true),
    foreign("artifact_present", "artifact_exists", &[], true),
    foreign("artifact_contains_text", "log_entry", TEXT_KEYS, false),
    foreign("file_contains", "log_entry", TEXT_KEYS, false),
    foreign("log_contains", "log_entry", TEXT_KEYS, true),
    foreign("artifact_not_contains", "artifact_absent_words", &[], false),
    foreign("file_not_contains", "artifact_absent_words", &[], false),
    foreign("log_not_contains", "artifact_absent_words", &[], false),
    foreign("log_entry_absent", "artifact_absent_words", &[], false),
    foreign("no_log_entry", "artifact_absent_words", &[], false),
    foreign("env_set", "env_present", &[], false),
    foreign("http_status", "gateway_response", &[("url", "endpoint"), ("status", "expected_status")], false),
    foreign("routing_result", "decision_routed_to", &[], false),
    foreign("delegated_to", "delegation_occurred", &[("agent", "to_agent")], false),
];

/// Types that no real one stands for: why, and what can be done.
const ADVICE: &[(&[&str], &str, &str)] = &[
    (
        &[
            "response_contains",
            "output_contains",
            "reply_contains",
            "not_contains",
            "response_field",
            "output_field_contains",
            "response_not_contains",
            "output_not_contains",
            "reply_not_contains",
        ],
        UNSEEN.0,
        UNSEEN.1,
    ),
    (
        &["env_unset", "env_absent", "env_not_present", "env_not_set", "env_missing"],
        "ClawSpec can check only that a variable is set",
        "remove it, or use `env_present` for a variable that must be set",
    ),
    (
        &["invoke"],
        "`given` and `then` can only check, not act",
        "move what is done to `when`; to require its result, use `file_present`",
    ),
    (
        &[
            "disallow",
            "disallowed_tools",
            "tool_disallowed",
            "tool_forbidden",
            "forbidden_tools",
            "forbid_tool",
            "tool_denied",
            "tool_blocked",
            "tool_not_allowed",
        ],
        "ClawSpec forbids tools by their calls",
        "use `tool_not_called` (gateway log) or `tool_not_invoked` (trace)",
    ),
    (
        &["tool_permitted", "tool_allowed", "tools_permitted", "tools_allowed", "allowed_tools"],
        "`tool_not_permitted` is an allow-list: a call of any other tool fails",
        "use `tool_not_permitted` with `allowed_tools`",
    ),
    (
        &["model_not_used", "model_not_expected", "model_not_called"],
        "ClawSpec has one type for both",
        "use `model_used` with `not_expected`",
    ),
    (
        &["artifact_words"],
        "ClawSpec has `artifact_absent_words`, for words that must not occur",
        "use `log_entry` for a text that must occur",
    ),
    (
        &["output_matches_schema", "artifact_yaml_valid", "artifact_yaml_field_check", "output_field_min_length"],
        "ClawSpec validates no schema",
        "check the keys of the file, with `artifact_contains` and `fields`, or with `state_file`",
    ),
];

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

/// What is asked of a reply.
const UNSEEN: (&str, &str) = (
    "ClawSpec cannot see the reply",
    "have the target write a file, and check that with `log_entry`, `artifact_contains` or `artifact_absent_words`",
);

/// A type, or a key of a scenario, that the schema of ClawSpec does not know.
pub(super) fn rejected(at: Pointer, range: Range<usize>, name: &str) -> Problem {
    let before = "ClawSpec 0.1.0 rejects this file: its schema does not allow";
    let problem = Problem::naming(Code::UpstreamDiffers, at, range, before, name);
    problem.with_note("they are in its documentation or its runner, and not in its schema")
}

/// A type that does not exist, and nothing else.
pub(super) fn lint_unknown(around: &Around<'_>, assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(kind) = assertion.get("type") else { return };
    if let Some(name) = kind.text().filter(|name| Assertion::type_info(name).is_none()) {
        unknown(around, assertion, &kind, name, problems);
    }
}

pub(super) fn lint(around: &Around<'_>, assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(kind) = assertion.get("type") else { return };
    let Some(name) = kind.text() else { return };
    match Assertion::type_info(name) {
        None => unknown(around, assertion, &kind, name, problems),
        Some(info) => match info.category {
            Category::Trace => problems.push(rejected(kind.at.clone(), kind.range(), name)),
            Category::Unsupported => {
                let note = "ClawSpec accepts the type and aborts the scenario: nothing defines what it checks";
                let problem = kind.problem(Code::NeverEvaluated, format!("`{name}` cannot be evaluated"));
                let mut problem = problem.with_note(note).with_help("remove it");
                problem.fixes.extend(comment(around, assertion));
                problems.push(problem);
            }
            Category::Precondition | Category::Artifact | Category::Behavioral | Category::Semantic => {}
        },
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
    let foreign = FOREIGN.iter().find(|foreign| foreign.name == name);
    let advice = ADVICE.iter().find(|(names, ..)| names.contains(&name));
    let names = Assertion::TYPES.iter().filter(|info| info.category != Category::Unsupported).map(|info| info.name);
    let names: Vec<&str> = names.collect();
    let denied = negated(name);
    let near = nearest(name, names.iter().copied()).filter(|_| denied.is_none());
    let opposite = opposite_of(name, &names);
    let problem = kind.problem(Code::UnknownType, format!("unknown assertion type `{name}`"));
    let mut problem = match (foreign, advice, near) {
        (Some(foreign), ..) => {
            let help = match is_wild(assertion, foreign) {
                true => format!("use `{}` for each file: it does not expand wildcards", foreign.real),
                false => format!("change the type to `{}`", foreign.real),
            };
            let problem = problem.with_help(help);
            convert(assertion, kind, foreign).map_or(problem.clone(), |fix| problem.with_fix(fix))
        }
        (None, Some((_, note, help)), _) => problem.with_note(*note).with_help(*help),
        (None, None, Some(near)) => {
            let help = format!("change the type to `{near}`");
            let edit = edits::replace(kind, scalar(near));
            let fix = edit.map(|edit| Fix::guess(&help, vec![edit]));
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
        let mut changes = vec![edits::replace(kind, real)?];
        if assertion.get("path").is_none() {
            changes.push(edits::insert_behind(assertion, "type", &[("path", scalar(path))])?);
        }
        changes.extend(literal(&member, real)?);
        Some(Fix::suggestion(format!("look into `{path}`"), changes))
    };
    artifact_paths(around, problems).iter().take(OFFERED).filter_map(fix).collect()
}

/// A text, or texts, as what the type takes: a pattern in which no sign means more than itself, or a list of words.
pub(super) fn literal(member: &Spot<'_>, real: &str) -> Option<Vec<crate::problem::Edit>> {
    if real == "artifact_absent_words" {
        let rename = edits::rename(member, "words")?;
        if member.is_list() {
            return Some(vec![rename]);
        }
        return Some(vec![rename, edits::replace(member, format!("[{}]", show(member.text()?)))?]);
    }
    let text = member.text()?;
    let mut changes = vec![edits::rename(member, "pattern")?];
    let escaped = regex::escape(text);
    if member.at.last().as_deref() != Some("pattern") && escaped != text {
        changes.push(edits::replace(member, show(&escaped))?);
    }
    Some(changes)
}

fn show(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// What is run beforehand to make a file: the file is what the scenario needs.
fn awaited(around: &Spot<'_>, assertion: &Spot<'_>, kind: &Spot<'_>) -> Option<Fix> {
    let file = assertion.get("wait_for_artifact").filter(|_| assertion.get("path").is_none())?;
    let mut changes = vec![edits::replace(kind, "file_present")?, edits::rename(&file, "path")?];
    for (key, member) in assertion.entries() {
        if !matches!(key.as_str(), "type" | "wait_for_artifact" | "timeout") {
            changes.extend(rewrite::comment(around.node, &member.at)?);
        }
    }
    Some(Fix::suggestion("require that the file is there", changes))
}

/// Whether the path has wildcards, which mean nothing to the type that exists.
fn is_wild(assertion: &Spot<'_>, foreign: &Foreign) -> bool {
    let path = assertion.get("path");
    let is_expanded_elsewhere = |path: &str| {
        // The braces of a template are no choice.
        let bare = path.replace("{{", "").replace("}}", "");
        bare.starts_with('~') || bare.contains(['*', '?', '[', '{', '$'])
    };
    let wild = path.as_ref().and_then(Spot::text).is_some_and(is_expanded_elsewhere);
    wild && matches!(foreign.real, "file_absent" | "file_present")
}

/// Whether every key of an assertion has a meaning for the type that exists, under its own or another name. What has none
/// may have said the opposite (`expected: false`), or more than that type checks (`updated_after`).
fn has_nothing_else(assertion: &Spot<'_>, foreign: &Foreign) -> bool {
    let waits = Assertion::type_info(foreign.real).is_some_and(|info| info.waits);
    let has_effect = |key: &str| waits || !["timeout", "updated_after"].contains(&key);
    let fields: Vec<&str> =
        fields_of(foreign.real).iter().map(|field| field.name).filter(|key| has_effect(key)).collect();
    // A key that types of assertions have may mean there what it means in them.
    let is_free = |key: &str| !all_keys(SpecFile::ClawSpecScenarios).any(|known| known == key);
    let is_other_name = |key: &str| foreign.keys.iter().any(|(other, _)| *other == key) && is_free(key);
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
    let mut changes = vec![edits::replace(kind, foreign.real)?];
    for (from, to) in foreign.keys {
        if let Some(member) = assertion.get(from).filter(|_| assertion.get(to).is_none()) {
            match foreign.real {
                "log_entry" => changes.extend(literal(&member, foreign.real)?),
                _ => changes.push(edits::rename(&member, to)?),
            }
            break;
        }
    }
    if foreign.real == "artifact_absent_words" && assertion.get("words").is_none() {
        let keys = ["text", "contains", "content", "value", "texts", "values", "patterns", "strings"];
        let member = keys.iter().find_map(|key| assertion.get(key))?;
        changes.extend(literal(&member, foreign.real)?);
    }
    let title = format!("change the type to `{}`", foreign.real);
    if is_wild(assertion, foreign) {
        return None;
    }
    let is_sure = foreign.sure && has_nothing_else(assertion, foreign);
    Some(if is_sure { Fix::safe(title, changes) } else { Fix::guess(title, changes) })
}
