//! Names of KindLM that are used and not defined.

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
    finding::{Report, Rule, Site, Words},
    json_schema::SpecFile,
    problem::{Code, Edit, Fix, Severity},
    shape::{Shape, scalar},
    spot::Spot,
    validate::{Context, rename_title},
    words::{Search, all_of},
};

/// A name that its section does not define.
#[derive(Debug)]
struct UnknownName {
    /// What it names: "prompt".
    what: &'static str,
    name: String,
    section: &'static str,
    /// The name that is most likely meant.
    near: Option<String>,
    defined: Rc<Defined>,
    /// Whether a definition that is alone in its section must be the one that is meant.
    may_be_only: bool,
    /// Whether the name is written here.
    is_own: bool,
}

/// The names that a section defines. Thousands of problems may list them.
#[derive(Debug)]
struct Defined {
    names: Vec<String>,
    listed: OnceCell<String>,
}

/// A tool that the test does not give to the model.
#[derive(Debug)]
struct UnknownTool {
    name: String,
    near: Option<String>,
    tools: Vec<String>,
}

/// An argument that the `parameters` of a tool do not have.
#[derive(Debug)]
struct UnknownArgument {
    tool: String,
    argument: String,
    near: Option<String>,
    known: Vec<String>,
}

/// A section and the names that it defines.
struct Section<'n> {
    /// What each name is: "prompt".
    what: &'static str,
    name: &'static str,
    names: Vec<&'n str>,
    set: HashSet<&'n str>,
    /// Whether names can be like each other: a provider that is asked for exists, and where it is not defined under its name
    /// the definition is misspelt.
    is_open: bool,
    /// The names, once a problem lists them.
    defined: OnceCell<Rc<Defined>>,
}

