//! The claims of pipelines and of baselines on handwritten evidence: they hold, they fail, they do not
//! apply; and nothing passes without evidence.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    act::Act,
    analysis::Analyzer,
    dialect::clawspec::{
        regression::Measuring,
        scope::{Scope, Scoring},
    },
    document::{Document, ScalarRules},
    evidence::{
        Answer, Capture, Context, Ended, Evidence, FilesAnswer, LinePlace, LogAnswer, LogFile, Need, Observation,
        ObservationTime, SeenFile, Span, SpanKind, TemplateValues, Tokens, Trace, TraceAnswer, Usage,
    },
    files::MemoryFiles,
    gateway::config::Config,
    json_schema::SpecFile,
    settings::Settings,
    suite::{Case, Phase},
    verdict::{Check, Status},
};

const HANDOFF: &str = "version: '1.0'\nhandoff: {from: lead, to: copy, mechanism: sessions_spawn}\ncaller_provides: {}\n\
    callee_produces:\n  required_artifacts: [{path_pattern: out/copy.md, description: it}]\nassertions:\n  \
    post_delegation:\n    - {type: file_present, path: 'out/copy.md'}\n    - {type: file_absent, path: 'out/{{run_id}}.lock'}\n";

const PIPELINE: &str = "version: '1.0'\npipeline: {name: p, skill_path: skills/demo, trigger: /p, stages: 3}\nstages:\n  \
    - {name: plan, produces: 'out/*-plan.md'}\n  \
    - {name: copy, produces: out/copy.md, handoff_contract: tests/handoffs/h.yaml}\n  \
    - {name: send, produces: out/sent.md, requires_approval: true}\npipeline_health:\n  \
    - {description: files, check: count(produced_artifacts) == count(stages_with_produces)}\n  \
    - {description: handoffs, check: all handoff contracts passed}\n  \
    - {description: fast, check: ELAPSED<=1M}\n  - {description: odd, check: all is well}\n";

fn case(file: SpecFile, place: &'static str, text: &str, others: &[(&'static str, &'static str)]) -> Case {
    let files = MemoryFiles::new("/work", others.iter().copied()).at(place);
    let document = Document::read(text, ScalarRules::Yaml11);
    let suite = Analyzer::new(file).analyze(&document, &files, &Settings::default()).suite;
    Case::clone(&suite.cases[0])
}

fn pipeline(text: &str) -> Case {
    let others = [("skills/demo/SKILL.md", "# Demo\n"), ("skills/demo/tests/handoffs/h.yaml", HANDOFF)];
    case(SpecFile::CLAWSPEC_PIPELINE, "skills/demo/tests/pipeline.yaml", text, &others)
}

fn context() -> Context {
    let values: BTreeMap<String, String> = [("run_id".to_owned(), "r1".to_owned())].into();
    let templates = TemplateValues { before: values.clone(), after: values, utc_offset_s: Some(0) };
    Context { templates: Some(templates), ..Context::default() }
}

/// Returns the evidence if these files exist.
fn evidence(case: &Case, files: &[&str]) -> Evidence {
    let context = context();
    let needs = case.claims.iter().flat_map(|claim| claim.check.needs(&context));
    let observations = needs
        .map(|need| {
            let Need::Files(asked) = &need else { panic!("{need:?}") };
            let fits = |path: &&&str| match asked.pattern.split_once('*') {
                Some((before, after)) => path.starts_with(before) && path.ends_with(after),
                None => **path == asked.pattern,
            };
            let seen = |path: &&str| SeenFile { path: (*path).to_owned(), ..SeenFile::default() };
            let files = files.iter().filter(fits).map(seen).collect();
            Observation { answer: Answer::Files(FilesAnswer { files, ..FilesAnswer::default() }), need }
        })
        .collect();
    Evidence { context, observations, ended: Some(Ended::Answer), duration_ms: Some(60_999.0), ..Evidence::default() }
}

fn verdict_lines(case: &Case, evidence: &Evidence) -> Vec<String> {
    let verdicts =
        case.claims.iter().flat_map(|claim| claim.check.check(Act::of(evidence)).into_iter().map(|it| (&claim.at, it)));
    verdicts
        .map(|(at, verdict)| {
            format!(
                "{at}{} {}: {} {}",
                verdict.at,
                verdict.label,
                verdict.outcome.status().as_str(),
                verdict.outcome.message()
            )
            .trim_end()
            .to_owned()
        })
        .collect()
}

