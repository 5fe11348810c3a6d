//! Assertions about addresses, logs and routing decisions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    act::Until,
    check::{
        log_search::LogSearch,
        python::PythonValue,
        text::{CloseLine, closest_line, shortened, visible},
    },
    dialect::clawspec::{
        claim::AssertionType,
        scope::Scope,
        scoped_evidence::ScopedEvidence,
        statements::{Statement, Subject},
        words::{Artifact, PythonPattern, RunText, WebAddress},
    },
    evidence::{Address, Context, FilesNeed, Need, ResponseNeed},
    lint_node::LintNode,
    mask::MASK_CHARACTER,
    seen::{Found, Observed, Why},
    text::Text,
    verdict::{At, FilePlace, Judged, Mismatch, Row},
    words::plural,
};

/// A URL responds with a certain status.
///
/// ```yaml
/// - type: gateway_response
///   endpoint: http://127.0.0.1:18789/health
///   expected_status: 200
/// ```
///
/// The request is a GET with a timeout of five seconds. Redirects are not followed, and no token is sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-other-names" = ["http_status"], "x-advice" = [
    {
        "names": ["route"], "note": "the request goes to `endpoint`, which includes the address",
        "help": "set `endpoint` to the full URL", "explains": ["endpoint", "method"],
    },
    { "names": ["method"], "note": "ClawSpec sends only GET requests", "help": "remove it" },
]))]
pub struct GatewayResponse {
    /// Full URL of the request.
    #[schemars(with = "WebAddress", extend("examples" = ["http://127.0.0.1:18789/health"]))]
    #[schemars(extend("x-synonyms" = ["url"]))]
    pub endpoint: RunText,
    /// Expected status code.
    #[schemars(range(min = 100, max = 599), extend("examples" = [200]))]
    #[schemars(extend("x-synonyms" = ["status", "status_code"]))]
    pub expected_status: u16,
    /// String that the body must contain. ClawSpec does not document this key, but reads it.
    #[schemars(extend("x-compared" = "output", "examples" = ["\"ok\""]))]
    #[schemars(extend("x-other-names" = ["body"]))]
    pub expected_body: Option<RunText>,
}

impl GatewayResponse {
    fn need(&self, scope: &Scope, context: &Context) -> Option<ResponseNeed> {
        let url = scope.expand(&self.endpoint, context).ok()?;
        Some(ResponseNeed { address: Address::Url(url), moment: scope.moment })
    }
}

impl AssertionType for GatewayResponse {
    const NAME: &'static str = "gateway_response";
    const SUBJECT: &'static str = "endpoint";

    fn says<'d>(node: &LintNode<'d>) -> Vec<Statement<'d>> {
        Statement::value(node, "endpoint", "expected_status").into_iter().collect()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        self.need(scope, context).map(Need::Response).into_iter().collect()
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let url = seen.expand("endpoint", &self.endpoint)?;
        let want = ResponseNeed { address: Address::Url(url.clone()), moment: seen.scope.moment };
        let (answer, proof) = seen.response("endpoint", &want, &format!("the response of {url}"))?;
        let expected = self.expected_status;
        let Some(status) = answer.status else {
            let reason = answer.error.clone().unwrap_or_else(|| "no response".to_owned());
            return Ok(Row::fail(
                "endpoint",
                proof,
                Mismatch::new(reason.clone(), format!("status {expected}"), reason),
            ));
        };
        if status != expected {
            let message = format!("Expected {expected}, got {status}");
            let mismatch = Mismatch::new(message, expected.to_string(), status.to_string()).accepting(status);
            return Ok(Row::fail("expected_status", proof, mismatch));
        }
        let Some(body) = &self.expected_body else { return Ok(Row::pass("expected_status", proof)) };
        let body = seen.expand("expected_body", body)?;
        let found = Text::of_body(&answer.body).contains(&body).at("expected_body")?;
        Ok(Row::present("expected_body", found, || {
            let message = format!("Expected body fragment not found: {body}");
            let mismatch = Mismatch::new(message, body.clone(), shortened(&answer.body.text, 2_000));
            mismatch.near(closest_line(&answer.body.hidden_text(), &body).map(CloseLine::near)).accepting_closest()
        }))
    }
}

