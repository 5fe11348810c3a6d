//! Undefined names in KindLM suites.

use std::{
    cell::OnceCell,
    collections::HashSet,
    rc::Rc,
};

use crate::{
    dialect::kindlm::{
        expects::{expects, tool_calls},
        facts::{Named, Placed, SuiteFacts},
        tools::{Tool, Tools},
    },
    document::Pointer,
    finding::Report,
    json_schema::SpecFile,
    problem::Severity,
    shape::Shape,
    lint_node::LintNode,
    validate::Context,
    words::{Search, all_of},
};

use super::Unknown;

/// A section and the names that it defines.
struct Section<'n> {
    /// Kind of the names: "prompt".
    what: &'static str,
    name: &'static str,
    names: Vec<&'n str>,
    set: HashSet<&'n str>,
    /// Whether names can be similar to each other: a required provider exists, and if it is not defined under its name,
    /// the definition is misspelt.
    is_open: bool,
    /// List of the names for messages, computed on first use.
    listed: OnceCell<Rc<str>>,
}

impl<'n> Section<'n> {
    fn new(what: &'static str, name: &'static str, defined: impl IntoIterator<Item = &'n Named>) -> Section<'n> {
        let names: Vec<&str> = defined.into_iter().map(|named| named.name.as_str()).collect();
        let set = names.iter().copied().collect();
        Section { what, name, names, set, is_open: what != "provider", listed: OnceCell::new() }
    }

    /// Reports a name that the section does not define.
    fn check(&self, place: Placed<'_>, search: &mut Search, report: &mut Report) {
        let name = &place.named.name;
        if self.set.contains(name.as_str()) {
            return;
        }
        let near = search.nearest(name, self.names.iter().copied()).filter(|_| self.is_open);
        let rule = Unknown::new(format!("unknown {} `{name}`", self.what), near).severity(Severity::Error);
        let listed = self.listed.get_or_init(|| match self.names.as_slice() {
            [] => format!("`{}` defines none", self.name).into(),
            names => format!("`{}` defines {}", self.name, all_of(names.iter().copied())).into(),
        });
        report.push(place.finding(match self.names.as_slice() {
            [only] if self.is_open => rule.or_only(Rc::clone(listed), only),
            _ => rule.or_note(Rc::clone(listed)),
        }));
    }
}

/// Checks references between sections and tests.
pub(crate) fn check_relations(suite: &SuiteFacts<'_>, report: &mut Report) {
    let root = &suite.root;
    let mut search = Search::default();
    let prompts = Section::new("prompt", "prompts", root.prompts.iter().map(|prompt| &prompt.named));
    let models = Section::new("model", "models", &root.models);
    let providers = Section::new("provider", "providers", &root.providers);
    let [providers_section, models_section, prompts_section] = &root.sections;
    for test in suite.referring() {
        if let Some(prompt) = test.facts.prompt.as_deref().filter(|prompt| !prompt.name.is_empty())
            && prompts_section.filled
            && prompts_section.readable
        {
            prompts.check(test.place(prompt), &mut search, report);
        }
        for model in test.facts.models.iter().flatten().filter(|_| models_section.readable) {
            models.check(test.place(model), &mut search, report);
        }
    }
    // If the section lacks the provider and has an invalid key, the key is reported.
    let is_misspelt = root.providers.iter().any(|provider| !is_provider(&provider.name));
    if providers_section.filled && providers_section.readable && !is_misspelt {
        for provider in root.model_providers.iter().filter(|named| is_provider(&named.name)) {
            providers.check(Placed::of_root(provider), &mut search, report);
        }
    }
    if let Some(judge) = root.judge_model.as_ref().filter(|_| models_section.readable) {
        models.check(Placed::of_root(judge), &mut search, report);
    }
}

/// Returns the undefined provider of a model, if a part of a file is its `providers`. An invalid key
/// there may be that provider.
pub(crate) fn missing_provider(context: &Context<'_>, at: &Pointer) -> Option<String> {
    if context.file != SpecFile::KINDLM || !context.base.is_root() || *at != Pointer::root().key("providers") {
        return None;
    }
    let root = LintNode::root(context.node);
    let providers = root.get("providers").filter(LintNode::is_mapping)?;
    let models = root.get("models").map(|models| models.items()).unwrap_or_default();
    let mut asked = models.iter().filter_map(|model| model.get("provider")?.text());
    asked.find(|name| is_provider(name) && providers.get(name).is_none()).map(str::to_owned)
}

/// Whether a name is one of the eight kinds of providers. Validation reports others.
fn is_provider(name: &str) -> bool {
    let place = Pointer::root().key("models").index(0).key("provider");
    Shape::find(SpecFile::KINDLM, &place, None)
        .is_some_and(|shape| shape.values().iter().any(|choice| choice.value == name))
}

/// Checks the tools in expectations, and their arguments.
pub(crate) fn check_test(test: &LintNode<'_>, tools: &Tools<'_>, report: &mut Report) {
    for tool in &tools.tools {
        let responses = tool.lint_node.get("responses").map(|list| list.items()).unwrap_or_default();
        for when in responses.iter().filter_map(|response| response.get("when")) {
            check_arguments(tool, &when, report);
        }
    }
    for call in expects(test).iter().flat_map(tool_calls) {
        if let Some((tool, args)) = tools.get(call.name).zip(call.call.get("argsMatch")) {
            check_arguments(tool, &args, report);
        }
    }
    for unknown in tools.unknown.iter().filter(|unknown| !unknown.call.is_forbidden || unknown.near.is_some()) {
        let mut names: Vec<&str> = tools.tools.iter().map(|tool| tool.name).collect();
        names.dedup();
        let rule = Unknown::new(format!("unknown tool `{}`", unknown.call.name), unknown.near);
        report.push(unknown.call.tool.finding(rule.or_note(format!("`tools` has {}", all_of(names)))));
    }
}

fn check_arguments(tool: &Tool<'_>, args: &LintNode<'_>, report: &mut Report) {
    let Some(parameters) = tool.lint_node.get("parameters") else { return };
    let Some(properties) = parameters.get("properties").filter(|it| it.is_mapping() && !it.is_empty()) else { return };
    let is_open = parameters.get("additionalProperties").is_some_and(|more| more.bool() != Some(false));
    if is_open || parameters.get("patternProperties").is_some() {
        return;
    }
    let known: Vec<String> = properties.entries().into_iter().map(|(key, _)| key).collect();
    let mut search = Search::default();
    for (argument, arg) in args.entries().into_iter().filter(|(key, _)| !known.contains(key)) {
        let near = search.nearest(&argument, known.iter().map(String::as_str));
        let rule = Unknown::new(format!("`{}` has no argument `{argument}`", tool.name), near)
            .key()
            .or_note(format!("it has {}", all_of(known.iter().map(String::as_str))));
        report.push(arg.head_finding(rule));
    }
}
