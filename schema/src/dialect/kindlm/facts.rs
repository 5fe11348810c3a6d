//! Names that are defined and used: the little that rules about several blocks need to know of each.

use std::ops::Range;

use crate::{
    document::{NodeRef, Pointer},
    finding::{Finding, Relation, Rule},
    json_schema::SpecFile,
    relations::{Facts, Items, Topic},
    shape::Shape,
    spot::Spot,
    template::placeholders,
    validate::is_damaged,
    words::nearest,
};

use super::expects::expects;

/// What rules between tests are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// Its name.
    Name,
    /// The prompt that it names.
    Prompt,
    /// The models that it names.
    Models,
    /// A claim that needs a model to judge.
    Judge,
    /// A comparison with a baseline.
    Drift,
    /// A claim that needs neither a judge nor a baseline.
    PlainClaims,
    /// `method: embedding`.
    Embedding,
    /// `latency.maxMs`.
    Latency,
    /// A part that cannot be read.
    Damage,
}

impl From<About> for u8 {
    fn from(about: About) -> u8 {
        about as u8
    }
}

/// A name where it is defined or used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The name.
    pub(crate) name: String,
    /// Where it is: from the root in [`RootFacts`], from the test in [`TestFacts`].
    pub(crate) at: Pointer,
    /// Its bytes: in the document in [`RootFacts`], counted from the test's first byte in [`TestFacts`].
    pub(crate) range: Range<usize>,
    /// Whether the bytes may be changed there.
    pub(crate) own: bool,
}

/// What the sections other than `tests` define and use.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RootFacts {
    /// The first line of the file's content.
    pub(crate) head: Range<usize>,
    /// The sections that prompt tests need: `providers`, `models`, `prompts`.
    pub(crate) sections: [Section; 3],
    /// The providers that are configured.
    pub(crate) providers: Vec<Named>,
    /// The ids of the models.
    pub(crate) models: Vec<Named>,
    /// The provider that each model names.
    pub(crate) model_providers: Vec<Named>,
    /// The prompts.
    pub(crate) prompts: Vec<PromptFacts>,
    /// `defaults.judgeModel`.
    pub(crate) judge_model: Option<Named>,
    /// The gates that could fail by their number, by name.
    pub(crate) gates: Vec<Named>,
    /// `defaults.timeoutMs`, where it is written.
    pub(crate) timeout_ms: Option<f64>,
}

/// A section of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Section {
    /// Its key.
    pub(crate) name: &'static str,
    /// The bytes of the key, when the section is there.
    pub(crate) key: Option<Range<usize>>,
    /// Whether it holds anything.
    pub(crate) filled: bool,
    /// Whether it can be read, and its key is not misspelt: if not, that is the mistake, and no name is missing from it.
    pub(crate) readable: bool,
}

/// A prompt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PromptFacts {
    /// Its key.
    pub(crate) named: Named,
    /// The names in its `{{…}}`, each once.
    pub(crate) placeholders: Vec<Named>,
}

/// What one test defines and uses.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TestFacts {
    /// Its name.
    pub(crate) name: Option<Named>,
    /// Whether it runs a command.
    pub(crate) has_command: bool,
    /// The prompt that it names.
    pub(crate) prompt: Option<Named>,
    /// The models that it names. `None` when it has no such list.
    pub(crate) models: Option<Vec<Named>>,
    /// The variables that it defines.
    pub(crate) vars: Vec<Named>,
    /// A claim that needs a model to judge.
    pub(crate) judge: Option<Named>,
    /// Whether it compares with a baseline.
    pub(crate) has_drift: bool,
    /// Whether it claims anything that needs neither a judge nor a baseline.
    pub(crate) has_plain_claims: bool,
    /// `method: embedding`.
    pub(crate) embedding: Option<Named>,
    /// `latency.maxMs` and its number.
    pub(crate) latency: Option<(Named, f64)>,
    /// Whether part of it cannot be read.
    pub(crate) is_damaged: bool,
}

/// What a whole file defines and uses.
pub(crate) struct SuiteFacts<'f> {
    pub(crate) root: RootFacts,
    pub(crate) tests: Items<'f>,
}

/// The facts of a test, with its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedTest<'f> {
    /// Its number in the list.
    pub(crate) index: usize,
    /// The byte where its node begins.
    pub(crate) start: usize,
    pub(crate) facts: &'f TestFacts,
}

/// A name, and where it is. Its absolute place is made out only when there is something to say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed<'f> {
    pub(crate) named: &'f Named,
    /// The number of the test that it is in, and where the node of the test begins. `None` in another section.
    test: Option<(usize, usize)>,
}

