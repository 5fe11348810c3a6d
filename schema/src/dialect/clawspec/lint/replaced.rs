//! What the `assertions` of a handoff contract switch off: ClawSpec derives checks from the rest of the contract only where
//! the block is absent or empty.

use crate::{
    dialect::clawspec::lower::settings,
    edit,
    files::Files,
    problem::{Code, Edit, Fix, Problem},
    shape::scalar,
    spot::Spot,
    template::trimmed_placeholders,
};

/// What happens to each of them.
const NOTE: &str = "ClawSpec derives no check from the rest of a contract that has `assertions`";

/// The assertions that are written, and what they are to cover.
struct Written<'d> {
    before: Option<Spot<'d>>,
    after: Option<Spot<'d>>,
    log_path: String,
}

impl<'d> Written<'d> {
    fn all(&self) -> impl Iterator<Item = Spot<'d>> {
        [&self.before, &self.after].into_iter().flatten().flat_map(|list| list.items())
    }

    /// The assertions of these types.
    fn of_type(&self, types: &[&str]) -> Vec<Spot<'d>> {
        self.all().filter(|claim| text(claim, "type").is_some_and(|kind| types.contains(&kind.as_str()))).collect()
    }

    /// The edits that add an assertion; the log and the run go with those that look into the log.
    fn add(&self, is_before: bool, members: &[(&str, String)]) -> Option<Vec<Edit>> {
        let list = if is_before { self.before.as_ref().or(self.after.as_ref()) } else { self.after.as_ref() };
        let line = |(index, (name, value)): (usize, &(&str, String))| {
            let margin = if index == 0 { "- " } else { "  " };
            format!("{margin}{name}: {value}")
        };
        let lines: Vec<String> = members.iter().enumerate().map(line).collect();
        edit::lines_at_end(list.filter(|list| !list.is_empty())?.node, &lines)
    }

    fn log_members(&self, run: &str) -> [(&'static str, String); 2] {
        [("log_path", scalar(&self.log_path)), ("run_id", scalar(run))]
    }
}

