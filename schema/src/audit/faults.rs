//! The faults that an audit makes: each damages the evidence of a passing attempt in one place, as a worse actor would
//! have left it.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    evidence::{
        Answer, Capture, Content, Evidence, Exit, LogAnswer, Need, Observation, ObservationTime, PathState, Ran, Span,
        SpanKind, ToolCall, Trace, TraceAnswer,
    },
    format::Dialect,
    gateway::log::{Call, GatewayLog},
    words,
};

speclens_judge::codes! {
    /// What a fault does to the evidence.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Operator;

    /// A call or a command did not happen.
    CallRemoved = "call-removed";
    /// A call or a command with side effects happened twice.
    CallRepeated = "call-repeated";
    /// A tool was called, or a command run, that the test does not know.
    CallAdded = "call-added";
    /// The calls or commands happened in the opposite order.
    CallsReversed = "calls-reversed";
    /// A call or a command had another argument.
    ArgumentChanged = "argument-changed";
    /// A call or a command lacked an argument.
    ArgumentOmitted = "argument-omitted";
    /// A call or a command had one argument too many.
    ArgumentAdded = "argument-added";
    /// An argument of a call had another type.
    ArgumentRetyped = "argument-retyped";
    /// Two calls of a tool had each other's arguments.
    ArgumentsSwapped = "arguments-swapped";
    /// A call, a command or a step of the trace failed.
    ResultFailed = "result-failed";
    /// A command wrote something else.
    ResultChanged = "result-changed";
    /// A call or a command failed, and the answer claims success.
    FalseSuccess = "false-success";
    /// There was no answer.
    AnswerOmitted = "answer-omitted";
    /// The answer was about something else.
    AnswerReplaced = "answer-replaced";
    /// A file was not written.
    FileMissing = "file-missing";
    /// A file had another content.
    FileChanged = "file-changed";
    /// It cost ten times as much.
    CostRaised = "cost-raised";
    /// Another model answered.
    ModelChanged = "model-changed";
    /// The work was handed to another agent.
    HandoverRedirected = "handover-redirected";
}

impl Operator {
    /// Returns what happens to something, as the end of a sentence: "is repeated".
    pub fn phrase(self) -> &'static str {
        match self {
            Operator::CallRemoved | Operator::AnswerOmitted | Operator::FileMissing => "is missing",
            Operator::CallRepeated => "is repeated",
            Operator::CallAdded => "is added",
            Operator::CallsReversed => "is reversed",
            Operator::ArgumentChanged => "has another argument",
            Operator::ArgumentOmitted => "lacks an argument",
            Operator::ArgumentAdded => "has an argument too many",
            Operator::ArgumentRetyped => "has an argument of another type",
            Operator::ArgumentsSwapped => "has the arguments of a later one",
            Operator::ResultFailed => "fails",
            Operator::ResultChanged => "writes something else",
            Operator::FalseSuccess => "fails, although the answer claims success",
            Operator::AnswerReplaced => "is about something else",
            Operator::FileChanged => "has another content",
            Operator::CostRaised => "is ten times as high",
            Operator::ModelChanged => "is another one",
            Operator::HandoverRedirected => "goes to another agent",
        }
    }
}

impl Fault {
    /// Returns what happens, as a part of a sentence: "the call of `refund` is repeated".
    pub fn sentence(&self) -> String {
        format!("{} {}", self.what, self.operator.phrase())
    }
}

/// How bad a fault is that nobody notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Harm {
    /// It changes what the actor did to the world.
    SideEffect,
    /// It changes what the actor said, or how it worked.
    Other,
}

/// A fault of evidence.
#[derive(Clone, Debug)]
pub struct Fault {
    pub operator: Operator,
    pub harm: Harm,
    /// What is damaged, such as "the call of `refund_order`".
    pub what: String,
}

/// A name that no test uses.
const FOREIGN: &str = "unexpected_tool";

