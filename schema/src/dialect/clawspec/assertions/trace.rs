//! Assertions about the trace of a run: models and tools, their order, errors.
//!
//! Without a trace, they are skipped, as documented by the format.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    behavioral::decided,
    trace_notes::{aligned, shown},
};
use crate::{
    acceptable::{Amount, Limit},
    act::Until,
    dialect::clawspec::{
        claim::AssertionType,
        scope::Scope,
        scoped_evidence::{ScopedEvidence, structured},
        statements::{Statement, Subject},
        words::{CalledTool, OneFile, RouterFile, RunText, lenient_count},
    },
    evidence::{Context, FilesNeed, Need, Span, SpanKind, Trace, UNSEEN_TOOLS},
    lint_node::LintNode,
    seen::{Found, Observed, Why},
    verdict::{At, Judged, Mismatch, Row},
    words::{AgentName, Name, nearest},
};

/// Returns an error if the order of the spans of a kind is not known.
fn with_order(trace: &Trace, kind: SpanKind) -> Result<(), Why> {
    let spans = in_order(trace, kind);
    let is_known = spans.len() < 2 || spans.iter().all(|span| span.started_us.is_some());
    is_known.then_some(()).ok_or_else(|| Why::unknown("a span has no start time, so the order is not known"))
}

/// Returns the spans of a kind, by start time if all have one.
pub(super) fn in_order(trace: &Trace, kind: SpanKind) -> Vec<&Span> {
    let mut spans: Vec<&Span> = trace.spans.iter().filter(|span| span.kind == kind).collect();
    if spans.iter().all(|span| span.started_us.is_some()) {
        spans.sort_by_key(|span| span.started_us);
    }
    spans
}

fn tools<'e>(seen: &ScopedEvidence<'e>) -> Result<Observed<&'e Trace>, Row> {
    let trace = seen.act.trace()?;
    let gap = trace.so_far().unseen_tools.then(|| Why::unknown(UNSEEN_TOOLS));
    Ok(trace.with_gap(gap))
}

fn names<'t>(spans: &[&'t Span]) -> Vec<&'t str> {
    spans.iter().map(|span| span.name.as_str()).collect()
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Returns the index in `expected` at which an ordered search fails; `None` if everything is found.
fn first_out_of_order(expected: &[String], actual: &[&str], is: impl Fn(&str, &str) -> bool) -> Option<usize> {
    let mut rest = actual.iter();
    expected.iter().position(|wanted| !rest.any(|name| is(wanted, name)))
}

/// The number of model calls is within bounds.
///
/// ```yaml
/// - type: llm_call_count
///   min: 1
///   max: 4
/// ```
///
/// Set at least one bound. Both are inclusive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("anyOf" = [{ "required": ["min"] }, { "required": ["max"] }], "x-problems" = [{
    "if": { "required": ["min"], "properties": { "min": { "enum": [0, "0"] }, "max": false } },
    "at": "min", "code": "vacuous-claim", "help": "write at least 1, or add `max`",
    "message": "a count is never below 0, so this assertion always passes",
}]))]
pub struct LlmCallCount {
    /// Minimum number of calls.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient_count")]
    #[schemars(extend("x-in-quotes" = true))]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("type" = ["integer", "string"], "x-at-most" = "max", "examples" = [1]))]
    #[schemars(extend("x-synonyms" = ["min_calls", "at_least"]))]
    pub min: Option<u64>,
    /// Maximum number of calls.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient_count")]
    #[schemars(extend("x-in-quotes" = true))]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("type" = ["integer", "string"], "examples" = [4]))]
    #[schemars(extend("x-synonyms" = ["max_calls", "at_most"]))]
    pub max: Option<u64>,
}

