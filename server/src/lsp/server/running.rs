//! Runs: their requests, their events and their ends.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::Value;
use speclens_runner::event::{Event, SuiteResult};
use tokio::{sync::oneshot, task::JoinError};
use tokio_util::sync::CancellationToken;
use tower_lsp_server::gen_lsp_types as lsp;

use super::Server;
use crate::{
    ide::latest::Latest,
    lsp::{
        runs::{self, Begun, Chosen, End, Operation, Plan, Refused, Shown, Wanted},
        test_items::{RunOutput, RunOutputParams},
    },
};

/// Maximum time to wait for a response of the client.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Time between messages about the time that a run has taken so far.
const TICK: Duration = Duration::from_secs(1);

impl Server {
    /// Starts a run of the document's current text, saved or not, unless the request is withdrawn before.
    pub(in crate::lsp) fn request_run(
        &mut self,
        uri: String,
        wanted: Wanted,
        operation: Operation,
        reply: oneshot::Sender<Result<Begun, Refused>>,
    ) {
        let number = self.runs.request(&uri, wanted.clone());
        self.in_turn(&uri.clone(), move |server| {
            // A script may have changed without notice: the recording must match what runs now.
            server.forget_files(&uri);
            let world = Arc::clone(&server.world);
            let work = move || match world.snapshot(&uri) {
                Some(snapshot) => runs::decide(&snapshot, &wanted, operation),
                None => Err(Refused::Failed(runs::NOT_OPEN.to_owned())),
            };
            server.work(&server.requests, work, move |server, decided| server.begin_run(number, decided, reply));
        });
    }

    pub(in crate::lsp) fn begin_run(
        &mut self,
        number: u32,
        decided: Option<Result<Plan, Refused>>,
        reply: oneshot::Sender<Result<Begun, Refused>>,
    ) {
        if reply.is_closed() {
            return drop(self.runs.remove(number));
        }
        let decided = match decided {
            None => Err(Refused::Failed("the request failed inside the server; see its log".to_owned())),
            Some(Ok(_)) if self.is_stopping => Err(Refused::warning("the server is shutting down")),
            Some(decided) => decided,
        };
        let begun = self.runs.begin(number, decided).map(|(plan, cancel)| {
            let (ending, ended) = oneshot::channel();
            if let Some(follower) = self.runs.follower(number) {
                follower.ended = Some(ending);
            }
            self.perform_run(number, plan, cancel);
            Begun { number, ended }
        });
        let _ = reply.send(begun);
    }

    pub(in crate::lsp) fn perform_run(&self, number: u32, plan: Arc<Plan>, cancel: CancellationToken) {
        let (handle, clock, has_progress) = (self.handle.clone(), self.world.clock, self.world.abilities.progress);
        let views_tests = self.world.abilities.views_tests;
        tokio::spawn(async move {
            // A client that does not respond must not delay the run.
            let asked = handle.client.create_work_done_progress(runs::progress_token(number));
            if has_progress && matches!(tokio::time::timeout(RESPONSE_TIMEOUT, asked).await, Ok(Ok(()))) {
                handle.send(move |server| {
                    if let Some(follower) = server.runs.follower(number) {
                        follower.shows_progress = true;
                    }
                });
            }
            let (events, followed, began) = (handle.clone(), Arc::clone(&plan), Instant::now());
            let tell = move |event, unwritten| {
                let output = views_tests.then(|| runs::output(&followed, &event, began.elapsed())).flatten();
                events.send(move |server| {
                    if let Some(text) = output {
                        server.notify::<RunOutput>(RunOutputParams { run: number, text });
                    }
                    server.run_event(number, event, unwritten);
                });
            };
            let mut running = tokio::spawn(runs::perform(plan, clock, cancel, tell));
            let result = loop {
                tokio::select! {
                    result = &mut running => break result,
                    () = tokio::time::sleep(TICK) => handle.send(move |server| server.tick_run(number)),
                }
            };
            handle.send(move |server| server.run_ended(number, result.flatten()));
        });
    }

