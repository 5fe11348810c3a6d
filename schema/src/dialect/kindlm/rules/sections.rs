//! The sections of a file, and what the tests need of them: what is missing, what is unused, what cannot fail, and what
//! KindLM rejects.

use std::collections::HashSet;

use crate::{
    dialect::kindlm::facts::{About, Placed, SuiteFacts},
    document::Pointer,
    finding::{Finding, MessageParts, Report},
    lint_node::LintNode,
    problem::{Code, SettingsCondition, Severity},
    relations::Named,
    words::all_of,
};

use super::prompts::UNUSED;

/// KindLM accepts fewer than this many aliases of one anchor.
const MAX_ALIASES: usize = 100;

/// Maximum length of a file in KindLM, in UTF-16 code units.
const MAX_LENGTH: usize = 1_048_576;

/// Checks the whole file.
pub(crate) fn check(root: &LintNode<'_>, report: &mut Report) {
    let document = root.node.document();
    if document.text().len_bytes() > MAX_LENGTH && document.text().len_utf16_cu() > MAX_LENGTH {
        let words = MessageParts::new("KindLM rejects a file larger than 1 MB");
        report.push(root.head_problem(Code::UpstreamDiffers, words));
    }
    for (anchor, range) in document.aliases_beyond(MAX_ALIASES) {
        let at = document.pointer_at(range.start);
        let message = format!("KindLM rejects a file in which `&{anchor}` is used {MAX_ALIASES} times or more");
        let words = MessageParts::new(message).help("write some of the values out");
        report.push(Finding::stated(Code::UpstreamDiffers, words, at, range));
    }
}

/// Checks the sections, given the tests.
pub(crate) fn check_suite(suite: &SuiteFacts<'_>, report: &mut Report) {
    check_needed(suite, report);
    check_judge(suite, report);
    check_prompts(suite, report);
    check_models(suite, report);
    check_providers(suite, report);
    // The missing part may be in text that cannot be parsed.
    if !suite.tests.is_empty() && !suite.has(About::Damage) {
        check_gates(suite, report);
        check_latencies(suite, report);
    }
}

/// Reports sections that tests with a prompt need, or that KindLM always requires.
fn check_needed(suite: &SuiteFacts<'_>, report: &mut Report) {
    let lacking: Vec<_> = suite.root.sections.iter().filter(|section| !section.filled && section.readable).collect();
    let Some(prompt) = suite.first_prompt() else {
        let Some(first) = lacking.first().filter(|_| !suite.tests.is_empty()) else { return };
        let needed = if lacking.len() == 1 { "it" } else { "them" };
        let names = all_of(lacking.iter().map(|section| section.name));
        let words = MessageParts::new(format!("KindLM requires {names}"));
        let words = words.note(format!("no test in this file needs {needed}"));
        let at = first.key.as_ref().map_or_else(Pointer::root, |_| Pointer::root().key(first.name));
        let range = first.key.clone().unwrap_or_else(|| suite.root.head.clone());
        return report.push(Finding::stated(Code::UpstreamDiffers, words, at, range));
    };
    for section in lacking {
        let (name, at) = (section.name, Pointer::root().key(section.name));
        let finding = match &section.key {
            Some(key) => {
                let words = MessageParts::new(format!("`{name}` must not be empty")).note("prompt tests need it");
                Finding::stated(Code::OutOfRange, words, at, key.clone())
            }
            None => {
                let words = MessageParts::new(format!("missing `{name}`"));
                let words = words.note(format!("prompt tests need `{name}`")).help(format!("add `{name}`"));
                Finding::stated(Code::MissingField, words, at, suite.root.head.clone())
            }
        };
        report.push(finding.with_name("needed here", prompt));
    }
}

