//! The sections of a file, and what the tests need of them: what is missing, what is unused, what cannot fail, and what
//! KindLM rejects.

use std::collections::HashSet;

use crate::{
    dialect::kindlm::facts::{About, Placed, has},
    document::NodeRef,
    finding::{Finding, MessageParts, Report},
    json_schema::SpecFile,
    lint_node::LintNode,
    names::misspelled_sections,
    problem::{Code, SettingsCondition, Severity},
    relations::Items,
    words::all_of,
};

use super::prompts::UNUSED;

/// KindLM accepts fewer than this many aliases of one anchor.
const MAX_ALIASES: usize = 100;

/// Maximum length of a file in KindLM, in UTF-16 code units.
const MAX_LENGTH: usize = 1_048_576;

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

/// The sections of a file, and its tests.
struct Suite<'d, 'f> {
    root: LintNode<'d>,
    tests: Items<'f>,
    /// Keys that are most likely meant by misspelled ones.
    misspelled: Vec<&'static str>,
    /// A prompt that a test sends.
    prompt: Option<Placed<'f>>,
    /// An expectation that needs a judge.
    judge: Option<Placed<'f>>,
}

const SECTIONS: [&str; 3] = ["providers", "models", "prompts"];

impl<'d> Suite<'d, '_> {
    fn is_filled(&self, section: &str) -> bool {
        self.root.get(section).is_some_and(|section| !section.is_empty())
    }

    /// Whether a section is valid and its key is not misspelled. If not, no name is reported as missing from it.
    fn is_readable(&self, section: &str) -> bool {
        self.root.get(section).map_or(!self.misspelled.contains(&section), |node| match section {
            "models" => {
                let has_id = |model: NodeRef<'_>| model.get("id").is_some_and(|id| id.text().is_some());
                node.is_list() && node.node.items().all(has_id)
            }
            _ => node.is_mapping(),
        })
    }

    fn names(&self, section: &str) -> Vec<(String, LintNode<'d>)> {
        self.root.get(section).map(|section| section.entries()).unwrap_or_default()
    }

    fn of_models(&self, key: &str) -> Vec<(String, LintNode<'d>)> {
        let models = self.root.get("models").map(|models| models.items()).unwrap_or_default();
        models.iter().filter_map(|model| model.get(key)).filter_map(|it| Some((it.text()?.to_owned(), it))).collect()
    }
}

pub(crate) fn check_suite(root: NodeRef<'_>, tests: Items<'_>, report: &mut Report) {
    let root = LintNode::root(root);
    let suite = &Suite {
        misspelled: misspelled_sections(&root, SpecFile::KINDLM),
        prompt: Placed::first(tests, About::Prompt, |facts| facts.prompt.as_deref()),
        judge: Placed::first(tests, About::Judge, |facts| facts.judge.as_deref()),
        root,
        tests,
    };
    check_needed(suite, report);
    check_judge(suite, report);
    check_prompts(suite, report);
    check_models(suite, report);
    check_providers(suite, report);
    // The missing part may be in text that cannot be parsed.
    if !tests.is_empty() && !has(tests, About::Damage) {
        check_gates(suite, report);
        check_latencies(suite, report);
    }
}

/// Reports sections that tests with a prompt need, or that KindLM always requires.
fn check_needed(suite: &Suite<'_, '_>, report: &mut Report) {
    let root = &suite.root;
    let is_lacking = |name: &&str| !suite.is_filled(name) && suite.is_readable(name);
    let lacking: Vec<&str> = SECTIONS.into_iter().filter(|name| is_lacking(name)).collect();
    let Some(prompt) = suite.prompt else {
        let Some(first) = lacking.first().filter(|_| !suite.tests.is_empty()) else { return };
        let needed = if lacking.len() == 1 { "it" } else { "them" };
        let words = MessageParts::new(format!("KindLM requires {}", all_of(lacking.iter().copied())));
        let words = words.note(format!("no test in this file needs {needed}"));
        return report.push(root.get(first).as_ref().unwrap_or(root).head_problem(Code::UpstreamDiffers, words));
    };
    for name in lacking {
        let finding = match root.get(name) {
            Some(section) => {
                let words = MessageParts::new(format!("`{name}` must not be empty")).note("prompt tests need it");
                section.head_problem(Code::OutOfRange, words)
            }
            None => {
                let words = MessageParts::new(format!("missing `{name}`"));
                let words = words.note(format!("prompt tests need `{name}`")).help(format!("add `{name}`"));
                Finding::stated(Code::MissingField, words, root.at.key(name), root.head())
            }
        };
        report.push(prompt.beside(finding, "needed here"));
    }
}

