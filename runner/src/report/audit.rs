//! The report of an audit: which faults of recorded runs no assertion notices.

use std::{collections::BTreeSet, fmt::Write, sync::Arc};

use quick_junit::{NonSuccessKind, Report, TestSuite};
use serde_json::{Value, json};
use speclens_schema::{
    audit::{Audit, Effect, Harm, Tally, Tried, not_audited},
    document::Pointer,
    suite::{Case, Claim},
    words::plural,
    write::Remedy,
};

use super::{
    FileReport, SourceText, SuiteReport,
    junit::{bad, named, placed},
    plain::{self, BOLD, DIM, GREEN, RED, YELLOW},
};

/// Maximum number of tests to name in a line.
const MAX_NAMES: usize = 5;

/// A test that was audited.
#[derive(Debug)]
pub struct AuditedTest {
    /// Index of the case in the suite.
    pub case: usize,
    /// Whose attempt was audited, if there are several subjects.
    pub subject: Option<String>,
    /// The audit, or the reason why there is none.
    pub audit: Result<Audit, String>,
    /// Whether there is no audit because there is no result: no recording, or one of another act.
    pub lacks_result: bool,
    /// Indices of the survivors in the audit that the user accepts.
    pub accepted: BTreeSet<usize>,
    /// Assertions that would notice survivors.
    pub remedies: Vec<Remedy>,
    /// Other tests, which do something else, on whose recorded runs it also passes.
    pub passes_on: Vec<String>,
}

#[derive(Debug)]
pub struct AuditReport {
    pub report: SuiteReport,
    pub tests: Vec<AuditedTest>,
}

impl AuditedTest {
    /// Returns the faults that count: all but the accepted survivors.
    fn counted(&self) -> impl Iterator<Item = &Tried> {
        let tried = self.audit.iter().flat_map(|audit| &audit.tried).enumerate();
        tried.filter(|(index, _)| !self.accepted.contains(index)).map(|(_, tried)| tried)
    }

    pub fn survivors(&self) -> impl Iterator<Item = &Tried> {
        self.indexed_survivors().map(|(_, tried)| tried)
    }

    fn indexed_survivors(&self) -> impl Iterator<Item = (usize, &Tried)> {
        let tried = self.audit.iter().flat_map(|audit| &audit.tried).enumerate();
        tried.filter(|(index, tried)| tried.effect == Effect::Survived && !self.accepted.contains(index))
    }

    /// Returns an assertion that would notice a survivor, given the index of the fault.
    fn remedy(&self, fault: usize) -> Option<&Remedy> {
        self.remedies.iter().find(|remedy| remedy.notices.contains(&fault))
    }

    pub fn tally(&self) -> Tally {
        Tally::of(self.counted())
    }

    /// Returns the claims about the act that notice no fault, unless they were not asked.
    fn idle_claims<'a>(&'a self, case: &'a Case) -> impl Iterator<Item = &'a Claim> {
        let notices = |claim: &Claim| {
            let is_in = |parts: &[Pointer]| parts.iter().any(|part| part.below(&claim.at).is_some());
            self.counted().any(|tried| matches!(&tried.effect, Effect::Noticed(parts) if is_in(parts)))
        };
        let is_unasked = |claim: &usize| self.audit.as_ref().is_ok_and(|audit| audit.unasked.contains(claim));
        let claims = case.claims.iter().enumerate().filter(|(_, claim)| !claim.is_precondition());
        claims.filter(move |(index, claim)| !is_unasked(index) && !notices(claim)).map(|(_, claim)| claim)
    }
}

impl AuditReport {
    pub fn tally(&self) -> Tally {
        Tally::of(self.tests.iter().flat_map(AuditedTest::counted))
    }

    /// Returns the report of the suite with the survivors as its only problems, each at the name of its test.
    pub fn as_problems(&self) -> SuiteReport {
        let mut report = SuiteReport { problems: Vec::new(), parts: Vec::new(), settings: None, ..self.report.clone() };
        for test in &self.tests {
            let case = Arc::clone(&self.report.suite.cases[test.case]);
            let source = self.report.source_of(&case).into_owned();
            let at = case.at.key(report.dialect.name_key());
            let range = source.range_of(&at);
            let problems = test.indexed_survivors().map(|(index, tried)| {
                tried.fault.problem(at.clone(), range.clone(), test.remedy(index).map(Remedy::fix))
            });
            let lacks_result = test.audit.as_ref().err().filter(|_| test.lacks_result);
            let unknown = lacks_result.map(|reason| not_audited(reason, at.clone(), range.clone()));
            let problems = problems.chain(unknown);
            match &case.file {
                None => report.problems.extend(problems),
                Some(_) => report.parts.push(FileReport { problems: problems.collect(), source }),
            }
        }
        report
    }
}