/// A line of a log contains a string or matches a regular expression.
///
/// ```yaml
/// - type: log_entry
///   path: memory/logs/run.log
///   pattern: "approved"
/// ```
///
/// The pattern is a Python regular expression in which `^` and `$` match at the start and the end of each line. It also
/// matches literally, so plain text needs no escaping. A log may have any length. In ClawSpec, the pattern is a regular
/// expression only, `^` and `$` match only at the start and the end of the file, and ClawSpec aborts with an error if
/// the pattern is invalid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-synonyms" = ["log_contains"], "x-other-names" = ["artifact_contains_text", "file_contains"]))]
#[schemars(extend("x-advice" = [{
    "names": ["not", "negate", "negated", "invert", "inverted"], "help": "write `absent: true`",
    "note": "ClawSpec ignores unknown keys, so this key has no effect",
}]))]
pub struct LogEntry {
    /// Path of the log; with wildcards, the first match.
    #[schemars(extend("x-file" = "log", "examples" = ["memory/logs/run.log"]))]
    #[schemars(extend("x-synonyms" = ["log_path"]))]
    pub path: Artifact,
    /// String or regular expression to search for.
    #[schemars(extend("x-seen" = { "lines": ["path"] }, "examples" = ["approved"]))]
    #[schemars(extend("x-other-names" = ["contains", "text", "content", "value", "expected"]))]
    pub pattern: PythonPattern,
    /// Whether the pattern must not be found. ClawSpec does not document this key, but reads it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub absent: bool,
}

impl AssertionType for LogEntry {
    const NAME: &'static str = "log_entry";

    fn says<'d>(node: &LintNode<'d>) -> Vec<Statement<'d>> {
        let is_absent = node.get("absent").and_then(|it| it.bool()).unwrap_or(false);
        let log = Subject::Log(node.text_at("path").unwrap_or_default());
        Statement::at(node, "pattern", log, !is_absent).collect()
    }

    fn subject(&self) -> String {
        shortened(&self.pattern, 60)
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        let searches = scope.expand(&self.pattern, context).into_iter().collect();
        let need = scope.first_file(&self.path, context).map(|need| FilesNeed { searches, ..need });
        need.map(Need::Files).into_iter().collect()
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let pattern = seen.expand("pattern", &self.pattern)?;
        let until = if self.absent { Until::End } else { Until::TimeLimit };
        let (_, file) = seen.existing("path", &self.path, "Log file", until)?;
        let log = seen.text("path", file, until)?;
        let search = LogSearch::new(&pattern);
        // A long log is not stored, but all of it was searched.
        let whole = file.searches.iter().find(|it| it.pattern == pattern);
        let (text, first) = match whole.and_then(|whole| whole.found.as_ref()) {
            Some(found) => (found.text.text.as_str(), found.line),
            None => (log.so_far(), 0),
        };
        let found = search.find(text).map_err(Why::Unknown).at("pattern")?;
        let masked = || Err(Row::unknown("pattern", "the match is partly masked as a secret"));
        match found {
            Some((start, end)) if text[start..end].contains(MASK_CHARACTER) => return masked(),
            // It was found before masking.
            None if whole.is_some_and(|whole| whole.found.is_some()) => return masked(),
            Some(_) | None => {}
        }
        let gap = match whole {
            Some(whole) => {
                whole.gap.as_ref().map(|gap| Why::Unknown(format!("not all of the log was searched: {gap}")))
            }
            None => log.complete().err(),
        };
        // Colors of a terminal may be inside of what a reader sees.
        let seen_text = visible(text);
        let is_shown = self.absent && found.is_none() && search.find(&seen_text).is_ok_and(|found| found.is_some());
        if is_shown && matches!(seen_text, std::borrow::Cow::Owned(_)) {
            return Err(Row::unknown("pattern", "the log shows it, but with invisible characters inside of it"));
        }
        let open = if self.absent { seen.act.open_end_at(seen.scope.moment) } else { None };
        let searched = Observed::new(found, gap).with_gap(open).search(|found| *found).at("pattern")?;
        let place = |(start, end): (usize, usize)| FilePlace::bytes(&file.path, text, start..end).behind(first);
        if self.absent {
            let row = Row::absent("pattern", searched, |(at, _)| {
                let number = text[..at].matches('\n').count();
                let line = text.lines().nth(number).unwrap_or_default();
                let line = format!("line {}: {}", first + number + 1, shortened(line, 500));
                Mismatch::new("Pattern was present", format!("no line with {pattern}"), line)
            });
            return Ok(row.with_places(found.map(|found| ("found here".to_owned(), place(found)))));
        }
        let close = || closest_line(log.so_far(), &pattern);
        let near = match searched {
            Found::Yes(..) => None,
            Found::No(_) => close().map(|line| {
                ("the closest line is here".to_owned(), FilePlace::line(&file.path, log.so_far(), line.number - 1))
            }),
        };
        let row = Row::present("pattern", searched, || {
            let lines = whole.map_or_else(|| log.so_far().lines().count(), |whole| whole.lines);
            let actual = format!("{} without it", plural(lines, "line"));
            let mismatch = Mismatch::new("Pattern not found", format!("a line with {pattern}"), actual);
            mismatch.near(close().map(CloseLine::near)).accepting_closest()
        });
        Ok(row.found_at("found here", found.map(place)).with_places(near))
    }
}