/// A text that no answer contains.
const OTHER_TEXT: &str = "zzz unrelated zzz";

/// The claim of an actor whose work failed.
const CLAIM: &str = "Done: everything completed successfully.";

const FAILURE: &str = "simulated failure";

/// Maximum number of calls, commands, files and steps each that are damaged; of more, those that are spread evenly.
const MAX_DAMAGED: usize = 40;

/// Returns the indices of the things that are damaged.
fn damaged(count: usize) -> impl Iterator<Item = usize> {
    let tried = count.min(MAX_DAMAGED);
    (0..tried).map(move |index| index * count / tried)
}

/// Makes the faults of the evidence of an attempt, one after another, each with the damaged evidence. Each call, command,
/// file and span is damaged alone.
pub fn faults(dialect: Dialect, evidence: &Evidence, take: &mut dyn FnMut(Fault, &Evidence)) {
    let mut made = Made { dialect, original: evidence, is_logged: false, take };
    made.of_calls();
    made.of_commands();
    made.of_answers();
    made.of_files();
    made.of_logs();
    made.of_traces();
    if evidence.usage.is_some_and(|usage| usage.cost_usd.is_some_and(|cost| cost > 0.0)) {
        made.add(Operator::CostRaised, Harm::Other, "the cost".to_owned(), |evidence| {
            let usage = evidence.usage.as_mut()?;
            usage.cost_usd = usage.cost_usd.map(|cost| cost * 10.0);
            Some(())
        });
    }
}

struct Made<'e> {
    dialect: Dialect,
    original: &'e Evidence,
    /// Whether a log shows the calls.
    is_logged: bool,
    take: &'e mut dyn FnMut(Fault, &Evidence),
}

