//! Lowers the tree to cases. Total: every valid part is used, even if other parts are
//! invalid; [`Case::intact`] is true if all parts are valid.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    Gates,
    claims::{SchemaFile, guardrails::PiiClaim, judge::JudgeClaim, output::OutputClaim, tool_calls::ToolCallClaim},
    config::Defaults,
    expect::{BaselineExpect, CostExpect, JudgeExpect, KeywordsGuardrail, LatencyExpect, OutputExpect, ToolCallExpect},
    template::{self, expand},
    test::Test,
};
use crate::{
    document::{Document, NodeRef, Pointer, Shape},
    evidence::AskedModel,
    files::{FileKind, Files, Resolved, inside},
    format::Dialect,
    gates::Gates as AnyGates,
    lenient::lenient,
    settings::Settings,
    suite::{Action, Case, Claim, CommandAction, Needed, PromptAction, Suite, inputs_of},
    verdict::Check,
};

/// Values from the rest of the file that tests depend on. If they change, every test is lowered again.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RootContext {
    pub defaults: Defaults,
    /// Ids of all models, in the order of the file.
    pub models: Vec<String>,
    pub judge: Option<AskedModel>,
    /// Whether the settings name the judge: if so, the `model` of a criterion is ignored.
    pub judge_is_fixed: bool,
    /// Number of requests to the judge.
    pub judge_times: u32,
}

impl RootContext {
    pub(crate) fn of(document: &Document, files: &dyn Files, settings: &Settings) -> RootContext {
        let judge_times = if flags_beta_judge(files) { JUDGE_TIMES } else { 1 };
        let Some(root) = document.root() else { return RootContext { judge_times, ..RootContext::default() } };
        let defaults: Defaults =
            root.get("defaults").and_then(value_of).and_then(|value| lenient(&value)).unwrap_or_default();
        let entries: Vec<NodeRef<'_>> = root.get("models").into_iter().flat_map(NodeRef::items).collect();
        let id = |model: &NodeRef<'_>| Some(model.get("id")?.as_str()?.to_owned());
        let judge = match &defaults.judge_model {
            Some(name) => entries.iter().find(|model| id(model).as_deref() == Some(&**name)),
            None => entries.first(),
        };
        let own = judge.and_then(|model| peer(*model, root.get("providers")));
        let fixed = settings.judge.as_deref().and_then(AskedModel::of_id);
        let judge_is_fixed = fixed.is_some();
        let judge = fixed.or(own);
        RootContext { models: entries.iter().filter_map(id).collect(), judge, judge_is_fixed, judge_times, defaults }
    }
}

/// Number of requests to a judge if `betaJudge` is set.
const JUDGE_TIMES: u32 = 3;

/// Whether the feature flag `betaJudge` is on. It is off if the file of flags is missing or invalid.
fn flags_beta_judge(files: &dyn Files) -> bool {
    let bytes = files.read(".kindlm/config.json").ok();
    let value = bytes.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    value.and_then(|value| is_truthy(value.get("features")?.get("betaJudge")?).then_some(())).is_some()
}

/// Whether a value is true in JavaScript.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

fn peer(model: NodeRef<'_>, providers: Option<NodeRef<'_>>) -> Option<AskedModel> {
    let provider = model.get("provider")?.as_str()?.to_owned();
    let reached = providers.and_then(|providers| providers.get(&provider));
    let text = |key: &str| Some(reached?.get(key)?.as_str()?.to_owned());
    Some(AskedModel {
        model: model.get("model")?.as_str()?.to_owned(),
        base_url: text("baseUrl"),
        key_env: text("apiKeyEnv"),
        provider,
    })
}

pub(crate) fn lower_root(document: &Document, context: &RootContext, pass_rate: Option<f64>) -> Suite {
    let root = document.root();
    let name = root.and_then(|root| root.get("suite")?.get("name")?.as_str()).map(str::to_owned);
    let gates = Gates::lower(root.and_then(|root| root.get("gates")), pass_rate);
    let concurrency = context.defaults.concurrency.unwrap_or(Defaults::CONCURRENCY).clamp(1, 32);
    Suite {
        name,
        gates: AnyGates::of(gates),
        concurrency: usize::try_from(concurrency).unwrap_or(1),
        ..Suite::empty(Dialect::KINDLM)
    }
}