/// Returns the rate with its interval, such as "31 of 34 faults noticed (91 %, 95 % interval 77 % to 97 %)".
fn rate(tally: Tally) -> String {
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let mut text = format!("{} of {} noticed", tally.noticed, plural(tally.tried(), "fault"));
    if let Some((rate, (low, high))) = tally.rate().zip(tally.interval()) {
        let _ = write!(text, " ({}, 95 % interval {} to {})", percent(rate), percent(low), percent(high));
    }
    text
}

pub fn human(reports: &[AuditReport]) -> String {
    let mut text = String::new();
    for audited in reports {
        let report = &audited.report;
        let _ = writeln!(text, "{BOLD}{}{BOLD:#}", plain::line(&report.source.path));
        for test in &audited.tests {
            of_test(&mut text, report, test);
        }
    }
    let tally = Tally::of(reports.iter().flat_map(|report| &report.tests).flat_map(AuditedTest::counted));
    let _ = match tally.tried() {
        0 => writeln!(text, "nothing was audited"),
        _ => writeln!(text, "{}", rate(tally)),
    };
    text
}

fn of_test(text: &mut String, report: &SuiteReport, test: &AuditedTest) {
    let case = &report.suite.cases[test.case];
    let mut name = report.masked(&case.name);
    name.extend(test.subject.iter().map(|subject| format!(" [{subject}]")));
    let name = plain::line(&name);
    let audit = match &test.audit {
        Ok(audit) => audit,
        Err(reason) => {
            let _ = writeln!(text, "  {DIM}-{DIM:#} {name}: not audited, {}", plain::line(&report.masked(reason)));
            return;
        }
    };
    let tally = test.tally();
    if tally.tried() == 0 {
        let _ = writeln!(text, "  {DIM}-{DIM:#} {name}: not audited, its evidence has nothing that could be damaged");
        return;
    }
    let mark = match tally.survived {
        0 => format!("{GREEN}✓{GREEN:#}"),
        _ => format!("{RED}✗{RED:#}"),
    };
    let _ = writeln!(text, "  {mark} {name}: {}", rate(tally));
    for harm in [Harm::SideEffect, Harm::Other] {
        let mut by_what: Vec<(&str, Vec<&str>)> = Vec::new();
        for Tried { fault, .. } in test.survivors().filter(|tried| tried.fault.harm == harm) {
            let phrase = fault.operator.phrase();
            match by_what.iter_mut().find(|(what, _)| *what == fault.what) {
                Some((_, phrases)) if phrases.contains(&phrase) => {}
                Some((_, phrases)) => phrases.push(phrase),
                None => by_what.push((&fault.what, vec![phrase])),
            }
        }
        if !by_what.is_empty() {
            let side_effects = if harm == Harm::SideEffect { " (side effects)" } else { "" };
            let _ = writeln!(text, "    {YELLOW}no assertion notices if{YELLOW:#}{side_effects}");
        }
        for (what, phrases) in by_what {
            let _ = writeln!(text, "      {} {}", plain::line(&report.masked(what)), phrases.join(", "));
        }
    }
    let helps = |(at, _): (usize, &Tried)| test.remedies.iter().position(|remedy| remedy.notices.contains(&at));
    let helping: BTreeSet<usize> = test.indexed_survivors().filter_map(helps).collect();
    for remedy in helping.into_iter().map(|at| &test.remedies[at]) {
        let count = test.indexed_survivors().filter(|(at, _)| remedy.notices.contains(at)).count();
        let title = plain::line(&report.masked(&remedy.title));
        let _ = writeln!(text, "    {GREEN}help:{GREEN:#} {title}, which notices {count} of them");
    }
    let source = report.source_of(case);
    let idle: Vec<String> = test
        .idle_claims(case)
        .filter(|claim| source.document.find(&claim.at).is_some())
        .map(|claim| {
            let place = claim.at.below(&case.at).unwrap_or_else(|| claim.at.clone());
            format!("`{}` (line {})", shown(&place), line_of(&source, &claim.at))
        })
        .collect();
    if !idle.is_empty() {
        let _ = writeln!(text, "    {DIM}notices nothing: {}{DIM:#}", idle.join(", "));
    }
    if !test.passes_on.is_empty() {
        let names: Vec<String> = test.passes_on.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
        let more = test.passes_on.len() - names.len();
        let more = if more > 0 { format!(" and {}", plural(more, "other test")) } else { String::new() };
        let names = plain::line(&report.masked(&names.join(", ")));
        let _ = writeln!(text, "    {YELLOW}also passes{YELLOW:#} on the recorded run of {names}{more}");
    }
    let mut rest = Vec::new();
    rest.extend((!audit.unasked.is_empty()).then(|| {
        let count = plural(audit.unasked.len(), "assertion");
        format!("{count} would have to ask a model or run a command, and did not")
    }));
    rest.extend((tally.inert > 0).then(|| format!("{} would change nothing", plural(tally.inert, "more fault"))));
    rest.extend((!test.accepted.is_empty()).then(|| format!("{} accepted", plural(test.accepted.len(), "survivor"))));
    for rest in rest {
        let _ = writeln!(text, "    {DIM}{rest}{DIM:#}");
    }
}