impl AssertionType for LlmCallCount {
    const NAME: &'static str = "llm_call_count";
    const NEEDS: &'static [Need] = &[Need::Trace];

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let trace = seen.act.trace()?;
        let count = |trace: &Trace| trace.spans.iter().filter(|span| span.kind == SpanKind::Llm).count() as u64;
        let max = self.max.map(|max| trace.search(|trace| Some(count(trace)).filter(|count| *count > max)).at("max"));
        if let (Some(max), Some(Ok(Found::Yes(count, proof)))) = (self.max, &max) {
            let message = format!("{count} LLM calls, more than max {max}");
            let mismatch = Mismatch::new(message, format!("at most {max}"), count.to_string());
            let mismatch = mismatch.accepting_limit(Limit::Most, *count as f64, Amount::Counted);
            return Ok(Row::fail("max", *proof, mismatch));
        }
        let min = self.min.map(|min| trace.search(|trace| Some(count(trace)).filter(|count| *count >= min)).at("min"));
        if let (Some(min), Some(Ok(Found::No(proof)))) = (self.min, &min) {
            let count = count(trace.so_far());
            let message = format!("{count} LLM calls, fewer than min {min}");
            let mismatch = Mismatch::new(message, format!("at least {min}"), count.to_string());
            let mismatch = mismatch.accepting_limit(Limit::Least, count as f64, Amount::Counted);
            return Ok(Row::fail("min", *proof, mismatch));
        }
        match (min.transpose()?, max.transpose()?) {
            (_, Some(max)) => Ok(Row::pass("max", max.proof())),
            (Some(min), None) => Ok(Row::pass("min", min.proof())),
            (None, None) => Err(Row::unknown("", "no bound is set, so nothing is checked")),
        }
    }
}

/// Tools were called in a certain order.
///
/// ```yaml
/// - type: tool_sequence
///   expected: [memory.search, resend.send]
/// - type: tool_sequence
///   mode: strict
///   expected: [memory.search, attio.read, resend.send]
/// ```
///
/// Names are compared exactly, in the order in which the calls began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-problems" = [{
    "if": {
        "required": ["expected"], "properties": { "expected": { "maxItems": 0 } },
        "not": { "required": ["mode"], "properties": { "mode": { "const": "strict" } } },
    },
    "at": "expected", "code": "vacuous-claim", "unless-wrong": true, "help": "list the expected names, in order",
    "message": "`expected` is empty, so nothing is checked",
}]))]
pub struct ToolSequence {
    /// Names of the tools.
    #[schemars(with = "Vec<CalledTool>", extend("x-literal" = "fails", "examples" = [["memory.search", "resend.send"]]))]
    #[schemars(extend("x-synonyms" = ["sequence", "tools"], "x-looser" = { "mode": ["strict", "ordered", "contains"] }))]
    pub expected: Vec<Name>,
    /// Comparison of the calls with the list.
    #[serde(default)]
    pub mode: SequenceMode,
}

/// Comparison of calls with a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SequenceMode {
    /// The listed tools are called in this order, possibly with other tools in between.
    #[default]
    Ordered,
    /// Exactly the listed tools are called, in this order.
    Strict,
    /// Each listed tool is called, in any order, possibly with other tools.
    Contains,
}

impl AssertionType for ToolSequence {
    const NAME: &'static str = "tool_sequence";
    const SUBJECT: &'static str = "expected";
    const NEEDS: &'static [Need] = &[Need::Trace];