impl Made<'_> {
    /// Adds a fault. The damage returns `None` if it cannot be done here.
    fn add(&mut self, operator: Operator, harm: Harm, what: String, damage: impl FnOnce(&mut Evidence) -> Option<()>) {
        let mut evidence = self.original.clone();
        if damage(&mut evidence).is_some() {
            if !evidence.turns.is_empty() {
                self.dialect.interpret(&mut evidence);
            }
            (self.take)(Fault { operator, harm, what }, &evidence);
        }
    }

    fn of_calls(&mut self) {
        let calls = calls_of(self.original);
        // The calls of an agent are its commands, and a plain command calls nothing.
        if self.original.commands.is_some() || calls.is_empty() && self.original.turns.is_empty() {
            return;
        }
        for index in damaged(calls.len()) {
            let (turn, call) = &calls[index];
            let (what, harm) = (format!("the call of `{}`", call.name), harm_of(&call.name));
            let mut on = |operator, damage: &dyn Fn(&mut PlacedCalls) -> Option<()>| {
                self.add(operator, harm, what.clone(), |evidence| change_calls(evidence, damage));
            };
            on(Operator::CallRemoved, &|calls| {
                calls.remove(index);
                Some(())
            });
            if harm == Harm::SideEffect {
                on(Operator::CallRepeated, &|calls| {
                    let again = ToolCall { id: format!("{}-again", call.id), ..call.clone() };
                    calls.insert(index + 1, (*turn, again));
                    Some(())
                });
            }
            for (operator, arguments) in changed_arguments(&call.arguments) {
                on(operator, &|calls| {
                    calls[index].1.arguments = arguments.clone();
                    Some(())
                });
            }
            let twin = calls[index + 1..].iter().position(|(_, other)| other.name == call.name);
            if let Some(twin) = twin.map(|at| at + index + 1) {
                on(Operator::ArgumentsSwapped, &|calls| {
                    let arguments = calls[twin].1.arguments.take();
                    calls[twin].1.arguments = std::mem::replace(&mut calls[index].1.arguments, arguments);
                    Some(())
                });
            }
            let fail = |calls: &mut PlacedCalls| {
                *calls[index].1.result.as_mut()? = json!({ "error": FAILURE });
                Some(())
            };
            on(Operator::ResultFailed, &fail);
            self.add(Operator::FalseSuccess, harm, what.clone(), |evidence| {
                change_calls(evidence, &fail)?;
                answer(evidence, CLAIM)
            });
        }
        self.add(Operator::CallAdded, Harm::SideEffect, format!("a call of `{FOREIGN}`"), |evidence| {
            change_calls(evidence, &|calls| {
                let turn = calls.last().map_or(0, |(turn, _)| *turn);
                let arguments = json!({});
                calls.push((
                    turn,
                    ToolCall { id: FOREIGN.to_owned(), name: FOREIGN.to_owned(), arguments, result: None },
                ));
                Some(())
            })
        });
        if calls.len() > 1 {
            self.add(Operator::CallsReversed, Harm::SideEffect, "the order of the calls".to_owned(), |evidence| {
                change_calls(evidence, &|calls| {
                    let turns: Vec<usize> = calls.iter().map(|(turn, _)| *turn).collect();
                    calls.reverse();
                    calls.iter_mut().zip(turns).for_each(|((own, _), turn)| *own = turn);
                    Some(())
                })
            });
        }
    }

    fn of_commands(&mut self) {
        let Some(log) = &self.original.commands else { return };
        let commands = &log.commands;
        for index in damaged(commands.len()) {
            let ran = &commands[index];
            let text = &ran.command.text;
            let (what, harm) = (format!("the command `{}`", text.trim()), harm_of(text));
            let mut on = |operator, damage: &dyn Fn(&mut Vec<Ran>)| {
                self.add(operator, harm, what.clone(), |evidence| {
                    damage(&mut evidence.commands.as_mut()?.commands);
                    Some(())
                });
            };
            on(Operator::CallRemoved, &|commands| {
                commands.remove(index);
            });
            if harm == Harm::SideEffect {
                on(Operator::CallRepeated, &|commands| commands.insert(index + 1, ran.clone()));
            }
            let retyped = |command: String| {
                move |commands: &mut Vec<Ran>| commands[index].command = Capture::whole(command.clone())
            };
            if let Some((before, last)) = text.trim_end().rsplit_once(char::is_whitespace) {
                on(Operator::ArgumentChanged, &retyped(format!("{before} zzz-{}", last.trim_start_matches('-'))));
                on(Operator::ArgumentOmitted, &retyped(before.to_owned()));
            }
            on(Operator::ArgumentAdded, &retyped(format!("{} --unexpected", text.trim_end())));
            if ran.stdout.as_ref().is_some_and(|stdout| !stdout.text.trim().is_empty()) {
                on(Operator::ResultChanged, &|commands| commands[index].stdout = Some(Capture::whole(OTHER_TEXT)));
            }
            if ran.exit.is_some_and(|exit| exit.code == Some(0)) {
                let fail = |commands: &mut Vec<Ran>| {
                    let failed = &mut commands[index];
                    failed.exit = Some(Exit { code: Some(1), signal: None });
                    failed.stdout = Some(Capture::default());
                    failed.stderr = Some(Capture::whole(FAILURE));
                };
                on(Operator::ResultFailed, &fail);
            }
        }
        self.add(Operator::CallAdded, Harm::SideEffect, format!("a command `{FOREIGN}`"), |evidence| {
            let foreign = Ran {
                command: Capture::whole(format!("{FOREIGN} --now")),
                exit: Some(Exit { code: Some(0), signal: None }),
                stdout: Some(Capture::default()),
                stderr: Some(Capture::default()),
                ..Ran::default()
            };
            let commands = &mut evidence.commands.as_mut()?.commands;
            // The last command is what most assertions are about.
            commands.insert(commands.len().saturating_sub(1), foreign);
            Some(())
        });
        if commands.len() > 1 {
            self.add(Operator::CallsReversed, Harm::SideEffect, "the order of the commands".to_owned(), |evidence| {
                evidence.commands.as_mut()?.commands.reverse();
                Some(())
            });
        }
    }

    fn of_answers(&mut self) {
        // Formats without an output do not read what was answered.
        if self.original.output.is_none() {
            return;
        }
        let what = || "the answer".to_owned();
        self.add(Operator::AnswerOmitted, Harm::Other, what(), |evidence| answer(evidence, ""));
        self.add(Operator::AnswerReplaced, Harm::Other, what(), |evidence| answer(evidence, OTHER_TEXT));
    }

    fn of_files(&mut self) {
        let changed = self.original.files.iter().flat_map(|log| &log.files).map(|file| file.path.clone());
        let after = |it: &&Observation| it.need.moment() == ObservationTime::After;
        let observed = self.original.observations.iter().filter(after).flat_map(|it| match &it.answer {
            Answer::Files(answer) => answer.files.iter().map(|file| file.path.clone()).collect(),
            Answer::Path(_) => path_of(&it.need).into_iter().map(str::to_owned).collect(),
            Answer::Command(_)
            | Answer::Log(_)
            | Answer::Variables(_)
            | Answer::Response(_)
            | Answer::Trace(_)
            | Answer::Question(_)
            | Answer::Nothing(_) => Vec::new(),
        });
        let mut paths: Vec<String> = changed.chain(observed).filter(|path| !is_of_version_control(path)).collect();
        paths.sort();
        paths.dedup();
        for path in damaged(paths.len()).map(|index| &paths[index]) {
            let what = format!("the file `{path}`");
            self.add(Operator::FileMissing, Harm::SideEffect, what.clone(), |evidence| remove_file(evidence, path));
            self.add(Operator::FileChanged, Harm::SideEffect, what, |evidence| change_file(evidence, path));
        }
    }

    fn of_logs(&mut self) {
        let log = |evidence: &Evidence| {
            let found = evidence.observations.iter().find_map(|it| {
                let Answer::Log(answer) = &it.answer else { return None };
                Some(answer.clone())
            });
            found.filter(|answer| answer.lines.masked.is_empty())
        };
        let Some(answer) = log(self.original) else { return };
        let run = self.original.context.run_id.clone();
        let calls = GatewayLog::of(&answer, &run).calls;
        let all: Vec<&str> = answer.lines.text.lines().collect();
        let lines_of = |call: &Call| -> Vec<usize> {
            let is_of = |line: &&str| call.id.as_ref().is_some_and(|id| line.contains(id.as_str()));
            let of_id = all.iter().enumerate().filter(|(_, line)| is_of(line)).map(|(index, _)| index);
            let lines: Vec<usize> = of_id.collect();
            if lines.is_empty() { vec![call.line] } else { lines }
        };
        self.is_logged = !calls.is_empty();
        for call in damaged(calls.len()).map(|index| &calls[index]) {
            let own = lines_of(call);
            let harm = harm_of(&call.tool);
            let what = format!("the call of `{}`", call.tool);
            let others = || all.iter().enumerate().filter(|(index, _)| !own.contains(index)).map(|(_, line)| *line);
            let removed: Vec<String> = others().map(str::to_owned).collect();
            self.add(Operator::CallRemoved, harm, what.clone(), |evidence| {
                remove_span(evidence, &call.tool);
                rewrite_log(evidence, &removed)
            });
            let Some(last) = own.last() else { continue };
            let copied = |change: &dyn Fn(&str) -> String| -> Vec<String> {
                let mut lines: Vec<String> = all.iter().map(|line| (*line).to_owned()).collect();
                lines.splice(last + 1..=*last, own.iter().map(|index| change(all[*index])));
                lines
            };
            let other_id = |line: &str| match &call.id {
                Some(id) => line.replace(id.as_str(), &format!("{id}-again")),
                None => line.to_owned(),
            };
            if harm == Harm::SideEffect {
                let repeated = copied(&other_id);
                self.add(Operator::CallRepeated, harm, what.clone(), |evidence| rewrite_log(evidence, &repeated));
            }
            if let Some(agent) = &call.to_agent {
                let elsewhere: Vec<String> = all.iter().map(|line| line.replace(agent.as_str(), FOREIGN)).collect();
                let what = format!("the hand-over to `{agent}`");
                self.add(Operator::HandoverRedirected, Harm::SideEffect, what, |evidence| {
                    rewrite_log(evidence, &elsewhere)
                });
            }
            if std::ptr::eq(call, &calls[0]) {
                let foreign = copied(&|line| other_id(line).replace(call.tool.as_str(), FOREIGN));
                self.add(Operator::CallAdded, Harm::SideEffect, format!("a call of `{FOREIGN}`"), |evidence| {
                    rewrite_log(evidence, &foreign)
                });
            }
        }
    }

    fn of_traces(&mut self) {
        let Some(TraceAnswer::Found(trace)) = self.original.trace() else { return };
        let steps: Vec<usize> = (0..trace.spans.len()).filter(|at| trace.spans[*at].kind == SpanKind::Tool).collect();
        // A log shows the calls as well.
        let is_logged = self.is_logged;
        for index in damaged(trace.spans.len()) {
            let span = &trace.spans[index];
            let name = format!("`{}`", span.name);
            let mut on = |operator, harm, what: String, damage: &dyn Fn(&mut Trace)| {
                self.add(operator, harm, what, |evidence| {
                    damage(trace_mut(evidence)?);
                    Some(())
                });
            };
            match span.kind {
                SpanKind::Tool => {
                    let (harm, what) = (harm_of(&span.name), format!("the step {name}"));
                    on(Operator::ResultFailed, harm, what.clone(), &|trace| {
                        trace.spans[index].error = Some(FAILURE.to_owned());
                    });
                    if is_logged {
                        continue;
                    }
                    on(Operator::CallRemoved, harm, what.clone(), &|trace| {
                        trace.spans.remove(index);
                    });
                    if harm == Harm::SideEffect {
                        on(Operator::CallRepeated, harm, what, &|trace| {
                            trace.spans.insert(index + 1, later(span, span.name.clone()));
                        });
                    }
                }
                SpanKind::Subagent => {
                    on(Operator::HandoverRedirected, Harm::SideEffect, format!("the hand-over to {name}"), &|trace| {
                        FOREIGN.clone_into(&mut trace.spans[index].name);
                    });
                }
                SpanKind::Llm => {
                    if span.model.is_some() {
                        on(Operator::ModelChanged, Harm::Other, format!("the model of {name}"), &|trace| {
                            trace.spans[index].model = Some(FOREIGN.to_owned());
                        });
                    }
                    if span.cost_usd.is_some_and(|cost| cost > 0.0) {
                        on(Operator::CostRaised, Harm::Other, format!("the cost of {name}"), &|trace| {
                            let span = &mut trace.spans[index];
                            span.cost_usd = span.cost_usd.map(|cost| cost * 10.0);
                            trace.cost_usd = trace.cost_usd.map(|cost| cost * 10.0);
                        });
                    }
                }
                SpanKind::Other => {}
            }
        }
        if is_logged {
            return;
        }
        let step = Span { started_us: trace.ended_us, ended_us: trace.ended_us, ..Span::default() };
        let last = steps.last().map(|last| &trace.spans[*last]).unwrap_or(&step);
        self.add(Operator::CallAdded, Harm::SideEffect, format!("a step `{FOREIGN}`"), |evidence| {
            trace_mut(evidence)?.spans.push(later(last, FOREIGN.to_owned()));
            Some(())
        });
        if steps.len() > 1 {
            self.add(Operator::CallsReversed, Harm::SideEffect, "the order of the steps".to_owned(), |evidence| {
                let spans = &mut trace_mut(evidence)?.spans;
                let names: Vec<String> = steps.iter().rev().map(|step| spans[*step].name.clone()).collect();
                steps.iter().zip(names).for_each(|(step, name)| spans[*step].name = name);
                Some(())
            });
        }
    }
}

