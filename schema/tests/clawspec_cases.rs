//! What ClawSpec was recorded to answer on contracts and workspaces: the answers here are equal, except for the
//! differences that are named.

use crate::{common, recorded};

use std::{fs, path::Path};

use recorded::{Recorded, Stub, cases, observed};
use serde::Deserialize;
use serde_json::Value;
use speclens_schema::{
    act::Act,
    evidence::{Ended, Evidence, Need, Observation, merged},
    json_schema::SpecFile,
    problem::{Code, Severity},
    settings::{GatewaySettings, Settings, Shortfall},
    suite::Phase,
    verdict::Status,
};

/// A row that differs on purpose, and why. The file is also read by the tests that run the cases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Difference {
    case: String,
    row: String,
    outcome: String,
    #[expect(dead_code, reason = "it is there for people")]
    why: String,
}

fn differences() -> Vec<Difference> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/clawspec/differences.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Rows without a claim, because the assertion cannot be read: an error is in it instead.
const UNREADABLE: &[(&str, &str)] = &[
    // A text instead of the list: the original walks over its letters.
    ("artifact_absent_words-shapes", "s then 1"),
    ("env_present-wrong-shape", "s then 2"),
    // `var` instead of `vars`, which the original takes for an empty list.
    ("env_present-wrong-shape", "s then 0"),
    // Numbers in quotes.
    ("artifact_matches_golden-scoring", "s then 3"),
    ("gateway_response-odd", "s then 0"),
    // No tool is named: the original looks for the empty name.
    ("tool_not_invoked-basic", "s then 4"),
];

/// All claims of a scenario, judged over one list of what was observed on behalf of all of them, say what each says over
/// its own.
#[test]
fn claims_that_share_observations_say_what_they_say_alone() {
    let mut shared = 0;
    for case in cases() {
        let analysis = case.analysis();
        for scenario in &analysis.suite.cases {
            let context = case.context();
            let ended = Some(Ended::Answer);
            let needs: Vec<Need> = scenario.claims.iter().flat_map(|claim| claim.check.needs(&context)).collect();
            let asked = merged(needs.clone());
            shared += needs.len() - asked.len();
            // The judge of a recorded case answers in turn: here each question is its first.
            let observed = |needs: Vec<Need>| -> Vec<Observation> {
                needs.into_iter().flat_map(|need| observed(&case, &mut Stub::of(&case.harness), vec![need])).collect()
            };
            let all =
                Evidence { observations: observed(asked), context: context.clone(), ended, ..Evidence::default() };
            for claim in &scenario.claims {
                let observations = observed(claim.check.needs(&context));
                let alone = Evidence { observations, context: context.clone(), ended, ..Evidence::default() };
                assert_eq!(
                    claim.check.check(Act::of(&all)),
                    claim.check.check(Act::of(&alone)),
                    "{} {}",
                    case.name,
                    claim.at
                );
            }
        }
    }
    assert!(shared > 10, "{shared} needs were shared");
}

/// Returns the rows of the assertions: scenario, phase and index, with the status and the message.
fn rows(case: &Recorded) -> Vec<(String, Status, String)> {
    rows_under(case, &Settings::default())
}

fn rows_under(case: &Recorded, settings: &Settings) -> Vec<(String, Status, String)> {
    let analysis = case.analysis_under(settings);
    let mut stub = Stub::of(&case.harness);
    let mut rows = Vec::new();
    for scenario in &analysis.suite.cases {
        for claim in &scenario.claims {
            // Without a phase: what stands for a part that is not understood.
            let Some(phase) = claim.phase else { continue };
            if [Phase::Stages, Phase::PipelineHealth].contains(&phase) {
                // The original reports these in another way.
                continue;
            }
            let context = case.context();
            let observations = observed(case, &mut stub, claim.check.needs(&context));
            let ended = Some(Ended::Answer);
            let evidence = Evidence { context, observations, ended, ..Evidence::default() };
            let verdicts = claim.check.check(Act::of(&evidence));
            assert_eq!(verdicts.len(), 1, "{}: one row per assertion", case.name);
            // Nothing passes without evidence.
            let nothing = claim.check.check(Act::of(&Evidence::default()));
            assert_ne!(nothing[0].outcome.status(), Status::Pass, "{}: passes without evidence", case.name);
            let scenario = if case.file() == SpecFile::CLAWSPEC_SCENARIOS { &scenario.name } else { "" };
            let place = format!("{scenario} {} {}", phase, claim.at.last().unwrap());
            let outcome = &verdicts[0].outcome;
            rows.push((place, outcome.status(), outcome.message().to_owned()));
        }
    }
    rows
}

/// Returns the phase and the index of a recorded row, and its place as in `rows`.
fn place_of(row: &Value) -> Option<(&str, u64, String)> {
    let (phase, index) = (row["phase"].as_str()?, row["index"].as_u64()?);
    Some((phase, index, format!("{} {phase} {index}", row["scenario"].as_str().unwrap_or_default())))
}

