//! Items that an earlier item of the same list replaces.

use serde_json::Value;

use crate::{
    finding::{MessageParts, Relation, Report},
    lint_node::LintNode,
    problem::Code,
    validate::is_damaged,
};

pub(crate) fn check_answers(answers: &LintNode<'_>, report: &mut Report) {
    let mut seen: Vec<(&str, LintNode<'_>)> = Vec::new();
    for answer in answers.items().into_iter().filter(|answer| answer.is_mapping() && !is_damaged(answer.node)) {
        let Some(asked) = answer.get("asked") else { continue };
        let Some(text) = asked.text().filter(|text| !text.is_empty()) else { continue };
        if let Some((earlier, first)) = seen.iter().find(|(earlier, _)| text.contains(earlier)) {
            let finding = asked.problem(Code::Collision, never_used("answer", earlier, text));
            report.push(finding.related(EARLIER, first.at.clone(), first.range()));
        }
        seen.push((text, asked));
    }
}

/// Checks the scores of a scripted gateway. A score without `asked` applies to every question.
pub(crate) fn check_scores(scores: &LintNode<'_>, report: &mut Report) {
    let mut seen: Vec<(&str, LintNode<'_>)> = Vec::new();
    for score in scores.items().into_iter().filter(|score| score.is_mapping() && !is_damaged(score.node)) {
        let asked = score.get("asked");
        let Some(text) = asked.as_ref().map_or(Some(""), LintNode::text) else { continue };
        let lint_node = asked.unwrap_or(score);
        if let Some((earlier, first)) = seen.iter().find(|(earlier, _)| text.contains(earlier)) {
            let finding = lint_node.head_problem(Code::Collision, never_used("score", earlier, text));
            report.push(finding.related(EARLIER, first.at.clone(), first.head()));
        }
        seen.push((text, lint_node));
    }
}

/// Checks the conditions of the runs of a scripted gateway.
pub(crate) fn check_runs(runs: &[LintNode<'_>], report: &mut Report) {
    let conditions: Vec<(LintNode<'_>, Conditions<'_>)> = runs
        .iter()
        .filter_map(|run| {
            let when = run.get("when").filter(|when| when.is_mapping() && !is_damaged(when.node))?;
            let conditions = Conditions::of(&when)?;
            Some((when, conditions))
        })
        .collect();
    for (index, (when, wanted)) in conditions.iter().enumerate() {
        if let Some((first, earlier)) = conditions[..index].iter().find(|(_, earlier)| earlier.holds_with(wanted)) {
            let is_same = wanted.holds_with(earlier);
            let words = MessageParts::new("this run is never played")
                .note(match is_same {
                    true => "an earlier run has the same conditions",
                    false => "an earlier run applies in every case in which this one would",
                })
                .help(remedy(is_same));
            let finding = when.head_problem(Code::Collision, words);
            report.push(finding.related(EARLIER, first.at.clone(), first.head()));
        }
    }
}

const EARLIER: Relation = Relation::Labelled("the earlier one");

/// Conditions of a run, as written.
struct Conditions<'d> {
    skill: Option<&'d str>,
    agent: Option<&'d str>,
    says: &'d str,
    params: Vec<(String, Value)>,
}

impl<'d> Conditions<'d> {
    /// Returns the conditions; `None` if they cannot be compared.
    fn of(when: &LintNode<'d>) -> Option<Conditions<'d>> {
        let text = |key: &str| match when.get(key) {
            Some(lint_node) => lint_node.text().map(Some),
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

    /// Whether these conditions hold whenever the others do.
    fn holds_with(&self, others: &Conditions<'_>) -> bool {
        let has = |(name, value): &(String, Value)| others.params.iter().any(|(key, it)| key == name && it == value);
        self.skill == others.skill
            && self.agent == others.agent
            && others.says.contains(self.says)
            && self.params.iter().all(has)
    }
}

/// Says that an answer or a score for questions that contain `text` is never used.
fn never_used(what: &str, earlier: &str, text: &str) -> MessageParts {
    let note = match earlier {
        "" => format!("an earlier {what} matches every question"),
        earlier if earlier == text => format!("an earlier {what} matches the same text"),
        earlier => format!("an earlier {what} matches every question that contains `{earlier}`"),
    };
    MessageParts::new(format!("this {what} is never used")).note(note).help(remedy(earlier == text))
}

/// Returns the help. Items with the same condition exclude each other in any order.
fn remedy(is_same: bool) -> &'static str {
    if is_same { "remove one of the two" } else { "move it before the earlier one" }
}
