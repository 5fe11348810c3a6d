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
    baselines::{self, BaselineResult},
    claims::{
        SchemaFile,
        conversation::{EntryClaim, TurnLimitClaim},
        drift::DriftClaim,
        guardrails::PiiClaim,
        judge::JudgeClaim,
        output::OutputClaim,
        tool_calls::{Order, ToolCallClaim},
    },
    config::Defaults,
    expect::{
        BaselineExpect, CostExpect, DriftExpect, JudgeExpect, KeywordsGuardrail, LatencyExpect, OutputExpect,
        ToolCallExpect, TrajectoryExpect,
    },
    prompt,
    providers::Prompt,
    template::{self, expand},
    test::Test,
};
use crate::{
    document::{Document, NodeRef, Pointer, Shape},
    evidence::{AskedModel, EntryPlace, QuestionPart},
    files::{FileKind, Files, Resolved, inside},
    format::Dialect,
    gates::Gates as AnyGates,
    lenient::lenient,
    settings::Settings,
    suite::{Action, Case, Claim, CommandAction, Needed, PromptModel, Suite, inputs_of},
    verdict::Check,
};

/// Values from the rest of the file that tests depend on. If they change, every test is lowered again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RootContext {
    pub defaults: Defaults,
    /// All models, in the order of the file.
    pub models: Vec<PromptModel>,
    pub prompts: BTreeMap<String, Prompt>,
    pub judge: Option<AskedModel>,
    /// Whether the settings name the judge: if so, the `model` of a criterion is ignored.
    pub judge_is_fixed: bool,
    /// Number of requests to the judge.
    pub judge_times: u32,
    /// Stored outputs by test and model, or the reason why they cannot be read.
    pub baseline: Result<BTreeMap<String, String>, String>,
}

impl Default for RootContext {
    fn default() -> RootContext {
        RootContext {
            defaults: Defaults::default(),
            models: Vec::new(),
            prompts: BTreeMap::new(),
            judge: None,
            judge_is_fixed: false,
            judge_times: 1,
            baseline: Ok(BTreeMap::new()),
        }
    }
}

impl RootContext {
    pub(crate) fn of(document: &Document, files: &dyn Files, settings: &Settings) -> RootContext {
        let judge_times = if flags_beta_judge(files) { JUDGE_TIMES } else { 1 };
        let Some(root) = document.root() else { return RootContext { judge_times, ..RootContext::default() } };
        let name = root.get("suite").and_then(|suite| suite.get("name")?.as_str()).unwrap_or_default();
        let stored = baselines::read(files, name).map(|stored| stored.map(|it| it.results).unwrap_or_default());
        let text = |(key, result): (String, BaselineResult)| (key, result.output_text);
        let baseline = stored.map(|results| results.into_iter().map(text).collect());
        let defaults: Defaults =
            root.get("defaults").and_then(value_of).and_then(|value| lenient(&value)).unwrap_or_default();
        let entries: Vec<NodeRef<'_>> = root.get("models").into_iter().flat_map(NodeRef::items).collect();
        let id = |model: &NodeRef<'_>| Some(model.get("id")?.as_str()?.to_owned());
        let judge = match &defaults.judge_model {
            Some(name) => entries.iter().find(|model| id(model).as_deref() == Some(&**name)),
            None => entries.first(),
        };
        let own = judge.and_then(|model| prompt::peer(*model, root.get("providers")));
        let models = prompt::models(root, files, settings);
        let replaced = judge.and_then(id).and_then(|id| models.iter().find(|model| model.id == id));
        let own = replaced.map(|model| model.asked.clone()).filter(|_| own.is_some()).or(own);
        let fixed = settings.judge.as_deref().and_then(AskedModel::of_id);
        let judge_is_fixed = fixed.is_some();
        let judge = fixed.or(own);
        RootContext { models, prompts: prompt::prompts(root), judge, judge_is_fixed, judge_times, defaults, baseline }
    }

    pub(super) fn model(&self, id: &str) -> Option<&PromptModel> {
        self.models.iter().find(|model| model.id == id)
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
    let name = value.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut lowering = Lowering { files, root, test: &name, claims: Vec::new(), entry: None, intact: true };
    if let Action::Prompt(prompt) = &action {
        lowering.conversation(&value, at.key("conversation"));
        let max_turns = prompt.max_turns;
        lowering.claim(at.key("maxTurns"), TurnLimitClaim { max_turns });
    }
    if let Some(expect) = value.get("expect") {
        lowering.expect(expect, &at.key("expect"));
    }
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
        // Other variables have no effect, so changing them does not make results stale.
        let used: BTreeSet<&str> = template::names(&template).collect();
        let mut variables = variables(test);
        variables.retain(|name, _| used.contains(name.as_str()));
        let expanded = expand(&template, &variables);
        let inputs = expanded.as_ref().map(|command| inputs_of(command, files)).unwrap_or_default();
        let intact = one && expanded.is_ok();
        let timeout_ms = root.defaults.timeout_ms.unwrap_or(Defaults::TIMEOUT_MS);
        let at = at.key("command");
        return (Action::Command(CommandAction { at, template, variables, expanded, inputs, timeout_ms }), intact);
    }
    if let Some(prompt) = text(prompt) {
        let (action, is_intact) = prompt::action(test, at, prompt, root);
        return (Action::Prompt(Box::new(action)), one && is_intact);
    }
    (Action::None, false)
}

