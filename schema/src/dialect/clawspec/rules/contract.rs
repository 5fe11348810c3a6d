//! A scenario contract and its scenarios: their names and actions, whether ClawSpec finds the contract, and whether it has
//! what its target needs, together with other contracts of the same target.

use std::{
    collections::HashSet,
    sync::{Arc, LazyLock},
};

use super::{assertions, unknown_type};
use crate::{
    dialect::clawspec::{
        assertions::log::ToolNotCalled, claim::AssertionType, coverage::has_negative, template::variable,
    },
    document::{Document, NodeRef, Pointer, ScalarRules, Shape},
    edit,
    files::{FileKind, Files, matches},
    finding::{MessageParts, Report, Scope},
    gateway::{
        config::Config,
        workspace::{self, settings},
    },
    json_schema::SpecFile,
    kind::target_of,
    lint_node::LintNode,
    problem::{Code, Edit, Fix, OtherFile, Severity},
    quoting::scalar,
    rules::placeholder::placeholder,
    shape::Field,
    template::trimmed_placeholders,
    validate::{Definition, is_damaged},
};

pub(super) fn check(root: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let siblings = siblings(root, files);
    check_names(root, &siblings, report);
    check_negative(root, &siblings, files, report);
    if workspace::is_placed(files) && root.get("scenarios").is_some() {
        check_discovery(root, files, report);
    }
    if root.find(&["target", "type"]).is_some_and(|kind| kind.text() == Some("agent")) {
        let scenarios = root.get("scenarios").map(|list| list.items()).unwrap_or_default();
        scenarios.iter().for_each(|scenario| check_params(scenario, report));
    }
}

/// Another contract of the same target.
struct Sibling {
    path: String,
    bytes: Arc<[u8]>,
    document: Document,
}

/// Maximum number of files to read per directory.
const MAX_FILES: usize = 100;

/// Finds the contracts of the same target, next to a contract and in the target's directory.
fn siblings(root: &LintNode<'_>, files: &dyn Files) -> Vec<Sibling> {
    let target = root.find(&["target", "path"]).filter(|_| workspace::is_placed(files));
    let Some(target) = target.as_ref().and_then(LintNode::text).filter(|target| !target.is_empty()) else {
        return Vec::new();
    };
    let patterns = workspace::scenario_patterns(files);
    let here = files.place().rsplit_once('/').map_or("", |(directory, _)| directory).to_owned();
    // Each directory is searched once, however the path is written.
    let there = workspace::below_root(target).map(|target| format!("{target}/tests"));
    let mut directories = vec![here];
    directories.extend(there.filter(|there| *there != directories[0]));
    let entries = directories.iter().flat_map(|directory| {
        let path = move |name| if directory.is_empty() { name } else { format!("{directory}/{name}") };
        files.list(directory).into_iter().take(MAX_FILES).map(move |(name, kind)| (path(name), kind))
    });
    let is_contract = |path: &str| path != files.place() && patterns.iter().any(|pattern| matches(pattern, path));
    let contracts = entries.filter(|(path, kind)| *kind == FileKind::File && is_contract(path));
    let read = |(path, _): (String, FileKind)| {
        let bytes = files.read(&path).ok()?;
        let text = std::str::from_utf8(&bytes).ok().filter(|text| text.contains(target))?;
        let document = Document::read(text, ScalarRules::Yaml11);
        let is_same = document.root()?.get("target")?.get("path")?.as_str() == Some(target);
        is_same.then_some(Sibling { path, bytes, document })
    };
    contracts.filter_map(read).collect()
}

/// Maximum number of locations to show in another contract.
const MAX_PLACES: usize = 10;

/// Returns the names of the scenarios of a contract, each with its number.
fn names(root: NodeRef<'_>) -> impl Iterator<Item = (usize, NodeRef<'_>)> {
    let scenarios = root.get("scenarios").into_iter().flat_map(NodeRef::items).enumerate();
    scenarios.filter_map(|(index, scenario)| Some((index, scenario.get("name")?)))
}