#[test]
fn stages_handoffs_and_health_are_claims() {
    let case = pipeline(PIPELINE);
    assert_eq!(
        verdict_lines(&case, &evidence(&case, &["out/1-plan.md", "out/copy.md", "out/sent.md"])),
        [
            "/stages/0/produces stage_produced plan: pass",
            "/stages/1/produces stage_produced copy: pass",
            "/stages/1/handoff_contract copy: file_present out/copy.md: pass",
            "/stages/1/handoff_contract copy: file_absent out/{{run_id}}.lock: pass",
            "/stages/2/produces stage_produced send: pass",
            "/pipeline_health/0/check pipeline_health:files: pass",
            "/pipeline_health/1/check pipeline_health:handoffs: pass",
            "/pipeline_health/2/check pipeline_health:fast: pass",
            "/pipeline_health/3/check pipeline_health:odd: error Unsupported pipeline health expression: all is well",
            "/pipeline_health/3/check Invalid part: unknown part of this test is invalid: `all is \
             well` is not a supported health check",
        ]
    );
    // A stage without its file has no handoff.
    assert_eq!(
        verdict_lines(&case, &evidence(&case, &["out/copy.md", "out/r1.lock"])),
        [
            "/stages/0/produces stage_produced plan: fail stage `plan` did not produce `out/*-plan.md`",
            "/stages/1/produces stage_produced copy: pass",
            "/stages/1/handoff_contract copy: file_present out/copy.md: pass",
            "/stages/1/handoff_contract copy: file_absent out/{{run_id}}.lock: fail File exists: out/r1.lock",
            "/stages/2/produces stage_produced send: skip `send` requires approval, and did not produce `out/sent.md`",
            "/pipeline_health/0/check pipeline_health:files: fail stages without their file: plan, send",
            "/pipeline_health/1/check pipeline_health:handoffs: fail handoff contracts that do not hold: copy",
            "/pipeline_health/2/check pipeline_health:fast: pass",
            "/pipeline_health/3/check pipeline_health:odd: error Unsupported pipeline health expression: all is well",
            "/pipeline_health/3/check Invalid part: unknown part of this test is invalid: `all is \
             well` is not a supported health check",
        ]
    );
    let none = Evidence { duration_ms: Some(61_000.0), ..evidence(&case, &[]) };
    let verdict_lines = verdict_lines(&case, &none);
    assert!(verdict_lines[2].contains("skip the stage did not produce `out/copy.md`"), "{verdict_lines:?}");
    assert!(verdict_lines[5].contains("unknown the results of these handoffs are unknown: copy"), "{verdict_lines:?}");
    assert!(verdict_lines[6].contains("fail the run took 61 s, more than 60 s"), "{verdict_lines:?}");
}

/// Returns the verdicts of a handoff from `lead` to `copy` that forbids `mail.send`, judged by the log of run `r1`.
fn handoff_verdicts(assertions: &str, log: &str) -> Vec<String> {
    let text = format!(
        "version: '1.0'\nhandoff: {{from: lead, to: copy, mechanism: sessions_spawn}}\ncaller_provides: {{}}\n\
         callee_produces:\n  required_artifacts: [{{path_pattern: out/copy.md, description: it}}]\n  \
         prohibited_actions: [{{tool: mail.send, reason: never}}]\n{assertions}"
    );
    let case = case(SpecFile::CLAWSPEC_HANDOFF, "skills/demo/tests/handoffs/h.yaml", &text, &[]);
    let observe = |need: Need| {
        let answer = match &need {
            Need::Log(need) => {
                assert_eq!(need.run, "r1", "the log of the caller contains the run of the callee");
                log_answer(log)
            }
            _ => Answer::Files(FilesAnswer { files: vec![SeenFile::default()], ..FilesAnswer::default() }),
        };
        Observation { need, answer }
    };
    let needs = case.claims.iter().flat_map(|claim| claim.check.needs(&context()));
    let observations = needs.map(observe).collect();
    let evidence = Evidence { context: context(), observations, ended: Some(Ended::Answer), ..Evidence::default() };
    verdict_lines(&case, &evidence)
}

/// Returns the verdict about the tool that the callee must not call.
#[track_caller]
fn check_prohibited(log: &str, expected: &str) {
    let lines = handoff_verdicts("", log);
    let judged = lines.last().and_then(|line| line.split_once(" tool_not_called mail.send: "));
    assert_eq!(judged.map(|(_, judged)| judged), Some(expected), "{lines:?}");
}

const DELEGATION: &str = "t run_id=r1 tool=sessions_spawn agent=lead params.agentId=copy child_run_id=r2\n\
    t run_id=r2 session_started agent=copy\n";

