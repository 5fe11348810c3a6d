//! Problems that the schema of a value declares, for all formats: see the keywords in [`crate::words`]. A type that
//! declares one needs no rule.

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::Value as Json;

use crate::{
    check::time,
    document::{NodeRef, Pointer, Scalar},
    edit,
    files::Files,
    finding::{Finding, MessageParts, Report, Scope},
    format::{EffectiveDefault, Format},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    quoting::scalar,
    shape::{self, Shape, Word},
    template::{KnownValue, trimmed_placeholders},
    template_syntax,
    validate::{describe, in_seconds},
    walk::Value,
    words::{all_of, nearest},
};

/// Reports the problems of a value that its schema declares.
pub(crate) fn check(
    value: &Value<'_, '_>,
    (file, format): (SpecFile, &dyn Format),
    files: &dyn Files,
    report: &mut Report,
) {
    let Some(shape) = value.shape() else { return };
    if value.text.is_some_and(|text| text.contains(['*', '?', '[']))
        && let Some(result) = value.declared(Shape::literal)
    {
        check_literal(value, shape, result, report);
    }
    if !shape.declares_problems() {
        return;
    }
    report.extend(shape.problems().filter_map(|problem| declared(problem, value)));
    let node = value.lint_node();
    if let Some(help) = shape.non_empty().filter(|_| node.is_empty()) {
        let words = MessageParts::new(format!("`{}` is empty, so nothing is checked", value.name)).help(help);
        report.push(node.absence(Code::VacuousClaim, words).unless_wrong(node.at.clone()));
    }
    if let Some(unique) = shape.unique() {
        check_unique(&node, unique, report);
    }
    if shape.is_time() {
        check_time(&node, shape, report);
    }
    if shape.may_be_in_quotes() || shape.is_in_seconds() {
        check_number(&node, shape, value.name, report);
    }
    if let Some(other) = shape.no_effect_with().find(|other| value.sibling(other).is_some_and(|it| !is_unset(&it))) {
        let holder = value.holder().map(Value::lint_node);
        report.extend(holder.map(|holder| replaced(&holder, value.holder(), &node, other)));
    }
    if let Some(other) = shape.only_with() {
        report.extend(alone(value, &node, other));
    }
    let mut set = shape.first_of().filter_map(|key| Some((key, node.get(key)?)));
    if let Some((first, _)) = set.next() {
        report.extend(set.map(|(_, member)| replaced(&node, Some(value), &member, first)));
    }
    if let Some((keys, note)) = shape.expected().filter(|_| node.is_mapping()) {
        let default = |at: &Pointer, key: &str| format.in_force(file, node.node.document(), at, key, files);
        check_expected(&node, &keys, note, &default, report);
    }
}

/// Reports a declared problem, if its condition holds.
fn declared(problem: &'static Json, value: &Value<'_, '_>) -> Option<Finding> {
    let text = |name: &str| problem[name].as_str();
    if !shape::holds(&problem["if"], value.node) {
        return None;
    }
    let owner = value.lint_node();
    let place = match text("at") {
        Some(path) => owner.find(&path.split('.').collect::<Vec<_>>())?,
        None => owner.clone(),
    };
    let written = place.node.text().unwrap_or_default();
    let fill = |words: &str| words.replace("{found}", &describe(place.node)).replace("{value}", written);
    let code = Code::parse(text("code")?)?;
    let message = fill(text("message")?);
    let mut words = match text("name") {
        Some(name) => MessageParts::naming(message, name),
        None => MessageParts::new(message),
    };
    words.note = text("note").map(fill);
    words.help = text("help").map(fill);
    let holder = || if text("at").is_some() { Some(owner.clone()) } else { Some(value.holder()?.lint_node()) };
    words = with_fix(words, &problem["fix"], &place, holder);
    let range = if problem["underline"] == "key" { place.head() } else { place.range() };
    // A list or mapping may contain more than what can be read.
    let finding = match value.node.scalar() {
        Some(_) => Finding::stated(code, words, place.at.clone(), range),
        None => Finding::absent(code, words, place.at.clone(), range),
    };
    let finding = match Severity::deserialize(&problem["severity"]) {
        Ok(severity) => finding.with_severity(severity),
        Err(_) => finding,
    };
    let is_set = |name: &str| problem[name] == Json::Bool(true);
    let finding = if is_set("unless-wrong") { finding.unless_wrong(place.at.clone()) } else { finding };
    if !is_set("instead") {
        return Some(finding);
    }
    let same = Scope::CodeAt(code, place.at.clone());
    Some(finding.instead_of(Scope::At(place.at.clone())).instead_of(same))
}