/// Reports scenarios of other contracts with the same names.
fn check_names(root: &LintNode<'_>, siblings: &[Sibling], report: &mut Report) {
    let Some(target) = root.find(&["target", "path"]).filter(|_| !siblings.is_empty()) else { return };
    let own: HashSet<&str> = names(root.node).filter_map(|(_, name)| name.as_str()).collect();
    for Sibling { path, bytes, document } in siblings {
        let shared = document.root().into_iter().flat_map(names);
        let is_own = |(_, name): &(usize, NodeRef<'_>)| name.as_str().is_some_and(|name| own.contains(name));
        let mut shared = shared.filter(is_own).take(MAX_PLACES).peekable();
        if shared.peek().is_none() {
            continue;
        }
        let words = MessageParts::new(format!("`{path}` has scenarios with the same names for the same target"))
            .note("ClawSpec gives their reports the same name and counts them together")
            .help("rename the scenarios of one of the two files");
        let finding = target.problem(Code::DuplicateName, words).with_severity(Severity::Warning);
        report.push(shared.fold(finding, |finding, (index, name)| {
            let file = OtherFile { path: path.clone(), bytes: Arc::clone(bytes) };
            let at = Pointer::root().key("scenarios").index(index).key("name");
            finding.with_other_file("the same name", file, at, name.range())
        }));
    }
}

/// Reports a contract that ClawSpec does not find, or finds twice.
fn check_discovery(root: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let patterns = workspace::scenario_patterns(files);
    let has_settings = files.kind(Config::FILE) == Some(FileKind::File);
    // Without settings, the directory in which ClawSpec is started is unknown.
    let is_found = |pattern: &String| {
        matches(pattern, files.place()) || !has_settings && matches(&format!("**/{pattern}"), files.place())
    };
    let found: Vec<&String> = patterns.iter().filter(|pattern| is_found(pattern)).collect();
    match found.as_slice() {
        [_] => {}
        // Outside of the tests of a target, without settings, it is a draft.
        [] if patterns.is_empty() || !has_settings && target_of(files.place()).is_none() => {}
        [] => {
            let renamed = files.place().rsplit_once('/').map(|(directory, _)| format!("{directory}/scenarios.yaml"));
            let free = renamed
                .filter(|path| files.kind(path).is_none() && patterns.iter().any(|pattern| matches(pattern, path)));
            let is_of_environment = files.scenario_patterns().is_some();
            let is_written = is_of_environment || settings(files).scenario_patterns.is_some();
            let pattern = match is_of_environment {
                true => format!("add a pattern for it to the variable `{}`", Config::PATTERNS_VARIABLE),
                false => format!("add a pattern for it to `scenario_patterns` in `{}`", Config::FILE),
            };
            let words = MessageParts::new("no scenario pattern matches this file")
                .note(match is_written {
                    true => "a run of the workspace skips it",
                    false => "`clawspec run` never finds it",
                })
                .help(match free {
                    Some(path) => format!("rename it to `{path}`, or {pattern}"),
                    None => pattern,
                });
            let finding = root.head_problem(Code::UpstreamDiffers, words);
            // speclens uses explicit patterns in the same way.
            report.push(if is_written { finding.with_severity(Severity::Warning) } else { finding });
        }
        [first, second, ..] => {
            let message = format!("both scenario patterns `{first}` and `{second}` match this file");
            let words = MessageParts::new(message).note("ClawSpec runs it twice");
            report.push(root.head_problem(Code::UpstreamDiffers, words));
        }
    }
}

/// Reports parameters of a scenario for an agent, to which only a message is sent.
fn check_params(scenario: &LintNode<'_>, report: &mut Report) {
    let params = scenario.find(&["when", "params"]).filter(|params| !params.is_empty() && !params.node.is_null());
    let spawns = scenario.find(&["when", "invoke"]).is_some_and(|invoke| invoke.text() == Some("sessions_spawn"));
    if let Some(params) = params.filter(|_| !spawns) {
        let words = MessageParts::new("`params` has no effect on agents")
            .note("only `invoke` is sent")
            .help("put what the agent must know into `invoke`");
        report.push(params.head_problem(Code::NoEffect, words));
    }
}

/// Words in the names of scenarios that test what a target must refuse.
const REFUSALS: [&str; 14] = [
    "negative", "refuse", "reject", "deny", "denie", "invalid", "missing", "fail", "forbid", "block", "unauth",
    "wrong", "error", "abort",
];

/// Reports a target without a scenario that is tagged `negative`, in this contract or another one.
fn check_negative(root: &LintNode<'_>, siblings: &[Sibling], files: &dyn Files, report: &mut Report) {
    let Some(scenarios) = root.get("scenarios").filter(|list| list.is_list() && !list.is_empty()) else { return };
    let items = scenarios.items();
    let tags: Vec<LintNode<'_>> = items.iter().filter_map(|scenario| scenario.get("tags")).collect();
    // Tags that are written as one string are reported separately.
    let is_negative = |tags: &LintNode<'_>| {
        tags.text().is_some_and(|text| text.contains("negative"))
            || tags.node.items().any(|tag| tag.as_str() == Some("negative"))
    };
    let is_there = tags.iter().any(is_negative) || siblings.iter().any(|it| has_negative(&it.document) == Some(true));
    if is_there || !root.node.document().is_intact() || is_damaged(root.node) {
        return;
    }
    let words = MessageParts::new("no scenario is tagged `negative`")
        .note("ClawSpec refuses to run this target, and every other target that is selected with it");
    let is_capital = |tag: &LintNode<'_>| tag.text().is_some_and(|text| text.eq_ignore_ascii_case("negative"));
    let words = match tags.iter().flat_map(LintNode::items).find(is_capital) {
        Some(tag) => {
            let help = format!("change the tag `{}` to `negative`", tag.text().unwrap_or_default());
            words.note("tags are case-sensitive in ClawSpec").remedy(help, Fix::guess, tag.replaced("negative"))
        }
        None => words
            .help("tag a scenario `negative`, or add a scenario with this tag")
            .fix(tagging(&items))
            .fix(new_negative(&scenarios, &items, files)),
    };
    report.push(scenarios.head_problem(Code::MissingNegative, words));
}

