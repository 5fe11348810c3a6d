//! Text that has no effect: keys, placeholders, gates over expectations that no test has.

use std::ops::Range;

use crate::{
    problem::{Code, Fix, Problem, Severity},
    spot::Spot,
    template::{self, placeholders},
    words::{all_of, nearest},
};

use super::{
    super::template::BODY,
    facts::{Named, RootFacts, TestFacts},
    references::absolute,
};

/// Sections that KindLM reads and never uses, with the reason.
const UNREAD: [(&[&str], &str); 7] = [
    (&["suite", "tags"], "only the tags of tests choose what runs"),
    (&["compliance", "enabled"], "only the option `--compliance` of KindLM writes the report"),
    (&["compliance", "outputDir"], "KindLM prints the report, and writes no file"),
    (&["upload", "enabled"], "a run uploads nothing"),
    (&["upload", "apiUrl"], "a run uploads nothing"),
    (&["trace", "port"], "the option `--port` of KindLM, or its default, always wins"),
    (&["trace", "timeoutMs"], "the option `--timeout` of KindLM, or its default, always wins"),
];

/// Providers that send no seed.
const SEEDLESS: [&str; 3] = ["anthropic", "gemini", "mistral"];

/// The sections other than `tests`.
pub(super) fn lint(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    for (path, reason) in UNREAD {
        if let Some(spot) =
            root.find(path).filter(|spot| path[1] == "tags" || spot.node.scalar().is_some() && !spot.node.is_null())
        {
            let message = format!("`{}` has no effect", path[path.len() - 1]);
            problems.push(spot.head_problem(Code::NoEffect, message).with_note(reason));
        }
    }
    for model in root.get("models").map(|models| models.items()).unwrap_or_default() {
        let provider = model.get("provider").and_then(|provider| provider.text()).unwrap_or_default();
        if let Some(seed) = model.find(&["params", "seed"]).filter(|_| SEEDLESS.contains(&provider)) {
            let problem = seed.head_problem(Code::NoEffect, format!("`seed` has no effect on `{provider}`"));
            problems.push(problem.with_note(format!("KindLM sends no seed to `{provider}`")));
        }
    }
    for (name, provider) in root.get("providers").map(|providers| providers.entries()).unwrap_or_default() {
        if let Some(key) = provider.get("apiKeyEnv") {
            if ["ollama", "http"].contains(&name.as_str()) {
                let message = format!("`apiKeyEnv` has no effect on `{name}`");
                let mut problem = key.head_problem(Code::NoEffect, message);
                problem.note = Some(format!("KindLM sends no key to `{name}`"));
                problem.help = (name == "http").then(|| "name the variable in `headers`, as `env:NAME`".to_owned());
                problems.push(problem);
            }
            lint_variable(&key, problems);
        }
        if let Some(body) = provider.get("body").filter(|_| name == "http") {
            lint_body(&body, problems);
        }
    }
    for (_, prompt) in root.get("prompts").map(|prompts| prompts.entries()).unwrap_or_default() {
        for field in ["system", "user", "assistant"].iter().filter_map(|field| prompt.get(field)) {
            lint_prompt(&field, problems);
        }
    }
    for gate in ["costMaxUsd", "latencyMaxMs"].iter().filter_map(|gate| root.find(&["gates", gate])) {
        boundless(&gate, problems);
    }
}

/// A bound that nothing exceeds.
pub(super) fn boundless(bound: &Spot<'_>, problems: &mut Vec<Problem>) {
    if bound.number() == Some(f64::INFINITY) {
        let name = bound.at.last().unwrap_or_default();
        problems.push(bound.problem(Code::VacuousClaim, format!("no value exceeds `{name}: .inf`")));
    }
}

/// `apiKeyEnv` is the name of a variable.
fn lint_variable(spot: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(name) = spot.text().filter(|name| name.starts_with('$')) else { return };
    let bare = name.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
    let message = format!("`{name}` is not a valid name of an environment variable");
    let help = format!("write the name alone, `{bare}`");
    let mut problem = spot.problem(Code::InvalidValue, message).with_severity(Severity::Warning).with_help(&help);
    let is_plain = !bare.is_empty() && bare.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    if is_plain {
        problem.fixes.extend(spot.replaced(crate::shape::scalar(bare)).map(|edits| Fix::safe(help, edits)));
    }
    problems.push(problem);
}

