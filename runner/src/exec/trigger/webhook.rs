//! Skills and pipelines are started by a request to the gateway.

use std::{future, sync::Arc, time::Duration};

use reqwest::{
    Client, Url,
    header::{CONTENT_TYPE, LOCATION},
};
use speclens_schema::{
    evidence::{
        Answer, Capture, Context, Ended, Evidence, Exchange, FilesNeed, Need, Observation, ObservationTime, RunError,
        RunErrorKind, SeenFile,
    },
    gateway::{
        config::Config,
        trigger::{Reply, reply},
    },
    judge,
    suite::Case,
    verdict::Outcome,
};
use tokio::net::TcpStream;

use super::context::{TriggerContext, Triggered, cancelled};
use crate::{
    gateway::Gateway,
    http::{self, in_line, innermost, words},
    observe::{self, Cancelled, View},
    watch::Watch,
};

pub(super) async fn start(trigger: TriggerContext<'_>, context: &Context, watch: &mut Watch) -> Triggered {
    let body = trigger.filled.body(trigger.action, watch.identity.session_key.as_deref()).to_string();
    let address = trigger.gateway.url(&trigger.gateway.webhook);
    let sent = Sent { gateway: trigger.gateway, address: &address, limit: trigger.action_context.job.output_limit };
    let mut exchange = Exchange { address: sent.shown(), sent: Capture::whole(body.as_str()), ..Exchange::default() };
    let before = look_before(trigger, context).await;
    let answered = tokio::select! {
        biased;
        () = trigger.action_context.cancel.cancelled() => Err(cancelled()),
        answered = trigger.timer.within(trigger.limit(), sent.post(body, &mut exchange)) => {
            answered.unwrap_or_else(|| Err(sent.too_slow(trigger.limit())))
        }
    };
    let mut evidence = Evidence { exchange: Some(exchange), ..Evidence::default() };
    let Reply { run_id, is_final, failure } = match answered {
        Ok(reply) => reply,
        Err(error) => {
            return Triggered {
                evidence: Evidence { error: Some(error), ..evidence },
                run_id: None,
                notes: Vec::new(),
            };
        }
    };
    if run_id.is_some() {
        watch.identity.run_id.clone_from(&run_id);
    }
    if let Some(failure) = failure {
        let message = format!("the gateway at {} reports that the run failed: {failure}", sent.shown());
        evidence.error = Some(RunError { kind: RunErrorKind::Gateway, message });
        return Triggered { evidence, run_id, notes: Vec::new() };
    }
    let ended = match is_final {
        true => Ok(Ended::Answer),
        false => wait(trigger, context, run_id.clone(), watch, before).await,
    };
    match ended {
        Ok(ended) => {
            evidence.ended = Some(ended);
            Triggered { evidence, run_id, notes: Vec::new() }
        }
        Err(Cancelled) => {
            evidence.error = Some(cancelled());
            Triggered { evidence, run_id, notes: Vec::new() }
        }
    }
}

#[derive(Clone, Copy)]
struct Sent<'a> {
    gateway: &'a Gateway,
    address: &'a str,
    limit: usize,
}