/// Returns a span like another one, right after it.
fn later(span: &Span, name: String) -> Span {
    let started_us = span.started_us.map(|time| time + 1);
    Span { id: format!("{}-again", span.id), name, started_us, ..span.clone() }
}

/// The calls of an act, each with the index of its turn.
type PlacedCalls = Vec<(usize, ToolCall)>;

fn calls_of(evidence: &Evidence) -> PlacedCalls {
    if evidence.turns.is_empty() {
        let calls = evidence.output.iter().flat_map(|output| &output.tool_calls);
        return calls.map(|call| (0, call.clone())).collect();
    }
    let turns = evidence.turns.iter().enumerate();
    turns.flat_map(|(turn, it)| it.calls.iter().map(move |call| (turn, call.clone()))).collect()
}

fn change_calls(evidence: &mut Evidence, change: &dyn Fn(&mut PlacedCalls) -> Option<()>) -> Option<()> {
    let mut calls = calls_of(evidence);
    change(&mut calls)?;
    if evidence.turns.is_empty() {
        evidence.output.as_mut()?.tool_calls = calls.into_iter().map(|(_, call)| call).collect();
        return Some(());
    }
    evidence.turns.iter_mut().for_each(|turn| turn.calls.clear());
    for (turn, call) in calls {
        evidence.turns[turn].calls.push(call);
    }
    Some(())
}