/// The body of a request knows seven names.
fn lint_body(body: &Spot<'_>, problems: &mut Vec<Problem>) {
    let names = || BODY.variables.iter().map(|variable| variable.name);
    let mut told: Vec<&str> = Vec::new();
    for found in placeholders(body.text().unwrap_or_default()) {
        if names().any(|name| name == found.name) || told.contains(&found.name) {
            continue;
        }
        told.push(found.name);
        let near = nearest(found.name, names());
        let help = match near {
            Some(near) => format!("change it to `{{{{{near}}}}}`"),
            None => format!("use one of {}", all_of(names())),
        };
        let message = format!("`{}` has no value in the body of a request", found.text);
        let range = body.part(found.text, 0);
        let mut problem = Problem::new(Code::MissingVariable, body.at.clone(), range.clone(), message)
            .with_severity(Severity::Warning)
            .with_note("KindLM replaces it with an empty string")
            .with_help(&help);
        let edits = near.and_then(|near| body.with_part(&range, found.text, format!("{{{{{near}}}}}")));
        problem.fixes.extend(edits.map(|edits| Fix::guess(help, edits)));
        problems.push(problem);
    }
}

/// A placeholder that is not filled in.
pub(super) fn literal(spot: &Spot<'_>, range: Range<usize>, written: &str) -> Problem {
    let message = format!("`{written}` is not filled in");
    Problem::new(Code::MissingVariable, spot.at.clone(), range, message).with_severity(Severity::Warning)
}

/// What looks like a placeholder in a prompt, and is none.
fn lint_prompt(text: &Spot<'_>, problems: &mut Vec<Problem>) {
    let content = text.text().unwrap_or_default();
    for found in placeholders(content).into_iter().filter(template::Placeholder::is_reserved) {
        let range = text.part(found.text, 0);
        let problem = literal(text, range, found.text);
        problems.push(problem.with_help("give the variable another name, and a value in `vars`"));
    }
    let mut rest = content;
    while let Some((_, behind)) = rest.split_once("{{") {
        let Some((inside, after)) = behind.split_once("}}") else { return };
        rest = after;
        let name = inside.trim();
        if name.len() == inside.len() || !template::is_variable_name(name) || name.starts_with("env.") {
            continue;
        }
        let written = format!("{{{{{inside}}}}}");
        let range = text.part(&written, 0);
        let help = format!("write it without spaces, `{{{{{name}}}}}`");
        let mut problem = literal(text, range.clone(), &written).with_help(&help);
        let edits = text.with_part(&range, &written, format!("{{{{{name}}}}}"));
        problem.fixes.extend(edits.map(|edits| Fix::safe(help, edits)));
        problems.push(problem);
    }
}

/// Texts of claims in which a variable of the test is written: nothing is filled in there.
pub(super) fn lint_claims(test: &Spot<'_>, expect: &Spot<'_>, problems: &mut Vec<Problem>) {
    let vars: Vec<String> =
        test.get("vars").map(|vars| vars.entries()).unwrap_or_default().into_iter().map(|it| it.0).collect();
    if vars.is_empty() {
        return;
    }
    let mut texts: Vec<Spot<'_>> = Vec::new();
    for path in [
        &["output", "contains"][..],
        &["output", "notContains"],
        &["guardrails", "keywords", "deny"],
        &["guardrails", "keywords", "allow"],
    ] {
        texts.extend(expect.find(path).map(|list| list.items()).unwrap_or_default());
    }
    for criterion in expect.get("judge").map(|judge| judge.items()).unwrap_or_default() {
        texts.extend(["criteria", "rubric"].iter().filter_map(|key| criterion.get(key)));
    }
    for call in expect.get("toolCalls").map(|calls| calls.items()).unwrap_or_default() {
        texts.extend(call.get("argsMatch").map(|args| args.entries()).unwrap_or_default().into_iter().map(|it| it.1));
    }
    for text in texts {
        for found in placeholders(text.text().unwrap_or_default()) {
            if vars.iter().any(|name| name == found.name) {
                let range = text.part(found.text, 0);
                let note = "variables have no value in `expect`";
                problems.push(literal(&text, range, found.text).with_note(note).with_help("write the value itself"));
            }
        }
    }
}

