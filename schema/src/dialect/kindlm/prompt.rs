//! Prompt tests: lowers models, prompts and simulated tools to the conversation that is held.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    config::Defaults,
    lower::RootContext,
    providers::{HttpProvider, McpProvider, Params, Prompt},
    template,
    test::Tool,
};
use crate::{
    document::{NodeRef, Pointer},
    evidence::{AskedModel, HttpService, McpService, Service, UsagePaths},
    files::Files,
    lenient::lenient,
    script,
    settings::Settings,
    suite::{PromptAction, PromptModel, PromptTexts, Sampling, SimulatedTool},
};

/// Default of `maxTurns`.
const MAX_TURNS: u32 = 10;

/// Returns the models of a suite. A model of the settings answers instead of one with its id.
pub(super) fn models(root: NodeRef<'_>, files: &dyn Files, settings: &Settings) -> Vec<PromptModel> {
    let entries = root.get("models").into_iter().flat_map(NodeRef::items);
    entries.filter_map(|entry| model(entry, root.get("providers"), files, settings)).collect()
}

fn model(
    entry: NodeRef<'_>,
    providers: Option<NodeRef<'_>>,
    files: &dyn Files,
    settings: &Settings,
) -> Option<PromptModel> {
    let id = entry.get("id")?.as_str()?.to_owned();
    let replaced = settings.models.get(&id).and_then(|other| AskedModel::of_id(other));
    let params = entry.get("params").and_then(super::lower::value_of);
    let params: Params = params.and_then(|value| lenient(&value)).unwrap_or_default();
    let asked = replaced.or_else(|| peer(entry, providers)).unwrap_or_default();
    let sampling = Sampling {
        temperature: Some(params.temperature),
        max_tokens: Some(params.max_tokens),
        top_p: params.top_p,
        stop: params.stop_sequences,
        // KindLM sends it to no other provider.
        seed: params.seed.filter(|_| matches!(asked.provider.as_str(), "openai" | "ollama" | "mcp")),
    };
    let content = script::file_of(&asked.id()).and_then(|path| files.read(&path).ok());
    let script = content.map(|content| script::digest(&content));
    Some(PromptModel { id, asked, sampling, script })
}

/// Returns how a model of the suite is reached.
pub(super) fn peer(model: NodeRef<'_>, providers: Option<NodeRef<'_>>) -> Option<AskedModel> {
    let provider = model.get("provider")?.as_str()?.to_owned();
    let model = model.get("model")?.as_str()?.to_owned();
    let entry = providers.and_then(|providers| providers.get(&provider));
    let value = entry.and_then(super::lower::value_of).unwrap_or_default();
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let service = match provider.as_str() {
        "http" => lenient::<HttpProvider>(&value).map(|http| Service::Http(http_service(http))),
        "mcp" => lenient::<McpProvider>(&value).map(|mcp| Service::Mcp(mcp_service(mcp))),
        _ => None,
    };
    let base_url = text("baseUrl").map(|url| match provider.as_str() {
        // KindLM adds the version itself.
        "anthropic" => format!("{}/v1", url.trim_end_matches('/')),
        _ => url,
    });
    let organization = text("organization").filter(|_| provider == "openai");
    Some(AskedModel {
        provider,
        model,
        base_url,
        key_env: text("apiKeyEnv"),
        organization,
        service: service.map(Box::new),
    })
}

fn http_service(provider: HttpProvider) -> HttpService {
    let paths = provider.usage_paths.unwrap_or_default();
    HttpService {
        url: provider.url.0,
        method: provider.method,
        headers: provider.headers.unwrap_or_default(),
        body: provider.body,
        response_path: provider.response_path,
        tool_calls_path: provider.tool_calls_path,
        usage_paths: UsagePaths { input_tokens: paths.input_tokens, output_tokens: paths.output_tokens },
    }
}

fn mcp_service(provider: McpProvider) -> McpService {
    McpService { url: provider.server_url.0, tool: provider.tool_name.0, headers: provider.headers.unwrap_or_default() }
}

/// Returns the prompts of a suite by name.
pub(super) fn prompts(root: NodeRef<'_>) -> BTreeMap<String, Prompt> {
    let entries = root.get("prompts").into_iter().flat_map(NodeRef::entries);
    let read = entries.filter_map(|entry| {
        let value = super::lower::value_of(entry.value)?;
        Some((entry.key.key_text().to_owned(), lenient(&value)?))
    });
    read.collect()
}

/// Returns the conversation of a prompt test, and whether it is intact.
pub(super) fn action(test: NodeRef<'_>, at: &Pointer, prompt: String, root: &RootContext) -> (PromptAction, bool) {
    let value = super::lower::value_of(test).unwrap_or_default();
    let found = root.prompts.get(&prompt);
    let written = found.cloned().unwrap_or_default();
    let follow_ups: Vec<&str> = entries(&value).filter_map(user_of).collect();
    let variables = super::lower::variables(test);
    let mut missing = Vec::new();
    // KindLM expands the user text first, and reports the first text that lacks a variable.
    let mut expand = |text: &str| {
        template::expand(text, &variables).unwrap_or_else(|names| {
            let known: BTreeSet<String> = missing.iter().cloned().collect();
            missing.extend(names.into_iter().filter(|name| !known.contains(name)));
            text.to_owned()
        })
    };
    let texts = PromptTexts {
        user: expand(&written.user.0),
        system: written.system.map(|text| expand(&text.0)).filter(|text| !text.is_empty()),
        assistant: written.assistant.map(|text| expand(&text.0)).filter(|text| !text.is_empty()),
        follow_ups: follow_ups.into_iter().map(expand).collect(),
    };
    let names = value.get("models").and_then(Value::as_array);
    let models = match names {
        Some(names) => names.iter().filter_map(Value::as_str).filter_map(|name| root.model(name)).cloned().collect(),
        None => root.models.clone(),
    };
    let are_known =
        names.is_none_or(|names| names.iter().all(|name| name.as_str().is_some_and(|it| root.model(it).is_some())));
    let tools = value.get("tools").and_then(Value::as_array).into_iter().flatten();
    let max_turns = value.get("maxTurns").and_then(lenient).unwrap_or(MAX_TURNS);
    let timeout_ms = root.defaults.timeout_ms.unwrap_or(Defaults::TIMEOUT_MS);
    let is_intact = found.is_some() && missing.is_empty() && are_known;
    let action = PromptAction {
        at: at.key("prompt"),
        prompt,
        texts,
        missing,
        tools: tools.filter_map(lenient).map(simulated).collect(),
        max_turns: max_turns.clamp(1, 20),
        models,
        timeout_ms,
    };
    (action, is_intact)
}

fn simulated(tool: Tool) -> SimulatedTool {
    let responses = tool.responses.into_iter().flatten();
    SimulatedTool {
        name: tool.name.0,
        description: tool.description,
        parameters: tool.parameters.map(Value::Object),
        // KindLM sends no content at all for a response without `then`, which providers refuse.
        responses: responses.map(|response| (response.when, response.then.unwrap_or_default())).collect(),
        default_response: tool.default_response,
    }
}

/// Returns the entries of a test's conversation.
pub(super) fn entries(test: &Value) -> impl Iterator<Item = &Value> {
    test.get("conversation").and_then(Value::as_array).into_iter().flatten()
}

/// Returns the text that the user sends before the reply of an entry.
pub(super) fn user_of(entry: &Value) -> Option<&str> {
    entry.get("user").and_then(Value::as_str)
}
