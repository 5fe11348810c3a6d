//! The report for build servers: JUnit's XML. A claim that does not hold is a `failure`, an error of a run or an
//! unknown result an `error`, a test that is switched off `skipped`.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};
use speclens_schema::{
    document::Pointer,
    evidence::{Evidence, Ran},
    judge::{self, Judged},
    problem::Severity,
    suite::Case,
    verdict::{FailureCode, Outcome, Status},
};

use super::{
    SuiteReport,
    failures::of_verdict,
    finding::{elsewhere, place_in},
    plain,
};
use crate::event::{RunResult, SuiteResult};

pub fn render(reports: &[SuiteReport]) -> String {
    let mut junit = Report::new("speclens");
    let mut total = Duration::ZERO;
    for report in reports {
        junit.add_test_suite(suite(report));
        if let Some(result) = &report.result {
            total += result.duration;
            if !result.gates.gates.is_empty() {
                junit.add_test_suite(gates(report, result));
            }
        }
    }
    junit.set_time(total);
    junit.to_string().expect("a report holds no text that XML cannot")
}

fn suite(report: &SuiteReport) -> TestSuite {
    let mut suite = TestSuite::new(plain::line(&report.title()));
    suite.add_property(Property::new("path", plain::line(&report.source.path)));
    suite.add_property(Property::new("dialect", report.dialect.as_str()));
    let Some(result) = &report.result else {
        suite.add_test_case(refusal(report));
        return suite;
    };
    suite.set_time(result.duration);
    for outcome in &result.cases {
        let case = &report.suite.cases[outcome.case];
        if outcome.runs.is_empty() {
            suite.add_test_case(without_runs(report, case, outcome.status));
        }
        let several_subjects = outcome.runs.iter().any(|run| run.subject != outcome.runs[0].subject);
        let several_runs = outcome.runs.iter().any(|run| run.repeat > 0);
        for run in &outcome.runs {
            let mut name = report.masked(&case.name);
            if several_subjects {
                name.push_str(&format!(" [{}]", run.subject));
            }
            if several_runs {
                name.push_str(&format!(" #{}", run.repeat + 1));
            }
            suite.add_test_case(attempt(report, case, run, name));
        }
    }
    suite
}

fn refusal(report: &SuiteReport) -> TestCase {
    let errors: Vec<String> = report
        .all_problems()
        .filter(|(_, problem)| problem.severity == Severity::Error)
        .map(|(source, problem)| source.secrets.mask(&problem.message))
        .collect();
    let status = if errors.is_empty() {
        TestCaseStatus::success()
    } else {
        let mut status = bad(NonSuccessKind::Error, "invalid-suite", report.refusal().unwrap_or_default());
        status.set_description(plain::block(&errors.join("\n")));
        status
    };
    named(report, "suite".to_owned(), status)
}

fn without_runs(report: &SuiteReport, case: &Case, status: Status) -> TestCase {
    let status = match status {
        Status::Skip => {
            let mut status = TestCaseStatus::skipped();
            status.set_message("skipped in the suite");
            status
        }
        Status::Pass | Status::Warn => TestCaseStatus::success(),
        Status::Unknown | Status::Fail | Status::Error => {
            bad(NonSuccessKind::Error, Status::Unknown.as_str(), "the test was not run, so the result is unknown")
        }
    };
    placed(named(report, report.masked(&case.name), status), report, case)
}

fn attempt(report: &SuiteReport, case: &Case, run: &RunResult, name: String) -> TestCase {
    let evidence = run.evidence.get();
    let status = status_of(report, case, run, evidence.as_deref());
    let mut test = placed(named(report, name, status), report, case);
    test.set_assertions(run.verdicts.len());
    test.add_property(Property::new("subject", plain::line(&run.subject.to_string())));
    test.add_property(Property::new("run", run.repeat.to_string()));
    for note in &run.notes {
        test.add_property(Property::new("note", plain::line(&report.masked(note))));
    }
    let figures = [
        ("turns", run.figures.turns.map(|turns| turns.to_string())),
        ("cost_usd", run.figures.cost_usd().map(|usd| usd.to_string())),
        ("judge_cost_usd", run.figures.judges.and_then(|judges| judges.cost_usd).map(|usd| usd.to_string())),
    ];
    for (name, value) in figures.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        test.add_property(Property::new(name, value));
    }
    if let Some(duration) = run.figures.duration_ms {
        test.set_time(Duration::from_secs_f64((duration / 1000.0).max(0.0)));
    }
    if let Some(evidence) = evidence {
        describe(&mut test, &evidence, run.status);
    }
    // Many build servers do not show properties.
    if let (Some(sentence), Status::Pass | Status::Warn) = (judge::skipped(&run.verdicts), run.status) {
        test.set_system_out(plain::block(&report.masked(&sentence)));
    }
    test
}

fn describe(test: &mut TestCase, evidence: &Evidence, status: Status) {
    if let Some(code) = evidence.exit().and_then(|exit| exit.code) {
        test.add_property(Property::new("exit_code", code.to_string()));
    }
    if let Some(signal) = evidence.exit().and_then(|exit| exit.signal) {
        test.add_property(Property::new("signal", signal.to_string()));
    }
    if matches!(status, Status::Fail | Status::Error | Status::Unknown) {
        if let Some(stdout) = evidence.stdout() {
            test.set_system_out(plain::block(&stdout.text));
        }
        if let Some(stderr) = evidence.stderr() {
            test.set_system_err(plain::block(&stderr.text));
        }
        if let Some(log) = &evidence.commands {
            test.set_system_out(plain::block(&log.commands.iter().map(console).collect::<String>()));
        }
    }
}