    fn says<'d>(node: &LintNode<'d>) -> Vec<Statement<'d>> {
        Statement::at(node, "expected", Subject::Span, true).collect()
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let trace = tools(seen)?;
        let expected = self.expected.iter().map(|name| seen.expand("expected", name)).collect::<Result<Vec<_>, _>>()?;
        let actual = names(&in_order(trace.so_far(), SpanKind::Tool));
        let wanted = listed(&expected.iter().map(String::as_str).collect::<Vec<_>>());
        let got = listed(&actual);
        if self.mode != SequenceMode::Contains {
            with_order(trace.so_far(), SpanKind::Tool).at("expected")?;
        }
        match self.mode {
            SequenceMode::Strict => {
                let (_, proof) = trace.complete().at("expected")?;
                if expected.iter().map(String::as_str).eq(actual.iter().copied()) {
                    return Ok(Row::pass("expected", proof));
                }
                let message = format!("expected exactly {wanted}, got {got}");
                let at = expected.iter().zip(&actual).position(|(one, other)| one != other);
                let notes = aligned(&expected, &actual);
                let mismatch = Mismatch::new(message, wanted, got).notes(notes);
                // A list of another length is not made equal by one of its items.
                let mismatch = match at.filter(|_| expected.len() == actual.len()) {
                    Some(at) => mismatch.accepting(actual[at]),
                    None => mismatch,
                };
                let row = Row::fail("expected", proof, mismatch);
                Ok(match at.or_else(|| (actual.len() < expected.len()).then_some(actual.len())) {
                    Some(at) => row.at_item(at),
                    None => row,
                })
            }
            SequenceMode::Ordered | SequenceMode::Contains if expected.is_empty() => {
                Err(Row::unknown("expected", "the list is empty, so nothing is checked"))
            }
            SequenceMode::Contains => {
                let missing: Vec<(usize, &str)> = expected
                    .iter()
                    .enumerate()
                    .filter(|(_, name)| !actual.contains(&name.as_str()))
                    .map(|(index, name)| (index, name.as_str()))
                    .collect();
                let found = trace.search(|_| missing.is_empty().then_some(())).at("expected")?;
                let missing_names = listed(&missing.iter().map(|(_, name)| *name).collect::<Vec<_>>());
                let row = Row::present("expected", found, || {
                    let others = actual.iter().copied().filter(|name| !expected.iter().any(|known| known == name));
                    let near = missing.first().and_then(|(_, name)| nearest(name, others));
                    let message = format!("tools not called: {missing_names}; called: {got}");
                    let mismatch = Mismatch::new(message, wanted, got.clone());
                    near.map_or(mismatch.clone(), |near| mismatch.accepting(near))
                });
                Ok(match missing.first() {
                    Some((first, _)) => row.at_item(*first),
                    None => row,
                })
            }
            SequenceMode::Ordered => {
                let at = first_out_of_order(&expected, &actual, |wanted, name| wanted == name);
                let found = trace.search(|_| at.is_none().then_some(())).at("expected")?;
                let (Some(at), Found::No(proof)) = (at, found) else { return Ok(Row::pass("expected", found.proof())) };
                let message = format!("`{}` (position {at}) was not called in this order; called: {got}", expected[at]);
                let notes = aligned(&expected, &actual);
                Ok(Row::fail("expected", proof, Mismatch::new(message, wanted, got).notes(notes)).at_item(at))
            }
        }
    }
}

/// A model was used, or was not.
///
/// ```yaml
/// - type: model_used
///   expected: claude-sonnet-4-6
/// - type: model_used
///   not_expected: claude-opus-4-6
/// ```
///
/// Set exactly one of the two keys. Part of the model's name is enough: `sonnet` matches `claude-sonnet-4-6`. Names are
/// case-sensitive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("oneOf" = [{ "required": ["expected"] }, { "required": ["not_expected"] }]))]
pub struct ModelUsed {
    /// Part of the name of a model that must be called at least once.
    #[schemars(extend("x-compared" = "name", "x-seen" = "models", "examples" = ["claude-sonnet-4-6"]))]
    #[schemars(extend("x-synonyms" = ["model"]))]
    pub expected: Option<RunText>,
    /// Part of the name of models that must not be called.
    #[schemars(extend("x-compared" = "name", "x-forbids" = "", "examples" = ["claude-opus-4-6"]))]
    pub not_expected: Option<RunText>,
}

impl AssertionType for ModelUsed {
    const NAME: &'static str = "model_used";
    const NEEDS: &'static [Need] = &[Need::Trace];

