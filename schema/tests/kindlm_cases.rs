//! The recorded cases of the original KindLM: what it reported for each run must be what is judged here from the same
//! output, row by row and gate by gate. Where the answer is different on purpose, [`DIFFERENCES`] names it.

use std::{
    collections::{BTreeMap, VecDeque},
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use speclens_schema::{
    analysis::Analyzer,
    check::json::text,
    document::Document,
    evidence::{
        Answer, Capture, Evidence, Exit, ModelReply, Need, Observation, QuestionAnswer, Ran, RunError, RunErrorKind,
        merged,
    },
    files::MemoryFiles,
    format::Dialect,
    gates::{CaseOutcome, GateReport, RunOutcome},
    json_schema::SpecFile,
    judge::{Judged, judge, status, unjudged},
    mask::Secrets,
    settings::Settings,
    suite::{Action, Case, Subject, Suite},
    verdict::{Outcome, Status},
};

/// What of a case is answered differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The rows of its tests.
    Rows,
    /// The gates.
    Gates,
    /// Whether the whole run counts as passed.
    Exit,
}

use Part::{Exit as ExitCode, Gates, Rows};

/// Everything that is answered differently from the original, and why. A line that is no longer true fails the test.
const DIFFERENCES: &[(&str, &[Part], &str)] = &[
    (
        "config-valid-every-section",
        &[Rows, Gates, ExitCode],
        "the cost of a command is unknown, as in KindLM 2.3.2; `costMaxUsd` is judged whenever it is written",
    ),
    (
        "gate-cost-flag-on",
        &[Rows, Gates, ExitCode],
        "the cost of a command is unknown, as in KindLM 2.3.2, so the gate does not pass either; the original counts it as 0",
    ),
    (
        "drift-empty-baseline-text",
        &[Rows, Gates],
        "expectations about a baseline are not supported: unknown instead of failed",
    ),
    ("drift-no-baseline", &[Rows, Gates], "expectations about a baseline are not supported: unknown instead of failed"),
    (
        "exec-timeout",
        &[Rows, Gates],
        "a run with an error has no verdicts, so there is no row `Execution error`; the pass rate stays open instead of failing",
    ),
    (
        "exec-timeout-term-ignored",
        &[Rows, Gates, ExitCode],
        "the deadline holds: a process that ignores TERM is killed, and the run counts as an error",
    ),
    ("judge-median-of-three", &[Rows], "too few answers that can be read: unknown instead of failed"),
    ("judge-provider-error", &[Rows, Gates], "a judge that does not answer: unknown instead of failed"),
    ("pii-enabled-false", &[Rows, Gates, ExitCode], "`enabled: false` switches the claim off, as in KindLM 2.3.2"),
    ("prompt-conversation-turns", &[Rows, Gates], "prompt tests are not supported"),
    ("prompt-provider-error", &[Rows, Gates], "prompt tests are not supported"),
    ("prompt-tool-simulation", &[Rows, Gates, ExitCode], "prompt tests are not supported"),
    (
        "repeat-gate-cannot-rescue",
        &[ExitCode],
        "a gate that is written in the file may allow the failures that it measures",
    ),
];

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/specs/kindlm-cases");
    let mut cases: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.is_dir());
    cases.sort();
    cases
}

fn name(case: &Path) -> String {
    case.file_name().unwrap().to_str().unwrap().to_owned()
}

fn lower(case: &Path) -> Suite {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    collect(case, "", &mut files);
    let text = files["kindlm.yaml"].clone();
    let about: Value = serde_json::from_str(&files["case.json"]).unwrap();
    if !about["featureFlags"].is_null() {
        let flags = json!({ "features": about["featureFlags"] });
        files.insert(".kindlm/config.json".to_owned(), flags.to_string());
    }
    let files = files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let document = Document::read(&text, Dialect::KINDLM.scalar_rules());
    Analyzer::new(SpecFile::KINDLM).analyze(&document, &MemoryFiles::new(case, files), &Settings::default()).suite
}

fn collect(directory: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            collect(&path, &format!("{name}/"), files);
        } else {
            files.insert(name, String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned());
        }
    }
}

