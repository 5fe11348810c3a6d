//! What a schema cannot say about scripted gateways: runs that are never played, steps without effect, agents that have no
//! run, paths that lead out of the workspace, and names that nothing fills.

use serde_json::Value;

use super::FILLING;
use crate::{
    document::{NodeRef, Step},
    files,
    json_schema::SpecFile,
    problem::{Code, Fix, Problem, Severity},
    shape::{Shape, scalar},
    spot::Spot,
    template::{
        lint::{half_written, unknown},
        trimmed_placeholders,
    },
    validate::{is_damaged, rename_title},
    words::nearest,
};

/// What is wrong in a scripted gateway.
pub(crate) fn lint(root: NodeRef<'_>, problems: &mut Vec<Problem>) {
    let root = Spot::root(root);
    if !root.is_mapping() {
        return;
    }
    lint_texts(&root, &Shape::of(SpecFile::Gateway), problems);
    if let Some(path) = root.find(&["log", "path"]) {
        lint_path(&path, problems);
    }
    let runs: Vec<Spot<'_>> = root.get("runs").filter(Spot::is_list).map(|runs| runs.items()).unwrap_or_default();
    let runs: Vec<Spot<'_>> = runs.into_iter().filter(|run| run.is_mapping() && !is_damaged(run.node)).collect();
    lint_order(&runs, problems);
    let agents: Vec<&str> = runs.iter().filter_map(|run| run.find(&["when", "agent"])?.node.as_str()).collect();
    for run in &runs {
        if let Some(skill) = run.find(&["when", "skill"]) {
            lint_skill(&skill, problems);
        }
        lint_steps(run, &agents, problems);
    }
    if let Some(scores) = root.get("scores").filter(Spot::is_list) {
        lint_scores(&scores, problems);
    }
}

/// A skill that is not named by its command.
fn lint_skill(skill: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(text) = skill.text().filter(|text| !text.is_empty() && !text.starts_with('/')) else { return };
    let problem = skill.problem(Code::InvalidValue, format!("`{text}` is not a slash command"));
    let help = format!("change it to `/{text}`");
    let mut problem = problem.with_note("the webhook is asked for a command such as `/daily-brief`").with_help(&help);
    let edits = skill.replaced(scalar(&format!("/{text}"))).filter(|_| !text.contains(char::is_whitespace));
    problem.fixes.extend(edits.map(|edits| Fix::guess(help, edits)));
    problems.push(problem);
}

/// Runs that an earlier one hides.
fn lint_order(runs: &[Spot<'_>], problems: &mut Vec<Problem>) {
    let conditions: Vec<(Spot<'_>, Conditions<'_>)> = runs
        .iter()
        .filter_map(|run| {
            let when = run.get("when").filter(|when| when.is_mapping() && !is_damaged(when.node))?;
            let conditions = Conditions::of(&when)?;
            Some((when, conditions))
        })
        .collect();
    for (index, (when, wanted)) in conditions.iter().enumerate() {
        let Some((first, _)) = conditions[..index].iter().find(|(_, earlier)| earlier.holds_with(wanted)) else {
            continue;
        };
        let problem = when.head_problem(Code::Collision, "this run is never played");
        let problem = problem.with_note("an earlier run has the same conditions, or fewer");
        let problem = problem.with_help("move it before the other, or remove one of the two");
        problems.push(problem.with_related("the earlier one", first.at.clone(), first.head()));
    }
}

/// The conditions of a run, as they are written.
struct Conditions<'d> {
    skill: Option<&'d str>,
    agent: Option<&'d str>,
    says: &'d str,
    params: Vec<(String, Value)>,
}