impl Sent<'_> {
    async fn post(self, body: String, exchange: &mut Exchange) -> Result<Reply, RunError> {
        let url = Url::parse(self.address).map_err(|error| {
            let help = "write it as `http://127.0.0.1:18789`";
            self.error(format!("`{}` is not a valid gateway URL: {error}; {help}", self.address))
        })?;
        let has_secret = self.gateway.token().is_some() || url.password().is_some();
        if has_secret && !http::may_carry_secret(&url) {
            let source = self.gateway.token_from().map(|source| format!(", or remove `{source}`")).unwrap_or_default();
            let help = format!("use `https://`, or forward a port of this machine{source}");
            return Err(self.error(format!("{} (gateway at {}); {help}", http::OPEN_TOKEN, self.shown())));
        }
        let client =
            client(&url).map_err(|why| self.error(format!("cannot prepare the request to {}: {why}", self.shown())))?;
        let mut request = client.post(url).header(CONTENT_TYPE, "application/json").body(body);
        if let Some(token) = self.gateway.token() {
            request = request.bearer_auth(token);
        }
        let mut response = request.send().await.map_err(|error| self.no_answer(error))?;
        exchange.status = Some(response.status().as_u16());
        let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).map(str::to_owned);
        let mut bytes = Vec::new();
        let read = http::receive(&mut response, self.limit, &mut bytes).await;
        let answer = Capture::of_bytes(bytes, !matches!(read, Ok(true)));
        let text = exchange.answer.insert(answer).text.clone();
        if !response.status().is_success() {
            return Err(self.refused(response.status().as_u16(), location.as_deref(), &text));
        }
        match read {
            Ok(true) => reply(&text).map_err(|why| self.unreadable(&why)),
            Ok(false) => Err(self.unreadable(&format!("it is longer than {} bytes", self.limit))),
            Err(error) => Err(self.no_answer(error)),
        }
    }

    fn shown(self) -> String {
        self.gateway.shown_url(&self.gateway.webhook)
    }

    fn error(self, message: String) -> RunError {
        RunError { kind: RunErrorKind::Gateway, message }
    }

    fn no_answer(self, error: reqwest::Error) -> RunError {
        let (shown, is_connect) = (self.shown(), error.is_connect());
        let why = innermost(&error.without_url());
        if is_connect {
            let help = format!("start it with `openclaw gateway`, or correct `gateway_base_url` in `{}`", Config::FILE);
            return self.error(format!("cannot reach the gateway at {shown}: {why}; {help}"));
        }
        self.error(format!(
            "the response of the gateway at {shown} is incomplete: {why}; check its address and its log"
        ))
    }

    fn too_slow(self, limit: Duration) -> RunError {
        let message = format!(
            "the gateway at {} did not answer within {} s; raise `defaults.timeout` or `--timeout`",
            self.shown(),
            limit.as_secs_f64()
        );
        RunError { kind: RunErrorKind::TimedOut, message }
    }

    fn unreadable(self, why: &str) -> RunError {
        self.error(format!(
            "the response of the gateway at {} is invalid: {why}; check that `gateway_base_url` and \
             `gateway_webhook_endpoint` in `{}` name a gateway",
            self.shown(),
            Config::FILE
        ))
    }

    fn refused(self, status: u16, location: Option<&str>, body: &str) -> RunError {
        let shown = self.shown();
        self.error(match (status, self.gateway.token_from()) {
            (300..=399, _) => {
                let to = location.map(|to| format!(" to {to}")).unwrap_or_default();
                let help = format!("set `gateway_base_url` in `{}` to the final address", Config::FILE);
                format!(
                    "the gateway at {shown} redirects{to} (status {status}), but redirects are not followed; {help}"
                )
            }
            (401 | 403, Some(source)) => {
                format!("the gateway at {shown} rejected the token (status {status}); correct `{source}`")
            }
            (401 | 403, None) => {
                let help = "set `CLAWSPEC_GATEWAY_AUTH_TOKEN` or `HOOKS_TOKEN` to the token of its hooks";
                format!("the gateway at {shown} requires a token (status {status}); {help}")
            }
            (404, _) => {
                let help = format!("correct `gateway_webhook_endpoint` in `{}`", Config::FILE);
                format!("the gateway at {shown} has no such webhook (status 404); {help}")
            }
            (_, _) => {
                // The lines below the first are often those of a stack.
                let words = words(body).and_then(|words| words.lines().next().map(in_line));
                let words = words.map(|words| format!(": {words}")).unwrap_or_default();
                format!("the gateway at {shown} failed with status {status}{words}; check its log")
            }
        })
    }
}

pub(super) async fn unreachable(gateway: &Gateway) -> Option<String> {
    let url = Url::parse(&gateway.base_url).ok()?;
    let (host, port) = (url.host_str()?, url.port_or_known_default()?);
    let connecting = TcpStream::connect((host.trim_matches(['[', ']']), port));
    match tokio::time::timeout(PROBE_TIMEOUT, connecting).await {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(_) => Some("no answer".to_owned()),
    }
}

const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

fn client(url: &Url) -> Result<Client, String> {
    // One request is sent: its connection would stay open without a use.
    http::with_secret(url)?.pool_max_idle_per_host(0).build().map_err(|error| innermost(&error))
}

/// Waits until the end of the run is reported, or all claimed artifacts exist and no other claim could still change, or
/// the time is over.
async fn wait(
    trigger: TriggerContext<'_>,
    context: &Context,
    run_id: Option<String>,
    watch: &Watch,
    before: Before,
) -> Result<Ended, Cancelled> {
    let context = trigger.ended(context.clone(), run_id);
    let first_of_all = async {
        tokio::select! {
            biased;
            ended = watch.ended() => ended,
            () = Satisfied::await_all(trigger, context, before) => Ended::Satisfied,
        }
    };
    let in_time = trigger.timer.within(trigger.limit(), first_of_all);
    let ended = trigger.action_context.cancel.run_until_cancelled(in_time).await.ok_or(Cancelled)?;
    Ok(ended.unwrap_or(Ended::Deadline))
}

/// Observations from before the target was started, if only files decide the test.
struct Before(Option<Vec<Observation>>);

async fn look_before(trigger: TriggerContext<'_>, context: &Context) -> Before {
    let context = trigger.ended(context.clone(), None);
    match files_of(trigger.action_context.test, &context) {
        Some(needs) => Before(Some(observe::all(needs, trigger.view).await.observations)),
        None => Before(None),
    }
}

