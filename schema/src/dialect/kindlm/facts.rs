//! Facts of tests and sections that rules across several blocks need: the names that they define and use.

use std::ops::Range;

use crate::{
    document::{NodeRef, Pointer},
    finding::{Finding, MessageParts, Relation},
    json_schema::SpecFile,
    lint_node::LintNode,
    names::misspelled_sections,
    problem::Code,
    relations::{Facts, Items, Kind, Named, Topic},
    template::placeholders,
    validate::is_damaged,
};

/// Topics of rules between tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// Prompt of the test.
    Prompt,
    /// An expectation that needs a judge.
    Judge,
    /// A comparison with a baseline.
    Drift,
    /// An expectation that needs neither a judge nor a baseline.
    PlainClaims,
    /// `method: embedding`.
    Embedding,
    /// `latency.maxMs`.
    Latency,
    /// No command, so that it may have a cost.
    Paid,
    /// A part that cannot be read.
    Damage,
}

impl Kind for About {
    type Facts = TestFacts;

    fn number(self) -> u8 {
        self as u8
    }
}

/// Names that the sections other than `tests` define and use.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RootFacts {
    /// First line of the file's content.
    pub(crate) head: Range<usize>,
    /// Sections that prompt tests need: `providers`, `models`, `prompts`.
    pub(crate) sections: [Section; 3],
    /// Configured providers.
    pub(crate) providers: Vec<Named>,
    /// Ids of the models.
    pub(crate) models: Vec<Named>,
    /// Provider of each model.
    pub(crate) model_providers: Vec<Named>,
    /// Prompts of the file.
    pub(crate) prompts: Vec<PromptFacts>,
    /// `defaults.judgeModel`.
    pub(crate) judge_model: Option<Named>,
    /// Gates that a run could fail, by name.
    pub(crate) gates: Vec<Named>,
    /// `defaults.timeoutMs`, if it is set.
    pub(crate) timeout_ms: Option<f64>,
}

/// A section of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Section {
    /// Key in the file.
    pub(crate) name: &'static str,
    /// Bytes of the key, if the section exists.
    pub(crate) key: Option<Range<usize>>,
    /// Whether the section is not empty.
    pub(crate) filled: bool,
    /// Whether the section is valid and its key is not misspelled. If not, no name is reported as missing from it.
    pub(crate) readable: bool,
}

/// A prompt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PromptFacts {
    /// Key in the file.
    pub(crate) named: Named,
    /// Names in its `{{…}}`, without duplicates.
    pub(crate) placeholders: Vec<Named>,
}

/// Names that one test defines and uses.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TestFacts {
    /// Whether the test runs a command.
    pub(crate) has_command: bool,
    /// Prompt of the test.
    pub(crate) prompt: Option<Box<Named>>,
    /// Models of the test. `None` if it has no such list.
    pub(crate) models: Option<Vec<Named>>,
    /// Variables that the test defines.
    pub(crate) vars: Vec<Named>,
    /// An expectation that needs a judge.
    pub(crate) judge: Option<Box<Named>>,
    /// `method: embedding`.
    pub(crate) embedding: Option<Box<Named>>,
    /// `latency.maxMs` and its value.
    pub(crate) latency: Option<Box<(Named, f64)>>,
}

/// Names that a whole file defines and uses.
pub(crate) struct SuiteFacts<'f> {
    pub(crate) root: RootFacts,
    pub(crate) tests: Items<'f>,
}

/// Facts of a test, and its location.
#[derive(Clone, Copy)]
pub(crate) struct PlacedTest<'f> {
    index: usize,
    tests: Items<'f>,
    pub(crate) facts: &'f TestFacts,
}

/// A name and its location. The absolute location is computed only on request.
#[derive(Clone, Copy)]
pub(crate) struct Placed<'f> {
    pub(crate) named: &'f Named,
    /// The test that contains the name. `None` in another section.
    test: Option<PlacedTest<'f>>,
}

impl<'f> SuiteFacts<'f> {
    /// Returns the tests with a topic.
    pub(crate) fn about(&self, about: About) -> impl Iterator<Item = PlacedTest<'f>> {
        let tests = self.tests;
        tests.about(about).map(move |(index, facts)| PlacedTest { index, tests, facts })
    }

    /// Whether a test has a topic.
    pub(crate) fn has(&self, about: About) -> bool {
        self.tests.about(about).next().is_some()
    }

    /// Returns the first prompt that a test sends.
    pub(crate) fn first_prompt(&self) -> Option<Placed<'f>> {
        self.about(About::Prompt).find_map(|test| Some(test.place(test.facts.prompt.as_deref()?)))
    }

    /// Returns the first expectation that needs a judge.
    pub(crate) fn first_judge(&self) -> Option<Placed<'f>> {
        self.about(About::Judge).find_map(|test| Some(test.place(test.facts.judge.as_deref()?)))
    }
}

