//! Names: each is defined once, and what is referred to is defined.

use std::{
    cell::OnceCell,
    collections::{HashMap, HashSet},
};

use rustc_hash::FxHashMap;

use crate::{
    document::Pointer,
    problem::{Code, Edit, Fix, Problem, Severity, Subject},
    spot::Spot,
    words::{Search, all_of},
};

use super::facts::{Named, RootFacts, TestFacts};

/// Turn labels are unique in their test.
pub(super) fn lint_turns(test: &Spot<'_>, problems: &mut Vec<Problem>) {
    let mut seen: HashMap<&str, Spot<'_>> = HashMap::new();
    for turn in test.get("conversation").map(|turns| turns.items()).unwrap_or_default() {
        let Some(label) = turn.get("turn") else { continue };
        let Some(name) = label.text() else { continue };
        if let Some(first) = seen.get(name) {
            let problem = label
                .problem(Code::DuplicateName, format!("duplicate turn label `{name}`"))
                .with_help("give each turn a label of its own")
                .with_subject(Subject::Name(name.to_owned()));
            problems.push(problem.with_related("first used here", first.at.clone(), first.range()));
        } else {
            seen.insert(name, label);
        }
    }
}

/// Ids, names and references between sections and tests; what is defined and never used.
pub(super) fn lint(root: &RootFacts, tests: &[(usize, &TestFacts)], problems: &mut Vec<Problem>) {
    let ids: Vec<&Named> = root.models.iter().collect();
    duplicates(ids.iter().map(|named| Placed::of_root(named)), "model id", problems);
    let names = tests
        .iter()
        .enumerate()
        .filter_map(|(index, (start, test))| Some(Placed::of_test(test.name.as_ref()?, index, *start)));
    duplicates(names, "test name", problems);

    let mut search = Search::default();
    let known_prompts = Section::new("prompts", root.prompts.iter().map(|prompt| &prompt.named));
    let known_models = Section::new("models", &root.models);
    let known_providers = Section::new("providers", &root.providers);
    let prompts: HashSet<&str> = root.prompts.iter().map(|prompt| prompt.named.name.as_str()).collect();
    let models: HashSet<&str> = root.models.iter().map(|model| model.name.as_str()).collect();
    let [providers_section, models_section, prompts_section] = &root.sections;
    for (index, (start, test)) in tests.iter().enumerate() {
        if let Some(prompt) = test.prompt.as_ref().filter(|prompt| !prompt.name.is_empty())
            && prompts_section.filled
            && prompts_section.readable
            && !prompts.contains(prompt.name.as_str())
        {
            let place = Placed::of_test(prompt, index, *start);
            problems.push(unknown(place, "prompt", &known_prompts, &mut search));
        }
        let unknown_model = |model: &&Named| models_section.readable && !models.contains(model.name.as_str());
        for model in test.models.iter().flatten().filter(unknown_model) {
            let place = Placed::of_test(model, index, *start);
            problems.push(unknown(place, "model", &known_models, &mut search));
        }
    }
    let providers: HashSet<&str> = root.providers.iter().map(|provider| provider.name.as_str()).collect();
    // A section that holds no provider of that name and a key that is none: that key is the mistake.
    let is_misspelt = root.providers.iter().any(|provider| !is_provider(&provider.name));
    if providers_section.filled && providers_section.readable && !is_misspelt {
        for provider in root.model_providers.iter().filter(|named| is_provider(&named.name)) {
            if !providers.contains(provider.name.as_str()) {
                let place = Placed::of_root(provider);
                problems.push(unknown(place, "provider", &known_providers, &mut search));
            }
        }
    }
    if let Some(judge) =
        root.judge_model.as_ref().filter(|judge| models_section.readable && !models.contains(judge.name.as_str()))
    {
        problems.push(unknown(Placed::of_root(judge), "model", &known_models, &mut search));
    }
    if !models_section.filled
        && root.judge_model.is_none()
        && let Some((index, start, judge)) =
            tests.iter().enumerate().find_map(|(index, (start, test))| Some((index, *start, test.judge.as_ref()?)))
    {
        let place = Placed::of_test(judge, index, start);
        let problem = place.problem(Code::MissingField, "`judge` needs a model, and `models` has none");
        problems.push(problem.with_severity(Severity::Warning).with_help("add a model to `models`"));
    }
    unused(root, tests, problems);
}

/// A key below `providers` that is none of them is an error where a model asks for a provider that is not defined.
pub(super) fn refine_providers(root: &Spot<'_>, problems: &mut [Problem]) {
    let Some(providers) = root.get("providers").filter(Spot::is_mapping) else { return };
    let models = root.get("models").map(|models| models.items()).unwrap_or_default();
    let asked = models.iter().filter_map(|model| model.get("provider")?.text());
    let missing: Vec<&str> = asked.filter(|name| is_provider(name) && providers.get(name).is_none()).collect();
    let Some(first) = missing.first() else { return };
    let section = Pointer::root().key("providers");
    let is_key = |problem: &Problem| problem.code == Code::UnknownKey && problem.at.parent().as_ref() == Some(&section);
    for problem in problems.iter_mut().filter(|problem| is_key(problem)) {
        problem.severity = Severity::Error;
        problem.add_note(format!("a model asks for the provider `{first}`, which is missing"));
    }
}

/// A name that is none of the eight kinds is a problem that validation reports.
fn is_provider(name: &str) -> bool {
    let place = Pointer::root().key("models").index(0).key("provider");
    crate::shape::Shape::find(crate::json_schema::SpecFile::KindLm, &place, None)
        .is_some_and(|shape| shape.values().iter().any(|choice| choice.value == name))
}

