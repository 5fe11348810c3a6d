//! What happened in an attempt, in the order in which people read it. Transcripts render it as Markdown, pages as HTML.

use speclens_schema::evidence::{
    Answer, Capture, Ended, Evidence, Exchange, FileLog, LogAnswer, ModelReply, Ran, ResponseAnswer, ToolCall, Trace,
    TraceAnswer, Turn, Usage,
};

use super::human::duration_ms;

/// One part of what happened.
#[derive(Debug)]
pub enum Entry<'e> {
    /// The request to a gateway, and the reason why the wait for its target ended.
    Exchange {
        exchange: &'e Exchange,
        ended: &'static str,
    },
    Trace(&'e Trace),
    NoTrace(&'e str),
    /// The command of the test itself.
    Command(&'e Ran),
    /// The calls that a command reports in its output.
    Calls(&'e [ToolCall]),
    Turn {
        /// From 1.
        number: usize,
        turn: &'e Turn,
        steps: Vec<Step<'e>>,
    },
    /// Commands that belong to no turn.
    OtherCommands(Vec<&'e Ran>),
    /// The reason why other commands may have run.
    Gap(&'static str),
    Log(&'e LogAnswer),
    /// A command that an assertion runs after the act.
    Check(&'e Ran),
    /// The response of an address that an assertion requests.
    Response(&'e ResponseAnswer),
    Files(&'e FileLog),
    Judge(JudgeAnswers<'e>),
}

#[derive(Clone, Copy, Debug)]
pub enum Step<'e> {
    Command(&'e Ran),
    Call(&'e ToolCall),
}

#[derive(Debug)]
pub struct JudgeAnswers<'e> {
    /// The id of the model, or the address of the judge.
    pub judge: String,
    /// One answer per time that it was asked; or the reason why it was not.
    pub replies: Result<&'e [ModelReply], &'e str>,
}

/// Returns everything that happened in an attempt.
pub fn timeline(evidence: &Evidence) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    if let Some(exchange) = &evidence.exchange {
        let ended = evidence.ended.map_or("was not observed until its end, so more may follow", ended_by);
        entries.push(Entry::Exchange { exchange, ended });
    }
    entries.extend(evidence.trace().map(|answer| match answer {
        TraceAnswer::Found(trace) => Entry::Trace(trace),
        TraceAnswer::Missing(reason) => Entry::NoTrace(reason),
    }));
    entries.extend(evidence.command.as_ref().map(Entry::Command));
    let output = evidence.output.as_ref().filter(|output| evidence.turns.is_empty() && !output.tool_calls.is_empty());
    entries.extend(output.map(|output| Entry::Calls(&output.tool_calls)));
    let log = evidence.commands.as_ref();
    let mut commands = log.into_iter().flat_map(|log| &log.commands);
    for (index, turn) in evidence.turns.iter().enumerate() {
        let step = |call| match commands.next().filter(|_| is_command(call)) {
            Some(ran) => Step::Command(ran),
            None => Step::Call(call),
        };
        entries.push(Entry::Turn { number: index + 1, turn, steps: turn.calls.iter().map(step).collect() });
    }
    let rest: Vec<&Ran> = commands.collect();
    entries.extend((!rest.is_empty()).then_some(Entry::OtherCommands(rest)));
    entries.extend(log.and_then(|log| log.gap()).map(Entry::Gap));
    for observation in &evidence.observations {
        entries.extend(match &observation.answer {
            Answer::Log(log) => (!log.lines.text.is_empty()).then_some(Entry::Log(log)),
            Answer::Command(ran) => Some(Entry::Check(ran)),
            Answer::Response(response) => Some(Entry::Response(response)),
            Answer::Path(_) | Answer::Files(_) | Answer::Variables(_) => None,
            Answer::Trace(_) | Answer::Question(_) | Answer::Nothing(_) => None,
        });
    }
    entries.extend(evidence.files.as_ref().filter(|log| !log.files.is_empty()).map(Entry::Files));
    entries.extend(JudgeAnswers::all(evidence).into_iter().map(Entry::Judge));
    entries
}

fn is_command(call: &ToolCall) -> bool {
    call.arguments.get("command").is_some()
}

impl JudgeAnswers<'_> {
    pub fn all(evidence: &Evidence) -> Vec<JudgeAnswers<'_>> {
        let asked = evidence.observations.iter().filter_map(|observation| {
            let (judge, _) = observation.need.asked()?;
            let replies = match &observation.answer {
                Answer::Nothing(reason) => Err(reason.as_str()),
                answer => Ok(answer.replies()?),
            };
            Some(JudgeAnswers { judge, replies })
        });
        asked.collect()
    }
}

/// Returns when the attempt began and how it went, a phrase for each.
pub fn facts(evidence: &Evidence) -> Vec<String> {
    let started = Some(&evidence.context.started).filter(|started| !started.is_empty());
    let facts = [
        started.map(|started| format!("started {started}")),
        evidence.context.version.as_ref().map(|version| format!("version {version}")),
        evidence.duration_ms.map(|it| format!("took {}", duration_ms(it))),
        evidence.usage.map(spent),
        evidence.ended.filter(|_| evidence.exchange.is_none()).map(|ended| ended_by(ended).to_owned()),
    ];
    facts.into_iter().flatten().collect()
}

/// Returns how a command ended, and after which time.
pub fn end_of(ran: &Ran) -> String {
    let how = match (ran.exit, ran.timed_out) {
        (_, true) => "timed out".to_owned(),
        (Some(exit), false) => exit.sentence(),
        (None, false) => "end not observed".to_owned(),
    };
    let took = ran.duration_ms.map_or_else(String::new, |it| format!(", after {}", duration_ms(it)));
    how + &took
}

/// Returns the output of a command that is not empty.
pub fn streams(ran: &Ran) -> impl Iterator<Item = (&'static str, &Capture)> {
    let streams = [("standard output", &ran.stdout), ("standard error", &ran.stderr)];
    let streams = streams.into_iter().filter_map(|(name, stream)| Some((name, stream.as_ref()?)));
    streams.filter(|(_, stream)| !stream.text.is_empty() || stream.cut)
}

pub fn spent(usage: Usage) -> String {
    let cost = usage.cost_usd.map_or_else(String::new, |cost| format!(", ${cost:.4}"));
    format!("{} input and {} output tokens{cost}", usage.input_tokens, usage.output_tokens)
}

pub fn ended_by(ended: Ended) -> &'static str {
    match ended {
        Ended::Exit => "ended when its process exited",
        Ended::Done => "ended when the agent was done",
        Ended::Answer => "ended with the gateway's response",
        Ended::Log => "ended with a line of the log",
        Ended::RootSpan => "ended with the outermost span",
        Ended::Satisfied => "was no longer observed once all assertions could be evaluated",
        Ended::TurnLimit => "ended at the turn limit",
        Ended::Deadline => "timed out",
        Ended::Partial => "was imported, and parts of its recording were not read",
    }
}

/// Returns the beginning of a text, and how many bytes follow it. White space at the end is not counted.
pub fn beginning(text: &str, max_lines: usize, max_bytes: usize) -> (&str, usize) {
    let lines = text.match_indices('\n').nth(max_lines - 1).map_or(text.len(), |(at, _)| at);
    let end = text.floor_char_boundary(lines.min(max_bytes));
    (&text[..end], text[end..].trim_end().len())
}

/// Returns a text on one line.
pub fn without_breaks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
