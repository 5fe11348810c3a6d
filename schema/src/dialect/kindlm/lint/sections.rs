//! The sections other than `tests`: what is needed, what cannot fail, where KindLM differs.

use crate::{
    document::Pointer,
    problem::{Code, Problem},
    spot::Spot,
    words,
};

use super::{
    facts::{RootFacts, TestFacts},
    patterns,
    references::absolute,
};

/// Maximum number of tests that KindLM reads.
const TESTS: usize = 1000;
/// Maximum number of models that KindLM reads.
const MODELS: usize = 50;
/// KindLM follows fewer aliases of one anchor.
const ALIASES: usize = 100;
/// Maximum length of a file that KindLM reads, in UTF-16 units.
const SIZE: usize = 1_048_576;

/// Each section alone.
pub(super) fn lint(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    let text = root.node.document().text();
    if text.len_bytes() > SIZE && text.len_utf16_cu() > SIZE {
        let message = "KindLM rejects a file of more than 1 MB";
        problems.push(Problem::new(Code::UpstreamDiffers, Pointer::root(), root.head(), message));
    }
    if let Some(models) = root.get("models")
        && models.node.items().count() > MODELS
    {
        let message = format!("KindLM rejects a file of more than {MODELS} models");
        problems.push(Problem::new(Code::UpstreamDiffers, models.at.clone(), models.head(), message));
    }
    for (name, provider) in root.get("providers").map(|providers| providers.entries()).unwrap_or_default() {
        if let Some(organization) = provider.get("organization").filter(|_| name != "openai") {
            let problem =
                organization.head_problem(Code::NoEffect, format!("`organization` has no effect on `{name}`"));
            problems.push(problem.with_note("only `openai` sends it"));
        }
    }
    lint_gates(root, problems);
    lint_urls(root, problems);
    aliases(root, problems);
    if let Some(pattern) = root.find(&["trace", "spanFilter", "namePattern"]) {
        patterns::lint_name_pattern(&pattern, problems);
    }
}

/// Addresses that begin well, and that the URL parser of browsers and of KindLM refuses.
fn lint_urls(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    let providers = root.get("providers").map(|providers| providers.entries()).unwrap_or_default();
    let fields =
        providers.iter().flat_map(|(_, provider)| ["baseUrl", "url", "serverUrl"].map(|key| provider.get(key)));
    for address in fields.chain([root.find(&["upload", "apiUrl"])]).flatten() {
        let Some(text) = address.text().filter(|text| words::begins_like_url(text)) else { continue };
        if let Err(reason) = url::Url::parse(text) {
            let key = address.at.last().unwrap_or_default();
            let message = format!("`{key}` is not a valid URL: {reason}");
            problems.push(address.problem(Code::InvalidValue, message));
        }
    }
}

/// KindLM gives up on an anchor that is used too often.
fn aliases(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    for (name, range) in root.node.document().aliases_beyond(ALIASES) {
        let message = format!("KindLM rejects a file in which `&{name}` is used {ALIASES} times or more");
        let at = root.node.document().pointer_at(range.start);
        let problem = Problem::new(Code::UpstreamDiffers, at, range, message);
        problems.push(problem.with_help("write some of the values out"));
    }
}

/// Gates that cannot fail.
fn lint_gates(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(gates) = root.get("gates") else { return };
    let limits = [
        ("passRateMin", 0.0),
        ("judgeAvgMin", 0.0),
        ("deterministicPassRate", 0.0),
        ("probabilisticPassRate", 0.0),
        ("driftScoreMax", 1.0),
    ];
    for (name, limit) in limits {
        if let Some(gate) = gates.get(name).filter(|gate| gate.number() == Some(limit)) {
            problems.push(gate.problem(Code::VacuousClaim, format!("every run passes the gate `{name}: {limit}`")));
        }
    }
    if let Some(gate) = gates.get("costMaxUsd") {
        let message = "KindLM skips `costMaxUsd` unless its feature `costGating` is on";
        problems.push(Problem::new(Code::UpstreamDiffers, gate.at.clone(), gate.head(), message));
    }
}

/// Prompt tests need providers, models and prompts; KindLM always does.
pub(super) fn lint_presence(root: &RootFacts, tests: &[(usize, &TestFacts)], problems: &mut Vec<Problem>) {
    if tests.len() > TESTS {
        let (start, _) = tests[TESTS];
        let at = Pointer::root().key("tests").index(TESTS);
        let message = format!("KindLM rejects a file of more than {TESTS} tests");
        problems.push(Problem::new(Code::UpstreamDiffers, at, start..start, message));
    }
    let prompt_test =
        tests.iter().enumerate().find_map(|(index, (start, test))| Some((index, *start, test.prompt.as_ref()?)));
    let lacking = root.sections.iter().filter(|section| !section.filled && section.readable);
    match prompt_test {
        Some((index, start, prompt)) => {
            for section in lacking {
                let message = match section.key {
                    Some(_) => format!("`{}` must not be empty", section.name),
                    None => format!("missing `{}`", section.name),
                };
                let range = section.key.clone().unwrap_or_else(|| root.head.clone());
                let code = if section.key.is_some() { Code::OutOfRange } else { Code::MissingField };
                let (at, needed) = absolute(prompt, index, start);
                let problem = Problem::new(code, Pointer::root().key(section.name), range, message)
                    .with_note("a test that sends a prompt needs it");
                problems.push(problem.with_related("needed here", at, needed));
            }
        }
        None if !tests.is_empty() => {
            let names: Vec<&str> = lacking.clone().map(|section| section.name).collect();
            let Some(first) = lacking.clone().next() else { return };
            let range = first.key.clone().unwrap_or_else(|| root.head.clone());
            let at = first.key.as_ref().map_or_else(Pointer::root, |_| Pointer::root().key(first.name));
            let names = words::listed(names.iter().copied());
            let message = format!("KindLM rejects a file without {names}");
            problems.push(Problem::new(Code::UpstreamDiffers, at, range, message).with_note("no test here needs them"));
        }
        None => {}
    }
}
