//! Unknown keys in cli-bench suites: misplaced assertions, and keys without an equivalent assertion.

use crate::{
    dialect::{
        Dialect,
        cli_bench::{asserted, assertions::Assertion},
    },
    document::{NodeRef, Pointer, Scalar},
    edit,
    finding::{Explanation, Finding, Location, MessageParts, Report, Rule, Scope},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    shape::{scalar, show},
    validate::Context,
    words::{is_negative, nearest, opposite_of, same_negation, shell_word},
};

use crate::rules::unknown_key::{ignored_by, is_explained};

/// Key of a task's assertions.
const ASSERT: &str = "assert";

/// Required keys of a task.
const TASK: [&str; 3] = ["id", "intent", ASSERT];

/// Help for a check without an equivalent assertion.
const BY_COMMAND: &str = "use `verify` with a command that checks it";

/// An assertion outside of `assert`.
#[derive(Debug)]
struct Misplaced {
    key: String,
    /// Whether it is in a task.
    in_task: bool,
}

/// `assert` outside of a task.
#[derive(Debug)]
struct OutsideOfTasks;

/// A key with the opposite meaning of an assertion, not another name for it.
#[derive(Debug)]
struct Negated {
    key: String,
    about: Denied,
}

/// Negated fact.
#[derive(Debug)]
enum Denied {
    /// The existence of a file: its path, if it is known.
    File(Option<String>),
    ErrorOutput,
    Output,
    Other,
}

/// A key instead of both bounds of a count.
#[derive(Debug)]
struct ExactCount {
    key: String,
    count: i64,
}

/// An assertion whose type is a value, as in other formats.
#[derive(Debug)]
struct Tagged {
    key: String,
    name: &'static str,
}

/// Explains an unknown key.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    if finding.code() != Code::UnknownKey {
        return finding;
    }
    let at = finding.at().clone();
    let (Some(parent), Some(key)) = (at.parent(), at.last()) else { return finding };
    let is_named = is_explained(context, &at, &key);
    if !asserted::is_in_assertion(&at) {
        let in_item = parent.is_root() && asserted::is_task(context);
        return match key.as_str() {
            _ if is_named => finding,
            name if Assertion::NAMES.contains(&name) => misplaced(context, key, in_item, finding),
            ASSERT if parent.is_root() && !in_item => finding.explained(OutsideOfTasks).with_severity(Severity::Error),
            _ if is_count(&parent) => exact(context, &at, key, finding),
            _ => finding,
        };
    }
    let Some(item) = context.node.find(&parent) else { return finding };
    let known = item.entries().filter(|entry| Assertion::NAMES.contains(&entry.key.key_text().as_str())).count();
    let finding = if !is_named && denies(&key) {
        let about = Denied::of(&key, item.get(&key));
        finding.explained(Negated { key, about }).with_severity(Severity::Error)
    } else {
        finding
    };
    // Reporting the unknown key is sufficient if the item cannot be split.
    if known < 2 { finding.instead_of(Scope::CodeAt(Code::ConflictingFields, parent)) } else { finding }
}

fn misplaced(context: &Context<'_>, key: String, in_item: bool, finding: Finding) -> Finding {
    let has = |key: &str| context.node.entry(key).is_some();
    // An item without any key of a task was separated from the list of another one.
    let is_stray = in_item && !TASK.iter().any(|key| has(key));
    let in_task = in_item && !is_stray;
    let said: &[&str] = match (is_stray, in_task && !has(ASSERT)) {
        (true, _) => &TASK,
        (false, true) => &[ASSERT],
        (false, false) => &[],
    };
    let finding = finding.explained(Misplaced { key, in_task }).with_severity(Severity::Error);
    said.iter()
        .fold(finding, |finding, key| finding.instead_of(Scope::CodeAt(Code::MissingField, Pointer::root().key(key))))
}

/// Whether a location is the value of `run_count` in an assertion.
fn is_count(at: &Pointer) -> bool {
    at.last().is_some_and(|key| key == "run_count") && asserted::is_in_assertion(at)
}

fn exact(context: &Context<'_>, at: &Pointer, key: String, finding: Finding) -> Finding {
    let is_exact = ["count", "equals", "exactly", "times", "number", "exact"].contains(&key.as_str());
    match context.node.find(at).and_then(NodeRef::scalar) {
        Some(Scalar::Int(count)) if is_exact => {
            finding.explained(ExactCount { key, count }).with_severity(Severity::Error)
        }
        _ => finding,
    }
}

/// Whether an unknown key is a negation without an equivalent assertion.
fn denies(key: &str) -> bool {
    let has_negation = same_negation(key, Assertion::NAMES).is_some();
    let spelling = |name: &str| name.replace(['_', '-', ' '], "").to_lowercase();
    let is_spelt_otherwise = Assertion::NAMES.iter().any(|name| spelling(name) == spelling(key));
    !has_negation && !is_spelt_otherwise && (is_negative(key) || opposite_of(key, Assertion::NAMES).is_some())
}