fn line_of(source: &SourceText, at: &Pointer) -> usize {
    source.document.text().byte_to_line(source.range_of(at).start) + 1
}

/// Returns a pointer as a path of keys: `expect.toolCalls[0]`.
fn shown(at: &Pointer) -> String {
    let mut path = String::new();
    for step in at.steps() {
        match step.index() {
            Some(index) => path.push_str(&format!("[{index}]")),
            None => {
                path.push_str(if path.is_empty() { "" } else { "." });
                path.push_str(&step.text());
            }
        }
    }
    path
}

/// Returns the report as JSON: `{"speclens": 1, "suites": [{"path", "tests": [{"name", "noticed", "survived": […], …}]}]}`.
pub fn json(reports: &[AuditReport], failures: &[String]) -> Value {
    let suite = |audited: &AuditReport| {
        let report = &audited.report;
        let tests: Vec<Value> = audited.tests.iter().map(|test| test_as_json(report, test)).collect();
        json!({ "path": report.source.path, "tests": tests })
    };
    let tally = Tally::of(reports.iter().flat_map(|report| &report.tests).flat_map(AuditedTest::counted));
    let suites: Vec<Value> = reports.iter().map(suite).collect();
    json!({ "speclens": 1, "suites": suites, "total": figures(tally), "failures": failures })
}

fn figures(tally: Tally) -> Value {
    let interval = tally.interval().map(|(low, high)| [low, high]);
    json!({
        "noticed": tally.noticed, "survived": tally.survived, "inert": tally.inert,
        "rate": tally.rate(), "interval": interval,
    })
}

fn test_as_json(report: &SuiteReport, test: &AuditedTest) -> Value {
    let case = &report.suite.cases[test.case];
    let mut value = json!({ "name": report.masked(&case.name), "subject": test.subject });
    let audit = match &test.audit {
        Ok(audit) => audit,
        Err(reason) => {
            value["reason"] = json!(report.masked(reason));
            return value;
        }
    };
    let fault = |(index, tried): (usize, &Tried)| {
        let (parts, state) = match &tried.effect {
            Effect::Noticed(parts) => (parts.as_slice(), "noticed"),
            Effect::Survived if test.accepted.contains(&index) => (&[][..], "accepted"),
            Effect::Survived => (&[][..], "survived"),
            Effect::Inert => (&[][..], "inert"),
        };
        let at: Vec<&str> = parts.iter().map(Pointer::as_str).collect();
        json!({
            "operator": tried.fault.operator, "harm": tried.fault.harm, "state": state,
            "what": report.masked(&tried.fault.what), "sentence": report.masked(&tried.fault.sentence()),
            "noticed_by": at, "help": test.remedy(index).map(|remedy| report.masked(&remedy.title)),
        })
    };
    value["figures"] = figures(test.tally());
    value["faults"] = audit.tried.iter().enumerate().map(fault).collect();
    value["passes_on"] = test.passes_on.iter().map(|name| report.masked(name)).collect();
    value["unasked"] = json!(audit.unasked.len());
    value
}

/// Returns the report as JUnit: each audited test fails if a fault of it survives.
pub fn junit(reports: &[AuditReport]) -> String {
    let mut junit = Report::new("speclens audit");
    for audited in reports {
        let report = &audited.report;
        let mut suite = TestSuite::new(plain::line(&report.title()));
        for test in &audited.tests {
            let case = &report.suite.cases[test.case];
            let status = match &test.audit {
                Err(reason) if test.lacks_result => {
                    bad(NonSuccessKind::Error, "not-audited", &plain::line(&report.masked(reason)))
                }
                Err(reason) => {
                    let mut status = quick_junit::TestCaseStatus::skipped();
                    status.set_message(plain::line(&report.masked(reason)));
                    status
                }
                Ok(_) => match test.tally().survived {
                    0 => quick_junit::TestCaseStatus::success(),
                    _ => {
                        let mut status = bad(NonSuccessKind::Failure, "unnoticed-faults", &rate(test.tally()));
                        let lines: Vec<String> = test.survivors().map(|tried| tried.fault.sentence()).collect();
                        status.set_description(plain::block(&report.masked(&lines.join("\n"))));
                        status
                    }
                },
            };
            suite.add_test_case(placed(named(report, report.masked(&case.name), status), report, case));
        }
        junit.add_test_suite(suite);
    }
    junit.to_string().expect("a report holds no text that XML cannot")
}
