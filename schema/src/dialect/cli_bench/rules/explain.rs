//! What violations of the schema mean in cli-bench: keys and values as in other formats, or at another place.

use crate::{
    dialect::cli_bench::assertions::Assertion,
    document::{NodeRef, Pointer, Scalar, Shape},
    edit,
    finding::{Finding, MessageParts, Scope},
    format::Dialect,
    json_schema::SpecFile,
    problem::{Code, Fix, Severity},
    quoting::{scalar, show},
    rules::unknown_key::{ignored_by, is_explained},
    shape::{Need, Type},
    suite::task_files,
    validate::{Context, Definition, describe, fix},
    words::{is_negative, opposite_of, same_negation, shell_word},
};

const ASSERT: &str = "assert";

const TASKS: &str = "tasks";

/// Required keys of a task.
const TASK: [&str; 3] = ["id", "intent", ASSERT];

/// Help for a check without an equivalent assertion.
const BY_COMMAND: &str = "use `verify` with a command that checks it";

/// Adds the format's knowledge to a violation of the schema.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    let (root, at) = (context.node, finding.at().clone());
    if finding.code() == Code::UnknownKey {
        return unknown_key(context, &at, finding);
    }
    if at.is_root() && is_task(context) && context.node.shape() == Shape::Scalar {
        let file = context.file;
        return finding.reworded(root, |words, location| no_task(location.root, file, words));
    }
    let is_value = matches!(finding.code(), Code::WrongType | Code::InvalidValue | Code::OutOfRange);
    if let Some((key, value)) = at.last().zip(context.node.find(&at)).filter(|_| is_value) {
        if finding.code() == Code::WrongType && is_absent(context, &at, &key, value) {
            let finding = finding.with_severity(Severity::Hint);
            return finding
                .reworded(root, |words, _| MessageParts { note: Some("it has no effect".to_owned()), ..words });
        }
        if key == ASSERT || is_in_assertion(&at) {
            return other_form(root, &at, key, value, finding);
        }
    }
    if finding.code() != Code::WrongType || !context.base.is_root() {
        finding
    } else if context.file == SpecFile::CLI_BENCH_TASKS {
        finding.reworded(root, |words, _| unfixed(words).help("begin each task with `- id: …`"))
    } else if at == Pointer::root().key(TASKS) {
        finding.reworded(root, |words, location| match location.node() {
            Some(tasks) if tasks.shape() == Shape::Mapping => tasks_by_name(tasks, words),
            Some(_) | None => words,
        })
    } else {
        finding
    }
}

fn unfixed(words: MessageParts) -> MessageParts {
    MessageParts { fixes: Vec::new(), ..words }
}

/// Whether a value is missing and its key counts as absent: it is optional, and no assertion becomes weaker.
fn is_absent(context: &Context<'_>, at: &Pointer, key: &str, value: NodeRef<'_>) -> bool {
    let is_optional = || {
        let fields = context.shape(&at.parent()?)?.fields(None);
        Some(fields.iter().any(|field| field.name == key && field.need == Need::Optional))
    };
    value.is_null()
        && !value.is_through_alias()
        && !at.steps().any(|step| step == ASSERT)
        && is_optional().unwrap_or_default()
}

/// Explains a scalar instead of a task.
fn no_task(item: NodeRef<'_>, file: SpecFile, words: MessageParts) -> MessageParts {
    const SCHEME: &str = task_files::SCHEME;
    let (words, text) = (unfixed(words), item.text().unwrap_or_default());
    if item.is_null() {
        return words.help("add a task, which begins with `id: …`, or remove the `-`");
    }
    let said = |message: String| MessageParts { message, ..words };
    if file == SpecFile::CLI_BENCH_TASKS && text.starts_with(SCHEME) {
        return said("a task file cannot include other files".to_owned()).help("move the item to `tasks` of the suite");
    }
    if file == SpecFile::CLI_BENCH_TASKS {
        return said(format!("expected a task, found the string `{text}`")).help("begin the task with `id: …`");
    }
    if text == SCHEME {
        return said(format!("`{SCHEME}` needs a path")).help(format!("add a path, such as `{SCHEME}tasks/*.yaml`"));
    }
    let path = task_files::path_of(text);
    let name = format!("{SCHEME}{path}");
    let is_path = (text.ends_with(".yaml") || text.ends_with(".yml")) && !path.contains("://");
    // A single slash after the scheme may begin an absolute path.
    let is_open =
        text.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("file:/")) && !text[6..].starts_with('/');
    let fix = if is_open { Fix::guess } else { Fix::safe };
    let edits = edit::replace_text(item, &name).filter(|_| is_path);
    said(format!("expected a task or the path of a task file, found the string `{text}`"))
        .help(format!("write the path as `{SCHEME}…`"))
        .fix_with_help(edits.map(|edits| fix(format!("change it to `{name}`"), edits)))
}

