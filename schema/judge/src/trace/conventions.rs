//! The meaning of a span, by the names of spans and attributes: the conventions of OpenTelemetry for generative models,
//! old and new, and those of OpenInference, Traceloop, Langfuse, Logfire, MLflow, Vercel's AI SDK and OpenClaw.

use serde_json::Value;

use super::{
    exported::{Attributes, Exported, as_text},
    otlp::{OtelValue, Status},
};
use crate::evidence::{SpanKind, Tokens};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Model,
    /// The token counts of several model requests, which have separate spans in newer versions.
    Accounting,
    Tool,
    Agent,
    Delegation,
    Other,
}

impl Role {
    pub(super) fn of(exported: &Exported) -> Role {
        let attributes = exported.attributes();
        let name = exported.span.name.as_str();
        if name == ACCOUNTING {
            return Role::Accounting;
        }
        // OpenClaw names the operation of such a turn `invoke_agent`, though it is not a handoff.
        if name == "openclaw.model.call" || attributes.get("openclaw.model_call.observation_unit").is_some() {
            return Role::Model;
        }
        if is_delegation(attributes) {
            return Role::Delegation;
        }
        let named = CONVENTIONS.iter().find_map(|convention| convention.role(attributes));
        named.unwrap_or_else(|| by_content(name, attributes))
    }

    pub(super) fn kind(self) -> SpanKind {
        match self {
            Role::Model => SpanKind::Llm,
            Role::Tool => SpanKind::Tool,
            Role::Agent | Role::Delegation => SpanKind::Subagent,
            Role::Accounting | Role::Other => SpanKind::Other,
        }
    }
}

/// OpenClaw's span for the tokens of a run.
const ACCOUNTING: &str = "openclaw.model.usage";

/// The attribute names of a span that starts another agent.
pub(super) const DELEGATION: [&str; 3] = ["subagent_id", "delegation", "spawned_agent"];

fn is_delegation(attributes: Attributes<'_>) -> bool {
    let is_told = |prefix: &str| DELEGATION.iter().any(|key| attributes.get(&format!("{prefix}{key}")).is_some());
    let in_metadata = || {
        let metadata = attributes.json("metadata");
        metadata
            .is_some_and(|metadata| DELEGATION.iter().any(|key| !metadata.get(key).unwrap_or(&Value::Null).is_null()))
    };
    ["metadata.", "langfuse.observation.metadata.", ""].into_iter().any(is_told) || in_metadata()
}

/// An attribute that names the role of its span. Any other value is another role.
struct Convention {
    attribute: &'static str,
    model: &'static [&'static str],
    tool: &'static str,
    agent: &'static str,
}

/// The conventions: of OpenTelemetry, OpenInference, Traceloop (twice), Langfuse, MLflow, and Vercel's AI SDK.
const CONVENTIONS: [Convention; 7] = [
    Convention {
        attribute: "gen_ai.operation.name",
        model: &["chat", "generate_content", "text_completion", "completion", "responses"],
        tool: "execute_tool",
        agent: "invoke_agent",
    },
    Convention { attribute: "openinference.span.kind", model: &["LLM"], tool: "TOOL", agent: "AGENT" },
    Convention { attribute: "llm.request.type", model: &["chat", "completion"], tool: "", agent: "" },
    Convention { attribute: "traceloop.span.kind", model: &[], tool: "tool", agent: "agent" },
    Convention { attribute: "langfuse.observation.type", model: &["generation"], tool: "tool", agent: "agent" },
    Convention { attribute: "mlflow.spanType", model: &["LLM", "CHAT_MODEL"], tool: "TOOL", agent: "AGENT" },
    // The span around it contains the steps.
    Convention { attribute: "ai.operationId", model: &[".doGenerate", ".doStream"], tool: "ai.toolCall", agent: "" },
];

/// The operations of OpenTelemetry that are none of a model, a tool or an agent at work.
const OTHER_OPERATIONS: [&str; 6] = ["create_agent", "embeddings", "moderation", "rerank", "retrieval", "search"];

impl Convention {
    fn role(&self, attributes: Attributes<'_>) -> Option<Role> {
        // MLflow writes quotes.
        let value = attributes.text(self.attribute)?.trim_matches('"');
        let is = |word: &str| {
            !word.is_empty() && value.eq_ignore_ascii_case(word) || word.starts_with('.') && value.ends_with(word)
        };
        Some(match value {
            // Everything unspecific is a span of Langfuse.
            "span" if self.attribute == "langfuse.observation.type" => return None,
            _ if self.model.iter().any(|word| is(word)) => Role::Model,
            _ if is(self.tool) => Role::Tool,
            _ if is(self.agent) => Role::Agent,
            // Some programs have names of their own for requests to models.
            _ if self.attribute == "gen_ai.operation.name" && !OTHER_OPERATIONS.contains(&value) => return None,
            _ => Role::Other,
        })
    }
}