impl<'f> SuiteFacts<'f> {
    /// Returns the tests that say something about a topic.
    pub(crate) fn about(&self, about: About) -> impl Iterator<Item = PlacedTest<'f>> {
        self.placed(self.tests.about(about))
    }

    /// Returns the tests that have the name of another one.
    pub(crate) fn namesakes(&self) -> impl Iterator<Item = PlacedTest<'f>> {
        self.placed(self.tests.sharing(About::Name))
    }

    fn placed(&self, numbers: impl Iterator<Item = usize>) -> impl Iterator<Item = PlacedTest<'f>> {
        let tests = self.tests;
        numbers
            .filter_map(move |index| Some(PlacedTest { index, start: tests.start(index), facts: tests.facts(index)? }))
    }

    /// Returns the tests that name a prompt or models.
    pub(crate) fn referring(&self) -> impl Iterator<Item = PlacedTest<'f>> {
        let mut numbers: Vec<usize> = self.tests.about(About::Prompt).chain(self.tests.about(About::Models)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        self.placed(numbers.into_iter())
    }

    /// Whether a test says something about a topic.
    pub(crate) fn has(&self, about: About) -> bool {
        self.tests.about(about).next().is_some()
    }

    /// Returns the first prompt that a test sends.
    pub(crate) fn first_prompt(&self) -> Option<Placed<'f>> {
        self.about(About::Prompt).find_map(|test| Some(test.place(test.facts.prompt.as_ref()?)))
    }

    /// Returns the sections that a test with a prompt needs, and that are not there or hold nothing.
    pub(crate) fn lacking(&self) -> impl Iterator<Item = &Section> {
        self.root.sections.iter().filter(|section| !section.filled && section.readable)
    }

    /// Whether a part of a test cannot be read: what seems to be absent may be in it.
    pub(crate) fn has_damage(&self) -> bool {
        self.has(About::Damage)
    }

    /// Returns the first test that a model judges, by its claim.
    pub(crate) fn first_judge(&self) -> Option<Placed<'f>> {
        self.about(About::Judge).find_map(|test| Some(test.place(test.facts.judge.as_ref()?)))
    }
}