/// Writes another answer: the text of the last reply, or what a command wrote beside its calls.
fn answer(evidence: &mut Evidence, text: &str) -> Option<()> {
    match evidence.turns.last_mut() {
        Some(turn) => turn.text = Capture::whole(text),
        None => {
            let output = evidence.output.as_mut()?;
            text.clone_into(&mut output.text);
            output.json = None;
        }
    }
    Some(())
}

/// Returns other arguments, one change at a time, in the first argument that can be changed.
fn changed_arguments(arguments: &Value) -> Vec<(Operator, Value)> {
    let Value::Object(members) = arguments else { return Vec::new() };
    let with = |change: &dyn Fn(&mut Map<String, Value>)| {
        let mut members = members.clone();
        change(&mut members);
        Value::Object(members)
    };
    let mut changed = vec![(
        Operator::ArgumentAdded,
        with(&|members| {
            members.insert("unexpected".to_owned(), json!(true));
        }),
    )];
    // The first argument is the one that names what a call is about.
    if let Some((name, value)) = members.iter().next() {
        changed.push((
            Operator::ArgumentChanged,
            with(&|members| {
                members.insert(name.clone(), other_value(value));
            }),
        ));
        changed.push((
            Operator::ArgumentOmitted,
            with(&|members| {
                members.shift_remove(name);
            }),
        ));
        changed.push((
            Operator::ArgumentRetyped,
            with(&|members| {
                members.insert(name.clone(), other_type(value));
            }),
        ));
    }
    changed
}

