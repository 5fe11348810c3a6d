//! Values of the wrong type in cli-bench suites: those that it accepts, those without a schema, and those
//! with a clear intention.

use crate::{
    dialect::cli_bench::asserted,
    document::{EntryRef, NodeRef, Pointer, Scalar, Shape, Way},
    edit,
    finding::{Explanation, Finding, Location, MessageParts, Report, Rule, Scope},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    validate::{Context, Definition, describe},
    words::all_of,
};

/// Key of the tasks of a suite.
const TASKS: &str = "tasks";

/// A value of the wrong type.
#[derive(Debug)]
enum WrongType {
    /// A value of an environment variable, by its name, that is not a string.
    Variable(String),
    /// A value of a merge key that is not a mapping, with its description. A mapping may have several.
    Merged { found: String },
    /// An assertion whose fields are next to it instead of below it.
    UnderIndented { name: String, fields: Vec<String> },
    /// A task file with its list below `tasks`.
    Wrapped,
}

/// `tasks` as a mapping.
#[derive(Debug)]
struct TasksByName;

/// A task file that is not a list.
#[derive(Debug)]
struct NotAList;

/// Explains a value of the wrong type.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    if finding.code() != Code::WrongType || !context.base.is_root() {
        return finding;
    }
    let is_mapping = |node: NodeRef<'_>| node.shape() == Shape::Mapping;
    if context.file == SpecFile::CLI_BENCH_TASKS {
        finding.explained(NotAList)
    } else if *finding.at() == Pointer::root().key(TASKS) && context.node.get(TASKS).is_some_and(is_mapping) {
        finding.explained(TasksByName)
    } else {
        finding
    }
}

/// Checks a whole task file.
pub(crate) fn check_task_file(root: &LintNode<'_>, report: &mut Report) {
    if let Some(tasks) = root.get(TASKS).filter(LintNode::is_list) {
        let finding = Finding::new(WrongType::Wrapped, root.at.clone(), tasks.head());
        report.push(finding.instead_of(Scope::In(root.at.clone())));
    }
}

/// Reports `- file_contains:` with its fields next to it instead of below it.
pub(crate) fn check_indentation(item: &LintNode<'_>, report: &mut Report) {
    let entries = item.entries();
    // Keys above the name cannot belong to it.
    let Some((name, owner)) = entries.first().filter(|(_, value)| value.node.is_null()) else { return };
    let Some(known) = asserted::fields_of(name) else { return };
    let fields: Vec<String> = entries.iter().map(|(key, _)| key.clone()).filter(|key| key != name).collect();
    if !fields.is_empty() && fields.iter().all(|key| known.contains(&key.as_str())) {
        let finding = owner.head_finding(WrongType::UnderIndented { name: name.clone(), fields });
        report.push(finding.instead_of(Scope::In(item.at.clone())));
    }
}

/// Checks the values in the `env` of a suite or a task.
pub(crate) fn check_environment(owner: &LintNode<'_>, report: &mut Report) {
    for (name, value) in owner.get("env").map(|env| env.entries()).unwrap_or_default() {
        match value.node.scalar() {
            // The schema reports that it is not a number.
            Some(Scalar::Float(number)) if number.is_nan() => {}
            Some(Scalar::Bool(_) | Scalar::Int(_) | Scalar::Float(_)) => {
                report.push(value.finding(WrongType::Variable(name)))
            }
            Some(Scalar::Text | Scalar::Timestamp | Scalar::Null) | None => {}
        }
    }
}

/// Checks the merge keys of every mapping below a node, except for the values of some keys.
pub(crate) fn check_merges(owner: &LintNode<'_>, without: &[&str], report: &mut Report) {
    if !owner.node.document().may_merge() {
        return;
    }
    each_merge(owner.node, &Way::Root, without, &mut |merge, at| {
        let is_mapping = |node: NodeRef<'_>| matches!(node.shape(), Shape::Mapping | Shape::Dangling);
        let is_list = merge.value.shape() == Shape::Sequence;
        let fits = is_mapping(merge.value) || (is_list && merge.value.items().all(is_mapping));
        if !fits {
            let at = owner.at.join(&at.pointer());
            let member = LintNode { node: merge.value, key: Some(merge.key), at };
            report.push(member.finding(WrongType::Merged { found: describe(member.node) }));
        }
    });
}

/// Visits the merge keys of every mapping below a node, except for the values of some keys.
fn each_merge<'d>(node: NodeRef<'d>, at: &Way<'_>, without: &[&str], visit: &mut impl FnMut(EntryRef<'d>, &Way<'_>)) {
    if node.alias().is_some() {
        return;
    }
    for (index, item) in node.items().enumerate() {
        each_merge(item, &Way::Item(at, index), &[], visit);
    }
    for entry in node.entries() {
        let key = entry.key.key_name();
        let below = Way::Entry(at, &key);
        if key == "<<" {
            visit(entry, &below);
        } else if !without.contains(&&*key) {
            each_merge(entry.value, &below, &[], visit);
        }
    }
}

impl Rule for WrongType {
    const CODE: Code = Code::WrongType;

    fn severity(&self) -> Severity {
        if matches!(self, WrongType::Variable(_)) { Severity::Warning } else { Self::SEVERITY }
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        match self {
            WrongType::Variable(name) => {
                let found = location.node().map(describe).unwrap_or_default();
                let written = location.node().and_then(|node| node.text()).unwrap_or_default();
                let quoted = serde_json::Value::from(written).to_string();
                MessageParts::new(format!("`{name}` is {found}"))
                    .note("the value of an environment variable is a string")
                    .remedy(format!("write `{quoted}`"), Fix::safe, location.node().and_then(edit::quote))
            }
            WrongType::Merged { found } => MessageParts::new(format!("expected a mapping for `<<`, found {found}"))
                .help("name the mapping to merge, as in `<<: *base`"),
            WrongType::UnderIndented { name, fields } => {
                let names = all_of(fields.iter().map(String::as_str));
                let (verb, object) = if fields.len() == 1 { ("belongs", "it") } else { ("belong", "them") };
                let help = format!("indent {object} more than `{name}`");
                let edits = location.parent().and_then(edit::indent_entries);
                MessageParts::new(format!("{names} {verb} to `{name}`")).remedy(help, Fix::safe, edits)
            }
            WrongType::Wrapped => {
                let help = "remove `tasks:`, and indent the list less";
                let alone = location.root.entry(TASKS).filter(|_| location.root.entries().nth(1).is_none());
                let edits = alone.and_then(edit::unwrap_list);
                MessageParts::new("expected a list of tasks, found a mapping").remedy(help, Fix::safe, edits)
            }
        }
    }
}

impl Explanation for TasksByName {
    fn message(&self, said: MessageParts, location: &Location<'_>) -> MessageParts {
        let words = MessageParts { fixes: Vec::new(), ..said };
        let Some((tasks, first)) = location.node().and_then(|tasks| Some((tasks, tasks.entries().next()?))) else {
            return words;
        };
        let fields = Definition::Item(SpecFile::CLI_BENCH, TASKS).shape().fields(None);
        if fields.iter().any(|field| first.key.text() == Some(field.name)) {
            return words.help("begin each task with `- `");
        }
        let help = format!("make each task a list item, as in `- id: {}`", first.key.key_text());
        words.remedy(help, Fix::guess, edit::items_with_ids(tasks))
    }
}

impl Explanation for NotAList {
    fn message(&self, said: MessageParts, _: &Location<'_>) -> MessageParts {
        MessageParts { fixes: Vec::new(), ..said }.help("begin each task with `- id: …`")
    }
}