/// The router's state file names a certain agent.
///
/// ```yaml
/// - type: decision_routed_to
///   state_path: memory/router-state.yaml
///   expected_agent: agents/marketing/brand
/// ```
///
/// The assertion reads the key `selected_agent`, or `agent` if that is empty, and compares the whole string.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-other-names" = ["routing_result"]))]
pub struct DecisionRoutedTo {
    /// YAML or JSON file that the router writes; with wildcards, the first match.
    #[schemars(extend("examples" = ["memory/router-state.yaml"]))]
    #[schemars(extend("x-synonyms" = ["path"]))]
    pub state_path: Artifact,
    /// Id or path of the agent.
    #[schemars(extend("x-shares" = "agents", "examples" = ["agents/marketing/brand"]))]
    #[schemars(extend("x-synonyms" = ["agent"]))]
    pub expected_agent: RunText,
}

impl AssertionType for DecisionRoutedTo {
    const NAME: &'static str = "decision_routed_to";
    const SUBJECT: &'static str = "expected_agent";

    fn says<'d>(node: &LintNode<'d>) -> Vec<Statement<'d>> {
        Statement::value(node, "state_path", "expected_agent").into_iter().collect()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        scope.first_file(&self.state_path, context).map(Need::Files).into_iter().collect()
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let expected = seen.expand("expected_agent", &self.expected_agent)?;
        let (path, file) = seen.existing("state_path", &self.state_path, "State file", Until::TimeLimit)?;
        let (state, proof) = seen.state("state_path", &path, file)?;
        let found = decided(&state);
        if matches!(&found, Some(PythonValue::Text(agent)) if *agent == expected) {
            return Ok(Row::pass("expected_agent", proof));
        }
        let (message, shown) = match &found {
            Some(found) => (format!("Expected {expected}, got {}", found.show()), found.show()),
            None => (format!("Expected {expected}, but `{}` names no agent", file.path), "no agent".to_owned()),
        };
        let mismatch = Mismatch::new(message, expected, shown);
        let mismatch = match found {
            Some(PythonValue::Text(agent)) => mismatch.accepting(agent),
            Some(_) | None => mismatch,
        };
        Ok(Row::fail("expected_agent", proof, mismatch))
    }
}

/// Returns the agent that a routing decision names.
pub(super) fn decided(state: &PythonValue) -> Option<PythonValue> {
    let filled = |key: &str| {
        state.get(key).filter(|value| !matches!(value, PythonValue::Text(text) if text.is_empty())).cloned()
    };
    filled("selected_agent").or_else(|| filled("agent"))
}