/// Explains tasks that are the entries of a mapping.
fn tasks_by_name(tasks: NodeRef<'_>, words: MessageParts) -> MessageParts {
    let words = unfixed(words);
    let Some(first) = tasks.entries().next() else { return words };
    let fields = Definition::Item(SpecFile::CLI_BENCH, TASKS).shape().fields(None);
    if fields.iter().any(|field| first.key.text() == Some(field.name)) {
        return words.help("begin each task with `- `");
    }
    let help = format!("make each task a list item, as in `- id: {}`", first.key.key_text());
    words.remedy(help, Fix::guess, edit::items_with_ids(tasks))
}

/// Explains the value of an assertion, or of the list of assertions, in another form.
fn other_form(root: NodeRef<'_>, at: &Pointer, key: String, value: NodeRef<'_>, finding: Finding) -> Finding {
    let short_forms = [
        ("file_contains", "path", ", text: TODO(the text)"),
        ("run_count", "pattern", ", min: 1"),
        ("verify", "run", ""),
    ];
    let is_dashed = |entry: crate::document::EntryRef<'_>| entry.key.text().is_some_and(|key| key.starts_with('-'));
    let is_list = value.shape() == Shape::Sequence;
    if key == ASSERT && !is_in_assertion(at) {
        let is_mapping = value.shape() == Shape::Mapping && !value.entries().any(is_dashed);
        return if is_mapping { finding.reworded(root, |words, _| assertions_by_name(value, words)) } else { finding };
    }
    if let Some((_, field, more)) = short_forms.into_iter().find(|(name, ..)| *name == key) {
        let is_text = value.as_str().is_some_and(|text| !text.is_empty());
        return if is_text { finding.reworded(root, |words, _| in_braces(value, field, more, words)) } else { finding };
    }
    if key == "exit_code" {
        return finding.reworded(root, |words, _| no_exit_code(value, words));
    }
    if !is_list || !Assertion::NAMES.contains(&key.as_str()) {
        return finding;
    }
    finding.reworded(root, |words, location| {
        let help = format!("write an item `- {key}: …` for each string");
        // Commands may be meant as alternatives, and an output equals only one string.
        let is_open = ["ran", "not_ran", "output_equals"].contains(&key.as_str());
        let fix = if is_open { Fix::suggestion } else { Fix::safe };
        let entry = location.parent().and_then(|assertion| assertion.entry(&key));
        match entry.and_then(|entry| edit::one_item_each(entry.value, entry.key)) {
            Some(edits) => unfixed(words).remedy(help, fix, Some(edits)),
            None => words.help(help),
        }
    })
}

/// Explains a mapping of assertions instead of a list.
fn assertions_by_name(value: NodeRef<'_>, words: MessageParts) -> MessageParts {
    match edit::items_of_keys(value) {
        Some(edits) => unfixed(words).remedy("make each assertion a list item", Fix::safe, Some(edits)),
        None if value.entries().nth(1).is_some() => unfixed(words),
        None => words,
    }
}

fn in_braces(value: NodeRef<'_>, field: &str, more: &str, words: MessageParts) -> MessageParts {
    let text = value.as_str().unwrap_or_default();
    let written = format!("{{ {field}: {}{more} }}", show(&text.into()));
    let title = format!("write `{written}`");
    let is_plain = value.anchor().is_none() && value.tag().is_none() && !text.contains('\n');
    let fix = if more.is_empty() { Fix::safe } else { Fix::guess };
    match edit::replace(value, written).filter(|_| is_plain) {
        Some(edits) => unfixed(words).remedy(title, fix, Some(edits)),
        None => words.help(title),
    }
}

fn no_exit_code(value: NodeRef<'_>, words: MessageParts) -> MessageParts {
    if value.is_null() {
        return words.help("write an integer");
    }
    let message = format!("expected an integer for `exit_code`, found {}", describe(value));
    let words = MessageParts { message, help: None, ..words };
    if value.shape() == Shape::Sequence {
        return MessageParts { note: Some("`exit_code` takes a single number".to_owned()), ..words }
            .help("write a task for each exit code");
    }
    let fixes = fix::without_comma(value, Type::Integer).map_or(words.fixes, |fix| vec![fix]);
    MessageParts { help: fixes.first().map(|fix| fix.title.clone()), fixes, ..words }
}

fn unknown(key: &str) -> MessageParts {
    MessageParts::new(format!("unknown key `{key}`"))
}

fn unknown_key(context: &Context<'_>, at: &Pointer, finding: Finding) -> Finding {
    let (Some(parent), Some(key)) = (at.parent(), at.last()) else { return finding };
    let root = context.node;
    let is_named = is_explained(context, at, &key);
    let is_assertion = |key: &str| Assertion::NAMES.contains(&key);
    if is_in_assertion(at) {
        let Some(item) = context.node.find(&parent) else { return finding };
        let known = item.entries().filter(|entry| is_assertion(&entry.key.key_text())).count();
        let finding = if !is_named && denies(&key) { negated(root, &key, item.get(&key), finding) } else { finding };
        // Reporting the unknown key is sufficient if the item cannot be split.
        return if known < 2 { finding.instead_of(Scope::CodeAt(Code::ConflictingFields, parent)) } else { finding };
    }
    let in_item = parent.is_root() && is_task(context);
    if is_named {
        finding
    } else if is_assertion(&key) {
        misplaced(context, key, in_item, finding)
    } else if key == ASSERT && parent.is_root() && !in_item {
        finding.with_severity(Severity::Error).reworded(root, |words, _| {
            let note = "cli-bench checks only the `assert` of tasks".to_owned();
            MessageParts { note: Some(note), ..words }.help("move it into each task")
        })
    } else if parent.last().is_some_and(|key| key == "run_count") && is_in_assertion(&parent) {
        exact_count(root, context.node.find(at).and_then(NodeRef::scalar), &key, finding)
    } else {
        finding
    }
}

