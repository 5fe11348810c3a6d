//! Prompt tests: asks a model, and answers its calls from the simulated tools of the test.

use std::{collections::VecDeque, future};

use speclens_schema::{
    check::json,
    evidence::{Context, Ended, Evidence, QuestionKind, QuestionNeed, RunError, RunErrorKind, ToolCall, Unfinished},
    suite::{PromptAction, PromptModel, SimulatedTool},
};

use super::{
    ActionContext, Attempt,
    agent::{UsageBound, tokens},
    talk::{self, Partner, Talk},
};
use crate::{
    event::Event,
    model::{Message, Model, Request, Tool},
};

/// Maximum number of calls in one reply: a model that repeats itself must not fill the memory.
const MAX_CALLS: usize = 128;

struct Simulation<'a> {
    action: &'a PromptAction,
    follow_ups: VecDeque<String>,
}

impl Partner for Simulation<'_> {
    fn deadline(&self) -> impl Future<Output = RunError> + Send {
        // Each request has its own.
        future::pending()
    }

    fn results(&mut self, calls: &[ToolCall]) -> impl Future<Output = Result<Vec<String>, RunError>> + Send {
        future::ready(if calls.len() > MAX_CALLS {
            let message =
                format!("the model called {} tools in one reply; at most {MAX_CALLS} are answered", calls.len());
            Err(RunError::new(RunErrorKind::Provider, message))
        } else {
            Ok(calls.iter().map(|call| json::text(&self.action.result(call))).collect())
        })
    }

    fn follow_up(&mut self) -> Option<String> {
        self.follow_ups.pop_front()
    }

    fn refuses(&self, _: &Unfinished) -> bool {
        // What there is of a reply is judged.
        false
    }
}

/// Holds the conversation of a test with a model.
pub(super) async fn perform(
    action: &PromptAction,
    model: &dyn Model,
    context: Context,
    action_context: ActionContext<'_>,
) -> Attempt {
    let ActionContext { job, subject, case, repeat, events, cancel, .. } = action_context;
    if !action.missing.is_empty() {
        return Attempt::without_values(context, &action.missing);
    }
    let turn = |turn| {
        let (subject, turns) = (subject.clone(), action.max_turns);
        // Without a listener, the result is still returned.
        drop(events.send(Event::TurnStarted { case, subject, repeat, turn, turns }));
    };
    let talk = Talk { model, secrets: &job.secrets, cancel, max_turns: action.max_turns, turn: &turn };
    let mut partner = Simulation { action, follow_ups: action.texts.follow_ups.iter().cloned().collect() };
    let mut turns = Vec::new();
    let asked = action.model(subject.model_id().unwrap_or_default());
    let held = talk.hold(request(action, &asked, &action_context.test.name), &mut partner, &mut turns).await;
    let mut notes = Vec::new();
    if matches!(held, Ok(Ended::TurnLimit)) {
        notes.push(format!("the model was stopped after {} turns (`maxTurns`)", turns.len()));
    }
    let durations = turns.iter().filter_map(|turn| turn.duration_ms);
    let evidence = Evidence {
        context,
        usage: talk::usage(&turns),
        // Without a reply, nothing was measured.
        duration_ms: (!turns.is_empty()).then(|| durations.sum()),
        ended: held.as_ref().ok().copied(),
        error: held.err(),
        turns,
        ..Evidence::default()
    };
    Attempt { evidence, notes }
}

pub(crate) fn request(action: &PromptAction, asked: &PromptModel, test: &str) -> Request {
    let texts = &action.texts;
    let prefill = texts.assistant.iter().map(|text| Message::Prefill(text.clone()));
    Request {
        test: test.to_owned(),
        system: texts.system.clone().unwrap_or_default(),
        messages: [Message::User(texts.user.clone())].into_iter().chain(prefill).collect(),
        tools: action.tools.iter().map(tool).collect(),
        sampling: asked.sampling.clone(),
    }
}

fn answer_tokens(asked: &PromptModel) -> u64 {
    asked.sampling.max_tokens.map_or(ANSWER_TOKENS, u64::from)
}

/// Assumed tokens of an answer without a limit.
const ANSWER_TOKENS: u64 = 1_000;

/// Returns an upper bound of what a question about an output uses: that of a model, or of a command. The number of
/// requests is certain.
pub fn question_bound(question: &QuestionNeed, asked: Option<&PromptModel>) -> UsageBound {
    let own = [&question.system, &question.own_text()].map(|text| text.chars().count());
    let input_tokens = tokens(own.iter().sum()) + asked.map_or(ANSWER_TOKENS, answer_tokens);
    match question.kind {
        // Each of the two texts is embedded.
        QuestionKind::Similarity => UsageBound { requests: 2, input_tokens, output_tokens: 0 },
        QuestionKind::Answer => UsageBound { requests: 1, input_tokens, output_tokens: u64::from(question.max_tokens) }
            .times(question.times.into()),
    }
}

/// Returns an upper bound of what an attempt uses. The number of requests is certain.
pub fn usage_bound(action: &PromptAction, asked: &PromptModel) -> UsageBound {
    let texts = &action.texts;
    let characters = |texts: &mut dyn Iterator<Item = usize>| tokens(texts.sum());
    let tools = serde_json::to_string(&action.tools).map_or(0, |tools| tools.chars().count());
    let sent = [texts.system.as_deref(), Some(&texts.user), texts.assistant.as_deref()];
    let first = characters(&mut sent.into_iter().flatten().map(|text| text.chars().count()).chain([tools]));
    let follow_ups = characters(&mut texts.follow_ups.iter().map(|text| text.chars().count()));
    let requests = match action.tools.is_empty() {
        // Nothing but the user continues the conversation.
        true => (1 + texts.follow_ups.len() as u64).min(u64::from(action.max_turns)),
        false => u64::from(action.max_turns),
    };
    let answer = answer_tokens(asked);
    // Each request contains all previous answers and results; no result is longer than all tools.
    let more = answer + tokens(tools);
    UsageBound {
        requests,
        input_tokens: requests * (first + follow_ups) + more * (requests * (requests - 1) / 2),
        output_tokens: requests * answer,
    }
}

fn tool(tool: &SimulatedTool) -> Tool {
    Tool { name: tool.name.clone(), description: tool.description.clone(), parameters: tool.parameters.clone() }
}