/// Returns the fixes that tag a scenario that seems to be negative.
fn tagging(scenarios: &[LintNode<'_>]) -> Vec<Fix> {
    let is_refusal = |scenario: &&LintNode<'_>| {
        let name = scenario.text_at("name").unwrap_or_default().to_lowercase();
        REFUSALS.iter().any(|word| name.contains(word))
    };
    let tagged = scenarios.iter().filter(is_refusal).take(3).enumerate().filter_map(|(index, scenario)| {
        let title = format!("tag `{}` with `negative`", scenario.text_at("name")?);
        let fix = if index == 0 { Fix::guess } else { Fix::suggestion };
        Some(fix(title, tag(scenario)?))
    });
    tagged.collect()
}

fn tag(scenario: &LintNode<'_>) -> Option<Vec<Edit>> {
    let Some(tags) = scenario.get("tags") else {
        return scenario.with_behind("name", &[("tags", "[negative]".to_owned())]);
    };
    if tags.node.shape() == Shape::Sequence { edit::item_at_end(tags.node, "negative") } else { None }
}

fn new_negative(scenarios: &LintNode<'_>, items: &[LintNode<'_>], files: &dyn Files) -> Option<Fix> {
    let is_taken = items.iter().any(|item| item.text_at("name") == Some("refuses"));
    let lines = negative_scenario(&settings(files).log_path());
    let edits = edit::lines_at_end(scenarios.node, &lines).filter(|_| !is_taken)?;
    Some(Fix::suggestion("add a scenario tagged `negative`", edits))
}

/// Returns the lines of a scenario that tests what a target must refuse. The only observable sign of a refusal is that a
/// tool is not called.
pub(crate) fn negative_scenario(log_path: &str) -> [String; 9] {
    [
        "- name: refuses".to_owned(),
        "  tags: [negative]".to_owned(),
        "  when:".to_owned(),
        format!("    invoke: {}", placeholder("a request that the target must refuse")),
        "  then:".to_owned(),
        format!("    - type: {}", ToolNotCalled::NAME),
        format!("      tool: {}", placeholder("the name of the tool that the target must not call")),
        format!("      log_path: {}", scalar(log_path)),
        format!("      run_id: {}", scalar("{{run_id}}")),
    ]
}

pub(super) fn fields() -> &'static [Field] {
    static FIELDS: LazyLock<Vec<Field>> =
        LazyLock::new(|| Definition::Item(SpecFile::CLAWSPEC_SCENARIOS, "scenarios").shape().fields(None));
    &FIELDS
}

pub(crate) fn check_scenario(scenario: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let name = scenario.get("name");
    let placeholders = name.as_ref().and_then(LintNode::text).map(trimmed_placeholders).unwrap_or_default();
    if let Some((name, found)) = name.zip(placeholders.iter().find(|found| variable(found.name).is_some())) {
        let words = MessageParts::new("the name of a scenario cannot contain a template variable")
            .note("ClawSpec cannot find the scenario by its expanded name")
            .help("write the name without template variables");
        report.push(name.part_problem(found.text, Code::TemplateInName, words));
    }
    if let Some(when) = scenario.get("when").filter(LintNode::is_list) {
        let words = MessageParts::new("expected a mapping for `when`, found a list")
            .help("write one action, `when: { invoke, params }`, and move every other action to a scenario of its own")
            .fix(only_action(&when));
        report.push(when.head_problem(Code::WrongType, words).instead_of(Scope::At(when.at.clone())));
    }
    for field in fields().iter().filter(|field| ["given", "then"].contains(&field.name)) {
        assertions::check(scenario.node, scenario.get(field.name), files, report);
        // Until the key is renamed, only the types of the assertions are checked.
        for list in field.shape.other_names().iter().filter_map(|other| scenario.get(other.name)) {
            list.items().iter().for_each(|assertion| unknown_type::check_type(scenario.node, assertion, report));
        }
    }
}

/// Returns the fix that converts a list with one action to a mapping.
fn only_action(when: &LintNode<'_>) -> Option<Fix> {
    let items = when.items();
    let [only] = items.as_slice() else { return None };
    let (text, invoke) = (only.text(), only.get("invoke"));
    // Other keys of the mapping would be lost.
    if text.is_none() && only.entries().len() != 1 {
        return None;
    }
    let invoke = invoke.or_else(|| text.map(|_| only.clone()))?;
    let line = format!("invoke: {}", edit::words(invoke.node)?);
    let edits = edit::mapping_of_item(when.entry()?, &line, invoke.node)?;
    let is_sure = edit::nodes::is_flow(when.node) || text.is_none_or(|text| text.starts_with('/'));
    let fix = if is_sure { Fix::safe } else { Fix::guess };
    Some(fix(format!("write `{{ {line} }}`"), edits))
}
