//! What a schema cannot say about scripts: turns that do nothing or are never played, expectations of nothing, answers that
//! are never given, and tests that the suite does not have.

use std::collections::HashSet;

use crate::{
    dialect::cli_bench::task_files::Target,
    document::{Document, NodeRef, Shape},
    files::Files,
    json_schema::SpecFile,
    problem::{Code, Fix, Problem, Severity},
    spot::Spot,
    validate::{is_damaged, rename_title},
    words::Search,
};

/// The cli-bench suite that a script belongs to.
struct Suite {
    /// The path of its main file.
    path: String,
    /// The ids of its tasks.
    ids: HashSet<String>,
    /// Whether its `providers` name the script.
    is_named: bool,
}

/// What is wrong in a script. Pointers and ranges are absolute.
pub(crate) fn lint(root: NodeRef<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let root = Spot::root(root);
    if !root.is_mapping() {
        return;
    }
    let suite = suite_of(files);
    let tasks = root.get("tasks").filter(Spot::is_mapping).map(|tasks| tasks.entries()).unwrap_or_default();
    if let Some(suite) = &suite {
        lint_ids(&tasks, suite, problems);
    }
    for (id, turns) in &tasks {
        lint_turns(turns, suite.as_ref().is_some_and(|suite| suite.ids.contains(id)), problems);
    }
    if let Some(turns) = root.get("default") {
        lint_turns(&turns, suite.is_some(), problems);
    }
    if let Some(answers) = root.get("answers").filter(Spot::is_list) {
        lint_answers(&answers, problems);
    }
}