fn text(spot: &Spot<'_>, key: &str) -> Option<String> {
    spot.get(key)?.text().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// A problem with what nothing checks any more.
fn unchecked(spot: &Spot<'_>, message: String, help: &str, edits: Option<Vec<Edit>>) -> Problem {
    let problem = spot.problem(Code::Unchecked, message).with_note(NOTE).with_help(help);
    match edits {
        Some(edits) => problem.with_fix(Fix::guess(help, edits)),
        None => problem,
    }
}

pub(super) fn lint(root: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let Some(claims) = root.get("assertions") else { return };
    let list = |key: &str| claims.get(key).filter(Spot::is_list);
    let log_path = settings(files).log_path();
    let written = Written { before: list("pre_delegation"), after: list("post_delegation"), log_path };
    if written.all().next().is_none() {
        return;
    }
    lint_delegation(root, &written, problems);
    let produces = |key: &str| root.find(&["callee_produces", key]).map(|list| list.items()).unwrap_or_default();
    for artifact in produces("required_artifacts") {
        lint_artifact(&artifact, &written, problems);
    }
    for tool in produces("prohibited_actions").iter().filter_map(|action| action.get("tool")) {
        lint_tool(&tool, &written, problems);
    }
}

fn lint_delegation(root: &Spot<'_>, written: &Written<'_>, problems: &mut Vec<Problem>) {
    let (Some(from), Some(to)) = (root.find(&["handoff", "from"]), root.find(&["handoff", "to"])) else { return };
    let (Some(caller), Some(callee)) = (from.text(), to.text()) else { return };
    if !written.of_type(&["delegation_occurred", "delegation_path", "decision_routed_to"]).is_empty() {
        return;
    }
    let mut members =
        vec![("type", "delegation_occurred".to_owned()), ("from_agent", scalar(caller)), ("to_agent", scalar(callee))];
    members.extend(written.log_members("{{run_id}}"));
    let message = format!("nothing checks that `{caller}` delegates to `{callee}`");
    problems.push(unchecked(&to, message, "add a `delegation_occurred`", written.add(true, &members)));
}

fn lint_artifact(artifact: &Spot<'_>, written: &Written<'_>, problems: &mut Vec<Problem>) {
    let Some(pattern) = artifact.get("path_pattern") else { return };
    let Some(path) = pattern.text().filter(|path| !path.trim().is_empty()) else { return };
    let looks: Vec<Spot<'_>> = written
        .all()
        .filter(|claim| ["path", "output_path", "state_path"].iter().any(|key| is_same(&text(claim, key), path)))
        .collect();
    let members = |kind: &str| vec![("type", kind.to_owned()), ("path", scalar(path))];
    let sections = artifact.get("required_sections").map(|list| list.texts()).unwrap_or_default();
    let is_covered = |section: &str| {
        looks.iter().any(|claim| {
            let listed = claim.get("sections").map(|list| list.texts()).unwrap_or_default();
            listed.iter().any(|(name, _)| *name == section)
                || text(claim, "pattern").is_some_and(|pattern| pattern.contains(section))
        })
    };
    // One with its `#` marks is another problem.
    let missing: Vec<&(&str, Spot<'_>)> =
        sections.iter().filter(|(name, _)| !name.starts_with('#') && !is_covered(name)).collect();
    let Some((name, first)) = missing.first() else {
        if looks.is_empty() {
            let message = format!("nothing checks that `{path}` is produced");
            let edits = written.add(false, &members("artifact_exists"));
            problems.push(unchecked(&pattern, message, "add an `artifact_exists`", edits));
        }
        return;
    };
    let names: Vec<String> = missing.iter().map(|(name, _)| scalar(name)).collect();
    let list = looks.iter().find_map(|claim| claim.get("sections").filter(|list| !list.is_empty()));
    let (help, edits) = match list {
        // One by one: each takes the last place of the list.
        Some(list) if missing.len() == 1 => ("add it to `sections`", edit::item_at_end(list.node, &names[0])),
        Some(_) => ("add them to `sections`", None),
        None => {
            let mut members = members("artifact_contains");
            members.push(("sections", format!("[{}]", names.join(", "))));
            ("add an `artifact_contains`", written.add(false, &members))
        }
    };
    let message = match missing.as_slice() {
        [_] => format!("nothing checks the section `{name}`"),
        _ => format!("nothing checks the sections {}", words_of(&missing)),
    };
    let mut problem = unchecked(first, message, help, edits);
    for (name, section) in missing.iter().skip(1) {
        problem = problem.with_related(format!("nor `{name}`"), section.at.clone(), section.range());
    }
    problems.push(problem);
}

fn words_of(sections: &[&(&str, Spot<'_>)]) -> String {
    let names: Vec<String> = sections.iter().map(|(name, _)| format!("`{name}`")).collect();
    let (last, first) = names.split_last().map_or(("", &[][..]), |(last, first)| (last, first));
    format!("{} and {last}", first.join(", "))
}

/// Whether a path is the one that the contract names, whatever its variables and wildcards are.
fn is_same(path: &Option<String>, named: &str) -> bool {
    let bare = |path: &str| {
        let filled = trimmed_placeholders(path).iter().fold(path.to_owned(), |path, it| path.replace(it.text, "*"));
        filled.trim_start_matches("*/").trim_start_matches("./").to_owned()
    };
    path.as_deref().is_some_and(|path| path == named || bare(path) == bare(named))
}

fn lint_tool(tool: &Spot<'_>, written: &Written<'_>, problems: &mut Vec<Problem>) {
    let is_exact = |name: &&str| !name.is_empty() && !name.contains(['*', '{']);
    let Some(name) = tool.text().filter(is_exact) else { return };
    let is_denied = |claim: &Spot<'_>| match text(claim, "type").as_deref() {
        Some("tool_not_called" | "tool_not_invoked") => text(claim, "tool").as_deref() == Some(name),
        Some("tool_not_permitted") => true,
        _ => false,
    };
    if written.after.as_ref().is_some_and(|list| list.items().iter().any(is_denied)) {
        return;
    }
    let mut members = vec![("type", "tool_not_called".to_owned()), ("tool", scalar(name))];
    members.extend(written.log_members("{{callee_run_id}}"));
    let message = format!("nothing checks that `{name}` is not called");
    let help = "add a `tool_not_called` to `post_delegation`";
    problems.push(unchecked(tool, message, help, written.add(false, &members)));
}