impl<'f> PlacedTest<'f> {
    /// Returns a name of the test.
    pub(crate) fn place(&self, named: &'f Named) -> Placed<'f> {
        Placed { named, test: Some((self.index, self.start)) }
    }
}

impl<'f> Placed<'f> {
    /// Returns a name of another section.
    pub(crate) fn of_root(named: &'f Named) -> Placed<'f> {
        Placed { named, test: None }
    }

    /// Returns where it is in the document.
    pub(crate) fn place(&self) -> (Pointer, Range<usize>) {
        let Named { at, range, .. } = self.named;
        match self.test {
            None => (at.clone(), range.clone()),
            Some((index, start)) => {
                (Pointer::root().key("tests").index(index).join(at), range.start + start..range.end + start)
            }
        }
    }

    /// Returns a mistake in the name.
    pub(crate) fn finding(&self, rule: impl Rule + 'static) -> Finding {
        let (at, range) = self.place();
        Finding::new(rule, at, range)
    }
}

impl Finding {
    /// Returns the same with a name that belongs to it.
    pub(crate) fn with_name(self, label: &'static str, name: Placed<'_>) -> Finding {
        let (at, range) = name.place();
        self.related(Relation::Labelled(label), at, range)
    }
}

/// Returns the sections that unknown keys of the root seem to be meant for: the names of the keys are the mistake.
fn misspelt_sections(root: &Spot<'_>) -> Vec<&'static str> {
    let names: Vec<&'static str> = Shape::of(SpecFile::KINDLM).fields(None).iter().map(|field| field.name).collect();
    let unknown = root.entries().into_iter().map(|(key, _)| key).filter(|key| !names.contains(&key.as_str()));
    unknown.filter_map(|key| nearest(&key, names.iter().copied())).collect()
}

/// Returns the facts of the sections other than `tests`.
pub(crate) fn root_facts(root: NodeRef<'_>) -> RootFacts {
    let root = Spot::root(root);
    let misspelt = misspelt_sections(&root);
    let section = |name: &'static str| {
        let spot = root.get(name);
        let key = spot.as_ref().and_then(|spot| spot.key).map(NodeRef::range);
        let readable = spot.as_ref().map_or(!misspelt.contains(&name), |spot| match name {
            "models" => {
                spot.is_list()
                    && spot.items().iter().all(|model| model.find(&["id"]).is_some_and(|id| id.text().is_some()))
            }
            _ => spot.is_mapping(),
        });
        Section { name, key, filled: spot.is_some_and(|spot| !spot.is_empty()), readable }
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
        judge_model: root.find(&["defaults", "judgeModel"]).and_then(|spot| named(&spot, 0)),
        gates: gates
            .into_iter()
            .filter(|(name, gate)| can_fail(name, gate))
            .map(|(name, gate)| place(name, &gate, 0))
            .collect(),
        timeout_ms: root.find(&["defaults", "timeoutMs"]).and_then(|timeout| timeout.number()),
    }
}

/// Whether the number of a gate is one that could be missed. Others are reported by a rule of their own.
fn can_fail(name: &str, gate: &Spot<'_>) -> bool {
    let idle = if name == "driftScoreMax" { 1.0 } else { 0.0 };
    gate.number().is_some_and(|number| (0.0..=1.0).contains(&number) && number != idle)
}

fn prompt_facts(name: String, prompt: &Spot<'_>) -> Option<PromptFacts> {
    let named = Named { name, at: prompt.at.clone(), range: prompt.key?.range(), own: prompt.is_own() };
    let mut found: Vec<Named> = Vec::new();
    for field in ["system", "user", "assistant"] {
        let Some(spot) = prompt.get(field) else { continue };
        for placeholder in placeholders(spot.text().unwrap_or_default()) {
            if !placeholder.is_reserved() && !found.iter().any(|named| named.name == placeholder.name) {
                let range = spot.part(placeholder.text, 0);
                let name = placeholder.name.to_owned();
                found.push(Named { name, at: spot.at.clone(), range, own: spot.is_own() });
            }
        }
    }
    Some(PromptFacts { named, placeholders: found })
}

impl TestFacts {
    /// Returns what rules between tests are about.
    fn topics(&self) -> Vec<Topic> {
        let name = self.name.iter().map(|name| Topic::named(About::Name, &name.name));
        let others = [
            (About::Prompt, self.prompt.is_some()),
            (About::Models, self.models.is_some()),
            (About::Judge, self.judge.is_some()),
            (About::Drift, self.has_drift),
            (About::PlainClaims, self.has_plain_claims),
            (About::Embedding, self.embedding.is_some()),
            (About::Latency, self.latency.is_some()),
            (About::Damage, self.is_damaged),
        ];
        name.chain(others.into_iter().filter(|(_, applies)| *applies).map(|(about, _)| Topic::of(about))).collect()
    }
}

/// Returns the facts of one test.
pub(crate) fn test_facts(test: NodeRef<'_>) -> Facts {
    let facts = read_test(test);
    let topics = facts.topics();
    Facts::new(facts, topics)
}

pub(crate) fn read_test(test: NodeRef<'_>) -> TestFacts {
    let start = test.range().start;
    let test = Spot::root(test);
    let text = |key: &str| test.get(key).and_then(|spot| named(&spot, start));
    let models = test.get("models").filter(Spot::is_list);
    TestFacts {
        name: text("name"),
        has_command: test.get("command").is_some(),
        prompt: text("prompt").or_else(|| {
            // A prompt of a wrong type is still a prompt test.
            let spot = test.get("prompt")?;
            let range = relative(spot.range(), start);
            Some(Named { name: String::new(), at: spot.at.clone(), range, own: false })
        }),
        models: models.map(|models| models.items().iter().filter_map(|model| named(model, start)).collect()),
        vars: keys(test.get("vars"), start),
        judge: test
            .find(&["expect", "judge"])
            .filter(|judge| judge.is_list() && !judge.is_empty())
            .map(|judge| Named { name: String::new(), range: relative(judge.head(), start), own: false, at: judge.at }),
        has_drift: test.find(&["expect", "baseline", "drift"]).is_some(),
        has_plain_claims: expects(&test).iter().any(|expect| {
            let mut claims = expect.node.entries().filter_map(|entry| entry.key.text());
            claims.any(|claim| !["judge", "baseline"].contains(&claim))
        }),
        embedding: test
            .find(&["expect", "baseline", "drift", "method"])
            .filter(|method| method.text() == Some("embedding"))
            .map(|method| place(String::new(), &method, start)),
        latency: test
            .find(&["expect", "latency", "maxMs"])
            .and_then(|most| Some((place(String::new(), &most, start), most.number()?))),
        is_damaged: is_damaged(test.node),
    }
}

fn place(name: String, spot: &Spot<'_>, start: usize) -> Named {
    Named { name, at: spot.at.clone(), range: relative(spot.range(), start), own: spot.is_own() }
}

fn named(spot: &Spot<'_>, start: usize) -> Option<Named> {
    let name = spot.text()?.to_owned();
    Some(Named { name, at: spot.at.clone(), range: relative(spot.range(), start), own: spot.is_own() })
}

fn keys(mapping: Option<Spot<'_>>, start: usize) -> Vec<Named> {
    let entries = mapping.map(|mapping| mapping.entries()).unwrap_or_default();
    entries
        .into_iter()
        .map(|(name, spot)| Named { name, range: relative(spot.head(), start), own: spot.is_own(), at: spot.at })
        .collect()
}

fn relative(range: Range<usize>, start: usize) -> Range<usize> {
    range.start.saturating_sub(start)..range.end.saturating_sub(start)
}
