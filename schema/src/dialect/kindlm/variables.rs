//! Variables of a test, and the placeholders of its command or prompt.

use std::{
    cell::OnceCell,
    collections::{HashMap, HashSet},
    ops::Range,
};

use crate::{
    edit,
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::Edit,
    relations::Named,
    template::{Placeholder, is_variable_name, placeholders},
    validate::{Definition, line_in_order},
    words::Search,
};

use super::facts::{About, Placed, PlacedTest, PromptFacts, SuiteFacts};

/// Maximum number of placeholders of a text to check individually: each check reads the whole text.
pub(crate) const MAX_PLACEHOLDERS: usize = 512;

/// Command of a test, with its placeholders and variables.
#[derive(Debug)]
pub(crate) struct Command<'d> {
    pub(crate) lint_node: LintNode<'d>,
    pub(crate) template: &'d str,
    pub(crate) placeholders: Vec<Placeholder<'d>>,
    /// Variables of the test.
    pub(crate) vars: Vec<(String, LintNode<'d>)>,
    /// Placeholders without a value, only the first one of each name.
    pub(crate) missing: Vec<Missing>,
    /// Variables that the command does not use.
    pub(crate) idle: Vec<Idle>,
    /// Ranges of the placeholders, computed on first use.
    places: OnceCell<HashMap<String, Range<usize>>>,
}

/// A placeholder of a command without a value.
#[derive(Debug)]
pub(crate) struct Missing {
    /// Index of the placeholder.
    pub(crate) number: usize,
    /// Most similar variable.
    pub(crate) near: Option<String>,
}

/// A variable that the command does not use.
#[derive(Debug)]
pub(crate) struct Idle {
    /// Index of the variable.
    pub(crate) number: usize,
    pub(crate) reason: Reason,
}

/// Reason why a command does not use a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The placeholder has spaces around the name.
    Spaced,
    /// The name is not valid in a placeholder.
    Unnameable,
    /// No placeholder has the name.
    Unnamed,
}

/// Returns the variables of a test.
pub(crate) fn vars<'d>(test: &LintNode<'d>) -> Vec<(String, LintNode<'d>)> {
    test.get("vars").filter(LintNode::is_mapping).map(|vars| vars.entries()).unwrap_or_default()
}

impl<'d> Command<'d> {
    /// Reads the command of a test. `None` if it has none.
    pub(crate) fn of(test: &LintNode<'d>) -> Option<Command<'d>> {
        let lint_node = test.get("command")?;
        let template = lint_node.text()?;
        let placeholders = placeholders(template);
        let vars = vars(test);
        let used: HashSet<&str> = placeholders.iter().map(|placeholder| placeholder.name).collect();
        let given: HashSet<&str> = vars.iter().map(|(name, _)| name.as_str()).collect();
        let mut search = Search::default();
        let mut seen: HashSet<&str> = HashSet::new();
        let lacks = |(_, placeholder): &(usize, &Placeholder<'_>)| {
            !placeholder.is_reserved() && !given.contains(placeholder.name)
        };
        let missing: Vec<Missing> = placeholders
            .iter()
            .enumerate()
            .filter(lacks)
            .filter(|(_, placeholder)| seen.insert(placeholder.name))
            .map(|(number, placeholder)| {
                let near = search.nearest(placeholder.name, vars.iter().map(|(name, _)| name.as_str()));
                Missing { number, near: near.map(str::to_owned) }
            })
            .collect();
        let meant: HashSet<&str> = missing.iter().filter_map(|missing| missing.near.as_deref()).collect();
        let spaced = names_in_spaces(template);
        let is_idle = |name: &str| !name.starts_with("env.") && !meant.contains(name) && !used.contains(name);
        let reason = |name: &str| {
            if spaced.contains(name) {
                Reason::Spaced
            } else if is_variable_name(name) {
                Reason::Unnamed
            } else {
                Reason::Unnameable
            }
        };
        let idle = vars.iter().enumerate().filter(|(_, (name, _))| is_idle(name));
        let idle = idle.map(|(number, (name, _))| Idle { number, reason: reason(name) }).collect();
        Some(Command { lint_node, template, placeholders, vars, missing, idle, places: OnceCell::new() })
    }

    /// Returns the range of a placeholder.
    pub(crate) fn range_of(&self, number: usize) -> Range<usize> {
        let places = self.places.get_or_init(|| self.lint_node.placeholder_places());
        let place = self.placeholders.get(number).and_then(|placeholder| places.get(placeholder.text));
        place.cloned().unwrap_or_else(|| self.lint_node.head_or_line())
    }

    /// Returns the values by name; for duplicate names, the first one.
    pub(crate) fn values(&self) -> HashMap<&str, &LintNode<'d>> {
        self.vars.iter().rev().map(|(name, var)| (name.as_str(), var)).collect()
    }