fn with_fix<'d>(
    words: MessageParts,
    fix: &'static Json,
    place: &LintNode<'d>,
    holder: impl Fn() -> Option<LintNode<'d>>,
) -> MessageParts {
    let title = words.help.clone().unwrap_or_default();
    let written = place.node.text().unwrap_or_default();
    let is_safe = fix["safe-if"].as_str().is_some_and(|pattern| shape::matches(pattern, written));
    if fix == "remove" {
        let edits = holder().and_then(|holder| holder.without(place));
        return words.fix(edits.map(|edits| Fix::suggestion(title, edits)));
    }
    if let Some(text) = fix["write"].as_str() {
        let text = text.replace("{value}", written);
        let target = match fix["at"].as_str() {
            Some(key) => holder().and_then(|holder| holder.get(key)),
            None => Some(place.clone()),
        };
        let edits = target.and_then(|target| target.replaced(text));
        let fix = if is_safe { Fix::safe } else { Fix::guess };
        return words.fix(edits.map(|edits| fix(title, edits)));
    }
    if let Some(pattern) = fix["strip"].as_str() {
        let bare = shape::without(pattern, written);
        let edits = place.replaced(scalar(&bare)).filter(|_| !bare.is_empty() && (is_safe || fix["safe-if"].is_null()));
        let fix = if is_safe { Fix::safe } else { Fix::guess };
        return words.fix_with_help(edits.map(|edits| fix(format!("write `{bare}`"), edits)));
    }
    if let Some(factor) = fix["times"].as_f64() {
        let number = place.number().map(|number| (number * factor * 100.0).round() / 100.0);
        return words
            .fix_with_help(number.and_then(|number| {
                Some(Fix::guess(format!("write `{number}`"), place.replaced(number.to_string())?))
            }));
    }
    words
}

fn check_unique(list: &LintNode<'_>, unique: &'static Json, report: &mut Report) {
    let form = |text: &str| if unique["ignore-case"] == true { text.to_lowercase() } else { text.to_owned() };
    let mut seen: FxHashMap<String, LintNode<'_>> = FxHashMap::default();
    for (index, item) in list.items().into_iter().enumerate() {
        let Some(text) = item.text().filter(|text| !text.is_empty()) else { continue };
        let Some(first) = seen.get(&form(text)) else {
            seen.insert(form(text), item);
            continue;
        };
        let words = MessageParts::new(format!("duplicate {} `{text}`", unique["what"].as_str().unwrap_or("item")));
        let words = unique["note"].as_str().into_iter().fold(words, MessageParts::note);
        let words = words.remedy("remove it", Fix::guess, edit::remove_item(list.node, index));
        report.push(item.problem(Code::Collision, words).with("first listed here", first));
    }
}

/// Reports a name or path with a wildcard where it is compared literally.
fn check_literal(value: &Value<'_, '_>, shape: &Shape, result: &str, report: &mut Report) {
    let text = value.text.unwrap_or_default();
    let words = match shape.word() {
        Some(Word::File(_)) => {
            MessageParts::new(format!("wildcards in `{text}` are not expanded, so this assertion always {result}"))
                .help("name one file, without wildcards")
        }
        Some(Word::Pattern(_) | Word::Template(_) | Word::Refers(_) | Word::Defines(_) | Word::Shell) | None => {
            if !text.contains('*') {
                return;
            }
            MessageParts::new(format!("`{text}` is not the exact name of a tool, so this assertion always {result}"))
                .note("wildcards are not expanded")
                .help("name each tool in full")
        }
    };
    let code = if result == "passes" { Code::VacuousClaim } else { Code::Contradiction };
    report.push(value.lint_node().problem(code, words));
}