    fn says<'d>(node: &LintNode<'d>) -> Vec<Statement<'d>> {
        let denied = Statement::at(node, "not_expected", Subject::Model, false);
        Statement::at(node, "expected", Subject::Model, true).chain(denied).collect()
    }

    fn subject(&self) -> String {
        match (&self.expected, &self.not_expected) {
            (Some(model), _) => model.to_string(),
            (None, Some(model)) => format!("not {model}"),
            (None, None) => String::new(),
        }
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let trace = seen.act.trace()?;
        let spans = in_order(trace.so_far(), SpanKind::Llm);
        let uses = |model: &str| {
            spans
                .iter()
                .find(|span| span.name.contains(model) || span.model.as_ref().is_some_and(|name| name.contains(model)))
        };
        let mut used: Vec<&str> = spans.iter().map(|span| span.model.as_deref().unwrap_or(&span.name)).collect();
        used.dedup();
        let got = listed(&used);
        let mut row = Err(Why::Skip("no expected or not_expected specified".to_owned()).into());
        if let Some(model) = &self.expected {
            let model = seen.expand("expected", model)?;
            let found = trace.search(|_| uses(&model)).at("expected")?;
            let message = format!("expected model {model} not found in {got}");
            let present = Row::present("expected", found, || {
                let mismatch = Mismatch::new(message, model.clone(), got.clone());
                match used[..] {
                    [only] => mismatch.accepting(only),
                    [..] => mismatch,
                }
            });
            if !found.is_yes() {
                return Ok(present);
            }
            row = Ok(present);
        }
        if let Some(model) = &self.not_expected {
            let model = seen.expand("not_expected", model)?;
            // Where no call names its model, the names of the spans are those of the models, or of what they do.
            const OPERATIONS: [&str; 7] =
                ["chat", "completion", "embeddings", "generate_content", "invoke_model", "llm", "text_completion"];
            let is_unnamed = spans.iter().any(|span| {
                span.model.is_none() && (spans[0].model.is_some() || OPERATIONS.contains(&&*span.name.to_lowercase()))
                    || span.model.is_some() != spans[0].model.is_some()
            });
            let gap = is_unnamed.then(|| Why::unknown("a model call does not name its model"));
            let found = trace.with_gap(gap).search(|_| uses(&model)).at("not_expected")?;
            row = Ok(Row::absent("not_expected", found, |_| {
                Mismatch::new(format!("prohibited model {model} was used"), format!("not {model}"), got.clone())
            }));
        }
        row
    }
}

/// The run was handed over along a certain path of agents.
///
/// ```yaml
/// - type: delegation_path
///   expected: [orchestrator, copywriter, brand-guardian]
/// ```
///
/// The agents must appear in this order, possibly with others in between. Part of an agent's name is enough. If the
/// trace does not mention other agents, the first of the routing keys below that is set decides. Without one, the
/// result is a warning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-first-of" = ROUTING))]
pub struct DelegationPath {
    /// Agents, in order.
    #[schemars(with = "Vec<AgentName>", extend("examples" = [["orchestrator", "copywriter"]]))]
    #[schemars(extend("x-non-empty" = "list the expected names, in order"))]
    #[schemars(extend("x-synonyms" = ["path"]))]
    pub expected: Vec<Name>,
    /// Agents as recorded by the router.
    #[schemars(with = "Option<Vec<AgentName>>")]
    pub routing_path: Option<Vec<Name>>,
    /// Another name for `routing_path`.
    #[schemars(with = "Option<Vec<AgentName>>")]
    pub decision_path: Option<Vec<Name>>,
    /// Another name for `routing_path`.
    #[schemars(with = "Option<Vec<AgentName>>")]
    pub delegation_fallback_path: Option<Vec<Name>>,
    /// Decisions of the router: names, or mappings with `selected_agent` or `agent`.
    #[schemars(extend("items" = { "x-problems": no_agent() }))]
    pub routing_decisions: Option<Vec<Value>>,
    /// Another name for `routing_decisions`.
    #[schemars(extend("items" = { "x-problems": no_agent() }))]
    pub state_payloads: Option<Vec<Value>>,
    /// Another name for `routing_decisions`.
    #[schemars(extend("items" = { "x-problems": no_agent() }))]
    pub decision_payloads: Option<Vec<Value>>,
    /// A decision of the router.
    #[schemars(extend("x-problems" = no_agent()))]
    pub routing_decision: Option<Value>,
    /// Another name for `routing_decision`.
    #[schemars(extend("x-problems" = no_agent()))]
    pub state_payload: Option<Value>,
    /// Another name for `routing_decision`.
    #[schemars(extend("x-problems" = no_agent()))]
    pub decision_payload: Option<Value>,
    /// Files that the router writes, with one decision each.
    #[schemars(with = "Option<Vec<RouterFile>>")]
    pub state_paths: Option<Vec<OneFile>>,
    /// Another name for `state_paths`.
    #[schemars(with = "Option<Vec<RouterFile>>")]
    pub routing_state_paths: Option<Vec<OneFile>>,
    /// File that the router writes.
    #[schemars(with = "Option<RouterFile>", extend("examples" = ["memory/router-state.yaml"]))]
    pub state_path: Option<OneFile>,
    /// Another name for `state_path`.
    #[schemars(with = "Option<RouterFile>")]
    pub routing_state_path: Option<OneFile>,
}