/// Returns what the command of a unit wrote. Files that it prints and bytes that it decodes are taken as they are,
/// other output is put together from what the original made of it.
fn stdout(case: &Path, unit: &Value) -> String {
    let command = unit["command"].as_str().unwrap();
    if command == "cat out.txt" {
        return String::from_utf8_lossy(&fs::read(case.join("out.txt")).unwrap()).into_owned();
    }
    if let Some((_, digits)) = command.split_once("bytes.fromhex(sys.argv[1]))' ") {
        let digits: Vec<u8> = digits.bytes().map(|digit| char::from(digit).to_digit(16).unwrap() as u8).collect();
        let bytes: Vec<u8> = digits.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect();
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    if command == "python3 -c \"print('x' * 3000000)\"" {
        return format!("{}\n", "x".repeat(3_000_000));
    }
    let mut out = String::new();
    for call in unit["toolCalls"].as_array().unwrap() {
        let event =
            json!({"kindlm": "tool_call", "name": call["name"], "id": call["id"], "arguments": call["arguments"]});
        out.push_str(&format!("{event}\n"));
    }
    if unit["outputJsonSet"] == true {
        out.push_str(&format!("{}\n", json!({"kindlm": "output_json", "data": unit["outputJson"]})));
    }
    out + unit["outputText"].as_str().unwrap()
}

fn evidence(case: &Path, unit: &Value) -> Evidence {
    let mut evidence = Evidence::default();
    if !unit["error"].is_null() || name(case) == "exec-timeout-term-ignored" {
        evidence.error = Some(RunError { kind: RunErrorKind::TimedOut, message: "too slow".to_owned() });
        return evidence;
    }
    evidence.command = Some(Ran {
        command: Capture::whole(unit["command"].as_str().unwrap_or_default()),
        exit: Some(Exit { code: unit["exitCode"].as_i64().map(|code| code as i32), signal: None }),
        stdout: Some(Capture::whole(stdout(case, unit))),
        ..Ran::default()
    });
    evidence.duration_ms = Some(3.0);
    Dialect::KINDLM.interpret(&mut evidence);
    evidence
}

/// Returns what the models of a case answer, one after the other.
fn replies(case: &Path) -> VecDeque<ModelReply> {
    let Ok(text) = fs::read_to_string(case.join("mock.json")) else { return VecDeque::new() };
    let mock: Value = serde_json::from_str(&text).unwrap();
    let reply = |response: &Value| ModelReply {
        text: Capture::whole(response["text"].as_str().unwrap_or_default()),
        error: response["error"]["message"].as_str().map(str::to_owned),
        ..ModelReply::default()
    };
    mock["responses"].as_array().into_iter().flatten().map(reply).collect()
}

/// Asks what the claims of a test want to know, and holds the questions to those of the original.
fn ask(test: &Case, evidence: &mut Evidence, replies: &mut VecDeque<ModelReply>, run: &Value) {
    for need in merged(test.claims.iter().flat_map(|claim| claim.check.needs(&evidence.context))) {
        let Need::Question(question) = &need else { panic!("nothing else is asked: {need:?}") };
        let asked = question.text(evidence.output.as_ref()).unwrap();
        if let Some(requests) = run["providerRequests"].as_array() {
            let same = |request: &Value| {
                request["model"] == question.peer.model
                    && request["messages"][1]["content"] == asked
                    && request["params"]["maxTokens"] == question.max_tokens
            };
            assert!(requests.iter().any(same), "{asked} was not asked: {requests:?}");
        }
        let replies = (0..question.times).map(|_| replies.pop_front().unwrap()).collect();
        let answer = Answer::Question(QuestionAnswer { replies });
        evidence.observations.push(Observation { need, answer });
    }
}

/// The protocol must give what the original took from the same output.
fn check_output(case: &Path, unit: &Value, evidence: &Evidence) {
    let place = format!("{}: {}", name(case), unit["test"]);
    let Some(output) = &evidence.output else { return };
    match unit["outputTextLength"].as_u64() {
        Some(length) => assert_eq!(output.text.encode_utf16().count() as u64, length, "{place}"),
        None => assert_eq!(output.text, unit["outputText"].as_str().unwrap(), "{place}"),
    }
    let hidden = |value: &Value| *value == json!("<hidden>");
    let expected = unit["toolCalls"].as_array().unwrap();
    assert_eq!(output.tool_calls.len(), expected.len(), "{place}");
    for (call, expected) in output.tool_calls.iter().zip(expected) {
        assert_eq!((json!(call.id), json!(call.name)), (expected["id"].clone(), expected["name"].clone()), "{place}");
        if !hidden(&expected["arguments"]) {
            assert_eq!(plain(&call.arguments), text(&expected["arguments"]), "{place}");
        }
    }
    let data = unit.get("outputJson").filter(|_| unit["outputJsonSet"] == true);
    assert_eq!(output.json.as_ref().map(plain), data.map(text), "{place}");
}

/// As the original's records show it: infinity, here the largest number, is null.
fn plain(value: &Value) -> String {
    text(value).replace("1.7976931348623157e+308", "null")
}

/// A row as both report it. An answer that is neither yes nor no is nothing.
#[derive(Debug, PartialEq)]
struct Row {
    kind: String,
    label: String,
    passed: Option<bool>,
    score: Option<f64>,
    code: Option<String>,
}

fn expected_rows(run: &Value, unit: &Value) -> Vec<Row> {
    let same = |row: &&Value| ["test", "model", "repeat"].iter().all(|key| row[*key] == unit[*key]);
    let rows = run["assertions"].as_array().unwrap().iter().filter(same);
    rows.map(|row| Row {
        kind: row["assertionType"].as_str().unwrap().to_owned(),
        label: row["label"].as_str().unwrap().to_owned(),
        passed: row["passed"].as_bool(),
        score: row["score"].as_f64(),
        code: row["failureCode"].as_str().map(str::to_owned),
    })
    .collect()
}

fn actual_rows(judged: &[Judged]) -> Vec<Row> {
    judged
        .iter()
        .map(|it| Row {
            kind: it.verdict.kind.to_owned(),
            label: it.verdict.label.clone(),
            passed: match it.verdict.outcome {
                Outcome::Pass | Outcome::Warn(_) | Outcome::Skip(_) => Some(true),
                Outcome::Fail(_) | Outcome::Error(_) => Some(false),
                Outcome::Unknown(_) => None,
            },
            score: it.verdict.score,
            code: it.verdict.code.map(|code| code.as_str().to_owned()),
        })
        .collect()
}

/// A gate as both report it: name, answer, value, limit, message.
type Gate = (String, Option<bool>, f64, f64, String);

fn expected_gates(run: &Value) -> Vec<Gate> {
    let gates = run["gates"]["results"].as_array().unwrap().iter();
    gates
        .map(|gate| {
            (
                gate["gateName"].as_str().unwrap().to_owned(),
                gate["passed"].as_bool(),
                gate["actual"].as_f64().unwrap_or_default(),
                gate["threshold"].as_f64().unwrap(),
                gate["message"].as_str().unwrap().to_owned(),
            )
        })
        .map(without_times)
        .collect()
}

fn actual_gates(report: &GateReport) -> Vec<Gate> {
    let gates = report.gates.iter();
    gates
        .map(|gate| {
            let passed = match gate.status {
                Status::Pass | Status::Warn | Status::Skip => Some(true),
                Status::Fail | Status::Error => Some(false),
                Status::Unknown => None,
            };
            (gate.name.to_owned(), passed, gate.actual, gate.expected, gate.message.clone())
        })
        .map(without_times)
        .collect()
}

/// Times differ from run to run, so the records hide them.
fn without_times((name, passed, actual, limit, message): Gate) -> Gate {
    if name == "latencyMaxMs" {
        (name, passed, 0.0, limit, String::new())
    } else {
        (name, passed, actual, limit, message)
    }
}

/// Returns the parts of a case that are answered differently, with both answers.
fn compare(case: &Path) -> Vec<(Part, String)> {
    let expected: Value = serde_json::from_str(&fs::read_to_string(case.join("expected.json")).unwrap()).unwrap();
    let run = &expected["run"];
    let suite = lower(case);
    let mut different = Vec::new();
    let mut replies = replies(case);
    let mut runs: Vec<(usize, Status, Vec<Judged>, Evidence)> = Vec::new();
    for unit in run["units"].as_array().into_iter().flatten() {
        let index = suite.cases.iter().position(|it| unit["test"] == it.name).unwrap();
        let test = &suite.cases[index];
        let (evidence, judged) = match &test.action {
            Action::Command(command) => {
                assert_eq!(command.expanded.as_deref().ok(), unit["command"].as_str(), "{}", test.name);
                let mut evidence = evidence(case, unit);
                check_output(case, unit, &evidence);
                ask(test, &mut evidence, &mut replies, run);
                let judged = judge(test, &evidence, &Secrets::none());
                (evidence, judged)
            }
            Action::Prompt(_) | Action::Agent(_) | Action::Trigger(_) | Action::None => {
                let error = RunError { kind: RunErrorKind::Unsupported, message: "not supported".to_owned() };
                (Evidence { error: Some(error), ..Evidence::default() }, Vec::new())
            }
        };
        let (wanted, found) = (expected_rows(run, unit), actual_rows(&judged));
        if wanted != found {
            different.push((Rows, format!("{}:\n  original {wanted:?}\n  here     {found:?}", test.name)));
        }
        runs.push((index, status(test, &evidence, &judged), judged, evidence));
    }
    if run["units"].is_null() {
        return different;
    }
    let outcomes: Vec<CaseOutcome<'_>> = (0..suite.cases.len())
        .map(|index| {
            let runs: Vec<RunOutcome<'_>> = runs
                .iter()
                .filter(|run| run.0 == index)
                .map(|(_, status, judged, evidence)| RunOutcome {
                    subject: &Subject::Command,
                    status: *status,
                    verdicts: judged.iter().map(|it| &it.verdict).collect(),
                    duration_ms: evidence.duration_ms,
                    duration_is_open: evidence.duration_is_open(),
                    cost_usd: evidence.usage.and_then(|usage| usage.cost_usd),
                })
                .collect();
            CaseOutcome {
                status: runs.iter().map(|run| run.status).max().unwrap_or(Status::Skip),
                runs,
                unjudged: unjudged(&suite.cases[index]),
                left_out: Vec::new(),
            }
        })
        .collect();
    let report = suite.gates.evaluate(&outcomes);
    let (wanted, found) = (expected_gates(run), actual_gates(&report));
    if wanted != found {
        different.push((Gates, format!("original {wanted:?}\n  here     {found:?}")));
    }
    let worst = outcomes.iter().map(|it| it.status).max().unwrap_or(Status::Skip);
    let gates_pass = report.gates.iter().all(|gate| gate.status == Status::Pass);
    let passed = gates_pass && (worst <= Status::Warn || worst == Status::Fail && report.rescued);
    if passed != (run["exitCode"] == 0) {
        different.push((ExitCode, format!("original {}, here passed: {passed}", run["exitCode"])));
    }
    different
}

#[test]
fn every_recorded_row_is_judged_the_same_or_the_difference_is_named() {
    let mut seen = 0;
    for case in cases() {
        let name = name(&case);
        let found = compare(&case);
        let named = DIFFERENCES.iter().find(|(case, ..)| *case == name).map_or(&[][..], |(_, parts, _)| parts);
        for (part, what) in &found {
            assert!(named.contains(part), "{name}: {part:?} differ, and nobody said so\n{what}");
        }
        for part in named {
            assert!(found.iter().any(|(other, _)| other == part), "{name}: {part:?} no longer differ");
        }
        seen += 1;
    }
    assert!(seen >= 70, "only {seen} cases were found");
    for (case, _, reason) in DIFFERENCES {
        assert!(!reason.is_empty() && cases().iter().any(|path| name(path) == *case), "{case} is no case");
    }
}

/// The original reads every schema file first, also those of skipped tests, and gives up the run when one is no JSON. Here the
/// suite is refused before it runs, for the same reason; the claim itself is broken and never passes.
#[test]
fn a_schema_file_that_is_no_json_breaks_its_claim() {
    let case = cases().into_iter().find(|case| name(case) == "output-schema-file-not-json").unwrap();
    let suite = lower(&case);
    let broken = suite.cases.iter().find(|test| test.name == "broken").unwrap();
    let stdout = Some(Capture::whole("ok".to_owned()));
    let command = Some(Ran { stdout, ..Ran::default() });
    let mut evidence = Evidence { command, ..Evidence::default() };
    Dialect::KINDLM.interpret(&mut evidence);
    let judged = judge(broken, &evidence, &Secrets::none());
    assert_eq!(status(broken, &evidence, &judged), Status::Error);
}