/// Explains an assertion outside of `assert`.
fn misplaced(context: &Context<'_>, key: String, in_item: bool, finding: Finding) -> Finding {
    let root = context.node;
    let has = |key: &str| root.entry(key).is_some();
    // An item without any key of a task was separated from the list of another one.
    let in_task = in_item && TASK.iter().any(|key| has(key));
    let said: &[&str] = match (in_item, in_task) {
        (true, false) => &TASK,
        (true, true) if !has(ASSERT) => &[ASSERT],
        (true | false, _) => &[],
    };
    let finding = said.iter().fold(finding.with_severity(Severity::Error), |finding, key| {
        finding.instead_of(Scope::CodeAt(Code::MissingField, Pointer::root().key(key)))
    });
    finding.reworded(root, |_, location| {
        let of_task = if in_task { "" } else { " of a task" };
        let help = format!("move it under `assert`{of_task}, as an item `- {key}: …`");
        let mapping = location.parent().filter(|_| in_task);
        let edits = mapping.and_then(|mapping| edit::into_list(mapping, &key, ASSERT));
        unknown(&key).note("cli-bench checks only the items of `assert`").remedy(help, Fix::safe, edits)
    })
}

/// Explains a key of `run_count` instead of both bounds.
fn exact_count(root: NodeRef<'_>, value: Option<Scalar>, key: &str, finding: Finding) -> Finding {
    let is_exact = ["count", "equals", "exactly", "times", "number", "exact"].contains(&key);
    let Some(Scalar::Int(count)) = value.filter(|_| is_exact) else { return finding };
    finding.with_severity(Severity::Error).reworded(root, |_, location| {
        let help = format!("write `min: {count}` and `max: {count}`");
        let is_free = |fields: &NodeRef<'_>| ["min", "max"].iter().all(|bound| fields.entry(bound).is_none());
        let both = [format!("min: {count}"), format!("max: {count}")];
        let fields = location.parent().filter(is_free);
        let edits = fields.and_then(|fields| edit::entry_in_place(fields, fields.entry(key)?, &both));
        unknown(key).note(ignored_by(Dialect::CLI_BENCH)).remedy(help, Fix::guess, edits)
    })
}

/// Whether an unknown key is a negation without an equivalent assertion.
fn denies(key: &str) -> bool {
    let has_negation = same_negation(key, Assertion::NAMES).is_some();
    let spelling = |name: &str| name.replace(['_', '-', ' '], "").to_lowercase();
    let is_spelt_otherwise = Assertion::NAMES.iter().any(|name| spelling(name) == spelling(key));
    !has_negation && !is_spelt_otherwise && (is_negative(key) || opposite_of(key, Assertion::NAMES).is_some())
}

/// Explains a key with the opposite meaning of an assertion.
fn negated(root: NodeRef<'_>, key: &str, value: Option<NodeRef<'_>>, finding: Finding) -> Finding {
    let about = |words: &[&str]| words.iter().any(|word| key.to_lowercase().contains(word));
    let is_file = about(&["file", "path", "exist"]);
    let what = if is_file {
        "no assertion that a file is absent"
    } else if about(&["error", "stderr"]) {
        "no negative assertion about standard error"
    } else if about(&["output", "stdout", "contain", "equal"]) {
        "no negative assertion about the output"
    } else {
        "no negative form of this assertion"
    };
    let path = value.and_then(NodeRef::as_str).map(str::to_owned);
    finding.with_severity(Severity::Error).reworded(root, |_, location| {
        let words = unknown(key).note(format!("cli-bench has {what}, and ignores unknown keys"));
        if !is_file {
            return words.help(BY_COMMAND);
        }
        let command = format!("test ! -e {}", shell_word(path.as_deref().unwrap_or("…")));
        let text = format!("verify: {{ run: {} }}", scalar(&command));
        let help = format!("write `{text}`");
        let item = location.parent().filter(|_| path.as_ref().is_some_and(|path| !path.contains('\n')));
        let edits = item.and_then(|item| edit::entry_in_place(item, item.entry(key)?, &[text]));
        words.remedy(help, Fix::guess, edits)
    })
}

fn is_in_assertion(at: &Pointer) -> bool {
    let list = at.parent().and_then(|item| item.parent());
    list.and_then(|list| list.last()).is_some_and(|list| list == "assert")
}

/// Whether the validated node is a task, or in the place of one.
fn is_task(context: &Context<'_>) -> bool {
    let list = context.file.case_list().map(Definition::list_at);
    list.is_some_and(|list| context.base == list.index(0))
}
