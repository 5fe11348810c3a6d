//! Unused variables, prompts, models and providers of KindLM.

use std::collections::HashSet;

use crate::{
    dialect::kindlm::{
        facts::{About, Placed, SuiteFacts},
        variables::{Command, Reason, Sent},
    },
    finding::{Location, MessageParts, Report, Rule},
    problem::Code,
    relations::Named,
};

/// An unused name.
#[derive(Debug)]
enum Unused {
    /// A variable of a command test.
    VariableOfCommand(String),
    /// A variable of a prompt test.
    VariableOfPrompt {
        variable: String,
        prompt: String,
    },
    Prompt(String),
    Model(String),
    Provider(String),
}

/// Checks the variables of a command test.
pub(crate) fn check_command(command: &Command<'_>, report: &mut Report) {
    for (name, var) in command.idle_as(Reason::Unnamed) {
        report.push(var.head_finding(Unused::VariableOfCommand(name.to_owned())));
    }
}

/// Checks the variables of prompt tests.
pub(crate) fn check_prompts(sent: &[Sent<'_>], report: &mut Report) {
    for (sent, var) in sent.iter().flat_map(|sent| sent.unused.iter().map(move |var| (sent, *var))) {
        let rule = Unused::VariableOfPrompt { variable: var.name.clone(), prompt: sent.prompt.name.clone() };
        report.push(sent.place(var).finding(rule));
    }
}

/// Checks the names that the other sections define.
pub(crate) fn check_relations(suite: &SuiteFacts<'_>, report: &mut Report) {
    check_prompt_names(suite, report);
    check_models(suite, report);
    check_providers(suite, report);
}

fn report_unused<'n>(
    names: impl Iterator<Item = &'n Named>,
    used: &HashSet<&str>,
    rule: impl Fn(String) -> Unused,
    report: &mut Report,
) {
    for named in names.filter(|named| !used.contains(named.name.as_str())) {
        report.push(Placed::of_root(named).finding(rule(named.name.clone())));
    }
}

/// Reports prompts that no test sends. If no test needs a prompt, one is not reported, because KindLM requires one.
fn check_prompt_names(suite: &SuiteFacts<'_>, report: &mut Report) {
    let prompts = || suite.root.prompts.iter().map(|prompt| &prompt.named);
    let sent = suite.about(About::Prompt).filter_map(|test| test.facts.prompt.as_deref());
    let used: HashSet<&str> = sent.map(|prompt| prompt.name.as_str()).collect();
    // The target of an invalid reference may be a name without other references.
    let defined: HashSet<&str> = prompts().map(|prompt| prompt.name.as_str()).collect();
    let leads_astray = !used.is_subset(&defined);
    if (!used.is_empty() || suite.root.prompts.len() > 1) && !leads_astray {
        report_unused(prompts(), &used, Unused::Prompt, report);
    }
}

/// Reports models that no test uses and that do not judge. If no test needs a model, one is not reported.
fn check_models(suite: &SuiteFacts<'_>, report: &mut Report) {
    let root = &suite.root;
    let prompt_tests = || suite.about(About::Prompt).map(|test| test.facts);
    let any = prompt_tests().next().is_some();
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
    let first = || root.models.first().filter(|_| suite.first_judge().is_some() || !any);
    used.extend(judge.or_else(|| first().map(|first| first.name.as_str())));
    report_unused(root.models.iter(), &used, Unused::Model, report);
}

/// Reports providers that no model names, if models name any.
fn check_providers(suite: &SuiteFacts<'_>, report: &mut Report) {
    let root = &suite.root;
    let [providers, models, _] = &root.sections;
    let is_defined = |named: &Named| root.providers.iter().any(|provider| provider.name == named.name);
    if suite.tests.is_empty()
        || suite.has_damage()
        || !providers.readable
        || !models.readable
        || !(suite.first_prompt().is_some() || root.providers.len() > 1)
        || root.model_providers.is_empty()
        || !root.model_providers.iter().all(is_defined)
    {
        return;
    }
    let used = root.model_providers.iter().map(|provider| provider.name.as_str()).collect();
    report_unused(root.providers.iter(), &used, Unused::Provider, report);
}

impl Rule for Unused {
    const CODE: Code = Code::Unused;

    fn is_about_absence(&self) -> bool {
        true
    }

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let words = match self {
            Unused::VariableOfCommand(name) => MessageParts::new(format!("the command does not use `{{{{{name}}}}}`")),
            Unused::VariableOfPrompt { variable, prompt } => {
                MessageParts::new(format!("the prompt `{prompt}` does not use `{{{{{variable}}}}}`"))
            }
            Unused::Prompt(name) => MessageParts::new(format!("no test uses the prompt `{name}`")),
            Unused::Model(name) => MessageParts::new(format!("no test uses the model `{name}`")),
            Unused::Provider(name) => {
                let words = MessageParts::new(format!("no model uses the provider `{name}`"));
                // The others need no key.
                match name.as_str() {
                    "ollama" | "http" | "mcp" => words,
                    _ => words.note("KindLM still requires its key"),
                }
            }
        };
        words.help("use it, or remove it")
    }
}
