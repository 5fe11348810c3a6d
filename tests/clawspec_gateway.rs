//! ClawSpec scenarios at a gateway on this machine: judges, baselines and reports.

use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, Mutex},
};

use crate::{
    loopback::{Answer, Loopback},
    support::{Done, Place},
};

const WEBHOOK: &str = "/webhook/mcp-skill-invoke";
const JUDGE: &str = "/qa/judge";
const DONE: &str = r#"{"status": "completed", "runId": "run-1"}"#;
const TOKEN: &str = "planted-token-4711";

/// Returns a workspace with a skill, a text as the result of its runs, and these scenarios.
fn workspace(scenarios: &str) -> Place {
    let place = Place::empty();
    place.write("clawspec.yaml", "{}\n");
    place.write("skills/demo/SKILL.md", "---\nname: demo\ndescription: Use when it is tested.\n---\nDemo.\n");
    place.write("out.md", "# Hook\n\nBuy now\n\n# Body\n\nMore\n");
    contract(&place, scenarios);
    place
}

fn contract(place: &Place, scenarios: &str) {
    let target = "version: \"1.0\"\ntarget: {type: skill, path: skills/demo, trigger: /demo}\n";
    place.write("skills/demo/tests/scenarios.yaml", format!("{target}scenarios:\n{scenarios}"));
}

fn scenario(name: &str, claims: &str) -> String {
    format!("- name: {name}\n  tags: [negative]\n  when: {{invoke: /demo}}\n  then:\n{claims}")
}

fn judged(rubric: &str, more: &str) -> String {
    scenario("smoke", &format!("  - {{type: llm_judge, path: out.md, rubric: \"{rubric}\"{more}}}\n"))
}

/// A gateway with a fixed answer for each path.
struct Gateway {
    server: Loopback,
    answers: Arc<Mutex<BTreeMap<&'static str, (u16, &'static str)>>>,
}

impl Gateway {
    /// Returns a gateway that runs what it is asked to, and gives this score.
    fn scoring(score: &'static str) -> Gateway {
        let answers = Arc::new(Mutex::new(BTreeMap::from([(WEBHOOK, (200, DONE)), (JUDGE, (200, score))])));
        let shared = Arc::clone(&answers);
        let server = Loopback::acting(move |request| {
            let answer = shared.lock().unwrap().get(request.path.as_str()).copied();
            let (status, text) = answer.unwrap_or((404, "{}"));
            Answer::Reply(status, text.to_owned())
        });
        Gateway { server, answers }
    }

    /// Changes the answer for a path.
    fn says(&self, path: &'static str, status: u16, text: &'static str) {
        self.answers.lock().unwrap().insert(path, (status, text));
    }

    /// Returns the number of requests for a path so far.
    fn count(&self, path: &str) -> usize {
        self.server.requests().iter().filter(|request| request.path == path).count()
    }
}

fn run_at(place: &Place, gateway: &Gateway, arguments: &[&str]) -> Done {
    let mut program = place.program(arguments);
    program.env("CLAWSPEC_GATEWAY_BASE_URL", gateway.server.url()).env("HOOKS_TOKEN", TOKEN);
    program.env_remove("CLAWSPEC_REPORT_DIR").env("SPECLENS_NOW", "2026-05-14T12:00:00Z");
    Done::of(&program.output().unwrap())
}