/// Reports expectations that need a model or a provider that the file does not have.
fn check_judge(suite: &Suite<'_, '_>, report: &mut Report) {
    let is_unnamed = || suite.root.find(&["defaults", "judgeModel"]).is_none_or(|judge| judge.text().is_none());
    if let Some(judge) = suite.judge.filter(|_| !suite.is_filled("models") && is_unnamed()) {
        let words = MessageParts::new("`judge` needs a model, but `models` has none")
            .help("add a model to `models`, or, to use one judge for all suites, set `judge` in `speclens.yaml`");
        let finding = judge.problem(Code::MissingField, words).with_severity(Severity::Warning);
        report.push(finding.only_with(SettingsCondition::NoJudge));
    }
    let embeds = suite.root.find(&["providers", "openai"]).is_some();
    // The missing part may be in text that cannot be parsed.
    if embeds || !suite.is_filled("providers") || !suite.is_readable("providers") || has(suite.tests, About::Damage) {
        return;
    }
    for (index, facts) in suite.tests.about(About::Embedding) {
        if let Some(named) = &facts.embedding {
            let words = MessageParts::new("`method: embedding` needs the provider `openai`")
                .help("add `openai` to `providers`, or choose another `method`");
            report.push(Placed { tests: suite.tests, index, named }.problem(Code::NeverEvaluated, words));
        }
    }
}

