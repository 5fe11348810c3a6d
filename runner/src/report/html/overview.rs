//! The summary of a suite: its problems, gates, costs, tests by model, what was skipped, and its history.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use speclens_schema::{gates::GateSource, judge, problem::Severity, verdict::Status, words::plural};

use super::{
    attempt::note,
    ids::Ids,
    state::{class, mark},
    writer::Html,
};
use crate::{
    event::{CaseResult, RunResult, SuiteResult},
    report::{
        SuiteReport,
        human::{dollars, duration, percent},
        matrix::{Cost, Matrix, MatrixRow, Score},
    },
};

/// Writes everything about a suite except its tests. `settings`: the settings files whose problems another suite has.
pub(super) fn write<'r>(html: &mut Html, report: &'r SuiteReport, ids: Ids, settings: &mut BTreeSet<&'r str>) {
    let Some(result) = &report.result else {
        problems(html, report, settings);
        report.refusal().iter().for_each(|reason| note(html, reason));
        return;
    };
    let matrix = Matrix::of(result);
    figures(html, report, result, &matrix);
    problems(html, report, settings);
    gates(html, report, result);
    if !result.cases.is_empty() {
        table(html, report, result, &matrix, ids);
    }
    skipped(html, report, result);
    history(html, result);
}

fn problems<'r>(html: &mut Html, report: &'r SuiteReport, settings: &mut BTreeSet<&'r str>) {
    let is_shown = |severity: Severity| severity <= Severity::Warning;
    let problems: Vec<_> = report.new_problems(settings).filter(|(_, problem)| is_shown(problem.severity)).collect();
    if problems.is_empty() {
        return;
    }
    html.leaf("h3", &[], "Problems");
    html.element("ul", &[("class", "problems")], |html| {
        for (source, problem) in problems {
            let status = if problem.severity == Severity::Error { Status::Error } else { Status::Warn };
            let line = source.document.text().byte_to_line(problem.range.start.min(source.document.text().len_bytes()));
            html.element("li", &[("class", class(status))], |html| {
                mark(html, status);
                html.leaf("code", &[], &format!("{}:{}", source.path, line + 1));
                html.leaf("p", &[("class", "message")], &source.secrets.mask(&problem.text()));
            });
        }
    });
}

fn figures(html: &mut Html, report: &SuiteReport, result: &SuiteResult, matrix: &Matrix<'_>) {
    let attempts: usize = matrix.rows.iter().flat_map(|row| &row.scores).map(|score| score.runs).sum();
    let spending = matrix.spending;
    let has_cost = !(spending.subjects.is_nothing() && spending.judges.is_nothing());
    let figures = [
        ("attempts", Some(attempts.to_string())),
        ("duration of the run", Some(duration(result.duration))),
        ("version", report.version()),
        ("cost", cost(spending.subjects)),
        ("cost of judges", cost(spending.judges)),
        ("", (spending.is_replayed && has_cost).then(|| "evaluated from recordings: nothing was spent now".to_owned())),
        ("", result.cancelled.then(|| "cancelled before the end".to_owned())),
        ("", result.gates.rescued.then(|| "the gates permit the failures".to_owned())),
    ];
    html.element("ul", &[("class", "facts")], |html| {
        for (name, value) in figures {
            value.iter().for_each(|value| html.leaf("li", &[], format!("{name} {value}").trim_start()));
        }
    });
}

/// Returns a cost; `None` if there was none.
fn cost(cost: Cost) -> Option<String> {
    match (cost.is_nothing(), cost.known()) {
        (true, _) => None,
        (false, Some(usd)) => Some(dollars(usd)),
        (false, None) if cost.priced == 0 => Some("unknown: no price is known".to_owned()),
        (false, None) => Some(format!(
            "at least {}; the price of {} is not known",
            dollars(cost.usd),
            plural(cost.unpriced, "other attempt")
        )),
    }
}