/// Returns the stages and the health of a pipeline: places, statuses, messages.
fn pipeline_rows(name: &str) -> Vec<(String, Status, String)> {
    let case = cases().into_iter().find(|case| case.name == name).unwrap();
    let analysis = case.analysis();
    let mut rows = Vec::new();
    for claim in &analysis.suite.cases[0].claims {
        if !matches!(claim.phase, Some(Phase::Stages | Phase::PipelineHealth)) {
            continue;
        }
        let context = case.context();
        let mut stub = Stub::of(&case.harness);
        let observations = observed(&case, &mut stub, claim.check.needs(&context));
        let (ended, duration_ms) = (Some(Ended::Answer), Some(1_200.0));
        let evidence = Evidence { context, observations, ended, duration_ms, ..Evidence::default() };
        for verdict in claim.check.check(Act::of(&evidence)) {
            rows.push((claim.at.to_string(), verdict.outcome.status(), verdict.outcome.message().to_owned()));
        }
        for verdict in claim.check.check(Act::of(&Evidence::default())) {
            assert_ne!(verdict.outcome.status(), Status::Pass, "{name}: passes without evidence");
        }
    }
    rows
}

/// "Stages produced 2/2 artifacts; handoffs passed 1/1", and the health checks hold. ClawSpec looks at the caller's run
/// for the tool that the callee called.
#[test]
fn a_pipeline_that_went_well_passes_but_for_the_call_of_the_callee() {
    let rows = pipeline_rows("pipeline-run-pass");
    let failed: Vec<(&str, &str)> = rows
        .iter()
        .filter(|(_, status, _)| *status != Status::Pass)
        .map(|(place, _, message)| (place.as_str(), message.as_str()))
        .collect();
    let expected = [
        ("/stages/1/handoff_contract", "Tool was called: mail.send"),
        ("/pipeline_health/1", "handoff contracts that do not hold: copy"),
    ];
    assert_eq!(failed, expected, "{rows:?}");
    // Two files, three claims of the handoff, three conditions.
    assert_eq!(rows.len(), 8, "{rows:?}");
}

/// "Stages produced 0/1 artifacts; handoffs passed 1/1", and the whole run fails by its health. The handoff fails here,
/// because the callee called the tool.
#[test]
fn a_stage_that_waits_for_approval_leaves_the_pipeline_unhealthy() {
    let rows = pipeline_rows("pipeline-run-approval");
    let status = |at: &str| rows.iter().find(|(place, ..)| place == at).map(|(_, status, _)| *status).unwrap();
    assert_eq!(status("/stages/0/produces"), Status::Skip);
    assert_eq!(status("/stages/1/handoff_contract"), Status::Pass);
    assert_eq!(status("/pipeline_health/0"), Status::Fail);
    assert_eq!(status("/pipeline_health/1"), Status::Fail);
    assert_eq!(status("/pipeline_health/2"), Status::Pass);
}

fn status_of(word: &str) -> Option<Status> {
    Some(match word {
        "PASS" => Status::Pass,
        "FAIL" => Status::Fail,
        "WARN" => Status::Warn,
        "SKIP" => Status::Skip,
        "ERROR" => Status::Error,
        "UNKNOWN" => Status::Unknown,
        _ => return None,
    })
}

