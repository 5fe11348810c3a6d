//! Tests that pass although nothing happens: each is judged on the evidence of an actor that does nothing.

use std::collections::BTreeMap;

use crate::{
    act::Act,
    evidence::{
        Answer, Capture, CommandLog, Context, Ended, Evidence, Exit, FileLog, FilesAnswer, LogAnswer, LogFile, Need,
        Observation, Ran, TemplateValues, Trace, TraceAnswer, Turn, Usage,
    },
    finding::MessageParts,
    format::Dialect,
    suite::{Action, ActionKind, Case, Claim, TriggerKind},
    template::KnownValue,
    template_syntax::known_values,
    verdict::Status,
};

/// Tag of a test about what must not happen. An actor that does nothing should pass it.
const NEGATIVE: &str = "negative";

/// The reply of a model that says nothing: an empty one proves nothing.
const REPLY: &str = "…";

const RUN: &str = "idle";

/// Returns whether an actor that does nothing passes a test. False if that depends on what only a run can observe.
pub(crate) fn passes(case: &Case, dialect: Dialect) -> bool {
    if case.skip || case.tags.iter().any(|tag| tag == NEGATIVE) {
        return false;
    }
    let Some(mut evidence) = evidence(case) else { return false };
    dialect.interpret(&mut evidence);
    let claims = case.claims.iter().filter(|claim| !claim.is_precondition());
    let verdicts = claims.flat_map(|claim| claim.check.check(Act::of(&evidence)));
    let statuses: Vec<Status> = verdicts.map(|verdict| verdict.outcome.status()).collect();
    statuses.contains(&Status::Pass) && statuses.iter().all(|status| matches!(status, Status::Pass | Status::Warn))
}

/// Returns the message about a test that passes although nothing happens.
pub(crate) fn message(kind: ActionKind) -> MessageParts {
    let actor = match kind {
        ActionKind::Command => "a command that does nothing".to_owned(),
        ActionKind::Prompt => format!("a model that only answers `{REPLY}`"),
        ActionKind::Agent => "a model that does nothing".to_owned(),
        ActionKind::Trigger | ActionKind::None => "a target that does nothing".to_owned(),
    };
    let tag = match kind {
        ActionKind::Agent => "category",
        ActionKind::Command | ActionKind::Prompt | ActionKind::Trigger | ActionKind::None => "tag",
    };
    let words = MessageParts::new(format!("{actor} passes this test"));
    let words = if kind == ActionKind::Command { words.note("its exit code is not checked") } else { words };
    words.help(format!("add an assertion about what must happen, or the {tag} `{NEGATIVE}` if nothing must"))
}

/// Returns the evidence of an actor that does nothing, and ends without an error. `None` if there is no actor.
fn evidence(case: &Case) -> Option<Evidence> {
    let mut evidence = Evidence {
        ended: Some(Ended::Done),
        duration_ms: Some(0.0),
        usage: Some(Usage { cost_usd: Some(0.0), ..Usage::default() }),
        ..Evidence::default()
    };
    evidence.context = context();
    let says = |text: &str| vec![Turn { text: Capture::whole(text), ..Turn::default() }];
    match &case.action {
        Action::Command(_) => {
            evidence.command = Some(Ran {
                exit: Some(Exit { code: Some(0), signal: None }),
                stdout: Some(Capture::default()),
                stderr: Some(Capture::default()),
                ..Ran::default()
            });
        }
        Action::Prompt(_) => evidence.turns = says(REPLY),
        Action::Agent(agent) => {
            evidence.commands = Some(CommandLog::default());
            evidence.turns = says(REPLY);
            // Files that are there before the agent begins are unknown.
            let surroundings = &agent.surroundings;
            let is_empty = agent.scaffold().is_none()
                && surroundings.workdir.is_none()
                && agent.setup.is_empty()
                && surroundings.setup.is_empty();
            evidence.files = is_empty.then(FileLog::default);
        }
        Action::Trigger(trigger) if trigger.kind != TriggerKind::Nothing => {}
        Action::Trigger(_) | Action::None => return None,
    }
    let claims = case.claims.iter().filter(|claim: &&Claim| !claim.is_precondition());
    let needs = claims.flat_map(|claim| claim.check.needs(&evidence.context));
    let observed = needs.filter_map(|need| Some(Observation { answer: nothing(&need)?, need }));
    evidence.observations = observed.collect();
    Some(evidence)
}

/// Returns the context of an attempt in which every template has a value.
fn context() -> Context {
    const TIME: &str = "2000-01-01T00:00:00Z";
    let text = |value| match value {
        KnownValue::Date => "2000-01-01",
        KnownValue::Time => TIME,
        KnownValue::Root => "/",
        KnownValue::Text(text) => text,
    };
    let known = known_values().map(|(name, value)| (name, text(value)));
    let of_run = [("run_id", RUN), ("run_started_at", TIME), ("gateway_log_path", "gateway.log")];
    let values: BTreeMap<String, String> =
        known.chain(of_run).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let templates = TemplateValues { before: values.clone(), after: values, utc_offset_s: Some(0) };
    Context { started: TIME.to_owned(), run_id: RUN.to_owned(), templates: Some(templates), ..Context::default() }
}

/// Returns the answer to a need if nothing happened. `None` if that is unknown.
fn nothing(need: &Need) -> Option<Answer> {
    match need {
        Need::Files(files) => Some(Answer::Files(FilesAnswer { waited_ms: files.wait_ms, ..FilesAnswer::default() })),
        Need::Log(log) => {
            let path = log.path.clone().unwrap_or_default();
            let lines = ["start", "done"].map(|word| format!("embedded run {word}: runId={RUN}"));
            Some(Answer::Log(LogAnswer {
                files: vec![LogFile { path: path.clone(), unread: None }],
                path,
                places: vec![(0, 0).into(), (0, 1).into()],
                lines: Capture::whole(lines.join("\n")),
                ..LogAnswer::default()
            }))
        }
        Need::Trace => {
            let trace = Trace { started_us: Some(0), ended_us: Some(0), ..Trace::default() };
            Some(Answer::Trace(TraceAnswer::Found(trace)))
        }
        Need::Path { .. }
        | Need::Command { .. }
        | Need::Variables(_)
        | Need::Response(_)
        | Need::Scores(_)
        | Need::Question(_) => None,
    }
}
