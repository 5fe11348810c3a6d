//! Conversations as the evidence of tests: each action takes what it would have observed.

use super::{
    commands,
    conversation::{Call, Conversation, Reply},
};
use crate::{
    evidence::{
        Answer, CallsGap, Capture, Context, Ended, Evidence, Need, Observation, Ran, RunError, RunErrorKind, Span,
        SpanKind, Tokens, ToolCall, Trace, TraceAnswer, Turn, Usage, reply_text,
    },
    format::Dialect,
    suite::{Action, Case, Subject, TriggerKind},
};

/// Returns the evidence of a test, not masked. The error says why its action takes none.
pub fn evidence(
    conversation: &Conversation,
    case: &Case,
    dialect: Dialect,
    subject: &Subject,
) -> Result<Evidence, String> {
    let ended = |end: Ended| Some(conversation.ended(end));
    let context = Context {
        started: conversation.started.clone().unwrap_or_default(),
        subject: Some(subject.to_string()),
        ..Context::default()
    };
    let shared = Evidence {
        context,
        duration_ms: conversation.duration_ms,
        usage: usage(conversation),
        error: conversation.error.clone().map(|message| RunError::new(RunErrorKind::Provider, message)),
        ..Evidence::default()
    };
    let calls_gap = conversation.has_others.then_some(CallsGap::OtherAgents);
    let turns = || conversation.replies.iter().map(|reply| turn(reply, calls_gap)).collect();
    match &case.action {
        Action::Prompt(_) => Ok(Evidence { turns: turns(), ended: ended(Ended::Done), ..shared }),
        Action::Command(command) => {
            let calls = conversation.calls().map(tool_call).collect::<Vec<_>>();
            let last = conversation.replies.last();
            let text = last.map(|reply| reply.text.as_str()).unwrap_or_default();
            let written = dialect.written(text, &calls).ok_or_else(|| {
                format!("a command of {} reports no calls of tools; import into another test", dialect.program())
            })?;
            let ran = Ran {
                command: Capture::whole(command.expanded.clone().unwrap_or_else(|_| command.template.clone())),
                stdout: Some(reply_text(written, last.and_then(|reply| reply.unfinished.as_ref()))),
                ..Ran::default()
            };
            // Only a reply itself can say that it lacks calls.
            let end = if conversation.has_others { Ended::Partial } else { Ended::Done };
            Ok(Evidence { command: Some(ran), ended: ended(end), ..shared })
        }
        Action::Agent(_) => {
            let commands = commands::log(conversation);
            let has_shell = conversation.calls().any(|call| commands::command_of(call).is_some());
            if !has_shell && conversation.calls().next().is_some() {
                let names: Vec<String> = conversation.calls().map(|call| format!("`{}`", call.name)).take(3).collect();
                let names = names.join(", ");
                return Err(format!(
                    "the recording has no shell commands, only calls of {names}; import it into a test of calls"
                ));
            }
            Ok(Evidence { turns: turns(), commands: Some(commands), ended: ended(Ended::Done), ..shared })
        }
        Action::Trigger(trigger) if trigger.kind == TriggerKind::Nothing => {
            Err("a handoff starts nothing, so it has no recording; import into the scenario that it is part of"
                .to_owned())
        }
        Action::Trigger(_) => {
            let answer = Answer::Trace(TraceAnswer::Found(trace(conversation)));
            let observations = vec![Observation { need: Need::Trace, answer }];
            Ok(Evidence { observations, ended: ended(Ended::RootSpan), ..shared })
        }
        Action::None => Err("the test has no valid action; run `speclens check`".to_owned()),
    }
}

/// Returns the text that a test sends first, to compare it with what the user of a conversation wrote; `None` if it is
/// not known.
pub fn prompt(case: &Case) -> Option<&str> {
    match &case.action {
        Action::Prompt(prompt) => Some(&prompt.texts.user),
        Action::Agent(agent) => Some(&agent.intent),
        Action::Trigger(trigger) => trigger.invoke.as_deref(),
        Action::Command(_) | Action::None => None,
    }
}

/// Returns the programs of the commands of a conversation, without the arguments.
pub fn programs(conversation: &Conversation) -> Vec<String> {
    let log = commands::log(conversation);
    let parts = log.commands.iter().flat_map(|ran| ran.command.text.split(['\n', ';', '|', '&']));
    let program = |part: &str| {
        let is_setting = |word: &&str| word.contains('=') && !word.starts_with(['-', '"', '\'']);
        let word = part.split_whitespace().find(|word| !is_setting(word))?;
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_-.+/".contains(letter);
        word.chars().all(is_name).then(|| word.to_owned())
    };
    parts.filter_map(program).collect()
}

fn turn(reply: &Reply, calls_gap: Option<CallsGap>) -> Turn {
    let (from, to) = (reply.started_us, reply.ended_us);
    Turn {
        user: reply.user.clone().map(Capture::whole),
        text: reply_text(reply.text.clone(), reply.unfinished.as_ref()),
        calls: reply.calls.iter().map(tool_call).collect(),
        calls_gap,
        usage: reply.usage,
        duration_ms: from.zip(to).map(|(from, to)| (to - from) as f64 / 1000.0),
    }
}

fn tool_call(call: &Call) -> ToolCall {
    let Call { id, name, arguments, result, .. } = call.clone();
    ToolCall { id, name, arguments, result }
}

fn usage(conversation: &Conversation) -> Option<Usage> {
    let of_replies = || {
        // The tokens of some of the replies are not those of the conversation.
        let known: Vec<Usage> = conversation.replies.iter().map(|reply| reply.usage).collect::<Option<_>>()?;
        Some(Usage {
            input_tokens: known.iter().map(|usage| usage.input_tokens).sum(),
            output_tokens: known.iter().map(|usage| usage.output_tokens).sum(),
            cost_usd: known.iter().map(|usage| usage.cost_usd).sum(),
        })
    };
    conversation.usage.or_else(of_replies)
}

/// Returns the trace of a conversation, or spans for its replies and calls.
fn trace(conversation: &Conversation) -> Trace {
    if let Some(trace) = &conversation.trace {
        return trace.clone();
    }
    let mut spans: Vec<Span> = Vec::new();
    for reply in &conversation.replies {
        let total = |usage: Usage| usage.input_tokens.saturating_add(usage.output_tokens);
        let tokens =
            |usage: Usage| Tokens { input: usage.input_tokens, output: usage.output_tokens, total: total(usage) };
        spans.push(Span {
            kind: SpanKind::Llm,
            name: "chat".to_owned(),
            model: reply.model.clone(),
            started_us: reply.started_us,
            ended_us: reply.ended_us,
            tokens: reply.usage.map(tokens),
            cost_usd: reply.usage.and_then(|usage| usage.cost_usd),
            ..Span::default()
        });
        spans.extend(reply.calls.iter().filter(|call| call.is_answered).map(|call| Span {
            // It may have been refused.
            kind: if call.has_run { SpanKind::Tool } else { SpanKind::Other },
            name: call.name.clone(),
            started_us: call.started_us,
            ended_us: call.ended_us,
            error: call.has_failed.then(|| "failed".to_owned()),
            ..Span::default()
        }));
    }
    for (index, span) in spans.iter_mut().enumerate() {
        span.id = format!("{:016x}", index + 1);
    }
    Trace {
        started_us: spans.iter().filter_map(|span| span.started_us).min(),
        ended_us: spans.iter().filter_map(|span| span.ended_us).max(),
        spans,
        unfinished: !conversation.is_complete,
        cut: conversation.has_others || conversation.calls().any(|call| !call.has_run),
        ..Trace::default()
    }
}