fn by_content(name: &str, attributes: Attributes<'_>) -> Role {
    match name {
        "openclaw.tool.execution" => return Role::Tool,
        "openclaw.run" | "openclaw.harness.run" => return Role::Other,
        _ => {}
    }
    if TOOL_NAMES.iter().any(|key| attributes.get(key).is_some()) {
        return Role::Tool;
    }
    if attributes.first_text(MODELS).is_some() && input_tokens(attributes).is_some() {
        return Role::Model;
    }
    if attributes.text("gen_ai.agent.name").is_some() { Role::Agent } else { Role::Other }
}

const TOOL_NAMES: &[&str] = &["gen_ai.tool.name", "tool.name", "ai.toolCall.name", "openclaw.toolName", "tool_name"];

const AGENT_NAMES: &[&str] =
    &["gen_ai.agent.name", "agent.name", "openclaw.agent", "graph.node.name", "spawned_agent", "subagent_id"];

const MODELS: &[&str] = &[
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "llm.response.model",
    "llm.request.model",
    "ai.response.model",
    "ai.model.id",
    "langfuse.observation.model.name",
    "embedding.model_name",
    "openclaw.model",
    "model",
];

const INPUT_TOKENS: &[&str] = &[
    "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "llm.usage.prompt_tokens",
    "ai.usage.inputTokens", "ai.usage.promptTokens", "openclaw.tokens.input",
];

const OUTPUT_TOKENS: &[&str] = &[
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "llm.usage.completion_tokens",
    "ai.usage.outputTokens",
    "ai.usage.completionTokens",
    "openclaw.tokens.output",
];

const TOTAL_TOKENS: &[&str] =
    &["gen_ai.usage.total_tokens", "llm.token_count.total", "llm.usage.total_tokens", "ai.usage.totalTokens"];

const COSTS: &[&str] = &[
    "gen_ai.usage.cost", "gen_ai.usage.total_cost", "gen_ai.cost.total_cost", "llm.cost.total", "llm.usage.total_cost",
    "operation.cost", "openclaw.cost.usd",
];

pub(super) fn name_of(exported: &Exported, role: Role) -> &str {
    let (attributes, own) = (exported.attributes(), exported.span.name.as_str());
    match role {
        Role::Tool => {
            let given = attributes.first_text(TOOL_NAMES).or_else(|| attributes.text("traceloop.entity.name"));
            given.unwrap_or_else(|| own.strip_prefix("execute_tool ").unwrap_or(own))
        }
        Role::Agent | Role::Delegation => {
            let given = attributes.first_text(AGENT_NAMES).or_else(|| attributes.text("traceloop.entity.name"));
            given.unwrap_or_else(|| own.strip_prefix("invoke_agent ").unwrap_or(own))
        }
        Role::Model | Role::Accounting | Role::Other => own,
    }
}

pub(super) fn model_of(exported: &Exported, role: Role) -> Option<&str> {
    match role {
        Role::Model | Role::Accounting => exported.attributes().first_text(MODELS),
        // The model that an agent is set to was not asked in this span.
        Role::Tool | Role::Agent | Role::Delegation | Role::Other => None,
    }
}

fn input_tokens(attributes: Attributes<'_>) -> Option<u64> {
    attributes.first_count(INPUT_TOKENS)
}

pub(super) fn tokens_of(exported: &Exported) -> Option<Tokens> {
    let attributes = exported.attributes();
    let details = || attributes.json("langfuse.observation.usage_details");
    let (mut input, mut output) = (input_tokens(attributes), attributes.first_count(OUTPUT_TOKENS));
    let mut total = attributes.first_count(TOTAL_TOKENS);
    if input.is_none() && output.is_none() && total.is_none() {
        let details = details()?;
        let count = |keys: [&str; 2]| keys.iter().find_map(|key| details.get(key)?.as_u64());
        input = count(["input", "input_tokens"]);
        output = count(["output", "output_tokens"]);
        total = count(["total", "total_tokens"]);
    }
    if input.is_none() && output.is_none() && total.is_none() {
        return None;
    }
    // A request for embeddings has no output.
    let nothing = (Role::of(exported) == Role::Other && total.is_none()).then_some(0);
    Tokens::of(input.or(nothing), output.or(nothing), total)
}