#[test]
fn judge_of_the_gateway_is_asked_again_only_when_its_question_changes() {
    let server = Gateway::scoring(r#"{"score": 3.5, "reasoning": "it sells"}"#);
    let place = workspace(&judged("Score 1-5", ", section: hook"));
    let done = run_at(&place, &server, &["run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let requests = server.server.requests();
    let asked = requests.iter().find(|request| request.path == JUDGE).unwrap();
    assert_eq!(asked.body["text"], "# Hook\n\nBuy now\n\n");
    assert!(asked.headers.contains(&format!("authorization: Bearer {TOKEN}")), "{}", asked.headers);
    let recording = fs::read_to_string(&place.recordings()[0]).unwrap();
    assert!(recording.contains("it sells") && !recording.contains(TOKEN), "{recording}");

    // Another threshold needs no request, and shows the reasons.
    contract(&place, &judged("Score 1-5", ", section: hook, pass_threshold: 4"));
    let done = run_at(&place, &server, &["run", "--recorded"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.contains("Judge score 3.50 below threshold 4.00"), "{done:?}");
    assert!(done.stdout.contains("the judge: it sells"), "{done:?}");
    // If scores only warn, the run passes.
    place.write("speclens.yaml", "clawspec: {thresholds: warn}\n");
    assert_eq!(run_at(&place, &server, &["run", "--recorded"]).code, Some(0));

    // A new question is unknown until the judge is asked; nothing is started for it.
    contract(&place, &judged("Score 1-9", ""));
    let done = run_at(&place, &server, &["run", "--recorded"]);
    assert!(done.code == Some(3) && done.stdout.contains("`speclens run --recorded --ask`"), "{done:?}");
    let done = run_at(&place, &server, &["run", "--recorded", "--ask"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!((server.count(WEBHOOK), server.count(JUDGE)), (1, 2));
}

#[test]
fn judge_without_an_answer_is_unknown_and_is_asked_again_on_request() {
    let server = Gateway::scoring("");
    server.says(JUDGE, 500, r#"{"score": 5}"#);
    let place = workspace(&judged("Score 1-5", ""));
    let done = run_at(&place, &server, &["run"]);
    assert!(done.code == Some(3) && done.stdout.contains("status 500"), "{done:?}");
    server.says(JUDGE, 200, r#"{"result": {"score": "5"}}"#);
    assert_eq!(run_at(&place, &server, &["run", "--recorded"]).code, Some(3));
    assert_eq!(run_at(&place, &server, &["run", "--recorded", "--ask"]).code, Some(0));
    assert_eq!((server.count(WEBHOOK), server.count(JUDGE)), (1, 2));
}

#[test]
fn model_of_the_settings_judges_in_place_of_the_gateway() {
    let server = Gateway::scoring(r#"{"score": 1}"#);
    let model = Loopback::ollama(&[r#"{"score": 5, "reasoning": "clear"}"#]);
    let place = workspace(&judged("Score 1-5", ""));
    let url = model.url();
    place.write(
        "speclens.yaml",
        format!("judge: local/judge\nproviders: {{local: {{api: ollama, base_url: \"{url}\"}}}}\n"),
    );
    let done = run_at(&place, &server, &["run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!((server.count(JUDGE), model.requests().len()), (0, 1));
}

const FILE: &str = "skills/demo/tests/baselines.yaml";

#[test]
fn capture_runs_each_scenario_so_many_times_and_stores_what_they_take() {
    let server = Gateway::scoring("");
    let claims = "  - {type: file_present, path: out.md}\n";
    let place = workspace(&format!("{}{}", scenario("one", claims), scenario("two", claims)));
    let done = run_at(&place, &server, &["baseline", "capture", "demo", "--runs", "5", "--scenario", "one"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("one: captured from 5 runs") && done.stderr.contains("imprecise"), "{done:?}");
    assert_eq!(server.count(WEBHOOK), 5);
    let stored = place.read(FILE);
    assert!(stored.contains("  one:\n    captured_at: \"2026-05-14T12:00:00Z\"\n    runs: 5\n"), "{stored}");
    assert!(stored.contains("duration_ms:") && !stored.contains("cost_usd") && !stored.contains("two"), "{stored}");
    assert_eq!(run_at(&place, &server, &["check", FILE]).code, Some(0));

    // The stored values stay without `--force`.
    let again = ["baseline", "capture", "demo", "--runs", "5"];
    let done = run_at(&place, &server, &again);
    assert!(done.code == Some(2) && done.stderr.contains("`one` already has a baseline"), "{done:?}");
    let done = run_at(&place, &server, &[&again[..], &["--force", "--format", "json"]].concat());
    let report = done.json();
    assert_eq!((done.code, report["captured"].as_object().unwrap().len()), (Some(0), 2), "{report}");
    assert!(report["unmeasured"]["two"]["cost_usd"].is_string(), "{report}");
    assert_eq!(server.count(WEBHOOK), 15);
    assert!(!place.exists("reports"), "capturing leaves no reports");
}

#[test]
fn scenario_with_a_failure_or_an_error_has_no_baseline() {
    let server = Gateway::scoring("");
    let place = workspace(&scenario("one", "  - {type: file_absent, path: out.md}\n"));
    let capture = ["baseline", "capture", "demo", "--runs", "5"];
    let done = run_at(&place, &server, &capture);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.contains("one: not captured: 5 of 5 runs failed: file_absent out.md"), "{done:?}");
    server.says(WEBHOOK, 401, "{}");
    let done = run_at(&place, &server, &capture);
    assert!(done.code == Some(3) && done.stdout.contains("5 of 5 runs ended with an error"), "{done:?}");
    assert!(!place.exists(FILE));
}

#[test]
fn later_run_is_compared_with_what_is_stored() {
    let server = Gateway::scoring("");
    let claims = "  - {type: file_present, path: out.md}\n";
    let limited = |limit: &str| format!("{}  regression: {{max_duration_drift: {limit}}}\n", scenario("one", claims));
    let place = workspace(&limited("1000"));
    let stored = |duration: &str| {
        format!(
            "version: \"1.0\"\nbaselines:\n  one:\n    captured_at: \"2026-05-01T00:00:00Z\"\n    runs: 20\n    metrics:\n      duration_ms: {{p50: {duration}, p95: {duration}}}\n"
        )
    };
    place.write(FILE, stored("60000"));
    let unrun = run_at(&place, &server, &["baseline", "compare", "demo"]);
    assert_eq!(unrun.code, Some(3), "{unrun:?}");
    assert_eq!(run_at(&place, &server, &["run"]).code, Some(0));
    let done = run_at(&place, &server, &["baseline", "compare", "demo"]);
    assert!(done.code == Some(0) && done.stdout.contains("limit x1000.00"), "{done:?}");
    place.write(FILE, stored("0.000001"));
    let done = run_at(&place, &server, &["run", "--recorded"]);
    assert!(done.code == Some(1) && done.stdout.contains("times the baseline's median"), "{done:?}");
    let done = run_at(&place, &server, &["baseline", "compare", "demo", "--format", "json"]);
    let report = done.json();
    let check = &report["scenarios"][0]["checks"][0];
    assert_eq!((done.code, &check["status"], &check["limit"]), (Some(1), &"fail".into(), &1000.0.into()), "{report}");
    assert_eq!(server.count(WEBHOOK), 1);
}

/// Returns the files of a directory of reports, by name.
fn reports(place: &Place, directory: &str) -> Vec<String> {
    let entries = fs::read_dir(place.path().join(directory)).into_iter().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn reports_continue_the_numbers_of_any_day_and_are_those_of_the_original() {
    let server = Gateway::scoring("");
    let claims = "  - {type: file_present, path: out.md}\n  - {type: file_present, path: none.md}\n";
    let place = workspace(&scenario("Demo smoke", claims));
    place.write("clawspec.yaml", "report_dir: qa/reports\n");
    place.write("qa/reports/2026-01-01-demo-demo-smoke-r7.yaml", "x: 1\n");
    let done = run_at(&place, &server, &["run"]);
    assert!(done.code == Some(1) && done.stderr.contains("wrote 1 report to `qa/reports"), "{done:?}");
    let text = place.read("qa/reports/2026-05-14-demo-demo-smoke-r8.yaml");
    let contract = place.path().canonicalize().unwrap().join("skills/demo/tests/scenarios.yaml");
    let expected = format!(
        "workflow: demo\nscenario: Demo smoke\nrun: 8\nstatus: FAIL\nstarted_at: \"2026-05-14T12:00:00Z\"\ncompleted_at: \
         \"2026-05-14T12:00:00Z\"\nassertions:\n- name: file_present\n  status: PASS\n  detail: null\n  elapsed: 0.00s\n- name: \
         file_present\n  status: FAIL\n  detail: \"File not found: none.md\"\n  elapsed: 0.00s\nfeedback:\n  for_orchestrator: \
         \"Address the failing QA checks: file_present.\"\n  structured:\n  - check: file_present\n    missing: \"File not \
         found: none.md\"\n    fix_action: \"Address file_present before the next run.\"\n    fix_reference: \
         {:?}\ninfrastructure_failure: false\n",
        contract.display().to_string()
    );
    assert_eq!(text, expected);
    // Judging again writes no report.
    assert_eq!(run_at(&place, &server, &["run", "--recorded"]).code, Some(1));
    assert_eq!(reports(&place, "qa/reports").len(), 2);
}

#[test]
fn reports_are_left_only_where_somebody_asks_and_a_run_came_to_its_assertions() {
    let server = Gateway::scoring("");
    let claims = "  - {type: file_present, path: out.md}\n";
    let place = workspace(&scenario("one", claims));
    assert_eq!(run_at(&place, &server, &["run"]).code, Some(0));
    assert!(!place.exists("reports"));
    assert_eq!(run_at(&place, &server, &["run", "--report", "clawspec"]).code, Some(0));
    assert_eq!(run_at(&place, &server, &["run", "--report", "clawspec=elsewhere", "--repeat", "2"]).code, Some(0));
    assert_eq!(reports(&place, "reports"), ["2026-05-14-demo-one-r1.yaml"]);
    let both = ["2026-05-14-demo-one-r1.yaml", "2026-05-14-demo-one-r2.yaml"];
    assert_eq!(reports(&place, "elsewhere"), both);
    contract(
        &place,
        &scenario("one", claims).replace("  when:", "  given: [{type: file_present, path: none.md}]\n  when:"),
    );
    assert_eq!(run_at(&place, &server, &["run", "--report", "clawspec"]).code, Some(1));
    server.says(WEBHOOK, 500, "{}");
    contract(&place, &scenario("one", claims));
    assert_eq!(run_at(&place, &server, &["run", "--report", "clawspec"]).code, Some(3));
    assert_eq!(reports(&place, "reports"), ["2026-05-14-demo-one-r1.yaml"]);
}

#[test]
fn targets_that_end_in_the_same_name_have_reports_of_their_own() {
    let server = Gateway::scoring("");
    let place = workspace(&scenario("one", "  - {type: file_present, path: out.md}\n"));
    let other = place.read("skills/demo/tests/scenarios.yaml").replace("skills/demo", "skills/mail/demo");
    place.write("skills/mail/demo/tests/scenarios.yaml", other);
    place.write("skills/mail/demo/SKILL.md", place.read("skills/demo/SKILL.md"));
    assert_eq!(run_at(&place, &server, &["run", "--report", "clawspec"]).code, Some(0));
    let both = ["2026-05-14-skills-demo-one-r1.yaml", "2026-05-14-skills-mail-demo-one-r1.yaml"];
    assert_eq!(reports(&place, "reports"), both);
}

#[test]
fn gates_of_the_original_warn_and_refuse_a_suite_where_settings_say_so() {
    let server = Gateway::scoring("");
    let place =
        workspace(&scenario("one", "  - {type: file_present, path: out.md}\n").replace("[negative]", "[smoke]"));
    let done = run_at(&place, &server, &["run"]);
    assert_eq!((done.code, server.count(WEBHOOK)), (Some(0), 1), "{done:?}");
    for code in ["missing-negative", "invalid-definition"] {
        assert!(done.stdout.contains(&format!("warning[{code}]")), "{code}: {done:?}");
        place.write("speclens.yaml", format!("severity: {{{code}: error}}\n"));
        let refused = run_at(&place, &server, &["run"]);
        assert!(refused.code == Some(2) && refused.stdout.contains(&format!("error[{code}]")), "{refused:?}");
    }
    assert_eq!(server.count(WEBHOOK), 1);
}

#[test]
fn report_of_a_pipeline_is_written_after_its_health() {
    let server = Gateway::scoring("");
    let place = workspace(&scenario("one", "  - {type: file_present, path: out.md}\n"));
    let pipeline = "version: \"1.0\"\npipeline: {name: Demo flow, skill_path: skills/demo, trigger: /demo, stages: 1}\nstages:\n  - {name: plan, produces: none.md}\nfinal_assertions:\n  deterministic: [{type: file_present, path: out.md}]\npipeline_health:\n  - {description: files, check: count(produced_artifacts) == count(stages_with_produces)}\n";
    place.write("skills/demo/tests/pipeline.yaml", pipeline);
    let done = run_at(&place, &server, &["run", "--report", "clawspec"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    let names = ["2026-05-14-demo-flow-pipeline-r1.yaml", "2026-05-14-demo-one-r1.yaml"];
    assert_eq!(reports(&place, "reports"), names);
    let text = place.read("reports/2026-05-14-demo-flow-pipeline-r1.yaml");
    assert!(text.starts_with("workflow: Demo flow\nscenario: pipeline\nrun: 1\nstatus: FAIL\n"), "{text}");
    assert!(text.contains("- name: file_present\n  status: PASS\n"), "{text}");
    assert!(text.contains("- name: \"pipeline_health:files\"\n  status: FAIL\n"), "{text}");
}

#[test]
fn handoffs_within_a_pipeline_have_reports_of_their_own() {
    let server = Gateway::scoring("");
    let place = workspace(&scenario("one", "  - {type: file_present, path: out.md}\n"));
    let pipeline = "version: \"1.0\"\npipeline: {name: Demo flow, skill_path: skills/demo, trigger: /demo, stages: 3}\nstages:\n  - {name: plan, handoff_contract: tests/handoffs/plan.yaml}\n  - {name: draft, produces: out.md, handoff_contract: tests/handoffs/draft.yaml}\n  - {name: send, produces: none.md, requires_approval: true, handoff_contract: tests/handoffs/plan.yaml}\n";
    place.write("skills/demo/tests/pipeline.yaml", pipeline);
    let handoff = |to: &str, path: &str| {
        format!(
            "version: \"1.0\"\nhandoff: {{from: lead, to: {to}, mechanism: sessions_spawn}}\ncaller_provides: {{}}\ncallee_produces:\n  required_artifacts: [{{path_pattern: out.md, description: a text}}]\nassertions:\n  post_delegation: [{{type: file_present, path: {path}}}]\n"
        )
    };
    place.write("skills/demo/tests/handoffs/plan.yaml", handoff("Planner", "out.md"));
    place.write("skills/demo/tests/handoffs/draft.yaml", handoff("writer", "none.md"));
    let pipeline = "skills/demo/tests/pipeline.yaml";
    let done = run_at(&place, &server, &["run", pipeline, "--report", "clawspec"]);
    assert!(done.code == Some(1) && done.stderr.contains("wrote 3 reports"), "{done:?}");
    // A stage without results has no handoff.
    let names = [
        "2026-05-14-demo-flow-pipeline-r1.yaml",
        "2026-05-14-lead-to-planner-plan-r1.yaml",
        "2026-05-14-lead-to-writer-draft-r1.yaml",
    ];
    assert_eq!(reports(&place, "reports"), names);
    let text = place.read("reports/2026-05-14-lead-to-writer-draft-r1.yaml");
    assert!(text.starts_with("workflow: lead-to-writer\nscenario: draft\nrun: 1\nstatus: FAIL\n"), "{text}");
    assert!(text.contains("- name: file_present\n  status: FAIL\n") && !text.contains("stage_produced"), "{text}");
    assert!(text.contains("skills/demo/tests/handoffs/draft.yaml"), "{text}");
    assert!(place.read("reports/2026-05-14-lead-to-planner-plan-r1.yaml").contains("\nstatus: PASS\n"));
    // The next run has the next numbers.
    assert_eq!(run_at(&place, &server, &["run", pipeline, "--report", "clawspec"]).code, Some(1));
    assert!(place.exists("reports/2026-05-14-lead-to-writer-draft-r2.yaml"));
}