#[test]
fn prohibited_action_is_judged_by_the_run_of_the_callee() {
    let call = |run: &str, agent: &str| format!("{DELEGATION}t run_id={run} tool=mail.send agent={agent}\n");
    check_prohibited(DELEGATION, "pass");
    check_prohibited(&call("r2", "copy"), "fail Tool was called: mail.send");
    check_prohibited(&call("r1", "lead"), "pass");
    check_prohibited(&call("r9", "copy"), "pass");
    // Every run of the callee counts, and only those of this handoff.
    let again = "t run_id=r1 tool=sessions_spawn agent=lead params.agentId=copy child_run_id=r3\n";
    check_prohibited(&format!("{}{again}", call("r3", "copy")), "fail Tool was called: mail.send");
    let other = "t run_id=r1 tool=sessions_spawn agent=lead params.agentId=editor child_run_id=r4\n\
        t run_id=r4 session_started agent=editor\n\
        t run_id=r4 tool=sessions_spawn agent=editor params.agentId=copy child_run_id=r5\n";
    check_prohibited(&format!("{}{other}", call("r5", "copy")), "pass");
    // The caller may itself be an agent that the run started.
    let below = "t run_id=r1 tool=sessions_spawn agent=main params.agentId=lead child_run_id=r6\n\
        t run_id=r6 session_started agent=lead\n\
        t run_id=r6 tool=sessions_spawn agent=lead params.agentId=copy child_run_id=r7\n\
        t run_id=r7 tool=mail.send agent=copy\n";
    check_prohibited(below, "fail Tool was called: mail.send");
}

#[test]
fn prohibited_action_is_unknown_without_the_run_of_the_callee() {
    let started = "t run_id=r1 session_started agent=lead\n";
    check_prohibited(
        started,
        "unknown the log `gw.log` does not contain a delegation to `copy`, so its run is unknown",
    );
    let unnamed = "t run_id=r1 tool=sessions_spawn agent=lead params.agentId=copy\n";
    check_prohibited(
        unnamed,
        "unknown the log `gw.log` does not contain the id of a run of `copy`, so its run is unknown",
    );
    check_prohibited(
        &format!("{DELEGATION}{unnamed}"),
        "unknown the log does not contain the id of every run of the callee, and the other runs could change the result",
    );
    let silent = DELEGATION.lines().next().unwrap();
    check_prohibited(silent, "unknown the log `gw.log` does not mention the run of `copy`, `r2`");
    check_prohibited("", "unknown the log `gw.log` does not contain a delegation to `copy`, so its run is unknown");
}

#[test]
fn run_of_the_callee_has_a_value_only_in_a_run_id() {
    let assertions = "assertions:\n  post_delegation:\n    \
        - {type: tool_was_called, tool: web.fetch, run_id: '{{ callee_run_id }}'}\n    \
        - {type: file_absent, path: 'out/{{callee_run_id}}.lock'}\n";
    let log = format!("{DELEGATION}t run_id=r2 tool=web.fetch agent=copy\n");
    assert_eq!(
        handoff_verdicts(assertions, &log),
        [
            "/assertions/post_delegation/0/tool tool_was_called web.fetch: pass",
            "/assertions/post_delegation/1/path file_absent out/{{callee_run_id}}.lock: unknown `{{callee_run_id}}` \
             has a value only if it is the entire `run_id` of an assertion about the log",
        ]
    );
}

#[test]
fn callee_of_an_openclaw_gateway_is_found_by_its_session() {
    let log =
        include_str!("../../gateway/log/tests/openclaw.jsonl").replace("5f469be8-47c7-4000-8944-cb84d06dc022", "r1");
    check_prohibited(&log, "pass");
    check_prohibited(&log.replace(" tool=read ", " tool=mail.send "), "fail Tool was called: mail.send");
}

#[test]
fn nothing_of_a_pipeline_passes_without_evidence() {
    let case = pipeline(PIPELINE);
    let refused = Evidence {
        duration_ms: None,
        observations: evidence(&case, &[])
            .observations
            .into_iter()
            .map(|it| Observation { answer: Answer::Nothing("not today".to_owned()), ..it })
            .collect(),
        ..evidence(&case, &[])
    };
    for evidence in [Evidence::default(), Evidence { context: context(), ..Evidence::default() }, refused] {
        for claim in &case.claims {
            for verdict in claim.check.check(Act::of(&evidence)) {
                let expected = if verdict.label.ends_with("odd") { Status::Error } else { Status::Unknown };
                assert_eq!(verdict.outcome.status(), expected, "{verdict:?}");
            }
        }
    }
}