pub(super) fn cost_of(exported: &Exported) -> Option<f64> {
    let attributes = exported.attributes();
    let details = || attributes.json("langfuse.observation.cost_details")?.get("total")?.as_f64();
    attributes.first_number(COSTS).or_else(details).filter(|cost| *cost >= 0.0)
}

const ERROR_MARKS: [(&str, &str); 4] = [
    ("error", "true"),
    ("otel.status_code", "ERROR"),
    ("status.code", "ERROR"),
    ("langfuse.observation.level", "ERROR"),
];

pub fn asks_for_tools(exported: &Exported) -> bool {
    finish_reasons(exported).iter().any(|reason| reason.to_string().contains("tool"))
}

/// Returns the reasons for which the answers of a model ended.
pub(super) fn finish_reasons(exported: &Exported) -> Vec<Value> {
    const REASONS: [&str; 3] =
        ["gen_ai.response.finish_reasons", "ai.response.finishReason", "gen_ai.completion.0.finish_reason"];
    let each = |reason: Value| match reason {
        Value::Array(items) => items,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => vec![reason],
    };
    REASONS.iter().filter_map(|key| exported.attributes().json(key)).flat_map(each).collect()
}

pub(super) fn error_of(exported: &Exported) -> Option<String> {
    let attributes = exported.attributes();
    let status = exported.span.status.as_ref();
    let failed = status.is_some_and(|status| status.code == Status::ERROR);
    let kind = attributes.first_text(&["error.type", "openclaw.errorCategory", "openclaw.error"]);
    let is_marked = |(key, mark): &(&str, &str)| {
        attributes.get(key).and_then(as_text).is_some_and(|text| text.eq_ignore_ascii_case(mark))
    };
    if !failed && kind.is_none() && !ERROR_MARKS.iter().any(is_marked) {
        return None;
    }
    let message = status.map(|status| status.message.as_str()).filter(|message| !message.is_empty());
    let exception = || {
        let event = exported.span.events.iter().find(|event| event.name == "exception")?;
        let of_event = Attributes(&event.attributes);
        of_event.text("exception.message").or_else(|| of_event.text("exception.type"))
    };
    let text = message.or_else(exception).or_else(|| attributes.text("exception.message")).or(kind);
    Some(text.unwrap_or("failed without an error message").to_owned())
}

pub fn asks_model(exported: &Exported) -> bool {
    Role::of(exported) == Role::Model
}

/// Returns whether a span is the outermost one of an agent's work: nothing of its trace follows its end.
pub(super) fn is_outermost(exported: &Exported) -> bool {
    let name = exported.span.name.as_str();
    // A gateway continues the trace of its caller, whose span is exported elsewhere or never. Its span for the request
    // itself ends before the work does.
    exported.is_root() && !name.starts_with("openclaw.gateway.rpc.") || OUTERMOST.contains(&name)
}

pub(super) fn is_gateway_run(exported: &Exported) -> bool {
    exported.span.name == "openclaw.run"
}

const OUTERMOST: [&str; 2] = ["openclaw.run", "openclaw.message.processed"];

/// Returns the last part of an attribute's name, letters and digits only: `openclaw.runId` and `run_id` are the same.
fn last_part(key: &str) -> String {
    let last = key.rsplit_once('.').map_or(key, |(rest, last)| {
        // `run.id` is two parts.
        if last.eq_ignore_ascii_case("id") { &key[rest.rfind('.').map_or(0, |at| at + 1)..] } else { last }
    });
    last.chars().filter(char::is_ascii_alphanumeric).map(|it| it.to_ascii_lowercase()).collect()
}

const MIN_RUN_ID_LENGTH: usize = 16;

pub(super) fn names_run(key: &str, value: &OtelValue, run: &str) -> bool {
    !run.is_empty()
        && as_text(value).is_some_and(|text| text == run)
        && (run.len() >= MIN_RUN_ID_LENGTH || last_part(key) == "runid")
}

#[cfg(test)]
mod tests {
    use super::last_part;

    #[test]
    fn name_of_an_attribute_ends_in_its_last_words() {
        for (key, last) in [
            ("openclaw.runId", "runid"),
            ("run_id", "runid"),
            ("clawspec.run.id", "runid"),
            ("run.id", "runid"),
            ("gen_ai.conversation.id", "conversationid"),
            ("id", "id"),
        ] {
            assert_eq!(last_part(key), last);
        }
    }
}
