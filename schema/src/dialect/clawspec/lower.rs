//! Lowers the tree to cases. Total: every valid part is used, even if other parts are
//! invalid.
//!
//! A scenario is a case with the phases `given` and `then`. A handoff is one case without an action, a pipeline one
//! case whose action starts the pipeline; their phases are the keys of the assertions.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::{
    assertion::Assertion,
    baselines::Baselines,
    contracts::{CalleeProduces, Regression, ScenarioConsistency},
    regression::Drift,
    scope::{Scope, Scoring},
    stages::{Condition, Health, Production, StageContract, StageHandoff},
    template::CALLEE_RUN_ID,
};
use crate::{
    dialect::clawspec::assertions::{
        artifacts::{ArtifactContains, ArtifactExists},
        log::{DelegationOccurred, ToolNotCalled},
    },
    document::{Document, NodeRef, Pointer, ScalarRules, Shape},
    evidence::ObservationTime,
    files::{self, Files, Inputs},
    format::Dialect,
    gateway::{
        params::Params,
        trigger::definition_of,
        workspace::{self, document_at, joined},
    },
    json_schema::SpecFile,
    lenient::{lenient, value_of},
    settings::Settings,
    suite::{Action, Case, Claim, Needed, Phase, Suite, TriggerAction, TriggerKind},
    verdict::Handover,
};

/// Values from the rest of the file that scenarios depend on. If they change, every scenario is lowered again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RootContext {
    /// The action of the contract, which sends nothing yet.
    action: TriggerAction,
    scoring: Scoring,
    /// Whether the target is valid.
    intact: bool,
}

impl RootContext {
    pub(crate) fn of(file: SpecFile, document: &Document, files: &dyn Files, workspace: &Settings) -> RootContext {
        let is_pipeline = file == SpecFile::CLAWSPEC_PIPELINE;
        let target = document.root().and_then(|root| root.get(if is_pipeline { "pipeline" } else { "target" }));
        let text = |key: &str| target.and_then(|target| target.get(key)?.as_str()).map(str::to_owned);
        let kind = match text("type").as_deref() {
            _ if is_pipeline => Some(TriggerKind::Pipeline),
            Some("skill") => Some(TriggerKind::Skill),
            Some("agent") => Some(TriggerKind::Agent),
            _ => None,
        };
        let (target, trigger) = (text(if is_pipeline { "skill_path" } else { "path" }), text("trigger"));
        let defaults = document.root().and_then(|root| root.get("defaults"));
        let millis = |key: &str| Some(value_of(defaults?.get(key)?)?.as_u64()?.saturating_mul(1000));
        RootContext {
            intact: target.is_some() && trigger.is_some() && kind.is_some(),
            scoring: Scoring::of(workspace),
            action: TriggerAction {
                at: Pointer::root(),
                contract: files.place().to_owned(),
                kind: kind.unwrap_or(TriggerKind::Skill),
                target: target.unwrap_or_default(),
                trigger: trigger.unwrap_or_default(),
                invoke: None,
                params: None,
                inputs: Inputs::new(),
                settings: Arc::new(workspace::settings(files)),
                timeout_ms: millis("timeout").unwrap_or(TriggerAction::TIMEOUT_MS),
                poll_ms: millis("poll_interval").unwrap_or(TriggerAction::POLL_MS),
            },
        }
    }

    fn scope(&self, moment: ObservationTime) -> Scope {
        Scope::new(moment, &self.action.settings, &self.scoring)
    }
}

/// Returns the baselines stored next to a contract; `None` if there are none. The error says why they cannot be read.
fn baselines(files: &dyn Files) -> Result<Option<Baselines>, String> {
    let directory = files.place().rsplit_once('/').map_or("", |(directory, _)| directory);
    let path = if directory.is_empty() { "baselines.yaml".to_owned() } else { format!("{directory}/baselines.yaml") };
    if files.kind(&path).is_none() {
        return Ok(None);
    }
    let document = document_at(&path, files).ok_or_else(|| format!("`{path}` cannot be read"))?;
    let read = Baselines::read(&document);
    read.map(Some).map_err(|why| format!("`{path}` is not valid: {why}; `speclens check {path}` shows where"))
}