pub(crate) fn lower_test(test: NodeRef<'_>, at: Pointer, root: &RootContext, files: &dyn Files) -> Case {
    let mut value = value_of(test).unwrap_or_default();
    compared_arguments(test, &mut value);
    let readable = Test::deserialize(&value).is_ok();
    let (action, action_is_intact) = action(test, &at, root, files);
    let mut lowering = Lowering { files, root, claims: Vec::new(), intact: true };
    if let Some(expect) = value.get("expect") {
        lowering.expect(expect, &at.key("expect"));
    }
    let name = value.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let repeat = part::<u32>(&value, "repeat").or(root.defaults.repeat).unwrap_or(Defaults::REPEAT);
    let tags = value.get("tags").and_then(Value::as_array).into_iter().flatten();
    Case {
        tags: tags.filter_map(Value::as_str).map(str::to_owned).collect(),
        skip: value.get("skip") == Some(&Value::Bool(true)),
        repeat: repeat.clamp(1, 100),
        needed: Needed::All,
        action,
        claims: lowering.claims,
        intact: readable && action_is_intact && lowering.intact && !name.is_empty(),
        name,
        at,
        file: None,
    }
}

/// What arguments are compared with is a value of any kind: there, a number that is equal to nothing stays one.
fn compared_arguments(test: NodeRef<'_>, value: &mut Value) {
    let calls = test.get("expect").and_then(|expect| expect.get("toolCalls"));
    for (index, call) in calls.into_iter().flat_map(NodeRef::items).enumerate() {
        let arguments = call.get("argsMatch").and_then(|arguments| arguments.to_value().ok());
        let place = value.pointer_mut(&format!("/expect/toolCalls/{index}/argsMatch"));
        if let (Some(arguments), Some(place)) = (arguments, place) {
            *place = arguments;
        }
    }
}

fn action(test: NodeRef<'_>, at: &Pointer, root: &RootContext, files: &dyn Files) -> (Action, bool) {
    let (command, prompt) = (test.get("command"), test.get("prompt"));
    let text =
        |node: Option<NodeRef<'_>>| node.and_then(NodeRef::as_str).filter(|it| !it.is_empty()).map(str::to_owned);
    let one = command.is_some() != prompt.is_some();
    if let Some(template) = text(command) {
        let variables = variables(test, &template);
        let expanded = expand(&template, &variables);
        let inputs = expanded.as_ref().map(|command| inputs_of(command, files)).unwrap_or_default();
        let intact = one && expanded.is_ok();
        let timeout_ms = root.defaults.timeout_ms.unwrap_or(Defaults::TIMEOUT_MS);
        let at = at.key("command");
        return (Action::Command(CommandAction { at, template, variables, expanded, inputs, timeout_ms }), intact);
    }
    if let Some(prompt) = text(prompt) {
        let models = match test.get("models") {
            Some(models) => models.items().filter_map(NodeRef::as_str).map(str::to_owned).collect(),
            None => root.models.clone(),
        };
        return (Action::Prompt(PromptAction { at: at.key("prompt"), prompt, models }), one);
    }
    (Action::None, false)
}

/// Returns the values of the variables in a template. Other variables have no effect, so changing them does not make
/// results stale.
fn variables(test: NodeRef<'_>, template: &str) -> BTreeMap<String, String> {
    let used: BTreeSet<&str> = template::names(template).collect();
    let entries = test.get("vars").into_iter().flat_map(NodeRef::entries);
    let entries = entries.filter_map(|entry| Some((entry.key.key_text(), entry.value.as_str()?.to_owned())));
    entries.filter(|(name, _)| used.contains(name.as_str())).collect()
}

fn part<T: DeserializeOwned>(value: &Value, key: &str) -> Option<T> {
    value.get(key).and_then(lenient)
}

