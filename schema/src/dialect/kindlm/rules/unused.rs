//! Unused variables, prompts, models and providers of KindLM.

use std::collections::HashSet;

use crate::{
    dialect::kindlm::{
        facts::{About, Placed, SuiteFacts},
        variables::{Command, Reason, Sent},
    },
    finding::{MessageParts, Report},
    problem::Code,
    relations::Named,
};

/// Help for an unused name.
const HELP: &str = "use it, or remove it";

/// Checks the variables of a command test.
pub(crate) fn check_command(command: &Command<'_>, report: &mut Report) {
    for (name, var) in command.idle_as(Reason::Unnamed) {
        let words = MessageParts::new(format!("the command does not use `{{{{{name}}}}}`")).help(HELP);
        report.push(var.head_absence(Code::Unused, words));
    }
}

/// Checks the variables of prompt tests.
pub(crate) fn check_prompts(sent: &[Sent<'_>], report: &mut Report) {
    for (sent, var) in sent.iter().flat_map(|sent| sent.unused.iter().map(move |var| (sent, *var))) {
        let (prompt, name) = (&sent.prompt.name, &var.name);
        let words = MessageParts::new(format!("the prompt `{prompt}` does not use `{{{{{name}}}}}`")).help(HELP);
        report.push(sent.place(var).absence(Code::Unused, words));
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
    words: impl Fn(&str) -> MessageParts,
    report: &mut Report,
) {
    for named in names.filter(|named| !used.contains(named.name.as_str())) {
        report.push(Placed::of_root(named).absence(Code::Unused, words(&named.name).help(HELP)));
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
        let words = |name: &str| MessageParts::new(format!("no test uses the prompt `{name}`"));
        report_unused(prompts(), &used, words, report);
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
    let words = |name: &str| MessageParts::new(format!("no test uses the model `{name}`"));
    report_unused(root.models.iter(), &used, words, report);
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
    let words = |name: &str| {
        let words = MessageParts::new(format!("no model uses the provider `{name}`"));
        // The others need no key.
        let needs_key = !["ollama", "http", "mcp"].contains(&name);
        if needs_key { words.note("KindLM still requires its key") } else { words }
    };
    report_unused(root.providers.iter(), &used, words, report);
}
