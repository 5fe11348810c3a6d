//! What lies between scenarios, and between stages: names, the negative scenario, handoff contracts.

use std::{ops::Range, sync::Arc};

use rustc_hash::FxHashMap;

use crate::{
    dialect::{
        ScalarRules,
        clawspec::{config::Config, lower::settings, pipeline::handoff_base},
    },
    document::{Document, Pointer},
    files::{FileKind, Files, matches},
    kind::target_of,
    new_file::{self, Template},
    problem::{Code, Fix, OtherFile, Problem, Severity, Subject},
    shape::scalar,
    spot::Spot,
    validate::is_damaged,
    words::nearest_file,
};

use super::{
    ItemFacts, Named,
    agents::{self, Standing},
    effect, files as paths, negative, pipeline, siblings, stale,
};

type Items<'a> = [(usize, &'a ItemFacts)];

pub(super) fn absolute(named: &Named, list: &str, index: usize, start: usize) -> (Pointer, Range<usize>) {
    let at = Pointer::root().key(list).index(index).join(&named.at);
    (at, named.range.start + start..named.range.end + start)
}

fn lint_names(items: &Items<'_>, list: &str, what: &str, problems: &mut Vec<Problem>) {
    // Where a name stands is made out only when there is something to say.
    let mut first: FxHashMap<&str, (usize, usize, &Named)> = FxHashMap::default();
    first.reserve(items.len());
    for (index, (start, facts)) in items.iter().enumerate() {
        let Some(name) = facts.name.as_ref().filter(|name| !name.name.is_empty()) else { continue };
        match first.get(name.name.as_str()) {
            Some((first_index, first_start, first)) => {
                let (at, range) = absolute(name, list, index, *start);
                let (first_at, first_range) = absolute(first, list, *first_index, *first_start);
                let message = format!("duplicate {what} name `{}`", name.name);
                let problem = Problem::new(Code::DuplicateName, at, range, message)
                    .with_note("only one of them is found by its name")
                    .with_subject(Subject::Name(name.name.clone()));
                problems.push(problem.with_related("first named here", first_at, first_range));
            }
            None => {
                first.insert(&name.name, (index, *start, name));
            }
        }
    }
}

/// The patterns by which ClawSpec finds contracts: those of the environment, else of the settings, else its own.
pub(super) fn patterns(files: &dyn Files) -> Vec<String> {
    settings(files).scenario_patterns(files.scenario_patterns())
}

/// A contract that ClawSpec does not find, or finds twice.
fn lint_discovery(root: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    if !paths::is_placed(files) || root.get("scenarios").is_none() {
        return;
    }
    let written = files.scenario_patterns().or_else(|| settings(files).scenario_patterns);
    let patterns = patterns(files);
    let has_settings = files.kind(Config::FILE) == Some(FileKind::File);
    // Without settings, the directory in which ClawSpec is started is not known.
    let is_found = |pattern: &String| {
        matches(pattern, files.place()) || !has_settings && matches(&format!("**/{pattern}"), files.place())
    };
    let found: Vec<&String> = patterns.iter().filter(|pattern| is_found(pattern)).collect();
    problems.push(match found.as_slice() {
        [_] => return,
        // Outside of the tests of a target, without settings, it is a draft.
        [] if patterns.is_empty() || !has_settings && target_of(files.place()).is_none() => return,
        [] => {
            let renamed = files.place().rsplit_once('/').map(|(directory, _)| format!("{directory}/scenarios.yaml"));
            let free = renamed
                .filter(|path| files.kind(path).is_none() && patterns.iter().any(|pattern| matches(pattern, path)));
            let pattern = match files.scenario_patterns() {
                Some(_) => format!("add a pattern for it to the variable `{}`", Config::PATTERNS_VARIABLE),
                None => format!("add a pattern for it to `scenario_patterns` in `{}`", Config::FILE),
            };
            let problem = root.head_problem(Code::UpstreamDiffers, "no scenario pattern matches this file");
            // Of patterns that somebody wrote, speclens makes the same.
            let problem = match written {
                Some(_) => problem.with_severity(Severity::Warning).with_note("a run of the workspace leaves it out"),
                None => problem.with_note("`clawspec run` never finds it"),
            };
            problem.with_help(match free {
                Some(path) => format!("rename it to `{path}`, or {pattern}"),
                None => pattern,
            })
        }
        [first, second, ..] => {
            let message = format!("both scenario patterns `{first}` and `{second}` match this file");
            root.head_problem(Code::UpstreamDiffers, message).with_note("ClawSpec runs it twice")
        }
    });
}

/// An agent is sent a text and nothing else.
fn lint_params(root: &Spot<'_>, items: &Items<'_>, problems: &mut Vec<Problem>) {
    if root.find(&["target", "type"]).is_none_or(|kind| kind.text() != Some("agent")) {
        return;
    }
    for (index, (start, facts)) in items.iter().enumerate() {
        let Some(params) = &facts.params else { continue };
        let (at, range) = absolute(&params.place, "scenarios", index, *start);
        problems.push(if params.is_task {
            Problem::new(Code::WrongType, at, range, "what is sent to an agent must be text: put it in quotes")
        } else {
            let message = "`params` is ignored for agents: only `invoke` is sent";
            Problem::new(Code::NoEffect, at, range, message).with_help("put what the agent must know into `invoke`")
        });
    }
}

