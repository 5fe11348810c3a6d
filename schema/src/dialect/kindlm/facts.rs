//! Facts of one test that rules between tests and sections need: the names that it defines and uses.

use std::ops::Range;

use crate::{
    document::{NodeRef, Pointer, Scalar},
    finding::{Finding, MessageParts, Relation},
    lint_node::LintNode,
    names::Named,
    problem::Code,
    relations::{Facts, Items, Kind, Topic},
    template::placeholders,
    validate::is_damaged,
};

/// Topics of rules between tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    Prompt,
    /// An expectation that needs a judge.
    Judge,
    /// A comparison with a baseline.
    Drift,
    /// An expectation that needs neither a judge nor a baseline.
    PlainClaims,
    Embedding,
    Latency,
    /// A command, whose cost is unknown.
    Command,
    /// A part that cannot be read.
    Damage,
}

impl Kind for About {
    type Facts = TestFacts;

    fn number(self) -> u8 {
        self as u8
    }
}

/// Names that one test defines and uses.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TestFacts {
    pub(crate) has_command: bool,
    /// Whether the author disabled the test.
    pub(crate) is_skipped: bool,
    pub(crate) prompt: Option<Box<Named>>,
    /// Models of the test. `None` if it has no such list.
    pub(crate) models: Option<Vec<Named>>,
    pub(crate) vars: Vec<Named>,
    /// The placeholders in later texts of the user, each name once.
    pub(crate) follow_ups: Vec<Named>,
    /// An expectation that needs a judge.
    pub(crate) judge: Option<Box<Named>>,
    /// Models that expectations name for their judges.
    pub(crate) judge_models: Vec<String>,
    pub(crate) embedding: Option<Box<Named>>,
    /// `latency.maxMs` and its value.
    pub(crate) latency: Option<Box<(Named, f64)>>,
}

/// A name in a test. Its absolute location is computed only on request.
#[derive(Clone, Copy)]
pub(crate) struct Placed<'f> {
    pub(crate) tests: Items<'f>,
    pub(crate) index: usize,
    pub(crate) named: &'f Named,
}

impl<'f> Placed<'f> {
    pub(crate) fn first(
        tests: Items<'f>,
        about: About,
        name: impl Fn(&'f TestFacts) -> Option<&'f Named>,
    ) -> Option<Placed<'f>> {
        tests.about(about).find_map(|(index, facts)| Some(Placed { tests, index, named: name(facts)? }))
    }

    pub(crate) fn place(&self) -> (Pointer, Range<usize>) {
        self.tests.place(self.index, self.named)
    }

    pub(crate) fn problem(&self, code: Code, words: MessageParts) -> Finding {
        let (at, range) = self.place();
        Finding::stated(code, words, at, range)
    }

    pub(crate) fn absence(&self, code: Code, words: MessageParts) -> Finding {
        let (at, range) = self.place();
        Finding::absent(code, words, at, range)
    }

    pub(crate) fn beside(&self, finding: Finding, label: &'static str) -> Finding {
        let (at, range) = self.place();
        finding.related(Relation::Labelled(label), at, range)
    }
}

pub(crate) fn has(tests: Items<'_>, about: About) -> bool {
    tests.about(about).next().is_some()
}

pub(crate) fn expects<'d>(test: &LintNode<'d>, turns: &[LintNode<'d>]) -> impl Iterator<Item = LintNode<'d>> {
    test.get("expect").into_iter().chain(turns.iter().filter_map(|turn| turn.get("expect")))
}

pub(crate) fn test_facts(node: NodeRef<'_>) -> Facts {
    let start = node.range().start;
    let test = LintNode::root(node);
    let models = test.get("models").filter(LintNode::is_list);
    // A prompt with an invalid type still makes it a prompt test.
    let prompt = test.get("prompt").map(|prompt| place(prompt.text().unwrap_or_default(), &prompt, start));
    let drift = test.find(&["expect", "baseline", "drift"]);
    let embedding = drift.as_ref().and_then(|drift| drift.get("method"));
    let latency = test.find(&["expect", "latency", "maxMs"]);
    let turns = test.get("conversation").map(|turns| turns.items()).unwrap_or_default();
    let judges: Vec<LintNode<'_>> = expects(&test, &turns).filter_map(|expect| expect.get("judge")).collect();
    let judge = judges.iter().find(|judge| judge.is_list() && !judge.is_empty());
    let judge_models = judges.iter().flat_map(|judge| judge.items()).filter_map(|judge| judge.get("model"));
    let facts = TestFacts {
        has_command: test.get("command").is_some(),
        is_skipped: is_skipped(&test),
        prompt: prompt.map(Box::new),
        models: models.map(|models| models.items().iter().filter_map(|model| named(model, start)).collect()),
        vars: keys(test.get("vars"), start),
        follow_ups: follow_ups(&turns, start),
        judge: judge.map(|judge| Box::new(Named::new("", &judge.at, judge.head(), start))),
        judge_models: judge_models.filter_map(|model| model.text().map(str::to_owned)).collect(),
        embedding: embedding
            .filter(|method| method.text() == Some("embedding"))
            .map(|method| Box::new(place("", &method, start))),
        latency: latency.and_then(|most| Some(Box::new((place("", &most, start), most.number()?)))),
    };
    let has_plain_claims = expects(&test, &turns).any(|expect| {
        let mut claims = expect.node.entries().filter_map(|entry| entry.key.text());
        claims.any(|claim| !["judge", "baseline"].contains(&claim))
    });
    let topics = [
        (About::Prompt, facts.prompt.is_some()),
        (About::Judge, facts.judge.is_some()),
        (About::Drift, drift.is_some()),
        (About::PlainClaims, has_plain_claims),
        (About::Embedding, facts.embedding.is_some()),
        (About::Latency, facts.latency.is_some()),
        (About::Command, facts.has_command),
        (About::Damage, is_damaged(node)),
    ];
    let topics: Vec<Topic> = topics.into_iter().filter(|(_, applies)| *applies).map(|it| Topic::of(it.0)).collect();
    Facts::new(facts, topics)
}

/// Whether the author disabled a test: what it lacks prevents no run.
pub(crate) fn is_skipped(test: &LintNode<'_>) -> bool {
    test.get("skip").is_some_and(|skip| skip.node.scalar() == Some(Scalar::Bool(true)))
}

fn follow_ups(turns: &[LintNode<'_>], start: usize) -> Vec<Named> {
    let mut found: Vec<Named> = Vec::new();
    for user in turns.iter().filter_map(|turn| turn.get("user")) {
        for placeholder in placeholders(user.text().unwrap_or_default()).iter().filter(|it| !it.is_reserved()) {
            if !found.iter().any(|known| known.name == placeholder.name) {
                found.push(Named::new(placeholder.name, &user.at, user.part(placeholder.text, 0), start));
            }
        }
    }
    found
}

fn place(name: impl Into<String>, lint_node: &LintNode<'_>, start: usize) -> Named {
    Named::new(name, &lint_node.at, lint_node.range(), start)
}

fn named(lint_node: &LintNode<'_>, start: usize) -> Option<Named> {
    Some(place(lint_node.text()?, lint_node, start))
}

fn keys(mapping: Option<LintNode<'_>>, start: usize) -> Vec<Named> {
    let entries = mapping.map(|mapping| mapping.entries()).unwrap_or_default();
    entries.into_iter().map(|(name, entry)| Named::new(name, &entry.at, entry.head(), start)).collect()
}
