//! The report as a page for browsers: one file that loads nothing and needs no script.

pub mod attempt;
mod excerpt;
mod ids;
mod overview;
pub mod state;
pub mod writer;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use speclens_schema::{suite::Case, verdict::Status, words::plural};

use super::{
    ResultCounts, SuiteReport,
    failures::{Failure, failures},
    human::{dollars, duration_ms},
    status::{self, word},
};
use crate::event::{CaseResult, Origin, RunResult};
use attempt::{Room, note};
use ids::Ids;
use state::{class, mark};
use writer::{Html, page};

/// Tests and attempts that did not pass are open, as long as there are not more.
const MAX_OPEN: usize = 20;

/// Returns the page of a run. `failures`: files that could not be read; `now`: the time, RFC 3339; `version`: the number of
/// a page that is served, and followed by others.
pub fn run(reports: &[SuiteReport], failures: &[String], now: &str, version: Option<u64>) -> String {
    let counts = ResultCounts::of(reports);
    let title = title(reports);
    page(&format!("{}: {title}", verdict(reports, failures)), version, |html| {
        html.element("header", &[], |html| {
            html.leaf("h1", &[], &title);
            summary(html, reports, failures, counts, now);
        });
        html.element("nav", &[("aria-label", "Suites")], |html| contents(html, reports));
        html.element("main", &[("id", "results"), ("tabindex", "-1")], |html| {
            let counted = by_status(counts).into_iter().filter(|(_, count)| *count > 0);
            let states: Vec<(Status, String)> =
                counted.map(|(of, count)| (of, format!("{} {} {count}", status::mark(of), word(of)))).collect();
            filter(html, &states);
            let results = reports.iter().filter_map(|report| report.result.as_ref());
            let attempts = results.flat_map(|result| &result.cases).flat_map(|case| &case.runs);
            let room = Room::among(attempts.map(|run| run.status));
            let (mut open, mut settings) = (MAX_OPEN, BTreeSet::new());
            for (index, report) in reports.iter().enumerate() {
                suite(html, report, Ids { suite: index }, room, &mut open, &mut settings);
            }
        });
        html.leaf("footer", &[], "Made by speclens. Secrets that it knows are masked.");
    })
}

fn title(reports: &[SuiteReport]) -> String {
    match reports {
        [report] => report.title(),
        reports => plural(reports.len(), "suite"),
    }
}

fn verdict(reports: &[SuiteReport], failures: &[String]) -> &'static str {
    let worst = reports.iter().map(SuiteReport::status).max();
    if failures.is_empty() { worst.map_or("nothing ran", word) } else { word(Status::Error) }
}

fn summary(html: &mut Html, reports: &[SuiteReport], failures: &[String], counts: ResultCounts, now: &str) {
    let worst = reports.iter().map(SuiteReport::status).max().unwrap_or(Status::Skip);
    let worst = if failures.is_empty() { worst } else { Status::Error };
    html.element("p", &[("class", &format!("result {}", class(worst)))], |html| {
        html.leaf("span", &[("class", "mark"), ("aria-hidden", "true")], &status::mark(worst).to_string());
        html.leaf("strong", &[], verdict(reports, failures));
        html.push_text(&format!(" {}", plural(counts.cases, "test")));
        let counted = by_status(counts).into_iter().filter(|(_, count)| *count > 0);
        let counted: Vec<String> = counted.map(|(status, count)| format!("{count} {}", word(status))).collect();
        if !counted.is_empty() {
            html.push_text(&format!(": {}", counted.join(", ")));
        }
    });
    html.element("p", &[("class", "when")], |html| {
        let time = now.parse::<Timestamp>().map(|time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string());
        html.push_text("Report of ");
        html.leaf("time", &[("datetime", now)], time.as_deref().unwrap_or(now));
    });
    for failure in failures {
        html.leaf("p", &[("class", "message is-error")], failure);
    }
}

fn by_status(counts: ResultCounts) -> [(Status, usize); 6] {
    [
        (Status::Pass, counts.passed),
        (Status::Warn, counts.warned),
        (Status::Fail, counts.failed),
        (Status::Error, counts.errored),
        (Status::Unknown, counts.unknown),
        (Status::Skip, counts.skipped),
    ]
}

fn contents(html: &mut Html, reports: &[SuiteReport]) {
    html.element("ul", &[], |html| {
        for (index, report) in reports.iter().enumerate() {
            html.element("li", &[("class", class(report.status()))], |html| {
                mark(html, report.status());
                html.leaf("a", &[("href", &Ids { suite: index }.heading())], &report.title());
            });
        }
    });
}

/// Writes a box for each state: the style sheet hides the tests of those that are not checked.
pub fn filter(html: &mut Html, states: &[(Status, String)]) {
    if states.len() < 2 {
        return;
    }
    html.element("form", &[("class", "filter"), ("autocomplete", "off")], |html| {
        html.element("fieldset", &[], |html| {
            html.leaf("legend", &[], "Show tests");
            for (status, label) in states {
                html.element("label", &[("class", class(*status))], |html| {
                    let id = format!("show-{}", status.as_str());
                    html.void("input", &[("type", "checkbox"), ("id", &id), ("checked", "")]);
                    html.push_text(label);
                });
            }
        });
    });
}

