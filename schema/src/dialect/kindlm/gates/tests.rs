//! Results of gates.

use super::{Gates, fixed};
use crate::{
    document::{Document, Pointer},
    format::Dialect,
    gates::{CaseOutcome, Gate, GateReport, RunOutcome},
    suite::Subject,
    verdict::{FailureCode, Mismatch, Outcome, Status, Verdict},
};

fn row(kind: &'static str, code: Option<FailureCode>, outcome: Outcome) -> Verdict {
    let score = match &outcome {
        Outcome::Pass => Some(1.0),
        Outcome::Fail(_) | Outcome::Error(_) => Some(0.0),
        Outcome::Warn(_) | Outcome::Skip(_) | Outcome::Unknown(_) => None,
    };
    Verdict { at: Pointer::root(), kind, label: "x".to_owned(), code, score, outcome, related: Vec::new() }
}

#[test]
fn an_unknown_claim_about_the_text_leaves_the_schema_gate_alone() {
    let open = |place: Pointer| {
        let unknown = row("schema", None, Outcome::Unknown("masked".to_owned()));
        evaluate("{}", &[&[Some(Verdict { at: place, ..unknown })]])
    };
    let status =
        |report: &GateReport| report.gates.iter().find(|it| it.name == "schemaFailuresMax").map(|it| it.status);
    let output = Pointer::root().key("output");
    assert_eq!(status(&open(output.key("contains").index(0))), Some(Status::Pass));
    assert_eq!(status(&open(output.key("schemaFile"))), Some(Status::Unknown));
}

fn pass() -> Verdict {
    row("schema", None, Outcome::Pass)
}

fn fail(code: FailureCode) -> Verdict {
    row("schema", Some(code), Outcome::Fail(Mismatch::default()))
}

/// Each case is a list of runs, each run is its verdict; `None` is a broken run.
#[track_caller]
fn evaluate(gates: &str, cases: &[&[Option<Verdict>]]) -> GateReport {
    let document = Document::read(&format!("gates: {gates}\n"), Dialect::KINDLM.scalar_rules());
    let gates = Gates::lower(document.root().and_then(|root| root.get("gates")), None);
    let cases: Vec<CaseOutcome<'_>> = cases
        .iter()
        .map(|runs| {
            let runs: Vec<RunOutcome<'_>> = runs
                .iter()
                .map(|verdict| RunOutcome {
                    subject: &Subject::Command,
                    status: verdict.as_ref().map_or(Status::Error, |verdict| verdict.outcome.status()),
                    verdicts: verdict.iter().collect(),
                    duration_ms: Some(10.0),
                    duration_is_open: false,
                    cost_usd: Some(0.0),
                })
                .collect();
            let status = runs.iter().map(|run| run.status).max().unwrap_or(Status::Skip);
            CaseOutcome { status, runs, left_out: Vec::new(), unjudged: Vec::new() }
        })
        .collect();
    gates.evaluate(&cases)
}

