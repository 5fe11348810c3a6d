//! Facts of an item that checks between items need.

use std::ops::Range;

use super::{assertion::Assertion, statements::Statement, typed_assertion::TypedAssertion};
use crate::{
    document::{NodeRef, Pointer},
    lint_node::LintNode,
    relations::{Facts, Kind, Named, Topic},
};

/// Topics of rules between items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// An expected file.
    Expected,
    /// The tag `negative`.
    Negative,
    /// Handoff contract of a stage.
    Handoff,
    /// Parameters that are not sent to an agent as they are.
    Params,
    /// An assertion that waits.
    Timeout,
    /// The parameter `test_mode`.
    TestMode,
}

impl Kind for About {
    type Facts = ItemFacts;

    fn number(self) -> u8 {
        self as u8
    }
}

/// Facts of an item that checks between items need.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ItemFacts {
    /// Whether the scenario has the tag `negative`.
    pub negative: bool,
    /// Agent of a stage.
    pub agent: Option<Named>,
    /// Handoff contract of a stage.
    pub handoff: Option<Named>,
    /// Parameters of a scenario that are not sent to an agent as they are.
    pub params: Option<Params>,
    /// Whether an assertion under `then` waits.
    pub has_timeout: bool,
    /// Whether the parameters of a scenario contain `test_mode`.
    pub has_test_mode: bool,
    /// Files that must exist after a scenario.
    pub expected: Vec<Expected>,
    /// Files that must not exist before a scenario.
    pub absent: Vec<String>,
}

/// A file that an assertion requires.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expected {
    /// Path of the file.
    pub path: Named,
    /// Block that contains the written path, and its offset there. Aliased values are written elsewhere.
    pub written: Option<(u64, usize)>,
    /// Whether a file from before the run is accepted.
    pub may_be_old: bool,
}

/// Parameters of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Params {
    /// Location of the parameters.
    pub place: Named,
    /// Whether they contain the message for an agent as a value that is not a string.
    pub is_task: bool,
}

impl ItemFacts {
    /// Returns the topics of rules between items.
    fn topics(&self) -> Vec<Topic> {
        let expected = self.expected.iter().map(|expected| Topic::named(About::Expected, &expected.path.name));
        let others = [
            (About::Negative, self.negative),
            (About::Handoff, self.handoff.is_some()),
            (About::Params, self.params.is_some()),
            (About::Timeout, self.has_timeout),
            (About::TestMode, self.has_test_mode),
        ];
        expected.chain(others.into_iter().filter(|(_, applies)| *applies).map(|(about, _)| Topic::of(about))).collect()
    }
}

/// Returns the facts of a scenario or a stage.
pub(crate) fn of(item: NodeRef<'_>) -> Facts {
    let facts = read(item);
    let topics = facts.topics();
    Facts::new(facts, topics)
}

fn read(item: NodeRef<'_>) -> ItemFacts {
    let start = item.range().start;
    let item = LintNode::root(item);
    let placed = |name: &str, at: &Pointer, range: Range<usize>| Named::new(name, at, range, start);
    let named = |key: &str| {
        let lint_node = item.get(key)?;
        Some(placed(lint_node.text()?, &lint_node.at, lint_node.range()))
    };
    let params = item.find(&["when", "params"]).filter(|params| !params.is_empty() && !params.node.is_null());
    let spawns = item.find(&["when", "invoke"]).is_some_and(|invoke| invoke.text() == Some("sessions_spawn"));
    let params = params.and_then(|params| {
        if !spawns {
            return Some(Params { place: placed("params", &params.at, params.head()), is_task: false });
        }
        let task = params.get("task").filter(|task| task.text().is_none() && !task.node.is_null())?;
        Some(Params { place: placed("task", &task.at, task.range()), is_task: true })
    });
    let tags = item.get("tags").map(|tags| tags.texts()).unwrap_or_default();
    // Tags that are written as one string are reported separately.
    let in_text = item.get("tags").and_then(|tags| tags.text().map(|text| text.contains("negative")));
    ItemFacts {
        negative: in_text == Some(true) || tags.iter().any(|(tag, _)| *tag == "negative"),
        agent: named("agent"),
        handoff: named("handoff_contract"),
        params,
        has_timeout: item
            .node
            .get("then")
            .is_some_and(|then| then.items().any(|assertion| assertion.get("timeout").is_some())),
        has_test_mode: item.find(&["when", "params", "test_mode"]).is_some(),
        expected: expected(&item, &placed),
        absent: assertions(&item, "given")
            .flat_map(|(_, said)| said)
            .filter_map(|said| Some(said.file(false)?.0.to_owned()))
            .collect(),
    }
}

/// Returns the block that contains a value as written, and its offset there.
fn written(value: NodeRef<'_>) -> Option<(u64, usize)> {
    let (start, block) = value.document().block_of(value)?;
    Some((block.id(), value.own_range().start - start))
}

/// Returns the files that assertions of a scenario wait for.
fn expected<'d>(item: &LintNode<'d>, placed: &dyn Fn(&str, &Pointer, Range<usize>) -> Named) -> Vec<Expected> {
    let mut found = Vec::new();
    for (assertion, said) in assertions(item, "then").filter(|(it, _)| it.info.is_some_and(|info| info.waits)) {
        found.extend(said.iter().filter_map(|said| said.file(true)).map(|(text, path)| Expected {
            path: placed(text, &path.at, path.range()),
            written: written(path.node),
            may_be_old: assertion.get("updated_after").is_none(),
        }));
    }
    found
}

/// Returns the assertions of a list, and what each says.
fn assertions<'d>(item: &LintNode<'d>, list: &str) -> impl Iterator<Item = (TypedAssertion<'d>, Vec<Statement<'d>>)> {
    let assertions = item.get(list).map(|list| TypedAssertion::all_of(&list)).unwrap_or_default();
    assertions.into_iter().filter_map(|assertion| {
        let said = Assertion::statements(assertion.info?.name, &assertion);
        Some((assertion, said))
    })
}