/// Reports a string that is not a time, or not once its variables are expanded.
fn check_time(node: &LintNode<'_>, shape: &Shape, report: &mut Report) {
    let is_text = node.node.scalar() == Some(Scalar::Text) && node.node.resolved().tag().is_none();
    let Some(text) = node.text().filter(|text| is_text && !text.is_empty()) else { return };
    let examples: Vec<&str> = shape.examples().iter().filter_map(|example| example.as_str()).collect();
    let syntax = shape.template().and_then(template_syntax::syntax);
    let found = syntax.map(|_| trimmed_placeholders(text)).unwrap_or_default();
    let mut filled = text.to_owned();
    for placeholder in &found {
        let Some(syntax) = syntax.filter(|it| it.variables.iter().any(|known| known.name == placeholder.name)) else {
            return;
        };
        let known = syntax.known_values.iter().find(|(name, _)| *name == placeholder.name).map(|(_, value)| value);
        let sample = match known {
            Some(KnownValue::Date) => "2026-05-14",
            Some(KnownValue::Time) => TIME,
            None if examples.contains(&placeholder.text) => TIME,
            Some(KnownValue::Root | KnownValue::Text(_)) | None => "x",
        };
        filled = filled.replace(placeholder.text, sample);
    }
    if time::parse(&filled).is_some() {
        return;
    }
    let message = format!("`{text}` is not a valid time");
    report.push(node.problem(
        Code::InvalidValue,
        match (found.is_empty(), examples.first()) {
            (false, Some(example)) => MessageParts::new(format!("{message} once it is expanded")).remedy(
                format!("write `{example}`"),
                Fix::guess,
                node.replaced(format!("\"{example}\"")),
            ),
            (true, Some(example)) if *example != TIME => {
                MessageParts::new(message).help(format!("write a time, such as `{TIME}` or `{example}`"))
            }
            _ => MessageParts::new(message).help(format!("write a time, such as `{TIME}`")),
        },
    ));
}

/// A time, for messages and as the value of a variable.
const TIME: &str = "2026-05-14T12:00:00Z";

/// Reports a number in quotes that is not a number, and a duration without end.
fn check_number(node: &LintNode<'_>, shape: &Shape, key: &str, report: &mut Report) {
    if node.number().is_some_and(f64::is_infinite) {
        let written = node.node.text().unwrap_or_default();
        let words = MessageParts::new(format!("expected a finite number for `{key}`, found `{written}`"))
            .help("write a number of seconds");
        report.push(node.problem(Code::OutOfRange, words));
    }
    let Some(text) = node.text().filter(|_| shape.may_be_in_quotes()) else { return };
    let is_number = match shape.takes_integers() {
        true => text.trim().parse::<u64>().is_ok(),
        false => text.trim().parse::<f64>().is_ok(),
    };
    if !is_number {
        let seconds = in_seconds(node.node).filter(|_| shape.is_in_seconds());
        let expected = match (&seconds, shape.takes_integers()) {
            (Some(_), _) => "a number of seconds",
            (None, true) => "an integer",
            (None, false) => "a number",
        };
        let words = MessageParts::new(format!("expected {expected} for `{key}`, found the string `{text}`"));
        let finding = node.problem(Code::WrongType, words.fix_with_help(seconds));
        // No variable would make it a number.
        report.push(finding.instead_of(Scope::CodeAt(Code::MissingVariable, node.at.clone())));
    }
}

/// Whether a key is treated as absent: it has no value, or an empty one.
fn is_unset(member: &LintNode<'_>) -> bool {
    member.node.is_null() || member.is_empty()
}