pub(super) fn lint_scenarios(root: &Spot<'_>, items: &Items<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    lint_names(items, "scenarios", "scenario", problems);
    let siblings = siblings::of_target(root, files);
    siblings::lint_names(root, items, &siblings, problems);
    stale::lint(items, problems);
    lint_discovery(root, files, problems);
    lint_params(root, items, problems);
    effect::lint_defaults(root, items, problems);
    let Some(scenarios) = root.get("scenarios").filter(|list| list.is_list() && !list.is_empty()) else { return };
    if items.iter().any(|(_, facts)| facts.negative) || !root.node.document().is_intact() || is_damaged(root.node) {
        return;
    }
    if siblings.iter().any(siblings::Sibling::has_negative) {
        return;
    }
    let mut problem = scenarios
        .head_problem(Code::MissingNegative, "no scenario is tagged `negative`")
        .with_note("ClawSpec refuses to run a target without one, and every other target that is selected with it");
    problem.fixes = negative::cures(&scenarios, files);
    if let Some(tag) = negative::capital(&scenarios) {
        let written = tag.text().unwrap_or_default();
        let help = format!("change the tag `{written}` to `negative`: ClawSpec compares capitals, too");
        let edits = tag.replaced("negative".to_owned());
        problem.fixes = edits.map(|edits| Fix::guess(help.clone(), edits)).into_iter().collect();
        problem = problem.with_help(help);
    }
    problems.push(problem);
}

/// What is wrong with a stage that names a file as its handoff contract; a file that cannot be read tells its own
/// mistakes.
fn lint_contract(
    path: &str,
    (at, range): (Pointer, Range<usize>),
    stage: &Stage<'_>,
    files: &dyn Files,
) -> Option<Problem> {
    let bytes = files.read(path).ok()?;
    let document = Document::read(std::str::from_utf8(&bytes).ok()?, ScalarRules::Yaml11);
    if !document.is_intact() {
        return None;
    }
    let root = document.root().map(Spot::root);
    let Some(handoff) = root.and_then(|root| root.get("handoff")) else {
        let message = format!("`{path}` is not a handoff contract: it has no `handoff`");
        return Some(Problem::new(Code::MissingFile, at, range, message));
    };
    let (agent, to) = (stage.facts.agent.as_ref()?, handoff.get("to")?);
    let (own, other) = (agent.name.as_str(), to.text()?);
    let is_settled = [own, other].iter().all(|name| !name.trim().is_empty() && !name.contains("{{"));
    let is_misspelt = |name: &str| matches!(agents::standing(name, files), Standing::Misspelt(_));
    // A slip of the keys is reported where it is.
    if !is_settled || agents::is_same(own, other) || is_misspelt(own) || is_misspelt(other) {
        return None;
    }
    let (at, range) = absolute(agent, "stages", stage.index, stage.start);
    let message = format!("the agent of the stage is `{own}`, and its contract hands over to `{other}`");
    let help = format!("change it to `{other}`");
    let file = OtherFile { path: path.to_owned(), bytes: Arc::clone(&bytes) };
    let said = format!("hands over to `{other}`");
    let problem = Problem::new(Code::Contradiction, at.clone(), range, message);
    let mut problem = problem.with_related_in(file, said, to.at.clone(), to.range()).with_help(&help);
    let written = stage.root.node.find(&at).map(|node| Spot { node, key: None, at });
    if let Some(edits) = written.and_then(|written| written.replaced(scalar(other))) {
        problem = problem.with_fix(Fix::guess(help, edits));
    }
    Some(problem)
}

/// A stage, and where it is.
struct Stage<'s> {
    root: &'s Spot<'s>,
    facts: &'s ItemFacts,
    index: usize,
    start: usize,
}

pub(super) fn lint_stages(root: &Spot<'_>, items: &Items<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    lint_names(items, "stages", "stage", problems);
    if !paths::is_placed(files) {
        return;
    }
    let base = handoff_base(files.place());
    for (index, (start, facts)) in items.iter().enumerate() {
        let Some(handoff) = facts.handoff.as_ref().filter(|handoff| !handoff.name.is_empty()) else { continue };
        let (at, range) = absolute(handoff, "stages", index, *start);
        let Some((wanted, kind)) = pipeline::handoff_kind(base, &handoff.name, files) else {
            if handoff.name.contains(['*', '?', '{']) {
                let message = format!("`{}` is taken literally", handoff.name);
                let problem = Problem::new(Code::MissingFile, at, range, message);
                problems.push(problem.with_help("name one file, without templates and wildcards"));
            }
            continue;
        };
        if kind == Some(FileKind::File) {
            let stage = Stage { root, facts, index, start: *start };
            problems.extend(lint_contract(&wanted, (at, range), &stage, files));
            continue;
        }
        let (directory, name) = wanted.rsplit_once('/').unwrap_or(("", &wanted));
        let names: Vec<String> = files.list(directory).into_iter().map(|(name, _)| name).collect();
        let near = nearest_file(name, names.iter().map(String::as_str));
        let path = near.map(|near| format!("{}{near}", handoff.name.strip_suffix(name).unwrap_or_default()));
        let written = root.node.find(&at).map(|node| Spot { node, key: None, at: at.clone() });
        let mut problem = Problem::new(Code::MissingFile, at, range, format!("`{wanted}` does not exist"));
        match path {
            Some(path) => {
                let help = format!("change it to `{path}`");
                let edits = written.and_then(|written| written.replaced(scalar(&path)));
                problem.fixes.extend(edits.map(|edits| Fix::guess(&help, edits)));
                problem.help = Some(help);
            }
            None => problem.note = Some("the path is relative to the directory of the skill".to_owned()),
        }
        problem.fixes.extend(new_file::creation(&wanted, Template::Handoff, files));
        problems.push(problem);
    }
}