/// Returns the values of the variables of a test.
pub(super) fn variables(test: NodeRef<'_>) -> BTreeMap<String, String> {
    let entries = test.get("vars").into_iter().flat_map(NodeRef::entries);
    entries.filter_map(|entry| Some((entry.key.key_text(), entry.value.as_str()?.to_owned()))).collect()
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
    /// Name of the test.
    test: &'f str,
    claims: Vec<Claim>,
    /// The entry of the conversation that the claims are about, and its label.
    entry: Option<(EntryPlace, String)>,
    intact: bool,
}

impl Lowering<'_> {
    fn conversation(&mut self, test: &Value, at: Pointer) {
        let asks: Vec<bool> = prompt::entries(test).map(|entry| prompt::user_of(entry).is_some()).collect();
        for (index, entry) in prompt::entries(test).enumerate() {
            let turn = entry.get("turn").and_then(Value::as_str).unwrap_or_default().to_owned();
            self.entry = Some((EntryPlace { index, asks: asks[..=index].to_vec() }, turn));
            if let Some(expect) = entry.get("expect") {
                self.expect(expect, &at.index(index).key("expect"));
            }
        }
        self.entry = None;
    }

    /// Takes the valid parts of an `expect`.
    fn expect(&mut self, expectations: &Value, at: &Pointer) {
        let is_sequence = part(expectations, "toolCallsOrdered") == Some(true);
        self.tool_calls(items(expectations, "toolCalls"), is_sequence, &at.key("toolCalls"));
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
                let raw = |name: &String| {
                    let judge = self.root.judge.clone()?;
                    Some(AskedModel { model: name.clone(), ..judge })
                };
                let peer = match &expect.model {
                    Some(name) if !self.root.judge_is_fixed => {
                        self.root.model(name).map(|model| model.asked.clone()).or_else(|| raw(name))
                    }
                    Some(_) | None => self.root.judge.clone(),
                };
                let judged = match &self.entry {
                    Some((place, _)) => QuestionPart::Entry(place.clone()),
                    None => QuestionPart::Output,
                };
                let claim = JudgeClaim { expect, peer, judged, times: self.root.judge_times };
                self.claim(at.key("judge").index(index), claim);
            }
        }
        let baseline = part::<BaselineExpect>(expectations, "baseline").filter(|_| self.entry.is_none());
        if let Some(drift) = baseline.and_then(|baseline| baseline.drift) {
            let claim = self.drift(drift);
            self.claim(at.key("baseline").key("drift"), claim);
        }
        if let Some(expect) = part::<LatencyExpect>(expectations, "latency") {
            self.claim(at.key("latency"), expect);
        }
        if let Some(expect) = part::<CostExpect>(expectations, "cost") {
            self.claim(at.key("cost"), expect);
        }
        if let Some(expect) = part::<TrajectoryExpect>(expectations, "trajectory") {
            self.claim(at.key("trajectory"), expect);
        }
    }

    fn tool_calls(&mut self, entries: Vec<Option<ToolCallExpect>>, is_sequence: bool, at: &Pointer) {
        let has_positions = entries.iter().flatten().any(|entry| entry.order.is_some());
        let mut before: Vec<String> = Vec::new();
        for (index, entry) in entries.into_iter().enumerate() {
            let Some(expect) = entry else { continue };
            let path = expect.args_schema.as_ref().filter(|_| !expect.should_not_call);
            let args_schema = path.map(|path| self.schema_file(path));
            let order = match (has_positions, is_sequence) {
                (true, _) => Order::Positions,
                (false, true) => Order::After(before.clone()),
                (false, false) => Order::Any,
            };
            if !expect.should_not_call {
                before.push(expect.tool.0.clone());
            }
            self.claim(at.index(index), ToolCallClaim { expect, args_schema, order });
        }
    }

    fn drift(&self, expect: DriftExpect) -> DriftClaim {
        let of_test = |(key, text): (&String, &String)| {
            let subject = key.strip_prefix(self.test)?.strip_prefix("::")?;
            Some((subject.to_owned(), text.clone()))
        };
        let stored = self.root.baseline.as_ref().map_err(String::clone);
        let models = self.root.models.iter().map(|model| (model.id.clone(), model.asked.clone()));
        DriftClaim {
            expect,
            stored: stored.map(|stored| stored.iter().filter_map(of_test).collect()),
            judge: self.root.judge.clone(),
            models: models.collect(),
        }
    }

    fn claim(&mut self, at: Pointer, check: impl Check + 'static) {
        let check: Arc<dyn Check> = match &self.entry {
            Some((place, turn)) => {
                Arc::new(EntryClaim { place: place.clone(), turn: turn.clone(), check: Arc::new(check) })
            }
            None => Arc::new(check),
        };
        self.claims.push(Claim { at, phase: None, check });
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

pub(super) fn value_of(node: NodeRef<'_>) -> Option<Value> {
    if node.shape() == Shape::Dangling {
        return None;
    }
    node.to_checked_value(usize::MAX).ok()
}

#[cfg(test)]
pub(crate) mod tests;