/// Reports `- type: output_contains` with its value under another key, as in other formats.
pub(crate) fn check_assertion(item: &LintNode<'_>, report: &mut Report) {
    let mut entries = item.entries();
    // Usually there are no unknown keys.
    entries.retain(|(key, _)| !Assertion::NAMES.contains(&key.as_str()));
    let Some(shape) = (if entries.is_empty() { None } else { asserted::shape() }) else { return };
    let tag = entries.iter().find(|(key, _)| shape.tags().any(|tag| tag == key));
    let Some((key, tag, written)) = tag.and_then(|(key, value)| Some((key, value, value.text()?))) else { return };
    let name = Assertion::NAMES.iter().copied().find(|name| *name == written);
    let name = name
        .or_else(|| shape.field_called(written, None).map(|(field, _)| field.name))
        .or_else(|| nearest(written, Assertion::NAMES.iter().copied()).filter(|_| !is_negative(written)));
    if let Some(name) = name {
        let finding = tag.head_finding(Tagged { key: key.clone(), name });
        report.push(finding.instead_of(Scope::In(item.at.clone())));
    }
}

impl Denied {
    fn of(key: &str, value: Option<NodeRef<'_>>) -> Denied {
        let about = |words: &[&str]| words.iter().any(|word| key.to_lowercase().contains(word));
        if about(&["file", "path", "exist"]) {
            Denied::File(value.and_then(NodeRef::as_str).map(str::to_owned))
        } else if about(&["error", "stderr"]) {
            Denied::ErrorOutput
        } else if about(&["output", "stdout", "contain", "equal"]) {
            Denied::Output
        } else {
            Denied::Other
        }
    }
}

/// Returns the value of an assertion whose type is a value. `None` if it is unknown.
fn converted(item: &LintNode<'_>, tag: &str, name: &str) -> Option<String> {
    let rest: Vec<(String, LintNode<'_>)> = item.entries().into_iter().filter(|(key, _)| key != tag).collect();
    let source = |node: NodeRef<'_>| edit::words(node).filter(|_| node.scalar().is_some());
    let Some(fields) = asserted::fields_of(name) else {
        return match rest.as_slice() {
            [(_, only)] => source(only.node),
            _ => None,
        };
    };
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

fn unknown(key: &str) -> MessageParts {
    MessageParts::new(format!("unknown key `{key}`"))
}

impl Explanation for Misplaced {
    fn message(&self, _: MessageParts, location: &Location<'_>) -> MessageParts {
        let Misplaced { key, in_task } = self;
        let help = match in_task {
            true => format!("move it under `assert`, as an item `- {key}: …`"),
            false => format!("move it under `assert` of a task, as an item `- {key}: …`"),
        };
        let mapping = location.parent().filter(|_| *in_task);
        let edits = mapping.and_then(|mapping| edit::into_list(mapping, key, ASSERT));
        unknown(key).note("cli-bench checks only the items of `assert`").remedy(help, Fix::safe, edits)
    }
}

impl Explanation for OutsideOfTasks {
    fn message(&self, words: MessageParts, _: &Location<'_>) -> MessageParts {
        MessageParts { note: Some("cli-bench checks only the `assert` of tasks".to_owned()), ..words }
            .help("move it into each task")
    }
}

impl Explanation for Negated {
    fn message(&self, _: MessageParts, location: &Location<'_>) -> MessageParts {
        let words = |what: &str| unknown(&self.key).note(format!("cli-bench has {what}, and ignores unknown keys"));
        match &self.about {
            Denied::File(path) => {
                let command = format!("test ! -e {}", shell_word(path.as_deref().unwrap_or("…")));
                let text = format!("verify: {{ run: {} }}", scalar(&command));
                let help = format!("write `{text}`");
                let is_known = path.as_ref().is_some_and(|path| !path.contains('\n'));
                let entry = location.parent().and_then(|item| Some((item, item.entry(&self.key)?)));
                let edits = entry.and_then(|(item, entry)| edit::entry_in_place(item, entry, &[text]));
                words("no assertion that a file is absent").remedy(help, Fix::guess, edits.filter(|_| is_known))
            }
            Denied::ErrorOutput => words("no negative assertion about standard error").help(BY_COMMAND),
            Denied::Output => words("no negative assertion about the output").help(BY_COMMAND),
            Denied::Other => words("no negative form of this assertion").help(BY_COMMAND),
        }
    }
}

impl Explanation for ExactCount {
    fn message(&self, _: MessageParts, location: &Location<'_>) -> MessageParts {
        let count = self.count;
        let help = format!("write `min: {count}` and `max: {count}`");
        let is_free = |fields: &NodeRef<'_>| ["min", "max"].iter().all(|bound| fields.entry(bound).is_none());
        let both = [format!("min: {count}"), format!("max: {count}")];
        let fields = location.parent().filter(is_free);
        let edits = fields.and_then(|fields| edit::entry_in_place(fields, fields.entry(&self.key)?, &both));
        unknown(&self.key).note(ignored_by(Dialect::CLI_BENCH)).remedy(help, Fix::guess, edits)
    }
}

impl Rule for Tagged {
    const CODE: Code = Code::UnknownKey;
    const SEVERITY: Severity = Severity::Error;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let Tagged { key, name } = self;
        let item = location.holder();
        let value = item.as_ref().and_then(|item| converted(item, key, name));
        let shown = value.as_deref().filter(|value| value.len() < 60).unwrap_or("…");
        let help = format!("write `{name}: {shown}`");
        let edits =
            item.zip(value).and_then(|(item, value)| edit::replace_entries(item.node, &format!("{name}: {value}")));
        unknown(key).note("the type of an assertion is its key").remedy(help, Fix::guess, edits)
    }
}