struct Satisfied<'a> {
    case: &'a Arc<Case>,
    view: &'a View,
    context: Context,
    needs: Vec<Need>,
}

impl Satisfied<'_> {
    /// Waits until every claim holds in two identical observations, so a half-written file does not count. Never
    /// returns if a claim is about something that must not happen, a budget, or anything but files.
    async fn await_all(trigger: TriggerContext<'_>, context: Context, Before(first): Before) {
        let case = trigger.action_context.test;
        let Some((first, needs)) = first.zip(files_of(case, &context)) else { return future::pending().await };
        let satisfied = Satisfied { case, view: trigger.view, context, needs };
        let pause = Duration::from_millis(trigger.action.poll_ms);
        let mut before = satisfied.look().await;
        loop {
            tokio::time::sleep(pause).await;
            let seen = satisfied.look().await;
            if is_settled(&first, &before, &seen) && satisfied.holds(seen.clone()).await {
                return;
            }
            before = seen;
        }
    }

    async fn look(&self) -> Vec<Observation> {
        observe::all(self.needs.clone(), self.view).await.observations
    }

    async fn holds(&self, observations: Vec<Observation>) -> bool {
        let (case, secrets) = (Arc::clone(self.case), Arc::clone(&self.view.secrets));
        let evidence = Evidence { context: self.context.clone(), observations, ..Evidence::default() };
        let judge = move || {
            let judged = judge::judge(&case, &evidence, &secrets);
            let mut after = judged.iter().filter(|it| !case.claims[it.claim].is_precondition());
            after.all(|it| it.verdict.outcome == Outcome::Pass)
        };
        tokio::task::spawn_blocking(judge).await.unwrap_or(false)
    }
}

/// Returns the files that decide a case, if only files do.
fn files_of(case: &Case, context: &Context) -> Option<Vec<Need>> {
    let needs = case.needs(ObservationTime::After, context).into_iter().map(|need| match need {
        // One observation at a time.
        Need::Files(need) => Some(Need::Files(FilesNeed { wait_ms: 0, ..need })),
        Need::Path { .. } | Need::Variables(_) => Some(need),
        Need::Command { .. } | Need::Log(_) | Need::Response(_) | Need::Trace | Need::Scores(_) | Need::Question(_) => {
            None
        }
    });
    let needs: Vec<Need> = needs.collect::<Option<_>>()?;
    (!needs.is_empty()).then_some(needs)
}

fn is_settled(first: &[Observation], before: &[Observation], now: &[Observation]) -> bool {
    before == now && is_all_new(first, now)
}

/// Returns whether none of the files is as it was when the run began: results of an earlier run do not count.
fn is_all_new(first: &[Observation], now: &[Observation]) -> bool {
    now.iter().all(|seen| match &seen.answer {
        Answer::Files(files) => {
            let known = first.iter().find(|it| it.need == seen.need).map(|it| &it.answer);
            let is_known = |file: &SeenFile| match known {
                Some(Answer::Files(known)) => known.files.iter().any(|old| old.is_the_same(file)),
                _ => false,
            };
            !files.files.is_empty() && !files.files.iter().all(is_known)
        }
        Answer::Path(_)
        | Answer::Command(_)
        | Answer::Log(_)
        | Answer::Variables(_)
        | Answer::Response(_)
        | Answer::Trace(_)
        | Answer::Question(_)
        | Answer::Nothing(_) => true,
    })
}

#[cfg(test)]
mod tests {
    use speclens_schema::evidence::FilesAnswer;

    use super::*;

    fn seen(modified_us: Option<i64>) -> Vec<Observation> {
        let file =
            |modified_us| SeenFile { path: "out.md".to_owned(), modified_us: Some(modified_us), ..SeenFile::default() };
        let files = modified_us.map(file).into_iter().collect();
        let need = Need::Files(FilesNeed { pattern: "out.md".to_owned(), ..FilesNeed::default() });
        vec![Observation { need, answer: Answer::Files(FilesAnswer { files, ..FilesAnswer::default() }) }]
    }

    #[test]
    fn file_counts_when_two_looks_see_the_same_and_it_is_not_as_it_was_before_the_run() {
        for (first, before, now, expected) in [
            (None, Some(2), Some(2), true),
            (Some(1), Some(2), Some(2), true),
            (None, None, Some(2), false),
            (None, Some(1), Some(2), false),
            (Some(2), Some(2), Some(2), false),
            (None, None, None, false),
        ] {
            assert_eq!(is_settled(&seen(first), &seen(before), &seen(now)), expected, "{first:?} {before:?} {now:?}");
        }
    }
}