fn gates(html: &mut Html, report: &SuiteReport, result: &SuiteResult) {
    if result.gates.gates.is_empty() {
        return;
    }
    html.leaf("h3", &[], "Gates");
    scrolled(html, "Gates", |html| {
        head(html, &["state", "gate", "result", "limit is from"]);
        html.element("tbody", &[], |html| {
            for gate in &result.gates.gates {
                html.element("tr", &[("class", class(gate.status))], |html| {
                    html.element("td", &[("class", "state")], |html| mark(html, gate.status));
                    html.leaf("th", &[("scope", "row")], gate.name);
                    html.leaf("td", &[], &report.masked(&gate.message));
                    html.leaf(
                        "td",
                        &[],
                        match &gate.source {
                            GateSource::Default => "default",
                            GateSource::Settings => "speclens.yaml",
                            GateSource::Suite(_) => "the suite",
                        },
                    );
                });
            }
        });
    });
}

/// Writes the table of tests and subjects. Each cell leads to the attempt that decides it.
fn table(html: &mut Html, report: &SuiteReport, result: &SuiteResult, matrix: &Matrix<'_>, ids: Ids) {
    html.leaf("h3", &[], "Tests");
    let names: Vec<String> = matrix.subjects.iter().map(|subject| report.masked(&subject.name)).collect();
    let has_cost = matrix.subjects.iter().any(|subject| !subject.score.cost.is_nothing());
    let heads: Vec<&str> = ["state", "test"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .chain(["duration"])
        .chain(has_cost.then_some("cost"))
        .collect();
    scrolled(html, "Tests", |html| {
        head(html, &heads);
        html.element("tbody", &[], |html| {
            for (position, case) in result.cases.iter().enumerate() {
                let row = matrix.rows.iter().find(|row| row.case == case.case);
                html.element("tr", &[("class", class(case.status))], |html| {
                    html.element("td", &[("class", "state")], |html| mark(html, case.status));
                    html.element("th", &[("scope", "row")], |html| {
                        let name = report.masked(&report.suite.cases[case.case].name);
                        html.leaf("a", &[("href", &ids.test(position))], &name);
                    });
                    for index in 0..matrix.subjects.len() {
                        cell(html, case, row, (matrix, index), &ids.test(position));
                    }
                    let took: Option<f64> = case.runs.iter().map(|run| run.figures.duration_ms).sum();
                    let took = took.filter(|_| !case.runs.is_empty()).map(crate::report::human::duration_ms);
                    html.leaf("td", &[("class", "number")], took.as_deref().unwrap_or("–"));
                    if has_cost {
                        let spent: Option<f64> = case.runs.iter().map(|run| run.figures.total_cost_usd()).sum();
                        html.leaf("td", &[("class", "number")], &spent.map_or_else(|| "–".to_owned(), dollars));
                    }
                });
            }
        });
        if matrix.rows.len() > 1 {
            totals(html, matrix, has_cost);
        }
    });
}

fn cell(
    html: &mut Html,
    case: &CaseResult,
    row: Option<&MatrixRow>,
    (matrix, index): (&Matrix<'_>, usize),
    test: &str,
) {
    let subject = &matrix.subjects[index];
    let score = row.map(|row| row.scores[index]).unwrap_or_default();
    let runs = case.runs.iter().enumerate().filter(|(_, run)| run.subject == *subject.subject && !run.is_left_out());
    // The worst one, and the first of equal ones.
    let Some((attempt, worst)) = runs.min_by_key(|(_, run)| std::cmp::Reverse(run.status)) else {
        html.leaf("td", &[("class", "number")], "–");
        return;
    };
    html.element("td", &[("class", &format!("number {}", class(worst.status)))], |html| {
        html.element("a", &[("href", &Ids::attempt(test, attempt))], |html| {
            mark(html, worst.status);
            html.push_text(&format!("{}/{}", score.passed, score.runs));
        });
    });
}

fn totals(html: &mut Html, matrix: &Matrix<'_>, has_cost: bool) {
    html.element("tfoot", &[], |html| {
        html.element("tr", &[], |html| {
            html.leaf("td", &[], "");
            html.leaf("th", &[("scope", "row")], "all tests");
            for subject in &matrix.subjects {
                let Score { passed, runs, .. } = subject.score;
                let rate = subject.score.rate().map(|rate| format!("{passed}/{runs}, {}%", percent(rate)));
                html.leaf("td", &[("class", "number")], rate.as_deref().unwrap_or("–"));
            }
            html.leaf("td", &[], "");
            if has_cost {
                html.leaf("td", &[("class", "number")], &cost(matrix.spending.subjects).unwrap_or_default());
            }
        });
    });
}

/// Writes what was skipped, by reason.
fn skipped(html: &mut Html, report: &SuiteReport, result: &SuiteResult) {
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for outcome in &result.cases {
        let case = &report.suite.cases[outcome.case];
        let left_out = outcome.runs.iter().filter(|run| run.is_left_out());
        let of_attempts = left_out.filter_map(|run| Some(run.absence.as_ref()?.message.clone()));
        let of_assertions = outcome.runs.iter().filter_map(|run| judge::skipped(&run.verdicts));
        let of_suite = (case.skip && outcome.runs.is_empty()).then(|| "the suite skips the test".to_owned());
        for reason in of_suite.into_iter().chain(of_attempts).chain(of_assertions) {
            let tests = reasons.entry(report.masked(&reason)).or_default();
            let name = report.masked(&case.name);
            if tests.last() != Some(&name) {
                tests.push(name);
            }
        }
    }
    if reasons.is_empty() {
        return;
    }
    html.leaf("h3", &[], "Skipped");
    html.element("dl", &[("class", "reasons")], |html| {
        for (reason, tests) in &reasons {
            html.leaf("dt", &[], reason);
            html.leaf("dd", &[], &tests.join(", "));
        }
    });
}

/// The attempts that began on one day.
#[derive(Default)]
struct Day {
    attempts: usize,
    passed: usize,
    cost: Option<f64>,
}

/// Writes the pass rate and the cost by day, if the recorded attempts began on several days.
fn history(html: &mut Html, result: &SuiteResult) {
    let mut days: BTreeMap<String, Day> = BTreeMap::new();
    for run in result.cases.iter().flat_map(|case| &case.runs) {
        let Some(day) = day(run) else { continue };
        let day = days.entry(day).or_default();
        day.attempts += 1;
        day.passed += usize::from(matches!(run.status, Status::Pass | Status::Warn));
        if let Some(usd) = run.figures.total_cost_usd() {
            *day.cost.get_or_insert_default() += usd;
        }
    }
    if days.is_empty() {
        return;
    }
    html.leaf("h3", &[], "History");
    if let [(day, _)] = &days.iter().collect::<Vec<_>>()[..] {
        return note(
            html,
            &format!(
                "All attempts began on {day}. Recordings keep the newest attempt only, so there is no earlier run."
            ),
        );
    }
    scrolled(html, "History", |html| {
        head(html, &["day", "attempts", "passed", "pass rate", "cost"]);
        html.element("tbody", &[], |html| {
            for (name, Day { attempts, passed, cost }) in &days {
                html.element("tr", &[], |html| {
                    html.leaf("th", &[("scope", "row")], name);
                    html.leaf("td", &[("class", "number")], &attempts.to_string());
                    html.leaf("td", &[("class", "number")], &passed.to_string());
                    html.element("td", &[("class", "number")], |html| {
                        let rate = *passed as f64 / *attempts as f64 * 100.0;
                        let value = [("max", "100"), ("value", &*format!("{rate:.1}")), ("aria-hidden", "true")];
                        html.element("progress", &value, |_| {});
                        html.push_text(&format!("{}%", percent(rate)));
                    });
                    html.leaf("td", &[("class", "number")], &cost.map_or_else(|| "–".to_owned(), dollars));
                });
            }
        });
    });
    note(
        html,
        "Recordings keep the newest attempt of each test and model, so a day has the attempts that were not repeated later.",
    );
}

/// Returns the day on which an attempt began, in UTC.
fn day(run: &RunResult) -> Option<String> {
    let began = i64::try_from(run.began_us).ok().filter(|began| *began > 0)?;
    Some(Timestamp::from_microsecond(began).ok()?.strftime("%Y-%m-%d").to_string())
}

/// Writes a table that scrolls on its own where it is wider than the page.
fn scrolled(html: &mut Html, name: &str, content: impl FnOnce(&mut Html)) {
    let room = [("class", "scroll"), ("tabindex", "0"), ("role", "group"), ("aria-label", name)];
    html.element("div", &room, |html| html.element("table", &[], content));
}

fn head(html: &mut Html, names: &[&str]) {
    html.element("thead", &[], |html| {
        html.element("tr", &[], |html| names.iter().for_each(|name| html.leaf("th", &[("scope", "col")], name)));
    });
}