/// A name, and where it stands. Its absolute place is made out only when there is something to say.
#[derive(Clone, Copy)]
struct Placed<'n> {
    named: &'n Named,
    /// The test's index and where its node begins; nothing for what stands in another section.
    test: Option<(usize, usize)>,
}

impl<'n> Placed<'n> {
    fn of_root(named: &'n Named) -> Placed<'n> {
        Placed { named, test: None }
    }

    fn of_test(named: &'n Named, index: usize, start: usize) -> Placed<'n> {
        Placed { named, test: Some((index, start)) }
    }

    fn place(&self) -> (Pointer, std::ops::Range<usize>) {
        match self.test {
            None => (self.named.at.clone(), self.named.range.clone()),
            Some((index, start)) => absolute(self.named, index, start),
        }
    }

    fn problem(&self, code: Code, message: impl Into<String>) -> Problem {
        let (at, range) = self.place();
        Problem::new(code, at, range, message)
    }
}

/// The place of a test's fact in the document.
pub(super) fn absolute(named: &Named, index: usize, start: usize) -> (Pointer, std::ops::Range<usize>) {
    let at = Pointer::root().key("tests").index(index).join(&named.at);
    (at, named.range.start + start..named.range.end + start)
}

fn duplicates<'n>(names: impl Iterator<Item = Placed<'n>>, what: &str, problems: &mut Vec<Problem>) {
    let mut seen: FxHashMap<&str, Placed<'n>> = FxHashMap::default();
    seen.reserve(names.size_hint().1.unwrap_or(0));
    for place in names {
        let name = place.named.name.as_str();
        if let Some(first) = seen.get(name) {
            let (at, range) = first.place();
            let problem = place.problem(Code::DuplicateName, format!("duplicate {what} `{name}`"));
            let problem = problem.with_subject(Subject::Name(name.to_owned()));
            problems.push(problem.with_related("first used here", at, range));
        } else {
            seen.insert(name, place);
        }
    }
}

/// A section and the names that it defines.
struct Section<'n> {
    name: &'static str,
    defined: Vec<&'n str>,
    /// The names in words, once a problem says them.
    listed: OnceCell<String>,
}

impl<'n> Section<'n> {
    fn new(name: &'static str, defined: impl IntoIterator<Item = &'n Named>) -> Section<'n> {
        let defined = defined.into_iter().map(|named| named.name.as_str()).collect();
        Section { name, defined, listed: OnceCell::new() }
    }
}

fn unknown(place: Placed<'_>, what: &str, section: &Section<'_>, search: &mut Search) -> Problem {
    let name = &place.named.name;
    let is_closed = section.name != "providers";
    // A provider that is asked for exists: where it is not defined under its name, the definition is misspelt.
    let near = search.nearest(name, section.defined.iter().copied()).filter(|_| is_closed);
    let only = section.defined.first().copied().filter(|_| section.defined.len() == 1 && is_closed);
    let mut problem = place.problem(Code::UnknownReference, format!("unknown {what} `{name}`"));
    match near {
        Some(near) => problem.help = Some(format!("change it to `{near}`")),
        None if section.defined.is_empty() => problem.note = Some(format!("`{}` defines none", section.name)),
        None => {
            let all = section.listed.get_or_init(|| all_of(section.defined.iter().copied()));
            problem.note = Some(format!("`{}` defines {all}", section.name));
        }
    }
    let range = problem.range.clone();
    let Some(name) = near.or(only).filter(|_| place.named.own) else { return problem };
    let edits = vec![Edit::new(range, crate::shape::scalar(name))];
    let title = format!("change it to `{name}`");
    problem.with_fix(if near.is_some() { Fix::guess(title, edits) } else { Fix::suggestion(title, edits) })
}

/// Prompts and models that no test asks for. One of each is left alone where no test needs any:
/// KindLM insists on it.
fn unused(root: &RootFacts, tests: &[(usize, &TestFacts)], problems: &mut Vec<Problem>) {
    let prompt_tests = || tests.iter().map(|(_, test)| *test).filter(|test| test.prompt.is_some());
    let any = prompt_tests().next().is_some();
    let used: HashSet<&str> =
        prompt_tests().filter_map(|test| test.prompt.as_ref()).map(|prompt| prompt.name.as_str()).collect();
    // What a reference that leads nowhere was to name may be what nothing else names.
    let leads_astray = used.iter().any(|name| !root.prompts.iter().any(|prompt| prompt.named.name == *name));
    if (any || root.prompts.len() > 1) && !leads_astray {
        for prompt in root.prompts.iter().filter(|prompt| !used.contains(prompt.named.name.as_str())) {
            let message = format!("no test uses the prompt `{}`", prompt.named.name);
            problems.push(Problem::new(Code::Unused, prompt.named.at.clone(), prompt.named.range.clone(), message));
        }
    }
    let asks_all = prompt_tests().any(|test| test.models.is_none());
    if asks_all || !(any || root.models.len() > 1) {
        return;
    }
    let mut used: HashSet<&str> =
        prompt_tests().flat_map(|test| test.models.iter().flatten()).map(|model| model.name.as_str()).collect();
    let judge = root.judge_model.as_ref().map(|judge| judge.name.as_str());
    let is_defined = |name: &str| root.models.iter().any(|model| model.name == name);
    if !used.iter().copied().chain(judge).all(is_defined) {
        return;
    }
    let judges = tests.iter().any(|(_, test)| test.judge.is_some());
    match &root.judge_model {
        Some(judge) => drop(used.insert(&judge.name)),
        None => drop(root.models.first().filter(|_| judges || !any).map(|first| used.insert(&first.name))),
    }
    for model in root.models.iter().filter(|model| !used.contains(model.name.as_str())) {
        let message = format!("no test uses the model `{}`", model.name);
        problems.push(Problem::new(Code::Unused, model.at.clone(), model.range.clone(), message));
    }
}
