//! `--dry-run`: what would run, where, and what it would take.

use std::{collections::BTreeSet, fmt::Write};

use speclens_runner::{
    model::Models,
    report::{SuiteReport, human, plain},
};
use speclens_schema::{dialect::cli_bench::config::HelpMode, problem::Severity};

use crate::{
    cli::load::Loaded,
    dry::{Plan, Sum},
};

/// A suite, with the tests that are chosen of it.
pub(super) struct Chosen<'s> {
    pub(super) loaded: &'s Loaded,
    pub(super) cases: &'s BTreeSet<usize>,
    /// The models that it may ask; `None` where it is refused.
    pub(super) models: Option<&'s Models>,
}

/// Every chosen test, with what it would do. Models and help modes that are named take the place of those of the suites.
pub(super) fn describe(suites: &[Chosen<'_>], models: &[String], help_modes: &[HelpMode]) -> String {
    let mut text = String::new();
    let mut sum = Sum::default();
    for suite in suites {
        let report = &suite.loaded.report;
        let Some(own) = suite.models else {
            let what = if suite.loaded.workspace.wrong().is_some() { "its settings have" } else { "the suite has" };
            let _ = writeln!(text, "{}\n  refused: {what} errors", plain::line(&report.source.path));
            problems(&mut text, report);
            continue;
        };
        if suite.cases.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{}", plain::line(&report.source.path));
        problems(&mut text, report);
        let secrets = &report.source.secrets;
        let plan = Plan { suite: &report.suite, cases: suite.cases, models: own, secrets, chosen: models, help_modes };
        text.push_str(&plan.describe(&mut sum));
    }
    text.push_str(&sum.sentences());
    text
}

/// The errors and warnings of a suite and of its parts.
fn problems(text: &mut String, report: &SuiteReport) {
    for (source, problem) in report.all_problems().filter(|(_, problem)| problem.severity <= Severity::Warning) {
        let _ = writeln!(text, "{}\n", human::problem_snippet(source, problem));
    }
}
