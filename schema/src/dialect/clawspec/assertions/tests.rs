//! Every type on handwritten evidence: it holds, it fails, it does not apply; and nothing passes without
//! evidence, or on partial evidence.

mod damages;
mod explanations;
mod traces;
mod unexpected_forms;

use std::collections::BTreeMap;

use crate::{
    act::Act,
    analysis::Analyzer,
    dialect::clawspec::assertion::Assertion,
    document::{Document, ScalarRules},
    evidence::{
        Answer, Capture, Content, Context, Ended, Evidence, FilesAnswer, LinePlace, LogAnswer, LogFile, LogGap,
        ModelReply, Need, Observation, ObservationTime, Presence, QuestionAnswer, ReadFailure, ResponseAnswer,
        SeenFile, Span, SpanKind, TemplateValues, Tokens, Trace, TraceAnswer,
    },
    files::MemoryFiles,
    json_schema::SpecFile,
    settings::Settings,
    suite::Case,
    verdict::{RelatedPlace, Status, Verdict},
};

const NOON_US: i64 = 1_778_760_000_000_000;

/// Observable state.
#[derive(Clone)]
struct World {
    files: Vec<SeenFile>,
    variables: Vec<(&'static str, Presence)>,
    response: ResponseAnswer,
    trace: TraceAnswer,
    scores: Vec<ModelReply>,
    gaps: Vec<LogGap>,
    waited_ms: Option<u64>,
    /// Whether the files existed unchanged before the run.
    is_old: bool,
}

fn file(path: &str, text: &str) -> SeenFile {
    let text = Capture { text: text.to_owned(), ..Capture::default() };
    SeenFile {
        path: path.to_owned(),
        directory: false,
        modified_us: Some(NOON_US),
        seen_after_ms: 0,
        content: Some(Content::Text(text)),
        searches: Vec::new(),
    }
}

fn span(kind: SpanKind, name: &str, at: i64) -> Span {
    let tokens = (kind == SpanKind::Llm).then_some(Tokens { input: 100, output: 20, total: 120 });
    let (started_us, ended_us) = (Some(NOON_US + at * 1_000_000), Some(NOON_US + (at + 1) * 1_000_000));
    Span { kind, name: name.to_owned(), started_us, ended_us, tokens, ..Span::default() }
}

fn score(value: f64) -> ModelReply {
    ModelReply { text: Capture::whole(format!("{{\"score\": {value}}}")), ..ModelReply::default() }
}

fn trace(spans: Vec<Span>) -> TraceAnswer {
    TraceAnswer::Found(Trace { spans, ..Trace::default() })
}

const LOG: &str = "t run_id=r1 session_started agent=lead\n\
    t run_id=r1 tool=fs.read agent=lead\n\
    t run_id=r1 tool=sessions_spawn agent=lead params.agentId=copy child_run_id=r2\n\
    t run_id=r2 session_started agent=copy\n\
    t run_id=r1 token_usage input=10 output=5 total=15\n\
    t run_id=r1 token_usage input=20 output=5 total=25\n";

fn world() -> World {
    World {
        files: vec![
            file("out/a.md", "# Hook\n\nSpring is here\n\nBody\n----\n\nURGENT news\n"),
            file("state.yaml", "status: ready\ncount: 2\nday: 2026-05-14\nnested: {flag: yes}\n"),
            file("golden.md", "# Hook\n\nSpring is here\n"),
            file("words.yaml", "banned: [guaranteed, limited]\n"),
            file("router.yaml", "selected_agent: agents/brand\n"),
            file("gw.log", LOG),
            file("run.log", "first\napproved by x\ncost [5\n"),
            file("SOUL.md", "# Me\n"),
        ],
        variables: vec![("SET", Presence::Set), ("EMPTY", Presence::Empty), ("ABSENT", Presence::Absent)],
        response: ResponseAnswer {
            status: Some(200),
            body: Capture { text: "{\"ok\": true}".to_owned(), ..Capture::default() },
            error: None,
        },
        trace: trace(vec![
            span(SpanKind::Tool, "write", 3),
            span(SpanKind::Llm, "claude-sonnet-4-6", 0),
            span(SpanKind::Tool, "memory.search", 1),
            span(SpanKind::Subagent, "subagent:copywriter", 2),
        ]),
        scores: vec![score(4.0), score(2.0), score(5.0)],
        gaps: Vec::new(),
        waited_ms: None,
        is_old: false,
    }
}

impl World {
    fn answer(&self, need: &Need) -> Answer {
        match need {
            Need::Files(need) if need.moment == ObservationTime::Before && !self.is_old => {
                Answer::Files(FilesAnswer::default())
            }
            Need::Files(need) => {
                let fits = |path: &str| match need.pattern.split_once('*') {
                    Some((before, after)) if need.wildcards => path.starts_with(before) && path.ends_with(after),
                    _ => path == need.pattern,
                };
                let mut files: Vec<SeenFile> = self.files.iter().filter(|file| fits(&file.path)).cloned().collect();
                files.sort_by(|one, other| one.path.cmp(&other.path));
                let waited_ms = self.waited_ms.unwrap_or(need.wait_ms);
                Answer::Files(FilesAnswer { files, waited_ms, ..FilesAnswer::default() })
            }
            Need::Log(need) => Answer::Log(self.log(need.path.as_deref().unwrap_or("gw.log"))),
            Need::Variables(_) => Answer::Variables(
                self.variables.iter().map(|(name, presence)| ((*name).to_owned(), *presence)).collect(),
            ),
            Need::Response(_) => Answer::Response(self.response.clone()),
            Need::Trace => Answer::Trace(self.trace.clone()),
            Need::Scores(_) => Answer::Question(QuestionAnswer { replies: self.scores.clone() }),
            Need::Path { .. } | Need::Command { .. } | Need::Question(_) => Answer::Nothing("no such need".to_owned()),
        }
    }
}

impl World {
    fn log(&self, path: &str) -> LogAnswer {
        let answer = LogAnswer { path: path.to_owned(), gaps: self.gaps.clone(), ..LogAnswer::default() };
        let file = |unread| vec![LogFile { path: path.to_owned(), unread }];
        match self.files.iter().find(|file| file.path == path) {
            Some(SeenFile { content: Some(Content::Text(lines)), .. }) => {
                let places = (0..lines.text.lines().count()).map(|line| LinePlace { file: 0, line }).collect();
                LogAnswer { files: file(None), places, lines: lines.clone(), ..answer }
            }
            Some(SeenFile { directory: true, .. }) => LogAnswer { files: file(Some(ReadFailure::Directory)), ..answer },
            Some(_) => LogAnswer { files: file(Some(ReadFailure::Failed("denied".to_owned()))), ..answer },
            None => answer,
        }
    }
}

fn context() -> Context {
    let values: BTreeMap<String, String> =
        [("today", "2026-05-14"), ("run_id", "r1"), ("run_started_at", "2026-05-14T12:00:00Z")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
    let templates = TemplateValues { before: values.clone(), after: values, utc_offset_s: Some(0) };
    Context { templates: Some(templates), ..Context::default() }
}

/// Returns a scenario with this assertion under `then`.
fn case(assertion: &str) -> Case {
    let text = format!(
        "version: '1.0'\ntarget: {{type: skill, path: p, trigger: /p}}\nscenarios:\n  - name: s\n    when: {{invoke: /p}}\n    then:\n      - {assertion}\n"
    );
    let document = Document::read(&text, ScalarRules::Yaml11);
    let settings =
        "model_pricing:\n  claude-sonnet-4-6: {input_per_1k: 1, output_per_1k: 2}\ngateway_log_pattern: gw.log\n";
    let files = MemoryFiles::new("/work", [("clawspec.yaml", settings)]);
    let analysis = Analyzer::new(SpecFile::CLAWSPEC_SCENARIOS).analyze(&document, &files, &Settings::default());
    let case = analysis.suite.cases[0].as_ref().clone();
    // The other claims are the reasons why an invalid case cannot pass.
    assert!(case.claims.len() == 1 || !case.intact, "{assertion}");
    case
}

fn judge(assertion: &str, world: &World) -> Verdict {
    let case = case(assertion);
    let check = &case.claims[0].check;
    let observations =
        check.needs(&context()).into_iter().map(|need| Observation { answer: world.answer(&need), need }).collect();
    let ended = Some(Ended::Log);
    let evidence = Evidence { context: context(), observations, ended, ..Evidence::default() };
    let mut verdicts = check.check(Act::of(&evidence));
    assert_eq!(verdicts.len(), 1);
    verdicts.remove(0)
}

#[track_caller]
fn check(assertion: &str, world: &World, expected: Status, words: &str) {
    let verdict = judge(assertion, world);
    let message = verdict.outcome.message();
    assert_eq!(verdict.outcome.status(), expected, "{assertion}: {message}");
    assert!(message.contains(words), "{assertion}: {message}");
}

#[test]
fn file_that_nobody_wrote_since_the_run_began_is_not_of_the_run_however_new_it_is() {
    let old = World { is_old: true, ..world() };
    let of_the_run = "{type: artifact_exists, path: out/a.md, updated_after: '{{run_started_at}}'}";
    check(of_the_run, &world(), Status::Pass, "");
    check(of_the_run, &old, Status::Fail, "not found");
    check("{type: artifact_exists, path: out/a.md, updated_after: '2026-05-14T11:00:00Z'}", &old, Status::Pass, "");
    check("{type: artifact_exists, path: out/a.md}", &old, Status::Pass, "");
}

/// Assertion, status, part of the message.
const ANSWERS: &[(&str, Status, &str)] = &[
    ("{type: file_present, path: out/a.md}", Status::Pass, ""),
    ("{type: file_present, path: out/none.md}", Status::Fail, "File not found: out/none.md"),
    ("{type: file_present, path: 'out/*.md'}", Status::Fail, "File not found"),
    ("{type: file_absent, path: out/none.md}", Status::Pass, ""),
    ("{type: file_absent, path: out/a.md}", Status::Fail, "File exists: out/a.md"),
    ("{type: gateway_healthy}", Status::Pass, ""),
    ("{type: env_present, vars: [SET]}", Status::Pass, ""),
    ("{type: env_present, vars: [SET, EMPTY, ABSENT]}", Status::Fail, "EMPTY, ABSENT"),
    ("{type: artifact_exists, path: 'out/*.md'}", Status::Pass, ""),
    ("{type: artifact_exists, path: out/none.md, timeout: 2}", Status::Fail, "before timeout"),
    ("{type: artifact_exists, path: out/a.md, updated_after: '{{run_started_at}}'}", Status::Pass, ""),
    ("{type: artifact_exists, path: out/a.md, updated_after: '2026-05-14T12:00:01Z'}", Status::Fail, "not found"),
    ("{type: artifact_exists, path: out/a.md, updated_after: soon}", Status::Error, "soon"),
    ("{type: artifact_contains, path: out/a.md, sections: [hook, BODY]}", Status::Pass, ""),
    (
        "{type: artifact_contains, path: out/a.md, sections: [Hok, Spring]}",
        Status::Fail,
        "missing sections: Hok, Spring",
    ),
    ("{type: artifact_contains, path: state.yaml, fields: [status, nested.flag]}", Status::Pass, ""),
    ("{type: artifact_contains, path: state.yaml, fields: [nested.none]}", Status::Fail, "missing fields: nested.none"),
    ("{type: artifact_absent_words, path: out/a.md, words: [guaranteed]}", Status::Pass, ""),
    ("{type: artifact_absent_words, path: out/a.md, words: [x, urgent]}", Status::Fail, "urgent"),
    ("{type: artifact_absent_words, path: out/a.md, source: words.yaml, key: banned}", Status::Pass, ""),
    ("{type: artifact_absent_words, path: out/a.md, source: words.yaml, key: none}", Status::Error, "none"),
    ("{type: artifact_absent_words, path: out/a.md, source: none.yaml, key: k}", Status::Error, "none.yaml"),
    ("{type: artifact_matches_golden, path: golden.md, golden: golden.md}", Status::Pass, ""),
    ("{type: artifact_matches_golden, path: run.log, golden: golden.md}", Status::Fail, "below threshold 0.700"),
    ("{type: artifact_matches_golden, path: out/a.md, golden: none.md}", Status::Fail, "Golden file not found"),
    ("{type: state_file, path: state.yaml, expected_status: ready, expected_fields: {count: 2.0}}", Status::Pass, ""),
    ("{type: state_file, path: state.yaml, expected_status: done}", Status::Fail, "Expected status done, got ready"),
    ("{type: state_file, path: state.yaml, expected_fields: {count: '2'}}", Status::Fail, "Expected count=2, got 2"),
    ("{type: state_file, path: state.yaml, expected_fields: {day: 2026-05-14, nested.flag: true}}", Status::Pass, ""),
    ("{type: state_file, state_path: none.yaml}", Status::Fail, "State file not found"),
    ("{type: gateway_response, endpoint: 'http://x', expected_status: 200}", Status::Pass, ""),
    ("{type: gateway_response, endpoint: 'http://x', expected_status: 404}", Status::Fail, "Expected 404, got 200"),
    ("{type: gateway_response, endpoint: 'http://x', expected_status: 200, expected_body: nope}", Status::Fail, "nope"),
    ("{type: log_entry, path: run.log, pattern: '^approved by \\w$'}", Status::Pass, ""),
    ("{type: log_entry, path: run.log, pattern: 'cost [5'}", Status::Pass, ""),
    ("{type: log_entry, path: run.log, pattern: refused}", Status::Fail, "Pattern not found"),
    ("{type: log_entry, path: run.log, pattern: approved, absent: true}", Status::Fail, "Pattern was present"),
    ("{type: log_entry, path: none.log, pattern: x, absent: true}", Status::Fail, "Log file not found"),
    ("{type: decision_routed_to, state_path: router.yaml, expected_agent: agents/brand}", Status::Pass, ""),
    ("{type: decision_routed_to, state_path: router.yaml, expected_agent: brand}", Status::Fail, "got agents/brand"),
    ("{type: tool_was_called, tool: fs.read, log_path: gw.log, run_id: '{{run_id}}'}", Status::Pass, ""),
    ("{type: tool_was_called, tool: fs.read}", Status::Pass, ""),
    ("{type: tool_was_called, tool: fs.write}", Status::Fail, "Tool not called: fs.write"),
    ("{type: tool_not_called, tool: fs.write}", Status::Pass, ""),
    ("{type: tool_not_called, tool: fs.read}", Status::Fail, "Tool was called: fs.read"),
    ("{type: tool_not_called, tool: fs.read, log_path: none.log}", Status::Unknown, "does not exist"),
    ("{type: tool_not_called, tool: fs.read, run_id: r9}", Status::Unknown, "r9"),
    ("{type: delegation_occurred, to_agent: copy}", Status::Pass, ""),
    ("{type: delegation_occurred, to_agent: brand}", Status::Fail, "No matching sessions_spawn call"),
    ("{type: tool_not_permitted, allowed_tools: [fs.read, sessions_spawn]}", Status::Pass, ""),
    ("{type: tool_not_permitted, allowed_tools: []}", Status::Fail, "fs.read, sessions_spawn"),
    ("{type: tool_not_permitted, allowed_tools: [x], log_path: none.log}", Status::Unknown, "does not exist"),
    ("{type: token_budget, max_total_tokens: 40}", Status::Pass, ""),
    ("{type: token_budget, max_total_tokens: 39}", Status::Fail, "total tokens 40 exceeded budget 39"),
    ("{type: token_budget, max_total_tokens: 39, run_id: r2}", Status::Skip, "no token counts"),
    ("{type: llm_call_count, min: 1, max: 1}", Status::Pass, ""),
    ("{type: llm_call_count, min: 2}", Status::Fail, "fewer than min 2"),
    ("{type: llm_call_count, max: 0}", Status::Fail, "more than max 0"),
    ("{type: tool_sequence, expected: [memory.search, write]}", Status::Pass, ""),
    ("{type: tool_sequence, expected: [write, memory.search]}", Status::Fail, "`memory.search` (position 1)"),
    ("{type: tool_sequence, mode: strict, expected: [memory.search, write]}", Status::Pass, ""),
    ("{type: tool_sequence, mode: strict, expected: [write]}", Status::Fail, "exactly"),
    ("{type: tool_sequence, mode: contains, expected: [write, memory.search]}", Status::Pass, ""),
    ("{type: tool_sequence, mode: contains, expected: [send]}", Status::Fail, "send"),
    ("{type: model_used, expected: sonnet}", Status::Pass, ""),
    ("{type: model_used, expected: opus}", Status::Fail, "opus"),
    ("{type: model_used, not_expected: opus}", Status::Pass, ""),
    ("{type: model_used, not_expected: sonnet}", Status::Fail, "prohibited"),
    ("{type: delegation_path, expected: [copywriter]}", Status::Pass, ""),
    ("{type: delegation_path, expected: [copywriter, brand]}", Status::Fail, "position 1"),
    ("{type: per_span_budget, max_tokens: 120}", Status::Pass, ""),
    ("{type: per_span_budget, max_tokens: 119}", Status::Fail, "119"),
    ("{type: trace_token_budget, max_input_tokens: 100}", Status::Pass, ""),
    (
        "{type: trace_token_budget, max_input_tokens: 99, max_output_tokens: 19}",
        Status::Fail,
        "; output tokens 20 > max 19",
    ),
    ("{type: trace_duration, max_ms: 4000}", Status::Pass, ""),
    ("{type: trace_duration, max_ms: 3999}", Status::Fail, "4000ms > max 3999ms"),
    ("{type: trace_cost, max_usd: 0.14}", Status::Pass, ""),
    ("{type: trace_cost, max_usd: 0.13}", Status::Fail, "about $0.1400"),
    ("{type: no_span_errors}", Status::Pass, ""),
    ("{type: tool_not_invoked, tool: send}", Status::Pass, ""),
    ("{type: tool_not_invoked, tool: write}", Status::Fail, "write"),
    ("{type: llm_judge, path: out/a.md, rubric: r}", Status::Pass, ""),
    ("{type: llm_judge, path: out/a.md, rubric: r, pass_threshold: 4.5}", Status::Fail, "4.00 below threshold 4.50"),
    ("{type: llm_judge, path: out/a.md, rubric: r, consistency: true}", Status::Fail, "2 of 3"),
    ("{type: llm_judge, path: out/a.md, rubric: r, consistency: {runs: 3, min_passes: 2}}", Status::Pass, ""),
    ("{type: llm_judge, path: out/a.md, rubric: r, section: None}", Status::Fail, "no section"),
    ("{type: llm_judge, path: out/none.md, rubric: r}", Status::Fail, "Artifact not found"),
    ("{type: agent_identity_consistent, output_path: out/a.md, soul_path: SOUL.md}", Status::Pass, ""),
    ("{type: agent_identity_consistent, output_path: out/a.md, soul_path: none.md}", Status::Fail, "Missing"),
    ("{type: slack_message_sent}", Status::Error, "nothing defines what it checks"),
    ("{type: email_received}", Status::Error, "nothing defines what it checks"),
];

#[test]
fn every_type_answers() {
    let world = world();
    for (assertion, status, words) in ANSWERS {
        check(assertion, &world, *status, words);
    }
    for info in Assertion::TYPES {
        let told = |status: Status| {
            ANSWERS.iter().any(|(text, found, _)| *found == status && text.contains(&format!("type: {},", info.name)))
        };
        let bare = ["gateway_healthy", "no_span_errors", "slack_message_sent", "email_received"];
        assert!(bare.contains(&info.name) || told(Status::Pass) && told(Status::Fail), "{} is not tested", info.name);
    }
}

#[test]
fn nothing_passes_without_evidence() {
    for (assertion, status, _) in ANSWERS.iter().filter(|(_, status, _)| *status == Status::Pass) {
        let case = case(assertion);
        let check = &case.claims[0].check;
        // No evidence, only the context, and all evidence refused.
        let refused: Vec<Observation> = check
            .needs(&context())
            .into_iter()
            .map(|need| Observation { need, answer: Answer::Nothing("not today".to_owned()) })
            .collect();
        assert!(!refused.is_empty(), "{assertion} needs nothing, and holds all the same");
        for evidence in [
            Evidence::default(),
            Evidence { context: context(), ..Evidence::default() },
            Evidence { context: context(), observations: refused, ..Evidence::default() },
        ] {
            let found = check.check(Act::of(&evidence))[0].outcome.status();
            assert_eq!((found, *status), (Status::Unknown, Status::Pass), "{assertion}");
        }
    }
}

/// Masked parts of an answer match nothing, but they and the text after them could be the expected text.
#[test]
fn masked_body_is_neither_match_nor_mismatch() {
    let world = |masked: Vec<(usize, usize)>| {
        let body = Capture { text: "token ******, *** ok".to_owned(), masked, ..Capture::default() };
        World { response: ResponseAnswer { status: Some(200), body, error: None }, ..world() }
    };
    let claim = |body: &str| {
        format!("{{type: gateway_response, endpoint: 'http://x', expected_status: 200, expected_body: '{body}'}}")
    };
    let (plain, masked) = (world(Vec::new()), world(vec![(6, 12)]));
    check(&claim("****"), &plain, Status::Pass, "");
    check(&claim("****"), &masked, Status::Unknown, "masked");
    check(&claim("*** ok"), &masked, Status::Pass, "");
    check(&claim("sk-1"), &plain, Status::Fail, "sk-1");
    check(&claim("sk-1"), &masked, Status::Unknown, "could change the result");
}

/// A truncated or masked part could decide, so neither absence nor equality is certain.
#[test]
fn part_of_the_evidence_is_not_enough() {
    let mut cut = world();
    for file in &mut cut.files {
        if let Some(Content::Text(text)) = &mut file.content {
            text.cut = true;
        }
    }
    let mut masked = world();
    for file in &mut masked.files {
        if let Some(Content::Text(text)) = &mut file.content {
            text.masked = vec![(0, 1)];
        }
    }
    for world in [&cut, &masked] {
        for assertion in [
            "{type: artifact_absent_words, path: out/a.md, words: [guaranteed]}",
            "{type: artifact_contains, path: out/a.md, sections: [Late]}",
            "{type: state_file, path: state.yaml, expected_status: ready}",
            "{type: log_entry, path: run.log, pattern: refused, absent: true}",
            "{type: tool_not_called, tool: fs.write}",
            "{type: tool_was_called, tool: fs.write}",
            "{type: token_budget, max_total_tokens: 40}",
            "{type: artifact_matches_golden, path: golden.md, golden: golden.md}",
        ] {
            check(assertion, world, Status::Unknown, "could change the result");
        }
    }
    let TraceAnswer::Found(whole) = world().trace else { unreachable!("the trace is there") };
    let traced = World { trace: TraceAnswer::Found(Trace { cut: true, ..whole }), ..world() };
    for assertion in [
        "{type: no_span_errors}",
        "{type: tool_not_invoked, tool: send}",
        "{type: llm_call_count, max: 3}",
        "{type: model_used, not_expected: opus}",
        "{type: per_span_budget, max_tokens: 120}",
        "{type: trace_duration, max_ms: 4000}",
        "{type: trace_cost, max_usd: 1}",
        "{type: tool_sequence, mode: strict, expected: [memory.search, write]}",
    ] {
        check(assertion, &traced, Status::Unknown, "parts of the trace");
    }
}

#[test]
fn too_few_scores_are_not_said_to_be_below_the_threshold() {
    let scored = |scores: &[f64]| World { scores: scores.iter().copied().map(score).collect(), ..world() };
    let assertion =
        |consistency: &str| format!("{{type: llm_judge, path: out/a.md, rubric: r, consistency: {consistency}}}");
    for (consistency, scores, message) in [
        ("{runs: 1, min_passes: 2}", &[4.0][..], "1 of 1 score meets the threshold 3.00, but 2 must"),
        ("{runs: 3, min_passes: 3}", &[5.0, 5.0, 2.0], "2 of 3 scores meet the threshold 3.00, but 3 must"),
        (
            "{runs: 2, min_passes: 2}",
            &[3.0, 1.0],
            "Judge score 2.00 below threshold 3.00: 1 of 2 scores meet it, but 2 must",
        ),
    ] {
        let verdict = judge(&assertion(consistency), &scored(scores));
        assert_eq!((verdict.outcome.status(), verdict.outcome.message()), (Status::Fail, message));
    }
}

fn with_file(path: &str, text: &str) -> World {
    let mut world = world();
    world.files.push(file(path, text));
    world
}

#[test]
fn values_of_a_state_file_are_compared_exactly_as_in_python() {
    let id = "tweet_id: 1234567890123456788\n";
    let fields = |fields: &str| format!("{{type: state_file, path: s.yaml, expected_fields: {fields}}}");
    for (text, expected, status) in [
        (id, "{tweet_id: 1234567890123456788}", Status::Pass),
        (id, "{tweet_id: 1234567890123456789}", Status::Fail),
        ("n: 12345678901234567890\n", "{n: 12345678901234567891}", Status::Fail),
        ("k: {1: one}\n", "{k: {\"1\": one}}", Status::Fail),
        ("k: {1: one}\n", "{k: {1: one}}", Status::Pass),
        ("a: 1\na: 2\n", "{a: 2}", Status::Pass),
        ("a: 1\na: 2\n", "{a: 1}", Status::Fail),
        ("a: !foo 1\n", "{a: 1}", Status::Error),
        ("a: 1\n", "{a: !foo 1}", Status::Error),
    ] {
        check(&fields(expected), &with_file("s.yaml", text), status, "");
    }
    let json = with_file("s.json", "{\"n\": 12345678901234567890}");
    check("{type: state_file, path: s.json, expected_fields: {n: 12345678901234567890}}", &json, Status::Pass, "");
    check("{type: state_file, path: s.json, expected_fields: {n: 12345678901234567891}}", &json, Status::Fail, "");
    let words = "{type: artifact_absent_words, path: t.md, words: [12345678901234567890]}";
    check(words, &with_file("t.md", "id 12345678901234567890\n"), Status::Fail, "12345678901234567890");
}

#[test]
fn line_ends_of_windows_change_no_result() {
    let log = with_file("crlf.log", "start\r\nERROR\r\ndone\r\n");
    check("{type: log_entry, path: crlf.log, pattern: '^ERROR$', absent: true}", &log, Status::Fail, "was present");
    check("{type: log_entry, path: crlf.log, pattern: '^done$'}", &log, Status::Pass, "");
    let text = with_file("t.md", "a limited\r\ntime\r\n");
    let words = "{type: artifact_absent_words, path: t.md, words: [\"limited\\ntime\"]}";
    check(words, &text, Status::Fail, "limited");
}

#[test]
fn log_of_a_pattern_is_named_by_the_file_that_was_read() {
    let LogAnswer { files, lines, places, .. } = world().log("gw.log");
    let answer = LogAnswer { path: "logs/gw-{date}.log".to_owned(), files, lines, places, ..LogAnswer::default() };
    let verdict = |answer: LogAnswer| {
        let case = case("{type: tool_not_called, tool: x, run_id: nope}");
        let check = &case.claims[0].check;
        let observe = |need| Observation { answer: Answer::Log(answer.clone()), need };
        let observations = check.needs(&context()).into_iter().map(observe).collect();
        let ended = Some(Ended::Log);
        check.check(Act::of(&Evidence { context: context(), observations, ended, ..Evidence::default() }))[0]
            .outcome
            .message()
            .to_owned()
    };
    assert_eq!(verdict(answer.clone()), "the log `gw.log` does not mention run `nope`");
    let both = LogAnswer { files: [answer.files.clone(), answer.files.clone()].concat(), ..answer.clone() };
    assert_eq!(verdict(both), "the logs `gw.log`, `gw.log` do not mention run `nope`");
    let none = LogAnswer { files: Vec::new(), ..answer };
    assert_eq!(verdict(none), "no log matches `logs/gw-{date}.log`, so it is unknown what the run did");
}

#[test]
fn a_gateway_that_fails_is_named() {
    let down =
        ResponseAnswer { status: None, error: Some("connection refused".to_owned()), ..ResponseAnswer::default() };
    check("{type: gateway_healthy}", &World { response: down, ..world() }, Status::Fail, "connection refused");
    let sick = ResponseAnswer { status: Some(503), ..ResponseAnswer::default() };
    check("{type: gateway_healthy}", &World { response: sick, ..world() }, Status::Fail, "Gateway returned 503");
}

#[test]
fn answer_of_a_judge_that_is_missing_is_unknown_only_where_it_could_turn_the_result() {
    let failed = || ModelReply { error: Some("timed out".to_owned()), ..ModelReply::default() };
    let garbage = || ModelReply { text: Capture::whole("I would say 5"), ..ModelReply::default() };
    let one = "{type: llm_judge, path: out/a.md, rubric: r}";
    let all = "{type: llm_judge, path: out/a.md, rubric: r, consistency: true}";
    let two = "{type: llm_judge, path: out/a.md, rubric: r, consistency: {runs: 3, min_passes: 2}}";
    for (claim, scores, status, message) in [
        (one, vec![failed()], Status::Unknown, "timed out"),
        (one, vec![garbage()], Status::Unknown, "not contain a JSON object"),
        (one, Vec::new(), Status::Unknown, "fewer times"),
        (all, vec![score(5.0)], Status::Unknown, "fewer times"),
        (all, vec![score(5.0), failed(), score(5.0)], Status::Unknown, "timed out"),
        (all, vec![score(5.0), failed(), score(1.0)], Status::Fail, "1 of 2 scores"),
        (two, vec![score(5.0), failed(), score(4.0)], Status::Pass, ""),
        (two, vec![score(1.0), failed(), score(4.0)], Status::Unknown, "timed out"),
    ] {
        check(claim, &World { scores, ..world() }, status, message);
    }
}

/// A longer wait than the recorded one is undecidable after the recorded time.
#[test]
fn waits_are_judged_by_the_times_that_were_recorded() {
    let late = SeenFile { seen_after_ms: 3_000, ..file("out/late.md", "") };
    let mut world = World { waited_ms: Some(4_000), ..world() };
    world.files.push(late);
    check("{type: artifact_exists, path: out/late.md, timeout: 3}", &world, Status::Pass, "");
    check("{type: artifact_exists, path: out/late.md, timeout: 2}", &world, Status::Fail, "before timeout");
    check("{type: artifact_exists, path: out/none.md, timeout: 9}", &world, Status::Unknown, "for 4 s instead of 9 s");
}

/// Of several matches, the newest is read; if they are equally new, the last one by path.
#[test]
fn the_newest_match_is_read() {
    let mut world = world();
    world.files = vec![file("out/a.md", "# Alpha\n"), file("out/b.md", "# Beta\n")];
    check("{type: artifact_contains, path: 'out/*.md', sections: [beta]}", &world, Status::Pass, "");
    world.files[0].modified_us = Some(NOON_US + 1);
    check("{type: artifact_contains, path: 'out/*.md', sections: [beta]}", &world, Status::Fail, "beta");
    world.files[0].modified_us = None;
    check(
        "{type: artifact_contains, path: 'out/*.md', sections: [beta]}",
        &world,
        Status::Unknown,
        "the \
        modification times",
    );
}