impl<'n> Section<'n> {
    fn new(what: &'static str, name: &'static str, defined: impl IntoIterator<Item = &'n Named>) -> Section<'n> {
        let names: Vec<&str> = defined.into_iter().map(|named| named.name.as_str()).collect();
        let set = names.iter().copied().collect();
        Section { what, name, names, set, is_open: what != "provider", defined: OnceCell::new() }
    }

    /// Reports a name that the section does not define.
    fn check(&self, place: Placed<'_>, search: &mut Search, report: &mut Report) {
        let name = &place.named.name;
        if self.set.contains(name.as_str()) {
            return;
        }
        let near = search.nearest(name, self.names.iter().copied()).filter(|_| self.is_open);
        let defined = self.defined.get_or_init(|| {
            let names = self.names.iter().map(|name| (*name).to_owned()).collect();
            Rc::new(Defined { names, listed: OnceCell::new() })
        });
        report.push(place.finding(UnknownName {
            what: self.what,
            name: name.clone(),
            section: self.name,
            near: near.map(str::to_owned),
            defined: Rc::clone(defined),
            may_be_only: self.is_open,
            is_own: place.named.own,
        }));
    }
}

/// References between sections and tests.
pub(crate) fn check_relations(suite: &SuiteFacts<'_>, report: &mut Report) {
    let root = &suite.root;
    let mut search = Search::default();
    let prompts = Section::new("prompt", "prompts", root.prompts.iter().map(|prompt| &prompt.named));
    let models = Section::new("model", "models", &root.models);
    let providers = Section::new("provider", "providers", &root.providers);
    let [providers_section, models_section, prompts_section] = &root.sections;
    for test in suite.referring() {
        if let Some(prompt) = test.facts.prompt.as_ref().filter(|prompt| !prompt.name.is_empty())
            && prompts_section.filled
            && prompts_section.readable
        {
            prompts.check(test.place(prompt), &mut search, report);
        }
        for model in test.facts.models.iter().flatten().filter(|_| models_section.readable) {
            models.check(test.place(model), &mut search, report);
        }
    }
    // A section that holds no provider of that name and a key that is none: that key is the mistake.
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

/// Returns the provider that a model asks for and that is not defined, where a part of a file is its `providers`. A key
/// there that is not a provider may be that one.
pub(crate) fn missing_provider(context: &Context<'_>, at: &Pointer) -> Option<String> {
    if context.file != SpecFile::KINDLM || !context.base.is_root() || *at != Pointer::root().key("providers") {
        return None;
    }
    let root = Spot::root(context.node);
    let providers = root.get("providers").filter(Spot::is_mapping)?;
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

/// The tools that expectations name, and their arguments.
pub(crate) fn check_test(test: &Spot<'_>, tools: &Tools<'_>, report: &mut Report) {
    for tool in &tools.tools {
        let responses = tool.spot.get("responses").map(|list| list.items()).unwrap_or_default();
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
        let mut names: Vec<String> = tools.tools.iter().map(|tool| tool.name.to_owned()).collect();
        names.dedup();
        report.push(unknown.call.tool.finding(UnknownTool {
            name: unknown.call.name.to_owned(),
            near: unknown.near.map(str::to_owned),
            tools: names,
        }));
    }
}

fn check_arguments(tool: &Tool<'_>, args: &Spot<'_>, report: &mut Report) {
    let Some(parameters) = tool.spot.get("parameters") else { return };
    let Some(properties) = parameters.get("properties").filter(|it| it.is_mapping() && !it.is_empty()) else { return };
    let is_open = parameters.get("additionalProperties").is_some_and(|more| more.bool() != Some(false));
    if is_open || parameters.get("patternProperties").is_some() {
        return;
    }
    let known: Vec<String> = properties.entries().into_iter().map(|(key, _)| key).collect();
    let mut search = Search::default();
    for (argument, arg) in args.entries().into_iter().filter(|(key, _)| !known.contains(key)) {
        let near = search.nearest(&argument, known.iter().map(String::as_str)).map(str::to_owned);
        let (tool, known) = (tool.name.to_owned(), known.clone());
        report.push(arg.head_finding(UnknownArgument { tool, argument, near, known }));
    }
}

impl Rule for UnknownName {
    const CODE: Code = Code::UnknownReference;

    fn words(&self, site: &Site<'_>) -> Words {
        let UnknownName { what, name, section, near, defined, .. } = self;
        let words = Words::new(format!("unknown {what} `{name}`"));
        let words = match near {
            Some(near) => words.help(format!("change it to `{near}`")),
            None if defined.names.is_empty() => words.note(format!("`{section}` defines none")),
            None => {
                let listed = defined.listed.get_or_init(|| all_of(defined.names.iter().map(String::as_str)));
                words.note(format!("`{section}` defines {listed}"))
            }
        };
        let fix = |name: &str| {
            (format!("change it to `{name}`"), vec![Edit::new(site.range.clone(), scalar(name))])
        };
        match (near, defined.names.as_slice()) {
            _ if !self.is_own => words,
            (Some(near), _) => {
                let (title, edits) = fix(near);
                words.fix([Fix::guess(title, edits)])
            }
            (None, [only]) if self.may_be_only => {
                let (title, edits) = fix(only);
                words.fix([Fix::suggestion(title, edits)])
            }
            (None, _) => words,
        }
    }
}

impl Rule for UnknownTool {
    const CODE: Code = Code::UnknownReference;
    const SEVERITY: Severity = Severity::Warning;

    fn words(&self, site: &Site<'_>) -> Words {
        let words = Words::new(format!("unknown tool `{}`", self.name));
        let Some(near) = &self.near else {
            return words.note(format!("`tools` has {}", all_of(self.tools.iter().map(String::as_str))));
        };
        words.remedy(format!("change it to `{near}`"), Fix::guess, site.replaced(scalar(near)))
    }
}

impl Rule for UnknownArgument {
    const CODE: Code = Code::UnknownReference;
    const SEVERITY: Severity = Severity::Warning;

    fn words(&self, site: &Site<'_>) -> Words {
        let words = Words::new(format!("`{}` has no argument `{}`", self.tool, self.argument));
        let Some(near) = &self.near else {
            return words.note(format!("it has {}", all_of(self.known.iter().map(String::as_str))));
        };
        let edits = site.spot().and_then(|spot| spot.renamed(near));
        words.fix(edits.map(|edits| Fix::guess(rename_title(near), edits))).help(rename_title(near))
    }
}