    /// Returns the variables that the command does not use for a certain reason.
    pub(crate) fn idle_as(&self, reason: Reason) -> impl Iterator<Item = (&str, &LintNode<'d>)> {
        let idle = self.idle.iter().filter(move |idle| idle.reason == reason);
        idle.map(|idle| &self.vars[idle.number]).map(|(name, var)| (name.as_str(), var))
    }
}

/// Returns the names in braces with a space on either side: `{{ name }}`.
fn names_in_spaces(template: &str) -> HashSet<&str> {
    let rests = template.match_indices("{{ ").map(|(at, open)| &template[at + open.len()..]);
    rests.map_while(|rest| rest.find(" }}").map(|end| &rest[..end])).collect()
}

/// A prompt of a test whose placeholders do not match the test's variables.
pub(crate) struct Sent<'f> {
    test: PlacedTest<'f>,
    /// Reference to the prompt in the test.
    pub(crate) prompt: &'f Named,
    /// Placeholders without a value, each with the most similar variable.
    pub(crate) missing: Vec<(&'f Named, Option<&'f Named>)>,
    /// Variables that the prompt does not use.
    pub(crate) unused: Vec<&'f Named>,
}

impl<'f> Sent<'f> {
    /// Returns a name of the test.
    pub(crate) fn place(&self, named: &'f Named) -> Placed<'f> {
        self.test.place(named)
    }
}

/// Returns the prompts of tests that have mismatches.
pub(crate) fn sent<'f>(suite: &'f SuiteFacts<'f>) -> Vec<Sent<'f>> {
    let mut search = Search::default();
    // For duplicate names, the first one counts.
    let prompts: HashMap<&str, &PromptFacts> =
        suite.root.prompts.iter().rev().map(|prompt| (prompt.named.name.as_str(), prompt)).collect();
    let mut all = Vec::new();
    for test in suite.about(About::Prompt) {
        let Some(named) = test.facts.prompt.as_deref().filter(|_| !test.facts.has_command) else { continue };
        let Some(prompt) = prompts.get(named.name.as_str()) else { continue };
        let vars = &test.facts.vars;
        let used: HashSet<&str> = prompt.placeholders.iter().map(|placeholder| placeholder.name.as_str()).collect();
        let given: HashSet<&str> = vars.iter().map(|var| var.name.as_str()).collect();
        // Variables that could be misspelled.
        let spare: Vec<&Named> =
            vars.iter().filter(|var| !used.contains(var.name.as_str())).take(MAX_PLACEHOLDERS).collect();
        let mut meant: HashSet<&str> = HashSet::new();
        let mut missing = Vec::new();
        for placeholder in prompt.placeholders.iter().filter(|it| !given.contains(it.name.as_str())) {
            let candidates = spare.iter().map(|var| var.name.as_str()).filter(|name| !meant.contains(name));
            let near = search.nearest(&placeholder.name, candidates);
            let near = spare.iter().copied().find(|var| Some(var.name.as_str()) == near);
            meant.extend(near.map(|var| var.name.as_str()));
            missing.push((placeholder, near));
        }
        let is_unused = |var: &&Named| {
            let name = var.name.as_str();
            is_variable_name(name) && !name.starts_with("env.") && !used.contains(name) && !meant.contains(name)
        };
        let unused: Vec<&Named> = vars.iter().filter(is_unused).collect();
        if !missing.is_empty() || !unused.is_empty() {
            all.push(Sent { test, prompt: named, missing, unused });
        }
    }
    all
}

/// Returns the edits that add a variable to a test.
pub(crate) fn addition(test: &LintNode<'_>, name: &str) -> Option<Vec<Edit>> {
    let line = format!("{name}: \"\"");
    match test.get("vars") {
        Some(vars) if vars.is_mapping() => edit::entry_at_front(vars.node, &line),
        Some(vars) => edit::fill(vars.entry()?, &format!("{{ {line} }}")),
        None => {
            let shape = Definition::Item(SpecFile::KINDLM, "tests").shape();
            line_in_order(test.node, shape, "vars", &format!("vars: {{ {line} }}"))
        }
    }
}
