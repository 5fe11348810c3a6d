//! Agents are started by the program `openclaw`, which exits when they are done.

use std::time::Duration;

use speclens_schema::{
    evidence::{Capture, Ended, Evidence, Exit, Ran, RunError, RunErrorKind},
    gateway::trigger::{agent_id, agent_of_workspace, run_of},
    words::shell_word,
};

use super::{
    context::{TriggerContext, Triggered},
    webhook,
};
use crate::{
    exec::process::{self, Environment, Finished, end_of},
    scripted_gateway::{Printed, ScriptedGateway},
    watch::Watch,
};

const NOT_FOUND: i32 = 127;

/// Maximum duration of listing the agents: without the list, the contract decides.
const LISTING_TIMEOUT: Duration = Duration::from_secs(20);

pub(super) async fn start(trigger: TriggerContext<'_>, watch: &mut Watch) -> Triggered {
    let message = match trigger.filled.message() {
        Ok(message) => message,
        Err(message) => return with_error(Evidence::default(), RunErrorKind::MissingVariable, message),
    };
    let environment = Environment { set: watch.environment().into_iter().collect(), ..Environment::default() };
    let listed = run(trigger, &environment, &["agents", "list", "--json"], trigger.left().min(LISTING_TIMEOUT)).await;
    if is_missing(&listed.ran) {
        let message = "the program `openclaw`, which starts agents, was not found; install it, or add it to `PATH`";
        return with_error(Evidence::default(), RunErrorKind::Spawn, message.to_owned());
    }
    let agent = listed_agent(trigger, &listed.ran).unwrap_or_else(|| agent_id(&trigger.action.trigger).to_owned());
    watch.identity.agent = Some(agent.clone());
    let task = ["--agent", &agent, "--message", &message, "--json"];
    // A running gateway owns the agents' state, so the program refuses to work beside it. A script plays both.
    let is_beside =
        trigger.gateway.scripted_gateway().is_none() && webhook::unreachable(trigger.gateway).await.is_none();
    let start: &[&str] = if is_beside { &["agent"] } else { &["agent", "--local"] };
    let arguments = [start, &task].concat();
    let Finished { ran, error, notes } = run(trigger, &environment, &arguments, trigger.left()).await;
    let evidence = Evidence { duration_ms: ran.duration_ms, command: Some(ran), ..Evidence::default() };
    let ran = evidence.command.iter();
    let failure = error.map(|error| of_process(error, trigger.limit())).or_else(|| ran.clone().find_map(failure));
    if let Some(RunError { kind, message }) = failure {
        return Triggered { notes, ..with_error(evidence, kind, message) };
    }
    let output = ran.clone().find_map(|ran| ran.stdout.as_ref()).map(|stdout| stdout.text.as_str());
    match run_of(output.unwrap_or_default()) {
        Ok(run_id) => {
            if run_id.is_some() {
                watch.identity.run_id.clone_from(&run_id);
            }
            Triggered { evidence: Evidence { ended: Some(Ended::Exit), ..evidence }, run_id, notes }
        }
        Err(why) => {
            let message = format!("cannot read the answer of `openclaw agent`: {why}");
            Triggered { notes, ..with_error(evidence, RunErrorKind::Gateway, message) }
        }
    }
}

fn with_error(evidence: Evidence, kind: RunErrorKind, message: String) -> Triggered {
    let evidence = Evidence { error: Some(RunError { kind, message }), ..evidence };
    Triggered { evidence, run_id: None, notes: Vec::new() }
}

async fn run(
    trigger: TriggerContext<'_>,
    environment: &Environment,
    arguments: &[&str],
    timeout: Duration,
) -> Finished {
    let words: Vec<String> = arguments.iter().map(|word| shell_word(word)).collect();
    let script = format!("exec openclaw {}", words.join(" "));
    if let Some(scripted_gateway) = trigger.gateway.scripted_gateway() {
        return run_scripted(trigger, scripted_gateway, arguments, script, timeout).await;
    }
    let job = trigger.action_context.job;
    let command = process::Command::shell(&script, &job.directory, environment, timeout, job.output_limit);
    process::run(command, trigger.action_context.background, trigger.action_context.cancel).await
}

async fn run_scripted(
    trigger: TriggerContext<'_>,
    scripted_gateway: &ScriptedGateway,
    arguments: &[&str],
    script: String,
    timeout: Duration,
) -> Finished {
    let begun = trigger.timer.elapsed();
    let run_error = |kind, message: &str| Some(RunError { kind, message: message.to_owned() });
    let mut ran = Ran { command: Capture::whole(script), ..Ran::default() };
    let error = tokio::select! {
        biased;
        () = trigger.action_context.cancel.cancelled() => run_error(RunErrorKind::Cancelled, "cancelled"),
        printed = trigger.timer.within(begun + timeout, scripted_gateway.program(arguments)) => match printed {
            Some(Printed { exit_code, stdout, stderr }) => {
                ran.exit = Some(Exit { code: Some(exit_code), signal: None });
                ran.stdout = Some(Capture::whole(stdout));
                ran.stderr = Some(Capture::whole(stderr));
                None
            }
            None => {
                ran.timed_out = true;
                run_error(RunErrorKind::TimedOut, "the program did not end")
            }
        },
    };
    ran.duration_ms = Some(trigger.timer.elapsed().saturating_sub(begun).as_secs_f64() * 1000.0);
    Finished { ran, error, notes: Vec::new() }
}

fn is_missing(ran: &Ran) -> bool {
    ran.exit.is_some_and(|exit| exit.code == Some(NOT_FOUND))
}

fn listed_agent(trigger: TriggerContext<'_>, listed: &Ran) -> Option<String> {
    let list: serde_json::Value = serde_json::from_str(&listed.stdout.as_ref()?.text).ok()?;
    let directory = trigger.action_context.job.directory.join(&trigger.action.target);
    let places = [std::path::absolute(&directory), directory.canonicalize()];
    places.into_iter().flatten().find_map(|place| agent_of_workspace(&list, &place))
}

fn of_process(error: RunError, limit: Duration) -> RunError {
    if error.kind != RunErrorKind::TimedOut {
        return error;
    }
    let message = format!(
        "`openclaw agent` did not end within {} s and was stopped; raise `defaults.timeout` or `--timeout`",
        limit.as_secs_f64()
    );
    RunError { message, ..error }
}

fn failure(ran: &Ran) -> Option<RunError> {
    let exit = ran.exit.filter(|exit| exit.code != Some(0))?;
    let message = format!("`openclaw agent` {}{}", exit.sentence(), end_of(ran));
    Some(RunError { kind: RunErrorKind::Gateway, message })
}