fn items<T: DeserializeOwned>(value: &Value, key: &str) -> Vec<Option<T>> {
    value.get(key).and_then(Value::as_array).into_iter().flatten().map(lenient).collect()
}

/// Lowers the claims of one `expect`, in KindLM's order of results.
struct Lowering<'f> {
    files: &'f dyn Files,
    root: &'f RootContext,
    claims: Vec<Claim>,
    intact: bool,
}

impl Lowering<'_> {
    /// Takes the valid parts of an `expect`.
    fn expect(&mut self, expectations: &Value, at: &Pointer) {
        self.tool_calls(items(expectations, "toolCalls"), &at.key("toolCalls"));
        if let Some(expect) = part::<OutputExpect>(expectations, "output") {
            let path = expect.schema_file.as_ref().filter(|path| !path.is_empty());
            let schema_file = path.map(|path| self.schema_file(path));
            self.claim(at.key("output"), OutputClaim { expect, schema_file });
        }
        let guardrails = expectations.get("guardrails").unwrap_or(&Value::Null);
        if let Some(expect) = part(guardrails, "pii") {
            self.claim(at.key("guardrails").key("pii"), PiiClaim::new(&expect));
        }
        if let Some(expect) = part::<KeywordsGuardrail>(guardrails, "keywords") {
            self.claim(at.key("guardrails").key("keywords"), expect);
        }
        for (index, expect) in items::<JudgeExpect>(expectations, "judge").into_iter().enumerate() {
            if let Some(expect) = expect {
                let peer = self.root.judge.clone().map(|peer| match &expect.model {
                    Some(model) if !self.root.judge_is_fixed => AskedModel { model: model.clone(), ..peer },
                    Some(_) | None => peer,
                });
                self.claim(at.key("judge").index(index), JudgeClaim { expect, peer, times: self.root.judge_times });
            }
        }
        if let Some(drift) = part::<BaselineExpect>(expectations, "baseline").and_then(|baseline| baseline.drift) {
            self.claim(at.key("baseline").key("drift"), drift);
        }
        if let Some(expect) = part::<LatencyExpect>(expectations, "latency") {
            self.claim(at.key("latency"), expect);
        }
        if let Some(expect) = part::<CostExpect>(expectations, "cost") {
            self.claim(at.key("cost"), expect);
        }
    }

    fn tool_calls(&mut self, entries: Vec<Option<ToolCallExpect>>, at: &Pointer) {
        let ordered = entries.iter().flatten().any(|entry| entry.order.is_some());
        for (index, entry) in entries.into_iter().enumerate() {
            let Some(expect) = entry else { continue };
            let path = expect.args_schema.as_ref().filter(|_| !expect.should_not_call);
            let args_schema = path.map(|path| self.schema_file(path));
            self.claim(at.index(index), ToolCallClaim { expect, args_schema, ordered });
        }
    }

    fn claim(&mut self, at: Pointer, check: impl Check + 'static) {
        self.claims.push(Claim { at, phase: None, check: Arc::new(check) });
    }

    /// Reads a schema file. Its content is validated only when the claim is judged.
    fn schema_file(&mut self, path: &str) -> SchemaFile {
        let bytes = match inside(path) {
            None => Err("the path is outside the suite's directory".to_owned()),
            Some(inside) => match self.files.named(&inside) {
                Resolved::Found { kind: FileKind::File, .. } | Resolved::Unread => self.files.read_named(&inside),
                Resolved::Found { kind: FileKind::Directory | FileKind::Other, .. } | Resolved::Nothing => {
                    Err("no such file".to_owned())
                }
            },
        };
        self.intact &= bytes.is_ok();
        SchemaFile::new(path, bytes)
    }
}

fn value_of(node: NodeRef<'_>) -> Option<Value> {
    if node.shape() == Shape::Dangling {
        return None;
    }
    node.to_checked_value(usize::MAX).ok()
}

#[cfg(test)]
pub(crate) mod tests;