#[track_caller]
fn check(report: &GateReport, expected: &[(&str, Status, f64, &str)]) {
    let found: Vec<_> =
        report.gates.iter().map(|gate| (gate.name, gate.status, gate.actual, gate.message.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn defaults_stand_in_order_and_have_no_place() {
    let report = evaluate("{}", &[&[Some(pass())], &[Some(fail(FailureCode::ContainsFailed))]]);
    check(
        &report,
        &[
            ("passRateMin", Status::Fail, 0.5, "Pass rate 50.0% below minimum 95.0%"),
            ("schemaFailuresMax", Status::Pass, 0.0, "Schema failures 0 within limit 0"),
            ("piiFailuresMax", Status::Pass, 0.0, "PII failures 0 within limit 0"),
            ("keywordFailuresMax", Status::Pass, 0.0, "Keyword failures 0 within limit 0"),
        ],
    );
    assert!(!report.rescued && report.gates.iter().all(|gate| !gate.source.is_set()));
}

#[test]
fn gates_without_data_pass_and_say_so() {
    let gates = "{judgeAvgMin: 1, driftScoreMax: 0, probabilisticPassRate: 1, deterministicPassRate: 0.5, latencyMaxMs: 20, costMaxUsd: 0.000001}";
    check(
        &evaluate(gates, &[&[Some(pass())]]),
        &[
            ("passRateMin", Status::Pass, 1.0, "Pass rate 100.0% meets minimum 95.0%"),
            ("schemaFailuresMax", Status::Pass, 0.0, "Schema failures 0 within limit 0"),
            (
                "judgeAvgMin",
                Status::Pass,
                1.0,
                "Judge average N/A meets minimum 100.0% (no judge assertions found — gate trivially passed)",
            ),
            (
                "driftScoreMax",
                Status::Pass,
                0.0,
                "Drift score N/A within limit 0.0% (no drift assertions found — gate trivially passed)",
            ),
            ("piiFailuresMax", Status::Pass, 0.0, "PII failures 0 within limit 0"),
            ("keywordFailuresMax", Status::Pass, 0.0, "Keyword failures 0 within limit 0"),
            ("costMaxUsd", Status::Pass, 0.0, "Total cost $0.0000 within limit $0.0000"),
            ("latencyMaxMs", Status::Pass, 10.0, "Average latency 10ms within limit 20ms"),
            ("deterministicPassRate", Status::Pass, 1.0, "Deterministic pass rate 100.0% meets minimum 50.0%"),
            (
                "probabilisticPassRate",
                Status::Pass,
                1.0,
                "Probabilistic pass rate N/A meets minimum 100.0% (no probabilistic assertions found — gate trivially passed)",
            ),
        ],
    );
}

#[test]
fn average_that_equals_the_minimum_but_for_rounding_meets_it() {
    let judged = |score: f64| Some(Verdict { score: Some(score), ..row("judge", None, Outcome::Pass) });
    let gate = |gates: &str, scores: [f64; 3]| {
        let report = evaluate(gates, &[&scores.map(judged)]);
        let gate = report.gates.iter().find(|gate| gate.name == "judgeAvgMin").unwrap();
        (gate.status, gate.message.clone())
    };
    let pass = (Status::Pass, "Judge average 70.0% meets minimum 70.0%".to_owned());
    assert_eq!(gate("{judgeAvgMin: 0.7}", [0.7; 3]), pass);
    let fail = (Status::Fail, "Judge average 69.97% below minimum 70.00%".to_owned());
    assert_eq!(gate("{judgeAvgMin: 0.7}", [0.7, 0.7, 0.699]), fail);
}

#[test]
fn what_is_not_known_cannot_pass_a_gate() {
    let unknown = row("judge", None, Outcome::Unknown("not supported".to_owned()));
    let report = evaluate("{judgeAvgMin: 0.1, probabilisticPassRate: 0.1, passRateMin: 0.9}", &[&[Some(unknown)]]);
    for gate in &report.gates {
        let open = matches!(gate.name, "judgeAvgMin" | "probabilisticPassRate" | "passRateMin");
        assert_eq!(gate.status, if open { Status::Unknown } else { Status::Pass }, "{gate:?}");
    }
    let drift = row("drift", None, Outcome::Unknown("not supported".to_owned()));
    assert_eq!(evaluate("{driftScoreMax: 1}", &[&[Some(drift)]]).gates[2].status, Status::Unknown);
}

#[test]
fn a_broken_run_leaves_open_what_it_could_turn() {
    let report = evaluate("{passRateMin: 0.6}", &[&[Some(pass())], &[None]]);
    assert_eq!((report.gates[0].status, report.gates[0].actual), (Status::Unknown, 0.5));
    let report = evaluate("{passRateMin: 0.5}", &[&[Some(pass())], &[None]]);
    assert_eq!(report.gates[0].status, Status::Pass);
    let failed = Some(fail(FailureCode::ContainsFailed));
    let report = evaluate("{passRateMin: 0.6}", &[&[failed.clone(), failed], &[None]]);
    assert_eq!(report.gates[0].status, Status::Fail);
}

#[test]
fn gates_in_the_file_may_rescue_what_they_measure() {
    let flaky = [Some(pass()), Some(fail(FailureCode::ContainsFailed))];
    assert!(evaluate("{passRateMin: 0.5}", &[&flaky]).rescued);
    assert!(!evaluate("{passRateMin: 0.6}", &[&flaky]).rescued, "the gate fails");
    assert!(!evaluate("{passRateMin: 0.5}", &[&[Some(pass())]]).rescued, "nothing to rescue");
    let report = evaluate("{passRateMin: 0.5}", &[&flaky]);
    assert_eq!(report.gates[0].source.in_suite().map(Pointer::as_str), Some("/gates/passRateMin"));

    let schema = [Some(fail(FailureCode::SchemaInvalid))];
    let many: Vec<&[Option<Verdict>]> = std::iter::repeat_n(&[][..], 0).chain([&schema[..]]).collect();
    assert!(!evaluate("{schemaFailuresMax: 1}", &many).rescued, "the default pass rate fails");
    let passing = [Some(pass())];
    let mostly: Vec<&[Option<Verdict>]> = std::iter::repeat_n(&passing[..], 30).chain([&schema[..]]).collect();
    assert!(evaluate("{schemaFailuresMax: 1}", &mostly).rescued);
    assert!(!evaluate("{piiFailuresMax: 1, schemaFailuresMax: 0}", &mostly).rescued);
    let other = [Some(fail(FailureCode::ContainsFailed))];
    let mostly: Vec<&[Option<Verdict>]> = std::iter::repeat_n(&passing[..], 30).chain([&other[..]]).collect();
    assert!(!evaluate("{schemaFailuresMax: 1}", &mostly).rescued, "no written gate looks at this failure");
    assert!(!evaluate("{}", &mostly).rescued, "a default never rescues");
    assert!(evaluate("{deterministicPassRate: 0.9}", &mostly).rescued);
    assert!(!evaluate("{probabilisticPassRate: 0.9}", &mostly).rescued);
}

#[test]
fn nothing_that_ran_means_no_pass_rate() {
    let report = evaluate("{}", &[&[]]);
    assert_eq!((report.gates[0].status, report.gates[0].actual), (Status::Fail, 0.0));
}

#[test]
fn ties_are_rounded_up() {
    assert_eq!(fixed(6.25, 1), "6.3");
    assert_eq!(fixed(66.666_666, 1), "66.7");
    assert_eq!(fixed(0.000_001, 4), "0.0000");
}

#[test]
fn a_count_that_an_open_row_could_raise_above_its_limit_is_unknown() {
    let open = || row("pii", None, Outcome::Unknown("masked".to_owned()));
    let failed = || row("pii", Some(FailureCode::PiiDetected), Outcome::Fail(Mismatch::default()));
    for (limit, status) in [(0, Status::Fail), (1, Status::Unknown), (2, Status::Pass)] {
        let report = evaluate(&format!("{{piiFailuresMax: {limit}}}"), &[&[Some(failed()), Some(open())]]);
        let gate = report.gates.iter().find(|gate| gate.name == "piiFailuresMax").unwrap();
        assert_eq!(gate.status, status, "{}", gate.message);
    }
}