/// Returns the suite without the cases of its list: a handoff or a pipeline is lowered as a whole.
pub(crate) fn lower_root(file: SpecFile, document: &Document, context: &RootContext, files: &dyn Files) -> Suite {
    let lowering = Lowering { files, context };
    let case = document.root().and_then(|root| {
        let handoff = || lowering.handoff(root, document);
        let is_handoff = file == SpecFile::CLAWSPEC_HANDOFF;
        let pipeline = || (file == SpecFile::CLAWSPEC_PIPELINE).then(|| lowering.pipeline(root, document));
        is_handoff.then(handoff).or_else(pipeline)
    });
    let cases = case.into_iter().map(Arc::new).collect();
    let name = Some(context.action.target.clone()).filter(|target| !target.is_empty());
    // Scenarios share their workspace.
    Suite { name, cases, ..Suite::empty(Dialect::CLAWSPEC) }
}

/// Lowers one scenario. `at` is its location in the document.
pub(crate) fn lower_item(item: NodeRef<'_>, at: &Pointer, context: &RootContext, files: &dyn Files) -> Vec<Case> {
    if item.shape() != Shape::Mapping {
        return Vec::new();
    }
    let lowering = Lowering { files, context };
    let mut claims = Vec::new();
    let mut intact = context.intact;
    for (phase, moment) in [(Phase::Given, ObservationTime::Before), (Phase::Then, ObservationTime::After)] {
        let scope = Arc::new(context.scope(moment));
        intact &= lowering.phase(phase, (Some(item), at), &scope, &mut claims);
    }
    let text = |key: &str| item.get(key).and_then(NodeRef::as_str).map(str::to_owned);
    let when = item.get("when");
    let invoke = when.and_then(|when| when.get("invoke")?.as_str()).filter(|text| !text.is_empty());
    // Data that cannot be read as ClawSpec reads it is not sent at all.
    let params = when.and_then(|when| when.get("params")).map_or(Ok(None), Params::of_node);
    intact &= params.is_ok();
    let action = match invoke {
        Some(invoke) => Action::Trigger(TriggerAction {
            invoke: Some(invoke.to_owned()),
            params: params.unwrap_or_default(),
            inputs: definition_of(&context.action.target, files),
            at: at.key("when").key("invoke"),
            ..context.action.clone()
        }),
        None => Action::None,
    };
    let name = text("name").unwrap_or_default();
    let tags = item.get("tags").into_iter().flat_map(NodeRef::items);
    if let Some(written) = item.get("regression").filter(|written| written.shape() == Shape::Mapping) {
        match value_of(written).and_then(|value| Regression::deserialize(&value).ok()) {
            Some(regression) => {
                let baseline = baselines(files).map(|all| all?.baselines.remove(&name));
                let scope = Arc::new(context.scope(ObservationTime::After));
                let check = Arc::new(Drift { regression, baseline, scope });
                claims.push(Claim { at: at.key("regression"), phase: Some(Phase::Regression), check });
            }
            None => intact = false,
        }
    }
    let consistency = item.get("consistency").and_then(value_of);
    let consistency = consistency.and_then(|it| ScenarioConsistency::deserialize(&it).ok());
    vec![Case {
        intact: intact && !name.is_empty() && invoke.is_some() && !claims.is_empty(),
        name,
        at: at.clone(),
        file: None,
        tags: tags.filter_map(NodeRef::as_str).map(str::to_owned).collect(),
        skip: false,
        repeat: consistency.as_ref().map_or(1, |it| it.k.clamp(1, 100)),
        needed: consistency.map(|it| it.mode.needed()).unwrap_or_default(),
        action,
        claims,
    }]
}

struct Lowering<'f> {
    files: &'f dyn Files,
    context: &'f RootContext,
}