#[test]
fn a_health_check_about_nothing_and_a_broken_contract_are_no_pass() {
    let text = PIPELINE.replace("handoffs/h.yaml", "handoffs/none.yaml");
    let case = pipeline(&text);
    let verdict_lines = verdict_lines(&case, &evidence(&case, &["out/copy.md"]));
    assert!(
        verdict_lines[2].contains("handoffs/none.yaml: error `skills/demo/tests/handoffs/none.yaml` cannot be read"),
        "{verdict_lines:?}"
    );
    let bare = "version: '1.0'\npipeline: {name: p, skill_path: skills/demo, trigger: /p, stages: 1}\nstages: [{name: a}]\n\
        pipeline_health:\n  - {description: a, check: count(produced_artifacts) == count(stages_with_produces)}\n  \
        - {description: b, check: all handoff contracts passed}\n";
    let case = pipeline(bare);
    let statuses: Vec<Status> = case
        .claims
        .iter()
        .flat_map(|claim| claim.check.check(Act::of(&evidence(&case, &[]))))
        .map(|verdict| verdict.outcome.status())
        .collect();
    assert_eq!(statuses, [Status::Unknown, Status::Unknown]);
}

const BASELINES: &str = "version: '1.0'\nbaselines:\n  s:\n    captured_at: '2026-05-14T12:00:00Z'\n    runs: 20\n    metrics:\n      \
    duration_ms: {p50: 1000, p95: 2000}\n      total_tokens: {p50: 100, p95: 200}\n      llm_call_count: {p50: 2, p95: 4}\n";

fn scenario(regression: &str) -> Case {
    scenario_of("s", regression)
}

fn scenario_of(name: &str, regression: &str) -> Case {
    let text = format!(
        "version: '1.0'\ntarget: {{type: skill, path: skills/demo, trigger: /demo}}\nscenarios:\n  - name: {name}\n    when: {{invoke: /demo}}\n    \
         then: [{{type: no_span_errors}}]\n    regression: {regression}\n"
    );
    let others = [("skills/demo/SKILL.md", "# Demo\n"), ("skills/demo/tests/baselines.yaml", BASELINES)];
    let mut case = case(SpecFile::CLAWSPEC_SCENARIOS, "skills/demo/tests/scenarios.yaml", &text, &others);
    case.claims.retain(|claim| claim.phase == Some(Phase::Regression));
    case
}

fn measured(took: f64, tokens: &[u64]) -> Evidence {
    let span = |total: &u64| Span {
        kind: SpanKind::Llm,
        name: "m".to_owned(),
        tokens: Some(Tokens { input: *total, output: 0, total: *total }),
        ..Span::default()
    };
    let trace = Trace { spans: tokens.iter().map(span).collect(), ..Trace::default() };
    let answer = Answer::Trace(TraceAnswer::Found(trace));
    Evidence {
        context: context(),
        duration_ms: Some(took),
        observations: vec![Observation { need: Need::Trace, answer }],
        ended: Some(Ended::Log),
        ..Evidence::default()
    }
}

#[test]
fn drift_is_judged() {
    let case = scenario("{max_duration_drift: 1.5, max_token_drift: 1.2, max_step_drift: 1, max_cost_drift: 2}");
    assert_eq!(
        verdict_lines(&case, &measured(1500.0, &[60, 60, 0])),
        [
            "/scenarios/0/regression/max_duration_drift regression duration_ms: pass",
            "/scenarios/0/regression/max_cost_drift regression cost_usd: skip the baseline has no `cost_usd`",
            "/scenarios/0/regression/max_token_drift regression total_tokens: pass",
            "/scenarios/0/regression/max_step_drift regression llm_call_count: pass",
        ]
    );
    let verdict_lines = verdict_lines(&case, &measured(1500.1, &[60, 61, 0, 0]));
    assert!(
        verdict_lines[0].contains("fail duration_ms 1500.1 is 1.5001 times the baseline's median 1000, more than 1.5"),
        "{verdict_lines:?}"
    );
    assert!(verdict_lines[2].contains("fail total_tokens 121 is 1.21 times"), "{verdict_lines:?}");
    assert!(
        verdict_lines[3].contains("fail llm_call_count 4 is 2.00 above the baseline's median 2, more than 1"),
        "{verdict_lines:?}"
    );
}

#[test]
fn the_base_is_the_one_that_is_named() {
    let case = scenario("{compare: p95, max_duration_drift: 1}");
    assert!(verdict_lines(&case, &measured(2000.0, &[]))[0].ends_with("pass"));
    assert!(verdict_lines(&case, &measured(2001.0, &[]))[0].contains("95th percentile 2000"));
}