/// Returns the problem of a decision that names no agent.
fn no_agent() -> Value {
    let filled = |key: &str| json!({ "type": "object", "required": [key], "properties": { key: { "pattern": "." } } });
    json!([{
        "if": { "not": { "anyOf": [{ "pattern": "." }, filled("selected_agent"), filled("agent")] } },
        "code": "unchecked", "message": "this decision does not name an agent, so it is skipped",
        "help": "write the name of an agent, or `agent: NAME`", "unless-wrong": true,
    }])
}

/// Keys of routing data, of which the first one counts.
const ROUTING: [&str; 13] = [
    "routing_path", "decision_path", "delegation_fallback_path", "routing_decisions", "state_payloads",
    "decision_payloads", "routing_decision", "state_payload", "decision_payload", "state_paths", "routing_state_paths",
    "state_path", "routing_state_path",
];

fn names_files(key: &str) -> bool {
    key.contains("state_path")
}

impl DelegationPath {
    /// The routing data that counts, with its key: names and decisions, or paths of files with one decision each.
    fn routing(&self) -> Option<(&'static str, Vec<Value>)> {
        let members = serde_json::to_value(self).ok()?;
        let is_single = |key: &str| key.ends_with("decision") || key.ends_with("payload");
        ROUTING.into_iter().find_map(|key| match members.get(key)? {
            Value::Null => None,
            Value::Array(values) if !is_single(key) => Some((key, values.clone())),
            value => Some((key, vec![value.clone()])),
        })
    }

    fn file_need(path: &str, scope: &Scope, context: &Context) -> Option<FilesNeed> {
        let pattern = scope.expand(path, context).ok()?;
        Some(FilesNeed { pattern, content: true, moment: scope.moment, ..FilesNeed::default() })
    }

    /// The agents in the routing data. `None` without routing data.
    fn fallback(&self, seen: &ScopedEvidence<'_>) -> Result<Option<Observed<Vec<String>>>, Row> {
        let Some((key, values)) = self.routing() else { return Ok(None) };
        let mut names = Vec::new();
        for value in &values {
            if !names_files(key) {
                names.extend(agent_in(value).map(|name| seen.expand(key, &name)).transpose()?);
                continue;
            }
            let path = value.as_str().unwrap_or_default();
            let Some(want) = DelegationPath::file_need(path, seen.scope, seen.act.context()) else {
                return Err(Row::unknown(key, "the path contains a template variable without a value in this run"));
            };
            let Found::Yes(file, _) = seen.file(key, &want, Until::TimeLimit)? else { continue };
            let Ok(text) = seen.text(key, file, Until::TimeLimit) else { continue };
            let (text, _) = text.complete().at(key)?;
            names.extend(structured(&file.path, text).ok().as_ref().and_then(decided).map(|agent| agent.show()));
        }
        Ok(Some(Observed::new(names, None)))
    }
}

fn agent_in(decision: &Value) -> Option<String> {
    let filled = |value: Option<&Value>| value?.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    filled(Some(decision)).or_else(|| filled(decision.get("selected_agent"))).or_else(|| filled(decision.get("agent")))
}