impl<'f> PlacedTest<'f> {
    /// Returns a name of the test.
    pub(crate) fn place(&self, named: &'f Named) -> Placed<'f> {
        Placed { named, test: Some(*self) }
    }
}

impl<'f> Placed<'f> {
    /// Returns a name of another section.
    pub(crate) fn of_root(named: &'f Named) -> Placed<'f> {
        Placed { named, test: None }
    }

    /// Returns the location in the document.
    pub(crate) fn place(&self) -> (Pointer, Range<usize>) {
        match self.test {
            None => (self.named.at.clone(), self.named.range.clone()),
            Some(test) => test.tests.place(test.index, self.named),
        }
    }

    pub(crate) fn problem(&self, code: Code, words: MessageParts) -> Finding {
        let (at, range) = self.place();
        Finding::stated(code, words, at, range)
    }

    pub(crate) fn absence(&self, code: Code, words: MessageParts) -> Finding {
        let (at, range) = self.place();
        Finding::absent(code, words, at, range)
    }
}

impl Finding {
    /// Returns the finding with a name as a related location.
    pub(crate) fn with_name(self, label: &'static str, name: Placed<'_>) -> Finding {
        let (at, range) = name.place();
        self.related(Relation::Labelled(label), at, range)
    }
}

/// Returns the facts of the sections other than `tests`.
pub(crate) fn root_facts(root: NodeRef<'_>) -> RootFacts {
    let root = LintNode::root(root);
    let misspelled = misspelled_sections(&root, SpecFile::KINDLM);
    let section = |name: &'static str| {
        let lint_node = root.get(name);
        let key = lint_node.as_ref().and_then(|lint_node| lint_node.key).map(NodeRef::range);
        let readable = lint_node.as_ref().map_or(!misspelled.contains(&name), |lint_node| match name {
            "models" => {
                lint_node.is_list()
                    && lint_node.items().iter().all(|model| model.find(&["id"]).is_some_and(|id| id.text().is_some()))
            }
            _ => lint_node.is_mapping(),
        });
        Section { name, key, filled: lint_node.is_some_and(|lint_node| !lint_node.is_empty()), readable }
    };
    let models = root.get("models").map(|models| models.items()).unwrap_or_default();
    let field = |key: &str| models.iter().filter_map(|model| named(&model.get(key)?, 0)).collect();
    let prompts = root.get("prompts").map(|prompts| prompts.entries()).unwrap_or_default();
    let gates = root.get("gates").map(|gates| gates.entries()).unwrap_or_default();
    RootFacts {
        head: root.head(),
        sections: [section("providers"), section("models"), section("prompts")],
        providers: keys(root.get("providers"), 0),
        models: field("id"),
        model_providers: field("provider"),
        prompts: prompts.into_iter().filter_map(|(name, prompt)| prompt_facts(name, &prompt)).collect(),
        judge_model: root.find(&["defaults", "judgeModel"]).and_then(|lint_node| named(&lint_node, 0)),
        gates: gates
            .into_iter()
            .filter(|(name, gate)| can_fail(name, gate))
            .map(|(name, gate)| place(name, &gate, 0))
            .collect(),
        timeout_ms: root.find(&["defaults", "timeoutMs"]).and_then(|timeout| timeout.number()),
    }
}

/// Whether the value of a gate can be missed. Other values are reported by a separate rule.
fn can_fail(name: &str, gate: &LintNode<'_>) -> bool {
    if name == "costMaxUsd" {
        return gate.number().is_some_and(|number| number.is_finite() && number > 0.0);
    }
    let idle = if name == "driftScoreMax" { 1.0 } else { 0.0 };
    gate.number().is_some_and(|number| (0.0..=1.0).contains(&number) && number != idle)
}

fn prompt_facts(name: String, prompt: &LintNode<'_>) -> Option<PromptFacts> {
    let named = Named::new(name, &prompt.at, prompt.key?.range(), 0);
    let mut found: Vec<Named> = Vec::new();
    for field in ["system", "user", "assistant"] {
        let Some(lint_node) = prompt.get(field) else { continue };
        for placeholder in placeholders(lint_node.text().unwrap_or_default()) {
            if !placeholder.is_reserved() && !found.iter().any(|named| named.name == placeholder.name) {
                let range = lint_node.part(placeholder.text, 0);
                found.push(Named::new(placeholder.name, &lint_node.at, range, 0));
            }
        }
    }
    Some(PromptFacts { named, placeholders: found })
}

/// Returns the `expect` of a test, and those of its turns.
pub(crate) fn expects<'d>(test: &LintNode<'d>, turns: &[LintNode<'d>]) -> impl Iterator<Item = LintNode<'d>> {
    test.get("expect").into_iter().chain(turns.iter().filter_map(|turn| turn.get("expect")))
}

/// Returns the facts of one test.
pub(crate) fn test_facts(node: NodeRef<'_>) -> Facts {
    let start = node.range().start;
    let test = LintNode::root(node);
    let models = test.get("models").filter(LintNode::is_list);
    // A prompt with an invalid type still makes it a prompt test.
    let prompt = test.get("prompt").map(|prompt| place(prompt.text().unwrap_or_default(), &prompt, start));
    let judge = test.find(&["expect", "judge"]).filter(|judge| judge.is_list() && !judge.is_empty());
    let drift = test.find(&["expect", "baseline", "drift"]);
    let embedding = drift.as_ref().and_then(|drift| drift.get("method"));
    let latency = test.find(&["expect", "latency", "maxMs"]);
    let facts = TestFacts {
        has_command: test.get("command").is_some(),
        prompt: prompt.map(Box::new),
        models: models.map(|models| models.items().iter().filter_map(|model| named(model, start)).collect()),
        vars: keys(test.get("vars"), start),
        judge: judge.map(|judge| Box::new(Named::new("", &judge.at, judge.head(), start))),
        embedding: embedding
            .filter(|method| method.text() == Some("embedding"))
            .map(|method| Box::new(place("", &method, start))),
        latency: latency.and_then(|most| Some(Box::new((place("", &most, start), most.number()?)))),
    };
    let turns = test.get("conversation").map(|turns| turns.items()).unwrap_or_default();
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
        (About::Paid, !facts.has_command),
        (About::Damage, is_damaged(node)),
    ];
    let topics: Vec<Topic> = topics.into_iter().filter(|(_, applies)| *applies).map(|it| Topic::of(it.0)).collect();
    Facts::new(facts, topics)
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
