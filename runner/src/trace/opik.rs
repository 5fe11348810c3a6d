//! Traces of Opik, over its REST API. Read-only: nothing is tagged or changed there.

use std::{error::Error, fmt, time::Duration};

use jiff::Timestamp;
use reqwest::{Client, StatusCode, Url, header::HeaderValue};
use serde::de::DeserializeOwned;
use serde_json::Value;
use speclens_schema::{
    evidence::Trace,
    gateway::config::Opik,
    trace::{
        Ambiguous, MAX_SPANS, MatchedTraces, TraceClues, match_trace,
        opik::{self, OpikSpan, OpikTrace, Search},
    },
};

use crate::http::{innermost, may_carry_secret, receive, with_secret};

/// Opik's own service.
const HOSTED: &str = "https://www.comet.com/opik/api/";

const TIMEOUT: Duration = Duration::from_secs(10);

const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;

const MAX_TRACES_PER_REQUEST: usize = 100;
const MAX_TRACES: usize = 1_000;

const MAX_SPANS_PER_REQUEST: usize = 1_000;

#[derive(Clone, Default)]
pub struct OpikTarget {
    /// The address of its API; `None` for the hosted service.
    pub url: Option<String>,
    pub project: Option<String>,
    pub workspace: Option<String>,
    key: Option<String>,
}

impl fmt::Debug for OpikTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OpikTarget { url, project, workspace, key } = self;
        let mut shown = formatter.debug_struct("OpikTarget");
        shown.field("url", url).field("project", project).field("workspace", workspace);
        shown.field("has_key", &key.is_some()).finish()
    }
}

impl OpikTarget {
    /// Reads the connection to Opik. `variable` looks up the environment.
    pub fn of(opik: Option<&Opik>, variable: &dyn Fn(&str) -> Option<String>) -> OpikTarget {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let own = opik.cloned().unwrap_or_default();
        OpikTarget {
            url: variable("OPIK_URL_OVERRIDE"),
            project: own.project_name.filter(|it| !it.is_empty()).or_else(|| variable("OPIK_PROJECT_NAME")),
            workspace: own.workspace.filter(|it| !it.is_empty()).or_else(|| variable("OPIK_WORKSPACE")),
            key: variable("OPIK_API_KEY"),
        }
    }

    pub(super) async fn look(&self, clues: &TraceClues) -> Result<Option<Trace>, String> {
        let asked = self.connect()?;
        let moment = |us: i64| Timestamp::from_microsecond(us).map(|it| it.to_string()).unwrap_or_default();
        let from = moment(clues.started_us.saturating_sub(clues.padding_us));
        let to = moment(clues.ended_us.map_or(i64::MAX / 4, |ended| ended.saturating_add(clues.padding_us)));
        let to = if to.is_empty() { moment(253_402_207_200_000_000) } else { to };
        let in_window = asked.traces(Search::Window(&from, &to)).await?;
        let chosen = match_trace(&in_window, clues);
        // The clock of another machine may be off, so a trace outside the window may name the run.
        let elsewhere = match &chosen {
            Ok(found) if !found.own.is_empty() => Vec::new(),
            Ok(_) | Err(_) => asked.naming(clues).await?,
        };
        let is_elsewhere = |trace: &OpikTrace| elsewhere.iter().any(|other| other.id == trace.id);
        let (traces, matched, others) = match elsewhere.is_empty() {
            true => (&in_window, chosen, 0),
            false => {
                let others: Vec<OpikTrace> = in_window.iter().filter(|it| !is_elsewhere(it)).cloned().collect();
                let others = match match_trace(&others, clues) {
                    Ok(found) => found.own.len() + found.unassigned.len(),
                    Err(Ambiguous(count)) => count,
                };
                (&elsewhere, match_trace(&elsewhere, clues), others)
            }
        };
        let MatchedTraces { own, by, unassigned } = matched.map_err(|ambiguous| ambiguous.sentence())?;
        let unassigned = unassigned.len() + others + usize::from(in_window.len() >= MAX_TRACES);
        let mut parts = Vec::new();
        for index in own {
            let trace = &traces[index];
            parts.push(opik::assemble(trace, &asked.spans(&trace.id).await?));
        }
        let trace = parts.into_iter().reduce(Trace::and);
        Ok(trace.map(|trace| Trace { joined: by, unassigned, ..trace }))
    }