impl<'d> Conditions<'d> {
    /// `None` where they cannot be compared.
    fn of(when: &Spot<'d>) -> Option<Conditions<'d>> {
        let text = |key: &str| match when.get(key) {
            Some(spot) => spot.text().map(Some),
            None => Some(None),
        };
        let params = when.get("params").map(|params| params.entries()).unwrap_or_default();
        let params = params.into_iter().map(|(name, value)| Some((name, value.node.to_value().ok()?)));
        let conditions = Conditions {
            skill: text("skill")?.map(str::trim),
            agent: text("agent")?,
            says: text("says")?.unwrap_or_default(),
            params: params.collect::<Option<_>>()?,
        };
        (conditions.skill.is_some() != conditions.agent.is_some()).then_some(conditions)
    }

    /// Whether these hold wherever the others do.
    fn holds_with(&self, others: &Conditions<'_>) -> bool {
        let has = |(name, value): &(String, Value)| others.params.iter().any(|(key, it)| key == name && it == value);
        self.skill == others.skill
            && self.agent == others.agent
            && others.says.contains(self.says)
            && self.params.iter().all(has)
    }
}

/// The steps of one run.
fn lint_steps(run: &Spot<'_>, agents: &[&str], problems: &mut Vec<Problem>) {
    let Some(steps) = run.get("steps").filter(Spot::is_list) else { return };
    let mut answered: Option<Spot<'_>> = None;
    for step in steps.items().into_iter().filter(|step| step.is_mapping() && !is_damaged(step.node)) {
        for key in ["write", "append"] {
            if let Some(path) = step.find(&[key, "path"]) {
                lint_path(&path, problems);
            }
        }
        if let Some(agent) = step.find(&["spawn", "agent"]) {
            lint_spawn(&agent, agents, problems);
        }
        let Some(answer) = step.get("answer") else { continue };
        match &answered {
            None => answered = Some(answer),
            Some(first) => {
                let problem = answer.head_problem(Code::NoEffect, "this answer is never given");
                let problem = problem.with_severity(Severity::Warning).with_note("a run is answered once");
                let problem = problem.with_help("remove one of the two");
                problems.push(problem.with_related("it is answered here", first.at.clone(), first.head()));
            }
        }
    }
}

/// A handover to an agent without a run.
fn lint_spawn(agent: &Spot<'_>, agents: &[&str], problems: &mut Vec<Problem>) {
    let Some(name) = agent.text().filter(|name| !name.is_empty() && !agents.contains(name)) else { return };
    let problem = agent.problem(Code::UnknownReference, format!("the agent `{name}` has no run"));
    let problem = problem.with_severity(Severity::Warning).with_note("what it is given is not done");
    problems.push(match nearest(name, agents.iter().copied()) {
        Some(near) => {
            let mut problem = problem.with_help(rename_title(near));
            problem.fixes.extend(agent.replaced(scalar(near)).map(|edits| Fix::guess(rename_title(near), edits)));
            problem
        }
        None => problem.with_help(format!("add a run with `when: {{ agent: {name} }}`")),
    });
}

/// A path that leads out of the workspace.
fn lint_path(path: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(text) = path.text().filter(|text| !text.is_empty()) else { return };
    if files::inside(text).is_none() {
        let problem =
            path.problem(Code::InvalidPath, format!("`{text}` is not a path below the root of the workspace"));
        problems.push(problem.with_help("write a relative path without `..`"));
    }
}

/// Scores that are never given.
fn lint_scores(scores: &Spot<'_>, problems: &mut Vec<Problem>) {
    let mut seen: Vec<(&str, Spot<'_>)> = Vec::new();
    for score in scores.items().into_iter().filter(|score| score.is_mapping() && !is_damaged(score.node)) {
        let asked = score.get("asked");
        let Some(text) = asked.as_ref().map_or(Some(""), Spot::text) else { continue };
        let spot = asked.unwrap_or(score);
        if let Some((earlier, first)) = seen.iter().find(|(earlier, _)| text.contains(earlier)) {
            let note = match *earlier {
                "" => "an earlier score is for every question".to_owned(),
                earlier if earlier == text => "an earlier score is for the same text".to_owned(),
                earlier => format!("an earlier score is for every question with `{earlier}`"),
            };
            let help = if *earlier == text { "remove one of the two" } else { "move it before the other" };
            let problem = spot.head_problem(Code::Collision, "this score is never given").with_note(note);
            problems.push(problem.with_help(help).with_related("the earlier one", first.at.clone(), first.head()));
        }
        seen.push((text, spot));
    }
}

/// Placeholders in texts that are filled.
fn lint_texts(spot: &Spot<'_>, shape: &Shape, problems: &mut Vec<Problem>) {
    if spot.node.alias().is_some() {
        return;
    }
    if let Some(text) = spot.text() {
        if shape.template() == Some(FILLING.word) && text.contains('{') {
            let limited = shape.template_names();
            let names = FILLING.variables.iter().map(|variable| variable.name);
            let names: Vec<&str> = names.filter(|name| limited.as_ref().is_none_or(|it| it.contains(name))).collect();
            lint_text(spot, text, &names, problems);
        }
        return;
    }
    let is_free = shape.template() == Some(FILLING.word);
    let members = spot.items().into_iter().enumerate().map(|(index, item)| (Step::Index(index), item));
    let entries = spot.entries().into_iter().map(|(key, value)| (Step::Key(key.into()), value));
    for (step, member) in members.chain(entries) {
        // What may be anything is filled at every depth.
        let below = if is_free { Some(shape.clone()) } else { shape.step_to(&step, Some(spot.node)) };
        if let Some(below) = below {
            lint_texts(&member, &below, problems);
        }
    }
}

fn lint_text(spot: &Spot<'_>, text: &str, names: &[&str], problems: &mut Vec<Problem>) {
    let mut told: Vec<&str> = Vec::new();
    for placeholder in trimmed_placeholders(text) {
        if names.contains(&placeholder.name) || told.contains(&placeholder.name) {
            continue;
        }
        told.push(placeholder.name);
        problems.push(unknown(spot, &placeholder, names, "it has no value, so the script is not played"));
    }
    half_written(spot, text, names, problems);
}