/// Tests that the suite does not have.
fn lint_ids(tasks: &[(String, Spot<'_>)], suite: &Suite, problems: &mut Vec<Problem>) {
    let mut search = Search::default();
    for (id, turns) in tasks.iter().filter(|(id, _)| !suite.ids.contains(id)) {
        let severity = if suite.is_named { Severity::Warning } else { Severity::Hint };
        let mut problem = turns
            .head_problem(Code::UnknownReference, format!("unknown task `{id}`"))
            .with_severity(severity)
            .with_note(format!("`{}` has no task with this id", suite.path));
        let free = suite.ids.iter().map(String::as_str).filter(|known| !tasks.iter().any(|(id, _)| id == known));
        let mut free: Vec<&str> = free.collect();
        free.sort_unstable();
        if let Some(near) = search.nearest(id, free) {
            problem = problem.with_help(rename_title(near));
            problem.fixes.extend(turns.renamed(near).map(|edits| Fix::guess(rename_title(near), edits)));
        }
        problems.push(problem);
    }
}

/// The turns of one test. `is_task`: it is a task of cli-bench, which ends as soon as the model calls nothing.
fn lint_turns(turns: &Spot<'_>, is_task: bool, problems: &mut Vec<Problem>) {
    if !turns.is_list() {
        return;
    }
    let mut last: Option<Spot<'_>> = None;
    for turn in turns.items().into_iter().filter(Spot::is_mapping) {
        if let Some(last) = &last {
            let problem =
                turn.head_problem(Code::NoEffect, "this turn is never played").with_severity(Severity::Warning);
            let ends = if last.get("fail").is_some() { "breaks" } else { "ends" };
            let problem = problem.with_note(format!("an earlier turn {ends} the task"));
            problems.push(problem.with_related("it ends here", last.at.clone(), last.head()));
            return;
        }
        lint_turn(&turn, problems);
        let keys: Vec<String> = turn.entries().into_iter().map(|(key, _)| key).collect();
        let has = |key: &str| keys.iter().any(|known| known == key);
        // A key that is not one of a turn is nearly one perhaps.
        let only_speaks = has("say") && keys.iter().all(|key| ["say", "expect", "usage"].contains(&key.as_str()));
        if has("fail") || is_task && only_speaks && !is_damaged(turn.node) {
            last = Some(turn);
        }
    }
}

fn lint_turn(turn: &Spot<'_>, problems: &mut Vec<Problem>) {
    if is_damaged(turn.node) {
        return;
    }
    let (run, call) = (turn.get("run"), turn.get("call"));
    if let Some(fail) = turn.get("fail") {
        lint_failure(turn, &fail, &["say", "run", "call", "expect", "usage"], problems);
        return;
    }
    // What is nearly a key of a turn is reported there.
    let is_known = |key: &str| ["expect", "usage"].contains(&key);
    if turn.entries().iter().all(|(key, _)| is_known(key)) {
        let problem = turn.head_problem(Code::NoEffect, "this turn does nothing").with_severity(Severity::Warning);
        let problem = problem.with_note("the model says nothing, which ends the task");
        problems.push(problem.with_help("add `say` or `run`, or remove the turn"));
        return;
    }
    let Some(expect) = turn.get("expect") else { return };
    if run.is_none() && call.is_none() {
        let problem = expect.head_problem(Code::NoEffect, "`expect` has no effect in a turn that runs nothing");
        problems.push(problem.with_severity(Severity::Warning).with_help("move it to the turn that runs the command"));
        return;
    }
    // The last thing that a turn does is its call.
    for key in ["exit_code", "error_contains"] {
        if let Some(field) = expect.get(key).filter(|_| call.is_some()) {
            let problem = field.head_problem(Code::NoEffect, format!("`{key}` has no effect in a turn with a `call`"));
            let problem = problem.with_severity(Severity::Warning);
            problems
                .push(problem.with_note("only the result of the call is looked at").with_help("use `output_contains`"));
        }
    }
}

/// A failure, and what is beside it for nothing.
fn lint_failure(owner: &Spot<'_>, fail: &Spot<'_>, others: &[&str], problems: &mut Vec<Problem>) {
    for key in others {
        let Some(other) = owner.get(key) else { continue };
        let problem = other.head_problem(Code::NoEffect, format!("`{key}` has no effect beside `fail`"));
        let problem = problem.with_severity(Severity::Warning).with_note("the request breaks before it is answered");
        problems.push(problem.with_help("remove one of the two").with_related(
            "it fails here",
            fail.at.clone(),
            fail.head(),
        ));
    }
}

/// Answers: each says something, and is given at times.
fn lint_answers(answers: &Spot<'_>, problems: &mut Vec<Problem>) {
    let mut seen: Vec<(&str, Spot<'_>)> = Vec::new();
    for answer in answers.items().into_iter().filter(|answer| answer.is_mapping() && !is_damaged(answer.node)) {
        match (answer.get("say"), answer.get("fail")) {
            (_, Some(fail)) => lint_failure(&answer, &fail, &["say", "usage"], problems),
            (None, None) => {
                let problem = answer.head_problem(Code::MissingField, "missing `say`");
                problems.push(problem.with_help("add `say`, or `fail` for a request that breaks"));
            }
            (Some(_), None) => {}
        }
        let Some(asked) = answer.get("asked") else { continue };
        let Some(text) = asked.text().filter(|text| !text.is_empty()) else { continue };
        if let Some((earlier, first)) = seen.iter().find(|(earlier, _)| text.contains(earlier)) {
            let message = "this answer is never given";
            let note = match *earlier == text {
                true => "an earlier answer is for the same text".to_owned(),
                false => format!("an earlier answer is for every question with `{earlier}`"),
            };
            let help = if *earlier == text { "remove one of the two" } else { "move it before the other" };
            let problem = asked.problem(Code::Collision, message).with_note(note).with_help(help);
            problems.push(problem.with_related("the earlier one", first.at.clone(), first.range()));
        }
        seen.push((text, asked));
    }
}

/// The suite that a script belongs to, where all of its tasks can be read. KindLM suites may use a script as well, so none
/// is known beside one.
fn suite_of(files: &dyn Files) -> Option<Suite> {
    let path = files.main()?.to_owned();
    if ["kindlm.yaml", "kindlm.yml"].into_iter().any(|name| files.kind(name).is_some()) {
        return None;
    }
    let main = document(&files.read(&path).ok()?)?;
    let root = main.root()?;
    let mut ids = HashSet::new();
    for item in root.get("tasks")?.items() {
        if item.shape() == Shape::Mapping {
            ids.insert(item.get("id")?.as_str()?.to_owned());
            continue;
        }
        let found = match Target::of(item.as_str()?, files)? {
            Target::Files(found) => found,
            Target::NoMatch { cut: false } => Vec::new(),
            Target::NoMatch { cut: true }
            | Target::Missing(_)
            | Target::NoFile(_)
            | Target::Outside(_)
            | Target::Nowhere => return None,
        };
        for path in found {
            let tasks = document(&files.read_named(&path).ok()?)?;
            let named = tasks.root().into_iter().flat_map(NodeRef::items).filter_map(|task| task.get("id")?.as_str());
            ids.extend(named.map(str::to_owned));
        }
    }
    let id = super::id_of(files.place());
    let providers = root.get("providers").into_iter().flat_map(NodeRef::items);
    let is_named = providers.filter_map(NodeRef::as_str).any(|item| Some(item) == id.as_deref());
    Some(Suite { path, ids, is_named })
}

fn document(bytes: &[u8]) -> Option<Document> {
    let document = Document::read(std::str::from_utf8(bytes).ok()?, SpecFile::CliBench.scalar_rules());
    document.is_intact().then_some(document)
}