    fn connect(&self) -> Result<Connection<'_>, String> {
        let text = self.url.as_deref().unwrap_or(HOSTED);
        // A base without `/` at the end would lose its last part.
        let base = Url::parse(&format!("{}/", text.trim_end_matches('/')))
            .map_err(|error| format!("`{text}` in OPIK_URL_OVERRIDE is not a valid URL: {error}"))?;
        if self.key.is_some() && !may_carry_secret(&base) {
            return Err(format!(
                "the key would be sent to `{text}` without encryption; use `https://` in OPIK_URL_OVERRIDE"
            ));
        }
        let client = with_secret(&base)?.timeout(TIMEOUT).build().map_err(|error| innermost(&error))?;
        Ok(Connection { target: self, base, client })
    }
}

struct Connection<'t> {
    target: &'t OpikTarget,
    base: Url,
    client: Client,
}

impl Connection<'_> {
    async fn traces(&self, search: Search<'_>) -> Result<Vec<OpikTrace>, String> {
        let project = self.target.project.as_deref();
        let body = |after: Option<&OpikTrace>| {
            opik::search_traces(project, search, MAX_TRACES_PER_REQUEST, after.map(|trace| trace.id.as_str()))
        };
        self.pages("v1/private/traces/search", body, MAX_TRACES_PER_REQUEST, MAX_TRACES).await
    }

    async fn spans(&self, trace: &str) -> Result<Vec<OpikSpan>, String> {
        let project = self.target.project.as_deref();
        let body = |after: Option<&OpikSpan>| {
            opik::search_spans(project, trace, MAX_SPANS_PER_REQUEST, after.map(|span| span.id.as_str()))
        };
        self.pages("v1/private/spans/search", body, MAX_SPANS_PER_REQUEST, MAX_SPANS + 1).await
    }

    async fn pages<T: DeserializeOwned>(
        &self,
        path: &str,
        body: impl Fn(Option<&T>) -> Value,
        per_page: usize,
        most: usize,
    ) -> Result<Vec<T>, String> {
        let mut found: Vec<T> = Vec::new();
        loop {
            let page: Vec<T> = opik::read(&self.post(path, &body(found.last())).await?)?;
            let is_last = page.len() < per_page;
            found.extend(page);
            if is_last || found.len() >= most {
                return Ok(found);
            }
        }
    }

    /// Returns the traces that name the run or its session, whenever they began.
    async fn naming(&self, clues: &TraceClues) -> Result<Vec<OpikTrace>, String> {
        if let Some(run) = clues.run_id.as_deref().filter(|run| !run.is_empty()) {
            let tag = opik::run_tag(run);
            for search in [Search::Tag(&tag), Search::Metadata("runId", run), Search::Input(run)] {
                let found = self.traces(search).await?;
                if !found.is_empty() {
                    return Ok(found);
                }
            }
        }
        match clues.session_key.as_deref().filter(|key| !key.is_empty()) {
            Some(session) => self.traces(Search::Thread(session)).await,
            None => Ok(Vec::new()),
        }
    }

    async fn post(&self, path: &str, body: &Value) -> Result<String, String> {
        let url = self.base.join(path).map_err(|error| error.to_string())?;
        let host = url.host_str().unwrap_or_default().to_owned();
        let silent = |error: &dyn Error| format!("cannot reach Opik at {host}: {}", innermost(error));
        let mut request = self.client.post(url).header("content-type", "application/json").body(body.to_string());
        if let Some(key) = &self.target.key {
            let mut value = HeaderValue::from_str(key)
                .map_err(|_| "OPIK_API_KEY contains characters that are not allowed in a header".to_owned())?;
            value.set_sensitive(true);
            request = request.header("authorization", value);
        }
        if let Some(workspace) = &self.target.workspace {
            request = request.header("comet-workspace", workspace);
        }
        let mut response = request.send().await.map_err(|error| silent(&error))?;
        let status = response.status();
        if !status.is_success() {
            return Err(refusal(status, &host, self.target.key.is_some()));
        }
        let mut answer = Vec::new();
        if !receive(&mut response, MAX_ANSWER_BYTES, &mut answer).await.map_err(|error| silent(&error))? {
            return Err(format!(
                "a response from Opik at {host} is larger than {} MiB",
                MAX_ANSWER_BYTES / 1024 / 1024
            ));
        }
        String::from_utf8(answer).map_err(|_| format!("a response from Opik at {host} is not text"))
    }
}

fn refusal(status: StatusCode, host: &str, has_key: bool) -> String {
    let status = status.as_u16();
    match (status, has_key) {
        (401 | 403, true) => format!("Opik at {host} rejected the key (status {status}); correct OPIK_API_KEY"),
        (401 | 403, false) => format!("Opik at {host} requires a key (status {status}); set OPIK_API_KEY"),
        (404, _) => format!("Opik at {host} has no such project or address (status 404)"),
        (status, _) => format!("Opik at {host} responded with status {status}"),
    }
}