fn suite<'r>(
    html: &mut Html,
    report: &'r SuiteReport,
    ids: Ids,
    room: Room,
    open: &mut usize,
    settings: &mut BTreeSet<&'r str>,
) {
    let id = ids.heading();
    html.element("section", &[("class", "suite")], |html| {
        html.leaf("h2", &[("id", &id)], &report.title());
        html.element("p", &[("class", "path")], |html| html.leaf("code", &[], &report.source.path));
        overview::write(html, report, ids, settings);
        let Some(result) = &report.result else { return };
        let failures = failures(report, result);
        let mut of_cases: BTreeMap<*const Case, Vec<&Failure<'_>>> = BTreeMap::new();
        for failure in &failures {
            failure.cases.iter().for_each(|case| of_cases.entry(*case).or_default().push(failure));
        }
        for (position, outcome) in result.cases.iter().enumerate() {
            let case: *const Case = &*report.suite.cases[outcome.case];
            let failures = of_cases.get(&case).map_or(&[][..], Vec::as_slice);
            test(html, report, outcome, failures, &ids.test(position), room, open);
        }
    });
}

/// Returns whether a part is open at first.
fn is_open(status: Status, open: &mut usize) -> bool {
    let is_good = matches!(status, Status::Pass | Status::Skip);
    let opens = !is_good && *open > 0;
    *open -= usize::from(opens);
    opens
}

/// Writes a part that opens with a click.
pub fn details(html: &mut Html, classes: &str, is_open: bool, content: impl FnOnce(&mut Html)) {
    let all = [("class", classes), ("open", "")];
    html.element("details", if is_open { &all } else { &all[..1] }, content);
}

fn test(
    html: &mut Html,
    report: &SuiteReport,
    outcome: &CaseResult,
    failures: &[&Failure<'_>],
    id: &str,
    room: Room,
    open: &mut usize,
) {
    let case = &report.suite.cases[outcome.case];
    let is_open = is_open(outcome.status, open);
    details(html, &format!("test {}", class(outcome.status)), is_open, |html| {
        html.element("summary", &[], |html| {
            mark(html, outcome.status);
            html.leaf("h3", &[], &report.masked(&case.name));
            let passed = outcome.runs.iter().filter(|run| matches!(run.status, Status::Pass | Status::Warn)).count();
            if outcome.runs.len() > 1 {
                html.leaf(
                    "span",
                    &[("class", "aside")],
                    &format!("{passed} of {} passed", plural(outcome.runs.len(), "attempt")),
                );
            }
        });
        // A link to a place in a closed part opens it; one to the part itself does not.
        html.element("div", &[("class", "body"), ("id", id)], |html| {
            html.element("p", &[("class", "path")], |html| html.leaf("code", &[], &report.path_of(case)));
            excerpt::write(html, report, outcome, failures);
            let is_only = outcome.runs.len() == 1;
            let mut order: Vec<usize> = (0..outcome.runs.len()).collect();
            order.sort_by_key(|index| std::cmp::Reverse(outcome.runs[*index].status));
            for index in order {
                let run = &outcome.runs[index];
                details(html, &format!("attempt {}", class(run.status)), is_only && is_open, |html| {
                    attempt_of(html, report, run, is_only, &Ids::attempt(id, index), room);
                });
            }
        });
    });
}

fn attempt_of(html: &mut Html, report: &SuiteReport, run: &RunResult, is_only: bool, id: &str, room: Room) {
    html.element("summary", &[], |html| {
        mark(html, run.status);
        html.leaf("h4", &[], &format!("{}, attempt {}", report.masked(&run.subject.to_string()), run.repeat + 1));
        let figures = run.figures;
        let parts = [
            figures.turns.map(|turns| plural(turns as usize, "turn")),
            figures.duration_ms.map(duration_ms),
            figures.usage.map(|usage| plural((usage.input_tokens + usage.output_tokens) as usize, "token")),
            figures.cost_usd().map(dollars),
            figures.judges.and_then(|judges| judges.cost_usd).map(|usd| format!("judges {}", dollars(usd))),
            origin(run.origin).map(str::to_owned),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        html.leaf("span", &[("class", "aside")], &parts.join(" · "));
    });
    html.element("div", &[("class", "body"), ("id", id)], |html| {
        if let Some(absence) = &run.absence {
            html.leaf("p", &[("class", "message")], &report.masked(&absence.message));
        }
        run.from.iter().for_each(|from| {
            note(html, &format!("from the recording of `{}`, which runs the same command", report.masked(from)));
        });
        run.notes.iter().for_each(|text| note(html, &report.masked(text)));
        // The lines of the spec above have those of the only attempt.
        if !is_only {
            excerpt::verdicts(html, report, run, room);
        }
        match run.evidence.get() {
            Some(evidence) => attempt::write(html, &evidence, run.status, "h5", room),
            None if run.absence.is_none() => note(html, "the recording no longer exists; run the test again"),
            None => {}
        }
    });
}

fn origin(origin: Origin) -> Option<&'static str> {
    match origin {
        Origin::Replayed => Some("recorded"),
        Origin::Foreign => Some("recorded on another machine"),
        Origin::Recorded | Origin::Observed | Origin::Present | Origin::Nowhere => None,
    }
}
