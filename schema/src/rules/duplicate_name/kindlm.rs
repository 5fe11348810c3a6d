//! Duplicate names in KindLM suites.

use std::collections::HashMap;

use rustc_hash::FxHashMap;

use crate::{
    dialect::kindlm::{
        expects::turns,
        facts::{Placed, SuiteFacts},
        tools::Tools,
    },
    finding::{Relation, Report, Rule, Site, Words},
    problem::{Code, Severity, Subject},
    lint_node::LintNode,
};

/// A duplicate name.
#[derive(Debug)]
struct DuplicateName {
    kind: Kind,
    name: String,
}

/// Kind of the named thing.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Model,
    Test,
    Turn,
    Tool,
}

/// Checks the turns and the tools of a test.
pub(crate) fn check_test(test: &LintNode<'_>, tools: &Tools<'_>, report: &mut Report) {
    let mut seen: HashMap<&str, LintNode<'_>> = HashMap::new();
    for label in turns(test).iter().filter_map(|turn| turn.get("turn")) {
        let Some(name) = label.text() else { continue };
        if let Some(first) = seen.get(name) {
            let rule = DuplicateName { kind: Kind::Turn, name: name.to_owned() };
            report.push(label.finding(rule).with("first used here", first));
        } else {
            seen.insert(name, label);
        }
    }
    for (tool, first) in tools.repeated() {
        let Some(lint_node) = tool.lint_node.get("name") else { continue };
        let finding = lint_node.finding(DuplicateName { kind: Kind::Tool, name: tool.name.to_owned() });
        let first = &first.lint_node;
        report.push(finding.related(Relation::Labelled("first defined here"), first.at.clone(), first.head()));
    }
}

/// Checks the models and the tests.
pub(crate) fn check_relations(suite: &SuiteFacts<'_>, report: &mut Report) {
    check(Kind::Model, suite.root.models.iter().map(Placed::of_root), report);
    let names = suite.namesakes().filter_map(|test| Some(test.place(test.facts.name.as_ref()?)));
    check(Kind::Test, names, report);
}

fn check<'n>(kind: Kind, names: impl Iterator<Item = Placed<'n>>, report: &mut Report) {
    let mut seen: FxHashMap<&str, Placed<'n>> = FxHashMap::default();
    for place in names {
        let name = place.named.name.as_str();
        if let Some(first) = seen.get(name) {
            let rule = DuplicateName { kind, name: name.to_owned() };
            report.push(place.finding(rule).with_name("first used here", *first));
        } else {
            seen.insert(name, place);
        }
    }
}

impl Rule for DuplicateName {
    const CODE: Code = Code::DuplicateName;

    fn severity(&self) -> Severity {
        match self.kind {
            Kind::Tool => Severity::Warning,
            Kind::Model | Kind::Test | Kind::Turn => Code::DuplicateName.severity(),
        }
    }

    fn words(&self, _: &Site<'_>) -> Words {
        let name = &self.name;
        let words = match self.kind {
            Kind::Model => Words::new(format!("duplicate model id `{name}`")),
            Kind::Test => Words::new(format!("duplicate test name `{name}`")),
            Kind::Turn => {
                Words::new(format!("duplicate turn label `{name}`")).help("give each turn a different label")
            }
            Kind::Tool => {
                Words::new(format!("duplicate tool `{name}` in this test")).note("the first one answers every call")
            }
        };
        words.subject(Subject::Name(name.clone()))
    }
}