/// Reports a key that another key of its mapping replaces.
fn replaced(holder: &LintNode<'_>, mapping: Option<&Value<'_, '_>>, member: &LintNode<'_>, other: &str) -> Finding {
    let key = member.at.last().unwrap_or_default();
    let is_claim = mapping.and_then(Value::shape).is_some_and(Shape::holds_claims);
    let code = if is_claim { Code::Unchecked } else { Code::NoEffect };
    // A key that needs this one would remain.
    let needs_it = |node: NodeRef<'_>| {
        let fields = mapping.and_then(Value::shape).map(|shape| shape.fields(Some(node))).unwrap_or_default();
        fields.iter().any(|field| field.shape.only_with() == Some(&key) && node.get(field.name).is_some())
    };
    let edits = holder.without(member).filter(|_| !needs_it(holder.node));
    let words = MessageParts::new(format!("`{key}` has no effect with `{other}`"))
        .help("remove one of the two")
        .fix(edits.map(|edits| Fix::suggestion(format!("remove `{key}`"), edits)));
    member.head_problem(code, words)
}

/// Reports a key that requires another one to have an effect.
fn alone(value: &Value<'_, '_>, node: &LintNode<'_>, other: &str) -> Option<Finding> {
    let holder = value.holder()?;
    let key = value.own_key().filter(|_| holder.node.get(other).is_none())?;
    let (shape, mapping) = (holder.shape()?, holder.node);
    // The missing one is reported.
    let needed = shape.one_of_needed();
    if needed.contains(&other) && needed.iter().all(|key| mapping.get(key).is_none()) {
        return None;
    }
    let code = if shape.holds_claims() { Code::Unchecked } else { Code::NoEffect };
    let words = MessageParts::new(format!("`{key}` has no effect without `{other}`")).help("remove it");
    Some(node.head_absence(code, words))
}

fn check_expected(
    node: &LintNode<'_>,
    keys: &[&'static str],
    note: &str,
    default: &dyn Fn(&Pointer, &str) -> Option<EffectiveDefault>,
    report: &mut Report,
) {
    let is_misspelled = |key: &str| node.entries().iter().any(|(other, _)| nearest(other, [key]).is_some());
    let missing: Vec<&str> =
        keys.iter().copied().filter(|key| node.node.get(key).is_none() && !is_misspelled(key)).collect();
    let Some(first) = missing.first() else { return };
    let at = node.at.key(first);
    let known = missing.iter().filter_map(|key| Some((*key, scalar(&default(&at, key)?.value))));
    let members: Vec<(&str, String)> = known.collect();
    let tag = node.node.entries().next().filter(|_| members.len() == missing.len());
    let edits = tag.and_then(|tag| node.with_behind(&tag.key.key_text(), &members));
    let names = all_of(missing.iter().copied());
    let owner = node.text_at("type").or(node.at.last().as_deref()).map(|owner| format!("`{owner}` is missing {names}"));
    let words = MessageParts::new(owner.unwrap_or_else(|| format!("missing {names}"))).note(note).remedy(
        format!("add {names}"),
        Fix::guess,
        edits,
    );
    report.push(Finding::absent(Code::MissingField, words, at, node.head()).with_severity(Severity::Warning));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_schema::SpecFile;

    fn collect(schema: &'static Json, found: &mut Vec<&'static Json>) {
        if let Json::Object(keywords) = schema {
            found.extend(keywords.get("x-problems").and_then(Json::as_array).into_iter().flatten());
        }
        match schema {
            Json::Object(keywords) => keywords.values().for_each(|below| collect(below, found)),
            Json::Array(items) => items.iter().for_each(|below| collect(below, found)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }

    #[test]
    fn declared_problem_has_code_condition_and_message() {
        let mut found = Vec::new();
        SpecFile::ALL.iter().for_each(|file| collect(file.schema(), &mut found));
        for problem in found {
            let keywords = problem.as_object().unwrap();
            let known = [
                "if", "at", "code", "severity", "message", "name", "note", "help", "fix", "underline", "unless-wrong",
                "instead",
            ];
            assert!(keywords.keys().all(|key| known.contains(&key.as_str())), "{problem}");
            assert!(Code::parse(problem["code"].as_str().unwrap()).is_some(), "{problem}");
            assert!(!problem["if"].is_null() && !problem["message"].as_str().unwrap().is_empty(), "{problem}");
            assert!(problem["severity"].is_null() || Severity::deserialize(&problem["severity"]).is_ok(), "{problem}");
        }
    }
}