impl Lowering<'_> {
    /// Reads the assertions of a phase, which is a key of a mapping. Returns whether all of them are valid.
    fn phase(
        &self,
        phase: Phase,
        (holder, at): (Option<NodeRef<'_>>, &Pointer),
        scope: &Arc<Scope>,
        claims: &mut Vec<Claim>,
    ) -> bool {
        let mut intact = true;
        let list = holder.and_then(|holder| holder.get(phase.as_str()));
        for (index, item) in list.into_iter().flat_map(NodeRef::items).enumerate() {
            match value_of(item).and_then(|value| Assertion::of_value(&value).ok()) {
                Some(assertion) => {
                    let check = assertion.claim(Some(item), scope, self.files);
                    claims.push(Claim { at: at.key(phase.as_str()).index(index), phase: Some(phase), check });
                }
                None => intact = false,
            }
        }
        intact
    }

    fn handoff(&self, root: NodeRef<'_>, document: &Document) -> Case {
        let (agents, claims, intact) = self.handoff_claims(root);
        let name = agents.map(|(from, to)| format!("{from} to {to}")).unwrap_or_default();
        let (at, kind) = (Pointer::root().key("handoff"), TriggerKind::Nothing);
        let action = TriggerAction { at, kind, ..self.context.action.clone() };
        whole_file(name, Action::Trigger(action), claims, intact && document.is_intact())
    }

    /// Returns caller and callee, the claims, and whether all of them are valid.
    fn handoff_claims(&self, root: NodeRef<'_>) -> (Option<(String, String)>, Vec<Claim>, bool) {
        let agent = |key: &str| root.get("handoff").and_then(|it| it.get(key)?.as_str()).map(str::to_owned);
        let agents = agent("from").zip(agent("to"));
        let scope = Arc::new(Scope { handoff: agents.clone(), ..self.context.scope(ObservationTime::After) });
        let mut claims = Vec::new();
        let mut intact = agents.is_some();
        let written = (root.get("assertions"), &Pointer::root().key("assertions"));
        for phase in [Phase::PreDelegation, Phase::PostDelegation] {
            intact &= self.phase(phase, written, &scope, &mut claims);
        }
        if let Some((_, callee)) = agents.as_ref().filter(|_| claims.is_empty() && intact) {
            intact = self.derived(root, callee, &scope, &mut claims);
        }
        (agents, claims, intact)
    }

    /// Derives the claims of a contract without assertions. Returns whether all of them are valid.
    fn derived(&self, root: NodeRef<'_>, callee: &str, scope: &Arc<Scope>, claims: &mut Vec<Claim>) -> bool {
        let mut add = |phase: Phase, at: Pointer, assertion: Assertion| {
            let check = assertion.claim(None, scope, self.files);
            claims.push(Claim { at, phase: Some(phase), check });
        };
        let delegation = DelegationOccurred { to_agent: callee.into(), ..DelegationOccurred::default() };
        let at = Pointer::root().key("handoff").key("to");
        add(Phase::PreDelegation, at, Assertion::DelegationOccurred(delegation));
        let produces = root.get("callee_produces").and_then(value_of);
        let Some(produces) = produces.and_then(|produces| lenient::<CalleeProduces>(&produces)) else { return false };
        let base = Pointer::root().key("callee_produces");
        for (index, artifact) in produces.required_artifacts.into_iter().enumerate() {
            let at = base.key("required_artifacts").index(index);
            let path = || artifact.path_pattern.0.as_str().into();
            let exists = ArtifactExists { path: path(), ..ArtifactExists::default() };
            add(Phase::PostDelegation, at.key("path_pattern"), Assertion::ArtifactExists(exists));
            if let sections @ Some([_, ..]) = artifact.required_sections.as_deref() {
                let sections = sections.map(<[_]>::to_vec);
                let contains = ArtifactContains { path: path(), sections, ..ArtifactContains::default() };
                add(Phase::PostDelegation, at.key("required_sections"), Assertion::ArtifactContains(contains));
            }
        }
        for (index, action) in produces.prohibited_actions.iter().enumerate() {
            let at = base.key("prohibited_actions").index(index).key("tool");
            let run_id = Some(format!("{{{{{CALLEE_RUN_ID}}}}}"));
            let call = ToolNotCalled { tool: action.tool.0.as_str().into(), run_id, ..ToolNotCalled::default() };
            add(Phase::PostDelegation, at, Assertion::ToolNotCalled(call));
        }
        true
    }

    fn pipeline(&self, root: NodeRef<'_>, document: &Document) -> Case {
        let context = self.context;
        let scope = Arc::new(context.scope(ObservationTime::After));
        let mut claims = Vec::new();
        let mut intact = document.is_intact() && context.intact;
        let (productions, handoffs) = self.stages(root, &scope, &mut claims);
        let last = (root.get("final_assertions"), &Pointer::root().key("final_assertions"));
        for phase in [Phase::Deterministic, Phase::Semantic] {
            intact &= self.phase(phase, last, &scope, &mut claims);
        }
        // One second more than the limit, so that a longer run is noticed.
        let mut most_s: Option<u64> = None;
        for (index, health) in root.get("pipeline_health").into_iter().flat_map(NodeRef::items).enumerate() {
            let text = |key: &str| health.get(key).and_then(NodeRef::as_str).map(str::to_owned);
            let Some(written) = text("check") else {
                intact = false;
                continue;
            };
            if let Some(Condition::Elapsed(seconds)) = Condition::parse(&written) {
                most_s = most_s.max(Some(seconds));
            }
            let check = Arc::new(Health {
                description: text("description").unwrap_or_default(),
                written,
                productions: productions.clone(),
                handoffs: handoffs.clone(),
            });
            let at = Pointer::root().key("pipeline_health").index(index);
            claims.push(Claim { at, phase: Some(Phase::PipelineHealth), check });
        }
        let name = root.get("pipeline").and_then(|it| it.get("name")?.as_str()).unwrap_or_default().to_owned();
        let written = &context.action;
        let action = TriggerAction {
            at: Pointer::root().key("pipeline").key("trigger"),
            invoke: Some(written.trigger.clone()),
            params: Some(Params::of_pipeline()),
            inputs: definition_of(&written.target, self.files),
            timeout_ms: most_s.map_or(written.timeout_ms, |seconds| seconds.saturating_add(1).saturating_mul(1000)),
            ..written.clone()
        };
        whole_file(name, Action::Trigger(action), claims, intact)
    }

    fn stages(
        &self,
        root: NodeRef<'_>,
        scope: &Arc<Scope>,
        claims: &mut Vec<Claim>,
    ) -> (Vec<Arc<Production>>, Vec<Arc<StageHandoff>>) {
        let (mut productions, mut handoffs) = (Vec::new(), Vec::new());
        for (index, node) in root.get("stages").into_iter().flat_map(NodeRef::items).enumerate() {
            let at = Pointer::root().key("stages").index(index);
            let text = |key: &str| node.get(key).and_then(NodeRef::as_str).filter(|text| !text.is_empty());
            let stage = text("name").map_or_else(|| format!("stage {}", index + 1), str::to_owned);
            let production = text("produces").map(|path| {
                Arc::new(Production {
                    stage: stage.clone(),
                    path: path.to_owned(),
                    optional: node.get("requires_approval").and_then(value_of) == Some(Value::Bool(true)),
                    scope: Arc::clone(scope),
                })
            });
            if let Some(production) = &production {
                let check = Arc::clone(production);
                claims.push(Claim { at: at.key("produces"), phase: Some(Phase::Stages), check });
                productions.push(Arc::clone(production));
            }
            if let Some(path) = text("handoff_contract") {
                let contract = self.contract_of_stage(path);
                let handoff = Arc::new(StageHandoff { stage, path: path.to_owned(), production, contract });
                let check = Arc::clone(&handoff);
                claims.push(Claim { at: at.key("handoff_contract"), phase: Some(Phase::Stages), check });
                handoffs.push(handoff);
            }
        }
        (productions, handoffs)
    }

    /// Returns the handoff contract of a stage, or why it cannot be read.
    fn contract_of_stage(&self, path: &str) -> Result<StageContract, String> {
        let base = files::above(self.files.place(), "tests");
        let wanted = joined(base, path).ok_or_else(|| format!("`{path}` is outside the workspace"))?;
        let bytes = self.files.read(&wanted).map_err(|reason| format!("`{wanted}` cannot be read: {reason}"))?;
        let text = std::str::from_utf8(&bytes).map_err(|_| format!("`{wanted}` is not UTF-8"))?;
        let document = Document::read(text, ScalarRules::Yaml11);
        let whole = document.root().filter(|root| document.is_intact() && root.get("handoff").is_some());
        let root = whole.ok_or_else(|| format!("`{wanted}` is not a handoff contract"))?;
        let (agents, claims, intact) = self.handoff_claims(root);
        match agents.filter(|_| intact) {
            Some((from, to)) => Ok(StageContract { handover: Handover { from, to, contract: wanted }, claims }),
            None => Err(format!("`{wanted}` has errors; correct them first")),
        }
    }
}

fn whole_file(name: String, action: Action, claims: Vec<Claim>, intact: bool) -> Case {
    Case {
        intact: intact && !name.is_empty(),
        name,
        at: Pointer::root(),
        file: None,
        tags: Vec::new(),
        skip: false,
        repeat: 1,
        needed: Needed::All,
        action,
        claims,
    }
}
