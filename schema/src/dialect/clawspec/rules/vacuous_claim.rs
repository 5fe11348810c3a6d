//! Assertions in ClawSpec files that cannot fail, or that hold causes of an earlier run.

use rustc_hash::FxHashMap;

use crate::{
    dialect::clawspec::{facts::About, stages::Condition},
    document::NodeRef,
    finding::{Finding, Location, MessageParts, Relation, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Fix, Problem, Severity, Subject},
    relations::{CrossItemRule, Items, Named},
    validate::is_damaged,
};

/// A file from an earlier scenario.
#[derive(Debug)]
struct StaleFile(String);

/// Reports files from an earlier scenario of the contract whose time is not checked.
pub(crate) struct StaleFiles;

impl CrossItemRule for StaleFiles {
    fn findings(&self, items: Items<'_>) -> Vec<Finding> {
        // First expectation of each file.
        let mut first: FxHashMap<&str, (usize, &Named)> = FxHashMap::default();
        let mut findings: Vec<Finding> = Vec::new();
        // Index of the finding for each written location, which aliases repeat.
        let mut numbers: FxHashMap<(u64, usize), usize> = FxHashMap::default();
        for (item, facts) in items.sharing(About::Expected) {
            let mut reported: Vec<&str> = Vec::new();
            for expected in &facts.expected {
                let path = expected.path.name.as_str();
                let Some((earlier, earlier_path)) = first.get(path).filter(|(earlier, _)| *earlier < item) else {
                    first.entry(path).or_insert((item, &expected.path));
                    continue;
                };
                // One assertion that checks the time of the file is sufficient for the whole scenario.
                let is_new = facts.expected.iter().any(|other| other.path.name == path && !other.may_be_old);
                if is_new || reported.contains(&path) || facts.absent.iter().any(|absent| absent == path) {
                    continue;
                }
                reported.push(path);
                let (at, range) = items.place(item, &expected.path);
                let number = expected.written.map(|written| *numbers.entry(written).or_insert(findings.len()));
                if let Some(number) = number.filter(|number| *number < findings.len()) {
                    findings[number].add_related(Relation::UsedAgain, at, range);
                    continue;
                }
                let (first_at, first_range) = items.place(*earlier, earlier_path);
                let finding = Finding::new(StaleFile(path.to_owned()), at, range);
                findings.push(finding.related(Relation::Labelled("first expected here"), first_at, first_range));
            }
        }
        findings
    }
}

/// Adds the fix that checks the time of a file.
pub(crate) fn fix_across(root: NodeRef<'_>, problems: &mut [Problem]) {
    for problem in problems.iter_mut().filter(|problem| problem.subject == Some(Subject::OldFile)) {
        let assertion = problem.at.parent().and_then(|at| LintNode::root(root).at(&at));
        let edits = assertion.and_then(|assertion| {
            assertion.with_behind("path", &[("updated_after", "\"{{run_started_at}}\"".to_owned())])
        });
        problem.fixes.extend(edits.map(|edits| Fix::guess("add `updated_after: \"{{run_started_at}}\"`", edits)));
    }
}

/// Reports conditions of a pipeline about keys that no stage has.
pub(crate) fn check_conditions(root: &LintNode<'_>, report: &mut Report) {
    let Some(stages) = root.get("stages").filter(LintNode::is_list).filter(|_| !is_damaged(root.node)) else { return };
    let stages = stages.items();
    for check in root.get("pipeline_health").map(|list| list.items()).unwrap_or_default() {
        let Some(check) = check.get("check") else { continue };
        let key = match check.text().and_then(Condition::parse) {
            Some(Condition::Produced) => "produces",
            Some(Condition::HandoffsPassed) => "handoff_contract",
            Some(Condition::Elapsed(_)) | None => continue,
        };
        if stages.iter().all(|stage| stage.get(key).is_none()) {
            let words = MessageParts::new(format!("no stage has `{key}`, so this condition checks nothing"))
                .note("it always holds in ClawSpec; `speclens run` reports it as unknown")
                .help("remove the condition");
            report.push(check.problem(Code::VacuousClaim, words));
        }
    }
}

impl Rule for StaleFile {
    const CODE: Code = Code::VacuousClaim;
    const SEVERITY: Severity = Severity::Hint;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new(format!("`{}` may already exist", self.0))
            .note("an earlier scenario expects the same file, and its file would satisfy this assertion too")
            .help("add `updated_after: \"{{run_started_at}}\"`")
            .subject(Subject::OldFile)
    }
}