/// Reports expectations that need a model or a provider that the file does not have.
fn check_judge(suite: &SuiteFacts<'_>, report: &mut Report) {
    let [providers, models, _] = &suite.root.sections;
    if let Some(judge) = suite.first_judge().filter(|_| !models.filled && suite.root.judge_model.is_none()) {
        let words = MessageParts::new("`judge` needs a model, but `models` has none")
            .help("add a model to `models`, or, to use one judge for all suites, set `judge` in `speclens.yaml`");
        let finding = judge.problem(Code::MissingField, words).with_severity(Severity::Warning);
        report.push(finding.only_with(SettingsCondition::NoJudge));
    }
    let embeds = suite.root.providers.iter().any(|provider| provider.name == "openai");
    // The missing part may be in text that cannot be parsed.
    if embeds || !providers.filled || !providers.readable || suite.has(About::Damage) {
        return;
    }
    for test in suite.about(About::Embedding) {
        if let Some(method) = &test.facts.embedding {
            let words = MessageParts::new("`method: embedding` needs the provider `openai`")
                .help("add `openai` to `providers`, or choose another `method`");
            report.push(test.place(method).problem(Code::NeverEvaluated, words));
        }
    }
}

fn report_unused<'n>(
    names: impl Iterator<Item = &'n Named>,
    used: &HashSet<&str>,
    words: impl Fn(&str) -> MessageParts,
    report: &mut Report,
) {
    for named in names.filter(|named| !used.contains(named.name.as_str())) {
        report.push(Placed::of_root(named).absence(Code::Unused, words(&named.name).help(UNUSED)));
    }
}

/// Reports prompts that no test sends. If no test needs a prompt, one is not reported, because KindLM requires one.
fn check_prompts(suite: &SuiteFacts<'_>, report: &mut Report) {
    let prompts = || suite.root.prompts.iter().map(|prompt| &prompt.named);
    let sent = suite.about(About::Prompt).filter_map(|test| test.facts.prompt.as_deref());
    let used: HashSet<&str> = sent.map(|prompt| prompt.name.as_str()).collect();
    // The target of an invalid reference may be a name without other references.
    let defined: HashSet<&str> = prompts().map(|prompt| prompt.name.as_str()).collect();
    if (!used.is_empty() || suite.root.prompts.len() > 1) && used.is_subset(&defined) {
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
        || suite.has(About::Damage)
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

/// Reports gates about expectations that no test has.
fn check_gates(suite: &SuiteFacts<'_>, report: &mut Report) {
    let (judged, drifts) = (suite.has(About::Judge), suite.has(About::Drift));
    for gate in &suite.root.gates {
        let reason = match gate.name.as_str() {
            "judgeAvgMin" if !judged => "no test has a `judge`",
            "driftScoreMax" if !drifts => "no test has a `baseline` with `drift`",
            "probabilisticPassRate" if !judged && !drifts => "no test has a `judge` or a `baseline`",
            "deterministicPassRate" if !suite.has(About::PlainClaims) => {
                "every expectation is a `judge` or a `baseline`"
            }
            "costMaxUsd" if !judged && !drifts && !suite.has(About::Paid) => {
                "every test is a command, whose cost counts as 0"
            }
            _ => continue,
        };
        let words = MessageParts::new(format!("the gate `{}` cannot fail", gate.name)).note(reason).help("remove it");
        report.push(Placed::of_root(gate).absence(Code::VacuousClaim, words));
    }
}

/// Reports limits of latency that a timeout guarantees.
fn check_latencies(suite: &SuiteFacts<'_>, report: &mut Report) {
    let Some(timeout) = suite.root.timeout_ms else { return };
    for test in suite.about(About::Latency).filter(|test| test.facts.has_command && test.facts.prompt.is_none()) {
        if let Some((latency, most)) = test.facts.latency.as_deref()
            && most.is_finite()
            && *most >= timeout
        {
            let words = MessageParts::new(format!("no command exceeds `maxMs: {most}`"))
                .note(format!("`defaults.timeoutMs` stops it after {timeout} ms"))
                .help(format!("lower it below {timeout}, or raise `defaults.timeoutMs`"));
            report.push(test.place(latency).problem(Code::VacuousClaim, words));
        }
    }
}