fn other_value(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(format!("{text}-changed")),
        Value::Number(number) => number.as_f64().map_or(Value::Null, |number| json!(number + 1.0)),
        Value::Bool(value) => json!(!value),
        Value::Null => json!("changed"),
        Value::Array(items) => items.iter().skip(1).cloned().chain([json!("changed")]).collect(),
        Value::Object(members) => {
            let mut members = members.clone();
            members.insert("unexpected".to_owned(), json!("changed"));
            Value::Object(members)
        }
    }
}

fn other_type(value: &Value) -> Value {
    match value {
        Value::String(text) => json!([text]),
        Value::Number(_) | Value::Bool(_) => json!(value.to_string()),
        Value::Null => json!(0),
        Value::Array(_) | Value::Object(_) => json!(value.to_string()),
    }
}

fn path_of(need: &Need) -> Option<&str> {
    let Need::Path { path, .. } = need else { return None };
    Some(path)
}

/// Whether a file belongs to a version control system: a command changes many of them, and no test is about one.
fn is_of_version_control(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, ".git" | ".hg" | ".jj" | ".svn"))
}

fn remove_file(evidence: &mut Evidence, path: &str) -> Option<()> {
    let mut found = false;
    if let Some(log) = &mut evidence.files {
        let count = log.files.len() + log.rest.len();
        log.files.retain(|file| file.path != path);
        log.rest.remove(path);
        found |= log.files.len() + log.rest.len() < count;
    }
    for observation in &mut evidence.observations {
        let is_own = path_of(&observation.need) == Some(path);
        if let Answer::Files(answer) = &mut observation.answer {
            let count = answer.files.len();
            answer.files.retain(|file| file.path != path);
            found |= answer.files.len() < count;
        } else if let Answer::Path(state) = &mut observation.answer
            && is_own
        {
            found |= matches!(state, PathState::File { .. });
            *state = PathState::Missing { beside: Vec::new() };
        }
    }
    found.then_some(())
}