#[test]
fn no_drift_passes_without_a_baseline_or_a_measure() {
    let case = scenario("{max_duration_drift: 1.5, max_token_drift: 1.2, max_step_drift: 1}");
    let missing_tokens = Span { kind: SpanKind::Llm, ..Span::default() };
    let missing_tokens = Trace { spans: vec![missing_tokens], cut: true, ..Trace::default() };
    let missing_tokens = Observation { need: Need::Trace, answer: Answer::Trace(TraceAnswer::Found(missing_tokens)) };
    for (evidence, status) in [
        (Evidence::default(), Status::Unknown),
        (Evidence { observations: vec![missing_tokens], ..Evidence::default() }, Status::Unknown),
    ] {
        for verdict in case.claims.iter().flat_map(|claim| claim.check.check(Act::of(&evidence))) {
            assert_eq!(verdict.outcome.status(), status, "{verdict:?}");
        }
    }
    let missing =
        Observation { need: Need::Trace, answer: Answer::Trace(TraceAnswer::Missing("no back end".to_owned())) };
    let told_missing = verdict_lines(&case, &Evidence { observations: vec![missing], ..Evidence::default() });
    assert!(told_missing[1].contains("skip no back end"), "{told_missing:?}");
    // The usage that the run itself reports is equivalent to the trace.
    let usage = Usage { input_tokens: 100, output_tokens: 21, cost_usd: None };
    assert!(
        verdict_lines(&case, &Evidence { usage: Some(usage), ..Evidence::default() })[1]
            .contains("fail total_tokens 121")
    );
    let mut unstored = scenario_of("t", "{max_duration_drift: 1.5}");
    unstored.claims.retain(|claim| claim.phase == Some(Phase::Regression));
    assert!(verdict_lines(&unstored, &measured(1.0, &[]))[0].contains("skip no baseline of this scenario is stored"));
}

fn log_answer(log: &str) -> Answer {
    let places = (0..log.lines().count()).map(|line| LinePlace { file: 0, line }).collect();
    let files = vec![LogFile { path: "gw.log".to_owned(), unread: None }];
    let path = "gw.log".to_owned();
    Answer::Log(LogAnswer { path, files, lines: Capture::whole(log), places, ..LogAnswer::default() })
}

/// Returns the measurements of a run without a trace whose gateway wrote this log.
fn logged(log: &str, ended: Option<Ended>) -> Vec<String> {
    let scope = Scope::new(ObservationTime::After, &Config::default(), &Scoring::default());
    let measuring = Measuring { scope: Arc::new(scope) };
    let observe = |need: Need| {
        let answer = match &need {
            Need::Log(_) => log_answer(log),
            _ => Answer::Trace(TraceAnswer::Missing("no back end".to_owned())),
        };
        Observation { need, answer }
    };
    let observations = measuring.needs(&context()).into_iter().map(observe).collect();
    let evidence =
        Evidence { context: context(), observations, ended, duration_ms: Some(1200.0), ..Evidence::default() };
    let measures = measuring.measure(Act::of(&evidence)).into_iter();
    measures.map(|(metric, measured)| format!("{} {measured:?}", metric.as_str())).collect()
}

#[test]
fn measures_come_from_the_log_where_there_is_no_trace() {
    let log = "t run_id=r1 session_started agent=lead\n\
        t run_id=r1 tool=fs.read agent=lead\n\
        t run_id=r1 tool=sessions_spawn agent=lead params.agentId=copy child_run_id=r2\n\
        t run_id=r2 session_started agent=copy\n\
        t run_id=r1 token_usage input=10 output=5 total=15\n\
        t run_id=r2 token_usage input=20 output=5 total=25\n\
        t run_id=r9 token_usage input=900 output=5 total=905\n";
    let missing = "Err(\"no back end\")";
    assert_eq!(
        logged(log, Some(Ended::Answer)),
        [
            "duration_ms Ok(1200.0)",
            "total_tokens Ok(40.0)",
            "input_tokens Ok(30.0)",
            "output_tokens Ok(10.0)",
            &format!("cost_usd {missing}"),
            &format!("llm_call_count {missing}"),
            "tool_invocation_count Ok(2.0)",
            "subagent_delegation_count Ok(1.0)",
        ]
    );
    // A log without the run measures nothing, and a run without an observed end may have taken more.
    assert!(logged("t run_id=r9 session_started agent=x\n", Some(Ended::Answer))[1].contains("no back end"));
    assert!(logged(log, Some(Ended::Deadline))[..4].iter().all(|line| line.contains("was not observed")));
}