/// Arguments that only `-0` equals.
pub(super) fn lint_zeros(args: &Spot<'_>, problems: &mut Vec<Problem>) {
    for (_, arg) in args.entries() {
        let is_negative = arg.node.text().is_some_and(|text| text.starts_with('-'));
        if is_negative && arg.number() == Some(0.0) {
            let problem = arg.problem(Code::AmbiguousScalar, "`-0` is not equal to `0` here");
            let mut problem = problem.with_help("write `0`");
            problem.fixes.extend(arg.replaced("0").map(|edits| Fix::guess("write `0`", edits)));
            problems.push(problem);
        }
    }
}

/// Gates over claims that no test makes, and claims that need what the suite does not have.
pub(super) fn lint_relations(root: &RootFacts, tests: &[(usize, &TestFacts)], problems: &mut Vec<Problem>) {
    // What seems to be absent may stand in the part that cannot be read.
    if tests.is_empty() || tests.iter().any(|(_, test)| test.is_damaged) {
        return;
    }
    let judged = tests.iter().any(|(_, test)| test.judge.is_some());
    let drifts = tests.iter().any(|(_, test)| test.has_drift);
    let plain = tests.iter().any(|(_, test)| test.has_plain_claims);
    for gate in &root.gates {
        let lacking = match gate.name.as_str() {
            "judgeAvgMin" if !judged => "no test has a `judge`",
            "driftScoreMax" if !drifts => "no test has a `baseline` with `drift`",
            "probabilisticPassRate" if !judged && !drifts => "no test has a `judge` or a `baseline`",
            "deterministicPassRate" if !plain => "every expectation is a `judge` or a `baseline`",
            _ => continue,
        };
        let message = format!("the gate `{}` cannot fail", gate.name);
        let problem = Problem::new(Code::VacuousClaim, gate.at.clone(), gate.range.clone(), message);
        problems.push(problem.with_note(lacking));
    }
    let embeds = root.providers.iter().any(|provider| provider.name == "openai");
    let [providers, ..] = &root.sections;
    for (index, (start, test)) in tests.iter().enumerate() {
        if let Some(method) = test.embedding.as_ref().filter(|_| !embeds && providers.filled && providers.readable) {
            let (at, range) = absolute(method, index, *start);
            let message = "`method: embedding` needs the provider `openai`";
            let problem = Problem::new(Code::NeverEvaluated, at, range, message);
            problems.push(problem.with_help("add `openai` to `providers`, or choose another `method`"));
        }
        let Some((latency, most)) = test.latency.as_ref().filter(|_| test.has_command && test.prompt.is_none()) else {
            continue;
        };
        if root.timeout_ms.is_some_and(|timeout| most.is_finite() && *most >= timeout) {
            let (at, range) = absolute(latency, index, *start);
            let timeout = root.timeout_ms.unwrap_or_default();
            let problem = Problem::new(Code::VacuousClaim, at, range, format!("no command exceeds `maxMs: {most}`"));
            problems.push(problem.with_note(format!("`defaults.timeoutMs` ends it after {timeout} ms")));
        }
    }
    unused_providers(root, tests, problems);
}

/// Providers that no model names, where models name any.
fn unused_providers(root: &RootFacts, tests: &[(usize, &TestFacts)], problems: &mut Vec<Problem>) {
    let [providers, models, _] = &root.sections;
    let is_defined = |named: &Named| root.providers.iter().any(|provider| provider.name == named.name);
    let asks = tests.iter().any(|(_, test)| test.prompt.is_some());
    if !providers.readable
        || !models.readable
        || !(asks || root.providers.len() > 1)
        || root.model_providers.is_empty()
        || !root.model_providers.iter().all(is_defined)
    {
        return;
    }
    let is_used = |provider: &Named| root.model_providers.iter().any(|named| named.name == provider.name);
    for provider in root.providers.iter().filter(|provider| !is_used(provider)) {
        // The others need no key.
        let is_keyless = ["ollama", "http", "mcp"].contains(&provider.name.as_str());
        let message = format!("no model uses the provider `{}`", provider.name);
        let mut problem = Problem::new(Code::Unused, provider.at.clone(), provider.range.clone(), message);
        problem.note = (!is_keyless).then(|| "KindLM demands its key all the same".to_owned());
        problems.push(problem);
    }
}