fn change_file(evidence: &mut Evidence, path: &str) -> Option<()> {
    let mut found = false;
    let other = || Capture::whole(OTHER_TEXT);
    for file in evidence.files.iter_mut().flat_map(|log| &mut log.files).filter(|file| file.path == path) {
        file.digest = file.digest.as_ref().map(|_| "0".repeat(64));
        found |= file.text.is_some();
        file.text = file.text.as_ref().map(|_| other());
    }
    for observation in &mut evidence.observations {
        let is_own = path_of(&observation.need) == Some(path);
        if let Answer::Files(answer) = &mut observation.answer {
            for file in answer.files.iter_mut().filter(|file| file.path == path && file.content.is_some()) {
                file.content = Some(Content::Text(other()));
                file.searches.clear();
                found = true;
            }
        } else if let Answer::Path(PathState::File { content: Some(content) }) = &mut observation.answer
            && is_own
        {
            *content = Content::Text(other());
            found = true;
        }
    }
    found.then_some(())
}

/// Replaces the lines of the log in every observation of it.
fn rewrite_log(evidence: &mut Evidence, lines: &[String]) -> Option<()> {
    let mut found = None;
    for observation in &mut evidence.observations {
        if let Answer::Log(LogAnswer { lines: text, places, .. }) = &mut observation.answer {
            *text = Capture::whole(lines.join("\n"));
            let file = places.first().map_or(0, |place| place.file);
            *places = (0..lines.len()).map(|line| (file, line).into()).collect();
            found = Some(());
        }
    }
    found
}

fn trace_mut(evidence: &mut Evidence) -> Option<&mut Trace> {
    evidence.observations.iter_mut().find_map(|it| {
        let Answer::Trace(TraceAnswer::Found(trace)) = &mut it.answer else { return None };
        Some(trace)
    })
}

/// Removes the first span of a tool, so that the trace agrees with the log.
fn remove_span(evidence: &mut Evidence, tool: &str) {
    let Some(trace) = trace_mut(evidence) else { return };
    if let Some(index) = trace.spans.iter().position(|span| span.kind == SpanKind::Tool && span.name == tool) {
        trace.spans.remove(index);
    }
}

/// Words with which the names of tools and commands begin that only read.
const READING: [&str; 24] = [
    "cat", "check", "count", "describe", "echo", "fetch", "find", "get", "grep", "head", "help", "inspect", "list",
    "look", "lookup", "ls", "query", "read", "retrieve", "search", "show", "status", "tail", "view",
];

/// Returns how bad it is if a tool or a command with this name goes wrong: only those that merely read have no side effects.
fn harm_of(name: &str) -> Harm {
    let words = words::parts(name);
    let reads = words.iter().take(2).any(|word| READING.contains(&word.as_str()));
    if reads { Harm::Other } else { Harm::SideEffect }
}