impl AssertionType for DelegationPath {
    const NAME: &'static str = "delegation_path";
    const SUBJECT: &'static str = "expected";

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        let mut needs = vec![Need::Trace];
        if let Some((_, paths)) = self.routing().filter(|(key, _)| names_files(key)) {
            let need = |path: &Value| DelegationPath::file_need(path.as_str()?, scope, context);
            needs.extend(paths.iter().filter_map(need).map(Need::Files));
        }
        needs
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let trace = seen.act.trace()?;
        if self.expected.is_empty() {
            return Err(Row::unknown("expected", "the list is empty, so nothing is checked"));
        }
        let expected = self.expected.iter().map(|name| seen.expand("expected", name)).collect::<Result<Vec<_>, _>>()?;
        with_order(trace.so_far(), SpanKind::Subagent).at("expected")?;
        let agents = in_order(trace.so_far(), SpanKind::Subagent);
        let agents: Vec<String> = agents.into_iter().map(|span| span.name.clone()).collect();
        let fallback = if agents.is_empty() { self.fallback(seen)? } else { None };
        let (actual, by) = match fallback {
            Some(names) => (names, " via routing fallback"),
            None if agents.is_empty() => {
                let (_, proof) = trace.complete().at("expected")?;
                let message = "no subagent spans found, and no routing data is set".to_owned();
                return Ok(Row::warn("expected", proof, Mismatch { message, ..Mismatch::default() }));
            }
            None => (trace.map(|_| agents), ""),
        };
        let names: Vec<&str> = actual.so_far().iter().map(String::as_str).collect();
        let wanted = listed(&expected.iter().map(String::as_str).collect::<Vec<_>>());
        let at = first_out_of_order(&expected, &names, |wanted, name| name.contains(wanted));
        let found = actual.search(|_| at.is_none().then_some(())).at("expected")?;
        let (Some(at), Found::No(proof)) = (at, found) else { return Ok(Row::pass("expected", found.proof())) };
        let message = format!("delegation path mismatch{by} at position {at}: `{}` is not there", expected[at]);
        Ok(Row::fail("expected", proof, Mismatch::new(message, wanted, listed(&names))).at_item(at))
    }
}

/// No span of the trace has an error.
///
/// ```yaml
/// - type: no_span_errors
/// ```
///
/// This assertion finds errors in tools and sub-agents that the result does not show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoSpanErrors {}

impl AssertionType for NoSpanErrors {
    const NAME: &'static str = "no_span_errors";
    const NEEDS: &'static [Need] = &[Need::Trace];

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let trace = seen.act.trace()?;
        let errors: Vec<String> = trace
            .so_far()
            .spans
            .iter()
            .filter_map(|span| Some((span, span.error.as_ref().filter(|error| !error.is_empty())?)))
            .map(|(span, error)| format!("{}: {error}", shown(span)))
            .collect();
        Ok(Row::absent("", trace.search(|_| errors.first())?, |first| {
            let mismatch = Mismatch::new(format!("{} span(s) had errors", errors.len()), "no errors", first.clone());
            mismatch.notes(errors[1..].iter().take(20).cloned())
        }))
    }
}

/// A tool was not called, according to the trace.
///
/// ```yaml
/// - type: tool_not_invoked
///   tool: resend.send
/// ```
///
/// Like `tool_not_called`, for runs with a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-other-names" = ["tool_was_not_invoked"]))]
pub struct ToolNotInvoked {
    /// Exact name of the tool.
    #[schemars(extend("x-shares" = "tools", "x-literal" = "passes", "examples" = ["resend.send"]))]
    #[schemars(extend("x-other-names" = ["name"]))]
    pub tool: RunText,
}

impl AssertionType for ToolNotInvoked {
    const NAME: &'static str = "tool_not_invoked";
    const SUBJECT: &'static str = "tool";
    const NEEDS: &'static [Need] = &[Need::Trace];

    fn says<'d>(node: &LintNode<'d>) -> Vec<Statement<'d>> {
        Statement::at(node, "tool", Subject::Span, false).collect()
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let trace = tools(seen)?;
        let tool = seen.expand("tool", &self.tool)?;
        let called = names(&in_order(trace.so_far(), SpanKind::Tool));
        let near = called.iter().find(|name| **name != tool && name.eq_ignore_ascii_case(&tool));
        let gap = near.map(|name| Why::unknown(format!("the run called `{name}`, whose name differs only in case")));
        let found = trace.with_gap(gap).search(|_| called.iter().find(|name| **name == tool)).at("tool")?;
        Ok(Row::absent("tool", found, |_| {
            Mismatch::new(format!("tool {tool} was invoked"), format!("no call to {tool}"), listed(&called))
        }))
    }
}