/// Returns a command of an agent with its output, as a terminal would show it.
fn console(ran: &Ran) -> String {
    let mut text = format!("$ {}\n", ran.command.text);
    for stream in [&ran.stdout, &ran.stderr].into_iter().flatten().filter(|stream| !stream.text.is_empty()) {
        text.push_str(stream.text.trim_end_matches('\n'));
        text.push('\n');
    }
    text.push_str(&ran.exit.map(|exit| format!("[{}]\n", exit.sentence())).unwrap_or_default());
    text
}

fn status_of(report: &SuiteReport, case: &Case, run: &RunResult, evidence: Option<&Evidence>) -> TestCaseStatus {
    let shown = |text: &str| plain::block(&report.masked(text));
    // An attribute has one line.
    let title = |text: &str| plain::line(&report.masked(text));
    let kind = match run.status {
        Status::Pass | Status::Warn => return TestCaseStatus::success(),
        Status::Skip => {
            let mut status = TestCaseStatus::skipped();
            if let Some(absence) = &run.absence {
                status.set_message(title(&absence.message));
            }
            return status;
        }
        Status::Fail => NonSuccessKind::Failure,
        Status::Unknown | Status::Error => NonSuccessKind::Error,
    };
    let mut status = TestCaseStatus::non_success(kind);
    let source = report.source_of(case);
    let located = |at: &Pointer, text: &str| {
        let line = place_in(&source, &source.range_of(at)).start.line + 1;
        format!("{}:{line}: {text}", plain::line(&source.path))
    };
    if let Some(absence) = &run.absence {
        status.set_type(absence.kind.as_str()).set_message(title(&absence.message));
        status.set_description(shown(&located(case.action.at().unwrap_or(&case.at), &absence.message)));
        return status;
    }
    let bad: Vec<_> = run
        .verdicts
        .iter()
        .filter(|judged| match judged.verdict.outcome {
            Outcome::Pass | Outcome::Skip(_) | Outcome::Warn(_) => false,
            Outcome::Fail(_) | Outcome::Unknown(_) | Outcome::Error(_) => true,
        })
        .collect();
    if let Some(sentence) = judge::skipped(&run.verdicts).filter(|_| bad.is_empty()) {
        status.set_type(run.status.as_str()).set_message(shown(&sentence));
        status.set_description(shown(&located(&case.at, &sentence)));
        return status;
    }
    let worst = bad.iter().map(|judged| &judged.verdict).find(|verdict| verdict.outcome.status() == run.status);
    if let Some(worst) = worst {
        status.set_type(worst.code.map_or(run.status.as_str(), FailureCode::as_str));
        status.set_message(title(&format!("{}: {}", worst.label, worst.outcome.message())));
    }
    let mut lines = Vec::new();
    for Judged { claim, verdict } in bad {
        let claim = &case.claims[*claim].at;
        lines.push(located(
            &claim.join(&verdict.at),
            &format!("{}: {}", plain::line(&verdict.label), verdict.outcome.message()),
        ));
        let details = of_verdict(report, verdict, evidence);
        lines.extend(details.iter().map(|detail| format!("  {}", detail.line().replace('\n', "\n  "))));
        for related in &verdict.related {
            let other = elsewhere(report, &source, claim, related);
            lines.push(format!("  {}:{}: {}", other.path, other.place.start.line + 1, other.message));
        }
    }
    status.set_description(shown(&lines.join("\n")));
    status
}

pub(super) fn bad(kind: NonSuccessKind, name: &str, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(name).set_message(message);
    status
}

/// Returns the gates as a separate suite, so one that fails alone turns the build red.
fn gates(report: &SuiteReport, result: &SuiteResult) -> TestSuite {
    let mut suite = TestSuite::new(format!("{}: gates", plain::line(&report.title())));
    for gate in &result.gates.gates {
        let message = plain::line(&report.masked(&gate.message));
        let status = match gate.status {
            Status::Pass | Status::Warn | Status::Skip => TestCaseStatus::success(),
            Status::Fail => bad(NonSuccessKind::Failure, "GATE_FAILED", &message),
            Status::Unknown | Status::Error => bad(NonSuccessKind::Error, gate.status.as_str(), &message),
        };
        suite.add_test_case(named(report, gate.name.to_owned(), status));
    }
    suite
}

/// Returns the test with its file and line, as many build servers show them.
pub(super) fn placed(mut test: TestCase, report: &SuiteReport, case: &Case) -> TestCase {
    let source = report.source_of(case);
    let path = plain::line(&report.path_of(case));
    let line = place_in(&source, &source.range_of(&case.at)).start.line + 1;
    test.set_classname(path.as_str());
    test.extra.insert("file".into(), path.into());
    test.extra.insert("line".into(), line.to_string().into());
    test
}

pub(super) fn named(report: &SuiteReport, name: String, status: TestCaseStatus) -> TestCase {
    let mut test = TestCase::new(plain::line(&name), status);
    test.set_classname(plain::line(&report.source.path));
    test
}