#[test]
fn assertions_are_judged_as_the_original_judged_them() {
    let differences = differences();
    let mut seen = 0;
    let mut wrong = Vec::new();
    for case in cases() {
        let mut rows = rows(&case);
        let analysis = case.analysis();
        for row in &case.expected {
            let Some((phase, index, place)) = place_of(row) else { continue };
            if !["given", "then", "pre_delegation", "post_delegation", "deterministic", "semantic"].contains(&phase) {
                continue;
            }
            // Scenarios of one name are distinguished by their order.
            let found = rows.iter().position(|(at, ..)| *at == place).map(|index| rows.remove(index));
            let recorded = row["status"].as_str().unwrap();
            let intended = row["with_context"]["status"].as_str().unwrap_or(recorded);
            let different = differences.iter().find(|it| it.case == case.name && it.row == place);
            seen += 1;
            let fits = match (&found, different) {
                (Some((_, status, _)), Some(different)) => {
                    status_of(&different.outcome.to_uppercase()) == Some(*status)
                }
                (Some((_, status, _)), None) => match status_of(intended) {
                    Some(expected) => *status == expected,
                    None => *status != Status::Pass,
                },
                // An assertion that cannot be read is an error in the editor.
                (None, _) => {
                    let at = format!("/{phase}/{index}");
                    let told = analysis
                        .problems
                        .iter()
                        .any(|problem| problem.severity == Severity::Error && problem.at.as_str().contains(&at));
                    told && (recorded == "CRASH" || UNREADABLE.contains(&(case.name.as_str(), place.as_str())))
                }
            };
            if !fits {
                wrong.push(format!("{} {place}: {recorded} {} / ours {found:?}", case.name, row["message"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    assert!(seen >= 150, "only {seen} rows");
}

/// The rows that differ only because a score below its threshold fails here.
#[test]
fn scores_below_their_threshold_warn_as_in_the_original_where_settings_say_so() {
    let clawspec = GatewaySettings { thresholds: Shortfall::Warn, ..GatewaySettings::default() };
    let settings = Settings { gateway: clawspec, ..Settings::default() };
    let mut warned = 0;
    for case in cases() {
        let mut rows = rows_under(&case, &settings);
        for row in case.expected.iter().filter(|row| row["status"] == "WARN") {
            let Some((.., place)) = place_of(row) else { continue };
            let Some(found) = rows.iter().position(|(at, ..)| *at == place).map(|index| rows.remove(index)) else {
                continue;
            };
            let scored = ["artifact_matches_golden", "llm_judge", "agent_identity_consistent"];
            if scored.iter().any(|kind| row["type"] == *kind) {
                assert_eq!(found.1, Status::Warn, "{} {place}: {}", case.name, found.2);
                warned += 1;
            }
        }
    }
    assert!(warned >= 8, "only {warned} rows");
}

/// Contracts that the original refuses: where it says so, and where it is said here.
#[test]
fn what_the_original_refuses_is_reported_at_its_place() {
    let mut wrong = Vec::new();
    for case in cases() {
        let analysis = case.analysis();
        for row in case.expected.iter().filter(|row| row["phase"] == "contract") {
            let message = row["message"].as_str().unwrap();
            let (path, what) = message.split_once(": ").unwrap();
            let at = if path == "$" { String::new() } else { format!("/{path}") };
            // A mistake that aliases repeat is reported once, with all its places.
            let mut places = analysis
                .problems
                .iter()
                .flat_map(|problem| std::iter::once(&problem.at).chain(problem.related.iter().map(|other| &other.at)));
            let told = places.any(|place| place.as_str() == at || place.as_str().starts_with(&format!("{at}/")));
            if !told {
                wrong.push(format!("{}: {at} {what}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Contracts with an error here that the original takes, because it notices nothing: case and place.
const REFUSED_HERE: &[(&str, &str)] = &[
    // Values of another type than the one that is read.
    ("artifact_absent_words-shapes", "/scenarios/0/then/0/words/1"),
    ("artifact_absent_words-shapes", "/scenarios/0/then/1/words"),
    ("artifact_matches_golden-scoring", "/scenarios/0/then/3/rouge_threshold"),
    ("env_present-wrong-shape", "/scenarios/0/then/2/vars"),
    ("gateway_response-odd", "/scenarios/0/then/0/expected_status"),
    ("llm_judge-consistency", "/scenarios/0/then/3/consistency/runs"),
    // Limits that the reference requires.
    ("scenario-given-not-pass", "/scenarios/0/given/0"),
    ("scenario-status-order", "/scenarios/0/then/0"),
    ("scenario-status-order", "/scenarios/1/then/0"),
    // Keys that do not exist.
    ("contract-typo-fields", "/scenarios/0/then/0/paht"),
    ("env_present-wrong-shape", "/scenarios/0/then/0/var"),
    ("state_file-yaml-types", "/scenarios/0/then/5/fields"),
    // It runs the scenarios before this one.
    ("cli-run-schema", "/scenarios/2/then/0/type"),
    // Names and numbers that cannot be.
    ("scenario-duplicate-names", "/scenarios/1/name"),
    ("template-in-name", "/scenarios/0/name"),
];

#[test]
fn what_the_original_takes_is_taken() {
    let mut wrong = Vec::new();
    for case in cases() {
        let refused = case.expected.iter().any(|row| row["phase"] == "contract");
        let text = case.text();
        let analysis = case.analysis();
        for problem in analysis.problems.iter().filter(|problem| problem.severity == Severity::Error && !refused) {
            let at = problem.at.as_str();
            // The original breaks when it comes to such an assertion.
            let crash = case.expected.iter().any(|row| {
                row["status"] == "CRASH"
                    && at.contains(&format!("/{}/{}", row["phase"].as_str().unwrap_or_default(), row["index"]))
            });
            // The cases were recorded without the gate: what defines a target is not part of them.
            let is_target = problem.code == Code::MissingFile && ["/target/path", "/pipeline/skill_path"].contains(&at);
            if !crash && !is_target && !REFUSED_HERE.contains(&(case.name.as_str(), at)) {
                let shown = common::render(&text, std::slice::from_ref(problem));
                wrong.push(format!("{} {at}\n{shown}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