fn report_unused<'d>(
    names: &[(String, LintNode<'d>)],
    used: &HashSet<&str>,
    absence: fn(&LintNode<'d>, Code, MessageParts) -> Finding,
    words: impl Fn(&str) -> MessageParts,
    report: &mut Report,
) {
    for (name, node) in names.iter().filter(|(name, _)| !used.contains(name.as_str())) {
        report.push(absence(node, Code::Unused, words(name).help(UNUSED)));
    }
}

/// Reports prompts that no test sends. If no test needs a prompt, one is not reported, because KindLM requires one.
fn check_prompts(suite: &Suite<'_, '_>, report: &mut Report) {
    let prompts = suite.names("prompts");
    let sent = suite.tests.about(About::Prompt).filter_map(|(_, test)| test.prompt.as_deref());
    let used: HashSet<&str> = sent.map(|prompt| prompt.name.as_str()).collect();
    // The target of an invalid reference may be a name without other references.
    let defined: HashSet<&str> = prompts.iter().map(|(name, _)| name.as_str()).collect();
    if (!used.is_empty() || prompts.len() > 1) && used.is_subset(&defined) {
        let words = |name: &str| MessageParts::new(format!("no test uses the prompt `{name}`"));
        report_unused(&prompts, &used, LintNode::head_absence, words, report);
    }
}

/// Reports models that no test uses and that do not judge. If no test needs a model, one is not reported.
fn check_models(suite: &Suite<'_, '_>, report: &mut Report) {
    let models = suite.of_models("id");
    let prompt_tests = || suite.tests.about(About::Prompt).map(|(_, test)| test);
    let any = prompt_tests().next().is_some();
    let asks_all = prompt_tests().any(|test| test.models.is_none());
    if asks_all || !(any || models.len() > 1) {
        return;
    }
    let mut used: HashSet<&str> =
        prompt_tests().flat_map(|test| test.models.iter().flatten()).map(|model| model.name.as_str()).collect();
    let judge = suite.root.find(&["defaults", "judgeModel"]);
    let judge = judge.as_ref().and_then(LintNode::text);
    let is_defined = |name: &str| models.iter().any(|(model, _)| model == name);
    if !used.iter().copied().chain(judge).all(is_defined) {
        return;
    }
    let first = || models.first().filter(|_| suite.judge.is_some() || !any);
    let redteam = |path| suite.root.find(path).and_then(|model| model.text());
    used.extend(
        [&["redteam", "target", "model"], &["redteam", "judge", "model"]].into_iter().filter_map(|it| redteam(it)),
    );
    let judging = suite.tests.about(About::Judge).flat_map(|(_, test)| &test.judge_models);
    used.extend(judging.map(String::as_str));
    used.extend(judge.or_else(|| first().map(|(first, _)| first.as_str())));
    let words = |name: &str| MessageParts::new(format!("no test uses the model `{name}`"));
    report_unused(&models, &used, LintNode::absence, words, report);
}

/// Reports providers that no model names, if models name any.
fn check_providers(suite: &Suite<'_, '_>, report: &mut Report) {
    let (providers, of_models) = (suite.names("providers"), suite.of_models("provider"));
    let used: HashSet<&str> = of_models.iter().map(|(name, _)| name.as_str()).collect();
    if suite.tests.is_empty()
        || has(suite.tests, About::Damage)
        || !suite.is_readable("providers")
        || !suite.is_readable("models")
        || !(suite.prompt.is_some() || providers.len() > 1)
        || used.is_empty()
        || !used.iter().all(|used| providers.iter().any(|(name, _)| name == used))
    {
        return;
    }
    let words = |name: &str| {
        let words = MessageParts::new(format!("no model uses the provider `{name}`"));
        // The others need no key.
        let needs_key = !["ollama", "http", "mcp"].contains(&name);
        if needs_key { words.note("KindLM still requires its key") } else { words }
    };
    report_unused(&providers, &used, LintNode::head_absence, words, report);
}

/// Reports gates about expectations that no test has.
fn check_gates(suite: &Suite<'_, '_>, report: &mut Report) {
    let (judged, drifts) = (has(suite.tests, About::Judge), has(suite.tests, About::Drift));
    for (name, gate) in suite.names("gates").into_iter().filter(|(name, gate)| can_fail(name, gate)) {
        let reason = match name.as_str() {
            "judgeAvgMin" if !judged => "no test has a `judge`",
            "driftScoreMax" if !drifts => "no test has a `baseline` with `drift`",
            "probabilisticPassRate" if !judged && !drifts => "no test has a `judge` or a `baseline`",
            "deterministicPassRate" if !has(suite.tests, About::PlainClaims) => {
                "every expectation is a `judge` or a `baseline`"
            }
            "costMaxUsd" if has(suite.tests, About::Command) => {
                let words = MessageParts::new(format!("the gate `{name}` cannot pass"));
                let words = words.note("the cost of a command is unknown").help("remove it");
                report.push(gate.problem(Code::Contradiction, words));
                continue;
            }
            _ => continue,
        };
        let words = MessageParts::new(format!("the gate `{name}` cannot fail")).note(reason).help("remove it");
        report.push(gate.absence(Code::VacuousClaim, words));
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

/// Reports limits of latency that a timeout guarantees.
fn check_latencies(suite: &Suite<'_, '_>, report: &mut Report) {
    let timeout = suite.root.find(&["defaults", "timeoutMs"]).and_then(|timeout| timeout.number());
    let Some(timeout) = timeout else { return };
    let latencies = suite.tests.about(About::Latency);
    for (index, facts) in latencies.filter(|(_, test)| test.has_command && test.prompt.is_none()) {
        if let Some((named, most)) = facts.latency.as_deref()
            && most.is_finite()
            && *most >= timeout
        {
            let words = MessageParts::new(format!("no command exceeds `maxMs: {most}`"))
                .note(format!("`defaults.timeoutMs` stops it after {timeout} ms"))
                .help(format!("lower it below {timeout}, or raise `defaults.timeoutMs`"));
            report.push(Placed { tests: suite.tests, index, named }.problem(Code::VacuousClaim, words));
        }
    }
}