    pub(in crate::lsp) fn run_event(&mut self, number: u32, event: Event, unwritten: Option<String>) {
        let Some(follower) = self.runs.follower(number) else { return };
        let shown = follower.event(event);
        let unwritten = unwritten.filter(|_| follower.lacks_first_report());
        let (plan, shows_progress) = (Arc::clone(&follower.plan), follower.shows_progress);
        if let Some(reason) = unwritten {
            self.show_message(lsp::MessageType::Warning, &reason);
        }
        self.show(number, &plan, shows_progress, shown);
    }

    fn tick_run(&mut self, number: u32) {
        let Some(follower) = self.runs.follower(number).filter(|follower| follower.shows_progress) else { return };
        let (shown, plan) = (follower.tick(), Arc::clone(&follower.plan));
        self.show(number, &plan, true, shown);
    }

    pub(in crate::lsp) fn run_ended(&mut self, number: u32, result: Result<Arc<SuiteResult>, JoinError>) {
        let Some(mut follower) = self.runs.remove(number) else { return };
        let plan = Arc::clone(&follower.plan);
        let is_current = self.world.documents.get(&plan.uri).is_some_and(|open| open.version == plan.version);
        let mut shown = follower.end(is_current);
        match result {
            Ok(result) => {
                if let Some(ended) = follower.ended.take() {
                    // The receiver may have been dropped.
                    let _ = ended.send(End { suite: Arc::clone(&plan.suite), result });
                }
            }
            Err(error) => {
                tracing::error!("the run ended early: {error}");
                let message = "a bug in speclens stopped the run; see the log. Results up to then are recorded";
                shown.message = Some((lsp::MessageType::Error, message.to_owned()));
            }
        }
        self.show(number, &plan, follower.shows_progress, shown);
        if !self.runs.are_active() {
            // This tells the receiver.
            self.runs_ended = None;
        }
    }

    pub(in crate::lsp) fn show(&mut self, number: u32, plan: &Plan, shows_progress: bool, shown: Shown) {
        if let Some((kind, message)) = shown.message {
            self.show_message(kind, &message);
        }
        if let Some(message) = shown.log {
            self.log(message);
        }
        if let Some(value) = shown.progress.filter(|_| shows_progress) {
            let token = runs::progress_token(number);
            self.notify::<lsp::ProgressNotification>(lsp::ProgressParams { token, value });
        }
        if shown.has_other_files {
            for uri in self.of_suite(&plan.id) {
                self.forget_files(&uri);
            }
        }
        if shown.has_changed {
            self.analyze_suite(&plan.id);
        }
    }

    /// Cancels runs under way, and those that are about to begin. Returns how many.
    pub(in crate::lsp) fn cancel_runs(&self, chosen: &Chosen) -> usize {
        self.runs.cancel(chosen, |uri| self.world.documents.get(uri)?.suite(uri))
    }

    pub(in crate::lsp) fn cancel_by_token(&self, token: &lsp::ProgressToken) {
        self.runs.cancel_by_token(token);
    }

    /// Returns the active runs, and the last known results of a document.
    pub(in crate::lsp) fn status(&self, uri: Option<&str>) -> (Vec<Value>, Option<Arc<Latest>>) {
        let spec = uri.and_then(|uri| self.world.documents.get(uri)?.spec.as_ref());
        (self.runs.under_way(), spec.and_then(|spec| spec.latest.clone()))
    }

    /// Returns the runs under way of the suite of a document, each with the tests that have not ended.
    pub(in crate::lsp) fn runs_of(&self, uri: &str) -> Vec<(u32, Vec<String>)> {
        let suite = self.world.documents.get(uri).and_then(|open| open.suite(uri));
        suite.map(|suite| self.runs.of_suite(&suite)).unwrap_or_default()
    }

    /// Whether the user can be asked to trust a directory: not if the client manages trust itself.
    pub(in crate::lsp) fn trust(&self) -> (bool, bool) {
        (self.world.trusted, self.world.trust_is_clients)
    }
}
