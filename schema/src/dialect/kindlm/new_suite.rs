//! A suite with a prompt test for each recorded conversation.

use std::fmt::Write;

use serde_json::Value;

use super::template;
use crate::{
    format::NewTest,
    import::conversation::{Call, provider_of},
    problem::NewFile,
    quoting::{scalar, show, text},
    words::slug,
};

/// Arguments and results that are longer than this many bytes are left out of simulated tools.
const MAX_RESPONSE_BYTES: usize = 500;

/// Maximum number of replies of a test without `maxTurns`, and with it.
const DEFAULT_TURNS: usize = 10;
const MAX_TURNS: usize = 20;

pub(super) fn new_suite(name: &str, tests: &[NewTest<'_>]) -> Vec<NewFile> {
    let mut models: Vec<&str> = Vec::new();
    for test in tests {
        let model = model_of(test);
        if !models.contains(&model) {
            models.push(model);
        }
    }
    let mut yaml =
        format!("# speclens: dialect=kindlm\nkindlm: 1\nproject: {0}\nsuite:\n  name: {0}\nproviders:\n", scalar(name));
    let mut providers: Vec<&str> = models.iter().map(|model| provider(model).0).collect();
    providers.sort_unstable();
    providers.dedup();
    for provider in providers {
        let key = match provider {
            "ollama" => "{}".to_owned(),
            provider => format!("{{ apiKeyEnv: {}_API_KEY }}", provider.to_uppercase()),
        };
        let _ = writeln!(yaml, "  {provider}: {key}");
    }
    yaml.push_str("models:\n");
    for model in &models {
        let (provider, model_name) = provider(model);
        let (id, model_name) = (scalar(&id_of(model)), scalar(model_name));
        let _ = writeln!(yaml, "  - id: {id}\n    provider: {provider}\n    model: {model_name}");
    }
    yaml.push_str("prompts:\n");
    tests.iter().for_each(|test| yaml.push_str(&prompt(test)));
    yaml.push_str("tests:\n");
    tests.iter().for_each(|test| yaml.push_str(&written(test, models.len() > 1)));
    vec![NewFile { path: format!("{name}.yaml"), text: yaml }]
}

fn model_of<'c>(test: &NewTest<'c>) -> &'c str {
    test.conversation.model().unwrap_or("recorded")
}

fn id_of(model: &str) -> String {
    slug(provider_of(model).1)
}

/// Returns the provider of a model by its name in KindLM, and the name of the model there. A service that KindLM does
/// not know may have the API of OpenAI.
fn provider(model: &str) -> (&'static str, &str) {
    let known = match provider_of(model) {
        (Some("anthropic"), name) => Some(("anthropic", name)),
        (Some("openai"), name) => Some(("openai", name)),
        (Some("google" | "gemini" | "vertex"), name) => Some(("gemini", name)),
        (Some("mistral"), name) => Some(("mistral", name)),
        (Some("cohere"), name) => Some(("cohere", name)),
        (Some("ollama"), name) => Some(("ollama", name)),
        (Some(_) | None, _) => None,
    };
    known.unwrap_or(("openai", model))
}

/// The variables in place of texts with braces, which would be placeholders.
const VARIABLES: [&str; 2] = ["system", "user"];

fn texts<'c>(test: &NewTest<'c>) -> [Option<&'c str>; 2] {
    [test.conversation.system.as_deref(), Some(&test.conversation.user)]
}

fn has_placeholder(text: &str) -> bool {
    template::names(text).next().is_some()
}

fn prompt(test: &NewTest<'_>) -> String {
    let mut yaml = format!("  {}:\n", scalar(test.name));
    for (variable, written) in VARIABLES.into_iter().zip(texts(test)) {
        let Some(written) = written else { continue };
        let value = match has_placeholder(written) {
            true => scalar(&format!("{{{{{variable}}}}}")),
            false => text(written, 4),
        };
        let _ = writeln!(yaml, "    {variable}: {value}");
    }
    yaml
}

fn written(test: &NewTest<'_>, names_model: bool) -> String {
    let NewTest { name, conversation, attempts } = test;
    let mut yaml = format!("  - name: {0}\n    prompt: {0}\n", scalar(name));
    let mut variables = String::new();
    for (variable, written) in VARIABLES.into_iter().zip(texts(test)) {
        if let Some(written) = written.filter(|written| has_placeholder(written)) {
            let _ = writeln!(variables, "      {variable}: {}", text(written, 6));
        }
    }
    if !variables.is_empty() {
        let _ = write!(yaml, "    vars:\n{variables}");
    }
    if names_model {
        let _ = writeln!(yaml, "    models: [{}]", scalar(&id_of(model_of(test))));
    }
    if *attempts > 1 {
        let _ = writeln!(yaml, "    repeat: {attempts}");
    }
    let replies = conversation.replies.len();
    if replies > DEFAULT_TURNS {
        let _ = writeln!(yaml, "    maxTurns: {}", replies.min(MAX_TURNS));
    }
    yaml.push_str(&tools(conversation.calls().collect()));
    let mut follow_ups = conversation.follow_ups().peekable();
    if follow_ups.peek().is_some() {
        yaml.push_str("    conversation:\n");
    }
    for (index, follow_up) in follow_ups.enumerate() {
        let _ = writeln!(yaml, "      - turn: follow-up-{}\n        user: {}", index + 1, text(follow_up, 8));
    }
    yaml + "    expect: {}\n"
}

/// Returns the tools, which answer as those of the recording did, as far as that is short.
fn tools(calls: Vec<&Call>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for call in &calls {
        if !names.contains(&call.name.as_str()) && !call.name.is_empty() {
            names.push(&call.name);
        }
    }
    let mut yaml = if names.is_empty() { String::new() } else { "    tools:\n".to_owned() };
    for name in names {
        let _ = writeln!(yaml, "      - name: {}", scalar(name));
        let mut known: Vec<&Value> = Vec::new();
        for call in calls.iter().filter(|call| call.name == name) {
            let Some(result) = call.result.as_ref().filter(|_| call.arguments.is_object()) else { continue };
            let is_long = call.arguments.to_string().len().max(result.to_string().len()) > MAX_RESPONSE_BYTES;
            if is_long || known.contains(&&call.arguments) {
                continue;
            }
            if known.is_empty() {
                yaml.push_str("        responses:\n");
            }
            known.push(&call.arguments);
            let (when, then) = (show(&call.arguments), show(result));
            let _ = writeln!(yaml, "          - when: {when}\n            then: {then}");
        }
    }
    yaml
}
