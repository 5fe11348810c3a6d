//! `--dry-run`: shows what would run, where, and at which cost.

use std::{collections::BTreeSet, fmt::Write, sync::Arc};

use speclens_runner::{
    event::SuiteResult,
    model::Models,
    report::{SuiteReport, human, plain},
    run::{Mode, Options},
};
use speclens_schema::{
    problem::Severity,
    suite::{Action, HelpMode},
};
use tokio_util::sync::CancellationToken;

use crate::{
    cli::load::Loaded,
    dry::{Plan, Totals},
    job::Prepared,
};

pub(super) struct Chosen<'s> {
    pub(super) loaded: &'s Loaded,
    pub(super) cases: &'s BTreeSet<usize>,
    /// The prepared suite; `None` if it is refused.
    pub(super) prepared: Option<&'s Prepared>,
}

impl<'s> Chosen<'s> {
    /// Returns the models that it may call; `None` if it is refused.
    pub(super) fn models(&self) -> Option<&'s Models> {
        self.prepared.map(Prepared::models)
    }

    fn triggers(&self) -> BTreeSet<usize> {
        let cases = &self.loaded.report.suite.cases;
        let is_trigger = |index: &usize| matches!(cases[*index].action, Action::Trigger(_)) && !cases[*index].skip;
        self.cases.iter().copied().filter(is_trigger).collect()
    }

    pub(super) fn has_triggers(&self) -> bool {
        !self.triggers().is_empty()
    }

    /// Checks the preconditions of tests that start a target elsewhere; `None` if there are none.
    pub(super) async fn checked(&self, cancel: CancellationToken) -> Option<Arc<SuiteResult>> {
        let cases = self.triggers();
        let prepared = self.prepared.filter(|_| !cases.is_empty())?;
        let options = Options { mode: Mode::Preconditions, cases: Some(cases), ..Options::default() };
        Some(prepared.results(options, cancel).await)
    }
}

pub(super) fn describe(
    suites: &[Chosen<'_>],
    checked: &[Option<Arc<SuiteResult>>],
    models: &[String],
    help_modes: &[HelpMode],
) -> String {
    let mut text = String::new();
    let mut sum = Totals::default();
    for (suite, checked) in suites.iter().zip(checked) {
        let report = &suite.loaded.report;
        let Some(prepared) = suite.prepared else {
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
        let checked = checked.as_deref();
        let plan =
            Plan { suite: &report.suite, cases: suite.cases, prepared, checked, secrets, chosen: models, help_modes };
        text.push_str(&plan.describe(&mut sum));
    }
    text.push_str(&sum.sentences());
    text
}

fn problems(text: &mut String, report: &SuiteReport) {
    for (source, problem) in report.all_problems().filter(|(_, problem)| problem.severity <= Severity::Warning) {
        let _ = writeln!(text, "{}\n", human::problem_snippet(source, problem));
    }
}
